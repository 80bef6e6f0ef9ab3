"""Recordings of second derivatives, whose code leaves points near poles and lost digits to the
sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.algebra.symbolic_derivative import partials
from ..engine.graphs.adjoint import Recording, record_gradient
from ..engine.graphs.value import Value, graph_of, variable
from ..engine.numbers.recorder import Recorder, Step
from ..engine.run.flat_graph import in_order
from ..engine.table.operators import POW
from ..language.builder import Program
from .evaluator import Record

# Scales that overflow: 1/(LOWER_SCALE·x) if |x| < 1e-100, UPPER_SCALE·x if |x| > 1e100.
LOWER_SCALE, UPPER_SCALE = 1e-208, 1e208

# Overflows if |x| > 1.8e6, where functions that are `cancels_far` lose digits.
FAR_SCALE = 1e302

# Whole powers from 2 to this one have no pole.
MAX_POWER = 1_000

# Functions that are `cancels_near` lose digits below.
NEAR = 0.1


def second_recorder(program: Program, wanted: Sequence[str]) -> Record:
    """Return a recorder of value, gradient and lower Hessian. Raises `ExpressionError`."""
    by = [program.variables.get(name) or variable(name) for name in wanted]
    record = hessian_recorder(program.outputs[0], [*program.variables.values()], by)

    def with_pole_checks(recorder: Recorder) -> Recording:
        recording = record(recorder)
        return recording._replace(watched=[*recording.watched, *_pole_checks(recording)])

    return with_pole_checks


def hessian_recorder(output: Value, leaves: Sequence[Value], by: Sequence[Value]) -> Record:
    """Return a recorder of value, gradient and lower Hessian of a node. Raises
    `ExpressionError`.
    """
    graph = graph_of((output, *partials(output, by)))
    place = {leaf: i for i, leaf in enumerate(graph.places)}
    inputs, wrt = (list(map(place.get, listed)) for listed in (leaves, by))

    def record(recorder: Recorder) -> Recording:
        recording = record_gradient(graph, inputs, wrt, recorder, lower=True)
        return recording._replace(values=recording.values[:1])

    return record


def _pole_checks(recording: Recording) -> Iterator[Step]:
    # formulas may have cancelled the sweeps' poles, `sqrt(x)**2` at 1e-300, or cancel digits
    m, graph, place = recording.recorder, recording.graph, recording.place
    for i in in_order(graph.parents, graph.roots[:1]):
        if i not in recording.active:
            continue
        primitive, parents = graph.primitives[i], graph.parents[i]
        if primitive.cancels_far:
            yield from [m.step("mul", place[p], FAR_SCALE) for p in parents]
        if primitive.cancels_near:
            sides = [m.where(m.step("lt", place[p], NEAR), 0.0, 1.0) for p in parents]
            yield from [m.step("div", 1.0, side) for side in sides]
        near = {bound.position for bound in primitive.bounds.bounds if bound.end == 0}
        if primitive is POW:
            exponent = place[parents[1]]
            near = (
                set() if exponent.name == "number" and exponent.data in range(2, MAX_POWER) else {0}
            )
        for k in sorted(near):
            yield m.step("div", 1.0, m.step("mul", place[parents[k]], LOWER_SCALE))
            yield m.step("mul", place[parents[k]], UPPER_SCALE)
