"""Bounds of sizes that hold for all t from a start on, from above and perhaps from below.

They are growths c t**p exp(k t + q t**2).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb

from ...engine.numbers.base import Number, NumberType, OperatorNumber, Refusal
from ...engine.numbers.budget import charge
from ...engine.table.primitives import library_names
from .quadrature import ball

# Logarithms are bounded by this power of t: log t <= t**s / (s e).
LOGARITHM_POWER = Fraction(1, 8)
MAX_TERMS = 12
# Work for an operation on bounds, in steps.
STEPS_AN_OPERATION = 5


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
        """Return whether it is proven not to rise from a start on: t times its logarithmic
        derivative is <= 0.
        """
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
        # The coefficients by their powers of t if it is a sum of these; it is exact.
        self.terms = terms


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
            raise unknown_bound()
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
            raise unknown_bound()
        return Bounds(
            self, y.lower.raised(Fraction(-1)), y.upper and y.upper.raised(Fraction(-1)), y.sign
        )

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
            raise unknown_bound()
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
            size = sum(
                [abs(ball(factor)) * _power(ball(self.start), power) for power, factor in rest],
                arb(0),
            )
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
            raise unknown_bound()
        if x.terms is not None and set(x.terms) == {Fraction(0)} and x.terms[Fraction(0)] != 1:
            return self.constant(ball(x.terms[Fraction(0)]).log())
        sizes = [abs(bound.coefficient.log()) for bound in (x.lower, x.upper)]
        height = arb.max(*sizes)
        power, rate, square = (
            max(abs(a), abs(b)) for a, b in zip(x.lower[1:], x.upper[1:], strict=True)
        )
        if square:
            return Bounds(self, Growth(height + ball(power + rate + square), Fraction(2)), None)
        if rate:
            return Bounds(self, Growth(height + ball(power + rate), Fraction(1)), None)
        s = LOGARITHM_POWER
        return Bounds(self, Growth(height + ball(power / s) / arb(1).exp(), s), None)

    def _largest(self, x: Bounds) -> Any:
        """Return the largest size of an argument that falls, if that is less than 1; else None."""
        size = x.upper.at(self.start) if x.upper is not None and x.upper.falls(self.start) else None
        return size if size is not None and size < 1 else None

    def _at_most_its_argument(self, x: Any, share: int) -> Bounds:
        """Return an odd function f with |x| (1 - x**2/share) <= |f(x)| <= |x| for |x| < 1, and |f|
        <= 1.
        """
        x = self.bounds(x)
        largest = self._largest(x)
        if largest is None:
            small = x.upper if x.upper is not None and x.upper.falls(self.start) else None
            return Bounds(self, small or Growth(arb(1)), None)
        lower = None if x.lower is None else x.lower.scaled(1 - largest**2 / share)
        return Bounds(self, x.upper, lower, x.sign)

    def _at_least_its_argument(self, x: Bounds, largest: Any, there: Any) -> Bounds:
        """Return an odd function f with f(x)/x rising from 1 to its quotient at the largest
        argument.
        """
        upper = None if x.upper is None else x.upper.scaled(there / largest)
        return Bounds(self, upper, x.lower, x.sign)

    def sin(self, x: Any) -> Bounds:
        """Return the sine: at most 1, and at most its argument."""
        return self._at_most_its_argument(x, 6)

    def cos(self, x: Any) -> Bounds:
        """Return the cosine: at most 1, and at least 1 - x**2/2."""
        largest = self._largest(self.bounds(x))
        if largest is None:
            return Bounds(self, Growth(arb(1)), None)
        return Bounds(self, Growth(arb(1)), Growth(1 - largest**2 / 2), 1)

    def tan(self, x: Any) -> Bounds:
        """Return the tangent of a small argument. Raises `Refusal` where it may have poles."""
        x = self.bounds(x)
        largest = self._largest(x)
        if largest is None:
            raise unknown_bound()
        return self._at_least_its_argument(x, largest, largest.tan())

    def tanh(self, x: Any) -> Bounds:
        """Return the hyperbolic tangent."""
        return self._at_most_its_argument(x, 3)

    def atan(self, x: Any) -> Bounds:
        """Return the inverse tangent: less than 2."""
        x = self.bounds(x)
        return (
            Bounds(self, Growth(arb(2)), None)
            if self._largest(x) is None
            else self._at_most_its_argument(x, 3)
        )

    def erf(self, x: Any) -> Bounds:
        """Return the error function: at most 1."""
        return Bounds(self, Growth(arb(1)), None)

    def erfc(self, x: Any) -> Bounds:
        """Return 1 - erf(x): at most 2, for positive x at most exp(-x**2)."""
        x = self.bounds(x)
        return Bounds(self, self.exp(-(x * x)).upper if x.sign > 0 else Growth(arb(2)), None, 1)

    def erfcx(self, x: Any) -> Bounds:
        """Return exp(x**2) erfc(x) of a positive number: at most 1. Raises `Refusal`."""
        self._positive(x)
        return Bounds(self, Growth(arb(1)), None, 1)

    def asinh(self, x: Any) -> Bounds:
        """Return the inverse hyperbolic sine of a positive number: at most log(2x + 1). Raises
        `Refusal`.
        """
        return Bounds(self, self.log(self.add(self.mul(2, self._positive(x)), 1)).upper, None, 1)

    def acosh(self, x: Any) -> Bounds:
        """Return the inverse hyperbolic cosine: at most log(2x). Raises `Refusal`."""
        return Bounds(self, self.log(self.mul(2, self._positive(x))).upper, None)

    def lambertw(self, x: Any) -> Bounds:
        """Return the principal branch of a positive number: at most log(1 + x), as w*exp(w) >=
        exp(w) - 1.
        """
        return Bounds(self, self.log(self.add(self._positive(x), 1)).upper, None, 1)

    def digamma(self, x: Any) -> Bounds:
        """Return the slope of lgamma: from log(x) - 1/x to log(x) (Alzer 1997, theorem 1). Raises
        `Refusal`.
        """
        x = self._positive(x)
        return Bounds(self, self.add(self.abs(self.log(x)), self._inverse(x)).upper, None)

    def lgamma(self, x: Any) -> Bounds:
        """Return the logarithm of gamma of a number above 2: between 0 and x*log(x). Raises
        `Refusal`.
        """
        x = self._positive(x)
        least = self._least(x)
        if least is None or not least > 2:
            raise unknown_bound()
        return Bounds(self, self.mul(x, self.log(x)).upper, None, 1)

    def gamma(self, x: Any) -> Bounds:
        """Return the gamma function: at least sqrt(2*pi/x)*(x/e)**x (DLMF 5.6.1), of a number that
        rises.
        """
        x = self._positive(x)
        least = self._least(x)
        if least is None:
            raise unknown_bound()
        slope = self.constant(least.log() - 1)
        return Bounds(
            self, None, self.mul(self.sqrt(self.div(2, x)), self.exp(self.mul(slope, x))).lower, 1
        )

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
        largest = self._largest(x)
        if largest is not None:
            return self._at_least_its_argument(x, largest, largest.sinh())
        return self.div(self.sub(self.exp(x), self.exp(-x)), 2)

    def gammainc(self, a: Any, x: Any) -> Bounds:
        """Return the lower incomplete gamma function: at most 1."""
        return Bounds(self, Growth(arb(1)), None)

    def gammaincc(self, a: Any, x: Any) -> Bounds:
        """Return the upper one: at most 2**a exp(-x/2), as exp(-s) <= exp(-x/2) exp(-s/2) in its
        integral from x on.
        """
        a, x = self.bounds(a), self._positive(x)
        upper = self.exp(self.div(x, -2)).upper
        return Bounds(self, upper and upper.scaled(arb(2) ** ball(_fixed(a))), None)

    def besselj(self, nu: Any, x: Any) -> Bounds:
        """Return the Bessel function of the first kind: at most 1 for orders from 0 on (DLMF
        10.14.1).
        """
        order = _fixed(self.bounds(nu))
        x = self.bounds(x)
        if x.sign > 0 and (modulus := self._modulus(abs(order), x)) is not None and order >= 0:
            return Bounds(self, modulus, None)
        if order.denominator > 1 and (order < 0 or x.sign <= 0):
            raise unknown_bound()
        return Bounds(self, Growth(arb(1)), None)

    def bessely(self, nu: Any, x: Any) -> Bounds:
        """Return the Bessel function of the second kind. Raises `Refusal` where its argument may go
        to 0.
        """
        order = _fixed(self.bounds(nu))
        modulus = self._modulus(order, self._positive(x)) if order >= 0 else None
        if modulus is None:
            raise unknown_bound()
        return Bounds(self, modulus, None)

    def _modulus(self, order: Fraction, x: Bounds) -> Growth | None:
        """Return a bound of sqrt(J**2 + Y**2); None where the argument may go to 0.

        Times sqrt(x) it rises to sqrt(2/pi) for orders up to 1/2, and falls for larger ones
        (Watson, 13.74).
        """
        least = self._least(x)
        if least is None or x.lower is None:
            return None
        height = (2 / arb.pi()).sqrt()
        if order > Fraction(1, 2):
            waves = least.bessel_j(ball(order)) ** 2 + least.bessel_y(ball(order)) ** 2
            height = (least * waves).sqrt()
        return x.lower.raised(Fraction(-1, 2)).scaled(height) if height.is_finite() else None

    def besselk(self, nu: Any, x: Any) -> Bounds:
        """Return the modified Bessel function of the second kind.

        Times exp(x) it falls (DLMF 10.32.9); times x**nu, too, from 2**(nu - 1) gamma(nu) on
        (10.29.4, 10.30.2), and it rises with the order (10.37).
        """
        order, x = abs(_fixed(self.bounds(nu))), self._positive(x)
        least, falling = self._least(x), self.exp(self.neg(x)).upper
        if least is not None and falling is not None:
            return Bounds(self, falling.scaled(least.exp() * least.bessel_k(ball(order))), None)
        if x.lower is None:
            raise unknown_bound()
        order = max(order, LOGARITHM_POWER)
        height = arb(2) ** (ball(order) - 1) * ball(order).gamma()
        return Bounds(self, x.lower.raised(-order).scaled(height), None)

    def _positive(self, x: Any) -> Bounds:
        """Return a positive number. Raises `Refusal` where it may not be."""
        positive: Bounds = self.bounds(x)
        if positive.sign <= 0:
            raise unknown_bound()
        return positive

    def _least(self, x: Bounds) -> Any:
        """Return the least size of a number that rises; else None."""
        if x.lower is None or not x.lower.raised(Fraction(-1)).falls(self.start):
            return None
        return x.lower.at(self.start)

    def definition(self, name: str) -> Any:
        if name in COMPOSED:
            return super().definition(name)
        raise unknown_bound()


# Functions that are bounded by what they are composed of.
COMPOSED = frozenset(
    library_names(
        "sech csch coth exp2 log2 log10 sigmoid softplus silu gelu sum mean prod hypot normpdf"
        " normpdf_scaled normcdf normcdf_scaled"
    )
)


def _fixed(x: Bounds) -> Fraction:
    """Return a fraction that does not depend on t. Raises `Refusal`."""
    if x.terms is None or not set(x.terms) <= {Fraction(0)}:
        raise unknown_bound()
    return x.terms.get(Fraction(0), Fraction(0))


def unknown_bound() -> Refusal:
    """Return the error of an operation that no bound is known of."""
    return Refusal("domain", "a bound is not known", "")
