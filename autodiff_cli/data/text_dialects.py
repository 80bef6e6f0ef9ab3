"""Text files of rows: their dialects, recognised by the manual's rules, and their cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

from ..batched.columns_io import unique
from ..errors import ExpressionError, limit_error, point_error, quote, usage_error
from ..inputs import decoding as reading
from ..inputs.optional_units import NO_UNIT, heading, is_unit, without_brackets
from ..inputs.parse_point import Typed, read_json, value_of_object
from ..language.elements import flatten
from ..streams.requests import lines

FIRST_BLOCK_BYTES = 64 * 1024
SAMPLE_LINES = 20
COMMENT_MARKS = ("#", "%", "//")
BLANKS = " "
"""The separator that stands for runs of blanks and tabs."""

MAX_PREFACE_LINES = 100
SEPARATORS = ("\t", ";", "|", ",", BLANKS)
SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": BLANKS, "blanks": BLANKS}
_SHORT = {"\t": "tab", BLANKS: "blanks"}
DECIMALS = {"point": ".", "comma": ",", ".": ".", ",": ","}
MISSING_VALUES = frozenset(["NA", "N/A", "#N/A", "n/a", "<NA>", "null", "NULL", "None", "-", "--", ".", "?"])
SPREADSHEET_ERROR = re.compile(r"#(?:N/A|[A-Z]+(?:/0)?[!?])")
"""Spreadsheet errors: missing values, not comments."""

_SPREADSHEET = rf"(?!{SPREADSHEET_ERROR.pattern})"
FORTRAN_DOUBLE = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)[dD][+-]?\d{1,3}")
DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?|\d{1,2}[-.]\d{1,2}[-.]\d{4}(?: .*)?"
    r"|\d{1,4}/\d{1,2}/\d{1,4}(?: .*)?|\d{4}/0\d|0\d/\d{4}"
)
"""A date, which as a formula would be a difference or a quotient."""

UNCLEAR = re.compile(r"[+-]?[\d.,]+(?:[eE]|(?:-[\d.,]+)+)|[+-]?e|0\d/\d{1,2}|\d{1,2}/0\d")
"""Unclear as a formula: `5-10`, Fortran's `1.5-123`, a truncated `1.5e`, a code `e`, a day `12/05`."""

_SCALE = re.compile(r"1(?:\.0*)?(?:[eE][+-]?\d+)?")
"""What stands in a row of units for a number without a unit: `1`, or CF's `1e-3`."""

TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?")
_THOUSANDS = {",": "commas", ".": "points", "'": "apostrophes", " ": "blanks"}
_STYLES = ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
_THIN = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f", " ") | {"\u2019": "'"})
"""Non-breaking blanks and the apostrophe between thousands."""

_PLAIN_HEADER = re.compile(r"[^\W\d]\w*(?: *, *[^\W\d]\w*)+")
_NO_TEXT = re.compile(r"[\0-\x08\x0e-\x1f\r\ufffd]")
_SPECIAL = re.compile(r'[\t;|"\u00a0\u2009\u202f\u2019]|\d\'\d|^[ \t]*(?:#|%|//|sep=)', re.MULTILINE)


class ForcedDialect(NamedTuple):
    """The dialect by options; None for what the file shows."""

    input_format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    skip: int | None = None
    encoding: str | None = None
    comment: str | None = None

    @classmethod
    def group_options(cls, group: object) -> ForcedDialect:
        values = cls(*(getattr(group, field) for field in cls._fields))
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
                raise usage_error("a comma cannot separate columns and decimals", "leave one of them out")
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


AS_CSV = Layout()
"""Plain csv, or a file that is no text, as its reader reports."""


# ---- numbers in cells
@cache
def number(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the pattern of numbers with these separators."""
    integer = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|\d+)" if thousands else r"\d+"
    point = re.escape(decimal)
    return re.compile(rf"[+-]?(?:{integer}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def styles_of(cell: str) -> list[tuple[str, str]]:
    """Return the decimal marks and thousands separators that fit a cell."""
    return [style for style in _STYLES if number(*style).fullmatch(cell)]


def as_point(cell: str, decimal: str, thousands: str) -> str:
    """Return a number of this style in the style of formulas."""
    cell = cell.replace(thousands, "") if thousands else cell
    return cell.replace(decimal, ".")


def in_formula(cell: str, dialect: Dialect) -> str:
    """Return a cell in the style of formulas."""
    if dialect.plain and "," not in cell:
        return cell
    cell = cell.translate(_THIN)
    styles = [style for style in styles_of(cell) if not dialect.plain or "," in style]
    if not dialect.plain and (style := (dialect.decimal, dialect.thousands)) in styles:
        return as_point(cell, *style)
    if not styles and (dialect.plain or not re.search(r"[.,']|\d \d", cell)):
        return cell
    readings: dict[str, str] = {}
    for mark, thousands in styles:
        readings.setdefault(as_point(cell, mark, thousands), mark)
    if len(readings) > 1:
        ways = [f"{number} (`--decimal {_word(mark, DECIMALS)}`)" for number, mark in readings.items()]
        hint = "choose one of the two, or write the number without the mark"
        raise ExpressionError("point", f"it can be read in two ways: `{cell}` is {' or '.join(ways)}", hint=hint)
    here, there = ("point", "comma") if dialect.decimal == "." else ("comma", "point")
    message = f"it is not written with a decimal {here}, as the file begins: `{cell}`"
    otherwise = f", or give `--decimal {there}`" if styles else ""
    raise ExpressionError("point", message, hint=f"write it as the other numbers{otherwise}")


def _is_value(cell: str) -> bool:
    return bool(styles_of(cell) or DATE.fullmatch(cell) or TIME.fullmatch(cell) or FORTRAN_DOUBLE.fullmatch(cell))


def is_missing(cell: str) -> bool:
    """Return whether a cell means a missing value."""
    return not cell or cell in MISSING_VALUES or cell.lower() in ("nan", "inf", "-inf")


def _all_values(cells: Sequence[str]) -> bool:
    return any(map(_is_value, cells)) and all(_is_value(cell) or is_missing(cell) for cell in cells)


def _style(cells: Collection[str], decimal: str | None) -> tuple[str, str]:
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


# ---- lines and cells
_QUOTED = re.compile(r'(?<![^\t;|, ])"(?:[^"]|"")*(?:"|$)')
"""A quoted cell, for any separator."""


def _split(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return line.split() if separator == BLANKS else [cell.strip() for cell in line.split(separator)]
    # separators in quotes do not count
    masked = _QUOTED.sub(lambda match: "\0" * len(match[0]), line)
    ends = re.finditer(r"\s+|$" if separator == BLANKS else re.escape(separator) + "|$", masked)
    cells, begin = [], 0
    for end in ends:
        cells.append(line[begin : end.start()].strip())
        begin = end.end()
    cells = [cell[1:].removesuffix('"').replace('""', '"') if cell.startswith('"') else cell for cell in cells]
    return [*filter(None, cells)] if separator == BLANKS else cells


def _headings(line: str, separator: str, count: int) -> list[str] | None:
    cells = [_split(line, separator)]
    if separator == BLANKS:
        with_units = re.sub(r"(?<=\S)[ \t]+(?=[\[(][^\])]*[\])](?:\s|$))", "\0", line)
        cells.append([cell.replace("\0", " ") for cell in _split(with_units, BLANKS)])
        cells += [re.split(pattern, line.strip()) for pattern in (r"\t+|[ ]{2,}", r"\s*,\s*", r"\s*;\s*")]
    return next((names for names in cells if len(names) == count and not any(map(_is_value, names))), None)


def _are_units(cells: Sequence[str]) -> bool:
    units = [cell for cell in cells if cell not in NO_UNIT]
    return bool(units) and not any(_is_value(cell) or is_missing(cell) for cell in units) and all(map(is_unit, units))


def _as_unit(cell: str) -> str:
    """Return a unit as the CF conventions write it, `m s-1` or `degree_C`, in the style of units."""
    cell = re.sub(r"^degrees?_?(?:C|[Cc]elsius)$", "°C", cell)
    return re.sub(r"(?<=[A-Za-z])(-?\d)(?=$|[ .])", r"^\1", cell) if cell[:1].isalpha() else cell


def _units_below(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str | None] | None:
    """Return the units in the cells below a header, or None if they are a reading; `rows` are those below.

    A cell `1` is a unit where another cell is one, in a column of values.
    """
    if any(is_missing(cell) and cell not in NO_UNIT for cell in cells):
        return None
    cells = [*map(_as_unit, cells)]
    if _are_units(cells):
        return [without_brackets(cell) or None for cell in cells]
    words = [k for k, cell in enumerate(cells) if cell and not _is_value(cell) and cell not in NO_UNIT]
    others = [cell for k, cell in enumerate(cells) if k not in words and cell not in NO_UNIT]
    below = [row for row in rows if len(row) == len(cells)]
    if not below or any(not (_is_value(row[k]) or is_missing(row[k])) for row in below for k in words):
        return None
    enough = any if others else all
    if not words or not all(map(_SCALE.fullmatch, others)) or not enough(is_unit(cells[k]) for k in words):
        return None
    return ["1" if cell in others else without_brackets(cell) or None for cell in cells]


class _SeparatorFit(NamedTuple):
    """A separator by which lines are a table."""

    separator: str
    width: int
    names: Sequence[str] | None
    values: Sequence[Sequence[str]]

    @property
    def numbers(self) -> list[list[str]]:
        style = _style([cell for row in self.values for cell in row], None)
        plain = number(*style)
        rows = [[as_point(cell, *style) if plain.fullmatch(cell) else cell for cell in row] for row in self.values]
        # a separator at the end of each row separates nothing
        return [row[:-1] if self.ends_open else row for row in rows]

    @property
    def ends_open(self) -> bool:
        return bool(self.values) and not any(row[-1] for row in self.values)


def _fit(lines: Sequence[str], separator: str) -> _SeparatorFit | None:
    cells = [_split(line, separator) for line in lines]
    first, below = cells[0], cells[1:]
    headless = _all_values(first)
    rows = cells if headless else below
    count = len(first)
    names: Sequence[str] | None = None
    if not headless:
        if separator == BLANKS and rows:
            count = Counter(map(len, rows)).most_common(1)[0][0]
            names = _headings(lines[0], BLANKS, count)
            if names is None or not any(_is_value(cell) for row in rows for cell in row):
                return None
        names = names or first
        if separator != BLANKS and rows and all(len(row) == count + 1 and not row[-1] for row in rows[1:] or rows):
            # one separator more at the end of each row than in the header
            names, count = [*names, ""], count + 1
        # a title above the table, padded with separators
        if len([*filter(None, names)]) == 1 and any(len([*filter(None, row)]) > 1 for row in rows):
            return None
    if count < 2 or (rows and sum(len(row) == count for row in rows) * 2 <= len(rows)):
        return None
    return _SeparatorFit(separator, count, names, [row for row in rows if len(row) == count and _all_values(row)])


def _word(char: str, words: Mapping[str, str] = SPELLED) -> str:
    return next((word for word, own in words.items() if own == char and word.isalpha()), char)


# ---- a file
Line = tuple[int, str]


def recognize(text: str, *, complete: bool, tabs: bool, forced: ForcedDialect) -> Layout:
    """Return the layout of a file from its first text; `tabs` may separate."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not complete and len(lines) > 1:
        lines.pop()
    separator, skip = forced.separator, forced.skip or 0
    start = next((k for k, line in enumerate(lines[skip:], skip) if line.strip()), skip)
    if start < len(lines) and (declared := re.fullmatch(r'"?sep=(.)"?[;,\t]*', lines[start])):
        separator, skip = separator or declared[1], start + 1
    as_usual = separator in (None, ",") and skip == 0 and forced.decimal is None and forced.comment is None
    if as_usual and (_is_plain(lines, text) or _NO_TEXT.search("\n".join(lines[: start + 1]))):
        return AS_CSV
    marks: tuple[str, ...]
    marks = COMMENT_MARKS if forced.comment is None else () if forced.comment == "none" else (forced.comment,)
    table = [(k, line) for k, line in enumerate(lines[skip:], skip) if line.strip()]
    is_comment = re.compile(rf"\s*{_SPREADSHEET}(?:{'|'.join(map(re.escape, marks))})") if marks else None
    comments = [pair for pair in table if is_comment.match(pair[1])] if is_comment else []
    if 0 < len(comments) < len(table):
        table = [pair for pair in table if pair not in comments]
    else:
        comments = []
    if not table:
        return Layout(Dialect(separator or ","), skip=skip)
    separators = [separator] if separator else [char for char in SEPARATORS if char != forced.decimal]
    sample = [line for _, line in table[:SAMPLE_LINES]]
    are_pairs = all(re.fullmatch(r"\s*[+-]?\d+,\d+\s*", line) for line in sample)
    if are_pairs and separator is None and forced.decimal is None:
        message = f"its first line, `{sample[0].strip()}`, has two columns, or one number with a decimal comma"
        hint = "add a line that names the columns; or say which: `--separator comma`, or `--decimal comma`"
        raise point_error(message, hint)
    fits = [fit for char in separators if (fit := _fit(sample, char)) is not None]
    of_numbers = [fit for fit in fits if fit.values] or fits
    if (
        of_numbers
        and of_numbers[0].separator == "\t"
        and len(of_numbers[0].values) >= len(sample) - 2
        and not any(BLANKS in cell for row in of_numbers[0].values for cell in row)
    ):
        # as many tabs in each line: an empty cell is a missing value, which blanks would close up
        of_numbers = [fit for fit in of_numbers if fit.separator != BLANKS]
    for other in of_numbers[1:]:
        if other.values and other.numbers != of_numbers[0].numbers:
            both = of_numbers[0], other
            one, two = (f"{_SHORT.get(fit.separator, fit.separator)} ({quote(fit.values[0][:4])})" for fit in both)
            words = " or ".join(f"`--separator {_word(fit.separator)}`" for fit in both)
            raise point_error(f"its columns may be between {one} or between {two}", f"say which: {words}")
    if of_numbers:
        fit = of_numbers[0]
    else:
        _check_title(table, separators)
        if separator is None:
            usual = ";" if forced.decimal == "," else ","
            plain = re.sub(r'"[^"]*("|$)', "", sample[0])
            separator = next((c for c in f"\t{usual};|" if c in plain and (c != "\t" or tabs)), usual)
        cells = _split(sample[0], separator)
        fit = _SeparatorFit(separator, len(cells), None if _all_values(cells) else cells, ())
    begin = _samples_begin([line for _, line in table[:MAX_PREFACE_LINES]], fit.separator)
    if begin is not None:
        raise _below(table, begin)
    separator, width, names = fit.separator, fit.width, fit.names
    units, summary = list[str | None](), list[str]()
    first, body, headers = table[0][0], table, list[tuple[int, list[str]]]()
    other_comments = dict(comments)
    if any(map(_is_value, names or _split(table[0][1], separator))):
        above = [(k, re.sub(r"^\s*(?:#+|%+|//+)\s*", "", line)) for k, line in comments if k < first]
        for char in dict.fromkeys((BLANKS, separator)):
            named = [(k, parts) for k, line in above if (parts := _headings(line, char, width)) is not None]
            headers = (
                named[-2 if len(named) > 1 and _are_units(named[-1][1]) and _split_alike(above, named) else -1 :]
                or headers
            )
        if headers:
            names = headers[0][1]
            summary.append(f"the header in line {headers[0][0] + 1}, a comment")
            if len(headers) == 2:
                units = [*map(without_brackets, headers[1][1])]
                summary.append(f"units in line {headers[1][0] + 1}")
            for k, _ in headers:
                del other_comments[k]
        elif names is None:
            names = [f"c{k}" for k in range(1, width + 1)]
            listed = f"c1 to c{width}" if width > 3 else ", ".join(names)
            summary.append(f"no header (column{'s' * (width > 1)} {listed})")
    if names is not None and names is fit.names:
        # the first line of the table is the header
        before, skip, body = skip, first + 1, table[1:]
        after = next(((k, line) for k, line in enumerate(lines[skip:], skip) if line.strip()), None)
        below = _units_below(_unit_cells(after[1], separator, width), _rows_after(body, separator)) if after else None
        if after and below:
            units, skip = below, after[0] + 1
            summary.append(f"units in line {skip}")
            other_comments.pop(after[0], None)
            body = [pair for pair in body if pair[0] >= skip]
        elif any(heading(name)[1] for name in names):
            summary.append("units in the header")
        if lines[first].count('"') % 2:
            # a name continues in the next line; the reader reads it
            names, skip = None, before
    spread = dict.fromkeys(cell.translate(_THIN) for _, line in body for cell in _split(line, separator))
    style = _style([cell for cell in spread if re.search(r"[.,' ]", cell)], forced.decimal)
    if forced.comment is None:
        _check_comments(other_comments, body, separator, width)
    numbers = ["decimal comma"] * (style[0] == ",") + [f"thousands {_THOUSANDS.get(style[1])}"] * bool(style[1])
    if other_comments:
        count = len(other_comments)
        numbers.append(f"{count} comment line{'s' * (count > 1)}" if complete else "comment lines")
    summary = [*numbers, *summary]
    blocks = 1 + sum(later[0] - line[0] > 1 for line, later in pairwise(body))
    if separator == BLANKS and complete and blocks > 1:
        summary.append(f"{blocks} blocks")
    if separator in "\t," and summary == ["units in the header"]:
        summary = []
    elif separator not in "\t," or (summary and separator != ","):
        summary.insert(0, f"separator {_SHORT.get(separator, separator)}")
    if names is not None:
        names = [name or f"c{k}" for k, name in enumerate(names, start=1)]
    marks = tuple(mark for mark in marks if any(line.lstrip().startswith(mark) for _, line in comments))
    blanks = separator == BLANKS
    return Layout(Dialect("\t" if blanks else separator, *style), names, units, skip, marks, blanks, tuple(summary))


def _split_alike(above: Sequence[Line], named: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Return whether the last two lines have their cells between the same separators: a title has commas of its own."""
    texts = dict(above)
    return len({tuple(mark for mark in ",;" if mark in texts[k]) for k, _ in named[-2:]}) == 1


def _unit_cells(line: str, separator: str, width: int) -> list[str]:
    """Return the cells of a line that may be units: those of headings, or as many as the table is wide."""
    cells = _headings(line, separator, width) or _split(line, separator)
    if separator != BLANKS and len(cells) == width - 1:
        cells.append("")
    return cells if len(cells) == width else []


def _rows_after(body: Sequence[Line], separator: str) -> list[list[str]]:
    return [_split(line, separator) for _, line in body[1:SAMPLE_LINES]]


def _is_plain(lines: Sequence[str], text: str) -> bool:
    table = [line for line in lines[:SAMPLE_LINES] if line.strip()][:2]
    if not table or not _PLAIN_HEADER.fullmatch(table[0].strip()) or _SPECIAL.search(text):
        return False
    if len(table) > 1 and _may_be_units(_split(table[1], ","), _split(table[0], ",")):
        return False
    return _samples_begin([line for line in lines[:MAX_PREFACE_LINES] if line.strip()], ",") is None


def _may_be_units(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether the line below a plain header has to be looked at: words, or a separator more."""
    one_more = len(cells) == len(names) + 1 and not cells[-1]
    words = [cell for cell in cells if cell and cell not in NO_UNIT and not _is_value(cell) and not is_missing(cell)]
    return one_more or any(is_unit(_as_unit(word)) for word in words)


def _check_title(table: Sequence[Line], separators: Sequence[str]) -> None:
    for begin in range(1, min(len(table) - 1, SAMPLE_LINES)):
        lines = [line for _, line in table[begin : begin + SAMPLE_LINES]]
        for char in separators:
            fit = _fit(lines, char)
            above = [_split(line, char) for _, line in table[:begin]]
            if fit is None or len(fit.values) < 2:
                continue
            if all(len([*filter(None, cells)]) == 1 or (char == BLANKS and len(cells) != fit.width) for cells in above):
                raise _below(table, begin)


def _samples_begin(lines: Sequence[str], separator: str) -> int | None:
    if separator == BLANKS or len(lines) < 3:
        return None
    above: list[list[str]] = []
    for k, line in enumerate(lines[:-1]):
        cells = _split(line, separator)
        if _all_values(cells):
            return None
        below = _split(lines[k + 1], separator)
        is_header = len(cells) > 1 and not any(is_missing(cell) or _is_value(cell) for cell in cells)
        if k and is_header and len(below) == len(cells) and _all_values(below):
            if _are_units(cells) and len(above[-1]) == len(cells) and not any(map(_is_value, above[-1])):
                above = above[:-1]  # units are below the header
            return len(above) if any(_is_value(cell) for row in above for cell in row[1:]) or len(above) > 1 else None
        above.append(cells)
    return None


def _below(table: Sequence[Line], begin: int) -> ExpressionError:
    (first, title), line = table[0], table[begin][0]
    message = f"line {first + 1} does not name the columns of the rows below it: `{title.strip()[:40]}`"
    message += f"; the table begins in line {line + 1}"
    return point_error(message, f"leave the lines before it out: `--skip {line}`")


def _check_comments(comments: Mapping[int, str], body: Sequence[Line], separator: str, width: int) -> None:
    rows = [cells for _, line in body[:SAMPLE_LINES] if len(cells := _split(line, separator)) == width]
    if width < 2 or not rows or any(_is_value(cells[0]) for cells in rows):
        return
    for k, line in comments.items():
        cells = _split(line, separator)
        if len(cells) == width and line.lstrip("#%/") == line.lstrip("#%/ ") and all(map(_is_value, cells[1:])):
            message = f"line {k + 1} is a row, or a comment: `{line.strip()[:40]}`"
            raise point_error(message, f"say which: `--comment none`, or `--comment {line.lstrip()[:1]}`")


class LineNormalizer:
    """Converts lines of a file to a format that both readers accept."""

    def __init__(self, layout: Layout) -> None:
        self.skip, self.blanks = layout.skip, layout.blanks
        marks = "|".join(map(re.escape, layout.marks))
        pattern = rf"^[ \t]*{_SPREADSHEET}(?:{marks})[^\n]*"
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
            return b"".join(x if k % 2 else _separate_by_tabs(x, k == 0, k == last) for k, x in enumerate(pieces))
        self.open ^= line.count(b'"') % 2 == 1
        return line


def _separate_by_tabs(block: bytes, begins: bool = True, ends: bool = True) -> bytes:
    if begins:
        block = re.sub(rb"(?m)^[ \t]+", b"", block)
    if ends:
        block = re.sub(rb"(?m)[ \t]+(?=\r?$)", b"", block)
    return re.sub(rb"[ \t]+", b"\t", block)


# ---- rows
TextRow = tuple[int, Mapping[str, object], ExpressionError | None]
"""A row: its line number, its cells by column, and its error or None."""

ReadLine = tuple[int, str, ExpressionError | None]
MAX_FAULTY_ROWS = 1000
_ARRAY = re.compile(r"\ufeff?\s*\[\s*($|[{\[\"\d.-])")


class Texts(Iterator[ReadLine]):
    """The lines of a file, with pushback."""

    def __init__(self, file: Any, name: str, idle: Callable[[], None] | None = None, *, first: bool = True) -> None:
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


def table(texts: Texts, format: str | None, layout: Layout = AS_CSV) -> tuple[list[str], Iterator[TextRow], Dialect]:
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
            rows, passed = objects_of(texts), list[TextRow]()
            for row in rows:
                passed.append(row)
                if row[2] is None or len(passed) > MAX_FAULTY_ROWS:
                    break
            if passed and passed[-1][2] is not None and (fault := passed[0][2]) is not None:
                raise ExpressionError(fault.kind, f"line {passed[0][0]} of {texts.name}: {fault}", hint=fault.hint)
            return list(passed[-1][1]) if passed else [], chain(passed, rows), Dialect("")
        try:
            if first[2] is not None:
                raise first[2]
            columns = [cell.strip() for cell in _separate(first, texts, dialect)]
        except ExpressionError as fault:
            placed = point_error(f"in the header: {fault}", fault.hint, fault.span)
            placed.text = fault.text
            raise placed from None
    unique(columns)
    return columns, cells_of(columns, texts, dialect), dialect


class Unclosed(ExpressionError):
    """A quote that is open at the end of the text."""


def _separate(line: ReadLine, texts: Texts, dialect: Dialect, columns: Sequence[str] = ()) -> list[str]:
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
                cells = _separate(line, texts, dialect, columns)
            except ExpressionError as spoilt:
                yield number, {}, spoilt
                continue
            if len(cells) == count:
                yield number, dict(zip(columns, cells, strict=True)), None
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
                raise point_error(f"`{cell}` is a missing value", "give a number")
            if DATE.fullmatch(cell):
                hint = "give a number, such as days since the first of them"
                raise point_error(f"it is a date, not a number: `{cell}`", hint)
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
                message = f"it is a time, not a number: `{cell}`"
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
