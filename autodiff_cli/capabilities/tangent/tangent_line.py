"""A tangent and a normal, and lines with exact constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...api.api_answers import Answer
from ...engine.algebra.exact_constants import ExactConstant, ExactConstants
from ...engine.graphs.value import Value
from ...engine.graphs.value_and_gradient import evaluate_in
from ...errors import Diagnostic
from ...questions.arithmetic import Arithmetic, Shown
from ...questions.problem import parse

if TYPE_CHECKING:
    from ...questions.quantities import Units


# The largest relative difference of an exact slope and the computed one: far above rounding, far
# below an error.
AGREEMENT = 1e-9


class TangentLine(Answer, shows=("tangent", "normal")):
    """The tangent and the normal of a graph at a point."""

    declaration = """
    csv line id variable at[] value[] slope[] tangent normal error
    variable: the variable that the graph is over
    kind: `tangent`, or `vertical`
    tangent column: the tangent as an equation
    normal column: the normal as an equation; null with units, which have no right angle
    exact from=is_exact: whether the equations have exact constants
    value figures column: the value of the program
    slope figures column: its derivative; null where the tangent is vertical
    point
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    variable: str
    kind: str
    """`tangent`, or `vertical`."""
    value: Shown
    slope: Shown | None
    """None for a vertical tangent."""
    tangent: str
    """The tangent as an equation: `y = 4*x - 4`, or `x = 0` where it is vertical."""
    normal: str | None
    """The normal as an equation, `x = 2` where the tangent is level; None with units, which give no
    right angle.
    """
    is_exact: bool
    """Whether the equations have exact constants."""
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None


def exact_value(constants: ExactConstants, typed: float | str) -> ExactConstant:
    """Return a value of the point, exactly as it was typed."""
    source = (
        typed if isinstance(typed, str) else getattr(typed, "source", None) or repr(float(typed))
    )
    return constants.number(evaluate_in(constants, parse(source).graph, {}).value)


def through(
    x: ExactConstant, value: ExactConstant, slope: ExactConstant, center: ExactConstant
) -> Value:
    """Return the line of this slope through the point."""
    line = slope * x + (value - slope * center)
    constants: ExactConstants = line.m
    return constants.simplest(line)
