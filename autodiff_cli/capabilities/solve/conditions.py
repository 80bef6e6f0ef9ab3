"""Conditions under which formulas are solutions: what holds always, never, or where others do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from ...engine.algebra.canonical import exact_value
from ...engine.algebra.rewriting import shorten
from ...engine.algebra.simplify import simplify
from ...engine.graphs.value import Value, constant, node
from ...engine.table.operators import CONSTANT, DIV, EQ, GE, GT, MUL, NE, NEG, POW, WHERE
from ...engine.table.primitive import Primitive
from ...engine.table.primitives import EXP, LOG, SQRT
from ...language.printer import expression_text

ZERO, ONE = constant(0.0, "0"), constant(1.0, "1")


def conditions_of(conditions: Sequence[Value]) -> tuple[bool, str | None]:
    """Return whether comparisons can hold, and the text of the undecided ones, without those that
    others imply.
    """
    undecided: dict[str, Value] = {}
    possible = True
    for condition in (factor for compound in conditions for factor in _factors(compound)):
        holds = _always(condition)
        possible = possible and holds is not False
        if holds is None:
            undecided.setdefault(expression_text(condition), condition)
    nonzero = {text for condition in undecided.values() for text in _nonzero_where(condition)}
    possible = possible and not _zeros(undecided, EQ) & (nonzero | _zeros(undecided, NE))
    texts = [
        text
        for text, condition in undecided.items()
        if not _is_implied(condition, undecided, nonzero)
    ]
    return possible, " and ".join(texts) or None


def _zeros(conditions: Mapping[str, Value], relation: Primitive) -> set[str]:
    """Return the texts of what comparisons with 0 by a relation are about."""
    comparisons = (
        condition for condition in conditions.values() if condition.primitive is relation
    )
    return {
        expression_text(condition._prev[0])
        for condition in comparisons
        if _is_zero(condition._prev[1])
    }


def _always(condition: Value) -> bool | None:
    """Return whether a comparison holds for all values of its variables, or for none; None if
    undecided.
    """
    left, right = map(number_of, condition._prev)
    if left is not None and right is not None:
        return "<=>"[(left > right) - (left < right) + 1] in condition.primitive.holds
    decided = exact_value(simplify((node(WHERE, (condition, ONE, ZERO)),))[0])
    return None if decided is None else decided == 1


def _is_implied(condition: Value, others: Collection[str], nonzero: Collection[str]) -> bool:
    """Return whether another comparison implies one."""
    primitive, (left, right) = condition.primitive, condition._prev
    if primitive is NE and _is_zero(right):
        return expression_text(left) in nonzero
    return primitive is GE and expression_text(node(GT, (left, right))) in others


def _nonzero_where(condition: Value) -> Iterator[str]:
    """Yield the texts of what is not 0 where a comparison holds."""
    left, right = condition._prev
    end = number_of(right)
    is_apart = condition.primitive is GT and end is not None and end >= 0
    if not is_apart and not (condition.primitive is GE and end is not None and end > 0):
        return
    waiting = [left]
    while waiting:
        value = waiting.pop()
        yield expression_text(value)
        if value.primitive in (MUL, DIV, NEG):
            waiting += value._prev


def _factors(condition: Value) -> Iterator[Value]:
    """Yield comparisons that hold together where one does: `a*b**2 != 0` is `a != 0 and b != 0`."""
    inner, right = simplest(condition._prev[0]), condition._prev[1]
    if not _is_zero(right):
        yield node(condition.primitive, (inner, right))
        return
    if condition.primitive is NE:
        yield from _nonzero_factors(inner)
        return
    while inner.primitive in (NEG, MUL, DIV):
        factors = [part for part in inner._prev if number_of(part) is None]
        if len(factors) != 1 or factors[0] is not inner._prev[0 if inner.primitive is DIV else -1]:
            break
        is_negative = inner.primitive is NEG or any(
            (number_of(part) or 0) < 0 for part in inner._prev
        )
        if condition.primitive is not EQ and is_negative:
            break
        inner = factors[0]
    yield node(condition.primitive, (inner, right))


def _nonzero_factors(inner: Value) -> Iterator[Value]:
    """Yield the conditions under which a formula is not 0, where it has a value."""
    primitive, inputs = inner.primitive, inner._prev
    if (
        primitive is NEG
        or primitive is SQRT
        or (primitive is POW and (number_of(inputs[1]) or 0) > 0)
    ):
        yield from _factors(node(NE, (inputs[0], ZERO)))
    elif primitive in (MUL, DIV):
        for part in inputs if primitive is MUL else inputs[:1]:
            if number_of(part) != 0 and number_of(part) is not None:
                continue
            yield from _factors(node(NE, (part, ZERO)))
    elif primitive is LOG:
        yield node(NE, (inputs[0], ONE))
    elif primitive is not EXP:
        opposite = simplest(node(NEG, (inner,)))
        is_shorter = len(expression_text(opposite)) < len(expression_text(inner))
        yield node(NE, (opposite if is_shorter else inner, ZERO))


def _is_zero(value: Value) -> bool:
    return number_of(value) == 0


def simplest(value: Value) -> Value:
    """Return the shortest form of a formula."""
    return shorten(simplify((value,)))[0]


def number_of(value: Value) -> Fraction | None:
    """Return the value of a formula of numbers; doubles stand for `pi` and for numbers with
    units.
    """
    if value.primitive is NEG:
        inner = number_of(value._prev[0])
        return None if inner is None else -inner
    if value.primitive is DIV:
        above, below = map(number_of, value._prev)
        return above / below if above is not None and below else None
    number = exact_value(value)
    # the doubles of `pi` and of numbers with units have their signs
    is_constant = number is None and value.primitive is CONSTANT and isinstance(value.data, float)
    return Fraction(value.data) if is_constant else number
