"""Value and gradient of a graph in any number type: multiprecision, exact or certified.

The graph's own doubles are neither read nor changed. A number type needs `number` and `literal` for
the leaves, and `is_finite`; see `numbers/base.py`.
"""

from collections.abc import Collection, Iterable, Mapping

from ...errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.sweep import Breakpoint, NodeError, breakpoints, forward
from ..table.operators import CONSTANT, VARIABLE
from .value import Source, Value, graph_of

# What is evaluated: a graph, or some outputs.
Sources = Source | Iterable[Value]


def at_point(m: NumberType, source: Sources, values: Mapping[str, Number]) -> Graph:
    """Return a graph with only its leaves evaluated, as numbers of type `m`.

    `m` reads constants from their source; `values` are the variables, in `m`. Raises
    `ExpressionError` if `m` cannot hold a constant.
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
                raise ExpressionError(
                    "overflow", message, graph.span(i), "use a smaller number"
                ) from None
            except Refusal as refusal:
                raise ExpressionError(
                    refusal.kind, refusal.message, graph.span(i), refusal.hint
                ) from None
    return graph.with_data(data)


def _literal(m: NumberType, text: str) -> Number:
    if text[-1] != "]":
        return m.literal(text)
    from ..quantities.unit import split_literal  # only units need it

    digits, unit = split_literal(text)
    return m.measured(m.literal(digits), unit)


def evaluate_in(
    m: NumberType, source: Sources, values: Mapping[str, Number], wrt: Collection[str] = ()
) -> Evaluation:
    """Evaluate outputs at `values`, for derivatives by `wrt`. Raises `ExpressionError`."""
    graph = at_point(m, source, values)
    places = {label: i for i, label in graph.labels.items() if graph.primitives[i] is VARIABLE}
    return Evaluation(m, graph, {name: places.get(name) for name in wrt})


def variables_of(graph: Graph) -> dict[str, Number]:
    """Return the numbers of a graph's variables, by name."""
    return {
        label: graph.data[i] for i, label in graph.labels.items() if graph.primitives[i] is VARIABLE
    }


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
    if not at.graph.has_breakpoints:
        return []
    return list(at.breakpoints(at.sweep(breakpoints, at.order, at.active.varying)).values())


def value_and_gradient(
    m: NumberType, source: Source, values: Mapping[str, Number], wrt: Collection[str]
) -> Evaluation:
    """Return an output's `value` and `gradient` by `wrt` in number type `m`, at `values`.

    A variable that the graph lacks has derivative 0. Raises `ExpressionError` with its place.
    """
    return evaluate_in(m, source, values, wrt).differentiate()
