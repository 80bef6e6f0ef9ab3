"""Units of columns: what their headings say, when that counts, and the numbers of columns in other units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import Diagnostic, ExpressionError, Span
from .headings import unit_in_heading

if TYPE_CHECKING:
    from ..quantities.unit import Unit

NONE = "none"
"""What `--in` says where headings' units do not count."""

WITHOUT = f"or compute with the numbers alone: `--in {NONE}`"


def left_out(units: Sequence[str] | str | None) -> bool:
    """Whether `--in` says that the units of headings do not count."""
    return units == NONE or (not isinstance(units, str) and units is not None and [*units] == [NONE])


class MeasuredColumns(dict[str, list[float]]):
    """Columns by name, and the units that their headings say, as texts."""

    units: Mapping[str, str] = {}


def units_in_headings(columns: Mapping[str, str], below: Mapping[str, str]) -> dict[str, str]:
    """The units of columns as texts, by the names that the columns are known by; of those that say one.

    `below` has those in a row of units, by column.

    >>> units_in_headings({"U": "U (mV)", "t": "time", "x": "x"}, {"time": "s"})
    {'U': 'mV', 't': 's'}
    """
    texts = {name: below.get(column) or unit_in_heading(column, name) for name, column in columns.items()}
    return {name: text for name, text in texts.items() if text}


def column_units(
    names: Iterable[str], texts: Mapping[str, str], asked: bool
) -> tuple[dict[str, Unit], list[Diagnostic]]:
    """The units that the columns of these names are computed with, and a note where those in headings do not count.

    They count where all of the columns have some that are known, or where units are `asked` for: then those without
    one are numbers. Raises `ExpressionError` where they are, and one is no unit.
    """  # fmt: skip
    names = list(names)
    if not asked and not any(name in texts for name in names):
        return {}, []
    from ..quantities.unit import Unit, unit_or_none  # most columns have none

    units = {}
    for name in names:
        text = texts.get(name, "1" if asked else "")
        unit = Unit() if text == "1" else unit_or_none(text)
        if unit is not None and (asked or not unit.zero):
            units[name] = unit
            continue
        reason = f"`{name}` has none"
        if unit is not None:
            reason = f"`{name}` is in {unit}, whose 0 is no zero"
        elif text:
            reason = f"`{name}` is in `{text}`, which is no unit here"
        if asked:
            hint = f"give the column a unit: `autodiff units` lists them; {WITHOUT}"
            raise ExpressionError("point", f"column {reason}", hint=hint)
        return {}, [Diagnostic("note", f"the units in the headings do not count: {reason}", None, None)]
    return units, []


def check_percentage(name: str, text: str) -> None:
    """Raise an error for a percentage of the values of a column whose unit has its 0 where nothing is 0."""
    from ..quantities.unit import unit_or_none  # most columns have none

    unit = unit_or_none(text) if text else None
    if unit is not None and unit.zero:
        raise percentage_of(unit, f"give the uncertainty of `{name}` as a number of {unit}; {WITHOUT}")


def percentage_of(unit: Unit, hint: str, span: Span | None = None) -> ExpressionError:
    """The error of a percentage of temperatures on such a scale."""
    message = f"a percentage of a temperature in {unit} may be one of its number, or of its value in kelvin"
    return ExpressionError("point", message, span, hint)


def in_unit(column: Sequence[float], unit: Unit, to: Unit, difference: bool = False) -> Sequence[float]:
    """The numbers of a column in another unit; as they are where the units are alike."""
    from ..quantities.unit_system import factor

    times, shift = factor(unit, to), 0.0
    if not difference and unit.zero != to.zero:
        shift = float((unit.zero - to.zero) / to.scale)
    return column if times == 1 and not shift else [float(x) * times + shift for x in column]


def without_units_hint(error: ExpressionError) -> ExpressionError:
    """The error of a formula whose dimensions do not fit together, with the way to compute without units."""
    if error.kind != "dimension":
        return error
    other = ExpressionError(error.kind, str(error), error.span, f"{error.hint}; {WITHOUT}" if error.hint else WITHOUT)
    other.text = error.text
    return other
