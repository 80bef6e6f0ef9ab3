"""A Gradient in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..questions.gradient import Gradient
from .characters import Style
from .document import Block, Line, Pieces, Table
from .formats import Row, View, diagnostic_record
from .numerals import exact, readable
from .outline import outline

if TYPE_CHECKING:
    from ..questions.precise import PreciseGradient

COLUMNS = ("line", "id", "variable", "at", "partial", "value", "error")


def view(
    *,
    intermediates: bool = False,
    digits: int | None = None,
    depth: int | None = None,
    table: bool = True,
    tree: bool = True,
) -> View[Gradient]:
    """How a gradient is shown, by these choices; the last three and `digits` are for people only."""

    def record(answer: Gradient) -> dict[str, object]:
        fields: dict[str, object] = {
            "value": answer.value,
            "gradient": answer.gradient,
            "point": answer.point,
            "constants": answer.constants,
            "warnings": [diagnostic_record(warning) for warning in answer.warnings],
        }
        if intermediates:
            fields["intermediates"] = [
                {"name": each.name, "line": each.line, "value": each.value, "grad": each.grad}
                for each in answer.intermediates
            ]
        return fields

    def document(answer: Gradient) -> Iterator[Block]:
        yield Line((("value", "heading"), (" = ", "faint"), (readable(answer.value, digits), "number")))
        for name, value in answer.constants.items():
            number = readable(value, digits)
            yield Line(((name, "name"), (" = ", "faint"), (number, "number"), (" (constant)", "faint")))
        fixed = [name for name in answer.point if name not in answer.gradient]
        if fixed:
            pieces: Pieces = (("held fixed: ", "faint"),)
            for index, name in enumerate(fixed):
                comma = ", " if index else ""
                number = readable(answer.point[name], digits)
                pieces += ((comma, "faint"), (name, "name"), (" = ", "faint"), (number, "number"))
            yield Line(pieces)
        if not answer.point:
            yield Line((("no variables: there is nothing to differentiate by", "faint"),))
        if table and answer.gradient:
            yield Table(
                ("variable", "value", "partial derivative"),
                [
                    _row((name, "name"), readable(answer.point[name], digits), readable(partial, digits))
                    for name, partial in answer.gradient.items()
                ],
                frozenset((1, 2)),
            )
        if table and intermediates and answer.intermediates:
            yield Table(
                ("bound name", "line", "value", "grad"),
                [
                    _row((each.name, "name"), str(each.line), readable(each.value, digits), readable(each.grad, digits))
                    for each in answer.intermediates
                ],
                frozenset((1, 2, 3)),
            )
        if tree:
            yield outline(answer.output, depth=depth, digits=digits)

    return View(
        record,
        lambda answer: rows(answer, intermediates),
        lambda answer: brief(answer, intermediates),
        document,
        COLUMNS,
    )


def _row(name: tuple[str, Style], *numbers: str) -> tuple[Pieces, ...]:
    return ((name,), *(((number, "number"),) for number in numbers))


def rows(answer: Gradient | PreciseGradient, intermediates: bool) -> Iterator[Row]:
    """The rows of a long table, one a variable, then one a bound name if those are wanted."""
    value = exact(answer.value)
    for name, partial in answer.gradient.items():
        yield {"variable": name, "at": exact(answer.point[name]), "partial": exact(partial), "value": value}
    if not answer.gradient:
        yield {"value": value}
    for each in answer.intermediates if intermediates else ():
        yield {"variable": each.name, "at": exact(each.value), "partial": exact(each.grad), "value": value}


def brief(answer: Gradient | PreciseGradient, intermediates: bool) -> str:
    """The answer on one line: the value, then `name=partial`."""
    parts = [exact(answer.value), *(f"{name}={exact(partial)}" for name, partial in answer.gradient.items())]
    if intermediates:
        parts += [f"{each.name}={exact(each.grad) or '-'}" for each in answer.intermediates]
    return " ".join(parts)
