"""Least squares: a model over rows of data with its exact Jacobian, and the strategies that find its parameters.

Variable projection is Golub and Pereyra's, with Kaufman's Jacobian: SIAM J. Numer. Anal. 10 (1973); BIT 15 (1975).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..batched.evaluator import Evaluator
from ..errors import ExpressionError
from ..graphs.second_order import hessian_in
from ..language.builder import Program
from ..numbers.budget import Defined, charge
from ..numbers.floats import REAL

LOSSES = ("linear", "soft_l1", "huber", "cauchy")

STEPS_A_ROW, STEPS_A_PAIR = 1, 0.002
"""Work for a row of an evaluation, whose numbers are computed in blocks, and for each two parameters in the linear
problem that follows it: measured, in microseconds."""

MOST_EVALUATIONS = 2000
POLISHING = 50
FAR = 1e150
"""The residual that a row without a value has, so that a step that leads there is not taken."""

PROBES = 3
"""At how many places it is looked whether a second derivative is always 0."""


class Stopped(Exception):
    """The work was to end early."""


class Ended(NamedTuple):
    """Where a strategy has ended."""

    values: Any
    """Of the free parameters."""
    cost: float
    """Half the sum of the squared residuals, or of their losses."""
    evaluations: int
    message: str


class Model:
    """The residuals of a model over all rows, weighted, and their derivatives by the free parameters."""

    def __init__(
        self, program: Program, columns: Mapping[str, Any], free: Sequence[str], held: Mapping[str, float],
        response: Any, weights: Any, stop: Callable[[], bool],
    ) -> None:  # fmt: skip
        import numpy

        from ..batched.kernels import gradient_recorder, kernel

        self.np = numpy
        self.program, self.free, self.held, self.columns = program, list(free), dict(held), columns
        self.response, self.weights, self.stop = response, weights, stop
        self.rows = len(response)
        self.names = list(program.variables)
        self.evaluations = 0
        fixed = frozenset(k for k, name in enumerate(self.names) if name not in columns)
        self._kernel = kernel(gradient_recorder(program, self.free), len(self.names), fixed, None)
        self._plain = Evaluator(program, self.free)
        self._last: tuple[bytes, tuple[Any, Any, dict[int, ExpressionError]]] | None = None

    def __call__(self, values: Sequence[float]) -> tuple[Any, Any, dict[int, ExpressionError]]:
        """Model values, their derivatives (a row of the array each), and the errors of rows that have none."""
        from ..batched.kernels import evaluate

        key = self.np.asarray(values, dtype=float).tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        if self.stop():
            raise Stopped
        charge((STEPS_A_ROW + STEPS_A_PAIR * len(self.free) ** 2) * self.rows)
        self.evaluations += 1
        point = {**self.held, **dict(zip(self.free, map(float, values), strict=True))}
        given = [self.columns[name] if name in self.columns else point[name] for name in self.names]

        def plain(at: Mapping[str, float]) -> Sequence[float]:
            value, slopes = self._plain([at[name] for name in self.names])
            return [value, *slopes]

        block = evaluate(self._kernel, self.names, given, self.rows, 1 + len(self.free), plain, lambda row, name: None)
        found = block.results[0], block.results[1:], block.errors
        self._last = key, found
        return found

    def residuals(self, values: Sequence[float]) -> Any:
        """What is left at each row, times the root of its weight; where there is nothing it is far."""
        fitted = self(values)[0]
        left = (self.response - fitted) * self.weights
        return self.np.clip(self.np.where(self.np.isfinite(left), left, FAR), -FAR, FAR)

    def jacobian(self, values: Sequence[float]) -> Any:
        """The derivatives of the residuals: a row each, a column for each free parameter."""
        rows = -(self(values)[1] * self.weights).T
        return self.np.where(self.np.isfinite(rows), rows, 0.0)

    def cost(self, values: Sequence[float]) -> float:
        """Half the sum of the squares."""
        left = self.residuals(values)
        return 0.5 * float(left @ left)

    def check(self, values: Any) -> ExpressionError | None:
        """What is wrong at the first row that has no value."""
        errors = self(values)[2]
        return errors[min(errors)] if errors else None


def linear_parameters(program: Program, free: Sequence[str], points: Sequence[Mapping[str, float]]) -> list[str]:
    """Free parameters in all of which together the model is linear: their second derivatives are 0 at all the points.

    A derivative that vanishes by its structure is exactly 0 in doubles too, and at no other point than a rare one is
    another. A parameter that can be linear is, unless it stands beside one that is already.
    """
    zero = {(p, q): True for p in free for q in free}
    looked = 0
    for point in points:
        with Defined():
            matrix = hessian_in(REAL, program.outputs[0], point, list(free)).hessian
            looked += 1
            for i, p in enumerate(free):
                for j, q in enumerate(free):
                    zero[p, q] = zero[p, q] and matrix[i][j] == 0
    found: list[str] = []
    for p in free if looked else ():
        if zero[p, p] and all(zero[p, q] for q in found):
            found.append(p)
    return found


def fitted_linearly(model: Model, values: Any, places: Sequence[int]) -> Any:
    """The same values with those of the linear parameters where the sum of squares is least."""
    np = model.np
    rows = model.jacobian(values)[:, places]
    left = model.residuals(values)
    size = np.linalg.norm(rows, axis=0)
    size[size == 0] = 1.0
    step = np.linalg.lstsq(rows / size, -left, rcond=None)[0] / size
    found = np.array(values, dtype=float)
    found[places] += step
    return found


def projected(model: Model, start: Any, places: Sequence[int]) -> Ended:
    """Variable projection: the others are searched, and the linear ones follow them by a linear solve."""
    from scipy.optimize import least_squares

    np = model.np
    others = [k for k in range(len(start)) if k not in places]
    before = model.evaluations

    def whole(theta: Any) -> Any:
        values = np.array(start, dtype=float)
        values[others] = theta
        return fitted_linearly(model, values, places)

    if not others:
        values = whole(np.array([]))
        # once more, for what rounding has left
        values = fitted_linearly(model, values, places)
        return Ended(values, model.cost(values), model.evaluations - before, "one linear solve")

    def left(theta: Any) -> Any:
        return model.residuals(whole(theta))

    def slopes(theta: Any) -> Any:
        rows = model.jacobian(whole(theta))
        size = np.linalg.norm(rows[:, places], axis=0)
        size[size == 0] = 1.0
        q, _ = np.linalg.qr(rows[:, places] / size)
        other = rows[:, others]
        return other - q @ (q.T @ other)

    ended = _searched(least_squares, left, slopes, np.array(start, dtype=float)[others], len(model.response), np)
    values = whole(ended)
    return Ended(values, model.cost(values), model.evaluations - before, "variable projection")


def searched(
    model: Model, start: Any, bounds: tuple[Any, Any] | None = None, loss: str = "linear", scale: float = 1.0
) -> Ended:
    """SciPy's least squares from a start: Levenberg and Marquardt's, or trust regions where there are bounds."""
    from scipy.optimize import least_squares

    before = model.evaluations
    values = _searched(
        least_squares, model.residuals, model.jacobian, model.np.array(start, dtype=float), len(model.response),
        model.np, bounds, loss, scale,
    )  # fmt: skip
    name = "Levenberg-Marquardt" if bounds is None and loss == "linear" else "trust regions"
    return Ended(values, model.cost(values), model.evaluations - before, name)


def _searched(
    least_squares: Any, left: Any, slopes: Any, start: Any, rows: int, np: Any,
    bounds: tuple[Any, Any] | None = None, loss: str = "linear", scale: float = 1.0,
) -> Any:  # fmt: skip
    plain = bounds is None and loss == "linear" and rows >= len(start)
    more: dict[str, Any] = {} if plain else {"bounds": bounds or (-np.inf, np.inf), "loss": loss, "f_scale": scale}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = least_squares(
                left, start, jac=slopes, method="lm" if plain else "trf", x_scale="jac", ftol=1e-15, xtol=1e-15,
                gtol=1e-15, max_nfev=MOST_EVALUATIONS, **more,
            ).x  # fmt: skip
        except (ValueError, np.linalg.LinAlgError):
            return start
    return found


def _products(np: Any, rows: Any, left: Any) -> Any:
    """rowsᵀ·left, each rounded once: products with their errors (Dekker, 1971), summed exactly."""
    splitter = 2.0**27 + 1

    def halves(x: Any) -> tuple[Any, Any]:
        high = splitter * x - (splitter * x - x)
        return high, x - high

    with np.errstate(over="ignore", invalid="ignore"):
        a, b = halves(rows), halves(left[:, None])
        product = rows * left[:, None]
        error = ((a[0] * b[0] - product) + a[0] * b[1] + a[1] * b[0]) + a[1] * b[1]
    if not np.all(np.isfinite(error)):
        return rows.T @ left
    return np.array([math.fsum([*x, *e]) for x, e in zip(product.T.tolist(), error.T.tolist(), strict=True)])


def polished(model: Model, values: Any) -> tuple[Any, float]:
    """The values after steps of Gauss and Newton, and how large the last step was beside the standard errors.

    Each solves a linear least squares problem by QR with scaled columns, and none is taken that raises the cost.
    """
    np = model.np
    here = np.array(values, dtype=float)
    cost = model.cost(here)
    moved = math.inf
    for _ in range(POLISHING):
        rows, left = model.jacobian(here), model.residuals(here)
        size = np.linalg.norm(rows, axis=0)
        size[size == 0] = 1.0
        q, r = np.linalg.qr(rows / size)
        along = q.T @ left
        try:
            # where much is left that is orthogonal to the columns, rounding in qᵀ·left hides the little that is not
            sharper = np.linalg.solve(r.T, _products(np, rows, left) / size)
            if np.linalg.cond(r) * np.linalg.norm(sharper) < np.linalg.norm(left):
                along = sharper
            step = -np.linalg.solve(r, along) / size
        except np.linalg.LinAlgError:
            return here, moved
        # where the model goes through all points, what is left is rounding
        least = 1e-15 * float(np.linalg.norm(model.response * model.weights))
        spread = max(math.sqrt(2 * cost / max(1, len(left) - len(here))), least) or 1.0
        now = float(np.linalg.norm(along)) / spread
        if not np.all(np.isfinite(step)):
            return here, moved
        there = here + step
        risen = model.cost(there)
        if risen > cost * (1 + 1e-9) or (now >= moved and moved < 1e-9):
            return here, min(moved, now)
        here, cost, moved = there, risen, now
        if moved == 0 or bool(np.all(np.abs(step) <= 1e-16 * np.abs(here))):
            break
    return here, moved
