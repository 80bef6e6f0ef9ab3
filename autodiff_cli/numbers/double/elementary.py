"""Powers, logarithms, rounding, trigonometric, hyperbolic and activation functions of floats, and slopes of these.

The slopes are closed forms that the derivative rules need, safe where the obvious formula overflows or cancels.
"""

from __future__ import annotations

import builtins
import math

from .parts import by_multiprecision, cos_pi, sin_pi
from .twofold import finite, horner, scaled_exp, two_product, two_sum

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
    if x == 0.0:
        raise ZeroDivisionError("the logarithm is infinite at 0")
    return x


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


# ---- trigonometric and hyperbolic functions
def atan2(y: float, x: float) -> float:
    """The angle in (-π, π] of the point (x, y); 0 at the origin.

    A zero has no sign here, so 0*-1 lies on the upper side of the cut as 0 does: `+ 0.0` takes the sign of -0.0 away.
    """
    return math.atan2(y + 0.0, x + 0.0)


def sech(x: float) -> float:
    """1/cosh(x), also where cosh(x) is too large for a double."""
    if math.fabs(x) < 300.0:
        return 1.0 / math.cosh(x)
    half = math.exp(-0.5 * math.fabs(x))
    return 2.0 * half * half


def csch(x: float) -> float:
    """1/sinh(x), also where sinh(x) is too large for a double; ZeroDivisionError at 0."""
    if math.fabs(x) < 300.0:
        return finite(1.0 / math.sinh(x))
    return math.copysign(sech(x), x)


def atanh(x: float) -> float:
    """The number whose hyperbolic tangent is x; ZeroDivisionError at ±1, ValueError outside."""
    if math.fabs(x) == 1.0:
        raise ZeroDivisionError("atanh is infinite at ±1")
    return math.atanh(x)


def sinc(x: float) -> float:
    """sin(πx)/(πx), which is 1 at 0 and exactly 0 at the other integers."""
    if math.fabs(x) <= 0.25:
        angle = math.pi * x
        return math.sin(angle) / angle if angle else 1.0
    return sin_pi(x) / x / math.pi


# ---- activation functions
LN_SIGMOID_NORMAL = -700.0
"""Above this the sigmoid is a normal number; below, it is exp(x) to the last digit."""


def relu(x: float) -> float:
    """x where it is positive, else 0."""
    return float(x) if x > 0.0 else 0.0


def silu(x: float) -> float:
    """x·sigmoid(x), also where the sigmoid alone would underflow."""
    if x > LN_SIGMOID_NORMAL:
        return x * sigmoid(x)
    return scaled_exp(x, x)


def sigmoid(x: float) -> float:
    """1/(1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


# ---- slopes
SINC_SLOPE_SERIES = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(11, 0, -1))
"""The derivative of sin(z)/z divided by z, as a series in z² (DLMF 4.19.1)."""

HIGHEST_SINC = 1500
"""Derivatives of sinc of a higher order have no double for their value, about π^(order - 1)/x, unless it is 0."""

SQUARE_ABSORBS_ONE = 1e9
"""Above this 1 is less than half an ulp of x²."""


def recip_one_plus_square(x: float) -> float:
    """1/(1 + x²): the derivative of atan."""
    if math.fabs(x) > SQUARE_ABSORBS_ONE:
        return 1.0 / x / x
    return 1.0 / (1.0 + x * x)


def sech_square(x: float) -> float:
    """1/cosh(x)², the derivative of tanh, as 4e/(1 + e)² with e = exp(-2|x|)."""
    size = math.fabs(x)
    if size > 300.0:
        e = 2.0 * math.exp(-size)
        return e * e
    e = math.exp(-2.0 * size)
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def csch_square(x: float) -> float:
    """1/sinh(x)², as 4e/(1 - e)² with e = exp(-2|x|); ZeroDivisionError at 0."""
    size = math.fabs(x)
    if size > 300.0:
        return sech_square(x)
    if 0.0 < size < 1e-150:
        return finite(1.0 / size / size)
    rest = math.expm1(-2.0 * size)
    return 4.0 * math.exp(-2.0 * size) / (rest * rest)


def sinc_derivative(order: float, x: float) -> float:
    """The derivative of that order of sinc, sin(πx)/(πx); ValueError unless the order is a non-negative integer."""
    if order == 0:
        return sinc(x)
    if order == 1:
        if math.fabs(x) <= 0.5:
            square = math.pi * x * (math.pi * x)
            return math.pi * (math.pi * x) * horner(SINC_SLOPE_SERIES, square)
        wave, mean = cos_pi(x), sinc(x)
        if math.fabs(wave - mean) > 0.5 * math.fabs(wave):
            return (wave - mean) / x
    if order > HIGHEST_SINC and x != 0.0:
        raise OverflowError("the result is too large for a double")
    return by_multiprecision("sinc_derivative", order, x)
