"""Asymptotic series: a number type of the behaviour of formulas where a variable t goes to
infinity.

A series has terms: exact constants times products of powers of a scale, which is t, its iterated
logarithms, and exponentials of series that go to infinity. Each element of the scale grows faster
than every power of those before, so that terms are ordered; the remainder is a bound on what comes
after them. Sources: Salvy and Shackell, Symbolic asymptotics: multiseries of inverse functions
(1999); van der Hoeven, Transseries and real differential algebra (2006); Gruntz, On computing
limits in a symbolic manipulation system (1996).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any, NamedTuple

from ..numbers.base import Lifted, Number, OperatorNumber, Valued
from ..numbers.budget import charge
from ..numbers.poles import Pole, has_poles, pole_at
from ..numbers.series import SeriesType
from ..table.primitive import DEFINITIONS, PRIMITIVES, Primitive
from ..table.primitives import BOUNDED_BY_INPUTS, BOUNDED_BY_ONE, QUOTIENTS, by_name
from .bessel_series import bessel
from .exact_constants import ExactConstant, ExactConstants, UndecidedSign
from .integral_series import SERIES

# How often t may be replaced by its logarithm.
ITERATED_LOGARITHMS = 4
# The most elements of a scale: nobody nests so many exponentials.
MAX_ELEMENTS = 12
MAX_WHOLE_POWER = 60
# Work for a product of two terms, in steps.
STEPS_A_TERM = 25


class NoAsymptotics(Exception):
    """The behaviour of the formula is not known here."""


class TooFewTerms(Exception):
    """More terms are needed."""


class NotReal(Exception):
    """The formula has no value on this side, arbitrarily near."""


class Element:
    """An element of the scale, which goes to infinity with t; its logarithm is a series of larger
    terms only.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


# The exponents of elements, none of them 0.
Monomial = dict[Element, ExactConstant]


class GrowthTerm(NamedTuple):
    """A coefficient, not known to be 0, and a product of powers."""

    monomial: Monomial
    coefficient: ExactConstant


class Multiseries(OperatorNumber, Valued):
    """Terms in falling order, perhaps a wave, and the monomial `end` that bounds the rest; None if
    it is exact.

    The wave is a term times a function that takes values near -1 and near 1 again and again,
    without end.
    """

    __slots__ = ("end", "m", "terms", "wave")

    def __init__(
        self,
        m: AsymptoticSeries,
        terms: Sequence[GrowthTerm],
        end: Monomial | None = None,
        wave: GrowthTerm | None = None,
    ) -> None:
        self.m, self.terms, self.end, self.wave = m, list(terms), end, wave

    __hash__ = object.__hash__  # type: ignore[assignment]

    @property
    def x(self) -> Any:
        return self

    @property
    def is_constant(self) -> bool:
        """Return whether it is a constant, exactly."""
        return (
            self.end is None and self.wave is None and all(not term.monomial for term in self.terms)
        )

    @property
    def constant(self) -> ExactConstant:
        """Return the term that does not vary."""
        found = [term.coefficient for term in self.terms if not term.monomial]
        return found[0] if found else self.m.base.number(0)

    def __str__(self) -> str:
        return str(self.constant) if self.is_constant else "a series"

    def __int__(self) -> int:
        if not self.is_constant:
            raise NoAsymptotics
        return int(self.constant)

    def __float__(self) -> float:
        if not self.is_constant:
            raise NoAsymptotics
        return float(self.constant)

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any], question: str) -> Any:
        return bool(relation(self.m.side(self - other), 0))


class AsymptoticSeries(Lifted):
    """Series of about `size` terms each."""

    has_values = True
    base: ExactConstants

    def __init__(self, base: ExactConstants, size: int) -> None:
        super().__init__(base, "asymptotic series")
        self.size = size
        self.logs = [Element("log " * k + "t") for k in range(ITERATED_LOGARITHMS + 1)]
        # From the slowest to the fastest.
        self.scale = self.logs[::-1]
        # The logarithms of the exponentials of the scale.
        self.exponents: dict[Element, Multiseries] = {}
        # Whether a function without limit, as sin at infinity, is in some bound: its derivatives
        # may be larger.
        self.is_irregular = False
        one = base.number(1)
        self.one = one
        self.unit: Monomial = {}
        self.t = Multiseries(self, [GrowthTerm({self.logs[0]: one}, one)])

    # ---- numbers
    def number(self, x: Number) -> Multiseries:
        if isinstance(x, Multiseries):
            return x
        number = self.base.number(x)
        return Multiseries(self, [] if self.base.is_zero(number) else [GrowthTerm({}, number)])

    def literal(self, text: str) -> Multiseries:
        return self.number(self.base.literal(text))

    def is_finite(self, x: Number) -> bool:
        return True

    def lift(self, primitive: Primitive) -> Callable[..., Any]:
        return partial(self.step, primitive.name)

    # ---- monomials
    def compare(self, a: Monomial, b: Monomial) -> int:
        """Return whether a over b goes to infinity (1), to 0 (-1), or is 1 (0)."""
        for element in reversed(self.scale):
            if element in a or element in b:
                zero = self.base.number(0)
                sign = self.base.sign(a.get(element, zero) - b.get(element, zero))
                if sign:
                    return sign
        return 0

    def times(self, a: Monomial, b: Monomial) -> Monomial:
        """Return the product of two monomials."""
        product = dict(a)
        for element, exponent in b.items():
            total = product[element] + exponent if element in product else exponent
            if self.base.is_zero(total):
                del product[element]
            else:
                product[element] = total
        return product

    def power_of(self, a: Monomial, exponent: ExactConstant) -> Monomial:
        """Return a power of a monomial."""
        return (
            {}
            if self.base.is_zero(exponent)
            else {element: e * exponent for element, e in a.items()}
        )

    def larger(self, *bounds: Monomial | None) -> Monomial | None:
        """Return the largest bound; None stands for 0."""
        known = [bound for bound in bounds if bound is not None]
        return sorted(known, key=cmp_to_key(self.compare))[-1] if known else None

    # ---- sums and products
    def series(
        self,
        terms: Iterable[GrowthTerm],
        end: Monomial | None = None,
        wave: GrowthTerm | None = None,
        *,
        most: int | None = None,
    ) -> Multiseries:
        """Return the sum of terms: sorted, like ones added, those below the bound left out."""
        terms = list(terms)
        charge(STEPS_A_TERM * (1 + len(terms)))
        terms.sort(key=cmp_to_key(self.falling))
        merged: list[GrowthTerm] = []
        for term in terms:
            if end is not None and self.compare(term.monomial, end) <= 0:
                break
            if merged and self.compare(merged[-1].monomial, term.monomial) == 0:
                merged[-1] = GrowthTerm(term.monomial, merged[-1].coefficient + term.coefficient)
            else:
                merged.append(term)
        kept = [term for term in merged if not self.base.is_zero(term.coefficient)]
        most = 3 * self.size
        if len(kept) > most:
            end, kept = kept[most].monomial, kept[:most]
        if wave is not None and end is not None and self.compare(wave.monomial, end) <= 0:
            wave = None
        return Multiseries(self, kept, end, wave)

    def falling(self, a: GrowthTerm, b: GrowthTerm) -> int:
        """Compare terms for sorting, the largest first."""
        return -self.compare(a.monomial, b.monomial)

    def still(self, x: Multiseries) -> Multiseries:
        """Return the series with its wave as a part of the rest."""
        return x if x.wave is None else self.series(x.terms, self.larger(x.end, x.wave.monomial))

    def add(self, a: Multiseries, b: Multiseries) -> Multiseries:
        """Return the sum."""
        wave, end = a.wave or b.wave, self.larger(a.end, b.end)
        if a.wave is not None and b.wave is not None:
            order = self.compare(a.wave.monomial, b.wave.monomial)
            smaller = b.wave if order > 0 else a.wave
            wave = None if order == 0 else a.wave if order > 0 else b.wave
            end = self.larger(end, smaller.monomial)
        return self.series([*a.terms, *b.terms], end, wave)

    def neg(self, a: Multiseries) -> Multiseries:
        """Return the negative."""
        wave = a.wave and GrowthTerm(a.wave.monomial, -a.wave.coefficient)
        return Multiseries(
            self, [GrowthTerm(term.monomial, -term.coefficient) for term in a.terms], a.end, wave
        )

    def mul(self, a: Multiseries, b: Multiseries) -> Multiseries:
        """Return the product."""
        if b.wave is not None:
            a, b = b, a
        b = self.still(b)
        wave, rests = None, []
        if a.wave is not None:
            if b.terms:
                wave = self.product_of(a.wave, b.terms[0])
                self.base.require_nonzero(wave.coefficient)
            rests = [self.times(a.wave.monomial, bound) for bound in (*(t.monomial for t in b.terms[1:2]), b.end)
                     if bound is not None]  # fmt: skip
        for x, y in ((a, b), (b, a)):
            if x.end is not None:
                rests += [self.times(x.end, term.monomial) for term in y.terms[:1]]
        if a.end is not None and b.end is not None:
            rests.append(self.times(a.end, b.end))
        charge(STEPS_A_TERM * len(a.terms) * len(b.terms))
        return self.series(
            [self.product_of(s, t) for s in a.terms for t in b.terms], self.larger(*rests), wave
        )

    def product_of(self, s: GrowthTerm, t: GrowthTerm) -> GrowthTerm:
        """Return the product of two terms."""
        return GrowthTerm(self.times(s.monomial, t.monomial), s.coefficient * t.coefficient)

    def lead(self, x: Multiseries) -> GrowthTerm:
        """Return the leading term, which is not 0. Raises `TooFewTerms`, or ZeroDivisionError for
        0.
        """
        x = self.still(x)
        if not x.terms:
            if x.end is None:
                raise ZeroDivisionError
            raise TooFewTerms
        self.base.require_nonzero(x.terms[0].coefficient)
        return x.terms[0]

    def relative(self, x: Multiseries, lead: GrowthTerm) -> Multiseries:
        """Return x over its leading term, less 1: it goes to 0."""
        x = self.still(x)
        inverse = GrowthTerm(
            self.power_of(lead.monomial, self.base.number(-1)), 1 / lead.coefficient
        )
        end = None if x.end is None else self.times(x.end, inverse.monomial)
        return self.series([self.product_of(term, inverse) for term in x.terms[1:]], end)

    def power_series(
        self, coefficients: Callable[[int], ExactConstant], u: Multiseries
    ) -> Multiseries:
        """Return the sum of coefficients times powers of a series that goes to 0."""
        total = self.number(coefficients(0))
        if not u.terms:
            return self.add(total, Multiseries(self, [], u.end))
        power = self.number(1)
        for k in range(1, self.size):
            power = self.mul(power, u)
            total = self.add(total, self.mul(self.number(coefficients(k)), power))
        rest = self.power_of(u.terms[0].monomial, self.base.number(self.size))
        return self.add(total, Multiseries(self, [], rest))

    def div(self, a: Multiseries, b: Multiseries) -> Multiseries:
        """Return the quotient."""
        return self.mul(a, self.power(b, self.base.number(-1)))

    def power(self, x: Multiseries, exponent: ExactConstant) -> Multiseries:
        """Return the series to a constant power. Raises `NotReal`."""
        base, n = self.base, exponent.ratio
        is_whole = n is not None and n.denominator == 1
        if (
            n not in (0, 1)
            and self.is_swing(x)
            and (is_whole or base.sign(x.terms[0].coefficient) > 0)
        ):
            return self.swing(
                x,
                lambda c: c ** int(n) if n is not None and is_whole else base.pow(c, exponent),
                exponent,
            )
        if n is not None and is_whole and 0 <= n <= MAX_WHOLE_POWER:
            result = self.number(1)
            for _ in range(int(n)):
                result = self.mul(result, x)
            return result
        if not x.terms and x.end is None and x.wave is None and base.sign(exponent) > 0:
            return x
        if self.outweighs_wave(x) and (is_whole or base.sign(x.terms[0].coefficient) > 0):
            self.is_irregular = True
            return Multiseries(self, [], self.power_of(x.terms[0].monomial, exponent))
        lead = self.lead(x)
        if not is_whole and not base.require_positive(lead.coefficient):
            if base.may_be_whole(exponent):
                raise NoAsymptotics
            raise NotReal
        if n is not None and n.denominator == 2:  # square roots are simpler than powers
            raised = base.sqrt(lead.coefficient) ** int(2 * n)
        else:
            raised = base.pow(lead.coefficient, exponent)
        scale = GrowthTerm(self.power_of(lead.monomial, exponent), raised)
        coefficients = [base.number(1)]

        def binomial(k: int) -> ExactConstant:
            while len(coefficients) <= k:
                j = len(coefficients)
                coefficients.append(coefficients[-1] * (exponent - (j - 1)) / j)
            return coefficients[k]

        return self.mul(
            Multiseries(self, [scale]), self.power_series(binomial, self.relative(x, lead))
        )

    # ---- exponentials and logarithms
    def log_of(self, element: Element) -> Multiseries:
        """Return the logarithm of an element of the scale."""
        if element in self.exponents:
            return self.exponents[element]
        k = self.logs.index(element)
        if k == ITERATED_LOGARITHMS:
            raise NoAsymptotics
        return Multiseries(self, [GrowthTerm({self.logs[k + 1]: self.one}, self.one)])

    def log(self, x: Number) -> Multiseries:
        """Return the logarithm, also of a plain number: definitions have `log(2)`. Raises
        `NotReal`.
        """
        x = self.number(x)
        if self.is_swing(x) and self.base.sign(x.terms[0].coefficient) > 0:
            size = self.log(Multiseries(self, [GrowthTerm(x.terms[0].monomial, self.one)]))
            return self.add(size, self.swing(x, self.base.log, self.base.number(0)))
        if self.outweighs_wave(x) and self.base.sign(x.terms[0].coefficient) > 0:
            self.is_irregular = True
            size = self.log(Multiseries(self, [GrowthTerm(x.terms[0].monomial, self.one)]))
            return self.add(size, Multiseries(self, [], {}))
        lead = self.lead(x)
        if not self.base.require_positive(lead.coefficient):
            raise NotReal
        total = self.number(self.base.log(lead.coefficient))
        for element, exponent in lead.monomial.items():
            total = self.add(total, self.mul(self.number(exponent), self.log_of(element)))
        coefficients = [Fraction(0), *(Fraction((-1) ** (k + 1), k) for k in range(1, self.size))]
        rest = self.relative(x, lead)
        return self.add(total, self.power_series(lambda k: self.base.number(coefficients[k]), rest))

    def exp(self, x: Number) -> Multiseries:
        """Return the exponential, also of a plain number."""
        x = self.number(x)
        if self.is_swing_about_constant(x):
            growing, rest = self.parted(x)
            swing = self.swing(rest, self.base.exp, self.one)
            return self.mul(
                swing, Multiseries(self, [GrowthTerm(self.exponential(growing), self.one)])
            )
        x = self.still(x)
        large = [term for term in x.terms if self.compare(term.monomial, {}) > 0]
        small = [term for term in x.terms if self.compare(term.monomial, {}) < 0]
        growth = Multiseries(self, [GrowthTerm(self.exponential(large), self.base.exp(x.constant))])
        order = -1 if x.end is None else self.compare(x.end, {})
        if order > 0:
            raise TooFewTerms
        if order == 0:  # a bounded factor
            return Multiseries(self, [], growth.terms[0].monomial)
        factorials = [self.base.number(1)]

        def coefficient(k: int) -> ExactConstant:
            while len(factorials) <= k:
                factorials.append(factorials[-1] / len(factorials))
            return factorials[k]

        return self.mul(growth, self.power_series(coefficient, Multiseries(self, small, x.end)))

    def exponential(self, terms: Sequence[GrowthTerm]) -> Monomial:
        """Return the exponential of terms that go to infinity, as a product of powers of the
        scale.
        """
        rest, result = list(terms), self.unit
        while rest:
            lead = rest[0]
            self.base.require_nonzero(lead.coefficient)
            element = self.comparable(lead.monomial) or self.new_element(rest)
            log = self.log_of(element)
            exponent = lead.coefficient / log.terms[0].coefficient
            result = self.times(result, {element: exponent})
            difference = self.add(
                Multiseries(self, rest[1:]),
                self.mul(self.number(-exponent), Multiseries(self, log.terms[1:])),
            )
            rest = difference.terms
        return result

    def comparable(self, monomial: Monomial) -> Element | None:
        """Return the element whose logarithm grows as fast as this."""
        for element in self.scale[1:]:  # the slowest one has no logarithm here
            if self.compare(self.log_of(element).terms[0].monomial, monomial) == 0:
                return element
        return None

    def new_element(self, terms: Sequence[GrowthTerm]) -> Element:
        """Put the exponential of terms, or its inverse, into the scale."""
        if len(self.scale) >= MAX_ELEMENTS:
            raise NoAsymptotics
        sign = self.base.sign(terms[0].coefficient)
        log = Multiseries(self, terms) if sign > 0 else self.neg(Multiseries(self, terms))
        lead = terms[0].monomial
        slower = [
            e for e in self.scale[1:] if self.compare(self.log_of(e).terms[0].monomial, lead) < 0
        ]
        place = 1 + len(slower)
        if place == 1:
            raise NoAsymptotics
        element = Element(f"exp {len(self.scale)}")
        self.scale.insert(place, element)
        self.exponents[element] = log
        return element

    # ---- sides
    def side(self, x: Number) -> int:
        """Return the sign that a series has in the end. Raises `TooFewTerms` and
        `NoAsymptotics`.
        """
        x = self.number(x)
        if not x.terms and x.end is None and x.wave is None:
            return 0
        if self.outweighs_wave(x):
            return self.base.sign(x.terms[0].coefficient)
        lead = self.lead(x)
        if x.wave is not None and self.compare(x.wave.monomial, lead.monomial) >= 0:
            raise NoAsymptotics
        return self.base.sign(lead.coefficient)

    def outweighs_wave(self, x: Multiseries) -> bool:
        """Return whether the leading term has the size of the wave and a larger coefficient: `2 -
        sin(x)`.
        """
        if x.wave is None or not x.terms or self.compare(x.terms[0].monomial, x.wave.monomial) != 0:
            return False
        if x.end is not None and self.compare(x.end, x.wave.monomial) >= 0:
            return False
        with suppress(UndecidedSign):  # a parameter decides
            return self._excess(x.terms[0].coefficient, x.wave.coefficient) > 0
        return False

    def is_swing(self, x: Multiseries) -> bool:
        """Return whether a series is, but for smaller terms, a monomial times a swing between
        numbers of one sign.
        """
        if not self.outweighs_wave(x):
            return False
        lead, wave = x.terms[0].coefficient, x.wave and x.wave.coefficient
        # that of parameters would depend on their values
        return lead.digits is not None and wave is not None and wave.digits is not None

    def is_swing_about_constant(self, x: Multiseries) -> bool:
        """Return whether a series is a swing between two numbers, but for terms that go to infinity
        or to 0.
        """
        if (
            x.wave is None
            or x.wave.monomial
            or (x.end is not None and self.compare(x.end, {}) >= 0)
        ):
            return False
        return x.constant.digits is not None and x.wave.coefficient.digits is not None

    def parted(self, x: Multiseries) -> tuple[list[GrowthTerm], Multiseries]:
        """Return the terms of a series that go to infinity, and the rest of it."""
        large = [term for term in x.terms if self.compare(term.monomial, {}) > 0]
        return large, Multiseries(self, x.terms[len(large) :], x.end, x.wave)

    def swing(
        self,
        x: Multiseries,
        at: Callable[[ExactConstant], ExactConstant],
        exponent: ExactConstant,
        *,
        is_odd: bool = False,
    ) -> Multiseries:
        """Return a monotone function of a swing, times its monomial to a power: again a swing.

        What comes near the one end and the other again and again, without end, does so after a
        monotone function. The smaller terms change that by no more than a multiple of the largest.
        """
        self.is_irregular = True
        assert x.wave is not None
        size, wave = x.wave.monomial, x.wave.coefficient
        has_lead = bool(x.terms) and self.compare(x.terms[0].monomial, size) == 0
        lead = x.terms[0].coefficient if has_lead else self.base.number(0)
        smaller = self.larger(x.end, *[term.monomial for term in x.terms[has_lead : has_lead + 1]])
        scale = self.power_of(size, exponent)
        rest = (
            None
            if smaller is None
            else self.times(smaller, self.times(scale, self.power_of(size, -self.one)))
        )
        high = at(lead + wave)
        low = at(lead - wave) if has_lead or not is_odd else -high
        return self.series(
            [GrowthTerm(scale, (high + low) / 2)], rest, GrowthTerm(scale, (high - low) / 2)
        )

    def _excess(self, lead: Number, wave: Number) -> int:
        """Return the sign of how much larger a leading coefficient is than that of a wave, in
        size.
        """
        return int(self.base.sign(self.base.abs(lead) - self.base.abs(wave)))

    def size_of(self, *xs: Multiseries) -> Monomial | None:
        """Return the monomial that bounds all of the series."""
        waves = [x.wave.monomial for x in xs if x.wave is not None]
        return self.larger(
            *[x.end for x in xs], *waves, *[x.terms[0].monomial for x in xs if x.terms]
        )

    def limit_sign(self, x: Multiseries) -> int:
        """Return 1 for a series that goes to infinity, -1 for minus infinity, 0 for one that stays
        finite.
        """
        if x.terms and self.compare(x.terms[0].monomial, {}) > 0 and self.outweighs_wave(x):
            return self.side(x)
        if x.wave is not None and self.compare(x.wave.monomial, {}) >= 0:
            x = self.still(x)
        if x.terms and self.compare(x.terms[0].monomial, {}) > 0:
            return self.side(x)
        if x.end is not None and self.compare(x.end, {}) > 0:
            raise TooFewTerms
        return 0

    def oscillates(self, x: Multiseries) -> bool:
        """Return whether its wave keeps a series from any limit, infinity too: `x*sin(x)`, not
        `x*(2 + sin(x))`.

        Raises `NoAsymptotics` where smaller terms decide, as in `x**2*(1 + sin(x)) + x`.
        """
        wave = x.wave
        if wave is None or self.compare(wave.monomial, {}) < 0:
            return False
        lead = x.terms[0] if x.terms else None
        if lead is None or self.compare(wave.monomial, lead.monomial) > 0:
            return True
        if self.compare(wave.monomial, lead.monomial) < 0:
            return False
        if self.compare(lead.monomial, {}) == 0:
            return True
        excess = self._excess(lead.coefficient, wave.coefficient)
        if excess == 0 and (len(x.terms) > 1 or x.end is not None):
            raise NoAsymptotics
        return excess <= 0

    def is_integrable(self, x: Multiseries) -> bool:
        """Return whether the integral of a series up to infinity converges (by comparison with its
        leading term).
        """
        if not x.terms and x.end is None and x.wave is None:
            return True
        if self.outweighs_wave(x):
            return self.decay(x.terms[0].monomial)
        decay = self.decay(x.wave.monomial) if x.wave is not None else None
        if x.terms:
            leads = x.wave is None or self.compare(x.terms[0].monomial, x.wave.monomial) > 0
            lead = self.decay(self.lead(x).monomial)
            if not leads and decay is not True:
                raise NoAsymptotics  # an oscillating integral may converge
            return lead if leads else True
        if all(map(self.decay, _bounds_of_rest(x))):
            return True
        if x.wave is not None:
            raise NoAsymptotics
        raise TooFewTerms

    def decay(self, monomial: Monomial) -> bool:
        """Return whether the integral of a product of powers up to infinity converges."""
        bound: Monomial = {}
        for k, following in enumerate(self.logs[1:]):
            # 1/t, 1/(t log t), 1/(t log t log log t), … are the bounds, which diverge
            bound = {**bound, self.logs[k]: self.one}
            ratio = self.times(monomial, bound)
            fastest = next((element for element in reversed(self.scale) if element in ratio), None)
            if fastest is None:
                return False
            if self.scale.index(fastest) > self.scale.index(following):
                return self.compare(ratio, {}) < 0
        raise NoAsymptotics

    # ---- operations
    def step(self, name: str, *inputs: Number) -> Any:
        """Return an operation on series."""
        xs = [self.number(x) for x in inputs]
        if all(x.is_constant for x in xs) and not PRIMITIVES[name].gives_condition:
            return self.number(getattr(self.base, name)(*[x.constant for x in xs]))
        special = SPECIAL.get(name)
        if special is not None:
            return special(self, *xs)
        if name in QUOTIENTS:
            above, below = QUOTIENTS[name]
            return self.div(
                self.step(above, *xs) if above else self.number(1), self.step(below, *xs)
            )
        primitive = PRIMITIVES[name]
        if primitive.active_branch is not None:
            return self.branch(primitive, xs)
        return self.function(name, xs)

    def branch(self, primitive: Primitive, xs: Sequence[Multiseries]) -> Any:
        """Return the smooth branch of a function that is chosen in the end."""
        out: Any = None
        # step functions
        if primitive.jumps and primitive.has_structural_zeros and primitive.propagates_infinity:
            if self.limit_sign(xs[0]) or xs[0].end == {} or xs[0].wave is not None:
                self.is_irregular = True
                return self.add(self.still(xs[0]), Multiseries(self, [], {}))
            out = self.number(getattr(self.base, primitive.name)(xs[0].constant))
        active: Callable[..., Any] = primitive.active_branch  # type: ignore[assignment]
        try:
            result = active(self, EventualSigns(self), *xs, out=out)
        except (NoAsymptotics, TooFewTerms):
            if primitive.name not in BOUNDED_BY_INPUTS and primitive.name not in BOUNDED_BY_ONE:
                raise
            self.is_irregular = True
            return Multiseries(
                self, [], {} if primitive.name in BOUNDED_BY_ONE else self.size_of(*xs)
            )
        return result if isinstance(result, (bool, Multiseries)) else self.number(result)

    def check_ends(self, name: str, xs: Sequence[Multiseries]) -> None:
        """Raise `NotReal` for an end outside the domain, which the definition may not check:
        `normcdf(x, 0, -1)`.
        """
        for bound in PRIMITIVES[name].bounds.bounds if len(xs) > 1 else ():
            x = xs[bound.position]
            if bound.end is None or bound.relation == "!=":
                continue
            side = self.side(bound.side(x))
            if side < 0 or (side == 0 and len(bound.relation) == 1):
                raise NotReal

    def definition(self, name: str) -> Callable[..., Any]:
        """Return a formula of other functions. Raises `NoAsymptotics` if there is none."""
        try:
            return super().definition(name)
        except AttributeError:
            raise NoAsymptotics from None

    def _does_not_settle(self, x: Multiseries) -> bool:
        """Return whether what is not known of a series, or its wave, does not vanish."""
        return x.end == {} or (x.wave is not None and self.compare(x.wave.monomial, {}) >= 0)

    def function(self, name: str, xs: Sequence[Multiseries]) -> Multiseries:
        """Return a function of series: its power series where they have finite limits, else by its
        definition.
        """
        self.check_ends(name, xs)
        if any(self.limit_sign(x) for x in xs):
            return self.defined(name, xs)
        if len(xs) == 1 and self.is_swing_about_constant(xs[0]) and _increases_everywhere(name):
            at, is_odd = partial(self.base.step, name), PRIMITIVES[name].odd
            return self.swing(xs[0], at, self.base.number(0), is_odd=is_odd)
        if any(map(self._does_not_settle, xs)):
            raise NoAsymptotics
        varying = [x for x in xs if not x.is_constant]
        if len(varying) != 1:
            return self.defined(name, xs)
        x = self.still(varying[0])
        rest = Multiseries(self, [term for term in x.terms if term.monomial], x.end)
        try:
            pole = self.pole(name, xs)
            coefficients = self.taylor(name, xs) if pole is None else pole.regular
        except (ValueError, ArithmeticError):
            return self.defined(name, xs)
        regular = self.power_series(coefficients.__getitem__, rest)
        return regular if pole is None else pole.leading / rest**pole.order + regular

    def pole(self, name: str, xs: Sequence[Multiseries]) -> Pole | None:
        """Return the Laurent series of a function at the limit of its last input; None if it has no
        pole there.
        """
        place = xs[-1].constant.ratio
        if xs[-1].is_constant or place is None or place.denominator != 1 or not has_poles(name):
            return None
        return pole_at(self.base, name, [x.constant for x in xs[:-1]], int(place), self.size)

    def defined(self, name: str, xs: Sequence[Multiseries]) -> Multiseries:
        """Return a function by its definition in others."""
        if name not in DEFINITIONS or name in NOT_BY_DEFINITION:
            raise NoAsymptotics
        return self.number(DEFINITIONS[name](self, *xs))

    def taylor(self, name: str, xs: Sequence[Multiseries]) -> list[ExactConstant]:
        """Return the coefficients of a function's power series at the limits of its inputs."""
        power = SeriesType(self.base)
        numbers = [
            x.constant if x.is_constant else power.variable(x.constant, self.one) for x in xs
        ]
        return [
            self.base.number(c) for c in power.coefficients(power.step(name, *numbers), self.size)
        ]


def _bounds_of_rest(x: Multiseries) -> list[Any]:
    """Return the monomials that bound what is not known of a series, and its wave."""
    wave = None if x.wave is None else x.wave.monomial
    return [bound for bound in (x.end, wave) if bound is not None]


class EventualSigns:
    """The signs of series in the end, for branches of the table."""

    def __init__(self, m: AsymptoticSeries) -> None:
        self.m = m

    def __call__(self, x: Number) -> int:
        """Return the sign."""
        return self.m.side(x)

    def is_nonzero(self, x: Number) -> bool:
        """Return whether a series is not 0 in the end."""
        return self.m.side(x) != 0

    def length(self, xs: Sequence[Multiseries]) -> Multiseries:
        """Return the length of a vector."""
        return self.m.sqrt(self.m.sum(*[x * x for x in xs]))  # type: ignore[no-any-return]


# ---- functions that are singular, or that oscillate
def _pow(m: AsymptoticSeries, x: Multiseries, y: Multiseries) -> Multiseries:
    if y.is_constant:
        return m.power(x, y.constant)
    with suppress(UndecidedSign):  # then the logarithm says where there are values
        if m.side(x) < 0:
            settles = not m.limit_sign(y) and y.wave is None
            if settles and m.side(y - m.number(y.constant)):
                raise NotReal  # near its limit the exponent is never whole
            raise NoAsymptotics  # it has values where the exponent is whole
    return m.exp(m.mul(y, m.log(x)))


def _root(exponent: Fraction) -> Callable[[AsymptoticSeries, Multiseries], Multiseries]:
    def root(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
        if not x.terms and x.end is None and x.wave is None:
            return x
        if exponent.denominator == 3 and m.side(x) < 0:
            return m.neg(m.power(m.neg(x), m.base.number(exponent)))
        return m.power(x, m.base.number(exponent))

    return root


def _waving(name: str) -> Callable[[AsymptoticSeries, Multiseries], Multiseries]:
    def wave(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
        unsteady = (x.end is not None and m.compare(x.end, {}) >= 0) or (
            x.wave is not None and m.compare(x.wave.monomial, {}) >= 0
        )
        if unsteady:
            m.is_irregular = True
            return Multiseries(m, [], {})
        if x.terms and m.compare(x.terms[0].monomial, {}) > 0:
            m.is_irregular = True
            m.base.require_nonzero(x.terms[0].coefficient)
            return Multiseries(m, [], None, GrowthTerm({}, m.one))
        return m.function(name, [x])

    return wave


def _increases_everywhere(name: str) -> bool:
    primitive = PRIMITIVES[name]
    return primitive.increasing and not primitive.bounds.bounds and primitive.active_branch is None


def _atan(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    sign = 0
    try:
        sign = m.limit_sign(x)
        is_bound = not sign and (
            x.end == {} or (x.wave is not None and m.compare(x.wave.monomial, {}) >= 0)
        )
    except (NoAsymptotics, TooFewTerms):
        is_bound = True
    if is_bound and not m.is_swing_about_constant(x):
        m.is_irregular = True
        return Multiseries(m, [], {})
    if not sign:
        return m.function("atan", [x])
    quarter = m.number(m.base.pi * Fraction(sign, 2))
    return quarter - m.function("atan", [m.number(1) / x])  # type: ignore[no-any-return]


def _at_edge(name: str) -> Callable[[AsymptoticSeries, Multiseries], Multiseries]:
    """Return asin or acos, which have the series of asin(sqrt(u/2)) at the ends of their domain."""

    def edge(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
        if m.limit_sign(x):
            raise NotReal
        c = x.constant
        beyond = m.base.sign(m.base.abs(c) - 1)
        if beyond < 0:
            return m.function(name, [x])
        sign = m.base.sign(c)
        rest = 1 - sign * x
        if beyond > 0 or m.side(rest) < 0:
            raise NotReal
        half = m.asin(m.sqrt(rest / 2))
        if name == "asin":
            return sign * (m.number(m.base.pi) / 2 - 2 * half)  # type: ignore[no-any-return]
        return 2 * half if sign > 0 else m.number(m.base.pi) - 2 * half  # type: ignore[no-any-return]

    return edge


def _acosh(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    if m.limit_sign(x) > 0:
        return m.log(x + m.sqrt(x * x - 1))
    if m.side(x - 1) < 0:
        raise NotReal
    return 2 * m.asinh(m.sqrt((x - 1) / 2))  # type: ignore[no-any-return]


def _asinh(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    sign = m.limit_sign(x)
    return sign * m.log(sign * x + m.sqrt(x * x + 1)) if sign else m.function("asinh", [x])


def _erf(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    sign = m.limit_sign(x)
    return sign * (1 - _erfc_far(m, sign * x)) if sign else m.function("erf", [x])


def _erfc(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    sign = m.limit_sign(x)
    if not sign:
        return m.function("erfc", [x])
    far = _erfc_far(m, sign * x)
    return far if sign > 0 else 2 - far


def _erfc_far(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    """Return erfc where x goes to infinity (DLMF 7.12.1)."""
    coefficients = [m.one]
    for k in range(1, m.size):
        coefficients.append(coefficients[-1] * (1 - 2 * k))
    tail = m.power_series(coefficients.__getitem__, 1 / (2 * x * x))
    return m.exp(-(x * x)) / (x * m.sqrt(m.number(m.base.pi))) * tail  # type: ignore[no-any-return]


def _bernoulli(n: int) -> Fraction:
    from math import comb

    numbers = [Fraction(1)]
    for k in range(1, n + 1):
        numbers.append(-sum((comb(k + 1, j) * numbers[j] for j in range(k)), Fraction(0)) / (k + 1))
    return numbers[n]


def _lgamma(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    if m.limit_sign(x) > 0:
        # Stirling's series (DLMF 5.11.1)
        coefficients = [
            Fraction(0),
            *(_bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, m.size)),
        ]
        tail = m.power_series(lambda k: m.base.number(coefficients[k]), 1 / (x * x))
        half_log = m.log(2 * m.number(m.base.pi)) / 2
        return (x - Fraction(1, 2)) * m.log(x) - x + half_log + x * tail  # type: ignore[no-any-return]
    return m.log(m.abs(_gamma(m, x)))


def _gamma(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    if m.limit_sign(x) > 0:
        return m.exp(_lgamma(m, x))
    return m.function("gamma", [x])


def _digamma(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    if m.limit_sign(x) > 0:
        # (DLMF 5.11.2)
        coefficients = [Fraction(0), *(_bernoulli(2 * k) / (2 * k) for k in range(1, m.size))]
        rest = m.power_series(lambda k: m.base.number(coefficients[k]), 1 / (x * x))
        return m.log(x) - 1 / (2 * x) - rest  # type: ignore[no-any-return]
    return m.function("digamma", [x])


def _polygamma(m: AsymptoticSeries, order: Number, x: Multiseries) -> Multiseries:
    n = int(order)
    if not n:
        return _digamma(m, x)
    if m.limit_sign(x) > 0:
        # (DLMF 5.15.8)
        rising = [
            Fraction(math.factorial(2 * k + n - 1), math.factorial(2 * k)) for k in range(m.size)
        ]
        tail = m.power_series(lambda k: m.base.number(_bernoulli(2 * k) * rising[k]), 1 / (x * x))
        return (-1) ** (n - 1) * (tail + math.factorial(n) / (2 * x)) / x**n  # type: ignore[no-any-return]
    return m.function("polygamma", [m.number(n), x])


def _zeta_derivative(m: AsymptoticSeries, order: Number, x: Multiseries) -> Multiseries:
    n = int(order)
    if m.limit_sign(x) > 0:
        # the sum over k of (-log(k))**n * k**-x (DLMF 25.2.6)
        logs = [m.base.log(m.base.number(k)) for k in range(2, m.size + 2)]
        powers = [m.exp(m.mul(m.number(-log), x)) for log in logs]
        terms = [
            m.mul(m.number((-log) ** n), power) for log, power in zip(logs, powers, strict=True)
        ]
        rest = Multiseries(m, [], m.lead(powers[-1]).monomial)
        return m.sum(m.number(0 if n else 1), *terms[:-1], rest)  # type: ignore[no-any-return]
    return m.function("zeta_derivative", [m.number(n), x]) if n else m.function("zeta", [x])


def _sinc(m: AsymptoticSeries, x: Multiseries) -> Multiseries:
    if not x.terms and x.end is None and x.wave is None:
        return m.number(1)
    angle = m.number(m.base.pi) * x
    return m.sin(angle) / angle  # type: ignore[no-any-return]


def _atan2(m: AsymptoticSeries, y: Multiseries, x: Multiseries) -> Multiseries:
    across, up = m.side(x), m.side(y)
    if not across:
        return m.number(m.base.pi * Fraction(up, 2))
    turn = 0 if across > 0 else -1 if up < 0 else 1
    return m.atan(y / x) + m.number(m.base.pi * turn)  # type: ignore[no-any-return]


# Functions that are singular, or that oscillate, and arithmetic.
SPECIAL: dict[str, Callable[..., Any]] = by_name({
    "add": AsymptoticSeries.add, "sub": lambda m, x, y: m.add(x, m.neg(y)),
    "neg": AsymptoticSeries.neg, "mul": AsymptoticSeries.mul, "div": AsymptoticSeries.div,
    "exp": AsymptoticSeries.exp, "log": AsymptoticSeries.log, "pow": _pow,
    "sqrt": _root(Fraction(1, 2)), "cbrt": _root(Fraction(1, 3)), "sin": _waving("sin"),
    "cos": _waving("cos"), "atan": _atan, "asin": _at_edge("asin"), "acos": _at_edge("acos"),
    "acosh": _acosh, "asinh": _asinh, "erf": _erf, "erfc": _erfc, "gamma": _gamma,
    "lgamma": _lgamma, "digamma": _digamma, "trigamma": lambda m, x: _polygamma(m, 1, x),
    "polygamma": _polygamma, "zeta": lambda m, x: _zeta_derivative(m, 0, x),
    "zeta_derivative": _zeta_derivative, "sinc": _sinc, "atan2": _atan2,
    **{name: bessel(name) for name in ("besselj", "bessely", "besseli", "besselk")}, **SERIES,
})  # fmt: skip
# Functions whose definitions are these functions again, or are for reading only.
NOT_BY_DEFINITION = by_name(dict.fromkeys(("digamma", "trigamma"), True))
