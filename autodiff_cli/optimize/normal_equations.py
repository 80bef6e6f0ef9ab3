"""The normal equations of a fit, for estimates with many digits, or proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..equations.enclosures import Operator, boxes
from ..graphs.higher_order import hessian_in
from ..graphs.value_and_gradient import value_and_gradient
from ..inputs.arithmetic import Arithmetic
from ..inputs.problem import Problem
from ..numbers.base import undecided
from ..numbers.budget import READ_NUMBER, ROW_GRADIENT, ROW_HESSIAN, charge, collect, current
from ..numerics.linear_algebra import Matrix, identity, solve_linear
from ..numerics.newton import polished, with_errors
from .observations import Observations, percentage

if TYPE_CHECKING:
    from .inference import Inference

WITH_ERRORS = 3  # the cost of error bounds, measured
DATA_PASSES = 6  # over all rows, until an estimate has its digits, about


class NormalEquations:
    """Σ w²·(f − y)·∂f/∂b = 0, the data read as the decimals that were typed."""

    def __init__(
        self, m: Any, problem: Problem, data: Observations, rows: Sequence[int], held: Mapping[str, Any]
    ) -> None:
        from ..numbers.running_digits import RunningDigits

        self.m, self.names, self.output = m, problem.unknowns, problem.program.outputs[0]
        self.data, self.rows, self.held = data, rows, held
        self._arithmetic = Arithmetic(m.name if m.name in ("certified", "precision") else "precision")
        self._times = WITH_ERRORS if isinstance(m, RunningDigits) else 1
        self._read: list[tuple[dict[str, Any], Any, Any]] = []

    def _number(self, name: str, value: float | str) -> Any:
        charge(READ_NUMBER)
        return self._arithmetic._value(self.m, name, value)

    def _row(self, k: int) -> tuple[dict[str, Any], Any, Any]:
        data, columns = self.data, self.data.columns
        point = {**self.held, **{name: self._number(name, columns[name][k]) for name in data.predictors}}
        if data.transform is None:
            response = self._number(data.response, columns[data.response][k])
            slopes = {data.response: self.m.number(1)}
        else:
            measured = {name: self._number(name, columns[name][k]) for name in data.transform.variables}
            swept = value_and_gradient(self.m, data.transform.outputs[0], measured, list(measured))
            response, slopes = swept.value, {data.response: self.m.number(1), **swept.gradient}
        weight = self.m.number(1)
        if data.weights is not None:
            weight = self._number(data.weights, columns[data.weights][k])
        elif data.has_sigma:
            names = [name for name in slopes if name in data.sigma]
            weight /= sum(((slopes[name] * self._spread(name, k)) ** 2 for name in names), self.m.number(0))
        return point, response, weight

    def _spread(self, name: str, k: int) -> Any:
        columns, spread = self.data.columns, self.data.sigma[name]
        share = percentage(spread) if spread not in columns else None
        if share is not None:
            return self._number(name, columns[name][k]) * self._number("sigma", repr(share)) / 100
        if isinstance(spread, str):
            return self._number(spread, columns[spread][k])
        return self._number("sigma", repr(spread))

    def _rows_at(self, values: Sequence[Any], *, second: bool) -> Iterator[tuple[Any, list[Any], Any, Any]]:
        work = current()
        before = work.left
        point = dict(zip(self.names, values, strict=True))
        for k, row in enumerate(self.rows):
            if k == 1 and (needed := (before - work.left) * len(self.rows)) > before:
                raise work.exhausted(work.most - before + DATA_PASSES * needed)
            if k == len(self._read):
                self._read.append(self._row(row))
            charge((ROW_HESSIAN if second else ROW_GRADIENT) * self._times)
            columns, y, weight = self._read[k]
            if second:
                at = hessian_in(self.m, self.output, {**columns, **point}, self.names)
                yield at.value - y, at.gradient, weight, at.hessian
            else:
                swept = value_and_gradient(self.m, self.output, {**columns, **point}, self.names)
                yield swept.value - y, [*swept.gradient.values()], weight, None
            collect()

    def slopes(self, values: Sequence[Any]) -> list[Any]:
        """Return the left sides."""
        total = [self.m.number(0)] * len(self.names)
        for left, gradient, weight, _ in self._rows_at(values, second=False):
            total = [a + left * weight * slope for a, slope in zip(total, gradient, strict=True)]
        return total

    def matrix(self, values: Sequence[Any]) -> Matrix:
        """Return the derivatives of the left sides."""
        return self._sums(values, second=True)[1]

    def summary(self, values: Sequence[Any]) -> tuple[Any, Matrix]:
        """Return the sum of squares, and the inverse of JᵀJ."""
        total, square = self._sums(values, second=False)
        return total, solve_linear(self.m, square, [list(map(self.m.number, row)) for row in identity(len(square))])

    def _sums(self, values: Sequence[Any], *, second: bool) -> tuple[Any, Matrix]:
        n, total = len(self.names), self.m.number(0)
        square = [[total] * n for _ in range(n)]
        for left, g, weight, hessian in self._rows_at(values, second=second):
            total = total + weight * left * left
            for i in range(n):
                for j in range(i + 1):
                    entry = g[i] * g[j] if hessian is None else g[i] * g[j] + left * hessian[i][j]
                    square[i][j] = square[j][i] = square[i][j] + weight * entry
        return total, square

    def solved(self, start: Sequence[float]) -> list[Any]:
        """Return the solution near a start."""
        # one matrix serves all steps: each gains the digits to which it is known
        matrix = self.matrix([self.m.number(x) for x in start])
        return polished(self.m, lambda values: (self.slopes(values), matrix), start)

    def enclosed(self, start: Sequence[float]) -> list[Any]:
        """Return balls proven to contain one solution near a start."""
        from ..numbers.ball import Ball

        enclosed = _Stationary(self).enclosed(start, 4)
        if enclosed is None:
            raise undecided("whether there is exactly one solution of the normal equations here cannot be told")
        return [Ball(a) for a in enclosed[1]]


class _Stationary(Operator):
    """Krawczyk's operator of normal equations."""

    def __init__(self, equations: NormalEquations) -> None:
        super().__init__((), equations.names, {}, boxes(equations.m.bits))
        equations.m = self.m
        self.equations = equations
        self.matrix: Matrix = []

    def at(self, box: Any) -> tuple[Any, Any]:
        balls = [self.ball(a) for a in box]
        # at a point, the matrix of the box around it, or of the previous point, does as well
        if not (self.matrix and all(a.is_exact() for a in box)):
            self.matrix = [[self.m.number(x).a for x in row] for row in self.equations.matrix(balls)]
        return [self.m.number(x).a for x in self.equations.slopes(balls)], self.matrix


def estimates_in(arithmetic: Arithmetic, inference: Inference) -> dict[str, Any]:
    """Return `values`, `errors`, `rss` and `deviation` of a fit in an arithmetic."""
    problem, data, dof = inference.model.problem, inference.model.data, inference.dof
    start = list(inference.values.values())
    rows: list[int] = inference.model.weights.nonzero()[0].tolist()

    def work(m: Any, held: dict[str, Any]) -> dict[str, Any]:
        from ..numbers.running_digits import plain

        equations = NormalEquations(m, problem, data, rows, held)
        if m.name == "certified":
            solution = equations.enclosed(start)
        else:
            # Newton's steps correct themselves: only what they come to has an error.
            fixed = {name: plain(x) for name, x in held.items()}
            near = NormalEquations(m.base, problem, data, rows, fixed).solved(start)
            solution = with_errors(m, lambda at: (equations.slopes(at), equations.matrix(at)), near)
        total, inverse = equations.summary(solution)
        count = m.number(dof)
        result = {"values": dict(zip(problem.unknowns, solution, strict=True)), "rss": total}
        # without degrees of freedom errors are unknown, unless sigma is given
        if inference.sigma_given or dof:
            variance = m.number(1) if inference.sigma_given else total / count
            result["errors"] = {name: m.sqrt(variance * inverse[k][k]) for k, name in enumerate(problem.unknowns)}
        if dof:
            result["deviation"] = m.sqrt(total / count)
        return result

    fixed = [name for name in problem.program.leaves if name not in (*problem.unknowns, *data.predictors)]
    return arithmetic.run({name: problem.point[name] for name in fixed}, work)
