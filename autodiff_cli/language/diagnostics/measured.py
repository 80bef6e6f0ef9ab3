"""Numbers with units as people write them, `2 mm`, `40mm`, `9.81 m/s²`, and the literals that they
mean, `2[mm]`.

A variable wins over a unit of its name. A word is certainly a unit if nothing else is written so,
as `kPa`; a letter, as in `2 m`, and a rare unit, as in `3 lx`, only beside another unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.quantities.table import spellings
from ...engine.quantities.unit import unit_or_none
from ...engine.table.primitive import FUNCTIONS
from ...errors import ExpressionError, Offer, Span, quote
from ..builder import CONSTANTS
from ..tokens import KEYWORDS, NAME, LazyPattern, has_unit_literals, scan

_LETTER = "[^\\W\\d_⁰¹²³⁴⁵⁶⁷⁸⁹]"
_NUMBER = LazyPattern(r"(?<![\w.\])])(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+−]?\d+(?!\d))?")
_WORD = rf"(?:°[CF]|{_LETTER}+)(?![A-Za-z0-9_(\[])"
_POWER = r"(?:\s?(?:\*\*|\^)\s?(?:[-−]?\d|\([-−]?\d\))|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹])"
_FACTOR = rf"{_WORD}{_POWER}?"
_FIRST = LazyPattern(rf"\s*{_FACTOR}")
_NEXT = LazyPattern(
    rf"(?:\s?/\s?\({_FACTOR}(?:\s*[·*× ]\s*{_FACTOR})*\)|(?:\s?[/·×*]\s?|\s){_FACTOR})"
)
_MEASURED_BEFORE = LazyPattern(
    rf"(?:\d\s*{_FACTOR}(?:[/·*× ]{_FACTOR})*|\d\[[^\[\]]+\])\)?\s*[/÷]\Z"
)
_NAMES = LazyPattern(rf"°[CF]|{_LETTER}+")
# Words of the language and of conversions; `in` and `as` may begin a unit.
_CONTINUES_NO_UNIT = frozenset((*KEYWORDS, "in", "to", "as"))

# Units that a number before them makes certain, by their prefix: no product of names is usually
# written so.
USUAL: Mapping[str, str] = {
    "": (
        "kg mol rad Pa ohm Ohm Ω Hz Bq Gy Sv kat Wb min day week year deg arcmin arcsec eV °C degC"
        " °F degF rev angstrom Å barn bar atm Torr mmHg cal erg dyn kgf Wh Ah inch in ft foot yd"
        " yard mile nmi acre gallon lb oz lbf psi mph knot hp Btu ppm"
    ),
    "k": "m N Pa W V A J Hz Ω ohm eV Wh Ah Bq Da mol VA cal L",
    "M": "Pa W V N J Hz Ω ohm eV Wh Bq VA pc",
    "G": "Pa W N J Hz Ω ohm eV Wh pc",
    "T": "Hz Wh",
    "h": "Pa L",
    "d": "m L",
    "c": "m L St",
    "m": "m g s L l A V W Pa N J H T C F S K Ω ohm mol rad bar Sv Gy eV Ah Hz Wb Bq",
    "µ": "m g s L l A V W Pa N J H T C F S K Ω ohm mol rad Sv Gy eV Ah Wb",
    "n": "m g s L A V W F H T C S mol",
    "p": "m g s A F C",
    "f": "s m",
}
_CERTAIN = frozenset(
    prefix + symbol for prefix, symbols in USUAL.items() for symbol in symbols.split()
)

# Quotients of letters that a number and a space before them make certain, also with a power behind:
# `9.81 m/s²`.
_USUAL_QUOTIENTS = frozenset(
    [
        "m/s",
        "N/m",
        "V/m",
        "A/m",
        "W/m",
        "K/m",
        "J/K",
        "W/K",
        "K/W",
        "J/s",
        "C/s",
        "V/s",
        "A/s",
        "L/s",
        "g/s",
        "g/L",
        "V/A",
        "J/C",
        "C/V",
        "N/C",
    ]
)
_FACTOR_BEHIND = LazyPattern(r"\s?\*\s?[abdhtu]\b")
_POWER_BEHIND = LazyPattern(_POWER + r"\Z")


# Characters of a text in which units are looked for: longer ones are not typed, and are not
# corrected either.
MAX_TEXT = 2_000


class Measured(NamedTuple):
    """A number with a unit behind it, in a text."""

    start: int
    end: int
    number: str
    unit: str
    words: tuple[str, ...]
    glued: bool
    """Whether no space is between them: `40mm`, which strict reading takes for a product."""

    @property
    def literal(self) -> str:
        """The number with its unit in brackets."""
        return f"{self.number}[{self.unit}]"

    def divides_a_number(self, text: str) -> bool:
        """Return whether it can be read in two ways, as in `1/2 mm`; `5 N/2 mm` is a quotient of
        quantities.
        """
        before = text[: self.start].rstrip(" +-−")
        return before.endswith(("/", "÷", "^", "**")) and _MEASURED_BEFORE.search(before) is None

    @property
    def offer(self) -> Offer:
        """The literal in place of what was typed."""
        return Offer(self.start, self.end, self.literal, shown=(self.literal,))


def measured_numbers(
    text: str, valued: Collection[str] = (), *, every: bool = False
) -> list[Measured]:
    """Return the numbers of a text that certainly have a unit; with `every`, all that can have one.

    `valued` names have values, perhaps with units.

    >>> [one.literal for one in measured_numbers("9.81 m/s^2 * 2 kg")]
    ['9.81[m/s^2]', '2[kg]']
    >>> measured_numbers("2 m"), measured_numbers("3 kg + kg")
    ([], [])
    """
    found = _candidates(text, valued) if len(text) <= MAX_TEXT else []
    if every or not found:
        return found
    is_measured = has_unit_literals(text) or any(
        map(_has_unit, valued.values() if isinstance(valued, Mapping) else ())
    )
    if is_measured or any(_is_certain(one, text) for one in found):
        # a unit that stands directly behind its number is a name in strict reading, and a letter is
        # more likely one
        return [
            one for one in found if not one.glued or _is_certain(one, text) or len(one.words) > 1
        ]
    return []


# Letters that are units in most texts where each of several numbers has a letter behind it.
MOST_LETTERS = frozenset("VANJWKCFHΩ")
# Letters that may be units behind the only number with a letter, as nothing else is asked: `230
# V/sqrt(3)`, `5 m`.
ALONE = MOST_LETTERS | {"m", "s", "g"}


def check_letters(text: str) -> None:
    """Raise an error for a text of numbers with letters, all of them units, that may be variables
    too: `12 V * 2 A`.
    """
    found = (
        []
        if measured_numbers(text)
        else [one for one in measured_numbers(text, every=True) if not one.glued]
    )
    names = {text[start:end] for kind, start, end in scan(text) if kind == NAME}
    words = {word for one in found for word in one.words}
    may_be_units = (
        words <= ALONE if len(found) == 1 else len(words) > 1 or bool(words & MOST_LETTERS)
    )
    if not found or not may_be_units or not names <= {*words, *CONSTANTS, *FUNCTIONS}:
        return
    quantities = products = text
    for one in reversed(found):
        quantities = one.offer.within(quantities)
        products = f"{products[: one.start]}{one.number}*{one.unit}{products[one.end :]}"
    offers = tuple([Offer(0, len(text), meant, False) for meant in (quantities, products)])
    message = (
        f"{quote(sorted(words))} may be"
        f" {'units, or variables' if len(words) > 1 else 'a unit, or a variable'}"
    )
    span = Span(found[0].start, found[-1].end)
    raise ExpressionError(
        "syntax", message, span, f"write `{quantities}` or `{products}`", offers=offers
    )


def _has_unit(value: Any) -> bool:
    return getattr(value, "unit", None) is not None


def _is_certain(one: Measured, text: str) -> bool:
    if any(_plain(word) in _CERTAIN for word in one.words):
        return True
    return not one.glued and _POWER_BEHIND.sub("", one.unit.replace(" ", "")) in _USUAL_QUOTIENTS


def _plain(word: str) -> str:
    word = word.replace("μ", "µ")
    return f"µ{word[1:]}" if word[:1] == "u" and word not in spellings() else word


def _candidates(text: str, valued: Collection[str]) -> list[Measured]:
    """Return the numbers with a unit, whose words are no names elsewhere in the text and have no
    values.
    """
    names: set[str] = set()
    while True:
        found = [*_behind_numbers(text, {*valued, *names})]
        spans = [(one.start, one.end) for one in found]
        others = {
            text[start:end]
            for kind, start, end in scan(text)
            if kind == NAME and not any(first <= start < last for first, last in spans)
        }
        if others <= names:
            return found
        names |= others


def _behind_numbers(text: str, known_names: Collection[str]) -> Iterator[Measured]:
    last = 0
    for number in _NUMBER.finditer(text):
        end = number.end()
        first = _FIRST.match(text, end)
        stop = (
            None
            if first is None or number.start() < last
            else _end_of_unit(text, end, first.end(), known_names)
        )
        if stop is not None:
            last, unit = stop, text[end:stop].strip()
            words = tuple(_NAMES.findall(unit))
            yield Measured(
                number.start(),
                stop,
                number[0].replace("−", "-"),
                unit,
                words,
                not text[end].isspace(),
            )


def _end_of_unit(text: str, end: int, first_end: int, known_names: Collection[str]) -> int | None:
    """Return the end of the longest unit behind a number; None if there is none, or if it can be
    read in two ways.
    """
    ends = [first_end]
    while (more := _NEXT.match(text, ends[-1])) is not None and not _is_taken(more[0], known_names):
        if "/" in text[end : ends[-1]] and _FACTOR_BEHIND.match(more[0]):
            break  # in `9.81 m/s^2*t` a factor comes after the unit, and no tonne
        ends.append(more.end())
    words = _NAMES.findall(text[end:first_end])
    if words[0] in KEYWORDS or words[0] in CONSTANTS or _is_taken(words[0], known_names):
        return None
    for stop in reversed(ends):
        unit = text[end:stop].strip()
        if unit_or_none(unit) is not None:
            return stop
        if all(map(unit_or_none, _NAMES.findall(unit))):
            return None
    return None


def _is_taken(text: str, known_names: Collection[str]) -> bool:
    """Return whether a word is a name, or a product of letters that are names, or continues no
    unit.
    """
    for word in _NAMES.findall(text):
        if word in known_names or (len(word) > 1 and all(letter in known_names for letter in word)):
            return True
        if word in _CONTINUES_NO_UNIT and text != word:
            return True
    return False
