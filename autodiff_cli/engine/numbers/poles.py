"""Laurent series of special functions at their poles, over any number type.

Each function here has one term with a negative power at a pole: a multiple of u**-order, where u is
the argument less the pole. What is added to it is a power series, of a formula without a pole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..table.primitives import by_name
from .base import Number, NumberType
from .series import Series, SeriesType

# The lowest pole of gamma functions that is expanded, below 0: each unit is a factor or a term.
MAX_SHIFT = 1000


class Pole(NamedTuple):
    """The series `leading`*u**-`order` + `regular[0]` + `regular[1]`*u + …."""

    order: int
    leading: Fraction
    regular: list[Number]


def pole_at(
    base: NumberType, name: str, fixed: Sequence[Number], place: int, count: int
) -> Pole | None:
    """Return the series of a function at a pole, with `count` coefficients of powers from 0 on;
    None if there is none.

    `fixed` are the inputs before its last, which are whole numbers. Raises errors of the number
    type.
    """
    expand = POLES.get(name)
    return None if expand is None else expand(base, *map(int, fixed), place, count)


def has_poles(name: str) -> bool:
    """Return whether `pole_at` knows the poles of a function."""
    return name in POLES


def _coefficients(
    base: NumberType, count: int, formula: Callable[[SeriesType, Series], Number]
) -> list[Number]:
    """Return the first coefficients of a formula in powers of u."""
    power = SeriesType(base)
    return power.coefficients(formula(power, power.variable(base.number(0), base.number(1))), count)


def _gamma(base: NumberType, place: int, count: int) -> Pole | None:
    """Return Γ(u + place), as Γ(1 + u)/u over its factors between (DLMF 5.5.1)."""
    if not -MAX_SHIFT <= place <= 0:
        return None

    def rest(m: SeriesType, u: Series) -> Number:
        product = m.number(1)
        for k in range(1, 1 - place):
            product = product * (u - k)
        return m.gamma(1 + u) / product

    leading = Fraction((-1) ** -place, math.factorial(-place))
    return Pole(1, leading, _coefficients(base, count + 1, rest)[1:])


def _polygamma(base: NumberType, n: int, place: int, count: int) -> Pole | None:
    """Return the n-th derivative of digamma at u + place (DLMF 5.15.5)."""
    if not -MAX_SHIFT <= place <= 0:
        return None
    leading = (-1) ** (n + 1) * math.factorial(n)

    def rest(m: SeriesType, u: Series) -> Number:
        return sum(
            (leading / (u - k) ** (n + 1) for k in range(1, 1 - place)), m.polygamma(n, 1 + u)
        )

    return Pole(n + 1, Fraction(leading), _coefficients(base, count, rest))


def _zeta_derivative(base: NumberType, n: int, place: int, count: int) -> Pole | None:
    """Return the n-th derivative of ζ(1 + u), by its reflection to ζ(-u) (DLMF 25.4.1)."""
    if place != 1 or not base.has_values:  # as formulas its coefficients are long
        return None

    def product(m: SeriesType, u: Series) -> Number:  # u·ζ(1 + u)
        waves = m.cos(m.pi * u / 2) * m.exp(u * m.log(2 * m.pi))
        return -2 * waves * m.gamma(1 - u) * m.zeta(-u)

    coefficients = _coefficients(base, count + n + 1, product)
    # Euler's constant, shorter than by the product
    coefficients[1:2] = [-base.digamma(base.number(1))]
    regular = [coefficients[k + n + 1] * math.perm(k + n, n) for k in range(count)]
    return Pole(n + 1, Fraction((-1) ** n * math.factorial(n)), regular)


POLES: dict[str, Callable[..., Pole | None]] = by_name({
    "gamma": _gamma, "polygamma": _polygamma, "zeta_derivative": _zeta_derivative,
    "digamma": lambda base, *place: _polygamma(base, 0, *place),
    "trigamma": lambda base, *place: _polygamma(base, 1, *place),
    "zeta": lambda base, *place: _zeta_derivative(base, 0, *place),
})  # fmt: skip


def nearest_whole(x: Any) -> int | None:
    """Return the whole number that a number may be; None if it has no value, or is too large."""
    try:
        near = float(x)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return round(near) if abs(near) <= MAX_SHIFT else None
