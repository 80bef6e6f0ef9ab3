"""The derivatives of π·cot(πx), by which the polygamma functions of negative arguments are reflected (DLMF 5.15.6)."""

from __future__ import annotations

from functools import lru_cache

from .base import Number, NumberType

MANY_POLES = 200
"""The order from which sums over the poles replace the long polynomials."""


def cotangent_derivative(m: NumberType, order: int, rest: Number) -> Number:
    """The derivative of that order at `rest`, in the number type `m`; for orders below `MANY_POLES`."""
    m.charge(order)
    cotangent, total = m.cot(m.pi * rest), m.number(0)
    for coefficient in reversed(cotangent_polynomial(order)):
        total = total * cotangent + coefficient
    return total * m.pi ** (order + 1)


@lru_cache(maxsize=256)
def cotangent_polynomial(order: int) -> tuple[int, ...]:
    """The coefficients, lowest first, of the derivative of that order of cot as a polynomial in cot.

    cot' = -(1 + cot²), so each polynomial is -(1 + c²) times the derivative of the one before.
    """
    polynomial = [0, 1]
    for _ in range(order):
        slope = [k * polynomial[k] for k in range(1, len(polynomial))]
        polynomial = [0] * (len(slope) + 2)
        for k, coefficient in enumerate(slope):
            polynomial[k] -= coefficient
            polynomial[k + 2] -= coefficient
    return tuple(polynomial)
