"""A search from several starts: where the others end, and the lowest end of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from ...errors import Diagnosed
from ...questions.figures import unsigned
from ...record import Record
from .convergence import ConvergenceReport, Limits, Sense
from .descend import DescentStep
from .objective import Counts, Objective
from .tried import MAX_DRAWS, Elsewhere, Tried, place_in_words

CONVERGED = ("gradient", "precision", "kink", "kkt")  # the reasons of a search that converged
DECADES = 1.5  # of distances from the start, to either side of a variable's size
WIDE_RANGE = 1e3  # ratio of bounds above 0 between which starts are drawn by their logarithm too
ROOT_STEPS = 60  # to a fixed point, in which each takes off half of the error or more
SAME_POINT, SAME_VALUE = 1e-5, 1e-9  # relative distance of ends that are one
STOPPED = ("interrupted", "limit")  # the reasons after which no other search begins

# A problem, where its search ended, and the method.
Search = tuple[Objective, ConvergenceReport, str]


class SearchEnd(Record):
    """Where some of the searches ended."""

    value: float
    point: dict[str, float]
    reason: str
    count: int

    @property
    def converged(self) -> bool:
        return self.reason in CONVERGED


class Starts(Tried):
    """What was tried from several starts."""

    ends: tuple[SearchEnd, ...]  # the lowest first
    # by how much a value over the bounds may be lower at most, where that is proven
    gap: float | None = None

    def sentence(self, sense: Sense, here: DescentStep) -> str:
        """Return in words what was tried; `here` is the end that is the answer."""
        value = unsigned(-here.value if sense.maximize else here.value)
        of_answer = [end for end in self.ends if end.value == value and end.point == _point(here)]
        rest = [end for end in self.ends if end not in of_answer]
        others = [
            Elsewhere(
                here.text("value", end.value), place_in_words(end.point, here.text), end.count
            )
            for end in rest
            if end.converged
        ]
        lost = sum(end.count for end in rest if not end.converged)
        known = "a lower minimum that none of them leads to is not ruled out"
        if self.gap is not None:
            gap = here.text("value", self.gap)
            known = (
                "the global minimum over the bounds: proven, no value there is lower by more than"
                f" {gap}"
            )
        words = self.in_words(sum(end.count for end in of_answer), others, lost, ":")
        return f"{words}; {sense.phrase(known)}"


class _Draws:
    """Starts: between two bounds evenly spread, else near or far from a centre.

    Evenly: a sequence of Kronecker's, in each coordinate multiples of a root of x**(n + 1) = x + 1
    from a random beginning, modulo 1 (M. Roberts, The unreasonable effectiveness of quasirandom
    sequences, 2018).
    """

    def __init__(self, seed: int, limits: Limits) -> None:
        self.random, beginnings = Random(seed), Random(seed)
        self.limits = limits
        root = 2.0
        for _ in range(ROOT_STEPS):
            root = (1 + root) ** (1 / (len(limits) + 1))
        self.steps = [root ** -(k + 1) % 1 for k in range(len(limits))]
        self.shares = [beginnings.random() for _ in limits]

    def point(self, centre: DescentStep) -> list[float]:
        """Return the next start."""
        self.shares = [
            (share + step) % 1 for share, step in zip(self.shares, self.steps, strict=True)
        ]
        ends = zip(centre.free_values, self.limits, self.shares, strict=True)
        return [self._coordinate(x, low, high, share) for x, (low, high), share in ends]

    def _coordinate(self, x: float, low: float, high: float, share: float) -> float:
        draw = self.random
        if math.isfinite(low) and math.isfinite(high):
            if 0 < low < high / WIDE_RANGE and draw.random() < 0.5:
                return min(high, max(low, float(low * (high / low) ** share)))
            return min(high, max(low, low + share * (high - low)))
        distance = max(1.0, abs(x)) * 10 ** draw.uniform(-DECADES, DECADES)
        if math.isfinite(low):
            return low + distance
        if math.isfinite(high):
            return high - distance
        return x + draw.choice((-1, 1)) * distance


def search_from_many(
    begin: Callable[[DescentStep], Objective],
    search: Callable[[Objective], tuple[ConvergenceReport, str]],
    start: DescentStep,
    limits: Limits,
    count: int,
    seed: int,
) -> tuple[Search, Starts]:
    """Return the lowest end of searches from `start` and from others, and what was tried."""
    draws, searches, undefined = _Draws(seed, limits), list[Search](), 0
    for k in range(count):
        place: DescentStep | None = start
        if k:
            # around the first start, and around the lowest minimum so far
            ends = [end.row for _, end, _ in searches if end.reason in CONVERGED]
            lowest = min(ends, key=lambda row: row.value, default=start)
            place = _drawn(begin(start), draws, start if k % 2 else lowest)
        if place is None:
            undefined += 1
            continue
        problem = begin(place)
        try:
            searches.append((problem, *search(problem)))
        except Diagnosed:
            if not k:
                raise
            undefined += 1
            continue
        if searches[-1][1].reason in STOPPED:
            break
    best = min(searches, key=_rank)
    total = [
        sum(numbers) for numbers in zip(*(problem.counts for problem, *_ in searches), strict=True)
    ]
    best[0].counts = Counts(*total)
    best[0].hessians = sum(problem.hessians for problem, *_ in searches)
    return best, Starts(
        asked=count, searched=len(searches), undefined=undefined, ends=_ends(searches, best)
    )


def _drawn(problem: Objective, draws: _Draws, centre: DescentStep) -> DescentStep | None:
    for _ in range(MAX_DRAWS):
        row = problem.row(draws.point(centre))
        if row is not None:
            return row._replace(step=0)
    return None


def _rank(search: Search) -> tuple[bool, float]:
    """Return the order of ends: where the value falls without bound, no minimum is the lowest."""
    _, end, _ = search
    falls = end.reason in ("unbounded", "unattained")
    return not (falls or end.reason in CONVERGED), end.row.value


def _point(row: DescentStep) -> dict[str, float]:
    return {name: unsigned(x) for name, x in zip(row.free, row.free_values, strict=True)}


def _ends(searches: Sequence[Search], best: Search) -> tuple[SearchEnd, ...]:
    """Return the different ends, with how many searches led to each; of those that are one the
    lowest stands for it.
    """
    sense = best[0].sense
    groups: list[tuple[ConvergenceReport, int]] = []
    for _, end, _ in sorted(searches, key=lambda search: (search is not best, *_rank(search))):
        k = next((k for k, (other, _) in enumerate(groups) if _are_one(end, other)), None)
        if k is None:
            groups.append((end, 1))
        else:
            groups[k] = groups[k][0], groups[k][1] + 1
    ends = [
        SearchEnd(
            value=unsigned(-end.row.value if sense.maximize else end.row.value),
            point=_point(end.row),
            reason=end.reason,
            count=n,
        )
        for end, n in sorted(groups, key=lambda group: group[0].row.value)
    ]
    return tuple(ends)


def _are_one(end: ConvergenceReport, other: ConvergenceReport) -> bool:
    if (end.reason in CONVERGED) != (other.reason in CONVERGED):
        return False
    if end.reason not in CONVERGED:
        return end.reason == other.reason
    near = abs(end.row.value - other.row.value) <= SAME_VALUE * (1 + abs(other.row.value))
    pairs = zip(end.row.free_values, other.row.free_values, strict=True)
    return near and all(abs(a - b) <= SAME_POINT * max(1.0, abs(b)) for a, b in pairs)
