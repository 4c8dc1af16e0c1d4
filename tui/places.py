"""The screens that a number key leads to; one module knows them all."""

from traceview.tui.compare import Compare
from traceview.tui.findings import Findings
from traceview.tui.kernels import Kernels
from traceview.tui.level import Level
from traceview.tui.query import QueryLevel
from traceview.tui.timeline import TimelineLevel
from traceview.tui.trust import Trust

# 0 has no number key; 1, the steps, is the screen that lies under all others.
SCREENS: dict[int, type[Level]] = {
    0: QueryLevel,
    2: Kernels,
    3: TimelineLevel,
    4: Findings,
    5: Trust,
    6: Compare,
}
NEED_GPU_WORK = (2,)
