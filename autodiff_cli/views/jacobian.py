"""A Jacobian, or a product with it, in every form."""

from __future__ import annotations

from collections.abc import Iterator

from ..derivatives.jacobian import Jacobian
from .document import NO_VARIABLES, Block, Table, circumstances, named_row, partials_table
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number

COLUMNS = ("line", "id", "output", "variable", "partial", "value", "error")


def view(*, digits: int | None = None) -> View[Jacobian]:
    """How a Jacobian is shown; `digits` is for people only."""

    def document(answer: Jacobian) -> Iterator[Block]:
        yield from circumstances(answer.constants, answer.point, answer.variables, digits)
        along, whole = answer.product, answer.jacobian
        columns = answer.variables if whole is not None else ["along the direction"] if along is not None else []
        rows = []
        for k, (name, value) in enumerate(zip(answer.outputs, answer.values, strict=True)):
            entries = whole[k] if whole is not None else [along[k]] if along is not None else []
            rows.append(
                named_row((name, "name"), format_number(value, digits), *(format_number(x, digits) for x in entries))
            )
        yield Table(("output", "value", *columns), rows, frozenset(range(1, len(columns) + 2)))
        if answer.gradient is not None:
            yield partials_table(answer.point, answer.gradient, digits, "adjoint · Jacobian")
        if not answer.variables:
            yield NO_VARIABLES

    def page(answer: Jacobian) -> str:
        from .tex import several_outputs

        return several_outputs(answer, digits)

    return View(_record, _rows, _brief, document, COLUMNS, latex_formula=page, prefers_table=True, latex_document=page)


def _record(answer: Jacobian) -> dict[str, object]:
    numbers: dict[str, object] = {"values": answer.values}
    if answer.jacobian is not None:
        numbers["jacobian"] = answer.jacobian
    if answer.product is not None:
        numbers |= {"direction": answer.direction, "product": answer.product}
    if answer.gradient is not None:
        numbers |= {"adjoint": answer.adjoint, "gradient": answer.gradient}
    return {
        "outputs": answer.outputs,
        "variables": answer.variables,
        **number_fields(answer.arithmetic.name, {**numbers, "point": answer.point}),
        **remarks(answer),
    }


def _rows(answer: Jacobian) -> Iterator[OutputRow]:
    for k, (name, value) in enumerate(zip(answer.outputs, answer.values, strict=True)):
        if answer.jacobian is not None:
            for variable, partial in zip(answer.variables, answer.jacobian[k], strict=True):
                yield {
                    "output": name,
                    "variable": variable,
                    "partial": repr_number(partial),
                    "value": repr_number(value),
                }
            if not answer.variables:
                yield {"output": name, "value": repr_number(value)}
        if answer.product is not None:
            yield {
                "output": name,
                "variable": "",
                "partial": repr_number(answer.product[k]),
                "value": repr_number(value),
            }
    for variable, partial in (answer.gradient or {}).items():
        yield {"output": "", "variable": variable, "partial": repr_number(partial)}


def _brief(answer: Jacobian) -> str:
    if answer.gradient is not None:
        return " ".join(f"{name}={repr_number(partial)}" for name, partial in answer.gradient.items())
    if answer.product is not None:
        return " ".join(repr_number(x) for x in answer.product)
    return "; ".join(" ".join(repr_number(x) for x in entries) for entries in answer.jacobian or ())
