"""How well equations hold at a point in doubles: residuals, their rounding errors, and those of a solution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ExpressionError
from ..graphs.value_and_gradient import evaluate_in
from ..inputs.problem import Problem
from ..numbers.base import Number, NumberType
from ..numbers.floats import REAL
from ..numbers.running_error import RUNNING, UNIT, Bounded
from ..numerics.linear_algebra import Matrix, inverse
from ..numerics.newton import System

TOUCHED = 64
"""How many times its rounding error the value at a place may be that counts as one where 0 is touched."""


def system(m: NumberType, problem: Problem, values: Mapping[str, Number], multiplicity: int = 1) -> System:
    """Return the equations in a number type for Newton's method, at these values of the other variables.

    Towards a multiple root, Newton's steps are as many times too short as its multiplicity.
    """

    def values_and_rows(point: list[Any]) -> tuple[list[Any], Matrix]:
        here = {**values, **dict(zip(problem.unknowns, point, strict=True))}
        swept = evaluate_in(m, problem.program.outputs, here, problem.unknowns)
        return [multiplicity * x for x in swept.values], swept.jacobian(problem.unknowns)[0]

    return values_and_rows


def rounding_errors(problem: Problem, at: Mapping[str, float], *, own: bool = True) -> list[float]:
    """Return how far rounding may have put each output off at a point; with `own`, the rounding of the unknowns too."""
    values = {
        name: Bounded(x, UNIT * abs(x) if own and name in problem.unknowns else 0.0)
        for name, x in {**problem.values, **at}.items()
    }
    errors = []
    for output in problem.program.outputs:
        try:
            (value,) = evaluate_in(RUNNING, [output], values, ()).values
            error = RUNNING.number(value).error
        except (ExpressionError, ArithmeticError):
            error = math.inf
        errors.append(error if math.isfinite(error) else 0.0)
    return errors


def residuals(problem: Problem, at: Mapping[str, float]) -> tuple[list[float], list[list[float]] | None]:
    """Return the outputs at a solution, and their derivatives by the unknowns, None where there are none."""
    values: dict[str, Number] = {**problem.values, **at}
    swept = evaluate_in(REAL, problem.program.outputs, values, problem.unknowns)
    left = [float(x) + 0.0 for x in swept.values]
    try:
        rows, _ = swept.jacobian(problem.unknowns)
    except ExpressionError:
        return left, None
    return left, [[float(x) for x in row] for row in rows]


def solution_errors(
    problem: Problem, at: Mapping[str, float], left: Sequence[float], rows: Sequence[Sequence[float]] | None
) -> dict[str, float] | None:
    """Return how far each unknown may be off: |F_u⁻¹| times what is left of the equations and their rounding errors.

    `left` and `rows` are the residuals. None where the derivative cannot be distinguished from a singular one.
    """
    inverted = None if rows is None else inverse(rows)
    if inverted is None or rows is None:
        return None
    off = [abs(r) + error for r, error in zip(left, rounding_errors(problem, at), strict=True)]
    errors = {
        name: math.fsum(abs(a) * b for a, b in zip(line, off, strict=True))
        for name, line in zip(at, inverted, strict=True)
    }
    # a multiple root is known to half its digits: there a change within the error changes the derivative by all of it
    if len(at) == 1 and rows[0][0]:
        ((name, x),) = at.items()
        for moved in (x - 2 * errors[name], x + 2 * errors[name]):
            slope = _slope(problem, name, moved)
            if slope is not None and (slope > 0) != (rows[0][0] > 0):
                return None
    size = max((abs(x) for x in at.values()), default=0.0) or 1.0
    return errors if all(error <= 1e-3 * max(abs(at[name]), 1e-6 * size) for name, error in errors.items()) else None


def _slope(problem: Problem, name: str, x: float) -> float | None:
    try:
        rows = residuals(problem, {name: x})[1]
    except ExpressionError:
        return None
    return None if rows is None else rows[0][0]
