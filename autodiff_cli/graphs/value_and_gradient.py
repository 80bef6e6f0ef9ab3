"""Value and gradient of a graph in any number type. The graph's own doubles are neither read nor changed.

This is the way to multiprecision, exact and certified results alike:

    program = parse(text)
    m = Multiprecision(50, decimals=True)
    result = value_and_gradient(m, program.graph, {"x": m.literal("0.1")}, ["x"])
    result.value, result.gradient["x"]            # numbers of `m`

A number type needs `number` and `literal` for the leaves, and `finite`; see `numbers/base.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.sweep import Breakpoint, NodeError, breakpoints, forward
from ..table.operators import CONSTANT, VARIABLE
from .value import Source, Value, graph_of


class GradientResult(NamedTuple):
    """A graph evaluated and differentiated in a number type; lists are by node."""

    at: Evaluation
    value: Number
    gradient: dict[str, Number]
    order: Sequence[int]
    """Evaluated nodes, including those on the other side of a kink."""
    adjoints: list[Number | None]
    kinks: list[int]

    @property
    def graph(self) -> Graph:
        return self.at.graph

    @property
    def met(self) -> list[Breakpoint]:
        """Return the nodes without a derivative, with their inputs."""
        return list(self.at.breakpoints(self.kinks).values())

    def leaf(self, name: str) -> int | None:
        """Return the index of a variable; None if the graph lacks it."""
        named = (i for i, label in self.graph.labels.items() if label == name)
        return next((i for i in named if self.graph.primitives[i] is VARIABLE), None)


Sources = Source | Iterable[Value]
"""What is evaluated: a graph, or some outputs."""


def at_point(m: NumberType, source: Sources, values: Mapping[str, Number]) -> Graph:
    """Return a graph with only its leaves evaluated, as numbers of type `m`.

    `m` reads constants from their source; `values` are the variables, in `m`. Raises `ExpressionError` if `m` cannot
    hold a constant.
    """
    graph = graph_of(source)
    data: list[Number | None] = [None] * len(graph.places)
    for i, primitive in enumerate(graph.primitives):
        if primitive is VARIABLE:
            data[i] = values[graph.labels.get(i, "")]
        elif primitive is CONSTANT:
            number, text = graph.constants[i]
            try:
                data[i] = m.number(number) if text is None else _literal(m, text)
            except OverflowError:
                message = f"this number is too large for {m.range}"
                raise ExpressionError("overflow", message, graph.span(i), "use a smaller number") from None
            except Refusal as refusal:
                raise ExpressionError(refusal.kind, refusal.message, graph.span(i), refusal.hint) from None
    return graph.at(data)


def _literal(m: NumberType, text: str) -> Number:
    if text[-1] != "]":
        return m.literal(text)
    from ..quantities.unit import split_literal  # only units need it

    digits, unit = split_literal(text)
    return m.measured(m.literal(digits), unit)


def evaluate_in(m: NumberType, source: Sources, values: Mapping[str, Number], wrt: Collection[str] = ()) -> Evaluation:
    """Evaluate outputs at `values`, for derivatives by `wrt`. Raises `ExpressionError`."""
    graph = at_point(m, source, values)
    names = {i: graph.labels.get(i, "") for i, primitive in enumerate(graph.primitives) if primitive is VARIABLE}
    return Evaluation(m, graph, {name: i for i, name in names.items() if name in wrt})


def value_in(m: NumberType, source: Source, values: Mapping[str, Number]) -> Number | None:
    """Return the value of the graph; None if it has none."""
    graph = at_point(m, source, values)
    try:
        forward(graph, m, graph.roots)
    except NodeError:
        return None
    return graph.data[graph.roots[0]]


def breakpoints_met(at: Evaluation) -> list[Breakpoint]:
    """Return the breakpoints that vary with a variable to differentiate by.

    Without one, all derivatives are those of a smooth function. Raises `ExpressionError`.
    """
    return list(at.breakpoints(at.placed(breakpoints, at.order, at.active.varying)).values())


def value_and_gradient(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]
) -> GradientResult:
    """Return an output's value and gradient by `wrt` in number type `m`, at `values`.

    A variable that the graph lacks has derivative 0. Raises `ExpressionError` with its place.
    """
    return gradient_at(evaluate_in(m, source, values, wrt), wrt)


def gradient_at(at: Evaluation, wrt: Collection[str]) -> GradientResult:
    """Return value and gradient of an evaluated output. Raises `ExpressionError`."""
    one, zero = at.m.number(1), at.m.number(0)
    adjoints, kinks, order = at.reverse({at.graph.roots[0]: one})
    gradient = dict.fromkeys(wrt, zero)
    gradient |= {name: adjoints[i] for name, i in at.wanted.items() if adjoints[i] is not None}
    return GradientResult(at, at.values[0], gradient, order, adjoints, kinks)
