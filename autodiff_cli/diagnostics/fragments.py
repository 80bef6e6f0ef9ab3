"""The pieces of the text around an error, by the names under which messages and spellings use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from ..table.primitive import FUNCTIONS
from .context import Context
from .vocabulary import native


class Pieces(dict[str, str]):
    """The pieces by name; each is worked out when it is asked for.

    A piece that is not there (no operand, no such function) is a `KeyError`: the spelling that needs it is not offered.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context

    def __missing__(self, name: str) -> str:
        if name in TEXTS:
            piece = TEXTS[name](self)
        else:
            start, end = span(self.context, name)
            piece = re.sub(r"[\r\n]+", " ", self.context.text[start:end])
        self[name] = piece
        return piece


def span(c: Context, name: str) -> tuple[int, int]:
    """Where a piece begins and ends in the text."""
    if name in SPANS:
        return SPANS[name](c)
    start, end = RANGES[name](c)
    if not 0 <= start < end:
        raise KeyError(name)
    return c.tokens[start].start, c.tokens[end - 1].end


def _right(c: Context) -> tuple[int, int]:
    """The operand that begins at the error: `2y**2` in `x 2y**2`."""
    if c.tokens[c.at].letter in "bB":
        return c.at, c.letters.index("B", c.at + 1) + 1
    return c.at, c.after(c.at, "coefficient")


def _tail(c: Context) -> tuple[int, int]:
    """The power that begins with the operator at the error: `^2` in `√x^2`."""
    end = c.at + 1
    if c.tokens[c.at].letter == "s":
        return c.at, end
    while c.tokens[end].letter in "pm":
        end += 1
    return c.at, c.after(end, "power")


def _under(c: Context) -> tuple[int, int]:
    """The operand before the error, with its signs, if it is a divisor: `-x²` in `1/-x² y`."""
    start = at = c.operand(c.at)
    while at and c.tokens[at - 1].letter in "pm":
        at -= 1
    return (at, c.at) if at and c.tokens[at - 1].letter == "d" and start >= at else (0, 0)


def _raised(c: Context) -> tuple[int, int]:
    """The function and its exponent in parentheses before the error: `sin^(2)` in `sin^(2)(x)`."""
    start = c.partner[c.at - 1] - 2
    return (start, c.at) if c.letters[max(start, 0) : start + 2] == "fw" else (0, 0)


def _divisor(c: Context) -> tuple[int, int]:
    """The operand after the error, with its signs; not one with a coefficient, which could be read in two ways."""
    end = c.after(c.at + 1, "signed")
    return (0, 0) if "c" in c.letters[c.at + 1 : end] else (c.at + 1, end)


def _root(c: Context) -> tuple[int, int]:
    """The root before the error: `√x` in `2√x^2`."""
    start = c.operand(c.at)
    while c.tokens[start].letter == "c":
        start += 1
    return (start, c.at) if c.tokens[start].letter == "r" else (0, 0)


def _group(c: Context) -> tuple[int, int]:
    """The next parentheses with what is in them."""
    start = c.letters.index("o", c.at)
    return start, c.partner[start] + 1


def _opening(c: Context) -> tuple[int, int]:
    """The innermost parenthesis or bar that is open."""
    return c.open[-1], c.open[-1] + 1


def _closed(c: Context) -> tuple[int, int]:
    """The parenthesis that was closed last."""
    start = c.partner[c.letters.rindex("z", 0, c.at)]
    return start, start + 1


def _called(c: Context) -> tuple[int, int]:
    """The name before the innermost parenthesis."""
    name = c.open[-1] - 1
    return (name, name + 1) if c.letters[name + 1] == "o" and c.letters[name] in "nf" else (0, 0)


def _statement(c: Context) -> tuple[int, int]:
    """The statement that the error is in."""
    start = max(c.letters.rfind(stop, 0, c.at) for stop in "xl") + 1
    ends = (c.letters.find(stop, c.at) for stop in "xlj")
    return start, min(end for end in ends if end >= 0)


def _character(p: Pieces) -> str:
    """The character at which the error stands."""
    c = p.context
    character = c.text[c.point]
    return character if character.isprintable() else p["code"]


def _exponents(p: Pieces) -> str:
    """And that exponent, in parentheses if it needs them."""
    exponent = p["raised"].partition("(")[2][:-1].strip()
    return exponent if re.fullmatch(r"[-−]?\w+", exponent) else f"({exponent})"


def _fence(p: Pieces) -> str:
    """The parenthesis that a quotient needs in the place of a function with an exponent, if it needs one."""
    c = p.context
    at = _raised(c)[0] if c.letters[c.first] == "z" else c.first
    return "(" if at and c.letters[at - 1] in "dw" else ""


def _signs(p: Pieces) -> str:
    """The signs directly before the error, possibly none."""
    c = p.context
    return "".join(c.text[sign.start : sign.end] for sign in c.tokens[c.signs() : c.at])


def _inverse(p: Pieces, function: str) -> str:
    row = FUNCTIONS.get(function)
    name = row.inverse if row and row.inverse else f"a{function}"
    if name not in FUNCTIONS:
        raise KeyError(name)
    return name


def _lead(p: Pieces) -> str:
    """What the smallest operand before the error is an exponent, factor or root of, if anything: `2^` in `2^3!`."""
    c = p.context
    atom = c.atom(c.at - (c.letters[c.at - 1] == "s"))
    return c.text[c.tokens[c.operand(c.at)].start : c.tokens[atom].start]


def _nested(p: Pieces) -> str:
    """The functions around the error, each as the argument of the one before: `sin(cos(x))` for `sin cos x`."""
    c = p.context
    first = at = c.at - 1
    while c.letters[at] == "f" and c.letters[at + 1] != "o":
        at += 1
    names = [c.text[token.start : token.end] for token in c.tokens[first:at]]
    end = c.after(at, "coefficient")
    operand = c.text[c.tokens[at].start : c.tokens[end - 1].end]
    return "".join(f"{name}(" for name in names) + operand + ")" * len(names)


def _level(p: Pieces) -> str:
    """Nothing of interest, if no parenthesis is open at the error."""
    if p.context.open:
        raise KeyError("level")
    return "open"


def _sides(p: Pieces) -> tuple[str, str]:
    c = p.context
    first, _ = _statement(c)
    if c.open or not {"q", "u", "i", "e", "y"}.isdisjoint(c.letters[first : c.at]):
        raise KeyError("sides")
    start, end = span(c, "statement")
    return c.text[start : c.point].strip(), c.text[c.point + 1 : end].strip()


def _completed(p: Pieces) -> str:
    """The statement, with what is open at its end closed."""
    c = p.context
    closing = {"o": ")", "b": "|"}
    return p["statement"] + "".join(closing[c.tokens[at].letter] for at in reversed(c.open))


def _instead(p: Pieces, sign: str, length: int) -> str:
    c = p.context
    start, end = span(c, "statement")
    return c.text[start : c.point].rstrip(" " * (sign == "; ")) + sign + c.text[c.point + length : end]


def _rooted(c: Context) -> tuple[int, int]:
    """The smallest operand after the token that does not fit: `x` in `∛x²`."""
    start = c.at + 1
    return start, c.partner[start] + 1 if c.letters[start] == "o" else c.after(start, "atom")


def _applied(c: Context) -> tuple[int, int]:
    """What the function before the error is applied to: the parentheses there, or the operand."""
    return _group(c) if c.letters[c.at] == "o" else _right(c)


def _nest(c: Context) -> tuple[int, int]:
    """The functions around the error with what the last of them is applied to: `sin cos x`."""
    at = c.at - 1
    while c.letters[at] == "f" and c.letters[at + 1] != "o":
        at += 1
    return c.at - 1, c.after(at, "coefficient")


def _exponent(c: Context) -> int:
    """The number of the sign of the power whose exponent, a name or a number, stands before the error.

    `x^2 y` has no such: nobody takes the `y` for a part of the exponent there, as they might in `e^k y` and `2^2 y`.
    """
    sign = c.at - 1
    while c.letters[sign - 1] in "pm":
        sign -= 1
    plain = c.letters[c.at - 1] == "1" and sign == c.at - 1
    base = c.tokens[sign - 2]
    if plain and (base.letter in "zB" or (base.letter == "n" and c.text[base.end - 1 : base.end] != "e")):
        raise KeyError("exponent")
    return sign - 1


def _inner(c: Context) -> tuple[int, int]:
    """The operand that begins at the error without its power: `2x` in `sin 2x^2`."""
    end = c.at + (c.letters[c.at] == "c") + 1
    return (c.at, end) if c.letters[end - 1] in "nf1" and c.letters[end] in "ws" else (0, 0)


def _second(c: Context) -> tuple[int, int]:
    """The operand after the one that begins at the error, and after the sign between them: `y` in `sin x/y`."""
    start = _right(c)[1]
    start += c.letters[start] in "td"
    return start, c.after(start, "coefficient")


RANGES: dict[str, Callable[[Context], tuple[int, int]]] = {
    # The token that does not fit.
    "token": lambda c: (c.at, c.at + 1),
    # The token before it.
    "before": lambda c: (c.at - 1, c.at),
    # The token after it.
    "next": lambda c: (c.at + 1, c.at + 2),
    # The operand before the error: `x**2` in `x**2 y`.
    "left": lambda c: (c.operand(c.at), c.at),
    "right": _right,
    "applied": _applied,
    "nest": _nest,
    "inner": _inner,
    # Its power: `^2`.
    "raise": lambda c: (_inner(c)[1], _right(c)[1]),
    "second": _second,
    # The power before the error: `e^k` in `e^k x`; its base with the sign, and its exponent.
    "exponential": lambda c: (c.atom(_exponent(c)), c.at),
    "raising_base": lambda c: (c.atom(_exponent(c)), _exponent(c) + 1),
    "exponent_alone": lambda c: (_exponent(c) + 1, c.at),
    # The sign before that: `/`.
    "between": lambda c: (_right(c)[1], _right(c)[1] + (c.letters[_right(c)[1]] in "td")),
    # The operand after the token that does not fit, with its coefficient.
    "operated": lambda c: (c.at + 1, c.after(c.at + 1, "coefficient")),
    # The smallest operand after it, the power that it has, and both: `x`, `²` and `x²` in `∛x²`.
    "rooted": _rooted,
    "after_root": lambda c: (_rooted(c)[1], c.after(c.at + 1, "power")),
    "rooted_power": lambda c: (c.at + 1, c.after(c.at + 1, "power")),
    # The operand after the next two tokens: `y` in `x %% y`.
    "rest_far": lambda c: (c.at + 2, c.after(c.at + 2, "power")),
    # The operand that begins with a sign at the error.
    "signed": lambda c: (c.at, c.after(c.at, "signed")),
    # The operand after the token that does not fit: `x**2` in `1/2x**2`.
    "rest": lambda c: (c.at + 1, c.after(c.at + 1, "power")),
    # The three tokens before the error.
    "operator": lambda c: (c.at - 3, c.at),
    "tail": _tail,
    # The smallest operand before the error: `3` in `2^3!`.
    "atom": lambda c: (c.atom(c.at), c.at),
    # What the superscript before the error is directly an exponent of.
    "base": lambda c: (c.atom(c.at - 1), c.at - 1),
    # The same with the superscript.
    "squared": lambda c: (c.atom(c.at - 1), c.at),
    # The product before the error, with its sign: `-a*x` in `1 + -a*x % y`.
    "term": lambda c: (c.term(c.at), c.at),
    "under": _under,
    # What is divided by that, and the operator: `c*1/`.
    "over": lambda c: (c.term(c.at), _under(c)[0]),
    # All this, to the end of the operand that begins at the error.
    "divided": lambda c: (c.term(c.at), _right(c)[1]),
    "raised": _raised,
    "divisor": _divisor,
    "root": _root,
    # All that the mistake's pattern matched.
    "shape": lambda c: (c.first, c.last),
    # The first token of the shape, a name.
    "function": lambda c: (c.first, c.first + 1),
    # From the third token of the shape to the error: `-2` in `sin^-2 x`.
    "power": lambda c: (c.first + 2, c.at),
    # From the second token of the shape to the error: `^-2`.
    "raising": lambda c: (c.first + 1, c.at),
    "group": _group,
    "opening": _opening,
    "closed": _closed,
    # The same, if nothing closes it later either.
    "unclosed": lambda c: (0, 0) if c.open[-1] in c.partner else _opening(c),
    "called": _called,
    "statement": _statement,
}
"""Pieces by the numbers of their first token and of the one after the last."""

SPANS: dict[str, Callable[[Context], tuple[int, int]]] = {
    # The left operand of the operator before the error, and the operator: `a*b/` in `c + a*b/2x`.
    "upto": lambda c: (c.understood(), c.tokens[c.signs() - 1].end),
    # What is divided by the divisor before the error, without the operator.
    "quotient": lambda c: (c.understood(), c.tokens[c.at - 2].end),
    # What is between the token that does not fit and the one before.
    "gap": lambda c: (c.tokens[c.at - 1].end, c.tokens[c.at].start),
}
"""Pieces by where they begin and end in the text."""

TEXTS: dict[str, Callable[[Pieces], str]] = {
    "character": _character,
    # Its number in Unicode.
    "code": lambda p: f"U+{ord(p.context.text[p.context.point]):04X}",
    "signs": _signs,
    # The inverse of the function at the beginning of the shape.
    "inverse": lambda p: _inverse(p, p["function"]),
    # The inverse of the function that has its exponent in parentheses before the error.
    "undone": lambda p: _inverse(p, p["powered"]),
    # That function.
    "powered": lambda p: p.context.text[slice(*p.context.tokens[_raised(p.context)[0]][2:])],
    "exponents": _exponents,
    # The operand that begins at the error, in parentheses.
    "argument": lambda p: p["group"] if p.context.letters[p.context.at] == "o" else f"({p['right']})",
    "fence": _fence,
    # The other one.
    "unfence": lambda p: ")" if p["fence"] else "",
    "lead": _lead,
    # The smallest operand after the token that does not fit, without parentheses around it.
    "radix": lambda p: p["rooted"][1:-1] if p.context.letters[p.context.at + 1] == "o" else p["rooted"],
    # The vulgar fraction at the error.
    "fraction": lambda p: normalize("NFKC", p["sign"]).replace("⁄", "/"),
    # What the name before the error, a function elsewhere, is called here.
    "native": lambda p: native(p["before"], p.context.given),
    # The function that the name before the error is in small letters.
    "folded": lambda p: FUNCTIONS[p["before"].lower()].name,
    "after_operand": lambda p: {"n": "a name", "z": "a parenthesis"}[p.context.letters[p.context.at - 1]],
    # The signs of the root before the error: `√√` in `2√√x^2`.
    "roots": lambda p: p["root"][: len(p["root"]) - len(p["root"].lstrip("√"))],
    # What those are taken of: `x`.
    "radicand": lambda p: p["root"][len(p["roots"]) :].strip(),
    "nested": _nested,
    # The statement that has an `=` at the error, as the difference of its sides.
    "difference": lambda p: " - ".join(side if re.fullmatch(r"\w+", side) else f"({side})" for side in _sides(p)),
    "level": _level,
    # The hexadecimal, octal or binary number around the error.
    "decimal": lambda p: str(int(p["before"] + p["token"], 0)),
    # The part before the exponent of the number before the error.
    "mantissa": lambda p: re.split("[eE]", p["before"])[0],
    # The exponent of that number, with its letter.
    "exponent": lambda p: p["before"][len(p["mantissa"]) :],
    # The statement with `==` for the `=` at the error.
    "compared": lambda p: _instead(p, "==", 1),
    "completed": _completed,
    # The statement with a semicolon before the error.
    "split": lambda p: _instead(p, "; ", 0),
    # The statement with a semicolon for the comma at the error.
    "separated": lambda p: _instead(p, ";", 1),
}
"""What is made out of pieces, or is none."""
