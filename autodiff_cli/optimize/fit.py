"""A formula fitted to data: its parameters by least squares, how well they are known, and what the data do not say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batched.columns_io import listed
from ..errors import Diagnostic, ExpressionError, counted, needed, point_error, quoted, usage_error
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown
from ..inputs.bounds import Range
from ..inputs.parse_point import is_name, split
from ..inputs.problem import PLAIN, Point, Problem, Quantity, as_number, check_single, parse
from ..language.builder import Program
from ..language.tokens import has_unit_literals
from ..numbers.budget import allowed
from ..numerics.student_t import check_level, coverage_factor
from ..record import Record
from ..table.primitive import FUNCTIONS
from .goodness import Goodness, goodness
from .least_squares import (
    CONVERGED,
    FAR,
    LOSSES,
    NULL,
    Ended,
    ErrorsInVariables,
    Model,
    Observations,
    ProgramOverRows,
    Robust,
    Spread,
    Stopped,
    at_kink,
    column_sizes,
    fitted_linearly,
    is_determined,
    linear_parameters,
    percentage,
    polished,
    searched,
)
from .restarts import least, r_squared
from .symmetries import nearest_image

if TYPE_CHECKING:
    from ..inputs.quantities import Units
    from .fit_units import FitUnits

Sigma = float | str | Mapping[str, Spread]
"""Uncertainties as they are typed: that of the response, or several by name."""

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_CALL = re.compile(r"(\w+)\s*\([\w\s,]*\)")

LEVEL = 0.95
ROUNDED_R_SQUARED = 1e-9
"""R² of a curve that is the mean of the response may be below 0 by so much, by rounding."""

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

CURVE = 241
"""At how many points the fitted curve is computed to be drawn."""

NO_GOODNESS = Goodness(
    chi_squared=None, reduced=None, p_value=None, log_likelihood=None, aic=None, bic=None, runs=None, normality=None
)


class Parameter(Record):
    """The estimate of a parameter."""

    estimate: Shown
    error: Shown | None
    """The standard error; None where there is none."""
    interval: tuple[float, float] | None
    linear: bool
    held: str
    """Why it has no standard error: `fixed`, `bound`, `undetermined`; empty where it has one."""


class Prediction(Record):
    """The fitted curve at a point of the predictors."""

    point: dict[str, float]
    value: float | None
    """None where the formula has none."""
    confidence: tuple[float, float] | None
    """The ends of the confidence interval of the curve."""
    prediction: tuple[float, float] | None
    """The ends of the interval for a new row; None where its uncertainty is not known."""


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
    """The residual standard deviation, where the uncertainties of the response were not given."""
    goodness: Goodness
    r_squared: float | None
    level: float
    loss: str
    absolute_sigma: bool
    """Whether the standard errors are those of the given uncertainties, whatever the scatter of the residuals."""
    converged: bool
    reason: str
    """`converged`; `undetermined`, `stuck`, `interrupted`."""
    message: str
    method: str
    evaluations: int
    point: dict[str, float]
    """The estimates as a point."""
    columns: dict[str, list[float]]
    sigma: dict[str, list[float]]
    """The standard uncertainties in each row, by column: of the response, and of predictors that are uncertain."""
    adjusted: dict[str, list[float]]
    """The uncertain predictors as the fit corrects them, by column."""
    fitted: list[float]
    residuals: list[float]
    standardised: list[float | None]
    """The residuals divided by their own standard deviations, leverage included."""
    band: list[float | None]
    """Half the width of the confidence band of the curve at each row."""
    curve: list[tuple[float, float, float]]
    """Of one predictor: points of the fitted curve, with half the width of its confidence band."""
    predictors: list[str]
    predictions: list[Prediction]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None
    """The units of its numbers, under `data` those of the columns; None where they have none."""

    def headed(self, name: str, what: str = "") -> str:
        """A column, and `what` it is, with its unit as a heading has it: `U [V]`."""
        unit = "" if self.units is None else str(self.units["data"][name])
        return f"{name}{what} [{unit}]" if unit else f"{name}{what}"


def columns_needed(
    text: str,
    columns: Sequence[str],
    known_names: Sequence[str],
    response: str | None,
    sigma: Sigma | None = None,
    weights: str | None = None,
) -> list[str]:
    """Which columns of the data the fit of a formula needs. Raises `ExpressionError` for one that is not there."""
    program, answer, transform = _read(text, columns, known_names, response)
    spreads = [spread for spread in parse_sigma(sigma, answer).values() if isinstance(spread, str)]
    also = [name for name in spreads if name in columns or not (percentage(name) is not None or _has_unit(name))]
    also += [] if weights is None else [weights]
    explained = [answer] if transform is None else [*transform.variables]
    needed = [name for name in program.variables if name in columns]
    unused = {name.casefold(): name for name in columns if name not in (*needed, *explained, *also)}
    for name, variable in program.variables.items():
        if name not in columns and name not in known_names and name.casefold() in unused:
            meant = unused[name.casefold()]
            raise ExpressionError(
                "missing_value",
                f"`{name}` is no column of the data and has no start; there is the column `{meant}`",
                variable.span,
                f'write `{meant}`, or `--columns "{name}={meant}"`; for a parameter give a start: `--at {name}=…`',
            )
    free = [name for name in program.variables if name not in needed and name not in known_names]
    if not needed and unused and free and len(program.variables) > 1:
        raise ExpressionError(
            "missing_value",
            f"the formula uses no column of the data to explain `{answer}`: `{free[-1]}` is none",
            program.variables[free[-1]].span,
            f"its columns are {listed(columns)}; for a parameter give a start: `--at {free[-1]}=…`",
        )
    for name in also:
        if name not in columns:
            raise _no_column(name, columns)
    return list(dict.fromkeys([*needed, *explained, *also]))


def parse_sigma(sigma: Sigma | None, response: str) -> dict[str, Spread]:
    """Return standard uncertainties by name from what `--sigma` or `sigma=` holds: `0.1`, `2%`, `s`, `y=s,x=0.1`.

    Raises `ExpressionError` (`point`) for what is none.
    """
    if sigma is None:
        return {}
    if isinstance(sigma, Mapping):
        return dict(sigma)
    if not isinstance(sigma, str):
        return {response: sigma}
    spreads: dict[str, Spread] = {}
    for part in split(sigma) if "=" in sigma else [f"={sigma}"]:
        name, equals, spread = (piece.strip() for piece in part.rpartition("="))
        if not equals or not spread or (name in spreads):
            what = f"`{part.strip()}` gives no uncertainty" if part.strip() else "an uncertainty is missing at a comma"
            message = f"`{name}` is given twice" if name in spreads else what
            raise point_error(message, 'write `--sigma 0.1`, `--sigma 2%`, `--sigma s`, or `--sigma "y=s,x=0.1"`')
        try:
            spreads[name or response] = float(spread)
        except ValueError:
            spreads[name or response] = spread
    return spreads


def _has_unit(spread: str) -> bool:
    """Whether an uncertainty is a number with a unit."""
    if not spread[:1].isdigit() and not spread.startswith("."):
        return False
    from ..inputs.quantities import split_quantity  # only units need it

    return split_quantity(spread) is not None


def _no_column(name: str, columns: Sequence[str]) -> ExpressionError:
    return ExpressionError("usage", f"the data has no column `{name}`", hint=f"its columns are {listed(columns)}")


class Statement(NamedTuple):
    """The last statement of a program, `LEFT = RIGHT`."""

    left: str
    program: str
    """The program with blanks for the left side, so that places in it stay what they are."""


def last_statement(text: str) -> Statement | None:
    """The last statement of a program where it has two sides; None where it has one."""
    begin = max(text.rstrip().rstrip(";").rfind(mark) for mark in ";\n") + 1
    sign = _EQUALS.search(text, begin)
    if sign is None:
        return None
    return Statement(text[begin : sign.start()].strip(), text[:begin] + " " * (sign.end() - begin) + text[sign.end() :])


def _is_formula(left: str) -> bool:
    """Whether the left side of a statement is a formula of the response: neither a name nor a new function."""
    function = _CALL.fullmatch(left)
    return bool(left) and not is_name(left) and left[-1] not in "+-*/" and (not function or function[1] in FUNCTIONS)


def _read(
    text: str, columns: Sequence[str], known_names: Sequence[str], response: str | None
) -> tuple[Program, str, Program | None]:
    """The program, the name of what it explains, and where that is a formula of columns, this formula."""
    names = [column for column in columns if is_name(column)]
    last = last_statement(text)
    if response is None and last is not None and _is_formula(last.left):
        return _read_transformed(last, names, known_names)
    # what the formula binds last is the response, and not a value that it uses
    bound = last.left if last is not None else ""
    program = parse(text, [name for name in (*names, *known_names) if name != bound], units=True)
    check_single(program)
    if response is None:
        binding = program.bindings[-1] if program.bindings else None
        if binding is None or binding.value is not program.outputs[0] or binding.name not in columns:
            if binding is not None and binding.value is program.outputs[0]:
                meant = next((column for column in columns if column.split()[:1] == [binding.name]), None)
                if meant is None:
                    raise _no_column(binding.name, columns)
                hint = f'call it so: `--columns "{binding.name}={meant}"`'
                raise ExpressionError("usage", f"there is no column `{binding.name}`", hint=hint)
            raise ExpressionError(
                "usage",
                "which column the formula explains is not said",
                hint=f"write it as `y = …`, or name it: `--response y`; the columns are {listed(columns)}",
            )
        response = binding.name
    if response not in columns:
        raise _no_column(response, columns)
    _check_unused(program, [response])
    return program, response, None


def _read_transformed(
    last: Statement, names: Sequence[str], known_names: Sequence[str]
) -> tuple[Program, str, Program]:
    """The program whose last statement is `log(U) = …`, the response as it is written, and its formula."""
    transform = parse(last.left, names, units=True)
    check_single(transform)
    for name in transform.variables:
        if name not in names:
            raise _no_column(name, names)
    if not transform.variables:
        hint = f"write columns on the left, as in `log(y) = …`; they are {listed(names)}"
        raise usage_error(f"`{last.left}` has no column that the formula could explain", hint)
    program = parse(last.program, [*names, *known_names], units=True)
    check_single(program)
    _check_unused(program, [*transform.variables])
    return program, " ".join(last.left.split()), transform


def _check_unused(program: Program, responses: Sequence[str]) -> None:
    for name in responses:
        if name in program.variables:
            raise ExpressionError(
                "usage",
                f"`{name}` is the response, and the formula uses it",
                program.variables[name].span,
                "a formula explains a column by others",
            )


def fit(
    text: str,
    columns: Mapping[str, Sequence[float]],
    point: Point | None = None,
    *,
    response: str | None = None,
    fixed: Mapping[str, float | str] | None = None,
    bounds: Mapping[str, Range] | None = None,
    sigma: Sigma | None = None,
    weights: str | None = None,
    scale_errors: bool = False,
    loss: str = "linear",
    level: float | None = None,
    predict: Mapping[str, Sequence[float]] | None = None,
    units: Sequence[str] | str | None = None,
    arithmetic: Arithmetic = DOUBLE,
    stop: Callable[[], bool] = lambda: False,
) -> Fit:
    """The parameters of the program `text` for which it is nearest to a column of the data, by least squares.

    Names that are columns are data, the others parameters; `y = …` explains the column `y`, or `response` says which.
    `point` has starts, which parameters need in which the model is not linear; `fixed` holds some. `sigma` is the
    standard uncertainty of the response, a column, a number or `2%`, or uncertainties by name, those of predictors
    included: then the distances of the rows from the curve are least. `weights` is a column that is proportional to
    1/sigma². With `scale_errors` the covariance is multiplied by χ²/ν, so that only the ratios of `sigma` matter to it.
    `predict` has columns of the predictors, for whose rows the curve and its bands are computed.
    `MeasuredColumns` have units, and so may the values of `point`, `fixed` and `bounds`; `units` asks for those of
    parameters.
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
        asked = _Asked(columns, dict(point or {}), dict(fixed or {}), dict(bounds or {}), sigma, predict or {})
        of_units, asked, notes = _with_units(text, asked, response, weights, units, arithmetic)
        problem, data = _pose(text, *asked[:-1], response, weights)
        free = problem.unknowns
        answers = np.array(data.columns[data.response], dtype=float)
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
            {name: np.array(data.columns[name], dtype=float) for name in data.predictors},
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
                ended = _strategies(model, problem, start, linear, loss, data.has_sigma)
                if uncertain := [name for name in data.predictors if name in data.sigma]:
                    model = ErrorsInVariables(model, {name: data.uncertainty(np, name) for name in uncertain})
                    ended = _with_errors(model, start, ended)
                ended = ended._replace(values=nearest_image(model, problem, ended.values, linear))
        except Stopped:
            model.stop = lambda: False
            interrupted, ended = True, Ended(start, math.nan, math.inf, "interrupted")
        inference = _Inference(model, problem, data, ended, level or LEVEL, scale_errors)
        predictions = inference.predictions(asked.predict)
        answer = _answer(text, inference, linear, interrupted, arithmetic, predictions)
        answer = answer if of_units is None else of_units.answer(answer, columns)
        return answer if not notes else answer._replace(warnings=(*answer.warnings, *notes))


class _Asked(NamedTuple):
    """What a fit is made of."""

    columns: Mapping[str, Sequence[float]]
    point: dict[str, float | str]
    fixed: dict[str, float | str]
    bounds: dict[str, Range]
    sigma: Sigma | None
    predict: Mapping[str, Sequence[float]]


def _with_units(
    text: str,
    asked: _Asked,
    response: str | None,
    weights: str | None,
    units: Sequence[str] | str | None,
    arithmetic: Arithmetic,
) -> tuple[FitUnits | None, _Asked, Sequence[Diagnostic]]:
    """The units of a fit, what it is made of in these, and notes; None where there are no units that count."""
    texts = getattr(asked.columns, "units", {})
    if any(type(value) not in PLAIN for value in (*asked.point.values(), *asked.fixed.values())):
        from ..inputs.quantities import with_quantities

        asked = asked._replace(point=with_quantities(asked.point), fixed=with_quantities(asked.fixed))
    values = [*asked.point.items(), *asked.fixed.items()]
    values += [(name, end) for name, ends in asked.bounds.items() for end in ends if end is not None]
    typed = [(name, value.unit) for name, value in values if isinstance(value, Quantity)]
    has_literals = has_unit_literals(text)
    if not (texts or typed or units or has_literals):
        return None, asked, ()
    from ..inputs.column_units import check_percentage, column_units, left_out
    from .fit_units import FitUnits

    if left_out(units):
        return None, asked, ()
    model = _read(text, list(asked.columns), [*asked.point, *asked.fixed], response)
    program, explained, transform = model
    measured = [explained] if transform is None else [*transform.variables]
    used = [*measured, *(name for name in program.variables if name in asked.columns)]
    spreads = parse_sigma(asked.sigma, _of_sigma(explained, transform))
    for name, spread in spreads.items():
        if percentage(spread) is not None:
            check_percentage(name, texts.get(name, ""))
    of_columns, notes = column_units(used, texts, bool(units or typed or has_literals))
    if not of_columns:
        return None, asked, notes
    fit_units = FitUnits(model, of_columns, asked.fixed, typed, units, arithmetic)
    columns = {
        name: fit_units.column(name, column) if name in used else column for name, column in asked.columns.items()
    }
    for name, spread in spreads.items():
        spreads[name] = fit_units.spread(name, spread, columns, texts)
    of_points = getattr(asked.predict, "units", {})
    converted = _Asked(
        columns,
        {name: fit_units.value(name, value) for name, value in asked.point.items()},
        {name: fit_units.value(name, value) for name, value in asked.fixed.items()},
        {
            name: Range(*(end if end is None else float(fit_units.value(name, end)) for end in ends))
            for name, ends in asked.bounds.items()
        },
        spreads,
        {
            name: fit_units.column(name, x, of_points.get(name, "")) if name in of_columns else x
            for name, x in asked.predict.items()
        },
    )
    return fit_units, converted, notes


def _of_sigma(response: str, transform: Program | None) -> str:
    """What an uncertainty without a name is of: of one column's formula the column, which was measured."""
    return next(iter(transform.variables)) if transform is not None and len(transform.variables) == 1 else response


def _pose(
    text: str,
    columns: Mapping[str, Sequence[float]],
    point: Point | None,
    fixed: Mapping[str, float | str],
    bounds: Mapping[str, Range],
    sigma: Sigma | None,
    response: str | None,
    weights: str | None,
) -> tuple[Problem, Observations]:
    """The model with its parameters, those to be found as unknowns, and its data. Raises `ExpressionError`."""
    typed = dict(point or {})
    program, response, transform = _read(text, list(columns), [*typed, *fixed], response)
    if transform is not None:
        columns = {**columns, response: _transformed(transform, response, columns)}
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
    spreads = parse_sigma(sigma, _of_sigma(response, transform))
    _check_spreads(spreads, columns, response, predictors, transform)
    if weights is not None and weights not in columns:
        raise _no_column(weights, list(columns))
    problem = Problem(program, typed, values, [], warnings, unknowns, {name: x.ends for name, x in bounds.items()})
    return problem, Observations(columns, response, predictors, spreads, weights, transform)


def _transformed(transform: Program, response: str, columns: Mapping[str, Sequence[float]]) -> list[float]:
    """The values of a formula of columns."""
    rows = len(next(iter(columns.values()), ()))
    values, _, errors = ProgramOverRows(transform, [])(columns, rows)
    if errors:
        row = min(errors)
        error = errors[row]
        raise ExpressionError(error.kind, f"row {row + 1} of the data: `{response}`: {error}", hint=error.hint)
    return values.tolist()  # type: ignore[no-any-return]


def _check_spreads(
    spreads: Mapping[str, Spread],
    columns: Mapping[str, Sequence[float]],
    response: str,
    predictors: Sequence[str],
    transform: Program | None,
) -> None:
    """Raise `ExpressionError` for uncertainties of what is not in the fit, or of no column."""
    measured = [] if transform is None else [*transform.variables]
    for name, spread in spreads.items():
        if name not in (response, *measured, *predictors):
            hint = f"uncertainties are those of {quoted([response, *measured, *predictors])}"
            raise usage_error(f"`{name}` has an uncertainty, and is not in this fit", hint)
        if isinstance(spread, str) and spread not in columns and percentage(spread) is None:
            if _has_unit(spread):
                message = f"the uncertainty of `{name}` has a unit, and the columns here have none"
                raise point_error(message, "give the number alone, or name units in the headings")
            raise _no_column(spread, list(columns))
    if response in spreads and (twice := [name for name in measured if name in spreads]):
        raise usage_error(f"`{response}` and `{twice[0]}` both have uncertainties", "leave one out")
    if spreads and not any(name in spreads for name in (response, *measured)):
        hint = f'give it too: `--sigma "{(measured or [response])[0]}=…,{",".join(spreads)}=…"`'
        raise usage_error(f"the uncertainty of the response `{response}` is not given", hint)


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
    best = least(model, start, places, has_sigma)
    if loss == "linear":
        return best
    # a known uncertainty is the scale; otherwise it is that of most residuals
    left = np.abs(model.residuals(best.values))[model.weights > 0]
    model.loss, model.scale = loss, 1.0 if has_sigma else 1.4826 * float(np.median(left)) or 1.0
    # outliers may have led the squares to another minimum than the start is near to
    starts = [best.values] if error is not None else [best.values, start]
    end = at_kink(model, min((searched(model, values) for values in starts), key=lambda end_point: end_point.cost), ())
    return end._replace(message=f"{end.message}, {loss} loss of residuals beyond {model.scale:.3g}")


def _with_errors(model: ErrorsInVariables, start: Any, ended: Ended) -> Ended:
    """Return the minimum of the sum of squared distances that is near to a fit without errors in the predictors.

    It is not the least one: a curve that goes up and down often enough is near to all rows.
    """

    def rank(end: Ended) -> tuple[bool, float]:
        # a curve that goes up and down without end is at no distance from any row, whatever the parameters
        return not is_determined(model, end.values), end.moved

    best = polished(model, ended.values, "Gauss-Newton")
    for values in (ended.values, start):
        if rank(best) <= (False, CONVERGED) or model.check(values) is not None:
            continue
        best = min(best, searched(model, values), key=rank)
    return at_kink(model, best._replace(message=f"orthogonal distances, {best.message}"), ())


def _has_origin(model: Model, values: Any) -> bool:
    """Whether the model is a sum of its parameters' multiples of columns, and no constant is one: as `y = b*x`."""
    np = model.np
    ones = model.weights[model.weights > 0]
    fitted, rows = model(values)[0][model.weights > 0], -model.jacobian(values)[model.weights > 0]
    if any(np.array_equal(column, column[0] / ones[0] * ones) for column in rows.T):
        return False
    if not np.allclose(rows @ values, fitted * ones, rtol=0, atol=1e-9 * float(np.max(np.abs(fitted * ones)))):
        return False
    columns = rows / column_sizes(np, rows)
    left = ones - columns @ np.linalg.lstsq(columns, ones, rcond=None)[0]
    return bool(np.linalg.norm(left) > 1e-6 * np.linalg.norm(ones))


def _spread_of_predictors(model: ErrorsInVariables) -> float:
    """Return the sum of ln(2πτ²) over all values of predictors that are uncertain, in rows that count."""
    np = model.np
    spreads = [np.asarray(tau)[(model.weights > 0) & (np.asarray(tau) > 0)] for tau in model.errors.values()]
    return sum(float(np.sum(np.log(2 * math.pi * tau**2))) for tau in spreads)


# ---- what the data say --------------------------------------------------------------------------------------------
class _Inference:
    """The inference about the parameters at the end of a search."""

    def __init__(
        self, model: Model, problem: Problem, data: Observations, ended: Ended, level: float, scaled: bool
    ) -> None:
        np, values = model.np, ended.values
        self.model, self.problem, self.data, self.ended, self.level = model, problem, data, ended, level
        if errors := model(values).errors:
            row = min(errors)
            fault = errors[row]
            raise ExpressionError(fault.kind, f"row {row + 1} of the data: {fault}", fault.span, fault.hint)
        self.fitted, self.observed_slopes = model.observed(values)
        self.values = dict(zip(problem.unknowns, map(float, values), strict=True))
        self.left = model.residuals(values)
        self.at_bound = {name for name, x in self.values.items() if x in problem.bounds.get(name, ())}
        self.estimated = [k for k, name in enumerate(problem.unknowns) if name not in self.at_bound]
        self.names = [problem.unknowns[k] for k in self.estimated]
        # of a residual that the loss takes for an outlier the square counts less, as in the sum that is least
        self.rss = float(self.left @ (self.left * model.robust(values).weight))
        # the covariance is that of the parameters in units in which the columns of the Jacobian have the length 1
        rows = model.jacobian(values)[:, self.estimated]
        self.size = column_sizes(np, rows)
        self.slopes = rows / self.size
        self.inverse, self.null, self.undetermined = _covariance(np, self.slopes, self.size, self.names)
        self.used = int(np.count_nonzero(model.weights))
        self.dof = self.used - len(self.estimated) + len(self.null)
        self.sigma_given = data.has_sigma and not scaled
        self.noise = variance = 1.0 if self.sigma_given else self.rss / self.dof if self.dof > 0 else math.nan
        if model.loss != "linear":
            u = self.left[model.weights > 0] / model.scale
            variance = _normal_variance(np, model.loss) if self.sigma_given else _variance(np, model.loss, u, self.dof)
            variance *= model.scale**2
        self.variance, self.covariance = variance, self.inverse * variance
        self.errors: dict[str, float] = {}
        if self.dof > 0 or self.sigma_given:
            roots = np.sqrt(np.maximum(0.0, np.diagonal(self.covariance))) / self.size
            self.errors = {
                name: float(x) for name, x in zip(self.names, roots, strict=True) if name not in self.undetermined
            }
        self.factor = coverage_factor(level, math.inf if self.sigma_given else self.dof) if self.errors else 0.0

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
        """Return the correlations of the parameters that have standard errors; they do not depend on the noise."""
        place = {name: self.names.index(name) for name in self.errors}
        length = {name: math.sqrt(max(0.0, float(self.inverse[k, k]))) for name, k in place.items()}
        return {
            a: {b: _quotient(float(self.inverse[k, place[b]]), length[a] * length[b], a == b) for b in place}
            for a, k in place.items()
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
            if isinstance(self.model, ErrorsInVariables):
                of_mean = self._variances(self.observed_slopes[self.estimated].T / self.size)
                weights = np.ones_like(weights)
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
        heights, slopes = model.over({name: xs}).observed(self.ended.values)
        wide = self.factor * np.sqrt(np.maximum(self._variances(slopes[self.estimated].T / self.size), 0.0))
        points = zip(xs.tolist(), heights.tolist(), wide.tolist(), strict=True)
        return [(x, y, w) for x, y, w in points if math.isfinite(y) and math.isfinite(w)]

    def predictions(self, columns: Mapping[str, Sequence[float]]) -> list[Prediction]:
        """Return the curve at the rows of columns of the predictors, with confidence and prediction intervals."""
        np, model, names = self.model.np, self.model, self.data.predictors
        if not columns:
            return []
        for name in names:
            if name not in columns:
                raise point_error(f"`--predict` has no values of `{name}`", f"predictors are {quoted(names)}")
        for name in columns:
            if name not in names:
                raise point_error(f"`{name}` is not a predictor of this fit", f"predictors are {quoted(names)}")
        places = {name: np.array(columns[name], dtype=float) for name in names}
        with np.errstate(all="ignore"):
            values, slopes = model.over(places).observed(self.ended.values)
            of_mean = np.maximum(self._variances(slopes[self.estimated].T / self.size), 0.0)
            confidence = self.factor * np.sqrt(of_mean)
            prediction = self.factor * np.sqrt(of_mean + self._variance_of_rows(values))
        has_errors = bool(self.errors) and not self.null

        def ends(value: float, half: float) -> tuple[float, float] | None:
            return (value - half, value + half) if has_errors and math.isfinite(half) else None

        return [
            Prediction(
                point={name: float(places[name][k]) for name in names},
                value=value if math.isfinite(value) else None,
                confidence=ends(value, float(confidence[k])),
                prediction=ends(value, float(prediction[k])),
            )
            for k, value in enumerate((values + 0.0).tolist())
        ]

    def _variance_of_rows(self, values: Any) -> Any:
        """The variance of new rows with these values of the curve; NaN where it is not known."""
        np, data = self.model.np, self.data
        spread = data.sigma.get(data.response)
        share = percentage(spread)
        if not data.has_sigma:
            return np.full(len(values), math.nan if self.model.loss != "linear" else self.noise)
        if spread is None or (isinstance(spread, str) and share is None):
            return np.full(len(values), math.nan)
        size = np.abs(values) * share / 100 if share is not None else np.full(len(values), spread)
        return size**2 * self.noise

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

    def goodness(self) -> Goodness:
        """Return how well the formula fits, where it does so by more than rounding and by its squares."""
        np, model = self.model.np, self.model
        rounding = 1e-14 * float(np.linalg.norm(model.response * model.weights))
        if model.loss != "linear" or not rounding**2 < self.rss < FAR:
            return NO_GOODNESS
        estimated = len(self.estimated) - len(self.null)
        sigma_given = self.data.has_sigma
        ordered = model.ordered(self.left)
        result = goodness(np, self.left, model.weights, self.dof, estimated, ordered, sigma_given=sigma_given)
        if isinstance(model, ErrorsInVariables):
            result = result.shifted(_spread_of_predictors(model))
        return result

    def goodness_warnings(self, result: Goodness, explained: float | None) -> Iterator[Diagnostic]:
        """Yield a warning where χ² is far from what the uncertainties make it, and where residuals are not random.

        `explained` is R², if there is one.
        """
        if self.sigma_given and result.doubtful and result.reduced is not None and result.p_value is not None:
            more = result.reduced > 1
            scatter = f"the residuals scatter {'more' if more else 'less'} than `--sigma` says"
            message = f"χ²/ν is {result.reduced:.3g}: {scatter} (p = {result.p_value:.2g})"
            hint = "check the formula and the uncertainties" if more else "the uncertainties may be too large"
            hint += "; if only their ratios are known, `--scale-errors` takes their size from the residuals"
            yield Diagnostic("goodness_of_fit", message, None, hint)
        runs = result.runs
        if runs is not None and not runs.are_random:
            counts = f"{runs.runs:,} runs of one sign where {runs.expected:.3g} are expected (p = {runs.p_value:.2g})"
            message = f"the residuals are not random: {counts}"
        elif explained is not None and explained < -ROUNDED_R_SQUARED and self.model.loss == "linear":
            message = f"R² is {explained:.3g}: the mean of the response is closer to the data than this curve"
        else:
            return
        hint = "the standard errors hold for random ones: try another formula, or another start (`--at`)"
        yield Diagnostic("residuals", message, None, hint)

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


def _answer(
    text: str,
    inference: _Inference,
    linear: Sequence[str],
    interrupted: bool,
    arithmetic: Arithmetic,
    predictions: list[Prediction],
) -> Fit:
    model, problem, data = inference.model, inference.problem, inference.data
    reason, message = inference.outcome(interrupted)
    standardised, band = inference.rows()
    parameters = inference.parameters(linear)
    goodness = inference.goodness()
    values = inference.ended.values
    corrections = model(values).corrections
    # R² of a linear model without a constant is about 0, as NIST and R have it
    origin = len(linear) == len(model.free) and _has_origin(model, values)
    explained = None if corrections else r_squared(model, values, origin=origin)
    measured = [] if data.transform is None else [*data.transform.variables]
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
        deviation=math.sqrt(inference.rss / inference.dof) if inference.dof > 0 and not data.has_sigma else None,
        goodness=goodness,
        r_squared=explained,
        level=inference.level,
        loss=model.loss,
        absolute_sigma=inference.sigma_given,
        converged=reason == "converged",
        reason=reason,
        message=message,
        method=inference.ended.message,
        evaluations=model.evaluations,
        point={name: float(parameter.estimate) for name, parameter in parameters.items()},
        columns={name: list(map(float, data.columns[name])) for name in [*data.predictors, *measured, data.response]},
        sigma={
            **({data.response: (1 / model.weights).tolist()} if data.has_sigma else {}),
            **{name: data.uncertainty(model.np, name).tolist() for name in corrections},
        },
        adjusted={name: (model.columns[name] + delta).tolist() for name, delta in corrections.items()},
        fitted=(inference.fitted + 0.0).tolist(),
        residuals=(model.response - inference.fitted).tolist(),
        standardised=standardised,
        band=band,
        curve=inference.curve(),
        predictors=data.predictors,
        predictions=predictions,
        constants=problem.program.constants,
        warnings=(
            *problem.warnings,
            *inference.undetermined_warnings(),
            *(inference.goodness_warnings(goodness, explained) if reason == "converged" else ()),
        ),
    )
    if arithmetic == DOUBLE or reason != "converged":
        return fit
    if model.loss != "linear" or inference.at_bound or corrections:
        raise usage_error(
            f"`--{arithmetic.name}` is for least squares without errors in predictors, inside the bounds",
            "leave it out",
        )
    return _sharpened(fit, inference, arithmetic)


def _sharpened(fit: Fit, inference: _Inference, arithmetic: Arithmetic) -> Fit:
    """The fit with its estimates in another arithmetic: where the derivative of the sum of squares is 0."""
    from .normal_equations import estimates_in

    weights = inference.model.weights
    rows = [k for k in range(inference.model.rows) if weights[k] > 0]
    start = list(inference.values.values())
    sigma_given = inference.sigma_given
    numbers = estimates_in(arithmetic, inference.problem, inference.data, rows, start, fit.dof, sigma_given)
    errors = numbers.get("errors", {})
    parameters = dict(fit.parameters)
    for name, x in numbers["values"].items():
        error = errors.get(name)
        interval = inference.interval(float(x), None if error is None else float(error))
        parameters[name] = parameters[name]._replace(estimate=x, error=error, interval=interval)
    deviation = None if fit.deviation is None else numbers.get("deviation")
    return fit._replace(parameters=parameters, rss=numbers["rss"], deviation=deviation)


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
    # midpoints: the curvature of Huber's loss jumps at 1, which is an edge between two of them
    u = (np.arange(-2400, 2400) + 0.5) / 200
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
