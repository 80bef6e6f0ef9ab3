"""The least sum of squares, in doubt from other starts too."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import combinations
from typing import Any

import numpy as np

from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import BudgetExceeded, current_budget
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import Evaluation
from ...engine.table.operators import DIV, VARIABLE
from ...engine.table.primitive import Primitive
from ...errors import AutodiffError
from .aliases import is_aliased
from .convergence import SearchStopped
from .inference import runs_test
from .least_squares import (
    MAX_LAST_STEP,
    SQUARES,
    EndPoint,
    Loss,
    Model,
    at_kink,
    polished,
    projected,
    rounding_errors,
    searched,
)

MAX_RESTARTS, AGAIN = 24, 3  # starts; how many that end at one minimum are enough
PROBED_POINTS = 8  # places where the data may determine the parameters
IMPLAUSIBLE_CHI_SQUARE = 100.0  # χ²/ν of a minimum that is doubted
FEW_ROWS, EXPLAINED = 16, 0.9  # with fewer rows R² decides, not the runs test
SAMPLED_ROWS = 500  # rows
SCANNED_POINTS, SCANNED_ROWS = 128, 100  # starts that are looked at, in so many rows
REFINED, REFINING_EVALUATIONS = 6, 60  # of them are searched from always, so far
MAX_SCANNED = 3  # parameters of a curve with errors in predictors that is looked at far away
# steps to the nearest points of a curve that is looked at; of a line it is one
SCANNED_CORRECTIONS = 8
SCANNED_DECADES = 2.5  # to either side of a parameter's size, with errors in predictors
MAX_RISE = 5.0  # of the residuals at a start that is tried
SAME_CURVE = 0.6  # distance of two curves, in lengths of the residuals
SAME_VALLEY = 0.1  # distance of a start from where a search has been, in lengths of the residuals
MAX_CHI_SQUARE_RISE = 4.0  # of χ² to another minimum that the data do not rule out
UNDEFINED_SUM_OF_SQUARES = 1e200  # sum of squares where the model has no value
ANSWER_SHARE = 0.25  # of the work, for the answer
MAX_PERMUTED = 10  # parameters
MIN_COMPARED_ROWS = 5  # rows
MAX_TURNS = 1e6  # whole periods by which a parameter is moved
# share of the data that a parameter changes, if it changes by 1, that is 0 within rounding
VISIBLE_SHARE = 1e-9


def best_fit(model: Model, start: Any, loss: str) -> EndPoint:
    """Return the best end point of the strategies."""
    start = np.clip(start, *model.parameters.limits)
    error = model(start).error
    if error is not None and not model.parameters.places:
        raise error
    if error is None and any(name not in model.problem.values for name in model.parameters.linear):
        start = model.fit_linear(start)
    best = least(model, start)
    if best.moved > MAX_LAST_STEP:
        best = _identified(model, start, best)
    if loss == "linear":
        return best
    # a known uncertainty is the scale; otherwise it is that of most residuals
    left = np.abs(model(best.values).residuals)[model.rows.weights > 0]
    scale = 1.0 if model.data.has_sigma else 1.4826 * float(np.median(left)) or 1.0
    model.use_loss(Loss(loss, scale))
    # outliers may have led the squares away from the start
    starts = [best.values] if error is not None else [best.values, start]
    model.reached.accept(best._replace(cost=model(best.values).cost))
    end = at_kink(
        model, min((searched(model, values) for values in starts), key=lambda end: end.cost)
    )
    return end._replace(
        message=f"{end.message}, {loss} loss of residuals beyond {model.loss.scale:.3g}"
    )


def _identified(model: Model, start: Any, best: EndPoint) -> EndPoint:
    """Return the end of a search for those parameters that the data determine, with the others
    where they started.

    Along a null direction, as that of `a` and `c` in `a*exp(b*x + c)`, a search wanders, and ends
    far from the minimum.
    """
    if model.loss != SQUARES or not best.cost < UNDEFINED_SUM_OF_SQUARES:
        return best
    fixed = model.null_parameters(best.values)
    if not fixed:
        return best
    at = dict(zip(model.parameters.free, map(float, start), strict=True))
    reduced = model.holding({name: at[name] for name in fixed})
    begin = np.array([at[name] for name in reduced.parameters.free])
    if reduced(begin).error is not None:
        return best
    end = least(reduced, begin)
    model.evaluations += reduced.evaluations
    found = {**at, **dict(zip(reduced.parameters.free, end.values, strict=True))}
    values = np.array([found[name] for name in model.parameters.free])
    if not end.cost < best.cost:
        return best
    names = ", ".join(fixed)
    there = polished(model, values, f"{end.message}, with {names} held")
    return model.reached.accept(
        there if there.moved <= end.moved else end._replace(values=values, message=there.message)
    )


def orthogonal_fit(model: Model, start: Any, end: EndPoint) -> EndPoint:
    """Return the minimum of squared distances near a fit with exact predictors."""

    def rank(end: EndPoint) -> tuple[bool, float]:
        # an oscillating curve is at no distance from any row
        return not model.is_determined(end.values), end.moved

    best = model.reached.accept(polished(model, end.values, "Gauss-Newton"), only=True)
    for values in (end.values, start):
        if rank(best) <= (False, MAX_LAST_STEP) or model(values).error is not None:
            continue
        best = model.reached.accept(min(best, searched(model, values), key=rank), only=True)
    best = at_kink(model, best._replace(message=f"orthogonal distances, {best.message}"))
    minima = [best] if rank(best) <= (False, MAX_LAST_STEP) else []
    with answer_spared():
        for there in _orthogonal_starts(model, end.values, best):
            other = searched(model, there, REFINING_EVALUATIONS)
            if rank(other) > (False, MAX_LAST_STEP):
                continue
            minima.append(other)
            if rank(best) > (False, MAX_LAST_STEP) or other.cost < best.cost * (1 - 1e-9):
                best = other._replace(
                    message=f"orthogonal distances, {other.message} from another start"
                )
                best = model.reached.accept(at_kink(model, best), only=True)
    return best._replace(others=_other_minima(model, best, minima))


def _orthogonal_starts(model: Model, values: Any, best: EndPoint) -> list[Any]:
    """Return the starts in valleys of the squared distances along each parameter, the lowest first.

    A line can turn through the vertical, so the values along a parameter are a circle through 0 and
    infinity.
    """
    if len(values) > MAX_SCANNED:
        return []
    few = model.sample(SCANNED_ROWS).copy(most_corrections=SCANNED_CORRECTIONS)
    free = model.parameters.free
    factors = np.logspace(
        -SCANNED_DECADES, SCANNED_DECADES, max(3, SCANNED_POINTS // (2 * len(values)))
    )
    valleys: list[tuple[float, Any]] = []
    for k, x in enumerate(values):
        places = [place for place in map(free.index, model.parameters.linear) if place != k]
        probe = few.copy(parameters=model.parameters._replace(places=places))
        circle = []
        for value in np.concatenate([-factors[::-1], factors]) * (abs(x) or 1.0):
            there = np.clip([*values[:k], value, *values[k + 1 :]], *model.parameters.limits)
            if probe(there).error is None:
                there = probe.fit_linear(there)
                circle.append((probe(there).cost, there))
        costs = [cost for cost, _ in circle]
        before, after = costs[-1:] + costs[:-1], costs[1:] + costs[:1]
        valleys += [
            at for at, a, b in zip(circle, before, after, strict=True) if at[0] <= min(a, b)
        ]
    chosen: list[Any] = []
    curves = [few(best.values).residuals] if best.moved <= MAX_LAST_STEP else []
    for _, there in sorted(valleys, key=lambda valley: valley[0]):
        left = few(there).residuals
        if all(
            np.linalg.norm(left - other) > SAME_VALLEY * np.linalg.norm(left) for other in curves
        ):
            chosen.append(there)
            curves.append(left)
    return chosen[: REFINED // len(values)]


def least(model: Model, start: Any) -> EndPoint:
    """Return the smallest sum of squares that the strategies find."""
    if len(model.parameters.places) == len(start):
        return projected(model, start)
    best, first = _first_end(model, start)
    best = model.reached.accept(at_kink(model, best))
    draw = random.Random(1)
    lost = _is_lost(model, best, start, draw)
    if best.cost <= model.rows.rounding_cost and best.moved <= MAX_LAST_STEP and not lost:
        return best
    few = model
    with answer_spared():
        try:
            few = (
                model
                if lost or not best.cost < UNDEFINED_SUM_OF_SQUARES
                else model.sample(SAMPLED_ROWS)
            )
            if few is not model:
                here = projected(few, best.values)
                there = _restarted(few, here, start, first, draw, lost=False)
                if there.cost < here.cost * (1 - 1e-9):
                    end = searched(model, there.values)._replace(message=there.message)
                    best = model.reached.accept(min(best, end, key=lambda end: end.cost))
            if few is model or best.moved > MAX_LAST_STEP:
                best = _restarted(model, best, start, first, draw, lost=lost)
        except SearchStopped:
            if few is not model and few.reached.best is not None:
                there = few.reached.best
                whole = model.copy(stop=lambda: False)
                model.reached.note(there._replace(cost=whole(there.values).cost))
            raise
        finally:
            model.calls = None
    return best


def _first_end(model: Model, start: Any) -> tuple[EndPoint, str]:
    """Return the better end of the strategies from the start, and the name of the first one."""
    best = searched(model, start)
    if not model.parameters.places:
        return best, best.message
    other = projected(model, start)
    first = other.message
    if other.cost <= best.cost * (1 + 1e-9):
        return other, first
    return best._replace(message=f"{best.message}, after {first} had ended badly"), first


def _is_lost(model: Model, best: EndPoint, start: Any, draw: random.Random) -> bool:
    """Return whether the parameters are determined elsewhere, and not at the end of a search."""
    if not best.cost < UNDEFINED_SUM_OF_SQUARES or model.is_determined(best.values):
        return False
    elsewhere = (_elsewhere(model, start, draw) for _ in range(PROBED_POINTS))
    return any(model(there).error is None and model.is_determined(there) for there in elsewhere)


@contextmanager
def answer_spared() -> Iterator[None]:
    """Search with what work an answer leaves, and end the search where that is spent."""
    work = current_budget()
    kept = ANSWER_SHARE * work.left
    work.left -= kept
    try:
        yield
    except BudgetExceeded:
        pass
    finally:
        work.left += kept


def _restarted(
    model: Model, best: EndPoint, start: Any, first: str, draw: random.Random, *, lost: bool
) -> EndPoint:
    """Return the best end of searches from other starts, with the other minima that they found."""
    restarts = _Restarts(model, best, start, first, lost)
    probe = restarts.probe
    for k, (rise, there) in enumerate(_promising(probe, best, start, draw)):
        if k >= REFINED and (restarts.again >= AGAIN or not restarts.is_open):
            break
        try:
            if (rise > MAX_RISE and not restarts.is_open) or probe(there).error is not None:
                continue
            end = (
                searched(probe, there, REFINING_EVALUATIONS)
                if k < REFINED
                else projected(model, there)
            )
            restarts.consider(end)
        except BudgetExceeded:
            break
    model.calls = probe.calls = None
    return restarts.best._replace(others=_other_minima(probe, restarts.best, restarts.minima))


class _Restarts:
    """Searches from other starts: the best end so far, and what is wrong with it."""

    def __init__(self, model: Model, best: EndPoint, start: Any, first: str, lost: bool) -> None:
        self.model, self.first = model, first
        # Whether the parameters are determined elsewhere, and not at the best end.
        self.lost = lost
        model.calls = copy(current_budget())
        self.probe = model.copy()  # what is only looked at is not counted
        self.may_alias = is_aliased(model, start)
        model.reached.accept(best, only=True)
        self.best, self.of_best = best, self._faults(best)
        # How many searches in a row have come to the same end.
        self.again = 0
        self.minima = [] if any(self.of_best) else [best]

    @property
    def is_open(self) -> bool:
        """Whether a better end is still wanted."""
        return self.lost or any(self.of_best)

    def _faults(self, end: EndPoint) -> tuple[bool, bool]:
        """Return whether an end has not converged, and whether it is one of a period that the start
        has not.
        """
        return not _has_converged(self.probe, end), not self.may_alias and is_aliased(
            self.model, end.values
        )

    def _is_proper(self, end: EndPoint) -> bool:
        return end.moved <= MAX_LAST_STEP and self.probe.is_determined(end.values)

    def consider(self, end: EndPoint) -> None:
        """Take an end as the best one if it is better. Raises `BudgetExceeded`."""
        best, of_best = self.best, self.of_best
        of_end, proper = self._faults(end), self._is_proper(end)
        self.minima += [end] if proper and not of_end[1] else []
        # by more than the rounding of the data
        lower = best.cost - end.cost > 1e-9 * best.cost + 2 * math.sqrt(
            best.cost * self.model.rows.rounding_cost
        )
        better = lower if of_end[1] == of_best[1] else of_end < of_best
        # no minimum is left for an end that is none
        if better and (
            proper or self.lost or (any(of_best) and (not self._is_proper(best) or not any(of_end)))
        ):
            self._accept(end, lower)
        elif best.moved <= MAX_LAST_STEP and end.cost <= best.cost * (1 + 1e-6):
            self.again += not self.lost or self.probe.is_determined(end.values)

    def _accept(self, end: EndPoint, lower: bool) -> None:
        self.again = 0
        end = at_kink(self.model, end)
        is_minimum = self.best.moved <= MAX_LAST_STEP
        ill = "had come to a higher minimum" if lower and is_minimum else "had ended badly"
        end = end._replace(message=f"{end.message} from another start, after {self.first} {ill}")
        self.best = self.model.reached.accept(end, only=True)
        self.lost = self.lost and not self.model.is_determined(self.best.values)
        self.of_best = self._faults(self.best)


def _other_minima(model: Model, best: EndPoint, minima: list[EndPoint]) -> tuple[EndPoint, ...]:
    """Return the minima with other curves that the data do not rule out."""
    dof = model.rows.used - len(model.parameters.free)
    noise = 1.0 if model.data.has_sigma else 2 * best.cost / dof if dof > 0 else 0.0
    others: list[EndPoint] = []
    for end in sorted(minima, key=lambda end: end.cost):
        if best.cost < end.cost < best.cost + MAX_CHI_SQUARE_RISE / 2 * noise:
            left = model(end.values).residuals
            apart = [np.linalg.norm(left - model(x.values).residuals) for x in (best, *others)]
            others += [end] if min(apart) > SAME_CURVE * math.sqrt(2 * end.cost) else []
    return tuple(others)


def _promising(
    model: Model, best: EndPoint, start: Any, draw: random.Random
) -> list[tuple[float, Any]]:
    # the best with different curves, and the next best, by relative residuals
    anywhere = best.cost < UNDEFINED_SUM_OF_SQUARES
    probe = model.sample(SCANNED_ROWS)
    points: list[tuple[float, Any, Any]] = []
    for _ in range(SCANNED_POINTS):
        there = _elsewhere(model, start, draw, anywhere=anywhere)
        at = probe(there)
        if at.error is None:
            solved = probe.fit_linear(there) if model.parameters.places else there
            left = at.residuals + at.jacobian @ (solved - there)
            points.append((float(np.linalg.norm(left)), solved, left))
    first: list[Any] = []
    rest: list[Any] = []
    for size, solved, left in sorted(points, key=lambda point: point[0]):
        apart = [np.linalg.norm(left - other) > SAME_CURVE * size for *_, other in first]
        new = len(first) < REFINED and all(apart)
        (first if new else rest).append((size, solved, left))
    least = float(np.linalg.norm(probe(best.values).residuals)) or 1.0
    return [(size / least, there) for size, there, _ in [*first, *rest][:MAX_RESTARTS]]


def _elsewhere(model: Model, start: Any, draw: random.Random, *, anywhere: bool = True) -> Any:
    # nonlinear parameters near their own, at places, or like widths or rates
    there = np.array(start, dtype=float)
    for k in range(len(there)):
        kind = draw.randrange(4) if anywhere and model.rows.columns else 0
        if k in model.parameters.places:
            continue
        if kind == 0:
            there[k] = there[k] * math.exp(draw.gauss(0, 1)) if there[k] else draw.gauss(0, 1)
            continue
        low, high, count = draw.choice(model.rows.scales)
        width = math.copysign((high - low or 1.0) * count ** -draw.random(), there[k])
        there[k] = draw.uniform(low, high) if kind == 1 else width if kind == 2 else math.pi / width
    return np.clip(there, *model.parameters.limits)


def _has_converged(model: Model, end: EndPoint) -> bool:
    if not (end.cost < UNDEFINED_SUM_OF_SQUARES and end.moved <= MAX_LAST_STEP):
        return False
    if model.data.has_sigma and 2 * end.cost > IMPLAUSIBLE_CHI_SQUARE * max(
        1, model.rows.used - len(model.parameters.free)
    ):
        return False
    few = model.rows.used < FEW_ROWS
    enough = 1 - 1e-14 if model.kinks else EXPLAINED if few else 0.5
    explained = model.r_squared(end.values)
    if explained is None:
        return end.cost <= model.rows.rounding_cost
    if explained <= enough or few:
        return explained > enough
    sample = model.sample(SAMPLED_ROWS)
    left = sample(end.values).residuals
    if not float(left @ left) > 2 * sample.rows.rounding_cost:
        return True
    runs = runs_test(sample.rows.order_residuals(left))
    return runs is None or runs.are_random


def nearest_symmetric(model: Model, values: Any) -> Any:
    """Return the equivalent parameter values that agree with the starts.

    In `b1/b2*exp(-x**2/b2**2)` signs can change, in `a*exp(-p*x) + b*exp(-q*x)` terms can be
    exchanged, and in `a*sin(w*t + p)` p can change by whole turns.
    """
    values, starts_by_name = (
        _by_whole_periods(model, _in_order(model, values)),
        model.problem.values,
    )
    fitted = model(values).fitted
    starts = [
        0.0 if name in model.parameters.linear else starts_by_name.get(name, 0.0)
        for name in model.parameters.free
    ]
    is_linear = [name in model.parameters.linear for name in model.parameters.free]
    loose = [k for k, x in enumerate(starts) if x * values[k] < 0 or (is_linear[k] and values[k])]
    for count in range(1, 4 if len(loose) <= MAX_PERMUTED else 1):
        for places in combinations(loose, count):
            if any(starts[k] * values[k] < 0 for k in places):
                there = np.array(values)
                there[list(places)] *= -1
                if model.parameters.allows(there) and np.array_equal(
                    model(there).fitted, fitted, equal_nan=True
                ):
                    values = there
    return values


def zero_within_rounding(model: Model, values: Any) -> Any:
    """Return the values, with 0 for those that differ from it by less than the curve shows in
    doubles.

    A decay of 1e-17 where nothing decays is the rounding of a search: other such numbers fit as
    well, and are no less near 0. A value that is small because its effect is large, or has none in
    doubles, stays.
    """
    if model.basis is not None:
        return values
    visible = VISIBLE_SHARE * float(np.linalg.norm(model.rows.response * model.rows.weights))
    for k, name in enumerate(model.parameters.free):
        if name in model.parameters.linear or not values[k]:
            continue
        rounding, length = rounding_errors(model, values), _length_of_column(model, values, k)
        there = np.array(values)
        there[k] = 0.0
        is_rounding = visible < length < math.inf and length * abs(values[k]) <= rounding
        if not is_rounding or not model.parameters.allows(there) or model(there).error is not None:
            continue
        changed = float(np.linalg.norm(model(there).residuals - model(values).residuals))
        if changed <= rounding and visible < _length_of_column(model, there, k) < math.inf:
            values = there
    return values


def _length_of_column(model: Model, values: Any, k: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(model(values).jacobian[:, k]))


def _by_whole_periods(model: Model, values: Any) -> Any:
    for k, name in enumerate(model.parameters.free):
        period = (
            None
            if name in model.parameters.linear or name not in model.problem.values
            else _period(model, values, k)
        )
        turns = round((values[k] - model.problem.values[name]) / period) if period else 0
        if turns and period and abs(turns) < MAX_TURNS:
            there = np.array(values)
            there[k] -= turns * period
            if (
                model.parameters.allows(there)
                and model(there).cost <= model(values).cost * (1 + 1e-9) + model.rows.rounding_cost
            ):
                values = there
    return values


def _period(model: Model, values: Any, k: int) -> float | None:
    """Return the period of the formula in a parameter, if it stands only in arguments of sines and
    the like.

    The arguments have to be linear in it, with one factor or multiples of it, the same in all rows.
    """
    graph = model.problem.program.graph
    slopes: list[float] = []
    varying = _varying_with_rows(model)
    factors: list[float] = []
    try:
        data = Evaluation(REAL, graph.with_leaves(_leaves_in_first_row(model, values))).graph.data
        for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True)):
            label = graph.labels.get(i) if primitive is VARIABLE else None
            moves = [bool(slopes[p]) for p in parents]
            slope = float(label == model.parameters.free[k])

            if any(moves) and primitive.periodic:
                factors.append(abs(slopes[parents[0]]))
            elif any(moves):
                if not _is_linear_in(primitive, moves, [varying[p] for p in parents]):
                    return None
                partials = primitive.slopes(REAL, [data[p] for p in parents], data[i])
                slope = sum(
                    [d * slopes[p] for d, p in zip(partials, parents, strict=True) if d is not None]
                )
            slopes.append(slope)
    except (AutodiffError, *NO_RESULT):
        return None
    return None if slopes[graph.roots[0]] else _common_period(factors)


def _varying_with_rows(model: Model) -> list[bool]:
    """Return of each node whether it depends on columns of the data."""
    graph = model.problem.program.graph
    varying: list[bool] = []
    for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True)):
        is_column = primitive is VARIABLE and graph.labels.get(i) in model.rows.columns
        varying.append(is_column or any(varying[p] for p in parents))
    return varying


def _leaves_in_first_row(model: Model, values: Any) -> dict[int, float]:
    """Return the numbers of all variables in the first row of the data, by node."""
    graph = model.problem.program.graph
    point = {
        **model.parameters.held,
        **{name: float(column[0]) for name, column in model.rows.columns.items()},
    }
    point |= dict(zip(model.parameters.free, map(float, values), strict=True))
    return {i: point[label] for i, label in graph.labels.items() if graph.primitives[i] is VARIABLE}


def _is_linear_in(primitive: Primitive, moves: Sequence[bool], varying: Sequence[bool]) -> bool:
    """Return whether an operation is linear in its inputs that move, with the same factor in all
    rows.
    """
    if primitive.linear:
        return True
    is_factor = primitive.product or (primitive is DIV and not moves[1])
    others_vary = any(varies and not moved for varies, moved in zip(varying, moves, strict=True))
    return is_factor and sum(moves) == 1 and not others_vary


def _common_period(factors: Sequence[float]) -> float | None:
    """Return the period of sines of a variable times these factors, if all are multiples of the
    least.
    """
    if not factors:
        return None
    least = min(factors)
    is_periodic = all(abs(x - round(x)) < 1e-9 for x in (factor / least for factor in factors))
    return 2 * math.pi / least if is_periodic else None


def _in_order(model: Model, values: Any) -> Any:
    names, starts = model.parameters.free, model.problem.values
    if len(names) > MAX_PERMUTED:
        return values
    pairs = list(combinations(range(len(names)), 2))

    def agreement(pair: tuple[int, int], end: Any) -> float:
        if any(names[k] in model.parameters.linear or names[k] not in starts for k in pair):
            return 0.0
        start = [starts[names[k]] for k in pair]
        size = (abs(start[0]) + abs(start[1])) * (abs(end[pair[0]]) + abs(end[pair[1]]))
        return (start[0] - start[1]) * (end[pair[0]] - end[pair[1]]) / size if size else 0.0

    def exchanges(first: tuple[int, int]) -> Iterator[Any]:
        others = [pair for pair in pairs if not {*first} & {*pair}]
        for more in ((), *((pair,) for pair in others), *combinations(others, 2)):
            if len({*first, *sum(more, ())}) == 2 + 2 * len(more):
                order = list(range(len(names)))
                for i, j in (first, *more):
                    order[i], order[j] = j, i
                if sum(agreement(pair, values) for pair in (first, *more)) < 0:
                    yield order

    def same(order: Any) -> bool:
        used, draw = np.flatnonzero(model.rows.weights), random.Random(1)
        rows = used[np.arange(MIN_COMPARED_ROWS) * (len(used) - 1) // (MIN_COMPARED_ROWS - 1)]
        few = model.at_rows({name: column[rows] for name, column in model.rows.columns.items()})
        beside = np.array([x * draw.uniform(0.9, 1.1) for x in values])
        first, other = few(beside), few(beside[order])
        if first.errors or other.errors:
            return False
        return np.allclose(other.fitted, first.fitted, rtol=1e-11, atol=0)

    # an exchange may call for another
    for pair in pairs * 2:
        if agreement(pair, values) < 0 and (order := next(filter(same, exchanges(pair)), None)):
            there = values[order]
            if model.parameters.allows(there) and model(there).cost <= model(values).cost * (
                1 + 1e-9
            ):
                values = there
    return values
