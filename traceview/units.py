"""Numbers and text for people: every exit to a screen, a table or markdown goes through here.

Numbers keep three significant digits and carry their unit; None (unknown) is `-`, never 0. Text out of a
trace is data: `safe_text` makes it printable on one line, `shorten` also makes it fit.
"""

import math
import re
import unicodedata
from functools import lru_cache

UNKNOWN = "-"
EMPTY_NAME = "(empty name)"
ELLIPSIS = "…"

_TIME_UNITS = ((1, "ns"), (1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s"))
_SI_PREFIXES = ((1, ""), (10**3, "k"), (10**6, "M"), (10**9, "G"), (10**12, "T"), (10**15, "P"))


def fmt_ns(ns: float | None) -> str:
    """A duration in nanoseconds with the unit that leaves one to three digits before the point.

    >>> fmt_ns(828_000), fmt_ns(94_960_000), fmt_ns(999_600)
    ('828 us', '95.0 ms', '1.00 ms')
    """
    return _scaled(ns, _TIME_UNITS)


def fmt_bytes(count: float | None) -> str:
    """A number of bytes in decimal units, as bandwidths are quoted: `856 MB` is 856 * 10^6 bytes."""
    return _scaled(count, tuple((scale, f"{prefix}B") for scale, prefix in _SI_PREFIXES))


def fmt_rate(per_second: float | None, unit: str = "B") -> str:
    """An amount a second in decimal units: `3.35 TB/s`, or with unit "FLOP" `989 TFLOP/s`."""
    return _scaled(per_second, tuple((scale, f"{prefix}{unit}/s") for scale, prefix in _SI_PREFIXES))


def fmt_count(count: float | None) -> str:
    """A count with thousands separators, `557,496`; one that is not whole (a mean) keeps two decimals."""
    if count is None or not math.isfinite(count):
        return UNKNOWN
    if count == int(count):
        return f"{int(count):,}"
    return f"{count:,.2f}" if abs(count) < 100 else f"{count:,.1f}"


def fmt_percent(fraction: float | None) -> str:
    """A fraction as a percentage with one decimal, `69.3 %`; what is there but rounds to none is `<0.1 %`."""
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    percent = fraction * 100
    if 0 < percent < 0.05:
        return "<0.1 %"
    return f"{percent:.1f} %"


def _scaled(value: float | None, units: tuple[tuple[int, str], ...]) -> str:
    """Three significant digits in the first unit in which the rounded value stays below 1000."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    # Rounding decides the unit: 999,600 ns reads "1.00 ms", not "1000 us".
    fitting = (pair for pair in units if abs(float(f"{value / pair[0]:.3g}")) < 1000)
    scale, unit = next(fitting, units[-1])
    scaled = value / scale
    if scale == 1 and value == int(value):
        return f"{int(value)} {unit}" if abs(value) < 1000 else f"{int(value):,} {unit}"
    size = abs(float(f"{scaled:.3g}"))
    decimals = 2 if size < 10 else 1 if size < 100 else 0
    return f"{scaled:,.{decimals}f} {unit}"


# What `str.isprintable` lets through although nothing, or nothing reliable, is drawn for it: fillers,
# joiners, variation selectors and skin tones, which terminals measure differently.
_INVISIBLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
)
_LINE_BREAK = re.compile(r"\r\n|[\n\r]")
_DRAWS_NOTHING = re.compile(f"[{_INVISIBLE}]")


def safe_text(text: str, newline: str = " ") -> str:
    r"""`text` as it may go to a terminal, a table or markdown: printable, on one line, never empty.

    Control characters (C0, DEL, C1), bidirectional overrides and isolates, line and paragraph separators,
    zero-width characters, unassigned code points and lone surrogates become visible escapes such as
    `\x1b`; a line break becomes `newline`, a tab and any other blank a space. A name without a visible
    character becomes a placeholder, so that it can be told from a missing one.
    """
    return _printable(text, newline) if text and not text.isspace() else EMPTY_NAME


def _printable(text: str, newline: str = " ") -> str:
    if text.isprintable() and (text.isascii() or not _DRAWS_NOTHING.search(text)):
        return text
    return newline.join(_escaped_line(line) for line in _LINE_BREAK.split(text))


def _escaped_line(line: str) -> str:
    # Once for each distinct character, not for each place: a damaged name may be very long.
    return line.translate({ord(char): _escaped(char) for char in set(line)})


@lru_cache(maxsize=4096)
def _escaped(char: str) -> str:
    if char == "\t" or unicodedata.category(char) == "Zs":
        return " "
    if char.isprintable() and not _DRAWS_NOTHING.match(char):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cell_width(text: str) -> int:
    """How many terminal cells `text` takes: wide and emoji characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


# Hexagrams and their parts, which the tables of Python 3.11 (Unicode 14) still have as narrow.
_WIDE_SINCE_UNICODE_16 = re.compile(
    "[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d356\U0001d360-\U0001d376]"
)
_JOINING_HANGUL = re.compile("[\u1160-\u11ff\ud7b0-\ud7c6\ud7cb-\ud7fb]")


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf") or _JOINING_HANGUL.match(char):
        return 0  # marks, and the vowels and finals of a Hangul syllable, join the character before them
    if unicodedata.east_asian_width(char) in "WF" or _WIDE_SINCE_UNICODE_16.match(char):
        return 2
    return 1


def shorten(text: str, width: int) -> str:
    """`text`, safe as by `safe_text`, in at most `width` cells: a longer one loses its middle.

    Looks at no more than a few `width`s of characters at either end, so that a name of a megabyte costs
    what a short one does. An empty text stays empty.
    """
    if width <= 0:
        return ""
    reach = 4 * width + 16  # room for marks that take no cell
    whole = len(text) <= 2 * reach
    head = _printable(text if whole else text[:reach])
    tail = head if whole else _printable(text[-reach:])
    if whole and len(head) <= 2 * reach and cell_width(head) <= width:
        return head
    if width == 1:
        return ELLIPSIS
    tail_width = (width - 1) // 2
    return _first_cells(head, width - 1 - tail_width) + ELLIPSIS + _last_cells(tail, tail_width)


def _first_cells(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    taken = 0
    for index, char in enumerate(text):
        taken += _char_width(char)
        if taken > width:
            return text[:index]
    return text


def _last_cells(text: str, width: int) -> str:
    if text.isascii():
        return text[len(text) - width :]
    taken, start = 0, len(text)
    for index in range(len(text) - 1, -1, -1):
        taken += _char_width(text[index])
        if taken > width:
            break
        # A combining mark is kept only together with the character that it belongs to.
        if _char_width(text[index]):
            start = index
    return text[start:]


_MD_SPECIAL = re.compile(
    r"[\\|`*~$]"
    r"|\](?=[(\[:])"  # the middle of a link
    r"|<(?=[A-Za-z/!?])"  # the start of a tag
    r"|(?<![^\W_])_|_(?![^\W_])"  # an underscore that is not inside a word
    r"|^(?:[#>]|[+=-](?![\d.]|$)|\d+(?=[.)](?:\s|$)))"  # a heading, a quote, a list; no number
)


def md_cell(text: str) -> str:
    """`text` as the content of one cell of a markdown table: safe, on one line, shown as it is.

    Escapes what would end the cell (`|`), start code, a tag, emphasis, a link or mathematics, and what
    would be a heading, a list or a quote at the start of a line.
    """
    cell = _MD_SPECIAL.sub(_md_escaped, safe_text(text).strip())
    return re.sub(r"&(?=#?\w+;)", "&amp;", cell)


def _md_escaped(match: re.Match[str]) -> str:
    found = match[0]
    return found + "\\" if found[-1].isdigit() else "\\" + found


# Own glyphs that have a plain counterpart, given by number as several look like ASCII; the rest is escaped.
_PLAIN_GLYPHS = {
    0x2026: "~",  # ellipsis
    0x203A: ">",  # breadcrumb
    0x2192: "->",
    0x2190: "<-",
    0x00B7: ".",
    0x00D7: "x",
    0x00B5: "u",
    0x2212: "-",  # minus, dashes
    0x2013: "-",
    0x2014: "-",
    0x2502: "|",  # lines of charts and tables
    0x2500: "-",
    **dict.fromkeys(range(0x250C, 0x254C), "+"),
    **dict.fromkeys(range(0x2581, 0x2590), "#"),  # blocks
    0x2590: "#",
    0x25B2: "^",
    0x25B8: ">",
    0x25BE: "v",
    0x25CF: "*",
    0x25C6: "*",
    0x2264: "<=",
    0x2265: ">=",
}


def ascii_text(text: str) -> str:
    r"""`text` for a terminal or a file that takes ASCII only: plain counterparts, else `\u6838`."""
    return text.translate(_PLAIN_GLYPHS).encode("ascii", "backslashreplace").decode("ascii")
