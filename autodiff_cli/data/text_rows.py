"""Rows of text files: separated columns under a header, or a JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any

from ..batched.columns_io import unique
from ..errors import ExpressionError, limit_error, point_error
from ..inputs import decoding as reading
from ..inputs.parse_point import Typed, read_json, value_of_object
from ..language.elements import flatten
from ..streams.requests import lines
from .text_dialects import (
    AS_CSV,
    DATE,
    FORTRAN_DOUBLE,
    MISSING_VALUES,
    PLAIN,
    SPREADSHEET_ERROR,
    TIME,
    UNCLEAR,
    Dialect,
    Layout,
    in_formula,
)

TextRow = tuple[int, Mapping[str, object], ExpressionError | None]
"""A row: its line number, its cells by column, and its error or None."""

Line = tuple[int, str, ExpressionError | None]

MAX_FAULTY_ROWS = 1000
_ARRAY = re.compile(r"\ufeff?\s*\[\s*($|[{\[\"\d.-])")


class Texts:
    """The lines of a file, with pushback."""

    def __init__(self, file: Any, name: str, idle: Callable[[], None] | None = None, *, first: bool = True) -> None:
        """`name` is the file's in messages; `first` means at its beginning."""
        self.name = name
        self.again: list[Line] = []
        self.taken = 0
        self.first = first
        self.more = self.read(lines(file, idle))

    def read(self, raw: Iterator[bytes | None]) -> Iterator[Line]:
        """Yield each line as text. Raises `ExpressionError` for another format."""
        for number, data in enumerate(raw, start=1):
            if data is None:
                message = f"the line is longer than {reading.MAX_BYTES:,} bytes"
                yield number, "", limit_error(message, "use shorter lines")
                continue
            begins = self.first and number == 1
            if begins and (other := reading.kind_of(data)):
                self.refuse(*other)
            if begins and b"\r" in data[:-1] and b'"' not in data:
                kind = "text with lines that end in a carriage return alone"
                self.refuse(kind, "end them with a line feed: `tr '\\r' '\\n'`")
            text, fault = reading.decode(data.removesuffix(b"\r"), first=begins)
            if fault is not None:
                fault.text = text
            yield number, text, fault

    def refuse(self, kind: str, hint: str) -> None:
        """Raise the error that the file has another format."""
        raise point_error(f"{self.name} seems to be {kind}", hint)

    def __next__(self) -> Line:
        line = self.again.pop() if self.again else next(self.more)
        self.taken += 1
        return line

    def __iter__(self) -> Texts:
        return self

    def back(self, taken: Sequence[Line]) -> None:
        """Push lines back, in order."""
        self.again += reversed(taken)
        self.taken -= len(taken)


def table(texts: Texts, format: str | None, layout: Layout = AS_CSV) -> tuple[list[str], Iterator[TextRow], Dialect]:
    """Return the columns' names, the rows as an iterator, and the dialect.

    If each row names its own columns, the names are those of the first. Raises `ExpressionError`.
    """
    dialect = layout.dialect
    if layout.names is not None:
        columns = [*layout.names]
    else:
        first = next((line for line in texts if line[2] is not None or line[1].strip()), None)
        if first is None:
            raise point_error(f"{texts.name} is empty", "its first line names the columns: `x,y`")
        if _ARRAY.match(first[1]):
            texts.refuse("one array of JSON", "write an object a line: `jq -c '.[]' FILE`")
        if format == "jsonl" or (format is None and first[1].lstrip().startswith("{")):
            texts.back([first])
            return *with_names(objects_of(texts)), Dialect("")
        try:
            if first[2] is not None:
                raise first[2]
            columns = [cell.strip() for cell in _separated(first, texts, dialect)]
        except ExpressionError as fault:
            placed = point_error(f"in the header: {fault}", fault.hint, fault.span)
            placed.text = fault.text
            raise placed from None
    unique(columns)
    return columns, cells_of(columns, texts, dialect), dialect


class Unclosed(ExpressionError):
    """A quote that is open at the end of the text."""


def _separated(line: Line, texts: Texts, dialect: Dialect, columns: Sequence[str] = ()) -> list[str]:
    _, text, fault = line
    separator = dialect.separator
    if '"' not in text:
        return text.split(separator)
    cells: list[str] = []
    taken: list[Line] = []
    size = begin = end = 0
    while end >= 0:
        parts: list[str] = []
        while text.startswith('"', begin):
            if parts:
                parts.append('"')  # a doubled one
            begin += 1
            while (close := text.find('"', begin)) < 0:
                parts += text[begin:], "\n"
                size += len(text)
                more = next(texts, None) if size <= reading.MAX_BYTES else None
                if more is None:
                    texts.back(taken)
                    where = f"column `{columns[len(cells)]}`" if len(cells) < len(columns) else f"cell {len(cells) + 1}"
                    message = f"{where}: the quote that opens the cell is never closed"
                    raise Unclosed("point", message, hint='close it; inside a quoted cell, write `""` for a quote')
                taken.append(more)
                text, begin = more[1], 0
                fault = fault or more[2]
            parts.append(text[begin:close])
            begin = close + 1
        end = text.find(separator, begin)
        cells.append("".join([*parts, text[begin:] if end < 0 else text[begin:end]]))
        begin = end + len(separator)
    if fault is not None:
        raise fault
    return cells


def cells_of(columns: Sequence[str], texts: Texts, dialect: Dialect) -> Iterator[TextRow]:
    """Yield the rows of a file after its header."""
    count = len(columns)
    for line in texts:
        number, text, fault = line
        if fault is not None:
            yield number, {}, fault
        elif text.strip():
            try:
                cells = _separated(line, texts, dialect, columns)
            except ExpressionError as spoilt:
                yield number, {}, spoilt
                continue
            if len(cells) == count:
                yield number, dict(zip(columns, cells, strict=True)), None
            else:
                message = f"the row has {len(cells)} cells, and the header {count}"
                yield number, {}, point_error(message, "check its separators and quotes")


def with_names(rows: Iterator[TextRow]) -> tuple[list[str], Iterator[TextRow]]:
    """Return the names of the first row with names, and all rows. Raises the first fault if none."""
    passed: list[TextRow] = []
    for row in rows:
        passed.append(row)
        if row[2] is None or len(passed) > MAX_FAULTY_ROWS:
            break
    if passed and passed[-1][2] is not None:
        number, _, fault = passed[0]
        assert fault is not None
        raise ExpressionError(fault.kind, f"line {number}: {fault}", hint=fault.hint)
    return list(passed[-1][1]) if passed else [], chain(passed, rows)


def objects_of(texts: Texts) -> Iterator[TextRow]:
    """Yield the rows of a file with a JSON object a line."""
    for number, text, fault in texts:
        error = fault
        cells: Mapping[str, object] = {}
        if error is None and text.strip():
            try:
                value, error = read_json(text)
                if not isinstance(value, Mapping):
                    raise point_error("the row is not an object", 'write it as {"x": 3, "y": 1}')
                cells = _with_entries(value) if "[" in text else value
            except ExpressionError as fault_of_row:
                error = fault_of_row
        if error is not None or text.strip():
            yield number, cells, error


def _with_entries(cells: Mapping[str, object]) -> dict[str, object]:
    entries: dict[str, object] = {}
    for name, cell in cells.items():
        flat = flatten(name, cell) if isinstance(cell, list) else ""
        numbers = not isinstance(flat, str) and {*map(type, flat.values())} <= {int, float, Typed}
        entries.update(flat if numbers and not isinstance(flat, str) else {name: cell})
    return entries


_IN_PARENTHESES = re.compile(r"\([\d.,' ]+\)")


def value(name: str, cell: object, dialect: Dialect = PLAIN) -> float:
    """Return the number in a cell, with its text. Raises `ExpressionError`."""
    try:
        if isinstance(cell, str):
            cell = cell.strip()
            if cell == name:
                hint = "leave it out: where files were put together, each had its own"
                raise point_error("it is the name of the column: a header among the rows", hint)
            if cell in MISSING_VALUES or (cell[:1] == "#" and SPREADSHEET_ERROR.match(cell)):
                raise point_error(f"`{cell}` stands for no value", "give a number")
            if DATE.fullmatch(cell):
                hint = "give a number, such as days since the first of them"
                raise point_error(f"it is a date, and no number: `{cell}`", hint)
            if UNCLEAR.fullmatch(cell):
                hint = f"give a number; put what is to be computed in parentheses: `({cell})`"
                raise point_error(f"it may be a range, a code, or a number without its exponent: `{cell}`", hint)
            if cell[:1] == "(" and _IN_PARENTHESES.fullmatch(cell):
                hint = "write it without parentheses, with a sign where it is below 0"
                raise point_error(f"accounts write `-{cell[1:-1]}` as `{cell}`", hint)
            cell = in_formula(cell, dialect)
        if cell is None or cell == "":
            raise point_error("it is empty", "give a number")
        return value_of_object(name, float(cell) if isinstance(cell, Decimal) else cell)
    except ExpressionError as error:
        message, advice = str(error), error.hint
        if isinstance(cell, str):
            if FORTRAN_DOUBLE.fullmatch(cell):
                return value_of_object(name, re.sub("[dD]", "e", cell))
            # an invalid formula; the message is about files
            other = next((char for char in ";|" if char in cell and char != dialect.separator), None)
            if TIME.fullmatch(cell):
                message = f"it is a time, and no number: `{cell}`"
                advice = "give a number, such as seconds since the first of them"
            elif other is not None:
                here = "tabs" if dialect.separator == "\t" else f"`{dialect.separator}`"
                message = f"`{cell}` has a `{other}` in it, and columns are separated by {here} here"
                advice = "write all rows alike"
        raise point_error(f"column `{name}`: {message}", advice) from None


def numbers_in(
    row: TextRow, columns: Sequence[str], dialect: Dialect = PLAIN
) -> tuple[dict[str, float], ExpressionError | None]:
    """Return the numbers in columns of a row, and the row's first error or None."""
    _, cells, fault = row
    numbers: dict[str, float] = {}
    for column in columns if fault is None else ():
        try:
            numbers[column] = value(column, cells.get(column), dialect)
        except ExpressionError as error:
            fault = fault or error
    return numbers, fault
