"""Values and derivatives of formula trees in ball arithmetic (Arb), which owe nothing to the
package.

A jet is a value with its first derivatives, and its second ones if asked for. The precision is
doubled until every ball is small, so functions may be written in any form that is right in exact
arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flint import acb, arb, arb_series, ctx, fmpq

from .formulas import ANY, Tree

PRECISIONS = (96, 384, 1536, 6144)
"""Bits of precision, one after the other: the last are beyond any argument of a periodic function
in doubles.
"""
SMALL_BITS = 54
"""Bits of a ball that is small: more than the digits of a double."""
TINY = arb(2) ** -1090
"""What is smaller is 0 in doubles, which end at 2**-1074."""


INFINITE = arb.nan()
"""A slope that is infinite, so that what depends on it is undefined."""


class Undefined(Exception):
    """There is no value or derivative here, certainly."""


class Undecided(Exception):
    """This precision does not decide it."""


class Kink(Exception):
    """A point on the edge of two pieces."""


class Jet:
    """A value, its derivatives by the variables, and the second ones by pairs of these; None is
    exactly 0.
    """

    __slots__ = ("g", "h", "v")

    def __init__(self, v: Any, g: Sequence[Any], h: Sequence[Any] | None = None) -> None:
        self.v = v
        self.g = g
        self.h = h


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _times(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a * b


def add(a: Jet, b: Jet) -> Jet:
    """Return a + b."""
    h = None if a.h is None or b.h is None else [_plus(p, q) for p, q in zip(a.h, b.h, strict=True)]
    return Jet(a.v + b.v, [_plus(p, q) for p, q in zip(a.g, b.g, strict=True)], h)


def negate(a: Jet) -> Jet:
    """Return -a."""
    return scale(a, arb(-1))


def scale(a: Jet, factor: Any) -> Jet:
    """Return a times a constant."""
    h = None if a.h is None else [_times(p, factor) for p in a.h]
    return Jet(a.v * factor, [_times(p, factor) for p in a.g], h)


def subtract(a: Jet, b: Jet) -> Jet:
    """Return a - b."""
    return add(a, negate(b))


def multiply(a: Jet, b: Jet) -> Jet:
    """Return a*b."""
    g = [_plus(_times(p, b.v), _times(q, a.v)) for p, q in zip(a.g, b.g, strict=True)]
    if a.h is None or b.h is None:
        return Jet(a.v * b.v, g)
    h, k = [], 0
    for i in range(len(g)):
        for j in range(i + 1):
            mixed = _plus(_times(a.g[i], b.g[j]), _times(a.g[j], b.g[i]))
            h.append(_plus(mixed, _plus(_times(a.h[k], b.v), _times(b.h[k], a.v))))
            k += 1
    return Jet(a.v * b.v, g, h)


def chain(a: Jet, derivatives: Sequence[Any]) -> Jet:
    """Return f(a) by f, f' and, for second derivatives, f'' at the value of a."""
    value, slope = derivatives[0], derivatives[1]
    g = [_times(p, slope) for p in a.g]
    if a.h is None:
        return Jet(value, g)
    second, h, k = derivatives[2], [], 0
    for i in range(len(g)):
        for j in range(i + 1):
            h.append(_plus(_times(a.h[k], slope), _times(_times(a.g[i], a.g[j]), second)))
            k += 1
    return Jet(value, g, h)


def _is_constant(a: Jet) -> bool:
    return all(p is None for p in a.g)


def _require(holds: bool, fails: bool) -> None:
    if fails:
        raise Undefined
    if not holds:
        raise Undecided


def _sign(x: Any) -> int:
    """Return 1 or -1. Raises `Kink` at 0 and `Undecided`."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    raise Kink if x.is_zero() else Undecided


def _nonzero(x: Any) -> Any:
    if x.is_zero():
        raise Undefined
    if not (x > 0 or x < 0):
        raise Undecided
    return x


# ---- functions of one variable that have their own derivatives: f, f', f''
def _exp(x: Any) -> Sequence[Any]:
    e = x.exp()
    return e, e, e


def _expm1(x: Any) -> Sequence[Any]:
    e = x.exp()
    return x.expm1(), e, e


def _log(x: Any) -> Sequence[Any]:
    _require(x > 0, x <= 0)
    return x.log(), 1 / x, -1 / (x * x)


def _log1p(x: Any) -> Sequence[Any]:
    _require(x > -1, x <= -1)
    return x.log1p(), 1 / (1 + x), -1 / ((1 + x) * (1 + x))


def _sqrt(x: Any) -> Sequence[Any]:
    if x.is_zero():
        return x, INFINITE, INFINITE
    _require(x > 0, x < 0)
    s = x.sqrt()
    return s, 1 / (2 * s), -1 / (4 * x * s)


def _cbrt(x: Any) -> Sequence[Any]:
    if x.is_zero():
        return x, INFINITE, INFINITE
    _nonzero(x)
    r = x.root(3) if x > 0 else -(-x).root(3)
    return r, 1 / (3 * r * r), -2 / (9 * r**5)


def _sin(x: Any) -> Sequence[Any]:
    s, c = x.sin_cos()
    return s, c, -s


def _cos(x: Any) -> Sequence[Any]:
    s, c = x.sin_cos()
    return c, -s, -c


def _sinc(x: Any) -> Sequence[Any]:
    if x.is_zero():
        return arb(1), arb(0), -(arb.pi() ** 2) / 3
    _nonzero(x)
    s, c = x.sin_cos_pi()
    f = s / (arb.pi() * x)
    slope = (c - f) / x
    return f, slope, -(arb.pi() * s + 2 * slope) / x


def _asin(x: Any) -> Sequence[Any]:
    w = (1 - x) * (1 + x)
    if w.is_zero():
        return x.asin(), INFINITE, INFINITE
    _require(w > 0, w < 0)
    r = w.sqrt()
    return x.asin(), 1 / r, x / (w * r)


def _acos(x: Any) -> Sequence[Any]:
    _, slope, second = _asin(x)
    return x.acos(), -slope, -second


def _atan(x: Any) -> Sequence[Any]:
    w = 1 + x * x
    return x.atan(), 1 / w, -2 * x / (w * w)


def _sinh(x: Any) -> Sequence[Any]:
    s, c = x.sinh_cosh()
    return s, c, s


def _cosh(x: Any) -> Sequence[Any]:
    s, c = x.sinh_cosh()
    return c, s, c


def _tanh(x: Any) -> Sequence[Any]:
    t, e = x.tanh(), (-2 * abs(x)).exp()
    slope = 4 * e / ((1 + e) * (1 + e))
    return t, slope, -2 * t * slope


def _asinh(x: Any) -> Sequence[Any]:
    w = 1 + x * x
    return x.asinh(), 1 / w.sqrt(), -x / (w * w.sqrt())


def _acosh(x: Any) -> Sequence[Any]:
    if x == 1:
        return arb(0), INFINITE, INFINITE
    w = (x - 1) * (x + 1)
    _require(x > 1, x < 1)
    return x.acosh(), 1 / w.sqrt(), -x / (w * w.sqrt())


def _atanh(x: Any) -> Sequence[Any]:
    w = (1 - x) * (1 + x)
    _require(w > 0, w <= 0)
    return x.atanh(), 1 / w, 2 * x / (w * w)


def _erf(x: Any) -> Sequence[Any]:
    slope = 2 / arb.pi().sqrt() * (-x * x).exp()
    return x.erf(), slope, -2 * x * slope


def _erfc(x: Any) -> Sequence[Any]:
    _, slope, second = _erf(x)
    return x.erfc(), -slope, -second


def _erfinv(x: Any) -> Sequence[Any]:
    w = (1 - x) * (1 + x)
    _require(w > 0, w <= 0)
    y = x.erfinv()
    slope = arb.pi().sqrt() / 2 * (y * y).exp()
    return y, slope, 2 * y * slope * slope


def _normpdf(x: Any) -> Sequence[Any]:
    f = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
    return f, -x * f, (x * x - 1) * f


def _normcdf(x: Any) -> Sequence[Any]:
    slope, second, _ = _normpdf(x)
    return (-x / arb(2).sqrt()).erfc() / 2, slope, second


def _norminv(p: Any) -> Sequence[Any]:
    _require(0 < p < 1, p <= 0 or p >= 1)
    y = arb(2).sqrt() * (2 * p - 1).erfinv()
    slope = 1 / _normpdf(y)[0]
    return y, slope, y * slope * slope


def _erfcx(x: Any) -> Sequence[Any]:
    half = arb(1) / 2
    # of large numbers the exponential and the complement leave the range of exponents
    f = (x * x).hypgeom_u(half, half) / arb.pi().sqrt() if x > 1 else (x * x).exp() * x.erfc()
    slope = 2 * x * f - 2 / arb.pi().sqrt()
    return f, slope, 2 * f + 2 * x * slope


def _erfi(x: Any) -> Sequence[Any]:
    slope = 2 / arb.pi().sqrt() * (x * x).exp()
    return x.erfi(), slope, 2 * x * slope


def _sine_integral(x: Any) -> Sequence[Any]:
    if x.is_zero():
        return arb(0), arb(1), arb(0)
    _nonzero(x)
    slope = x.sin() / x
    return x.si(), slope, (x.cos() - slope) / x


def _cosine_integral(x: Any) -> Sequence[Any]:
    _require(x > 0, x <= 0)
    slope = x.cos() / x
    return x.ci(), slope, -(x.sin() + slope) / x


def _exponential_integral(x: Any) -> Sequence[Any]:
    _require(x > 0 or x < 0, x == 0)
    slope = x.exp() / x
    return x.ei(), slope, slope - slope / x


def _logarithmic_integral(x: Any) -> Sequence[Any]:
    _require(x > 1 or 0 < x < 1, x <= 0 or x == 1)
    slope = 1 / x.log()
    return x.li(), slope, -slope * slope / x


def _fresnel(value: Callable[[Any], Any], shift: int) -> Callable[[Any], Sequence[Any]]:
    def function(x: Any) -> Sequence[Any]:
        sine, cosine = (arb.pi() * x * x / 2).sin_cos()
        if shift:
            return value(x), cosine, -arb.pi() * x * sine
        return value(x), sine, arb.pi() * x * cosine

    return function


def _lambertw(x: Any) -> Sequence[Any]:
    edge = x + (-arb(1)).exp()
    _require(edge > 0, edge < 0)
    w = x.lambertw()
    slope = (-w).exp() / (1 + w)
    return w, slope, -slope * slope * (2 + w) / (1 + w)


def _gammainc(a: Any, x: Any) -> Sequence[Any]:
    _require(a > 0 and x > 0, a <= 0 or x < 0)
    slope = x ** (a - 1) * (-x).exp() / a.gamma()
    return x.gamma_lower(a, 1), slope, ((a - 1) / x - 1) * slope


def _gammaincc(a: Any, x: Any) -> Sequence[Any]:
    _, slope, second = _gammainc(a, x)
    return x.gamma_upper(a, 1), -slope, -second


def _no_pole(x: Any) -> None:
    if x > 0:
        return
    if x.contains_integer():
        raise Undefined if x.is_exact() else Undecided


def polygamma(n: int, x: Any) -> Any:
    """Return the n-th derivative of digamma: below 0 by reflection, DLMF 5.15.6."""
    _no_pole(x)
    if n == 0:
        return x.digamma()
    if x > 0:
        return acb(x).polygamma(n).real
    sign = -1 if n % 2 else 1
    cotangent = arb_series([x, 1], n + 1).cot_pi()
    return sign * polygamma(n, 1 - x) - arb.pi() * arb.fac_ui(n) * cotangent[n]


def _gamma(x: Any) -> Sequence[Any]:
    _no_pole(x)
    g, psi = x.gamma(), x.digamma()
    return g, g * psi, None


def _gamma_second(x: Any) -> Sequence[Any]:
    g, slope, _ = _gamma(x)
    psi = x.digamma()
    return g, slope, g * (psi * psi + polygamma(1, x))


def _reciprocal_gamma(x: Any) -> Sequence[Any]:
    _no_pole(x)
    r, psi = x.rgamma(), x.digamma()
    return r, -r * psi, r * (psi * psi - polygamma(1, x))


def _lgamma(x: Any) -> Sequence[Any]:
    _no_pole(x)
    if x > 0:
        value = x.lgamma()
    else:
        value = (arb.pi() / abs(x.sin_pi())).log() - (1 - x).lgamma()
    return value, x.digamma(), None


def _polygamma(n: int) -> Callable[[Any], Sequence[Any]]:
    return lambda x: (polygamma(n, x), polygamma(n + 1, x), polygamma(n + 2, x))


PRIMITIVE: dict[str, Callable[[Any], Sequence[Any]]] = {
    "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "sqrt": _sqrt, "cbrt": _cbrt,
    "sin": _sin, "cos": _cos, "sinc": _sinc, "asin": _asin, "acos": _acos, "atan": _atan,
    "sinh": _sinh, "cosh": _cosh, "tanh": _tanh, "asinh": _asinh, "acosh": _acosh, "atanh": _atanh,
    "erf": _erf, "erfc": _erfc, "normpdf": _normpdf, "normcdf": _normcdf, "norminv": _norminv,
    "erfcx": _erfcx, "lambertw": _lambertw, "erfinv": _erfinv, "digamma": _polygamma(0),
    "trigamma": _polygamma(1), "erfi": _erfi, "Si": _sine_integral, "Ci": _cosine_integral,
    "Ei": _exponential_integral, "li": _logarithmic_integral,
    "fresnels": _fresnel(arb.fresnel_s, 0), "fresnelc": _fresnel(arb.fresnel_c, 1),
}  # fmt: skip


# ---- the others, of these
class Arithmetic:
    """Evaluates trees to jets, at one precision."""

    def __init__(
        self,
        names: Sequence[str],
        point: Mapping[str, Any],
        second: bool,
        literal: Callable[[str], Any],
    ):
        self.count = len(names)
        self.pairs = self.count * (self.count + 1) // 2
        self.second = second
        self.literal = literal
        self.names: dict[str, Jet] = {}
        for k, name in enumerate(names):
            g: list[Any] = [None] * self.count
            g[k] = arb(1)
            self.names[name] = Jet(point[name], g, [None] * self.pairs if second else None)

    def constant(self, x: Any) -> Jet:
        """Return a jet without derivatives."""
        return Jet(arb(x), [None] * self.count, [None] * self.pairs if self.second else None)

    def of(self, name: str, a: Jet) -> Jet:
        """Return a function of the language at a jet."""
        if name in ("gamma", "lgamma"):
            return self._of_gamma_family(name, a)
        derivatives = PRIMITIVE.get(name)
        if derivatives is not None:
            return chain(a, derivatives(a.v))
        method: Callable[[Jet], Jet] = getattr(self, f"f_{name}")
        return method(a)

    def _of_gamma_family(self, name: str, a: Jet) -> Jet:
        if not self.second:
            return chain(a, (_gamma if name == "gamma" else _lgamma)(a.v))
        if name == "gamma":
            return chain(a, _gamma_second(a.v))
        value, slope, _ = _lgamma(a.v)
        return chain(a, (value, slope, polygamma(1, a.v)))

    def inverse(self, a: Jet) -> Jet:
        """Return 1/a."""
        r = 1 / _nonzero(a.v)
        return chain(a, (r, -r * r, 2 * r * r * r))

    def divide(self, a: Jet, b: Jet) -> Jet:
        """Return a/b."""
        return multiply(a, self.inverse(b))

    def power(self, a: Jet, b: Jet) -> Jet:
        """Return a**b."""
        y = b.v.unique_fmpz() if b.v.is_exact() and b.v.is_integer() else None
        if y is not None and _is_constant(b) and abs(y) < 10**6:
            n = int(y)
            if n < 2:
                return (
                    (self.constant(1), a)[n]
                    if n >= 0
                    else self.power(self.inverse(a), self.constant(-n))
                )
            return chain(a, (a.v**n, n * a.v ** (n - 1), n * (n - 1) * a.v ** (n - 2)))
        if a.v.is_zero() and b.v > (0 if _is_constant(a) else 2 if self.second else 1):
            # derivatives by a vary with it, and are 0 here; those by b are 0
            return self.constant(0)
        if y is not None and a.v < 0:
            value = self.of("exp", multiply(b, self.of("log", negate(a))))
            value = value if _is_constant(b) else chain(value, (value.v, INFINITE, INFINITE))
            return negate(value) if int(y) % 2 else value
        return self.of("exp", multiply(b, self.of("log", a)))

    # -- elementary
    def f_exp2(self, a: Jet) -> Jet:
        return self.of("exp", scale(a, arb(2).log()))

    def f_log2(self, a: Jet) -> Jet:
        return scale(self.of("log", a), 1 / arb(2).log())

    def f_log10(self, a: Jet) -> Jet:
        return scale(self.of("log", a), 1 / arb(10).log())

    def f_abs(self, a: Jet) -> Jet:
        return a if _sign(a.v) > 0 else negate(a)

    def f_sign(self, a: Jet) -> Jet:
        return self.constant(_sign(a.v))

    def _step(self, x: Any) -> Jet:
        whole = x.floor()
        if not whole.is_exact():
            raise Undecided
        return self.constant(whole)

    def f_floor(self, a: Jet) -> Jet:
        if a.v.is_integer() and a.v.is_exact():
            raise Kink
        return self._step(a.v)

    def f_ceil(self, a: Jet) -> Jet:
        return add(self.f_floor(a), self.constant(1))

    def f_round(self, a: Jet) -> Jet:
        return self.f_floor(add(a, self.constant(fmpq(1, 2))))

    def f_deg(self, a: Jet) -> Jet:
        return scale(a, 180 / arb.pi())

    def f_rad(self, a: Jet) -> Jet:
        return scale(a, arb.pi() / 180)

    # -- trigonometric
    def f_tan(self, a: Jet) -> Jet:
        return self.divide(self.of("sin", a), self.of("cos", a))

    def f_sec(self, a: Jet) -> Jet:
        return self.inverse(self.of("cos", a))

    def f_csc(self, a: Jet) -> Jet:
        return self.inverse(self.of("sin", a))

    def f_cot(self, a: Jet) -> Jet:
        return self.divide(self.of("cos", a), self.of("sin", a))

    def f_asec(self, a: Jet) -> Jet:
        return self.of("acos", self.inverse(a))

    def f_acsc(self, a: Jet) -> Jet:
        return self.of("asin", self.inverse(a))

    def f_acot(self, a: Jet) -> Jet:
        return self.of("atan", self.inverse(a))

    # -- hyperbolic
    def f_sech(self, a: Jet) -> Jet:
        e = self.of("exp", a if a.v < 0 else negate(a))
        return self.divide(scale(e, arb(2)), add(self.constant(1), multiply(e, e)))

    def f_csch(self, a: Jet) -> Jet:
        return self.inverse(self.of("sinh", a))

    def f_coth(self, a: Jet) -> Jet:
        return self.inverse(self.of("tanh", a))

    def f_asech(self, a: Jet) -> Jet:
        _require(a.v > 0, a.v <= 0)
        return self.of("acosh", self.inverse(a))

    def f_acsch(self, a: Jet) -> Jet:
        return self.of("asinh", self.inverse(a))

    def f_acoth(self, a: Jet) -> Jet:
        return self.of("atanh", self.inverse(a))

    # -- machine learning
    def f_relu(self, a: Jet) -> Jet:
        return a if _sign(a.v) > 0 else self.constant(0)

    def f_leaky_relu(self, a: Jet) -> Jet:
        return a if _sign(a.v) > 0 else multiply(a, self.constant(self.literal("0.01")))

    def f_elu(self, a: Jet) -> Jet:
        if a.v.is_zero() and not self.second:
            return a
        return a if _sign(a.v) > 0 else self.of("expm1", a)

    def f_gelu(self, a: Jet) -> Jet:
        return multiply(a, scale(self.of("erfc", scale(a, -1 / arb(2).sqrt())), arb(1) / 2))

    def f_sigmoid(self, a: Jet) -> Jet:
        if a.v < 0:
            e = self.of("exp", a)
            return self.divide(e, add(self.constant(1), e))
        return self.inverse(add(self.constant(1), self.of("exp", negate(a))))

    def f_silu(self, a: Jet) -> Jet:
        return multiply(a, self.f_sigmoid(a))

    def f_softplus(self, a: Jet) -> Jet:
        if a.v < 0:
            return self.of("log1p", self.of("exp", a))
        return add(a, self.of("log1p", self.of("exp", negate(a))))

    def f_softsign(self, a: Jet) -> Jet:
        if a.v.is_zero() and not self.second:
            return a
        return self.divide(a, add(self.constant(1), self.f_abs(a)))

    def f_logit(self, a: Jet) -> Jet:
        _require(0 < a.v < 1, a.v <= 0 or a.v >= 1)
        return self.of("log", self.divide(a, subtract(self.constant(1), a)))

    def f_heaviside(self, a: Jet) -> Jet:
        return self.constant(int(_sign(a.v) > 0))

    # -- of several
    def of_several(self, name: str, inputs: Sequence[Jet]) -> Jet:
        """Return a function of several arguments."""
        method: Callable[..., Jet] = getattr(self, f"g_{name}")
        return method(*inputs)

    def g_log(self, a: Jet, b: Jet) -> Jet:
        return self.divide(self.of("log", a), self.of("log", b))

    def g_pow(self, a: Jet, b: Jet) -> Jet:
        return self.power(a, b)

    def g_atan2(self, y: Jet, x: Jet) -> Jet:
        if x.v.is_zero() and y.v.is_zero():
            raise Undefined
        if x.v < 0 and not _is_constant(y):
            _sign(y.v)  # the value jumps where y is 0
        if x.v > 0 or x.v < 0:
            ratio = self.of("atan", self.divide(y, x))
        else:
            ratio = negate(self.of("atan", self.divide(x, y)))
        return Jet(arb.atan2(y.v, x.v), ratio.g, ratio.h)

    def g_beta(self, a: Jet, b: Jet) -> Jet:
        total = add(a, b)
        both = multiply(self.of("gamma", a), self.of("gamma", b))
        return multiply(both, chain(total, _reciprocal_gamma(total.v)))

    def g_polygamma(self, n: Jet, a: Jet) -> Jet:
        return chain(a, _polygamma(int(n.v.unique_fmpz()))(a.v))

    def g_gammainc(self, a: Jet, x: Jet) -> Jet:
        return chain(x, _gammainc(a.v, x.v))

    def g_gammaincc(self, a: Jet, x: Jet) -> Jet:
        return chain(x, _gammaincc(a.v, x.v))

    def g_sum(self, *inputs: Jet) -> Jet:
        total = inputs[0]
        for a in inputs[1:]:
            total = add(total, a)
        return total

    def g_mean(self, *inputs: Jet) -> Jet:
        return scale(self.g_sum(*inputs), arb(1) / len(inputs))

    def g_prod(self, *inputs: Jet) -> Jet:
        total = inputs[0]
        for a in inputs[1:]:
            total = multiply(total, a)
        return total

    def g_max(self, *inputs: Jet) -> Jet:
        best = inputs[0]
        for a in inputs[1:]:
            best = best if _sign(best.v - a.v) > 0 else a
        return best

    def g_min(self, *inputs: Jet) -> Jet:
        return negate(self.g_max(*[negate(a) for a in inputs]))

    def g_clamp(self, a: Jet, low: Jet, high: Jet) -> Jet:
        _require(low.v < high.v, low.v >= high.v)
        return self.g_min(self.g_max(a, low), high)

    def g_hypot(self, *inputs: Jet) -> Jet:
        if all(a.v.is_zero() for a in inputs):
            raise Kink
        return self.of("sqrt", self.g_sum(*[multiply(a, a) for a in inputs]))

    def g_logsumexp(self, *inputs: Jet) -> Jet:
        largest = max(inputs, key=lambda a: float(a.v.mid()))
        parts = [
            self.constant(1) if a is largest else self.of("exp", subtract(a, largest))
            for a in inputs
        ]
        return add(largest, self.of("log", self.g_sum(*parts)))

    def g_logaddexp(self, a: Jet, b: Jet) -> Jet:
        return self.g_logsumexp(a, b)

    # -- trees
    def evaluated(self, tree: Tree) -> Jet:
        """Return the jet of a tree."""
        kind = tree[0]
        if kind == "name":
            return self.names[tree[1]]
        if kind == "literal":
            return self.constant(self.literal(tree[1]))
        if kind in ("where", "index"):
            method: Callable[..., Jet] = getattr(self, f"_{kind}")
            return method(*tree[1:])
        inputs = [self.evaluated(part) for part in tree[1:]]
        operation = OPERATIONS.get(kind)
        if operation is not None:
            return operation(self, *inputs)
        a = (
            self.of(kind, inputs[0])
            if len(inputs) == 1 and kind not in SEVERAL
            else self.of_several(kind, inputs)
        )
        if not a.v.is_finite():
            raise Undecided
        return a

    def _where(self, relation: str, left: Tree, right: Tree, yes: Tree, no: Tree) -> Jet:
        below = _sign(self.evaluated(left).v - self.evaluated(right).v) < 0
        return self.evaluated(yes if below == (relation == "<") else no)

    def _index(self, of: str, body: Tree, name: str, first: int, last: int) -> Jet:
        terms, outer = [], dict(self.names)
        for k in range(first, last + 1):
            self.names[name] = self.constant(k)
            terms.append(self.evaluated(body))
        self.names = outer
        return self.g_sum(*terms) if of == "sum" else self.g_prod(*terms)


OPERATIONS: dict[str, Callable[..., Jet]] = {
    "+": lambda m, a, b: add(a, b),
    "-": lambda m, a, b: subtract(a, b),
    "*": lambda m, a, b: multiply(a, b),
    "/": Arithmetic.divide,
    "**": Arithmetic.power,
    "neg": lambda m, a: negate(a),
}
SEVERAL = frozenset(ANY)
"""Functions of any number of arguments."""


class Reference(NamedTuple):
    """Numbers in order: the value, the first derivatives, the second ones by rows of a triangle.
    None is exactly 0.
    """

    numbers: Sequence[Any]
    zeros: frozenset[int]
    """Those that shrink with every precision, so that they are 0."""
    differing: frozenset[int] = frozenset()
    """Those of a kink that differ on its sides, so that they do not exist."""


def _is_small(x: Any) -> bool:
    return (
        x is None
        or x.rel_accuracy_bits() >= SMALL_BITS
        or (x.is_finite() and abs(x).upper() < TINY)
    )


BESIDE = 2000
"""How near to a point its neighbours are, which show the sides of a kink: as 2**-2000, above the
last precision.
"""


def sides(
    tree: Tree, point: Mapping[str, str], *, decimals: bool = False, doubles: bool = True
) -> Reference | None:
    """Return the numbers next to a kink, and which of them differ on its sides; None if unknown.

    `decimals` and `doubles` are those of `reference`.
    """
    found = []
    for k in range(2 ** len(point)):
        signs = [1 if k >> j & 1 else -1 for j in range(len(point))]
        try:
            found.append(reference(tree, point, decimals=decimals, doubles=doubles, beside=signs))
        except (Kink, Undefined, Undecided):
            return None
    columns = [*zip(*(side.numbers for side in found), strict=True)]
    differing = frozenset(k for k, column in enumerate(columns) if not _agree(column))
    return Reference([column[0] for column in columns], frozenset(), differing)


SAME = 1e-12
"""The largest relative difference of sides that are one in doubles: those of floor(1e16) are."""


VANISHING = arb(2) ** -500
"""What is smaller beside a kink goes to 0 there, as the slope of `abs(y)**1.5` does: 2**-1000."""


def _agree(column: Sequence[Any]) -> bool:
    """Return whether numbers of the sides are the same, to the digits of doubles."""
    first, *others = [arb(0) if x is None else x.mid() for x in column]
    return all(abs(x - first) <= abs(first) * SAME + VANISHING for x in others)


def reference(
    tree: Tree,
    point: Mapping[str, str],
    *,
    second: bool = False,
    decimals: bool = False,
    doubles: bool = True,
    beside: Sequence[int] = (),
) -> Reference:
    """Return the numbers of a tree at a point, at its doubles or as the decimals that are written.

    `decimals` is about the literals of the formula, `doubles` about the point, `beside` the side of
    it in each variable on which the numbers are asked for. Raises `Undefined`, `Kink`, and
    `Undecided` where no precision makes the balls small.
    """
    literal = _decimal if decimals else _double
    names = [*point]
    before: list[Any] = []
    for bits in PRECISIONS[-1:] if beside else PRECISIONS:
        ctx.prec = bits
        at = {name: _double(text) if doubles else arb(text) for name, text in point.items()}
        for k, sign in enumerate(beside):
            # in ratios that no kink has
            at[names[k]] += sign * (1 + arb(k) / 3) * arb(2) ** -BESIDE
        try:
            jet = Arithmetic(names, at, second, literal).evaluated(tree)
        except Undecided:
            before = []
            continue
        numbers = [jet.v, *jet.g, *(jet.h or ())]
        if (
            bits == PRECISIONS[-1]
            and jet.v.is_finite()
            and any(x is not None and x.is_nan() for x in numbers)
        ):
            raise Undefined
        if all(map(_is_small, numbers)):
            return Reference(numbers, frozenset())
        if bits == PRECISIONS[-1] and before:
            zeros = frozenset(
                k for k, (x, y) in enumerate(zip(numbers, before, strict=True)) if _shrinks(x, y)
            )
            if all(_is_small(x) or k in zeros for k, x in enumerate(numbers)):
                return Reference(numbers, zeros)
        before = numbers
    raise Undecided


def _shrinks(x: Any, before: Any) -> bool:
    """Return whether a ball around 0 has become so small with more digits that it is 0."""
    if x is None or before is None or not (x.contains(0) and x.is_finite() and before.is_finite()):
        return False
    return bool(abs(x).upper() <= abs(before).upper() * arb(2) ** -1000)


def _double(text: str) -> Any:
    return arb(math.pi if text == "pi" else float(text))


def _decimal(text: str) -> Any:
    return arb.pi() if text == "pi" else arb(text)
