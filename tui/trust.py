"""Trust: what this trace can and cannot tell."""

from collections.abc import Iterator, Sequence
from typing import Any

from textual.app import ComposeResult

from traceview.tui import commands
from traceview.tui.level import COMMON, Level
from traceview.units import UNKNOWN, fmt_bytes, fmt_count, fmt_ns
from traceview.widgets.detail import Detail, Field, Section

_RECORDED = {
    "shapes": ("input shapes", "record_shapes=True"),
    "stacks": ("Python stacks", "with_stack=True"),
    "memory": ("memory", "profile_memory=True"),
}


class Trust(Level):
    """Notices, counts of events, what was recorded, devices."""

    PLACE = 5
    HAS = (
        commands.BACK,
        commands.EXPORT,
        *(c for c in COMMON if c in (commands.HEADLESS, *commands.GO)),
    )
    BINDINGS = commands.bindings(HAS)

    def body(self) -> ComposeResult:
        """Sections of facts."""
        yield Detail(id="table")

    def table(self) -> Detail:
        """The facts."""
        return self.query_one("#table", Detail)

    @property
    def wanted(self) -> object:
        """Of the whole trace, whatever is selected."""
        return "trace"

    def load(self) -> None:
        """Facts, totals and kinds."""
        session = self.state.session
        kinds = session.trace.kinds.sort("count", descending=True).iter_rows()
        self.table().show(
            trust_sections(
                session.trace_facts(), session.gpu(), session.host(), [(p, c, n) for p, c, n in kinds]
            )
        )

    def crumb(self) -> list[str]:
        """The screen's name."""
        return ["trust"] if self.is_lowest else []

    def numbers(self) -> Sequence[str]:
        """These are of the whole file."""
        return ("the whole file, whatever is selected",)

    def command_line(self) -> list[str]:
        """The same facts as JSON."""
        return ["summary", self.state.session.trace.path, "--format", "json"]


def trust_sections(
    facts: dict[str, Any], gpu: dict[str, Any], host: dict[str, Any], kinds: Sequence[tuple[str, str, int]]
) -> list[Section]:
    """The contract's `trace`, `gpu` and `host` objects and (ph, cat, count) of the events, as sections."""
    return [
        Section("What to know", [*_notices(facts)]),
        Section("The file", [*_file(facts)]),
        Section("Recorded", [*_recorded(facts)]),
        Section("GPU work", [*_gpu(gpu, facts)]),
        Section("Host", [*_host(host)]),
        Section("Events by kind", [*_kinds(kinds)]),
    ]


def _notices(facts: dict[str, Any]) -> Iterator[Field]:
    for notice in facts["notices"]:
        place = "" if notice["byte"] is None else f"first at byte {fmt_count(notice['byte'])}"
        yield Field(notice["code"], notice["message"], place)
    if not facts["notices"]:
        yield Field("nothing", "no damage and nothing odd was found")


def _file(facts: dict[str, Any]) -> Iterator[Field]:
    events = facts["events"]
    packed = f", {facts['compression']}" if facts["compression"] else ""
    yield Field("path", facts["path"])
    yield Field(
        "size", f"{fmt_bytes(facts['bytes'])}{packed}, layout {facts['layout']}", facts["producer"] or ""
    )
    yield Field("in the file", f"{fmt_count(events['in_file'])} events", "= loaded + set aside")
    yield Field("loaded", fmt_count(events["loaded"]))
    yield Field("set aside", fmt_count(events["set_aside"]), "could not be used as events at all")
    yield Field("repaired", fmt_count(events["repaired"]), "among the loaded ones")
    yield Field("complete", "yes" if facts["complete"] else "no: events are missing at the end")
    if facts["world_size"] or facts["rank"] is not None:
        yield Field(
            "rank",
            f"{UNKNOWN if facts['rank'] is None else facts['rank']} of {facts['world_size'] or UNKNOWN}",
        )


def _recorded(facts: dict[str, Any]) -> Iterator[Field]:
    for key, there in facts["recorded"].items():
        name, option = _RECORDED[key]
        yield Field(name, "yes" if there else f"no; the profiler option is {option}")


def _gpu(gpu: dict[str, Any], facts: dict[str, Any]) -> Iterator[Field]:
    counts = ", ".join(f"{fmt_count(gpu[kind])} {kind}" for kind in ("kernels", "copies", "sets"))
    yield Field(
        "events",
        counts,
        f"{fmt_count(gpu['untimed'])} of them without a usable time" if gpu["untimed"] else "",
    )
    yield Field("sum", fmt_ns(gpu["sum_ns"]), "durations added up over streams and devices")
    yield Field("busy", fmt_ns(gpu["busy_ns"]), f"union per device, of a span of {fmt_ns(gpu['span_ns'])}")
    names = {d["id"]: d for d in facts["devices"]}
    for device in gpu["devices"]:
        known = names.get(device["id"], {})
        streams = len(device["streams"])
        yield Field(
            f"GPU {UNKNOWN if device['id'] is None else device['id']}",
            f"{known.get('name') or 'unknown GPU'}, {known.get('multiprocessors') or UNKNOWN} processors",
            f"busy {fmt_ns(device['busy_ns'])}, idle {fmt_ns(device['idle_ns'])}, {streams} streams",
        )


def _host(host: dict[str, Any]) -> Iterator[Field]:
    yield Field("CPU ops", fmt_count(host["cpu_ops"]))
    yield Field("launch calls", fmt_count(host["launches"]), f"{fmt_ns(host['launch_ns'])} in them")
    yield Field("launches without work", fmt_count(host["launches_without_gpu_work"]))
    yield Field(
        "work without launch", fmt_count(host["gpu_work_without_launch"]), "its launch is not in the file"
    )


def _kinds(kinds: Sequence[tuple[str, str, int]]) -> Iterator[Field]:
    for ph, cat, count in kinds:
        yield Field(f"{cat or 'no category'} ({ph or UNKNOWN})", fmt_count(count))
