"""Newton's method in any number type, and the halving of intervals: what every search for a solution shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..numbers.base import NumberType, undecided
from .linear_algebra import Matrix, Singular, solve_linear

if TYPE_CHECKING:
    from ..numbers.running_digits import RunningDigits

MAX_STEPS = 60  # towards the last digit: each doubles the digits

System = Callable[[list[Any]], tuple[Sequence[Any], Matrix]]
"""Return the residuals of a square system of equations at a point, and its Jacobian."""


def newton(m: NumberType, system: System, start: Sequence[Any]) -> Iterator[tuple[list[Any], list[Any] | None]]:
    """Yield each point of Newton's method with the step from there to the next; at a singular Jacobian None, and end.

    Raises what `system` raises.
    """
    point = list(start)
    while True:
        values, rows = system(point)
        try:
            step = [d for (d,) in solve_linear(m, rows, [[-x] for x in values])]
        except (Singular, ZeroDivisionError):
            yield point, None
            return
        yield point, step
        point = [x + d for x, d in zip(point, step, strict=True)]


def polished(m: NumberType, system: System, start: Sequence[float]) -> list[Any]:
    """Return the solution near a start with all digits of a number type: where Newton's steps no longer shrink.

    >>> from autodiff_cli.numbers.floats import REAL
    >>> polished(REAL, lambda at: ([at[0] ** 2 - 4], [[2 * at[0]]]), [1.5])
    [2.0]
    """
    begin = [m.number(x) for x in start]
    point, shortest = begin, None
    for here, step in islice(newton(m, system, begin), MAX_STEPS):
        point = here
        length: Any = 0 if step is None else max(abs(d / (abs(x) or 1)) for d, x in zip(step, start, strict=True))
        if length == 0 or (shortest is not None and length >= shortest):
            break
        shortest = length
    return point


def with_errors(m: RunningDigits, system: System, root: Sequence[Any]) -> list[Any]:
    """Return a computed root with error bounds: twice Newton's step from it.

    Raises `Refusal` where more digits have to tell whether it is a simple one.
    """
    values, rows = system([m.number(x) for x in root])
    try:
        steps = solve_linear(m, rows, [[x] for x in values])
    except (Singular, ZeroDivisionError):
        raise undecided("whether the solution is a simple one cannot be told") from None
    return [m.within(x, 2 * step) for x, (step,) in zip(root, steps, strict=True)]


def damped_newton(
    evaluate: Callable[[list[float]], tuple[Sequence[float], Any] | None],
    solve: Callable[[Any, Sequence[float]], Sequence[float] | None],
    start: Sequence[float],
    *,
    most: int,
    smallest: float,
) -> tuple[list[float], Sequence[float], Any] | None:
    """Return where Newton's method ends whose steps are halved until the values shrink; None without values at first.

    That is the point with the values and the Jacobian there. `evaluate` gives values and Jacobian, None where there are
    none; `solve` the step that follows from both, None where there is none. No more than `most` steps are taken, and no
    share of one that is less than `smallest`.
    """
    point = list(start)
    here = evaluate(point)
    if here is None:
        return None
    for _ in range(most):
        values, rows = here
        size = math.hypot(*values)
        step = solve(rows, values) if size else None
        share = 1.0
        while step is not None:
            moved = [x + share * d for x, d in zip(point, step, strict=True)]
            there = evaluate(moved)
            if there is not None and math.hypot(*there[0]) < size:
                point, here = moved, there
                break
            share /= 2
            if share <= smallest:
                step = None
        if step is None:
            break
    return point, *here


def bisected(
    holds: Callable[[float], bool], inside: float, outside: float, *, width: float = 0.0, most: int = 2200
) -> tuple[float, float]:
    """Return the two numbers next to each other, or within `width`, between which a condition ceases to hold.

    It holds at `inside`, and not at `outside`. 2200 halvings are enough for any interval of doubles.

    >>> bisected(lambda x: x * x < 2, 1.0, 2.0)
    (1.414213562373095, 1.4142135623730951)
    """
    for _ in range(most):
        middle = inside + (outside - inside) / 2
        if middle in (inside, outside) or abs(outside - inside) <= width:
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside, outside
