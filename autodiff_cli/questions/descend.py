"""Gradient descent, as the tutorials write it: one row a step, with momentum, Nesterov's step or Adam."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import sub
from typing import NamedTuple

from ..errors import Diagnostic, ExpressionError
from ..language.builder import Program
from ..numbers.work import current
from .evaluator import Evaluator, compile_gradient
from .problem import as_number, parse, place, wanted_variables

RATES = {"plain": 0.1, "momentum": 0.01, "nesterov": 0.01, "adam": 0.001}
"""The methods, and the rate of each unless another is given."""

EPSILON = 1e-8
"""What Adam adds to its denominator."""

STEPS_A_ROW = 3
"""Steps of work for a row of a run, and for each coordinate in it."""

RUNAWAY = 1e12
"""A value that has become worse by this factor is not waited for any longer."""

Move = Callable[[Sequence[float]], Iterable[float]]
"""From a gradient to what is taken off the point; it may remember what came before."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a step follows from the gradient. `rate` None is the method's own of `RATES`."""

    method: str = "plain"
    rate: float | None = None
    momentum: float = 0.9
    beta1: float = 0.9
    beta2: float = 0.999


def chosen_rule(
    method: str | None, rate: float | None, momentum: float | None, beta1: float | None, beta2: float | None
) -> Rule:
    """The rule of the options. Raises a usage error where a parameter is not one of the method's."""
    name = method or ("momentum" if momentum is not None else "plain")
    if momentum is not None and name in ("plain", "adam"):
        raise ExpressionError(
            "usage", f"`--momentum` is not for the method {name}", hint="choose `--method momentum` or `nesterov`"
        )
    if (beta1 is not None or beta2 is not None) and name != "adam":
        given = "--beta1" if beta1 is not None else "--beta2"
        raise ExpressionError("usage", f"`{given}` is not for the method {name}", hint="choose `--method adam`")
    usual = Rule()
    return Rule(
        name,
        rate,
        usual.momentum if momentum is None else momentum,
        usual.beta1 if beta1 is None else beta1,
        usual.beta2 if beta2 is None else beta2,
    )


@dataclass(frozen=True, slots=True)
class Stops:
    """When a run ends: after so many steps, or once the gradient norm, or a step's change of the value, is so small."""

    steps: int = 100
    gradient_tolerance: float | None = None
    value_tolerance: float | None = None


class Row(NamedTuple):
    """One step of a run: where it is, and the value and the gradient there. Step 0 is the start."""

    step: int
    value: float
    gradient_norm: float
    """The Euclidean norm of the gradient in the variables that move."""
    coordinates: tuple[float, ...]
    """The values of `names`, in order."""
    partials: tuple[float, ...]
    """The derivatives by `moving`, in order."""
    names: tuple[str, ...]
    moving: tuple[str, ...]

    @property
    def point(self) -> dict[str, float]:
        """The value of every variable."""
        return dict(zip(self.names, self.coordinates, strict=True))

    @property
    def gradient(self) -> dict[str, float]:
        """The derivative by each variable that moves."""
        return dict(zip(self.moving, self.partials, strict=True))


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run has ended."""

    reason: str
    """`steps`, `gradient`, `value`; `diverged`, `domain`; `limit`; `interrupted`."""
    message: str
    hint: str | None = None
    step: int = 0
    """The step at which it ended."""
    error: ExpressionError | None = None
    """Of `domain`: what was undefined, and where in the program."""

    @property
    def good(self) -> bool:
        """Whether the run did what it was asked to do."""
        return self.reason in ("gradient", "value") or (self.reason == "steps" and self.hint is None)


@dataclass(slots=True)
class Descent:
    """A run that is ready to begin: going through it takes the steps, one row each, the start included.

    `ending` says why it is over, `best` is the row with the best value so far.
    """

    text: str
    evaluator: Evaluator
    start: Row
    where: tuple[int, ...]
    """Which of the variables move."""
    rule: Rule
    stops: Stops
    maximize: bool
    warnings: tuple[Diagnostic, ...]
    best: Row = field(init=False)
    ending: Ending | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.best = self.start

    def _replace(self, *, warnings: tuple[Diagnostic, ...]) -> Descent:
        return replace(self, warnings=warnings)

    def __iter__(self) -> Iterator[Row]:
        evaluate, stops, start = self.evaluator, self.stops, self.start
        names, moving, maximize = start.names, start.moving, self.maximize
        where = None if self.where == tuple(range(len(names))) else self.where
        move = _mover(self.rule, len(moving), -1.0 if maximize else 1.0)
        small_norm = -1.0 if stops.gradient_tolerance is None else stops.gradient_tolerance
        small_change = stops.value_tolerance
        far = RUNAWAY * (1 + abs(start.value))
        worst = start.value - far if maximize else start.value + far
        hypot, isfinite = math.hypot, math.isfinite
        row = self.best = start
        best = start.value
        coordinates: tuple[float, ...] = start.coordinates
        partials: Sequence[float] = start.partials
        self.ending = None
        yield row
        for step in range(1, stops.steps + 1):
            if row.gradient_norm <= small_norm:
                break
            shifts = move(partials)
            if where is None:
                point = list(map(sub, coordinates, shifts))
            else:
                point = list(coordinates)
                for k, shift in zip(where, shifts, strict=True):
                    point[k] -= shift
            if not isfinite(sum(point)) and not all(map(isfinite, point)):
                self.ending = self._diverged(step, row)
                return
            try:
                value, partials = evaluate(point)
            except ExpressionError as error:
                self.ending = self._diverged(step, row) if error.kind == "overflow" else _outside(step, error)
                if error.kind == "limit":
                    self.ending = Ending("limit", f"stopped after {step - 1:,} steps: {error}", error.hint)
                return
            norm = hypot(*partials)
            if norm == math.inf:
                self.ending = self._diverged(step, row)
                return
            before = row.value
            coordinates = tuple(point)
            # what `Row(…)` does, in half the time: making rows is a good part of a small step
            row = tuple.__new__(Row, (step, value, norm, coordinates, tuple(partials), names, moving))
            if (value > best) if maximize else (value < best):
                best, self.best = value, row
            yield row
            if small_change is not None and abs(value - before) <= small_change:
                message = f"converged at step {step}: the value changed by {abs(value - before):.3g} only"
                self.ending = Ending("value", message)
                return
            if (value < worst) if maximize else (value > worst):
                self.ending = self._diverged(step, row)
                return
        self.ending = self._finished(row)

    def _finished(self, row: Row) -> Ending:
        """What to say when no more steps are to be taken, or the gradient is small enough."""
        stops, start = self.stops, self.start
        if stops.gradient_tolerance is not None and row.gradient_norm <= stops.gradient_tolerance:
            message = f"converged at step {row.step}: the gradient norm is {row.gradient_norm:.3g}"
            return Ending("gradient", message)
        lost = row.value < start.value if self.maximize else row.value > start.value
        if lost and row.gradient_norm > start.gradient_norm:
            return self._diverged(row.step, row)
        plural = "" if row.step == 1 else "s"
        if stops.gradient_tolerance is None and stops.value_tolerance is None:
            return Ending("steps", f"stopped after {row.step} step{plural}, as asked")
        return Ending(
            "steps", f"not converged after {row.step} step{plural}: the gradient norm is still {row.gradient_norm:.3g}",
            "take more `--steps`, or another `--rate`",
        )  # fmt: skip

    def _diverged(self, step: int, row: Row) -> Ending:
        """What to say of a run whose numbers grow without bound."""
        start, grown = self.start.value, "grown" if row.value > self.start.value else "fallen"
        better = row.value > start if self.maximize else row.value < start
        if better:
            which = "maximum" if self.maximize else "minimum"
            message = f"diverged at step {step}: the value has {grown} from {start:.6g} to {row.value:.6g}"
            return Ending("diverged", message, f"there may be no {which}; or try a smaller `--rate`")
        away = f"the value has {grown} from {start:.6g} to {row.value:.6g}"
        if row.value == start:
            away = "the step leads out of the range of double precision"
        rate = self.rule.rate or RATES[self.rule.method]
        return Ending("diverged", f"diverged at step {step}: {away}", f"try a smaller rate, `--rate {rate / 10:.3g}`")

    def interrupt(self, step: int) -> None:
        """Note that the run was ended from outside."""
        self.ending = Ending("interrupted", f"interrupted after {step} step{'' if step == 1 else 's'}")


def _outside(step: int, error: ExpressionError) -> Ending:
    return Ending(
        "domain", f"stopped at step {step}, where the program has no value or no derivative",
        "try a smaller `--rate`, or another start", step, error,
    )  # fmt: skip


def _mover(rule: Rule, count: int, sign: float) -> Move:
    """The rule as a function with the memory that it needs. The formulas are those of PyTorch's optimisers."""
    rate = sign * (RATES[rule.method] if rule.rate is None else rule.rate)
    velocity = [0.0] * count
    if rule.method == "plain":
        times = rate.__mul__
        return lambda gradient: map(times, gradient)
    if rule.method == "adam":
        return _adam(rate, rule.beta1, rule.beta2, count)
    mu, nesterov = rule.momentum, rule.method == "nesterov"

    def move(gradient: Sequence[float]) -> list[float]:
        velocity[:] = [mu * v + g for v, g in zip(velocity, gradient, strict=True)]
        if nesterov:
            return [rate * (g + mu * v) for v, g in zip(velocity, gradient, strict=True)]
        return [rate * v for v in velocity]

    return move


def _adam(rate: float, beta1: float, beta2: float, count: int) -> Move:
    """Kingma and Ba, Algorithm 1."""
    first, second = [0.0] * count, [0.0] * count
    power1 = power2 = 1.0

    def move(gradient: Sequence[float]) -> list[float]:
        nonlocal power1, power2
        power1 *= beta1
        power2 *= beta2
        first[:] = [beta1 * m + (1 - beta1) * g for m, g in zip(first, gradient, strict=True)]
        second[:] = [beta2 * v + (1 - beta2) * g * g for v, g in zip(second, gradient, strict=True)]
        return [
            rate * (m / (1 - power1)) / (math.sqrt(v / (1 - power2)) + EPSILON)
            for m, v in zip(first, second, strict=True)
        ]

    return move


def descend(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    rule: Rule | None = None,
    stops: Stops | None = None,
    maximize: bool = False,
) -> Descent:
    """The run of gradient descent on the program `text` from `point`; iterate over it to take the steps.

    Only the variables `wrt` move, by default those that `gradient` differentiates in. The program is built once, here.
    Raises `ExpressionError` as `gradient` does at the start, and `usage` for a rule that makes no sense; what happens
    later ends the run, and `ending` tells it.

    >>> run = descend("(x - 3)**2", {"x": 0}, rule=Rule(rate=0.25), stops=Stops(steps=3))
    >>> [(row.step, row.value, row.point["x"]) for row in run]
    [(0, 9.0, 0.0), (1, 2.25, 1.5), (2, 0.5625, 2.25), (3, 0.140625, 2.625)]
    >>> run.ending.message
    'stopped after 3 steps, as asked'
    """
    rule, stops = rule or Rule(), stops or Stops()
    _check(rule, stops)
    values = {name: as_number(value, name) for name, value in (point or {}).items()}
    program = parse(text, values)
    evaluator, start, where, warnings = beginning(program, values, wrt)
    # what a row costs that is made and written, beside the evaluation
    evaluator.steps += STEPS_A_ROW * (2 + len(start.names))
    needed, work = stops.steps * evaluator.steps, current()
    if needed > work.left and stops.gradient_tolerance is None and stops.value_tolerance is None:
        raise work.exhausted(needed, exactly=True)
    return Descent(text, evaluator, start, where, rule, stops, maximize, warnings)


def beginning(
    program: Program, values: Mapping[str, float], wrt: Sequence[str] | None
) -> tuple[Evaluator, Row, tuple[int, ...], tuple[Diagnostic, ...]]:
    """What a run from a point begins with: the evaluator, row 0, which variables move, and the warnings.

    Raises `ExpressionError` where there is nothing to move, and as `gradient` does at the point.
    """
    warnings = tuple(place(program, values))
    names = tuple(program.variables)
    moving = tuple(name for name in wanted_variables(program, values, wrt) if name in program.variables)
    if not moving:
        raise ExpressionError(
            "usage",
            "the program has no variable that could move" if wrt is None else "none of these variables moves it",
            hint="write the program with variables, such as `(x - 3)**2`, and give their start: `--at x=0`",
        )  # fmt: skip
    evaluator = compile_gradient(program, moving)
    coordinates = tuple(values[name] for name in names)
    value, partials = evaluator(coordinates)
    norm = math.hypot(*partials)
    if not math.isfinite(norm):
        raise ExpressionError(
            "overflow", "the norm of the gradient is too large at the start", hint="rescale the program"
        )
    where = tuple(names.index(name) for name in moving)
    return evaluator, Row(0, value, norm, coordinates, tuple(partials), names, moving), where, warnings


def _check(rule: Rule, stops: Stops) -> None:
    """Raise a usage error for parameters that make no sense."""
    if rule.method not in RATES:
        listed = ", ".join(f"`{name}`" for name in RATES)
        raise ExpressionError("usage", f"`{rule.method}` is not a method of descent", hint=f"there are {listed}")
    if rule.rate is not None and not 0 < rule.rate < math.inf:
        raise ExpressionError(
            "usage", f"the rate cannot be {rule.rate:g}", hint="give a positive number; to go uphill: `--maximize`"
        )
    for name, share in (("momentum", rule.momentum), ("beta1", rule.beta1), ("beta2", rule.beta2)):
        if not 0 <= share < 1:
            raise ExpressionError("usage", f"`--{name}` cannot be {share:g}", hint="it is at least 0 and less than 1")
    for name, tolerance in (("gradient", stops.gradient_tolerance), ("value", stops.value_tolerance)):
        if tolerance is not None and not 0 <= tolerance < math.inf:
            raise ExpressionError(
                "usage", f"`--{name}-tolerance` cannot be {tolerance:g}", hint="give a number from 0 up"
            )
