"""Independent values and partial derivatives of every function, by mpmath with 50 digits or more.

`REFERENCE[name](*inputs)` is the value and `REFERENCE_PARTIALS[name][k](*inputs)` the derivative in
the k-th input, or None where there is none (an order, say). A function of any number of inputs has
one entry, which returns the list of all its partials. Inputs are floats or mpf; results are mpf,
right to at least 50 digits, or to mpmath's precision if that is higher, so `mpmath.diff` works on
them. At kinks the partials follow the conventions of the language.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
from mpmath import mp, mpf

from autodiff_cli.engine.run.flat_graph import Graph
from autodiff_cli.engine.run.sweep import Activity, backward
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.engine.table.primitive import Primitive

Reference = Callable[..., Any]

REFERENCE: dict[str, Reference] = {}
REFERENCE_PARTIALS: dict[str, tuple[Reference | None, ...]] = {}

HALF = mpf("0.5")


def precise(function: Reference) -> Reference:
    """The function on exact mpf inputs with 40 guard digits on top of 50, or of mpmath's
    precision.
    """

    @functools.wraps(function)
    def guarded(*inputs: Any) -> Any:
        with mp.workdps(max(mp.dps, 50) + 40):
            return function(*map(mpmath.mpmathify, inputs))

    return guarded


def define(name: str, value: Reference, *partials: Reference | None) -> None:
    """Enter a function and its partial derivatives."""
    REFERENCE[name] = precise(value)
    if partials:
        REFERENCE_PARTIALS[name] = tuple(p and precise(p) for p in partials)


def beside_reference(
    m: Any, primitive: Primitive, inputs: Sequence[float]
) -> list[tuple[Any, Any]]:
    """The value of an operation and its partials, as a number type and the table have them, each
    with the reference.
    """
    numbers = [m.number(x) for x in inputs]
    ours = [getattr(m, primitive.name)(*numbers)]
    reference = [REFERENCE[primitive.name](*inputs)]
    partials = REFERENCE_PARTIALS[primitive.name]
    if primitive.variadic:
        assert partials[0] is not None
        reference += partials[0](*inputs)
    else:
        reference += [p(*inputs) for p in partials if p is not None]
    graph = Graph()
    graph.places = [None] * (len(inputs) + 1)
    graph.primitives = [VARIABLE] * len(inputs) + [primitive]
    graph.parents = [()] * len(inputs) + [tuple(range(len(inputs)))]
    graph.data = [*numbers, ours[0]]
    constant = {primitive.params.index(name) for name in primitive.constant_params}
    order = range(len(inputs) + 1)
    active = Activity(graph, m, order, [k for k in range(len(inputs)) if k not in constant])
    adjoints = backward(order, active, {len(inputs): m.number(1)})
    ours += [
        m.number(0) if adjoints[k] is None else adjoints[k] for k in range(len(inputs)) if active[k]
    ]
    return list(zip(ours, reference, strict=True))


def spread(inputs: tuple[Any, ...]) -> int:
    """How many digits apart the largest and the smallest non-zero input are, 1 included among
    them.
    """
    magnitudes = [int(mp.mag(x)) for x in (*inputs, 1) if x]
    return int((max(magnitudes) - min(magnitudes)) * 0.302) + 1


def with_spread(function: Reference) -> Reference:
    """The function with as many further digits as its inputs are apart, so that their sums are as
    good as exact.
    """

    def wide(*inputs: Any) -> Any:
        with mp.workdps(mp.dps + 2 * spread(inputs)):
            return function(*inputs)

    return wide


# ---- arithmetic ---------------------------------------------------------------------------------------------------
one = lambda *_: mpf(1)  # noqa: E731 - the table below is read as a table
zero = lambda *_: mpf(0)  # noqa: E731
define("add", with_spread(lambda x, y: x + y), one, one)
define("sub", with_spread(lambda x, y: x - y), one, lambda x, y: mpf(-1))
define("mul", lambda x, y: x * y, lambda x, y: y, lambda x, y: x)
define("div", lambda x, y: x / y, lambda x, y: 1 / y, lambda x, y: -x / y**2)
define("neg", lambda x: -x, lambda x: mpf(-1))


@with_spread
def power(x: Any, y: Any) -> Any:
    return mp.power(x, y) if x or y >= 0 else mp.inf


define(
    "pow",
    power,
    lambda x, y: mpf(0) if y == 0 else y * power(x, y - 1),
    lambda x, y: mpf(0) if x == 0 and y > 0 else power(x, y) * mp.log(x),
)
define("sqrt", mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)))


def cube_root(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


define("cbrt", cube_root, lambda x: 1 / (3 * cube_root(x) ** 2))
define("exp", mp.exp, mp.exp)
define("exp2", lambda x: mpf(2) ** x, lambda x: mpf(2) ** x * mp.log(2))
define("expm1", mp.expm1, mp.exp)
define("log", mp.log, lambda x: 1 / x)
define("log_base", lambda x, b: mp.log(x) / mp.log(b), lambda x, b: 1 / (x * mp.log(b)),
       lambda x, b: -mp.log(x) / (b * mp.log(b) ** 2))  # fmt: skip
define("log2", lambda x: mp.log(x) / mp.log(2), lambda x: 1 / (x * mp.log(2)))
define("log10", mp.log10, lambda x: 1 / (x * mp.log(10)))
define("log1p", mp.log1p, lambda x: 1 / (1 + x))
define("abs", abs, mp.sign)
define("sign", mp.sign, zero)
define("floor", mp.floor, zero)
define("ceil", mp.ceil, zero)
define("round", mp.nint, zero)
define("clamp", lambda x, low, high: max(low, min(x, high)),
       lambda x, low, high: mpf(low < x < high) + mpf(x in (low, high)) / 2,
       lambda x, low, high: mpf(x < low) + mpf(x == low) / 2,
       lambda x, low, high: mpf(x > high) + mpf(x == high) / 2)  # fmt: skip

# ---- trigonometric ------------------------------------------------------------------------------------------------
define("sin", mp.sin, mp.cos)
define("cos", mp.cos, lambda x: -mp.sin(x))
define("tan", mp.tan, lambda x: mp.sec(x) ** 2)
define("sec", mp.sec, lambda x: mp.sec(x) * mp.tan(x))
define("csc", mp.csc, lambda x: -mp.csc(x) * mp.cot(x))
define("cot", mp.cot, lambda x: -(mp.csc(x) ** 2))


@with_spread
def root_one_minus(x: Any) -> Any:
    return mp.sqrt(1 - x * x)


@with_spread
def root_minus_one(x: Any) -> Any:
    return mp.sqrt(x * x - 1)


@with_spread
def root_one_plus(x: Any) -> Any:
    return mp.sqrt(1 + x * x)


define("asin", mp.asin, lambda x: 1 / root_one_minus(x))
define("acos", mp.acos, lambda x: -1 / root_one_minus(x))
define("atan", mp.atan, lambda x: 1 / root_one_plus(x) ** 2)
define(
    "atan2",
    mp.atan2,
    with_spread(lambda y, x: x / (x * x + y * y)),
    with_spread(lambda y, x: -y / (x * x + y * y)),
)
define("asec", lambda x: mp.acos(1 / x), lambda x: 1 / (abs(x) * root_minus_one(x)))
define("acsc", lambda x: mp.asin(1 / x), lambda x: -1 / (abs(x) * root_minus_one(x)))
define("acot", lambda x: mp.atan(1 / x), lambda x: -1 / root_one_plus(x) ** 2)
define("deg", lambda x: x * 180 / mp.pi, lambda x: 180 / mp.pi)
define("rad", lambda x: x * mp.pi / 180, lambda x: mp.pi / 180)


@with_spread
def sinc_derivative(order: Any, x: Any) -> Any:
    """The n-th derivative of ∫₀¹ cos(πxt) dt, which is a moment of a sine or a cosine: a ₁F₂ (DLMF
    16.5.2).
    """
    n = int(order)
    z = mp.pi * x
    if n % 2:
        moment = z * mp.hyp1f2(mpf(n + 2) / 2, 1.5, mpf(n + 4) / 2, -z * z / 4) / (n + 2)
        return mp.pi**n * (-1) ** ((n + 1) // 2) * moment
    moment = mp.hyp1f2(mpf(n + 1) / 2, HALF, mpf(n + 3) / 2, -z * z / 4) / (n + 1)
    return mp.pi**n * (-1) ** (n // 2) * moment


def sine_quotient(order: Any, x: Any) -> Any:
    """The n-th derivative of sin(x)/x."""
    return sinc_derivative(order, x / mp.pi) / mp.pi ** int(order)


define(
    "sinc", lambda x: mp.sinpi(x) / (mp.pi * x) if x else mpf(1), lambda x: sinc_derivative(1, x)
)

# ---- hyperbolic ---------------------------------------------------------------------------------------------------
define("sinh", mp.sinh, mp.cosh)
define("cosh", mp.cosh, mp.sinh)
define("tanh", mp.tanh, lambda x: mp.sech(x) ** 2)
define("sech", mp.sech, lambda x: -mp.sech(x) * mp.tanh(x))
define("csch", mp.csch, lambda x: -mp.csch(x) * mp.coth(x))
define("coth", mp.coth, lambda x: -(mp.csch(x) ** 2))
define("asinh", mp.asinh, lambda x: 1 / root_one_plus(x))
define("acosh", mp.acosh, lambda x: 1 / root_minus_one(x))
define("atanh", mp.atanh, lambda x: 1 / root_one_minus(x) ** 2)
define("asech", lambda x: mp.acosh(1 / x), lambda x: -1 / (x * root_one_minus(x)))
define("acsch", lambda x: mp.asinh(1 / x), lambda x: -1 / (abs(x) * root_one_plus(x)))
define("acoth", lambda x: mp.atanh(1 / x), lambda x: -1 / root_minus_one(x) ** 2)

# ---- machine learning ---------------------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def normal_density(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def complementary_error_function(x: Any) -> Any:
    return mp.erfc(x) if x < 1e6 else mpf(0)  # mpmath's own overflows from 1e154 on


def normal_distribution(x: Any) -> Any:
    return complementary_error_function(-x / mp.sqrt(2)) / 2


def silu_slope(x: Any) -> Any:
    return sigmoid(x) * (1 + x * sigmoid(-x))


@with_spread
def log_sum_exp(*xs: Any) -> Any:
    largest = max(xs)
    rest = list(xs)
    rest.remove(largest)
    return largest + mp.log1p(mp.fsum(mp.exp(x - largest) for x in rest))


@with_spread
def softmax_weight(x: Any, *xs: Any) -> Any:
    return 1 / mp.fsum(mp.exp(other - x) for other in xs)


define("relu", lambda x: max(x, mpf(0)), lambda x: mpf(x > 0))
define("leaky_relu", lambda x, slope: x if x > 0 else slope * x, lambda x, slope: mpf(1) if x > 0 else slope,
       lambda x, slope: min(x, mpf(0)))  # fmt: skip
define("elu", lambda x, alpha: x if x > 0 else alpha * mp.expm1(x), lambda x, alpha: 1 if x > 0 else alpha * mp.exp(x),
       lambda x, alpha: mpf(0) if x > 0 else mp.expm1(x))  # fmt: skip
define(
    "gelu",
    lambda x: x * normal_distribution(x),
    lambda x: normal_distribution(x) + x * normal_density(x),
)
define("silu", lambda x: x * sigmoid(x), silu_slope)
define("sigmoid", sigmoid, lambda x: sigmoid(x) * sigmoid(-x))
define("softplus", lambda x: log_sum_exp(x, mpf(0)), sigmoid)
define("softsign", lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2)
define(
    "logaddexp",
    log_sum_exp,
    lambda x, y: softmax_weight(x, x, y),
    lambda x, y: softmax_weight(y, x, y),
)
define("logit", lambda x: mp.log(x) - mp.log1p(-x), lambda x: 1 / (x * (1 - x)))
define("heaviside", lambda x: (1 + mp.sign(x)) / 2, zero)

# ---- special ------------------------------------------------------------------------------------------------------


def scaled_complementary_error_function(order: Any, x: Any) -> Any:
    """The n-th derivative of exp(x²)·erfc(x)."""
    n = int(order)
    if x > 1e20:  # the first two terms of an asymptotic series: the next is smaller by 1e-80
        return (
            (-1) ** n
            * mp.factorial(n)
            / mp.sqrt(mp.pi)
            / x ** (n + 1)
            * (1 - mpf((n + 1) * (n + 2)) / (4 * x * x))
        )
    # the recurrence of the derivatives, with as many further digits as cancel
    with mp.workdps(mp.dps + 2 * (n + 1) * (spread((x,)) + 1)):
        value, before = (
            mp.exp(x * x) * mp.erfc(x) if abs(x) < 1e4 else _far_erfcx(x),
            2 / mp.sqrt(mp.pi),
        )
        for k in range(n):
            value, before = 2 * x * value + (2 * k * before if k else -before), value
        return value


def _far_erfcx(x: Any) -> Any:
    if x < 0:
        return mp.inf
    total = term = mpf(1)
    k = 0
    while abs(term) > mp.eps:
        k += 1
        term *= -mpf(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * mp.sqrt(mp.pi))


def normal_quantile(p: Any) -> Any:
    """The zero of the logarithm of the distribution function, by Newton's steps."""
    tail = min(p, 1 - p)
    x = (
        mp.sqrt(-2 * mp.log(2 * tail))
        if tail < mpf("0.1")
        else (mpf("0.5") - tail) * mp.sqrt(2 * mp.pi)
    )
    for _ in range(200):
        below = mp.erfc(x / mp.sqrt(2)) / 2
        step = mp.log(below / tail) * below / normal_density(x)
        x += step
        if abs(step) < mpf(10) ** (5 - mp.dps):
            break
    return x if p > HALF else -x


def lambert(x: Any, k: Any = 0) -> Any:
    return mp.re(mp.lambertw(x, int(k)))


def lambert_slope(x: Any, w: Any) -> Any:
    return mpf(1) if x == 0 else w / (x * (1 + w))


def error_function_slope(x: Any) -> Any:
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


def inverse_error_function_slope(x: Any) -> Any:
    return 1 / error_function_slope(mp.erfinv(x))


def log_gamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x))


@with_spread
def beta(a: Any, b: Any) -> Any:
    return mp.beta(a, b)


@with_spread
def polygamma_difference(order: Any, a: Any, b: Any) -> Any:
    return mp.psi(int(order), a) - mp.psi(int(order), a + b)


def polygamma(order: Any, x: Any) -> Any:
    return mp.psi(int(order), x)


define("erf", mp.erf, error_function_slope)
define("erfc", complementary_error_function, lambda x: -error_function_slope(x))
define("erfinv", mp.erfinv, inverse_error_function_slope)
define("erfcx", lambda x: scaled_complementary_error_function(0, x),
       lambda x: scaled_complementary_error_function(1, x))  # fmt: skip
define("normpdf", normal_density, lambda x: -x * normal_density(x))
define("normcdf", normal_distribution, normal_density)
define("norminv", normal_quantile, lambda p: 1 / normal_density(normal_quantile(p)))
define("erfi", mp.erfi, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(x * x))
define("Si", mp.si, lambda x: sine_quotient(0, x))
define("Ci", with_spread(mp.ci), lambda x: mp.cos(x) / x)
define("Ei", with_spread(mp.ei), lambda x: mp.exp(x) / x)
define("li", with_spread(mp.li), lambda x: 1 / mp.log(x))
define("fresnels", mp.fresnels, lambda x: mp.sin(mp.pi * x * x / 2))
define("fresnelc", mp.fresnelc, lambda x: mp.cos(mp.pi * x * x / 2))
define("sine_quotient", sine_quotient, None, lambda n, x: sine_quotient(n + 1, x))
define("lambertw", lambert, lambda x: lambert_slope(x, lambert(x)))
define("lambertw_branch", lambert, lambda x, k: lambert_slope(x, lambert(x, k)), None)


@with_spread
def standardized(x: Any, mu: Any, sigma: Any) -> Any:
    return (x - mu) / sigma


def scaled_density(x: Any, mu: Any, sigma: Any) -> Any:
    return normal_density(standardized(x, mu, sigma)) / sigma


define("normpdf_scaled", scaled_density,
       lambda x, mu, sigma: -standardized(x, mu, sigma) * scaled_density(x, mu, sigma) / sigma,
       lambda x, mu, sigma: standardized(x, mu, sigma) * scaled_density(x, mu, sigma) / sigma,
       lambda x, mu, sigma: (standardized(x, mu, sigma) ** 2 - 1) * scaled_density(x, mu, sigma) / sigma)  # fmt: skip
define("normcdf_scaled", lambda x, mu, sigma: normal_distribution(standardized(x, mu, sigma)), scaled_density,
       lambda x, mu, sigma: -scaled_density(x, mu, sigma),
       lambda x, mu, sigma: -standardized(x, mu, sigma) * scaled_density(x, mu, sigma))  # fmt: skip
define("norminv_scaled", with_spread(lambda p, mu, sigma: mu + sigma * normal_quantile(p)),
       lambda p, mu, sigma: sigma / normal_density(normal_quantile(p)), one,
       lambda p, mu, sigma: normal_quantile(p))  # fmt: skip
define("gamma", mp.gamma, lambda x: mp.gamma(x) * mp.digamma(x))
define("lgamma", log_gamma, mp.digamma)
define("digamma", mp.digamma, lambda x: polygamma(1, x))
define("trigamma", lambda x: polygamma(1, x), lambda x: polygamma(2, x))
define("polygamma", polygamma, None, lambda order, x: polygamma(order + 1, x))
define("beta", beta, lambda a, b: beta(a, b) * polygamma_difference(0, a, b),
       lambda a, b: beta(a, b) * polygamma_difference(0, b, a))  # fmt: skip

# ---- aggregates ---------------------------------------------------------------------------------------------------


def products_of_others(*xs: Any) -> list[Any]:
    return [mp.fprod(xs[:k] + xs[k + 1 :]) for k in range(len(xs))]


def even_split(choose: Reference) -> Reference:
    def split(*xs: Any) -> list[Any]:
        chosen = choose(xs)
        return [mpf(x == chosen) / xs.count(chosen) for x in xs]

    return split


@with_spread
def length(*xs: Any) -> Any:
    return mp.sqrt(mp.fsum(x * x for x in xs))


define("sum", with_spread(lambda *xs: mp.fsum(xs)), lambda *xs: [mpf(1)] * len(xs))
define(
    "mean", with_spread(lambda *xs: mp.fsum(xs) / len(xs)), lambda *xs: [mpf(1) / len(xs)] * len(xs)
)
define("prod", lambda *xs: mp.fprod(xs), products_of_others)
define("min", lambda *xs: min(xs), even_split(min))
define("max", lambda *xs: max(xs), even_split(max))
define("hypot", length, lambda *xs: [x / length(*xs) if any(xs) else mpf(0) for x in xs])
define("logsumexp", log_sum_exp, lambda *xs: [softmax_weight(x, *xs) for x in xs])


# ---- the incomplete gamma function, as an integral
def gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def upper_gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, regularized=True)


def lower_gamma(a: Any, x: Any) -> Any:
    return 1 - upper_gamma(a, x) if x > a else mp.gammainc(a, 0, x, regularized=True)


def by_arguments(function: Reference, orders: Sequence[int], arguments: Sequence[Any]) -> Any:
    """A derivative by difference quotients with several times the digits."""
    return (
        mp.diff(function, tuple(arguments), tuple(orders)) if any(orders) else function(*arguments)
    )


def lower_gamma_by_a(n: Any, a: Any, x: Any) -> Any:
    return by_arguments(lambda c: mp.gammainc(c, 0, x, regularized=True), (int(n),), (a,))


def gamma_density_by(n: Any, k: Any, a: Any, x: Any) -> Any:
    return by_arguments(gamma_density, (int(n), int(k)), (a, x))


define("gamma_density", gamma_density, lambda a, x: gamma_density(a, x) * (mp.log(x) - mp.digamma(a)),
       lambda a, x: gamma_density(a, x) * ((a - 1) / x - 1))  # fmt: skip
define("gammainc", lower_gamma, lambda a, x: lower_gamma_by_a(1, a, x), gamma_density)
define(
    "gammaincc",
    upper_gamma,
    lambda a, x: -lower_gamma_by_a(1, a, x),
    lambda a, x: -gamma_density(a, x),
)
define("gammainc_derivative", lower_gamma_by_a, None, lambda n, a, x: lower_gamma_by_a(n + 1, a, x),
       lambda n, a, x: gamma_density_by(n, 0, a, x))  # fmt: skip
define("gamma_density_derivative", gamma_density_by, None, None, lambda n, k, a, x: gamma_density_by(n + 1, k, a, x),
       lambda n, k, a, x: gamma_density_by(n, k + 1, a, x))  # fmt: skip


# ---- the incomplete beta function, as an integral
def beta_density(a: Any, b: Any, x: Any) -> Any:
    return mp.exp(
        (a - 1) * mp.log(x)
        + (b - 1) * mp.log(1 - x)
        - mp.loggamma(a)
        - mp.loggamma(b)
        + mp.loggamma(a + b)
    )


def lower_beta(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def lower_beta_by(i: Any, j: Any, a: Any, b: Any, x: Any) -> Any:
    return by_arguments(lambda c, d: lower_beta(c, d, x), (int(i), int(j)), (a, b))


def beta_density_by(i: Any, j: Any, k: Any, a: Any, b: Any, x: Any) -> Any:
    def by_x(c: Any, d: Any) -> Any:
        # the product rule for x^(c - 1) and (1 - x)^(d - 1)
        powers = [mp.binomial(k, n) * mp.ff(c - 1, n) * mp.ff(d - 1, k - n) * (-1 / (1 - x)) ** (k - n) / x**n
                  for n in range(int(k) + 1)]  # fmt: skip
        return beta_density(c, d, x) * mp.fsum(powers)

    return by_arguments(by_x, (int(i), int(j)), (a, b))


define("beta_density", beta_density, lambda a, b, x: beta_density_by(1, 0, 0, a, b, x),
       lambda a, b, x: beta_density_by(0, 1, 0, a, b, x),
       lambda a, b, x: beta_density_by(0, 0, 1, a, b, x))  # fmt: skip
define("beta_density_derivative", beta_density_by, None, None, None,
       lambda i, j, k, a, b, x: beta_density_by(i + 1, j, k, a, b, x),
       lambda i, j, k, a, b, x: beta_density_by(i, j + 1, k, a, b, x),
       lambda i, j, k, a, b, x: beta_density_by(i, j, k + 1, a, b, x))  # fmt: skip
define("betainc", lower_beta, lambda a, b, x: lower_beta_by(1, 0, a, b, x),
       lambda a, b, x: lower_beta_by(0, 1, a, b, x), beta_density)  # fmt: skip
define("betainc_derivative", lower_beta_by, None, None, lambda i, j, a, b, x: lower_beta_by(i + 1, j, a, b, x),
       lambda i, j, a, b, x: lower_beta_by(i, j + 1, a, b, x),
       lambda i, j, a, b, x: beta_density_by(i, j, 0, a, b, x))  # fmt: skip


# ---- the zeta function, by Euler-Maclaurin summation at every number
def zeta(order: Any, s: Any) -> Any:
    with mp.workdps(2 * mp.dps + 2 * int(abs(s))):
        return mp.zeta(s, 1, int(order))


define("zeta", lambda s: zeta(0, s), lambda s: zeta(1, s))
define("zeta_derivative", zeta, None, lambda n, s: zeta(n + 1, s))


# ---- Bessel functions
def define_bessel(kind: str, below: int, above: int) -> None:
    """Enter one, its derivatives by the order, and that by the argument."""
    own = getattr(mp, f"bessel{kind}")

    def function(nu: Any, x: Any) -> Any:
        # of K at a large argument some of its digits are lost
        with mp.extradps(20):
            return own(nu, x)

    def by(n: Any, nu: Any, x: Any) -> Any:
        return by_arguments(lambda order: function(order, x), (int(n),), (nu,))

    def slope(n: Any, nu: Any, x: Any) -> Any:
        return (below * by(n, nu - 1, x) + above * by(n, nu + 1, x)) / 2

    define(f"bessel{kind}", function, lambda nu, x: by(1, nu, x), lambda nu, x: slope(0, nu, x))
    define(f"bessel{kind}_slope", lambda nu, x: slope(0, nu, x))
    define(f"bessel{kind}_derivative", by, None, lambda n, nu, x: by(n + 1, nu, x), slope)


for arguments in (("j", 1, -1), ("y", 1, -1), ("i", 1, 1), ("k", -1, -1)):
    define_bessel(*arguments)


# ---- the Faddeeva function, by its definition and the recurrence of its derivatives
def faddeeva(n: Any, x: Any, y: Any) -> Any:
    with mp.workdps(3 * mp.dps):
        z = mp.mpc(x, y)
        value, before = (
            mp.exp(-z * z) * mp.erfc(mp.mpc(z.imag, -z.real)),
            mp.mpc(0, -1 / mp.sqrt(mp.pi)),
        )
        for k in range(int(n)):
            value, before = -2 * (z * value + max(k, 1) * before), value
        return value


for kind in ("re", "im"):
    real = kind == "re"
    define(f"faddeeva_{kind}", lambda n, x, y, k=real: faddeeva(n, x, y).real if k else faddeeva(n, x, y).imag, None,
           lambda n, x, y, k=real: faddeeva(n + 1, x, y).real if k else faddeeva(n + 1, x, y).imag,
           lambda n, x, y, k=real: -faddeeva(n + 1, x, y).imag if k else faddeeva(n + 1, x, y).real)  # fmt: skip

# ---- what derivative rules use ------------------------------------------------------------------------------------
define("exp_neg_square", lambda x: mp.exp(-x * x), lambda x: -2 * x * mp.exp(-x * x))
define("normcdf_by_sigma", lambda x, mu, sigma: -(x - mu) / sigma * scaled_density(x, mu, sigma))
define(
    "normpdf_by_mu", lambda x, mu, sigma: (x - mu) / sigma * scaled_density(x, mu, sigma) / sigma
)
define(
    "normpdf_by_sigma",
    with_spread(
        lambda x, mu, sigma: (((x - mu) / sigma) ** 2 - 1) * scaled_density(x, mu, sigma) / sigma
    ),
)
define("erfcx_derivative", scaled_complementary_error_function, None,
       lambda n, x: scaled_complementary_error_function(n + 1, x))  # fmt: skip
define("norminv_slope", lambda p, out: 1 / normal_density(normal_quantile(p)))
define("lambertw_slope", lambda x, out: lambert_slope(x, lambert(x, 0 if out >= -1 else -1)))
define("lambertw_minus_one", lambda x: lambert(x, -1), lambda x: lambert_slope(x, lambert(x, -1)))
define(
    "recip_one_plus_square",
    lambda x: 1 / root_one_plus(x) ** 2,
    lambda x: -2 * x / root_one_plus(x) ** 4,
)
define(
    "recip_one_minus_square",
    with_spread(lambda x: 1 / (1 - x * x)),
    with_spread(lambda x: 2 * x / (1 - x * x) ** 2),
)
define(
    "recip_sqrt_one_minus_square",
    lambda x: 1 / root_one_minus(x),
    lambda x: x / root_one_minus(x) ** 3,
)
define(
    "recip_sqrt_one_plus_square",
    lambda x: 1 / root_one_plus(x),
    lambda x: -x / root_one_plus(x) ** 3,
)
define(
    "recip_sqrt_square_minus_one",
    lambda x: 1 / root_minus_one(x),
    lambda x: -x / root_minus_one(x) ** 3,
)
define(
    "sigmoid_slope",
    lambda x: sigmoid(x) * sigmoid(-x),
    lambda x: -sigmoid(x) * sigmoid(-x) * mp.tanh(x / 2),
)
define("sech_square", lambda x: mp.sech(x) ** 2, lambda x: -2 * mp.sech(x) ** 2 * mp.tanh(x))
define("csch_square", lambda x: mp.csch(x) ** 2, lambda x: -2 * mp.csch(x) ** 2 * mp.coth(x))
define("sinc_derivative", sinc_derivative, None, lambda order, x: sinc_derivative(order + 1, x))
define(
    "gelu_slope",
    lambda x: normal_distribution(x) + x * normal_density(x),
    lambda x: (2 - x * x) * normal_density(x),
)
define(
    "silu_slope",
    silu_slope,
    lambda x: sigmoid(x) * sigmoid(-x) * (2 + x * (sigmoid(-x) - sigmoid(x))),
)
define("power_minus_one", lambda x, y, out: with_spread(lambda a, b: power(a, b - 1))(x, y))
define("erfinv_slope", lambda x, out: inverse_error_function_slope(x))
define("polygamma_difference", polygamma_difference, None,
       lambda order, a, b: polygamma_difference(order + 1, a, b),
       lambda order, a, b: -polygamma(order + 1, a + b))  # fmt: skip
define("exp_difference", lambda x, y: mp.exp(x - y))
define("softmax_weight", softmax_weight)
define("unit_over_hypot", with_spread(lambda x, y: x / (x * x + y * y)),
       with_spread(lambda x, y: (y * y - x * x) / (x * x + y * y) ** 2),
       with_spread(lambda x, y: -2 * x * y / (x * x + y * y) ** 2))  # fmt: skip
define("gamma_slope", lambda x, out: mp.gamma(x) * mp.digamma(x))


@with_spread
def beta_slope(a: Any, b: Any) -> Any:
    total = a + b
    if total <= 0 and mp.isint(total):  # 1/Γ is 0 at -n, and rises there by (-1)^n·n!
        return mp.gamma(a) * mp.gamma(b) * (-1) ** int(total) * mp.factorial(-total)
    return beta(a, b) * polygamma_difference(0, a, b)


define("beta_slope", beta_slope)
define("softmax", lambda *xs: [softmax_weight(x, *xs) for x in xs])
define("unit_vector", lambda *xs: [x / length(*xs) for x in xs])
define("products_of_others", products_of_others)
