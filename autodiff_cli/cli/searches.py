"""Runs: the steps of descents and searches as they are taken, with progress, until they end or are interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Generic, Protocol, TextIO, TypeVar

from ..errors import Diagnostic, ExpressionError, usage_error
from ..language.elements import nested
from ..optimize.descend import Descent, DescentStep, never
from ..streams.files import Output
from ..streams.interruption import Interruption
from ..streams.progress import Progress
from ..streams.requests import Request
from ..views.descend import STEP, Run
from ..views.error import report
from ..views.formats import Documents, Other, Plain, Subject, Writer
from ..views.schema import record_of
from .options import Saves
from .runner import Inputs, is_file

INTERRUPTED = 128
"""The exit codes of what was interrupted are this and the number of the signal."""


class Saved:
    """The files that a run or a search writes beside its answer: its points as they come, and the best of them."""

    def __init__(self, inputs: Inputs, saves: Saves) -> None:
        named = [path for path in (inputs.output, *saves) if path is not None]
        if inputs.many and any(saves):
            raise usage_error(
                "`--save-point` and `--save-path` are for one program, and a stream has many",
                "give the program as the argument",
            )
        for path in named:
            if named.count(path) > 1:
                raise usage_error(f"`{path}` cannot hold two things", "give each file its own name")
        self._point, self._path = (
            None if path is None else Output(path, force=inputs.force) for path in (saves.save_point, saves.save_path)
        )
        self.best: Mapping[str, float | str] | None = None

    def keep(self, point: Mapping[str, float], units: Mapping[str, Any] | None) -> None:
        """Keep the best point so far, with the units of its numbers, as `--at @FILE` reads them."""
        of_point = {} if units is None else units.get("parameters") or units.get("point") or {}
        texts = {name: str(unit) for name, unit in of_point.items() if unit is not None}
        self.best = {name: f"{x!r} {texts[name]}" if texts.get(name) else x for name, x in point.items()}

    def row(self, row: DescentStep) -> None:
        """Keep a step of the way."""
        if self._path is not None:
            self._path.stream.write(json.dumps(record_of(STEP, row)) + "\n")

    def finish(self, code: int) -> None:
        """Write the files, if there was an answer."""
        if code:
            for out in (self._point, self._path):
                if out is not None:
                    out.stream.close()
            return
        if self._point is not None:
            self._point.stream.write(json.dumps(nested(self.best or {})) + "\n")
        for out in (self._point, self._path):
            if out is not None:
                out.finish(0)


class Runs(Writer[Descent]):
    """Takes the steps of a run, and writes each row as it comes; for people and pictures, the whole run at its end."""

    def __init__(self, out: TextIO, rows: Writer[DescentStep | Run | Descent], many: bool, saved: Saved) -> None:
        super().__init__(rows.format, out, rows.view, many)  # type: ignore[arg-type]
        self.rows = rows
        self.rows.many = many or not isinstance(rows, Documents | Plain)
        self.carries_errors, self.carries_warnings = rows.carries_errors, False
        self.code = 0
        self.saved = saved

    def answer(self, subject: Subject, answer: Descent) -> None:
        """Take the steps. A stream's rows say to which line they belong."""
        people = isinstance(self.rows, Documents)
        collected = None
        if isinstance(self.rows, Documents | Other):
            collected = Run(isinstance(self.rows, Documents) and self.rows.look.terminal)
        label = subject if self.many or collected is not None else Subject(None)
        progress = Progress("steps", here=collected is not None)
        flush = collected is None and not is_file(self.out)
        with Interruption() as interruption:

            def stop(step: int) -> bool:
                progress.step(step)
                return interruption.asked

            answer.stop = stop
            for row in answer:
                if collected is None:
                    self.rows.answer(label, row)
                    if flush:
                        self.out.flush()
                else:
                    collected.add(row)
                self.saved.row(row)
                progress.step(row.step)
                if interruption.asked:
                    answer.interrupt(row.step)
                    break
            answer.stop = never
        progress.done()
        self.saved.keep(answer.best.point, answer.best.units)
        ending = answer.ending
        assert ending is not None
        if collected is not None:
            collected.best, collected.ending, collected.over = answer.best, ending, answer.over
            self.rows.answer(label, collected)
        self.out.flush()
        self._end(subject, answer, interruption.code, shown_whole=people)

    def _end(self, subject: Subject, answer: Descent, interrupted: int, *, shown_whole: bool) -> None:
        """Note the exit code, and say on standard error what the rows have no place for."""
        ending = answer.ending
        assert ending is not None
        if ending.good:
            return
        self.code = max(self.code, interrupted or 1)
        where = f"line {subject.line}: " if self.many else ""
        if ending.error is not None:
            cause = ending.error.diagnostic
            diagnostic = Diagnostic(
                ending.reason, f"stopped at step {ending.step}: {cause.message}", cause.span, ending.hint
            )
            report(diagnostic, ending.error.text or subject.meant, level="warning", where=where)
        elif not shown_whole:
            report(Diagnostic(ending.reason, ending.message, None, ending.hint), None, level="warning", where=where)
        if interrupted and self.many:
            raise KeyboardInterrupt(interrupted - INTERRUPTED)

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self.rows.error(subject, error)

    def close(self) -> None:
        self.rows.close()


SearchProgress = TypeVar("SearchProgress")


class Ended(Protocol):
    """The result of a search."""

    @property
    def converged(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...


def unconverged(search: Ended) -> Diagnostic:
    """Return a warning if the search did not converge; its message is empty otherwise."""
    return Diagnostic(search.reason, "" if search.converged else search.message)


class Searches(Generic[SearchProgress]):
    """Long answers, each found with progress; the last of them, and the exit code for all.

    A search gets what to ask between two steps: whether it is to end. `good` says of what it found whether that is what
    was asked for, `unit` what the steps are; `warning` warns of a result where the format that is `chosen` does not
    show that.
    """

    def __init__(
        self,
        search: Callable[[Request, Callable[[], bool]], SearchProgress],
        good: Callable[[SearchProgress], bool],
        *,
        many: bool,
        unit: str = "evaluations",
        chosen: str = "",
        warning: Callable[[SearchProgress], Diagnostic] | None = None,
    ) -> None:
        self.search, self.good = search, good
        self.many = many
        self.unit = unit
        self.warning = warning if chosen in ("plain", "csv", "tsv") else None
        self.code = 0
        self.last: SearchProgress | None = None

    def answer(self, request: Request) -> SearchProgress:
        """Run a search; return its result, or its state when it was interrupted, after which the next call raises."""
        if self.code > INTERRUPTED:
            raise KeyboardInterrupt(self.code - INTERRUPTED)
        progress = Progress(self.unit, here=not self.many)
        steps = count()
        with Interruption(begun=False) as interruption:

            def stop() -> bool:
                interruption.begun = True
                progress.step(next(steps))
                return interruption.asked

            try:
                result = self.search(request, stop)
            finally:
                progress.done()
        self.code = max(self.code, 0 if self.good(result) else interruption.code or 1)
        self.last = result
        warning = None if self.warning is None else self.warning(result)
        if warning is not None and warning.message:
            report(warning, None, level="warning", where=f"line {request.subject.line}: " if self.many else "")
        return result
