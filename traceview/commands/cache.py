"""traceview cache: where the saved indexes lie and what they take."""

import argparse

from traceview.units import fmt_bytes, fmt_count, safe_text


def options(command: argparse.ArgumentParser) -> None:
    """The words of the command."""
    command.add_argument("--clear", action="store_true", help="remove them all")


def run(args: argparse.Namespace) -> int:
    """Say what the saved indexes take, and with --clear remove them."""
    from traceview.api import cache_info, clear_cache

    found = clear_cache() if args.clear else cache_info()
    what = f"{fmt_count(found.files)} saved indexes, {fmt_bytes(found.bytes)}"
    print(f"{safe_text(str(found.folder))}: {what}" + (" removed" if args.clear else ""))
    return 0
