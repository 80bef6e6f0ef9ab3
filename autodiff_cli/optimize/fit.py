"""A formula fitted to data: its parameters by least squares, how well they are known, and what the data do not say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ..batched.columns_io import listed
from ..errors import Diagnostic, ExpressionError, counted, needed, point_error, quoted, usage_error
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown
from ..inputs.bounds import Range
from ..inputs.parse_point import is_name
from ..inputs.problem import Point, Problem, as_number, check_single, parse
from ..language.builder import Program
from ..numbers.budget import allowed
from ..numerics.student_t import check_level, coverage_factor
from ..record import Record
from .least_squares import (
    CONVERGED,
    LOSSES,
    NULL,
    Ended,
    Model,
    Observations,
    Robust,
    Stopped,
    at_kink,
    column_sizes,
    fitted_linearly,
    linear_parameters,
    projected,
    searched,
)

LEVEL = 0.95
RESTARTS, AGAIN = 24, 3
"""How many other starts are tried at most, and how many of them that end at the same minimum show that it is one."""

MOST_PARAMETERS = 200
NAMED = 0.1
"""How large the part of a parameter in such a direction is for it to be named."""

TYPED_ROWS = 100
"""The number of rows that raise a fit's limit of work by the formula's length each."""

CHARACTERS_A_ROW = 0.2
"""As how much of a formula each further row counts: some 200 evaluations of all rows."""

ANY = (-math.inf, math.inf)

SQUARED = 1e140
"""How large the data may be, or its inverse how small, for the squares of their residuals to be doubles."""

FLIPPED = 10
"""The most parameters that are searched for sign changes that do not change the model."""

CURVE = 241
"""At how many points the fitted curve is computed to be drawn."""


class Parameter(Record):
    """The estimate of a parameter."""

    estimate: Shown
    error: Shown | None
    """The standard error; None where there is none."""
    interval: tuple[float, float] | None
    linear: bool
    held: str
    """Why it has no standard error: `fixed`, `bound`, `undetermined`; empty where it has one."""


class Fit(Record):
    """A formula fitted to data."""

    text: str
    arithmetic: Arithmetic
    response: str
    parameters: dict[str, Parameter]
    correlation: dict[str, dict[str, float]]
    null: list[dict[str, float]]
    """Directions of the parameters along which the residuals do not change."""
    rows: int
    dof: int
    rss: Shown
    """The weighted sum of the squared residuals."""
    deviation: Shown | None
    """The residual standard deviation."""
    r_squared: float | None
    level: float
    loss: str
    sigma: bool
    """Whether the uncertainties of the response were given, so that they are not estimated from the residuals."""
    converged: bool
    reason: str
    """`converged`; `undetermined`, `stuck`, `interrupted`."""
    message: str
    method: str
    evaluations: int
    point: dict[str, float]
    """The estimates as a point."""
    columns: dict[str, list[float]]
    fitted: list[float]
    residuals: list[float]
    standardised: list[float | None]
    """The residuals divided by their own standard deviations, leverage included."""
    band: list[float | None]
    """Half the width of the confidence band of the curve at each row."""
    curve: list[tuple[float, float, float]]
    """Of one predictor: points of the fitted curve, with half the width of its confidence band."""
    predictors: list[str]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]


def columns_needed(
    text: str, columns: Sequence[str], known_names: Sequence[str], response: str | None, also: Sequence[str] = ()
) -> list[str]:
    """Which columns of the data the fit of a formula needs. Raises `ExpressionError` for one that is not there."""
    program, answer = _read(text, columns, known_names, response)
    needed = [name for name in program.variables if name in columns]
    unused = {name.casefold(): name for name in columns if name not in (*needed, answer, *also)}
    for name, variable in program.variables.items():
        if name not in columns and name not in known_names and name.casefold() in unused:
            meant = unused[name.casefold()]
            raise ExpressionError(
                "missing_value",
                f"`{name}` is no column of the data and has no start; there is the column `{meant}`",
                variable.span,
                f'write `{meant}`, or `--columns "{name}={meant}"`; for a parameter give a start: `--at {name}=…`',
            )
    for name in also:
        if name not in columns:
            raise _no_column(name, columns)
    return list(dict.fromkeys([*needed, answer, *also]))


def _no_column(name: str, columns: Sequence[str]) -> ExpressionError:
    return ExpressionError("usage", f"the data has no column `{name}`", hint=f"its columns are {listed(columns)}")


def _read(text: str, columns: Sequence[str], known_names: Sequence[str], response: str | None) -> tuple[Program, str]:
    """The program and the name of the column that it explains."""
    names = [column for column in columns if is_name(column)]
    # what the formula binds last is the response, and not a value that it uses
    head, equals, _ = text.rpartition(";")[2].partition("=")
    bound = head.strip().rpartition("\n")[2].strip() if equals else ""
    program = parse(text, [name for name in (*names, *known_names) if name != bound])
    check_single(program)
    if response is None:
        last = program.bindings[-1] if program.bindings else None
        if last is None or last.value is not program.outputs[0] or last.name not in columns:
            meant = next((column for column in columns if last and column.split()[:1] == [last.name]), None)
            if last and meant:
                raise ExpressionError(
                    "usage", f"there is no column `{last.name}`", hint=f'call it so: `--columns "{last.name}={meant}"`'
                )
            raise ExpressionError(
                "usage",
                "which column the formula explains is not said",
                hint=f"write it as `y = …`, or name it: `--response y`; the columns are {listed(columns)}",
            )
        response = last.name
    if response not in columns:
        raise _no_column(response, columns)
    if response in program.variables:
        raise ExpressionError(
            "usage",
            f"`{response}` is the response, and the formula uses it",
            program.variables[response].span,
            "a formula explains a column by others",
        )
    return program, response


def fit(
    text: str,
    columns: Mapping[str, Sequence[float]],
    point: Point | None = None,
    *,
    response: str | None = None,
    fixed: Mapping[str, float | str] | None = None,
    bounds: Mapping[str, Range] | None = None,
    sigma: str | float | None = None,
    weights: str | None = None,
    loss: str = "linear",
    level: float | None = None,
    arithmetic: Arithmetic = DOUBLE,
    stop: Callable[[], bool] = lambda: False,
) -> Fit:
    """The parameters of the program `text` for which it is nearest to a column of the data, by least squares.

    Names that are columns are data, the others parameters; `y = …` explains the column `y`, or `response` says which.
    `point` has starts, which parameters need in which the model is not linear; `fixed` holds some. `sigma` is the
    standard uncertainty of the response, a column or a number, `weights` a column that is proportional to 1/sigma².
    Raises `ExpressionError` as `gradient` does at the start, `usage` for options that do not fit the data.

    >>> found = fit("y = a + b*x", {"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    >>> {name: round(each.estimate, 6) for name, each in found.parameters.items()}
    {'a': 0.97, 'b': 2.02}
    """
    needed("scipy.optimize", "optimize", "`fit` needs SciPy, the extra `optimize`")
    with allowed(anew=False) as work:
        rows = len(next(iter(columns.values()), ()))
        less = "give fewer rows" if arithmetic == DOUBLE else f"give fewer rows, or leave out `--{arithmetic.name}`"
        work.renew(len(text) * (1 + min(rows, TYPED_ROWS)) + CHARACTERS_A_ROW * rows, less)
        import numpy as np

        check_level(level)
        problem, data = _pose(text, columns, point, response, fixed or {}, bounds or {}, sigma, weights)
        free = problem.unknowns
        answers = np.array(columns[data.response], dtype=float)
        root = data.root_weights(np)
        if not free:
            hint = "a name that is no column of the data is a parameter"
            raise usage_error("there is nothing to fit: no name is a parameter", hint)
        if (count := int(np.count_nonzero(root))) < len(free):
            message = f"{counted(count, 'row')} of data cannot tell {counted(len(free), 'parameter')}"
            raise usage_error(message, "give more rows, or hold some parameters: `--fix b=1`")
        largest = float(np.max(np.abs(answers * root)))
        if largest and not 1 / SQUARED < largest < SQUARED:
            size = "large" if largest > 1 else "small"
            message = f"`{data.response}` is too {size} for its squares in doubles: it is up to {largest:.3g}"
            hint = "measure it, and its uncertainty, in another unit: write multiples of that to the data"
            raise ExpressionError("limit", message, hint=hint)
        limits = [np.array(side) for side in zip(*[problem.bounds.get(name, ANY) for name in free], strict=True)]
        model = Model(
            problem.program,
            {name: np.array(columns[name], dtype=float) for name in data.predictors},
            free,
            {name: x for name, x in problem.values.items() if name not in free},
            answers,
            root,
            stop,
            (limits[0], limits[1]) if problem.bounds else None,
        )
        # a parameter that has bounds is none that a linear solve gives
        linear = [name for name in linear_parameters(problem.program, free) if name not in problem.bounds]
        start = np.array([problem.values.get(name, 1.0) for name in free])
        if lacking := [name for name in free if name not in problem.values and name not in linear]:
            error = None if linear else model.check(start)
            if error is not None:
                raise error
            raise ExpressionError(
                "missing_value",
                f"`{lacking[0]}` has no start, and the model is not linear in it",
                problem.program.variables[lacking[0]].span,
                f"give one: `--at {','.join(f'{name}=…' for name in lacking)}`; "
                f"the columns that are used are {quoted(columns)}",
            )
        interrupted = False
        try:
            # a step may lead to where numbers are too large to be squared: it is not taken
            with np.errstate(over="ignore", invalid="ignore"):
                ended = _strategies(model, problem, start, linear, loss, sigma is not None)
                ended = ended._replace(values=_on_the_side(model, problem, ended.values, linear))
        except Stopped:
            model.stop = lambda: False
            interrupted, ended = True, Ended(start, math.nan, math.inf, "interrupted")
        return _answer(text, _Inference(model, problem, data, ended, level or LEVEL), linear, interrupted, arithmetic)


def _pose(
    text: str,
    columns: Mapping[str, Sequence[float]],
    point: Point | None,
    response: str | None,
    fixed: Mapping[str, float | str],
    bounds: Mapping[str, Range],
    sigma: str | float | None,
    weights: str | None,
) -> tuple[Problem, Observations]:
    """The model with its parameters, those to be found as unknowns, and its data. Raises `ExpressionError`."""
    typed = dict(point or {})
    program, response = _read(text, list(columns), [*typed, *fixed], response)
    predictors = [name for name in program.variables if name in columns]
    parameters = [name for name in program.variables if name not in columns]
    unknowns = [name for name in parameters if name not in fixed]
    warnings: list[Diagnostic] = []
    for name in [*typed, *fixed]:
        if name in predictors:
            raise point_error(f"`{name}` is given a value, and is a column of the data", "leave one of them out")
        if name not in parameters:
            warnings.append(Diagnostic("unused", f"the formula has no parameter `{name}`", None, "leave it out"))
    for name in bounds:
        if name not in unknowns:
            raise usage_error(f"`{name}` has bounds and is not fitted", f"fitted are {quoted(unknowns)}")
    for name in fixed:
        if name in typed and as_number(typed[name], name) != as_number(fixed[name], name):
            raise point_error(f"`{name}` has a start and is held at another value", "leave one out")
    if len(unknowns) > MOST_PARAMETERS:
        hint = f"fit up to {MOST_PARAMETERS}"
        raise ExpressionError("limit", f"{len(unknowns)} parameters are too many", hint=hint)
    typed |= fixed
    values = {name: as_number(value, name) for name, value in typed.items() if name in parameters}
    for name, limits in bounds.items():
        if name in values:
            limits.check_start(name, values[name])
        ends = [end for end in limits if end is not None]
        values.setdefault(name, sum(ends) / len(ends) if ends else 1.0)
    for column in (sigma, weights):
        if isinstance(column, str) and column not in columns:
            raise _no_column(column, list(columns))
    problem = Problem(program, typed, values, [], warnings, unknowns, {name: x.ends for name, x in bounds.items()})
    return problem, Observations(columns, response, predictors, sigma, weights)


def _strategies(model: Model, problem: Problem, start: Any, linear: Sequence[str], loss: str, has_sigma: bool) -> Ended:
    """The best that the strategies come to. Raises what is wrong with the start."""
    np = model.np
    places = [problem.unknowns.index(name) for name in linear]
    start = np.clip(start, *model.limits)
    error = model.check(start)
    if error is not None and not places:
        raise error
    if error is None and places and any(name not in problem.values for name in linear):
        start = fitted_linearly(model, start, places)
    best = _least(model, start, places)
    if loss == "linear":
        return best
    # a known uncertainty is the scale; otherwise it is that of most residuals
    left = np.abs(model.residuals(best.values))[model.weights > 0]
    model.loss, model.scale = loss, 1.0 if has_sigma else 1.4826 * float(np.median(left)) or 1.0
    # outliers may have led the squares to another minimum than the start is near to
    starts = [best.values] if error is not None else [best.values, start]
    end = at_kink(model, min((searched(model, values) for values in starts), key=lambda each: each.cost), ())
    return end._replace(message=f"{end.message}, {loss} loss of residuals beyond {model.scale:.3g}")


def _least(model: Model, start: Any, places: Sequence[int]) -> Ended:
    """Return the smallest sum of squares that the strategies find."""
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
    # a poor start is the usual trouble: others around it, in ever wider steps, until one minimum comes again and again
    draw = random.Random(1)
    again = 0
    for k in range(RESTARTS):
        if _settled(model, best) or again == AGAIN:
            break
        wide = 0.35 * (k + 1)
        there = model.np.clip(start * [math.exp(draw.gauss(0, wide)) for _ in start], *model.limits)
        if model.check(there) is not None:
            continue
        end = projected(model, there, places) if places else searched(model, there)
        if end.cost < best.cost * (1 - 1e-9):
            again = 0
            end = at_kink(model, end, places)
            ill = "had come to a higher minimum" if best.moved <= CONVERGED else "had ended badly"
            best = end._replace(message=f"{end.message} from another start, after {first} {ill}")
        elif best.moved <= CONVERGED and end.cost <= best.cost * (1 + 1e-6):
            again += 1
    return best


def _settled(model: Model, ended: Ended) -> bool:
    """Whether a strategy has come to a place where the sum of squares is least, as far as its derivatives say.

    With kinks there are more such places, as a rule.
    """
    enough = 1 - 1e-14 if model.kinks else 0.5
    return ended.cost < 1e200 and ended.moved <= CONVERGED and _r_squared(model, ended.values) > enough


def _on_the_side(model: Model, problem: Problem, values: Any, linear: Sequence[str]) -> Any:
    """The values with the signs of their starts, as far as other signs leave every row and the bounds as they are."""
    np = model.np
    fitted = model(values)[0]
    low, high = model.limits
    starts = [0.0 if name in linear else problem.values.get(name, 0.0) for name in problem.unknowns]
    loose = [k for k, x in enumerate(starts) if x * values[k] < 0 or (problem.unknowns[k] in linear and values[k])]
    if len(loose) > FLIPPED:
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


def _r_squared(model: Model, values: Any) -> float:
    np = model.np
    square = model.weights**2
    left = model.residuals(values)
    middle = float(np.average(model.response, weights=square))
    total = float(square @ (model.response - middle) ** 2)
    return 1 - float(left @ left) / total if total > 0 else 1.0


# ---- what the data say --------------------------------------------------------------------------------------------
class _Inference:
    """The inference about the parameters at the end of a search."""

    def __init__(self, model: Model, problem: Problem, data: Observations, ended: Ended, level: float) -> None:
        np, values = model.np, ended.values
        self.model, self.problem, self.data, self.ended, self.level = model, problem, data, ended, level
        self.fitted, _, errors = model(values)
        if errors:
            row = min(errors)
            fault = errors[row]
            raise ExpressionError(fault.kind, f"row {row + 1} of the data: {fault}", fault.span, fault.hint)
        self.values = dict(zip(problem.unknowns, map(float, values), strict=True))
        self.left = model.residuals(values)
        self.at_bound = {name for name, x in self.values.items() if x in problem.bounds.get(name, ())}
        self.moving = [k for k, name in enumerate(problem.unknowns) if name not in self.at_bound]
        self.names = [problem.unknowns[k] for k in self.moving]
        # of a residual that the loss takes for an outlier the square counts less, as in the sum that is least
        self.rss = float(self.left @ (self.left * model.robust(values).weight))
        # the covariance is that of the parameters in units in which the columns of the Jacobian have the length 1
        rows = model.jacobian(values)[:, self.moving]
        self.size = column_sizes(np, rows)
        self.slopes = rows / self.size
        inverse, self.null, self.undetermined = _covariance(np, self.slopes, self.size, self.names)
        self.used = int(np.count_nonzero(model.weights))
        self.dof = self.used - len(self.moving) + len(self.null)
        self.known = data.sigma is not None
        self.noise = variance = 1.0 if self.known else self.rss / self.dof if self.dof > 0 else math.nan
        if model.loss != "linear":
            u = self.left[model.weights > 0] / model.scale
            variance = _normal_variance(np, model.loss) if self.known else _variance(np, model.loss, u, self.dof)
            variance *= model.scale**2
        self.variance, self.covariance = variance, inverse * variance
        self.errors: dict[str, float] = {}
        if self.dof > 0 or self.known:
            roots = np.sqrt(np.maximum(0.0, np.diagonal(self.covariance))) / self.size
            self.errors = {
                name: float(x) for name, x in zip(self.names, roots, strict=True) if name not in self.undetermined
            }
        self.factor = coverage_factor(level, math.inf if self.known else self.dof) if self.errors else 0.0

    def parameters(self, linear: Sequence[str]) -> dict[str, Parameter]:
        """Return what is known of each parameter, in the order of the formula."""
        parameters: dict[str, Parameter] = {}
        for name in self.problem.program.variables:
            if name in self.model.held:
                parameters[name] = Parameter(self.model.held[name], None, None, False, "fixed")
            elif name in self.values:
                x, error = self.values[name] + 0.0, self.errors.get(name)
                held = "bound" if name in self.at_bound else "undetermined" if name in self.undetermined else ""
                parameters[name] = Parameter(x, error, self.interval(x, error), name in linear, held)
        return parameters

    def interval(self, x: float, error: float | None) -> tuple[float, float] | None:
        """Return the confidence interval of a parameter; None where it has no standard error."""
        return None if error is None else (x - self.factor * error, x + self.factor * error)

    def correlation(self) -> dict[str, dict[str, float]]:
        """Return the correlations of the parameters that have standard errors."""
        place = {name: k for k, name in enumerate(self.names)}
        length = {name: error * float(self.size[place[name]]) for name, error in self.errors.items()}
        return {
            a: {b: _quotient(float(self.covariance[place[a], place[b]]), length[a] * length[b], a == b) for b in length}
            for a in length
        }

    def rows(self) -> tuple[list[float | None], list[float | None]]:
        """Return for each row the standardised residual, and half the width of the curve's confidence band."""
        np, weights = self.model.np, self.model.weights
        of_mean = self._variances(self.slopes)
        # of the covariance this share is what the noise alone makes
        share = self.noise / (self.variance or 1.0)
        with np.errstate(all="ignore"):
            own = np.sqrt(np.maximum(self.noise - share * of_mean, 0.0))
            plain = (own > 1e-12 * math.sqrt(self.noise or 1.0)) & (weights > 0)
            standard = np.where(plain, self.left / own, np.nan)
            band = self.factor * np.sqrt(of_mean) / np.where(weights > 0, weights, np.nan)
        return (
            [float(x) if math.isfinite(x) else None for x in standard],
            [float(x) if math.isfinite(x) and self.factor else None for x in band],
        )

    def _variances(self, slopes: Any) -> Any:
        return self.model.np.einsum("ij,jk,ik->i", slopes, self.covariance, slopes)

    def curve(self) -> list[tuple[float, float, float]]:
        """Return the curve over the stretch of its one predictor, where it has values."""
        np, model = self.model.np, self.model
        if len(self.data.predictors) != 1:
            return []
        (name,) = self.data.predictors
        xs = np.linspace(np.min(model.columns[name]), np.max(model.columns[name]), CURVE)
        over = Model(model.program, {name: xs}, model.free, model.held, np.zeros(CURVE), np.ones(CURVE), model.stop)
        heights, slopes, _ = over(self.ended.values)
        wide = self.factor * np.sqrt(np.maximum(self._variances(slopes[self.moving].T / self.size), 0.0))
        points = zip(xs.tolist(), heights.tolist(), wide.tolist(), strict=True)
        return [(x, y, w) for x, y, w in points if math.isfinite(y) and math.isfinite(w)]

    def undetermined_warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each direction of the parameters that the data say nothing of."""
        for direction in self.null:
            first, *others = direction
            if others:
                names = " and ".join(f"`{name}`" for name in direction)
                message, hint = f"the data do not tell {names} apart", f"hold one of them: `--fix {first}=…`"
            else:
                message = f"the data say nothing of `{first}` here"
                hint = f"start elsewhere, or hold it: `--fix {first}=…`"
            yield Diagnostic("undetermined", message, None, hint)

    def outcome(self, interrupted: bool) -> tuple[str, str]:
        """Return why the search is over, as one word and in words."""
        method, moved = self.ended.message, self.ended.moved
        if interrupted:
            return "interrupted", "interrupted: these are the starts"
        if self.null:
            return "undetermined", [warning.message for warning in self.undetermined_warnings()][-1]
        if not moved <= CONVERGED:
            step = f"another step would move a parameter by {moved:.2g} standard errors"
            return "stuck", f"{method}; not converged: {step}; start elsewhere (`--at`), or hold a parameter (`--fix`)"
        edge = f"; at a bound: {', '.join(sorted(self.at_bound))}" if self.at_bound else ""
        return "converged", f"{method}; converged{edge}"


def _answer(text: str, inference: _Inference, linear: Sequence[str], interrupted: bool, arithmetic: Arithmetic) -> Fit:
    model, problem, data = inference.model, inference.problem, inference.data
    reason, message = inference.outcome(interrupted)
    standardised, band = inference.rows()
    parameters = inference.parameters(linear)
    fit = Fit(
        text=text,
        arithmetic=arithmetic,
        response=data.response,
        parameters=parameters,
        correlation=inference.correlation(),
        null=inference.null,
        rows=inference.used,
        dof=inference.dof,
        rss=inference.rss,
        deviation=math.sqrt(inference.rss / inference.dof) if inference.dof > 0 else None,
        r_squared=_r_squared(model, inference.ended.values),
        level=inference.level,
        loss=model.loss,
        sigma=inference.known,
        converged=reason == "converged",
        reason=reason,
        message=message,
        method=inference.ended.message,
        evaluations=model.evaluations,
        point={name: float(parameter.estimate) for name, parameter in parameters.items()},
        columns={name: list(map(float, data.columns[name])) for name in [*data.predictors, data.response]},
        fitted=(inference.fitted + 0.0).tolist(),
        residuals=(model.response - inference.fitted).tolist(),
        standardised=standardised,
        band=band,
        curve=inference.curve(),
        predictors=data.predictors,
        constants=problem.program.constants,
        warnings=(*problem.warnings, *inference.undetermined_warnings()),
    )
    if arithmetic == DOUBLE or reason != "converged":
        return fit
    if model.loss != "linear" or inference.at_bound:
        raise usage_error(f"`--{arithmetic.name}` is for plain least squares inside the bounds", "leave it out")
    return _sharpened(fit, inference, arithmetic)


def _sharpened(fit: Fit, inference: _Inference, arithmetic: Arithmetic) -> Fit:
    """The fit with its estimates in another arithmetic: where the derivative of the sum of squares is 0."""
    from .normal_equations import estimates_in

    weights = inference.model.weights
    rows = [k for k in range(inference.model.rows) if weights[k] > 0]
    start = list(inference.values.values())
    numbers = estimates_in(arithmetic, inference.problem, inference.data, rows, start, fit.dof)
    errors = numbers.get("errors", {})
    parameters = dict(fit.parameters)
    for name, x in numbers["values"].items():
        error = errors.get(name)
        interval = inference.interval(float(x), None if error is None else float(error))
        parameters[name] = parameters[name]._replace(estimate=x, error=error, interval=interval)
    return fit._replace(parameters=parameters, rss=numbers["rss"], deviation=numbers.get("deviation"))


def _quotient(x: float, size: float, same: bool) -> float:
    return 1.0 if same else max(-1.0, min(1.0, x / size)) if size else 0.0


def _variance(np: Any, loss: str, u: Any, dof: int) -> float:
    """By what (JᵀJ)⁻¹ is multiplied for the covariance of an M-estimator: Huber, Robust Statistics (1981), 7.6.8."""
    robust: Robust = LOSSES[loss](np, u)
    psi = u * robust.weight
    mean = float(np.mean(robust.bent))
    if dof <= 0 or mean <= 0:
        return math.nan
    n = len(u)
    correction = 1 + (n - dof) / n * float(np.var(robust.bent)) / mean**2
    return correction**2 * float(psi @ psi) / dof / mean**2


def _normal_variance(np: Any, loss: str) -> float:
    """Return the asymptotic variance for normal residuals of variance 1: expectations, by quadrature."""
    u = np.linspace(-12, 12, 4801)
    density = np.exp(-u * u / 2) / np.sum(np.exp(-u * u / 2))
    robust: Robust = LOSSES[loss](np, u)
    return float(density @ (u * robust.weight) ** 2) / float(density @ robust.bent) ** 2


def _covariance(np: Any, slopes: Any, size: Any, names: Sequence[str]) -> tuple[Any, list[dict[str, float]], set[str]]:
    """(JᵀJ)⁻¹ by the singular values of J with scaled columns; the directions in which it vanishes, and who is in them.

    `size` is by what the columns were divided.
    """
    count = len(names)
    if not count:
        return np.zeros((0, 0)), [], set()
    _, s, vt = np.linalg.svd(slopes, full_matrices=False)
    good = s > NULL * s[0] if s.size and s[0] > 0 else np.zeros(len(s), dtype=bool)
    inverse = (vt[good].T / s[good] ** 2) @ vt[good]
    null: list[dict[str, float]] = []
    unknown: set[str] = set()
    for direction in vt[~good]:
        part = {name: float(x) for name, x in zip(names, direction, strict=True) if abs(x) > NAMED}
        null.append({name: x / float(size[names.index(name)]) for name, x in part.items()})
        unknown |= {name for name, x in zip(names, direction, strict=True) if abs(x) > 1e-6}
    return inverse, null, unknown
