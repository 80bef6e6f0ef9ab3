"""The context of a syntax error: the tokens around the unexpected one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from ...engine.table import primitives as _primitives  # noqa: F401  (it fills the table of functions)
from ...engine.table.primitive import FUNCTIONS
from ..reader import ParseFailure, only_rule, reduce_by, take
from ..tables import ACTION, ORIGINS, RULES, TERMINALS
from ..tokens import KIND, bad_position, read_token, scan


class Kind(StrEnum):
    """Kinds of tokens, one character each, for regular expressions."""

    NAME = "n"
    FUNCTION = "f"
    NUMBER = "1"
    COEFFICIENT = "c"
    SUPERSCRIPT = "s"
    PLUS = "p"
    MINUS = "m"
    TIMES = "t"
    DIVIDE = "d"
    POWER = "w"
    ROOT = "r"
    COMPARISON = "k"
    EQUALS = "q"
    AUGMENT = "u"
    IF = "i"
    ELSE = "e"
    AND = "a"
    OR = "v"
    NOT = "h"
    OPEN = "o"
    CLOSE = "z"
    BAR = "b"
    CLOSING_BAR = "B"
    LEFT = "A"
    RIGHT = "Z"
    AT = "T"
    COLON = "Y"
    COMMA = "y"
    SEMICOLON = "x"
    NEWLINE = "l"
    UNREADABLE = "g"
    END = "j"


NAMES = Kind.NAME + Kind.FUNCTION
NUMBERS = Kind.NUMBER + Kind.COEFFICIENT
BARS = Kind.BAR + Kind.CLOSING_BAR
CLOSING = Kind.CLOSE + Kind.RIGHT + Kind.CLOSING_BAR
ATOM_ENDS = NAMES + Kind.NUMBER + CLOSING
OPERAND_ENDS = ATOM_ENDS + Kind.SUPERSCRIPT
SIGNS = Kind.PLUS + Kind.MINUS
FACTOR_SIGNS = Kind.TIMES + Kind.DIVIDE
POWERS = Kind.POWER + Kind.SUPERSCRIPT
VALUES = NAMES + NUMBERS + Kind.OPEN + Kind.ROOT
TIGHT = Kind.DIVIDE + Kind.POWER + Kind.ROOT  # their right operand may extend further than intended

SEPARATORS = Kind.SEMICOLON + Kind.NEWLINE
STOPS = SEPARATORS + Kind.END
ENDS = SIGNS + STOPS + Kind.COMPARISON + Kind.CLOSE + Kind.RIGHT + Kind.COLON + Kind.COMMA
ENDS += Kind.IF + Kind.ELSE + Kind.AND + Kind.OR
"""The tokens that end a product."""

_PARTNERS = {Kind.CLOSE: Kind.OPEN, Kind.RIGHT: Kind.LEFT, Kind.CLOSING_BAR: Kind.BAR}

# The words of token patterns.
CLASSES = {kind.name: kind.value for kind in Kind} | {
    "NAME": f"[{NAMES}]",
    "BAR": f"[{BARS}]",
    "OPERAND": f"[{OPERAND_ENDS}]",  # what may end one
    "VALUE": f"[{VALUES}]",  # what may begin one
    "SIGN": f"[{SIGNS}]",
    "INFIX": f"[{SIGNS}{FACTOR_SIGNS}{Kind.POWER}{Kind.COMPARISON}{Kind.AND}{Kind.OR}]",
    "STOP": f"[{STOPS}]",
    "FIRST": r"(?<![\s\S])",
    "BEGIN": rf"(?:(?<![\s\S])|(?<=[{SEPARATORS}]))",
    "ANY": r"[\s\S]",
}
# The words that are not about the kind of one token.
_ANYWHERE = frozenset(("FIRST", "BEGIN", "ANY"))


class Token(NamedTuple):
    """A token with its position."""

    kind: Kind
    terminal: int
    start: int
    end: int


@lru_cache(256)
def shape(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns before the error and from it on, for example of `NAME ! NUMBER`."""
    before, after = (
        re.sub(r"[A-Z]+", lambda word: CLASSES[word[0]], part).replace(" ", "")
        for part in re.split("!(?= )", pattern)
    )
    return re.compile(rf"(?:{before})\Z"), re.compile(after)


@lru_cache(256)
def neighbours(pattern: str) -> tuple[str, str]:
    """Return the kinds that the token before the error may have, and those of the error; empty for
    any.

    They tell most patterns apart without compiling one.

    >>> neighbours("NAME ! VALUE|BAR"), neighbours("(?!FUNCTION)OPERAND ! SIGN*")
    (('nf', 'nf1corbB'), ('', ''))
    """
    before, _, after = pattern.rpartition("! ")
    return _kinds_of(before.split(), -1), _kinds_of(after.split(), 0)


def _kinds_of(words: list[str], k: int) -> str:
    if not words or ("|" in "".join(words) and len(words) > 1):
        return ""  # between several words a bar separates whole rows of them
    names = words[k].split("|")
    if not all(name.isalpha() and name.isupper() and name not in _ANYWHERE for name in names):
        return ""
    return "".join([CLASSES[name].strip("[]") for name in names])


def advance(states: list[int], terminal: int, goal: str = "") -> str:
    """Shift a token: `on`, `stuck`, or `done` if the stack held only a `goal`."""
    while (action := take(states, terminal)) < 0:
        if len(states) == 2 and ORIGINS[RULES[-1 - action][0]] == goal:
            return "done"
    return "on" if action else "stuck"


def _stuck(tokens: Sequence[tuple[int, int, int]], at: int | None) -> tuple[int, list[int], int]:
    """Return the unexpected token, the parser states before it, and the last operand's start."""
    states = [0]
    # of each state the first token of what was read, and whether that is an operand
    starts = [(0, False)]
    previous = closed = 0
    for number, (terminal, start, _) in enumerate(tokens):
        if previous == KIND["NAME"] and terminal in (KIND["OPEN"], KIND["EQUALS"], KIND["AUGMENT"]):
            starts[-1] = starts[-1][0], False
        while (action := closed or ACTION[states[-1] + terminal]) < 0:
            closed = 0
            origin, length, name, _ = RULES[-1 - action]
            reduce_by(states, action)
            first, is_operand = starts[-length]
            if length > 1 or name not in ("", "list", "number", "name"):
                is_operand = name not in ("list", "bind", "augment", "define", "outputs")
            starts[-length:] = [
                (first, is_operand and ORIGINS[origin] not in ("statement", "_statements"))
            ]
        if action == 0 or start == at or terminal == KIND["$END"]:
            return (
                number,
                states,
                next((first for first, is_operand in reversed(starts) if is_operand), -1),
            )
        if terminal == KIND["EQUALS"]:
            starts[-1] = starts[-1][0], False  # the head of a definition
        states.append(action)
        starts.append((number, terminal in (KIND["NAME"], KIND["NUMBER"], KIND["COEFFICIENT"])))
        previous, closed = terminal, only_rule(action)
    raise AssertionError("the text ends with its end")


class Context:
    """The tokens of a text, the open brackets, and the place of the error."""

    def __init__(self, text: str, stuck: ParseFailure, valued: Collection[str] = ()) -> None:
        self.text = text
        self.valued = valued
        self.tokens: list[Token] = []
        self.partner: dict[int, int] = {}
        self.open: list[int] = []
        self.first = 0
        self.last = 0
        tokens = [*scan(text)]
        self.at, self.states, self.understood = _stuck(tokens, stuck.at)
        """The unexpected token, the parser states and the last operand (or -1) before it."""
        defined = {
            read_token(text, define.start)[0]
            for define in stuck.statements
            if define.kind == "define"
        }
        opened: list[int] = []
        for number, (terminal, start, end) in enumerate(tokens):
            if number == self.at:
                self.open = opened.copy()
            kind = self._kind_of(Kind[TERMINALS[terminal].strip("$")], text[start:end], defined)
            self.tokens.append(Token(kind, terminal, start, end))
            self._match(number, opened)
        self.kinds = "".join(token.kind for token in self.tokens)
        kind, _, start, end = self.tokens[self.at]
        unreadable = (bad_position(text[start:end]) or 0) if kind == Kind.UNREADABLE else 0
        self.point = start + unreadable

    def _kind_of(self, kind: Kind, text: str, defined: Collection[str]) -> Kind:
        """Return the kind of the next token: names of functions, and bars that close, are kinds of
        their own.
        """
        if kind == Kind.NAME and (text in FUNCTIONS or text in defined):
            return Kind.FUNCTION
        if kind == Kind.BAR and self.tokens and self.tokens[-1].kind in OPERAND_ENDS:
            return Kind.CLOSING_BAR
        return kind

    def _match(self, number: int, opened: list[int]) -> None:
        """Match a token that closes with the last one that is open."""
        kind = self.tokens[number].kind
        if kind in (Kind.OPEN, Kind.LEFT, Kind.BAR):
            opened.append(number)
        elif opened and _PARTNERS.get(kind) == self.tokens[opened[-1]].kind:
            self.partner[number] = opened[-1]
            self.partner[opened.pop()] = number

    def text_between(self, first: int, end: int | None = None) -> str:
        """Return the text of a token, or of all up to another token."""
        return self.text[
            self.tokens[first].start : self.tokens[first if end is None else end - 1].end
        ]

    def token_from(self, place: int) -> int:
        """Return the first token at or after a place of the text."""
        return next(number for number, token in enumerate(self.tokens) if token.start >= place)

    def matches(self, pattern: str) -> bool:
        """Return whether the tokens around the error match; if so, set `first` and `last`."""
        last, unexpected = neighbours(pattern)
        if (unexpected and self.kinds[self.at] not in unexpected) or (
            last and self.kinds[self.at - 1] not in last
        ):
            return False
        before, after = shape(pattern)
        low = max(0, self.at - 24)
        start = before.search("." * (low > 0) + self.kinds[low : self.at])
        end = after.match(self.kinds, self.at)
        if start is None or end is None:
            return False
        self.first = low + start.start() - (low > 0)
        self.last = max(self.at + 1, end.end())
        return True

    def signs(self, at: int | None = None) -> int:
        """Return the first of the signs before a token, by default the error."""
        at = self.at if at is None else at
        while at and self.kinds[at - 1] in SIGNS:
            at -= 1
        return at

    def takes(self, name: str) -> bool:
        """Return whether the grammar accepts this terminal at the error."""
        return advance(self.states.copy(), KIND[name]) != "stuck"

    def after(self, at: int, goal: str) -> int:
        """Return the first token after the grammar rule `goal` that begins at a token."""
        states = [ACTION[KIND["OPEN"]]]
        depth = 0
        for number in range(at, len(self.tokens)):
            outcome = advance(states, self.tokens[number].terminal, goal)
            depth += (self.kinds[number] == Kind.OPEN) - (self.kinds[number] == Kind.CLOSE)
            if outcome == "stuck" and depth <= 0:
                outcome = advance(states, KIND["CLOSE"], goal)
            if outcome == "done":
                return number
            if outcome == "stuck":
                break
        raise KeyError(goal)

    def atom(self, at: int) -> int:
        """Return the first token of the smallest operand before a token: `3` in `2^3!`."""
        at -= 1
        if at < 0 or self.kinds[at] not in ATOM_ENDS:
            raise KeyError("atom")
        if self.kinds[at] in CLOSING:
            at = self.partner[at]
            if at and self.kinds[at] == Kind.LEFT and self.kinds[at - 1] in ATOM_ENDS:
                return self.atom(at)
            if at and self.kinds[at] == Kind.OPEN and self.kinds[at - 1] in NAMES:
                at -= 1
        return at

    def operand(self, at: int) -> int:
        """Return the first token of the operand before a token, with its powers."""
        while True:
            while at > 1 and self.kinds[at - 1] == Kind.SUPERSCRIPT:
                at -= 1
            at = self.atom(at)
            while at and self.kinds[at - 1] in (Kind.ROOT, Kind.COEFFICIENT):
                at -= 1
            sign = self.signs(at)
            if not sign or self.kinds[sign - 1] != Kind.POWER:
                return at
            at = sign - 1

    def term(self, at: int) -> int:
        """Return the first token of the product before a token, with its sign."""
        while True:
            at = self.operand(at)
            sign = self.signs(at)
            if not sign or self.kinds[sign - 1] not in FACTOR_SIGNS:
                # The first of several signs belongs to a sum if an operand precedes it.
                return min(at, sign + 1) if sign and self.kinds[sign - 1] in OPERAND_ENDS else sign
            at = sign - 1
