"""The normal equations of a fit, for estimates with many digits, or proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graphs.higher_order import hessian_in
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers.base import undecided
from ...engine.numbers.budget import (
    EXACT_ROW,
    READ_NUMBER,
    ROW_GRADIENT,
    ROW_HESSIAN,
    charge,
    current_budget,
    gc_collect,
)
from ...engine.numerics.krawczyk import Krawczyk, boxes
from ...engine.numerics.linear_algebra import Matrix, Singular, identity, solve_linear
from ...engine.numerics.newton import refine, with_errors
from ...questions.arithmetic import Arithmetic
from ...questions.column_uncertainties import percentage
from ...questions.problem import Problem
from .observations import Observations

if TYPE_CHECKING:
    from .least_squares import Model

WITH_ERRORS = 3  # the cost of error bounds, measured
NO_SOLUTION_PROVEN = "cannot determine whether the normal equations have exactly one solution here"
DATA_PASSES = 6  # over all rows, until an estimate has its digits, about


class NormalEquations:
    """Σ w²·(f − y)·∂f/∂b = 0, the data read as the decimals that were typed."""

    def __init__(
        self,
        m: Any,
        problem: Problem,
        data: Observations,
        rows: Sequence[int],
        held: Mapping[str, Any],
    ) -> None:
        from ...engine.numbers.running_digits import RunningDigits

        self.m, self.names, self.output = m, problem.unknowns, problem.program.outputs[0]
        self.data, self.rows, self.held = data, rows, held
        self._arithmetic = Arithmetic(
            m.name if m.name in ("certified", "precision") else "precision"
        )
        self._times = WITH_ERRORS if isinstance(m, RunningDigits) else 1
        self._read: list[tuple[dict[str, Any], Any, Any]] = []

    def _number(self, name: str, value: float | str) -> Any:
        charge(READ_NUMBER)
        return self._arithmetic._value(self.m, name, value)

    def _row(self, k: int) -> tuple[dict[str, Any], Any, Any]:
        data, columns = self.data, self.data.columns
        point = {
            **self.held,
            **{name: self._number(name, columns[name][k]) for name in data.predictors},
        }
        weight = self.m.number(1)
        slopes = {data.response: weight}
        if data.transform is None:
            response = self._number(data.response, columns[data.response][k])
        else:
            measured = {
                name: self._number(name, columns[name][k]) for name in data.transform.variables
            }
            swept = value_and_gradient(self.m, data.transform.outputs[0], measured, list(measured))
            response, slopes = swept.value, slopes | swept.gradient
        if data.weights is not None:
            weight = self._number(data.weights, columns[data.weights][k])
        elif data.has_sigma:
            names = [name for name in slopes if name in data.sigma]
            weight /= sum(
                ((slopes[name] * self._spread(name, k)) ** 2 for name in names), self.m.number(0)
            )
        return point, response, weight

    def _spread(self, name: str, k: int) -> Any:
        columns, spread = self.data.columns, self.data.sigma[name]
        share = percentage(spread) if spread not in columns else None
        if share is not None:
            return self._number(name, columns[name][k]) * self._number("sigma", repr(share)) / 100
        if isinstance(spread, str):
            return self._number(spread, columns[spread][k])
        return self._number("sigma", repr(spread))

    def _value_and_slopes(self, row: int, inputs: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        swept = value_and_gradient(self.m, self.output, inputs, self.names)
        return swept.value, [*swept.gradient.values()]

    def sums(self, values: Sequence[Any], *, second: bool = False) -> tuple[Any, list[Any], Matrix]:
        """Return the sum of squares, the left sides, and JᵀJ or their exact derivatives."""
        n, total, work = len(self.names), self.m.number(0), current_budget()
        slopes, square, before = [total] * n, [[total] * n for _ in range(n)], work.left
        point = dict(zip(self.names, values, strict=True))
        for k, row in enumerate(self.rows):
            if k == 1 and (needed := (before - work.left) * len(self.rows)) > before:
                raise work.exhausted_error(work.most - before + DATA_PASSES * needed)
            if k == len(self._read):
                self._read.append(self._row(row))
            charge((ROW_HESSIAN if second else ROW_GRADIENT) * self._times)
            columns, y, weight = self._read[k]
            inputs = {**columns, **point}
            hessian = None
            if second:
                at = hessian_in(self.m, self.output, inputs, self.names)
                value, g, hessian = at.value, at.gradient, at.hessian
            else:
                value, g = self._value_and_slopes(row, inputs)
            left = value - y
            total = total + weight * left * left
            slopes = [a + left * weight * slope for a, slope in zip(slopes, g, strict=True)]
            for i in range(n):
                for j in range(i + 1):
                    entry = g[i] * g[j] if hessian is None else g[i] * g[j] + left * hessian[i][j]
                    square[i][j] = square[j][i] = square[i][j] + weight * entry
            gc_collect()
        return total, slopes, square

    def solve_linear_model(self) -> list[Any]:
        """Return the solution of a formula that is linear in all parameters. Raises `Refusal`
        unless there is one.
        """
        charge(EXACT_ROW * len(self.rows))
        _, left, square = self.sums([self.m.number(0)] * len(self.names))
        try:
            return [x for (x,) in solve_linear(self.m, square, [[-x] for x in left])]
        except (Singular, ZeroDivisionError):
            raise undecided(NO_SOLUTION_PROVEN) from None


class _Stationary(Krawczyk):
    """Krawczyk's operator of normal equations."""

    def __init__(self, equations: NormalEquations) -> None:
        super().__init__((), equations.names, {}, boxes(equations.m.bits))
        equations.m = self.m
        self.equations = equations
        self.matrix: Matrix = []

    def evaluate(self, box: Any) -> tuple[Any, Any]:
        balls = [self.ball(a) for a in box]
        # at a point the matrix of the box around it does as well
        if not (self.matrix and all(a.is_exact() for a in box)):
            _, _, rows = self.equations.sums(balls, second=True)
            self.matrix = [[self.m.number(x).a for x in row] for row in rows]
        return [self.m.number(x).a for x in self.equations.sums(balls)[1]], self.matrix


def root_of_square(m: Any, x: Any) -> Any:
    """Return the root of a number known to be at least 0; about 0 a number with the bound on it."""
    from ...engine.numbers.running_digits import RunningDigits

    if m.name == "certified":
        from ...engine.numbers.ball import Ball

        return Ball(type(x.a)(0, x.a.abs_upper().sqrt())) if x.a.contains(0) else m.sqrt(x)
    if isinstance(m, RunningDigits) and x.correct_digits(1) < 1:
        return m.within(0, m.base.sqrt(x.abs_upper()))
    return m.sqrt(x)


def estimates_in(
    arithmetic: Arithmetic, model: Model, start: Sequence[float], dof: int, sigma_given: bool
) -> dict[str, Any]:
    """Return the numbers of a fit in an arithmetic, from its parameters in doubles and its degrees
    of freedom.
    """
    problem, data = model.problem, model.data
    rows: list[int] = model.rows.weights.nonzero()[0].tolist()

    def work(m: Any, held: dict[str, Any]) -> dict[str, Any]:
        from ...engine.numbers.running_digits import value_of

        equations = NormalEquations(m, problem, data, rows, held)
        if len(model.parameters.linear) == len(start):
            solution = equations.solve_linear_model()
        elif m.name == "certified":
            from ...engine.numbers.ball import Ball

            enclosed = _Stationary(equations).enclose(start, 4)
            if enclosed is None:
                raise undecided(NO_SOLUTION_PROVEN)
            solution = [Ball(a) for a in enclosed[1]]
        else:
            # Newton's steps correct themselves, and one matrix serves all
            plain_held = {name: value_of(x) for name, x in held.items()}
            plainly = NormalEquations(m.base, problem, data, rows, plain_held)
            matrix = plainly.sums([m.base.number(x) for x in start], second=True)[2]
            near = refine(m.base, lambda at: (plainly.sums(at)[1], matrix), start)

            def system(at: Sequence[Any]) -> tuple[Sequence[Any], Matrix]:
                return equations.sums(at)[1], equations.sums(at, second=True)[2]

            solution = with_errors(m, system, near)
        total, _, square = equations.sums(solution)
        inverse = solve_linear(
            m, square, [list(map(m.number, row)) for row in identity(len(square))]
        )
        count = m.number(dof)
        result = {"values": dict(zip(problem.unknowns, solution, strict=True)), "rss": total}
        # without degrees of freedom errors are unknown, unless sigma is given
        if sigma_given or dof:
            variance = m.number(1) if sigma_given else total / count
            roots = [root_of_square(m, variance * row[k]) for k, row in enumerate(inverse)]
            result["errors"] = dict(zip(problem.unknowns, roots, strict=True))
        if dof:
            result["deviation"] = root_of_square(m, total / count)
        return result

    fixed = [
        name for name in problem.program.leaves if name not in (*problem.unknowns, *data.predictors)
    ]
    return arithmetic.run({name: problem.point[name] for name in fixed}, work)
