"""Second derivatives: a backward sweep over duals, so that one pass gives the gradient and every row of the Hessian.

The sweep meets branches, kinks and structural zeros as the first-order one does. Where a number has a value and no
derivative, that is an error only if a second derivative asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..numbers.base import Number, NumberType
from ..numbers.dual import Dual, Duals, plain
from ..run.sweep import Fault, activity, backward, forward
from ..table.operators import VARIABLE
from .sweep_in import sweep_in, tape_in
from .value import Value, located


@dataclass(frozen=True, slots=True)
class Curvature:
    """Value, gradient and Hessian in some number type; `kinks` pairs a node with its inputs there."""

    value: Number
    gradient: list[Number]
    hessian: list[list[Number]]
    kinks: list[tuple[Value, list[Number]]]


def hessian_in(m: NumberType, output: Value, values: Mapping[str, Number], wrt: Sequence[str]) -> Curvature:
    """Value, gradient and symmetric Hessian of `output` in the number type `m`, in the order of `wrt`.

    Raises `ExpressionError`, placed in the text.
    """
    first = sweep_in(m, output, values, wrt)
    zero = m.number(0)
    duals, strict = Duals(m), Duals(m, strict=True)
    direction = {name: k for k, name in enumerate(wrt)}
    seeded = {n: duals.seeded(x, direction[n]) if n in direction else duals.number(x) for n, x in values.items()}
    nodes, tape = tape_in(duals, output, seeded)
    wanted = {n.label: i for i, n in enumerate(nodes) if n.primitive is VARIABLE and n.label in direction}
    root = len(nodes) - 1
    try:
        order = forward(tape, duals, (root,))
        active = activity(tape, order, wanted.values())
        # the adjoints carry derivatives too: a kink where the adjoint is 0 and moves has none
        adjoints, kinks = backward(tape, strict, order, active, {root: Dual(duals, m.number(1), {})})
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    rows: list[list[Number]] = []
    for name in wrt:
        adjoint = adjoints[wanted[name]] if name in wanted else None
        d = adjoint.d if isinstance(adjoint, Dual) else {}
        rows.append([d.get(k, zero) for k in range(len(wrt))])
    for i in range(len(wrt)):
        for j in range(i):
            # The two are equal but for rounding.
            rows[i][j] = rows[j][i]
    found = [(nodes[i], [plain(tape.data[p]) for p in tape.parents[i]]) for i in kinks]
    return Curvature(first.value, [first.gradient[name] for name in wrt], rows, found)
