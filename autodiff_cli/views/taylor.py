"""A Taylor polynomial in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..derivatives.taylor import Taylor, polynomial, shortest
from ..inputs.figures import Figure
from .document import Block, circumstances, numbers_table, stated
from .numerals import format_number, without_unit
from .schema import OutputRow, View, declared


class TaylorView(View[Taylor]):
    """How a Taylor polynomial is shown."""

    fields, csv_columns, line_fields, unit_columns = declared("taylor")
    latex_writer = "tex.expansion"
    latex_is_formula = True

    def document(self, answer: Taylor) -> Iterator[Block]:
        formula = polynomial(
            answer.variable,
            answer.coefficients,
            answer.point[answer.variable],
            lambda x: shortest(x) if isinstance(x, Figure) else format_number(without_unit(x), self.digits),
            answer.units,
        )
        yield stated("polynomial", formula)
        yield from circumstances(answer.constants, answer.point, (answer.variable,), self.digits)
        rows = [(str(k), x) for k, x in enumerate(answer.coefficients)]
        yield numbers_table(("order", f"coefficient in {answer.variable}"), rows, self.digits, right=(0, 1))

    def rows(self, answer: Taylor) -> Iterator[OutputRow]:
        for k, x in enumerate(answer.coefficients):
            yield {"variable": answer.variable, "order": k, "coefficient": x}

    def cells(self, answer: Taylor) -> Iterator[dict[str, Any]]:
        yield {f"c{k}": x for k, x in enumerate(answer.coefficients)}
