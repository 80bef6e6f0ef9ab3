"""A formula fitted to data: its parameters by least squares, how well they are known, and what the data do not say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ..batched.columns_io import listed
from ..errors import Diagnostic, ExpressionError, needed, quoted
from ..graphs.second_order import hessian_in
from ..graphs.value import Value
from ..graphs.value_and_gradient import value_and_gradient
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown
from ..inputs.bounds import Range
from ..inputs.parse_point import is_name
from ..inputs.problem import Point, as_number, check_single, parse
from ..language.builder import Program
from ..numbers.budget import READ_NUMBER, ROW_GRADIENT, ROW_HESSIAN, allowed, charge, collect, current
from ..numerics.linear_algebra import identity, solve_linear
from ..numerics.newton import polished, with_errors
from ..numerics.student_t import check_level, coverage_factor
from ..record import Record
from .least_squares import (
    CONVERGED,
    LOSSES,
    NULL,
    Ended,
    Model,
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
"""So many rows of data count in what a fit may take as the formula typed once more each."""

CHARACTERS_A_ROW = 0.2
"""As how much of a formula each further row counts: some 200 evaluations of all rows."""

PASSES = 6
"""How often the derivatives of all rows are computed anew until an estimate has its digits, about."""

SQUARED = 1e140
"""How large the data may be, or its inverse how small, for the squares of their residuals to be doubles."""

FLIPPED = 10
"""So many parameters at most are looked at for signs that leave the model as it is."""

CURVE = 241
"""At how many points the fitted curve is computed to be drawn."""


class Parameter(Record):
    """What the data say of a parameter."""

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


class _Posed(NamedTuple):
    program: Program
    response: str
    predictors: list[str]
    free: list[str]
    held: dict[str, float]
    starts: dict[str, float]
    given: dict[str, float | str]
    bounds: dict[str, Range]
    warnings: list[Diagnostic]


def columns_needed(
    text: str, columns: Sequence[str], given: Sequence[str], response: str | None, also: Sequence[str] = ()
) -> list[str]:
    """Which columns of the data the fit of a formula needs. Raises `ExpressionError` for one that is not there."""
    program, answer = _read(text, columns, given, response)
    needed = [name for name in program.variables if name in columns]
    unused = {name.casefold(): name for name in columns if name not in (*needed, answer, *also)}
    for name, variable in program.variables.items():
        if name not in columns and name not in given and name.casefold() in unused:
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


def _read(text: str, columns: Sequence[str], given: Sequence[str], response: str | None) -> tuple[Program, str]:
    """The program and the name of the column that it explains."""
    names = [column for column in columns if is_name(column)]
    # what the formula binds last is the response, and not a value that it uses
    head, equals, _ = text.rpartition(";")[2].partition("=")
    bound = head.strip().rpartition("\n")[2].strip() if equals else ""
    program = parse(text, [name for name in (*names, *given) if name != bound])
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
                "usage", "which column the formula explains is not said",
                hint=f"write it as `y = …`, or name it: `--response y`; the columns are {listed(columns)}",
            )  # fmt: skip
        response = last.name
    if response not in columns:
        raise _no_column(response, columns)
    if response in program.variables:
        raise ExpressionError(
            "usage", f"`{response}` is the response, and the formula uses it", program.variables[response].span,
            "a formula explains a column by others",
        )  # fmt: skip
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
        posed = _pose(text, columns, point, response, fixed or {}, bounds or {})
        data = {name: np.array(columns[name], dtype=float) for name in posed.predictors}
        answers = np.array(columns[posed.response], dtype=float)
        root = _weights(columns, sigma, weights, len(answers), np)
        count = int(np.count_nonzero(root))
        if count < len(posed.free) or not posed.free:
            what = f"{len(posed.free)} parameter{'' if len(posed.free) == 1 else 's'}"
            raise ExpressionError(
                "usage", f"{count} row{'' if count == 1 else 's'} of data cannot tell {what}" if posed.free
                else "there is nothing to fit: no name is a parameter",
                hint="give more rows, or hold some parameters: `--fix b=1`" if posed.free
                else "a name that is no column of the data is a parameter",
            )  # fmt: skip
        largest = float(np.max(np.abs(answers * root)))
        if largest and not 1 / SQUARED < largest < SQUARED:
            size = "large" if largest > 1 else "small"
            raise ExpressionError(
                "limit", f"`{posed.response}` is too {size} for its squares in doubles: it is up to {largest:.3g}",
                hint="measure it, and its uncertainty, in another unit: write multiples of that to the data",
            )  # fmt: skip
        limits = None
        if posed.bounds:
            ends = [posed.bounds.get(name, Range(None, None)) for name in posed.free]
            limits = (
                np.array([-np.inf if low is None else low for low, _ in ends]),
                np.array([np.inf if high is None else high for _, high in ends]),
            )
        model = Model(posed.program, data, posed.free, posed.held, answers, root, stop, limits)
        # a parameter that has bounds is none that a linear solve gives
        linear = [name for name in linear_parameters(posed.program, posed.free) if name not in posed.bounds]
        lacking = [name for name in posed.free if name not in posed.starts and name not in linear]
        start = np.array([posed.starts.get(name, 1.0) for name in posed.free])
        if lacking:
            error = None if linear else model.check(start)
            if error is not None:
                raise error
            first = posed.program.variables[lacking[0]]
            used = quoted(columns)
            raise ExpressionError(
                "missing_value", f"`{lacking[0]}` has no start, and the model is not linear in it", first.span,
                f"give one: `--at {','.join(f'{name}=…' for name in lacking)}`; the columns that are used are {used}",
            )  # fmt: skip
        interrupted = False
        try:
            # a step may lead to where numbers are too large to be squared: it is not taken
            with np.errstate(over="ignore", invalid="ignore"):
                ended = _strategies(model, posed, start, linear, loss, sigma is not None)
                ended = ended._replace(values=_on_the_side(model, posed, ended.values, linear))
        except Stopped:
            model.stop = lambda: False
            interrupted, ended = True, Ended(start, math.nan, math.inf, "interrupted")
        return _answer(
            text, posed, model, ended, linear, interrupted, level or LEVEL, sigma, weights, columns, arithmetic
        )


def _pose(
    text: str, columns: Mapping[str, Sequence[float]], point: Point | None, response: str | None,
    fixed: Mapping[str, float | str], bounds: Mapping[str, Range],
) -> _Posed:  # fmt: skip
    given: dict[str, float | str] = dict(point or {})
    program, answer = _read(text, list(columns), [*given, *fixed], response)
    warnings: list[Diagnostic] = []
    predictors = [name for name in program.variables if name in columns]
    parameters = [name for name in program.variables if name not in columns]
    for name in [*given, *fixed]:
        if name in predictors:
            raise ExpressionError(
                "point", f"`{name}` is given a value, and is a column of the data", hint="leave one of them out"
            )
        if name not in parameters:
            warnings.append(Diagnostic("unused", f"the formula has no parameter `{name}`", None, "leave it out"))
    for name in bounds:
        if name not in parameters or name in fixed:
            told = quoted([each for each in parameters if each not in fixed])
            raise ExpressionError("usage", f"`{name}` has bounds and is not fitted", hint=f"fitted are {told}")
    both = [name for name in fixed if name in given and as_number(given[name], name) != as_number(fixed[name], name)]
    if both:
        raise ExpressionError("point", f"`{both[0]}` has a start and is held at another value", hint="leave one out")
    held = {name: as_number(value, name) for name, value in fixed.items() if name in parameters}
    free = [name for name in parameters if name not in held]
    if len(free) > MOST_PARAMETERS:
        raise ExpressionError("limit", f"{len(free)} parameters are too many", hint=f"fit up to {MOST_PARAMETERS}")
    starts = {name: as_number(value, name) for name, value in given.items() if name in free}
    for name, (low, high) in bounds.items():
        x = starts.get(name)
        if x is None:
            ends = [end for end in (low, high) if end is not None]
            starts[name] = sum(ends) / len(ends) if ends else 1.0
        else:
            bounds[name].check_start(name, x)
    return _Posed(program, answer, predictors, free, held, starts, {**given, **fixed}, dict(bounds), warnings)


def _weights(
    columns: Mapping[str, Sequence[float]], sigma: str | float | None, weights: str | None, rows: int, np: Any
) -> Any:
    """The root of the weight of each row. Raises a usage error."""
    if sigma is None and weights is None:
        return np.ones(rows)
    name = sigma if sigma is not None else weights
    if isinstance(name, str) and name not in columns:
        raise _no_column(name, list(columns))
    given = np.array(columns[name], dtype=float) if isinstance(name, str) else np.full(rows, float(name or 0))
    told = f"column `{name}`" if isinstance(name, str) else "`--sigma`"
    if sigma is not None:
        bad = np.flatnonzero(~(given > 0))
        if bad.size:
            where = f" in row {int(bad[0]) + 1}" if isinstance(name, str) else ""
            raise ExpressionError(
                "point", f"{told} has the uncertainty {given[bad[0]]:g}{where}", hint="an uncertainty is above 0"
            )
        return 1 / given
    bad = np.flatnonzero(~(given >= 0))
    if bad.size:
        message = f"{told} has the weight {given[bad[0]]:g} in row {int(bad[0]) + 1}"
        raise ExpressionError("point", message, hint="a weight is 0 or above")
    if not np.any(given):
        raise ExpressionError("point", f"all weights in {told} are 0", hint="a row with weight 0 is left out")
    return np.sqrt(given)


def _strategies(
    model: Model, posed: _Posed, start: Any, linear: Sequence[str], loss: str, known: bool
) -> Ended:  # fmt: skip
    """The best that the strategies come to. Raises what is wrong with the start."""
    np = model.np
    places = [posed.free.index(name) for name in linear]
    start = np.clip(start, *model.limits)
    error = model.check(start)
    if error is not None and not places:
        raise error
    if error is None and places and any(name not in posed.starts for name in linear):
        start = fitted_linearly(model, start, places)
    best = _least(model, start, places)
    if loss == "linear":
        return best
    # a known uncertainty is the scale; otherwise it is that of most residuals
    left = np.abs(model.residuals(best.values))[model.weights > 0]
    model.loss, model.scale = loss, 1.0 if known else 1.4826 * float(np.median(left)) or 1.0
    # outliers may have led the squares to another minimum than the start is near to
    starts = [best.values] if error is not None else [best.values, start]
    found = at_kink(model, min((searched(model, values) for values in starts), key=lambda each: each.cost), ())
    return found._replace(message=f"{found.message}, {loss} loss of residuals beyond {model.scale:.3g}")


def _least(model: Model, start: Any, places: Sequence[int]) -> Ended:
    """Where the sum of squares is least, as far as the strategies find it."""
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
        found = projected(model, there, places) if places else searched(model, there)
        if found.cost < best.cost * (1 - 1e-9):
            again = 0
            found = at_kink(model, found, places)
            ill = "had come to a higher minimum" if best.moved <= CONVERGED else "had ended badly"
            best = found._replace(message=f"{found.message} from another start, after {first} {ill}")
        elif best.moved <= CONVERGED and found.cost <= best.cost * (1 + 1e-6):
            again += 1
    return best


def _settled(model: Model, ended: Ended) -> bool:
    """Whether a strategy has come to a place where the sum of squares is least, as far as its derivatives say.

    With kinks there are more such places, as a rule.
    """
    enough = 1 - 1e-14 if model.kinks else 0.5
    return ended.cost < 1e200 and ended.moved <= CONVERGED and _r_squared(model, ended.values) > enough


def _on_the_side(model: Model, posed: _Posed, values: Any, linear: Sequence[str]) -> Any:
    """The values with the signs of their starts, as far as other signs leave every row and the bounds as they are."""
    np = model.np
    fitted = model(values)[0]
    low, high = model.limits
    starts = [0.0 if name in linear else posed.starts.get(name, 0.0) for name in posed.free]
    loose = [k for k, x in enumerate(starts) if x * values[k] < 0 or (posed.free[k] in linear and values[k])]
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
def _answer(
    text: str, posed: _Posed, model: Model, ended: Ended, linear: Sequence[str], interrupted: bool, level: float,
    sigma: str | float | None, weights: str | None, columns: Mapping[str, Sequence[float]], arithmetic: Arithmetic,
) -> Fit:  # fmt: skip
    np = model.np
    warnings = list(posed.warnings)
    values, loss, scale = ended.values, model.loss, model.scale
    fitted, _, errors = model(values)
    if errors:
        row = min(errors)
        fault = errors[row]
        raise ExpressionError(fault.kind, f"row {row + 1} of the data: {fault}", fault.span, fault.hint)
    left = model.residuals(values)
    rows = model.jacobian(values)
    at_bound = {name for name, x in zip(posed.free, values, strict=True) if x in posed.bounds.get(name, ())}
    moving = [k for k, name in enumerate(posed.free) if name not in at_bound]
    used = int(np.count_nonzero(model.weights))
    dof = used - len(moving)
    weighs = model.weights > 0
    robust = model.robust(values)
    # of a residual that the loss takes for an outlier the square counts less, as in the sum that is least
    rss = float(left @ (left * robust.weight))
    # the covariance is that of the parameters in units in which the columns of the Jacobian have the length 1
    size = column_sizes(np, rows[:, moving])
    slopes = rows[:, moving] / size
    covariance, null, unknown = _covariance(np, slopes, size, [posed.free[k] for k in moving])
    dof += len(null)
    noise = variance = 1.0 if sigma is not None else rss / dof if dof > 0 else math.nan
    if loss != "linear":
        u = left[weighs] / scale
        variance = scale**2 * (_normal_variance(np, loss) if sigma is not None else _variance(np, loss, u, dof))
    covariance = covariance * variance
    named = [posed.free[k] for k in moving]
    spread = {
        name: math.sqrt(max(0.0, covariance[k, k])) / float(size[k])
        for k, name in enumerate(named) if name not in unknown
    }  # fmt: skip
    if not (dof > 0 or sigma is not None):
        spread = {}
    factor = coverage_factor(level, math.inf if sigma is not None else dof) if spread else 0.0
    parameters: dict[str, Parameter] = {}
    for name in [name for name in posed.program.variables if name in posed.free or name in posed.held]:
        if name in posed.held:
            parameters[name] = Parameter(posed.held[name], None, None, False, "fixed")
            continue
        x = float(values[posed.free.index(name)]) + 0.0
        error = spread.get(name)
        held = "bound" if name in at_bound else "undetermined" if name in unknown else ""
        interval = None if error is None else (x - factor * error, x + factor * error)
        parameters[name] = Parameter(x, error, interval, name in linear, held)
    known = [name for name in named if name in spread]
    place = {name: k for k, name in enumerate(named)}
    length = {name: spread[name] * float(size[place[name]]) for name in known}
    correlation = {
        a: {b: _quotient(float(covariance[place[a], place[b]]), length[a] * length[b], a == b) for b in known}
        for a in known
    }
    standardised, band = _rows_told(np, slopes, left, covariance, noise / (variance or 1.0), noise, model, factor)
    reason, message = _told(null, ended.moved, interrupted, ended.message, at_bound)
    if null:
        for direction in null:
            together = " and ".join(f"`{name}`" for name in direction)
            first = next(iter(direction))
            message, hint = f"the data do not tell {together} apart", f"hold one of them: `--fix {first}=…`"
            if len(direction) == 1:
                message, hint = (
                    f"the data say nothing of {together} here",
                    f"start elsewhere, or hold it: `--fix {first}=…`",
                )
            warnings.append(Diagnostic("undetermined", message, None, hint))
    deviation = math.sqrt(rss / dof) if dof > 0 else None
    found = Fit(
        text, arithmetic, posed.response, parameters, correlation, null, used, dof, rss, deviation,
        _r_squared(model, values), level, loss, sigma is not None, reason == "converged", reason, message,
        ended.message, model.evaluations, {name: float(each.estimate) for name, each in parameters.items()},
        {name: list(map(float, columns[name])) for name in [*posed.predictors, posed.response]},
        [float(x) + 0.0 for x in fitted],
        [float(x) for x in model.response - fitted], standardised, band,
        _curve(model, posed, values, moving, size, covariance, factor), posed.predictors,
        posed.program.constants,
        tuple(warnings),
    )  # fmt: skip
    if arithmetic == DOUBLE or reason != "converged":
        return found
    if loss != "linear" or at_bound:
        raise ExpressionError(
            "usage", f"`--{arithmetic.name}` is for plain least squares inside the bounds", hint="leave it out"
        )
    return _sharpened(found, posed, model, values, columns, sigma, weights, arithmetic, factor)


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
    """The same where residuals are known to be normal with the variance 1: the expectations, by a sum over them."""
    u = np.linspace(-12, 12, 4801)
    density = np.exp(-u * u / 2) / np.sum(np.exp(-u * u / 2))
    robust: Robust = LOSSES[loss](np, u)
    return float(density @ (u * robust.weight) ** 2) / float(density @ robust.bent) ** 2


def _covariance(
    np: Any, slopes: Any, size: Any, names: Sequence[str]
) -> tuple[Any, list[dict[str, float]], set[str]]:  # fmt: skip
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


def _rows_told(
    np: Any, rows: Any, left: Any, covariance: Any, share: float, noise: float, model: Model, factor: float
) -> tuple[list[float | None], list[float | None]]:
    """For each row the standardised residual, and half the width of the confidence band of the curve.

    `noise` is the variance of a residual, and `share` of the covariance is what that alone makes.
    """
    of_mean = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    with np.errstate(all="ignore"):
        own = np.sqrt(np.maximum(noise - share * of_mean, 0.0))
        standard = np.where((own > 1e-12 * math.sqrt(noise or 1.0)) & (model.weights > 0), left / own, np.nan)
        band = factor * np.sqrt(of_mean) / np.where(model.weights > 0, model.weights, np.nan)
    return (
        [float(x) if math.isfinite(x) else None for x in standard],
        [float(x) if math.isfinite(x) and factor else None for x in band],
    )


def _curve(
    model: Model, posed: _Posed, values: Any, moving: Sequence[int], size: Any, covariance: Any, factor: float
) -> list[tuple[float, float, float]]:
    """The curve over the stretch of its one predictor, where it has values."""
    np = model.np
    if len(posed.predictors) != 1:
        return []
    (name,) = posed.predictors
    low, high = float(np.min(model.columns[name])), float(np.max(model.columns[name]))
    xs = np.linspace(low, high, CURVE)
    over = Model(model.program, {name: xs}, model.free, model.held, np.zeros(CURVE), np.ones(CURVE), model.stop)
    heights, slopes, _ = over(values)
    rows = slopes[moving].T / size
    wide = factor * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, covariance, rows), 0.0))
    found = zip(xs, heights, wide, strict=True)
    return [(float(x), float(y), float(w)) for x, y, w in found if math.isfinite(y) and math.isfinite(w)]


def _told(null: Sequence[object], moved: float, interrupted: bool, told: str, at_bound: set[str]) -> tuple[str, str]:
    if interrupted:
        return "interrupted", "interrupted: these are the starts"
    if null:
        return "undetermined", f"{told}; some parameters are not determined by the data"
    if not moved <= CONVERGED:
        step = f"another step would move a parameter by {moved:.2g} standard errors"
        return "stuck", f"{told}; not converged: {step}; start elsewhere (`--at`), or hold a parameter (`--fix`)"
    edge = f"; at a bound: {', '.join(sorted(at_bound))}" if at_bound else ""
    return "converged", f"{told}; converged{edge}"


# ---- more digits ----------------------------------------------------------------------------------------------------
def _sharpened(
    found: Fit, posed: _Posed, model: Model, values: Any, columns: Mapping[str, Sequence[float]],
    sigma: str | float | None, weights: str | None, arithmetic: Arithmetic, factor: float,
) -> Fit:  # fmt: skip
    """The fit with its estimates in another arithmetic: where the derivative of the sum of squares is 0.

    The data are read as the decimals that were typed.
    """
    names = posed.free
    rows = [k for k in range(model.rows) if model.weights[k] > 0]
    start = [float(x) for x in values]

    def work(m: Any, held: dict[str, Any]) -> dict[str, Any]:
        from ..numbers.running_digits import plain

        equations = _Normal(m, posed, columns, rows, sigma, weights, held)
        if m.name == "certified":
            solution = equations.enclosed(start)
        else:
            # Newton's steps correct themselves: only what they come to has an error.
            fixed = {name: plain(x) for name, x in held.items()}
            near = _Normal(m.base, posed, columns, rows, sigma, weights, fixed).solved(start)
            solution = with_errors(m, lambda at: (equations.slopes(at), equations.matrix(at)), near)
        total, inverse = equations.summary(solution)
        count = m.number(found.dof)
        result = {"values": dict(zip(names, solution, strict=True)), "rss": total}
        # as many rows as parameters say nothing of how far they are off, unless that is known
        if sigma is not None or found.dof:
            variance = m.number(1) if sigma is not None else total / count
            errors = [m.sqrt(variance * inverse[k][k]) for k in range(len(names))]
            result["errors"] = dict(zip(names, errors, strict=True))
        if found.dof:
            result["deviation"] = m.sqrt(total / count)
        return result

    held = {name: posed.given[name] for name in posed.held}
    numbers = arithmetic.run(held, work)
    parameters = dict(found.parameters)
    for name in names:
        x, error = numbers["values"][name], numbers.get("errors", {}).get(name)
        middle, spread = float(x), float(error or 0)
        interval = None if error is None else (middle - factor * spread, middle + factor * spread)
        parameters[name] = parameters[name]._replace(estimate=x, error=error, interval=interval)
    return found._replace(parameters=parameters, rss=numbers["rss"], deviation=numbers.get("deviation"))


class _Normal:
    """The normal equations Σ w²·(f − y)·∂f/∂b = 0 in a number type."""

    def __init__(
        self, m: Any, posed: _Posed, columns: Mapping[str, Sequence[float]], rows: Sequence[int],
        sigma: str | float | None, weights: str | None, held: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.m, self.names = m, posed.free
        self.output: Value = posed.program.outputs[0]
        self.rows = rows
        reader = Arithmetic(m.name if m.name in ("certified", "precision") else "precision")

        def read(name: str, k: int) -> Any:
            charge(READ_NUMBER)
            return reader._value(m, name, columns[name][k])

        def weight(k: int) -> Any:
            if weights is not None:
                return read(weights, k)
            if sigma is None:
                return m.number(1)
            charge(READ_NUMBER)
            u = read(sigma, k) if isinstance(sigma, str) else reader._value(m, "sigma", repr(sigma))
            return m.number(1) / (u * u)

        def read_row(k: int) -> tuple[dict[str, Any], Any, Any]:
            return {**held, **{name: read(name, k) for name in posed.predictors}}, read(posed.response, k), weight(k)

        self._read_row = read_row
        self._data: list[tuple[dict[str, Any], Any, Any]] = []

    def data(self, steps: float) -> Iterator[tuple[dict[str, Any], Any, Any]]:
        """The predictors, the response and the weight of each row, of which each takes so many steps and its sweep.

        The first one tells what all take, so that what cannot be done is not begun. Raises `BudgetExceeded`.
        """
        work = current()
        before = work.left
        for k in range(len(self.rows)):
            if k == 1 and (needed := (before - work.left) * len(self.rows)) > before:
                raise work.exhausted(work.most - before + PASSES * needed)
            if k == len(self._data):
                self._data.append(self._read_row(self.rows[k]))
            charge(steps)
            yield self._data[k]
            collect()

    def slopes(self, values: Sequence[Any]) -> list[Any]:
        """The left sides at some values of the parameters."""
        zero = self.m.number(0)
        total = [zero] * len(self.names)
        point = dict(zip(self.names, values, strict=True))
        for row, y, weight in self.data(ROW_GRADIENT):
            swept = value_and_gradient(self.m, self.output, {**row, **point}, self.names)
            left = (swept.value - y) * weight
            total = [a + left * swept.gradient[name] for a, name in zip(total, self.names, strict=True)]
        return total

    def matrix(self, values: Sequence[Any]) -> list[list[Any]]:
        """The derivatives of the left sides."""
        zero = self.m.number(0)
        n = len(self.names)
        total = [[zero] * n for _ in range(n)]
        point = dict(zip(self.names, values, strict=True))
        for row, y, weight in self.data(ROW_HESSIAN):
            here = hessian_in(self.m, self.output, {**row, **point}, self.names)
            left = here.value - y
            for i in range(n):
                for j in range(i + 1):
                    total[i][j] = total[i][j] + weight * (
                        here.gradient[i] * here.gradient[j] + left * here.hessian[i][j]
                    )
        for i in range(n):
            for j in range(i):
                total[j][i] = total[i][j]
        return total

    def summary(self, values: Sequence[Any]) -> tuple[Any, list[list[Any]]]:
        """The sum of squares, and the inverse of JᵀJ."""
        m, n = self.m, len(self.names)
        zero = total = m.number(0)
        square = [[zero] * n for _ in range(n)]
        point = dict(zip(self.names, values, strict=True))
        for row, y, weight in self.data(ROW_GRADIENT):
            swept = value_and_gradient(m, self.output, {**row, **point}, self.names)
            left = swept.value - y
            total = total + weight * left * left
            g = [swept.gradient[name] for name in self.names]
            for i in range(n):
                for j in range(n):
                    square[i][j] = square[i][j] + weight * g[i] * g[j]
        return total, solve_linear(m, square, [[m.number(x) for x in row] for row in identity(n)])

    def solved(self, start: Sequence[float]) -> list[Any]:
        """The solution near a start."""
        # one matrix serves all steps: each gains the digits to which it is known
        matrix = self.matrix([self.m.number(x) for x in start])
        return polished(self.m, lambda values: (self.slopes(values), matrix), start)

    def enclosed(self, start: Sequence[float]) -> list[Any]:
        """Balls in which the solution near a start is proven to be, and alone."""
        from ..equations.enclosures import Operator, boxes
        from ..numbers.ball import Ball
        from ..numbers.base import undecided

        normal = self

        class Stationary(Operator):
            def __init__(self) -> None:
                super().__init__((), normal.names, {}, boxes(normal.m.bits))
                normal.m = self.m
                self.known: list[list[Any]] = []

            def at(self, box: Any) -> tuple[Any, Any]:
                balls = [Ball(a) for a in box]
                exact = all(a.is_exact() for a in box)
                # at a point the matrix of the box around it, or of the point before it, does as well
                if not (exact and self.known):
                    self.known = [[self.m.number(x).a for x in row] for row in normal.matrix(balls)]
                return [self.m.number(x).a for x in normal.slopes(balls)], self.known

        enclosed = Stationary().enclosed(start, 4)
        if enclosed is None:
            raise undecided("whether there is exactly one solution of the normal equations here cannot be told")
        return [Ball(a) for a in enclosed[1]]
