"""Searches, with progress, until their end or an interruption."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import count
from typing import Any

from ..capability import resolve
from ..errors import Diagnostic, usage_error
from ..language.elements import nest
from ..questions.parse_point import may_sweep
from ..show.error import report
from ..show.schema import record_of
from ..streams.files import Output
from ..streams.progress import Interruption, Progress
from ..streams.requests import Request
from .commands import answer_at
from .option_values import Method
from .runner import Command, RowQuestion

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
        self._point, self._path = (
            None if path is None else Output(path, force=call.force) for path in saves
        )
        self.best: Mapping[str, float | str] = {}

    def keep_point(self, point: Mapping[str, float], units: Mapping[str, Any] | None) -> None:
        """Keep the best point so far, with units, for `--at @FILE`."""
        of_point = {} if units is None else units.get("parameters") or units.get("point") or {}
        texts = {name: str(unit) for name, unit in of_point.items() if unit is not None}
        self.best = {
            name: f"{x!r} {texts[name]}" if texts.get(name) else x for name, x in point.items()
        }

    def row(self, row: Any) -> None:
        """Write a step."""
        if self._path is not None:
            # few searches write their path
            fields = resolve("optimize.descend_view.DescentView").fields
            self._path.stream.write(json.dumps(record_of(fields, row)) + "\n")

    def finish(self, code: int) -> None:
        """Write the files, if there was an answer."""
        if self._point is not None and not code:
            self._point.stream.write(json.dumps(nest(self.best)) + "\n")
        for out in (self._point, self._path):
            if out is not None:
                out.stream.close() if code else out.finish(0)


def warning_of(search: Any) -> Diagnostic:
    """Return a warning, with an empty message if the search converged."""
    return Diagnostic(search.reason, "" if search.converged else search.message)


class Searches:
    """Long answers, each with progress; keeps the last, and the exit code.

    `good` tests a result, `unit` names the steps; `warning` warns if the format does not show
    failure.
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
