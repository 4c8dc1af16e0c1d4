"""A trace in memory: frames, header facts, and an honest count of what was read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from traceview import schema

# What a notice can be about: found by the reader, by whoever stops it, by the analysis.
NOTICE_CODES = (
    "truncated",
    "damaged-events",
    "damaged-header",
    "damaged-tail",
    "several-documents",
    "untimed-events",
    "unfinished-ops",
    "no-gpu-work",
    "no-shapes",
    "no-stacks",
    "index-rebuilt",
    "stopped",
    "launches-without-work",
    "launched-before",
    "gpu-ends-early",
    "ambiguous-links",
    "negative-delay",
    "suspect-duration",
    "no-steps",
    "steps-without-work",
    "coarse-clock",
    "unknown-device",
)


@dataclass(frozen=True)
class Notice:
    """One thing the person should know about the file.

    `code` is one of NOTICE_CODES; `count` is how many events it
    speaks of; `byte` the first place in the decompressed file, where there is one.
    """

    code: str
    count: int
    message: str
    byte: int | None = None

    def __post_init__(self) -> None:
        if self.code not in NOTICE_CODES:
            raise ValueError(f"{self.code} is not a notice's code")

    def as_dict(self) -> dict[str, Any]:
        """The notice as the JSON contract spells it."""
        return {"code": self.code, "count": self.count, "byte": self.byte, "message": self.message}


@dataclass(frozen=True)
class EventCounts:
    """in_file = loaded + set_aside, always. Repaired events are among the loaded ones."""

    in_file: int = 0
    loaded: int = 0
    set_aside: int = 0
    repaired: int = 0


@dataclass(frozen=True)
class Trace:
    """What a file holds. The frames' columns are in `schema`; a frame without rows is empty, never absent."""

    path: str
    bytes: int  # size of the file as it lies on the disk
    compression: str | None = None  # "gzip", ...
    layout: str = "kineto"  # kineto | array | object
    header: dict[str, Any] = field(default_factory=dict)  # top-level keys but traceEvents, as decoded
    events: EventCounts = EventCounts()
    complete: bool = True  # false where events are known to be missing
    notices: tuple[Notice, ...] = ()
    gpu: pl.DataFrame = field(default_factory=lambda: schema.empty("gpu"))
    ops: pl.DataFrame = field(default_factory=lambda: schema.empty("ops"))
    runtime: pl.DataFrame = field(default_factory=lambda: schema.empty("runtime"))
    annotations: pl.DataFrame = field(default_factory=lambda: schema.empty("annotations"))
    python: pl.DataFrame = field(default_factory=lambda: schema.empty("python"))
    slices: pl.DataFrame = field(default_factory=lambda: schema.empty("slices"))
    memory: pl.DataFrame = field(default_factory=lambda: schema.empty("memory"))
    instants: pl.DataFrame = field(default_factory=lambda: schema.empty("instants"))
    tracks: pl.DataFrame = field(default_factory=lambda: schema.empty("tracks"))
    kinds: pl.DataFrame = field(default_factory=lambda: schema.empty("kinds"))

    @classmethod
    def on_demand(cls, frames: Mapping[str, Callable[[], pl.DataFrame]], **facts: Any) -> "Trace":
        """A trace with these facts, and frames that are read when they are first asked for.

        `frames` says how, for each name of `schema.FRAMES`.
        """
        trace = cls(**facts)
        for name in schema.FRAMES:
            del trace.__dict__[name]  # frozen is for those who use a trace: it stays what the file says
        trace.__dict__["_unread"] = frames
        return trace

    if not TYPE_CHECKING:  # to a type checker it would make every misspelt attribute right

        def __getattr__(self, name: str) -> Any:
            read = self.__dict__.get("_unread", {}).get(name)
            if read is None:
                raise AttributeError(name)
            frame = self.__dict__[name] = read()
            return frame
