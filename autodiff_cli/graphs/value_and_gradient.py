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
from ..run.sweep import Fault, forward, knots
from ..run.tape import Tape
from ..table.operators import VARIABLE
from .value import Evaluation, Value, in_order, tape_of

if TYPE_CHECKING:
    from ..run.smooth_branches import Knot


class GradientResult(NamedTuple):
    """A graph evaluated and differentiated in some number type; lists run over the nodes, inputs first."""

    at: Evaluation
    value: Number
    gradient: dict[str, Number]
    order: Sequence[int]
    """The nodes that were evaluated; those of a branch on the other side too, if the sweep went there."""
    adjoints: list[Number | None]
    kinks: list[int]

    @property
    def nodes(self) -> Sequence[Value]:
        """The graph's nodes."""
        return self.at.nodes

    @property
    def tape(self) -> Tape:
        """The tape with the nodes' values."""
        return self.at.tape

    @property
    def met(self) -> list[tuple[Value, list[Number]]]:
        """The nodes without a derivative, with their inputs there."""
        return self.at.inputs(self.kinks)

    def leaf(self, name: str) -> int | None:
        """The place of a variable; None where the graph does not hold it."""
        return next((i for i, n in enumerate(self.nodes) if n.primitive is VARIABLE and n.label == name), None)


def tape_in(m: NumberType, outputs: Sequence[Value], values: Mapping[str, Number]) -> tuple[dict[Value, int], Tape]:
    """The places of the graph's nodes, and its tape, with the leaves as numbers of this type.

    Constants are as `m` reads their source; `values` gives each variable a number of `m`. Raises `ExpressionError` for
    a constant that `m` cannot hold.
    """
    place = in_order(outputs)
    tape = tape_of(place)
    for n, i in place.items():
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
    return place, tape


def evaluate_in(
    m: NumberType, outputs: Sequence[Value], values: Mapping[str, Number], wrt: Collection[str] = ()
) -> Evaluation:
    """The outputs at the point `values`, ready to be differentiated by `wrt`. Raises `ExpressionError`."""
    place, tape = tape_in(m, outputs, values)
    wanted = {n.label: i for n, i in place.items() if n.primitive is VARIABLE and n.label in wrt}
    return Evaluation(m, list(place), tape, [place[output] for output in outputs], wanted)


def value_in(m: NumberType, output: Value, values: Mapping[str, Number]) -> Number | None:
    """The value of the graph alone; None where it has none."""
    place, tape = tape_in(m, (output,), values)
    try:
        forward(tape, m, (place[output],))
    except Fault:
        return None
    return tape.data[-1]


def knots_met(at: Evaluation) -> list[Knot]:
    """Where pieces of the program meet at the point, as far as a wanted variable moves them.

    Without one all derivatives are those of the smooth function near the point. Raises `ExpressionError`.
    """
    from ..run.smooth_branches import Knot

    found = at.placed(knots, at.tape, at.order, at.active.moving)
    return [Knot(at.tape, i, [at.tape.data[p] for p in at.tape.parents[i]]) for i in found]


def value_and_gradient(
    m: NumberType, output: Value, values: Mapping[str, Number], wrt: Collection[str]
) -> GradientResult:
    """Value and gradient of `output` in the number type `m`, at the point `values`, in the variables `wrt`.

    A variable that the graph does not hold has derivative 0. Raises `ExpressionError`, placed in the text.
    """
    at = evaluate_in(m, (output,), values, wrt)
    adjoints, kinks, order = at.reverse({at.roots[0]: m.number(1)})
    zero = m.number(0)
    gradient: dict[str, Number] = dict.fromkeys(wrt, zero)
    for name, i in at.wanted.items():
        adjoint = adjoints[i]
        if adjoint is not None:
            gradient[name] = adjoint
    return GradientResult(at, at.values[0], gradient, order, adjoints, kinks)
