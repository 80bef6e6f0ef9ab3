"""Sheets of spreadsheets as csv, a line a row, which is then read as other text is."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime, time, timedelta
from typing import Any

from ..errors import ExpressionError, needed, quoted


def text_of_sheet(file: Any, path: str, sheet: str | None) -> tuple[bytes, list[str]]:
    """The cells of a sheet as csv, and what is to be said of it. Raises `ExpressionError` (`io`).

    Needs the extra `excel`.
    """
    calamine = needed("python_calamine", "excel", "spreadsheets need python-calamine", ", or save the sheet as csv")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(file.read()))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            hint = f"its sheets are {quoted(names)}"
            raise ExpressionError("io", f"there is no sheet `{sheet}` in `{path}`", hint=hint)
        name = sheet or names[0]
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (calamine.CalamineError, IndexError, ValueError, OSError) as fault:
        message = f"`{path}` cannot be read as a spreadsheet: {fault}"
        raise ExpressionError("io", message, hint="it may be cut off, or be another kind of file") from None
    text = io.StringIO()
    # texts are in quotes, so that no row is taken for a comment
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        cells = [_cell(cell) for cell in row]
        writer.writerow(cells if any(cell != "" for cell in cells) else [])
    said = [f"sheet {name} of {len(names)}"] if sheet is None and len(names) > 1 else []
    return text.getvalue().encode(), said


def _cell(cell: object) -> object:
    """What stands in a cell, as csv has it."""
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, int | float):
        return cell
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return str(cell).replace("\n", " ").replace("\r", " ")
