"""`--points`: one program at every row of data, whose columns say which is which variable.

Long answers, and few rows of text, take the plain way, one row after the other; wide ones of many rows the pipeline.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batched.columns_io import Fitted, check_type, fitted, kept_columns, mapped_columns
from ..data.rows import asked, rows
from ..data.sinks import plain_cell, sink
from ..data.sources import File, Source, has_arrow, no_such, opened, sources
from ..data.text_rows import TextRow, Texts, table, value, with_names
from ..errors import ExpressionError
from ..extras import install_command
from ..inputs.arithmetic import DOUBLE, Arithmetic
from ..streams.files import begun
from ..streams.filesystems import arrow, is_url, plain
from ..streams.interruption import interrupted
from ..streams.requests import Request, default_point, mapping, names, whole
from ..views.error import write_reading as note
from ..views.error import write_stderr
from ..views.formats import COLUMNAR, Asked, format_of, lacking, undocumented, writer
from ..views.schema import View
from ..views.wide import WIDE, Values, wide
from . import options
from .runner import Answer, Inputs, Method, answer_requests, is_file

if TYPE_CHECKING:
    from ..data.rows import Bound, Rows

FEW_ROWS = 20_000
FEW_BYTES = 4 * 1024 * 1024
"""So few rows of text are answered one by one: the libraries for more of them take as long to begin."""


class Data(NamedTuple):
    """What the options say about the data."""

    sources: tuple[Source, ...]
    columns: Mapping[str, str]
    keep: tuple[str, ...] | bool
    wide: bool
    backend: str | None
    spreadsheet: bool
    engine: str | None
    scheduler: str | None
    workers: int | None

    @property
    def reads_input(self) -> bool:
        """Whether the data come on standard input."""
        return any(source.path == "-" for source in self.sources)


class RowQuestion(NamedTuple):
    """A question as rows ask it: its name, and how an answer becomes numbers in a line."""

    question: str
    numbers: Callable[[Any], Sequence[Any]]
    arithmetic: Arithmetic
    digits: int | None
    whole: str | None = None
    """The option that asks for what wide rows have no place for."""


def given(chosen: options.Rows) -> Data | None:
    """The data that the options name, if any. Raises a usage error."""
    if not chosen.points:
        return None
    kept = [name.strip() for option in chosen.keep or () for name in option.split(",")]
    return Data(
        tuple(sources(chosen.points, chosen.input_format)),
        mapping(chosen.columns),
        True if chosen.keep_all else tuple(dict.fromkeys(kept)),
        chosen.wide,
        chosen.backend,
        chosen.spreadsheet,
        chosen.engine,
        chosen.scheduler,
        chosen.workers,
    )


# ---- the answers --------------------------------------------------------------------------------------------------
def answer_rows(inputs: Inputs, data: Data, method: Method[Answer], view: View[Answer], told: RowQuestion) -> int:
    """Answer the program at every row; return the exit code."""
    text = _program(inputs, data)
    folder = _folder(inputs.output, data.engine)
    if folder is not None:
        _check_wide(told)
        return _in_parts(inputs, data, text, folder, told)
    _check_output(inputs.output, data)
    format = format_of(
        inputs.format, inputs.output, (*view.formats, *COLUMNAR), "csv" if data.wide else "jsonl", view.endings
    )
    if inputs.document and (data.wide or format != "latex"):
        raise undocumented(view.formats)
    if not (data.wide or format in ("table", "markdown", *COLUMNAR)):
        if data.backend is not None:
            hint = "add `--wide`, or leave it out"
            raise ExpressionError("usage", "`--backend` is about wide rows", hint=hint)
        return _long(inputs, data, text, format, method, view, told)
    _check_wide(told)
    return _wide(inputs, data, text, format, method, told)


def _program(inputs: Inputs, data: Data) -> str:
    """The one program that the rows are points of."""
    if inputs.file is not None:
        text, fault = whole(inputs.file)
        if fault is not None:
            fault.text = text
            raise fault
        return text
    if inputs.expr in (None, "-"):
        raise ExpressionError("usage", "`--points` needs a program", hint="give it as an argument, or with `--file`")
    assert inputs.expr is not None
    return inputs.expr


def _check_output(output: str | None, data: Data) -> None:
    """Raise an error where what is written is what is read."""
    if output is None:
        return
    for source in data.sources:
        if _same(source.path, plain(output)):
            message = f"`{output}` is read, and cannot be written at the same time"
            raise ExpressionError("io", message, hint="give another name to `--output`")


def _same(path: str, other: str) -> bool:
    """Whether two paths are those of one file."""
    if path == other or is_url(path) or is_url(other):
        return path == other != "-"
    return path != "-" and os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _check_wide(told: RowQuestion) -> None:
    """Raise a usage error where something is asked that is not for wide rows."""
    if told.whole is not None:
        hint = "`--format jsonl` without `--wide` has a place for it"
        raise ExpressionError("usage", f"`{told.whole}` is not for wide rows", hint=hint)


def _folder(output: str | None, engine: str | None) -> str | None:
    """The folder that an engine writes parts into; None where the answers are one file. Raises a usage error."""
    path = None if output is None else plain(output)
    is_folder = path is not None and (path.endswith("/") or (not is_url(path) and os.path.isdir(path)))
    if engine is None:
        if is_folder:
            hint = "name a file; or have Dask's workers write files into it: `--engine dask`"
            raise ExpressionError("usage", f"`{output}` is a folder", hint=hint)
        return None
    if path is None or (not is_folder and os.path.splitext(path)[1]):
        hint = "name the folder: `--output DIR/`"
        raise ExpressionError("usage", "`--engine` is about parts, which are files in a folder", hint=hint)
    return path.rstrip("/") + "/"


def _long(
    inputs: Inputs, data: Data, text: str, format: str, method: Method[Answer], view: View[Answer], told: RowQuestion
) -> int:
    """The answers as the command writes them, one after the other."""
    keep = () if data.keep is True else data.keep
    if format in ("csv", "tsv"):
        clash = [name for name in keep or () if name in view.columns and name != "id"]
        if clash:
            hint = "`--format jsonl` keeps them apart"
            raise ExpressionError("usage", f"there is a column `{clash[0]}` in the answers already", hint=hint)
        if data.keep is True:
            hint = "name the columns: `--keep a,b`, or write wide rows: `--wide`"
            raise ExpressionError("usage", "`--keep-all` is for wide rows, and for records", hint=hint)
    with ExitStack() as stack:
        output = inputs.out()
        made = writer(
            format, output.stream, view, True, spreadsheet=data.spreadsheet, document=inputs.document, kept=keep or ()
        )
        flush = inputs.output is None and _flushes(data)
        asked = _Rows(text, inputs, data, told.question)
        found = rows_of(data.sources, stack, made.out.flush if flush else None, None, asked.fits)
        asked.begin(found)
        with asked.interruptible():
            code = answer_requests(asked.requests(found.rows), method, made, flush, fail=inputs.fail)
        return output.finish(code, whole=True)


def _flushes(data: Data) -> bool:
    """Whether answers go out as they come."""
    waits = any(source.once and not (source.path == "-" and is_file(sys.stdin)) for source in data.sources)
    return waits or sys.stdout.isatty()


# ---- wide rows ----------------------------------------------------------------------------------------------------
def _wide(inputs: Inputs, data: Data, text: str, format: str, method: Method[Any], told: RowQuestion) -> int:
    """One line a row."""
    slow = not _check_doubles(data, format, told)
    with ExitStack() as stack:
        file: File | None = None
        textual = not any(source.columnar for source in data.sources) and format in WIDE
        if textual and not slow:
            if data.backend == "python" or not has_arrow():
                slow = True
                if data.backend in ("llvm", "numpy"):
                    hint = f"install it: `{install_command('data')}`"
                    raise ExpressionError("usage", f"`--backend {data.backend}` needs the extra `data`", hint=hint)
            elif data.backend is None and len(data.sources) == 1:
                again = file = PeekedFile(stack.enter_context(OpenSource(data.sources[0])))
                slow = again.is_short
        if slow:
            return _one_by_one(inputs, data, text, format, method, told, stack, file)
        return _piped(inputs, data, text, format, told, stack, file)


def _in_parts(inputs: Inputs, data: Data, text: str, folder: str, told: RowQuestion) -> int:
    """Many rows, as the parts of a folder; what is counted of them is the answer."""
    arrow("for parts")
    from ..data import cluster

    format = inputs.format or "parquet"
    if format not in cluster.FORMATS:
        raise lacking(format, cluster.FORMATS)
    _check_doubles(data, format, told)
    folder = cluster.absolute(folder)
    for source in data.sources:
        if source.once:
            hint = "name a file, or leave `--engine` out"
            raise ExpressionError("usage", f"{source.name} cannot be read in parts", hint=hint)
        if cluster.absolute(source.path).startswith(folder):
            hint = "give another folder to `--output`"
            raise ExpressionError("io", f"`{source.path}` is read, and lies in `{folder}`", hint=hint)
    formula = _formula(inputs, data, text, told)
    parts, schema, wanted = cluster.divided(data.sources, formula)
    _say_how(formula.bound(schema), data)
    job = cluster.Job(
        formula, schema, wanted, len(data.sources) > 1, folder, format, told.digits, data.spreadsheet, inputs.fail
    )
    engine = cluster.Dask(data.scheduler, data.workers)
    try:
        cluster.prepare(folder, force=inputs.force)
        return cluster.run(job, parts, engine)
    finally:
        engine.close()


def _formula(inputs: Inputs, data: Data, text: str, told: RowQuestion) -> Rows:
    """What is asked about each row."""
    return rows(
        text, at=default_point(inputs.at, inputs.reading), wrt=names(inputs.wrt), keep=data.keep, columns=data.columns,
        backend=data.backend, question=told.question, lenient=inputs.lenient,
    )  # fmt: skip


def _say_how(bound: Bound, data: Data) -> None:
    """Say how the formula was read, and what computes it, where either is not as one would think."""
    _note(bound.known)
    if bound.kernel.note is not None and data.backend != "python":
        write_stderr(f"note: {bound.kernel.note}\n")


def _check_doubles(data: Data, format: str, told: RowQuestion) -> bool:
    """Whether the numbers are doubles. Raises a usage error for others where that cannot be."""
    if told.arithmetic == DOUBLE:
        return True
    if format not in WIDE:
        message = f"`--format {format}` holds doubles, and no other numbers"
        raise ExpressionError("usage", message, hint="write csv or jsonl, or leave the arithmetic out")
    if data.backend not in (None, "python"):
        raise ExpressionError("usage", f"`--backend {data.backend}` computes in doubles", hint="leave one of them out")
    return False


def _piped(
    inputs: Inputs, data: Data, text: str, format: str, told: RowQuestion, stack: ExitStack, file: File | None
) -> int:
    """Many rows, by batches."""
    from ..data.pipeline import Pipeline

    arrow("for these rows")
    line = Pipeline(data.sources, _formula(inputs, data, text, told), file)
    _say_how(line.bound, data)
    beside = None if inputs.output is None else begun(plain(inputs.output), force=inputs.force)
    if beside is not None:
        stack.callback(beside.drop)
    else:
        sys.stdout.flush()
    if beside is None and format in COLUMNAR and sys.stdout.isatty():
        hint = "give `--output FILE`, or another format"
        raise ExpressionError("usage", f"`{format}` is not for a terminal", hint=hint)
    place: Any = sys.stdout.buffer if beside is None else beside.file
    made = sink(place, line.bound.schema, format, digits=told.digits, spreadsheet=data.spreadsheet)
    try:
        code = line.run(made, beside, fail=inputs.fail)
    except OSError as fault:
        if beside is None:
            raise
        raise beside.unwritten(fault) from None
    line.tally.say()
    return code


def _one_by_one(
    inputs: Inputs, data: Data, text: str, format: str, method: Method[Any], told: RowQuestion, stack: ExitStack,
    file: File | None,
) -> int:  # fmt: skip
    """Few rows, or numbers that are no doubles: by the plain way."""
    from ..data.pipeline import Tally

    flush = inputs.output is None and _flushes(data)
    requests = _Rows(text, inputs, data, told.question)
    found = rows_of(data.sources, stack, sys.stdout.flush if flush else None, file, requests.fits)
    requests.begin(found)
    assert requests.known is not None
    called = asked(told.question, requests.known).names
    clash = next((name for name in requests.kept if name in (*called, "error")), None)
    if clash is not None:
        hint = "rename it, or leave it out of `--keep`"
        raise ExpressionError("usage", f"there is a column `{clash}` in the answers already", hint=hint)
    output = inputs.out()
    made = wide(format, output.stream, called, requests.kept, digits=told.digits, spreadsheet=data.spreadsheet)
    tally = Tally()

    def counted() -> Iterator[Request]:
        for request in requests.requests(found.rows):
            tally.rows += 1
            if request.error is not None:
                tally.note(request.error)
            yield request

    def answer(request: Request) -> Values:
        try:
            found = method(request)
        except ExpressionError as error:
            tally.note(error)
            raise
        if found.warnings:
            tally.kinks.note(found.warnings)
        return Values(told.numbers(found))

    with requests.interruptible():
        code = answer_requests(counted(), answer, made, flush, fail=inputs.fail)
    if not (inputs.fail and code):
        output.finish(code, whole=True)
    elif inputs.output is not None:
        output.stream.close()
    if inputs.output is None:
        output.stream.flush()
    tally.say()
    return code


class PeekedFile:
    """A file whose beginning has been read to see how long it is."""

    def __init__(self, file: File) -> None:
        self.file = file
        parts: list[bytes] = []
        size = 0
        ended = False
        while size < FEW_BYTES and not ended:
            data = file.read1(FEW_BYTES)
            ended = not data
            parts.append(data)
            size += len(data)
        self.head = b"".join(parts)
        self.is_short = ended and self.head.count(b"\n") < FEW_ROWS

    def read1(self, size: int = -1) -> bytes:
        """Some bytes, none at the end."""
        if self.head:
            given, self.head = self.head, b""
            return given
        data: bytes = self.file.read1(size)
        return data

    def close(self) -> None:
        """Close the file."""
        self.file.close()


# ---- the plain way ------------------------------------------------------------------------------------------------
class RowInputs(NamedTuple):
    """The names of the columns, where each row names its own those of the first, and the rows."""

    columns: list[str]
    rows: Iterator[TextRow]
    open: bool = False
    """Whether each row names its own."""
    types: Mapping[str, object] = MappingProxyType({})
    """What the columns hold, where that is known beforehand."""


class OpenSource:
    """A file that is closed in the end, unless it is standard input."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.file = opened(source)

    def __enter__(self) -> File:
        return self.file

    def __exit__(self, *_: object) -> None:
        if self.source.path != "-":
            self.file.close()


def rows_of(
    files: Sequence[Source],
    stack: ExitStack,
    idle: Callable[[], None] | None = None,
    file: File | None = None,
    fits: Callable[[Source, RowInputs], None] = lambda source, found: None,
) -> RowInputs:
    """The rows of all files, one after the other, until the stack is closed. Raises `ExpressionError`.

    `file` is the first of them, where it is open already; `idle` is called before waiting for more, and `fits` for each
    further file, to raise what does not go together.
    """
    first, *others = files
    found = _rows_of(first, stack, idle, file)
    if not others:
        return found

    def every() -> Iterator[TextRow]:
        for source in others:
            # what cannot be is said before anything is computed
            if not source.once:
                with ExitStack() as inner:
                    fits(source, _rows_of(source, inner, None, None))
        yield from found.rows
        for source in others:
            with ExitStack() as inner:
                more = _rows_of(source, inner, idle, None)
                fits(source, more)
                yield from more.rows

    return found._replace(rows=every())


def _rows_of(source: Source, stack: ExitStack, idle: Callable[[], None] | None, file: File | None) -> RowInputs:
    if source.columnar:
        from ..data.batches import reader

        batches = reader(source, lambda columns: ((), columns), False)
        stack.callback(batches.close)

        def each() -> Iterator[TextRow]:
            number = 0
            for chunk in batches.chunks():
                for cells in chunk.batch.to_pylist():
                    number += 1
                    yield number, cells, None

        types = {field.name: field.type for field in batches.schema}
        return RowInputs(list(batches.names), each(), types=types)
    if file is None:
        file = stack.enter_context(OpenSource(source))
    columns, found, _ = table(Texts(file, source.path, idle), source.path, source.format)
    if columns is not None:
        return RowInputs(columns, found)
    columns, found = with_names(found)
    return RowInputs(columns, found, open=True)


def _note(known: Fitted) -> None:
    """Say how the formula was read, where that is not as it was typed."""
    if known.reading is not None:
        note("", known.reading.text)


class _Rows:
    """The rows as requests."""

    def __init__(self, text: str, inputs: Inputs, data: Data, question: str) -> None:
        self.text, self.data, self.question, self.lenient = text, data, question, inputs.lenient
        self.output = inputs.output
        self.constants = default_point(inputs.at, inputs.reading)
        self.wrt = names(inputs.wrt)
        self.kept: tuple[str, ...] = ()
        self.used: dict[str, str] = {}
        """The columns that the program uses, by the names of its variables."""
        self.known: Fitted | None = None
        self.asked = 0

    def begin(self, file: RowInputs) -> None:
        """Know the columns, and so which names have values."""
        columns = file.columns
        self.kept = kept_columns(self.data.keep, columns)
        found = mapped_columns(self.data.columns, columns)
        try:
            several = self.question == "jacobian"
            known = fitted(self.text, list(found), self.constants, self.wrt, outputs=several, lenient=self.lenient)
        except ExpressionError as error:
            error.text = self.text if error.text is None else error.text
            raise
        _note(known)
        self.known = known
        self.used = {name: found[name] for name in known.variables if name in found}
        self.check(file)

    def check(self, file: RowInputs) -> None:
        """Raise what is wrong with the types of the columns that are used."""
        for column in self.used.values():
            if column in file.types:
                check_type(column, file.types[column])

    def fits(self, source: Source, file: RowInputs) -> None:
        """Raise an error where a further file does not have the columns of the first."""
        lacking = [name for name in (*self.used.values(), *self.kept) if name not in file.columns and not file.open]
        if lacking:
            raise no_such(lacking[0], source.name, self.data.sources[0].name)
        self.check(file)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Say how far it was where it is interrupted."""
        try:
            yield
        except KeyboardInterrupt:
            interrupted(self.asked, self.output)
            raise

    def requests(self, rows: Iterator[TextRow]) -> Iterator[Request]:
        """What to answer, row by row."""
        wrt, text = self.wrt, self.text
        for line, cells, error in rows:
            self.asked += 1
            assert self.known is not None
            kept = {name: plain_cell(cells.get(name)) for name in self.kept} if self.kept else None
            asked = Asked(text, line, None, kept, self.known.reading)
            try:
                if error is not None:
                    raise error
                point = {
                    **self.constants,
                    **{name: value(column, cells.get(column)) for name, column in self.used.items()},
                }
            except ExpressionError as fault:
                fault.text = fault.text or ""
                yield Request(asked, text, {}, None, fault)
                continue
            yield Request(asked, self.known.program.text, point, wrt)
