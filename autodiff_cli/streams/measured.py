"""Columns of a data file, whole: what was measured, as commands take it that need all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack

from ..errors import ExpressionError
from .data import rows_of
from .sources import sources
from .textrows import value

MOST_CELLS = 20_000_000


def read_columns(path: str, wanted: Callable[[Sequence[str]], Collection[str]]) -> dict[str, list[float]]:
    """The columns of data, as `--points` reads them, that `wanted` chooses among their names.

    The numbers remember their texts, for other arithmetics. Raises `ExpressionError`: `io` for a file that cannot be
    read, `point` for what is no number, with its line and column.
    """
    with ExitStack() as stack:
        header, rows = rows_of(sources([path], None), stack)
        found: dict[str, list[float]] | None = None
        if header is not None:
            found = {name: [] for name in wanted(header)}
        count = 0
        for line, cells, error in rows:
            if found is None:
                found = {name: [] for name in wanted(list(cells))}
            try:
                if error is not None:
                    raise error
                for name, column in found.items():
                    column.append(value(name, cells.get(name)))
            except ExpressionError as fault:
                told = ExpressionError(fault.kind, f"line {line} of the data: {fault}", hint=fault.hint)
                told.text = ""
                raise told from None
            count += len(found)
            if count > MOST_CELLS:
                raise ExpressionError(
                    "limit", f"the data has more than {MOST_CELLS:,} numbers", hint="take a sample of its rows"
                )
        if not found or not next(iter(found.values())):
            name = "standard input" if path == "-" else f"`{path}`"
            if found is not None and not found:
                return found
            raise ExpressionError("point", f"{name} has no rows of data", hint="a row has a number for each column")
        return found
