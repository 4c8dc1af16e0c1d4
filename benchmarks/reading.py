"""Time and memory of `traceview summary` on a large demo trace.

    python benchmarks/reading.py [TRACE]

Without a trace it writes one of about 550 MB (30 steps, 30 host events around each launch) into the cache
folder and keeps it there. Every run is a process of its own; the file has been read once before the first.
"""

import os
import sys
import time
from pathlib import Path

from traceview.demo import demo_path

RUNS = 3


def measure(command: list[str]) -> tuple[float, int]:
    """Seconds and peak bytes of memory of one run of `command`."""
    begin = time.perf_counter()
    process = os.posix_spawn(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(process, 0)
    if status:
        sys.exit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - begin, usage.ru_maxrss * unit


def main() -> None:
    trace = Path(sys.argv[1]) if len(sys.argv) > 1 else demo_path(steps=30, cpu_ops=30)
    size = trace.stat().st_size
    with trace.open("rb") as file:
        while file.read(1 << 24):
            pass
    print(f"{trace}: {size / 2**20:,.0f} MiB")
    for _ in range(RUNS):
        seconds, peak = measure([sys.executable, "-m", "traceview", "summary", str(trace)])
        print(f"{seconds:6.2f} s  {size / 2**20 / seconds:6.0f} MiB/s  peak {peak / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
