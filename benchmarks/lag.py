"""How long the interface keeps a person waiting while a large trace loads beside it.

    python benchmarks/lag.py [TRACE] [--steps N] [--idle SECONDS]

The app runs without a terminal. A task of its event loop asks to be woken every 10 ms; how much later it is
woken is the lag. First for some seconds on an open small trace where nothing happens, then from the first
frame on until the large trace's first screen is there. Both in one run: other work on the machine shows in
both. Without a trace, a decode trace of about 600 MB is written into the cache folder.
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from traceview.demo import demo_path
from traceview.processes import begin, cores
from traceview.tui.app import TraceApp
from traceview.tui.level import Level

EVERY = 0.01  # seconds
LIMIT = 120  # seconds


async def lags(path: Path, seconds: float | None) -> tuple[list[float], float]:
    """Lags in seconds, and how long it took: for `seconds` of quiet, or (None) while `path` is read."""
    begin(str(path), use_index=False, most=cores() - 1)
    app = TraceApp([path], reading=lambda: {"use_cache": False})
    found: list[float] = []
    async with app.run_test(size=(120, 40)):
        start = time.perf_counter()
        if seconds is not None:
            await _until(lambda: isinstance(app.screen, Level), [])
            await asyncio.sleep(1)  # what is looked up ahead
            start = time.perf_counter()
        quiet_until = None if seconds is None else start + seconds
        await _until(
            lambda: (
                isinstance(app.screen, Level) if quiet_until is None else time.perf_counter() > quiet_until
            ),
            found,
        )
        return found, time.perf_counter() - start


async def _until(done: Callable[[], bool], found: list[float]) -> None:
    limit = time.perf_counter() + LIMIT
    while not done() and time.perf_counter() < limit:
        before = time.perf_counter()
        await asyncio.sleep(EVERY)
        found.append(time.perf_counter() - before - EVERY)


def main() -> None:
    """Measure and print both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--idle", type=float, default=5)
    options = parser.parse_args()
    large = options.trace or demo_path(steps=options.steps, cpu_ops=30)
    print(f"{large}: {large.stat().st_size / 2**20:,.0f} MiB")
    print(f"{'':12}{'seconds':>9}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    for name, path, seconds in (("idle", demo_path(), options.idle), ("loading", large, None)):
        found, took = asyncio.run(lags(path, seconds))
        p50, p99 = np.percentile(found, [50, 99]) * 1000
        print(f"{name:12}{took:>9.1f}{p50:>9.1f}{p99:>9.1f}{max(found) * 1000:>9.1f}", flush=True)


if __name__ == "__main__":
    main()
