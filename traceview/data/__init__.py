"""Tables that ship with the program: GPUs and kernel families."""
