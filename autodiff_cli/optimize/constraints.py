"""Minima under constraints: conditions of first and second order.

The Lagrangian is f - Σ λ·g, with g ≥ 0 or g = 0: Nocedal and Wright, Numerical Optimization, 12.3 and 12.5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import NonlinearConstraint, lsq_linear

from ..batched.evaluator import Evaluator
from ..errors import ExpressionError, usage_error
from ..inputs.problem import check_single, parse
from ..language.builder import Program
from ..numbers.budget import Defined
from ..numbers.running_error import UNIT_ROUNDOFF, Bounded
from ..numerics.optimality import Single
from .convergence import WALL, ConstraintAtPoint, ConvergenceReport, Limits, walls_at

if TYPE_CHECKING:
    from ..quantities.unit import Unit

BORDER_DISTANCES = (1e-4, 1e-6, 1e-9)
"""Relative distances from its border at which a constraint counts as active, tried in turn."""

END_TOLERANCE = 1e-2  # relative distance from the end of a search
NEWTON_STEPS = 30
MAX_VIOLATION = 1e-10  # violation beyond rounding errors, in the same units
CURVATURE_OFFSET = 1e-6  # relative distance at which the curvature is checked too
ZERO_MULTIPLIER = 1e-9  # multiplier, relative to the largest gradient


_RELATION = re.compile(r"<=|>=|≤|≥|==|=|<|>")


class Constraint(NamedTuple):
    """A constraint `g >= 0`, or `g = 0`."""

    text: str
    equality: bool
    program: Program
    """Whose value is g."""
    unit: Unit | None = None


def parse_constraints(texts: str | Sequence[str]) -> list[Constraint]:
    """Return the constraints in texts such as `x*y = 2`; `0 <= x <= 1` are two.

    Raises `ExpressionError`, whose `text` is what was read.
    """
    constraints = []
    texts = [texts] if isinstance(texts, str) else texts
    for text in (part for line in texts for part in re.split(r"[;\n]", line) if part.strip()):
        signs = _RELATION.findall(text)
        sides = [side.strip() for side in _RELATION.split(text)]
        if not signs or not all(sides):
            raise usage_error(f"`{text.strip()}` is no constraint", 'write `--subject-to "x + y <= 1"`, or `=` or `>=`')
        if "<" in signs or ">" in signs:
            sign = next(sign for sign in signs if sign in "<>")
            raise usage_error(f"`{text.strip()}` has no border that an optimum could be at", f"write `{sign}=`")
        for left, sign, right in zip(sides, signs, sides[1:], strict=False):
            difference = f"({right}) - ({left})" if sign in ("<=", "≤") else f"({left}) - ({right})"
            try:
                program = parse(difference, units=True)
                check_single(program)
            except ExpressionError as error:
                error.text = error.text or difference
                raise
            constraints.append(Constraint(f"{left} {sign} {right}", sign in ("=", "=="), program))
    return constraints


class ConstrainedProblem:
    """A function with its constraints and bounds, and the derivatives of both."""

    def __init__(
        self,
        objective: Any,
        constraints: Sequence[Constraint],
        own: tuple[str, ...],
        limits: Limits,
        tolerance: float,
    ) -> None:
        """`objective` is an `Objective`, `own` are the free variables of its function."""
        self.objective, self.constraints, self.limits, self.tolerance = objective, constraints, limits, tolerance
        self.free = objective.start.free
        self.functions: list[tuple[Any, tuple[str, ...]]] = [(objective.function, own)]
        """Function and constraints, each with its free variables."""
        for constraint in constraints:
            names = tuple(name for name in self.free if name in constraint.program.variables)
            self.functions.append((Single(constraint.program.outputs[0]), names))
        self._evaluators = [
            Evaluator(constraint.program, names)
            for constraint, (_, names) in zip(constraints, self.functions[1:], strict=True)
        ]

    def _complete(self, x: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.objective.start.names, self.objective.full(x), strict=True))

    def _embedded(self, values: Sequence[float], names: Sequence[str]) -> list[float]:
        by_name = dict(zip(names, values, strict=True))
        return [by_name.get(name, 0.0) for name in self.free]

    def first_order(self, x: Sequence[float]) -> tuple[Any, Any, Any, Any]:
        """Return values and gradients of function and constraints, with rounding errors."""
        point = self._complete(x)
        values, errors, gradients, gradient_errors = [], [], [], []
        for function, names in self.functions:
            inputs = {
                name: Bounded(value, UNIT_ROUNDOFF * abs(value) * (name in names)) for name, value in point.items()
            }
            value, slopes = function.bounded(inputs, names)
            values.append(value.x)
            errors.append(value.error)
            gradients.append(self._embedded([slope.x for slope in slopes], names))
            gradient_errors.append(self._embedded([slope.error for slope in slopes], names))
        return np.array(values), np.array(errors), np.array(gradients), np.array(gradient_errors)

    def _hessian(self, x: Sequence[float], factors: Sequence[float]) -> Any:
        point, total = self._complete(x), np.zeros((len(self.free), len(self.free)))
        for (function, names), factor in zip(self.functions, factors, strict=True):
            if factor and names:
                places = [self.free.index(name) for name in names]
                total[np.ix_(places, places)] += factor * np.array(function.hessian(point, names))
        return total

    def _of_lagrangian(self, x: Sequence[float], multipliers: Any) -> Any:
        return self._hessian(x, (1.0, *(-m for m in multipliers)))

    def for_scipy(self, method: str, steps: int) -> dict[str, Any]:
        """Return constraints, bounds and options as SciPy takes them."""

        def constraint(k: int, x: Any) -> tuple[float, Any]:
            evaluator, point = self._evaluators[k], self._complete(x.tolist())
            try:
                value, partials = evaluator([point[name] for name in evaluator.variables])
            except ExpressionError:
                # outside of its domain a constraint does not hold
                return -WALL, np.zeros(len(x))
            return value, np.array(self._embedded(partials, evaluator.wrt))

        def curvature(k: int, x: Any, factor: float) -> Any:
            unit = [0.0, *(float(j == k) for j in range(len(self.constraints)))]
            try:
                return factor * self._hessian(x.tolist(), unit)
            except ExpressionError:
                return np.zeros((len(x), len(x)))

        more: dict[str, Any] = {"options": {"ftol": 1e-10, "maxiter": steps}}
        if method != "slsqp":
            more = {"options": {"gtol": 1e-10, "xtol": 1e-12, "maxiter": steps}, "hess": self.objective.hessian}
        more["constraints"] = [
            NonlinearConstraint(
                lambda x, k=k: constraint(k, x)[0],
                0.0,
                0.0 if of.equality else math.inf,
                jac=lambda x, k=k: constraint(k, x)[1],
                hess=lambda x, v, k=k: curvature(k, x, float(v[0])),
            )
            for k, of in enumerate(self.constraints)
        ]
        if any(math.isfinite(end) for ends in self.limits for end in ends):
            more["bounds"] = self.limits
        return more

    def active(self, x: Any, values: Any, gradients: Any, near: float) -> list[int]:
        """Return the places of equations and of constraints near their border."""
        size = np.linalg.norm(gradients[1:] * np.maximum(1.0, np.abs(x)), axis=1) if len(self.constraints) else []
        return [
            k
            for k, (constraint, g, s) in enumerate(zip(self.constraints, values[1:], size, strict=True))
            if constraint.equality or g <= near * max(s, 1e-300)
        ]

    def multipliers(self, x: Any, gradients: Any, places: Sequence[int]) -> tuple[Any, Any]:
        """Return all multipliers, and the Lagrangian's projected gradient."""
        result, walls = np.zeros(len(self.constraints)), walls_at(x, self.limits)
        inside = [k for k, wall in enumerate(walls) if not wall]
        signed = [k for k, wall in enumerate(walls) if wall in (-1, 1)]
        columns = [gradients[1 + k] for k in places]
        # a bound pushes into what it bounds
        columns += [-walls[k] * np.eye(len(walls))[k] for k in signed]
        rows = inside + signed
        if columns and rows:
            matrix = np.array(columns).T[rows]
            size = np.linalg.norm(matrix, axis=0)
            size[size == 0] = 1.0
            low = [
                -np.inf if k < len(places) and self.constraints[places[k]].equality else 0.0 for k in range(len(size))
            ]
            solution = lsq_linear(matrix / size, gradients[0][rows], (low, np.inf), tol=1e-15).x / size
            result[list(places)] = solution[: len(places)]
        left = gradients[0] - result @ gradients[1:] if len(result) else gradients[0].copy()
        for k, wall in enumerate(walls):
            if wall == 2 or (wall and wall * left[k] < 0):
                left[k] = 0.0
        return result, left

    def nearby(self, x: Any) -> tuple[Any, ConvergenceReport]:
        """Return the nearby point that meets the conditions, or the end, and a report."""
        for near in BORDER_DISTANCES:
            there = self._polished(x, near)
            if np.all(np.abs(there - x) <= END_TOLERANCE * np.maximum(1.0, np.abs(x))):
                report = self._conditions(there)
                if report.reason:
                    return there, report
        return x, self._conditions(x)

    def _polished(self, x: Any, close: float) -> Any:
        low, high = (np.array(side) for side in zip(*self.limits, strict=True))
        near = close * np.maximum(1.0, np.abs(x))
        slopes = self.first_order(x)[2][0]
        # without constraints a bound holds what the gradient pushes against it
        pushed = np.zeros(len(x)) if self.constraints else slopes
        x = np.where((x - low <= near) & (pushed >= 0), low, np.where((high - x <= near) & (pushed <= 0), high, x))
        best, least = x, np.inf
        for _ in range(NEWTON_STEPS):
            values, _, gradients, _ = self.first_order(x)
            places = self.active(x, values, gradients, close)
            multipliers, left = self.multipliers(x, gradients, places)
            scale = max(1.0, float(np.max(np.abs(gradients))))
            strong = [
                k
                for k in places
                if self.constraints[k].equality or abs(multipliers[k]) > ZERO_MULTIPLIER * scale or values[1 + k] < 0
            ]
            off = float(np.linalg.norm(left)) + scale * float(np.sum(np.abs(values[1:][strong])))
            if not off < least:
                break
            best, least = x, off
            walls = walls_at(x, self.limits)
            inside = [k for k, wall in enumerate(walls) if not wall or abs(left[k]) > 0]
            if not inside:
                break
            try:
                curvature = self._of_lagrangian(x, multipliers)[np.ix_(inside, inside)]
            except ExpressionError:
                break
            jacobian = gradients[1:][strong][:, inside]
            n, m = len(inside), len(strong)
            matrix = np.block([[curvature, -jacobian.T], [jacobian, np.zeros((m, m))]])
            step = np.linalg.lstsq(matrix, -np.concatenate([left[inside], values[1:][strong]]), rcond=1e-13)[0][:n]
            there = x.copy()
            there[inside] += step
            x = np.clip(there, low, high)
        return best

    def _conditions(self, x: Any) -> ConvergenceReport:
        values, errors, gradients, gradient_errors = self.first_order(x)
        places = self.active(x, values, gradients, BORDER_DISTANCES[-1])
        multipliers, left = self.multipliers(x, gradients, places)
        largest = float(np.max(np.abs(gradients[0]), initial=0.0))
        size = np.linalg.norm(gradients * np.maximum(1.0, np.abs(x)), axis=1)
        at_point, off = [], []
        for constraint, value, error, multiplier, s in zip(
            self.constraints, values[1:], errors[1:], multipliers, size[1:], strict=True
        ):
            g, room = float(value), error + MAX_VIOLATION * max(float(s), 1e-300)
            active = bool(constraint.equality or abs(g) <= room)
            at_point.append(ConstraintAtPoint(constraint.text, g + 0.0, float(multiplier) + 0.0, active))
            if (abs(g) if constraint.equality else -g) > room:
                off.append(f"`{constraint.text}` is off by {abs(g):.3g} {constraint.unit or ''}".rstrip())
        allowed = np.maximum(self.tolerance, gradient_errors[0] + np.abs(multipliers) @ gradient_errors[1:])
        # a constraint whose multiplier is not 0 is at its border
        loose = [a.text for a in at_point if not a.active and abs(a.multiplier) > ZERO_MULTIPLIER * max(1.0, largest)]
        kind: str | None = "not stationary"
        verdict = reason = ""
        if off:
            message = f"no point was found where all constraints hold: {', '.join(off)}"
        elif np.any(np.abs(left) > allowed) or loose:
            rest = f"{np.max(np.abs(left)):.3g} is left"
            hint = "start elsewhere (`--at`), or write kinks as constraints"
            message = f"the gradient is no sum of the constraints' gradients: {rest}; {hint}"
        elif any(function.kinks(self._complete(x), names) for function, names in self.functions):
            kind, message = "kink", "there is a kink here, where the KKT conditions need derivatives"
        else:
            held = [k for k, a in enumerate(at_point) if a.active]
            kind = self.second_order(x, gradients, multipliers, held, max(1.0, largest))
            verdict, reason = self.objective.sense.say(KINDS[kind]), "kkt"
            message = "feasible, and the gradient is a sum of the active constraints' gradients (KKT conditions)"
        message = f"{'' if reason else 'not '}converged: {message}"
        return ConvergenceReport(self.objective.start, kind, verdict, reason, message, constraints=tuple(at_point))

    def second_order(self, x: Any, gradients: Any, multipliers: Any, held: Sequence[int], scale: float) -> str | None:
        """Return the kind of a point by the Lagrangian's curvature along its constraints."""
        walls = walls_at(x, self.limits)
        left = gradients[0] - multipliers @ gradients[1:]
        pressed = [k for k in held if self.constraints[k].equality or multipliers[k] > ZERO_MULTIPLIER * scale]
        inside = [k for k, wall in enumerate(walls) if not wall or abs(left[k]) <= ZERO_MULTIPLIER * scale]

        def reduced(x: Any) -> tuple[Any, Any, int]:
            gradients = self.first_order(x)[2]
            basis, rank = np.eye(len(x))[:, inside], 0
            if pressed and inside:
                _, s, vt = np.linalg.svd(gradients[1:][pressed][:, inside])
                rank = int(np.sum(s > 1e-10 * s[0])) if s.size and s[0] > 0 else 0
                basis = basis @ vt[rank:].T
            return self._of_lagrangian(x, self.multipliers(x, gradients, pressed)[0]), basis, rank

        try:
            curvature, basis, rank = reduced(x)
        except ExpressionError:
            return None
        if not basis.size:
            return "minimum"
        spectrum, ways = np.linalg.eigh(basis.T @ curvature @ basis)
        noise = 1e-9 * max(float(np.max(np.abs(curvature))), 1e-300)
        if spectrum[0] > noise:
            # where third derivatives decide, the point is too inexact for the second ones
            with Defined(ArithmeticError):
                for sign in (-1.0, 1.0):
                    there = reduced(x + sign * CURVATURE_OFFSET * np.maximum(1.0, np.abs(x)) * (basis @ ways[:, 0]))
                    if np.linalg.eigvalsh(there[1].T @ there[0] @ there[1])[0] <= noise:
                        return "flat"
            return "minimum"
        # what is at its border without a multiplier may leave it to one side only, and dependent gradients
        # do not say which directions constraints leave
        weak = len(pressed) < len(held) or rank < len(pressed) or any(walls[k] for k in inside)
        return "saddle" if spectrum[0] < -noise and not weak else "flat"


KINDS = {
    "minimum": "a local minimum under the constraints: along them the Lagrangian curves upwards, or they leave no way",
    "saddle": "not a minimum: the value falls along the constraints; start elsewhere",
    "flat": "the second derivatives along the constraints do not tell whether this is a minimum",
    None: "no second derivatives tell what kind of point this is",
}
"""The kinds of points, of a search for a minimum."""
