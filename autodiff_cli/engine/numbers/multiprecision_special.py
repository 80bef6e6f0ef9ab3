"""Special functions of several arguments, with derivatives by all of them, in multiprecision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..table.primitive import DEFINITIONS
from ..table.primitives import functions_of
from . import budget
from .base import Number, undecided, whole_order
from .parameter_series import (
    Coefficients,
    Linear,
    TermFunctions,
    bessel_derivative,
    beta_density_at_zero,
    beta_first_term,
    beta_series,
    beta_sum,
    gamma_density_at_zero,
    gamma_first_term,
    hypergeometric_sum,
    zeta_reflection,
)

# How many of the last bits two computations with different precisions may differ in.
TOLERATED_BITS = 32

# A derivative whose digits still cancel with so many further bits is not told from 0.
MOST_EXTRA_BITS = 60_000

# The work of a step of a continued fraction, in microseconds.
STEP_OF_FRACTION = 12

# Bessel functions of larger orders are not computed: sums would take minutes.
MAX_ORDER = 1000

# Below, the integral of K is longer than its series.
LEAST_FOR_INTEGRAL = 1

# The work of a Bessel function for each unit of its argument, in microseconds, if it is a series.
STEP_OF_BESSEL = 5

# Below, ζ(s) is reflected to ζ(1 - s): sums lose digits there.
ZETA_LEFT_END = -1

# |ζ(s)| is above 1e50000 below, but for its zeros, and so overflows.
MIN_ZETA_INPUT = -20_000

# The power of 2 underflows above.
MAX_ZETA_INPUT = 200_000

TERMS_AT_A_TIME = 16
# The work of a term of a sum of integers, in microseconds.
STEP_OF_INTEGERS = 0.5


def _functions(m: Any) -> TermFunctions:
    return TermFunctions(m.context.ln, m.context.exp, m.context.loggamma, m.polygamma)


def settled(m: Any, compute: Callable[[], Number], extra: int = 64) -> Number:
    """Return a number that is computed with more and more bits, until two results agree."""
    context, before = m.context, None
    while extra < MOST_EXTRA_BITS:
        with context.extraprec(extra):
            value = compute()
            if before is not None and _agree(
                context, value, before, context.prec - extra - TOLERATED_BITS
            ):
                return value
        before, extra = value, 2 * extra
    raise undecided("cannot determine whether this number is 0")


def _agree(context: Any, x: Number, y: Number, bits: int) -> bool:
    return bool(x == y or context.mag(x - y) <= context.mag(x) - bits)


def _complement(m: Any, compute: Callable[[], Number], extra: int = 0) -> Number:
    """Return 1 - y, with as many further bits as cancel."""
    context = m.context
    while extra < MOST_EXTRA_BITS:
        with context.extraprec(extra):
            value = 1 - compute()
            if value and context.mag(value) >= -extra - TOLERATED_BITS // 2:
                return value
        extra = 2 * extra + 64
    return m.underflow()


def _enough(m: Any) -> Callable[[Coefficients, Coefficients], Coefficients | None]:
    context = m.context

    def enough(total: Coefficients, bound: Coefficients) -> Coefficients | None:
        largest = max([abs(c) for row in total for c in row])
        rest = max([c for row in bound for c in row])
        return total if rest <= context.ldexp(largest, -context.prec) else None

    return enough


def _size(context: Any, *numbers: Number) -> int:
    """Return the bits before the point of the largest number."""
    return max([0, *[int(context.mag(x)) for x in numbers if x]])


# ---- the incomplete gamma function
def _gamma_term(m: Any, a: Number, x: Number, count: int = 1) -> Coefficients:
    context = m.context
    m._charge("gamma")
    with context.extraprec(_size(context, a * context.ln(x), x) + 16):
        return gamma_first_term(_functions(m), a, x, count)


def _gamma_density(m: Any, a: Number, x: Number) -> Number:
    return a * _gamma_term(m, a, x)[0][0] / x if x else gamma_density_at_zero(0, 0, a)


def _gamma_density_derivative(m: Any, n: Number, k: Number, a: Number, x: Number) -> Number:
    if x == 0:
        return gamma_density_at_zero(whole_order(float(n)), whole_order(float(k)), a)
    return settled(m, lambda: DEFINITIONS["gamma_density_derivative"](m, n, k, a, x))


def _by_series(m: Any, x: Number, a: Number) -> bool:
    return bool(x <= a + 1 or x < m.context.prec)


def _gammainc(m: Any, a: Number, x: Number) -> Number:
    if x == 0:
        return 0
    return _lower_gamma(m, a, x) if _by_series(m, x, a) else 1 - _upper_gamma(m, a, x)


def _gammaincc(m: Any, a: Number, x: Number) -> Number:
    if x == 0:
        return 1
    if not _by_series(m, x, a):
        return _upper_gamma(m, a, x)
    # the complement is about exp(-x) where x is large
    return _complement(m, lambda: _lower_gamma(m, a, x), int(1.5 * x) if x > a + 1 else 0)


def _lower_gamma(m: Any, a: Number, x: Number) -> Number:
    # DLMF 8.7.1, in integers of 2**-bits: terms are positive, and counted from the first
    context = m.context
    bits = context.prec + 32 + max(0, context.mag(x))
    factor, below = x.to_fixed(bits), a.to_fixed(bits)
    unit = total = term = 1 << bits
    while term:
        budget.charge(TERMS_AT_A_TIME * STEP_OF_INTEGERS)
        for _ in range(TERMS_AT_A_TIME):
            below += unit
            term = term * factor // below
            total += term
    return context.ldexp(total, -bits) * _gamma_term(m, a, x)[0][0]


def _lower_gamma_slope(m: Any, a: Number, x: Number, extra: int) -> Number:
    """Return the derivative of the series by a, with as many further bits as cancel."""
    context = m.context
    while extra < MOST_EXTRA_BITS:
        with context.extraprec(extra):
            total, slopes = _lower_gamma_sums(m, a, x)
            rising, falling = total * (context.ln(x) - m.polygamma(0, a + 1)), slopes
            value = rising - falling
            if value and context.mag(value) >= context.mag(falling) - extra + TOLERATED_BITS:
                return value * _gamma_term(m, a, x)[0][0]
        extra *= 2
    raise undecided("cannot determine whether this number is 0")


def _lower_gamma_sums(m: Any, a: Number, x: Number) -> tuple[Number, Number]:
    """Return Σ t and Σ t·h of the terms t = x^k/((a + 1)·…·(a + k)), where h is 1/(a + 1) + … +
    1/(a + k).
    """
    context = m.context
    bits = context.prec + 32 + max(0, context.mag(x))
    factor, below = x.to_fixed(bits), a.to_fixed(bits)
    unit = total = term = 1 << bits
    square, harmonic, slopes = unit * unit, 0, 0
    while term:
        budget.charge(3 * TERMS_AT_A_TIME * STEP_OF_INTEGERS)
        for _ in range(TERMS_AT_A_TIME):
            below += unit
            term = term * factor // below
            harmonic += square // below
            total += term
            slopes += term * harmonic >> bits
    return context.ldexp(total, -bits), context.ldexp(slopes, -bits)


def _lower_gamma_series(m: Any, a: Number, x: Number, count: int) -> Coefficients:
    return hypergeometric_sum(_gamma_term(m, a, x, count), x, (), (Linear(a + 1, 1),), _enough(m))


def _upper_gamma(m: Any, a: Number, x: Number) -> Number:
    # DLMF 8.9.2
    fraction = _continued_fraction(m, x + 1 - a, lambda k: (-k * (k - a), x + 2 * k + 1 - a))
    return a * _gamma_term(m, a, x)[0][0] / fraction


def _continued_fraction(
    m: Any, start: Number, part: Callable[[int], tuple[Number, Number]]
) -> Number:
    """Return start + n₁/(d₁ + n₂/(d₂ + …)) by the modified Lentz algorithm (Numerical Recipes
    5.2).
    """
    context = m.context
    end = context.ldexp(1, -context.prec)
    tiny = context.ldexp(1, -4 * context.prec)
    value = above = start or tiny
    below, k = context.zero, 0
    while True:
        k += 1
        budget.charge(STEP_OF_FRACTION)
        numerator, denominator = part(k)
        below = 1 / (denominator + numerator * below or tiny)
        above = denominator + numerator / above or tiny
        change = above * below
        value *= change
        if abs(change - 1) <= end:
            return value


def _gammainc_derivative(m: Any, n: Number, a: Number, x: Number) -> Number:
    order = whole_order(float(n))
    if order == 0 or x == 0:
        return _gammainc(m, a, x)
    lost = 0 if x <= a else int(1.5 * float(min(x, 1e9)))
    if order == 1:
        return _lower_gamma_slope(m, a, x, 64 + lost)
    coefficient = settled(m, lambda: _lower_gamma_series(m, a, x, order + 1)[order][0], 64 + lost)
    return coefficient * math.factorial(order)


# ---- the incomplete beta function
def _beta_sizes(
    m: Any, a: Number, b: Number, x: Number
) -> tuple[Number, tuple[Number, Number], int]:
    """Return 1 - x, the logarithms of x and 1 - x, and the bits before the point of what is
    multiplied with them.
    """
    context = m.context
    logs = context.ln(x), context.log1p(-x)
    return context.fsub(1, x, exact=True), logs, _size(context, a * logs[0], b * logs[1], a, b) + 16


def _beta_term(
    m: Any, a: Number, b: Number, x: Number, orders: tuple[int, int] = (0, 0)
) -> Coefficients:
    context = m.context
    m._charge("gamma")
    *_, extra = _beta_sizes(m, a, b, x)
    with context.extraprec(extra):
        _, logs, _ = _beta_sizes(m, a, b, x)
        return beta_first_term(_functions(m), a, b, logs, orders)


def _beta_density(m: Any, a: Number, b: Number, x: Number) -> Number:
    if x in (0, 1):
        return _beta_density_at_end(0, 0, 0, a, b, x)
    return a * _beta_term(m, a, b, x)[0][0] / (x * m.context.fsub(1, x, exact=True))


def _beta_density_derivative(
    m: Any, i: Number, j: Number, k: Number, a: Number, b: Number, x: Number
) -> Number:
    if x in (0, 1):
        by_a, by_b, by_x = (whole_order(float(n)) for n in (i, j, k))
        return _beta_density_at_end(by_a, by_b, by_x, a, b, x)
    return settled(m, lambda: DEFINITIONS["beta_density_derivative"](m, i, j, k, a, b, x))


def _beta_density_at_end(i: int, j: int, k: int, a: Number, b: Number, x: Number) -> Number:
    if x == 0:
        return beta_density_at_zero(i, j, k, a, b)
    value = beta_density_at_zero(j, i, k, b, a)
    return -value if k % 2 else value


def _betainc(m: Any, a: Number, b: Number, x: Number) -> Number:
    if x in (0, 1):
        return x
    if x * (a + b + 2) <= a + 1:
        return _lower_beta(m, a, b, x)
    rest = m.context.fsub(1, x, exact=True)
    return _complement(m, lambda: _lower_beta(m, b, a, rest))


def _lower_beta(m: Any, a: Number, b: Number, x: Number) -> Number:
    # DLMF 8.17.22, from its even part: the fraction converges below the mean
    def part(k: int) -> tuple[Number, Number]:
        half = k // 2
        if k % 2:
            return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1)), 1
        return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half)), 1

    with m.context.extraprec(_size(m.context, a, b) + 16):
        fraction = _continued_fraction(m, m.context.one, part)
    return _beta_term(m, a, b, x)[0][0] / fraction


def _betainc_derivative(m: Any, i: Number, j: Number, a: Number, b: Number, x: Number) -> Number:
    by_a, by_b = whole_order(float(i)), whole_order(float(j))
    if by_a == by_b == 0:
        return _betainc(m, a, b, x)
    if x in (0, 1):
        return 0
    rest = m.context.fsub(1, x, exact=True)
    series = beta_series(a, b, x, rest, m.context.prec)
    if series.mirrored:
        return -_beta_sum(m, (by_b, by_a), b, a, rest, series.lost)
    return _beta_sum(m, (by_a, by_b), a, b, x, series.lost)


def _beta_sum(
    m: Any, orders: tuple[int, int], a: Number, b: Number, x: Number, lost: int
) -> Number:
    by_a, by_b = orders

    def coefficient() -> Number:
        return beta_sum(_beta_term(m, a, b, x, orders), a, b, x, _enough(m))[by_a][by_b]

    return settled(m, coefficient, 64 + lost) * math.factorial(by_a) * math.factorial(by_b)


# ---- the zeta function
def _zeta(m: Any, s: Number) -> Number:
    return _zeta_derivative(m, 0, s)


def _zeta_derivative(m: Any, n: Number, s: Number) -> Number:
    order, context = whole_order(float(n)), m.context
    # 4**-s is below 2**-s by 2**-s, and its factor log(4)**n larger by 2**n
    if s > context.prec + 2 * order + 16:
        return _zeta_far(m, order, s)
    if s >= ZETA_LEFT_END:
        return context.zeta(s, 1, order)
    if s < MIN_ZETA_INPUT:
        raise OverflowError("too large")
    x = 1 - s
    with context.extraprec(_size(context, x) + 16):

        def coefficient() -> Number:
            waves = context.sinpi(s / 2), context.cospi(s / 2), context.pi
            zetas = [context.zeta(x, 1, k) / math.factorial(k) for k in range(order + 1)]
            return zeta_reflection(_functions(m), s, waves, zetas)

        return (settled(m, coefficient) if order else coefficient()) * math.factorial(order)


def _zeta_far(m: Any, order: int, s: Number) -> Number:
    """Return the sum of the powers of 1 … 3, of which the last is beyond the digits of the
    others.
    """
    if s > MAX_ZETA_INPUT:
        return m.underflow() if order else 1
    return sum(
        [(-m.context.ln(k)) ** order * m.context.power(k, -s) for k in (1, 2, 3)][order > 0 :]
    )


# ---- Bessel functions
def _first_kind(m: Any, name: str, nu: Number, x: Number) -> Number:
    _check_order(nu)
    whole = m.context.isint(nu)
    if x < 0 and not whole:
        raise ValueError("a negative number to a power that is not whole")
    if x == 0:
        if nu < 0 and not whole:
            raise ZeroDivisionError("infinite at 0")
        return 1 if nu == 0 else 0
    # even or odd for whole orders (DLMF 10.11.1, 10.34.1)
    value = _bessel(m, name, nu, abs(x))
    return -value if x < 0 and int(nu) % 2 else value


def _second_kind(m: Any, name: str, nu: Number, x: Number) -> Number:
    _check_order(nu)
    nearest = m.context.nint(nu)
    if nu != nearest and m.context.mag(nu - nearest) < -2 * m.context.prec:
        nu = nearest  # it is analytic in nu, and mpmath would not come to an end
    return _bessel(m, name, nu, x)


def _check_order(nu: Number) -> None:
    if abs(nu) > MAX_ORDER:
        raise ValueError(f"orders above {MAX_ORDER} are not computed")


def _bessel(m: Any, name: str, nu: Number, x: Number) -> Number:
    m._charge("gamma")
    budget.charge(STEP_OF_BESSEL * min(float(abs(x)), 1000.0) + float(nu * nu) / 2)
    try:
        return getattr(m.context, name)(nu, x)
    except (ValueError, m.context.NoConvergence) as error:
        raise undecided("the series of this function does not converge") from error


def _besselj(m: Any, nu: Number, x: Number) -> Number:
    return _first_kind(m, "besselj", nu, x)


def _besseli(m: Any, nu: Number, x: Number) -> Number:
    return _first_kind(m, "besseli", nu, x)


def _bessely(m: Any, nu: Number, x: Number) -> Number:
    return _second_kind(m, "bessely", nu, x)


def _besselk(m: Any, nu: Number, x: Number) -> Number:
    if x < LEAST_FOR_INTEGRAL or x > m.context.prec or not m.context.isint(nu):
        return _second_kind(m, "besselk", nu, x)
    _check_order(nu)
    return _besselk_integral(m, nu, x)


def _besselk_integral(m: Any, nu: Number, x: Number) -> Number:
    """Return the integral of exp(-x·cosh(t))·cosh(νt) over t > 0 (DLMF 10.32.9), by the trapezoidal
    rule.

    The error is about exp(-2πd/h) for a step h, of the sum of the same function at t + id; d < π/2.
    All terms are positive. Where the order is whole the series of mpmath is a limit, which is far
    slower.
    """
    context = m.context
    bits, depth = 0.7 * context.prec + 20, 1.3
    size = math.hypot(float(x), float(nu))
    step = context.mpf(2 * math.pi * depth / (bits + size * (1 - math.cos(depth))))
    end = context.ldexp(1, -context.prec)
    # powers of exp(h) and exp(νh): cosh of all multiples without a call
    grow, faster = context.exp(step), context.exp(nu * step)
    up, high = context.one, context.one
    total = context.exp(-x) / 2
    while True:
        budget.charge(STEP_OF_FRACTION)
        up, high = up * grow, high * faster
        term = context.exp(-x * (up + 1 / up) / 2) * (high + 1 / high) / 2
        total += term
        if term < end * total and up > 2 * size / x:
            return total * step


def _besselj_derivative(m: Any, n: Number, nu: Number, x: Number) -> Number:
    return _by_order(m, n, nu, x, -1, True)


def _besseli_derivative(m: Any, n: Number, nu: Number, x: Number) -> Number:
    return _by_order(m, n, nu, x, 1, True)


def _bessely_derivative(m: Any, n: Number, nu: Number, x: Number) -> Number:
    return _by_order(m, n, nu, x, -1, False)


def _besselk_derivative(m: Any, n: Number, nu: Number, x: Number) -> Number:
    return _by_order(m, n, nu, x, 1, False)


def _by_order(m: Any, n: Number, nu: Number, x: Number, sign: int, first_kind: bool) -> Number:
    """Return the n-th derivative of a Bessel function by its order, of trigonometric or exponential
    kind (`sign`).
    """
    order, context = whole_order(float(n)), m.context
    _check_order(nu)
    if x < 0:
        raise ValueError("only orders that are whole have values below 0")
    if x == 0:
        if order and nu <= 0:
            raise ZeroDivisionError("infinite at 0")
        return 0 if order else _first_kind(m, "besselj", nu, x)

    def compute() -> Number:
        waves = context.pi, context.sinpi(nu), context.cospi(nu)
        return bessel_derivative(
            _functions(m), order, nu, x, sign, None if first_kind else waves, _enough(m)
        )

    # the terms of the series are about exp(x) where their sum may be exp(-x)
    return settled(m, compute, 64 + int(3 * min(float(x), 1e6)))


# ---- the Faddeeva function
def _faddeeva_re(m: Any, n: Number, x: Number, y: Number) -> Number:
    order = whole_order(float(n))
    if y == 0:
        # exp(-x**2), which may be far smaller than the imaginary part
        return settled(m, lambda: _faddeeva(m, order, x, m.exp(-x * x), 0))
    return settled(m, lambda: _faddeeva_at(m, order, x, y).real, 64 + _size(m.context, x / y))


def _faddeeva_im(m: Any, n: Number, x: Number, y: Number) -> Number:
    return settled(m, lambda: _faddeeva_at(m, whole_order(float(n)), x, y).imag)


def _faddeeva_at(m: Any, order: int, x: Number, y: Number) -> Any:
    context = m.context
    m._charge("error")
    z = context.mpc(x, y)
    with context.extraprec(2 * _size(context, x, y)):
        value = context.exp(-z * z) * context.erfc(context.mpc(y, -x))
    return _faddeeva(m, order, z, value, context.mpc(0, 2 / context.sqrt(context.pi)))


def _faddeeva(m: Any, order: int, z: Any, value: Any, slope: Any) -> Any:
    """Return a derivative of w by w' = -2z·w + slope and w⁽ᵏ⁺¹⁾ = -2z·w⁽ᵏ⁾ - 2k·w⁽ᵏ⁻¹⁾ (DLMF
    7.10.3).
    """
    before: Any = 0
    for k in range(order):
        value, before = -2 * z * value + (-2 * k * before if k else slope), value
    return value


# The functions by name.
OF_PARAMETERS = functions_of(globals())
