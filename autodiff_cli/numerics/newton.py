"""Newton's method in any number type, and bisection."""

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

System = Callable[[list[Any]], tuple[Sequence[Any], Matrix]]
"""Returns the residuals of a square system at a point, and its Jacobian."""


def newton(m: NumberType, system: System, start: Sequence[Any]) -> Iterator[tuple[list[Any], list[Any] | None]]:
    """Yield each point with the Newton step from it; None, the last, at a singular Jacobian.

    Raises the errors of `system`.
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


def refine(m: NumberType, system: System, start: Sequence[float]) -> list[Any]:
    """Return the solution near a start, by Newton steps until they stop shrinking.

    >>> from autodiff_cli.numbers.floats import REAL
    >>> refine(REAL, lambda at: ([at[0] ** 2 - 4], [[2 * at[0]]]), [1.5])
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
    """Return a computed root with error bounds: twice the Newton step from it.

    Raises `Refusal` if more digits are needed to show that it is simple.
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
    """Return point, values and Jacobian after damped Newton steps; None without a first value.

    Steps are halved until the values shrink. `evaluate` returns values and Jacobian, or None; `solve` the
    step from both, or None. `most` bounds the steps, `smallest` the shares of one.
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


def bisect(
    holds: Callable[[float], bool], inside: float, outside: float, *, width: float = 0.0, most: int = 2200
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
