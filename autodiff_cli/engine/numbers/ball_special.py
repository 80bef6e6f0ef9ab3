"""Special functions of several arguments, with derivatives by all of them, as enclosures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import acb, arb, arb_series, ctx

from ..table.primitive import DEFINITIONS
from ..table.primitives import functions_of
from .base import undecided, whole_order
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

FUNCTIONS = TermFunctions(arb.log, arb.exp, arb.lgamma, lambda n, x: acb(x).polygamma(acb(n)).real)


def _enough(total: Coefficients, bound: Coefficients) -> Coefficients | None:
    largest = arb(0)
    for row in total:
        for c in row:
            if not c.is_finite():
                raise undecided("there is no bound on this number")
            largest = largest.max(abs(c).upper())
    small = largest * arb(2) ** -ctx.prec
    pairs = [
        [(c, d.abs_upper()) for c, d in zip(*rows, strict=True)]
        for rows in zip(total, bound, strict=True)
    ]
    if not all(d <= small.max(arb(c.rad())) for row in pairs for c, d in row):
        return None
    return [[c + (-d).union(d) for c, d in row] for row in pairs]


# How many bits a function may lose without being computed anew.
SPARE_BITS = 30


def _is_zero(x: Any) -> bool:
    """Return whether a number is 0. Raises `Refusal` if that is undecided."""
    if x == 0:
        return True
    if x.contains(0):
        raise undecided("cannot determine whether this number is 0")
    return False


def _gamma_density(m: Any, a: Any, x: Any) -> Any:
    return (
        _density_at_zero(0, 0, a.a)
        if _is_zero(x.a)
        else ((a.a - 1) * x.a.log() - x.a - a.a.lgamma()).exp()
    )


def _gamma_density_derivative(m: Any, n: Any, k: Any, a: Any, x: Any) -> Any:
    if _is_zero(x.a):
        return _density_at_zero(whole_order(float(n)), whole_order(float(k)), a.a)
    return DEFINITIONS["gamma_density_derivative"](m, n, k, a, x).a


def _density_at_zero(n: int, k: int, a: Any) -> Any:
    _check_whole(k, a)
    return arb(gamma_density_at_zero(n, k, a))


def _check_whole(k: int, a: Any) -> None:
    """Raise `Refusal` where it is undecided whether a number is one of 1 … k + 1."""
    is_known = a > k + 1 or a.is_exact() or not any(a.contains(j) for j in range(1, k + 2))
    if not is_known:
        raise undecided("cannot determine whether this power is 0")


def _gammainc(m: Any, a: Any, x: Any) -> Any:
    return _lower(a.a, x.a)


def _lower(a: Any, x: Any) -> Any:
    return arb(0) if x == 0 else x.gamma_lower(a, regularized=1)


def _gammaincc(m: Any, a: Any, x: Any) -> Any:
    return arb(1) if x.a == 0 else x.a.gamma_upper(a.a, regularized=1)


def _gammainc_derivative(m: Any, n: Any, a: Any, x: Any) -> Any:
    order = whole_order(float(n))
    if order == 0 or x.a == 0:
        return _lower(a.a, x.a)
    first = gamma_first_term(FUNCTIONS, a.a, x.a, order + 1)
    # DLMF 8.7.1
    total = hypergeometric_sum(first, x.a, (), (Linear(a.a + 1, 1),), _enough)
    return total[order][0] * math.factorial(order)


# ---- the incomplete beta function
def _end(x: Any) -> int | None:
    """Return 0 or 1 if a number is that; None if it is neither. Raises `Refusal` if that is
    undecided.
    """
    for end in (0, 1):
        if x == end:
            return end
        if x.contains(end):
            raise undecided(f"cannot determine whether this number is {end}")
    return None


def _beta_density(m: Any, a: Any, b: Any, x: Any) -> Any:
    if _end(x.a) is not None:
        return _beta_density_at_end(0, 0, 0, a.a, b.a, x.a)
    logarithm = (a.a - 1) * x.a.log() + (b.a - 1) * (-x.a).log1p()
    return (logarithm + (a.a + b.a).lgamma() - a.a.lgamma() - b.a.lgamma()).exp()


def _beta_density_derivative(m: Any, i: Any, j: Any, k: Any, a: Any, b: Any, x: Any) -> Any:
    if _end(x.a) is not None:
        by_a, by_b, by_x = (whole_order(float(n)) for n in (i, j, k))
        return _beta_density_at_end(by_a, by_b, by_x, a.a, b.a, x.a)
    return DEFINITIONS["beta_density_derivative"](m, i, j, k, a, b, x).a


def _beta_density_at_end(i: int, j: int, k: int, a: Any, b: Any, x: Any) -> Any:
    if x == 1:
        value = _beta_density_at_end(j, i, k, b, a, arb(0))
        return -value if k % 2 else value
    _check_whole(k, a)
    return arb(beta_density_at_zero(i, j, k, a, b))


def _betainc(m: Any, a: Any, b: Any, x: Any) -> Any:
    return _betainc_by((0, 0), a.a, b.a, x.a)


def _betainc_derivative(m: Any, i: Any, j: Any, a: Any, b: Any, x: Any) -> Any:
    return _betainc_by((whole_order(float(i)), whole_order(float(j))), a.a, b.a, x.a)


def _betainc_by(orders: tuple[int, int], a: Any, b: Any, x: Any) -> Any:
    if _end(x) is not None:
        return arb(0) if any(orders) else x
    rest = 1 - x
    series, before = beta_series(a, b, x, rest, ctx.prec), ctx.prec
    ctx.prec += series.lost
    try:
        if not series.mirrored:
            return _beta_sum(orders, a, b, x, (x.log(), (-x).log1p()))
        value = _beta_sum(orders[::-1], b, a, 1 - x, ((-x).log1p(), x.log()))
        return -value if any(orders) else 1 - value
    finally:
        ctx.prec = before


def _beta_sum(orders: tuple[int, int], a: Any, b: Any, x: Any, logs: tuple[Any, Any]) -> Any:
    by_a, by_b = orders
    total = beta_sum(beta_first_term(FUNCTIONS, a, b, logs, orders), a, b, x, _enough)
    return total[by_a][by_b] * (math.factorial(by_a) * math.factorial(by_b))


# ---- the zeta function
def _zeta(m: Any, s: Any) -> Any:
    return _zeta_derivative(m, 0, s)


def _zeta_derivative(m: Any, n: Any, s: Any) -> Any:
    order = whole_order(float(n))
    if not s.a < -1:
        return _zeta_coefficients(s.a, order)[order] * math.factorial(order)
    waves = (s.a / 2).sin_pi(), (s.a / 2).cos_pi(), arb.pi()
    return zeta_reflection(
        FUNCTIONS, s.a, waves, _zeta_coefficients(1 - s.a, order)
    ) * math.factorial(order)


def _zeta_coefficients(s: Any, order: int) -> list[Any]:
    if order == 0:
        return [s.zeta()]
    before, ctx.cap = ctx.cap, order + 2
    try:
        series = arb_series([s, 1], prec=order + 1).zeta()
        return [arb(series[k]) for k in range(order + 1)]
    finally:
        ctx.cap = before


# ---- Bessel functions
def _besselj(m: Any, nu: Any, x: Any) -> Any:
    return _first_kind(nu.a, x.a, arb.bessel_j)


def _besseli(m: Any, nu: Any, x: Any) -> Any:
    return _first_kind(nu.a, x.a, arb.bessel_i)


def _first_kind(nu: Any, x: Any, function: Callable[[Any, Any], Any]) -> Any:
    if x > 0:
        return function(x, nu)
    if nu.is_exact() and nu.is_integer():
        return function(x, nu)  # entire
    if x == 0 and nu > 0:
        return arb(0)
    if x < 0 and not nu.contains_integer():
        raise ValueError("a negative number to a power that is not whole")
    if x == 0 and nu < 0 and not nu.contains_integer():
        raise ZeroDivisionError("infinite at 0")
    raise undecided("cannot determine whether this order is a whole number")


def _bessely(m: Any, nu: Any, x: Any) -> Any:
    return x.a.bessel_y(nu.a)


def _besselk(m: Any, nu: Any, x: Any) -> Any:
    return _of_large_parts(lambda: x.a.bessel_k(nu.a), nu.a, x.a)


def _of_large_parts(compute: Callable[[], Any], nu: Any, x: Any) -> Any:
    """Return a number that is a difference of parts exp(2·x) times as large, with as many more
    bits.

    So is K between the power series and the asymptotic one, and its derivatives by the order.
    """
    value = compute()
    known = min(ctx.prec, x.rel_accuracy_bits(), nu.rel_accuracy_bits())
    if value.rel_accuracy_bits() > known - SPARE_BITS or x > 4 * ctx.prec:
        return value
    before, ctx.prec = ctx.prec, ctx.prec + 3 * int(float(x.upper())) + SPARE_BITS
    try:
        return compute()
    finally:
        ctx.prec = before


def _besselj_derivative(m: Any, n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu.a, x.a, -1, True)


def _besseli_derivative(m: Any, n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu.a, x.a, 1, True)


def _bessely_derivative(m: Any, n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu.a, x.a, -1, False)


def _besselk_derivative(m: Any, n: Any, nu: Any, x: Any) -> Any:
    if not x.a > 0:
        return _by_order(n, nu.a, x.a, 1, False)
    return _of_large_parts(lambda: _by_order(n, nu.a, x.a, 1, False), nu.a, x.a)


def _by_order(n: Any, nu: Any, x: Any, sign: int, first_kind: bool) -> Any:
    if not x > 0:
        return _by_order_at_zero(whole_order(float(n)), nu, x)
    waves = None
    if not first_kind:
        waves = arb.pi(), nu.sin_pi(), nu.cos_pi()
        if waves[1].contains(0) and waves[1] != 0:
            raise undecided("cannot determine whether this order is a whole number")
    return bessel_derivative(FUNCTIONS, whole_order(float(n)), nu, x, sign, waves, _enough)


def _by_order_at_zero(n: int, nu: Any, x: Any) -> Any:
    if x < 0:
        raise ValueError("only orders that are whole have values below 0")
    if x != 0 or not (n == 0 or nu > 0 or nu <= 0):
        raise undecided("cannot determine whether this number is 0")
    if n and nu <= 0:
        raise ZeroDivisionError("infinite at 0")
    return arb(0) if n else _first_kind(nu, x, arb.bessel_j)


# ---- the Faddeeva function
def _faddeeva_re(m: Any, n: Any, x: Any, y: Any) -> Any:
    return faddeeva(whole_order(float(n)), acb(x.a, y.a)).real


def _faddeeva_im(m: Any, n: Any, x: Any, y: Any) -> Any:
    return faddeeva(whole_order(float(n)), acb(x.a, y.a)).imag


# Precision, argument and value of the last call: a profile and its slopes take one after the other
# at one point.
_LAST_W: list[tuple[int, Any, Any]] = []


def _w(z: Any) -> Any:
    """Return the Faddeeva function of a number (DLMF 7.2.3)."""
    for bits, known, value in _LAST_W:
        if bits == ctx.prec and known == z:
            return value
    value = (-z * z).exp() * acb(z.imag, -z.real).erfc()
    if z.real.is_exact() and z.imag.is_exact():
        _LAST_W[:] = [(ctx.prec, z, value)]
    return value


def faddeeva(order: int, z: Any) -> Any:
    """Return a derivative of w by w' = -2z·w + 2i/√π and w⁽ᵏ⁺¹⁾ = -2z·w⁽ᵏ⁾ - 2k·w⁽ᵏ⁻¹⁾ (DLMF
    7.10.3).
    """
    value, before = _w(z), acb(0)
    for k in range(order):
        value, before = (
            -2 * z * value + (-2 * k * before if k else acb(0, 2) / arb.pi().sqrt()),
            value,
        )
    return value


# The functions by name, of balls; the values are those of python-flint.
OF_PARAMETERS = functions_of(globals())
