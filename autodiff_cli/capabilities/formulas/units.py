"""The list of units and constants of `autodiff units`."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

from ...api.api_answers import Answer
from ...engine.algebra.canonical import without_twos_and_fives
from ...engine.quantities.table import Constant, TableUnit, constants, spellings, table, units_file
from ...engine.quantities.unit import Unit, in_base_units, parse_unit, si_unit
from ...errors import ExpressionError
from ...questions.problem import evaluate_constant
from ...record import Record

CONSTANTS = "Constants"
SOURCE = "CODATA 2022"


class UnitEntry(Record):
    """A unit or a constant."""

    name: str
    """A symbol, or the units of a product."""
    meaning: str
    value: float
    """In `unit`; the size of a degree for temperature scales."""
    exact: str
    """A fraction or decimal, perhaps times a power of pi, or an expression."""
    unit: str
    """The coherent SI unit."""
    uncertainty: float | None
    """Standard uncertainty; None if exact."""
    zero: float
    """The zero of a temperature scale in kelvin."""
    prefixes: str
    aliases: tuple[str, ...]
    group: str
    source: str


class UnitTable(Answer):
    """Units and constants."""

    declaration = """
    csv name meaning value exact unit uncertainty zero prefixes aliases group source
    entries: the units and the constants
      name column: its symbol
      meaning column: its name
      value column: its value; of a temperature scale the size of a degree
      exact column: the value, exact
      unit column: the unit of the value, in the SI
      uncertainty column: its standard uncertainty; null for an exact value
      zero column: the temperature, in kelvin, where its scale begins
      prefixes column: the prefixes that it takes
      aliases column: its other spellings
      group column: its group
      source column: the source of the value
    """

    entries: tuple[UnitEntry, ...]

    def __repr__(self) -> str:
        return f"<{len(self.entries)} units and constants>"


def units(name: str | None = None) -> UnitTable:
    """Return all units and constants, or those of a name or product."""
    if name is None:
        return UnitTable((*map(_unit, table().values()), *map(_constant, constants().values())))
    entries = [_constant(constants()[name])] if name in constants() else []
    try:
        entry = spellings().get(name.strip())
        if entry is not None:
            entries.insert(0, _unit(entry))
        else:
            unit = parse_unit(name)
            entries.insert(0, _of(unit, str(unit) or name))
    except ExpressionError as error:
        if not entries:
            raise ExpressionError("name", str(error), None, error.hint) from None
    return UnitTable(tuple(entries))


def decimal_text(x: Fraction) -> str:
    """Return a fraction as a short decimal, if possible: `0.0254`, `5/9`.

    >>> decimal_text(Fraction(127, 5000)), decimal_text(Fraction(5, 9)), decimal_text(Fraction(1, 10**12))
    ('0.0254', '5/9', '1e-12')
    """
    rest, twos, fives = without_twos_and_fives(x.denominator)
    if rest != 1:
        return str(x)
    places = max(twos, fives)
    digits = x.numerator * 10**places // x.denominator
    number = Decimal(f"{digits}e-{places}").normalize(Context(prec=len(str(digits))))
    return f"{number:f}" if -5 <= number.adjusted() < 16 else f"{number:e}".replace("e+", "e")


def _unit(entry: TableUnit) -> UnitEntry:
    unit = parse_unit(entry.symbol)
    prefixes = units_file()["prefixes"]
    taken = (
        "all"
        if len(entry.prefixes) == len(prefixes)
        else " ".join(p for p in prefixes if p in entry.prefixes)
    )
    about = {"aliases": entry.aliases, "group": entry.group, "source": entry.source}
    return _of(unit, entry.symbol)._replace(meaning=entry.name, prefixes=taken, **about)


def _of(unit: Unit, name: str) -> UnitEntry:
    exact = decimal_text(unit.scale)
    if unit.pi:
        exact = "pi" if unit.scale == 1 else f"{exact}*pi"
        exact += f"**({unit.pi})" if unit.pi != 1 else ""
    si = str(
        in_base_units(unit.dimension)
        if str(si_unit(unit.dimension)) == name
        else si_unit(unit.dimension)
    )
    return UnitEntry(name, "", unit.to_si(1.0), exact, si, None, float(unit.zero), "", (), "", "")


def _constant(constant: Constant) -> UnitEntry:
    value, uncertainty = evaluate_constant(constant.estimate), None
    if not constant.exact:
        before, _, rest = constant.value.partition("(")
        digits, _, power = rest.partition(")")
        places = len(before.partition(".")[2])
        uncertainty = float(Decimal(digits).scaleb(int(power.removeprefix("e") or 0) - places))
    unit = str(parse_unit(constant.unit))
    return UnitEntry(
        constant.name,
        constant.meaning,
        value,
        constant.value,
        unit,
        uncertainty,
        0.0,
        "",
        (),
        CONSTANTS,
        SOURCE,
    )
