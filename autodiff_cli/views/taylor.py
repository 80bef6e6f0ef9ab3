"""A Taylor polynomial in every form."""

from __future__ import annotations

from collections.abc import Iterator

from ..derivatives.taylor import Taylor, polynomial, shortest
from ..inputs.figures import Figure, Shown
from .document import Block, Table, circumstances, named_row, stated
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number

COLUMNS = ("line", "id", "variable", "order", "coefficient", "error")


def view(*, digits: int | None = None) -> View[Taylor]:
    """How a Taylor polynomial is shown; `digits` is for people only."""

    def shown(x: Shown) -> str:
        return shortest(x) if isinstance(x, Figure) else format_number(x, digits)

    def document(answer: Taylor) -> Iterator[Block]:
        center = answer.point[answer.variable]
        yield stated("polynomial", polynomial(answer.variable, answer.coefficients, center, shown))
        yield from circumstances(answer.constants, answer.point, (answer.variable,), digits)
        yield Table(
            ("order", f"coefficient in {answer.variable}"),
            [named_row((str(k), "name"), format_number(x, digits)) for k, x in enumerate(answer.coefficients)],
            frozenset((0, 1)),
        )

    def brief(answer: Taylor) -> str:
        return " ".join(repr_number(x) for x in answer.coefficients)

    def formula(answer: Taylor) -> str:
        from .tex import expansion

        return expansion(answer, digits)

    return View(_record, _rows, brief, document, COLUMNS, latex_formula=formula, latex_document=formula)


def _record(answer: Taylor) -> dict[str, object]:
    numbers = number_fields(answer.arithmetic.name, {"coefficients": answer.coefficients, "point": answer.point})
    return {
        "variable": answer.variable,
        "order": answer.order,
        "polynomial": answer.polynomial,
        **numbers,
        **remarks(answer),
    }


def _rows(answer: Taylor) -> Iterator[OutputRow]:
    for k, x in enumerate(answer.coefficients):
        yield {"variable": answer.variable, "order": str(k), "coefficient": repr_number(x)}
