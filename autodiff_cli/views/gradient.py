"""A Gradient in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from ..derivatives.gradient import Gradient
from ..inputs.arithmetic import DOUBLE
from ..inputs.figures import Figure
from .document import (
    NO_VARIABLES,
    Block,
    Line,
    Table,
    circumstances,
    loss_summary_lines,
    named_row,
    partials_table,
    sentence,
    stated,
)
from .formats import OutputRow, View, diagnostic_record
from .numerals import format_number, number_fields, repr_number
from .outline import outline

COLUMNS = ("line", "id", "variable", "at", "partial", "value", "error")
RIGHT: frozenset[int] = frozenset((1, 2, 3))
NONE: frozenset[int] = frozenset()
EXPLAINED = "elasticity: by how many percent the value changes when the variable changes by one percent"


def view(
    *,
    intermediates: bool = False,
    relative: bool = False,
    sort: bool = False,
    digits: int | None = None,
    depth: int | None = None,
    table: bool = True,
    tree: bool = True,
    binary: bool = False,
) -> View[Gradient[Any]]:
    """How a gradient is shown, by these choices; the last four and `digits` are for people only.

    `sort` puts the variable with the largest derivative first, or with the largest elasticity where these are shown.
    """

    def ordered(answer: Gradient[Any]) -> dict[str, Any]:
        """The partial derivatives, in the order in which they are shown."""
        if not sort:
            return answer.gradient
        sizes: Mapping[str, Any] = (relative and answer.elasticities) or answer.gradient
        return {name: answer.gradient[name] for name in sorted(answer.gradient, key=lambda name: -_size(sizes[name]))}

    def record(answer: Gradient[Any]) -> dict[str, object]:
        arithmetic = answer.arithmetic.name
        numbers = {"value": answer.value, "gradient": ordered(answer), "point": answer.point}
        if relative and answer.elasticities is not None:
            numbers["elasticities"] = {name: answer.elasticities[name] for name in ordered(answer)}
        fields = number_fields(arithmetic, numbers)
        fields["constants"] = answer.constants
        if answer.over is not None:
            fields["data"] = answer.over._asdict()
        fields["warnings"] = [diagnostic_record(warning) for warning in answer.warnings]
        if intermediates:
            fields["intermediates"] = [
                {"name": each.name, "line": each.line}
                | number_fields(arithmetic, {"value": each.value, "grad": each.grad})
                for each in answer.intermediates
            ]
        return fields

    def numbers(answer: Gradient[Any]) -> tuple[Hashable, tuple[float, ...]] | None:
        partials, point, constants = answer.gradient, answer.point, answer.constants
        if intermediates or relative or answer.warnings or answer.arithmetic != DOUBLE:
            return None
        if sort:
            partials = ordered(answer)
        # a comma is in no name
        return ",".join([*partials, "", *point, "", *constants]), (
            answer.value, *partials.values(), *point.values(), *constants.values()
        )  # fmt: skip

    number: Callable[[Any], str] = format_number if digits is None else lambda x: format_number(x, digits)

    def document(answer: Gradient[Any]) -> Iterator[Block]:
        # columns of figures are as wide as their digits are many
        right = RIGHT if answer.arithmetic == DOUBLE else NONE
        partials, point, constants = answer.gradient, answer.point, answer.constants
        yield stated("value", answer.value, digits)
        if answer.over is not None:
            yield from loss_summary_lines(answer.over)
        if constants or len(point) > len(partials):
            yield from circumstances(constants, point, partials, digits)
        if not point:
            yield NO_VARIABLES
        if table and partials:
            found = (answer.elasticities or {}) if relative else {}
            shown = ordered(answer) if sort else partials
            yield partials_table(point, shown, number, right=right, elasticities=found)
            if found:
                yield Line(sentence(EXPLAINED, "faint"))
                if None in found.values() and answer.value == 0:
                    yield Line(sentence("the value is 0, so there are none", "faint"))
        if table and intermediates and answer.intermediates:
            yield Table(
                ("bound name", "line", "value", "grad"),
                [
                    named_row(
                        (each.name, "name"),
                        str(each.line),
                        format_number(each.value, digits),
                        format_number(each.grad, digits),
                    )
                    for each in answer.intermediates
                ],
                right,
            )
        if tree and answer.output is not None:
            yield outline(answer.output, depth=depth, digits=digits, binary=binary)

    def rows(answer: Gradient[Any]) -> Iterator[OutputRow]:
        partials, point = ordered(answer), answer.point
        value, *texts = map(repr_number, [answer.value, *[point[name] for name in partials], *partials.values()])
        found = (answer.elasticities or {}) if relative else {}
        for name, at, partial in zip(partials, texts, texts[len(partials) :], strict=False):
            row = {"variable": name, "at": at, "partial": partial, "value": value}
            yield row | {"elasticity": repr_number(found[name])} if found else row
        if not answer.gradient:
            yield {"value": value}
        for each in answer.intermediates if intermediates else ():
            yield {
                "variable": each.name,
                "at": repr_number(each.value),
                "partial": repr_number(each.grad),
                "value": value,
            }

    def brief(answer: Gradient[Any]) -> str:
        shown = ordered(answer)
        value, *partials = map(repr_number, [answer.value, *shown.values()])
        parts = [value, *[f"{name}={partial}" for name, partial in zip(shown, partials, strict=True)]]
        if relative and answer.elasticities is not None:
            parts += [f"{name}:{repr_number(answer.elasticities[name]) or '-'}" for name in shown]
        if intermediates:
            parts += [f"{each.name}={repr_number(each.grad) or '-'}" for each in answer.intermediates]
        return " ".join(parts)

    columns = (*COLUMNS[:-1], "elasticity", COLUMNS[-1]) if relative else COLUMNS

    def page(answer: Gradient[Any]) -> str:
        from .tex import at_a_point

        return at_a_point(answer, digits)

    return View(record, rows, brief, document, columns, formula=page, prefers_table=True, page=page, numbers=numbers)


def _size(x: Any) -> float:
    """How large a number is; what is beyond the range of doubles is larger than all others, what is none smaller."""
    if x is None:
        return -1.0
    nearest = x.nearest if isinstance(x, Figure) else x
    return math.inf if nearest is None else abs(float(nearest))
