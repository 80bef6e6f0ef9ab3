"""A minimum by SciPy's optimisers, which are given the exact gradient and the exact Hessian."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..batched.evaluator import Evaluator
from ..errors import Diagnosed, Diagnostic, ExpressionError, needed, quoted, usage_error
from ..inputs.bounds import Range
from ..inputs.figures import unsigned
from ..inputs.problem import Point
from ..numbers.budget import MINIMIZER_ITERATION, MINIMIZER_VARIABLE, Work, current
from ..numerics.optimality import Single
from ..record import Record
from .convergence import ConvergenceReport, Limits, LocalModel, projected
from .descend import DescentStep, begin

if TYPE_CHECKING:
    from ..batched.data_loss import DataLoss, LossSpec, LossSummary

METHODS = {
    "bfgs": "BFGS",
    "cg": "CG",
    "l-bfgs-b": "L-BFGS-B",
    "newton-cg": "Newton-CG",
    "trust-ncg": "trust-ncg",
    "trust-exact": "trust-exact",
}
"""The methods, and what SciPy calls them."""

SECOND_ORDER = frozenset(("newton-cg", "trust-ncg", "trust-exact"))

TOLERANCE = 1e-8
"""The largest partial derivative at which a point counts as stationary."""

WALL = 1e10
"""How large, in terms of the value at the start, the function is taken to be outside its domain."""

BOUNDLESS = 1e15
"""A value that has fallen this far below 0, in terms of the one at the start, is taken to fall for ever."""

STEPS, SECOND_ORDER_STEPS = 10_000, 1_000
"""How many steps a method may take, unless it is said otherwise."""

ATTEMPTS = 3
"""How often a method that is stuck begins again from where it is."""

RESERVE = 0.5
"""Which share of the work is kept for the verdict."""

PASSES = 50
"""How often a search goes through data, about."""

MOST_DENSE = 200
"""With more variables `l-bfgs-b` is the method unless another is chosen: the others go through whole matrices, for
seconds at a time where there are thousands of variables, and in that time see no interruption."""

CONVERGED = ("gradient", "precision", "kink")
"""The reasons that are those of a search which has found what it was to find."""


class Minimum(Record):
    """The end point of an optimiser, its kind, and the cost of the search."""

    text: str
    method: str
    value: float
    point: dict[str, float]
    """The value of every variable, also of those held fixed."""
    gradient: dict[str, float]
    """The derivatives there, by the variables that moved."""
    gradient_norm: float
    converged: bool
    reason: str
    """Why it stopped: `gradient`, `precision`, `kink`; `steps`, `unbounded`, `unattained`, `edge`, `held up`,
    `stuck`; `limit`; `interrupted`."""
    message: str
    """The reason in words."""
    kind: str | None
    """The kind of point: `minimum`, `saddle`, `maximum`, `flat`, `kink`, `not stationary`; None if it is unknown."""
    verdict: str
    """The kind in words, with the reason."""
    at_bounds: tuple[str, ...]
    """The variables that are at a bound."""
    steps: int
    evaluations: int
    """Of value and gradient together."""
    hessians: int
    outside: int
    """How many of the evaluations fell on points without a value."""
    path: tuple[DescentStep, ...]
    """The points that it went through, the start first."""
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    """The rows of data that the value is the sum or mean over, if it is."""


class _Stopped(Exception):
    """The work was to end early."""


@dataclass(slots=True)
class Objective:
    """The function that is minimised, as SciPy wants it, and the points that it has been evaluated at."""

    evaluate: Callable[[Sequence[float]], tuple[float, list[float]]]
    start: DescentStep
    where: tuple[int, ...]
    """Which of the variables move."""
    stop: Callable[[], bool]
    function: Single | DataLoss
    best: DescentStep = field(init=False)
    path: list[DescentStep] = field(init=False)
    evaluations: int = 1
    hessians: int = 0
    outside: int = 0
    boundless: bool = False
    work: Work = field(default_factory=current)
    reserve: float = field(init=False)
    """Steps of work that are kept for saying what the search has come to."""

    def __post_init__(self) -> None:
        self.best = self.start
        self.path = [self.start]
        self.reserve = RESERVE * self.work.left

    @property
    def exhausted(self) -> bool:
        """Whether no more work may go into the search."""
        return self.work.left < self.reserve

    def full(self, x: Sequence[float]) -> list[float]:
        """The values of all variables."""
        point = list(self.start.coordinates)
        for k, value in zip(self.where, x, strict=True):
            point[k] = float(value)
        return point

    def row(self, x: Sequence[float]) -> DescentStep | None:
        """Value and gradient at a point, None where there is none."""
        if self.stop() or self.exhausted:
            raise _Stopped
        self.work.spend(MINIMIZER_ITERATION + len(self.where) * MINIMIZER_VARIABLE)
        self.evaluations += 1
        point = self.full(x)
        try:
            if not all(map(math.isfinite, point)):
                raise ExpressionError("overflow", "the point is too large")
            value, partials = self.evaluate(point)
        except ExpressionError:
            self.outside += 1
            return None
        row = self.start._replace(
            step=self.evaluations,
            value=value,
            gradient_norm=math.hypot(*partials),
            coordinates=tuple(point),
            partials=tuple(partials),
        )
        if value < self.best.value:
            self.best = row
            if value <= -BOUNDLESS * (1 + abs(self.start.value)):
                self.boundless = True
                raise _Stopped
        return row

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """For SciPy: outside the domain the value is very large, so that a line search turns back.

        An infinite one would leave it with nothing to interpolate.
        """
        import numpy

        row = self.row(x.tolist())
        if row is None:
            return WALL * (1 + abs(self.start.value)), numpy.zeros(len(x))
        return row.value, numpy.array(row.partials)

    def hessian(self, x: Any) -> Any:
        """For SciPy: the exact matrix of second derivatives."""
        import numpy

        self.hessians += 1
        values = dict(zip(self.start.names, self.full(x.tolist()), strict=True))
        try:
            return numpy.array(self.function.hessian(values, self.start.moving))
        except ExpressionError:
            # asked for outside the domain, where the step is not taken anyway
            return numpy.eye(len(x))

    def note(self, x: Any) -> None:
        """Add a step to the path."""
        self.evaluations -= 1
        row = self.row(x.tolist())
        if row is not None:
            self.reach(row)

    def reach(self, row: DescentStep) -> None:
        """Add a point to the path, unless it is the last one there."""
        if row.coordinates != self.path[-1].coordinates:
            self.path.append(row._replace(step=len(self.path)))


def minimize(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    method: str | None = None,
    bounds: Mapping[str, Range] | None = None,
    tolerance: float = TOLERANCE,
    steps: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    over: LossSpec | None = None,
) -> Minimum:
    """Minimise the program `text` by one of SciPy's optimisers, from the start `point`.

    `method` is one of `METHODS`, by default `bfgs`, with `bounds` or many variables `l-bfgs-b`. Once `stop` says so,
    the best point so far is returned. `over` data the program is one row's term. Raises `ExpressionError` as `gradient`
    does at the start, and `usage` where SciPy is not installed.
    """
    chosen = _checked(method, bounds or {}, tolerance)
    begun = begin(text, point, wrt, over, PASSES)
    evaluator, start = begun.evaluator, begun.start
    if method is None and len(begun.where) > MOST_DENSE:
        chosen = "l-bfgs-b"
    function = Single(evaluator.output) if isinstance(evaluator, Evaluator) else evaluator
    objective = Objective(evaluator, start, begun.where, stop, function)
    limits = _limits(start, bounds or {})
    try:
        ended, message = _optimised(objective, chosen, limits, tolerance, steps)
    except _Stopped:
        ended, message = objective.best, ""
    end = _ended(objective, ended, limits, tolerance, message, chosen)
    row = end.row
    objective.reach(row)
    reached = row.point
    return Minimum(
        text=text,
        method=chosen,
        value=unsigned(row.value),
        point={name: unsigned(x) for name, x in reached.items()},
        gradient={name: unsigned(x) for name, x in row.gradient.items()},
        gradient_norm=row.gradient_norm,
        converged=end.reason in CONVERGED,
        reason=end.reason,
        message=end.message,
        kind=end.kind,
        verdict=end.verdict,
        at_bounds=tuple(name for name, ends in zip(row.moving, limits, strict=True) if reached[name] in ends),
        steps=len(objective.path) - 1,
        evaluations=objective.evaluations,
        hessians=objective.hessians,
        outside=objective.outside,
        path=tuple(objective.path),
        warnings=(*begun.warnings, *end.kinks),
        over=begun.over,
    )


def _checked(method: str | None, bounds: Mapping[str, Range], tolerance: float) -> str:
    """The method. Raises a usage error for one that cannot do this, or without SciPy."""
    chosen = method or ("l-bfgs-b" if bounds else "bfgs")
    if bounds and chosen != "l-bfgs-b":
        raise usage_error(f"the method {chosen} takes no bounds", "use `--method l-bfgs-b`")
    if not 0 < tolerance < math.inf:
        raise usage_error(f"the tolerance cannot be {tolerance:g}", "give a positive number")
    message = "`minimize` needs SciPy, the extra `optimize`"
    needed("scipy.optimize", "optimize", message, "; `autodiff descend` needs nothing")
    return chosen


def _limits(start: DescentStep, bounds: Mapping[str, Range]) -> list[tuple[float, float]]:
    """The bounds of the variables that move, in order. Raises a usage error where they do not fit the start."""
    for name, limits in bounds.items():
        if name not in start.moving:
            why = "is held fixed" if name in start.names else "is not a variable of this program"
            raise usage_error(f"`{name}` has bounds and {why}", f"the variables that move: {quoted(start.moving)}")
        limits.check_start(name, start.point[name])
    return [bounds.get(name, Range(None, None)).ends for name in start.moving]


def _optimised(
    objective: Objective, method: str, limits: Limits, tolerance: float, steps: int | None
) -> tuple[DescentStep, str]:
    """Return the end point and message of SciPy, which is restarted where it is stuck."""
    import numpy
    from scipy.optimize import minimize as scipy_minimize

    usual = SECOND_ORDER_STEPS if method in SECOND_ORDER else STEPS
    options: dict[str, Any] = {"maxiter": usual if steps is None else steps}
    options |= {"xtol": 1e-12} if method == "newton-cg" else {"gtol": tolerance / 10}
    if method == "l-bfgs-b":
        options |= {"ftol": 0.0, "maxfun": 10 * options["maxiter"], "maxls": 50}
    ended, message = objective.start, ""
    for _ in range(ATTEMPTS):
        left = options["maxiter"] - len(objective.path) + 1
        if left <= 0:
            break
        with python_warnings.catch_warnings(), numpy.errstate(all="ignore"):
            python_warnings.simplefilter("ignore")
            try:
                result = scipy_minimize(
                    objective.value_and_gradient,
                    numpy.array([ended.point[name] for name in ended.moving]),
                    jac=True,
                    hess=objective.hessian if method in SECOND_ORDER else None,
                    method=METHODS[method],
                    bounds=limits if method == "l-bfgs-b" else None,
                    callback=objective.note,
                    options={**options, "maxiter": left},
                )
            except (Diagnosed, numpy.linalg.LinAlgError, ValueError, FloatingPointError) as error:
                return objective.best, str(error)
        before, message = ended, str(result.message)
        objective.evaluations -= 1
        ended = min(objective.row(result.x.tolist()) or objective.best, objective.best, key=lambda row: row.value)
        if projected(ended, limits) <= tolerance or not ended.value < before.value:
            break
    return ended, message


def _ended(
    objective: Objective, row: DescentStep, limits: Limits, tolerance: float, message: str, method: str
) -> ConvergenceReport:
    """Why the search is over, what it has come to, and both in words; `message` is SciPy's, empty if it was stopped."""
    size = [max(abs(step.coordinates[k]) for step in (*objective.path, row)) or 1.0 for k in objective.where]
    model = LocalModel(objective.row, objective.function, limits, size, tolerance)
    more = "iterations" in message.lower() or "exceeds limit" in message.lower()
    more = more and projected(row, limits) > tolerance
    counts = objective.evaluations, objective.outside
    try:
        if objective.boundless or not message:
            raise _Stopped
        report = model.report(row, walking=more)
    except _Stopped:
        if objective.boundless:
            message = "not converged: the value falls without bound"
            return ConvergenceReport(objective.best, None, reason="unbounded", message=message)
        reason, message = "interrupted", "interrupted: this is the best point so far"
        if objective.exhausted:
            objective.reserve = 0.0
            error = objective.work.exhausted(objective.work.most)
            reason, message = "limit", f"not converged: {error}; {error.hint}"
        return replace(model.report(row, walking=True), reason=reason, message=message)
    # the counts are those of the method
    objective.evaluations, objective.outside = counts
    if report.reason:
        return report
    if projected(report.row, limits) <= tolerance:
        held = f"held by the bounds of {', '.join(report.held)}, and no other" if report.held else "no"
        message = f"converged: {held} partial derivative is larger than {tolerance:g}"
        return replace(report, reason="gradient", message=message)
    if more:
        message = f"not converged after {len(objective.path) - 1} steps, the most that were allowed"
        return replace(report, reason="steps", message=message)
    message = f"not converged: {METHODS[method]} found no better point along its direction"
    return replace(report, reason="stuck", message=message)
