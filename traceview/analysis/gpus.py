"""Which GPU it is and what it can do at best: a table by name, with the source of each figure."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from traceview.errors import TraceError

# Names that drivers give to any device of theirs; what it is follows from its size.
_NAMELESS = frozenset({"", "AMD Radeon Graphics", "AMD Instinct", "GPU", "NVIDIA Graphics Device"})
# Reported memory against memory as sold: firmware and ECC take up to a tenth (A40: 44.5 of 48 GiB).
_MEMORY_RANGE = (0.90, 1.03)
_GIB = 1 << 30
_LARGEST_MEMORY = 1 << 50  # bytes; no GPU comes near


@dataclass(frozen=True)
class Figure:
    """A peak and how far it can be trusted: `sure`, `unsure`, `derived`, or `given` by the person."""

    value: float
    source: str
    confidence: str = "sure"

    def times(self, factor: float, why: str) -> "Figure":
        """This figure scaled, and said so."""
        return Figure(self.value * factor, f"{self.source}; {why}", "derived")

    def doubted(self) -> "Figure":
        """This figure with less confidence."""
        return replace(self, confidence="unsure") if self.confidence == "sure" else self


@dataclass(frozen=True)
class Entry:
    """One row of the table. Memory is as sold, in GiB."""

    names: tuple[str, ...]
    bandwidth_gbs: Figure | None
    tflops: Mapping[str, Figure]
    compute_capability: str | None = None
    multiprocessors: int | None = None
    memory_gib: float | None = None
    l2_mb: Figure | None = None
    note: str | None = None


@dataclass(frozen=True)
class Overrides:
    """What the person says: `--peak-bandwidth` in GB/s, `--peak-tflops`, rows of a table of their own."""

    peak_bandwidth_gbs: float | None = None
    peak_tflops: float | None = None
    table: tuple[Entry, ...] = ()


NO_OVERRIDES = Overrides()


@dataclass(frozen=True)
class Gpu:
    """A device with its peaks. None: unknown.

    `matched_by` is `name`, `size` (multiprocessors, memory, compute capability) or `given`. `tflops` holds
    dense peaks in TFLOP/s by element type: bf16, fp16, fp8, fp4, tf32, float, double, or `any` where given.
    """

    name: str
    matched_by: str
    multiprocessors: int | None = None
    bandwidth_gbs: Figure | None = None
    tflops: Mapping[str, Figure] = field(default_factory=dict)
    l2_mb: Figure | None = None
    notes: tuple[str, ...] = ()

    def peak_tflops(self, dtype: str | None) -> Figure | None:
        """The dense peak for an element type as `dtypes` names it; None where the table has none.

        bf16 and fp16 run at one rate on all tensor cores that know both.
        """
        if "any" in self.tflops:
            return self.tflops["any"]
        if dtype is None:
            return None
        key = "fp8" if dtype.startswith("float8") else "fp4" if dtype.startswith("float4") else dtype
        return self.tflops.get(key) or (self.tflops.get("bf16") if key == "fp16" else None)


def load_table(extra: Path | None = None) -> tuple[Entry, ...]:
    """The rows of the file `extra` (TOML like the built-in table), if any: for `Overrides.table`.

    Raises TraceError (exit code 2) where the file cannot be read or is no such table.
    """
    if extra is None:
        return ()
    try:
        return _entries(tomllib.loads(extra.read_text("utf-8")), str(extra))
    except OSError as error:
        raise TraceError(f"{extra}: cannot be read: {error.strerror}", exit_code=2) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise TraceError(f"{extra}: not a GPU table: {error}", exit_code=2) from None


@lru_cache(maxsize=1)
def built_in() -> tuple[Entry, ...]:
    """The table that ships with the program."""
    text = files("traceview.data").joinpath("gpus.toml").read_text("utf-8")
    return _entries(tomllib.loads(text), "built-in table")


def _entries(document: dict[str, Any], origin: str) -> tuple[Entry, ...]:
    sources = document.get("sources", {})

    def figure(raw: Any) -> Figure | None:
        if raw is None:
            return None
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return Figure(float(raw), origin, "given")
        where = ", ".join(
            str(sources.get(k.strip(), k.strip())) for k in str(raw.get("source", "")).split(",")
        )
        said = f"{origin} ({where})" if where else origin
        return Figure(float(raw["value"]), said, "unsure" if raw.get("unsure") else "sure")

    def entry(row: dict[str, Any]) -> Entry:
        names = row["names"]
        if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
            raise ValueError("names must be a list of names")
        if not all(isinstance(row.get(k, 0), int | float) for k in ("multiprocessors", "memory_gib")):
            raise ValueError("multiprocessors and memory_gib must be numbers")
        if "multiprocessors" in row and plausible(row["multiprocessors"]) is None:
            raise ValueError("no GPU has so many multiprocessors")
        peaks = {k: f for k, v in row.get("tflops", {}).items() if (f := figure(v))}
        return Entry(
            tuple(names),
            figure(row.get("bandwidth_gbs")),
            peaks,
            row.get("compute_capability"),
            row.get("multiprocessors"),
            row.get("memory_gib"),
            figure(row.get("l2_mb")),
            row.get("note"),
        )

    return tuple(entry(row) for row in document.get("gpu", []))


def plausible(value: Any, largest: int = (1 << 31) - 1) -> int | None:
    """A device's number from a header, as a whole number; None where no device could have it.

    A trace may hold any number there; bounded ones can be multiplied without leaving 64 bits.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and 1 <= value <= largest else None


def _prefix_length(entry: Entry, name: str) -> int:
    """How much of `name` this row's longest fitting name covers; a name must end where a word ends."""
    fits = (n for n in entry.names if name.startswith(n) and not name[len(n) : len(n) + 1].isalnum())
    return max((len(n) for n in fits), default=0)


def _memory_fits(entry: Entry, memory: int | None) -> bool:
    if memory is None or entry.memory_gib is None:
        return True
    low, high = _MEMORY_RANGE
    return low * entry.memory_gib <= memory / _GIB <= high * entry.memory_gib


def find_gpu(device_properties: Mapping[str, Any], overrides: Overrides | None = None) -> Gpu | None:
    """The GPU behind one of a trace's `deviceProperties`, or None if it is unknown and nothing is given.

    By the longest name in the table that the device's name begins with, then by multiprocessors and memory.
    Where those disagree the peaks are marked unsure and a note says why; the slices of a MIG are scaled by
    their share of the multiprocessors. A device without a name of its own is found by its size alone.
    """
    given = overrides or Overrides()
    raw = device_properties.get("name")
    name = raw.strip() if isinstance(raw, str) else ""
    found = None
    for table in (given.table, built_in()):
        found = found or _match(name, device_properties, table)
    if found is None and given.peak_bandwidth_gbs is None and given.peak_tflops is None:
        return None
    gpu = found or Gpu(name, "given", plausible(device_properties.get("numSms")))
    if given.peak_bandwidth_gbs is not None:
        gpu = replace(gpu, bandwidth_gbs=Figure(given.peak_bandwidth_gbs, "given", "given"))
    if given.peak_tflops is not None:
        gpu = replace(gpu, tflops={"any": Figure(given.peak_tflops, "given", "given")})
    return gpu


def _match(name: str, properties: Mapping[str, Any], table: Sequence[Entry]) -> Gpu | None:
    sms = plausible(properties.get("numSms"))
    memory = plausible(properties.get("totalGlobalMem"), _LARGEST_MEMORY)
    if name in _NAMELESS:
        return _by_size(properties, table, sms, memory)
    longest = max((_prefix_length(e, name) for e in table), default=0)
    candidates = [e for e in table if longest and _prefix_length(e, name) == longest]
    if not candidates:
        return None
    sliced = " MIG " in f"{name} "
    entry = max(candidates, key=lambda e: (e.multiprocessors == sms, not sliced and _memory_fits(e, memory)))
    notes = [entry.note] if entry.note else []
    gpu = Gpu(
        entry.names[0], "name", sms or entry.multiprocessors, entry.bandwidth_gbs, entry.tflops, entry.l2_mb
    )
    if sliced and sms and entry.multiprocessors:
        share = sms / entry.multiprocessors
        why = f"{sms} of {entry.multiprocessors} multiprocessors"
        scaled = gpu.bandwidth_gbs.times(share, why) if gpu.bandwidth_gbs else None
        peaks = {k: f.times(share, why) for k, f in gpu.tflops.items()}
        cache = gpu.l2_mb.times(share, why) if gpu.l2_mb else None
        return replace(
            gpu, bandwidth_gbs=scaled, tflops=peaks, l2_mb=cache, notes=(*notes, f"MIG slice: {why}")
        )
    doubts = []
    if sms and entry.multiprocessors and sms != entry.multiprocessors:
        doubts.append(f"the device reports {sms} multiprocessors, the table has {entry.multiprocessors}")
    if memory and not _memory_fits(entry, memory):
        doubts.append(
            f"the device reports {memory / _GIB:.1f} GiB of memory, the table has {entry.memory_gib}"
        )
    if len(candidates) > 1 and not (sms or memory):
        doubts.append("several cards have this name")
    return _doubted(gpu, (*notes, *doubts)) if doubts else replace(gpu, notes=tuple(notes))


def _by_size(
    properties: Mapping[str, Any], table: Sequence[Entry], sms: int | None, memory: int | None
) -> Gpu | None:
    """A device without a name: multiprocessors, memory and compute capability must all be known and fit."""
    major, minor = properties.get("computeMajor"), properties.get("computeMinor")
    capability = f"{major}.{minor}"
    if not sms or not memory:
        return None
    fits = [
        e
        for e in table
        if e.multiprocessors == sms
        and e.memory_gib
        and _memory_fits(e, memory)
        and e.compute_capability == capability
    ]
    if not fits or len({e.bandwidth_gbs.value for e in fits if e.bandwidth_gbs}) != 1:
        return None
    entry = fits[0]
    size = f"{sms} multiprocessors, {memory / _GIB:.1f} GiB and compute capability {capability}"
    why = f"the device has no name: {size} are those of {entry.names[0]}"
    notes = (*([entry.note] if entry.note else []), why)
    gpu = Gpu(entry.names[0], "size", sms, entry.bandwidth_gbs, entry.tflops, entry.l2_mb)
    return _doubted(gpu, notes)


def _doubted(gpu: Gpu, notes: tuple[str, ...]) -> Gpu:
    return replace(
        gpu,
        bandwidth_gbs=gpu.bandwidth_gbs.doubted() if gpu.bandwidth_gbs else None,
        tflops={k: f.doubted() for k, f in gpu.tflops.items()},
        notes=notes,
    )
