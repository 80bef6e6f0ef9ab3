"""Derivatives as graphs, with exact constants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

from ...errors import limit_error
from ..graphs.adjoint import live_steps, record_gradient
from ..graphs.value import Value, constant, graph_in, in_order, node
from ..numbers import budget
from ..numbers.base import Number
from ..numbers.recorder import Recorder, Step
from ..run.flat_graph import Graph
from ..table.operators import ADD, AND, COMPARISONS, GT, LT, MUL, NE, OR, POW, WHERE
from ..table.primitive import OPERATIONS, PRIMITIVES
from .almost_everywhere import assume
from .canonical import exact_value, number_text
from .equality_guards import without_equality_guards
from .guard_series import with_series_at_guards
from .rewriting import shorten
from .simplify import simplify
from .symbolic import UNEVALUATED, as_node, expand_definition, is_spelled, truth
from .walk import chain_of, flat_inputs

MAX_NODES = 100_000
CONDITIONS = frozenset(p.name for p in COMPARISONS.values())


class FormulaRecorder(Recorder):
    """A recorder without rounding: 1/3 stays 1/3, and π stays π."""

    name = "formula"

    def __init__(self, pi: int) -> None:
        super().__init__()
        self._pi = pi

    @property
    def pi(self) -> Step:
        return self.input(self._pi)

    def number(self, x: Number) -> Step:
        return (
            x
            if isinstance(x, Step)
            else self._new("number", (), x if isinstance(x, bool) else Fraction(x))
        )

    def constant(self, graph: Graph, i: int) -> Step:
        return self.number(exact_value(graph.places[i]))

    def _folded(self, name: str, args: tuple[Step, ...]) -> Step | None:
        return super()._folded(name, args) if name in CONDITIONS else None

    def _simpler(self, name: str, args: tuple[Step, ...]) -> Step | None:
        if name == "power_minus_one":
            x, y, _ = args
            if y.name != "number":
                return None
            return self.one if y.data == 1 else self.step("pow", x, y.data - 1)
        return super()._simpler(name, args)


def partials(output: Value, wrt: Sequence[Value]) -> list[Value]:
    """Return a graph's derivative by each leaf, not simplified. Raises `ExpressionError`
    (`limit`).
    """
    # Constants that are not rational are inputs, like variables.
    place = in_order((output,))
    leaves = [leaf for leaf in place if not leaf._prev and exact_value(leaf) is None]
    pi = next((leaf for leaf in leaves if leaf.source in ("pi", "π")), None)
    if pi is None:
        pi = constant(math.pi, "pi")
        leaves.append(pi)
    recorder = FormulaRecorder(leaves.index(pi))
    inputs, wanted = (list(map(place.get, listed)) for listed in (leaves, wrt))
    recording = record_gradient(graph_in(place, (output,)), inputs, wanted, recorder)
    budget.charge(budget.RECORDED_STEP * len(recorder.steps))
    check_size(len(recorder.steps))
    # in reverse, as people write: a backward sweep meets the last operand first
    return [
        chain_of(ADD, _terms(total))
        for total in _as_values(recording.partials, dict(enumerate(leaves)))
    ]


def _terms(total: Value) -> Iterator[Value]:
    while total.primitive is ADD:
        total, last = total._prev
        yield last
    yield total


def check_size(count: int) -> None:
    """Raise `ExpressionError` for a graph too large to be a formula."""
    if count > MAX_NODES:
        message = f"the derivative has more than {MAX_NODES:,} nodes"
        raise limit_error(message, "ask for a lower order, or for fewer variables: `--wrt x`")


def _as_values(steps: Sequence[Step], leaves: Mapping[int, Value]) -> list[Value]:
    values: dict[Step, Any] = {}
    for step in live_steps(steps):
        args = [values[a] for a in step.args]
        if step.name == "input":
            values[step] = leaves[step.data]
        elif step.name == "number":
            x = step.data
            values[step] = truth(x) if isinstance(x, bool) else constant(float(x), number_text(x))
        elif step.name == "nothing":
            values[step] = constant(0.0, "0")
        elif step.name == "item":
            values[step] = as_node(args[0][step.data])
        elif step.name not in PRIMITIVES:
            values[step] = expand_definition(UNEVALUATED, OPERATIONS[step.name], args)
        else:
            values[step] = node(PRIMITIVES[step.name], tuple(args))
    return [as_node(values[step]) for step in steps]


# Ascending positions of the variables of differentiation.
Multi = tuple[int, ...]


def derivatives(
    output: Value, wrt: Sequence[Value], order: int, facts: Sequence[Value] = ()
) -> dict[Multi, Value]:
    """Return simplified derivatives by all combinations of leaves. Raises `ExpressionError`,
    `Contradiction`.
    """
    # equalities at single points say nothing of a derivative: `round(x)` is x at whole numbers, and
    # flat there
    around = [
        part for fact in facts for part in flat_inputs(fact, (AND,)) if _holds_around(part, wrt)
    ]
    lower: dict[Multi, Value] = {(): _simplify((with_series_at_guards(output, order),), around)[0]}
    for k in range(order):
        following: dict[Multi, Value] = {}
        for multi, formula in lower.items():
            start = multi[-1] if multi else 0
            for j, partial in enumerate(_partials_around(formula, wrt[start:]), start=start):
                following[(*multi, j)] = partial
        # Stable forms stay until the end: their definitions may lack derivatives.
        there = facts if k == order - 1 else around
        lower = dict(zip(following, _simplify(list(following.values()), there), strict=True))
        check_size(len(in_order(lower.values())))
    formulas = list(lower.values())
    if not all(is_spelled(v.primitive) for v in in_order(formulas)):
        formulas = simplify(formulas)
    leaves = as_typed(output)
    formulas = shorten(formulas, leaves)
    if facts:  # the shortest form of x*sign(x) is abs(x), which they may decide
        formulas = shorten(_simplify(formulas, facts), leaves)
    return dict(zip(lower, formulas, strict=True))


def _partials_around(formula: Value, wrt: Sequence[Value]) -> list[Value]:
    """Return the derivatives, where an equality of a variable guards a point those of the function
    around it.
    """

    def depends(leaf: Value) -> Callable[[Value, Value], bool]:
        return lambda condition, around: leaf in in_order((condition,))

    around = [without_equality_guards(formula, depends(leaf)) for leaf in wrt]
    if all(function is formula for function in around):
        return partials(formula, wrt)
    return [partials(function, (leaf,))[0] for function, leaf in zip(around, wrt, strict=True)]


def _holds_around(condition: Value, wrt: Sequence[Value]) -> bool:
    seen = in_order((condition,))
    if not any(leaf in seen for leaf in wrt):
        return True
    if condition.primitive in (AND, OR):
        return all(_holds_around(p, wrt) for p in condition._prev)
    return condition.primitive in (LT, GT, NE) and not any(
        v.primitive.jumps or v.primitive is WHERE for v in seen
    )


def as_typed(output: Value) -> list[Value]:
    """Return the leaves as products have them: `c` before `x` in `c*x`."""
    order = in_order((output,))
    leaves = {leaf: k for k, leaf in enumerate(value for value in order if not value._prev)}
    followers = _followers_in_products(order, leaves)
    waiting = Counter(other for others in followers.values() for other in others)
    placed: dict[Value, None] = {}
    free = [k for leaf, k in leaves.items() if not waiting[leaf]]
    numbered, rest = list(leaves), iter(leaves)
    while len(placed) < len(leaves):
        leaf = numbered[heappop(free)] if free else next(rest)
        if leaf in placed:
            continue
        placed[leaf] = None
        for other in followers[leaf]:
            waiting[other] -= 1
            if not waiting[other]:
                heappush(free, leaves[other])
    return list(placed)


def _followers_in_products(
    order: Iterable[Value], leaves: Iterable[Value]
) -> dict[Value, list[Value]]:
    """Return for each leaf those that are written behind it in a product, one entry a product."""
    ends: dict[Value, tuple[Value | None, Value | None]] = {leaf: (leaf, leaf) for leaf in leaves}
    followers: dict[Value, list[Value]] = {leaf: [] for leaf in leaves}
    for value in order:
        if value.primitive is POW and not value._prev[0]._prev:
            ends[value] = ends[value._prev[0]]
        elif value.primitive is MUL:
            (first, left), (right, last) = (ends.get(p, (None, None)) for p in value._prev)
            ends[value] = first, last
            if left is not None and right is not None and left is not right:
                followers[left].append(right)
    return followers


def _simplify(outputs: Sequence[Value], facts: Sequence[Value]) -> list[Value]:
    if not facts:
        return simplify(outputs, spell=False)
    results = simplify((*outputs, *facts), spell=False)
    return simplify(assume(results[: len(outputs)], results[len(outputs) :]), spell=False)
