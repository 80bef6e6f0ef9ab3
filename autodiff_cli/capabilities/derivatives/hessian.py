"""Hessians at a point, their eigenvalues, and the kind of the point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer, as_numbers
from ...engine.algebra.guards_at_point import smooth_around
from ...engine.graphs.higher_order import Curvature, check_size_of_hessian, hessian_in
from ...engine.graphs.value import Source, graph_of
from ...engine.numbers.base import Number, NumberType
from ...engine.numbers.running_error import UNIT_ROUNDOFF, Bounded
from ...engine.numerics.linear_algebra import eigenvalues
from ...engine.numerics.optimality import Derivatives, Single, classify, direction_in_words
from ...engine.run.flat_graph import Graph
from ...errors import Diagnostic, ExpressionError, quote
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown, Values
from ...questions.optional_units import pose_with_units, with_units
from ...questions.problem import Point, Problem
from ...questions.rounding import is_accurate, lost_number_warnings, rounding_warnings

if TYPE_CHECKING:
    from ...compiled.data_loss import LossSpec, LossSummary
    from ...questions.quantities import ProgramUnits, Units

# Larger matrices get no eigenvalues, whose cost is cubic.
MAX_EIGENVALUES = 100


class Hessian(Answer, shows=("value", "hessian", "verdict")):
    """Value, gradient and Hessian of a program at a point."""

    declaration = """
    csv line id quantity row column number[] error
    plain value gradient
    value
    gradient
    hessian figures: the matrix of second derivatives: a list of rows, in the order of `variables`
    point
    units
    data
    variables: the variables of rows and columns
    eigenvalues: the eigenvalues, the smallest first; null for a large matrix, or entries of \
    several units
    verdict: `minimum`, `maximum`, `saddle`, `flat`, `not stationary` or `undecided`
    curvature: what the eigenvalues say alone: `convex`, `concave`, `indefinite` or `flat`
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    value: Shown
    gradient: dict[str, Shown]
    hessian: list[list[Shown]]
    eigenvalues: list[float] | None
    """Ascending, in doubles; None if too many, or if entries differ in dimension."""
    verdict: str
    """minimum, maximum, saddle, `flat` (an eigenvalue is 0 and others do not decide), `not
    stationary` or undecided (no eigenvalues). Numbers within their rounding errors are 0.
    """
    curvature: str
    """convex, concave, indefinite, or flat in some direction, by eigenvalues alone."""
    flat: tuple[str, ...]
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    units: Units | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers(self.hessian, dtype)


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
    """Return value, gradient and Hessian of a program at `point`, by the variables `wrt`.

    With data `over`, the program is the term of one row. Raises `ExpressionError` as `gradient`
    does; `derivative` also for a second derivative that is infinite or, at a kink, does not exist.
    """
    function = None
    if over is None:
        posed = pose_with_units(text, point, wrt, units, system=system)
    else:
        from ...compiled.data_loss import in_doubles, pose_over  # only data need it

        in_doubles(arithmetic)
        posed, function = pose_over(
            text, with_units(point), wrt, over, 1, only_variables=True, units=units
        )
    names, values, measured = posed.wanted, posed.values, posed.units
    check_size_of_hessian(names)
    tree = None if measured is None else measured.of_hessian(names)

    graph = posed.program.graph

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        def compute(source: Source) -> Curvature:
            nonlocal graph
            graph = graph_of(source)
            return hessian_in(m, graph, values, names)

        result = smooth_around(compute, m, posed.program.graph, values, names, 2)
        gradient = dict(zip(names, result.gradient, strict=True))
        return {
            "value": result.value,
            "gradient": gradient,
            "hessian": result.hessian,
            "point": values,
        }

    if function is not None:
        at = function.derivatives(values, names, [abs(values[name]) for name in names])
        gradient = dict(zip(names, at.gradient, strict=True))
        matrix = [[*row] for row in at.hessian]
        if measured is not None and tree is not None:
            _convert(gradient, matrix, measured, tree)
        numbers: dict[str, Any] = {
            "value": at.value,
            "gradient": gradient,
            "hessian": matrix,
            "point": {**values},
        }
        shape = _shape(matrix, names, lambda: at, posed.warnings)
    else:
        numbers = arithmetic.run(posed.point, work, hint=True)
        matrix = [[float(x) for x in row] for row in numbers["hessian"]]
        bounds = cache(partial(_bounds, posed, graph, arithmetic))
        with_errors = cache(partial(_with_errors, bounds, numbers, matrix, arithmetic))
        shape = _shape(matrix, names, with_errors, posed.warnings)
        if arithmetic == DOUBLE:
            posed.warnings.extend(_rounding_warnings(posed, graph, bounds, with_errors))
    if measured is not None and tree is not None:
        # the verdict is the same in all units
        shape = _in_units(shape, tree, in_si=function is None)
        if function is None:
            numbers = arithmetic.run(posed.point, work, tree)
    constants, warnings = posed.program.constants, tuple(posed.warnings)
    answer = Hessian(
        text, arithmetic, **numbers, **shape, constants=constants, warnings=warnings, units=tree
    )
    return answer if function is None else answer._replace(over=function.summary)


def _rounding_warnings(
    posed: Problem,
    graph: Graph,
    bounds: Callable[[], Derivatives | None],
    with_errors: Callable[[], Derivatives],
) -> list[Diagnostic]:
    names = posed.wanted
    warnings = rounding_warnings(graph, posed.values, posed.point, names, "hessian")
    if len(names) > MAX_EIGENVALUES:
        return warnings  # their errors take longer than the matrix itself
    at = with_errors()
    entries = zip(chain(*at.hessian), chain(*at.hessian_error), strict=True)
    if bounds() is not None and all(is_accurate(Bounded(x, error)) for x, error in entries):
        return warnings

    def second_derivatives(m: NumberType, values: Mapping[str, Number]) -> dict[str, Number]:
        rows = hessian_in(m, graph, values, names).hessian
        pairs = [(i, j) for i in range(len(names)) for j in range(i + 1)]
        return {
            f"the second derivative by {quote(dict.fromkeys((names[j], names[i])))}": rows[i][j]
            for i, j in pairs
        }

    lost = lost_number_warnings(graph, posed.values, posed.point, second_derivatives, "hessian")
    return warnings + [warning for warning in lost if warning not in warnings]


def _convert(
    gradient: dict[str, float], matrix: list[list[float]], measured: ProgramUnits, tree: Units
) -> None:
    """Bring the derivatives of a sum over data to the units of the answer."""
    names = list(gradient)
    for name in names:
        gradient[name] *= measured.factor_of(tree["gradient"][name], [name])
    for row, units, name in zip(matrix, tree["hessian"], names, strict=True):
        scales = [
            measured.factor_of(unit, [name, by]) for unit, by in zip(units, names, strict=True)
        ]
        row[:] = [x * scale for x, scale in zip(row, scales, strict=True)]


def _in_units(shape: dict[str, Any], tree: Units, *, in_si: bool) -> dict[str, Any]:
    """Return eigenvalues, their unit in the tree; none if the entries differ in unit.

    Of a matrix in SI units only the dimensions must agree.
    """
    from ...engine.quantities.presentation import present_difference
    from ...engine.quantities.unit import si_unit

    units = dict.fromkeys(unit for row in tree["hessian"] for unit in row)
    spectrum = shape["eigenvalues"]
    if not spectrum or len({unit.dimension for unit in units} if in_si else units) > 1:
        return shape | {"eigenvalues": None, "flat": ()}
    (unit, *others) = units
    unit = si_unit(unit.dimension) if others else unit
    tree["eigenvalues"] = [unit] * len(spectrum)
    return (
        shape | {"eigenvalues": [present_difference(x, unit) for x in spectrum]} if in_si else shape
    )


def _shape(
    matrix: list[list[float]],
    names: Sequence[str],
    at: Callable[[], Derivatives],
    warnings: list[Diagnostic],
) -> dict[str, Any]:
    spectrum: list[float] | None = None
    if len(names) > MAX_EIGENVALUES:
        message = f"no eigenvalues: the matrix has more than {MAX_EIGENVALUES} rows"
        warnings.append(
            Diagnostic("limit", message, None, "name some of the variables: `--wrt x,y`")
        )
    elif all(abs(x) < 1e300 for row in matrix for x in row):
        spectrum = [x + 0.0 for x in eigenvalues(matrix)]
    if spectrum is None:
        return {"eigenvalues": None, "verdict": "undecided", "curvature": "unknown", "flat": ()}
    verdict = classify(at())
    flat = tuple(direction_in_words(direction, names) for direction in verdict.flat)
    return {
        "eigenvalues": spectrum,
        "verdict": verdict.kind,
        "curvature": verdict.curvature,
        "flat": flat,
    }


def _roundoff(arithmetic: Arithmetic) -> float:
    return {"double": UNIT_ROUNDOFF, "precision": 10.0**-arithmetic.digits}.get(
        arithmetic.name, 0.0
    )


def _bounds(posed: Problem, graph: Graph, arithmetic: Arithmetic) -> Derivatives | None:
    """Return the derivatives in doubles with bounds on their rounding errors; None without a
    bound.
    """
    if not _roundoff(arithmetic):
        return None
    size = [abs(posed.values[name]) for name in posed.wanted]
    with suppress(ExpressionError):
        return Single(graph).derivatives(posed.values, posed.wanted, size)
    return None


def _with_errors(
    bounds: Callable[[], Derivatives | None],
    result: dict[str, Any],
    matrix: list[list[float]],
    arithmetic: Arithmetic,
) -> Derivatives:
    slopes, roundoff = [float(x) for x in result["gradient"].values()], _roundoff(arithmetic)
    # the shown numbers are doubles in every arithmetic
    of_slopes = [roundoff and roundoff * abs(x) for x in slopes]
    errors = of_slopes, [[UNIT_ROUNDOFF * abs(x) for x in row] for row in matrix]
    share, rough = roundoff / UNIT_ROUNDOFF, bounds()
    # beyond the range of doubles all digits are taken to be right
    if rough is not None:
        of_matrix = []
        for row, others in zip(rough.hessian_error, errors[1], strict=True):
            of_matrix.append([share * e + near for e, near in zip(row, others, strict=True)])
        errors = [share * x for x in rough.gradient_error], of_matrix
    return Derivatives(float(result["value"]), slopes, errors[0], matrix, errors[1])
