"""Numbers as people read them, and as machines read them back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ..questions.figures import Figure

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit

# Significant digits shown to people unless they ask for others.
DEFAULT_DIGITS = 6
_USUAL = f".{DEFAULT_DIGITS}g"


class Decimals(int):
    """A number of digits after the point, not of significant digits."""


def rounding(digits: int | None, decimals: int | None) -> int | None:
    """Return the precision of shown numbers, from one of two options."""
    return digits if decimals is None else Decimals(decimals)


def format_number(value: float | bool | Figure | None, digits: int | None = None) -> str:
    """Format a number to `digits` digits, with its unit if it has one.

    Figures have all their digits; a missing number is a dash.
    """
    if digits is None and type(value) is float:
        return value.__format__(_USUAL) if value else "0"
    if value is None:
        return "–"
    if isinstance(value, bool | Figure):
        text = repr_number(value)
    elif isinstance(digits, Decimals):
        text = f"{value:.{digits:d}f}"
        text = text.removeprefix("-") if float(text) == 0 else text
    else:
        text = format(value, f".{digits}g" if digits else _USUAL) if value else "0"
    unit = unit_of(value)
    return text if unit is None else f"{text} {unit}".rstrip()


def level_digits(levels: Sequence[float], least: int) -> int:
    """Return the digits that tell contours apart, at `least` so many."""
    return next(
        (n for n in range(least, 17) if len({f"{z:.{n}g}" for z in levels}) == len(levels)), 17
    )


def percent(level: float) -> str:
    """Return a level in percent, never rounded to 100."""
    digits = 17 if level >= 1 else max(4, 3 - math.floor(math.log10(1 - level)))
    return f"{100 * level:.{digits}g} %"


def repr_number(value: float | bool | Figure | None) -> str:
    """Return the shortest text that reads back as the number."""
    if type(value) is float:
        return repr(value)
    if value is None:
        return ""
    if isinstance(value, Figure):
        return f"within {value.within} of 0" if value.within else value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


class MeasuredFigure(Figure):
    """A figure that remembers its unit."""

    unit: Unit


def unit_of(x: object) -> Unit | None:
    """Return the unit of a number that remembers it."""
    return getattr(x, "unit", None)


def unit_text(unit: Unit | None) -> str | None:
    """Return a unit as a cell's text, `1` for a number."""
    return None if unit is None else str(unit) or "1"


def heading(name: str, unit: Unit | str | None) -> str:
    """Return a column's name with its unit: `value [mm]`."""
    return name if str(unit or "") in ("", "1") else f"{name} [{unit}]"


def attach_units(numbers: Any, units: Any, of: Any = None) -> Any:
    """Attach units to numbers in a structure of the same shape.

    Doubles are converted from units `of`, if any. Numbers without a unit are as they were.
    """
    if numbers is None or units is None or isinstance(numbers, bool):
        return numbers
    if isinstance(units, dict):
        if isinstance(numbers, dict):
            return {
                name: attach_units(x, units.get(name), of and of.get(name))
                for name, x in numbers.items()
            }
        own = {name: getattr(numbers, name) for name in units if hasattr(numbers, name)}
        return numbers._replace(**attach_units(own, units, of))
    if isinstance(units, list):
        triples = zip(numbers, units, of or repeat(None), strict=False)  # the last one has no end
        return [attach_units(x, unit, old) for x, unit, old in triples]
    if isinstance(numbers, Figure):
        figure = MeasuredFigure(*numbers)
        figure.unit = units
        return figure
    # only units need it
    from ..engine.quantities.presentation import convert_difference, with_unit

    return with_unit(numbers if of is None else convert_difference(numbers, of, units), units)


def literal(x: float | bool | Figure | None, digits: int | None = None) -> str:
    """Return a number as in formulas, with its unit if any: `1.5[kN]`."""
    return with_literal_unit(format_number(without_unit(x), digits), x)


def with_uncertainty(x: Any, digits: int | None = None) -> str:
    """Return a value of the point with its uncertainty and its unit, both in that unit: `(2.00 ±
    0.10) kN`.
    """
    unit, spread = unit_of(x), getattr(x, "uncertainty", None)
    number = x if unit is None else x.number
    shown = "" if unit is None else f" {unit}".rstrip()
    if spread is None:
        return format_number(number, digits) + shown
    if unit is not None:
        from ..engine.quantities.presentation import present_difference  # only units need it

        # the uncertainty of `x` itself is in the SI
        spread = present_difference(spread, unit)
    from ..questions.measured_value import plus_minus  # few points have uncertainties

    return plus_minus(float(number), float(spread), unit=shown)


def goodness_text(x: float, digits: int | None = None) -> str:
    """Return a measure of how well a fit is, in four digits or as asked; one near to 1 is not
    rounded to it.
    """
    if digits is not None:
        return format_number(x, digits)
    least = next((n for n in range(4, 17) if x == 1 or float(f"{x:.{n}g}") != 1), 16)
    return f"{x:.1f}" if 1000 <= abs(x) < 1e9 else format_number(x, least)


def without_unit(x: Any) -> Any:
    """Return a number that does not remember its unit."""
    return x if unit_of(x) is None else Figure(*x) if isinstance(x, Figure) else float(x)


def with_literal_unit(text: str, x: object) -> str:
    """Return the text of a number with the unit of that behind it: `1.5[kN]`."""
    unit = str(unit_of(x) or "")
    return f"{text}[{unit}]" if unit else text


def word(x: float | bool | Figure | None) -> str:
    """Return a number with all its digits, and its unit: `2.5[mm]`."""
    return repr(x) if type(x) is float else with_literal_unit(repr_number(x), x)


def words(value: Any) -> list[str]:
    """Return the numbers of a field, named ones as `name=number`."""
    if isinstance(value, dict):
        return [f"{name}={word(x)}" for name, x in value.items()]
    return [word(x) for x in (value if type(value) in (list, tuple) else (value,))]


def doubles(value: Any) -> Any:
    """Return numbers as doubles; None where one overflows."""
    return _map(value, lambda figure: figure.nearest)


def _map(
    value: Any,
    of_figure: Callable[[Figure], object],
    of_other: Callable[[Any], object] = lambda x: x,
) -> Any:
    if isinstance(value, Figure):
        return of_figure(value)
    if isinstance(value, dict):
        return {key: _map(item, of_figure, of_other) for key, item in value.items()}
    return (
        [_map(x, of_figure, of_other) for x in value]
        if isinstance(value, (list, tuple))
        else of_other(value)
    )


def figure_texts(arithmetic: str, fields: dict[str, Any]) -> dict[str, object]:
    """Return the keys about a record's figures: arithmetic, digits, within."""
    record: dict[str, object] = {
        "arithmetic": arithmetic,
        "digits": _map(fields, lambda figure: figure.text),
    }
    within = _map(fields, lambda figure: figure.within or None, lambda x: None)
    none = _map(fields, lambda figure: None, lambda x: None)
    near = {key: value for key, value in within.items() if value != none[key]}
    return record | {"within": near} if near else record
