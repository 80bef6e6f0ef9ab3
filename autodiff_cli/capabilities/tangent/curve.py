"""Tangent and normal of a curve that an equation describes, at a point of it: F_x*(x - x0) + F_y*(y
- y0) = 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...engine.algebra.exact_constants import ExactConstant, ExactConstants
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.graphs.value import variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NumberType
from ...engine.numbers.floats import REAL
from ...errors import Diagnostic, ExpressionError, NotSmooth, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.arithmetic import Arithmetic, Values
from ...questions.equations import Equations, read_equations
from ...questions.problem import check_values, have_units
from ...questions.typed_lines import is_equation, statements_of
from .tangent_line import AGREEMENT, TangentLine, exact_value, through


def equation_of(text: str, point: Collection[str]) -> Equations | None:
    """Return the equations of a text; None for a program. `y = …` is one if `y` has a value too."""
    if "=" not in text:
        return None
    parts = [*statements_of(text)]
    if not any(
        is_equation(text, part) or (part.kind == "bind" and part.name in point) for part in parts
    ):
        return None
    return read_equations(text, point)


def curve_tangent(
    text: str,
    equations: Equations,
    point: Mapping[str, float | str],
    wrt: Sequence[str] | None,
    arithmetic: Arithmetic,
) -> TangentLine:
    """Return the tangent and the normal of a curve at a point of it. Raises `ExpressionError`."""
    if have_units(text, point):
        raise usage_error(
            "a tangent of an equation has no units",
            "write its numbers in coherent units, without them",
        )
    if len(equations.texts) > 1:
        raise usage_error(
            f"{len(equations.texts)} equations are no curve", "ask for the tangent of each"
        )
    program = equations.program
    across, up = _coordinates(program, wrt)
    constants = ExactConstants()
    values = {name: exact_value(constants, x) for name, x in point.items()}
    warnings = check_values(program, {name: float(x) for name, x in values.items()})
    _check_is_on_curve(program, constants, values, up)
    computed = _smooth_partials(program, values, (up, across))
    by_up, by_across = _partials(program, constants, values, (up, across))
    # kinks that cancel are smooth, and no formula says so
    if not all(map(_agree, computed, (by_up, by_across))):
        raise NotSmooth("derivative", "the slope is not known at this kink", None, "move the point")
    is_vertical = constants.is_zero(by_up)
    if is_vertical and constants.is_zero(by_across):
        message = (
            "the equation gives no tangent here: both partial derivatives are 0, as at a cusp or a"
            " crossing"
        )
        raise ExpressionError("derivative", message, None, "`autodiff plot` shows the curve")
    slope = None if is_vertical else -by_across / by_up
    lines = _lines(constants, values, across, up, slope)
    if not constants.confirmed:
        message = "that the point is on the curve is confirmed with 150 digits, but not proven"
        warnings.append(Diagnostic("digits", message, None, None))

    def numbers(m: NumberType, at: Values) -> dict[str, Any]:
        (row,), _ = evaluate_in(m, program.outputs, at, [up, across]).jacobian()
        others = {name: x for name, x in at.items() if name != up}
        return {
            "value": at[up],
            "slope": None if is_vertical else -row[1] / row[0],
            "point": others,
        }

    shown = arithmetic.run({name: point[name] for name in program.variables}, numbers)
    return TangentLine(
        text,
        arithmetic,
        across,
        "vertical" if is_vertical else "tangent",
        shown["value"],
        shown["slope"],
        *lines,
        constants.confirmed,
        shown["point"],
        program.constants,
        tuple(warnings),
    )


def _coordinates(program: Program, wrt: Sequence[str] | None) -> tuple[str, str]:
    """Return the names of the coordinates across and up: x and y, or the only two; `wrt` names the
    first.
    """
    names = [*program.variables]
    plane = ["x", "y"] if {"x", "y"} <= {*names} else names
    if wrt and len(wrt) == 1 and wrt[0] in names:
        plane = [wrt[0], *[name for name in plane if name != wrt[0]]]
    elif wrt:
        raise usage_error(
            f"{quote(wrt)} is no coordinate of this curve", f"its variables: {quote(names)}"
        )
    if len(plane) != 2:
        hint = "write the equation in `x` and `y`; other variables have values in `--at`"
        raise usage_error(
            f"a curve has two coordinates, and the equation is in {quote(names) or 'none'}", hint
        )
    return plane[0], plane[1]


def _check_is_on_curve(
    program: Program, constants: ExactConstants, values: Mapping[str, ExactConstant], up: str
) -> None:
    left = constants.number(evaluate_in(constants, program.outputs[0], values).value)
    if not constants.is_zero(left):
        message = (
            f"the point is not on the curve: left side less right side is {float(left):.6g} there"
        )
        raise ExpressionError(
            "domain", message, None, f"`autodiff solve` finds `{up}` there: `--for {up}`"
        )


def _smooth_partials(
    program: Program, values: Mapping[str, ExactConstant], by: Sequence[str]
) -> list[float]:
    """Return the partial derivatives. Raises `NotSmooth` at a kink, where the curve may have a
    corner.
    """
    (row,), kinks = evaluate_in(
        REAL, program.outputs, {name: float(x) for name, x in values.items()}, by
    ).jacobian()
    for kink in kinks.values():
        warning = kink.warning()
        message = f"{warning.message}, and the curve may have a corner"
        raise NotSmooth("derivative", message, warning.span, "move the point")
    return row


def _agree(computed: float, exact: ExactConstant) -> bool:
    return math.isclose(computed, float(exact), rel_tol=AGREEMENT, abs_tol=AGREEMENT)


def _partials(
    program: Program,
    constants: ExactConstants,
    values: Mapping[str, ExactConstant],
    by: Sequence[str],
) -> list[ExactConstant]:
    leaves = [program.variables.get(name) or variable(name) for name in by]
    found = [derivatives(program.outputs[0], [leaf], 1).values() for leaf in leaves]
    return [constants.number(evaluate_in(constants, formula, values).value) for (formula,) in found]


def _lines(
    constants: ExactConstants,
    values: Mapping[str, ExactConstant],
    across: str,
    up: str,
    slope: ExactConstant | None,
) -> tuple[str, str]:
    """Return the equations of the tangent and of the normal; a slope of None is vertical."""
    x, (center, height) = constants.parameter(variable(across)), (values[across], values[up])
    vertical = f"{across} = {expression_text(constants.simplest(center))}"
    level = f"{up} = {expression_text(constants.simplest(height))}"
    if slope is None:
        return vertical, level
    if constants.is_zero(slope):
        return level, vertical
    lines = [through(x, height, each, center) for each in (slope, -1 / slope)]
    tangent, normal = [f"{up} = {expression_text(line)}" for line in lines]
    return tangent, normal
