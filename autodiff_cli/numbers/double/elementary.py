"""Powers, roots, exponentials, logarithms and rounding of floats."""

from __future__ import annotations

import builtins
import math

from .twofold import finite, two_product, two_sum

SMALLEST_NORMAL = 2.2250738585072014e-308
"""2**-1022: smaller numbers are subnormal and have fewer than 53 bits."""


def pow(x: float, y: float) -> float:
    """x to the power y; 1 for y = 0, ValueError for a negative x unless y is an integer."""
    if x == 0.0 and y < 0.0:
        raise ZeroDivisionError("0 to a negative power is infinite")
    return math.pow(x, y)


def power_minus_one(x: float, y: float, out: float) -> float:
    """x to the power y - 1, given out = x**y: the heart of the derivative of a power.

    Where y - 1 is a double, or out has lost digits to underflow, the power is taken anew, with the rounding
    error of y - 1 put right to first order; else a division does, which also stays true for a tiny y.
    """
    exponent, error = two_sum(y, -1.0)
    if error == 0.0:
        return pow(x, exponent)
    if x != 0.0 and math.fabs(out) >= SMALLEST_NORMAL:
        return finite(out / x)
    power = pow(x, exponent)
    return power * math.exp(error * math.log(math.fabs(x))) if power else power


def cbrt(x: float) -> float:
    """The real cube root, negative for a negative x, and exact for a cube.

    One step of Newton's method on a scaled x, its residual x - y³ in twofold arithmetic, mends the last digits of
    the C library's root.
    """
    mantissa, exponent = math.frexp(x)
    thirds, rest = divmod(exponent, 3)
    scaled = math.ldexp(mantissa, rest)
    root = math.cbrt(scaled)
    if root == 0.0:
        return root
    square, square_error = two_product(root, root)
    cube, cube_error = two_product(square, root)
    residual = scaled - cube - cube_error - square_error * root
    return math.ldexp(root + residual / (3.0 * square), thirds)


def log(x: float) -> float:
    """The natural logarithm; ZeroDivisionError at 0, ValueError below."""
    return math.log(_positive(x))


def log2(x: float) -> float:
    """The logarithm to base 2, exact at powers of two."""
    return math.log2(_positive(x))


def log10(x: float) -> float:
    """The logarithm to base 10, exact at powers of ten."""
    return math.log10(_positive(x))


def log_base(x: float, base: float) -> float:
    """The logarithm of x to a base; ZeroDivisionError for base 1, ValueError for a base that is not positive."""
    if base <= 0.0:
        raise ValueError("the base of a logarithm is positive")
    if base == 1.0:
        raise ZeroDivisionError("no logarithm has base 1")
    if base == 2.0:
        return log2(x)
    if base == 10.0:
        return log10(x)
    numerator = log(x)
    value = numerator / math.log(base)
    rounded = float(builtins.round(value))
    # Both logarithms are rounded: without this log_base(125, 5) would be 3.0000000000000004.
    if (
        1.0 < math.fabs(numerator) < 700.0
        and math.fabs(value - rounded) < 1e-15 * math.fabs(rounded)
        and base**rounded == x
    ):
        return rounded
    return value


def log1p(x: float) -> float:
    """log(1 + x), with all its digits near 0; ZeroDivisionError at -1, ValueError below."""
    if x == -1.0:
        raise ZeroDivisionError("the logarithm is infinite at 0")
    return math.log1p(x)


def _positive(x: float) -> float:
    """x itself, where it has a logarithm."""
    if x == 0.0:
        raise ZeroDivisionError("the logarithm is infinite at 0")
    return x


def sign(x: float) -> float:
    """1, 0 or -1, the sign of x."""
    return float((x > 0) - (x < 0))


def floor(x: float) -> float:
    """The largest integer that is not above x."""
    return float(math.floor(x))


def ceil(x: float) -> float:
    """The smallest integer that is not below x."""
    return float(math.ceil(x))


def round(x: float) -> float:
    """The nearest integer; of two equally near ones, the even one."""
    return float(builtins.round(x))


def clamp(x: float, low: float, high: float) -> float:
    """x where it lies between low and high, else the bound it has crossed; ValueError for low > high."""
    if low > high:
        raise ValueError("the lower bound is above the upper one")
    return float(low if x < low else high if x > high else x)
