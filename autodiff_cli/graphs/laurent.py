"""Laurent series of a graph in one variable, through removable singularities and poles.

A series has its first nonzero coefficient, and some after it. Quotients need the first, so it is decided, by
the number type or earlier. Sums, products and whole powers use the series; other operations the power
series of their table row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..numbers.base import Number, NumberType
from ..numbers.budget import Defined
from ..table.operators import ADD, DIV, MUL, NEG, POW, SUB, WHERE
from ..table.primitive import PRIMITIVES
from ..table.primitives import QUOTIENTS
from .taylor_mode import directional_in
from .value import Value, in_order, node, variable
from .value_and_gradient import value_in

MORE_ORDERS = (3, 8, 20, 48)
"""Extra orders to try, as quotients lose some."""

MAX_POWER = 100

IsZero = Callable[[Number], bool]


class NoSeries(Exception):
    """No Laurent series at the point is known."""


class _TooShort(Exception):
    """More orders are needed."""


class Laurent(NamedTuple):
    """Coefficients of powers of t from `start` on; the first is not 0."""

    start: int
    c: list[Number]

    @property
    def end(self) -> int:
        """Return the first power with an unknown coefficient."""
        return self.start + len(self.c)

    def at(self, k: int) -> Number:
        """Return the coefficient of a power below `end`."""
        return self.c[k - self.start] if k >= self.start else 0


def laurent_in(
    m: NumberType,
    output: Value,
    values: Mapping[str, Number],
    by: str,
    order: int,
    is_zero: IsZero = lambda x: bool(x == 0),
) -> Laurent:
    """Return the Laurent series in `by` - `values[by]`, at least to an order.

    `is_zero` decides whether a number is 0. Raises `NoSeries`, and errors of the number type.
    """
    for more in MORE_ORDERS:
        try:
            series = _Expansion(m, values, by, order + more + 1, is_zero).of(output)
        except _TooShort:
            continue
        if series.end > order:
            return series
    raise NoSeries


class _Expansion:
    def __init__(self, m: NumberType, values: Mapping[str, Number], by: str, end: int, is_zero: IsZero) -> None:
        self.m, self.values, self.by, self.end, self.is_zero = m, values, by, end, is_zero
        self.zero, self.one = m.number(0), m.number(1)

    def of(self, output: Value) -> Laurent:
        series: dict[Value, Laurent] = {}
        varies: dict[Value, bool] = {}
        for value in in_order((output,)):
            varies[value] = (not value._prev and value.label == self.by) or any(varies[p] for p in value._prev)
        wanted = {output, *(p for value in varies if varies[value] for p in value._prev)}
        for value, active in varies.items():
            if active:
                if value.primitive is WHERE or value.primitive.gives_condition:
                    raise NoSeries
                inputs = [series[p] for p in value._prev]
                series[value] = self.operation(value, inputs, [varies[p] for p in value._prev])
            elif value in wanted and not value.primitive.gives_condition:
                number = value_in(self.m, value, self.values)
                if number is None:
                    raise NoSeries
                series[value] = self.trimmed(0, [number])
        return series[output]

    def trimmed(self, start: int, c: Sequence[Number], end: int | None = None) -> Laurent:
        coefficients = [*c, *[self.zero] * ((self.end if end is None else end) - start - len(c))]
        k = next((k for k, x in enumerate(coefficients) if not self.is_zero(x)), len(coefficients))
        return Laurent(start + k, coefficients[k:])

    def operation(self, value: Value, inputs: list[Laurent], varies: list[bool]) -> Laurent:
        primitive = value.primitive
        if not inputs:
            return self.trimmed(0, [self.values[self.by], self.one])
        if primitive in (ADD, SUB):
            return self.sum(inputs[0], inputs[1] if primitive is ADD else self.negative(inputs[1]))
        if primitive is NEG:
            return self.negative(inputs[0])
        if primitive is MUL:
            return self.product(*inputs)
        if primitive is DIV:
            return self.quotient(*inputs)
        if primitive is POW and not varies[1]:
            exponent = value_in(self.m, value._prev[1], self.values)
            with Defined(ArithmeticError, ValueError):
                n = int(exponent or 0)
                if exponent == n and abs(n) <= MAX_POWER:
                    power = self.trimmed(0, [self.one])
                    for _ in range(abs(n)):
                        power = self.product(power, inputs[0])
                    return power if n >= 0 else self.quotient(self.trimmed(0, [self.one]), power)
        if primitive.name in QUOTIENTS:
            above, below = (
                self.function(node(PRIMITIVES[name], value._prev), inputs, varies) if name else None
                for name in QUOTIENTS[primitive.name]
            )
            return self.quotient(above or self.trimmed(0, [self.one]), below or inputs[0])
        return self.function(value, inputs, varies)

    def negative(self, a: Laurent) -> Laurent:
        return Laurent(a.start, [-x for x in a.c])

    def sum(self, a: Laurent, b: Laurent) -> Laurent:
        end, start = min(a.end, b.end), min(a.start, b.start)
        return self.trimmed(start, [a.at(k) + b.at(k) for k in range(start, end)], max(end, start))

    def product(self, a: Laurent, b: Laurent) -> Laurent:
        count = min(len(a.c), len(b.c))
        self.m.charge(count * count)
        c = [sum((a.c[j] * b.c[k - j] for j in range(k + 1)), self.zero) for k in range(count)]
        return Laurent(a.start + b.start, c)

    def quotient(self, a: Laurent, b: Laurent) -> Laurent:
        if not b.c:
            raise _TooShort
        count = min(len(a.c), len(b.c))
        self.m.charge(count * count)
        c: list[Number] = []
        for k in range(count):
            c.append((a.c[k] - sum((c[j] * b.c[k - j] for j in range(k)), self.zero)) / b.c[0])
        return Laurent(a.start - b.start, c)

    def function(self, value: Value, inputs: list[Laurent], varies: list[bool]) -> Laurent:
        end = min(series.end for series in inputs)
        if any(series.start < 0 for series in inputs):
            raise NoSeries
        if end < 1:
            raise _TooShort
        at, along, parents = dict(self.values), {}, []
        for k, (series, active, p) in enumerate(zip(inputs, varies, value._prev, strict=True)):
            at[str(k)], *rest = [series.at(order) + self.zero for order in range(end)]
            if active:
                along[str(k)] = rest
            parents.append(variable(str(k)) if active else p)
        return self.trimmed(0, directional_in(self.m, node(value.primitive, parents), at, along, end - 1), end)
