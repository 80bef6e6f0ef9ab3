"""Measurement models: explicit and implicit functions of the inputs."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from operator import add, mul, truediv
from typing import Any

from ...compiled.evaluator import Evaluator
from ...engine.algebra.guards_at_point import jacobian_around, smooth_around
from ...engine.algebra.walk import linear_and_kinks
from ...engine.graphs.higher_order import directional_in, hessian_in
from ...engine.graphs.value import Source, Value, graph_of
from ...engine.graphs.value_and_gradient import Sources, evaluate_in, value_in
from ...engine.numbers.base import Number
from ...engine.numbers.budget import (
    DRAWN_INPUT,
    DRAWN_NODE,
    DRAWN_OUTPUT,
    FOLLOWED_DRAW,
    Defined,
    charge,
)
from ...engine.numbers.dual import Dual, Duals, primal
from ...engine.numbers.floats import REAL
from ...engine.numerics.linear_algebra import Singular, dot, solve_linear
from ...engine.numerics.newton import newton
from ...engine.run.sweep import Breakpoint
from ...errors import Diagnostic, ExpressionError, point_error, usage_error
from ...language.builder import Program
from ...questions.arithmetic import DOUBLE, kink_warnings
from ...questions.measured_value import MeasuredValue
from ...questions.optional_units import pose_with_units
from ...questions.problem import Point, Problem, output_names, parse
from ...questions.rounding import REQUIRED_DIGITS, lost_number_warnings, rounding_warnings

MAX_CORRECTIONS = 12  # steps of Newton's method from a place that should be near a solution
STEP_TOLERANCE = 1e-10  # relative length of a step that leaves only rounding behind
# share of the unknown that it may be off the tangent after a step, whatever the step is
TANGENT_SLACK = 0.02
MIN_STEP_SHARE = 2.0**-30  # part of the way to another place where the solution is hard to follow
MAX_KINKS = 50  # the nearest ones of a program

# The outputs at the estimates, their derivatives, and warnings.
FirstOrder = tuple[list[float], list[list[float]], list[Diagnostic]]

# The least work of one point, and a function that evaluates outputs at `n` points.
Draws = tuple[float, Callable[[Mapping[str, Any], int], Any]]

# A surface where a computed number is 0 and pieces meet: its node, the number at the estimates, and
# its derivatives along the given directions.
Kink = tuple[Breakpoint, float, list[float]]


def variables_of(text: str, names: Sequence[str], implicit: bool) -> Mapping[str, Value]:
    """Return the variables of a model; `names` have values."""
    return program_of(text, names, implicit).variables


def program_of(text: str, names: Sequence[str], implicit: bool) -> Program:
    """Return the program of a model, or of its equations; `names` have values."""
    if not implicit:
        return parse(text, names, units=True)
    from ...questions.equations import read_equations

    return read_equations(text, names, units=True).program


class _Surfaces:
    """Chooses the sides of kinks, and records the numbers that are 0 there."""

    def __init__(self) -> None:
        self.zeros: list[Dual] = []

    def __call__(self, u: Dual) -> int:
        self.zeros.append(u)
        return 1 if u.x > 0 else -1

    def is_nonzero(self, u: Dual) -> bool:
        self.zeros.append(u)
        return bool(u.x != 0)

    def length(self, xs: Sequence[Dual]) -> Dual:
        self.zeros += xs
        return xs[0]


def _kinks(
    outputs: Sources,
    values: Mapping[str, float],
    slopes: Mapping[str, Sequence[float]],
    count: int,
) -> list[Kink]:
    graph = graph_of(outputs)
    if not any(primitive.active_branch for primitive in graph.primitives):
        return []
    m = Duals(REAL)
    leaves = {
        name: Dual(m, float(x), {i: t for i, t in enumerate(slopes.get(name, ())) if t})
        for name, x in values.items()
    }
    at = evaluate_in(m, graph, leaves, ())
    kinks = []
    for place in at.order:
        primitive, inputs = at.graph.primitives[place], at.graph.inputs(place)
        if not primitive.active_branch:
            continue
        surfaces, out = _Surfaces(), primal(at.graph.data[place])
        # functions that jump are asked for their jumps to the next values too
        for value in (out - 1, out, out + 1) if primitive.jumps else (out,):
            with suppress(ValueError, ArithmeticError):
                primitive.active_branch(m, surfaces, *inputs, out=value)
        for u in surfaces.zeros:
            if not u.fault and 0 < math.hypot(*u.d.values()) < math.inf:
                kinks.append(
                    (at.breakpoints((place,))[place], u.x, [u.d.get(i, 0.0) for i in range(count)])
                )
    return sorted(kinks, key=lambda kink: abs(kink[1]) / math.hypot(*kink[2]))[:MAX_KINKS]


class Explicit:
    """A measurement model whose outputs are explicit formulas."""

    def __init__(
        self, text: str, point: Point, asked: Sequence[str] | str | None, system: bool
    ) -> None:
        try:
            problem = pose_with_units(text, point, None, asked, single=False, system=system)
        except ExpressionError as error:
            if error.kind == "syntax" and "=" in text:
                # without the capability to solve them no text is equations
                with suppress(ExpressionError, ModuleNotFoundError):
                    from ...questions.equations import read_equations

                    variables = read_equations(text, list(point)).program.variables
                    unknowns = [name for name in variables if name not in point] or ["x"]
                    hint = f"name the unknown: `--for {','.join(unknowns)}`"
                    error = usage_error("this is an equation, and its unknown is not given", hint)
            raise error
        self.program, self.point, self.warnings = problem.program, problem.point, problem.warnings
        self.outputs, self.units = output_names(self.program), problem.units
        self.values = {name: float(x) for name, x in problem.values.items()}

    def output_program(self, k: int) -> Program:
        """Return the program of output `k` alone."""
        program = self.program
        return (
            program
            if len(program.roots) == 1
            else program.with_outputs((program.roots[k],), program.text)
        )

    def first_order(self, names: Sequence[str]) -> FirstOrder:
        """Return the outputs and their derivatives. Raises `ExpressionError`."""
        at, rows, kinks = jacobian_around(REAL, self.program.graph, self.values, names)
        return (
            _floats(at.values),
            [_floats(row) for row in rows],
            kink_warnings(DOUBLE, kinks.values()),
        )

    def rounding_warnings(
        self, names: Sequence[str], uncertainties: Sequence[float]
    ) -> list[Diagnostic]:
        """Return warnings about lost digits of the outputs, which have these uncertainties, and
        their derivatives.
        """
        graph, values = self.program.graph, self.values
        return rounding_warnings(graph, values, values, names, "jacobian", uncertainties)

    def second_order(self, k: int, names: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return the second derivatives of output `k`. Raises `ExpressionError`."""
        output, values = self._output(k), self.values
        at = smooth_around(
            lambda source: hessian_in(REAL, source, values, names), REAL, output, values, names, 2
        )
        return at.hessian

    def third_order(self, k: int, direction: Mapping[str, float]) -> float:
        """Return the third derivative of output `k` along a direction."""
        along = {name: [x] for name, x in direction.items()}
        return 6 * float(directional_in(REAL, self._output(k), self.values, along, 3)[3])

    def kinks(
        self, k: int, names: Sequence[str], directions: Sequence[Sequence[float]]
    ) -> list[Kink]:
        """Return the nearest kinks of output `k`."""
        return _kinks(
            self._output(k),
            self.values,
            dict(zip(names, directions, strict=True)),
            len(names),
        )

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """Return output `k` with some inputs changed; None if undefined."""
        return value_in(REAL, self._output(k), {**self.values, **inputs})

    def _output(self, k: int) -> Source:
        # the graph of a single one needs not be made anew
        return self.program.graph if len(self.outputs) == 1 else self.program.outputs[k]

    def evaluator_of_draws(self, fixed: Collection[str]) -> Draws:
        """Return the evaluator of outputs at points that share the `fixed` inputs."""
        from ...compiled.kernels import ProgramOverRows  # only draws need NumPy

        over_rows = ProgramOverRows(self.program, (), fixed)
        steps = DRAWN_INPUT * sum([name not in fixed for name in over_rows.names])
        steps += DRAWN_OUTPUT * len(self.outputs) + DRAWN_NODE * len(self.program.graph.places)

        def at(values: Mapping[str, Any], points: int) -> Any:
            charge(steps * points)
            return over_rows(values, points).results

        work = steps
        # evaluators are built when they are first asked for
        if over_rows.kernel.compute is None:
            work += sum(evaluator.steps for evaluator in over_rows.evaluators)
        return work, at


def _floats(numbers: Sequence[Any]) -> list[float]:
    return [float(x) + 0.0 for x in numbers]


class Implicit:
    """A measurement model whose outputs solve equations, as in JCGM 102:2011, 6.3."""

    def __init__(self, problem: Problem) -> None:
        from ..solve.solve import find_solution

        self.units, self._text = problem.units, problem.text
        for name in problem.unknowns:
            if isinstance(start := problem.point.get(name), MeasuredValue):
                message = f"`{name}` is an unknown: its value is a start, and has no uncertainty"
                raise point_error(message, f"give the number alone: `{name}={float(start):g}`")
        self.program, self.outputs, self.warnings = (
            problem.program,
            list(problem.unknowns),
            problem.warnings,
        )
        self.point = {
            name: problem.point[name]
            for name in self.program.leaves
            if name not in problem.unknowns
        }
        self.values: dict[str, float] = {**problem.values, **find_solution(problem)}
        self.solution = [self.values[name] for name in self.outputs]
        self._evaluators: dict[tuple[str, ...], list[Evaluator]] = {}
        self.is_linear = len(linear_and_kinks(self.program.graph, self.outputs)[0]) == len(
            self.outputs
        )

    def first_order(self, names: Sequence[str]) -> FirstOrder:
        """Return the unknowns and their derivatives."""
        from ..solve.residuals import derivatives

        try:
            rows, kinks = derivatives(REAL, self.program.outputs, self.values, self.outputs, names)
        except Singular:
            places = zip(self.outputs, self.solution, strict=True)
            where = ", ".join(f"{name} = {self._text(name, x)}" for name, x in places)
            message = f"the equations have a multiple root at {where}, which has no derivative"
            hint = "a small change of the other variables may split it in two, or leave none"
            raise ExpressionError("derivative", message, hint=hint) from None
        return self.solution, [_floats(row) for row in rows], kink_warnings(DOUBLE, kinks.values())

    def rounding_warnings(
        self, names: Sequence[str], uncertainties: Sequence[float]
    ) -> list[Diagnostic]:
        """Return warnings about lost digits of the unknowns, which have these uncertainties, and
        their derivatives.
        """
        from ..solve.residuals import numbers_at_solution

        compute = numbers_at_solution(self.program.outputs, self.outputs, names)
        shares = zip(self.outputs, uncertainties, strict=True)
        tolerated = {f"`{name}`": 10.0**-REQUIRED_DIGITS * u for name, u in shares}
        return lost_number_warnings(
            self.program.graph, self.values, self.values, compute, "solve", tolerated
        )

    def second_order(self, k: int, names: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return the second derivatives of unknown `k`."""
        from ..solve.residuals import second_derivatives

        _, rows, _ = self.first_order(names)
        return second_derivatives(
            REAL, self.program.outputs, self.values, self.outputs, names, rows
        )[k]

    def third_order(self, k: int, direction: Mapping[str, float]) -> float:
        """Return the third derivative of unknown `k` along a direction."""
        # with lower coefficients and 0 for the next one, the residual is −F_u times that
        along: dict[str, list[Number]] = {name: [x] for name, x in direction.items()}
        along |= {name: [] for name in self.outputs}
        rows, _ = evaluate_in(REAL, self.program.graph, self.values, self.outputs).jacobian()
        for order in (1, 2, 3):
            left = [
                directional_in(REAL, output, self.values, along, order)[order]
                for output in self.program.outputs
            ]
            for name, (x,) in zip(
                self.outputs, solve_linear(REAL, rows, [[-x] for x in left]), strict=True
            ):
                along[name].append(x)
        return 6 * float(along[self.outputs[k]][-1])

    def kinks(
        self, k: int, names: Sequence[str], directions: Sequence[Sequence[float]]
    ) -> list[Kink]:
        """Return the nearest kinks of the equations."""
        slopes = dict(zip(names, directions, strict=True))
        for name, row in zip(self.outputs, self.first_order(names)[1], strict=True):
            slopes[name] = [dot(row, along) for along in zip(*directions, strict=True)]
        return _kinks(self.program.outputs, self.values, slopes, len(names))

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """Return unknown `k` with some inputs changed; None if the branch ends before."""
        solution = self.follow_to(inputs)
        return None if solution is None else solution[k]

    def evaluator_of_draws(self, fixed: Collection[str]) -> Draws:
        """Return the solver at points that share the `fixed` inputs, by Newton's method."""
        import numpy as np

        from ...compiled.kernels import ProgramOverRows

        random_inputs = [name for name in self.point if name not in fixed]
        size, slopes = len(self.outputs), np.array(self.first_order(random_inputs)[1])
        over_rows = ProgramOverRows(self.program, self.outputs, {*self.point}.intersection(fixed))
        steps = DRAWN_OUTPUT * size * (1 + size)

        def newton_step(inputs: Mapping[str, Any], unknowns: Any, count: int) -> Any:
            charge(steps * count)
            results = over_rows(
                {**inputs, **dict(zip(self.outputs, unknowns, strict=True))}, count
            ).results
            left, rows = results[:size], results[size:].reshape(size, size, count)
            step = np.full((size, count), np.nan)
            good = np.isfinite(results).all(axis=0)
            matrices = np.moveaxis(rows[:, :, good], 2, 0)
            good[good] = well = (
                np.linalg.matrix_rank(matrices) == size if size > 1 else matrices[:, 0, 0] != 0
            )
            step[:, good] = np.linalg.solve(matrices[well], -left[:, good].T[:, :, None])[:, :, 0].T
            return step

        def at(values: Mapping[str, Any], count: int) -> Any:
            moved = np.array(
                [np.broadcast_to(values[name], count) - self.values[name] for name in random_inputs]
            )
            results = np.array(self.solution)[:, None] + slopes @ moved
            if self.is_linear:
                # one step solves it; another, against the rounding errors of a start that is far
                # off
                for _ in range(2):
                    results = results + newton_step(values, results, count)
                return results
            # the absolute moves by each input, as their sum may cancel
            far = np.abs(slopes) @ np.abs(moved)
            sizes = np.abs(results) + far
            sizes[sizes == 0] = 1.0
            last = np.maximum(np.max(far / sizes, axis=0), 2 * TANGENT_SLACK)
            waiting = np.arange(count)
            doubtful = []
            for _ in range(MAX_CORRECTIONS):
                inputs = {
                    name: x[waiting] if isinstance(x, np.ndarray) else x
                    for name, x in values.items()
                }
                step = newton_step(inputs, results[:, waiting], len(waiting))
                length = np.max(np.abs(step) / sizes[:, waiting], axis=0)
                near = length <= STEP_TOLERANCE
                # a step longer than half the last may lead to another solution
                converging = near | (length <= 0.5 * last[waiting])
                results[:, waiting[converging]] += step[:, converging]
                doubtful += waiting[~converging].tolist()
                last[waiting] = length
                waiting = waiting[converging & ~near]
                if not len(waiting):
                    break
            # other points are followed one by one
            charge(FOLLOWED_DRAW * (len(doubtful) + len(waiting)))
            for row in [*doubtful, *waiting.tolist()]:
                there = {name: float(values[name][row]) for name in random_inputs}
                results[:, row] = self.follow_to(there) or np.nan
            return results

        return DRAWN_INPUT * len(random_inputs) + 3 * steps, at

    def follow_to(self, target: Mapping[str, float]) -> list[float] | None:
        """Return the solution at other inputs; None if the branch ends before."""
        if self.is_linear:
            return self._solve_linear(target)
        reached = [self.values, *self.walk_to(target)][-1]
        there = all(reached[name] == x for name, x in target.items())
        return [reached[name] for name in self.outputs] if there else None

    def _solve_linear(self, target: Mapping[str, float]) -> list[float] | None:
        """Return the solution of equations that are linear in the unknowns; None if there is not
        exactly one.
        """
        point = list(self.solution)
        with Defined(ArithmeticError, Singular):
            for _ in range(2):
                left, rows = self._linear(
                    {**self.values, **target, **dict(zip(self.outputs, point, strict=True))}
                )
                step = [x for (x,) in solve_linear(REAL, rows, [[-x] for x in left])]
                point = [*map(add, point, step)]
            return point
        return None

    def walk_to(
        self, target: Mapping[str, float], start: Mapping[str, float] | None = None
    ) -> Iterator[dict[str, float]]:
        """Yield all values on the straight way to other inputs, until it ends."""
        here = dict(start or self.values)
        begun = {name: here[name] for name in target}
        done, step = 0.0, 1.0
        while done < 1:
            part = min(step, 1 - done)
            there = {name: x + (done + part) * (target[name] - x) for name, x in begun.items()}
            there, reached = dict(target) if done + part >= 1 else there, None
            with Defined(ArithmeticError):
                reached = self._correct(here, there)
            if reached is not None:
                here, done, step = reached, done + part, 2 * part
                yield here
            elif (step := part / 2) < MIN_STEP_SHARE:
                return

    def _correct(
        self, here: Mapping[str, float], there: Mapping[str, float]
    ) -> dict[str, float] | None:
        way = {name: x - here[name] for name, x in there.items()}
        moves = [list(map(mul, row, way.values())) for row in self.slopes(here, list(there))]
        start = [here[name] + math.fsum(row) for name, row in zip(self.outputs, moves, strict=True)]
        far = [math.fsum(map(abs, row)) for row in moves]
        size = [abs(here[name]) + d or 1.0 for name, d in zip(self.outputs, far, strict=True)]

        def system(point: list[float]) -> tuple[list[float], list[list[float]]]:
            return self._linear({**here, **there, **dict(zip(self.outputs, point, strict=True))})

        last = max(2 * TANGENT_SLACK, *map(truediv, far, size))
        for point, _, step in islice(newton(REAL, system, start), MAX_CORRECTIONS):
            length = (
                math.inf
                if step is None
                else max(abs(d) / part for d, part in zip(step, size, strict=True))
            )
            if step is None or not (length <= STEP_TOLERANCE or length <= last / 2):
                return None
            if length <= STEP_TOLERANCE:
                at = {
                    **here,
                    **there,
                    **dict(zip(self.outputs, map(add, point, step), strict=True)),
                }
                break
            last = length
        else:
            return None
        # the tangent there has to lead back: else this is another branch
        for name, row, part in zip(self.outputs, self.slopes(at, list(there)), size, strict=True):
            move = at[name] - here[name]
            if abs(move - dot(row, way.values())) > abs(move) / 2 + TANGENT_SLACK * part:
                return None
        return at

    def slopes(self, at: Mapping[str, float], names: Sequence[str]) -> list[list[float]]:
        """Return the derivatives of the unknowns at a solution."""
        n = len(self.outputs)
        _, rows = self._linear(at, names)
        return solve_linear(
            REAL, [row[:n] for row in rows], [[-x for x in row[n:]] for row in rows]
        )

    def _linear(
        self, at: Mapping[str, float], names: Sequence[str] = ()
    ) -> tuple[list[float], list[list[float]]]:
        by = (*self.outputs, *names)
        if by not in self._evaluators:
            equations = [
                self.program.with_outputs((root,), self.program.text) for root in self.program.roots
            ]
            self._evaluators[by] = [Evaluator(equation, by) for equation in equations]
        results = [
            evaluator([at[name] for name in evaluator.variables])
            for evaluator in self._evaluators[by]
        ]
        return [value for value, _ in results], [row for _, row in results]


Model = Explicit | Implicit


class SolutionBranch:
    """The branch of an implicit model's solution over one input."""

    def __init__(self, model: Implicit, name: str) -> None:
        self.model, self.name = model, name
        self._last = (-math.inf, math.inf)  # between these numbers it ends, or continues
        self._points = {model.values[name]: model.values}
        self._at = [*self._points]

    def __call__(self, x: float) -> dict[str, float] | None:
        """Return the values of all variables; None beyond the end."""
        if x in self._points or not self._last[0] < x < self._last[1]:
            return self._points.get(x)
        k = bisect.bisect(self._at, x)
        # near its end the branch is too curved: follow it from the other side
        for near in sorted(self._at[max(k - 1, 0) : k + 1], key=lambda place: abs(place - x)):
            at = near
            for point in self.model.walk_to({self.name: x}, self._points[near]):
                at = point[self.name]
                bisect.insort(self._at, at)
                self._points[at] = point
            if at == x:
                return self._points[x]
        if not self._at[0] < x < self._at[-1]:
            end = at + 2 * MIN_STEP_SHARE * (x - near)
            self._last = (self._last[0], end) if x > near else (end, self._last[1])
        return None

    def slope(self, x: float) -> float | None:
        """Return the derivative of the first unknown."""
        values = self(x)
        with Defined(ArithmeticError):
            return None if values is None else self.model.slopes(values, [self.name])[0][0] + 0.0
        return None
