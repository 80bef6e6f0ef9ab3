"""Text to tokens, by the grammar's own pattern; what a token is worth is looked up, since most of them come again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Any

from .tables import ASCII_PIECE, ASCII_TOKEN, IGNORED, PIECE, TERMINALS, TOKEN, WORDS

KIND = {name: number for number, name in enumerate(TERMINALS)}
"""The number of each terminal, as in the tables."""

END, UNREADABLE = KIND["$END"], KIND["UNREADABLE"]
NUMBER, COEFFICIENT, NAME = KIND["NUMBER"], KIND["COEFFICIENT"], KIND["NAME"]
SUPERSCRIPT, COMPARISON, AUGMENT = KIND["SUPERSCRIPT"], KIND["COMPARISON"], KIND["AUGMENT"]
NEWLINE, OPEN, CLOSE, EQUALS = KIND["NEWLINE"], KIND["OPEN"], KIND["CLOSE"], KIND["EQUALS"]
SKIPPED = frozenset(KIND[name] for name in IGNORED)

EXPONENT_DIGITS = 6
"""A literal with more digits in its exponent is refused: as a fraction it would not fit into memory."""

REMEMBERED = 4096
KEYWORDS = {word: KIND[name] for word, name in WORDS.items()}
"""The reserved words, with their terminals."""

_VALUED = frozenset((COMPARISON, AUGMENT, SUPERSCRIPT))
_PLAIN = str.maketrans("−×·⋅∗∙÷⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "-*****/0123456789+-")
_WORTH = {"≤": "<=", "≥": ">=", "≠": "!=", "+=": "add", "-=": "sub", "*=": "mul", "/=": "div"}
_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lo"))
_SUBSCRIPTS = frozenset(("Lm", "No"))
_MARKS_AND_DIGITS = frozenset(("Mn", "Mc", "Me", "Nd"))
_INVISIBLE = (("\u180b", "\u180f"), ("\U000e0100", "\U000e01ef"))
"""Marks that only choose between forms of a character, as far as the grammar has not left them out."""


Token = tuple[int, int, int, Any]
"""What is known of a piece of text, wherever it stands: its terminal; its length, without the white space before it;
its sort (`NUMBER`, `NAME`, `SIGN`, `CLOSE` or `OTHER`); and what it is worth: a number with its text (plain ASCII,
without underscores), the text of a name or of a comparison, the primitive of an operator such as `+=`."""


@lru_cache(4)
def _matcher(pattern: str) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(pattern).match


@lru_cache(4)
def _cutter(pattern: str) -> Callable[[str], list[str]]:
    return re.compile(pattern).findall


def pieces(text: str) -> list[str]:
    """The text cut into tokens, each with the white space before it; the last is empty or white space."""
    return _cutter(ASCII_PIECE if text.isascii() else PIECE)(text)


def read_token(text: str, start: int = 0) -> re.Match[str]:
    """The first token from there on; its last group is that of its terminal (or of NAME, for words such as `if`)."""
    found = _matcher(ASCII_TOKEN if text.isascii() else TOKEN)(text, start)
    assert found is not None
    return found


SIGN, OTHER = 0, -1
"""Sorts of tokens that are neither a number nor a name: a sign that only stands on the stack, and the rest."""

_PLAIN_SIGNS = frozenset(
    kind for name, kind in KIND.items() if kind not in (*_VALUED, *SKIPPED, NEWLINE, NUMBER, NAME, EQUALS, END)
)

TOKENS: dict[str, Token] = {}
"""The tokens that have been met, by their pieces of text; of numbers only what they are where nothing follows."""


def new_token(piece: str) -> Token:
    """What a piece of text is that is not among `TOKENS` yet."""
    match = read_token(piece)
    kind = match.lastindex or 0
    text = match[kind]
    value: Any = None
    sort = OTHER
    if kind == NUMBER:
        text_value = text.replace("_", "").replace("−", "-")
        exponent = text_value.lower().partition("e")[2].lstrip("+-")
        if len(exponent) > EXPONENT_DIGITS:
            kind = UNREADABLE
        else:
            value = float(text_value), text_value
            sort = NUMBER
    elif kind == NAME:
        if text in KEYWORDS:
            kind = KEYWORDS[text]
        elif stranger(text) is None:
            sort, value = NAME, text
        else:
            kind = UNREADABLE
    elif kind in _VALUED:
        value = text if kind == COMPARISON else text.translate(_PLAIN)
        value = _WORTH.get(value, value)
    if kind in _PLAIN_SIGNS:
        sort = CLOSE if kind == CLOSE else SIGN
    token = (kind, len(text), sort, value)
    if len(piece) <= 32:
        if len(TOKENS) >= REMEMBERED:
            TOKENS.clear()
        TOKENS[piece] = token
    return token


class _AfterNumber(dict[str, bool]):
    """By a character, whether a number directly before it can be a coefficient."""

    def __missing__(self, character: str) -> bool:
        possible = read_token("1" + character).lastindex == COEFFICIENT
        self[character] = possible
        return possible


AFTER_NUMBER = _AfterNumber()


def without_skipped(text: str) -> str:
    """The text with blanks for comments, and for new lines inside parentheses."""
    if "#" not in text and len(text.splitlines()) < 2:
        return text
    depth = 0
    parts = []
    for piece in pieces(text):
        kind = token(piece)[0]
        depth += (kind == OPEN) - (kind == CLOSE)
        depth = max(depth, 0)
        parts.append(" " * len(piece) if kind in SKIPPED or (kind == NEWLINE and depth) else piece)
    return "".join(parts)


def token(piece: str) -> Token:
    """What a piece of text is."""
    return TOKENS.get(piece) or new_token(piece)


def is_coefficient(text: str, start: int) -> bool:
    """Whether the number that starts there is a coefficient: `2` in `2x`, but not in `2 x` or `2*x`."""
    return read_token(text, start).lastindex == COEFFICIENT


def scan(text: str) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of every token, the last being the end of the text; none of what is skipped."""
    depth = 0
    cut = pieces(text)
    for piece, stop in zip(cut, accumulate(map(len, cut)), strict=True):
        kind, length, _, _ = token(piece)
        start = stop - length
        if kind in SKIPPED or (kind == NEWLINE and depth):
            continue
        if kind == OPEN:
            depth += 1
        elif kind == CLOSE and depth:
            depth -= 1
        elif kind == NUMBER and is_coefficient(text, start):
            kind = COEFFICIENT
        yield kind, start, stop
        if kind == END:
            return


def within(text: str, start: int, stop: int) -> list[tuple[int, int, int]]:
    """Kind, start and end of the tokens between two places, of which none is a new line."""
    found = [(kind, start + a, start + b) for kind, a, b in scan(text[start:stop])]
    return [token for token in found if token[0] not in (NEWLINE, END)]


def stranger(name: str) -> int | None:
    """Where in a name the first character stands that may not be in one, or None.

    The grammar's pattern is the outline of a name, and for plain ASCII it is exact; the rest is for Unicode to say.
    """
    if name.isascii():
        return None
    from unicodedata import category, decomposition

    for at, character in enumerate(name):
        kind = category(character)
        if character == "_" or (at and kind in _SUBSCRIPTS and decomposition(character).startswith("<sub>")):
            continue
        if kind in _LETTERS:
            if decomposition(character).startswith("<super>"):
                return at
        elif not (at and kind in _MARKS_AND_DIGITS) or any(low <= character <= high for low, high in _INVISIBLE):
            return at
    return None
