"""SQL over a trace's frames, read-only: nothing but the named frames can be seen, nothing can be written."""

import re
from collections.abc import Callable, Mapping

import polars as pl

from traceview.errors import TraceError

# What polars' SQL has that opens files: the table functions read_csv, read_parquet, read_ipc, read_json and
# their like. They are refused by name wherever it stands, since a quoted name or a comment in between is a
# call too; only in a plain string it is not.
_OPENS_FILES = re.compile(
    r"(?:read|scan)_(?:csv|parquet|ipc|n?djson|json|avro|delta|iceberg|lines|text|excel|database|clipboard)\w*",
    re.IGNORECASE,
)
# With any of these, what is a string and what is not depends on the dialect.
_NOT_PLAIN = re.compile(r"--|/\*|[$\\\"`]")
_STRING = re.compile(r"'[^']*'")
_COMMENT = re.compile(r"/\*(?:(?!/\*|\*/).)*\*/|--[^\n]*(?:\n|$)", re.DOTALL)
_FIRST_WORD = re.compile(r"[\s(]*(\w*)")
# polars goes down as deep as a chain (a || b || ..., UNION) is long, without a guard: beyond some thousand
# parts the process dies of it. Values in a list (IN (1, 2, ...)) lie side by side and are not counted.
_LONGEST = 10_000
_MOST_PARTS = 500
_PART = re.compile(r"[^\W\d]\w*|[^\w\s,.']")
# Rows without an end, or as many as a number says.
_MAKES_ROWS = re.compile(r"\bwith\s+(recursive)\b|\b(range|generate_series)[\"`]?\s*\(", re.IGNORECASE)
# Statements that only ask. polars' SQL also knows CREATE, DROP, DELETE and TRUNCATE TABLE.
_ASKS = ("select", "with", "from", "values", "explain")


def check(sql: str) -> None:
    """Raises TraceError (wrong usage) for SQL that opens files, is too long or does anything but ask."""
    if len(sql) > _LONGEST:
        raise TraceError(f"query: {len(sql):,} characters; at most {_LONGEST:,} are run", exit_code=2)
    text = sql if _NOT_PLAIN.search(sql) else _STRING.sub("''", sql)
    if (parts := len(_PART.findall(text))) > _MOST_PARTS:
        raise TraceError(f"query: {parts:,} words and operators; at most {_MOST_PARTS} are run", exit_code=2)
    if found := _OPENS_FILES.search(text):
        raise TraceError(
            f"query: {found.group()}: files are not opened, only the trace's tables", exit_code=2
        )
    # From the inside out, as comments nest.
    while (bare := _COMMENT.sub(" ", text)) != text:
        text = bare
    word = _FIRST_WORD.match(text)
    if word is None or word[1].lower() not in _ASKS:
        first = word[1] if word and word[1] else "nothing"
        raise TraceError(f"query: {first}: a query begins with SELECT or WITH", exit_code=2)
    if rows := _MAKES_ROWS.search(text):
        name = (rows[1] or rows[2]).lower()
        raise TraceError(f"query: {name}: rows are not made, only the trace's tables asked", exit_code=2)


def run(sql: str, tables: Mapping[str, Callable[[], pl.DataFrame]]) -> pl.DataFrame:
    """The answer to one SQL query. Only the tables that it names are made.

    Raises TraceError (wrong usage) as `check` does, and with polars' own message for what polars cannot do.
    """
    check(sql)
    named = [name for name in tables if re.search(rf"\b{name}\b", sql, re.IGNORECASE)]
    frames = {name: _plain(tables[name]()) for name in named}
    try:
        return pl.SQLContext(frames, register_globals=False).execute(sql, eager=False).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, TypeError) as error:
        message = " ".join(str(error).split("\n\nResolved plan", 1)[0].split())
        if "relation" in message and "not found" in message:
            message += f"; the tables are {', '.join(tables)}"
        raise TraceError(f"query: {message}", exit_code=2) from None


def _plain(frame: pl.DataFrame) -> pl.LazyFrame:
    """Repeated text as text, which SQL's LIKE and || want; only the columns that are asked for are cast."""
    return frame.lazy().with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def types(frame: pl.DataFrame) -> dict[str, str]:
    """Column -> what it holds, in a word: text, integer, number, boolean, list of integer."""
    return {name: _type(dtype) for name, dtype in frame.schema.items()}


def _type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.List):
        return f"list of {_type(dtype.inner)}"  # type: ignore[arg-type]
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return "text"
    return str(dtype).lower()
