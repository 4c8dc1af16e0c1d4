"""Settings that all tests share."""

import os

from hypothesis import settings

# No test asserts a time: an example that was slow on a busy machine is not a failure.
settings.register_profile("default", deadline=None, max_examples=40)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("default")

os.environ["TRACEVIEW_CONFIG_DIR"] = os.devnull  # a developer's own rules are not what is tested
