"""An exported program as a workbook: a sheet with a name for each cell, by which its formulas are
written.
"""

from __future__ import annotations

import csv
import io
import re

from ...show.workbook import CellFormula, Workbook, names_of_cells
from .export import Exported

_CELL = re.compile(r"\bB(\d+)\b")
# Characters of the program beside its value: a cell holds 32,767.
MAX_MEANING = 1_000

HEADER = ("name", "value", "meaning")


def workbook(exported: Exported) -> bytes:
    """Return the workbook of a program that was exported to a spreadsheet."""
    rows = [*csv.reader(io.StringIO(exported.source))]
    # what is said of the program stands below it, without a label
    table, notes = [row for row in rows if row[0]], [text for label, text in rows if not label]
    names = names_of_cells([label for label, _ in table])
    places = {name: f"$B${k}" for k, name in enumerate(names, start=2)}
    out = io.BytesIO()
    book = Workbook(out, header=True)
    book.add([HEADER])
    for name, (label, content) in zip(names, table, strict=True):
        book.add([(name, _cell(content, names), _meaning(label, exported))])
    book.add([("note", None, note[:MAX_MEANING]) for note in notes])
    book.close(places)
    return out.getvalue()


def _cell(content: str, names: list[str]) -> CellFormula | float | None:
    if content.startswith("="):
        return CellFormula(_CELL.sub(lambda found: names[int(found[1]) - 1], content[1:]))
    return float(content) if content else None


def _meaning(label: str, exported: Exported) -> str:
    if label in exported.variables:
        return f"the variable {label}: type its value"
    if label == exported.name:
        return f"the value of {exported.text}"[:MAX_MEANING]
    if label.startswith(f"d{exported.name}/d"):
        return f"the derivative by {label.removeprefix(f'd{exported.name}/d')}"
    return "a part of the formulas below it"
