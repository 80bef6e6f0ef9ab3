"""Measurement models: outputs that a program gives, or that solve equations, with what both say of their inputs.

JCGM 102:2011, 3.8 and 6.3, calls the second ones implicit: h(Y, X) = 0. Their derivatives are those of the implicit
function theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..errors import Diagnostic, ExpressionError
from ..language.builder import Program
from ..numbers.base import Number
from ..numbers.floats import REAL
from ..numbers.work import Exhausted, spend
from ..values import linearization as sweeps
from ..values.adjoint import record_values
from ..values.expansion import directional_in
from ..values.second import hessian_in
from ..values.value import in_order
from .arithmetic import DOUBLE, kink_warnings
from .bounds import Range
from .equations import read_equations
from .evaluator import compile_gradient
from .implicit import Singular, derivatives, second_derivatives, solve_linear
from .jacobian import output_names
from .problem import Point, as_number, parse, pose
from .quantities import Quantity
from .solve import Posed, located, posed_equations

CORRECTIONS = 12
"""Steps of Newton's method from a place that should be near a solution."""

CLOSE = 1e-10
"""A step of Newton's method that is smaller than this, in relation to the unknown, leaves only rounding behind."""

STEPS_A_NODE = 5
"""Of work, for a node of the equations in a step of Newton's method."""

SHORTEST = 2.0**-12
"""Into how small parts the way to another place is divided where the solution is hard to follow."""

STEPS_AN_INPUT, STEPS_AN_OUTPUT, STEPS_AN_OPERATION = 0.08, 0.14, 0.005
"""Of work, for a draw."""


class Draws(NamedTuple):
    """What evaluates the outputs at many points."""

    steps: float
    """Of work, that a point costs at least."""
    at: Callable[[Mapping[str, Any], int], Any]
    """The outputs at so many points, an array with a row for each; not a number where there is none."""


class First(NamedTuple):
    """The outputs at the estimates, and their first derivatives."""

    values: list[float]
    rows: list[list[float]]
    """For each output its derivatives by the names that were asked for."""
    warnings: list[Diagnostic]


class Model(Protocol):
    """What propagation asks of a model."""

    program: Program
    point: dict[str, float | str]
    """The values of the inputs, as they were given."""
    outputs: list[str]
    """What the outputs are called."""
    warnings: list[Diagnostic]

    def first(self, names: Sequence[str]) -> First:
        """The outputs and their derivatives by these inputs. Raises `ExpressionError`."""

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """The second derivatives of output `k`. Raises `ExpressionError`."""

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of output `k` along a direction. Raises `ExpressionError`."""

    def draws(self, fixed: Sequence[str]) -> Draws:
        """What evaluates the outputs at many points, which have the inputs `fixed` in common."""


def variables_of(text: str, names: Sequence[str], implicit: bool) -> Program:
    """The program of a model, for what its variables are; `names` have values. Raises `ExpressionError`."""
    return read_equations(text, names).program if implicit else parse(text, names)


def model_of(
    text: str, point: Point, unknowns: Sequence[str] | None, between: Mapping[str, Range] | Range | None
) -> Model:
    """The model of a text: of equations, where unknowns or their bounds are named. Raises `ExpressionError`."""
    if unknowns is not None or between is not None:
        return Implicit(posed_equations(text, point, unknowns, between, None))
    try:
        return Explicit(text, point)
    except ExpressionError as error:
        if error.kind == "syntax":
            _check_no_equations(text, point)
        raise


def _check_no_equations(text: str, point: Point) -> None:
    """Raise a usage error where a text that is no program is equations."""
    try:
        variables = read_equations(text, list(point)).program.variables
    except ExpressionError:
        return
    unknowns = [name for name in variables if name not in point] or ["x"]
    hint = f"name that: `--for {','.join(unknowns)}`"
    raise ExpressionError("usage", "this is an equation: it does not say what is computed", hint=hint)


# ---- explicit -----------------------------------------------------------------------------------------------------
class Explicit:
    """A program whose outputs are the results."""

    def __init__(self, text: str, point: Point) -> None:
        posed = pose(text, point, None)
        self.program, self.point, self.warnings = posed.program, posed.point, posed.warnings
        self.outputs = output_names(text, self.program.outputs, {b.value: b.name for b in self.program.bindings})
        self._values = {name: as_number(x, name) for name, x in self.point.items()}

    def first(self, names: Sequence[str]) -> First:
        """The outputs and their derivatives by these inputs."""
        at = sweeps.evaluate_in(REAL, self.program.outputs, self._values, names)
        rows, kinks = sweeps.jacobian(at, names)
        return First(_floats(at.values), [_floats(row) for row in rows], kink_warnings(DOUBLE, kinks.items()))

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """The second derivatives of output `k`."""
        return list(map(list, hessian_in(REAL, self.program.outputs[k], self._values, names).hessian))

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of output `k` along a direction."""
        along = {name: [x] for name, x in direction.items()}
        return 6 * float(directional_in(REAL, self.program.outputs[k], self._values, along, 3)[3])

    def draws(self, fixed: Sequence[str]) -> Draws:
        """What evaluates the outputs at many points: the same kernels as rows of data."""
        # only draws need NumPy
        from .blocks import evaluate, kernel

        program = self.program
        names = list(program.variables)
        rows = kernel(
            lambda recorder: record_values(program.outputs, list(program.variables.values()), recorder),
            len(names), frozenset(k for k, name in enumerate(names) if name in fixed), None,
        )  # fmt: skip

        evaluators = [compile_gradient(program.with_outputs((root,), program.text)) for root in program.roots]
        steps = STEPS_AN_INPUT * sum([name not in fixed for name in names]) + STEPS_AN_OUTPUT * len(program.roots)
        steps += STEPS_AN_OPERATION * len(in_order(program.outputs))

        def plain(at: Mapping[str, float]) -> Sequence[float]:
            point = list(at.values())
            return _floats([each.value(point) for each in evaluators])

        def draw(values: Mapping[str, Any], count: int) -> Any:
            spend(steps * count)
            columns = [values[name] for name in names]
            return evaluate(rows, names, columns, count, len(program.roots), plain, lambda row, name: None).results

        return Draws(steps + sum([each.steps for each in evaluators if rows.compute is None]), draw)


def _floats(numbers: Sequence[Any]) -> list[float]:
    return [float(x) + 0.0 for x in numbers]


# ---- implicit -----------------------------------------------------------------------------------------------------
class Implicit:
    """Equations whose unknowns are the results: at other inputs, those that the solution moves to with the inputs."""

    def __init__(self, posed: Posed) -> None:
        for name in posed.unknowns:
            if isinstance(posed.given.get(name), Quantity):
                raise ExpressionError(
                    "point", f"`{name}` is looked for: its value is where to start, and has no uncertainty",
                    hint=f"give the number alone: `{name}={float(posed.given[name]):g}`",
                )  # fmt: skip
        self.program, self.outputs, self.warnings = posed.program, posed.unknowns, posed.warnings
        self.point = {name: posed.given[name] for name in self.program.variables if name not in posed.unknowns}
        self._values: dict[str, float] = {**posed.values, **located(posed)}

    @property
    def _solution(self) -> list[float]:
        return [self._values[name] for name in self.outputs]

    def first(self, names: Sequence[str]) -> First:
        """The unknowns and their derivatives by these inputs."""
        rows, kinks = self._slopes(names)
        return First(self._solution, rows, kink_warnings(DOUBLE, kinks.items()))

    def _slopes(self, names: Sequence[str]) -> tuple[list[list[float]], sweeps.Kinks]:
        try:
            rows, kinks = derivatives(REAL, self.program.outputs, self._values, self.outputs, names)
        except Singular:
            where = ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.outputs, self._solution, strict=True))
            raise ExpressionError(
                "derivative", f"the equations have a multiple root at {where}, which has no derivative",
                hint="a small change of the other variables may split it in two, or leave none",
            ) from None  # fmt: skip
        return [_floats(row) for row in rows], kinks

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """The second derivatives of unknown `k`."""
        first, _ = self._slopes(names)
        return second_derivatives(REAL, self.program.outputs, self._values, self.outputs, names, first)[k]

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of unknown `k` along a direction.

        The coefficients of the unknowns along it, one order after the other: with those below it known and its own left
        out, what remains of the equations at an order is −F_u times it.
        """
        along: dict[str, list[Number]] = {name: [x] for name, x in direction.items()}
        at = sweeps.evaluate_in(REAL, self.program.outputs, self._values, self.outputs)
        rows, _ = sweeps.jacobian(at, self.outputs)
        for name in self.outputs:
            along[name] = []
        for order in (1, 2, 3):
            left = [directional_in(REAL, output, self._values, along, order)[order] for output in self.program.outputs]
            for name, (x,) in zip(self.outputs, solve_linear(REAL, rows, [[-x] for x in left]), strict=True):
                along[name].append(x)
        return 6 * float(along[self.outputs[k]][-1])

    def draws(self, fixed: Sequence[str]) -> Draws:
        """What solves the equations at many points: by Newton's method from the first order, all points at once.

        A point where that does not settle at once is asked about by itself: `followed`.
        """
        import numpy as np

        from .blocks import evaluate, gradient_recorder, kernel

        program, unknowns = self.program, list(self.outputs)
        names = list(program.variables)
        shared = frozenset(k for k, name in enumerate(names) if name in fixed)
        singles = [program.with_outputs((root,), program.text) for root in program.roots]
        kernels = [kernel(gradient_recorder(each, unknowns), len(names), shared, None) for each in singles]
        moving = [name for name in self.point if name not in fixed]
        slopes = np.array(self._slopes(moving)[0])
        size = len(unknowns)
        steps = STEPS_AN_OUTPUT * size * (1 + size)

        def equation(k: int) -> Callable[[Mapping[str, float]], Sequence[float]]:
            def plain(at: Mapping[str, float]) -> Sequence[float]:
                found = sweeps.evaluate_in(REAL, singles[k].outputs, at, unknowns)
                return _floats([*found.values, *sweeps.jacobian(found, unknowns)[0][0]])

            return plain

        plains = [equation(k) for k in range(size)]

        def newton(inputs: Mapping[str, Any], y: Any, count: int) -> Any:
            """The step of Newton's method at each point."""
            spend(steps * count)
            at = {**inputs, **dict(zip(unknowns, y, strict=True))}
            columns = [at[name] for name in names]
            found = np.array(
                [
                    evaluate(kernels[k], names, columns, count, 1 + size, plains[k], lambda row, name: None).results
                    for k in range(size)
                ]
            )
            step = np.full((size, count), np.nan)
            good = np.isfinite(found).all(axis=(0, 1))
            matrices = np.moveaxis(found[:, 1:, good], 2, 0)
            good[good] = well = np.linalg.matrix_rank(matrices) == size if size > 1 else matrices[:, 0, 0] != 0
            step[:, good] = np.linalg.solve(matrices[well], -found[:, :1, good].transpose(2, 0, 1))[:, :, 0].T
            return step

        def draw(values: Mapping[str, Any], count: int) -> Any:
            moved = np.array([np.broadcast_to(values[name], count) - self._values[name] for name in moving])
            results = np.array(self._solution)[:, None] + slopes @ moved
            # how far the inputs move the unknowns, one by one: together their moves may cancel
            far = np.abs(slopes) @ np.abs(moved)
            size = np.abs(results) + far
            last = _longest(far, size)
            waiting = np.arange(count)
            doubtful = []
            for _ in range(CORRECTIONS):
                inputs = {
                    name: values[name][waiting] if isinstance(values[name], np.ndarray) else values[name]
                    for name in self.point
                }
                step = newton(inputs, results[:, waiting], len(waiting))
                length = _longest(step, size[:, waiting])
                near = length <= CLOSE
                # each step is at most half the one before, else this may be the way to another solution
                settling = near | (length <= 0.5 * last[waiting])
                results[:, waiting[settling]] += step[:, settling]
                doubtful += waiting[~settling].tolist()
                last[waiting] = length
                waiting = waiting[settling & ~near]
                if not len(waiting):
                    break
            for row in [*doubtful, *waiting.tolist()]:
                there = {name: float(values[name][row]) for name in moving}
                results[:, row] = self.followed(there) or np.nan
            return results

        def _longest(step: Any, size: Any) -> Any:
            """The largest share that a step has of a size, at each point; not a number where there is no step."""
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.max(np.where(step == 0, 0.0, np.abs(step) / size), axis=0)

        return Draws(STEPS_AN_INPUT * len(moving) + 3 * steps, draw)

    def followed(self, target: Mapping[str, float]) -> list[float] | None:
        """The solution at other values of the inputs that this one moves to on the straight way there; None if it ends.

        A predictor and Newton's method as corrector, in steps that are halved where the corrector does not settle.
        """
        names = list(target)
        start = {name: self._values[name] for name in names}
        here = dict(self._values)
        done, step = 0.0, 1.0
        while done < 1:
            part = min(step, 1 - done)
            there = {name: start[name] + (done + part) * (target[name] - start[name]) for name in names}
            if done + part >= 1:
                there = dict(target)
            try:
                found = self._corrected(here, there)
            except Exhausted:
                raise
            except (ExpressionError, Singular, ArithmeticError):
                found = None
            if found is not None:
                here, done, step = found, done + part, 2 * part
            elif (step := part / 2) < SHORTEST:
                return None
        return [here[name] for name in self.outputs]

    def _corrected(self, here: Mapping[str, float], there: Mapping[str, float]) -> dict[str, float] | None:
        """The solution a step away from one; None where Newton's method does not settle."""
        names, unknowns, outputs = list(there), self.outputs, self.program.outputs
        slopes, _ = derivatives(REAL, outputs, here, unknowns, names)
        way = [there[name] - here[name] for name in names]
        moves = [[d * part for d, part in zip(row, way, strict=True)] for row in slopes]
        ahead = [math.fsum(row) for row in moves]
        at = {**here, **there, **{name: here[name] + d for name, d in zip(unknowns, ahead, strict=True)}}
        far = [math.fsum(map(abs, row)) for row in moves]
        size = [abs(here[name]) + d for name, d in zip(unknowns, far, strict=True)]

        def longest(step: Sequence[float]) -> float:
            return max(abs(d) / part if d else 0.0 for d, part in zip(step, size, strict=True))

        last = longest(far)
        for _ in range(CORRECTIONS):
            spend(STEPS_A_NODE * len(self.program.tape.data))
            found = sweeps.evaluate_in(REAL, outputs, at, unknowns)
            rows, _ = sweeps.jacobian(found, unknowns)
            step = [float(x) for (x,) in solve_linear(REAL, rows, [[-x] for x in found.values])]
            length = longest(step)
            if not (length <= CLOSE or length <= 0.5 * last):
                return None
            for name, d in zip(unknowns, step, strict=True):
                at[name] += d
            if length <= CLOSE:
                return at
            last = length
        return None
