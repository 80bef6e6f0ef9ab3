"""Derivatives from values alone, by central differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..numbers.base import Number, NumberType
from ..run.flat_graph import Graph
from ..run.sweep import NodeError, forward

EXTRAPOLATION_ROWS = 12
"""Step sizes of an extrapolation, each half of the previous one."""

FIRST_STEPS, NEAR_STEPS = (0.1, 1e-3), (1e-6, 1e-9, 1e-12)
"""First steps, relative to the point and absolute, and those beside a pole or another sudden change."""

ROUGH = 1e-3
"""The relative error of an estimate for which nearer steps are tried."""

EPSILON = 2.0**-52


class Difference(NamedTuple):
    """A slope with an estimated error; None if one side has no values."""

    slope: float | None
    error: float | None


def evaluator(graph: Graph, m: NumberType, root: int, leaf: int) -> Callable[[Number], Number | None]:
    """Return the value at `root` as a function of that at `leaf`; None if undefined."""
    leaves = [x if not graph.parents[i] else None for i, x in enumerate(graph.data)]

    def value(x: Number) -> Number | None:
        if isinstance(x, float) and not math.isfinite(x):
            return None
        data = list(leaves)
        data[leaf] = x
        try:
            forward(graph.at(data), m, (root,))
        except NodeError:
            return None
        return data[root]

    return value


def extrapolated(
    value: Callable[[float], float | None], x: float, noise: Callable[[float], float] = lambda _: 0.0
) -> Difference:
    """Return the slope at `x` by Ridders' method: extrapolated central differences, from two first steps or more.

    `noise` is the rounding error of a value. Source: C. J. F. Ridders, Advances in Engineering Software 4 (1982) 75-76.
    """
    best, nearest, count = Difference(None, None), math.inf, 0
    for start, enough in (*((start, 1e-9) for start in FIRST_STEPS), *((start, ROUGH) for start in NEAR_STEPS)):
        for scale in dict.fromkeys((abs(x) or 1.0, 1.0)):
            if count > 1 and best.error is not None and best.slope and best.error < enough * abs(best.slope):
                return best
            shrunk = (start * scale / 16**k for k in range(10))
            step = next((h for h in shrunk if value(x + h) is not None and value(x - h) is not None), None)
            if step is None:
                continue
            slope, error = _ridders(value, x, step, max(noise(x - step), noise(x + step)))
            if slope is None or error is None:
                continue
            count += 1
            # of estimates that contradict each other, the nearer one is about this point
            contradicts = best.slope is not None and abs(slope - best.slope) > 3 * (error + (best.error or 0.0))
            if best.error is None or (step < nearest if contradicts else error < best.error):
                best, nearest = Difference(slope, error), step
    return best


def _ridders(value: Callable[[float], float | None], x: float, step: float, noise: float) -> Difference:
    best = Difference(None, None)
    previous: list[float] = []
    for _ in range(EXTRAPOLATION_ROWS):
        up, down = value(x + step), value(x - step)
        if up is None or down is None or x + step == x - step:
            break
        # The steps as rounded to doubles.
        row = [(up - down) / ((x + step) - (x - step))]
        if not math.isfinite(row[0]):
            break
        rounding = (EPSILON * max(abs(up), abs(down)) + noise) / step
        factor = 4.0
        for k, before in enumerate(previous):
            row.append((factor * row[k] - before) / (factor - 1))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - before)) + rounding
            if math.isfinite(row[k + 1]) and (best.error is None or error < best.error):
                best = Difference(row[k + 1], error)
            factor *= 4
        if previous and best.error is not None and abs(row[-1] - previous[-1]) >= 2 * best.error and len(row) > 4:
            break
        previous = row
        step /= 2
    return best


class Sides(NamedTuple):
    """Slopes from the left and the right of a point, by very fine differences."""

    left: Number
    right: Number
    digits_agree: bool
    """Whether a finer step gives the same digits."""
    vanishes: bool
    """Whether the slopes shrink with the step, so that they are 0."""

    @property
    def middle(self) -> Number:
        return (self.left + self.right) / 2


def sides(value: Callable[[Number], Number | None], x: Number, step: Number) -> Sides | None:
    """Return the slopes on both sides of `x`; None if one side has no value.

    The step should be about a third of the digits: then a smooth function's slopes differ by as little as that.
    """
    estimates = []
    for h in (step, step / 16):
        up, here, down = value(x + h), value(x), value(x - h)
        if up is None or here is None or down is None:
            return None
        estimates.append(((here - down) / h, (up - here) / h))
    (wide_left, wide_right), (left, right) = estimates
    digits_agree = abs(wide_left - left) <= abs(left) * 1e-12 and abs(wide_right - right) <= abs(right) * 1e-12
    vanishes = 8 * abs(left) <= abs(wide_left) and 8 * abs(right) <= abs(wide_right)
    return Sides(left, right, digits_agree, vanishes)
