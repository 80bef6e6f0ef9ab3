"""Higher derivatives: Hessians by a backward sweep over duals, Taylor coefficients by truncated
power series.

Branches and structural zeros are as in first order. A value without derivative is an error only if
a second derivative needs it. At a kink, the pieces are evaluated one by one; if they agree, there
are derivatives.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from ...errors import ExpressionError, limit_error
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.budget import BudgetExceeded, Defined
from ..numbers.double.twofold import two_sum
from ..numbers.dual import Dual, Duals, primal
from ..numbers.floats import REAL
from ..numbers.series import Failed, SeriesType
from ..run.evaluation import Evaluation, error_at
from ..run.flat_graph import Graph
from ..run.smooth_branches import (
    MIN_SERIES_ORDER,
    SecondOrder,
    SmoothBranch,
    TaylorSeries,
    Unknown,
    common_numbers,
)
from ..run.sweep import NodeError, backward, show
from .value import Source, graph_of
from .value_and_gradient import breakpoints_met, evaluate_in, value_and_gradient

# Products of a few doubles between this and its inverse neither underflow nor overflow.
SAFE_SIZE = 1e-75
# The smallest second derivative that underflow cannot falsify, relative to the largest factor
# squared.
SMALLEST_LEFT = 1e-305
MAX_SQUARED = 1e150
# The most variables of a Hessian: 125,000 entries.
MAX_VARIABLES = 500


def check_size_of_hessian(names: Sequence[str]) -> None:
    """Raise `ExpressionError` for more variables than a Hessian may have."""
    if len(names) > MAX_VARIABLES:
        raise limit_error(
            f"a Hessian of {len(names):,} variables is too large; {MAX_VARIABLES} is the most",
            "name some of them: `--wrt x,y`",
        )


class Curvature(NamedTuple):
    """Value, gradient and Hessian in some number type."""

    value: Number
    gradient: list[Number]
    hessian: list[list[Number]]


def hessian_in(
    m: NumberType, output: Source, values: Mapping[str, Number], wrt: Sequence[str]
) -> Curvature:
    """Return value, gradient and Hessian in number type `m`, in the order of `wrt`.

    Raises `ExpressionError` with its place; `NotSmooth` (of `pieces`) at a kink or jump without
    them.
    """
    graph = graph_of(output)
    duals = Duals(m)
    direction = {name: k for k, name in enumerate(wrt)}
    seeded = {
        n: duals.seed(x, direction[n]) if n in direction else duals.number(x)
        for n, x in values.items()
    }
    try:
        at = evaluate_in(duals, graph, seeded, wrt)
        adjoints = None if breakpoints_met(at) else _dual_adjoints(duals, at)
    except ExpressionError as error:
        first = value_and_gradient(m, graph, values, wrt)  # its own error shows plain numbers
        sharp = _in_digits(graph, values, wrt) if m is REAL and error.kind == "overflow" else None
        if sharp is None:
            raise
        return Curvature(first.value, [*first.gradient.values()], sharp)
    if adjoints is None:
        first = value_and_gradient(m, graph, values, wrt)
        return first.sweep(_at_breakpoints, m, first, wrt)
    zero = Dual(duals, m.number(0), {})
    leaves = _at_leaves(at, adjoints, zero)
    sharp = _in_digits_if_lost(graph, values, at, adjoints, leaves) if m is REAL else None
    rows = sharp or [[leaf.d.get(k, zero.x) for k in range(len(wrt))] for leaf in leaves]
    _mirror(rows)
    return Curvature(primal(at.value), [leaf.x for leaf in leaves], rows)


def _in_digits_if_lost(
    graph: Graph,
    values: Mapping[str, float],
    at: Evaluation,
    adjoints: Sequence[Any],
    leaves: Sequence[Dual],
) -> list[list[Number]] | None:
    """Return the Hessian by way of more digits if doubles may have lost some; None if not, or if it
    does not fit.
    """
    lost = _cancelled_digits(at)
    if lost or _may_underflow((*at.graph.data, *adjoints), [leaf.d for leaf in leaves]):
        return _in_digits(graph, values, list(at.wanted), lost)
    return None


def _dual_adjoints(duals: Duals, at: Evaluation) -> Sequence[Any]:
    """Return the adjoints of all nodes, which carry derivatives too: one that is 0 may vary."""
    duals.strict = True
    return at.sweep(
        backward, at.order, at.active, {at.graph.roots[0]: Dual(duals, duals.base.number(1), {})}
    )


def _at_leaves(at: Evaluation, adjoints: Sequence[Any], zero: Dual) -> list[Dual]:
    """Return the adjoint of each variable to differentiate by; `zero` where the output does not
    depend on it.
    """
    reached = [None if i is None else adjoints[i] for i in at.wanted.values()]
    return [zero if adjoint is None else adjoint for adjoint in reached]


def _mirror(rows: Sequence[list[Number]]) -> None:
    """Copy the upper triangle of a symmetric matrix, whose halves are equal but for rounding, into
    the lower.
    """
    for i, row in enumerate(rows):
        for j in range(i):
            row[j] = rows[j][i]


def _may_underflow(numbers: Iterable[object], partials: Iterable[Mapping[int, float]]) -> bool:
    duals = [u for u in numbers if isinstance(u, Dual)]
    sizes = [size for u in duals for x in (u.x, *u.d.values()) if (size := abs(x))]
    largest = max(sizes, default=1.0)
    if largest < 1 / SAFE_SIZE and min(sizes, default=1.0) > SAFE_SIZE:
        return False
    lost = SMALLEST_LEFT * max(1.0, largest) ** 2 if largest < MAX_SQUARED else math.inf
    return any(abs(x) < lost for d in partials for x in d.values())


def _cancelled_digits(at: Evaluation) -> int:
    """Return the digits that may cancel in second derivatives of functions that are
    `cancels_near`.
    """
    digits = 0.0
    for primitive, parents, active in zip(
        at.graph.primitives, at.graph.parents, at.active, strict=True
    ):
        if active and primitive.cancels_near:
            inputs = [float(primal(at.graph.data[p])) for p in parents]
            total, error = two_sum(*inputs)
            for x, rest in ((inputs[0], 0.0), (inputs[1], 0.0), (total, error)):
                distance = abs(x - min(0, round(x)) + rest)
                digits += max(0.0, -2 * math.log10(distance)) if distance else 0.0
    return math.ceil(digits)


def _in_digits(
    graph: Graph, values: Mapping[str, float], wrt: Sequence[str], cancelled: int = 0
) -> list[list[Number]] | None:
    """Return the Hessian in doubles by way of unbounded exponents; None if it does not fit."""
    from ..numbers.multiprecision import Multiprecision  # only extreme numbers need it

    m = Multiprecision(30 + cancelled)
    with Defined(*NO_RESULT):
        result = hessian_in(m, graph, {name: m.number(x) for name, x in values.items()}, wrt)
        rows: list[list[Number]] = [[float(x) for x in row] for row in result.hessian]
        return rows if all(math.isfinite(x) for row in rows for x in row) else None
    return None


# ---- at breakpoints
def _at_breakpoints(m: NumberType, swept: Evaluation, wrt: Sequence[str]) -> Curvature:
    held = [k for k, i in enumerate(swept.wanted.values()) if i is not None]
    pairs = [(i, j) for i in range(len(held)) for j in range(i, len(held))]
    called = [f"`{wrt[k]}`" for k in held]
    names = ["the value", *[f"the derivative by {name}" for name in called]]
    names += [
        f"the second derivative by {' and '.join(dict.fromkeys((called[i], called[j])))}"
        for i, j in pairs
    ]

    def numbers(piece: SmoothBranch) -> list[Number]:
        gradient, rows = _without_lengths(m, piece)
        return [piece.value(piece.graph.roots[0]), *gradient, *[rows[i][j] for i, j in pairs]]

    def shared(make: Callable[[], Any]) -> list[Number]:
        return common_numbers(make, swept.graph, swept.wanted.values(), numbers, names)

    second_order = partial(SecondOrder, m, len(held))
    try:
        result = shared(
            partial(TaylorSeries, m, MIN_SERIES_ORDER) if len(held) == 1 else second_order
        )
    except Unknown:
        result = shared(second_order)
    zero = m.number(0)
    gradient, hessian = [zero] * len(wrt), [[zero] * len(wrt) for _ in wrt]
    for k, slope in zip(held, result[1:], strict=False):
        gradient[k] = slope
    for (i, j), curvature in zip(pairs, result[1 + len(held) :], strict=True):
        hessian[held[i]][held[j]] = hessian[held[j]][held[i]] = curvature
    return Curvature(swept.value, gradient, hessian)


def _without_lengths(m: NumberType, piece: SmoothBranch) -> tuple[list[Number], list[list[Number]]]:
    smooth, output = piece.smooth, piece.numbers[piece.graph.roots[0]]
    try:
        gradient, rows = smooth.gradient(output), smooth.hessian(output)
    except (Failed, *NO_RESULT):
        assert piece.breakpoint is not None
        raise piece.breakpoint.undecided(
            "on one side the second derivative is infinite or undefined"
        ) from None
    count, zero = len(piece.wanted), m.number(0)
    forms = [_form(m, length.vector, len(rows)) for length in piece.lengths]
    for k in reversed(range(count, len(rows))):
        length, form = piece.lengths[k - count], forms[k - count]
        for j in range(count, k):
            ratio = _ratio(m, form, forms[j - count])
            if ratio is not None:
                rows[j][j], rows[j][k] = rows[j][j] + 2 * ratio * rows[j][k], zero
        factor = rows[k][k]
        for i, j in product(range(k), repeat=2):
            rows[i][j] = rows[i][j] + factor * form[i][j]
        if gradient[k] != 0 or any(rows[j][k] != 0 for j in range(k)):
            raise length.breakpoint.refusal(
                "the function is not smooth in the length of a vector that vanishes"
            )
    return gradient[:count], [row[:count] for row in rows[:count]]


def _form(m: NumberType, vector: Sequence[Sequence[Number]], size: int) -> list[list[Number]]:
    form = [[m.number(0)] * size for _ in range(size)]
    for d in vector:
        for (i, x), (j, y) in product(enumerate(d), repeat=2):
            form[i][j] = form[i][j] + x * y
    return form


def _ratio(m: NumberType, form: list[list[Number]], other: list[list[Number]]) -> Number | None:
    try:
        i = next(i for i in range(len(other)) if other[i][i] != 0)
        square = form[i][i] / other[i][i]
        pairs = zip(
            [x for row in form for x in row], [y for row in other for y in row], strict=True
        )
        return m.sqrt(square) if all(m.same(x, square * y) for x, y in pairs) else None
    except (StopIteration, *NO_RESULT):
        return None


# ---- Taylor series
def taylor_in(
    m: NumberType, source: Source, values: Mapping[str, Number], by: str, order: int
) -> list[Number]:
    """Return the coefficients of orders 0 to `order` in `by` at the point.

    Raises `ExpressionError` with its place in the text; `NotSmooth` if the two sides differ.
    """
    series, expanded = _expand(m, source, values, {by: [m.number(1)]})
    if order == 0 or not breakpoints_met(expanded):
        return _coefficients(series, expanded, order)
    at = evaluate_in(m, source, values, (by,))

    def numbers(piece: SmoothBranch) -> list[Number]:
        output = piece.numbers[piece.graph.roots[0]]
        try:
            return [piece.smooth.coefficient(output, k) for k in range(order + 1)]
        except Failed as failed:
            raise piece.as_kink_error(
                _fault(failed, list(piece.numbers), list(piece.numbers.values()))
            ) from None

    names = [f"the coefficient of order {k}" for k in range(order + 1)]
    try:
        make, way_out = partial(TaylorSeries, m, order), ", or ask for a lower order"
        return at.sweep(common_numbers, make, at.graph, at.wanted.values(), numbers, names, way_out)
    except Unknown as unknown:
        reason = "a power series of the length of a vector that vanishes is not computed"
        raise error_at(unknown.breakpoint.refusal(reason), at.graph) from None


def directional_in(
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    along: Mapping[str, Sequence[Number]],
    order: int,
) -> list[Number]:
    """Return the coefficients of orders 0 to `order` in t at 0, along a curve.

    `along` has the coefficients of orders 1, 2, … of the variables that move; those left out are 0.
    Raises `ExpressionError` with its place in the text, also at a kink.
    """
    series, expanded = _expand(m, source, values, along)
    if breakpoints_met(expanded):
        span = expanded.graph.span(expanded.graph.roots[0])
        raise ExpressionError(
            "derivative", "there is a kink at this point", span, "move the point to one side"
        )
    return _coefficients(series, expanded, order)


def _expand(
    m: NumberType,
    source: Source,
    values: Mapping[str, Number],
    along: Mapping[str, Sequence[Number]],
) -> tuple[SeriesType, Evaluation]:
    series = SeriesType(m)
    numbers = {
        n: series.variable(x, *along[n]) if n in along else series.number(x)
        for n, x in values.items()
    }
    at = evaluate_in(series, source, numbers, along.keys())
    series.waiting += at.values
    return series, at


def _coefficients(series: SeriesType, at: Evaluation, order: int) -> list[Number]:
    for n in range(1, order + 1):
        try:
            series.extend(n)
        except (Failed, BudgetExceeded) as error:
            failed = error if isinstance(error, Failed) else Failed(series.here, n, error)
            fault = _fault(failed, range(len(at.graph.data)), at.graph.data)
            if isinstance(error, BudgetExceeded):
                raise error_at(error.at_node(fault.node), at.graph) from None
            raise error_at(fault, at.graph, at.wanted) from None
    return [at.values[0].at(k) for k in range(order + 1)]


def _fault(failed: Failed, nodes: Iterable[int], numbers: Iterable[object]) -> NodeError:
    series, error, order = failed.series, failed.error, failed.order
    node = next((i for i, x in zip(nodes, numbers, strict=True) if x is series), 0)
    if isinstance(error, Refusal):
        return NodeError(node, error.kind, error.message, error.hint)
    places = ", ".join(show(x.c[0]) for x in series.inputs)
    if isinstance(error, OverflowError):
        message = (
            f"the coefficient of order {order} of `{series.name}` at {places} is too large for"
            f" {series.m.range}"
        )
        return NodeError(node, "overflow", message, "ask for a lower order, or use `--precision`")
    fate = f"its derivative of order {order} is infinite or undefined there"
    return NodeError(
        node,
        "derivative",
        f"`{series.name}` has no power series at {places}: {fate}",
        "move the point",
    )
