"""Doubles with rounding errors: the exact sums and products of formulas."""

from __future__ import annotations

import math

SPLITTER = 134217729.0
"""2**27 + 1, which splits a double into two halves of 26 bits (Dekker 1971)."""

LN_SMALLEST_NORMAL = -708.0
"""exp of anything below this may be subnormal, with fewer digits."""


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
    """Return factor · exp(high + low) for a tiny `low`, even if exp alone underflows.

    Below the normal range, exp of half the argument, which is exact, is applied twice.
    """
    if high > LN_SMALLEST_NORMAL:
        value = math.exp(high)
        return factor * (value + value * low)
    half = math.exp(0.5 * high)
    return factor * (half + half * low) * half


def exp_difference(x: float, y: float) -> float:
    """Return exp(x - y) for x <= y, as accurate as with an exact difference."""
    high, low = two_sum(x, -y)
    if high < -750.0:  # underflow; an infinite `high` would make `low` nan
        return 0.0
    return scaled_exp(1.0, high, low)


Scaled = tuple[float, float, int]
"""(high, low, exponent) for (high + low)·2**exponent, 1/2 <= |high| < 1 or high = 0."""


def to_scaled(x: float) -> Scaled:
    """Return a float as a scaled number."""
    mantissa, exponent = math.frexp(x)
    return mantissa, 0.0, exponent


def scaled_product(p: Scaled, q: Scaled) -> Scaled:
    """Return the product of two scaled numbers, to about 30 digits, without overflow."""
    product, error = two_product(p[0], q[0])
    error += p[0] * q[1] + p[1] * q[0]
    total = product + error
    high, shift = math.frexp(total)
    return high, math.ldexp(error - (total - product), -shift), p[2] + q[2] + shift


def to_float(p: Scaled) -> float:
    """Return a scaled number as a float. Raises OverflowError if too large."""
    return math.ldexp(p[0] + p[1], p[2])


def horner(coefficients: tuple[float, ...], x: float) -> float:
    """Return the polynomial with these coefficients, highest power first, at x."""
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value
