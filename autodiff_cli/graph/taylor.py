"""Taylor coefficients of a graph in one variable, by propagating truncated power series."""

from __future__ import annotations

from collections.abc import Mapping

from ..numbers.base import Number, NumberType, Refusal
from ..numbers.series import Failed, SeriesType
from ..run.sweep import Fault, _kinks, activity, forward, show
from ..table.operators import VARIABLE
from .sweep_in import tape_in
from .value import Value, located

Kinks = dict[Value, list[Number]]


def taylor_in(
    m: NumberType, output: Value, values: Mapping[str, Number], by: str, order: int
) -> tuple[list[Number], Kinks]:
    """The coefficients of orders 0 to `order` in the variable `by` at the point, and the kinks that lie there.

    Raises `ExpressionError`, placed in the text.
    """
    s = SeriesType(m)
    numbers = {name: s.variable(x) if name == by else s.number(x) for name, x in values.items()}
    nodes, tape = tape_in(s, output, numbers)
    root = len(nodes) - 1
    try:
        evaluated = forward(tape, s, (root,))
        active = activity(
            tape, evaluated, [i for i, n in enumerate(nodes) if n.primitive is VARIABLE and n.label == by]
        )
        kinks: Kinks = {}
        for i in evaluated:
            if active[i] and nodes[i].primitive.may_kink:
                for k in _kinks(tape, i, active):
                    kinks[nodes[k]] = [tape.data[p].c[0] for p in tape.parents[k]]
        result = tape.data[root]
        s.waiting.append(result)
        for n in range(1, order + 1):
            try:
                s.extend(n)
            except Failed as failed:
                raise _fault(failed, tape.data) from None
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    return [result.at(k) for k in range(order + 1)], kinks


def _fault(failed: Failed, data: list[Number]) -> Fault:
    series, error, order = failed.series, failed.error, failed.order
    node = next(i for i, x in enumerate(data) if x is series)
    if isinstance(error, Refusal):
        return Fault(node, error.kind, error.message, error.hint)
    places = ", ".join(show(x.c[0]) for x in series.inputs)
    if isinstance(error, OverflowError):
        return Fault(
            node, "overflow", f"the coefficient of order {order} of `{series.name}` at {places} is too large for "
            f"{series.m.range}", "ask for a lower order, or use `--precision`",
        )  # fmt: skip
    return Fault(
        node, "derivative", f"`{series.name}` has no power series at {places}: its derivative of order {order} is "
        "infinite or undefined there", "move the point",
    )  # fmt: skip
