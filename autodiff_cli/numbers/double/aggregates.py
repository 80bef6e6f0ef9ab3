"""Functions of many floats: sums, means, products, extremes, norms."""

from __future__ import annotations

import builtins
import math
from itertools import accumulate

from .parts import by_multiprecision
from .twofold import Scaled, exp_difference, scaled_product, to_float, to_scaled


def sum(*xs: float) -> float:
    """Return the sum, rounded once."""
    try:
        return math.fsum(xs)
    except OverflowError:  # perhaps only of a partial sum
        return _exact_mean(xs, 1)


def mean(*xs: float) -> float:
    """Return the arithmetic mean, even if the sum overflows."""
    try:
        return math.fsum(xs) / len(xs)
    except OverflowError:
        return _exact_mean(xs, len(xs))


def _exact_mean(xs: tuple[float, ...], divisor: int) -> float:
    from fractions import Fraction  # rarely needed

    return float(builtins.sum(map(Fraction, xs), Fraction(0)) / divisor)


def prod(*xs: float) -> float:
    """Return the product, whatever the order and size of partial products."""
    if len(xs) > 6:
        return to_float(_running_products(xs)[-1])
    value = 1.0
    for x in xs:
        value *= x
        if not 1e-290 < math.fabs(value) < 1e290:
            return to_float(_running_products(xs)[-1])
    return value


def products_of_others(*xs: float) -> list[float]:
    """Return the gradient of `prod`, in linear time: products of the others, inf if too large."""
    before, after = _running_products(xs), _running_products(xs[::-1])[::-1]
    results = []
    for left, right in zip(before, after[1:], strict=False):
        product = scaled_product(left, right)
        try:
            results.append(to_float(product))
        except OverflowError:  # the other products are still needed
            results.append(math.copysign(math.inf, product[0]))
    return results


def _running_products(xs: tuple[float, ...]) -> list[Scaled]:
    return list(accumulate(map(to_scaled, xs), scaled_product, initial=to_scaled(1.0)))


def unit_vector(*xs: float) -> list[float]:
    """Return each argument over the norm, the gradient of `hypot`; zeros for norm 0.

    Accurate even if the norm overflows or is subnormal.
    """
    length = math.hypot(*xs)
    if length == 0.0:
        return [0.0] * len(xs)
    if not 1e-290 < length < 1e290:
        shift = 600 if length < 1.0 else -600
        xs = tuple(math.ldexp(x, shift) for x in xs)
        length = math.hypot(*xs)
    return [x / length for x in xs]


def unit_over_hypot(x: float, y: float) -> float:
    """Return x / (x² + y²) without intermediate over- or underflow. Raises ZeroDivisionError at 0."""
    size = max(math.fabs(x), math.fabs(y))
    if 1e-140 < size < 1e140:
        return x / (x * x + y * y)
    shift = 600 if size < 1.0 else -600
    x, y = math.ldexp(x, shift), math.ldexp(y, shift)
    return math.ldexp(x / (x * x + y * y), shift)


def logsumexp(*xs: float) -> float:
    """Return log(Σ exp(x)), without intermediate overflow."""
    largest = max(xs)
    place = xs.index(largest)
    rest = math.fsum(exp_difference(x, largest) for i, x in enumerate(xs) if i != place)
    excess = math.log1p(rest)
    value = largest + excess
    if largest < 0.0 and math.fabs(value) < 0.5 * excess:  # cancellation: Σ exp(x) is near 1
        return by_multiprecision("logsumexp", *xs)
    return value


def logaddexp(x: float, y: float) -> float:
    """Return log(exp(x) + exp(y)), without intermediate overflow."""
    return logsumexp(x, y)
