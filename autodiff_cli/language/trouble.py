"""The place where the grammar does not go on: the tokens around it, and the pieces of the text that messages need."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ..engine import primitives as _primitives  # noqa: F401  (it fills the table of functions)
from ..engine.primitive import FUNCTIONS
from ..errors import ExpressionError
from .parser import Stuck, read_program
from .tables import ACTION, GOTO, ORIGINS, RULES, TERMINALS
from .tokens import KIND, scan, stranger
from .tree import Node

LONGEST = 72
"""A spelling longer than this is not offered: nobody would read it."""

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
        re.sub(r"[A-Z]+", lambda word: CLASSES[word[0]], part).replace(" ", "") for part in pattern.split("!")
    )
    return re.compile(rf"(?:{before})\Z"), re.compile(after)


def parses(text: str) -> bool:
    """Whether the text is a program."""
    try:
        read_program(text)
    except (Stuck, ExpressionError):
        return False
    return True


def advance(states: list[int], kind: int, goal: str = "") -> str:
    """Take a token, if the tables do: `on` or `stuck`, or `done` where nothing but a `goal` is on the stack before."""
    while True:
        action = ACTION[states[-1] + kind]
        if action == 0:
            return "stuck"
        if action > 0:
            states.append(action)
            return "on"
        origin, length, _, _ = RULES[-1 - action]
        del states[len(states) - length :]
        if len(states) == 1 and ORIGINS[origin] == goal:
            return "done"
        states.append(GOTO[origin][states[-1] // len(TERMINALS)])


class Trouble(dict[str, str]):
    """The pieces of the text by name, as the refusals use them; each is worked out when it is asked for.

    A piece that is not there (no operand, no such function) is a `KeyError`: the spelling that needs it is not offered.
    """

    def __init__(self, text: str, stuck: Stuck) -> None:
        super().__init__()
        self.text = text
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
            node.value
            for value in self.stuck.values
            if type(value) is list
            for node in value
            if type(node) is Node and node.kind == "define"
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
        self.clear()
        return True

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
        for number in range(at, len(self.tokens)):
            outcome = advance(states, self.tokens[number].kind, goal)
            if outcome == "stuck":
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

    # -- the pieces ---------------------------------------------------------------------------------------------------
    def __missing__(self, name: str) -> str:
        if hasattr(self, f"where_{name}") or hasattr(self, f"span_{name}"):
            start, end = self.place(name)
            piece = re.sub(r"[\r\n]+", " ", self.text[start:end])
        else:
            piece = getattr(self, f"the_{name}")()
        self[name] = piece
        return piece

    def place(self, name: str) -> tuple[int, int]:
        """Where a piece begins and ends in the text."""
        if hasattr(self, f"span_{name}"):
            return getattr(self, f"span_{name}")()  # type: ignore[no-any-return]
        start, end = getattr(self, f"where_{name}")()
        if not 0 <= start < end:
            raise KeyError(name)
        return self.tokens[start].start, self.tokens[end - 1].end

    # Of these pieces, the numbers of the first token and of the one after the last.
    def where_token(self) -> tuple[int, int]:
        """The token that does not fit."""
        return self.at, self.at + 1

    def where_before(self) -> tuple[int, int]:
        """The token before it."""
        return self.at - 1, self.at

    def where_next(self) -> tuple[int, int]:
        """The token after it."""
        return self.at + 1, self.at + 2

    def where_left(self) -> tuple[int, int]:
        """The operand before the error: `x**2` in `x**2 y`."""
        return self.operand(self.at), self.at

    def where_right(self) -> tuple[int, int]:
        """The operand that begins at the error: `2y**2` in `x 2y**2`."""
        if self.tokens[self.at].letter in "bB":
            return self.at, self.letters.index("B", self.at + 1) + 1
        return self.at, self.after(self.at, "coefficient")

    def where_signed(self) -> tuple[int, int]:
        """The operand that begins with a sign at the error."""
        return self.at, self.after(self.at, "signed")

    def where_rest(self) -> tuple[int, int]:
        """The operand after the token that does not fit: `x**2` in `1/2x**2`."""
        return self.at + 1, self.after(self.at + 1, "power")

    def where_operator(self) -> tuple[int, int]:
        """The three tokens before the error."""
        return self.at - 3, self.at

    def where_tail(self) -> tuple[int, int]:
        """The power that begins with the operator at the error: `^2` in `√x^2`."""
        end = self.at + 1
        if self.tokens[self.at].letter == "s":
            return self.at, end
        while self.tokens[end].letter in "pm":
            end += 1
        return self.at, self.after(end, "power")

    def where_root(self) -> tuple[int, int]:
        """The root before the error: `√x` in `2√x^2`."""
        start = self.operand(self.at)
        while self.tokens[start].letter == "c":
            start += 1
        return (start, self.at) if self.tokens[start].letter == "r" else (0, 0)

    def where_inner(self) -> tuple[int, int]:
        """What that root is taken of."""
        start, end = self.where_root()
        return start + 1, end

    def where_shape(self) -> tuple[int, int]:
        """All that the row's pattern matched."""
        return self.first, self.last

    def where_function(self) -> tuple[int, int]:
        """The first token of the shape, a name."""
        return self.first, self.first + 1

    def where_power(self) -> tuple[int, int]:
        """From the third token of the shape to the error: `-2` in `sin^-2 x`."""
        return self.first + 2, self.at

    def where_group(self) -> tuple[int, int]:
        """The next parentheses with what is in them."""
        start = self.letters.index("o", self.at)
        return start, self.partner[start] + 1

    def where_opening(self) -> tuple[int, int]:
        """The innermost parenthesis or bar that is open."""
        return self.open[-1], self.open[-1] + 1

    def where_closed(self) -> tuple[int, int]:
        """The parenthesis that was closed last."""
        start = self.partner[self.letters.rindex("z", 0, self.at)]
        return start, start + 1

    def where_unclosed(self) -> tuple[int, int]:
        """The same, if nothing closes it later either."""
        return (0, 0) if self.open[-1] in self.partner else self.where_opening()

    def where_called(self) -> tuple[int, int]:
        """The name before the innermost parenthesis."""
        name = self.open[-1] - 1
        return (name, name + 1) if self.letters[name + 1] == "o" and self.letters[name] in "nf" else (0, 0)

    def where_statement(self) -> tuple[int, int]:
        """The statement that the error is in."""
        start = max(self.letters.rfind(stop, 0, self.at) for stop in "xl") + 1
        ends = (self.letters.find(stop, self.at) for stop in "xlj")
        return start, min(end for end in ends if end >= 0)

    # Of these, which the parser had understood already, where they begin and end.
    def _below(self, which: int) -> Node:
        nodes = (value for value in reversed(self.stuck.values) if type(value) is Node)
        return next(islice(nodes, which, None))

    def span_upto(self) -> tuple[int, int]:
        """The left operand of the operator before the error, and the operator: `a*b/` in `c + a*b/2x`."""
        return self._below(0).start, self.tokens[self.signs() - 1].end

    def span_dividend(self) -> tuple[int, int]:
        """The same where an operand stands between: `a*b/` in `c + a*b/2 x`."""
        return self._below(1).start, self.tokens[self.at - 2].end

    def span_quotient(self) -> tuple[int, int]:
        """What is divided by the divisor before the error, without the operator."""
        return self._below(0).start, self._below(0).end

    # And these are not pieces of the text.
    def the_character(self) -> str:
        """The character at which the error stands."""
        character = self.text[self.point]
        return character if character.isprintable() else self["code"]

    def the_code(self) -> str:
        """Its number in Unicode."""
        return f"U+{ord(self.text[self.point]):04X}"

    def the_stem(self) -> str:
        """What stands directly before that character: the name that it is in, or an operand."""
        start = self.tokens[self.at].start
        return self.text[start : self.point] or self["left"]

    def the_signs(self) -> str:
        """The signs directly before the error, possibly none."""
        return "".join(self.text[sign.start : sign.end] for sign in self.tokens[self.signs() : self.at])

    def the_inverse(self) -> str:
        """The inverse of the function at the beginning of the shape."""
        name = "a" + self["function"]
        if name not in FUNCTIONS:
            raise KeyError(name)
        return name

    def the_decimal(self) -> str:
        """The hexadecimal, octal or binary number around the error."""
        return str(int(self["before"] + self["token"], 0))

    def the_mantissa(self) -> str:
        """The part before the exponent of the number before the error."""
        return re.split("[eE]", self["before"])[0]

    def the_exponent(self) -> str:
        """The exponent of that number, with its letter."""
        return self["before"][len(self["mantissa"]) :]

    def the_compared(self) -> str:
        """The statement with `==` for the `=` at the error."""
        return self._instead("==", 1)

    def the_completed(self) -> str:
        """The statement, with what is open at its end closed."""
        closing = {"o": ")", "b": "|"}
        return self["statement"] + "".join(closing[self.tokens[at].letter] for at in reversed(self.open))

    def the_split(self) -> str:
        """The statement with a semicolon before the error."""
        return self._instead("; ", 0)

    def the_separated(self) -> str:
        """The statement with a semicolon for the comma at the error."""
        return self._instead(";", 1)

    def _instead(self, sign: str, length: int) -> str:
        start, end = self.place("statement")
        return self.text[start : self.point].rstrip(" " * (sign == "; ")) + sign + self.text[self.point + length : end]
