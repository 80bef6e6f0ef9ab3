"""The derivatives of π·cot(πx), by which the polygamma functions of negative arguments are reflected (DLMF 5.15.6)."""

from __future__ import annotations

from .base import Number, NumberType
from .double.decimal_gamma import cotangent_polynomial

MANY_POLES = 200
"""From this order on the derivative is summed over the poles of the cotangent, of which a few suffice."""


def cotangent_derivative(m: NumberType, order: int, rest: Number) -> Number:
    """The derivative of that order at `rest`, in the number type `m`; from `MANY_POLES` on for |rest| <= 1/2 only."""
    if order >= MANY_POLES:
        return _over_the_poles(m, order, rest)
    cotangent, total = m.cot(m.pi * rest), m.number(0)
    for coefficient in reversed(cotangent_polynomial(order)):
        total = total * cotangent + coefficient
    return total * m.pi ** (order + 1)


def _over_the_poles(m: NumberType, order: int, rest: Number) -> Number:
    """(-1)^order·order!·Σ 1/(rest + k)^(order + 1) over all whole k, until no term changes the sum any more."""
    total, k = rest ** -(order + 1), 1
    while True:
        more = total + (rest + k) ** -(order + 1) + (rest - k) ** -(order + 1)
        if more == total:
            return total * m.gamma(m.number(order + 1)) * (-1 if order % 2 else 1)
        total, k = more, k + 1
