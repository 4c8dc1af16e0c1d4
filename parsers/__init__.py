"""Bytes into a Trace."""

from traceview.parsers.loader import Progress, load

__all__ = ["Progress", "load"]
