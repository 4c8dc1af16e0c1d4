"""The frames that people query and export, under the names and with the columns that they see them by."""

import polars as pl

from traceview.analysis.steps import Steps, assign

# Name -> one row is what.
TABLES = {
    "kernels": "one piece of GPU work: a kernel, copy or memset, with its launch call, op and call site",
    "steps": "one step",
    "groups": "one kernel name",
    "ops": "one call of a CPU op",
    "launch_calls": "one host call that puts work on a GPU",
    "runtime": "one call of the CUDA or HIP runtime or driver, launches included",
    "annotations": "one user annotation, on the CPU or its copy on the GPU",
    "python": "one call of a Python function or module",
    "memory": "one allocation or release",
    "slices": "one other event with a duration",
    "instants": "one event without a duration, or one value of a counter",
}

# What a person looks at first; the other columns follow.
_FIRST = (
    "id", "name", "short_name", "kind", "family", "step", "begin_ns", "end_ns", "dur_ns", "timed", "device",
    "stream", "grid", "block", "op", "input_dims", "input_types", "module", "call_site", "launched_by",
    "launch_begin_ns", "launch_dur_ns", "launch_delay_ns", "launch_link", "op_link",
)  # fmt: skip
# Of no use outside the program: places in the file, row numbers of other frames.
_INSIDE = ("offset", "length", "launch", "group", "place", "pid")


def kernels(work: pl.DataFrame, names: pl.DataFrame, sites: pl.DataFrame) -> pl.DataFrame:
    """Rows of work.gpu_work, _FIRST first. names: group, short_name; sites: call sites of all work."""
    end = pl.when("timed").then(pl.col("begin_ns") + pl.col("dur_ns"))
    placed = (
        work.with_columns(sites[work["id"]]).with_columns(end_ns=end).drop("op").rename({"op_name": "op"})
    )
    named = placed.join(names.select("group", "short_name"), on="group", how="left", maintain_order="left")
    return named.drop(_INSIDE).select(*_FIRST, pl.exclude(_FIRST))


def with_step(frame: pl.DataFrame, steps: Steps) -> pl.DataFrame:
    """A frame of the trace without its places in the file, with `step` and, for what lasts, `end_ns`."""
    places = frame.select("begin_ns", launch_begin_ns="begin_ns", device=pl.lit(None, dtype=pl.Int64))
    public = frame.drop("offset", "length").with_columns(assign(steps, places).alias("step"))
    return (
        public.with_columns(end_ns=pl.col("begin_ns") + pl.col("dur_ns"))
        if "dur_ns" in frame.columns
        else public
    )
