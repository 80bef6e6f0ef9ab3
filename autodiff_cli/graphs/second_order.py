"""Second derivatives: one backward sweep over duals gives gradient and Hessian.

Branches and structural zeros are as in first order. A value without derivative is an error only if a
second derivative needs it. At a kink, the pieces are swept one by one; if they agree, there is a Hessian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from ..errors import ExpressionError
from ..numbers.base import NO_RESULT, Number, NumberType
from ..numbers.budget import Defined
from ..numbers.dual import Dual, Duals, plain
from ..numbers.floats import REAL
from ..numbers.series import Failed
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.smooth_branches import MIN_SERIES_ORDER, SecondOrder, SmoothBranch, TaylorSeries, Unknown, common, pieces
from ..run.sweep import backward
from .value import Source, graph_of
from .value_and_gradient import breakpoints_met, evaluate_in, value_and_gradient

SAFE_SIZE = 1e-75
"""Products of a few doubles between this and its inverse neither underflow nor overflow."""
SMALLEST_LEFT = 1e-305
"""The smallest second derivative that underflow cannot falsify, relative to the square of the largest factor."""
MAX_SQUARED = 1e150


class Curvature(NamedTuple):
    """Value, gradient and Hessian in some number type."""

    value: Number
    gradient: list[Number]
    hessian: list[list[Number]]


def hessian_in(m: NumberType, output: Source, values: Mapping[str, Number], wrt: Sequence[str]) -> Curvature:
    """Return value, gradient and Hessian in number type `m`, in the order of `wrt`.

    Raises `ExpressionError` with its place; `NotSmooth` (of `pieces`) at a kink or jump without them.
    """
    graph = graph_of(output)
    zero, duals = m.number(0), Duals(m)
    direction = {name: k for k, name in enumerate(wrt)}
    seeded = {n: duals.seeded(x, direction[n]) if n in direction else duals.number(x) for n, x in values.items()}
    try:
        at = evaluate_in(duals, graph, seeded, wrt)
        smooth = not breakpoints_met(at)
        if smooth:
            duals.strict = True
            # adjoints carry derivatives too: one that is 0 may vary
            adjoints = at.placed(backward, at.order, at.active, {graph.roots[0]: Dual(duals, m.number(1), {})})
    except ExpressionError as error:
        first = value_and_gradient(m, graph, values, wrt)  # its own error shows plain numbers
        sharp = _in_digits(graph, values, wrt) if m is REAL and error.kind == "overflow" else None
        if sharp is None:
            raise
        return Curvature(first.value, [*first.gradient.values()], sharp)
    if not smooth:
        first = value_and_gradient(m, graph, values, wrt)
        return first.placed(_at_breakpoints, m, first, wrt)
    leaves = [None if i is None else adjoints[i] for i in at.wanted.values()]
    partials: list[dict[int, Number]] = [{} if adjoint is None else adjoint.d for adjoint in leaves]
    doubtful = m is REAL and _may_underflow((*at.graph.data, *adjoints), partials)
    sharp = _in_digits(graph, values, wrt) if doubtful else None
    rows = sharp or [[d.get(k, zero) for k in range(len(wrt))] for d in partials]
    for i in range(len(wrt)):
        for j in range(i):
            # Equal but for rounding.
            rows[i][j] = rows[j][i]
    return Curvature(plain(at.value), [zero if adjoint is None else adjoint.x for adjoint in leaves], rows)


def _may_underflow(numbers: Iterable[object], partials: Iterable[Mapping[int, float]]) -> bool:
    duals = [u for u in numbers if isinstance(u, Dual)]
    found = [u.x for u in duals]
    for u in duals:
        found += u.d.values()
    sizes = [*filter(None, map(abs, found))]
    largest = max(sizes, default=1.0)
    if largest < 1 / SAFE_SIZE and min(sizes, default=1.0) > SAFE_SIZE:
        return False
    lost = SMALLEST_LEFT * max(1.0, largest) ** 2 if largest < MAX_SQUARED else math.inf
    return any(abs(x) < lost for d in partials for x in d.values())


def _in_digits(graph: Graph, values: Mapping[str, float], wrt: Sequence[str]) -> list[list[Number]] | None:
    """Return the Hessian in doubles by way of unbounded exponents; None if it does not fit."""
    from ..numbers.multiprecision import Multiprecision  # only extreme numbers need it

    m = Multiprecision(30)
    with Defined(*NO_RESULT):
        result = hessian_in(m, graph, {name: m.number(x) for name, x in values.items()}, wrt)
        rows: list[list[Number]] = [[float(x) for x in row] for row in result.hessian]
        return rows if all(math.isfinite(x) for row in rows for x in row) else None
    return None


# ---- at breakpoints
def _at_breakpoints(m: NumberType, swept: Evaluation, wrt: Sequence[str]) -> Curvature:
    graph = swept.graph
    (root,) = graph.roots
    held = [k for k, i in enumerate(swept.wanted.values()) if i is not None]
    wanted = [i for i in swept.wanted.values() if i is not None]
    pairs = [(i, j) for i in range(len(held)) for j in range(i, len(held))]
    called = [f"`{wrt[k]}`" for k in held]
    names = ["the value", *[f"the derivative by {name}" for name in called]]
    names += [f"the second derivative by {' and '.join(dict.fromkeys((called[i], called[j])))}" for i, j in pairs]

    def numbers(piece: SmoothBranch) -> list[Number]:
        gradient, rows = _without_lengths(m, piece)
        return [piece.value(root), *gradient, *[rows[i][j] for i, j in pairs]]

    def shared(smooth: Callable[[], Any]) -> list[Number]:
        return common(m, swept.value, pieces(smooth, graph, (root,), wanted), numbers, names)

    second_order = partial(SecondOrder, m, len(wanted))
    try:
        result = shared(partial(TaylorSeries, m, MIN_SERIES_ORDER) if len(wanted) == 1 else second_order)
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
        raise piece.breakpoint.refusal("on one side the second derivative is infinite or undefined") from None
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
            raise length.breakpoint.refusal("the function is not smooth in the length of a vector that vanishes")
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
        pairs = [
            (x, square * y)
            for row, other_row in zip(form, other, strict=True)
            for x, y in zip(row, other_row, strict=True)
        ]
        return m.sqrt(square) if all(m.same(x, y) for x, y in pairs) else None
    except (StopIteration, *NO_RESULT):
        return None
