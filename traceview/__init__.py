"""Find where a step's GPU time goes, in the terminal, from a PyTorch profiler trace.

As a library: `traceview.load(path)` reads a trace and gives a Session; see docs/library.md.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traceview.api import Query as Query
    from traceview.api import Selection as Selection
    from traceview.api import Session as Session
    from traceview.api import open_session as load

__version__ = "0.1.0"
__all__ = ["Query", "Selection", "Session", "__version__", "load"]


def __getattr__(name: str) -> object:
    """`load`, `Session`, `Selection` and `Query` when first used: importing the package alone is quick."""
    if name not in __all__:
        raise AttributeError(f"module 'traceview' has no attribute {name!r}")
    from traceview import api

    return getattr(api, "open_session" if name == "load" else name)
