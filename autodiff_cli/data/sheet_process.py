"""A process that writes a sheet of a spreadsheet as csv, within bounds: a damaged file may end its
reader.

It is run as a script with the folder of python-calamine and the sheet, and takes the file from
standard input. It writes a line of JSON and then the sheet.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import zipfile
import zlib
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

BASE_BYTES = 768 * 1024 * 1024
# Memory for a byte of the file: workbooks of numbers take 40 to 60.
BYTES_FOR_A_BYTE = 120
BASE_SECONDS = 3
# Workbooks of numbers are read at 1 MB a second and more.
BYTES_A_SECOND = 250_000

# What reading the parts of a file raises that is none of the kind, or damaged there.
NO_PARTS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    ElementTree.ParseError,
    KeyError,
    StopIteration,
    RuntimeError,
    ValueError,
)

# The cells of a row that is not shown (ECMA-376, part 1, 18.3.1.73).
HIDDEN_ROW = re.compile(rb'<row\b[^<>]*\bhidden="(?:1|true)"[^<>/]*>(.*?)</row>', re.DOTALL)


def bound(size: int) -> None:
    """Bound memory and time for a file of this size, where the system can."""
    try:
        import resource
    except ImportError:  # Windows has no such bounds: the caller waits for a bounded time
        return
    memory, seconds = BASE_BYTES + BYTES_FOR_A_BYTE * size, BASE_SECONDS + size // BYTES_A_SECOND
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower bound of the system's own
            resource.setrlimit(what, (most, most))


def cell_of(cell: Any) -> str | float:
    """Return what csv writes of a cell."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return int(cell) if cell == cell // 1 and abs(cell) < 2**53 else cell
    if hasattr(cell, "isoformat"):  # a date, or a time
        return str(cell.isoformat())
    if hasattr(cell, "total_seconds"):
        return float(cell.total_seconds())
    return str(cell).replace("\n", " ").replace("\r", " ")


def read(calamine: Any, data: bytes, sheet: str | None) -> tuple[dict[str, Any], str]:
    """Return the names of the sheets, which was read, and how many of its rows are hidden, or an
    error; and the sheet as csv. Without a name the first is read that holds cells and is shown.
    """
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = book.sheet_names
        name = first_shown(calamine, book) if sheet is None else sheet
        if name not in names:
            return {"names": names}, ""
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (calamine.CalamineError, IndexError, ValueError, OSError) as fault:
        return {"error": str(fault)}, ""
    text = io.StringIO()
    # quote texts, so that no row looks like a comment
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        cells = [*map(cell_of, row)]
        writer.writerow(cells if any(cell != "" for cell in cells) else [])
    return {"names": names, "sheet": name, "hidden": hidden_rows(data, name)}, text.getvalue()


def first_shown(calamine: Any, book: Any) -> str:
    """Return the name of the first sheet of cells that is not hidden, else of the first sheet."""
    for sheet in book.sheets_metadata:
        is_cells = sheet.typ == calamine.SheetTypeEnum.WorkSheet
        if is_cells and sheet.visible == calamine.SheetVisibleEnum.Visible:
            return str(sheet.name)
    return str(book.sheet_names[0])


def hidden_rows(data: bytes, name: str) -> int:
    """Return how many rows with values a sheet of a .xlsx file hides, by hand or by a filter; 0 in
    other files, which the library reads without saying.
    """
    # Where the parts are: ECMA-376, part 1, 18.2.20 (sheets), and part 2, 9.3 (relationships).
    with suppress(*NO_PARTS), zipfile.ZipFile(io.BytesIO(data)) as parts:
        book = ElementTree.fromstring(parts.read("xl/workbook.xml"))
        sheet = next(one for one in book.iterfind(".//{*}sheet") if one.get("name") == name)
        ties = ElementTree.fromstring(parts.read("xl/_rels/workbook.xml.rels"))
        key = next(value for of, value in sheet.items() if of.endswith("}id"))
        target = next(tie.attrib["Target"] for tie in ties if tie.get("Id") == key)
        path = target[1:] if target.startswith("/") else f"xl/{target}"
        return sum(b"<v>" in row for row in HIDDEN_ROW.findall(parts.read(path)))
    return 0


def main() -> None:
    """Read the file from standard input and write its sheet."""
    data = sys.stdin.buffer.read()
    bound(len(data))
    sys.path.append(sys.argv[1])
    import python_calamine

    found, text = read(python_calamine, data, sys.argv[2] if len(sys.argv) > 2 else None)
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + text.encode(errors="replace"))
    sys.stdout.flush()
    os._exit(0)  # without freeing the cells one by one


if __name__ == "__main__":
    main()
