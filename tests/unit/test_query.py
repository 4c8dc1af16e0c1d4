"""SQL over a trace's tables. One tiny trace; times are microseconds unless named `_ns`."""

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.traces import frame, kernel, launch, marker, op, session, write
from traceview.analysis import query
from traceview.analysis.named_frames import TABLES
from traceview.api import Session
from traceview.cli import main
from traceview.errors import TraceError
from traceview.report import query as report
from traceview.selection import Selection


def events() -> list[Any]:
    """Two steps; in each a cast of 40 by aten::copy_ and a gemm of 20 without an op."""
    out = []
    for step in range(2):
        at = 100 * step
        number = 10 * step + 1
        out += [
            marker(f"ProfilerStep#{step}", at, 100),
            frame("model.py(7): forward", at + 1, 50),
            op("aten::copy_", at + 2, 10, number, dims=[[512, 576]], types=["float"]),
            launch(at + 4, number, external=number),
            kernel("void cast<float>(int)", at + 10, 40, number, external=number),
            launch(at + 20, number + 1),
            kernel("gemm", at + 60, 20, number + 1),
        ]
    return out


@pytest.fixture
def asked(tmp_path: Path) -> Session:
    return session(tmp_path, *events())


def rows(asked: Session, sql: str, **selection: Any) -> list[tuple[Any, ...]]:
    return asked.query(sql, Selection(**selection)).rows()


# What can be asked.


def test_kernels_have_their_step_op_shapes_and_call_site(asked: Session) -> None:
    sql = "SELECT name, step, dur_ns, op, input_dims, call_site FROM kernels WHERE step = 0 ORDER BY begin_ns"
    assert rows(asked, sql) == [
        ("void cast<float>(int)", 0, 40_000, "aten::copy_", "[[512,576]]", "model.py(7): forward"),
        ("gemm", 0, 20_000, None, None, "model.py(7): forward"),
    ]


def test_repeated_text_is_text_to_sql(asked: Session) -> None:
    assert rows(asked, "SELECT count(*) FROM kernels WHERE name LIKE '%cast%' AND kind = 'kernel'") == [(2,)]
    assert rows(asked, "SELECT op || '!' FROM kernels WHERE op IS NOT NULL LIMIT 1") == [("aten::copy_!",)]


def test_tables_join(asked: Session) -> None:
    sql = """
        SELECT s.name, sum(k.dur_ns) AS gpu_ns, max(s.wall_ns) AS wall_ns
        FROM kernels k JOIN steps s ON k.step = s.index GROUP BY s.name ORDER BY s.name
    """
    assert rows(asked, sql) == [("ProfilerStep#0", 60_000, 100_000), ("ProfilerStep#1", 60_000, 100_000)]


@pytest.mark.parametrize(
    ("table", "count"),
    [("kernels", 4), ("steps", 2), ("groups", 2), ("ops", 2), ("launch_calls", 4), ("runtime", 4),
     ("annotations", 2), ("python", 2), ("memory", 0), ("slices", 0), ("instants", 0)],
)  # fmt: skip
def test_every_table_can_be_asked(asked: Session, table: str, count: int) -> None:
    assert rows(asked, f"SELECT count(*) FROM {table}") == [(count,)]
    assert table in TABLES


def test_what_begins_in_a_step_has_its_number(asked: Session) -> None:
    for table in ("ops", "python", "runtime", "annotations"):
        assert rows(asked, f"SELECT DISTINCT step FROM {table} ORDER BY step") == [(0,), (1,)]


def test_a_selection_narrows_every_table_and_a_device_the_gpu_work(asked: Session) -> None:
    for table, count in (("kernels", 2), ("steps", 1), ("ops", 1), ("python", 1)):
        assert rows(asked, f"SELECT count(*) FROM {table}", steps=(1,)) == [(count,)]
    assert rows(asked, "SELECT count(*) FROM kernels", device=3) == [(0,)]


def test_the_schema_lists_each_column_in_a_word(asked: Session) -> None:
    listed = {(t, c): kind for t, c, kind in asked.tables().select("table", "column", "type").rows()}
    assert {t for t, _ in listed} == set(TABLES)
    assert listed["kernels", "dur_ns"] == "integer"
    assert listed["kernels", "name"] == listed["steps", "phase"] == "text"
    assert listed["kernels", "grid"] == "list of integer"
    assert listed["groups", "share"] == "number"
    assert not {c for _, c in listed} & {"offset", "length"}


# What is refused.

CALLS = [
    "SELECT * FROM {f}('/etc/passwd')",
    "SELECT * FROM \"{f}\"('/etc/passwd')",
    "SELECT * FROM `{f}`('/etc/passwd')",
    "SELECT * FROM {f}/* ' */('/etc/passwd')",
    "SELECT * FROM {f} -- '\n ('/etc/passwd')",
    "SELECT ' /* ', * FROM {f}('/etc/passwd') -- */ '",
    "SELECT '\\', * FROM {f}('/etc/passwd') AS x WHERE 'y' = '\\'",
    "SELECT $$ ' $$, * FROM {f}('/etc/passwd') WHERE $$ ' $$ = ''",
    "SELECT 'it''s', * FROM {f}('/etc/passwd')",
    "FROM {f}('/etc/passwd')",
    "WITH x AS (SELECT * FROM {f}('/etc/passwd')) SELECT * FROM x",
    "SELECT (SELECT count(*) FROM {f}('/etc/passwd')) FROM steps",
    "SELECT * FROM steps JOIN {f}('/etc/passwd') r ON r.a = steps.index",
]


@pytest.mark.parametrize(
    "function", ["read_csv", "READ_Parquet", "read_ipc", "read_json", "read_ndjson", "scan_csv"]
)
@pytest.mark.parametrize("call", CALLS)
def test_no_function_that_opens_a_file_is_let_through(function: str, call: str) -> None:
    with pytest.raises(TraceError, match="files are not opened") as refused:
        query.check(call.format(f=function))
    assert refused.value.exit_code == 2


def test_every_way_in_that_polars_has_is_closed(tmp_path: Path) -> None:
    # What polars itself would run, so that a new spelling in it is noticed here.
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhush\n")
    opened = []
    for call in CALLS:
        sql = call.format(f="read_csv").replace("/etc/passwd", str(secret))
        try:
            pl.SQLContext(steps=pl.DataFrame({"index": [0], "word": [""]})).execute(sql, eager=True)
        except pl.exceptions.PolarsError:
            continue
        opened.append(call)
        with pytest.raises(TraceError):
            query.check(sql)
    assert len(opened) >= 5
    quoted = pl.SQLContext(steps=pl.DataFrame({"index": [0]}))
    for plain in (f"SELECT * FROM '{secret}'", f'SELECT * FROM "{secret}"'):
        with pytest.raises(pl.exceptions.SQLInterfaceError):
            quoted.execute(plain, eager=True)


def test_the_name_of_such_a_function_in_a_string_is_text(asked: Session) -> None:
    assert rows(asked, "SELECT count(*) FROM kernels WHERE name LIKE '%read_csv(%'") == [(0,)]
    assert rows(asked, "SELECT sum(dur_ns) AS read_gbs FROM kernels") == [(120_000,)]


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE kernels", "CREATE TABLE x AS SELECT * FROM kernels", "DELETE FROM kernels",
        "TRUNCATE kernels", "INSERT INTO kernels VALUES (1)", "UPDATE kernels SET id = 1", "SET x = 1",
        "COPY kernels TO '/etc/x'", "-- SELECT\nDROP TABLE kernels", "/* SELECT */ DROP TABLE kernels",
        "/* /* */ SELECT */ DROP TABLE kernels", "(DROP TABLE kernels)", "", "   ", ";",
        "SELECT 1; DROP TABLE kernels", "WITH x AS (SELECT 1) DELETE FROM kernels",
    ],
)  # fmt: skip
def test_nothing_but_questions_is_run(asked: Session, sql: str) -> None:
    with pytest.raises(TraceError) as refused:
        asked.query(sql)
    assert refused.value.exit_code == 2
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  select 1;",
        "-- why\nSELECT 1",
        "/* /* a */ b */ (SELECT 1)",
        "WITH x AS (SELECT 1) FROM x",
    ],
)
def test_questions_are_run_however_they_begin(asked: Session, sql: str) -> None:
    assert rows(asked, sql) == [(1,)]


def test_only_the_named_frames_can_be_seen(asked: Session) -> None:
    hidden = pl.DataFrame({"a": [1]})
    assert hidden.height
    with pytest.raises(TraceError, match="'hidden' was not found; the tables are kernels, steps,"):
        asked.query("SELECT * FROM hidden")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT nix FROM kernels", 'unable to find column "nix"; valid columns: ["id", "name"'),
        ("SELECT FROM", "sql parser error: Expected: identifier, found: EOF"),
        ("SELECT name + 1 FROM kernels", "query: "),
        ("SELECT frobnicate(name) FROM kernels", "unsupported function 'frobnicate'"),
        ("SELECT * FROM kernels WHERE", "sql parser error"),
    ],
)
def test_bad_sql_gets_polars_own_words_on_one_line(asked: Session, sql: str, message: str) -> None:
    with pytest.raises(TraceError) as refused:
        asked.query(sql)
    assert message in refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1" + "+1" * 4_990, "500 are run"),
        ("SELECT 1" + "+1" * 20_000, "40,008 characters; at most 10,000 are run"),
        ("SELECT name" + "||name" * 1_000 + " FROM kernels", "500 are run"),
        (" UNION ALL ".join(["SELECT 1"] * 400), "500 are run"),
        ("WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a FROM t) SELECT * FROM t", "recursive: rows"),
        ("with /* so */ recursive t as (select 1) select * from t", "recursive: rows are not made"),
        ("SELECT * FROM range(100000000000)", "range: rows are not made"),
        ('SELECT * FROM "Generate_Series" (1, 100000000000)', "generate_series: rows are not made"),
    ],
    ids=range(8),
)
def test_what_would_take_the_process_down_is_refused(asked: Session, sql: str, message: str) -> None:
    with pytest.raises(TraceError, match=message) as refused:
        asked.query(sql)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1" + "+1" * 498,
        "SELECT name" + "||name" * 160 + " FROM kernels LIMIT 1",
        " UNION ".join(["SELECT 1"] * 250),
        f"SELECT 1 WHERE 3 IN ({', '.join(str(n) for n in range(1_500))})",
        "SELECT 1 WHERE 'a' IN ('a'" + ", 'a'" * 600 + ")",
        "SELECT 1 AS recursive",
        "SELECT sum(1) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM kernels LIMIT 0",
    ],
    ids=range(7),
)
def test_long_queries_below_the_limit_are_let_through(sql: str) -> None:
    query.check(sql)


def test_the_longest_chains_that_are_let_through_run(asked: Session) -> None:
    assert rows(asked, "SELECT 1" + "+1" * 498) == [(499,)]
    assert len(rows(asked, " UNION ALL ".join(["SELECT 1"] * 125))) == 125
    assert len(rows(asked, "SELECT name" + "||name" * 160 + " FROM kernels LIMIT 1")) == 1


# What is printed.


@pytest.mark.parametrize(
    "sql", ["SELECT cast(id AS decimal(50, 60)) FROM kernels", "SELECT columns('(') FROM kernels"]
)
def test_a_panic_in_polars_is_one_line(tmp_path: Path, capfd: Any, sql: str) -> None:
    assert run(tmp_path, sql) == 2
    *notes, message = capfd.readouterr().err.splitlines()
    assert message.startswith("traceview: query: ")
    assert all(note.startswith("note: ") for note in notes)
    os.write(2, b"again")  # the descriptor is as it was
    assert capfd.readouterr().err == "again"


def run(folder: Path, *words: str) -> int:
    return main(["query", str(write(folder, *events())), *words])


def test_a_table_says_how_many_rows_it_leaves_out(tmp_path: Path, capsys: Any) -> None:
    sql = "SELECT name, dur_ns, grid, op FROM kernels ORDER BY id"
    assert run(tmp_path, sql, "--limit", "2") == 0
    assert capsys.readouterr().out.splitlines() == [
        "name                   dur_ns  grid       op",
        "void cast<float>(int)  40,000  [1, 1, 1]  aten::copy_",
        "gemm                   20,000  [1, 1, 1]  -",
        "... 2 of 4 rows; --limit 0 shows all",
    ]
    assert run(tmp_path, sql, "--limit", "0") == 0
    assert "more" not in capsys.readouterr().out


def test_json_has_columns_types_rows_and_the_total(tmp_path: Path, capsys: Any) -> None:
    sql = "SELECT name, grid, ln(-1.0) AS odd FROM kernels ORDER BY id"
    assert run(tmp_path, sql, "--limit", "1", "--steps", "0", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    assert document == {
        "schema": "traceview.query/1",
        "sql": sql,
        "selection": {"steps": [0], "phase": None, "device": None},
        "columns": [
            {"name": "name", "type": "text"},
            {"name": "grid", "type": "list of integer"},
            {"name": "odd", "type": "number"},
        ],
        "total": 2,
        "rows": [{"name": "void cast<float>(int)", "grid": [1, 1, 1], "odd": None}],
    }


def test_csv_is_exact_and_safe_for_a_spreadsheet(tmp_path: Path, capsys: Any) -> None:
    assert run(tmp_path, "SELECT '=1+1' AS a, dur_ns, grid FROM kernels LIMIT 1", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines() == ["a,dur_ns,grid", '\'=1+1,40000,"[1, 1, 1]"']


def test_the_schema_can_be_printed_in_every_format(tmp_path: Path, capsys: Any) -> None:
    assert run(tmp_path, "--schema") == 0
    assert "kernels: one row is one piece of GPU work" in capsys.readouterr().out
    assert run(tmp_path, "--schema", "--format", "json") == 0
    assert {"table": "kernels", "column": "id", "type": "integer", "rows": 4} in json.loads(
        capsys.readouterr().out
    )["rows"]
    assert run(tmp_path, "--schema", "--format", "csv") == 0
    assert "kernels,id,integer,4" in capsys.readouterr().out


def test_wrong_use_is_one_line_and_exit_code_2(tmp_path: Path, capsys: Any) -> None:
    for words in ([], ["SELECT 1", "--schema"], ["SELECT * FROM read_csv('x')"], ["SELECT nix FROM steps"]):
        assert run(tmp_path, *words) == 2
        *notes, message = capsys.readouterr().err.splitlines()
        assert message.startswith("traceview: query: ")
        assert all(note.startswith("note: ") for note in notes)


def test_hostile_text_is_made_safe() -> None:
    odd = pl.DataFrame({"name": ["\x1b[31mred|`x`"], "n": [float("nan")], "b": [True]})
    assert report.text(odd, 1, "markdown", 80).splitlines()[2].startswith("| \\\\x1b[31mred\\|\\`x\\`")
    assert "\x1b" not in report.text(odd, 1, "table", 80) + report.rows_csv(odd)
