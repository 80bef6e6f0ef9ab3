"""Dialects of text files: recognised once from the first block by the manual's rules, or set by options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ..errors import ExpressionError, point_error, quote, usage_error
from ..inputs.optional_units import heading, is_unit, without_brackets

FIRST_BLOCK_BYTES = 64 * 1024
SAMPLE_LINES = 20
COMMENT_MARKS = ("#", "%", "//")
BLANKS = " "
"""The separator that stands for runs of blanks and tabs."""

MAX_PREFACE_LINES = 100
SEPARATORS = ("\t", ";", "|", ",", BLANKS)
SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": BLANKS, "blanks": BLANKS}
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

UNCLEAR = re.compile(r"[+-]?[\d.,]+(?:[eE]|(?:-[\d.,]+)+)")
"""Unclear as a formula: `5-10`, `555-1234`, Fortran's `1.5-123`, a truncated `1.5e`."""

TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?")

_STYLES = ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
_THIN = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f", " ") | {"\u2019": "'"})
"""Non-breaking blanks and the apostrophe between thousands."""

_PLAIN_HEADER = re.compile(r"[^\W\d]\w*(?: *, *[^\W\d]\w*)+")

_NO_TEXT = re.compile(r"[\0-\x08\x0e-\x1f\r\ufffd]")

_SPECIAL = re.compile(r'[\t;|"\u00a0\u2009\u202f\u2019]|\d\'\d|^[ \t]*(?:#|%|//|sep=)', re.MULTILINE)


class Forced(NamedTuple):
    """The dialect by options; None for what the file shows."""

    input_format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    skip: int | None = None
    encoding: str | None = None
    comment: str | None = None

    @classmethod
    def of(cls, group: object) -> Forced:
        """Return the options of a group. Raises a usage error for invalid ones."""
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
            import codecs

            try:
                codecs.lookup(encoding).incrementaldecoder(errors="strict").decode(b"")
            except (LookupError, TypeError, AttributeError, ValueError):
                hint = "for example utf-8, utf-16, latin-1, cp1252"
                raise usage_error(f"there is no encoding `{encoding}`", hint) from None
        return values._replace(separator=separator, decimal=decimal)


UNFORCED = Forced()


class Dialect(NamedTuple):
    """The format of rows of text, for the plain reader and pyarrow's."""

    separator: str = ","
    """The separator of cells; empty for a JSON object a row."""
    decimal: str = "."
    thousands: str = ""

    @property
    def plain(self) -> bool:
        """Whether numbers are written as in formulas."""
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
    whole = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|\d+)" if thousands else r"\d+"
    point = re.escape(decimal)
    return re.compile(rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def styles_of(cell: str) -> list[tuple[str, str]]:
    """Return the decimal marks and thousands separators that fit a cell."""
    return [style for style in _STYLES if number(*style).fullmatch(cell)]


def as_point(cell: str, decimal: str, thousands: str) -> str:
    """Return a number of this style in the style of formulas."""
    cell = cell.replace(thousands, "") if thousands else cell
    return cell.replace(decimal, ".")


def in_formula(cell: str, dialect: Dialect) -> str:
    """Return a cell in the style of formulas. Raises `ExpressionError` for another style."""
    if dialect.plain and "," not in cell:
        return cell
    cell = cell.translate(_THIN)
    style = dialect.decimal, dialect.thousands
    if dialect.plain:
        styles = [style for style in styles_of(cell) if "," in style]
    elif number(*style).fullmatch(cell):
        return as_point(cell, *style)
    elif not re.search(r"[.,']|\d \d", cell):
        return cell
    else:
        styles = styles_of(cell)
    readings: dict[str, str] = {}
    for mark, thousands in styles:
        readings.setdefault(as_point(cell, mark, thousands), mark)
    if len(readings) > 1:
        ways = [f"{number} (`--decimal {_word(mark, DECIMALS)}`)" for number, mark in readings.items()]
        hint = "say which it is, or write it otherwise"
        raise ExpressionError("point", f"it can be read in two ways: `{cell}` is {' or '.join(ways)}", hint=hint)
    if dialect.plain and not styles:
        return cell
    here, there = ("point", "comma") if dialect.decimal == "." else ("comma", "point")
    message = f"it is not written with a decimal {here}, as the file begins: `{cell}`"
    otherwise = f", or say `--decimal {there}`" if styles else ""
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
    units = [cell for cell in cells if cell not in ("", "-", "--", "–", "—")]
    return bool(units) and not any(_is_value(cell) or is_missing(cell) for cell in units) and all(map(is_unit, units))


class _Fit(NamedTuple):
    """A separator by which lines are a table."""

    separator: str
    width: int
    names: Sequence[str] | None
    values: Sequence[Sequence[str]]

    @property
    def numbers(self) -> list[list[str]]:
        """The values in the style of formulas, for comparison."""
        style = _style([cell for row in self.values for cell in row], None)
        return [
            [as_point(cell, *style) if number(*style).fullmatch(cell) else cell for cell in row] for row in self.values
        ]


def _fit(lines: Sequence[str], separator: str) -> _Fit | None:
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
        # a title above the table, padded with separators
        if len([*filter(None, names)]) == 1 and any(len([*filter(None, row)]) > 1 for row in rows):
            return None
    if count < 2 or (rows and sum(len(row) == count for row in rows) * 2 <= len(rows)):
        return None
    return _Fit(separator, count, names, [row for row in rows if len(row) == count and _all_values(row)])


def _word(char: str, words: Mapping[str, str] = SPELLED) -> str:
    return next((word for word, own in words.items() if own == char and word.isalpha()), char)


def _spelled(separator: str) -> str:
    return {"\t": "tab", BLANKS: "blanks"}.get(separator, separator)


# ---- a file
Line = tuple[int, str]


def recognize(text: str, *, complete: bool, tabs: bool, forced: Forced) -> Layout:
    """Return the layout of a file from its first text. Raises `ExpressionError` if ambiguous.

    The text may be `complete`; with `tabs` they separate if the first line has some.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not complete and len(lines) > 1:
        lines.pop()
    separator, skip = forced.separator, forced.skip or 0
    start = next((k for k, line in enumerate(lines[skip:], skip) if line.strip()), skip)
    if start < len(lines) and (own := re.fullmatch(r'"?sep=(.)"?[;,\t]*', lines[start])):
        separator, skip = separator or own[1], start + 1
    as_usual = separator in (None, ",") and skip == 0 and forced.decimal is None and forced.comment is None
    if as_usual and (_is_plain(lines, text) or _NO_TEXT.search("\n".join(lines[: start + 1]))):
        return AS_CSV
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
    fit = _fitting(sample, separators, separator, forced.decimal)
    if fit is None:
        _check_title(table, separators)
        if separator is None:
            usual = ";" if forced.decimal == "," else ","
            plain = re.sub(r'"[^"]*("|$)', "", sample[0])
            separator = next((c for c in f"\t{usual};|" if c in plain and (c != "\t" or tabs)), usual)
        names = _split(sample[0], separator)
        fit = _Fit(separator, len(names), None if _all_values(names) else names, ())
    begin = _samples_begin([line for _, line in table[:MAX_PREFACE_LINES]], fit.separator)
    if begin is not None:
        raise _below(table, begin)
    return _laid_out(fit, lines, skip, table, comments, complete, forced)


def _is_plain(lines: Sequence[str], text: str) -> bool:
    table = [line for line in lines[:SAMPLE_LINES] if line.strip()][:2]
    if not table or not _PLAIN_HEADER.fullmatch(table[0].strip()) or _SPECIAL.search(text):
        return False
    if len(table) > 1 and _are_units(_split(table[1], ",")):
        return False
    return _samples_begin([line for line in lines[:MAX_PREFACE_LINES] if line.strip()], ",") is None


def _fitting(sample: Sequence[str], separators: Sequence[str], forced: str | None, decimal: str | None) -> _Fit | None:
    if forced is None and decimal is None and all(re.fullmatch(r"\s*[+-]?\d+,\d+\s*", line) for line in sample):
        message = f"its first line, `{sample[0].strip()}`, has two columns, or one number with a decimal comma"
        hint = "add a line that names the columns; or say which: `--separator comma`, or `--decimal comma`"
        raise point_error(message, hint)
    fits = [fit for separator in separators if (fit := _fit(sample, separator)) is not None]
    of_numbers = [fit for fit in fits if fit.values] or fits
    for other in of_numbers[1:]:
        if other.values and other.numbers != of_numbers[0].numbers:
            both = of_numbers[0], other
            one, two = (f"{_spelled(fit.separator)} ({quote(fit.values[0][:4])})" for fit in both)
            words = " or ".join(f"`--separator {_word(fit.separator)}`" for fit in both)
            raise point_error(f"its columns may be between {one} or between {two}", f"say which: {words}")
    return of_numbers[0] if of_numbers else None


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
    return point_error(
        f"{message}; the table begins in line {line + 1}", f"leave the lines before it out: `--skip {line}`"
    )


def _laid_out(
    fit: _Fit,
    lines: Sequence[str],
    skip: int,
    table: Sequence[Line],
    comment_lines: Sequence[Line],
    complete: bool,
    forced: Forced,
) -> Layout:
    separator, width, names = fit.separator, fit.width, fit.names
    units, summary = list[str | None](), list[str]()
    first, body = table[0][0], table
    comments = dict(comment_lines)
    if any(map(_is_value, names or _split(table[0][1], separator))):
        above = [(k, re.sub(r"^\s*(?:#+|%+|//+)\s*", "", line)) for k, line in comment_lines if k < first]
        if own := _named(above, separator, width):
            names = own[0][1]
            summary.append(f"the header in line {own[0][0] + 1}, a comment")
            if len(own) == 2:
                units = [*map(without_brackets, own[1][1])]
                summary.append(f"units in line {own[1][0] + 1}")
            for k, _ in own:
                del comments[k]
        elif names is None:
            names = [f"c{k}" for k in range(1, width + 1)]
            listed = f"c1 to c{width}" if width > 3 else ", ".join(names)
            summary.append(f"no header (column{'s' * (width > 1)} {listed})")
    if names is not None and names is fit.names:
        # the first line of the table is the header
        before, skip, body = skip, first + 1, table[1:]
        after = next(((k, line) for k, line in enumerate(lines[skip:], skip) if line.strip()), None)
        cells = (_headings(after[1], separator, width) or []) if after else []
        if after and _are_units(cells):
            units, skip = [without_brackets(cell) or None for cell in cells], after[0] + 1
            summary.append(f"units in line {skip}")
            comments.pop(after[0], None)
            body = [pair for pair in body if pair[0] >= skip]
        elif any(heading(name)[1] for name in names):
            summary.append("units in the header")
        if lines[first].count('"') % 2:
            # a name continues in the next line; the reader reads it
            names, skip = None, before
    spread = dict.fromkeys(cell.translate(_THIN) for _, line in body for cell in _split(line, separator))
    style = _style([cell for cell in spread if re.search(r"[.,' ]", cell)], forced.decimal)
    if forced.comment is None:
        _check_comments(comments, body, separator, width)
    numbers = ["decimal comma"] * (style[0] == ",") + [f"thousands {_THOUSANDS.get(style[1])}"] * bool(style[1])
    if comments:
        numbers.append(f"{len(comments)} comment line{'s' * (len(comments) > 1)}" if complete else "comment lines")
    summary = [*numbers, *summary]
    blocks = 1 + sum(later[0] - line[0] > 1 for line, later in pairwise(body))
    if separator == BLANKS and complete and blocks > 1:
        summary.append(f"{blocks} blocks")
    if separator in "\t," and summary == ["units in the header"]:
        summary = []
    elif separator not in "\t," or (summary and separator != ","):
        summary.insert(0, f"separator {_spelled(separator)}")
    if names is not None:
        names = [name or f"c{k}" for k, name in enumerate(names, start=1)]
    marks = tuple(mark for mark in COMMENT_MARKS if any(line.lstrip().startswith(mark) for _, line in comment_lines))
    marks = (forced.comment,) if forced.comment not in (None, "none") and comment_lines else marks
    blanks = separator == BLANKS
    return Layout(Dialect("\t" if blanks else separator, *style), names, units, skip, marks, blanks, tuple(summary))


def _named(comments: Sequence[Line], separator: str, width: int) -> list[tuple[int, list[str]]]:
    for char in dict.fromkeys((separator, BLANKS)):
        lines = [(k, cells) for k, line in comments if (cells := _headings(line, char, width)) is not None]
        if lines:
            return lines[-2:] if len(lines) > 1 and _are_units(lines[-1][1]) else lines[-1:]
    return []


_THOUSANDS = {",": "commas", ".": "points", "'": "apostrophes", " ": "blanks"}


def _check_comments(comments: Mapping[int, str], body: Sequence[Line], separator: str, width: int) -> None:
    rows = [cells for _, line in body[:SAMPLE_LINES] if len(cells := _split(line, separator)) == width]
    if width < 2 or not rows or any(_is_value(cells[0]) for cells in rows):
        return
    for k, line in comments.items():
        cells = _split(line, separator)
        if len(cells) == width and line.lstrip("#%/") == line.lstrip("#%/ ") and all(map(_is_value, cells[1:])):
            message = f"line {k + 1} is a row, or a comment: `{line.strip()[:40]}`"
            raise point_error(message, f"say which: `--comment none`, or `--comment {line.lstrip()[:1]}`")


class Normal:
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
        return b"\n" * empty + (_tabbed(block) if self.blanks else block)

    def _line(self, line: bytes) -> bytes:
        if not self.open and self.comment and self.comment.match(line):
            return b""
        if self.blanks:
            pieces = re.split(rb'("(?:[^"]|"")*")', line)
            last = len(pieces) - 1
            return b"".join(x if k % 2 else _tabbed(x, k == 0, k == last) for k, x in enumerate(pieces))
        self.open ^= line.count(b'"') % 2 == 1
        return line


def _tabbed(block: bytes, begins: bool = True, ends: bool = True) -> bytes:
    if begins:
        block = re.sub(rb"(?m)^[ \t]+", b"", block)
    if ends:
        block = re.sub(rb"(?m)[ \t]+(?=\r?$)", b"", block)
    return re.sub(rb"[ \t]+", b"\t", block)
