"""Units: products of powers, with exact factors to coherent SI units."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache, reduce
from operator import mul
from typing import NamedTuple

from ...errors import ExpressionError, Span, closest, errors_about
from .table import BASE, TableUnit, spellings, table, units_file

Exponent = int | Fraction
Dimension = tuple[Exponent, ...]  # the exponents of the base units `BASE`
NUMBER: Dimension = (0,) * len(BASE)
_LENGTH = BASE.index("m")
MAX_POWER = 99
# The largest exponent that powers of powers are read to.
MAX_EXPONENT = 999
# The most binary digits of the exact factor of a unit; doubles end at 1074.
MAX_SCALE_BITS = 4096
MAX_QUOTIENT_UNITS = 2
MIN_PREFIX_POWER, MAX_PREFIX_POWER = -12, 12  # beyond them a prefix is no help to a reader
MIN_UNPREFIXED, MAX_UNPREFIXED = 0.1, 10_000.0  # values between them need no other prefix
# Its negative powers are metres per second to most: `ms^-1`, `ms^-2`.
MILLISECOND = "ms"
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = str.maketrans("0123456789-/.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ·")
_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<over>/|÷|\bper\b)|(?P<times>\*(?!\*)|[·⋅×∙.])"
    r"|(?P<power>(?:\*\*|\^)\s*(?:[-+−]?\d+(?:\.\d+)?|\(\s*[-+−]?\d+\s*(?:/\s*\d+\s*)?\))|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<one>1(?![\d.]))|(?P<name>°\s?[CF](?![^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹])|[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]+|[°º℃℉Åµ]|(?:''|′′|[′″'\"])(?![′″'\"])))"
)


class AmbiguousUnit(ExpressionError):
    """A unit that can be read in two ways: `W/mK`, `ms^-1`."""


class UnknownUnit(ExpressionError):
    """A word that is no unit."""


class Unit(NamedTuple):
    """A product of powers of units."""

    atoms: tuple[tuple[str, Exponent], ...] = ()
    dimension: Dimension = NUMBER
    scale: Fraction = Fraction(1)
    pi: Exponent = 0
    """The unit is `scale*pi**pi` coherent SI units."""
    zero: Fraction = Fraction(0)
    """The zero of its scale in coherent units: not 0 for degrees Celsius and Fahrenheit."""

    def __str__(self) -> str:
        """Return the unit as text: `kg·m/s²`, `s⁻¹`; empty for a number."""
        above = [symbol + _raised(n) for symbol, n in self.atoms if n > 0]
        below = [symbol + _raised(-n) for symbol, n in self.atoms if n < 0]
        divisor = "·".join(below)
        if not above and any(symbol == MILLISECOND for symbol, _ in self.atoms):
            return f"1/{divisor if len(below) == 1 else f'({divisor})'}"
        if not below or not above:
            return "·".join(above or [symbol + _raised(n) for symbol, n in self.atoms])
        is_one = len(below) == 1 and not self._looks_like_product
        return f"{'·'.join(above)}/{divisor if is_one else f'({divisor})'}"

    @property
    def _looks_like_product(self) -> bool:
        """Whether its divisor would be read as a product behind the stroke, as in `W/mK`."""
        symbol = next(symbol for symbol, n in self.atoms if n < 0)
        if symbol not in units_file()["behind a stroke"]:
            return False
        above = _product(*[(parse_unit(each), n) for each, n in self.atoms if n > 0])
        return _reads_as_product(symbol, above)

    def to_si(self, x: float) -> float:
        """Return a difference in this unit, in coherent units."""
        return (
            times_scale(x, self.scale) * math.pi**self.pi if self.pi else times_scale(x, self.scale)
        )

    @property
    def difference(self) -> Unit:
        """The unit of differences: kelvin for degrees."""
        return parse_unit("K") if self.zero else self

    @property
    def degree(self) -> Unit:
        """The unit of differences on its scale: kelvin for degrees Celsius, smaller for
        Fahrenheit.
        """
        return self._replace(zero=Fraction(0)) if self.zero and self.scale != 1 else self.difference

    @property
    def factor_text(self) -> str:
        """The exact factor as an expression: `1/1000`, `1/180*pi`."""
        return f"{self.scale}" + (f"*pi**({self.pi})" if self.pi else "")

    def __mul__(self, other: Unit) -> Unit:  # type: ignore[override]
        return _product((self, 1), (other, 1))

    def __truediv__(self, other: Unit) -> Unit:
        return _product((self, 1), (other, -1))

    def __pow__(self, n: Exponent) -> Unit:
        return _product((self, n))

    @property
    def latex(self) -> str:
        r"""The unit in LaTeX with siunitx: `\unit{kg.s^{-2}}`."""
        texts = []
        for symbol, n in sorted(self.atoms, key=lambda atom: atom[1] < 0):
            plain = symbol.replace("µ", r"\micro ").replace("Ω", r"\ohm").replace("Å", r"\angstrom")
            text = _DEGREES.get(symbol, plain)
            # degrees are superscripts already
            text = f"{{{text}}}" if n != 1 and symbol in _DEGREES else text
            texts.append(text + (f"^{{{n}}}" if n != 1 else ""))
        return r"\unit{" + ".".join(texts) + "}"


_DEGREES = {
    "°": r"\degree",
    "′": r"\arcminute",
    "″": r"\arcsecond",
    "°C": r"\degreeCelsius",
    "°F": r"{}^\circ F",
}
_MATHEMATICS = {
    r"\degreeCelsius": r"{}^{\circ}C", r"\degree": r"{}^{\circ}", r"\arcminute": "{}'",
    r"\arcsecond": "{}''", r"\micro ": r"\mu ", r"\ohm": r"\Omega ", r"\angstrom": r"\mathring{A}",
    ".": r"\,",
}  # fmt: skip


def without_siunitx(latex: str) -> str:
    r"""Return LaTeX with units as plain mathematics: `\mathrm{kg\,s^{-2}}`."""

    def plain(match: re.Match[str]) -> str:
        text = match[1]
        for macro, mathematics in _MATHEMATICS.items():
            text = text.replace(macro, mathematics)
        return rf"\mathrm{{{text}}}"

    return re.sub(r"\\unit\{((?:[^{}]|\{[^{}]*\})*)\}", plain, latex)


def times_scale(x: float, scale: Fraction) -> float:
    """Return a double times an exact factor, rounded once where the factor is no power or part of a
    whole.
    """
    return times_ratio(x, scale.numerator, scale.denominator)


def times_ratio(x: float, top: int, bottom: int) -> float:
    """Return a double times a fraction in lowest terms, as `times_scale`."""
    with suppress(OverflowError):  # a factor beyond doubles
        if bottom == 1:
            return x * top
        if top == 1:
            return x / bottom
    try:
        return float(Fraction(x) * Fraction(top, bottom))
    except (OverflowError, ValueError):
        return x if math.isnan(x) else math.copysign(math.inf, x)


def _raised(n: Exponent) -> str:
    if n == 1:
        return ""
    return (
        str(n).translate(_RAISED)
        if n == int(n)
        else f"^({n})"
        if Fraction(n).denominator != 2
        else f"^{float(n):g}"
    )


def _product(*parts: tuple[Unit, Exponent]) -> Unit:
    atoms: dict[str, Exponent] = {}
    dimension, scale, pi = list(NUMBER), Fraction(1), Fraction(0)
    for factor, power in parts:
        unit = factor.degree
        for symbol, n in unit.atoms:
            atoms[symbol] = atoms.get(symbol, 0) + n * power
        dimension = [a + b * power for a, b in zip(dimension, unit.dimension, strict=True)]
        scale *= _raised_scale(unit.scale, Fraction(power))
        pi += Fraction(unit.pi) * power
    if _bits(scale) > MAX_SCALE_BITS or abs(pi) > MAX_POWER:
        raise _too_large()
    kept = tuple((symbol, plain_exponent(n)) for symbol, n in atoms.items() if n)
    return Unit(kept, tuple(map(plain_exponent, dimension)), scale, plain_exponent(pi))


def _raised_scale(scale: Fraction, power: Fraction) -> Fraction:
    if _bits(scale) * abs(power.numerator) > MAX_SCALE_BITS * power.denominator:
        raise _too_large()
    root = _root(scale, power.denominator)
    return root**power.numerator


def _bits(scale: Fraction) -> int:
    return max(scale.numerator.bit_length(), scale.denominator.bit_length()) if scale != 1 else 0


def _too_large() -> ExpressionError:
    message = "this unit is too large: its factor goes beyond the numbers of the program"
    return ExpressionError("point", message, None, "write the power of ten out")


def plain_exponent(n: Exponent) -> Exponent:
    """Return a whole exponent as an integer."""
    return int(n) if n == int(n) else n


def _root(scale: Fraction, k: int) -> Fraction:
    if k == 1 or scale == 1:
        return scale
    parts = [_whole_root(part, k) for part in (scale.numerator, scale.denominator)]
    if (parts[0] ** k, parts[1] ** k) != (scale.numerator, scale.denominator):
        raise ExpressionError(
            "point", "a root of this unit has no exact factor", None, "write it in units of the SI"
        )
    return Fraction(*parts)


def _whole_root(number: int, k: int) -> int:
    """Return the largest whole number whose k-th power is at most `number`."""
    low, high = 1, 1 << (number.bit_length() // k + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**k <= number else (low, middle - 1)
    return low


# ---- reading
@lru_cache(1024)
def parse_unit(text: str) -> Unit:
    """Return the unit of a text: `kg*m/s^2`, `kg m s^-2`, `m/s²`, `N·m`, `J/(kg K)`, `1/s`.

    Raises `ExpressionError` of kind `point`, with the span in its `text`.

    >>> unit = parse_unit("kN/mm²")
    >>> str(unit), unit.scale, unit.dimension
    ('kN/mm²', Fraction(1000000000, 1), (1, -1, -2, 0, 0, 0, 0))
    """
    with errors_about(text, always=True):
        if " in " in text and len(text) <= MAX_UNIT_CHARACTERS:
            _check_no_conversion(text)
        tokens = list(_tokens(text))
        if not tokens:
            raise _wrong("a unit is missing here", 0, len(text))
        try:
            unit, rest = _quotient(tokens, 0, text)
        except UnknownUnit as error:
            meant = with_signs(text)
            hint = error.diagnostic.hint if meant is None else f"write `{meant}`"
            raise UnknownUnit("point", str(error), error.span, hint) from None
        except ExpressionError as error:
            raise error if error.span is not None else error.at(Span(0, len(text))) from None
        if rest < len(tokens):
            raise _wrong(
                "this closing parenthesis has no opening one", tokens[rest][2], tokens[rest][3]
            )
        return unit


_CONVERSION = re.compile(r"(\S+)\s+in\s+([^\W\d_]\S*)")


def _check_no_conversion(text: str) -> None:
    """Raise an error for `cm in mm`, where `in` is the inch to none who writes it."""
    found = _CONVERSION.search(text)
    if found is not None:
        hint = (
            f"for inches write `{found[1]}*in*{found[2]}`; a unit that the answer is asked in"
            f" stands in `--in`, as in `--in {found[2]}`"
        )
        raise _ambiguous(found[0], *found.span(), hint)


def unit_or_none(text: str) -> Unit | None:
    """Return the unit of a text, or None. Raises `AmbiguousUnit`."""
    try:
        return parse_unit(text.strip())
    except AmbiguousUnit:
        raise
    except ExpressionError:
        return None


# A unit in quotation marks, which would be minutes or seconds of arc.
_QUOTED = re.compile(r"(?:'|\")\s*([^\W\d][^'\"]*?)\s*(?:'|\")")
_Token = tuple[str, str, int, int]
MAX_UNIT_CHARACTERS = 200
# The most characters of a word that may be two units without a sign between them: `Nm`.
MAX_JOINED_CHARACTERS = 4
PREFIX_NAMES = {
    "tera": "T", "giga": "G", "mega": "M", "kilo": "k", "hecto": "h", "deca": "da", "deci": "d",
    "centi": "c", "milli": "m", "micro": "µ", "nano": "n", "pico": "p", "femto": "f",
}  # fmt: skip
EXAMPLE = "write units as `kg*m/s^2`, `N·m` or `J/(kg K)`"


def _wrong(message: str, start: int, end: int, hint: str = EXAMPLE) -> ExpressionError:
    return ExpressionError("point", message, Span(start, max(end, start + 1)), hint)


def _ambiguous(text: str, start: int, end: int, hint: str) -> AmbiguousUnit:
    message = f"`{text}` can be read in two ways"
    return AmbiguousUnit("point", message, Span(start, end), hint)


def _tokens(text: str) -> Iterator[_Token]:
    if len(text) > MAX_UNIT_CHARACTERS:
        message = (
            f"a unit has at most {MAX_UNIT_CHARACTERS} characters, and this text has {len(text):,}"
        )
        raise _wrong(message, 0, len(text))
    if quoted := _QUOTED.search(text):
        hint = f"write `{quoted[1]}`"
        raise _wrong("a quotation mark is not part of a unit", *quoted.span(), hint)
    end, length = 0, len(text.rstrip())
    while end < length:
        match = _TOKEN.match(text, end)
        if match is None or match.lastgroup is None:
            start = end + len(text[end:]) - len(text[end:].lstrip())
            digits = re.match(r"[-+−]?\d+", text[start:])
            if digits and start and text[start - 1].isalpha():
                name = re.search(r"[^\W\d_]+$", text[:start])
                message = f"a power is written with `^`, and `{digits[0]}` is not"
                meant = with_signs(text) or f"{name[0] if name else ''}^{digits[0]}"
                raise _wrong(message, start, start + digits.end(), f"write `{meant}`")
            share = (
                "it is the number 1/100: leave it out, or multiply by 100"
                if text[start] == "%"
                else EXAMPLE
            )
            raise _wrong(f"`{text[start]}` is not part of a unit", start, start + 1, share)
        yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup), match.end()
        end = match.end()


def _product_below(
    tokens: list[_Token], over: int, text: str, start: int, skip: int
) -> ExpressionError:
    """Return the error of a product after a sign of division; from `start` or, after a sign, from
    `skip` on.
    """
    below, rest = text[tokens[over + 1][2] : start].strip(), text[skip:].strip()
    before = text[: tokens[over][2]].strip()
    hint = f"write `{before}/({below} {rest})`, or `{before} {rest}/{below}`"
    return _wrong(
        "a product after `/` can be read in two ways", tokens[over][2], len(text.rstrip()), hint
    )


def _quotient(tokens: list[_Token], at: int, text: str) -> tuple[Unit, int]:
    result: Unit | None = None
    over: int | None = None  # the last sign of division
    while at < len(tokens) and tokens[at][0] != "close":
        kind, _, start, end = tokens[at]
        if kind == "over":
            over = at
        elif over is not None:
            raise _product_below(tokens, over, text, start, end if kind == "times" else start)
        if kind == "over" or (kind == "times" and result is not None):
            at += 1
            if at == len(tokens) or tokens[at][0] in ("over", "times", "close"):
                raise _wrong("a unit is missing after this sign", start, end)
        elif start and text[start] == "°" and text[start - 1].isalpha():
            # `m°C`: a prefix, or metres times degrees
            begin = tokens[at - 1][2]
            apart = f"{text[begin:start]} {text[start:end].strip()}"
            hint = f"write the number without a prefix, or the product as `{apart}`"
            raise _wrong(f"`{text[begin:end].strip()}` can be read in two ways", begin, end, hint)
        _check_degree(tokens, at, text)
        _check_two_words(tokens, at, text)
        if kind == "over":
            _check_product(tokens, at, text, result or Unit())
        unit, at = _power(tokens, at, text)
        if kind == "over":
            result = (result or Unit()) / unit
        else:
            result = unit if result is None else result * unit
    return result or Unit(), at


def _check_degree(tokens: list[_Token], at: int, text: str) -> None:
    """Refuse `deg C`, `° °C` and `°K`, which are scales of temperature and not products with an
    angle.
    """
    words = [token[1] for token in tokens[at : at + 2]]
    entry, scale = table_entry(words[0]), table_entry(words[-1])
    if (
        entry is None
        or scale is None
        or entry[0].symbol != "°"
        or scale[0].symbol not in ("C", "F", "K", "°C", "°F")
    ):
        return
    start, end = tokens[at][2], tokens[at + 1][3]
    written = text[start:end].strip()
    symbol = scale[0].symbol
    temperature = f"°{symbol}" if symbol in "CF" else symbol
    hint = f"write `{temperature}`" + (f", or `{words[0]}*{words[1]}`" if symbol in "CFK" else "")
    raise _wrong(f"`{written}` can be read in two ways", start, end, hint)


def _check_two_words(tokens: list[_Token], at: int, text: str) -> None:
    """Refuse units of two words whose words are units too: `fl oz` is a fluid ounce, and no
    femtolitre times ounce.
    """
    words = " ".join(token[1] for token in tokens[at : at + 2])
    meant = units_file()["two words"].get(words)
    if meant is None or tokens[at + 1][0] != "name":
        return
    hint = f"write {meant}, or the product as `{words.replace(' ', '*')}`"
    raise _wrong(f"`{words}` can be read in two ways", tokens[at][2], tokens[at + 1][3], hint)


def _reads_as_product(symbol: str, above: Unit) -> bool:
    """Return whether a symbol behind a stroke is a product to most: `mK` in `W/mK`."""
    entry = units_file()["behind a stroke"].get(symbol)
    return entry is not None and parse_unit(entry["above"]).dimension == above.dimension


def _check_product(tokens: list[_Token], at: int, text: str, above: Unit) -> None:
    """Refuse `W/mK`, which is W/(m·K) to most, and watts by millikelvin as it is written."""
    symbol, end = tokens[at][1], tokens[at][3]
    if text[tokens[at - 1][2]] != "/" or not _reads_as_product(symbol, above):
        return
    before = text[: tokens[at - 1][2]].strip()
    meant = units_file()["behind a stroke"][symbol]["meant"].format(before)
    hint = f"write `{meant}`, or `{before}/({symbol})` with the prefix"
    raise _ambiguous(f"{before}/{symbol}", 0, end, hint)


def _to_power(unit: Unit, power: _Token) -> Unit:
    """Return a unit to the power of a token. Raises `ExpressionError`."""
    _, written, start, end = power
    digits = (
        written.lstrip("*^").strip("() ").replace(" ", "").replace("−", "-").translate(SUPERSCRIPTS)
    )
    try:
        n = plain_exponent(Fraction(digits))
    except ZeroDivisionError:
        raise _wrong(
            "the power of a unit divides by 0", start, end, "write it as in `m^(1/2)`"
        ) from None
    if not 0 < abs(Fraction(n)) <= MAX_POWER or Fraction(n).denominator > MAX_POWER:
        raise _wrong(f"a unit cannot have the power {n}", start, end, "write the power of ten out")
    if unit.zero:
        raise _wrong(
            "a power of a temperature is one of its differences",
            start,
            end,
            "write it with `K`",
        )
    try:
        unit = _product((unit, n))
    except ExpressionError as error:
        raise error.at(Span(start, end)) from None
    if any(abs(k.numerator) > MAX_EXPONENT or k.denominator > MAX_EXPONENT for _, k in unit.atoms):
        message = f"the exponents of a unit go to {MAX_EXPONENT}"
        raise _wrong(message, start, end, "write the power of ten out")
    return unit


def _power_of_millisecond(unit: Unit, power: str, start: int, token: _Token) -> ExpressionError:
    hint = f"write `m s{power}`, or `{unit}` with the prefix"
    return _ambiguous(f"{MILLISECOND}{power}", start, token[3], hint)


def _power(tokens: list[_Token], at: int, text: str) -> tuple[Unit, int]:
    kind, word, start, end = tokens[at]
    if kind == "open":
        unit, at = _quotient(tokens, at + 1, text)
        if at == len(tokens):
            raise _wrong("this parenthesis is never closed", start, end)
    elif kind == "one":
        if at and tokens[at - 1][0] != "open":
            raise _wrong("`1` stands at the beginning of a unit only, as in `1/s`", start, end)
        unit = Unit()
    elif kind == "name":
        unit = _symbol(word.replace(" ", ""), start)
    else:
        raise _wrong("a unit is missing here", start, end)
    at += 1
    if at < len(tokens) and tokens[at][0] == "power":
        base, unit = word, _to_power(unit, tokens[at])
        if base == MILLISECOND and unit.atoms[0][1] < 0:
            raise _power_of_millisecond(
                unit, text[tokens[at][2] : tokens[at][3]], start, tokens[at]
            )
        at += 1
    return unit, at


@cache
def _symbol(symbol: str, start: int = 0) -> Unit:
    entry = table_entry(symbol)
    if entry is not None:
        return _of_entry(*entry)
    reason = units_file()["refused"].get(symbol)
    span = (start, start + len(symbol))
    if reason is not None:
        raise _wrong(f"`{symbol}` is not a unit here", *span, reason)
    hints = [f"`{name}`" for name in _meant_by(symbol)]
    hint = f"did you mean {' or '.join(hints)}? " if hints else ""
    power = units_file()["prefixes"].get(symbol)
    if power is not None and MIN_PREFIX_POWER <= power <= MAX_PREFIX_POWER and power % 3 == 0:
        hint = (
            f"without a unit the prefix `{symbol}` is written as `e{power}`, as in `2e{power}`;"
            f" {hint}"
        )
    raise UnknownUnit(
        "point", f"`{symbol}` is not a unit", Span(*span), f"{hint}`autodiff units` lists them all"
    )


@cache
def units_by_name() -> dict[str, str]:
    """Return the symbols of units by their names in small letters without blanks, with the prefixes
    that they take.
    """
    symbols: dict[str, str] = {}
    for entry in table().values():
        name = entry.name.partition(",")[0].replace(" ", "").lower()
        for prefix, short in {"": "", **PREFIX_NAMES}.items():
            if not prefix or short in entry.prefixes:
                symbols[prefix + name] = short + entry.symbol
    american = {
        name.replace("metre", "meter").replace("litre", "liter"): unit
        for name, unit in symbols.items()
    }
    return symbols | american


def _meant_by(symbol: str) -> list[str]:
    """Return the units that a word may mean: by name, in the plural, in another case, without a
    sign of a product.
    """
    word = symbol.lower()
    singulars = dict.fromkeys((word, word.removesuffix("s"), word.removesuffix("es")))
    named = [unit for name in singulars if (unit := units_by_name().get(name)) is not None]
    if not named and len(symbol) > 2 and symbol.endswith("s") and table_entry(symbol[:-1]):
        named = [symbol[:-1]]
    names = {
        prefix + name for name, entry in spellings().items() for prefix in ("", *entry.prefixes)
    }
    other_case = sorted(name for name in names if name.lower() == symbol.lower())
    close = closest(symbol, list(spellings()))
    return (
        [*dict.fromkeys(named)]
        or [*other_case, *_products_in(symbol)][:3]
        or ([close] if close else [])
    )


_PART = re.compile(r"([^\W\d_]+)(?:\^?([-−]?\d))?")


def with_signs(text: str) -> str | None:
    """Return a unit without signs of products and powers with them; None if that is not certain.

    >>> with_signs("W/m2K"), with_signs("J/kgK"), with_signs("kgm/s2"), with_signs("J/foo")
    ('W/(m^2*K)', 'J/(kg*K)', 'kg*m/s^2', None)
    >>> with_signs("m s-2"), with_signs("ms-1")
    ('m*s^-2', 'm*s^-1')
    """
    sides = text.split("/")
    if len(sides) > MAX_QUOTIENT_UNITS or len(text) > MAX_UNIT_CHARACTERS:
        return None
    read = []
    for side in sides:
        if not side.strip() or _PART.sub("", side).strip():
            return None
        factors = []
        for word, power in _PART.findall(side):
            known = [word] if table_entry(word) else _products_in(word)
            if word == MILLISECOND and power[:1] in ("-", "−"):
                known = ["m*s"]  # a velocity, `ms-1`
            if len(known) != 1:
                return None
            factors.append(known[0] + (f"^{power}" if power else ""))
        read.append("*".join(factors))
    if len(read) > 1 and "*" in read[1]:
        read[1] = f"({read[1]})"
    return "/".join(read)


def _products_in(symbol: str) -> list[str]:
    """Return the products of two units that a short word may be, without a sign between them."""
    halves = [
        (symbol[:k], symbol[k:])
        for k in range(1, len(symbol))
        if len(symbol) <= MAX_JOINED_CHARACTERS
    ]
    return [
        f"{first}*{'m*s' if second == MILLISECOND else second}"
        for first, second in halves
        if table_entry(first) and table_entry(second)
    ]


def table_entry(symbol: str) -> tuple[TableUnit, str] | None:
    """Return the unit of the table that a symbol stands for, and its prefix."""
    names = spellings()
    symbol = symbol.replace("μ", "µ").replace("\N{OHM SIGN}", "Ω").replace("\N{ANGSTROM SIGN}", "Å")
    if symbol in names:
        return names[symbol], ""
    for length in (2, 1):
        prefix, rest = symbol[:length], symbol[length:]
        prefix = "µ" if prefix == "u" else prefix
        entry = names.get(rest)
        if entry is not None and prefix in entry.prefixes:
            return entry, prefix
    return None


@cache
def _of_entry(entry: TableUnit, prefix: str = "") -> Unit:
    if not entry.definition:
        dimension = tuple(int(symbol == entry.symbol) for symbol in BASE)
        return Unit(
            ((prefix + entry.symbol, 1),),
            dimension,
            Fraction(10) ** units_file()["prefixes"].get(prefix, 0),
        )
    number, _, rest = entry.definition.partition(" ")
    scale, pi = Fraction(1), Fraction(0)
    try:
        scale = Fraction(number)
    except ValueError:
        rest = entry.definition
    power = re.match(r"pi(?:\^(-?\d+))?\s*", rest)
    if power:
        pi, rest = Fraction(power[1] or 1), rest[power.end() :]
    of = parse_unit(rest) if rest else Unit()
    scale *= of.scale * Fraction(10) ** units_file()["prefixes"].get(prefix, 0)
    return Unit(
        ((prefix + entry.symbol, 1),),
        of.dimension,
        scale,
        plain_exponent(pi + of.pi),
        Fraction(entry.zero),
    )


# ---- choosing
@cache
def si_unit(dimension: Dimension) -> Unit:
    """Return the usual coherent SI unit of a dimension: `N`, `J`, `Pa·s`, `m²/s²`."""
    named = [_of_entry(entry) for entry in table().values() if entry.quantity and entry.definition]
    for unit in (*named, *map(parse_unit, units_file()["dimensions"].values())):
        if unit.dimension == dimension:
            return unit
    candidates = [in_base_units(dimension)]
    # one named unit absorbs the mass or the current
    for unit in named:
        for n in (1, -1):
            rest = tuple(
                plain_exponent(a - n * b) for a, b in zip(dimension, unit.dimension, strict=True)
            )
            if unit.atoms == (("J", 1),) and n * rest[_LENGTH] > 0:
                continue  # `N·m³`, not `J·m²`: a force times lengths is no energy
            if rest[0] == 0 != dimension[0] or rest[3] == 0 != dimension[3]:
                candidates.append(unit**n * in_base_units(rest))
    return min(candidates, key=_length)


def in_base_units(dimension: Dimension) -> Unit:
    """Return the product of base units of a dimension: `kg·m/s²`."""
    return _product(
        *[(parse_unit(symbol), n) for symbol, n in zip(BASE, dimension, strict=True) if n]
    )


def _length(unit: Unit) -> Fraction:
    return sum((abs(Fraction(n)) for _, n in unit.atoms), Fraction(0))


def choose(dimension: Dimension, inputs: Iterable[Unit] = ()) -> Unit:
    """Return the unit of a result: an input's, the power of one, or the coherent unit."""
    if dimension == NUMBER:
        return Unit()
    units = [unit for unit in inputs if not unit.zero]
    for unit in units:
        if unit.dimension == dimension:
            return unit
    for unit in units:
        for n in (2, 3):
            if len(unit.atoms) == 1 and tuple(n * x for x in unit.dimension) == dimension:
                return unit**n
    return si_unit(dimension)


def ratio(above: Unit, below: Unit, higher: bool = False, *, kept: bool = False) -> Unit:
    """Return the unit of a derivative, in the SI if shorter: `mm³` by `mm` is `mm²`, `mm/m` a
    number.

    With `kept` it stays `mm/m`: the derivative times a number of metres is a number of millimetres.
    """
    quotient = above.difference / below.difference
    alike = [d for symbol, _ in quotient.atoms if (d := parse_unit(symbol).dimension) != NUMBER]
    if alike and quotient.dimension == NUMBER:
        return quotient if kept and len(quotient.atoms) == 2 else Unit()
    simple = si_unit(quotient.dimension)
    if higher:
        shorter = quotient.scale == 1 and not quotient.pi and _length(simple) < _length(quotient)
    else:
        shorter = _length(quotient) > MAX_QUOTIENT_UNITS > _length(simple)
    return simple if len(set(alike)) < len(alike) or shorter else quotient


def _readable_powers(prefixes: Collection[str]) -> dict[int, str]:
    """Return the prefixes by their powers of 10, those of 1000 alone."""
    allowed = {power: name for name, power in units_file()["prefixes"].items() if name in prefixes}
    return {power: name for power, name in allowed.items() if power % 3 == 0} | {0: ""}


def with_prefix(unit: Unit, x: float) -> Unit:
    """Return the unit with the most readable prefix for a number: mm for 0.0105 m."""
    if not unit.atoms or not x or not math.isfinite(x) or unit.zero:
        return unit
    symbol, n = unit.atoms[0]
    entry = table_entry(symbol)
    if n != 1 or entry is None:
        return unit
    plain, prefix = entry
    if plain.symbol == "kg":
        plain, prefix = spellings()["g"], "k"
    powers = _readable_powers(plain.prefixes)
    size = math.floor(math.log10(abs(x)) + 1e-12) + units_file()["prefixes"].get(prefix, 0)
    power = size // 3 * 3
    if (
        power not in powers
        or not MIN_PREFIX_POWER <= power <= MAX_PREFIX_POWER
        or (plain.symbol == "g" and power > 3)
    ):
        return unit
    name = "kg" if plain.symbol == "g" and power == 3 else powers[power] + plain.symbol
    return parse_unit(name) * (unit / parse_unit(symbol))


def readable_unit(unit: Unit, x: float) -> Unit:
    """Return the unit with a more readable prefix if a number is very large or small.

    >>> str(readable_unit(parse_unit("m"), 0.00012)), str(readable_unit(parse_unit("m"), 12.0))
    ('µm', 'm')
    """
    return unit if MIN_UNPREFIXED <= abs(x) < MAX_UNPREFIXED else si_named(with_prefix(unit, x))


def si_named(unit: Unit) -> Unit:
    """Return a quotient by its SI name if the factor is 1, `Ω` for `V/A`; other units unchanged."""
    simple = si_unit(unit.dimension)
    is_quotient = len(unit.atoms) > 1 and any(n < 0 for _, n in unit.atoms)
    same = (simple.scale, simple.pi) == (unit.scale, unit.pi)
    return simple if is_quotient and same and [n for _, n in simple.atoms] == [1] else unit


@cache
def quantity_name(dimension: Dimension) -> str:
    """Return a dimension in words: `a force (N)`, `an area (m²)`; the unit if it has no name."""
    unit = si_unit(dimension)
    if dimension == NUMBER:
        return "a number"
    for symbol, entry in table().items():
        if entry.quantity and parse_unit(symbol).dimension == dimension:
            return f"{'an' if entry.quantity[0] in 'aeio' else 'a'} {entry.quantity} ({unit})"
    for name, text in units_file()["dimensions"].items():
        if parse_unit(text).dimension == dimension:
            return f"{name} ({unit})"
    return f"`{unit}`"


def split_literal(text: str) -> tuple[str, Unit]:
    """Return the digits and the unit of a literal such as `5[kg]`."""
    digits, _, unit = text.partition("[")
    return digits, parse_unit(unit[:-1])


# ---- systems
class Elimination:
    """Linear combinations that are 0, each solved for an eliminated component."""

    def __init__(self, first: int) -> None:
        # Eliminate components from this index on; if negative, those before `-first`.
        self.first = first
        self.rows: dict[int, list[Fraction]] = {}

    def reduce(self, vector: Sequence[Exponent]) -> list[Fraction]:
        """Return the vector without the eliminated components."""
        rest = [Fraction(x) for x in vector]
        for place, row in self.rows.items():
            if rest[place]:
                rest = [x - rest[place] * y for x, y in zip(rest, row, strict=True)]
        return rest

    def add(self, vector: Sequence[Exponent]) -> bool:
        """Add a combination that is 0; return whether it eliminates a component."""
        row = self.reduce(vector)
        places = range(self.first, len(row)) if self.first >= 0 else range(-self.first)
        place = next((k for k in places if row[k]), None)
        if place is None:
            return False
        row = [x / row[place] for x in row]
        for k, other in self.rows.items():
            self.rows[k] = [x - other[place] * y for x, y in zip(other, row, strict=True)]
        self.rows[place] = row
        return True


class UnitSystem:
    """A product of given units for each dimension, so that formulas need no factors.

    >>> system = UnitSystem([parse_unit("mV"), parse_unit("A")])
    >>> str(system.unit(parse_unit("ohm").dimension)), str(system.unit(parse_unit("m").dimension))
    ('mV/A', 'm')
    """

    def __init__(self, units: Iterable[Unit]) -> None:
        self._units = [unit.difference for unit in units]
        self._solved = Elimination(-len(BASE))
        for k, unit in enumerate(self._units):
            self._solved.add([*unit.dimension, *(int(k == j) for j in range(len(self._units)))])

    def unit(self, dimension: Dimension) -> Unit:
        """Return the product of the units for a dimension, or else the coherent unit."""
        return self._product(dimension) or si_unit(dimension)

    def has_units_for(self, dimensions: Iterable[Dimension]) -> bool:
        """Return whether the system has units for all dimensions."""
        return all(self._product(dimension) is not None for dimension in dimensions)

    def _product(self, dimension: Dimension) -> Unit | None:
        if dimension == NUMBER:
            return Unit()
        rest = self._solved.reduce([*dimension, *(0 for _ in self._units)])
        if any(rest[: len(BASE)]):
            return None
        powers = zip(self._units, (-x for x in rest[len(BASE) :]), strict=True)
        try:
            unit = reduce(mul, [unit ** plain_exponent(n) for unit, n in powers if n], Unit())
        except ExpressionError:  # a root of the factor is no fraction
            return None
        return si_named(unit)
