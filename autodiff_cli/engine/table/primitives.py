"""THE TABLE: every function of the language with its derivative.

A row: name, inputs, meaning, derivative by each input; then its facts.
"""

# fmt: off

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import product
from operator import add, mul
from typing import Any

from .operators import POW
from .primitive import (
    BY_DEFINITION,
    OPERATIONS,
    Number,
    Primitive,
    Rule,
    Side,
    composed,
    entry,
    helper,
)

# ---- stable forms
# Formulas for rules whose textbook form would lose digits or overflow. Those with a derivative are
# primitives, so that higher derivatives are accurate too, but no functions of the language.
NO_POLE = "x is not 0, -1, -2, …"

entry("exp_neg_square", "x", "", lambda m, x, out: -2 * x * out, facts="even", definition=lambda m, x: m.exp(-(x**2)),
    values="(0, 1]")
entry("recip_one_plus_square", "x", "", lambda m, x, out: -2 * x * out * out, facts="even",
    definition=lambda m, x: 1 / (1 + x**2), values="(0, 1]")
entry("recip_one_minus_square", "x", "", lambda m, x, out: 2 * x * out * out, facts="even",
    definition=lambda m, x: 1 / (1 - x**2), domain="x != 1 and x != -1")
entry("recip_sqrt_one_minus_square", "x", "", lambda m, x, out: x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(1 - x**2), accurate=lambda m, x: 1 / m.sqrt((1 - x) * (1 + x)),
    domain="-1 < x < 1", values="[1, inf)")
entry("recip_sqrt_one_plus_square", "x", "", lambda m, x, out: -x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(1 + x**2), accurate=lambda m, x: 1 / m.hypot(1, x), values="(0, 1]")
entry("recip_sqrt_square_minus_one", "x", "", lambda m, x, out: -x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(x**2 - 1), domain="x < -1 or x > 1", values="(0, inf)")


def _sigmoid_slope(m: Any, x: Number) -> Number:
    e = m.exp(-m.abs(x))
    return e / ((1 + e) * (1 + e))


def _sech_square(m: Any, x: Number) -> Number:
    e = m.exp(-2 * m.abs(x))
    return 4 * e / ((1 + e) * (1 + e))


def _csch_square(m: Any, x: Number) -> Number:
    # by exp(-|x|): twice |x| may be too large, which SQL takes for no number
    e = m.exp(-m.abs(x))
    csch = 2 * e / (m.expm1(-m.abs(x)) * (1 + e))
    return csch * csch


entry("sigmoid_slope", "x", "", lambda m, x, out: -out * m.tanh(x / 2), facts="even",
    definition=lambda m, x: m.sigmoid(x) * m.sigmoid(-x), accurate=_sigmoid_slope, values="(0, 0.25]")
entry("sech_square", "x", "", lambda m, x, out: -2 * m.tanh(x) * out, facts="even",
    definition=lambda m, x: m.sech(x) ** 2, accurate=_sech_square, values="(0, 1]")
entry("csch_square", "x", "", lambda m, x, out: -2 * m.coth(x) * out, facts="even",
    definition=lambda m, x: m.csch(x) ** 2, accurate=_csch_square, domain="x != 0", values="(0, inf)")
entry("gelu_slope", "x", "", lambda m, x, out: (2 - x**2) * m.normpdf(x), exact={0: 0.5},
    definition=lambda m, x: m.erfc(-x / m.sqrt(2)) / 2 + x * m.exp(-(x**2) / 2) / m.sqrt(2 * m.pi))
entry("silu_slope", "x", "", lambda m, x, out: m.sigmoid_slope(x) * (2 - x * m.tanh(x / 2)),
    definition=lambda m, x: m.sigmoid(x) * (1 + x * m.sigmoid(-x)))


def _sinc_derivative(m: Any, n: Number, x: Number) -> Number:
    """Return the n-th derivative of sin(πx)/(πx), from x·f⁽ⁿ⁾ + n·f⁽ⁿ⁻¹⁾ = πⁿ⁻¹·sin(πx + nπ/2)."""
    # at 0 from the power series
    order = int(float(n))
    at_zero = 0 if order % 2 else (-1) ** (order // 2) * m.pi**order / (order + 1) if order else 1
    cycle = (m.sin, m.cos, lambda t: -m.sin(t), lambda t: -m.cos(t))
    wave = cycle[order % 4](m.pi * x)
    if order == 0:
        return m.where(m.eq(x, 0), at_zero, lambda: wave / (m.pi * x))
    before = m.sinc(x) if order == 1 else order * m.sinc_derivative(order - 1, x)
    scaled = wave if order == 1 else m.pi ** (order - 1) * wave
    return m.where(m.eq(x, 0), at_zero, lambda: (scaled - before) / x)


entry("sinc_derivative", "n x", "", None, lambda m, n, x, out: m.sinc_derivative(n + 1, x),
    definition=_sinc_derivative, constant_params=("n",))


def _sine_quotient(m: Any, n: Number, x: Number) -> Number:
    """Return the n-th derivative of sin(x)/x, from x·f⁽ⁿ⁾ + n·f⁽ⁿ⁻¹⁾ = sin(x + nπ/2)."""
    # at 0 from the power series; a quotient of Python's numbers would be rounded
    order = int(float(n))
    at_zero = 0 if order % 2 else (-1) ** (order // 2) * m.cos(0 * x) / (order + 1) if order else 1
    wave = m.cos(x) if order % 2 else m.sin(x)
    wave = -wave if order % 4 > 1 else wave
    before = order * m.sine_quotient(order - 1, x) if order else 0
    return m.where(m.eq(x, 0), at_zero, lambda: (wave - before if order else wave) / x)


# sinc of the language has a factor of π
entry("sine_quotient", "n x", "", None, lambda m, n, x, out: m.sine_quotient(n + 1, x),
    definition=_sine_quotient, constant_params=("n",), facts="for_reading")


def _erfcx_derivative(m: Any, n: Number, x: Number) -> Number:
    """Return the n-th derivative of erfcx, from f⁽ⁿ⁾ = 2x·f⁽ⁿ⁻¹⁾ + 2(n - 1)·f⁽ⁿ⁻²⁾ (DLMF 7.18.4,
    7.18.7).
    """
    before, value = 2 / m.sqrt(m.pi), m.erfcx(x)
    for k in range(int(float(n))):
        before, value = value, 2 * x * value + (2 * k * before if k else -before)
    return value


entry("erfcx_derivative", "n x", "", None, lambda m, n, x, out: m.erfcx_derivative(n + 1, x),
    definition=_erfcx_derivative, constant_params=("n",), family="error")

entry("polygamma_difference", "n a b", "", None, lambda m, n, a, b, out: m.polygamma_difference(n + 1, a, b),
    lambda m, n, a, b, out: -m.polygamma(n + 1, a + b),
    definition=lambda m, n, a, b: m.polygamma(n, a) - m.polygamma(n, a + b), constant_params=("n",))


def _beta_slope(m: Any, a: Number, b: Number) -> Number:
    """Return beta·(ψ(a) - ψ(a + b))."""
    # where a + b is 0, -1, -2, …, 1/Γ(a + b) is taken by reflection (DLMF 5.5.3, 5.5.4)
    total = a + b

    def reflected() -> Number:
        angle, rest = m.pi * total, 1 - total
        waves = m.cos(angle) + (m.digamma(a) - m.digamma(rest)) * m.sin(angle) / m.pi
        return m.gamma(a) * m.gamma(b) * m.gamma(rest) * waves

    pole = m.and_(m.le(total, 0), m.eq(m.floor(total), total))
    return m.where(pole, reflected, lambda: m.beta(a, b) * m.polygamma_difference(0, a, b))


def _running_products(xs: list[Number]) -> list[Number]:
    products = xs[:1]
    for x in xs[1:]:
        products.append(products[-1] * x)
    return products


def _products_of_others(m: Any, *inputs: Number) -> list[Number]:
    """Return the product of the other inputs for each; out/x has no value at x = 0."""
    xs = list(inputs)
    if len(xs) == 1:
        return [1]
    before, after = _running_products(xs), _running_products(xs[::-1])[::-1]
    inner = [before[k - 1] * after[k + 1] for k in range(1, len(xs) - 1)]
    return [after[1], *inner, before[-2]]


def _unit_vector(m: Any, *xs: Number) -> list[Number]:
    length = m.hypot(*xs)
    return [m.where(m.eq(length, 0), 0, lambda x=x: x / length) for x in xs]


def _softmax(m: Any, *xs: Number) -> list[Number]:
    largest = m.max(*xs)
    powers = [m.exp_difference(x, largest) for x in xs]
    total = m.sum(*powers)
    return [power / total for power in powers]


def _softmax_weight(m: Any, x: Number, *xs: Number) -> Number:
    largest = m.max(*xs)
    return m.exp_difference(x, largest) / m.sum(*[m.exp_difference(v, largest) for v in xs])


def _unit_over_hypot(m: Any, x: Number, y: Number) -> Number:
    length = m.hypot(x, y)
    return x / length / length


helper("products_of_others", "*xs", _products_of_others, facts="vector infinite propagates_infinity")
helper("unit_vector", "*xs", _unit_vector, facts="vector")
helper("power_minus_one", "x y out", lambda m, x, y, out: x ** (y - 1), domain=POW.domain, facts="infinite")
helper("unit_over_hypot", "x y", lambda m, x, y: x / (x**2 + y**2), accurate=_unit_over_hypot, facts="infinite",
    domain="x and y are not both 0")
# for x <= y: it does not overflow
helper("exp_difference", "x y", lambda m, x, y: m.exp(x - y))
helper("softmax_weight", "x *xs", lambda m, x, *xs: m.exp(x - m.logsumexp(*xs)), accurate=_softmax_weight)
helper("softmax", "*xs", lambda m, *xs: [m.softmax_weight(x, *xs) for x in xs], accurate=_softmax, facts="vector")
helper("item", "xs")
helper("gamma_slope", "x out", lambda m, x, out: out * m.digamma(x), domain=NO_POLE, facts="infinite")
helper("beta_slope", "a b", lambda m, a, b: m.beta(a, b) * (m.digamma(a) - m.digamma(a + b)), accurate=_beta_slope,
    domain="a and b are not 0, -1, -2, …", facts="infinite")
helper("norminv_slope", "p out", lambda m, p, out: m.sqrt(2 * m.pi) * m.exp(out**2 / 2), domain="0 < p < 1",
    facts="infinite")
# products with the density have digits where the density itself is too small for them
helper("normcdf_by_sigma", "x mu sigma",
    lambda m, x, mu, sigma: -((x - mu) / sigma) * m.normpdf_scaled(x, mu, sigma), domain="sigma > 0", facts="infinite")
helper("normpdf_by_mu", "x mu sigma",
    lambda m, x, mu, sigma: (x - mu) / sigma * m.normpdf_scaled(x, mu, sigma) / sigma, domain="sigma > 0",
    facts="infinite")
helper("normpdf_by_sigma", "x mu sigma",
    lambda m, x, mu, sigma: (((x - mu) / sigma) ** 2 - 1) * m.normpdf_scaled(x, mu, sigma) / sigma,
    domain="sigma > 0", facts="infinite")
helper("lambertw_slope", "x out", lambda m, x, out: 1 / (m.exp(out) * (1 + out)), domain="x >= -1/e", facts="infinite")
helper("lambertw_minus_one", "x", domain="x >= -1/e and x < 0", values="(-inf, -1]")
helper("erfinv_slope", "x out", lambda m, x, out: m.sqrt(m.pi) / 2 * m.exp(out**2), domain="-1 < x < 1",
    facts="infinite")


def _gamma_density_derivative(m: Any, n: Number, k: Number, a: Number, x: Number) -> Number:
    """Return the derivative of gamma_density, `n` times by a and `k` times by x."""
    order = int(float(n))
    # of x^(a - 1)·exp(-x) by x, over itself: a polynomial in a, by the product rule
    ratios = [_gamma_density_ratio(p, int(float(k)), a, x) for p in range(order + 1)]
    # the derivative of the logarithm by a is log(x) - digamma(a)
    logarithmic = [m.log(x) - m.digamma(a), *(-m.polygamma(p, a) for p in range(1, order))] if order else []
    values = [m.gamma_density(a, x)]
    for row in range(order):
        terms = [math.comb(row, p) * logarithmic[p] * values[row - p] for p in range(row + 1)]
        values.append(reduce(add, terms))
    return reduce(add, [math.comb(order, p) * values[order - p] * ratios[p] for p in range(order + 1)])


def _gamma_density_ratio(p: int, k: int, a: Number, x: Number) -> Number:
    """Return the p-th derivative by a of Σ (k over j)·(-1)^(k - j)·(a - 1)·…·(a - j)/x^j."""
    if k == 0:
        return 0 if p else 1
    if k == 1:
        return (a - 1 - x) / x if p == 0 else 1 / x if p == 1 else 0
    total: Number = 0
    for power in range(k, p - 1, -1):
        factor = math.perm(power, p)
        in_x: Number = 0
        for j in range(k, power - 1, -1):
            in_x = in_x / x + (-1) ** (k - j) * math.comb(k, j) * _falling_coefficient(j, power) * factor
        total = total * (a - 1) + in_x / x**power
    return total


@cache
def _falling_coefficient(j: int, power: int) -> int:
    """Return the coefficient of t^power in t·(t - 1)·…·(t - j + 1)."""
    if j == 0 or power < 0:
        return int(j == power)
    return _falling_coefficient(j - 1, power - 1) - (j - 1) * _falling_coefficient(j - 1, power)


entry("gamma_density_derivative", "n k a x", "", None, None,
    lambda m, n, k, a, x, out: m.gamma_density_derivative(n + 1, k, a, x),
    lambda m, n, k, a, x, out: m.gamma_density_derivative(n, k + 1, a, x), facts="finite",
    definition=_gamma_density_derivative, domain="a > 0 and x >= 0", constant_params=("n", "k"), family="gamma")


def _beta_density_derivative(m: Any, i: Number, j: Number, k: Number, a: Number, b: Number, x: Number) -> Number:
    """Return the derivative of beta_density, `i` times by a, `j` times by b and `k` times by x."""
    by_a, by_b, by_x = int(float(i)), int(float(j)), int(float(k))
    values = _by_beta_shapes(m, by_a, by_b, a, b, x)
    terms = [
        math.comb(by_a, p) * math.comb(by_b, q) * values[by_a - p, by_b - q] * ratio
        for p in range(by_a + 1) for q in range(by_b + 1)
        if not (isinstance(ratio := _beta_density_ratio(p, q, by_x, a, b, x), int) and ratio == 0)
    ]
    return reduce(add, terms)


def _by_beta_shapes(m: Any, by_a: int, by_b: int, a: Number, b: Number, x: Number) -> dict[tuple[int, int], Number]:
    """Return the derivatives of beta_density by a and b, from those of its logarithm."""

    def logarithmic(p: int, q: int, first: bool) -> Number:
        # a derivative of log(x) - digamma(a) + digamma(a + b), or of the same for b and 1 - x
        shared = _digamma_derivative(m, p + q, a + b)
        if q if first else p:
            return shared
        own = _digamma_derivative(m, p, a) if first else _digamma_derivative(m, q, b)
        return shared - own if p or q else (m.log(x) if first else m.log1p(-x)) - own + shared

    values: dict[tuple[int, int], Number] = {(0, 0): m.beta_density(a, b, x)}
    for k, n in product(range(by_a + 1), range(by_b + 1)):
        if k or n:
            u, v = (k - 1, n) if k else (k, n - 1)
            terms = [
                math.comb(u, p) * math.comb(v, q) * logarithmic(p, q, k > 0) * values[u - p, v - q]
                for p in range(u + 1) for q in range(v + 1)
            ]
            values[k, n] = reduce(add, terms)
    return values


def _digamma_derivative(m: Any, n: int, x: Number) -> Number:
    return m.polygamma(n, x) if n else m.digamma(x)


def _beta_density_ratio(p: int, q: int, k: int, a: Number, b: Number, x: Number) -> Number:
    """Return the p-th by a and q-th by b of Σ (k over j)·(-1)^(k - j)·[a - 1]ⱼ·[b - 1]ₖ₋ⱼ/(x^j·(1 -
    x)^(k - j)).

    [t]ⱼ is t·(t - 1)·…·(t - j + 1): of x^(a - 1)·(1 - x)^(b - 1) the k-th derivative by x, over
    itself.
    """
    total: Number = 0
    for j in range(k, -1, -1):
        if p <= j and q <= k - j:
            factor = math.comb(k, j) * (-1) ** (k - j)
            above = factor * _falling(a - 1, j, p) * _falling(b - 1, k - j, q)
            below = [x] * j + [1 - x] * (k - j)
            total = total + (above / reduce(mul, below) if below else above)
    return total


def _falling(t: Number, j: int, p: int) -> Number:
    """Return the p-th derivative of t·(t - 1)·…·(t - j + 1), for p up to j."""
    total: Number = math.perm(j, p)
    for power in range(j - 1, p - 1, -1):
        total = total * t + _falling_coefficient(j, power) * math.perm(power, p)
    return total


entry("beta_density_derivative", "i j k a b x", "", None, None, None,
    lambda m, i, j, k, a, b, x, out: m.beta_density_derivative(i + 1, j, k, a, b, x),
    lambda m, i, j, k, a, b, x, out: m.beta_density_derivative(i, j + 1, k, a, b, x),
    lambda m, i, j, k, a, b, x, out: m.beta_density_derivative(i, j, k + 1, a, b, x), facts="finite",
    definition=_beta_density_derivative, domain="a > 0, b > 0 and 0 <= x <= 1", constant_params=("i", "j", "k"))


def none_at_all(m: Any, *_: Number) -> Number:
    """Return a structural zero: the rule of an input that matters only by steps."""
    return m.nothing


# ---- elementary
elementary = partial(entry, group="Elementary")

EXP = elementary("exp", "x", "e to the power `x`", lambda m, x, out: out, facts="increasing infinite", inverse="log",
    exact={0: 1}, source="DLMF 4.10.7", latex=r"\exp", latex_raised="e^{#1}", values="(0, inf)",
    attained="y > 0")
elementary("exp2", "x", "2 to the power `x`", lambda m, x, out: out * m.log(2), facts="increasing infinite",
    inverse="log2", definition=lambda m, x: m.pow(2, x), values="(0, inf)", latex=r"2^{#1}",
    attained="y > 0")
elementary("expm1", "x", "exp(x) - 1, right for small `x` too", lambda m, x, out: m.exp(x), facts="increasing infinite",
    inverse="log1p", definition=lambda m, x: m.exp(x) - 1, values="(-1, inf)", latex=BY_DEFINITION,
    attained="y > -1")
LOG = elementary("log", "x", "natural logarithm; `log(x, b)` to the base `b`", lambda m, x, out: 1 / x,
    facts="increasing propagates_infinity", inverse="exp", exact={1: 0}, aliases=("ln",), longer="log_base",
    domain="x > 0", source="DLMF 4.7.1", latex=r"\ln")
entry("log_base", "x b", "", lambda m, x, b, out: 1 / m.log(b) / x, lambda m, x, b, out: -out / b / m.log(b),
    definition=lambda m, x, b: m.log(x) / m.log(b), symbol="log_b", spelling="log", domain="x > 0, b > 0 and b != 1",
    domain_message=lambda x, b: ("there is no logarithm to the base 1", None) if b == 1 else None, latex=r"\log_{#2}")
elementary("log2", "x", "logarithm to the base 2", lambda m, x, out: 1 / m.log(2) / x,
    facts="increasing propagates_infinity", inverse="exp2", exact={1: 0}, definition=lambda m, x: m.log(x) / m.log(2),
    domain="x > 0", latex=r"\log_{2}")
elementary("log10", "x", "logarithm to the base 10", lambda m, x, out: 1 / m.log(10) / x,
    facts="increasing propagates_infinity",
    exact={1: 0}, definition=lambda m, x: m.log(x) / m.log(10), domain="x > 0", latex=r"\log_{10}",
    preimages=(lambda m, y: m.pow(10, y),))
elementary("log1p", "x", "log(1 + x), right for small `x` too", lambda m, x, out: 1 / (1 + x),
    facts="increasing propagates_infinity", inverse="expm1", definition=lambda m, x: m.log(1 + x), domain="x > -1",
    latex=BY_DEFINITION)
SQRT = elementary("sqrt", "x", "square root, also `√x`", lambda m, x, out: 1 / (2 * out),
    facts="increasing propagates_infinity finite", domain="x >= 0", latex=r"\sqrt{#1}", values="[0, inf)",
    preimages=(lambda m, y: y**2,), attained="y >= 0")
elementary("cbrt", "x", "real cube root, of negative numbers too", lambda m, x, out: 1 / (3 * out**2),
    facts="odd increasing propagates_infinity", definition=lambda m, x: m.sign(x) * m.pow(m.abs(x), m.number(1) / 3),
    latex=r"\sqrt[3]{#1}",
    preimages=(lambda m, y: y**3,))
ABS = elementary("abs", "x", "absolute value, also `|x|`", lambda m, x, out: m.sign(x),
    facts="even propagates_infinity norm", kink=lambda x: x == 0, convention="0 at 0",
    active_branch=lambda m, side, x, out: x if side(x) > 0 else -x, latex=r"\left|#1\right|",
    preimages=(lambda m, y: -y, lambda m, y: y,), attained="y >= 0")


def _round(m: Any, side: Side, x: Number, out: Number) -> Number:
    up, down = side(2 * (x - out) - 1) > 0, side(2 * (x - out) + 1) < 0
    return out + 1 if up else out - 1 if down else out


elementary("sign", "x", "-1, 0 or 1 with the sign of `x`", none_at_all, facts="odd jumps has_structural_zeros",
    kink=lambda x: x == 0, convention="0 at 0", active_branch=lambda m, side, x, out: side(x), values="[-1, 1]",
    latex=r"\operatorname{sgn}")
elementary("floor", "x", "the largest whole number not above `x`", none_at_all,
    facts="jumps has_structural_zeros propagates_infinity", kink=lambda x: x == int(x), convention="0 at whole numbers",
    active_branch=lambda m, side, x, out: out if side(x - out) > 0 else out - 1, latex=r"\left\lfloor #1\right\rfloor")
elementary("ceil", "x", "the smallest whole number not below `x`", none_at_all,
    facts="jumps has_structural_zeros propagates_infinity", kink=lambda x: x == int(x), convention="0 at whole numbers",
    active_branch=lambda m, side, x, out: out + 1 if side(x - out) > 0 else out, latex=r"\left\lceil #1\right\rceil")
elementary("round", "x", "the nearest whole number, halves to the even one", none_at_all,
    facts="odd jumps has_structural_zeros propagates_infinity", kink=lambda x: abs(x - int(x)) * 2 == 1,
    convention="0 at halves", active_branch=_round)


def _even_split(m: Any, xs: Sequence[Number], out: Number) -> list[Number]:
    """Return equal weights, of sum 1, for inputs equal to the output; else structural zeros."""
    winners = m.sum(*[m.where(m.eq(x, out), 1, 0) for x in xs])
    return [m.where(m.eq(x, out), lambda: 1 / winners, m.nothing) for x in xs]


def _clamp_rule(position: int) -> Rule:
    return lambda m, x, lo, hi, out: _even_split(m, (x, lo, hi), out)[position]


def _clamp(m: Any, side: Side, x: Number, lo: Number, hi: Number, out: Number) -> Number:
    if side(hi - lo) < 0:
        raise ValueError("where the bounds have changed places there is no value")
    return lo if side(x - lo) < 0 else hi if side(x - hi) > 0 else x


CLAMP = elementary("clamp", "x lo hi", "`x` kept between `lo` and `hi`", _clamp_rule(0), _clamp_rule(1), _clamp_rule(2),
    facts="has_structural_zeros", definition=lambda m, x, lo, hi: m.min(m.max(x, lo), hi), domain="lo <= hi",
    kink=lambda x, lo, hi: x in (lo, hi) or lo == hi,
    convention="an even split between `x` and the bounds that it meets",
    smooth=("1 if lo < x < hi else 0", "1 if x < lo else 0", "1 if x > hi else 0"), active_branch=_clamp)

# ---- trigonometric
trigonometric = partial(entry, group="Trigonometric")

trigonometric("sin", "x", "sine; angles are radians", lambda m, x, out: m.cos(x),
    facts="odd periodic propagates_infinity", exact={0: 0}, unit=("cos", 1, 1), source="DLMF 4.20.1",
    latex=r"\sin", values="[-1, 1]",
    preimages=(lambda m, y: m.asin(y), lambda m, y: m.pi - m.asin(y)), attained="-1 <= y <= 1")
trigonometric("cos", "x", "cosine", lambda m, x, out: -m.sin(x),
    facts="even periodic propagates_infinity", exact={0: 1}, complement="`2*sin(x/2)**2` for `1 - cos(x)`",
    source="DLMF 4.20.2", latex=r"\cos", values="[-1, 1]",
    preimages=(lambda m, y: m.acos(y), lambda m, y: -m.acos(y)), attained="-1 <= y <= 1")
trigonometric("tan", "x", "tangent", lambda m, x, out: m.sec(x) ** 2,
    facts="odd periodic half_periodic propagates_infinity", definition=lambda m, x: m.sin(x) / m.cos(x),
    source="DLMF 4.20.3", latex=r"\tan", preimages=(lambda m, y: m.atan(y),))
trigonometric("sec", "x", "secant, 1/cos(x)", lambda m, x, out: m.tan(x) * out, facts="even periodic",
    unit=("tan", 1, -1), definition=lambda m, x: 1 / m.cos(x), source="DLMF 4.20.5", latex=r"\sec",
    preimages=(lambda m, y: m.acos(1 / y), lambda m, y: -m.acos(1 / y)), attained="abs(y) >= 1")
trigonometric("csc", "x", "cosecant, 1/sin(x)", lambda m, x, out: -m.cot(x) * out, facts="odd periodic",
    unit=("cot", 1, -1), definition=lambda m, x: 1 / m.sin(x), source="DLMF 4.20.4", domain="x != 0", latex=r"\csc",
    preimages=(lambda m, y: m.asin(1 / y), lambda m, y: m.pi - m.asin(1 / y)), attained="abs(y) >= 1")
trigonometric("cot", "x", "cotangent, 1/tan(x)", lambda m, x, out: -(m.csc(x) ** 2),
    facts="odd periodic half_periodic", definition=lambda m, x: m.cos(x) / m.sin(x), source="DLMF 4.20.6",
    domain="x != 0", latex=r"\cot", accurate=lambda m, x: 1 / m.tan(x),
    preimages=(lambda m, y: m.pi / 2 - m.atan(y),))
trigonometric("asin", "x", "inverse sine", lambda m, x, out: m.recip_sqrt_one_minus_square(x),
    facts="odd increasing propagates_infinity finite", exact={0: 0}, aliases=("arcsin",), domain="-1 <= x <= 1",
    source="DLMF 4.24.7", latex=r"\arcsin", values="[-1.6, 1.6]",
    preimages=(lambda m, y: m.sin(y),), attained="-pi/2 <= y <= pi/2")
trigonometric("acos", "x", "inverse cosine", lambda m, x, out: -m.recip_sqrt_one_minus_square(x),
    facts="propagates_infinity finite", exact={1: 0}, aliases=("arccos",), domain="-1 <= x <= 1",
    source="DLMF 4.24.8", latex=r"\arccos", values="[0, 3.2]",
    preimages=(lambda m, y: m.cos(y),), attained="0 <= y <= pi")
trigonometric("atan", "x", "inverse tangent", lambda m, x, out: m.recip_one_plus_square(x), facts="odd increasing",
    exact={0: 0}, aliases=("arctan",), source="DLMF 4.24.9", latex=r"\arctan", values="(-1.6, 1.6)",
    preimages=(lambda m, y: m.tan(y),), attained="-pi/2 < y < pi/2")
trigonometric("atan2", "y x", "the angle of the point (x, y), from -pi to pi",
    lambda m, y, x, out: m.unit_over_hypot(x, y), lambda m, y, x, out: -m.unit_over_hypot(y, x), facts="jumps",
    aliases=("arctan2",), kink=lambda y, x: x <= 0 and y == 0,
    convention="that of the upper side of the cut along negative `x`",
    active_branch=lambda m, side, y, x, out: m.atan(y / x) + (0 if side(x) > 0 else m.pi if side(y) > 0 else -m.pi),
    values="[-3.2, 3.2]")
trigonometric("asec", "x", "inverse secant, acos(1/x)", lambda m, x, out: m.recip_sqrt_square_minus_one(x) / m.abs(x),
    facts="finite", aliases=("arcsec",), definition=lambda m, x: m.acos(1 / x), domain="x <= -1 or x >= 1",
    source="DLMF 4.24.11", latex=r"\operatorname{arcsec}")
trigonometric("acsc", "x", "inverse cosecant, asin(1/x)",
    lambda m, x, out: -m.recip_sqrt_square_minus_one(x) / m.abs(x), facts="odd finite", aliases=("arccsc",),
    definition=lambda m, x: m.asin(1 / x), domain="x <= -1 or x >= 1", source="DLMF 4.24.10",
    latex=r"\operatorname{arccsc}")
trigonometric("acot", "x", "inverse cotangent, atan(1/x)", lambda m, x, out: -m.recip_one_plus_square(x), facts="odd",
    aliases=("arccot",), definition=lambda m, x: m.atan(1 / x), domain="x != 0", source="DLMF 4.24.12",
    latex=r"\operatorname{arccot}")
trigonometric("sinc", "x", "sin(pi*x)/(pi*x), and 1 at 0", lambda m, x, out: m.sinc_derivative(1, x), facts="even",
    exact={0: 1}, definition=lambda m, x: m.sinc_derivative(0, x), values="[-0.25, 1]")
trigonometric("deg", "x", "`x` radians in degrees", lambda m, x, out: 180 / m.pi,
    facts="linear odd increasing propagates_infinity infinite",
    inverse="rad", exact={0: 0}, definition=lambda m, x: x * (180 / m.pi))
trigonometric("rad", "x", "`x` degrees in radians", lambda m, x, out: m.pi / 180,
    facts="linear odd increasing propagates_infinity",
    inverse="deg", exact={0: 0}, definition=lambda m, x: x * (m.pi / 180))

# ---- hyperbolic
hyperbolic = partial(entry, group="Hyperbolic")


def _sech(m: Any, x: Number) -> Number:
    e = m.exp(-m.abs(x))
    return 2 * e / (1 + e * e)


hyperbolic("sinh", "x", "hyperbolic sine", lambda m, x, out: m.cosh(x),
    facts="odd increasing propagates_infinity infinite",
    definition=lambda m, x: (m.exp(x) - m.exp(-x)) / 2, source="DLMF 4.34.1", latex=r"\sinh",
    preimages=(lambda m, y: m.asinh(y),))
hyperbolic("cosh", "x", "hyperbolic cosine", lambda m, x, out: m.sinh(x), facts="even propagates_infinity infinite",
    unit=("sinh", 1, -1), definition=lambda m, x: (m.exp(x) + m.exp(-x)) / 2, source="DLMF 4.34.2",
    latex=r"\cosh", values="[1, inf)",
    preimages=(lambda m, y: -m.acosh(y), lambda m, y: m.acosh(y),), attained="y >= 1")
hyperbolic("tanh", "x", "hyperbolic tangent", lambda m, x, out: m.sech_square(x), facts="odd increasing",
    complement="`2*sigmoid(-2*x)`", definition=lambda m, x: m.sinh(x) / m.cosh(x),
    source="DLMF 4.34.3", latex=r"\tanh",
    values="(-1, 1)",
    preimages=(lambda m, y: m.atanh(y),), attained="-1 < y < 1")
hyperbolic("sech", "x", "hyperbolic secant, 1/cosh(x)", lambda m, x, out: -m.tanh(x) * out, facts="even",
    definition=lambda m, x: 1 / m.cosh(x), accurate=_sech, unit=("tanh", 1, 1), source="DLMF 4.34.5", values="(0, 1]")
hyperbolic("csch", "x", "hyperbolic cosecant, 1/sinh(x)", lambda m, x, out: -m.coth(x) * out, facts="odd",
    definition=lambda m, x: 1 / m.sinh(x), source="DLMF 4.34.4", domain="x != 0",
    accurate=lambda m, x: -2 * m.sign(x) * m.exp(-m.abs(x)) / m.expm1(-2 * m.abs(x)))
hyperbolic("coth", "x", "hyperbolic cotangent, 1/tanh(x)", lambda m, x, out: -m.csch_square(x), facts="odd",
    definition=lambda m, x: m.cosh(x) / m.sinh(x), source="DLMF 4.34.6", domain="x != 0", latex=r"\coth",
    unit=("csch", 1, -1), accurate=lambda m, x: 1 / m.tanh(x))
hyperbolic("asinh", "x", "inverse hyperbolic sine", lambda m, x, out: m.recip_sqrt_one_plus_square(x),
    facts="odd increasing propagates_infinity", aliases=("arcsinh", "arsinh"),
    definition=lambda m, x: m.sign(x) * m.log(m.abs(x) + m.sqrt(x * x + 1)), source="DLMF 4.38.9",
    latex=r"\operatorname{arsinh}",
    preimages=(lambda m, y: m.sinh(y),))
hyperbolic("acosh", "x", "inverse hyperbolic cosine", lambda m, x, out: m.recip_sqrt_square_minus_one(x),
    facts="increasing propagates_infinity finite", aliases=("arccosh", "arcosh"),
    definition=lambda m, x: m.log(x + m.sqrt(x - 1) * m.sqrt(x + 1)), domain="x >= 1", source="DLMF 4.38.10",
    values="[0, inf)", latex=r"\operatorname{arcosh}",
    preimages=(lambda m, y: m.cosh(y),), attained="y >= 0")
hyperbolic("atanh", "x", "inverse hyperbolic tangent", lambda m, x, out: m.recip_one_minus_square(x),
    facts="odd increasing", aliases=("arctanh", "artanh"), definition=lambda m, x: m.log((1 + x) / (1 - x)) / 2,
    domain="-1 < x < 1", source="DLMF 4.38.11", latex=r"\operatorname{artanh}",
    preimages=(lambda m, y: m.tanh(y),))
hyperbolic("asech", "x", "inverse hyperbolic secant, acosh(1/x)",
    lambda m, x, out: -m.recip_sqrt_one_minus_square(x) / x, aliases=("arcsech", "arsech"),
    definition=lambda m, x: m.acosh(1 / x), domain="0 < x <= 1", source="DLMF 4.38.13", values="[0, inf)",
    latex=r"\operatorname{arsech}")
hyperbolic("acsch", "x", "inverse hyperbolic cosecant, asinh(1/x)",
    lambda m, x, out: -m.recip_sqrt_one_plus_square(x) / m.abs(x), facts="odd", aliases=("arccsch", "arcsch"),
    definition=lambda m, x: m.asinh(1 / x), domain="x != 0", source="DLMF 4.38.12", latex=r"\operatorname{arcsch}")
hyperbolic("acoth", "x", "inverse hyperbolic cotangent, atanh(1/x)", lambda m, x, out: m.recip_one_minus_square(x),
    facts="odd", aliases=("arccoth", "arcoth"), definition=lambda m, x: m.log((x + 1) / (x - 1)) / 2,
    accurate=lambda m, x: m.sign(x) * (0.5 * m.log1p(2 / (m.abs(x) - 1))),
    domain="x < -1 or x > 1", source="DLMF 4.38.14", latex=r"\operatorname{arcoth}")

# ---- machine learning
learning = partial(entry, group="Machine learning")


def _relu_rule(m: Any, x: Number, out: Number) -> Number:
    return m.where(m.gt(x, 0), 1, lambda: m.where(m.lt(x, 0), m.nothing, 0))


learning("relu", "x", "`x` above 0, else 0", _relu_rule, facts="has_structural_zeros",
    definition=lambda m, x: m.where(m.gt(x, 0), x, 0), kink=lambda x: x == 0, convention="0 at 0",
    active_branch=lambda m, side, x, out: x if side(x) > 0 else 0, values="[0, inf)")
learning("leaky_relu", "x slope", "`x` above 0, else `slope*x`", lambda m, x, slope, out: m.where(m.gt(x, 0), 1, slope),
    lambda m, x, slope, out: m.where(m.gt(x, 0), m.nothing, x), facts="has_structural_zeros infinite",
    defaults=("0.01",), definition=lambda m, x, slope: m.where(m.gt(x, 0), x, lambda: slope * x),
    kink=lambda x, slope: x == 0 and slope != 1, convention="`slope` at 0",
    active_branch=lambda m, side, x, slope, out: x if side(x) > 0 else slope * x)
learning("elu", "x alpha", "`x` above 0, else `alpha*(exp(x) - 1)`",
    lambda m, x, alpha, out: m.where(m.gt(x, 0), 1, lambda: alpha * m.exp(x)),
    lambda m, x, alpha, out: m.where(m.gt(x, 0), m.nothing, lambda: m.expm1(x)), facts="has_structural_zeros infinite",
    defaults=("1",), definition=lambda m, x, alpha: m.where(m.gt(x, 0), x, lambda: alpha * m.expm1(x)),
    kink=lambda x, alpha: x == 0 and alpha != 1, convention="`alpha` at 0", breakpoint=lambda x, alpha: x == 0,
    active_branch=lambda m, side, x, alpha, out: x if side(x) > 0 else alpha * m.expm1(x))
learning("gelu", "x", "`x` times the standard normal distribution function (the exact form)",
    lambda m, x, out: m.gelu_slope(x), exact={0: 0}, definition=lambda m, x: x * m.erfc(-x / m.sqrt(2)) / 2,
    source="Hendrycks and Gimpel, arXiv:1606.08415", family="error", accurate=lambda m, x: x * m.normcdf(x))
learning("silu", "x", "x*sigmoid(x)", lambda m, x, out: m.silu_slope(x), aliases=("swish",),
    definition=lambda m, x: x * m.sigmoid(x))


def _sigmoid(m: Any, x: Number) -> Number:
    e = m.exp(-m.abs(x))
    return m.where(m.ge(x, 0), 1 / (1 + e), e / (1 + e))


learning("sigmoid", "x", "the logistic function 1/(1 + exp(-x))", lambda m, x, out: m.sigmoid_slope(x),
    facts="increasing", inverse="logit", complement="`sigmoid(-x)`", definition=lambda m, x: 1 / (1 + m.exp(-x)),
    accurate=_sigmoid, values="(0, 1)",
    attained="0 < y < 1")
learning("softplus", "x", "log(1 + exp(x))", lambda m, x, out: m.sigmoid(x), facts="increasing",
    definition=lambda m, x: m.log(1 + m.exp(x)), accurate=lambda m, x: m.max(x, 0) + m.log1p(m.exp(-m.abs(x))),
    values="(0, inf)",
    preimages=(lambda m, y: m.log(m.expm1(y)),), attained="y > 0")
learning("softsign", "x", "x/(1 + |x|)", lambda m, x, out: (1 / (1 + m.abs(x))) ** 2, facts="odd increasing",
    definition=lambda m, x: x / (1 + m.abs(x)), breakpoint=lambda x: x == 0,
    active_branch=lambda m, side, x, out: x / (1 + x) if side(x) > 0 else x / (1 - x), values="(-1, 1)",
    preimages=(lambda m, y: y / (1 - m.abs(y)),), attained="-1 < y < 1")


def _logaddexp(m: Any, x: Number, y: Number) -> Number:
    # not by `min` and `max`: those of C and SQL leave out what is not a number
    def above(low: Number, high: Number) -> Number:
        return high + m.log1p(m.exp_difference(low, high))

    return m.where(m.lt(x, y), lambda: above(x, y), lambda: above(y, x))


learning("logaddexp", "x y", "log(exp(x) + exp(y))", lambda m, x, y, out: m.softmax_weight(x, x, y),
    lambda m, x, y, out: m.softmax_weight(y, x, y), facts="commutative cancels_far",
    definition=lambda m, x, y: m.log(m.exp(x) + m.exp(y)),
    accurate=_logaddexp)


def _logit(m: Any, x: Number) -> Number:
    central = m.and_(m.gt(x, 0.25), m.lt(x, 0.75))
    return m.where(central, lambda: m.log1p((2 * x - 1) / (1 - x)), lambda: m.log(x) - m.log1p(-x))


learning("logit", "x", "log(x/(1 - x)), the inverse of `sigmoid`", lambda m, x, out: 1 / (x * (1 - x)),
    facts="increasing", inverse="sigmoid", definition=lambda m, x: m.log(x / (1 - x)), accurate=_logit,
    domain="0 < x < 1")
learning("heaviside", "x", "0 below 0, 1 above, and 1/2 at 0", none_at_all, facts="jumps has_structural_zeros",
    kink=lambda x: x == 0, definition=lambda m, x: (1 + m.sign(x)) / 2, convention="0 at 0",
    active_branch=lambda m, side, x, out: 1 if side(x) > 0 else 0, values="[0, 1]")

# ---- special
special = partial(entry, group="Special")


def _lambertw_branch(m: Any, x: Number, k: Number) -> Number:
    branch = float(k)
    if branch not in (0, -1):
        raise ValueError("the real branches are 0 and -1")
    return m.lambertw_minus_one(x) if branch else m.lambertw(x)


special("erf", "x", "error function", lambda m, x, out: 2 / m.sqrt(m.pi) * m.exp_neg_square(x), facts="odd increasing",
    inverse="erfinv", exact={0: 0}, complement="`erfc(…)`",
    source="DLMF 7.10.1", values="(-1, 1)", family="error",
    attained="-1 < y < 1")
special("erfc", "x", "1 - erf(x), right for large `x` too", lambda m, x, out: -2 / m.sqrt(m.pi) * m.exp_neg_square(x),
    exact={0: 1}, source="DLMF 7.10.1", values="(0, 2)", family="error")
special("erfinv", "x", "inverse error function", lambda m, x, out: m.erfinv_slope(x, out), facts="odd increasing",
    inverse="erf", exact={0: 0}, domain="-1 < x < 1", family="inverse error")
special("erfcx", "x", "exp(x**2)*erfc(x), which neither overflows nor underflows for large `x`",
    lambda m, x, out: m.erfcx_derivative(1, x), facts="infinite", exact={0: 1},
    definition=lambda m, x: m.exp(x**2) * m.erfc(x), source="DLMF 7.18.4", values="(0, inf)", family="error")
special("erfi", "x", "imaginary error function, erf(i*x)/i", lambda m, x, out: 2 / m.sqrt(m.pi) / m.exp_neg_square(x),
    facts="odd increasing propagates_infinity infinite", exact={0: 0}, source="DLMF 7.5.1, 7.10.1", family="error")
# the forms with further arguments first: a symbol alone means the short one
entry("normpdf_scaled", "x mu sigma", "",
    lambda m, x, mu, sigma, out: -m.normpdf_by_mu(x, mu, sigma),
    lambda m, x, mu, sigma, out: m.normpdf_by_mu(x, mu, sigma),
    lambda m, x, mu, sigma, out: m.normpdf_by_sigma(x, mu, sigma),
    symbol="normpdf", spelling="normpdf", latex=BY_DEFINITION,
    definition=lambda m, x, mu, sigma: m.normpdf((x - mu) / sigma) / sigma, domain="sigma > 0", values="[0, inf)")
entry("normcdf_scaled", "x mu sigma", "", lambda m, x, mu, sigma, out: m.normpdf_scaled(x, mu, sigma),
    lambda m, x, mu, sigma, out: -m.normpdf_scaled(x, mu, sigma),
    lambda m, x, mu, sigma, out: m.normcdf_by_sigma(x, mu, sigma), symbol="normcdf",
    spelling="normcdf", latex=BY_DEFINITION, definition=lambda m, x, mu, sigma: m.normcdf((x - mu) / sigma),
    domain="sigma > 0",
    values="[0, 1]", family="error", facts="finite")
entry("norminv_scaled", "p mu sigma", "", lambda m, p, mu, sigma, out: sigma * m.norminv_slope(p, m.norminv(p)),
    lambda m, p, mu, sigma, out: 1, lambda m, p, mu, sigma, out: m.norminv(p), symbol="norminv", spelling="norminv",
    latex=BY_DEFINITION, definition=lambda m, p, mu, sigma: mu + sigma * m.norminv(p), domain="0 < p < 1 and sigma > 0",
    family="inverse error")
special("normpdf", "x", "density of the standard normal distribution; `normpdf(x, mu, sigma)` of another one",
    lambda m, x, out: -x * out, facts="even", longer="normpdf_scaled",
    definition=lambda m, x: m.exp(-(x**2) / 2) / m.sqrt(2 * m.pi), values="(0, 0.4)")
special("normcdf", "x", "standard normal distribution function; `normcdf(x, mu, sigma)` of another one",
    lambda m, x, out: m.normpdf(x), facts="increasing", longer="normcdf_scaled", inverse="norminv", exact={0: 0.5},
    complement="`normcdf(-x)`", definition=lambda m, x: m.erfc(-x / m.sqrt(2)) / 2, values="(0, 1)", family="error",
    attained="0 < y < 1")
special("norminv", "p", "quantile of the standard normal distribution; `norminv(p, mu, sigma)` of another one",
    lambda m, p, out: m.norminv_slope(p, out), facts="increasing", longer="norminv_scaled", inverse="normcdf",
    exact={0.5: 0}, definition=lambda m, p: -m.sqrt(2) * m.erfinv(1 - 2 * p), domain="0 < p < 1",
    family="inverse error")
entry("lambertw_branch", "x k", "", lambda m, x, k, out: m.lambertw_slope(x, out), None, constant_params=("k",),
    definition=_lambertw_branch, symbol="lambertw", spelling="lambertw", domain="x >= -1/e, and x < 0 for k = -1",
    constant_values=(0, -1), latex=r"\operatorname{lambertw}")
special("Si", "x", "sine integral, that of sin(t)/t from 0 to `x`", lambda m, x, out: m.sine_quotient(0, x),
    facts="odd", aliases=("sinint",), exact={0: 0}, source="DLMF 6.2.9", family="error", values="[-1.86, 1.86]")
special("Ci", "x", "cosine integral, minus that of cos(t)/t from `x` on", lambda m, x, out: m.cos(x) / x,
    aliases=("cosint",), domain="x > 0", source="DLMF 6.2.11", family="error", values="(-inf, 0.48]")
special("Ei", "x", "exponential integral, the principal value of that of exp(t)/t up to `x`",
    lambda m, x, out: m.exp(x) / x, aliases=("expi",), domain="x != 0", source="DLMF 6.2.5", family="error")
special("li", "x", "logarithmic integral, the principal value of that of 1/log(t) from 0 to `x`",
    lambda m, x, out: 1 / m.log(x), aliases=("logint",), domain="x > 0 and x != 1", source="DLMF 6.2.8",
    family="error")
special("fresnels", "x", "Fresnel integral of sin(pi*t**2/2) from 0 to `x`",
    lambda m, x, out: m.sin(m.pi * x**2 / 2), facts="odd", exact={0: 0}, source="DLMF 7.2.8", family="error",
    values="[-0.72, 0.72]")
special("fresnelc", "x", "Fresnel integral of cos(pi*t**2/2) from 0 to `x`",
    lambda m, x, out: m.cos(m.pi * x**2 / 2), facts="odd", exact={0: 0}, source="DLMF 7.2.7", family="error",
    values="[-0.78, 0.78]")
special("lambertw", "x", "Lambert W function, the solution w >= -1 of w*exp(w) = x; `lambertw(x, -1)`: that below -1",
    lambda m, x, out: m.lambertw_slope(x, out), facts="increasing finite", longer="lambertw_branch", exact={0: 0},
    domain="x >= -1/e", source="DLMF 4.13", values="[-1, inf)", preimages=(lambda m, y: y * m.exp(y),),
    attained="y >= -1")
special("gamma", "x", "gamma function, (x-1)! at whole `x`", lambda m, x, out: m.gamma_slope(x, out),
    domain=NO_POLE, source="DLMF 5.2.2", latex=r"\Gamma", family="gamma")
special("lgamma", "x", "log(|gamma(x)|)", lambda m, x, out: m.digamma(x), aliases=("gammaln", "loggamma"),
    domain=NO_POLE, source="DLMF 5.2.2", family="gamma", latex=r"\ln\left|\Gamma(#1)\right|")
special("digamma", "x", "derivative of lgamma", lambda m, x, out: m.polygamma(1, x), facts="for_reading",
    aliases=("psi",), definition=lambda m, x: m.polygamma(0, x), domain=NO_POLE,
    source="DLMF 5.2.2", family="gamma",
    latex=r"\psi^{(0)}")
special("trigamma", "x", "derivative of digamma", lambda m, x, out: m.polygamma(2, x), facts="for_reading",
    definition=lambda m, x: m.polygamma(1, x), domain=NO_POLE, source="DLMF 5.15", values="(0, inf)", family="gamma",
    latex=r"\psi^{(1)}")
special("polygamma", "n x", "`n`-th derivative of digamma, `n` a fixed whole number up to 10000", None,
    lambda m, n, x, out: m.polygamma(n + 1, x), constant_params=("n",), domain=NO_POLE, source="DLMF 5.15",
    domain_message=lambda n, x: ("orders above 10000 are not computed", "take a lower order") if n > 10000 else None,
    family="gamma", latex=r"\psi^{(#1)}")
special("beta", "a b", "beta function", lambda m, a, b, out: m.beta_slope(a, b),
    lambda m, a, b, out: m.beta_slope(b, a), facts="for_reading commutative cancels_far cancels_near",
    definition=lambda m, a, b: m.gamma(a) * m.gamma(b) / m.gamma(a + b), domain="a and b are not 0, -1, -2, …",
    source="DLMF 5.12", family="gamma", latex=r"\mathrm{B}")
entry("gamma_density", "a x", "", lambda m, a, x, out: m.gamma_density_derivative(1, 0, a, x),
    lambda m, a, x, out: m.gamma_density_derivative(0, 1, a, x),
    definition=lambda m, a, x: m.pow(x, a - 1) * m.exp(-x) / m.gamma(a), domain="a > 0 and x >= 0", family="gamma")
special("gammainc", "a x", "regularized lower incomplete gamma function, the gamma distribution's for shape `a`",
    lambda m, a, x, out: m.gammainc_derivative(1, a, x), lambda m, a, x, out: m.gamma_density(a, x),
    domain="a > 0 and x >= 0", source="DLMF 8.2.4", values="[0, 1]", family="gamma", complement="`gammaincc(…)`",
    facts="finite")
special("gammaincc", "a x", "regularized upper incomplete gamma function, 1 - gammainc(a, x) without its cancellation",
    lambda m, a, x, out: -m.gammainc_derivative(1, a, x), lambda m, a, x, out: -m.gamma_density(a, x),
    domain="a > 0 and x >= 0", source="DLMF 8.2.4", values="[0, 1]", family="gamma", complement="`gammainc(…)`",
    facts="finite")
special("gammainc_derivative", "n a x", "`n`-th derivative of gammainc(a, x) by `a`", None,
    lambda m, n, a, x, out: m.gammainc_derivative(n + 1, a, x),
    lambda m, n, a, x, out: m.gamma_density_derivative(n, 0, a, x), constant_params=("n",), shown_orders=(1,),
    domain="a > 0 and x >= 0", source="DLMF 8.7.1", family="gamma", facts="finite")
entry("beta_density", "a b x", "", lambda m, a, b, x, out: m.beta_density_derivative(1, 0, 0, a, b, x),
    lambda m, a, b, x, out: m.beta_density_derivative(0, 1, 0, a, b, x),
    lambda m, a, b, x, out: m.beta_density_derivative(0, 0, 1, a, b, x),
    definition=lambda m, a, b, x: m.pow(x, a - 1) * m.pow(1 - x, b - 1) / m.beta(a, b),
    domain="a > 0, b > 0 and 0 <= x <= 1")
special("betainc", "a b x", "regularized incomplete beta function, the beta distribution's for shapes `a` and `b`",
    lambda m, a, b, x, out: m.betainc_derivative(1, 0, a, b, x),
    lambda m, a, b, x, out: m.betainc_derivative(0, 1, a, b, x), lambda m, a, b, x, out: m.beta_density(a, b, x),
    domain="a > 0, b > 0 and 0 <= x <= 1", source="DLMF 8.17.2", values="[0, 1]",
    complement="`betainc(b, a, 1 - x)`", facts="finite")
special("betainc_derivative", "i j a b x", "derivative of betainc(a, b, x), `i` times by `a` and `j` times by `b`",
    None, None, lambda m, i, j, a, b, x, out: m.betainc_derivative(i + 1, j, a, b, x),
    lambda m, i, j, a, b, x, out: m.betainc_derivative(i, j + 1, a, b, x),
    lambda m, i, j, a, b, x, out: m.beta_density_derivative(i, j, 0, a, b, x), constant_params=("i", "j"),
    shown_orders=(1, 0), domain="a > 0, b > 0 and 0 <= x <= 1", source="DLMF 8.17.8", facts="finite")

special("zeta", "s", "Riemann zeta function, 1 + 1/2**s + 1/3**s + … and its continuation to `s` below 1",
    lambda m, s, out: m.zeta_derivative(1, s), domain="s != 1", source="DLMF 25.2.1, 25.4.1", family="zeta",
    latex=r"\zeta", exact={0: -0.5, **dict.fromkeys(range(-2, -42, -2), 0)})
special("zeta_derivative", "n s", "`n`-th derivative of zeta(s), `n` a fixed whole number", None,
    lambda m, n, s, out: m.zeta_derivative(n + 1, s), domain="s != 1", constant_params=("n",), source="DLMF 25.2.6",
    family="zeta", shown_orders=(1,))


def _bessel_rules(name: str, below: int, above: int) -> tuple[Callable[..., Number], Callable[..., Number]]:
    """Return the derivative by x, from the orders below and above (DLMF 10.6.1), and so that no
    digits are lost.
    """

    def readable(m: Any, *inputs: Number) -> Number:
        *orders, nu, x = inputs
        lower, upper = getattr(m, name)(*orders, nu - 1, x), getattr(m, name)(*orders, nu + 1, x)
        total = lower + upper if below == above else lower - upper
        return total / (2 * below)

    def accurate(m: Any, nu: Number, x: Number) -> Number:
        # nu - 1 loses digits of a small nu (DLMF 10.6.2)
        function = getattr(m, name)

        def inside() -> Number:
            upper = function(nu + 1, x)
            return nu / x * function(nu, x) + (upper if name == "besseli" else -upper)

        return m.where(m.eq(x, 0), lambda: readable(m, nu, x), inside)

    return readable, accurate


def _bessel(name: str, kind: str, domain: str, below: int, above: int) -> None:
    """Enter a Bessel function, and its derivatives by the order."""
    readable, accurate = _bessel_rules(name, below, above)
    by_order, _ = _bessel_rules(f"{name}_derivative", below, above)
    message = "orders above 1000 are not computed", "take a lower order"
    helper(f"{name}_slope", "nu x", readable, accurate=accurate, domain=domain, facts="infinite")
    special(name, "nu x", f"{kind}, of real order `nu`",
        lambda m, nu, x, out: getattr(m, f"{name}_derivative")(1, nu, x),
        lambda m, nu, x, out: getattr(m, f"{name}_slope")(nu, x), domain=domain, source="DLMF 10.6.1, 10.29.1",
        family="gamma", domain_message=lambda nu, x: message if abs(nu) > 1000 else None)
    special(f"{name}_derivative", "n nu x", f"`n`-th derivative of {name}(nu, x) by the order `nu`", None,
        lambda m, n, nu, x, out: getattr(m, f"{name}_derivative")(n + 1, nu, x),
        lambda m, n, nu, x, out: by_order(m, n, nu, x), constant_params=("n",), shown_orders=(1,),
        domain="x > 0, or x = 0 with nu > 0" if domain == OF_WHOLE_ORDERS else domain,
        source="DLMF 10.2.2, 10.2.3", family="gamma",
        domain_message=lambda n, nu, x: message if abs(nu) > 1000 else None)


OF_WHOLE_ORDERS = "x > 0, or x = 0 with nu >= 0, or any x for a whole nu"
_bessel("besselj", "Bessel function of the first kind", OF_WHOLE_ORDERS, 1, -1)
_bessel("bessely", "Bessel function of the second kind", "x > 0", 1, -1)
_bessel("besseli", "modified Bessel function of the first kind", OF_WHOLE_ORDERS, 1, 1)
_bessel("besselk", "modified Bessel function of the second kind", "x > 0", -1, -1)


special("faddeeva_re", "n x y",
    "real part of the `n`-th derivative of the Faddeeva function exp(-z**2)*erfc(-i*z) at z = x + i*y",
    None, lambda m, n, x, y, out: m.faddeeva_re(n + 1, x, y), lambda m, n, x, y, out: -m.faddeeva_im(n + 1, x, y),
    constant_params=("n",), shown_orders=(1,), domain="y >= 0", facts="finite", source="DLMF 7.2.3, 7.10.3",
    family="error")
special("faddeeva_im", "n x y", "imaginary part of the `n`-th derivative of the Faddeeva function at z = x + i*y",
    None, lambda m, n, x, y, out: m.faddeeva_im(n + 1, x, y), lambda m, n, x, y, out: m.faddeeva_re(n + 1, x, y),
    constant_params=("n",), shown_orders=(1,), domain="y >= 0", facts="finite", source="DLMF 7.2.3, 7.10.3",
    family="error")


# ---- aggregates
aggregate = partial(entry, group="Aggregates")


SUM = aggregate("sum", "*xs", "sum of the arguments", lambda m, xs, out: [1] * len(xs),
    facts="linear propagates_infinity infinite commutative",
    definition=lambda m, *xs: reduce(add, xs), latex=BY_DEFINITION)
aggregate("mean", "*xs", "arithmetic mean of the arguments", lambda m, xs, out: [1 / m.number(len(xs))] * len(xs),
    facts="linear propagates_infinity infinite commutative", definition=lambda m, *xs: m.sum(*xs) / len(xs),
    latex=BY_DEFINITION)
PROD = aggregate("prod", "*xs", "product of the arguments", lambda m, xs, out: m.products_of_others(*xs),
    facts="has_structural_zeros propagates_infinity infinite product commutative",
    definition=lambda m, *xs: reduce(mul, xs), by_output=lambda m, x, out: out / x)


def _first(side: Side, xs: Sequence[Number], sign: int) -> Number:
    best = xs[0]
    for x in xs[1:]:
        if x is not best and side(x - best) == sign:
            best = x
    return best


MIN = aggregate("min", "*xs", "the smallest argument", _even_split,
    facts="has_structural_zeros commutative", extreme_value="<",
    kink=lambda *xs: xs.count(min(xs)) > 1, active_branch=lambda m, side, *xs, out: _first(side, xs, -1),
    convention="an even split between the arguments that tie", smooth=("1 if x1 < x2 else 0",), latex=r"\min")
MAX = aggregate("max", "*xs", "the largest argument", _even_split,
    facts="has_structural_zeros commutative", extreme_value=">",
    kink=lambda *xs: xs.count(max(xs)) > 1, active_branch=lambda m, side, *xs, out: _first(side, xs, 1),
    convention="an even split between the arguments that tie", smooth=("1 if x1 > x2 else 0",), latex=r"\max")
aggregate("hypot", "*xs", "length of the vector, sqrt(x1² + x2² + …)", lambda m, xs, out: m.unit_vector(*xs),
    facts="propagates_infinity infinite norm commutative",
    definition=lambda m, *xs: m.sqrt(m.sum(*[x * x for x in xs])), kink=lambda *xs: all(x == 0 for x in xs),
    convention="0 at the origin", active_branch=lambda m, side, *xs, out: side.length(xs))


def _logsumexp(m: Any, *xs: Number) -> Number:
    total = xs[0]
    for x in xs[1:]:
        total = m.logaddexp(total, x)
    return total


aggregate("logsumexp", "*xs", "log(exp(x1) + exp(x2) + …)", lambda m, xs, out: m.softmax(*xs),
    facts="commutative cancels_far", definition=lambda m, *xs: m.log(m.sum(*[m.exp(x) for x in xs])),
    accurate=_logsumexp, by_output=lambda m, x, out: m.exp(x - out))

# ---- shapes of measured curves
# Peaks have their height as amplitude, as GraphPad Prism and most examples of SciPy do; lmfit's
# amplitude is the area.
shape = partial(composed, group="Peaks and growth")


def _hill(m: Any, x: Number, Vmax: Number, K: Number, n: Number) -> Number:
    # by x/K, a number whatever the unit of x
    share = (x / K) ** n
    return Vmax * share / (1 + share)


shape("gaussian", "x A mu sigma", "A*exp(-((x - mu)/sigma)**2/2), a peak of height A; its area is A*sigma*sqrt(2*pi)",
    lambda m, x, A, mu, sigma: A * m.exp(-((x - mu) / sigma) ** 2 / 2), domain="sigma != 0",
    scales=("", "", "place", "width"))
shape("lorentzian", "x A x0 gamma",
    "A/(1 + ((x - x0)/gamma)**2), a peak of height A and half the width gamma; its area is pi*A*gamma",
    lambda m, x, A, x0, gamma: A / (1 + ((x - x0) / gamma) ** 2), domain="gamma != 0",
    scales=("", "", "place", "width"))
shape("logistic", "x L k x0", "L/(1 + exp(-k*(x - x0))), growth to L, halfway at x0 (`sigmoid` with L = k = 1, x0 = 0)",
    lambda m, x, L, k, x0: L * m.sigmoid(k * (x - x0)), scales=("", "", "rate", "place"))
shape("hill", "x Vmax K n", "Vmax*x**n/(K**n + x**n), saturation to Vmax, halfway at K",
    _hill, domain="x >= 0 and K > 0", scales=("", "", "positive place", "exponent"),
    smooth=("Vmax*n*K**n*x**(n - 1)/(K**n + x**n)**2", "x**n/(K**n + x**n)",
            "-Vmax*n*K**(n - 1)*x**n/(K**n + x**n)**2", "Vmax*K**n*x**n*log(x/K)/(K**n + x**n)**2"))
shape("michaelis_menten", "x Vmax Km", "Vmax*x/(Km + x), saturation to Vmax, halfway at Km",
    lambda m, x, Vmax, Km: Vmax * x / (Km + x), domain="x is not -Km", scales=("", "", "positive place"))


def _voigt(m: Any, x: Number, A: Number, mu: Number, sigma: Number, gamma: Number) -> Number:
    # the Faddeeva function at i*y is erfcx(y) (DLMF 7.19)
    scale = sigma * m.sqrt(2)
    width = gamma / scale
    return A * m.faddeeva_re(0, (x - mu) / scale, width) / m.erfcx(width)


_VOIGT_PLACE = "u = (x - mu)/(sigma*sqrt(2)); y = gamma/(sigma*sqrt(2)); "
_VOIGT_WIDTH = _VOIGT_PLACE + "c = faddeeva_im(1, u, y) + faddeeva_re(0, u, y)*(2*y - 2/(sqrt(pi)*erfcx(y))); "
_VOIGT_SLOPES = (
    _VOIGT_PLACE + "A*faddeeva_re(1, u, y)/(erfcx(y)*sigma*sqrt(2))", _VOIGT_PLACE + "faddeeva_re(0, u, y)/erfcx(y)",
    _VOIGT_PLACE + "-A*faddeeva_re(1, u, y)/(erfcx(y)*sigma*sqrt(2))",
    _VOIGT_WIDTH + "A*(y*c - u*faddeeva_re(1, u, y))/(erfcx(y)*sigma)", _VOIGT_WIDTH + "-A*c/(erfcx(y)*sigma*sqrt(2))")
shape("voigt", "x A mu sigma gamma",
    "a peak of height A: `gaussian` of width sigma, folded with `lorentzian` of half width gamma",
    _voigt, domain="sigma > 0 and gamma >= 0", scales=("", "", "place", "width", "width"),
    smooth=_VOIGT_SLOPES)

# Functions with poles, as quotients; without a name for the dividend it is 1.
QUOTIENTS = {
    "tan": ("sin", "cos"), "cot": ("cos", "sin"), "sec": ("", "cos"), "csc": ("", "sin"),
    "coth": ("cosh", "sinh"), "csch": ("", "sinh"),
}  # fmt: skip

# Functions that are quotients, with poles or without.
ALL_QUOTIENTS = QUOTIENTS | {"tanh": ("sinh", "cosh")}

# Functions that oscillate, have infinitely many poles, or are step functions.
OSCILLATING = {
    *("sin", "cos", "tan", "sec", "csc", "cot", "sinc", "gamma", "lgamma", "digamma", "trigamma", "polygamma"),
    *("zeta", "zeta_derivative", "besselj", "bessely", "Si", "Ci", "fresnels", "fresnelc"),
    *("floor", "ceil", "round"),
}

TURNING_BELOW_ZERO = {"gamma", "lgamma", "digamma", "trigamma", "polygamma", "polygamma_difference", "beta"}
# Functions that may turn or have a pole between numbers a unit apart, so that what they are there
# bounds nothing.
TURNING = (OSCILLATING - TURNING_BELOW_ZERO) | {"sinc_derivative", "sine_quotient", "Ei", "li"}


def may_turn_within(primitive: Primitive, lowest: Number, distance: Number) -> bool:
    """Return whether a function may turn or have a pole within a distance of a number, from
    `lowest` on.

    Then its values and slopes at the ends bound nothing: sinc is 0 at every whole number.
    """
    name = primitive.name
    return bool(distance > 1 and (name in TURNING or (name in TURNING_BELOW_ZERO and lowest < 0)))


# ---- names in the hands of others
def by_name(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table by operation of a target's spellings or a number type's methods. Raises
    KeyError for others.
    """
    return {OPERATIONS[name].name: mine for name, mine in own.items()}


def functions_of(module: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return a module's functions by operation; their names may have an underscore."""
    own = {name.removeprefix("_"): f for name, f in module.items() if getattr(f, "__module__", 0) == module["__name__"]}
    return {name: function for name, function in own.items() if name in OPERATIONS}


def library_names(names: str) -> dict[str, str]:
    """Return the operations that a library names as the table does. Raises KeyError."""
    return by_name({name: name for name in names.split()})


# Operations whose inputs and result have one dimension.
OF_ONE_DIMENSION = frozenset(
    ["add", "sub", "neg", "abs", "sum", "mean", "min", "max", "hypot", "relu", "clamp", "where"])

# Operations whose inputs have one dimension; the result is a number or a condition.
COMPARES_DIMENSIONS = frozenset(["atan2", "lt", "le", "gt", "ge", "eq", "ne"])

# Functions that are no larger than the largest of their arguments, in size.
BOUNDED_BY_INPUTS = frozenset(["abs", "clamp", "max", "min", "relu"])

# Functions whose size is at most 1, and that have no power series everywhere.
BOUNDED_BY_ONE = frozenset(["heaviside", "sign"])

# Operations on conditions, named as methods of number types.
OF_CONDITIONS = frozenset(["and_", "or_", "not_"])
