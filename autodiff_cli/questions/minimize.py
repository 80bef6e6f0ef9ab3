"""A minimum by SciPy's optimisers, which are given the exact gradient and the exact Hessian."""

from __future__ import annotations

import math
import warnings as python_warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import Diagnostic, ExpressionError
from ..graph.pieces import NotSmooth
from ..graph.second import hessian_in
from ..graph.sweep_in import sweep_in
from ..graph.value import kink_warning
from ..numbers.floats import REAL
from .descend import Row, beginning
from .problem import as_number, parse
from .ranges import Range

METHODS = {
    "bfgs": "BFGS", "cg": "CG", "l-bfgs-b": "L-BFGS-B", "newton-cg": "Newton-CG", "trust-ncg": "trust-ncg",
    "trust-exact": "trust-exact",
}  # fmt: skip
"""The methods, and what SciPy calls them."""

SECOND_ORDER = frozenset(("newton-cg", "trust-ncg", "trust-exact"))

TOLERANCE = 1e-8
"""The largest partial derivative at which a point counts as stationary."""

INVISIBLE = 1e-12
"""A decrease by less than this share of the value is lost in its rounding errors."""

WALL = 1e10
"""How large, in terms of the value at the start, the function is taken to be outside its domain."""

BOUNDLESS = 1e15
"""A value that has fallen this far below 0, in terms of the one at the start, is taken to fall for ever."""

STEPS, SECOND_ORDER_STEPS = 10_000, 1_000
"""How many steps a method may take, unless it is said otherwise."""

ATTEMPTS = 3
"""How often a method that is stuck begins again from where it is."""

DIMENSIONS = 200
"""In how many variables the Hessian at the result is looked at."""


class Minimum(NamedTuple):
    """Where an optimiser has ended, whether that is a minimum, and what it took."""

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
    """Why it stopped: `gradient`, `precision`; `steps`, `unbounded`, `stuck`; `interrupted`."""
    message: str
    """The same in words."""
    kind: str | None
    """What the Hessian says of the point: `minimum`, `saddle`, `maximum`, `flat`, `kink`; None where unknown."""
    at_bounds: tuple[str, ...]
    """The variables that a bound holds."""
    steps: int
    evaluations: int
    """Of value and gradient together."""
    hessians: int
    outside: int
    """How many of the evaluations fell on points without a value."""
    path: tuple[Row, ...]
    """The points that it went through, the start first."""
    warnings: tuple[Diagnostic, ...]


class _Stopped(Exception):
    """The work was to end early."""


@dataclass(slots=True)
class _Problem:
    """The function that is minimised, as SciPy wants it, and what is known of it so far."""

    evaluate: Callable[[Sequence[float]], tuple[float, list[float]]]
    start: Row
    where: tuple[int, ...]
    stop: Callable[[], bool]
    output: Any
    best: Row = field(init=False)
    path: list[Row] = field(init=False)
    evaluations: int = 1
    hessians: int = 0
    outside: int = 0
    boundless: bool = False

    def __post_init__(self) -> None:
        self.best = self.start
        self.path = [self.start]

    def full(self, x: Sequence[float]) -> list[float]:
        """The values of all variables."""
        point = list(self.start.coordinates)
        for k, value in zip(self.where, x, strict=True):
            point[k] = float(value)
        return point

    def row(self, x: Sequence[float]) -> Row | None:
        """Value and gradient at a point, None where there is none."""
        if self.stop():
            raise _Stopped
        self.evaluations += 1
        point = self.full(x)
        try:
            if not all(map(math.isfinite, point)):
                raise ExpressionError("overflow", "the point is too large")
            value, partials = self.evaluate(point)
        except ExpressionError:
            self.outside += 1
            return None
        found = self.start._replace(
            step=self.evaluations, value=value, gradient_norm=math.hypot(*partials), coordinates=tuple(point),
            partials=tuple(partials),
        )  # fmt: skip
        if value < self.best.value:
            self.best = found
            if value <= -BOUNDLESS * (1 + abs(self.start.value)):
                self.boundless = True
                raise _Stopped
        return found

    def value_and_gradient(self, x: Any) -> tuple[float, Any]:
        """For SciPy: outside the domain the value is very large, so that a line search turns back.

        An infinite one would leave it with nothing to interpolate.
        """
        import numpy

        found = self.row(x.tolist())
        if found is None:
            return WALL * (1 + abs(self.start.value)), numpy.zeros(len(x))
        return found.value, numpy.array(found.partials)

    def hessian(self, x: Any) -> Any:
        """For SciPy: the exact matrix of second derivatives."""
        import numpy

        self.hessians += 1
        values = dict(zip(self.start.names, self.full(x.tolist()), strict=True))
        try:
            return numpy.array(hessian_in(REAL, self.output, values, self.start.moving).hessian)
        except ExpressionError:
            # asked for outside the domain, where the step is not taken anyway
            return numpy.eye(len(x))

    def note(self, x: Any) -> None:
        """Add a step to the path."""
        self.evaluations -= 1
        found = self.row(x.tolist())
        if found is not None and found.coordinates != self.path[-1].coordinates:
            self.path.append(found._replace(step=len(self.path)))


def minimize(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    method: str | None = None,
    bounds: Mapping[str, Range] | None = None,
    tolerance: float = TOLERANCE,
    steps: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Minimum:
    """Where the program `text` is least, as one of SciPy's optimisers finds it from the start `point`.

    `method` is one of `METHODS`, by default `bfgs`, with `bounds` `l-bfgs-b`. Once `stop` says so, the best point so
    far is returned. Raises `ExpressionError` as `gradient` does at the start, and `usage` where SciPy is not installed.
    """
    chosen = _checked(method, bounds or {}, tolerance)
    values = {name: as_number(value, name) for name, value in (point or {}).items()}
    program = parse(text, values)
    evaluator, start, where, warnings = beginning(program, values, wrt)
    problem = _Problem(evaluator, start, where, stop, evaluator.output)
    limits = _limits(start, bounds or {})
    try:
        ended, told = _optimised(problem, chosen, limits, tolerance, steps)
    except _Stopped:
        ended, told = problem.best, ""
    reason, message, kind, at_bounds, kinks = _judged(problem, ended, limits, tolerance, told, chosen)
    if ended.coordinates != problem.path[-1].coordinates:
        problem.path.append(ended._replace(step=len(problem.path)))
    return Minimum(
        text, chosen, ended.value, ended.point, ended.gradient, ended.gradient_norm,
        reason in ("gradient", "precision"), reason, message, kind, at_bounds, len(problem.path) - 1,
        problem.evaluations, problem.hessians, problem.outside, tuple(problem.path), (*warnings, *kinks),
    )  # fmt: skip


def _checked(method: str | None, bounds: Mapping[str, Range], tolerance: float) -> str:
    """The method. Raises a usage error for one that there is not, or that cannot do this, or without SciPy."""
    chosen = (method or ("l-bfgs-b" if bounds else "bfgs")).lower()
    if chosen not in METHODS:
        listed = ", ".join(f"`{name}`" for name in METHODS)
        raise ExpressionError("usage", f"`{method}` is not a method of minimisation", hint=f"there are {listed}")
    if bounds and chosen != "l-bfgs-b":
        raise ExpressionError("usage", f"the method {chosen} takes no bounds", hint="use `--method l-bfgs-b`")
    if not 0 < tolerance < math.inf:
        raise ExpressionError("usage", f"the tolerance cannot be {tolerance:g}", hint="give a positive number")
    try:
        import scipy.optimize
    except ImportError:
        raise ExpressionError(
            "usage", "`minimize` needs SciPy, the extra `optimize`",
            hint="`pip install 'autodiff-cli[optimize]'`; `autodiff descend` needs nothing",
        ) from None  # fmt: skip
    assert scipy.optimize
    return chosen


def _limits(start: Row, bounds: Mapping[str, Range]) -> list[Range] | None:
    """The bounds of the variables that move, in order. Raises a usage error where they do not fit the start."""
    if not bounds:
        return None
    for name, (low, high) in bounds.items():
        if name not in start.moving:
            listed = ", ".join(f"`{each}`" for each in start.moving)
            why = "is held fixed" if name in start.names else "is not a variable of this program"
            raise ExpressionError("usage", f"`{name}` has bounds and {why}", hint=f"the variables that move: {listed}")
        x = start.point[name]
        if (low is not None and x < low) or (high is not None and x > high):
            raise ExpressionError(
                "usage", f"the start `{name}={x:g}` is outside its bounds", hint="start within the bounds"
            )
    return [bounds.get(name, Range(None, None)) for name in start.moving]


def _optimised(
    problem: _Problem, method: str, limits: list[Range] | None, tolerance: float, steps: int | None
) -> tuple[Row, str]:
    """Where SciPy ended, and what it said; from a point where it is stuck it is started again."""
    import numpy
    from scipy.optimize import minimize as scipy_minimize

    usual = SECOND_ORDER_STEPS if method in SECOND_ORDER else STEPS
    options: dict[str, Any] = {"maxiter": usual if steps is None else steps}
    if method == "newton-cg":
        options["xtol"] = 1e-12
    else:
        options["gtol"] = tolerance / 10
    if method == "l-bfgs-b":
        options |= {"ftol": 0.0, "maxfun": 10 * options["maxiter"], "maxls": 50}
    ended, told = problem.start, ""
    for _ in range(ATTEMPTS):
        left = options["maxiter"] - len(problem.path) + 1
        if left <= 0:
            break
        x = numpy.array([ended.point[name] for name in ended.moving])
        with python_warnings.catch_warnings(), numpy.errstate(all="ignore"):
            python_warnings.simplefilter("ignore")
            try:
                result = scipy_minimize(
                    problem.value_and_gradient, x, jac=True, method=METHODS[method], bounds=limits,
                    hess=problem.hessian if method in SECOND_ORDER else None, callback=problem.note,
                    options={**options, "maxiter": left},
                )  # fmt: skip
            except (ExpressionError, numpy.linalg.LinAlgError, ValueError, FloatingPointError) as error:
                return problem.best, str(error)
        before, told = ended, str(result.message)
        problem.evaluations -= 1
        ended = problem.row(result.x.tolist()) or problem.best
        ended = min(ended, problem.best, key=lambda row: row.value)
        stationary = _projected(ended, limits) <= tolerance
        if stationary or not ended.value < before.value:
            break
    return ended, told


def _projected(row: Row, limits: list[Range] | None) -> float:
    """The largest partial derivative, without those that push against a bound."""
    largest = 0.0
    for k, (name, partial) in enumerate(row.gradient.items()):
        low, high = limits[k] if limits else (None, None)
        x = row.point[name]
        if not ((low is not None and x <= low and partial > 0) or (high is not None and x >= high and partial < 0)):
            largest = max(largest, abs(partial))
    return largest


def _judged(
    problem: _Problem, row: Row, limits: list[Range] | None, tolerance: float, told: str, method: str
) -> tuple[str, str, str | None, tuple[str, ...], list[Diagnostic]]:
    """Why it stopped, the same in words, what kind of point it is, what is at a bound, and the kinks there."""
    at_bounds = tuple(
        name for name, (low, high) in zip(row.moving, limits or [], strict=False) if row.point[name] in (low, high)
    )
    largest = _projected(row, limits)
    free = [k for k, name in enumerate(row.moving) if name not in at_bounds]
    kind, gain, kinks = _curvature(problem, row, free)
    if problem.boundless:
        return "unbounded", "not converged: the value falls without bound", None, at_bounds, kinks
    if not told:
        return "interrupted", "interrupted: this is the best point so far", kind, at_bounds, kinks
    if largest <= tolerance:
        others = "other " if at_bounds and row.gradient_norm > tolerance else ""
        held = f"held by the bounds of {', '.join(at_bounds)}, and " if others else ""
        message = f"converged: {held}no {others}partial derivative is larger than {tolerance:g}"
        return "gradient", message, kind, at_bounds, kinks
    if gain is not None and gain <= INVISIBLE * abs(row.value):
        message = "converged: what is left to gain is less than the rounding error of the value"
        return "precision", message, kind, at_bounds, kinks
    steps = len(problem.path) - 1
    if "iterations" in told.lower() or "exceeds limit" in told.lower():
        return "steps", f"not converged after {steps} steps, the most that were allowed", kind, at_bounds, kinks
    message = f"not converged: {METHODS[method]} found no better point along its direction"
    return "stuck", message, kind, at_bounds, kinks


def _curvature(problem: _Problem, row: Row, free: list[int]) -> tuple[str | None, float | None, list[Diagnostic]]:
    """What the Hessian in the free variables says of the point, and how much a Newton step would still gain."""
    if not 0 < len(free) <= DIMENSIONS:
        return ("minimum" if not free else None), (0.0 if not free else None), []
    import numpy

    try:
        found = hessian_in(REAL, problem.output, row.point, row.moving)
    except NotSmooth as refused:
        swept = sweep_in(REAL, problem.output, row.point, row.moving)
        kinks = [kink_warning(swept.nodes[i], [swept.tape.data[p] for p in swept.tape.parents[i]]) for i in swept.kinks]
        return "kink", None, kinks or [refused.diagnostic._replace(kind="kink")]
    except ExpressionError:
        return None, None, []
    square: Any = numpy.array(found.hessian)[numpy.ix_(free, free)]
    with numpy.errstate(all="ignore"):
        # the variables may have very different units: those in which the diagonal is 1 are natural
        scale = numpy.sqrt(numpy.abs(numpy.diag(square)))
        scale[scale == 0] = 1.0
        scaled = square / numpy.outer(scale, scale)
        if not numpy.isfinite(scaled).all():
            return None, None, []
        eigenvalues, vectors = numpy.linalg.eigh(scaled)
        noise = 1e-10 * max(1.0, float(numpy.abs(eigenvalues).max()))
        along = vectors.T @ (numpy.array(row.partials)[free] / scale)
        curved = numpy.abs(eigenvalues) > noise
        if (numpy.abs(along[~curved]) > 0).any() and not curved.all():
            gain = None
        else:
            gain = float(0.5 * (along[curved] ** 2 / numpy.abs(eigenvalues[curved])).sum())
    if (eigenvalues > noise).all():
        kind = "minimum"
    elif (eigenvalues < -noise).all():
        kind = "maximum"
    elif (eigenvalues < -noise).any():
        kind = "saddle"
    else:
        kind = "flat"
    return kind, gain, []
