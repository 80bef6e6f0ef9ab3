"""sweep_in: value and gradient of a graph in any number type. The graph's own doubles are neither read nor changed.

This is the way to multiprecision, exact and certified results alike:

    program = parse(text)
    m = Multiprecision(50, decimals=True)
    swept = sweep_in(m, program.outputs[0], {"x": m.literal("0.1")}, ["x"])
    swept.value, swept.gradient["x"]            # numbers of `m`

A number type needs `number` and `literal` for the leaves, and `finite`; see `numbers/base.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..run.reverse import reverse
from ..run.sweep import Activity, Fault, activity, forward, knots
from ..run.tape import Tape
from ..table.operators import VARIABLE
from .value import Value, in_order, located, tape_of

if TYPE_CHECKING:
    from ..run.pieces import Knot


class Swept(NamedTuple):
    """A graph evaluated and differentiated in some number type; lists run over the nodes, inputs first."""

    value: Number
    gradient: dict[str, Number]
    nodes: list[Value]
    tape: Tape
    """Its `data` are the nodes' values, None in a branch that was not taken."""
    order: Sequence[int]
    """The nodes that were evaluated, in the order in which they were."""
    active: Activity
    adjoints: list[Number | None]
    kinks: list[int]

    @property
    def met(self) -> list[tuple[Value, list[Number]]]:
        """The nodes without a derivative, with their inputs there."""
        return [(self.nodes[i], [self.tape.data[p] for p in self.tape.parents[i]]) for i in self.kinks]

    def leaf(self, name: str) -> int | None:
        """The place of a variable; None where the graph does not hold it."""
        return next((i for i, n in enumerate(self.nodes) if n.primitive is VARIABLE and n.label == name), None)


def tape_in(m: NumberType, output: Value | Sequence[Value], values: Mapping[str, Number]) -> tuple[list[Value], Tape]:
    """The graph's nodes and its tape, with the leaves as numbers of this type: constants as `m` reads their source.

    Of one output, the last node is it. `values` gives each variable a number of `m`. Raises `ExpressionError` for a
    constant that `m` cannot hold.
    """
    place = in_order((output,) if isinstance(output, Value) else output)
    nodes = list(place)
    tape = tape_of(place)
    for i, n in enumerate(nodes):
        if n._prev:
            tape.data[i] = None
        elif n.primitive is VARIABLE:
            tape.data[i] = values[n.label]
        else:
            try:
                tape.data[i] = m.number(n.data) if n.source is None else m.literal(n.source)
            except OverflowError:
                raise ExpressionError(
                    "overflow", f"this number is too large for {m.range}", n.span, "use a smaller number"
                ) from None
            except Refusal as refusal:
                raise ExpressionError(refusal.kind, refusal.message, n.span, refusal.hint) from None
    return nodes, tape


def value_in(m: NumberType, output: Value, values: Mapping[str, Number]) -> Number | None:
    """The value of the graph alone; None where it has none."""
    nodes, tape = tape_in(m, output, values)
    try:
        forward(tape, m, (len(nodes) - 1,))
    except Fault:
        return None
    return tape.data[-1]


def knots_met(swept: Swept) -> list[Knot]:
    """Where pieces of the program meet at the point, as far as a wanted variable moves them.

    Without one all derivatives are those of the smooth function near the point. Raises `ExpressionError`.
    """
    from ..run.pieces import Knot

    tape = swept.tape
    try:
        found = knots(tape, swept.order, swept.active.moving)
    except Fault as fault:
        raise located(fault, swept.nodes, tape) from None
    return [Knot(tape, i, [tape.data[p] for p in tape.parents[i]]) for i in found]


def sweep_in(m: NumberType, output: Value, values: Mapping[str, Number], wrt: Collection[str]) -> Swept:
    """Value and gradient of `output` in the number type `m`, at the point `values`, in the variables `wrt`.

    A variable that the graph does not hold has derivative 0. Raises `ExpressionError`, placed in the text.
    """
    nodes, tape = tape_in(m, output, values)
    root = len(nodes) - 1
    wanted = {n.label: i for i, n in enumerate(nodes) if n.primitive is VARIABLE and n.label in wrt}
    try:
        order = forward(tape, m, (root,))
        active = activity(tape, m, order, wanted.values())
        adjoints, kinks, order = reverse(tape, m, order, active, {root: m.number(1)})
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    zero = m.number(0)
    gradient: dict[str, Number] = dict.fromkeys(wrt, zero)
    for name, i in wanted.items():
        adjoint = adjoints[i]
        if adjoint is not None:
            gradient[name] = adjoint
    return Swept(tape.data[root], gradient, nodes, tape, order, active, adjoints, kinks)
