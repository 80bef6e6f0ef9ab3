"""A formula fitted to data: its parameters by least squares, how well they are known, and what the data do not say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batched.columns_io import listed
from ..errors import Diagnostic, ExpressionError, counted, needed, point_error, quoted, usage_error
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown
from ..inputs.bounds import Range
from ..inputs.parse_point import is_name
from ..inputs.problem import PLAIN, Point, Problem, Quantity, as_number, check_single, parse
from ..language.builder import Program
from ..numbers.budget import allowed
from ..numerics.student_t import check_level
from ..record import Record
from ..table.primitive import FUNCTIONS
from .fit_answer import Goodness, Parameter, Prediction
from .observations import FitFormula, FitInputs, Observations, ProgramOverRows, Sigma, Spread, parse_sigma, percentage

if TYPE_CHECKING:
    from ..inputs.quantities import Units
    from .inference import Inference

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_CALL = re.compile(r"(\w+)\s*\([\w\s,]*\)")

LEVEL = 0.95
MAX_PARAMETERS = 200
TYPED_ROWS = 100  # that count as the formula's length each
CHARACTERS_A_ROW = 0.2  # for each further row: some 200 evaluations
SQUARED = 1e140  # largest data whose squares are doubles


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
    """Whether the standard errors are those of the given uncertainties."""
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
    """The standard uncertainties in each row, by column."""
    adjusted: dict[str, list[float]]
    """The uncertain predictors as the fit corrects them, by column."""
    fitted: list[float]
    residuals: list[float]
    standardised: list[float | None]
    """The residuals divided by their own standard deviations, leverage included."""
    band: list[float | None]
    """Half the width of the confidence band of the curve at each row."""
    curve: list[tuple[float, float, float]]
    """Points of the fitted curve over one predictor, with half the width of its confidence band."""
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
    """Return the columns that the fit of a formula needs. Raises `ExpressionError`."""
    formula = _read(text, columns, known_names, response)
    variables, answer, explained = formula.program.variables, formula.response, formula.measured
    spreads = [spread for spread in parse_sigma(sigma, answer).values() if isinstance(spread, str)]
    also = [name for name in spreads if name in columns or not (percentage(name) is not None or _has_unit(name))]
    also += [] if weights is None else [weights]
    needed = [name for name in variables if name in columns]
    unused = {name.casefold(): name for name in columns if name not in (*needed, *explained, *also)}
    free = [name for name in variables if name not in columns and name not in known_names]
    for name in free:
        if name.casefold() in unused:
            meant = unused[name.casefold()]
            raise ExpressionError(
                "missing_value",
                f"`{name}` is no column of the data and has no start; there is the column `{meant}`",
                variables[name].span,
                f'write `{meant}`, or `--columns "{name}={meant}"`; for a parameter give a start: `--at {name}=…`',
            )
    if not needed and unused and free and len(variables) > 1:
        raise ExpressionError(
            "missing_value",
            f"the formula uses no column of the data to explain `{answer}`: `{free[-1]}` is none",
            variables[free[-1]].span,
            f"its columns are {listed(columns)}; for a parameter give a start: `--at {free[-1]}=…`",
        )
    for name in also:
        if name not in columns:
            raise _no_column(name, columns)
    return list(dict.fromkeys([*needed, *explained, *also]))


def _has_unit(spread: str) -> bool:
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
    function = _CALL.fullmatch(left)
    return bool(left) and not is_name(left) and left[-1] not in "+-*/" and (not function or function[1] in FUNCTIONS)


def _read(text: str, columns: Sequence[str], known_names: Sequence[str], response: str | None) -> FitFormula:
    names = [column for column in columns if is_name(column)]
    last = last_statement(text)
    transform: Program | None = None
    if response is None and last is not None and _is_formula(last.left):
        transform = parse(last.left, names, units=True)
        check_single(transform)
        if other := [name for name in transform.variables if name not in names]:
            raise _no_column(other[0], names)
        if not transform.variables:
            hint = f"write columns on the left, as in `log(y) = …`; they are {listed(names)}"
            raise usage_error(f"`{last.left}` has no column that the formula could explain", hint)
        program = parse(last.program, [*names, *known_names], units=True)
        check_single(program)
        response = " ".join(last.left.split())
    else:
        # the name that the formula binds last is the response, and no value that it uses
        bound = last.left if last is not None else ""
        program = parse(text, [name for name in (*names, *known_names) if name != bound], units=True)
        check_single(program)
        response = _bound_response(program, columns) if response is None else response
        if response not in columns:
            raise _no_column(response, columns)
    formula = FitFormula(program, response, transform)
    for name in formula.measured:
        if name in program.variables:
            message, span = f"`{name}` is the response, and the formula uses it", program.variables[name].span
            raise usage_error(message, "a formula explains a column by others", span)
    return formula


def _bound_response(program: Program, columns: Sequence[str]) -> str:
    binding = program.bindings[-1] if program.bindings else None
    if binding is None or binding.value is not program.outputs[0]:
        hint = f"write it as `y = …`, or name it: `--response y`; the columns are {listed(columns)}"
        raise usage_error("which column the formula explains is not said", hint)
    meant = next((column for column in columns if column.split()[:1] == [binding.name]), None)
    if binding.name not in columns and meant is not None:
        raise usage_error(f"there is no column `{binding.name}`", f'call it so: `--columns "{binding.name}={meant}"`')
    return binding.name


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

        from .inference import Inference
        from .least_squares import EndPoint, Model, Stopped
        from .strategies import best_fit, nearest_image, orthogonal_fit

        check_level(level)
        inputs = FitInputs(columns, dict(point or {}), dict(fixed or {}), dict(bounds or {}), sigma, predict or {})
        if any(type(value) not in PLAIN for value in (*inputs.point.values(), *inputs.fixed.values())):
            from ..inputs.quantities import with_quantities

            inputs = inputs._replace(point=with_quantities(inputs.point), fixed=with_quantities(inputs.fixed))
        formula = _read(text, list(columns), [*inputs.point, *inputs.fixed], response)
        values = [*inputs.point.items(), *inputs.fixed.items()]
        values += [(name, end) for name, ends in inputs.bounds.items() for end in ends if end is not None]
        typed_units = [(name, value.unit) for name, value in values if isinstance(value, Quantity)]
        of_units, notes = None, list[Diagnostic]()
        if getattr(columns, "units", {}) or typed_units or units or formula.has_unit_literals:
            from .fit_units import with_units

            of_units, inputs, notes = with_units(formula, inputs, typed_units, units, arithmetic)
        problem, data = _pose(formula, inputs, weights)
        free = problem.unknowns
        answers = np.array(data.columns[data.response], dtype=float)
        root = data.root_weights()
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
        model = Model(
            problem.program,
            {name: np.array(data.columns[name], dtype=float) for name in data.predictors},
            free,
            {name: x for name, x in problem.values.items() if name not in free},
            answers,
            root,
            stop,
            bounds=problem.bounds,
            starts=problem.values,
            has_sigma=data.has_sigma,
        )
        start = np.array([problem.values.get(name, 1.0) for name in free])
        if lacking := [name for name in free if name not in problem.values and name not in model.linear]:
            error = None if model.linear else model.check(start)
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
                end = best_fit(model, start, loss)
                if uncertain := [name for name in data.predictors if name in data.sigma]:
                    model = model.with_errors({name: data.uncertainty(name) for name in uncertain})
                    end = orthogonal_fit(model, start, end)
                end = end._replace(values=nearest_image(model, end.values))
        except Stopped:
            model.stop = lambda: False
            interrupted, end = True, EndPoint(start, math.nan, math.inf, "interrupted")
        inference = Inference(model, problem, data, end, level or LEVEL, scaled=scale_errors)
        predictions = inference.predictions(inputs.predict)
        answer = _answer(text, inference, arithmetic, predictions, interrupted=interrupted)
        answer = answer if of_units is None else of_units.answer(answer, columns)
        return answer if not notes else answer._replace(warnings=(*answer.warnings, *notes))


def _answer(
    text: str, inference: Inference, arithmetic: Arithmetic, predictions: list[Prediction], *, interrupted: bool
) -> Fit:
    model, data, values = inference.model, inference.data, inference.end.values
    reason, message = inference.outcome(interrupted)
    standardised, band = inference.rows()
    parameters, goodness, r_squared = inference.parameters(), inference.goodness(), inference.r_squared()
    corrections = model(values).corrections
    sigma = {data.response: (1 / model.weights).tolist()} if data.has_sigma else {}
    measured = [] if data.transform is None else [*data.transform.variables]
    warnings = [*inference.problem.warnings, *inference.undetermined_warnings()]
    warnings += inference.goodness_warnings(goodness, r_squared) if reason == "converged" else ()
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
        r_squared=r_squared,
        level=inference.level,
        loss=model.loss,
        absolute_sigma=inference.sigma_given,
        converged=reason == "converged",
        reason=reason,
        message=message,
        method=inference.end.message,
        evaluations=model.evaluations,
        point={name: float(parameter.estimate) for name, parameter in parameters.items()},
        columns={name: list(map(float, data.columns[name])) for name in [*data.predictors, *measured, data.response]},
        sigma=sigma | {name: data.uncertainty(name).tolist() for name in corrections},
        adjusted={name: (model.columns[name] + delta).tolist() for name, delta in corrections.items()},
        fitted=(inference.fitted + 0.0).tolist(),
        residuals=(model.response - inference.fitted).tolist(),
        standardised=standardised,
        band=band,
        curve=inference.curve(),
        predictors=data.predictors,
        predictions=predictions,
        constants=inference.problem.program.constants,
        warnings=tuple(warnings),
    )
    if arithmetic == DOUBLE or reason != "converged":
        return fit
    if model.loss != "linear" or inference.at_bound or corrections:
        message = f"`--{arithmetic.name}` is for least squares without errors in predictors, inside the bounds"
        raise usage_error(message, "leave it out")
    return _sharpened(fit, inference, arithmetic)


def _sharpened(fit: Fit, inference: Inference, arithmetic: Arithmetic) -> Fit:
    from .normal_equations import estimates_in

    rows, start = inference.model.weights.nonzero()[0].tolist(), list(inference.values.values())
    numbers = estimates_in(arithmetic, inference.problem, inference.data, rows, start, fit.dof, inference.sigma_given)
    errors, parameters = numbers.get("errors", {}), dict(fit.parameters)
    for name, x in numbers["values"].items():
        error = errors.get(name)
        interval = inference.interval(float(x), None if error is None else float(error))
        parameters[name] = parameters[name]._replace(estimate=x, error=error, interval=interval)
    deviation = None if fit.deviation is None else numbers.get("deviation")
    return fit._replace(parameters=parameters, rss=numbers["rss"], deviation=deviation)


def _pose(formula: FitFormula, inputs: FitInputs, weights: str | None) -> tuple[Problem, Observations]:
    program, response, transform = formula
    columns, point, fixed, bounds = inputs.columns, inputs.point, inputs.fixed, inputs.bounds
    if transform is not None:
        rows = len(next(iter(columns.values()), ()))
        answers, _, errors = ProgramOverRows(transform, [])(columns, rows)
        if errors:
            row = min(errors)
            error = errors[row]
            raise ExpressionError(error.kind, f"row {row + 1} of the data: `{response}`: {error}", hint=error.hint)
        columns = {**columns, response: answers.tolist()}
    predictors = [name for name in program.variables if name in columns]
    parameters = [name for name in program.variables if name not in columns]
    unknowns = [name for name in parameters if name not in fixed]
    warnings: list[Diagnostic] = []
    for name in [*point, *fixed]:
        if name in predictors:
            raise point_error(f"`{name}` is given a value, and is a column of the data", "leave one of them out")
        if name not in parameters:
            warnings.append(Diagnostic("unused", f"the formula has no parameter `{name}`", None, "leave it out"))
    for name in bounds:
        if name not in unknowns:
            raise usage_error(f"`{name}` has bounds and is not fitted", f"fitted are {quoted(unknowns)}")
    for name in fixed:
        if name in point and as_number(point[name], name) != as_number(fixed[name], name):
            raise point_error(f"`{name}` has a start and is held at another value", "leave one out")
    if len(unknowns) > MAX_PARAMETERS:
        hint = f"fit up to {MAX_PARAMETERS}"
        raise ExpressionError("limit", f"{len(unknowns)} parameters are too many", hint=hint)
    typed = point | fixed
    values = {name: as_number(value, name) for name, value in typed.items() if name in parameters}
    for name, limits in bounds.items():
        if name in values:
            limits.check_start(name, values[name])
        ends = [end for end in limits if end is not None]
        values.setdefault(name, sum(ends) / len(ends) if ends else 1.0)
    spreads = parse_sigma(inputs.sigma, formula.of_sigma)
    _check_spreads(spreads, columns, formula, predictors)
    if weights is not None and weights not in columns:
        raise _no_column(weights, list(columns))
    problem = Problem(program, typed, values, [], warnings, unknowns, {name: x.ends for name, x in bounds.items()})
    return problem, Observations(columns, response, predictors, spreads, weights, transform)


def _check_spreads(
    spreads: Mapping[str, Spread], columns: Mapping[str, Any], formula: FitFormula, predictors: Sequence[str]
) -> None:
    response, measured = formula.response, [] if formula.transform is None else formula.measured
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
