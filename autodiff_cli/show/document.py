"""Documents for people, independent of the medium."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product, repeat
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..language.elements import element_name, list_texts, parse_name, shapes_of
from ..questions.figures import Shown
from .characters import Style, Terminal
from .numerals import format_number

if TYPE_CHECKING:
    from ..compiled.data_loss import LossSummary
    from ..engine.quantities.unit import Unit


# Characters of a part of a matrix's row.
ROW_WIDTH = 40
# Styled text: each piece with its style.
Pieces: TypeAlias = tuple[tuple[str, Style], ...]


class Paragraph(NamedTuple):
    """Text that is wrapped to the width; a line of `source` is never broken."""

    pieces: Pieces
    source: bool = False


class Table(NamedTuple):
    """A table with a heading row."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    """Pieces by column."""
    right: frozenset[int] = frozenset()
    spare: frozenset[int] = frozenset()
    """Columns that a narrow screen may leave out."""


class OutlineRow(NamedTuple):
    """One row of an outline: its text, and its cells.

    `rails` has one flag a level: whether more siblings follow at that level.
    """

    rails: tuple[bool, ...]
    pieces: Pieces
    cells: tuple[str, ...] = ()


class Outline(NamedTuple):
    """A tree with columns of numbers; `note` says what was left out."""

    heads: tuple[str, ...]
    branches: Sequence[OutlineRow]
    note: str = ""


class ProgramHeading(NamedTuple):
    """A program's text, as typed: the heading over one of many answers."""

    line: int
    text: str


class TextDrawing(NamedTuple):
    """A drawing that adapts to the stream, under its name."""

    name: str
    draw: Callable[[Terminal], str]


class Room(NamedTuple):
    """Blank lines to write in by hand."""

    height: int


Block: TypeAlias = Paragraph | Table | Outline | ProgramHeading | TextDrawing | Room


def plain_text(pieces: Pieces) -> str:
    """Return the text without styles."""
    return pieces[0][0] if len(pieces) == 1 else "".join(map(itemgetter(0), pieces))


def sentence(text: str, style: Style = "") -> Pieces:
    """Return a sentence as pieces, with code between backticks."""
    styles: tuple[Style, Style] = (style, "code")
    return tuple((piece, styles[k % 2]) for k, piece in enumerate(text.split("`")) if piece)


def text_line(text: str, style: Style = "") -> Paragraph:
    """Return a line of one sentence, with code between backticks."""
    return Paragraph(sentence(text, style))


def quantity_text(x: Shown | bool | None, unit: Unit | None, digits: int | None = None) -> str:
    """Format a number to `digits`, with its unit if it has one."""
    text = format_number(x, digits)
    return f"{text} {unit}".rstrip() if unit is not None and x is not None else text


def value_line(
    name: str, number: Shown | str | None, digits: int | None = None, style: Style = "heading"
) -> Paragraph:
    """Return the line `name = number`."""
    text = number if isinstance(number, str) else format_number(number, digits)
    return Paragraph(((name, style), (" = ", "faint"), (text, "number")))


def formula_line(name: str, formula: str, condition: str | None) -> Paragraph:
    """Return the line `name = formula`, and where that holds."""
    validity: Pieces = (("   where ", "faint"), (condition, "number")) if condition else ()
    return Paragraph((*value_line(name, formula).pieces, *validity))


def assignments(values: Mapping[str, str]) -> Pieces:
    """Return names with their values, on one line."""
    pieces: Pieces = ()
    for name, number in values.items():
        pieces += (
            (", " if pieces else "", "faint"),
            (name, "name"),
            (" = ", "faint"),
            (number, "number"),
        )
    return pieces


def input_lines(
    constants: Mapping[str, float],
    point: Mapping[str, Shown],
    wanted: Collection[str],
    digits: int | None,
    over: LossSummary | None = None,
    *,
    whole: bool = False,
) -> Iterator[Block]:
    """Yield lines about data, constants and the variables that are not `wanted`: held fixed, or the
    whole point.
    """
    if over is not None:
        yield Paragraph(((over.description, "faint"),))
        for why, count in over.left_out.items():
            yield Paragraph(((f"left out: {count:,}  {why}", "faint"),))
    for name, value in constants.items():
        yield Paragraph(
            (*assignments({name: format_number(value, digits)}), (" (constant)", "faint"))
        )
    fixed = {name: format_number(x, digits) for name, x in point.items() if name not in wanted}
    if fixed:
        yield from held_fixed(fixed, "at " if whole else "held fixed: ")


def held_fixed(values: Mapping[str, str], title: str = "held fixed: ") -> Iterator[Block]:
    """Yield the line on the variables held fixed, if any."""
    if values:
        yield Paragraph(((title, "faint"), *assignments(list_texts(values))))


NO_VARIABLES = Paragraph((("no variables: there is nothing to differentiate by", "faint"),))


def numbers_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Shown | bool | str | None]],
    digits: int | None = None,
    *,
    right: bool | Collection[int] = True,
    style: Style = "name",
) -> Table:
    """Return a table of named rows; columns in `right`, without units, are flush right."""
    rows = [*rows]
    measured_columns = {k for row in rows for k, x in enumerate(row) if hasattr(x, "unit")}
    if isinstance(right, bool):
        right = range(1, len(heads)) if right and not measured_columns else ()
    styles = (style, *repeat("number", len(heads) - 1))
    texts = [[x if isinstance(x, str) else format_number(x, digits) for x in row] for row in rows]
    cells = [tuple(zip(zip(row, styles))) for row in texts]  # noqa: B905
    return Table(tuple(heads), cells, frozenset(right) - measured_columns)


def partials_table(
    point: Mapping[str, Shown],
    gradient: Mapping[str, Shown | str],
    digits: int | None = None,
    head: str = "partial derivative",
    right: bool = True,
    elasticities: Mapping[str, Shown | None] = MappingProxyType({}),
    shaped: bool = True,
) -> Table:
    """Return the table of values and partial derivatives."""
    heads = ("variable", "value", head, *("elasticity",) * bool(elasticities))
    rows: list[tuple[Any, ...]] = [
        (name, point[name], partial) for name, partial in gradient.items()
    ]
    if elasticities:
        rows = [(*row, elasticities[row[0]]) for row in rows]
    if (
        right
        and shaped
        and "]" in "".join(gradient)
        and not any(hasattr(x, "unit") for row in rows for x in row)
    ):
        rows = [*_matrices_in_rows(rows, digits)]
    return numbers_table(heads, rows, digits, right=right)


def _matrices_in_rows(
    rows: Sequence[tuple[Any, ...]], digits: int | None
) -> Iterator[tuple[Any, ...]]:
    # entries of a matrix stand side by side, as `W[1,1:3]`
    entries = {name: numbers for name, *numbers in rows}
    shapes = {
        name: shape for name, shape in shapes_of([*entries]).items() if shape[1:] not in ((), (1,))
    }
    for row in rows:
        base, index = parse_name(row[0]) or (row[0], ())
        if base not in shapes:
            yield row
        elif index == (1, 1):
            yield from _matrix_rows(base, shapes[base], entries, digits)


def _matrix_rows(
    name: str, shape: Sequence[int], entries: Mapping[str, Sequence[Any]], digits: int | None
) -> Iterator[tuple[str, ...]]:
    height, width = (range(1, size + 1) for size in shape)
    texts = {
        place: [format_number(x, digits) for x in entries[element_name(name, place)]]
        for place in product(height, width)
    }
    wide = [max(map(len, column)) for column in zip(*texts.values(), strict=True)]
    together = max(1, (ROW_WIDTH + 2) // (max(wide) + 2))
    for i in height:
        for first in width[::together]:
            last = min(width[-1], first + together - 1)
            cells = zip(*[texts[i, k] for k in range(first, last + 1)], strict=True)
            label = (
                f"{name}[{i},{first}:{last}]" if last > first else element_name(name, (i, first))
            )
            yield (
                label,
                *[
                    "  ".join(x.rjust(size) for x in row)
                    for row, size in zip(cells, wide, strict=True)
                ],
            )


def matrix_table(
    head: str, names: Sequence[str], rows: Iterable[Iterable[Shown | None]], digits: int | None = 4
) -> Table:
    """Return the table of a square matrix."""
    named = [(name, *row) for name, row in zip(names, rows, strict=True)]
    return numbers_table((head, *names), named, digits)
