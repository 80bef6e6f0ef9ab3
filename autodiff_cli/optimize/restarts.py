"""The least sum of squares that is found: from the start, and where that end is doubted, from other starts too."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from ..numbers.budget import BudgetExceeded, current
from .goodness import runs_test
from .least_squares import CONVERGED, Ended, Model, at_kink, is_determined, projected, searched

RESTARTS, AGAIN = 24, 3
"""How many other starts are tried at most, and how many of them that end at the same minimum show that it is one."""

PROBES = 8
"""At how many other places it is seen whether the data tell the parameters apart there."""

IMPLAUSIBLE = 100.0
"""The χ²/ν from which on a minimum is taken for a wrong one, if a search from elsewhere finds a lower one."""

FEW_ROWS, EXPLAINED = 16, 0.9
"""In fewer rows the runs test says little: there the model is to explain this share of the response's squares."""

SAMPLED = 500
"""In how many rows, at most, a minimum is doubted, and a lower one is looked for."""

CLEARLY_LOWER = 0.9
"""The share of the sum of squares of a sample that has to be left for a search over all rows."""

ROUNDED_OFF = 1e-14
"""The share of the data below which residuals are rounding, and say nothing."""

UNDEFINED = 1e200
"""The sum of squares from which on it stands for a place where the model has no value."""

KEPT = 0.25
"""The share of the work that is kept from the search for lower minima, for the answer."""


def least(model: Model, start: Any, places: Sequence[int], has_sigma: bool) -> Ended:
    """Return the smallest sum of squares that the strategies find; `places` are those of the linear parameters."""
    if len(places) == len(start):
        return projected(model, start, places)
    best = searched(model, start)
    first = best.message
    if places:
        other = projected(model, start, places)
        first = other.message
        if other.cost <= best.cost * (1 + 1e-9):
            best = other
        else:
            best = best._replace(message=f"{best.message}, after {first} had ended badly")
    best = at_kink(model, best, places)
    draw = random.Random(1)
    lost = _is_lost(model, best, start, places, draw)
    if not lost and _has_converged(model, best, has_sigma):
        return best
    work = current()
    kept = KEPT * work.left
    work.left -= kept
    try:
        few = model if lost or model.kinks or not best.cost < UNDEFINED else model.sample(SAMPLED)
        if few is not model:
            here = _search(few, best.values, places)
            there = _restarted(few, here, start, places, has_sigma, first, draw, lost=False)
            if there.cost < CLEARLY_LOWER * here.cost:
                end = _search(model, there.values, places)
                best = end._replace(message=there.message) if end.cost < best.cost else best
        if few is model or best.moved > CONVERGED:
            best = _restarted(model, best, start, places, has_sigma, first, draw, lost=lost)
    except BudgetExceeded:
        pass
    finally:
        work.left += kept
    return best


def _search(model: Model, start: Any, places: Sequence[int]) -> Ended:
    return projected(model, start, places) if places else searched(model, start)


def _restarted(
    model: Model,
    best: Ended,
    start: Any,
    places: Sequence[int],
    has_sigma: bool,
    first: str,
    draw: random.Random,
    *,
    lost: bool,
) -> Ended:
    """Return the least of an end and those of starts around its own, in ever wider steps.

    They are enough where one minimum comes again and again, or the work for them is spent.
    """
    again, converged = 0, False
    for k in range(RESTARTS):
        if again == AGAIN or (converged and not lost):
            break
        anywhere = lost or (best.cost < UNDEFINED and best.moved <= CONVERGED)
        there = _elsewhere(model, start, places, draw, 0.35 * (k + 1), anywhere=anywhere)
        try:
            if model.check(there) is not None:
                continue
            end = _search(model, there, places)
            if end.cost < best.cost * (1 - 1e-9):
                again = 0
                end = at_kink(model, end, places)
                ill = "had come to a higher minimum" if best.moved <= CONVERGED else "had ended badly"
                best = end._replace(message=f"{end.message} from another start, after {first} {ill}")
                converged = _has_converged(model, best, has_sigma)
                lost = lost and not is_determined(model, best.values)
            elif best.moved <= CONVERGED and end.cost <= best.cost * (1 + 1e-6):
                again += not lost or is_determined(model, end.values)
        except BudgetExceeded:
            break
    return best


def _elsewhere(
    model: Model, start: Any, places: Sequence[int], draw: random.Random, wide: float, *, anywhere: bool
) -> Any:
    """A start beside another one; `anywhere` also has parameters that are values of a predictor, as places are."""
    np = model.np
    there = np.array([x * math.exp(draw.gauss(0, wide)) for x in start])
    ends = [(float(np.min(column)), float(np.max(column))) for column in model.columns.values()] if anywhere else []
    for k in range(len(there) if ends else 0):
        if k not in places and draw.random() < 0.5:
            there[k] = draw.uniform(*draw.choice(ends))
    return np.clip(there, *model.limits)


def _is_lost(model: Model, ended: Ended, start: Any, places: Sequence[int], draw: random.Random) -> bool:
    """Whether parameters are not told apart at an end, and the data tell them apart elsewhere."""
    if not ended.cost < UNDEFINED or is_determined(model, ended.values):
        return False
    elsewhere = (_elsewhere(model, start, places, draw, 1.0, anywhere=True) for _ in range(PROBES))
    return any(model.check(there) is None and is_determined(model, there) for there in elsewhere)


def _has_converged(model: Model, ended: Ended, has_sigma: bool) -> bool:
    """Whether a strategy has come to a place where the sum of squares is least, as far as its derivatives say.

    With kinks there are more such places, as a rule. One where the residuals are far beyond their uncertainties, or
    not random, is doubted too.
    """
    if not (ended.cost < UNDEFINED and ended.moved <= CONVERGED):
        return False
    if has_sigma and 2 * ended.cost > IMPLAUSIBLE * max(1, model.rows - len(model.free)):
        return False
    few = model.rows < FEW_ROWS
    enough = 1 - 1e-14 if model.kinks else EXPLAINED if few else 0.5
    return r_squared(model, ended.values) > enough and (few or _is_random(model.sample(SAMPLED), ended.values))


def _is_random(model: Model, values: Any) -> bool:
    """Whether neighbouring residuals do not have one sign more often than random ones have."""
    left = model.residuals(values)
    if not float(model.np.linalg.norm(left)) > ROUNDED_OFF * float(
        model.np.linalg.norm(model.response * model.weights)
    ):
        return True
    runs = runs_test(model.np, model.ordered(left))
    return runs is None or runs.are_random


def r_squared(model: Model, values: Any, *, origin: bool = False) -> float:
    """Return the share of the squares of the response that the model explains: about their mean, or about 0."""
    np = model.np
    square = model.weights**2
    left = model.residuals(values)
    middle = 0.0 if origin else float(np.average(model.response, weights=square))
    total = float(square @ (model.response - middle) ** 2)
    return 1 - float(left @ left) / total if total > 0 else 1.0
