"""Elementary and activation functions of floats, and closed forms for their derivatives.

The closed forms are safe where the usual formula overflows or cancels.
"""

from __future__ import annotations

import math

from .parts import by_multiprecision, cos_pi, sin_pi
from .twofold import check_finite, horner, scaled_exp, two_product, two_sum

SMALLEST_NORMAL = 2.2250738585072014e-308
"""2**-1022: smaller numbers are subnormal, with fewer than 53 bits."""


def pow(x: float, y: float) -> float:
    """Return x**y; 1 for y = 0. Raises ValueError for x < 0 unless y is an integer."""
    if x == 0.0 and y < 0.0:
        raise ZeroDivisionError("0 to a negative power is infinite")
    return math.pow(x, y)


def power_minus_one(x: float, y: float, out: float) -> float:
    """Return x**(y - 1), given out = x**y, for the derivative of a power.

    If y - 1 is a double, or out lost digits to underflow, compute the power, corrected to first order for the rounding
    of y - 1; else divide, which is also accurate for a tiny y.
    """
    exponent, error = two_sum(y, -1.0)
    if error == 0.0:
        return pow(x, exponent)
    if x != 0.0 and math.fabs(out) >= SMALLEST_NORMAL:
        return check_finite(out / x)
    power = pow(x, exponent)
    return power * math.exp(error * math.log(math.fabs(x))) if power else power


def cbrt(x: float) -> float:
    """Return the real cube root, exact for a cube.

    One Newton step on a scaled x, with the residual x - y³ in twofold arithmetic, corrects the last digits of the C
    library's root.
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
    """Return the natural logarithm. Raises ZeroDivisionError at 0, ValueError below."""
    return math.log(_positive(x))


def log2(x: float) -> float:
    """Return the logarithm to base 2, exact at powers of two."""
    return math.log2(_positive(x))


def log10(x: float) -> float:
    """Return the logarithm to base 10, exact at powers of ten."""
    return math.log10(_positive(x))


def log_base(x: float, base: float) -> float:
    """Return the logarithm to a base. Raises ZeroDivisionError for 1, ValueError for base <= 0."""
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
    rounded = float(round(value))
    # Both logarithms are rounded: log_base(125, 5) would be 3.0000000000000004.
    if (
        1.0 < math.fabs(numerator) < 700.0
        and math.fabs(value - rounded) < 1e-15 * math.fabs(rounded)
        and base**rounded == x
    ):
        return rounded
    return value


def log1p(x: float) -> float:
    """Return log(1 + x), accurate near 0. Raises ZeroDivisionError at -1, ValueError below."""
    if x == -1.0:
        raise ZeroDivisionError("the logarithm is infinite at 0")
    return math.log1p(x)


def _positive(x: float) -> float:
    if x == 0.0:
        raise ZeroDivisionError("the logarithm is infinite at 0")
    return x


def clamp(x: float, low: float, high: float) -> float:
    """Return x restricted to [low, high]. Raises ValueError for low > high."""
    if low > high:
        raise ValueError("the lower bound is above the upper one")
    return float(low if x < low else high if x > high else x)


# ---- trigonometric and hyperbolic functions
def atan2(y: float, x: float) -> float:
    """Return the angle in (-π, π] of the point (x, y); 0 at the origin.

    `+ 0.0` removes the sign of -0.0, so that 0*-1 lies on the upper side of the cut as 0 does.
    """
    return math.atan2(y + 0.0, x + 0.0)


def sech(x: float) -> float:
    """Return 1/cosh(x), even if cosh(x) overflows."""
    if math.fabs(x) < 300.0:
        return 1.0 / math.cosh(x)
    half = math.exp(-0.5 * math.fabs(x))
    return 2.0 * half * half


def csch(x: float) -> float:
    """Return 1/sinh(x), even if sinh(x) overflows. Raises ZeroDivisionError at 0."""
    if math.fabs(x) < 300.0:
        return check_finite(1.0 / math.sinh(x))
    return math.copysign(sech(x), x)


def atanh(x: float) -> float:
    """Return the inverse of tanh. Raises ZeroDivisionError at ±1, ValueError outside."""
    if math.fabs(x) == 1.0:
        raise ZeroDivisionError("atanh is infinite at ±1")
    return math.atanh(x)


def sinc(x: float) -> float:
    """Return sin(πx)/(πx); 1 at 0, exactly 0 at the other integers."""
    if math.fabs(x) <= 0.25:
        angle = math.pi * x
        return math.sin(angle) / angle if angle else 1.0
    return sin_pi(x) / x / math.pi


# ---- activation functions
LN_SIGMOID_NORMAL = -700.0
"""Above this the sigmoid is a normal number; below, it equals exp(x) in doubles."""


def silu(x: float) -> float:
    """Return x·sigmoid(x), even if the sigmoid underflows."""
    if x > LN_SIGMOID_NORMAL:
        return x * sigmoid(x)
    return scaled_exp(x, x)


def sigmoid(x: float) -> float:
    """Return 1/(1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


# ---- derivatives
SINC_SLOPE_SERIES = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(11, 0, -1))
"""The derivative of sin(z)/z divided by z, as a series in z² (DLMF 4.19.1)."""

HIGHEST_SINC = 1500
"""Higher derivatives of sinc, about π^(order - 1)/x, overflow unless 0."""

SQUARE_ABSORBS_ONE = 1e9
"""Above this 1 is less than half an ulp of x²."""


def recip_one_plus_square(x: float) -> float:
    """Return 1/(1 + x²), the derivative of atan."""
    if math.fabs(x) > SQUARE_ABSORBS_ONE:
        return 1.0 / x / x
    return 1.0 / (1.0 + x * x)


def sech_square(x: float) -> float:
    """Return 1/cosh(x)², the derivative of tanh, as 4e/(1 + e)², e = exp(-2|x|)."""
    size = math.fabs(x)
    if size > 300.0:
        e = 2.0 * math.exp(-size)
        return e * e
    e = math.exp(-2.0 * size)
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def csch_square(x: float) -> float:
    """Return 1/sinh(x)² as 4e/(1 - e)², e = exp(-2|x|). Raises ZeroDivisionError at 0."""
    size = math.fabs(x)
    if size > 300.0:
        return sech_square(x)
    if 0.0 < size < 1e-150:
        return check_finite(1.0 / size / size)
    rest = math.expm1(-2.0 * size)
    return 4.0 * math.exp(-2.0 * size) / (rest * rest)


def sinc_derivative(order: float, x: float) -> float:
    """Return a derivative of sinc. Raises ValueError unless the order is whole and >= 0."""
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
