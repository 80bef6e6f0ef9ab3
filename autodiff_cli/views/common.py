"""What the documents of several commands have in common: a heading, the constants, what was held fixed, a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..questions.figures import Shown
from .document import Block, Line, Pieces, Style
from .numerals import readable


def stated(name: str, number: Shown | str, digits: int | None = None, style: Style = "heading") -> Line:
    """The line `name = number`."""
    text = number if isinstance(number, str) else readable(number, digits)
    return Line(((name, style), (" = ", "faint"), (text, "number")))


def circumstances(
    constants: Mapping[str, float], point: Mapping[str, Shown], wanted: Collection[str], digits: int | None
) -> Iterator[Block]:
    """The constants that were used, and the variables that were held fixed, a line each."""
    for name, value in constants.items():
        number = readable(value, digits)
        yield Line(((name, "name"), (" = ", "faint"), (number, "number"), (" (constant)", "faint")))
    fixed = [name for name in point if name not in wanted]
    if fixed:
        pieces: Pieces = (("held fixed: ", "faint"),)
        for index, name in enumerate(fixed):
            comma = ", " if index else ""
            pieces += ((comma, "faint"), (name, "name"), (" = ", "faint"), (readable(point[name], digits), "number"))
        yield Line(pieces)


def row(name: tuple[str, Style], *numbers: str) -> tuple[Pieces, ...]:
    """A row of a table: a name, and numbers."""
    return ((name,), *(((number, "number"),) for number in numbers))
