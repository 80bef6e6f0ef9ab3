"""Vectors: a recorded program as operations on whole columns of numbers, and what shows where it has no answer.

There are no branches: all of it is computed everywhere, and a choice picks. Where a number that the program needs at a
row is not finite, or equal numbers are compared where that matters, the row is flagged: what has to be said of it, and
sometimes its answer, is another's affair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations

from ..graphs.adjoint import Recording
from ..graphs.schedule import live_steps, schedule
from ..numbers.recorder import CONDITIONS, Step
from ..table.primitive import OPERATIONS
from .faults import operands

MAX_PAIRED_INPUTS = 3
"""Inputs of a function that are compared in pairs; of more, it is counted how many are equal to the result."""

MOST_STEPS = 20_000
"""Larger programs are not worth to be printed for columns: what it takes grows faster than they do."""


@dataclass(frozen=True, slots=True)
class Check:
    """A step that has to be finite, or a comparison that must not be of equal numbers, wherever all of `needed` hold.

    `needed` are conditions, each with what it has to turn out as.
    """

    step: Step
    needed: tuple[tuple[Step, bool], ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The computed steps in order, and the checks."""

    steps: tuple[Step, ...]
    results: tuple[Step, ...]
    """The values, then the partial derivatives. They are checked too, and so are all inputs."""
    checks: tuple[Check, ...]


def vectors(recording: Recording) -> Vectors:
    """The recording for columns. A step that another one shows to be infinite is not checked itself."""
    results = (*recording.values, *recording.partials)
    edges = tuple(dict.fromkeys((*recording.edges, *_kinks(recording))))
    computed = live_steps((*results, *recording.adjoints, *recording.watched))
    numbers = [step for step in computed if step.args and step.name not in CONDITIONS]
    # what only the program needs, and no formula at all points, is computed to be checked
    there = set(live_steps((*results, *recording.adjoints)))
    alone = {step: None for step in recording.watched if step not in there} | {
        step: None for needed in operands(recording).values() for step in needed
    }
    alone = {step: None for step in alone if step.args and step.name not in CONDITIONS}
    plan = schedule(
        replace(recording, adjoints=(*recording.adjoints, *alone), watched=tuple(numbers), edges=edges),
        OPERATIONS.keys(),
    )
    checks = []
    for step, branch, _ in plan.checks:
        conditions = [(part.condition, part.holds) for part in branch.line() if part.condition is not None]
        checks.append(Check(step, tuple(conditions)))
    asked = [step for check in checks for step, _ in check.needed]
    live = live_steps((*results, *[check.step for check in checks], *asked))
    return Vectors(tuple([step for step in live if step.args]), results, tuple(checks))


class _Knots:
    """Chooses the sides of kinks in rules of the table, and records the numbers that are 0 there."""

    def __init__(self, answer: int, out: Step) -> None:
        self.answer, self.out = answer, out
        self.zeros: list[Step] = []

    def __call__(self, u: Step) -> int:
        self.zeros.append(u)
        return self.answer

    def apart(self, u: Step) -> bool:
        self.zeros.append(u)
        return self.answer > 0

    def length(self, xs: Sequence[Step]) -> Step:
        self.zeros.append(self.out)
        return self.out


def _kinks(recording: Recording) -> Iterator[Step]:
    m, graph, place = recording.recorder, recording.graph, recording.place
    for i, out in place.items():
        primitive, parents = graph.primitives[i], graph.parents[i]
        if primitive.holds:
            if not recording.active.isdisjoint(parents):
                yield out
        elif primitive.breakpoint and primitive.active_branch and i in recording.active:
            inputs = [place[p] for p in parents]
            zeros: list[Step] = []
            for answer in (1, -1):
                knots = _Knots(answer, out)
                with suppress(ValueError):  # on that side there is no value
                    primitive.active_branch(m, knots, *inputs, out=out)
                zeros += knots.zeros
            zeros += [m.step("sub", x, y) for x, y in combinations(inputs[:MAX_PAIRED_INPUTS], 2)]
            if len(inputs) > MAX_PAIRED_INPUTS:
                ties = m.step("sum", *[m.where(m.step("eq", x, out), 1.0, 0.0) for x in inputs])
                zeros.append(m.step("sub", m.step("max", ties, 2.0), ties))
            for zero in zeros:
                flag = m.step("eq", zero, 0.0)
                if flag.args:
                    yield flag


def whole_power(step: Step) -> int | None:
    """The exponent of a power that a few products give to within their rounding; None for any other step."""
    if step.name != "pow" or step.args[1].name != "number":
        return None
    exponent = float(step.args[1])
    return int(exponent) if exponent == int(exponent) and 0 < abs(exponent) <= 6 else None
