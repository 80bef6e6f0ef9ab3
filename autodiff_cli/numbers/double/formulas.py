"""Accurate double-precision formulas, for this program and exported code.

Each is a rule on a number type: `REAL` computes with it, and a recorder turns it into a function for targets whose
library lacks it. Other functions use their definition in the table.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import Any

from ...table.primitive import ACCURATE, DEFINITIONS, OPERATIONS, Number
from ...table.primitives import by_name, functions_of
from . import special as doubles
from . import special_formulas as special
from .twofold import horner, two_product, two_sum

GELU_SLOPE_ZERO = (-0.7517915246935645, 1.4956759177009883e-17)
"""The minimiser of gelu, as the sum of two doubles (mpmath.findroot, 60 digits)."""

GELU_SLOPE_SERIES = (
    -1.2694659128298344e-09, -3.376820512649965e-08, -1.652245138204433e-09,
    5.696394777043726e-07, 4.3285479556615925e-07, -7.74833140267088e-06,
    -1.1214381345904571e-05, 8.615946314567098e-05, 0.000186339746313297,
    -0.0007448268375921829, -0.0022395380680766807, 0.004539228379082832,
    0.01942167983818913, -0.014771522148243498, -0.1140082332972217,
    -0.018199676398671094, 0.388284982990552, 0.4314939923140469,
)  # fmt: skip
"""gelu_slope(zero + t)/t for |t| <= 0.45, highest power first (mpmath.chebyfit, 18 terms, relative error 3e-20)."""

SILU_SLOPE_ZERO = (-1.2784645427610737, -1.0946994183093437e-16)
"""The minimiser of silu, as the sum of two doubles (mpmath.findroot, 60 digits)."""

SILU_SLOPE_SERIES = (
    -9.109206073779557e-08, -3.668666458969287e-08, 8.597562971878925e-07,
    2.34685455409697e-06, -2.942617209369802e-06, -2.9733598637627508e-05,
    -4.090534291519911e-05, 0.0001857072456834204, 0.000798521881850028,
    0.00012662741004203514, -0.006606589138356781, -0.015222655223187706,
    0.018874814223782312, 0.1466487969969469, 0.2178117057198001,
)  # fmt: skip
"""silu_slope(zero + t)/t for |t| <= 0.3, highest power first (mpmath.chebyfit, 15 terms, relative error 1e-19)."""

# Wichura, Algorithm AS241 (PPND16), Applied Statistics 37 (1988) 477-484: the normal quantile.
CENTRE_NUMERATOR = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
CENTRE_DENOMINATOR = (
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
MIDDLE_NUMERATOR = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
)  # fmt: skip
MIDDLE_DENOMINATOR = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0,
)  # fmt: skip
FAR_NUMERATOR = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
)  # fmt: skip
FAR_DENOMINATOR = (
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0,
)  # fmt: skip


def _half_exp_abs(m: Any, x: Number) -> Number:
    half = m.exp(m.abs(x) / 2)
    return half / 2 * half


def _sinh(m: Any, x: Number) -> Number:
    u = m.expm1(m.abs(x))
    near = m.sign(x) * ((u + u / (u + 1)) / 2)
    return m.where(m.gt(m.abs(x), 20), lambda: m.sign(x) * _half_exp_abs(m, x), near)


def _cosh(m: Any, x: Number) -> Number:
    e = m.exp(m.abs(x))
    return m.where(m.gt(m.abs(x), 20), lambda: _half_exp_abs(m, x), (e + 1 / e) / 2)


def _sqrt_square_minus_one(m: Any, x: Number) -> Number:
    size = m.abs(x)
    return m.where(m.gt(size, 1e9), size, lambda: m.sqrt((size - 1) * (size + 1)))


def _acsch(m: Any, x: Number) -> Number:
    tiny = m.lt(m.abs(x), 1e-300)
    return m.where(tiny, lambda: m.sign(x) * (math.log(2) - m.log(m.abs(x))), lambda: m.asinh(1 / x))


def _asech(m: Any, x: Number) -> Number:
    tiny = m.lt(x, 1e-300)
    return m.where(tiny, lambda: math.log(2) - m.log(x), lambda: m.asinh(m.sqrt((1 - x) * (1 + x)) / x))


def _cbrt(m: Any, x: Number) -> Number:
    # A Newton step corrects the error from the rounded exponent 1/3.
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
    if float(n) == 2:
        curve = lambda: -(math.pi * special.sin_pi(m, x) + 2 * m.sinc_derivative(1, x)) / x  # noqa: E731
        return m.where(m.lt(m.abs(x), 1e-9), -(math.pi**2) / 3, curve)
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
    high, low = two_sum(x, -y)
    power = m.exp(high)
    return m.where(m.lt(high, -750), 0, lambda: power + power * low)


def _extreme_value(name: str, better: str) -> Any:
    def extreme_value(m: Any, *xs: Number) -> Number:
        return m.where(m.step(better, *xs), *xs) if len(xs) == 2 else reduce(partial(m.step, name), xs)

    return extreme_value


def _compensated_exp(m: Any, x: Number) -> Number:
    # 2**(k/4) times e**rest
    x = m.where(m.lt(x, -746), -746, x)  # e**x is 0 below; a literal 0 would cut products
    k = m.floor(x * EXP_STEPS + 0.5)
    rest = (x - k * EXP_STEP[0]) - k * EXP_STEP[1]
    exponent = m.floor(k / 4)
    quarter = k - 4 * exponent
    lower, upper, (high, low) = m.eq(quarter, 0), m.eq(quarter, 1), zip(*EXP_POWERS, strict=True)

    def chosen(powers: tuple[float, ...]) -> Number:
        return m.where(lower, powers[0], m.where(upper, powers[1], m.where(m.eq(quarter, 2), *powers[2:])))

    base = chosen(high)
    power = base + (base * m.expm1(rest) + chosen(low))
    half = m.floor(exponent / 2)  # 2**exponent may overflow or underflow
    return power * m.pow(2, half) * m.pow(2, exponent - half)


def _compensated_power(m: Any, x: Number, y: Number) -> Number | None:
    if y.name != "number" or y.data not in COMPENSATED_EXPONENTS:
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
    # The last term corrects the rounding of 1 + x (Hewlett-Packard Journal 28 no. 9, 1977).
    total = 1 + x
    return m.log(total) - ((total - 1) - x) / total


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
    return m.where(m.gt(m.abs(x), 40), 0, lambda: doubles.NORMAL_PEAK * (power - power * (0.5 * error)))


def _normal_distribution(m: Any, x: Number) -> Number:
    def near() -> Number:
        z, error = two_product(-x, m.number(doubles.SQRT_HALF[0]))
        error = error - x * doubles.SQRT_HALF[1]
        return 0.5 * (m.erfc(z) - m.exp(-z * z) / doubles.SQRT_PI_OVER_2 * error)

    # For large |x| it is 0 or 1, and two_product overflows.
    return m.where(m.gt(m.abs(x), 40), lambda: m.where(m.gt(x, 0), 1, 0), near)


def _gelu_slope(m: Any, x: Number) -> Number:
    offset = x - GELU_SLOPE_ZERO[0]
    near = (offset - GELU_SLOPE_ZERO[1]) * horner(GELU_SLOPE_SERIES, offset)
    far = m.normal_distribution(x) + x * m.normal_density(x)
    return m.where(m.le(m.abs(offset), 0.45), near, far)


def _silu_slope(m: Any, x: Number) -> Number:
    offset = x - SILU_SLOPE_ZERO[0]
    near = (offset - SILU_SLOPE_ZERO[1]) * horner(SILU_SLOPE_SERIES, offset)
    e = m.exp(-m.abs(x))
    below = ((1 + x) + e) * e / ((1 + e) * (1 + e))
    above = (1 + e + x * e) / ((1 + e) * (1 + e))
    return m.where(m.le(m.abs(offset), 0.3), near, m.where(m.ge(x, 0), above, below))


def _erfinv(m: Any, x: Number) -> Number:
    size = m.abs(x)
    r = 0.180625 - 0.25 * x * x
    centre = 0.5 * x * (horner(CENTRE_NUMERATOR, r) / horner(CENTRE_DENOMINATOR, r))

    def tail() -> Number:
        s = m.sqrt(-m.log(0.5 * (1 - size)))
        t, u = s - 1.6, s - 5
        middle = horner(MIDDLE_NUMERATOR, t) / horner(MIDDLE_DENOMINATOR, t)
        far = horner(FAR_NUMERATOR, u) / horner(FAR_DENOMINATOR, u)
        return m.sign(x) * m.where(m.le(s, 5), middle, far)

    return m.where(m.le(size, 0.85), centre, tail) * doubles.SQRT_HALF[0]


def _erfinv_slope(m: Any, x: Number, out: Number) -> Number:
    size = m.abs(out)
    square, error = two_product(size, size)
    grown = m.exp(square)

    def tail() -> Number:
        return m.erfc(size) * (grown + grown * error) / (1 - m.abs(x))

    return doubles.SQRT_PI_OVER_2 * m.where(m.lt(size, 0.5), grown, tail)


def _switch_at_1e9(near: Any, far: Any) -> Any:
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

COMPENSATED_EXPONENTS = range(3, 9)

COMPENSATED: dict[str, Any] = by_name({
    "exp": _compensated_exp, "pow": _compensated_power,
    "polygamma": lambda m, n, x: special.polygamma(m, n, x) if float(n) <= special.MAX_POLYGAMMA_ORDER else None,
})  # fmt: skip
"""Replacements for library functions that err by an ulp in one case of ten, or by more.

They return None if they are not more accurate.
"""

FORMULAS: dict[str, Any] = functions_of(vars(special)) | functions_of(globals()) | by_name({
    "sign": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), -1, 0)),
    "heaviside": lambda m, x: m.where(m.gt(x, 0), 1, m.where(m.lt(x, 0), 0, 0.5)),
    "asin": lambda m, x: m.atan2(x, m.sqrt((1 - x) * (1 + x))),
    "acos": lambda m, x: 2 * m.atan2(m.sqrt(1 - x), m.sqrt(1 + x)),
    "atanh": lambda m, x: m.sign(x) * (0.5 * m.log1p(2 * m.abs(x) / (1 - m.abs(x)))),
    "acot": lambda m, x: x / m.abs(x) * m.atan2(1, m.abs(x)),
    "asec": lambda m, x: m.atan2(_sqrt_square_minus_one(m, x), m.sign(x)),
    "acsc": lambda m, x: m.sign(x) * m.atan2(1, _sqrt_square_minus_one(m, x)),
    "max": _extreme_value("max", "ge"),
    "min": _extreme_value("min", "le"),
    "trigamma": lambda m, x: m.polygamma(1, x),
    "recip_one_plus_square": _switch_at_1e9(lambda m, x: 1 / (1 + x * x), lambda m, x: 1 / x / x),
    "recip_one_minus_square": _switch_at_1e9(lambda m, x: 1 / ((1 - x) * (1 + x)), lambda m, x: -1 / x / x),
    "recip_sqrt_square_minus_one": lambda m, x: 1 / _sqrt_square_minus_one(m, x),
})  # fmt: skip
"""Formulas by operation: of `special_formulas`, from above, and short ones."""


def formula(name: str) -> Any:
    """Return the formula of an operation; None without a short accurate one."""
    definition = FORMULAS.get(name) or ACCURATE.get(name)
    return definition or (None if OPERATIONS[name].for_reading else DEFINITIONS.get(name))
