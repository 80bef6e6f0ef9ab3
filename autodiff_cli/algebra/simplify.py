"""Simplifier: shorter graphs of the same function, by rules that hold for every real input in the domain.

Sums are collected by like terms and products by like bases, with exact rational coefficients and exponents; the rows of
the table say what else is known of single functions. Never used are rules that hold for some inputs only: (a²)^½ is
not a.
A shared part is taken into a sum or product only if it is short, so the graph does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graphs.value import Value
from ..table.names import by_name
from ..table.operators import POW
from ..table.primitive import Primitive
from ..table.primitives import LOG
from .branch_elimination import without_dead_branches
from .canonical import HALF, ONE, Boolean, Canonicalizer, Form, FormRule, Number, Product, RuleNotApplicable, negated
from .symbolic import by_definition
from .walk import rebuilt, rewritten, shapes

ROUNDS = 8


def simplify(outputs: Sequence[Value], *, spell: bool = True) -> list[Value]:
    """Simplify graphs; shared nodes stay shared, and the leaves are the same objects.

    With `spell`, internal stable forms are spelled in functions of the language. The result is a fixed point.
    """
    formulas = list(outputs)
    before: list[int] = []
    numbers: dict[tuple[object, ...], int] = {}
    for _ in range(ROUNDS):
        spelled = rewritten(formulas, _spelled) if spell else formulas
        formulas = Canonicalizer(spelled, FORMS, declared_identity).outputs()
        shape = shapes(formulas, numbers)
        if shape == before:
            break
        before = shape
        formulas = without_dead_branches(formulas)
    return formulas


def _spelled(value: Value, inputs: tuple[Value, ...]) -> Value:
    value = rebuilt(value, inputs)
    definition = by_definition(value) if inputs else value
    if definition is value:
        return value
    parts = {p: p for p in inputs}  # a definition is walked no further
    (root,) = rewritten((definition,), lambda v, ps: (rebuilt if v is definition else _spelled)(v, ps), parts)
    return _spelled(root, root._prev)


# ---- the rules ----------------------------------------------------------------------------------------------------
def _where(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
    condition, x, y = inputs
    if isinstance(condition, Boolean):
        return x if condition.value else y
    then, otherwise = p.node_of(x), p.node_of(y)
    return x if then is otherwise else p.node(value.primitive, p.node_of(condition), then, otherwise)


def _junction(neutral: bool) -> FormRule:
    def rule(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
        a, b = inputs
        if isinstance(a, Boolean):
            return b if a.value == neutral else a
        if isinstance(b, Boolean) and b.value == neutral:
            return a
        return a if a is b else p.opaque(value.primitive, inputs)

    return rule


def _pow(p: Canonicalizer, value: Value, inputs: list[Form]) -> Form:
    x, y = inputs
    if isinstance(y, Number):
        return p.raised(value._prev[0], x, y.value)
    return p.opaque(POW, inputs)


FORMS: dict[str, FormRule] = by_name({
    "add": lambda p, v, f: p.sum(((ONE, v._prev[0], f[0]), (ONE, v._prev[1], f[1]))),
    "sub": lambda p, v, f: p.sum(((ONE, v._prev[0], f[0]), (-ONE, v._prev[1], f[1]))),
    "sum": lambda p, v, f: p.sum(zip([ONE] * len(f), v._prev, f, strict=True)),
    "neg": lambda p, v, f: p.product(((ONE, None, Number(-ONE)), (ONE, v._prev[0], f[0]))),
    "mul": lambda p, v, f: p.product(((ONE, v._prev[0], f[0]), (ONE, v._prev[1], f[1]))),
    "prod": lambda p, v, f: p.product(zip([ONE] * len(f), v._prev, f, strict=True)),
    "div": lambda p, v, f: p.product(((ONE, v._prev[0], f[0]), (-ONE, v._prev[1], f[1]))),
    "pow": _pow,
    "sqrt": lambda p, v, f: p.raised(v._prev[0], f[0], HALF),
    "where": _where,
    "and_": _junction(True),
    "or_": _junction(False),
})  # fmt: skip
"""Operations that are collected, and choices: rules that look at all inputs."""


def declared_identity(p: Canonicalizer, primitive: Primitive, inputs: Sequence[Form]) -> Form:
    """Return the identity that a function's row declares, valid in its whole domain. Raises `RuleNotApplicable`."""
    if len(inputs) != 1:
        raise RuleNotApplicable
    value = inputs[0]
    if isinstance(value, Value):
        if value.primitive.inverse == primitive.name:
            return p.forms.get(value._prev[0], value._prev[0])
        if primitive is LOG and value.source == "e":
            return Number(ONE)
        if primitive.even and value.primitive.norm and len(value._prev) == 1:
            return p.opaque(primitive, (p.forms.get(value._prev[0], value._prev[0]),))
    mirrored = negated(p, value) if primitive.odd or primitive.even else None
    if mirrored is None:
        raise RuleNotApplicable
    result = p.opaque(primitive, (mirrored,))
    return Product(-ONE, {result: ONE}) if primitive.odd else result
