"""Text files of rows: their dialects, their lines, and the numbers in their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from ..compiled.columns_io import unique
from ..errors import ExpressionError, limit_error, point_error, usage_error
from ..language.elements import flatten
from ..questions import decoding as reading
from ..questions.parse_point import Typed, read_json, value_of_object
from ..streams.requests import lines, mapping

FIRST_BLOCK_BYTES = 64 * 1024
# The separator that stands for runs of blanks and tabs.
BLANKS = " "

SPELLED = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "bar": "|",
    "blank": BLANKS,
    "blanks": BLANKS,
}
DECIMALS = {"point": ".", "comma": ",", ".": ".", ",": ","}
# What stands for no value; `MM` in the files of NOAA's buoys.
MISSING_VALUES = frozenset(
    ["NA", "N/A", "#N/A", "n/a", "<NA>", "null", "NULL", "None", "-", "--", ".", "?", "MM"]
)

# Spreadsheet errors: missing values, not comments.
SPREADSHEET_ERROR = re.compile(r"#(?:N/A|[A-Z]+(?:/0)?[!?])")

NOT_SPREADSHEET_ERROR = rf"(?!{SPREADSHEET_ERROR.pattern})"
FORTRAN_DOUBLE = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)[dD][+-]?\d{1,3}")
# A date, which as a formula would be a difference or a quotient.
DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?|\d{1,2}[-.]\d{1,2}[-.]\d{4}(?: .*)?"
    r"|\d{1,4}/\d{1,2}/\d{1,4}(?: .*)?|\d{4}/0\d|0\d/\d{4}"
)

# Unclear as a formula: `5-10`, Fortran's `1.5-123`, a truncated `1.5e`, a code `e`, a day `12/05`.
UNCLEAR = re.compile(r"[+-]?[\d.,]+(?:[eE]|(?:-[\d.,]+)+)|[+-]?e|0\d/\d{1,2}|\d{1,2}/0\d")

TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[aApP][mM]?)?")
_STYLES = (
    (".", ""),
    (",", ""),
    (".", ","),
    (",", "."),
    (".", "'"),
    (",", "'"),
    (".", " "),
    (",", " "),
)
# Non-breaking blanks and the apostrophe between thousands.
THIN = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f", " ") | {"\u2019": "'"})


class Missing(NamedTuple):
    """What stands for a missing value in a file, by `--missing`."""

    texts: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()
    """Those of the texts that are numbers, which are meant however they are written."""

    @classmethod
    def read(cls, marks: Sequence[str]) -> Missing:
        """Return the marks of options such as `-999,9.9E+37`."""
        texts = tuple(mark.strip() for text in marks for mark in text.split(",") if mark.strip())
        if marks and not texts:
            raise usage_error("`--missing` has no mark", "for example `--missing -999,9.9E+37`")
        return cls(
            texts, frozenset(float(mark) for mark in texts if number(".", "").fullmatch(mark))
        )

    def error(self, number_in_cell: float) -> ExpressionError:
        """Return the error of a cell with one of the numbers."""
        marks = [mark for mark in self.texts if number(".", "").fullmatch(mark)]
        return missing_value(next(mark for mark in marks if float(mark) == number_in_cell))


NONE_MISSING = Missing()


class ForcedDialect(NamedTuple):
    """The dialect by options; None for what the file shows."""

    input_format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    skip: int | None = None
    encoding: str | None = None
    comment: str | None = None
    header: str | None = None
    missing: Missing = NONE_MISSING
    where: str | None = None
    """The condition of the rows that are read, and the columns of its names by `--columns`."""
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def changes_rows(self) -> bool:
        """Return whether an option other than the separator says how rows are to be read."""
        return any(x is not None for x in (self.decimal, self.comment, self.header)) or bool(
            self.missing.texts
        )

    @classmethod
    def group_options(cls, group: object) -> ForcedDialect:
        own = {
            field: getattr(group, field)
            for field in cls._fields
            if field not in ("where", "columns")
        }
        where, columns = getattr(group, "where", None), getattr(group, "columns", None)
        if where is not None:
            own |= {"where": where, "columns": tuple(mapping(columns).items())}
        values = cls(**{**own, "missing": Missing.read(own["missing"] or ())})
        separator, decimal, encoding = values.separator, values.decimal, values.encoding
        if separator is not None:
            separator = SPELLED.get(separator, separator)
            if len(separator) != 1 or separator.isalnum() or separator in "\"'.+-\n\r":
                hint = "write one character, or tab, comma, semicolon, bar, blanks"
                raise usage_error(f"`--separator` cannot be `{separator}`", hint)
        if decimal is not None:
            if decimal not in DECIMALS:
                raise usage_error(f"`--decimal` cannot be `{decimal}`", "it takes point, comma")
            decimal = DECIMALS[decimal]
            if decimal == separator:
                raise usage_error(
                    "a comma cannot separate columns and decimals", "leave one of them out"
                )
        if encoding is not None:
            try:
                " ".encode(encoding)
            except (LookupError, ValueError):
                hint = "for example utf-8, utf-16, latin-1, cp1252"
                raise usage_error(f"`--encoding` cannot be `{encoding}`", hint) from None
        return values._replace(separator=separator, decimal=decimal)


UNFORCED = ForcedDialect()


class Dialect(NamedTuple):
    """The format of rows of text, for the plain reader and pyarrow's."""

    separator: str = ","
    """The separator of cells; empty for a JSON object a row."""
    decimal: str = "."
    thousands: str = ""
    missing: Missing = NONE_MISSING
    remarks: bool = False
    """Whether the last column has words, and rows without them end before it."""

    @property
    def plain(self) -> bool:
        return self.decimal == "." and not self.thousands


PLAIN = Dialect()


class Layout(NamedTuple):
    """The recognised format of a file, and the place of its table."""

    dialect: Dialect = PLAIN
    names: Sequence[str] | None = None
    """The columns; None if the first line that is not empty names them."""
    units: Sequence[str | None] = ()
    """The units of columns from a row of units, in order."""
    skip: int = 0
    marks: tuple[str, ...] = ()
    blanks: bool = False
    summary: tuple[str, ...] = ()


# Plain csv, or a file that is no text, as its reader reports.
AS_CSV = Layout()


# ---- numbers in cells
@cache
def number(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the pattern of numbers with these separators."""
    integer = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|\d+)" if thousands else r"\d+"
    point = re.escape(decimal)
    return re.compile(rf"[+-]?(?:{integer}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def styles_of(cell: str) -> list[tuple[str, str]]:
    """Return the decimal marks and thousands separators that fit a cell."""
    cell = cell.translate(THIN)
    return [style for style in _STYLES if number(*style).fullmatch(cell)]


def as_point(cell: str, decimal: str, thousands: str) -> str:
    """Return a number of this style in the style of formulas."""
    cell = cell.replace(thousands, "") if thousands else cell
    return cell.replace(decimal, ".")


def in_formula(cell: str, dialect: Dialect) -> str:
    """Return a cell in the style of formulas."""
    if dialect.plain and "," not in cell:
        return cell
    cell = cell.translate(THIN)
    styles = [style for style in styles_of(cell) if not dialect.plain or "," in style]
    if not dialect.plain and (style := (dialect.decimal, dialect.thousands)) in styles:
        return as_point(cell, *style)
    if not styles and (dialect.plain or not re.search(r"[.,']|\d \d", cell)):
        return cell
    raise _other_style(cell, styles, dialect)


def _other_style(cell: str, styles: Sequence[tuple[str, str]], dialect: Dialect) -> ExpressionError:
    """Return the error of a number in one of the styles that fit it, of which none is the
    file's.
    """
    readings: dict[str, str] = {}
    for mark, thousands in styles:
        readings.setdefault(as_point(cell, mark, thousands), mark)
    if len(readings) > 1:
        ways = [
            f"{number} (`--decimal {option_word(mark, DECIMALS)}`)"
            for number, mark in readings.items()
        ]
        hint = "choose one of the two, or write the number without the mark"
        return ExpressionError(
            "point", f"it can be read in two ways: `{cell}` is {' or '.join(ways)}", hint=hint
        )
    here, there = ("point", "comma") if dialect.decimal == "." else ("comma", "point")
    message = f"it is not written with a decimal {here}, as the file begins: `{cell}`"
    otherwise = f", or give `--decimal {there}`" if styles else ""
    return ExpressionError("point", message, hint=f"write it as the other numbers{otherwise}")


def is_number(cell: str) -> bool:
    """Return whether a cell is a number in some style."""
    return bool(styles_of(cell) or FORTRAN_DOUBLE.fullmatch(cell))


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, a date or a time."""
    if cell[:1].isalpha():
        return False
    return is_number(cell) or bool(DATE.fullmatch(cell) or TIME.fullmatch(cell))


def is_missing(cell: str) -> bool:
    """Return whether a cell means a missing value."""
    return not cell.strip(".") or cell in MISSING_VALUES or cell.lower() in ("nan", "inf", "-inf")


def all_values(cells: Sequence[str]) -> bool:
    """Return whether cells are values or missing, and not all of them missing."""
    return any(map(is_value, cells)) and all(is_value(cell) or is_missing(cell) for cell in cells)


def usual_style(cells: Collection[str], decimal: str | None) -> tuple[str, str]:
    """Return the decimal mark and the thousands separator that fit most cells."""
    styles = [style for style in _STYLES if decimal in (None, style[0])]
    for cell in cells:
        if (own := styles_of(cell)) and len(own) < len(_STYLES):
            # if no style fits all numbers, the file has the style of its beginning
            styles = [style for style in styles if style in own] or styles
    usual = (decimal or ".", "")
    # comma and point may both be the decimal mark: ambiguous cells are refused
    if usual in styles or not styles or {(".", ","), (",", ".")} <= {*styles}:
        return usual
    return styles[0]


def option_word(char: str, words: Mapping[str, str]) -> str:
    """Return the word that an option takes for a character."""
    return next((word for word, own in words.items() if own == char and word.isalpha()), char)


# ---- lines
class LineNormalizer:
    """Converts lines of a file to a format that both readers accept."""

    def __init__(self, layout: Layout) -> None:
        self.skip, self.blanks = layout.skip, layout.blanks
        marks = "|".join(map(re.escape, layout.marks))
        pattern = rf"^[ \t]*{NOT_SPREADSHEET_ERROR}(?:{marks})[^\n]*"
        self.comment = re.compile(pattern.encode(), re.MULTILINE) if marks else None
        self.open = False

    def __call__(self, block: bytes) -> bytes:
        empty = min(self.skip, block.count(b"\n"))
        block = block.split(b"\n", empty)[-1]
        self.skip -= empty
        if self.skip:
            return b"\n" * empty
        if (self.comment or self.blanks) and (b'"' in block or self.open):
            return b"\n" * empty + b"\n".join(map(self._line, block.split(b"\n")))
        if self.comment:
            block = self.comment.sub(b"", block)
        return b"\n" * empty + (_separate_by_tabs(block) if self.blanks else block)

    def _line(self, line: bytes) -> bytes:
        if not self.open and self.comment and self.comment.match(line):
            return b""
        if self.blanks:
            pieces = re.split(rb'("(?:[^"]|"")*")', line)
            last = len(pieces) - 1
            return b"".join(
                x if k % 2 else _separate_by_tabs(x, k == 0, k == last)
                for k, x in enumerate(pieces)
            )
        self.open ^= line.count(b'"') % 2 == 1
        return line


def _separate_by_tabs(block: bytes, begins: bool = True, ends: bool = True) -> bytes:
    if begins:
        block = re.sub(rb"(?m)^[ \t]+", b"", block)
    if ends:
        block = re.sub(rb"(?m)[ \t]+(?=\r?$)", b"", block)
    return re.sub(rb"[ \t]+", b"\t", block)


# ---- rows
# A row: its line number, its cells by column, and its error or None.
TextRow = tuple[int, Mapping[str, object], ExpressionError | None]

ReadLine = tuple[int, str, ExpressionError | None]
MAX_FAULTY_ROWS = 1000
_ARRAY = re.compile(r"\ufeff?\s*\[\s*($|[{\[\"\d.-])")


def begins_as_json(text: str) -> bool:
    """Return whether a text begins as an object or an array of JSON, and not as a section
    `[Header]` of settings.
    """
    return text.lstrip()[:1] == "{" or _ARRAY.match(text) is not None


class Texts(Iterator[ReadLine]):
    """The lines of a file, with pushback."""

    def __init__(
        self, file: Any, name: str, idle: Callable[[], None] | None = None, *, first: bool = True
    ) -> None:
        self.name = name
        self.again: list[ReadLine] = []
        self.taken = 0
        self.first = first
        self.more = self._read(lines(file, idle))

    def _read(self, raw: Iterator[bytes | None]) -> Iterator[ReadLine]:
        for number, data in enumerate(raw, start=1):
            if data is None:
                message = f"the line is longer than {reading.MAX_BYTES:,} bytes"
                yield number, "", limit_error(message, "use shorter lines")
                continue
            begins = self.first and number == 1
            if begins and (other := reading.kind_of(data)):
                self._refuse(*other)
            if begins and b"\r" in data[:-1] and b'"' not in data:
                kind = "text with lines that end in a carriage return alone"
                self._refuse(kind, "end them with a line feed: `tr '\\r' '\\n'`")
            text, fault = reading.decode(data.removesuffix(b"\r"), first=begins)
            if fault is not None:
                fault.text = text
            yield number, text, fault

    def _refuse(self, kind: str, hint: str) -> None:
        raise point_error(f"{self.name} seems to be {kind}", hint)

    def __next__(self) -> ReadLine:
        line = self.again.pop() if self.again else next(self.more)
        self.taken += 1
        return line

    def push_back(self, taken: Sequence[ReadLine]) -> None:
        """Push lines back."""
        self.again += reversed(taken)
        self.taken -= len(taken)


def table(
    texts: Texts, format: str | None, layout: Layout = AS_CSV
) -> tuple[list[str], Iterator[TextRow], Dialect]:
    """Return the columns' names, or those of the first row, the rows, and the dialect."""
    dialect = layout.dialect
    if layout.names is not None:
        columns = [*layout.names]
    else:
        first = next((line for line in texts if line[2] is not None or line[1].strip()), None)
        if first is None:
            raise point_error(f"{texts.name} is empty", "its first line names the columns: `x,y`")
        if _ARRAY.match(first[1]):
            texts._refuse("one array of JSON", "write an object a line: `jq -c '.[]' FILE`")
        if format == "jsonl" or (format is None and first[1].lstrip().startswith("{")):
            texts.push_back([first])
            return *_table_of_objects(texts), dialect._replace(separator="")
        columns = _names_in_header(first, texts, dialect)
    unique(columns)
    return columns, cells_of(columns, texts, dialect), dialect


def _table_of_objects(texts: Texts) -> tuple[list[str], Iterator[TextRow]]:
    """Return the names of the first object that has no fault, and all rows."""
    rows, passed = objects_of(texts), list[TextRow]()
    for row in rows:
        passed.append(row)
        if row[2] is None or len(passed) > MAX_FAULTY_ROWS:
            break
    if passed and passed[-1][2] is not None and (fault := passed[0][2]) is not None:
        raise ExpressionError(
            fault.kind, f"line {passed[0][0]} of {texts.name}: {fault}", hint=fault.hint
        )
    return list(passed[-1][1]) if passed else [], chain(passed, rows)


def _names_in_header(line: ReadLine, texts: Texts, dialect: Dialect) -> list[str]:
    try:
        if line[2] is not None:
            raise line[2]
        return [cell.strip() for cell in _separate(line, texts, dialect)]
    except ExpressionError as fault:
        placed = point_error(f"in the header: {fault}", fault.hint, fault.span)
        placed.text = fault.text
        raise placed from None


class Unclosed(ExpressionError):
    """A quote that is open at the end of the text."""


def _separate(
    line: ReadLine, texts: Texts, dialect: Dialect, columns: Sequence[str] = ()
) -> list[str]:
    _, text, fault = line
    separator = dialect.separator
    if '"' not in text:
        return text.split(separator)
    cells: list[str] = []
    taken: list[ReadLine] = []
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
                    texts.push_back(taken)
                    where = (
                        f"column `{columns[len(cells)]}`"
                        if len(cells) < len(columns)
                        else f"cell {len(cells) + 1}"
                    )
                    message = f"{where}: the quote that opens the cell is never closed"
                    raise Unclosed(
                        "point",
                        message,
                        hint='close it; inside a quoted cell, write `""` for a quote',
                    )
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
                cells = _separate(line, texts, dialect, columns)
            except ExpressionError as spoilt:
                yield number, {}, spoilt
                continue
            if len(cells) == count:
                yield number, dict(zip(columns, cells, strict=True)), None
            elif dialect.remarks and len(cells) == count - 1:
                yield number, dict(zip(columns, [*cells, ""], strict=True)), None
            else:
                message = f"the row has {len(cells)} cells, and the header {count}"
                yield number, {}, point_error(message, "check its separators and quotes")


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


def missing_value(cell: object) -> ExpressionError:
    """Return the error of a cell that stands for a missing value."""
    return point_error(f"`{cell}` is a missing value", "give a number")


# Most cells: with a decimal point, such a number means nothing else.
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")

_IN_PARENTHESES = re.compile(r"\([\d.,' ]+\)")


def value(name: str, cell: object, dialect: Dialect = PLAIN) -> float:
    """Return the number in a cell, with its text. Raises `ExpressionError`."""
    try:
        if isinstance(cell, str):
            cell = cell.strip()
            is_plain = (
                dialect.decimal == "."
                and not dialect.missing.texts
                and _PLAIN_NUMBER.fullmatch(cell)
            )
            if not is_plain or cell == name:
                if (fault := _no_number(cell, name, dialect)) is not None:
                    raise fault
                cell = in_formula(cell, dialect)
        if cell in (None, ""):
            raise point_error("it is empty", "give a number")
        result = value_of_object(name, float(cell) if isinstance(cell, Decimal) else cell)
        if dialect.missing.numbers and result in dialect.missing.numbers:
            raise dialect.missing.error(result)
        return result
    except ExpressionError as error:
        fault = error
        if isinstance(cell, str):
            if FORTRAN_DOUBLE.fullmatch(cell):
                return value_of_object(name, re.sub("[dD]", "e", cell))
            # an invalid formula; the message is about files
            fault = _time_or_other_columns(cell, dialect) or error
        raise point_error(f"column `{name}`: {fault}", fault.hint) from None


def _no_number(cell: str, name: str, dialect: Dialect) -> ExpressionError | None:
    """Return the error of a cell that could be read as a formula, and means something else."""
    if cell == name:
        hint = "leave it out: where files were put together, each had its own"
        return point_error("it is the name of the column: a header among the rows", hint)
    is_mark = cell in MISSING_VALUES or cell in dialect.missing.texts
    is_mark = is_mark or (cell != "" and not cell.strip("-."))  # as `--.--` of a display
    if is_mark or (cell[:1] == "#" and SPREADSHEET_ERROR.match(cell)):
        return missing_value(cell)
    if DATE.fullmatch(cell):
        return point_error(
            f"it is a date, not a number: `{cell}`",
            "give a number, such as days since the first of them",
        )
    if UNCLEAR.fullmatch(cell):
        hint = f"give a number; put what is to be computed in parentheses: `({cell})`"
        return point_error(
            f"it may be a range, a code, or a number without its exponent: `{cell}`", hint
        )
    if cell[:1] == "(" and _IN_PARENTHESES.fullmatch(cell):
        hint = "write it without parentheses, with a sign where it is below 0"
        return point_error(f"accounts write `-{cell[1:-1]}` as `{cell}`", hint)
    return None


def _time_or_other_columns(cell: str, dialect: Dialect) -> ExpressionError | None:
    """Return what a cell is that is no formula: a time, or several cells between other separators
    than the file's.
    """
    if TIME.fullmatch(cell):
        hint = "give a number, such as seconds since the first of them"
        return point_error(f"it is a time, not a number: `{cell}`", hint)
    other = next((char for char in ";|" if char in cell and char != dialect.separator), None)
    if other is None:
        return None
    here = "tabs" if dialect.separator == "\t" else f"`{dialect.separator}`"
    return point_error(
        f"`{cell}` has a `{other}` in it, and columns are separated by {here} here",
        "write all rows alike",
    )


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
