"""Tangent and normal of a graph at a point, as equations."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.algebra.exact_constants import ExactConstant, ExactConstants, UndecidedSign
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.graphs.value import Value, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT, NumberType, Refusal
from ...engine.numbers.budget import BudgetExceeded, Defined
from ...errors import Diagnostic, ExpressionError, NotSmooth
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.approach import as_approach
from ...questions.arithmetic import DOUBLE, Arithmetic, Values
from ...questions.optional_units import pose_with_units
from ...questions.problem import Point, Problem, have_units, parse, pose, single_output
from ..derivatives.taylor import (
    DIGITS_OF_DOUBLE,
    Taylor,
    coefficient_name,
    polynomial,
    shortest_text,
    taylor,
)
from ..limit.limit import LimitUnknown, SideLimit, side_limit
from .curve import curve_tangent, equation_of
from .tangent_line import AGREEMENT, TangentLine, exact_value, through

if TYPE_CHECKING:
    from ...questions.quantities import Units


def tangent(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> TangentLine:
    """Return the tangent and the normal of a program's graph over one variable at `point`, or of an
    equation's curve.

    Raises `ExpressionError` as `taylor` does, and where the graph has a kink.
    """
    equations = equation_of(text, dict(point or {}))
    if equations is not None:
        return curve_tangent(text, equations, dict(point or {}), wrt, arithmetic)
    if not point:
        # a series has its usual place, a tangent has none: what is missing is said
        pose_with_units(text, point, wrt, units, system=system)
    try:
        series = taylor(
            text, point, wrt=wrt, order=1, arithmetic=arithmetic, units=units, system=system
        )
    except ExpressionError as error:
        if error.kind not in ("domain", "derivative"):
            raise _in_words(error) from None
        return _without_slope(text, dict(point or {}), wrt, arithmetic, error)
    exact = None if series.units is not None else _exact_line(text, dict(point or {}), series)
    if exact is None:
        _refuse_pole(text, dict(point or {}), series.variable)
    lines = exact or Line(series.polynomial, _normal(series))
    label = _label(series.point)
    is_level = float(series.coefficients[1]) == 0.0
    across = f"{series.variable} = " if is_level else f"{label} = "
    value, slope = series.coefficients
    warnings = _of_a_line(series.warnings)
    if exact is not None and arithmetic is DOUBLE and exact.value is not None and _are_right(exact):
        # the doubles next to the exact numbers
        value, slope = float(exact.value), float(exact.slope)
        warnings = tuple(warning for warning in warnings if warning.kind != "lost_digits")
    return TangentLine(
        text,
        arithmetic,
        series.variable,
        "tangent",
        value,
        slope,
        f"{label} = {lines.tangent}",
        None if lines.normal is None else f"{across}{lines.normal}",
        exact is not None,
        series.point,
        series.constants,
        warnings,
        _units(series),
    )


def _are_right(line: Line) -> bool:
    """Return whether the numbers of exact equations have as many digits as doubles."""
    numbers = [x for x in (line.value, line.slope) if x is not None and x.ratio is None]
    return all(x.digits.correct_digits(DIGITS_OF_DOUBLE) == DIGITS_OF_DOUBLE for x in numbers)


def _of_a_line(warnings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return warnings about coefficients of a power series as those about a tangent."""
    words = {
        coefficient_name(0): "the value",
        coefficient_name(1): "the slope",
        "`taylor ": "`tangent ",
    }
    texts = [(warning.message, warning.hint or "") for warning in warnings]
    for old, new in words.items():
        texts = [(message.replace(old, new), hint.replace(old, new)) for message, hint in texts]
    return tuple(
        warning._replace(message=message, hint=hint or None)
        for warning, (message, hint) in zip(warnings, texts, strict=True)
    )


def _label(names: Collection[str]) -> str:
    """Return the name of the height: `y`, unless the program has that name."""
    return "f" if "y" in names else "y"


class Line(NamedTuple):
    """The right sides of the equations of a tangent and its normal, and the exact numbers that they
    are made of.
    """

    tangent: str
    normal: str | None
    value: ExactConstant | None = None
    slope: Any = None


def _in_words(error: ExpressionError) -> ExpressionError:
    """Return an error of a power series as one of a tangent."""
    message = error.diagnostic.message.replace("the coefficient of order 1", "the slope")
    message = message.replace("a Taylor series is taken", "a tangent is found")
    hint = (error.hint or "").removesuffix(", or ask for a lower order") or None
    error.diagnostic = error.diagnostic._replace(message=message, hint=hint)
    return error


def _units(series: Taylor) -> Units | None:
    if series.units is None:
        return None
    tree = dict(series.units)
    value, slope = tree.pop("coefficients")
    return type(series.units)({**tree, "value": value, "slope": slope})


def _normal(series: Taylor) -> str | None:
    """Return the right side of the normal, with the numbers of the answer; None with units."""
    if series.units is not None:
        return None
    value, slope = series.coefficients
    center = series.point[series.variable]
    if float(slope) == 0.0:
        return shortest_text(center)
    return polynomial(series.variable, [value, -1 / float(slope)], center)


# ---- exact equations
def _exact_line(text: str, point: dict[str, float | str], series: Taylor) -> Line | None:
    """Return the right sides with exact constants; None where they are not known."""
    name = series.variable
    with Defined(BudgetExceeded, ExpressionError, Refusal, UndecidedSign, *NO_RESULT):
        program = parse(text, [*point])
        output = single_output(program)
        constants = ExactConstants()
        values = {x: exact_value(constants, point[x]) for x in program.variables}
        slope_formula = _slope_formula(program, output, name)
        value = constants.number(evaluate_in(constants, output, values).value)
        slope = constants.number(evaluate_in(constants, slope_formula, values).value)
        center = values[name]
        for exact, shown in zip((value, slope), series.coefficients, strict=True):
            if not math.isclose(float(exact), float(shown), rel_tol=AGREEMENT, abs_tol=AGREEMENT):
                return None
        x = constants.parameter(variable(name))
        line = through(x, value, slope, center)
        is_level = constants.is_zero(slope)
        normal = constants.simplest(center) if is_level else through(x, value, -1 / slope, center)
        if not constants.confirmed:
            return None
        return Line(expression_text(line), expression_text(normal), value, slope)
    return None


def _refuse_pole(text: str, point: dict[str, float | str], name: str) -> None:
    """Raise `ExpressionError` at a pole that rounding hides, as of `tan(x)` at `pi/2`."""
    ends: list[SideLimit] = []
    with Defined(BudgetExceeded, UndecidedSign, LimitUnknown, *NO_RESULT):
        program = parse(text, [*point])
        constants = ExactConstants()
        values = {x: exact_value(constants, point[x]) for x in program.variables}
        place = as_approach(name, getattr(point[name], "source", point[name]))
        ends = [
            side_limit(single_output(program), name, place, side, values, constants)
            for side in (-1, 1)
        ]
    if any(end.kind == "infinite" for end in ends):
        message = "the formula has no value at this point: it goes to infinity there"
        raise ExpressionError("domain", message, None, "move the point into the domain")


def _slope_formula(program: Program, output: Value, name: str) -> Value:
    leaf = program.variables.get(name) or variable(name)
    (slope,) = derivatives(output, [leaf], 1).values()
    return slope


# ---- points without a slope
class _SlopesBeside(NamedTuple):
    """The behaviour of a graph that is continuous at a point, on the sides where it has values."""

    problem: Problem
    name: str
    constants: ExactConstants
    center: ExactConstant
    value: ExactConstant
    slopes: dict[int, SideLimit]
    """The limits of the slope: -1 is the left side."""


def _without_slope(
    text: str,
    point: dict[str, float | str],
    wrt: Sequence[str] | None,
    arithmetic: Arithmetic,
    error: ExpressionError,
) -> TangentLine:
    """Return a vertical tangent. Raises `NotSmooth` at a kink, and else the error of the power
    series.
    """
    sides: _SlopesBeside | None = None
    if have_units(text, point):
        raise _in_words(error)
    with Defined(UndecidedSign, LimitUnknown, *NO_RESULT):
        sides = _sides(text, point, wrt)
    if sides is None or not sides.constants.confirmed:
        raise _in_words(error)
    if all(one.kind == "infinite" for one in sides.slopes.values()):
        return _vertical(text, arithmetic, sides)
    texts = [_slope_text(sides.constants, one) for one in sides.slopes.values()]
    if len(texts) == 1 or None in texts or texts[0] == texts[1]:
        raise _in_words(error)
    message = (
        f"there is no tangent at a kink: the slope is {texts[0]} on the left and {texts[1]} on the"
        " right"
    )
    raise NotSmooth("derivative", message, error.diagnostic.span, "move the point to one side")


def _sides(
    text: str, point: dict[str, float | str], wrt: Sequence[str] | None
) -> _SlopesBeside | None:
    """Return the slopes on the sides of a point; None where the graph is not continuous there."""
    problem = pose(text, point, wrt)
    (name,) = problem.used_variables
    output = single_output(problem.program)
    constants = ExactConstants()
    values = {x: exact_value(constants, problem.point[x]) for x in problem.program.variables}
    value = constants.number(evaluate_in(constants, output, values).value)
    others = {x: number for x, number in values.items() if x != name}
    place = as_approach(name, getattr(problem.point[name], "source", problem.point[name]))
    there = {}
    for side in (-1, 1):
        limit = side_limit(output, name, place, side, others, constants)
        if limit.kind != "undefined":
            there[side] = limit
    if not there or not all(_is(constants, limit, value) for limit in there.values()):
        return None
    slope = _slope_formula(problem.program, output, name)
    slopes = {side: side_limit(slope, name, place, side, others, constants) for side in there}
    return _SlopesBeside(problem, name, constants, values[name], value, slopes)


def _vertical(text: str, arithmetic: Arithmetic, sides: _SlopesBeside) -> TangentLine:
    program, constants = sides.problem.program, sides.constants
    shown = arithmetic.run(
        sides.problem.point, lambda m, at: {"value": _value_in(m, program, at), "point": at}
    )
    center, height = (expression_text(constants.simplest(x)) for x in (sides.center, sides.value))
    return TangentLine(
        text,
        arithmetic,
        sides.name,
        "vertical",
        shown["value"],
        None,
        f"{sides.name} = {center}",
        f"{_label(sides.problem.point)} = {height}",
        True,
        shown["point"],
        program.constants,
        (*sides.problem.warnings, *_remarks(sides.slopes)),
    )


def _value_in(m: NumberType, program: Program, at: Values) -> Any:
    return evaluate_in(m, program.graph, at).value


def _is(constants: ExactConstants, side: SideLimit, value: ExactConstant) -> bool:
    return side.value is not None and constants.is_zero(side.value - value)


def _slope_text(constants: ExactConstants, side: SideLimit) -> str | None:
    if side.value is not None:
        return expression_text(constants.simplest(side.value))
    return {1: "inf", -1: "-inf", 0: None}[side.sign]


def _remarks(slopes: dict[int, SideLimit]) -> list[Diagnostic]:
    """Return what is to be said of a vertical tangent."""
    if len(slopes) == 1:
        (side,) = slopes
        word = "right" if side > 0 else "left"
        return [
            Diagnostic(
                "derivative",
                f"the graph begins at this point: it is the tangent from the {word}",
                None,
                None,
            )
        ]
    if slopes[-1].sign != slopes[1].sign:
        return [
            Diagnostic(
                "derivative",
                "the graph has a cusp at this point: both sides have this tangent",
                None,
                None,
            )
        ]
    return []
