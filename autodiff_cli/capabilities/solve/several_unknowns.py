"""Several equations: SciPy with the exact Jacobian, and damped Newton steps."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from operator import mul
from typing import Any

from ...compiled.evaluator import Evaluator
from ...engine.algebra.walk import linear_and_kinks
from ...engine.numbers.budget import Defined, current_budget
from ...engine.numbers.exact import EXACT
from ...engine.numbers.floats import REAL
from ...engine.numerics.linear_algebra import rank, solve_linear
from ...engine.numerics.newton import newton, refine
from ...errors import Diagnostic, ExpressionError, plural, require
from ...questions.problem import Problem
from .continuity import may_break
from .residuals import MAX_UNKNOWNS_IN_DIGITS, ROOT_DIGITS, Root, Search

MAX_NEWTON_STEPS = 100
RANDOM_STARTS = 200
RESERVED_WORK_SHARE = 0.1  # for the digits of the solutions

# Unknowns named in the hint on further solutions.
MAX_NAMED = 4
# Newton steps that halve the error at a root of multiplicity 17.
SHRINKING_STEPS = 12
# The relative size of the last Newton step in many digits.
NEGLIGIBLE_STEP = 1e-60
# The remaining share of the way after a Newton step at multiplicity 20.
MAX_SHARE = 0.95
# Newton steps from which a singular solution is extrapolated.
SINGULAR_STEPS = 60
# The distance of equal solutions, relative to that of the bounds.
NEAR = 1e-6
# Singular values of the derivative below this share of the largest leave a direction undetermined.
UNDETERMINED = 1e-6
# How far along such a direction, relative to the solution or to the bounds, others are looked for.
REACH = 0.1
# The share of the residuals of doubles that many digits leave where the equations hold.
MAX_LEFT = 1e-15
# Newton's steps back to where the equations hold.
STEPS_BACK = 30
# The relative distance of a start from a singular solution.
RELATIVE_OFFSET = 1e-6
# The share of the initial residuals below which a solution may be near.
MAX_SINGULAR_RESIDUAL = 1e-9


def _extrapolated(
    steps: Iterable[tuple[list[Any], Any, list[Any] | None]],
) -> tuple[bool, list[Any] | None]:
    """Return whether Newton's method moved, and its limit, if any.

    Each step takes the same share of the way, which gives the rest.
    """
    before: list[Any] = []
    limit: list[Any] | None = None
    sizes: list[Any] = []
    with Defined(ArithmeticError):
        for point, _, step in islice(steps, SINGULAR_STEPS):
            if step is None or not any(step):
                return bool(before), point
            sizes.append(max(map(abs, step)))
            share = sum(map(mul, before, step)) / sum(map(mul, before, before)) if before else 0
            share = min(share, MAX_SHARE)
            rest = [d / (1 - share) for d in step]
            limit = [
                0 * x if abs(x + d) <= abs(d) * 1e-9 else x + d
                for x, d in zip(point, rest, strict=True)
            ]
            before = step
            if sizes[-1] <= max(map(abs, point)) * NEGLIGIBLE_STEP:
                break
            if not _shrinks(sizes):
                return True, None
    return bool(before), limit


def _shrinks(sizes: Sequence[Any]) -> bool:
    """Return whether steps of these sizes may go on to a limit."""
    if len(sizes) < SHRINKING_STEPS:
        return True
    return bool(
        sizes[-1] < sizes[-2] if len(sizes) > SHRINKING_STEPS else 2 * min(sizes) <= sizes[0]
    )


class SeveralEquations(Search):
    """Several equations, in doubles."""

    kind = "the equations are linear"

    def __init__(self, problem: Problem, stop: Callable[[], bool] = lambda: False) -> None:
        message = "several equations need SciPy, the extra `optimize`"
        require("scipy.optimize", "optimize", message, "; a single equation needs no extra")
        import numpy

        super().__init__(problem, stop)
        self.np, program = numpy, problem.program
        self.least: tuple[float, list[float]] | None = None
        self.rounded, self.starts = False, 1
        # What to say of a jump or a hole that was found last.
        self.broken = ""
        self.bounds = [problem.bounds.get(name, (-math.inf, math.inf)) for name in problem.unknowns]
        self._evaluators = [
            Evaluator(program.with_outputs((root,), program.text), problem.unknowns)
            for root in program.roots
        ]

    def __call__(self, x: Sequence[float]) -> tuple[Any, Any]:
        self.count_evaluation()
        if not all(map(math.isfinite, x)):
            raise ExpressionError("overflow", "the point is too large")
        here = self.values_at(list(map(float, x)))
        point = [here[name] for name in self.problem.program.variables]
        rows = [evaluator(point) for evaluator in self._evaluators]
        values = self.np.array([value for value, _ in rows])
        size = math.hypot(*values)
        if self.least is None or size < self.least[0]:
            self.least = size, [here[name] for name in self.unknowns]
        return values, self.np.array([row for _, row in rows])

    def solve_once(self) -> list[list[float]]:
        """Return the solution near the start, if any.

        Between bounds without a start, random ones follow.
        """
        start = [self.problem.values[name] for name in self.unknowns]
        solution = None
        point, bounds = self.problem.point, self.problem.bounds
        chosen = any(x in point or x not in bounds for x in self.unknowns)
        with Defined():
            self(start)
        if self.least is not None:
            solution = self._from(start) or self._from(self._wander(start))
        if not (chosen or self.linear):
            starts = self._random_starts()
            while solution is None and (other := next(starts, None)):
                solution = self._from(other)
                self.starts += 1
        if self.least is None:
            self(start)  # raises the error of the start
        return self._decide([] if solution is None else [solution])

    @cached_property
    def linear(self) -> bool:  # type: ignore[override]
        return len(linear_and_kinks(self.problem.program.graph, self.unknowns)[0]) == len(
            self.unknowns
        )

    def _decide(self, solutions: list[list[float]]) -> list[list[float]]:
        """Decide in fractions about singular linear equations."""
        is_small = len(self.unknowns) <= MAX_UNKNOWNS_IN_DIGITS
        if not (self.linear and is_small) or (solutions and self.accuracy(solutions[0])):
            return solutions
        with Defined(ArithmeticError, ValueError):
            in_fractions = self.system(EXACT, self.parameters(EXACT))
            values, rows = in_fractions([EXACT.number(0) for _ in self.unknowns])
            count = rank(rows)
            if count == len(rows):
                x = [float(a) for (a,) in solve_linear(EXACT, rows, [[-a] for a in values])]
                if self._inside(x):
                    return [x]
                self.complete, self.kind = True, "the equations are linear without a solution"
                return []
            if rank([[*row, a] for row, a in zip(rows, values, strict=True)]) > count:
                self.complete, self.kind = (
                    True,
                    "the equations are linear and contradict each other",
                )
                return []
            # from the edge of the bounds a line of solutions may leave them
            if solutions and all(
                low < a < high for a, (low, high) in zip(solutions[0], self.bounds, strict=True)
            ):
                self.complete, solutions = False, solutions[:1]
        return solutions

    around = solve_once

    def _inside(self, x: Sequence[float], share: float = 0.0) -> bool:
        reach = [share and share * (high - low) for low, high in self.bounds]
        return all(
            low - r <= a <= high + r
            for a, r, (low, high) in zip(x, reach, self.bounds, strict=True)
        )

    def _from(self, start: Sequence[float]) -> list[float] | None:
        from scipy.optimize import root

        ended = list(start)
        # outside the domain it cannot continue
        outside = Defined(ValueError, self.np.linalg.LinAlgError)
        with outside, warnings.catch_warnings(), self.np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            begin = self.np.array(start, dtype=float)
            ended = root(self, begin, jac=True, method="hybr", options={"xtol": 1e-13}).x
        return self._newton(ended) or self._newton(start)

    def _newton(
        self, start: Sequence[float], is_known: Callable[[Sequence[float]], bool] = lambda _: False
    ) -> list[float] | None:
        x, first = [math.nan], 0.0  # in no bounds
        for point, (values, _), _ in islice(self._steps(start), MAX_NEWTON_STEPS + 1):
            x, first = point, first or math.hypot(*values)
            if is_known(x):
                return None
        if not self._inside(x, NEAR):
            return None
        holds = self.rounds_to_zero(x, values)
        if not holds and math.hypot(*values) > MAX_SINGULAR_RESIDUAL * first:
            return None
        other = self._other_beside(x) if holds else None
        if other is None:
            return self._single_root(x, holds=holds)
        moved = self._moved_inside(x)
        if moved is not None:
            self.beside[tuple(moved)] = other
        return moved

    def _single_root(self, x: list[float], *, holds: bool) -> list[float] | None:
        """Return a solution that steps have come to, with all its digits; None if it is none."""
        lacks_digits, limit = self._lacks_digits(x), None
        if not holds or lacks_digits:
            limit = self._limit(x)
            if limit is None:
                self.rounded = self.rounded or holds
                return None
            x = limit
        is_exact = limit is not None and self.holds_exactly(x)
        self.special_roots[tuple(x)] = Root(errors=[0.0] * len(x) if is_exact else None)
        moved = self._moved_inside(x)
        if moved is None:
            return None
        self.broken = self._break_at(moved)
        return None if self.broken else moved

    def _steps(
        self, start: Sequence[float]
    ) -> Iterator[tuple[list[float], tuple[Any, Any], list[float] | None]]:
        """Yield the damped steps of Newton's method, the shortest where the derivative is
        singular.
        """

        def evaluate(x: list[float]) -> tuple[Any, Any] | None:
            with Defined():
                return self(x)
            return None

        def least_squares(rows: Any, values: Any) -> list[float]:
            return self.np.linalg.lstsq(rows, -values, rcond=None)[0].tolist()  # type: ignore[no-any-return]

        return newton(REAL, evaluate, list(map(float, start)), smallest=1e-6, solve=least_squares)

    def _other_beside(self, x: list[float]) -> list[float] | None:
        """Return another solution beside one, on a way along a direction in which the derivative
        leaves it undetermined, where there is one half way too; None if there is none.
        """
        if self.linear or self.accuracy(x) is not None:
            return None
        widths = [high - low for low, high in self.bounds]
        reach = REACH * min(max(map(abs, x)) or 1.0, *widths)
        for direction in self._undetermined(x):
            for distance in (reach, -reach):
                half_way = self._beside(x, direction, distance / 2)
                other = half_way and self._beside(x, direction, distance)
                if other and self._holds_in_digits(other, direction):
                    return other
        return None

    def _undetermined(self, x: list[float]) -> list[list[float]]:
        """Return the directions along which the derivative of the equations is about 0."""
        with Defined(self.np.linalg.LinAlgError):
            _, sizes, directions = self.np.linalg.svd(self(x)[1])
            return [
                direction.tolist()
                for size, direction in zip(sizes, directions, strict=True)
                if size <= UNDETERMINED * sizes[0]
            ]
        return []

    def _beside(
        self, x: Sequence[float], direction: Sequence[float], distance: float
    ) -> list[float] | None:
        """Return a solution about this far off another one, within the bounds, at which the
        derivative is singular too; None if there is none.
        """
        start = [a + distance * d for a, d in zip(x, direction, strict=True)]
        for point, (values, _), _ in islice(self._steps(start), STEPS_BACK):
            if math.dist(point, start) > abs(distance) / 2 or not self._inside(point, NEAR):
                return None
            if self.rounds_to_zero(point, values):
                return point if self.accuracy(point) is None else None
        return None

    def _holds_in_digits(self, x: list[float], direction: Sequence[float]) -> bool:
        """Return whether the equations hold in many digits beside a number, with the unknown held
        that the direction changes most: all do where all but one are solved for the others.
        """
        from scipy.linalg import qr

        n = len(x)
        if n > MAX_UNKNOWNS_IN_DIGITS:
            return False
        held = max(range(n), key=lambda k: abs(direction[k]))
        free = [k for k in range(n) if k != held]
        chosen = qr(self(x)[1][:, free].T, mode="r", pivoting=True)[1][: n - 1]
        m, values = self.in_digits(ROOT_DIGITS)
        system = self.system(m, values)

        def everywhere(point: list[Any]) -> list[Any]:
            return [*point[:held], m.number(x[held]), *point[held:]]

        def others(point: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            left, rows = system(everywhere(point))
            return [left[i] for i in chosen], [[rows[i][k] for k in free] for i in chosen]

        with Defined(ArithmeticError, ValueError):
            start = [x[k] for k in free]
            points = list(map(m.number, start)), refine(m, others, start)
            before, after = (max(map(abs, system(everywhere(at))[0])) for at in points)
            return bool(after <= MAX_LEFT * before)
        return False

    def _lacks_digits(self, x: Sequence[float]) -> bool:
        accuracy = self.accuracy(x)
        return accuracy is None or accuracy.lacks_digits(x)

    def _moved_inside(self, x: Sequence[float]) -> list[float] | None:
        """Return a solution, on a bound that it misses by rounding errors; None if it is
        outside.
        """
        moved = [min(max(a, low), high) for a, (low, high) in zip(x, self.bounds, strict=True)]
        reach = [1e-12 * max(abs(low), abs(high)) for low, high in self.bounds]
        is_inside = all(abs(a - b) <= e for a, b, e in zip(x, moved, reach, strict=True))
        return moved if is_inside else None

    @cached_property
    def _may_break(self) -> bool:
        return any(map(may_break, self.outputs))

    def _break_at(self, x: list[float]) -> str:
        """Return what the equations have where they hold within rounding and not in many digits;
        empty if they hold.
        """
        if not self._may_break or len(x) > MAX_UNKNOWNS_IN_DIGITS or self.holds_exactly(x):
            return ""
        m, values = self.in_digits(ROOT_DIGITS)
        system = self.system(m, values)
        size = None
        with Defined(ArithmeticError, ValueError):
            point = refine(m, system, x)
            before, after = (max(map(abs, system(list(map(m.number, at)))[0])) for at in (x, point))
            size = after - before
        where = self._place(x)
        if size is None:
            return f"; they have a pole or a hole at {where}, where they do not hold"
        # at a jump the residuals grow on the last step
        return f"; they jump at {where}, where they do not hold" if size > 0 else ""

    def _limit(self, x: list[float]) -> list[float] | None:
        """Return the limit of Newton's method from beside a point, if any."""
        m, values = self.in_digits(ROOT_DIGITS)
        in_digits = self.system(m, values)
        shares = (RELATIVE_OFFSET * (1 + k / len(x)) for k in range(len(x)))
        beside = [m.number(a + share * (abs(a) or 1.0)) for a, share in zip(x, shares, strict=True)]
        moved, limit = _extrapolated(newton(m, in_digits, beside))
        if moved:
            x = [float(a) for a in limit or ()]
            with Defined():
                return x if x and self.rounds_to_zero(x, self(x)[0]) else None
            return None
        # the derivative is singular all around, as with two equal equations
        flat = True
        with Defined(ArithmeticError):
            flat = not any(in_digits(beside)[0])
        return None if flat and not self.holds_exactly(x) else x

    def _wander(self, start: Sequence[float]) -> list[float]:
        from scipy.optimize import least_squares

        bounds = tuple(zip(*self.bounds, strict=True))
        with Defined(ValueError), self.np.errstate(all="ignore"):
            ended = least_squares(
                lambda x: self(x)[0],
                start,
                jac=lambda x: self(x)[1],
                bounds=bounds,
                x_scale="jac",
                max_nfev=200,
            )
            return list(ended.x)
        return list(self.least[1]) if self.least else list(start)

    def search_all(self) -> list[list[float]]:
        """Return the solutions reached from many starts between the bounds."""
        solutions: list[list[float]] = []
        reach = [NEAR * (high - low) for low, high in self.bounds]

        def is_known(x: Sequence[float]) -> bool:
            return any(
                all(abs(a - b) <= r for a, b, r in zip(x, y, reach, strict=True)) for y in solutions
            )

        for start in self._random_starts():
            has_one_of_many = bool(self.beside)
            x = self._newton(start, is_known)
            if x and not is_known(x) and not (has_one_of_many and tuple(x) in self.beside):
                solutions.append(x)
        return self._decide(sorted(solutions))

    def _random_starts(self) -> Iterator[list[float]]:
        draw, work = random.Random(0), current_budget()
        for _ in range(RANDOM_STARTS):
            if work.left < RESERVED_WORK_SHARE * work.most:
                self.cut_short = (
                    "; the search reached the limit on computation: `--work 10` raises it"
                )
                break
            yield [draw.uniform(low, high) for low, high in self.bounds]

    def warn_of_places(self, solutions: Sequence[Sequence[float]]) -> None:
        """Warn where solutions lie on lines or curves of others."""
        super().warn_of_places(solutions)
        message = ""
        if self.complete is False and solutions:
            message = "the equations have infinitely many solutions"
        for x in solutions:
            other = self.beside.get(tuple(x))
            if other is not None:
                message = (
                    "the equations hold on a line or curve, to all digits that were tried: at"
                    f" {self._place(x)}, and also at {self._place(other)}"
                )
        if message:
            self.problem.warnings.append(
                Diagnostic("flat", message, None, "one place of these is shown")
            )

    def _place(self, x: Sequence[float]) -> str:
        return ", ".join(
            f"{name} = {self.problem.text(name, a)}"
            for name, a in zip(self.unknowns, x, strict=True)
        )

    def describe_search(self, count: int) -> str:
        """Return a sentence on the range of the search."""
        if self.beside:
            return f"{plural(count, 'solution')} found; others lie beside it"
        if self.complete is False:
            return "1 solution found of infinitely many: the linear equations depend on each other"
        if self.linear:
            return (
                "1 solution found; there may be others: the linear equations are nearly dependent"
            )
        starts = "one start" if self.starts == 1 else f"{self.starts} starts"
        if (
            self.starts == 1
            and len(self.unknowns) <= MAX_NAMED
            and not {*self.unknowns} & {*self.problem.point}
        ):
            text, values = self.problem.text, self.problem.values
            starts += (
                f", {', '.join(f'{name} = {text(name, values[name])}' for name in self.unknowns)}"
            )
        return (
            f"{plural(count, 'solution')} found from {starts}; {self._wider()} searches for others"
        )

    def _wider(self) -> str:
        """Return the options of a search for all solutions."""
        missing = [name for name in self.unknowns if name not in self.problem.bounds]
        if missing and (self.problem.units is not None or len(missing) > MAX_NAMED):
            return "`--all` with bounds for all unknowns"
        ranges = ",".join([f"{name}=-10:10" for name in missing])
        return f"`--between {ranges} --all`" if missing else "`--all`"

    def describe_least_residual(self) -> str:
        """Describe the point with the least residuals."""
        if self.least is None or self.complete:
            return f": {self.kind}" if self.complete else ""
        size, place = self.least
        units = self.problem.units
        at = self._place(place)
        if self.broken:
            return self.broken
        if self.rounded:
            return (
                f"; they hold within rounding errors near {at}, where no solution shows in"
                f" {ROOT_DIGITS} digits"
            )
        if units is not None and len(set(units.sides)) == 1:
            by = self.problem.residual_text(size, 3)
        else:
            by = f"{size:.3g}{'' if units is None else ', in units of the SI'}"
        outside = "" if self._inside(place) else " outside the bounds,"
        return f"; they are nearest to holding at {at},{outside} where the sides differ by {by}"
