"""A Taylor polynomial in every form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from ..derivatives.taylor import Taylor, polynomial, shortest
from ..inputs.figures import Figure
from .document import Block, circumstances, measured_row, numbers_table, stated
from .schema import OutputRow, View, declared, heading, unit_text

if TYPE_CHECKING:
    from ..quantities.unit import Unit


class TaylorView(View[Taylor]):
    """How a Taylor polynomial is shown."""

    fields, csv_columns, line_fields = declared("taylor")
    latex_writer = "tex.expansion"
    latex_is_formula = True

    def document(self, answer: Taylor) -> Iterator[Block]:
        center = answer.point[answer.variable]
        formula = polynomial(
            answer.variable,
            answer.coefficients,
            center,
            lambda x: shortest(x) if isinstance(x, Figure) else self.number(x),
            answer.units,
        )
        units = answer.units
        yield stated("polynomial", formula)
        yield from circumstances(
            answer.constants, answer.point, (answer.variable,), self.digits, units and units["point"]
        )
        numbers = measured_row(answer.coefficients, units["coefficients"] if units else None, self.digits)
        rows = [(str(k), x) for k, x in enumerate(numbers)]
        right = (0, 1) if units is None else (0,)
        yield numbers_table(("order", f"coefficient in {answer.variable}"), rows, self.digits, right=right)

    def _with_units(self, answer: Taylor) -> Iterator[tuple[int, Any, Unit | None]]:
        """Yield each order with its coefficient and the unit of that."""
        units = answer.units["coefficients"] if answer.units else [None] * len(answer.coefficients)
        yield from zip(count(), answer.coefficients, units)

    def rows(self, answer: Taylor) -> Iterator[OutputRow]:
        for k, x, unit in self._with_units(answer):
            text = unit_text(unit)
            yield {"variable": answer.variable, "order": k, "coefficient": x, "coefficient_unit": text}

    def cells(self, answer: Taylor) -> Iterator[dict[str, Any]]:
        yield {heading(f"c{k}", unit_text(unit)): x for k, x, unit in self._with_units(answer)}
