"""Eigenvalues and eigenvectors of a symmetric matrix of floats, by Jacobi's rotations: small ones need no library."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..numbers import budget as work

SWEEPS = 60

SMALLEST = 1e-18
"""An entry beside the diagonal that is no larger than this, in terms of the largest one, counts as 0."""


def eigenvalues(matrix: Sequence[Sequence[float]]) -> list[float]:
    """The eigenvalues, smallest first, of a symmetric matrix; right to a few units of the last digit of the largest.

    Golub and Van Loan, Matrix Computations, 8.5.
    """
    return sorted(_diagonalised(matrix, None))


def eigenvectors(matrix: Sequence[Sequence[float]]) -> tuple[list[float], list[list[float]]]:
    """The eigenvalues, smallest first, of a symmetric matrix, and in the same order its eigenvectors, of length 1."""
    vectors = [[float(i == j) for j in range(len(matrix))] for i in range(len(matrix))]
    found = _diagonalised(matrix, vectors)
    order = sorted(range(len(found)), key=found.__getitem__)
    return [found[k] for k in order], [vectors[k] for k in order]


def _diagonalised(matrix: Sequence[Sequence[float]], vectors: list[list[float]] | None) -> list[float]:
    """The diagonal to which rotations bring the matrix; the rows of `vectors` are rotated along."""
    n = len(matrix)
    scale = max((abs(x) for row in matrix for x in row), default=0.0)
    if not scale:
        return [0.0] * n
    a = [[x / scale for x in row] for row in matrix]
    for _ in range(SWEEPS):
        turned = False
        for p in range(n - 1):
            work.charge(n * sum([not -SMALLEST <= x <= SMALLEST for x in a[p][p + 1 :]]))
            for q in range(p + 1, n):
                if not -SMALLEST <= a[p][q] <= SMALLEST:
                    turned = True
                    c, s = _rotate(a, p, q)
                    if vectors is not None:
                        rows = list(zip(vectors[p], vectors[q], strict=True))
                        vectors[p] = [c * x - s * y for x, y in rows]
                        vectors[q] = [s * x + c * y for x, y in rows]
        if not turned:
            break
    return [a[i][i] * scale for i in range(n)]


def _rotate(a: list[list[float]], p: int, q: int) -> tuple[float, float]:
    """The similarity transformation that makes the entry (p, q) zero; cosine and sine of its angle."""
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
    t = math.copysign(1.0, theta) / (abs(theta) + math.hypot(theta, 1.0))
    c = 1 / math.hypot(t, 1.0)
    s = t * c
    app, aqq, apq = a[p][p], a[q][q], a[p][q]
    row_p = [c * x - s * y for x, y in zip(a[p], a[q], strict=True)]
    row_q = [s * x + c * y for x, y in zip(a[p], a[q], strict=True)]
    row_p[p], row_q[q] = app - t * apq, aqq + t * apq
    row_p[q] = row_q[p] = 0.0
    a[p], a[q] = row_p, row_q
    for k, row in enumerate(a):
        row[p], row[q] = row_p[k], row_q[k]
    return c, s
