"""A spreadsheet's formulas as a target, for Excel and LibreOffice: a table of two columns, names and cells.

Its first rows are the variables, whose values are typed into column B, the last ones the value and the derivatives, a
formula each. Only where a formula would be longer than a cell of Excel can hold, parts of it have cells between them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence

from ..numbers.recorder import Step
from ..table.primitive import ATOM, CHOICE
from .target import Target, Written, call

MAX_CHARACTERS = 8_000
"""Characters of a formula; Excel takes 8,192."""

MAX_DEPTH = 60
"""Functions within functions; Excel takes 64."""

_PLACE = re.compile(r"\{(\d)\}")


class Spreadsheet(Target):
    """Formulas whose errors, such as `#NUM!`, show in the cell and in all that depend on it."""

    def _number(self, value: float | bool) -> str:
        return str(value).upper() if isinstance(value, bool) else "SQRT(-1)" if value != value else repr(value).upper()

    def power(self, x: Step, y: Step) -> Written:
        if y.name == "number" and y.data != int(y.data):
            # LibreOffice takes odd roots of negative numbers
            return ATOM, ["POWER(SQRT(", (x, CHOICE), f"), {self._number(2 * y.data)})"]
        return call("POWER", (x, y))

    def reads(self, step: Step) -> Iterable[Step]:
        form = self.forms.get(step.name)
        template = form[0] if isinstance(form, tuple) else form
        places = _PLACE.findall(template) if isinstance(template, str) else ()
        return [step.args[int(place)] for place in places] if places else step.args

    def silent(self, step: Step, large: bool) -> bool:
        return False

    def spelled(self, names: Sequence[str]) -> dict[str, str]:
        return {name: f"B{k + 1}" for k, name in enumerate(names)}

    def lines(self) -> list[str]:
        unit = self.unit
        results = (*unit.recording.values, *unit.recording.partials)
        rows = [(name, "") for name in self.variables]
        for step in self.kept(results):
            rows.append((unit.labels.get(step, f"step {len(rows) - len(self.variables) + 1}"), f"={self.text(step)}"))
            self.names[step] = f"B{len(rows)}"
        labels = [unit.function, *(f"d{unit.function}/d{name}" for name in unit.wanted)]
        rows += [(label, f"={self._result(step)}") for label, step in zip(labels, results, strict=True)]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue().removesuffix("\n").split("\n")

    def kept(self, results: Collection[Step]) -> list[Step]:
        """The steps that have cells of their own, so that no formula is too long: those after which it would be."""
        length: dict[Step, int] = {}
        depth: dict[Step, int] = {}
        kept: list[Step] = []
        for task in sorted(self.plan(self.unit.recording).tasks, key=lambda task: task.step.index):
            step = task.step
            length[step] = 12 + sum(length.get(a, 24) for a in self.reads(step))
            depth[step] = 1 + max([depth.get(a, 0) for a in step.args], default=0)
            if length[step] > MAX_CHARACTERS or depth[step] > MAX_DEPTH:
                for a in sorted((a for a in step.args if a.args and a not in kept), key=lambda a: a.index):
                    kept.append(a)
                    length[a], depth[a] = 8, 0
                length[step], depth[step] = 12 + 8 * len(step.args), 1
        return sorted(kept, key=lambda step: step.index)
