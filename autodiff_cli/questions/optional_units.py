"""Units of points and columns, imported only if there are any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, ExpressionError, Span, point_error, quote, usage_error
from ..language.builder import Program
from ..language.tokens import is_name
from .problem import (
    PLAIN,
    Names,
    Point,
    Problem,
    check_values,
    have_units,
    number_or_quantity,
    pose,
    written_number,
)

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit
    from .parse_point import Range
    from .quantities import ProgramUnits

# compiled on demand, to start faster
_IN_BRACKETS = r"(.*?)\s*(?:\[([^\[\]]*)\]|\(([^()]*(?:\([^()]*\)[^()]*)*)\))\s*"
_AFTER_SLASH = r"([^/]*?)\s*/\s*(.+)"
_AFTER_IN = r"(.+?)\s+in\s+(\S+)"
_LABELS = """au AU a.u. arb. arb.u. pH ppm ppb % ‰ dB dBm counts cts count Counts ADU DN pixel px
PSU psu PSS-78 NTU FNU FTU UTC GMT UT local MST EST PST CET string text char boolean"""
# What stands in headings for arbitrary units, scales, shares, counts, clocks and texts.
#
# It has no factor unless units are asked for. Some of these symbols are units of something else, as
# the astronomical unit and the picohenry.
LABELS = frozenset(_LABELS.split())
# What stands for a unit in a row of units, besides units.
OTHER_UNITS = LABELS | {"1"}
# What these symbols are beside temperatures; elsewhere they are the coulomb and the farad.
DEGREES = {"C": "°C", "F": "°F"}
_TEMPERATURE = r"(?:[tTθϑ](?:_\w+|\d+)?|(?:temp|Temp|TEMP|theta|Theta)\w*)\Z"
# What stands for no unit in headings and in rows of units; in those of Campbell's loggers time
# stamps and numbers.
NO_UNIT = frozenset(
    ["", "-", "--", "–", "—", "/", "#", "none", "dimensionless", "unitless", "TS", "RN"]
)

# How dates and times of day are written, such as `hh:mm:ss` and `YYYY-MM-DD`.
_CLOCK = r"(?=.*[:/.-])(?:y+|m+|d+|h+|s+|f+)(?:[-/.: T]+(?:y+|m+|d+|h+|s+|f+))+Z?"


def is_unit(text: str) -> bool:
    """Return whether a text is just a unit, perhaps one that can be read in two ways."""
    from ..engine.quantities.unit import (  # most headings are names
        AmbiguousUnit,
        unit_or_none,
    )

    unit = without_brackets(text) or "1"
    try:
        return unit in OTHER_UNITS or unit_or_none(unit) is not None
    except AmbiguousUnit:
        return True


def is_unit_or_format(text: str) -> bool:
    """Return whether a cell of a row of units is one, or says how dates are written in its
    column.
    """
    return is_unit(text) or re.fullmatch(_CLOCK, without_brackets(text), re.IGNORECASE) is not None


_DEGREES_CELSIUS = r"[Dd]eg(?:rees?)?[ _.]?(?:C|[Cc]elsius)"
# Degrees of latitude and longitude of the CF conventions, and those of a compass.
_DEGREES = r"[Dd]egrees?|deg(?:rees?)?[_ ]?(?:north|east|true|N|E|T)"

# What the volts of an electrode are measured against: `V vs. Ref.`.
_AGAINST = r"\s+vs\.? .+"


def as_unit(cell: str) -> str:
    """Return a unit as instruments and the CF conventions write it, in the style of units.

    >>> as_unit("m s-1"), as_unit("degree_C"), as_unit("Volts"), as_unit("(sec)"), as_unit("degrees_north")
    ('m s^-1', '°C', 'V', '(s)', '°')
    """
    if (inner := without_brackets(cell)) != cell:
        return cell.replace(inner, as_unit(inner)) if inner else cell
    if re.fullmatch(_DEGREES_CELSIUS, cell):
        return "°C"
    if re.fullmatch(_DEGREES, cell):
        return "°"
    if cell[:1].isalpha():
        cell = re.sub(_AGAINST, "", cell)
        from ..engine.quantities.table import units_file  # most rows of units have symbols

        words, word = units_file()["written out"], cell.lower()
        if (symbol := words.get(word) or words.get(word.removesuffix("s"))) is not None:
            return str(symbol)
    return re.sub(r"(?<=[A-Za-z])(-?\d)(?=$|[ .])", r"^\1", cell) if cell[:1].isalpha() else cell


def without_brackets(text: str) -> str:
    """Return a unit without its brackets, if any."""
    inner = re.fullmatch(r"\[(.*)\]|\(([^()]*)\)", text)
    return (inner[1] or inner[2] or "").strip() if inner else text


def heading(text: str) -> tuple[tuple[str, ...], str | None]:
    """Return the names that a heading such as `U [V]` or `t/s` may stand for, and its unit or
    None.
    """
    if is_name(text):
        return (text,), None
    base, unit = text, None
    # `v in m/s` before `m/s`, whose name would be `v in m`
    for pattern in (_IN_BRACKETS, _AFTER_IN, _AFTER_SLASH):
        match = re.fullmatch(pattern, text)
        inner = (
            next((piece.strip() for piece in match.groups()[1:] if piece), None) if match else None
        )
        if match and (pattern is _IN_BRACKETS or (inner and is_unit(inner))):
            base, unit = match[1], _written_unit(inner) if inner else None
            break
    names = [base, *base.split()[-1:]]
    return tuple(dict.fromkeys(name for name in names if is_name(name))), unit


# Powers as instruments write them in headings: `m/s2`, `cm-1`, `mm3`. Only of what is mistaken for no
# label or ratio, as `V2` and `A/A0` are, nor for two units, as `ms-1` is.
_PLAIN_POWERS = (
    r"(?<![A-Za-z])((?:[kcdmuµμn]?m|ft|in)(?=[23])|(?:[cn]?m|s|min|h|K)(?=-[1-4]))(-?\d)(?!\d)"
    r"|(?<=[/ ])(s)(2)(?!\d)"
)


def _written_unit(inner: str) -> str | None:
    """Return the unit in a heading's brackets, in the style of units; None for a remark.

    >>> _written_unit("sec"), _written_unit("m/s2"), _written_unit("cm-1"), _written_unit("V2"), _written_unit("A/A0")
    ('s', 'm/s^2', 'cm^-1', None, None)
    """
    if is_unit(inner):
        return inner
    words = as_unit(inner) if inner.replace(" ", "").isalpha() else inner
    raised = re.sub(_PLAIN_POWERS, lambda found: "^".join(filter(None, found.groups())), words)
    return raised if is_unit(raised) else None


def unit_in_heading(text: str, name: str) -> str | None:
    """Return the unit in a column's heading; in `u(V)` the parentheses hold a name.

    A text in square brackets that is no known unit is returned too: such a column has no known
    unit.

    >>> unit_in_heading("U (mV)", "U"), unit_in_heading("u(V)", "u(V)"), unit_in_heading("u(V) [mV]", "u(V)")
    ('mV', None, 'mV')
    """
    spread = re.match(r"u\([^()]*\)", name)
    if spread and text.startswith(spread[0]):
        text = f"u{text.removeprefix(spread[0])}"
    if is_name(text):
        return None
    return heading(text)[1] or _in_square_brackets(text) or _with_factor(text)


def _in_square_brackets(text: str) -> str | None:
    match = re.fullmatch(r".*?\[([^\[\]]+)\]\s*", text)
    return match[1].strip() or None if match else None


# A power of ten, as `10^3` or `×10⁻³`, in parentheses at the end of a heading, alone or before a
# unit; compiled where a heading has parentheses and no known unit.
FACTOR = (
    r".*\(\s*([x×*·]?\s*(?:10\s*(?:(?:\^|\*\*)\s*[-+−]?\d+|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|1[eE][-+]?\d+)[^()]*)\)\s*"
)


def _with_factor(text: str) -> str | None:
    """Return what stands in parentheses after a heading if it is a power of ten."""
    match = re.fullmatch(FACTOR, text) if "(" in text else None
    return match[1].strip() if match else None


def names_in_headings(headings: Iterable[str]) -> Mapping[str, str]:
    """Return unambiguous names in headings, with their headings; headings that are names are left
    out.
    """
    columns: dict[str, list[str]] = {}
    for text in headings:
        if not is_name(text):
            for name in heading(text)[0]:
                columns.setdefault(name, []).append(text)
    return {name: texts[0] for name, texts in columns.items() if len(texts) == 1}


# The value of `--in` that ignores units in headings.
NONE = "none"
WITHOUT = f"or compute with the numbers alone: `--in {NONE}`"


def left_out(units: Names) -> bool:
    """Return whether `--in` ignores the units of headings."""
    return units == NONE or (
        not isinstance(units, str) and units is not None and [*units] == [NONE]
    )


class MeasuredColumns(dict[str, list[float]]):
    """Columns by name, and the units in their headings as texts."""

    units: Mapping[str, str] = {}
    uncertainties: Mapping[str, list[float]] = {}
    """The uncertainties in the cells of columns, as `1.1±0.1` has one."""


def units_in_headings(columns: Mapping[str, str], below: Mapping[str, str]) -> dict[str, str]:
    """Return the units of the columns that have one, by name; `below` has those of a row of units.

    >>> units_in_headings({"U": "U (mV)", "t": "time", "x": "x"}, {"time": "s"})
    {'U': 'mV', 't': 's'}
    """
    for column in columns.values():
        if under := below.get(column):
            _check_units_agree(column, under)
    # a column `u(N)` beside `N` is an uncertainty, and not in newton
    spreads = {f"u({name})" for name in columns}
    of = {
        name: column if column in spreads and name != "u" else name
        for name, column in columns.items()
    }
    texts = {
        name: below.get(column) or unit_in_heading(column, of[name])
        for name, column in columns.items()
    }
    return {name: text for name, text in texts.items() if text and text not in NO_UNIT}


def _check_units_agree(column: str, under: str) -> None:
    """Raise an error if a column has one unit in its heading and another below it."""
    inside = _in_square_brackets(column)
    if inside is None:
        return
    from ..engine.quantities.unit import unit_or_none  # few files have both

    unit, other = unit_or_none(inside), unit_or_none(under)
    if unit is not None and (other is None or unit[1:] != other[1:]):
        message = f"column `{column}` is in {inside} by its heading, and below it stands {under}"
        raise point_error(message, "correct one of them")


def uses_angles(program: Program) -> bool:
    """Return whether a program applies a function of an angle, or one that gives an angle."""
    return any(row.group == "Trigonometric" and not row.linear for row in program.graph.primitives)


def column_units(
    names: Iterable[str], texts: Mapping[str, str], asked: bool, *, angles: bool = True
) -> tuple[dict[str, Unit], list[Diagnostic]]:
    """Return the units of columns, and notes: what is taken as a label or a number, or why all
    units are ignored.

    With `angles`, numbers in degrees and the like are angles.
    """
    names = list(names)
    if not asked and texts.keys().isdisjoint(names):
        return {}, []
    from ..engine.quantities.unit import Unit, unit_or_none  # most columns have none

    _check_headings(names, texts)
    labels = set() if asked else _labels(names, texts, angles)
    units = {}
    notes: list[Diagnostic] = []
    for name in names:
        text = texts.get(name, "1" if asked else "")
        if name in labels:
            message = f"`{text}` in the heading of `{name}` is taken as a label without a factor"
            notes.append(Diagnostic("note", message, None, _hint_of_label(text)))
            text = ""
        if text:
            text, note = _of_temperature(name, text)
            notes += note
        unit = Unit() if text in ("", "1") else unit_or_none(text)
        if unit is None or (unit.zero and not asked):
            others = {other: texts.get(other, "") for other in names if other not in labels}
            return {}, [*notes, _no_unit(name, text, unit, asked, others)]
        units[name] = unit
    if not asked:
        notes += _taken_as_numbers(units, texts)
    return units, notes


def _check_headings(names: Iterable[str], texts: Mapping[str, str]) -> None:
    """Raise a usage error for a unit in a heading that can be read in two ways: `W/mK`."""
    from ..engine.quantities.unit import AmbiguousUnit, unit_or_none

    for name in names:
        try:
            unit_or_none(texts.get(name, ""))
        except AmbiguousUnit as error:
            message = f"the unit in the heading of `{name}`: {error}"
            raise usage_error(message, f"{error.diagnostic.hint}; {WITHOUT}") from None


def _taken_as_numbers(units: dict[str, Unit], texts: Mapping[str, str]) -> list[Diagnostic]:
    """Return a note on columns without units beside others with some; forget the units if there are
    none.
    """
    if not any(unit.atoms for unit in units.values()):
        units.clear()
        return []
    plain = [name for name in units if not texts.get(name)]
    if not plain:
        return []
    words = (
        "has no unit, and is taken as a number"
        if len(plain) == 1
        else "have no unit, and are taken as numbers"
    )
    return [Diagnostic("note", f"{quote(plain)} {words}", None, None)]


def _no_unit(
    name: str, text: str, unit: Unit | None, asked: bool, others: Mapping[str, str]
) -> Diagnostic:
    """Return the note that all units are ignored, as one is not known or its 0 is not absolute
    zero.

    Raises an error if units are asked for, or if the formula needs those of other columns.
    """
    from ..engine.quantities.unit import unit_or_none

    if unit is None:
        reason = f"`{name}` is in `{text}`, which is not a known unit"
        hint = f"give the column a unit: `autodiff units` lists them; {WITHOUT}"
    else:
        reason = f"`{name}` is in {unit}, whose 0 is not absolute zero"
        hint = f"give a unit with `--in`, so that all units are used; {WITHOUT}"
    if asked:
        raise ExpressionError("point", f"column {reason}", hint=hint)
    known = {other: unit for other, text in others.items() if (unit := unit_or_none(text))}
    check_coherence(known, reason, hint)
    return Diagnostic("note", f"the units in the headings are ignored: {reason}", None, None)


def _labels(names: Iterable[str], texts: Mapping[str, str], angles: bool) -> set[str]:
    """Return the columns whose headings have labels for units: unknown ones, names of scales, and
    scaled numbers.

    Degrees and the like have their factor in programs with angles, or where two such units stand
    side by side.
    """
    from ..engine.quantities.unit import NUMBER, unit_or_none

    labels = {
        name
        for name in names
        if (text := texts.get(name)) and (text in LABELS or _is_unknown(text))
    }
    scaled = {
        name: unit
        for name in names
        if name not in labels and (unit := unit_or_none(texts.get(name, "")))
    }
    scaled = {
        name: unit for name, unit in scaled.items() if unit.dimension == NUMBER and unit.atoms
    }
    if angles or len({*map(str, scaled.values())}) > 1:
        return labels
    return labels | {name for name, unit in scaled.items() if unit.to_si(1.0) != 1}


def _hint_of_label(text: str) -> str | None:
    if not _is_unknown(text):
        return "`--in` with a unit uses those of all headings"
    return None if text in LABELS else "`autodiff units` lists the units that are known"


def _is_unknown(text: str) -> bool:
    from ..engine.quantities.unit import unit_or_none

    return text != "1" and unit_or_none(text) is None


def _of_temperature(name: str, text: str) -> tuple[str, list[Diagnostic]]:
    """Return the unit in a heading, with a note where `C` or `F` stands beside a temperature for
    its degrees.
    """
    if text not in DEGREES or re.match(_TEMPERATURE, name) is None:
        return text, []
    message = f"`{text}` in the heading of the temperature `{name}` is read as {DEGREES[text]}"
    return DEGREES[text], [Diagnostic("note", message, None, None)]


def check_coherence(units: Mapping[str, Unit], reason: str, hint: str | None) -> None:
    """Raise an error if columns in two units of one quantity would be used as numbers alone.

    The `reason` is why their units cannot be used, and the `hint` what to do about it.
    An angle in degrees is such a column too, because its number would be taken in radians.
    """
    from ..engine.quantities.presentation import conversion
    from ..engine.quantities.unit import NUMBER

    first: dict[object, str] = {}
    for name, unit in units.items():
        other = first.setdefault(unit.dimension, name)
        is_angle = unit.dimension == NUMBER and unit.to_si(1.0) != 1
        if is_angle or conversion(unit, units[other]) != (1.0, 0.0):
            what = (
                f"`{name}` is in {unit}"
                if is_angle
                else f"`{other}` is in {units[other]}, `{name}` in {unit}"
            )
            message = f"{what}, and the units in the headings are ignored: {reason}"
            raise ExpressionError("point", message, hint=hint)


def check_percentage(name: str, text: str) -> None:
    """Raise an error for a percentage of a column in per cent, or in a unit with an offset zero."""
    from ..engine.quantities.unit import unit_or_none  # most columns have none

    if text == "%":
        message = (
            f"`{name}` is in %, and a percentage of it may be one of its number, or percentage"
            " points"
        )
        raise point_error(message, f"give the uncertainty of `{name}` as a number; {WITHOUT}")
    unit = unit_or_none(text) if text else None
    if unit is not None and unit.zero:
        raise percentage_of(
            unit, f"give the uncertainty of `{name}` as a number of {unit}; {WITHOUT}"
        )


def percentage_of(unit: Unit, hint: str, span: Span | None = None) -> ExpressionError:
    """Return the error for a percentage in a unit with an offset zero."""
    message = (
        f"a percentage of a temperature in {unit} may be one of its number, or of its value in"
        " kelvin"
    )
    return ExpressionError("point", message, span, hint)


def in_unit_of(
    name: str, numbers: Sequence[float], text: str, own: str, *, spread: bool = False
) -> Sequence[float]:
    """Return numbers of the column `name`, given in the unit `text`, in its `own` unit; "" is no
    unit.

    Numbers without a unit are in that of the column; with `spread` they are uncertainties.
    """
    if not text or text == own or {text, own} == {"", "1"}:
        return numbers
    from ..engine.quantities.presentation import convert_column  # most columns have none
    from ..engine.quantities.unit import Unit, quantity_name, unit_or_none
    from .periods import check_one_kind

    unit, to = (Unit() if x == "1" else unit_or_none(x) for x in (text, own))
    what = "uncertainties" if spread else "numbers"
    if unit is None or to is None:
        its = f"is in `{own}`" if own else "has no unit"
        message = f"the {what} of `{name}` are in `{text}`, and its column {its}"
        raise point_error(
            message, f"give both in units of one quantity, or both without one; {WITHOUT}"
        )
    if unit.dimension != to.dimension:
        message = (
            f"the {what} of `{name}` are in {text}, and `{name}` is {quantity_name(to.dimension)}"
        )
        hint = (
            f"give them in a unit such as {to.degree if spread else to}"
            if to.atoms
            else "leave their unit out"
        )
        raise point_error(message, hint)
    check_one_kind(name, to, unit)
    unit, to = (unit.degree, to.degree) if spread else (unit, to)
    return convert_column(numbers, unit, to)


def without_units_hint(error: ExpressionError) -> ExpressionError:
    """Return the error, with a hint to omit units if it is about dimensions."""
    if error.kind != "dimension":
        return error
    hint = f"{error.hint}; {WITHOUT}" if error.hint else WITHOUT
    other = ExpressionError(error.kind, str(error), error.span, hint)
    other.text = error.text
    return other


def is_of_pint(value: object) -> bool:
    """Return whether a value is a quantity of pint, with a unit of its own."""
    return hasattr(value, "magnitude") and hasattr(value, "units")


# Of exponents, which pint may have as floats.
MAX_DENOMINATOR = 100

# Relative difference of two factors of one unit: editions of CODATA differ in the ninth digit of
# the electronvolt.
PINT_TOLERANCE = 1e-7


# The dimensions of pint, with the symbol of the base unit and its name there.
_BASE_OF_PINT = {
    "[mass]": ("kg", "kilogram"),
    "[length]": ("m", "meter"),
    "[time]": ("s", "second"),
    "[current]": ("A", "ampere"),
    "[temperature]": ("K", "kelvin"),
    "[substance]": ("mol", "mole"),
    "[luminosity]": ("cd", "candela"),
}


def numbers_and_symbol(value: Any) -> tuple[Any, str]:
    """Return the numbers of a quantity of pint and the symbol of their unit, "" if none.

    Where pint's symbol is no unit here or another one, they are in base units, by pint's factor:
    pint writes a milliinch as `min`, a centiday as `cd`, and has an acre of survey feet.
    """
    symbol = f"{value.units:~P}"
    powers = dict(value.dimensionality)
    if unknown := [name for name in powers if name not in _BASE_OF_PINT]:
        message = (
            f"the unit {value.units} of pint has the dimension {unknown[0]}, which has no unit here"
        )
        raise point_error(message, "divide by it first, for a number without a unit")
    base = "*".join(f"{_BASE_OF_PINT[name][1]}**({n})" for name, n in powers.items())
    if symbol and _is_the_same(symbol, value, base):
        return value.magnitude, symbol
    try:
        numbers = value.to(base).magnitude
    except (TypeError, ValueError, AttributeError) as error:  # as pint's errors are
        raise point_error(
            f"the unit {value.units} of pint cannot be converted: {error}", "convert it first"
        ) from None
    return numbers, "*".join(
        f"{_BASE_OF_PINT[name][0]}^({plain_power(n)})" for name, n in powers.items()
    )


def plain_power(n: float) -> str:
    """Return an exponent of pint, a number that may be a float, as a fraction."""
    from fractions import Fraction  # only quantities of pint need it

    return str(Fraction(n).limit_denominator(MAX_DENOMINATOR))


def _is_the_same(symbol: str, value: Any, base: str) -> bool:
    """Return whether a symbol means the unit of pint here too."""
    from ..engine.quantities.unit import unit_or_none

    unit = unit_or_none(symbol)
    if unit is None:
        return False
    try:
        theirs = type(value)(1.0, value.units).to(base).magnitude
    except (TypeError, ValueError, AttributeError):
        return False
    names = [symbol for symbol, _ in _BASE_OF_PINT.values()]
    powers = {_BASE_OF_PINT[name][0]: n for name, n in value.dimensionality.items()}
    same = all(
        isclose(n, powers.get(name, 0)) for name, n in zip(names, unit.dimension, strict=True)
    )
    return same and isclose(theirs, unit.to_si(1.0) + float(unit.zero), rel_tol=PINT_TOLERANCE)


def value_text(name: str, value: Any) -> str:
    """Return a value as typed: a text as it is, or a number, exact or shortest, and its unit if it
    is of pint.
    """
    if isinstance(value, str):
        return value
    if not is_of_pint(value):
        return written_number(name, value).source
    magnitude, unit = numbers_and_symbol(value)
    number = written_number(name, magnitude).source
    if not unit:
        return number
    return f"({number}) {unit}" if "/" in number else f"{number} {unit}"


def numbers_and_unit(column: Any) -> tuple[Any, str]:
    """Return the numbers of a column and the unit that pint gives them, "" if none."""
    return numbers_and_symbol(column) if is_of_pint(column) else (column, "")


def with_units(point: Point | None) -> dict[str, float | str]:
    """Return the point with its values in units, as texts or of pint, as quantities."""
    values: dict[str, Any] = dict(point or {})
    if PLAIN.issuperset(map(type, values.values())):
        return values
    from .quantities import quantity_value, split_quantity  # only units and texts need it

    for name, value in values.items():
        text = value_text(name, value) if is_of_pint(value) else value
        if isinstance(text, str):
            values[name] = quantity_value(name, text) if split_quantity(text) else value
        elif type(value) not in PLAIN:
            number_or_quantity(value, name)  # raises the error of what is no number
    return values


def pose_with_units(
    text: str,
    point: Point | None,
    wrt: Names = None,
    asked: Names = None,
    *,
    single: bool = True,
    system: bool = False,
) -> Problem:
    """Return a text as a problem at a point, with the units of its names and outputs."""
    problem = pose(text, with_units(point), wrt, single=single)
    units = program_units(problem.program, problem.values, asked, system=system)
    if units is None:
        return problem
    return problem._replace(units=units, warnings=[*problem.warnings, *units.warnings])


def program_units(
    program: Program,
    values: Mapping[str, Any],
    asked: Names = None,
    *,
    unknowns: Sequence[str] = (),
    ranges: Mapping[str, Range] = {},
    system: bool = False,
) -> ProgramUnits | None:
    """Return the units of a program at a point, or of equations; None without units. See
    `ProgramUnits`.
    """
    if not (asked or have_units(program.text, values, ranges)):
        return None
    from .quantities import ProgramUnits  # only units need it

    check_values(program, {**dict.fromkeys(unknowns, 1.0), **values})
    try:
        return ProgramUnits(program, values, asked, unknowns=unknowns, ranges=ranges, system=system)
    except ExpressionError as error:
        raise (without_units_hint(error) if system else error) from None


def check_dimensions(program: Program) -> None:
    """Raise an error for a program that has a value for no units of its variables, as `2[mm] +
    3[s]*sin(x)`.
    """
    from ..engine.numbers.dimensions import UnknownDimensions  # few formulas have units
    from .quantities import evaluate_dimensions

    m = UnknownDimensions([*program.leaves])
    evaluate_dimensions(m, program, {name: m.unknown(name) for name in program.leaves})
