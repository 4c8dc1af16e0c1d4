"""The breadcrumb of screens from which a single launch can be opened."""

from traceview.tui.among import SameKernel
from traceview.tui.card import Card
from traceview.tui.level import Level


def trail(level: Level, name: str) -> list[str]:
    """The screen's name where it is the lowest, with the kernel where a card lies over it, else nothing."""
    levels = level.owner.levels
    above = levels[levels.index(level) + 1 :]
    if not above:
        return [name]
    if isinstance(above[0], Card) and isinstance(above[0].among, SameKernel):
        return [name, above[0].among.name(above[0].launch_id)]
    return []
