"""Minima under constraints: their conditions of first and second order, whichever method has found the point.

The Lagrangian is f - Σ λ·g, where each constraint is g ≥ 0 or g = 0. Nocedal and Wright, Numerical Optimization, 12.3
and 12.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..batched.evaluator import Evaluator
from ..errors import ExpressionError, usage_error
from ..inputs.problem import check_single, parse
from ..language.builder import Program
from ..numbers.budget import Defined
from ..numbers.running_error import UNIT, Bounded
from ..numerics.optimality import Single
from ..record import Record
from .convergence import Limits

NEARBY = (1e-4, 1e-6, 1e-9)
"""How near to its border, in terms of its gradient and the size of the point, a constraint is that may hold a minimum
near the end of a search: tried one after the other."""

FARTHEST = 1e-2
"""How far from the end of a search, in terms of the size of the point, its minimum is looked for."""

NEWTON_STEPS = 30

FEASIBLE = 1e-10
"""How far a constraint may be off beyond its rounding errors, in the same terms."""

BESIDE = 1e-6
"""How far from a minimum, in terms of the size of the point, its curvature has to be positive too."""

VANISHING = 1e-9
"""The multiplier, as a share of the largest gradient, below which a constraint holds nothing."""

_RELATION = re.compile(r"<=|>=|≤|≥|==|=|<|>")


class Constraint(NamedTuple):
    """A constraint `g >= 0`, or `g = 0`."""

    text: str
    equality: bool
    program: Program
    """Whose value is g."""
    unit: str = ""
    """The unit of g."""


class ConstraintAtPoint(Record):
    """A constraint at the end point of a search."""

    text: str
    slack: float
    """How far the constraint is from its border; of an equation, its left side less its right side."""
    multiplier: float
    """Lagrange's multiplier: by how much the value improves for each unit by which an inequality is relaxed."""
    active: bool


def parse_constraints(texts: str | Sequence[str]) -> list[Constraint]:
    """Return the constraints that texts such as `x + y <= 1` and `x*y = 2` say; `0 <= x <= 1` are two.

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


class Conditions(NamedTuple):
    """The conditions for a minimum at a point, as far as they hold."""

    met: bool
    """Whether those of the first order hold: the point is feasible, and the gradient a sum of the constraints'."""
    kind: str | None
    """`minimum`, `saddle`, `flat`, by the Lagrangian's curvature along the constraints; None where it is unknown."""
    message: str
    constraints: tuple[ConstraintAtPoint, ...]


@dataclass(slots=True)
class ConstrainedProblem:
    """A function of the variables that move, with its constraints and bounds, and the derivatives of both."""

    objective: Any
    """The function with the methods `derivatives` of a `Single`."""
    constraints: Sequence[Constraint]
    names: tuple[str, ...]
    """All variables."""
    free: tuple[str, ...]
    own: tuple[str, ...]
    """Those of the free variables that the function has."""
    limits: Limits
    tolerance: float
    complete: Callable[[Sequence[float]], Mapping[str, float]]
    """From the free variables to all."""
    _compiled: dict[int, Evaluator] = field(default_factory=dict)

    def functions(self) -> list[tuple[Any, tuple[str, ...]]]:
        """The function and the constraints, each with the free variables that it has."""
        parts: list[tuple[Any, tuple[str, ...]]] = [(self.objective, self.own)]
        for constraint in self.constraints:
            parts.append(
                (
                    Single(constraint.program.outputs[0]),
                    tuple(n for n in self.free if n in constraint.program.variables),
                )
            )
        return parts

    def embedded(self, values: Sequence[float], names: Sequence[str]) -> list[float]:
        """Derivatives by some of the free variables as those by all."""
        by_name = dict(zip(names, values, strict=True))
        return [by_name.get(name, 0.0) for name in self.free]

    def first_order(self, x: Sequence[float]) -> tuple[Any, Any, Any, Any]:
        """The values and gradients of the function and the constraints, a row each, and their rounding errors."""
        import numpy as np

        point = self.complete(x)
        values, errors, gradients, gradient_errors = [], [], [], []
        for function, names in self.functions():
            inputs = {name: Bounded(value, UNIT * abs(value) * (name in names)) for name, value in point.items()}
            value, slopes = function.bounded(inputs, names)
            values.append(value.x)
            errors.append(value.error)
            gradients.append(self.embedded([slope.x for slope in slopes], names))
            gradient_errors.append(self.embedded([slope.error for slope in slopes], names))
        return np.array(values), np.array(errors), np.array(gradients), np.array(gradient_errors)

    def _hessian(self, x: Sequence[float], factors: Sequence[float]) -> Any:
        """The sum of the Hessians of the function and the constraints, each multiplied by a factor."""
        import numpy as np

        point, total = self.complete(x), np.zeros((len(self.free), len(self.free)))
        for (function, names), factor in zip(self.functions(), factors, strict=True):
            if factor and names:
                places = [self.free.index(name) for name in names]
                total[np.ix_(places, places)] += factor * np.array(function.hessian(point, names))
        return total

    def constraint(self, k: int, x: Sequence[float]) -> tuple[float, list[float]]:
        """The value of a constraint, and its derivatives by the free variables."""
        program, point = self.constraints[k].program, self.complete(x)
        if k not in self._compiled:
            self._compiled[k] = Evaluator(program, [name for name in self.free if name in program.variables])
        evaluator = self._compiled[k]
        value, partials = evaluator([point[name] for name in evaluator.variables])
        return value, self.embedded(partials, evaluator.wrt)

    def curvature(self, k: int, x: Sequence[float]) -> Any:
        """The Hessian of a constraint."""
        return self._hessian(x, [0.0, *(float(j == k) for j in range(len(self.constraints)))])

    def hessian(self, x: Sequence[float], multipliers: Sequence[float]) -> Any:
        """The Hessian of the Lagrangian."""
        return self._hessian(x, (1.0, *(-m for m in multipliers)))

    # ---- the multipliers ----------------------------------------------------------------------------------------
    def walls(self, x: Any) -> list[int]:
        """At which bound each variable is: -1 at the lower one, 1 at the upper one, 2 at both, 0 at none."""
        return [
            2 if low == high else -1 if value <= low else 1 if value >= high else 0
            for value, (low, high) in zip(x, self.limits, strict=True)
        ]

    def active(self, x: Any, values: Any, gradients: Any, near: float) -> list[int]:
        """The places of the constraints that may hold the point: equations, and those that are near their border."""
        import numpy as np

        size = np.linalg.norm(gradients[1:] * np.maximum(1.0, np.abs(x)), axis=1) if len(self.constraints) else []
        return [
            k
            for k, (constraint, g, s) in enumerate(zip(self.constraints, values[1:], size, strict=True))
            if constraint.equality or g <= near * max(s, 1e-300)
        ]

    def multipliers(self, x: Any, gradients: Any, places: Sequence[int]) -> tuple[Any, Any]:
        """The multipliers of all constraints, and the gradient of the Lagrangian without what bounds take up."""
        import numpy as np
        from scipy.optimize import lsq_linear

        result, walls = np.zeros(len(self.constraints)), self.walls(x)
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

    def nearby(self, x: Any) -> tuple[Any, Conditions]:
        """Return the point near the end of a search where the conditions hold, and what they are; else the end."""
        import numpy as np

        for near in NEARBY:
            there = self.polished(x, near)
            if np.all(np.abs(there - x) <= FARTHEST * np.maximum(1.0, np.abs(x))):
                conditions = self.conditions(there)
                if conditions.met:
                    return there, conditions
        return x, self.conditions(x)

    def polished(self, x: Any, close: float) -> Any:
        """Newton's steps for the conditions of first order, by the constraints and bounds that may hold the point."""
        import numpy as np

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
                if self.constraints[k].equality or abs(multipliers[k]) > VANISHING * scale or values[1 + k] < 0
            ]
            off = float(np.linalg.norm(left)) + scale * float(np.sum(np.abs(values[1:][strong])))
            if not off < least:
                break
            best, least = x, off
            walls = self.walls(x)
            inside = [k for k, wall in enumerate(walls) if not wall or abs(left[k]) > 0]
            if not inside:
                break
            try:
                curvature = self.hessian(x, multipliers)[np.ix_(inside, inside)]
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

    def conditions(self, x: Any) -> Conditions:
        """Check the conditions at a point, with the rounding errors of all that goes into them."""
        import numpy as np

        values, errors, gradients, gradient_errors = self.first_order(x)
        places = self.active(x, values, gradients, NEARBY[-1])
        multipliers, left = self.multipliers(x, gradients, places)
        largest = float(np.max(np.abs(gradients[0]), initial=0.0))
        size = np.linalg.norm(gradients * np.maximum(1.0, np.abs(x)), axis=1)
        at_point, off = [], []
        for k, constraint in enumerate(self.constraints):
            g, m = float(values[1 + k]), float(multipliers[k])
            room = errors[1 + k] + FEASIBLE * max(float(size[1 + k]), 1e-300)
            at_point.append(
                ConstraintAtPoint(constraint.text, g + 0.0, m + 0.0, bool(constraint.equality or abs(g) <= room))
            )
            if (abs(g) if constraint.equality else -g) > room:
                off.append(f"`{constraint.text}` is off by {f'{abs(g):.3g} {constraint.unit}'.rstrip()}")
        if off:
            return Conditions(
                False,
                "not stationary",
                f"not converged: no point was found where all constraints hold: {', '.join(off)}",
                tuple(at_point),
            )
        allowed = np.maximum(self.tolerance, gradient_errors[0] + np.abs(multipliers) @ gradient_errors[1:])
        # what presses with a multiplier stands at its border
        loose = [a.text for a in at_point if not a.active and abs(a.multiplier) > VANISHING * max(1.0, largest)]
        if np.any(np.abs(left) > allowed) or loose:
            rest = f"{np.max(np.abs(left)):.3g} is left"
            hint = "start elsewhere (`--at`), or write kinks as constraints"
            message = f"not converged: the gradient is no sum of the constraints' gradients: {rest}; {hint}"
            return Conditions(False, "not stationary", message, tuple(at_point))
        point = self.complete(x)
        if any(function.kinks(point, names) for function, names in self.functions()):
            message = "not converged: there is a kink here, where the KKT conditions need derivatives"
            return Conditions(False, "kink", message, tuple(at_point))
        held = [k for k, a in enumerate(at_point) if a.active]
        kind = self.second_order(x, gradients, multipliers, held, max(1.0, largest))
        message = "converged: feasible, and the gradient is a sum of the active constraints' gradients (KKT conditions)"
        return Conditions(True, kind, message, tuple(at_point))

    def second_order(self, x: Any, gradients: Any, multipliers: Any, held: Sequence[int], scale: float) -> str | None:
        """The kind of a point by the Lagrangian's curvature along the constraints and bounds that hold it."""
        import numpy as np

        walls = self.walls(x)
        left = gradients[0] - multipliers @ gradients[1:]
        pressed = [k for k in held if self.constraints[k].equality or multipliers[k] > VANISHING * scale]
        inside = [k for k, wall in enumerate(walls) if not wall or abs(left[k]) <= VANISHING * scale]

        def reduced(x: Any) -> tuple[Any, Any, int]:
            """The curvature of the Lagrangian at a point, the directions that are left, and the constraints' rank."""
            gradients = self.first_order(x)[2]
            basis, rank = np.eye(len(x))[:, inside], 0
            if pressed and inside:
                _, s, vt = np.linalg.svd(gradients[1:][pressed][:, inside])
                rank = int(np.sum(s > 1e-10 * s[0])) if s.size and s[0] > 0 else 0
                basis = basis @ vt[rank:].T
            return self.hessian(x, self.multipliers(x, gradients, pressed)[0]), basis, rank

        try:
            curvature, basis, rank = reduced(x)
        except ExpressionError:
            return None
        if not basis.size:
            return "minimum"
        spectrum, ways = np.linalg.eigh(basis.T @ curvature @ basis)
        noise = 1e-9 * max(float(np.max(np.abs(curvature))), 1e-300)
        if spectrum[0] > noise:
            # where third derivatives decide, the point is not known well enough for the sign of the second ones
            with Defined(ArithmeticError):
                for sign in (-1.0, 1.0):
                    there = reduced(x + sign * BESIDE * np.maximum(1.0, np.abs(x)) * (basis @ ways[:, 0]))
                    if np.linalg.eigvalsh(there[1].T @ there[0] @ there[1])[0] <= noise:
                        return "flat"
            return "minimum"
        # what is at a border that does not press may leave it to one side only, and gradients that depend on each
        # other do not say which directions constraints leave
        weak = len(pressed) < len(held) or rank < len(pressed) or any(walls[k] for k in inside)
        return "saddle" if spectrum[0] < -noise and not weak else "flat"


KINDS = {
    "minimum": (
        "a local {0.best} under the constraints: along them the Lagrangian curves {0.upwards}, or they leave no way"
    ),
    "saddle": "not a {0.best}: the value {0.falls} along the constraints; start elsewhere",
    "flat": "the second derivatives along the constraints do not tell whether this is a {0.best}",
    None: "no second derivatives tell what kind of point this is",
}
"""The kinds of points in the words of a sense, which each is formatted with."""
