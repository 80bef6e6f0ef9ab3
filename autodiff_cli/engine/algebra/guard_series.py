"""Guarded removable singularities, `where(x == 0, 1, sin(x)/x)`: power series of the branch beside
the point.

A guard is a choice by an equation `u == v`. Its other branch is expanded in what vanishes there,
with formulas of the remaining variables as coefficients, so that the series holds near every point
of the guard. Each coefficient is proven to be 0, by simplification, or not to be, by a number with
error bounds; otherwise there is no series.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ..graphs.laurent import NoSeries, laurent_in
from ..graphs.value import Value, constant, graph_of, in_order, node, values_of, variable
from ..graphs.value_and_gradient import value_in
from ..numbers.base import (
    NO_RESULT,
    Compared,
    Number,
    NumberType,
    OperatorNumber,
    Refusal,
    undecided,
)
from ..numbers.budget import BudgetExceeded
from ..run.flat_graph import Graph
from ..table.operators import ADD, AND, CONSTANT, EQ, GE, GT, LE, LT, MUL, NE, SUB, VARIABLE, WHERE
from ..table.primitive import PRIMITIVES
from .canonical import exact_value, number_text
from .equality_guards import agree, agreement, guard_of, is_total, solved
from .simplify import simplify
from .walk import chain_of, rebuild, rewrite, substitute, text_ids

# The label of what vanishes at a guard; no name of the language ends in a space.
SMALL = "u "
PROOF_DIGITS = 60
# Where a formula that is not 0 is shown not to be: one number beside 0 is a proof.
TRIAL_POINTS = (Fraction(7, 5), Fraction(-3, 7), Fraction(1, 11), Fraction(29, 3))
# The largest branch that is expanded; the work grows with its size times the square of the order.
MAX_BRANCH_NODES = 400

# What shows that a branch has no series that could be found.
EXPANSION_ERRORS = (NoSeries, ExpressionError, BudgetExceeded, TypeError, *NO_RESULT)


# ---- coefficients
class FormulaNumber(OperatorNumber, Compared):
    """A simplified formula as a number; it is compared by proof."""

    __slots__ = ("formula", "m")

    def __init__(self, m: Formulas, formula: Value) -> None:
        self.m, self.formula = m, formula

    def __int__(self) -> int:
        return int(self.m.fraction(self))

    def __float__(self) -> float:
        return float(self.m.fraction(self))

    def _compared(self, other: Number, relation: Callable[[Any, Any], Any], question: str) -> bool:
        difference = self.m.step("sub", self, other)
        exact = exact_value(difference.formula)
        if exact is not None:
            return bool(relation(exact, 0))
        if relation not in (operator.eq, operator.ne) or not is_proven_nonzero(difference.formula):
            raise undecided(f"cannot determine whether a formula is {question} another")
        return relation is operator.ne


class Formulas(NumberType):
    """Simplified formulas as a number type; `constants` are those of the program by their text."""

    name = "formula"

    def __init__(self, constants: dict[str, Value]) -> None:
        self.constants = constants
        # Operations that are not defined everywhere; simplified away, they still have to have a
        # value.
        self.needed: list[Value] = []
        for name in PRIMITIVES.keys() - NumberType.__dict__.keys():
            self.__dict__[name] = partial(self.step, name)

    @property
    def pi(self) -> FormulaNumber:
        return FormulaNumber(self, constant(PI, "pi"))

    def number(self, x: Number) -> FormulaNumber:
        if isinstance(x, FormulaNumber):
            return x
        exact = Fraction(x)
        return FormulaNumber(self, constant(float(exact), number_text(exact)))

    def literal(self, text: str) -> FormulaNumber:
        return FormulaNumber(self, self.constants[text])

    def step(self, name: str, *inputs: Number) -> FormulaNumber:
        """Return an operation on formulas, simplified."""
        made = node(PRIMITIVES[name], [self.number(x).formula for x in inputs])
        fixed = [p.data if p.primitive is CONSTANT else None for p in made._prev]
        if not made.primitive.defined(fixed):
            self.needed.append(made)
        return FormulaNumber(self, simplify((made,), spell=False)[0])

    def fraction(self, x: FormulaNumber) -> Fraction:
        """Return a rational constant. Raises ValueError for another formula."""
        exact = exact_value(x.formula)
        if exact is None:
            raise ValueError("not a rational constant")
        return exact


PI = 3.141592653589793


def is_proven_nonzero(formula: Value) -> bool:
    """Return whether a formula is certainly not 0 for all its variables."""
    if formula.primitive is VARIABLE:
        return True
    return any(values_at_trial_points(formula))


def values_at_trial_points(formula: Value) -> Iterator[bool]:
    """Yield for each trial point where a formula has a value whether that is certainly not 0."""
    from ..numbers.running_digits import RunningDigits  # its library takes long to import

    m = RunningDigits(PROOF_DIGITS)
    names = [v.label for v in in_order((formula,)) if v.primitive is VARIABLE]
    for start in range(len(TRIAL_POINTS) if names else 1):
        # neighbours differ, so that `x - y` is not 0 at all of them
        points = [
            TRIAL_POINTS[(start + k) % len(TRIAL_POINTS)] + k // len(TRIAL_POINTS)
            for k in range(len(names))
        ]
        with suppress(*EXPANSION_ERRORS):
            value = value_in(
                m, formula, {name: m.fraction(x) for name, x in zip(names, points, strict=True)}
            )
            if value is not None:
                yield _differs_from_zero(value)


def _differs_from_zero(value: Any) -> bool:
    with suppress(*EXPANSION_ERRORS):  # the comparison may be undecided
        return bool(value != 0)
    return False


# ---- the series of a guarded branch
class GuardSeries(NamedTuple):
    """A branch as a power series in what vanishes at its guard."""

    vanishing: Value
    coefficients: list[Value]
    needed: list[Value]
    """Formulas that must have a value, for the series to hold at a point."""

    @property
    def polynomial(self) -> Value:
        terms = [self.coefficients[0]]
        power: Value | None = None
        for coefficient in self.coefficients[1:]:
            power = self.vanishing if power is None else node(MUL, (power, self.vanishing))
            if exact_value(coefficient) != 0:
                terms.append(node(MUL, (coefficient, power)))
        # x**2 in place of sqrt(x**2)**2, which has a kink
        return simplify((chain_of(ADD, terms),), spell=False)[0]


def guard_series(condition: Value, around: Value, order: int) -> GuardSeries | None:
    """Return the series of the branch `around` beside an equation; None if none is found and
    proven.
    """
    if len(in_order((around,))) > MAX_BRANCH_NODES:
        return None
    small = variable(SMALL)
    vanishing, expanded = in_small(condition, around, small)
    if not is_thin(vanishing):
        return None
    order_of = in_order((expanded,))
    m = Formulas({v.source: v for v in order_of if v.primitive is CONSTANT and v.source})
    leaves = {v.label: FormulaNumber(m, v) for v in order_of if v.primitive is VARIABLE}
    leaves[SMALL] = m.number(0)
    try:
        series = laurent_in(m, expanded, leaves, SMALL, order)
        coefficients = (
            [m.number(series.at(k)).formula for k in range(order + 1)] if series.start >= 0 else []
        )
    except EXPANSION_ERRORS:
        return None
    if not coefficients or _may_be_undefined(coefficients, vanishing):
        return None
    return GuardSeries(vanishing, coefficients, m.needed)


def _may_be_undefined(coefficients: Sequence[Value], vanishing: Value) -> bool:
    """Return whether coefficients need a domain in variables of what vanishes: then an order may be
    lost.
    """
    if vanishing.primitive is SUB and vanishing._prev[0].primitive is VARIABLE:
        return False
    own = {v for v in in_order((vanishing,)) if v.primitive is VARIABLE}
    return any(
        domain_conditions(c) != [] and not own.isdisjoint(in_order((c,))) for c in coefficients
    )


def is_thin(vanishing: Value) -> bool:
    """Return whether a formula is smooth and not 0 in a whole region, as `ceil(x)` is."""
    if any(
        v.primitive.may_kink or v.primitive.breakpoint or v.primitive.jumps
        for v in in_order((vanishing,))
    ):
        return False
    (formula,) = simplify((vanishing,), spell=False)
    return is_proven_nonzero(formula)


def isolated(condition: Value) -> tuple[Value, Value] | None:
    """Return a variable and its value where two sides are equal; None if they are no sum with a
    multiple of one.
    """
    left, right = condition._prev
    found = solved(left, right) or solved(right, left)
    if found is not None:
        return found
    try:
        (difference,) = simplify((node(SUB, (left, right)),), spell=False)
    except ExpressionError:
        return None
    return solved(difference, constant(0.0, "0"))


def in_small(condition: Value, around: Value, small: Value) -> tuple[Value, Value]:
    """Return what vanishes, and the branch with `small` for it."""
    left, right = condition._prev
    found = isolated(condition)
    if found is not None:
        name, value = found
        moved = small if exact_value(value) == 0 else node(ADD, (value, small))
        return node(SUB, (name, value)), substitute(around, lambda v: moved if v is name else None)
    vanishing = left if exact_value(right) == 0 else node(SUB, (left, right))
    order = [*in_order((around, vanishing))]
    ids = dict(zip(order, text_ids(order, {}), strict=True))
    return vanishing, substitute(around, lambda v: small if ids[v] == ids[vanishing] else None)


def with_series_at_point(
    m: NumberType,
    graph: Graph,
    data: Sequence[Number | None],
    leaves: Mapping[str, Number],
    order: int,
) -> Graph | None:
    """Return the graph with a polynomial in place of each guard that holds and has its limit as
    value.

    `data` are the values of its nodes at the point `leaves`. The result has the derivatives up to
    `order` there, and only there. Where the value is not the limit, the polynomial is the other
    branch. None without a guard that holds.
    """
    values = values_of(graph)
    replaced: dict[Value, Value] = {}
    agreeing: set[Value] = set()
    for i, choice in enumerate(values):
        guard = guard_of(choice)
        if guard is None or data[i] is None or value_in(m, guard.equation, leaves) is not True:
            continue
        found = guard_series(guard.equation, guard.around, order)
        if found is None or any(value_in(m, formula, leaves) is None for formula in found.needed):
            continue
        replaced[choice] = found.polynomial
        with suppress(Refusal):
            limit = value_in(m, found.coefficients[0], leaves)
            if limit is not None and m.same(data[i], limit):
                agreeing.add(choice)
    if not replaced:
        return None

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value not in replaced:
            return rebuild(value, inputs)
        if value in agreeing:
            return replaced[value]
        guard = guard_of(rebuild(value, inputs))
        return (
            rebuild(value, inputs)
            if guard is None
            else node(WHERE, (guard.equation, guard.at_point, replaced[value]))
        )

    return graph_of(rewrite([values[root] for root in graph.roots], rule))


def with_series_at_guards(output: Value, order: int) -> Value:
    """Return the graph whose guards of removable singularities have the series of the other branch
    at their points.
    """
    if not any(guard_of(value) for value in in_order((output,))):
        return output

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        guard = guard_of(value)
        # the other branch itself serves where it has a value
        is_smooth = guard is None or agree(*guard)
        return (
            rebuild(value, inputs)
            if is_smooth
            else _with_line(value, inputs, order, where_defined=False)
        )

    return rewrite((output,), rule)[0]


def undecided_guards(values: Iterable[Value]) -> list[Value]:
    """Return the conditions of guards of which it is not known what the function around them does
    there.
    """
    found: list[Value] = []
    for value in values:
        guard = guard_of(value)
        if guard is None:
            if value.primitive is WHERE and _joins_equations(value._prev[0]):
                found.append(value._prev[0])  # no series is looked for
            continue
        equation, at_point, around = guard
        if is_total(equation, around):
            continue
        series = guard_series(equation, around, 1)
        if series is None or agreement(equation, at_point, series.coefficients[0]) is None:
            found.append(value._prev[0])
    return found


def _joins_equations(condition: Value) -> bool:
    """Return whether a condition joins an equation to others by `and`, `or` or `not`."""
    return any(v.primitive in (EQ, NE) for v in in_order((condition,)) if v is not condition)


def with_slopes_in_graph(graph: Graph) -> tuple[Graph, dict[int, int]]:
    """Return a graph whose guards have the slopes of their other branches, where these have a
    value.

    The values stay. Also returned are the new indices of the nodes.
    """
    values = values_of(graph)
    copies: dict[Value, Value] = {}
    roots = rewrite(
        [values[root] for root in graph.roots],
        partial(_with_line, order=1, where_defined=True),
        copies,
    )
    place = in_order(roots)
    new = {i: place[copies[value]] for i, value in enumerate(values) if copies.get(value) in place}
    return graph_of(roots), new


def _with_line(
    value: Value, inputs: tuple[Value, ...], order: int, *, where_defined: bool
) -> Value:
    own = rebuild(value, inputs)
    guard, written = guard_of(value), guard_of(own)
    if guard is None or written is None:
        return own
    if where_defined and is_total(guard.equation, guard.around) and agree(*guard):
        return written.around
    found = guard_series(guard.equation, guard.around, order)
    if found is None or not agree(guard.equation, guard.at_point, found.coefficients[0]):
        return own
    line = found.polynomial
    if where_defined:
        line = _where_defined(line, [line, *found.needed], written.at_point)
    condition, then, otherwise = own._prev
    if otherwise is written.at_point:
        return node(WHERE, (condition, then, line))
    return node(
        WHERE, (condition if then is written.at_point else written.equation, line, written.around)
    )


def _where_defined(line: Value, needed: Sequence[Value], at_point: Value) -> Value:
    conditions = domain_conditions(*needed)
    if conditions is None:
        return at_point
    return node(WHERE, (chain_of(AND, conditions), line, at_point)) if conditions else line


def domain_conditions(*formulas: Value) -> list[Value] | None:
    """Return the conditions under which formulas have values, overflow aside; None if they are not
    known.
    """
    relations = {"<": LT, "<=": LE, ">": GT, ">=": GE, "!=": NE}
    conditions: list[Value] = []
    for value in in_order(formulas):
        fixed = [p.data if p.primitive is CONSTANT else None for p in value._prev]
        if not value._prev or value.primitive.defined(fixed):
            continue
        bounds, complete, ordered = value.primitive.bounds
        if not complete or ordered or any(bound.end is None for bound in bounds):
            return None
        for position, relation, end in bounds:
            assert end is not None
            conditions.append(
                node(relations[relation], (value._prev[position], constant(end, str(end))))
            )
    distinct = dict(zip(text_ids(conditions, {}), conditions, strict=True))
    return [*distinct.values()]
