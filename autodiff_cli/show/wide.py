"""Wide rows: on one line the point, the value and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TextIO

from ..errors import ExpressionError
from ..questions.figures import Figure
from .characters import Style
from .document import Block, Paragraph, Table, assignments
from .formats import FORMATS, Documents, JsonLines, Writer, cell_text, writer
from .numerals import heading, repr_number, unit_of, with_uncertainty, without_unit
from .schema import OutputRow, View
from .subject import Subject

# Rows of one table for people; more of them are further tables.
MAX_TABLE_ROWS = 1000


class Values(tuple[Any, ...]):
    """The cells of a row, in the order of their names."""

    __slots__ = ()
    warnings = ()


class WideRows(list[Mapping[str, Any]]):
    """The cells of an answer's rows, by column with its unit."""

    warnings = ()

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            cells = {heading(name, unit_of(x)): without_unit(x) for name, x in row.items()}
            self.append(cells)


class WideLines(JsonLines[Values]):
    """One flat record a row."""

    view: WideView

    def answer(self, subject: Subject, answer: Values) -> None:
        self._flat(subject, dict(zip(self.view.names, answer, strict=True)), None)

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self._flat(subject, dict.fromkeys(self.view.names), self.view.error_text(subject, error))

    def _flat(self, subject: Subject, numbers: dict[str, Any], error: str | None) -> None:
        kept = {**(subject.kept or {})}
        leading = {name: kept.pop(name, None) for name in self.view.leading}
        cells = {
            name: repr_number(x) if isinstance(x, Figure) else x for name, x in numbers.items()
        }
        self._record({**leading, **cells, "error": error, **kept})


class WideTable(Documents[Values]):
    """Writes wide rows as a table, or in Markdown."""

    view: WideView

    def __init__(self, format: str, out: TextIO, view: View[Values], many: bool) -> None:
        super().__init__(format, out, view, False)
        self._rows: list[tuple[str, ...]] = []

    def answer(self, subject: Subject, answer: Values) -> None:
        self._add(subject, [x if isinstance(x, str) else self.view.number(x) for x in answer], "")

    def error(self, subject: Subject, error: ExpressionError) -> None:
        # the line has a column
        text = self.view.error_text(subject, error).removeprefix(f"line {subject.line}: ")
        self._add(subject, ["–"] * len(self.view.names), text)

    def _add(self, subject: Subject, numbers: list[str], error: str) -> None:
        kept = {**(subject.kept or {})}
        leading = [kept.pop(name, None) for name in self.view.leading]
        first = [self.view.number(x) if isinstance(x, float) else str(x or "–") for x in leading]
        numbers = [*first, *numbers]
        line = str(subject.line) if subject.line and self.view.numbered else ""
        carried = [str(cell) if cell is not None else "" for cell in kept.values()]
        self._rows.append((line, *numbers, error, *carried))
        if len(self._rows) >= MAX_TABLE_ROWS:
            self.close()

    def _empty_columns(self, *columns: int) -> set[int]:
        """Return those of some columns that no row has: lines and errors are shown where there are
        some.
        """
        return {k for k in columns if not any(row[k] for row in self._rows)}

    def close(self) -> None:
        if not self._rows:
            return
        heads = ("line", *self.view.columns)
        end = heads.index("error")
        styles: list[Style] = ["number" if k < end else "" for k in range(len(heads))]
        styles[0], styles[end] = "faint", "error"
        empty = self._empty_columns(0, end)
        shown = [k for k in range(len(heads)) if k not in empty]
        rows = [tuple([((row[k], styles[k]),) for k in shown]) for row in self._rows]
        right = frozenset(column for column, k in enumerate(shown) if k < end)
        fixed = assignments(
            {name: with_uncertainty(x, self.view.digits) for name, x in self.view.fixed.items()}
        )
        blocks: list[Block] = (
            [Paragraph((("in all rows: ", "faint"), *fixed))] if fixed and not self._begun else []
        )
        self._document(
            Subject(None), [*blocks, Table(tuple([heads[k] for k in shown]), rows, right)]
        )
        self._rows = []


WIDE: dict[str, type[Writer[Any]]] = {
    name: kind for name, kind in FORMATS.items() if name != "latex"
}
WIDE |= {"json": WideLines, "jsonl": WideLines, "table": WideTable, "markdown": WideTable}
"""The formats of wide rows that are text."""


class WideView(View[Values]):
    """How wide rows are shown."""

    writers = WIDE
    names: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    fixed: Mapping[str, float] = MappingProxyType({})
    numbered: bool = True
    """Whether errors say the line in which a row stands."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (
            *self.leading,
            *self.names,
            "error",
            *[name for name in self.kept if name not in self.leading],
        )

    def rows(self, answer: Values) -> Iterator[OutputRow]:
        yield dict(zip(self.names, answer, strict=True))

    def one_line(self, answer: Values) -> str:
        return " ".join(map(cell_text, answer))

    def error_text(self, subject: Subject, error: ExpressionError) -> str:
        if not self.numbered:
            return f"{error.kind}: {error}"
        return f"line {subject.line}: {error.kind}: {error}" if subject.line else str(error)


# Rows without an answer that may come before the first answer.
MAX_HELD_ROWS = 10_000


class DeferredWideWriter(Writer[WideRows]):
    """Wide rows whose columns the first answer names."""

    carries_errors = True

    def __init__(self, opened: Callable[[tuple[str, ...]], Writer[Values]], out: TextIO) -> None:
        """`opened` is the writer of rows with these columns."""
        self.out, self.opened = out, opened
        self.names: tuple[str, ...] = ()
        self.writer: Writer[Values] | None = None
        self.held: list[tuple[Subject, ExpressionError]] = []

    def answer(self, subject: Subject, answer: WideRows) -> None:
        for row in answer:
            if "error" in row:
                kind, _, message = row["error"].partition(": ")
                self.error(subject, ExpressionError(kind, message))
                continue
            row_writer = self.writer or self._open(tuple(row))
            unit = next(
                (name for name in row if name.endswith("]") and name not in self.names), None
            )
            if unit is not None:
                self.error(
                    subject,
                    ExpressionError(
                        "dimension", f"`{unit}` is in another unit than in the first row"
                    ),
                )
            else:
                row_writer.answer(subject, Values(map(row.get, self.names)))

    def error(self, subject: Subject, error: ExpressionError) -> None:
        if self.writer is not None:
            self.writer.error(subject, error)
            return
        self.held.append((subject, error))
        if len(self.held) > MAX_HELD_ROWS:
            self._open(())
            message = f"none of the first {MAX_HELD_ROWS:,} rows has an answer"
            raise ExpressionError(error.kind, f"{message}; the last one: {error}", hint=error.hint)

    def _open(self, names: tuple[str, ...]) -> Writer[Values]:
        self.names, self.writer = names, self.opened(names)
        for subject, error in self.held:
            self.writer.error(subject, error)
        self.held = []
        return self.writer

    def close(self) -> None:
        (self.writer or self._open(())).close()


def open_writer(
    format: str,
    out: TextIO,
    names: Sequence[str],
    kept: Sequence[str],
    *,
    spreadsheet: bool,
    **choices: Any,
) -> Writer[Values]:
    """Return the writer of wide rows. Raises a usage error."""
    view = WideView(names=tuple(names), kept=tuple(kept), **choices)
    wide_writer = writer(format, out, view, True, spreadsheet=spreadsheet)
    wide_writer.carries_errors = True
    return wide_writer
