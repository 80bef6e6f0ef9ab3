"""Taylor coefficients of a graph in one variable, by truncated power series.

At a kink, the expansions of the two sides must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ..errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded
from ..numbers.series import Failed, SeriesType
from ..run.evaluation import Evaluation, located
from ..run.smooth_branches import SmoothBranch, TaylorSeries, Unknown, common, pieces
from ..run.sweep import NodeError, show
from .value import Source, graph_of
from .value_and_gradient import breakpoints_met, evaluate_in


def taylor_in(m: NumberType, source: Source, values: Mapping[str, Number], by: str, order: int) -> list[Number]:
    """Return the coefficients of orders 0 to `order` in `by` at the point.

    Raises `ExpressionError` with its place in the text; `NotSmooth` if the two sides differ.
    """
    series, expanded = _expanded(m, source, values, {by: [m.number(1)]})
    if order == 0 or not breakpoints_met(expanded):
        return _coefficients(series, expanded, order)
    at = evaluate_in(m, graph_of(source), values, (by,))
    met = pieces(
        partial(TaylorSeries, m, order), at.graph, at.graph.roots, [i for i in at.wanted.values() if i is not None]
    )

    def numbers(piece: SmoothBranch) -> list[Number]:
        output = piece.numbers[piece.graph.roots[0]]
        try:
            return [piece.smooth.coefficient(output, k) for k in range(order + 1)]
        except Failed as failed:
            raise piece.as_kink_error(_fault(failed, list(piece.numbers), list(piece.numbers.values()))) from None

    names = [f"the coefficient of order {k}" for k in range(order + 1)]
    try:
        return at.placed(common, m, at.values[0], met, numbers, names, ", or ask for a lower order")
    except Unknown as unknown:
        reason = "a power series of the length of a vector that vanishes is not computed"
        raise located(unknown.breakpoint.refusal(reason), at.graph) from None


def directional_in(
    m: NumberType, source: Source, values: Mapping[str, Number], along: Mapping[str, Sequence[Number]], order: int
) -> list[Number]:
    """Return the coefficients of orders 0 to `order` in t at 0, along a curve.

    `along` has the coefficients of orders 1, 2, … of the variables that move; those left out are 0.
    Raises `ExpressionError` with its place in the text, also at a kink.
    """
    series, expanded = _expanded(m, source, values, along)
    if breakpoints_met(expanded):
        span = expanded.graph.span(expanded.graph.roots[0])
        raise ExpressionError("derivative", "there is a kink at this point", span, "move the point to one side")
    return _coefficients(series, expanded, order)


def _expanded(
    m: NumberType, source: Source, values: Mapping[str, Number], along: Mapping[str, Sequence[Number]]
) -> tuple[SeriesType, Evaluation]:
    series = SeriesType(m)
    numbers = {n: series.variable(x, *along[n]) if n in along else series.number(x) for n, x in values.items()}
    at = evaluate_in(series, graph_of(source), numbers, along.keys())
    series.waiting += at.values
    return series, at


def _coefficients(series: SeriesType, at: Evaluation, order: int) -> list[Number]:
    for n in range(1, order + 1):
        try:
            series.extend(n)
        except (Failed, BudgetExceeded) as error:
            failed = error if isinstance(error, Failed) else Failed(series.here, n, error)
            fault = _fault(failed, range(len(at.graph.data)), at.graph.data)
            if isinstance(error, BudgetExceeded):
                raise located(error.at_node(fault.node), at.graph) from None
            raise located(fault, at.graph, at.wanted) from None
    return [at.values[0].at(k) for k in range(order + 1)]


def _fault(failed: Failed, nodes: Iterable[int], numbers: Iterable[object]) -> NodeError:
    series, error, order = failed.series, failed.error, failed.order
    node = next((i for i, x in zip(nodes, numbers, strict=True) if x is series), 0)
    if isinstance(error, Refusal):
        return NodeError(node, error.kind, error.message, error.hint)
    places = ", ".join(show(x.c[0]) for x in series.inputs)
    if isinstance(error, OverflowError):
        message = f"the coefficient of order {order} of `{series.name}` at {places} is too large for {series.m.range}"
        return NodeError(node, "overflow", message, "ask for a lower order, or use `--precision`")
    fate = f"its derivative of order {order} is infinite or undefined there"
    return NodeError(node, "derivative", f"`{series.name}` has no power series at {places}: {fate}", "move the point")
