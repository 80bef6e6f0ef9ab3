"""The layout of a text file of rows by the manual's rules: the place of its table, its columns,
their units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ..errors import ExpressionError, point_error, quote
from ..language.tokens import is_name
from ..questions import decoding
from ..questions.optional_units import (
    NO_UNIT,
    as_unit,
    heading,
    is_unit,
    is_unit_or_format,
    without_brackets,
)
from .text_dialects import (
    AS_CSV,
    BLANKS,
    NOT_SPREADSHEET_ERROR,
    SPELLED,
    THIN,
    Dialect,
    ForcedDialect,
    Layout,
    Missing,
    all_values,
    as_point,
    is_missing,
    is_number,
    is_value,
    number,
    option_word,
    usual_style,
)

SAMPLE_LINES = 20
# Lines in which the table has to begin; headers of EC-Lab have some 60, with many techniques 200.
MAX_PREFACE_LINES = 400

COMMENT_MARKS = ("#", "%", "//", "!")
SEPARATORS = ("\t", ";", "|", ",", BLANKS)
# The last column of LabVIEW's tables, whose cells are words, and whose separator most rows lack.
REMARKS = "Comment"

_SHORT = {"\t": "tab", BLANKS: "blanks"}
_THOUSANDS = {",": "commas", ".": "points", "'": "apostrophes", " ": "blanks"}
# What stands in a row of units for a number without a unit: `1`, or CF's `1e-3`.
_SCALE = re.compile(r"1(?:\.0*)?(?:[eE][+-]?\d+)?")

# How names of columns begin, beside which a word such as `V` is a name too.
_QUANTITY = re.compile(
    r"(?:time|date|index|no|nr|point|sample|name|number|channel|temp|volt|curr|press|[a-z]$)",
    re.IGNORECASE,
)

# The first line of what `ncdump` writes.
_NETCDF = re.compile(r"netcdf \S+ \{\s*")

# A width and a type, which stand below the header in the files of the USGS.
_RDB_FORMAT = re.compile(r"\d+[sdn]")

_PLAIN_HEADER = re.compile(r"[^\W\d]\w*(?: *, *[^\W\d]\w*)+")
_NO_TEXT = re.compile(r"[\0-\x08\x0e-\x1f\r\ufffd]")
_SPECIAL = re.compile(
    r'[\t;|"\u00a0\u2009\u202f\u2019]|\d\'\d|-9{3}|9\.9\d*[eE]\+?37'
    r"|^[ \t]*(?:#|%|//|!|sep=|[-=_]{3})|^(?i:mean|average|avg|median|sum|total|std|min|max|count)\b",
    re.MULTILINE,
)
# A key and its value, such as `file_type = ascii`, `Description:  Temperature`, `UNITS:V`.
_SETTING = re.compile(r"[^\W\d][^,;=:|]*(?:[=:]\s*\S+$|[=:](?:\s|$)|\s=)")

# The first cell of a row that sums up those above it.
_SUMMARY = re.compile(
    r"(?:mean|average|avg|median|sum|total|std|st|s|min|max|minimum|maximum|count|rsd|rms|mittelwert|summe)\.?"
    r"(?: ?dev(?:iation|\.)?| ?d(?:ev)?\.?|:)?",
    re.IGNORECASE,
)

# Numbers that stand for no value in files of weather services, of wells (-999.25) and of Keithley
# and Keysight.
_NO_VALUE = re.compile(r"-9{3,}(?:\.0*|\.25|\.9+)?|\+?9\.9\d*[eE]\+?37")

# A line that is drawn between a header and its table.
_RULE = re.compile(r"(?=.*[-=_]{2})[-=_+|,;\s]{3,}")

# What instruments write alone in the line above their readings: `XYDATA`, `StartOfData`,
# `<<DATA>>`, `[Data]`.
_DATA_FOLLOW = re.compile(
    r"data|begin|start|curve values|end comments|scan points|results", re.IGNORECASE
)

# Characters of such a line; SpectraSuite's `>>>>>Begin Processed Spectral Data<<<<<` has 41.
MAX_MARKER = 60

# What JCAMP-DX says of rows with one abscissa and many ordinates.
_SEVERAL_A_ROW = re.compile(r"\(X\+\+\(Y\.\.Y\)\)", re.IGNORECASE)

# A line of the file, and its number from 0.
Line = tuple[int, str]

Cells = Sequence[str]


# ---- lines and cells
# A quoted cell, for any separator.
_QUOTED = re.compile(r'(?<![^\t;|, ])"(?:[^"]|"")*(?:"|$)')

# What stands between blanks and tabs; a blank that breaks no line is one of a number, `1 299,99`.
_BETWEEN_BLANKS = re.compile(r"[^ \t]+")


def _split(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return (
            _BETWEEN_BLANKS.findall(line)
            if separator == BLANKS
            else [cell.strip() for cell in line.split(separator)]
        )
    # separators in quotes do not count
    masked = _QUOTED.sub(lambda match: "\0" * len(match[0]), line)
    ends = re.finditer(r"[ \t]+|$" if separator == BLANKS else re.escape(separator) + "|$", masked)
    cells, begin = [], 0
    for end in ends:
        cells.append(line[begin : end.start()].strip())
        begin = end.end()
    cells = [
        cell[1:].removesuffix('"').replace('""', '"') if cell.startswith('"') else cell
        for cell in cells
    ]
    return [*filter(None, cells)] if separator == BLANKS else cells


def _headings(line: str, separator: str, count: int) -> list[str] | None:
    cells = [_split(line, separator)]
    if separator == BLANKS:
        with_units = re.sub(r"(?<=\S)[ \t]+(?=[\[(][^\])]*[\])](?:\s|$))", "\0", line)
        cells.append([cell.replace("\0", " ") for cell in _split(with_units, BLANKS)])
        cells += [
            re.split(pattern, line.strip()) for pattern in (r"\t+|[ ]{2,}", r"\s*,\s*", r"\s*;\s*")
        ]
    return next(
        (names for names in cells if len(names) == count and not any(map(is_value, names))), None
    )


def _is_value_or_missing(cell: str) -> bool:
    return is_value(cell) or is_missing(cell)


def _are_units(cells: Cells) -> bool:
    units = [cell for cell in cells if cell not in NO_UNIT]
    return bool(units) and not any(map(_is_value_or_missing, units)) and all(map(is_unit, units))


def _in_brackets(cells: Cells) -> bool:
    """Return whether all cells are written as units, such as `[s]` and `[counts]`, known or not;
    `[1]` is a number.
    """
    filled = [*filter(None, cells)]
    bracketed = len(filled) > 1 and all(
        re.fullmatch(r"\[[^\]]*\]|\([^)]*\)", cell) for cell in filled
    )
    return bracketed and not any(is_value(without_brackets(cell)) for cell in filled)


def _units_below(cells: Cells, rows: Sequence[Cells]) -> list[str | None] | None:
    """Return the units in the cells below a header, or None if they are a reading; `rows` are those
    below.
    """
    if _in_brackets(cells):
        return [without_brackets(as_unit(cell)) or None for cell in cells]
    if len(cells) > 1 and all(map(_RDB_FORMAT.fullmatch, cells)):
        return [None] * len(cells)
    cells = [*map(as_unit, cells)]
    if _are_units(cells):
        return [without_brackets(cell) or None for cell in cells]
    below = [row for row in rows if len(row) == len(cells)]
    return (
        _units_among_labels(cells, [[row[k] for row in below] for k in range(len(cells))])
        if below
        else None
    )


def _units_among_labels(cells: Cells, columns: Sequence[Cells]) -> list[str | None] | None:
    """Return the units in cells that stand above columns, or None if they are a reading.

    Beside a unit, a cell `1` is one too, and a word that is none is a label, in columns of values.
    """
    words = {
        k for k, cell in enumerate(cells) if not _is_value_or_missing(cell) and cell not in NO_UNIT
    }
    units = {k for k in words if is_unit_or_format(cells[k])}
    if not units or not _are_labels([cells[k] for k in words - units], len(units)):
        return None
    above_values = all(_is_value_or_missing(cell) for k in words for cell in columns[k])
    scales = all(
        not is_value(cell) or _is_scale(cell, column)
        for cell, column in zip(cells, columns, strict=True)
    )
    return [*map(_unit_of, cells, columns)] if above_values and scales else None


def _are_labels(words: Sequence[str], units: int) -> bool:
    """Return whether words beside a number of units may be labels, and not the names of columns."""
    return len(words) <= units and not any(_QUANTITY.match(word) for word in words)


def _is_scale(cell: str, below: Cells) -> bool:
    """Return whether a number among units is one, or a setting above empty cells, as Rigol's start
    and increment.
    """
    return _SCALE.fullmatch(cell) is not None or not any(below)


def _unit_of(cell: str, below: Cells) -> str | None:
    if is_missing(cell) and cell not in NO_UNIT:
        return None
    if not is_value(cell):
        return without_brackets(cell) or None
    return "1" if any(below) else None


def _unit_cells(line: str, separator: str, width: int) -> list[str]:
    """Return the cells of a line that may be units: those of headings, or as many as the table is
    wide.
    """
    cells = _headings(line, separator, width) or _split(line, separator)
    if separator != BLANKS and len(cells) == width - 1:
        cells.append("")
    return cells if len(cells) == width else []


# ---- where the table begins
class _Readings(NamedTuple):
    """The first rows of numbers by a separator, and the lines above them."""

    separator: str
    begin: int
    rows: Sequence[Cells]
    """All lines up to some readings."""

    @property
    def size(self) -> int:
        return sum(_continues(row, self.rows[self.begin]) for row in self.rows[self.begin :])

    def kind(self, k: int, lines: Sequence[str]) -> str:
        """Return what a line above the readings may be.

        These are `units`, `names`, `part` of such a line, `mixed` words and numbers, or nothing.
        """
        first, cells = self.rows[self.begin], self.rows[k]
        if self.separator == BLANKS:
            cells = _headings(lines[k], BLANKS, len(first)) or []
        ends_open = len(first) - 1 if not first[-1] else len(first)
        has_remarks = bool(cells) and cells[-1] in ("", REMARKS)
        if len(cells) not in (len(first), ends_open, len(first) + has_remarks):
            return ""
        padded = [*cells, ""] if len(cells) < len(first) else cells
        if _units_below(padded[: len(first)], self.rows[self.begin :]) is not None:
            return "units"
        inner = cells[:-1] if len(cells) > ends_open and not cells[-1] else cells
        return _kind_of_words(inner, is_marker=_is_marker(lines[k], self.separator))


def _kind_of_words(cells: Cells, *, is_marker: bool) -> str:
    """Return what cells above readings may be that are no units."""
    values = sum(map(is_value, cells))
    if not any(cells) or values == len(cells):
        return ""
    if values:
        return "mixed" if all(cells) else ""
    if is_marker and len({*filter(None, cells)}) == 1 and len(cells) > 1:
        return ""
    return "names" if all(cells) else "part"


class _Place(NamedTuple):
    """Where the table of a file begins, as indices of lines."""

    begin: int = 0
    readings: int | None = None
    """The first reading, if lines stand between it and the row of units."""


def _is_reading(cells: Cells, separator: str) -> bool:
    # words first, which most lines above a table have: numbers take longer
    if (
        any(cell[:1].isalpha() and not is_missing(cell) for cell in cells)
        or len([*filter(None, cells)]) < 2
    ):
        return False
    # a date takes what follows it: another separator, and then cells
    others = [char for char in SEPARATORS[:3] if char != separator]
    if any(char in cell for cell in cells for char in others):
        return False
    return all_values(cells) and any(map(is_number, cells))


def _continues(cells: Cells, first: Cells) -> bool:
    """Return whether a row is as wide as the first readings; an empty cell at the end may be
    missing.
    """
    widths = {len(first), len(first) + 1 if not cells[-1:] or not cells[-1] else len(first)}
    widths |= {len(first) - 1} if not first[-1] else set()
    return len(cells) in widths and all_values(cells)


def _cut_remarks(lines: Sequence[str], separator: str) -> list[Cells]:
    """Return the cells of lines; below a header that ends in LabVIEW's column `Comment`, without
    the remarks.
    """
    rows: list[Cells] = []
    width: int | None = None
    for line in lines:
        cells = _split(line, separator)
        rows.append(cells[:width])
        if (
            separator != BLANKS
            and len(cells) > 2
            and cells[-1] == REMARKS
            and not any(map(is_value, cells))
        ):
            width = len(cells) - 1
    return rows


def _readings(lines: Sequence[str], separator: str) -> _Readings | None:
    cut = _cut_remarks(lines, separator)
    rows: list[Cells] = []
    begin: int | None = None
    for k in range(len(lines)):
        rows.append(cut[k])
        if begin is None and _is_reading(rows[k], separator):
            below = cut[k + 1] if k + 1 < len(lines) else rows[k]
            begin = k if _continues(below, rows[k]) else None
        if begin is not None and k >= begin + SAMPLE_LINES:
            break
    return None if begin is None else _Readings(separator, begin, rows)


def _most_readings(lines: Sequence[str], separators: Sequence[str]) -> _Readings | None:
    """Return the readings by the separator that makes most of them."""
    occurring = [
        char for char in separators if char == BLANKS or any(char in line for line in lines)
    ]
    found = [readings for char in occurring if (readings := _readings(lines, char)) is not None]
    return max(found, key=lambda readings: readings.size, default=None)


def _table_place(table: Sequence[Line], separators: Sequence[str]) -> _Place:
    """Return where the table begins below a title, settings or a preamble.

    Raises an error if it is not certain, with the option that reads the file.
    """
    lines = [line for _, line in table[:MAX_PREFACE_LINES]]
    found = _most_readings(lines, separators)
    if found is None or found.begin > 1:
        _check_single_column(table, 0 if found is None else found.size)
    if found is None:
        _check_words(table, separators)
        return _Place()
    if found.begin == 0:
        return _Place()
    names, remarks = _header_above(found, lines)
    begin = found.begin if names is None else names
    place = _Place(begin, found.begin if remarks else None)
    if begin == 0:
        return place
    named = names is not None
    if named and found.kind(begin - 1, lines) == "names" and not _is_title(begin - 1, lines, found):
        return _below_two_headers(table, found, begin)
    if _may_be_readings(found, begin, named=named):
        return _below_numbers(table, found, begin, lines, named=named)
    return place if named else _below_no_header(table, found, lines)


def _below_two_headers(table: Sequence[Line], found: _Readings, begin: int) -> _Place:
    if begin == 1 and found.begin == 2:
        return _Place()  # a header, and a reading without a number
    raise _below(table, begin)


def _below_numbers(
    table: Sequence[Line], found: _Readings, begin: int, lines: Sequence[str], *, named: bool
) -> _Place:
    """Return where a table begins below lines that may be rows of it: there, if these are
    settings.
    """
    if not _is_settings(found, begin, lines):
        return _Place()
    if named or not _is_marker(lines[begin - 1], found.separator):
        raise _below(table, begin, headless=not named)
    return _Place(begin)


def _below_no_header(table: Sequence[Line], found: _Readings, lines: Sequence[str]) -> _Place:
    """Return where a table begins whose readings have no line of names above them."""
    begin = found.begin
    if found.size < 2 or any(found.kind(k, lines) == "names" for k in range(begin)):
        return _Place()  # a header, and readings without a number
    above = [*filter(None, found.rows[begin - 1])]
    if len(above) > 1 and not any(map(is_value, above)):
        raise _below(table, begin)
    return _Place(begin)


def _is_marker(line: str, separator: str) -> bool:
    """Return whether a line says that readings follow, as `XYDATA` does."""
    cells = {*filter(None, _split(line, separator if separator != BLANKS else "\t"))}
    return len(cells) == 1 and len(line) <= MAX_MARKER and _DATA_FOLLOW.search(line) is not None


def _is_settings(found: _Readings, begin: int, lines: Sequence[str]) -> bool:
    """Return whether the lines above the table are settings, as wide as it by chance.

    These are a key and its value a line: all keys are words and differ, and the readings have
    numbers in that column.
    """
    above = [row for row in found.rows[:begin] if len([*filter(None, row)]) > 1]
    keys = [row[0] for row in above]
    if len({*keys}) < len(keys) or any(not key or is_value(key) for key in keys):
        return False
    first = found.rows[found.begin]
    return is_value(first[0]) and (_is_marker(lines[begin - 1], found.separator) or len(keys) > 3)


def _header_above(found: _Readings, lines: Sequence[str]) -> tuple[int | None, bool]:
    """Return the line of names above readings, if any, and whether remarks stand between the units
    and the readings.
    """
    kinds = [found.kind(k, lines) for k in range(max(0, found.begin - 3), found.begin)]
    above = found.begin - 1
    is_header = ("names", "part", "units")
    if len(kinds) == 3 and kinds[1:] == ["units", "part"] and kinds[0] in is_header:
        return above - 2, True
    if kinds[-2:] == ["mixed", "units"] and above == 1:
        return 0, False  # the numbers of channels
    if (
        kinds[-1] == "units"
        and len(kinds) > 1
        and kinds[-2] in is_header
        and not _is_title(above - 1, lines, found)
    ):
        return above - 1, False
    return (above if kinds[-1] in is_header else None), False


def _is_title(k: int, lines: Sequence[str], found: _Readings) -> bool:
    """Return whether a line above names is a title, such as `cooling, 3 May`, whose commas have a
    blank after them.
    """
    if found.separator not in ",;" or not all(is_name(cell) for cell in found.rows[k + 1] if cell):
        return False
    loose = re.compile(re.escape(found.separator) + r"\s+\S")
    below = [lines[k + 1], lines[found.begin]]
    return loose.search(lines[k]) is not None and not any(map(loose.search, below))


def _may_be_readings(found: _Readings, begin: int, *, named: bool) -> bool:
    """Return whether a line above the table may be one of its rows.

    Above a line of names that is one with numbers where the readings have them, unless other lines
    show that these are settings; above readings alone it is one with any number.
    """
    first, above = found.rows[found.begin], found.rows[:begin]
    columns = [k for k, cell in enumerate(first) if is_value(cell)]
    alike = [[is_value(cells[k]) for k in columns] for cells in above if len(cells) == len(first)]
    return len(alike) == len(above) and any(map(all, alike)) if named else any(map(any, alike))


def _check_title(table: Sequence[Line], separators: Sequence[str]) -> None:
    for begin in range(1, min(len(table) - 1, SAMPLE_LINES)):
        lines = [line for _, line in table[begin : begin + SAMPLE_LINES]]
        for char in separators:
            fit = _fit(lines, char)
            above = [_split(line, char) for _, line in table[:begin]]
            if fit is None or len(fit.values) < 2:
                continue
            if all(
                len([*filter(None, cells)]) == 1 or (char == BLANKS and len(cells) != fit.width)
                for cells in above
            ):
                raise _below(table, begin)


def _below(table: Sequence[Line], begin: int, *, headless: bool = False) -> ExpressionError:
    (first, title), line = table[0], table[begin][0]
    message = (
        f"line {first + 1} does not name the columns of the rows below it: `{title.strip()[:40]}`"
    )
    message += f"; the table begins in line {line + 1}"
    option = f"--skip {line}{' --header none' * headless}"
    hint = f"leave the lines before it out: `{option}`"
    between = table[1:begin]
    if between and all(text[:1].isdigit() for _, text in between):
        hint = (
            f"line {between[0][0] + 1} begins with a number: write readings as numbers alone, with"
            f" their unit in the header; or {hint}"
        )
    return point_error(message, hint)


def _check_single_column(table: Sequence[Line], readings: int) -> None:
    """Raise an error if a column of single numbers, longer than any other table, begins below lines
    of words.
    """
    lines = [line.strip().rstrip(",;") for _, line in table]
    k = next((k for k, line in enumerate(lines[:MAX_PREFACE_LINES]) if _is_single_number(line)), 0)
    size = next(
        (n for n, line in enumerate(lines[k:]) if not _is_single_number(line)), len(lines) - k
    )
    above = {line for line in lines[:k] if not is_missing(line) and not is_value(line)}
    is_below_words = len(above) > 3 or (k > 1 and _is_marker(lines[k - 1], ","))
    if is_below_words and size > max(2, readings):
        raise _below(table, k, headless=True)


def _is_single_number(line: str) -> bool:
    return line[:1] in "+-.0123456789" and " " not in line and is_number(line)


def _check_words(table: Sequence[Line], separators: Sequence[str]) -> None:
    """Raise an error if a table with words in each row begins below lines of other widths."""
    lines = [line for _, line in table[:MAX_PREFACE_LINES]]
    widths = {
        char: [len(_split(line, char)) for line in lines] for char in separators if char != BLANKS
    }
    if any(own[-1] > 1 and own[0] == own[-1] for own in widths.values()):
        return
    for char, own in widths.items():
        begin = max((k + 1 for k, width in enumerate(own) if width != own[-1]), default=0)
        below = [_split(line, char) for line in lines[begin : begin + SAMPLE_LINES]]
        if own[-1] > 2 and _is_table_with_words(below):
            raise _below(table, begin)


def _is_table_with_words(lines: Sequence[Cells]) -> bool:
    """Return whether lines are a header of words above rows of which half or more have numbers."""
    header, *rows = lines
    numbers = sum(any(map(is_value, cells)) for cells in rows)
    return len(rows) > 1 and 2 * numbers >= len(rows) and not any(map(is_value, header))


# ---- columns
class _SeparatorFit(NamedTuple):
    """A separator by which lines are a table."""

    separator: str
    width: int
    names: Cells | None
    values: Sequence[Cells] = ()

    @property
    def numbers(self) -> list[list[str]]:
        cells = [[cell.translate(THIN) for cell in row] for row in self.values]
        style = usual_style([cell for row in cells for cell in row], None)
        plain = number(*style)
        rows = [
            [as_point(cell, *style) if plain.fullmatch(cell) else cell for cell in row]
            for row in cells
        ]
        # a separator at the end of each row separates nothing
        return [row[:-1] if self.ends_open else row for row in rows]

    @property
    def ends_open(self) -> bool:
        return bool(self.values) and not any(row[-1] for row in self.values)


def _fit(lines: Sequence[str], separator: str, header: str | None = None) -> _SeparatorFit | None:
    """Return the columns of lines by a separator, if they are a table by it."""
    rows = [_split(line, separator) for line in lines]
    first = rows[0]
    names: Cells | None = None
    if header == "none" or (header is None and all_values(first)):
        count = _usual_width(rows) if len(rows) > 1 else len(first)
    else:
        rows = rows[1:]
        named = (
            _names_by_blanks(lines[0], rows)
            if separator == BLANKS
            else _names_and_rows(first, rows)
        )
        if named is None or _is_padded_title(*named):
            return None
        names, rows = named
        count = len(names)
    as_wide = [row for row in rows if len(row) == count]
    if count < 2 or (rows and len(as_wide) * 2 <= len(rows)):
        return None
    return _SeparatorFit(separator, count, names, [*filter(all_values, as_wide)])


def _usual_width(rows: Sequence[Cells]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def _names_by_blanks(header: str, rows: list[list[str]]) -> tuple[Cells, list[list[str]]] | None:
    """Return the names of columns between blanks, and the rows below; None if these are no table
    with numbers.
    """
    if not rows:
        return _split(header, BLANKS), rows
    names = _headings(header, BLANKS, _usual_width(rows))
    has_numbers = any(is_value(cell) for row in rows for cell in row)
    return None if names is None or not has_numbers else (names, rows)


def _names_and_rows(names: Cells, rows: list[list[str]]) -> tuple[Cells, list[list[str]]]:
    """Return names and rows of one width: rows may have one separator more, or end before a column
    of remarks.
    """
    count = len(names)
    if rows and all(len(row) == count + 1 and not row[-1] for row in rows[1:] or rows):
        names, count = [*names, ""], count + 1
    if _lacks_remarks(names, rows):
        return names[:-1], [row[:-1] if len(row) == count else row for row in rows]
    return names, rows


def _is_padded_title(names: Cells, rows: Sequence[Cells]) -> bool:
    """Return whether a line above a table is a title that is padded with separators."""
    return len([*filter(None, names)]) == 1 and any(len([*filter(None, row)]) > 1 for row in rows)


def _lacks_remarks(names: Cells, rows: Sequence[Cells]) -> bool:
    """Return whether rows end before the column `Comment` of LabVIEW."""
    return (
        names[-1] == REMARKS and len(names) > 2 and any(len(row) == len(names) - 1 for row in rows)
    )


def _check_pairs(sample: Sequence[str], separator: str | None, forced: ForcedDialect) -> None:
    are_pairs = all(re.fullmatch(r"\s*[+-]?\d+,\d+\s*", line) for line in sample)
    if are_pairs and separator is None and forced.decimal is None:
        message = (
            f"its first line, `{sample[0].strip()}`, has two columns, or one number with a decimal"
            " comma"
        )
        hint = (
            "add a line that names the columns; or say which: `--separator comma`, or `--decimal"
            " comma`"
        )
        raise point_error(message, hint)


def _best_fit(
    sample: Sequence[str], above: Sequence[Line], separators: Sequence[str], header: str | None
) -> _SeparatorFit | None:
    """Return the columns by the separator that makes rows of numbers, and that the names in a
    comment `above` fit.

    Raises an error if two make different ones.
    """
    fits = [fit for char in separators if (fit := _fit(sample, char, header)) is not None]
    of_numbers = [fit for fit in fits if fit.values] or fits
    if not of_numbers:
        return None
    best, *others = of_numbers
    for other in others:
        if other.separator == BLANKS and _has_tabs_alone(best, len(sample)):
            continue
        if _has_names(above, best) and not _has_names(above, other):
            continue
        if other.values and other.numbers != best.numbers:
            one, two = (
                f"{_short(fit.separator)} ({quote(fit.values[0][:4])})" for fit in (best, other)
            )
            words = " or ".join(
                f"`--separator {option_word(fit.separator, SPELLED)}`" for fit in (best, other)
            )
            raise point_error(
                f"its columns may be between {one} or between {two}", f"say which: {words}"
            )
    return best


def _has_names(above: Sequence[Line], fit: _SeparatorFit) -> bool:
    """Return whether a line of comments names as many columns as the rows have, and as they are
    separated.
    """
    return any(_headings(line, fit.separator, fit.width) is not None for _, line in above)


def _has_tabs_alone(fit: _SeparatorFit, lines: int) -> bool:
    """Return whether lines have as many tabs each: an empty cell is a missing value, which blanks
    would close up.
    """
    has_blanks = any(BLANKS in cell for row in fit.values for cell in row)
    return fit.separator == "\t" and len(fit.values) >= lines - 2 and not has_blanks


def _short(separator: str) -> str:
    return _SHORT.get(separator, separator)


def _usual_columns(
    sample: Sequence[str], separator: str | None, tabs: bool, forced: ForcedDialect
) -> _SeparatorFit:
    """Return the columns of a file that no separator makes a table of numbers."""
    if separator is None:
        usual = ";" if forced.decimal == "," else ","
        plain = re.sub(r'"[^"]*("|$)', "", sample[0])
        separator = next((c for c in f"\t{usual};|" if c in plain and (c != "\t" or tabs)), usual)
    cells = _split(sample[0], separator)
    headless = forced.header == "none" or (forced.header is None and all_values(cells))
    return _SeparatorFit(separator, len(cells), None if headless else cells)


# ---- header and units
class _Header(NamedTuple):
    """The names and units of columns, and the line after them."""

    names: Cells | None
    skip: int
    units: Sequence[str | None] = ()
    summary: tuple[str, ...] = ()
    taken: frozenset[int] = frozenset()
    """The lines that are no rows and no comments."""

    @property
    def column_names(self) -> list[str] | None:
        """The names with numbers for those that are empty."""
        return (
            None
            if self.names is None
            else [name or f"c{k}" for k, name in enumerate(self.names, start=1)]
        )


def _numbered(width: int, skip: int) -> _Header:
    names = [f"c{k}" for k in range(1, width + 1)]
    listed = f"c1 to c{width}" if width > 3 else ", ".join(names)
    return _Header(names, skip, (), (f"no header (column{'s' * (width > 1)} {listed})",))


def _header(
    fit: _SeparatorFit,
    table: Sequence[Line],
    comments: Sequence[Line],
    place: _Place,
    skip: int,
    option: str | None,
) -> _Header:
    """Return the header of a table: its first line, a comment above it, or numbers of the
    columns.
    """
    separator, width = fit.separator, fit.width
    if option == "none":
        return _numbered(width, skip)
    first = fit.names or _split(table[0][1], separator)
    if option is None and any(map(is_value, first)):
        above = [line for line in comments if line[0] < table[0][0]]
        if named := _header_in_comments(above, fit, skip):
            return named
        if fit.names is None:
            _check_corner(first, table, separator)
        if fit.names is None or _is_first_reading(first, table, separator):
            return _numbered(width, skip)
    return _header_line(first if fit.names is None else fit.names, fit, table, place, skip)


def _is_first_reading(first: Cells, table: Sequence[Line], separator: str) -> bool:
    """Return whether a line with words and numbers is a reading. Raises an error if it may be the
    header.
    """
    rows = [_split(line, separator) for _, line in table[1:SAMPLE_LINES]]
    words = [k for k, cell in enumerate(first) if not is_value(cell) and not is_missing(cell)]
    if any(row[k] == first[k] for row in rows if len(row) == len(first) for k in words):
        return True  # a word that the readings repeat
    if not rows or _units_below(rows[0], rows[1:]) is not None:
        return False
    raise _header_or_reading(table[0])


def _check_corner(first: Cells, table: Sequence[Line], separator: str) -> None:
    """Raise an error if numbers may name columns: above names or numbers of rows stands an empty
    cell.
    """
    rows = [_split(line, separator) for _, line in table[1:SAMPLE_LINES]]
    below = [row[0] for row in rows if len(row) == len(first)]
    if first and not first[0] and below and all(below):
        raise _header_or_reading(table[0])


def _header_or_reading(line: Line) -> ExpressionError:
    message = f"line {line[0] + 1} is the header, or the first reading: `{line[1].strip()[:40]}`"
    return point_error(message, "say which: `--header first`, or `--header none`")


def _header_in_comments(comments: Sequence[Line], fit: _SeparatorFit, skip: int) -> _Header | None:
    """Return the header in the last comments above a table, if any: names, or names and units."""
    bare = [(k, _without_mark(line)) for k, line in comments]
    above = [(k, line) for k, line in bare if _SETTING.match(line) is None]
    by_blanks, by_separator = (
        _last_headings(above, char, fit.width) for char in (BLANKS, fit.separator)
    )
    headers = by_separator or by_blanks
    if not headers:
        return None
    (line, names), *below = headers
    summary = [f"the header in line {line + 1}, a comment"]
    summary += [f"units in line {line + 1}" for line, _ in below]
    units = [without_brackets(as_unit(cell)) or None for _, cells in below for cell in cells]
    return _Header(names, skip, units, tuple(summary), frozenset(line for line, _ in headers))


def _last_headings(
    above: Sequence[Line], separator: str, width: int
) -> list[tuple[int, list[str]]]:
    """Return the last line of names above a table, and that of units below it, if any."""
    named = [
        (k, parts) for k, line in above if (parts := _headings(line, separator, width)) is not None
    ]
    with_units = (
        len(named) > 1 and _are_units_of_columns(named[-1][1]) and _split_alike(above, named)
    )
    return named[-2 if with_units else -1 :]


def _without_mark(comment: str) -> str:
    """Return the text of a comment."""
    return re.sub(r"^\s*(?:#+|%+|//+|!+)\s*", "", comment)


def _are_units_of_columns(cells: Cells) -> bool:
    """Return whether cells are units: those of several columns may be the same, and names
    differ.
    """
    return _are_mostly_units(cells) or (len({*cells}) < len(cells) and any(map(is_unit, cells)))


def _are_mostly_units(cells: Cells) -> bool:
    words = [cell for cell in map(as_unit, cells) if cell not in NO_UNIT]
    unknown = [word for word in words if not is_unit_or_format(word)]
    return len(unknown) < len(words) and _are_labels(unknown, len(words) - len(unknown))


def _split_alike(above: Sequence[Line], named: Sequence[tuple[int, Cells]]) -> bool:
    """Return whether the last two lines have their cells between the same separators: a title has
    commas of its own.
    """
    texts = dict(above)
    return len({tuple(mark for mark in ",;" if mark in texts[k]) for k, _ in named[-2:]}) == 1


def _header_line(
    names: Cells, fit: _SeparatorFit, table: Sequence[Line], place: _Place, before: int
) -> _Header:
    """Return the header in the first line of a table, with the row of units below it."""
    first, body = table[0][0], table[1:]
    skip, units, summary = first + 1, list[str | None](), list[str]()
    rows = [_split(line, fit.separator) for _, line in body[1:SAMPLE_LINES]]
    below = _units_below(_unit_cells(body[0][1], fit.separator, fit.width), rows) if body else None
    if below:
        units, skip = below, body[0][0] + 1
        summary.append(f"units in line {skip}")
    elif any(heading(name)[1] for name in names):
        summary.append("units in the header")
    if below and place.readings is not None:
        remarks = skip + 1
        skip = table[place.readings - place.begin][0]
        summary.append(_left_out(remarks, skip))
    if table[0][1].count('"') % 2:
        # a name continues in the next line; the reader reads it
        return _Header(None, before, units, tuple(summary))
    if len(named := [*filter(None, names)]) > len({*named}):
        twice = next(name for name in named if named.count(name) > 1)
        hint = (
            f"rename one of them; or read the columns as c1, c2, …: `--skip {skip} --header none`"
        )
        raise point_error(f"the data has two columns `{twice}`", hint)
    return _Header(names, skip, units, tuple(summary))


def _with_unit_comment(
    table: list[Line], comments: Sequence[Line], fit: _SeparatorFit
) -> list[Line]:
    """Return the lines of a table with a row of units below the header that begins like a comment.

    Its first cell is `%`, `# ` counts, `% RH`, or it is a comment that has units alone.
    """
    first, second = table[0][0], table[1][0] if len(table) > 1 else table[0][0]
    between = [line for line in comments if first < line[0] < second]
    if len(between) != 1 or fit.names is None or any(map(is_value, fit.names)):
        return table
    line, text = between[0]
    rows = [_split(text, fit.separator) for _, text in table[1:SAMPLE_LINES]]
    bare = _without_mark(text)
    begins_with_unit = (
        re.match(r"\s*(?:[%#]\s*[;,|\t]|%\s*(?:RH|rH|r\.H\.|FS|vol|mol)\b)", text) is not None
    )
    if begins_with_unit and _units_below(_unit_cells(text, fit.separator, fit.width), rows):
        return [table[0], between[0], *table[1:]]
    if _are_units(_unit_cells(bare, fit.separator, fit.width)):
        return [table[0], (line, bare), *table[1:]]
    return table


def _may_be_left_out(line: str) -> bool:
    """Return whether a line above a table is a line of text: all quotes are closed, and it is not
    too long.
    """
    return line.count('"') % 2 == 0 and len(line) <= decoding.MAX_BYTES


def _left_out(first: int, last: int) -> str:
    return f"line {first} left out" if first == last else f"lines {first} to {last} left out"


# ---- a file
def _lines_of(text: str, complete: bool) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if complete or len(lines) == 1 else lines[:-1]


def _filled(lines: Sequence[str], skip: int = 0) -> Iterator[Line]:
    """Return the lines that are not empty, without the first ones."""
    return ((k, line) for k, line in enumerate(lines[skip:], skip) if line.strip())


def _is_left_to_csv(lines: Sequence[str], start: int, text: str) -> bool:
    """Return whether a file is plain csv, or no text: the reader of csv says what is wrong with
    such a header.
    """
    return _is_no_text("\n".join(lines[: start + 1])) or _is_plain(lines, text)


def _is_no_text(head: str) -> bool:
    return _NO_TEXT.search(head) is not None or len(head) > decoding.MAX_BYTES


def _declared_separator(line: str) -> str | None:
    """Return the separator of a first line such as `sep=;`, which spreadsheets write."""
    declared = re.fullmatch(r'"?sep=(.)"?[;,\t]*', line)
    return declared[1] if declared else None


def _possible_separators(option: str | None, decimal: str | None) -> Sequence[str]:
    return [option] if option else [char for char in SEPARATORS if char != decimal]


def _comment_marks(option: str | None) -> Sequence[str]:
    if option is None:
        return COMMENT_MARKS
    return () if option == "none" else (option,)


def _separate_comments(
    table: Sequence[Line], marks: Sequence[str]
) -> tuple[list[Line], list[Line]]:
    """Return the lines of a table, and its comments; a file of comments alone is a table."""
    pattern = rf"\s*{NOT_SPREADSHEET_ERROR}(?:{'|'.join(map(re.escape, marks))})"
    is_comment = re.compile(pattern) if marks else None
    comments = [pair for pair in table if is_comment.match(pair[1])] if is_comment else []
    if not 0 < len(comments) < len(table):
        return [*table], []
    lines = {k for k, _ in comments}
    return [pair for pair in table if pair[0] not in lines], comments


class _LinesByKind(NamedTuple):
    """The lines of a file that are not empty, by what they are."""

    table: list[Line]
    comments: list[Line]
    rules: list[Line]
    """Those that only draw a line below a header."""
    marks: tuple[str, ...]
    """What comments begin with."""

    @classmethod
    def of(cls, lines: Sequence[Line], comment: str | None) -> _LinesByKind:
        marks = _comment_marks(comment)
        table, comments = _separate_comments(lines, marks)
        table, rules = _separate_rules(table, comment)
        used = tuple(
            mark for mark in marks if any(line.lstrip().startswith(mark) for _, line in comments)
        )
        _check_packed(comments)
        return cls(table, comments, rules, used)


def recognize(text: str, *, complete: bool, tabs: bool, forced: ForcedDialect) -> Layout:
    """Return the layout of a file from its first text; `tabs` may separate."""
    lines = _lines_of(text, complete)
    separator, skip = forced.separator, forced.skip or 0
    start, first = next(_filled(lines, skip), (skip, ""))
    if declared := _declared_separator(first):
        separator, skip = separator or declared, start + 1
    as_usual = separator in (None, ",") and skip == 0 and not forced.changes_rows
    if as_usual and _is_left_to_csv(lines, start, text):
        return AS_CSV
    _check_netcdf(first)
    found = _LinesByKind.of([*_filled(lines, skip)], forced.comment)
    if not found.table:
        return Layout(Dialect(separator or ",", missing=forced.missing), skip=skip)
    separators = _possible_separators(separator, forced.decimal)
    place = _Place() if forced.header is not None else _place_below_text(found.table, separators)
    preface, table = found.table[: place.begin], found.table[place.begin :]
    skip = table[0][0] if preface else skip
    fit = _columns(table, found.comments, separator, separators, tabs, forced)
    table = _with_unit_comment(table, found.comments, fit)
    header = _header(fit, table, found.comments, place, skip, forced.header)
    recognized = _RecognizedTable(found, table, fit, header, complete, forced)
    recognized.check()
    return recognized.layout([_left_out(preface[0][0] + 1, skip)] if preface else [])


class _RecognizedTable:
    """A table whose columns and header are known: its rows, and the lines between them."""

    def __init__(
        self,
        lines: _LinesByKind,
        table: Sequence[Line],
        fit: _SeparatorFit,
        header: _Header,
        complete: bool,
        forced: ForcedDialect,
    ) -> None:
        self.lines, self.table, self.fit, self.header = lines, table, fit, header
        self.complete, self.forced = complete, forced
        body = [line for line in table if line[0] >= header.skip and line[0] not in header.taken]
        with_summaries = complete and forced.comment != "none"
        self.summaries = _summary_rows(body, fit.separator) if with_summaries else []
        self.body = [line for line in body if line not in self.summaries]
        no_comments = header.taken.union(k for k, _ in table)
        self.comments = {k: line for k, line in lines.comments if k not in no_comments}

    def check(self) -> None:
        """Raise an error if the file has several tables, or a comment that may be a row."""
        header = self.header
        _check_segments(self.table, self.fit)
        if header.taken and header.names is not None:
            _check_blocks(self.table, self.lines.comments, self.fit, header.names)
        if self.forced.comment is None:
            _check_comments(self.comments, self.body, self.fit.separator, self.fit.width)

    def layout(self, left_out: list[str]) -> Layout:
        """Return the layout; its summary says what is not as in plain csv, and which lines are left
        out.
        """
        separator, missing, header = self.fit.separator, self.forced.missing, self.header
        style = _style(self.body, separator, self.forced)
        summary = _summary_of_style(style)
        if self.comments:
            summary.append(_count_of_comments(len(self.comments) if self.complete else None))
        summary = _with_blocks(
            [*summary, *left_out, *header.summary], self.body, separator, self.complete
        )
        names, remarks = header.column_names, False
        if names is not None:
            summary += _doubts(names, _full_rows(self.body, self.fit), missing)
            remarks = _has_remarks(self.table[0][1], self.body, self.fit, names)
            names = [*names, REMARKS] if remarks else names
        if rows := self.summaries:
            summary.append(f"{_left_out(rows[0][0] + 1, rows[-1][0] + 1)}, a summary of the rows")
        marks = self.lines.marks + _beginnings(self.lines.rules, rows, header.skip, separator)
        blanks = separator == BLANKS
        dialect = Dialect("\t" if blanks else separator, *style, missing, remarks)
        return Layout(dialect, names, header.units, header.skip, marks, blanks, tuple(summary))


def _beginnings(
    rules: Sequence[Line], summaries: Sequence[Line], skip: int, separator: str
) -> tuple[str, ...]:
    """Return what lines that are no rows of the table begin with: those drawn between rows, and
    summaries of rows.
    """
    drawn = {line.strip() for k, line in rules if k >= skip}
    return *drawn, *{_first_cell(line, separator) for _, line in summaries}


def _place_below_text(table: Sequence[Line], separators: Sequence[str]) -> _Place:
    """Return where a table is, below lines of text that may be left out."""
    place = _table_place(table, separators)
    return place if all(_may_be_left_out(line) for _, line in table[: place.begin]) else _Place()


def _columns(
    table: Sequence[Line],
    comments: Sequence[Line],
    separator: str | None,
    separators: Sequence[str],
    tabs: bool,
    forced: ForcedDialect,
) -> _SeparatorFit:
    """Return the columns of a table by the separator that makes rows of numbers, or by the usual
    one.
    """
    sample = [line for _, line in table[:SAMPLE_LINES]]
    _check_pairs(sample, separator, forced)
    above = [(k, _without_mark(line)) for k, line in comments if k < table[0][0]]
    if (fit := _best_fit(sample, above, separators, forced.header)) is not None:
        return fit
    _check_title(table, separators)
    return _usual_columns(sample, separator, tabs, forced)


def _style(body: Sequence[Line], separator: str, forced: ForcedDialect) -> tuple[str, str]:
    """Return the marks of decimals and of thousands in the numbers of a table."""
    spread = dict.fromkeys(
        cell.translate(THIN) for _, line in body for cell in _split(line, separator)
    )
    return usual_style([cell for cell in spread if re.search(r"[.,' ]", cell)], forced.decimal)


def _summary_of_style(style: tuple[str, str]) -> list[str]:
    decimal, thousands = style
    summary = ["decimal comma"] if decimal == "," else []
    return [*summary, f"thousands {_THOUSANDS[thousands]}"] if thousands else summary


def _separate_rules(table: Sequence[Line], comment: str | None) -> tuple[list[Line], list[Line]]:
    """Return the lines of a table, and those that only draw a line below its header."""
    rules = [pair for pair in table if comment != "none" and _RULE.fullmatch(pair[1])]
    if len(rules) == len(table):
        return [*table], []
    return [pair for pair in table if pair not in rules], rules


def _check_netcdf(line: str) -> None:
    if _NETCDF.fullmatch(line):
        message = (
            "it is the text of a NetCDF file, whose variables stand one after the other:"
            f" `{line[:40]}`"
        )
        raise point_error(
            message,
            "write the variables as columns, for example `xarray.Dataset.to_dataframe().to_csv`",
        )


def _check_packed(comments: Sequence[Line]) -> None:
    packed = next((k for k, line in comments if _SEVERAL_A_ROW.search(line)), None)
    if packed is not None:
        message = f"line {packed + 1} says that each row has one x and several y: `(X++(Y..Y))`"
        raise point_error(message, "export the spectrum with one x and one y a line")


def _full_rows(body: Sequence[Line], fit: _SeparatorFit) -> list[Cells]:
    rows = [_split(line, fit.separator) for _, line in body]
    return [cells for cells in rows if len(cells) == fit.width]


def _has_remarks(header: str, body: Sequence[Line], fit: _SeparatorFit, names: Cells) -> bool:
    """Return whether some rows have a cell in LabVIEW's column `Comment`, and others end before
    it.
    """
    if (
        fit.separator == BLANKS
        or names[-1:] == [REMARKS]
        or _split(header, fit.separator)[-1] != REMARKS
    ):
        return False
    return any(len(_split(line, fit.separator)) > fit.width for _, line in body)


def _first_cell(line: str, separator: str) -> str:
    """Return the text of a line up to its first separator."""
    return (
        line.split(maxsplit=1)[0]
        if separator == BLANKS
        else line[: line.index(separator) + 1].lstrip()
    )


def _summary_rows(body: Sequence[Line], separator: str) -> list[Line]:
    """Return the last rows if they are means, sums or the like, named in a column of numbers."""
    rows = [_split(line, separator) for _, line in body]
    begin = len(rows)
    while begin > 0 and len(rows[begin - 1]) > 1 and _SUMMARY.fullmatch(rows[begin - 1][0]):
        begin -= 1
    is_column = begin > 1 and all(is_value(cells[0]) for cells in rows[:begin])
    return [*body[begin:]] if is_column else []


def _doubts(names: Cells, rows: Sequence[Cells], missing: Missing) -> list[str]:
    """Return what is read as it stands, and may mean something else: marks for no value, units that
    differ by row.
    """
    doubts = []
    for name, *cells in zip(names, *rows, strict=False):
        if name.lower() in ("unit", "units", "einheit") and len(units := {*cells} - {""}) > 1:
            if all(map(is_unit, units)):
                doubts.append(
                    f"numbers without the units of column {quote([name])}"
                    f" ({', '.join(sorted(units))})"
                )
            continue
        marks = dict.fromkeys(
            cell for cell in cells if _NO_VALUE.fullmatch(cell) and cell not in missing.texts
        )
        others = [
            abs(float(cell))
            for cell in cells
            if cell not in marks and number(".", "").fullmatch(cell)
        ]
        if others and (rare := [mark for mark in marks if not max(others) > abs(float(mark)) / 3]):
            doubts.append(
                f"{', '.join(rare)} in column {quote([name])} as a number (none: `--missing"
                f" {','.join(rare)}`)"
            )
    return doubts


def _count_of_comments(count: int | None) -> str:
    return "comment lines" if count is None else f"{count} comment line{'s' * (count > 1)}"


def _with_blocks(
    summary: list[str], body: Sequence[Line], separator: str, complete: bool
) -> list[str]:
    """Return the summary with the separator and the number of blocks, where they are not as in
    plain csv.
    """
    blocks = 1 + sum(later[0] - line[0] > 1 for line, later in pairwise(body))
    if separator == BLANKS and complete and blocks > 1:
        summary.append(f"{blocks} blocks")
    if separator in "\t," and summary == ["units in the header"]:
        return []
    if separator not in "\t," or (summary and separator != ","):
        return [f"separator {_short(separator)}", *summary]
    return summary


def _is_plain(lines: Sequence[str], text: str) -> bool:
    """Return whether a file is csv whose first line names the columns, and needs no second look."""
    first = next((line for line in lines[:SAMPLE_LINES] if line.strip()), "")
    if not _PLAIN_HEADER.fullmatch(first.strip()) or _SPECIAL.search(text):
        return False
    # the first block of a file may have many lines: no more of them are looked at
    table = [*islice(_filled(lines), MAX_PREFACE_LINES)]
    names = _split(first, ",")
    if len({*names}) < len(names):
        return False
    if len(table) < 2:
        return True
    below = _split(table[1][1], ",")
    if len(below) == len(names) and all_values(below):
        return True
    return not _may_be_units(below, names) and _begins_at_once(table)


def _begins_at_once(table: Sequence[Line]) -> bool:
    try:
        return _table_place(table, [","]) == _Place()
    except ExpressionError:
        return False


def _may_be_units(cells: Cells, names: Cells) -> bool:
    """Return whether the line below a plain header has to be looked at: words, or a separator
    more.
    """
    one_more = len(cells) == len(names) + 1 and not cells[-1]
    words = [
        cell
        for cell in cells
        if cell and cell not in NO_UNIT and not is_value(cell) and not is_missing(cell)
    ]
    return one_more or any(
        is_unit_or_format(as_unit(word)) or _RDB_FORMAT.fullmatch(word) for word in words
    )


def _check_segments(table: Sequence[Line], fit: _SeparatorFit) -> None:
    """Raise an error if the header stands again below settings that would be read as rows."""
    header = table[0][1].strip()
    if fit.names is None:
        return
    again = next((k for k in range(2, len(table)) if table[k][1].strip() == header), 0)
    settings = [
        cells for _, line in table[1:again] if not all_values(cells := _split(line, fit.separator))
    ]
    if any(
        len(cells) in (fit.width, fit.width + 1) and any(map(is_value, cells)) for cells in settings
    ):
        message = (
            f"line {table[again][0] + 1} names the columns again, below settings: another table"
            " begins there"
        )
        raise point_error(message, "write each table into a file of its own")


def _check_blocks(
    table: Sequence[Line], comments: Sequence[Line], fit: _SeparatorFit, names: Cells
) -> None:
    """Raise an error if a comment above a further block of rows names other columns."""
    rows = {k for k, _ in table}
    for line, text in comments:
        if line < table[0][0] or line + 1 not in rows or line - 1 in rows:
            continue
        bare = _without_mark(text)
        others = None if _SETTING.match(bare) else _headings(bare, fit.separator, fit.width)
        if others and [*others] != [*names] and not _are_units(others):
            message = (
                f"line {line + 1} names other columns for the rows below it: `{text.strip()[:40]}`"
            )
            raise point_error(message, "write each table into a file of its own")


def _check_comments(
    comments: Mapping[int, str], body: Sequence[Line], separator: str, width: int
) -> None:
    rows = [
        cells for _, line in body[:SAMPLE_LINES] if len(cells := _split(line, separator)) == width
    ]
    if width < 2 or not rows or any(is_value(cells[0]) for cells in rows):
        return
    for k, line in comments.items():
        cells = _split(line, separator)
        if (
            len(cells) == width
            and line.lstrip("#%/") == line.lstrip("#%/ ")
            and all(map(is_value, cells[1:]))
        ):
            message = f"line {k + 1} is a row, or a comment: `{line.strip()[:40]}`"
            raise point_error(
                message, f"say which: `--comment none`, or `--comment {line.lstrip()[:1]}`"
            )
