"""Where in the code a launch comes from: module, Python line, and the forward op of a backward one."""

import numpy as np
import polars as pl

from traceview.analysis.attribution import Links
from traceview.analysis.launches import MODULE
from traceview.analysis.nesting import NONE, Ints, chains

# Frames that carry no meaning of their own: the framework's and the interpreter's. The frame shown for a
# launch is the innermost one that matches none of these.
FRAMEWORK = (
    r"^torch/",
    r"^<built-in",
    r"^<frozen",
    r"^<string>",
    r"^contextlib\.py",
    r"^functools\.py",
    r"^threading\.py",
    r"^triton/",
    r"/site-packages/(torch|triton)/",
)


def call_sites(links: Links, skip: tuple[str, ...] = FRAMEWORK) -> pl.DataFrame:
    """For each row of Trace.gpu: call_site, module, module_path, site_from, annotation.

    call_site is the innermost Python frame around the launch that matches none of the regular expressions
    `skip` (else the innermost); module the innermost nn.Module instance; module_path the classes from the
    outermost in, instance numbers left out, so that the layers of a model fall together. site_from is
    "launch", or "forward" for backward work, which has no frames of its own and is given those around its
    forward op. annotation is the innermost user annotation around the launch call. Null: not in the file.
    """
    ops = links.frame["op"].fill_null(NONE).to_numpy()
    own = links.python.fill_null(NONE).to_numpy()
    forward = np.where(own == NONE, forward_ops(links, ops), NONE)
    rows = np.where(own == NONE, links.around_ops(forward), own)
    source = pl.when(pl.Series(own) != NONE).then(pl.lit("launch")).when(pl.Series(rows) != NONE)
    annotation = links.trace.annotations["name"].gather(links.annotation)
    return (
        pl.DataFrame({"start": rows})
        .join(_sites(links, rows, skip), on="start", how="left", maintain_order="left")
        .with_columns(site_from=source.then(pl.lit("forward")), annotation=annotation)
        .drop("start")
    )


def _sites(links: Links, rows: Ints, skip: tuple[str, ...]) -> pl.DataFrame:
    """start (the distinct rows of Trace.python in `rows`), call_site, module, module_path."""
    chain = chains(links.python_parent, np.unique(rows[rows != NONE]))
    name = links.trace.python["name"].gather(chain["row"]).cast(pl.String)
    module = pl.col("name").str.strip_prefix(MODULE).filter("is_module")
    frame = pl.col("name").filter(~pl.col("is_module"))
    telling = pl.col("name").filter(~pl.col("is_module") & ~pl.col("skipped"))
    text = pl.Categorical()
    return (
        chain.with_columns(name=name)
        .with_columns(
            is_module=pl.col("name").str.starts_with(MODULE),
            skipped=pl.col("name").str.contains("|".join(skip)) if skip else pl.lit(False),
        )
        .group_by("start")
        .agg(
            call_site=pl.coalesce(telling.first(), frame.first()).cast(text),
            module=module.first().cast(text),
            module_path=module.reverse().str.replace(r"_\d+$", "").str.join(" > "),
        )
        .with_columns(pl.when(pl.col("module").is_not_null()).then("module_path").cast(text))
    )


def wait_sites(links: Links, waits: pl.Series, skip: tuple[str, ...] = FRAMEWORK) -> pl.DataFrame:
    """wait_name and wait_site (the Python line) of runtime calls given by row; null where unknown."""
    rows = links.around_calls(waits)
    sites = _sites(links, rows, skip).select("start", "call_site")
    found = pl.DataFrame({"start": rows}).join(sites, on="start", how="left", maintain_order="left")
    name = links.trace.runtime["name"].gather(waits).cast(pl.String)
    return pl.DataFrame({"wait_name": name, "wait_site": found["call_site"].cast(pl.String)})


def forward_ops(links: Links, ops: Ints) -> Ints:
    """Row of the forward op for each op row given; -1 where it is no backward op or the pairing is unclear.

    A backward op, or one inside it, carries the forward op's Sequence number and a Fwd thread id (not 0).
    The pair is made for the outermost such op; a number that several threads used pairs with none.
    """
    table = links.trace.ops.select("id", "sequence", "fwd_thread", "pid", "tid", "begin_ns")
    backward = pl.col("fwd_thread") > 0
    forward = (
        table.filter(pl.col("sequence").is_not_null(), ~backward.fill_null(False))
        .sort("begin_ns", "id")
        .group_by("sequence")
        .agg(forward=pl.col("id").last(), threads=pl.struct("pid", "tid").n_unique())
        .filter(pl.col("threads") == 1)
    )
    distinct = np.unique(ops[ops != NONE])
    chain = chains(links.op_nest.parent_row, distinct)
    rows = table[chain["row"]].with_columns(start=chain["start"])
    pairs = (
        rows.filter(backward, pl.col("sequence").is_not_null())
        .group_by("start", maintain_order=True)
        .agg(pl.col("sequence").last())
        .join(forward, on="sequence")
    )
    found = pl.DataFrame({"start": ops}).join(pairs, on="start", how="left", maintain_order="left")
    return found["forward"].fill_null(NONE).to_numpy()
