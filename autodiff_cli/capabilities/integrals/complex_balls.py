"""Complex balls: proven enclosures of a program over a rectangle of complex numbers, for rigorous
quadrature.

With `analytic` an operation that is not analytic on its whole ball gives no finite ball, as
`acb.integral` wants.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import acb, arb, ctx, fmpq

from ...engine.numbers.ball_special import faddeeva
from ...engine.numbers.base import Number, NumberType, Refusal, undecided
from ...engine.table.primitives import by_name, library_names


class ComplexBalls(NumberType):
    """Complex balls of python-flint, as a number type; values of variables are given as balls."""

    name = "complex balls"
    has_values = False

    def __init__(self, analytic: bool) -> None:
        self.analytic = analytic
        # Whether a root or a logarithm was taken of a ball that is partly negative.
        self.straddles = False
        for name in DIRECT:
            setattr(self, name, self._direct(name))
        for name, method in PIECEWISE.items():
            setattr(self, name, self._piecewise(method))
        for name, imaginary in CUTS.items():
            setattr(self, name, self._outside_a_cut(name, imaginary))

    @property
    def pi(self) -> Any:
        return acb(arb.pi())

    def number(self, x: Number) -> Any:
        if isinstance(x, acb):
            return x
        ratio = Fraction(x)
        return acb(arb(fmpq(ratio.numerator, ratio.denominator)))

    def literal(self, text: str) -> Any:
        if text in ("pi", "π"):
            return self.pi
        return acb(arb(1).exp()) if text == "e" else self.number(Fraction(text))

    def neg(self, x: Any) -> Any:
        """Return the negative."""
        return -x

    def is_finite(self, x: Number) -> bool:
        return True

    def definition(self, name: str) -> Callable[..., Number]:
        if name in UNKNOWN:
            raise Refusal("domain", f"`{name}` is not known in complex balls", "")
        return super().definition(name)

    # ---- conditions, which count the real parts beside the real axis
    def lt(self, x: Any, y: Any) -> bool:
        """Return whether a number is less. Raises `Refusal` if the ball does not decide it."""
        x, y = self.number(x).real, self.number(y).real
        return _decided(x < y, x >= y)

    def le(self, x: Any, y: Any) -> bool:
        """Return whether a number is at most another. Raises `Refusal`."""
        x, y = self.number(x).real, self.number(y).real
        return _decided(x <= y, x > y)

    def gt(self, x: Any, y: Any) -> bool:
        """Return whether a number is greater. Raises `Refusal`."""
        return self.lt(y, x)

    def ge(self, x: Any, y: Any) -> bool:
        """Return whether a number is at least another. Raises `Refusal`."""
        return self.le(y, x)

    def eq(self, x: Any, y: Any) -> bool:
        """Return whether two numbers are equal. Raises `Refusal`."""
        x, y = self.number(x), self.number(y)
        return _decided(x.is_exact() and y.is_exact() and x.overlaps(y), not x.overlaps(y))

    def ne(self, x: Any, y: Any) -> bool:
        """Return whether two numbers differ. Raises `Refusal`."""
        return not self.eq(x, y)

    # ---- functions
    def pow(self, x: Any, y: Any) -> Any:
        """Return a power; one that is not whole is not analytic across the negative numbers."""
        x, y = self.number(x), self.number(y)
        if y.is_exact() and y.imag == 0 and y.real.is_integer():
            return x ** int(y.real.unique_fmpz())
        return NOWHERE if self._is_negative(x) else x.pow(y, analytic=self.analytic)

    def sqrt(self, x: Any) -> Any:
        """Return the square root; real negative numbers have none."""
        x = self.number(x)
        return NOWHERE if self._is_negative(x) else x.sqrt(analytic=self.analytic)

    def log(self, x: Any) -> Any:
        """Return the logarithm; real negative numbers have none."""
        x = self.number(x)
        return NOWHERE if self._is_negative(x) else x.log(analytic=self.analytic)

    def log1p(self, x: Any) -> Any:
        """Return log(1 + x)."""
        return self.log(1 + x)

    def erfcx(self, x: Any) -> Any:
        """Return exp(x**2)*erfc(x): on the right half-plane it and its slope are no larger than at
        the real part.

        It is 2/sqrt(pi) times the integral of exp(-s**2 - 2*x*s) from 0 on (DLMF 7.7.1).
        """
        x = self.number(x)
        if not x.real > 0:
            return (x * x).exp() * x.erfc()
        middle, least, root = x.mid(), x.real.lower(), arb.pi().sqrt()
        center = (middle * middle).hypgeom_u(acb(0.5), acb(0.5)) / root  # DLMF 7.11.4, 13.6.8
        slope = arb.min(2 / root, 1 / (root * least * least)).upper()
        return _around(center, x, slope)

    def lgamma(self, x: Any) -> Any:
        """Return the logarithm of gamma on the right half-plane."""
        return x.lgamma() if x.real > 0 else NOWHERE

    def gammainc(self, a: Any, x: Any) -> Any:
        """Return the regularized lower incomplete gamma function on the right half-plane."""
        a, x = self.number(a), self.number(x)
        if not a.real > 0:
            return NOWHERE
        if x.real > 0:
            return x.gamma_lower(a, regularized=1)
        return self._increasing(x, 0, None, lambda end: end.gamma_lower(a, regularized=1))

    def gammaincc(self, a: Any, x: Any) -> Any:
        """Return the regularized upper incomplete gamma function on the right half-plane."""
        a, x = self.number(a), self.number(x)
        if a.real > 0 and x.real > 0:
            return x.gamma_upper(a, regularized=1)
        return 1 - self.gammainc(a, x)

    def betainc(self, a: Any, b: Any, x: Any) -> Any:
        """Return the regularized incomplete beta function, between its cuts."""
        a, b, x = self.number(a), self.number(b), self.number(x)
        if not (a.real > 0 and b.real > 0):
            return NOWHERE
        if x.real > 0 and x.real < 1:
            return x.beta_lower(a, b, regularized=1)
        return self._increasing(x, 0, 1, lambda end: end.beta_lower(a, b, regularized=1))

    def _increasing(
        self, x: Any, first: int, last: int | None, function: Callable[[Any], Any]
    ) -> Any:
        """Return the ball of an increasing function, 0 at `first` and 1 at `last`, over a real ball
        that has one.
        """
        if self.analytic or x.imag != 0 or x.real < first or (last is not None and x.real > last):
            return NOWHERE
        self.straddles = True
        low, high = x.real.lower(), x.real.upper()
        bottom = function(acb(low)).real if low > first else arb(0)
        top = (
            arb(1)
            if last is not None and not high < last
            else function(acb(high)).real
            if high > first
            else arb(0)
        )
        return acb(bottom.union(top))

    def beta(self, a: Any, b: Any) -> Any:
        """Return the beta function."""
        a, b = self.number(a), self.number(b)
        return a.gamma() * b.gamma() * (a + b).rgamma()

    def trigamma(self, x: Any) -> Any:
        """Return the derivative of digamma."""
        return self.number(x).polygamma(1)

    def polygamma(self, n: Any, x: Any) -> Any:
        """Return a derivative of digamma."""
        return self.number(x).polygamma(self.number(n))

    def lambertw(self, x: Any) -> Any:
        """Return the principal branch of the Lambert W function, right of its branch point -1/e."""
        x = self.number(x)
        return x.lambertw() if x.real > -arb(-1).exp() else NOWHERE

    def lambertw_branch(self, x: Any, k: Any) -> Any:
        """Return a branch of the Lambert W function; that of -1 between -1/e and 0."""
        x = self.number(x)
        if self.number(k) == 0:
            return self.lambertw(x)
        return x.lambertw(middle=True) if x.real > -arb(-1).exp() and x.real < 0 else NOWHERE

    def Si(self, x: Any) -> Any:
        """Return the sine integral."""
        return self.number(x).si()

    def Ci(self, x: Any) -> Any:
        """Return the cosine integral on the right half-plane."""
        x = self.number(x)
        return x.ci() if x.real > 0 else NOWHERE

    def Ei(self, x: Any) -> Any:
        """Return the exponential integral, on either side of its pole (DLMF 6.2.6)."""
        x = self.number(x)
        if x.real > 0:
            return x.ei()
        return -(-x).expint(1) if x.real < 0 else NOWHERE

    def li(self, x: Any) -> Any:
        """Return the logarithmic integral (DLMF 6.2.8)."""
        x = self.number(x)
        return self.Ei(x.log()) if x.real > 0 else NOWHERE

    def fresnels(self, x: Any) -> Any:
        """Return the Fresnel integral of a sine."""
        return self.number(x).fresnel_s()

    def fresnelc(self, x: Any) -> Any:
        """Return the Fresnel integral of a cosine."""
        return self.number(x).fresnel_c()

    def sine_quotient(self, n: Any, x: Any) -> Any:
        """Return sin(x)/x; no derivatives of it."""
        return self.number(x).sinc() if self.number(n) == 0 else NOWHERE

    def faddeeva_re(self, n: Any, x: Any, y: Any) -> Any:
        """Return the continuation of the real part of a derivative of the Faddeeva function."""
        w, mirrored = self._faddeeva(n, x, y)
        return (w + mirrored) / 2

    def faddeeva_im(self, n: Any, x: Any, y: Any) -> Any:
        """Return the continuation of the imaginary part of a derivative of the Faddeeva
        function.
        """
        w, mirrored = self._faddeeva(n, x, y)
        return (w - mirrored) / acb(0, 2)

    def _faddeeva(self, n: Any, x: Any, y: Any) -> tuple[Any, Any]:
        """Return derivatives at x + i·y, and the conjugates of them for real x and y (DLMF 7.4.4):
        both are entire.
        """
        x, y, order = self.number(x), self.number(y), int(self.number(n).real.unique_fmpz())
        i = acb(0, 1)
        return faddeeva(order, x + i * y), (-1) ** order * faddeeva(order, -x + i * y)

    # ---- Bessel functions
    def besselj(self, nu: Any, x: Any) -> Any:
        """Return the Bessel function of the first kind."""
        return self._of_first_kind(nu, x, -1)

    def besseli(self, nu: Any, x: Any) -> Any:
        """Return the modified Bessel function of the first kind."""
        return self._of_first_kind(nu, x, 1)

    def bessely(self, nu: Any, x: Any) -> Any:
        """Return the Bessel function of the second kind on the right half-plane."""
        x = self.number(x)
        return x.bessel_y(self.number(nu)) if x.real > 0 else NOWHERE

    def besselk(self, nu: Any, x: Any) -> Any:
        """Return the modified Bessel function of the second kind on the right half-plane."""
        nu, x = self.number(nu), self.number(x)
        if not x.real > 0:
            return NOWHERE
        if nu.imag != 0 or (x.is_exact() and nu.is_exact()):
            return _besselk(x, nu)
        # Of a ball all digits cancel. By the integral of exp(-x*cosh(s))*cosh(nu*s) (DLMF 10.32.9)
        # K is no larger than at the least real part, its slope by x is no larger than K of order
        # |nu| + 1 there, nor is that by nu.
        least, order = acb(x.real.lower()), abs(nu.real)
        center = _besselk(x.mid(), nu.mid())
        with ctx.workprec(ROUGH_BITS):
            error = (
                (x.rad() + nu.rad()) * _besselk(least, acb(order.upper() + 1)).real.abs_upper()
            ).upper()
        if center.is_finite() and error < center.abs_upper():
            return center + acb(arb(0, error), arb(0, error))
        with ctx.workprec(ROUGH_BITS):
            largest = _besselk(least, acb(order.upper())).real.abs_upper()
        return acb(arb(0, largest), arb(0, largest))

    def _of_first_kind(self, nu: Any, x: Any, sign: int) -> Any:
        """Return J (sign -1) or I: entire for whole orders (DLMF 10.2.2, 10.25.2), else on the
        right half-plane.
        """
        nu, x = self.number(nu), self.number(x)
        if nu.is_exact() and nu.imag == 0 and nu.real.is_integer() and x.contains(0):
            order = int(nu.real.unique_fmpz())
            mirror = sign**order if order < 0 else 1  # DLMF 10.4.1, 10.27.1
            return (
                mirror
                * (x / 2) ** abs(order)
                * (sign * x * x / 4).hypgeom_0f1(abs(order) + 1, regularized=1)
            )
        if not (x.real > 0 or (nu.is_exact() and nu.imag == 0 and nu.real.is_integer())):
            return NOWHERE
        return x.bessel_j(nu) if sign < 0 else x.bessel_i(nu)

    def atan2(self, y: Any, x: Any) -> Any:
        """Return the angle of a point, off the negative half-axis."""
        x, y = self.number(x), self.number(y)
        if x.real > 0:
            return self.atan(y / x)
        if not (y.real > 0 or y.real < 0):
            return NOWHERE
        return (self.pi if y.real > 0 else -self.pi) / 2 - self.atan(x / y)

    def round(self, x: Any) -> Any:
        """Return the nearest whole number; at halves the ball has both."""
        x, half = self.number(x), acb(1) / 2
        return (
            (x + half)
            .real_floor(analytic=self.analytic)
            .union((x - half).real_ceil(analytic=self.analytic))
        )

    def sinc(self, x: Any) -> Any:
        """Return sin(pi*x)/(pi*x)."""
        return x.sinc_pi()

    def max(self, *xs: Any) -> Any:
        """Return the largest number."""
        return reduce(lambda x, y: x.real_max(y, analytic=self.analytic), map(self.number, xs))

    def min(self, *xs: Any) -> Any:
        """Return the smallest number."""
        return reduce(lambda x, y: x.real_min(y, analytic=self.analytic), map(self.number, xs))

    def relu(self, x: Any) -> Any:
        """Return the number, or 0 where it is negative."""
        return self.max(x, acb(0))

    def clamp(self, x: Any, low: Any, high: Any) -> Any:
        """Return the number between two others."""
        return self.min(self.max(x, low), high)

    def _is_negative(self, x: Any) -> bool:
        """Return whether a function with a cut along the negative numbers has no value here."""
        if x.imag != 0 or x.real >= 0:
            return False
        self.straddles = self.straddles or not x.real < 0
        return bool(x.real < 0)

    def _direct(self, name: str) -> Callable[[Any], Any]:
        return lambda x: getattr(self.number(x), name)()

    def _piecewise(self, method: str) -> Callable[[Any], Any]:
        return lambda x: getattr(x, method)(analytic=self.analytic)

    def _outside_a_cut(self, name: str, imaginary: bool) -> Callable[[Any], Any]:
        """Return a function with cuts from 1 and -1 outwards, on the real or the imaginary axis."""

        def function(x: Any) -> Any:
            across, along = (x.real, x.imag) if imaginary else (x.imag, x.real)
            if not across.contains(0) or abs(along) < 1:
                found = getattr(x, name)()
                return found if found.is_finite() or not imaginary else _of_wide_ball(name, x)
            if self.analytic or (not imaginary and abs(along) > 1):
                return NOWHERE
            if not imaginary:
                self.straddles = True
                return getattr(acb(_clipped(along)), name)() if x.imag == 0 else NOWHERE
            return getattr(x, name)()

        return function

    def acosh(self, x: Any) -> Any:
        """Return the inverse hyperbolic cosine, right of 1."""
        if x.real > 1:
            return x.acosh()
        if self.analytic or x.imag != 0 or x.real < 1:
            return NOWHERE
        self.straddles = True
        return acb(arb(0).union(x.real.upper().acosh()))


def _of_wide_ball(name: str, x: Any) -> Any:
    """Return atan or asinh by their slopes, 1/(1 + x**2) and its root: off the cuts x is so far
    from i and -i.
    """
    far = arb.max(abs(x.real).lower(), 1 - abs(x.imag).upper()).lower()
    slope = 1 / (far if name == "asinh" else far * far)
    return _around(getattr(x.mid(), name)(), x, slope)


def _around(center: Any, x: Any, slope: Any) -> Any:
    """Return the ball of a function with this value at the middle of a ball, and at most this slope
    on all of it.
    """
    error = (x.rad() * slope).upper()
    return center + acb(arb(0, error), arb(0, error))


def _besselk(x: Any, nu: Any) -> Any:
    """Return K of exact numbers: between its series it is a difference of parts exp(2x) times as
    large.
    """
    size = x.abs_upper()
    with ctx.workprec(ctx.prec + (3 * int(float(size)) + SPARE_BITS if size < 4 * ctx.prec else 0)):
        return x.bessel_k(nu)


# The working precision of bounds.
ROUGH_BITS = 30
# Working bits beyond those that cancel.
SPARE_BITS = 10


def _decided(holds: bool, fails: bool) -> bool:
    if not (holds or fails):
        raise undecided("a ball does not decide a condition")
    return bool(holds)


def _clipped(x: Any) -> Any:
    """Return the part of a real ball that is between -1 and 1."""
    low, high = arb.max(x.lower(), arb(-1)), arb.min(x.upper(), arb(1))
    return low.union(high)


# No finite ball: the function has no value, or is not analytic.
NOWHERE = acb("nan")
DIRECT = library_names(
    "exp sin cos tan cot sec csc sinh cosh tanh coth sech csch expm1 erf erfc erfi gamma digamma"
    " zeta"
)  # fmt: skip
PIECEWISE = by_name({
    "abs": "real_abs", "sign": "real_sgn", "floor": "real_floor", "ceil": "real_ceil",
    "heaviside": "real_heaviside",
})  # fmt: skip
# Functions with cuts from 1 and -1 outwards; True for those on the imaginary axis.
CUTS = by_name({"atan": True, "asinh": True, "asin": False, "acos": False, "atanh": False})
# Functions that are refused: not known there.
UNKNOWN = library_names(
    "erfinv norminv norminv_scaled gammainc_derivative zeta_derivative gamma_density_derivative"
    " betainc_derivative beta_density_derivative besselj_derivative bessely_derivative"
    " besseli_derivative besselk_derivative"
)
