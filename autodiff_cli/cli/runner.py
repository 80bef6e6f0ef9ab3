"""The runner: the way of every command from its options through its question to its output."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO, cast

from ..errors import Diagnostic, ExpressionError, error_of, looks_like_option, usage_error
from ..inputs.arithmetic import Arithmetic, chosen
from ..inputs.bounds import Range, parse_between, parse_ranges
from ..inputs.optional_units import left_out
from ..inputs.parse_point import may_sweep, meant, once_read, parse_weights
from ..numbers.budget import BudgetExceeded, collect, current
from ..streams.progress import Progress
from ..streams.requests import (
    AS_USUAL,
    Defaults,
    Reading,
    Request,
    default_point,
    mapping,
    names,
    standard_input,
    stream,
    value_with_unit,
    waits_for_a_person,
    whole,
)
from ..views.error import report, write_reading, write_stderr
from ..views.formats import Subject, Writer, format_of, writer
from ..views.numerals import rounding
from ..views.schema import View
from .arguments import NothingAsked

if TYPE_CHECKING:
    from ..batched.data_loss import LossSpec
    from ..diagnostics.leniency import AsRead
    from ..inputs.optional_units import MeasuredColumns
    from ..inputs.problem import Problem
    from ..inputs.sweeps import Grid
    from ..streams.files import Output
    from ..views.characters import Style

Method = Callable[..., Any]
"""A function from a request to its answer, which has `warnings`."""

MAX_DRAWN_WARNINGS = 5
FLUSH_AFTER = 0.05
"""Seconds for which answers may be held back while more lines are at hand."""


OPTIONS = {"tolerance": "gradient_tolerance", "required": "require", "every": "everything"}
"""The options whose values are arguments under other names."""

CHOICES = {name: name for name in ["relative", "sort", "depth", "binary", "partials", "width", "blanks", "theme"]}
CHOICES |= {"lines": "steps", "no_table": "table", "no_tree": "tree"}
"""The options that make choices of views, with these."""


class Call:
    """The values of options by parameter, which are attributes too.

    A question's argument is the option of its name, or a property here.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self.__dict__.update({name: value for name, value in values.items() if not hasattr(type(self), name)})

    def arguments(self, question: Callable[..., Any]) -> dict[str, Any]:
        """Return the keyword arguments of a question that are given, but for `wrt`, which requests have."""
        code = cast(FunctionType, question).__code__
        parameters = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        arguments = {
            name: getattr(self, name) if hasattr(Call, name) else self.values.get(OPTIONS.get(name, name))
            for name in parameters
            if name != "wrt"
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def asking(self, question: Callable[..., Any], **own: Any) -> Callable[..., Any]:
        """Return the question as a function of requests, with these arguments and those of the options."""
        arguments = {**self.arguments(question), **own}

        def method(request: Request, **more: Any) -> Any:
            return question(request.text, request.point, wrt=request.wrt, **{**arguments, **more})

        return method

    def read_columns(
        self, data: Any, wanted: Callable[[Sequence[str]], Collection[str]], other: Collection[str], **how: Any
    ) -> MeasuredColumns:
        """Return the columns of files; see `data.columns.read_columns`."""
        from ..data.columns import read_columns  # only files need it
        from ..data.text_dialects import UNFORCED, Forced

        columns = mapping(self.values.get("columns"))
        forced = Forced.of(self) if "separator" in self.values else UNFORCED
        skips = self.values.get("on_error") == "skip"
        return read_columns(data, wanted, forced, columns, other=other, skip=skips, **how)

    @property
    def shown(self) -> dict[str, Any]:
        """The choices of the view that options make."""
        given = {name: x for name in CHOICES if (x := self.values.get(name)) is not None and x is not False}
        choices = {CHOICES[name]: not name.startswith("no_") and value for name, value in given.items()}
        return choices | {"digits": rounding(self.values.get("digits"), self.values.get("decimals"))}

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the options `--exact`, `--precision` and `--certified`."""
        exact, certified = self.values.get("exact", False), self.values.get("certified", False)
        return chosen(exact, self.values.get("precision"), certified)

    @cached_property
    def over(self) -> LossSpec | None:
        """The loss over rows of data; None without data."""
        return None

    @property
    def system(self) -> bool:
        """Whether answers are about rows, in products of the units of their columns."""
        return bool(self.values.get("points"))

    @property
    def units(self) -> Sequence[str] | None:
        """The requested units of an answer, those of a row without `none`."""
        units: Sequence[str] | None = self.values.get("units")
        return None if self.system and left_out(units) else units

    @property
    def held(self) -> tuple[str, ...]:
        """The constants of nature, which no search moves."""
        return names(self.values.get("constants"), "--constants") or ()

    @property
    def variables(self) -> tuple[str, ...] | None:
        """The variables to differentiate by; None for all."""
        return names(self.values.get("wrt"))

    @property
    def unknowns(self) -> tuple[str, ...] | None:
        """The unknowns of equations, where they are named."""
        return names(self.values.get("unknowns"), "--for")

    @property
    def between(self) -> Mapping[str, Range] | Range | None:
        """The search ranges of the unknowns."""
        return parse_between(self.values.get("between") or (), value_with_unit)

    @property
    def bounds(self) -> Mapping[str, Range]:
        """The bounds of variables."""
        return parse_ranges(self.values.get("bounds") or (), value_with_unit)

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The ranges of a plot."""
        return parse_ranges(self.values.get("range") or (), value_with_unit)

    @property
    def direction(self) -> Mapping[str, float | str] | None:
        """The direction of a derivative."""
        typed = self.values.get("direction")
        return None if typed is None else cast(Mapping[str, float | str], default_point(typed))

    @property
    def adjoint(self) -> Mapping[str, float | str] | Sequence[float | str] | None:
        """The weights of the outputs."""
        weights = self.values.get("adjoint")
        return parse_weights(weights) if isinstance(weights, str) else weights


class Command(Call):
    """A command that runs: its options, how it reads, and where its answers go."""

    uncertain = False
    """Whether constants of nature have their uncertainties."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.read_by(AS_USUAL)
        self.format: str | None = "json" if values.get("json") else values.get("format")
        path = values.get("output")
        self.output: str | None = None if path == "-" else path
        self.document, self.lenient = bool(values.get("document")), bool(values.get("lenient"))
        self.many = values.get("file") is None and values.get("expr", "") in (None, "-")
        """Whether the programs are those of a stream."""

    def read_by(self, reading: Reading) -> None:
        """Have the parts of requests read in this way."""
        self.reading = reading.leniently if self.values.get("lenient") else reading

    @cached_property
    def at(self) -> list[str] | None:
        """The texts of the point, those of constants of nature first."""
        at = self.values.get("at")
        if self.held:
            from ..quantities.table import constant_texts  # only constants need it

            at = [*constant_texts(self.held, self.uncertain), *(at or ())]
        return once_read(at)

    @cached_property
    def over(self) -> LossSpec | None:
        """The rows of data that the formula is reduced over."""
        if "reduce" not in self.values or not self.data:
            return None
        from ..batched.data_loss import reduction  # only data files need it
        from ..data.columns import from_files
        from ..data.sources import sources
        from ..data.text_dialects import Forced

        self.need(only="`--data` is for one formula, not for a stream of them")
        data = from_files(sources(self.data, Forced.of(self)), mapping(self.columns))
        return reduction(data, self.reduce, skip=self.on_error == "skip", backend=self.backend)

    def chosen(self, formats: Iterable[str], otherwise: str = "table", text: Sequence[str] = ()) -> str:
        """Return the format by the option, or else the name of the file, or else the usual one."""
        for_people = self.output is None and sys.stdout.isatty()
        usual = "jsonl" if self.many and not for_people else otherwise
        return format_of(self.format, self.output, formats, usual, text)

    def beside(self, option: str, path: str) -> BinaryIO | None:
        """Return standard input if an option names it by `-`, otherwise None."""
        if path != "-":
            return None
        if self.many or self.file == "-":
            first = "the programs" if self.many else "`--file`"
            raise usage_error(f"{first} and `{option}` both read standard input", "name a file")
        return standard_input()

    def check_picture(self, chosen: str, name: str) -> None:
        """Raise a usage error for pictures of a stream, and for one that would go to a terminal."""
        from ..views.plots import PICTURES

        if chosen in PICTURES:
            self.need(only="a picture is drawn of one program at a time, not of a stream")
            if self.output is None and sys.stdout.isatty():
                hint = f"write it to a file: `--output {name}.{chosen}`"
                raise usage_error(f"`--format {chosen}` is not for a terminal", hint)

    def out(self) -> Output:
        """Open the destination of the answers. Raises `ExpressionError` if it cannot be written."""
        from ..streams.files import Output  # a start pays for what it needs only

        return Output(self.output, force=self.force)

    def posed(self, text: str, point: Mapping[str, float]) -> Problem:
        """Check a program at a point for errors that do not depend on it."""
        from ..inputs.problem import pose

        numbers = {name: float(value) for name, value in point.items()}
        return pose(text, numbers, self.variables, quantities=True)

    def grid(self) -> Grid | None:
        """The points of sweeps in `--at`; None without them. Raises `ExpressionError`."""
        if not may_sweep(self.at):
            if self.zip:
                hint = "write sweeps: `--at x=0:10:1,y={1,2,5}`"
                raise usage_error("`--zip` pairs sweeps, and there are none", hint)
            return None
        from ..inputs.sweeps import grid_of, sweeping  # only sweeps need it

        self.reading = self.reading._replace(value_of=sweeping(self.reading.value_of))
        point = default_point(self.at, self.reading)
        grid = grid_of(point, zipped=self.zip, times=current().times)
        if grid is not None:
            self.need(only="a sweep has one program, and a stream has many")
            _note(meant(point))
        return grid

    def need(self, only: str | None = None) -> None:
        """Raise `NothingAsked` where a person would have to type the program.

        Where `only` says why it can be one program only, raise a usage error for a stream.
        """
        if self.expr is None and self.file is None and waits_for_a_person():
            raise NothingAsked
        if only is not None and self.many:
            raise usage_error(only, "give the program as the argument, or read it with `--file -`")


class RowQuestion(NamedTuple):
    """A question as rows ask it: its name, and how an answer becomes cells in a line."""

    name: str
    posed: Callable[[str, Mapping[str, float]], Problem] | None
    """Checks the program at a point for errors of all points; None if one is not enough."""
    numbers: Callable[[Any], Sequence[Any]] | None = None
    """The numbers of an answer in the order of `data.rows`; None where the view has cells."""
    whole: str | None = None
    """The option whose results have no columns in wide rows."""
    errors: str | None = None
    """The value of `--errors`; None if the question is about exact values."""
    units: Sequence[str] | None = None
    equations: bool = False


def answer_all(
    call: Command, method: Method, view: View[Any], otherwise: str = "table", chosen: str | None = None
) -> int:
    """Answer the program, or every program of the stream; return the exit code.

    `otherwise` is the usual format for one program, `chosen` one that the command has chosen.
    """
    call.need()
    chosen = chosen or call.chosen(view.formats, otherwise, text=view.endings)
    file = None if call.output is None else call.out()
    out = writer(chosen, sys.stdout if file is None else file.stream, view, call.many, document=call.document)
    code = answer_with(call, method, out)
    return code if file is None else file.finish(code, whole=call.many)


def write_entries(
    call: Command, view: View[Any], entries: Sequence[Any], code: int = 0, chosen: str | None = None
) -> int:
    """Write answers that are about no program; return the exit code, which is `code` at best."""
    chosen = chosen or call.chosen(view.formats)
    file = call.out()
    out = writer(chosen, file.stream, view, many=len(entries) > 1, document=call.document)
    for entry in entries:
        out.answer(Subject(None), entry)
    out.close()
    return file.finish(code)


def answer_with(call: Command, method: Method, out: Writer[Any]) -> int:
    """Answer the program, or every program of the stream, with this writer; return the exit code."""
    if not call.many:
        return _answer_one(call, method, out)
    point = default_point(call.at, call.reading)
    _note(meant(point))
    defaults = Defaults(point, call.variables, call.reading)
    flush = not (is_file(sys.stdin) and not sys.stdout.isatty())
    requests = stream(standard_input(), defaults, out.out.flush if flush else None)
    return answer_requests(requests, method, out, flush, fail=call.on_error == "fail", lenient=call.lenient)


def _answer_one(call: Command, method: Method, out: Writer[Any]) -> int:
    typed = call.expr
    composed = getattr(typed, "reading", None)
    subject = Subject(typed if composed is None else composed.typed, reading=composed)
    try:
        if call.file is not None:
            text, fault = whole(call.file)
            subject = Subject(text)
            if fault is not None:
                raise fault
        text = subject.meant or ""
        point = default_point(call.at, call.reading)
        request = Request(subject._replace(values=tuple(meant(point))), text, point, call.variables)
        current().renew(len(request.text))
        subject = request.subject
        answer, subject = _answered(request, method, call.lenient)
    except ExpressionError as error:
        subject = _as_read(subject, error)
        out.error(subject, error)
        out.close()
        out.out.flush()
        _note(subject.readings)
        diagnostic = error.diagnostic
        hint = None
        if error.kind == "missing_value" and typed and looks_like_option(typed):
            hint = f"there is no option `{typed}`, so it was read as an expression; {diagnostic.hint}"
        elif error.kind in ("syntax", "name", "missing_value") and typed and os.path.isfile(typed):
            hint = f"a file has that name: its program is read by `--file {typed}`; {diagnostic.hint}"
        diagnostic = diagnostic._replace(hint=hint or diagnostic.hint)
        report(diagnostic, subject.text if error.text is None else error.text)
        return error.exit_code
    _note(subject.readings)
    out.answer(subject, answer)
    out.close()
    out.out.flush()
    warn(answer.warnings, subject.meant, composed=subject.reading if composed else None)
    return 0


def _answered(request: Request, method: Method, lenient: bool) -> tuple[Any, Subject]:
    subject = request.subject
    composed = None if subject.reading is None or subject.reading.expected is None else subject.reading
    if subject.reading is not None and not (composed and lenient):
        try:
            return _within_budget(request, method), subject
        except ExpressionError as error:
            raise subject.reading.blamed(error) from None
    if not lenient:
        return _within_budget(request, method), subject
    from ..diagnostics.leniency import leniently

    result, reading = leniently(
        request.text, lambda text: _within_budget(request._replace(text=text), method), composed
    )
    return result, subject if reading is None else subject._replace(reading=reading)


def _within_budget(request: Request, method: Method) -> Any:
    try:
        return method(request)
    except BudgetExceeded as exceeded:
        raise exceeded.reported() from None


def _as_read(subject: Subject, error: ExpressionError) -> Subject:
    if subject.reading is not None or error.read is None or subject.text is None:
        return subject
    from ..diagnostics.leniency import AsRead

    return subject._replace(reading=AsRead(error.read, subject.text, ()))


def _note(readings: Iterable[str], where: str = "") -> None:
    for text in readings:
        write_reading(where, text)


def answer_requests(
    requests: Iterable[Request],
    method: Method,
    out: Writer[Any],
    flush: bool,
    *,
    fail: bool = False,
    lenient: bool = False,
) -> int:
    """Answer one request after the other; return the highest exit code.

    With `flush` the answers go out as they come; with `fail` the first error is the end.
    """
    worst = 0
    due = time.monotonic() + FLUSH_AFTER
    with closing(out), closing(Progress()) as progress:
        for count, request in enumerate(requests, start=1):
            code = _answer_request(request, method, out, flush, lenient)
            if code > worst:
                worst = code
            if worst and fail:
                break
            if flush and time.monotonic() > due:
                out.out.flush()
                due = time.monotonic() + FLUSH_AFTER
            collect()
            if progress.active:
                progress.step(count)
    return worst


def _answer_request(request: Request, method: Method, out: Writer[Any], flush: bool, lenient: bool) -> int:
    source, text, _, _, invalid, _ = request
    current().renew(len(text))
    try:
        if invalid is not None:
            raise invalid
        answer, subject = _answered(request, method, lenient)
    except OSError:
        raise
    except Exception as fault:
        # whatever it is, the other lines are answered
        error = error_of(fault, "the line")
        drop_traceback(fault)
        subject = _as_read(source, error)
        out.error(subject, error)
        if not out.carries_errors:
            if flush:
                out.out.flush()
            place = f"line {source.line}: "
            if source.reading is None:
                _note(subject.readings, place)
            report(error.diagnostic, error.text if error.text is not None else text, where=place)
        return error.exit_code
    warnings = answer.warnings
    if warnings:
        # one point serves many programs there, and not each uses all of it
        warnings = tuple([warning for warning in warnings if warning.kind != "unused"])
        answer = answer._replace(warnings=warnings)
    new = bool(subject.values) or subject.reading is not source.reading
    out.answer(subject, answer)
    if (warnings or new) and not out.carries_warnings:
        place = f"line {subject.line}: "
        if flush:
            out.out.flush()
        if new:
            _note(subject.readings, place)
        warn(warnings, subject.meant, where=place)
    return 0


def drop_traceback(error: BaseException | None) -> None:
    """Forget through which calls an error came, and after which others."""
    # they hold texts and graphs, and often the error too: a cycle that nothing but the collector would free
    while error is not None:
        earlier = error.__context__
        error.__traceback__ = error.__cause__ = error.__context__ = None
        error = earlier


def warn(warnings: Sequence[Diagnostic], text: str | None, where: str = "", composed: AsRead | None = None) -> None:
    """Draw warnings on standard error: the first few, and how many more there are.

    Those about a program that was `composed` point into what was typed, as far as it stands there.
    """
    for warning in warnings[:MAX_DRAWN_WARNINGS]:
        level: Style = "note" if warning.kind == "note" else "warning"
        if composed is not None and composed.typed_at(warning.span) is not None:
            report(composed.typed_diagnostic(warning), composed.typed, level=level, where=where)
        else:
            report(warning, text, level=level, where=where)
    if len(warnings) > MAX_DRAWN_WARNINGS:
        write_stderr(f"{where}… and {len(warnings) - MAX_DRAWN_WARNINGS:,} more warnings; `--json` gives them all\n")


def is_file(file: TextIO) -> bool:
    """Whether a stream is a regular file."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, ValueError):
        return False
