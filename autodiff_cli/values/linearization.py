"""Derivatives of several outputs at once: the Jacobian, and its products with a vector, which never form it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..numbers import work
from ..numbers.base import Number, NumberType
from ..run.reverse import reverse
from ..run.sweep import Activity, Fault, activity, forward, may_meet_kinks, tangents
from ..run.tape import Tape
from ..table.operators import VARIABLE
from .sweep_in import tape_in
from .value import Value, in_order, located

STEPS_A_SWEEP = 30
"""Steps of work that a sweep costs beside those of its nodes."""

Kinks = dict[Value, list[Number]]
"""Nodes without a derivative, with their inputs there."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A program evaluated at a point in some number type: what its derivatives are swept from."""

    m: NumberType
    nodes: list[Value]
    tape: Tape
    order: Sequence[int]
    roots: list[int]
    wanted: dict[str, int]
    """The place of each wanted variable that the program holds."""
    active: Activity

    @property
    def values(self) -> list[Number]:
        """The outputs."""
        return [self.tape.data[root] for root in self.roots]


def evaluate_in(m: NumberType, outputs: Sequence[Value], values: Mapping[str, Number], wrt: Sequence[str]) -> Evaluated:
    """The outputs at the point `values`, ready to be differentiated by `wrt`. Raises `ExpressionError`."""
    work.spend(STEPS_A_SWEEP)
    nodes, tape = tape_in(m, outputs, values)
    place = in_order(outputs)
    roots = [place[output] for output in outputs]
    wanted = {n.label: i for i, n in enumerate(nodes) if n.primitive is VARIABLE and n.label in wrt}
    try:
        order = forward(tape, m, roots)
        active = activity(tape, m, order, wanted.values())
    except Fault as fault:
        raise located(fault, nodes, tape) from None
    return Evaluated(m, nodes, tape, order, roots, wanted, active)


def transposed_product(at: Evaluated, adjoints: Sequence[Number], wrt: Sequence[str]) -> tuple[list[Number], Kinks]:
    """The Jacobian's rows, weighted with the outputs' adjoints and added up, in one backward sweep (vjp).

    Outputs of weight 0 take no part. Raises `ExpressionError`.
    """
    work.spend(STEPS_A_SWEEP)
    seeds: dict[int, Number] = {}
    for root, adjoint in zip(at.roots, adjoints, strict=True):
        if adjoint != 0:
            seeds[root] = seeds[root] + adjoint if root in seeds else adjoint
    try:
        found, kinks, _ = reverse(at.tape, at.m, at.order, at.active, seeds)
    except Fault as fault:
        raise located(fault, at.nodes, at.tape) from None
    zero = at.m.number(0)
    partials = [found[at.wanted[name]] if name in at.wanted else None for name in wrt]
    row = [zero if partial is None else partial for partial in partials]
    return row, {at.nodes[i]: [at.tape.data[p] for p in at.tape.parents[i]] for i in kinks}


def product(at: Evaluated, direction: Mapping[str, Number]) -> tuple[list[Number], Kinks]:
    """The derivative of each output along a direction, in one forward sweep (jvp); variables of 0 are held fixed.

    Where there is a kink anywhere each output gets a backward sweep, which tells whether it is met, and a forward sweep
    of its own. Raises `ExpressionError`.
    """
    tape, m = at.tape, at.m
    seeds = {at.wanted[name]: t for name, t in direction.items() if name in at.wanted and t != 0}
    active = activity(tape, m, at.order, seeds)
    kinks: Kinks = {}
    try:
        found = tangents(tape, m, at.order, active, seeds, at.roots)
        results = [found[root] for root in at.roots]
        if may_meet_kinks(tape, at.order, active):
            for k, root in enumerate(at.roots):
                _, met, order = reverse(tape, m, at.order, active, {root: m.number(1)})
                kinks |= {at.nodes[i]: [tape.data[p] for p in tape.parents[i]] for i in met}
                results[k] = tangents(tape, m, order, active, seeds, (root,))[root]
    except Fault as fault:
        raise located(fault, at.nodes, tape) from None
    zero = m.number(0)
    return [zero if result is None else result for result in results], kinks


def jacobian(at: Evaluated, wrt: Sequence[str]) -> tuple[list[list[Number]], Kinks]:
    """A row of partial derivatives for each output, by a backward sweep each. Raises `ExpressionError`."""
    one, zero = at.m.number(1), at.m.number(0)
    rows: list[list[Number]] = []
    kinks: Kinks = {}
    for k in range(len(at.roots)):
        row, met = transposed_product(at, [one if j == k else zero for j in range(len(at.roots))], wrt)
        rows.append(row)
        kinks |= met
    return rows, kinks
