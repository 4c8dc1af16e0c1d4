"""How many elements a kernel touched: exactly from recorded shapes, or as a bound from its launch geometry.

ATen's elementwise kernels run grid x block threads of E elements each, so for N elements
(grid - 1) x block x E < N <= grid x block x E. E stands in some templates; for
`vectorized_elementwise_kernel<vec, ...>` it depends on the torch version, which a trace does not tell.
Versions are called epochs here (source: ATen/native/cuda/CUDALoops.cuh and thread_constants.h over time):

A  up to 2.5        E = 4, vec up to 4; names with `at::detail::Array` are of this time
B  2.6 and 2.7      E = 16, 8 or 4 for elements of 1, 2 or more bytes, vec up to 8
C  2.8 to 2.11      E = 8; 16 where input and output together have one byte
D  2026             E is the template's second integer; up to two boundary blocks more
R  ROCm             E = 4, 8 or 16 by chip and build

Reductions, concatenations, gathers, softmax and norms give no bound: their grids do not grow with N.
"""

import polars as pl

from traceview.analysis.dtypes import size_of
from traceview.analysis.namefacts import NameFacts, name_facts

EPOCHS = ("A", "B", "C", "R4", "R8", "R16")
ROCM_EPOCHS = ("R4", "R8", "R16")
CUDA_EPOCHS = ("A", "B", "C")
_MOST_THREADS = 1024
_TEMPLATED = 32  # ROCm's vectorized_templated_elementwise_kernel: 512 threads of 32 elements
_BOUNDARY_BLOCKS = 2
_MOST_BLOCKS = 2**47  # CUDA's limits are 2^31 - 1, 65,535 and 65,535 blocks
_AGREE = 0.9  # shapes are now and then those of another kernel of the same operator
_LAUNCHERS = pl.Schema(
    {"name": pl.String, "per_thread": pl.Int64, "slack": pl.Int64, **dict.fromkeys(EPOCHS, pl.Int64)}
)


def _launcher(name: str, facts: NameFacts) -> tuple[str, int | None, int, *tuple[int | None, ...]] | None:
    """A row of _LAUNCHERS: E where the template says, or E in each epoch that this name can come from."""
    if facts.elementwise == "templated":
        return (name, _TEMPLATED, 0, *[None] * len(EPOCHS))
    if facts.elementwise is None or (facts.per_thread is None and facts.vector is None):
        return None
    if facts.per_thread is not None:
        slack = _BOUNDARY_BLOCKS if facts.elementwise == "vectorized" else 0
        return (name, facts.per_thread, slack, *[None] * len(EPOCHS))
    sizes = [s for s in (size_of(facts.in_dtype), size_of(facts.out_dtype)) if s]
    vector, widest = facts.vector or 0, max(sizes, default=4)
    by_size = {1: 16, 2: 8}.get(widest, 4)
    by_sum = 16 if facts.fills and sizes and sizes[-1] == 1 else 8
    early = "detail::Array<char" in name
    return (
        name,
        None,
        0,
        4 if vector <= 4 else None,
        by_size if vector <= 8 and not early else None,
        by_sum if not early else None,
        4 if vector <= 4 else None,
        8 if vector <= 8 else None,
        16,
    )


def product(numbers: list[int] | None) -> int | None:
    """Blocks of a grid or threads of a block; null where unknown."""
    if not numbers:
        return None
    out = 1
    for n in numbers:
        out *= n
    return out


def _product(column: str) -> pl.Expr:
    """The product of a list of up to three whole numbers; null where the list is null or not positive."""
    parts = [pl.col(column).list.get(i, null_on_oob=True).fill_null(1) for i in range(3)]
    product = parts[0] * parts[1] * parts[2]
    size = parts[0].cast(pl.Float64) * parts[1] * parts[2]  # tells an overflow
    plain = pl.col(column).list.len().is_between(1, 3) & size.is_between(1, _MOST_BLOCKS)
    return pl.when(plain & pl.min_horizontal(parts).gt(0)).then(product)


# Kernels that ROCm starts through hipExtModuleLaunchKernel: their grid is recorded in work-items.
_WORK_ITEMS = r"^Cijk_|^igemm_|^_ZN2ck|SubTensorOp|batched_transpose|N[CH]+W2|^MIOpen|^miopen"


def grid_blocks(launches: pl.DataFrame, rocm: bool = False) -> pl.Series:
    """The number of blocks of each launch, Int64; null where the grid is not recorded.

    `launches`: name, grid, block. The recorded grid is in blocks, but for some kernels of ROCm in work-items;
    those are known by name and have a grid that their blocks divide.
    """
    blocks, threads = _product("grid"), _product("block")
    if rocm:
        items = pl.col("name").cast(pl.String).str.contains(_WORK_ITEMS) & (blocks % threads == 0)
        blocks = pl.when(items).then(blocks // threads).otherwise(blocks)
    return launches.select(blocks=blocks).to_series()


def geometry(launches: pl.DataFrame, rocm: bool = False) -> pl.DataFrame:
    """Bounds on the elements of elementwise kernels, one row for each row of `launches`, in its order.

    `launches`: name (full), grid and block (lists, blocks and threads), and, where known, `elements` from
    shapes, which decide between the epochs. `rocm`: the device is AMD's. Returns blocks, threads (a block's),
    per_thread_low, per_thread_high, elements_low, elements (the upper bound); null where a kernel gives none.
    """
    names = launches["name"].unique().drop_nulls().cast(pl.String).to_list()
    rows = [row for name in names if (row := _launcher(name, name_facts(name)))]
    launchers = pl.DataFrame(rows, schema=_LAUNCHERS, orient="row")
    known = pl.col("elements") if "elements" in launches.columns else pl.lit(None, pl.Int64)
    table = (
        launches.select(
            pl.col("name").cast(pl.String),
            _product("grid").alias("blocks"),
            _product("block").alias("threads"),
            known=known,
        )
        .join(launchers, on="name", how="left", maintain_order="left")
        .with_columns(threads=pl.when(pl.col("threads") <= _MOST_THREADS).then(pl.col("threads")))
        .with_columns(lanes=pl.col("blocks") * pl.col("threads"))
    )
    epochs = _possible(table, ROCM_EPOCHS if rocm else CUDA_EPOCHS)
    low = pl.coalesce("per_thread", pl.min_horizontal(epochs))
    high = pl.coalesce("per_thread", pl.max_horizontal(epochs))
    fewest = pl.col("blocks") - 1 - pl.col("slack")
    return table.select(
        "blocks",
        "threads",
        per_thread_low=low,
        per_thread_high=high,
        elements_low=pl.when(high.is_not_null()).then(
            (fewest * pl.col("threads") * low + 1).clip(lower_bound=1)
        ),
        elements=pl.col("lanes") * high,
    )


def _possible(table: pl.DataFrame, epochs: tuple[str, ...]) -> list[str]:
    """The epochs that fit the vectorised launches: each vector width, and most of the known elements."""
    vectorised = table.filter(pl.col("per_thread").is_null() & pl.col("slack").is_not_null())
    if vectorised.is_empty():
        return list(epochs)

    def fits(epoch: str) -> pl.Expr:
        each = pl.col(epoch)
        most = pl.col("lanes") * each
        inside = pl.col("known").is_null() | pl.col("known").is_between(
            most - pl.col("threads") * each + 1, most
        )
        return each.is_not_null().all() & (inside.fill_null(True).mean() >= _AGREE)

    verdict = vectorised.select(**{epoch: fits(epoch) for epoch in epochs}).row(0, named=True)
    return [epoch for epoch in epochs if verdict[epoch]] or list(epochs)
