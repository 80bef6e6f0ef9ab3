"""Newton's method in any number type, damped or not, and bisection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..numbers.base import NumberType, undecided
from .linear_algebra import Matrix, Singular, solve_linear

if TYPE_CHECKING:
    from ..numbers.running_digits import RunningDigits

MAX_STEPS = 60  # each doubles the digits

# Returns the residuals of a square system at a point, and its Jacobian.
System = Callable[[list[Any]], tuple[Sequence[Any], Matrix]]


def newton(
    m: NumberType,
    system: Callable[[list[Any]], tuple[Sequence[Any], Any] | None],
    start: Sequence[Any],
    *,
    smallest: float | None = None,
    solve: Callable[[Any, Any], list[Any]] | None = None,
) -> Iterator[tuple[list[Any], tuple[Sequence[Any], Any], list[Any] | None]]:
    """Yield each point with the system there and the Newton step; None, the last, at a singular
    Jacobian.

    With `smallest` a step is halved, down to that share, until the values shrink; the step is None
    at values of 0 too. `system` may return None where it has no values. `solve` returns the step
    from Jacobian and values. Raises the errors of `system`.
    """
    point, here = list(start), system(list(start))
    while here is not None:
        values, rows = here
        step, size = None, math.inf if smallest is None else math.hypot(*values)
        if size:
            try:
                step = (
                    solve(rows, values)
                    if solve
                    else [d for (d,) in solve_linear(m, rows, [[-x] for x in values])]
                )
            except (Singular, ZeroDivisionError):
                step = None
        yield point, here, step
        share = 1.0
        while step is not None:
            moved = [x + d for x, d in zip(point, step, strict=True)]
            there = system(moved)
            if smallest is None or (there is not None and math.hypot(*there[0]) < size):
                break
            share /= 2
            step = [d / 2 for d in step] if share > smallest else None
        if step is None:
            return
        point, here = moved, there


def refine(m: NumberType, system: System, start: Sequence[float]) -> list[Any]:
    """Return the solution near a start, by Newton steps until they stop shrinking.

    >>> from autodiff_cli.engine.numbers.floats import REAL
    >>> refine(REAL, lambda at: ([at[0] ** 2 - 4], [[2 * at[0]]]), [1.5])
    [2.0]
    """
    begin = [m.number(x) for x in start]
    point, shortest = begin, None
    for here, _, step in islice(newton(m, system, begin), MAX_STEPS):
        point = here
        length: Any = (
            0
            if step is None
            else max(abs(d / (abs(x) or 1)) for d, x in zip(step, start, strict=True))
        )
        if length == 0 or (shortest is not None and length >= shortest):
            break
        shortest = length
    return point


def with_errors(m: RunningDigits, system: System, root: Sequence[Any]) -> list[Any]:
    """Return a computed root with error bounds: twice the Newton step from it.

    Raises `Refusal` if more digits are needed to show that it is simple.
    """
    values, rows = system([m.number(x) for x in root])
    try:
        steps = solve_linear(m, rows, [[x] for x in values])
    except (Singular, ZeroDivisionError):
        raise undecided("cannot determine whether the solution is a simple one") from None
    return [m.within(x, 2 * step) for x, (step,) in zip(root, steps, strict=True)]


def bisect(
    holds: Callable[[float], bool],
    inside: float,
    outside: float,
    *,
    width: float = 0.0,
    most: int = 2200,
) -> tuple[float, float]:
    """Return adjacent numbers, or ones within `width`, where a condition ceases to hold.

    It holds at `inside`, not at `outside`. 2200 halvings suffice for any interval of doubles.

    >>> bisect(lambda x: x * x < 2, 1.0, 2.0)
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
