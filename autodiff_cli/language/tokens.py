"""Text to tokens and statements, and the rules of the language beyond its grammar."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import ExpressionError, Offer, Span
from . import tables
from .elements import parse_name
from .tables import ASCII_SIGNS, IGNORED, PAIR, TERMINALS, TOKEN, WORDS

# the number of each terminal, as in the tables
KIND = {name: number for number, name in enumerate(TERMINALS)}
END, UNREADABLE = KIND["$END"], KIND["UNREADABLE"]
NUMBER, COEFFICIENT, NAME = KIND["NUMBER"], KIND["COEFFICIENT"], KIND["NAME"]
COMPARISON, COMMA, SEMICOLON = KIND["COMPARISON"], KIND["COMMA"], KIND["SEMICOLON"]
NEWLINE, OPEN, CLOSE, EQUALS, AUGMENT = (
    KIND["NEWLINE"],
    KIND["OPEN"],
    KIND["CLOSE"],
    KIND["EQUALS"],
    KIND["AUGMENT"],
)
_OPENING, _CLOSING = (OPEN, KIND["LEFT"]), (CLOSE, KIND["RIGHT"])
SKIPPED = frozenset(KIND[name] for name in IGNORED)
Token = tuple[int, int, int]  # a token's kind, start and end
DIRECTLY = 0  # the token kind of an omitted multiplication sign
MAX_EXPONENT_DIGITS = 6  # longer exponents are refused: the fraction would not fit into memory
# the reserved words and their terminals
KEYWORDS = {word: KIND[name] for word, name in WORDS.items()}
# the mark of the end of the text, and another character not in programs
_END_SIGN, _ANOTHER = "\x00", "\x01"
LONG = 1000  # characters of a text in which the blanks in a row may be too many for one pattern
MAX_CACHED = 32  # the longest number for `cached_number`, in characters
_NUMERIC = tuple("0123456789.")
_UNIT_LITERAL = r"(?<!\w)(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+−]?\d+)?\[(?:[^0-9 ]|1 ?/)"
_PLAIN = str.maketrans("−×·⋅∗∙÷⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "-*****/0123456789+-")
_WORTH = {"≤": "<=", "≥": ">=", "≠": "!=", "+=": "add", "-=": "sub", "*=": "mul", "/=": "div"}
_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lo"))
_MARKS_AND_DIGITS = frozenset(("Mn", "Mc", "Me", "Nd"))
_SUBSCRIPTS = frozenset(("Lm", "No"))
# Characters that only choose a form of the previous one.
_INVISIBLE = (("\u180b", "\u180f"), ("\U000e0100", "\U000e01ef"))

_LONG_EXPONENT = f"[eE][+-]?[0-9_]{{{MAX_EXPONENT_DIGITS + 1}}}"
_DIGITS = tables.NUMBER.partition(r"(?:\[")[0].replace("\u2212", "")


class LazyPattern:
    """A regular expression that is compiled when it is first used: most texts need few of them."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, method)
        return method


# Match text that is a number, perhaps signed, and needs no parsing.
plain_number = re.compile(
    f"[+-]?{_DIGITS.replace('(?:[eE]', f'(?:(?!{_LONG_EXPONENT})[eE]')}"
).fullmatch


@lru_cache(4)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def has_unit_literals(text: str) -> bool:
    """Return whether a program has numbers with a unit in brackets.

    >>> has_unit_literals("5[kg]*v**2"), has_unit_literals("x1[2]*x[k]"), has_unit_literals("2[1/s]*t")
    (True, False, True)
    """
    return "[" in text and _compile(_UNIT_LITERAL).search(text) is not None


def _readable(text: str) -> str:
    return (text.replace(_END_SIGN, _ANOTHER) if _END_SIGN in text else text) + _END_SIGN


def pairs(text: str) -> list[tuple[str, str]]:
    """Return names or numbers, perhaps empty, each with the sign after it, which may be empty
    too.
    """
    return _compile(PAIR).findall(_readable(text))


class Spans:
    """A text in pairs of an operand and a sign, and the spans of parts known in pairs; it is cut on
    first use.
    """

    operands: list[str]
    signs: list[str]
    is_exact: bool  # whether these are the `pairs` of the grammar, and not only up to an odd piece

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain: str | None = None  # without what is skipped, once it was read

    def split(self) -> tuple[list[str], list[str]]:
        """Split the text at its signs; return the text before each sign, and the signs."""
        if self.plain is None:
            self.plain = without_skipped(self.text)
        self.is_exact = not self.plain.isascii()
        if self.is_exact:
            operands, signs = zip(*pairs(self.plain), strict=True)
            self.operands, self.signs = [*operands], [*signs]
        else:
            split = _SIGN.split if len(self.plain) < LONG else _SIGN_OF_LONG.split
            parts = split(_readable(self.plain).lstrip(_BLANKS))
            self.operands, self.signs = parts[:-1:2], parts[1::2]
        return self.operands, self.signs

    def split_exactly(self) -> bool:
        """Split the text as the grammar's own tokens say, if it is not yet; return whether this was
        done.
        """
        if self.is_exact:
            return False
        self.is_exact = True
        self.operands[:], self.signs[:] = zip(*pairs(self.plain or ""), strict=True)
        return True

    @cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """For each pair: its start, the end before its sign, the place of the sign."""
        positions = []
        end = 0
        for match in _compile(PAIR).finditer(
            _readable(without_skipped(self.text) if self.plain is None else self.plain)
        ):
            (start, stop), (sign, after) = match.span(1), match.span(2)
            if stop > start:
                end = stop
            positions.append((start if stop > start else sign, end, sign))
            end = after
        return positions

    def start(self, first: int) -> int:
        """Return the start of a construct: pair `first`, or the sign of pair `~first`."""
        return self.pairs[first][0] if first >= 0 else self.pairs[~first][2]

    def end(self, last: int) -> int:
        """Return the end of a construct: the last token of pair `last` before its sign."""
        return self.pairs[last][1]

    def __call__(self, place: tuple[Any, ...]) -> Span:
        """Return the span of a piece in pairs, `(first, last)`, perhaps with that of a call; spans
        are unchanged.
        """
        start, end, *via = place
        called = self(via[0]) if via and via[0] is not None else None
        return (
            Span(start, end, called)
            if isinstance(place, Span)
            else Span(self.start(start), self.end(end), called)
        )


def is_name(text: str) -> bool:
    """Return whether a text is a name, or an entry of a list: `w`, `w[1]`."""
    if text[-1:] == "]":
        entry = parse_name(text)
        return entry is not None and is_name(entry[0])
    if text.isascii():
        return text.isidentifier() and text not in KEYWORDS
    return (
        pairs(text) == [(text, _END_SIGN)]
        and text[0] not in _NUMERIC
        and bad_position(text) is None
    )


_ASCII_KINDS = {
    "": DIRECTLY,
    _END_SIGN: END,
    **{sign: KIND[name] for sign, name in ASCII_SIGNS.items()},
}
_BLANKS = " \t\v\f"
_FIRST = "".join(dict.fromkeys(sign[0] for sign in ASCII_SIGNS if sign not in "[]"))
_TWO = [sign for sign in ASCII_SIGNS if len(sign) == 2]
_SECOND = "".join(dict.fromkeys(sign[1] for sign in _TWO))
_PAIR_OF_SIGNS = f"(?:[{re.escape(_SECOND)}](?<={'|'.join(map(re.escape, _TWO))}))?"
# The signs of ASCII, with the blanks around them, except brackets, which may belong to a number.
_THEN = f"([{re.escape(_FIRST)}\n{_END_SIGN}]{_PAIR_OF_SIGNS})[{_BLANKS}]*+"
_SIGN = re.compile(f"[{_BLANKS}]*+{_THEN}")
# The same, slower, but for 80,000 blanks before no sign, which that one tries from each on.
_SIGN_OF_LONG = LazyPattern(f"(?:(?<![{_BLANKS}])[{_BLANKS}]++)?{_THEN}")


def sign_kind(sign: str) -> int:
    """Return the kind of a sign."""
    if sign in _ASCII_KINDS:
        return _ASCII_KINDS[sign]
    kind = read_token(sign).lastindex or 0
    return KEYWORDS.get(sign, NAME) if kind == NAME else kind


def number_of(text: str) -> tuple[float, str] | None:
    """Return value and ASCII text of a number or superscript; None with too long an exponent, or
    with a unit.
    """
    if not text.strip(".0123456789"):
        return float(text), text
    if text[-1] == "]" or _has_long_exponent(text):
        return None
    plain = text.replace("_", "").translate(_PLAIN)
    return float(plain), plain


def finite_number(text: str) -> tuple[float, str] | None:
    """Return `number_of` a text; None for text that is no finite number."""
    try:
        number = None if text[-1].isspace() else number_of(text)
    except ValueError:
        return None
    return number if number is None or number[0] < math.inf else None


cached_number = lru_cache(4096)(finite_number)


def _has_long_exponent(number: str) -> bool:
    number = number.partition("[")[0]
    return (
        len(number.lower().partition("e")[2].lstrip("+-−").replace("_", "")) > MAX_EXPONENT_DIGITS
    )


def meaning_of(sign: str) -> str:
    """Return the meaning of a sign: ASCII comparison, operation of `+=`, superscript's digits."""
    plain = sign.translate(_PLAIN)
    return _WORTH.get(plain, plain)


def read_token(text: str, start: int = 0) -> re.Match[str]:
    """Return the first token from `start`; its last group is its terminal's."""
    match = _compile(TOKEN).match(text, start)
    assert match is not None
    return match


def scan(text: str) -> Iterator[Token]:
    """Yield each token that is not skipped, then the end."""
    depth = 0
    for match in _compile(TOKEN).finditer(text):
        kind = match.lastindex or 0
        start, stop = match.span(kind)
        if kind == NAME:
            name = match[kind]
            kind = KEYWORDS.get(name) or (NAME if bad_position(name) is None else UNREADABLE)
        elif kind in (NUMBER, COEFFICIENT) and _has_long_exponent(match[kind]):
            kind = UNREADABLE
        elif kind in SKIPPED or (kind == NEWLINE and depth):
            continue
        elif kind in _OPENING:
            depth += 1
        elif kind in _CLOSING and depth:
            depth -= 1
        yield kind, start, stop
        if kind == END:
            return


def names_in(text: str) -> list[str]:
    """Return the names in a text, in order, each once."""
    return list(dict.fromkeys([text[start:end] for kind, start, end in scan(text) if kind == NAME]))


def split_statements(text: str) -> list[list[Token]]:
    """Return the tokens of each statement; empty statements are left out."""
    statements: list[list[Token]] = [[]]
    for token in scan(text):
        if token[0] in (SEMICOLON, NEWLINE, END):
            statements.append([])
        else:
            statements[-1].append(token)
    return [tokens for tokens in statements if tokens]


def bound_names(text: str) -> list[str]:
    """Return the names that the statements of a text bind, in order."""
    bindings = [
        tokens
        for tokens in split_statements(text)
        if [kind for kind, _, _ in tokens[:2]] == [NAME, EQUALS]
    ]
    return [text[tokens[0][1] : tokens[0][2]] for tokens in bindings]


def without_skipped(text: str) -> str:
    """Return the text with blanks for comments and for new lines in parentheses."""
    if (
        "#" not in text
        and "\n" not in text
        and "\r" not in text
        and (text.isascii() or len(text.splitlines()) < 2)
    ):
        return text
    parts = []
    end = 0
    for _, start, stop in scan(text):
        parts.append(" " * (start - end))
        parts.append(text[start:stop])
        end = stop
    return "".join(parts)


def bad_position(name: str) -> int | None:
    """Return the position of the first invalid character of a name, or None; the grammar is exact
    for ASCII only.
    """
    if name.isascii():
        return None
    from unicodedata import category, decomposition

    for at, character in enumerate(name):
        kind = category(character)
        if character == "_" or (
            at and kind in _SUBSCRIPTS and decomposition(character).startswith("<sub>")
        ):
            continue
        if kind in _LETTERS:
            if decomposition(character).startswith("<super>"):
                return at
        elif not (at and kind in _MARKS_AND_DIGITS) or any(
            low <= character <= high for low, high in _INVISIBLE
        ):
            return at
    return None


# ---- statements
_MAX_LISTED = 40
_GROUPS = r"[0-9]{3}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w.])"
# Numbers with leading zeros, invalid even as coefficients: `000x`.
_ZEROS = r"0[0-9]{2}(?:,[0-9]{3})*(?:\.[0-9]+)?(?![0-9.])"

_DECIMALS = r"[0-9]+(?![0-9_.])"  # digits, perhaps a coefficient: `5x`
_POINTED = r"(?<![\w.])[1-9][0-9]{0,2}\.[0-9]{3}\Z", _DECIMALS
# Text before and after a comma that is likely part of one number.
_COMMAS = {
    "outputs": ((r"(?<![\w.])[0-9]+\Z", f"{_GROUPS}|{_ZEROS}|{_DECIMALS}"), _POINTED),
    "arguments": ((r"(?<![\w.])[0-9]+\Z", f"(?=0)(?:{_GROUPS}|{_ZEROS})"),),
    "miscounted": ((r"(?<![\w.])[1-9][0-9]{0,2}\Z", _GROUPS), _POINTED),
}


class Statement(NamedTuple):
    """A statement: its kind (`expression`, `outputs`, `bind`, `augment` or `define`) and place."""

    kind: str
    start: int
    end: int


Complete = tuple[str, tuple[Any, ...]]  # the kind of a statement, and its place


class Head(NamedTuple):
    """The head of a definition, before its `=`."""

    name: str
    span: Span
    end: int
    # the parameters and their places; an empty name for anything else
    parameters: tuple[tuple[str, Span], ...]


class UnknownShape(ExpressionError):
    """An error about a list of unknown length."""


class UnexplainedText(ExpressionError):
    """An error whose hint needs `diagnostics`: a value or call up to `end`.

    The next statement starts at `after`, 0 for calls; `functions` are the program's, if the name
    has no value.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        span: Span,
        end: int,
        after: int = 0,
        functions: Collection[str] | None = None,
    ) -> None:
        super().__init__(kind, message, span)
        self.end = end
        self.after = after
        self.functions = functions


def check_statements(statements: Sequence[Complete], span: Spans) -> None:
    """Raise an error if a statement before the last is only a value."""
    if len(statements) < 2 or all(
        kind not in ("expression", "outputs") for kind, _ in statements[:-1]
    ):
        return
    for (kind, place), (_, following) in pairwise(statements):
        start, end, _ = span(place)
        if kind == "outputs":
            message = "only the last statement may list outputs"
            raise ExpressionError(
                "syntax", message, Span(start, end), "move it to the end of the program"
            )
        if kind == "expression":
            after = span(following).start
            raise UnexplainedText("syntax", "this value is not used", Span(start, end), end, after)


def check_commas(starts: Sequence[int], text: str, where: str) -> None:
    """Raise an error if neighbours, which begin at `starts`, are likely one number: `1,000`.

    Outputs may not be `1,5` or `1.000,5` either. Arguments may be `1,200`, but not `1,050`; if
    their number is wrong (`miscounted`), `sin(1,500)` has groups of exactly three digits after one
    to three that do not begin with 0.
    """
    what = "outputs" if where == "outputs" else "arguments"
    for left, right in pairwise(starts):
        if text[right - 1] != "," or not text[right - 2].isdigit():
            continue
        # The patterns are compiled only here: few programs come this far.
        for before, after in _COMMAS[where]:
            head = re.compile(before).search(text, max(left, right - 1 - _MAX_LISTED), right - 1)
            rest = re.compile(after).match(text, right)
            if head and rest:
                raise _one_number(head[0], rest[0], Span(head.start(), rest.end()), what)


def _one_number(before: str, after: str, span: Span, what: str) -> ExpressionError:
    is_grouped = "." not in before and re.compile(_GROUPS).fullmatch(after) is not None
    joined = before.replace(".", "") + ("" if is_grouped else ".") + after.replace(",", "")
    listed = f"{before}, {after.replace(',', ', ')}"
    message = (
        "a number is written without commas in it" if is_grouped else "the decimal sign is a point"
    )
    # Nobody writes `000` or `050` as a separate number.
    is_one = is_grouped and re.search(r"(?:^|,)0", after)
    offered = [joined] if is_one else [joined, listed]
    hint = f"write `{joined}`" + f", or `{listed}` for {what}" * (len(offered) > 1)
    if len(listed) > _MAX_LISTED:
        hint = "leave the commas out"
    offers = tuple([Offer(span.start, span.end, text, shown=(text,)) for text in offered])
    return ExpressionError("syntax", message, span, hint, offers=offers)
