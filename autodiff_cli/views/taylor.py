"""A Taylor polynomial in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..derivatives.taylor import Taylor, polynomial, shortest
from ..inputs.figures import Figure
from .document import Block, circumstances, numbers_table, stated
from .schema import POINT, REMARKS, Field, OutputRow, View


class TaylorView(View[Taylor]):
    """How a Taylor polynomial is shown."""

    fields = (
        Field("variable", "the variable that it is in"),
        Field("order", "its order"),
        Field("polynomial", "the polynomial as a formula"),
        Field("coefficients", "its coefficients, by order: the derivative of order k divided by k!", figures=True),
        POINT,
        *REMARKS,
    )
    csv_columns = ("line", "id", "variable", "order", "coefficient", "error")
    line_fields = ("coefficients",)
    latex_is_formula = True

    def document(self, answer: Taylor) -> Iterator[Block]:
        center = answer.point[answer.variable]
        formula = polynomial(
            answer.variable,
            answer.coefficients,
            center,
            lambda x: shortest(x) if isinstance(x, Figure) else self.number(x),
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

    def latex_document(self, answer: Taylor) -> str:
        from .tex import expansion

        return expansion(answer, self.digits)
