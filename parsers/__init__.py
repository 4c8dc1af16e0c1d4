"""Bytes into a Trace."""

from traceview.parsers.cache import CacheInfo, cache_info, clear_cache
from traceview.parsers.details import raw_event, raw_events
from traceview.parsers.opening import Progress, load

__all__ = [
    "CacheInfo",
    "Progress",
    "cache_info",
    "clear_cache",
    "load",
    "raw_event",
    "raw_events",
]
