"""The context of an error: the tokens around the one that does not fit, and whether they have a certain shape."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from ..language.reader import ParseFailure, step
from ..language.tables import ACTION, ORIGINS, RULES, TERMINALS
from ..language.tokens import KIND, read_token, scan, stranger
from ..table import primitives as _primitives  # noqa: F401  (it fills the table of functions)
from ..table.primitive import FUNCTIONS

LETTERS = {
    "NAME": "n", "NUMBER": "1", "COEFFICIENT": "c", "SUPERSCRIPT": "s",
    "PLUS": "p", "MINUS": "m", "TIMES": "t", "DIVIDE": "d", "POWER": "w", "ROOT": "r",
    "COMPARISON": "k", "EQUALS": "q", "AUGMENT": "u", "IF": "i", "ELSE": "e", "AND": "a", "OR": "v", "NOT": "h",
    "OPEN": "o", "CLOSE": "z", "BAR": "b", "COMMA": "y", "SEMICOLON": "x", "NEWLINE": "l",
    "UNREADABLE": "g", "END": "j", "FUNCTION": "f",
}  # fmt: skip
"""Tokens as single letters, so that a pattern of tokens is a pattern of text. The second bar of a pair is a `B`."""

CLASSES = LETTERS | {
    "NAME": "[nf]",
    "BAR": "[bB]",
    "OPERAND": "[nf1szB]",  # what may end one
    "VALUE": "[nf1cor]",  # what may begin one
    "SIGN": "[pm]",
    "INFIX": "[pmtdwkav]",
    "STOP": "[xlj]",
    "FIRST": r"(?<![\s\S])",
    "BEGIN": r"(?:(?<![\s\S])|(?<=[xl]))",
    "ANY": r"[\s\S]",
}
"""The words of a pattern of tokens."""


class Seen(NamedTuple):
    """A token where it stands."""

    letter: str
    kind: int
    start: int
    end: int


@lru_cache(256)
def shape(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A pattern of tokens, such as `NAME ! NUMBER`, as the patterns of what stands before the error and from it on."""
    before, after = (
        re.sub(r"[A-Z]+", lambda word: CLASSES[word[0]], part).replace(" ", "") for part in re.split("!(?= )", pattern)
    )
    return re.compile(rf"(?:{before})\Z"), re.compile(after)


def advance(states: list[int], kind: int, goal: str = "") -> str:
    """Take a token, if the tables do: `on` or `stuck`, or `done` where nothing but a `goal` is on the stack before."""
    while (action := step(states, kind)) < 0:
        if len(states) == 2 and ORIGINS[RULES[-1 - action][0]] == goal:
            return "done"
    return "on" if action else "stuck"


class Context:
    """The tokens of the text, those that are open, and where in them the error is."""

    def __init__(self, text: str, stuck: ParseFailure, given: Collection[str] = ()) -> None:
        self.text = text
        self.given = given
        """The names that the point gives values to."""
        self.stuck = stuck
        self.tokens: list[Seen] = []
        self.partner: dict[int, int] = {}
        """From the number of each parenthesis or bar to that of its partner."""
        self.open: list[int] = []
        """The parentheses and bars that are open at the error."""
        self.at = -1
        """The number of the token that does not fit."""
        self.first = 0
        self.last = 0
        """The numbers of the first token of the shape that was recognised, and of the one after it."""
        self._look_round()
        self.letters = "".join(token.letter for token in self.tokens)
        self.point = self._point()
        """Where exactly: within a name, at the character that may not be in one."""

    def _look_round(self) -> None:
        defined = {
            read_token(self.text, statement.start)[0]
            for statement in self.stuck.statements
            if statement.kind == "define"
        }
        opened: list[int] = []
        for number, (kind, start, end) in enumerate(scan(self.text)):
            letter = LETTERS[TERMINALS[kind].strip("$")]
            if self.at < 0 and (start >= self.stuck.at or letter == "j"):
                self.at = number
                self.open = opened.copy()
            if letter == "n" and (self.text[start:end] in FUNCTIONS or self.text[start:end] in defined):
                letter = "f"
            elif letter == "b" and self.tokens and re.match(CLASSES["OPERAND"], self.tokens[-1].letter):
                letter = "B"
            self.tokens.append(Seen(letter, kind, start, end))
            if letter in "ob":
                opened.append(number)
            elif opened and letter + self.tokens[opened[-1]].letter in ("zo", "Bb"):
                self.partner[number] = opened[-1]
                self.partner[opened.pop()] = number

    def _point(self) -> int:
        letter, _, start, end = self.tokens[self.at]
        return start + (stranger(self.text[start:end]) or 0) if letter == "g" else start

    def matches(self, pattern: str) -> bool:
        """Whether the tokens around the error have this shape; `first` is then the number of its first token."""
        before, after = shape(pattern)
        low = max(0, self.at - 24)
        found = before.search("." * (low > 0) + self.letters[low : self.at])
        last = after.match(self.letters, self.at)
        if found is None or last is None:
            return False
        self.first = low + found.start() - (low > 0)
        self.last = max(self.at + 1, last.end())
        return True

    def understood(self) -> int:
        """Where the last operand begins that was understood before the error."""
        if self.stuck.operand is None:
            raise KeyError("operand")
        return self.stuck.operand

    def signs(self) -> int:
        """The number of the first of the signs directly before the error."""
        at = self.at
        while at and self.tokens[at - 1].letter in "pm":
            at -= 1
        return at

    def takes(self, name: str) -> bool:
        """Whether the grammar would take that terminal in place of the token that does not fit."""
        return advance(self.stuck.states.copy(), KIND[name]) != "stuck"

    def after(self, at: int, goal: str) -> int:
        """The number of the first token after the `goal` (a rule of the grammar) that begins at a token."""
        states = [ACTION[KIND["OPEN"]]]
        depth = 0
        for number in range(at, len(self.tokens)):
            outcome = advance(states, self.tokens[number].kind, goal)
            depth += (self.tokens[number].letter == "o") - (self.tokens[number].letter == "z")
            if outcome == "stuck" and depth <= 0:
                outcome = advance(states, KIND["CLOSE"], goal)
            if outcome == "done":
                return number
            if outcome == "stuck":
                break
        raise KeyError(goal)

    def operand(self, at: int) -> int:
        """The number of the first token of the operand that ends before a token, with the powers that it is part of."""
        while True:
            at -= 1
            while at > 0 and self.tokens[at].letter == "s":
                at -= 1
            if at < 0 or self.tokens[at].letter not in "nf1zB":
                raise KeyError("operand")
            if self.tokens[at].letter in "zB":
                at = self.partner[at]
                if at and self.tokens[at].letter == "o" and self.tokens[at - 1].letter in "nf":
                    at -= 1
            while at and self.tokens[at - 1].letter in "rc":
                at -= 1
            sign = at
            while sign and self.tokens[sign - 1].letter in "pm":
                sign -= 1
            if not sign or self.tokens[sign - 1].letter != "w":
                return at
            at = sign - 1

    def atom(self, at: int) -> int:
        """The number of the first token of the smallest operand that ends before a token: `3` in `2^3!`."""
        if at < 1 or self.tokens[at - 1].letter not in "nf1zB":
            raise KeyError("atom")
        if self.tokens[at - 1].letter not in "zB":
            return at - 1
        at = self.partner[at - 1]
        return at - 1 if at and self.tokens[at].letter == "o" and self.tokens[at - 1].letter in "nf" else at

    def term(self, at: int) -> int:
        """The number of the first token of the product that ends before a token, with its own sign."""
        while True:
            at = self.operand(at)
            sign = at
            while sign and self.tokens[sign - 1].letter in "pm":
                sign -= 1
            if not sign or self.tokens[sign - 1].letter not in "td":
                # The first of several signs is a sum's, where something stands before it.
                return min(at, sign + 1) if sign and self.tokens[sign - 1].letter in "nf1szB" else sign
            at = sign - 1
