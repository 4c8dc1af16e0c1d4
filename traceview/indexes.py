"""Where the saved indexes of traces lie."""

import hashlib
import os
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "TRACEVIEW_CACHE_DIR"
SUFFIX = ".index"


def cache_folder() -> Path:
    """The folder of the indexes: $TRACEVIEW_CACHE_DIR, or one in the user's cache folder."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else platformdirs.user_cache_path("traceview", appauthor=False) / "index"


def index_of(path: str) -> Path:
    """Where the index of the trace at `path` lies, if there is one."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return cache_folder() / (name + SUFFIX)
