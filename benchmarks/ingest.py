"""Opening a large trace beside other readers: seconds, CPU seconds and peak memory, all in one run.

    python benchmarks/ingest.py [TRACE ...] [--peers FOLDER] [--no-peers] [--runs N]

Without a trace, one of about 550 MB is written into the cache folder. Each reader runs in processes of
its own; memory is the proportional share (PSS) summed over them, so what two share counts once. Every
figure is the best of N runs, and the last column is the time as a multiple of traceview's whole command.
The other readers are installed from PyPI into a virtual environment at FOLDER (default: in the cache
folder); one that cannot be installed or that fails is named and left out.

traceview rows: the whole command without an index, the same from the saved index, reading alone, and a
bare import of the libraries that both need.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from traceview.demo import demo_path

# AMD's TraceLens is not on PyPI (the package of that name is another project): install it into the
# folder by hand.
BY_HAND = ""
PEERS = {
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
    "json.load": ("import json; json.load(open({path!r}, 'rb'))", None),
    "ijson loop": (
        "import ijson\nfor _ in ijson.items(open({path!r}, 'rb'), 'traceEvents.item', use_float=True): pass",
        "ijson",
    ),
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


def measure(command: list[str], environment: dict[str, str]) -> Run | str:
    """One run of `command`; the last line of its complaint if it fails."""
    before = os.times()
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **environment}
        )
        peak = 0
        while process.poll() is None:
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


def best(command: list[str], runs: int, environment: dict[str, str] | None = None) -> Run | str:
    """The quickest of some runs, with the least memory of them; or why there is none."""
    done = []
    for _ in range(runs):
        run = measure(command, environment or {})
        if isinstance(run, str):
            return run
        done.append(run)
    return Run(min(r.seconds for r in done), min(r.cpu for r in done), min(r.peak for r in done))


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


def rows(trace: Path, peers: Path | None, runs: int) -> Iterator[tuple[str, Run | str]]:
    """Every reader's run, traceview's first, each as soon as it is measured."""
    python, path = sys.executable, str(trace)
    summary = [python, "-m", "traceview", "summary", path, "--format", "json"]
    reading = f"from traceview import parsers; parsers.load({path!r}, use_cache=False)"
    with tempfile.TemporaryDirectory() as cache:
        index = {"TRACEVIEW_CACHE_DIR": cache}
        yield "traceview summary, cold", best([*summary, "--no-cache"], runs, index)
        measure(summary, index)
        yield "traceview summary, from index", best(summary, runs, index)
    yield "traceview reading", best([python, "-c", reading], runs)
    yield "import polars, numpy", best([python, "-c", "import polars, numpy"], runs)
    for name, (code, package) in PEERS.items():
        if package is None or peers:
            interpreter = python if package is None else str(peers)
            yield name, best([interpreter, "-c", code.format(path=path)], 1)


def main() -> None:
    """Measure and print a table for each trace."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("traces", nargs="*", type=Path)
    parser.add_argument("--peers", type=Path, default=platformdirs.user_cache_path("traceview") / "peers")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    peers = None if options.no_peers else installed_peers(options.peers)
    for trace in options.traces or [demo_path(steps=30, cpu_ops=30)]:
        size = trace.stat().st_size
        with trace.open("rb") as file:
            while file.read(1 << 24):  # so that every reader finds it in memory
                pass
        print(f"\n{trace}: {size / 2**20:,.0f} MiB, {os.cpu_count()} cores")
        print(f"{'':32}{'seconds':>9}{'CPU s':>9}{'peak MiB':>10}{'of file':>9}{'times':>8}")
        whole: Run | str = "not measured"
        for name, run in rows(trace, peers, options.runs):
            whole = run if name == "traceview summary, cold" else whole
            if isinstance(run, str):
                print(f"{name:32}left out: {run[:80]}")
                continue
            times = f"{run.seconds / whole.seconds:.2f}" if isinstance(whole, Run) else "-"
            print(
                f"{name:32}{run.seconds:>9.2f}{run.cpu:>9.2f}{run.peak / 2**20:>10.0f}"
                f"{run.peak / size:>9.2f}{times:>8}",
                flush=True,
            )


if __name__ == "__main__":
    main()
