"""Ranges of expressions, whatever their variables are."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from ..graphs.value import Value
from ..numbers.base import NO_RESULT, NumberType, Written
from ..numbers.exact import EXACT, size
from ..numbers.floats import REAL
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB, VARIABLE
from ..table.primitive import DEFINITIONS, OPERATIONS, Primitive
from .canonical import IRRATIONALS, exact_value

End = Fraction | float
"""An end of a range: a fraction, or an infinite float."""

INF = math.inf
ROUNDING_MARGIN = Fraction(1, 2**40)
MAX_BITS_OF_END = 300  # ends with more are moved outwards to doubles


class _Ends(NamedTuple):
    low: End
    high: End
    above: bool
    """Whether `low` itself is excluded."""
    below: bool
    """Whether `high` itself is excluded."""
    nonzero: bool = False


class Range(Written, _Ends):
    """An interval of real numbers; without 0 even inside, if that is known.

    `x*y` is the range of products of two numbers, `x*x` of squares.
    """

    __slots__ = ()
    m: Ranges

    @property
    def start(self) -> tuple[End, bool]:
        """The lower end, and whether it is excluded."""
        return self.low, self.above

    @property
    def stop(self) -> tuple[End, bool]:
        """The upper end, and whether it is included."""
        return self.high, not self.below

    def signs(self) -> str:
        """Return the possible signs, of `<`, `=`, `>`, of its numbers."""
        zero = self.start <= (0, False) and self.stop >= (0, True) and not self.nonzero
        return ("<" if self.low < 0 else "") + ("=" if zero else "") + (">" if self.high > 0 else "")

    def with_(self, other: Range) -> Range:
        """Return the intersection of two ranges."""
        return between(max(self.start, other.start), min(self.stop, other.stop), self.nonzero or other.nonzero)

    def around(self, other: Range) -> Range:
        """Return the smallest range that contains both."""
        nonzero = "=" not in self.signs() + other.signs()
        return between(min(self.start, other.start), max(self.stop, other.stop), nonzero)

    def within(self, other: Range) -> bool:
        """Return whether the other range contains this one."""
        return self.with_(other)[:4] == self[:4] and not (other.nonzero and "=" in self.signs())

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.below, self.above, self.nonzero)

    def __abs__(self) -> Range:
        if self.low >= 0:
            return self
        if self.high <= 0:
            return -self
        return between((Fraction(0), self.nonzero), max((-self.low, not self.above), self.stop), self.nonzero)

    def plus(self, other: Range) -> Range:
        """Return the range of sums of two numbers."""
        return widen(
            Range(self.low + other.low, self.high + other.high, self.above or other.above, self.below or other.below)
        )

    def times(self, other: Range) -> Range:
        """Return the range of products of two numbers."""
        corners = [
            (a * b if a and b else Fraction(0), (a_open and b != 0) or (b_open and a != 0))
            for a, a_open in ((self.low, self.above), (self.high, self.below))
            for b, b_open in ((other.low, other.above), (other.high, other.below))
        ]
        stop = max((end, not is_open) for end, is_open in corners)
        return widen(between(min(corners), stop, "=" not in self.signs() + other.signs()))

    def reciprocal(self) -> Range:
        """Return the range of reciprocals of nonzero numbers."""
        signs = self.signs()
        if ("<" in signs and ">" in signs) or signs in ("", "="):
            return ALL._replace(nonzero=True)
        if "<" in signs:
            return -((-self).reciprocal())
        high: End = INF if self.low == 0 else 1 / Fraction(self.low)
        low: End = Fraction(0) if self.high == INF else 1 / Fraction(self.high)
        return widen(Range(low, high, self.high == INF or self.below, self.low == 0 or self.above, True))


def between(start: tuple[End, bool], stop: tuple[End, bool], nonzero: bool) -> Range:
    """Return the range with a `start` and a `stop`."""
    return Range(start[0], stop[0], start[1], not stop[1], nonzero)


ALL = Range(-INF, INF, True, True)
ZERO = Range(Fraction(0), Fraction(0), False, False)
POSITIVE = Range(Fraction(0), INF, True, True)
NOT_NEGATIVE = Range(Fraction(0), INF, False, True)
NOT_ZERO = ALL._replace(nonzero=True)
BY_SIGN = {"<": -POSITIVE, "<=": -NOT_NEGATIVE, "=": ZERO, "=>": NOT_NEGATIVE, "<>": NOT_ZERO, ">": POSITIVE}
"""Ranges by the signs that their numbers have."""


def point(x: Fraction) -> Range:
    """Return the range of one number."""
    return Range(x, x, False, False)


def _range(x: Any) -> Range:
    return x if isinstance(x, Range) else point(Fraction(x))


def widen(r: Range) -> Range:
    """Return a range at least as wide, with short ends."""
    low, above, high, below = r.low, r.above, r.high, r.below
    if isinstance(low, Fraction) and size(low) > MAX_BITS_OF_END:
        low, above = _outward(low, -INF), True
    if isinstance(high, Fraction) and size(high) > MAX_BITS_OF_END:
        high, below = _outward(high, INF), True
    return Range(low, high, above, below, r.nonzero)


def _outward(x: Fraction, towards: float) -> End:
    try:
        moved = math.nextafter(float(x), towards)
    except OverflowError:
        return towards if (x > 0) == (towards > 0) else Fraction(10**300 if x > 0 else -(10**300))
    if math.isinf(moved):
        return towards
    # 0 bounds a number with a sign, however small.
    return Fraction(moved) if (moved > 0) == (x > 0) and moved else Fraction(0)


# ---- from inputs to the operation
def forward(value: Value, inputs: Sequence[Range]) -> Range:
    """Return the range of an operation, from those of its inputs."""
    if value.primitive is VARIABLE:
        return ALL
    if value.primitive is CONSTANT:
        x = exact_value(value)
        if x is not None:
            return point(x)
        if value.source in IRRATIONALS:
            low, high = (Fraction(value.data) * (1 + sign * Fraction(1, 10**15)) for sign in (-1, 1))
            return Range(low, high, True, True)
        # the literal is too long or too small
        return BY_SIGN["<" if (value.source or "").startswith("-") else ">"]
    # Distinct operands need distinct objects: `x*x` is a square.
    apart = {p: Range(*r) for p, r in zip(value._prev, inputs, strict=True)}
    result: Range = getattr(RANGES, value.primitive.name)(*[apart[p] for p in value._prev])
    return result


@cache
def values_of(primitive: Primitive) -> Range:
    """Return the range of a function in the table: `[1, inf)`."""
    if not primitive.values:
        return ALL
    texts = (text.strip("[]() ") for text in primitive.values.split(","))
    low, high = (float(text) if "inf" in text else Fraction(text) for text in texts)
    return Range(low, high, primitive.values[0] == "(", primitive.values[-1] == ")")


def _at(primitive: Primitive, x: End, is_open: bool, towards: float) -> tuple[End, bool] | None:
    if isinstance(x, float):
        return None
    try:
        return Fraction(getattr(EXACT, primitive.name)(x)), is_open
    except NO_RESULT:  # not rational, as a rule
        pass
    try:
        y = Fraction(getattr(REAL, primitive.name)(float(_outward(x, towards))))
    except (ValueError, ArithmeticError):
        return None
    margin = abs(y) * ROUNDING_MARGIN + ROUNDING_MARGIN**10  # much more than what is rounded
    return y + (margin if towards > 0 else -margin), True


def at_zero(primitive: Primitive) -> Fraction | None:
    """Return the value of a function at 0, if it is rational."""
    try:
        return Fraction(getattr(EXACT, primitive.name)(Fraction(0)))
    except (*NO_RESULT, AttributeError, TypeError):
        return None


def _power(x: Range, y: Range) -> Range:
    exponent = y.low if y.low == y.high and isinstance(y.low, Fraction) else None
    if exponent is None:
        # 0**y is 0 for every y > 0.
        return POSITIVE if x.signs() == ">" else NOT_NEGATIVE if "<" not in x.signs() else ALL
    if exponent < 0:
        return _raised(x, -exponent).reciprocal()
    return _raised(x, exponent)


def _raised(x: Range, exponent: Fraction) -> Range:
    if exponent == 0:
        return point(Fraction(1))
    if exponent.denominator == 1 and exponent.numerator % 2:
        signs = x.signs()
    elif x.signs() == "=":
        signs = "="
    else:
        signs = ">" if "=" not in x.signs() else "=>"
        if exponent.denominator == 1:
            x = x if "<" not in x.signs() else -x if ">" not in x.signs() else abs(x)
    result = BY_SIGN.get(signs, ALL)
    if exponent.denominator == 1 and exponent <= 8:
        ends = [end if isinstance(end, float) else end ** int(exponent) for end in (x.low, x.high)]
        if isinstance(x.low, float) and int(exponent) % 2 == 0:
            ends[0] = -INF
        result = result.with_(widen(Range(ends[0], ends[1], x.above, x.below)))
    return result


class Ranges(NumberType):
    """Ranges as a kind of number, by the table."""

    name = "range"

    lt = le = gt = ge = eq = ne = not_ = and_ = or_ = staticmethod(lambda *_: None)  # no condition is known
    pi = Range(Fraction(314159, 100000), Fraction(314160, 100000), True, True)
    number = staticmethod(_range)
    add = staticmethod(Range.plus)
    sub = staticmethod(lambda x, y: x.plus(-y))
    mul = staticmethod(lambda x, y: abs(x).times(abs(x)) if x is y else x.times(y))
    div = staticmethod(lambda x, y: x.times(y.reciprocal()))
    pow = staticmethod(_power)
    abs = staticmethod(abs)
    neg = staticmethod(operator.neg)

    def step(self, name: str, *inputs: Any) -> Range:
        """Return the range of an operation on ranges and numbers."""
        return getattr(self, name)(*map(_range, inputs))  # type: ignore[no-any-return]

    def where(self, condition: Any, then: Any, otherwise: Any) -> Range:
        x, y = (_range(branch() if callable(branch) else branch) for branch in (then, otherwise))
        return x.around(y)

    def max(self, *xs: Any) -> Range:
        """Return the range of the largest number."""
        inputs = [_range(x) for x in xs]
        nonzero = all("=" not in r.signs() for r in inputs)
        return between(max(r.start for r in inputs), max(r.stop for r in inputs), nonzero)

    def min(self, *xs: Any) -> Range:
        """Return the range of the smallest number."""
        return -self.max(*[-_range(x) for x in xs])

    def __getattr__(self, name: str) -> Callable[..., Range]:
        if name not in OPERATIONS:
            raise AttributeError(name)
        row = OPERATIONS[name]

        def function(*inputs: Any) -> Range:
            result = values_of(row)
            if row.increasing and len(inputs) == 1:
                x = _range(inputs[0])
                low, above = _at(row, x.low, x.above, -INF) or (result.low, result.above)
                high, below = _at(row, x.high, x.below, INF) or (result.high, result.below)
                return result.with_(Range(low, high, above, below, x.nonzero and at_zero(row) == 0))
            if result is ALL and name in DEFINITIONS:
                try:
                    return _range(DEFINITIONS[name](self, *inputs))
                except (*NO_RESULT, TypeError):  # it needs to know the very numbers
                    return ALL
            return result

        self.__dict__[name] = function
        return function


RANGES = Range.m = Ranges()


# ---- from the operation to its inputs
def backward(value: Value, r: Range, inputs: Sequence[Range]) -> Iterator[tuple[Value, Range]]:
    """Yield the ranges of inputs implied by that of the operation."""
    primitive, operands, signs = value.primitive, value._prev, r.signs()
    if primitive is NEG:
        yield operands[0], -r
    elif primitive in (ADD, SUB):
        x, y = inputs
        yield operands[0], r.plus(-y if primitive is ADD else y)
        yield operands[1], r.plus(-x) if primitive is ADD else x.plus(-r)
    elif primitive in (MUL, DIV):
        if "=" not in signs:
            yield operands[0], NOT_ZERO
            yield operands[1], NOT_ZERO
        for k, other in ((0, inputs[1]), (1, inputs[0])):
            if "=" not in other.signs() and (primitive is MUL or k == 0):
                yield operands[k], r.times(other.reciprocal() if primitive is MUL else other)
            elif primitive is DIV and k == 1 and signs in ("<", ">") and inputs[0].signs() in ("<", ">"):
                yield operands[1], POSITIVE if signs == inputs[0].signs() else -POSITIVE
    elif primitive is POW:
        exponent = inputs[1]
        if exponent.signs() == ">" and signs in ("=", "<>", ">", "<"):
            yield operands[0], ZERO if signs == "=" else NOT_ZERO
    elif primitive.norm and signs == "=":
        for operand in operands:
            yield operand, ZERO
    elif primitive.norm and len(operands) == 1 and "=" not in signs:
        yield operands[0], NOT_ZERO
    elif primitive.increasing and len(operands) == 1 and at_zero(primitive) == 0:
        yield operands[0], BY_SIGN.get(signs, ALL)


# ---- domains of operations
@cache
def _domain(primitive: Primitive) -> tuple[tuple[int, Range], ...]:
    limits: dict[int, Range] = {}
    for position, relation, end in primitive.bounds.bounds:
        if end is None or (relation == "!=" and end):
            continue
        if relation == "!=":
            r = NOT_ZERO
        elif relation[0] == ">":
            r = Range(Fraction(end), INF, relation == ">", True)
        else:
            r = Range(-INF, Fraction(end), False, relation == "<")
        limits[position] = limits[position].with_(r) if position in limits else r
    return tuple(limits.items())


def domain(value: Value, inputs: Sequence[Range]) -> Iterator[tuple[Value, Range]]:
    """Yield the ranges of inputs wherever an operation has a value."""
    for position, r in _domain(value.primitive):
        yield value._prev[position], r
    if value.primitive is POW:
        (x, _), y = value._prev, inputs[1]
        if "<" not in inputs[0].signs() or (y.low == y.high and Fraction(y.low).denominator != 1):
            yield x, POSITIVE if y.signs() == "<" else NOT_NEGATIVE
        elif y.signs() == "<":
            yield x, NOT_ZERO


def is_total(value: Value, inputs: Sequence[Range]) -> bool:
    """Return whether an operation has values for all inputs in ranges."""
    primitive = value.primitive
    if not value._prev or primitive.defined([r.low if r.low == r.high else None for r in inputs]):
        return True
    if primitive is POW:
        return inputs[0].signs() == ">"
    bounds, whole, ordered = primitive.bounds
    if not whole or ordered or any(b.relation == "!=" and b.end != 0 for b in bounds):
        return False
    return all(inputs[position].within(r) for position, r in _domain(primitive))
