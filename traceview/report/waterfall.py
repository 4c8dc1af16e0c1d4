"""A step's difference as a waterfall: from the step before, group by group, to the step after."""

from typing import Any

from traceview.units import cell_width, fmt_ns, shorten

BAR = "█"
_MOST_ROWS = 8
# The axis starts above zero where the changes would be too small to be seen.
_SEEN = 0.3
# Without rounding_ns: a few nanoseconds, which no bar shows.
_REST = ("overlap_ns", "elsewhere_ns", "devices_ns")
WORDS = {
    "overlap_ns": "less overlap of streams",
    "elsewhere_ns": "work outside its step",
    "devices_ns": "devices side by side",
}


def waterfall(document: dict[str, Any], width: int, rows: int = _MOST_ROWS) -> str:
    """Lines `label  bar  value` of at most `width` cells, for a compare document whose steps have a length.

    A bar reaches from the running total before it to the one after it; the values add up to the step after,
    but for rounding.
    Beyond `rows` groups, one line adds up the rest.
    """
    step = document["step_ns"]
    parts = [(g["short_name"], g["delta_ns"]) for g in document["groups"] if g["delta_ns"]]
    if len(parts) > rows:
        parts[rows - 1 :] = [(f"{len(parts) - rows + 1} more groups", sum(d for _, d in parts[rows - 1 :]))]
    parts.append(("idle", document["idle_ns"]["delta_ns"]))
    parts += [(WORDS[key], document["unexplained"][key]) for key in _REST]
    parts = [(label, delta) for label, delta in parts if delta]

    spans: list[tuple[str, int, int, str]] = [("step before", 0, step["before"], fmt_ns(step["before"]))]
    total: int = step["before"]
    for label, delta in parts:
        spans.append((label, total, total + delta, ("+" if delta > 0 else "") + fmt_ns(delta)))
        total += delta
    spans.append(("step after", 0, step["after"], fmt_ns(step["after"])))

    ends = [end for _, _, end, _ in spans]
    low, high = min(ends), max(ends)
    start = 0 if high - low > _SEEN * high or high == low else max(0, low - (high - low))
    label_width = min(max(cell_width(label) for label, *_ in spans), max(12, width * 2 // 5))
    value_width = max(len(value) for *_, value in spans)
    room = max(8, width - label_width - value_width - 4)

    def cells(ns: int) -> int:
        return round((max(ns, start) - start) / max(high - start, 1) * room)

    lines = []
    for label, begin, end, value in spans:
        left, right = sorted((cells(begin), cells(end)))
        right = max(right, left + 1)
        if right > room:
            left, right = min(left, room - 1), room
        bar = " " * left + BAR * (right - left) + " " * (room - right)
        short = shorten(label, label_width)
        lines.append(f"{short}{' ' * (label_width - cell_width(short))}  {bar}  {value:>{value_width}}\n")
    axis = f"(the bars start at {fmt_ns(start)})\n" if start else ""
    return "".join(lines) + axis
