"""Value, gradient and Hessian of recorded nodes at a point, by code that is generated once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ..engine.graphs.adjoint import Recording, record_gradient, record_values
from ..engine.graphs.higher_order import SAFE_SIZE
from ..engine.graphs.value import Value, graph_of
from ..engine.numbers.recorder import Recorder, Step
from ..engine.run.evaluation import LEFT
from ..engine.table.operators import WHERE
from ..errors import ExpressionError
from .evaluator import Compiled, compile_steps
from .second_derivatives import hessian_recorder

# Whether numbers are as the code needs them.
Check = Callable[..., object]


class Code(NamedTuple):
    """A function from a point to values and derivatives, with checks of parts of the values after
    the results.
    """

    compiled: Compiled
    checks: list[tuple[Check, slice]]
    results: int


class Guard(NamedTuple):
    """A condition that the code is right under, of the numbers of some nodes."""

    holds: Check
    nodes: tuple[Value, ...]


class FirstDerivatives(NamedTuple):
    """Values, and first derivatives in rows."""

    values: list[float]
    rows: list[list[float]]
    """A row for each output."""


class SecondDerivatives(NamedTuple):
    """Value, gradient and Hessian."""

    value: float
    gradient: list[float]
    hessian: list[list[float]]


class PointDerivatives:
    """Derivatives of `outputs` by some of their `leaves`, in the order of a point's numbers.

    Code leaves to the sweeps, by None, points without an answer, near poles and at breakpoints, and
    all points where a guard does not hold.
    """

    def __init__(
        self,
        outputs: Sequence[Value],
        leaves: Sequence[Value],
        by: Sequence[Value],
        guards: Sequence[Guard] = (),
    ) -> None:
        self.outputs, self.leaves, self.by, self.guards = outputs, leaves, by, guards

    def first(self, point: Sequence[float]) -> FirstDerivatives | None:
        """Return values and first derivatives at a point."""
        answer = self._answer(self._first, point)
        if answer is None:
            return None
        values, slopes = answer
        count = len(self.by)
        rows = [
            [x + 0.0 for x in slopes[k : k + count]]
            for k in range(0, len(self.outputs) * count, count)
        ]
        return FirstDerivatives([x + 0.0 for x in values], rows)

    def second(self, point: Sequence[float]) -> SecondDerivatives | None:
        """Return value, gradient and Hessian of the first output at a point."""
        code = self._second
        answer = None if code is None else self._answer(code, point)
        if answer is None:
            return None
        (value,), slopes = answer
        count = len(self.by)
        gradient, rest = slopes[:count], iter(slopes[count:])
        lower = [[next(rest) + 0.0 for _ in range(k + 1)] for k in range(count)]
        rows = [[lower[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]
        return SecondDerivatives(value + 0.0, [x + 0.0 for x in gradient], rows)

    def _answer(self, code: Code, point: Sequence[float]) -> tuple[list[float], list[float]] | None:
        compiled, checks, _ = code
        try:
            answer = compiled(point)
            if answer is None:
                return None
            values, slopes = answer
            if not isinstance(values, list):
                return [values], slopes
            for holds, part in checks:
                if not holds(*values[part]):
                    return None
            return values[: code.results], slopes
        except LEFT:
            return None

    @cached_property
    def _first(self) -> Code:
        graph, m = graph_of(self.outputs), Recorder()
        place = {leaf: i for i, leaf in enumerate(graph.places)}
        inputs, by = (list(map(place.get, nodes)) for nodes in (self.leaves, self.by))
        return self._compiled(record_gradient(graph, inputs, by, m), len(self.outputs), [])

    @cached_property
    def _second(self) -> Code | None:
        try:
            recording = hessian_recorder(self.outputs[0], self.leaves, self.by)(Recorder())
        except ExpressionError:
            return None  # too large to be recorded
        primitives = [recording.graph.primitives[i] for i in recording.active]
        if any(primitive.cancels_near or primitive.cancels_far for primitive in primitives):
            return None
        return self._compiled(recording, 1, recording.watched)

    def _compiled(self, recording: Recording, count: int, watched: Sequence[Step]) -> Code:
        values, checks = [*recording.values], list[tuple[Check, slice]]()
        if watched:
            checks.append((_is_safe, slice(len(values), len(values) + len(watched))))
            values += watched
        for holds, steps in [*self._guard_steps(recording), *_breakpoint_steps(recording)]:
            checks.append((holds, slice(len(values), len(values) + len(steps))))
            values += steps
        return Code(
            compile_steps(recording._replace(values=values), len(self.leaves)), checks, count
        )

    def _guard_steps(self, recording: Recording) -> Iterator[tuple[Check, list[Step]]]:
        nodes = dict.fromkeys(node for guard in self.guards for node in guard.nodes)
        if not nodes:
            return
        graph = graph_of(nodes)
        place = {leaf: i for i, leaf in enumerate(graph.places)}
        recorded = record_values(graph, list(map(place.get, self.leaves)), recording.recorder)
        step_of = dict(zip(nodes, recorded.values, strict=True))
        for guard in self.guards:
            yield guard.holds, [step_of[node] for node in guard.nodes]


def _breakpoint_steps(recording: Recording) -> Iterator[tuple[Check, list[Step]]]:
    graph = recording.graph
    for i, primitive in enumerate(graph.primitives):
        # a choice has its breakpoints where its condition compares equal numbers
        if primitive is WHERE or not (i in recording.active or primitive.gives_condition):
            continue
        meets = primitive.breakpoint
        if meets is not None:
            yield _unless(meets), [recording.place[p] for p in graph.parents[i]]
        elif primitive.may_kink:
            yield _never, []


def _is_safe(*numbers: float) -> bool:
    """Return whether products of a few of the numbers neither underflow nor overflow."""
    return all(SAFE_SIZE < abs(x) < 1 / SAFE_SIZE or x == 0.0 for x in numbers)


def _unless(meets: Callable[..., bool]) -> Check:
    return lambda *numbers: not meets(*numbers)


def _never() -> bool:
    return False
