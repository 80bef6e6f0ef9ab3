"""All solutions of equations between bounds, proven to be there, and to be all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.rational_functions import cleared, multiplied_out
from ..errors import needed
from ..graphs.taylor_mode import taylor_in
from ..graphs.value import Value
from ..inputs.arithmetic import Arithmetic
from ..inputs.problem import Problem
from ..numbers.budget import Defined

if TYPE_CHECKING:
    from .enclosures import Operator

MOST_MULTIPLICITY = 8
"""A root of a higher multiplicity is not proven."""

MOST_DECIMALS = 6
"""The root in a box is guessed to be a decimal number of so many places at the most."""

Box = dict[str, tuple[float, float]]
"""The ends of an interval for each unknown."""


class Proof(NamedTuple):
    """The result of a certified search for all solutions between the bounds."""

    starts: list[list[float]]
    """The middles of boxes that hold exactly one solution each."""
    undecided: list[Box]
    unbounded: list[Box]
    """The undecided boxes in which an equation is unbounded, as at a pole."""
    complete: bool
    multiplicities: dict[float, int]
    """Of the multiple roots of one equation, which are known exactly."""


def proven(problem: Problem, stop: Callable[[], bool]) -> Proof:
    """Return all solutions between the bounds by interval Newton, and whether these are all.

    The search is for zeros of the numerators, which have no poles; those that are solutions are kept.
    """
    message = "`--certified` needs python-flint, which is not installed"
    needed("flint", "certified", message, "; without it `--all` looks on a grid")
    from .enclosures import BITS, Operator, boxes, search, spanned

    balls = boxes(BITS)
    certified = Arithmetic("certified")
    others = {
        name: certified._value(balls, name, problem.point[name])
        for name in problem.program.variables
        if name not in problem.unknowns
    }
    outputs = problem.program.outputs
    numerators = [cleared(output)[0] for output in outputs]
    equations = Operator(outputs, problem.unknowns, others, balls)
    operator = Operator(numerators, problem.unknowns, others, balls)
    bounds = [problem.bounds[name] for name in problem.unknowns]
    multiple: dict[float, int] = {}

    def resolved(box: Sequence[Any]) -> bool:
        root = _multiple_root(operator, numerators[0], box) if len(box) == 1 and equations.bounded([*box]) else None
        if root is not None:
            multiple[root[0]] = root[1]
        return root is not None

    result = search(operator, [spanned(*ends) for ends in bounds], stop, resolved)
    waiting = list(result.undecided)
    starts = [[x] for x in multiple]
    for box in result.proven:
        if any(above is not output for above, output in zip(numerators, outputs, strict=True)):
            start = _exact(operator, box)
            if start is not None and equations.excluded([equations.m.number(x).a for x in start]):
                continue
            if not equations.bounded(box):
                waiting.append(box)
                continue
        starts.append([float(a.mid()) for a in box])
    undecided, unbounded = [], []
    for box in waiting:
        ends = [(float(a.mid() - a.rad()), float(a.mid() + a.rad())) for a in box]
        undecided.append(dict(zip(problem.unknowns, ends, strict=True)))
        narrow = all(high - low < 1e-3 * (b - a) for (low, high), (a, b) in zip(ends, bounds, strict=True))
        if narrow and not equations.bounded(box):
            unbounded.append(undecided[-1])
    inside = [start for start in starts if all(low <= x <= high for x, (low, high) in zip(start, bounds, strict=True))]
    return Proof(sorted(inside), undecided, unbounded, result.complete and not undecided, multiple)


def _decimals(ball: Any) -> Iterable[float]:
    """Yield short decimal numbers in a ball."""
    middle = float(ball.mid())
    for x in dict.fromkeys(round(middle, places) + 0.0 for places in range(MOST_DECIMALS + 1)):
        if ball.contains(x):
            yield x


def _exact(operator: Operator, box: Sequence[Any]) -> list[float] | None:
    """Return a point in a box at which the equations hold exactly, if it is one of few digits."""
    for point in zip(*([*_decimals(ball)] for ball in box), strict=False):
        if operator.holds(point):
            return list(point)
    return None


def _multiple_root(operator: Operator, output: Value, box: Sequence[Any]) -> tuple[float, int] | None:
    """Return the only root in a box, and its multiplicity k; None where that cannot be proven.

    There is only one where all derivatives below the k-th are exactly 0 at it, and the k-th is 0 nowhere in the box:
    the function is (x - root)**k times the k-th derivative somewhere in between, over k!.
    """
    start = _exact(operator, box)
    if start is None:
        return None
    m, (name,) = operator.m, operator.unknowns
    output = multiplied_out(output)  # of a power of a wide ball around 0 there is no series
    with Defined(ArithmeticError, ValueError):
        at = taylor_in(m, output, {**operator.values, name: m.number(start[0])}, name, MOST_MULTIPLICITY)
        order = next((k for k, c in enumerate(at) if not m.number(c).a.is_zero()), 0)
        if order:
            around: Mapping[str, Any] = {**operator.values, name: operator.ball(box[0])}
            if not m.number(taylor_in(m, output, around, name, order)[order]).a.contains(0):
                return start[0], order
    return None
