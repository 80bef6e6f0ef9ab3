"""Definite integrals: what is proven of them, and what is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from ...engine.algebra.almost_everywhere import Contradiction, assume
from ...engine.algebra.asymptotic_series import (
    AsymptoticSeries,
    NoAsymptotics,
    NotReal,
    TooFewTerms,
)
from ...engine.algebra.canonical import fraction_node
from ...engine.algebra.exact_constants import ExactConstant, ExactConstants, UndecidedSign
from ...engine.algebra.identities import COSINE, SINE
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.algebra.walk import rebuild, rewrite
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.base import UNDECIDED as UNDECIDED_KIND
from ...engine.numbers.budget import BudgetExceeded, Defined
from ...engine.table.operators import DIV, MUL, VARIABLE
from ...engine.table.primitive import PRIMITIVES
from ...engine.table.primitives import by_name
from ...errors import Diagnostic, ExpressionError
from ...language.printer import expression_text
from ..limit.limit import LimitUnknown, SideLimit, side_limit
from .antiderivatives import Antiderivative
from .complex_balls import UNKNOWN as UNKNOWN_FUNCTIONS
from .continuous import Condition, NotContinuous, OpenInterval, conditions_of, holds
from .ends import IntegralEnd, at_number
from .holes import fill_hole
from .integrals_in_pieces import breakpoints
from .integrate import Integral, with_antiderivative
from .quadrature import Quadrature, ball, precision
from .tails import integral_with_tails, still_part

# Terms of the series that show how an integrand behaves at an end.
SIZES = (4, 8, 14)
# The largest distance from 0 of an integral that is shown as 0, with a proven bound: six digits are
# required.
LARGEST_ZERO = 1e-6
# An integrand is brought to size 1 where it is this power of ten off it.
OTHER_SIZE = 4
# Singular points are looked for among fractions, and multiples of pi, of this denominator at most.
MAX_DENOMINATOR = 1000
# The most points where pieces meet that an interval is divided at.
MAX_BREAKPOINTS = 40
# The most segments with an antiderivative each: SymPy takes a second for each of them.
MAX_SEGMENTS = 5
# How near to a singular end, as a share of the interval, an antiderivative is compared with proven
# digits.
DISTANCES = (Fraction(1, 4), Fraction(1, 1000))
# How far out this is done at an infinite end.
FAR = (3, 50)
BITS_A_DIGIT = 3.33
# Bits beyond the digits that are shown, so that these are rounded rightly.
SPARE_BITS = 8
# The digits of two computations near the ends, and where these begin: no point of the one is one of
# the other.
TAILS = (25, Fraction(1, 4), 50), (40, Fraction(1, 7), 70)
# With fewer digits that two computations share nothing is shown.
NO_DIGITS = 4
# At most so many digits are shown that are not proven.
MOST_UNPROVEN = 12
HINT = "`autodiff plot` shows the formula; split the interval, or move its ends"


class Divergent(Exception):
    """The integral diverges; the text says where."""


class IntegralUnknown(Exception):
    """The integral is not known; the text says why."""


class WithoutDigits(ExpressionError):
    """The ball of an integral is too wide for one digit."""


class RegularPiece(NamedTuple):
    """A part of the interval, between singular points."""

    low: IntegralEnd
    high: IntegralEnd
    low_state: str
    """How the integrand behaves at the lower end: `bounded`, `integrable`, or `unknown`."""
    high_state: str


class Segment(NamedTuple):
    """A part of the interval, between points where pieces of the formula meet, with its smooth
    piece there.
    """

    low: IntegralEnd
    high: IntegralEnd
    integrand: Value
    quadrature: Quadrature


class Found(NamedTuple):
    """What is known of the integral over a segment."""

    pieces: Sequence[RegularPiece]
    total: Any
    """Its ball, or None."""
    exact: ExactConstant | None
    antiderivative: Antiderivative | None


# What looks for an antiderivative of a formula.
Find = Callable[[Value], Antiderivative | None]


def definite(
    about: Integral,
    integrand: Value,
    name: str,
    ends: tuple[IntegralEnd, IntegralEnd],
    digits: int,
    find: Find,
) -> Integral:
    """Return the integral of a formula in one variable. Raises `ExpressionError` where it is not
    known.
    """
    low, high = ends
    about = about._replace(between=[low.text, high.text])
    order = _order(low, high)
    if order == 0:
        return _of_a_point(about, integrand, name, low, digits)
    if order > 0:
        answer = definite(about, integrand, name, (high, low), digits, find)
        return _negative(answer)._replace(between=[low.text, high.text])
    return _between(about, integrand, name, ends, digits, find)


def _between(
    about: Integral,
    integrand: Value,
    name: str,
    ends: tuple[IntegralEnd, IntegralEnd],
    digits: int,
    find: Find,
) -> Integral:
    """Return the integral between two ends in order. Raises `ExpressionError` where it is not
    known.

    Where tails end is decided beside numbers of size 1: an integrand of another size is brought to
    it if that leaves digits unknown.
    """
    try:
        answer = _at_scale(about, integrand, name, ends, digits, find, Fraction(1))
    except ExpressionError:
        scaled = _rescaled(about, integrand, name, ends, digits)
        if scaled is None:
            raise
        return scaled
    if answer.kind in ("exact", "divergent") or _digit_count(answer.digits) >= digits:
        return answer
    found = about._replace(
        antiderivative=answer.antiderivative, checked=answer.checked, domain=answer.domain
    )
    return _rescaled(found, integrand, name, ends, digits) or answer


def _digit_count(digits: str | None) -> int:
    """Return how many significant digits a text has; that of 0 has none."""
    mantissa = (digits or "0").partition("e")[0]
    return len(mantissa.lstrip("-0.").replace(".", ""))


def _rescaled(
    about: Integral,
    integrand: Value,
    name: str,
    ends: tuple[IntegralEnd, IntegralEnd],
    digits: int,
) -> Integral | None:
    """Return the integral by that of a multiple of about size 1; None if the integrand is of such
    a size, or nothing is known either.
    """
    try:
        power = _size(Quadrature(integrand, name, digits), *ends)
        if abs(power) < OTHER_SIZE:
            return None
        scale = Fraction(10) ** -power
        multiple = node(MUL, (fraction_node(scale), integrand))
        return _at_scale(about, multiple, name, ends, digits, None, scale)
    except (ExpressionError, BudgetExceeded):
        return None


def _size(quadrature: Quadrature, low: IntegralEnd, high: IntegralEnd) -> int:
    """Return the power of ten of the largest of some values of an integrand between two ends."""
    start = None if low.formula is None else Fraction(low.number)
    end = None if high.formula is None else Fraction(high.number)
    if start is not None and end is not None:
        places = [start + (end - start) * k / 16 for k in range(1, 16)]
    else:
        steps = [Fraction(2) ** k for k in range(-6, 7)]
        if start is None and end is None:
            steps += [-step for step in steps]
        places = [end - s if end is not None else (start or 0) + s for s in steps]
    return quadrature.power_of_ten(places)


def _at_scale(
    about: Integral,
    integrand: Value,
    name: str,
    ends: tuple[IntegralEnd, IntegralEnd],
    digits: int,
    find: Find | None,
    scale: Fraction,
) -> Integral:
    """Return the integral of a formula, which is a multiple by this scale of what is asked for.
    Raises `ExpressionError` where it is not known.
    """
    segments = _segments(integrand, name, *ends, digits)
    constants = ExactConstants()
    try:
        few = len(segments) <= MAX_SEGMENTS
        found = [_found(segment, name, constants, find if few else None) for segment in segments]
    except Divergent as divergent:
        return about._replace(kind="divergent", message=f"the integral diverges at {divergent}")
    except IntegralUnknown as unknown:
        raise ExpressionError(
            "domain", f"the integral is not known: {unknown}", None, HINT
        ) from None
    if len(found) == 1 and found[0].antiderivative is not None:
        about = with_antiderivative(about, found[0].antiderivative)
    exact = _sum([one.exact for one in found])
    quadrature = segments[0].quadrature
    total = _sum([_total(segment, one, name) for segment, one in zip(segments, found, strict=True)])
    if exact is not None:
        total = quadrature.value(exact.node)  # one number has more digits than a sum of balls
    if total is None or not total.is_finite():
        return _numerical(about, segments, found, name, scale)
    doubts = [] if exact is not None else _doubts(segments, name)
    try:
        return _proven(about, total, exact, digits, quadrature.bits, doubts, scale)
    except WithoutDigits as wide:
        return _numerical_or(wide, about, segments, found, name, scale)


def _numerical_or(
    wide: WithoutDigits,
    about: Integral,
    segments: Sequence[Segment],
    found: Sequence[Found],
    name: str,
    scale: Fraction,
) -> Integral:
    """Return a value that is not proven. Raises `wide` where there is none either."""
    try:
        return _numerical(about, segments, found, name, scale)
    except (ExpressionError, BudgetExceeded):
        raise wide from None


def _total(segment: Segment, found: Found, name: str) -> Any:
    """Return the ball of the integral over a segment, or None."""
    if found.total is not None:
        return found.total
    if found.exact is not None:
        return segment.quadrature.value(found.exact.node)
    ends_and_states = [
        pair
        for piece in found.pieces
        for pair in ((piece.low, piece.low_state), (piece.high, piece.high_state))
    ]
    if any(state == UNKNOWN and end.formula is not None for end, state in ends_and_states):
        return None
    # at an infinite end bounds show whether it converges
    ends = [(piece.low, piece.high) for piece in found.pieces]
    return integral_with_tails(segment.quadrature, segment.integrand, name, ends)


def _sum(numbers: Sequence[Any]) -> Any:
    """Return the sum; None if one is not known."""
    return None if any(x is None for x in numbers) else sum(numbers[1:], numbers[0])


# ---- segments between kinks
def _segments(
    integrand: Value, name: str, low: IntegralEnd, high: IntegralEnd, digits: int
) -> list[Segment]:
    """Return the parts between points where pieces of the formula meet; one if these points are not
    known.
    """
    leaves = [
        leaf for leaf in in_order((integrand,)) if leaf.primitive is VARIABLE and leaf.label == name
    ]
    inside = [x for x in breakpoints((integrand,), name) if low.number < x < high.number]
    suffix = low.suffix or high.suffix
    ends = (
        [low, *[at_number(x, suffix) for x in inside], high]
        if len(inside) <= MAX_BREAKPOINTS
        else [low, high]
    )
    segments = []
    for start, end in pairwise(ends):
        piece = integrand
        if leaves and any(
            value.primitive.kink or value.primitive.gives_condition
            for value in in_order((integrand,))
        ):
            facts = OpenInterval(leaves[0], None, None, start.formula, end.formula).facts()
            with Defined(ExpressionError, Contradiction):
                (piece,) = assume((integrand,), facts)
                (piece,) = assume(simplify((piece,)), facts)
        segments.append(Segment(start, end, piece, Quadrature(_without_holes(piece), name, digits)))
    return segments


def _found(segment: Segment, name: str, constants: ExactConstants, find: Find | None) -> Found:
    """Return what is known over a segment. Raises `Divergent` or `IntegralUnknown`."""
    quadrature, integrand = segment.quadrature, segment.integrand
    pieces, total = _pieces(quadrature, integrand, name, segment.low, segment.high)
    antiderivative = None if find is None else find(integrand)
    exact = None
    if antiderivative is not None:
        exact = _by_antiderivative(
            quadrature, antiderivative, integrand, name, pieces, total, constants
        )
    return Found(pieces, total, exact, antiderivative)


def _order(low: IntegralEnd, high: IntegralEnd) -> int:
    """Return -1 if an end is lower than another, 0 if they are equal, else 1. Raises
    `ExpressionError`.
    """
    one, other = low.number, high.number
    if (
        low.formula is None
        or high.formula is None
        or abs(one - other) > 1e-9 * max(abs(one), abs(other))
    ):
        return (one > other) - (one < other)
    constants = ExactConstants()
    difference = _exact(constants, low.formula) - _exact(constants, high.formula)
    return constants.sign(difference)


def _exact(constants: ExactConstants, formula: Value) -> ExactConstant:
    return constants.number(evaluate_in(constants, formula, {}).value)


def _of_a_point(
    about: Integral, integrand: Value, name: str, place: IntegralEnd, digits: int
) -> Integral:
    quadrature = Quadrature(integrand, name, digits)
    if place.formula is None or not quadrature.at(quadrature.value(place.formula)).is_finite():
        message = f"the integral is not known: the formula has no value at `{name}` = {place.text}"
        raise ExpressionError("domain", message, None, HINT)
    return about._replace(
        kind="exact", formula="0", value=0.0, digits="0", message="exact: the ends are equal"
    )


def _negative(answer: Integral) -> Integral:
    """Return the integral in the other direction."""
    value = None if answer.value is None else -answer.value + 0.0
    digits = answer.digits
    if digits not in (None, "0"):
        digits = digits.removeprefix("-") if digits.startswith("-") else f"-{digits}"
    formula = answer.formula
    if formula is not None:
        from ...questions.problem import parse

        formula = expression_text(simplify((parse(f"-({formula})").outputs[0],))[0])
    message = answer.message
    if answer.digits is not None and digits is not None:
        message = message.replace(answer.digits, digits)
    return answer._replace(value=value, digits=digits, formula=formula, message=message)


def _without_holes(integrand: Value) -> Value:
    """Return the formula with sinc for sin(u)/u, and cos(u)/sin(u) for 1/tan(u): it differs at
    single points only.
    """

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value.primitive is DIV and inputs[1].primitive.name in INVERTED:
            sine, cosine = (node(PRIMITIVES[name], inputs[1]._prev) for name in (SINE, COSINE))
            above, below = INVERTED[inputs[1].primitive.name](sine, cosine)
            product = node(MUL, (inputs[0], above))
            return product if below is None else node(DIV, (product, below))
        if (
            value.primitive is DIV
            and inputs[0].primitive.name == SIN
            and inputs[0]._prev[0] is inputs[1]
        ):
            return node(PRIMITIVES["sinc"], (node(DIV, (inputs[1], constant(math.pi, "pi"))),))
        return rebuild(value, inputs)

    return rewrite((integrand,), rule)[0]


SIN = PRIMITIVES["sin"].name
# Numerator and denominator of the reciprocals of functions with poles, by sine and cosine.
INVERTED: Mapping[str, Callable[[Value, Value], tuple[Value, Value | None]]] = by_name({
    "tan": lambda s, c: (c, s), "cot": lambda s, c: (s, c),
    "sec": lambda s, c: (c, None), "csc": lambda s, c: (s, None),
})  # fmt: skip


# ---- pieces between singular points
def _pieces(
    quadrature: Quadrature, integrand: Value, name: str, low: IntegralEnd, high: IntegralEnd
) -> tuple[list[RegularPiece], Any]:
    """Return the pieces between singular points, and the ball of the whole integral if it is
    known.
    """
    low_state = _state(quadrature, integrand, name, low, 1)
    high_state = _state(quadrature, integrand, name, high, -1)
    for place, state in ((low, low_state), (high, high_state)):
        if state == BOUNDED:
            fill_hole(quadrature, place, name)
    if (
        low.formula is not None
        and high.formula is not None
        and INTEGRABLE not in (low_state, high_state)
    ):
        total = quadrature.integral_in_parts(_ball(quadrature, low), _ball(quadrature, high))
        if total.is_finite():
            return [RegularPiece(low, high, BOUNDED, BOUNDED)], total
    pieces: list[RegularPiece] = []
    start, start_state = low, low_state
    for place in _singular_points(quadrature, integrand, name, low, high):
        before, after = (_end(integrand, name, place, side) for side in (-1, 1))
        if before == after == BOUNDED:
            fill_hole(quadrature, place, name)
        pieces.append(RegularPiece(start, place, start_state, before))
        start, start_state = place, after
    pieces.append(RegularPiece(start, high, start_state, high_state))
    if len(pieces) > 1 and all(piece.low_state == piece.high_state == BOUNDED for piece in pieces):
        balls = [
            quadrature.integral(_ball(quadrature, piece.low), _ball(quadrature, piece.high))
            for piece in pieces
        ]
        if all(one.is_finite() for one in balls):
            return pieces, sum(balls[1:], balls[0])
    return pieces, None


def _ball(quadrature: Quadrature, place: IntegralEnd) -> Any:
    assert place.formula is not None
    return quadrature.value(place.formula)


BOUNDED, INTEGRABLE, UNKNOWN = "bounded", "integrable", "unknown"


def _state(
    quadrature: Quadrature, integrand: Value, name: str, place: IntegralEnd, side: int
) -> str:
    """Return how the integrand behaves at an end, by its series or by a ball beside it. Raises as
    `_end`.
    """
    state = _end(integrand, name, place, side)
    if (
        state == UNKNOWN
        and place.formula is not None
        and quadrature.is_bounded(_ball(quadrature, place), side)
    ):
        return BOUNDED
    return state


def _end(integrand: Value, name: str, place: IntegralEnd, side: int) -> str:
    """Return whether the integrand is bounded, or integrable, at an end, or what it does there is
    unknown.

    Raises `Divergent` or `IntegralUnknown`.
    """
    for size in SIZES:
        constants = ExactConstants()
        m = AsymptoticSeries(constants, size)
        try:
            if place.formula is None:
                at = m.t if place.infinite > 0 else -m.t
                weight = m.number(1)
            else:
                at = m.number(_exact(constants, place.formula)) + side / m.t
                weight = m.t**-2
            series = m.number(evaluate_in(m, integrand, {name: at}).value)
            if place.formula is not None and not m.limit_sign(series):
                return BOUNDED
            if not m.is_integrable(series * weight):
                if constants.confirmed:
                    raise Divergent(f"`{name}` = {place.text}")
                break
            return INTEGRABLE
        except TooFewTerms:
            continue
        except NotReal:
            where = "above" if side > 0 else "below"
            message = f"the formula has no value near `{name}` = {place.text}, {where} it"
            raise IntegralUnknown(
                message if place.formula is not None else message.partition(",")[0]
            ) from None
        except (NoAsymptotics, UndecidedSign):
            break
        except ExpressionError as error:
            if error.kind not in ("domain", "overflow", UNDECIDED_KIND):
                raise
            break
        except BudgetExceeded:
            raise
        except NO_RESULT:
            break
    if place.formula is None and _still_part_diverges(integrand, name, place):
        raise Divergent(f"`{name}` = {place.text}")
    return UNKNOWN  # the quadrature, or the antiderivative, decides


def _still_part_diverges(integrand: Value, name: str, place: IntegralEnd) -> bool:
    """Return whether a formula is a sum of waves whose integral converges and of a part whose
    integral diverges.
    """
    still = still_part(integrand, name, place)
    if still is None:
        return False
    try:
        _end(still, name, IntegralEnd("inf", None, 1), -1)
    except Divergent:
        return True
    return False


def _singular_points(
    quadrature: Quadrature, integrand: Value, name: str, low: IntegralEnd, high: IntegralEnd
) -> list[IntegralEnd]:
    """Return points between the ends that may be singular. Raises `IntegralUnknown`, and
    `Divergent` at a pole.
    """
    start, end = Fraction(max(low.number, -1000.0)), Fraction(min(high.number, 1000.0))
    if start >= end:
        return []
    width = end - start
    found: list[IntegralEnd] = []
    for first, last in quadrature.suspects(start, end):
        if first <= start + width / 10**6 or last >= end - width / 10**6:
            continue  # an end, which was looked at by itself
        place = _simple_number(first, last, low.suffix)
        if place is not None and quadrature.has_value(_ball(quadrature, place)):
            place = None  # it is another number near it that is singular
        if place is None:
            _refuse_pole(quadrature, integrand, name, first, last, low.suffix)
            near = f"{float((first + last) / 2):.6g}{low.suffix}"
            raise IntegralUnknown(f"the formula may be singular near `{name}` = {near}")
        found.append(place)
    return found


def _refuse_pole(
    quadrature: Quadrature,
    integrand: Value,
    name: str,
    first: Fraction,
    last: Fraction,
    suffix: str,
) -> None:
    """Raise `Divergent` if the formula is the reciprocal of a function with a simple zero between
    two numbers.

    The reciprocal g changes its sign, and |g'| is at most L there: then |f| is at least 1/(L |x -
    r|).
    """
    width = last - first
    first, last = first - 3 * width, last + 3 * width
    with Defined(ExpressionError):
        (inverse,) = simplify((node(DIV, (constant(1.0, "1"), integrand)),))
        leaf = next(
            leaf
            for leaf in in_order((inverse,))
            if leaf.primitive is VARIABLE and leaf.label == name
        )
        (slope,) = derivatives(inverse, [leaf], 1).values()
        signs = [quadrature.enclosure(inverse, x, x) for x in (first, last)]
        whole = quadrature.enclosure(inverse, first, last)
        if (
            all(one.is_finite() and not one.contains(0) for one in signs)
            and (signs[0] > 0) != (signs[1] > 0)
            and whole.is_finite()
            and quadrature.enclosure(slope, first, last).is_finite()
        ):
            raise Divergent(f"a pole near `{name}` = {float((first + last) / 2):.10g}{suffix}")


def _simple_number(low: Fraction, high: Fraction, suffix: str) -> IntegralEnd | None:
    """Return a simple fraction, or multiple of pi, between two numbers."""
    middle, width = (low + high) / 2, high - low
    near = middle.limit_denominator(MAX_DENOMINATOR)
    if low <= near <= high:
        return at_number(near, suffix)
    turns = Fraction(float(middle) / math.pi).limit_denominator(60)
    if abs(float(turns) * math.pi - float(middle)) <= float(width) + 1e-12:
        from ...questions.problem import parse

        text = f"{turns.numerator}*pi/{turns.denominator}".removesuffix("/1").removeprefix("1*")
        return IntegralEnd(f"{text}{suffix}", parse(text).outputs[0], suffix=suffix)
    return None


# ---- exact values
def _by_antiderivative(
    quadrature: Quadrature, found: Antiderivative, integrand: Value, name: str, pieces: Sequence[RegularPiece],
    total: Any, constants: ExactConstants,
) -> ExactConstant | None:  # fmt: skip
    """Return the sum of differences of limits of a proven antiderivative that is continuous inside
    of each piece.

    Raises `Divergent` if a limit is infinite, or there is none.
    """
    if not found.proven:
        return None
    result = constants.number(0)
    for piece in pieces:
        if not is_continuous(quadrature, found.formula, integrand, name, piece):
            return None
        try:
            top = _limit(found.formula, name, piece.high, -1, constants)
            bottom = _limit(found.formula, name, piece.low, 1, constants)
        except (LimitUnknown, UndecidedSign):
            return None
        if top.value is None or bottom.value is None:
            if not constants.confirmed or "undefined" in (top.kind, bottom.kind):
                return None
            raise Divergent(f"`{name}` = {(piece.high if top.value is None else piece.low).text}")
        if total is None and not _agrees_inside(quadrature, found.formula, piece):
            return None
        result = result + (top.value - bottom.value)
    if not constants.confirmed:
        return None
    if total is not None and not quadrature.value(result.node).overlaps(total):
        return None
    return result


def _limit(
    formula: Value, name: str, end: IntegralEnd, side: int, constants: ExactConstants
) -> SideLimit:
    return side_limit(formula, name, end.place, side, {}, constants)


def is_continuous(
    quadrature: Quadrature,
    formula: Value,
    integrand: Value,
    name: str,
    piece: RegularPiece,
    facts: Sequence[Value] = (),
) -> bool:
    """Return whether an antiderivative is proven to be continuous inside of a piece, and the
    integrand to have values.

    Single points without a value do not matter to the integrand where its antiderivative is
    continuous.
    """
    leaves = [
        leaf
        for leaf in in_order((formula, integrand))
        if leaf.primitive is VARIABLE and leaf.label == name
    ]
    interval = OpenInterval(
        leaves[0] if leaves else variable(name),
        _below(piece.low),
        _above(piece.high),
        piece.low.formula,
        piece.high.formula,
    )
    try:
        conditions = conditions_of(formula)
        conditions += [one for one in conditions_of(integrand) if one.relation != "!="]
    except NotContinuous:
        return False
    return all(
        holds(_one_leaf(one, interval.variable), interval, facts, quadrature.enclosure)
        for one in conditions
    )


def _one_leaf(condition: Condition, leaf: Value) -> Condition:
    """Return a condition with this node for the variable of its name."""
    from ...engine.algebra.walk import substitute

    value = substitute(
        condition.value,
        lambda v: leaf if v.primitive is VARIABLE and v.label == leaf.label else None,
    )
    return condition._replace(value=value)


def _below(end: IntegralEnd) -> Fraction | None:
    if end.formula is None:
        return None
    ratio = _exact(ExactConstants(), end.formula).ratio
    return ratio if ratio is not None else Fraction(math.nextafter(end.number, -math.inf))


def _above(end: IntegralEnd) -> Fraction | None:
    if end.formula is None:
        return None
    ratio = _exact(ExactConstants(), end.formula).ratio
    return ratio if ratio is not None else Fraction(math.nextafter(end.number, math.inf))


def _agrees_inside(quadrature: Quadrature, formula: Value, piece: RegularPiece) -> bool:
    """Return whether the antiderivative's differences are the proven integrals between points near
    the ends.
    """
    for share, far in zip(DISTANCES, FAR, strict=True):
        low, high = _inner(piece, share, far)
        inside = quadrature.integral(ball(low), ball(high))
        ends = [quadrature.enclosure(formula, x, x) for x in (low, high)]
        if not inside.is_finite() or not all(end.is_finite() for end in ends):
            return False
        if not (ends[1] - ends[0] - inside).contains(0):
            return False
    return True


def _inner(piece: RegularPiece, share: Fraction, far: int) -> tuple[Fraction, Fraction]:
    """Return an interval inside of a piece."""
    low = None if piece.low.formula is None else Fraction(piece.low.number)
    high = None if piece.high.formula is None else Fraction(piece.high.number)
    start = (Fraction(0) if high is None else high) - far if low is None else low
    end = (Fraction(0) if low is None else low) + far if high is None else high
    width = min(end - start, Fraction(1))
    return (
        start if low is None else start + share * width,
        end if high is None else end - share * width,
    )


# ---- answers
def _doubts(segments: Sequence[Segment], name: str) -> list[Diagnostic]:
    """Return a warning if it is not proven that the integrand has values between the ends."""
    for low, high, integrand, quadrature in segments:
        if quadrature.straddles and not is_continuous(
            quadrature, integrand, integrand, name, RegularPiece(low, high, UNKNOWN, UNKNOWN)
        ):
            message = (
                "it is not proven that the formula has values everywhere between the ends: the"
                " digits suppose it"
            )
            return [Diagnostic("integral", message, None, None)]
    return []


def _proven(
    about: Integral,
    total: Any,
    exact: ExactConstant | None,
    digits: int,
    bits: int,
    doubts: Sequence[Diagnostic],
    scale: Fraction,
) -> Integral:
    """Return the integral by the ball of its multiple. Raises `WithoutDigits` where that is too
    wide.
    """
    formula = None if exact is None else expression_text(exact.m.simplest(exact))
    with precision(bits):
        shown, value = _digits(total if scale == 1 else total / ball(scale), exact, digits)
    about = about._replace(warnings=(*about.warnings, *doubts))
    if exact is not None:
        message = (
            f"exact: the antiderivative is continuous between the ends; proven digits: {shown}"
        )
        if exact.ratio is not None:
            message = "exact: the antiderivative is continuous between the ends"
        return about._replace(
            kind="exact", formula=formula, value=value, digits=shown, message=message
        )
    message = f"proven digits: {shown}"
    if shown == "0" and not total.is_zero():
        if not total.contains(0) or total.abs_upper() > LARGEST_ZERO:
            ends = total.lower().str(2, radius=False), total.upper().str(2, radius=False)
            message = (
                f"the integral is not known: it is only proven to be between {ends[0]} and"
                f" {ends[1]}"
            )
            raise WithoutDigits("domain", message, None, HINT)
        upper = total.abs_upper() / ball(scale)
        message = f"proven: it is at most {upper.str(2, radius=False)} from 0"
    return about._replace(kind="proven", formula=None, value=value, digits=shown, message=message)


def _digits(total: Any, exact: ExactConstant | None, digits: int) -> tuple[str, float | None]:
    """Return the proven digits of a ball, and its middle."""
    if exact is not None and exact.ratio is not None:
        ratio = exact.ratio
        if ratio.denominator == 1 and len(str(ratio)) <= digits:
            return str(ratio), float(ratio)
        total = ball(ratio)
    proven = min(digits, int((total.rel_accuracy_bits() - SPARE_BITS) / BITS_A_DIGIT))
    if total.contains(0) or proven < 1:
        return "0", 0.0
    return str(total.str(proven, radius=False)), _double(float(total.mid()))


def _double(x: float) -> float | None:
    """Return a double, or None for a number that is too large for one: then there are its
    digits.
    """
    return x if math.isfinite(x) else None


def _numerical(
    about: Integral,
    segments: Sequence[Segment],
    found: Sequence[Found],
    name: str,
    scale: Fraction,
) -> Integral:
    """Return a convergent improper integral by that of its multiple: proven inside, and by
    tanh-sinh quadrature near the ends, twice.
    """
    parts = [
        (segment, piece)
        for segment, one in zip(segments, found, strict=True)
        for piece in one.pieces
    ]
    for segment, piece in parts:
        for end, state in ((piece.low, piece.low_state), (piece.high, piece.high_state)):
            if state == UNKNOWN:
                message = (
                    f"the integral is not known: whether it converges at `{name}` = {end.text} is"
                    " not shown"
                )
                raise ExpressionError("domain", message, None, HINT)
        if not is_continuous(segment.quadrature, segment.integrand, segment.integrand, name, piece):
            raise ExpressionError(
                "domain", f"the integral is not known: {_reason(segment.integrand)}", None, HINT
            )
    (first, own), (second, other) = (_with_tails(parts, name, *way) for way in TAILS)
    size = max(abs(second), 1e-10)
    error = max(abs(first - second), own, other)
    agreed = _agreed(error, size)
    if agreed < NO_DIGITS + 2:
        raise _value_not_known()
    shown = min(agreed - 2, MOST_UNPROVEN)
    if abs(second) < size * 10.0**-shown:
        message = (
            "not proven: it is 0 in two computations near the ends; that it converges is proven"
        )
        return about._replace(kind="numerical", value=0.0, message=message)
    shown = min(shown, _agreed(error, abs(second)) - 2)
    if shown < 1:
        raise _value_not_known()
    text = str(second.context.nstr(second * scale.denominator / scale.numerator, shown))
    message = (
        f"not proven: two computations near the ends agree to {shown} digits; that it converges is"
        " proven"
    )
    return about._replace(kind="numerical", value=float(text), message=message)


def _agreed(error: Any, size: Any) -> int:
    """Return how many digits of a number of this size an error leaves, 30 at most."""
    return 30 if error == 0 else int(-math.log10(max(float(error / size), 1e-30)))


def _value_not_known() -> ExpressionError:
    message = "the integral converges, but its value is not known"
    return ExpressionError("domain", message, None, HINT)


def _reason(integrand: Value) -> str:
    """Return why the quadrature has no finite ball of an integral."""
    unknown = sorted(
        {
            value.primitive.written
            for value in in_order((integrand,))
            if value.primitive.name in UNKNOWN_FUNCTIONS
        }
    )
    return (
        f"the quadrature does not know `{unknown[0]}`"
        if unknown
        else "the formula may be singular between the ends"
    )


def _with_tails(
    parts: Sequence[tuple[Segment, RegularPiece]], name: str, digits: int, share: Fraction, far: int
) -> tuple[Any, Any]:
    """Return the sum of integrals, whose tails begin at a share of the interval or far out, and its
    estimated error.
    """
    from ...engine.numbers.multiprecision import Multiprecision

    m = Multiprecision(digits, decimals=True)
    total, error = m.context.mpf(0), m.context.mpf(0)
    for segment, piece in parts:
        low, high = _inner(piece, share, far)
        proven = segment.quadrature.integral(ball(low), ball(high))
        if not proven.is_finite():
            raise ExpressionError(
                "domain", f"the integral is not known: {_reason(segment.integrand)}", None, HINT
            )
        total += m.context.mpf(proven.mid().str(40, radius=False))
        for ends in ((piece.low, low), (high, piece.high)):
            tail, estimate = _tail(m, segment.integrand, name, *ends)
            total, error = total + tail, error + estimate
    return total, error


def _tail(
    m: Any, integrand: Value, name: str, low: IntegralEnd | Fraction, high: IntegralEnd | Fraction
) -> tuple[Any, Any]:
    """Return an integral to a singular end by tanh-sinh quadrature, and what its levels say of its
    error.
    """
    ends = []
    for end in (low, high):
        if isinstance(end, Fraction):
            ends.append(m.context.mpf(end.numerator) / end.denominator)
        elif end.formula is None:
            ends.append(m.context.mpf(end.infinite * math.inf))
        else:
            ends.append(evaluate_in(m, end.formula, {}).value)
    if ends[0] == ends[1]:
        return m.context.mpf(0), m.context.mpf(0)
    try:
        value: tuple[Any, Any] = m.context.quad(
            lambda x: evaluate_in(m, integrand, {name: x}).value, ends, maxdegree=9, error=True
        )
        return value
    except (ExpressionError, *NO_RESULT):
        raise _value_not_known() from None
