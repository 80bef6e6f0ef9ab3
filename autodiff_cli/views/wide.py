"""Wide rows: on one line the value at a row of data, its derivatives, its error and what it carries along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TextIO

from ..errors import Diagnostic, ExpressionError
from .document import Pieces, Table
from .formats import Asked, Documents, Json, JsonLines, Markdown, Separated, Tabbed, Writer, lacking
from .schema import OutputRow, View

TOGETHER = 1000
"""Rows of one table for people; more of them are further tables, which are written as they come."""


class Values(tuple[float, ...]):
    """The value and the derivatives at a row, in the order of their names."""

    __slots__ = ()
    warnings: ClassVar[tuple[Diagnostic, ...]] = ()

    def _replace(self, *, warnings: tuple[Diagnostic, ...]) -> Values:
        return self


class WideView(View[Values]):
    """How wide rows are shown."""

    names: tuple[str, ...] = ()
    """Of the numbers."""
    kept: tuple[str, ...] = ()
    """The columns that are carried along."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of csv and tsv."""
        return (*self.names, "error", *self.kept)

    def rows(self, answer: Values) -> Iterator[OutputRow]:
        yield dict(zip(self.names, answer, strict=True))


def error_text(asked: Asked, error: ExpressionError) -> str:
    """An error as a cell says it; without a line it says itself where it is."""
    if not asked.line:
        return str(error)
    return f"line {asked.line}: {error.kind}: {error}"


class WideLines(JsonLines[Values]):
    """One flat record a row."""

    def answer(self, asked: Asked, answer: Values) -> None:
        self.record({**dict(zip(self.view.columns, answer, strict=False)), "error": None, **(asked.kept or {})})

    def error(self, asked: Asked, error: ExpressionError) -> None:
        names = self.view.columns[: self.view.columns.index("error")]
        self.record({**dict.fromkeys(names), "error": error_text(asked, error), **(asked.kept or {})})


class WideJson(WideLines, Json[Values]):
    """One array of them."""


class WideCells(Separated[Values]):
    """One line of cells a row."""

    def error(self, asked: Asked, error: ExpressionError) -> None:
        self._rows(asked, [{"error": error_text(asked, error)}])


class WideTabs(WideCells, Tabbed[Values]):
    """Write the rows separated by tabs."""


class WideTable(Documents[Values]):
    """Tables for people."""

    carries_errors = True

    def __init__(self, out: TextIO, view: View[Values], many: bool) -> None:
        super().__init__(out, view, False)
        self._rows: list[tuple[str, list[str], str, list[str]]] = []
        """The line, the numbers, the error and what is carried along."""

    def answer(self, asked: Asked, answer: Values) -> None:
        self._add(asked, [*map(self.view.number, answer)], "")

    def error(self, asked: Asked, error: ExpressionError) -> None:
        self._add(
            asked, ["–"] * self.view.columns.index("error"), f"{error.kind}: {error}" if asked.line else str(error)
        )

    def _add(self, asked: Asked, numbers: list[str], error: str) -> None:
        kept = [str(cell) if cell is not None else "" for cell in (asked.kept or {}).values()]
        self._rows.append((str(asked.line) if asked.line else "", numbers, error, kept))
        if len(self._rows) >= TOGETHER:
            self.close()

    def close(self) -> None:
        if not self._rows:
            return
        lines, errors = any(row[0] for row in self._rows), any(row[2] for row in self._rows)
        end = self.view.columns.index("error")
        heads = ("line",) * lines + tuple(self.view.columns[:end]) + ("error",) * errors
        rows: list[tuple[Pieces, ...]] = []
        for line, numbers, error, kept in self._rows:
            cells: list[Pieces] = [((line, "faint"),), *[((number, "number"),) for number in numbers]]
            cells += [((error, "error"),), *[((cell, ""),) for cell in kept]]
            rows.append(tuple([cell for k, cell in enumerate(cells) if (k or lines) and (k != end + 1 or errors)]))
        right = frozenset(range(lines + end))
        self._document(Asked(None), [Table((*heads, *self.view.columns[end + 1 :]), rows, right)])
        self._rows = []


class WideMarkdown(WideTable, Markdown[Values]):
    """Write the rows as a Markdown table."""


WIDE: dict[str, type[Writer[Any]]] = {
    "table": WideTable,
    "json": WideJson,
    "jsonl": WideLines,
    "csv": WideCells,
    "tsv": WideTabs,
    "markdown": WideMarkdown,
}
"""The formats of wide rows that are text."""


def wide(
    format: str, out: TextIO, names: Sequence[str], kept: Sequence[str], *, digits: int | None, spreadsheet: bool
) -> Writer[Values]:
    """The writer of wide rows in a format. Raises a usage error for one that they lack."""
    if format not in WIDE:
        raise lacking(format, WIDE)
    out_writer = WIDE[format](out, WideView(digits=digits, names=tuple(names), kept=tuple(kept)), True)
    out_writer.disarm_cells(spreadsheet)
    return out_writer
