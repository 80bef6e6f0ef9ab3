"""`--points`: one program at every row of data, whose columns say which is which variable.

Long answers, and few rows of text, are computed one by one; wide ones of many rows go through the pipeline.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batched.columns_io import Fitted, kept_columns, mapped_columns
from ..data.readers import Files, Reader, check_columns, reader
from ..data.rows import asked, check_clash, rows
from ..data.sinks import plain_cell, sink
from ..data.sources import Source, has_arrow, sources
from ..data.text_rows import numbers_in
from ..errors import ExpressionError
from ..extras import install_command
from ..inputs.arithmetic import DOUBLE, Arithmetic
from ..numbers.budget import reported
from ..streams.files import begun
from ..streams.filesystems import arrow, is_url, plain
from ..streams.interruption import interrupted
from ..streams.requests import Request, default_point, mapping, names, whole
from ..views.error import write_reading, write_stderr
from ..views.formats import COLUMNAR, Asked, format_of, lacking, undocumented, writer
from ..views.schema import View
from ..views.wide import WIDE, Values, wide
from . import options
from .runner import Answer, Inputs, Method, answer_requests, is_file

if TYPE_CHECKING:
    from ..data.pipeline import Tally
    from ..data.rows import Bound, Rows


class RowQuestion(NamedTuple):
    """A question as rows ask it: its name, and how an answer becomes numbers in a line."""

    question: str
    numbers: Callable[[Any], Sequence[Any]]
    arithmetic: Arithmetic
    digits: int | None
    whole: str | None = None
    """The option that asks for what wide rows have no place for."""


class _Job(NamedTuple):
    """A program, the rows that are its points, and how the answers are written."""

    text: str
    inputs: Inputs
    chosen: options.Rows
    sources: Sequence[Source]
    columns: Mapping[str, str]
    """Which column has the values of which variable."""
    keep: tuple[str, ...] | bool
    question: RowQuestion
    format: str
    wide: bool

    @property
    def rows(self) -> Rows:
        """The question asked of each row."""
        return rows(
            self.text,
            at=default_point(self.inputs.at, self.inputs.reading),
            wrt=names(self.inputs.wrt),
            keep=self.keep,
            columns=self.columns,
            backend=self.chosen.backend,
            question=self.question.question,
            lenient=self.inputs.lenient,
        )

    @property
    def flush(self) -> bool:
        """Whether answers are printed as they come."""
        waits = any(source.once and not (source.path == "-" and is_file(sys.stdin)) for source in self.sources)
        return self.inputs.output is None and (waits or sys.stdout.isatty())


def answer_rows(
    inputs: Inputs, chosen: options.Rows, method: Method[Answer], view: View[Answer], question: RowQuestion
) -> int:
    """Answer the program at every row of the data that the options name; return the exit code."""
    from_files = sources(chosen.points or (), chosen.input_format)
    columns = mapping(chosen.columns)
    kept = [name.strip() for option in chosen.keep or () for name in option.split(",")]
    keep = True if chosen.keep_all else tuple(dict.fromkeys(kept))
    text = _program(inputs)
    folder = _folder(inputs.output, chosen.engine)
    if folder is not None:
        format, is_wide = inputs.format or "parquet", True
    else:
        _check_output(inputs.output, from_files)
        usual = "csv" if chosen.wide else "jsonl"
        format = format_of(inputs.format, inputs.output, (*view.formats, *COLUMNAR), usual, view.endings)
        if inputs.document and (chosen.wide or format != "latex"):
            raise undocumented(view.formats)
        is_wide = chosen.wide or format in ("table", "markdown", *COLUMNAR)
    job = _Job(text, inputs, chosen, from_files, columns, keep, question, format, is_wide)
    if is_wide and question.whole is not None:
        hint = "`--format jsonl` without `--wide` has a place for it"
        raise ExpressionError("usage", f"`{question.whole}` is not for wide rows", hint=hint)
    if not is_wide and chosen.backend is not None:
        raise ExpressionError("usage", "`--backend` is about wide rows", hint="add `--wide`, or leave it out")
    if folder is not None:
        return _in_parts(job, folder)
    with ExitStack() as stack:
        first: Reader | None = None
        one_by_one = not is_wide or _needs_no_batches(job)
        if not one_by_one and chosen.backend is None and len(from_files) == 1 and _is_textual(job):
            first = stack.enter_context(reader(from_files[0]))
            one_by_one = first.is_short
        return _one_by_one(job, method, view, stack, first) if one_by_one else _piped(job, stack, first)


def _program(inputs: Inputs) -> str:
    """The one program that the rows are points of."""
    if inputs.file is not None:
        text, fault = whole(inputs.file)
        if fault is not None:
            fault.text = text
            raise fault
        return text
    if inputs.expr is None or inputs.expr == "-":
        raise ExpressionError("usage", "`--points` needs a program", hint="give it as an argument, or with `--file`")
    return inputs.expr


def _check_output(output: str | None, read: Sequence[Source]) -> None:
    """Raise an error where what is written is what is read."""
    for source in read if output is not None else ():
        assert output is not None
        if _same(source.path, plain(output)):
            message = f"`{output}` is read, and cannot be written at the same time"
            raise ExpressionError("io", message, hint="give another name to `--output`")


def _same(path: str, other: str) -> bool:
    """Whether two paths are those of one file."""
    if path == other or is_url(path) or is_url(other):
        return path == other != "-"
    return path != "-" and os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


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


def _is_textual(job: _Job) -> bool:
    """Whether rows of text become rows of text."""
    return job.format in WIDE and not any(source.columnar for source in job.sources)


def _is_double(job: _Job) -> bool:
    """Whether numbers are doubles. Raises a usage error for others where the format holds none."""
    if job.question.arithmetic != DOUBLE and job.format not in WIDE:
        message = f"`--format {job.format}` holds doubles, and no other numbers"
        raise ExpressionError("usage", message, hint="write csv or jsonl, or leave the arithmetic out")
    return job.question.arithmetic == DOUBLE


def _needs_no_batches(job: _Job) -> bool:
    """Whether wide rows have to be computed one by one. Raises a usage error where that cannot be."""
    backend = job.chosen.backend
    if not _is_double(job):
        if backend not in (None, "python"):
            message = f"`--backend {backend}` computes in doubles"
            raise ExpressionError("usage", message, hint="leave one of them out")
        return True
    if not _is_textual(job) or (backend != "python" and has_arrow()):
        return False
    if backend in ("llvm", "numpy"):
        hint = f"install it: `{install_command('data')}`"
        raise ExpressionError("usage", f"`--backend {backend}` needs the extra `data`", hint=hint)
    return True


# ---- batches ------------------------------------------------------------------------------------------------------
def _in_parts(job: _Job, folder: str) -> int:
    """Many rows, as the parts of a folder; what is counted of them is the answer."""
    arrow("for parts")
    from ..data import cluster
    from ..data.pipeline import select

    if job.format not in cluster.FORMATS:
        raise lacking(job.format, cluster.FORMATS)
    if not _is_double(job):
        message = f"`--engine {job.chosen.engine}` computes in doubles"
        raise ExpressionError("usage", message, hint="leave the engine, or the arithmetic, out")
    folder = cluster.absolute(folder)
    for source in job.sources:
        if source.once:
            hint = "name a file, or leave `--engine` out"
            raise ExpressionError("usage", f"{source.name} cannot be read in parts", hint=hint)
        if cluster.absolute(source.path).startswith(folder):
            hint = "give another folder to `--output`"
            raise ExpressionError("io", f"`{source.path}` is read, and lies in `{folder}`", hint=hint)
    formula = job.rows
    with Files(job.sources, several=len(job.sources) > 1) as files:
        bound = select(files, formula)
        parts = cluster.divided(files)
    _report_how(bound, job)
    shared = cluster.Job(
        formula,
        files.first.selection,
        files.several,
        folder,
        job.format,
        job.question.digits,
        job.chosen.spreadsheet,
        job.inputs.fail,
    )
    return cluster.run(shared, parts, job.chosen.scheduler, job.chosen.workers, force=job.inputs.force)


def _piped(job: _Job, stack: ExitStack, first: Reader | None) -> int:
    """Many rows, by batches."""
    arrow("for these rows")
    from ..data.pipeline import Tally, run, select

    formula = job.rows
    files = stack.enter_context(Files(job.sources, first, several=len(job.sources) > 1))
    bound = select(files, formula)
    files.look_into(lambda file: None)
    _report_how(bound, job)
    output = job.inputs.output
    beside = None if output is None else begun(plain(output), force=job.inputs.force)
    if beside is not None:
        stack.callback(beside.drop)
    elif job.format in COLUMNAR and sys.stdout.isatty():
        hint = "give `--output FILE`, or another format"
        raise ExpressionError("usage", f"`{job.format}` is not for a terminal", hint=hint)
    else:
        sys.stdout.flush()
    place: Any = sys.stdout.buffer if beside is None else beside.file
    to = sink(place, bound.schema, job.format, digits=job.question.digits, spreadsheet=job.chosen.spreadsheet)
    tally = Tally()
    try:
        code = run(files, bound, to, beside, tally, fail=job.inputs.fail)
    except OSError as fault:
        if beside is None:
            raise
        raise beside.unwritten(fault) from None
    tally.report()
    return code


def _report_how(bound: Bound, job: _Job) -> None:
    """Print how the formula was read, and what computes it, where either is not as one would think."""
    _report_reading(bound.known)
    if bound.kernel.note is not None and job.chosen.backend != "python":
        write_stderr(f"note: {bound.kernel.note}\n")


def _report_reading(fit: Fitted) -> None:
    """Print how the formula was read, where that is not as it was typed."""
    if fit.reading is not None:
        write_reading("", fit.reading.text)


# ---- one by one ---------------------------------------------------------------------------------------------------
def _one_by_one(job: _Job, method: Method[Answer], view: View[Answer], stack: ExitStack, first: Reader | None) -> int:
    """Long answers, few rows, or numbers that are not doubles."""
    from ..data.pipeline import Tally

    flush = job.flush
    idle = sys.stdout.flush if flush else None
    tally = Tally()
    files = stack.enter_context(Files(job.sources, first, idle=idle))
    requests = _Requests(job, files, tally)
    digits, spreadsheet = job.question.digits, job.chosen.spreadsheet
    if job.wide:
        results = asked(job.question.question, requests.known).names
        check_clash(requests.kept, (*results, "error"))
        output = job.inputs.out()
        out: Any = wide(job.format, output.stream, results, requests.kept, digits=digits, spreadsheet=spreadsheet)
    else:
        if job.format in ("csv", "tsv"):
            if job.keep is True:
                hint = "name the columns: `--keep a,b`, or write wide rows: `--wide`"
                raise ExpressionError("usage", "`--keep-all` is for wide rows, and for records", hint=hint)
            check_clash(
                [name for name in requests.kept if name != "id"], view.columns, "`--format jsonl` keeps them apart"
            )
        output = job.inputs.out()
        out = writer(
            job.format,
            output.stream,
            view,
            True,
            spreadsheet=spreadsheet,
            document=job.inputs.document,
            kept=requests.kept,
        )

    def answer(request: Request) -> Any:
        try:
            with reported():
                result = method(request)
        except ExpressionError as error:
            tally.note(error)
            raise
        if result.warnings:
            tally.kinks.note(result.warnings)
        return Values(job.question.numbers(result)) if job.wide else result

    with requests.interruptible():
        code = answer_requests(requests.each(), answer, out, flush, fail=job.inputs.fail)
    if job.wide and job.inputs.fail and code and job.inputs.output is not None:
        output.stream.close()
    else:
        output.finish(code, whole=True)
    if job.wide:
        sys.stdout.flush()
        tally.report()
    return code


class _Requests:
    """The rows as requests."""

    def __init__(self, job: _Job, files: Files, tally: Tally) -> None:
        self.job, self.files, self.tally = job, files, tally
        self.constants = default_point(job.inputs.at, job.inputs.reading)
        self.kept = kept_columns(job.keep, files.first.names)
        columns = mapped_columns(job.columns, files.first.names)
        self.known = job.rows.fitted(list(columns))
        _report_reading(self.known)
        self.used = {name: columns[name] for name in self.known.variables if name in columns}
        """The columns that the program uses, by the names of its variables."""
        files.check = lambda file: check_columns(file, self.used.values(), self.kept, files.first.source.name)
        files.check(files.first)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Print how far it was where it is interrupted."""
        try:
            yield
        except KeyboardInterrupt:
            interrupted(self.tally.rows, self.job.inputs.output)
            raise

    def each(self) -> Iterator[Request]:
        """The requests of rows, one by one."""
        text, program, reading = self.job.text, self.known.program.text, self.known.reading
        columns = [*self.used.values()]
        wrt = names(self.job.inputs.wrt)
        # what cannot be is reported before anything is computed
        self.files.look_into(lambda file: None)
        for file in self.files:
            for row in file.rows():
                self.tally.rows += 1
                line, cells, _ = row
                kept = {name: plain_cell(cells.get(name)) for name in self.kept} if self.kept else None
                about = Asked(text, line, None, kept, reading)
                numbers, fault = numbers_in(row, columns)
                if fault is None:
                    point = {**self.constants, **{name: numbers[column] for name, column in self.used.items()}}
                    yield Request(about, program, point, wrt)
                else:
                    self.tally.note(fault)
                    fault.text = fault.text or ""
                    yield Request(about, text, {}, None, fault)
