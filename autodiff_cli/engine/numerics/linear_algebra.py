"""Linear algebra in any number type, without a library; small symmetric matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from ..numbers import budget
from ..numbers.base import Number, NumberType
from ..numbers.floats import REAL

Matrix = list[list[Any]]

MAX_SWEEPS = 60
NEGLIGIBLE_ENTRY = 1e-18  # relative size of negligible off-diagonal entries


class Singular(ArithmeticError):
    """A matrix that cannot be inverted."""


def solve_linear(
    m: NumberType, matrix: Sequence[Sequence[Number]], right: Sequence[Sequence[Number]]
) -> Matrix:
    """Return the X with matrix·X = right, by elimination with partial pivoting.

    Raises `Singular`; for doubles and balls `ZeroDivisionError` too.

    >>> solve_linear(REAL, [[2.0, 1.0], [1.0, 1.0]], [[3.0], [2.0]])
    [[1.0], [1.0]]
    """
    n = len(matrix)
    rows = [[*row, *other] for row, other in zip(matrix, right, strict=True)]
    for j in range(n):
        # centres of balls suffice to choose a pivot; proofs do not depend on it
        k = max(range(j, n), key=lambda i: abs(float(rows[i][j])))
        rows[j], rows[k] = rows[k], rows[j]
        pivot = rows[j][j]
        if pivot == 0:
            raise Singular
        for row in rows[j + 1 :]:
            factor = row[j] / pivot
            row[j + 1 :] = [
                x - factor * y for x, y in zip(row[j + 1 :], rows[j][j + 1 :], strict=True)
            ]
    solution: Matrix = [[] for _ in range(n)]
    for i in reversed(range(n)):
        solution[i] = [
            (
                rows[i][n + c]
                - sum((rows[i][k] * solution[k][c] for k in range(i + 1, n)), m.number(0))
            )
            / rows[i][i]
            for c in range(len(right[0]))
        ]
    return solution


def rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    """Return the rank of a matrix of fractions."""
    rows, count = [list(row) for row in matrix], 0
    for j in range(len(rows[0])):
        k = next((i for i in range(count, len(rows)) if rows[i][j]), None)
        if k is None:
            continue
        rows[count], rows[k] = rows[k], rows[count]
        for i in range(count + 1, len(rows)):
            factor = rows[i][j] / rows[count][j]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[count], strict=True)]
        count += 1
    return count


def dot(a: Iterable[float], b: Iterable[float]) -> float:
    """Return the scalar product of two vectors; its terms are summed exactly."""
    return math.fsum(map(mul, a, b))


def identity(n: int) -> list[list[float]]:
    """Return the identity matrix."""
    return [[float(i == j) for j in range(n)] for i in range(n)]


def inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]] | None:
    """Return the inverse in doubles; None for a singular matrix."""
    try:
        result = solve_linear(REAL, matrix, identity(len(matrix)))
    except ArithmeticError:
        return None
    return result if all(math.isfinite(x) for row in result for x in row) else None


def cholesky(
    matrix: Sequence[Sequence[float]], slack: float | None = None
) -> list[list[float]] | None:
    """Return the lower triangle L with L·Lᵀ = `matrix`; None unless positive definite.

    With `slack` the matrix is taken to be semidefinite: a pivot up to `slack` leaves its column 0.

    >>> cholesky([[4.0, 2.0], [2.0, 5.0]]), cholesky([[1.0, 1.0], [1.0, 1.0]], 1e-9)
    ([[2.0], [1.0, 2.0]], [[1.0], [1.0, 0.0]])
    """
    lower: list[list[float]] = []
    for i, row in enumerate(matrix):
        entries: list[float] = []
        for j in range(i):
            pivot = lower[j][j]
            entries.append((row[j] - dot(entries, lower[j])) / pivot if pivot else 0.0)
        rest = row[i] - dot(entries, entries)
        if slack is None and not rest > 0:
            return None
        lower.append([*entries, math.sqrt(rest) if rest > (slack or 0.0) else 0.0])
    return lower


def cholesky_solve(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of L·Lᵀ·x = `right`."""
    x: list[float] = []
    for row, r in zip(lower, right, strict=True):
        x.append((r - sum(map(mul, row, x))) / row[-1])
    for i in reversed(range(len(x))):
        x[i] /= lower[i][i]
        for j in range(i):
            x[j] -= lower[i][j] * x[i]
    return x


def eigenvalues(matrix: Sequence[Sequence[float]]) -> list[float]:
    """Return a symmetric matrix's ascending eigenvalues, to a few ulps of the largest."""
    return sorted(_diagonalise(matrix, []))


def eigenvectors(matrix: Sequence[Sequence[float]]) -> tuple[list[float], list[list[float]]]:
    """Return a symmetric matrix's ascending eigenvalues and unit eigenvectors."""
    vectors = identity(len(matrix))
    diagonal = _diagonalise(matrix, vectors)
    order = sorted(range(len(diagonal)), key=diagonal.__getitem__)
    return [diagonal[k] for k in order], [vectors[k] for k in order]


def _diagonalise(matrix: Sequence[Sequence[float]], vectors: list[list[float]]) -> list[float]:
    """Diagonalise a matrix by Jacobi rotations, and rotate the rows of `vectors` along.

    Golub and Van Loan, Matrix Computations, 8.5.
    """
    n = len(matrix)
    scale = max((abs(x) for row in matrix for x in row), default=0.0)
    if not scale:
        return [0.0] * n
    a = [[x / scale for x in row] for row in matrix]
    for _ in range(MAX_SWEEPS):
        turned = False
        for p in range(n - 1):
            budget.charge(
                n * sum([not -NEGLIGIBLE_ENTRY <= x <= NEGLIGIBLE_ENTRY for x in a[p][p + 1 :]])
            )
            for q in range(p + 1, n):
                if -NEGLIGIBLE_ENTRY <= a[p][q] <= NEGLIGIBLE_ENTRY:
                    continue
                turned = True
                # the rotation that annihilates the entry (p, q)
                app, aqq, apq = a[p][p], a[q][q], a[p][q]
                theta = (aqq - app) / (2 * apq)
                t = math.copysign(1.0, theta) / (abs(theta) + math.hypot(theta, 1.0))
                c = 1 / math.hypot(t, 1.0)
                s = t * c
                row_p, row_q = a[p], a[q] = _rotate(a[p], a[q], c, s)
                row_p[p], row_q[q] = app - t * apq, aqq + t * apq
                row_p[q] = row_q[p] = 0.0
                for k, row in enumerate(a):
                    row[p], row[q] = row_p[k], row_q[k]
                if vectors:
                    vectors[p], vectors[q] = _rotate(vectors[p], vectors[q], c, s)
        if not turned:
            break
    return [a[i][i] * scale for i in range(n)]


def _rotate(
    first: list[float], second: list[float], c: float, s: float
) -> tuple[list[float], list[float]]:
    turned = [c * x - s * y for x, y in zip(first, second, strict=True)]
    return turned, [s * x + c * y for x, y in zip(first, second, strict=True)]


def eigh(matrix: Sequence[Sequence[float]]) -> tuple[list[float], list[list[float]]]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, by LAPACK."""
    import numpy

    values, vectors = numpy.linalg.eigh(numpy.array(matrix).reshape(len(matrix), len(matrix)))
    return values.tolist(), vectors.T.tolist()


def min_norm_point(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Return a convex hull's shortest vector by SciPy; 0 if the hull contains 0."""
    import numpy
    from scipy.optimize import nnls

    columns: Any = numpy.array(vectors).T
    size = float(numpy.abs(columns).max()) or 1.0
    # the sum of the weights is free: the shortest mean fits best
    weights, _ = nnls(
        numpy.vstack([columns / size, numpy.ones(len(vectors))]),
        numpy.append(0 * columns[:, 0], 1.0),
    )
    return (columns @ (weights / weights.sum())).tolist()  # type: ignore[no-any-return]
