"""Parameters with which a model is the same: mirror images, and terms of one form in another order."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from ..batched.evaluator import Evaluator
from ..errors import ExpressionError
from ..inputs.problem import Problem
from .least_squares import Model

MOST_SEARCHED = 10
"""The most parameters that are searched for sign changes and exchanges that do not change the model."""

SEEN = 5
"""At how many rows the model has to be the same for an exchange of parameters to leave it as it is."""


def nearest_image(model: Model, problem: Problem, values: Any, linear: Sequence[str]) -> Any:
    """Return the values of the parameters, of all with which the model is the same, that agree with the starts.

    In `b1/b2*exp(-x**2/b2**2)` signs can change, in `a*exp(-p*x) + b*exp(-q*x)` terms can be exchanged.
    """
    return _on_the_side(model, problem, _in_order(model, problem, values, linear), linear)


def _on_the_side(model: Model, problem: Problem, values: Any, linear: Sequence[str]) -> Any:
    """The values with the signs of their starts, as far as other signs leave every row and the bounds as they are."""
    np = model.np
    fitted = model(values)[0]
    low, high = model.limits
    starts = [0.0 if name in linear else problem.values.get(name, 0.0) for name in problem.unknowns]
    loose = [k for k, x in enumerate(starts) if x * values[k] < 0 or (problem.unknowns[k] in linear and values[k])]
    if len(loose) > MOST_SEARCHED:
        return values
    for count in range(1, 4):
        for places in combinations(loose, count):
            wrong = [k for k in places if starts[k] * values[k] < 0]
            if not wrong:
                continue
            there = np.array(values)
            there[list(places)] *= -1
            inside = bool(np.all((low <= there) & (there <= high)))
            if inside and np.array_equal(model(there)[0], fitted, equal_nan=True):
                values = there
    return values


def _in_order(model: Model, problem: Problem, values: Any, linear: Sequence[str]) -> Any:
    """The values in the order of their starts, as far as exchanges of terms of one form leave the model as it is.

    In `a*exp(-p*x) + b*exp(-q*x)` those of `a` and `b` go with those of `p` and `q`.
    """
    np, names = model.np, problem.unknowns
    places = range(len(names))
    if len(names) > MOST_SEARCHED:
        return values
    pairs = list(combinations(places, 2))

    def agreement(pair: tuple[int, int], end: Any) -> float:
        """Above 0 where two searched parameters end in the order of their starts, below 0 where in the other one."""
        if any(names[k] in linear or names[k] not in problem.values for k in pair):
            return 0.0
        start = [problem.values[names[k]] for k in pair]
        size = (abs(start[0]) + abs(start[1])) * (abs(end[pair[0]]) + abs(end[pair[1]]))
        return (start[0] - start[1]) * (end[pair[0]] - end[pair[1]]) / size if size else 0.0

    def exchanges(first: tuple[int, int]) -> Iterator[Any]:
        """The orders that exchange two places, and up to two other pairs of places."""
        others = [pair for pair in pairs if not {*first} & {*pair}]
        for more in ((), *((pair,) for pair in others), *combinations(others, 2)):
            if len({*first, *sum(more, ())}) == 2 + 2 * len(more):
                order = list(places)
                for i, j in (first, *more):
                    order[i], order[j] = j, i
                if sum(agreement(pair, values) for pair in (first, *more)) < 0:
                    yield order

    same: Callable[[Any], bool] | None = None
    for _ in places:
        for pair in pairs:
            if agreement(pair, values) >= 0:
                continue
            same = same or _symmetries(model, values)
            order = next(filter(same, exchanges(pair)), None)
            if order is None:
                continue
            there = values[order]
            inside = bool(np.all((model.limits[0] <= there) & (there <= model.limits[1])))
            if inside and model.cost(there) <= model.cost(values) * (1 + 1e-9):
                values = there
                break
        else:
            break
    return values


def _symmetries(model: Model, values: Any) -> Callable[[Any], bool]:
    """Return whether the model stays what it is in another order of the parameters: by some rows, beside the values."""
    used = model.np.flatnonzero(model.weights)
    rows = [int(used[k * (len(used) - 1) // (SEEN - 1)]) for k in range(SEEN)]
    draw = random.Random(1)
    beside = [x * draw.uniform(0.9, 1.1) for x in values]
    evaluator = Evaluator(model.program, [])

    def heights(end: Sequence[float]) -> list[float]:
        point = {**model.held, **dict(zip(model.free, end, strict=True))}
        points = ({**point, **{name: float(column[row]) for name, column in model.columns.items()}} for row in rows)
        return [evaluator.value([at[name] for name in evaluator.variables]) for at in points]

    def same(order: Any) -> bool:
        try:
            pairs = zip(heights(beside), heights([beside[k] for k in order]), strict=True)
            return all(math.isclose(a, b, rel_tol=1e-11) for a, b in pairs)
        except ExpressionError:
            return False

    return same
