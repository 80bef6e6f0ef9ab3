"""Suggestions for unknown names, calls and missing values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from ...engine.table.primitive import COMPOSED, FUNCTIONS
from ...engine.table.primitives import library_names as native_names
from ...errors import ExpressionError, Offer, Span, either, near_words, spelling_hint
from ..parser import parse
from ..reader import ParseFailure
from ..tokens import LazyPattern, UnexplainedText
from ..typesetting import GREEK, TYPICAL_FUNCTIONS, plain_name
from .absent_functions import absent_function
from .context import ENDS, POWERS, TIGHT, Context, Kind

MAX_SPELLING = 72  # longer spellings are not offered, as nobody would read them
MAX_CONTEXT = 2000  # after a longer text a spelling is checked alone
MAX_NODES = 10_000  # calls that expand to more nodes are not checked
MAX_NAME_LENGTH = 40  # longer names are not split
MAX_SPLITS = 16  # ways of splitting a name that are tried

# Names of functions in other programs, in lower case.
_CALLED = {
    "tg": "tan", "tgn": "tan", "sen": "sin", "ctg": "cot", "cotg": "cot", "cotan": "cot",
    "ctan": "cot", "cosec": "csc", "arctg": "atan", "arctn": "atan", "arcsen": "asin",
    "arcctg": "acot", "arccotg": "acot", "arccosec": "acsc", "sh": "sinh", "senh": "sinh",
    "ch": "cosh", "th": "tanh", "tgh": "tanh", "cth": "coth", "ctgh": "coth", "arsh": "asinh",
    "arch": "acosh", "arth": "atanh", "lb": "log2", "ld": "log2", "sgn": "sign", "signum": "sign",
    "fabs": "abs", "iabs": "abs", "labs": "abs", "cabs": "abs", "absolute": "abs", "fmax": "max",
    "amax": "max", "fmin": "min", "amin": "min", "ceiling": "ceil", "power": "pow", "average": "mean",
    "product": "prod", "maximum": "max", "minimum": "min", "expit": "sigmoid", "degrees": "deg",
    "rad2deg": "deg", "radians": "rad", "deg2rad": "rad", "cuberoot": "cbrt", "lngamma": "lgamma",
    "heavisidetheta": "heaviside", "alog": "log", "alog10": "log10", "dsqrt": "sqrt", "dexp": "exp",
    "dlog": "log", "dlog10": "log10", "dsin": "sin", "dcos": "cos", "dtan": "tan", "dasin": "asin",
    "dacos": "acos", "datan": "atan", "dsinh": "sinh", "dcosh": "cosh", "dtanh": "tanh",
    "dabs": "abs", "lg": "log10", "log_2": "log2", "log_10": "log10", "log_e": "log", "if": "where",
    "pnorm": "normcdf", "dnorm": "normpdf", "qnorm": "norminv", "ndtr": "normcdf",
    "ndtri": "norminv", "probit": "norminv", "normsinv": "norminv", "lambertw0": "lambertw",
    "leakyrelu": "leaky_relu",
    "lambert_w": "lambertw", "productlog": "lambertw", "igamma": "gammainc", "igammac": "gammaincc",
    "gammap": "gammainc", "gammaq": "gammaincc", "gamma_p": "gammainc", "gamma_q": "gammaincc",
    "gamma_inc": "gammainc", "ibeta": "betainc", "incbeta": "betainc", "betai": "betainc",
    "beta_inc": "betainc", "beta_incomplete_regularized": "betainc", "jn": "besselj",
    "yn": "bessely", "jv": "besselj", "yv": "bessely", "iv": "besseli", "kv": "besselk",
    "si": "Si", "ci": "Ci", "ei": "Ei", "sinintegral": "Si", "cosintegral": "Ci",
    "logintegral": "li", "expintegralei": "Ei", "fresnel_s": "fresnels", "fresnel_c": "fresnelc",
    "bessel_j": "besselj", "bessel_y": "bessely", "bessel_i": "besseli", "bessel_k": "besselk",
}  # fmt: skip

# Functions of other languages as expressions.
_WRITTEN = {
    "betaregularized": "betainc({1}, {2}, {0})", "pbeta": "betainc({1}, {2}, {0})",
    "sind": "sin(rad({0}))", "cosd": "cos(rad({0}))", "tand": "tan(rad({0}))",
    "factorial": "gamma({0} + 1)", "fact": "gamma({0} + 1)", "square": "{0}**2", "cube": "{0}**3",
    "mod": "({0} - {1}*floor({0}/{1}))",
}  # fmt: skip
_WRITTEN_ARGUMENTS = {
    name: 1 + max([k for k in range(3) if f"{{{k}}}" in written])
    for name, written in _WRITTEN.items()
}

# Ambiguous names: `LOG` is natural in Fortran, and decimal in a spreadsheet.
_SEVERAL = {"log": ("log", "log10"), "lg": ("log10", "log2")}

# Functions whose two arguments may be swapped in capitals.
_TURNED = frozenset((*native_names("log atan2"), "arctan2"))

_DOUBTED = frozenset(("sinc", "round"))  # functions with other values there
_BASE = LazyPattern(r"log_(\d+)")
_VARIABLE = LazyPattern(r"(?<![\w.])\d*+([^\W\d]\w*+)(?!\s*[(\[])")
_NUMBER_BEFORE = LazyPattern(r"(?<![\w.])[0-9.]+\Z")
_RAISED = LazyPattern(r"\s*(?:(?:\^|\*\*)\s*[-+]?\w*|[⁻⁰¹²³⁴-⁹]+)")
_EXPONENT = LazyPattern(r"[dD]\d{1,4}")
_NO_DERIVATIVE = "write the function itself: autodiff computes its derivatives"
_NO_SIZE = "write the length of a list as a number: `sum(x)/3`, `mean(x)`, `sum(x[i]**i, i, 1, 3)`"
_NOT_HERE = dict.fromkeys(
    ("diff", "deriv", "derivative", "differentiate", "grad", "gradient"), _NO_DERIVATIVE
)
_NOT_HERE |= dict.fromkeys(("len", "length", "size", "numel", "shape"), _NO_SIZE)
"""Hints for other programs' functions, by name."""


def _program(text: str) -> Any:
    with suppress(ParseFailure, ExpressionError):
        return parse(text, most=MAX_NODES)
    return None


def is_program(text: str) -> bool:
    """Return whether the text is a valid program, and no condition."""
    program = _program(text)
    if program is None:
        return False
    return not any(program.all_nodes.primitives[i].gives_condition for i in program.roots)


def meaning(text: str) -> object:
    """Return a key that is equal for texts with equal meaning; None for no program."""
    program = _program(text)
    if program is None:
        return None
    graph = program.all_nodes
    leaves = {place: name for name, place in program.leaves.items()}
    nodes = zip(graph.primitives, graph.parents, graph.data, strict=False)
    return (
        tuple(
            [(node.name, parents, leaves.get(i), x) for i, (node, parents, x) in enumerate(nodes)]
        ),
        program.roots,
    )


def may_offer(spelling: str, earlier: str = "", *, last: bool = True) -> bool:
    """Return whether to suggest a spelling for a statement after the `earlier` ones."""
    if len(spelling) > MAX_SPELLING or set("`\r\n") & set(spelling):
        return False
    if any(name in FUNCTIONS and name not in GREEK for name in _VARIABLE.findall(spelling)):
        return False  # `1/(sin*x)`
    if len(earlier) > MAX_CONTEXT or not is_program(f"{earlier}0"):
        earlier = ""
    return is_program(earlier + spelling) or (not last and is_program(f"{earlier}{spelling}; 0"))


class NamePart(NamedTuple):
    """A piece of a name: a function, a number, or a name with a value."""

    text: str
    is_function: bool = False


def own_name(name: str, known_names: Collection[str]) -> str:
    """Return the name here of another language's function. Raises `KeyError` for variables."""
    if name in known_names or (len(name) < 3 and name != "tg"):
        raise KeyError(name)
    plain = plain_name(name)  # `log₁₀`
    return plain if plain != name and plain in FUNCTIONS else _CALLED[name]


def suggest_for_call(
    text: str, span: Span, end: int, known_names: Collection[str]
) -> tuple[Offer, ...]:
    """Return the suggestions for a call of an unknown function."""
    name, call = text[span.start : span.end], text[span.end : end]
    context = Context(text, ParseFailure((), span.start), known_names)
    arguments = _arguments(context)
    lower = plain_name(name).lower()
    following = context.kinds[context.partner.get(context.at + 1, context.at) + 1]
    if lower == "pi" and arguments == [""]:
        return (Offer(span.start, end, "pi", shown=("pi",)),)
    names, calls, certain = _meant_by(name, arguments, following, known_names)
    offers = [
        Offer(span.start, span.end, function, certain, (f"{function}{call}",)) for function in names
    ]
    offers += [Offer(span.start, end, spelling, certain, (spelling,)) for spelling in calls]
    is_other = lower in _NOT_HERE or bool(absent_function(name))
    for parts in () if is_other else _divide(name, {*known_names, name[:1]}):
        if parts[-1].is_function and not any(part.is_function for part in parts[:-1]):
            offers += _products(context, "*".join(part.text for part in parts), call, end)
    return tuple([offer for offer in offers if not offer.shown or may_offer(offer.shown[0])])


def _meant_by(
    name: str, arguments: Sequence[str], following: str, known_names: Collection[str]
) -> tuple[Sequence[str], Sequence[str], bool]:
    """Return the functions that a name may mean, or calls in place of its own, and whether that is
    certain.
    """
    lower, count = plain_name(name).lower(), len(arguments)
    if lower == "lg" or (lower, count) == ("log", 1):
        return _SEVERAL[lower], (), False
    if count == 1 and (base := _base_in_name(lower)):
        return (), [f"log({arguments[0]}, {base})"], False
    if count == _WRITTEN_ARGUMENTS.get(lower):
        certain = lower == name and following not in POWERS + Kind.UNREADABLE
        return (), [_as_expression(lower, arguments)], certain
    if lower in _TURNED and count == 2 and name not in ("LOG", lower):
        first, second = arguments
        return (), [f"{lower}({first}, {second})", f"{lower}({second}, {first})"], False
    if lower in _CALLED or _in_capitals(name, lower, known_names):
        return [_CALLED.get(lower, lower)], (), lower not in _DOUBTED
    return (), (), False


def _in_capitals(name: str, lower: str, known_names: Collection[str]) -> bool:
    """Return whether a name is a function in capital letters; `Li` is another one than `li`."""
    is_function = lower != name and (lower in FUNCTIONS or lower in COMPOSED)
    return is_function and name[:1] not in known_names and not absent_function(name)


def _base_in_name(name: str) -> str:
    """Return the base of a logarithm such as `log_3` that is no function of another language; empty
    of others.
    """
    found = None if name in _CALLED else _BASE.fullmatch(name)
    return found[1] if found else ""


def _as_expression(name: str, arguments: Sequence[str]) -> str:
    """Return a call of another language's function, written with operations of this one."""
    if name in ("square", "cube", "mod"):
        arguments = [x if re.fullmatch(r"[\w.]+", x) else f"({x})" for x in arguments]
    return _WRITTEN[name].format(*arguments)


def is_glued(name: str, known_names: Collection[str]) -> bool:
    """Return whether a name can be split."""
    return len(name) <= MAX_NAME_LENGTH and any(True for _ in _divide(name, known_names))


def power_of_ten(text: str, span: Span) -> Offer | None:
    """Return the reading of `x10` as a factor ten, if it stands between a number and an exponent:
    `1.2x10^3`.
    """
    number = _NUMBER_BEFORE.search(text[: span.start])
    raised = _RAISED.match(text, span.end)
    if number is None or raised is None:
        return None
    return Offer(span.start, span.start + 1, "*", False, (f"{number[0]}*10{raised[0]}",))


def missing(text: str, name: str, span: Span, known_names: Collection[str]) -> tuple[Offer, ...]:
    """Return suggestions for a missing name made of known names and functions."""
    context = Context(text, ParseFailure((), span.start), known_names)
    following = context.kinds[context.at + 1]
    if name in ("PI", "Pi"):
        return (Offer(span.start, span.end, "pi", shown=("pi",)),)
    if _EXPONENT.fullmatch(name) and (
        number := re.search(r"(?<![\w.])[0-9.]+\Z", text[: span.start])
    ):
        return (Offer(span.start, span.end, f"e{name[1:]}", shown=(f"{number[0]}e{name[1:]}",)),)
    if name in FUNCTIONS or len(name) > MAX_NAME_LENGTH:
        return ()
    offers: dict[str, Offer] = {}
    for parts in _divide(name, known_names, exponential=following in POWERS):
        if parts[-1].is_function:
            continue
        for offer in _readings(context, parts, span.end):
            offers.setdefault(offer.text, offer)
        if len(offers) > 2:
            break
    return tuple(list(offers.values())[:3])


def _arguments(c: Context) -> list[str]:
    if c.kinds[c.at + 1 : c.at + 2] != Kind.OPEN or c.at + 1 not in c.partner:
        return []
    end = c.partner[c.at + 1]
    arguments, start, depth = [], c.tokens[c.at + 1].end, 0
    for token in c.tokens[c.at + 2 : end]:
        depth += (token.kind == Kind.OPEN) - (token.kind == Kind.CLOSE)
        if token.kind == Kind.COMMA and not depth:
            arguments.append(c.text[start : token.start].strip())
            start = token.end
    return [*arguments, c.text[start : c.tokens[end].start].strip()]


class _Division:
    """A name that is divided into known names, functions, digits and constants."""

    def __init__(self, name: str, known_names: Collection[str], *, exponential: bool) -> None:
        self.name, self.exponential = name, exponential
        functions = [f for f, row in FUNCTIONS.items() if len(row.params) == 1 and not row.variadic]
        self.words = [NamePart(word) for word in {*known_names, "π"} if word and word in name]
        self.words += [NamePart(f, True) for f in functions if f in name]
        self.has_pi = "pi" not in known_names
        self.has_e = "e" not in known_names
        self.possible = self._possible_places()

    def _possible_places(self) -> set[int]:
        """Return the places from which the rest can be split, to avoid dead ends."""
        name = self.name
        possible = {len(name)}
        for at in range(len(name) - 1, -1, -1):
            special = name[at].isdigit() or self._is_e(at) or (at == 0 and name.startswith("pi"))
            if special or any(at + len(word.text) in possible for word in self._words_at(at)):
                possible.add(at)
        return possible

    def _words_at(self, at: int) -> list[NamePart]:
        return [word for word in self.words if self.name.startswith(word.text, at)]

    def _is_e(self, at: int) -> bool:
        """Return whether Euler's number may stand at the end, before its exponent."""
        return self.exponential and self.name[at:] == "e"

    def parts_at(self, at: int, before: NamePart | None) -> Iterator[NamePart]:
        """Yield what may stand at a place; digits are the argument of a function."""
        yield from self._words_at(at)
        if before is None:
            if self.has_pi and self.name.startswith("pi"):
                yield NamePart("pi")
            return
        if self.has_e and self._is_e(at):
            yield NamePart("e")
        if before.is_function and (digits := re.match("[0-9]+", self.name[at:])):
            yield NamePart(digits[0])


def _divide(
    name: str, known_names: Collection[str], *, exponential: bool = False
) -> Iterator[tuple[NamePart, ...]]:
    """Yield ways of dividing a name into parts, the last words first."""
    division = _Division(name, known_names, exponential=exponential)
    count = 0
    ahead: list[tuple[NamePart, ...]] = [()]
    while ahead and count < MAX_SPLITS:
        parts = ahead.pop()
        at = sum(len(part.text) for part in parts)
        if at == len(name) and len(parts) > 1:
            yield parts
            count += 1
        if at < len(name) and at in division.possible:
            ahead += [
                (*parts, part) for part in division.parts_at(at, parts[-1] if parts else None)
            ]


def _readings(c: Context, parts: Sequence[NamePart], end: int) -> Iterator[Offer]:
    if not any(part.is_function for part in parts):
        yield from _as_product(c, [part.text for part in parts], end)
        return
    # Each function takes everything up to the next one, or only the first name.
    short, long = _apply(parts, 1), _apply(parts, len(parts))
    is_sure = c.kinds[c.at + 1] in ENDS + Kind.EQUALS + Kind.CLOSING_BAR
    spellings = [short] if short == long else [long, short]
    if any(part.text.isdigit() for part in parts):
        spellings = [long, re.sub(r"(\w+?)\((\d+)\*(\w+)\)", r"\1(\3)**\2", long)]
    # `relu3` is more likely a name.
    has_names = any(not part.is_function and not part.text.isdigit() for part in parts)
    for spelling in spellings:
        yield Offer(c.tokens[c.at].start, end, spelling, is_sure and has_names, (spelling,))


def _as_product(c: Context, factors: Sequence[str], end: int) -> Iterator[Offer]:
    """Yield a name as a product, which is certain if it does not look like a word."""
    name = "".join(factors)
    letters = all(len(factor) == 1 and factor.isascii() for factor in factors)
    is_word = len({*factors}) < len(factors) or (letters and len(factors) > 3)
    is_word = is_word or any(len(function) > 2 and function in name for function in FUNCTIONS)
    yield from (
        offer._replace(certain=not is_word) for offer in _products(c, "*".join(factors), "", end)
    )


def _apply(parts: Sequence[NamePart], most: int) -> str:
    factors: list[str] = []
    names: list[str] = []
    for is_function, run in groupby(parts, lambda part: part.is_function):
        texts = [part.text for part in run]
        if is_function:
            names = texts
            continue
        if names:
            factors.append("(".join(names) + "(" + "*".join(texts[:most]) + ")" * len(names))
            texts = texts[most:]
        factors += texts
    return "*".join(factors)


# A name that is a factor where a space stands between it and parentheses.
_FACTOR = LazyPattern(rf"(?:(?![{TYPICAL_FUNCTIONS}])[^\W\d_]|{'|'.join(GREEK)})(?:[_\d]\w*)?")

# The functions that letters denote.
_LETTERS = {"Γ": "gamma", "ζ": "zeta", "ψ": "psi", "σ": "sigmoid", "β": "beta", "Β": "beta"}
# Bessel functions as textbooks and the library of C write them.
_BESSEL = LazyPattern(r"([JYIKjyik])(?:_?(?=\d)|_)(\d+|n|nu|ν)")
# Names of unknowns and coefficients: before a sum in parentheses they are factors, as in `x(y+1)`.
_FACTORS = frozenset("xzabckmn")
# The arguments of what may be a function of time or place: `x(t)`, `a(0)`.
_LONE = LazyPattern(r"\(\s*\w*\s*\)")


def _products(c: Context, product: str, call: str, end: int) -> Iterator[Offer]:
    """Yield a product instead of a name; after `/`, `^` or a root both readings."""
    token = c.tokens[c.at]
    sign = c.signs() - 1
    if sign >= 0 and c.kinds[sign] in TIGHT:
        left = sign
        with suppress(KeyError):
            if c.kinds[sign] != Kind.ROOT:
                left = c.term(sign) if c.kinds[sign] == Kind.DIVIDE else c.atom(sign)
        before = c.text[c.tokens[left].start : token.start]
        grouped = f"({product}{call})"
        yield Offer(token.start, end, grouped, shown=(before + grouped,))
        yield Offer(token.start, token.end, product, shown=(f"{before}{product}{call}",))
    else:
        yield Offer(token.start, token.end, product, shown=(f"{product}{call}",))


def explain(text: str, error: UnexplainedText, known_names: Collection[str]) -> ExpressionError:
    """Return the error with suggestions; `known_names` have values in the point."""
    assert error.span is not None
    offers: tuple[Offer, ...] = ()
    if error.after:
        named = f"y = {text[error.span.start : error.span.end]}"
        named = f"`{named}`" if may_offer(named) else "as in `y = x`"
        hint = f"give it a name, {named}, or leave it out"
        if text[error.after] in "+-−":
            hint = "put a sum over several lines in parentheses"
    elif error.functions is not None:
        hint, offers = _unknown(text, error.span, error.end, error.functions, known_names)
    else:
        hint, offers = _product(text, error.span, error.end, known_names)
    return ExpressionError(error.kind, str(error), error.span, hint, offers=offers)


def _unknown(
    text: str, span: Span, end: int, functions: Collection[str], known_names: Collection[str]
) -> tuple[str, tuple[Offer, ...]]:
    name = text[span.start : span.end]
    offers = suggest_for_call(text, span, end, known_names)
    if offers:
        return f"write {spelling_hint(offers)}", offers
    if name.lower() in _NOT_HERE:
        return _NOT_HERE[name.lower()], ()
    arguments = text[span.end : end].strip()
    if (bessel := _BESSEL.fullmatch(name)) and may_offer(f"{name}*{arguments}"):
        both = [f"bessel{bessel[1].lower()}({bessel[2]}, {arguments[1:]}", f"{name}*{arguments}"]
        return f"for the Bessel function or a product write {either(both)}", ()
    if title := absent_function(name):
        product = f"{name}*{text[span.end : end].strip()}"
        hint = f"it may be {title}, which the language lacks"
        return f"{hint}; for a product write `{product}`" if may_offer(product) else hint, ()
    near = near_words(name, [*FUNCTIONS, *COMPOSED, *functions], 3)
    return f"did you mean {either(near)}?" if near else "`autodiff functions` lists them all", ()


def _product(
    text: str, name_span: Span, end: int, known_names: Collection[str]
) -> tuple[str, tuple[Offer, ...]]:
    name, arguments = text[name_span.start : name_span.end], text[name_span.end : end].strip()
    context = Context(text, ParseFailure((), name_span.start), known_names)
    kinds, opening = context.kinds, context.at + 1
    if opening not in context.partner:  # behind another sign that does not fit
        return "a product has a sign between its factors, as in `a*b`", ()
    if context.partner[opening] == opening + 1:
        return f"for its value write `{name}`", (Offer(name_span.start, end, name, shown=(name,)),)
    what = "a product"
    sign = context.signs() - 1
    is_tight = sign >= 0 and kinds[sign] in TIGHT
    following = kinds[context.partner[opening] + 1]
    if sign > 0 and is_tight and kinds[sign] != Kind.ROOT and following not in POWERS:
        offers = [*_products(context, f"{name}*", arguments, end)]
        if kinds[sign - 1 : sign + 1] == Kind.FUNCTION + Kind.POWER:
            what = "a power, which stands after the argument of a function,"
            exponent = text[context.tokens[sign + 1].start : name_span.end]
            spelling = f"{context.text_between(sign - 1)}{arguments}**{exponent}"
            offers = [Offer(context.tokens[sign - 1].start, end, spelling, shown=(spelling,))]
    else:
        certain = not is_tight and _is_factor(context, name, arguments)
        offers = [
            Offer(
                name_span.end, context.tokens[opening].start, "*", certain, (f"{name}*{arguments}",)
            )
        ]
        if (function := _LETTERS.get(name)) and not certain:
            offers.insert(
                0,
                Offer(name_span.start, name_span.end, function, shown=(f"{function}{arguments}",)),
            )
    good = tuple([offer for offer in offers if may_offer(offer.shown[0])])
    if not good:
        # The content of the parentheses may need a repair of its own.
        unseen = tuple([offer._replace(shown=()) for offer in offers]) if len(offers) == 1 else ()
        return "a product has a sign between its factors, as in `a*b`", unseen
    title = absent_function(name)
    if title and what == "a product":
        return (
            (
                f"it may be {title}, which the language lacks; for a product write"
                f" {spelling_hint(good)}"
            ),
            good,
        )
    if name in _LETTERS and what == "a product":
        what = "the function or a product" if len(good) > 1 else "the function"
    return f"for {what} write {spelling_hint(good)}", good


def _is_factor(c: Context, name: str, arguments: str) -> bool:
    """Return whether the name before parentheses is a variable and not a function.

    It has a value, occurs elsewhere without parentheses, stands apart from them, or is a usual name
    of a factor.
    """
    elsewhere = (
        c.text_between(k)
        for k in range(len(c.tokens))
        if c.kinds[k : k + 2] != Kind.NAME + Kind.OPEN
    )
    if name in c.valued or name in elsewhere:
        return True
    is_apart = c.tokens[c.at + 1].start > c.tokens[c.at].end and _FACTOR.fullmatch(name) is not None
    return is_apart or (name in _FACTORS and _LONE.fullmatch(arguments) is None)
