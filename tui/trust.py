"""Trust: what this trace can and cannot tell."""

from collections.abc import Iterator, Sequence
from typing import Any

from textual.app import ComposeResult

from traceview.tui import commands
from traceview.tui.cells import number_name
from traceview.tui.leaning import MARK, MATTERS, SURE
from traceview.tui.level import COMMON, Level
from traceview.units import UNKNOWN, fmt_bytes, fmt_count, fmt_ns, fmt_percent
from traceview.widgets.detail import Detail, Field, Section

_CLOCK = {1: "nanoseconds", 1000: "whole microseconds", None: UNKNOWN}
_QUESTIONS = {
    "launch": "its launch call",
    "op": "its op",
    "python": "Python frames",
    "module": "its module",
    "step": "its step",
}
_WAYS = {
    "correlation": "by correlation id",
    "graph": "a CUDA graph's launch",
    "before-window": "launched before the recording",
    "ambiguous": "several calls carry its id",
    "external-id": "by External id",
    "containment": "the innermost op around its launch call",
    "borrowed": "borrowed from a neighbouring launch",
    "launch": "around its launch call",
    "op": "around its op",
    "forward": "of the forward op",
    "none": "none",
}


class Trust(Level):
    """Notices, what is missing, how GPU work was linked, counts of events, devices."""

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
        """The check of the whole file, and its totals."""
        session = self.state.session
        self.ask(
            "trust",
            lambda: self.state.kept("trust", lambda: (session.check(), session.gpu(), session.host())),
            lambda found: self.table().show(trust_sections(*found)),
            rows=session.trace.ops.height,
        )

    def crumb(self) -> list[str]:
        """The screen's name."""
        return ["trust"] if self.is_lowest else []

    def numbers(self) -> Sequence[str]:
        """These are of the whole file."""
        return ("the whole file, whatever is selected", "how GPU work was linked: shares of the GPU sum")

    def command_line(self) -> list[str]:
        """The same as a document."""
        return ["check", self.state.session.trace.path]


def trust_sections(check: dict[str, Any], gpu: dict[str, Any], host: dict[str, Any]) -> list[Section]:
    """The documents of Session.check, gpu and host as sections."""
    facts = check["trace"]
    return [
        Section("What to know", [*_notices(facts)]),
        Section("Not recorded", [*_missing(check["missing"])]),
        Section("How GPU work was linked", [*_links(check["links"])]),
        Section("The file", [*_file(facts, check)]),
        Section("GPU work", [*_gpu(gpu, facts)]),
        Section("Host", [*_host(host)]),
        Section("Events by kind", [*_kinds(check["kinds"])]),
    ]


def _notices(facts: dict[str, Any]) -> Iterator[Field]:
    for notice in facts["notices"]:
        place = "" if notice["byte"] is None else f"first at byte {fmt_count(notice['byte'])}"
        yield Field(notice["code"], notice["message"], place)
    if not facts["notices"]:
        yield Field("nothing", "no damage and nothing odd was found")


def _missing(missing: Sequence[dict[str, Any]]) -> Iterator[Field]:
    for row in missing:
        yield Field(row["what"], f"so {row['without']} unknown", f"the profiler option is {row['option']}")
    if not missing:
        yield Field("nothing", "all that is asked for was recorded")


def _links(links: dict[str, Any]) -> Iterator[Field]:
    """Each way in a line of its own: its share, how it is called, how many events and how long."""
    for question, answers in links.items():
        label = _QUESTIONS.get(question, question)
        if not answers:
            yield Field(label, UNKNOWN)
        for number, answer in enumerate(answers):
            way = _WAYS.get(answer["link"], answer["link"]) or UNKNOWN
            leans = question == "op" and answer["link"] == "none" and (answer["share"] or 0) >= MATTERS
            yield Field(
                "" if number else label,
                f"{fmt_percent(answer['share']):>7}  {way}",
                f"{fmt_count(answer['events'])} events, {fmt_ns(answer['sum_ns'])}"
                + (f": figures by op lean on the rest, their titles carry {MARK}" if leans else ""),
            )


def _file(facts: dict[str, Any], check: dict[str, Any]) -> Iterator[Field]:
    events = facts["events"]
    packed = f", {facts['compression']}" if facts["compression"] else ""
    yield Field("path", facts["path"])
    yield Field(
        "size", f"{fmt_bytes(facts['bytes'])}{packed}, layout {facts['layout']}", facts["producer"] or ""
    )
    yield Field("in the file", f"{fmt_count(events['in_file'])} events", "loaded + set aside")
    yield Field("loaded", fmt_count(events["loaded"]), f"{fmt_count(events['repaired'])} of them repaired")
    yield Field("set aside", fmt_count(events["set_aside"]), "could not be used as events at all")
    yield Field("complete", "yes" if facts["complete"] else "no: events are missing at the end")
    steps = check["steps"]
    sure = "" if steps["confidence"] is None else f", confidence {steps['confidence']:g}"
    yield Field("steps", fmt_count(steps["count"]), f"from {steps['source']}{sure}")
    yield Field("clock", _CLOCK.get(check["clock_resolution_ns"], UNKNOWN))
    if facts["world_size"] or facts["rank"] is not None:
        yield Field("rank", f"{number_name(facts['rank'])} of {facts['world_size'] or UNKNOWN}")


def _gpu(gpu: dict[str, Any], facts: dict[str, Any]) -> Iterator[Field]:
    counts = ", ".join(f"{fmt_count(gpu[kind])} {kind}" for kind in ("kernels", "copies", "sets"))
    untimed = gpu["untimed"]
    yield Field("events", counts, f"{fmt_count(untimed)} of them without a usable time" if untimed else "")
    yield Field("sum", fmt_ns(gpu["sum_ns"]), "durations added up over streams and devices")
    yield Field("busy", fmt_ns(gpu["busy_ns"]), f"union per device, of a span of {fmt_ns(gpu['span_ns'])}")
    known = {d["id"]: d for d in facts["devices"]}
    for device in gpu["devices"]:
        about = known.get(device["id"], {})
        yield Field(
            f"GPU {number_name(device['id'])}",
            f"{about.get('name') or 'unknown GPU'}, {number_name(about.get('multiprocessors'))} processors",
            f"busy {fmt_ns(device['busy_ns'])}, idle {fmt_ns(device['idle_ns'])}, "
            f"{len(device['streams'])} streams",
        )
        yield Field("  peak", *_peak(about))


def _peak(device: dict[str, Any]) -> tuple[str, str]:
    """A device's peak bandwidth, and how sure it is: floors rest on it."""
    peak = device.get("peak_bandwidth_gbs")
    if peak is None:
        return UNKNOWN, "so no floors: --peak-bandwidth gives one"
    unsure = device["peak_confidence"] not in SURE
    advice = ": floors lean on it, --peak-bandwidth gives a better one" if unsure else ""
    return f"{peak:,g} GB/s", f"{device['peak_source']}, {device['peak_confidence']}{advice}"


def _host(host: dict[str, Any]) -> Iterator[Field]:
    yield Field("CPU ops", fmt_count(host["cpu_ops"]))
    yield Field("launch calls", fmt_count(host["launches"]), f"{fmt_ns(host['launch_ns'])} in them")
    yield Field("launches without work", fmt_count(host["launches_without_gpu_work"]))
    yield Field(
        "work without launch", fmt_count(host["gpu_work_without_launch"]), "its launch is not in the file"
    )


def _kinds(kinds: Sequence[dict[str, Any]]) -> Iterator[Field]:
    for kind in kinds:
        yield Field(f"{kind['cat'] or 'no category'} ({kind['ph'] or UNKNOWN})", fmt_count(kind["count"]))
