"""Several equations in several unknowns: SciPy with the exact Jacobian, and damped Newton steps."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from operator import le
from typing import Any

from ..algebra.linearity import linear_and_kinks
from ..batched.evaluator import Evaluator
from ..errors import ExpressionError, counted, needed
from ..inputs.problem import Problem
from ..numbers.budget import Defined
from ..numerics.newton import damped_newton, newton
from .residuals import ROOT_DIGITS, ZERO_ROUNDINGS, Search, residuals, rounding_errors, solution_errors, system

MAX_NEWTON_STEPS = 100
RANDOM_STARTS = 200

MAX_NAMED = 4
"""Unknowns that the hint on further solutions names."""

SHRINKING_STEPS = 12
"""Newton steps in which the error halves at a root of multiplicity 17."""

RELATIVE_OFFSET = 1e-6
"""How far from a singular solution Newton's method is tried."""

ANYWHERE = (-math.inf, math.inf)


class SeveralEquations(Search):
    """Several equations, in doubles."""

    kind = "the equations are linear"

    def __init__(self, problem: Problem, stop: Callable[[], bool] = lambda: False) -> None:
        message = "several equations need SciPy, the extra `optimize`"
        needed("scipy.optimize", "optimize", message, "; one equation needs nothing")
        import numpy

        super().__init__(problem, stop)
        self.np, self.unknowns, program = numpy, problem.unknowns, problem.program
        self.least: tuple[float, list[float]] | None = None
        """The least distance of the sides so far, and where."""
        self.bounds = [problem.bounds.get(name, ANYWHERE) for name in problem.unknowns]
        self._evaluators = [
            Evaluator(program.with_outputs((root,), program.text), problem.unknowns) for root in program.roots
        ]

    def __call__(self, x: Sequence[float]) -> tuple[Any, Any]:
        self.evaluated()
        if not all(map(math.isfinite, x)):
            raise ExpressionError("overflow", "the point is too large")
        unknowns = dict(zip(self.unknowns, map(float, x), strict=True))
        point = [{**self.problem.values, **unknowns}[name] for name in self.problem.program.variables]
        rows = [evaluator(point) for evaluator in self._evaluators]
        values = self.np.array([value for value, _ in rows])
        size = math.hypot(*values)
        if self.least is None or size < self.least[0]:
            self.least = size, list(unknowns.values())
        return values, self.np.array([row for _, row in rows])

    def one(self) -> list[list[float]]:
        """Return the solution near the start, if any."""
        start = [self.problem.values[name] for name in self.unknowns]
        self(start)  # raises the error of the start
        solution = self._from(start) or self._from(self._wandered(start))
        return [] if solution is None else [solution]

    @cached_property
    def linear(self) -> bool:  # type: ignore[override]
        return len(linear_and_kinks(self.problem.program.graph, self.unknowns)[0]) == len(self.unknowns)

    around = one

    def _from(self, start: Sequence[float]) -> list[float] | None:
        from scipy.optimize import root

        ended = list(start)
        # outside the domain it has nothing to go on with
        outside = Defined(ValueError, self.np.linalg.LinAlgError)
        with outside, warnings.catch_warnings(), self.np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            ended = root(self, self.np.array(start, dtype=float), jac=True, method="hybr", options={"xtol": 1e-13}).x
        return self._newton(ended) or self._newton(start)

    def _newton(self, start: Sequence[float]) -> list[float] | None:
        def evaluate(x: list[float]) -> tuple[Any, Any] | None:
            with Defined():
                return self(x)
            return None

        def least_squares(rows: Any, values: Any) -> list[float]:
            return self.np.linalg.lstsq(rows, -values, rcond=None)[0].tolist()  # type: ignore[no-any-return]

        ended = damped_newton(evaluate, least_squares, list(map(float, start)), most=MAX_NEWTON_STEPS, smallest=1e-6)
        if ended is None:
            return None
        x, values, _ = ended
        near = rounding_errors(self.problem, dict(zip(self.unknowns, x, strict=True)))
        if not all(abs(value) <= ZERO_ROUNDINGS * error for value, error in zip(values, near, strict=True)):
            return None
        # a solution is moved onto a bound that it misses by rounding errors
        moved = [min(max(a, low), high) for a, (low, high) in zip(x, self.bounds, strict=True)]
        reach = [1e-12 * max(abs(low), abs(high)) for low, high in self.bounds]
        is_inside = all(abs(a - b) <= e for a, b, e in zip(x, moved, reach, strict=True))
        return moved if is_inside and self._converges(x) else None

    def _converges(self, x: list[float]) -> bool:
        from ..numbers.multiprecision import Multiprecision

        problem = self.problem
        at = dict(zip(problem.unknowns, x, strict=True))
        if solution_errors(problem, at, *residuals(problem, at)) is not None:
            return True
        m = Multiprecision(ROOT_DIGITS)
        in_digits = system(m, problem, {name: m.number(value) for name, value in problem.values.items()})
        beside = [m.number(value + RELATIVE_OFFSET * (abs(value) or 1.0)) for value in x]
        sizes: list[Any] = []
        with Defined(ArithmeticError):
            for _, step in islice(newton(m, in_digits, beside), SHRINKING_STEPS):
                if step is None:
                    break
                sizes.append(max(map(abs, step)))
                if sizes[-1] <= 0.5 * sizes[0]:
                    return True
        if sizes:
            return False
        # the derivative is singular all around, as of two equations that are one
        flat = True
        with Defined(ArithmeticError):
            flat = not any(in_digits(beside)[0])
        return not (flat and any(rounding_errors(problem, at, own=False)))

    def _wandered(self, start: Sequence[float]) -> list[float]:
        from scipy.optimize import least_squares

        bounds = tuple(zip(*self.bounds, strict=True))
        with Defined(ValueError), self.np.errstate(all="ignore"):
            ended = least_squares(
                lambda x: self(x)[0], start, jac=lambda x: self(x)[1], bounds=bounds, x_scale="jac", max_nfev=200
            )
            return list(ended.x)
        return list(self.least[1]) if self.least else list(start)

    def every(self) -> list[list[float]]:
        """Return the solutions that many starts between the bounds lead to."""
        draw = random.Random(0)
        near = [1e-6 * (high - low) for low, high in self.bounds]
        solutions: list[list[float]] = []
        for _ in range(RANDOM_STARTS):
            x = self._newton([draw.uniform(low, high) for low, high in self.bounds])
            distances = [[abs(a - b) for a, b in zip(x, y, strict=True)] for y in solutions] if x else []
            if x and not any(all(map(le, distance, near)) for distance in distances):
                solutions.append(x)
        return sorted(solutions)

    def searched(self, count: int) -> str:
        """Return a sentence on the range of the search."""
        if self.linear:
            return "1 solution found; whether there are others is not known: the linear equations are nearly dependent"
        missing = [name for name in self.unknowns if name not in self.problem.bounds]
        how = f"`--between {','.join(f'{name}=-10:10' for name in missing)} --all`" if missing else "`--all`"
        if missing and (self.problem.units is not None or len(missing) > MAX_NAMED):
            how = "`--all` with bounds for all unknowns"
        return f"{counted(count, 'solution')} found from one start; {how} looks for others"

    def nearest(self) -> str:
        """Describe the point where the equations are nearest to holding."""
        if self.least is None:
            return ""
        size, place = self.least
        text, units = self.problem.text, self.problem.units
        at = ", ".join(f"{name} = {text(name, x)}" for name, x in zip(self.unknowns, place, strict=True))
        if units is not None and len(set(units.sides)) == 1:
            by = units.residual_text(size, 3)
        else:
            by = f"{size:.3g}{'' if units is None else ', in units of the SI'}"
        return f"; they are nearest to holding at {at}, where the sides differ by {by}"
