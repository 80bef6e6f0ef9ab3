"""Columns of data files, whole: for a fit, a propagation, or a loss, which need all of the data at once.

What is too large for memory is kept in temporary files, so that it can be gone through again and again.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from ..batched.columns_io import check_type, common_length, mapped_columns, reason
from ..batched.data_loss import Choose, Columns, Data, placed
from ..errors import ExpressionError, quoted
from ..inputs.column_units import MeasuredColumns, units_in_headings
from ..inputs.parse_point import is_name
from ..inputs.problem import as_number
from ..streams.progress import Progress
from ..views.error import write_note, write_reasons
from .readers import Files, Reader, check_columns, no_such
from .sources import Source, has_arrow, sources
from .text_dialects import UNFORCED, Forced

MOST_CELLS = 20_000_000

MOST_HELD = 1 << 25
"""Numbers that are kept in memory, 256 MB of them; more are in temporary files."""

A_PIECE = 4096
"""Rows of text that are read one by one before they are put together."""


def read_columns(
    paths: Sequence[str],
    wanted: Callable[[Sequence[str]], Collection[str]],
    forced: Forced = UNFORCED,
    called: Mapping[str, str] = MappingProxyType({}),
    *,
    other: Collection[str] = (),
    skip: bool = False,
    readings: bool = False,
) -> MeasuredColumns:
    """The columns of data, as `--points` reads them, that `wanted` chooses among their names.

    Those in `called` have another name, by which they are known then: each name with its column; `other` names have
    values otherwise. With `skip`, rows that lack a number are left out, and it is printed how many. Of repeated
    `readings` it is printed which columns are not used. The numbers
    remember their texts, for other arithmetics, and the columns have the units in their headings. Raises
    `ExpressionError`: `io` for a file that cannot be read, `point` for what is no number, with its line and column.
    """
    columns = MeasuredColumns()
    count = rows = 0
    left_out: Counter[str] = Counter()
    with Files(sources(paths, forced)) as files:
        first = files.first.source.name
        several = len(files.sources) > 1
        theirs = mapped_columns(called, files.first.names, other)
        used = {name: theirs[name] for name in wanted(list(theirs))}
        report_headings(used, called)
        unused = [name for name in files.first.names if name not in used.values()]
        if readings and unused:
            part = "column takes no part" if len(unused) == 1 else "columns take no part"
            write_note(f"note: {len(unused)} {part}: {quoted(unused)}")
        columns.update({name: [] for name in used})
        columns.units = units_in_headings(used, files.first.units)
        files.check = lambda file: check_columns(file, used.values(), (), first)
        files.check(files.first)
        for file in files:
            check_units(columns.units, used, file, first)
            for row in file.rows():
                rows += 1
                numbers, fault = file.numbers_in(row, [*used.values()])
                if fault is not None and skip:
                    left_out[reason(fault)] += 1
                    continue
                if fault is not None:
                    where = f"{'row' if file.source.columnar else 'line'} {row[0]} of {file.source.name}: "
                    hint = f"{fault.hint or 'mend it'}; or leave such rows out: `--on-error skip`"
                    raise _without_text(ExpressionError(fault.kind, f"{where}{fault}", hint=hint))
                for name, column in used.items():
                    columns[name].append(numbers[column])
                count += len(columns)
                if count > MOST_CELLS:
                    message = f"the data has more than {MOST_CELLS:,} numbers"
                    raise ExpressionError("limit", message, hint="take a sample of its rows")
    if columns and not next(iter(columns.values())):
        name = "the data" if several else first
        raise ExpressionError("point", f"{name} has no rows of data", hint="a row has a number for each column")
    if left_out:
        write_reasons(rows, left_out.total(), f"{'are' if left_out.total() > 1 else 'is'} left out", left_out)
    return columns


def check_units(units: Mapping[str, str], used: Mapping[str, str], file: Reader, first: str) -> None:
    """Raise an error where a row of units says others than that of the first file."""
    theirs = units_in_headings(used, file.units)
    for name, column in used.items():
        if (here := theirs.get(name)) != (there := units.get(name)):
            message = f"column `{column}` has the unit {here} in {file.source.name}, and {there} in {first}"
            raise ExpressionError("point", message, hint="answer them one after the other, or make their units alike")


def report_headings(used: Mapping[str, str], called: Mapping[str, str]) -> None:
    """Print which names stand for columns whose headings are no names."""
    matched = [
        f"`{name}` is the column `{column}`"
        for name, column in used.items()
        if name not in called and name != column and not is_name(column)
    ]
    if matched:
        write_note(f"note: {', '.join(matched)}")


def _without_text(error: ExpressionError) -> ExpressionError:
    """The error, which is not about a place in a formula."""
    error.text = ""
    return error


# ---- losses over data ---------------------------------------------------------------------------------------------
def from_files(sources: Sequence[Source], columns: Mapping[str, str]) -> Data:
    """The columns of some files, one after the other; `columns` says which column is which variable."""

    def read(choose: Choose, skip: bool) -> Columns:
        with Files(sources, several=True) as files, _ColumnBuffer(skip) as buffer:
            first = files.first.source.name
            theirs = mapped_columns(columns, files.first.names)
            used = {name: theirs[name] for name in choose(list(theirs))}
            report_headings(used, columns)

            def check(file: Reader) -> None:
                missing = next((column for column in used.values() if column not in file.names), None)
                if missing is not None:
                    raise no_such(missing, file.source.name, first)
                check_units(units, used, file, first)

            units = units_in_headings(used, files.first.units)
            files.check = check
            progress = Progress("rows read", here=True)
            try:
                for file in files:
                    for piece in _pieces(file, used):
                        buffer.add(piece)
                        progress.step(buffer.rows)
            finally:
                progress.done()
            own = buffer.columns(used)._replace(units=units)
            return checked(own, first if len(sources) == 1 else "the data")

    return read


class _Piece(NamedTuple):
    """Some rows of a file."""

    numbers: dict[str, Any]
    """By the names of variables: arrays of doubles, NumPy's or Python's."""
    faults: Mapping[int, ExpressionError]
    """The errors of rows, by position."""
    rows: int
    where: Callable[[int], str]


def _pieces(file: Reader, used: Mapping[str, str]) -> Iterator[_Piece]:
    """The rows of a file with their numbers: few of text one after the other, and else by columns."""
    if not file.source.columnar and (file.is_short() or not has_arrow()):
        return _one_by_one(file, used)
    return _by_columns(file, used)


def _one_by_one(file: Reader, used: Mapping[str, str]) -> Iterator[_Piece]:
    rows = file.rows()
    while part := list(islice(rows, A_PIECE)):
        lines = [line for line, _, _ in part]
        numbers = {name: array("d") for name in used}
        faults: dict[int, ExpressionError] = {}
        for k, row in enumerate(part):
            in_row, fault = file.numbers_in(row, [*used.values()])
            if fault is not None:
                faults[k] = fault
            for name, column in used.items():
                numbers[name].append(in_row.get(column, 0.0))
        yield _Piece(numbers, faults, len(part), _lines(f"{file.source.shown}, line ", lines))


def _lines(prefix: str, lines: Sequence[int]) -> Callable[[int], str]:
    """Return the places of rows in these lines."""
    return lambda row: f"{prefix}{lines[row]}: "


def _by_columns(file: Reader, used: Mapping[str, str]) -> Iterator[_Piece]:
    import numpy as np

    from .rows import no_number, numbers_of

    file.select(list(dict.fromkeys(used.values())), ())
    for field in file.selection.schema:
        check_type(field.name, field.type)
    for chunk in file.chunks():
        numbers = {name: numbers_of(chunk.batch.column(column)) for name, column in used.items()}
        faults = dict(chunk.faults)
        for name, column in used.items():
            for row in np.flatnonzero(~np.isfinite(numbers[name])).tolist():
                faults.setdefault(row, no_number(chunk.batch, column, row))
        yield _Piece(numbers, faults, chunk.batch.num_rows, chunk.where)


class _ColumnBuffer(ExitStack):
    """The rows so far, without those that are no numbers."""

    def __init__(self, skip: bool) -> None:
        super().__init__()
        self.skip = skip
        self.rows = 0
        self.left_out: Counter[str] = Counter()
        self._held: dict[str, array[float]] = {}
        self._files: dict[str, Any] = {}
        """The temporary files of columns too large for memory; a mapped array keeps its file open by itself."""
        self._places: list[tuple[int, Callable[[int], str], Sequence[int] | None]] = []
        """From which row on, where they are, and which of those they are."""

    def add(self, piece: _Piece) -> None:
        """Add some rows. Raises the error of the first that has no numbers, unless they are left out."""
        numbers, faults, rows, where = piece
        picked: list[int] | None = None
        if faults:
            if not self.skip:
                row = min(faults)
                raise _without_text(placed(faults[row], where(row)))
            self.left_out.update(map(reason, faults.values()))
            picked = [row for row in range(rows) if row not in faults]
            numbers = {name: picked_rows(column, picked) for name, column in numbers.items()}
            rows = len(picked)
        if self._files:
            # what knows where rows of text are may hold the text
            self._places.append((self.rows, _lines("row ", range(self.rows + 1, self.rows + rows + 1)), None))
        else:
            self._places.append((self.rows, where, picked))
        self.rows += rows
        for name, column in numbers.items():
            self._held.setdefault(name, array("d")).frombytes(column.tobytes())
        if sum(map(len, self._held.values())) > MOST_HELD:
            self._put_aside()

    def _put_aside(self) -> None:
        """Write the columns to temporary files."""
        from tempfile import TemporaryFile

        try:
            for name, column in self._held.items():
                if name not in self._files:
                    self._files[name] = self.enter_context(TemporaryFile())  # noqa: SIM115
                column.tofile(self._files[name])
                self._files[name].flush()
                del column[:]
        except OSError as fault:
            raise ExpressionError(
                "io",
                f"the data do not fit in memory, and cannot be put aside: {fault.strerror or fault}",
                hint="name a folder with room for them in the environment variable `TMPDIR`",
            ) from None

    def columns(self, used: Mapping[str, str]) -> Columns:
        """All of them."""
        starts = [first for first, _, _ in self._places]

        def where(row: int) -> str:
            first, at, picked = self._places[bisect_right(starts, row) - 1]
            return at(row - first if picked is None else picked[row - first])

        numbers: dict[str, Any] = {name: self._held.get(name, array("d")) for name in used}
        if self._files and self.rows:
            import numpy as np

            self._put_aside()
            numbers = {name: np.memmap(file, dtype=float, mode="r") for name, file in self._files.items()}
        return Columns(numbers, self.rows, where, self.left_out)


# ---- columns that Python has ----------------------------------------------------------------------------------------
def named_columns(table: Any) -> list[Any]:
    """The names of the columns of a dictionary of sequences, a frame, or an Arrow table."""
    for attribute in ("column_names", "columns"):
        if (names := getattr(table, attribute, None)) is not None:
            return [*names]
    if isinstance(table, Mapping):
        return [*table]
    raise ExpressionError(
        "point",
        f"data are columns by name, and this is a {type(table).__name__}",
        hint="give a dictionary of sequences, a frame, an Arrow table, or the name of a file",
    )


def from_table(table: Any) -> Data:
    """The columns of a table that Python has: a dictionary of sequences, a frame, or an Arrow table."""
    names = named_columns(table)

    def read(choose: Choose, skip: bool) -> Columns:
        theirs = mapped_columns({}, [name for name in names if isinstance(name, str)])
        chosen = choose(list(theirs))
        arrays = {name: _doubles(name, table[theirs[name]]) for name in chosen}
        rows = common_length(arrays)
        bad: dict[int, str] = {}
        for name, column in arrays.items():
            for row in _not_finite(column):
                bad.setdefault(row, f"column `{name}`: the value of `{name}` is not a finite number")
        if bad and not skip:
            row = min(bad)
            raise ExpressionError("point", f"row {row + 1}: {bad[row]}", hint="give numbers, or leave the row out")
        if bad:
            kept = [row for row in range(rows) if row not in bad]
            arrays = {name: picked_rows(column, kept) for name, column in arrays.items()}
        else:
            kept = []
        left = Counter([f"point: {why}" for why in bad.values()])
        columns = Columns(arrays, rows - len(bad), lambda row: f"row {(kept[row] if kept else row) + 1}: ", left)
        units = units_in_headings({name: theirs[name] for name in chosen}, {})
        return checked(columns._replace(units=units), "the data")

    return read


def _doubles(name: str, column: Any) -> Any:
    """A column of any kind as doubles. Raises `ExpressionError` for what holds no numbers."""
    if isinstance(column, list | tuple):
        return array("d", [math.nan if x is None else _number(x, name) for x in column])
    try:
        import numpy

        numbers = numpy.asarray(column)
        if numbers.dtype.kind not in "iuf" and not (numbers.dtype.kind == "O" and all(_is_number(x) for x in numbers)):
            raise ExpressionError(
                "point",
                f"column `{name}` holds values of the type {numbers.dtype}, and a variable needs numbers",
                hint="convert it to a number type",
            )
        numbers = numpy.ascontiguousarray(numbers, dtype=float)
    except (ImportError, TypeError, ValueError):
        raise ExpressionError("point", f"column `{name}` holds no numbers", hint="give a sequence of numbers") from None
    if numbers.ndim != 1:
        raise ExpressionError(
            "point", f"column `{name}` has {numbers.ndim} dimensions, not one", hint="give a flat one"
        )
    return numbers


def _number(x: Any, name: str) -> float:
    return x if isinstance(x, float) and x - x != 0 else as_number(x, name)


def _is_number(x: object) -> bool:
    return x is None or (hasattr(x, "__float__") and not isinstance(x, bool | str))


def _not_finite(column: Any) -> list[int]:
    if isinstance(column, list) or not hasattr(column, "dtype"):
        return [k for k, x in enumerate(column) if x - x != 0]
    import numpy

    rows: list[int] = numpy.flatnonzero(~numpy.isfinite(column)).tolist()
    return rows


def picked_rows(column: Any, rows: Sequence[int]) -> Any:
    """Return these rows of a column of doubles, NumPy's or Python's."""
    return column[rows] if hasattr(column, "dtype") else array("d", [column[row] for row in rows])


def checked(data: Columns, name: str) -> Columns:
    """Return the columns. Raises `ExpressionError` if they have no row."""
    if not data.rows:
        left = "; ".join(f"{why} ({count:,})" for why, count in data.left_out.most_common(3))
        message = f"no row of {name} is left: {left}" if left else f"{name} has no rows of data"
        raise ExpressionError("point", message, hint="a row has a number for each column")
    return data
