"""The diagnosis of a syntax error by the table of mistakes, `mistakes.txt`, which explains the form
of a row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from unicodedata import normalize

from ...engine.quantities.table import units_file
from ...engine.quantities.unit import unit_or_none
from ...engine.table.primitive import FUNCTIONS
from ...engine.table.primitives import library_names
from ...errors import ExpressionError, Offer, Span, either, spelling_hint
from ..informal import FACTORS
from ..reader import ParseFailure
from ..tokens import KEYWORDS, LazyPattern
from ..typesetting import GREEK
from . import context
from .absent_functions import absent_function
from .context import Context, Kind
from .latex import CIRCULAR, NotReadable, document_in, read_document, translate
from .measured import Measured, measured_numbers
from .suggestions import MAX_CONTEXT, is_glued, may_offer, meaning, own_name

# characters in typed or pasted formulas, as parts of patterns
DASHES = "‐‑‒–—―﹘﹣－"
FRACTIONS = "¼-¾⅐-⅞↉"
LOWERED = "ᵢ-ᵪₐ-ₜⱼ"
QUOTES = "\"'`´“”„‟«»‘’‚‛"
RAISED = "ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⁱⁿ"
INVISIBLE = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
MODULES = r"\b(?:math|cmath|np|numpy|jnp|jax|torch|tf|F|Math|mpmath|sympy|sp)"

# A vulgar fraction with the number or operand before it and the operand after it.
FRACTION = (
    rf"(?:(?<![\w.])([0-9]+)\s*|(?P<after>[\w)|]\s*))?(?P<sign>[{FRACTIONS}])"
    rf"(?=\s*(?P<before>(?!(?:if|else|and|or)\b)(?:[^\W\d{FRACTIONS}]|[(√]))?)"
)

# Functions that have other meanings with a capital letter.
_CAPITAL = frozenset((*library_names("log atan2 sinc"), "arctan"))


def _power(match: re.Match[str]) -> str:
    exponent = normalize("NFKC", match[0]).replace("−", "-")
    return f"**{exponent}" if re.fullmatch(r".|\([^()]*\)", exponent) else f"**({exponent})"


def _fraction(match: re.Match[str]) -> str:
    over, _, under = normalize("NFKC", match["sign"]).partition("⁄")
    value = f"({match[1]} + {over}/{under})" if match[1] else f"({over}/{under})"
    if match["after"]:
        word = re.search(r"[^\W\d]\w*\Z", match.string[: match.end("after")].rstrip())
        is_operand = not (word and (word[0] in FUNCTIONS or word[0] in KEYWORDS))
        value = (match["after"].rstrip() + "*" if is_operand else match["after"]) + value
    # As an exponent or divisor before a factor it is ambiguous, as `2^2x` is.
    is_ambiguous = re.search(r"(?:[/÷^]|\*\*)\s*[-+−]?\s*\Z", match.string[: match.start()])
    return value + "*" * bool(match["before"] and not is_ambiguous)


def _call(match: re.Match[str]) -> str:
    name = match[1].lower()
    return f"{name if name in FUNCTIONS and name not in _CAPITAL else match[1]}("


def _choice(match: re.Match[str]) -> str:
    is_condition = re.search("[<>=!≤≥≠]|\\b(?:and|or|not)\\b", match[2])
    return (
        f"{match[1] or ''}{match[3]} if {match[2]}{'' if is_condition else ' != 0'} else {match[4]}"
    )


# Replacements by functions; `mistakes.txt` names them after an `@`.
REPAIRS: dict[str, Callable[[re.Match[str]], str]] = {
    "plain": lambda match: normalize("NFKC", match[0]),
    "power": _power,
    "fraction": _fraction,
    "digits": lambda match: "".join(str(int(digit)) for digit in match[0]),
    "call": _call,
    "choice": _choice,
    "ungrouped": lambda match: match[0].replace(".", "").replace(",", "."),
    "lower": lambda match: match[0].lower(),
    "latex": translate,
}

Repair = tuple[str, str | Callable[[re.Match[str]], str]]  # a pattern and its replacement


class Mistake(NamedTuple):
    """A row of the table: a mistake with its token pattern, where `!` precedes the unexpected
    token.
    """

    tokens: str
    message: str
    write: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    hint: str = "write {}"
    text: str = ""
    before: str = ""
    takes: str = ""
    needs: str = ""
    caret: str = "token"
    also: str = ""
    there: str = "opening"
    place: tuple[str, ...] = ()
    edit: str = ""
    same: str = ""
    certain: str = ""
    preferred: str = ""
    repair: tuple[Repair, ...] = ()
    alone: str = ""
    kind: str = "syntax"


def _mistakes(table: str) -> Iterator[Mistake]:
    # Indented lines continue a row.
    for row in re.findall(r"^[^#\s].*(?:\n +.*)*", table, re.MULTILINE):
        tokens, *fields = re.split(r"\s{2,}", row.rstrip())
        values: dict[str, Any] = {"caret": "sign" if "UNREADABLE" in tokens else "token"}
        for field in fields:
            key, _, value = field.partition(": ")
            if key not in Mistake._fields:
                assert "message" not in values, field
                values["message"] = field
            elif key == "repair":
                pattern, _, text = value.partition(" →")
                text = _characters(text.removeprefix(" "))
                replacement = REPAIRS[text[1:]] if text.startswith("@") else text
                values[key] = (*values.get(key, ()), (_characters(pattern), replacement))
            elif key in ("write", "example", "place"):
                values[key] = (*values.get(key, ()), value)
            else:
                values[key] = _characters(value)
        if len(values.get("place", ())) == 1:
            values["place"] *= len(values.get("write", ()))
        if "repair" in values:
            values.setdefault("write", ("{repaired}",))
        yield Mistake(tokens, **values)


def _characters(text: str) -> str:
    text = re.sub("<([A-Z]+)>", lambda name: globals()[name[1]], text) if "<" in text else text
    return text.replace("␣", " ")


def _table_of_mistakes() -> str:
    # pathlib, which loads what it needs for addresses, is a tenth of the start for LaTeX
    with open(os.path.join(os.path.dirname(__file__), "mistakes.txt"), encoding="utf-8") as file:
        return file.read()


# All mistakes, of which the first match applies; the last one always matches.
MISTAKES = tuple(_mistakes(_table_of_mistakes()))


# ---- named fragments of the text around the error
class Fragments(Context):
    """A context with named fragments of its text, computed on demand; a missing one is a
    `KeyError`.
    """

    cached: dict[str, str]

    def __getitem__(self, name: str) -> str:
        if name not in self.cached:
            if name in TEXTS:
                self.cached[name] = TEXTS[name](self)
            else:
                start, end = span(self, name)
                self.cached[name] = re.sub(r"[\r\n]+", " ", self.text[start:end])
        return self.cached[name]


def span(c: Context, name: str) -> tuple[int, int]:
    """Return the span of a fragment in the text."""
    start, end = RANGES[name](c)
    if not 0 <= start < end:
        raise KeyError(name)
    if name == "gap":
        return c.tokens[start].end, c.tokens[end - 1].start
    return c.tokens[start].start, c.tokens[end - 1].end


def _right(c: Context) -> tuple[int, int]:
    if c.kinds[c.at] in context.BARS:
        return c.at, c.kinds.index(Kind.CLOSING_BAR, c.at + 1) + 1
    return c.at, c.after(c.at, "coefficient")


def _tail(c: Context) -> tuple[int, int]:
    """Return the power with its operator at the error: `^2` in `√x^2`."""
    end = c.at + 1
    if c.kinds[c.at] == Kind.SUPERSCRIPT:
        return c.at, end
    while c.kinds[end] in context.SIGNS:
        end += 1
    return c.at, c.after(end, "power")


def _under(c: Context) -> tuple[int, int]:
    """Return the operand before the error with its signs, if a divisor: `-x²` in `1/-x² y`."""
    at = c.signs(c.operand(c.at))
    return (at, c.at) if at and c.kinds[at - 1] == Kind.DIVIDE else (0, 0)


def _raised(c: Context) -> tuple[int, int]:
    start = c.partner[c.at - 1] - 2
    return (
        (start, c.at)
        if c.kinds[max(start, 0) : start + 2] == Kind.FUNCTION + Kind.POWER
        else (0, 0)
    )


def _divisor(c: Context) -> tuple[int, int]:
    end = c.after(c.at + 1, "signed")
    return (0, 0) if Kind.COEFFICIENT in c.kinds[c.at + 1 : end] else (c.at + 1, end)


def _root(c: Context) -> tuple[int, int]:
    """Return the root before the error: `√x` in `2√x^2`."""
    start = c.operand(c.at)
    while c.kinds[start] == Kind.COEFFICIENT:
        start += 1
    return (start, c.at) if c.kinds[start] == Kind.ROOT else (0, 0)


def _called(c: Context) -> tuple[int, int]:
    name = c.open[-1] - 1
    return (
        (name, name + 1)
        if c.kinds[name + 1] == Kind.OPEN and c.kinds[name] in context.NAMES
        else (0, 0)
    )


def _statement(c: Context) -> tuple[int, int]:
    start = max(c.kinds.rfind(stop, 0, c.at) for stop in context.SEPARATORS) + 1
    ends = (c.kinds.find(stop, c.at) for stop in context.STOPS)
    return start, min(end for end in ends if end >= 0)


def _exponents(c: Fragments) -> str:
    exponent = c["raised"].partition("(")[2][:-1].strip()
    return exponent if re.fullmatch(r"[-−]?\w+", exponent) else f"({exponent})"


def _fence(c: Fragments) -> str:
    at = _raised(c)[0] if c.kinds[c.first] == Kind.CLOSE else c.first
    return "(" if at and c.kinds[at - 1] in (Kind.DIVIDE, Kind.POWER) else ""


def _inverse(function: str) -> str:
    row = FUNCTIONS.get(function)
    name = row.inverse if row and row.inverse else f"a{function}"
    if name not in FUNCTIONS:
        raise KeyError(name)
    return name


def _nest(c: Fragments) -> str:
    at = _last_of_nest(c)
    names = [c.text_between(number) for number in range(c.at - 1, at)]
    operand = c.text_between(at, c.after(at, "coefficient"))
    return "".join(f"{name}(" for name in names) + operand + ")" * len(names)


def _sides(c: Context) -> tuple[str, str]:
    first, _ = _statement(c)
    signs = {Kind.EQUALS, Kind.AUGMENT, Kind.IF, Kind.ELSE, Kind.COMMA}
    if c.open or not signs.isdisjoint(c.kinds[first : c.at]):
        raise KeyError("sides")
    start, end = span(c, "statement")
    return c.text[start : c.point].strip(), c.text[c.point + 1 : end].strip()


_CLOSED_BY: dict[str, str] = {Kind.OPEN: ")", Kind.LEFT: "]", Kind.BAR: "|"}


def _instead(c: Context, sign: str, length: int) -> str:
    start, end = span(c, "statement")
    return (
        c.text[start : c.point].rstrip(" " * (sign == "; ")) + sign + c.text[c.point + length : end]
    )


def _rooted(c: Context) -> tuple[int, int]:
    """Return the smallest operand after the unexpected token: `x` in `∛x²`."""
    start = c.at + 1
    return start, c.partner[start] + 1 if c.kinds[start] == Kind.OPEN else c.after(start, "atom")


def _absent(c: Fragments) -> str:
    title = absent_function(c["before"])
    if not title:
        raise KeyError("absent")
    return title


def _indexed(c: Fragments) -> str:
    exponent, _, index = c["token"].partition("_")
    if not re.fullmatch(r"[^\W\d]\w*", c["base"]):
        raise KeyError("indexed")
    return f"{c['base']}_{index}**{exponent}"


def _last_of_nest(c: Context) -> int:
    at = c.at - 1
    while c.kinds[at] == Kind.FUNCTION and c.kinds[at + 1] != Kind.OPEN:
        at += 1
    return at


def _exponent(c: Context) -> int:
    # Not in `x^2 y`, where `y` cannot be part of the exponent, unlike in `e^k y` and `2^2 y`.
    sign = c.signs(c.at - 1)
    plain = c.kinds[c.at - 1] == Kind.NUMBER and sign == c.at - 1
    base = c.tokens[sign - 2]
    is_variable = base.kind == Kind.NAME and c.text[base.end - 1 : base.end] != "e"
    if plain and (is_variable or base.kind in context.CLOSING):
        raise KeyError("exponent")
    return sign - 1


def _inner(c: Context) -> tuple[int, int]:
    """Return the operand at the error without its power: `2x` in `sin 2x^2`."""
    end = c.at + (c.kinds[c.at] == Kind.COEFFICIENT) + 1
    is_raised = c.kinds[end - 1] in context.NAMES + Kind.NUMBER and c.kinds[end] in context.POWERS
    return (c.at, end) if is_raised else (0, 0)


def _argument_of_letter(c: Fragments) -> str:
    """Return what follows a letter that is a function too. Raises `KeyError` if it has a value: it
    is a factor then.
    """
    letter = c["before"]
    if letter in c.valued or re.search(rf"(?:^|[;\n])\s*{re.escape(letter)}\s*=(?!=)", c.text):
        raise KeyError(letter)
    return c["right"]


# Fragments as ranges of token numbers.
RANGES: dict[str, Callable[[Context], tuple[int, int]]] = {
    "token": lambda c: (c.at, c.at + 1),
    "before": lambda c: (c.at - 1, c.at),
    "next": lambda c: (c.at + 1, c.at + 2),
    # Everything between the token and the one before.
    "gap": lambda c: (c.at - 1, c.at + 1),
    # The operand before the error: `x**2` in `x**2 y`.
    "left": lambda c: (c.operand(c.at), c.at),
    "right": _right,
    "applied": lambda c: (RANGES["group"] if c.kinds[c.at] == Kind.OPEN else _right)(c),
    # The functions around the error, and their operand: `sin cos x`.
    "nest": lambda c: (c.at - 1, c.after(_last_of_nest(c), "coefficient")),
    "inner": _inner,
    "raise": lambda c: (_inner(c)[1], _right(c)[1]),
    # The sign after the operand at the error, and the operand after it: `/` and `y` in `sin x/y`.
    "between": lambda c: (
        _right(c)[1],
        _right(c)[1] + (c.kinds[_right(c)[1]] in context.FACTOR_SIGNS),
    ),
    "second": lambda c: (RANGES["between"](c)[1], c.after(RANGES["between"](c)[1], "coefficient")),
    # The power before the error: `e^k` in `e^k x`; its base with the sign, and its exponent.
    "exponential": lambda c: (c.atom(_exponent(c)), c.at),
    "raising_base": lambda c: (c.atom(_exponent(c)), _exponent(c) + 1),
    "exponent_alone": lambda c: (_exponent(c) + 1, c.at),
    # The operand after the token, with and without coefficient: `x**2` in `1/2x**2`.
    "operated": lambda c: (c.at + 1, c.after(c.at + 1, "coefficient")),
    "rest": lambda c: (c.at + 1, c.after(c.at + 1, "power")),
    # The smallest operand there, and its power: `x` and `²` in `∛x²`.
    "rooted": _rooted,
    "after_root": lambda c: (_rooted(c)[1], c.after(c.at + 1, "power")),
    # The operand after the next two tokens: `y` in `x %% y`.
    "rest_far": lambda c: (c.at + 2, c.after(c.at + 2, "power")),
    "signed": lambda c: (c.at, c.after(c.at, "signed")),
    "operator": lambda c: (c.at - 3, c.at),
    "tail": _tail,
    # The smallest operand before the error: `3` in `2^3!`.
    "atom": lambda c: (c.atom(c.at), c.at),
    # The base of the superscript before the error, and both.
    "base": lambda c: (c.atom(c.at - 1), c.at - 1),
    "squared": lambda c: (c.atom(c.at - 1), c.at),
    # The product before the error, with its sign: `-a*x` in `1 + -a*x % y`.
    "term": lambda c: (c.term(c.at), c.at),
    "under": _under,
    # The dividend of that with the operator, `c*1/`, and the fraction to the end of the operand at
    # the error.
    "over": lambda c: (c.term(c.at), _under(c)[0]),
    "divided": lambda c: (c.term(c.at), _right(c)[1]),
    # The left operand with the operator before the error: `a*b/` in `c + a*b/2x`.
    "upto": lambda c: (c.understood, c.signs()),
    # The dividend of the divisor before the error, without the operator.
    "quotient": lambda c: (c.understood, c.at - 1),
    "raised": _raised,
    "divisor": _divisor,
    "root": _root,
    # The tokens that the pattern matched; their first one, a name; the rest with and without its
    # sign: `^-2` and `-2` in `sin^-2 x`.
    "shape": lambda c: (c.first, c.last),
    "function": lambda c: (c.first, c.first + 1),
    "raising": lambda c: (c.first + 1, c.at),
    "power": lambda c: (c.first + 2, c.at),
    "group": lambda c: (start := c.kinds.index(Kind.OPEN, c.at), c.partner[start] + 1),
    # The innermost open parenthesis or bar, and the same if it is never closed.
    "opening": lambda c: (c.open[-1], c.open[-1] + 1),
    "unclosed": lambda c: (0, 0) if c.open[-1] in c.partner else (c.open[-1], c.open[-1] + 1),
    "closed": lambda c: (start := c.partner[c.kinds.rindex(Kind.CLOSE, 0, c.at)], start + 1),
    "called": _called,
    "statement": _statement,
}

# Fragments that are computed, or may be missing.
TEXTS: dict[str, Callable[[Fragments], str]] = {
    "character": lambda c: c.text[c.point] if c.text[c.point].isprintable() else c["code"],
    "code": lambda c: f"U+{ord(c.text[c.point]):04X}",
    "fraction": lambda c: normalize("NFKC", c["sign"]).replace("⁄", "/"),
    "signs": lambda c: "".join(c.text_between(sign) for sign in range(c.signs(), c.at)),
    "inverse": lambda c: _inverse(c["function"]),
    # The function with an exponent in parentheses before the error, and its inverse.
    "powered": lambda c: c.text_between(_raised(c)[0]),
    "undone": lambda c: _inverse(c["powered"]),
    "exponents": _exponents,
    "argument": lambda c: c["group"] if c.kinds[c.at] == Kind.OPEN else f"({c['right']})",
    "fence": _fence,
    "unfence": lambda c: ")" if c["fence"] else "",
    # The operators before the smallest operand before the error: `2^` in `2^3!`.
    "lead": lambda c: c.text[c.tokens[c.operand(c.at)].start : c.tokens[c.atom(c.at)].start],
    # The smallest operand after the unexpected token, without parentheses.
    "radix": lambda c: c["rooted"][1:-1] if c.kinds[c.at + 1] == Kind.OPEN else c["rooted"],
    # What follows a letter that is a function, and has no value here.
    "lettered": _argument_of_letter,
    # The name here of the function before the error; the function in lower case.
    "native": lambda c: own_name(c["before"], c.valued),
    "folded": lambda c: FUNCTIONS[c["before"].lower()].name,
    # The signs and the radicand of the root before the error: `√√` and `x` in `2√√x^2`.
    "roots": lambda c: c["root"][: len(c["root"]) - len(c["root"].lstrip("√"))],
    "radicand": lambda c: c["root"][len(c["roots"]) :].strip(),
    "nested": _nest,
    "level": lambda c: {0: "open"}[len(c.open)],
    # The hexadecimal, octal or binary number around the error.
    "decimal": lambda c: str(int(c["before"] + c["token"], 0)),
    # The number before the error without its exponent, and that with its letter.
    "mantissa": lambda c: re.split("[eE]", c["before"])[0],
    "exponent": lambda c: c["before"][len(c["mantissa"]) :],
    # What the name before the error denotes that the language does not have.
    "absent": _absent,
    # The number at the error without `_`; what it raises with the part behind `_` as an index:
    # `x_1**2` for `x^2_1`.
    "ungrouped": lambda c: c["token"].replace("_", ""),
    "indexed": _indexed,
    # The statement: as the difference of its sides; with `==` for `=`; with closed brackets; with a
    # semicolon before the error; with one instead of the comma.
    "difference": lambda c: " - ".join(
        side if re.fullmatch(r"\w+", side) else f"({side})" for side in _sides(c)
    ),
    "compared": lambda c: _instead(c, "==", 1),
    "completed": lambda c: (
        c["statement"] + "".join(_CLOSED_BY[c.kinds[k]] for k in reversed(c.open))
    ),
    "split": lambda c: _instead(c, "; ", 0),
    "separated": lambda c: _instead(c, ";", 1),
}


# ---- recognising
PATTERN_WINDOW = 80  # characters before and after the error that patterns see
# Spellings of whole statements.
_WHOLE = (
    "{repaired}",
    "{completed}",
    "{split}",
    "{separated}",
    "{compared}",
    "{difference}",
    "{statement} else 0",
)

_MISSING = (LookupError, ValueError, StopIteration)
_AFTER_ARGUMENT = context.ENDS + Kind.EQUALS + Kind.CLOSING_BAR + Kind.FUNCTION
_BEFORE_NO_OPERAND = context.ENDS + context.FACTOR_SIGNS + Kind.POWER
_GOES_ON = context.VALUES + context.BARS + context.POWERS + Kind.UNREADABLE
# The tokens at the beginning of a statement that binds a name.
_BINDING = LazyPattern(f"(?:^|[{context.SEPARATORS}])([{context.NAMES}]){Kind.EQUALS}")

_WHOLLY_QUOTED = LazyPattern(
    rf"\s*+[{QUOTES}]++(?:(?<=[{QUOTES}]{{2}})|[^{QUOTES}]++[{QUOTES}]++)\s*"
)
_FUNCTIONS, _KEYWORDS = "|".join(FUNCTIONS), "|".join(KEYWORDS)
_FRACTION_AND_OPERAND = (
    rf"[{FRACTIONS}]\s*[{FRACTIONS}]",
    rf"[√∛∜]\s*[{FRACTIONS}]\s*[\w(√]",
    rf",[0-9]+\s*[{FRACTIONS}]",
    rf"(?:(?<![^\W{FRACTIONS}])\d*+(?!(?:{_FUNCTIONS}|{_KEYWORDS})\s*[{FRACTIONS}])[^\W\d{FRACTIONS}][^\W{FRACTIONS}]*+|[)|])\s*+[{FRACTIONS}]",
)
_MODULE = r"(?<!\w)\d*+[^\W\d]\w*+\s*+\.\s*+"
_GROUPED_DIVISOR = LazyPattern(
    r"(?:[/÷^√∛∜]|\*\*)\s*[-+−]?\s*[0-9]+(?:,[0-9]{3})+(?:\.[0-9]+)?\s*\Z"
)


_LONE_ARGUMENT = LazyPattern(r"\(\s*\w*\s*\)")
_POWER_OF_NAME = LazyPattern(r"([^\W\d]\w*)\s*(?:(?:\^|\*\*).+|[⁻⁰¹²³⁴-⁹]+)")


def _is_inverse_of_angle(c: Fragments, stop: int) -> bool:
    name = c["powered" if c.kinds[c.first] == Kind.CLOSE else "function"]
    return name in CIRCULAR and name not in c.valued


def _is_no_power_of_a_function(c: Fragments, stop: int) -> bool:
    power = _POWER_OF_NAME.fullmatch(c["left"]) if _LONE_ARGUMENT.fullmatch(c["right"]) else None
    return power is None or power[1] in FACTORS or power[1] in c.valued


def diagnosis(text: str, stuck: ParseFailure, valued: Collection[str] = ()) -> ExpressionError:
    """Return the error for a parse failure; `valued` names have values in the point."""
    fragments = Fragments(text, stuck, valued)
    document = document_in(text)
    if document is not None:
        return _document_error(fragments, *document.span())
    measured = _measured_error(fragments)
    if measured is not None:
        return measured
    mistake, message, at = recognise(fragments)
    if ("\\" in text or "{" in text) and (
        mistake.text == r"\\" or not mistake.text.startswith(r"\\")
    ):
        with suppress(*_MISSING):
            return _statement_error(fragments, *span(fragments, "statement"))
    also: tuple[tuple[Span, str], ...] = ()
    if mistake.also:
        with suppress(*_MISSING):
            also = ((Span(*span(fragments, mistake.there)), mistake.also),)
    offers = tuple(_offers(mistake, fragments))
    hint, spellings = mistake.hint, [spelling for offer in offers for spelling in offer.shown]
    if "{}" in hint and not spellings:
        spellings = list(mistake.example)
        as_in = hint.replace("write {}", "write it as in {}").replace(": {}", ", as in {}")
        hint = as_in if spellings else hint.removesuffix(": {}")
    hint = hint.replace("{}", either(spellings))
    return ExpressionError(mistake.kind, message, at, hint, also, offers)


_COMMAND = LazyPattern(r"\\[a-zA-Z,;:!]|(?<=\d)\{,\}(?=\d)|_\{\w+\}(?:\s+\(|(?=[^\W\d_]))")


def _document_error(c: Fragments, start: int, end: int) -> ExpressionError:
    """Return the error for displayed formulas of LaTeX, with the program that they are."""
    try:
        program = read_document(c.text[start:end], c.valued)
    except NotReadable as error:
        return _latex_error(error, start)
    certain = _are_single_letters(c.text[start:end], c.valued) and len(program) <= MAX_CONTEXT
    offers = (Offer(start, end, program, certain, (program,)),)
    return ExpressionError(
        "syntax", "this is LaTeX", Span(start, end), f"write `{_shorten(program)}`", offers=offers
    )


def _statement_error(c: Fragments, start: int, end: int) -> ExpressionError:
    """Return the error for a statement with commands of LaTeX: all of it is LaTeX, or none. Raises
    `LookupError`.
    """
    first = _COMMAND.search(c.text, start, end)
    if first is None:
        raise LookupError
    latex = c.text[start:end]
    try:
        program = read_document(latex, c.valued)
    except NotReadable as error:
        return _latex_error(error, start)
    certain = CONDITIONS["single_letters"](c, end) and len(program) <= MAX_CONTEXT
    # a condition is no result
    spellings = (program, f"1 if {program} else 0")
    last = end == len(c.text)
    shown = next(
        (text for text in spellings if may_offer(text, earlier=c.text[:start], last=last)), ""
    )
    offers = (
        Offer(
            start,
            end,
            shown or program,
            certain and shown in ("", program),
            (shown,) if shown else (),
        ),
    )
    hint = f"write `{shown}`" if shown else "write it as in `sin(x)/2`"
    return ExpressionError(
        "syntax",
        "this is a LaTeX command",
        Span(first.start(), first.start() + 1),
        hint,
        offers=offers,
    )


def _latex_error(error: NotReadable, start: int) -> ExpressionError:
    at = Span(start + error.span.start, start + error.span.end)
    hint = (
        f"write {either([*error.spellings])}"
        if error.spellings
        else error.hint or "write it as in `sin(x)/2`"
    )
    offers = (Offer(*at[:2], error.spellings[0], preferred=True),) if error.is_first_meant else ()
    return ExpressionError("syntax", str(error), at, hint, offers=offers)


_LITERAL_BEFORE = LazyPattern(r"[\d.]+\[[^\[\]]+\]\s*\Z")
_NUMBER_BEFORE = LazyPattern(r"((?:(?:^|(?<=[(=,*/^+]))[-−])?(?:\d+\.?\d*|\.\d+))\s+\Z")
_WORD_HERE = LazyPattern(r"[^\W\d_]{2,}\b(?!\s*\()")
_LITERAL_HERE = LazyPattern(r"[\d.]+\[[^\[\]]+\]")


def _measured_error(c: Fragments) -> ExpressionError | None:
    """Return the error for a unit without brackets, or for quantities side by side; None if the
    error is another.
    """
    here = next(
        (one for one in measured_numbers(c.text, c.valued) if one.start <= c.point <= one.end), None
    )
    if here is not None and here.start < c.point:
        return _unit_error(here, c.text)
    if (refused := _refused_unit_error(c)) is not None:
        return refused
    before = _LITERAL_BEFORE.search(c.text[max(0, c.point - PATTERN_WINDOW) : c.point])
    second = _LITERAL_HERE.match(c.text, c.point)
    if here is not None:
        last, end = here.literal, here.end
    elif second is not None:
        last, end = second[0], second.end()
    else:
        return None
    if before is None:
        return None
    first = before[0].rstrip()
    if any(
        unit_or_none(literal.partition("[")[2].rstrip("]")) is None for literal in (first, last)
    ):
        return None  # what is no unit is the first thing to say
    at = Span(c.point - len(before[0]), end)
    texts = [f"{first} {sign} {last}" for sign in "+*"]
    offers = tuple([Offer(at.start, at.end, text, shown=(text,)) for text in texts])
    message = "two quantities stand side by side, and they may be a sum or a product"
    return ExpressionError("syntax", message, at, f"write {spelling_hint(offers)}", offers=offers)


def _refused_unit_error(c: Fragments) -> ExpressionError | None:
    """Return the error for a number and a word of measurement that is no unit, as `20 dB`, or
    None.
    """
    number = _NUMBER_BEFORE.search(c.text, max(0, c.point - PATTERN_WINDOW), c.point)
    word = _WORD_HERE.match(c.text, c.point)
    reason = units_file()["refused"].get(word[0]) if number and word else None
    if number is None or word is None or reason is None or word[0] in c.valued:
        return None
    typed = number[1].replace("−", "-")
    hint = reason.replace("(L", f"({typed}")
    if word[0] not in FUNCTIONS:
        hint += f"; as a variable it is `{typed}*{word[0]}`"
    return ExpressionError("syntax", f"`{word[0]}` is not a unit here", Span(*word.span()), hint)


def _unit_error(one: Measured, text: str) -> ExpressionError:
    typed, span = text[one.start : one.end], Span(one.start, one.end)
    if one.divides_a_number(text):
        offers = (
            one.offer,
            one.offer._replace(
                text=f"{one.number}*1[{one.unit}]", shown=(f"{one.number}*1[{one.unit}]",)
            ),
        )
        message = (
            f"`{typed}` can be read in two ways: its unit belongs to this number, or to all"
            " before it"
        )
        return ExpressionError(
            "syntax", message, span, f"write {spelling_hint(offers)}", offers=offers
        )
    if (unit := unit_or_none(one.unit)) is not None and unit.zero:
        hint = "give the temperature in `--at`, or a difference in `[K]`"
        return ExpressionError(
            "syntax",
            f"`{one.unit}` is a temperature scale, and numbers in a formula cannot have one",
            span,
            hint,
        )
    message = f"the unit of a number stands in brackets in a formula, and `{typed}` has none"
    return ExpressionError("syntax", message, span, f"write `{one.literal}`", offers=(one.offer,))


def recognise(fragments: Fragments) -> tuple[Mistake, str, Span]:
    """Return the first matching mistake, its message, and its span."""
    c = fragments
    ahead = c.text[c.point : c.point + PATTERN_WINDOW]
    behind = c.text[max(0, c.point - PATTERN_WINDOW) : c.point]
    for mistake in MISTAKES:
        # the tokens first: the other patterns are compiled on their first use
        if (
            not c.matches(mistake.tokens)
            or (sign := re.match(mistake.text or r"[\s\S]?", ahead)) is None
            or (mistake.takes and not c.takes(mistake.takes))
            or (mistake.before and not re.search(rf"(?:{mistake.before})\Z", behind))
        ):
            continue
        c.cached = {"sign": sign[0]}
        with suppress(*_MISSING):
            if mistake.needs and not c[mistake.needs]:
                continue
            message = re.sub(r"{(\w+)}", lambda name: _shorten(c[name[1]]), mistake.message)
            if mistake.caret == "token" and c.kinds[c.at] in (Kind.END, Kind.NEWLINE):
                end = c.tokens[c.at - 1].end if c.at else len(c.text)
                return mistake, message, Span(end, end)
            return mistake, message, _extent(mistake.caret, c)
    raise AssertionError("the last mistake is always recognised")


def _shorten(fragment: str) -> str:
    return fragment if len(fragment) <= 40 else f"{fragment[:19]}…{fragment[-19:]}"


def _extent(name: str, fragments: Fragments) -> Span:
    first, _, last = name.partition("..")
    point = fragments.point
    ends = [
        (point, point + len(fragments["sign"])) if part == "sign" else span(fragments, part)
        for part in (first, last or first)
    ]
    return Span(ends[0][0], ends[1][1])


def _offers(mistake: Mistake, fragments: Fragments) -> Iterator[Offer]:
    source = fragments.text
    first, end = RANGES["statement"](fragments)
    earlier, last = source[: fragments.tokens[first].start], fragments.kinds[end] == Kind.END
    is_offered = partial(may_offer, earlier=earlier, last=last)
    alone = len(mistake.write) == 1
    for k, template in enumerate(mistake.write):
        try:
            spellings = _spellings(mistake, template, fragments)
            start, stop, _ = _extent(_place_of(mistake, k), fragments)
        except _MISSING:
            continue
        if not spellings and not mistake.edit:
            continue
        shown = next(filter(is_offered, spellings), "")
        # A repair of other mistakes too is only shown, as each has to be certain.
        single = "" if template == _REPAIRED and shown not in spellings[::2] else shown
        text = mistake.edit or single or (spellings[0] if alone else shown)
        if (shown or alone) and text != source[start:stop] and len(text) <= MAX_CONTEXT:
            others = filter(is_offered, _fill(mistake.same, fragments))
            certain = alone and _holds(mistake.certain, fragments, start, stop)
            preferred = (
                mistake.preferred and k == 0 and _holds(mistake.preferred, fragments, start, stop)
            )
            yield Offer(
                start, stop, text, certain, (*filter(None, (shown, *others)),), bool(preferred)
            )


def _place_of(mistake: Mistake, k: int) -> str:
    """Return the name of the place that a spelling replaces."""
    if mistake.place:
        return mistake.place[k]
    return "statement" if mistake.write[k] in _WHOLE else mistake.caret


def _holds(conditions: str, fragments: Fragments, start: int, stop: int) -> bool:
    """Return whether nothing speaks against an offer. A condition that fails counts as an
    ambiguity.
    """
    # an offer must not split a number in groups: `000!` in `1,000!`
    for group in re.finditer(r"(?<![0-9])[0-9]++(?:,[0-9]{3})+", fragments.text):
        if any(group.start() < place < group.end() for place in (start, stop)):
            return False
    with suppress(*_MISSING):
        return all(CONDITIONS[name](fragments, stop) for name in conditions.split())
    return False


# The template of a statement in which all mistakes of a kind are repaired.
_REPAIRED = "{repaired}"


def _spellings(mistake: Mistake, template: str, fragments: Fragments) -> list[str]:
    return _repair(mistake, fragments) if template == _REPAIRED else _fill(template, fragments)


def _fill(template: str, fragments: Fragments) -> list[str]:
    with suppress(*_MISSING):
        return [spelling] if (spelling := template.format_map(fragments)) else []
    return []


def _repair(mistake: Mistake, fragments: Fragments) -> list[str]:
    start, end = span(fragments, "statement")
    statement = fragments.text[start:end]
    repaired = _replace(statement, mistake.repair) if end - start <= MAX_CONTEXT else ""
    if not repaired:
        return []
    for other in MISTAKES:
        if not other.alone or other is mistake:
            statement = _replace(statement, other.repair)
    # A condition is no result: the statement may be a choice of 1 or 0.
    texts = [repaired, statement]
    choices = [re.sub(r"^(\w+\s*=(?!=)\s*)?(.*)$", r"\g<1>1 if \2 else 0", text) for text in texts]
    return [text for text in texts + choices if text]


def _replace(text: str, repairs: tuple[Repair, ...]) -> str:
    for pattern, replacement in repairs:
        text = re.sub(pattern, replacement, text)
    return text.strip()


# ---- conditions for accepting the only suggestion
# Whether nothing speaks against a suggestion that ends at a place.
Condition = Callable[[Fragments, int], bool]


def _are_known(c: Context, first: int, end: int) -> bool:
    names = {
        c.text_between(k) for k in range(first, min(end, len(c.tokens))) if c.kinds[k] == Kind.NAME
    }
    bound = {c.text_between(binding.start(1)) for binding in _BINDING.finditer(c.kinds)}
    allowed = {*bound, *c.valued, *GREEK, *FUNCTIONS, *KEYWORDS}
    return all(
        name in allowed or re.fullmatch(r"[^\W\d_]?(?![^\W\d_]).*", name, re.DOTALL)
        for name in names
    )


def _without(pattern: str, apart: str = "(?!)") -> Condition:
    return lambda c, stop: not re.search(pattern, re.sub(apart, "", c["statement"]))


def _no_joined_names(c: Fragments, stop: int) -> bool:
    """In `xy!` the operand may be `y`, in `sin xy` and `sin x(y)` it may be `x`."""
    if Kind.NAME + Kind.OPEN in c.kinds[max(0, c.at - 1) : c.token_from(stop)]:
        return False
    if c.kinds[c.at - 1] == Kind.CLOSE and c.kinds[c.partner[c.at - 1] - 1] == Kind.NAME:
        return False  # of `b (x + 1)!` all may be meant
    names = {
        c.text[token.start : token.end]
        for token in c.tokens[max(0, c.at - 2) :]
        if token.kind == Kind.NAME and token.start < stop
    }
    return not any(name not in c.valued and is_glued(name, c.valued) for name in names)


def _argument_ends(c: Fragments, stop: int) -> bool:
    end = c.token_from(stop)
    if not _no_joined_names(c, stop) or c.kinds[end] in context.POWERS + Kind.UNREADABLE:
        return False
    if c.kinds[end] == Kind.COMMA and _may_have_more_arguments(c):
        return False
    start = c.partner.get(end - 1)
    if start is not None and start >= c.at - 1 - (c.kinds[start - 1] in context.NAMES):
        return True
    has_power = c.kinds[end - 1] == Kind.SUPERSCRIPT or c.kinds[end - 2] == Kind.POWER
    return c.kinds[end] in _AFTER_ARGUMENT and not has_power


def _may_have_more_arguments(c: Fragments) -> bool:
    """Return whether a comma may go on in a call: `max x, y` may be one, and so may `round x, 2`
    and `floor x, 2`.
    """
    names = [c.text_between(k) for k in range(c.first, c.at)]
    with suppress(KeyError):
        names.append(c["native"])
    rows = [FUNCTIONS[name] for name in names if name in FUNCTIONS]
    return any(
        row.variadic or row.longer or len(row.params) > 1 or (row.jumps and row.propagates_infinity)
        for row in rows
    )


def _single_letters(c: Fragments, stop: int) -> bool:
    return _are_single_letters(c["statement"], c.valued)


def _are_single_letters(latex: str, known_names: Collection[str]) -> bool:
    """Adjacent typeset letters are a product; a number may belong to a fraction."""
    if re.search(r"[0-9]\s*\\[dt]?frac\s*\{?\s*[0-9]", latex):
        return False
    words_in_braces = (
        r"\\(?:mathrm|operatorname|text|mathbf|mathit|begin|end|label|tag)\s*\{[^{}]*\}"
    )
    text = re.sub(
        rf"%[^\n]*|{words_in_braces}|_\s*\{{(?:[\w,\s]|\\[a-zA-Z]+)+\}}|\\[a-zA-Z]+", " ", latex
    )
    text = re.sub(r"_\s*\w", " ", text)
    words = re.findall(r"[^\W\d_]{2,}", text)
    others = [
        w
        for w in words
        if w not in known_names and w.lower() not in FUNCTIONS and w not in KEYWORDS
    ]
    return all(is_glued(word, known_names) for word in others)


def _no_divisor_or_power(c: Fragments, stop: int) -> bool:
    at = c.operand(c.at)
    is_right_operand = c.kinds[:at].rstrip(context.SIGNS).endswith(tuple(context.TIGHT))
    return not is_right_operand and not {Kind.POWER, Kind.ROOT} & set(c.kinds[at : c.at])


def _one_place_to_close(c: Fragments, stop: int) -> bool:
    if len(c.open) != 1 or c.at - c.open[0] > 40:
        return False
    start, end = span(c, "statement")
    meanings = {
        meaning(f"{c.text[start : token.end]}){c.text[token.end : end]}")
        for token in c.tokens[c.open[0] + 1 : c.at]
    }
    return len(meanings - {None}) == 1


# The conditions of `certain` in `mistakes.txt`: true if nothing speaks against the suggestion.
CONDITIONS: dict[str, Condition] = {
    "never": lambda c, stop: False,
    "argument_ends": _argument_ends,
    "no_joined_names": _no_joined_names,
    "operand_ends": lambda c, stop: (
        _no_joined_names(c, stop) and c.kinds[c.token_from(stop)] not in _GOES_ON
    ),
    # A power of a function that the program defines may be an iteration.
    "builtin_function": lambda c, stop: (
        c["powered" if c.kinds[c.first] == Kind.CLOSE else "function"] in FUNCTIONS
    ),
    # Calculators and books agree on `tan^-1` and `sinh^-1`, not on `log^-1`.
    "inverse_of_angle": _is_inverse_of_angle,
    # Without the sign no two words are joined, and the text's direction stays.
    "no_joined_words": _without(rf"\w[{INVISIBLE}]+\w|[\u202a-\u202e\u2061-\u2069]"),
    "wholly_quoted": lambda c, stop: _WHOLLY_QUOTED.fullmatch(c["statement"]) is not None,
    # `x½` may be half of `x`, or its root.
    "no_operand_before_fraction": _without("|".join(_FRACTION_AND_OPERAND)),
    "single_letters": _single_letters,
    "no_divisor_or_power": _no_divisor_or_power,
    # The percent sign is no remainder: no operand follows.
    "no_operand_after": lambda c, stop: c.kinds[c.at + 1] in _BEFORE_NO_OPERAND,
    # `f²(x)` and `f^(-1)(x)` are the square of a call, an iteration or an inverse.
    "no_power_of_a_function": _is_no_power_of_a_function,
    "no_grouped_divisor": lambda c, stop: not _GROUPED_DIVISOR.search(c.text[: c.point]),
    "no_number_after": lambda c, stop: c.kinds[c.at] not in context.NUMBERS,
    # An equals sign outside of a condition may be an equation.
    "in_condition": lambda c, stop: (
        c.kinds.rfind(Kind.IF, 0, c.at) > c.kinds.rfind(Kind.ELSE, 0, c.at)
    ),
    "single_dash": _without(rf"[-−{DASHES}]\s*[{DASHES}]|[{DASHES}]\s*[-−]"),
    # In a spreadsheet `$A$1` is a cell.
    "no_dollar_within": _without(r"\w\$\w", r"(?<!\w)\$?[A-Z]{1,3}\$[0-9]+"),
    # No comment in words follows the sign.
    "no_words_after": lambda c, stop: _are_known(c, c.at + 1, c.at + 3),
    # What begins with `_` behind an exponent is a subscript: `x^{2}_1`.
    "no_words_beside": lambda c, stop: (
        _are_known(c, c.at - 1, c.at + 1) and not c.text.startswith("_", c.point)
    ),
    # No variable precedes a bracket: `k[A]` may be an index or a product.
    "no_index": _without(
        rf"(?<!\w)\d*+(?!(?:(?i:{_FUNCTIONS})|{_KEYWORDS})\b)[^\W\d]\w*+\s*+[\[{{⟨]"
    ),
    "known_module_names": _without(
        rf"{_MODULE}(?!(?:{_FUNCTIONS})\s*\(|(?:pi|e)\b(?!\s*\())[^\W\d]"
    ),
    "one_place_to_close": _one_place_to_close,
    # In a spreadsheet `-2^2` is 4, and `2^3^2` is 64.
    "no_spreadsheet_power": _without(r"(?:^=|[(,=*/^+<>-])\s*[-+][^-+*/(,]*\^|\^[^-+*/(,]*\^"),
    # `(1,2)` may be a point
    "no_pair": _without(r"\(\s*[-+]?[0-9]+\s*,\s*[-+]?[0-9.]+\s*\)"),
    "no_letter_after_degree": _without(r"°\s*[^\W\d]"),
    # More bars could be paired in several ways.
    "few_bars": lambda c, stop: sum(kind in context.BARS for kind in c.kinds) <= 2,
}
