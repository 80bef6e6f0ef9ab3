"""Equations in the sine and cosine of one angle, whose solutions are points of the unit circle.

With `s**2 = 1 - c**2` such an equation is `A(c) + s*B(c) = 0`. If B is 0, the cosine is a root of A; if A
is 0, the sine is 0 or the cosine a root of B. Otherwise the cosine is a root of `A**2 - (1 - c**2)*B**2`,
and the sine is `-A/B`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ...engine.algebra.exact_constants import ExactConstants, UndecidedSign
from ...engine.algebra.identities import CIRCULAR, COSINE, of_multiple
from ...engine.algebra.rational_functions import fraction_of, polynomial_in
from ...engine.algebra.symbolic import UNEVALUATED
from ...engine.algebra.walk import has_variables, substitute
from ...engine.graphs.value import Value, node, variable
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.base import NO_RESULT
from ...engine.table.operators import ADD, DIV, MUL, NEG, SUB
from ...engine.table.primitive import PRIMITIVES
from ...engine.table.primitives import SQRT
from ...errors import ExpressionError
from .conditions import ONE, ZERO, conditions_of, number_of, simplest

# Solves an equation in one unknown: formulas with conditions, or None.
Solver = Callable[[Value, Value], list[tuple[Value, list[Value]]] | None]

# The largest multiple of an angle that is expanded.
MAX_MULTIPLE = 6


class CirclePoint(NamedTuple):
    """A point of the unit circle: its cosine, and the sign of its sine."""

    cosine: Value
    sign: int

    @property
    def angle(self) -> Value:
        above, below = PRIMITIVES[COSINE].preimages
        angle: Value = (above if self.sign >= 0 else below)(UNEVALUATED, self.cosine)
        return angle

    @property
    def sine(self) -> Value:
        size = node(SQRT, (node(SUB, (ONE, _square(self.cosine))),))
        return size if self.sign > 0 else node(NEG, (size,)) if self.sign else ZERO


def angles(
    equation: Value, kernels: Sequence[Value], solve: Solver
) -> tuple[Value, list[Value]] | None:
    """Return an angle of an equation of numbers, and its values within a turn that are solutions; None
    if they are not found. `kernels` are the functions in which the unknown stands.
    """
    if any(kernel.primitive.name not in CIRCULAR for kernel in kernels):
        return None
    multiples = _multiples(kernels)
    if multiples is None:
        return None
    angle, counts = multiples
    s, c = variable(""), variable("")
    places = {
        kernel: CIRCULAR[kernel.primitive.name](*of_multiple(s, c, count))
        for kernel, count in zip(kernels, counts, strict=True)
    }
    inside = substitute(equation, places.get)
    if has_variables(substitute(inside, {s: ONE, c: ONE}.get)):
        return None
    with suppress(ExpressionError, UndecidedSign, *NO_RESULT):
        points = _points(inside, s, c, solve)
        return None if points is None else (angle, [point.angle for point in points])
    return None


def _multiples(kernels: Sequence[Value]) -> tuple[Value, list[int]] | None:
    """Return an angle, and which whole multiples of it the functions are of."""
    inputs = [kernel._prev[0] for kernel in kernels]
    for angle in inputs:
        ratios = [number_of(simplest(node(DIV, (one, angle)))) for one in inputs]
        counts = [int(ratio) for ratio in ratios if ratio is not None and ratio.denominator == 1]
        if len(counts) == len(inputs) and all(0 < abs(count) <= MAX_MULTIPLE for count in counts):
            return angle, counts
    return None


def _points(inside: Value, s: Value, c: Value, solve: Solver) -> list[CirclePoint] | None:
    numerator, divisors = fraction_of(inside)
    sides = _sides(numerator, s, c)
    if sides is None:
        return None
    found = _where_zero(*sides, c, solve)
    if found is None:
        return None
    points = list(dict.fromkeys(found))
    return [
        point for point in points if all(_is_nonzero(divisor, point, s, c) for divisor in divisors)
    ]


def _sides(numerator: Value, s: Value, c: Value) -> tuple[Value, Value] | None:
    """Return A and B of `A(c) + s*B(c)`."""
    parts = polynomial_in(numerator, s)
    if parts is None:
        return None
    sides, power = [ZERO, ZERO], ONE
    for k, part in enumerate(parts):
        sides[k % 2] = node(ADD, (sides[k % 2], node(MUL, (part, power))))
        if k % 2:
            power = node(MUL, (power, node(SUB, (ONE, _square(c)))))
    polynomials = [polynomial_in(side, c) for side in sides]
    if None in polynomials:
        return None
    even, odd = (_zero_if_none(side, parts) for side, parts in zip(sides, polynomials, strict=True))
    return even, odd


def _zero_if_none(side: Value, coefficients: list[Value] | None) -> Value:
    """Return a polynomial, or 0 if all its coefficients are."""
    return side if any(number_of(simplest(part)) != 0 for part in coefficients or ()) else ZERO


def _where_zero(even: Value, odd: Value, c: Value, solve: Solver) -> list[CirclePoint] | None:
    if odd is ZERO and even is ZERO:
        return None
    if odd is ZERO or even is ZERO:
        cosines = _cosines(even if odd is ZERO else odd, c, solve)
        ends = [] if odd is ZERO else [CirclePoint(end, 0) for end in (ONE, node(NEG, (ONE,)))]
        if cosines is None:
            return None
        return [*ends, *(CirclePoint(cosine, sign) for cosine in cosines for sign in (1, -1))]
    squares = node(MUL, (node(SUB, (ONE, _square(c))), _square(odd)))
    cosines = _cosines(node(SUB, (_square(even), squares)), c, solve)
    if cosines is None:
        return None
    return [point for cosine in cosines for point in _with_sine(even, odd, c, cosine)]


def _cosines(equation: Value, c: Value, solve: Solver) -> list[Value] | None:
    """Return the roots of a polynomial that are cosines."""
    found = solve(equation, c)
    if found is None:
        return None
    decided = [(root, conditions_of(conditions)) for root, conditions in found]
    if any(condition for _, (_, condition) in decided):
        return None
    roots = [root for root, (possible, _) in decided if possible]
    return [root for root in roots if _sign(node(SUB, (ONE, _square(root)))) >= 0]


def _with_sine(even: Value, odd: Value, c: Value, cosine: Value) -> Iterator[CirclePoint]:
    """Yield the points with a cosine: their sine is `-A/B`, or of either sign where B is 0."""
    at = {c: cosine}.get
    sign = _sign(substitute(odd, at))
    if sign:
        yield CirclePoint(cosine, -sign * _sign(substitute(even, at)))
    else:
        yield CirclePoint(cosine, 1)
        yield CirclePoint(cosine, -1)


def _is_nonzero(divisor: Value, point: CirclePoint, s: Value, c: Value) -> bool:
    return _sign(substitute(divisor, {s: point.sine, c: point.cosine}.get)) != 0


def _sign(formula: Value) -> int:
    """Return the sign of a formula of numbers. Raises `UndecidedSign` where it is not proven."""
    m = ExactConstants()
    number = m.number(value_in(m, formula, {}))
    sign = m.sign(number)
    if not m.confirmed:
        raise UndecidedSign(number.node)
    return sign


def _square(value: Value) -> Value:
    return node(MUL, (value, value))
