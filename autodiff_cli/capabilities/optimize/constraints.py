"""Minima under constraints: conditions of first and second order.

The Lagrangian is f - Σ λ·g, with g ≥ 0 or g = 0: Nocedal and Wright, Numerical Optimization, 12.3
and 12.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.optimize import NonlinearConstraint, nnls

from ...compiled.evaluator import Evaluator
from ...engine.numbers.budget import Defined
from ...engine.numbers.running_error import UNIT_ROUNDOFF, Bounded
from ...engine.numerics.optimality import Derivatives, Single
from ...errors import Diagnostic, ExpressionError, errors_about, usage_error
from ...language.builder import Program
from ...language.equation_trees import Relation, relations
from ...language.tree import program_of
from ...questions.problem import build, check_single, explained
from .convergence import (
    KINDS,
    OUTSIDE_VALUE,
    ConstraintAtPoint,
    ConvergenceReport,
    SearchProblem,
    SearchStopped,
    bounds_at,
)
from .descend import DescentStep
from .objective import FAILURES, METHODS, Objective

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss
    from ...engine.quantities.unit import Unit

BORDER_DISTANCES = (1e-4, 1e-6, 1e-9)  # relative, of active constraints, tried in turn
END_TOLERANCE = 1e-2  # relative distance from the end of a search
NEWTON_STEPS = 30
MAX_VIOLATION = 1e-10  # violation beyond rounding errors, in the same units
MIN_INDEPENDENT = 1e-8  # relative length of a gradient, and of its independent part
BOUND_SHARE = 1e-4  # by which a variable at its bound is preferred less
ZERO_MULTIPLIER = 1e-9  # share of a constraint in the gradient, relative to the largest gradient
ERROR_MARGIN = 4  # rounding errors that the last of Newton's steps leaves
MAX_REMAINDER = 1e-10  # of the gradient, relative to the terms of its sum

# The kinds of points under constraints, of a search for a minimum.
WORDS: dict[Any, str] = {
    **KINDS,
    "minimum": (
        "a local minimum under the constraints: the Lagrangian is convex along them, or they fix"
        " the point"
    ),
    "saddle": "not a minimum: the value falls along the constraints; start elsewhere",
    "flat": "the second derivatives along the constraints do not show whether this is a minimum",
    "kink": "at a kink, where the derivative is a convention",
    None: "the kind of point is not known, as there are no second derivatives",
}


class Constraint(NamedTuple):
    """A constraint `g >= 0`, or `g = 0`."""

    text: str
    equality: bool
    program: Program
    """Whose value is g."""
    unit: Unit | None = None


def parse_constraints(texts: str | Sequence[str]) -> list[Constraint]:
    """Return the constraints in texts such as `x*y = 2`; `0 <= x <= 1` are two.

    Texts are split like statements, without comments. Raises `ExpressionError`.
    """
    constraints: list[Constraint] = []
    for text in [texts] if isinstance(texts, str) else texts:
        with errors_about(text):
            for statement, relation in explained(text, lambda text=text: [*relations(text)]):  # type: ignore[misc]
                constraints += _constraints(text, statement, relation)
    return constraints


def _constraints(text: str, statement: str, relation: Relation) -> Iterator[Constraint]:
    meanings = [meaning for _, meaning, _ in relation.pairs(text)]
    if not meanings or len(relation.sides) != len(relation.signs) + 1 or "!=" in meanings:
        raise usage_error(
            f"`{statement}` is not a constraint",
            'write `--subject-to "x + y <= 1"`, or `=` or `>=`',
        )
    for sign in relation.signs:
        if sign in "<>":
            raise usage_error(
                f"`{statement}` is strict, so that no optimum can be at its limit",
                f"write `{sign}=`",
            )
    for difference, meaning, written in relation.pairs(text):
        program = build(lambda difference=difference: program_of([difference]), text, units=True)  # type: ignore[misc]
        check_single(program)
        yield Constraint(written, meaning in ("=", "=="), program)


class FirstOrder(NamedTuple):
    """Values and gradients of a function and its constraints, with rounding errors."""

    x: Any
    scale: Any
    """The largest size of the variables on the way."""
    typical: Any
    """Their size at the point, by which constraints hold."""
    values: Any
    errors: Any
    gradients: Any
    gradient_errors: Any

    def room(self, near: float) -> Any:
        """Return the rounding errors, with those of relative changes of the variables."""
        return self.errors + near * np.maximum(
            np.linalg.norm(self.gradients * self.typical, axis=1), 1e-300
        )

    @property
    def sizes(self) -> Any:
        return np.linalg.norm(self.gradients * self.scale, axis=1)


class ConstrainedProblem(Objective):
    """A function with its constraints and bounds, and the derivatives of both."""

    constrained = True

    @cached_property
    def functions(self) -> list[tuple[Single | DataLoss, Sequence[str]]]:
        programs = [constraint.program for constraint in self.constraints]
        by = [
            tuple(name for name in self.free if name in program.variables) for program in programs
        ]
        own = zip(programs, by, strict=True)
        return [
            (self.function, self.evaluator.wrt),
            *((Single(of.outputs[0]), names) for of, names in own),
        ]

    @cached_property
    def equations(self) -> Any:
        return np.array([constraint.equality for constraint in self.constraints], dtype=bool)

    @cached_property
    def start_gradients(self) -> Any:
        return self.first_order(np.array(self.start.free_values)).gradients

    @property
    def start_sizes(self) -> Any:
        return np.linalg.norm(self.start_gradients * self.scale, axis=1)

    def set_scale(self, x: Any) -> None:
        """Take the sizes of the variables from the way to `x`: the largest, and the first for
        rounding errors.
        """
        rows = np.abs([*(step.free_values for step in self.path), x])
        self.scale, self.first = (
            np.max(rows, axis=0),
            rows[np.argmax(rows > 0, axis=0), range(len(x))],
        )
        self.scale[self.scale == 0] = self.first[self.first == 0] = 1.0
        self.typical = np.maximum(np.abs(x), 1e-6 * self.first)

    def _embed(self, values: Sequence[float], names: Sequence[str]) -> list[float]:
        by_name = dict(zip(names, values, strict=True))
        return [by_name.get(name, 0.0) for name in self.free]

    def first_order(
        self,
        x: Any,
        places: Sequence[int] | None = None,
        row: DescentStep | None = None,
        size: Any = 0.0,
    ) -> FirstOrder:
        """Return the first order of function (from its `row`, if given) and constraints.

        Coordinates are rounded like themselves, or like numbers of a larger `size`.
        """
        point = self.point(x.tolist())
        sizes = dict(zip(self.free, np.maximum(np.abs(x), size).tolist(), strict=True))
        columns: list[tuple[float, float, Sequence[float], Sequence[float]]] = []
        if row is not None:
            columns.append((row.value, 0.0, row.partials, [0.0] * len(x)))
            places = range(1, len(self.functions))
        for function, names in (
            self.functions if places is None else [self.functions[k] for k in places]
        ):
            spread = {name: UNIT_ROUNDOFF * size for name, size in sizes.items() if name in names}
            inputs = {name: Bounded(v, spread.get(name, 0.0)) for name, v in point.items()}
            value, slopes = function.value_and_gradient_with_errors(inputs, names)
            gradient, errors = [g.x for g in slopes], [g.error for g in slopes]
            columns.append(
                (value.x, value.error, self._embed(gradient, names), self._embed(errors, names))
            )
        return FirstOrder(x, self.scale, self.typical, *map(np.array, zip(*columns, strict=True)))

    def _for_scipy(self, method: str, steps: int) -> dict[str, Any]:
        def in_scipy(
            constraint: Constraint, function: Any, names: Sequence[str]
        ) -> NonlinearConstraint:
            evaluator, where = (
                Evaluator(constraint.program, names),
                [self.free.index(name) for name in names],
            )

            def value_and_gradient(x: Any) -> tuple[float, Any]:
                point = self.point(x.tolist())
                try:
                    value, partials = evaluator([point[name] for name in evaluator.variables])
                except ExpressionError:
                    # outside of its domain a constraint does not hold
                    return -OUTSIDE_VALUE, np.zeros(len(x))
                return value, np.array(self._embed(partials, names))

            def hessian(x: Any, factors: Any) -> Any:
                result = np.zeros((len(x), len(x)))
                with Defined(ExpressionError):
                    own = np.array(function.hessian(self.point(x.tolist()), names))
                    result[np.ix_(where, where)] = float(factors[0]) * own
                return result

            most, values = 0.0 if constraint.equality else math.inf, value_and_gradient
            return NonlinearConstraint(
                lambda x: values(x)[0], 0.0, most, jac=lambda x: values(x)[1], hess=hessian
            )

        more: dict[str, Any] = {"options": {"ftol": 1e-10, "maxiter": steps}}
        if method != "slsqp":
            more = {
                "options": {"gtol": 1e-10, "xtol": 1e-12, "maxiter": steps},
                "hess": self.hessian,
            }
        parts = zip(self.constraints, self.functions[1:], strict=True)
        more["constraints"] = [in_scipy(constraint, *function) for constraint, function in parts]
        if any(math.isfinite(end) for ends in self.limits for end in ends):
            more["bounds"] = self.limits
        return more

    def active_constraints(self, at: FirstOrder, near: float) -> list[int]:
        """Return the equations, and the constraints near their border or beyond."""
        border = near * np.maximum(at.sizes[1:], 1e-300)
        return np.flatnonzero(self.equations | (at.values[1:] <= border)).tolist()

    def multipliers(self, at: FirstOrder, places: Sequence[int]) -> tuple[Any, Any]:
        """Return all multipliers, and the Lagrangian's projected gradient."""
        gradients = at.gradients
        result = np.zeros(len(self.constraints))
        walls = bounds_at(at.x, self.limits)
        inside = [k for k, wall in enumerate(walls) if not wall]
        signed = [k for k, wall in enumerate(walls) if wall in (-1, 1)]
        equations = [k for k in places if self.equations[k]]
        columns = [gradients[1 + k] for k in places] + [-gradients[1 + k] for k in equations]
        # a bound pushes into what it bounds
        columns += [-walls[k] * np.eye(len(walls))[k] for k in signed]
        rows = inside + signed
        if columns and rows:
            matrix = np.array(columns).T[rows]
            size = np.linalg.norm(matrix, axis=0)
            size[size == 0] = 1.0
            # as few of them as the gradient takes
            solution = nnls(matrix / size, gradients[0][rows])[0] / size
            result[list(places)] = solution[: len(places)]
            result[equations] -= solution[len(places) : len(places) + len(equations)]
        left = gradients[0] - result @ gradients[1:]
        pushes = [
            wall == 2 or (wall and wall * slope < 0)
            for wall, slope in zip(walls, left.tolist(), strict=True)
        ]
        return result, np.where(pushes, 0.0, left)

    def largest_change(self, at: FirstOrder) -> float:
        """Return by how much steps as large as the variables change the value."""
        return max(float(at.sizes[0]), 1e-300)

    def violations(self, at: FirstOrder, near: float = MAX_VIOLATION) -> Any:
        """Return by how much each constraint is off, beyond errors and a distance."""
        off = np.where(self.equations, np.abs(at.values[1:]), -at.values[1:])
        return np.where(off > at.room(near)[1:], off, 0.0)

    def is_feasible(self, x: Sequence[float]) -> bool:
        with Defined(ExpressionError), np.errstate(all="ignore"):
            return not np.any(self.violations(self.first_order(np.array(x))))
        return False

    def search(self, methods: Sequence[str], steps: int | None) -> tuple[ConvergenceReport, str]:
        self.set_scale(np.array(self.start.free_values))
        best: ConvergenceReport | None = None
        reason, message, method = "stuck", "", methods[0]
        try:
            for name in methods:
                result = self._end_of(name, self.start if best is None else best.row, steps)
                try:
                    self.row(result)
                    self.set_scale(np.array(result))
                    counts = self.counts
                    with np.errstate(all="ignore"):
                        values, report = self.find_feasible(np.array(result))
                    self.counts = counts
                except ExpressionError as error:
                    message = message or f"not converged: {error}"
                    continue
                row = self.row(values.tolist())
                if row is not None and (best is None or report.reason):
                    best, method = report._replace(row=row), name
                if report.reason:
                    break
        except SearchStopped:
            if self.boundless:
                return (
                    self.report_unbounded("the value falls without bound along the constraints"),
                    method,
                )
            reason, message = self.stop_reason("last point")
        if best is None:
            return (
                ConvergenceReport(self.path[-1], None, "", reason, message or "not converged"),
                method,
            )
        if best.reason:
            return best, method
        return best._replace(reason=reason, message=message or best.message), method

    def _end_of(self, name: str, start: DescentStep, steps: int | None) -> list[float]:
        """Return where SciPy's search by a method ends, or fails."""
        try:
            more = self._for_scipy(name, METHODS[name].steps if steps is None else steps)
            return self.by_scipy(start, name, **more).x.tolist()  # type: ignore[no-any-return]
        except FAILURES:
            return self.path[-1].free_values

    def find_feasible(self, x: Any) -> tuple[Any, ConvergenceReport]:
        """Return the nearby point that meets the conditions, and a report."""
        low, high = (np.array(side) for side in zip(*self.limits, strict=True))
        pushed = np.zeros(len(x)) if self.constraints else self.first_order(x).gradients[0]
        kinks: list[tuple[Any, ConvergenceReport]] = []
        posed: object = None
        for near in BORDER_DISTANCES:
            room = near * self.scale
            start = np.where((x - low <= room) & (pushed >= 0), low, x)
            reduced = ReducedProblem(
                self, np.where((high - x <= room) & (pushed <= 0), high, start), near
            )
            before, posed = posed, (reduced.places, reduced.x.tolist())
            local = reduced.judged() if posed != before else None
            if local is not None:
                there = np.array([local.row.point[name] for name in self.free])
                if np.all(np.abs(there - x) <= END_TOLERANCE * self.scale):
                    report = self._conditions(there, reduced, local)
                    if report.reason:
                        return there, report
                    kinks += [(there, report)] if report.kind == "kink" else []
        report = self._conditions(x, reduced, None)
        return kinks[0] if kinks and not report.reason else (x, report)

    def _conditions(
        self, x: Any, reduced: ReducedProblem, local: ConvergenceReport | None
    ) -> ConvergenceReport:
        at = self.first_order(x, size=self.first)
        multipliers, left = self.multipliers(at, self.active_constraints(at, BORDER_DISTANCES[-1]))
        held = np.flatnonzero(
            self.equations | (np.abs(at.values) <= at.room(MAX_VIOLATION))[1:]
        ).tolist()

        off = self._violations_in_words(x)
        errors = at.gradient_errors
        largest, shares = self.largest_change(at), np.abs(multipliers) * at.sizes[1:]
        # multipliers are as exact as the largest share
        bounds = np.abs(multipliers)
        bounds[held] = np.maximum(
            bounds[held], np.max(shares, initial=0.0) / np.maximum(at.sizes[1:][held], 1e-300)
        )
        terms = np.abs(at.gradients[0]) + bounds @ np.abs(at.gradients[1:])
        allowed = (
            ERROR_MARGIN * (errors[0] + np.abs(multipliers) @ errors[1:]) + MAX_REMAINDER * terms
        )
        # a constraint whose multiplier is not 0 is at its border
        loose = any(
            k not in held and share > ZERO_MULTIPLIER * largest for k, share in enumerate(shares)
        )
        kind: str | None = "not stationary"
        verdict = reason = ""
        if off:
            message = (
                f"not converged: no point was found where all constraints hold: {', '.join(off)}"
            )
        elif local is not None and local.reason in ("kink", "unattained", "jump"):
            kind, verdict, reason, message = local.kind, local.verdict, local.reason, local.message
        elif local is not None and local.kind == "not stationary":
            message = (
                "not converged: the value falls on along the constraints; start elsewhere (`--at`)"
            )
            message = self.sense.phrase(message)
        elif np.any(np.abs(left) > allowed) or loose:
            message = "not converged: the gradient is not a sum of the constraints' gradients: "
            message += (
                f"{np.max(np.abs(left)):.3g} remains; start elsewhere (`--at`), or write kinks as"
                " constraints"
            )
        elif self._has_kinks(x, held):
            kind = "kink"
            message = (
                "not converged: there is a kink here, where the KKT conditions need derivatives"
            )
        else:
            reason = "kkt"
            # without a multiplier it may leave its border to one side only
            weak = any(1 + k not in reduced.places for k in held)
            slopes = np.abs(at.gradients[0] - multipliers @ at.gradients[1:]) * self.scale
            unclear = at.sizes[reduced.places] <= MIN_INDEPENDENT * self.start_sizes[reduced.places]
            kind, verdict = self._kind_at_kkt_point(
                local, weak, bool(np.any(unclear)), slopes <= ZERO_MULTIPLIER * largest
            )
            message = (
                "converged: feasible, and the gradient is a sum of the active constraints'"
                " gradients"
            )
            message += " (KKT conditions)"
        numbers = zip(self.constraints, at.values[1:].tolist(), multipliers.tolist(), strict=True)
        at_point = [
            ConstraintAtPoint(constraint.text, value + 0.0, multiplier + 0.0, k in held)
            for k, (constraint, value, multiplier) in enumerate(numbers)
        ]
        return ConvergenceReport(
            self.start, kind, verdict, reason, message, constraints=tuple(at_point)
        )

    def _has_kinks(self, x: Any, constraints: Sequence[int]) -> bool:
        """Return whether the function, or one of some constraints, has a kink at a point."""
        functions = [self.functions[k] for k in (0, *(1 + k for k in constraints))]
        return any(function.kinks(self.point(x), names) for function, names in functions)

    def _violations_in_words(self, x: Any) -> list[str]:
        amounts = zip(self.constraints, self.violations(self.first_order(x)), strict=True)
        return [
            f"`{constraint.text}` is off by {amount:.3g} {constraint.unit or ''}".rstrip()
            for constraint, amount in amounts
            if amount
        ]

    def _kind_at_kkt_point(
        self, local: ConvergenceReport | None, weak: bool, unclear: bool, level: Any
    ) -> tuple[str | None, str]:
        """Return what a point that meets the KKT conditions is, and the verdict on it.

        `weak` is whether a constraint there has no multiplier, `unclear` whether constraints may
        depend on each other, `level` where the Lagrangian has no slope.
        """
        kind, verdict = (None, "") if local is None else (local.kind, local.verdict)
        if kind in ("maximum", "saddle"):
            kind = "flat" if weak else "saddle"
        bounds = [self.free.index(name) for name in local.held] if local is not None else []
        if kind == "minimum" and (unclear or np.any(level[bounds])):
            kind, weak = "flat", True
        if weak or kind != "flat":
            verdict = self.sense.phrase(WORDS[kind])
        return kind, verdict


class ReducedProblem(SearchProblem):
    """The function on its active constraints near a point.

    Some variables follow from the others: the reduced gradient of Nocedal and Wright, Numerical
    Optimization, 15.2.
    """

    def __init__(self, problem: ConstrainedProblem, x: Any, near: float) -> None:
        self.problem, self.x, self.near = problem, x, near
        at = problem.first_order(x)
        active = problem.active_constraints(at, near)
        multipliers, _ = problem.multipliers(at, active)
        largest, shares = problem.largest_change(at), multipliers * at.sizes[1:]
        self.places = [
            1 + k for k in active if problem.equations[k] or shares[k] > ZERO_MULTIPLIER * largest
        ]
        self.dependent: list[int] = []
        if self.places:
            # independent constraints, equations first; variables that follow, first those at no
            # bound
            magnitudes = 10.0 ** np.floor(np.log10(problem.scale))
            matrix = at.gradients[self.places] * np.maximum(magnitudes, np.abs(x))
            sizes = at.sizes[self.places]
            first = np.where(problem.equations[np.array(self.places) - 1], 2.0, 1.0)
            unit = np.where(
                sizes > MIN_INDEPENDENT * problem.start_sizes[self.places], first / sizes, 0.0
            )
            _, r, rows = qr((matrix * unit[:, None]).T, mode="economic", pivoting=True)
            rank = int(np.count_nonzero(np.abs(np.diagonal(r)) > MIN_INDEPENDENT))
            self.places = [self.places[k] for k in rows[:rank]]
            free = [BOUND_SHARE if wall else 1.0 for wall in bounds_at(x, problem.limits)]
            self.dependent = qr(matrix[rows[:rank]] * free, mode="economic", pivoting=True)[2][
                :rank
            ].tolist()
        self.others = [k for k in range(len(x)) if k not in self.dependent]
        self.ends, self.least = np.array(problem.limits).T, -near * largest
        self.sizes, self.path = problem.scale, []
        self.function: Any = self
        self.limits = [problem.limits[k] for k in self.others]
        self.size = self.sizes[self.others].tolist()
        self.tolerance, self.sense = problem.tolerance, problem.sense

    def judged(self) -> ConvergenceReport | None:
        """Return the report on the point; None without a solution nearby."""
        row = self.row(self.x[self.others].tolist())
        if row is None or not self.others:
            return row and ConvergenceReport(row, "minimum")
        return self.report(row, walking=False)

    def row(self, z: Sequence[float]) -> DescentStep | None:
        """Return value and gradient on the constraints at the values `z` of the others."""
        point = self.x.copy()
        point[self.others] = z
        names = tuple(self.problem.free[k] for k in self.others)
        with Defined(ExpressionError):
            # without the function's rounding errors, which take longest
            x = self._on_constraints(point)
            row = self.problem.row(x.tolist())
            if row is not None:
                at, _, ways = self._solve(x, row)
                partials = tuple((ways.T @ at.gradients[0]).tolist())
                return row._replace(
                    free=names, partials=partials, gradient_norm=math.hypot(*partials)
                )
        return None

    def _on_constraints(self, x: Any) -> Any:
        here, least = x, math.inf
        with suppress(np.linalg.LinAlgError):
            for _ in range(NEWTON_STEPS if self.places else 0):
                own = self.problem.first_order(here, self.places)
                off = float(np.sum(np.abs(own.values)))
                if not off < least:
                    break
                x, least, here = here, off, here.copy()
                here[self.dependent] -= np.linalg.solve(
                    own.gradients[:, self.dependent], own.values
                )
                here = np.clip(here, *self.ends)
        return x

    def _solve(self, x: Any, row: DescentStep | None = None) -> tuple[FirstOrder, Any, Any]:
        # `row` has the function at this point, if that is on the constraints
        problem, places, dependent = self.problem, self.places, self.dependent
        at = problem.first_order(self._on_constraints(x) if row is None else x, row=row)
        x, slopes = at.x, at.gradients[places]
        try:
            multipliers = np.linalg.solve(slopes[:, dependent].T, at.gradients[0][dependent])
            ways = np.eye(len(x))[:, self.others]
            ways[dependent] = -np.linalg.solve(slopes[:, dependent], slopes[:, self.others])
        except np.linalg.LinAlgError:
            raise ExpressionError("domain", "the constraints have no solution here") from None
        # beside a bound, that may hold what the constraints do not
        shares = zip(multipliers * at.sizes[places], places, strict=True)
        signed = [share for share, k in shares if not problem.equations[k - 1]]
        wrong = (
            not np.any(np.isin(x[dependent], self.ends)) and min(signed, default=0.0) < self.least
        )
        if wrong or np.any(problem.violations(at, self.near)):
            raise ExpressionError("domain", "a constraint does not hold here")
        return at, multipliers, ways

    def derivatives(
        self, point: Mapping[str, float], wrt: Sequence[str], size: Sequence[float]
    ) -> Derivatives:
        """Return value, gradient and Hessian by the other variables."""
        problem, free = self.problem, self.problem.free
        at, multipliers, ways = self._solve(np.array([point[name] for name in free]))
        n, there = len(at.x), problem.point(at.x.tolist())
        gradient, gradient_error, hessian, hessian_error = (
            np.zeros(shape) for shape in (n, n, (n, n), (n, n))
        )
        for place, factor in zip((0, *self.places), (1.0, *-multipliers), strict=True):
            function, names = problem.functions[place]
            where = [free.index(name) for name in names]
            own = function.derivatives(there, names, self.sizes[where].tolist())
            gradient[where] += factor * np.array(own.gradient)
            rounding = 4 * UNIT_ROUNDOFF * np.abs(own.gradient)
            gradient_error[where] += abs(factor) * (own.gradient_error + rounding)
            hessian[np.ix_(where, where)] += factor * np.array(own.hessian)
            hessian_error[np.ix_(where, where)] += abs(factor) * np.array(own.hessian_error)
        spread = np.abs(ways)
        return Derivatives(
            float(at.values[0]),
            (ways.T @ gradient).tolist(),
            (spread.T @ gradient_error).tolist(),
            (ways.T @ hessian @ ways).tolist(),
            (spread.T @ hessian_error @ spread).tolist(),
        )

    def value_and_gradient_with_errors(
        self, point: Mapping[str, Bounded], wrt: Sequence[str]
    ) -> tuple[Bounded, list[Bounded]]:
        """Return value and gradient by the other variables."""
        x = np.array([point[name].x for name in self.problem.free])
        at, multipliers, ways = self._solve(x)
        size, places = np.abs(multipliers), self.places
        error = float(at.errors[0] + size @ at.errors[places])
        gradient_error = np.abs(ways).T @ (
            at.gradient_errors[0] + size @ at.gradient_errors[places]
        )
        gradient = zip((ways.T @ at.gradients[0]).tolist(), gradient_error.tolist(), strict=True)
        return Bounded(float(at.values[0]), error), [Bounded(g, e) for g, e in gradient]

    @property
    def is_smooth(self) -> bool:
        return all(function.is_smooth for function, _ in self.problem.functions)

    @property
    def step_functions(self) -> set[str]:
        return set().union(*(function.step_functions for function, _ in self.problem.functions))

    def kinks(self, point: Mapping[str, float], wrt: Sequence[str]) -> tuple[Diagnostic, ...]:
        """Return the kinks of the function and of its constraints."""
        functions = [self.problem.functions[k] for k in (0, *self.places)]
        return tuple(kink for function, names in functions for kink in function.kinks(point, names))
