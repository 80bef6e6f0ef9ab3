"""A formula at every row of a table: a function of record batches."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..compiled import columns_io
from ..compiled.backends import one_by_one
from ..compiled.columns_io import Fitted, program_over
from ..compiled.evaluator import Evaluator, Record, gradient_recorder
from ..engine.graphs.adjoint import column_names
from ..engine.graphs.higher_order import check_size_of_hessian, hessian_in
from ..engine.graphs.value_and_gradient import evaluate_in
from ..engine.numbers.budget import BudgetExceeded, use_budget
from ..engine.numbers.floats import REAL
from ..errors import Diagnostic, ExpressionError, errors_about, point_error, usage_error
from ..language.elements import split_names
from ..language.tokens import UnknownShape, bound_names, has_unit_literals
from ..questions.arithmetic import DOUBLE, kink_warnings
from ..questions.optional_units import (
    column_units,
    left_out,
    program_units,
    units_in_headings,
    uses_angles,
    with_units,
)
from ..questions.parse_point import is_name
from ..questions.problem import Point, Quantity, as_number, output_names, parse
from ..show.numerals import heading
from .frames import QUESTIONS, arrow_table, with_notes

if TYPE_CHECKING:
    import pyarrow as pa

    from ..compiled.kernels import Kernel, RowErrors
    from ..engine.quantities.unit import Unit
    from ..questions.quantities import ProgramUnits, Units

Places = Callable[[int], str]
Faults = Mapping[int, ExpressionError]
NO_FAULTS: Faults = MappingProxyType({})
# The results at a point, and warnings about them.
Answer = tuple[Sequence[float], Sequence[Diagnostic]]


class RowRequest(NamedTuple):
    """A question in columns: its results, and how to compute them."""

    results: Sequence[tuple[str, str]]
    record: Record | None
    """None if rows are computed only one by one."""
    plain: Callable[[Mapping[str, float]], Answer]
    refused: RowErrors | None = None
    """Why points have no results, in batches."""

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.results]


def row_request(question: str, fit: Fitted) -> RowRequest:
    """Return a question about a program for many rows."""
    program, wanted = fit.program, fit.wanted
    results = [
        ("value", "the value"),
        *[(f"d_{name}", f"the derivative by {name}") for name in wanted],
    ]
    if question == "hessian":
        from ..compiled.second_derivatives import second_recorder

        check_size_of_hessian(wanted)
        pairs = [(one, other) for k, one in enumerate(wanted) for other in wanted[: k + 1]]
        results += [
            (f"d_{one}_{other}", f"the second derivative by {one} and {other}")
            for one, other in pairs
        ]

        def second(point: Mapping[str, float]) -> Answer:
            at = hessian_in(REAL, program.outputs[0], point, wanted)
            return [float(x) + 0.0 for x in _flat(at.value, at.gradient, at.hessian)], ()

        record = None
        with suppress(ExpressionError):
            record = (
                second_recorder(program, wanted)
                if len(wanted) <= columns_io.MAX_IN_BLOCKS
                else None
            )
        return RowRequest(results, record, second)
    refused = None
    if question == "grad":
        refused = Evaluator(program, wanted).refusals
    else:
        outputs = output_names(program)
        by_outputs = [
            f"the derivative of {output} by {name}" for output in outputs for name in wanted
        ]
        results = [*zip(column_names(len(outputs), wanted), (*outputs, *by_outputs), strict=True)]

    def derivatives(point: Mapping[str, float]) -> Answer:
        # by sweeps: compiled code uses the conventions at kinks whose sides agree
        at = evaluate_in(REAL, program.graph, point, wanted)
        rows, kinks = at.jacobian()
        numbers = [*at.values, *chain.from_iterable(rows)]
        return [float(x) + 0.0 for x in numbers], kink_warnings(DOUBLE, kinks.values())

    return RowRequest(results, gradient_recorder(program, wanted), derivatives, refused)


def _flat(value: Any, gradient: Iterable[Any], matrix: Sequence[Sequence[Any]]) -> list[Any]:
    return [value, *gradient, *[x for i, row in enumerate(matrix) for x in row[: i + 1]]]


FLAT: Mapping[str, Callable[[Any], list[Any]]] = {
    "grad": lambda answer: [answer.value, *answer.gradient.values()],
    "jacobian": lambda answer: [*answer.values, *[x for row in answer.jacobian or () for x in row]],
    "hessian": lambda answer: _flat(answer.value, answer.gradient.values(), answer.hessian),
}


def _error_texts(
    errors: Mapping[int, ExpressionError], where: Places, count: int
) -> tuple[pa.Buffer, pa.Array]:
    """Return the bits of the rows that have no error, and the column of the errors as text."""
    import numpy as np
    import pyarrow as pa

    # `pyarrow.array` would import pandas
    rows = sorted(errors)
    bad, ends = np.zeros(count, bool), np.zeros(count + 1, np.int32)
    bad[rows] = True
    there, has_text = (pa.py_buffer(np.packbits(bits, bitorder="little")) for bits in (~bad, bad))
    data = [
        f"{where(row)}{errors[row].kind}: {errors[row]}".encode(errors="replace") for row in rows
    ]
    ends[1:][rows] = [len(text) for text in data]
    offsets, text = pa.py_buffer(np.cumsum(ends, dtype=np.int32)), pa.py_buffer(b"".join(data))
    return there, pa.Array.from_buffers(pa.string(), count, [has_text, offsets, text])


# ---- a table
class AnswerBatch(NamedTuple):
    """A batch of answers, and its errors by row."""

    batch: pa.RecordBatch
    errors: dict[int, ExpressionError]
    asked: int
    kinks: Counter[tuple[str, ...]]


class CompiledRows:
    """A formula over the columns of a schema, compiled for batches."""

    def __init__(self, rows: Rows, schema: pa.Schema) -> None:
        from ..compiled.kernels import Kernel, kernel

        columns_io.unique(schema.names)
        names = [name for name in schema.names if not name.endswith(MARK)]
        self.columns = rows.columns_of(names)
        self.keep = columns_io.kept_columns(rows.keep, names)
        self.kept = [text_of(name) if text_of(name) in schema.names else name for name in self.keep]
        self.fitted = rows.fit_to(list(self.columns))
        self.rows, variables = rows, self.fitted.variables
        self.request = row_request(rows.question, self.fitted)
        self._convert_inputs(schema)
        self.outputs = [
            (k, *linear) for k, linear in enumerate(rows.outputs) if linear != (1.0, 0.0)
        ]
        if self.request.record is None:
            note = one_by_one("the second derivatives are too large to compile")
            self.kernel: Kernel = Kernel(None, "python", note)
        else:
            self.kernel = kernel(
                self.request.record, len(variables), frozenset(self.fixed), rows.backend
            )
        check_clash(self.keep, (*rows.point, *self.request.names, "error"))
        check_clash(rows.point, (*self.request.names, "error"), "rename the variable")
        self.schema = self._answer_schema(schema)

    def _convert_inputs(self, schema: pa.Schema) -> None:
        """Set the numbers that all rows share, and the factors of columns in other units."""
        shared, variables = dict(self.rows.at), self.fitted.variables
        self.fixed = {
            k: shared[name] for k, name in enumerate(variables) if name not in self.columns
        }
        for k, name in enumerate(variables):
            if k not in self.fixed:
                columns_io.check_type(name, schema.field(self.columns[name]).type)
        linear = {name: factors for name, *factors in self.rows.inputs}
        self.inputs = {k: linear[name] for k, name in enumerate(variables) if name in linear}
        for k in self.inputs.keys() & self.fixed.keys():
            times, plus = self.inputs.pop(k)
            self.fixed[k] = self.fixed[k] * times + plus

    def _answer_schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of the answers: the point, the results, the error and the columns that
        are kept.
        """
        import pyarrow as pa

        rows, heads = self.rows, dict(self.rows.heads)
        fields = [
            schema.field(self.columns[name]).with_name(heads.get(name, name))
            if name in self.columns
            else pa.field(heads.get(name, name), pa.float64())
            for name in rows.point
        ]
        meanings = [
            (heads.get(name, name), {"meaning": meaning}) for name, meaning in self.request.results
        ]
        fields += [pa.field(name, pa.float64(), metadata=meaning) for name, meaning in meanings]
        fields.append(
            pa.field("error", pa.string(), metadata={"meaning": "why the row has no answer"})
        )
        metadata = {
            "autodiff.formula": self.fitted.program.text,
            "autodiff.version": version(),
            "autodiff.question": rows.question,
        }
        if rows.at:
            metadata["autodiff.at"] = ",".join(f"{name}={value!r}" for name, value in rows.at)
        kept = [
            schema.field(column).with_name(name)
            for name, column in zip(self.keep, self.kept, strict=True)
        ]
        return pa.schema([*fields, *kept], metadata=metadata)

    def answer(
        self, batch: pa.RecordBatch, where: Places = lambda row: "", faults: Faults = NO_FAULTS
    ) -> AnswerBatch:
        """Return the answers; `where` gives rows' places."""
        import numpy as np
        import pyarrow as pa

        from ..compiled.kernels import evaluate

        count, width = batch.num_rows, len(self.request.results)
        names, length = self.fitted.variables, len(self.rows.text)
        columns = [
            self.fixed[k] if k in self.fixed else numbers_of(batch.column(self.columns[name]))
            for k, name in enumerate(names)
        ]
        for k, (times, plus) in self.inputs.items():
            columns[k] = columns[k] * times + plus
        kinks: Counter[tuple[str, ...]] = Counter()

        def missing(row: int, name: str) -> ExpressionError | None:
            return faults.get(row) or no_number(batch, self.columns[name], row)

        with use_budget(length=length, anew=False) as work:

            def plain(point: Mapping[str, float]) -> Sequence[float]:
                # each row has its own allowance, like a line of a stream
                work.reset(length)
                try:
                    numbers, warnings = self.request.plain(point)
                except BudgetExceeded as error:
                    raise ExpressionError("limit", str(error), hint=error.hint) from None
                if warnings and (taken := columns_io.conventions(warnings)):
                    kinks[taken] += 1
                return numbers

            # Arrow reuses memory; NumPy's would be new for each batch
            memory = pa.allocate_buffer(8 * count * width)
            block = evaluate(
                self.kernel,
                names,
                columns,
                count,
                width,
                plain,
                missing,
                memory,
                self.request.refused,
            )
        for k, times, plus in self.outputs:
            block.results[k] *= times
            block.results[k] += plus
        # a constant program has an answer even in invalid rows
        errors = block.errors | {
            row: fault for row, fault in faults.items() if row not in block.errors
        }
        block.results[:, [*faults]] = np.nan
        there, texts = None, pa.nulls(count, pa.string())
        if errors:
            there, texts = _error_texts(errors, where, count)
        results = [
            pa.Array.from_buffers(
                pa.float64(), count, [there, memory.slice(8 * count * k, 8 * count)]
            )
            for k in range(width)
        ]
        shared = dict(self.rows.at)
        point = [
            batch.column(self.columns[name])
            if name in self.columns
            else pa.repeat(float(shared[name]), count)
            for name in self.rows.point
        ]
        answers = [*point, *results, texts, *map(batch.column, self.kept)]
        return AnswerBatch(
            pa.RecordBatch.from_arrays(answers, schema=self.schema), errors, len(block.asked), kinks
        )


def check_clash(
    keep: Sequence[str],
    results: Sequence[str],
    hint: str = "rename it, or leave it out of `--keep`",
) -> None:
    """Raise a usage error if a kept column has the name of a result."""
    clash = next((name for name in keep if name in results), None)
    if clash is not None:
        raise usage_error(f"there is a column `{clash}` in the answers already", hint)


def no_number(batch: pa.RecordBatch, column: str, row: int) -> ExpressionError:
    """Return the error for a cell that is empty or not finite."""
    if not batch.column(column)[row].is_valid:
        return point_error(f"column `{column}`: it is empty", "give a number")
    message = f"column `{column}`: the value of `{column}` is not a finite number"
    return point_error(message, "give a number that double precision can hold")


def numbers_of(column: Any) -> Any:
    """Return a column as doubles, NaN for null; Arrow's method imports pandas."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # Arrow would round twice
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    there, data = column.buffers()
    numbers = (
        np.frombuffer(data, np.float64, len(column), column.offset * 8)
        if len(column)
        else np.empty(0)
    )
    if column.null_count:
        bits = np.unpackbits(
            np.frombuffer(there, np.uint8), count=column.offset + len(column), bitorder="little"
        )
        numbers = np.where(bits[column.offset :], numbers, np.nan)
    return numbers


# ---- kept cells
# `json.dumps` would make an encoder for each cell
_encoded = json.JSONEncoder(ensure_ascii=False).encode
# What no heading or usual cell has.
MARK = "\0"


def text_of(name: str) -> str:
    """Return the name of a numeric column's cells as in the file."""
    return name + MARK


def cell_text(cell: object, marked: bool) -> str | None:
    """Return a kept cell as text, JSON `marked` for `cell_of`."""
    if cell is None or (isinstance(cell, str) and not (marked and cell.startswith(MARK))):
        return cell
    return MARK * marked + _encoded(cell)


def cell_of(cell: object) -> object:
    """Return a kept cell as it was: marked text is JSON."""
    if isinstance(cell, str) and cell.startswith(MARK):
        with suppress(ValueError):
            return json.loads(cell[1:])
    return cell


def plain_cell(cell: object) -> object:
    """Return a kept cell as in JSON."""
    if cell is None or isinstance(cell, (str, int)):
        return cell
    if isinstance(cell, float):
        return cell if cell - cell == 0.0 else None if cell != cell else str(cell)
    if isinstance(cell, Mapping):
        return {str(name): plain_cell(value) for name, value in cell.items()}
    if isinstance(cell, (list, tuple)):
        return [plain_cell(value) for value in cell]
    return cell.hex() if isinstance(cell, bytes) else str(cell)


_BINDING = threading.Lock()


@lru_cache(64)
def _over(rows: Rows, names: tuple[str, ...]) -> tuple[Rows, tuple[str, ...]]:
    """Return a formula over columns with units in their headings, and notes about these."""
    columns = rows.columns_of(names)
    fitted = rows.fit_to(list(columns))
    used = {name: columns[name] for name in fitted.variables if name in columns}
    ignored = left_out(rows.units)
    texts = {} if ignored else units_in_headings(used, {})
    angles = uses_angles(fitted.program)
    with errors_about(rows.text):
        units, notes = column_units(used, texts, not ignored and rows.asks_for_units, angles=angles)
    said = tuple(note.message for note in notes)
    if not (units or rows.asks_for_units):
        return rows, said
    from ..engine.quantities.unit import parse_unit

    point = {name: parse_unit(text) for name, text in rows.typed} | units
    with errors_about(rows.text):
        own = rows.in_units(
            fitted, row_units(rows.question, fitted, point, None if ignored else rows.units)
        )
    return own, said


@lru_cache(64)
def _bound(rows: Rows, schema: bytes) -> CompiledRows:
    import pyarrow as pa

    return CompiledRows(rows, pa.ipc.read_schema(pa.py_buffer(schema)))


class Rows(NamedTuple):
    """A formula as a function from record batches to answers, compiled once a process."""

    text: str
    at: tuple[tuple[str, float], ...]
    wrt: tuple[str, ...] | None
    keep: tuple[str, ...] | bool
    columns: tuple[tuple[str, str], ...]
    """Variables and their columns, if the names differ."""
    backend: str | None
    question: str
    lenient: bool = False
    point: tuple[str, ...] = ()
    inputs: tuple[tuple[str, float, float], ...] = ()
    """Factor and summand that bring variables to consistent units."""
    outputs: tuple[tuple[float, float], ...] = ()
    """The factor and offset that convert results to requested units."""
    heads: tuple[tuple[str, str], ...] = ()
    typed: tuple[tuple[str, str], ...] = ()
    """Units of values that are constant over the rows, by name."""
    units: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"rows({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (version(), tuple(self))

    def fit_to(self, columns: Sequence[str]) -> Fitted:
        """Return the formula over these columns."""
        several = self.question == "jacobian"
        with errors_about(self.text):
            return program_over(
                self.text, columns, dict(self.at), self.wrt, outputs=several, lenient=self.lenient
            )

    @property
    def asks_for_units(self) -> bool:
        return bool(self.units or self.typed or has_unit_literals(self.text))

    def columns_of(self, names: Sequence[str]) -> dict[str, str]:
        """Return the column of each name."""
        other = [*dict(self.at), *bound_names(self.text)]
        return columns_io.mapped_columns(dict(self.columns), names, other)

    def in_units(self, fitted: Fitted, units: RowUnits) -> Rows:
        """Return the formula for numbers in these units."""
        inputs = [(name, *linear) for name, linear in units.inputs.items()]
        heads = units.heads(row_request(self.question, fitted).names)
        return self._replace(
            inputs=tuple(inputs), outputs=tuple(units.outputs), heads=tuple(heads.items())
        )

    def _over(self, names: Sequence[str]) -> tuple[Rows, tuple[str, ...]]:
        if all(map(is_name, names)) and not self.asks_for_units:
            return self, ()
        return _over(self, tuple(names))

    def bind_to(self, schema: pa.Schema) -> CompiledRows:
        """Return the formula over a schema."""
        with _BINDING:
            return _bound(self, schema.serialize().to_pybytes())

    def schema(self, columns: pa.Schema) -> pa.Schema:
        """Return the schema of the answers."""
        return self._over(columns.names)[0].bind_to(columns).schema

    def __call__(self, frame: Any) -> Any:
        """Return the answers to the rows of a frame, as a frame of the same type.

        Notes about units in headings, and about rows at kinks, are warnings of Python, and stand
        with the frame: see `with_notes`.
        """
        table, restore = arrow_table(frame)
        rows, notes = self._over(table.column_names)
        bound = rows.bind_to(table.schema)
        parts = [bound.answer(part) for part in table.to_batches()]
        answers = type(table).from_batches([part.batch for part in parts], schema=bound.schema)
        notes = (*notes, *_notes_of_kinks(parts, table.num_rows))
        return with_notes(restore(with_notes(answers, notes)), notes, warn=True)


def _notes_of_kinks(parts: Sequence[AnswerBatch], rows: int) -> list[str]:
    """Return the conventions that were taken at kinks, each with its number of rows."""
    counts: Counter[str] = Counter()
    for part in parts:
        for taken, times in part.kinks.items():
            counts.update(dict.fromkeys(taken, times))
    return [f"at {times:,} of {rows:,} rows {taken}" for taken, times in counts.most_common()]


class RowUnits(NamedTuple):
    """How rows are computed with units, in the system of the inputs."""

    point: dict[str, Unit]
    inputs: dict[str, tuple[float, float]]
    answer: Units
    results: list[Unit]
    outputs: list[tuple[float, float]]
    warnings: Sequence[Diagnostic] = ()

    def heads(self, names: Sequence[str]) -> dict[str, str]:
        """Return the headings with units."""
        both = [*self.point.items(), *zip(names, self.results, strict=True)]
        heads = {name: heading(name, str(unit) or None) for name, unit in both}
        return {name: head for name, head in heads.items() if head != name}

    def in_system(self, name: str, x: float) -> float:
        """Return a number in the system."""
        times, plus = self.inputs.get(name, (1.0, 0.0))
        return x * times + plus


def row_units(
    question: str, fitted: Fitted, point: Mapping[str, Unit], units_asked: Sequence[str] | None
) -> RowUnits:
    """Return the units of a program's rows, given those of `point`."""
    from ..engine.quantities.presentation import conversion

    units = checked_units(fitted, point, units_asked)
    of: dict[str, Any] = {
        "grad": units.of_gradient,
        "jacobian": units.of_jacobian,
        "hessian": units.of_hessian,
    }
    answer: Units = of[question](fitted.wanted)
    own = units.in_system(answer)
    results, in_system = (FLAT[question](SimpleNamespace(**numbers)) for numbers in (answer, own))
    inputs = {name: conversion(unit, own["point"][name]) for name, unit in units.point.items()}
    inputs = {name: how for name, how in inputs.items() if how != (1.0, 0.0)}
    converted = [*map(conversion, in_system, results)]
    return RowUnits(units.point, inputs, answer, results, converted, units.warnings)


def checked_units(
    fitted: Fitted, point: Mapping[str, Unit], units_asked: Sequence[str] | None
) -> ProgramUnits:
    """Return the units of a program for those of `point`."""
    from ..engine.quantities.unit import Unit
    from ..questions.quantities import unit_value  # most rows have no units

    values = {name: unit_value(point.get(name, Unit())) for name in fitted.program.leaves}
    units = program_units(fitted.program, values, units_asked, system=True)
    assert units is not None
    return units


def version() -> str:
    """Return the version of the package, from the top."""
    current: str = sys.modules[__name__.partition(".")[0]].__version__
    return current


def _unpickle(theirs: str, key: tuple[Any, ...]) -> Rows:
    if theirs != version():
        message = f"these rows come from autodiff {theirs}, and this is {version()}"
        raise usage_error(message, "install one version everywhere")
    return Rows(*key)


def rows(
    text: str,
    *,
    at: Point | None = None,
    wrt: Sequence[str] | str | None = None,
    keep: Sequence[str] | str | bool = (),
    columns: Mapping[str, str] | None = None,
    backend: str | None = None,
    question: str = "grad",
    lenient: bool = False,
    point: Sequence[str] = (),
    units: Sequence[str] | str | None = None,
) -> Rows:
    """Return the formula `text` as a function from record batches to those of answers.

    With `lenient` it is read as its refusal offers; answers begin with the columns of `point`.
    """
    if question not in QUESTIONS:
        raise usage_error(
            f"`{question}` is not a question about rows",
            f"the questions are {', '.join(QUESTIONS)}",
        )
    values = with_units(at)
    typed = {name: str(value.unit) for name, value in values.items() if isinstance(value, Quantity)}
    shared = {
        name: x.number if isinstance(x, Quantity) else as_number(x, name)
        for name, x in values.items()
    }
    if not lenient:
        with errors_about(text), suppress(UnknownShape):  # columns may give a list its shape
            parse(text, shared, units=True)
    return Rows(
        text,
        tuple(shared.items()),
        None if wrt is None else _list(wrt),
        keep if isinstance(keep, bool) else _list(keep),
        tuple((columns or {}).items()),
        backend,
        question,
        lenient,
        tuple(point),
        typed=tuple(typed.items()),
        units=None if units is None else _list(units),
    )


def _list(names: Sequence[str] | str) -> tuple[str, ...]:
    return tuple(split_names(names) if isinstance(names, str) else names)
