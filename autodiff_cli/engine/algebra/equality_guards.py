"""Guards at single points, `where(x == 0, 0, x)`: the derivative is that of the function around
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...errors import ExpressionError
from ..graphs.value import Value, in_order, node
from ..table.operators import (
    ADD,
    AND,
    CONSTANT,
    DIV,
    EQ,
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    VARIABLE,
    WHERE,
)
from ..table.primitives import ABS
from .canonical import exact_value
from .simplify import simplify
from .walk import rebuild, rewrite, substitute, text_ids


class PointGuard(NamedTuple):
    """A choice at single points: the equation that holds there, the branch at them, and the one
    around them.
    """

    equation: Value
    at_point: Value
    around: Value


def guard_of(choice: Value) -> PointGuard | None:
    """Return the guard that a choice is, however its condition is spelled; None for another choice.

    `abs(x) > 0` and `x < 0 or x > 0` are `x != 0`, and of `where(x < 0, a, where(x > 0, b, c))` the
    last branch is taken at 0 alone.
    """
    if choice.primitive is not WHERE:
        return None
    condition, then, otherwise = choice._prev
    found = _equation(condition)
    if found is not None:
        equation, holds = found
        return (
            PointGuard(equation, then, otherwise)
            if holds
            else PointGuard(equation, otherwise, then)
        )
    if otherwise.primitive is not WHERE:
        return None
    other, inner, last = otherwise._prev
    sides = _joined(condition, other, "<>")
    return None if sides is None else PointGuard(sides, last, node(WHERE, (condition, then, inner)))


def _equation(condition: Value) -> tuple[Value, bool] | None:
    """Return the equation that a condition is, and True; or the one that it is the opposite of, and
    False.
    """
    if condition.primitive in (EQ, NE):
        return node(EQ, condition._prev), condition.primitive is EQ
    if condition.primitive is NOT:
        inner = _equation(condition._prev[0])
        return None if inner is None else (inner[0], not inner[1])
    if condition.primitive in (AND, OR):
        holds = condition.primitive is AND
        one, other = condition._prev
        joined = _joined(one, other, "=" if holds else "<>")
        return None if joined is None else (joined, holds)
    return _about_size(condition)


def _joined(one: Value, other: Value, letters: str) -> Value | None:
    """Return the equation of two sides that are compared twice, in orders whose common or joined
    part is `letters`.
    """
    if not one.primitive.holds or not other.primitive.holds:
        return None
    ids = text_ids([*one._prev, *other._prev], {})
    signs, others = {*one.primitive.holds}, {*other.primitive.holds}
    if ids[:2] == ids[:1:-1] and ids[0] != ids[1]:
        others = {*other.primitive.holds.translate(MIRRORED)}
    elif ids[:2] != ids[2:]:
        return None
    joined = signs & others if letters == "=" else signs | others
    return node(EQ, one._prev) if joined == {*letters} and "=" not in signs ^ others else None


def _about_size(condition: Value) -> tuple[Value, bool] | None:
    """Return the equation behind a comparison of 0 with a number that is never negative."""
    signs = condition.primitive.holds
    if not signs:
        return None
    size, zero = condition._prev
    if exact_value(size) == 0:
        size, zero, signs = zero, size, signs.translate(MIRRORED)
    base = _base_of_size(size)
    if base is None or exact_value(zero) != 0 or ("=" in signs) == (">" in signs):
        return None
    return node(EQ, (base, zero)), "=" in signs


def _base_of_size(value: Value) -> Value | None:
    """Return what is 0 exactly where an absolute value or an even power is; None for another
    number.
    """
    if value.primitive is ABS:
        return value._prev[0]
    if value.primitive is not POW:
        return None
    exponent = exact_value(value._prev[1])
    return value._prev[0] if exponent is not None and exponent > 0 and exponent % 2 == 0 else None


MIRRORED = str.maketrans("<>", "><")


def without_equality_guards(output: Value, applies: Callable[[Value, Value], bool]) -> Value:
    """Return the graph without guards `u == v` that agree there with their other branch; the same
    if it has none.

    They are one function wherever the other branch has a value. `applies` takes a guard's condition
    and that branch.
    """

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        own = rebuild(value, inputs)
        guard = guard_of(own)
        if guard is None or not applies(guard.equation, guard.around) or not agree(*guard):
            return own
        return guard.around

    if not any(guard_of(value) for value in in_order((output,))):
        return output
    return rewrite((output,), rule)[0]


def is_total(condition: Value, around: Value) -> bool:
    """Return whether the other branch of a guard has a value everywhere."""

    def fixed(value: Value) -> list[float | None]:
        return [p.data if p.primitive is CONSTANT else None for p in value._prev]

    return all(
        value.primitive.defined(fixed(value)) for value in in_order((around,)) if value._prev
    )


def agree(condition: Value, one: Value, other: Value) -> bool:
    """Return whether two formulas are known to be equal where an equality holds."""
    return agreement(condition, one, other) is True


def agreement(condition: Value, one: Value, other: Value) -> bool | None:
    """Return whether two formulas are equal, by substitution, where an equality holds.

    None where that isolates no variable, or a formula has no value there.
    """
    isolated = solved(*condition._prev) or solved(*condition._prev[::-1])
    if isolated is None:
        return None
    name, value = isolated
    try:
        difference = node(SUB, (one, other))
        (rest,) = simplify(
            (substitute(difference, lambda v: value if v is name else None),), spell=False
        )
    except ExpressionError:  # no value there
        return None
    return not rest._prev and rest.data == 0


def solved(left: Value, right: Value) -> tuple[Value, Value] | None:
    """Return a variable and its value where the sides are equal; None if the left one is more than
    a sum with it.
    """
    waiting = [(left, right)]
    while waiting:
        left, right = waiting.pop()
        if left.primitive is VARIABLE and left not in in_order((right,)):
            return left, right
        waiting += _isolated(left, right)[::-1]
    return None


def _isolated(left: Value, right: Value) -> list[tuple[Value, Value]]:
    """Return equations of the operands of a sum, or of a multiple by a number that is not 0."""
    if left.primitive is NEG:
        return [(left._prev[0], node(NEG, (right,)))]
    if left.primitive not in (ADD, SUB, MUL, DIV):
        return []
    x, y = left._prev
    if left.primitive is ADD:
        return [(x, node(SUB, (right, y))), (y, node(SUB, (right, x)))]
    if left.primitive is SUB:
        return [(x, node(ADD, (right, y))), (y, node(SUB, (x, right)))]
    opposite = DIV if left.primitive is MUL else MUL
    equations = [(x, node(opposite, (right, y)))] if exact_value(y) else []
    if left.primitive is MUL and exact_value(x):
        equations.append((y, node(DIV, (right, x))))
    return equations
