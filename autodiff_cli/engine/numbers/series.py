"""Series: truncated power series over any number type: (f(u))' = f'(u)·u' (Griewank and Walther,
13.2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import Any

from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import library_names
from .base import NO_RESULT, Lifted, Number, NumberType, OperatorNumber, Valued

ARITHMETIC = library_names("add sub mul div neg")


class Series(OperatorNumber, Valued):
    """A power series with known coefficients `c`; only the first for a constant."""

    __slots__ = ("active", "c", "cause", "inputs", "lag", "m", "name", "needed", "slopes")

    def __init__(
        self, m: SeriesType, name: str, inputs: tuple[Series, ...], first: Number, active: bool
    ) -> None:
        self.m = m
        self.name = name
        self.inputs = inputs
        self.c: list[Number] = [first]
        self.active = active
        # How many coefficients fewer than the result it needs.
        self.lag = m.lag
        # The series whose derivative requires this one.
        self.cause = m.cause
        self.slopes: list[tuple[Series, Series]] | None = None
        # Whether the result depends on higher coefficients.
        self.needed = False

    __hash__ = object.__hash__  # type: ignore[assignment]

    @property
    def x(self) -> Number:
        return self.c[0]

    def at(self, k: int) -> Number:
        """Return the known coefficient of order k."""
        return self.c[k] if k < len(self.c) else self.m.zero


class SeriesType(Lifted):
    """Series over a base type; `extend` computes all next coefficients."""

    has_values = True

    def __init__(self, base: NumberType) -> None:
        super().__init__(base, f"{base.name} series")
        self.zero = base.number(0)
        # Non-constant series by lag, each after its inputs.
        self.levels: list[list[Series]] = [[]]
        self.here: Series
        # Series that are needed once the order exceeds their lag.
        self.waiting: list[Series] = []
        self._same: dict[tuple[Any, ...], Series] = {}
        self.lag = 0
        self.cause: Series | None = None
        for name in ARITHMETIC:
            self.__dict__[name] = partial(self.step, name)

    def number(self, x: Number) -> Series:
        if isinstance(x, Series):
            return x
        key = ("number", x) if isinstance(x, (int, float)) else ()
        if key not in self._same or not key:
            self._same[key] = Series(self, "number", (), self.base.number(x), False)
        return self._same[key]

    def literal(self, text: str) -> Series:
        return Series(self, "literal", (), self.base.literal(text), False)

    def variable(self, *coefficients: Number) -> Series:
        """Return a variable with these coefficients from order 0; the others are 0."""
        series = Series(self, "number", (), coefficients[0], True)
        series.c += coefficients[1:]
        return series

    def is_finite(self, x: Number) -> bool:
        return self.base.is_finite(x.c[0] if isinstance(x, Series) else x)

    def lift(self, primitive: Primitive) -> Callable[..., Series]:
        return partial(self.step, primitive.name)

    def step(self, name: str, *inputs: Number) -> Series:
        """Return the series of an operation; inputs determine one object."""
        series = tuple([self.number(x) for x in inputs])
        key = (name, *map(id, series))
        node = self._same.get(key)
        if node is None or node.lag > self.lag:
            value = getattr(self.base, name)(*[x.c[0] for x in series])
            if not self.base.is_finite(value):
                raise OverflowError
            cut = PRIMITIVES[name].product and any(
                x.name == "literal" and x.c[0] == 0 for x in series
            )
            active = not cut and any(x.active for x in series) and self._passes(name, series, value)
            node = Series(self, name, series, value, active)
            self._same[key] = node
            if node.active:
                if self.lag == len(self.levels):
                    self.levels.append([])
                self.levels[self.lag].append(node)
        return node

    def _passes(self, name: str, series: tuple[Series, ...], value: Number) -> bool:
        primitive: Primitive = PRIMITIVES[name]
        if name in ARITHMETIC or not (primitive.has_structural_zeros or name == "pow"):
            return True
        inputs = [x.c[0] for x in series]
        try:
            if name == "pow":
                # x**0 is 1: derivatives would be 0 times powers of 1/x.
                return series[1].active or bool(inputs[1] != 0)
            partials = primitive.slopes(self.base, inputs, value, [x.active for x in series])
            return any(partial is not None for partial in partials)
        except NO_RESULT:
            return True

    def extend(self, order: int) -> None:
        """Compute the next order's coefficients. Raises `Failed`."""
        for k in range(1 if self._marked(order) else order, order + 1):
            # Derivatives first, one order lower: functions need them.
            for lag in reversed(range(min(k, len(self.levels)))):
                for series in self.levels[lag]:
                    n = k - lag
                    if not series.needed or len(series.c) != n:
                        continue
                    self.here = series
                    try:
                        coefficient = self.coefficient(series, n)
                        if not self.base.is_finite(coefficient):
                            raise OverflowError
                    except NO_RESULT as error:
                        raise Failed(series, n, error) from None
                    series.c.append(coefficient)

    def coefficients(self, out: Series, count: int) -> list[Number]:
        """Return the first coefficients of a series. Raises the error of the operation that has
        none.
        """
        self.waiting.append(out)
        try:
            for n in range(1, count):
                self.extend(n)
        except Failed as failed:
            raise failed.error from None
        return [out.at(k) for k in range(count)]

    def _marked(self, order: int) -> bool:
        behind = False
        stack, self.waiting = self.waiting, []
        while stack:
            series = stack.pop()
            if series.needed or not series.inputs or not series.active:
                continue
            if series.lag >= order:
                self.waiting.append(series)
                continue
            series.needed = True
            behind = behind or order - series.lag > 1
            if series.name in ARITHMETIC:
                stack += series.inputs
                continue
            self.here = series
            try:
                pairs = self._derived(series)
            except NO_RESULT as error:
                raise Failed(series, 1, error) from None
            for u, d in pairs:
                stack += (u, d)
        return behind

    def coefficient(self, series: Series, n: int) -> Number:
        """Return a series' coefficient of order n from its inputs' coefficients."""
        name, inputs = series.name, series.inputs
        if name == "add":
            return inputs[0].at(n) + inputs[1].at(n)
        if name == "sub":
            return inputs[0].at(n) - inputs[1].at(n)
        if name == "neg":
            return -inputs[0].at(n)
        if name == "mul":
            x, y = inputs
            if not x.active or not y.active:
                return x.at(n) * y.c[0] if x.active else x.c[0] * y.at(n)
            return self._total([x.at(j) * y.at(n - j) for j in range(n + 1)])
        if name == "div":
            x, y = inputs
            if not y.active:
                return x.at(n) / y.c[0]
            return (
                x.at(n) - self._total([series.at(n - j) * y.at(j) for j in range(1, n + 1)])
            ) / y.c[0]
        pairs = self._derived(series)
        total = self._total([j * u.at(j) * d.at(n - j) for u, d in pairs for j in range(1, n + 1)])
        return total / n

    def _total(self, terms: list[Number]) -> Number:
        self.base.charge_operations(len(terms))
        return reduce(add, terms, self.zero)

    def _derived(self, series: Series) -> list[tuple[Series, Series]]:
        if series.slopes is None:
            self.lag, self.cause = series.lag + 1, series
            primitive: Primitive = PRIMITIVES[series.name]
            inputs = series.inputs
            partials = primitive.slopes(self, inputs, series, [x.active for x in inputs])
            series.slopes = [
                (x, self.number(d)) for x, d in zip(inputs, partials, strict=True) if d is not None
            ]
        return series.slopes


class Failed(Exception):
    """A series without a coefficient of an order."""

    def __init__(self, series: Series, order: int, error: Exception) -> None:
        super().__init__(str(error))
        self.order = order
        self.error = error
        while series.cause is not None:
            self.order += 1
            series = series.cause
        # The program's operation that caused it.
        self.series = series
