"""Frames as files: parquet as it is, CSV with lists as text and cells that no spreadsheet runs."""

from pathlib import Path

import polars as pl

from traceview.errors import TraceError
from traceview.outputs import output
from traceview.report.tables import csv_cell

SUFFIXES = (".parquet", ".csv")


def write_frame(frame: pl.DataFrame, path: Path, trace: str | None = None) -> None:
    """Write by suffix (SUFFIXES). Raises TraceError (wrong usage) for another, or as outputs.output does."""
    if path.suffix not in SUFFIXES:
        raise TraceError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}", exit_code=2)
    plain = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    with output(path, trace) as file:
        if path.suffix == ".csv":
            _for_csv(plain).write_csv(file)
        else:
            plain.write_parquet(file)


def _for_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists as JSON-like text, texts made safe; each distinct text is looked at once."""
    lists = [
        pl.format("[{}]", pl.col(name).cast(pl.List(pl.String)).list.join(", ")).alias(name)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.List)
    ]
    frame = frame.with_columns(lists)
    return frame.with_columns(
        _safe(frame[name]) for name, dtype in frame.schema.items() if dtype == pl.String
    )


def _safe(texts: pl.Series) -> pl.Series:
    distinct = texts.unique().drop_nulls()
    safe = {text: csv_cell(text) for text in distinct}
    return texts.replace_strict(safe, return_dtype=pl.String) if safe else texts
