"""The Hessian of a program at a point, its eigenvalues, and what they say of the point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import Diagnostic, ExpressionError
from ..graph.second import hessian_in
from ..numbers.base import NumberType
from .arithmetic import DOUBLE, Arithmetic, Shown, Values
from .eigenvalues import eigenvalues
from .problem import Point, pose, single_output

MOST_VARIABLES = 500
MOST_EIGENVALUES = 100
"""Larger matrices are given without eigenvalues: the time to find them grows with the third power."""

FLAT = 1e-8
"""A gradient this small, measured by value and curvature, is taken for 0."""


class Hessian(NamedTuple):
    """Value, gradient and Hessian of a program at a point."""

    text: str
    arithmetic: Arithmetic
    value: Shown
    gradient: dict[str, Shown]
    hessian: list[list[Shown]]
    """The symmetric matrix; rows and columns in the order of `gradient`."""
    eigenvalues: list[float] | None
    """The smallest first, from the matrix in doubles; None where it is too large."""
    verdict: str
    """minimum, maximum, saddle, undecided, or `not stationary` where the gradient is not 0."""
    curvature: str
    """convex, concave, indefinite, or flat in some direction: what the eigenvalues say by themselves."""
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]


def hessian(
    text: str, point: Point | None = None, *, wrt: Sequence[str] | None = None, arithmetic: Arithmetic = DOUBLE
) -> Hessian:
    """Value, gradient and second derivatives of the program `text` at `point`, by the variables `wrt`.

    One backward sweep over numbers that carry their derivatives. Raises `ExpressionError` as `gradient` does;
    `derivative` also where a second derivative is infinite, or at a kink does not exist.

    >>> answer = hessian("x**2 - y**2", {"x": 0, "y": 0})
    >>> answer.hessian, answer.eigenvalues, answer.verdict
    ([[2.0, 0.0], [0.0, -2.0]], [-2.0, 2.0], 'saddle')
    """
    posed = pose(text, point, wrt)
    output = single_output(posed.program)
    names = posed.wanted
    if len(names) > MOST_VARIABLES:
        raise ExpressionError(
            "limit", f"a Hessian of {len(names):,} variables is too large; {MOST_VARIABLES} is the most", None,
            "name some of them: `--wrt x,y`",
        )  # fmt: skip
    warnings: list[Diagnostic] = []

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        found = hessian_in(m, output, values, names)
        return {"value": found.value, "gradient": found.gradient, "hessian": found.hessian, "point": values}

    found = arithmetic.run(posed.point, work)
    matrix = [[float(x) for x in row] for row in found["hessian"]]
    spectrum: list[float] | None = None
    if len(names) > MOST_EIGENVALUES:
        message = f"no eigenvalues: the matrix has more than {MOST_EIGENVALUES} rows"
        warnings.append(Diagnostic("limit", message, None, "name some of the variables: `--wrt x,y`"))
    elif all(abs(x) < 1e300 for row in matrix for x in row):
        spectrum = [x + 0.0 for x in eigenvalues(matrix)]
    curvature = _curvature(spectrum)
    slopes = [abs(float(x)) for x in found["gradient"]]
    return Hessian(
        text, arithmetic, found["value"], dict(zip(names, found["gradient"], strict=True)), found["hessian"], spectrum,
        _verdict(curvature, float(found["value"]), slopes, matrix), curvature, found["point"],
        posed.program.constants, (*posed.warnings, *warnings),
    )  # fmt: skip


def _curvature(spectrum: Sequence[float] | None) -> str:
    """What the signs of the eigenvalues say; those within the error of their computation have none."""
    if not spectrum:
        return "unknown" if spectrum is None else "flat"
    edge = max(abs(x) for x in spectrum) * len(spectrum) * 1e-14
    if spectrum[0] > edge:
        return "convex"
    if spectrum[-1] < -edge:
        return "concave"
    return "indefinite" if spectrum[0] < -edge and spectrum[-1] > edge else "flat"


def _verdict(curvature: str, value: float, slopes: Sequence[float], matrix: Sequence[Sequence[float]]) -> str:
    scale = max((abs(x) for row in matrix for x in row), default=0.0) or min(1.0, abs(value))
    if max(slopes, default=0.0) > FLAT * scale:
        return "not stationary"
    return {"convex": "minimum", "concave": "maximum", "indefinite": "saddle"}.get(curvature, "undecided")
