"""Laurent: a number type of series in one variable, through removable singularities and poles.

A series has its first nonzero coefficient, and some after it. Quotients need the first, so it is
decided, by the base type or earlier. Sums, products, quotients and whole powers use the series;
other operations the power series of their table row.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce

from ..numbers.base import Lifted, Number, NumberType, OperatorNumber, Valued
from ..numbers.budget import Defined
from ..numbers.poles import Pole, has_poles, nearest_whole, pole_at
from ..numbers.series import SeriesType
from ..table.primitive import DEFINITIONS, PRIMITIVES, Primitive
from ..table.primitives import QUOTIENTS, by_name
from .value import Source
from .value_and_gradient import evaluate_in

# Extra orders to try, as quotients lose some.
MORE_ORDERS = (3, 8, 20, 48)

MAX_POWER = 100

IsZero = Callable[[Number], bool]


class NoSeries(Exception):
    """No Laurent series at the point is known."""


class _TooShort(Exception):
    """More orders are needed."""


class Laurent(OperatorNumber, Valued):
    """Coefficients `c` of powers of t from `start` on, the first not 0; or a constant, which does
    not vary.
    """

    __slots__ = ("c", "m", "start", "varies")

    def __init__(
        self, m: "_LaurentType", start: int, c: Sequence[Number], varies: bool = True
    ) -> None:
        self.m, self.start, self.c, self.varies = m, start, [*c], varies

    @property
    def x(self) -> Number:
        """Return the number of a constant. Raises `NoSeries` if it varies."""
        if self.varies:
            raise NoSeries
        return self.c[0]

    @property
    def end(self) -> int:
        """Return the first power with an unknown coefficient."""
        return self.start + len(self.c)

    def at(self, k: int) -> Number:
        """Return the coefficient of a power below `end`."""
        return self.c[k - self.start] if k >= self.start else 0


class _LaurentType(Lifted):
    """Series over a base type, of powers below `end` at first; `is_zero` decides whether a number
    is 0.
    """

    def __init__(self, base: NumberType, end: int, is_zero: IsZero) -> None:
        super().__init__(base, f"{base.name} series")
        self.end, self.is_zero = end, is_zero
        self.zero, self.one = base.number(0), base.number(1)

    def number(self, x: Number) -> Laurent:
        return (
            x if isinstance(x, Laurent) else Laurent(self, 0, [self.base.number(x)], varies=False)
        )

    def literal(self, text: str) -> Laurent:
        return self.number(self.base.literal(text))

    def is_finite(self, x: Number) -> bool:
        return not isinstance(x, Laurent) or x.varies or self.base.is_finite(x.x)

    def trim(self, start: int, c: Sequence[Number], end: int | None = None) -> Laurent:
        coefficients = [*c, *[self.zero] * ((self.end if end is None else end) - start - len(c))]
        k = next((k for k, x in enumerate(coefficients) if not self.is_zero(x)), len(coefficients))
        return Laurent(self, start + k, coefficients[k:])

    def expand(self, x: Laurent) -> Laurent:
        return x if x.varies else self.trim(0, x.c)

    def eq(self, a: Number, b: Number) -> bool:
        """Return whether two series are equal beside the point, where both differ but for single
        points.
        """
        a, b = self.number(a), self.number(b)
        if not (a.varies or b.varies):
            return bool(a.x == b.x)
        if self.step("sub", a, b).c:
            return False
        raise NoSeries  # equal as far as they are known

    def ne(self, a: Number, b: Number) -> bool:
        return not self.eq(a, b)

    def lift(self, primitive: Primitive) -> Callable[..., Laurent]:
        return partial(self.step, primitive.name)

    def step(self, name: str, *inputs: Number) -> Laurent:
        numbers = [self.number(x) for x in inputs]
        try:
            if not any(x.varies for x in numbers):
                return self.number(getattr(self.base, name)(*[x.x for x in numbers]))
            return self.varying(name, numbers)
        except (ValueError, ArithmeticError):
            raise NoSeries from None

    def varying(self, name: str, numbers: Sequence[Laurent]) -> Laurent:
        if name == "pow" and not numbers[1].varies:
            with Defined(ArithmeticError, ValueError):
                n = int(numbers[1])
                if numbers[1] == n and abs(n) <= MAX_POWER:
                    return self.power(numbers[0], n)
        if name in QUOTIENTS:
            above, below = (
                self.function(part, numbers) if part else None for part in QUOTIENTS[name]
            )
            return self.quotient(above or self.trim(0, [self.one]), below or numbers[0])
        if name == "neg":
            return Laurent(self, numbers[0].start, [-x for x in numbers[0].c])
        operation = ARITHMETIC.get(name)
        if operation is None:
            try:
                return self.function(name, numbers)
            except (ValueError, ArithmeticError):
                if name not in BY_DEFINITION_AT_POLES:
                    raise
                return self.number(DEFINITIONS[name](self, *numbers))
        return reduce(partial(operation, self), map(self.expand, numbers))

    def added(self, a: Laurent, b: Laurent) -> Laurent:
        end, start = min(a.end, b.end), min(a.start, b.start)
        return self.trim(start, [a.at(k) + b.at(k) for k in range(start, end)], max(end, start))

    def difference(self, a: Laurent, b: Laurent) -> Laurent:
        end, start = min(a.end, b.end), min(a.start, b.start)
        return self.trim(start, [a.at(k) - b.at(k) for k in range(start, end)], max(end, start))

    def power(self, base: Laurent, n: int) -> Laurent:
        """Return a power with an integer exponent."""
        result = one = self.trim(0, [self.one])
        for _ in range(abs(n)):
            result = self.product(result, base)
        return result if n >= 0 else self.quotient(one, result)

    def product(self, a: Laurent, b: Laurent) -> Laurent:
        count = min(len(a.c), len(b.c))
        self.base.charge_operations(count * count)
        c = [sum((a.c[j] * b.c[k - j] for j in range(k + 1)), self.zero) for k in range(count)]
        return Laurent(self, a.start + b.start, c)

    def quotient(self, a: Laurent, b: Laurent) -> Laurent:
        if not b.c:
            raise _TooShort
        count = min(len(a.c), len(b.c))
        self.base.charge_operations(count * count)
        c: list[Number] = []
        for k in range(count):
            c.append((a.c[k] - sum((c[j] * b.c[k - j] for j in range(k)), self.zero)) / b.c[0])
        return Laurent(self, a.start - b.start, c)

    def function(self, name: str, inputs: Sequence[Laurent]) -> Laurent:
        end = min(x.end for x in inputs if x.varies)
        self.check_expandable(name, inputs, end)
        pole = self.pole(name, inputs, end)
        if pole is not None:
            return self.beside_pole(pole, inputs[-1])
        power = SeriesType(self.base)
        numbers = [
            power.variable(*[x.at(k) + self.zero for k in range(end)]) if x.varies else x.x
            for x in inputs
        ]
        return self.trim(0, power.coefficients(power.step(name, *numbers), end), end)

    def pole(self, name: str, inputs: Sequence[Laurent], count: int) -> Pole | None:
        """Return the series of a function at its last input's first coefficient; None if it has no
        pole there.
        """
        *fixed, x = inputs
        if not has_poles(name) or not x.varies or any(each.varies for each in fixed):
            return None
        place = nearest_whole(x.at(0))
        if place is None or not self.is_zero(x.at(0) - place):
            return None
        return pole_at(self.base, name, [each.x for each in fixed], place, count)

    def beside_pole(self, pole: Pole, x: Laurent) -> Laurent:
        """Return the series of a function at a pole, of its input's series."""
        u = self.trim(1, [x.at(k) for k in range(1, x.end)], x.end)
        # the rest has the size of the power of u that it is multiplied by
        total = Laurent(self, 0, [])
        for coefficient in reversed(pole.regular):
            total = self.added(self.product(total, u), self.trim(0, [coefficient]))
        leading = self.trim(
            0, [self.base.number(pole.leading.numerator) / pole.leading.denominator]
        )
        return self.added(self.quotient(leading, self.power(u, pole.order)), total)

    @staticmethod
    def check_expandable(name: str, inputs: Sequence[Laurent], end: int) -> None:
        """Raise an error where a function has no Taylor series at its inputs, or no term of it is
        known.
        """
        if any(x.start < 0 for x in inputs if x.varies):
            raise NoSeries
        if end < 1:
            raise _TooShort
        meet = PRIMITIVES[name].breakpoint
        if meet is not None and meet(*[x.at(0) for x in inputs]):
            raise NoSeries


# Functions whose poles are those of the functions that define them.
BY_DEFINITION_AT_POLES = by_name({"beta": True})
# Operations on two numbers, and on several by two at a time.
ARITHMETIC: dict[str, Callable[[_LaurentType, Laurent, Laurent], Laurent]] = by_name({
    "add": _LaurentType.added, "sub": _LaurentType.difference,
    "mul": _LaurentType.product, "div": _LaurentType.quotient,
    "sum": _LaurentType.added, "prod": _LaurentType.product,
})  # fmt: skip


def laurent_in(
    m: NumberType,
    output: Source,
    values: Mapping[str, Number],
    by: str,
    order: int,
    is_zero: IsZero = lambda x: bool(x == 0),
) -> Laurent:
    """Return the Laurent series in `by` - `values[by]`, at least to an order.

    `is_zero` decides whether a number is 0. Raises `NoSeries`, and errors of the number type.
    """
    for more in MORE_ORDERS:
        series = _LaurentType(m, order + more + 1, is_zero)
        leaves = {name: series.number(x) for name, x in values.items()}
        try:
            leaves[by] = series.trim(0, [values[by], series.one])
            result = series.expand(evaluate_in(series, output, leaves).value)
        except _TooShort:
            continue
        if result.end > order:
            return result
    raise NoSeries
