"""A run of descent in every form: its rows as records and as long tables, the whole run as a document for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..optimize.descend import Descent, DescentStep, Ending
from .characters import Theme, shortened
from .document import Block, Line, Pieces, assignments, held_fixed, loss_summary_lines, measured, numbers_table
from .plots import PICTURES
from .schema import OutputRow, View, declared, heading, record_of, unit_text, with_lists

if TYPE_CHECKING:
    from ..batched.data_loss import LossSummary

SCREEN = 40
"""How many rows a terminal is shown."""

PAGE = 10_000
"""How many rows a table elsewhere has: who wants more of them wants a format for machines."""

STRIDES = (1, 2, 10, 20, 100)
"""Every how many steps a row is shown, as rows become many; each is a multiple of the one before."""


class Run:
    """The rows of a run to show to people: not more than a page, or where `thin`, a screen."""

    def __init__(self, thin: bool) -> None:
        self.thin = thin
        self.rows: list[DescentStep] = []
        self.last: DescentStep | None = None
        self.best: DescentStep | None = None
        self.ending: Ending | None = None
        self.over: LossSummary | None = None
        self._stride = self._next = 1

    def add(self, row: DescentStep) -> None:
        """Take one more row."""
        self.last = row
        if row.step % self._stride == 0:
            self.rows.append(row)
            if len(self.rows) > (SCREEN if self.thin else PAGE):
                power, place = divmod(self._next, len(STRIDES) - 1)
                self._stride, self._next = STRIDES[place] * STRIDES[-1] ** power, self._next + 1
                self.rows = [row for row in self.rows if row.step % self._stride == 0]

    @property
    def note(self) -> str:
        """A note on what is not shown; empty if everything is."""
        if self._stride == 1 or self.last is None:
            return ""
        return f"every {self._stride:,}th of {self.last.step + 1:,} rows; `--format csv` or `jsonl` gives them all"

    def shown(self) -> list[DescentStep]:
        """The rows, the last one among them."""
        ends = self.last is not None and (not self.rows or self.rows[-1].step != self.last.step)
        return [*self.rows, self.last] if ends and self.last else self.rows


STEP, COLUMNS, NUMBERS = declared("descend")
"""The keys of a row."""

DESCENT = declared("descent", {"rows": list}).fields
"""The keys of a whole descent."""


class DescentView(View[DescentStep | Run | Descent]):
    """How rows or whole descents are shown, and for people their runs; as a picture the values over the steps."""

    fields = STEP
    other_records = (("from Python, about a whole run", DESCENT),)
    csv_columns, line_fields = COLUMNS, NUMBERS
    extra_formats = PICTURES

    theme: Theme = "auto"

    def record(self, shown: DescentStep | Run | Descent) -> dict[str, object]:
        return with_lists(record_of(STEP if isinstance(shown, DescentStep) else DESCENT, shown))

    def rows(self, shown: DescentStep | Run | Descent) -> Iterator[OutputRow]:
        for row in _rows(shown):
            common = {"step": row.step, "value": row.value, "gradient_norm": row.gradient_norm}
            texts = {} if row.units is None else row.units.texts()
            common |= {f"{key}_unit": texts[key] for key in ("value", "gradient_norm") if key in texts}
            at, slopes = texts.get("point", {}), texts.get("gradient", {})
            for name, x in row.point.items():
                units = {"at_unit": at.get(name), "partial_unit": slopes.get(name)}
                yield {**common, **units, "variable": name, "at": x, "partial": row.gradient.get(name)}

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("value", "gradient_norm", "at", "partial"))

    def one_line(self, shown: DescentStep | Run | Descent) -> str:
        return "\n".join(map(super().one_line, _rows(shown)))

    def document(self, shown: DescentStep | Run | Descent) -> Iterator[Block]:
        run = _run(shown)
        if run.last is None:
            return
        free = run.last.free
        epochs = ("epoch",) if run.last.epoch is not None else ()
        yield from loss_summary_lines(run.over)
        units = run.last.units
        at = {} if units is None else units["point"]
        yield from held_fixed(
            {name: measured(x, at.get(name), self.digits) for name, x in run.last.point.items() if name not in free}
        )
        rows: list[tuple[str | float, ...]] = []
        for row in run.shown():
            counts = (str(row.step), *(str(row.epoch or 0) for _ in epochs))
            rows.append((*counts, row.value, *(row.point[name] for name in free), row.gradient_norm))
        columns: tuple[str, ...] = ("value", *free, "gradient norm")
        if units is not None:
            of_columns = (units["value"], *(at[name] for name in free), units["gradient_norm"])
            columns = tuple([heading(name, unit_text(unit)) for name, unit in zip(columns, of_columns, strict=True)])
        heads = ("step", *epochs, *columns)
        yield numbers_table(heads, rows, self.digits, right=range(len(heads)), style="number")
        if run.note:
            yield Line(((run.note, "faint"),))
        if run.ending is not None:
            yield Line(((run.ending.message, "" if run.ending.good else "heading"),))
            if run.ending.hint:
                yield Line((("hint: ", "faint"), (run.ending.hint, "")))
        best = run.best
        if best is not None and best.step != run.last.step:
            place = assignments({name: measured(best.point[name], at.get(name), self.digits) for name in free})
            number = measured(best.value, None if units is None else units["value"], self.digits)
            value: Pieces = ((f"best: step {best.step}, value ", "faint"), (number, "number"))
            yield Line((*value, (" at ", "faint"), *place))

    def draw(self, shown: DescentStep | Run | Descent, format: str) -> bytes:
        from .plots.answer_figures import loss_figure

        run = _run(shown)
        rows = run.shown()
        assert run.ending is not None and run.best is not None
        steps, values = [row.step for row in rows], [row.value for row in rows]
        best, units = run.best, run.best.units
        at = {} if units is None else units["point"]
        of_value = None if units is None else units["value"]
        place = ", ".join(f"{name} = {measured(best.point[name], at.get(name), self.digits)}" for name in best.free)
        title = f"value {measured(best.value, of_value, self.digits)} at {place}"
        up = heading("value", unit_text(of_value))
        return loss_figure(steps, values, best.step, format, shortened(title), run.ending.message, self.theme, up)


def _rows(shown: DescentStep | Run | Descent) -> Iterable[DescentStep]:
    """The rows of a descent, each as it is taken; or the one."""
    assert not isinstance(shown, Run)
    return (shown,) if isinstance(shown, DescentStep) else shown


def _run(shown: DescentStep | Run | Descent) -> Run:
    """The run of a descent, taken now; or the one that was."""
    if isinstance(shown, Run):
        return shown
    assert isinstance(shown, Descent)
    run = Run(thin=False)
    for row in shown:
        run.add(row)
    run.best, run.ending, run.over = shown.best, shown.ending, shown.over
    return run
