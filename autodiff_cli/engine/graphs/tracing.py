"""Values that record a function, with the comparisons that it made, so that the recording can take
its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, NoReturn

from ..numbers.base import Number
from ..table.operators import COMPARISONS, EQ, NE
from .value import OPERATIONS, Value, as_value, is_array


class RecordedComparison(NamedTuple):
    """A comparison that a function made: a recording stands for it where the comparison comes out
    so again.
    """

    compare: Callable[[float, float], bool]
    operands: tuple[Value, Value]
    truth: bool


class Traced(Value):
    """A Value whose number cannot be read, as a function of it may not depend on the number but by
    operations.

    Comparisons are answered by the number that it has while the function is recorded, and are kept.
    """

    __slots__ = ("comparisons", "inner")

    inner: Value
    """The node of the recording."""
    comparisons: list[RecordedComparison]

    def __init__(self, inner: Value, comparisons: list[RecordedComparison]) -> None:
        self.inner, self.comparisons = inner, comparisons

    def __getattr__(self, name: str) -> NoReturn:
        if name not in Value.__slots__:
            raise AttributeError(name)  # libraries ask for their methods
        raise TypeError(
            f"a function with `jit=True` cannot read `{name}` of a Value, which may differ in the"
            " next call: leave `jit` out"
        )

    def __repr__(self) -> str:
        return "Traced()"

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else format(self.data, spec)


def inner_of(x: Any) -> Any:
    """Return the node of a traced Value; another operand as it is."""
    return x.inner if type(x) is Traced else x


def applied(operation: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Return an operation on operands some of which are traced."""
    comparisons = next(x.comparisons for x in operands if type(x) is Traced)
    result = operation(*map(inner_of, operands))
    return Traced(result, comparisons) if isinstance(result, Value) else result


def _operation(name: str) -> Callable[..., Any]:
    operation = getattr(Value, name)

    @wraps(operation)
    def method(self: Traced, *operands: Any) -> Any:
        return applied(operation, (self, *operands))

    return method


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Traced, Value | Number], bool]:
    def method(self: Traced, other: Value | Number) -> bool:
        if is_array(other):
            return NotImplemented  # type: ignore[no-any-return]
        first, second = self.inner, as_value(inner_of(other))
        truth = bool(compare(first.data, second.data))
        self.comparisons.append(RecordedComparison(compare, (first, second), truth))
        return truth

    return method


for _name in OPERATIONS:
    setattr(Traced, _name, _operation(_name))
for _compared in COMPARISONS.values():
    if _compared not in (EQ, NE):  # which ask whether two Values are the same object
        setattr(Traced, f"__{_compared.name}__", _comparison(getattr(operator, _compared.name)))
