"""A Jacobian, or a product with it, in every form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..derivatives.jacobian import Jacobian
from ..graphs.adjoint import column_names
from ..inputs.figures import Shown
from .document import NO_VARIABLES, Block, circumstances, numbers_table, partials_table
from .numerals import words
from .schema import OutputRow, View, declared


class JacobianView(View[Jacobian]):
    """How a Jacobian is shown."""

    fields, csv_columns, _, unit_columns = declared("jacobian")
    latex_writer = "tex.several_outputs"
    prefers_table = latex_is_formula = True

    def document(self, answer: Jacobian) -> Iterator[Block]:
        yield from circumstances(answer.constants, answer.point, answer.variables, self.digits)
        columns = answer.variables if answer.product is None else ["along the direction"]
        heads = ("output", "value", *columns) if answer.gradient is None else ("output", "value")
        rows = [(name, value, *entries) for name, value, entries in _by_output(answer)]
        yield numbers_table(heads, rows, self.digits)
        if answer.gradient is not None:
            yield partials_table(answer.point, answer.gradient, self.digits, "adjoint · Jacobian")
        if not answer.variables:
            yield NO_VARIABLES

    def rows(self, answer: Jacobian) -> Iterator[OutputRow]:
        variables = answer.variables if answer.product is None else [""]
        for name, value, entries in _by_output(answer):
            row = {"output": name, "value": value}
            for variable, partial in zip(variables, entries, strict=False):
                yield {**row, "variable": variable, "partial": partial}
            if not variables and answer.gradient is None:
                yield row
        for variable, partial in (answer.gradient or {}).items():
            yield {"variable": variable, "partial": partial}

    def cells(self, answer: Jacobian) -> Iterator[dict[str, Any]]:
        names: Iterable[str] = (*answer.outputs, *[f"d_{name}" for name in answer.outputs])
        if answer.jacobian is not None:
            names = column_names(len(answer.outputs), answer.variables)
        entries = chain(answer.values, *[row for _, _, row in _by_output(answer)])
        slopes = {f"d_{name}": x for name, x in (answer.gradient or {}).items()}
        yield {**dict(zip(names, entries, strict=False)), **slopes}

    def one_line(self, answer: Jacobian) -> str:
        product = answer.product if answer.gradient is None else answer.gradient
        rows = [product] if product is not None else answer.jacobian or ()
        return "; ".join([" ".join(words(row)) for row in rows])


def _by_output(answer: Jacobian) -> Iterator[tuple[str, Shown, list[Shown]]]:
    """Yield each output with its value and its derivatives."""
    rows = answer.jacobian or [[x] for x in answer.product or ()] or [[] for _ in answer.values]
    yield from zip(answer.outputs, answer.values, rows, strict=True)
