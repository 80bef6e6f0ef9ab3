"""A Jacobian, or a product with it, in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..derivatives.jacobian import Jacobian
from .document import NO_VARIABLES, Block, circumstances, numbers_table, partials_table
from .numerals import repr_number
from .schema import POINT, REMARKS, Field, OutputRow, View, words


class JacobianView(View[Jacobian]):
    """How a Jacobian is shown."""

    fields = (
        Field("outputs", "what the outputs are called"),
        Field("variables", "the variables"),
        Field("values", "the values of the outputs", figures=True),
        Field("jacobian", "the partial derivatives, a row for each output", figures=True, optional=True),
        Field("direction", "with `--direction`: the direction, by name", figures=True, optional=True),
        Field("product", "with `--direction`: the derivative of each output along it", figures=True, optional=True),
        Field("adjoint", "with `--adjoint`: the weight of each output", figures=True, optional=True),
        Field("gradient", "with `--adjoint`: the gradient of the weighted sum, by name", figures=True, optional=True),
        POINT,
        *REMARKS,
    )
    csv_columns = ("line", "id", "output", "variable", "partial", "value", "error")
    prefers_table = latex_is_formula = True

    def document(self, answer: Jacobian) -> Iterator[Block]:
        yield from circumstances(answer.constants, answer.point, answer.variables, self.digits)
        columns, entries = answer.variables, answer.jacobian
        if entries is None:
            columns = [] if answer.product is None else ["along the direction"]
            entries = [[] for _ in answer.outputs] if answer.product is None else [[x] for x in answer.product]
        rows = [(name, x, *row) for name, x, row in zip(answer.outputs, answer.values, entries, strict=True)]
        yield numbers_table(("output", "value", *columns), rows, self.digits)
        if answer.gradient is not None:
            yield partials_table(answer.point, answer.gradient, self.digits, "adjoint · Jacobian")
        if not answer.variables:
            yield NO_VARIABLES

    def rows(self, answer: Jacobian) -> Iterator[OutputRow]:
        for k, (name, value) in enumerate(zip(answer.outputs, answer.values, strict=True)):
            row = {"output": name, "value": value}
            if answer.jacobian is not None:
                for variable, partial in zip(answer.variables, answer.jacobian[k], strict=True):
                    yield {**row, "variable": variable, "partial": partial}
                if not answer.variables:
                    yield row
            if answer.product is not None:
                yield {**row, "partial": answer.product[k]}
        for variable, partial in (answer.gradient or {}).items():
            yield {"variable": variable, "partial": partial}

    def cells(self, answer: Jacobian) -> Iterator[dict[str, Any]]:
        along = {f"d_{name}": x for name, x in zip(answer.outputs, answer.product or (), strict=False)}
        gradient = {f"d_{name}": x for name, x in (answer.gradient or {}).items()}
        yield {**dict(zip(answer.outputs, answer.values, strict=True)), **along, **gradient}

    def one_line(self, answer: Jacobian) -> str:
        if answer.gradient is not None or answer.product is not None:
            return " ".join(words(answer.gradient if answer.gradient is not None else answer.product))
        return "; ".join(" ".join(map(repr_number, entries)) for entries in answer.jacobian or ())

    def latex_document(self, answer: Jacobian) -> str:
        from .tex import several_outputs

        return several_outputs(answer, self.digits)
