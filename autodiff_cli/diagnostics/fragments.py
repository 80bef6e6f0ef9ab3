"""Named fragments of the text around an error, for messages and suggestions."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from ..table.primitive import FUNCTIONS
from .context import BARS, CLOSING, FACTOR_SIGNS, NAMES, POWERS, SEPARATORS, SIGNS, STOPS, Context, Kind
from .suggestions import own_name


class Fragments(Context):
    """A context with named fragments of its text, computed on demand; one that is missing is a `KeyError`."""

    known: dict[str, str]

    def __getitem__(self, name: str) -> str:
        if name not in self.known:
            if name in TEXTS:
                self.known[name] = TEXTS[name](self)
            else:
                start, end = span(self, name)
                self.known[name] = re.sub(r"[\r\n]+", " ", self.text[start:end])
        return self.known[name]


def span(c: Context, name: str) -> tuple[int, int]:
    """Return the span of a fragment in the text."""
    start, end = RANGES[name](c)
    if not 0 <= start < end:
        raise KeyError(name)
    if name == "gap":
        return c.tokens[start].end, c.tokens[end - 1].start
    return c.tokens[start].start, c.tokens[end - 1].end


def _right(c: Context) -> tuple[int, int]:
    if c.kinds[c.at] in BARS:
        return c.at, c.kinds.index(Kind.CLOSING_BAR, c.at + 1) + 1
    return c.at, c.after(c.at, "coefficient")


def _tail(c: Context) -> tuple[int, int]:
    """Return the power with its operator at the error: `^2` in `√x^2`."""
    end = c.at + 1
    if c.kinds[c.at] == Kind.SUPERSCRIPT:
        return c.at, end
    while c.kinds[end] in SIGNS:
        end += 1
    return c.at, c.after(end, "power")


def _under(c: Context) -> tuple[int, int]:
    """Return the operand before the error with its signs, if a divisor: `-x²` in `1/-x² y`."""
    at = c.signs(c.operand(c.at))
    return (at, c.at) if at and c.kinds[at - 1] == Kind.DIVIDE else (0, 0)


def _raised(c: Context) -> tuple[int, int]:
    """Return the function and exponent before the error: `sin^(2)` in `sin^(2)(x)`."""
    start = c.partner[c.at - 1] - 2
    return (start, c.at) if c.kinds[max(start, 0) : start + 2] == Kind.FUNCTION + Kind.POWER else (0, 0)


def _divisor(c: Context) -> tuple[int, int]:
    """Return the operand after the error with its signs, if it has no coefficient."""
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
    return (name, name + 1) if c.kinds[name + 1] == Kind.OPEN and c.kinds[name] in NAMES else (0, 0)


def _statement(c: Context) -> tuple[int, int]:
    start = max(c.kinds.rfind(stop, 0, c.at) for stop in SEPARATORS) + 1
    ends = (c.kinds.find(stop, c.at) for stop in STOPS)
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


def _lead(c: Fragments) -> str:
    atom = c.atom(c.at - (c.kinds[c.at - 1] == Kind.SUPERSCRIPT))
    return c.text[c.tokens[c.operand(c.at)].start : c.tokens[atom].start]


def _nested(c: Fragments) -> str:
    """Return the functions at the error nested: `sin(cos(x))` for `sin cos x`."""
    at = _last_of_nest(c)
    names = [c.written(number) for number in range(c.at - 1, at)]
    return "".join(f"{name}(" for name in names) + c.written(at, c.after(at, "coefficient")) + ")" * len(names)


def _sides(c: Context) -> tuple[str, str]:
    first, _ = _statement(c)
    if c.open or not {Kind.EQUALS, Kind.AUGMENT, Kind.IF, Kind.ELSE, Kind.COMMA}.isdisjoint(c.kinds[first : c.at]):
        raise KeyError("sides")
    start, end = span(c, "statement")
    return c.text[start : c.point].strip(), c.text[c.point + 1 : end].strip()


_CLOSED_BY: dict[str, str] = {Kind.OPEN: ")", Kind.LEFT: "]", Kind.BAR: "|"}


def _instead(c: Context, sign: str, length: int) -> str:
    start, end = span(c, "statement")
    return c.text[start : c.point].rstrip(" " * (sign == "; ")) + sign + c.text[c.point + length : end]


def _rooted(c: Context) -> tuple[int, int]:
    """Return the smallest operand after the unexpected token: `x` in `∛x²`."""
    start = c.at + 1
    return start, c.partner[start] + 1 if c.kinds[start] == Kind.OPEN else c.after(start, "atom")


def _last_of_nest(c: Context) -> int:
    at = c.at - 1
    while c.kinds[at] == Kind.FUNCTION and c.kinds[at + 1] != Kind.OPEN:
        at += 1
    return at


def _exponent(c: Context) -> int:
    """Return the sign of the power whose exponent, a name or a number, precedes the error.

    Not in `x^2 y`, where `y` cannot be part of the exponent, unlike in `e^k y` and `2^2 y`.
    """
    sign = c.signs(c.at - 1)
    plain = c.kinds[c.at - 1] == Kind.NUMBER and sign == c.at - 1
    base = c.tokens[sign - 2]
    if plain and (base.kind in CLOSING or (base.kind == Kind.NAME and c.text[base.end - 1 : base.end] != "e")):
        raise KeyError("exponent")
    return sign - 1


def _inner(c: Context) -> tuple[int, int]:
    """Return the operand at the error without its power: `2x` in `sin 2x^2`."""
    end = c.at + (c.kinds[c.at] == Kind.COEFFICIENT) + 1
    return (c.at, end) if c.kinds[end - 1] in NAMES + Kind.NUMBER and c.kinds[end] in POWERS else (0, 0)


RANGES: dict[str, Callable[[Context], tuple[int, int]]] = {
    "token": lambda c: (c.at, c.at + 1),
    "before": lambda c: (c.at - 1, c.at),
    "next": lambda c: (c.at + 1, c.at + 2),
    # Everything between the token and the one before.
    "gap": lambda c: (c.at - 1, c.at + 1),
    # The operand before the error: `x**2` in `x**2 y`.
    "left": lambda c: (c.operand(c.at), c.at),
    "right": _right,
    # The argument of the function before the error.
    "applied": lambda c: (RANGES["group"] if c.kinds[c.at] == Kind.OPEN else _right)(c),
    # The functions around the error, and their operand: `sin cos x`.
    "nest": lambda c: (c.at - 1, c.after(_last_of_nest(c), "coefficient")),
    "inner": _inner,
    # Its power: `^2`.
    "raise": lambda c: (_inner(c)[1], _right(c)[1]),
    # The sign after the operand at the error, and the operand after it: `/` and `y` in `sin x/y`.
    "between": lambda c: (_right(c)[1], _right(c)[1] + (c.kinds[_right(c)[1]] in FACTOR_SIGNS)),
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
    # The operand that begins with a sign at the error.
    "signed": lambda c: (c.at, c.after(c.at, "signed")),
    # The three tokens before the error.
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
    # The dividend of that with the operator, `c*1/`, and the fraction to the end of the operand at the error.
    "over": lambda c: (c.term(c.at), _under(c)[0]),
    "divided": lambda c: (c.term(c.at), _right(c)[1]),
    # The left operand with the operator before the error: `a*b/` in `c + a*b/2x`.
    "upto": lambda c: (c.understood, c.signs()),
    # The dividend of the divisor before the error, without the operator.
    "quotient": lambda c: (c.understood, c.at - 1),
    "raised": _raised,
    "divisor": _divisor,
    "root": _root,
    # The tokens that the pattern matched; their first one, a name; the rest with and without its sign: `^-2` and `-2`
    # in `sin^-2 x`.
    "shape": lambda c: (c.first, c.last),
    "function": lambda c: (c.first, c.first + 1),
    "raising": lambda c: (c.first + 1, c.at),
    "power": lambda c: (c.first + 2, c.at),
    # The next parentheses with their content.
    "group": lambda c: (start := c.kinds.index(Kind.OPEN, c.at), c.partner[start] + 1),
    # The innermost open parenthesis or bar, and the same if it is never closed.
    "opening": lambda c: (c.open[-1], c.open[-1] + 1),
    "unclosed": lambda c: (0, 0) if c.open[-1] in c.partner else (c.open[-1], c.open[-1] + 1),
    "closed": lambda c: (start := c.partner[c.kinds.rindex(Kind.CLOSE, 0, c.at)], start + 1),
    "called": _called,
    "statement": _statement,
}
"""Fragments as ranges of token numbers."""

TEXTS: dict[str, Callable[[Fragments], str]] = {
    "character": lambda c: c.text[c.point] if c.text[c.point].isprintable() else c["code"],
    "code": lambda c: f"U+{ord(c.text[c.point]):04X}",
    # The signs before the error, if any.
    "signs": lambda c: "".join(c.written(sign) for sign in range(c.signs(), c.at)),
    # The inverse of the function that begins the shape.
    "inverse": lambda c: _inverse(c["function"]),
    # The function with an exponent in parentheses before the error, and its inverse.
    "powered": lambda c: c.written(_raised(c)[0]),
    "undone": lambda c: _inverse(c["powered"]),
    "exponents": _exponents,
    # The operand at the error, in parentheses.
    "argument": lambda c: c["group"] if c.kinds[c.at] == Kind.OPEN else f"({c['right']})",
    "fence": _fence,
    "unfence": lambda c: ")" if c["fence"] else "",
    # The operators before the smallest operand before the error: `2^` in `2^3!`.
    "lead": _lead,
    # The smallest operand after the unexpected token, without parentheses.
    "radix": lambda c: c["rooted"][1:-1] if c.kinds[c.at + 1] == Kind.OPEN else c["rooted"],
    # The vulgar fraction at the error.
    "fraction": lambda c: normalize("NFKC", c["sign"]).replace("⁄", "/"),
    # The name here of the function before the error; the function in lower case.
    "native": lambda c: own_name(c["before"], c.valued),
    "folded": lambda c: FUNCTIONS[c["before"].lower()].name,
    # Nothing after a function.
    "after_operand": lambda c: "" if c.kinds[c.at - 1] == Kind.FUNCTION else c["before"],
    # The signs and the radicand of the root before the error: `√√` and `x` in `2√√x^2`.
    "roots": lambda c: c["root"][: len(c["root"]) - len(c["root"].lstrip("√"))],
    "radicand": lambda c: c["root"][len(c["roots"]) :].strip(),
    "nested": _nested,
    # Missing if a parenthesis is open at the error.
    "level": lambda c: {0: "open"}[len(c.open)],
    # The hexadecimal, octal or binary number around the error.
    "decimal": lambda c: str(int(c["before"] + c["token"], 0)),
    # The number before the error without its exponent, and that with its letter.
    "mantissa": lambda c: re.split("[eE]", c["before"])[0],
    "exponent": lambda c: c["before"][len(c["mantissa"]) :],
    # The statement: as the difference of its sides; with `==` for `=`; with closed brackets; with a semicolon before
    # the error; with one instead of the comma.
    "difference": lambda c: " - ".join(side if re.fullmatch(r"\w+", side) else f"({side})" for side in _sides(c)),
    "compared": lambda c: _instead(c, "==", 1),
    "completed": lambda c: c["statement"] + "".join(_CLOSED_BY[c.kinds[k]] for k in reversed(c.open)),
    "split": lambda c: _instead(c, "; ", 0),
    "separated": lambda c: _instead(c, ";", 1),
}
"""Fragments that are computed, or may be missing."""
