"""The view of a descent: its rows for machines, the whole run for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from ...capability import resolve
from ...show.characters import on_one_line, shorten_end
from ...show.document import Block, Paragraph, Pieces, assignments, input_lines, numbers_table
from ...show.numerals import attach_units, heading, unit_of, words
from ...show.schema import OutputRow, PicturedView, PlotPage, read_declaration
from .descend import STEP_DECLARATION, DescentRun, DescentStep

# How many rows a terminal is shown.
MAX_SCREEN_ROWS = 40
# How many rows a table elsewhere has.
MAX_TABLE_ROWS = 10_000
# Fewer steps have no chart in a notebook.
MIN_DRAWN_STEPS = 3
# The step between rows that are shown, as rows become many.
STRIDES = (1, 2, 10, 20, 100)


class Run:
    """The rows of a run for people: a page, or a screen."""

    all_rows = "`--format csv` or `jsonl` gives them all"
    """Where the rows are that are left out."""

    def __init__(self, descent: DescentRun, thin: bool) -> None:
        self.descent, self.thin = descent, thin
        self.rows: list[DescentStep] = []
        self.last: DescentStep | None = None
        self._stride = self._next = 1

    def add(self, row: DescentStep) -> None:
        """Take one more row."""
        self.last = row
        if row.step % self._stride == 0:
            self.rows.append(row)
            if len(self.rows) > (MAX_SCREEN_ROWS if self.thin else MAX_TABLE_ROWS):
                power, place = divmod(self._next, len(STRIDES) - 1)
                self._stride, self._next = STRIDES[place] * STRIDES[-1] ** power, self._next + 1
                self.rows = [row for row in self.rows if row.step % self._stride == 0]

    @property
    def note(self) -> str:
        """Return a note on omitted rows; empty if all are shown."""
        if self._stride == 1 or self.last is None:
            return ""
        return f"1 in {self._stride:,} of {self.last.step + 1:,} rows; {self.all_rows}"

    def rows_shown(self) -> list[DescentStep]:
        """Return the rows, the last one among them."""
        return (
            self.rows
            if self.last is None or self.rows[-1:] == [self.last]
            else [*self.rows, self.last]
        )


Answer: TypeAlias = DescentStep | Run | DescentRun


read_declaration(DescentStep, text=STEP_DECLARATION)  # a run has several


class DescentView(PicturedView[Answer], of=DescentStep):
    """How rows, whole descents, and runs are shown."""

    def formula_sides(self, answer: Answer) -> Sequence[tuple[str, str]]:
        from ...show.tex_tables import short_formula_sides  # only notebooks need it

        return (
            short_formula_sides(answer.text, answer.best.point)
            if isinstance(answer, DescentRun)
            else ()
        )

    remembers_units = False
    other_records = (
        (
            "from Python, about a whole run",
            (DescentRun, Run),
            read_declaration(DescentRun, {"rows": list}).fields,
        ),
    )

    def rows(self, shown: Answer) -> Iterator[OutputRow]:
        for step in map(_measured, _rows(shown)):
            row = {name: getattr(step, name) for name in ("step", "value", "gradient_norm")}
            for name, x in step.point.items():
                yield {**row, "variable": name, "at": x, "partial": step.gradient.get(name)}

    def one_line(self, shown: Answer) -> str:
        steps = map(_measured, _rows(shown))
        texts = [
            [x for name in self.line_fields for x in words(getattr(step, name))] for step in steps
        ]
        return "\n".join(map(" ".join, texts))

    def document(self, shown: Answer) -> Iterator[Block]:
        run = _run(shown)
        if run.last is None:
            return
        last, best, ending = _measured(run.last), _measured(run.descent.best), run.descent.ending
        free, epochs = last.free, ("epoch",) if last.epoch is not None else ()
        yield from input_lines({}, last.point, free, self.digits, run.descent.over)
        rows: list[tuple[str | float, ...]] = []
        for row in run.rows_shown():
            counts = (str(row.step), *(str(row.epoch or 0) for _ in epochs))
            rows.append(
                (*counts, row.value, *(row.point[name] for name in free), row.gradient_norm)
            )
        named = [("value", last.value), *[(name, last.point[name]) for name in free]]
        named.append(("gradient norm", last.gradient_norm))
        heads = ("step", *epochs, *[heading(name, unit_of(x)) for name, x in named])
        yield numbers_table(heads, rows, self.digits, right=range(len(heads)), style="number")
        if run.note:
            yield Paragraph(((run.note, "faint"),))
        if ending is not None:
            yield Paragraph(((ending.message, "" if ending.succeeded else "heading"),))
            if ending.hint:
                yield Paragraph((("hint: ", "faint"), (ending.hint, "")))
        if best.step != last.step:
            place = assignments({name: self.number(best.point[name]) for name in free})
            value: Pieces = (
                (f"best: step {best.step}, value ", "faint"),
                (self.number(best.value), "number"),
            )
            yield Paragraph((*value, (" at ", "faint"), *place))

    def notebook_document(self, shown: Answer) -> Iterator[Block]:
        if not isinstance(shown, DescentRun):
            return self.document(shown)
        run = Run(shown, thin=True)
        run.all_rows = "its `rows` are all"
        for row in shown:
            run.add(row)
        return self.document(run)

    def drawing(self, shown: Answer) -> str | None:
        from ...show.chart import Panel, chart  # only notebooks need it

        if isinstance(shown, DescentStep):
            return None
        run = _run(shown)
        rows, best = [*map(_measured, run.rows_shown())], _measured(run.descent.best)
        if len(rows) < MIN_DRAWN_STEPS:
            return None
        values = [(float(row.step), float(row.value)) for row in rows]
        ring = [(float(best.step), float(best.value))]
        name = on_one_line(heading("value", unit_of(best.value)))
        panel = Panel(name, 130, line=values, rings=ring, may_be_logarithmic=True)
        return chart([panel], "step", f"{name} over {len(values):,} steps, the best in a ring")

    def picture(self, shown: Answer) -> PlotPage:
        run = _run(shown)
        best, ending = _measured(run.descent.best), run.descent.ending
        assert ending is not None
        place = ", ".join([f"{name} = {self.number(best.point[name])}" for name in best.free])
        title = shorten_end(f"value {self.number(best.value)} at {place}")
        up = heading("value", unit_of(best.value))
        drawn: PlotPage = resolve("plot.figure.loss_picture")(
            run.rows_shown(), best.step, title, ending.message, up
        )
        return drawn


def _measured(row: DescentStep) -> DescentStep:
    if row.units is None:
        return row
    units = {name: row.units[name] for name in ("value", "gradient_norm")}
    units["coordinates"] = [row.units["point"][name] for name in row.names]
    units["partials"] = [row.units["gradient"][name] for name in row.free]
    return attach_units(row, units)  # type: ignore[no-any-return]


def _rows(shown: Any) -> Iterable[DescentStep]:
    return (shown,) if isinstance(shown, DescentStep) else shown


def _run(shown: Any) -> Run:
    run = shown if isinstance(shown, Run) else Run(shown, thin=False)
    for row in () if run is shown else shown:
        run.add(row)
    return run
