"""The sum or mean of a formula over rows of data, with exact derivatives.

Names that are columns are data, the others variables. Rows are computed in blocks by `kernels`, or
one by one.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.graphs.higher_order import hessian_in
from ..engine.numbers import budget
from ..engine.numbers.floats import REAL
from ..engine.numbers.running_error import UNIT_ROUNDOFF, Bounded
from ..engine.numerics.optimality import Derivatives, Single
from ..errors import Diagnostic, ExpressionError, plural, usage_error
from ..language.builder import Program
from ..questions.arithmetic import Arithmetic
from ..questions.optional_units import left_out
from ..questions.parse_point import is_name
from ..questions.problem import (
    Problem,
    have_units,
    numbers_or_quantities,
    parse,
    unused_name,
    wanted_variables,
)
from .backends import needs_data, one_by_one, unavailable_backend
from .columns_io import (
    MAX_IN_BLOCKS,
    list_columns,
    program_over,
    reason,
    without_unused_lists,
)
from .evaluator import Evaluator, gradient_recorder

if TYPE_CHECKING:
    from ..questions.quantities import ProgramUnits

# The most rows times passes without a compiler, which takes as long to load.
MAX_UNCOMPILED_ROWS = 20_000

# Numbers in a block of results, to fit in a processor's cache.
BLOCK_NUMBERS = 65_536

# The rows of a block; powers of 2.
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS = 256, 16_384

# Partial sums of a column that are added exactly in the end.
MAX_PARTIAL_SUMS = 32

# The most numbers that are added exactly at a time.
MAX_EXACT_NUMBERS = 4096

# Rows sampled for bounds on rounding errors, and a safety factor for the other rows.
SAMPLED_ROWS, SAMPLE_SAFETY = 200, 2.0

# Cost of a row in a block, relative to a single row.
BLOCK_ROW_COST = 0.1


class Columns(NamedTuple):
    """Columns of finite numbers of equal length."""

    numbers: Mapping[str, Any]
    """Arrays of doubles (NumPy or Python) by variable."""
    rows: int
    where: Callable[[int], str]
    """Return the place of a row, for messages: `points.csv, line 5: `."""
    left_out: Counter[str]
    units: Mapping[str, str] = MappingProxyType({})


# Selects the needed columns from those present. Raises errors of unfit names.
Choose = Callable[[Sequence[str]], Collection[str]]

# Reads the chosen columns; True skips rows without numbers. Raises `ExpressionError`.
Data = Callable[[Choose, bool], Columns]


# Returns the results of a row from the values of all names. Raises `ExpressionError`.
Row = Callable[[Sequence[float]], list[float]]


class LossSpec(NamedTuple):
    """The data that a formula is reduced over, and how."""

    data: Data
    how: str
    skip: bool = False
    """Whether rows without a value are left out, instead of errors."""
    backend: str | None = None
    negative: bool = False


class LossSummary(NamedTuple):
    """A summary of the data that a loss was computed over."""

    reduce: str
    rows: int
    left_out: dict[str, int]
    backend: str

    @property
    def description(self) -> str:
        """Return the data in words: `sum over 4 rows of data`."""
        left = sum(self.left_out.values())
        more = f" ({left:,} left out)" if left else ""
        return f"{self.reduce} over {self.rows:,} row{'' if self.rows == 1 else 's'} of data{more}"


def in_doubles(arithmetic: Arithmetic) -> None:
    """Raise a usage error unless the arithmetic is `double`."""
    if arithmetic.name != "double":
        hint = "leave the arithmetic out, or write the sum as a formula"
        raise usage_error("rows of data are reduced in doubles", hint)


def pose_over(
    text: str,
    point: Mapping[str, float | str] | None,
    wrt: Sequence[str] | str | None,
    over: LossSpec,
    passes: float,
    *,
    only_variables: bool = False,
    fill: Callable[[Iterable[str]], dict[str, float]] | None = None,
    units: Sequence[str] | str | None = None,
    held: Collection[str] = (),
) -> tuple[Problem, DataLoss]:
    """Return the formula as a problem of the variables outside the data, and the loss.

    `passes` is about how often it will be evaluated. With `only_variables` only variables of the
    program are wanted. `fill` gives values to variables without one. If values have units, the loss
    is a function of numbers in these.
    """
    values = numbers_or_quantities(point)
    program, data = _program_and_data(text, values, over, fill)
    # every row costs as much as typing the formula again
    budget.current_budget().reset(len(text) * (1 + data.rows))
    wanted = _wanted(program, data, values, wrt, held)
    if only_variables:
        wanted = [*filter(program.leaves.__contains__, wanted)]
    warnings = _unused_warnings(program, [name for name in values if name not in wanted], data)
    names = dict.fromkeys((*program.leaves, *wanted))
    values = {name: values[name] for name in names if name in values}
    own, measured = program, None
    if left_out(units):
        data, units = data._replace(units={}), None
    if data.units or units or have_units(text, values):
        own, data, values, measured, notes = _in_units(program, data, values, units)
        warnings += notes
    function = DataLoss(own.negative() if over.negative else own, data, wanted, over, passes)
    if function.note is not None:
        warnings.append(Diagnostic("speed", function.note))
    return Problem(program, {**values}, values, wanted, warnings, units=measured), function


def _program_and_data(
    text: str,
    values: dict[str, float],
    over: LossSpec,
    fill: Callable[[Iterable[str]], dict[str, float]] | None,
) -> tuple[Program, Columns]:
    """Return the program, and the columns that it uses; `fill` adds values of variables without
    one.
    """
    program: Program | None = None

    def choose(columns: Sequence[str]) -> Sequence[str]:
        nonlocal program
        if fill is not None:
            readable = [
                name for name in without_unused_lists(text, columns, values) if is_name(name)
            ]
            variables = parse(text, [*readable, *values], units=True).leaves
            values.update(
                fill(name for name in variables if name not in readable and name not in values)
            )
        program = program_over(text, columns, values, None).program
        used = [name for name in program.leaves if name in columns]
        if not used:
            hint = f"there are {list_columns(columns)}; or leave out `--data`"
            raise usage_error("the formula uses no column of the data", hint)
        return used

    data = over.data(choose, over.skip)
    assert program is not None
    return program, data


def _unused_warnings(program: Program, names: Iterable[str], data: Columns) -> list[Diagnostic]:
    variables = [name for name in program.leaves if name not in data.numbers]
    return [unused_name(program, name, variables) for name in names if name not in program.leaves]


def _wanted(
    program: Program,
    data: Columns,
    values: Mapping[str, float],
    wrt: Sequence[str] | str | None,
    held: Collection[str],
) -> list[str]:
    """Return the variables to differentiate by: no columns, and by default none that are held or
    that have no use.
    """
    asked = wrt.split(",") if isinstance(wrt, str) else wrt
    columns = [name.strip() for name in asked or () if name.strip() in data.numbers]
    if columns:
        raise usage_error(
            f"`{columns[0]}` is a column of the data, not a variable", "leave it out of `--wrt`"
        )
    without = {*data.numbers}
    if asked is None:
        without |= {*held, *(name for name in program.unused_entries if name not in values)}
    return [name for name in wanted_variables(program, values, wrt) if name not in without]


def _in_units(
    program: Program, data: Columns, values: Mapping[str, float], units: Sequence[str] | str | None
) -> tuple[Program, Columns, dict[str, float], ProgramUnits | None, list[Diagnostic]]:
    from ..engine.quantities.presentation import conversion
    from ..questions.optional_units import check_coherence, column_units, program_units, uses_angles
    from ..questions.quantities import unit_value

    asked = bool(units) or have_units(program.text, values)
    columns, notes = column_units(data.numbers, data.units, asked, angles=uses_angles(program))
    if not columns and not asked:
        return program, data, {**values}, None, notes
    of_columns = {name: unit_value(unit) for name, unit in columns.items()}
    try:
        measured = program_units(program, {**values, **of_columns}, units, system=True)
        assert measured is not None
    except ExpressionError as error:
        if asked:
            raise
        check_coherence(columns, str(error), error.hint)
        left = Diagnostic(
            "note",
            f"the units in the headings are left out: {error}",
            None,
            "give values their units",
        )
        return program, data, {**values}, None, [left]
    if measured.outputs[0].zero:
        message = (
            f"the answer is made of many values, and `--in {measured.outputs[0]}` is for a"
            " temperature"
        )
        raise usage_error(message, "ask for it in kelvin: `--in K`")
    inside = {name: measured.in_system(measured.point[name]) for name in columns}
    numbers = dict(data.numbers)
    for name, column in numbers.items():
        times, plus = conversion(columns[name], inside[name])
        if (times, plus) != (1.0, 0.0):
            is_array = hasattr(column, "dtype")
            numbers[name] = (
                column * times + plus
                if is_array
                else array("d", [x * times + plus for x in column])
            )
    program = measured.in_own_units(program, inside, measured.in_system)
    typed = {name: measured.number_of(name, x) for name, x in values.items()}
    return program, data._replace(numbers=numbers), typed, measured, notes


class DataLoss:
    """The sum or mean of a formula over data, used like an `Evaluator`."""

    def __init__(
        self, program: Program, data: Columns, wrt: Sequence[str], over: LossSpec, passes: float
    ) -> None:
        self.program, self.data, self.over = program, data, over
        self.wrt = tuple(wrt)
        self.evaluator = Evaluator(program, self.wrt)
        self._kernel: Any = None
        # A message, shown once, if the fastest backend is not used.
        self.note: str | None = None
        backend = (
            "python"
            if over.backend is None and data.rows * passes <= MAX_UNCOMPILED_ROWS
            else over.backend
        )
        if backend != "python":
            try:
                from .kernels import kernel
            except ImportError:
                if backend is not None:
                    raise unavailable_backend(backend, needs_data()) from None
                self.note = one_by_one(needs_data())
            else:
                candidate = kernel(
                    gradient_recorder(program, self.wrt), len(self.names), self._fixed, backend
                )
                self._kernel, self.note = (
                    None if candidate.compute is None else candidate,
                    candidate.note,
                )
        self.backend: str = "python" if self._kernel is None else self._kernel.backend
        compiled = self._kernel is not None
        self.steps_a_row = self.evaluator.steps * (BLOCK_ROW_COST if compiled else 1.0)
        self.steps_a_call = budget.BLOCK if compiled else budget.ROWS_IN_TURN
        self.steps = self.steps_a_call + self.steps_a_row * data.rows
        self.left_out: Counter[str] = Counter()
        self._seconds: dict[tuple[str, ...], Any] = {}
        # Rows that the kernel flagged in the last evaluation.
        self.asked: list[int] = []

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the program, of columns and of variables."""
        return tuple(self.program.leaves)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names that are the same in all rows."""
        return tuple(name for name in self.names if name not in self.data.numbers)

    @cached_property
    def _columns(self) -> list[Any]:
        return [self.data.numbers.get(name) for name in self.names]

    @property
    def _fixed(self) -> frozenset[int]:
        return frozenset([k for k, column in enumerate(self._columns) if column is None])

    @property
    def rows(self) -> int:
        """Return the number of rows used in the last evaluation."""
        return self.data.rows - self.left_out.total()

    @property
    def summary(self) -> LossSummary:
        return LossSummary(
            self.over.how, self.rows, dict(self.data.left_out + self.left_out), self.backend
        )

    def __call__(
        self, point: Sequence[float], which: Sequence[int] | None = None
    ) -> tuple[float, list[float]]:
        """Return value and partial derivatives by `wrt` at the values of `variables`, over the rows
        in `which`.
        """
        return self._reduce(point, which, 1 + len(self.wrt), self._kernel, self._row)

    def _row(self, at: Sequence[float]) -> list[float]:
        if self._kernel is None:
            value, partials = self.evaluator(at)
        else:
            budget.charge(self.evaluator.steps)
            value, partials = self.evaluator.interpret(at)
        return [value, *partials]

    def value(self, point: Sequence[float]) -> float:
        """Return the value alone."""
        return self(point)[0]

    def _reduce(
        self, point: Sequence[float], which: Sequence[int] | None, count: int, kernel: Any, row: Row
    ) -> tuple[float, list[float]]:
        totals = Totals(count)
        self.left_out, self.asked = Counter(), []
        taken = range(self.data.rows) if which is None else which
        if kernel is None:
            self._in_turn(point, taken, totals, row)
        else:
            self._in_blocks(point, taken, totals, kernel, row)
        rows = len(taken) - self.left_out.total()
        sums = totals.sums()
        if not rows:
            why = "; ".join(f"{cause} ({count:,})" for cause, count in self.left_out.most_common(3))
            hint = "move the point into the domain, or guard the formula"
            raise ExpressionError("domain", f"every row of the data is left out: {why}", hint=hint)
        share = rows if self.over.how == "mean" else 1
        value, *partials = [x / share + 0.0 for x in sums]
        return value, partials

    def point_at(self, row: int, point: Sequence[float]) -> list[float]:
        """Return the values of all names of the program at a row."""
        values = iter(point)
        return [next(values) if column is None else float(column[row]) for column in self._columns]

    def leave_out(self, row: int, error: ExpressionError) -> None:
        """Leave a row out, or raise its error, with the place of the row."""
        if not self.over.skip:
            raise with_row(error, self.data.where(row))
        self.left_out[reason(error)] += 1

    def _in_turn(
        self, point: Sequence[float], taken: Sequence[int], totals: Totals, row: Row
    ) -> None:
        budget.charge(budget.ROWS_IN_TURN)
        self.asked = list(taken)
        rows = iter(self.asked)
        while part := list(islice(rows, MAX_EXACT_NUMBERS)):
            results = []
            for k in part:
                try:
                    results.append(row(self.point_at(k, point)))
                except ExpressionError as error:
                    self.leave_out(k, error)
                budget.gc_collect()
            totals.add_lists(zip(*results, strict=True))

    def _in_blocks(
        self, point: Sequence[float], taken: Sequence[int], totals: Totals, kernel: Any, row: Row
    ) -> None:
        import numpy as np

        from .kernels import evaluate

        def plain(at: Mapping[str, float]) -> list[float]:
            return row(list(at.values()))

        # a power of 2
        size = max(
            MIN_BLOCK_ROWS,
            min(MAX_BLOCK_ROWS, 1 << ((BLOCK_NUMBERS // totals.count).bit_length() - 1)),
        )
        for start in range(0, len(taken), size):
            rows = taken[start : start + size]
            budget.charge(budget.BLOCK + self.steps_a_row * len(rows))
            part: Any = (
                slice(rows.start, rows.stop) if isinstance(rows, range) else np.asarray(rows)
            )
            fixed = iter(point)
            inputs = [
                next(fixed) if column is None else np.asarray(column)[part]
                for column in self._columns
            ]
            block = evaluate(
                kernel, self.names, inputs, len(rows), totals.count, plain, lambda row, name: None
            )
            for k in block.asked:
                self.asked.append(int(rows[k]))
                if k in block.errors:
                    self.leave_out(self.asked[-1], block.errors[k])
            block.results[:, list(block.errors)] = 0.0
            totals.add(block.results)

    # ---- second derivatives, and error bounds
    def value_gradient_hessian(self, point: Sequence[float], wrt: Sequence[str]) -> list[float]:
        """Return value, gradient and Hessian (lower triangle) by `wrt`. Raises
        `ExpressionError`.
        """
        n = len(wrt)
        graph = self.evaluator.graph
        # a sweep with derivatives by all variables
        steps = self.evaluator.steps + budget.SECOND_ORDER_NODE * len(graph.places) * (1 + n)

        def row(at: Sequence[float]) -> list[float]:
            budget.charge(steps)
            answer = hessian_in(REAL, graph, dict(zip(self.names, at, strict=True)), wrt)
            lower = [x for i, row in enumerate(answer.hessian) for x in row[: i + 1]]
            return [answer.value, *answer.gradient, *lower]

        if self._kernel is not None and n <= MAX_IN_BLOCKS and tuple(wrt) not in self._seconds:
            from .kernels import kernel as kernel_of
            from .second_derivatives import second_recorder

            with suppress(ExpressionError):
                record = second_recorder(self.program, wrt)
                candidate = kernel_of(record, len(self.names), self._fixed, None)
                self._seconds[tuple(wrt)] = None if candidate.compute is None else candidate
        kernel = self._seconds.setdefault(tuple(wrt), None)
        needed = steps * self.data.rows
        if kernel is None and needed > budget.current_budget().left:
            raise budget.current_budget().exhausted_error(needed, exactly=True)
        value, rest = self._reduce(point, None, 1 + n + n * (n + 1) // 2, kernel, row)
        return [value, *rest]

    def hessian(self, point: Mapping[str, float], wrt: Sequence[str]) -> list[list[float]]:
        """Return the Hessian."""
        return square(
            self.value_gradient_hessian([point[name] for name in self.variables], wrt)[
                1 + len(wrt) :
            ]
        )

    def derivatives(
        self, point: Mapping[str, float], wrt: Sequence[str], size: Sequence[float]
    ) -> Derivatives:
        """Return value and derivatives with error bounds, for many rows from a sample."""
        n, at = len(wrt), [point[name] for name in self.variables]
        value, *rest = self.value_gradient_hessian(at, wrt)
        gradient, matrix = rest[:n], square(rest[n:])
        parts = [
            Single(self.evaluator.graph).derivatives(at_row, wrt, size) for at_row in self._some(at)
        ]
        error, errors = self._error_of(len(parts)), []
        slope_errors = [
            error(x, [p.gradient_error[k] for p in parts]) for k, x in enumerate(gradient)
        ]
        for i, row in enumerate(matrix):
            errors.append(
                [error(x, [p.hessian_error[i][k] for p in parts]) for k, x in enumerate(row)]
            )
        return Derivatives(value, gradient, slope_errors, matrix, errors)

    def value_and_gradient_with_errors(
        self, inputs: Mapping[str, Bounded], wrt: Sequence[str]
    ) -> tuple[Bounded, list[Bounded]]:
        """Return value and gradient with rounding errors, for many rows from a sample."""
        at = [float(inputs[name].x) for name in self.variables]
        value, partials = self(at)
        by = dict(zip(self.wrt, partials, strict=True))
        points = [
            {name: inputs.get(name, Bounded(x)) for name, x in point.items()}
            for point in self._some(at)
        ]
        parts = [
            Single(self.evaluator.graph).value_and_gradient_with_errors(point, wrt)
            for point in points
        ]
        error = self._error_of(len(parts))
        gradient = [(by[name], [g[k].error for _, g in parts]) for k, name in enumerate(wrt)]
        return Bounded(value, error(value, [v.error for v, _ in parts])), [
            Bounded(x, error(x, e)) for x, e in gradient
        ]

    def _error_of(self, rows: int) -> Callable[[float, Iterable[float]], float]:
        share = 1 / max(1, self.rows) if self.over.how == "mean" else 1.0
        times = share * (1.0 if rows >= self.rows else SAMPLE_SAFETY * self.rows / max(1, rows))
        return lambda x, errors: times * math.fsum(errors) + UNIT_ROUNDOFF * abs(x)

    def _some(self, point: Sequence[float]) -> Iterator[dict[str, float]]:
        count = min(self.data.rows, SAMPLED_ROWS)
        for k in range(count):
            row = k * self.data.rows // count
            at = dict(zip(self.names, self.point_at(row, point), strict=True))
            budget.charge(
                budget.SECOND_ORDER_NODE * len(self.evaluator.graph.places) * (1 + len(self.wrt))
            )
            if self.left_out:
                try:
                    hessian_in(REAL, self.evaluator.graph, at, self.wrt)
                except ExpressionError:
                    continue
            yield at

    # ---- warnings
    @property
    def is_smooth(self) -> bool:
        return Single(self.evaluator.graph).is_smooth

    @property
    def step_functions(self) -> set[str]:
        """Return the names of functions that are constant between their jumps."""
        return Single(self.evaluator.graph).step_functions

    def kinks(self, point: Mapping[str, float], wrt: Sequence[str]) -> tuple[Diagnostic, ...]:
        """Return a warning for each place without a derivative, with its count of rows."""
        if not self.evaluator.may_kink:
            return ()
        here = [point[name] for name in self.variables]
        try:
            self(here)
        except ExpressionError:
            return ()
        single = Single(self.evaluator.graph)
        counts: Counter[Diagnostic] = Counter()
        for row in self.asked:
            counts.update(
                single.kinks(dict(zip(self.names, self.point_at(row, here), strict=True)), wrt)
            )
            budget.gc_collect()
        diagnostics = []
        for span in dict.fromkeys(kink.span for kink in counts):
            kinks = [kink for kink in counts if kink.span == span]
            rows = plural(sum(counts[kink] for kink in kinks), "row")
            diagnostics.append(
                kinks[0]._replace(message=f"{kinks[0].message}; at {rows} of {self.rows:,}")
            )
        return tuple(diagnostics)


def with_row(error: ExpressionError, where: str) -> ExpressionError:
    """Return the error, prefixed with the place of its row."""
    located = ExpressionError(
        *error.diagnostic._replace(message=where + error.diagnostic.message, offers=())
    )
    located.text = error.text
    return located


def square(lower: Sequence[float]) -> list[list[float]]:
    """Return the symmetric matrix of a lower triangle.

    >>> square([1.0, 2.0, 3.0])
    [[1.0, 2.0], [2.0, 3.0]]
    """
    size = (math.isqrt(8 * len(lower) + 1) - 1) // 2
    return [
        [lower[max(i, k) * (max(i, k) + 1) // 2 + min(i, k)] for k in range(size)]
        for i in range(size)
    ]


# ---- sums
class Totals:
    """Sums as accurate as if computed in twice the precision and then rounded.

    So they do not depend on the order of rows or the size of blocks. Source: Sum2, algorithm 4.4 of
    Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, by columns; few numbers are
    added exactly, by `math.fsum`.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._parts: list[list[float]] = [[] for _ in range(count)]
        self._high: Any = None
        self._low: Any = None
        self._rooms: Any = None

    def add_lists(self, columns: Iterable[Sequence[float]]) -> None:
        """Add a list of numbers to each sum; long lists become a sum and its error."""
        for parts, numbers in zip(self._parts, columns, strict=False):
            parts.extend(numbers)
            if len(parts) > MAX_EXACT_NUMBERS:
                try:
                    total = math.fsum(parts)
                    parts[:] = total, math.fsum([*parts, -total])
                except (OverflowError, ValueError):
                    parts[:] = (math.inf,)

    def add(self, block: Any) -> None:
        """Add an array, one row for each sum; later arrays must not be wider."""
        if block.size <= MAX_EXACT_NUMBERS:
            self.add_lists(block.tolist())
            return
        import numpy

        width = block.shape[1]
        if self._high is None:
            shape = self.count, 1 << (width - 1).bit_length()
            self._high, self._low = numpy.zeros(shape), numpy.zeros(shape)
            self._rooms = numpy.empty(shape), numpy.empty(shape)
        with numpy.errstate(all="ignore"):
            self._add_pairs(width, block)

    def _add_pairs(self, width: int, more: Any) -> None:
        """Add numbers to the first sums, rounding errors to the second (Knuth's TwoSum)."""
        import numpy

        high, low, total, back = (
            column[:, :width] for column in (self._high, self._low, *self._rooms)
        )
        numpy.add(high, more, out=total)
        numpy.subtract(total, high, out=back)
        numpy.subtract(more, back, out=more)
        low += more
        numpy.subtract(total, back, out=back)
        numpy.subtract(high, back, out=back)
        low += back
        high[...] = total

    def sums(self) -> list[float]:
        """Return the sums. Raises `ExpressionError` (`overflow`)."""
        if self._high is not None:
            import numpy

            width = self._high.shape[1]
            # of many sums fewer parts each are lists, which take longer than arrays
            most = min(MAX_PARTIAL_SUMS, max(1, MAX_EXACT_NUMBERS // self.count))
            with numpy.errstate(all="ignore"):
                while width > most:
                    width //= 2
                    self._low[:, :width] += self._low[:, width : 2 * width]
                    self._add_pairs(width, self._high[:, width : 2 * width])
            for parts, a, b in zip(
                self._parts,
                self._high[:, :width].tolist(),
                self._low[:, :width].tolist(),
                strict=True,
            ):
                parts += [*a, *b]
            self._high = self._low = self._rooms = None
        try:
            sums = [math.fsum(parts) for parts in self._parts]
        except (OverflowError, ValueError):
            sums = [math.inf]
        if not all(map(math.isfinite, sums)):
            message = "the sum over the rows is too large for double precision"
            raise ExpressionError("overflow", message, hint="rescale the formula, or the data")
        return sums
