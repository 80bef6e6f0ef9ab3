"""Uncertainties with units: `2.000(3) m`, `5±2% V`, `12.0 V ± 20 mV`."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from ..engine.quantities.unit import AmbiguousUnit, Unit, parse_unit, quantity_name, unit_or_none
from ..errors import ExpressionError, Span
from .distributions import FAMILIES
from .measured_value import (
    BETWEEN,
    COVERAGE,
    MeasuredValue,
    Spread,
    check_powers,
    is_asymmetric,
    quantity,
    with_distribution,
)
from .mixed_units import in_mixed_units
from .optional_units import percentage_of
from .parse_point import ValueOf, constant_value
from .periods import check_one_kind
from .powers_of_ten import in_e_notation
from .quantities import check_temperature, make_quantity, quantity_value, to_double

# Where a unit may begin after a number.
_BEGIN = re.compile(r"(?<=[\d.)% ])(?=[^\W\d_]|[°º℃℉′″'\"])|(?<=[)% ])(?=1\s*/)")
# A unit as it stands in a formula: with blanks for the brackets all else keeps its place.
_IN_BRACKETS = re.compile(r"(?<=[\d.)% ])\[([^\[\]]+)\]")


def measured_value(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a text, with its uncertainty and unit if it has them.

    >>> length = measured_value("L", "2.000(3) mm")
    >>> length, length.uncertainty, str(length.unit)
    (0.002, 3e-06, 'mm')
    """
    check_powers(name, text)
    text = in_e_notation(text)
    parts = _split(_IN_BRACKETS.sub(r" \1 ", text))
    if parts is None:
        return quantity(name, text, offset)
    written, unit = parts
    if not ("(" in written or BETWEEN.search(written) or is_asymmetric(written)):
        return quantity_value(name, text, offset)
    if unit.zero and "%" in written:
        raise percentage_of(
            unit, f"give the uncertainty as a number: `± 0.5 {unit}`", Span(0, len(text))
        )
    inner = re.fullmatch(r"\s*\(([^()]+)\)(\s*\(.*)?", written)
    value = quantity(
        name, inner[1] + (inner[2] or "") if inner and BETWEEN.search(inner[1]) else written, offset
    )
    return (
        _in_si(name, value, unit, text)
        if isinstance(value, MeasuredValue)
        else quantity_value(name, text, offset)
    )


def with_spreads(value_of: ValueOf) -> ValueOf:
    """Return a reader of values that also reads a `Spread`: `±0.02`, `±20 mV`."""

    def read(name: str, text: str, offset: int = 0) -> float:
        written = text.strip()
        if not BETWEEN.match(written):
            return value_of(name, text, offset)
        number, unit = _split(f"1{written}") or (f"1{written}", None)
        if unit is not None and "%" in number:
            message = f"the uncertainty of `{name}` is a percentage, and has the unit {unit}"
            raise ExpressionError(
                "point", message, Span(offset, offset + len(text)), "leave the unit out"
            )
        quantity(name, number, offset)
        spread = Spread(0.0)
        spread.source, spread.in_unit = number.removeprefix("1"), str(unit or "")
        return spread

    return read


def _split(text: str) -> tuple[str, Unit] | None:
    coverage = COVERAGE.search(text)
    core, rest = (
        (text[: coverage.start()].rstrip(), f" {coverage[0]}") if coverage else (text.rstrip(), "")
    )
    for begin in _BEGIN.finditer(core):
        before = core[: begin.start()].rstrip()
        try:
            unit = unit_or_none(core[begin.start() :]) if before.strip() else None
        except AmbiguousUnit as error:
            span = Span(begin.start(), len(core))
            raise ExpressionError("point", str(error), span, error.diagnostic.hint) from None
        if unit is None:
            continue
        sign = BETWEEN.search(before)
        own = _value_and_unit(before[: sign.start()]) if sign else None
        if sign is None or own is None:
            return before + rest, unit
        # `12.0 V ± 20 mV`: the uncertainty in the unit of the value
        number, of_value = own
        if of_value.dimension != unit.dimension:
            theirs, ours = quantity_name(unit.dimension), quantity_name(of_value.dimension)
            message = f"the value is {ours}, and its uncertainty is {theirs}"
            raise ExpressionError(
                "point", message, Span(0, len(text)), f"give it in a unit such as `{of_value}`"
            )
        check_one_kind("a value with its uncertainty", of_value, unit)
        spread = Fraction(repr(float(constant_value("uncertainty", before[sign.end() :]))))
        in_unit = to_double(spread * unit.scale / of_value.scale) * math.pi ** (
            unit.pi - of_value.pi
        )
        return f"{number} {sign[0]} {in_unit!r}{rest}", of_value
    sign = BETWEEN.search(core)
    own = _value_and_unit(core[: sign.start()]) if sign else None
    if sign is None or own is None:
        return None
    number, of_value = own
    if not core.endswith("%"):
        message = "the value has a unit, and its uncertainty has none"
        hint = f"write it behind both: `{number.strip()}±{core[sign.end() :].strip()} {of_value}`"
        raise ExpressionError("point", message, Span(0, len(text)), hint)
    # `12.0 V ± 2%`
    return f"{number} {core[sign.start() :]}{rest}", of_value


def _value_and_unit(text: str) -> tuple[str, Unit] | None:
    """Return the number and the unit of a value, which may be in several units."""
    mixed = in_mixed_units(text)
    return (repr(constant_value("value", mixed[0])), mixed[1]) if mixed else _split(text)


def with_unit(name: str, value: float, unit: str) -> float:
    """Return a value, perhaps with its uncertainty, in a unit."""
    if isinstance(value, MeasuredValue):
        return _in_si(name, value, parse_unit(unit), f"{value!r} {unit}")
    return make_quantity(name, repr(float(value)), parse_unit(unit), f"{value!r} {unit}")


def _in_si(name: str, value: MeasuredValue, unit: Unit, text: str) -> MeasuredValue:
    family, parameters, _ = value.distribution
    units = FAMILIES[family].units
    if not units or (unit.zero and value.distribution.support == (0, math.inf)):
        why = (
            f"begins at 0, and 0 {unit} is not absolute zero"
            if units
            else "is a distribution of numbers without a unit"
        )
        message = f"`{name}={' '.join(text.split())}` is {family}, which {why}"
        hint = "leave the unit out, or give a standard uncertainty"
        raise ExpressionError("point", message, Span(0, len(text)), hint)

    def in_si(x: float, kind: str = "v") -> float:
        if kind == "v" and not unit.pi:
            return to_double(Fraction(repr(x)) * unit.scale + unit.zero)  # rounded once
        return x if kind == "n" else unit.to_si(x)

    distribution = value.distribution._replace(parameters=tuple(map(in_si, parameters, units)))
    si, u = in_si(float(value)), unit.to_si(value.uncertainty)
    check_temperature(name, si, unit, text)
    measured = with_distribution(name, si, u, distribution, text)
    measured.unit, measured.number, measured.typed = unit, float(value), value
    return measured
