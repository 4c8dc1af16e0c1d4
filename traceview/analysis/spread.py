"""How much a mean over steps could be off by chance, and means in whole nanoseconds.

Noise is half the width of the 95 % confidence interval of the difference of two means by Welch's t-test, from
the variance over the steps of each trace. It says what the steps of two recordings spread, not how much one
recording would differ from the next.
"""

import numpy as np
import polars as pl

# 97.5 % quantiles of Student's t by degrees of freedom, interpolated in between over 1 / df. Source:
# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
_T975 = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
    12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000, 100: 1.984, 1e9: 1.960,
}  # fmt: skip
NOISE_FROM = "95 % confidence of the difference of the means (Welch), from each trace's steps"


def noise(before: float | None, n_before: int, after: float | None, n_after: int) -> int | None:
    """Half the width of Welch's 95 % interval of two samples; None where one of them is a single step."""
    if before is None or after is None or n_before < 2 or n_after < 2:
        return None
    one, two = before / n_before, after / n_after
    if not one + two:
        return 0
    freedom = (one + two) ** 2 / (one**2 / (n_before - 1) + two**2 / (n_after - 1))
    inverse = [1 / df for df in reversed(_T975)]
    t = float(np.interp(1 / freedom, inverse, [*reversed(_T975.values())]))
    return round(t * float(np.sqrt(one + two)))


def variance(values: pl.Series) -> float | None:
    """The sample variance; None of fewer than two values."""
    found = values.var()
    return found if isinstance(found, float) else None


def mean_ns(values: pl.Series) -> int | None:
    """The mean of the known values; None without any."""
    known = values.drop_nulls()
    return whole(int(known.sum()), len(known)) if len(known) else None


def whole(total: int, count: int) -> int:
    """total / count rounded half to even, in whole numbers throughout; total itself for a count of 0."""
    count = max(count, 1)
    quotient, rest = divmod(total, count)
    return quotient + (2 * rest > count or (2 * rest == count and quotient % 2 == 1))
