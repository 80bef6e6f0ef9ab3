"""A gradient in another arithmetic in every form: the fields of `grad`, and all digits as text under `digits`."""

from __future__ import annotations

from collections.abc import Iterator

from ..questions.precise import PreciseGradient
from .document import Block, Line, Table, circumstances, named_row, stated
from .formats import View, diagnostic_record
from .gradient import COLUMNS, brief, rows
from .numerals import number_fields, readable


def view(*, intermediates: bool = False, table: bool = True) -> View[PreciseGradient]:
    """How such a gradient is shown."""

    def record(answer: PreciseGradient) -> dict[str, object]:
        fields = number_fields(
            answer.arithmetic.name, {"value": answer.value, "gradient": answer.gradient, "point": answer.point}
        )
        fields |= {
            "constants": answer.constants,
            "warnings": [diagnostic_record(warning) for warning in answer.warnings],
        }
        if intermediates:
            fields["intermediates"] = [
                {"name": each.name, "line": each.line}
                | number_fields(answer.arithmetic.name, {"value": each.value, "grad": each.grad})
                for each in answer.intermediates
            ]
        return fields

    def document(answer: PreciseGradient) -> Iterator[Block]:
        yield stated("value", answer.value)
        yield from circumstances(answer.constants, answer.point, answer.gradient, None)
        if not answer.point:
            yield Line((("no variables: there is nothing to differentiate by", "faint"),))
        if table and answer.gradient:
            yield Table(
                ("variable", "value", "partial derivative"),
                [
                    named_row((name, "name"), readable(answer.point[name]), readable(partial))
                    for name, partial in answer.gradient.items()
                ],
            )
        if table and intermediates and answer.intermediates:
            yield Table(
                ("bound name", "line", "value", "grad"),
                [
                    named_row((each.name, "name"), str(each.line), readable(each.value), readable(each.grad))
                    for each in answer.intermediates
                ],
            )

    return View(
        record,
        lambda answer: rows(answer, intermediates),
        lambda answer: brief(answer, intermediates),
        document,
        COLUMNS,
    )
