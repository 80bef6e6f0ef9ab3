"""A formula fitted to data, by least squares."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Plotted, as_numbers
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import BudgetExceeded, Work, use_budget, use_share
from ...errors import (
    Diagnosed,
    Diagnostic,
    ExpressionError,
    limit_error,
    plural,
    quote,
    require,
    usage_error,
)
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown
from ...questions.column_uncertainties import Sigma, parse_sigma
from ...questions.optional_units import left_out, with_units
from ...questions.parse_point import Range, is_name
from ...questions.problem import Point
from .convergence import Several
from .descend import DEFAULT_SEED
from .observations import FitFormula, FitInputs, pose_fit, read_formula

if TYPE_CHECKING:
    from ...questions.quantities import Units
    from .fit_starts import FitEnd, FitStarts
    from .fit_units import FitUnits
    from .inference import Goodness, Inference, Parameter, Prediction
    from .least_squares import EndPoint, Model
    from .likelihood import CountDistribution
    from .profiles import Profiles
    from .refits import KeptRows

DEFAULT_LEVEL = 0.95
TYPED_ROWS = 100  # that count as the formula's length each
CHARACTERS_A_ROW = 0.2  # for each further row: some 200 evaluations
MAX_SQUARABLE = 1e140  # largest data whose squares are doubles

# Digits in which a fit is computed again whose rows lose digits in doubles.
CONFIRMING_DIGITS = 30
# The share of the budget that this may take.
CONFIRMING_SHARE = 0.25
# The difference up to which these confirm a fit: of estimates in standard errors, else relative.
CONFIRMED_WITHIN = 1e-3
# The share of the sum of squares of the data up to which that of the residuals may be rounding
# alone.
ROUNDED_SHARE = 1e-18
# The share of the data by which the parameters of a curve that meets them move it in many digits,
# at most.
MOVED_SHARE = 1e-6


# How many times the range of a predictor it is away from 0, from where on a curve may have no start
# in doubles.
#
# A decay by a factor of 1e10 over the range is one of 1e300 on the way from 0.
FAR_ORIGIN = 30
# The losses that are the deviance of a distribution of counts.
LIKELIHOODS = ("poisson", "binomial")


class Fit(Plotted, shows=("point", "message")):
    """A formula fitted to data."""

    declaration = """
    csv line id parameter estimate[] standard_error[] low high held rss[] deviation[] error
    plain parameters
    response: what the formula explains
    parameters figures column=estimate: the estimates, by name
    standard_errors figures column=standard_error: the standard errors, by name; null for what was \
    held
    rss figures column: the weighted sum of the squared residuals, or the deviance, the sum of the \
    squares of its own
    deviance optional: for counts: twice what a mean for each row would add to the log-likelihood
    deviation figures column: the residual standard deviation; null with `--sigma`, where χ² says \
    how large \
    the residuals are
    intervals: the ends of the confidence intervals, by name; null for an end that the data leave \
    open
    interval_method: `linear`, by the standard errors, or `profile`, by the sum of squares, or the \
    deviance, along \
    each parameter
    linear: the parameters that the formula is linear in
    held column: why a parameter has no standard error, by name: `fixed`, `bound` or `undetermined`
    predictions optional nonempty: with `--predict`: the curve at points of the predictors
      point: the values of the predictors, by name
      value: the value of the curve
      confidence: the ends of the confidence interval of the curve
      prediction: the ends of the interval for a new row; null where its uncertainty is not known
    correlation: the correlations of the estimates, by two names
    null: directions of the parameters that the data do not determine
    rows: how many rows of data
    dof: degrees of freedom
    chi_squared from=goodness.chi_squared: with `--sigma`: χ², the sum of the squared residuals in \
    units of sigma
    reduced_chi_squared from=goodness.reduced: with `--sigma`: χ² divided by the degrees of freedom
    p_value from=goodness.p_value: with `--sigma`: the probability of so large a χ², or a larger \
    one; of counts \
    that are large enough, of so large a deviance
    absolute_sigma: whether the standard errors are those of `--sigma`, whatever the scatter
    log_likelihood from=goodness.log_likelihood: the logarithm of the likelihood of normal \
    residuals, or of counts
    aic from=goodness.aic: Akaike's information criterion; sigma counts as a parameter where it is \
    estimated
    bic from=goodness.bic: Schwarz's Bayesian information criterion
    runs from=goodness.runs: the runs test of the signs of the residuals
      runs: how many runs there are
      expected: how many are expected
      p_value: the two-sided p-value
    normality from=goodness.normality: the test of Anderson and Darling for normal residuals
      statistic: A², corrected for the number of rows
      p_value: the p-value
    r_squared: the coefficient of determination R²
    level: the level of the confidence intervals
    loss: the loss
    converged: whether the fit has converged
    reason: why it ended: `converged`, `undetermined`, `digits`, `stuck` or `interrupted`
    message: the reason in words
    starts optional: with `--starts`: where the searches ended, the answer first, then the least
      rss: the weighted sum of the squared residuals there, or the deviance
      point: the parameters, by name
      converged: whether they converged
      count: how many of them ended there
    tried optional nonempty: with `--starts`: what was tried, in words
    refit optional: where intervals are by profile, of up to 10,000 rows: what `propagate --fit` \
    fits again for the \
    profile of a formula of several parameters
      formula: the formula, as it was read
      columns: the numbers of the columns, by name
      weights: the weight of each row; null where they are 1, and for counts
      errors: the uncertainties of predictors in each row, by name
      trials: the trials of each row; null without any
      bounds: the bounds of parameters, by name; null for an end without one
    method: the method
    evaluations: how often the data were evaluated; looks at other starts are not counted
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    response: str
    parameters: dict[str, Parameter]
    correlation: dict[str, dict[str, float]]
    null: list[dict[str, float]]
    rows: int
    dof: int
    rss: Shown
    deviation: Shown | None
    goodness: Goodness
    r_squared: float | None
    level: float
    interval_method: str
    loss: str
    absolute_sigma: bool
    converged: bool
    reason: str
    message: str
    method: str
    evaluations: int
    point: dict[str, float]
    columns: dict[str, list[float]]
    sigma: dict[str, list[float]]
    adjusted: dict[str, list[float]]
    fitted: list[float]
    residuals: list[float]
    standardised: list[float | None]
    band: list[float | None]
    curve: list[tuple[float, float, float]]
    predictors: list[str]
    predictions: list[Prediction]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None
    deviance: float | None = None
    starts: tuple[FitEnd, ...] | None = None
    tried: str = ""
    refit: KeptRows | None = None

    def heading_of(self, name: str, what: str = "") -> str:
        """Return a column, and `what` it is, with its unit: `U [V]`."""
        unit = "" if self.units is None else str(self.units["data"][name])
        return f"{name}{what} [{unit}]" if unit else f"{name}{what}"

    @property
    def covariance(self) -> list[list[float]] | None:
        """The covariance matrix of the estimates, in the order of `correlation`; None without
        standard errors.
        """
        errors = [self.parameters[name].error for name in self.correlation]
        if None in errors:
            return None
        numbers = [float(error) for error in errors if error is not None]
        rows = [
            [self.correlation[one][other] for other in self.correlation] for one in self.correlation
        ]
        return [
            [r * e * s for r, s in zip(row, numbers, strict=True)]
            for row, e in zip(rows, numbers, strict=True)
        ]

    def predict(self, points: Mapping[str, Any] = MappingProxyType({}), /, **columns: Any) -> Any:
        """Return what the fitted formula predicts, its left side, at values of the predictors:
        numbers, lists, arrays.

        With bands that is `predict` of `fit`. Raises TypeError for a predictor that has no value.
        """
        if self.units is not None:
            hint = "`fit(…, predict=…)` predicts with units"
            raise usage_error("the fit has units, and `predict` takes numbers without", hint)
        from ..derivatives.program import Program  # only what is asked for more needs it

        given = {**points, **columns}
        response = self.response if is_name(self.response) else None
        program = Program(read_formula(self.text, [*self.columns], [], response).program)
        known = {
            name: self.point[name]
            for name in program.parameters
            if name in self.point and name not in given
        }
        return program(**known, **given)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([each.estimate for each in self.parameters.values()], dtype)


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
    trials: str | None = None,
    level: float | None = None,
    intervals: str | None = None,
    predict: Mapping[str, Sequence[float]] | None = None,
    units: Sequence[str] | str | None = None,
    arithmetic: Arithmetic = DOUBLE,
    stop: Callable[[], bool] = lambda: False,
    formula: FitFormula | None = None,
    starts: int | None = None,
    seed: int = DEFAULT_SEED,
) -> Fit:
    """Return the least-squares parameters of the program `text` for a column of the data.

    Names that are columns are data, others parameters. `formula` is the program, if already read.
    `intervals` are linear or by profile; by default the latter where second derivatives show that
    the linear ones mislead. With `starts` so many searches begin, and the least end is the answer.
    """
    require("scipy.optimize", "optimize", "`fit` needs SciPy, the extra `optimize`")
    is_likelihood = loss in LIKELIHOODS
    _check_loss(loss, intervals, arithmetic, weighted=_are_weighted(sigma, weights, scale_errors))
    with use_budget(anew=False) as work:
        _allow_rows(work, text, columns, arithmetic)
        import numpy as np

        from .least_squares import Model

        formula = formula or read_formula(
            text, list(columns), [*(point or ()), *(fixed or ())], response
        )
        measured = formula.measured[0] if len(formula.measured) == 1 else formula.response
        spreads = parse_sigma(sigma, measured)
        values, held = with_units(point), with_units(fixed)
        inputs = FitInputs(columns, values, held, dict(bounds or {}), spreads, predict or {})
        counts = [*filter(None, (formula.response, trials))] if is_likelihood else []
        formula, inputs, of_units = _with_units(formula, inputs, units, arithmetic, counts)
        problem, observations = pose_fit(formula, inputs, weights)
        if is_likelihood:
            from .likelihood import family_of

            family, observations = family_of(loss, observations, trials)
        model = Model(problem, observations, stop)
        _check_data(model)
        model = _with_starts(model, of_units)
        start = _start_of(model)
        several = None if starts is None else Several(starts, seed)
        level = level or DEFAULT_LEVEL
        if is_likelihood:
            answer = _of_likelihood(text, model, family, start, level, intervals, inputs, several)
        else:
            from .inference import Inference
            from .linear_basis import in_many_digits

            model, end, interrupted, tried = _search(
                in_many_digits(model, start), start, loss, several
            )
            model.stop = lambda: False
            with np.errstate(over="ignore", invalid="ignore"):
                inference = Inference(model, end, level, scaled=scale_errors)
                answer = _of_least_squares(
                    text, inference, intervals, inputs, arithmetic, interrupted=interrupted
                )
            answer = answer if tried is None else _with_tried(answer, tried, of_units)
        answer = answer if of_units is None else _in_units(answer, of_units)
        return (
            answer
            if answer.converged
            else answer._replace(warnings=(*answer.warnings, *_far_origins(answer)))
        )


def _far_origins(answer: Fit) -> Iterator[Diagnostic]:
    """Yield a warning for each predictor far from 0, where the formula of a fit that ended badly
    has its origin.

    Over Unix times the `a` of `a*exp(-k*t)` is the height in 1970, which may be no double.
    """
    for name in answer.predictors:
        first, last = min(answer.columns[name]), max(answer.columns[name])
        if not min(abs(first), abs(last)) > FAR_ORIGIN * (last - first) > 0:
            continue
        unit = "" if answer.units is None else str(answer.units["data"][name])
        number = f"{abs(first):.15g}[{unit}]" if unit else f"{abs(first):.15g}"
        shifted = f"({name} {'-' if first > 0 else '+'} {number})"
        message = (
            f"`{name}` is {abs(first) / (last - first):.2g} times its range away from 0, where the"
            " formula begins"
        )
        hint = f"count from the first row: write `{shifted}` for `{name}` in the formula"
        yield Diagnostic("origin", message, None, hint)


def _are_weighted(sigma: Sigma | None, weights: str | None, scale_errors: bool) -> bool:
    return sigma is not None or weights is not None or scale_errors


def _check_loss(
    loss: str, intervals: str | None, arithmetic: Arithmetic, *, weighted: bool
) -> None:
    """Raise a usage error if the loss does not go with the other options."""
    is_likelihood = loss in LIKELIHOODS
    if is_likelihood and (weighted or arithmetic != DOUBLE):
        message = f"the {loss} distribution says how counts scatter, and its fit is in doubles"
        raise usage_error(
            message, "leave out `--sigma`, `--weights`, `--precision` and `--certified`"
        )
    if intervals == "profile" and loss != "linear" and not is_likelihood:
        message = f"intervals by profile are for least squares, and the loss is {loss}"
        raise usage_error(message, "leave one of them out")


def _start_of(model: Model) -> Any:
    """Return the start of the free parameters, 1 for those without a value."""
    import numpy as np

    return np.array([model.problem.values.get(name, 1.0) for name in model.parameters.free])


def _allow_rows(
    work: Work, text: str, columns: Mapping[str, Sequence[float]], arithmetic: Arithmetic
) -> None:
    """Allow the work that so many rows take."""
    rows = len(next(iter(columns.values()), ()))
    less = "give fewer rows" + (
        "" if arithmetic == DOUBLE else f", or leave out `--{arithmetic.name}`"
    )
    work.reset(len(text) * (1 + min(rows, TYPED_ROWS)) + CHARACTERS_A_ROW * rows, less)


def _with_units(
    formula: FitFormula,
    inputs: FitInputs,
    asked: Sequence[str] | str | None,
    arithmetic: Arithmetic,
    counts: Sequence[str],
) -> tuple[FitFormula, FitInputs, FitUnits | None]:
    """Return the formula and the numbers in coherent units, and the units of the answer; None
    without units.
    """
    if left_out(asked):
        inputs, asked = (
            inputs._replace(columns=dict(inputs.columns), predict=dict(inputs.predict)),
            None,
        )
        in_headings = False
    else:
        in_headings = any(getattr(table, "units", {}) for table in (inputs.columns, inputs.predict))
        in_headings = bool(in_headings or asked or inputs.typed_units)
    if not in_headings and not formula.has_unit_literals:
        return formula, inputs, None
    from .fit_units import FitUnits, check_counts

    if counts:
        check_counts(getattr(inputs.columns, "units", {}), counts)
    of_units = FitUnits(formula, inputs, asked, arithmetic)
    if of_units.columns:
        formula = of_units.formula(formula)
    return formula, of_units.inputs(inputs), of_units


def _in_units(answer: Fit, of_units: FitUnits) -> Fit:
    shown = of_units.of_answer(answer) if of_units.columns else None
    warnings = (*answer.warnings, *of_units.warnings, *of_units.scale_warnings(answer))
    return answer._replace(warnings=warnings, units=shown)


def _of_least_squares(
    text: str,
    inference: Inference,
    intervals: str | None,
    inputs: FitInputs,
    arithmetic: Arithmetic,
    *,
    interrupted: bool,
) -> Fit:
    """Return the fit of a search that has ended."""
    from .profiles import far_values, intervals_of, linear_warnings

    if not interrupted and _meets_data_in_doubles_alone(inference):
        inference.lose_digits()
    profiles = None if interrupted else intervals_of(inference, intervals)
    misleading = [] if interrupted else linear_warnings(inference, intervals)
    inference.leave_open({} if interrupted else far_values(inference))
    predictions = inference.predict(inputs.predict)
    lost = _rounding_warnings(inference.model, inference.end.values)
    answer = _answer(text, inference, profiles, arithmetic, predictions, interrupted=interrupted)
    answer = answer._replace(warnings=(*answer.warnings, *misleading))
    answer = _with_rows(answer, profiles, inference.model)
    return _with_lost_digits(answer, inference, lost) if lost else answer


def _of_likelihood(
    text: str,
    model: Model,
    family: CountDistribution,
    start: Any,
    level: float,
    intervals: str | None,
    inputs: FitInputs,
    several: Several | None,
) -> Fit:
    """Return the fit of greatest likelihood."""
    import numpy as np

    from .likelihood import fit_likelihood, profiled
    from .profiles import linear_warnings_beside

    found = fit_likelihood(model, family, start, level, several)
    inference = found.inference
    with np.errstate(all="ignore"):
        profiles = profiled(found)
        misleading = linear_warnings_beside(inference, profiles) if intervals == "linear" else []
        profiles = None if intervals == "linear" else profiles
        predictions = [row._replace(prediction=None) for row in inference.predict(inputs.predict)]
        lost = _rounding_warnings(inference.model, inference.end.values)
        answer = _answer(
            text, inference, profiles, DOUBLE, predictions, interrupted=found.interrupted
        )
    goodness, (reason, message) = found.goodness(), found.outcome()
    left_out = (
        "goodness_of_fit",
        "residuals",
        *["undetermined"] * (bool(found.rises) or found.edge is not None),
    )
    warnings = [warning for warning in answer.warnings if warning.kind not in left_out]
    if found.tried is not None:
        answer = _with_tried(answer, found.tried, None, "the deviance")
    trials = None if family.trials is None else family.trials.tolist()
    answer = _with_rows(answer, profiles, inference.model, trials, counts=True)
    return answer._replace(
        rss=found.deviance,
        deviance=found.deviance,
        goodness=goodness,
        r_squared=None,
        loss=family.name,
        converged=reason == "converged",
        reason=reason,
        message=message,
        sigma={},
        standardised=found.residuals(),
        warnings=(*warnings, *found.warnings(goodness), *lost, *misleading),
    )


def _with_rows(
    answer: Fit,
    profiles: Profiles | None,
    model: Model,
    trials: list[float] | None = None,
    *,
    counts: bool = False,
) -> Fit:
    """Return an answer with the rows that it was fitted to, where it has intervals by profile."""
    if profiles is None or not profiles.ends:
        return answer
    from .refits import kept_rows

    return answer._replace(refit=kept_rows(answer.text, model, trials, counts=counts))


def _with_tried(
    answer: Fit, tried: FitStarts, units: FitUnits | None, what: str = "the sum of squares"
) -> Fit:
    def shown(name: str, x: float) -> str:
        unit = "" if units is None or name == "rss" else units.unit_text(name)
        return f"{x:.3g} {unit}".rstrip()

    return answer._replace(starts=tried.ends, tried=tried.sentence(what, shown))


def _rounding_warnings(model: Model, values: Any) -> list[Diagnostic]:
    """Return warnings of rows in which the formula loses digits in doubles; none where it was
    fitted in many digits.
    """
    if model.basis is not None:
        return []
    import numpy as np

    from ...compiled.row_errors import rows_to_check
    from ...questions.rounding import Points, rounding_warnings_over

    graph = model.problem.program.graph
    fixed = {
        **model.parameters.held,
        **dict(zip(model.parameters.free, map(float, values), strict=True)),
    }
    used = [int(row) for row in np.flatnonzero(model.rows.weights > 0)]
    rows = rows_to_check(graph, {**fixed, **model.rows.columns}, used)
    at = [
        {**fixed, **{name: float(column[row]) for name, column in model.rows.columns.items()}}
        for row in rows
    ]
    points = Points(at, lambda k: f"row {rows[k] + 1} of the data", "rows")
    return rounding_warnings_over(graph, points, model.parameters.free, command="fit")


def _meets_data_in_doubles_alone(inference: Inference) -> bool:
    """Return whether a curve that meets the data does so by rounding, as `a*(1 - exp(-b*x))` meets
    a line at b = 1e-9.

    With more digits the parameters are others, or there are none.
    """
    from .least_squares import SQUARES

    model, scatter = inference.model, inference.scatter
    is_searched = model.basis is None and len(model.parameters.linear) < len(model.parameters.free)
    if (
        not is_searched
        or model.loss != SQUARES
        or not inference.errors
        or inference.at_bound
        or model.rows.errors
    ):
        return False
    size = float(sum((model.rows.response * model.rows.weights) ** 2))
    if scatter.rss > ROUNDED_SHARE * size:
        return False
    from .normal_equations import estimates_in

    digits, values = Arithmetic("precision", CONFIRMING_DIGITS), [*inference.values.values()]
    try:
        with use_share(CONFIRMING_SHARE):
            found = estimates_in(digits, model, values, scatter.dof, scatter.sigma_given)["values"]
    except BudgetExceeded:
        return False
    except (Diagnosed, *NO_RESULT):
        return True
    lengths = zip(inference.names, inference.curvature.size, strict=True)
    return any(
        abs(inference.values[k] - float(found[k])) * x > MOVED_SHARE * math.sqrt(size)
        for k, x in lengths
    )


def _with_lost_digits(answer: Fit, inference: Inference, lost: Sequence[Diagnostic]) -> Fit:
    """Return an answer with warnings of lost digits; that it has converged is confirmed with more,
    or withdrawn.
    """
    answer = answer._replace(warnings=(*answer.warnings, *lost))
    if not answer.converged or not any(warning.kind == "lost_digits" for warning in lost):
        return answer
    if _is_confirmed(answer, inference):
        confirmed = (
            f"within a thousandth of a standard error of the fit in {CONFIRMING_DIGITS} digits"
        )
        return answer._replace(message=f"{answer.message}, {confirmed}")
    message = (
        "not converged: rounding loses digits of the formula or of its derivatives in rows of the"
        " data"
    )
    return answer._replace(converged=False, reason="digits", message=f"{answer.method}; {message}")


def _is_confirmed(answer: Fit, inference: Inference) -> bool:
    """Return whether estimates, standard errors and the sum of squares in many digits are those of
    the answer.
    """
    from .least_squares import SQUARES

    model, scatter = inference.model, inference.scatter
    if answer.arithmetic != DOUBLE:
        return True
    if model.loss != SQUARES or inference.at_bound or model(inference.end.values).corrections:
        return False
    from .normal_equations import estimates_in

    try:
        with use_share(CONFIRMING_SHARE):
            values = [*inference.values.values()]
            numbers = estimates_in(
                Arithmetic("precision", CONFIRMING_DIGITS),
                model,
                values,
                scatter.dof,
                scatter.sigma_given,
            )
    except (Diagnosed, *NO_RESULT):
        return False
    errors = {name: float(x) for name, x in numbers.get("errors", {}).items()}
    pairs = [(inference.errors[name], x) for name, x in errors.items() if name in inference.errors]
    pairs.append((scatter.rss, float(numbers["rss"])))
    is_near = all(
        abs(inference.values[name] - float(x))
        <= CONFIRMED_WITHIN * errors.get(name, CONFIRMED_WITHIN * abs(float(x)))
        for name, x in numbers["values"].items()
    )
    return is_near and all(
        math.isclose(shown, exact, rel_tol=CONFIRMED_WITHIN) for shown, exact in pairs
    )


def _check_data(model: Model) -> None:
    """Raise a usage error where the data cannot determine the parameters, a limit error where
    squares overflow.
    """
    if not model.parameters.free:
        hint = "a name that is no column of the data is a parameter"
        raise usage_error("the formula has no parameter to fit", hint)
    if model.rows.used < len(model.parameters.free):
        rows, parameters = (
            plural(model.rows.used, "row"),
            plural(len(model.parameters.free), "parameter"),
        )
        message = f"{rows} of data cannot determine {parameters}"
        raise usage_error(message, "give more rows, or hold some parameters: `--fix b=1`")
    largest = float(abs(model.rows.response * model.rows.weights).max())
    if largest and not 1 / MAX_SQUARABLE < largest < MAX_SQUARABLE:
        size = "large" if largest > 1 else "small"
        message = (
            f"`{model.data.response}` is too {size} for its squares in doubles: it is up to"
            f" {largest:.3g}"
        )
        hint = (
            "measure it, and its uncertainty, in another unit: write multiples of that to the data"
        )
        raise limit_error(message, hint)


def _search(
    model: Model, start: Any, loss: str, several: Several | None
) -> tuple[Model, EndPoint, bool, FitStarts | None]:
    """Return the model, where the search ends, whether it was interrupted, and what was tried from
    several starts.
    """
    import numpy as np

    from .convergence import SearchStopped
    from .fit_starts import best_of, searched_from
    from .least_squares import EndPoint
    from .strategies import best_fit, nearest_symmetric, orthogonal_fit, zero_within_rounding

    data, tried = model.data, None
    if model.basis is not None:
        start = model.basis.theta
    end = EndPoint(start, math.nan, math.inf, "interrupted")
    try:
        # no step is taken to where numbers are too large to be squared
        with np.errstate(over="ignore", invalid="ignore"):
            end = model.reached.accept(best_fit(model, start, loss))
            if several is not None:
                best, tried = best_of(model, end, several, searched_from(model))
                end = model.reached.accept(best)
            if uncertain := [name for name in data.predictors if name in data.sigma]:
                model = model.with_errors({name: data.uncertainty(name) for name in uncertain})
                end = model.reached.accept(orthogonal_fit(model, start, end))
            values = zero_within_rounding(model, nearest_symmetric(model, end.values))
            return model, end._replace(values=values), False, tried
    except SearchStopped:
        return model, model.reached.best or end, True, tried


def _with_starts(model: Model, units: FitUnits | None) -> Model:
    """Return the model with starts of all parameters that need one, and a note of those that were
    looked for.
    """
    from .starts import found_start

    problem = model.problem
    lacking = [
        name
        for name in model.parameters.free
        if name not in problem.values and name not in model.parameters.linear
    ]
    if not lacking:
        return model
    starts = found_start(model, lacking)
    choose = f"`--at {','.join(f'{name}=…' for name in lacking)}`"
    if starts is None:
        message = (
            f"`{lacking[0]}` has no start, and the formula has no value at those that were tried"
        )
        hint = (
            f"give one: {choose}; the columns that are used are"
            f" {quote([*model.rows.columns, model.data.response])}"
        )
        raise ExpressionError(
            "missing_value", message, problem.program.variables[lacking[0]].span, hint
        )
    shown = [
        f"{name} = {x:g} {'' if units is None else units.unit_text(name)}".rstrip()
        for name, x in starts.items()
    ]
    note = Diagnostic(
        "note", f"started at {', '.join(shown)}; {choose} chooses another", None, None
    )
    return model.copy(
        problem=problem._replace(
            values={**problem.values, **starts}, warnings=[*problem.warnings, note]
        )
    )


def _warnings(inference: Inference, profiles: Profiles | None) -> list[Diagnostic]:
    """Return what is to be known of the search, its end and the intervals."""
    warnings = [*inference.model.problem.warnings]
    warnings += [*inference.undetermined_warnings(), *inference.undetermined.open_warnings()]
    return [*warnings, *inference.end_warnings(), *(() if profiles is None else profiles.warnings)]


def _estimates_in(
    arithmetic: Arithmetic, inference: Inference, *, corrected: bool
) -> dict[str, Any]:
    """Return the estimates and their errors in another arithmetic; predictors may be `corrected` by
    their errors.
    """
    from .least_squares import SQUARES

    if inference.model.loss != SQUARES or inference.at_bound or corrected:
        message = (
            f"`--{arithmetic.name}` is for least squares without errors in predictors, inside the"
            " bounds"
        )
        raise usage_error(message, "leave it out")
    from .normal_equations import estimates_in

    scatter, values_at = inference.scatter, [*inference.values.values()]
    return estimates_in(arithmetic, inference.model, values_at, scatter.dof, scatter.sigma_given)


def _estimates(arithmetic: Arithmetic, inference: Inference, *, corrected: bool) -> dict[str, Any]:
    """Return values and errors of the parameters, the sum of squares and the standard deviation."""
    if arithmetic != DOUBLE:
        return _estimates_in(arithmetic, inference, corrected=corrected)
    scatter = inference.scatter
    deviation = math.sqrt(scatter.rss / scatter.dof) if scatter.dof > 0 else None
    return {
        "values": inference.values,
        "errors": inference.errors,
        "rss": scatter.rss,
        "deviation": deviation,
    }


def _answer(
    text: str,
    inference: Inference,
    profiles: Profiles | None,
    arithmetic: Arithmetic,
    predictions: list[Prediction],
    *,
    interrupted: bool,
) -> Fit:
    model, values = inference.model, inference.end.values
    problem, data = model.problem, model.data
    reason, message = inference.outcome(interrupted)
    standardised, band = inference.rows()
    goodness, r_squared, corrections = (
        inference.goodness(),
        inference.r_squared(),
        model(values).corrections,
    )
    sigma = {data.response: (1 / model.rows.weights).tolist()} if data.has_sigma else {}
    warnings = _warnings(inference, profiles)
    warnings += inference.goodness_warnings(goodness, r_squared) if reason == "converged" else ()
    warnings += inference.prediction_warnings(predictions) if predictions else ()
    scatter = inference.scatter
    if arithmetic != DOUBLE and reason != "converged":
        message = f"`--{arithmetic.name}` needs a search that converged: these numbers are doubles"
        warnings.append(
            Diagnostic(
                "not_converged", message, None, "start elsewhere (`--at`), or hold a parameter"
            )
        )
        arithmetic = DOUBLE
    numbers = _estimates(arithmetic, inference, corrected=bool(corrections))
    ends = None if profiles is None else profiles.ends
    parameters = inference.parameters(numbers["values"], numbers.get("errors", {}), ends)
    numbers_shown = {name: float(parameter.estimate) for name, parameter in parameters.items()}
    return Fit(
        text=text,
        arithmetic=arithmetic,
        response=data.response,
        parameters=parameters,
        correlation=inference.correlation(),
        null=inference.undetermined.null,
        rows=model.rows.used,
        dof=scatter.dof,
        rss=numbers["rss"],
        deviation=None if data.has_sigma else numbers.get("deviation"),
        goodness=goodness,
        r_squared=r_squared,
        level=inference.level,
        interval_method="linear" if profiles is None else "profile",
        loss=model.loss.name,
        absolute_sigma=scatter.sigma_given,
        converged=reason == "converged",
        reason=reason,
        message=message,
        method=inference.end.message,
        evaluations=model.evaluations,
        point={name: inference.values.get(name, x) for name, x in numbers_shown.items()},
        columns={name: list(map(float, data.columns[name])) for name in data.names_used},
        sigma=sigma | {name: data.uncertainty(name).tolist() for name in corrections},
        adjusted={
            name: (model.rows.columns[name] + delta).tolist() for name, delta in corrections.items()
        },
        fitted=(inference.fitted + 0.0).tolist(),
        residuals=(model.rows.response - inference.fitted).tolist(),
        standardised=standardised,
        band=band,
        curve=inference.curve(),
        predictors=data.predictors,
        predictions=predictions,
        constants=problem.program.constants,
        warnings=tuple(warnings),
    )
