"""What happened on the timeline, as sections of facts: a gap, a slice of the host, a launch in short."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from traceview.analysis.launches import decoded
from traceview.report.text import fmt_dims, fmt_grid
from traceview.units import UNKNOWN, fmt_count, fmt_ns, fmt_percent
from traceview.widgets.detail import Field, Section

_KINDS = {
    "annotations": ("annotation", "marked as"),
    "ops": ("CPU op", "op"),
    "runtime": ("runtime call", "runtime call"),
    "python": ("Python frame", "Python"),
}
_CAUSES = {
    "after a sync": "the host had waited for the GPU, and then launched anew",
    "host was late": "the launch call came only after the gap had begun",
    "queued": "the work was launched before the gap: the GPU waited for something else",
    "unknown": "the launch of what ended it is not in the file",
}


def gap_sections(gap: dict[str, Any], name: Callable[[int], str]) -> list[Section]:
    """The document of Session.gap; `name` gives the short name of a launch."""
    return [
        Section("Gap", [*_gap(gap, name)]),
        Section("What the host did in it", [*_doing(gap)]),
    ]


def _gap(gap: dict[str, Any], name: Callable[[int], str]) -> Iterator[Field]:
    dur, idle = gap["dur_ns"], gap["idle_ns"]
    yield Field("length", fmt_ns(dur), f"{fmt_count(dur)} ns")
    if idle is None:
        yield Field(
            "cause", "an edge of the recording", "no work before it, or none after it, on this stream"
        )
    elif gap["cause"] is None:
        yield Field("cause", "no idle time: other streams of the device had work all along")
    else:
        whole = (
            "the whole device was idle" if idle == dur else f"idle device: {fmt_percent(idle / dur)} of it"
        )
        yield Field("cause", f"{gap['cause']}: {_CAUSES[gap['cause']]}", whole)
    for side, label in (("previous", "before it"), ("next", "after it")):
        launch = gap[side]
        yield Field(
            label, UNKNOWN if launch is None else name(launch), "" if launch is None else f"id {launch}"
        )
    call = gap["next_call"]
    if call is not None:
        late = call["begin_ns"] - gap["begin_ns"]
        when = f"{fmt_ns(late)} after the gap began" if late >= 0 else f"{fmt_ns(-late)} before the gap began"
        yield Field("its launch call", call["name"] or UNKNOWN, f"made {when}, took {fmt_ns(call['dur_ns'])}")


def _doing(gap: dict[str, Any]) -> Iterator[Field]:
    if gap["thread"] is None:
        yield Field("", "no thread is known to have launched work here")
        return
    yield Field(
        "thread", str(gap["thread"][1] or UNKNOWN), "the one that launches; times are without callees"
    )
    found = False
    for kind, rows in [*gap["doing"].items(), ("overhead", gap["overhead"])]:
        label = _KINDS[kind][0] if kind in _KINDS else "profiler's work"
        for number, row in enumerate(rows):
            found = True
            calls = f"{fmt_count(row['calls'])} calls" if row["calls"] > 1 else "1 call"
            part = f"{fmt_ns(row['self_ns'])}, {calls}"
            yield Field(label if number == 0 else "", row["name"] or UNKNOWN, part, fold=2)
    if not found:
        yield Field("", "nothing of this thread was recorded in the gap")


def slice_sections(document: dict[str, Any]) -> list[Section]:
    """The document of Session.host_slice."""
    label = _KINDS[document["kind"]][0]
    fields = [
        Field(label, document["name"] or UNKNOWN),
        Field("duration", fmt_ns(document["dur_ns"]), f"{fmt_count(document['dur_ns'])} ns"),
        Field("thread", str(document["thread"][1] or UNKNOWN)),
    ]
    if document["input_dims"]:
        types = document["input_types"] or ""
        fields.append(Field("shapes", fmt_dims(decoded(document["input_dims"])), types, fold=2))
    launches = document["launches"]
    fields.append(
        Field(
            "launched", fmt_count(launches), f"{fmt_ns(document['gpu_ns'])} of GPU work" if launches else ""
        )
    )
    made = [Section("Slice", fields), Section("Inside of", [*_around(document["around"])])]
    return [section for section in made if section.fields]


def _around(around: dict[str, Sequence[str]]) -> Iterator[Field]:
    for kind, names in around.items():
        for number, name in enumerate(names):
            yield Field(_KINDS[kind][1] if number == 0 else "", name, fold=2)


def launch_sections(row: dict[str, Any], short_name: str, step: str | None) -> list[Section]:
    """A row of work.gpu_work in short; its card has everything."""
    fields = [
        Field("kernel", short_name, row["family"]),
        Field(
            "duration", fmt_ns(row["dur_ns"]), f"floor {fmt_ns(row['floor_ns'])}" if row["floor_ns"] else ""
        ),
        Field("step", step or "outside of any step"),
        Field("launched by", row["launched_by"] or UNKNOWN, f"delay {fmt_ns(row['launch_delay_ns'])}"),
    ]
    if row["op_name"]:
        fields.append(Field("op", row["op_name"], fmt_dims(decoded(row["input_dims"])), fold=2))
    if row["grid"]:
        fields.append(Field("grid, block", f"{fmt_grid(row['grid'])}, {fmt_grid(row['block'])}"))
    return [Section(f"Launch {row['id']}", fields)]
