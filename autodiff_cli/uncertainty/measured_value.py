"""Quantities: values with their uncertainties as people write them, and the written form of a result.

What is measured is a float that knows the distribution it stands for, so that points of quantities are points.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ExpressionError, Span, point_error
from ..inputs.parse_point import Typed, ValueOf, constant_value, pieces
from ..inputs.problem import UNCERTAIN_DIGITS

EXAMPLE = "write it as `5.00±0.02`, `5.00+-2%`, `19.66(10)e-3` or `uniform(4.9, 5.1)`"
SIGNIFICANT = 2
"""The digits of an uncertainty in a written result: JCGM 100:2008, 7.2.6."""


if TYPE_CHECKING:
    from ..quantities.unit import Unit


class Distribution(NamedTuple):
    """The distribution of a quantity: a family with its parameters, and the degrees of freedom of its uncertainty."""

    family: str
    parameters: tuple[float, ...]
    dof: float = math.inf
    """The degrees of freedom of the standard uncertainty."""


class MeasuredValue(Typed):
    """The estimate of a quantity, with its standard uncertainty and the distribution behind both."""

    __slots__ = ("copied", "distribution", "number", "uncertainty", "unit")
    uncertainty: float
    distribution: Distribution
    unit: Unit
    """Where it has one: the numbers are in coherent units then, but for `number`, which is the value in it."""
    number: float
    copied: tuple[str, Sequence[float]]
    """Of a value that draws are copies of: the name of their table, whose columns belong together, and its column."""


class Moments(NamedTuple):
    """Central moments of a quantity over powers of its standard uncertainty."""

    variance: float = 1.0
    """Not 1 for Student's t, whose scale is the standard uncertainty: JCGM 101:2008, 6.4.9."""
    third: float = 0.0
    fourth: float = 3.0


class Family(NamedTuple):
    """A family of distributions: its parameters, and the mean and standard deviation that they give."""

    signatures: tuple[str, ...]
    moments: Callable[..., tuple[float, float]]
    ends: bool = False
    """Whether the first parameter and the last number of the ends are limits, the first below the second."""
    shape: Callable[..., Moments] = lambda *_: Moments()
    """The higher moments, those of a normal distribution unless the family has others."""
    positive: tuple[int, ...] = ()
    """Which parameters are above 0."""


def _triangular(a: float, *rest: float) -> tuple[float, float]:
    mode, b = rest if len(rest) == 2 else ((a + rest[0]) / 2, rest[0])
    # in terms of the distances from the mode, which do not cancel
    left, right = mode - a, b - mode
    return mode + (right - left) / 3, math.sqrt((left * left + left * right + right * right) / 18)


def _triangular_shape(a: float, *rest: float) -> Moments:
    left, right = (rest[0] - a, rest[1] - rest[0]) if len(rest) == 2 else (1.0, 1.0)
    # of the parts of the width, whose powers do not overflow
    x, y = left / (left + right), right / (left + right)
    skewness = math.sqrt(2) * (y - x) * (2 * x + y) * (x + 2 * y) / (5 * (x * x + x * y + y * y) ** 1.5)
    return Moments(1.0, skewness, 2.4)


def _student_shape(m: float, s: float, dof: float) -> Moments:
    variance = dof / (dof - 2) if dof > 2 else math.inf
    return Moments(variance, 0.0, 3 * variance * (dof / (dof - 4)) if dof > 4 else math.inf)


def _lognormal(mu: float, s: float) -> tuple[float, float]:
    mean = math.exp(mu + s * s / 2)
    return mean, mean * math.sqrt(math.expm1(s * s))


def _lognormal_shape(mu: float, s: float) -> Moments:
    w = math.exp(s * s)
    return Moments(1.0, (w + 2) * math.sqrt(math.expm1(s * s)), w**4 + 2 * w**3 + 3 * w * w - 3)


def _beta(a: float, b: float, low: float, high: float) -> tuple[float, float]:
    return low + (high - low) * (a / (a + b)), (high - low) * math.sqrt(a * b / (a + b + 1)) / (a + b)


def _beta_shape(a: float, b: float, *_: float) -> Moments:
    n = a + b
    skewness = 2 * (b - a) * math.sqrt(n + 1) / ((n + 2) * math.sqrt(a * b))
    excess = 6 * ((a - b) ** 2 * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3))
    return Moments(1.0, skewness, 3 + excess)


def _two_piece(mode: float, below: float, above: float) -> tuple[float, float]:
    d = above - below
    return mode + math.sqrt(2 / math.pi) * d, math.sqrt((1 - 2 / math.pi) * d * d + below * above)


def _two_piece_shape(mode: float, below: float, above: float) -> Moments:
    # of the spreads over the larger one, whose powers do not overflow
    s, t = (x / max(below, above) for x in (below, above))
    c, left, right = math.sqrt(2 / math.pi), s / (s + t), t / (s + t)
    raw = [1.0, c * (t - s), right * t * t + left * s * s, 2 * c * (right * t**3 - left * s**3)]
    raw.append(3 * (right * t**4 + left * s**4))
    m = raw[1]
    variance = raw[2] - m * m
    third = raw[3] - 3 * m * raw[2] + 2 * m**3
    fourth = raw[4] - 4 * m * raw[3] + 6 * m * m * raw[2] - 3 * m**4
    return Moments(1.0, third / variance**1.5, fourth / variance**2)


FAMILIES = {
    "normal": Family(("normal(m, s)",), lambda m, s: (m, s)),
    "student": Family(("student(m, s, dof)",), lambda m, s, dof: (m, s), shape=_student_shape),
    "uniform": Family(
        ("uniform(a, b)",), lambda a, b: (a + (b - a) / 2, (b - a) / math.sqrt(12)), True,
        lambda *_: Moments(fourth=1.8),
    ),
    "triangular": Family(("triangular(a, b)", "triangular(a, mode, b)"), _triangular, True, _triangular_shape),
    "arcsine": Family(
        ("arcsine(a, b)",), lambda a, b: (a + (b - a) / 2, (b - a) / math.sqrt(8)), True,
        lambda *_: Moments(fourth=1.5),
    ),
    "trapezoidal": Family(
        ("trapezoidal(a, b, ratio)",),
        lambda a, b, r: (a + (b - a) / 2, (b - a) * math.sqrt((1 + r * r) / 24)), True,
        # the sum of two uniform quantities
        lambda a, b, r: Moments(fourth=3 - 0.6 * (1 + 6 * r * r + r**4) / (1 + r * r) ** 2),
    ),
    "lognormal": Family(("lognormal(mu, sigma)",), _lognormal, shape=_lognormal_shape),
    "gamma": Family(
        ("gamma(shape, scale)",), lambda k, scale: (k * scale, math.sqrt(k) * scale),
        shape=lambda k, _: Moments(1.0, 2 / math.sqrt(k), 3 + 6 / k), positive=(0, 1),
    ),
    "beta": Family(("beta(a, b, low, high)",), _beta, shape=_beta_shape, positive=(0, 1)),
    "poisson": Family(
        ("poisson(n)",), lambda n: (n, math.sqrt(n)),
        shape=lambda n: Moments(1.0, 1 / math.sqrt(n), 3 + 1 / n), positive=(0,),
    ),
    "exponential": Family(
        ("exponential(mean)",), lambda m: (m, m), shape=lambda _: Moments(1.0, 2.0, 9.0), positive=(0,),
    ),
    "twopiece": Family(("twopiece(mode, below, above)",), _two_piece, shape=_two_piece_shape, positive=(1, 2)),
    # copies of draws, which are not written: their mean, standard deviation, skewness and kurtosis
    "draws": Family((), lambda m, s, *_: (m, s), shape=lambda m, s, third, fourth: Moments(1.0, third, fourth)),
}  # fmt: skip
"""The families that a quantity can have; JCGM 101:2008, 6.4, and JCGM 100:2008, 4.3.9, for the trapezoid.

`lognormal` has the mean and the standard deviation of the logarithm, and `twopiece` two halves of normal distributions
that meet at the mode: S. John, Communications in Statistics A 11 (1982) 879.
"""


def limits(distribution: Distribution) -> tuple[float, float]:
    """The ends of the values that a distribution has."""
    family, p, _ = distribution
    if FAMILIES[family].ends:
        return p[0], p[1 if family == "trapezoidal" else -1]
    if family == "beta":
        return p[2], p[3]
    positive = family in ("lognormal", "gamma", "poisson", "exponential")
    return (0.0 if positive else -math.inf), math.inf


_CALL = re.compile(r"([^\W\d]\w*)\s*\((.*)\)", re.DOTALL)
_NUMBER = r"(?:\d++(?:\.\d*+)?|\.\d++)"
_POWER = r"(?:[eE]([+-]?\d{1,6}))?"
_CONCISE = re.compile(rf"([+-]?{_NUMBER}){_POWER}\s*+\(\s*+({_NUMBER})\s*+\){_POWER}", re.ASCII)
_BETWEEN = re.compile(r"±|\+/-|\+-")
_SCALED = re.compile(r"\((.*)\)\s*(?:[eE]([+-]?\d{1,6})|[*×·⋅]\s*(.+))", re.DOTALL)
_COVERAGE = re.compile(r"\(\s*k\s*=([^()]+)\)\s*$")
_PARENTHESES = re.compile(rf"[+-]?{_NUMBER}\(")
_REAL = rf"{_NUMBER}(?:[eE][+-]?\d{{1,6}})?"
_ABOVE, _BELOW = rf"\^\{{?\s*\+({_REAL})\s*\}}?", rf"_\{{?\s*-({_REAL})\s*\}}?"
_ASYMMETRIC = [
    (re.compile(rf"([+-]?{_REAL})(?:\s+|\s*,\s*)\+({_REAL})\s*[/,]?\s*-({_REAL})", re.ASCII), False),
    (re.compile(rf"([+-]?{_REAL})\s*{_ABOVE}\s*{_BELOW}", re.ASCII), False),
    (re.compile(rf"([+-]?{_REAL})\s*{_BELOW}\s*{_ABOVE}", re.ASCII), True),
]
"""A value with its uncertainties above and below, signs at their numbers, and whether the one below comes first."""
_DECIMAL = re.compile(rf"[+-]?{_NUMBER}{_POWER}", re.ASCII)


def is_asymmetric(text: str) -> bool:
    """Whether a text gives uncertainties above and below: `5.0 +0.2 -0.1`."""
    return any(pattern.fullmatch(text.strip().replace("−", "-")) for pattern, _ in _ASYMMETRIC)


def quantity(name: str, text: str, offset: int = 0) -> float:
    """The value that is given to a name, a `Quantity` where the text gives its uncertainty; else as `constant_value`.

    `5.00±0.02` (also `+/-`, `+-`; the second number may be a percentage), `19.66(10)e-3` and `19.66e-3(10)` give one
    standard uncertainty of a normal distribution; `5.00 ± 0.04 (k = 2)` gives that many of them. `offset` is where the
    text begins in a longer one. Raises `ExpressionError` of kind `point`.

    >>> x = quantity("x", "19.66(10)e-3")
    >>> x, x.uncertainty
    (0.01966, 0.0001)
    """
    written = text.strip().replace("−", "-")
    begin = offset + len(text) - len(text.lstrip())
    try:
        value = _quantity(name, written, begin, text)
    except ExpressionError as error:
        error.at(Span(begin, begin + max(1, len(written))))
        error.text = text
        raise
    return constant_value(name, text, offset) if value is None else value


class Spread(Typed):
    """The place of a value that each row of data has, with the one uncertainty of all: its text is `±0.02`."""

    __slots__ = ()


def with_spreads(value_of: ValueOf) -> ValueOf:
    """What reads values as another way does, or a `Spread`: `±0.02`, `+-2%`."""

    def read(name: str, text: str, offset: int = 0) -> float:
        written = text.strip()
        if not _BETWEEN.match(written):
            return value_of(name, text, offset)
        quantity(name, f"1{written}", offset)
        spread = Spread(0.0)
        spread.source = written
        return spread

    return read


def _quantity(name: str, written: str, begin: int, text: str) -> MeasuredValue | None:
    """The quantity that is written from a place on; None where the text gives no uncertainty."""
    called = _CALL.fullmatch(written)
    if (
        called
        and called[1] in FAMILIES
        and FAMILIES[called[1]].signatures
        and (called[1] != "gamma" or "," in called[2])
    ):
        return _drawn(name, called[1], called[2], begin + called.start(2), text)
    for pattern, below_first in _ASYMMETRIC:
        if match := pattern.fullmatch(written):
            value, above, below = float(match[1]), *map(float, match.groups()[1:][:: -1 if below_first else 1])
            if not (above > 0 and below > 0):
                raise _refused(name, text, "has an uncertainty of 0 on one side", EXAMPLE)
            parameters = value, below, above
            return _with_distribution(name, *_two_piece(*parameters), Distribution("twopiece", parameters), text)
    concise = _CONCISE.fullmatch(written)
    if concise and not (concise[2] and concise[4]):
        number, before, spread, behind = concise.groups()
        u = Decimal(spread)
        if "." not in spread:
            u = u.scaleb(-len(number.partition(".")[2]))
        scale = int(before or behind or 0)
        return _normal(name, _double(Decimal(number).scaleb(scale)), _double(u.scaleb(scale)), text)
    inside = UNCERTAIN_DIGITS.search(written)
    if inside and "+" not in inside[2]:
        message = f"has `{inside[0]}` in it, which is an uncertainty and no product"
        raise _refused(name, text, message, f"{EXAMPLE}; a product is `{inside[1].rstrip()}*{inside[2]}`")
    k = Decimal(1)
    coverage = _COVERAGE.search(written)
    if coverage:
        k = _number(name, written, *coverage.span(1), begin)
        if not k > 0:
            raise _refused(name, text, f"has the coverage factor {k}", "a coverage factor is above 0")
        written = written[: coverage.start()].rstrip()
    parts = _split(written, 0, len(written))
    factor = Decimal(1)
    if parts is None:
        scaled = _SCALED.fullmatch(written)
        parts = _split(written, *scaled.span(1)) if scaled else None
        if scaled is not None and parts is not None:
            factor = Decimal(f"1e{scaled[2]}") if scaled[2] else _number(name, written, *scaled.span(3), begin)
    if parts is not None:
        return _plus_minus(name, written, *parts, begin, factor, k, text)
    if coverage or written.endswith("%"):
        raise _refused(name, text, "has no value before its uncertainty", EXAMPLE)
    if _PARENTHESES.match(written):
        raise _refused(name, text, "has no digits of an uncertainty in its parentheses", EXAMPLE)
    return None


def _split(written: str, start: int, end: int) -> tuple[Span, Span] | None:
    """Split a text at the sign between a value and its uncertainty; None without such a sign."""
    at, depth, last = start, 0, ""
    for match in _BETWEEN.finditer(written, start, end):
        between = written[at : match.start()].rstrip()
        depth += between.count("(") - between.count(")")
        last = between[-1:] or last
        if last and depth == 0 and last not in "*/^+-eE(":
            return Span(start, match.start()), Span(match.end(), end)
        at, last = match.end(), match[0][-1]
    return None


def _plus_minus(
    name: str, written: str, before: Span, after: Span, begin: int, factor: Decimal, k: Decimal, text: str
) -> MeasuredValue:
    """The quantity of `before ± after`, both times a factor; the uncertainty is expanded by `k`."""
    spelled = written[after.start : after.end].strip()
    if _BETWEEN.search(spelled):
        raise _refused(name, text, "has two uncertainties", EXAMPLE)
    value = _number(name, written, before.start, before.end, begin) * factor
    relative = spelled.endswith("%")
    if not spelled.removesuffix("%").strip():
        raise _refused(name, text, "has no uncertainty behind the sign", EXAMPLE)
    end = written.rindex("%", after.start, after.end) if relative else after.end
    spread = _number(name, written, after.start, end, begin)
    if spread < 0:
        raise _refused(name, text, f"has the uncertainty {spelled}, which is below 0", "an uncertainty is 0 or above")
    u = abs(value) * spread / 100 if relative else spread * abs(factor)
    return _normal(name, _double(value), _double(u / k), text)


def _number(name: str, written: str, start: int, end: int, begin: int) -> Decimal:
    """The constant expression in a piece of what is written from a place on; what is a decimal is taken as that."""
    number = written[start:end]
    if _DECIMAL.fullmatch(number.strip()):
        return Decimal(number.strip())
    return Decimal(float(constant_value(name, number, begin + start)))


def _double(x: Decimal) -> float:
    try:
        return float(x)
    except (OverflowError, InvalidOperation):
        return math.inf


def _drawn(name: str, family: str, inner: str, begin: int, text: str) -> MeasuredValue:
    """The quantity of `family(…)`, the arguments of which begin at a place."""
    parameters_of_family = FAMILIES[family]
    arguments = [(inner[start:end], begin + start) for start, end in pieces(inner)] if inner.strip() else []
    counts = [signature.count(",") + 1 for signature in parameters_of_family.signatures]
    listed = " or ".join(f"`{signature}`" for signature in parameters_of_family.signatures)
    if len(arguments) not in counts or not all(argument for argument, _ in arguments):
        count = f"{len(arguments)} number{'' if len(arguments) == 1 else 's'}"
        raise _refused(name, text, f"gives `{family}` {count}", f"write it as {listed}")
    numbers = tuple(float(constant_value(name, *argument)) for argument in arguments)
    if parameters_of_family.ends:
        a, b = numbers[0], numbers[1] if family == "trapezoidal" else numbers[-1]
        if not a < b:
            raise _refused(name, text, f"goes from {a:g} to {b:g}", f"{listed}, with a below b")
        if len(numbers) == 3 and family == "triangular" and not a <= numbers[1] <= b:
            raise _refused(name, text, f"has its mode {numbers[1]:g} outside of the two ends", f"write it as {listed}")
        if family == "trapezoidal" and not 0 <= numbers[2] <= 1:
            message = f"has the ratio {numbers[2]:g} of its top to its base"
            raise _refused(name, text, message, "it is from 0 (a triangle) to 1 (a rectangle)")
    elif family == "beta" and not numbers[2] < numbers[3]:
        raise _refused(name, text, f"goes from {numbers[2]:g} to {numbers[3]:g}", f"{listed}, with low below high")
    elif parameters_of_family.positive:
        wrong = next((numbers[k] for k in parameters_of_family.positive if not numbers[k] > 0), None)
        if wrong is not None:
            raise _refused(name, text, f"has the parameter {wrong:g}", f"write it as {listed}, with numbers above 0")
    elif numbers[1] < 0:
        message = f"has the uncertainty {numbers[1]:g}, which is below 0"
        raise _refused(name, text, message, "an uncertainty is 0 or above")
    dof = numbers[2] if family == "student" else math.inf
    check_dof(name, dof)
    try:
        value, u = parameters_of_family.moments(*numbers)
    except OverflowError:
        value = u = math.inf
    return _with_distribution(name, value, u, Distribution(family, numbers, dof), text)


def of_draws(name: str, draws: Sequence[float]) -> MeasuredValue:
    """Return the quantity that draws are copies of. Raises `ExpressionError` of kind `point`.

    >>> x = of_draws("x", [1.0, 2.0, 6.0])
    >>> x, x.uncertainty
    (3.0, 2.6457513110645907)
    """
    mean, of_mean = means(draws)
    u = of_mean * math.sqrt(len(draws))
    shares = [(x - mean) / u for x in draws] if u else []
    third, fourth = (math.fsum(x**k for x in shares) / len(draws) for k in (3, 4))
    return _with_distribution(name, mean, u, Distribution("draws", (mean, u, third, fourth)), "")


def check_dof(name: str, dof: float) -> None:
    """Raise an `ExpressionError` for degrees of freedom that cannot be."""
    if not dof >= 1:
        raise point_error(f"`{name}` has {dof:g} degrees of freedom", "degrees of freedom are 1 or above")


def normal(name: str, value: float, u: float, text: str = "", dof: float = math.inf) -> MeasuredValue:
    """The quantity with this estimate and standard uncertainty. Raises `ExpressionError` of kind `point`."""
    if u < 0:
        raise point_error(f"`{name}` has the uncertainty {u:g}, which is below 0", "an uncertainty is 0 or above")
    return _with_distribution(name, value, u, Distribution("normal", (value, u), dof), text)


_normal = normal


def _with_distribution(name: str, value: float, u: float, distribution: Distribution, text: str) -> MeasuredValue:
    if not (math.isfinite(value) and math.isfinite(u)):
        raise point_error(f"`{name}` is too large for double precision", "change its unit")
    measured = MeasuredValue(value)
    measured.source = repr(value) if text else ""
    measured.uncertainty = u
    measured.distribution = distribution
    return measured


def _refused(name: str, text: str, what: str, hint: str) -> ExpressionError:
    return point_error(f"`{name}={' '.join(text.split())}` {what}", hint)


# ---- the written form of a result ---------------------------------------------------------------------------------
def rounded(value: float, u: float, digits: int = SIGNIFICANT) -> tuple[Decimal, Decimal]:
    """The uncertainty to so many significant digits, and the value to the same place: JCGM 100:2008, 7.2.6.

    >>> [str(x) for x in rounded(127.73217, 0.0710714)]
    ['127.732', '0.071']
    """
    place = last_place(u, digits)
    return _to_place(value, place), _to_place(u, place)


def last_place(u: float, digits: int = SIGNIFICANT) -> int:
    """The power of ten of the last digit that is kept of an uncertainty."""
    exact = Decimal(u)
    place = exact.adjusted() - digits + 1
    # 0.0996 is rounded to 0.10, which has its last digit one place higher
    return place + (_to_place(u, place).adjusted() > exact.adjusted())


def _to_place(x: float, place: int) -> Decimal:
    exact = Decimal(x)
    unit = Decimal(1).scaleb(place)
    if exact.adjusted() - place > 25:
        return exact
    return exact.quantize(unit, ROUND_HALF_UP)


def _power(value: Decimal, place: int) -> int:
    """The power of ten that is written out: none where the digits stand around the point anyway."""
    leading = max(value.adjusted(), place) if value else place
    return leading if place > 0 or leading < -4 else 0


def concise(value: float, u: float) -> str:
    """The result as `127.732(71)`, the digits in parentheses those of the standard uncertainty.

    >>> concise(5.670372482782e-8, 2.046e-13), concise(50000838.0, 31.7)
    ('5.670372(20)e-8', '50000838(32)')
    """
    if not u > 0 or not math.isfinite(u):
        return f"{value:.15g}"
    place = last_place(u)
    short, spread = rounded(value, u)
    power = _power(short, place)
    digits = int(spread.scaleb(-place))
    return f"{short.scaleb(-power):f}({digits})" + (f"e{power}" if power else "")


def plus_minus(value: float, expanded: float, k: float) -> str:
    """The result with its expanded uncertainty, as `127.73 ± 0.14 (k = 2.06)`: JCGM 100:2008, 7.2.4.

    >>> plus_minus(50000838.0, 93.0, 2.92)
    '50000838 ± 93 (k = 2.92)'
    """
    if not expanded > 0 or not math.isfinite(expanded):
        return f"{value:.15g}"
    place = last_place(expanded)
    short, spread = rounded(value, expanded)
    power = _power(short, place)
    body = f"{short.scaleb(-power):f} ± {spread.scaleb(-power):f}"
    return (f"({body})e{power}" if power else body) + f" (k = {k:.3g})"


def in_unit(interval: str, unit: str) -> str:
    """An interval such as `5.0 ± 0.1 (k = 2)`, with a unit behind a blank: `(5.0 ± 0.1) mm (k = 2)`."""
    body, k, coverage = interval.partition(" (k =")
    return f"({body}){unit}{k}{coverage}" if unit and k else interval + unit


def estimate(value: float, u: float) -> tuple[str, str]:
    """A value and its uncertainty as two texts that end at the same place."""
    if not u > 0:
        return f"{value:.15g}", "0"
    place = last_place(u)
    short, spread = rounded(value, u)
    power = _power(short, place)
    if power:
        # each with a power of its own, as it is read alone
        small = f"{float(spread):.{SIGNIFICANT - 1}e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
        return (f"{short.scaleb(-power):f}e{power}" if short else "0"), small
    return f"{short:f}", f"{spread:f}"


def means(readings: Sequence[float]) -> tuple[float, float]:
    """The mean of repeated readings, and the standard deviation of that mean; JCGM 100:2008, 4.2.

    >>> means([1.0, 2.0, 3.0])
    (2.0, 0.5773502691896257)
    """
    n = len(readings)
    mean = math.fsum(readings) / n
    # the first mean is rounded; what that leaves is taken out of the second one
    mean += math.fsum(x - mean for x in readings) / n
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in readings) / (n - 1) / n)
