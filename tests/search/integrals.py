"""A kind of search: definite integrals, of tables and random ones, against quadrature in 50 digits
by mpmath.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import mpmath

from autodiff_cli.capabilities.integrals.integral import integrate
from autodiff_cli.capabilities.integrals.integrate import Integral
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.errors import ExpressionError

from .report import Report

DIGITS = 50
LEAST_AGREEMENT = 1e-12
"""Two quadratures of the reference that differ by more, relatively, know no value."""
SPARE = 100
"""How many times their difference the reference may be off."""
NAMES = (
    "sqrt exp log sin cos tan sec csc cot asin acos atan sinh cosh tanh sech csch coth asinh acosh"
    " atanh erf erfc cbrt"
)

TABLE = """
x**{n} | 0:{a}
({a}*x+{b})**{n} | 0:1
1/({a}*x+{b}) | 0:{c}
1/(x**2+{a}**2) | 0:{b}
1/(x**2+{a}**2) | 0:inf
x/(x**2+{a}) | 0:{b}
1/(x**2-{big}**2) | 0:1
1/(x**2+{b}*x+{big}) | 0:inf
x/(x**2+{b}*x+{big}) | 0:1
1/(x*(x+{a})) | 1:{big}
1/(x**2*(x+{a})) | 1:inf
1/(x**3+{a}) | 0:1
1/(1+x**3) | 0:inf
1/(1+x**4) | 0:inf
x**2/(1+x**4) | 0:inf
1/(1+x**6) | -inf:inf
1/(x**2+1)**2 | 0:inf
1/(x**2+{a})**{n} | 0:1
x**3/(x**2+{a})**2 | 0:{b}
(x**2+{a})/(x+{b}) | 0:1
x**4*(1-x)**4/(1+x**2) | 0:1
sqrt({a}*x+{b}) | 0:1
x*sqrt(x+{a}) | 0:{b}
1/sqrt({a}*x+{b}) | 0:1
sqrt({a}**2-x**2) | 0:{a}
1/sqrt({a}**2-x**2) | 0:{a}
x**2/sqrt({a}**2-x**2) | 0:{a}
sqrt(x**2+{a}) | 0:{b}
1/sqrt(x**2+{a}) | 0:{b}
x**2*sqrt(x**2+{a}) | 0:1
1/(x*sqrt(x**2-1)) | 1:inf
1/(x**2*sqrt(x**2+{a})) | 1:{big}
1/sqrt(x*(1-x)) | 0:1
sqrt(x*(1-x)) | 0:1
1/(sqrt(x)*(1+x)) | 0:inf
x**({p})/(1+x) | 0:inf
1/sqrt(x) | 0:{a}
1/cbrt(x) | 0:{a}
(1-x)**({p}) | 0:1
sqrt((1+x)/(1-x)) | -1:1
exp(-{a}*x) | 0:inf
x**{n}*exp(-{a}*x) | 0:inf
x*exp({a}*x) | 0:1
exp(-{a}*x)*sin({b}*x) | 0:inf
exp(-{a}*x)*cos({b}*x) | 0:inf
exp(x)*cos({a}*x) | 0:1
x*exp(-x)*sin(x) | 0:inf
exp(-{a}*x**2) | 0:inf
exp(-{a}*x**2) | 0:1
exp(-x**2+{b}*x) | -inf:inf
x**2*exp(-{a}*x**2) | -inf:inf
exp(-x**2)*cos({a}*x) | 0:inf
exp(-x)/sqrt(x) | 0:inf
sqrt(x)*exp(-{a}*x) | 0:inf
x/(exp(x)-1) | 0:inf
x**3/(exp(x)-1) | 0:inf
x/(exp(x)+1) | 0:inf
1/(exp(x)+{a}) | 0:inf
1/(exp(x)+exp(-x)) | -inf:inf
(exp(-{a}*x)-exp(-{big}*x))/x | 0:inf
(1-exp(-x))/x | 0:1
exp(-x-1/x) | 0:inf
exp(-1/x)/x**2 | 0:1
log(x) | 0:{a}
log(x) | 1:{b}
x**{n}*log(x) | 0:1
x**{n}*log({a}*x) | 1:2
log(x)**2 | 0:1
log(x)/x | 1:{big}
log(x)/x**2 | 1:inf
log(x)/sqrt(x) | 0:1
log(1+x)/x | 0:1
log(x)/(1+x) | 0:1
log(x)/(1-x) | 0:1
log(x)/(1+x**2) | 0:inf
log(1+x**2)/x**2 | 0:inf
log(1+x)/(1+x**2) | 0:1
log(x**2+{a}) | 0:1
x*log(1+x) | 0:{a}
log(x)*log(1-x) | 0:1
1/(x*log(x)**2) | 2:inf
sin({a}*x) | 0:pi
sin({a}*x)**2 | 0:pi/2
cos({a}*x)**{n} | 0:pi/2
sin(x)**3*cos(x)**{n} | 0:pi/2
sin({a}*x)*cos({b}*x) | 0:1
sin({a}*x)*sin({b}*x) | 0:pi
x*sin({a}*x) | 0:pi
x**2*cos({a}*x) | 0:pi
x**2*sin(x)**2 | 0:1
tan(x) | 0:1
tan(x)**2 | 0:pi/4
sec(x) | 0:pi/4
sec(x)**3 | 0:1
1/(1+cos(x)) | 0:pi/2
1/(1+sin(x)) | 0:pi/2
1/({big}+{b}*cos(x)) | 0:pi
1/({big}+{b}*sin(x)) | 0:2*pi
1/({a}**2*cos(x)**2+{b}**2*sin(x)**2) | 0:pi/2
sin(x)/(1+cos(x)**2) | 0:pi
cos(x)/(1+sin(x)**2) | 0:pi/2
x/cos(x)**2 | 0:1
x*sin(x)/(1+cos(x)**2) | 0:pi
sqrt(tan(x)) | 0:pi/2
sqrt(sin(x)) | 0:pi
log(sin(x)) | 0:pi/2
log(1+tan(x)) | 0:pi/4
log({big}+{b}*cos(x)) | 0:pi
x/tan(x) | 0:pi/2
x/sin(x) | 0:pi/2
sqrt(1-sin(x)**2/2) | 0:pi/2
exp(cos(x)) | 0:pi
cos({a}*sin(x)) | 0:pi
sin(x)/x | 0:{a}
(1-cos(x))/x | 0:1
(1-cos(x))/x**2 | 0:inf
sin({a}*x)**2/x**2 | 0:inf
sin(x)**3/x**3 | 0:inf
sin({a}*x)/x | 0:inf
sin(x)*cos({a}*x)/x | 0:inf
sin(x)/sqrt(x) | 0:inf
cos({a}*x)/sqrt(x) | 0:inf
sin({a}*x**2) | 0:inf
cos({a}*x**2) | 0:inf
sin(x**2) | 0:{a}
x*sin({a}*x)/(x**2+{b}**2) | 0:inf
cos({a}*x)/(x**2+{b}**2) | 0:inf
cos({a}*x)/(1+x**2)**2 | 0:inf
sin({a}*x)/(x*(x**2+1)) | 0:inf
cos(x)/x | 1:inf
cos(x)/(1+x) | 0:inf
sin(x)/(1+x) | 0:inf
cos(x**3) | 0:inf
exp(-x)*sin(x)/x | 0:inf
(cos(x)-exp(-x))/x | 0:inf
(cos({a}*x)-cos({big}*x))/x | 0:inf
asin(x) | 0:1
acos(x/{a}) | 0:1
atan({a}*x) | 0:1
x*atan(x) | 0:{a}
x**2*atan(x) | 0:1
atan(x)/x | 0:1
atan(x)/x**2 | 1:inf
atan(x)/(1+x**2) | 0:inf
asin(x)/x | 0:1
asin(x)/sqrt(1-x**2) | 0:1
asinh(x/{a}) | 0:1
acosh(x) | 1:{big}
atanh(x) | 0:1/2
sinh({a}*x) | 0:1
cosh(x)**2 | 0:{a}
x*cosh({a}*x) | 0:1
tanh({a}*x) | 0:{b}
1-tanh(x) | 0:inf
sech({a}*x) | 0:inf
sech(x)**2 | 0:inf
x/sinh(x) | 0:inf
x**2/cosh(x)**2 | 0:inf
1/cosh(x)**3 | 0:inf
sin({a}*x)/sinh(x) | 0:inf
cos({a}*x)/cosh(x) | 0:inf
erf(x) | 0:{a}
erfc(x) | 0:inf
x*erfc({a}*x) | 0:inf
x*erf(x) | 0:1
besselj(0,{a}*x) | 0:{b}
besselj({n},x)*x | -1:{a}
besselj(0,{a}*x)*exp(-{b}*x) | 0:inf
besselj(1,x)*exp(-x)/x | 0:inf
besselj(1/3,x) | 1:{big}
bessely({n},x) | {a}:{big}
bessely(0,x)*exp(-{a}*x) | 1:inf
besseli({n},x)*exp(-x) | 0:{a}
besselk(0,{a}*x) | 0:inf
besselk({n},x)*x**{n} | 0:{a}
besselk(1/3,x)*exp(-x) | 0:inf
gamma(x) | 1:{big}
1/gamma(x+{a}) | 0:inf
lgamma(x) | 0:{a}
lgamma(x+{a})*exp(-{b}*x) | 0:inf
digamma(x+{a}) | 0:{b}
digamma(x+{a})*exp(-x) | 0:inf
zeta(x) | {n}:{big}
beta(x,{a}) | 1:{b}+1
trigamma(x+{a})*x | 0:{b}
polygamma({n},x+{a}) | 0:1
lambertw(x) | 0:{a}
lambertw(x)*exp(-{a}*x) | 0:inf
gammainc({a}+1/2,x) | 0:{b}
gammaincc({a},x) | 0:inf
gammaincc({a}+1/2,{b}*x) | 0:inf
betainc({a},{b}+1/2,x) | 0:1
erfcx(x) | 0:{a}
erfcx(x)*exp(-x) | 0:inf
normpdf(x) | -inf:{a}
normcdf(-{a}*x) | 0:inf
asinh({a}*x)*exp(-x) | 0:inf
acosh(x+1)*exp(-{a}*x) | 0:inf
atan2({a},x) | -{b}:{c}
clamp(x,1/2,{a}) | 0:{big}
abs(abs(x-{a})-{b}) | 0:{big}
abs(x**3-{a}*x)*exp(-x) | 0:{b}
abs(x-{a}) | 0:{big}
abs(sin(x)) | 0:2*pi
max(x,1) | 0:{a}
abs(x**2-{a}) | -2:2
1/x | 0:1
1/x | 1:inf
1/x**2 | -1:1
1/(x-1) | 0:{big}
tan(x) | 0:pi
1/(x*log(x)) | 2:inf
1/sin(x) | 0:1
exp(x)/x | 0:1
x*sin(x) | 0:inf
log(x)/x | 0:1
1/(1-x)**{n} | 0:1
"""
"""Integrals of textbooks, each with what is drawn for its parameters."""
DIVERGENT = 11
"""So many of the table's last diverge."""
STRIDE = 59
"""From one row of the table to the next: a short search sees all kinds, a long one all rows."""
ROWS = [tuple(line.split(" | ")) for line in TABLE.strip().splitlines()]
OSCILLATING = ("sin", "cos")
SHARED = 40
"""Digits of which errors that both quadratures share leave at least so many, of 50."""
SMALL = 1e-3
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?")
LARGEST_ARGUMENT = 4000
"""Bits of the largest argument of a function: `sin` of more needs as many bits of pi, `exp` as
large an exponent.
"""
LARGEST = 1e30
"""Quadratures of what diverges may agree in the digits of a huge number."""


def parameters(rng: Random) -> dict[str, object]:
    """Return values for the parameters of the table."""
    return {
        "a": rng.choice((1, 2, 3, 5)), "b": rng.choice((1, 2, 3, 4)), "c": rng.choice((1, 2, 7)),
        "n": rng.choice((2, 3, 4, 5)), "big": rng.choice((6, 7, 9)),
        "p": rng.choice(("-1/2", "-1/3", "-1/4", "-2/3")),
    }  # fmt: skip


# ---- random integrands
ATOMS = ("x", "x", "x", "1", "2", "3", "0.5")
OUTER = ("sin", "cos", "exp", "sqrt", "log", "atan", "tanh", "sinh", "cosh", "tan", "erf")
ENDS = ("0:1", "0:1", "1:2", "-1:1", "0:pi", "1:3", "0:2", "0.5:4", "0:inf", "1:inf", "-inf:inf")


def random_text(rng: Random, depth: int) -> str:
    """Return a random integrand."""
    if depth == 0:
        return rng.choice(ATOMS)

    def inner() -> str:
        return random_text(rng, rng.randint(0, depth - 1))

    kind = rng.random()
    if kind < 0.5:
        return f"({inner()} {rng.choice('++-**/')} {inner()})"
    if kind < 0.62:
        return f"({inner()})**{rng.choice(('2', '2', '3', '4'))}"
    if kind < 0.70:
        return f"exp(-({inner()})**2)" if rng.random() < 0.5 else f"exp(-abs({inner()}))"
    return f"{rng.choice(OUTER)}({inner()})"


def random_question(rng: Random) -> tuple[str, str]:
    """Return a random integrand with x, and its ends."""
    while True:
        text = random_text(rng, rng.randint(2, 4))
        if "x" in text.replace("exp", "") and len(text) <= 60:
            return text, rng.choice(ENDS)


# ---- the reference
def _bounded(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of mpmath that refuses arguments of whose size it would need all bits."""

    def bounded(x: Any) -> Any:
        if x != 0 and mpmath.isfinite(x) and mpmath.mag(x) > LARGEST_ARGUMENT:
            raise ValueError("an argument as large as this has no digits")
        return function(x)

    return bounded


def _scaled_erfc(x: Any) -> Any:
    return (
        mpmath.hyperu(0.5, 0.5, x * x) / mpmath.sqrt(mpmath.pi)
        if x > 0
        else mpmath.exp(x * x) * mpmath.erfc(x)
    )


SAME_NAMES = "besselj bessely besseli besselk gamma digamma zeta beta atan2"
SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: getattr(mpmath, name) for name in SAME_NAMES.split()},
    "lgamma": mpmath.loggamma,
    "trigamma": lambda x: mpmath.psi(1, x),
    "polygamma": mpmath.psi,
    "lambertw": mpmath.lambertw,
    "gammainc": lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mpmath.gammainc(a, x, regularized=True),
    "betainc": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
    "erfcx": _scaled_erfc,
    "normpdf": mpmath.npdf,
    "normcdf": mpmath.ncdf,
    "clamp": lambda x, low, high: min(max(x, low), high),
}
"""Functions under the names of the language, as mpmath has them."""


def function_of(text: str) -> Callable[[Any], Any]:
    """Return a formula as a real function by mpmath, which raises ValueError where it has none."""
    names = {name: _bounded(getattr(mpmath, name)) for name in NAMES.split()}
    names.update(
        pi=mpmath.pi, e=mpmath.e, abs=abs, max=max, inf=mpmath.inf, sign=mpmath.sign, **SPECIAL
    )
    code = compile(NUMBER.sub(r"mpf('\g<0>')", text), text, "eval")
    names["mpf"] = mpmath.mpf

    def at(x: Any) -> Any:
        y = mpmath.mpmathify(eval(code, {**names, "x": mpmath.mpf(x)}))  # noqa: S307 - drawn above
        if isinstance(y, mpmath.mpc):
            if y.imag != 0:
                raise ValueError("not real")
            y = y.real
        if not mpmath.isfinite(y):
            raise ValueError("not finite")
        return y

    return at


def reference(text: str, between: str) -> tuple[Any, Any] | None:
    """Return an integral in up to 50 digits, and how far it may be off, where two quadratures
    agree; else None.
    """
    with mpmath.workdps(DIGITS):
        f = function_of(text)
        low, high = (_end(end) for end in between.split(":"))
        middle = (1, 3), (mpmath.mpf(7) / 5, mpmath.mpf(9) / 2)
        if (low, high) == (-mpmath.inf, mpmath.inf):
            # what diverges on both sides may cancel
            halves = [
                reference(text, f"-inf:{middle[0][0]}"),
                reference(text, f"{middle[0][0]}:inf"),
            ]
            known = [half for half in halves if half is not None]
            return (
                (sum(half[0] for half in known), sum(half[1] for half in known))
                if len(known) == 2
                else None
            )
        try:
            one, other = (
                _in_digits(extra, f, text, low, high, points)
                for extra, points in zip((0, 20), middle, strict=True)
            )
        except (
            ValueError,
            ZeroDivisionError,
            ArithmeticError,
            OverflowError,
            mpmath.libmp.NoConvergence,
            TypeError,
        ):
            return None
        size, error = max(abs(one), mpmath.mpf("1e-10")), abs(one - other)
        is_known = error <= LEAST_AGREEMENT * size and size < LARGEST
        return (one, SPARE * error + size * mpmath.mpf(10) ** -SHARED) if is_known else None


def _end(text: str) -> Any:
    return mpmath.mpf(text) if "inf" in text else function_of(text)(0)


def _in_digits(extra: int, *question: Any) -> Any:
    """Return an integral in more digits: what diverges then has another value, as it is cut off
    elsewhere.
    """
    with mpmath.workdps(DIGITS + extra):
        return _quadrature(*question)


def _quadrature(f: Any, text: str, low: Any, high: Any, points: Any) -> Any:
    """Return an integral: between half periods far out where the formula oscillates, else by
    tanh-sinh.
    """
    if high == mpmath.inf and any(name in text for name in OSCILLATING):
        if max(abs(f(10**8 + k)) for k in range(7)) > SMALL:
            raise ValueError("what does not fall to 0 has no integral, and a value by such sums")
        return mpmath.quad(f, [low, points[0]]) + mpmath.quadosc(
            f, [points[0], mpmath.inf], omega=1
        )
    width = high - low
    if width == mpmath.inf:
        ends = sorted({low, high, *[end for end in (-points[1], *points) if low <= end <= high]})
    else:
        ends = [low, low + width * points[0] / 5, low + width * points[1] / 5, high]
    return mpmath.quad(f, ends, maxdegree=9)


# ---- the kind
def integrals(rng: Random, report: Report) -> None:
    """Ask definite integrals of tables and random ones, and compare proven digits with quadrature
    in 50 digits.
    """
    table = report.formula % 2 == 0
    if table:
        row = report.formula // 2 * STRIDE % len(ROWS)
        drawn = parameters(rng)
        text, between = (part.format(**drawn) for part in ROWS[row])
        expected = "divergent" if row >= len(ROWS) - DIVERGENT else "finite"
    else:
        text, between = random_question(rng)
        expected = "unknown"
    sort = "table" if table else "random"
    report.count("points")
    found = {"text": text, "between": between}
    try:
        with use_budget(length=len(text)):
            answer = integrate(text, ends=[f"x={between}"])
    except ExpressionError as error:
        if expected != "unknown" or reference(text, between) is not None:
            report.count(f"{sort}: refused")
            report.sample(f"{sort}: refused: {error.diagnostic.message}", found)
        else:
            report.count(f"{sort}: refused, and the reference has no value")
        return
    report.count(f"{sort}: {answer.kind}")
    if answer.kind == "divergent":
        if expected == "finite" or (expected == "unknown" and reference(text, between) is not None):
            report.fault("divergent", {**found, "message": answer.message})
        return
    if expected == "divergent":
        report.fault("a divergent integral has a value", {**found, "message": answer.message})
        return
    value = reference(text, between)
    if value is None:
        report.count(f"{sort}: {answer.kind}, and the reference has no value")
        report.sample("no reference", {**found, "value": answer.value, "digits": answer.digits})
        return
    fault = difference(answer, value)
    if fault is not None:
        report.fault(
            fault,
            {
                **found,
                "value": answer.value,
                "digits": answer.digits,
                "reference": mpmath.nstr(value, 40),
            },
        )


def difference(answer: Integral, known: tuple[Any, Any]) -> str | None:
    """Return how an answer differs from the reference; None if it does not."""
    value, error = known
    with mpmath.workdps(DIGITS):
        if (
            answer.value is not None
            and abs(answer.value - value) > 1e-9 * max(abs(value), 1e-3) + error
        ):
            return "a wrong value"
        if answer.digits is not None:
            shown = mpmath.mpf(answer.digits)
            figures = answer.digits.lower().partition("e")[0].replace(".", "").lstrip("-0")
            unit = (
                mpmath.mpf(10) ** (mpmath.floor(mpmath.log10(abs(shown))) + 1 - len(figures))
                if shown
                else 1e-6
            )
            if abs(shown - value) > unit + error:
                return "wrong digits"
        if answer.formula is not None and "(" in answer.formula:
            exact = function_of(answer.formula)(0)
            if abs(exact - value) > 1e-20 * max(abs(value), mpmath.mpf("1e-3")) + error:
                return "a wrong formula"
    return None
