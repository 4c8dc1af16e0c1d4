"""Values as JSON has them."""

import math
from typing import Any


def json_value(value: Any) -> Any:
    """A value of a frame or a header as JSON: NaN and infinities are null, dates and the like their text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [json_value(v) for v in value]
    if isinstance(value, dict):
        return {k: json_value(v) for k, v in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)
