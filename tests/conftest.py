"""Settings that all tests share."""

import os
import shutil
import tempfile

from hypothesis import settings

# No test asserts a time: an example that was slow on a busy machine is not a failure.
settings.register_profile("default", deadline=None, max_examples=40)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("default")

os.environ["TRACEVIEW_CONFIG_DIR"] = os.devnull  # a developer's own rules are not what is tested
_INDEXES = tempfile.mkdtemp(prefix="traceview-tests-")
os.environ["TRACEVIEW_CACHE_DIR"] = _INDEXES  # nor are a developer's own indexes to make room for the tests'


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(_INDEXES, ignore_errors=True)
