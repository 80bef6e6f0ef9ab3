"""Derivatives of several outputs at once: the Jacobian, and its products with a vector, which never form it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..numbers import budget as work
from ..numbers.base import Number, NumberType
from ..run.evaluation import Evaluation
from ..run.graph import Graph
from ..run.sweep import Breakpoint, may_meet_kinks
from . import value_and_gradient as sweep_in
from .value import Value

STEPS_A_SWEEP = 30
"""Steps of work that a sweep costs beside those of its nodes."""

Kinks = dict[int, Breakpoint]
"""Nodes without a derivative, with their inputs there."""


def evaluate_in(
    m: NumberType, outputs: Iterable[Value] | Graph, values: Mapping[str, Number], wrt: Sequence[str]
) -> Evaluation:
    """The outputs at the point `values`, ready to be differentiated by `wrt`. Raises `ExpressionError`."""
    work.charge(STEPS_A_SWEEP)
    return sweep_in.evaluate_in(m, outputs, values, wrt)


def transposed_product(at: Evaluation, adjoints: Sequence[Number], wrt: Sequence[str]) -> tuple[list[Number], Kinks]:
    """The Jacobian's rows, weighted with the outputs' adjoints and added up, in one backward sweep (vjp).

    Outputs of weight 0 take no part. Raises `ExpressionError`.
    """
    work.charge(STEPS_A_SWEEP)
    seeds: dict[int, Number] = {}
    for root, adjoint in zip(at.graph.roots, adjoints, strict=True):
        if adjoint != 0:
            seeds[root] = seeds[root] + adjoint if root in seeds else adjoint
    found, kinks, _ = at.reverse(seeds)
    zero = at.m.number(0)
    partials = [found[at.wanted[name]] if name in at.wanted else None for name in wrt]
    row = [zero if partial is None else partial for partial in partials]
    return row, {kink.node: kink for kink in at.breakpoints(kinks)}


def product(at: Evaluation, direction: Mapping[str, Number]) -> tuple[list[Number], Kinks]:
    """The derivative of each output along a direction, in one forward sweep (jvp); variables of 0 are held fixed.

    Where there is a kink anywhere each output gets a backward sweep, which tells whether it is met, and a forward sweep
    of its own. Raises `ExpressionError`.
    """
    seeds = {at.wanted[name]: t for name, t in direction.items() if name in at.wanted and t != 0}
    active = at.activity(seeds)
    kinks: Kinks = {}
    found = at.tangents(seeds, active, at.graph.roots)
    results = [found[root] for root in at.graph.roots]
    if may_meet_kinks(at.graph, at.order, active):
        for k, root in enumerate(at.graph.roots):
            _, met, order = at.reverse({root: at.m.number(1)}, active)
            kinks |= {kink.node: kink for kink in at.breakpoints(met)}
            results[k] = at.tangents(seeds, active, (root,), order)[root]
    zero = at.m.number(0)
    return [zero if result is None else result for result in results], kinks


def jacobian(at: Evaluation, wrt: Sequence[str]) -> tuple[list[list[Number]], Kinks]:
    """A row of partial derivatives for each output, by a backward sweep each. Raises `ExpressionError`."""
    one, zero = at.m.number(1), at.m.number(0)
    rows: list[list[Number]] = []
    kinks: Kinks = {}
    for k in range(len(at.graph.roots)):
        row, met = transposed_product(at, [one if j == k else zero for j in range(len(at.graph.roots))], wrt)
        rows.append(row)
        kinks |= met
    return rows, kinks
