"""Proven bounds of the tails of improper integrals.

At an infinite end the variable is t or -t, at a singular one it is the end plus or minus 1/t. A size is bounded for
all t from a start on, from above and perhaps from below, by growths c t**p exp(k t + q t**2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from flint import arb

from ...engine.algebra.canonical import exact_value
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import rebuild, rewrite, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT, Number, NumberType, OperatorNumber, Refusal
from ...engine.numbers.budget import charge
from ...engine.table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ...engine.table.primitive import PRIMITIVES
from ...engine.table.primitives import by_name
from ...errors import ExpressionError
from .ends import IntegralEnd
from .quadrature import Quadrature, ball, precision

FACTOR = 8
"""From one start of a tail that is tried to the next."""
LARGEST_START = Fraction(2) ** 300
"""The last start of a tail that is tried: of t**-1.25 less than 2**-66 is left behind 2**264."""
SPARE_BITS = 12
"""A tail may be so many bits larger than the error of the quadrature, which has more digits than are shown."""
LOGARITHM_POWER = Fraction(1, 8)
"""Logarithms are bounded by this power of t: log t <= t**s / (s e)."""
MAX_TERMS = 12
STEPS_AN_OPERATION = 5
"""Work for an operation on bounds, in steps."""


class Growth(NamedTuple):
    """c t**power exp(rate t + square t**2), with a positive ball c."""

    coefficient: Any
    power: Fraction = Fraction(0)
    rate: Fraction = Fraction(0)
    square: Fraction = Fraction(0)

    def times(self, other: Growth) -> Growth:
        """Return the product."""
        exponents = [x + y for x, y in zip(self[1:], other[1:], strict=True)]
        return Growth(self.coefficient * other.coefficient, *exponents)

    def scaled(self, factor: Any) -> Growth:
        """Return a multiple."""
        return self._replace(coefficient=self.coefficient * factor)

    def raised(self, n: Fraction) -> Growth:
        """Return a power."""
        return Growth(_power(self.coefficient, n), *(exponent * n for exponent in self[1:]))

    def falls(self, start: Fraction) -> bool:
        """Return whether it is proven not to rise from a start on: t times its logarithmic derivative is <= 0."""
        slope = self.power + self.rate * start + 2 * self.square * start**2
        return self.square <= 0 and self.rate + 4 * self.square * start <= 0 and slope <= 0

    def at(self, t: Fraction) -> Any:
        """Return its value."""
        exponent = self.rate * t + self.square * t * t
        return self.coefficient * _power(ball(t), self.power) * ball(exponent).exp()

    def integral(self, start: Fraction) -> Any:
        """Return a bound of its integral from a start to infinity; None if there is none."""
        if not self.rate and not self.square:
            if self.power >= -1:
                return None
            return self.raised(Fraction(1)).at(start) * ball(start) / ball(-1 - self.power)
        decay = -(max(self.power, Fraction(0)) / start + self.rate + 2 * self.square * start)
        return self.at(start) / ball(decay) if self.square <= 0 and decay > 0 else None


def _power(x: Any, n: Fraction) -> Any:
    return x ** int(n) if n.denominator == 1 else (x.log() * ball(n)).exp()


class Bounds(OperatorNumber):
    """A number that depends on t, with what is proven of it for all t from the start on."""

    __slots__ = ("lower", "m", "sign", "terms", "upper")

    def __init__(
        self, m: EventualBounds, upper: Growth | None, lower: Growth | None, sign: int = 0,
        terms: dict[Fraction, Fraction] | None = None,
    ) -> None:  # fmt: skip
        self.m, self.upper, self.lower, self.sign = m, upper, lower, sign
        self.terms = terms
        """The coefficients by their powers of t if it is a sum of these; it is exact."""


class EventualBounds(NumberType):
    """A number type of bounds for all t from a start on."""

    name = "bounds"

    def __init__(self, start: Fraction) -> None:
        self.start = start
        self.t = self.sum_of({Fraction(1): Fraction(1)})

    @property
    def pi(self) -> Bounds:
        return self.constant(arb.pi())

    def number(self, x: Number) -> Any:
        return self.bounds(x)

    def bounds(self, x: Any) -> Bounds:
        """Return a number, or a whole number or fraction as one."""
        return x if isinstance(x, Bounds) else self.sum_of({Fraction(0): Fraction(x)})

    def literal(self, text: str) -> Bounds:
        if text in ("pi", "π"):
            return self.pi
        return self.constant(arb(1).exp()) if text == "e" else self.bounds(Fraction(text))

    def constant(self, x: Any) -> Bounds:
        """Return a ball without 0, which does not depend on t. Raises `Refusal`."""
        if not x.is_finite() or x.contains(0):
            raise _unknown()
        return Bounds(self, Growth(abs(x)), Growth(abs(x)), 1 if x > 0 else -1)

    def sum_of(self, terms: dict[Fraction, Fraction]) -> Bounds:
        """Return a sum of powers of t."""
        kept = {power: factor for power, factor in terms.items() if factor}
        if not kept:
            return Bounds(self, None, None, 0, {})
        parts = [self._monomial(power, kept[power]) for power in sorted(kept, reverse=True)]
        total = parts[0]
        for part in parts[1:]:
            total = self._sum(total, part)
        total.terms = kept if len(kept) <= MAX_TERMS else None
        return total

    def _monomial(self, power: Fraction, factor: Fraction) -> Bounds:
        size = Growth(abs(ball(factor)), power)
        return Bounds(self, size, size, 1 if factor > 0 else -1)

    def step(self, name: str, *inputs: Any) -> Any:
        """Return an operation on such numbers."""
        charge(STEPS_AN_OPERATION)
        return getattr(self, name)(*inputs)

    # ---- arithmetic
    def add(self, x: Any, y: Any) -> Bounds:
        """Return the sum."""
        x, y = self.bounds(x), self.bounds(y)
        if x.terms is not None and y.terms is not None:
            terms = dict(x.terms)
            for power, factor in y.terms.items():
                terms[power] = terms.get(power, Fraction(0)) + factor
            return self.sum_of(terms)
        if x.terms == {} or y.terms == {}:
            only: Bounds = y if x.terms == {} else x
            return only
        return self._sum(x, y)

    def _sum(self, x: Bounds, y: Bounds) -> Bounds:
        upper = lower = None
        sign = x.sign if x.sign == y.sign else 0
        for one, other in ((x, y), (y, x)):
            share = self._share(other.upper, one.upper)
            if upper is None and share is not None and one.upper is not None:
                upper = one.upper.scaled(1 + share)
            share = self._share(other.upper, one.lower)
            if lower is None and share is not None and share < 1 and one.lower is not None:
                lower, sign = one.lower.scaled(1 - share), one.sign
        return Bounds(self, upper, lower, sign)

    def _share(self, small: Growth | None, large: Growth | None) -> Any:
        """Return the largest quotient of two growths, if it falls."""
        if small is None or large is None:
            return None
        quotient = small.times(large.raised(Fraction(-1)))
        return quotient.at(self.start) if quotient.falls(self.start) else None

    def sub(self, x: Any, y: Any) -> Bounds:
        """Return the difference."""
        return self.add(x, self.neg(y))

    def neg(self, x: Any) -> Bounds:
        """Return the negative."""
        return self.mul(-1, x)

    def mul(self, x: Any, y: Any) -> Bounds:
        """Return the product."""
        x, y = self.bounds(x), self.bounds(y)
        if x.terms == {} or y.terms == {}:
            return self.sum_of({})
        if x.terms is not None and y.terms is not None and len(x.terms) * len(y.terms) <= MAX_TERMS:
            terms: dict[Fraction, Fraction] = {}
            for power, factor in x.terms.items():
                for other, factor2 in y.terms.items():
                    terms[power + other] = terms.get(power + other, Fraction(0)) + factor * factor2
            return self.sum_of(terms)
        upper = x.upper.times(y.upper) if x.upper and y.upper else None
        lower = x.lower.times(y.lower) if x.lower and y.lower else None
        return Bounds(self, upper, lower, x.sign * y.sign)

    def div(self, x: Any, y: Any) -> Bounds:
        """Return the quotient. Raises `Refusal` where the divisor may be 0."""
        return self.mul(x, self._inverse(self.bounds(y)))

    def _inverse(self, y: Bounds) -> Bounds:
        if y.terms is not None and len(y.terms) == 1:
            ((power, factor),) = y.terms.items()
            return self.sum_of({-power: 1 / factor})
        if y.lower is None:
            raise _unknown()
        return Bounds(self, y.lower.raised(Fraction(-1)), y.upper and y.upper.raised(Fraction(-1)), y.sign)

    def pow(self, x: Any, y: Any) -> Bounds:
        """Return a power. Raises `Refusal`."""
        x, y = self.bounds(x), self.bounds(y)
        if y.terms is None or not set(y.terms) <= {Fraction(0)}:
            return self.exp(self.mul(y, self.log(x)))
        n = y.terms.get(Fraction(0), Fraction(0))
        if n < 0:
            return self._inverse(self.pow(x, self.bounds(-n)))
        if n.denominator == 1 and x.terms is not None and n <= MAX_TERMS:
            result = self.bounds(1)
            for _ in range(int(n)):
                result = self.mul(result, x)
            return result
        if n.denominator > 1 and x.sign <= 0:
            raise _unknown()
        if x.terms is not None and len(x.terms) == 1 and {*x.terms.values()} == {Fraction(1)}:
            return self.sum_of({next(iter(x.terms)) * n: Fraction(1)})
        sign = 1 if x.sign > 0 or n % 2 == 0 else x.sign
        return Bounds(self, x.upper and x.upper.raised(n), x.lower and x.lower.raised(n), sign)

    def sqrt(self, x: Any) -> Bounds:
        """Return the square root."""
        return self.pow(x, self.bounds(Fraction(1, 2)))

    def abs(self, x: Any) -> Bounds:
        """Return the size."""
        x = self.bounds(x)
        return Bounds(self, x.upper, x.lower, 1 if x.lower is not None else 0)

    # ---- functions
    def exp(self, x: Any) -> Bounds:
        """Return the exponential."""
        x = self.bounds(x)
        if x.terms is not None and all(power <= 0 or power in (1, 2) for power in x.terms):
            rest = [(power, factor) for power, factor in x.terms.items() if power < 0]
            size = sum([abs(ball(factor)) * _power(ball(self.start), power) for power, factor in rest], arb(0))
            height = ball(x.terms.get(Fraction(0), Fraction(0)))
            exponents = Fraction(0), *(x.terms.get(Fraction(k), Fraction(0)) for k in (1, 2))
            upper, lower = (Growth((height + sign * size).exp(), *exponents) for sign in (1, -1))
            return Bounds(self, upper, lower, 1)
        high: Growth | None = None
        low: Growth | None = None
        if x.upper is not None and x.upper.falls(self.start):
            size = x.upper.at(self.start)
            high, low = Growth(size.exp()), Growth((-size).exp())
        elif x.lower is not None and x.sign and x.lower.power >= 1 and not any(x.lower[2:]):
            slope = x.lower.coefficient * _power(ball(self.start), x.lower.power - 1)
            rate = Fraction(float(slope.lower())) * (1 - Fraction(1, 2**40))
            if x.sign > 0:
                low = Growth(arb(1), Fraction(0), rate)
            else:
                high = Growth(arb(1), Fraction(0), -rate)
        return Bounds(self, high, low, 1)

    def log(self, x: Any) -> Bounds:
        """Return the logarithm. Raises `Refusal` where it may have no value."""
        x = self.bounds(x)
        if x.sign <= 0 or x.lower is None or x.upper is None:
            raise _unknown()
        if x.terms is not None and set(x.terms) == {Fraction(0)} and x.terms[Fraction(0)] != 1:
            return self.constant(ball(x.terms[Fraction(0)]).log())
        sizes = [abs(bound.coefficient.log()) for bound in (x.lower, x.upper)]
        height = arb.max(*sizes)
        power, rate, square = (max(abs(a), abs(b)) for a, b in zip(x.lower[1:], x.upper[1:], strict=True))
        if square:
            return Bounds(self, Growth(height + ball(power + rate + square), Fraction(2)), None)
        if rate:
            return Bounds(self, Growth(height + ball(power + rate), Fraction(1)), None)
        s = LOGARITHM_POWER
        return Bounds(self, Growth(height + ball(power / s) / arb(1).exp(), s), None)

    def sin(self, x: Any) -> Bounds:
        """Return the sine: at most 1, and at most its argument."""
        x = self.bounds(x)
        small = x.upper if x.upper is not None and x.upper.falls(self.start) else None
        return Bounds(self, small or Growth(arb(1)), None)

    def cos(self, x: Any) -> Bounds:
        """Return the cosine."""
        return Bounds(self, Growth(arb(1)), None)

    def tanh(self, x: Any) -> Bounds:
        """Return the hyperbolic tangent."""
        return self.sin(x)

    def atan(self, x: Any) -> Bounds:
        """Return the inverse tangent: less than 2."""
        return Bounds(self, self.sin(x).upper and Growth(arb(2)), None)

    def erf(self, x: Any) -> Bounds:
        """Return the error function."""
        return self.cos(x)

    def erfc(self, x: Any) -> Bounds:
        """Return 1 - erf(x): for positive x at most exp(-x**2). Raises `Refusal`."""
        x = self.bounds(x)
        if x.sign <= 0:
            raise _unknown()
        return Bounds(self, self.exp(-(x * x)).upper, None)

    def expm1(self, x: Any) -> Bounds:
        """Return exp(x) - 1."""
        return self.sub(self.exp(x), 1)

    def log1p(self, x: Any) -> Bounds:
        """Return log(1 + x)."""
        return self.log(self.bounds(x) + 1)

    def cosh(self, x: Any) -> Bounds:
        """Return the hyperbolic cosine."""
        x = self.bounds(x)
        return self.div(self.add(self.exp(x), self.exp(-x)), 2)

    def sinh(self, x: Any) -> Bounds:
        """Return the hyperbolic sine."""
        x = self.bounds(x)
        return self.div(self.sub(self.exp(x), self.exp(-x)), 2)

    def definition(self, name: str) -> Any:
        if name in COMPOSED:
            return super().definition(name)
        raise _unknown()


COMPOSED = frozenset(
    by_name(dict.fromkeys(("sech", "csch", "coth", "exp2", "log2", "log10", "sigmoid", "softplus"), True))
)
"""Functions that are bounded by what they are composed of."""


def _unknown() -> Refusal:
    return Refusal("domain", "a bound is not known", "")


# ---- integrals
EXP = PRIMITIVES["exp"]
INNERMOST = Fraction(4)
"""Where the part of a piece at an infinite end begins at the earliest, and 1 over it the part at a singular end."""


class EndPart(NamedTuple):
    """A part of a piece that begins or ends at an infinite or a singular end, in the variable t."""

    formula: Value
    """The integrand in t."""
    weight: int
    """With dx = t**weight dt: 0 at an infinite end, -2 at a singular one."""
    first: Fraction
    """The smallest t."""
    inner: Any
    """The ball of x there."""


def integral_with_tails(
    quadrature: Quadrature, integrand: Value, name: str, pieces: Sequence[tuple[IntegralEnd, IntegralEnd]]
) -> Any:
    """Return the ball of an integral over adjacent pieces, of which each end may be infinite or singular; or None."""
    total = arb(0)
    for low, high in pieces:
        found = _over_piece(quadrature, integrand, name, low, high)
        if found is None:
            return None
        with precision(quadrature.bits):
            total = total + found
    return total


def _over_piece(quadrature: Quadrature, integrand: Value, name: str, low: IntegralEnd, high: IntegralEnd) -> Any:
    numbers = [end.number for end in (low, high)]
    total, inner, straddles = arb(0), [], False
    with precision(quadrature.bits):
        for end, side, other in ((low, 1, numbers[1]), (high, -1, numbers[0])):
            place = None if end.formula is None else quadrature.value(end.formula)
            if place is not None and quadrature.is_analytic_near(place):
                inner.append(place)
                continue
            part = _end_part(integrand, name, end, side, place, other)
            tail = Quadrature(_in_logarithm(part, name), name, quadrature.digits)
            found = _over_end_part(tail, part, name)
            if found is None:
                return None
            inner.append(part.inner)
            total, straddles = total + found, straddles or tail.straddles
        if not inner[0] < inner[1]:
            return None
        inside = quadrature.integral(*inner)
        quadrature.straddles = quadrature.straddles or straddles
        return inside + total if inside.is_finite() else None


def _end_part(integrand: Value, name: str, end: IntegralEnd, side: int, place: Any, other: float) -> EndPart:
    t = variable(name)
    if end.formula is None:
        reach = max(Fraction(0), Fraction(other) * end.infinite) if math.isfinite(other) else Fraction(0)
        first = INNERMOST + 2 * math.ceil(reach)
        at = t if end.infinite > 0 else node(NEG, (t,))
        return EndPart(_with(integrand, name, at), 0, first, end.infinite * ball(first))
    first = INNERMOST
    if math.isfinite(other):
        first = max(first, Fraction(math.ceil(4 / abs(other - end.number))))
    near = _expanded(_with(integrand, name, node(ADD if side > 0 else SUB, (end.formula, t))), name)
    distance = node(DIV, (constant(1.0, "1"), t))
    return EndPart(_with(near, name, distance), -2, first, place + side / ball(first))


def _expanded(formula: Value, name: str) -> Value:
    """Return a formula with its polynomials in a variable as sums of powers: of 2 - (2 - t) the digits would cancel."""
    leaf = next((v for v in in_order((formula,)) if v.primitive is VARIABLE and v.label == name), None)
    if leaf is None:
        return formula

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        changed = rebuild(value, inputs)
        if value.primitive not in (ADD, SUB):
            return changed
        coefficients = polynomial_in(changed, leaf)
        return changed if coefficients is None else _polynomial(coefficients, leaf)

    return rewrite((formula,), rule)[0]


def _polynomial(coefficients: Sequence[Value], leaf: Value) -> Value:
    terms = []
    for power, coefficient in enumerate(simplify(coefficients)):
        if exact_value(coefficient) != 0:
            factors = [coefficient, *[leaf] * power]
            terms.append(reduce(lambda x, y: node(MUL, (x, y)), factors))
    return reduce(lambda x, y: node(ADD, (x, y)), terms) if terms else constant(0.0, "0")


def _with(integrand: Value, name: str, at: Value) -> Value:
    replaced = substitute(integrand, lambda v: at if v.primitive is VARIABLE and v.label == name else None)
    return simplify((replaced,))[0]


def _in_logarithm(part: EndPart, name: str) -> Value:
    """Return the integrand in v with t = exp(v), in which powers of t are exponentials: few intervals are enough."""
    v = variable(name)
    exponent = node(MUL, (constant(float(part.weight + 1), str(part.weight + 1)), v))
    formula = node(MUL, (_with(part.formula, name, node(EXP, (v,))), node(EXP, (exponent,))))
    return rewrite((formula,), _of_exponentials)[0]


def _of_exponentials(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return a power, root, quotient or logarithm of exponentials, which are positive, as one without a cut."""
    power = _power_of(value, inputs)
    split = None if power is None else _positive_factor(inputs[0])
    if power is not None and split is not None:
        exponent, rest = split
        return node(MUL, (node(EXP, (node(MUL, (exponent, power)),)), rebuild(value, (rest, *inputs[1:]))))
    if not any(each.primitive is EXP for each in inputs):
        return rebuild(value, inputs)
    logs = [_log_of(each) for each in inputs]
    first = logs[0]
    if value.primitive.name == "log" and len(inputs) == 1 and first is not None:
        return first
    if power is not None and first is not None:
        return node(EXP, (node(MUL, (first, power)),))
    second = logs[1] if len(inputs) == 2 else None
    if value.primitive in (MUL, DIV) and first is not None and second is not None:
        return node(EXP, (node(ADD if value.primitive is MUL else SUB, (first, second)),))
    return rebuild(value, inputs)


def _positive_factor(value: Value) -> tuple[Value, Value] | None:
    """Return the exponent of an exponential in a product or quotient, and the rest of it."""
    if value.primitive is DIV and value._prev[1].primitive is EXP:
        return node(NEG, (value._prev[1]._prev[0],)), value._prev[0]
    if value.primitive is MUL:
        for factor, rest in (value._prev, value._prev[::-1]):
            if factor.primitive is EXP:
                return factor._prev[0], rest
    return None


def _power_of(value: Value, inputs: tuple[Value, ...]) -> Value | None:
    """Return the exponent of a root or a power with a constant one; None for another formula."""
    if value.primitive.name == "sqrt":
        return constant(0.5, "0.5")
    return inputs[1] if value.primitive is POW and inputs[1].primitive is CONSTANT else None


def _log_of(value: Value) -> Value | None:
    """Return the logarithm of an exponential, or of a positive number; None for another formula."""
    if value.primitive is EXP:
        return value._prev[0]
    return node(PRIMITIVES["log"], (value,)) if value.primitive is CONSTANT and value.data > 0 else None


def _over_end_part(quadrature: Quadrature, part: EndPart, name: str) -> Any:
    """Return the ball of the integral over a part at an end; None if it is not known."""
    goal = arb(2) ** (SPARE_BITS - quadrature.bits)
    start = part.first
    while (bound := _tail_bound(part, name, start)) is None or not bound < goal:
        start *= FACTOR
        if start > LARGEST_START:
            return None
    inside = arb(0)
    if start > part.first:
        inside = quadrature.rough_integral(ball(part.first).log(), ball(start).log(), goal)
    return inside + arb(0, bound.upper()) if inside.is_finite() else None


def _tail_bound(part: EndPart, name: str, start: Fraction) -> Any:
    """Return a bound of the integral from t = start to infinity; None if there is none."""
    m = EventualBounds(start)
    try:
        size = m.bounds(evaluate_in(m, part.formula, {name: m.t}).value)
    except (ExpressionError, TypeError, AttributeError, *NO_RESULT):
        return None
    if size.terms == {}:
        return arb(0)
    if size.upper is None:
        return None
    return size.upper.times(Growth(arb(1), Fraction(part.weight))).integral(start)
