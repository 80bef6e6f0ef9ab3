"""The real roots of rational polynomials, isolated in integers by Sturm's theorem.

Factors are first separated by multiplicity (Yun 1976). Intervals are halved until they have one
root, and until their ends round to the same double. Source: Cohen, A Course in Computational
Algebraic Number Theory, 3.4 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple

from ..numbers.budget import charge

COEFFICIENT_WORK = 0.05  # the work of one operation on a coefficient

# Coefficients from the constant one on, the last not 0; empty for 0.
Polynomial = list[int]


class RealRoot(NamedTuple):
    """A real root of a polynomial."""

    x: float
    """The nearest double."""
    multiplicity: int
    exact: bool
    """Whether the root is that double."""
    factor: Sequence[int]
    """The coefficients of a factor of which this is a simple root."""


def real_roots(
    coefficients: Sequence[Fraction], excluded: Sequence[Sequence[Fraction]] = ()
) -> list[RealRoot]:
    """Return the real roots of a nonzero polynomial, in order, except `excluded` ones.

    `coefficients` begin with the constant one.

    >>> [(root.x, root.multiplicity) for root in real_roots([Fraction(c) for c in (-4, 8, -5, 1)])]
    [(1.0, 1), (2.0, 2)]
    """
    polynomial = primitive(coefficients)
    for other in map(primitive, excluded):
        while len(common := _gcd(polynomial, other)) > 1:
            polynomial = _divide(polynomial, common)[0]
    return sorted(
        RealRoot(float(root), multiplicity, is_root and Fraction(float(root)) == root, factor)
        for factor, multiplicity in _factors(polynomial)
        for root, is_root in _simple_roots(factor)
    )


def primitive(coefficients: Sequence[Fraction | int]) -> Polynomial:
    """Return a positive multiple of a polynomial with coprime integers."""
    end = len(coefficients)
    while end and not coefficients[end - 1]:
        end -= 1
    scale = lcm(*(c.denominator for c in coefficients[:end]))
    integers = [int(c * scale) for c in coefficients[:end]]
    content = gcd(*integers) or 1
    return [c // content for c in integers]


def _derivative(p: Polynomial) -> Polynomial:
    return primitive([k * c for k, c in enumerate(p)][1:])


def _divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return positive multiples of quotient and remainder."""
    rest, quotient = [Fraction(c) for c in p], [Fraction(0)] * max(0, len(p) - len(q) + 1)
    charge(COEFFICIENT_WORK * len(q) * len(quotient) * (1 + max(map(int.bit_length, q)) / 64))
    for shift in reversed(range(len(quotient))):
        quotient[shift] = rest.pop() / q[-1]
        for k, c in enumerate(q[:-1]):
            rest[k + shift] -= quotient[shift] * c
    return primitive(quotient), primitive(rest)


def _gcd(p: Polynomial, q: Polynomial) -> Polynomial:
    while q:
        p, q = q, _divide(p, q)[1]
    return p


def _factors(p: Polynomial) -> Iterator[tuple[Polynomial, int]]:
    if len(p) < 2:
        return
    rest = _gcd(p, _derivative(p))
    simple, multiplicity = _divide(p, rest)[0], 1
    while len(simple) > 1:
        shared = _gcd(simple, rest)
        factor = _divide(simple, shared)[0]
        if len(factor) > 1:
            yield factor, multiplicity
        simple, rest, multiplicity = shared, _divide(rest, shared)[0], multiplicity + 1


def _simple_roots(p: Polynomial) -> Iterator[tuple[Fraction, bool]]:
    if not p[0]:
        yield Fraction(0), True
        p = p[1:]
    chain = [p, _derivative(p)]
    while chain[-1]:
        chain.append([-c for c in _divide(chain[-2], chain[-1])[1]])
    bound = Fraction(2) ** (max(map(abs, p)) // abs(p[-1]) + 1).bit_length()
    waiting = [
        (a, b, _changes(chain, a), _changes(chain, b))
        for a, b in pairwise((-bound, Fraction(0), bound))
    ]
    while waiting:
        a, b, before, after = waiting.pop()
        if before - after == 1:
            end = _sign(p, b)
            is_root = not end
            while end and float(a) != float(b):
                middle = (a + b) / 2
                sign = _sign(p, middle)
                if not sign:
                    b, is_root = middle, True
                    break
                a, b = (a, middle) if sign == end else (middle, b)
            yield b, is_root
        elif before > after:
            middle = (a + b) / 2
            between = _changes(chain, middle)
            waiting += [(a, middle, before, between), (middle, b, between, after)]


def _changes(chain: Sequence[Polynomial], x: Fraction) -> int:
    """Return the sign changes of Sturm's chain: from a to b, one fewer per root in (a, b]."""
    signs = [sign for sign in (_sign(p, x) for p in chain) if sign]
    return sum(a != b for a, b in pairwise(signs))


def _sign(p: Polynomial, x: Fraction) -> int:
    charge(COEFFICIENT_WORK * len(p))
    total, power = 0, 1
    for c in reversed(p):
        total = total * x.numerator + c * power
        power *= x.denominator
    return (total > 0) - (total < 0)
