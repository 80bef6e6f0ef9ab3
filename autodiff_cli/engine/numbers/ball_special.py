"""Incomplete gamma and beta functions, Bessel functions, and their derivatives by all arguments, as enclosures."""

from __future__ import annotations

import math
from typing import Any

from flint import acb, arb, ctx

from ..table.primitives import functions_of
from .base import undecided, whole_order
from .parameter_series import (
    Coefficients,
    Linear,
    TermFunctions,
    bessel_derivative,
    beta_first_term,
    gamma_first_term,
    hypergeometric_sum,
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
    pairs = [[(c, d.abs_upper()) for c, d in zip(*rows, strict=True)] for rows in zip(total, bound, strict=True)]
    if not all(d <= small.max(arb(c.rad())) for row in pairs for c, d in row):
        return None
    return [[c + (-d).union(d) for c, d in row] for row in pairs]


def _edge(x: Any, *ends: int) -> int | None:
    """Return the end of the domain that a number is. Raises `Refusal` if that is undecided."""
    for end in ends:
        if x == end:
            return end
        if x.contains(end):
            raise undecided(f"cannot determine whether this number is {end}")
    return None


def _at_edge(power: Any, value: Any) -> Any:
    """Return x^(power - 1) at 0, times a value."""
    if power < 1:
        raise ZeroDivisionError("infinite at the edge")
    if power > 1:
        return arb(0)
    if power == 1:
        return value
    raise undecided("cannot determine whether this power is below 1")


def _gamma_density(a: Any, x: Any) -> Any:
    if _edge(x, 0) == 0:
        return _at_edge(a, arb(1))
    return ((a - 1) * x.log() - x - a.lgamma()).exp()


def _gammainc(a: Any, x: Any) -> Any:
    return arb(0) if x == 0 else x.gamma_lower(a, regularized=1)


def _gammaincc(a: Any, x: Any) -> Any:
    return arb(1) if x == 0 else x.gamma_upper(a, regularized=1)


def _gammainc_derivative(n: Any, a: Any, x: Any) -> Any:
    order = whole_order(float(n))
    if order == 0 or x == 0:
        return _gammainc(a, x)
    first = gamma_first_term(FUNCTIONS, a, x, order + 1)
    # DLMF 8.7.1
    total = hypergeometric_sum(first, x, (), (Linear(a + 1, 1),), _enough)
    return total[order][0] * math.factorial(order)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    edge = _edge(x, 0, 1)
    if edge is not None:
        return _at_edge(b, a) if edge else _at_edge(a, b)
    logarithm = (a - 1) * x.log() + (b - 1) * (1 - x).log() + (a + b).lgamma() - a.lgamma() - b.lgamma()
    return logarithm.exp()


def _betainc(a: Any, b: Any, x: Any) -> Any:
    if x == 0 or x == 1:
        return x
    return x.beta_lower(a, b, regularized=1)


def _betainc_derivative(i: Any, j: Any, a: Any, b: Any, x: Any) -> Any:
    by_a, by_b = whole_order(float(i)), whole_order(float(j))
    if by_a == by_b == 0:
        return _betainc(a, b, x)
    if _edge(x, 0, 1) is not None:
        return arb(0)
    if not 2 * x <= 1:
        return -_betainc_series(by_b, by_a, b, a, 1 - x, x)
    return _betainc_series(by_a, by_b, a, b, x, 1 - x)


def _betainc_series(by_a: int, by_b: int, a: Any, b: Any, x: Any, rest: Any) -> Any:
    first = beta_first_term(FUNCTIONS, a, b, x, rest, by_a + 1, by_b + 1)
    # DLMF 8.17.8
    total = hypergeometric_sum(first, x, (Linear(a + b, 1, 1),), (Linear(a + 1, 1),), _enough)
    return total[by_a][by_b] * (math.factorial(by_a) * math.factorial(by_b))


# ---- Bessel functions
def _besselj(nu: Any, x: Any) -> Any:
    return _first_kind(nu, x, -1)


def _besseli(nu: Any, x: Any) -> Any:
    return _first_kind(nu, x, 1)


def _first_kind(nu: Any, x: Any, sign: int) -> Any:
    if x > 0:
        return x.bessel_j(nu) if sign < 0 else x.bessel_i(nu)
    whole = nu.unique_fmpz() if nu.is_exact() else None
    if whole is None or whole != nu:
        if x == 0 and nu > 0:
            return arb(0)
        if x < 0 and not nu.contains_integer():
            raise ValueError("a negative number to a power that is not whole")
        raise undecided("cannot determine whether this order is a whole number")
    if x == 0:
        return arb(int(whole == 0))
    # entire, even or odd (DLMF 10.11.1, 10.34.1)
    value = (-x).bessel_j(nu) if sign < 0 else (-x).bessel_i(nu)
    if x < 0:
        return -value if int(whole) % 2 else value
    raise undecided("cannot determine the sign of this number")


def _bessely(nu: Any, x: Any) -> Any:
    return x.bessel_y(nu)


def _besselk(nu: Any, x: Any) -> Any:
    return x.bessel_k(nu)


def _besselj_derivative(n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu, x, -1, True)


def _besseli_derivative(n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu, x, 1, True)


def _bessely_derivative(n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu, x, -1, False)


def _besselk_derivative(n: Any, nu: Any, x: Any) -> Any:
    return _by_order(n, nu, x, 1, False)


def _by_order(n: Any, nu: Any, x: Any, sign: int, first_kind: bool) -> Any:
    waves = None if first_kind else (arb.pi(), nu.sin_pi(), nu.cos_pi())
    return bessel_derivative(FUNCTIONS, whole_order(float(n)), nu, x, sign, waves, _enough)


OF_PARAMETERS = functions_of(globals())
"""The functions by name."""
