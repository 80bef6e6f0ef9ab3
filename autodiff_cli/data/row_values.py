"""The values of variables in rows: numbers of columns, with the units of headings, and uncertainties beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import quoted, usage_error
from ..inputs.optional_units import names_in_headings, unit_in_heading
from ..language.tokens import plain_number
from ..uncertainty.measured_value import Spread, normal, quantity
from ..views.error import write_note

if TYPE_CHECKING:
    from ..quantities.unit import Unit

_SPELLINGS = "d{} u_{} u{} {}_u {}_err {}_error err_{} sigma_{} σ_{} s_{} Δ{} delta_{}"
UNCERTAINTIES = tuple(_SPELLINGS.split())
"""The usual names of columns with the uncertainty of a variable."""


def uncertainty_columns(
    used: Mapping[str, str], names: Sequence[str], columns: Mapping[str, str], errors: str, shared: Iterable[float]
) -> dict[str, str]:
    """Return the columns of the uncertainties of `used` variables, which `columns` says or their names.

    With the `errors` `auto` they may have any usual name, which is printed. Raises a usage error where there are none,
    and none of the values that all rows share has one.
    """
    own = {**names_in_headings(names), **{column: column for column in names}}
    spreads = [f"u({name})" for name in used]
    own |= {u: x for x in names for u in spreads if x.startswith(u) and unit_in_heading(x, u)}
    uncertain = {name: {**own, **columns}.get(f"u({name})", "") for name in used}
    uncertain = {name: own.get(column, column) for name, column in uncertain.items() if column}
    if errors == "auto":
        for name in used:
            spelled = [form.format(name) for form in UNCERTAINTIES]
            there = [own[form] for form in spelled if form in own and own[form] not in used.values()]
            if name not in uncertain and len(there) > 1:
                hint = f'say which: `--columns "u({name})={there[0]}"`'
                raise usage_error(f"{quoted(there)} may be uncertainties of `{name}`", hint)
            if name not in uncertain and there:
                uncertain[name] = there[0]
        if uncertain:
            write_note(f"uncertainties: {', '.join(f'u({name}) = {column}' for name, column in uncertain.items())}")
    if not uncertain and not any(hasattr(x, "uncertainty") or isinstance(x, Spread) for x in shared):
        name = next(iter(used), "x")
        near = next((x for x in names if x in [form.format(name) for form in UNCERTAINTIES]), f"d{name}")
        hint = f'name its column, `--columns "u({name})={near}"`, or give all rows one: `--at "{name}=±0.02"`'
        hint += "; `--errors auto` takes columns that are called like uncertainties"
        raise usage_error("no value has an uncertainty", hint)
    return uncertain


class ColumnValues:
    """The values of variables that the numbers of rows are: in the units of their columns, with uncertainties."""

    def __init__(
        self,
        used: Mapping[str, str],
        uncertain: Mapping[str, str],
        units: Mapping[str, tuple[Unit, str | None]],
        point: Mapping[str, float],
        *,
        exact: bool,
    ) -> None:
        """Read the `units` of variables, each with that of its uncertainties. Raises a usage error if they do not fit.

        `used` and `uncertain` are the columns of values and of uncertainties; `point` has those that all rows share.
        """
        self.used, self.uncertain, self.point, self.exact = used, uncertain, point, exact
        self.units: dict[str, str] = {}
        self.factors: dict[str, float] = {}
        for name, (unit, own) in units.items():
            from ..quantities.unit import factor, parse_unit  # most rows have no units

            spread = (unit if own is None else parse_unit(own)).degree
            if spread.dimension != unit.dimension:
                message = f"the uncertainties of `{name}`, which is in {unit}, are in {spread}"
                raise usage_error(message, "give them in a unit of the same dimension")
            self.units[name], self.factors[name] = str(unit), factor(spread, unit.degree)

    def value(self, name: str, numbers: Mapping[str, float]) -> float:
        """Return the value of a variable from the numbers of a row."""
        value, shared, unit = numbers[self.used[name]], self.point.get(name), self.units.get(name)
        if name in self.uncertain:
            value = normal(name, value, numbers[self.uncertain[name]] * self.factors.get(name, 1.0), repr(value))
        elif isinstance(shared, Spread):
            value = quantity(name, f"{value!r}{shared.source}")
        if not unit:
            return value
        if self.exact:
            from ..inputs.quantities import quantity_value

            text = getattr(value, "source", repr(value))
            return quantity_value(name, f"{text if plain_number(text) else f'({text})'} {unit}")
        from ..uncertainty.measured_units import with_unit

        return with_unit(name, value, unit)
