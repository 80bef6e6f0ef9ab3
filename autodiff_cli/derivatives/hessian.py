"""The Hessian of a program at a point, its eigenvalues, and what they say of the point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, ExpressionError
from ..graphs.second_order import hessian_in
from ..graphs.value import Value
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown, Values
from ..inputs.measured_points import program_units, with_units
from ..inputs.problem import Point, Problem, pose, single_output
from ..numbers.base import NumberType
from ..numbers.running_error import UNIT
from ..numerics.linear_algebra import eigenvalues
from ..numerics.optimality import Derivatives, Single, classified, direction_in_words
from ..record import Record

if TYPE_CHECKING:
    from ..batched.data_loss import LossSpec, LossSummary
    from ..inputs.quantities import Units

MOST_VARIABLES = 500
MOST_EIGENVALUES = 100
"""Larger matrices are given without eigenvalues: the time to find them grows with the third power."""


class Hessian(Record):
    """Value, gradient and Hessian of a program at a point."""

    text: str
    arithmetic: Arithmetic
    value: Shown
    gradient: dict[str, Shown]
    hessian: list[list[Shown]]
    """The symmetric matrix; rows and columns in the order of `gradient`."""
    eigenvalues: list[float] | None
    """The smallest first, from the matrix in doubles; None where it is too large, or its entries have several
    dimensions."""
    verdict: str
    """minimum, maximum, saddle, `flat` (an eigenvalue is 0, and the others do not decide), or `not stationary` where
    the gradient is not 0; undecided without eigenvalues.

    A partial derivative and an eigenvalue are 0 where they are so within their rounding errors."""
    curvature: str
    """convex, concave, indefinite, or flat in some direction: what the eigenvalues say by themselves."""
    flat: tuple[str, ...]
    """The directions in which the second derivative is 0, such as `x - y`."""
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    """The rows of data that it is the sum or mean over, if it is."""
    units: Units | None = None
    """The units of its numbers, under the names of their fields; None where they have none."""


def hessian(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    arithmetic: Arithmetic = DOUBLE,
    over: LossSpec | None = None,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Hessian:
    """Value, gradient and second derivatives of the program `text` at `point`, by the variables `wrt`.

    One backward sweep over numbers that carry their derivatives.
    `over` data the program is one row's term. Raises `ExpressionError` as `gradient` does;
    `derivative` also where a second derivative is infinite, or at a kink does not exist.

    >>> answer = hessian("x**2 - y**2", {"x": 0, "y": 0})
    >>> answer.hessian, answer.eigenvalues, answer.verdict
    ([[2.0, 0.0], [0.0, -2.0]], [-2.0, 2.0], 'saddle')
    """
    if over is not None:
        return _reduced(text, point, wrt, over, arithmetic, units)
    posed = pose(text, with_units(point), wrt, quantities=True)
    output = single_output(posed.program)
    names = posed.wanted
    check_size(names)
    measured = program_units(posed.program, posed.values, units, system=system)
    tree: Units | None = None
    warnings: list[Diagnostic] = []

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        result = hessian_in(m, posed.program.graph, values, names)
        gradient = dict(zip(names, result.gradient, strict=True))
        return {"value": result.value, "gradient": gradient, "hessian": result.hessian, "point": values}

    result = arithmetic.run(posed.point, work)
    matrix = [[float(x) for x in row] for row in result["hessian"]]
    spectrum, verdict, curvature, flat = _classified(
        matrix, names, lambda: _with_errors(posed, output, result, matrix, arithmetic), warnings
    )
    if measured is not None:
        # the verdict is the same in all units
        tree = measured.of_hessian(names)
        result = arithmetic.run(posed.point, work, tree)
        spectrum = _spectrum_in_units(spectrum, tree)
        flat = () if spectrum is None else flat
        warnings += measured.warnings
    return Hessian(
        text,
        arithmetic,
        result["value"],
        result["gradient"],
        result["hessian"],
        spectrum,
        verdict,
        curvature,
        flat,
        result["point"],
        posed.program.constants,
        (*posed.warnings, *warnings),
        units=tree,
    )


def _spectrum_in_units(spectrum: list[float] | None, tree: Units) -> list[float] | None:
    """Eigenvalues in their unit, which is added to the tree; None where the entries have different dimensions."""
    from ..quantities.unit import coherent

    units = dict.fromkeys(unit for row in tree["hessian"] for unit in row)
    if not spectrum or len({unit.dimension for unit in units}) > 1:
        return None
    first = next(iter(units))
    unit = first if len(units) == 1 else coherent(first.dimension)
    tree["eigenvalues"] = [unit] * len(spectrum)
    return [unit.from_si(x) for x in spectrum]


def _reduced(
    text: str,
    point: Point | None,
    wrt: Sequence[str] | None,
    over: LossSpec,
    arithmetic: Arithmetic,
    units: Sequence[str] | str | None,
) -> Hessian:
    """Compute it for a formula's sum or mean over rows of data."""
    from ..batched.data_loss import in_doubles, pose_over

    in_doubles(arithmetic)
    posed, function = pose_over(text, with_units(point), wrt, over, 1, only_variables=True, units=units)
    names = posed.wanted
    check_size(names)
    at = function.derivatives(posed.values, names, [abs(posed.values[name]) for name in names])
    warnings: list[Diagnostic] = []
    gradient: dict[str, Any] = dict(zip(names, at.gradient, strict=True))
    matrix: list[list[Any]] = [[*row] for row in at.hessian]
    tree: Units | None = None
    measured = function.units
    if measured is not None:
        tree = measured.of_hessian(names)
        gradient = {name: x * measured.factor_of(tree["gradient"][name], [name]) for name, x in gradient.items()}
        for row, of_row, name in zip(matrix, tree["hessian"], names, strict=True):
            row[:] = [
                x * measured.factor_of(unit, [name, other]) for x, unit, other in zip(row, of_row, names, strict=True)
            ]
    spectrum, verdict, curvature, flat = _classified(matrix, names, lambda: at, warnings)
    if tree is not None:
        (unit, *others) = dict.fromkeys(unit for row in tree["hessian"] for unit in row) or [None]
        spectrum, flat = (None, ()) if others else (spectrum, flat)
        if spectrum and unit is not None:
            tree["eigenvalues"] = [unit] * len(spectrum)
    return Hessian(
        text,
        DOUBLE,
        at.value,
        gradient,
        matrix,
        spectrum,
        verdict,
        curvature,
        flat,
        {**posed.values},
        posed.program.constants,
        (*posed.warnings, *warnings),
        function.summary,
        tree,
    )


def check_size(names: Sequence[str]) -> None:
    """Raise `ExpressionError` for more variables than a Hessian may have."""
    if len(names) > MOST_VARIABLES:
        raise ExpressionError(
            "limit",
            f"a Hessian of {len(names):,} variables is too large; {MOST_VARIABLES} is the most",
            None,
            "name some of them: `--wrt x,y`",
        )


def _classified(
    matrix: list[list[float]], names: Sequence[str], at: Callable[[], Derivatives], warnings: list[Diagnostic]
) -> tuple[list[float] | None, str, str, tuple[str, ...]]:
    """Eigenvalues, verdict, curvature and flat directions of a matrix; what there is to say goes to the warnings."""
    spectrum: list[float] | None = None
    if len(names) > MOST_EIGENVALUES:
        message = f"no eigenvalues: the matrix has more than {MOST_EIGENVALUES} rows"
        warnings.append(Diagnostic("limit", message, None, "name some of the variables: `--wrt x,y`"))
    elif all(abs(x) < 1e300 for row in matrix for x in row):
        spectrum = [x + 0.0 for x in eigenvalues(matrix)]
    if spectrum is None:
        return None, "undecided", "unknown", ()
    verdict = classified(at())
    return (
        spectrum,
        verdict.kind,
        verdict.curvature,
        tuple(direction_in_words(direction, names) for direction in verdict.flat),
    )


def _with_errors(
    posed: Problem, output: Value, result: dict[str, Any], matrix: list[list[float]], arithmetic: Arithmetic
) -> Derivatives:
    """The result in doubles, and an error bound of each number.

    Exact and certified partial derivatives are 0 or they are not; with so many digits, errors are by so many smaller.
    """
    slopes = [float(x) for x in result["gradient"].values()]
    value = float(result["value"])
    # what is shown is a double, whatever it was computed in
    nearest = [[UNIT * abs(x) for x in row] for row in matrix]
    roundoff = {"double": UNIT, "precision": 10.0**-arithmetic.digits}.get(arithmetic.name, 0.0)
    if roundoff:
        point = posed.values
        try:
            rough = Single(output).derivatives(point, posed.wanted, [abs(point[name]) for name in posed.wanted])
        except ExpressionError:
            # beyond the range of doubles, where only more digits lead: each number is taken to be right to its last one
            return Derivatives(value, 0.0, slopes, [roundoff * abs(x) for x in slopes], matrix, nearest)
        share = roundoff / UNIT
        slope_errors = [share * x for x in rough.gradient_error]
        errors = [
            [share * e + near for e, near in zip(row, others, strict=True)]
            for row, others in zip(rough.hessian_error, nearest, strict=True)
        ]
        return Derivatives(value, share * rough.value_error, slopes, slope_errors, matrix, errors)
    return Derivatives(value, 0.0, slopes, [0.0] * len(slopes), matrix, nearest)
