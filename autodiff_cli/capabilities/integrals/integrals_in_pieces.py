"""Formulas in pieces: the points where these meet, and antiderivatives that are proven, or joined,
piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise

from ...engine.algebra.almost_everywhere import Contradiction, as_linear, assume
from ...engine.algebra.canonical import exact_value, fraction_node
from ...engine.algebra.identities import is_zero
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import truth
from ...engine.algebra.walk import has_variables, rebuild, rewrite, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import Defined
from ...engine.numbers.running_digits import RunningDigits
from ...engine.numerics.polynomials import real_roots
from ...engine.table.operators import (
    ADD,
    AND,
    DIV,
    GE,
    GT,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    OR,
    SUB,
    VARIABLE,
    WHERE,
)
from ...engine.table.primitives import SQRT, by_name
from ...errors import ExpressionError
from .continuous import OpenInterval

# The most points where pieces meet of an antiderivative: longer ones are not read.
MAX_POINTS = 8
# How deep in kinks other kinks are looked for.
MAX_NESTED = 3
# The most points between which these are.
MAX_SPLIT = 40
# Roots of polynomials are looked for among fractions of this denominator at most.
MAX_ROOT_DENOMINATOR = 1000
DIGITS = 50
"""Digits in which the signs of irrational numbers are computed."""
DIGITS_OF_DOUBLE = 17
SEPARATION = 10**6
"""Roots that are nearer than the inverse of this have to be proven equal."""
COMPARED = (LT, LE, GT, GE)
Piece = Callable[..., Value]
# What functions are for a negative argument, or difference of their arguments, and for a positive
# one.
PIECES: dict[str, tuple[Piece, Piece]] = by_name({
    "abs": (lambda x: node(NEG, (x,)), lambda x: x),
    "relu": (lambda x: constant(0.0, "0"), lambda x: x),
    "sign": (lambda x: constant(-1.0, "-1"), lambda x: constant(1.0, "1")),
    "heaviside": (lambda x: constant(0.0, "0"), lambda x: constant(1.0, "1")),
    "max": (lambda x, y: y, lambda x, y: x),
    "min": (lambda x, y: x, lambda x, y: y),
})  # fmt: skip


def breakpoints(formulas: Sequence[Value], name: str) -> list[Fraction]:
    """Return the numbers where arguments of kinks, or sides of comparisons, are equal, if they are
    polynomials.

    The argument of an outer kink is one between the points of an inner one: `abs(abs(x) - 1)`.
    """
    points = sorted(_points(formulas, name))
    for _ in range(MAX_NESTED):
        if not points or len(points) > MAX_SPLIT:
            break
        pieces = smooth_pieces(formulas, name, points)
        intervals = zip(pairwise([None, *points, None]), pieces, strict=True)
        inside = {
            x for ends, piece in intervals for x in _points(piece, name) if _is_inside(x, *ends)
        }
        if not inside:
            break
        points = sorted({*points, *inside})
    return points


def _points(formulas: Sequence[Value], name: str) -> set[Fraction]:
    return {x for difference in _differences(formulas) for x in _roots(difference, name) or ()}


def _is_inside(x: Fraction, low: Fraction | None, high: Fraction | None) -> bool:
    return (low is None or x > low) and (high is None or x < high)


def _differences(formulas: Sequence[Value]) -> Iterator[Value]:
    """Yield what is 0 where a formula has a kink or a condition changes."""
    for value in in_order(tuple(formulas)):
        if not value._prev or not (value.primitive.kink or value.primitive.gives_condition):
            continue
        inputs = value._prev
        for difference in (
            [node(SUB, pair) for pair in combinations(inputs, 2)] if len(inputs) > 1 else inputs
        ):
            if not any(one.primitive.gives_condition for one in (difference, *difference._prev)):
                yield simplify((difference,))[0]


def _roots(formula: Value, name: str) -> list[Fraction] | None:
    """Return the real roots of a polynomial in a variable; None if it is none, or one of them is no
    simple fraction.
    """
    leaves = [leaf for leaf in in_order((formula,)) if leaf.primitive is VARIABLE]
    if [leaf.label for leaf in leaves] != [name]:
        return None
    multiples, rest = as_linear(formula)
    if {*multiples} == {*leaves}:
        return [-rest / multiples[leaves[0]]]
    numbers = [exact_value(one) for one in simplify(polynomial_in(formula, leaves[0]) or [formula])]
    known = [number for number in numbers if number is not None]
    return _simple_roots(known) if len(known) == len(numbers) and any(known) else None


def _simple_roots(coefficients: Sequence[Fraction]) -> list[Fraction] | None:
    """Return the real roots of a polynomial that is not 0, from the constant on; None if one is no
    simple fraction.
    """
    roots = [
        Fraction(root.x).limit_denominator(MAX_ROOT_DENOMINATOR)
        for root in real_roots(coefficients)
    ]
    zero = all(sum(c * x**k for k, c in enumerate(coefficients)) == 0 for x in roots)
    return roots if zero else None


def smooth_pieces(
    formulas: Sequence[Value], name: str, points: Sequence[Fraction]
) -> list[list[Value]]:
    """Return what formulas are between adjacent points, and beyond the first and the last one."""
    leaf = variable(name)
    formulas = [_at(formula, name, leaf) for formula in formulas]
    found = []
    for low, high in pairwise([None, *points, None]):
        ends = [None if x is None else fraction_node(x) for x in (low, high)]
        facts = OpenInterval(leaf, low, high, *ends).facts()
        settled = [_settled(formula, name, low, high) for formula in formulas]
        with Defined(ExpressionError, Contradiction):
            settled = assume(simplify(tuple(assume(settled, facts))), facts)
        found.append(settled)
    return found


def _settled(formula: Value, name: str, low: Fraction | None, high: Fraction | None) -> Value:
    """Return a formula without kinks at roots of polynomials that are not between two points."""
    middle = fraction_node(_between(low, high))

    def sign(difference: Value) -> int:
        """Return the sign between the points; 0 if it is not known."""
        (difference,) = simplify((difference,))
        roots = _roots(difference, name)
        if roots is None or any(_is_inside(x, low, high) for x in roots):
            return 0
        there = exact_value(simplify((_at(difference, name, middle),))[0]) or 0
        return (there > 0) - (there < 0)

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        pieces = PIECES.get(value.primitive.name)
        side = 0
        if pieces is not None and len(inputs) <= 2:
            side = sign(inputs[0] if len(inputs) == 1 else node(SUB, inputs))
        return pieces[side > 0](*inputs) if pieces is not None and side else rebuild(value, inputs)

    return rewrite((formula,), rule)[0]


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def is_smooth(formula: Value) -> bool:
    """Return whether a formula has no kinks and no conditions."""
    return not any(
        value.primitive.kink or value.primitive.gives_condition for value in in_order((formula,))
    )


def is_equal_in_pieces(one: Value, other: Value, name: str) -> bool:
    """Return whether two formulas are proven to be equal between the points where their pieces meet."""
    points = breakpoints((one, other), name)
    if 0 < len(points) <= MAX_POINTS:
        pairs = smooth_pieces((one, other), name, points)
        if all(is_zero(node(SUB, (left, right))) for left, right in pairs):
            return True
    between = _pieces_between_roots((one, other), name)
    return bool(between) and all(is_zero(node(SUB, (left, right))) for left, right in between)


# ---- pieces that meet at roots of quadratic equations
def _pieces_between_roots(formulas: Sequence[Value], name: str) -> list[list[Value]]:
    """Return what formulas are between the adjacent roots of their differences, and beyond; none if one is not known.

    A difference is linear or quadratic, so that all of its roots are known, and has one sign between adjacent ones,
    which is that at a number in between.
    """
    differences = [one for one in _differences(formulas) if has_variables(one)]
    roots: list[Value] = []
    for difference in differences:
        own = _quadratic_roots(difference, name)
        if own is None:
            return []
        roots += own
    places = _apart(roots)
    if not differences or places is None or len(places) > MAX_POINTS:
        return []
    pieces = []
    for low, high in pairwise([None, *places, None]):
        middle = fraction_node(_between(low, high))
        piece = rewrite(formulas, partial(_by_signs, name=name, middle=middle))
        if not all(map(is_smooth, piece)):
            return []
        pieces.append(piece)
    return pieces


def _quadratic_roots(formula: Value, name: str) -> list[Value] | None:
    """Return the real roots of a polynomial of degree 1 or 2; None if it is none, or depends on other variables."""
    leaves = [leaf for leaf in in_order((formula,)) if leaf.primitive is VARIABLE]
    coefficients = (
        polynomial_in(formula, leaves[0]) if [leaf.label for leaf in leaves] == [name] else None
    )
    if coefficients is None or not 2 <= len(coefficients) <= 3:
        return None
    c, b, *rest = simplify(coefficients)
    if not rest:
        return [node(NEG, (node(DIV, (c, b)),))] if _sign_of(b) else None
    (a,) = rest
    square = node(
        SUB, (node(MUL, (b, b)), node(MUL, (fraction_node(Fraction(4)), node(MUL, (a, c)))))
    )
    sign = _sign_of(square)
    if not _sign_of(a) or sign is None:
        return None
    roots = [node(SQRT, (square,)), node(NEG, (node(SQRT, (square,)),))] if sign > 0 else []
    return [
        node(DIV, (node(SUB, (root, b)), node(MUL, (fraction_node(Fraction(2)), a))))
        for root in roots
    ]


def _apart(roots: Sequence[Value]) -> list[Fraction] | None:
    """Return numbers beside the roots in order, those of equal ones once; None if two cannot be
    told apart.
    """
    kept: list[tuple[Fraction, Value]] = []
    for root in roots:
        x = _known_number(root)
        at = None if x is None else Fraction(x).limit_denominator(SEPARATION**2)
        if at is None or abs(at) > SEPARATION:
            return None
        near = [other for place, other in kept if abs(place - at) < Fraction(1, SEPARATION)]
        if not near:
            kept.append((at, root))
        elif not _are_equal(root, near[0], abs(at) > Fraction(1, SEPARATION)):
            return None
    return sorted(place for place, _ in kept)


def _known_number(number: Value) -> float | None:
    """Return a number without variables as a double; None if 50 digits do not give all of it."""
    with Defined(ExpressionError, *NO_RESULT):
        x = value_in(RunningDigits(DIGITS), number, {})
        if x is not None and x.correct_digits(DIGITS) >= DIGITS_OF_DOUBLE:
            return float(x)
    return 0.0 if is_zero(number) else None


def _are_equal(one: Value, other: Value, is_of_one_sign: bool) -> bool:
    """Return whether two numbers that are near each other are proven to be equal, or their squares:
    `sqrt(8)/2` and `sqrt(2)`.
    """
    squares = [node(MUL, (x, x)) for x in (one, other)]
    return is_zero(node(SUB, (one, other))) or (is_of_one_sign and is_zero(node(SUB, squares)))


def _sign_of(number: Value) -> int | None:
    """Return the sign of a number without variables; None if 50 digits do not decide, 0 where
    that is proven.
    """
    x = _known_number(number)
    return None if x is None else (x > 0) - (x < 0)


def _by_signs(value: Value, inputs: tuple[Value, ...], name: str, middle: Value) -> Value:
    """Return an operation without its kink or condition, by the sign of its difference at a number."""
    primitive = value.primitive
    if primitive in (WHERE, NOT, AND, OR):
        return _of_known_conditions(value, inputs)
    is_piece = primitive.name in PIECES
    if not 1 <= len(inputs) <= 2 or not (is_piece or primitive in COMPARED):
        return rebuild(value, inputs)
    difference = inputs[0] if len(inputs) == 1 else node(SUB, inputs)
    sign = _sign_of(_at(difference, name, middle))
    if not sign:
        return rebuild(value, inputs)
    if is_piece:
        return PIECES[primitive.name][sign > 0](*inputs)
    return truth((sign > 0) == (primitive in (GT, GE)))


def _of_known_conditions(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return the branch that is taken, or what is known of conditions together."""
    known = [_known(one) for one in inputs]
    if value.primitive is WHERE:
        return rebuild(value, inputs) if known[0] is None else inputs[1 if known[0] else 2]
    if None in known:
        return rebuild(value, inputs)
    if value.primitive is NOT:
        return truth(not known[0])
    return truth(all(known) if value.primitive is AND else any(known))


def _known(condition: Value) -> bool | None:
    """Return whether a condition always holds, or never, as `truth` writes it; else None."""
    sides = [exact_value(side) for side in condition._prev]
    return (
        condition.primitive is LE if condition.primitive in (LE, LT) and sides == [0, 0] else None
    )


def join_pieces(integrand: Value, name: str, find: Callable[[Value], Value | None]) -> Value | None:
    """Return an antiderivative of pieces that `find` has one of each of, continuous where they
    meet; or None.
    """
    points = breakpoints((integrand,), name)
    if not 0 < len(points) <= MAX_POINTS:
        return None
    pieces = [piece for (piece,) in smooth_pieces((integrand,), name, points)]
    if not all(map(is_smooth, pieces)):
        return None
    parts = [find(piece) for piece in pieces]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    leaf = variable(name)
    joined = [known[0]]
    for point, part in zip(points, known[1:], strict=True):
        place = fraction_node(point)
        step = node(SUB, (_at(joined[-1], name, place), _at(part, name, place)))
        joined.append(simplify((node(ADD, (part, step)),))[0])
    result = joined[-1]
    for point, part in zip(reversed(points), reversed(joined[:-1]), strict=True):
        result = node(WHERE, (node(LE, (leaf, fraction_node(point))), part, result))
    return result


def _at(formula: Value, name: str, place: Value) -> Value:
    return substitute(
        formula, lambda v: place if v.primitive is VARIABLE and v.label == name else None
    )
