"""The demo trace: a decode trace of the program's own making, in Kineto's layout, with the facts it holds.

It tells one story: 78 layers decode 8 steps, and in every layer one kernel casts the whole KV cache from fp8
to bf16, which takes two thirds of the GPU's time. Smaller things lie beside it: in the middle of every step
the host waits for the GPU and then the GPU for the host; one step is slow because Python collected garbage;
one all-reduce waited for a late rank. The same options give the same bytes.
"""

import gzip
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from math import prod
from pathlib import Path
from typing import TextIO, TypedDict, Unpack

import platformdirs

from traceview.demo import model, rows, run
from traceview.errors import TraceError
from traceview.outputs import output

STEPS, LAYERS, SEED = 8, model.LAYERS, 7
MOST_CPU_OPS = 1_000  # more would not fit around a launch
_ROWS_AT_ONCE = 4_000


@dataclass(frozen=True)
class GroupFacts:
    """GPU work of one name. `kind` is kernel, memcpy or memset; times in ns."""

    kind: str
    calls: int
    sum_ns: int
    min_ns: int
    max_ns: int


@dataclass(frozen=True)
class StepFacts:
    """One step: its marker's begin and length, the GPU work launched in it, the sum of that work's time."""

    name: str
    begin_ns: int
    wall_ns: int
    events: int
    sum_ns: int


@dataclass(frozen=True)
class CastFacts:
    """The kernel that the demo is about. `share` is of all GPU work's time; `bytes` are read and written."""

    name: str
    calls_per_step: int
    share: float
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    elements: int
    bytes: int
    input_dims: tuple[tuple[int, ...], ...]
    input_types: tuple[str, ...]
    op_stack: tuple[str, ...]  # from the inside out
    python: str


@dataclass(frozen=True)
class OutlierFacts:
    """The one launch that took far longer than its like: name, position of its step, time in ns."""

    name: str
    step: int
    dur_ns: int


@dataclass(frozen=True)
class DemoFacts:
    """What a reader of the trace has to find. `events` counts the rows of traceEvents; times in ns.

    `launches` are the calls that put work on the GPU. `busy_ns` is the union of all GPU work, `span_ns` from
    the first begin to the last end. `slow_step` is a position.
    """

    events: int
    cpu_ops: int
    python_frames: int
    launches: int
    kernels: int
    copies: int
    sets: int
    sum_ns: int
    busy_ns: int
    span_ns: int
    groups: dict[str, GroupFacts]
    steps: tuple[StepFacts, ...]
    cast: CastFacts
    slow_step: int
    outlier: OutlierFacts


class DemoOptions(TypedDict, total=False):
    """The options of `write_demo`, where they are passed on."""

    steps: int
    layers: int
    cpu_ops: int
    one_line: bool
    stacks: bool
    seed: int


def write_demo(
    out: TextIO,
    *,
    steps: int = STEPS,
    layers: int = LAYERS,
    cpu_ops: int = 0,
    one_line: bool = False,
    stacks: bool = True,
    seed: int = SEED,
) -> DemoFacts:
    """Write the demo trace to `out` and return what is in it.

    `cpu_ops` adds that many host events around each launch (every other one a Python frame), which makes the
    file larger and changes no time; `steps=30, cpu_ops=30` is about 550 MB. `one_line` leaves out the line
    ends, as tools do that read a trace and write it again. `stacks=False` leaves out Python frames and
    modules. Memory grows with the launches alone. Raises TraceError for numbers out of range.
    """
    if steps < 1 or layers < 1 or not 0 <= cpu_ops <= MOST_CPU_OPS:
        message = (
            f"demo: needs at least 1 step and 1 layer, and 0 to {MOST_CPU_OPS:,} events around each launch"
        )
        raise TraceError(message, exit_code=2)
    writer = _Writer(out, one_line)
    process = run.Run(steps, layers, cpu_ops, stacks, seed)
    writer.text(rows.header(stacks))
    done = []
    for number in range(steps):
        step = process.step(number)
        writer.rows(step.host_rows)
        step.host_rows.clear()
        done.append(step)
    writer.rows(_other_rows(done, process.now))
    writer.text(rows.FOOTER)
    return _facts(done, process, writer.count)


class _Writer:
    """Puts rows between commas, and counts them."""

    def __init__(self, out: TextIO, one_line: bool) -> None:
        self.count = 0
        self._out, self._one_line = out, one_line

    def text(self, text: str) -> None:
        self._out.write(rows.in_one_line(text) if self._one_line else text)

    def rows(self, given: Iterable[str]) -> None:
        source = iter(given)
        while some := list(islice(source, _ROWS_AT_ONCE)):
            self.text((",\n" if self.count else "") + ",\n".join(some))
            self.count += len(some)


def _other_rows(steps: list[run.Step], end: int) -> Iterator[str]:
    """The rows after the host's: calls and GPU work, track names, overhead, GPU copies of the markers."""
    begin = steps[0].begin - 2_400_000
    count = '"Op count": 0'
    yield rows.slice_row(
        "Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", begin, end - begin, count
    )
    for step in steps:
        yield from chain.from_iterable(call.rows() for call in step.calls)
    yield from rows.track_rows(begin)
    tracer = "Trace PyTorch Profiler"
    yield rows.instant_row("", "g", "Iteration Start: PyTorch Profiler", "Traces", tracer, begin)
    yield rows.slice_row("overhead", "Activity Buffer Request", -1, 0, begin + 300_000, 1_180_000, "")
    for step in steps:
        for stream in (model.COMPUTE, model.COMMUNICATION):
            work = [launch for launch in step.launches if launch.work.stream == stream]
            # Kineto draws these wider than the work by a nanosecond on either side.
            first, last = work[0].begin - 1, work[-1].end + 1
            args = f'"External id": {step.external}'
            yield rows.slice_row(
                "gpu_user_annotation", step.name, rows.DEVICE, stream, first, last - first, args
            )
    yield rows.instant_row("", "g", "Record Window End", "", "", end)


def _facts(steps: list[run.Step], process: run.Run, events: int) -> DemoFacts:
    launches = [launch for step in steps for launch in step.launches]
    times: dict[tuple[str, str], list[int]] = defaultdict(list)
    for launch in launches:
        times[launch.work.kind.removeprefix("gpu_"), launch.work.name].append(launch.dur)
    busy, reached = 0, 0
    for launch in sorted(launches, key=lambda launch: launch.begin):
        busy += max(0, launch.end - max(launch.begin, reached))
        reached = max(reached, launch.end)
    largest = max(steps[process.outlier_step].launches, key=lambda launch: launch.dur)
    total = sum(launch.dur for launch in launches)
    kinds = [launch.work.kind for launch in launches]
    return DemoFacts(
        events=events,
        cpu_ops=process.cpu_op_count,
        python_frames=process.python_count,
        launches=len(launches),
        kernels=kinds.count("kernel"),
        copies=kinds.count("gpu_memcpy"),
        sets=kinds.count("gpu_memset"),
        sum_ns=total,
        busy_ns=busy,
        span_ns=reached - min(launch.begin for launch in launches),
        groups={
            name: GroupFacts(kind, len(durs), sum(durs), min(durs), max(durs))
            for (kind, name), durs in times.items()
        },
        steps=tuple(_step_facts(step) for step in steps),
        cast=_cast_facts(times["kernel", model.CAST.name], total, len(steps)),
        slow_step=process.slow_step,
        outlier=OutlierFacts(largest.work.name, process.outlier_step, largest.dur),
    )


def _step_facts(step: run.Step) -> StepFacts:
    work = step.launches
    return StepFacts(step.name, step.begin, step.wall, len(work), sum(launch.dur for launch in work))


def _cast_facts(durs: list[int], total: int, steps: int) -> CastFacts:
    cast, elements = model.CAST, prod(model.CACHE)
    return CastFacts(
        name=cast.name,
        calls_per_step=len(durs) // steps,
        share=sum(durs) / total,
        grid=cast.grid,
        block=cast.block,
        elements=elements,
        bytes=3 * elements,  # one byte is read, two are written
        input_dims=(model.CACHE, model.CACHE, ()),
        input_types=(model.BF16, model.FP8, "Scalar"),
        op_stack=tuple(op.name for op in reversed(cast.ops)),
        python=str(cast.frames[-1]),
    )


def save_demo(path: Path, **options: Unpack[DemoOptions]) -> DemoFacts:
    """Write the demo trace to a file, gzipped where its name ends in .gz; options as in `write_demo`.

    The file appears when it is whole. Raises TraceError where it cannot be written.
    """
    with output(path) as file:
        # Neither name nor time go into the gzip header, so the same options give the same bytes.
        packed = gzip.GzipFile("", "wb", 6, file, mtime=0) if path.suffix == ".gz" else file
        with io.TextIOWrapper(packed, encoding="ascii", newline="\n") as text:
            return write_demo(text, **options)


def demo_path(**options: Unpack[DemoOptions]) -> Path:
    """The demo trace in the user's cache folder, written where it is missing; options as in `write_demo`.

    The folder's name comes from the options and from the sources that write the trace, so a new version makes
    its own. Raises TraceError where the cache folder cannot be written.
    """
    chosen = {**(write_demo.__kwdefaults__ or {}), **options}
    sources = sorted(Path(__file__).parent.glob("*.py"))
    recipe = b"".join(source.read_bytes() for source in sources) + json.dumps(chosen, sort_keys=True).encode()
    cache = platformdirs.user_cache_path("traceview", appauthor=False)
    path = cache / f"demo-{hashlib.sha256(recipe).hexdigest()[:12]}" / "demo-decode.pt.trace.json"
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            advice = "name a file with `traceview demo --write FILE`"
            raise TraceError(
                f"{path.parent}: no place for the demo trace: {error.strerror}; {advice}"
            ) from None
        save_demo(path, **options)
    return path
