"""The pieces of the text around an error, by the names under which messages and spellings use them."""

from __future__ import annotations

import re
from itertools import islice

from ..table.primitive import FUNCTIONS
from .place import LETTERS, Place, shape
from .tree import Node

__all__ = ["INVERSES", "LETTERS", "Trouble", "shape"]

INVERSES = {
    "exp": "log", "log": "exp", "ln": "exp", "exp2": "log2", "log2": "exp2", "expm1": "log1p", "log1p": "expm1",
    "erf": "erfinv", "erfinv": "erf", "sigmoid": "logit", "logit": "sigmoid", "deg": "rad", "rad": "deg",
}  # fmt: skip
"""Inverse functions; that of `sin` is `asin`, and so on."""


class Trouble(Place):
    """The pieces of the text by name; each is worked out when it is asked for.

    A piece that is not there (no operand, no such function) is a `KeyError`: the spelling that needs it is not offered.
    """

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

    def where_atom(self) -> tuple[int, int]:
        """The smallest operand before the error: `3` in `2^3!`."""
        return self.atom(self.at), self.at

    def where_base(self) -> tuple[int, int]:
        """What the superscript before the error is directly an exponent of."""
        return self.atom(self.at - 1), self.at - 1

    def where_squared(self) -> tuple[int, int]:
        """The same with the superscript."""
        return self.atom(self.at - 1), self.at

    def where_term(self) -> tuple[int, int]:
        """The product before the error, with its sign: `-a*x` in `1 + -a*x % y`."""
        return self.term(self.at), self.at

    def where_under(self) -> tuple[int, int]:
        """The operand before the error, with its signs, if it is a divisor: `-x²` in `1/-x² y`."""
        start = at = self.operand(self.at)
        while at and self.tokens[at - 1].letter in "pm":
            at -= 1
        return (at, self.at) if at and self.tokens[at - 1].letter == "d" and start >= at else (0, 0)

    def where_over(self) -> tuple[int, int]:
        """What is divided by that, and the operator: `c*1/`."""
        return self.term(self.at), self.where_under()[0]

    def where_divided(self) -> tuple[int, int]:
        """All this, to the end of the operand that begins at the error."""
        return self.term(self.at), self.where_right()[1]

    def where_raised(self) -> tuple[int, int]:
        """The function and its exponent in parentheses before the error: `sin^(2)` in `sin^(2)(x)`."""
        start = self.partner[self.at - 1] - 2
        return (start, self.at) if self.letters[max(start, 0) : start + 2] == "fw" else (0, 0)

    def where_divisor(self) -> tuple[int, int]:
        """The operand after the error, with its signs; not one with a coefficient, which could be read in two ways."""
        end = self.after(self.at + 1, "signed")
        return (0, 0) if "c" in self.letters[self.at + 1 : end] else (self.at + 1, end)

    def where_root(self) -> tuple[int, int]:
        """The root before the error: `√x` in `2√x^2`."""
        start = self.operand(self.at)
        while self.tokens[start].letter == "c":
            start += 1
        return (start, self.at) if self.tokens[start].letter == "r" else (0, 0)

    def where_shape(self) -> tuple[int, int]:
        """All that the row's pattern matched."""
        return self.first, self.last

    def where_function(self) -> tuple[int, int]:
        """The first token of the shape, a name."""
        return self.first, self.first + 1

    def where_power(self) -> tuple[int, int]:
        """From the third token of the shape to the error: `-2` in `sin^-2 x`."""
        return self.first + 2, self.at

    def where_raising(self) -> tuple[int, int]:
        """From the second token of the shape to the error: `^-2`."""
        return self.first + 1, self.at

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
        return self._inverse(self["function"])

    def the_undone(self) -> str:
        """The inverse of the function that has its exponent in parentheses before the error."""
        return self._inverse(self["powered"])

    def the_powered(self) -> str:
        """That function."""
        return self.text[slice(*self.tokens[self.where_raised()[0]][2:])]

    def the_exponents(self) -> str:
        """And that exponent, in parentheses if it needs them."""
        exponent = self["raised"].partition("(")[2][:-1].strip()
        return exponent if re.fullmatch(r"[-−]?\w+", exponent) else f"({exponent})"

    def the_argument(self) -> str:
        """The operand that begins at the error, in parentheses."""
        return self["group"] if self.letters[self.at] == "o" else f"({self['right']})"

    def the_fence(self) -> str:
        """The parenthesis that a quotient needs in the place of a function with an exponent, if it needs one."""
        at = self.where_raised()[0] if self.letters[self.first] == "z" else self.first
        return "(" if at and self.letters[at - 1] in "dw" else ""

    def the_unfence(self) -> str:
        """The other one."""
        return ")" if self["fence"] else ""

    def _inverse(self, function: str) -> str:
        name = INVERSES.get(function, f"a{function}")
        if name not in FUNCTIONS:
            raise KeyError(name)
        return name

    def the_lead(self) -> str:
        """What the smallest operand before the error is an exponent, factor or root of, if anything: `2^` in `2^3!`."""
        atom = self.atom(self.at - (self.letters[self.at - 1] == "s"))
        return self.text[self.tokens[self.operand(self.at)].start : self.tokens[atom].start]

    def the_roots(self) -> str:
        """The signs of the root before the error: `√√` in `2√√x^2`."""
        return re.match("√*", self["root"])[0]  # type: ignore[index]

    def the_radicand(self) -> str:
        """What those are taken of: `x`."""
        return self["root"][len(self["roots"]) :].strip()

    def the_nested(self) -> str:
        """The functions around the error, each as the argument of the one before: `sin(cos(x))` for `sin cos x`."""
        first = at = self.at - 1
        while self.letters[at] == "f" and self.letters[at + 1] != "o":
            at += 1
        names = [self.text[token.start : token.end] for token in self.tokens[first:at]]
        end = self.after(at, "coefficient")
        operand = self.text[self.tokens[at].start : self.tokens[end - 1].end]
        return "".join(f"{name}(" for name in names) + operand + ")" * len(names)

    def the_difference(self) -> str:
        """The statement that has an `=` at the error, as the difference of its sides."""
        return " - ".join(side if re.fullmatch(r"\w+", side) else f"({side})" for side in self._sides())

    def the_choice(self) -> str:
        """The statement that has an `=` at the error, as a choice."""
        return "1 if {} == {} else 0".format(*self._sides())

    def the_level(self) -> str:
        """Nothing of interest, if no parenthesis is open at the error."""
        if self.open:
            raise KeyError("level")
        return "open"

    def _sides(self) -> tuple[str, str]:
        first, _ = self.where_statement()
        if self.open or not {"q", "u", "i", "e", "y"}.isdisjoint(self.letters[first : self.at]):
            raise KeyError("sides")
        start, end = self.place("statement")
        return self.text[start : self.point].strip(), self.text[self.point + 1 : end].strip()

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
