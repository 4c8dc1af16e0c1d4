"""How far a file has been read: bytes, rate, time left, and what has been found so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from traceview.units import cell_width, fmt_bytes, fmt_count, fmt_ns, fmt_percent, fmt_rate, shorten
from traceview.widgets.columns import bar, fit
from traceview.widgets.lines import Piece, Toned


@dataclass(frozen=True)
class Reading:
    """A moment of reading. Bytes are the file's own (compressed where it is); `seconds` since the start.

    `bytes_total` is None where the length is unknown, as of a pipe. `found` is what to list, such as kinds of
    events, steps and groups, with how many there are so far.
    """

    name: str
    bytes_read: int = 0
    bytes_total: int | None = None
    seconds: float = 0.0
    events: int = 0
    found: Mapping[str, int] = field(default_factory=dict)
    stage: str = "reading"


class LoadProgress(Widget):
    """Draws one `Reading`; show another at most some twenty times a second."""

    DEFAULT_CSS = """
    LoadProgress {
        height: auto;
        & > .load-progress--title { text-style: bold; }
        & > .load-progress--bar { color: $text-accent; }
        & > .load-progress--rest { color: $foreground 25%; }
        & > .load-progress--muted { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "load-progress--title",
        "load-progress--bar",
        "load-progress--rest",
        "load-progress--muted",
    }

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None, hint: str = ""
    ) -> None:
        """`hint` stands under the rest, such as which key stops reading."""
        super().__init__(name=name, id=id, classes=classes)
        self.reading: Reading | None = None
        self.hint = hint
        self._toned = Toned(self, "load-progress")

    def show(self, reading: Reading) -> None:
        """A later moment."""
        taller = self.reading is None or len(reading.found) != len(self.reading.found)
        self.reading = reading
        self.refresh(layout=taller)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as there are to show."""
        return len(self._text_lines(width))

    def render(self) -> RenderResult:
        """The lines as text; drawing goes through `render_line`."""
        return "\n".join("".join(text for text, _ in line) for line in self._text_lines(self.size.width))

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        lines = self._text_lines(self.size.width)
        return self._toned.strip(lines[y] if y < len(lines) else [], self.size.width)

    def notify_style_update(self) -> None:
        """Themes change the styles that are kept."""
        self._toned.clear()
        super().notify_style_update()

    def _text_lines(self, width: int) -> list[list[Piece]]:
        reading = self.reading
        if reading is None:
            return []
        lines: list[list[Piece]] = [
            [(shorten(f"{reading.stage} {reading.name}", width), "title")],
            _bar_line(reading, width),
            [(shorten(_speed(reading), width), "muted")],
        ]
        if reading.found:
            lines.append([])
            lines += _found_lines(reading.found, width)
        if self.hint:
            lines += [[], [(shorten(self.hint, width), "muted")]]
        return lines


def _bar_line(reading: Reading, width: int) -> list[Piece]:
    if not reading.bytes_total:
        return [(shorten(f"{fmt_bytes(reading.bytes_read)} read", width), "")]
    fraction = min(1.0, reading.bytes_read / reading.bytes_total)
    text = f" {fmt_percent(fraction)}  {fmt_bytes(reading.bytes_read)} of {fmt_bytes(reading.bytes_total)}"
    length = min(60, width - cell_width(text))
    if length < 4:
        return [(shorten(text.strip(), width), "")]
    done = bar(fraction, length)
    filled = len(done.rstrip())
    return [(done[:filled], "bar"), ("─" * (length - filled), "rest"), (text, "")]


def _speed(reading: Reading) -> str:
    """Rate, events and time left, at the mean rate since the start."""
    parts = [f"{fmt_count(reading.events)} events"]
    if reading.seconds > 0:
        rate = reading.bytes_read / reading.seconds
        parts.insert(0, fmt_rate(rate))
        if reading.bytes_total and rate > 0:
            left = max(0.0, (reading.bytes_total - reading.bytes_read) / rate)
            parts.append(f"{fmt_ns(left * 1e9) if left >= 1e-3 else '0 s'} left")
    return " · ".join(parts)


def _found_lines(found: Mapping[str, int], width: int) -> list[list[Piece]]:
    counts = {name: fmt_count(count) for name, count in found.items()}
    names = min(max(map(cell_width, counts)), max(4, width - 14))
    digits = max(map(len, counts.values()))
    return [
        [(fit(name, names), "muted"), ("  " + fit(count, digits, "right"), "")]
        for name, count in counts.items()
    ]
