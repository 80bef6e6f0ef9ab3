"""Multiprecision: binary numbers of any number of digits, by mpmath, from exact decimals or from
doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import mpmath

from ..table.primitive import DEFINITIONS, OPERATIONS, Domain, check_domain
from ..table.primitives import by_name, library_names
from . import budget
from .base import Number, NumberType, polygamma_below_zero, whole_order
from .multiprecision_special import OF_PARAMETERS, settled

# Numbers of 2**MAX_EXPONENT or more overflow, those below 2**-MAX_EXPONENT round to 0: about
# 1e±30103.
MAX_EXPONENT = 100_000

# Guard bits of every function.
GUARD_BITS = 64

NAMED = {"pi": "pi", "π": "pi", "e": "e"}

_COSTS = {"": (20, 1.8, 2_300), "gamma": (90, 2.7, 110_000), "error": (30, 2.5, 240_000)}
_COSTS["inverse error"] = 800, 2.5, 9_500
# Cost of a function by family: constant + bits**power / divisor, in microseconds.
_COSTS["zeta"] = 1_000, 3.4, 200_000

Function = Callable[..., Number]


class Multiprecision(NumberType):
    """Numbers of `digits` decimal digits, in an mpmath context of their own."""

    name = "multiprecision"
    has_values = True
    range = f"this arithmetic, which ends at 2**{MAX_EXPONENT}"

    def __init__(self, digits: int = 50, *, decimals: bool = False) -> None:
        self.context: Any = type(mpmath.mp)()
        self.context.dps = digits
        self.digits = digits
        self.tolerance = self.context.mpf(10) ** (3 - digits)
        self.decimals = decimals
        self._step = int(self.context.prec**1.5 / 25000)
        # The precision of prepared constants of the gamma family, in bits.
        self._prepared = 0
        self.underflowed = False
        self._inside = False
        for name, function in _FUNCTIONS.items():
            self.__dict__[name] = self._guarded(name, function, accurate=name in _SURE)

    # ---- numbers
    @property
    def pi(self) -> Number:
        return +self.context.pi

    def number(self, x: Number) -> Number:
        return self._bounded(self.context.mpf(x))

    def literal(self, text: str) -> Number:
        """Return the value of a literal or a named constant. Raises OverflowError."""
        if text in NAMED:
            value = +getattr(self.context, NAMED[text])
            return value if self.decimals else self.context.mpf(float(value))
        if not self.decimals:
            return self.context.mpf(float(text))
        decimal = Decimal(text)
        if abs(decimal.adjusted()) > MAX_EXPONENT:
            if decimal and decimal.adjusted() > 0:
                raise OverflowError("too large")
            return self.underflow() if decimal else self.context.zero
        return self._bounded(self.context.mpf(str(decimal)))

    def is_finite(self, x: Number) -> bool:
        budget.charge(self._step)
        try:
            _, mantissa, exponent, bits = x._mpf_
        except AttributeError:
            return True
        return bool(exponent + bits <= MAX_EXPONENT if mantissa else not exponent)

    def mul(self, x: Number, y: Number) -> Number:
        return self._bounded(self.context.mpf(x) * y)

    def div(self, x: Number, y: Number) -> Number:
        return self._bounded(self.context.mpf(x) / y)

    def neg(self, x: Number) -> Number:
        """Return -x."""
        return -self.context.mpf(x)

    def charge_operations(self, operations: int) -> None:
        budget.charge(operations * (10 + self._step))

    # ---- functions
    def __getattr__(self, name: str) -> Any:
        function = self.__dict__[name] = self._guarded(
            name, self.definition(name), accurate=name in _SURE
        )
        return function

    def _guarded(self, name: str, function: Function, *, accurate: bool = False) -> Function:
        context = self.context
        mpf = context.mpf
        family = OPERATIONS[name].family
        bounds = OPERATIONS[name].bounds if name in _FUNCTIONS else Domain((), True)

        def compute(numbers: list[Number]) -> Number:
            self._charge(family)
            check_domain(bounds, numbers)
            return function(self, *numbers)

        def guarded(*inputs: Number) -> Number:
            numbers = [mpf(x) for x in inputs]
            if self._inside:
                return self._checked(compute(numbers))
            bits = context.prec
            self._inside = True
            # squares of the inputs are exact with twice the bits
            context.prec = bits + GUARD_BITS if accurate else 2 * bits + GUARD_BITS
            try:
                out = compute(numbers)
            finally:
                context.prec = bits
                self._inside = False
            return self._checked(out)

        return guarded

    def _charge(self, family: str) -> None:
        bits: int = self.context.prec
        if family == "gamma" and bits > self._prepared:
            # Prepared once: Bernoulli numbers, and coefficients of series.
            budget.charge(bits**3.5 / 550_000)
            self._prepared = bits
        fixed, power, divisor = _COSTS.get(family, _COSTS[""])
        budget.charge(fixed + bits**power / divisor)

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
        _, mantissa, exponent, bits = x._mpf_
        if mantissa:
            if exponent + bits > MAX_EXPONENT:
                raise OverflowError("too large")
            if exponent + bits < -MAX_EXPONENT:
                return self.underflow()
        return x

    def underflow(self) -> Number:
        """Return 0 for a number that is too small; record that."""
        self.underflowed = True
        return self.context.zero


def _theirs(name: str) -> Function:
    def function(m: Multiprecision, *inputs: Number) -> Number:
        return getattr(m.context, name)(*inputs)

    return function


NATIVE = library_names(
    "sqrt sign floor ceil sin cos tan sec csc cot asin acos atan atan2 tanh coth asinh acosh atanh"
    " log1p erfinv"
) | by_name({"round": "nint", "abs": "fabs"})


def _steep(name: str, below: int | None) -> Function:
    def function(m: Multiprecision, x: Number) -> Number:
        if m.context.mag(x) > 17:
            if x < 0 and below is not None:
                return below or m.underflow()
            raise OverflowError("too large")
        return getattr(m.context, name)(x)

    return function


# ---- elementary
def _pow(m: Multiprecision, x: Number, y: Number) -> Number:
    if y == 0:
        return 1
    if x == 0:
        if y < 0:
            raise ZeroDivisionError("0 to a negative power")
        return 0
    if x < 0 and not m.context.isint(y):
        raise ValueError("a negative number to a power that is not whole")
    # Estimate the size of the result before mpmath computes it.
    with m.context.workprec(53):
        size = y * m.context.ln(abs(x)) / m.context.ln2
    if size > MAX_EXPONENT:
        raise OverflowError("too large")
    return m.underflow() if size < -MAX_EXPONENT else m.context.power(x, y)


# ---- trigonometric and hyperbolic
# The cost of the sine and cosine of a derivative of sinc, in steps of its recurrence.
SINC_WAVES = 20


def _sinc_derivative(m: Multiprecision, n: Number, x: Number) -> Number:
    # each step is π(x f⁽ᵏ⁾ + k f⁽ᵏ⁻¹⁾) = π^k·sin(πx + kπ/2), stable for k < π|x|
    order, context = whole_order(float(n)), m.context
    is_near = context.pi * abs(x) < max(order, 1)
    terms = context.prec / 4 if is_near else SINC_WAVES + context.prec / 60
    budget.charge((order + terms) * (3 + context.prec**1.5 / 25000))
    if is_near:
        return _sinc_series(m, order, x)
    sine, cosine, power = context.sinpi(x), context.cospi(x), context.one
    waves = (sine, cosine, -sine, -cosine)
    value = sine / (context.pi * x)
    for k in range(1, order + 1):
        value = (power * waves[k % 4] - k * value) / x
        power *= context.pi
    return value


def _sinc_series(m: Multiprecision, order: int, x: Number) -> Number:
    context = m.context
    with context.extraprec(int(5 * abs(x)) + 16):
        k = (order + 1) // 2
        power = 2 * k - order
        square = -((context.pi * x) ** 2)
        term = (-1) ** k * context.pi ** (2 * k) / (2 * k + 1) * x**power
        total, smallest = term, context.ldexp(1, -context.prec)
        while abs(term) > smallest * abs(total):
            term *= square * (2 * k + 1) / ((2 * k + 3) * (power + 1) * (power + 2))
            total += term
            k += 1
            power += 2
        return total


def _sine_quotient(m: Multiprecision, n: Number, x: Number) -> Number:
    order, context = whole_order(float(n)), m.context
    with context.extraprec(max(0, context.mag(x)) + 16):
        return m.sinc_derivative(order, x / context.pi) / context.pi**order


# ---- special
def _integral(theirs: str) -> Function:
    """Return mpmath's integral of an elementary function, with all its digits beside its zero."""

    return lambda m, x: settled(m, lambda: getattr(m.context, theirs)(x))


# The largest argument for mpmath's own Fresnel integrals, which are slow series.
NEAR_FOR_FRESNEL = 4


def _fresnel(theirs: str, part: str) -> Function:
    def function(m: Multiprecision, x: Number) -> Number:
        context = m.context
        if abs(x) < NEAR_FOR_FRESNEL:
            return _integral(theirs)(m, x)

        def compute() -> Number:
            # the phase is about x**2 (DLMF 7.5.8)
            with context.extraprec(2 * context.mag(x)):
                turn = context.mpc(0.5, 0.5)
                value = turn * context.erf(turn.conjugate() * context.sqrt(context.pi) * x)
                return getattr(value, part)

        return settled(m, compute)

    return function


def _exponential_integral(m: Multiprecision, x: Number) -> Number:
    if m.context.mag(x) > 17:
        if x < 0:
            return m.underflow()
        raise OverflowError("too large")
    return _integral("ei")(m, x)


# The largest binary exponent for which erfcx is a product: beyond, a series in 1/x**2 is short.
MAX_ERFCX_MAG = 32


def _erfcx(m: Multiprecision, x: Number) -> Number:
    context = m.context
    if x < 0 or context.mag(x) > MAX_ERFCX_MAG:
        return _erfcx_derivative(m, 0, x)
    m._charge("error")
    # the error of a square in the exponent; in 800 digits a hundred times as fast as the confluent
    # function
    with context.extraprec(2 * max(context.mag(x), 0) + 10):
        return context.exp(x * x) * context.erfc(x)


def _erfcx_derivative(m: Multiprecision, n: Number, x: Number) -> Number:
    order, context = whole_order(float(n)), m.context
    m._charge("error")
    if x < 1:
        # the confluent function would sum a divergent series of huge terms; the recurrence loses
        # some exp(2*x*sqrt(2*n)) in relative accuracy
        with context.extraprec(8 * math.isqrt(order) + 32):
            return DEFINITIONS["erfcx_derivative"](m, n, x) if order else m.exp(x * x) * m.erfc(x)
    half = context.mpf(1) / 2
    # DLMF 7.18.4, 7.18.10
    size = (
        context.factorial(order)
        * context.hyperu((order + 1) * half, half, x * x)
        / context.sqrt(context.pi)
    )
    return -size if order % 2 else size


def _normcdf(m: Multiprecision, x: Number) -> Number:
    return m.erfc(-x / m.context.sqrt(2)) / 2


def _norminv(m: Multiprecision, p: Number) -> Number:
    context = m.context
    upper = context.fsub(1, p, exact=True)
    size = min(p, upper)
    if context.mag(size) > -64:
        with context.extraprec(64):
            distance = context.sqrt(2) * context.erfinv(1 - 2 * size)
    else:
        distance = _upper_quantile(m, size)
    return distance if p > upper else -distance


def _upper_quantile(m: Multiprecision, size: Number) -> Number:
    """Return x with normcdf(-x) = size, a tiny number, by Newton's steps on the logarithm."""
    context = m.context
    x = context.sqrt(-2 * context.ln(size))
    step = x
    while context.mag(step) > context.mag(x) - context.prec // 2 - 4:
        # the tail over the density is erfcx, but for a factor
        ratio = context.sqrt(context.pi / 2) * m.erfcx(x / context.sqrt(2))
        step = (context.ln(ratio / context.sqrt(2 * context.pi) / size) - x * x / 2) * ratio
        x += step
    return x


def _norminv_slope(m: Multiprecision, p: Number, out: Number) -> Number:
    # the density is steep in the quantile, which has been rounded
    return DEFINITIONS["norminv_slope"](m, p, m.norminv(p))


def _lambertw_slope(m: Multiprecision, x: Number, out: Number) -> Number:
    # near the branch point 1 + out has lost digits
    w = m.context.lambertw(x, 0 if out >= -1 else -1)
    return 1 / (m.exp(w) * (1 + w))


def _lambertw(branch: int) -> Function:
    return lambda m, x: m.context.lambertw(x, branch)


def _gamma(m: Multiprecision, x: Number) -> Number:
    if m.context.mag(x) > 14:
        if x < 0:
            return m.underflow()
        raise OverflowError("too large")
    return m.context.gamma(x)


def _lgamma(m: Multiprecision, x: Number) -> Number:
    context = m.context
    if x > 0:
        return context.loggamma(x)
    with context.extraprec(context.prec):  # the logarithms may cancel
        # DLMF 5.5.3
        return context.ln(context.pi / abs(x * context.sinpi(x))) - context.loggamma(-x)


def _polygamma(m: Multiprecision, n: Number, x: Number) -> Number:
    context, order = m.context, whole_order(float(n))
    if order == 0:
        return context.psi(0, x)
    if x > 0:
        total = _hurwitz_zeta(m, order, x) * context.factorial(order)
        return total if order % 2 else -total
    return polygamma_below_zero(m, n, x)


def _fixed_power(base: int, exponent: int, bits: int) -> int:
    """Return base**exponent, both fixed-point numbers of 2**-bits, by squaring; exponent ≥ 1 is a
    plain integer.
    """
    power = base
    for bit in bin(exponent)[3:]:
        power = power * power >> bits
        if bit == "1":
            power = power * base >> bits
    return power


def _hurwitz_zeta(m: Multiprecision, order: int, x: Number) -> Number:
    """Return Σ 1/(x + k)^(order + 1), x > 0, order > 0, by Euler-Maclaurin summation (DLMF
    25.11.5).
    """
    # In integers of 2**-bits, relative to the first term: mpmath's complex numbers are slow.
    context = m.context
    bits = context.prec + 64 - context.prec % 64 + 64  # few values: Bernoulli numbers are cached
    budget.charge(bits * (1 + bits / 330) / 3)
    first = x ** -(order + 1)
    count = max(0, math.ceil(order + 0.2 * bits - x)) if x < order + bits else 0
    start, total = x.to_fixed(bits) if count else 0, 0
    for k in range(count):
        term = (
            _fixed_power((start << bits) // (start + (k << bits)), order + 1, bits)
            if k
            else 1 << bits
        )
        if not term:
            return context.ldexp(total, -bits) * first
        total += term
    end = x + count
    inverse = (1 / end).to_fixed(bits)
    square = inverse * inverse >> bits
    # The rest is end/order/end^(order + 1) times 1 + order/(2 end) + Σ B(2k)/(2k)!·rising/end^2k.
    rest, k = (1 << bits) + (order * inverse >> 1), 1
    rising = order * (order + 1) * square
    while abs(term := _bernoulli_over_factorial(2 * k, bits) * rising >> bits) > 1:
        rest += term
        rising = rising * (order + 2 * k) * (order + 2 * k + 1) * square >> bits
        k += 1
    tail = context.ldexp(rest, -bits) * (x / end) ** (order + 1) * end / order
    return (context.ldexp(total, -bits) + tail) * first


@lru_cache(maxsize=4096)
def _bernoulli_over_factorial(n: int, bits: int) -> int:
    numerator, denominator = mpmath.bernfrac(n)
    size = (abs(int(numerator)) << bits) // (int(denominator) * math.factorial(n))
    return size if numerator > 0 else -size


def _polygamma_difference(m: Multiprecision, n: Number, a: Number, b: Number) -> Number:
    if m.context.mag(a) - m.context.mag(b) > m.context.prec:
        # The step is so small that difference and differential agree.
        return -b * m.polygamma(n + 1, a)
    lost = max(0, m.context.mag(a) - m.context.mag(b))
    with m.context.extraprec(lost + -lost % 64):  # few precisions: mpmath caches constants by them
        return m.polygamma(n, a) - m.polygamma(n, a + b)


def _beta(m: Multiprecision, a: Number, b: Number) -> Number:
    if a > 0 and b > 0:
        return m.exp(_log_beta(m, a, b))
    return _beta_by_reflection(m, a, b, m.context.sinpi(a + b))


def _beta_slope(m: Multiprecision, a: Number, b: Number) -> Number:
    if a + b <= 0 and m.context.isint(a + b):
        return _beta_by_reflection(m, a, b, m.context.pi * m.context.cospi(a + b))
    return m.beta(a, b) * m.polygamma_difference(0, a, b)


def _beta_by_reflection(m: Multiprecision, a: Number, b: Number, wave: Number) -> Number:
    """Return beta(a, b) for a negative argument (DLMF 5.5.3), times `wave`/sin(πa + πb)."""
    context = m.context
    smaller, larger, total = min(a, b), max(a, b), a + b
    if total >= 1:
        return (
            context.pi
            / (context.sinpi(smaller) * larger)
            * m.exp(-_log_beta(m, 1 - smaller, total))
        )
    if larger > 0:
        return wave / context.sinpi(smaller) * m.exp(_log_beta(m, 1 - total, larger))
    factor = wave * context.pi / (context.sinpi(a) * context.sinpi(b) * (1 - total))
    return factor * m.exp(-_log_beta(m, 1 - a, 1 - b))


def _log_beta(m: Multiprecision, a: Number, b: Number) -> Number:
    context = m.context
    m._charge("gamma")  # three calls, of which one is charged
    a, b = max(a, b), min(a, b)
    if context.mag(a) - 2 * max(context.mag(b), 0) > context.prec + GUARD_BITS:
        return context.loggamma(b) - b * context.ln(a)  # DLMF 5.11.12
    if context.mag(b) > 17:
        return -4 * context.mpf(MAX_EXPONENT)  # a bound: exp underflows
    with context.extraprec(2 * max(context.mag(a), 0)):
        return context.loggamma(a) + context.loggamma(b) - context.loggamma(a + b)


# mpmath's functions, some with special cases; the guard bits suffice.
_SURE: dict[str, Function] = {name: _theirs(theirs) for name, theirs in NATIVE.items()} | by_name(
    {
        "exp": _steep("exp", 0),
        "expm1": _steep("expm1", -1),
        "sinh": _steep("sinh", None),
        "cosh": _steep("cosh", None),
        "log": lambda m, x: m.context.ln(x),
        "pow": _pow,
        "cbrt": lambda m, x: m.context.sign(x) * m.context.cbrt(abs(x)),
        "erf": lambda m, x: m.context.sign(x) if m.context.mag(x) > 17 else m.context.erf(x),
        "erfc": lambda m, x: (
            m.context.erfc(x) if m.context.mag(x) <= 17 else m.underflow() if x > 0 else 2
        ),
        "erfi": _steep("erfi", None),
        "Si": _integral("si"),
        "Ci": _integral("ci"),
        "Ei": _exponential_integral,
        "li": _integral("li"),
        "fresnels": _fresnel("fresnels", "imag"),
        "fresnelc": _fresnel("fresnelc", "real"),
        "sine_quotient": _sine_quotient,
        "erfcx": _erfcx,
        "erfcx_derivative": _erfcx_derivative,
        "normcdf": _normcdf,
        "norminv": _norminv,
        "lambertw": _lambertw(0),
        "lambertw_minus_one": _lambertw(-1),
        "gamma": _gamma,
        "gamma_slope": lambda m, x, out: out * m.digamma(x),
        "lgamma": _lgamma,
        "sum": lambda m, *xs: m.context.fsum(xs),
        "prod": lambda m, *xs: m.context.fprod(xs),
        "min": lambda m, *xs: min(xs),
        "max": lambda m, *xs: max(xs),
        **OF_PARAMETERS,
    }
)

# All functions, some with twice the bits.
_FUNCTIONS = _SURE | by_name(
    {
        "power_minus_one": lambda m, x, y, out: m.pow(x, y - 1),
        "norminv_slope": _norminv_slope,
        "lambertw_slope": _lambertw_slope,
        "sinc_derivative": _sinc_derivative,
        "polygamma": _polygamma,
        "polygamma_difference": _polygamma_difference,
        "beta": _beta,
        "beta_slope": _beta_slope,
    }
)
