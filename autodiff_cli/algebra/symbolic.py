"""SYMBOLIC: Values themselves as a number type, so that a rule of the table gives the graph of the derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..graphs.value import Value, apply, constant, node, variable
from ..numbers.base import Number, NumberType
from ..table.operators import LE, LT, WHERE
from ..table.primitive import DEFINITIONS, PRIMITIVES, Primitive
from .walk import substituted


def as_node(x: Any) -> Value:
    """A Value as it is, a number as a constant."""
    return x if isinstance(x, Value) else constant(x)


class Symbolic(NumberType):
    """Values: every operation makes a node, by `make_node`."""

    name = "symbolic"

    def __init__(self, make_node: Callable[..., Value] = apply) -> None:
        self.make_node = make_node
        for name, primitive in PRIMITIVES.items():
            if name != "where":
                self.__dict__[name] = partial(make_node, primitive)

    @property
    def pi(self) -> Value:
        return constant(math.pi, "pi")

    @property
    def nothing(self) -> Value:
        # every sweep takes a literal 0 for a structural zero
        return constant(0.0, "0")

    def number(self, x: Number) -> Value:
        return constant(x)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Value:
        """The node that chooses between two branches; both are in the graph."""
        branches = [branch() if callable(branch) else branch for branch in (then, otherwise)]
        return self.make_node(WHERE, condition, *branches)


SYMBOLIC = Symbolic()
UNEVALUATED = Symbolic(lambda primitive, *inputs: node(primitive, tuple(map(as_node, inputs))))
"""Values of which none is computed."""


def truth(holds: bool) -> Value:
    """A condition that always holds, or never."""
    zero = constant(0.0, "0")
    return node(LE if holds else LT, (zero, zero))


def by_definition(value: Value, always: bool = False) -> Value:
    """The node written in functions of the language, where its own operation is not one; or `always`."""
    if always or not is_spelled(value.primitive):
        return composed(SYMBOLIC, value.primitive, value._prev)  # type: ignore[no-any-return]
    return value


def composed(m: NumberType, operation: Primitive, inputs: Sequence[Value]) -> Any:
    """Return an operation expanded by its definition; a list of Values for an operation that returns several.

    Nothing is evaluated, for what is written need not have a value: `log1p(-2)`, `(1e200*x)**2`.
    """
    fixed = {operation.params.index(name) for name in operation.constant_params}
    places = [x.data if k in fixed else variable("") for k, x in enumerate(inputs)]
    result = DEFINITIONS[operation.name](m, *places)
    values = {place: x for place, x in zip(places, inputs, strict=True) if isinstance(place, Value)}
    roots = result if isinstance(result, list) else [result]
    written = [substituted(root, values.get) if isinstance(root, Value) else root for root in roots]
    return written if isinstance(result, list) else written[0]


def is_spelled(primitive: Primitive) -> bool:
    """Whether the language has a spelling for the operation."""
    return bool(primitive.group) or primitive.name not in DEFINITIONS or bool(primitive.spelling)
