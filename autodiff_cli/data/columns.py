"""Whole columns of data files: for a fit, a propagation, or a loss."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from types import MappingProxyType
from typing import Any

from ..compiled.columns_io import common_length, mapped_columns, reason
from ..compiled.data_loss import Choose, Columns, Data, with_row
from ..errors import ExpressionError, limit_error, point_error, quote
from ..operating_system import temporary_folder_variable
from ..questions.optional_units import MeasuredColumns, numbers_and_unit, units_in_headings
from ..questions.parse_point import is_name
from ..questions.problem import as_number
from ..show.error import MAX_PLACES, place_list, write_note, write_reasons
from ..streams.progress import Progress
from .readers import Files, Reader, places
from .sources import Source, has_arrow, sources
from .text_dialects import UNFORCED, ForcedDialect, TextRow

MAX_NUMBERS = 20_000_000
MAX_NUMBERS_IN_MEMORY = 1 << 25
PIECE_ROWS = 4096
LEAVE_OUT = "or leave such rows out: `--on-error skip`"


def read_columns(
    paths: Sequence[str],
    wanted: Choose,
    forced: ForcedDialect = UNFORCED,
    called: Mapping[str, str] = MappingProxyType({}),
    *,
    other: Collection[str] = (),
    skip: bool = False,
    readings: bool = False,
    uncertain: bool = False,
) -> MeasuredColumns:
    """Return the columns that `wanted` selects, with the units in their headings.

    Names in `called` stand for columns; `other` names have values otherwise. With `skip`, rows that
    lack a number are counted and left out; with `readings`, unused columns are noted; if
    `uncertain`, cells may be `1.1±0.1`.
    """
    with Files(sources(paths, forced), several=True) as files:
        used, units = _choose(files, called, wanted, other)
        unused = [name for name in files.first.names if name not in used.values()]
        if readings and unused:
            _note_unused(unused)
        read = _ColumnsRead(used, several=len(paths) > 1, skip=skip, uncertain=uncertain)
        read.columns.units = units
        for file in files:
            read.add(file)
        if read.columns:
            _require_rows(len(next(iter(read.columns.values()))), read.left_out, _name_of(files))
    return read.complete()


def _note_unused(unused: Sequence[str]) -> None:
    part = "column takes no part" if len(unused) == 1 else "columns take no part"
    write_note(f"note: {len(unused)} {part}: {quote(unused)}")


class _ColumnsRead:
    """Columns while their rows are read, and the rows that are left out, by their reasons."""

    def __init__(
        self, used: Mapping[str, str], *, several: bool, skip: bool, uncertain: bool
    ) -> None:
        self.used, self.several, self.skip, self.uncertain = used, several, skip, uncertain
        self.columns = MeasuredColumns({name: [] for name in used})
        self.uncertainties: dict[str, list[float]] = {}
        self.rows = self.count = 0
        self.left_out: Counter[str] = Counter()
        self.places: dict[str, list[str]] = {}

    def add(self, file: Reader) -> None:
        """Append the numbers of all rows of a file; a row that lacks one is left out, or raises its
        error.
        """
        wanted = [*self.used.values()]
        for row in file.rows():
            self.rows += 1
            # numbers keep their texts, of which fits in many digits are
            numbers, fault = file.numbers_in(row, wanted)
            own: dict[str, float] = {}
            if fault is not None and self.uncertain and row[2] is None:
                numbers, own, fault = _numbers_with_uncertainties(file, row, wanted)
            if fault is not None:
                self._leave_out(file, row[0], fault)
                continue
            for name, column in self.used.items():
                self.columns[name].append(numbers[column])
                if column in own:
                    self.uncertainties.setdefault(name, []).append(own[column])
            self.count += len(self.columns)
            if self.count > MAX_NUMBERS:
                raise limit_error(
                    f"the data has more than {MAX_NUMBERS:,} numbers", "take a sample of its rows"
                )

    def _leave_out(self, file: Reader, number: int, fault: ExpressionError) -> None:
        """Count a row that lacks a number, and keep the places of the first ones. Raises its error
        unless `skip`.
        """
        kind = "row" if file.source.columnar else "line"
        if not self.skip:
            raise _without_text(with_row(fault, f"{file.source.shown}, {kind} {number}: "))
        why = reason(fault)
        self.left_out[why] += 1
        if self.left_out[why] <= MAX_PLACES + 1:
            of_file = f"{file.source.shown}, " if self.several else ""
            self.places.setdefault(why, []).append(f"{of_file}{kind} {number}")

    def complete(self) -> MeasuredColumns:
        """Return the columns with their uncertainties, which all rows have to have; print what is
        left out.
        """
        for name, sizes in self.uncertainties.items():
            if len(sizes) < len(self.columns[name]):
                of_rows = f"{len(sizes):,} of {len(self.columns[name]):,} rows"
                message = f"column `{self.used[name]}` has an uncertainty in {of_rows}"
                raise point_error(message, "give one to each, or all of them by `--sigma`")
        self.columns.uncertainties = self.uncertainties
        if total := self.left_out.total():
            with_places = Counter(
                {f"{why}{place_list(self.places[why])}": n for why, n in self.left_out.items()}
            )
            write_reasons(self.rows, total, f"{'are' if total > 1 else 'is'} left out", with_places)
        return self.columns


_UNCERTAIN = re.compile(r"±|\+/-|\+-|\d\(\d+\)")


def _numbers_with_uncertainties(
    file: Reader, row: TextRow, columns: Sequence[str]
) -> tuple[dict[str, float], dict[str, float], ExpressionError | None]:
    """Return the numbers of a row, the uncertainties of those that have one, and its first error or
    None.
    """
    from ..questions.measured_value import MeasuredValue, quantity  # few files have them

    numbers: dict[str, float] = {}
    uncertainties: dict[str, float] = {}
    fault: ExpressionError | None = None
    for column in columns:
        cell = row[1].get(column)
        if not isinstance(cell, str) or not _UNCERTAIN.search(cell):
            own, error = file.numbers_in(row, [column])
            numbers |= own
            fault = fault or error
            continue
        try:
            measured = quantity(
                column, cell.replace(",", ".") if file.dialect.decimal == "," else cell
            )
        except ExpressionError as error:
            fault = fault or point_error(f"column `{column}`: {error}", error.hint)
            continue
        numbers[column] = float(measured)
        if isinstance(measured, MeasuredValue):
            uncertainties[column] = measured.uncertainty
    return numbers, uncertainties, fault


def _choose(
    files: Files, called: Mapping[str, str], wanted: Choose, other: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    first = files.first
    theirs = mapped_columns(called, first.names, other)
    used = {name: theirs[name] for name in wanted(list(theirs))}
    report_headings(used, called)
    files.require(used, used.values())
    return used, units_in_headings(used, first.units)


def report_headings(used: Mapping[str, str], called: Mapping[str, str]) -> None:
    """Print which names stand for columns with other headings."""
    matched = [
        f"`{name}` is the column `{column}`"
        for name, column in used.items()
        if name not in called and name != column and not is_name(column)
    ]
    if matched:
        write_note(f"note: {', '.join(matched)}")


def _without_text(error: ExpressionError) -> ExpressionError:
    error.text = ""
    hint = error.hint or "mend it"
    hint += " " if hint.endswith("?") else "; "
    error.diagnostic = error.diagnostic._replace(hint=hint + LEAVE_OUT)
    return error


# ---- losses over data
def from_files(sources: Sequence[Source], columns: Mapping[str, str]) -> Data:
    """Return a reader of columns of files; `columns` maps variables to columns."""

    def read(choose: Choose, skip: bool) -> Columns:
        with Files(sources, several=True) as files, _ColumnBuffer(skip) as buffer:
            used, units = _choose(files, columns, choose)
            with closing(Progress("rows read", here=True)) as progress:
                for file in files:
                    by_rows = not file.source.columnar and (file.is_short() or not has_arrow())
                    for data, faults in (_one_by_one if by_rows else _by_columns)(file, used):
                        buffer.add(data, faults)
                        progress.step(buffer.rows)
            data = buffer.columns(used)._replace(units=units)
            _require_rows(data.rows, data.left_out, _name_of(files))
            return data

    return read


# Consecutive rows of data, and the errors of some.
Piece = tuple[Columns, Mapping[int, ExpressionError]]


def _valid(data: Columns, faults: Mapping[int, ExpressionError], skip: bool) -> Columns:
    if not faults:
        return data
    if not skip:
        row = min(faults)
        raise with_row(faults[row], data.where(row))
    rows = [row for row in range(data.rows) if row not in faults]
    numbers = {
        name: (
            column[rows] if hasattr(column, "dtype") else array("d", [column[row] for row in rows])
        )
        for name, column in data.numbers.items()
    }
    left_out = Counter(map(reason, faults.values()))
    return Columns(numbers, len(rows), lambda row: data.where(rows[row]), left_out, data.units)


def _one_by_one(file: Reader, used: Mapping[str, str]) -> Iterator[Piece]:
    rows, columns = file.rows(), [*used.values()]
    while part := list(islice(rows, PIECE_ROWS)):
        cells = [file.numbers_in(row, columns) for row in part]
        numbers = {
            name: array("d", [x.get(column, 0.0) for x, _ in cells])
            for name, column in used.items()
        }
        faults = {k: fault for k, (_, fault) in enumerate(cells) if fault is not None}
        lines = [line for line, _, _ in part]
        yield (
            Columns(numbers, len(part), places(f"{file.source.shown}, line", lines), Counter()),
            faults,
        )


def _by_columns(file: Reader, used: Mapping[str, str]) -> Iterator[Piece]:
    import numpy as np

    from .rows import no_number, numbers_of

    file.select(list(dict.fromkeys(used.values())), ())
    for chunk in file.chunks():
        numbers = {name: numbers_of(chunk.batch.column(column)) for name, column in used.items()}
        faults = dict(chunk.faults)
        for name, column in used.items():
            for row in np.flatnonzero(~np.isfinite(numbers[name])).tolist():
                faults.setdefault(row, no_number(chunk.batch, column, row))
        yield Columns(numbers, chunk.batch.num_rows, chunk.where, Counter()), faults


class _ColumnBuffer(ExitStack):
    """The rows read so far, without erroneous ones."""

    def __init__(self, skip: bool) -> None:
        super().__init__()
        self.skip, self.rows = skip, 0
        self.left_out: Counter[str] = Counter()
        self._held: dict[str, array[float]] = {}
        # Temporary files of columns too large for memory.
        self._files: dict[str, Any] = {}
        self._places: list[tuple[int, Callable[[int], str]]] = []

    def add(self, data: Columns, faults: Mapping[int, ExpressionError]) -> None:
        try:
            piece = _valid(data, faults, self.skip)
        except ExpressionError as error:
            raise _without_text(error) from None
        self.left_out += piece.left_out
        first = self.rows
        # a row's location may refer to the entire text
        self._places.append(
            (first, (lambda row: f"row {first + row + 1}: ") if self._files else piece.where)
        )
        self.rows += piece.rows
        for name, column in piece.numbers.items():
            self._held.setdefault(name, array("d")).frombytes(column.tobytes())
        if sum(map(len, self._held.values())) > MAX_NUMBERS_IN_MEMORY:
            self._write_aside()

    def _write_aside(self) -> None:
        from tempfile import TemporaryFile

        try:
            for name, column in self._held.items():
                if name not in self._files:
                    self._files[name] = self.enter_context(TemporaryFile())  # noqa: SIM115
                column.tofile(self._files[name])
                self._files[name].flush()
                del column[:]
        except OSError as fault:
            message = (
                f"the data do not fit in memory, and cannot be put aside: {fault.strerror or fault}"
            )
            hint = (
                "name a folder with room for them in the environment variable"
                f" `{temporary_folder_variable()}`"
            )
            raise ExpressionError("io", message, hint=hint) from None

    def columns(self, used: Mapping[str, str]) -> Columns:
        starts = [first for first, _ in self._places]

        def where(row: int) -> str:
            first, at = self._places[bisect_right(starts, row) - 1]
            return at(row - first)

        numbers: dict[str, Any] = {name: self._held.get(name, array("d")) for name in used}
        if self._files and self.rows:
            import numpy as np

            self._write_aside()
            numbers = {
                name: np.memmap(file, dtype=float, mode="r") for name, file in self._files.items()
            }
        return Columns(numbers, self.rows, where, self.left_out)


# ---- columns of Python objects
def named_columns(table: Any) -> list[Any]:
    """Return the column names of a dictionary, a frame, or an Arrow table."""
    for attribute in ("column_names", "columns"):
        if (names := getattr(table, attribute, None)) is not None:
            return [*names]
    if isinstance(table, Mapping):
        return [*table]
    hint = "give a dictionary of sequences, a frame, an Arrow table, or the name of a file"
    raise point_error(f"data are columns by name, and this is a {type(table).__name__}", hint)


def from_table(table: Any) -> Data:
    """Return a reader of a dictionary, a frame, or an Arrow table."""
    names = [name for name in named_columns(table) if isinstance(name, str)]

    def read(choose: Choose, skip: bool) -> Columns:
        theirs = mapped_columns({}, names)
        used = {name: theirs[name] for name in choose(list(theirs))}
        columns = {column: numbers_and_unit(table[column]) for column in used.values()}
        arrays = {name: _doubles(name, columns[column][0]) for name, column in used.items()}
        faults: dict[int, ExpressionError] = {}
        for name, column in arrays.items():
            message = f"column `{name}`: the value of `{name}` is not a finite number"
            if hasattr(column, "dtype"):
                not_finite = (~(abs(column) < math.inf)).nonzero()[0].tolist()
            else:
                not_finite = [k for k, x in enumerate(column) if x - x != 0]
            for row in not_finite:
                faults.setdefault(row, point_error(message, "give numbers, or leave the row out"))
        units = units_in_headings(used, {column: unit for column, (_, unit) in columns.items()})
        length = common_length(arrays)
        data = Columns(arrays, length, places("row", range(1, length + 1)), Counter(), units)
        data = _valid(data, faults, skip)
        _require_rows(data.rows, data.left_out, "the data")
        return data

    return read


def _doubles(name: str, column: Any) -> Any:
    if isinstance(column, list | tuple):
        numbers = [math.nan if x is None else x for x in column]
        return array(
            "d", [x if isinstance(x, float) and x - x != 0 else as_number(x, name) for x in numbers]
        )
    try:
        import numpy

        if isinstance(column, numpy.ma.MaskedArray):
            column = numpy.ma.filled(column.astype(float), math.nan)
        array_of = numpy.asarray(column)
        if array_of.dtype.kind not in "iuf" and not (
            array_of.dtype.kind == "O" and all(map(_is_number, array_of))
        ):
            message = (
                f"column `{name}` holds values of the type {array_of.dtype}, and a variable needs"
                " numbers"
            )
            raise point_error(message, "convert it to a number type")
        array_of = numpy.ascontiguousarray(array_of, dtype=float)
    except (ImportError, TypeError, ValueError):
        raise point_error(
            f"column `{name}` holds no numbers", "give a sequence of numbers"
        ) from None
    if array_of.ndim != 1:
        raise point_error(
            f"column `{name}` has {array_of.ndim} dimensions, not one", "give a sequence of numbers"
        )
    return array_of


def _is_number(x: object) -> bool:
    return x is None or (hasattr(x, "__float__") and not isinstance(x, bool | str))


def _name_of(files: Files) -> str:
    return files.first.source.name if len(files.sources) == 1 else "the data"


def _require_rows(rows: int, left_out: Counter[str], name: str) -> None:
    if not rows:
        left = "; ".join(f"{why} ({count:,})" for why, count in left_out.most_common(3))
        message = (
            f"every row of {name} is left out: {left}" if left else f"{name} has no rows of data"
        )
        raise point_error(message, "a row has a number for each column")
