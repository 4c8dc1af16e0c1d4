"""Two quiet themes of our own; Textual's are there too (ctrl+p, Theme)."""

from textual.theme import Theme

_CURSOR_DARK = {
    "block-cursor-background": "#2b3d5b",
    "block-cursor-foreground": "#ffffff",
    "block-cursor-text-style": "bold",
    "block-cursor-blurred-background": "#23272e",
    "block-cursor-blurred-foreground": "#d0d0d0",
}
_CURSOR_LIGHT = {
    "block-cursor-background": "#c6d8f5",
    "block-cursor-foreground": "#000000",
    "block-cursor-text-style": "bold",
    "block-cursor-blurred-background": "#e4e4e4",
    "block-cursor-blurred-foreground": "#303030",
}

THEMES = (
    Theme(
        "traceview-dark",
        primary="#5f87d7",
        secondary="#87afaf",
        accent="#5fafd7",
        warning="#d7af5f",
        error="#d75f5f",
        success="#87af5f",
        foreground="#d0d0d0",
        background="#121212",
        surface="#1c1c1c",
        panel="#1c1c1c",
        dark=True,
        variables=_CURSOR_DARK,
    ),
    Theme(
        "traceview-light",
        primary="#005faf",
        secondary="#005f5f",
        accent="#005f87",
        warning="#875f00",
        error="#af0000",
        success="#5f8700",
        foreground="#303030",
        background="#ffffff",
        surface="#f4f4f4",
        panel="#eeeeee",
        dark=False,
        variables=_CURSOR_LIGHT,
    ),
)
