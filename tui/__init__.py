"""The terminal UI: keys, screens and the loader."""
