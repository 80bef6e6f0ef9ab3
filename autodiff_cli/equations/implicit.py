"""The derivatives of a solution: what equations say of how their unknowns follow their other variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graphs.second_order import hessian_in
from ..graphs.value import Value
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.base import Number, NumberType
from ..numerics.linear_algebra import Matrix, solve_linear
from ..run.evaluation import Kinks


def derivatives(
    m: NumberType,
    outputs: Sequence[Value],
    values: Mapping[str, Number],
    unknowns: Sequence[str],
    by: Sequence[str],
) -> tuple[Matrix, Kinks]:
    """The derivative of each unknown by each of the variables `by`, where the outputs are 0: −F_u⁻¹·F_p; and the kinks.

    Raises `Singular`, and `ExpressionError` as `jacobian` does.
    """
    at = evaluate_in(m, outputs, values, [*unknowns, *by])
    rows, kinks = at.jacobian([*unknowns, *by])
    n = len(unknowns)
    if not by:
        return [[] for _ in unknowns], kinks
    return solve_linear(m, [row[:n] for row in rows], [[-x for x in row[n:]] for row in rows]), kinks


def second_derivatives(
    m: NumberType,
    outputs: Sequence[Value],
    values: Mapping[str, Number],
    unknowns: Sequence[str],
    by: Sequence[str],
    first: Matrix,
) -> list[Matrix]:
    """For each unknown the matrix of its second derivatives by `by`.

    Differentiating F(u(p), p) = 0 twice gives F_u·u_pq = −(the second derivative of F along (u_p, 1) and (u_q, 1)).
    """
    names = [*unknowns, *by]
    n, count = len(unknowns), len(by)
    if not count:
        return [[] for _ in unknowns]
    slopes, right = [], []
    zero, one = m.number(0), m.number(1)
    along = [[*(first[i][p] for i in range(n)), *(one if q == p else zero for q in range(count))] for p in range(count)]
    for output in outputs:
        hessian = hessian_in(m, output, values, names)
        slopes.append(hessian.gradient[:n])
        bent = [[sum((h * d for h, d in zip(row, v, strict=True)), zero) for row in hessian.hessian] for v in along]
        right.append(
            [
                -sum((a * b for a, b in zip(along[p], bent[q], strict=True)), zero)
                for p in range(count)
                for q in range(count)
            ]
        )
    solved = solve_linear(m, slopes, right)
    return [[row[p * count : (p + 1) * count] for p in range(count)] for row in solved]
