"""Regular expressions that a person types, looked for in the names of a trace."""

import re

import polars as pl

from traceview.errors import TraceError


def matching(names: pl.Series, pattern: str, option: str) -> pl.Series:
    """The distinct texts among `names` in which `pattern` is found anywhere.

    Raises TraceError (wrong usage), which names the option, where it is no regular expression.
    """
    # Looked for in the distinct names: a name may be 10 KB long and occur a million times.
    distinct = names.unique().cast(pl.String).drop_nulls()
    try:
        pl.Series([""]).str.contains(pattern)  # without any name nothing would be checked
        return distinct.filter(distinct.str.contains(pattern))
    except pl.exceptions.ComputeError as error:
        reason = re.search(r"^error: (.+)", str(error), re.MULTILINE)
        said = f": {reason[1]}" if reason else ""
        raise TraceError(f"{option} {pattern}: not a regular expression{said}", exit_code=2) from None
