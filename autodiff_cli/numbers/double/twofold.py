"""A float and its rounding error, kept together: the exact sums and products that the accurate formulas rest on."""

from __future__ import annotations

import math

SPLITTER = 134217729.0
"""2**27 + 1, which cuts a double into two halves of 26 bits (Dekker 1971)."""

LN_SMALLEST_NORMAL = -708.0
"""exp of anything below this may be a subnormal number, which has fewer digits."""


def finite(value: float) -> float:
    """The value itself; OverflowError where it is infinite."""
    if math.isinf(value):
        raise OverflowError("the result is too large for a double")
    return value


def two_sum(x: float, y: float) -> tuple[float, float]:
    """The rounded sum and its error: x + y = sum + error, exactly (Knuth, TAOCP 2, 4.2.2)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: float, y: float) -> tuple[float, float]:
    """The rounded product and its error: x·y = product + error, exactly (Dekker 1971; factors below 1e150)."""
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
    """factor · exp(high + low) for a tiny `low`, also where exp alone would underflow and the product does not.

    Below the normal range exp is taken of half the argument, an exact operation, and applied twice.
    """
    if high > LN_SMALLEST_NORMAL:
        value = math.exp(high)
        return factor * (value + value * low)
    half = math.exp(0.5 * high)
    return factor * (half + half * low) * half


def exp_difference(x: float, y: float) -> float:
    """exp(x - y) for x <= y, as accurate as if the difference had not been rounded."""
    high, low = two_sum(x, -y)
    if high < -750.0:  # the result is 0, and an infinite difference would make `low` a nan
        return 0.0
    return scaled_exp(1.0, high, low)


Scaled = tuple[float, float, int]
"""A number of any size as (high, low, exponent): (high + low)·2**exponent with 1/2 <= |high| < 1, or high = 0."""


def scaled(x: float) -> Scaled:
    """A float as a scaled number."""
    mantissa, exponent = math.frexp(x)
    return mantissa, 0.0, exponent


def scaled_product(p: Scaled, q: Scaled) -> Scaled:
    """The product of two scaled numbers: it cannot overflow, and is right to some 30 digits."""
    product, error = two_product(p[0], q[0])
    error += p[0] * q[1] + p[1] * q[0]
    total = product + error
    high, shift = math.frexp(total)
    return high, math.ldexp(error - (total - product), -shift), p[2] + q[2] + shift


def rounded(p: Scaled) -> float:
    """A scaled number as a float; OverflowError where it is too large."""
    return math.ldexp(p[0] + p[1], p[2])


def horner(coefficients: tuple[float, ...], x: float) -> float:
    """The polynomial with these coefficients, the highest power's first, at x."""
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value
