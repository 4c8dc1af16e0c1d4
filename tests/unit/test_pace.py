"""How steady steps are: percentiles of the usual ones, the slow ones, tokens a second."""

import polars as pl

from traceview.analysis.pace import pace


def steps(*walls: int, tokens: list[int | None] | None = None, cut_off: bool = False) -> pl.DataFrame:
    count = len(walls)
    return pl.DataFrame(
        {
            "index": range(count),
            "wall_ns": walls,
            "period_ns": [*walls[:-1], None],
            "tokens": tokens or [None] * count,
            "cut_off": [False] * (count - 1) + [cut_off],
        },
        schema_overrides={"tokens": pl.Int64, "period_ns": pl.Int64},
    )


def test_the_first_step_is_not_usual() -> None:
    found = pace(steps(900, 100, 100, 101, 99, 100))
    assert (found.wall_p50_ns, found.slow) == (100, {})


def test_a_step_well_over_the_others_is_slow_by_its_ratio() -> None:
    assert pace(steps(100, 100, 100, 150, 100, 100)).slow == {3: 1.5}


def test_within_the_usual_spread_nothing_is_slow() -> None:
    assert pace(steps(100, 60, 140, 80, 120, 150)).slow == {}


def test_a_cut_off_step_says_nothing() -> None:
    assert pace(steps(100, 100, 100, 100, 100, 500, cut_off=True)).slow == {}


def test_few_steps_have_no_usual_length() -> None:
    assert pace(steps(100, 100, 900)).slow == {}


def test_tokens_go_by_the_periods_of_the_steps_that_name_them() -> None:
    found = pace(steps(1_000, 1_000, 1_000, tokens=[8, None, 8]))
    assert found.tokens_per_second == 8e6  # the last step has no period, the second no tokens


def test_without_token_counts_there_is_no_rate() -> None:
    assert pace(steps(1_000, 1_000)).tokens_per_second is None
