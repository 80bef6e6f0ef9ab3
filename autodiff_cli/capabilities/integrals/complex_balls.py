"""Complex balls: proven enclosures of a program over a rectangle of complex numbers, for rigorous quadrature.

With `analytic` an operation that is not analytic on its whole ball gives no finite ball, as `acb.integral` wants.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import acb, arb, fmpq

from ...engine.numbers.base import Number, NumberType, Refusal, undecided
from ...engine.table.primitives import by_name, library_names


class ComplexBalls(NumberType):
    """Complex balls of python-flint, as a number type; values of variables are given as balls."""

    name = "complex balls"
    has_values = False

    def __init__(self, analytic: bool) -> None:
        self.analytic = analytic
        self.straddles = False
        """Whether a root or a logarithm was taken of a ball that is partly negative."""
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

    def lgamma(self, x: Any) -> Any:
        """Return the logarithm of gamma on the right half-plane."""
        return x.lgamma() if x.real > 0 else NOWHERE

    def gammainc(self, a: Any, x: Any) -> Any:
        """Return the regularized lower incomplete gamma function on the right half-plane."""
        a, x = self.number(a), self.number(x)
        return x.gamma_lower(a, regularized=1) if a.real > 0 and x.real > 0 else NOWHERE

    def gammaincc(self, a: Any, x: Any) -> Any:
        """Return the regularized upper incomplete gamma function on the right half-plane."""
        a, x = self.number(a), self.number(x)
        return x.gamma_upper(a, regularized=1) if a.real > 0 and x.real > 0 else NOWHERE

    def betainc(self, a: Any, b: Any, x: Any) -> Any:
        """Return the regularized incomplete beta function, between its cuts."""
        a, b, x = self.number(a), self.number(b), self.number(x)
        inside = a.real > 0 and b.real > 0 and x.real > 0 and x.real < 1
        return x.beta_lower(a, b, regularized=1) if inside else NOWHERE

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
                return getattr(x, name)()
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


def _decided(holds: bool, fails: bool) -> bool:
    if not (holds or fails):
        raise undecided("a ball does not decide a condition")
    return bool(holds)


def _clipped(x: Any) -> Any:
    """Return the part of a real ball that is between -1 and 1."""
    low, high = arb.max(x.lower(), arb(-1)), arb.min(x.upper(), arb(1))
    return low.union(high)


NOWHERE = acb("nan")
"""No finite ball: the function has no value, or is not analytic."""
DIRECT = library_names(
    "exp sin cos tan cot sec csc sinh cosh tanh coth sech csch expm1 erf erfc gamma digamma zeta"
)  # fmt: skip
PIECEWISE = by_name({
    "abs": "real_abs", "sign": "real_sgn", "floor": "real_floor", "ceil": "real_ceil", "heaviside": "real_heaviside",
})  # fmt: skip
CUTS = by_name({"atan": True, "asinh": True, "asin": False, "acos": False, "atanh": False})
"""Functions with cuts from 1 and -1 outwards; True for those on the imaginary axis."""
UNKNOWN = library_names(
    "round atan2 polygamma erfinv trigamma beta norminv norminv_scaled lambertw lambertw_branch "
    "gammainc_derivative zeta_derivative gamma_density gamma_density_derivative betainc_derivative beta_density "
    "beta_density_derivative faddeeva_re faddeeva_im "
    "besselj bessely besseli besselk besselj_derivative bessely_derivative besseli_derivative besselk_derivative"
)
"""Functions that are refused: not known there."""
