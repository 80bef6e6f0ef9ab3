"""Measurement models: outputs that a program gives, or that solve equations, with what both say of their inputs.

JCGM 102:2011, 3.8 and 6.3, calls the second ones implicit: h(Y, X) = 0. Their derivatives are those of the implicit
function theorem.
"""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..batched.evaluator import Evaluator, compile_gradient
from ..derivatives.jacobian import output_names
from ..equations.equations import read_equations
from ..equations.implicit import derivatives, second_derivatives
from ..equations.solve import located, posed_equations
from ..errors import Diagnostic, ExpressionError
from ..graphs import jvp_vjp as sweeps
from ..graphs.adjoint import record_values
from ..graphs.second_order import hessian_in
from ..graphs.taylor_mode import directional_in
from ..graphs.value import Value, in_order
from ..graphs.value_and_gradient import value_in
from ..inputs.arithmetic import DOUBLE, kink_warnings
from ..inputs.bounds import Range
from ..inputs.problem import Point, Problem, as_number, parse, pose
from ..language.builder import Program
from ..numbers.base import Number
from ..numbers.budget import Defined, charge
from ..numbers.dual import Dual, Duals, plain
from ..numbers.floats import REAL
from ..numerics.linear_algebra import Singular, solve_linear
from .measured_value import MeasuredValue

CORRECTIONS = 12
"""Steps of Newton's method from a place that should be near a solution."""

CLOSE = 1e-10
"""A step of Newton's method that is smaller than this, in relation to the unknown, leaves only rounding behind."""

SLACK = 0.02
"""A share of the unknown that it may be off the tangent after a step, whatever the step is."""

SHORTEST = 2.0**-30
"""Into how small parts the way to another place is divided where the solution is hard to follow."""

MOST_KINKS = 50
"""So many of the nearest kinks of a program are looked at."""

STEPS_AN_INPUT, STEPS_AN_OUTPUT, STEPS_AN_OPERATION = 0.08, 0.14, 0.005
"""Of work, for a draw."""


class Sampler(NamedTuple):
    """What evaluates the outputs at many points."""

    steps: float
    """Of work, that a point costs at least."""
    at: Callable[[Mapping[str, Any], int], Any]
    """The outputs at so many points, an array with a row for each; not a number where there is none."""


class FirstOrder(NamedTuple):
    """The outputs at the estimates, and their first derivatives."""

    values: list[float]
    rows: list[list[float]]
    """For each output its derivatives by the names that were asked for."""
    warnings: list[Diagnostic]


class Kink(NamedTuple):
    """A surface where pieces of a program meet: where a number that the program computes is 0."""

    node: Value
    value: float
    """That number at the estimates."""
    slopes: list[float]
    """Its derivatives along the directions that were asked for."""


class Model(Protocol):
    """What propagation asks of a model."""

    program: Program
    point: dict[str, float | str]
    """The values of the inputs, as they were given."""
    outputs: list[str]
    """What the outputs are called."""
    warnings: list[Diagnostic]

    def first(self, names: Sequence[str]) -> FirstOrder:
        """The outputs and their derivatives by these inputs. Raises `ExpressionError`."""

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """The second derivatives of output `k`. Raises `ExpressionError`."""

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of output `k` along a direction. Raises `ExpressionError`."""

    def kinks(self, k: int, names: Sequence[str], directions: Sequence[Sequence[float]]) -> list[Kink]:
        """The nearest kinks of output `k`; a row of `directions` says how one of these inputs changes along them."""

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """The value of output `k` at other values of some inputs; None where there is none."""

    def draws(self, fixed: Sequence[str]) -> Sampler:
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


class _Surfaces:
    """Stands for the sides of a kink where a row of the table asks for them, and notes the numbers that are 0 there."""

    def __init__(self) -> None:
        self.zeros: list[Dual] = []

    def __call__(self, u: Dual) -> int:
        self.zeros.append(u)
        return 1 if u.x > 0 else -1

    def apart(self, u: Dual) -> bool:
        self.zeros.append(u)
        return bool(u.x != 0)

    def length(self, xs: Sequence[Dual]) -> Dual:
        self.zeros += xs
        return xs[0]


def _kinks(
    outputs: Sequence[Value], values: Mapping[str, float], slopes: Mapping[str, Sequence[float]], count: int
) -> list[Kink]:
    """Return the nearest kinks in as many directions, where `slopes` has the derivatives of variables along these."""
    if not any(node.primitive.near for node in in_order(outputs)):
        return []
    m = Duals(REAL)
    leaves = {
        name: Dual(m, float(x), {i: t for i, t in enumerate(slopes.get(name, ())) if t}) for name, x in values.items()
    }
    at = sweeps.evaluate_in(m, outputs, leaves, ())
    found = []
    for place, (node, inputs) in zip(at.order, at.inputs(at.order), strict=True):
        if not node.primitive.near:
            continue
        surfaces, out = _Surfaces(), plain(at.tape.data[place])
        # what jumps is asked for its jumps to the next values too
        for value in (out - 1, out, out + 1) if node.primitive.jumps else (out,):
            with suppress(ValueError, ArithmeticError):
                node.primitive.near(m, surfaces, *inputs, out=value)
        for u in surfaces.zeros:
            if not u.fault and 0 < math.hypot(*u.d.values()) < math.inf:
                found.append(Kink(node, u.x, [u.d.get(i, 0.0) for i in range(count)]))
    return sorted(found, key=lambda kink: abs(kink.value) / math.hypot(*kink.slopes))[:MOST_KINKS]


# ---- explicit -----------------------------------------------------------------------------------------------------
class Explicit:
    """A program whose outputs are the results."""

    def __init__(self, text: str, point: Point) -> None:
        posed = pose(text, point, None)
        self.program, self.point, self.warnings = posed.program, posed.point, posed.warnings
        self.outputs = output_names(text, self.program.outputs, {b.value: b.name for b in self.program.bindings})
        self._values = {name: as_number(x, name) for name, x in self.point.items()}

    def first(self, names: Sequence[str]) -> FirstOrder:
        """The outputs and their derivatives by these inputs."""
        at = sweeps.evaluate_in(REAL, self.program.outputs, self._values, names)
        rows, kinks = sweeps.jacobian(at, names)
        return FirstOrder(_floats(at.values), [_floats(row) for row in rows], kink_warnings(DOUBLE, kinks.items()))

    def second(self, k: int, names: Sequence[str]) -> list[list[Any]]:
        """The second derivatives of output `k`."""
        return list(map(list, hessian_in(REAL, self.program.outputs[k], self._values, names).hessian))

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of output `k` along a direction."""
        along = {name: [x] for name, x in direction.items()}
        return 6 * float(directional_in(REAL, self.program.outputs[k], self._values, along, 3)[3])

    def kinks(self, k: int, names: Sequence[str], directions: Sequence[Sequence[float]]) -> list[Kink]:
        """The nearest kinks of output `k`."""
        slopes = dict(zip(names, directions, strict=True))
        return _kinks((self.program.outputs[k],), self._values, slopes, len(names))

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """The value of output `k` at other values of some inputs; None where there is none."""
        return value_in(REAL, self.program.outputs[k], {**self._values, **inputs})

    def draws(self, fixed: Sequence[str]) -> Sampler:
        """What evaluates the outputs at many points: the same kernels as rows of data."""
        # only draws need NumPy
        from ..batched.kernels import evaluate, kernel

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
            charge(steps * count)
            columns = [values[name] for name in names]
            return evaluate(rows, names, columns, count, len(program.roots), plain, lambda row, name: None).results

        return Sampler(steps + sum([each.steps for each in evaluators if rows.compute is None]), draw)


def _floats(numbers: Sequence[Any]) -> list[float]:
    return [float(x) + 0.0 for x in numbers]


# ---- implicit -----------------------------------------------------------------------------------------------------
class Implicit:
    """Equations whose unknowns are the results: at other inputs, those that the solution moves to with the inputs."""

    def __init__(self, posed: Problem) -> None:
        for name in posed.unknowns:
            if isinstance(posed.point.get(name), MeasuredValue):
                raise ExpressionError(
                    "point", f"`{name}` is looked for: its value is where to start, and has no uncertainty",
                    hint=f"give the number alone: `{name}={float(posed.point[name]):g}`",
                )  # fmt: skip
        self.program, self.outputs, self.warnings = posed.program, list(posed.unknowns), posed.warnings
        self.point = {name: posed.point[name] for name in self.program.variables if name not in posed.unknowns}
        self.values: dict[str, float] = {**posed.values, **located(posed)}
        self._evaluators: dict[tuple[str, ...], list[Evaluator]] = {}

    @property
    def _solution(self) -> list[float]:
        return [self.values[name] for name in self.outputs]

    def first(self, names: Sequence[str]) -> FirstOrder:
        """The unknowns and their derivatives by these inputs."""
        rows, kinks = self._slopes(names)
        return FirstOrder(self._solution, rows, kink_warnings(DOUBLE, kinks.items()))

    def _slopes(self, names: Sequence[str]) -> tuple[list[list[float]], sweeps.Kinks]:
        try:
            rows, kinks = derivatives(REAL, self.program.outputs, self.values, self.outputs, names)
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
        return second_derivatives(REAL, self.program.outputs, self.values, self.outputs, names, first)[k]

    def third(self, k: int, direction: Mapping[str, float]) -> float:
        """The third derivative of unknown `k` along a direction.

        The coefficients of the unknowns along it, one order after the other: with those below it known and its own left
        out, what remains of the equations at an order is −F_u times it.
        """
        along: dict[str, list[Number]] = {name: [x] for name, x in direction.items()}
        at = sweeps.evaluate_in(REAL, self.program.outputs, self.values, self.outputs)
        rows, _ = sweeps.jacobian(at, self.outputs)
        for name in self.outputs:
            along[name] = []
        for order in (1, 2, 3):
            left = [directional_in(REAL, output, self.values, along, order)[order] for output in self.program.outputs]
            for name, (x,) in zip(self.outputs, solve_linear(REAL, rows, [[-x] for x in left]), strict=True):
                along[name].append(x)
        return 6 * float(along[self.outputs[k]][-1])

    def kinks(self, k: int, names: Sequence[str], directions: Sequence[Sequence[float]]) -> list[Kink]:
        """The nearest kinks of the equations."""
        slopes = dict(zip(names, directions, strict=True))
        for name, row in zip(self.outputs, self._slopes(names)[0], strict=True):
            slopes[name] = [math.fsum(map(operator.mul, row, along)) for along in zip(*directions, strict=True)]
        return _kinks(self.program.outputs, self.values, slopes, len(names))

    def at(self, k: int, inputs: Mapping[str, float]) -> float | None:
        """The value of unknown `k` at other values of some inputs; None where the solution ends before."""
        solution = self.followed(inputs)
        return None if solution is None else solution[k]

    def draws(self, fixed: Sequence[str]) -> Sampler:
        """What solves the equations at many points: by Newton's method from the first order, all points at once.

        A point where that does not settle at once is asked about by itself: `followed`.
        """
        import numpy as np

        from ..batched.kernels import evaluate, gradient_recorder, kernel

        program, unknowns = self.program, list(self.outputs)
        names = list(program.variables)
        shared = frozenset(k for k, name in enumerate(names) if name in fixed)
        singles = self._singles()
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
            charge(steps * count)
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
            moved = np.array([np.broadcast_to(values[name], count) - self.values[name] for name in moving])
            results = np.array(self._solution)[:, None] + slopes @ moved
            # how far the inputs move the unknowns, one by one: together their moves may cancel
            far = np.abs(slopes) @ np.abs(moved)
            size = np.abs(results) + far
            size[size == 0] = 1.0
            last = np.maximum(_longest(far, size), 2 * SLACK)
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
            return np.max(np.abs(step) / size, axis=0)

        return Sampler(STEPS_AN_INPUT * len(moving) + 3 * steps, draw)

    def followed(self, target: Mapping[str, float]) -> list[float] | None:
        """The solution at other inputs that this one moves to on the straight way there; None if it ends before."""
        reached = [self.values, *self.way(target)][-1]
        there = all(reached[name] == x for name, x in target.items())
        return [reached[name] for name in self.outputs] if there else None

    def way(self, target: Mapping[str, float], start: Mapping[str, float] | None = None) -> Iterator[dict[str, float]]:
        """The values of all variables on the straight way to other inputs, as far as the solution can be followed.

        `start` is another place with its solution. A predictor and Newton's method as corrector, in steps that are
        halved where the corrector does not settle.
        """
        names = list(target)
        here = dict(start or self.values)
        begun = {name: here[name] for name in names}
        done, step = 0.0, 1.0
        while done < 1:
            part = min(step, 1 - done)
            there = {name: begun[name] + (done + part) * (target[name] - begun[name]) for name in names}
            if done + part >= 1:
                there = dict(target)
            found = None
            with Defined(ArithmeticError):
                found = self._corrected(here, there)
            if found is not None:
                here, done, step = found, done + part, 2 * part
                yield here
            elif (step := part / 2) < SHORTEST:
                return

    def _corrected(self, here: Mapping[str, float], there: Mapping[str, float]) -> dict[str, float] | None:
        """The solution a step away from one; None where Newton's method does not settle."""
        names, unknowns = list(there), self.outputs
        n = len(unknowns)
        _, rows = self._linear(here, names)
        way = [there[name] - here[name] for name in names]
        slopes = solve_linear(REAL, [row[:n] for row in rows], [[-x for x in row[n:]] for row in rows])
        moves = [[d * part for d, part in zip(row, way, strict=True)] for row in slopes]
        at = {**here, **there}
        for name, row in zip(unknowns, moves, strict=True):
            at[name] += math.fsum(row)
        far = [math.fsum(map(abs, row)) for row in moves]
        size = [abs(here[name]) + d or 1.0 for name, d in zip(unknowns, far, strict=True)]

        def longest(step: Sequence[float]) -> float:
            return max(abs(d) / part for d, part in zip(step, size, strict=True))

        last = max(longest(far), 2 * SLACK)
        for _ in range(CORRECTIONS):
            values, rows = self._linear(at, names)
            step = [float(x) for (x,) in solve_linear(REAL, [row[:n] for row in rows], [[-x] for x in values])]
            length = longest(step)
            if not (length <= CLOSE or length <= last / 2):
                return None
            for name, d in zip(unknowns, step, strict=True):
                at[name] += d
            if length <= CLOSE:
                break
            last = length
        else:
            return None
        # from there the way back has to lead here: else this is another solution, beyond where this one ends
        slopes = solve_linear(REAL, [row[:n] for row in rows], [[-x for x in row[n:]] for row in rows])
        back = [math.fsum(d * part for d, part in zip(row, way, strict=True)) for row in slopes]
        for name, d, part in zip(unknowns, back, size, strict=True):
            move = at[name] - here[name]
            if abs(move - d) > abs(move) / 2 + SLACK * part:
                return None
        return at

    def slope(self, at: Mapping[str, float], name: str) -> float:
        """The derivative of the first unknown at a solution. Raises `Singular`, and `ExpressionError`."""
        n = len(self.outputs)
        _, rows = self._linear(at, [name])
        return float(solve_linear(REAL, [row[:n] for row in rows], [[-row[n]] for row in rows])[0][0]) + 0.0

    def _linear(self, at: Mapping[str, float], names: Sequence[str]) -> tuple[list[float], list[list[float]]]:
        """What the equations are off by at a place, and their derivatives by the unknowns and these inputs."""
        by = (*self.outputs, *names)
        if by not in self._evaluators:
            self._evaluators[by] = [Evaluator(each, by) for each in self._singles()]
        found = [each([at[name] for name in each.variables]) for each in self._evaluators[by]]
        return [value for value, _ in found], [row for _, row in found]

    def _singles(self) -> list[Program]:
        """A program for each equation."""
        return [self.program.with_outputs((root,), self.program.text) for root in self.program.roots]


class Branch:
    """How an unknown follows one input: the branch of the solution of an implicit model through its estimates."""

    def __init__(self, model: Implicit, name: str) -> None:
        self.model, self.name = model, name
        self._last = (-math.inf, math.inf)
        """Between these numbers it ends, or goes on."""
        self._at = [model.values[name]]
        self._known = {model.values[name]: model.values}

    def __call__(self, x: float) -> dict[str, float] | None:
        """The values of all variables there; None beyond the end of the branch. Raises `ExpressionError` (`limit`)."""
        found = self._known.get(x)
        if found is not None:
            return found
        if not self._last[0] < x < self._last[1]:
            return None
        k = bisect.bisect(self._at, x)
        # next to its end the branch bends so much that it is better followed from the other side
        for near in sorted(self._at[max(k - 1, 0) : k + 1], key=lambda known: abs(known - x)):
            at = self._followed(near, x)
            if at == x:
                return self._known[x]
        if not self._at[0] < x < self._at[-1]:
            end = at + 2 * SHORTEST * (x - near)
            self._last = (self._last[0], end) if x > near else (end, self._last[1])
        return None

    def _followed(self, near: float, x: float) -> float:
        """How far the branch can be followed from a place that is known; what it passes is known then."""
        at = near
        for found in self.model.way({self.name: x}, self._known[near]):
            at = found[self.name]
            bisect.insort(self._at, at)
            self._known[at] = found
        return at

    def slope(self, x: float) -> float | None:
        """The derivative of the first unknown there; None where there is none."""
        values = self(x)
        if values is None:
            return None
        with Defined(ArithmeticError):
            return self.model.slope(values, self.name)
        return None
