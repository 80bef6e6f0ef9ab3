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
import sys
from contextlib import suppress
from typing import Any

BASE_BYTES = 768 * 1024 * 1024
# Memory for a byte of the file: workbooks of numbers take 40 to 60.
BYTES_FOR_A_BYTE = 120
BASE_SECONDS = 3
# Workbooks of numbers are read at 1 MB a second and more.
BYTES_A_SECOND = 250_000


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
    """Return the names of the sheets, or an error, and one sheet as csv."""
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = book.sheet_names
        name = names[0] if sheet is None else sheet
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
    return {"names": names}, text.getvalue()


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
