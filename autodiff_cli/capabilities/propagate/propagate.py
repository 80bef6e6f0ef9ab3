"""Propagation of uncertainty from inputs to outputs: JCGM 100:2008 (GUM)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ...api.api_answers import Plotted
from ...engine.numbers.budget import current_budget
from ...engine.numerics.linear_algebra import cholesky, dot, eigenvalues, identity
from ...engine.numerics.student_t import coverage_factor, level_of
from ...engine.quantities.presentation import (
    convert_column,
    convert_difference,
    present,
    present_array,
    present_difference,
)
from ...engine.quantities.unit import Unit, parse_unit, readable_unit, si_unit
from ...errors import (
    Diagnosed,
    Diagnostic,
    ExpressionError,
    plural,
    point_error,
    quote,
    require,
    usage_error,
)
from ...language.tokens import has_unit_literals
from ...questions.distributions import FAMILIES, Distribution, Moments
from ...questions.measured_units import measured_value, with_unit
from ...questions.measured_value import (
    MeasuredValue,
    check_dof,
    concise,
    last_place,
    means,
    normal,
    of_draws,
    plus_minus,
)
from ...questions.optional_units import column_units, left_out, uses_angles
from ...questions.parse_point import Range, constant_value, is_name, pieces
from ...questions.problem import Point, as_number
from ...record import Record
from .covariance_matrix import CovarianceMatrix
from .fit_intervals import Ends, Estimates, FitProfiles, ProfiledParameter
from .measurement_model import Explicit, Implicit, Model, program_of, variables_of
from .worst_case import WorstCase, worst_cases

if TYPE_CHECKING:
    from ...questions.quantities import ProgramUnits, Units
    from .monte_carlo import Drawn

# The share of the variance from which on an output is distributed as one input is: EA-4/02 (2022), S9,
# where all others together have at most 0.3 of its contribution.
DOMINANT_SHARE = 1 / (1 + 0.3**2)
DEFAULT_LEVEL = 0.95  # of confidence, by default
DEFAULT_SEED = 1
SAMPLES_HINT = "`--samples 1e6` draws from the distributions instead"
LEAST_CHANGE = 1 / 3  # of the uncertainty: less is within what a standard uncertainty is known to
MAX_INPUTS = 1000
MAX_THIRD_ORDER_INPUTS = 24  # the number of third derivatives grows with the square
KINK_QUANTILES = 100  # of a normal distribution, if a kink is within reach
# standard uncertainties on both sides, and their weights: exact up to the ninth power
GAUSS_HERMITE = [(1.355626179974266, 0.2220759220056126), (2.8569700138728056, 0.01125741132772069)]
MAX_SCATTER = 3  # standard deviations between the draws and their distribution
MAX_OUTSIDE = 0.01  # share of draws outside the domain of a formula
# standard uncertainties, beyond which that share of a normal distribution lies
DOMAIN_REACH = 2.326
LEAVE_ONE = "leave one of them out"
# share of its terms that is left of a variance by rounding, where correlations cancel it
ROUNDED_VARIANCE = 2.0**-51
ROUNDED_VALUE = 1e-15  # share of a value, or of its terms, that is rounding
MAX_OPEN_VARIANCE = 0.02  # share of a variance that rounded digits of a covariance may leave open
EIGENVALUE_SLACK = 1e-9  # how far below 0 rounding may put an eigenvalue of a correlation matrix

Pair = tuple[str, str]


class Share(Record):
    """The contribution of an input to an output's uncertainty: a row of the budget."""

    sensitivity: float
    contribution: float
    share: float | None


class SecondOrderTerms(Record):
    """The second-order terms; JCGM 100, 5.1.2, note."""

    uncertainty: float | None
    shift: float
    matters: bool


class Validation(Record):
    """The comparison of the first order with the draws; JCGM 101, clause 8."""

    tolerance: float
    low: float
    high: float
    valid: bool | None


class Result(Record):
    """An output with its uncertainty."""

    output: str
    value: float
    uncertainty: float
    dof: float
    k: float
    level: float
    expanded: float
    written: str
    interval: str
    budget: dict[str, Share]
    second_order: SecondOrderTerms | None = None
    drawn: Drawn | None = None
    validation: Validation | None = None
    worst_case: WorstCase | None = None
    profile: Ends | None = None
    """The interval by the profile of a fit, if the output has its parameters and no other input."""


class Input(Record):
    """An input with an uncertainty."""

    estimate: float
    uncertainty: float
    distribution: Distribution
    readings: int


class Propagation(Plotted):
    """Outputs with their uncertainties."""

    declaration = """
    csv line id output quantity estimate[] uncertainty[] distribution dof
    csv sensitivity[] contribution[] share k expanded[] error
    results: the outputs, each with its uncertainty
      output: the output
      value: its value
      uncertainty: its combined standard uncertainty
      dof: the effective degrees of freedom; null where infinite
      k: the coverage factor
      level: the coverage probability
      expanded: the expanded uncertainty
      written: the value with its standard uncertainty, as it is written
      interval: the value with its expanded uncertainty, as it is written
      budget: the uncertainty budget, by input
        sensitivity: the partial derivative by the input
        contribution: the standard uncertainty that comes from the input
        share: how much of the variance that is, from 0 to 1
      second_order: the second-order terms; null at a kink, and where terms of higher order matter
        uncertainty: the standard uncertainty with them
        shift: by how much they move the mean
        matters: whether they change the uncertainty, or move the mean, by a third of it or more
      draws from=drawn: with `--samples`: the Monte Carlo draws
        mean: their mean
        deviation: their standard deviation
        shortest: the shortest coverage interval
        symmetric: the probabilistically symmetric coverage interval
        outside: how many had no value
        scatter: the standard deviation of the ends of the shortest interval
        edges: the edges of a histogram
        counts: its counts
      validation: with `--samples`: the first order compared with the draws
        tolerance: half a unit of the second digit of the standard uncertainty
        low: how far the lower ends of the intervals are apart
        high: how far the upper ends are apart
        valid: whether both are within the tolerance; null with too few draws
      worst_case optional nonempty: with `--worst-case`: the output while each input is within its \
      limits
        below: the sum of |sensitivity|·limit downwards
        above: that upwards
        low: the value with nominal inputs less that sum
        high: the value plus that sum
        proven_low: no value within the limits is smaller; null where that is not proven
        proven_high: no value within the limits is larger; null where that is not proven
      profile optional nonempty: with `--fit`: the interval by the fit's profile; null where an \
      end is open
    inputs: the inputs, by name
      estimate: the estimate
      uncertainty: its standard uncertainty
      distribution from=distribution.family: the family of its distribution
      parameters from=distribution.parameters: the parameters of the distribution
      dof: its degrees of freedom; null where infinite
      readings nonempty: how many readings it is the mean of
    correlation: the correlations of the inputs, by two names
    outputs: the outputs
    covariance: the covariance matrix of the outputs
    output_correlation: their correlation matrix
    samples nonempty: how many draws; null without any
    seed: the seed of the draws
    point
    units
    constants
    warnings
    """

    text: str
    results: list[Result]
    inputs: dict[str, Input]
    correlation: dict[str, dict[str, float]]
    covariance: list[list[float]]
    output_correlation: list[list[float | None]]
    samples: int
    seed: int
    interrupted: bool
    point: dict[str, float]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None

    def __repr__(self) -> str:
        return (
            "<Propagation:"
            f" {', '.join(f'{result.output} = {result.written}' for result in self.results)}>"
        )


def parse_pairs(texts: Iterable[str]) -> dict[Pair, float]:
    """Return the correlations in texts such as `V:I=-0.36,V:phi=0.86`.

    >>> parse_pairs(["V:I=-0.36"])
    {('V', 'I'): -0.36}
    """
    pairs: dict[Pair, float] = {}
    example = "write it as `V:I=-0.36`"
    for text in texts:
        for start, end in pieces(text):
            pair, equals, number = text[start:end].partition("=")
            a, _, b = (part.strip() for part in pair.partition(":"))
            if not (equals and is_name(a) and is_name(b) and a != b):
                raise point_error(
                    f"`{text[start:end]}` is not the correlation of two different names", example
                )
            r = constant_value(f"{a}:{b}", number)
            if not -1 <= r <= 1:
                raise point_error(
                    f"the correlation of `{a}` and `{b}` is {r:g}", "a correlation is from -1 to 1"
                )
            key = (b, a) if (b, a) in pairs else (a, b)
            if pairs.setdefault(key, r) != r:
                raise point_error(f"`{a}` and `{b}` are given two correlations", LEAVE_ONE)
    return pairs


def pairs_of_object(value: object) -> dict[Pair, float]:
    """Return the correlations in a JSON object: `{"V:I": -0.36}`."""
    if not isinstance(value, Mapping):
        raise ExpressionError(
            "request", "`correlation` is not an object", hint='write it as {"V:I": -0.36}'
        )
    return parse_pairs(f"{name}={number}" for name, number in value.items())


def estimates_of_fit(record: object) -> Estimates:
    """Return the parameters in a fit's JSON record."""
    try:
        assert isinstance(record, Mapping)
        errors, correlation, level = (
            record["standard_errors"],
            record["correlation"],
            float(record["level"]),
        )
        assert 0 < level < 1
        absolute = record.get("absolute_sigma")
        if "absolute_sigma" not in record:
            # older records have only the intervals
            ends = [
                (errors[name], high - low)
                for name, (low, high) in record["intervals"].items()
                if errors[name]
            ]
            k = coverage_factor(level, math.inf)
            absolute = all(
                math.isclose(width / 2 / error, k, rel_tol=1e-6) for error, width in ends
            )
        dof = math.inf if absolute else float(record["dof"])
        values: dict[str, float] = {}
        for name, estimate in record["parameters"].items():
            if errors[name] is not None:
                error = as_number(errors[name], name)
                values[name] = normal(name, as_number(estimate, name), error, dof=dof)
            elif name in record["held"]:
                values[name] = as_number(estimate, name)
        pairs = {
            (a, b): float(r) for a, row in correlation.items() for b, r in row.items() if a < b
        }
        units = {
            n: str(unit)
            for n, unit in record.get("units", {}).get("parameters", {}).items()
            if unit is not None
        }
        profiles, has_rows = _profiles_of(record), _has_rows(record)
    except (
        ExpressionError,
        AssertionError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
    ):
        hint = "write that with `autodiff fit … --output fit.json`"
        raise point_error("this is not an answer of `fit`", hint) from None
    return Estimates(values, pairs, level, units, profiles, record if has_rows else None)


def _profiles_of(record: Mapping[str, Any]) -> dict[str, Ends]:
    """Return the intervals by profile in a fit's record."""
    if record.get("interval_method") != "profile":
        return {}
    return {
        name: (ends[0], ends[1]) for name, ends in record["intervals"].items() if ends is not None
    }


def _has_rows(record: Mapping[str, Any]) -> bool:
    """Return whether a fit's record has the rows that it was made of. Raises an error if they are
    not so many.

    The work of fitting them again is bounded by how many they are.
    """
    if record.get("refit") is None:
        return False
    lengths = {len(column) for column in record["refit"].get("columns", {}).values()}
    assert lengths <= {record["rows"]} and type(record["rows"]) is int
    return True


def propagate(
    text: str,
    point: Point | None = None,
    *,
    unknowns: Sequence[str] | None = None,
    between: Mapping[str, Range] | Range | None = None,
    fitted: Estimates | None = None,
    covariance: CovarianceMatrix | None = None,
    correlation: Mapping[Pair, float] | None = None,
    dof: Mapping[str, float] | None = None,
    readings: Mapping[str, Sequence[float]] | None = None,
    draws: Mapping[str, Sequence[float]] | None = None,
    level: float | None = None,
    k: float | None = None,
    worst_case: bool | None = None,
    samples: int | None = None,
    seed: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    units: Sequence[str] | str | None = None,
    system: bool = False,
    by_size: bool = False,
) -> Propagation:
    """Return the outputs of the program `text` with their uncertainties.

    With `unknowns` or `between`, the text is equations. In a `system`, units of outputs are
    products of input units; `by_size` chooses prefixes. `stop` ends the draws. Raises
    `ExpressionError`.
    """
    level = level or (DEFAULT_LEVEL if fitted is None else fitted.level)
    seed = DEFAULT_SEED if seed is None else seed
    count, interrupted = _count_of_draws(samples), False
    is_implicit = not (unknowns is None and between is None)
    measured = readings or {}, draws or {}, correlation or {}
    sources = _Sources(text, is_implicit, point or {}, *measured)
    sources.add_estimates(covariance, fitted)
    units = sources.add_units(units)
    system = system or sources.has_measured_units
    values = sources.values
    model = _model(text, values, unknowns, between, units, system)
    warnings = [*model.warnings, *sources.notes]
    inputs = _inputs(model, dof or {}, sources.readings, warnings)
    first_notes = len(warnings)
    with _squares_in_doubles():
        tables = [*sources.tables.values()]
        spread = _spread(inputs, sources.correlation, sources.readings, tables, model, warnings)
        linear = _linearise(model, spread, warnings, by_size=by_size and not system)
        results = _results(linear, level, k, warnings, drawn=count > 0)
        results = linear.with_worst_cases(results) if worst_case else results
        if covariance is not None:
            warnings += _digit_warnings(linear, results, covariance.rounding_of_correlation())
        if count:
            copies = sources.copied_draws(inputs)
            results, count, interrupted = _with_draws(
                model, spread, results, linear.units, copies, count, seed, stop, warnings
            )
        of_outputs = _covariance_of_outputs(linear, results)
    if sources.profiled and fitted is not None:
        profiles = FitProfiles(model, list(inputs), fitted, sources.profiled)
        ends = profiles.intervals([result.output for result in results], linear.units, level)
        results = [result._replace(profile=own) for result, own in zip(results, ends, strict=True)]
        warnings[first_notes:first_notes] = profiles.warnings
    shown = {name: _as_typed(entry, values[name]) for name, entry in inputs.items()}
    warnings[first_notes:first_notes] = _input_notes(shown, values, bool(worst_case))
    return Propagation(
        text=text,
        results=results,
        inputs=shown,
        correlation=spread.correlation(),
        covariance=of_outputs,
        output_correlation=_normalise(of_outputs),
        samples=count,
        seed=seed,
        interrupted=interrupted,
        point={name: as_number(getattr(x, "number", x), name) for name, x in model.point.items()},
        constants=model.program.constants,
        warnings=tuple(warnings),
        units=None if model.units is None else _units_of_answer(model.units, inputs),
    )


def _count_of_draws(samples: int | None) -> int:
    """Return how many draws are wanted. Raises a usage error if the library for them is lacking."""
    if samples is not None:
        message = "`--samples` needs NumPy, which comes with the extra `optimize`"
        require("numpy", "optimize", message, "; without `--samples` the budget needs nothing")
    return samples or 0


def _covariance_of_outputs(linear: _Linearisation, results: Sequence[Result]) -> list[list[float]]:
    """Return the covariance matrix of the outputs. Raises OverflowError where a number of it is no
    double.
    """
    rows = [
        row if result.uncertainty else [0.0] * len(row)
        for row, result in zip(linear.whitened, results, strict=True)
    ]
    of_outputs = [[dot(one, other) for other in rows] for one in rows]
    if not all(math.isfinite(x) for row in of_outputs for x in row):
        raise OverflowError
    return of_outputs


def _model(
    text: str,
    values: Mapping[str, Any],
    unknowns: Sequence[str] | None,
    between: Mapping[str, Range] | Range | None,
    units: Sequence[str] | str | None,
    system: bool,
) -> Model:
    if unknowns is None and between is None:
        return Explicit(text, values, units, system)
    from ..solve.solve import posed_equations  # few models are equations

    return Implicit(posed_equations(text, values, unknowns, between, None, units, system=system))


@contextmanager
def _squares_in_doubles() -> Iterator[None]:
    try:
        yield
    except (OverflowError, ValueError):
        message = "the uncertainties are too large here for their squares in double precision"
        raise ExpressionError("overflow", message, hint="compute in larger units") from None


class _Sources:
    """The quantities of a propagation, wherever they are from, with their correlations and
    units.
    """

    def __init__(
        self,
        text: str,
        is_implicit: bool,
        point: Mapping[str, Any],
        readings: Mapping[str, Sequence[float]],
        draws: Mapping[str, Sequence[float]],
        correlation: Mapping[Pair, float],
    ) -> None:
        self.text, self.is_implicit, self.readings, self.correlation = (
            text,
            is_implicit,
            readings,
            correlation,
        )
        self.quantities: dict[str, Any] = {}  # as given
        self.measured: dict[str, Any] = {}  # of columns and fits
        self.profiled: dict[str, ProfiledParameter] = {}  # of a fit
        self.tables: dict[str, dict[str, Sequence[float]]] = {"": {**draws}} if draws else {}
        self.linear: dict[str, Any] = {}  # of the package `uncertainties`
        self.texts: dict[str, str] = {
            **getattr(readings, "units", {}),
            **getattr(draws, "units", {}),
        }
        self.notes: list[Diagnostic] = []
        self.of_matrix: list[str] = []  # the quantities of a covariance matrix
        for name, value in point.items():
            self.quantities[name] = self._quantity(name, value)
        for name, column in readings.items():
            self._check_column(name, column, "reading")
            self.measured[name] = normal(name, *means(column), dof=len(column) - 1.0)
        for name, column in draws.items():
            self._check_column(name, column, "draw")
            self.measured[name] = of_draws(name, column)

    @property
    def values(self) -> dict[str, Any]:
        return {**self.quantities, **self.measured}

    @property
    def has_measured_units(self) -> bool:
        return any(hasattr(x, "unit") for x in self.measured.values())

    def _quantity(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return measured_value(name, value)
        # quantities of the package `uncertainties` and others like it
        if hasattr(value, "nominal_value") and hasattr(value, "std_dev"):
            self.linear[name] = value
            return normal(
                name, as_number(value.nominal_value, name), as_number(value.std_dev, name)
            )
        if hasattr(value, "copied"):
            table, column = value.copied
            self.tables.setdefault(table, {})[name] = column
        return value

    def _check_column(self, name: str, column: Sequence[float], what: str) -> None:
        if name in self.quantities or name in self.measured:
            raise point_error(
                f"`{name}` has a value in `--at`, and is a column of the {what}s", LEAVE_ONE
            )
        if len(column) < 2:
            message = (
                f"`{name}` has {plural(len(column), what)}, which does not give its uncertainty"
            )
            raise point_error(
                message, "give two rows or more, or the value with its uncertainty in `--at`"
            )

    def add_estimates(self, covariance: CovarianceMatrix | None, fitted: Estimates | None) -> None:
        """Add what was estimated together, and the correlations of numbers that depend on each
        other.
        """
        if covariance is not None:
            self.add_covariance(covariance)
        if fitted is not None:
            self.add_fit(fitted)
        self.add_linear_correlations()

    def add_covariance(self, matrix: CovarianceMatrix) -> None:
        """Give the quantities that a covariance matrix names their uncertainties and
        correlations.
        """
        names = variables_of(self.text, [*matrix.values, *self.values], self.is_implicit)
        self.of_matrix = used = [name for name in matrix.names if name in names]
        if not used:
            message = (
                f"the program has none of the quantities of the covariance, {quote(matrix.names)}"
            )
            raise point_error(
                message, "its names are those of variables; `--columns x=NAME` renames them"
            )
        for name in used:
            if name in self.measured:
                raise point_error(
                    f"`{name}` is in the covariance, and is a column of the data too", LEAVE_ONE
                )
            self.measured[name] = normal(
                name, self._value_in(matrix, name), matrix.uncertainties[name]
            )
            self.quantities.pop(name, None)
        for a, b in combinations(used, 2):
            if (a, b) in self.correlation or (b, a) in self.correlation:
                message = f"the correlation of `{a}` and `{b}` is given, and is in the covariance"
                raise point_error(message, LEAVE_ONE)
        self.texts |= {name: unit for name, unit in matrix.units.items() if name in used}
        together = {pair: r for pair, r in matrix.correlation().items() if {*used} >= {*pair}}
        self.correlation = {**self.correlation, **together}

    def _value_in(self, matrix: CovarianceMatrix, name: str) -> float:
        """Return the value of a quantity, in the unit that the covariance names."""
        value = self.quantities.get(name, matrix.values.get(name))
        if value is None:
            message = f"`{name}` has no value: the covariance has only its uncertainty"
            raise ExpressionError("missing_value", message, hint=f"give it: `--at {name}=…`")
        if isinstance(value, MeasuredValue):
            raise point_error(
                f"`{name}` has an uncertainty in `--at`, and one in the covariance", LEAVE_ONE
            )
        own, text = getattr(value, "unit", None), matrix.units.get(name)
        if own is None:
            return as_number(value, name)
        if text is None:
            message = f"`{name}` is in {own}, and its column of the covariance has no unit"
            raise point_error(message, f"name the unit in its heading: `{name} [{own}]`")
        unit = parse_unit(text)
        if unit.dimension != own.dimension:
            raise point_error(
                f"`{name}` is in {own}, and in the covariance it is in {text}", LEAVE_ONE
            )
        return present(float(value), unit)  # a quantity is in SI units

    def add_fit(self, fitted: Estimates) -> None:
        """Add the parameters of a fit that the program has, and that are not given otherwise."""
        names = variables_of(self.text, [*fitted.values, *self.values], self.is_implicit)
        if twice := [name for name in fitted.values if name in names and name in self.of_matrix]:
            raise point_error(
                f"`{twice[0]}` is a parameter of the fit, and is in the covariance", LEAVE_ONE
            )
        used = {
            name: x
            for name, x in fitted.values.items()
            if name in names and name not in self.values
        }
        self.measured |= used
        self.texts |= {name: unit for name, unit in fitted.units.items() if name in used}
        together = {pair: r for pair, r in fitted.correlation.items() if used.keys() >= set(pair)}
        self.correlation = {**together, **self.correlation}
        self.profiled = {
            name: ProfiledParameter(float(x), x.uncertainty, fitted.profiles[name])
            for name, x in used.items()
            if name in fitted.profiles and isinstance(x, MeasuredValue)
        }

    def add_linear_correlations(self) -> None:
        """Add the correlations that follow from numbers of the package `uncertainties`."""
        shared = _correlations_of_linear(self.linear)
        if not shared:
            return
        names = variables_of(self.text, list(self.values), self.is_implicit)
        shared = {pair: r for pair, r in shared.items() if names.keys() >= set(pair)}
        for a, b in shared:
            if (a, b) in self.correlation or (b, a) in self.correlation:
                message = (
                    f"the correlation of `{a}` and `{b}` is given, and follows from their numbers"
                )
                raise point_error(message, LEAVE_ONE)
        self.correlation = {**shared, **self.correlation}

    def add_units(self, wanted: Sequence[str] | str | None) -> Sequence[str] | str | None:
        """Give the measured quantities the units of their columns or of their fit; return those
        that are asked for.
        """
        if left_out(wanted):
            return None
        if self.texts:
            self._add_units(asked=bool(wanted))
        return wanted

    def _add_units(self, *, asked: bool) -> None:
        have_units = any(hasattr(x, "unit") for x in self.quantities.values())
        asked = asked or has_unit_literals(self.text) or have_units
        angles = uses_angles(program_of(self.text, list(self.values), self.is_implicit))
        by_name, notes = column_units(self.measured, self.texts, asked, angles=angles)
        self.notes += notes
        with_units = {name: unit for name, unit in by_name.items() if unit.atoms}
        self.measured |= {
            name: with_unit(name, self.measured[name], str(unit))
            for name, unit in with_units.items()
        }

    def copied_draws(self, inputs: Iterable[str]) -> list[dict[str, Sequence[float]]]:
        """Return the tables of draws, with the columns that are inputs, in SI units."""
        values, copies = self.values, []
        units = {name: getattr(values[name], "unit", Unit()) for name in inputs}
        for table in self.tables.values():
            columns = {name: column for name, column in table.items() if name in units}
            copies.append(
                {
                    n: convert_column(x, units[n], si_unit(units[n].dimension))
                    for n, x in columns.items()
                }
            )
        return [table for table in copies if table]


class _Linearisation(NamedTuple):
    """The outputs and their derivatives by the inputs."""

    model: Model
    spread: _InputCovariance
    units: list[Unit]  # of outputs
    estimates: list[float]
    rows: list[list[float]]
    whitened: list[list[float]]  # derivatives by independent draws of unit variance

    def with_worst_cases(self, results: Sequence[Result]) -> list[Result]:
        """Return the results with their worst cases."""
        cases = worst_cases(self.model, self.rows, list(self.spread.inputs), self.units)
        return [
            result._replace(worst_case=case) for result, case in zip(results, cases, strict=True)
        ]


def _linearise(
    model: Model, spread: _InputCovariance, warnings: list[Diagnostic], *, by_size: bool
) -> _Linearisation:
    names, directions = list(spread.inputs), [*zip(*spread.root, strict=True)]
    estimates, rows, met = model.first_order(names)
    warnings += met
    combined = [math.hypot(*[dot(row, way) for way in directions]) for row in rows]
    warnings += model.rounding_warnings(names, combined)
    of_program = model.units
    units = [Unit()] * len(model.outputs) if of_program is None else of_program.outputs
    if of_program is not None and by_size:
        units = of_program.outputs = [
            unit if j in of_program.chosen else readable_unit(unit, present(x, unit))
            for j, (unit, x) in enumerate(zip(units, estimates, strict=True))
        ]
    in_units = [present(x, unit) for unit, x in zip(units, estimates, strict=True)]
    rows = [
        [present_difference(x, unit) for x in row] for unit, row in zip(units, rows, strict=True)
    ]
    whitened = [[dot(row, way) for way in directions] for row in rows]
    return _Linearisation(model, spread, units, in_units, rows, whitened)


def _results(
    linear: _Linearisation,
    level: float,
    k: float | None,
    warnings: list[Diagnostic],
    *,
    drawn: bool,
) -> list[Result]:
    model, spread, results = linear.model, linear.spread, []
    for j, (output, estimate, row) in enumerate(
        zip(model.outputs, linear.estimates, linear.rows, strict=True)
    ):
        unit, shown = linear.units[j], row
        if model.units is not None:
            to = [model.units.sensitivity(name, j) for name in spread.inputs]
            shown = [convert_difference(c, unit, own) for own, c in zip(to, row, strict=True)]
        first = spread.result(output, estimate, row, shown, level, k)
        expansion = _Expansion(model, j, unit, spread, linear.whitened[j], first)
        second, warning = expansion.second_order(drawn=drawn)
        results.append(first._replace(second_order=second))
        if warning is None and k is None and not drawn:
            warning = expansion.beyond_limits()
        warnings += [warning] if warning else []
    return results


def _digit_warnings(
    linear: _Linearisation, results: Sequence[Result], rounding: Mapping[Pair, float]
) -> Iterator[Diagnostic]:
    """Yield a warning for each output whose variance is of the order of what the digits of the
    covariance leave open.

    Variances of correlated estimates cancel in a sum.
    """
    inputs = linear.spread.inputs
    for result, row in zip(results, linear.rows, strict=True):
        parts = {
            name: abs(c) * x.uncertainty for c, (name, x) in zip(row, inputs.items(), strict=True)
        }
        open_parts = [
            (1 if a == b else 2) * parts[a] * parts[b] * r
            for (a, b), r in rounding.items()
            if {a, b} <= parts.keys()
        ]
        if math.fsum(open_parts) > MAX_OPEN_VARIANCE * result.uncertainty**2:
            message = (
                "the digits of the covariance do not determine the uncertainty of"
                f" `{result.output}`"
            )
            yield Diagnostic(
                "digits",
                message,
                None,
                "write the matrix with more digits: in R `print(v, digits = 15)`",
            )


def _as_typed(entry: Input, value: Any) -> Input:
    """Return the input in the unit in which its value was typed."""
    if not hasattr(value, "unit"):
        return entry
    own = value.typed
    distribution = own.distribution._replace(dof=entry.distribution.dof)
    return entry._replace(
        estimate=float(own), uncertainty=own.uncertainty, distribution=distribution
    )


def _input_notes(
    inputs: Mapping[str, Input], values: Mapping[str, Any], worst_case: bool
) -> Iterator[Diagnostic]:
    """Yield notes on how the uncertainties of inputs are read."""
    yield from _limit_notes(inputs, values, worst_case)
    for name, own in inputs.items():
        if own.distribution.family == "twopiece":
            yield _two_piece_note(name, own, getattr(values[name], "unit", Unit()))


def _two_piece_note(name: str, own: Input, unit: Unit) -> Diagnostic:
    value, degree = (f" {of}".rstrip() for of in (unit, unit.degree))
    mode, below, above = (f"{x:.6g}" for x in own.distribution.parameters)
    message = (
        f"`{name}` is taken as two halves of normal distributions that meet at {mode}{value}, with"
        f" the standard deviations {below}{degree} below and {above}{degree} above: its mean is"
        f" {own.estimate:.6g}{value}, and u {own.uncertainty:.6g}{degree}"
    )
    return Diagnostic(
        "distribution", message, None, "`--samples 1e6` keeps the asymmetry in the result"
    )


def _limit_notes(
    inputs: Mapping[str, Input], values: Mapping[str, Any], worst_case: bool
) -> Iterator[Diagnostic]:
    """Yield notes on what is read as a limit, and what as a standard uncertainty."""
    kinds = {
        name: getattr(getattr(values[name], "typed", values[name]), "limit", "") for name in inputs
    }
    tolerances = [name for name, kind in kinds.items() if kind == "tolerance"]
    for name in tolerances:
        low, high = inputs[name].distribution.parameters
        unit = f" {getattr(values[name], 'unit', '')}".rstrip()
        message = f"`{name}` is read as a tolerance: uniform from {low:.6g} to {high:.6g}{unit}"
        yield Diagnostic(
            "distribution", message, None, f"u is {inputs[name].uncertainty:.4g}, the width by √12"
        )
    signed = [name for name, entry in inputs.items() if entry.distribution.family == "twopiece"]
    if signed and worst_case:
        message = (
            f"the signed uncertainties of {quote(signed)} are standard deviations in the budget,"
            " and limits in the"
        )
        yield Diagnostic(
            "distribution",
            f"{message} worst case",
            None,
            "write limits of a tolerance as `uniform(a, b)`",
        )
    stated = [name for name, kind in kinds.items() if kind == "stated"]
    if stated and (worst_case or tolerances):
        meaning = (
            "is taken as a standard uncertainty"
            if len(stated) == 1
            else "are taken as standard uncertainties"
        )
        message = f"the ± of {quote(stated)} {meaning} in the budget"
        message += (
            f", and as {'a limit' if len(stated) == 1 else 'limits'} in the worst case"
            if worst_case
            else ""
        )
        hint = (
            "± on a drawing is a limit: write `uniform(49.9, 50.1)` for `50±0.1`, whose u is 0.0577"
        )
        yield Diagnostic("distribution", message, None, hint)


def _units_of_answer(units: ProgramUnits, inputs: Iterable[str]) -> Units:
    names = list(inputs)
    of_inputs = {
        n: {"estimate": units.point[n], "uncertainty": units.point[n].degree} for n in names
    }
    of_results = []
    for j, unit in enumerate(units.outputs):
        shares = {
            n: {"sensitivity": units.sensitivity(n, j), "contribution": unit.degree} for n in names
        }
        case = dict.fromkeys(("below", "above"), unit.degree)
        case |= dict.fromkeys(("low", "high", "proven_low", "proven_high"), unit)
        of_results.append(
            {"value": unit, "uncertainty": unit.degree, "budget": shares, "worst_case": case}
        )
    return units.tree(results=of_results, inputs=of_inputs)


def _inputs(
    model: Model,
    dof: Mapping[str, float],
    readings: Mapping[str, Sequence[float]],
    warnings: list[Diagnostic],
) -> dict[str, Input]:
    inputs = {
        name: Input(
            float(value), value.uncertainty, value.distribution, len(readings.get(name, ()))
        )
        for name, value in model.point.items()
        if isinstance(value, MeasuredValue)
    }
    for name, degrees in dof.items():
        check_dof(name, degrees)
        if name not in inputs:
            warnings.append(_unused(name, "degrees of freedom", inputs))
            continue
        distribution = inputs[name].distribution
        if not math.isinf(distribution.dof) and distribution.dof != degrees:
            two = f"{distribution.dof:g} and {degrees:g}"
            raise point_error(f"`{name}` is given two degrees of freedom, {two}", LEAVE_ONE)
        inputs[name] = inputs[name]._replace(distribution=distribution._replace(dof=degrees))
    warnings += _notes_of_equal_readings(inputs, readings)
    if not inputs:
        example = next(iter(model.point), "x")
        hint = (
            f'write it after the value: `--at "{example}=5.00±0.02"`; those of a fit come by `--fit'
            " fit.json`"
        )
        raise point_error("no value has an uncertainty", hint)
    if len(inputs) > MAX_INPUTS:
        message = (
            f"{len(inputs):,} inputs with uncertainties are too many; {MAX_INPUTS:,} is the most"
        )
        raise ExpressionError(
            "limit", message, hint="give those that hardly matter without an uncertainty"
        )
    return inputs


def _notes_of_equal_readings(
    inputs: Mapping[str, Input], readings: Mapping[str, Sequence[float]]
) -> Iterator[Diagnostic]:
    """Yield a warning of quantities whose readings do not scatter: JCGM 100, F.2.2.1."""
    same = [
        name
        for name, own in inputs.items()
        if own.uncertainty == 0 and len(readings.get(name, ())) > 1
    ]
    if same:
        message = (
            f"the readings of {quote(same)} are all the same: their scatter gives no uncertainty"
        )
        hint = (
            f"that of the resolution stays: with steps of 0.1, `{same[0]} + d` and `--at"
            ' "d=uniform(-0.05, 0.05)"`'
        )
        yield Diagnostic("readings", message, None, hint)


def _unused(name: str, what: str, names: Iterable[str]) -> Diagnostic:
    message = f"`{name}` has {what}, and no uncertainty in this program"
    return Diagnostic(
        "unused", message, None, f"leave it out; those with an uncertainty are {quote(names)}"
    )


class _InputCovariance(NamedTuple):
    inputs: Mapping[str, Input]
    matrix: list[list[float]]  # their correlations
    # places of inputs that are correlated; the degrees of freedom of their sum
    groups: list[tuple[list[int], float]]
    root: list[list[float]]  # R with R·Rᵀ their covariance; diagonal where they are independent

    def correlation(self) -> dict[str, dict[str, float]]:
        """Return the correlations of inputs, if any are correlated."""
        if all(len(members) == 1 for members, _ in self.groups):
            return {}
        rows = zip(self.inputs, self.matrix, strict=True)
        return {name: dict(zip(self.inputs, row, strict=True)) for name, row in rows}

    def _variance(self, scaled: Sequence[float], shared: Sequence[float]) -> float:
        """Return the sum of the `shared` parts of a variance; 0 where correlations leave only their
        rounding.
        """
        variance = max(0.0, math.fsum(shared))
        terms = [
            abs(a * r * b)
            for a, line in zip(scaled, self.matrix, strict=True)
            for r, b in zip(line, scaled, strict=True)
        ]
        return 0.0 if variance <= ROUNDED_VARIANCE * math.fsum(terms) else variance

    def result(
        self,
        name: str,
        value: float,
        row: Sequence[float],
        slopes: Sequence[float],
        level: float,
        k: float | None,
    ) -> Result:
        """Return an output with uncertainties, JCGM 100, 5.2.2 and 6; `slopes` is `row` as
        shown.
        """
        parts = [c * x.uncertainty for c, x in zip(row, self.inputs.values(), strict=True)]
        size = max(map(abs, parts), default=0.0) or 1.0
        scaled = [part / size for part in parts]
        shared = [a * dot(line, scaled) + 0.0 for a, line in zip(scaled, self.matrix, strict=True)]
        variance = self._variance(scaled, shared)
        u = size * math.sqrt(variance)
        budget = {
            x: Share(c, abs(part), of / variance if variance else None)
            for x, c, part, of in zip(self.inputs, slopes, parts, shared, strict=True)
        }
        # JCGM 100, G.4.1
        independent = [
            (max(0.0, math.fsum(shared[i] for i in members)), dof) for members, dof in self.groups
        ]
        unsure = math.fsum(
            part**2 / dof for part, dof in independent if variance and not math.isinf(dof)
        )
        dof = variance * variance / unsure if unsure else math.inf
        rounded_dof = dof if math.isinf(dof) else max(1.0, math.floor(dof * (1 + 1e-12)))
        if k is None:
            k = coverage_factor(level, rounded_dof)
        else:
            level = level_of(k, rounded_dof)
        written, interval = concise(value, u), plus_minus(value, k * u, k)
        return Result(name, value, u, dof, k, level, k * u, written, interval, budget)


def _spread(
    inputs: Mapping[str, Input],
    pairs: Mapping[Pair, float],
    readings: Mapping[str, Sequence[float]],
    draws: Sequence[Mapping[str, Sequence[float]]],
    model: Model,
    warnings: list[Diagnostic],
) -> _InputCovariance:
    names, matrix = list(inputs), identity(len(inputs))
    correlations = {
        (a, b): _correlation(columns[a], columns[b])
        for columns in (readings, *draws)
        for a, b in combinations([name for name in names if name in columns], 2)
    }
    for (a, b), r in pairs.items():
        if drawn := [name for name in (a, b) if any(name in table for table in draws)]:
            message = f"the correlations of `{drawn[0]}` are those of its draws"
            raise point_error(
                message, "leave them out, or give both columns in the file of the draws"
            )
        if a in readings and b in readings:
            raise point_error(
                f"the correlation of `{a}` and `{b}` is given, and follows from the readings",
                LEAVE_ONE,
            )
        missing = [name for name in (a, b) if name not in inputs]
        for name in missing:
            if name not in model.point:
                warnings.append(_unused(name, "a correlation", names))
            elif r:
                raise point_error(
                    f"`{name}` has a correlation and no uncertainty",
                    f"give it one: `{name}=5.00±0.02`",
                )
        if not missing:
            correlations[a, b] = r
    for (a, b), r in correlations.items():
        i, j = names.index(a), names.index(b)
        matrix[i][j] = matrix[j][i] = r
    groups = _groups(inputs, matrix, warnings)
    root = [
        [x * entry.uncertainty for x in row] + [0.0] * (len(names) - len(row))
        for entry, row in zip(
            inputs.values(), cholesky(matrix, EIGENVALUE_SLACK) or [], strict=True
        )
    ]
    return _InputCovariance(inputs, matrix, groups, root)


def _groups(
    inputs: Mapping[str, Input], matrix: Sequence[Sequence[float]], warnings: list[Diagnostic]
) -> list[tuple[list[int], float]]:
    names, dof = list(inputs), [x.distribution.dof for x in inputs.values()]
    left, groups = [*range(len(names))], []
    while left:
        # inputs correlated through others too are one component of Welch-Satterthwaite
        members = [left.pop(0)]
        for i in members:
            members += [j for j in left if matrix[i][j]]
            left = [j for j in left if not matrix[i][j]]
        members.sort()
        listed, degrees = quote([names[i] for i in members]), {dof[i] for i in members}
        if len(degrees) > 1:
            sentence = f"the fewest, {min(degrees):g}, are taken for all of them"
            message = f"{listed} are correlated and have different degrees of freedom; {sentence}"
            warnings.append(
                Diagnostic("dof", message, None, "JCGM 100, G.4.1, is about independent inputs")
            )
        groups.append((members, min(degrees)))
        block = [[matrix[i][j] for j in members] for i in members]
        if len(members) > 1 and (least := eigenvalues(block)[0]) < -EIGENVALUE_SLACK * len(members):
            message = (
                f"the correlations of {listed} cannot all be: their matrix has the eigenvalue"
                f" {least:.2g}"
            )
            hint = (
                "such correlations are impossible; check the signs, and give more digits of"
                " correlations near 1"
            )
            raise point_error(message, hint)
    return groups


def _correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the correlation of two columns, 0 for a constant one; JCGM 100, 5.2.3."""
    (mean_a, u_a), (mean_b, u_b) = means(a), means(b)
    if not (u_a and u_b):
        return 0.0
    n = len(a)
    covariance = (
        math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / (n - 1) / n
    )
    return max(-1.0, min(1.0, covariance / (u_a * u_b)))


def _normalise(covariance: Sequence[Sequence[float]]) -> list[list[float | None]]:
    rows: list[list[float | None]] = []
    for i, row in enumerate(covariance):
        sizes = [math.sqrt(row[i]) * math.sqrt(other[j]) for j, other in enumerate(covariance)]
        rows.append(
            [
                max(-1.0, min(1.0, x / size)) if size else None
                for x, size in zip(row, sizes, strict=True)
            ]
        )
        rows[i][i] = 1.0 if row[i] else None
    return rows


def _correlations_of_linear(values: Mapping[str, Any]) -> dict[Pair, float]:
    """Return the correlations of numbers of the package `uncertainties`, which are linear in
    independent variables.
    """
    parts: dict[str, dict[Any, float]] = {}
    for name, value in values.items():
        slopes = getattr(value, "derivatives", None) or {}
        parts[name] = {
            variable: float(slope) * float(variable.std_dev) for variable, slope in slopes.items()
        }
    correlations: dict[Pair, float] = {}
    for a, b in combinations(parts, 2):
        common = parts[a].keys() & parts[b].keys()
        sizes = math.hypot(*parts[a].values()), math.hypot(*parts[b].values())
        if common and all(sizes):
            r = math.fsum(parts[a][x] / sizes[0] * (parts[b][x] / sizes[1]) for x in common)
            correlations[a, b] = max(-1.0, min(1.0, r))
    return {pair: r for pair, r in correlations.items() if r}


class _Expansion:
    """The Taylor polynomial of an output in independent directions of unit variance."""

    def __init__(
        self,
        model: Model,
        output: int,
        unit: Unit,
        spread: _InputCovariance,
        slopes: Sequence[float],
        first: Result,
    ) -> None:
        self.model, self.output, self.unit, self.slopes, self.first = (
            model,
            output,
            unit,
            slopes,
            first,
        )
        self.names, self.root = list(spread.inputs), spread.root
        self._thirds: dict[tuple[float, ...], float] = {}
        shares = zip(first.budget.values(), spread.inputs.values(), strict=True)
        # equal terms that are subtracted leave their rounding
        terms = [
            share.contribution / own.uncertainty * abs(own.estimate)
            for share, own in shares
            if own.uncertainty
        ]
        self.tolerance = max(_tolerance(first), ROUNDED_VALUE * max(terms, default=0.0))
        # correlated inputs are taken as jointly normal
        self.moments, self.ends = (
            [Moments()] * len(self.names),
            [(-math.inf, math.inf)] * len(self.names),
        )
        for (i, *others), _ in spread.groups:
            estimate, u, distribution, _ = spread.inputs[self.names[i]]._asdict().values()
            if u and not others:
                self.moments[i] = FAMILIES[distribution.family].moments(*distribution.parameters)
                low, high = distribution.support
                self.ends[i] = (low - estimate) / u, (high - estimate) / u

    def beyond_limits(self) -> Diagnostic | None:
        """Return a warning where the interval reaches beyond the limits of the input that has nearly
        all of the variance, else None: the coverage factor is that of a normal distribution.
        """
        first = self.first
        for (name, share), (low, high) in zip(first.budget.items(), self.ends, strict=True):
            limit = max(-low, high) * share.contribution
            if (share.share or 0.0) >= DOMINANT_SHARE and first.expanded > limit:
                named = f"{first.output}: " if len(self.model.outputs) > 1 else ""
                message = (
                    f"{named}{first.k:.3g}·u reaches beyond the limits of `{name}`, which has"
                    f" {100 * (share.share or 0.0):.1f} % of the variance: it covers more than"
                    f" {100 * first.level:.4g} %"
                )
                return Diagnostic("coverage", message, None, f"{SAMPLES_HINT}; JCGM 101, 9.2.4")
        return None

    def second_order(self, *, drawn: bool) -> tuple[SecondOrderTerms | None, Diagnostic | None]:
        if len(self.names) > MAX_THIRD_ORDER_INPUTS:
            return None, None
        first, moments = self.first, self.moments
        named = f"{first.output}: " if len(self.model.outputs) > 1 else ""
        unknown = f"{named}cannot determine whether the first order is enough: "
        bent = f"{named}over these uncertainties the formula is not linear enough: "
        advice = None if drawn else SAMPLES_HINT
        try:
            own = [(row[i], moments[i].variance) for i, row in enumerate(self.second)]
            if (kink := self._kink_in_reach()) is not None:
                return None, Diagnostic("linearity", bent + kink.message, kink.span, advice)
            # dividing by a power of two avoids overflow and underflow of squares
            size = math.ldexp(1.0, math.frexp(max(map(abs, chain(self.slopes, *self.second))))[1])
            terms = self._variance_terms(size)
        except Diagnosed as error:
            return None, Diagnostic("linearity", f"{unknown}{error}", error.span, advice)
        infinite = [
            name for name, m in zip(self.names, moments, strict=True) if math.isinf(m.fourth)
        ]
        if infinite and not all(map(math.isfinite, terms)):
            message = (
                f"{unknown}with so few degrees of freedom `{infinite[0]}` gives a result of"
                " infinite variance"
            )
            return None, Diagnostic("linearity", message, None, advice)
        shift = math.fsum(g * v for g, v in own if g) / 2
        scaled = first.uncertainty / size
        variance = scaled * scaled + math.fsum(terms)
        higher = size * math.sqrt(variance) if variance >= 0 else None
        unit = f" {self.unit}".rstrip()
        changes = ["they would make the variance negative"] if higher is None else []
        least = max(self.tolerance, LEAST_CHANGE * first.uncertainty)
        if higher is not None and abs(higher - first.uncertainty) > least:
            written = concise(first.value, higher)
            changes += [f"with them it is {written}{unit}"] if written != first.written else []
        if abs(shift) > least and concise(first.value + shift, first.uncertainty) != first.written:
            changes.append(f"the mean moves by {shift:.2g}{unit}")
        message = f"{bent}second-order terms matter; {', and '.join(changes)}"
        hint = "JCGM 100, 5.1.2, note" + (f"; {advice}" if advice else "")
        warning = Diagnostic("linearity", message, None, hint) if changes else None
        if warning is None and (name := self._beyond_domain()):
            message = f"{bent}it is undefined at likely values of `{name}`"
            return None, Diagnostic(
                "linearity", message, None, "the distribution reaches beyond the domain"
            )
        # what the second order explains is no sign of higher orders
        changed = max(abs(shift), math.inf if higher is None else abs(higher - first.uncertainty))
        beyond = least if changed > self.tolerance else self.tolerance
        if warning is None and any(self._departs(*line, 0.0, beyond) for line in self._lines()):
            return None, Diagnostic(
                "linearity", f"{bent}terms beyond the third order matter", None, advice
            )
        return SecondOrderTerms(higher, shift, bool(changes)), warning

    def _lines(self) -> Iterator[tuple[list[float], list[tuple[float, float]]]]:
        # each input's direction and the steepest one, with places and weights
        ways = identity(len(self.names))
        norm = math.hypot(*self.slopes)
        if norm and len(self.names) > 1:
            ways.append([slope / norm for slope in self.slopes])
        for way, m in zip(ways, [*self.moments, Moments()], strict=False):
            if math.isinf(m.variance):
                continue
            # Hong, Reliability Engineering and System Safety 59 (1998) 261
            half = math.sqrt(max(m.fourth - 0.75 * m.third**2, 0.0))
            nodes = [(t, 1 / (2 * half * abs(t))) for t in (m.third / 2 + half, m.third / 2 - half)]
            if not m.third and m.fourth >= 3 * m.variance**2:
                nodes = [
                    (s * t * math.sqrt(m.variance), w) for t, w in GAUSS_HERMITE for s in (1, -1)
                ]
            limits = [
                sorted((low / t, high / t))
                for t, (low, high) in zip(way, self.ends, strict=True)
                if t
            ]
            low, high = max(low for low, _ in limits), min(high for _, high in limits)
            yield way, [(max(low, min(t, high)), w) for t, w in nodes]

    def _beyond_domain(self) -> str | None:
        primitives, reach = self.model.program.graph.primitives, max(DOMAIN_REACH, self.first.k)
        if not (
            isinstance(self.model, Explicit) and any({*p.domain} & {"<", ">"} for p in primitives)
        ):
            return None
        for i, (name, (low, high)) in enumerate(zip(self.names, self.ends, strict=True)):
            for t in (max(-reach, 0.999 * low), min(reach, 0.999 * high)):
                moves = zip(self.names, self.root, strict=True)
                moved = {
                    other: float(self.model.values[other]) + t * row[i]
                    for other, row in moves
                    if row[i]
                }
                if moved and self.model.at(self.output, moved) is None:
                    return name
        return None

    @cached_property
    def second(self) -> list[list[float]]:
        rows, columns = (
            self.model.second_order(self.output, self.names),
            list(zip(*self.root, strict=True)),
        )
        matrix = [[present_difference(float(x), self.unit) for x in row] for row in rows]

        def along(a: Sequence[float], b: Sequence[float]) -> float:
            return math.fsum(
                x * y * h
                for x, row in zip(a, matrix, strict=True)
                for y, h in zip(b, row, strict=True)
            )

        return [[along(a, b) for b in columns] for a in columns]

    def _third(self, direction: Iterable[float]) -> float:
        """Return the third derivative along a direction, an odd function of it."""
        way = tuple(direction)
        if not any(way):
            return 0.0
        # most directions are asked for several times, from either side
        sign = -1.0 if next(filter(None, way)) < 0 else 1.0
        ahead = tuple([sign * d for d in way])
        if ahead not in self._thirds:
            moved = {name: d for name, d in zip(self.names, ahead, strict=True) if d}
            third = self.model.third_order(self.output, moved)
            self._thirds[ahead] = present_difference(third, self.unit)
        return sign * self._thirds[ahead]

    def _kink_in_reach(self) -> Diagnostic | None:
        first, quantiles = self.first, _kink_quantiles(self.first.level, self.first.k)
        for node, value, along in self.model.kinks(self.output, self.names, self.root):
            size = math.hypot(*along)
            way = [-math.copysign(t / size, value * t) for t in along]
            end = min(ends[t > 0] / t for t, ends in zip(way, self.ends, strict=True) if t)
            distance = abs(value) / size
            if not 0 < distance < min(max(first.k, quantiles[-1]), end):
                continue
            nodes = [(min(t, end), 1 / KINK_QUANTILES) for t in quantiles if t > distance]
            if self._departs(way, nodes, math.inf, self.tolerance):
                fault = (
                    "turns"
                    if node.primitive.gives_condition
                    else "jumps"
                    if node.primitive.jumps
                    else "has a kink"
                )
                place = f"{distance:.2g} standard uncertainties away"
                place = "within the coverage interval" if distance < first.k else place
                span = node.graph.span(node.node)
                return Diagnostic(
                    "linearity", f"`{node.primitive.written}` {fault} {place}", span, None
                )
        return None

    def _departs(
        self,
        way: Sequence[float],
        nodes: Sequence[tuple[float, float]],
        undefined: float,
        tolerance: float,
    ) -> bool:
        step = [dot(row, way) for row in self.root]
        slope, third = dot(self.slopes, way), self._third(step)
        second = dot(way, [dot(row, way) for row in self.second])
        departures = []
        for t, weight in nodes:
            moves = zip(self.names, step, strict=True)
            value = self.model.at(
                self.output, {name: float(self.model.values[name]) + t * d for name, d in moves}
            )
            polynomial = self.first.value + t * (slope + t * (second / 2 + t * third / 6))
            departure = undefined if value is None else present(value, self.unit) - polynomial
            departures.append((t, weight, departure))
        if not all(math.isfinite(d) for _, _, d in departures):
            return True
        # numbers near 1 neither overflow nor underflow as squares
        size = max([self.first.uncertainty, *(abs(d) for _, _, d in departures)]) or 1.0
        u, slope = self.first.uncertainty / size, slope / size
        departures = [(t, w, d / size) for t, w, d in departures]
        shift = math.fsum(w * d for _, w, d in departures)
        extra = math.fsum(w * d * (2 * slope * t + d - shift) for t, w, d in departures)
        return size * max(abs(shift), abs(math.sqrt(max(0.0, u * u + extra)) - u)) > tolerance

    def _variance_terms(self, size: float) -> list[float]:
        """Return the higher-order contributions to the variance, over `size` squared.

        In independent directions zᵢ with the central moments vᵢ, sᵢ and qᵢ the variance of g(z) is,
        beyond Σ gᵢ², Σᵢ (gᵢ gᵢᵢ sᵢ + ¼ gᵢᵢ² (qᵢ − vᵢ²) + ⅓ gᵢ gᵢᵢᵢ qᵢ) + Σᵢ≠ⱼ (½ gᵢⱼ² + gᵢ gᵢⱼⱼ) vᵢ
        vⱼ. For normal ones see JCGM 100, 5.1.2, note. gᵢⱼⱼ follows from third derivatives along
        sums and differences of directions.
        """
        moments, root, terms = self.moments, self.root, []
        slopes, g = (
            [x / size for x in self.slopes],
            [[x / size for x in row] for row in self.second],
        )
        for i, slope in enumerate(slopes):
            own = self._third(row[i] for row in root) if slope else 0.0
            if own:
                terms.append(slope * (own / size) / 3 * moments[i].fourth)
            for j in range(len(slopes)):
                if slope and i != j and (slopes[j] or any(row[j] for row in g)):
                    both = self._third(row[i] + row[j] for row in root) + self._third(
                        row[i] - row[j] for row in root
                    )
                    mixed = (both - 2 * own) / size / 6
                    terms.append(
                        slope * mixed * moments[i].variance * moments[j].variance if mixed else 0.0
                    )
                if g[i][j] and i != j:
                    terms.append(g[i][j] * g[i][j] / 2 * moments[i].variance * moments[j].variance)
            if g[i][i]:
                terms.append(g[i][i] * g[i][i] / 4 * (moments[i].fourth - moments[i].variance ** 2))
                terms.append(slope * g[i][i] * moments[i].third)
        return terms


@lru_cache(1)
def _kink_quantiles(level: float, k: float) -> list[float]:
    """Return equally likely quantiles, of a normal distribution that has this coverage factor."""
    from statistics import NormalDist

    quantile = NormalDist().inv_cdf
    # a t-distribution is wider by the ratio of coverage factors
    scale = k / (quantile(min((1 + level) / 2, 1 - 1e-9)) or k)
    return [scale * quantile((i + 0.5) / KINK_QUANTILES) for i in range(KINK_QUANTILES)]


def _tolerance(result: Result) -> float:
    """Return the tolerance of JCGM 101, 7.9.2, at least the value's rounding."""
    half = 0.5 * 10.0 ** last_place(result.uncertainty) if result.uncertainty > 0 else 0.0
    return max(half, ROUNDED_VALUE * abs(result.value))


def _with_draws(
    model: Model,
    spread: _InputCovariance,
    results: Sequence[Result],
    units: Sequence[Unit],
    copies: Sequence[Mapping[str, Sequence[float]]],
    samples: int,
    seed: int,
    stop: Callable[[], bool],
    warnings: list[Diagnostic],
) -> tuple[list[Result], int, bool]:
    from .monte_carlo import BLOCK_DRAWS, Results, Sampler  # only draws need NumPy

    inputs, correlated = spread.inputs, []
    for members, dof in spread.groups:
        group = [[*inputs][i] for i in members]
        if len(group) < 2 or any(group[0] in table for table in copies):
            continue
        for name in group:
            if (family := inputs[name].distribution.family) != "normal":
                message = (
                    f"`{name}` is correlated and its distribution is {family}, so the joint one is"
                    " not determined"
                )
                hint = (
                    "`--samples` draws correlated inputs from normal distributions: JCGM 101, 6.4.8"
                )
                raise usage_error(message, hint)
        correlated.append((group, [[spread.root[i][j] for j in members] for i in members], dof))
    constants = {name: float(model.values[name]) for name in model.point if name not in inputs}
    distributions = {name: entry.distribution for name, entry in inputs.items()}
    draw = Sampler(distributions, correlated, constants, seed, copies, samples)
    (steps, evaluate), work = model.evaluator_of_draws(constants), current_budget()
    if samples * steps > work.left:
        raise work.exhausted_error(samples * steps, exactly=True)
    collected = [Results(result.value) for result in results]
    done, interrupted = 0, False
    while (
        done < samples
        and not interrupted
        and all(tally.outside <= MAX_OUTSIDE * samples for tally in collected)
    ):
        count = min(BLOCK_DRAWS, samples - done)
        for tally, column, unit in zip(collected, evaluate(draw(count), count), units, strict=True):
            tally.add(present_array(column, unit))
        done += count
        interrupted = done < samples and stop()
    validated = []
    for result, tally in zip(results, collected, strict=True):
        message = (
            f"`{result.output}` has no value at {tally.outside:,} of {done:,} points that were"
            " drawn"
        )
        if tally.outside > MAX_OUTSIDE * done or tally.count < 2:
            hint = "the distributions reach too far beyond the domain of the formula"
            raise ExpressionError("domain", message, hint=hint)
        if tally.outside:
            hint = "the distributions reach beyond the domain of the formula"
            warnings.append(Diagnostic("outside", f"{message}; they are left out", None, hint))
        drawn = tally.summarize(result.level)
        if not all(
            map(
                math.isfinite,
                (drawn.mean, drawn.deviation, *drawn.shortest, *drawn.symmetric, drawn.scatter),
            )
        ):
            raise OverflowError
        tolerance = _tolerance(result)
        low = abs(result.value - result.expanded - drawn.shortest[0])
        high = abs(result.value + result.expanded - drawn.shortest[1])
        worst = max(low, high)
        valid = worst <= tolerance or (
            None if worst <= tolerance + MAX_SCATTER * drawn.scatter else False
        )
        validated.append(
            result._replace(drawn=drawn, validation=Validation(tolerance, low, high, valid))
        )
    return validated, done, interrupted
