"""Fits with units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...engine.numbers.dimensions import KIND, Dimensioned, UnknownDimensions
from ...engine.quantities.presentation import factor, present, present_difference
from ...engine.quantities.unit import (
    Dimension,
    Unit,
    UnitSystem,
    quantity_name,
    si_unit,
    unit_or_none,
)
from ...errors import Diagnostic, ExpressionError, point_error, quote, usage_error
from ...language.builder import Program
from ...questions import quantities
from ...questions.arithmetic import DOUBLE, Arithmetic
from ...questions.column_uncertainties import Spread, percentage
from ...questions.conversions import converted_twice
from ...questions.optional_units import (
    check_percentage,
    column_units,
    in_unit_of,
    uses_angles,
    without_units_hint,
)
from ...questions.parse_point import Range
from ...questions.periods import check_one_kind, mixed_kinds
from ...questions.problem import Quantity, as_number
from ...questions.quantities import Units, evaluate_dimensions, parse_units, split_quantity
from .observations import FitFormula, FitInputs


def _check_shares(inputs: FitInputs, texts: Mapping[str, str]) -> None:
    """Raise an error for an uncertainty in percent of a column whose unit has no shares."""
    for name, spread in inputs.sigma.items():
        if percentage(spread) is not None:
            check_percentage(name, texts.get(name, ""))


class FitUnits:
    """The units of a fit's columns, none where they do not count, and of its parameters."""

    def __init__(
        self,
        formula: FitFormula,
        inputs: FitInputs,
        asked: Sequence[str] | str | None,
        arithmetic: Arithmetic,
    ) -> None:
        program, self.response, transform, measured = formula
        texts = getattr(inputs.columns, "units", {})
        names = [*measured, *(name for name in program.leaves if name in inputs.columns)]
        _check_shares(inputs, texts)
        counts = bool(asked or inputs.typed_units or formula.has_unit_literals)
        angles = any(map(uses_angles, filter(None, (program, transform))))
        self.columns, self.warnings = column_units(names, texts, counts, angles=angles)
        self.scales: dict[str, Unit] = {}
        if not self.columns:
            return
        self.parameters = [name for name in program.leaves if name not in self.columns]
        self.wanted: dict[str, Unit] = {}
        of_values = _units_of_values(inputs)
        try:
            dimension, self.solved = self._solve(formula, inputs, of_values)
        except ExpressionError as error:
            raise without_units_hint(error) from None
        # the response first, for it is what people look at; then simple units
        ranked = sorted(
            self.columns.items(), key=lambda item: (item[0] != self.response, len(item[1].atoms))
        )
        self.system = UnitSystem([unit for _, unit in ranked])
        self.columns.setdefault(self.response, self.system.unit(dimension))
        self.si = formula.has_unit_literals or not self._has_units_for_all()
        self._warn_of_undetermined()
        in_units = self._asked(asked, arithmetic)
        self.scales = {name: unit for name, unit in in_units.items() if unit.zero}
        wanted = (of_values if arithmetic == DOUBLE else {}) | in_units
        self.wanted = {name: unit.difference for name, unit in wanted.items()}
        self._warn_of_mixed_kinds(program)
        self._warn_of_conversions(program, transform)

    def _warn_of_mixed_kinds(self, program: Program) -> None:
        """Warn of units that are a factor of 2*pi apart."""
        units = {f"`{name}`": unit for name, unit in (self.columns | self.wanted).items()}
        mixed = mixed_kinds(program, units)
        self.warnings += [mixed] if mixed else []

    def _warn_of_conversions(self, program: Program, transform: Program | None) -> None:
        """Warn of a formula that converts what has a unit, as if it were a number in this unit."""
        units = self.columns | self.wanted
        of_response = {} if transform else {0: self.columns[self.response]}
        of_sides = [(program, of_response), *([(transform, {})] if transform else [])]
        found = (converted_twice(side, units, answers) for side, answers in of_sides)
        self.warnings += filter(None, found)

    def _warn_of_undetermined(self) -> None:
        undetermined = [name for name, solution in self.solved.items() if solution is None]
        if undetermined:
            message = f"the formula does not determine the unit of {quote(undetermined)}"
            hint = f'give a value with a unit: `--at "{undetermined[0]}=1 m"`'
            self.warnings.append(Diagnostic("unit", message, None, hint))

    def _has_units_for_all(self) -> bool:
        """Return whether the units of the columns make one for every number of the fit."""
        used = [unit.dimension for unit in self.columns.values()]
        used += [solution for solution in self.solved.values() if solution]
        return self.system.has_units_for(used)

    def _solve(
        self, formula: FitFormula, inputs: FitInputs, of_values: Mapping[str, Unit]
    ) -> tuple[Dimension, dict[str, Dimension | None]]:
        """Return the dimensions of the response and of the parameters. Raises `ExpressionError`."""
        program, transform = formula.program, formula.transform
        m = UnknownDimensions(self.parameters)
        leaves = {name: Dimensioned(unit.dimension) for name, unit in self.columns.items()}
        for name in self.parameters:
            value = inputs.fixed.get(name)
            number = (
                None
                if value is None or isinstance(value, Quantity)
                else Fraction(as_number(value, name))
            )
            leaves[name] = unknown = m.unknown(name, number)
            if name in of_values:
                leaves[name] = Dimensioned(of_values[name].dimension)
                m.same(unknown.dimension, leaves[name].dimension)
        evaluated = (evaluate_dimensions(m, side, leaves) for side in (transform, program) if side)
        sides = (at.values[0].dimension for at in evaluated)
        dimension = self.columns[self.response].dimension if transform is None else next(sides)
        result = next(sides)
        if not m.same(result, dimension):
            message = (
                f"the formula gives {m.describe(result)}, and `{self.response}` is"
                f" {quantity_name(dimension)}"
            )
            span = program.graph.span(program.roots[0])
            raise ExpressionError(
                KIND, message, span, "its terms have to be of the dimension of the response"
            )
        return dimension, {name: m.solution(name) for name in self.parameters}

    def _asked(self, texts: Sequence[str] | str | None, arithmetic: Arithmetic) -> dict[str, Unit]:
        """Return the units of `--in` by parameter."""
        outputs = [name for name in self.parameters if self.solved[name] is not None]
        units = {outputs[k]: unit for k, unit in parse_units(texts, outputs).items()}
        for name, unit in units.items():
            if arithmetic != DOUBLE:
                raise usage_error(
                    f"`--in` is for doubles, and this is `--{arithmetic.name}`",
                    "leave one of them out",
                )
            if unit.dimension != self.solved[name]:
                theirs = quantity_name(self.solved[name] or ())
                message = (
                    f"`{name}` is {theirs}, and `--in {unit}` is for"
                    f" {quantity_name(unit.dimension)}"
                )
                shown = str(self._shown(name))
                hint = f"ask for it in a unit such as `--in {name}={shown}`"
                if not shown:
                    hint = f"leave `{name}` out of `--in`; units come from the headings, as in `y (kg)`"
                raise usage_error(message, hint)
        return units

    def computed(self, own: Unit) -> Unit:
        """Return the unit in which a quantity with this unit is computed."""
        return si_unit(own.dimension) if self.si else self.system.unit(own.dimension)

    def _shown(self, name: str) -> Unit:
        solution = self.solved[name]
        return self.wanted.get(name) or (Unit() if solution is None else self.system.unit(solution))

    def unit_text(self, name: str) -> str:
        """Return the unit that a parameter is shown in."""
        return str(self._shown(name)) if self.columns else ""

    def formula(self, formula: FitFormula) -> FitFormula:
        """Return the formula of numbers in these units."""
        variables = self.columns | {name: self._shown(name) for name in self.parameters}
        program, transform = (
            of
            and quantities.in_own_units(of, variables, [self.columns[self.response]], self.computed)
            for of in (formula.program, formula.transform)
        )
        assert program is not None
        return formula._replace(program=program, transform=transform)

    def inputs(self, inputs: FitInputs) -> FitInputs:
        """Return the inputs as numbers in these units."""
        texts, of_points = (
            getattr(inputs.columns, "units", {}),
            getattr(inputs.predict, "units", {}),
        )
        columns = dict(inputs.columns)
        units = {**texts, **{name: str(unit) for name, unit in self.columns.items() if unit.atoms}}

        def spread(name: str, typed: Spread) -> Spread:
            if not isinstance(typed, str) or percentage(typed) is not None:
                return typed
            own = units.get(name, "")
            if typed not in columns:
                parts = split_quantity(typed) if own else None
                if parts is None:
                    return typed
                return in_unit_of(name, [float(parts[0])], str(parts[1]) or "1", own, spread=True)[
                    0
                ]
            numbers = in_unit_of(name, columns[typed], texts.get(typed, ""), own, spread=True)
            if numbers is columns[typed]:
                return typed
            columns[f"{typed} of {name}"] = numbers
            return f"{typed} of {name}"

        def value(name: str, typed: Any) -> Any:
            if not isinstance(typed, Quantity) or not self.columns or name not in self.solved:
                return typed
            unit = self._shown(name)
            if typed.unit.zero:
                return present_difference(float(typed), unit)
            return typed.number * factor(typed.unit, unit)

        predict = {
            name: (
                in_unit_of(name, column, of_points.get(name, ""), units.get(name, ""))
                if name in columns
                else column
            )
            for name, column in inputs.predict.items()
        }
        return FitInputs(
            columns,
            {name: value(name, x) for name, x in inputs.point.items()},
            {name: value(name, x) for name, x in inputs.fixed.items()},
            {
                name: Range(*(value(name, end) for end in ends))
                for name, ends in inputs.bounds.items()
            },
            {name: spread(name, x) for name, x in inputs.sigma.items()},
            predict,
        )

    def scale_warnings(self, fit: Any) -> Iterator[Diagnostic]:
        """Yield a warning for each parameter that was asked for in degrees and is in kelvin."""
        for name, scale in self.scales.items():
            degrees = present(self._shown(name).to_si(float(fit.parameters[name].estimate)), scale)
            message = (
                f"`{name}` is in kelvin and not in {scale}: a parameter may be a difference of"
                " temperatures"
            )
            yield Diagnostic(
                "unit", message, None, f"if it is a temperature, it is {degrees:.7g} {scale}"
            )

    def of_answer(self, fit: Any) -> Units:
        """Return the units of the numbers of a fit."""
        degree = self.columns.get(self.response, Unit()).degree
        of_parameters = {
            name: None if self.solved[name] is None else self._shown(name)
            for name in fit.parameters
        }
        units = Units(
            parameters=of_parameters,
            standard_errors={**of_parameters},
            intervals={**of_parameters},
            rss=Unit() if fit.goodness.chi_squared is not None or fit.sigma else degree**2,
            deviation=degree,
            # a share of successes is a number
            data={name: self.columns.get(name, Unit()) for name in fit.columns},
        )
        if fit.starts is not None:
            units["starts"] = [{"rss": units["rss"], "point": of_parameters} for _ in fit.starts]
        units.asked = [*self.wanted]
        return units


def check_counts(headings: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise an error where counts, or trials, have a unit: they are numbers of events, whatever is
    counted.
    """
    for name in names:
        unit = unit_or_none(headings.get(name, ""))
        if unit is not None and unit.atoms:
            message = f"`{name}` is in {unit}, and a count is a plain number"
            hint = (
                "fit the counts themselves: a rate is a parameter, as in `n = rate*t`; `--in none`"
                " ignores units"
            )
            raise usage_error(message, hint)


def _units_of_values(inputs: FitInputs) -> dict[str, Unit]:
    """Return the units of the values that are typed, by name. Raises `ExpressionError` if a name
    has two dimensions.
    """
    units: dict[str, Unit] = {}
    for name, unit in inputs.typed_units:
        if units.setdefault(name, unit).dimension != unit.dimension:
            theirs = f"{quantity_name(units[name].dimension)} and {quantity_name(unit.dimension)}"
            raise point_error(
                f"`{name}` has values of two dimensions, {theirs}", "give them in units of one"
            )
        check_one_kind(name, units[name], unit)
    return units
