"""Columns of data files, whole: what was measured, as commands take it that need all of it at once.

What is too large for memory is kept in a temporary file, so that it can be gone through again and again.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any, NamedTuple

from ..batched.columns_io import check_type, mapped_columns, reason, unique
from ..batched.data_loss import Choose, Columns, Data, LossSpec, checked, placed, reduction
from ..data.sources import Source, has_arrow, no_such, sources
from ..data.text_rows import value
from ..errors import ExpressionError
from ..streams.progress import Progress
from ..streams.requests import mapping
from .options import Answers, Loss, Rows
from .row_routes import OpenSource, PeekedFile, rows_of
from .runner import Inputs

MOST_CELLS = 20_000_000

MOST_HELD = 1 << 25
"""Numbers that are kept in memory, 256 MB of them; more are in a temporary file."""

A_PIECE = 4096
"""Rows of text that are read one by one before they are put together."""


def read_columns(
    paths: Sequence[str], wanted: Callable[[Sequence[str]], Collection[str]], format: str | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[float]]:  # fmt: skip
    """The columns of data, as `--points` reads them, that `wanted` chooses among their names.

    Those in `called` have another name, by which they are known then: each name with its column. The numbers remember
    their texts, for other arithmetics. Raises `ExpressionError`: `io` for a file that cannot be read, `point` for what
    is no number, with its line and column.
    """
    files = sources(paths, format)
    theirs: dict[str, str] = {}
    found: dict[str, list[float]] = {}
    count = 0
    for source in files:
        with ExitStack() as stack:
            data = rows_of((source,), stack)
            if source is files[0]:
                theirs = mapped_columns(called, data.columns)
                found = {name: [] for name in wanted(list(theirs))}
            for name in found:
                column = theirs[name]
                if column not in data.columns and not data.open:
                    raise no_such(column, source.name, files[0].name)
                if column in data.types:
                    check_type(column, data.types[column])
            for line, cells, error in data.rows:
                try:
                    if error is not None:
                        raise error
                    for name, numbers in found.items():
                        numbers.append(value(theirs[name], cells.get(theirs[name])))
                except ExpressionError as fault:
                    place = f"{'row' if source.columnar else 'line'} {line} of"
                    place += " the data" if len(files) == 1 else f" {source.name}"
                    told = ExpressionError(fault.kind, f"{place}: {fault}", hint=fault.hint)
                    told.text = ""
                    raise told from None
                count += len(found)
                if count > MOST_CELLS:
                    raise ExpressionError(
                        "limit", f"the data has more than {MOST_CELLS:,} numbers", hint="take a sample of its rows"
                    )
    if found and not next(iter(found.values())):
        name = files[0].name if len(files) == 1 else "the data"
        raise ExpressionError("point", f"{name} has no rows of data", hint="a row has a number for each column")
    return found


# ---- losses over data ---------------------------------------------------------------------------------------------
def beside(rows: Rows, chosen: Loss, answers: Answers, inputs: Inputs) -> LossSpec | None:
    """The same where a command has `--points` too, with whose options it shares some."""
    if chosen.data:
        shared = {name: said for name, said in rows._asdict().items() if name in Loss._fields}
        chosen = chosen._replace(**shared)
    return given(chosen, answers, inputs)


def given(chosen: Loss, answers: Answers, inputs: Inputs) -> LossSpec | None:
    """What the options say of the data to reduce a formula over, None where there are none. Raises a usage error."""
    if not chosen.data:
        return None
    inputs.need(only="`--data` is for one formula, not for a stream of them")
    files = tuple(sources(chosen.data, chosen.input_format))
    data = from_files(files, mapping(chosen.columns))
    return reduction(data, chosen.reduce, skip=answers.on_error == "skip", backend=chosen.backend)


def from_files(files: Sequence[Source], columns: Mapping[str, str]) -> Data:
    """The columns of some files, one after the other; `columns` says which column is which variable."""

    def read(choose: Choose, skip: bool) -> Columns:
        name = files[0].name if len(files) == 1 else "the data"
        with ExitStack() as stack:
            kept = stack.enter_context(_ColumnBuffer(skip))
            used: dict[str, str] | None = None

            def needed(names: Sequence[str]) -> dict[str, str]:
                unique(names)
                theirs = mapped_columns(columns, names)
                return {each: theirs[each] for each in choose(list(theirs))}

            progress = Progress("rows read", here=True)
            try:
                for source in files:
                    with ExitStack() as inner:
                        for piece in _pieces(source, needed if used is None else _same(used, files[0], source), inner):
                            used = used or piece.used
                            kept.add(piece)
                            progress.step(kept.rows)
            finally:
                progress.done()
            return checked(kept.columns(), name)

    return read


def _same(used: dict[str, str], first: Source, other: Source) -> Callable[[Sequence[str]], dict[str, str]]:
    """What chooses the columns of a further file, which has to have those of the first."""

    def needed(names: Sequence[str]) -> dict[str, str]:
        missing = next((column for column in used.values() if column not in names), None)
        if missing is not None:
            raise no_such(missing, other.name, first.name)
        return used

    return needed


class _Piece(NamedTuple):
    """Some rows of a file."""

    used: dict[str, str]
    """Which column is which variable, of those that are needed."""
    numbers: dict[str, Any]
    """By the names of variables."""
    faults: Mapping[int, ExpressionError]
    """What is wrong with some rows of them."""
    rows: int
    where: Callable[[int], str]


Needed = Callable[[Sequence[str]], dict[str, str]]


def _pieces(source: Source, needed: Needed, stack: ExitStack) -> Iterator[_Piece]:
    """The rows of a file: few of text one after the other, and else by columns."""
    file: PeekedFile | None = None
    if not source.columnar:
        if not has_arrow():
            return _one_by_one(source, needed, None)
        file = PeekedFile(stack.enter_context(OpenSource(source)))
        if file.is_short:
            return _one_by_one(source, needed, file)
    return _by_columns(source, needed, file, stack)


def _one_by_one(source: Source, needed: Needed, file: Any) -> Iterator[_Piece]:
    with ExitStack() as stack:
        found = rows_of((source,), stack, None, file)
        used = needed(found.columns)
        lines: list[int] = []
        columns = {name: array("d") for name in used}
        faults: dict[int, ExpressionError] = {}

        def piece() -> _Piece:
            here = lines
            return _Piece(used, dict(columns), faults, len(lines), lambda row: f"{source.shown}, line {here[row]}: ")

        for line, cells, error in found.rows:
            numbers = [0.0] * len(used)
            try:
                if error is not None:
                    raise error
                numbers = [value(column, cells.get(column)) for column in used.values()]
            except ExpressionError as fault:
                faults[len(lines)] = fault
            for column, x in zip(columns.values(), numbers, strict=True):
                column.append(x)
            lines.append(line)
            if len(lines) == A_PIECE:
                yield piece()
                lines, columns, faults = [], {name: array("d") for name in used}, {}
        if lines:
            yield piece()


def _by_columns(source: Source, needed: Needed, file: Any, stack: ExitStack) -> Iterator[_Piece]:
    import numpy as np

    from ..data.batches import reader
    from ..data.rows import numbers_of

    used: dict[str, str] = {}

    def needs(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        used.update(needed(names))
        return list(dict.fromkeys(used.values())), ()

    found = reader(source, needs, True, file)
    stack.callback(found.close)
    for column in dict.fromkeys(used.values()):
        check_type(column, found.schema.field(column).type)
    for chunk in found.chunks():
        numbers = {name: numbers_of(chunk.batch.column(column)) for name, column in used.items()}
        faults = dict(chunk.faults)
        for name, column in used.items():
            for row in np.flatnonzero(~np.isfinite(numbers[name])).tolist():
                empty = not chunk.batch.column(column)[row].is_valid
                why = "it is empty" if empty else f"the value of `{column}` is not a finite number"
                faults.setdefault(row, ExpressionError("point", f"column `{column}`: {why}", hint="give a number"))
        yield _Piece(used, numbers, faults, chunk.batch.num_rows, chunk.where)


class _ColumnBuffer:
    """The rows so far, without those that are no numbers."""

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.rows = 0
        self.names: list[str] = []
        self.left_out: Counter[str] = Counter()
        self._parts: list[dict[str, Any]] = []
        self._file: Any = None
        self._places: list[tuple[int, Callable[[int], str], Sequence[int] | None]] = []
        """From which row on, where they are, and which of those they are."""

    def __enter__(self) -> _ColumnBuffer:
        return self

    def __exit__(self, *_: object) -> None:
        # an array that is mapped holds the file by itself
        if self._file is not None:
            self._file.close()

    def add(self, piece: _Piece) -> None:
        """Add some rows. Raises the error of the first that has no numbers, unless they are left out."""
        self.names = list(piece.used)
        numbers, rows, picked = piece.numbers, piece.rows, None
        if piece.faults:
            if not self.skip:
                row = min(piece.faults)
                told = placed(piece.faults[row], piece.where(row))
                told.text = ""
                raise told
            for error in piece.faults.values():
                self.left_out[reason(error)] += 1
            picked = [row for row in range(rows) if row not in piece.faults]
            numbers = {
                name: column[picked] if hasattr(column, "dtype") else array("d", [column[row] for row in picked])
                for name, column in numbers.items()
            }
            rows = len(picked)
        if not rows:
            return
        where = piece.where
        if self._file is not None:
            # what says where rows of text are may hold the text
            first = self.rows
            where, picked = lambda row: f"row {first + row + 1}: ", None
        self._places.append((self.rows, where, picked))
        self.rows += rows
        self._parts.append(numbers)
        if self._file is None and self.rows * len(self.names) > MOST_HELD:
            self._begin()
        if self._file is not None:
            self._put_aside()

    def _begin(self) -> None:
        from tempfile import TemporaryFile

        self._file = TemporaryFile()  # noqa: SIM115 - it is closed on leaving

    def _put_aside(self) -> None:
        import numpy as np

        try:
            for part in self._parts:
                np.stack([np.asarray(part[name]) for name in self.names], axis=1).tofile(self._file)
            self._file.flush()
        except OSError as fault:
            raise ExpressionError(
                "io", f"the data do not fit in memory, and cannot be put aside: {fault.strerror or fault}",
                hint="name a folder with room for them in the environment variable `TMPDIR`",
            ) from None  # fmt: skip
        self._parts = []

    def columns(self) -> Columns:
        """All of them."""
        from bisect import bisect_right

        starts = [first for first, _, _ in self._places]

        def where(row: int) -> str:
            first, told, picked = self._places[bisect_right(starts, row) - 1]
            return told(row - first if picked is None else picked[row - first])

        return Columns(self._numbers(), self.rows, where, self.left_out)

    def _numbers(self) -> dict[str, Any]:
        if self._file is not None:
            import numpy as np

            whole = np.memmap(self._file, dtype=float, mode="r", shape=(self.rows, len(self.names)))
            return {name: whole[:, k] for k, name in enumerate(self.names)}
        if len(self._parts) == 1:
            return self._parts[0]
        if all(isinstance(part[name], array) for part in self._parts for name in self.names):
            found = {name: array("d") for name in self.names}
            for part in self._parts:
                for name, column in found.items():
                    column.extend(part[name])
            return found
        if not self._parts:
            return {name: array("d") for name in self.names}
        import numpy as np

        return {name: np.concatenate([part[name] for part in self._parts]) for name in self.names}
