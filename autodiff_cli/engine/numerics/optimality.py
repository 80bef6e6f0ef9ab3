"""Classify a point by gradient and Hessian, also at bounds.

A partial derivative or an eigenvalue within its own rounding error is 0.
Conditions at bounds: Nocedal and Wright, Numerical Optimization, 12.3 and 12.5.
Weyl's theorem on eigenvalues: Golub and Van Loan, Matrix Computations, 8.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import mul
from typing import NamedTuple

from ...errors import Diagnostic, ExpressionError
from ...record import Record
from ..graphs.higher_order import hessian_in
from ..graphs.value import Source, graph_of
from ..graphs.value_and_gradient import value_and_gradient
from ..numbers.floats import REAL
from ..numbers.running_error import RUNNING, UNIT_ROUNDOFF, Bounded
from .linear_algebra import cholesky, cholesky_solve, dot, eigenvectors

# Returns the eigenvalues and unit eigenvectors of a symmetric matrix.
Decomposition = Callable[[list[list[float]]], tuple[list[float], list[list[float]]]]

UNCERTAIN_SIGN_FACTOR = 1024  # multiple of its error below which a sign is uncertain
MAX_NAMED = 4  # variables of a direction


class Derivatives(Record):
    """Value, gradient and Hessian at a point, with error bounds of the derivatives."""

    value: float
    gradient: list[float]
    gradient_error: list[float]
    hessian: list[list[float]]
    hessian_error: list[list[float]]


class Verdict(Record):
    """The kind of a point."""

    kind: str
    """`minimum`, `maximum`, `saddle`, `flat` (undecided, an eigenvalue is 0), `not stationary`."""
    curvature: str
    """That of the free variables: `convex`, `concave`, `indefinite`, `flat`."""
    negative: bool
    """Whether the value falls in a free direction, so that this is no minimum."""
    held: tuple[int, ...]
    """Variables held by a bound: the value rises away from it."""
    slope: tuple[float, ...]
    """Partial derivatives; 0 if within rounding error or of a held variable."""
    flat: tuple[tuple[float, ...], ...]
    """Directions of zero curvature, over all variables; the largest component is ±1."""
    step: tuple[float, ...]
    """The Newton step; along flat directions only if the gradient is not 0."""
    gain: float
    """The change of the value on that step; infinite along flat directions."""


class Single:
    """A program near a point, used like a `DataLoss`; methods may raise `ExpressionError`."""

    def __init__(self, output: Source) -> None:
        self.output = output

    @cached_property
    def is_smooth(self) -> bool:
        """Return whether it has derivatives everywhere, overflow aside, by its operations."""
        graph = graph_of(self.output)
        literals = [graph.constants.get(i, (None,))[0] for i in range(len(graph.parents))]
        return all(
            primitive.defined([literals[p] for p in parents])
            and not (primitive.may_kink or primitive.jumps)
            for primitive, parents in zip(graph.primitives, graph.parents, strict=True)
            if parents
        )

    @property
    def step_functions(self) -> set[str]:
        """Return the names of functions such as `floor`, which are constant between their jumps."""
        graph = graph_of(self.output)
        return {
            primitive.name
            for primitive, parents in zip(graph.primitives, graph.parents, strict=True)
            if primitive.jumps
            and primitive.has_structural_zeros
            and not graph.constants.keys() >= {*parents}
        }

    def derivatives(
        self, point: Mapping[str, float], wrt: Sequence[str], size: Sequence[float]
    ) -> Derivatives:
        """Return value, gradient and Hessian in doubles, with rounding errors.

        Coordinates `wrt` are rounded like numbers of `size`, twice as much for the Hessian.
        """
        result = self._derivatives(point, wrt, size)
        # beside an edge of the domain that may bound nothing
        is_finite = math.isfinite(sum(result.gradient_error))
        return (
            result
            if is_finite
            else self._derivatives(point, wrt, [abs(point.get(name, 0.0)) for name in wrt])
        )

    def _derivatives(
        self, point: Mapping[str, float], wrt: Sequence[str], size: Sequence[float]
    ) -> Derivatives:
        spread = [2 * UNIT_ROUNDOFF * x for x in size]
        inputs = {name: Bounded(x) for name, x in point.items()}
        inputs |= {
            name: Bounded(point[name], error)
            for name, error in zip(wrt, spread, strict=True)
            if name in point
        }
        result = hessian_in(RUNNING, self.output, inputs, wrt)
        # a constant entry is a plain number
        square = [[*map(RUNNING.number, row)] for row in result.hessian]
        rows = [[x.x for x in row] for row in square]
        half = [sum(map(mul, map(abs, row), spread)) / 2 for row in rows]
        slopes = [RUNNING.number(x) for x in result.gradient]
        return Derivatives(
            float(result.value),
            [g.x for g in slopes],
            [max(0.0, g.error - h) for g, h in zip(slopes, half, strict=True)],
            rows,
            [[x.error for x in row] for row in square],
        )

    def value_and_gradient_with_errors(
        self, point: Mapping[str, Bounded], wrt: Sequence[str]
    ) -> tuple[Bounded, list[Bounded]]:
        """Return value and gradient with their rounding errors."""
        swept = value_and_gradient(RUNNING, self.output, point, wrt)
        return RUNNING.number(swept.value), [*map(RUNNING.number, swept.gradient.values())]

    def kinks(self, point: Mapping[str, float], wrt: Sequence[str]) -> tuple[Diagnostic, ...]:
        """Return a warning for each kink that the gradient meets."""
        try:
            swept = value_and_gradient(REAL, self.output, point, wrt)
        except ExpressionError:
            return ()
        return tuple(swept.warnings)

    def hessian(self, point: Mapping[str, float], wrt: Sequence[str]) -> list[list[float]]:
        """Return the Hessian."""
        return hessian_in(REAL, self.output, point, wrt).hessian


class _FreeCurvature(NamedTuple):
    """The Hessian of some variables, by its eigenvalues, and the Newton step on it."""

    name: str = "flat"
    """`convex`, `concave`, `indefinite`, or `flat` if an eigenvalue is 0."""
    falls: bool = False
    """Whether an eigenvalue is negative."""
    flat: Sequence[list[float]] = ()
    """The directions of eigenvalue 0."""
    step: Sequence[float] = ()
    gain: float = 0.0
    """The change of the value on that step; infinite along flat directions."""


def classify(
    at: Derivatives, walls: Sequence[int] | None = None, decomposed: Decomposition = eigenvectors
) -> Verdict:
    """Return the kind of a point.

    `walls` has for each variable its bound: lower (-1), upper (1), both (2) or none (0).

    >>> at = Derivatives(0.0, [0.0, 8.0], [0.0, 1e-15], [[2.0, 0.0], [0.0, -2.0]], [[1e-15] * 2] * 2)
    >>> classify(at).kind, classify(at, [0, -1]).kind, classify(at, [0, -1]).held
    ('not stationary', 'minimum', (1,))
    """
    n = len(at.gradient)
    walls = walls or [0] * n
    zero = [abs(g) <= e < math.inf for g, e in zip(at.gradient, at.gradient_error, strict=True)]
    held = tuple(i for i in range(n) if _is_held(walls[i], 0.0 if zero[i] else at.gradient[i]))
    rest = [i for i in range(n) if i not in held]
    curvature = _curvature(at, rest, decomposed)
    falls = curvature.falls
    leaning = [i for i in rest if walls[i]]
    if not all(zero[i] for i in rest):
        kind = "not stationary"
    elif leaning:
        kind, falls = _kind_beside_bounds(at, curvature, rest, leaning, held, decomposed)
    else:
        kind = _kind_of_stationary(curvature, rest, held)
    slope, step = [0.0] * n, [0.0] * n
    for i, x in zip(rest, curvature.step, strict=True):
        slope[i] = 0.0 if zero[i] else at.gradient[i]
        step[i] = x
    flat = _flat_directions(curvature, rest, n)
    return Verdict(
        kind, curvature.name, falls, held, tuple(slope), flat, tuple(step), curvature.gain
    )


def _is_held(wall: int, slope: float) -> bool:
    """Return whether a bound holds a variable: the value rises away from it, or there are bounds on
    both sides.
    """
    return wall == 2 or wall * slope < 0


def _kind_of_stationary(curvature: _FreeCurvature, rest: Sequence[int], held: Sequence[int]) -> str:
    """Return the kind of a point where the gradient by the variables `rest` is 0; others are `held`
    by bounds.
    """
    if not rest:
        return "minimum" if held else "flat"
    if curvature.name == "convex":
        return "minimum"
    if curvature.name == "concave" and not held:
        return "maximum"
    return "saddle" if curvature.name == "indefinite" or (held and curvature.falls) else "flat"


def _kind_beside_bounds(
    at: Derivatives,
    curvature: _FreeCurvature,
    rest: Sequence[int],
    leaning: Sequence[int],
    held: Sequence[int],
    decomposed: Decomposition,
) -> tuple[str, bool]:
    """Return the kind of a stationary point with variables `leaning` on a bound, and whether the
    value falls there.
    """
    if curvature.name == "convex":
        return "minimum", curvature.falls
    if curvature.name == "concave" and not held:
        return "maximum", curvature.falls
    # only directions into the bounds count, and free variables
    inward = any(at.hessian[i][i] < -at.hessian_error[i][i] for i in leaning)
    falls = inward or _curvature(at, [i for i in rest if i not in leaning], decomposed).falls
    return "saddle" if falls else "flat", falls


def _flat_directions(
    curvature: _FreeCurvature, rest: Sequence[int], n: int
) -> tuple[tuple[float, ...], ...]:
    """Return the directions of zero curvature over all variables."""
    if len(curvature.flat) == len(rest):
        # all directions are flat: use the variables' instead of arbitrary eigenvectors
        return tuple(_direction({i: float(i == k) for i in rest}, n) for k in rest)
    return tuple(
        _direction(dict(zip(rest, direction, strict=True)), n) for direction in curvature.flat
    )


def _direction(parts: Mapping[int, float], n: int) -> tuple[float, ...]:
    """Return a direction of all variables whose largest component is 1."""
    largest = max(parts.values(), key=abs)
    return tuple(parts.get(i, 0.0) / largest + 0.0 for i in range(n))


def _units(at: Derivatives, rows: Sequence[int]) -> list[float]:
    """Return powers of 2 that make the diagonal of the Hessian about 1.

    Scaling keeps the signs of eigenvalues (Sylvester's law of inertia) and makes errors small.
    """
    units = []
    for i in rows:
        entry = abs(at.hessian[i][i]) or max(abs(at.hessian[i][j]) for j in rows)
        largest = max(entry, UNCERTAIN_SIGN_FACTOR * at.hessian_error[i][i])
        exponent = math.frexp(largest)[1] if 0 < largest < math.inf else 0
        units.append(math.ldexp(1.0, -(exponent // 2)))
    return units


def _curvature(at: Derivatives, rows: Sequence[int], decomposed: Decomposition) -> _FreeCurvature:
    """Return the curvature in the directions of some variables."""
    if not rows:
        return _FreeCurvature()
    units = _units(at, rows)
    matrix, errors = (
        [
            [square[i][j] * u * v for j, v in zip(rows, units, strict=True)]
            for i, u in zip(rows, units, strict=True)
        ]
        for square in (at.hessian, at.hessian_error)
    )
    # the largest absolute row sum bounds the spectral norm
    error, size = (max(math.fsum(map(abs, row)) for row in square) for square in (errors, matrix))
    noise = error + 4 * UNIT_ROUNDOFF * len(rows) * size
    if not math.isfinite(noise):
        return _FreeCurvature(step=[0.0] * len(rows), gain=math.inf)
    slopes = [at.gradient[i] * u for i, u in zip(rows, units, strict=True)]
    # most are definite; to prove it takes a hundredth of the eigenvalues' time
    definite = _if_definite("convex", 1.0, matrix, noise, slopes, units)
    definite = definite or _if_definite("concave", -1.0, matrix, noise, slopes, units)
    if definite is not None:
        return definite
    slope_errors = [at.gradient_error[i] * u for i, u in zip(rows, units, strict=True)]
    return _by_eigenvalues(decomposed(matrix), noise, slopes, slope_errors, units)


def _if_definite(
    name: str,
    sign: float,
    matrix: list[list[float]],
    noise: float,
    slopes: list[float],
    units: list[float],
) -> _FreeCurvature | None:
    """Return the curvature of a matrix that is definite by more than its noise; None of another."""
    signed = [[sign * x for x in row] for row in matrix]
    if (
        cholesky(
            [[x - noise * (i == j) for j, x in enumerate(row)] for i, row in enumerate(signed)]
        )
        is None
    ):
        return None
    lower = cholesky(signed)
    if lower is None:
        return None
    solved = cholesky_solve(lower, slopes)
    step = [-sign * u * s for u, s in zip(units, solved, strict=True)]
    return _FreeCurvature(name, sign < 0, [], step, abs(dot(slopes, solved)) / 2)


def _by_eigenvalues(
    decomposition: tuple[list[float], list[list[float]]],
    noise: float,
    slopes: list[float],
    slope_errors: list[float],
    units: list[float],
) -> _FreeCurvature:
    spectrum, vectors = decomposition
    flat: list[list[float]] = []
    step = [0.0] * len(units)
    gain = 0.0
    for x, vector in zip(spectrum, vectors, strict=True):
        along = dot(slopes, vector)
        if abs(x) <= noise:
            flat.append([u * v for u, v in zip(units, vector, strict=True)])
            if abs(along) <= dot(slope_errors, map(abs, vector)):
                continue
            gain = math.inf
        if x:
            gain += along * along / abs(x) / 2
            step = [s - along / x * u * v for s, u, v in zip(step, units, vector, strict=True)]
    least, most = min(spectrum), max(spectrum)
    shape = "indefinite" if least < -noise and most > noise else "flat"
    shape = "convex" if least > noise else "concave" if most < -noise else shape
    return _FreeCurvature(shape, least < -noise, flat, step, gain)


def direction_in_words(direction: Sequence[float], names: Sequence[str]) -> str:
    """Return a direction as text, without components that round to 0.

    >>> direction_in_words([1.0, -1.0, 1e-9], ["x", "y", "z"]), direction_in_words([0.25, 1.0], ["x", "y"])
    ('x - y', '0.25*x + y')
    """
    shown = [(x, name) for x, name in zip(direction, names, strict=True) if abs(x) >= 0.005]
    text = ""
    for x, name in shown[:MAX_NAMED]:
        factor = "" if f"{abs(x):.2g}" == "1" else f"{abs(x):.2g}*"
        sign = "-" if x < 0 else "+"
        text += (f" {sign} " if text else "-" * (x < 0)) + factor + name
    return text + (" + …" if len(shown) > MAX_NAMED else "")
