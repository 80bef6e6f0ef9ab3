"""Dimensions as numbers: a sweep checks a formula, and gives units; the literal 0 has every
dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import zip_longest
from typing import Any, NamedTuple

from ..quantities.table import BASE
from ..quantities.unit import (
    NUMBER,
    Dimension,
    Elimination,
    Unit,
    plain_exponent,
    quantity_name,
    si_unit,
)
from ..table.primitives import COMPARES_DIMENSIONS, OF_CONDITIONS, OF_ONE_DIMENSION
from .base import Number, NumberType, Refusal

# The kind of error of inconsistent dimensions.
KIND = "dimension"

# Maximum length of a literal that may be an exponent.
MAX_LITERAL_LENGTH = 40

# Functions that depend only on the sign of a quantity.
_SIGNS = frozenset(["sign", "heaviside"])

_ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}


class Dimensioned(NamedTuple):
    """The dimension of a number, and the value of a constant."""

    dimension: Dimension = NUMBER
    value: Fraction | None = None
    temperatures: Fraction | None = None
    """The sum of temperatures on scales with own zeros, 0 for a difference; None if unknown."""

    @property
    def is_zero(self) -> bool:
        return self.value == 0

    def __str__(self) -> str:
        return (
            str(si_unit(self.dimension)) or "a number"
            if len(self.dimension) == len(NUMBER)
            else "?"
        )


_PLAIN = Dimensioned()


class Dimensions(NumberType):
    """Dimensions, with rational exponents."""

    name = "dimension"

    def __init__(self) -> None:
        # instead of the base class's Python operators
        for name in (*OF_ONE_DIMENSION, *COMPARES_DIMENSIONS, *OF_CONDITIONS):
            self.__dict__[name] = partial(self.definition(name), self)

    def number(self, x: Number) -> Dimensioned:
        return x if isinstance(x, Dimensioned) else Dimensioned(NUMBER, Fraction(x))

    def literal(self, text: str) -> Dimensioned:
        if len(text) >= MAX_LITERAL_LENGTH or text.strip("0123456789."):
            return _PLAIN  # a named constant, or no exponent
        return Dimensioned(NUMBER, Fraction(text))

    def measured(self, x: Dimensioned, unit: Unit) -> Dimensioned:
        return Dimensioned(unit.dimension)

    def same(self, a: Dimension, b: Dimension) -> bool:
        return a == b

    def unit_of(self, dimension: Dimension) -> str:
        """Return the coherent unit of a dimension."""
        return str(si_unit(dimension))

    def describe(self, dimension: Dimension) -> str:
        """Return a dimension in words, with its unit."""
        return quantity_name(dimension)

    def definition(self, name: str) -> Callable[..., Dimensioned]:
        if name in OF_ONE_DIMENSION:
            return lambda m, *xs: self._alike(name, xs[1:] if name == "where" else xs)
        if name in _ROOTS:
            return lambda m, x: Dimensioned(
                _scale(x.dimension, _ROOTS[name]), x.value if x.is_zero else None
            )
        if name in COMPARES_DIMENSIONS:
            return lambda m, *xs: self._alike(name, xs) and _PLAIN
        if name in _SIGNS or name in OF_CONDITIONS:
            return lambda m, *xs: _PLAIN
        return lambda m, *xs: self._numbers(name, xs)

    def _alike(self, name: str, xs: Iterable[Any]) -> Dimensioned:
        xs = [*xs]
        nonzero = [x for x in xs if not x.is_zero] or xs[:1]
        for x in nonzero[1:]:
            if not self.same(x.dimension, nonzero[0].dimension):
                first, second = self.describe(nonzero[0].dimension), self.describe(x.dimension)
                verbs = {"add": "add", "where": "choose between"} | dict.fromkeys(
                    COMPARES_DIMENSIONS, "compare"
                )
                message = f"cannot {verbs.get(name, 'combine')} {first} and {second}"
                if name == "sub":
                    message = f"cannot subtract {second} from {first}"
                hint = "give both the same dimension; a number alone has none"
                measured = [v for v in (nonzero[0], x) if not self.same(v.dimension, NUMBER)]
                if len(measured) == 1:
                    unit = self._unit(measured[0])
                    hint = (
                        f"give the number its unit: `2[{unit}]` in a formula, `2 {unit}` in a value"
                    )
                raise Refusal(KIND, message, hint)
        return Dimensioned(nonzero[0].dimension, _constant(name, xs), _temperatures(name, xs))

    def _numbers(self, name: str, xs: Iterable[Any]) -> Dimensioned:
        for x in xs:
            if not self.same(x.dimension, NUMBER):
                message = f"`{name}` takes a number, and this is {self.describe(x.dimension)}"
                hint = f"divide by a quantity of the same dimension, such as `1[{self._unit(x)}]`"
                raise Refusal(KIND, message, hint)
        return _PLAIN

    def _unit(self, x: Dimensioned) -> str:
        """Return the unit of a number as it is typed."""
        return self.unit_of(x.dimension).replace("·", "*")

    def mul(self, x: Dimensioned, y: Dimensioned) -> Dimensioned:
        value = None if x.value is None or y.value is None else x.value * y.value
        count = (
            _times(x.temperatures, y.value)
            if x.temperatures is not None
            else _times(y.temperatures, x.value)
        )
        zero = x.is_zero or y.is_zero
        return Dimensioned(_plus(x.dimension, y.dimension), Fraction(0) if zero else value, count)

    def div(self, x: Dimensioned, y: Dimensioned) -> Dimensioned:
        value = None if x.value is None or not y.value else x.value / y.value
        count = _times(x.temperatures, 1 / y.value if y.value else None)
        return Dimensioned(_plus(x.dimension, y.dimension, -1), value, count)

    def prod(self, *xs: Dimensioned) -> Dimensioned:
        """Return the product of many."""
        return reduce(self.mul, xs)

    def normcdf_scaled(self, x: Dimensioned, mu: Dimensioned, sigma: Dimensioned) -> Dimensioned:
        """Return the dimension of a probability; the inputs have one dimension."""
        self._numbers("normcdf", (self.div(self._alike("sub", (x, mu)), sigma),))
        return _PLAIN

    def normpdf_scaled(self, x: Dimensioned, mu: Dimensioned, sigma: Dimensioned) -> Dimensioned:
        """Return the dimension of a density, the reciprocal of that of the inputs."""
        return self.div(self.normcdf_scaled(x, mu, sigma), sigma)

    def norminv_scaled(self, p: Dimensioned, mu: Dimensioned, sigma: Dimensioned) -> Dimensioned:
        """Return the dimension of a quantile, that of the mean and of the standard deviation."""
        self._numbers("norminv", (p,))
        return self._alike("add", (mu, Dimensioned(sigma.dimension)))

    def leaky_relu(self, x: Dimensioned, slope: Dimensioned) -> Dimensioned:
        """Return the dimension of the first input."""
        self._numbers("leaky_relu", (slope,))
        return Dimensioned(x.dimension)

    def pow(self, x: Dimensioned, y: Dimensioned) -> Dimensioned:
        """Return the power; the exponent of a quantity must be constant."""
        if not self.same(y.dimension, NUMBER):
            message = f"an exponent is a number, and this is {self.describe(y.dimension)}"
            hint = f"divide it by a quantity of the same dimension, such as `1[{self._unit(y)}]`"
            raise Refusal(KIND, message, hint)
        if x.dimension == NUMBER or (y.value is None and self.same(x.dimension, NUMBER)):
            if not x.value or y.value is None or y.value.denominator != 1 or abs(y.value) >= 20:
                return _PLAIN
            return Dimensioned(NUMBER, x.value ** int(y.value))
        if y.value is None:
            message = (
                f"a power of {self.describe(x.dimension)} needs a constant exponent, which"
                " determines its dimension"
            )
            raise Refusal(
                KIND, message, "write the exponent as a number, or divide the base by its unit"
            )
        return Dimensioned(_scale(x.dimension, y.value))


def _constant(name: str, xs: Iterable[Dimensioned]) -> Fraction | None:
    values = [x.value for x in xs if x.value is not None]
    if len(values) < len([*xs]):
        return None
    if name in ("neg", "sub"):
        return values[0] - values[1] if name == "sub" else -values[0]
    return sum(values, Fraction(0)) if name in ("add", "sum") or not any(values) else None


def _times(count: Fraction | None, factor: Fraction | None) -> Fraction | None:
    return count * factor if count and factor is not None else None if count else count


def _temperatures(name: str, xs: Sequence[Dimensioned]) -> Fraction | None:
    counts = [x.temperatures for x in xs if not x.is_zero]
    determined = [count for count in counts if count is not None]
    if len(determined) < len(counts) or not determined:
        return None
    if name in ("add", "sum"):
        return sum(determined, Fraction(0))
    if name == "sub":
        return determined[0] - determined[-1] if len(determined) > 1 else None
    if name == "neg":
        return -determined[0]
    return determined[0] if len({*determined}) == 1 else None


def _plus(x: Dimension, y: Dimension, sign: int = 1) -> Dimension:
    # terms with unknowns are longer
    return tuple([plain_exponent(a + sign * b) for a, b in zip_longest(x, y, fillvalue=0)])


def _scale(x: Dimension, n: Fraction) -> Dimension:
    return tuple([plain_exponent(a * n) for a in x])


# ---- unknown dimensions, inferred from consistency
COUNT = len(BASE)


class UnknownDimensions(Dimensions):
    """Dimensions with exponents of unknown ones after the base units'."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = list(names)
        self._solved = Elimination(COUNT)

    def unknown(self, name: str, value: Fraction | None = None) -> Dimensioned:
        """Return a number of unknown dimension, with its value if constant."""
        return Dimensioned((*NUMBER, *(int(name == other) for other in self.names)), value)

    def same(self, a: Dimension, b: Dimension) -> bool:
        difference = [x - y for x, y in zip(self._long(a), self._long(b), strict=True)]
        return not any(self._solved.reduce(difference)) or self._solved.add(difference)

    def solution(self, name: str) -> Dimension | None:
        """Return the dimension of an unknown; None if undetermined."""
        return self.resolve(self.unknown(name).dimension)

    def unit_of(self, dimension: Dimension) -> str:
        resolved = self.resolve(dimension)
        if resolved is not None:
            return str(si_unit(resolved))
        rest = self._solved.reduce(self._long(dimension))
        unit = str(si_unit(tuple(map(plain_exponent, rest[:COUNT]))))
        powers = zip(self.names, rest[COUNT:], strict=True)
        names = [f"[{name}]" + (f"^{n}" if n != 1 else "") for name, n in powers if n]
        return "·".join([*names, *([unit] if unit else [])])

    def describe(self, dimension: Dimension) -> str:
        resolved = self.resolve(dimension)
        return f"`{self.unit_of(dimension)}`" if resolved is None else quantity_name(resolved)

    def _long(self, dimension: Dimension) -> Dimension:
        return (*dimension, *(0 for _ in range(COUNT + len(self.names) - len(dimension))))

    def resolve(self, dimension: Dimension) -> Dimension | None:
        """Return a dimension without unknowns; None if undetermined."""
        rest = self._solved.reduce(self._long(dimension))
        return None if any(rest[COUNT:]) else tuple(map(plain_exponent, rest[:COUNT]))
