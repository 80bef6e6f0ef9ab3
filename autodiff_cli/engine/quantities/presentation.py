"""Numbers leave in units here: inside, they are coherent SI numbers.

`--in mm` is `units` of a question. `ProgramUnits` decides by it, by the dimensions and by the units
of the inputs which unit each number of an answer has; `present` gives the numbers in them, and
`format_number` writes both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

from .unit import NUMBER, Unit, times_ratio

Column = TypeVar("Column")


class MeasuredNumber(float):
    """A number that remembers its unit."""

    unit: Unit


def with_unit(x: float, unit: Unit) -> MeasuredNumber:
    """Return a number, already in this unit, that remembers it."""
    number = MeasuredNumber(x)
    number.unit = unit
    return number


def present(x: float, unit: Unit) -> float:
    """Return a coherent value in its unit, with the zero of its scale.

    A double of kelvin has no digits beyond those that distinguish it: 273.15 K is 0 °C.

    >>> from autodiff_cli.engine.quantities.unit import parse_unit
    >>> present(0.0105, parse_unit("mm")), present(273.15, parse_unit("°C")), present(273.15, parse_unit("°F"))
    (10.5, 0.0, 32.0)
    """
    if not unit.zero:
        return present_difference(x, unit)
    value = present_difference(float(Fraction(x) - unit.zero), unit)
    places = math.floor(-math.log10(math.ulp(x) / unit.scale))
    short = round(value, places)
    return short + 0.0 if float(Fraction(repr(short)) * unit.scale + unit.zero) == x else value


def present_difference(x: float, unit: Unit) -> float:
    """Return a coherent difference in its unit: an uncertainty, an error, a derivative.

    >>> from autodiff_cli.engine.quantities.unit import parse_unit
    >>> present_difference(0.5, parse_unit("°C")), present_difference(0.5, parse_unit("°F").degree)
    (0.5, 0.9)
    """
    scale = unit.scale
    return times_ratio(x / math.pi**unit.pi if unit.pi else x, scale.denominator, scale.numerator)


def present_number(m: Any, x: Any, unit: Unit) -> Any:
    """Return a coherent value of the number type `m` in its unit, with the digits of that type."""
    if isinstance(x, float):
        return present(x, unit)
    if unit.zero:
        x = x - m.number(unit.zero.numerator) / m.number(unit.zero.denominator)
    x = x * m.number(unit.scale.denominator) / m.number(unit.scale.numerator)
    if unit.pi:
        x = x / m.pow(m.literal("pi"), m.number(int(unit.pi)))
    return x


def present_tree(m: Any, numbers: Any, units: Any) -> Any:
    """Return a tree of coherent numbers in the units of a tree of that shape; None keeps a
    number.
    """
    if isinstance(units, dict):
        return numbers | {
            key: present_tree(m, numbers[key], unit)
            for key, unit in units.items()
            if key in numbers
        }
    if isinstance(units, list):
        return [present_tree(m, x, unit) for x, unit in zip(numbers, units, strict=True)]
    if units is None or numbers is None or isinstance(numbers, bool):
        return numbers
    return present_number(m, numbers, units)


def present_array(column: Any, unit: Unit) -> Any:
    """Return an array of coherent values in their unit."""
    return (column - float(unit.zero)) / unit.to_si(1.0)


# ---- from one unit to another
def conversion(unit: Unit, to: Unit) -> tuple[float, float]:
    """Return the factor and then the summand that convert values between units.

    >>> from autodiff_cli.engine.quantities.unit import parse_unit
    >>> conversion(parse_unit("°C"), parse_unit("K"))
    (1.0, 273.15)
    """
    return factor(unit, to), float((unit.zero - to.zero) / to.scale)


def factor(unit: Unit, to: Unit) -> float:
    """Return how many of `to` a difference of 1 `unit` is.

    >>> from autodiff_cli.engine.quantities.unit import parse_unit
    >>> factor(parse_unit("V"), parse_unit("mV"))
    1000.0
    """
    return Unit((), NUMBER, unit.scale / to.scale, Fraction(unit.pi) - Fraction(to.pi)).to_si(1.0)


def convert_difference(x: float, unit: Unit, to: Unit) -> float:
    """Return a difference in one unit in another of its dimension."""
    return present_difference(unit.to_si(x), to)


def convert_column(column: Sequence[float], unit: Unit, to: Unit) -> Sequence[float]:
    """Return the values of a column in another unit of their dimension."""
    times, shift = conversion(unit, to)
    return column if times == 1 and not shift else [float(x) * times + shift for x in column]
