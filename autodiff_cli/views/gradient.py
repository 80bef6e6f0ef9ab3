"""A Gradient in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..questions.gradient import Gradient
from .document import NO_VARIABLES, Block, Table, circumstances, named_row, partials_table, stated
from .formats import Row, View, diagnostic_record
from .numerals import exact, number_fields, readable
from .outline import outline

COLUMNS = ("line", "id", "variable", "at", "partial", "value", "error")


def view(
    *,
    intermediates: bool = False,
    digits: int | None = None,
    depth: int | None = None,
    table: bool = True,
    tree: bool = True,
    binary: bool = False,
) -> View[Gradient[Any]]:
    """How a gradient is shown, by these choices; the last four and `digits` are for people only."""

    def record(answer: Gradient[Any]) -> dict[str, object]:
        arithmetic = answer.arithmetic.name
        fields = number_fields(arithmetic, {"value": answer.value, "gradient": answer.gradient, "point": answer.point})
        fields["constants"] = answer.constants
        fields["warnings"] = [diagnostic_record(warning) for warning in answer.warnings]
        if intermediates:
            fields["intermediates"] = [
                {"name": each.name, "line": each.line}
                | number_fields(arithmetic, {"value": each.value, "grad": each.grad})
                for each in answer.intermediates
            ]
        return fields

    def document(answer: Gradient[Any]) -> Iterator[Block]:
        # columns of figures are as wide as their digits are many
        right = frozenset((1, 2, 3) if answer.arithmetic.name == "double" else ())
        yield stated("value", answer.value, digits)
        yield from circumstances(answer.constants, answer.point, answer.gradient, digits)
        if not answer.point:
            yield NO_VARIABLES
        if table and answer.gradient:
            yield partials_table(answer.point, answer.gradient, lambda x: readable(x, digits), right=right)
        if table and intermediates and answer.intermediates:
            yield Table(
                ("bound name", "line", "value", "grad"),
                [
                    named_row(
                        (each.name, "name"), str(each.line), readable(each.value, digits), readable(each.grad, digits)
                    )
                    for each in answer.intermediates
                ],
                right,
            )
        if tree and answer.output is not None:
            yield outline(answer.output, depth=depth, digits=digits, binary=binary)

    def rows(answer: Gradient[Any]) -> Iterator[Row]:
        value = exact(answer.value)
        for name, partial in answer.gradient.items():
            yield {"variable": name, "at": exact(answer.point[name]), "partial": exact(partial), "value": value}
        if not answer.gradient:
            yield {"value": value}
        for each in answer.intermediates if intermediates else ():
            yield {"variable": each.name, "at": exact(each.value), "partial": exact(each.grad), "value": value}

    def brief(answer: Gradient[Any]) -> str:
        parts = [exact(answer.value), *[f"{name}={exact(partial)}" for name, partial in answer.gradient.items()]]
        if intermediates:
            parts += [f"{each.name}={exact(each.grad) or '-'}" for each in answer.intermediates]
        return " ".join(parts)

    return View(record, rows, brief, document, COLUMNS)
