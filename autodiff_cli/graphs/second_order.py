"""Second derivatives: one backward sweep over duals gives gradient and Hessian.

Branches and structural zeros are as in first order. A value without derivative is an error only if a
second derivative needs it. At a kink, the pieces are swept one by one; if they agree, there is a Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from ..errors import ExpressionError
from ..numbers.base import NO_RESULT, Number, NumberType
from ..numbers.dual import Dual, Duals, plain
from ..numbers.series import Failed
from ..run.evaluation import Evaluation
from ..run.smooth_branches import MIN_SERIES_ORDER, SecondOrder, SmoothBranch, TaylorSeries, Unknown, common, pieces
from ..run.sweep import Activity, backward
from .value import Source, graph_of
from .value_and_gradient import breakpoints_met, evaluate_in


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
    zero = m.number(0)
    duals, strict = Duals(m), Duals(m, strict=True)
    direction = {name: k for k, name in enumerate(wrt)}
    seeded = {n: duals.seeded(x, direction[n]) if n in direction else duals.number(x) for n, x in values.items()}
    try:
        at = evaluate_in(duals, graph, seeded, wrt)
    except ExpressionError:
        evaluate_in(m, graph, values, wrt)  # its error shows plain numbers
        raise
    swept = Evaluation(m, graph.at([*map(plain, at.graph.data)]), at.wanted).differentiate()
    if breakpoints_met(swept):
        return swept.placed(_at_breakpoints, m, swept, wrt)
    # adjoints carry derivatives too: one that is 0 may vary
    seeds = {at.graph.roots[0]: Dual(duals, m.number(1), {})}
    leaves = [*at.wanted.values()]
    active = at.placed(Activity, at.graph, strict, at.order, [i for i in leaves if i is not None])
    adjoints = at.placed(backward, at.order, active, seeds)
    rows: list[list[Number]] = []
    for i in leaves:
        adjoint = None if i is None else adjoints[i]
        d = adjoint.d if isinstance(adjoint, Dual) else {}
        rows.append([d.get(k, zero) for k in range(len(wrt))])
    for i in range(len(wrt)):
        for j in range(i):
            # Equal but for rounding.
            rows[i][j] = rows[j][i]
    return Curvature(swept.value, [*swept.gradient.values()], rows)


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
