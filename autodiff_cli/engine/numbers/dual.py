"""Dual: numbers with first derivatives, by the table's rules, for second ones by a backward
sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..table.primitive import Primitive
from . import budget
from .base import NO_RESULT, Lifted, Number, NumberType, Valued

# The derivatives in the directions that a number depends on.
Tangents = dict[int, Number]

# Directions whose cost is that of the sum, which the sweep counts.
UNCHARGED_DIRECTIONS = 16


class Dual(Valued):
    """A number `x` with derivatives `d`, or with the error `fault` instead."""

    __slots__ = ("d", "fault", "m", "x")

    def __init__(self, m: Duals, x: Number, d: Tangents, fault: Exception | None = None) -> None:
        self.m = m
        self.x = x
        self.d = d
        self.fault = fault

    def __add__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.m, self.x + other, self.d, self.fault)
        return Dual(self.m, self.x + other.x, _sum(self.d, other.d), self.fault or other.fault)

    def __neg__(self) -> Dual:
        return Dual(self.m, -self.x, {k: -t for k, t in self.d.items()}, self.fault)

    def __mul__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            return Dual(
                self.m, self.x * other, {k: t * other for k, t in self.d.items()}, self.fault
            )
        x, y = self.x, other.x
        d = _sum({k: t * y for k, t in self.d.items()}, {k: x * t for k, t in other.d.items()})
        return Dual(self.m, x * y, d, self.fault or other.fault)

    def __truediv__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            return Dual(
                self.m, self.x / other, {k: t / other for k, t in self.d.items()}, self.fault
            )
        y, out = other.x, self.x / other.x
        d = _sum(
            {k: t / y for k, t in self.d.items()}, {k: -(out * t) / y for k, t in other.d.items()}
        )
        return Dual(self.m, out, d, self.fault or other.fault)


def primal(x: Any) -> Number:
    """Return the number without its derivatives."""
    return x.x if isinstance(x, Dual) else x


def _sum(a: Tangents, b: Tangents) -> Tangents:
    if not a or not b:
        return a or b
    if len(a) + len(b) > UNCHARGED_DIRECTIONS:
        budget.charge(len(a) + len(b))
    total = dict(a)
    for k, t in b.items():
        total[k] = total[k] + t if k in total else t
    return total


class Duals(Lifted):
    """Duals over another number type."""

    has_values = True

    def __init__(self, base: NumberType, *, strict: bool = False) -> None:
        super().__init__(base, f"{base.name} with derivatives")
        self.derivative = "second derivative"
        # Whether `is_finite` also requires derivatives, for the backward sweep.
        self.strict = strict
        if base.may_stay_open:
            self.eq = lambda x, y: base.eq(primal(x), primal(y))
            self.and_ = base.and_

    def number(self, x: Number) -> Dual:
        return x if isinstance(x, Dual) else Dual(self, self.base.number(x), {})

    def literal(self, text: str) -> Dual:
        return Dual(self, self.base.literal(text), {})

    def seed(self, x: Number, direction: int) -> Dual:
        """Return the variable of a direction."""
        return Dual(self, x, {direction: self.base.number(1)})

    def is_finite(self, x: Number) -> bool:
        """Return whether the number, if strict with derivatives, is finite. Raises its `fault`."""
        if not isinstance(x, Dual):
            return self.base.is_finite(x)
        if not self.strict:
            return self.base.is_finite(x.x)
        if x.fault is not None:
            raise x.fault
        return self.base.is_finite(x.x) and all(self.base.is_finite(t) for t in x.d.values())

    def lift(self, primitive: Primitive) -> Callable[..., Dual]:
        base, value = self.base, getattr(self.base, primitive.name)

        def function(*inputs: Number) -> Dual:
            xs = [primal(x) for x in inputs]
            out = value(*xs)
            varying = [isinstance(x, Dual) and (x.d or x.fault) for x in inputs]
            if not any(varying):
                return Dual(self, out, {})
            d: Tangents = {}
            try:
                for x, partial in zip(
                    inputs, primitive.slopes(base, xs, out, varying), strict=True
                ):
                    if partial is None:
                        continue
                    if x.fault is not None:
                        raise x.fault
                    if not base.is_finite(partial):
                        raise OverflowError
                    d = _sum(d, {j: t * partial for j, t in x.d.items()})
            except NO_RESULT as error:
                return Dual(self, out, {}, error)
            return Dual(self, out, d)

        return function

    def unit_vector(self, *inputs: Number) -> list[Dual]:
        """Return the inputs over their length, with derivatives."""
        # (dxᵢ·Σuₖ² - uᵢ·Σuₖ·dxₖ)/length, over k ≠ i: `dx/length - x·dlength/length²` would cancel
        base, xs = self.base, [primal(x) for x in inputs]
        length, units = base.hypot(*xs), base.unit_vector(*xs)
        tangents: list[Tangents] = [x.d if isinstance(x, Dual) else {} for x in inputs]
        faults = [x.fault for x in inputs if isinstance(x, Dual) and x.fault is not None]
        if base.eq(length, 0) or not any(tangents):
            return [Dual(self, u, {}, *faults[:1]) for u in units]
        budget.charge(len(xs) * (len(xs) + sum(map(len, tangents))))
        result = []
        for i, u in enumerate(units):
            d: Tangents = {}
            for k, v in enumerate(units):
                for factor, operand in ((v, i), (-u, k)) if k != i else ():
                    for j, t in tangents[operand].items():
                        added = factor * v * t / length
                        d[j] = d[j] + added if j in d else added
            result.append(Dual(self, u, d, *faults[:1]))
        return result
