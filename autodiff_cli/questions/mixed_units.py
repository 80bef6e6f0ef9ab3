"""Values in several units, from the largest on: `12° 30' 45.6''`, `1 h 30 min`, `5 ft 3 in`."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from ..engine.quantities.unit import MAX_UNIT_CHARACTERS, Unit, quantity_name, unit_or_none
from ..errors import ExpressionError, Span, point_error

_PART = re.compile(r"(\d+(?:\.\d*)?)\s*([^\d]+?)\s*(?=\d|$)", re.ASCII)
# possessive: a blank may end one part or begin the next, and what fails is not tried in all ways
_MIXED = re.compile(
    r"\s*+([-+−]?)((?:\s*+\d++(?:\.\d*+)?\s*+[^\s\d.,/*^()±+−-][^\d.,/*^()±+−-]*+){2,})"
)


class _InUnit(NamedTuple):
    number: str
    unit: Unit


def in_mixed_units(text: str) -> tuple[str, Unit] | None:
    """Return the value of a text in its first unit, as an exact formula, and that unit; None if it
    is no such text.

    Its units are of one kind, each a whole multiple of the next; all numbers but the last are whole,
    and behind the first each is smaller than the unit before it. Raises `ExpressionError` where the
    parts have units, and break one of these rules.

    >>> number, unit = in_mixed_units("12° 30' 45.6''")
    >>> number, str(unit)
    ('(12+30/60+45.6/3600)', '°')
    """
    match = _MIXED.fullmatch(text) if len(text) <= MAX_UNIT_CHARACTERS else None
    parts = _parts(match[2]) if match else None
    if match is None or parts is None:
        return None
    for before, part in pairwise(parts):
        _check(before, part, text)
    first, *others = parts
    _check_no_feet(parts, text)
    terms = [first.number, *[f"{part.number}/{_ratio(first, part)}" for part in others]]
    return f"{match[1].replace('−', '-')}({'+'.join(terms)})", first.unit


def _parts(text: str) -> list[_InUnit] | None:
    parts = []
    for number, name in _PART.findall(text):
        unit = unit_or_none(name)
        if unit is None or unit.zero:
            return None
        parts.append(_InUnit(number, unit))
    return parts


def _ratio(part: _InUnit, other: _InUnit) -> Fraction:
    return part.unit.scale / other.unit.scale


def _check(before: _InUnit, part: _InUnit, text: str) -> None:
    """Raise an error unless a part may stand behind another."""
    unit, smaller = before.unit, part.unit
    if (unit.dimension, unit.pi) != (smaller.dimension, smaller.pi):
        is_minutes = str(unit) == "h" and str(smaller) == "m"
        kinds = f"{quantity_name(unit.dimension)} and {quantity_name(smaller.dimension)}"
        hint = "minutes are `min`" if is_minutes else "give the parts as values of their own"
        raise _wrong(f"its parts in {unit} and {smaller} are {kinds}", hint, text)
    ratio = _ratio(before, part)
    if ratio.denominator != 1 or ratio == 1:
        raise _wrong(f"{unit} is no whole multiple of {smaller}", "give it in one unit", text)
    if not before.number.isdigit():
        hint = f"give it in one unit, or with a whole number of {unit}"
        raise _wrong(f"{before.number} {unit} is no whole number before {smaller}", hint, text)
    if Fraction(part.number) >= ratio:
        hint = f"behind {unit} stand less than {ratio} {smaller}"
        raise _wrong(f"{part.number} {smaller} are not less than 1 {unit}", hint, text)


_INCHES = 12  # of a foot


def _check_no_feet(parts: list[_InUnit], text: str) -> None:
    """Raise an error for `5'10"`, a height to most who write it, unless it has too many inches."""
    first, last = parts[0], parts[-1]
    if len(parts) == 2 and str(first.unit) == "′" and Fraction(last.number) < _INCHES:
        hint = (
            f"lengths are `{first.number} ft {last.number} in`; angles have their degrees before"
            f" them, as in `0° {first.number}' {last.number}''`"
        )
        raise _wrong("minutes and seconds of arc may be feet and inches", hint, text)


def _wrong(message: str, hint: str, text: str) -> ExpressionError:
    return point_error(message, hint, span=Span(0, len(text)))
