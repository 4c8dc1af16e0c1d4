"""Questions of a trace: pure functions from frames to frames, one question a module."""
