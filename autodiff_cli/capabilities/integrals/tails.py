"""Proven bounds of the tails of improper integrals.

At an infinite end the variable is t or -t, at a singular one it is the end plus or minus 1/t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import count, takewhile
from typing import Any, NamedTuple

from flint import arb

from ...engine.algebra.almost_everywhere import as_linear
from ...engine.algebra.canonical import exact_value, fraction_node
from ...engine.algebra.identities import CIRCULAR, COSINE, SINE
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import rebuild, rewrite, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ...engine.table.primitive import PRIMITIVES
from ...errors import ExpressionError
from .ends import IntegralEnd
from .eventual_bounds import EventualBounds, Growth
from .oscillating import MAX_START, Oscillation, oscillation_in, waves_from
from .quadrature import Quadrature, ball, precision

# From one start of a tail that is tried to the next.
FACTOR = 8
# The last start of a tail that is tried: of t**-1.25 less than 2**-66 is left behind 2**264.
LARGEST_START = Fraction(2) ** 300
# A tail may be so many bits larger than the error of the quadrature, which has more digits than are
# shown.
SPARE_BITS = 12


# ---- integrals
EXP = PRIMITIVES["exp"]
# Digits of an integral of which only is asked whether it converges.
FEW_DIGITS = 6
# Where the part of a piece at an infinite end begins at the earliest, and 1 over it the part at a
# singular end.
INNERMOST = Fraction(4)


class EndPart(NamedTuple):
    """A part of a piece that begins or ends at an infinite or a singular end, in the variable t."""

    formula: Value
    """The integrand in t."""
    weight: int
    """With dx = t**weight dt: 0 at an infinite end, -2 at a singular one."""
    first: Fraction
    """The smallest t."""
    inner: Any
    """The ball of x there."""


def integral_with_tails(
    quadrature: Quadrature,
    integrand: Value,
    name: str,
    pieces: Sequence[tuple[IntegralEnd, IntegralEnd]],
) -> Any:
    """Return the ball of an integral over adjacent pieces, of which each end may be infinite or
    singular; or None.
    """
    total = arb(0)
    for low, high in pieces:
        found = _over_piece(quadrature, integrand, name, low, high)
        if found is None:
            return None
        with precision(quadrature.bits):
            total = total + found
    return total


def _over_piece(
    quadrature: Quadrature, integrand: Value, name: str, low: IntegralEnd, high: IntegralEnd
) -> Any:
    numbers = [end.number for end in (low, high)]
    total, inner, straddles = arb(0), [], False
    with precision(quadrature.bits):
        for end, side, other in ((low, 1, numbers[1]), (high, -1, numbers[0])):
            place = None if end.formula is None else quadrature.value(end.formula)
            if place is not None and quadrature.is_analytic_near(place):
                inner.append(place)
                continue
            part = _end_part(integrand, name, end, side, place, other)
            tail = Quadrature(_in_logarithm(part, name), name, quadrature.digits)
            waves = None if end.formula is not None else oscillation_in(part.formula, name)
            found = None if waves is None else _over_waves(waves, part, name, quadrature.digits)
            if found is None:
                found = _over_end_part(tail, part, name)
            if found is None:
                return None
            inner.append(part.inner)
            total, straddles = total + found, straddles or tail.straddles
        if not inner[0] < inner[1]:
            return None
        inside = quadrature.integral(*inner)
        quadrature.straddles = quadrature.straddles or straddles
        return inside + total if inside.is_finite() else None


def _end_part(
    integrand: Value, name: str, end: IntegralEnd, side: int, place: Any, other: float
) -> EndPart:
    t = variable(name)
    if end.formula is None:
        reach = (
            max(Fraction(0), Fraction(other) * end.infinite)
            if math.isfinite(other)
            else Fraction(0)
        )
        first = INNERMOST + 2 * math.ceil(reach)
        at = t if end.infinite > 0 else node(NEG, (t,))
        return EndPart(_with(integrand, name, at), 0, first, end.infinite * ball(first))
    first = INNERMOST
    if math.isfinite(other):
        first = max(first, Fraction(math.ceil(4 / abs(other - end.number))))
    near = _turned(
        _expanded(_with(integrand, name, node(ADD if side > 0 else SUB, (end.formula, t))), name),
        name,
    )
    distance = node(DIV, (constant(1.0, "1"), t))
    return EndPart(_with(near, name, distance), -2, first, place + side / ball(first))


def _expanded(formula: Value, name: str) -> Value:
    """Return a formula with its polynomials in a variable as sums of powers: of 2 - (2 - t) the
    digits would cancel.
    """
    leaf = next(
        (v for v in in_order((formula,)) if v.primitive is VARIABLE and v.label == name), None
    )
    if leaf is None:
        return formula

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        changed = rebuild(value, inputs)
        if value.primitive not in (ADD, SUB):
            return changed
        coefficients = polynomial_in(changed, leaf)
        return changed if coefficients is None else _polynomial(coefficients, leaf)

    return rewrite((formula,), rule)[0]


def _turned(formula: Value, name: str) -> Value:
    """Return a formula with sin(t) for sin(pi - t) and the like, of which the digits would cancel
    near t = 0.
    """

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value.primitive.name not in CIRCULAR:
            return rebuild(value, inputs)
        turned = _beside_quarter_turns(inputs[0], name)
        if turned is None:
            return rebuild(value, inputs)
        quarters, angle = turned
        sine, cosine = node(PRIMITIVES[SINE], (angle,)), node(PRIMITIVES[COSINE], (angle,))
        for _ in range(quarters % 4):
            sine, cosine = cosine, node(NEG, (sine,))
        result: Value = CIRCULAR[value.primitive.name](sine, cosine)
        return simplify((result,))[0]

    return rewrite((formula,), rule)[0]


def _beside_quarter_turns(angle: Value, name: str) -> tuple[int, Value] | None:
    """Return whole quarter turns and the multiple of a variable that an angle is the sum of; None
    for another angle.
    """
    multiples, rest = as_linear(simplify((angle,))[0])
    turns = [
        factor * 2
        for leaf, factor in multiples.items()
        if leaf.primitive is CONSTANT and leaf.source in PI
    ]
    others = [
        (leaf, factor)
        for leaf, factor in multiples.items()
        if leaf.primitive is VARIABLE and leaf.label == name
    ]
    if (
        rest
        or len(turns) != 1
        or len(others) != 1
        or len(multiples) != 2
        or turns[0].denominator != 1
    ):
        return None
    ((leaf, factor),) = others
    return int(turns[0]), node(MUL, (fraction_node(factor), leaf))


PI = ("pi", "π")


def _polynomial(coefficients: Sequence[Value], leaf: Value) -> Value:
    terms = []
    for power, coefficient in enumerate(simplify(coefficients)):
        if exact_value(coefficient) != 0:
            factors = [coefficient, *[leaf] * power]
            terms.append(reduce(lambda x, y: node(MUL, (x, y)), factors))
    return reduce(lambda x, y: node(ADD, (x, y)), terms) if terms else constant(0.0, "0")


def _with(integrand: Value, name: str, at: Value) -> Value:
    replaced = substitute(
        integrand, lambda v: at if v.primitive is VARIABLE and v.label == name else None
    )
    return simplify((replaced,))[0]


def _in_logarithm(part: EndPart, name: str) -> Value:
    """Return the integrand in v with t = exp(v), in which powers of t are exponentials: few
    intervals are enough.
    """
    v = variable(name)
    exponent = node(MUL, (constant(float(part.weight + 1), str(part.weight + 1)), v))
    formula = node(MUL, (_with(part.formula, name, node(EXP, (v,))), node(EXP, (exponent,))))
    return rewrite((formula,), _of_exponentials)[0]


def _of_exponentials(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return a power, root, quotient or logarithm of exponentials, which are positive, as one
    without a cut.
    """
    power = _power_of(value, inputs)
    split = None if power is None else _positive_factor(inputs[0])
    if power is not None and split is not None:
        exponent, rest = split
        return node(
            MUL, (node(EXP, (node(MUL, (exponent, power)),)), rebuild(value, (rest, *inputs[1:])))
        )
    return (
        _of_pure_exponentials(value, inputs, power)
        or _scaled_arithmetic(value, inputs)
        or rebuild(value, inputs)
    )


def _of_pure_exponentials(
    value: Value, inputs: tuple[Value, ...], power: Value | None
) -> Value | None:
    if not any(each.primitive is EXP for each in inputs):
        return None
    logs = [_log_of(each) for each in inputs]
    first = logs[0]
    if value.primitive.name == "log" and len(inputs) == 1 and first is not None:
        return first
    if power is not None and first is not None:
        return node(EXP, (node(MUL, (first, power)),))
    second = logs[1] if len(inputs) == 2 else None
    if value.primitive in (MUL, DIV) and first is not None and second is not None:
        return node(EXP, (node(ADD if value.primitive is MUL else SUB, (first, second)),))
    return None


class Scaled(NamedTuple):
    """A formula exp(rate*v)*rest, with the variable v."""

    rate: Fraction
    rest: Value


def _scaled_arithmetic(value: Value, inputs: tuple[Value, ...]) -> Value | None:
    """Return sums, products and quotients with the exponential that grows fastest outside; None for
    other formulas.

    What is left of a quotient of sums is nearly constant far out, so that enclosures over wide
    intervals are narrow.
    """
    if value.primitive not in (ADD, SUB, MUL, DIV, NEG):
        return None
    v: Value | None = None
    parts: list[Scaled] = []
    for each in inputs:
        leaf, part = _scaled(each)
        v, parts = v or leaf, [*parts, part]
    if v is None:
        return None
    if value.primitive in (ADD, SUB):
        rate = max(part.rate for part in parts)
        rests = tuple(_times_exponential(part.rest, part.rate - rate, v) for part in parts)
    else:
        rate = parts[0].rate + sum(
            -part.rate if value.primitive is DIV else part.rate for part in parts[1:]
        )
        rests = tuple(part.rest for part in parts)
    return _times_exponential(rebuild(value, rests), rate, v)


def _times_exponential(rest: Value, rate: Fraction, v: Value) -> Value:
    if not rate:
        return rest
    factor = node(EXP, (node(MUL, (fraction_node(rate), v)),))
    return factor if exact_value(rest) == 1 else node(MUL, (factor, rest))


def _scaled(value: Value) -> tuple[Value | None, Scaled]:
    """Return the variable in the exponent of a factor, None without one, and the formula by it."""
    if value.primitive is EXP:
        split: tuple[Value, Value] | None = (value._prev[0], constant(1.0, "1"))
    else:
        split = _positive_factor(value)
    if split is not None:
        multiples, rest = as_linear(simplify((split[0],))[0])
        if not rest and len(multiples) == 1:
            ((leaf, rate),) = multiples.items()
            if leaf.primitive is VARIABLE:
                return leaf, Scaled(rate, split[1])
    return None, Scaled(Fraction(0), value)


def _positive_factor(value: Value) -> tuple[Value, Value] | None:
    """Return the exponent of an exponential in a product or quotient, and the rest of it."""
    if value.primitive is DIV and value._prev[1].primitive is EXP:
        return node(NEG, (value._prev[1]._prev[0],)), value._prev[0]
    if value.primitive is MUL:
        for factor, rest in (value._prev, value._prev[::-1]):
            if factor.primitive is EXP:
                return factor._prev[0], rest
    return None


def _power_of(value: Value, inputs: tuple[Value, ...]) -> Value | None:
    """Return the exponent of a root or a power with a constant one; None for another formula."""
    if value.primitive.name == "sqrt":
        return constant(0.5, "0.5")
    if value.primitive is not POW:
        return None
    exponent = exact_value(inputs[1])
    return inputs[1] if inputs[1].primitive is CONSTANT or exponent is not None else None


def _log_of(value: Value) -> Value | None:
    """Return the logarithm of an exponential, or of a positive number; None for another formula."""
    if value.primitive is EXP:
        return value._prev[0]
    return (
        node(PRIMITIVES["log"], (value,))
        if value.primitive is CONSTANT and value.data > 0
        else None
    )


def _over_end_part(quadrature: Quadrature, part: EndPart, name: str) -> Any:
    """Return the ball of the integral over a part at an end; None if it is not known."""
    goal = arb(2) ** (SPARE_BITS - quadrature.bits)
    start = part.first
    while (bound := _tail_bound(part, name, start)) is None or not bound < goal:
        start *= FACTOR
        if start > LARGEST_START:
            return None
    inside = arb(0)
    if start > part.first:
        inside = quadrature.rough_integral(ball(part.first).log(), ball(start).log(), goal)
    return inside + arb(0, bound.upper()) if inside.is_finite() else None


def still_part(integrand: Value, name: str, end: IntegralEnd) -> Value | None:
    """Return the part of a formula that does not oscillate at an infinite end, in t; None unless
    the rest converges.
    """
    part = _end_part(integrand, name, end, -1, None, math.inf)
    waves = oscillation_in(part.formula, name)
    if waves is None or waves.still is None:
        return None
    starts = takewhile(lambda start: start <= MAX_START, (part.first * 2**k for k in count()))
    converges = any(waves_from(waves, name, start, FEW_DIGITS) is not None for start in starts)
    return waves.still if converges else None


def _over_waves(waves: Oscillation, part: EndPart, name: str, digits: int) -> Any:
    """Return the ball of the integral of what oscillates over a part at infinity; None if it is not
    known.
    """
    start = part.first
    while (outer := waves_from(waves, name, start, digits)) is None:
        start *= 2
        if start > MAX_START:
            return None
    if waves.still is not None:
        still = part._replace(formula=waves.still, first=start)
        found = _over_end_part(Quadrature(_in_logarithm(still, name), name, digits), still, name)
        if found is None:
            return None
        outer = outer + found
    inner = Quadrature(part.formula, name, digits).integral(ball(part.first), ball(start))
    return outer + inner if inner.is_finite() else None


def _tail_bound(part: EndPart, name: str, start: Fraction) -> Any:
    """Return a bound of the integral from t = start to infinity; None if there is none."""
    m = EventualBounds(start)
    try:
        size = m.bounds(evaluate_in(m, part.formula, {name: m.t}).value)
    except (ExpressionError, TypeError, AttributeError, *NO_RESULT):
        return None
    if size.terms == {}:
        return arb(0)
    if size.upper is None:
        return None
    return size.upper.times(Growth(arb(1), Fraction(part.weight))).integral(start)
