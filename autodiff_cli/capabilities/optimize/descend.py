"""Gradient descent: one row a step, with momentum, Nesterov's step or Adam."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import islice
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...compiled.evaluator import Evaluator
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers.base import Number
from ...engine.numbers.budget import DESCENT_COORDINATE, BudgetExceeded, current_budget
from ...engine.numbers.floats import REAL
from ...errors import Diagnostic, ExpressionError, plural, usage_error
from ...language.builder import Program
from ...questions.optional_units import pose_with_units, with_units
from ...questions.parse_point import Range
from ...questions.problem import (
    Point,
    Problem,
    check_bare_functions,
    check_products,
    have_units,
    numbers_or_quantities,
    parse,
    unused_name,
)
from ...questions.rounding import (
    REQUIRED_DIGITS,
    Points,
    rounding_warnings,
    rounding_warnings_over,
    underflowed_derivatives,
)
from ...record import Record

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss, LossSpec, LossSummary
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import Units

Found = TypeVar("Found")

# The methods, and the rate of each unless another is given.
RATES = {"plain": 0.1, "momentum": 0.01, "nesterov": 0.01, "adam": 0.001}

DEFAULT_STEPS = 100  # by default
ADAM_EPSILON = 1e-8  # in Adam's denominator
DIVERGENCE_FACTOR = 1e12  # how much worse a value is that diverges
DEFAULT_SEED = 1
DIGITS_TOLERANCE = 1e-8  # the absolute error that rounding may leave in the numbers of a step


class RunOptions(Record):
    """How a run takes its steps, and when it ends."""

    method: str
    rate: float
    momentum: float
    beta1: float
    beta2: float
    steps: int | None
    gradient_tolerance: float | None
    value_tolerance: float | None
    batch: int | None
    epochs: int | None
    shuffle: bool
    seed: int

    def batches(self, rows: int) -> Iterator[Iterator[list[int]]]:
        """Yield the batches of the rows, for each epoch."""
        random, order, size = Random(self.seed), list(range(rows)), self.batch or rows
        while True:
            if self.shuffle:
                random.shuffle(order)
            yield (order[k : k + size] for k in range(0, rows, size))


def initial_values(method: str, seed: int, names: Iterable[str]) -> dict[str, float]:
    """Return starting values: `normal`, `uniform` (from -1 to 1) or `zeros`."""
    random = Random(seed)
    draws: dict[str, Callable[[], float]] = {
        "normal": lambda: random.gauss(0.0, 1.0),
        "uniform": lambda: random.uniform(-1.0, 1.0),
        "zeros": lambda: 0.0,
    }
    return {name: draws[method]() for name in names}


# The declaration of a step, which is a tuple and has no place for it.
STEP_DECLARATION = """
    csv line id step value[] gradient_norm[] variable at[] partial[] error
    plain step value point
    step: the step, from 0
    epoch optional: with `--batch`: how often it has gone through the data
    value: the value at the point
    point
    gradient_norm: the norm of the gradient
    units
"""


class DescentStep(NamedTuple):
    """One step of a run, or epoch of its batches. Step 0 is the start."""

    step: int
    value: float
    gradient_norm: float
    coordinates: tuple[float, ...]
    partials: tuple[float, ...]
    names: tuple[str, ...]
    free: tuple[str, ...]
    epoch: int | None = None
    units: Units | None = None

    @property
    def point(self) -> dict[str, float]:
        return dict(zip(self.names, self.coordinates, strict=True))

    @property
    def free_values(self) -> list[float]:
        point = self.point
        return [point[name] for name in self.free]

    @property
    def gradient(self) -> dict[str, float]:
        return dict(zip(self.free, self.partials, strict=True))

    def text(self, field: str, x: float, digits: int = 3) -> str:
        """Return a number for a message, in the unit of a field or variable."""
        units = {} if self.units is None else {**self.units["point"], **self.units}
        return f"{x:.{digits}g} {units.get(field) or ''}".rstrip()


class Ending(Record):
    """Why a run has ended."""

    reason: str
    """`steps`, `gradient`, `value`; `diverged`, `domain`, `digits`; `limit`; `interrupted`."""
    message: str
    hint: str | None = None
    step: int = 0
    error: ExpressionError | None = None

    @property
    def succeeded(self) -> bool:
        return self.reason in ("gradient", "value") or (
            self.reason == "steps" and self.hint is None
        )


class DescentRun:
    """A prepared run: iterating takes the steps, a row each."""

    declaration = """
    rows keys=DescentStep: the rows
    best keys=DescentStep: the row with the lowest value
    ending: why it ended
      reason: as one word
      message: in words
      hint: what may help
    data
    """

    ending: Ending | None = None
    stop: Callable[[int], bool] | None = None

    def __init__(
        self,
        text: str,
        evaluator: Evaluator | DataLoss,
        start: DescentStep,
        options: RunOptions,
        maximize: bool,
        warnings: tuple[Diagnostic, ...],
        over: LossSummary | None = None,
    ) -> None:
        self.text, self.evaluator, self.start, self.options = text, evaluator, start, options
        self.maximize, self.warnings, self.over = maximize, warnings, over
        self.best = self.last = start
        self.data_rows = 0 if isinstance(evaluator, Evaluator) else evaluator.data.rows
        # a row of the run follows one step, or those of an epoch
        self.stride = 1 if options.batch is None else -(-self.data_rows // options.batch)
        self.steps = DEFAULT_STEPS if options.steps is None else options.steps
        if options.batch is not None and (options.epochs is not None or options.steps is None):
            of_epochs = (options.epochs or 1) * self.stride
            self.steps = of_epochs if options.steps is None else min(options.steps, of_epochs)

    def _replace(self, *, warnings: tuple[Diagnostic, ...]) -> DescentRun:
        other = copy(self)
        other.warnings = warnings
        return other

    def __iter__(self) -> Iterator[DescentStep]:
        self.best, self.last, self.ending = self.start, self.start, None
        ending = yield from self._steps()
        doubt = self._doubt() if ending.succeeded else ""
        if doubt:
            reason = ending.reason if ending.reason == "steps" else "digits"
            ending = ending._replace(reason=reason, message=f"{ending.message}, but {doubt}")
        self.ending = ending

    def _doubt(self) -> str:
        """Return what is wrong with the numbers of the last step, if anything is.

        Their digits count relative to the largest number of their kind at both ends, up to the
        tolerance.
        """
        ends = self.start, self.last
        of_value, of_slope = (
            max(map(abs, x))
            for x in zip(*((end.value, end.gradient_norm) for end in ends), strict=True)
        )
        allowed = [min(DIGITS_TOLERANCE, 10.0**-REQUIRED_DIGITS * x) for x in (of_slope, of_value)]
        lost = lost_digits(self.evaluator, self.last, *allowed)
        for warning in lost:
            if warning.kind == "lost_digits":
                return warning.message
        if isinstance(self.evaluator, Evaluator) and 0.0 in self.last.partials:
            small = underflowed(self.evaluator, self.last)
            return underflow_text(small) if small else ""
        return ""

    def _steps(self) -> Generator[DescentStep, None, Ending]:
        evaluate, options, start = self.evaluator, self.options, self.start
        names, free, units = start.names, start.free, start.units
        sign = -1.0 if self.maximize else 1.0
        moved = _mover(options, start, sign)
        small_norm = -1.0 if options.gradient_tolerance is None else options.gradient_tolerance
        small_change = options.value_tolerance
        best, worst = (
            sign * start.value,
            sign * start.value + DIVERGENCE_FACTOR * (1 + abs(start.value)),
        )
        row, epochs, stride, epoch = (
            start,
            options.batches(self.data_rows),
            self.stride,
            start.epoch,
        )
        yield row
        for planned in range(stride, self.steps + stride, stride):
            step = min(planned, self.steps)
            if row.gradient_norm <= small_norm:
                break
            try:
                if options.batch is None:
                    point = moved(row.coordinates, row.partials)
                else:
                    epoch = planned // stride
                    point, k = self._after_batches(
                        moved, row, islice(next(epochs), step - row.step)
                    )
                    if k is not None:
                        return self.interrupt(k)
                if not all(map(math.isfinite, point)):
                    return self._diverged(step, row)
                value, partials = evaluate(point)
            except (BudgetExceeded, ExpressionError) as error:
                return self._failed(step, row, error)
            norm = math.hypot(*partials)
            if norm == math.inf:
                return self._diverged(step, row)
            before = row.value
            row = DescentStep(
                step, value, norm, tuple(point), tuple(partials), names, free, epoch, units
            )
            signed = sign * value
            if signed < best:
                best, self.best = signed, row
            self.last = row
            yield row
            if small_change is not None and abs(value - before) <= small_change:
                change = row.text("value", abs(value - before))
                return Ending(
                    "value", f"converged at step {step}: the value changed by {change} only"
                )
            if signed > worst:
                return self._diverged(step, row)
        if row.gradient_norm <= small_norm:
            norm_text = row.text("gradient_norm", row.gradient_norm)
            return Ending(
                "gradient", f"converged at step {row.step}: the gradient norm is {norm_text}"
            )
        return self._out_of_steps(row, epoch)

    def _after_batches(
        self, moved: _Mover, row: DescentStep, batches: Iterable[list[int]]
    ) -> tuple[list[float], int | None]:
        """Return the point after a step for each batch; with the number of the last step if the run
        is to stop.
        """
        point = list(row.coordinates)
        for k, which in enumerate(batches, start=row.step):
            if self.stop is not None and self.stop(k + 1):
                return point, k
            point = moved(point, self.evaluator(point, which)[1])  # type: ignore[call-arg]
            if not all(map(math.isfinite, point)):
                break
        return point, None

    def _failed(
        self, step: int, row: DescentStep, error: BudgetExceeded | ExpressionError
    ) -> Ending:
        """Return the ending of a run whose next step has no value, or costs too much."""
        if isinstance(error, BudgetExceeded):
            return Ending("limit", f"stopped after {row.step:,} steps: {error}", error.hint)
        if error.kind == "overflow":
            return self._diverged(step, row)
        message = f"stopped at step {step}, where the program has no value or no derivative"
        return Ending("domain", message, "try a smaller `--rate`, or another start", step, error)

    def _out_of_steps(self, row: DescentStep, epoch: int | None) -> Ending:
        """Return the ending of a run that has taken all its steps."""
        start, sign = self.start, -1.0 if self.maximize else 1.0
        if sign * row.value > sign * start.value and row.gradient_norm > start.gradient_norm:
            return self._diverged(row.step, row)
        taken, more = plural(row.step, "step"), "--steps"
        if epoch is not None:
            taken, more = f"{plural(epoch, 'epoch')} ({taken})", "--epochs"
        if self.options.gradient_tolerance is None and self.options.value_tolerance is None:
            return Ending("steps", f"stopped after {taken}, as asked")
        norm_text = row.text("gradient_norm", row.gradient_norm)
        message = f"not converged after {taken}: the gradient norm is still {norm_text}"
        return Ending("steps", message, f"take more `{more}`, or another `--rate`")

    def _diverged(self, step: int, row: DescentStep) -> Ending:
        start = self.start.value
        ends = " to ".join(row.text("value", x, 6) for x in (start, row.value))
        away = f"the value has {'grown' if row.value > start else 'fallen'} from {ends}"
        hint = f"try a smaller rate, `--rate {self.options.rate / 10:.3g}`"
        if row.value == start:
            away = "the step leads out of the range of double precision"
        elif (row.value > start) == self.maximize:
            hint = (
                f"there may be no {'maximum' if self.maximize else 'minimum'}; or try a smaller"
                " `--rate`"
            )
        return Ending("diverged", f"diverged at step {step}: {away}", hint)

    def interrupt(self, step: int) -> Ending:
        """Note that the run was ended from outside, and return its ending."""
        self.ending = Ending("interrupted", f"interrupted after {step} step{'s' * (step != 1)}")
        return self.ending


# The next point, of a point and the gradient there.
_Mover = Callable[[Sequence[float], Sequence[float]], list[float]]


def _mover(rule: RunOptions, start: DescentStep, sign: float) -> _Mover:
    where = tuple(map(start.names.index, start.free))
    rate, beta1, beta2 = sign * rule.rate, rule.beta1, rule.beta2
    mu = 0.0 if rule.method == "plain" else rule.momentum
    first, second = [0.0] * len(where), [0.0] * len(where)
    power1 = power2 = 1.0

    def momentum(gradient: Sequence[float]) -> list[float]:
        first[:] = [mu * v + g for v, g in zip(first, gradient, strict=True)]
        if rule.method == "nesterov":
            return [rate * (g + mu * v) for v, g in zip(first, gradient, strict=True)]
        return [rate * v for v in first]

    def adam(gradient: Sequence[float]) -> list[float]:
        # Kingma and Ba, Algorithm 1
        nonlocal power1, power2
        power1 *= beta1
        power2 *= beta2
        first[:] = [beta1 * m + (1 - beta1) * g for m, g in zip(first, gradient, strict=True)]
        second[:] = [beta2 * v + (1 - beta2) * g * g for v, g in zip(second, gradient, strict=True)]
        means = zip(first, second, strict=True)
        return [
            rate * (m / (1 - power1)) / (math.sqrt(v / (1 - power2)) + ADAM_EPSILON)
            for m, v in means
        ]

    shifts = adam if rule.method == "adam" else momentum

    def moved(coordinates: Sequence[float], partials: Sequence[float]) -> list[float]:
        point = list(coordinates)
        for k, shift in zip(where, shifts(partials), strict=True):
            point[k] -= shift
        return point

    return moved


def descend(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    method: str | None = None,
    rate: float | None = None,
    momentum: float | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    steps: int | None = None,
    gradient_tolerance: float | None = None,
    value_tolerance: float | None = None,
    maximize: bool = False,
    over: LossSpec | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    shuffle: bool = False,
    init: str | None = None,
    seed: int = DEFAULT_SEED,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
) -> DescentRun:
    """Return a run of gradient descent from `point`; iterate over it to take the steps.

    Raises `ExpressionError` as `gradient` does at the start; what happens later is in `ending`.
    """
    method = method or ("plain" if momentum is None else "momentum")
    rate = RATES[method] if rate is None else rate
    momentum = 0.9 if momentum is None else momentum
    tolerances = gradient_tolerance, value_tolerance
    options = RunOptions(
        method, rate, momentum, beta1, beta2, steps, *tolerances, batch, epochs, shuffle, seed
    )
    passes = (
        1 + (DEFAULT_STEPS if steps is None else steps) if batch is None else 1 + 2 * (epochs or 1)
    )
    drawn = None if init is None else partial(initial_values, init, seed)
    evaluator, start, warnings, summary = begin_descent(
        text, point, wrt, over, passes, drawn, units=units, held=held
    )
    if start.units is not None:
        from ...questions.quantities import unit_of_rate

        unit = unit_of_rate(start.units, start.free, options.method == "adam")
        note = f"the rate {options.rate:g} is in {unit}, for numbers in the units of the start"
        warnings += (Diagnostic("note", note, None, None),) if unit != "1" else ()
    warnings += tuple(lost_digits(evaluator, start, DIGITS_TOLERANCE, required=("", *start.free)))
    run = DescentRun(text, evaluator, start, options, maximize, warnings, summary)
    if batch is not None and batch > run.data_rows:
        message = f"a batch of {batch:,} rows is more than the data have ({run.data_rows:,})"
        raise usage_error(message, "leave `--batch` out to take all rows in each step")
    # what a row costs beside the evaluation
    evaluator.steps += DESCENT_COORDINATE * (2 + len(start.names))
    _check_work(run)
    return run


def _check_work(run: DescentRun) -> None:
    """Raise an error for a run that does more than is allowed, unless a tolerance may end it
    sooner.
    """
    options, evaluator = run.options, run.evaluator
    rows = -(-run.steps // run.stride)
    needed, left = rows * evaluator.steps, current_budget()
    if options.batch is not None:
        needed += rows * evaluator.steps + run.steps * evaluator.steps_a_call  # type: ignore[union-attr]
    if (
        needed > left.left
        and options.gradient_tolerance is None
        and options.value_tolerance is None
    ):
        raise left.exhausted_error(needed, exactly=True)


def lost_digits(
    evaluator: Evaluator | DataLoss,
    row: DescentStep,
    tolerance: float,
    of_value: float | None = None,
    required: Collection[str] = (),
) -> list[Diagnostic]:
    """Return warnings about lost digits at a step, beyond errors of the tolerance; of a loss over
    data in its rows.

    A derivative may also be off by what changes the value in its last digits only. The value has a
    tolerance of its own. The numbers `required`, by variable and "" for the value, need their
    digits without any.
    """
    if not isinstance(evaluator, Evaluator):
        return _lost_digits_in_rows(evaluator, row, tolerance)
    values = {name: row.point[name] for name in evaluator.variables}
    wanted = [name for name in row.free if name in evaluator.wrt]
    share = 10.0**-REQUIRED_DIGITS * abs(row.value)
    tolerated = {name: max(tolerance, share / (abs(values[name]) or math.inf)) for name in wanted}
    tolerated[""] = tolerance if of_value is None else of_value
    tolerated = {name: allowed for name, allowed in tolerated.items() if name not in required}
    return _unpaid(
        lambda: rounding_warnings(evaluator.graph, values, values, wanted, tolerated=tolerated)
    )


def underflowed(evaluator: Evaluator, row: DescentStep) -> Mapping[str, Number]:
    """Return the derivatives at a step that only an underflow makes 0, or takes the digits of."""
    values = {name: row.point[name] for name in evaluator.variables}
    wanted = [name for name in row.free if name in evaluator.wrt]
    return _unpaid(lambda: underflowed_derivatives(evaluator.graph, values, wanted))


def underflow_text(small: Mapping[str, Number]) -> str:
    """Return what is said of derivatives that an underflow hides."""
    from ...questions.digits import short_text

    name, number = next(iter(small.items()))
    others = f" (so are others, such as `{[*small][1]}`)" if len(small) > 1 else ""
    return f"the derivative by `{name}` is {short_text(number)}, which is lost to underflow{others}"


def _unpaid(find: Callable[[], Found]) -> Found:
    """Return what is found without work: the steps that are asked for have all of it."""
    work = current_budget()
    left = work.left
    found = find()
    work.left = left
    return found


def _lost_digits_in_rows(loss: DataLoss, step: DescentStep, tolerance: float) -> list[Diagnostic]:
    from ...compiled.row_errors import rows_to_check

    here = [step.point[name] for name in loss.variables]
    columns = {**loss.data.numbers, **dict(zip(loss.variables, here, strict=True))}
    rows = rows_to_check(loss.evaluator.graph, columns, range(loss.data.rows))
    at = [dict(zip(loss.names, loss.point_at(row, here), strict=True)) for row in rows]
    points = Points(
        at, lambda k: loss.data.where(rows[k]).rstrip(": ") or f"row {rows[k] + 1}", "rows"
    )
    tolerated = dict.fromkeys(("", *step.free), tolerance)
    return _unpaid(
        lambda: rounding_warnings_over(loss.evaluator.graph, points, step.free, tolerated)
    )


# Numbers to begin at where no start is given, and shares of a range of two ends without the number.
FIRST_STARTS = (
    (1.0, 0.5),
    (2.0, 0.25),
    (0.5, 0.75),
    (-1.0, 0.1),
    (3.0, 0.9),
    (0.1, 0.4),
    (10.0, 0.6),
)
# The most variables whose starts a note lists.
MAX_NAMED_STARTS = 4


def _first_start(
    text: str, point: Point, wrt: Sequence[str] | None, held: set[str], bounds: Mapping[str, Range]
) -> tuple[dict[str, float], list[Diagnostic]]:
    """Return a start of the variables without a value, and a note; nothing where some value chooses
    the start.

    It is a point where the formula has a slope: a stationary point need not be a minimum.
    """
    program = parse(text, list(point), units=True)
    known = {*point, *held, *bounds, *(wrt or ())}
    check_bare_functions(program, known, by_option=True)
    check_products(program, known, wrt, by_option=True)
    missing = [name for name in program.leaves if name not in point]
    is_chosen = not held.issuperset(point) and (wrt is None or not {*wrt}.issuperset(missing))
    if not missing or is_chosen or len(program.roots) > 1:
        return {}, []
    numbers = numbers_or_quantities(with_units(point))
    units: Mapping[str, Unit] = {}
    if have_units(text, numbers, bounds):
        from .measured_starts import units_of_starts  # few formulas have units

        found = units_of_starts(program, numbers, missing, bounds)
        if found is None:
            return {}, []
        units = found
    starts = [
        {name: _start_of(units.get(name), bounds.get(name), *first) for name in missing}
        for first in FIRST_STARTS
    ]
    slopes = [_has_slope(program, numbers | x, missing) for x in starts]
    if slopes.count(None) == len(slopes):
        return {}, []  # the formula has no value at any of them
    start = starts[slopes.index(True) if True in slopes else slopes.index(False)]
    return start, [_note_on_start(start)]


def _note_on_start(start: Mapping[str, float]) -> Diagnostic:
    listed = [
        f"{name} = {getattr(x, 'number', x):g} {getattr(x, 'unit', '')}".rstrip()
        for name, x in start.items()
    ]
    shown = ", ".join(listed) if len(listed) <= MAX_NAMED_STARTS else f"{listed[0]}, and so on"
    return Diagnostic(
        "note", f"started at {shown}; `--at {next(iter(start))}=…` chooses another", None, None
    )


def _start_of(unit: Unit | None, bounds: Range | None, number: float, share: float) -> float:
    if unit is None:
        return _within(bounds, number, share)
    from ...questions.quantities import unit_value

    own = unit.to_si(1.0)
    return unit_value(unit, _within(bounds, number * own, share) / own)


def _within(bounds: Range | None, number: float, share: float) -> float:
    low, high = (-math.inf, math.inf) if bounds is None else bounds.ends
    if low < number < high:
        return number
    if math.isfinite(low) and math.isfinite(high):
        return low + share * (high - low)
    return low + share if math.isfinite(low) else high - share


def _has_slope(program: Program, values: Mapping[str, float], names: Sequence[str]) -> bool | None:
    """Return whether a gradient is not 0; None without one."""
    try:
        slopes = [*value_and_gradient(REAL, program.graph, values, names).gradient.values()]
    except ExpressionError:
        return None
    return any(slopes) if all(map(math.isfinite, slopes)) else None


def begin_descent(
    text: str,
    point: Point | None,
    wrt: Sequence[str] | None,
    over: LossSpec | None,
    passes: float,
    fill: Callable[[Iterable[str]], dict[str, float]] | None = None,
    *,
    negative: bool = False,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
    bounds: Mapping[str, Range] = MappingProxyType({}),
) -> tuple[Evaluator | DataLoss, DescentStep, tuple[Diagnostic, ...], LossSummary | None]:
    """Return evaluator, start, warnings and data of a run, or of its `negative`."""
    evaluator: Evaluator | DataLoss
    notes: list[Diagnostic] = []
    if over is None:
        if fill is not None:
            values = dict(point or {})
            point = values | fill(
                [name for name in parse(text, values, units=True).variables if name not in values]
            )
        start, notes = _first_start(text, point or {}, wrt, {*held}, bounds)
        problem = pose_with_units(text, {**(point or {}), **start}, wrt, units)
        problem = problem._replace(wanted=problem.used_variables)
        problem.warnings.extend(
            unused_name(problem.program, name) for name in problem.program.unused_entries
        )
        if wrt is None:
            problem = problem._replace(wanted=[name for name in problem.wanted if name not in held])
        evaluator, numbers = _evaluator_of(problem, negative)
    else:
        from ...compiled.data_loss import pose_over

        over, point = over._replace(negative=negative), with_units(point)
        problem, evaluator = pose_over(
            text, point, wrt, over, passes, only_variables=True, fill=fill, units=units, held=held
        )
        numbers = problem.values
    begin = _start(evaluator, problem, numbers, is_named=wrt is not None)
    summary = None if isinstance(evaluator, Evaluator) else evaluator.summary
    return evaluator, begin, (*problem.warnings, *notes), summary


def _evaluator_of(problem: Problem, negative: bool) -> tuple[Evaluator, Mapping[str, float]]:
    """Return what evaluates a program, or its negative, and the numbers of its variables, in the
    point's units.
    """
    program, numbers, measured = problem.program, problem.values, problem.units
    if measured is not None:
        program = measured.in_own_units(program)
        numbers = {name: measured.number_of(name, x) for name, x in numbers.items()}
    return Evaluator(program.negative() if negative else program, problem.wanted), numbers


def _start(
    evaluator: Evaluator | DataLoss,
    problem: Problem,
    numbers: Mapping[str, float],
    *,
    is_named: bool,
) -> DescentStep:
    """Return the row of the start. Raises an error where there is nothing to change, or no finite
    gradient.
    """
    free = problem.wanted
    if not free:
        raise usage_error(
            (
                "the program depends on none of these variables"
                if is_named
                else "the program has no variable to change"
            ),
            "write the program with variables, such as `(x - 3)**2`, and give their start: `--at"
            " x=0`",
        )
    names = (
        tuple(problem.program.leaves) if isinstance(evaluator, Evaluator) else evaluator.variables
    )
    coordinates = tuple(numbers[name] for name in names)
    value, partials = evaluator(coordinates)
    norm = math.hypot(*partials)
    if not math.isfinite(norm):
        message = "the norm of the gradient is too large at the start"
        raise ExpressionError("overflow", message, hint="rescale the program")
    shown = None if problem.units is None else problem.units.of_steps(free)
    return DescentStep(
        0, value, norm, coordinates, tuple(partials), names, tuple(free), units=shown
    )
