"""NumberType: the functions that number types offer to the table's rules."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import AutodiffError
from ..table.primitive import (
    ACCURATE,
    DEFINITIONS,
    OPERATIONS,
    PRIMITIVES,
    Primitive,
    check_domain,
)
from ..table.primitive import Number as Number

if TYPE_CHECKING:
    from ..quantities.unit import Unit

# The highest order of derivatives: more take seconds, and hardly any fits a double.
HIGHEST_ORDER = 10_000


def whole_order(order: float) -> int:
    """Return an order as an integer. Raises ValueError if it is not one, or too high."""
    if order < 0 or order != int(order):
        raise ValueError("the order of a derivative is a non-negative integer")
    if order > HIGHEST_ORDER:
        raise ValueError(f"derivatives of an order above {HIGHEST_ORDER} are not computed")
    return int(order)


def digits_text(x: Number, digits: int, **layout: Any) -> str:
    """Return a number of mpmath with so many significant digits, laid out as `nstr` says."""
    with x.context.workdps(digits + 10):
        # Python writes no integers of over 4,300 digits
        return str(x.context.nstr(+x, digits, **layout))


def polygamma_below_zero(m: NumberType, n: Number, x: Number) -> Number:
    """Return polygamma(n, x) for x < 0, by sums over the poles on either side (DLMF 5.15.6)."""
    low = m.floor(x)
    right, left = m.polygamma(n, x - low), m.polygamma(n, low + 1 - x)
    if whole_order(float(n)) % 2:
        return right + left - m.polygamma(n, 1 - x)
    return right - left + m.polygamma(n, 1 - x)


class Refusal(AutodiffError):
    """A limitation of a number type: the kind of error, the message, and a hint."""

    def __init__(self, kind: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint


# The kind of error that more digits may resolve.
UNDECIDED = "undecided"


def undecided(message: str) -> Refusal:
    """Return the error for an enclosure that is too wide to continue."""
    return Refusal(
        UNDECIDED, message, "move the point away from the kink or the edge of the domain"
    )


class Undecided:
    """An undecided comparison, which raises `Refusal` when it is used."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __bool__(self) -> bool:
        raise undecided(self.message)


# Errors of an operation without a value or a rule without a derivative.
NO_RESULT = (Refusal, ValueError, ArithmeticError)


def _comparison(relation: Callable[[Any, Any], Any], question: str) -> Any:
    def compared(self: Any, other: Any) -> Any:
        return self._compared(other, relation, question)

    return compared


class Compared:
    """Comparisons by `_compared(other, relation, question)`, where `question` is for messages."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    _compared: Callable[..., Any]

    __eq__ = _comparison(operator.eq, "equal to")
    __ne__ = _comparison(operator.ne, "equal to")
    __lt__ = _comparison(operator.lt, "less than")
    __le__ = _comparison(operator.le, "greater than")
    __gt__ = _comparison(operator.gt, "greater than")
    __ge__ = _comparison(operator.ge, "less than")


class Operators:
    """Operators derived from sums, products, quotients and the negative."""

    __slots__ = ()
    m: Any
    __add__: Any
    __mul__: Any
    __truediv__: Any

    def __radd__(self, other: Number) -> Any:
        return self.__add__(other)

    def __rmul__(self, other: Number) -> Any:
        return self.__mul__(other)

    def __sub__(self, other: Number) -> Any:
        return self.__add__(-other)

    def __rsub__(self, other: Number) -> Any:
        return (-self).__add__(other)  # type: ignore[operator]

    def __rtruediv__(self, other: Number) -> Any:
        return self.m.number(other).__truediv__(self)

    def __pow__(self, other: Number) -> Any:
        return self.m.pow(self, other)

    def __rpow__(self, other: Number) -> Any:
        return self.m.pow(other, self)


class Valued(Compared, Operators):
    """A number with more than its plain value `x`, which alone is compared."""

    __slots__ = ()
    x: Any

    def __str__(self) -> str:
        return str(self.x)

    def __float__(self) -> float:
        return float(self.x)

    def __int__(self) -> int:
        return int(self.x)

    def __abs__(self) -> Any:
        return self.m.abs(self)

    def _compared(self, other: Any, relation: Callable[[Any, Any], Any], question: str) -> Any:
        return bool(relation(self.x, other.x if isinstance(other, Valued) else other))


def _operator(name: str) -> tuple[Any, Any]:
    def operation(self: Any, other: Number) -> Any:
        return self.m.step(name, self, other)

    def reflected(self: Any, other: Number) -> Any:
        return self.m.step(name, other, self)

    return operation, reflected


class OperatorNumber:
    """A number whose operators are steps of its type, `m`, by their table names."""

    __slots__ = ()
    m: Any

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")
    __pow__, __rpow__ = _operator("pow")

    def __neg__(self) -> Any:
        return self.m.step("neg", self)


class NumberType:
    """A type of number: functions by name (`m.sin`, `m.pow`, `m.where`) for the table's rules.

    Functions that the type lacks are composed of others, by `DEFINITIONS`. A rule combines numbers
    with `+ - * / **` and whole literals, compares with `m.lt(x, 0)` and chooses with `m.where`,
    never with Python's `if`: types may not know values yet.
    """

    name: str
    range: str = "a double-precision number"
    """The range that overflow messages name."""
    has_values = False
    """Whether the outcome of a comparison is known."""
    may_stay_open = False
    """Whether `eq` and `and_` take what is undecided, and leave it so until it is asked for."""
    derivative: str = "derivative"
    """What messages call the result of a sweep."""
    tolerance: Number = 0
    """The largest relative difference of two computations of a number."""
    nothing: Number = None
    """A structural zero, for an input without influence."""
    accurate: Mapping[str, Callable[..., Number]] = ACCURATE
    """Formulas that a type with values takes before the definitions of the table."""

    add: Any = staticmethod(operator.add)
    sub: Any = staticmethod(operator.sub)
    mul: Any = staticmethod(operator.mul)
    div: Any = staticmethod(operator.truediv)
    lt: Any = staticmethod(operator.lt)
    le: Any = staticmethod(operator.le)
    gt: Any = staticmethod(operator.gt)
    ge: Any = staticmethod(operator.ge)
    eq: Any = staticmethod(operator.eq)
    ne: Any = staticmethod(operator.ne)
    not_: Any = staticmethod(operator.not_)
    and_: Any = staticmethod(lambda p, q: p and q)
    or_: Any = staticmethod(lambda p, q: p or q)

    def number(self, x: Number) -> Number:
        """Return a whole number or a float as a number of this type."""
        raise TypeError(f"{self.name} numbers are not made from {x!r}")

    def literal(self, text: str) -> Number:
        """Return the number that a literal such as `0.1` or `1e-3` denotes."""
        raise TypeError(f"{self.name} numbers are not read from text")

    def where(self, condition: Any, then: Any, otherwise: Any) -> Number:
        """Return the chosen branch; a lambda delays its evaluation."""
        chosen = then if condition else otherwise
        return chosen() if callable(chosen) else chosen

    def charge_operations(self, operations: int) -> None:
        """Charge sums and products as work. Raises `BudgetExceeded`."""

    def is_finite(self, x: Number) -> bool:
        """Return whether `x` is neither infinite nor undefined."""
        return True

    def same(self, x: Number, y: Number) -> bool:
        """Return whether two computations of a number agree, to the type's precision."""
        return bool(
            x == y or (self.tolerance and abs(x - y) <= self.tolerance * max(abs(x), abs(y)))
        )

    def measured(self, x: Number, unit: Unit) -> Number:
        """Return a number with a unit in coherent SI units."""
        product = x * self.number(unit.scale.numerator) / self.number(unit.scale.denominator)
        return (
            product * self.pow(self.literal("pi"), self.number(int(unit.pi)))
            if unit.pi
            else product
        )

    def definition(self, name: str) -> Callable[..., Number]:
        """Return a formula of other functions. Raises AttributeError if there is none."""
        composed = (self.has_values and self.accurate.get(name)) or DEFINITIONS.get(name)
        if composed is None:
            raise AttributeError(f"{self.name} numbers have no {name!r}")
        bounds = OPERATIONS[name].bounds
        several = len(OPERATIONS[name].params) > 1
        if not (self.has_values and (bounds.ordered or (several and bounds.bounds))):
            return composed

        def checked(m: NumberType, *inputs: Number) -> Number:
            out = composed(m, *inputs)
            check_domain(bounds, inputs)  # a composed formula may not check the order, or a sign
            return out

        return checked

    def __getattr__(self, name: str) -> Any:
        definition = self.definition(name)

        def function(*args: Number) -> Number:
            return definition(self, *args)

        self.__dict__[name] = function
        return function


class Lifted(NumberType):
    """Numbers over those of a base type: `lift` extends each of its functions."""

    def __init__(self, base: NumberType, name: str) -> None:
        self.base = base
        self.name = name
        self.range = base.range

    @property
    def pi(self) -> Number:
        return self.number(self.base.pi)

    def __getattr__(self, name: str) -> Any:
        primitive = PRIMITIVES.get(name)
        if primitive is None or not primitive.params or primitive.gives_condition:
            return super().__getattr__(name)
        function = self.__dict__[name] = self.lift(primitive)
        return function

    def lift(self, primitive: Primitive) -> Callable[..., Number]:
        """Return the function on such numbers."""
        raise TypeError(f"{self.name} numbers do not say what is added to {primitive.name!r}")
