"""How the durations of launches that should be alike are spread, in words."""

import numpy as np
from numpy.typing import NDArray

from traceview.units import fmt_ns, fmt_percent

Floats = NDArray[np.float64]

FEWEST = 8  # fewer durations have no distribution
TIGHT = 0.02  # middle 90 % within this much of the median
FIRST_CALL = 1.5  # times the median
DRIFT = 0.05
# Two humps: this share of the variance lies between them, each holds this much of the calls, and their
# medians are this far apart.
_BETWEEN = 0.8
_LEAST_PART = 0.05
_APART = 1.25


def spread_words(durations: NDArray[np.int64]) -> list[str]:
    """Remarks on durations in ns, in the order of their launches: first call, humps, drift, or how tight.

    Empty where there are fewer than FEWEST.
    """
    if len(durations) < FEWEST:
        return []
    values = durations.astype(np.float64)
    median = float(np.median(values))
    if median <= 0:
        return []
    words = []
    if values[0] >= FIRST_CALL * median:
        words.append(f"the first call took {values[0] / median:.1f} times the median")
    low, high = np.quantile(values, (0.05, 0.95))
    if high - low <= 2 * TIGHT * median:
        words.append(f"all but a few within {fmt_percent(TIGHT)} of {fmt_ns(median)}")
        return words
    if humps := _humps(values):
        words.append(humps)
    elif drift := _drift(values, median):
        words.append(drift)
    return words


def _humps(values: Floats) -> str | None:
    """Two humps, by the split that leaves the least variance within the parts (Otsu, 1979)."""
    ordered = np.sort(np.log(np.maximum(values, 1.0)))
    n = len(ordered)
    counts = np.arange(1, n)
    sums = np.cumsum(ordered)
    left = sums[:-1] / counts
    right = (sums[-1] - sums[:-1]) / (n - counts)
    between = counts * (n - counts) * (left - right) ** 2 / n**2
    total = float(ordered.var())
    at = int(between.argmax()) + 1
    share = at / n
    if total <= 0 or between[at - 1] < _BETWEEN * total or not _LEAST_PART <= share <= 1 - _LEAST_PART:
        return None
    short, long = np.exp(np.median(ordered[:at])), np.exp(np.median(ordered[at:]))
    if long < _APART * short:
        return None
    return (
        f"two humps: {fmt_percent(share)} near {fmt_ns(short)}, {fmt_percent(1 - share)} near {fmt_ns(long)}"
    )


def _drift(values: Floats, median: float) -> str | None:
    """The last third against the first, where that is more than the spread inside of both."""
    third = len(values) // 3
    first, last = values[:third], values[-third:]
    change = float(np.median(last) - np.median(first))
    spread = max(float(np.subtract(*np.quantile(part, (0.75, 0.25)))) for part in (first, last))
    if abs(change) < max(DRIFT * median, spread):
        return None
    way = "slower" if change > 0 else "faster"
    return (
        f"drifts: the last third is {fmt_percent(abs(change) / float(np.median(first)))} {way} than the first"
    )
