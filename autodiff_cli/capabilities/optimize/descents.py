"""Runs of gradient descent, written step by step, until their end or an interruption."""

from contextlib import closing
from typing import TextIO

from ...cli.runner import is_file
from ...cli.searches import INTERRUPTED, Saved
from ...errors import Diagnostic, ExpressionError
from ...show.error import report
from ...show.formats import Documents, Other, Plain, Writer
from ...show.subject import Subject
from ...streams.progress import Interruption, Progress
from .descend import DescentRun, DescentStep, Ending
from .descend_view import Run


class RunWriter(Writer[DescentRun]):
    """A writer of runs, row by row; people and pictures get the whole run."""

    def __init__(
        self, out: TextIO, rows: Writer[DescentStep | Run | DescentRun], many: bool, saved: Saved
    ) -> None:
        super().__init__(rows.format, out, rows.view, many)  # type: ignore[arg-type]
        self.rows = rows
        self.rows.many = many or not isinstance(rows, Documents | Plain)
        self.carries_errors, self.carries_warnings = rows.carries_errors, False
        self.code = 0
        self.saved = saved

    def answer(self, subject: Subject, answer: DescentRun) -> None:
        """Write the steps, in a stream with the number of the line."""
        collected = None
        if isinstance(self.rows, Documents | Other):
            collected = Run(
                answer, isinstance(self.rows, Documents) and self.rows.terminal.is_terminal
            )
        label = subject if self.many or collected is not None else Subject(None)
        interruption = self._write_steps(answer, label, collected)
        self.saved.keep_point(answer.best.point, answer.best.units)
        if collected is not None:
            self.rows.answer(label, collected)
        self.out.flush()
        assert answer.ending is not None
        if not answer.ending.succeeded:
            self.code = max(self.code, interruption.code or 1)
            self._report(answer.ending, subject)
            if interruption.code and self.many:
                raise KeyboardInterrupt(interruption.code - INTERRUPTED)

    def _write_steps(
        self, answer: DescentRun, label: Subject, collected: Run | None
    ) -> Interruption:
        """Take the steps, and write or collect them; return whether the run was interrupted."""
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
        return interruption

    def _report(self, ending: Ending, subject: Subject) -> None:
        """Say how a run ended that has not come to its end."""
        where = f"line {subject.line}: " if self.many else ""
        if ending.error is not None:
            cause = ending.error.diagnostic
            message = f"stopped at step {ending.step}: {cause.message}"
            diagnostic = Diagnostic(ending.reason, message, cause.span, ending.hint)
            report(
                diagnostic, ending.error.text or subject.program_read, level="warning", where=where
            )
        elif not isinstance(self.rows, Documents):
            diagnostic = Diagnostic(ending.reason, ending.message, None, ending.hint)
            report(diagnostic, None, level="warning", where=where)

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self.rows.error(subject, error)

    def close(self) -> None:
        self.rows.close()
