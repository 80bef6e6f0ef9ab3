"""Workbooks of one sheet for Excel and LibreOffice: cells of text, numbers and formulas, and names
of cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, NamedTuple
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ..errors import limit_error

# Rows and columns of a sheet of Excel, and characters of a cell.
MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET = "Sheet1"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_CONTENT}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_CONTENT}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_CONTENT}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_RELATIONS}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts>'
    "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/>"
    '</fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf/><xf fontId="1" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}  # fmt: skip
# What XML cannot hold, and what would be read as such a character.
_ILLEGAL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

# References to cells, and words of the formulas.
_NO_NAME = re.compile(
    r"[a-z]{1,3}\d+|r\d*c?\d*|c\d*|true|false|exp|ln|log10|sqrt|a?(?:sin|cos|tan)h?|atan2|erfc?|abs|sign|int|max|min|if|not|power"
    r"|and|or|pi|e",
    re.IGNORECASE,
)

_NAME = re.compile(r"[^\W\d]\w{0,200}")


class CellFormula(NamedTuple):
    """A formula of a cell, without its equality sign."""

    text: str


Cell = str | float | bool | CellFormula | None


class Workbook:
    """A workbook that is written row by row, the first of which is the header if it has one."""

    def __init__(self, file: IO[bytes], *, header: bool) -> None:
        self._archive = ZipFile(file, "w", ZIP_DEFLATED)
        self._count = 0
        self._header = header
        self._open = True
        for name, text in _PARTS.items():
            self._archive.writestr(_entry(name), HEAD + text)
        self._sheet = self._archive.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True)
        frozen = (
            '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
            if header
            else ""
        )
        view = f'<sheetViews><sheetView workbookViewId="0">{frozen}</sheetView></sheetViews>'
        self._sheet.write(f'{HEAD}<worksheet xmlns="{_MAIN}">{view}<sheetData>'.encode())

    def add(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Write rows. Raises `ExpressionError` for more than a sheet can hold."""
        lines = []
        for cells in rows:
            self._count += 1
            if self._count > MAX_ROWS or len(cells) > MAX_COLUMNS:
                message = (
                    f"a sheet of a workbook holds {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns"
                )
                raise limit_error(message, "write csv or Parquet")
            style = ' s="1"' if self._header and self._count == 1 else ""
            lines.append(
                f'<row r="{self._count}">{"".join([_cell(x, style) for x in cells])}</row>'
            )
        self._sheet.write("".join(lines).encode())

    def close(self, names: Mapping[str, str] = {}) -> None:
        """End the workbook; `names` are those of cells, such as `$B$1`."""
        self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        defined = "".join(
            f"<definedName name={quoteattr(name)}>{SHEET}!{place}</definedName>"
            for name, place in names.items()
        )
        defined = f"<definedNames>{defined}</definedNames>" if defined else ""
        self._archive.writestr(
            _entry("xl/workbook.xml"),
            f'{HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets><sheet name="{SHEET}"'
            f' sheetId="1" r:id="rId1"/></sheets>{defined}<calcPr fullCalcOnLoad="1"/></workbook>',
        )
        self._archive.close()
        self._open = False

    def abandon(self) -> None:
        """Leave an unfinished workbook, which the archive would end when it is collected."""
        if self._open:
            self._archive.fp = None


def _entry(name: str) -> ZipInfo:
    """Return an entry of the archive without the time, so that the same cells make the same
    bytes.
    """
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    return entry


def _cell(cell: Cell, style: str) -> str:
    if cell is None or cell != cell:
        return f"<c{style}/>"
    if isinstance(cell, CellFormula):
        return f"<c{style}><f>{escape(cell.text)}</f></c>"
    if isinstance(cell, bool):
        return f'<c{style} t="b"><v>{cell:d}</v></c>'
    if isinstance(cell, int | float):
        return (
            f"<c{style}><v>{cell!r}</v></c>"
            if abs(cell) < float("inf")
            else _text(str(cell), style)
        )
    return _text(str(cell), style)


def _text(text: str, style: str) -> str:
    if len(text) > MAX_TEXT:
        raise limit_error(
            f"a cell of a workbook holds {MAX_TEXT:,} characters, and one has {len(text):,}",
            "write csv",
        )
    legal = _ILLEGAL.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f'<c{style} t="inlineStr"><is><t xml:space="preserve">{escape(legal)}</t></is></c>'


def names_of_cells(labels: Sequence[str]) -> list[str]:
    """Return names for cells with these labels, that spreadsheets take for nothing else.

    >>> names_of_cells(["x", "X", "x1", "df/dx", "c", "λ[1]"])
    ['x', 'X_', 'x1_', 'df_dx', 'c_', 'λ_1_']
    """
    names: list[str] = []
    taken: set[str] = set()
    for label in labels:
        name = re.sub(r"\W", "_", label)
        name = name if _NAME.fullmatch(name) else f"_{name[:200]}"
        if _NO_NAME.fullmatch(name):
            name += "_"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        names.append(name)
    return names
