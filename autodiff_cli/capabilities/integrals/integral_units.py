"""Integrals of quantities: the units of the variable and of the integral, and the formula for
numbers in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ...engine.algebra.canonical import fraction_node
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, node
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import Refusal
from ...engine.numbers.dimensions import Dimensioned, Dimensions
from ...engine.quantities.unit import NUMBER, Dimension, Unit, choose, quantity_name, si_unit
from ...engine.table.operators import ADD, DIV, MUL, SUB, VARIABLE
from ...errors import ExpressionError, usage_error
from ...language.builder import Program
from ...language.tokens import plain_number
from ...questions.conversions import converted_twice
from ...questions.problem import Names, parse
from ...questions.quantities import ProgramUnits, Units, needed_dimension, unit_value
from .ends import IntegralEnd, hold

Ends = tuple[IntegralEnd, IntegralEnd]


class MeasuredIntegral(NamedTuple):
    """The units of an integral."""

    name: str
    variable: Unit
    """The unit of the variable's numbers."""
    units: ProgramUnits

    @property
    def value(self) -> Unit:
        """Return the unit of the integral."""
        return self.units.outputs[0]

    def integrand(self, output: Value) -> Value:
        """Return the formula for numbers of the variable in its unit, whose integral is in the unit
        of the answer.
        """
        own = self.variable

        def counted(leaf: Value) -> Value | None:
            if leaf.primitive is not VARIABLE or leaf.label != self.name:
                return None
            scaled = _times(leaf, own.factor_text)
            return node(ADD, (scaled, fraction_node(own.zero))) if own.zero else scaled

        ratio = own.difference / self.value
        return _times(substitute(hold(output, {}), counted), ratio.factor_text)

    def end(self, end: IntegralEnd) -> IntegralEnd:
        """Return an end as a number in the variable's unit."""
        own = self.variable
        suffix = f" {own}" if own.atoms else ""
        if end.formula is None:
            return end._replace(suffix=suffix)
        formula = hold(end.formula, {})
        if own.zero:
            formula = node(SUB, (formula, fraction_node(own.zero)))
        if own.factor_text != "1":
            formula = simplify((node(DIV, (formula, parse(own.factor_text).outputs[0])),))[0]
        return end._replace(formula=formula, suffix=suffix)

    def factor_of(self, parameter: str) -> Value:
        """Return what a difference of 1 in a parameter's unit is in that of the SI."""
        return parse(self.units.point[parameter].difference.factor_text).outputs[0]

    def numbers_of(self, point: Mapping[str, float]) -> dict[str, float]:
        """Return the values of parameters in their units, as typed."""
        return {name: self.units.number_of(name, x) for name, x in point.items()}

    def tree(self, is_definite: bool, by: Sequence[str]) -> Units:
        """Return the units of an answer's numbers, and of those in its formulas."""
        fields: dict[str, Any] = {"value" if is_definite else "antiderivative": self.value}
        if by:
            fields["derivatives"] = self.units.gradient(by)
        units = self.units.tree(**fields, variable=self.variable)
        units["point"] = {
            name: unit for name, unit in self.units.point.items() if name != self.name
        }
        return units


def _times(value: Value, factor: str) -> Value:
    return value if factor == "1" else node(MUL, (value, parse(factor).outputs[0]))


def measured_integral(
    program: Program,
    values: Mapping[str, float],
    name: str,
    ends: Ends | None,
    asked: Names,
    *,
    system: bool,
) -> MeasuredIntegral:
    """Return the units of an integral. Raises `ExpressionError` where they do not agree."""
    point = {each: getattr(value, "unit", None) or Unit() for each, value in values.items()}
    own = _variable_unit(program, name, ends, point)
    units = ProgramUnits(
        program, {**values, name: unit_value(own)}, asked, system=system, over=name
    )
    if own.dimension == NUMBER:  # degrees at the ends are no unit of the variable
        typed = next((end.unit for end in ends or () if end.unit is not None), own)
        twice = converted_twice(program, {name: typed}, {})
        units.warnings += [twice] if twice else []
    return MeasuredIntegral(name, own, units)


def _variable_unit(
    program: Program, name: str, ends: Ends | None, point: Mapping[str, Unit]
) -> Unit:
    """Return the unit of a variable's numbers: that of its ends, else the one that the formula
    needs.
    """
    leaves = {each: Dimensioned(unit.dimension) for each, unit in point.items()}
    needed = needed_dimension(program, name, point)
    dimensions = {end: of for end in ends or () if (of := _dimension(end, leaves)) is not None}
    for end, of_end in dimensions.items():
        other, of_other = next(iter(dimensions.items()))
        if of_other != of_end:
            message = f"`{name}` goes from {quantity_name(of_other)} to {quantity_name(of_end)}"
            raise usage_error(message, _hint(name, other.text, end.text, needed or of_other))
    own = next((end.unit for end in ends or () if end.unit is not None), None)
    dimension = _dimension_of(dimensions.values(), own, needed)
    if dimension is None:
        hint = (
            "give its ends a unit"
            if ends
            else "leave the values out: the antiderivative holds for all of them"
        )
        raise usage_error(f"the formula does not determine the unit of `{name}`", hint)
    if needed is not None and needed != dimension:
        message = (
            f"`{name}` is {quantity_name(needed)} in the formula, and its ends are"
            f" {_plural(dimension)}"
        )
        first, last = (end.text for end in ends or ())
        raise usage_error(message, _hint(name, first, last, needed))
    if own is None or dimension == NUMBER:  # degrees are numbers, as every function takes them
        return choose(dimension, point.values())
    if own.zero and any(end.unit is None and end.formula is not None for end in ends or ()):
        raise usage_error(
            f"one end of `{name}` has the unit {own}, and the other none", "give both the unit"
        )
    return own


def _dimension_of(
    ends: Iterable[Dimension], own: Unit | None, needed: Dimension | None
) -> Dimension | None:
    """Return the dimension that the ends have, also if they are 0 or infinite, else the one that is
    needed.
    """
    return next(iter(ends), needed if own is None else own.dimension)


def _plural(dimension: Dimension) -> str:
    return "numbers" if dimension == NUMBER else f"in {si_unit(dimension)}"


def _hint(name: str, low: str, high: str, dimension: Dimension) -> str:
    if dimension == NUMBER:
        return f"write `--between {name}=0:1`"
    unit = si_unit(dimension)
    first, last = (f"{text} {unit}" if _is_plain(text) else text for text in (low, high))
    return f"write `--between {name}={first}:{last}`"


def _is_plain(text: str) -> bool:
    return bool(plain_number(text.removeprefix("-")) and float(text))


def _dimension(end: IntegralEnd, leaves: Mapping[str, Dimensioned]) -> Dimension | None:
    """Return the dimension of an end; None if it is infinite, or 0, which has every dimension."""
    if end.formula is None:
        return None
    if end.unit is not None:
        return end.unit.dimension
    try:
        found = evaluate_in(Dimensions(), end.formula, leaves).value
    except Refusal as refusal:
        raise ExpressionError(refusal.kind, refusal.message, None, refusal.hint) from None
    of = found if isinstance(found, Dimensioned) else Dimensioned(NUMBER, Fraction(found))
    return None if of.is_zero else of.dimension
