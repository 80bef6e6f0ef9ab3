"""What a line typed by hand asks: its statements, and limits, integrals, conversions and questions in words.

They are read as arguments of the commands that answer them; a text that is none of these is a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import ExpressionError
from ..language.diagnostics.leniency import read_leniently
from ..language.equation_trees import split_equations
from ..language.tokens import (
    AUGMENT,
    CLOSE,
    COMMA,
    EQUALS,
    NAME,
    OPEN,
    LazyPattern,
    plain_number,
    scan,
    split_statements,
)
from .problem import parse

MAX_LENGTH = 500
"""The most characters of a question by hand: each blank may begin its end, so the search is quadratic."""
IN_UNIT = LazyPattern(r"(.*\S)\s+(?:in|to|->|→)\s+([^\W\d_][^=<>]*|°[CF])", re.DOTALL)
"""An expression and the requested unit."""


class TypedStatement(NamedTuple):
    """A `define`, `bind`, `augment` or `expression`, with its places."""

    kind: str
    start: int
    end: int
    body: int
    name: str = ""
    parameters: tuple[str, ...] | None = None


def statements_of(line: str) -> Iterator[TypedStatement]:
    """Yield the statements of a line; other text is an expression."""
    for tokens in split_statements(line):
        kinds = [kind for kind, _, _ in tokens]
        first, last = tokens[0][1], tokens[-1][2]
        name, close = line[slice(*tokens[0][1:])], kinds.index(CLOSE) if CLOSE in kinds else 0
        is_head = (
            kinds[:2] == [NAME, OPEN]
            and close % 2
            and set(kinds[2:close:2]) == {NAME}
            and set(kinds[3:close:2]) <= {COMMA}
        )
        if kinds[0] == NAME and len(kinds) > 2 and kinds[1] in (EQUALS, AUGMENT):
            yield TypedStatement("bind" if kinds[1] == EQUALS else "augment", first, last, tokens[2][1], name)
        elif is_head and kinds[close + 1 : close + 2] == [EQUALS] and len(kinds) > close + 2:
            head = tuple([line[start:end] for _, start, end in tokens[2:close:2]])
            yield TypedStatement("define", first, last, tokens[close + 2][1], name, head)
        else:
            yield TypedStatement("expression", first, last, first)


def are_equations(line: str, part: TypedStatement) -> bool:
    """Return whether a statement is equations between commas, `x + y = 3, x - y = 1`."""
    try:
        split_equations(line[part.start : part.end])
    except ExpressionError as error:
        return bool(error.offers)
    return False


def is_equation(line: str, part: TypedStatement) -> bool:
    """Return whether a statement has one `=` between two sides, and is no binding or definition."""
    text = line[part.start : part.end]
    signs = [(start, end) for kind, start, end in scan(text) if kind == EQUALS]
    if part.kind != "expression" or len(signs) != 1:
        return False
    ((start, end),) = signs
    return bool(text[:start].strip() and text[end:].strip())


_LIMIT = LazyPattern(
    r"\s*(?:\\?lim|limit)(?:_?\s*\{([^{}]+)\}|_?\s*\(([^()]+)\)|_?\s*([^\W\d]\w*\s*(?:->|→)\s*[^\s(){}]+)\s)(.+)",
    re.DOTALL,
)
_LIMIT_AS = LazyPattern(
    r"\s*lim(?:it)?\s+(?:of\s+)?(.+?),?\s+(?:as|when|for)\s+([^\W\d]\w*)"
    r"\s*(?:->|→|\s(?:approaches|tends to|goes to)\s)\s*([^\s(){}]+)\s*",
    re.DOTALL,
)
"""A limit in words: `limit of sin(x)/x as x approaches 0`."""
_PLACE = LazyPattern(r"\s*([^\W\d]\w*)\s*(?:->|→|\\to\b)\s*(.+?)\s*")
_ONE_SIDE = LazyPattern(r"\^\{?([-+])\}?$")
"""The sign of a side, as in `0^+`."""
_INFINITY = LazyPattern(r"∞|\\infty\b|\boo\b|\binfinity\b")


def limit_arguments(text: str) -> list[str] | None:
    """Return the arguments of `limit` for a limit as written by hand; None for another text.

    >>> limit_arguments("lim x->0 sin(x)/x"), limit_arguments(r"\\lim_{x \\to 0^+} ln x")
    (['sin(x)/x', '--at', 'x=0'], ['ln x', '--at', 'x=0+'])
    """
    if len(text) > MAX_LENGTH:
        return None
    if in_words := _LIMIT_AS.fullmatch(text):
        formula, name, to = in_words.groups()
        return [formula, "--at", f"{name}={_INFINITY.sub('inf', to)}"]
    match = _LIMIT.fullmatch(text)
    place = _PLACE.fullmatch(match[1] or match[2] or match[3]) if match else None
    if match is None or place is None:
        return None
    to = _ONE_SIDE.sub(r"\1", _INFINITY.sub("inf", place[2]))
    return [match[4].strip(), "--at", f"{place[1]}={to}"]


_END = r"(?:\{([^{}]*)\}|([^\s{}]+?))"
_INTEGRAL = LazyPattern(
    rf"\s*(?:∫|\\int(?![a-zA-Z]))(?:\\limits)?\s*(?:_{_END}\s*\^{_END}(?:\s+|(?<=\}})))?"
    r"(.+?)(?:\\[,;!: ]|[\s*·])*d([^\W\d_]\w*)(?:\s+from\s+(.+?)\s+to\s+(.+?))?\s*",
    re.DOTALL,
)
"""`∫x² dx`, `∫_0^1 x² dx`, `∫ x² dx from 0 to 1`, `\\int_{0}^{1} x^2 \\, dx`."""
_SMALL = LazyPattern(r"(∫)\s*([₀-₉₋]+)\s*([⁰¹²³⁴-⁹⁻]+)")
_SMALL_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-0123456789-")
_INTEGRATE = LazyPattern(
    r"\s*(?:integrate|integral(?:\s+of)?)\s+(.+?)(?:\s+d([^\W\d_]\w*))?(?:\s+from\s+(.+?)\s+to\s+(.+?))?\s*", re.DOTALL
)


def integral_arguments(text: str) -> list[str] | None:
    """Return the arguments of `integrate` for an integral as written by hand; None for another text.

    >>> integral_arguments("∫x² dx"), integral_arguments(r"\\int_{0}^{\\pi} sin x \\, dx")
    (['x²', '--over', 'x'], ['sin x', '--between', 'x=0:pi'])
    >>> integral_arguments("integrate x^2 from 0 to 1")
    ['x^2', '--between', '0:1']
    """
    if len(text) > MAX_LENGTH:
        return None
    text = _SMALL.sub(lambda small: f"∫_{{{small[2]}}}^{{{small[3]}}}".translate(_SMALL_DIGITS), text)
    match = _INTEGRAL.fullmatch(text)
    if match is not None:
        low, high = match[1] or match[2], match[3] or match[4]
        formula, name, first, last = match.groups()[4:]
        if first is not None and low is not None:
            return None  # ends in both places
        low, high = (low, high) if first is None else (first, last)
    else:
        match = _INTEGRATE.fullmatch(text)
        if match is None:
            return None
        formula, name, low, high = match.groups()
    if formula.startswith("_"):
        return None
    if low is None:
        return [formula.strip(), *(["--over", name] if name else [])]
    ends = ":".join(_INFINITY.sub("inf", end).replace("\\pi", "pi").strip() for end in (low, high))
    return [formula.strip(), "--between", f"{name}={ends}" if name else ends]


_PLAIN = LazyPattern(r"(?![d∂][^/]*/[d∂])[\w.+*/^()²³-]+")
"""A formula in one piece: no equation, program, list or derivative, and no unit behind a space."""
_GLUED = LazyPattern(r"\d[^\W\d_²³]{2}")
"""A number with a word behind it, which may be a unit: `40mm`."""


def is_in_one_piece(text: str) -> bool:
    """Return whether a text may be a formula that needs no other reading."""
    return _PLAIN.fullmatch(text) is not None and _GLUED.search(text) is None


_CONVERSION = LazyPattern(r"(.+)\s(?:in|to|->|→)\s+(\S.*)", re.DOTALL)


def quantity_and_unit(words: Sequence[str]) -> tuple[str, str]:
    """Return the parts of `QUANTITY in UNIT` or `QUANTITY UNIT`, as words."""
    match = _CONVERSION.fullmatch(" ".join(words))
    return (match[1], match[2]) if match else (" ".join(words[:-1]), words[-1] if words else "")


def arguments_by_hand(text: str) -> list[str] | None:
    """Return a command with its arguments for a limit or an integral as written by hand; None for another text."""
    for command, read in (("limit", limit_arguments), ("integrate", integral_arguments)):
        arguments = read(text)
        if arguments is not None:
            return [command, *arguments]
    return None


def has_variables(text: str) -> bool:
    """Return whether a program has variables; also if it cannot be read."""
    try:
        program, _ = read_leniently(text, lambda read: parse(read, units=True))
    except ExpressionError:
        return True
    return bool(program.leaves)


_SPELLED = LazyPattern(r"(?:(?<=\d )|(?<=\sin )|(?<=\sto )|(?<=-> )|(?<=→ ))[A-Za-z]{3,}\b")
"""A word behind a number, or behind `in` or `to`, that may be the name of a unit."""
_FRACTION = LazyPattern(r"(\d+)\s?/\s?(\d+)\s+([^\W\d_][^=<>()]*)")


def in_symbols(text: str) -> str:
    """Return a conversion with the symbols of units whose names are written out; another text as it is.

    >>> in_symbols("5 feet in meters"), in_symbols("3/8 in in mm"), in_symbols("x in range")
    ('5 ft in m', '3/8*1[in] in mm', 'x in range')
    """
    if IN_UNIT.fullmatch(text) is None:
        return text
    from ..engine.quantities.unit import unit_or_none
    from .optional_units import as_unit

    def symbol(word: re.Match[str]) -> str:
        return word[0] if unit_or_none(word[0]) else as_unit(word[0])

    spelled = str(_SPELLED.sub(symbol, text))
    match = IN_UNIT.fullmatch(spelled)
    fraction = _FRACTION.fullmatch(match[1]) if match else None
    own, asked = (unit_or_none(fraction[3]), unit_or_none(match[2])) if match and fraction else (None, None)
    if match and fraction and own and asked and own.dimension == asked.dimension and not own.zero:
        # of a number divided by a quantity the unit would be another
        return f"{fraction[1]}/{fraction[2]}*1[{fraction[3]}] in {match[2]}"
    return spelled


def conversion_of(text: str) -> list[str] | None:
    """Return the arguments of `grad` for a conversion, `100 kPa in psi`; None if it is none."""
    if IN_UNIT.fullmatch(text) is None:
        return None
    from ..engine.quantities.unit import unit_or_none
    from .quantities import split_quantity

    match = IN_UNIT.fullmatch(in_symbols(text))
    if match is None or unit_or_none(match[2]) is None:
        return None
    quantity = None
    with suppress(ExpressionError):
        quantity = split_quantity(match[1])
    if quantity is None:
        return [match[1], "--in", match[2]]
    number, own = quantity
    if plain_number(number) and not own.zero:
        return [f"{number}[{own}]", "--in", match[2]]
    # a temperature is no number in a formula, but a value
    return ["T", "--at", f"T={match[1]}", "--in", match[2]]


_ASSIGNED = r"[^\W\d]\w*\s*=\s*[^=<>,\s][^=<>,]*"
_AT = LazyPattern(rf"([^=<>]+?)\s+(?:at|when|where|for)\s+({_ASSIGNED}(?:,\s*{_ASSIGNED})*)", re.DOTALL)
_DERIVATIVE_OF = LazyPattern(r"(?:the\s+)?(?:derivative|slope|gradient)\s+of\s+(.+)", re.DOTALL)


def words_arguments(text: str) -> list[str] | None:
    """Return a command with its arguments for a question in words, as `slope of x^2 at x=3`; None for another text."""
    if len(text) > MAX_LENGTH:
        return None
    derivative = _DERIVATIVE_OF.fullmatch(text.strip())
    formula = derivative[1] if derivative else text
    at = _AT.fullmatch(formula)
    if at is not None:
        return ["grad", at[1], "--at", at[2]]
    return ["diff", formula] if derivative else None
