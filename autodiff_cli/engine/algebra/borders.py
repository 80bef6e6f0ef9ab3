"""Borders: where the pieces of a formula meet, and whether its derivatives there are those of the
function.

A border is an equation, `x = 0` for `abs(x)`, at which an operation goes from one smooth piece to
another. There a formula has the number of its convention. The function on both sides is compared by
asymptotic series, with the other variables as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ..graphs.value import Value, constant, graph_of, in_order, node, variable
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.budget import use_share
from ..table.operators import ADD, EQ, MUL, NE, NEG, POW, SUB, VARIABLE
from ..table.primitive import OPERATIONS
from ..table.primitives import library_names
from .almost_everywhere import IntegerFacts, fixes_integers, guards_under
from .asymptotic_series import NoAsymptotics
from .canonical import exact_value
from .exact_constants import ExactConstant, ExactConstants, UndecidedSign
from .guard_series import MAX_BRANCH_NODES, is_proven_nonzero, isolated
from .one_sided_series import UNKNOWN, SideSeries, side_series
from .simplify import simplify
from .symbolic import UNEVALUATED, as_node
from .walk import substitute, text_ids

# Borders of a formula that are looked at: each needs a series of the whole formula on both sides.
MAX_BORDERS = 12
# Ways of taking sides at one operation, `max` of five arguments.
MAX_WAYS = 16
# The share of the work left that comparisons may use: they are no part of what was asked for.
SHARE = 0.25
# Operations without a jump, pole or end of their domain; the table does not say which have a pole.
CONTINUOUS = {ADD, SUB, MUL, NEG} | {
    OPERATIONS[name]
    for name in library_names(
        "abs exp expm1 sin cos atan sinh cosh tanh asinh erf erfi softplus sigmoid"
    )
}
# The label of an arbitrary whole number; no name of the language ends in a space.
WHOLE = "n "


class Known(Enum):
    """What is known of the derivatives at a border."""

    NONE = "none"
    """The function has no derivative there."""
    NONE_IN_GENERAL = "none in general"
    """The function has none there but for some values of other variables."""
    OTHER = "other"
    """The function has one, which is not what the formula gives."""
    UNDECIDED = "undecided"
    """Nothing of this is proven, nor that the formula holds there."""


class Border(NamedTuple):
    """Where an operation goes from one piece to another: where two formulas are equal."""

    operation: Value
    left: Value
    right: Value

    @property
    def is_integral(self) -> bool:
        """Return whether it is at all whole numbers, or half-way between them."""
        return self.right.label == WHOLE

    @property
    def is_cut(self) -> bool:
        """Return whether it is the cut of an angle, where the other coordinate is negative."""
        return self.operation.primitive.name == "atan2"

    @property
    def equation(self) -> Value:
        """Return the condition that holds there; for one of the whole numbers, or half-way to the
        next.
        """
        if self.operation.primitive.name != "round":
            return node(EQ, (self.left, self.right))
        return node(EQ, (self.left, node(ADD, (self.right, constant(0.5, "0.5")))))


class Convention(NamedTuple):
    """A border at which a formula's number is a convention, or may be one."""

    border: Border
    known: Known


class Conventions(NamedTuple):
    """The conventions of a formula; not complete if there are more borders than are looked at."""

    found: list[Convention]
    is_complete: bool = True


def conventions(
    output: Value,
    formulas: Callable[[], Iterable[Value]],
    wrt: Sequence[Value],
    order: int,
    facts: Sequence[Value] = (),
) -> Conventions:
    """Return the borders at which derivatives of an order, by leaves, are not shown to be those of
    the function.

    `formulas` returns the derivatives; it is called only if there is a border. `facts` are what is
    assumed.
    """
    values = in_order((output,))
    if not any(map(_has_border, values)):
        return Conventions([])
    borders: list[Border] = []
    derived: list[Value] = []
    is_complete = is_small = False
    with suppress(*UNKNOWN), use_share(SHARE):
        borders += islice(_met(output, {leaf.label for leaf in wrt}, facts), MAX_BORDERS + 1)
        is_complete = len(borders) <= MAX_BORDERS
        derived += formulas() if borders and len(values) <= MAX_BRANCH_NODES else ()
        is_small = len(derived) > 0 and len(in_order((output, *derived))) <= MAX_BRANCH_NODES
    found = []
    for border in borders[:MAX_BORDERS]:
        known: Known | None = Known.UNDECIDED
        with suppress(*UNKNOWN), use_share(SHARE):
            known = _AtBorder(border, output, order).compare(derived) if is_small else known
        if known is not None:
            found.append(Convention(border, known))
    return Conventions(found, is_complete)


# ---- where they are
def _has_border(value: Value) -> bool:
    return value.primitive.breakpoint is not None and value.primitive not in (EQ, NE)


def _met(output: Value, names: set[str], facts: Sequence[Value]) -> Iterator[Border]:
    """Yield the different borders that depend on the variables and can be met."""
    guards, integers = guards_under(output, facts), IntegerFacts(facts)
    numbers: dict[tuple[object, ...], int] = {}
    seen: set[int] = set()
    for value in filter(_has_border, in_order((output,))):
        for border in _borders(value):
            if not any(
                v.primitive is VARIABLE and v.label in names
                for v in in_order((border.left, border.right))
            ):
                continue
            if border.is_integral and integers.covers(border.left):
                # derivatives are those of the function of a real variable, which is its input
                continue
            if "=" not in guards.possible_orders(border.left, border.right, guards.place[value]):
                continue
            if border.is_cut and "<" not in guards.possible_orders(
                value._prev[1], border.right, guards.place[value]
            ):
                continue
            keys = text_ids(_both_ways(border.equation), numbers)
            if seen.isdisjoint(keys):
                yield border
            seen.update(keys)


def _both_ways(equation: Value) -> list[Value]:
    """Return what vanishes where an equation holds, and its opposite."""
    left, right = equation._prev
    differences = [node(SUB, (left, right)), node(SUB, (right, left))]
    try:
        return simplify(differences, spell=False)
    except ExpressionError:
        return differences


class _GivenSides:
    """Sides of what an operation asks about: as given, then the upper ones."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers = answers
        self.asked: list[Value] = []

    def __call__(self, u: Value) -> int:
        self.asked.append(u)
        k = len(self.asked) - 1
        return self.answers[k] if k < len(self.answers) else 1

    def is_nonzero(self, u: Value) -> bool:
        """Return that a number is not 0: comparisons with `==` are no borders."""
        return True

    def length(self, xs: Sequence[Value]) -> Value:
        """Return the length of a vector that vanishes, of which one input is asked about."""
        return xs[0] if self(xs[0]) > 0 else node(NEG, (xs[0],))


def _borders(operation: Value) -> list[Border]:
    """Return the places where the pieces of an operation meet."""
    primitive, inputs = operation.primitive, operation._prev
    zero = constant(0.0, "0")
    if fixes_integers(primitive):
        return [Border(operation, inputs[0], variable(WHOLE))]
    if primitive.norm and len(inputs) > 1:
        return [Border(operation, operation, zero)]
    if primitive.name == "atan2":  # the other input is asked about too, to choose a formula
        return [Border(operation, inputs[0], zero)]
    asked: list[Value] = []
    waiting: list[list[int]] = [[]]
    for _ in range(MAX_WAYS):
        if not waiting:
            break
        answers = waiting.pop(0)
        sides = _GivenSides(answers)
        try:
            piece_of(operation, sides)
        except ValueError:  # where bounds have changed places
            continue
        asked += sides.asked[len(answers) - 1 : len(answers)]
        waiting += [[*[1] * k, -1] if not answers else [*answers, *[1] * (k - len(answers)), -1]
                    for k in range(len(answers), len(sides.asked))]  # fmt: skip
    pairs = [u._prev if u.primitive is SUB else (u, zero) for u in asked]
    # `max` compares each input with the largest before it
    return [Border(operation, *(pair[::-1] if primitive.extreme_value else pair)) for pair in pairs]


def piece_of(operation: Value, sides: _GivenSides) -> Value:
    """Return the piece of an operation on given sides; of whole numbers, that at `WHOLE`. Raises
    ValueError.
    """
    branch: Any = operation.primitive.active_branch
    piece = branch(UNEVALUATED, sides, *operation._prev, out=variable(WHOLE))
    return as_node(piece)


# ---- what the function does there
def _limit(side: SideSeries) -> ExactConstant:
    """Return the limit on a side. Raises `NoAsymptotics` where there is none, as of `cos(1/x)` at
    0.
    """
    if not side.coefficients:
        raise NoAsymptotics
    return side.coefficients[0]


def _is_continuous(value: Value) -> bool:
    """Return whether an operation is continuous for all its inputs, as far as it is defined, and
    divides by nothing.
    """
    primitive, inputs = value.primitive, value._prev
    if primitive is POW:
        exponent = exact_value(inputs[1])
        return exponent is not None and exponent >= 0
    return not inputs or primitive.norm or primitive in CONTINUOUS


class _AtBorder:
    """A function and its formulas on both sides of a border, by the distance of one variable."""

    def __init__(self, border: Border, output: Value, order: int) -> None:
        self.border, self.output, self.order = border, output, order
        self.constants = ExactConstants()

    def compare(self, formulas: Sequence[Value]) -> Known | None:
        """Return what is known there; None if the formulas hold, or have no value. Raises one of
        `UNKNOWN`.
        """
        place = isolated(self.border.equation)
        if place is None:
            return None if self._is_continuous(formulas) else Known.UNDECIDED
        leaf, value = place
        others = self._parameters((self.output, value, *formulas), leaf)
        at = self._value(value, others)
        function = [
            self._side(self.output, others, leaf.label, at, side, self.order) for side in (-1, 1)
        ]
        here = {**others, leaf.label: at}
        known = self._difference(*function)
        if any(side.fault for side in function) and not any(
            self._has_value(formula, here) for formula in formulas
        ):
            return None
        if known is not None or self.border.is_integral or self.border.is_cut:
            return known or Known.UNDECIDED
        limit, limits = _limit(function[0]), list(self._limits(formulas, others, leaf.label, at))
        if self._differs(self.output, here, limit):
            return Known.NONE
        if any(
            self._differs(formula, here, limit)
            for formula, limit in zip(formulas, limits, strict=True)
        ):
            return Known.OTHER
        return None

    def _parameters(self, formulas: Iterable[Value], leaf: Value) -> dict[str, ExactConstant]:
        """Return the variables but one as constants without a value, by name."""
        variables = [v for v in in_order(formulas) if v.primitive is VARIABLE]
        return {v.label: self.constants.parameter(v) for v in variables if v is not leaf}

    def _value(self, formula: Value, numbers: Mapping[str, ExactConstant]) -> ExactConstant:
        return self.constants.number(evaluate_in(self.constants, (formula,), numbers).value)

    def _differs(
        self, formula: Value, here: Mapping[str, ExactConstant], limit: ExactConstant
    ) -> bool:
        """Return whether the value of a formula on the border is not its limit beside it."""
        return not self.constants.is_zero(self._value(formula, here) - limit)

    def _is_continuous(self, formulas: Sequence[Value]) -> bool:
        """Return whether the formulas are continuous without a condition, as are all derivatives of
        lower order.

        Then they have there the limit of the derivatives around, which is the derivative.
        """
        if not all(map(_is_continuous, in_order((self.output, *formulas)))):
            return False
        # where the first derivative jumps, as that of `abs`, the second may be 0 all around
        return self.order == 1 or not any(map(_has_border, in_order(simplify((self.output,)))))

    def _limits(
        self,
        formulas: Iterable[Value],
        others: Mapping[str, ExactConstant],
        name: str,
        at: ExactConstant,
    ) -> Iterator[ExactConstant]:
        """Yield the limits of formulas, which are the same on both sides as the function is
        smooth.
        """
        for formula in formulas:
            yield _limit(self._side(formula, others, name, at, 1, 0))

    def _has_value(self, formula: Value, here: Mapping[str, ExactConstant]) -> bool:
        try:
            evaluate_in(self.constants, (formula,), here)
        except ExpressionError as error:
            return error.kind not in ("domain", "derivative", "overflow")
        return True

    def _side(
        self,
        source: Value,
        others: Mapping[str, ExactConstant],
        name: str,
        at: ExactConstant,
        side: int,
        order: int,
    ) -> SideSeries:
        """Return a function on one side. Raises `NoAsymptotics`."""
        found = side_series(
            self.constants, graph_of((self._piece(source, side),)), others, name, at, side, order
        )
        if found is None or not self.constants.confirmed:
            raise NoAsymptotics
        return found

    def _piece(self, source: Value, side: int) -> Value:
        """Return a function with an operation that jumps at many places on one side of the
        border.
        """
        if not self.border.is_integral and not self.border.is_cut:
            return source
        piece = piece_of(
            self.border.operation, _GivenSides([-1, side] if self.border.is_cut else [side])
        )
        order = [*in_order((source, self.border.operation))]
        ids = dict(zip(order, text_ids(order, {}), strict=True))
        own = ids[self.border.operation]
        return substitute(source, lambda v: piece if ids[v] == own else None)

    def _difference(self, left: SideSeries, right: SideSeries) -> Known | None:
        """Return what the two sides of the function show; None if they are the same up to the
        order.
        """
        for below, above in zip(left.coefficients, right.coefficients, strict=False):
            difference = below - above
            if not self.constants.is_zero(difference):
                return self._of_difference(difference)
        return Known.NONE if left.fault or right.fault else None

    def _of_difference(self, difference: ExactConstant) -> Known:
        try:
            return Known.NONE if self.constants.sign(difference) else Known.UNDECIDED
        except UndecidedSign as unknown:
            # `sin(pi*n)` is not 0 in general, but it is for whole numbers
            is_general = not self.border.is_integral and is_proven_nonzero(unknown.value)
            return Known.NONE_IN_GENERAL if is_general else Known.UNDECIDED
