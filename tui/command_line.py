"""The headless commands that give what a screen shows."""

from collections.abc import Sequence
from typing import Any

_SPECIAL = frozenset("\\.+*?()|[]{}^$")


def exact(name: str) -> str:
    """A regular expression for just this name; a character that cannot be typed is any character."""
    parts = ("\\" + c if c in _SPECIAL else c if c.isprintable() else "." for c in name)
    return f"^{''.join(parts)}$"


def kernel_command(path: str, options: Sequence[str], row: dict[str, Any] | None) -> list[str]:
    """The launches of a row of the kernel tree (analysis.tree.level), or without one the summary.

    options: the words for the selection.
    Variants and streams have no option of their own: the command gives their kernel's, or all launches.
    """
    if row is None or row["level"] not in ("family", "group", "variant", "op_name"):
        return ["summary", path, *options]
    words = ["launches", path, *options]
    if row["level"] == "family":
        words += ["--family", str(row["key"])]
    elif row["level"] == "op_name" and row["key"] is not None:
        words += ["--op", exact(str(row["key"]))]
    elif row["name"] is not None:
        words += ["--kernel", exact(row["name"])]
    return [*words, "--limit", "0"]


def launch_command(path: str, launch_id: int) -> list[str]:
    """Everything about one launch."""
    return ["launches", path, "--id", str(launch_id), "--format", "json"]
