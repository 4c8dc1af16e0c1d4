"""The demo's process: a host thread that runs decode steps, two GPU streams, and what a profiler keeps."""

import random
from dataclasses import dataclass
from functools import cache

from traceview.demo import model, rows
from traceview.demo.rows import PID

_CBIDS = {
    "cudaLaunchKernel": 211,
    "cudaLaunchKernelExC": 430,
    "cuLaunchKernel": 307,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaStreamSynchronize": 131,
}
_ROOT = "demo_engine/engine.py(118): step"
_SCHEDULE = (_ROOT, "demo_engine/scheduler.py(64): schedule")
_DETOKENIZE = (_ROOT, "demo_engine/engine.py(186): detokenize")

# Small things that a host does around every launch, for traces that are to be large.
_TOKENS = model.Tensor((model.BATCH, model.HIDDEN))
_FILLERS = (
    model.Op("aten::empty", ("[4, 5120]", "15", "0", "", "False", "")),
    model.Op("aten::view", (_TOKENS, "[-1, 5120]")),
    model.Op("aten::slice", (_TOKENS, "0", "0", "4", "1")),
    model.Op("aten::as_strided", (_TOKENS, "[4, 5120]", "[5120, 1]", "0")),
)
_FILLER_FRAMES = (
    "demo_llm/layers.py(58): check_shape",
    "demo_llm/state.py(23): current",
    "<built-in method size of Tensor object at 0x7f40ac1d2e30>",
)

# The host's costs in nanoseconds.
_ENTER_FRAME, _LEAVE_FRAME = 600, 250
_ENTER_OP, _LEAVE_OP = 900, 400
_MARKING = 1_000  # from a step's marker to what it holds, on either side
_FILLING = 3_000  # what lies around a launch: more events there make them shorter, and change no other time
_SCHEDULING, _COLLECTING = 380_000, 150_000
_REBALANCING = 180_000
_GARBAGE = 4_000_000  # once, in the slow step
_BETWEEN_STEPS = 30_000
# The GPU's.
_LATENCY = 6_200  # from the begin of the launch call to the earliest begin of the work
_GAP, _JOIN = 800, 1_900  # from the work before on the same stream; on the other one
_NOTICING = 3_500  # from the end of the work to the end of the host's wait for it
_LATE_RANK = 1_240_000  # the one all-reduce that waited for another rank

_BEGIN = 3_214_007_118_345  # of the first step, after the base
_CAST_ADDRESS = 139_912_847_360_000
_ALLOCATED = 61_203_283_968  # weights and the KV cache, in bytes
_RESERVED = 71_903_674_368


@dataclass(frozen=True, slots=True)
class Launch:
    """One piece of GPU work and the call that put it there; times in ns."""

    work: model.Work
    begin: int
    dur: int
    called: int
    call_dur: int
    correlation: int
    external: int
    note: str  # the collective's arguments

    @property
    def end(self) -> int:
        """Where the work ends, exclusive."""
        return self.begin + self.dur

    def rows(self) -> list[str]:
        """The call, the work, and the arrow between them."""
        work, gpu, stream = self.work, rows.DEVICE, self.work.stream
        args = f'"External id": {self.external}, "device": {gpu}, "context": 1, "stream": {stream}, '
        args += f'"correlation": {self.correlation}'
        if work.kind == "kernel":
            args = f'"queued": 0, {args}{rows.kernel_args(work)}{self.note}'
        else:
            args += f', "bytes": {work.bytes}, "memory bandwidth (GB/s)": {work.bytes / self.dur:.6f}'
        return [
            _call_row(work.call, self),
            rows.flow_row("s", self.correlation, PID, PID, self.called),
            rows.slice_row(work.kind, work.name, gpu, stream, self.begin, self.dur, args),
            rows.flow_row("f", self.correlation, gpu, stream, self.begin),
        ]


@dataclass(frozen=True, slots=True)
class Wait:
    """The host's wait until the GPU is done; times in ns."""

    called: int
    call_dur: int
    correlation: int
    external: int

    def rows(self) -> list[str]:
        """The call, and the arrow that leads nowhere."""
        return [
            _call_row("cudaStreamSynchronize", self),
            rows.flow_row("s", self.correlation, PID, PID, self.called),
        ]


def _call_row(name: str, call: Launch | Wait) -> str:
    category = "cuda_runtime" if name.startswith("cuda") else "cuda_driver"
    args = f'"External id": {call.external}, "cbid": {_CBIDS[name]}, "correlation": {call.correlation}'
    return rows.slice_row(category, name, PID, PID, call.called, call.call_dur, args)


@dataclass(slots=True)
class Step:
    """What one step left behind; times in ns."""

    name: str
    external: int
    begin: int
    wall: int
    calls: list[Launch | Wait]
    host_rows: list[str]

    @property
    def launches(self) -> list[Launch]:
        """The calls that put work on the GPU."""
        return [call for call in self.calls if isinstance(call, Launch)]


@dataclass(slots=True)
class _HostRow:
    """A host event; `end` is set when it closes."""

    category: str
    name: str
    begin: int
    args: str
    end: int = 0

    def text(self) -> str:
        return rows.slice_row(
            self.category, self.name, PID, PID, self.begin, self.end - self.begin, self.args
        )


@cache
def _scopes(frames: tuple[str | model.Op, ...], layer: int) -> tuple[str | model.Op, ...]:
    """The frames with a layer's numbers, under the step's own frame."""
    numbers = {"layer": layer, "even": 2 * layer, "odd": 2 * layer + 1}
    return (_ROOT, *(frame.format(**numbers) if isinstance(frame, str) else frame for frame in frames))


class Run:
    """Runs one step after the other. `cpu_ops` and `stacks` add host rows and never change a time."""

    def __init__(self, steps: int, layers: int, cpu_ops: int, stacks: bool, seed: int) -> None:
        self.slow_step, self.outlier_step = min(5, steps - 1), min(2, steps - 1)
        self.cpu_op_count = self.python_count = 0
        self.now = _BEGIN
        self._layers, self._fillers, self._stacks = layers, cpu_ops, stacks
        self._random = random.Random(seed)
        self._free = {model.COMPUTE: 0, model.COMMUNICATION: 0}  # when each stream has done its work
        self._allocated = _ALLOCATED
        self._external = self._index = self._correlation = self._sequence = 0
        self._host: list[_HostRow | str] = []  # rows of this step, by their begin
        self._calls: list[Launch | Wait] = []
        self._open: list[tuple[str | model.Op, _HostRow | None, int]] = []  # what is open, its row and id

    def step(self, number: int) -> Step:
        """One decode step: a token for every sequence of the batch."""
        self._host, self._calls = [], []
        name, begin = f"ProfilerStep#{number}", self.now
        marker = _HostRow("user_annotation", name, begin, self._ids())
        external = self._external
        self._host.append(marker)
        self.now += _MARKING
        self._enter(_SCHEDULE)
        self.now += _SCHEDULING
        for work in model.BEFORE:
            self._launch(work, 0)
        for layer in range(self._layers):
            for work in model.LAYER:
                self._launch(work, layer, late=(number, layer) == (self.outlier_step, self._layers * 3 // 4))
            if layer == self._layers // 2:
                self._rebalance(layer, number == self.slow_step)
        for work in model.AFTER:
            self._launch(work, self._layers)
        self._enter(_DETOKENIZE)
        self.now += _COLLECTING
        self._enter(())
        self.now += _MARKING
        marker.end = self.now
        self.now += _BETWEEN_STEPS
        texts = [row if isinstance(row, str) else row.text() for row in self._host]
        return Step(name, external, begin, marker.end - begin, self._calls, texts)

    def _rebalance(self, layer: int, slow: bool) -> None:
        """The host reads a number from the GPU and thinks about it, while the GPU has nothing to do."""
        self._launch(model.ROUTER_LOAD, layer)
        self._enter(_scopes(model.REBALANCE, layer))
        self.now += _REBALANCING
        if slow:
            self._begin("Python GC")
            self.now += _GARBAGE
            self._close()

    def _launch(self, work: model.Work, layer: int, late: bool = False) -> None:
        """The host calls `work`; the GPU begins it as soon as the call and the streams allow."""
        self._enter(_scopes(work.frames, layer))
        self._fill()
        depth, note = len(self._open), ""
        if work.collective:
            self._sequence += 1
            note = rows.collective_args(work.collective, self._sequence)
        for op in work.ops[:-1]:
            self._begin(op)
        if work.memory > 0:
            self._account(work.memory)
        for op in work.ops[-1:]:
            self._begin(op, note)
        called, call_dur = self.now, self._random.randint(3_600, 4_800)
        dur = work.ns + self._random.randint(-work.ns // 80, work.ns // 80)
        if late and work is model.LAST_REDUCE:
            dur += _LATE_RANK
        begin = called + _LATENCY
        for stream, free in self._free.items():
            if stream == work.stream:
                begin = max(begin, free + _GAP)
            elif not work.overlaps:
                begin = max(begin, free + _JOIN)
        self._free[work.stream] = begin + dur
        self._correlation += 1
        launch = Launch(work, begin, dur, called, call_dur, self._correlation, self._operator(), note)
        self._calls.append(launch)
        self.now += call_dur
        if work.waits:
            self._wait()
        while len(self._open) > depth:
            self._close()
        if work.memory < 0:
            self._account(work.memory)

    def _wait(self) -> None:
        """The host waits until both streams are done."""
        self._correlation += 1
        called, self.now = self.now, max(self._free.values()) + _NOTICING
        self._calls.append(Wait(called, self.now - called, self._correlation, self._operator()))

    def _operator(self) -> int:
        """The External id of the innermost open operator."""
        return next(number for scope, _, number in reversed(self._open) if isinstance(scope, model.Op))

    def _enter(self, scopes: tuple[str | model.Op, ...]) -> None:
        """Leave what is open and not in `scopes`, then open the rest of `scopes`."""
        kept = 0
        while kept < min(len(scopes), len(self._open)) and self._open[kept][0] == scopes[kept]:
            kept += 1
        while len(self._open) > kept:
            self._close()
        for scope in scopes[kept:]:
            self._begin(scope)

    def _begin(self, scope: str | model.Op, note: str = "") -> None:
        """Open a Python frame or an operator."""
        if self._stacks or not isinstance(scope, str):
            row, number = self._row(scope, note)
            self._host.append(row)
            self._open.append((scope, row, number))
        else:
            self._open.append((scope, None, 0))
        self.now += _ENTER_FRAME if isinstance(scope, str) else _ENTER_OP

    def _close(self) -> None:
        scope, row, _ = self._open.pop()
        self.now += _LEAVE_FRAME if isinstance(scope, str) else _LEAVE_OP
        if row:
            row.end = self.now

    def _row(self, scope: str | model.Op, note: str = "") -> tuple[_HostRow, int]:
        """A host event that begins now, and its Python or External id."""
        if not isinstance(scope, str):
            self.cpu_op_count += 1
            args = self._ids(rows.op_args(scope) + note)
            return _HostRow("cpu_op", scope.name, self.now, args), self._external
        self.python_count += 1
        self._index += 1
        parents = (number for frame, _, number in reversed(self._open) if isinstance(frame, str))
        args = f'"Python parent id": {next(parents, "null")}, "Python id": {self.python_count}'
        if scope.startswith("nn.Module: "):
            args += f', "Python module id": {scope.rpartition("_")[2]}'
        row = _HostRow("python_function", scope, self.now, f'{args}, "Ev Idx": {self._index}')
        return row, self.python_count

    def _ids(self, inputs: str = "") -> str:
        """The arguments of the next operator or annotation."""
        self._external += 1
        self._index += 1
        return f'"External id": {self._external}, "Record function id": 0{inputs}, "Ev Idx": {self._index}'

    def _fill(self) -> None:
        """The small things around a launch."""
        end = self.now + _FILLING
        for place in range(self._fillers):
            python = self._stacks and place % 2
            names: tuple[str | model.Op, ...] = _FILLER_FRAMES if python else _FILLERS
            row, _ = self._row(names[(place // 2) % len(names)])
            row.end = self.now + _FILLING // self._fillers - 1
            self._host.append(row)
            self.now += _FILLING // self._fillers
        self.now = end

    def _account(self, size: int) -> None:
        """The caching allocator gives out `size` bytes, or takes them back."""
        self._allocated += size
        self._index += 1
        args = (
            f'"Total Reserved": {_RESERVED}, "Total Allocated": {self._allocated}, "Bytes": {size}, '
            f'"Device Id": {rows.DEVICE}, "Device Type": 1, "Addr": {_CAST_ADDRESS}, "Ev Idx": {self._index}'
        )
        self._host.append(rows.instant_row("cpu_instant_event", "t", "[memory]", PID, PID, self.now, args))
        self.now += 500
