"""Multiprecision: binary floating-point numbers of any number of digits, through mpmath, as a number type.

Literals, named constants and points are read either as the decimals and the mathematical constants that were written
(`Multiprecision(50, decimals=True)`), or as the doubles that the default computation reads them as.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import mpmath

from ..table.primitive import PRIMITIVES
from .base import Number, NumberType
from .cotangent import cotangent_derivative
from .double.decimals import whole_order
from .work import Work

MAGNITUDE = 100_000
"""Numbers of 2**MAGNITUDE and more overflow, those below 2**-MAGNITUDE round to 0: about 1e±30103.

Without a bound, mpmath would be asked for exp(exp(exp(10))), and would not come back.
"""

GUARD = 64
"""Further bits with which every function computes before it rounds."""

NAMED = {"pi": "pi", "π": "pi", "e": "e"}

Function = Callable[..., Number]


class Multiprecision(NumberType):
    """Numbers with so many significant decimal digits, each function right to about the last of them.

    Every instance has an mpmath context of its own, `context`, whose precision no one else changes.
    """

    name = "multiprecision"
    has_values = True
    range = f"this arithmetic, which ends at 2**{MAGNITUDE}"

    def __init__(self, digits: int = 50, *, decimals: bool = False, work: Work | None = None) -> None:
        self.context: Any = type(mpmath.mp)()
        self.context.dps = digits
        self.digits = digits
        self.tolerance = self.context.mpf(10) ** (3 - digits)
        self.decimals = decimals
        self.work = work or Work()
        self._step = int(self.context.prec**1.5 / 25000)
        self._prepared = 0
        """The bits for which the numbers that all of the gamma family need are computed."""
        self.underflowed = False
        """Whether a result was rounded to 0 because it was too small."""
        self._inside = False
        for name, function in _FUNCTIONS.items():
            self.__dict__[name] = self._guarded(name, function, accurate=name in _ACCURATE)

    # -- numbers ----------------------------------------------------------------------------------------------------
    @property
    def pi(self) -> Number:
        """π, to the present precision."""
        return +self.context.pi

    @property
    def e(self) -> Number:
        """Euler's number, to the present precision."""
        return +self.context.e

    def number(self, x: Number) -> Number:
        """An int, a float or another mpf as a number of this precision. Raises OverflowError."""
        return self._bounded(self.context.mpf(x))

    def literal(self, text: str) -> Number:
        """The number that a literal, or the name of a constant, stands for. Raises OverflowError."""
        if text in NAMED:
            value = getattr(self, NAMED[text])
            return value if self.decimals else self.context.mpf(float(value))
        if not self.decimals:
            return self.context.mpf(float(text))
        decimal = Decimal(text)
        if abs(decimal.adjusted()) > MAGNITUDE:
            if decimal and decimal.adjusted() > 0:
                raise OverflowError("too large")
            return self.underflow() if decimal else self.context.zero
        return self._bounded(self.context.mpf(str(decimal)))

    def finite(self, x: Number) -> bool:
        """Whether `x` is neither infinite nor undefined, nor beyond the bound."""
        self.work.spend(self._step)
        try:
            _, mantissa, exponent, bits = x._mpf_
        except AttributeError:
            return True
        return bool(exponent + bits <= MAGNITUDE if mantissa else not exponent)

    def mul(self, x: Number, y: Number) -> Number:
        """The product; 0 below the bound."""
        return self._bounded(self.context.mpf(x) * y)

    def div(self, x: Number, y: Number) -> Number:
        """The quotient. Raises ZeroDivisionError."""
        return self._bounded(self.context.mpf(x) / y)

    def neg(self, x: Number) -> Number:
        """-x."""
        return -self.context.mpf(x)

    def begin(self, nodes: int) -> None:
        """Allow a long program more work than a short one."""
        self.work.allow(nodes)

    def spend(self, operations: int) -> None:
        """Spend what so many sums and products cost."""
        self.work.spend(operations * (10 + self._step))

    # -- functions --------------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        """The function of that name by its definition, computed with guard digits; kept."""
        function = self.__dict__[name] = self._guarded(name, self.definition(name), accurate=name in _ACCURATE)
        return function

    def _guarded(self, name: str, function: Function, *, accurate: bool = False) -> Function:
        """The function, computed to more digits than are kept.

        Unless it is accurate by itself, to more than twice as many: squares of its inputs are exact in it.
        """
        context = self.context
        mpf = context.mpf
        family = PRIMITIVES[name].family if name in PRIMITIVES else ""

        def guarded(*inputs: Number) -> Number:
            numbers = [mpf(x) for x in inputs]
            if self._inside:
                self._charge(family)
                return self._checked(function(self, *numbers))
            bits = context.prec
            self._inside = True
            context.prec = bits + GUARD if accurate else 2 * bits + GUARD
            try:
                self._charge(family)
                out = function(self, *numbers)
            finally:
                context.prec = bits
                self._inside = False
            return self._checked(out)

        return guarded

    def _charge(self, family: str) -> None:
        """Spend what a function of that family costs with the bits that there are: measured, in microseconds."""
        bits: int = self.context.prec
        if family == "gamma":
            # Numbers that are found once: Bernoulli's, and coefficients of series.
            if bits > self._prepared:
                self.work.spend(bits**3.5 / 550_000)
                self._prepared = bits
            self.work.spend(200 + bits**2.7 / 45_000)
        elif family == "erf":
            self.work.spend(30 + bits**2.5 / 240_000)
        elif family == "erfinv":
            self.work.spend(800 + bits**2.5 / 9_500)
        else:
            self.work.spend(20 + bits**1.8 / 2_300)

    def _checked(self, out: Number) -> Number:
        if isinstance(out, list):
            return [self._checked(x) for x in out]
        if isinstance(out, self.context.mpc):
            raise ValueError("the result is complex")
        out = self.context.mpf(out)
        if not out._mpf_[1] and out._mpf_[2]:  # inf and nan
            raise ValueError("undefined") if out != out else ZeroDivisionError("infinite")
        return self._bounded(+out)

    def _bounded(self, x: Number) -> Number:
        """`x`; 0 if it is too small. Raises OverflowError if it is too large."""
        _, mantissa, exponent, bits = x._mpf_
        if mantissa:
            if exponent + bits > MAGNITUDE:
                raise OverflowError("too large")
            if exponent + bits < -MAGNITUDE:
                return self.underflow()
        return x

    def underflow(self) -> Number:
        """0, for what is too small."""
        self.underflowed = True
        return self.context.zero


_FUNCTIONS: dict[str, Function] = {}
"""The functions that mpmath computes, or that need more care than their definition takes."""


_ACCURATE = {"log", "pow", "cbrt", "erf", "erfc", "gamma", "gamma_slope", "lgamma", "sum", "prod", "min", "max", "relu"}
"""Functions that need no more than the guard bits."""


def _function(function: Function) -> Function:
    """Enter a function of this type under its name, without the underscore."""
    _FUNCTIONS[function.__name__[1:]] = function
    return function


def _native(*names: str, **renamed: str) -> None:
    """Functions that mpmath has, and computes accurately for every argument."""
    for name, theirs in {**{n: n for n in names}, **renamed}.items():

        def function(m: Multiprecision, *inputs: Number, theirs: str = theirs) -> Number:
            return getattr(m.context, theirs)(*inputs)

        _FUNCTIONS[name] = function
        _ACCURATE.add(name)


_native("sqrt", "sign", "floor", "ceil", "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "atan2",
        "tanh", "coth", "asinh", "acosh", "atanh", "log1p", "erfinv", round="nint", abs="fabs")  # fmt: skip


def _steep(name: str, below: int | None) -> None:
    """A function that grows like exp; far below 0 it is `below`, or minus as large as above if that is None."""

    def function(m: Multiprecision, x: Number) -> Number:
        if m.context.mag(x) > 17:
            if x < 0 and below is not None:
                return below or m.underflow()
            raise OverflowError("too large")
        return getattr(m.context, name)(x)

    _FUNCTIONS[name] = function
    _ACCURATE.add(name)


_steep("exp", 0)
_steep("expm1", -1)
_steep("sinh", None)
_steep("cosh", None)


# ---- elementary ---------------------------------------------------------------------------------------------------
@_function
def _exp2(m: Multiprecision, x: Number) -> Number:
    return m.pow(2, x)


@_function
def _log(m: Multiprecision, x: Number) -> Number:
    if x < 0:
        raise ValueError("the logarithm of a negative number")
    return m.context.ln(x)


@_function
def _log_base(m: Multiprecision, x: Number, b: Number) -> Number:
    if b <= 0:
        raise ValueError("the base of a logarithm is positive")
    return m.log(x) / m.log(b)


@_function
def _pow(m: Multiprecision, x: Number, y: Number) -> Number:
    if y == 0:
        return 1
    if x == 0:
        if y < 0:
            raise ZeroDivisionError("0 to a negative power")
        return 0
    if x < 0 and not m.context.isint(y):
        raise ValueError("a negative number to a power that is not whole")
    # The size of the result, roughly, before mpmath is asked for the result.
    with m.context.workprec(53):
        size = y * m.context.ln(abs(x)) / m.context.ln2
    if size > MAGNITUDE:
        raise OverflowError("too large")
    return m.underflow() if size < -MAGNITUDE else m.context.power(x, y)


@_function
def _power_minus_one(m: Multiprecision, x: Number, y: Number, out: Number) -> Number:
    return m.pow(x, y - 1)


@_function
def _cbrt(m: Multiprecision, x: Number) -> Number:
    return m.context.sign(x) * m.context.cbrt(abs(x))


@_function
def _clamp(m: Multiprecision, x: Number, lo: Number, hi: Number) -> Number:
    if lo > hi:
        raise ValueError("the lower bound is above the upper one")
    return min(max(x, lo), hi)


# ---- trigonometric and hyperbolic ---------------------------------------------------------------------------------
@_function
def _unit_over_hypot(m: Multiprecision, x: Number, y: Number) -> Number:
    return x / (x * x + y * y)


@_function
def _sinc_derivative(m: Multiprecision, n: Number, x: Number) -> Number:
    """The n-th derivative of sinc: near 0 the recurrence loses n times the digits that x has after the point."""
    order, context = int(n), m.context
    small = max(0, -context.mag(x))
    if x == 0 or small > context.prec:
        even = order + order % 2
        at_zero = (-1) ** (even // 2) * context.pi**even / (even + 1)
        return at_zero if order % 2 == 0 else at_zero * x
    with context.extraprec((order + 1) * (small + 8)):
        sine, cosine = context.sinpi(x), context.cospi(x)
        waves = (sine, cosine, -sine, -cosine)
        value = sine / (context.pi * x)
        for k in range(1, order + 1):
            value = (context.pi ** (k - 1) * waves[k % 4] - k * value) / x
        return value


@_function
def _sech(m: Multiprecision, x: Number) -> Number:
    return m.underflow() if m.context.mag(x) > 17 else m.context.sech(x)


@_function
def _csch(m: Multiprecision, x: Number) -> Number:
    return m.underflow() if m.context.mag(x) > 17 else m.context.csch(x)


@_function
def _acoth(m: Multiprecision, x: Number) -> Number:
    return m.context.atanh(1 / x)


# ---- machine learning ---------------------------------------------------------------------------------------------
@_function
def _relu(m: Multiprecision, x: Number) -> Number:
    return max(x, m.context.zero)


@_function
def _logsumexp(m: Multiprecision, *xs: Number) -> Number:
    k = xs.index(max(xs))
    rest = m.context.fsum(m.exp(x - xs[k]) for i, x in enumerate(xs) if i != k)
    return xs[k] + m.log1p(rest)


@_function
def _softmax_weight(m: Multiprecision, x: Number, *xs: Number) -> Number:
    largest = max(xs)
    return m.exp(x - largest) / m.context.fsum(m.exp(other - largest) for other in xs)


@_function
def _logit(m: Multiprecision, x: Number) -> Number:
    if not 0 <= x <= 1:
        raise ValueError("logit is defined between 0 and 1")
    return m.log(x) - m.log1p(-x)


# ---- special ------------------------------------------------------------------------------------------------------
@_function
def _erf(m: Multiprecision, x: Number) -> Number:
    return m.context.sign(x) if m.context.mag(x) > 17 else m.context.erf(x)


@_function
def _erfc(m: Multiprecision, x: Number) -> Number:
    if m.context.mag(x) > 17:
        return m.underflow() if x > 0 else 2
    return m.context.erfc(x)


def _no_pole(m: Multiprecision, x: Number) -> None:
    if x <= 0 and m.context.isint(x):
        raise ZeroDivisionError("a pole")


@_function
def _gamma(m: Multiprecision, x: Number) -> Number:
    _no_pole(m, x)
    if m.context.mag(x) > 14:
        if x < 0:
            return m.underflow()
        raise OverflowError("too large")
    return m.context.gamma(x)


@_function
def _lgamma(m: Multiprecision, x: Number) -> Number:
    _no_pole(m, x)
    return m.context.re(m.context.loggamma(x))


@_function
def _polygamma(m: Multiprecision, n: Number, x: Number) -> Number:
    _no_pole(m, x)
    context, order = m.context, whole_order(float(n))
    if order and x < 0:  # mpmath itself would go up to 0 step by step
        mirrored = m.polygamma(n, 1 - x)
        return (-mirrored if order % 2 else mirrored) - cotangent_derivative(m, order, x - context.nint(x))
    m.work.spend(100 * order * (1 + context.prec / 330))
    return context.psi(order, x)


@_function
def _polygamma_difference(m: Multiprecision, n: Number, a: Number, b: Number) -> Number:
    if m.context.mag(a) - m.context.mag(b) > m.context.prec:
        # So small a step that the difference is the differential.
        return -b * m.polygamma(n + 1, a)
    with m.context.extraprec(max(0, m.context.mag(a) - m.context.mag(b))):
        return m.polygamma(n, a) - m.polygamma(n, a + b)


@_function
def _beta(m: Multiprecision, a: Number, b: Number) -> Number:
    context = m.context
    _no_pole(m, a)
    _no_pole(m, b)
    if a <= 0 or b <= 0:
        if max(context.mag(a), context.mag(b)) > 14:
            raise ValueError("beta of so large and negative arguments")
        return context.beta(a, b)
    a, b = max(a, b), min(a, b)
    if context.mag(a) - 2 * max(context.mag(b), 0) > context.prec + GUARD:
        return m.exp(context.loggamma(b) - b * context.ln(a))  # DLMF 5.11.12
    if context.mag(b) > 17:
        return m.underflow()
    with context.extraprec(2 * max(context.mag(a), 0)):
        return m.exp(context.loggamma(a) + context.loggamma(b) - context.loggamma(a + b))


# ---- aggregates ---------------------------------------------------------------------------------------------------
@_function
def _sum(m: Multiprecision, *xs: Number) -> Number:
    return m.context.fsum(xs)


@_function
def _prod(m: Multiprecision, *xs: Number) -> Number:
    return m.context.fprod(xs)


@_function
def _min(m: Multiprecision, *xs: Number) -> Number:
    return min(xs)


@_function
def _max(m: Multiprecision, *xs: Number) -> Number:
    return max(xs)
