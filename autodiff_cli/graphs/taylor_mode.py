"""Taylor coefficients of a graph in one variable, by propagating truncated power series.

At a kink there are two expansions, one on each side. They are given only as far as they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ..errors import ExpressionError, Span
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded
from ..numbers.series import Failed, SeriesType
from ..run.evaluation import located
from ..run.smooth_branches import SmoothBranch, TaylorSeries, Unknown, common, pieces
from ..run.sweep import Fault, show
from .value import Source, graph_of
from .value_and_gradient import breakpoints_met, evaluate_in


def taylor_in(m: NumberType, source: Source, values: Mapping[str, Number], by: str, order: int) -> list[Number]:
    """The coefficients of orders 0 to `order` in the variable `by` at the point.

    Raises `ExpressionError`, placed in the text; `NotSmooth` where the expansions on the two sides differ.
    """
    expansion = _Expansion(m, source, values, {by: [m.number(1)]})
    if order == 0 or expansion.smooth():
        return expansion.coefficients(order)
    at = evaluate_in(m, graph_of(source), values, (by,))
    met = pieces(partial(TaylorSeries, m, order), at.graph, at.graph.roots, [*at.wanted.values()])

    def numbers(piece: SmoothBranch) -> list[Number]:
        output = piece.numbers[piece.graph.roots[0]]
        try:
            return [piece.smooth.coefficient(output, k) for k in range(order + 1)]
        except Failed as failed:
            raise piece.blamed(_fault(failed, list(piece.numbers), list(piece.numbers.values()))) from None

    names = [f"the coefficient of order {k}" for k in range(order + 1)]
    try:
        return at.placed(common, m, at.values[0], met, numbers, names, ", or ask for a lower order")
    except Unknown as unknown:
        reason = "a power series of the length of a vector that vanishes is not computed"
        raise located(unknown.breakpoint.refusal(reason), at.graph) from None


def directional_in(
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    along: Mapping[str, Sequence[Number]],
    order: int,
) -> list[Number]:
    """The coefficients of orders 0 to `order` in t at 0, along a curve through the point.

    `along` has the coefficients of orders 1, 2, … of the variables that move; those left out are 0.
    Raises `ExpressionError`, placed in the text; at a kink as well.
    """
    expansion = _Expansion(m, source, values, along)
    if not expansion.smooth():
        raise ExpressionError(
            "derivative", "there is a kink at this point", expansion.span, "move the point to one side"
        )
    return expansion.coefficients(order)


class _Expansion:
    """A graph evaluated in power series along a direction; without breakpoints, these can be extended to any order."""

    def __init__(
        self, m: NumberType, source: Source, values: Mapping[str, Number], along: Mapping[str, Sequence[Number]]
    ) -> None:
        self.series = s = SeriesType(m)
        numbers = {name: s.variable(x, *along[name]) if name in along else s.number(x) for name, x in values.items()}
        self.at = evaluate_in(s, graph_of(source), numbers, along.keys())
        self.known = 0
        s.waiting += self.at.values

    @property
    def span(self) -> Span | None:
        """The place of the output in the text."""
        return self.at.graph.span(self.at.graph.roots[0])

    def smooth(self) -> bool:
        """Whether there are no breakpoints at the point. Raises `ExpressionError`."""
        return not breakpoints_met(self.at)

    def coefficients(self, order: int) -> list[Number]:
        """The coefficients up to an order. Raises `ExpressionError`."""
        (result,) = self.at.values
        for n in range(self.known + 1, order + 1):
            try:
                self.series.extend(n)
            except Failed as failed:
                raise located(self._fault(failed), self.at.graph, self.at.wanted) from None
            except BudgetExceeded as exhausted:
                node = self._fault(Failed(self.series.here, n, exhausted)).node
                raise located(exhausted.at_node(node), self.at.graph) from None
        self.known = max(self.known, order)
        return [result.at(k) for k in range(order + 1)]

    def _fault(self, failed: Failed) -> Fault:
        return _fault(failed, range(len(self.at.graph.data)), self.at.graph.data)


def _fault(failed: Failed, nodes: Iterable[int], numbers: Iterable[object]) -> Fault:
    """The fault of a coefficient, at the operation among these that it belongs to."""
    series, error, order = failed.series, failed.error, failed.order
    node = next((i for i, x in zip(nodes, numbers, strict=True) if x is series), 0)
    if isinstance(error, Refusal):
        return Fault(node, error.kind, error.message, error.hint)
    places = ", ".join(show(x.c[0]) for x in series.inputs)
    if isinstance(error, OverflowError):
        return Fault(
            node,
            "overflow",
            f"the coefficient of order {order} of `{series.name}` at {places} is too large for {series.m.range}",
            "ask for a lower order, or use `--precision`",
        )
    return Fault(
        node,
        "derivative",
        f"`{series.name}` has no power series at {places}: its derivative of order {order} is "
        "infinite or undefined there",
        "move the point",
    )
