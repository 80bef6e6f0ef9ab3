"""Comparison of functions at points, in enough digits to tell mistakes from rounding.

Points are near 0, far away, beside each literal, and between breakpoints.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import ExpressionError
from ..graphs.value import Value, in_order, node
from ..graphs.value_and_gradient import evaluate_in, value_in
from ..numbers.base import NumberType
from ..numbers.floats import REAL
from ..table.operators import CONSTANT, SUB

COMPARISON_DIGITS, MORE_DIGITS = 100, 300
"""Digits of the first and, if undecided, the second comparison."""

AGREED_DIGITS = 80
"""Digits in which equal numbers agree."""

SHRUNK_DIGITS = 150
"""Digits by which noise shrinks from `COMPARISON_DIGITS` to `MORE_DIGITS`, at least."""

NEAR_TENTHS = (3, -7, 11, -13, 17, 23, -3, 7, -17, 13, 29, -11, 19, 1, -23, 31, 9, -1, 21, -19, 27, -9, 14, -21)
FAR_TENTHS = (43, -57, 61, -89, 97, -141, 153, 337, -473, 1210, -1330, 47)
"""Points in tenths."""

SIDES = (Fraction(1), Fraction(-1))

MAX_LITERALS, MAX_BREAKPOINTS, MAX_REGIONS = 12, 40, 24
"""Literals with points beside them, breakpoints, and found regions."""

SEARCHED_POINTS = 500
"""Points of several variables in the search for regions."""


class ComparedPoint(NamedTuple):
    """The right and the answered number at a point; None if undefined."""

    right: Any
    answered: Any
    at: Mapping[str, Any]
    value: Any = None
    """The value of the differentiated function."""
    agrees: bool = False


Values = Callable[[NumberType], "tuple[Any, Any] | ComparedPoint | None"]
"""Two numbers to compare; None if the first is undefined."""


def many_digits(digits: int = COMPARISON_DIGITS) -> NumberType:
    """Return the arithmetic of comparisons."""
    from ..numbers.multiprecision import Multiprecision

    return Multiprecision(digits, decimals=True)


def as_number(m: NumberType, x: Any) -> Any:
    """Convert a fraction to an arithmetic; return other numbers unchanged."""
    return m.number(x.numerator) / m.number(x.denominator) if isinstance(x, Fraction) else x


class Beyond(Exception):
    """A value is beyond the range of the arithmetic."""


def value_at(m: NumberType, function: Value, numbers: Mapping[str, Any]) -> Any:
    """Return a value, None if undefined. Raises `Beyond` if too large or small."""
    try:
        (value,) = evaluate_in(m, function, numbers).values
    except ExpressionError as error:
        if error.kind in ("overflow", "limit") or getattr(m, "underflowed", False):
            raise Beyond from None
        return None
    if getattr(m, "underflowed", False):
        raise Beyond
    return value


def same(a: Any, b: Any) -> bool:
    """Return whether two numbers agree to `AGREED_DIGITS` digits."""
    if a is None or b is None:
        return False
    return bool(abs(a - b) * 10**AGREED_DIGITS <= max(abs(a), abs(b)))


def equal(values: Values) -> bool | None:
    """Return whether two numbers are equal; None if undecided.

    A difference that shrinks with more digits is a rounding error; one that stays is real.
    """
    differences: list[tuple[Any, Any]] = []
    for digits in (COMPARISON_DIGITS, MORE_DIGITS):
        try:
            pair = values(many_digits(digits))
        except Beyond:
            return None
        if pair is None or pair[0] is None:
            return None
        a, b = pair[:2]
        if b is None:
            return False
        difference, size = abs(a - b), max(abs(a), abs(b))
        if difference * 10**AGREED_DIGITS <= size:
            return True
        differences.append((difference, size))
    (first, _), (second, size) = differences
    if second * 10**SHRUNK_DIGITS <= first:
        return True if second * 10**AGREED_DIGITS <= max(size, 1) else None
    # numbers below all rounding errors are undecided
    return None if second * 10 ** (MORE_DIGITS - 50) < 1 and size < 1 else False


def points(
    functions: Sequence[Value], names: Sequence[str]
) -> tuple[list[dict[str, Fraction]], list[dict[str, Fraction]]]:
    """Return points at which to compare functions, and further ones if these are too few.

    >>> from autodiff_cli.inputs.problem import parse
    >>> chosen, _ = points(parse("relu(x - 1000)").outputs, ["x"])
    >>> any(at["x"] > 1000 for at in chosen)
    True
    """
    literals = _literals(functions)
    beside = [c + side * max(c, Fraction(1)) / 7 for c in literals[:MAX_LITERALS] for side in SIDES]
    tenths = ([Fraction(x, 10) for x in numbers] for numbers in (NEAR_TENTHS, FAR_TENTHS))
    chosen: list[dict[str, Fraction]] = [
        # every variable has these numbers, in another order
        {name: numbers[(k * (2 * j + 1) + 5 * j) % len(numbers)] for j, name in enumerate(names)}
        for numbers in (*tenths, beside)
        for k in range(len(numbers))
    ]
    guards = _guards(functions)
    regions = {_signs(guards, at) for at in chosen}
    most, further = len(regions) + MAX_REGIONS, []
    for at in _searched(literals, names):
        signs = _signs(guards, at)
        if signs not in regions and len(regions) < most:
            regions.add(signs)
            chosen.append(at)
        else:
            further.append(at)
    return chosen, further


def _literals(functions: Sequence[Value]) -> list[Fraction]:
    numbers = {abs(Fraction(v.data)) for v in in_order(functions) if v.primitive is CONSTANT and v.data is not None}
    return sorted(x for x in numbers if x < 10**12)


def _searched(literals: Sequence[Fraction], names: Sequence[str]) -> Iterator[dict[str, Fraction]]:
    numbers = {
        sign * Fraction(x, 10) * Fraction(10) ** k for k in range(-3, 7) for x in (11, 17, 29, 53) for sign in SIDES
    }
    for low, high in pairwise([Fraction(0), *literals]):
        numbers |= {(low + high) / 2, -(low + high) / 2}
    for c in literals:
        numbers |= {sign * (c + side * max(c, Fraction(1)) / 1000) for side in SIDES for sign in SIDES}
    ordered = sorted(numbers, key=lambda x: (abs(x), x))
    if len(names) == 1:
        yield from ({names[0]: x} for x in ordered)
        return
    draw = random.Random(1)
    for _ in range(SEARCHED_POINTS):
        yield {name: draw.choice(ordered) for name in names}


def _guards(functions: Sequence[Value]) -> list[Value]:
    guards: list[Value] = []
    for v in in_order(functions):
        if v.primitive.kink is not None or v.primitive.gives_condition:
            inputs = [p for p in v._prev if not p.primitive.gives_condition]
            guards += [node(SUB, pair) for pair in pairwise(inputs)] if len(inputs) > 1 else inputs
    return guards[:MAX_BREAKPOINTS]


def _signs(guards: Sequence[Value], at: dict[str, Fraction]) -> tuple[bool | None, ...]:
    numbers = {name: float(x) for name, x in at.items()}
    signs: list[bool | None] = []
    for guard in guards:
        value = None
        with suppress(ExpressionError, ArithmeticError, ValueError):
            value = value_in(REAL, guard, numbers)
        signs.append(None if value is None else value > 0)
    return tuple(signs)
