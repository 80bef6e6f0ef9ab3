"""Values as a number type: rules of the table give graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ...errors import ExpressionError
from ..graphs.value import Value, apply, constant, in_order, node, variable
from ..numbers.base import Number, NumberType
from ..table.operators import CONSTANT, DIV, LE, LT, NEG, POW, SUB, WHERE
from ..table.primitive import DEFINITIONS, PRIMITIVES, Primitive
from .walk import has_variables, rebuild, rewrite, substitute


def as_node(x: Any) -> Value:
    """Return a Value unchanged, a number as a constant."""
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
        # sweeps take a literal 0 for a structural zero
        return constant(0.0, "0")

    def number(self, x: Number) -> Value:
        return constant(x)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Value:
        branches = [branch() if callable(branch) else branch for branch in (then, otherwise)]
        return self.make_node(WHERE, condition, *branches)


SYMBOLIC = Symbolic()
# Values without evaluation.
UNEVALUATED = Symbolic(lambda primitive, *inputs: node(primitive, tuple(map(as_node, inputs))))


def truth(holds: bool) -> Value:
    """Return a condition that always or never holds."""
    zero = constant(0.0, "0")
    return node(LE if holds else LT, (zero, zero))


def by_definition(value: Value, always: bool = False) -> Value:
    """Return the node in functions of the language: if its own is none, or `always`."""
    if always or not is_spelled(value.primitive):
        return expand_definition(SYMBOLIC, value.primitive, value._prev)  # type: ignore[no-any-return]
    return value


def to_language(
    value: Value,
    inputs: tuple[Value, ...],
    always: Callable[[Primitive], bool] = lambda primitive: False,
) -> Value:
    """Return a node on other inputs, in functions of the language."""
    value = rebuild(value, inputs)
    definition = by_definition(value, always(value.primitive)) if inputs else value
    if definition is value:
        return value
    parts = {p: p for p in inputs}  # a definition is walked no further
    own = partial(to_language, always=always)
    (root,) = rewrite(
        (definition,), lambda v, ps: (rebuild if v is definition else own)(v, ps), parts
    )
    return own(root, root._prev)


def expand_definition(m: NumberType, operation: Primitive, inputs: Sequence[Value]) -> Any:
    """Return the definition of an operation, perhaps a list of Values."""
    # Nothing is evaluated, as it may have no value: `log1p(-2)`, `(1e200*x)**2`.
    fixed = {operation.params.index(name) for name in operation.constant_params}
    places = [x.data if k in fixed else variable("") for k, x in enumerate(inputs)]
    result = DEFINITIONS[operation.name](m, *places)
    values = {place: x for place, x in zip(places, inputs, strict=True) if isinstance(place, Value)}
    roots = result if isinstance(result, list) else [result]
    written = [substitute(root, values.get) if isinstance(root, Value) else root for root in roots]
    return written if isinstance(result, list) else written[0]


def is_spelled(primitive: Primitive) -> bool:
    """Return whether the language has a spelling for an operation."""
    return bool(primitive.group) or primitive.name not in DEFINITIONS or bool(primitive.spelling)


# ---- local derivatives at a point: rules of the table on names with values
# The most inputs that formulas of partial derivatives list.
MAX_LISTED_INPUTS = 8


class AtPoint(Symbolic):
    """Values at a point: formulas of the branch taken."""

    name = "symbolic at a point"

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        if condition.data is None:
            return super().where(condition, then, otherwise)
        return NumberType.where(self, condition.data, then, otherwise)

    def power_minus_one(self, x: Value, y: Value, out: Value) -> Value:
        """Return x**(y - 1) as usually written: 2*x, not 2*x**1."""
        if y.primitive is not CONSTANT or y.label or y.data is None:
            return apply(POW, x, apply(SUB, y, 1))
        return x if y.data == 2 else apply(POW, x, constant(y.data - 1))


AT_POINT = AtPoint()


def local_partials(
    primitive: Primitive, inputs: tuple[Value, ...], name: str
) -> list[Value | None]:
    """Return the derivative by each input, in the inputs; None if none is short."""
    # No derivatives by literals: that by the exponent of (-2)**2 has no value.
    wanted = [k for k, x in enumerate(inputs) if x.label or x.primitive is not CONSTANT]
    formulas: list[Value | None] = [None] * len(inputs)
    # Unlike the rule, its formula may fail step by step: then it is left unevaluated.
    without_values = tuple(
        [x if not x.label or x.primitive is CONSTANT else variable(x.label) for x in inputs]
    )
    for values in (inputs, without_values):
        out, failed = apply(primitive, *values), []
        together = _all_partials(primitive, values, out, wanted)
        for k in wanted:
            try:
                slope = together[k] if together else _partial(primitive, values, out, name, k)
            except ExpressionError:
                failed.append(k)
            else:
                formulas[k] = None if slope is None else _fold(slope)
        if not (wanted := failed):
            break
    return formulas


def _all_partials(
    primitive: Primitive, inputs: tuple[Value, ...], out: Value, wanted: list[int]
) -> list[Any] | None:
    """Return the derivatives by many inputs at once, in time linear in them; None if they are few,
    or one has none.
    """
    if len(inputs) > MAX_LISTED_INPUTS and not primitive.by_output:
        active = [False] * len(inputs)
        for k in wanted:
            active[k] = True
        with suppress(ExpressionError):
            return primitive.slopes(AT_POINT, inputs, out, active)
    return None


def _partial(primitive: Primitive, inputs: tuple[Value, ...], out: Value, name: str, k: int) -> Any:
    if primitive is DIV:
        x, y = inputs
        # The usual form; the rule's -(x/y)/y avoids squares, which may overflow.
        return apply(DIV, apply(NEG, x), apply(POW, y, 2)) if k else apply(DIV, 1, y)
    if len(inputs) <= MAX_LISTED_INPUTS or not primitive.by_output:
        return primitive.slopes(AT_POINT, inputs, out, [j == k for j in range(len(inputs))])[k]
    leaf = variable(name)
    leaf.data = out.data
    with suppress(ExpressionError):
        return primitive.by_output(AT_POINT, inputs[k], leaf)
    return None  # 0/0 at the point: no short formula


def _fold(partial: Value | Number) -> Value:
    if not isinstance(partial, Value):
        return constant(partial)
    if partial.data is None or not partial._prev or has_variables(partial):
        return partial
    # 1/3 stays; a sum of constants, 1/sum(1, 1), becomes a number.
    short = len(in_order((partial,))) <= 3 and partial.data != int(partial.data)
    return partial if short else constant(partial.data)
