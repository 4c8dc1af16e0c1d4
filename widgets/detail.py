"""A card of facts in sections: everything about one thing, with long texts folded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip

from traceview.units import cell_width, fmt_count, shorten
from traceview.widgets.lines import LineView, Piece, wrapped

TWO_COLUMNS = 150  # cells from which sections stand side by side
BETWEEN = 4  # cells between the two
LABELS = 26  # cells that labels take at most


@dataclass(frozen=True)
class Field:
    """One fact. `note` says where it comes from or how it was worked out; beyond `fold` lines it folds."""

    label: str
    value: str
    note: str = ""
    fold: int = 4


@dataclass(frozen=True)
class Section:
    """Facts that belong together, under a title."""

    title: str
    fields: Sequence[Field]


class Detail(LineView):
    """Shows sections of label and value; enter shows long texts whole, and folds them again."""

    PREFIX = "detail"
    DEFAULT_CSS = """
    Detail {
        overflow-x: hidden;
        & > .detail--title { color: $text-accent; text-style: bold; }
        & > .detail--label { color: $text-muted; }
        & > .detail--note { color: $text-muted; text-style: italic; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"detail--title", "detail--label", "detail--note"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "roll(-1)", "Up", show=False, id="detail.up"),
        Binding("down,j", "roll(1)", "Down", show=False, id="detail.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="detail.page_up"),
        Binding("pagedown,space", "page(1)", "Page down", show=False, id="detail.page_down"),
        Binding("home", "top", "Top", show=False, id="detail.top"),
        Binding("g", "first_of_two", "gg: top", show=False, id="detail.gg"),
        Binding("end,G,shift+g", "bottom", "Bottom", show=False, id="detail.bottom"),
        Binding("enter", "fold", "Show long texts", id="detail.fold"),
    ]

    def __init__(
        self,
        sections: Sequence[Section] = (),
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.sections = tuple(sections)
        self.unfolded = False
        self._card: list[list[Piece]] = []
        self._card_width = -1

    def show(self, sections: Sequence[Section]) -> None:
        """Other facts, from the top and folded."""
        self.sections = tuple(sections)
        self.unfolded = False
        self._lay_out()
        self.action_top()

    # --- layout --------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        width = self.room.width
        self._card_width = width
        if width >= TWO_COLUMNS:
            left_width = (width - BETWEEN) // 2
            blocks = [self._block(section, left_width) for section in self.sections]
            self._card = _side_by_side(blocks, left_width)
        else:
            self._card = [line for section in self.sections for line in self._block(section, width)]
        self.virtual_size = Size(1, len(self._card))
        self.refresh()

    def _block(self, section: Section, width: int) -> list[list[Piece]]:
        # Labels have one width in all sections, so that the values form one column.
        labels = (cell_width(shorten(field.label, LABELS)) for each in self.sections for field in each.fields)
        label_width = min(max(labels, default=0), max(4, width // 3))
        lines: list[list[Piece]] = [[(shorten(section.title, width), "title")]]
        for field in section.fields:
            texts = self._texts(field, width - label_width - 2)
            label = shorten(field.label, label_width)
            heads = [label + " " * (label_width - cell_width(label))] + [" " * label_width] * (len(texts) - 1)
            lines += [[(head + "  ", "label"), *text] for head, text in zip(heads, texts, strict=True)]
        return [*lines, []]

    def _texts(self, field: Field, width: int) -> list[list[Piece]]:
        # A folded text is never wrapped whole: it may be a megabyte.
        most = field.fold * max(2, width)
        folded = not self.unfolded and (len(field.value) > most or field.value.count("\n") >= field.fold)
        value = wrapped(field.value[:most] if folded else field.value, width)
        if not self.unfolded and (folded or len(value) > field.fold):
            value = value[: field.fold - 1]
            hint = f"… {fmt_count(len(field.value))} characters, enter shows all"
            return [*([(text, "")] for text in value), [(shorten(hint, width), "note")]]
        texts: list[list[Piece]] = [[(text, "")] for text in value]
        if field.note:
            note = wrapped(field.note, width)
            if len(note) == 1 and cell_width(value[-1]) + 3 + cell_width(note[0]) <= width:
                texts[-1].append((f"   {note[0]}", "note"))
            else:
                texts += [[(text, "note")] for text in note]
        return texts

    def render_line(self, y: int) -> Strip:
        """One line of the card."""
        width = self.room.width
        if width != self._card_width:
            self._lay_out()
        row = y + round(self.scroll_y)
        return self.toned.strip(self._card[row] if row < len(self._card) else [], width)

    def on_resize(self, event: events.Resize) -> None:
        """Wraps anew."""
        self._lay_out()

    # --- keys ----------------------------------------------------------------------------------------------

    def action_roll(self, lines: int) -> None:
        """Up or down by lines."""
        self.scroll_to(y=self.scroll_y + lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Up or down by what is seen at once."""
        self.action_roll(pages * max(1, self.room.height - 1))

    def go_to(self, title: str) -> None:
        """To the section with this title."""
        rows = (row for row, line in enumerate(self._card) if (title, "title") in line)
        self.scroll_to(y=next(rows, 0), animate=False, immediate=True)

    def action_bottom(self) -> None:
        """To the last line."""
        self.scroll_to(y=len(self._card), animate=False, immediate=True)

    def action_fold(self) -> None:
        """Shows long texts whole, or folds them."""
        self.unfolded = not self.unfolded
        self._lay_out()


def _side_by_side(blocks: list[list[list[Piece]]], left_width: int) -> list[list[Piece]]:
    """Sections in two columns of about the same height, in reading order down the left one first."""
    half = sum(map(len, blocks)) / 2
    left: list[list[Piece]] = []
    while blocks and len(left) + len(blocks[0]) / 2 <= half:
        left += blocks.pop(0)
    right = [line for block in blocks for line in block]
    lines = []
    for number in range(max(len(left), len(right))):
        head = left[number] if number < len(left) else []
        filled = left_width + BETWEEN - sum(cell_width(text) for text, _ in head)
        lines.append([*head, (" " * filled, ""), *(right[number] if number < len(right) else [])])
    return lines
