"""Runs: steps of descents and searches, with progress, until the end or an interruption."""

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import count
from typing import Any, TextIO

from ..errors import Diagnostic, ExpressionError, usage_error
from ..inputs.parse_point import may_sweep
from ..language.elements import nest
from ..optimize.descend import Descent, DescentStep
from ..streams.files import Output
from ..streams.progress import Interruption, Progress
from ..streams.requests import Request
from ..views.descend import DescentView, Run
from ..views.error import report
from ..views.formats import Documents, Other, Plain, Writer
from ..views.schema import record_of
from ..views.subject import Subject
from .commands import answer_at
from .option_values import Method
from .runner import Command, RowQuestion, is_file

INTERRUPTED = 128  # the exit code of an interrupted run is this plus the number of the signal


class Saved:
    """The files of a run or search: its points, and the best of them."""

    def __init__(self, call: Command) -> None:
        saves = call.values.get("save_point"), call.values.get("save_path")
        if call.many and any(saves):
            message = "`--save-point` and `--save-path` are for one program, and a stream has many"
            raise usage_error(message, "give the program as the argument")
        named = [path for path in (call.output, *saves) if path is not None]
        for path in [path for path in named if named.count(path) > 1]:
            raise usage_error(f"`{path}` cannot hold two things", "give each file its own name")
        self._point, self._path = (None if path is None else Output(path, force=call.force) for path in saves)
        self.best: Mapping[str, float | str] = {}

    def keep_point(self, point: Mapping[str, float], units: Mapping[str, Any] | None) -> None:
        """Keep the best point so far, with units, for `--at @FILE`."""
        of_point = {} if units is None else units.get("parameters") or units.get("point") or {}
        texts = {name: str(unit) for name, unit in of_point.items() if unit is not None}
        self.best = {name: f"{x!r} {texts[name]}" if texts.get(name) else x for name, x in point.items()}

    def row(self, row: DescentStep) -> None:
        """Write a step."""
        if self._path is not None:
            self._path.stream.write(json.dumps(record_of(DescentView.fields, row)) + "\n")

    def finish(self, code: int) -> None:
        """Write the files, if there was an answer."""
        if self._point is not None and not code:
            self._point.stream.write(json.dumps(nest(self.best)) + "\n")
        for out in (self._point, self._path):
            if out is not None:
                out.stream.close() if code else out.finish(0)


class RunWriter(Writer[Descent]):
    """A writer of runs, row by row; people and pictures get the whole run."""

    def __init__(self, out: TextIO, rows: Writer[DescentStep | Run | Descent], many: bool, saved: Saved) -> None:
        super().__init__(rows.format, out, rows.view, many)  # type: ignore[arg-type]
        self.rows = rows
        self.rows.many = many or not isinstance(rows, Documents | Plain)
        self.carries_errors, self.carries_warnings = rows.carries_errors, False
        self.code = 0
        self.saved = saved

    def answer(self, subject: Subject, answer: Descent) -> None:
        """Write the steps, in a stream with the number of the line."""
        collected = None
        if isinstance(self.rows, Documents | Other):
            collected = Run(answer, isinstance(self.rows, Documents) and self.rows.terminal.is_terminal)
        label = subject if self.many or collected is not None else Subject(None)
        flush = collected is None and not is_file(self.out)
        shown = Progress("steps", here=collected is not None)
        with Interruption() as interruption, closing(shown) as progress:

            def stop(step: int) -> bool:
                progress.step(step)
                return interruption.asked

            answer.stop = stop
            for row in answer:
                if collected is not None:
                    collected.add(row)
                else:
                    self.rows.answer(label, row)
                if flush:
                    self.out.flush()
                self.saved.row(row)
                progress.step(row.step)
                if interruption.asked:
                    answer.interrupt(row.step)
                    break
            answer.stop = None
        self.saved.keep_point(answer.best.point, answer.best.units)
        if collected is not None:
            self.rows.answer(label, collected)
        self.out.flush()
        ending, where = answer.ending, f"line {subject.line}: " if self.many else ""
        assert ending is not None
        if ending.succeeded:
            return
        self.code = max(self.code, interruption.code or 1)
        if ending.error is not None:
            cause = ending.error.diagnostic
            message = f"stopped at step {ending.step}: {cause.message}"
            diagnostic = Diagnostic(ending.reason, message, cause.span, ending.hint)
            report(diagnostic, ending.error.text or subject.program_read, level="warning", where=where)
        elif not isinstance(self.rows, Documents):
            diagnostic = Diagnostic(ending.reason, ending.message, None, ending.hint)
            report(diagnostic, None, level="warning", where=where)
        if interruption.code and self.many:
            raise KeyboardInterrupt(interruption.code - INTERRUPTED)

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self.rows.error(subject, error)

    def close(self) -> None:
        self.rows.close()


def warning_of(search: Any) -> Diagnostic:
    """Return a warning, with an empty message if the search converged."""
    return Diagnostic(search.reason, "" if search.converged else search.message)


class Searches:
    """Long answers, each with progress; keeps the last, and the exit code.

    `good` tests a result, `unit` names the steps; `warning` warns if the format does not show failure.
    """

    def __init__(
        self,
        call: Command,
        method: Method,
        good: Callable[[Any], bool] = lambda result: result.converged,
        *,
        unit: str = "evaluations",
        warning: Callable[[Any], Diagnostic] | None = None,
    ) -> None:
        self.call, self.method, self.good, self.unit = call, method, good, unit
        several = "points" in call.values and (bool(call.points) or may_sweep(call.at))
        self.many = call.many or several
        self.chosen = "" if several else call.choose_format()
        self.warning = warning if self.chosen in ("plain", "csv", "tsv") else None
        self.saved = Saved(call)
        self.code = 0
        self.last: Any = None

    def run(self, question: RowQuestion | None = None) -> int:
        """Answer the program, or all programs or rows; return the exit code."""
        code = answer_at(self.call, self.answer, question, chosen=self.chosen)
        self.saved.finish(code)
        return max(code, self.code)

    def answer(self, request: Request) -> Any:
        """Return a search's result. If interrupted, it is the state, and the next call raises."""
        if self.code > INTERRUPTED:
            raise KeyboardInterrupt(self.code - INTERRUPTED)
        steps = count()
        shown = Progress(self.unit, here=not self.many)
        with Interruption(begun=False) as interruption, closing(shown) as progress:

            def stop() -> bool:
                interruption.begun = True
                progress.step(next(steps))
                return interruption.asked

            result = self.method(request, stop=stop)
        self.code = max(self.code, 0 if self.good(result) else interruption.code or 1)
        self.last = result
        if "save_point" in self.call.values:
            for row in getattr(result, "path", ()):
                self.saved.row(row)
            self.saved.keep_point(result.point, result.units)
        warning = None if self.warning is None else self.warning(result)
        if warning is not None and warning.message:
            where = f"line {request.subject.line}: " if self.many else ""
            report(warning, None, level="warning", where=where)
        return result
