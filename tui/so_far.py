"""What a trace tells while it is still being read: provisional figures, from its GPU work alone.

Nothing is linked here, since links change with every part that comes: kernels and their sums are right for
what has been read, steps are those whose markers have been.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from traceview.units import fmt_count, fmt_ns, fmt_percent, safe_text, shorten
from traceview.widgets.columns import bar, fit

if TYPE_CHECKING:
    from traceview.trace import Trace

_MOST_KERNELS = 6
_GUESSED = ("none", "period", "graph-launch")  # steps of these sources are found again with every part


@dataclass(frozen=True)
class SoFar:
    """Provisional figures. `kernels` are name, share of the GPU time so far, and sum in ns."""

    facts: str = ""
    steps: str = ""
    gpu: str = ""
    kernels: tuple[tuple[str, float, int], ...] = ()


def header_facts(trace: "Trace") -> str:
    """The first GPU's name and the rank, as far as the header says."""
    from traceview.analysis import header

    rank, world = header.rank(trace), header.world_size(trace)
    facts = [d["name"] for d in header.devices(trace)[:1] if d["name"]]
    facts += [] if rank is None else [f"rank {rank} of {world}" if world else f"rank {rank}"]
    return " · ".join(facts)


def look(trace: "Trace", reading: Mapping[str, Any]) -> SoFar:
    """What a partial trace tells; `reading` are keywords of api.open_session."""
    from traceview.api import Session
    from traceview.schema import empty

    unlinked = replace(trace, ops=empty("ops"), runtime=empty("runtime"), python=empty("python"))
    session = Session(unlinked, **{k: v for k, v in reading.items() if k in ("step_marker", "settings")})
    facts = header_facts(trace)
    found = session.found_steps
    steps = "" if found.source in _GUESSED else f"{fmt_count(found.windows.height)} steps"
    if not trace.gpu.height:
        return SoFar(facts, steps)
    groups = session.groups()
    gpu = f"{fmt_count(trace.gpu.height)} pieces of GPU work, {fmt_ns(int(groups['sum_ns'].sum()))} in all"
    shown = groups.head(_MOST_KERNELS).select("short_name", "share", "sum_ns")
    rows = tuple((str(name), share or 0.0, ns) for name, share, ns in shown.iter_rows())
    return SoFar(facts, steps, gpu, rows)


class SoFarView(Widget):
    """Draws one `SoFar`; nothing before there is one."""

    DEFAULT_CSS = "SoFarView { height: auto; width: 90%; max-width: 100; margin-top: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._so_far = SoFar()

    def show(self, so_far: SoFar) -> None:
        """Show these figures in place of the earlier ones."""
        if so_far != self._so_far:
            self._so_far = so_far
            self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as there are to show."""
        return len(self._lines(width))

    def render(self) -> RenderResult:
        """What the file is of, its steps, and its largest kernels."""
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> list[Content]:
        so_far = self._so_far
        lines = [Content(shorten(safe_text(so_far.facts), width))] if so_far.facts else []
        counts = ", ".join(text for text in (so_far.steps, so_far.gpu) if text)
        if counts:
            said = shorten(f"so far: {counts}", width)
            lines.append(Content.styled(said, "$foreground 60%"))
        if so_far.kernels:
            lines.append(Content(""))
        names = max(12, min(44, width - 38))
        for name, share, ns in so_far.kernels:
            lines.append(
                Content.assemble(
                    fit(safe_text(name), names),
                    f" {fmt_percent(share):>7} ",
                    (bar(share, max(1, min(18, width - names - 20))), "$text-accent"),
                    (f" {fmt_ns(ns):>9}", "$foreground 60%"),
                )
            )
        return lines
