"""Exact: rational arithmetic; irrational values raise `Refusal`."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from operator import neg
from typing import Any

from ..table.primitive import DEFINITIONS, OPERATIONS, Primitive, check_domain
from ..table.primitives import by_name
from . import budget
from .base import NO_RESULT, Number, NumberType, Refusal

# The most bits of numerators and denominators: sums of fractions grow.
MAX_BITS = 14_000


class Exact(NumberType):
    """Fractions of bounded size."""

    name = "exact"
    range = f"exact arithmetic, which ends at {MAX_BITS:,} bits"

    def __init__(self) -> None:
        self.__dict__.update(
            {name: _check(name, function) for name, function in RATIONAL_FUNCTIONS.items()}
        )
        self._longest = 0

    @property
    def pi(self) -> Number:
        raise _irrational("`pi` is not a rational number")

    def number(self, x: Number) -> Fraction:
        return Fraction(x)

    def literal(self, text: str) -> Fraction:
        """Return the decimal. Raises OverflowError, and `Refusal` for a named constant."""
        if text in ("pi", "π", "e"):
            raise _irrational(f"`{text}` is not a rational number")
        if abs(Decimal(text).adjusted()) * 3 > MAX_BITS:
            raise OverflowError("too large")
        return Fraction(text)

    def is_finite(self, x: Number) -> bool:
        if not isinstance(x, Fraction):
            return True
        bits = size(x)
        self._longest = max(self._longest, bits)
        self.charge_operations(1)
        return bits <= MAX_BITS

    def charge_operations(self, operations: int) -> None:
        budget.charge(operations * (3 + self._longest**1.7 / 9_000))

    def __getattr__(self, name: str) -> Any:
        operation = OPERATIONS.get(name)
        if operation is None:
            return super().__getattr__(name)
        function = self.__dict__[name] = self._composed(operation)
        return function

    def _composed(self, operation: Primitive) -> Callable[..., Number]:
        definition = DEFINITIONS.get(operation.name)

        def function(*inputs: Number) -> Number:
            if len(inputs) == 1 and inputs[0] in operation.exact:
                return Fraction(operation.exact[inputs[0]])
            if definition:
                with suppress(Refusal):
                    return definition(self, *inputs)
            places = ", ".join(str(x)[:40] for x in inputs)
            is_function = operation.group or operation.spelling
            what = f"`{operation.name}({places})`" if is_function else f"the derivative at {places}"
            raise _irrational(f"{what} is not a rational number, as far as is known here")

        return _check(operation.name, function)


def size(x: Fraction) -> int:
    """Return the bit length of the longer of numerator and denominator."""
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _irrational(message: str) -> Refusal:
    return Refusal(
        "domain", message, "use `--precision 50`, or `--certified`, instead of `--exact`"
    )


def rational_value(name: str, inputs: list[Fraction]) -> Fraction | None:
    """Return the value of a function if it is rational, else None."""
    try:
        return Fraction(getattr(EXACT, name)(*inputs))
    except NO_RESULT:
        return None


def _check(name: str, function: Callable[..., Number]) -> Callable[..., Number]:
    bounds = OPERATIONS[name].bounds

    def checked(*inputs: Number) -> Number:
        fractions = [x if isinstance(x, Fraction) else Fraction(x) for x in inputs]
        check_domain(bounds, fractions)
        return function(*fractions)

    return checked


def _root(x: Fraction, n: int, written: str, *inputs: Fraction) -> Fraction:
    if n <= MAX_BITS:
        result = Fraction(_whole_root(x.numerator, n), _whole_root(x.denominator, n))
        if result**n == x:
            return result
    raise _irrational(f"`{written.format(*inputs)}` is not a rational number")


def _whole_root(integer: int, n: int) -> int:
    if integer < 2:
        return integer
    guess = 1 << -(-integer.bit_length() // n)
    while True:
        better = ((n - 1) * guess + integer // guess ** (n - 1)) // n
        if better >= guess:
            return guess
        guess = better


def _sqrt(x: Fraction) -> Fraction:
    return _root(x, 2, "sqrt({})", x)


def _cbrt(x: Fraction) -> Fraction:
    result = _root(abs(x), 3, "cbrt({})", x)
    return result if x >= 0 else -result


def _pow(x: Fraction, y: Fraction) -> Fraction:
    if y == 0:
        return Fraction(1)
    if x == 0:
        if y < 0:
            raise ZeroDivisionError
        return x
    if y.denominator != 1:
        if x < 0:
            raise ValueError("a negative number to a power that is not whole")
        x = _root(x, y.denominator, "({})**({})", x, y)
    if abs(x) != 1 and abs(y.numerator) * (size(x) - 1) > MAX_BITS:
        raise OverflowError("too large")
    return Fraction(x ** int(y.numerator) if abs(x) != 1 else x ** int(y.numerator % 2))


def _gamma(x: Fraction) -> Fraction:
    if x.denominator != 1:
        raise _irrational(f"`gamma({x})` is not a rational number")
    if x > 1500:
        raise OverflowError("too large")
    return Fraction(math.factorial(int(x) - 1))


# Functions with some rational values; others are composed of them.
RATIONAL_FUNCTIONS: dict[str, Callable[..., Any]] = by_name({
    "abs": abs,
    "neg": neg,
    "floor": lambda x: Fraction(math.floor(x)),
    "ceil": lambda x: Fraction(math.ceil(x)),
    "round": lambda x: Fraction(round(x)),
    "sign": lambda x: Fraction((x > 0) - (x < 0)),
    "min": lambda *xs: min(xs),
    "max": lambda *xs: max(xs),
    "sqrt": _sqrt,
    "cbrt": _cbrt,
    "hypot": lambda *xs: _sqrt(sum((x * x for x in xs), Fraction(0))),
    "pow": _pow,
    "power_minus_one": lambda x, y, out: _pow(x, y - 1),
    "gamma": _gamma,
})  # fmt: skip

EXACT = Exact()
