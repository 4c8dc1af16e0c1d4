"""Find where a step's GPU time goes, in the terminal, from a PyTorch profiler trace."""

__version__ = "0.1.0"
