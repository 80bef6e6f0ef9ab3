"""Run commands: from their options through a question to the output."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO

from ..capability import resolve
from ..engine.numbers.budget import BudgetExceeded, current_budget, gc_collect
from ..errors import Diagnostic, ExpressionError, error_of, needs_error, usage_error
from ..questions.parse_point import corrections, may_sweep, once_read
from ..show.characters import terminal_of
from ..show.error import report, write_note, write_reading
from ..show.formats import OF_ROWS, Writer, format_of, writer
from ..show.schema import PICTURES
from ..show.subject import Subject
from ..streams.progress import Progress
from ..streams.requests import (
    AS_USUAL,
    Defaults,
    Reading,
    Request,
    default_point,
    read_program,
    standard_input,
    stream,
    waits_for_a_person,
)
from .arguments import NothingAsked
from .option_values import Method, OptionValues

if TYPE_CHECKING:
    from ..language.diagnostics.leniency import AsRead
    from ..questions.problem import Problem
    from ..questions.sweeps import Grid
    from ..show.characters import Style
    from ..streams.files import Output

MAX_DRAWN_WARNINGS = 5
# Seconds between flushes of answers while more lines are available.
FLUSH_AFTER = 0.05


class Command(OptionValues):
    """A running command: its options, input and output."""

    def __init__(self, command: str, values: Mapping[str, Any]) -> None:
        super().__init__(command, values)
        # Whether values, and constants of nature, have uncertainties.
        self.uncertain = command == "propagate"
        self.document = bool(values.get("document"))
        self.format = "json" if values.get("json") else values.get("format")
        self.output = None if values.get("output") == "-" else values.get("output")
        self.unicode = self.output is not None or terminal_of(sys.stdout).unicode
        # Whether the programs come from a stream.
        self.many = values.get("file") is None and values.get("expr", "") in (None, "-")
        self.lenient = bool(values.get("lenient")) or self.is_typed_at_terminal
        self.read_by(AS_USUAL)

    @property
    def is_typed_at_terminal(self) -> bool:
        """Return whether a person typed the program and sees the answer and `read as:`; not with
        `--strict`.
        """
        typed = (
            self.values.get("expr") is not None
            and not self.many
            and self.values.get("file") is None
        )
        return (
            typed
            and not self.values.get("strict")
            and is_shown(sys.stdout)
            and is_shown(sys.stderr)
        )

    def read_by(self, reading: Reading) -> None:
        """Set the readers of the parts of requests."""
        self.reading = reading.lenient if self.lenient else reading

    @cached_property
    def at(self) -> list[str] | None:
        # a fit holds constants
        constants = [] if self.command == "fit" else self.constant_texts
        return once_read([*constants, *(self.values.get("at") or ())])

    def choose_format(
        self, formats: Iterable[str] | None = None, otherwise: str | None = None
    ) -> str:
        """Return the format by option, file name or default, in this order."""
        if otherwise is None:
            is_latex = len(self.paths) > 2 and self.language == "latex"
            otherwise = "latex" if is_latex else self.view.usual
        for_people = self.output is None and sys.stdout.isatty()
        usual = "jsonl" if self.many and not for_people else otherwise
        of_many = OF_ROWS if "wide" in self.values and self.format in (None, *OF_ROWS) else ()
        formats = (*(formats or self.view.formats), *of_many)
        chosen = format_of(self.format, self.output, formats, usual, self.view.endings)
        if chosen in of_many:
            named = f"--format {chosen}" if self.format else f"--output {self.output}"
            raise needs_error(named, "many points", "`--points PATH` or `--at x=0:10:1`")
        return chosen

    def standard_input_for(self, option: str, path: str) -> BinaryIO | None:
        """Return standard input if the path is `-`, else None."""
        if path == "-" and self.many:
            raise usage_error(
                f"the programs and `{option}` both read standard input", "name a file"
            )
        return standard_input() if path == "-" else None

    def check_picture(self, chosen: str, name: str, formats: Sequence[str] = PICTURES) -> None:
        """Raise a usage error for pictures of a stream or on a terminal."""
        if chosen in formats:
            self.require_program(
                only="a picture is drawn of one program at a time, not of a stream"
            )
            self.refuse_terminal(chosen, name)

    def refuse_terminal(self, chosen: str, name: str) -> None:
        """Raise a usage error if a file in this format would be written to a terminal."""
        if self.output is None and sys.stdout.isatty():
            hint = f"write it to a file: `--output {name}.{chosen}`"
            raise usage_error(f"`--format {chosen}` is not for a terminal", hint)

    def out(self) -> Output:
        """Return the output. Raises `ExpressionError` if it is not writable."""
        from ..streams.files import Output

        return Output(self.output, force=self.force)

    def check_program(self, text: str, point: Mapping[str, float]) -> Problem:
        """Check a program for errors that do not depend on the point."""
        from ..questions.problem import pose

        numbers = {name: float(value) for name, value in point.items()}
        problem = pose(text, numbers, self.variables)
        if self.command == "jacobian":
            resolve("derivatives.jacobian.seeds")(problem, self.direction, self.adjoint)
        return problem

    def row_question(self) -> RowQuestion:
        """Return how rows are asked; of a loss none are."""
        if self.over is not None:
            return RowQuestion(None)
        several = any(map(self.values.get, ("everything", "relative", "direction", "adjoint")))
        batched = self.command in ("grad", "jacobian", "hessian") and not several
        return RowQuestion(
            self.check_program, batched, "--sort" if self.values.get("sort") else None
        )

    def grid(self) -> Grid | None:
        """Return the sweeps in `--at`, or None. Raises `ExpressionError`."""
        if not (self.zip or may_sweep(self.at)):
            return None
        from ..questions.sweeps import grid_of, sweeping

        self.reading = self.reading._replace(value_of=sweeping(self.reading.value_of))
        point = default_point(self.at, self.reading)
        grid = grid_of(point, zipped=self.zip, times=current_budget().times)
        if grid is not None:
            self.require_program(only="a sweep has one program, and a stream has many")
            _note(corrections(point))
        return grid

    def require_program(self, only: str | None = None) -> None:
        """Raise `NothingAsked` if a person would have to type the program.

        Raise the usage error `only`, if given, for a stream. A playground begins with a program or
        without one.
        """
        if self.values.get("playground") and self.many:
            return
        if self.expr is None and self.file is None and waits_for_a_person():
            raise NothingAsked
        if only is not None and self.many:
            raise usage_error(only, "give the program as the argument, or read it with `--file -`")


class RowQuestion(NamedTuple):
    """How a question is asked about rows, and its answers become cells."""

    posed: Callable[[str, Mapping[str, float]], Problem] | None
    """Checks for errors at all points; None if one point is not enough."""
    batched: bool = False
    """Whether `data.rows` has the answers' numbers; otherwise the view has cells."""
    unsupported: str | None = None
    """The option that wide rows do not support."""
    units: Sequence[str] | None = None
    equations: bool = False


def write_entries(call: Command, entries: Sequence[Any], chosen: str, code: int = 0) -> int:
    """Write answers without a program; return the exit code, at least `code`."""
    file = call.out()
    out = writer(chosen, file.stream, call.view, many=len(entries) > 1, document=call.document)
    for entry in entries:
        out.answer(Subject(None), entry)
    out.close()
    return file.finish(code)


def answer_with(call: Command, method: Method, out: Writer[Any]) -> int:
    """Answer the program or the stream with a writer; return the exit code."""
    if call.many:
        point = default_point(call.at, call.reading)
        _note(corrections(point))
        flush = not (is_file(sys.stdin) and not sys.stdout.isatty())
        defaults = Defaults(point, call.variables, call.reading)
        requests = stream(standard_input(), defaults, out.out.flush if flush else None)
        fail = call.on_error == "fail"
        return answer_requests(requests, method, out, flush, fail=fail, lenient=call.lenient)
    composed = getattr(call.expr, "reading", None)
    subject = Subject(call.expr if composed is None else composed.typed, reading=composed)
    try:
        if call.file is not None:
            text, fault = read_program(call.file)
            subject = Subject(text)
            if fault is not None:
                raise fault
        point = default_point(call.at, call.reading)
        subject = subject._replace(values=tuple(corrections(point)))
        request = Request(subject, subject.program_read or "", point, call.variables)
    except ExpressionError as error:
        request = Request(subject, subject.program_read or "", {}, None, error)
    return _answer_request(
        request, method, out, True, call.lenient, alone=True, command=call.command
    )


def _answer(request: Request, method: Method, lenient: bool) -> tuple[Any, Subject]:
    if request.error is not None:
        raise request.error
    subject, reading = request.subject, request.subject.reading
    composed = None if reading is None or reading.expected is None else reading
    if not lenient or (reading is not None and composed is None):
        try:
            return _within_budget(request, method), subject
        except ExpressionError as error:
            if reading is None:
                raise
            raise reading.relocate_error(error) from None
    from ..language.diagnostics.leniency import read_leniently

    result, reading = read_leniently(
        request.text, lambda text: _within_budget(request._replace(text=text), method), composed
    )
    return result, subject if reading is None else subject._replace(reading=reading)


def _within_budget(request: Request, method: Method) -> Any:
    try:
        return method(request)
    except BudgetExceeded as exceeded:
        raise exceeded.as_error() from None


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
    """Answer requests in order; return the highest exit code.

    `flush` writes answers as they come; `fail` ends at the first error.
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
            gc_collect()
            if progress.active:
                progress.step(count)
    return worst


def _error_of_request(
    fault: Exception, request: Request, lenient: bool, *, alone: bool
) -> ExpressionError:
    """Return the error that a request is answered with, with advice on lenient reading where that
    would take it.
    """
    error = error_of(fault, "the command" if alone else "the line")
    _forget_traceback(fault)
    if not lenient and error.offers and request.subject.reading is None:
        from .strict_reading import advise_leniency  # only an error needs it

        advise_leniency(error, request.text, request.point)
    return error


def _answer_request(
    request: Request,
    method: Method,
    out: Writer[Any],
    flush: bool,
    lenient: bool,
    *,
    alone: bool = False,
    command: str = "",
) -> int:
    source = request.subject
    current_budget().reset(len(request.text))
    try:
        answer, subject = _answer(request, method, lenient)
    except OSError:
        raise
    except Exception as fault:
        # answer the other lines after any error
        error = _error_of_request(fault, request, lenient, alone=alone)
        _write_error(request, error, out, flush, alone=alone, command=command)
        return error.exit_code
    if alone:
        _note(subject.readings)
        out.answer(subject, answer)
        out.close()
        if flush:
            out.out.flush()
        warn(answer.warnings, subject.program_read, "", subject.reading if source.reading else None)
        return 0
    warnings = answer.warnings
    if warnings:
        # programs of a stream may use part of the point
        warnings = tuple([warning for warning in warnings if warning.kind != "unused"])
        answer = answer._replace(warnings=warnings)
    out.answer(subject, answer)
    new = bool(subject.values) or subject.reading is not source.reading
    if (warnings or new) and not out.carries_warnings:
        if flush:
            out.out.flush()
        place = f"line {subject.line}: "
        if new:
            _note(subject.readings, place)
        warn(warnings, subject.program_read, place, None)
    return 0


def _forget_traceback(fault: BaseException) -> None:
    """Drop tracebacks and causes, which hold texts and graphs, often in cycles."""
    dropped: BaseException | None = fault
    while dropped is not None:
        earlier = dropped.__context__
        dropped.__traceback__ = dropped.__cause__ = dropped.__context__ = None
        dropped = earlier


def _write_error(
    request: Request,
    error: ExpressionError,
    out: Writer[Any],
    flush: bool,
    *,
    alone: bool,
    command: str,
) -> None:
    source = subject = request.subject
    if source.reading is None and error.read is not None and source.text is not None:
        from ..language.diagnostics.leniency import AsRead

        subject = source._replace(reading=AsRead(error.read, source.text, ()))
    out.error(subject, error)
    if alone:
        out.close()
    elif out.carries_errors:
        return
    if flush:
        out.out.flush()
    place = "" if alone else f"line {source.line}: "
    if alone or source.reading is None:
        _note(subject.readings, place)
    diagnostic = error.diagnostic
    if alone:
        read = request.text if error.read is None else error.read
        diagnostic = _with_advice(diagnostic, subject.text, read, request, command)
    report(diagnostic, error.text if error.text is not None else subject.text, where=place)


def _without_wrt(kind: str, hint: str | None) -> str | None:
    """Return a hint for `propagate`, which has no `--wrt` to leave an input out."""
    if kind == "derivative" and hint is not None and "`--wrt" in hint:
        return "move the point, or give what has no derivative there without an uncertainty"
    return hint


def _with_advice(
    diagnostic: Diagnostic, typed: str | None, read: str, request: Request, command: str
) -> Diagnostic:
    hint = diagnostic.hint
    is_pointless = command == "grad" and not request.point and "give the point" in (hint or "")
    if diagnostic.kind == "missing_value" and is_pointless:
        hint = f"{hint}; for the derivative as a formula: `autodiff diff`"
    if command == "grad" and diagnostic.kind == "domain" and request.point:
        with suppress(ModuleNotFoundError):  # the capability may be left out
            hint = resolve("limit.hole.hint_at_hole")(read, request.point, hint)
    if command == "propagate":
        hint = _without_wrt(diagnostic.kind, hint)
    # a file was read as an expression
    if diagnostic.kind in ("syntax", "name", "missing_value") and typed and os.path.isfile(typed):
        hint = f"a file has that name: its program is read by `--file {typed}`; {hint}"
    return diagnostic._replace(hint=hint)


def warn(
    warnings: Sequence[Diagnostic],
    text: str | None,
    where: str = "",
    composed: AsRead | None = None,
) -> None:
    """Draw the first warnings on standard error, and count the others.

    In a `composed` program they point into the typed text where possible.
    """
    for warning in warnings[:MAX_DRAWN_WARNINGS]:
        level: Style = "note" if warning.kind == "note" else "warning"
        if composed is not None and composed.typed_at(warning.span) is not None:
            report(composed.typed_diagnostic(warning), composed.typed, level=level, where=where)
        else:
            report(warning, text, level=level, where=where)
    if len(warnings) > MAX_DRAWN_WARNINGS:
        more = len(warnings) - MAX_DRAWN_WARNINGS
        write_note(f"{where}… and {more:,} more warnings; `--json` gives them all")


def is_shown(file: TextIO | None) -> bool:
    """Return whether a stream is a terminal."""
    return file is not None and file.isatty()


def is_file(file: TextIO) -> bool:
    """Return whether a stream is a regular file."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, ValueError):
        return False
