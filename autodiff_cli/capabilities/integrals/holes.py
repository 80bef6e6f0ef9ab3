"""Removable singularities: quotients of an integrand that are 0/0 at an end."""

from __future__ import annotations

from ...engine.algebra.exact_constants import ExactConstants, UndecidedSign
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.algebra.walk import rebuild, rewrite, substitute
from ...engine.graphs.value import Value, in_order, node
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.table.operators import DIV, VARIABLE
from ...errors import ExpressionError
from .ends import IntegralEnd
from .quadrature import Hole, Quadrature

# The highest order of a zero that is looked for; nearly all are of order 1 or 2.
MAX_ORDER = 4


def fill_hole(quadrature: Quadrature, place: IntegralEnd, name: str) -> None:
    """Give a quadrature enclosures around a place where quotients of its integrand are 0/0."""
    at = place.formula
    if at is None or quadrature.has_value(quadrature.value(at)):
        return
    parts: list[Value] = []

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        pair = _ratio_of_slopes(value._prev, at, name) if value.primitive is DIV else None
        if pair is None:
            return rebuild(value, inputs)
        parts.extend(value._prev)
        return node(DIV, pair)

    (formula,) = rewrite((quadrature.integrand,), rule)
    if parts:
        quadrature.holes.append(Hole(at, parts, formula))


def _ratio_of_slopes(
    pair: tuple[Value, ...], place: Value, name: str
) -> tuple[Value, Value] | None:
    """Return the first derivatives of two formulas of which the second is not 0 at a place; None
    unless both were.
    """
    top, bottom = pair
    for order in range(MAX_ORDER + 1):
        zeros = _is_zero(top, place, name), _is_zero(bottom, place, name)
        if zeros[1] is False:
            return (top, bottom) if order else None
        if zeros != (True, True):
            return None
        try:
            top, bottom = _slope(top, name), _slope(bottom, name)
        except ExpressionError:
            return None
    return None


def _slope(formula: Value, name: str) -> Value:
    leaf = next(
        (v for v in in_order((formula,)) if v.primitive is VARIABLE and v.label == name), None
    )
    if leaf is None:
        raise ExpressionError("domain", "a constant", None, None)
    (slope,) = derivatives(formula, [leaf], 1).values()
    return slope


def _is_zero(formula: Value, place: Value, name: str) -> bool | None:
    """Return whether a formula is 0 at a place; None if that is not proven."""
    constants = ExactConstants()
    at = substitute(
        formula, lambda v: place if v.primitive is VARIABLE and v.label == name else None
    )
    try:
        sign = constants.sign(constants.number(evaluate_in(constants, at, {}).value))
    except (ExpressionError, UndecidedSign, TypeError, AttributeError, *NO_RESULT):
        return None
    return sign == 0 if constants.confirmed else None
