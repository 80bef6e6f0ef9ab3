"""One formula at every row of a table: a function from record batches to record batches, which can be sent anywhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batched.columns_io import MOST_IN_BLOCKS, Fitted, Kinks, check_type, fitted, kept_columns, mapped_columns, unique
from ..batched.evaluator import compile_gradient
from ..derivatives.jacobian import Jacobian, jacobian, output_names
from ..errors import Diagnostic, ExpressionError
from ..graphs.adjoint import Recording, column_names, merge_recordings, record_gradient
from ..graphs.second_order import hessian_in
from ..graphs.value import variable
from ..inputs.arithmetic import DOUBLE, Values
from ..inputs.problem import Point, as_number, parse
from ..numbers.base import NumberType
from ..numbers.budget import BudgetExceeded, allowed
from ..targets.lowering import Lowering
from .frames import arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ..batched.kernels import Block, Kernel, Refused
    from ..derivatives.hessian import Hessian

QUESTIONS = ("grad", "jacobian", "hessian")


# ---- what is asked ------------------------------------------------------------------------------------------------
class RowRequest(NamedTuple):
    """A question in columns: what its results are called, and how they are found."""

    names: tuple[str, ...]
    meanings: tuple[str, ...]
    record: Callable[[Lowering], Recording] | None
    """None where only the plain way knows."""
    plain: Callable[[Mapping[str, float]], tuple[Sequence[float], Sequence[Diagnostic]]]
    """The results at a point, and what there is to say of them."""
    refused: Refused | None = None
    """What the plain way says of points that it refuses, where many are asked about at once."""


def asked(question: str, known: Fitted) -> RowRequest:
    """A question about a program, for any number of rows."""
    program, wanted = known.program, known.wanted
    text = program.text
    leaves = list(program.variables.values())
    by = [program.variables.get(name) or variable(name) for name in wanted]
    if question == "jacobian":
        outputs = output_names(text, program.outputs, {b.value: b.name for b in program.bindings})

        def every(recorder: Lowering) -> Recording:
            parts = [record_gradient(output, leaves, by, recorder) for output in program.outputs]
            return merge_recordings(parts)

        def rows(point: Mapping[str, float]) -> tuple[Sequence[float], Sequence[Diagnostic]]:
            found = jacobian(text, point, wrt=wanted)
            return flat_jacobian(found), found.warnings

        return RowRequest(
            column_names(len(outputs), wanted),
            (*outputs, *[f"the derivative of {output} by {name}" for output in outputs for name in wanted]),
            every, rows,
        )  # fmt: skip
    if question == "hessian":
        from ..batched.kernels import second_recorder
        from ..derivatives.hessian import check_size

        check_size(wanted)
        pairs = [(i, k) for i in range(len(wanted)) for k in range(i + 1)]

        def second(point: Mapping[str, float]) -> tuple[Sequence[float], Sequence[Diagnostic]]:
            def found(m: NumberType, values: Values) -> dict[str, Any]:
                return hessian_in(m, program.outputs[0], values, wanted)._asdict()

            told = DOUBLE.run(point, found)
            return _flat(told["value"], told["gradient"], told["hessian"]), ()

        try:
            twice = second_recorder(program, wanted) if len(wanted) <= MOST_IN_BLOCKS else None
        except ExpressionError:
            twice = None
        return RowRequest(
            ("value", *[f"d_{name}" for name in wanted], *[f"d_{wanted[i]}_{wanted[k]}" for i, k in pairs]),
            ("the value", *[f"the derivative by {name}" for name in wanted],
             *[f"the second derivative by {wanted[i]} and {wanted[k]}" for i, k in pairs]),
            twice, second,
        )  # fmt: skip
    evaluator = compile_gradient(program, wanted)

    def one(recorder: Lowering) -> Recording:
        return record_gradient(program.outputs[0], leaves, by, recorder)

    def gradient(point: Mapping[str, float]) -> tuple[Sequence[float], Sequence[Diagnostic]]:
        # by the sweeps: compiled code takes the conventions at kinks whose sides agree
        warnings: list[Diagnostic] = []
        value, partials = evaluator.slowly(list(point.values()), warnings=warnings)
        return [value, *partials], warnings

    return RowRequest(
        ("value", *[f"d_{name}" for name in wanted]),
        ("the value", *[f"the derivative by {name}" for name in wanted]),
        one, gradient, evaluator.refused,
    )  # fmt: skip


def flat_jacobian(found: Jacobian) -> list[Any]:
    """The numbers of an answer as a row has them: all values, then the partial derivatives of each output."""
    return [*found.values, *[x for row in found.jacobian or () for x in row]]


def flat_hessian(found: Hessian) -> list[Any]:
    """The numbers of an answer as a row has them: the value, the gradient, the lower triangle of the matrix."""
    return _flat(found.value, [*found.gradient.values()], found.hessian)


def _flat(value: Any, gradient: Sequence[Any], matrix: Sequence[Sequence[Any]]) -> list[Any]:
    return [value, *gradient, *[x for i, row in enumerate(matrix) for x in row[: i + 1]]]


# ---- a table ------------------------------------------------------------------------------------------------------
class Answered(NamedTuple):
    """A batch of answers, and the errors in it by row."""

    batch: pa.RecordBatch
    errors: dict[int, ExpressionError]
    asked: int
    """Rows that were asked about one by one."""
    kinks: Kinks


class Bound:
    """A formula over the columns of one schema: compiled, and ready for batches."""

    def __init__(self, rows: Rows, schema: pa.Schema) -> None:
        import pyarrow as pa

        unique(schema.names)
        self.positions = {name: k for k, name in enumerate(schema.names)}
        self.columns = mapped_columns(rows.columns, schema.names)
        self.keep = kept_columns(rows.keep, schema.names)
        self.known = known = rows.fitted(list(self.columns))
        self.variables = known.variables
        self.length = len(rows.text)
        self.asked = asked(rows.question, known)
        self.fixed = frozenset([k for k, name in enumerate(known.variables) if name not in self.columns])
        self.given: list[Any] = [
            rows.at[name] if k in self.fixed else self.positions[self.columns[name]]
            for k, name in enumerate(known.variables)
        ]
        for k, name in enumerate(known.variables):
            if k not in self.fixed:
                check_type(name, schema.field(self.given[k]).type)
        from ..batched.kernels import Kernel, kernel

        if self.asked.record is None:
            note = "the second derivatives are too large for that, and computed row by row, which takes its time"
            self.kernel: Kernel = Kernel(None, "python", note)
        else:
            self.kernel = kernel(self.asked.record, len(self.variables), self.fixed, rows.backend)
        clash = next((name for name in self.keep if name in (*self.asked.names, "error")), None)
        if clash is not None:
            hint = "rename it, or leave it out of `--keep`"
            raise ExpressionError("usage", f"there is a column `{clash}` in the answers already", hint=hint)
        fields = [
            pa.field(name, pa.float64(), metadata={"meaning": meaning})
            for name, meaning in zip(self.asked.names, self.asked.meanings, strict=True)
        ]
        fields.append(pa.field("error", pa.string(), metadata={"meaning": "why the row has no answer"}))
        fields += [schema.field(self.positions[name]) for name in self.keep]
        told = {
            "autodiff.formula": known.program.text,
            "autodiff.version": version(),
            "autodiff.question": rows.question,
        }
        if rows.at:
            told["autodiff.at"] = ",".join(f"{name}={value!r}" for name, value in rows.at.items())
        self.schema = pa.schema(fields, metadata=told)

    def answer(
        self,
        batch: pa.RecordBatch,
        where: Callable[[int], str] = lambda row: "",
        faults: Mapping[int, ExpressionError] | None = None,
    ) -> Answered:
        """The answers to the rows of a batch. `where` says where a row is; `faults` are those that are none."""
        import numpy as np
        import pyarrow as pa

        from ..batched.kernels import evaluate

        count = batch.num_rows
        columns = [given if k in self.fixed else numbers_of(batch.column(given)) for k, given in enumerate(self.given)]

        told: dict[tuple[str, bool], ExpressionError] = {}
        kinks = Kinks()

        def missing(row: int, name: str) -> ExpressionError | None:
            if faults and row in faults:
                return faults[row]
            column = self.columns.get(name, name)
            why = column, batch.column(self.positions[column])[row].is_valid
            if why not in told:
                told[why] = _not_finite(column) if why[1] else _empty(column)
            return told[why]

        with allowed(length=self.length, anew=False) as work:

            def plain(point: Mapping[str, float]) -> Sequence[float]:
                # each row has an allowance of its own, as each line of a stream has
                work.renew(self.length)
                try:
                    numbers, warnings = self.asked.plain(point)
                except BudgetExceeded as error:
                    raise ExpressionError("limit", str(error), hint=error.hint) from None
                if warnings:
                    kinks.note(warnings)
                return numbers

            # Arrow takes back what it gave, and gives it again: NumPy's memory would be new for each batch
            memory = pa.allocate_buffer(8 * count * len(self.asked.names))
            found: Block = evaluate(
                self.kernel, self.variables, columns, count, len(self.asked.names), plain, missing, memory,
                self.asked.refused,
            )  # fmt: skip
        errors = found.errors
        for row, fault in (faults or {}).items():
            if row not in errors:  # a constant program has an answer there too
                errors[row] = fault
                found.results[:, row] = np.nan
        there = None
        if not errors:
            texts = pa.nulls(count, pa.string())
        else:
            mask = np.zeros(count, bool)
            mask[list(errors)] = True
            there = pa.py_buffer(np.packbits(~mask, bitorder="little"))
            told_of = {row: f"{where(row)}{error.diagnostic.kind}: {error}" for row, error in errors.items()}
            texts = _texts(told_of, count)
        # `pyarrow.array` would import pandas to look for its kinds
        results = [
            pa.Array.from_buffers(pa.float64(), count, [there, memory.slice(8 * count * k, 8 * count)])
            for k in range(len(self.asked.names))
        ]
        kept = [batch.column(self.positions[name]) for name in self.keep]
        return Answered(
            pa.RecordBatch.from_arrays([*results, texts, *kept], schema=self.schema), errors, len(found.asked), kinks
        )


def _empty(column: str) -> ExpressionError:
    return ExpressionError("point", f"column `{column}`: it is empty", hint="give a number")


def _not_finite(column: str) -> ExpressionError:
    message = f"column `{column}`: the value of `{column}` is not a finite number"
    return ExpressionError("point", message, hint="give a number that double precision can hold")


def numbers_of(column: Any) -> Any:
    """A column as doubles, NaN where there is none."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # Arrow scales in doubles, which rounds twice; texts are read exactly
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    return doubles(column)


def doubles(column: Any) -> Any:
    """The numbers of an Arrow column of doubles, NaN for null; its own method would import pandas."""
    import numpy as np

    there, data = column.buffers()
    found = np.frombuffer(data, np.float64, len(column), column.offset * 8) if len(column) else np.empty(0)
    if column.null_count:
        bits = np.unpackbits(np.frombuffer(there, np.uint8), count=column.offset + len(column), bitorder="little")
        found = np.where(bits[column.offset :], found, np.nan)
    return found


def _texts(texts: Mapping[int, str], count: int) -> Any:
    """A column of texts, null where there is none."""
    import numpy as np
    import pyarrow as pa

    rows = sorted(texts)
    data = [texts[row].encode(errors="replace") for row in rows]
    lengths = np.zeros(count + 1, np.int32)
    lengths[np.array(rows) + 1] = [len(each) for each in data]
    there = np.zeros(count, bool)
    there[rows] = True
    bits = np.packbits(there, bitorder="little").tobytes()
    buffers = [pa.py_buffer(bits), pa.py_buffer(np.cumsum(lengths, dtype=np.int32).tobytes())]
    return pa.Array.from_buffers(pa.string(), count, [*buffers, pa.py_buffer(b"".join(data))])


_BINDING = threading.Lock()


@lru_cache(64)
def _bound(rows: Rows, schema: bytes) -> Bound:
    import pyarrow as pa

    return Bound(rows, pa.ipc.read_schema(pa.py_buffer(schema)))


class Rows:
    """A formula as a function from a `pyarrow.RecordBatch` to another one, with the answers to its rows.

    It travels as text and is compiled once a process. `schema` is what its batches look like.
    """

    def __init__(
        self,
        text: str,
        at: Mapping[str, float],
        wrt: tuple[str, ...] | None,
        keep: tuple[str, ...] | bool,
        columns: Mapping[str, str],
        backend: str | None,
        question: str,
        lenient: bool = False,
    ) -> None:
        self.text, self.at, self.wrt, self.keep = text, dict(at), wrt, keep
        self.columns, self.backend, self.question, self.lenient = dict(columns), backend, question, lenient
        self._key = (
            text, tuple(self.at.items()), wrt, keep, tuple(self.columns.items()), backend, question, lenient
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"rows({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (version(), self._key)

    def fitted(self, columns: Sequence[str]) -> Fitted:
        """The formula over these columns. Raises `ExpressionError` where they do not fit."""
        several = self.question == "jacobian"
        return fitted(self.text, columns, self.at, self.wrt, outputs=several, lenient=self.lenient)

    def columns_needed(self, names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        """The columns that hold numbers, and those that are carried along. Raises `ExpressionError`."""
        columns = mapped_columns(self.columns, names)
        kept = kept_columns(self.keep, names)
        try:
            known = self.fitted(list(columns))
        except ExpressionError as error:
            error.text = self.text if error.text is None else error.text
            raise
        used = dict.fromkeys((*known.variables, *known.wanted))
        return [columns[name] for name in used if name in columns], kept

    def bound(self, schema: pa.Schema) -> Bound:
        """The formula over the columns of a schema. Raises `ExpressionError` where they do not fit."""
        with _BINDING:
            return _bound(self, schema.serialize().to_pybytes())

    def schema(self, given: pa.Schema) -> pa.Schema:
        """What the answers to batches of a schema look like, with the meaning of each column."""
        return self.bound(given).schema

    def __call__(self, frame: Any) -> Any:
        """The answers to the rows of a frame, a row for a row, as a frame of the same kind.

        An Arrow batch or table, a frame of pandas or Polars, a dictionary of columns, a structured NumPy array.
        """
        table, restore = arrow_table(frame)
        bound = self.bound(table.schema)
        parts = [bound.answer(part).batch for part in table.to_batches()]
        return restore(type(table).from_batches(parts, schema=bound.schema))


def version() -> str:
    """The version of the package, which is above this room."""
    found: str = sys.modules[__name__.partition(".")[0]].__version__
    return found


def _unpickled(theirs: str, key: tuple[Any, ...]) -> Rows:
    if theirs != version():
        raise ExpressionError(
            "usage", f"these rows come from autodiff {theirs}, and this is {version()}",
            hint="install one version everywhere",
        )  # fmt: skip
    text, at, wrt, keep, columns, backend, question, lenient = key
    return Rows(text, dict(at), wrt, keep, dict(columns), backend, question, lenient)


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
) -> Rows:
    """The formula `text` as a function from record batches to record batches with its answers, a row for a row.

    A batch of answers has the columns `value`, `d_x` for each variable, `error`, and those of the data to `keep` (True
    keeps all). `at` gives what is the same for all rows, `columns` says which column is which variable where their
    names differ, `question` is `grad`, `jacobian` or `hessian`, and `backend` one of `llvm`, `numpy` and `python`;
    with `lenient` the formula is read as its refusal offers.
    Needs the extra `data`. Raises `ExpressionError` for a formula or options that cannot be; columns that do not fit
    are known with the first batch.

    >>> import pyarrow as pa
    >>> priced = rows("p*exp(-r*t)", at={"r": 0.05})
    >>> priced(pa.record_batch({"p": [100.0, 50.0], "t": [0.0, None]})).to_pydict()["error"]
    [None, 'point: column `t`: it is empty']
    """
    if question not in QUESTIONS:
        raise ExpressionError("usage", f"there are no rows of `{question}`", hint=f"there are {', '.join(QUESTIONS)}")
    given = {name: as_number(value, name) for name, value in (at or {}).items()}
    names = None if wrt is None else _listed(wrt)
    if not lenient:
        parse(text, given)
    listed = keep if keep is True else _listed(keep or ())
    return Rows(text, given, names, listed, columns or {}, backend, question, lenient)


def _listed(names: Sequence[str] | str | bool) -> tuple[str, ...]:
    if isinstance(names, bool):
        return ()
    return tuple([name.strip() for name in names.split(",")] if isinstance(names, str) else names)
