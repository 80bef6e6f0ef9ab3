"""Run commands: from their options through a question to the output."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO, cast

from ..errors import Diagnostic, ExpressionError, error_of, needs_error, usage_error
from ..inputs.arithmetic import Arithmetic, arithmetic_of
from ..inputs.optional_units import left_out
from ..inputs.parse_point import (
    Range,
    corrections,
    may_sweep,
    merge,
    once_read,
    parse_between,
    parse_point,
    parse_ranges,
    parse_weights,
)
from ..numbers.budget import BudgetExceeded, current_budget, gc_collect
from ..streams.progress import Progress
from ..streams.requests import (
    AS_USUAL,
    Defaults,
    Reading,
    Request,
    default_point,
    mapping,
    names,
    read_program,
    standard_input,
    stream,
    value_with_unit,
    waits_for_a_person,
)
from ..views.characters import terminal_of
from ..views.error import report, write_note, write_reading
from ..views.formats import COLUMNAR, Subject, Writer, format_of, language_of, writer
from ..views.numerals import rounding
from ..views.schema import PICTURES
from .arguments import NothingAsked
from .declarations import declared

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
"""Seconds between flushes of answers while more lines are available."""


OPTIONS = {"tolerance": "gradient_tolerance", "required": "require", "every": "everything"}
"""Arguments whose options have other names."""
SAME = ("relative", "sort", "depth", "binary", "partials", "width", "blanks", "theme", "steps")
CHOICES = {name: name for name in SAME}
CHOICES |= {
    "lines": "steps",
    "layout": "way",
    "no_table": "table",
    "no_tree": "tree",
    "everything": "intermediates",
}
"""Choices of views that have them, by option."""


def resolve(path: str) -> Any:
    """Return what a module of the package defines, by a path such as `views.fit.FitView`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"...{module}", __name__), name)


class OptionValues:
    """The values of options: attributes, and arguments of questions."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    format: str | None = None
    output: str | None = None

    def __init__(self, command: str, values: Mapping[str, Any]) -> None:
        self.command, self.values = command, dict(values)
        self.__dict__.update({name: value for name, value in values.items() if not hasattr(type(self), name)})

    @cached_property
    def paths(self) -> list[str]:
        """Return the paths of the command's question and view, and of its languages, if any."""
        return declared(self.command).facts["asks"].split()

    @property
    def question(self) -> Callable[..., Any]:
        """Return the command's question, a function of programs and points."""
        implicit = self.command == "diff" and self.unknowns
        path = "equations.implicit_formulas.implicit_diff" if implicit else self.paths[0]
        return resolve(path)  # type: ignore[no-any-return]

    @cached_property
    def view(self) -> Any:
        """Return the command's view, with its choices."""
        kind = resolve(self.paths[1])
        choices = self.view_choices.items()
        return kind(**{name: choice for name, choice in choices if hasattr(kind, name)})

    def arguments(self, question: Callable[..., Any]) -> dict[str, Any]:
        """Return a question's given keyword arguments; requests have `wrt`."""
        code = cast(FunctionType, question).__code__
        parameters = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        arguments = {
            name: getattr(self, name) if hasattr(type(self), name) else self.values.get(OPTIONS.get(name, name))
            for name in parameters
            if name != "wrt"
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def bind_question(self, question: Callable[..., Any] | None = None) -> Method:
        """Return a question, by default the command's, as a function of requests, with its arguments."""
        question = question or self.question
        arguments = self.arguments(question)

        def method(request: Request, **more: Any) -> Any:
            if "for" in request.more:
                more["unknowns"] = request.more["for"]
            return question(request.text, request.point, wrt=request.wrt, **{**arguments, **more})

        return method

    def read_columns(
        self, data: Any, wanted: Callable[[Sequence[str]], Collection[str]], other: Collection[str], **how: Any
    ) -> MeasuredColumns:
        """Read columns as `data.columns.read_columns` does."""
        from ..data.columns import read_columns
        from ..data.text_dialects import UNFORCED, ForcedDialect

        columns = mapping(self.values.get("columns"))
        forced = ForcedDialect.group_options(self) if "separator" in self.values else UNFORCED
        skips = self.values.get("on_error") == "skip"
        return read_columns(data, wanted, forced, columns, other=other, skip=skips, **how)

    @property
    def view_choices(self) -> dict[str, Any]:
        choices: dict[str, Any] = {
            "digits": rounding(self.values.get("digits"), self.values.get("decimals")),
            "folded": self.values.get("lines") is None,
            "unknowns": bool(self.values.get("unknowns")),
        }
        for name, choice in CHOICES.items():
            if (value := self.values.get(name)) is not None and value is not False:
                choices[choice] = not name.startswith("no_") and value
        return choices

    @property
    def arithmetic(self) -> Arithmetic:
        exact, certified = self.values.get("exact", False), self.values.get("certified", False)
        return arithmetic_of(exact, self.values.get("precision"), certified)

    @cached_property
    def over(self) -> LossSpec | None:
        """Return the loss over the rows of the data, if any."""
        data, how = self.values.get("data"), self.values.get("reduce")
        if data is None or how is None:
            return None
        from ..batched.data_loss import LossSpec
        from ..data.columns import from_files, from_table
        from ..data.sources import sources
        from ..data.text_dialects import ForcedDialect

        self.require_program(only="`--data` is for one formula, not for a stream of them")
        paths = [data] if isinstance(data, str) else data
        if isinstance(paths, list | tuple) and all(isinstance(path, str) for path in paths):
            columns = from_files(sources(paths, ForcedDialect.group_options(self)), mapping(self.columns))
        else:
            columns = from_table(data)
        return LossSpec(columns, how, self.on_error == "skip", self.backend)

    def require_program(self, only: str | None = None) -> None:
        """Check that there is one program; a call from Python has one."""

    def standard_input_for(self, option: str, path: str) -> BinaryIO | None:
        """Return standard input if it is asked for; Python has none."""
        return None

    @property
    def language(self) -> str:
        """Return the language of formulas or code, of those that the command declares."""
        languages = resolve(self.paths[2])
        usual = next(iter(languages))
        return language_of(self.values.get("to"), self.format, self.output, languages, usual)

    @property
    def maximize(self) -> bool:
        return self.command == "maximize" or bool(self.values.get("maximize"))

    @property
    def path(self) -> Any:
        """Return the points of a run, read if they are in a file."""
        path = self.values["path"]
        if not isinstance(path, str):
            return path or ()
        from ..curves.contours import read_path

        return read_path(path, self.standard_input_for("--path", path))

    @property
    def system(self) -> bool:
        """Return whether answers use products of the units of columns."""
        return bool(self.values.get("points"))

    @property
    def units(self) -> Sequence[str] | None:
        """Return the requested units; `none`, for rows, is not one."""
        units: Sequence[str] | None = self.values.get("units")
        return None if self.system and left_out(units) else units

    @property
    def held(self) -> tuple[str, ...]:
        """Return the constants of nature, which no search varies."""
        return names(self.values.get("constants"), "--constants") or ()

    @property
    def constant_texts(self) -> list[str]:
        """Return the constants of nature as texts of a point; only `propagate` has their uncertainties."""
        if not self.values.get("constants"):
            return []
        from ..quantities.table import constant_texts

        return constant_texts(self.held, self.command == "propagate")

    @property
    def fixed(self) -> dict[str, float]:
        """Return the parameters that a fit holds, among them constants of nature."""
        texts = [*self.constant_texts, *(self.values.get("fix") or ())]
        return merge([parse_point(text, value_with_unit) for text in texts])

    @property
    def variables(self) -> tuple[str, ...] | None:
        """Return the variables to differentiate by; None for all."""
        return names(self.values.get("wrt"))

    @property
    def unknowns(self) -> tuple[str, ...] | None:
        return names(self.values.get("unknowns"), "--for")

    @property
    def between(self) -> Mapping[str, Range] | Range | None:
        return parse_between(self.values.get("between") or (), value_with_unit)

    @property
    def bounds(self) -> Mapping[str, Range]:
        return parse_ranges(self.values.get("bounds") or (), value_with_unit)

    @property
    def ranges(self) -> Mapping[str, Range]:
        return parse_ranges(self.values.get("range") or (), value_with_unit)

    @property
    def direction(self) -> Mapping[str, float | str] | None:
        typed = self.values.get("direction")
        return None if typed is None else {**default_point(typed)}

    @property
    def adjoint(self) -> Mapping[str, float | str] | Sequence[float | str] | None:
        weights = self.values.get("adjoint")
        return parse_weights(weights) if isinstance(weights, str) else weights


class Command(OptionValues):
    """A running command: its options, input and output."""

    def __init__(self, command: str, values: Mapping[str, Any]) -> None:
        super().__init__(command, values)
        self.uncertain = command == "propagate"
        """Whether values, and constants of nature, have uncertainties."""
        self.document = bool(values.get("document"))
        self.format = "json" if values.get("json") else values.get("format")
        self.output = None if values.get("output") == "-" else values.get("output")
        self.many = values.get("file") is None and values.get("expr", "") in (None, "-")
        """Whether the programs come from a stream."""
        self.lenient = bool(values.get("lenient")) or self.is_typed_at_terminal
        self.read_by(AS_USUAL)

    @property
    def view_choices(self) -> dict[str, Any]:
        unicode = self.output is not None or terminal_of(sys.stdout).unicode
        return {**super().view_choices, "unicode": unicode}

    @property
    def is_typed_at_terminal(self) -> bool:
        """Return whether a person typed the program and sees the answer and `read as:`; not with `--strict`."""
        typed = self.values.get("expr") is not None and not self.many and self.values.get("file") is None
        return typed and not self.values.get("strict") and is_shown(sys.stdout) and is_shown(sys.stderr)

    def read_by(self, reading: Reading) -> None:
        """Set the readers of the parts of requests."""
        self.reading = reading.lenient if self.lenient else reading

    @cached_property
    def at(self) -> list[str] | None:
        # a fit holds constants
        constants = [] if self.command == "fit" else self.constant_texts
        return once_read([*constants, *(self.values.get("at") or ())])

    def choose_format(self, formats: Iterable[str] | None = None, otherwise: str | None = None) -> str:
        """Return the format by option, file name or default, in this order."""
        if otherwise is None:
            is_latex = len(self.paths) > 2 and self.language == "latex"
            otherwise = "latex" if is_latex else self.view.usual
        for_people = self.output is None and sys.stdout.isatty()
        usual = "jsonl" if self.many and not for_people else otherwise
        of_many = COLUMNAR if "wide" in self.values and self.format in (None, *COLUMNAR) else ()
        formats = (*(formats or self.view.formats), *of_many)
        chosen = format_of(self.format, self.output, formats, usual, self.view.endings)
        if chosen in COLUMNAR:
            named = f"--format {chosen}" if self.format else f"--output {self.output}"
            raise needs_error(named, "many points", "`--points PATH` or `--at x=0:10:1`")
        return chosen

    def standard_input_for(self, option: str, path: str) -> BinaryIO | None:
        """Return standard input if the path is `-`, else None."""
        if path == "-" and self.many:
            raise usage_error(f"the programs and `{option}` both read standard input", "name a file")
        return standard_input() if path == "-" else None

    def check_picture(self, chosen: str, name: str, formats: Sequence[str] = PICTURES) -> None:
        """Raise a usage error for pictures of a stream or on a terminal."""
        if chosen in formats:
            self.require_program(only="a picture is drawn of one program at a time, not of a stream")
            if self.output is None and sys.stdout.isatty():
                hint = f"write it to a file: `--output {name}.{chosen}`"
                raise usage_error(f"`--format {chosen}` is not for a terminal", hint)

    def out(self) -> Output:
        """Return the output. Raises `ExpressionError` if it is not writable."""
        from ..streams.files import Output

        return Output(self.output, force=self.force)

    def check_program(self, text: str, point: Mapping[str, float]) -> Problem:
        """Check a program for errors that do not depend on the point."""
        from ..inputs.problem import pose

        numbers = {name: float(value) for name, value in point.items()}
        problem = pose(text, numbers, self.variables)
        if self.command == "jacobian":
            from ..derivatives.jacobian import seeds

            seeds(problem, self.direction, self.adjoint)
        return problem

    def row_question(self) -> RowQuestion:
        """Return how rows are asked; of a loss none are."""
        if self.over is not None:
            return RowQuestion(None)
        several = any(map(self.values.get, ("everything", "relative", "direction", "adjoint")))
        batched = self.command in ("grad", "jacobian", "hessian") and not several
        return RowQuestion(self.check_program, batched, "--sort" if self.values.get("sort") else None)

    def grid(self) -> Grid | None:
        """Return the sweeps in `--at`, or None. Raises `ExpressionError`."""
        if not (self.zip or may_sweep(self.at)):
            return None
        from ..inputs.sweeps import grid_of, sweeping

        self.reading = self.reading._replace(value_of=sweeping(self.reading.value_of))
        point = default_point(self.at, self.reading)
        grid = grid_of(point, zipped=self.zip, times=current_budget().times)
        if grid is not None:
            self.require_program(only="a sweep has one program, and a stream has many")
            _note(corrections(point))
        return grid

    def require_program(self, only: str | None = None) -> None:
        """Raise `NothingAsked` if a person would have to type the program.

        Raise the usage error `only`, if given, for a stream.
        """
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
    return _answer_request(request, method, out, True, call.lenient, alone=True, command=call.command)


def _answer(request: Request, method: Method, lenient: bool) -> tuple[Any, Subject]:
    subject, reading = request.subject, request.subject.reading
    composed = None if reading is None or reading.expected is None else reading
    if not lenient or (reading is not None and composed is None):
        try:
            return _within_budget(request, method), subject
        except ExpressionError as error:
            if reading is None:
                raise
            raise reading.relocate_error(error) from None
    from ..diagnostics.leniency import read_leniently

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
    source, text, _, _, invalid, _ = request
    current_budget().reset(len(text))
    try:
        if invalid is not None:
            raise invalid
        answer, subject = _answer(request, method, lenient)
    except OSError:
        raise
    except Exception as fault:
        # answer the other lines after any error
        error = error_of(fault, "the command" if alone else "the line")
        dropped: BaseException | None = fault
        while dropped is not None:
            # tracebacks and causes hold texts and graphs, often in cycles
            earlier = dropped.__context__
            dropped.__traceback__ = dropped.__cause__ = dropped.__context__ = None
            dropped = earlier
        if not lenient and error.offers and source.reading is None:
            advise_leniency(error, text, request.point)
        subject = source
        if source.reading is None and error.read is not None and source.text is not None:
            from ..diagnostics.leniency import AsRead

            subject = source._replace(reading=AsRead(error.read, source.text, ()))
        out.error(subject, error)
        if alone:
            out.close()
        if alone or not out.carries_errors:
            if flush:
                out.out.flush()
            place = "" if alone else f"line {source.line}: "
            if alone or source.reading is None:
                _note(subject.readings, place)
            diagnostic = _with_advice(error.diagnostic, subject.text, request, command) if alone else error.diagnostic
            report(diagnostic, error.text if error.text is not None else subject.text, where=place)
        return error.exit_code
    warnings = answer.warnings
    if warnings and not alone:
        # programs of a stream may use part of the point
        warnings = tuple([warning for warning in warnings if warning.kind != "unused"])
        answer = answer._replace(warnings=warnings)
    new = bool(subject.values) or subject.reading is not source.reading
    if alone:
        _note(subject.readings)
    out.answer(subject, answer)
    if alone:
        out.close()
    if alone or ((warnings or new) and not out.carries_warnings):
        if flush:
            out.out.flush()
        place = "" if alone else f"line {subject.line}: "
        if new and not alone:
            _note(subject.readings, place)
        composed = subject.reading if alone and source.reading else None
        warn(warnings, subject.program_read, place, composed)
    return 0


def advise_leniency(error: ExpressionError, text: str, point: Collection[str]) -> None:
    """Add to the hint of an error of strict reading that `--lenient` takes the text, where it does."""
    from ..diagnostics.leniency import add_advice
    from ..equations.equations import read_equations

    add_advice(error, text, lambda corrected: read_equations(corrected, [*point], units=True))


def _with_advice(diagnostic: Diagnostic, typed: str | None, request: Request, command: str) -> Diagnostic:
    hint = diagnostic.hint
    is_pointless = command == "grad" and not request.point and "give the point" in (hint or "")
    if diagnostic.kind == "missing_value" and is_pointless:
        hint = f"{hint}; for the derivative as a formula: `autodiff diff`"
    # a file was read as an expression
    if diagnostic.kind in ("syntax", "name", "missing_value") and typed and os.path.isfile(typed):
        hint = f"a file has that name: its program is read by `--file {typed}`; {hint}"
    return diagnostic._replace(hint=hint)


def warn(warnings: Sequence[Diagnostic], text: str | None, where: str = "", composed: AsRead | None = None) -> None:
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
