"""Forms: which rows of the table have derivatives so plain that a sweep in doubles writes them out.

They are read off the rows, once: a rule that says anything else is applied like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..numbers.floats import REAL
from ..table import primitives as primitives
from ..table.primitive import PRIMITIVES, Primitive

SUM, DIFFERENCE, PRODUCT, QUOTIENT = "sum", "difference", "product", "quotient"
NEGATION, POWER = "negation", "power"

_FUNCTIONS: dict[Callable[..., Any], tuple[str, tuple[str, ...]]] = {
    REAL.add: (SUM, ("1", "1")),
    REAL.sub: (DIFFERENCE, ("1", "-1")),
    REAL.mul: (PRODUCT, ("y", "x")),
    REAL.div: (QUOTIENT, ("1/y", "-out/y")),
    REAL.neg: (NEGATION, ("-1",)),
    REAL.pow: (POWER, ("y*power_minus_one(x,y,out)",)),
}
"""The form of each function, and its rules as they have to be; of a power the one by the base, for an exponent that is
not 0."""


class _Term(str):
    """What a rule says, written down."""

    __slots__ = ()

    def __mul__(self, other: object) -> _Term:
        return _Term(f"{self}*{other}")

    def __truediv__(self, other: object) -> _Term:
        return _Term(f"{self}/{other}")

    def __rtruediv__(self, other: object) -> _Term:
        return _Term(f"{other}/{self}")

    def __neg__(self) -> _Term:
        return _Term(f"-{self}")


class _Terms:
    """The number type of terms; an exponent is not 0."""

    def eq(self, x: object, y: object) -> bool:
        return False

    def and_(self, p: bool, q: bool) -> bool:
        return p and q

    def where(self, condition: bool, then: Any, otherwise: Any) -> Any:
        chosen = then if condition else otherwise
        return chosen() if callable(chosen) else chosen

    def power_minus_one(self, *inputs: object) -> _Term:
        return _Term(f"power_minus_one({','.join(map(str, inputs))})")


def form(primitive: Primitive) -> str | None:
    """The form of an operation; None where its function or its rules are others."""
    known = _FUNCTIONS.get(getattr(REAL, primitive.name, form))
    if known is None:
        return None
    name, rules = known
    inputs = [_Term(each) for each in ("x", "y", "out")]
    if len(primitive.params) == 1:
        del inputs[1]
    try:
        said = [str(rule(_Terms(), *inputs)) for rule in primitive.partials[: len(rules)] if rule]
    except (TypeError, AttributeError):
        return None
    return name if said == [*rules] else None


FORMS: dict[Primitive, str] = {p: found for p in PRIMITIVES.values() if p.params and (found := form(p))}
"""The form of each operation that has one."""
