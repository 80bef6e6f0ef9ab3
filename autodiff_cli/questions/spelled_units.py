"""Units in words, as people type them: `3 kilometers per hour`, `5 square feet`, `20 degrees
Celsius`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product

from ..engine.quantities.table import spellings, units_file
from ..engine.quantities.unit import unit_or_none, units_by_name
from .optional_units import DEGREES

# The words of the longest name of a unit: `pound per square inch`.
MOST_WORDS = 4
# The letters from which on a symbol is known in another case: `BTU`, but not `MM`.
MIN_CASELESS = 3
# Words that are another unit with a small letter: a Calorie of food is 1000 calories.
CASE_DECIDES = frozenset(("Cal", "Cals", "Calorie", "Calories"))
_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_RAISED = {"squared": 2, "cubed": 3}
_QUANTITY = re.compile(
    r"\s*([-+−]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+))\s*([^\d\s=<>()\[\]][^=<>()\[\]]*?)\s*"
)
_NEXT_QUANTITY = re.compile(r"(?<=[^\W\d_])\s+(?=\d)")
_TURNS = re.compile(r"\b(?:m?rad|rev|deg|degrees?|radians?|turns?|arcmin|arcsec|gon)\b|°(?![CF])")


def symbols_of(phrase: str) -> str | None:
    """Return the symbols of a unit in words; None for a phrase that is no unit.

    >>> symbols_of("kilometers per hour"), symbols_of("square feet"), symbols_of("degrees Celsius"), symbols_of("feat")
    ('km/h', 'ft^2', '°C', None)
    """
    words, parts = phrase.split(), list[str]()
    sign = ""
    while words:
        if words[0] == "per" and parts and not sign:
            sign = "/"
            del words[0]
            continue
        power = _POWERS.get(words[0].lower(), 1)
        if power > 1:
            del words[0]
        symbol, count = _first_unit(words)
        if symbol is None:
            return None
        del words[:count]
        if words and words[0] in _RAISED:
            power = _RAISED[words.pop(0)]
        symbol += f"^{power}" if power > 1 else ""
        parts.append(sign + symbol if sign or not parts else f" {symbol}")
        sign = ""
    written = "".join(parts)
    return written if not sign and unit_or_none(written) is not None else None


def _first_unit(words: list[str]) -> tuple[str | None, int]:
    """Return the unit that words begin with, and how many words it takes."""
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        if not CASE_DECIDES.isdisjoint(words[:count]):
            continue
        names = [
            "".join(each) for each in product(*[_numbers(word.lower()) for word in words[:count]])
        ]
        if count == 1 and unit_or_none(words[0]) is not None:
            return words[0], 1
        if (
            symbol := next((_names()[name] for name in names if name in _names()), None)
        ) is not None:
            return symbol, count
    return None, 0


def _numbers(word: str) -> tuple[str, ...]:
    """Return a word, and what it is the plural of if that is regular: `Celsius` is not."""
    return (word, word[:-1]) if word.endswith("s") and len(word) > MIN_CASELESS else (word,)


@cache
def _names() -> dict[str, str]:
    """Return the symbols by what people call units, in small letters without blanks."""
    symbols: dict[str, set[str]] = {}
    for name, entry in spellings().items():
        for short in ("", *entry.prefixes):
            if len(short + name) >= MIN_CASELESS:
                symbols.setdefault((short + name).lower(), set()).add(short + entry.symbol)
    certain = {name: next(iter(units)) for name, units in symbols.items() if len(units) == 1}
    words: dict[str, str] = units_file()["written out"] | units_file()["spelled"]
    return certain | units_by_name() | words


def conversion_in_symbols(quantity: str, unit: str) -> tuple[str, str] | None:
    """Return a quantity and the unit it is wanted in, both with symbols; None where one is no unit.

    `5 feet 3 inches` is a sum: a product would be an area. `C` and `F` are temperatures: a charge
    is no capacitance.

    >>> conversion_in_symbols("5 feet 3 inches", "centimeters"), conversion_in_symbols("20 C", "F")
    (('5[ft] + 3[in]', 'cm'), ('20 °C', '°F'))
    """
    pieces = [_QUANTITY.fullmatch(piece) for piece in _NEXT_QUANTITY.split(quantity)]
    wanted = converted_unit(unit, quantity)
    terms = [
        (piece[1], own)
        for piece in pieces
        if piece and (own := converted_unit(piece[2], unit)) is not None
    ]
    if wanted is None or len(terms) < len(pieces):
        return None
    if len(terms) == 1:
        number, own = terms[0]
        typed = [piece[2] for piece in pieces if piece] + [unit]
        if all(map(_is_temperature, typed, (own, wanted))):
            own, wanted = DEGREES.get(own, own), DEGREES.get(wanted, wanted)
        elif own in DEGREES and typed[0] not in DEGREES:
            # in brackets the letter of `1 farad in F` is no temperature
            return f"{number}[{own}]", wanted
        return f"{number} {own}", wanted
    dimensions = {
        read.dimension for _, symbol in terms if (read := unit_or_none(symbol)) and not read.zero
    }
    goal = unit_or_none(wanted)
    if goal is None or dimensions != {goal.dimension}:
        return None
    return " + ".join(f"{number}[{symbol}]" for number, symbol in terms), wanted


def _is_temperature(typed: str, symbol: str | None) -> bool:
    """Return whether a unit may be one of temperatures: `C` is, but `coulomb` is not."""
    return symbol == "K" or symbol in DEGREES.values() or typed.strip() in DEGREES


def converted_unit(phrase: str, other: str) -> str | None:
    """Return the symbols of a unit; revolutions are angles only where the other side of a
    conversion has an angle.

    >>> converted_unit("rpm", "50 Hz"), converted_unit("rpm", "314 rad/s"), converted_unit("feet", "5 m")
    ('1/min', 'rev/min', 'ft')
    """
    if phrase == "rpm":
        return "rev/min" if _TURNS.search(other) else "1/min"
    return symbols_of(phrase)
