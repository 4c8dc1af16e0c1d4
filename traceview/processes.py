"""Worker processes that read a large trace, begun while the program still imports its own libraries.

They are started with `subprocess`, not `multiprocessing`, whose start fails inside a running Textual app.
`traceview.parsers.worker` is what runs in them; they wait for work, and end when their input does.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress

from traceview.indexes import index_of

Process = subprocess.Popen[bytes]

MOST = 4
LARGE = 32 << 20  # bytes of text; less is read sooner than workers have started
INFLATES = 8  # how many times larger the text of a compressed trace is taken to be
_COMPRESSED = (".gz", ".zip", ".zst")

# One worker a core, so threads of the libraries would only take turns, and OpenBLAS's wait by spinning. And
# glibc keeps the memory of one block for the next, instead of giving it back and having it cleared again: a
# tenth of the time.
_ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
_COMMAND = "import sys; sys.path[:] = {path!r}; from traceview.parsers.worker import main; main()"

_lock = threading.Lock()
_begun: list[Process] = []


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def wanted(size: int, compressed: bool) -> int:
    """How many workers a file of `size` bytes is worth: 0 for one that this process reads sooner alone."""
    large = size * (INFLATES if compressed else 1) > LARGE
    return min(cores(), MOST) if large and cores() > 1 else 0


def begin(path: str, use_index: bool, most: int = MOST) -> None:
    """Start the workers that `path` will need, if it is a large file that has no index to use instead.

    A guess that costs nothing when it is wrong: `started` makes up for what is missing, also for those
    beyond `most`, and `dismiss` ends what is not needed.
    """
    with suppress(OSError, ValueError):
        if path == "-" or not os.path.isfile(path) or (use_index and index_of(path).exists()):
            return
        count = wanted(os.path.getsize(path), path.endswith(_COMPRESSED))
        with _lock:
            _begun.extend(_start(min(count, most) - len(_begun)))


def started(count: int) -> list[Process]:
    """`count` workers for the caller to use and to end; fewer where the system lets no more start."""
    with _lock:
        mine, _begun[:] = _begun[:count], _begun[count:]
    return [*mine, *_start(count - len(mine))]


def dismiss() -> None:
    """End the workers that nobody took."""
    with _lock:
        spare, _begun[:] = _begun[:], []
    end(spare)


def end(processes: list[Process]) -> None:
    """Stop processes at once."""
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def _start(count: int) -> list[Process]:
    command = [sys.executable, "-c", _COMMAND.format(path=[p or os.getcwd() for p in sys.path])]
    processes: list[Process] = []
    with suppress(OSError, ValueError):
        while sys.executable and len(processes) < count:
            processes.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    env={**os.environ, **_ENVIRONMENT},
                )
            )
    return processes
