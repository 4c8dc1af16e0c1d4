"""Colours and letters of the kernel families: one fixed table, the same in charts, trees and the timeline.

The RGB values are cells of the 256-colour cube, so that a terminal with 256 colours shows just these. Sixteen
colours are too few for the families, so each has a letter of its own as well and meaning is never by colour
alone.
"""

from dataclasses import dataclass

Colour = tuple[int, int, int] | int  # RGB, or a number of the terminal's 16 colours


@dataclass(frozen=True)
class Mark:
    """How a family shows: one capital letter, and a colour of the theme that was asked for."""

    letter: str
    colour: Colour


@dataclass(frozen=True)
class ThemeColours:
    """What a chart needs besides: axes and quiet text, a stronger accent, text on a family's colour."""

    axis: Colour
    accent: Colour
    on_family: Colour


THEMES = {
    "dark": ThemeColours((135, 135, 135), (255, 255, 255), (0, 0, 0)),
    "light": ThemeColours((118, 118, 118), (0, 0, 0), (255, 255, 255)),
    "ansi": ThemeColours(8, 7, 0),
}

# family: letter, on dark, on light, of 16
_FAMILIES: dict[str, tuple[str, Colour, Colour, int]] = {
    "gemm": ("G", (95, 135, 255), (0, 95, 215), 12),
    "attention": ("A", (255, 175, 95), (215, 135, 0), 3),
    "moe": ("M", (175, 135, 255), (135, 95, 215), 13),
    "communication": ("C", (255, 95, 135), (215, 0, 95), 9),
    "norm": ("N", (95, 215, 175), (0, 135, 95), 14),
    "rope": ("R", (215, 215, 95), (135, 135, 0), 11),
    "quantize": ("Q", (255, 135, 95), (175, 95, 0), 5),
    "activation": ("V", (135, 215, 95), (95, 135, 0), 10),
    "sampling": ("S", (255, 135, 215), (175, 0, 175), 13),
    "embedding-index": ("I", (95, 175, 175), (0, 135, 135), 6),
    "softmax": ("X", (215, 175, 95), (135, 95, 0), 11),
    "kv-cache": ("K", (215, 95, 95), (175, 0, 0), 1),
    "copy-cast": ("T", (215, 95, 0), (215, 95, 0), 1),
    "fill": ("F", (175, 175, 135), (135, 135, 95), 7),
    "reduce": ("D", (135, 175, 215), (0, 135, 175), 4),
    "elementwise": ("E", (175, 215, 255), (95, 135, 175), 6),
    "convolution": ("W", (95, 95, 215), (0, 0, 175), 4),
    "optimizer": ("P", (215, 135, 175), (175, 95, 135), 5),
    "triton": ("J", (0, 175, 135), (0, 95, 95), 2),
    "memcpy": ("H", (175, 135, 95), (95, 95, 0), 2),
    "memset": ("Z", (135, 135, 175), (95, 95, 135), 7),
    "other": ("O", (138, 138, 138), (148, 148, 148), 8),
}
FAMILIES = tuple(_FAMILIES)

# What the host does, on the timeline's lanes of threads: alike, in the same columns.
_HOST: dict[str, tuple[str, Colour, Colour, int]] = {
    "mark": ("B", (215, 175, 255), (135, 0, 175), 13),
    "cpu-op": ("U", (188, 188, 188), (98, 98, 98), 7),
    "call": ("L", (135, 175, 135), (0, 95, 0), 2),
    "python": ("Y", (215, 215, 175), (95, 95, 95), 3),
}


def family_mark(family: str, theme: str = "dark") -> Mark:
    """Letter and colour of `family` for the theme "dark", "light" or "ansi"; an unknown one is as "other".

    The host's kinds "mark" (annotations), "cpu-op", "call" and "python" have their marks too.
    """
    letter, dark, light, of_16 = (_HOST if family in _HOST else _FAMILIES).get(family, _FAMILIES["other"])
    return Mark(letter, {"dark": dark, "light": light, "ansi": of_16}[theme])


def sgr(foreground: Colour | None = None, background: Colour | None = None, bold: bool = False) -> str:
    """The escape sequence that selects these colours (ECMA-48 SGR)."""
    codes = ["1"] if bold else []
    for colour, direct in ((foreground, 38), (background, 48)):
        if isinstance(colour, tuple):
            codes.append(f"{direct};2;{colour[0]};{colour[1]};{colour[2]}")
        elif colour is not None:
            codes.append(f"{direct};5;{colour}")
    return f"\x1b[{';'.join(codes)}m"
