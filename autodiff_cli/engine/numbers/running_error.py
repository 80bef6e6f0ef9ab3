"""Running: doubles with a running bound on their rounding error, to first order.

Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from ..table.operators import ADD, DIV, MUL, NEG, POW, SUB
from ..table.primitive import Primitive
from ..table.primitives import ABS, MAX, MIN, may_turn_within
from .base import Lifted, Number, Undecided, Valued
from .budget import charge
from .floats import REAL

NOT_ROUNDED = frozenset((NEG, ABS, MAX, MIN))
# Operations of doubles whose result is the nearest double.
ONCE_ROUNDED = frozenset((ADD, SUB, MUL, DIV))

# The unit roundoff of doubles: an operation's largest relative error.
UNIT_ROUNDOFF = 2.0**-53

# Accuracy in ulps of functions, and of the group `Special`.
ULPS, SPECIAL_ULPS = 4, 16

# Products of integers up to here are exact.
MAX_EXACT_INTEGER = 2.0**53

# The error of an input up to which first order suffices, relative, and of phases absolute: its
# square is 1e-10, and 6 digits are required.
FIRST_ORDER_ERROR = 1e-5

# The least error of a sum that is rounded, relative to it.
#
# More digits are taken to shrink an error by as much as they shrink the roundoff. What a sum loses
# of an addend far below its last digit is smaller, and stays lost until the digits reach it: 2**-80
# leaves 1e-17 where the bound says 1e-25.
ABSORBED_SHARE = 2.0**-80

# The largest rounding error of a subnormal result.
UNDERFLOW_ERROR = 2.0**-1074


class Bounded(Valued):
    """The double `x`, within `error` (perhaps infinite) of the true number."""

    __slots__ = ("error", "x")
    x: float

    def __init__(self, x: float, error: float = 0.0) -> None:
        self.x = x
        self.error = error if error == error else math.inf

    def __str__(self) -> str:
        return f"{self.x:.6g}"

    def __abs__(self) -> Bounded:
        return Bounded(abs(self.x), self.error)

    def __neg__(self) -> Bounded:
        return Bounded(-self.x, self.error)

    def __add__(self, other: Number) -> Bounded:
        y, error = (other.x, other.error) if type(other) is Bounded else (other, 0.0)
        x = self.x + y
        part = x - self.x
        lost = abs((self.x - (x - part)) + (y - part))
        if lost:
            lost = max(lost, ABSORBED_SHARE * abs(x)) if lost == lost else math.inf
        return Bounded(x, self.error + error + lost)

    def __mul__(self, other: Number) -> Bounded:
        y, error = (other.x, other.error) if type(other) is Bounded else (other, 0.0)
        x = self.x * y
        spread = 0.0
        if (self.error and (y or error)) or (error and self.x):
            spread = (
                abs(self.x) * error + abs(y) * self.error + self.error * error or UNDERFLOW_ERROR
            )
        if abs(x) > MAX_EXACT_INTEGER or not (self.x.is_integer() and float(y).is_integer()):
            spread += _rounding(x) if self.x and y else 0.0
        return Bounded(x, spread)

    def __truediv__(self, other: Number) -> Bounded:
        y, error = (other.x, other.error) if type(other) is Bounded else (other, 0.0)
        x = self.x / y
        room = abs(y) - error
        spread = 0.0
        if self.error or error:
            spread = (self.error + abs(x) * error) / room if room > 0 else math.inf
            spread = spread or (UNDERFLOW_ERROR if self.error or self.x else 0.0)
        return Bounded(x, spread + (_rounding(x) if self.x else 0.0))


def _rounding(x: float) -> float:
    return max(UNIT_ROUNDOFF * abs(x), UNDERFLOW_ERROR)


def _slope_beside(
    primitive: Primitive, xs: Sequence[float], k: int, spreads: Sequence[float]
) -> float:
    """Return the larger slope by input `k` at the ends of its error, where first order bounds too
    little.

    At an extremum the slope is 0, however large the error, and so is that of a product whose other
    factors are 0 within theirs: they are moved to their ends too. Infinite where a function has
    turned in between. Raises the errors of an end outside the domain.
    """
    spread = spreads[k]
    if spread <= FIRST_ORDER_ERROR * min(abs(xs[k]), 1.0):
        return 0.0
    # the ends are doubles: sinc is 0 at all from 2**53 on
    spread = max(spread, math.ulp(xs[k]))
    if spread > 1 and may_turn_within(primitive, xs[k] - spread, spread):
        return math.inf
    largest = 0.0
    moved = [
        x + (error if error > FIRST_ORDER_ERROR * min(abs(x), 1.0) else 0.0)
        for x, error in zip(xs, spreads, strict=True)
    ]
    others = (xs,) if moved[:k] == [*xs[:k]] and moved[k + 1 :] == [*xs[k + 1 :]] else (xs, moved)
    for x, beside in product((xs[k] - spread, xs[k] + spread), others):
        inputs = [*beside[:k], x, *beside[k + 1 :]]
        out = getattr(REAL, primitive.name)(*inputs)
        partial = primitive.slopes(REAL, inputs, out, [j == k for j in range(len(xs))])[k]
        largest = max(largest, abs(partial or 0.0))
    return largest


def _spread(
    primitive: Primitive, xs: Sequence[float], out: float, spreads: Sequence[float]
) -> float:
    """Return by how much the errors of inputs move a result; infinite where that has no bound."""
    total = 0.0
    try:
        partials = primitive.slopes(REAL, xs, out, [bool(spread) for spread in spreads])
        for k, (partial, spread) in enumerate(zip(partials, spreads, strict=True)):
            if partial is not None:
                total += spread * max(abs(partial), _slope_beside(primitive, xs, k, spreads))
    except (ValueError, ArithmeticError):
        return math.inf
    return total


def _is_whole_power(inputs: Sequence[float], out: float) -> bool:
    return (
        inputs[1] >= 0
        and abs(out) <= MAX_EXACT_INTEGER
        and all(float(x).is_integer() for x in inputs)
    )


class Running(Lifted):
    """Doubles with running error bounds, over the functions of `REAL`."""

    tolerance = REAL.tolerance

    def charge_operations(self, operations: int) -> None:
        charge(2 * operations)

    @property
    def pi(self) -> Bounded:
        return Bounded(math.pi, UNIT_ROUNDOFF * math.pi)

    def number(self, x: Number) -> Bounded:
        return x if isinstance(x, Bounded) else Bounded(float(x))

    def literal(self, text: str) -> Bounded:
        from decimal import Decimal  # few answers need it

        x = REAL.literal(text)
        exact = text not in ("e", "pi", "π") and Decimal(text) == Decimal(x)
        return Bounded(x, 0.0 if exact else _rounding(x))

    def is_finite(self, x: Number) -> bool:
        return math.isfinite(x.x if isinstance(x, Bounded) else x)

    def eq(self, x: Number, y: Number) -> bool | Undecided:
        """Return whether numbers are equal, undecided for a constant of a rule that a number is
        within its error.

        What a rule returns at 0, such as the slope of 0**y, is no bound for a number that is 1e-30.
        """
        is_equal = bool(x == y)
        if is_equal and type(x) is Bounded and x.error and type(y) is not Bounded:
            return Undecided("rounding errors leave open whether a number is a constant")
        return is_equal

    def lift(self, primitive: Primitive) -> Callable[..., Bounded]:
        value = getattr(REAL, primitive.name)
        unit = UNIT_ROUNDOFF * 2 * (SPECIAL_ULPS if primitive.group == "Special" else ULPS)

        def function(*inputs: Number) -> Bounded:
            xs = [x.x if isinstance(x, Bounded) else x for x in inputs]
            out = value(*xs)
            # a smooth function of what is not 0
            underflowed = not out and all(xs) and not primitive.may_kink
            error = max(unit * abs(out), UNDERFLOW_ERROR) if out or underflowed else 0.0
            if primitive is POW and _is_whole_power(xs, out):
                error = 0.0
            spreads = [x.error if isinstance(x, Bounded) else 0.0 for x in inputs]
            if any(spreads):
                error += _spread(primitive, xs, out, spreads)
                if not error and not primitive.may_kink:
                    error = UNDERFLOW_ERROR  # slopes and errors are not 0, their product is
            return Bounded(out, error)

        return function


RUNNING = Running(REAL, "running")
Bounded.m = RUNNING
