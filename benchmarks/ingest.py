"""Opening a large trace beside other readers: seconds, CPU seconds and peak memory, all in one run.

    python benchmarks/ingest.py [TRACE ...] [--steps N] [--gzip] [--runs N] [--peers FOLDER] [--no-peers]

Without a trace, three of 550 to 650 MB each (`--steps 30`) are written into the cache folder: a decode trace
as PyTorch writes it, the same with Python stacks, and the same on one line. Each reader runs in processes of
its own. traceview and the ijson loop take turns, N times each. Memory is looked at in the first turn, which
slows that down, and is the proportional share (PSS) summed over processes, so what two share counts once;
times are the best of all turns. The last column is the time as a multiple of the ijson loop's: each event
decoded once, nothing kept. The slow readers run once. They are installed from PyPI into a virtual environment
at FOLDER (default: in the cache folder); one that cannot be installed or that fails is named and left out.

traceview rows: the whole command without an index (of the file, and of its gzip with `--gzip`), the same from
the saved index, and a bare import of the libraries that it stands on.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from traceview.demo import DemoOptions, demo_path

IJSON = "import ijson\nfor _ in ijson.items(open({path!r}, 'rb'), 'traceEvents.item', use_float=True): pass"
# AMD's TraceLens is not on PyPI, where the package of that name is another project: it is never installed
# by this script, only used where somebody did.
BY_HAND = ""
PEERS = {
    "json.load": ("import json; json.load(open({path!r}, 'rb'))", None),
    "HolisticTraceAnalysis": (
        "from hta.common.trace_parser import parse_trace_dataframe;"
        "from hta.configs.parser_config import ParserConfig;"
        "parse_trace_dataframe({path!r}, ParserConfig.get_default_cfg())",
        "HolisticTraceAnalysis",
    ),
    "TraceLens": (
        "from TraceLens import TreePerfAnalyzer;"
        "analyzer = TreePerfAnalyzer.from_file({path!r});"
        "analyzer.get_df_kernel_launchers_summary(analyzer.get_df_kernel_launchers())",
        BY_HAND,
    ),
}
SHAPES: dict[str, DemoOptions] = {
    "as PyTorch writes it": {"stacks": False},
    "with Python stacks": {"stacks": True},
    "on one line": {"stacks": False, "one_line": True},
}
SAMPLE_EVERY = 0.02  # seconds between looks at the memory
LIMIT = 600  # seconds after which a reader is given up


@dataclass(frozen=True)
class Run:
    """What one run took: seconds, CPU seconds of all its processes, and peak bytes of memory."""

    seconds: float
    cpu: float
    peak: int


def proportional_memory(pid: int) -> int:
    """PSS in bytes of a process and its descendants; 0 where the system does not tell."""
    total, todo = 0, [pid]
    while todo:
        process = Path("/proc") / str(todo.pop())
        try:
            for line in (process / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
            for task in (process / "task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except (OSError, ValueError):
            continue
    return total


def measure(command: list[str], environment: dict[str, str], watch: bool = True) -> Run | str:
    """One run of `command`; the last line of its complaint if it fails. `watch`: look at its memory."""
    before = os.times()
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **environment}
        )
        peak = 0
        while process.poll() is None:
            if watch:
                peak = max(peak, proportional_memory(process.pid))
            if time.perf_counter() - begin > LIMIT:
                process.kill()
                process.wait()
                return f"longer than {LIMIT} s"
            time.sleep(SAMPLE_EVERY)
        seconds = time.perf_counter() - begin
        after = os.times()
        if process.returncode:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else f"exit {process.returncode}"
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Run(seconds, cpu, peak)


def best(done: list[Run | str]) -> Run | str:
    """The least time of some runs, and the memory of the watched one; or why one failed."""
    runs = [run for run in done if isinstance(run, Run)]
    failed = [run for run in done if isinstance(run, str)]
    if failed or not runs:
        return failed[0] if failed else "not run"
    return Run(min(r.seconds for r in runs), min(r.cpu for r in runs), max(r.peak for r in runs))


def installed_peers(folder: Path) -> Path | None:
    """The interpreter of a virtual environment with the other readers; None if it cannot be made."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False)
        if made.returncode:
            return None
    for package in filter(None, {package for _, package in PEERS.values()}):
        have = subprocess.run([python, "-m", "pip", "show", "-q", package], capture_output=True, check=False)
        if have.returncode:
            print(f"installing {package}", file=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "-q", package], check=False)
    return python


def rows(trace: Path, packed: Path | None, peers: Path | None, runs: int) -> Iterator[tuple[str, Run | str]]:
    """Every reader's run: first those that take turns, then the slow ones, each as soon as it is measured."""
    python = sys.executable
    summary = [python, "-m", "traceview", "summary", "--format", "json"]
    with tempfile.TemporaryDirectory() as cache:
        index = {"TRACEVIEW_CACHE_DIR": cache}
        measure([*summary, str(trace)], index)
        turns = {
            "ijson loop": [python, "-c", IJSON.format(path=str(trace))],
            "traceview summary": [*summary, "--no-cache", str(trace)],
            "traceview summary, from the index": [*summary, str(trace)],
            "import polars, numpy": [python, "-c", "import polars, numpy"],
        }
        if packed:
            turns["traceview summary, gzip"] = [*summary, "--no-cache", str(packed)]
        done: dict[str, list[Run | str]] = {name: [] for name in turns}
        for turn in range(runs):
            for name, command in turns.items():
                done[name].append(measure(command, index, watch=turn == 0))
    for name, measured in done.items():
        yield name, best(measured)
    for name, (code, package) in PEERS.items():
        if package is None or peers:
            interpreter = python if package is None else str(peers)
            yield name, measure([interpreter, "-c", code.format(path=str(trace))], {})


def table(trace: Path, found: Iterator[tuple[str, Run | str]]) -> None:
    """Print each reader's figures as they come."""
    size = trace.stat().st_size
    print(f"\n{trace}: {size / 2**20:,.0f} MiB, {os.cpu_count()} cores")
    print(f"{'':34}{'seconds':>9}{'CPU s':>9}{'peak MiB':>10}{'of file':>9}{'x ijson':>9}")
    loop: Run | str = "not measured"
    for name, run in found:
        loop = run if name == "ijson loop" else loop
        if isinstance(run, str):
            print(f"{name:34}left out: {run[:80]}")
            continue
        times = f"{run.seconds / loop.seconds:.2f}" if isinstance(loop, Run) else "-"
        print(
            f"{name:34}{run.seconds:>9.2f}{run.cpu:>9.2f}{run.peak / 2**20:>10.0f}"
            f"{run.peak / size:>9.2f}{times:>9}",
            flush=True,
        )


def main() -> None:
    """Measure and print a table for each trace."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("traces", nargs="*", type=Path)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", type=Path, default=platformdirs.user_cache_path("traceview") / "peers")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    peers = None if options.no_peers else installed_peers(options.peers)
    traces = {str(path): path for path in options.traces}
    if not traces:
        for name, shape in SHAPES.items():
            traces[name] = demo_path(**{**shape, "steps": options.steps, "cpu_ops": 30})
    for name, trace in traces.items():
        print(f"\n{name}")
        with tempfile.TemporaryDirectory() as folder, trace.open("rb") as file:
            packed = Path(folder) / "trace.json.gz" if options.gzip else None
            if packed:
                with gzip.open(packed, "wb", 6) as out:
                    shutil.copyfileobj(file, out)
            file.seek(0)
            while file.read(1 << 24):  # so that every reader finds it in memory
                pass
            table(trace, rows(trace, packed, peers, options.runs))


if __name__ == "__main__":
    main()
