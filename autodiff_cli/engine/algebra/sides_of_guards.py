"""Guards with two sides, `where(x > 0, x*log(x), 0)`: the function beside the point where their
branches meet.

With one variable the whole program is expanded on both sides of the point. With several, the branch
that is not taken is expanded in what vanishes at the guard, with formulas of the other variables as
coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ...errors import ExpressionError
from ..graphs.value import Value, graph_of, in_order, node, values_of, variable
from ..graphs.value_and_gradient import breakpoints_met, evaluate_in, value_in, variables_of
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.sweep import show
from ..table.operators import ADD, AND, NOT, OR, SUB, VARIABLE, WHERE
from .almost_everywhere import as_linear
from .canonical import fraction_node
from .exact_constants import ExactConstant
from .guard_series import MAX_BRANCH_NODES, SMALL, in_small, is_thin, isolated
from .one_sided_series import ExactPoint, SideSeries, polynomial_of
from .simplify import simplify
from .walk import facts_of, rebuild, rewrite, substitute


def beside_point(at: Evaluation, order: int) -> tuple[Graph | None, str]:
    """Return what a program that was evaluated is near its point; neither program nor reason if
    that is not known.
    """
    graph = at.graph
    wanted = [name for name, i in at.wanted.items() if i is not None]
    leaves = variables_of(graph)
    if len(wanted) > 1:
        program = _with_branches(at, wanted, leaves, order)
        if program is not None:
            return program, ""
    if len(graph.data) > MAX_BRANCH_NODES:
        return None, ""
    values = values_of(graph)
    roots = [values[root] for root in graph.roots]
    found = [
        [_OneVariable(at, values, root, name, leaves).beside(order) for name in wanted]
        for root in roots
    ]
    reason = next(filter(None, (one.reason for one in chain(*found))), "")
    if len(wanted) > 1:
        # that partial derivatives exist does not show that the function is differentiable
        return None, reason
    programs = [row[0].program for row in found]
    if not any(programs):
        return None, reason
    return (
        graph_of([program or root for program, root in zip(programs, roots, strict=True)]),
        reason,
    )


class _OutputBeside(NamedTuple):
    """The polynomial of an output, or the reason why it has none; neither if that is not known."""

    program: Value | None = None
    reason: str = ""


# ---- one variable
class _OneVariable:
    """An output of a program as a function of one variable, near its value."""

    def __init__(
        self,
        at: Evaluation,
        values: Sequence[Value],
        output: Value,
        name: str,
        leaves: Mapping[str, Number],
    ) -> None:
        self.at, self.m, self.values, self.name, self.leaves = at, at.m, values, name, leaves
        self.output = output
        self.variables = _variables(values)
        self.point = ExactPoint(at.m, leaves, self.variables)

    def beside(self, order: int) -> _OutputBeside:
        """Return the program's polynomial if both sides have the same; else how they differ, if
        that is known.
        """
        place = self._place()
        if place is None:
            return _OutputBeside()
        center, exact = place
        sides = [
            self.point.series(graph_of((self.output,)), self.name, exact, side, order)
            for side in (-1, 1)
        ]
        left, right = sides
        if left is None or right is None:
            return _OutputBeside()
        reason = self._difference(left, right, order)
        if reason:
            return _OutputBeside(reason=reason)
        polynomial = polynomial_of(
            right.coefficients, node(SUB, (self.variables[self.name], center))
        )
        return _OutputBeside(polynomial)

    def _place(self) -> tuple[Value, ExactConstant] | None:
        """Return the variable's value, as a formula and exactly, at which guards that are met
        compare equal numbers.
        """
        met = [value for i, value in enumerate(self.values) if _is_met(self.at, i)]
        candidates = [center for condition in met for center in self._centers(condition)]
        own = self.point.values[self.name]
        if own.ratio is not None:
            candidates.append(fraction_node(own.ratio))
        for center in candidates:
            exact = self.point.value_of(center, self.name)
            if (
                exact is None
                or value_in(self.m, node(SUB, (self.variables[self.name], center)), self.leaves)
                != 0
            ):
                continue
            self.point.values[self.name] = exact
            differences = [self.point.value_of(node(SUB, condition._prev)) for condition in met]
            if all(x is not None and self.point.constants.is_zero(x) for x in differences):
                return center, exact
        return None

    def _centers(self, condition: Value) -> Iterator[Value]:
        found = isolated(condition)
        if found is not None and found[0].label == self.name:
            yield found[1]

    def _difference(self, left: SideSeries, right: SideSeries, order: int) -> str:
        """Return how the two sides differ, or from the value at the point; nothing if they do not,
        up to the order.
        """
        for k in range(order + 1):
            below, above = self._derivative(left, k), self._derivative(right, k)
            if isinstance(below, str) or isinstance(above, str):
                return self._in_words(k, below, above)
            if not self.point.constants.is_zero(below - above):
                return self._in_words(k, below, above)
            if k == 0 and not self._is_value(below):
                here = show(self.output.data)
                return (
                    f"the value jumps: it is {here} at the point, and its limit is"
                    f" {self._text(below)}"
                )
        return ""

    def _derivative(self, side: SideSeries, k: int) -> ExactConstant | str:
        if k == len(side.coefficients):
            return side.fault
        factorial = 1
        for j in range(2, k + 1):
            factorial *= j
        return side.coefficients[k] * factorial  # type: ignore[no-any-return]

    def _is_value(self, limit: ExactConstant) -> bool:
        number = self.point.number(limit)
        try:
            return number is not None and bool(self.m.same(self.output.data, number))
        except Refusal:
            return False

    def _in_words(self, k: int, below: ExactConstant | str, above: ExactConstant | str) -> str:
        left, right = (x if isinstance(x, str) else self._text(x) for x in (below, above))
        if k == 0:
            return f"the limit of the value is {left} on the left and {right} on the right"
        what = (
            f"the derivative by `{self.name}`"
            if k == 1
            else f"the derivative of order {k} by `{self.name}`"
        )
        return f"{what} is {left} on the left and {right} on the right"

    def _text(self, x: ExactConstant) -> str:
        number = self.point.number(x)
        return "unknown" if number is None else show(number)


def _variables(values: Sequence[Value]) -> dict[str, Value]:
    return {value.label: value for value in values if value.primitive is VARIABLE}


def _is_met(at: Evaluation, i: int) -> bool:
    """Return whether a node is a comparison of equal numbers."""
    graph = at.graph
    if (
        not graph.primitives[i].gives_condition
        or not graph.primitives[i].holds
        or graph.data[i] is None
    ):
        return False
    x, y = (graph.data[p] for p in graph.parents[i])
    return bool(x == y)


# ---- several variables
def _with_branches(
    at: Evaluation, wanted: Sequence[str], leaves: Mapping[str, Number], order: int
) -> Graph | None:
    """Return the program with polynomials for the branches that are not taken at guards where both
    sides are equal.
    """
    graph, values = at.graph, values_of(at.graph)
    indices = {value: i for i, value in enumerate(values)}
    variables = _variables(values)
    replaced: dict[Value, Value] = {}
    for choice in values:
        if choice.primitive is not WHERE or graph.data[indices[choice._prev[0]]] is None:
            continue
        met = [v for v in _comparisons(choice._prev[0]) if _is_equal(at.m, v, leaves)]
        side = _side(at, choice._prev[0], met[0], indices, leaves) if len(met) == 1 else 0
        if not side:
            continue
        found = _expanded(
            at.m, met[0], _other_branch(at, choice, indices), side, wanted, leaves, variables, order
        )
        if found is not None:
            replaced[choice] = found
    if not replaced:
        return None

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value not in replaced:
            return rebuild(value, inputs)
        condition, then, otherwise = inputs
        is_taken = graph.data[indices[value._prev[0]]] is True
        return node(
            WHERE,
            (
                (condition, then, replaced[value])
                if is_taken
                else (condition, replaced[value], otherwise)
            ),
        )

    return graph_of(rewrite([values[root] for root in graph.roots], rule))


def _comparisons(condition: Value) -> Iterator[Value]:
    waiting = [condition]
    while waiting:
        top = waiting.pop()
        if top.primitive in (AND, OR, NOT):
            waiting += top._prev
        elif top.primitive.holds:
            yield top


def _other_branch(at: Evaluation, choice: Value, indices: Mapping[Value, int]) -> Value:
    condition, then, otherwise = choice._prev
    return otherwise if at.graph.data[indices[condition]] is True else then


def _is_equal(m: NumberType, condition: Value, leaves: Mapping[str, Number]) -> bool:
    """Return whether a comparison is one of equal numbers, even if it was not needed."""
    x, y = (value_in(m, side, leaves) for side in condition._prev)
    return x is not None and y is not None and bool(x == y)


def _side(
    at: Evaluation,
    condition: Value,
    met: Value,
    indices: Mapping[Value, int],
    leaves: Mapping[str, Number],
) -> int:
    """Return the sign of what a comparison compares where its choice is the other one; 0 for both,
    or unknown.
    """
    here = at.graph.data[indices[condition]]
    outcomes = [
        (sign, _outcome(at, condition, met, letter, indices, leaves))
        for sign, letter in ((-1, "<"), (1, ">"))
    ]
    others = [sign for sign, outcome in outcomes if outcome is (not here)]
    return others[0] if len(others) == 1 else 0


def _outcome(
    at: Evaluation,
    condition: Value,
    met: Value,
    letter: str,
    indices: Mapping[Value, int],
    leaves: Mapping[str, Number],
) -> Any:
    """Return whether a condition holds where a comparison's two numbers are in an order."""
    if condition is met:
        return letter in met.primitive.holds
    if condition.primitive not in (AND, OR, NOT):
        known = at.graph.data[indices[condition]]
        return value_in(at.m, condition, leaves) if known is None else known
    outcomes = [_outcome(at, p, met, letter, indices, leaves) for p in condition._prev]
    if condition.primitive is NOT:
        return None if outcomes[0] is None else not outcomes[0]
    stops = condition.primitive is OR
    if stops in outcomes:
        return stops
    return None if None in outcomes else not stops


def _expanded(
    m: NumberType,
    condition: Value,
    branch: Value,
    side: int,
    wanted: Sequence[str],
    leaves: Mapping[str, Number],
    variables: Mapping[str, Value],
    order: int,
) -> Value | None:
    """Return the polynomial of a branch beside a guard; None if it has none, or that is not
    known.
    """
    if len(in_order((branch,))) > MAX_BRANCH_NODES:
        return None
    small = variable(SMALL)
    vanishing, expanded = in_small(condition, branch, small)
    turned = _orientation(condition, small)
    if not turned or not is_thin(vanishing):
        return None
    if not _has_smooth_coefficients(m, expanded, leaves, wanted):
        return None
    point = ExactPoint(m, leaves, variables, wanted)
    series = point.series(
        graph_of((expanded,)), SMALL, point.constants.number(0), side * turned, order
    )
    if series is None or series.fault or any(point.number(x) is None for x in series.coefficients):
        return None
    return polynomial_of(series.coefficients, vanishing)


def _has_smooth_coefficients(
    m: NumberType, expanded: Value, leaves: Mapping[str, Number], wanted: Sequence[str]
) -> bool:
    """Return whether the parts of a branch without what vanishes are smooth at the point: they may
    be coefficients.
    """
    varies = facts_of(
        (expanded,), lambda v, inputs: v.label == SMALL if not v._prev else any(inputs)
    )
    parts = [v for v in in_order((expanded,)) if not varies[v] and v._prev]
    if not parts:
        return True
    try:
        at = evaluate_in(m, parts, leaves, wanted)
        at.jacobian()
        return not breakpoints_met(at)
    except (ExpressionError, *NO_RESULT):
        return False


def _orientation(condition: Value, small: Value) -> int:
    """Return the sign of the left side less the right one where what vanishes is positive; 0 if
    that is not known.
    """
    found = isolated(condition)
    if found is None:
        return 1
    name, value = found
    moved = substitute(
        node(SUB, condition._prev), lambda v: node(ADD, (value, small)) if v is name else None
    )
    try:
        (linear,) = simplify((moved,), spell=False)
    except ExpressionError:
        return 0
    multiples, constant = as_linear(linear)
    if constant or len(multiples) != 1:
        return 0
    ((leaf, factor),) = multiples.items()
    return (factor > 0) - (factor < 0) if leaf.label == SMALL else 0
