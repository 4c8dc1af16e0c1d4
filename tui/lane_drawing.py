"""The lanes of a trace as the timeline draws them, and the line that says what their colours are."""

from collections.abc import Sequence

import polars as pl
from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from traceview.analysis.lanes import Lanes
from traceview.palette import family_mark
from traceview.units import cell_width
from traceview.widgets.lanes import Drawing, LaneLabel, prepare
from traceview.widgets.lines import Piece, Toned

_WORDS = {"mark": "annotation", "cpu-op": "CPU op", "call": "runtime call", "python": "Python"}


def drawing_of(lanes: Lanes, device: int | None = None) -> Drawing:
    """The timeline's events, coloured by family or by what the host did; a second for millions.

    device: only this one's streams, beside the threads.
    """
    families = lanes.events["family"].cast(pl.String)
    known = families.unique().sort().to_list()
    number = {family: place for place, family in enumerate(known)}
    colours = families.replace_strict(number, return_dtype=pl.Int64)
    labels = [
        LaneLabel(place, lane.label)
        for place, lane in enumerate(lanes.lanes)
        if lane.kind != "gpu" or device in (None, lane.device)
    ]
    return prepare(labels, lanes.events.with_columns(colour=colours), known)


def families_of(lanes: Lanes) -> list[str]:
    """The families that are drawn, those with the most time first, then what the host's lanes show."""
    sums = lanes.events.group_by(pl.col("family").cast(pl.String)).agg(pl.col("dur_ns").sum())
    return sums.sort(pl.col("family").is_in([*_WORDS]), -pl.col("dur_ns"))["family"].to_list()


class Legend(Widget):
    """One line: the letter and the name of each family, in its colour, as many as fit."""

    DEFAULT_CSS = "Legend { height: 1; padding: 0 1; }"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._toned = Toned(self, "legend")
        self._families: tuple[str, ...] = ()

    def show(self, families: Sequence[str]) -> None:
        """These families, the most important first."""
        self._families = tuple(families)
        self.refresh()

    def notify_style_update(self) -> None:
        """Themes change the styles that are kept."""
        self._toned.clear()
        super().notify_style_update()

    def render(self) -> RenderResult:
        """Lines come from `render_line`; this is only for whoever asks for the whole."""
        return "  ".join(_entry(family) for family in self._families)

    def render_line(self, y: int) -> Strip:
        """The families that fit."""
        pieces: list[Piece] = []
        room = self.content_size.width
        for family in self._families:
            entry = _entry(family) + "  "
            if cell_width(entry) > room:
                break
            room -= cell_width(entry)
            pieces.append((entry, f"family:{family}"))
        return self._toned.strip(pieces, self.content_size.width)


def _entry(family: str) -> str:
    return f"{family_mark(family).letter} {_WORDS.get(family, family)}"
