"""What exercises about integrals, limits and implicit functions are answered by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...engine.algebra.rational_functions import vanishes
from ...engine.graphs.value import node
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.exact import EXACT
from ...engine.table.operators import SUB
from ...errors import ExpressionError
from ...questions.problem import parse
from ..formulas.diff import Diff, diff

APPROACHED = {"inf": "infinity", "-inf": "minus infinity"}
SIDES = {"+": " from the right", "-": " from the left"}


def is_antiderivative(formula: str, program: str, by: str) -> bool:
    """Return whether the derivative of a formula is proven to be a program."""
    (slope,) = diff(formula, wrt=[by]).derivatives
    return vanishes(node(SUB, (parse(slope.formula).outputs[0], parse(program).outputs[0])))


def exact_value(formula: str, point: Mapping[str, str]) -> Fraction:
    """Return the value of a formula at a point of fractions. Raises `ExpressionError` if it is
    none.
    """
    value = value_in(
        EXACT, parse(formula).outputs[0], {name: Fraction(x) for name, x in point.items()}
    )
    if not isinstance(value, Fraction):
        raise ExpressionError("domain", f"`{formula}` is no fraction there")
    return value


def exact_limit(program: str, by: str, to: str) -> Fraction:
    """Return the limit of a program if it is a fraction. Raises `ExpressionError`, or `ValueError`
    if it is none.
    """
    from ..limit.limit import limit  # only these exercises need it

    found = limit(program, {by: to})
    return Fraction(found.formula or "none")


def implicit_derivative(equation: str, by: str, unknown: str, *, steps: bool = False) -> Diff:
    """Return the derivative of the unknown of an equation. Raises `ExpressionError`."""
    from ..solve.implicit_formulas import implicit_diff  # only these exercises need it

    return implicit_diff(equation, unknowns=[unknown], wrt=[by], steps=steps)


def approached(to: str) -> str:
    """Return the place of a limit in words: "`0` from the right"."""
    if to in APPROACHED:
        return APPROACHED[to]
    side = SIDES.get(to[-1:], "")
    return f"`{to[: len(to) - bool(side)]}`{side}"
