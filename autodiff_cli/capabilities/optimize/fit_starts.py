"""A fit from several starts: where the others end, and the least of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...record import Record
from .convergence import Several
from .least_squares import MAX_LAST_STEP, SQUARES, EndPoint, Model, at_kink, searched
from .starts import StartDraws
from .strategies import UNDEFINED_SUM_OF_SQUARES, answer_spared
from .tried import MAX_DRAWS, Elsewhere, Tried, place_in_words

# relative difference of sums, and of curves in lengths of the residuals, that are one
SAME_SUM, SAME_FIT = 1e-6, 1e-3
WITH_MANY_MINIMA = ("cauchy",)  # losses that are not convex: linear parameters are drawn too


class FitEnd(Record):
    """Where some of the searches of a fit ended."""

    rss: float
    point: dict[str, float]
    converged: bool
    count: int


class FitStarts(Tried):
    """What was tried from several starts."""

    ends: tuple[FitEnd, ...]  # the answer, then the others, the least first
    is_only: bool = False  # the formula is linear in all parameters, and the loss convex

    def sentence(self, what: str, shown: Callable[[str, float], str]) -> str:
        """Return in words what was tried; `what` is least, and `shown` writes a number, with its
        unit.
        """
        if self.is_only:
            return "the formula is linear in all parameters: from every start the search ends here"
        here, *rest = self.ends
        others = [
            Elsewhere(shown("rss", end.rss), place_in_words(end.point, shown), end.count)
            for end in rest
            if end.converged
        ]
        lost = sum(end.count for end in rest if not end.converged)
        is_short = self.searched + self.undefined < self.asked
        why = ["the work was spent: `--work 10` allows more"] if is_short else []
        doubt = "a lower one that none of them leads to is not ruled out"
        return "; ".join(
            [self.in_words(here.count, others, lost, f", where {what} is"), *why, doubt]
        )


def searched_from(model: Model) -> Callable[[Any], EndPoint]:
    """Return the search of the least squares, or of another loss, from a start."""
    places = model.parameters.places if model.loss == SQUARES else ()
    return lambda start: at_kink(model, searched(model, start, places=places))


def best_of(
    model: Model, best: EndPoint, several: Several, search: Callable[[Any], EndPoint]
) -> tuple[EndPoint, FitStarts]:
    """Return the least end of searches from several starts, of which one ended at `best`, and what
    was tried.

    `search` returns the end from a start. Where all parameters are linear, or the work is spent,
    fewer are made.
    """
    draws = StartDraws(
        model, several.seed, model.parameters.free if model.loss.name in WITH_MANY_MINIMA else None
    )
    ends, undefined = [best], 0
    with answer_spared():
        for _ in range(several.searches - 1 if draws.places else 0):
            starts = (draws.point() for _ in range(MAX_DRAWS))
            there = next((start for start in starts if model(start).error is None), None)
            end = None if there is None else search(there)
            if end is None or not math.isfinite(end.cost):
                undefined += 1
            else:
                ends.append(end)
    least = _least(ends, best)
    others = [end for end in ends if end is not least]
    return least, FitStarts(
        asked=several.searches,
        searched=len(ends),
        undefined=undefined,
        is_only=not draws.places,
        ends=_grouped(model, [least, *sorted(others, key=_by_cost)]),
    )


def _least(ends: Sequence[EndPoint], best: EndPoint) -> EndPoint:
    """Return the least of the ends of searches; of those that differ by rounding, the first one,
    `best`.
    """
    finite = [
        end
        for end in ends
        if end.cost < UNDEFINED_SUM_OF_SQUARES and np.all(np.isfinite(end.values))
    ]
    least = min(finite or [best], key=_by_cost)
    return best if _has_ended(best) and best.cost <= least.cost * (1 + SAME_SUM) else least


def _by_cost(end: EndPoint) -> tuple[bool, float]:
    """Return what ends are ordered by: those of searches that have converged come first."""
    return not _has_ended(end), end.cost


def _has_ended(end: EndPoint) -> bool:
    return end.moved <= MAX_LAST_STEP


def _grouped(model: Model, ends: Sequence[EndPoint]) -> tuple[FitEnd, ...]:
    """Return the different ends, with how many searches led to each; parameters may differ where
    the curve does not.
    """
    groups: list[tuple[EndPoint, Any, int]] = []
    for end in ends:
        curve = model(end.values).fitted
        # the answer is an end of its own, unless it has converged
        first = 0 if _has_ended(ends[0]) else 1
        k = next(
            (k for k in range(first, len(groups)) if _are_one(end, curve, *groups[k][:2])), None
        )
        if k is None:
            groups.append((end, curve, 1))
        else:
            groups[k] = (*groups[k][:2], groups[k][2] + 1)
    names = model.parameters.free
    return tuple(
        FitEnd(
            rss=2 * end.cost,
            point=dict(zip(names, (end.values + 0.0).tolist(), strict=True)),
            converged=_has_ended(end),
            count=count,
        )
        for end, _, count in groups
    )


def _are_one(end: EndPoint, curve: Any, other: EndPoint, its: Any) -> bool:
    if _has_ended(end) != _has_ended(other):
        return False
    if not _has_ended(end):
        return True
    near = abs(end.cost - other.cost) <= SAME_SUM * other.cost + math.ulp(0.0)
    size = float(np.linalg.norm(its)) or 1.0
    return near and float(np.linalg.norm(curve - its)) <= SAME_FIT * max(
        math.sqrt(2 * other.cost), 1e-6 * size
    )
