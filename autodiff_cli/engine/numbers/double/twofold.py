"""Parts of functions of floats: exact sums and products, waves, a multiprecision fallback."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import cache

# 2**27 + 1, which splits a double into two halves of 26 bits (Dekker 1971).
SPLITTER = 134217729.0

# exp of anything below this may be subnormal, with fewer digits.
LN_SMALLEST_NORMAL = -708.0


def check_finite(value: float) -> float:
    """Return the value. Raises OverflowError if it is infinite."""
    if math.isinf(value):
        raise OverflowError("the result is too large for a double")
    return value


def two_sum(x: float, y: float) -> tuple[float, float]:
    """Return the rounded sum and its exact error (Knuth, TAOCP 2, 4.2.2)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: float, y: float) -> tuple[float, float]:
    """Return the rounded product and its exact error (Dekker 1971; factors below 1e150)."""
    product = x * y
    shifted = SPLITTER * x
    x_high = shifted - (shifted - x)
    x_low = x - x_high
    shifted = SPLITTER * y
    y_high = shifted - (shifted - y)
    y_low = y - y_high
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def scaled_exp(factor: float, high: float, low: float = 0.0) -> float:
    """Return factor · exp(high + low) for a tiny `low`, even if exp alone underflows."""
    if high > LN_SMALLEST_NORMAL:
        value = math.exp(high)
        return factor * (value + value * low)
    half = math.exp(0.5 * high)
    return factor * (half + half * low) * half


def horner(coefficients: tuple[float, ...], x: float) -> float:
    """Return the polynomial with these coefficients, highest power first, at x."""
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def sin_pi(x: float) -> float:
    """Return sin(πx), exactly 0 at the integers; the period reduction is exact."""
    r = math.remainder(x, 2.0)
    size = math.fabs(r)
    if size > 0.5:
        size = 1.0 - size
    value = math.sin(math.pi * size) if size <= 0.25 else math.cos(math.pi * (0.5 - size))
    return math.copysign(value, r)


def cos_pi(x: float) -> float:
    """Return cos(πx), exactly 0 halfway between integers; the period reduction is exact."""
    size = math.fabs(math.remainder(x, 2.0))
    if size > 0.75:
        return -math.cos(math.pi * (1.0 - size))
    return math.cos(math.pi * size) if size < 0.25 else math.sin(math.pi * (0.5 - size))


_OF_THE_THREAD = threading.local()


def by_enclosures(name: str, *inputs: float) -> float:
    """Return a function's value, as the double nearest to it. Raises the function's errors, and
    OverflowError.

    Enclosures take some 50 µs, many digits of mpmath 2 ms; those are for where python-flint is not
    installed, for what an enclosure does not settle, and for errors.
    """
    nearest = _nearest_double()
    value = None if nearest is None else nearest(name, inputs)
    return by_multiprecision(name, *inputs) if value is None else check_finite(value)


@cache
def _nearest_double() -> Callable[[str, Sequence[float]], float | None] | None:
    try:
        from ..ball import nearest_double
    except ImportError:
        # without python-flint; a search for it that fails is not repeated for each number
        return None
    return nearest_double


def by_multiprecision(name: str, *inputs: float) -> float:
    """Return a function's value by 60 digits or more. Raises the function's errors, and
    OverflowError.
    """
    if not hasattr(_OF_THE_THREAD, "numbers"):
        from ..multiprecision import Multiprecision  # mpmath is slow to load

        _OF_THE_THREAD.numbers = Multiprecision(20)
    return check_finite(float(getattr(_OF_THE_THREAD.numbers, name)(*inputs)))
