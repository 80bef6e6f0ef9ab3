"""What a question of calculus in words asks, beyond derivatives, integrals and limits.

Each is read as the arguments of the command that answers it, or as a formula, and only where it
asks one thing: `maximum of x^3 on [0, 2]` is refused, since a search finds local ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from ..capability import resolve
from ..engine.run.flat_graph import Graph
from ..engine.table.operators import CONSTANT, DIV, POW
from ..engine.table.primitive import COMPOSED, FUNCTIONS
from ..errors import usage_error
from ..language.builder import CONSTANTS
from ..language.diagnostics.leniency import read_leniently
from ..language.tokens import LazyPattern, names_in, plain_number
from ..operating_system import quoted
from .parse_point import split
from .problem import letters_of, may_be_product, parse

# A longer text is no question: patterns may take the square of its length, and more.
MAX_LENGTH = 500

INFINITY = LazyPattern(r"∞|\\infty\b|\boo\b|\binf(?:inity)?\b", re.IGNORECASE)

# Patterns may take the cube of the length of such a run.
_BLANKS = LazyPattern(r"(\s)\s+")

# `find the derivative of x^2`, `what is the slope of x^2 at 3`.
_ASKED = LazyPattern(
    r"(?:(?:please|find|compute|calculate|determine|evaluate|give(?:\s+me)?|what\s+(?:is|are)|what's|show\s+me)\s+)+"
    r"(?:the\s+)?(?![=+*/^,;:<>)-])(.+?)\s*\??",
    re.DOTALL | re.IGNORECASE,
)
_PAIR_BEHIND = LazyPattern(r"(.+?)\s+at\s+(?:the\s+point\s+)?\(([^()=]+,[^()=]+)\)", re.DOTALL)
# A value without a name: `3`, `pi/4`, `45°`, `1/2`, `sqrt(2)`.
BARE_VALUE = (
    r"[-+−]?(?:[\d.]+(?:\s*/\s*[\d.]+)?\s*(?:°|deg(?:rees?)?\b)?|[\d.]*\s*\*?\s*(?:pi|π)(?:\s*/\s*\d+)?"
    r"|(?:sqrt|ln|log)\(\s*[\d.]+\s*\))"
)
_NUMBER_BEHIND = LazyPattern(rf"(.+?)\s+at\s+({BARE_VALUE})", re.DOTALL)
ASSIGNED = r"[^\W\d]\w*\s*=\s*[^=<>,\s][^=<>,]*"
_VALUES_BEHIND = LazyPattern(
    rf"(.+?)\s+(?:at|when|where|for|with)\s+({ASSIGNED}(?:,\s*{ASSIGNED})*)", re.DOTALL
)


def without_request(text: str) -> str:
    """Return a question without the words that only say that it is one.

    >>> without_request("what is the slope of x^2 at 3?"), without_request("find = x")
    ('slope of x^2 at 3', 'find = x')
    """
    asked = _ASKED.fullmatch(text) if len(text) <= MAX_LENGTH else None
    return text if asked is None else asked[1]


def formula_at(text: str) -> list[str]:
    """Return a formula, and `--at` with the point that stands behind it in words, if any.

    >>> formula_at("x^2*y at (1, 2)"), formula_at("sin(x) at pi/4"), formula_at("x^2")
    (['x^2*y', '--at', 'x=1,y=2'], ['sin(x)', '--at', 'pi/4'], ['x^2'])
    >>> formula_at("V/I at V=5±0.1, I=2"), formula_at("xy + yz at (1, 2, 3)")
    (['V/I', '--at', 'V=5±0.1, I=2'], ['xy + yz', '--at', 'x=1,y=2,z=3'])
    """
    text = text.strip()
    if len(text) > MAX_LENGTH:
        return [text]
    if pair := _PAIR_BEHIND.fullmatch(text):
        numbers, names = split(pair[2]), variables_in(pair[1])
        # the point of `xy + x` is one in x and y
        parts = [letters_of(name) if may_be_product(name, names) else [name] for name in names]
        names = sorted({part for name in parts for part in name} - CONSTANTS.keys())
        if len(numbers) != len(names):
            return [text]
        point = ",".join(f"{name}={x.strip()}" for name, x in zip(names, numbers, strict=True))
        return [pair[1], "--at", point]
    behind = _NUMBER_BEHIND.fullmatch(text) or _VALUES_BEHIND.fullmatch(text)
    return [text] if behind is None else [behind[1], "--at", behind[2]]


def variables_in(formula: str) -> list[str]:
    """Return the names of a formula that are no functions and constants, in the order of the
    alphabet.
    """
    return sorted({*names_in(formula)} - {*FUNCTIONS, *COMPOSED, *CONSTANTS})


# `on [0, 3]`, `from 0 to 3`.
_ENDS = (
    r"\s*(?:(?:on|over)\s+(?:the\s+interval\s+)?\[\s*([^\[\],]+?)\s*,\s*([^\[\],]+?)\s*\]"
    r"|(?:,\s*)?(?:from|between)\s+(?:x\s*=\s*)?(\S.*?)\s+(?:to|and)\s+(?:x\s*=\s*)?(\S.*?))"
)
_NAMED_FUNCTION = LazyPattern(r"(?:y|[fgh]\s*\(\s*\w+\s*\))\s*=(?!=)\s*")


def _ends(match: re.Match[str], first: int) -> tuple[str, str]:
    return match[first] or match[first + 2], match[first + 1] or match[first + 3]


def without_name(text: str) -> str:
    """Return the formula of `y = x^2` or `f(x) = x^2`; another text as it is."""
    text = text.strip()
    named = _NAMED_FUNCTION.match(text)
    return text if named is None else text[named.end() :]


def _variable(formula: str) -> str:
    """Return the first variable of a formula, for hints; `x` for one without, or the name of a
    function.
    """
    names = [] if formula.isidentifier() else variables_in(formula)
    return (names or ["x"])[0]


def _has_value_everywhere(formula: str) -> bool:
    """Return whether a formula certainly has a value for all numbers, and no kinks and jumps.

    >>> _has_value_everywhere("3*x**2 - x/2 + sin(x)"), _has_value_everywhere("2/(3*x**(1/3))")
    (True, False)
    """
    graph = parse(formula).graph

    def constant(i: int) -> float | None:
        return graph.data[i] if graph.primitives[i] is CONSTANT else None

    for primitive, parents in zip(graph.primitives, graph.parents, strict=True):
        if not parents:
            continue
        last = constant(parents[-1])
        if primitive is DIV:
            is_defined = bool(last)
        elif primitive is POW:
            is_whole = last is not None and last >= 0 and last == int(last)
            is_defined = is_whole or (constant(parents[0]) or 0) > 0
        else:
            is_defined = primitive.total and not (primitive.may_kink or primitive.jumps)
        if not is_defined:
            return False
    return True


def _derivative(formula: str) -> tuple[str, str]:
    """Return the derivative of a formula in one variable, and the variable. Raises a usage error
    for several variables.
    """
    names = variables_in(formula)
    if len(names) != 1:
        hint = f"`autodiff diff {quoted(formula)}` has the derivatives; solve them for 0"
        raise usage_error("of several variables, each derivative is 0 at such a point", hint)
    text, _ = read_leniently(formula, lambda read: (read, parse(read)))
    return resolve("formulas.diff.diff")(text[0], wrt=names).derivatives[0].formula, names[0]


def _graph(formula: str) -> Graph:
    return read_leniently(formula, parse)[0].graph


def _critical_points(match: re.Match[str]) -> list[str]:
    """Return `solve` for where the derivative is 0. Raises a usage error where there may be others."""
    formula = without_name(match[2])
    if formula.isidentifier() and formula != "x":
        return ["solve", f"{formula}'(x) = 0"]
    derivative, name = _derivative(formula)
    if not _has_value_everywhere(derivative):
        message = f"a critical point may be where the derivative `{derivative}` has no value, too"
        hint = f"for where it is 0: `autodiff solve {quoted(f'{derivative} = 0')} --for {name}`"
        raise usage_error(message, hint)
    return ["solve", f"{derivative} = 0", "--for", name]


def _inflection_points(match: re.Match[str]) -> list[str]:
    formula = without_name(match[1])
    hint = f"`autodiff diff {quoted(formula)} --order 2`, then `autodiff solve` for where that formula is 0"
    raise usage_error("at an inflection point the second derivative changes its sign", hint)


def _local_extreme(match: re.Match[str]) -> list[str]:
    """Refuse a local extreme: a search finds one, and which depends on its start."""
    kind, formula = match[2].lower()[:3], without_name(match[3])
    hint = (
        f"the one next to a start: `autodiff {kind}imize {quoted(formula)} --at {_variable(formula)}=1`;"
        f" where the derivative is 0: `autodiff {quoted(f'critical points of {formula}')}`"
    )
    raise usage_error("a function may have several local extremes", hint)


def _extrema(match: re.Match[str]) -> list[str]:
    formula = without_name(match[1])
    hint = (
        f"where the derivative is 0: `autodiff {quoted(f'critical points of {formula}')}`; whether one is"
        f" an extreme: `autodiff hessian {quoted(formula)} --at {_variable(formula)}=1`"
    )
    raise usage_error("extremes are not found all at once", hint)


def _solved_for(match: re.Match[str]) -> list[str]:
    return ["solve", match[1].removeprefix("solve "), "--for", match[2]]


def _arg_extreme(match: re.Match[str]) -> list[str]:
    by = ["--wrt", match[2]] if match[2] else []
    return [f"{match[1].lower()}imize", match[3].removeprefix("of "), *by]


def _nabla(match: re.Match[str]) -> list[str]:
    return ["diff", *formula_at(match[1])]


def _extreme_between(match: re.Match[str]) -> list[str]:
    """Refuse an extreme of an interval, which a search does not prove."""
    kind, formula, (low, high) = match[1].lower()[:3], without_name(match[2]), _ends(match, 3)
    bounds = f"{_variable(formula)}={low}:{high}"
    hint = f"`autodiff {kind}imize {quoted(formula)} --bounds {bounds} --starts 20`, and compare the ends"
    raise usage_error(
        "the largest or smallest value on an interval is not proven here: a search finds local ones",
        hint,
    )


def _linear_approximation(match: re.Match[str]) -> list[str]:
    formula, *place = formula_at(without_name(_near(match[2])))
    if not place:
        hint = f"name the point: `autodiff {quoted('linear approximation of sqrt(x) at 4')}`"
        raise usage_error("a linear approximation is one at a point", hint)
    if match[1].lower().startswith("quadratic"):
        return ["taylor", formula, *place, "--order", "2"]
    return ["tangent", formula, *place]


def _near(text: str) -> str:
    """Return a text whose place begins with `at`."""
    return str(_PLACE_WORDS.sub(" at ", text))


_PLACE_WORDS = LazyPattern(
    r"\s+(?:near|around|about|centered\s+at|centred\s+at)\s+(?:(?:a|x)\s*=\s*(?=[-\d]))?"
)
_ORDER_BEHIND = LazyPattern(
    r"(.+?),?\s+(?:(?:up\s+)?to|of|with|in)?\s*(?:the\s+)?(?:(?:order|degree)\s+(\d+)|(\d+)(?:st|nd|rd|th)\s+(?:order|degree)|(\d+)\s+terms)",
    re.DOTALL,
)
_NUMERALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"}


def _series(match: re.Match[str]) -> list[str] | None:
    """Return the arguments of `taylor`, with its place and order where they are said."""
    order, kind, text = match[1], match[2].lower(), match[3]
    behind = _ORDER_BEHIND.fullmatch(text)
    if behind is not None:
        if order or behind[4]:
            return None  # `5 terms` may be those that are 0, too
        text, order = behind[1], behind[2] or behind[3]
    formula, *place = formula_at(without_name(_near(text)))
    if order:
        place += ["--order", _NUMERALS.get(order.lower(), "".join(re.findall(r"\d+", order)))]
    return None if kind == "maclaurin" and "--at" in place else ["taylor", formula, *place]


def series_arguments(text: str) -> list[str] | None:
    """Return the arguments of `taylor` for what stands behind it in words; None for another text.

    >>> series_arguments("series of e^x at 0 to order 5"), series_arguments("cos(x) around 0")
    (['e^x', '--at', '0', '--order', '5'], ['cos(x)', '--at', '0'])
    """
    asked = _BEHIND_TAYLOR.fullmatch(text)
    found = calculus_arguments(f"taylor series of {asked[1]}") if asked else None
    return None if found is None else found[1:]


_BEHIND_TAYLOR = LazyPattern(
    r"\s*(?:(?:series|polynomial|expansion)\s+)?(?:(?:of|for)\s+)?(.+)", re.DOTALL
)


def _derivatives_at(match: re.Match[str]) -> list[str]:
    command = _command(match[1])
    formula, *place = formula_at(without_name(match[2]))
    return [command, _outputs(formula) if command == "jacobian" else formula, *place]


def _called_at(match: re.Match[str]) -> list[str]:
    """Return the arguments of `grad(x*y)(1, 2)`."""
    return [_command(match[1]), *formula_at(f"{match[2]} at {match[3]}")]


def _command(word: str) -> str:
    return "grad" if word.lower() == "gradient" else word.lower()


def _outputs(formula: str) -> str:
    """Return the outputs of `(x*y, x + y)`; another formula as it is."""
    inner = formula[1:-1]
    depths = accumulate((sign == "(") - (sign == ")") for sign in inner)
    is_one_pair = formula[:1] == "(" and formula[-1:] == ")" and min(depths, default=0) >= 0
    return inner if is_one_pair and len(split(inner)) > 1 else formula


def _average_value(match: re.Match[str]) -> list[str]:
    low, high = _ends(match, 2)
    return [
        "integrate",
        f"({without_name(match[1])})/({high} - ({low}))",
        "--between",
        f"{low}:{high}",
    ]


def _rate_of_change(match: re.Match[str]) -> list[str] | None:
    formula, (low, high) = without_name(match[1]), _ends(match, 2)
    names = variables_in(formula)
    if formula.isidentifier() and names != ["x"]:
        return ["grad", f"({formula}({high}) - {formula}({low}))/({high} - ({low}))", "--no-tree"]
    if len(names) != 1 or "f" in names:
        return None
    program = f"f({names[0]}) = {formula}; (f({high}) - f({low}))/({high} - ({low}))"
    return ["grad", program, "--no-tree"]


def _area_between(match: re.Match[str]) -> list[str]:
    low, high = _ends(match, 3)
    difference = f"abs(({without_name(match[1])}) - ({without_name(match[2])}))"
    return ["integrate", difference, "--between", f"{low}:{high}"]


def _area_without_ends(match: re.Match[str]) -> list[str]:
    first, second = without_name(match[1]), without_name(match[2])
    hint = (
        f"they meet where `autodiff solve {quoted(f'{first} = {second}')}` says; then"
        f" `autodiff {quoted(f'area between {first} and {second} from 0 to 1')}`"
    )
    raise usage_error("an area needs its ends", hint)


def _area_under(match: re.Match[str]) -> list[str]:
    formula, (low, high) = without_name(match[1]), _ends(match, 2)
    hint = (
        f"`autodiff integrate {quoted(formula)} --between {low}:{high}` counts what is below the axis as negative,"
        f" `autodiff integrate {quoted(f'abs({formula})')} --between {low}:{high}` as positive"
    )
    raise usage_error("an area under a curve can be meant in two ways", hint)


def _arc_length(match: re.Match[str]) -> list[str]:
    formula, (low, high) = without_name(match[1]), _ends(match, 2)
    derivative, name = _derivative(formula)
    if any(
        primitive.jumps or primitive.gives_condition for primitive in _graph(formula).primitives
    ):
        hint = "take the length of each piece: the derivative says nothing of a jump"
        raise usage_error("the curve may have a jump", hint)
    return ["integrate", f"sqrt(1 + ({derivative})^2)", "--between", f"{name}={low}:{high}"]


def _volume(match: re.Match[str]) -> list[str]:
    """Return `integrate` for discs about the x-axis. Raises a usage error for another axis, or none."""
    formula, axis, (low, high) = without_name(match[1]), match[2] or match[7], _ends(match, 3)
    name = _variable(formula)
    discs, ends = f"pi*({formula})^2", f"{name}={low}:{high}"
    if axis is not None and axis.lower() == "x":
        return ["integrate", discs, "--between", ends]
    shells = f"2*pi*{name}*({formula})"
    hint = (
        f"about the {name}-axis: `autodiff integrate {quoted(discs)} --between {ends}`; about the other one, of"
        f" what is below the curve: `autodiff integrate {quoted(shells)} --between {ends}`, where neither"
        f" `{name}` nor the formula is negative"
    )
    raise usage_error("a volume of revolution depends on the axis", hint)


def _directional_derivative(match: re.Match[str]) -> list[str] | None:
    """Return `jacobian` along the unit vector of a direction."""
    formula, *place = formula_at(without_name(match[1]))
    names, parts = variables_in(formula), [part.strip() for part in split(match[2])]
    if not place or len(names) != len(parts) or not all(map(plain_number, parts)):
        return None
    squares = [f"{part}^2" if part[:1].isdigit() else f"({part})^2" for part in parts]
    length = f"sqrt({' + '.join(squares)})"
    is_unit = sum(Fraction(part) ** 2 for part in parts) == 1
    along = [part if is_unit else f"{part}/{length}" for part in parts]
    direction = ",".join(f"{name}={x}" for name, x in zip(names, along, strict=True))
    return ["jacobian", formula, *place, "--direction", direction]


def _steps(match: re.Match[str]) -> list[str]:
    return ["diff", *formula_at(without_name(match[match.lastindex or 0])), "--steps"]


def _by_lhopital(match: re.Match[str]) -> list[str]:
    formula, *place = formula_at(_near(match[1]))
    if not place:
        hint = f"name it: `autodiff limit {quoted(formula)} --at {_variable(formula)}=0`"
        raise usage_error("a limit needs its place", hint)
    return ["limit", formula, *place]


def _limit(match: re.Match[str]) -> list[str] | None:
    """Return `limit` for a formula and the place that its variable goes to."""
    formula = match[1].strip()
    if formula.partition(" ")[0].lower() in ("lim", "limit", "find", "the"):
        return None
    return ["limit", formula, "--at", f"{match[2]}={INFINITY.sub('inf', match[3].strip())}"]


def _newton(match: re.Match[str]) -> list[str]:
    """Refuse Newton's method, whose steps are not shown."""
    formula = match[1] if "=" in match[1] else f"{match[1]} = 0"
    start = f"{_variable(formula)}={match[2] or 1}"
    hint = f"the root next to a start: `autodiff solve {quoted(formula)} --at {start}`"
    raise usage_error("steps of Newton's method are not shown", hint)


def _riemann_sum(match: re.Match[str]) -> list[str]:
    hint = (
        "the integral itself, as in `autodiff integrate 'x^2' --between 0:1`; a sum of ten terms, as in"
        " `autodiff 'sum((k/10)^2/10, k, 1, 10)'`"
    )
    raise usage_error("a Riemann sum can be taken in several ways", hint)


def _domain(match: re.Match[str]) -> list[str]:
    formula = without_name(match[2])
    hint = (
        f"whether there is a value at a point: `autodiff grad {quoted(formula)} --at {_variable(formula)}=1`;"
        f" a picture: `autodiff plot {quoted(formula)}`"
    )
    raise usage_error(f"the {match[1].lower()} of a formula is not computed", hint)


def _asymptotes(match: re.Match[str]) -> list[str]:
    formula = without_name(match[1])
    hint = (
        f"far out: `autodiff limit {quoted(formula)} --at {_variable(formula)}=inf`; poles, where 1 divided by it is 0:"
        f" `autodiff solve {quoted(f'1/({formula}) = 0')}`"
    )
    raise usage_error("asymptotes are limits, and are asked for one by one", hint)


def _gradient_descent(match: re.Match[str]) -> list[str] | None:
    settings = {"from": "", "rate": "", "steps": ""}
    variables = names_in(match[1])
    for name, value in re.findall(r"([^\W\d]\w*)\s*=\s*([-+]?[\d.]+(?:e-?\d+)?)", match[2] or ""):
        kind = "from" if name in variables else _SETTINGS.get(name, "from")
        settings[kind] += ("," if settings[kind] else "") + (
            value if kind != "from" else f"{name}={value}"
        )
    options = (("--at", "from"), ("--rate", "rate"), ("--steps", "steps"))
    return [
        "descend",
        match[1],
        *[x for option, kind in options if settings[kind] for x in (option, settings[kind])],
    ]


_SETTINGS = dict.fromkeys(("lr", "rate", "alpha", "eta"), "rate") | dict.fromkeys(
    ("steps", "epochs", "iterations", "n"), "steps"
)


def _implicit_derivative(match: re.Match[str]) -> list[str] | None:
    formula, *place = formula_at(match[1])
    has_both = {"x", "y"} <= {*names_in(formula)}
    return ["diff", formula, *place, "--for", "y", "--wrt", "x"] if has_both else None


def _percentage(match: re.Match[str]) -> list[str]:
    first, second = match[1], match[2]
    hint = (
        f"where {second} is the true value: `autodiff {quoted(f'abs({first} - {second})/{second}*100')}`; of their"
        f" mean: `autodiff {quoted(f'abs({first} - {second})/mean({first}, {second})*100')}`"
    )
    raise usage_error("a difference in per cent is one of a value, which is not said", hint)


_OF = r"\s+(?:of|for)\s+(?:the\s+(?:function|curve)\s+)?"
_NUMBER = r"[-+]?[\d.]+"
_NAME = r"[^\W\d]\w*"
_AXIS = r"(?:,?\s+(?:about|around)\s+the\s+([a-z])[\s-]+axis)?"
_STEPS = (
    r"(?:(?:(?:show|give|list)\s+(?:me\s+)?)?(?:the\s+)?(?:steps|derivation|working)"
    r"|(?:the\s+)?(?:chain|product|quotient|power)\s+rule)"
)
_SLOPE = r"(?:(?:the\s+)?derivative\s+of\s+|differentiate\s+|d/d[a-z]\s+)?"
_QUESTIONS: tuple[tuple[LazyPattern, Callable[[re.Match[str]], list[str] | None]], ...] = tuple(
    (LazyPattern(pattern, re.DOTALL | re.IGNORECASE), answer)
    for pattern, answer in (
        (r"([^=<>]+=[^=<>]+?)\s+for\s+([^\W\d]\w*)", _solved_for),
        (r"arg\s?(min|max)(?:_\{?(\w+)\}?)?(?:\s+|\s*(?=\())(.+)", _arg_extreme),
        (
            rf"([^=]+?),?\s+(?:as|when)\s+({_NAME})\s*(?:->|→|approaches|tends\s+to|goes\s+to)\s*(.+)",
            _limit,
        ),
        (r"(?:∇(?![²^·×.])|nabla\s)\s*([^=]+)", _nabla),
        (rf"(critical|stationary)\s+(?:points?|numbers?|values?){_OF}(.+)", _critical_points),
        (rf"(?:points?\s+of\s+inflection|inflection\s+points?){_OF}(.+)", _inflection_points),
        (rf"((?:local|relative)\s+)(max|min)\w*{_OF}(.+)", _local_extreme),
        (rf"(?:(?:local|relative)\s+)?(?:extrem(?:a|um)|turning\s+points?){_OF}(.+)", _extrema),
        (
            rf"(?:absolute\s+|global\s+)?(max|min)\w*(?:\s+value)?{_OF}(.+?){_ENDS}",
            _extreme_between,
        ),
        (rf"(linear|quadratic)\s+approximation{_OF}(.+)", _linear_approximation),
        (rf"(linear)i[sz](?:ation{_OF}|e\s+)(.+)", _linear_approximation),
        (
            r"(?:(first|second|third|fourth|fifth|\d+(?:st|nd|rd|th))[\s-]+(?:order\s+|degree\s+)?)?(taylor|maclaurin)"
            rf"\s+(?:series|polynomial|expansion){_OF}(.+)",
            _series,
        ),
        (rf"(gradient|hessian|jacobian){_OF}(.+?\s+at\s+\S.*)", _derivatives_at),
        (
            r"(grad|gradient|hessian|jacobian)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(\([^()]+,[^()]+\))",
            _called_at,
        ),
        (rf"(?:average|mean)(?:\s+value)?{_OF}(.+?){_ENDS}", _average_value),
        (rf"(?:average\s+)?rate\s+of\s+change{_OF}(.+?){_ENDS}", _rate_of_change),
        (
            r"implicit(?:ly)?\s+(?:differentiat\w+|derivative)\s+(?:of\s+)?([^=]+=[^=]+)",
            _implicit_derivative,
        ),
        (rf"area\s+between\s+(.+?)\s+and\s+(.+?){_ENDS}", _area_between),
        (r"area\s+between\s+(.+?)\s+and\s+(.+)", _area_without_ends),
        (rf"area\s+under\s+(?:the\s+curve\s+)?(.+?){_ENDS}", _area_under),
        (
            r"gradient\s+descent\s+(?:(?:on|of|for)\s+)?(.+?)(?:,?\s+(?:from|with|at|for)\s+(.+=.+))?",
            _gradient_descent,
        ),
        (rf"arc\s?length{_OF}(.+?){_ENDS}", _arc_length),
        (
            rf"volume\s+(?:of\s+(?:the\s+)?(?:solid\s+of\s+)?revolution){_OF}(.+?){_AXIS}{_ENDS}{_AXIS}",
            _volume,
        ),
        (
            rf"directional\s+derivative{_OF}(.+?)\s+(?:along|in\s+(?:the\s+)?direction(?:\s+of)?)\s+"
            r"(?:the\s+vector\s+)?[(\[<⟨]([^()\[\]<>⟨⟩]+)[)\]>⟩]",
            _directional_derivative,
        ),
        (rf"{_STEPS}\s+(?:of\s+|for\s+)?{_SLOPE}(.+)", _steps),
        (
            rf"{_SLOPE}(.+?),?\s+(?:with|showing)\s+(?:the\s+)?steps|{_SLOPE}(.+?),?\s+step\s+by\s+step",
            _steps,
        ),
        (
            r"l['’]?\s?h[oô]s?pital(?:['’]?s)?(?:\s+rule)?\s+(?:(?:of|for|on|to)\s+)?(.+)",
            _by_lhopital,
        ),
        (
            rf"newton(?:['’]?s)?\s+method\s+(?:(?:of|for|on)\s+)?(.+?)(?:,?\s+(?:from|at|with|starting\s+at)\s+(?:x_?0?\s*=\s*)?({_NUMBER}))?",
            _newton,
        ),
        (r"(?:(?:left|right|midpoint|upper|lower)\s+)?riemann\s+sum\s.+", _riemann_sum),
        (rf"(domain|range|codomain|image){_OF}(.+)", _domain),
        (rf"(?:(?:vertical|horizontal|slant|oblique)\s+)?asymptotes?{_OF}(.+)", _asymptotes),
        (
            rf"per\s?cent(?:age)?\s+(?:error|difference)\s+(?:of|between|measured|:)?\s*({_NUMBER})"
            rf"\s*(?:,|and|vs\.?|true|actual|expected|accepted)\s*({_NUMBER})",
            _percentage,
        ),
    )
)


def calculus_arguments(text: str) -> list[str] | None:
    """Return a command with its arguments for a question of calculus in words; None for another
    text.

    Raises a usage error, with what to type, for one that asks several things.

    >>> calculus_arguments("critical points of x^3 - 3x"), calculus_arguments("linearization of sqrt(x) at 4")
    (['solve', '3*x**2 - 3 = 0', '--for', 'x'], ['tangent', 'sqrt(x)', '--at', '4'])
    >>> calculus_arguments("average value of x^2 on [0, 3]"), calculus_arguments("x^2 on [0, 3]")
    (['integrate', '(x^2)/(3 - (0))', '--between', '0:3'], None)
    """
    if len(text) > MAX_LENGTH:
        return None
    text = _BLANKS.sub(r"\1", text)
    for pattern, answer in _QUESTIONS:
        match = pattern.fullmatch(text)
        if match is not None:
            return answer(match)
    return None


# `mean of 1.2, 1.3 and 1.5`.
_MEAN = LazyPattern(
    rf"(?:mean|average){_OF}({_NUMBER}(?:\s*(?:,|and|,\s*and)\s*{_NUMBER})+)", re.IGNORECASE
)


# `sum of n^2 from n=1 to 10`, `Σ_{k=1}^{10} k²`, `sum(n^2, n=1..10)`.
_SUM = LazyPattern(
    r"(?:the\s+)?(sum|product)(?:\s+of)?\s+(.+?)\s+(?:from|for|over)\s+([^\W\d_])\s*(?:=|from)\s*"
    r"(\S+)\s+to\s+(\S+)",
    re.DOTALL | re.IGNORECASE,
)
_SIGMA = LazyPattern(
    r"(Σ|∑|∏|Π|sum|prod)_\s*[{(]?\s*([^\W\d_])\s*=\s*([^\s{}()^]+)\s*[})]?\s*\^\s*(?:[{(]([^{}()]+)[})]|(\w+|∞))\s*(.+)",
    re.DOTALL,
)
_SUM_CALL = LazyPattern(
    r"(sum|prod|product)\(\s*(.+)\s*,\s*([^\W\d_])\s*=\s*([^\s.,]+)\s*(?:\.\.+|:|to)\s*([^\s.,]+)\s*\)",
    re.DOTALL,
)
_CHOOSE = LazyPattern(r"(\d{1,4})\s+choose\s+(\d{1,4})", re.IGNORECASE)
# The number of an angle, `sin 30 degrees`; `°C` is no angle.
_DEGREES = LazyPattern(
    r"(\b(?:a|arc)?(?:sin|cos|tan|sec|csc|cot)\s*\(?\s*[-+]?\d+(?:\.\d+)?)\s*degrees?\b(?!\s*[A-Za-z])"
)


def _over_index(text: str) -> str | None:
    """Return a sum or a product over an index as the language has it; None for another text. Raises
    a usage error for one without end.
    """
    if (words := _SUM.fullmatch(text) or _SUM_CALL.fullmatch(text)) is not None:
        kind, term, index, low, high = words.groups()
    elif (sign := _SIGMA.fullmatch(text)) is not None:
        kind, index, low, inner, last, term = sign.groups()
        high = inner or last
    else:
        return None
    name = "sum" if kind.lower() in ("sum", "σ", "∑") else "prod"
    if index not in names_in(term):
        return None  # `sum of squares`
    if INFINITY.search(high):
        hint = f"a part of it: `autodiff {quoted(f'{name}({term}, {index}, {low}, 1000)')}`"
        raise usage_error("a series without end is not summed", hint)
    return f"{name}({term}, {index}, {low}, {high})"


_CONVERT = LazyPattern(r"convert\s+(\S.*\s(?:to|in|into|as)\s+\S.*)", re.DOTALL | re.IGNORECASE)
# A leaf of micrograd's engine.
_VALUE_OF_ENGINE = LazyPattern(rf"\bValue\(\s*({_NUMBER})\s*(?:,[^()]*)?\)")


def worded_formula(text: str) -> str:
    """Return the formula of a question in words that is one; another text as it is.

    >>> worded_formula("mean of 1, 2 and 6"), worded_formula("what is 2 + 3?")
    ('mean(1, 2, 6)', '2 + 3')
    >>> worded_formula("sum of n^2 from n=1 to 10"), worded_formula("5 choose 2")
    ('sum(n^2, n, 1, 10)', 'prod((5 - 2 + k)/k, k, 1, 2)')
    >>> worded_formula("convert 5 mph to m/s"), worded_formula("a = Value(2.0, label='a')")
    ('5 mph to m/s', 'a = 2.0')
    """
    text = _VALUE_OF_ENGINE.sub(r"\1", without_request(text))
    if len(text) > MAX_LENGTH:
        return text
    if (conversion := _CONVERT.fullmatch(text)) is not None:
        return str(conversion[1])
    if (over_index := _over_index(str(_BLANKS.sub(r"\1", text)))) is not None:
        return over_index
    if (choose := _CHOOSE.fullmatch(text)) is not None:
        total, chosen = int(choose[1]), int(choose[2])
        return f"prod(({total} - {chosen} + k)/k, k, 1, {chosen})" if 0 < chosen <= total else text
    text = str(_DEGREES.sub(r"\1°", text))
    mean = _MEAN.fullmatch(text)
    return text if mean is None else f"mean({', '.join(re.findall(_NUMBER, mean[1]))})"


_SUBJECT_TO = LazyPattern(
    r"(.+?),?\s+(?:subject\s+to|such\s+that|s\.?t\.?|constrained\s+to|with\s+constraint)\s+(.+)",
    re.DOTALL,
)
_FROM_TO = LazyPattern(
    r"(.+?)\s+(?:from|for)\s+(?:([^\W\d]\w*)\s*=\s*)?(\S.*?)\s+to\s+(\S.*)", re.DOTALL
)

_ERROR_IN = LazyPattern(
    r"\A(?:(?:the\s+)?(?:errors?|uncertaint(?:y|ies))\s+)?(?:in|of|on|for)\s+", re.IGNORECASE
)
_TO_FILE = LazyPattern(
    r"(.+?)\s+(?:to|with|from|on|using|in)\s+(?:the\s+data\s+(?:in|of|from)\s+)?(\S+\.(?:csv|tsv|txt|dat|xlsx|jsonl?|parquet|arrow))",
    re.DOTALL,
)


def arguments_in_words(command: str, rest: str) -> list[str]:
    """Return the arguments of a command before a question in words: what follows `of`, its point,
    constraints or range.

    >>> arguments_in_words("hessian", "of x^2*y at (1, 2)"), arguments_in_words("plot", "x^2 from -2 to 2")
    (['x^2*y', '--at', 'x=1,y=2'], ['x^2', '--range', '-2:2'])
    >>> arguments_in_words("minimize", "x^2 + y^2 subject to x + y = 1")
    ['x^2 + y^2', '--subject-to', 'x + y = 1']
    """
    rest = rest.strip().removeprefix("of ").strip()
    if len(rest) > MAX_LENGTH:
        return [rest]
    if command in ("minimize", "maximize") and (bound := _SUBJECT_TO.fullmatch(rest)):
        return [bound[1], "--subject-to", bound[2].replace(" and ", "; ")]
    if command == "fit" and (named := _TO_FILE.fullmatch(rest)):
        return [named[1], "--data", named[2]]
    if command == "plot" and (between := _FROM_TO.fullmatch(rest)):
        name = f"{between[2]}=" if between[2] else ""
        return [between[1], "--range", f"{name}{between[3]}:{between[4]}"]
    if command == "propagate":
        rest = str(_ERROR_IN.sub("", rest))
    if command == "jacobian":
        formula, *place = formula_at(rest)
        return [_outputs(formula), *place]
    placed = ("grad", "hessian", "diff", "trace", "graph", "check", "propagate")
    return formula_at(rest) if command in placed else [rest]


_PLAIN_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# `3 +-2` is a sum, in parentheses too: what is a formula of the language keeps its meaning.
_SIGN = r"\s*(?:±|\+/[-−])\s*"
# A unit behind a measured number, or nothing.
_UNIT_OF = r"((?:(?:\s+[^\W\d_][\w/^*²³⁻¹·]*|\s*°[CF]?)(?=\s*(?:$|[-+*/)×·])))?)"
_POWER_BEHIND = r"[eE][-+−]?\d{1,3}(?![\w.(])"
# `(5.0 ± 0.1)`, `(5.0 +/- 2%) kg`.
_MEASURED = LazyPattern(
    rf"(?<!\))\(\s*([-+]?{_PLAIN_NUMBER}){_SIGN}({_PLAIN_NUMBER}\s*%?)\s*\)"
    rf"(?!\s*[(\[]|{_POWER_BEHIND}){_UNIT_OF}"
)
# `6.674(15)e-11`, `(1.2 ± 0.1)e3`, in which `e` is no Euler's number: as values are read.
_MEASURED_SCALED = LazyPattern(
    r"(?<![\w.)])("
    rf"(?:\d+(?:\.\d+)?\(\d{{1,2}}\)|\(\s*[-+]?{_PLAIN_NUMBER}{_SIGN}{_PLAIN_NUMBER}\s*\))"
    rf"{_POWER_BEHIND}){_UNIT_OF}"
)
_UNIT_BEHIND = r"(?:\s+[^\W\d_][\w^²³⁻¹·]*|\s*°[CF]?)"
# `2.5 ± 0.1` between sums, and `5.0 ± 0.1 V` before products too: there they ask one thing.
_MEASURED_TERM = LazyPattern(
    rf"(?<![\w.±])({_PLAIN_NUMBER}{_SIGN}{_PLAIN_NUMBER}(?:\s*%)?)"
    rf"(?=\s*(?:$|[-+)])|{_UNIT_BEHIND}\s*(?:$|[-+*/)×·]))"
)
_SUM_BEFORE = LazyPattern(r"(?:^|[-+(])\s*\Z")
_QUANTITY_BEFORE = LazyPattern(rf"{_SIGN}{_PLAIN_NUMBER}(?:\s*%)?{_UNIT_BEHIND}\s*[*/×·]\s*\Z")
# `5.0(1)`: 5.0 ± 0.1, or the product of both.
_IN_DIGITS = LazyPattern(r"(?<![\w.])(\d+)\.(\d+)\((\d{1,2})\)(?![\w(])")


def _in_own_parentheses(term: re.Match[str]) -> str:
    """Return a measured term in parentheses, where it is not in some already, and where what is
    before it cannot be a factor of its number alone.
    """
    before, behind = term.string[: term.start()], term.string[term.end() :]
    is_enclosed = before.endswith("(") and behind.startswith(")")
    is_clear = _SUM_BEFORE.search(before) or _QUANTITY_BEFORE.search(before)
    return f"({term[1]})" if is_clear and not is_enclosed else term[1]


def _of_last_digits(decimals: str, spread: str) -> str:
    """Return the uncertainty that `spread` is of the last digits of a number: 1.2 in `12.3(12)`."""
    from decimal import Decimal  # few lines have one

    return f"{Decimal(spread).scaleb(-len(decimals)):f}"


def measured_arguments(text: str) -> list[str] | None:
    """Return the arguments of `propagate` for a formula of measured numbers; None for another text.

    Each gets a name: two that are written alike need not be one measurement. Raises a usage error for
    `5.0(1)`, which is a product too.

    >>> measured_arguments("(5.0 ± 0.1) * (2.0 +/- 0.2)")
    ['propagate', 'x1 * x2', '--at', 'x1=5.0±0.1,x2=2.0±0.2']
    >>> measured_arguments("5.0±0.1 V / 2.0±0.2 A"), measured_arguments("2*5.0±0.1")
    (['propagate', 'x1 / x2', '--at', 'x1=5.0±0.1 V,x2=2.0±0.2 A'], None)
    """
    if len(text) <= MAX_LENGTH:
        text = str(_MEASURED_TERM.sub(_in_own_parentheses, text))
    if (digits := _IN_DIGITS.search(text)) is not None:
        last = _of_last_digits(digits[2], digits[3])
        hint = (
            f"for a measured value, `({digits[1]}.{digits[2]} ± {last})`; for a product,"
            f" `{digits[1]}.{digits[2]}*{digits[3]}`"
        )
        raise usage_error(f"`{digits[0]}` can be read in two ways", hint)
    found = [(term.span(), f"{term[1]}±{term[2]}{term[3]}") for term in _MEASURED.finditer(text)]
    found += [(term.span(), f"{term[1]}{term[2]}") for term in _MEASURED_SCALED.finditer(text)]
    if not found:
        return None
    found.sort()
    taken = {*names_in(text)}
    names = [name for k in range(1, len(found) + len(taken) + 1) if (name := f"x{k}") not in taken]
    formula, values = text, []
    for ((start, end), value), name in reversed([*zip(found, names, strict=False)]):
        is_argument = formula[:start][-1:].isalnum()
        put = f"({name})" if is_argument else name
        formula = f"{formula[:start]}{put}{formula[end:]}"
        values.append(f"{name}={value}")
    return ["propagate", formula, "--at", ",".join(reversed(values))]
