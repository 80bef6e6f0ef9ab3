"""What a line typed by hand asks: its statements, and limits, integrals, conversions and questions
in words.

They are read as arguments of the commands that answer them; a text that is none of these is a
formula.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ..engine.table.primitive import COMPOSED, FUNCTIONS
from ..errors import ExpressionError, point_error, usage_error
from ..language.builder import CONSTANTS
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
    bound_names,
    names_in,
    plain_number,
    scan,
    split_statements,
)
from ..operating_system import quoted
from .calculus_words import (
    ASSIGNED,
    BARE_VALUE,
    INFINITY,
    MAX_LENGTH,
    calculus_arguments,
    formula_at,
    measured_arguments,
    variables_in,
    without_name,
    without_request,
)
from .parse_point import split
from .problem import evaluate_constant, parse

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit

IN_UNIT = LazyPattern(
    r"(.*\S)\s+(?:in|to|as|->|→)\s+((?:1\s*/\s*)?[^\W\d_][^=<>]*|°[CF]?)", re.DOTALL
)
_IN_PER_CENT = LazyPattern(r"(.*\S)\s+(?:in|to|as|->|→)\s+(?:%|per\s?cent)", re.DOTALL)


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
            yield TypedStatement(
                "bind" if kinds[1] == EQUALS else "augment", first, last, tokens[2][1], name
            )
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


# Functions whose value at x is asked for in equations, `cos(x) = x`; others are defined, as `relu`.
_EQUATED = ("Elementary", "Trigonometric", "Hyperbolic")


def equation_of_function(text: str) -> bool | None:
    """Return whether a text that defines a function of the language anew, and no more, is an
    equation: `sin(x) = 0.5` is one; `cos(x) = x`, which may be one, raises a usage error. None for
    another text.

    >>> equation_of_function("sin(x) = 0.5"), equation_of_function("f(x) = 2")
    (True, None)
    """
    if len(text) > MAX_LENGTH:
        return None
    parts = [*statements_of(text)]
    part = parts[0] if len(parts) == 1 else None
    if part is None or part.kind != "define" or part.name not in {*FUNCTIONS, *COMPOSED}:
        return None
    body = text[part.body : part.end]
    if not {*(part.parameters or ())} & {*names_in(body)}:
        return True
    if part.name not in FUNCTIONS or FUNCTIONS[part.name].group not in _EQUATED:
        return None
    parameters = ", ".join(part.parameters or ())
    raise usage_error(
        f"`{part.name}` is a function of the language, and this may be an equation or define it anew",
        f"the equation is `autodiff solve {quoted(text.strip())}`; a function of yours needs another"
        f" name: `f({parameters}) = {body}`",
    )


_LIMIT = LazyPattern(
    r"\s*(?:\\?lim|limit)(?:_?\s*\{([^{}]+)\}|_?\s*\(([^()]+)\)|_?\s*([^\W\d]\w*\s*(?:->|→)\s*[^\s(){}]+)\s)(.+)",
    re.DOTALL,
)
# A limit in words: `limit of sin(x)/x as x approaches 0`, `limit sin(x)/x x->0`.
_LIMIT_AS = LazyPattern(
    r"\s*lim(?:it)?\s+(?:of\s+)?(.+?),?(?:\s+(?:as|when|for))?\s+([^\W\d]\w*)"
    r"\s*(?:->|→|\s(?:approaches|tends to|goes to)\s)\s*([^\s(){}]+)\s*",
    re.DOTALL,
)
_PLACE = LazyPattern(r"\s*([^\W\d]\w*)\s*(?:->|→|\\to(?![a-zA-Z]))\s*(.+?)\s*")
# The sign of a side, as in `0^+`.
_ONE_SIDE = LazyPattern(r"\^\{?([-+])\}?$")


_PRIME = LazyPattern(r"['’′]")


def slope_arguments(text: str, valued: Collection[str] = ()) -> list[str] | None:
    """Return the arguments of `diff` for an equation in x and y without values, which has a slope
    dy/dx; or None.

    Other names are constants; of three coordinates none is known to be the function. A differential
    equation, with `dy` or `y'`, is none of these.

    >>> slope_arguments("x² + y² = r²"), slope_arguments("p*V = 8"), slope_arguments("x = 2")
    (['x² + y² = r²', '--for', 'y', '--wrt', 'x'], None, None)
    >>> slope_arguments("dy/dx = x*y"), slope_arguments("y' = x*y")
    (None, None)
    """
    if len(text) > MAX_LENGTH or _PRIME.search(text):
        return None
    names = {*names_in(text)}
    if not {"x", "y"} <= names - {*valued} or names & {"z", "dx", "dy"}:
        return None
    parts = [*statements_of(text)]
    if len(parts) != 1 or not is_equation(text, parts[0]):
        return None
    return [text, "--for", "y", "--wrt", "x"]


def limit_arguments(text: str) -> list[str] | None:
    """Return the arguments of `limit` for a limit as written by hand; None for another text.

    >>> limit_arguments("lim x->0 sin(x)/x"), limit_arguments(r"\\lim_{x \\to 0^+} ln x")
    (['sin(x)/x', '--at', 'x=0'], ['ln x', '--at', 'x=0+'])
    """
    if len(text) > MAX_LENGTH:
        return None
    if in_words := _LIMIT_AS.fullmatch(text):
        formula, name, to = in_words.groups()
        return [formula, "--at", f"{name}={INFINITY.sub('inf', to)}"]
    match = _LIMIT.fullmatch(text)
    place = _PLACE.fullmatch(match[1] or match[2] or match[3]) if match else None
    if match is None or place is None:
        return None
    to = _ONE_SIDE.sub(r"\1", INFINITY.sub("inf", place[2]))
    return [match[4].strip(), "--at", f"{place[1]}={to}"]


_END = r"(?:\{([^{}]*)\}|([^\s{}]+?))"
# `∫x² dx`, `∫_0^1 x² dx`, `int_0^1 x^2 dx`, `∫ x² dx from 0 to 1`, `\int_{0}^{1} x^2 \, dx`.
_INTEGRAL = LazyPattern(
    rf"\s*(?:∫|\\int(?![a-zA-Z])|int(?=_))(?:\\limits)?\s*(?:_{_END}\s*\^{_END}(?:\s+|(?<=\}})))?"
    r"(.+?)(?:\\[,;!: ]|[\s*·])*d([^\W\d_]\w*)(?:\s+from\s+(.+?)\s+to\s+(.+?))?\s*",
    re.DOTALL,
)
_SIGN = (
    r"\s*(?:∫|\\int(?![a-zA-Z])|int(?=_)|integra(?:te|l(?:\s+of)?)(?=\s))"
    r"(?:\s*_\S+?\s*\^(?:\{[^{}]*\}|\S+?(?=\s)))?"
)
_ENDS = r"(\s+from\s.+)?\s*\Z"
# `∫ dx/x`, `∫ dx/(1 + x²)`.
_DIVIDED_DIFFERENTIAL = LazyPattern(
    rf"({_SIGN})\s*d([^\W\d_])\s*/\s*(\([^()]*\)(?:(?:\^|\*\*)\w+)?|[^\W\d]\w*(?:(?:\^|\*\*)\w+|[²³])?){_ENDS}"
)
_BRACED = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
# `\int \frac{dx}{x}`.
_DIFFERENTIAL_OVER = LazyPattern(
    rf"({_SIGN}\s*\\[dt]?frac)\s*\{{([^{{}}]*?)(?:\\[,;!:"
    rf" ]|\s)*d([^\W\d_])\s*\}}\s*\{{({_BRACED})\}}{_ENDS}"
)
_SMALL = LazyPattern(r"(∫)\s*([₀-₉₋]+)\s*([⁰¹²³⁴-⁹⁻]+)")
_SMALL_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-0123456789-")
# `integral from 0 to 1 of x^2`, which is turned round.
_FROM_FIRST = LazyPattern(r"\s*integra(?:te|l)\s+from\s+(.+?)\s+to\s+(.+?)\s+of\s+(.+)", re.DOTALL)
_INTEGRATE = LazyPattern(
    r"\s*(?:integrate|int(?!\s+\w+\s*=)|integral(?:\s+of)?)\s+(.+?)(?:[\s*·]+d([^\W\d_]\w*))?(?:\s+from\s+(.+?)\s+to\s+(.+?))?\s*",
    re.DOTALL,
)


def integral_arguments(text: str) -> list[str] | None:
    """Return the arguments of `integrate` for an integral as written by hand; None for another
    text.

    >>> integral_arguments("∫x² dx"), integral_arguments(r"\\int_{0}^{\\pi} sin x \\, dx")
    (['x²', '--over', 'x'], ['sin x', '--between', 'x=0:pi'])
    >>> integral_arguments("integrate x^2 from 0 to 1")
    ['x^2', '--between', '0:1']
    """
    if len(text) > MAX_LENGTH:
        return None
    text = _FROM_FIRST.sub(r"integral \3 from \1 to \2", text)
    text = _SMALL.sub(
        lambda small: f"∫_{{{small[2]}}}^{{{small[3]}}}".translate(_SMALL_DIGITS), text
    )
    text = _DIVIDED_DIFFERENTIAL.sub(r"\1 1/\3 d\2\4", text)
    text = _DIFFERENTIAL_OVER.sub(
        lambda over: f"{over[1]}{{{over[2] or 1}}}{{{over[4]}}} d{over[3]}{over[5] or ''}", text
    )
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
    ends = ":".join(INFINITY.sub("inf", end).replace("\\pi", "pi").strip() for end in (low, high))
    return [formula.strip(), "--between", f"{name}={ends}" if name else ends]


_CONVERSION = LazyPattern(r"(.+)\s(?:in|to|as|->|→)\s+(\S.*)", re.DOTALL)


# In `5 ft 3 in cm` inches are behind the 3.
_LACKS_UNIT = LazyPattern(r"[^\W\d_]\s+\d[\d.]*\Z")


def quantity_and_unit(words: Sequence[str]) -> tuple[str, str]:
    """Return the parts of `QUANTITY in UNIT` or `QUANTITY UNIT`, as words.

    >>> quantity_and_unit(["5 m", "ft"]), quantity_and_unit(["5 ft 3 in", "cm"])
    (('5 m', 'ft'), ('5 ft 3 in', 'cm'))
    """
    match = _CONVERSION.fullmatch(" ".join(words))
    if match is not None and not _LACKS_UNIT.search(match[1]):
        return match[1], match[2]
    *quantity, unit = " ".join(words).split() or [""]
    return (
        (" ".join(quantity), unit) if match else (" ".join(words[:-1]), words[-1] if words else "")
    )


def arguments_by_hand(text: str) -> list[str] | None:
    """Return a command with its arguments for a limit or an integral as written by hand; None for
    another text.
    """
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


# A word behind a number that may be the name of a unit.
_SPELLED = LazyPattern(r"(?<=\d )[A-Za-z]{3,}\b")
# `5'3"`, of which a length is asked; otherwise they are minutes and seconds of arc.
_FEET_AND_INCHES = LazyPattern(
    r"(\d+(?:\.\d+)?)\s*['’′](?:\s*(\d+(?:\.\d+)?)\s*(?:[\"”″]|''|′′|’’))?"
)
_FRACTION = LazyPattern(r"(\d+)\s?/\s?(\d+)\s+([^\W\d_][^=<>()]*)")


def in_symbols(text: str) -> str:
    """Return a conversion with the symbols of units whose names are written out; another text as it
    is.

    >>> in_symbols("5 feet in meters"), in_symbols("3/8 in in mm"), in_symbols("x in range")
    ('5 ft in m', '3/8*1[in] in mm', 'x in range')
    """
    match = IN_UNIT.fullmatch(text)
    if match is None or len(text) > MAX_LENGTH:
        return text
    from ..engine.quantities.unit import parse_unit, unit_or_none
    from .spelled_units import conversion_in_symbols, converted_unit, symbols_of

    asked, between = converted_unit(match[2], match[1]), text[match.end(1) : match.start(2)]
    if asked is None:
        return text
    wanted, feet = unit_or_none(asked), _FEET_AND_INCHES.fullmatch(match[1])
    if feet and wanted and wanted.dimension == parse_unit("m").dimension:
        return f"{feet[1]}[ft] + {feet[2] or 0}[in]{between}{asked}"
    if feet and feet[2] and wanted and wanted.dimension == parse_unit("°").dimension:
        return f"0° {match[1]}{between}{asked}"  # minutes and seconds of arc
    if (both := conversion_in_symbols(match[1], match[2])) is not None:
        return between.join(both)
    quantity = str(_SPELLED.sub(lambda word: symbols_of(word[0]) or word[0], match[1]))
    return _fraction_of_unit(quantity, wanted) + between + asked


def _fraction_of_unit(quantity: str, wanted: Unit | None) -> str:
    """Return `3/8*1[in]` for `3/8 in`, where a length is wanted: of a number divided by a quantity
    the unit would be another.
    """
    from ..engine.quantities.unit import unit_or_none

    fraction = _FRACTION.fullmatch(quantity)
    own = unit_or_none(fraction[3]) if fraction else None
    if fraction and own and wanted and own.dimension == wanted.dimension and not own.zero:
        return f"{fraction[1]}/{fraction[2]}*1[{fraction[3]}]"
    return quantity


def check_per_cent(text: str) -> None:
    """Refuse a conversion to per cent, whose `in` would be taken for inches."""
    if (share := _IN_PER_CENT.fullmatch(text)) is not None:
        number = share[1] if plain_number(share[1]) or share[1].startswith("(") else f"({share[1]})"
        raise point_error(
            "per cent is 1/100, and no unit here", f"write 100 times the number: `100*{number}`"
        )


def conversion_of(text: str) -> list[str] | None:
    """Return the arguments of `grad` for a conversion, `100 kPa in psi`; None if it is none."""
    check_per_cent(text)
    if IN_UNIT.fullmatch(text) is None:
        return None
    from ..engine.quantities.unit import parse_unit, unit_or_none
    from .periods import check_periods
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
    check_periods(number, own, parse_unit(match[2]))
    if plain_number(number) and not own.zero:
        return [f"{number}[{own}]", "--in", match[2]]
    kelvin = _in_kelvin(number, own) if plain_number(number) else None
    if kelvin is not None:
        return [kelvin, "--in", match[2]]
    return ["T", "--at", f"T={match[1]}", "--in", match[2]]


def _in_kelvin(number: str, scale: Unit) -> str | None:
    """Return a temperature on a scale in kelvin, as a formula: on its scale it is no number
    there.
    """
    from fractions import Fraction

    from ..engine.algebra.canonical import number_text

    if "e" in number.lower():
        return None  # perhaps of a million digits
    x = Fraction(number) * scale.scale + scale.zero
    text = number_text(x)
    if x < 0:
        return None
    return f"{text}[K]" if text is not None else f"{x.numerator}/{x.denominator}*1[K]"


# `x^2 at x=3`, `x^2, x=3`, `x^2 at 3`.
_AT = LazyPattern(
    rf"([^=<>]+?)(?:\s+(?:at|when|where|for)\s+|,\s*(?=[^\W\d]\w*\s*=\s*[-+\d.]))({ASSIGNED}(?:,\s*{ASSIGNED})*)"
    rf"|([^=<>]+?)\s+at\s+({BARE_VALUE})",
    re.DOTALL,
)
_VALUE_ASKED = LazyPattern(r"\A(?:the\s+)?value\s+of\s+")
_DEGREES_BEHIND = LazyPattern(r"(?<=\d)\s*degrees?\Z")
_BY_LETTER = LazyPattern(r"\s*[d∂](?:\^?\{?\d+\}?|[²³])?\s*/\s*[d∂]([^\W\d_])")
_DERIVATIVE_OF = LazyPattern(
    r"(?:the\s+)?(?:(first|second|third|fourth|fifth|sixth|partial|\d{1,2}(?:st|nd|rd|th))\s+)?(?:derivative|slope|gradient)\s+of\s+(.+?)"
    r"(?:\s+(?:with\s+respect\s+to|wrt)\s+([^\W\d]\w*))?",
    re.DOTALL,
)
# `derivative of x^2 when x = 3`, which is no formula beside a value.
_ASKS_DERIVATIVE = LazyPattern(
    r"(?:the\s+)?(?:\w+\s+)?(?:derivative|slope|gradient)\s+of\s", re.IGNORECASE
)
_ORDERS = {"second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6"}
_EXTREME_OF = LazyPattern(
    r"(?:the\s+)?(?:(min(?:imum)?)|max(?:imum)?)(?:\s+value)?\s+of\s+(.+)", re.DOTALL
)
# `3, 4`, of which the smaller is asked for.
_COMMA_OUTSIDE = LazyPattern(r"(?:[^(),]|\([^()]*\))*,.*", re.DOTALL)
_ROOTS_OF = LazyPattern(r"(?:the\s+)?(?:roots?|zeros?|zeroes|solutions?)\s+of\s+(.+)", re.DOTALL)
_SOLVE_FOR = LazyPattern(r"(.+?)\s+for\s+([^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)", re.DOTALL)
# `dy/dx of x^2 + y^2 = 25`, `∂L/∂w, L = (w*x - y)^2`.
_SLOPE_OF = LazyPattern(
    r"[d∂](?![²³⁴])([^\W\d]\w*)/[d∂]([^\W\d]\w*)(?:\s+(?:of|if|for|when|where|from|in|given)\s+|\s*[,;]\s*)(.+)",
    re.DOTALL,
)
# `y = √x; dy/dx`, `x^2 + y^2 = 25, dy/dx at (3, 4)`.
_THEN_SLOPE = LazyPattern(
    r"([^=;]+(?<![<>!])=(?!=)[^=;]+?)\s*[;,]\s*[d∂]([^\W\d]\w*)\s*/\s*[d∂]([^\W\d]\w*)((?:\s+at\s.+)?)",
    re.DOTALL,
)
_ORDER = r"(?:\^?\{?\d+\}?|[²³])?"
_IN_BRACKETS = LazyPattern(
    rf"(\s*[d∂]{_ORDER}/[d∂]([^\W\d]\w*?){_ORDER})\s*\[([^\[\],]*)\]\s*", re.DOTALL
)
# `y' if y = x^2`.
_PRIME_OF = LazyPattern(
    r"([^\W\d]\w*)(['’′]+)\s+(?:if|when|where|for|of)\s+\1\s*=(?!=)\s*([^=;]+)", re.DOTALL
)
# `y = x^2; y'`.
_THEN_PRIME = LazyPattern(r"([^\W\d]\w*)\s*=(?!=)\s*([^=;]+)[;,]\s*\1(['’′]+)", re.DOTALL)
_HEAD = r"([^\W\d]\w*)\s*\(\s*[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*\s*\)\s*=(?!=)"
# `f(x) = x^2 - 4 = 0`, the zeros of f.
_NAMED_EQUATION = LazyPattern(rf"{_HEAD}\s*([^=<>!;,]+=(?!=)[^=<>!;,]+)")
_GIVEN = r"(?:,|\b(?:if|when|where|for|of|with|given)\b)"
# `f''(x) for f(x) = x^3`, `f(2) if f(x) = x^3`.
_CALL_OF = LazyPattern(
    rf"(([^\W\d]\w*)['’′]*\s*\([^()=]*\))\s*{_GIVEN}\s*(?=\2\b)({_HEAD}[^=;]+)", re.DOTALL
)
# `f(x) = x^3, f'(2)`.
_THEN_CALL = LazyPattern(rf"({_HEAD}[^=;]+?)\s*,\s*(\2['’′]*\s*\([^()=]*\))", re.DOTALL)
_NTH = r"(?:\^?\{?(\d)\}?|([²³⁴]))?"
# `dy/dx of x^4`, `d²/dx² of x^4`.
_LETTERS_OF = LazyPattern(
    rf"[d∂]{_NTH}\s*([^\W\d]\w*)?\s*/\s*[d∂]([^\W\d]\w*?){_NTH}\s+of\s+(.+)", re.DOTALL
)
# `dy/dx x^2 + y^2 = 25`.
_BESIDE_EQUATION = LazyPattern(r"d([^\W\d]\w*)/d([^\W\d]\w*)\s+([\w(|√].*)", re.DOTALL)


# `(x^3)'`.
_PRIME_BEHIND = LazyPattern(r"(.+\))(['’′]+)", re.DOTALL)


def _in_parentheses(text: str) -> bool:
    """Return whether a text is one formula in parentheses."""
    kinds = [kind for kind, _, _ in scan(text)][:-1]
    depth = list(accumulate((kind == OPEN) - (kind == CLOSE) for kind in kinds))
    return kinds[:1] == [OPEN] and depth[-1] == 0 and 0 not in depth[:-1]


def words_arguments(text: str) -> list[str] | None:
    """Return a command with its arguments for a question in words, as `slope of x^2 at x=3`; None
    for another text.

    >>> words_arguments("second derivative of x^4"), words_arguments("y' if y = x^2"), words_arguments("(x^3)\'")
    (['diff', 'x^4', '--order', '2'], ['diff', 'x^2'], ['diff', 'x^3'])
    """
    text = text.strip()
    if len(text) > MAX_LENGTH:
        return None
    text = without_request(text)
    return (
        calculus_arguments(text)
        or called_arguments(text)
        or _sought_arguments(text)
        or _primed_arguments(text)
        or (None if _ASKS_DERIVATIVE.match(text) else valued_arguments(text))
        or _derivative_in_words(text)
    )


_BEGINS_QUESTION = LazyPattern(
    r"(?:find|the|first|second|third|fourth|partial|derivative|slope|gradient|min(?:imum)?|max(?:imum)?|roots?|zeros?"
    r"|zeroes|solutions?|tangent|normal|equation|what|what's|compute|determine)\s.*?\b(?:of|to|for)\s"
    r"|[d∂]\w+/[d∂]\w+\s+(?:of|if|for|when|where|given)\s",
    re.IGNORECASE,
)


def question_arguments(text: str, names: Collection[str] = ()) -> list[str] | None:
    """Return what `words_arguments` does for a line that begins as a question does, with none of
    these names.

    >>> question_arguments("maximum of x(10-x)"), question_arguments("slope of x^2 at 3", ["slope"])
    (['maximize', 'x(10-x)'], None)
    """
    if text.partition(" ")[0] in names or len(text) > MAX_LENGTH:
        return None
    if equation_of_function(text):
        return ["solve", text]
    asked = calculus_arguments(without_request(text))
    return asked or (words_arguments(text) if _BEGINS_QUESTION.match(text) else None)


def _sought_arguments(text: str) -> list[str] | None:
    """Return the command and its arguments for an extreme, for roots, a tangent, or for the slope
    of an equation.
    """
    tangent = _TANGENT.fullmatch(text)
    if tangent is not None and (placed := tangent_arguments(tangent[1])) is not None:
        return ["tangent", *placed]
    extreme = _EXTREME_OF.fullmatch(text)
    if extreme is not None and not _COMMA_OUTSIDE.fullmatch(extreme[2]):
        return ["minimize" if extreme[1] else "maximize", extreme[2]]
    roots = _ROOTS_OF.fullmatch(text)
    if roots is not None:
        return ["solve", roots[1]]
    named = _NAMED_EQUATION.fullmatch(text)
    if named is not None and named[1] not in {*FUNCTIONS, *COMPOSED}:
        return ["solve", named[2]]
    return _slope_asked(text) or _lettered_arguments(text)


def _slope_asked(text: str) -> list[str] | None:
    """Return the arguments of `diff` for the slope of an equation, or of a name that a formula is
    given for.

    >>> _slope_asked("dy/dx if x^2 + y^2 = 25 at (3, 4)")
    ['diff', 'x^2 + y^2 = 25', '--at', 'x=3,y=4', '--for', 'y', '--wrt', 'x']
    >>> _slope_asked("y = a*w1^2; dy/dw1 at w1=2")
    ['diff', 'y = a*w1^2', '--at', 'w1=2', '--wrt', 'w1']
    """
    before = _SLOPE_OF.fullmatch(text)
    if before is not None and "=" in before[3]:
        return _slope(before[1], before[2], before[3])
    behind = slope_behind(text)
    return None if behind is None else behind.arguments


_SLOPE_PART = LazyPattern(r"d(?:\d|[²³])?([^\W\d_]+)[\d₀-₉_]*")


def is_slope(above: str, below: str) -> bool:
    """Return whether two names are those of a derivative `dy/dx`, and of no quotient as `dose/dt`.

    >>> is_slope("dx_1", "dt"), is_slope("d2theta", "dt2"), is_slope("dmax", "dmin"), is_slope("d1", "d2")
    (True, True, False, False)
    """
    parts = [_SLOPE_PART.fullmatch(name) for name in (above, below)]
    letters = [part[1] for part in parts if part is not None]
    if len(letters) < len(parts) or above == below:
        return False
    if all(len(each) == 1 for each in letters):
        return True
    from ..language.typesetting import GREEK

    return all(len(each) == 1 or each in GREEK for each in letters)


def slope_of_no_formula(above: str, below: str) -> ExpressionError:
    """Return the error of `dy/dx` where `y` has no formula, and which is no other quotient."""
    name = above.lstrip("d0123456789²³")
    message = f"`{above}/{below}` is a derivative of `{name}`, which has no formula, or a quotient"
    hint = (
        f"give `{name}` a formula, `{name} = …`; the quotient of two names is `({above})/({below})`"
    )
    return ExpressionError("syntax", message, None, hint)


class SlopeBehind(NamedTuple):
    """What `y = x^2; dy/dx` asks: the two names of the quotient, and the arguments of `diff`."""

    names: tuple[str, str]
    arguments: list[str]


def slope_behind(text: str) -> SlopeBehind | None:
    """Return the slope that is asked behind a formula for a name; None for another text."""
    behind = _THEN_SLOPE.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if behind is None:
        return None
    parts = [*statements_of(behind[1])]
    is_of_it = {(part.kind, part.name) for part in parts} <= {
        ("bind", behind[2]),
        ("define", behind[2]),
        ("expression", ""),
    }
    found = _slope(behind[2], behind[3], f"{behind[1]}{behind[4]}") if is_of_it else None
    if found is None or behind[2] not in names_in(behind[1]):
        return None
    return SlopeBehind((f"d{behind[2]}", f"d{behind[3]}"), found)


def _slope(name: str, by: str, text: str) -> list[str] | None:
    """Return the arguments of `diff` for the slope of a formula for a name, or of an equation."""
    formula, *place = formula_at(text)
    parts = [*statements_of(formula)]
    is_given = [part.kind for part in parts] in (["bind"], ["define"]) and parts[0].name == name
    if is_given and name not in names_in(formula[parts[0].body :]):
        return ["diff", formula, *place, "--wrt", by]
    return ["diff", formula, *place, "--for", name, "--wrt", by] if len(parts) == 1 else None


def _lettered_arguments(text: str) -> list[str] | None:
    """Return the arguments of `diff` for `d2y/dx2 of x^4`. Raises a usage error for a slope just
    before an equation.
    """
    letters = _LETTERS_OF.fullmatch(text)
    if letters is not None:
        digit, sign, name, by, below, sign_below, formula = letters.groups()
        if below and not (digit or sign) and not letters[0].rpartition(by)[2].startswith("^"):
            by, below = f"{by}{below}", None  # `do/dw1` is by `w1`
        orders = {
            _ORDER_OF.get(each, each) for each in (digit or sign, below or sign_below) if each
        }
        if name:
            formula = (
                formula.removeprefix(name).lstrip().removeprefix("=")
                if is_bound(name, formula)
                else formula
            )
        if len(orders) > 1 or "=" in formula:
            return None
        return [
            "diff",
            formula.strip(),
            "--wrt",
            by,
            *(["--order", orders.pop()] if orders else []),
        ]
    beside = _BESIDE_EQUATION.fullmatch(text)
    if (
        beside is not None
        and [part.kind for part in statements_of(beside[3])] == ["expression"]
        and "=" in beside[3]
    ):
        formula, *place = formula_at(beside[3])
        if place:  # an equation in derivatives has no point
            return _slope(beside[1], beside[2], beside[3])
        slope = f"d{beside[1]}/d{beside[2]}"
        message = f"`{slope}` may be asked of this equation, or be a factor in it"
        raise usage_error(
            message, f"write `{slope} of {beside[3]}`: equations in derivatives are not solved"
        )
    return None


_ORDER_OF = {"²": "2", "³": "3", "⁴": "4"}


def is_bound(name: str, text: str) -> bool:
    """Return whether a text is one statement that gives this name a value."""
    return [(part.kind, part.name) for part in statements_of(text)] == [("bind", name)]


def _primed_arguments(text: str) -> list[str] | None:
    """Return the arguments of `diff` for a derivative that is written with primes."""
    prime, then = _PRIME_OF.fullmatch(text), _THEN_PRIME.fullmatch(text)
    parts = prime.group(1, 2, 3) if prime else then.group(1, 3, 2) if then else None
    if parts is not None and parts[0] not in names_in(parts[2]):
        return [
            "diff",
            parts[2].strip(),
            *(["--order", str(len(parts[1]))] if len(parts[1]) > 1 else []),
        ]
    behind = _PRIME_BEHIND.fullmatch(text)
    if behind is not None and _in_parentheses(behind[1]):
        count = len(behind[2])
        return ["diff", behind[1][1:-1].strip(), *(["--order", str(count)] if count > 1 else [])]
    return None


def _derivative_in_words(text: str) -> list[str] | None:
    """Return the command and its arguments for a derivative in words, or a formula at a point."""
    derivative = _DERIVATIVE_OF.fullmatch(text)
    if derivative is None:
        return _at_point(text, []) or _at_pair(text)
    kind, formula, name = derivative[1] or "", derivative[2], derivative[3]
    order = kind[:-2] if kind[:1].isdigit() else _ORDERS.get(kind)
    by, placed = ["--wrt", name] if name else [], formula_at(formula)
    if order is not None:
        return ["diff", *placed, *by, "--order", order]
    if not kind and not by and _is_curve(placed[0]):
        return _slope("y", "x", formula)
    given = None if kind or by else valued_arguments(formula)
    return _first_derivative(formula, by) if given is None else given


def _first_derivative(formula: str, by: Sequence[str]) -> list[str]:
    """Return the command and its arguments for a derivative, at a point where one is behind it."""
    if len(formula_at(formula)) == 1:
        return _at_point(formula, by) or ["diff", formula, *by]
    formula = without_name(formula)  # `y = x^2 at x=3`
    at_point = None if formula.endswith(")") else _at_point(formula, by)
    return at_point or ["grad", *formula_at(formula), *by]


def _at_point(formula: str, by: Sequence[str]) -> list[str] | None:
    """Return the command and its arguments for a formula with its point behind it; None without."""
    at = _AT.fullmatch(formula)
    asked, point = (at[1] or at[3], at[2] or at[4]) if at else ("", "")
    if not asked or asked.count("(") != asked.count(")"):
        return None
    asked, point = str(_VALUE_ASKED.sub("", asked)), str(_DEGREES_BEHIND.sub("°", point))
    letter = _BY_LETTER.match(asked)
    if letter is None:
        return ["grad", asked, "--at", point, *by]
    # a derivative's value is what is asked for, and not its gradient
    return ["diff", asked, "--at", point if at and at[2] else f"{letter[1]}={point}", *by]


def _at_pair(text: str) -> list[str] | None:
    """Return the arguments of `grad` for a formula at a point in its variables: `x*y at (1, 2)`."""
    if not text.endswith(")") or " at " not in text:
        return None
    formula, *place = formula_at(text)
    return ["grad", formula, *place] if place and _kinds_of(formula) in _OUTPUTS else None


def _is_curve(text: str) -> bool:
    """Return whether a text is one equation in x and y, and no formula for a name."""
    parts = [*statements_of(text)] if "=" in text else []
    is_equal = len(parts) == 1 and is_equation(text, parts[0])
    return is_equal and {"x", "y"} <= {*names_in(text)}


_NAMED = r"[^\W\d]\w*\s*=(?!=)"
_GIVEN_VALUES = LazyPattern(
    rf"(.+?)\s+(?:with|where|when|for|given|if)\s+(?={_NAMED})(.+)", re.DOTALL
)
_AND = LazyPattern(rf"\s+and\s+(?={_NAMED})")
_VALUE_OF = LazyPattern(r"([^\W\d]\w*)\s*=(?!=)\s*(.+)", re.DOTALL)


def valued_arguments(text: str) -> list[str] | None:
    """Return the arguments of `grad` or `propagate` for a formula beside values, some with units;
    else None.

    >>> valued_arguments("V=230 V; I=2 A; P=V*I"), valued_arguments("F = m*a with m = 2 kg and a = 3 m/s^2")
    (['grad', 'P=V*I', '--at', 'V=230 V, I=2 A'], ['grad', 'F = m*a', '--at', 'm=2 kg, a=3 m/s^2'])
    >>> valued_arguments("E = m*v^2/2 in J; m = 2 kg; v = 3 m/s"), valued_arguments("x = 3; x^2")
    (['grad', 'E = m*v^2/2', '--at', 'm=2 kg, v=3 m/s', '--in', 'J'], None)
    >>> valued_arguments("y = a*x^2; a = 2"), valued_arguments("x = 1, x + y = 3")
    (['diff', 'a = 2; y = a*x^2'], None)
    >>> valued_arguments("a = 3, b = 4, a*b"), valued_arguments("F = ma, m = 2, a = 3")
    (['grad', 'a*b', '--at', 'a=3, b=4'], ['grad', 'F = ma', '--at', 'm=2, a=3'])
    """
    line = _with_values_behind(text)
    if line is None:
        return None
    are_listed = len(split(line)) > 1
    values, others = _values_and_others(line, are_listed=are_listed)
    if not values or not others or (len(others) > 1 and are_listed):
        return None  # a list of equations, unless one is a formula for a name
    has_units = not all(map(plain_number, values.values()))
    # values before their formula are a program already, if semicolons are between them
    if not (has_units or are_listed or _parts_of(line)[0] == others[0]):
        return None
    *bound, last = others
    last, unit = _unit_asked(last) or (last, None)
    formulas = [*bound, last]
    solved = None if bound else _solved_at(formulas[0], values, unit)
    return _at_values(formulas, values, unit) if solved is None else solved


def _values_and_others(line: str, *, are_listed: bool) -> tuple[dict[str, str], list[str]]:
    """Return the values by name that a line gives, and its other parts."""
    values, others = {}, []
    for part in _parts_of(line):
        found = _value_in(part, is_listed=are_listed)
        if found is None:
            others.append(part)
        else:
            values[found[0]] = found[1]
    return values, others


def _solved_at(equation: str, values: Mapping[str, str], unit: str | None) -> list[str] | None:
    """Return the arguments of `propagate` for the one unknown of an equation at uncertain values;
    None for another text.
    """
    parts = [*statements_of(equation)]
    point = ", ".join(f"{name}={value}" for name, value in values.items())
    if len(parts) != 1 or not is_equation(equation, parts[0]) or not _is_uncertain(point):
        return None
    unknowns = [name for name in variables_in(equation) if name not in values]
    if len(unknowns) != 1 or not _are_clear(values, [equation]):
        return None
    wish = [] if unit is None else ["--in", unit]
    return ["propagate", equation, "--at", point, "--for", unknowns[0], *wish]


def _is_uncertain(point: str) -> bool:
    from .problem import SPREAD, UNCERTAIN_DIGITS

    return bool(
        re.search(SPREAD, point)
        or UNCERTAIN_DIGITS.search(point)
        or any(_is_asymmetric(value.partition("=")[2]) for value in split(point))
    )


def _is_asymmetric(text: str) -> bool:
    if "+" not in text or "-" not in text:
        return False
    from .measured_value import is_asymmetric  # few values have two uncertainties

    return is_asymmetric(text)


def _at_values(
    formulas: Sequence[str], values: Mapping[str, str], unit: str | None
) -> list[str] | None:
    """Return the arguments of the command for a program at values, perhaps uncertain ones; None for
    texts that are no program, or where a name may be a unit.
    """
    if not _are_formulas(formulas) or not _are_clear(values, formulas):
        return None
    point = ", ".join(f"{name}={value}" for name, value in values.items())
    if len(formulas) == 1 and _BY_LETTER.match(formulas[0]) and not _is_uncertain(point):
        return ["diff", formulas[0], "--at", point]
    program = "; ".join(formulas)
    are_plain = all(plain_number(value) or _is_constant(value) for value in values.values())
    axes = {*_axes_of(program)} - values.keys() - {*bound_names(program)}
    if are_plain and axes - _products_of(axes, values):
        bindings = [f"{name} = {value}" for name, value in values.items()]
        return ["diff", "; ".join([*bindings, *formulas])]  # parameters: the variable has no value
    wish = [] if unit is None else ["--in", unit]
    return ["propagate" if _is_uncertain(point) else "grad", program, "--at", point, *wish]


def _with_values_behind(text: str) -> str | None:
    """Return a line of parts for `F = m*a with m = 2 kg`, and one that has parts as it is."""
    given = _GIVEN_VALUES.fullmatch(text)
    line = f"{given[1]}; {_AND.sub('; ', given[2])}" if given else text
    return line if "=" in line and {";", ",", "\n"} & {*line} else None


def _parts_of(line: str) -> list[str]:
    """Return what stands between the semicolons, line ends and commas of a line."""
    statements = re.split(r"[;\n]", line)
    parts = [part.strip() for statement in statements for part in split(statement)]
    return [part for part in parts if part]


def _value_in(part: str, *, is_listed: bool) -> tuple[str, str] | None:
    """Return the name and the value of `V=230 V`; None if it is something else.

    In a list between commas, which is no program, it may be `pi/4` too, or meant as a quantity.
    """
    found = _VALUE_OF.fullmatch(part)
    if found is None:
        return None
    name, text = found[1], found[2]
    is_value = _is_value(text) or (is_listed and any(meant(text) for meant in _LISTED_VALUES))
    return (name, text) if is_value else None


def _is_constant(text: str) -> bool:
    """Return whether a text is an expression without variables, `pi/4`."""
    if not {*names_in(text)} <= {*FUNCTIONS, *CONSTANTS}:
        return False
    with suppress(ExpressionError):
        evaluate_constant(text)
        return True
    return False


# `5 m/s2`, `4k7`, `8.3 J/mol·K`, `4.18 J/g°C`: the reader of values says how each is written.
_LIKE_QUANTITY = LazyPattern(r"[-+−]?\d[\d.]*+(?:[eE][-+]?\d+)?\s*+([^\W\d_°].*)", re.DOTALL)
_LIKE_UNIT = LazyPattern(r"[^\W\d_]+|°\s?[CF]?")
_PREFIXED = LazyPattern(r"[kKMGmunpµμ]\d*")


def _is_meant_as_quantity(text: str) -> bool:
    """Return whether a text is a number before words that are units, though not as they are
    written, or before a prefix.
    """
    from ..engine.quantities.unit import unit_or_none, with_signs

    found = _LIKE_QUANTITY.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if found is None or {*found[1]} & {*"(=<>;"}:
        return False
    first, *others = found[1].split() or [""]
    words = [*others, *([] if _PREFIXED.fullmatch(first) else [first])]
    try:
        return all(
            unit_or_none(part) or with_signs(part)
            for word in words
            for part in _LIKE_UNIT.findall(word)
        )
    except ExpressionError:
        return True  # `ms^-1`, of two meanings


# What gives a name its value in a list.
_LISTED_VALUES = (
    LazyPattern(r"\d+(?:\.\d+)?\s*%").fullmatch,
    _is_constant,
    _is_asymmetric,
    _is_meant_as_quantity,
    _FEET_AND_INCHES.fullmatch,
)
_OUTPUTS = (["bind"], ["expression"])


def _are_formulas(texts: Sequence[str]) -> bool:
    """Return whether all but the last of some texts bind a name, and that one is an output."""
    *bound, last = [_kinds_of(text) for text in texts]
    return bound == [["bind"]] * len(bound) and last in _OUTPUTS


def _kinds_of(formula: str) -> list[str]:
    """Return the kinds of the statements of a formula; none for an equation."""
    parts = [*statements_of(formula)]
    return (
        [] if any(is_equation(formula, part) for part in parts) else [part.kind for part in parts]
    )


def _is_value(text: str) -> bool:
    """Return whether a text is a number, a quantity or one of them with its uncertainty."""
    if plain_number(text):
        return True
    from ..engine.quantities.unit import AmbiguousUnit
    from .problem import SPREAD, UNCERTAIN_DIGITS
    from .quantities import split_quantity

    try:
        return (
            bool(re.search(SPREAD, text) or UNCERTAIN_DIGITS.search(text))
            or split_quantity(text) is not None
        )
    except AmbiguousUnit:
        return True
    except ExpressionError:
        return False


def _are_clear(values: Mapping[str, str], formulas: Sequence[str]) -> bool:
    """Return whether all values are of names in the formulas, and no unit is another name without a
    unit.

    In `m = 2; L = 3 m; L + m` it is the name, in `m = 2 kg; L = 3 m; L*m` the unit.
    """
    names = {name for formula in formulas for name in names_in(formula)}
    products = _products_of(names, values)
    names = (names - products).union(*products)
    measured = {name for name, value in values.items() if not plain_number(value)}
    units = {word for value in values.values() for word in names_in(value)}
    bound = {*bound_names("; ".join(formulas))}
    return values.keys() <= names - bound and not units & (names - measured)


def _products_of(names: Iterable[str], values: Collection[str]) -> set[str]:
    """Return those of some names that informal reading takes as products of what has values: `ma`."""
    others = {*names} - {*values, *FUNCTIONS, *CONSTANTS}
    return {name for name in others if name.isalpha() and name.isascii() and {*name} <= {*values}}


def _unit_asked(formula: str) -> tuple[str, str] | None:
    """Return the parts of a formula with the unit that it is asked in: `m*v^2/2 in J`."""
    from ..engine.quantities.unit import unit_or_none

    match = IN_UNIT.fullmatch(formula)
    return (
        (match[1], match[2]) if match is not None and unit_or_none(match[2]) is not None else None
    )


def measured_question(text: str) -> list[str] | None:
    """Return the arguments of `propagate` for a formula of measured numbers, perhaps in a unit; None
    for another text.

    >>> measured_question("20±1 °C in K"), measured_question("20 °C in K")
    (['propagate', 'x1', '--at', 'x1=20±1 °C', '--in', 'K'], None)
    """
    if len(text) > MAX_LENGTH:
        return measured_arguments(text)
    formula, unit = _unit_asked(in_symbols(text)) or (text, None)
    arguments = measured_arguments(formula)
    return arguments if arguments is None or unit is None else [*arguments, "--in", unit]


_CALLED = LazyPattern(r"([A-Za-z]+)\s*([(\[])(.+)[)\]]", re.DOTALL)
# `x = 0..1`.
_ENDS_OF = LazyPattern(r"([^\W\d]\w*)\s*=\s*(.+?)\s*\.\.\s*(.+)", re.DOTALL)


def called_arguments(text: str) -> list[str] | None:
    """Return a command with its arguments for a call as computer algebra has it; None for another
    text.

    >>> called_arguments("diff(x^2*y, x)"), called_arguments("integrate(x^2, (x, 0, 1))")
    (['diff', 'x^2*y', '--wrt', 'x'], ['integrate', 'x^2', '--between', 'x=0:1'])
    >>> called_arguments("limit(sin(x)/x, x, 0)"), called_arguments("solve(x^2 = 4, x)")
    (['limit', 'sin(x)/x', '--at', 'x=0'], ['solve', 'x^2 = 4', '--for', 'x'])
    """
    call = _CALLED.fullmatch(text)
    read = _CALLS.get(call[1] if call[1] == "D" else call[1].lower()) if call else None
    if call is None or read is None or not _in_parentheses(f"({call[3]})"):
        return None
    formula, *more = split(call[3])
    is_a_letter = call[1].lower() in ("d", "int")  # Python's `int(x)` is a whole number
    return None if is_a_letter and not more else read(formula, more)


def _derivative_call(formula: str, more: Sequence[str]) -> list[str] | None:
    by, order = more[:1], more[1:]
    if not all(name.isidentifier() for name in by) or not (
        not order or (len(order) == 1 and order[0].isdigit())
    ):
        return None
    return [
        "diff",
        formula,
        *(["--wrt", *by] if by else []),
        *(["--order", *order] if order else []),
    ]


def _integral_call(formula: str, more: Sequence[str]) -> list[str] | None:
    if len(more) == 1 and more[0][:1] in "({" and more[0][-1:] in ")}":
        more = split(more[0][1:-1])
    if len(more) == 1 and (ends := _ENDS_OF.fullmatch(more[0])):
        more = ends.groups()
    if len(more) not in (0, 1, 3) or (more and not more[0].isidentifier()):
        return None
    if len(more) == 3:
        low, high = (INFINITY.sub("inf", end) for end in more[1:])
        return ["integrate", formula, "--between", f"{more[0]}={low}:{high}"]
    return ["integrate", formula, *(["--over", more[0]] if more else [])]


def _limit_call(formula: str, more: Sequence[str]) -> list[str] | None:
    if len(more) == 1:
        more = more[0].replace("->", "=").split("=")
    if len(more) != 2 or not more[0].strip().isidentifier():
        return None
    name, to = more
    return ["limit", formula, "--at", f"{name.strip()}={INFINITY.sub('inf', to.strip())}"]


def _solve_call(formula: str, more: Sequence[str]) -> list[str] | None:
    if len(more) > 1 or not all(name.isidentifier() for name in more):
        return None
    return ["solve", formula.replace("==", "="), *(["--for", more[0]] if more else [])]


def _gradient_call(formula: str, more: Sequence[str]) -> list[str] | None:
    return None if more else ["diff", formula]


# What reads the arguments of a call, by its name in computer algebra.
_CALLS = {
    **dict.fromkeys(("grad", "gradient"), _gradient_call),
    **dict.fromkeys(("diff", "derivative", "differentiate", "D"), _derivative_call),
    **dict.fromkeys(("integrate", "integral", "int"), _integral_call),
    **dict.fromkeys(("limit", "lim"), _limit_call),
    "solve": _solve_call,
}


def definition_first(text: str) -> str:
    """Return a definition and what is asked of it as a program; another text as it is.

    >>> definition_first("f''(x) for f(x) = x^3"), definition_first("f(x) = x^3, f'(2)"), definition_first("f(2)")
    ("f(x) = x^3; f''(x)", "f(x) = x^3; f'(2)", 'f(2)')
    """
    if len(text) > MAX_LENGTH:
        return text
    before, behind = _CALL_OF.fullmatch(text), _THEN_CALL.fullmatch(text)
    if before is not None:
        return f"{before[3]}; {before[1]}"
    return f"{behind[1]}; {behind[3]}" if behind is not None else text


def solve_arguments(text: str) -> list[str] | None:
    """Return the arguments of `solve` for an equation with its unknowns in words; None for another
    text.

    >>> solve_arguments("x^2 = a for x"), solve_arguments("x^2 = a")
    (['x^2 = a', '--for', 'x'], None)
    """
    match = _SOLVE_FOR.fullmatch(text) if len(text) <= MAX_LENGTH else None
    return None if match is None else [match[1], "--for", "".join(match[2].split())]


def in_parentheses(text: str, valued: Collection[str] = ()) -> str:
    """Return `d/dx (x^2)` for `d/dx[x^2]`, whose brackets hold no list; another text as it is.

    >>> in_parentheses("d/dx[x^2]"), in_parentheses("d/dt[1]", ("dt",))
    ('d/dx (x^2)', 'd/dt[1]')
    """
    match = _IN_BRACKETS.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None or "d" in valued or f"d{match[2]}" in valued:
        return text
    return f"{match[1]} ({match[3]})"


_PLACED = LazyPattern(
    r"(?:(?:line|series|polynomial)\s+)?(?:(?:of|to|for)\s+)?(?:(?:the\s+)?(?:curve|graph\s+of|function)\s+)?(.+?)"
    r"\s+(?:at|around|about|near)\s+(?:(?:the\s+)?point\s+)?(\S.*)",
    re.DOTALL,
)
# `equation of the tangent line to x^3 at x=2`, whose place follows.
_TANGENT = LazyPattern(
    r"(?:(?:find|the|equation|slope|of|for)\s+)*(?:tangent|normal)\s+(?=(?:line\s+)?(?:of|to|for)\s)(.+)",
    re.DOTALL | re.IGNORECASE,
)
# `(3, 4)`, a point of the plane.
_PAIR = LazyPattern(r"\(\s*([^(),=]+?)\s*,\s*([^(),=]+?)\s*\)")


def placed_arguments(text: str) -> list[str] | None:
    """Return the arguments of `tangent` or `taylor` for a formula with its place in words; None for
    another text.

    >>> placed_arguments("line of x^3 at x=1"), placed_arguments("cos x around 0")
    (['x^3', '--at', 'x=1'], ['cos x', '--at', '0'])
    """
    match = _PLACED.fullmatch(text) if len(text) <= MAX_LENGTH else None
    return None if match is None else [match[1], "--at", match[2]]


def tangent_arguments(text: str) -> list[str] | None:
    """Return the arguments of `tangent` for a formula with its place, or a point, in words; None
    for another text.

    >>> tangent_arguments("to x^2 + y^2 = 25 at (3, 4)"), tangent_arguments("of x^3 at (2, 8)")
    (['x^2 + y^2 = 25', '--at', 'x=3,y=4'], ['y = x^3', '--at', 'x=2,y=8'])
    """
    placed = placed_arguments(text)
    pair = _PAIR.fullmatch(placed[-1]) if placed else None
    if placed is None or pair is None:
        return placed
    formula = placed[0]
    axes = _axes_of(formula)
    if len(axes) == 1 and "=" not in formula and axes != ["y"]:
        formula, axes = f"y = {formula}", [*axes, "y"]
    if len(axes) != 2:
        return None
    # `v = t^2`
    across = ["--wrt", axes[0]] if axes[1] != "y" and is_bound(axes[1], formula) else []
    return [formula, "--at", f"{axes[0]}={pair[1]},{axes[1]}={pair[2]}", *across]


def _axes_of(formula: str) -> list[str]:
    """Return the names that the coordinates of a point are for, in order; other names if they are
    not two.
    """
    names = sorted({*names_in(formula)} - {*FUNCTIONS, *COMPOSED, *CONSTANTS})
    if {"x", "y"} <= {*names}:
        return ["x", "y"]
    bound = next((part.name for part in statements_of(formula) if part.kind == "bind"), "")
    return sorted(names, key=lambda name: name == bound)
