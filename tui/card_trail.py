"""The breadcrumb of screens from which a single launch can be opened."""

from collections.abc import Sequence

from traceview.tui.among import SameKernel
from traceview.tui.card import Card
from traceview.tui.level import Level
from traceview.tui.state import State


def trail(name: str, state: State, levels: Sequence[Level]) -> list[str]:
    """The screen's name, and the kernel of the card that lies over it; nothing under a list of launches."""
    above = levels[-1]
    if isinstance(above, Card):
        opened = isinstance(above.among, SameKernel)
        return [name, SameKernel(state).name(above.launch_id)] if opened else []
    return [name] if type(above).PLACE != 2 else []
