"""`--points` and sweeps: a program at every row of data, or of a grid.

Long answers and few rows of text are computed row by row; many wide rows in the pipeline.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..compiled.backends import needs_data, unavailable_backend
from ..compiled.columns_io import Fitted, kept_columns, mapped_columns, missing_hint
from ..data.columns import report_headings
from ..data.pipeline import Tally, run
from ..data.readers import SWEEP, Files, Reader, reader
from ..data.rows import (
    FLAT,
    Rows,
    check_clash,
    checked_units,
    plain_cell,
    row_request,
    row_units,
    rows,
)
from ..data.sources import TEXT, Source, has_arrow, sources
from ..data.text_dialects import ForcedDialect
from ..engine.numbers.budget import limit_errors
from ..errors import Diagnostic, ExpressionError, needs_error, quote, usage_error
from ..language.diagnostics.leniency import read_leniently
from ..language.tokens import bound_names, has_unit_literals, plain_number
from ..operating_system import is_folder_name
from ..questions.arithmetic import DOUBLE
from ..questions.column_uncertainties import usual_names
from ..questions.measured_value import MeasuredValue, Spread, normal, quantity
from ..questions.optional_units import (
    NONE,
    check_percentage,
    column_units,
    in_unit_of,
    left_out,
    names_in_headings,
    unit_in_heading,
    units_in_headings,
    uses_angles,
)
from ..questions.parse_point import is_name
from ..questions.problem import Quantity, parse, unused_name
from ..questions.sweeps import Grid
from ..show.error import write_note, write_reading
from ..show.formats import COLUMNAR, OF_ROWS, Writer, format_of, no_document, unknown_format, writer
from ..show.numerals import heading
from ..show.subject import Subject
from ..show.wide import WIDE, DeferredWideWriter, Values, WideRows, open_writer
from ..streams.files import Output, begin_file
from ..streams.files import check as check_file
from ..streams.filesystems import get_arrow, hidden_name, is_url, local_path, unwritable
from ..streams.progress import interrupted
from ..streams.requests import Request, default_point, mapping, read_program
from .option_values import Method
from .runner import Command, RowQuestion, answer_requests, is_file, warn

if TYPE_CHECKING:
    from ..data.rows import CompiledRows, RowUnits
    from ..engine.quantities.unit import Unit


class _AnswerForm(NamedTuple):
    """The format of answers to rows, and whether a row of the output is one of the data."""

    format: str
    wide: bool
    is_textual: bool
    folder: str | None
    """The folder for the parts that several workers write."""
    file: str | None = None
    """The one file that these become."""

    @property
    def for_people(self) -> bool:
        return self.format in ("table", "markdown")

    @property
    def has_warnings(self) -> bool:
        """Whether each record has its own; csv and plain lines have no place for them."""
        return not self.wide and self.format in ("json", "jsonl")


def _form_of(
    call: Command, grid: Grid | None, read: Sequence[Source], batched: bool
) -> _AnswerForm:
    folder, file = _folder(call.output, call.engine)
    if file is not None:
        _check_output(file, read)
        check_file(file, force=call.force)
        format_, wide = format_of(call.format, file, (*COLUMNAR, *TEXT), "parquet"), True
    elif folder is not None:
        format_, wide = call.format or "parquet", True
    else:
        format_ = _format_of_rows(call, grid, read, batched)
        wide = call.wide or format_ in ("table", "markdown", *OF_ROWS)
        wide = wide or (grid is not None and format_ in ("csv", "tsv", "plain"))
    return _AnswerForm(
        format_, wide, format_ in WIDE and not any(source.columnar for source in read), folder, file
    )


def _format_of_rows(call: Command, grid: Grid | None, read: Sequence[Source], batched: bool) -> str:
    """Return the format of answers that do not go into a folder; checks the output file."""
    view = call.view
    if call.output is not None:
        _check_output(call.output, read)
    for_people = call.output is None and batched and sys.stdout.isatty()
    usual = "csv" if call.wide else "table" if grid is not None or for_people else "jsonl"
    swept = [name for name in WIDE if grid is not None and name not in view.formats]
    formats = (*view.formats, *swept, *OF_ROWS)
    format_ = format_of(call.format, call.output, formats, usual, view.endings)
    if call.document and (call.wide or format_ != "latex"):
        raise no_document(view.formats)
    return format_


class _RowsUnits:
    """The units that are typed and asked for, which all rows share."""

    def __init__(self, text: str, asked: Sequence[str] | None) -> None:
        self.are_left_out = left_out(asked)
        self.asked: Sequence[str] | None = None if self.are_left_out else asked
        self.has_literals = has_unit_literals(text)
        # The units of values shared by all rows, and of sweeps beside data.
        self.typed: Mapping[str, Unit] = {}
        self.reported: set[str] = set()
        # The factors that bring uncertainties to the units of their columns.
        self.factors: Mapping[str, float] = {}

    @property
    def are_given(self) -> bool:
        return bool(self.asked or self.typed) or self.has_literals


class _RowsJob:
    """A program, its points in rows, and the format of answers."""

    def __init__(self, call: Command, grid: Grid | None, question: RowQuestion) -> None:
        self.call, self.grid, self.question = call, grid, question
        self.sources = (
            sources(call.points, ForcedDialect.group_options(call)) if call.points else [SWEEP]
        )
        self.columns = mapping(call.columns)
        kept = [name.strip() for option in call.keep or () for name in option.split(",")]
        self.keep: tuple[str, ...] | bool = True if call.keep_all else tuple(dict.fromkeys(kept))
        self.text = _program(call)
        self.point: Mapping[str, float] = (
            default_point(call.at, call.reading) if grid is None else grid.fixed
        )
        self.form = _form_of(call, grid, self.sources, question.batched)
        self.units = _RowsUnits(self.text, question.units or call.values.get("units"))
        if (
            any(isinstance(value, Quantity) for value in self.first.values())
            or self.units.has_literals
        ):
            if self.is_data and question.batched:
                self._take_units_apart()
            else:
                # batches contain numbers without units
                self.question = question._replace(batched=False)

    def _take_units_apart(self) -> None:
        """Keep the units of shared values and of sweeps for themselves."""
        typed = {name: x.unit for name, x in self.point.items() if isinstance(x, Quantity)}
        if self.grid is not None:
            self.grid, swept = self.grid.without_units()
            typed |= swept
        self.units.typed = typed

    @property
    def is_data(self) -> bool:
        return bool(self.call.points)

    @property
    def axes(self) -> Mapping[str, Any]:
        return {} if self.grid is None else self.grid.axes

    @property
    def first(self) -> dict[str, float]:
        """The known values of the first point; for a grid alone, all."""
        return {**self.point, **{name: axis.value(0) for name, axis in self.axes.items()}}

    def fit(self, files: Files) -> None:
        """Choose the columns for the program, and print how these were read. Raises
        `ExpressionError`.
        """
        names = files.first.names
        if self.keep is True and self.grid is not None:
            self.keep = tuple([name for name in names if name not in self.axes])
        self.kept = kept_columns(self.keep, names)
        shared = [name for name, value in self.point.items() if not isinstance(value, Spread)]
        bound = () if self.question.equations else bound_names(self.text)
        self.mapped = mapped_columns(self.columns, names, [*shared, *bound])
        self.fitted = self._fitted(self.mapped)
        self.used = {
            name: self.mapped[name] for name in self.fitted.variables if name in self.mapped
        }
        if self.fitted.reading is not None:
            write_reading("", self.fitted.reading.text)
        report_headings(self.used, self.columns)

    @property
    def leading(self) -> tuple[str, ...]:
        """The names of the point in wide rows: varying ones; data columns only in tables."""
        if not self.form.wide or not (self.grid is not None or self.form.for_people):
            return ()
        others = {*self.axes, *self.kept}
        own = [
            (name, column)
            for name, column in self.mapped.items()
            if name in self.used and self.is_data
        ]
        of_data = [name for name, column in own if not {name, column} & others]
        shared = (
            [] if self.form.for_people else [name for name in self._share() if name not in of_data]
        )
        return (*of_data, *self.axes, *shared)

    def _fitted(self, columns: Collection[str]) -> Fitted:
        if self.question.batched and self.is_data:
            of_rows = self.rows().fit_to(list(columns))
            self._check_use(of_rows.variables)
            return of_rows
        named = [name for name in columns if is_name(name) and name not in self.axes]
        point = {**self.first, **dict.fromkeys(named, 1.0)}

        def fit(text: str) -> Fitted:
            if self.question.posed is None:
                return Fitted(parse(text, point), tuple(point), ())
            problem = self.question.posed(text, point)
            variables = problem.program.variables
            self._check_use(variables, problem.unknowns)
            if not self.is_data:
                # an entry may look like a sweep, `x[1]` like `x1`
                entries = [name for name in columns if name not in self.first]
                others = [unused_name(problem.program, name).message for name in entries]
                unread = [warning for warning in problem.warnings if warning.kind == "unused"]
                warn([warning for warning in unread if warning.message not in others], self.text)
            wanted, unknowns = tuple(problem.wanted), tuple(problem.unknowns)
            unused = [name for name in problem.program.unused_entries if name not in columns]
            return Fitted(problem.program, (*variables, *unused), wanted, unknowns=unknowns)

        try:
            if not self.call.lenient:
                return fit(self.text)
            return read_leniently(self.text, fit)[0]._replace(reading=None)
        except ExpressionError as error:
            error.text = self.text if error.text is None else error.text
            if error.kind == "missing_value" and error.span is not None and self.is_data:
                name = error.text[error.span.start : error.span.end]
                error.diagnostic = error.diagnostic._replace(hint=missing_hint(name, [*columns]))
            raise

    def _check_use(self, used: Collection[str], unknowns: Collection[str] = ()) -> None:
        if self.grid is not None:
            self.grid.check_use(used, unknowns)

    def _share(self) -> list[str]:
        # values of unknowns are starts
        shared = [name for name in self.point if name in self.fitted.variables]
        return [name for name in shared if name not in self.fitted.unknowns]

    def layout(self) -> dict[str, Any]:
        once = self._share() if self.form.for_people and self.grid is not None else []
        fixed = {
            name: self.point[name] for name in once if not isinstance(self.point[name], Spread)
        }
        return {
            "digits": self.call.view.digits,
            "fixed": fixed,
            "spreadsheet": self.call.spreadsheet,
        }

    def rows(self, point: tuple[str, ...] = ()) -> Rows:
        return rows(
            self.text,
            at={name: getattr(x, "number", x) for name, x in self.point.items()},
            wrt=self.call.variables,
            keep=self.keep,
            columns=self.columns,
            backend=self.call.backend,
            question=self.call.command,
            lenient=self.call.lenient,
            point=point,
        )

    def columns_with_units(
        self, files: Files, uncertain: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, Unit]:
        shared = {
            name: x.in_unit for name, x in self.point.items() if isinstance(x, Spread) and x.in_unit
        }
        if not self.is_data or self.units.are_left_out:
            for name, of_spread in shared.items():
                message = f"the uncertainty of `{name}` is in {of_spread}, and units are ignored"
                raise ExpressionError(
                    "point", message, hint=f"give it as a number, or leave `--in {NONE}` out"
                )
            return {}
        used = {name: column for name, column in self.used.items() if name not in self.axes}
        texts = units_in_headings({**used, **_spread_columns(uncertain)}, files.first.units)
        is_asked = self.units.are_given or any(hasattr(x, "unit") for x in self.first.values())
        for name in texts.keys() & used.keys():
            if isinstance(
                own_spread := self.point.get(name), Spread
            ) and own_spread.source.endswith("%"):
                check_percentage(name, texts[name])
        units, notes = column_units(used, texts, is_asked, angles=uses_angles(self.fitted.program))
        warn(notes, self.text)
        self.units.factors = _spread_factors(used, uncertain, shared, units, texts)
        return units

    def row_units(self, columns: Mapping[str, Unit]) -> RowUnits | None:
        if not self.question.batched or not self.is_data or self.call.arithmetic != DOUBLE:
            return None
        if not (columns or self.units.are_given):
            return None
        units = row_units(
            self.call.command, self.fitted, {**self.units.typed, **columns}, self.units.asked
        )
        if not self.form.has_warnings:
            self.report_scales(units.warnings)
        return units

    def report_scales(self, warnings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Print once what is to be known of the units of all rows, which records have in each;
        return the other warnings.
        """
        of_units = {warning.message: warning for warning in warnings if warning.kind == "unit"}
        new = [each for message, each in of_units.items() if message not in self.units.reported]
        if new:
            self.units.reported |= of_units.keys()
            warn(new, self.text)
        return tuple([warning for warning in warnings if warning.kind != "unit"])


def answer_rows(call: Command, grid: Grid | None, method: Method, question: RowQuestion) -> int:
    """Answer the program at every row of data or a grid; return the exit code.

    With both, each row of the data is combined with all points of the grid, which vary fastest.
    """
    job = _RowsJob(call, grid, question)
    if job.form.wide and question.unsupported is not None:
        hint = "use `--format jsonl` without `--wide`"
        raise usage_error(f"`{question.unsupported}` does not apply to wide rows", hint)
    if not job.form.wide and call.backend is not None:
        raise needs_error("--backend", "`--wide`")
    if job.form.folder is not None:
        return _in_parts(job, job.form.folder)
    with ExitStack() as stack:
        if _has_no_batches(job):
            return _one_by_one(job, method, stack, None)
        first: Reader | None = None
        if call.backend is None and len(job.sources) == 1 and job.form.is_textual:
            first = stack.enter_context(reader(job.sources[0], grid=job.grid))
            if first.is_short():
                return _one_by_one(job, method, stack, first)
        return _piped(job, stack, first)


def _has_no_batches(job: _RowsJob) -> bool:
    """Return whether rows are answered one by one, however many there are."""
    if not job.form.wide or not job.question.batched or _needs_no_batches(job):
        return True
    return job.form.for_people and job.form.is_textual and job.call.backend is None


def _program(call: Command) -> str:
    call.require_program("`--points` needs a program")
    text, fault = (str(call.expr), None) if call.file is None else read_program(call.file)
    if fault is not None:
        fault.text = text
        raise fault
    return text


def _check_output(output: str, read: Sequence[Source]) -> None:
    target = local_path(output)
    for path in [source.path for source in read if source.path != "-"]:
        are_local = not is_url(path) and not is_url(target)
        there = are_local and os.path.exists(path) and os.path.exists(target)
        if path == target or (there and os.path.samefile(path, target)):
            message = f"`{output}` is an input, and cannot be the output too"
            raise ExpressionError("io", message, hint="give another name to `--output`")


def _folder(output: str | None, engine: str | None) -> tuple[str | None, str | None]:
    """Return the folder that workers write into, and the one file that becomes of it."""
    path = None if output is None else local_path(output)
    is_folder = path is not None and (
        is_folder_name(path) or (not is_url(path) and os.path.isdir(path))
    )
    if engine is None:
        if is_folder:
            hint = "name a file; or have Dask's workers write files into it: `--engine dask`"
            raise usage_error(f"`{output}` is a folder", hint)
        return None, None
    if path is None:
        raise needs_error("--engine", "a folder or a file", "`--output DIR/` or `--output FILE`")
    if not is_folder and os.path.splitext(path)[1]:
        # the parts stand beside the file
        place, name = os.path.split(path)
        return f"{place}/{hidden_name(name)}/".removeprefix("/" * (not place)), path
    return (path[:-1] if is_folder_name(path) else path).rstrip("/") + "/", None


def _needs_no_batches(job: _RowsJob) -> bool:
    if job.call.arithmetic != DOUBLE:
        if job.form.format not in WIDE:
            message = f"`--format {job.form.format}` holds only doubles"
            raise usage_error(
                message, f"write csv or jsonl, or leave `--{job.call.arithmetic.name}` out"
            )
        return True
    backend = job.call.backend
    if not job.form.is_textual or (backend != "python" and has_arrow()):
        return False
    if backend in ("llvm", "numpy"):
        raise unavailable_backend(backend, needs_data())
    return True


# ---- batches
def _in_batches(job: _RowsJob, files: Files) -> tuple[Rows, CompiledRows]:
    job.fit(files)
    units = job.row_units(job.columns_with_units(files))
    formula = job.rows(job.leading)
    formula = formula if units is None else formula.in_units(job.fitted, units)
    wanted = dict.fromkeys((*job.fitted.variables, *job.fitted.wanted))
    numbers = [job.mapped[name] for name in wanted if name in job.mapped]
    selection = files.first.select(numbers, job.kept, as_text=job.form.is_textual)
    files.checks.append(lambda file: file.select_like(selection))
    bound = formula.bind_to(selection.schema)
    files.require(job.used)
    if bound.kernel.note is not None and job.call.backend != "python":
        write_note(f"note: {bound.kernel.note}")
    return formula, bound


def _in_parts(job: _RowsJob, folder: str) -> int:
    get_arrow("for parts")
    from ..data import cluster

    call = job.call
    if job.form.format not in cluster.FORMATS:
        raise unknown_format(job.form.format, cluster.FORMATS)
    folder = cluster.absolute_path(folder)
    for source in job.sources:
        if source.once:
            hint = "name a file, or leave `--engine` out"
            raise usage_error(f"{source.name} cannot be read in parts", hint)
        if cluster.absolute_path(source.path).startswith(folder):
            hint = "give another folder to `--output`"
            raise ExpressionError(
                "io", f"`{source.path}` is an input in the output folder `{folder}`", hint=hint
            )
    with Files(job.sources, several=len(job.sources) > 1, grid=job.grid) as files:
        formula, _ = _in_batches(job, files)
        parts = cluster.divide_rows(files)
    fail = call.on_error == "fail"
    selection = files.first.selection
    shared = cluster.Job(
        formula, selection, files.several, folder, job.form.format, job.layout(), fail, job.grid
    )
    return cluster.run(
        shared, parts, call.scheduler, call.workers, force=call.force, file=job.form.file
    )


def _piped(job: _RowsJob, stack: ExitStack, first: Reader | None) -> int:
    get_arrow("for these rows")
    from ..data.sinks import open_sink

    files = stack.enter_context(
        Files(job.sources, first, several=len(job.sources) > 1, grid=job.grid)
    )
    formula, bound = _in_batches(job, files)
    files.map_files(lambda file: None)
    output = job.call.output
    beside = None if output is None else begin_file(local_path(output), force=job.call.force)
    if beside is not None:
        stack.callback(beside.abandon)
    elif job.form.format in OF_ROWS and sys.stdout.isatty():
        raise usage_error(
            f"`{job.form.format}` is not for a terminal", "give `--output FILE`, or another format"
        )
    else:
        sys.stdout.flush()
    place: Any = sys.stdout.buffer if beside is None else beside.file
    heads = dict(formula.heads)
    leading = tuple([heads.get(name, name) for name in formula.point])
    to = open_sink(place, bound.schema, job.form.format, leading=leading, **job.layout())
    tally = Tally()
    try:
        code = run(files, bound, to, beside, tally, fail=job.call.on_error == "fail")
    except OSError as fault:
        if beside is None:
            raise
        raise unwritable(beside.path, fault) from None
    tally.report()
    return code


# ---- one by one
def _one_by_one(job: _RowsJob, method: Method, stack: ExitStack, first: Reader | None) -> int:
    waits = any(
        source.once and not (source.path == "-" and is_file(sys.stdin)) for source in job.sources
    )
    flush = job.call.output is None and (waits or sys.stdout.isatty())
    fail = job.call.on_error == "fail"
    tally = Tally()
    files = Files(job.sources, first, idle=sys.stdout.flush if flush else None, grid=job.grid)
    requests = _Requests(job, stack.enter_context(files), tally)
    if not job.form.wide and job.form.format in ("csv", "tsv"):
        _check_kept(job)
    output = job.call.out()
    out = _writer(job, output, requests, fail)
    begun, hints = time.monotonic(), job.question.batched and not job.form.wide

    def answer(request: Request) -> Any:
        nonlocal hints
        if (
            hints
            and not tally.rows % ROWS_BETWEEN_LOOKS
            and time.monotonic() - begun > PATIENCE_SECONDS
        ):
            hints = False
            write_note(
                "note: records have much beside the numbers; `--wide` writes one short line a row,"
                " many times faster"
            )
        try:
            with limit_errors():
                result = method(request)
        except ExpressionError as error:
            tally.note(error, requests.place)
            raise
        if result.warnings:
            tally.note_kinks(result.warnings)
        if result.warnings and not job.form.has_warnings:
            result = result._replace(warnings=job.report_scales(result.warnings))
        if job.form.wide:
            if job.question.batched:
                return Values(FLAT[job.call.command](result))
            return WideRows(job.call.view.cells(job.call.view.with_units(result)))
        if requests.units is None:
            return result
        # the point's numbers have the units of their columns
        at = {name: request.more["typed"].get(name, x) for name, x in result.point.items()}
        return result._replace(point=at, units=requests.units.answer)

    try:
        code = answer_requests(requests, answer, out, flush, fail=fail)
    except KeyboardInterrupt:
        interrupted(tally.rows, job.call.output)
        raise
    if job.form.wide and fail and code and job.call.output is not None:
        output.stream.close()
    else:
        output.finish(code, always=True)
    sys.stdout.flush()
    tally.report()
    return code


def _check_kept(job: _RowsJob) -> None:
    """Raise a usage error if csv cannot keep the columns that are asked for."""
    if job.keep is True:
        hint = "name the columns: `--keep a,b`, or write wide rows: `--wide`"
        raise usage_error("`--keep-all` is only for wide rows and records", hint)
    kept = [name for name in job.kept if name != "id"]
    check_clash(kept, job.call.view.columns, "`--format jsonl` keeps them apart")


def _writer(job: _RowsJob, output: Output, requests: _Requests, fail: bool) -> Any:
    if job.form.wide:
        out = _wide_writer(job, output, requests)
        out.carries_errors = not fail  # the one that ends the run is reported
        return out
    options = {"spreadsheet": job.call.spreadsheet, "document": job.call.document, "kept": job.kept}
    return writer(job.form.format, output.stream, job.call.view, True, **options)


def _wide_writer(job: _RowsJob, output: Output, requests: _Requests) -> Any:
    leading = tuple(requests.heads.values())
    kept = [*leading, *job.kept]

    def opened(results: Sequence[str]) -> Writer[Values]:
        check_clash(kept, (*results, "error"))
        if job.form.format in OF_ROWS:
            from ..data.sinks import Collected

            return Collected(output.stream.buffer, job.form.format, results, kept, len(leading))
        return open_writer(
            job.form.format,
            output.stream,
            results,
            kept,
            **job.layout(),
            leading=leading,
            numbered=job.is_data,
        )

    if not job.question.batched:
        return DeferredWideWriter(opened, output.stream)
    names = row_request(job.call.command, job.fitted).names
    heads = {} if requests.units is None else requests.units.heads(names)
    return opened([heads.get(name, name) for name in names])


# Rows of records between two looks at the clock: some 10 ms.
ROWS_BETWEEN_LOOKS = 256

# Seconds after which a person is told of the faster form.
PATIENCE_SECONDS = 2.0


def _uncertainty_columns(
    used: Mapping[str, str],
    names: Sequence[str],
    columns: Mapping[str, str],
    errors: str,
    shared: Iterable[float],
) -> dict[str, str]:
    own = _columns_by_name(names, [f"u({name})" for name in used])
    uncertain = {name: {**own, **columns}.get(f"u({name})", "") for name in used}
    uncertain = {name: own.get(column, column) for name, column in uncertain.items() if column}
    if errors == "auto":
        for name in used:
            if column := _usual_uncertainty(name, own, used) if name not in uncertain else None:
                uncertain[name] = column
        if uncertain:
            listed = ", ".join([f"u({name}) = {column}" for name, column in uncertain.items()])
            write_note(f"uncertainties: {listed}")
    if not uncertain and not any(
        hasattr(x, "uncertainty") or isinstance(x, Spread) for x in shared
    ):
        raise _no_uncertainty(next(iter(used), "x"), names)
    return uncertain


def _columns_by_name(columns: Sequence[str], spreads: Sequence[str]) -> dict[str, str]:
    """Return the columns by their names without units, and by themselves."""
    own = {**names_in_headings(columns), **{column: column for column in columns}}
    return own | {
        u: x for x in columns for u in spreads if x.startswith(u) and unit_in_heading(x, u)
    }


def _usual_uncertainty(
    name: str, columns: Mapping[str, str], used: Mapping[str, str]
) -> str | None:
    """Return the column with a usual name of a variable's uncertainty. Raises an error if there are
    several.
    """
    there = [
        columns[form]
        for form in usual_names(name)
        if form in columns and columns[form] not in used.values()
    ]
    if len(there) > 1:
        hint = f'say which: `--columns "u({name})={there[0]}"`'
        raise usage_error(f"{quote(there)} may be uncertainties of `{name}`", hint)
    return there[0] if there else None


def _no_uncertainty(name: str, columns: Sequence[str]) -> ExpressionError:
    spelled = usual_names(name)
    near = next((column for column in columns if column in spelled), f"d{name}")
    hint = f'name its column, `--columns "u({name})={near}"`'
    hint += f', or give all rows one: `--at "{name}=±0.02"`'
    hint += "; `--errors auto` takes columns with names such as `dx` or `u_x`, and none takes"
    hint += " `1.23(4)` in a cell"
    return usage_error("no value has an uncertainty", hint)


def _spread_factors(
    used: Iterable[str],
    uncertain: Iterable[str],
    shared: Mapping[str, str],
    units: Mapping[str, Unit],
    texts: Mapping[str, str],
) -> dict[str, float]:
    """Return the factors that bring uncertainties to the units of their columns; `shared` ones have
    their own units.
    """
    factors = {}
    of_spreads = {name: texts.get(f"u({name})", "") for name in uncertain} | dict(shared)
    for name in used:
        if name in of_spreads:
            unit = units.get(name)
            own = str(unit) if unit is not None and unit.atoms else texts.get(name, "")
            factors[name] = in_unit_of(name, [1.0], of_spreads[name], own, spread=True)[0]
    return factors


def _spread_columns(uncertain: Mapping[str, str]) -> dict[str, str]:
    return {f"u({name})": column for name, column in uncertain.items()}


class _Requests:
    """Yields rows of data, or points of sweeps, as requests."""

    def __init__(self, job: _RowsJob, files: Files, tally: Tally) -> None:
        self.job, self.files, self.tally = job, files, tally
        self.row = files.first, 0
        job.fit(files)
        for name, value in job.point.items():
            if name in job.used and not isinstance(value, Spread):
                message = f"`{name}` has a value in `--at`, and is a column of the data"
                raise ExpressionError("point", message, hint="leave one of them out")
        self.uncertain: Mapping[str, str] = {}
        if job.call.uncertain and job.is_data:
            names, shared = files.first.names, job.first.values()
            errors = job.call.errors or "columns"
            self.uncertain = _uncertainty_columns(job.used, names, job.columns, errors, shared)
        columns = job.columns_with_units(files, self.uncertain)
        self.units = self._shared_units(columns)
        self.in_units: Mapping[str, str] = {}
        if self.units is None:
            self._convert_each(columns)
        heads = {name: str(getattr(x, "unit", "")) for name, x in job.first.items()}
        heads |= (
            {}
            if self.units is None
            else {name: str(unit) for name, unit in self.units.point.items()}
        )
        heads |= self.in_units
        self.heads = {name: heading(name, heads.get(name)) for name in job.leading}
        self.columns = [*job.used.values(), *self.uncertain.values()]
        files.require({**job.used, **_spread_columns(self.uncertain)}, self.columns, job.kept)

    def _shared_units(self, columns: Mapping[str, Unit]) -> RowUnits | None:
        """Return the units of all answers; None if results have to be converted, which each answer
        does itself.
        """
        job = self.job
        has_own = job.units.asked or job.units.are_left_out or job.units.has_literals
        if has_own or not (job.form.wide or job.call.command != "hessian"):
            return None
        units = job.row_units(columns)
        return (
            None
            if units is None or any(linear != (1.0, 0.0) for linear in units.outputs)
            else units
        )

    def _convert_each(self, columns: Mapping[str, Unit]) -> None:
        """Have each row converted from the units of its columns."""
        job = self.job
        units = {name: unit for name, unit in job.units.typed.items() if name in job.used} | dict(
            columns
        )
        self.in_units = {name: str(unit) for name, unit in units.items()}
        if units and not job.call.uncertain and not job.question.equations:
            checked_units(job.fitted, {**job.units.typed, **columns}, job.units.asked)
        if units or job.units.are_given:
            job.question = job.question._replace(batched=False)

    def __iter__(self) -> Iterator[Request]:
        job, wrt = self.job, self.job.call.variables
        program, reading = job.fitted.program.text, job.fitted.reading
        shared = job.point
        if self.units is not None:
            shared = {name: getattr(x, "number", x) for name, x in job.point.items()}
        # report invalid requests before any computation
        self.files.map_files(lambda file: None)
        for file in self.files:
            for row in file.rows():
                self.tally.rows += 1
                line, cells, _ = row
                self.row = file, line
                numbers, fault = file.numbers_in(row, self.columns)
                own = {
                    name: numbers[column] for name, column in job.used.items() if column in numbers
                }
                typed = {**shared, **own}
                kept = self._kept(typed, cells)
                point = self._in_system(typed)
                if fault is None and (self.in_units or job.call.uncertain):
                    fault = self._add_quantities(point, numbers)
                swept = None if job.grid is None else typed
                about = Subject(job.text, line, None, kept or None, reading, point=swept)
                if fault is None:
                    yield Request(about, program, point, wrt, more={"typed": typed})
                else:
                    self.tally.note(fault, self.place)
                    fault.text = fault.text or ""
                    yield Request(about, job.text, {}, None, fault)

    def _kept(self, typed: Mapping[str, float], cells: Mapping[str, Any]) -> dict[str, Any]:
        """Return what answers repeat of a row: its point, and the columns that are kept."""
        kept = {
            head: getattr(x := typed.get(name), "number", x) for name, head in self.heads.items()
        }
        return kept | {name: plain_cell(cells.get(name)) for name in self.job.kept}

    def _in_system(self, typed: dict[str, float]) -> dict[str, float]:
        """Return a point in coherent units."""
        units = self.units
        if units is None or not units.inputs:
            return typed
        return typed | {
            name: units.in_system(name, typed[name]) for name in units.inputs if name in typed
        }

    def _add_quantities(
        self, point: dict[str, float], numbers: Mapping[str, float]
    ) -> ExpressionError | None:
        """Give the values of a row their units and uncertainties, or return the error."""
        try:
            point |= {name: self._value(name, numbers) for name in self.job.used}
        except ExpressionError as error:
            return error
        return None

    @property
    def place(self) -> str:
        """The place of the last row, for messages."""
        file, line = self.row
        kind = "point" if file.source == SWEEP else "row" if file.source.columnar else "line"
        return f"{file.prefix}{kind} {line}"

    def _value(self, name: str, numbers: Mapping[str, float]) -> float:
        shared, unit = self.job.point.get(name), self.in_units.get(name)
        value = numbers[self.job.used[name]]
        if name in self.uncertain:
            uncertainty = numbers[self.uncertain[name]] * self.job.units.factors.get(name, 1.0)
            value = normal(name, value, uncertainty, repr(value))
        elif isinstance(shared, Spread):
            factor, measured = (
                self.job.units.factors.get(name, 1.0),
                quantity(name, f"{value!r}{shared.source}"),
            )
            if factor != 1 and isinstance(measured, MeasuredValue):
                measured = normal(name, value, measured.uncertainty * factor, repr(value))
            value = measured
        if not unit:
            return value
        if not self.job.call.uncertain:
            from ..questions.quantities import quantity_value

            text = getattr(value, "source", repr(value))
            return quantity_value(name, f"{text if plain_number(text) else f'({text})'} {unit}")
        from ..questions.measured_units import with_unit

        return with_unit(name, value, unit)
