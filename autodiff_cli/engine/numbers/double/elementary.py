"""Elementary, activation and aggregate functions of floats, and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate

from .twofold import (
    by_multiprecision,
    check_finite,
    cos_pi,
    horner,
    scaled_exp,
    sin_pi,
    two_product,
    two_sum,
)

# 2**-1022: smaller numbers are subnormal, with fewer than 53 bits.
SMALLEST_NORMAL = 2.2250738585072014e-308


def _pow(x: float, y: float) -> float:
    if x == 0.0 and y < 0.0:
        raise ZeroDivisionError("0 to a negative power is infinite")
    return math.pow(x, y)


def _power_minus_one(x: float, y: float, out: float) -> float:
    exponent, error = two_sum(y, -1.0)
    if error == 0.0:
        return _pow(x, exponent)
    if x != 0.0 and math.fabs(out) >= SMALLEST_NORMAL:
        return check_finite(out / x)
    power = _pow(x, exponent)
    return power * math.exp(error * math.log(math.fabs(x))) if power else power


def _cbrt(x: float) -> float:
    # A Newton step with an exact residual corrects the last digits of the C library's root.
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


def _with_poles(function: Callable[[float], float], *poles: float) -> Callable[[float], float]:
    def checked(x: float) -> float:
        """Return the function's value. Raises ZeroDivisionError at its poles."""
        if x in poles:
            raise ZeroDivisionError("infinite here")
        return function(x)

    return checked


log, log2, log10 = (_with_poles(function, 0.0) for function in (math.log, math.log2, math.log10))
log1p, atanh = _with_poles(math.log1p, -1.0), _with_poles(math.atanh, 1.0, -1.0)


def _log_base(x: float, base: float) -> float:
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
        numerator < 700.0
        and math.fabs(value - rounded) < 1e-15 * math.fabs(rounded)
        and base**rounded == x
    ):
        return rounded
    return value


def _clamp(x: float, low: float, high: float) -> float:
    if low > high:
        raise ValueError("the lower bound is above the upper one")
    return float(low if x < low else high if x > high else x)


# ---- trigonometric and hyperbolic functions
def _atan2(y: float, x: float) -> float:
    # `+ 0.0` removes the sign of -0.0, so that 0*-1 lies on the upper side of the cut as 0 does.
    return math.atan2(y + 0.0, x + 0.0)


def _sech(x: float) -> float:
    if math.fabs(x) < 300.0:
        return 1.0 / math.cosh(x)
    half = math.exp(-0.5 * math.fabs(x))
    return 2.0 * half * half


def _csch(x: float) -> float:
    if math.fabs(x) < 300.0:
        return check_finite(1.0 / math.sinh(x))
    return math.copysign(_sech(x), x)


def _sinc(x: float) -> float:
    if math.fabs(x) <= 0.25:
        angle = math.pi * x
        return math.sin(angle) / angle if angle else 1.0
    return sin_pi(x) / x / math.pi


# ---- activation functions
# Above this the sigmoid is a normal number; below, it equals exp(x) in doubles.
LN_SIGMOID_NORMAL = -700.0


def _silu(x: float) -> float:
    if x > LN_SIGMOID_NORMAL:
        return x * _sigmoid(x)
    return scaled_exp(x, x)


def _sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


# ---- derivatives
# The derivative of sin(z)/z divided by z, as a series in z² (DLMF 4.19.1).
SINC_SLOPE_SERIES = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(11, 0, -1))

# Higher derivatives of sinc, about π^(order - 1)/x, overflow unless 0.
HIGHEST_SINC = 1500


def _sech_square(x: float) -> float:
    """Return 1/cosh(x)², the derivative of tanh, as 4e/(1 + e)², e = exp(-2|x|)."""
    size = math.fabs(x)
    if size > 300.0:
        e = 2.0 * math.exp(-size)
        return e * e
    e = math.exp(-2.0 * size)
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def _csch_square(x: float) -> float:
    """Return 1/sinh(x)² as 4e/(1 - e)², e = exp(-2|x|). Raises ZeroDivisionError at 0."""
    size = math.fabs(x)
    if size > 300.0:
        return _sech_square(x)
    if 0.0 < size < 1e-150:
        return check_finite(1.0 / size / size)
    rest = math.expm1(-2.0 * size)
    return 4.0 * math.exp(-2.0 * size) / (rest * rest)


def _sinc_derivative(order: float, x: float) -> float:
    if order == 0:
        return _sinc(x)
    if order == 1:
        if math.fabs(x) <= 0.5:
            square = math.pi * x * (math.pi * x)
            return math.pi * (math.pi * x) * horner(SINC_SLOPE_SERIES, square)
        wave, mean = cos_pi(x), _sinc(x)
        if math.fabs(wave - mean) > 0.5 * math.fabs(wave):
            return (wave - mean) / x
    if order > HIGHEST_SINC and x != 0.0:
        raise OverflowError("the result is too large for a double")
    return by_multiprecision("sinc_derivative", order, x)


# ---- aggregates
def _exp_difference(x: float, y: float) -> float:
    """Return exp(x - y) for x <= y, as accurate as with an exact difference."""
    high, low = two_sum(x, -y)
    if high < -750.0:  # underflow; an infinite `high` would make `low` nan
        return 0.0
    return scaled_exp(1.0, high, low)


# (high, low, exponent) for (high + low)·2**exponent, 1/2 <= |high| < 1 or high = 0: about 30
# digits.
Scaled = tuple[float, float, int]


def _scale_product(p: Scaled, q: Scaled) -> Scaled:
    """Return the product of two scaled numbers, to about 30 digits, without overflow."""
    product, error = two_product(p[0], q[0])
    error += p[0] * q[1] + p[1] * q[0]
    total = product + error
    high, shift = math.frexp(total)
    return high, math.ldexp(error - (total - product), -shift), p[2] + q[2] + shift


def _to_float(p: Scaled) -> float:
    """Return a scaled number as a float. Raises OverflowError if too large."""
    return math.ldexp(p[0] + p[1], p[2])


def _sum(*xs: float) -> float:
    return _quotient_of_sum(xs, 1)


def _mean(*xs: float) -> float:
    return _quotient_of_sum(xs, len(xs))


def _quotient_of_sum(xs: tuple[float, ...], divisor: int) -> float:
    try:
        return math.fsum(xs) / divisor
    except OverflowError:  # perhaps only of a partial sum
        from fractions import Fraction  # rarely needed

        return float(sum(map(Fraction, xs), Fraction(0)) / divisor)


def _prod(*xs: float) -> float:
    """Return the product, whatever the order and size of partial products."""
    if len(xs) > 6:
        return _to_float(_running_products(xs)[-1])
    value = 1.0
    for x in xs:
        value *= x
        if not 1e-290 < math.fabs(value) < 1e290:
            return _to_float(_running_products(xs)[-1])
    return value


def _products_of_others(*xs: float) -> list[float]:
    """Return the gradient of `prod`, in linear time: products of the others, inf if too large."""
    before, after = _running_products(xs), _running_products(xs[::-1])[::-1]
    results = []
    for left, right in zip(before, after[1:], strict=False):
        product = _scale_product(left, right)
        try:
            results.append(_to_float(product))
        except OverflowError:  # the other products are still needed
            results.append(math.copysign(math.inf, product[0]))
    return results


def _running_products(xs: tuple[float, ...]) -> list[Scaled]:
    scaled = [(mantissa, 0.0, exponent) for mantissa, exponent in map(math.frexp, xs)]
    return list(accumulate(scaled, _scale_product, initial=(0.5, 0.0, 1)))


def _unit_vector(*xs: float) -> list[float]:
    """Return each argument over the norm, the gradient of `hypot`; zeros for norm 0."""
    length = math.hypot(*xs)
    if length == 0.0:
        return [0.0] * len(xs)
    if not 1e-290 < length < 1e290:
        shift = 600 if length < 1.0 else -600
        xs = tuple(math.ldexp(x, shift) for x in xs)
        length = math.hypot(*xs)
    return [x / length for x in xs]


def _unit_over_hypot(x: float, y: float) -> float:
    """Return x / (x² + y²) without intermediate over- or underflow. Raises ZeroDivisionError at
    0.
    """
    size = max(math.fabs(x), math.fabs(y))
    if 1e-140 < size < 1e140:
        return x / (x * x + y * y)
    shift = 600 if size < 1.0 else -600
    x, y = math.ldexp(x, shift), math.ldexp(y, shift)
    return math.ldexp(x / (x * x + y * y), shift)


def _logsumexp(*xs: float) -> float:
    largest = max(xs)
    place = xs.index(largest)
    rest = math.fsum(_exp_difference(x, largest) for i, x in enumerate(xs) if i != place)
    excess = math.log1p(rest)
    value = largest + excess
    if largest < 0.0 and math.fabs(value) < 0.5 * excess:  # cancellation: Σ exp(x) is near 1
        return by_multiprecision("logsumexp", *xs)
    return value


_logaddexp = _logsumexp
