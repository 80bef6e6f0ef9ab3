"""RunningDigits: multiprecision with running error bounds, for the number of correct digits.

The bound must hold beyond first order and a double's range: hence logarithms of errors, and values
at the ends of the inputs' intervals. A comparison that the errors leave open raises `Refusal` when
its outcome is used. Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

from ..table.primitive import Primitive
from ..table.primitives import may_turn_within
from .base import Lifted, Number, Undecided, Valued, digits_text, undecided
from .budget import charge
from .exact import RATIONAL_FUNCTIONS, rational_value, size
from .multiprecision import MAX_EXPONENT, NAMED, Multiprecision

# log2 of a zero error.
EXACT = -math.inf

# The maximum bit length of exact numerators and denominators.
RATIO_BITS = 1100

# Steps of work for the bound on a result.
STEPS_A_BOUND = 8
# Cached values per function: rules reuse those of the forward sweep.
MAX_CACHED_VALUES = 4096


class BoundedDigits(Valued):
    """A number within 2**`log_error` of the true one, which is `ratio` if known."""

    __slots__ = ("log_error", "m", "ratio", "x")
    log_error: float
    ratio: Fraction | None

    def __init__(
        self, m: RunningDigits, x: Any, log_error: float, ratio: Fraction | None = None
    ) -> None:
        self.m = m
        self.x = x
        self.log_error = log_error
        self.ratio = ratio

    def __str__(self) -> str:
        if self.x and self.correct_digits(1) < 1:
            return f"a number within {digits_text(self.abs_upper(), 2)} of 0"
        return digits_text(self.x, 20)

    def __bool__(self) -> bool:
        return bool(self.__ne__(0))

    def __abs__(self) -> BoundedDigits:
        return BoundedDigits(self.m, abs(self.x), self.log_error, self.ratio and abs(self.ratio))

    def __neg__(self) -> BoundedDigits:
        return BoundedDigits(self.m, -self.x, self.log_error, self.ratio and -self.ratio)

    def __add__(self, other: Number) -> BoundedDigits:
        m: RunningDigits = self.m
        y: BoundedDigits = other if type(other) is BoundedDigits else m.number(other)
        if self.ratio is not None and y.ratio is not None:
            ratio = self.ratio + y.ratio
            if is_short(ratio):
                return m.fraction(ratio)
        return m.rounded(self.x + y.x, _log2_sum(self.log_error, y.log_error))

    def __sub__(self, other: Number) -> BoundedDigits:
        return self.m.number(0) if other is self else self.__add__(-other)

    def __mul__(self, other: Number) -> BoundedDigits:
        m: RunningDigits = self.m
        y: BoundedDigits = other if type(other) is BoundedDigits else m.number(other)
        if self.ratio is not None and y.ratio is not None:
            ratio = self.ratio * y.ratio
            if is_short(ratio):
                return m.fraction(ratio)
        error, size = EXACT, _log2_sum(_log2_size(self.x), self.log_error)
        if y.log_error != EXACT != size:
            error = size + y.log_error
        if self.log_error != EXACT and y.x:
            error = _log2_sum(error, _log2_size(y.x) + self.log_error)
        return m.rounded(self.x * y.x, error)

    def __truediv__(self, other: Number) -> BoundedDigits:
        m: RunningDigits = self.m
        y: BoundedDigits = other if type(other) is BoundedDigits else m.number(other)
        if y.x == 0:
            if y.log_error != EXACT:
                raise undecided("cannot determine whether a denominator is 0")
            raise ZeroDivisionError
        if self.ratio is not None and y.ratio is not None:
            ratio = self.ratio / y.ratio
            if is_short(ratio):
                return m.fraction(ratio)
        out, error, size = self.x / y.x, self.log_error, _log2_size(y.x)
        if y.log_error != EXACT:
            if y.log_error > size - 1:
                raise undecided("cannot determine whether a denominator is 0")
            error = _log2_sum(error, _log2_size(out) + y.log_error) + 1
        return m.rounded(out, error - size)

    def correct_digits(self, most: int) -> int:
        """Return the number of correct significant digits, at most `most`."""
        if self.log_error == EXACT or self.ratio:
            return most
        size = _log2_size(self.x) - self.log_error - 1
        return min(most, max(0, math.floor(size * math.log10(2)))) if size > 0 else 0

    def abs_upper(self) -> Any:
        """Return an upper bound on the absolute value, to a few digits."""
        if self.log_error == EXACT:
            return abs(self.x)
        return abs(self.x) + self.m.base.context.ldexp(1, math.ceil(min(self.log_error, 1e9)))

    def _compared(self, other: Any, relation: Callable[[int, int], Any], question: str) -> Any:
        y = other if type(other) is BoundedDigits else self.m.number(other)
        if y is self:
            return relation(0, 0)
        error = _log2_sum(self.log_error, y.log_error)
        if self.ratio is not None and y.ratio is not None:
            difference = self.ratio - y.ratio
        else:
            difference = self.x - y.x
            if error != EXACT and _log2_size(difference) <= error + 0.1:
                return Undecided(f"cannot determine whether {self} is {question} {y}")
        return relation((difference > 0) - (difference < 0), 0)


def _log2_sum(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == EXACT or a == math.inf else a + math.log2(1 + 2.0 ** max(b - a, -1000.0))


def _log2_size(x: Any) -> float:
    _, mantissa, exponent, bits = x._mpf_
    if not mantissa:
        return EXACT if not exponent else math.inf
    spare = max(bits - 60, 0)
    size: float = math.log2(mantissa >> spare) + exponent + spare
    return size


def is_short(ratio: Fraction) -> bool:
    """Return whether a number is to be known as a fraction."""
    return size(ratio) <= RATIO_BITS


def value_of(x: Any) -> Any:
    """Return the number without its error."""
    return x.x if isinstance(x, BoundedDigits) else x


class Remembering(Multiprecision):
    """Multiprecision that caches the values of its functions."""

    def _guarded(
        self, name: str, function: Callable[..., Number], *, accurate: bool = False
    ) -> Callable[..., Number]:
        compute = super()._guarded(name, function, accurate=accurate)
        values: dict[tuple[Number, ...], Number] = {}

        def remembered(*inputs: Number) -> Number:
            value = None if self._inside else values.get(inputs)
            if value is None:
                value = compute(*inputs)
                # a 0 may be an underflow, to be noted each time
                if value and not self._inside:
                    if len(values) >= MAX_CACHED_VALUES:
                        values.clear()
                    values[inputs] = value
            return value

        return remembered


class RunningDigits(Lifted):
    """Numbers of `digits` decimal digits with running error bounds."""

    has_values = True
    base: Remembering

    def __init__(self, digits: int, *, decimals: bool = True) -> None:
        super().__init__(Remembering(digits, decimals=decimals), "precision")
        self.bits: int = self.base.context.prec

    def charge_operations(self, operations: int) -> None:
        self.base.charge_operations(operations)

    @property
    def pi(self) -> BoundedDigits:
        return self.rounded(self.base.pi, EXACT)

    def number(self, x: Number) -> BoundedDigits:
        if isinstance(x, BoundedDigits):
            return x
        ratio = Fraction(x) if isinstance(x, (int, float)) else None
        if ratio is not None and not is_short(ratio):
            ratio = None
        return BoundedDigits(self, self.base.number(x), EXACT, ratio)

    def literal(self, text: str) -> BoundedDigits:
        x = self.base.literal(text)
        if not self.base.decimals:
            return self.number(float(x))
        if text in NAMED or (x and abs(_log2_size(x)) > RATIO_BITS):
            exact = (
                text not in NAMED and x and self.base.context.isint(x) and x._mpf_[3] < self.bits
            )
            return BoundedDigits(self, x, EXACT) if exact else self.rounded(x, EXACT)
        ratio = Fraction(text)
        return self.fraction(ratio) if is_short(ratio) else self.rounded(x, EXACT)

    def fraction(self, ratio: Fraction) -> BoundedDigits:
        """Return the number nearest to a fraction."""
        numerator, denominator = ratio.as_integer_ratio()
        x = self.base.context.mpf(numerator) / denominator
        _, mantissa, exponent, bits = x._mpf_
        # a short number may be exact
        short = bits < self.bits // 2
        if short and (mantissa * denominator << max(exponent, 0)) == abs(numerator) << max(
            -exponent, 0
        ):
            return BoundedDigits(self, x, EXACT, ratio)
        return BoundedDigits(self, x, exponent + bits - self.bits, ratio)

    def rounded(self, x: Any, log_error: float) -> BoundedDigits:
        """Return a rounded result, given the error from its inputs."""
        _, mantissa, exponent, bits = x._mpf_
        if mantissa:
            log_error = _log2_sum(log_error, exponent + bits - self.bits)
        return BoundedDigits(self, x, log_error)

    def within(self, x: Number, distance: Number) -> BoundedDigits:
        """Return `x` as an approximation with an error of at most `distance`."""
        return BoundedDigits(
            self, self.base.number(value_of(x)), _log2_size(self.number(distance).abs_upper())
        )

    def is_finite(self, x: Number) -> bool:
        charge(STEPS_A_BOUND)
        return self.base.is_finite(value_of(x))

    def same(self, x: Number, y: Number) -> bool:
        equal = self.number(x) == y
        return isinstance(equal, Undecided) or bool(equal)

    def lift(self, primitive: Primitive) -> Callable[..., BoundedDigits]:
        if primitive.extreme_value:
            return partial(self._extreme, getattr(self.base, primitive.name))
        if primitive.name == "clamp":
            return partial(self.definition(primitive.name), self)
        function = partial(self._computed, primitive, getattr(self.base, primitive.name))
        if primitive.name != "pow":
            return function
        return lambda x, y: (
            self.number(1) if type(y) is BoundedDigits and y.ratio == 0 else function(x, y)
        )

    def _computed(
        self, primitive: Primitive, value: Callable[..., Number], *inputs: Number
    ) -> BoundedDigits:
        numbers = [x if type(x) is BoundedDigits else self.number(x) for x in inputs]
        xs, errors = [x.x for x in numbers], [x.log_error for x in numbers]
        exact = all(error == EXACT for error in errors)
        self.base.underflowed = False
        try:
            out = self.base.context.mpf(value(*xs))
        except (ValueError, ZeroDivisionError) as error:
            if exact:
                raise
            pole = isinstance(error, ZeroDivisionError)
            for inside in self._ends(xs, errors):
                with suppress(ValueError, ArithmeticError):
                    value(*inside)
                    pole = True
            if pole:
                # a rule of the table, such as 1/sqrt(1 - x²), has no name
                what = (
                    f"`{primitive.written}`"
                    if primitive.group or primitive.operator
                    else "the derivative"
                )
                raise undecided(f"cannot determine whether {what} is defined here") from None
            raise
        ratios = [x.ratio for x in numbers if x.ratio is not None]
        may_be_rational = primitive.name in RATIONAL_FUNCTIONS or out._mpf_[3] < self.bits // 2
        if len(ratios) == len(numbers) and may_be_rational:
            rational = rational_value(primitive.name, ratios)
            if rational is not None and is_short(rational):
                return self.fraction(rational)
        if primitive.jumps and primitive.has_structural_zeros:
            self._spread(primitive, xs, errors, out)
            return self.number(int(out))
        underflow = -MAX_EXPONENT if self.base.underflowed else EXACT
        rounding = _log2_sum(_log2_size(out) + 1 - self.bits, underflow)
        spread = EXACT if exact else self._spread(primitive, xs, errors, out)
        if primitive.may_kink:
            for x in numbers:
                if x.x == out and x.log_error == spread:
                    return x
        return BoundedDigits(self, out, _log2_sum(rounding, spread))

    def _extreme(self, value: Callable[..., Number], *inputs: Number) -> BoundedDigits:
        numbers = [self.number(x) for x in inputs]
        out = value(*[x.x for x in numbers])
        best = next(x for x in numbers if x.x == out)
        rivals = [x for x in numbers if x is not best and isinstance(best == x, Undecided)]
        return (
            BoundedDigits(self, best.x, max(x.log_error for x in (best, *rivals)))
            if rivals
            else best
        )

    def _ends(self, xs: Sequence[Any], errors: Sequence[float]) -> Iterator[list[Any]]:
        for k, error in enumerate(errors):
            if EXACT < error < math.inf:
                step = self.base.context.ldexp(1, math.ceil(error) + 1)
                yield [*xs[:k], xs[k] - step, *xs[k + 1 :]]
                yield [*xs[:k], xs[k] + step, *xs[k + 1 :]]

    def _spread(
        self, primitive: Primitive, xs: list[Any], errors: Sequence[float], out: Any
    ) -> float:
        if math.inf in errors:
            return math.inf
        ldexp = self.base.context.ldexp
        for x, error in zip(xs, errors, strict=True):
            if error > 0 and may_turn_within(
                primitive, x - ldexp(1, math.ceil(error)), 2.0 ** min(error, 1023.0)
            ):
                return math.inf
        try:
            spread = self._first_order(primitive, xs, errors, out)
            if (
                not (primitive.may_kink or primitive.jumps)
                and spread < _log2_size(out) - self.bits // 2
            ):
                return spread
            for inside in self._ends(xs, errors):
                there = self.base.context.mpf(getattr(self.base, primitive.name)(*inside))
                if primitive.jumps and primitive.has_structural_zeros and there != out:
                    raise undecided(
                        f"cannot determine on which side of a jump of `{primitive.written}` this"
                        " lies"
                    )
                moved = self._first_order(primitive, inside, errors, there)
                spread = max(spread, _log2_size(there - out) - 1, moved)
        except (ValueError, ArithmeticError):
            return math.inf
        return spread

    def _first_order(
        self, primitive: Primitive, xs: Sequence[Any], errors: Sequence[float], out: Any
    ) -> float:
        spread, active = EXACT, [error != EXACT for error in errors]
        for slope, error in zip(primitive.slopes(self.base, xs, out, active), errors, strict=True):
            if slope is not None and slope:
                spread = _log2_sum(spread, _log2_size(self.base.context.mpf(slope)) + error)
        return spread
