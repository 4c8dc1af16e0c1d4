"""One line that says where one is: the levels above, and the one shown now."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from traceview.units import cell_width, safe_text, shorten
from traceview.widgets.lines import Piece, Toned

BETWEEN = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
SHORTEST = 8  # cells that a part keeps before earlier ones go


class Breadcrumb(Widget):
    """The way down, the last part standing out; at the right an aside such as which numbers are shown."""

    DEFAULT_CSS = """
    Breadcrumb {
        height: 1;
        & > .breadcrumb--above { color: $text-muted; }
        & > .breadcrumb--here { text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"breadcrumb--above", "breadcrumb--here"}

    def __init__(
        self,
        parts: Sequence[str] = (),
        aside: str = "",
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.parts = tuple(parts)
        self.aside = aside
        self._toned = Toned(self, "breadcrumb")

    def show(self, parts: Sequence[str], aside: str = "") -> None:
        """Another place."""
        self.parts, self.aside = tuple(parts), aside
        self.refresh()

    def render(self) -> RenderResult:
        """The line as text; drawing goes through `render_line`."""
        return self.render_line(0).text

    def render_line(self, y: int) -> Strip:
        """Parts shortened in their middle where the line is too short, the longest first."""
        width = self.size.width
        aside = shorten(self.aside, width // 3)
        room = width - cell_width(aside) - (2 if aside else 0)
        parts = fitted(self.parts, room)
        pieces: list[Piece] = []
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            pieces += [(part, "here" if last else "above"), ("" if last else BETWEEN, "above")]
        if aside:
            used = sum(cell_width(text) for text, _ in pieces)
            pieces += [(" " * (width - used - cell_width(aside)) + aside, "above")]
        return self._toned.strip(pieces, width)

    def notify_style_update(self) -> None:
        """Themes change the styles that are kept."""
        self._toned.clear()
        super().notify_style_update()


def fitted(parts: Sequence[str], width: int) -> list[str]:
    """The parts, safe, so that they and what is between them take at most `width` cells.

    The longest are shortened first; where even short ones do not fit, the first give way to an ellipsis.
    """
    kept = [safe_text(part) if len(part) <= width else shorten(part, width) for part in parts]
    while kept:
        room = width - len(BETWEEN) * (len(kept) - 1)
        widths = sorted(map(cell_width, kept))
        if sum(widths) <= room:
            return kept
        cap = next(c for c in range(max(widths), -1, -1) if c == 0 or sum(min(w, c) for w in widths) <= room)
        if cap >= SHORTEST or len(kept) == 1:
            return [shorten(part, cap) for part in kept]
        kept = ["…", *kept[2:]] if kept[0] == "…" and len(kept) > 2 else ["…", *kept[1:]]
        if len(kept) <= 2:
            kept = kept[-1:]
    return []
