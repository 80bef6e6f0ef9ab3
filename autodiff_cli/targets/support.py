"""Support: what a target's library may lack, as arithmetic on doubles that keeps its digits; for every target alike.

Each is a rule on a number type, as those of the table are: a recorder turns it into a function of the target, or into
steps of the program. What is not here is composed as its row says.
"""

from __future__ import annotations

import math
from typing import Any

from ..numbers.base import Number
from ..numbers.double import learning, normal
from ..numbers.double.twofold import horner, two_product, two_sum
from ..table.names import by_name
from ..table.primitive import ACCURATE, DEFINITIONS, OPERATIONS
from . import special


def _large_half_power(m: Any, x: Number) -> Number:
    """exp(|x|)/2, without overflow on the way."""
    half = m.exp(m.abs(x) / 2)
    return half / 2 * half


def _sinh(m: Any, x: Number) -> Number:
    u = m.expm1(m.abs(x))
    near = m.sign(x) * ((u + u / (u + 1)) / 2)
    return m.where(m.gt(m.abs(x), 20), lambda: m.sign(x) * _large_half_power(m, x), near)


def _cosh(m: Any, x: Number) -> Number:
    e = m.exp(m.abs(x))
    return m.where(m.gt(m.abs(x), 20), lambda: _large_half_power(m, x), (e + 1 / e) / 2)


def _root_of_square_minus_one(m: Any, x: Number) -> Number:
    size = m.abs(x)
    return m.where(m.gt(size, 1e9), size, lambda: m.sqrt((size - 1) * (size + 1)))


def _acsch(m: Any, x: Number) -> Number:
    tiny = m.lt(m.abs(x), 1e-300)
    return m.where(tiny, lambda: m.sign(x) * (math.log(2) - m.log(m.abs(x))), lambda: m.asinh(1 / x))


def _asech(m: Any, x: Number) -> Number:
    tiny = m.lt(x, 1e-300)
    return m.where(tiny, lambda: math.log(2) - m.log(x), lambda: m.asinh(m.sqrt((1 - x) * (1 + x)) / x))


def _cbrt(m: Any, x: Number) -> Number:
    # A step of Newton's method mends the digits that the exponent 1/3, which is rounded, has cost.
    def root() -> Number:
        y = m.pow(m.abs(x), 1 / 3)
        return m.sign(x) * (y - (y - m.abs(x) / (y * y)) / 3)

    return m.where(m.eq(x, 0), 0, root)


def _round(m: Any, x: Number) -> Number:
    low = m.floor(x)
    over, even = x - low, m.eq(m.floor(low / 2) * 2, low)
    return m.where(m.lt(over, 0.5), low, m.where(m.gt(over, 0.5), low + 1, m.where(even, low, low + 1)))


def _sinc(m: Any, x: Number) -> Number:
    return m.where(m.lt(m.abs(x), 1e-9), 1, lambda: special.sin_pi(m, x) / x / math.pi)


def _sinc_derivative(m: Any, n: Number, x: Number) -> Number:
    """The first derivative; near 0 its power series, the terms of (cos(πx) - sinc(x))/x cancel there."""
    if float(n) != 1:
        return DEFINITIONS["sinc_derivative"](m, n, x)
    square = (math.pi * x) * (math.pi * x)
    terms = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 14)]
    near = math.pi**2 * x * horner(tuple(terms[::-1]), square)
    return m.where(m.lt(m.abs(x), 0.75), near, lambda: (special.cos_pi(m, x) - m.sinc(x)) / x)


def _hypot(m: Any, *xs: Number) -> Number:
    if len(xs) == 1:
        return m.abs(xs[0])
    if len(xs) > 2:
        return m.hypot(m.hypot(*xs[:-1]), xs[-1])
    a, b = m.abs(xs[0]), m.abs(xs[1])
    large, small = m.max(a, b), m.min(a, b)
    return m.where(m.eq(large, 0), 0, lambda: large * m.sqrt(1 + (small / large) * (small / large)))


def _exp_difference(m: Any, x: Number, y: Number) -> Number:
    """exp(x - y) for x <= y, as accurate as if the difference had not been rounded."""
    high, low = two_sum(x, -y)
    power = m.exp(high)
    return m.where(m.lt(high, -750), 0, lambda: power + power * low)


def _logaddexp(m: Any, x: Number, y: Number) -> Number:
    largest = m.max(x, y)
    return largest + m.log1p(_exp_difference(m, m.min(x, y), largest))


def _softmax(m: Any, *xs: Number) -> list[Number]:
    largest = m.max(*xs)
    powers = [_exp_difference(m, x, largest) for x in xs]
    total = m.sum(*powers)
    return [power / total for power in powers]


def _softmax_weight(m: Any, x: Number, *xs: Number) -> Number:
    largest = m.max(*xs)
    return _exp_difference(m, x, largest) / m.sum(*[_exp_difference(m, v, largest) for v in xs])


def _chain(name: str) -> Any:
    def chained(m: Any, *xs: Number) -> Number:
        total = xs[0]
        for x in xs[1:]:
            total = m.step(name, total, x)
        return total

    return chained


def _extreme(name: str, better: str) -> Any:
    chained = _chain(name)

    def extreme_value(m: Any, *xs: Number) -> Number:
        return m.where(m.step(better, *xs), *xs) if len(xs) == 2 else chained(m, *xs)

    return extreme_value


def _finer_exp(m: Any, x: Number) -> Number:
    """e**x as 2**(k/4) times what is left, near 1, of which expm1 gives what counts."""
    x = m.where(m.lt(x, -746), -746, x)  # e**x is 0 from here on: not as a constant, which products are told apart by
    k = m.floor(x * EXP_STEPS + 0.5)
    rest = (x - k * EXP_STEP[0]) - k * EXP_STEP[1]
    whole = m.floor(k / 4)
    quarter = k - 4 * whole
    lower, upper, (high, low) = m.eq(quarter, 0), m.eq(quarter, 1), zip(*EXP_POWERS, strict=True)

    def chosen(powers: tuple[float, ...]) -> Number:
        return m.where(lower, powers[0], m.where(upper, powers[1], m.where(m.eq(quarter, 2), *powers[2:])))

    base = chosen(high)
    power = base + (base * m.expm1(rest) + chosen(low))
    half = m.floor(whole / 2)  # a power of two that is no double is the product of two that are
    return power * m.pow(2, half) * m.pow(2, whole - half)


def _finer_power(m: Any, x: Number, y: Number) -> Number | None:
    """x**y for a whole y from 3 to 8 as products with what their rounding takes; None for others."""
    if y.name != "number" or y.data not in FINER_POWERS:
        return None
    power, lost = x, m.zero
    for bit in bin(int(y.data))[3:]:
        square, error = two_product(power, power)
        power, lost = square, error if lost is m.zero else error + 2 * power * lost
        if bit == "1":
            product, error = two_product(power, x)
            power, lost = product, error + lost * x
    size = m.abs(x)
    exact = m.and_(m.gt(size, 1e-250 ** (1 / y.data)), m.lt(size, 1e280 ** (1 / y.data)))
    return m.where(exact, power + lost, lambda: m.native_step("pow", x, y))


def _expm1(m: Any, x: Number) -> Number:
    return m.where(m.lt(m.abs(x), 1), lambda: 2 * m.sinh(x / 2) * m.exp(x / 2), lambda: m.exp(x) - 1)


def _log1p(m: Any, x: Number) -> Number:
    # What rounding took from 1 + x is given back (Hewlett-Packard Journal 28 no. 9, 1977).
    whole = 1 + x
    return m.log(whole) - ((whole - 1) - x) / whole


def _tanh(m: Any, x: Number) -> Number:
    e = m.exp(-2 * m.abs(x))
    return m.where(m.lt(m.abs(x), 1), lambda: m.sinh(x) / m.cosh(x), lambda: m.sign(x) * ((1 - e) / (1 + e)))


def _asinh(m: Any, x: Number) -> Number:
    size = m.abs(x)
    near = lambda: m.log1p(size + size * (size / (1 + m.sqrt(1 + size * size))))  # noqa: E731
    return m.sign(x) * m.where(m.gt(size, 1e9), lambda: m.log(size) + math.log(2), near)


def _acosh(m: Any, x: Number) -> Number:
    above = x - 1
    near = lambda: m.log1p(above + m.sqrt(above * (above + 2)))  # noqa: E731
    return m.where(m.gt(x, 1e9), lambda: m.log(x) + math.log(2), near)


def _clamp(m: Any, x: Number, lo: Number, hi: Number) -> Number:
    kept = m.where(m.lt(x, lo), lo, m.where(m.gt(x, hi), hi, x))
    return m.where(m.le(lo, hi), kept, math.nan)


def _power_minus_one(m: Any, x: Number, y: Number, out: Number) -> Number:
    divisible = m.and_(m.gt(m.abs(out), 1e-300), m.ne(x, 0))
    return m.where(divisible, lambda: out / x, lambda: m.pow(x, y - 1))


def _exp_neg_square(m: Any, x: Number) -> Number:
    square, error = two_product(x, x)
    half = m.exp(-0.5 * square)
    return m.where(m.gt(m.abs(x), 28), 0, lambda: (half - half * error) * half)


def _normal_density(m: Any, x: Number) -> Number:
    square, error = two_product(x, x)
    power = m.exp(-0.5 * square)
    return m.where(m.gt(m.abs(x), 40), 0, lambda: normal.NORMAL_PEAK * (power - power * (0.5 * error)))


def _normal_distribution(m: Any, x: Number) -> Number:
    def near() -> Number:
        z, error = two_product(-x, m.number(normal.SQRT_HALF[0]))
        error = error - x * normal.SQRT_HALF[1]
        return 0.5 * (m.erfc(z) - m.exp(-z * z) / normal.SQRT_PI_OVER_2 * error)

    # Far out it is 0 or 1, and the error of a product of large numbers cannot be found.
    return m.where(m.gt(m.abs(x), 40), lambda: m.where(m.gt(x, 0), 1, 0), near)


def _gelu_slope(m: Any, x: Number) -> Number:
    offset = x - normal.GELU_SLOPE_ZERO[0]
    near = (offset - normal.GELU_SLOPE_ZERO[1]) * horner(normal.GELU_SLOPE_SERIES, offset)
    far = m.normal_distribution(x) + x * m.normal_density(x)
    return m.where(m.le(m.abs(offset), 0.45), near, far)


def _silu_slope(m: Any, x: Number) -> Number:
    offset = x - learning.SILU_SLOPE_ZERO[0]
    near = (offset - learning.SILU_SLOPE_ZERO[1]) * horner(learning.SILU_SLOPE_SERIES, offset)
    e = m.exp(-m.abs(x))
    below = ((1 + x) + e) * e / ((1 + e) * (1 + e))
    above = (1 + e + x * e) / ((1 + e) * (1 + e))
    return m.where(m.le(m.abs(offset), 0.3), near, m.where(m.ge(x, 0), above, below))


def _erfinv(m: Any, x: Number) -> Number:
    size = m.abs(x)
    r = 0.180625 - 0.25 * x * x
    centre = 0.5 * x * (horner(normal.CENTRE_NUMERATOR, r) / horner(normal.CENTRE_DENOMINATOR, r))

    def tail() -> Number:
        s = m.sqrt(-m.log(0.5 * (1 - size)))
        t, u = s - 1.6, s - 5
        middle = horner(normal.MIDDLE_NUMERATOR, t) / horner(normal.MIDDLE_DENOMINATOR, t)
        far = horner(normal.FAR_NUMERATOR, u) / horner(normal.FAR_DENOMINATOR, u)
        return m.sign(x) * m.where(m.le(s, 5), middle, far)

    return m.where(m.le(size, 0.85), centre, tail) * normal.SQRT_HALF[0]


def _erfinv_slope(m: Any, x: Number, out: Number) -> Number:
    size = m.abs(out)
    square, error = two_product(size, size)
    grown = m.exp(square)

    def tail() -> Number:
        return m.erfc(size) * (grown + grown * error) / (1 - m.abs(x))

    return normal.SQRT_PI_OVER_2 * m.where(m.lt(size, 0.5), grown, tail)


def _large(near: Any, far: Any) -> Any:
    def function(m: Any, x: Number) -> Number:
        return m.where(m.gt(m.abs(x), 1e9), lambda: far(m, x), lambda: near(m, x))

    return function


EXP_STEP = 0.17328679515048862, -1.0502287681702711e-11
"""log(2)/4 as the sum of two doubles, the first of 32 bits."""
EXP_STEPS = 5.7707801635558535
EXP_POWERS = (
    (1.0, 0.0), (1.189207115002721, 3.982015231465646e-17), (1.4142135623730951, -9.667293313452913e-17),
    (1.681792830507429, 8.199010020581497e-17),
)  # fmt: skip
"""2**(k/4) as the sum of two doubles, k = 0 … 3."""

FINER_POWERS = range(3, 9)

FINER: dict[str, Any] = by_name({"exp": _finer_exp, "pow": _finer_power})
"""How operations are written out that a library has, but with an error of one unit of the last place in ten; each None
where that gives no more digits."""

SUPPORT: dict[str, Any] = by_name({
    "sign": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), -1, 0)),
    "heaviside": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), 0, 0.5)),
    "clamp": _clamp,
    "round": _round,
    "cbrt": _cbrt,
    "expm1": _expm1,
    "log1p": _log1p,
    "asin": lambda m, x: m.atan2(x, m.sqrt((1 - x) * (1 + x))),
    "acos": lambda m, x: 2 * m.atan2(m.sqrt(1 - x), m.sqrt(1 + x)),
    "tanh": _tanh,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": lambda m, x: m.sign(x) * (0.5 * m.log1p(2 * m.abs(x) / (1 - m.abs(x)))),
    "acot": lambda m, x: x / m.abs(x) * m.atan2(1, m.abs(x)),
    "asec": lambda m, x: m.atan2(_root_of_square_minus_one(m, x), m.sign(x)),
    "acsc": lambda m, x: m.sign(x) * m.atan2(1, _root_of_square_minus_one(m, x)),
    "sinh": _sinh,
    "cosh": _cosh,
    "asech": _asech,
    "acsch": _acsch,
    "sinc": _sinc,
    "sinc_derivative": _sinc_derivative,
    "gelu_slope": _gelu_slope,
    "silu_slope": _silu_slope,
    "exp_neg_square": _exp_neg_square,
    "normal_density": _normal_density,
    "normal_distribution": _normal_distribution,
    "erfinv": _erfinv,
    "erfinv_slope": _erfinv_slope,
    "hypot": _hypot,
    "logaddexp": _logaddexp,
    "softmax": _softmax,
    "softmax_weight": _softmax_weight,
    "power_minus_one": _power_minus_one,
    "max": _extreme("max", "ge"),
    "min": _extreme("min", "le"),
    "erf": special.erf,
    "erfc": special.erfc,
    "gamma": special.gamma,
    "lgamma": special.lgamma,
    "digamma": special.digamma,
    "trigamma": lambda m, x: m.polygamma(1, x),
    "polygamma": special.polygamma,
    "polygamma_difference": special.polygamma_difference,
    "beta": special.beta,
    "recip_one_plus_square": _large(lambda m, x: 1 / (1 + x * x), lambda m, x: 1 / x / x),
    "recip_one_minus_square": _large(lambda m, x: 1 / ((1 - x) * (1 + x)), lambda m, x: -1 / x / x),
    "recip_sqrt_square_minus_one": lambda m, x: 1 / _root_of_square_minus_one(m, x),
})  # fmt: skip
"""The formulas by the names of the operations."""


def formula(name: str) -> Any:
    """The formula of an operation, None where there is none that is short and right."""
    found = SUPPORT.get(name) or ACCURATE.get(name)
    return found or (None if OPERATIONS[name].for_reading else DEFINITIONS.get(name))
