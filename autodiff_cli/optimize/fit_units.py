"""Fits with units: columns in the units of their headings, and parameters in those that make the formula consistent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import Diagnostic, ExpressionError, point_error, quoted, usage_error
from ..graphs.value_and_gradient import at_point
from ..inputs.arithmetic import DOUBLE, Arithmetic
from ..inputs.bounds import Range
from ..inputs.optional_units import check_percentage, column_units, in_unit, left_out, without_units_hint
from ..inputs.problem import Quantity, as_number
from ..inputs.quantities import Units, parse_units, split_quantity
from ..language.builder import Program
from ..numbers.dimensions import KIND, Dimensioned, UnknownDimensions
from ..quantities.unit import Dimension, Unit, UnitSystem, coherent, factor, parse_unit, quantity_name
from ..run.evaluation import Evaluation
from .fit_answer import Parameter, Prediction
from .observations import FitFormula, FitInputs, Spread, parse_sigma, percentage


def with_units(
    formula: FitFormula,
    inputs: FitInputs,
    typed: Sequence[tuple[str, Unit]],
    asked: Sequence[str] | str | None,
    arithmetic: Arithmetic,
) -> tuple[FitUnits | None, FitInputs, list[Diagnostic]]:
    """Return the units of a fit, its inputs in these, and notes; None where there are no units that count.

    `typed` are units of values of parameters, `asked` those that parameters are to have.
    """
    if left_out(asked):
        return None, inputs, []
    texts, of_points = getattr(inputs.columns, "units", {}), getattr(inputs.predict, "units", {})
    used = [*formula.measured, *(name for name in formula.program.variables if name in inputs.columns)]
    spreads = parse_sigma(inputs.sigma, formula.of_sigma)
    for name, spread in spreads.items():
        if percentage(spread) is not None:
            check_percentage(name, texts.get(name, ""))
    of_columns, notes = column_units(used, texts, bool(asked or typed or formula.has_unit_literals))
    if not of_columns:
        return None, inputs, notes
    units = FitUnits(formula, of_columns, inputs.fixed, typed, asked, arithmetic)
    columns = {name: units.column(name, x) if name in used else x for name, x in inputs.columns.items()}
    for name, spread in spreads.items():
        spreads[name] = units.spread(name, spread, columns, texts)

    def converted(name: str, end: float | None) -> float | None:
        return end if end is None else float(units.value(name, end))

    return (
        units,
        FitInputs(
            columns,
            {name: units.value(name, value) for name, value in inputs.point.items()},
            {name: units.value(name, value) for name, value in inputs.fixed.items()},
            {name: Range(*(converted(name, end) for end in ends)) for name, ends in inputs.bounds.items()},
            spreads,
            {
                name: units.column(name, x, of_points.get(name, "")) if name in of_columns else x
                for name, x in inputs.predict.items()
            },
        ),
        notes,
    )


class FitUnits:
    """The units of a fit: of its columns, in which it is computed, and of its parameters.

    The columns' own units make a system, in which the formula holds without factors: most columns stay as they are.
    Where the formula has units itself, that is the SI.
    """

    def __init__(
        self,
        formula: FitFormula,
        columns: Mapping[str, Unit],
        held: Mapping[str, float | str],
        typed: Sequence[tuple[str, Unit]],
        asked: Sequence[str] | str | None,
        arithmetic: Arithmetic,
    ) -> None:
        """`typed` are units of values of parameters, `held` the values that are held.

        Raises `ExpressionError` where the dimensions do not fit together.
        """
        program, self.response, transform = formula
        self.parameters = [name for name in program.variables if name not in columns]
        self.columns = dict(columns)
        self.warnings: list[Diagnostic] = []
        self.wanted: dict[str, Unit] = {}
        """The units of parameters that were asked for, or typed with their values."""
        m = UnknownDimensions(self.parameters)
        leaves = {name: Dimensioned(unit.dimension) for name, unit in columns.items()}
        of_values: dict[str, Unit] = {}
        for name, unit in typed:
            if of_values.setdefault(name, unit).dimension != unit.dimension:
                theirs = f"{quantity_name(of_values[name].dimension)} and {quantity_name(unit.dimension)}"
                raise point_error(f"`{name}` has values of two dimensions, {theirs}", "give them in units of one")
        for name in self.parameters:
            value = held.get(name)
            known = None if value is None or isinstance(value, Quantity) else Fraction(as_number(value, name))
            leaves[name] = unknown = m.unknown(name, known)
            if name in of_values:
                leaves[name] = Dimensioned(of_values[name].dimension)
                m.same(unknown.dimension, leaves[name].dimension)
        try:
            dimension = columns[self.response].dimension if transform is None else _swept(m, transform, leaves)
            found = _swept(m, program, leaves)
            if not m.same(found, dimension):
                message = f"the formula gives {m.named(found)}, and `{self.response}` is {quantity_name(dimension)}"
                span = program.graph.span(program.roots[0])
                raise ExpressionError(KIND, message, span, "its terms have to be of the dimension of the response")
        except ExpressionError as error:
            raise without_units_hint(error) from None
        self.si = formula.has_unit_literals
        # the response first, for it is what people look at; then simple units
        rest = [unit for name, unit in columns.items() if name != self.response]
        first = [columns[self.response]] if self.response in columns else []
        self.system = UnitSystem([*first, *sorted(rest, key=lambda unit: len(unit.atoms))])
        self.columns.setdefault(self.response, self.system.unit(dimension))
        self.solved = {name: m.solution(name) for name in self.parameters}
        used = [unit.dimension for unit in self.columns.values()]
        self.si |= not self.system.holds([*used, *(solution for solution in self.solved.values() if solution)])
        undetermined = [name for name, solution in self.solved.items() if solution is None]
        if undetermined:
            message = f"the formula does not determine the unit of {quoted(undetermined)}"
            hint = f'give a value with a unit: `--at "{undetermined[0]}=1 m"`'
            self.warnings.append(Diagnostic("unit", message, None, hint))
        wanted = dict(of_values) if arithmetic == DOUBLE else {}
        outputs = [name for name in self.parameters if name not in undetermined]
        for k, unit in parse_units(asked, outputs).items():
            if arithmetic != DOUBLE:
                raise usage_error(f"`--in` is for doubles, and this is `--{arithmetic.name}`", "leave one of them out")
            if unit.dimension != self.solved[outputs[k]]:
                theirs = quantity_name(self.solved[outputs[k]] or ())
                message = f"`{outputs[k]}` is {theirs}, and `--in {unit}` is for {quantity_name(unit.dimension)}"
                raise usage_error(message, f"ask for it in a unit such as `--in {outputs[k]}={self.shown(outputs[k])}`")
            wanted[outputs[k]] = unit
        self.wanted = {name: unit.difference for name, unit in wanted.items()}

    def computed(self, dimension: Dimension | None) -> Unit:
        """Return the unit in which a quantity of this dimension is computed."""
        if dimension is None:
            return Unit()
        return coherent(dimension) if self.si else self.system.unit(dimension)

    def shown(self, name: str) -> Unit:
        """The unit of a parameter in the answer."""
        solution = self.solved[name]
        return self.wanted.get(name) or (Unit() if solution is None else self.system.unit(solution))

    # ---- what is fitted -------------------------------------------------------------------------------------------
    def column(self, name: str, numbers: Sequence[float], unit: str = "", *, spread: bool = False) -> Sequence[float]:
        """Convert the numbers of a column, in their own `unit` or in the column's."""
        own = parse_unit(unit) if unit not in ("", "1") else Unit() if unit else self.columns[name]
        if own.dimension != self.columns[name].dimension:
            theirs, mine = quantity_name(own.dimension), quantity_name(self.columns[name].dimension)
            raise point_error(f"`{name}` is {mine}, and these numbers of it are {theirs}", "give them in another unit")
        to = self.computed(own.dimension)
        return in_unit(numbers, own.degree if spread else own, to, spread)

    def value(self, name: str, value: float | str) -> float | str:
        """Convert the value of a parameter; a number is in the parameter's own unit."""
        if name not in self.solved:
            return value
        to = self.computed(self.solved[name])
        if not isinstance(value, Quantity):
            times = factor(self.shown(name), to)
            return value if times == 1 else as_number(value, name) * times
        if value.unit.zero:
            return to.from_si(float(value))
        times = factor(value.unit, to)
        return value.number if times == 1 else value.number * times

    def spread(
        self, name: str, spread: Spread, columns: dict[str, Sequence[float]], texts: Mapping[str, str]
    ) -> Spread:
        """Convert an uncertainty; a column, in its unit of `texts`, is added to `columns`."""
        if name not in self.columns or (isinstance(spread, str) and percentage(spread) is not None):
            return spread
        if isinstance(spread, str) and spread in columns:
            numbers = self.column(name, columns[spread], texts.get(spread, ""), spread=True)
            if numbers is columns[spread]:
                return spread
            own = f"{spread} of {name}"
            columns[own] = numbers
            return own
        number, unit = repr(spread), ""
        if isinstance(spread, str):
            parts = split_quantity(spread)
            if parts is None:
                return spread
            number, unit = parts[0], str(parts[1]) or "1"
        return self.column(name, [float(number)], unit, spread=True)[0]

    # ---- the answer -----------------------------------------------------------------------------------------------
    def answer(self, fit: Any, typed: Mapping[str, Sequence[float]]) -> Any:
        """Convert a fit to the units of the answer; `typed` are the columns as read."""
        linear: dict[str, tuple[float, float]] = {}
        for name, own in self.columns.items():
            (zero,) = in_unit([0.0], self.computed(own.dimension), own)
            linear[name] = factor(self.computed(own.dimension), own.degree), zero
        scales = {name: factor(self.computed(d), self.shown(name)) for name, d in self.solved.items() if d is not None}
        parameters = {name: scaled(parameter, scales.get(name, 1.0)) for name, parameter in fit.parameters.items()}
        if any(linear[name] != (1.0, 0.0) for name in (self.response, *fit.predictors)):
            fit = self._in_headings_units(fit, typed, linear)
        degree = self.columns[self.response].degree
        of_parameters = {name: None if self.solved[name] is None else self.shown(name) for name in fit.parameters}
        units = Units(
            parameters=of_parameters,
            standard_errors={**of_parameters},
            intervals={**of_parameters},
            rss=Unit() if fit.goodness.chi_squared is not None or fit.sigma else degree**2,
            deviation=degree,
            data={name: self.columns[name] for name in fit.columns},
        )
        units.asked = [*self.wanted]
        return fit._replace(
            parameters=parameters,
            null=[{name: x * scales.get(name, 1.0) for name, x in direction.items()} for direction in fit.null],
            point={name: float(parameter.estimate) for name, parameter in parameters.items()},
            units=units,
            warnings=(*fit.warnings, *self.warnings),
        )

    def _in_headings_units(
        self, fit: Any, typed: Mapping[str, Sequence[float]], linear: Mapping[str, tuple[float, float]]
    ) -> Any:
        """The fit with the numbers of columns and of the curve in the units of the headings."""

        def of(name: str, x: Any, spread: bool = False) -> Any:
            times, shift = linear[name]
            shift = 0.0 if spread else shift
            if isinstance(x, list | tuple):
                return [None if number is None else number * times + shift for number in x]
            return None if x is None else x * times + shift

        y = self.response
        (across,) = fit.predictors if len(fit.predictors) == 1 else ("",)
        times = of(y, 1.0, True)

        def predicted(prediction: Prediction) -> Prediction:
            return prediction._replace(
                point={name: of(name, x) for name, x in prediction.point.items()},
                value=of(y, prediction.value),
                confidence=prediction.confidence and tuple(of(y, prediction.confidence)),
                prediction=prediction.prediction and tuple(of(y, prediction.prediction)),
            )

        # the density of the data is per unit of each measured number
        measured = math.log(times) * fit.rows
        measured += sum(math.log(of(name, 1.0, True)) * sum(x > 0 for x in fit.sigma[name]) for name in fit.adjusted)
        return fit._replace(
            goodness=fit.goodness.shifted(2 * measured),
            columns={name: [*map(float, typed.get(name) or of(name, x))] for name, x in fit.columns.items()},
            sigma={name: of(name, x, True) for name, x in fit.sigma.items()},
            adjusted={name: of(name, x) for name, x in fit.adjusted.items()},
            fitted=of(y, fit.fitted),
            residuals=of(y, fit.residuals, True),
            band=of(y, fit.band, True),
            curve=[(of(across, x), of(y, z), of(y, w, True)) for x, z, w in fit.curve],
            predictions=[predicted(prediction) for prediction in fit.predictions],
            deviation=fit.deviation and float(fit.deviation) * times,
            rss=fit.rss if fit.sigma else float(fit.rss) * times**2,
        )


def scaled(parameter: Parameter, times: float) -> Parameter:
    """Return a parameter in another unit."""
    if times == 1:
        return parameter
    error, interval = parameter.error, parameter.interval
    return parameter._replace(
        estimate=float(parameter.estimate) * times,
        error=None if error is None else float(error) * times,
        interval=interval and (interval[0] * times, interval[1] * times),
    )


def _swept(m: UnknownDimensions, program: Program, leaves: Mapping[str, Dimensioned]) -> Dimension:
    """Return the dimension of the output of a program. Raises `ExpressionError`."""
    graph = at_point(m, program.graph, leaves)
    graph.chooses = False
    (output,) = Evaluation(m, graph).values
    dimension: Dimension = output.dimension
    return dimension
