"""Parsing of values with uncertainties, and notations of results."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ExpressionError, Span, plural, point_error
from .distributions import FAMILIES, Distribution
from .parse_point import Typed, constant_value, pieces
from .problem import UNCERTAIN_DIGITS

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit

EXAMPLE = "write it as `5.00±0.02`, `5.00+-2%`, `19.66(10)e-3` or `uniform(4.9, 5.1)`"
NEGATIVE = "an uncertainty is 0 or above"
UNCERTAINTY_DIGITS = 2  # digits of an uncertainty in a written result: JCGM 100:2008, 7.2.6
# digits of a value, from the largest double down to the second digit of the smallest
_EXACT = Context(prec=700)

BETWEEN = re.compile(r"±|\+/-|\+-")  # a value and its uncertainty
# The coverage factor behind an expanded uncertainty: `(k = 2)`, `(2σ)`.
COVERAGE = re.compile(r"\(\s*(?:k\s*=([^()]+)|(\d+(?:\.\d+)?)\s*[-*·]?\s*(?:σ|sigmas?))\s*\)\s*$")
_LEVEL = re.compile(r"[\w.)%]\s*(\(\s*\d+(?:\.\d+)?\s*%[^()]*\))\s*$")
_COVERED = "5.0±0.2 (k=1.96)"
_NUMBER = r"(?:\d++(?:\.\d*+)?|\.\d++)"
_POWER = r"(?:[eE]([+-]?\d{1,6}))?"
_REAL = rf"{_NUMBER}(?:[eE][+-]?\d{{1,6}})?"
_CALL = re.compile(r"([^\W\d]\w*)\s*\((.*)\)", re.DOTALL)
_CONCISE = re.compile(rf"([+-]?{_NUMBER}){_POWER}\s*+\(\s*+({_NUMBER})\s*+\){_POWER}", re.ASCII)
_SCALED = re.compile(
    r"\((.*)\)\s*(?:[eE]([+-]?\d{1,6})|(?:[*×·⋅]|x(?=\s*10\b))\s*(.+))?", re.DOTALL
)
# A power of ten behind an uncertainty whose value has none: `4.8±0.2×10^-3`.
_POWER_OF_ONE = re.compile(
    rf"\(?\s*([+-]?{_NUMBER})\s*(?:{BETWEEN.pattern})\s*({_NUMBER})"
    r"(\s*(?:[*×·⋅]|x(?=\s*10))\s*10\s*(?:(?:\^|\*\*)\s*[({]?\s*[-+−]?\d+\s*[)}]?|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))",
    re.ASCII,
)
_IN_PER_CENT = re.compile(
    rf"(?:\([^()]*(?:{BETWEEN.pattern})[^()]*\)|[+-]?{_NUMBER}\({_NUMBER}\))\s*%"
)
_PARENTHESES = re.compile(rf"[+-]?{_NUMBER}\(")
_ABOVE, _BELOW = rf"\^\{{?\s*\+(?P<above>{_REAL})\s*\}}?", rf"_\{{?\s*-(?P<below>{_REAL})\s*\}}?"
# A value with signed uncertainties above and below.
_ASYMMETRIC = [
    re.compile(rf"([+-]?{_REAL})(?:{behind})", re.ASCII)
    for behind in (
        rf"(?:\s+|\s*,\s*)\+(?P<above>{_REAL})\s*[/,]?\s*-(?P<below>{_REAL})",
        rf"\s*{_ABOVE}\s*{_BELOW}",
        rf"\s*{_BELOW}\s*{_ABOVE}",
    )
]
_DECIMAL = re.compile(rf"[+-]?{_NUMBER}{_POWER}", re.ASCII)


class MeasuredValue(Typed):
    """A float with its standard uncertainty and its distribution."""

    __slots__ = (
        "copied",
        "distribution",
        "limit",
        "nominal",
        "number",
        "typed",
        "uncertainty",
        "unit",
    )
    uncertainty: float
    distribution: Distribution
    unit: Unit  # if it has one, `number` and `typed` are in it, and all else in coherent units
    number: float
    typed: MeasuredValue
    copied: tuple[str, Sequence[float]]
    limit: str  # `stated`: written with ±; `tolerance`: by limits, one of which is the value
    nominal: str  # of a tolerance the end that is the value: `low` or `high`


class Spread(Typed):
    """The uncertainty of all rows of data, in place of a value: `±0.02`, `±20 mV`."""

    __slots__ = ("in_unit",)
    in_unit: str  # "" without a unit of its own


def check_powers(name: str, text: str) -> None:
    """Raise an error for a power of ten that may be of the uncertainty or of both: `4.8±0.2×10^-3`."""
    found = _POWER_OF_ONE.match(text.strip())
    if found is not None:
        value, spread, power = found.groups()
        hint = (
            f"for both write `({value}±{spread}){power.strip()}`, for the uncertainty alone"
            f" `{value}±({spread}{power.strip()})`"
        )
        raise point_error(
            f"the power of ten in `{name}={' '.join(text.split())}` can be of its uncertainty, or of"
            " both",
            hint,
            Span(0, len(text)),
        )


def is_asymmetric(text: str) -> bool:
    """Return whether a text has uncertainties above and below: `5.0 +0.2 -0.1`."""
    return any(pattern.fullmatch(text.strip().replace("−", "-")) for pattern in _ASYMMETRIC)


def quantity(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a text, with its uncertainty if it has one.

    `5.00±0.02` gives one standard uncertainty, `5.00 ± 0.04 (k = 2)` two. `offset` is the text's
    place in a longer one.

    >>> x = quantity("x", "19.66(10)e-3")
    >>> x, x.uncertainty
    (0.01966, 0.0001)
    """
    written = text.strip().replace("−", "-")
    begin = offset + len(text) - len(text.lstrip())
    try:
        value = _ValueText(name, text, begin).measured(written)
    except ExpressionError as error:
        error.at(Span(begin, begin + max(1, len(written))))
        error.text = text
        raise
    return constant_value(name, text, offset) if value is None else value


class _ValueText:
    def __init__(self, name: str, text: str, begin: int) -> None:
        self.name, self.text, self.begin = name, text, begin

    def refused(self, what: str, hint: str = EXAMPLE) -> ExpressionError:
        return point_error(f"`{self.name}={' '.join(self.text.split())}` {what}", hint)

    def measured(self, written: str) -> MeasuredValue | None:
        """Return the value with its uncertainty, in the first notation that fits; None without an
        uncertainty.
        """
        call = _CALL.fullmatch(written)
        # `gamma(5)` is a function
        if (
            call
            and (family := FAMILIES.get(call[1]))
            and family.signatures
            and (call[1] != "gamma" or "," in call[2])
        ):
            return self.of_family(call[1], call[2], self.begin + call.start(2))
        for pattern in _ASYMMETRIC:
            if match := pattern.fullmatch(written):
                return self.asymmetric(
                    float(match[1]), float(match["below"]), float(match["above"])
                )
        if _IN_PER_CENT.fullmatch(written):
            example = (
                "write it as in `(1.50±0.02)*0.01`; or leave `%` out if the formula takes per cent"
            )
            raise self.refused(
                "has `%` behind a value with its uncertainty, and that is no unit here", example
            )
        concise = _CONCISE.fullmatch(written)
        if concise and not (concise[2] and concise[4]):
            return self.concise(*concise.groups())
        inside = UNCERTAIN_DIGITS.search(written)
        if inside and "+" not in inside[2]:
            product = f"{EXAMPLE}; a product is `{inside[1].rstrip()}*{inside[2]}`"
            raise self.refused(
                f"has `{inside[0]}` in it, which is an uncertainty, not a product", product
            )
        return self.with_sign(written)

    def asymmetric(self, value: float, below: float, above: float) -> MeasuredValue:
        """Return a value with uncertainties below and above, or with a limit on one side."""
        if not max(below, above) > 0:
            raise self.refused("has an uncertainty of 0 on both sides")
        if not min(below, above) > 0:
            return self.tolerance(value, below, above)
        mean, deviation = FAMILIES["twopiece"].mean_sd(value, below, above)
        distribution = Distribution("twopiece", (value, below, above))
        return with_distribution(self.name, mean, deviation, distribution, self.text)

    def concise(
        self, number: str, before: str | None, spread: str, behind: str | None
    ) -> MeasuredValue:
        """Return a value with the uncertainty of its last digits, such as `19.66(10)e-3`."""
        u, scale = Decimal(spread), int(before or behind or 0)
        if "." not in spread:
            u = u.scaleb(-len(number.partition(".")[2]))
        return normal(
            self.name, float(Decimal(number).scaleb(scale)), float(u.scaleb(scale)), self.text
        )

    def _check_level(self, written: str) -> None:
        """Raise an error about a level of confidence, such as 95 %, behind an uncertainty."""
        if BETWEEN.search(written) and (level := _LEVEL.search(written)):
            hint = (
                "write the coverage factor, which is 1.96 for 95 % of a normal distribution:"
                f" `{_COVERED}`"
            )
            raise self.refused(
                f"has the level `{level[1]}` behind it, and not its coverage factor", hint
            )

    def with_sign(self, written: str) -> MeasuredValue | None:
        """Return a value with `±` before its uncertainty, perhaps scaled and with a coverage
        factor.
        """
        k = factor = Decimal(1)
        coverage = COVERAGE.search(written)
        if coverage:
            k = self.number(written, *coverage.span(coverage.lastindex or 0))
            if not k > 0:
                raise self.refused(f"has the coverage factor {k}", "a coverage factor is above 0")
            written = written[: coverage.start()].rstrip()
        self._check_level(written)
        parts = _split(written, 0, len(written))
        if parts is None and (scaled := _SCALED.fullmatch(written)):
            parts = _split(written, *scaled.span(1))
            if parts is not None and scaled[2]:
                factor = Decimal(f"1e{scaled[2]}")
            elif parts is not None and scaled[3]:
                factor = self.number(written, *scaled.span(3))
        if parts is not None:
            return self.plus_minus(written, *parts, factor, k)
        if coverage or written.endswith("%") or BETWEEN.match(written):
            raise self.refused("has no value before its uncertainty")
        if _PARENTHESES.match(written):
            raise self.refused("has no digits of an uncertainty in its parentheses")
        return None

    def tolerance(self, nominal: float, below: float, above: float) -> MeasuredValue:
        """Return a value with a limit on one side, `50 +0.025 -0`: uniform between the limits (JCGM
        100, 4.3.7).
        """
        ends = nominal - below, nominal + above
        measured = with_distribution(
            self.name, *FAMILIES["uniform"].mean_sd(*ends), Distribution("uniform", ends), self.text
        )
        measured.limit, measured.nominal = "tolerance", "low" if above else "high"
        return measured

    def plus_minus(
        self, written: str, before: Span, after: Span, factor: Decimal, k: Decimal
    ) -> MeasuredValue:
        spelled = written[after.start : after.end].strip()
        if BETWEEN.search(spelled):
            raise self.refused("has two uncertainties")
        value, relative = self.number(written, *before[:2]) * factor, spelled.endswith("%")
        if not spelled.removesuffix("%").strip():
            raise self.refused("has no uncertainty after the sign")
        end = written.rindex("%", after.start, after.end) if relative else after.end
        spread = self.number(written, after.start, end)
        if spread < 0:
            raise self.refused(f"has the uncertainty {spelled}, which is below 0", NEGATIVE)
        if abs(value) < spread and _DECIMAL.fullmatch(written[before.start : before.end].strip()):
            self._check_exponent(written[before.start : before.end].strip(), spelled)
        u = abs(value) * spread / 100 if relative else spread * abs(factor)
        measured = normal(self.name, float(value), float(u / k), self.text)
        if k == 1:
            measured.limit = "stated"
        return measured

    def _check_exponent(self, value: str, spread: str) -> None:
        """Raise an error for `1.2±0.1e3`, whose exponent is meant for both."""
        mantissa, power, exponent = spread.lower().partition("e")
        if power and "e" not in value.lower() and exponent.lstrip("+").isdigit():
            hint = f"for both write `({value}±{mantissa})e{exponent}`, else `{value}±({spread})`"
            raise self.refused("has an exponent behind its uncertainty alone", hint)

    def number(self, written: str, start: int, end: int) -> Decimal:
        number = written[start:end]
        if _DECIMAL.fullmatch(number.strip()):
            return Decimal(number.strip())
        return Decimal(float(constant_value(self.name, number, self.begin + start)))

    def of_family(self, name: str, inner: str, begin: int) -> MeasuredValue:
        family = FAMILIES[name]
        arguments = (
            [(inner[start:end], begin + start) for start, end in pieces(inner)]
            if inner.strip()
            else []
        )
        listed = " or ".join(f"`{signature}`" for signature in family.signatures)
        lengths = [signature.count(",") + 1 for signature in family.signatures]
        if len(arguments) not in lengths or not all(argument for argument, _ in arguments):
            raise self.refused(
                f"gives `{name}` {plural(len(arguments), 'number')}", f"write it as {listed}"
            )
        numbers = tuple(float(constant_value(self.name, *argument)) for argument in arguments)
        self.check_parameters(name, numbers, listed)
        dof = numbers[2] if name == "student" else math.inf
        check_dof(self.name, dof)
        try:
            value, u = family.mean_sd(*numbers)
        except OverflowError:
            value = u = math.inf
        return with_distribution(self.name, value, u, Distribution(name, numbers, dof), self.text)

    def check_parameters(self, name: str, numbers: Sequence[float], listed: str) -> None:
        """Raise an error if a distribution has no such parameters; `listed` shows how it is
        written.
        """
        low, high = FAMILIES[name].support(*numbers)
        if not low < high:
            ends = "low below high" if name == "beta" else "a below b"
            raise self.refused(f"goes from {low:g} to {high:g}", f"{listed}, with {ends}")
        if len(numbers) == 3 and name == "triangular" and not low <= numbers[1] <= high:
            raise self.refused(
                f"has its mode {numbers[1]:g} outside of the two ends", f"write it as {listed}"
            )
        if name == "trapezoidal" and not 0 <= numbers[2] <= 1:
            ratio = f"has the ratio {numbers[2]:g} of its top to its base"
            raise self.refused(ratio, "it is from 0 (a triangle) to 1 (a rectangle)")
        for k in FAMILIES[name].positive:
            if not numbers[k] > 0:
                raise self.refused(
                    f"has the parameter {numbers[k]:g}",
                    f"write it as {listed}, with numbers above 0",
                )
        if name in ("normal", "student", "lognormal") and numbers[1] < 0:
            raise self.refused(f"has the uncertainty {numbers[1]:g}, which is below 0", NEGATIVE)


def _split(written: str, start: int, end: int) -> tuple[Span, Span] | None:
    at, depth, last = start, 0, ""
    for match in BETWEEN.finditer(written, start, end):
        between = written[at : match.start()].rstrip()
        depth += between.count("(") - between.count(")")
        last = between[-1:] or last
        if last and depth == 0 and last not in "*/^+-eE(":
            return Span(start, match.start()), Span(match.end(), end)
        at, last = match.end(), match[0][-1]
    return None


def of_draws(name: str, draws: Sequence[float]) -> MeasuredValue:
    """Return the quantity of empirical draws.

    >>> x = of_draws("x", [1.0, 2.0, 6.0])
    >>> x, x.uncertainty
    (3.0, 2.6457513110645907)
    """
    mean, of_mean = means(draws)
    u = of_mean * math.sqrt(len(draws))
    shares = [(x - mean) / u for x in draws] if u else []
    third, fourth = (math.fsum(x**k for x in shares) / len(draws) for k in (3, 4))
    return with_distribution(name, mean, u, Distribution("draws", (mean, u, third, fourth)), "")


def check_dof(name: str, dof: float) -> None:
    """Raise an `ExpressionError` for impossible degrees of freedom."""
    if not dof >= 1:
        raise point_error(
            f"`{name}` has {dof:g} degrees of freedom", "degrees of freedom are 1 or above"
        )


def normal(
    name: str, value: float, u: float, text: str = "", dof: float = math.inf
) -> MeasuredValue:
    """Return a quantity with a normal distribution. Raises `ExpressionError`."""
    if u < 0:
        raise point_error(f"`{name}` has the uncertainty {u:g}, which is below 0", NEGATIVE)
    return with_distribution(name, value, u, Distribution("normal", (value, u), dof), text)


def with_distribution(
    name: str, value: float, u: float, distribution: Distribution, text: str
) -> MeasuredValue:
    """Return a quantity with a distribution; `text` is its source, if any."""
    if not (math.isfinite(value) and math.isfinite(u)):
        raise point_error(f"`{name}` is too large for double precision", "change its unit")
    measured = MeasuredValue(value)
    measured.source = repr(value) if text else ""
    measured.uncertainty = u
    measured.distribution = distribution
    return measured


def means(readings: Sequence[float]) -> tuple[float, float]:
    """Return the mean of readings, and its standard deviation; JCGM 100:2008, 4.2.

    >>> means([1.0, 2.0, 3.0])
    (2.0, 0.5773502691896257)
    """
    n = len(readings)
    mean = math.fsum(readings) / n
    # a second pass removes the rounding error of the first mean
    mean += math.fsum(x - mean for x in readings) / n
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in readings) / (n - 1) / n)


def last_place(u: float) -> int:
    """Return the power of ten of an uncertainty's last digit."""
    exact = Decimal(u)
    place = exact.adjusted() - UNCERTAINTY_DIGITS + 1
    # 0.0996 is rounded to 0.10, one place higher
    return place + (_to_place(u, place).adjusted() > exact.adjusted())


def _to_place(x: float, place: int) -> Decimal:
    result = Decimal(x).quantize(Decimal(1).scaleb(place), ROUND_HALF_UP, _EXACT)
    return result or abs(result)  # a zero has no sign


class Rounded(NamedTuple):
    """A value and its uncertainty, rounded to the same place: JCGM 100:2008, 7.2.6."""

    value: str
    uncertainty: str
    digits: str
    """The digits of the uncertainty alone."""
    power: int
    """The power of ten of both, 0 if their digits are next to the point."""

    @property
    def exponent(self) -> str:
        return f"e{self.power}" if self.power else ""


# The most zeros that fill up a rounded value before a power of ten is written: `(12300 ± 1200) µF`.
MAX_FILLED_PLACES = 2


def rounded(value: float, u: float, *, filled: bool = False) -> Rounded | None:
    """Return a value and its uncertainty as they are shown; None without an uncertainty.

    If `filled`, both are written up to the point where few zeros do that.

    >>> rounded(1730.0, 353.0)
    Rounded(value='1.73', uncertainty='0.35', digits='35', power=3)
    >>> rounded(1730.0, 353.0, filled=True)[:2]
    ('1730', '350')
    """
    if not u > 0 or not math.isfinite(u):
        return None
    place = last_place(u)
    short, spread = _to_place(value, place), _to_place(u, place)
    leading = max(short.adjusted(), place) if short else place
    # no power of ten if the digits are next to the point
    power = leading if place > (MAX_FILLED_PLACES if filled else 0) or leading < -4 else 0
    value_text, u_text = (f"{x.scaleb(-power, _EXACT):f}" for x in (short, spread))
    return Rounded(value_text, u_text, str(int(spread.scaleb(-place))), power)


def concise(value: float, u: float) -> str:
    """Return the result as `127.732(71)`, with its standard uncertainty.

    >>> concise(5.670372482782e-8, 2.046e-13), concise(50000838.0, 31.7)
    ('5.670372(20)e-8', '50000838(32)')
    """
    of = rounded(value, u)
    return f"{value:.15g}" if of is None else f"{of.value}({of.digits}){of.exponent}"


def plus_minus(value: float, expanded: float, k: float | None = None, unit: str = "") -> str:
    """Return the result as `127.73 ± 0.14 (k = 2.06)`, with its unit and blank, if any: JCGM
    100:2008, 7.2.4.

    >>> plus_minus(50000838.0, 93.0, 2.92), plus_minus(1730.0, 180.0, unit=" µF")
    ('50000838 ± 93 (k = 2.92)', '(1730 ± 180) µF')
    """
    of = rounded(value, expanded, filled=True)
    if of is None:
        return f"{value:.15g}{unit}"
    body = f"{of.value} ± {of.uncertainty}"
    body = f"({body}){of.exponent}{unit}" if of.power or unit else body
    return body if k is None else f"{body} (k = {k:.3g})"


def estimate(value: float, u: float) -> tuple[str, str]:
    """Return a value and its uncertainty as texts, rounded to the same place."""
    of = rounded(value, u, filled=True)
    if of is None:
        return f"{value:.15g}", "0"
    if not of.power:
        return of.value, of.uncertainty
    # each has its own power, as they are read apart
    own = f"{of.value}{of.exponent}" if of.value.strip("-0.") else "0"
    return own, f"{of.digits[0]}.{of.digits[1:]}e{last_place(u) + 1}"
