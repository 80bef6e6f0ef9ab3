"""Ball: enclosures that are proven to hold the true number, through python-flint's arb, as a number type."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import flint
from flint import acb, arb

from .base import Number, NumberType, Refusal

MAGNITUDE = 1_000_000_000
"""Numbers of 2**MAGNITUDE and more overflow; those below 2**-MAGNITUDE are not computed either."""

UNDECIDED = "undecided"
"""The kind of what more bits may decide."""


def undecided(message: str) -> Refusal:
    """What to raise where the enclosure is too wide to go on."""
    return Refusal(UNDECIDED, message, "move the point away from the kink or the edge of the domain")


class Ball:
    """An enclosure; what cannot be told from it, such as whether it is 0, raises `Refusal`."""

    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        if self.a.contains(0) and not self.a.is_zero():
            return f"a number within {self.a.abs_upper().str(2, radius=False)} of 0"
        return str(self.a.str(6, radius=False))

    def __float__(self) -> float:
        return float(self.a)

    def __int__(self) -> int:
        whole = (self.a if self >= 0 else -self.a).floor().unique_fmpz()
        if whole is None:
            raise undecided("which whole numbers this lies between cannot be told")
        return int(whole) if self >= 0 else -int(whole)

    def __abs__(self) -> Ball:
        return Ball(abs(self.a))

    def __eq__(self, other: object) -> bool:
        difference = self.a - _arb(other)
        if difference.is_zero():
            return True
        if difference.contains(0):
            raise undecided(f"whether {self} is equal to {other} cannot be told")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Number) -> bool:
        a, b = self.a, _arb(other)
        if a < b:
            return True
        if not a >= b:
            raise undecided(f"whether {self} is less than {other} cannot be told")
        return False

    def __le__(self, other: Number) -> bool:
        return not Ball(_arb(other)) < self

    def __gt__(self, other: Number) -> bool:
        return Ball(_arb(other)) < self

    def __ge__(self, other: Number) -> bool:
        return not self < other

    def __neg__(self) -> Ball:
        return Ball(-self.a)

    def __add__(self, other: Number) -> Ball:
        return Ball(self.a + _arb(other))

    __radd__ = __add__

    def __sub__(self, other: Number) -> Ball:
        return Ball(self.a - _arb(other))

    def __rsub__(self, other: Number) -> Ball:
        return Ball(_arb(other) - self.a)

    def __mul__(self, other: Number) -> Ball:
        return Ball(self.a * _arb(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Ball:
        return Ball(self.a / _arb(_nonzero(other)))

    def __rtruediv__(self, other: Number) -> Ball:
        return Ball(_arb(other) / _nonzero(self).a)

    def __pow__(self, other: Number) -> Ball:
        return _power(self, other if isinstance(other, Ball) else Ball(arb(other)))

    def __rpow__(self, other: Number) -> Ball:
        return _power(Ball(arb(other)), self)


def _arb(x: Any) -> Any:
    return x.a if isinstance(x, Ball) else x if isinstance(x, int) else arb(x)


def _nonzero(x: Number) -> Number:
    """The number, if it is certainly not 0."""
    if x == 0:
        raise ZeroDivisionError
    return x


def _power(x: Ball, y: Ball) -> Ball:
    if y.a.is_zero():
        return Ball(arb(1))
    whole = y.a.unique_fmpz() if y.a.is_exact() else None
    if whole is not None:
        if abs(int(whole)) > MAGNITUDE:
            raise OverflowError
        return Ball(x.a ** int(whole)) if whole > 0 else Ball(1 / (_nonzero(x).a ** int(-whole)))
    if x.a.is_zero():
        if y < 0:
            raise ZeroDivisionError
        return x
    if x < 0:
        if y.a.contains_integer():
            raise undecided(f"whether the exponent {y} is a whole number cannot be told")
        raise ValueError("a negative number to a power that is not whole")
    return Ball(x.a**y.a)


class Balls(NumberType):
    """Balls computed with so many bits; python-flint holds that precision for the whole process."""

    name = "certified"
    range = f"this arithmetic, which ends at 2**{MAGNITUDE}"

    def __init__(self, bits: int) -> None:
        flint.ctx.prec = bits
        for name in _NATIVE:
            self.__dict__[name] = _lifted(_native(name))
        self.__dict__.update({name: _lifted(function, self) for name, function in _FUNCTIONS.items()})

    @property
    def pi(self) -> Ball:
        """π."""
        return Ball(arb.pi())

    def number(self, x: Number) -> Ball:
        """A whole number or a float, exactly."""
        return x if isinstance(x, Ball) else Ball(arb(x))

    def literal(self, text: str) -> Ball:
        """The decimal that was written, or the constant of that name."""
        if text in ("pi", "π"):
            return self.pi
        if text == "e":
            return Ball(arb.const_e())
        if abs(Decimal(text).adjusted()) * 4 > MAGNITUDE:
            raise OverflowError
        whole = Decimal(text)
        return Ball(arb(int(whole)) if whole == int(whole) and whole.adjusted() < 300 else arb(str(whole)))

    def finite(self, x: Number) -> bool:
        """Whether the ball is bounded, and by no number that is too large."""
        if not isinstance(x, Ball):
            return True
        if not x.a.is_finite():
            raise undecided("there is no bound on this number")
        if x.a.is_zero():
            return True
        if magnitude(x) > MAGNITUDE:
            if magnitude(x, low=True) < MAGNITUDE:
                raise undecided("there is no bound on this number")
            return False
        return True

    def neg(self, x: Number) -> Ball:
        """-x."""
        return -self.number(x)


def magnitude(x: Ball, low: bool = False) -> int:
    """The exponent of 2 of the largest (or the smallest) absolute value in the ball; very small if that is 0."""
    man, exp = (x.a.abs_lower() if low else x.a.abs_upper()).man_exp()
    return int(exp) + int(man).bit_length() if man else -(10**18)


_NATIVE = (
    "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "sech", "csch", "coth", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "gamma", "digamma",
)  # fmt: skip
_POLES = ("csc", "cot", "csch", "coth")
_WHOLE_POLES = ("gamma", "digamma", "lgamma")
_DOMAIN: dict[str, tuple[float | None, float | None, bool]] = {
    # lower and upper end, and whether the ends belong to it
    "log": (0, None, False), "log1p": (-1, None, False), "sqrt": (0, None, True), "asin": (-1, 1, True),
    "acos": (-1, 1, True), "acosh": (1, None, True), "atanh": (-1, 1, False), "erfinv": (-1, 1, False),
}  # fmt: skip


def _within(name: str, x: Ball) -> None:
    """Raise unless the argument is certainly in the domain."""
    low, high, closed = _DOMAIN.get(name, (None, None, True))
    for end, sign in ((low, 1), (high, -1)):
        if end is None or (closed and x.a.is_exact() and x == end):
            continue
        if not closed and x == end:
            raise ZeroDivisionError
        if (x - end) * sign < 0:
            raise ValueError("outside the domain")
    if name in _POLES and x.a.is_zero():
        raise ZeroDivisionError
    if name in _WHOLE_POLES:
        _no_pole(x)


def _no_pole(x: Ball) -> None:
    if x.a.contains_integer() and not x.a > 0:
        whole = x.a.unique_fmpz() if x.a.is_exact() else None
        if whole is not None and whole <= 0:
            raise ZeroDivisionError
        raise undecided(f"whether {x} is a pole cannot be told")


def _native(name: str) -> Callable[..., Any]:
    def function(x: Ball) -> Ball:
        _within(name, x)
        return Ball(getattr(x.a, name)())

    return function


def _lifted(function: Callable[..., Any], m: Balls | None = None) -> Callable[..., Number]:
    """The function with its inputs as balls."""

    def lifted(*inputs: Number) -> Number:
        balls = [x if isinstance(x, Ball) else Ball(arb(x)) for x in inputs]
        return function(*balls) if m is None else function(m, *balls)

    return lifted


_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    _FUNCTIONS[function.__name__[1:]] = function
    return function


@_function
def _pow(m: Balls, x: Ball, y: Ball) -> Ball:
    return _power(x, y)


@_function
def _cbrt(m: Balls, x: Ball) -> Ball:
    if x.a.is_zero():
        return x
    return Ball(x.a.root(3)) if x > 0 else Ball(-((-x.a).root(3)))


@_function
def _abs(m: Balls, x: Ball) -> Ball:
    return abs(x)


@_function
def _sign(m: Balls, x: Ball) -> Ball:
    return Ball(arb(0 if x == 0 else 1 if x > 0 else -1))


def _step(x: Ball, stepped: Any) -> Ball:
    whole = stepped.unique_fmpz()
    if whole is None:
        raise undecided(f"on which side of a whole number {x} lies cannot be told")
    return Ball(arb(whole))


@_function
def _floor(m: Balls, x: Ball) -> Ball:
    return _step(x, x.a.floor())


@_function
def _ceil(m: Balls, x: Ball) -> Ball:
    return _step(x, x.a.ceil())


@_function
def _round(m: Balls, x: Ball) -> Ball:
    low = m.floor(x)
    beyond = x - low - arb("0.5")
    if beyond == 0:
        return low if int(low) % 2 == 0 else low + 1  # type: ignore[no-any-return]
    return low + 1 if beyond > 0 else low  # type: ignore[no-any-return]


@_function
def _clamp(m: Balls, x: Ball, lo: Ball, hi: Ball) -> Ball:
    if lo > hi:
        raise ValueError("the lower bound is above the upper one")
    return hi if x > hi else lo if x < lo else x


@_function
def _atan2(m: Balls, y: Ball, x: Ball) -> Ball:
    if y.a.is_zero():
        return Ball(arb(0)) if x >= 0 else m.pi
    if x <= 0 and y.a.contains(0):
        raise undecided(f"on which side of the cut ({y}, {x}) lies cannot be told")
    return Ball(arb.atan2(y.a, x.a))


@_function
def _max(m: Balls, *xs: Ball) -> Ball:
    best = xs[0]
    for x in xs[1:]:
        best = x if x > best else best
    return best


@_function
def _min(m: Balls, *xs: Ball) -> Ball:
    largest: Ball = _max(m, *[-x for x in xs])
    return -largest


@_function
def _sum(m: Balls, *xs: Ball) -> Ball:
    return Ball(sum((x.a for x in xs), arb(0)))


@_function
def _prod(m: Balls, *xs: Ball) -> Ball:
    out = xs[0]
    for x in xs[1:]:
        out = out * x
    return out


@_function
def _sigmoid(m: Balls, x: Ball) -> Ball:
    small = (-abs(x)).a.exp()
    return Ball((1 if x >= 0 else small) / (1 + small))


@_function
def _softplus(m: Balls, x: Ball) -> Ball:
    return m.logsumexp(x, 0)  # type: ignore[no-any-return]


@_function
def _logaddexp(m: Balls, x: Ball, y: Ball) -> Ball:
    return m.logsumexp(x, y)  # type: ignore[no-any-return]


@_function
def _logsumexp(m: Balls, *xs: Ball) -> Ball:
    # Any of them near the largest serves: which one that is need not be proven.
    k = max(range(len(xs)), key=lambda i: xs[i].a.mid())
    rest = sum(((x.a - xs[k].a).exp() for i, x in enumerate(xs) if i != k), arb(0))
    return Ball(xs[k].a + rest.log1p())


@_function
def _softmax_weight(m: Balls, x: Ball, *xs: Ball) -> Ball:
    return Ball(1 / sum(((other.a - x.a).exp() for other in xs), arb(0)))


@_function
def _gelu(m: Balls, x: Ball) -> Ball:
    return Ball(x.a * (-x.a / arb(2).sqrt()).erfc() / 2)


@_function
def _logit(m: Balls, x: Ball) -> Ball:
    return m.log(x) - m.log1p(-x)  # type: ignore[no-any-return]


@_function
def _sinc(m: Balls, x: Ball) -> Ball:
    return Ball(x.a.sinc_pi())


@_function
def _lgamma(m: Balls, x: Ball) -> Ball:
    _no_pole(x)
    return Ball(x.a.lgamma() if x > 0 else abs(x.a.gamma()).log())


@_function
def _polygamma(m: Balls, n: Ball, x: Ball) -> Ball:
    _no_pole(x)
    return Ball(acb(x.a).polygamma(acb(n.a)).real)
