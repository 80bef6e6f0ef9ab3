"""Stable forms: the formulas that rules of the table use where the textbook form would lose digits or overflow.

Those with a derivative of their own are primitives, so that higher derivatives keep their accuracy too; they are no
functions of the language, and printers write them by their definition.
"""
# fmt: off

from __future__ import annotations

from typing import Any

from .operators import POW
from .primitive import Number, entry, helper

NO_POLE = "x is not 0, -1, -2, …"
_NEAR = (-2.5, -1e-10, 0.5, 3.75)

entry("exp_neg_square", "x", "", lambda m, x, out: -2 * x * out, facts="even", definition=lambda m, x: m.exp(-(x**2)),
    values="(0, 1]", samples=(*_NEAR, 26.0))
entry("recip_one_plus_square", "x", "", lambda m, x, out: -2 * x * out * out, facts="even",
    definition=lambda m, x: 1 / (1 + x**2), values="(0, 1]", samples=(*_NEAR, 1e160))
entry("recip_one_minus_square", "x", "", lambda m, x, out: 2 * x * out * out, facts="even",
    definition=lambda m, x: 1 / (1 - x**2), domain="x is not 1 or -1", samples=(*_NEAR, 0.999999999))
entry("recip_sqrt_one_minus_square", "x", "", lambda m, x, out: x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(1 - x**2), accurate=lambda m, x: 1 / m.sqrt((1 - x) * (1 + x)),
    domain="-1 < x < 1", values="[1, inf)", samples=(-0.999999, 0.25))
entry("recip_sqrt_one_plus_square", "x", "", lambda m, x, out: -x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(1 + x**2), accurate=lambda m, x: 1 / m.hypot(1, x), values="(0, 1]",
    samples=(*_NEAR, 1e100))
entry("recip_sqrt_square_minus_one", "x", "", lambda m, x, out: -x * out * out * out, facts="even",
    definition=lambda m, x: 1 / m.sqrt(x**2 - 1), domain="x < -1 or x > 1", values="(0, inf)",
    samples=(-2.5, 1.000001, 1e100))


def _sigmoid_slope(m: Any, x: Number) -> Number:
    e = m.exp(-m.abs(x))
    return e / ((1 + e) * (1 + e))


def _sech_square(m: Any, x: Number) -> Number:
    e = m.exp(-2 * m.abs(x))
    return 4 * e / ((1 + e) * (1 + e))


def _csch_square(m: Any, x: Number) -> Number:
    rest = m.expm1(-2 * m.abs(x))
    return 4 * m.exp(-2 * m.abs(x)) / (rest * rest)


entry("sigmoid_slope", "x", "", lambda m, x, out: -out * m.tanh(x / 2), facts="even",
    definition=lambda m, x: m.sigmoid(x) * m.sigmoid(-x), accurate=_sigmoid_slope, values="(0, 0.25]",
    samples=(*_NEAR, 40.0))
entry("sech_square", "x", "", lambda m, x, out: -2 * m.tanh(x) * out, facts="even",
    definition=lambda m, x: m.sech(x) ** 2, accurate=_sech_square, values="(0, 1]", samples=(*_NEAR, 40.0))
entry("csch_square", "x", "", lambda m, x, out: -2 * m.coth(x) * out, facts="even",
    definition=lambda m, x: m.csch(x) ** 2, accurate=_csch_square, domain="x != 0", values="(0, inf)",
    samples=(*_NEAR, 40.0))
entry("gelu_slope", "x", "", lambda m, x, out: (2 - x**2) * m.normal_density(x), exact={0: 0.5},
    definition=lambda m, x: m.erfc(-x / m.sqrt(2)) / 2 + x * m.exp(-(x**2) / 2) / m.sqrt(2 * m.pi), samples=_NEAR)
entry("normal_density", "x", "", lambda m, x, out: -x * out, facts="even",
    definition=lambda m, x: m.exp(-(x**2) / 2) / m.sqrt(2 * m.pi), values="(0, 0.4)", samples=(*_NEAR, 10.0))
entry("silu_slope", "x", "", lambda m, x, out: m.sigmoid_slope(x) * (2 - x * m.tanh(x / 2)),
    definition=lambda m, x: m.sigmoid(x) * (1 + x * m.sigmoid(-x)), samples=_NEAR)


def _sinc_derivative(m: Any, n: Number, x: Number) -> Number:
    """The n-th derivative of sin(πx)/(πx), from x·f⁽ⁿ⁾ + n·f⁽ⁿ⁻¹⁾ = πⁿ⁻¹·sin(πx + nπ/2); at 0 from the power series."""
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
    definition=_sinc_derivative, constant_params=("n",),
    samples=((1.0, 0.5), (1.0, 1e-5), (2.0, 0.0), (2.0, 1.25), (3.0, -0.75)))

entry("polygamma_difference", "n a b", "", None, lambda m, n, a, b, out: m.polygamma_difference(n + 1, a, b),
    lambda m, n, a, b, out: -m.polygamma(n + 1, a + b),
    definition=lambda m, n, a, b: m.polygamma(n, a) - m.polygamma(n, a + b), constant_params=("n",),
    samples=((0.0, 0.5, 0.5), (0.0, 1e10, 0.5), (1.0, 2.0, 3.0)))


def _beta_slope(m: Any, a: Number, b: Number) -> Number:
    """beta·(ψ(a) - ψ(a + b)); where a + b is 0, -1, -2, …, 1/Γ(a + b) is taken by reflection (DLMF 5.5.3, 5.5.4)."""
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
    """For each number the product of the others; not out/x, which has no value where an x is 0."""
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
    powers = [m.exp(x - largest) for x in xs]
    total = m.sum(*powers)
    return [power / total for power in powers]


def _softmax_weight(m: Any, x: Number, *xs: Number) -> Number:
    largest = m.max(*xs)
    return m.exp(x - largest) / m.sum(*[m.exp(v - largest) for v in xs])


def _unit_over_hypot(m: Any, x: Number, y: Number) -> Number:
    length = m.hypot(x, y)
    return x / length / length


helper("products_of_others", "*xs", _products_of_others, facts="vector infinite propagates_infinity")
helper("unit_vector", "*xs", _unit_vector, facts="vector")
helper("power_minus_one", "x y out", lambda m, x, y, out: x ** (y - 1), domain=POW.domain, facts="infinite")
helper("unit_over_hypot", "x y", lambda m, x, y: x / (x**2 + y**2), accurate=_unit_over_hypot, facts="infinite",
    domain="x and y are not both 0")
helper("softmax_weight", "x *xs", lambda m, x, *xs: m.exp(x - m.logsumexp(*xs)), accurate=_softmax_weight)
helper("softmax", "*xs", lambda m, *xs: [m.softmax_weight(x, *xs) for x in xs], accurate=_softmax, facts="vector")
helper("item", "xs")
helper("normal_distribution", "x", lambda m, x: m.erfc(-x / m.sqrt(2)) / 2)
helper("gamma_slope", "x out", lambda m, x, out: out * m.digamma(x), domain=NO_POLE, facts="infinite")
helper("beta_slope", "a b", lambda m, a, b: m.beta(a, b) * (m.digamma(a) - m.digamma(a + b)), accurate=_beta_slope,
    domain="a and b are not 0, -1, -2, …", facts="infinite")
helper("erfinv_slope", "x out", lambda m, x, out: m.sqrt(m.pi) / 2 * m.exp(out**2), domain="-1 < x < 1",
    facts="infinite")
