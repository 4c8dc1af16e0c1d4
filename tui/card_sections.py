"""The document of one launch (Session.card) as sections of labelled facts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from traceview.analysis.names import short_name
from traceview.report.text import fmt_dims, fmt_grid
from traceview.tui.cells import number_name
from traceview.units import UNKNOWN, fmt_bytes, fmt_count, fmt_ns, fmt_percent, fmt_rate
from traceview.widgets.detail import Field, Section

_LINKS = {
    "correlation": "linked by correlation id",
    "graph": "replayed by a CUDA graph: linked to the graph's launch",
    "before-window": "its launch was before the recording",
    "ambiguous": "several launch calls carry this correlation id",
    "none": "carries no correlation id",
    "external-id": "linked by External id",
    "containment": "the innermost op around the launch call",
    "borrowed": "borrowed from a neighbouring launch",
}
_SOURCES = {
    "shapes": "exact, from recorded shapes and types",
    "geometry": "an upper bound, from grid x block x elements per thread",
    "trace": "recorded by the profiler",
    "assumed": "assumed",
}


def sections(card: dict[str, Any]) -> list[Section]:
    """All sections of Session.card that have something to say; `-` where what is expected is unknown."""
    launch = card["launch"]
    made = [
        Section("Launch", [*_launch(card)]),
        Section("Op", [*_op(card)]),
        Section("Data and floor", [*_figures(launch)]),
        Section("Worked out", [*_working(card)]),
        Section("What tensor is this? Arguments of as many elements", [*_same_size(card["same_size"])]),
        Section("Called from", [*_callers(launch)]),
        Section("On the stream", [*_stream(card)]),
        Section("Launch call", [*_call(launch)]),
        Section("Collective", [*_collective(launch)]),
        Section("Kernel name", [*_name(card)]),
    ]
    return [section for section in made if section.fields]


def _launch(card: dict[str, Any]) -> Iterator[Field]:
    launch = card["launch"]
    kind = launch["family"] or UNKNOWN
    yield Field("kernel", launch["short_name"] or UNKNOWN, kind)
    exact = f"{fmt_count(launch['dur_ns'])} ns" if launch["dur_ns"] is not None else ""
    yield Field(
        "duration", fmt_ns(launch["dur_ns"]), exact if launch["timed"] else "no usable time in the file"
    )
    straddles = "begins or ends outside of the step's window" if launch["straddles"] else ""
    yield Field("step", card["step_name"] or "outside of any step", straddles)
    if launch["kind"] != "kernel":
        return
    yield Field("grid", fmt_grid(launch["grid"]), _count(launch["grid"], card["blocks"], "blocks"))
    threads = _count(launch["block"], card["threads"], "threads")
    if card["blocks"] and card["threads"]:
        threads += f", {fmt_count(card['blocks'] * card['threads'])} in all"
    yield Field("block", fmt_grid(launch["block"]), threads)
    processors = (card["device"] or {}).get("multiprocessors")
    if card["waves"] is None:
        why = "the number of multiprocessors is not in the file" if card["blocks"] and not processors else ""
        yield Field("waves", UNKNOWN, why)
    else:
        at_once = f" x {launch['blocks_per_sm']} at a time" if launch["blocks_per_sm"] else ""
        yield Field("waves", f"{card['waves']:,.2f}", f"blocks / {processors} multiprocessors{at_once}")
    yield Field("registers", fmt_count(launch["registers_per_thread"]), "a thread")
    yield Field("shared memory", _bytes(launch["shared_memory_bytes"]), "a block")
    recorded, worked_out = launch["occupancy_pct"], launch["occupancy"]
    limiter = f", limited by {launch['limiter']}" if launch["limiter"] else ""
    if recorded is not None:
        yield Field("occupancy", f"{recorded:g} %", f"the profiler's, from the launch shape{limiter}")
    elif worked_out is not None:
        yield Field("occupancy", fmt_percent(worked_out), f"worked out from the launch shape{limiter}")
    else:
        yield Field("occupancy", UNKNOWN)


def _count(dims: list[int] | None, count: int | None, unit: str) -> str:
    """`4,096 blocks` beside 64 x 64; only `blocks` beside what is that number already."""
    text = fmt_count(count)
    return "" if count is None else unit if fmt_grid(dims) == text else f"{text} {unit}"


def _name(card: dict[str, Any]) -> Iterator[Field]:
    launch, parts = card["launch"], card["parts"]
    yield Field("full name", launch["name"] or UNKNOWN)
    if parts.arguments or parts.parameters:
        yield Field("template", parts.template)
        for number, argument in enumerate(parts.arguments, 1):
            yield Field(f"  <{number}>", argument, fold=2)
        for number, parameter in enumerate(parts.parameters, 1):
            yield Field(f"  ({number})", parameter, fold=2)


def _stream(card: dict[str, Any]) -> Iterator[Field]:
    launch = card["launch"]
    yield Field("start", _exact_ns(launch["begin_ns"]), "on the trace's own clock")
    device = card["device"] or {}
    yield Field("device", number_name(launch["device"]), device.get("name") or "")
    yield Field("stream", number_name(launch["stream"]))
    for side, label in (("previous", "← before it"), ("next", "→ after it")):
        other = card["neighbours"][side]
        if other is None:
            yield Field(label, UNKNOWN)
            continue
        gap = other["gap_ns"]
        apart = f"gap {fmt_ns(gap)}" if gap >= 0 else f"overlaps by {fmt_ns(-gap)}"
        yield Field(
            label,
            short_name(other["name"] or "") or UNKNOWN,
            f"{fmt_ns(other['dur_ns'])}, {apart}, id {other['id']}",
        )


def _op(card: dict[str, Any]) -> Iterator[Field]:
    launch, facts = card["launch"], card["op"] or {}
    how = _LINKS.get(launch["op_link"], "") if launch["op"] else _no_op(launch)
    chain = launch["op_stack"] or [launch["op"] or UNKNOWN]
    yield Field("op", " \N{LEFTWARDS ARROW} ".join(chain), how)
    if not launch["op"]:
        return
    if facts.get("forward_op"):
        yield Field(
            "gradient of", facts["forward_op"], f"by sequence number {number_name(facts['sequence'])}"
        )
    if facts.get("kernel_file"):
        yield Field("compiled to", facts["kernel_file"], "Inductor's kernel_file")
    if facts.get("kernel_kwargs"):
        yield Field("with", facts["kernel_kwargs"], "Inductor's kernel_kwargs")
    dims, types = launch["input_dims"], launch["input_types"]
    if not isinstance(dims, list):
        yield Field("inputs", UNKNOWN, "shapes were not recorded: record_shapes=True does; a types them in")
        return
    strides, values = launch["input_strides"], launch["concrete_inputs"]
    for number, shape in enumerate(dims):
        kind, stride, value = _at(types, number), _at(strides, number), _at(values, number)
        words = [
            fmt_dims([shape]) if shape != [] else "",
            str(kind or ""),
            f"= {value}" if value not in ("", None) else "",
        ]
        note = f"strides {fmt_dims([stride])}" if stride else ""
        yield Field(f"input {number}", "  ".join(w for w in words if w) or UNKNOWN, note)


def _no_op(launch: dict[str, Any]) -> str:
    return (
        "a graph replay has no op of its own"
        if launch["launch_link"] == "graph"
        else "no op was recorded for it"
    )


def _figures(launch: dict[str, Any]) -> Iterator[Field]:
    def source(key: str) -> str:
        least = launch.get(f"{key}_low")
        at_least = "" if least in (None, launch[key]) else f", at least {fmt_count(least)}"
        return _SOURCES.get(launch[f"{key}_from"], "") + at_least

    if launch["elements"] is not None:
        yield Field("elements", fmt_count(launch["elements"]), source("elements"))
    if launch["bytes"] is not None:
        yield Field("bytes moved", _bytes(launch["bytes"]), source("bytes"))
    if launch["flops"]:
        yield Field("FLOPs", fmt_count(launch["flops"]), source("flops"))
    if launch["bandwidth_gbs"] is not None:
        share = _of_peak(launch["peak_bandwidth_fraction"])
        yield Field("bandwidth", fmt_rate(launch["bandwidth_gbs"] * 1e9), share)
    if launch["tflops"]:
        share = _of_peak(launch["peak_tflops_fraction"])
        yield Field("arithmetic", fmt_rate(launch["tflops"] * 1e12, "FLOP"), share)
    if launch["floor_ns"]:
        took = f", it took {launch['dur_ns'] / launch['floor_ns']:.2f}x that" if launch["dur_ns"] else ""
        yield Field("floor", fmt_ns(launch["floor_ns"]), f"bound by {launch['bound']}{took}")
    elif launch["kind"] == "kernel":
        yield Field("floor", UNKNOWN, "a types in what is missing: shapes, types or cached tokens")
    if launch["suspect"]:
        yield Field("suspect", "faster than the hardware can be: do not trust this duration")


def _working(card: dict[str, Any]) -> Iterator[Field]:
    """The arithmetic behind the figures above, as on paper, and what it takes for granted."""
    launch = card["launch"]
    parts = [("assumed", launch["assumptions"]), ("data", launch["working"]), ("floor", card["floor"])]
    for label, lines in parts:
        for number, line in enumerate(lines):
            yield Field("" if number else label, str(line), fold=2)


def _of_peak(fraction: float | None) -> str:
    return "peak unknown" if fraction is None else f"{fmt_percent(fraction)} of the peak"


def _same_size(candidates: Sequence[dict[str, Any]]) -> Iterator[Field]:
    for found in candidates:
        times = "" if found["multiple"] == 1 else f"{found['multiple']} times "
        if found["tensor"] is not None:
            yield Field("of the model", f"{times}{found['tensor']}", found["working"], fold=2)
        else:
            yield Field("argument", f"{times}{found['op']} [{found['position']}]", found["working"], fold=2)


def _callers(launch: dict[str, Any]) -> Iterator[Field]:
    if launch["modules"]:
        yield Field("modules", " in ".join(launch["modules"]))
    frames = launch["python_stack"]
    if not frames:
        yield Field("Python", UNKNOWN, "no Python frames around it: with_stack=True records them")
    for number, frame in enumerate(frames):
        yield Field("Python" if number == 0 else "", frame, fold=2)


def _call(launch: dict[str, Any]) -> Iterator[Field]:
    yield Field("call", launch["launched_by"] or UNKNOWN, _LINKS.get(launch["launch_link"], ""))
    if launch["launch_begin_ns"] is not None:
        yield Field("called at", _exact_ns(launch["launch_begin_ns"]))
        early = launch["launch_delay_ns"] is not None and launch["launch_delay_ns"] < 0
        note = "starts before its call: the clocks disagree" if early else "GPU start minus the call's start"
        yield Field("delay", fmt_ns(launch["launch_delay_ns"]), note)
    yield Field("correlation", number_name(launch["correlation"]))
    if launch["graph_id"] is not None:
        yield Field("graph", f"{launch['graph_id']}, node {number_name(launch['graph_node'])}")


def _collective(launch: dict[str, Any]) -> Iterator[Field]:
    found = launch["collective"]
    for key, value in found.items() if isinstance(found, dict) else ():
        yield Field(str(key), UNKNOWN if value is None else str(value), fold=2)


def profile_section(ncu: Mapping[str, Any]) -> Section:
    """How to profile the launch with Nsight Compute; ncu: Session.ncu_command."""
    command = Field("command", ncu["command"], fold=6)
    return Section("Profile it again", [command, *(Field("mind", text) for text in ncu["caveats"])])


RAW_TITLE = "As the file has it"


def unread_section() -> Section:
    """What stands in for the file's own events until they are asked for."""
    return Section(RAW_TITLE, [Field("r", "reads this launch's events back from the file")])


def raw_section(raw: Mapping[str, Mapping[str, Any] | None] | str) -> Section:
    """The file's own events (Session.raw), every field and argument; or the line that says why not."""
    if isinstance(raw, str):
        return Section(RAW_TITLE, [Field("not there", raw)])
    fields = []
    for what, event in raw.items():
        if event is None:
            fields.append(Field(what, UNKNOWN, "none in the file"))
            continue
        about = {key: value for key, value in event.items() if key != "args"}
        fields.append(Field(what, _json(about), fold=3))
        arguments = event.get("args")
        if isinstance(arguments, dict):
            fields += [Field(f"  {key}", _json(value), fold=2) for key, value in arguments.items()]
        elif arguments is not None:
            fields.append(Field("  args", _json(arguments), fold=2))
    return Section(RAW_TITLE, fields)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _bytes(count: int | None) -> str:
    return (
        UNKNOWN if count is None else f"{fmt_bytes(count)} ({count:,} B)" if count >= 1000 else f"{count} B"
    )


def _exact_ns(ns: int | None) -> str:
    return UNKNOWN if ns is None else f"{ns:,} ns"


def _at(values: Any, number: int) -> Any:
    return values[number] if isinstance(values, list) and number < len(values) else None
