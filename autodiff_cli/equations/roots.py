"""Roots of a function of one variable in doubles: safeguarded Newton in brackets, and how brackets are found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..numerics.newton import bisected, damped_newton

Sample = tuple[float, float, float]
"""A number, the value of the function there, and its derivative."""

Function = Callable[[float], Sample | None]
"""None where the function is undefined."""

GRID = 240
"""Into how many steps an interval is divided to look for roots."""

DECADES = 100
"""From which quotient of its ends on an interval is also divided in equal quotients."""

STEPS = 2200
"""Enough to halve any interval of doubles down to one."""

SECANTS = 80
DIGITS = 80
"""With so many digits roots are looked for that doubles cannot tell from others."""

WIDENINGS = 90
EDGE = 60


class Root(NamedTuple):
    """A root, as near as doubles are."""

    x: float
    crossing: bool
    """Whether the function changes its sign there, so that there is a root however it is rounded."""
    steps: int


def bracketed(
    function: Function, low: Sample, high: Sample, small: Callable[[float], float], start: float | None = None
) -> Root | None:
    """The root between two numbers at which the function has different signs: Newton's method, halving where it leaves.

    None where the sign changes at a pole or a jump, or where the function is undefined in between. `small` says how
    large rounding makes the value at a number. Press et al., Numerical Recipes, 9.4.
    """
    for end in (low, high):
        if end[1] == 0:
            return Root(end[0], True, 0)
    a, b = (low, high) if low[1] < 0 else (high, low)
    largest = max(abs(a[1]), abs(b[1]))
    x = start if start is not None and min(a[0], b[0]) < start < max(a[0], b[0]) else (a[0] + b[0]) / 2
    before = abs(b[0] - a[0])
    for step in range(1, STEPS):
        here = function(x)
        if here is None:
            return None
        if here[1] == 0:
            return Root(x, True, step)
        if here[1] < 0:
            a = here
        else:
            b = here
        left, right = min(a[0], b[0]), max(a[0], b[0])
        middle = left + (right - left) / 2
        if not left < middle < right:
            break
        best = here
        newton = best[0] - best[1] / best[2] if best[2] else math.inf
        # a step of Newton's that does not halve what is left is none to go on with
        if left < newton < right and abs(newton - best[0]) < 0.5 * before:
            before = abs(newton - best[0])
            x = newton
            if x == best[0]:
                break
        else:
            before = right - left
            x = middle
    x, value, _ = min(a, b, key=lambda sample: abs(sample[1]))
    # beside a pole the value is large, beside a jump larger than rounding could make it
    if abs(value) > 0.5 * largest or abs(value) > small(x):
        return None
    return Root(_nearest(function, x, a, b), True, step)


def _nearest(function: Function, x: float, a: Sample, b: Sample) -> float:
    """Of this number and its neighbours the one at which the function is nearest to 0."""
    samples = [sample for sample in (a, b, *map(function, _around(x))) if sample is not None]
    left, right = min(a[0], b[0]), max(a[0], b[0])
    inside = [sample for sample in samples if left <= sample[0] <= right]
    return min(inside, key=lambda sample: abs(sample[1]))[0]


def _around(x: float) -> tuple[float, float, float]:
    return math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)


def grid(low: float, high: float, steps: int = GRID) -> list[float]:
    """Numbers from `low` to `high`: in equal steps, and where 0 is near also in equal quotients."""
    points = {low + (high - low) * k / steps for k in range(steps)} | {low, high}
    for a, b, sign in ((low, high, 1.0), (-high, -low, -1.0)):
        near = max(a, b * 1e-12)
        if near > 0 and b / near > DECADES:
            ratio = math.log(b / near)
            points |= {sign * near * math.exp(ratio * k / GRID) for k in range(1, GRID)}
    return sorted(x for x in points if low <= x <= high)


def all_roots(
    function: Function, low: float, high: float, small: Callable[[float], float], steps: int = GRID
) -> list[Root]:
    """The roots from `low` to `high` that a grid shows, in order: changes of sign, and places where 0 is only touched.

    `small` says how large rounding makes the value at a number. Roots closer to each other than the grid may be missed.
    """
    samples = [(x, function(x)) for x in grid(low, high, steps)]
    roots: list[Root] = []
    for (x, here), (y, there) in pairwise(samples):
        if here is not None and here[1] == 0:
            roots.append(Root(x, True, 0))
        if here is not None and there is not None:
            roots += _between(function, here, there, small)
        elif here is not None or there is not None:
            roots += _between(function, *_to_the_edge(function, x, here, y, there), small)
    last = samples[-1][1]
    if last is not None and last[1] == 0:
        roots.append(Root(samples[-1][0], True, 0))
    distinct: list[Root] = []
    for root in sorted(roots):
        if not distinct or abs(root.x - distinct[-1].x) > 1e-7 * (abs(root.x) + 1e-9 * (high - low)):
            distinct.append(root)
        elif root.crossing and not distinct[-1].crossing:
            distinct[-1] = root
    return distinct


def _between(function: Function, a: Sample, b: Sample, small: Callable[[float], float]) -> Iterator[Root]:
    """The roots between two neighbours."""
    if a[1] * b[1] < 0:
        root = bracketed(function, a, b, small)
        if root is not None:
            yield root
        return
    if a[1] == 0 or b[1] == 0:
        return
    # towards 0 on the left and away from it on the right: there is a place in between that is nearest to it
    if (a[1] > 0) == (a[2] > 0) or (b[1] > 0) != (b[2] > 0) or a[2] == 0 or b[2] == 0:
        return
    left, right = a, b
    for _ in range(STEPS):
        x = left[0] + (right[0] - left[0]) / 2
        if not left[0] < x < right[0]:
            break
        here = function(x)
        if here is None:
            return
        if here[1] == 0 or here[1] * a[1] < 0:
            if here[1] == 0:
                yield Root(x, False, 0)
                return
            for root in (bracketed(function, a, here, small), bracketed(function, here, b, small)):
                if root is not None:
                    yield root
            return
        if (here[2] > 0) == (a[2] > 0) and here[2] != 0:
            left = here
        else:
            right = here
    x, value, _ = min(left, right, key=lambda sample: abs(sample[1]))
    if abs(value) <= small(x):
        yield Root(x, False, 0)


def _to_the_edge(
    function: Function, x: float, here: Sample | None, y: float, there: Sample | None
) -> tuple[Sample, Sample]:
    """The neighbour that has a value, and the last one towards the other that has one too."""
    inside = here or there
    assert inside is not None
    samples: dict[float, Sample | None] = {inside[0]: inside}

    def has_value(x: float) -> bool:
        samples[x] = function(x)
        return samples[x] is not None

    edge = samples[bisected(has_value, inside[0], y if here is not None else x, most=EDGE)[0]]
    assert edge is not None
    return (inside, edge) if here is not None else (edge, inside)


def outwards(function: Function, start: float) -> Iterator[tuple[Sample, Sample]]:
    """Neighbours with different signs, the nearest to `start` first, in steps that grow on both sides of it."""
    first = function(start)
    ends: list[Sample | None] = [first, first]
    places = [start, start]
    step = 0.01 * abs(start) or 0.01
    for _ in range(WIDENINGS):
        for side, sign in ((0, -1.0), (1, 1.0)):
            end = ends[side]
            x = places[side] + sign * step
            if not math.isfinite(x) or x == places[side]:
                continue
            here = function(x)
            if here is None and end is not None:
                _, here = _to_the_edge(function, end[0], end, x, None)
                if here[0] == end[0]:
                    here = None
            if here is not None and end is not None and here[1] * end[1] <= 0 and (here[1] or end[1]):
                yield (here, end) if sign < 0 else (end, here)
            if here is not None or end is None:
                ends[side], places[side] = here, x if here is None else here[0]
        step *= 1.35


def nearest_to_zero(function: Function, start: float) -> Sample | None:
    """Return where damped Newton steps lead from a start; None where the function has no value there."""

    def evaluate(point: list[float]) -> tuple[Sequence[float], float] | None:
        sample = function(point[0])
        return None if sample is None else (sample[1:2], sample[2])

    def solve(slope: float, values: Sequence[float]) -> list[float] | None:
        return [-values[0] / slope] if slope else None

    ended = damped_newton(evaluate, solve, [start], most=200, smallest=1e-9)
    return None if ended is None else (ended[0][0], ended[1][0], ended[2])


def refined(
    in_digits: Callable[[int], Callable[[Any], tuple[Any, Any] | None]], start: float, width: float, error: float
) -> tuple[float, int | None] | None:
    """The root near a number to the last digit of doubles, and its multiplicity; None where none is confirmed.

    `in_digits` makes the function that has value and derivative in so many digits, `width` says how far around the
    function is 0 within its rounding `error` in doubles. A multiple root of f is a simple one of f/f', to which the
    secant method converges: beside it that is (x - root)/multiplicity. Where f only tends to 0 it does not shrink.
    """
    function, finer = in_digits(DIGITS), in_digits(2 * DIGITS)
    x = _zero_of_quotient(function, start, width)
    if x is None:
        x = start
    elif abs(x) <= 1e-12 * width:
        x = 0 * x
    here = function(x)
    if here is None or abs(here[0]) > error * 1e-50:
        # a zero at a double need not be one beside it
        x = float(x)
        here = function(x)
        if here is None or here[0] != 0:
            return None
    orders = []
    for step in (-1e-3 * width, 1e-3 * width):
        there, again = function(x + step), finer(x + step)
        if there is None or again is None or there[1] is None:
            continue
        if not again[0] or abs(there[0] - again[0]) > 0.01 * abs(again[0]):
            return None
        orders.append(float(step * again[1] / again[0]))
    if not orders or min(orders) < 0.1:
        return None
    multiplicity = round(orders[0])
    is_integer = multiplicity > 0 and all(abs(order - multiplicity) < 0.05 for order in orders)
    return float(x), multiplicity if is_integer else None


def _zero_of_quotient(function: Callable[[Any], tuple[Any, Any] | None], start: float, width: float) -> Any:
    """Return the zero of f that the secant method for f/f' approaches; None without a derivative at the start."""
    before = function(start)
    if before is None or not before[1]:
        start += width / 32
        before = function(start)
    if before is None or not before[1]:
        return None
    # in the number type of the values
    a = 0 * before[0] + start
    x, low = a + width / 7, before[0] / before[1]
    best = a, abs(before[0])
    for _ in range(SECANTS):
        here = function(x)
        if here is None or not abs(x - start) < 20 * width:
            break
        # at the root rounding is all that is left of f/f', and leads away
        if abs(here[0]) < best[1]:
            best = x, abs(here[0])
        if here[0] == 0 or not here[1] or here[0] / here[1] == low:
            break
        high = here[0] / here[1]
        a, low, x = x, high, x - high * (x - a) / (high - low)
    return best[0]
