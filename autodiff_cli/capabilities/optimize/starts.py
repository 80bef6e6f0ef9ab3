"""Starts of a fit's parameters, from the scales of its columns and the structure of its formula."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import BudgetExceeded, use_share
from ...engine.numbers.dimensions import Dimensioned, UnknownDimensions
from ...engine.quantities.unit import NUMBER
from ...errors import AutodiffError
from ...questions.quantities import evaluate_dimensions
from .aliases import is_aliased
from .convergence import SearchStopped
from .least_squares import EndPoint, Model, searched
from .shape_starts import ShapeStarts, peaks_of, shape_calls

DRAWN_STARTS = 600  # points that are looked at
SAMPLED_ROWS = 100  # rows in which they are
SAMPLED_SHAPE_ROWS = 400  # of a formula with peaks, which may be narrow
SEARCHED_STARTS, SEARCH_EVALUATIONS = 10, 60  # points that are searched from, and so far
SAME_CURVE = 0.1  # distance of two curves, in lengths of the residuals
PEAK_ROUNDS, MAX_LEFT_PEAKS = 3, 2  # searches from peaks of the residuals, and peaks of each
SAME_COST = 1e-3  # relative difference of sums that are one, long before the search has ended
DECADES = 1.5  # to either side of a scale
NEGATIVE = 0.25  # share of starts below 0
BUDGET_SHARE = 0.4  # of the work
# places of base units that stand for columns; not kelvin, whose scales have their own zeros
BASES = (0, 1, 2, 3, 6)
DECADE = 5  # place of the base unit that stands for a factor of 10
PLAIN_DECADES = 3  # a number within so many of 1 is no scale: 2*pi, 100
DIGITS, MAX_DIGITS = 2, 8  # of a start
MAX_START = 1e100  # of a linear parameter: its term has all but underflowed
ROUNDED_COST = 2.0  # ratio of the sums of squares of a start with few digits and with all
UNDEFINED_COST = 1e200  # where the formula has no value


class Powers(NamedTuple):
    """The scale of a parameter: a product of powers of columns, and of numbers far from 1."""

    of_columns: dict[str, float]
    size: float = 1.0

    @property
    def column(self) -> str | None:
        """The column that the parameter is like, if it is like one."""
        names = [*self.of_columns]
        return (
            names[0]
            if self.of_columns and [*self.of_columns.values()] == [1.0] and self.size == 1.0
            else None
        )


def found_start(model: Model, lacking: Sequence[str]) -> dict[str, float] | None:
    """Return starts of the parameters that have none, or None if the formula has no value wherever
    it was looked at.

    Linear parameters are solved for at each point. From the best points a search begins, whose
    lowest end is the start.
    """
    draws = StartDraws(model, 1, lacking)
    few, places = (
        model.sample(SAMPLED_SHAPE_ROWS if draws.shapes.calls else SAMPLED_ROWS),
        draws.places,
    )
    points: list[tuple[float, Any, Any]] = []
    ends: list[EndPoint] = []
    try:
        with use_share(BUDGET_SHARE), np.errstate(all="ignore"):
            for _ in range(DRAWN_STARTS):
                points += _looked_at(few, draws.point())
            points.sort(key=lambda point: point[0])
            for there in _different(points):
                ends.append(searched(few, there, SEARCH_EVALUATIONS, few.parameters.places))
            ends += _from_residuals(few, draws, ends)
            ends += _of_longer_periods(model, few, points, ends)
    except (BudgetExceeded, SearchStopped):
        points.sort(key=lambda point: point[0])
    good = [
        (end.cost, end.values)
        for end in ends
        if end.cost < UNDEFINED_COST and np.all(np.isfinite(end.values))
    ]
    good += [(point[0], point[1]) for point in points[:1]]
    if not good:
        return None
    good.sort(key=lambda end: end[0])
    with np.errstate(all="ignore"):
        whole = model.copy(stop=lambda: False)
        best = next((there for _, there in good if _looked_at(whole, there)), good[0][1])
        values = _rounded(model, few, best, places)
    return {model.parameters.free[k]: float(values[k]) for k in places}


def _from_residuals(few: Model, draws: StartDraws, ends: Sequence[EndPoint]) -> list[EndPoint]:
    """Return ends of searches from where a place and a width are those of a peak that the least end
    leaves.

    Of several peaks a search may put two where one is, and another where there is none.
    """
    found: list[EndPoint] = []
    known = [end for end in ends if end.cost < UNDEFINED_COST and np.all(np.isfinite(end.values))]
    if not known or len(draws.like_columns) < 2:
        return found
    least = min(known, key=_cost)
    for _ in range(PEAK_ROUNDS):
        points = [
            point
            for there in _at_left_peaks(few, draws, least.values)
            for point in _looked_at(few, there)
        ]
        points.sort(key=lambda point: point[0])
        tried = [
            searched(few, there, SEARCH_EVALUATIONS, few.parameters.places)
            for there in _different(points)
        ]
        lower = min(tried, key=_cost, default=least)
        if not lower.cost < least.cost * (1 - SAME_COST):
            break
        least = lower
        found.append(lower)
    return found


def _of_longer_periods(
    model: Model, few: Model, points: Sequence[tuple[float, Any, Any]], ends: Sequence[EndPoint]
) -> list[EndPoint]:
    """Return ends that replace the least one, where the rows do not tell it from one of a longer
    period.

    In rows at equal distances the curves of both are the same: the longer period is what is meant.
    """
    whole = model.copy(stop=lambda: False)
    least = min(ends, key=_cost, default=None)
    if least is None or not is_aliased(whole, least.values):
        return []
    slow = [point for point in points if not is_aliased(whole, point[1])]
    tried = [
        searched(few, there, SEARCH_EVALUATIONS, few.parameters.places)
        for there in _different(slow)
    ]
    enough = least.cost * (1 + SAME_COST) + few.rows.rounding_cost
    return [
        end._replace(cost=least.cost * (1 - SAME_COST))
        for end in tried
        if end.cost <= enough and not is_aliased(whole, end.values)
    ]


def _cost(end: EndPoint) -> float:
    return end.cost


def _at_left_peaks(few: Model, draws: StartDraws, end: Any) -> Iterator[Any]:
    """Yield points beside an end, with two of the parameters that are like a column at a peak of
    the residuals.
    """
    residuals = few(end).residuals
    for column in {*draws.like_columns.values()}:
        own = [k for k, name in draws.like_columns.items() if name == column]
        peaks = peaks_of(few.rows.columns[column], residuals)[:MAX_LEFT_PEAKS]
        for peak, (place, width) in product(peaks, permutations(own, 2)):
            there = end.copy()
            there[place], there[width] = peak.place, peak.half_width
            yield np.clip(there, *few.parameters.limits)


def _rounded(model: Model, few: Model, best: Any, places: Sequence[int]) -> Any:
    """Return a start with as few digits as nearly the same curve has; a peak's place needs more
    than its width.
    """
    whole, trial = model.copy(stop=lambda: False), few.copy(stop=lambda: False)
    costs = [cost for cost, *_ in _looked_at(trial, best)]
    for digits in range(DIGITS, MAX_DIGITS + 1):
        rounded = best.copy()
        rounded[places] = [float(f"{x:.{digits}g}") for x in best[places]]
        if not model.parameters.allows(rounded) or not _looked_at(whole, rounded):
            continue
        if all(cost <= ROUNDED_COST * costs[0] for cost, *_ in _looked_at(trial, rounded) if costs):
            return rounded
    return best


class StartDraws:
    """Starts of some parameters, or of all that are not linear, drawn over the scales of the
    data.
    """

    def __init__(self, model: Model, seed: int, names: Sequence[str] | None = None) -> None:
        free, columns = model.parameters.free, model.rows.columns
        wanted = (
            [name for name in free if name not in model.parameters.linear]
            if names is None
            else names
        )
        self.model, self.at = model, random.Random(seed)
        self.places = [free.index(name) for name in wanted]
        calls = shape_calls(model.problem.program.text, columns, wanted)
        self.shapes, self.powers = (
            ShapeStarts(calls, dict(columns), model.rows.response),
            _powers(model),
        )
        of_one = {
            name: powers.column for name, powers in self.powers.items() if powers.column is not None
        }
        # By their places, the columns that parameters are like: they may be places and widths
        # there.
        self.like_columns = {
            k: of_one[free[k]]
            for k in self.places
            if free[k] in of_one and of_one[free[k]] in columns
        }
        self.own = np.array([model.problem.values.get(name, 1.0) for name in free])

    def point(self) -> Any:
        """Return the next start, within the bounds."""
        known, there = self.shapes.draw(self.at), self.own.copy()
        for k in self.places:
            name = self.model.parameters.free[k]
            there[k] = (
                known[name] if name in known else _drawn(self.model, self.powers.get(name), self.at)
            )
        return np.clip(there, *self.model.parameters.limits)


def _looked_at(model: Model, there: Any) -> list[tuple[float, Any, Any]]:
    at = model(there)
    if at.error is not None:
        return []
    solved = model.fit_linear(there) if model.parameters.places else there
    if not np.all(np.abs(solved) <= MAX_START):
        return []
    left = model(solved).residuals
    cost = 0.5 * float(left @ left)
    return [(cost, solved, left)] if cost < UNDEFINED_COST else []


def _different(points: Sequence[tuple[float, Any, Any]]) -> list[Any]:
    """Return the best points, of different curves."""
    chosen: list[tuple[Any, Any]] = []
    for cost, there, left in points:
        size = math.sqrt(2 * cost)
        if all(np.linalg.norm(left - other) > SAME_CURVE * size for _, other in chosen):
            chosen.append((there, left))
        if len(chosen) == SEARCHED_STARTS:
            break
    return [there for there, _ in chosen]


def _drawn(model: Model, powers: Powers | None, draw: random.Random) -> float:
    """Draw a start: a place in a column, or a size near the scale that the formula gives the
    parameter.
    """
    sign = -1.0 if draw.random() < NEGATIVE else 1.0
    near = sign * 10 ** draw.uniform(-DECADES, DECADES)
    if powers is None:
        # the formula does not say: of order 1, or like a column or its inverse
        powers = draw.choice(
            [Powers({}), *(Powers({name: p}) for name in model.rows.columns for p in (1.0, -1.0))]
        )
    if powers.column is not None and draw.random() < 0.5:
        column = model.rows.columns.get(powers.column, model.rows.response)
        return draw.uniform(float(np.min(column)), float(np.max(column)))
    # units may have taken the number out of the formula
    scale = powers.size if powers.size != 1.0 and draw.random() < 0.5 else 1.0
    for name, power in powers.of_columns.items():
        column = model.rows.columns.get(name, model.rows.response)
        width = float(np.ptp(column))
        size = draw.choice([width, float(np.max(np.abs(column)))]) or 1.0
        scale *= float(np.float64(size) ** power)
    return near * scale


class _Scales(UnknownDimensions):
    """Dimensions in which a number far from 1 is a power of 10: in `exp(-E/(1.38e-23*T))` E is like
    `1.38e-23*T`.
    """

    def literal(self, text: str) -> Dimensioned:
        """Return a number as one of the formula's scales, or as a plain number."""
        return scaled_number(float(text)) or super().literal(text)


def scaled_number(x: float) -> Dimensioned | None:
    """Return a number far from 1 as a power of 10; None for others."""
    decades = math.log10(abs(x)) if x and math.isfinite(x) else 0.0
    if abs(decades) < PLAIN_DECADES:
        return None
    return Dimensioned(
        tuple(Fraction(decades) if base == DECADE else 0 for base in range(len(NUMBER)))
    )


def _powers(model: Model) -> dict[str, Powers]:
    """Return the scales of parameters that the formula's dimensions give: `tau` in `exp(-t/tau)` is
    like `t`.

    Where numbers far from 1 are scales too, as the Boltzmann constant is, they count.
    """
    names = [*model.rows.columns]
    unknown = [name for name in model.problem.program.leaves if name not in names]
    held = {name: scaled_number(x) for name, x in model.parameters.held.items()}
    numbers = {name: x for name, x in held.items() if x is not None}
    far = [name for name in unknown if name not in numbers]
    return _scales(model, _Scales(far), numbers) or _scales(model, UnknownDimensions(unknown), {})


def _scales(
    model: Model, m: UnknownDimensions, numbers: dict[str, Dimensioned]
) -> dict[str, Powers]:
    """Return the scales of parameters; none if the formula is not consistent in them."""
    names, program = [*model.rows.columns], model.problem.program
    columns = [*names, model.data.response][: len(BASES)]
    bases = dict(zip(columns, BASES, strict=False))
    units = {
        name: tuple(int(k == base) for k in range(len(NUMBER))) for name, base in bases.items()
    }
    leaves = {name: Dimensioned(units.get(name, NUMBER)) for name in names} | numbers
    leaves |= {name: m.unknown(name) for name in m.names}
    try:
        result = evaluate_dimensions(m, program, leaves).values[0].dimension
        if not m.same(result, units.get(model.data.response, NUMBER)):
            return {}
    except (AutodiffError, *NO_RESULT):
        return {}
    powers: dict[str, Powers] = {}
    for name in model.parameters.free:
        solution = m.solution(name)
        if solution is not None:
            of_columns = {
                column: float(solution[base]) for column, base in bases.items() if solution[base]
            }
            powers[name] = Powers(of_columns, 10.0 ** float(solution[DECADE]))
    return powers
