"""A Jacobian, or a product with it, in every form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from ..derivatives.jacobian import Jacobian
from ..graphs.adjoint import column_names
from .document import NO_VARIABLES, Block, circumstances, measured_row, numbers_table, partials_table
from .schema import OutputRow, View, declared, heading, unit_text, words


class JacobianView(View[Jacobian]):
    """How a Jacobian is shown."""

    fields, csv_columns, _ = declared("jacobian")
    latex_writer = "tex.several_outputs"
    prefers_table = latex_is_formula = True

    def document(self, answer: Jacobian) -> Iterator[Block]:
        units = answer.units
        yield from circumstances(
            answer.constants, answer.point, answer.variables, self.digits, units and units["point"]
        )
        columns = answer.variables if answer.product is None else ["along the direction"]
        rows = [
            (name, *measured_row(numbers, of_numbers if units else None, self.digits))
            for name, numbers, of_numbers in zip(answer.outputs, *_by_output(answer), strict=True)
        ]
        heads = ("output", "value", *columns) if answer.gradient is None else ("output", "value")
        yield numbers_table(heads, rows, self.digits, right=units is None)
        if answer.gradient is not None:
            yield partials_table(answer.point, answer.gradient, self.digits, "adjoint · Jacobian", units=units)
        if not answer.variables:
            yield NO_VARIABLES

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("partial", "value"))

    def rows(self, answer: Jacobian) -> Iterator[OutputRow]:
        variables = answer.variables if answer.product is None else [""]
        for name, (value, *entries), (unit, *by) in zip(answer.outputs, *_by_output(answer), strict=True):
            row = {"output": name, "value": value, "value_unit": unit_text(unit)}
            for variable, partial, of_partial in zip(variables, entries, by, strict=False):
                yield {**row, "variable": variable, "partial": partial, "partial_unit": unit_text(of_partial)}
            if not variables and answer.gradient is None:
                yield row
        units: Mapping[str, Any] = answer.units or {}
        of_gradient = units.get("gradient", {})
        for variable, partial in (answer.gradient or {}).items():
            unit = unit_text(of_gradient.get(variable))
            yield {"variable": variable, "partial": partial, "partial_unit": unit}

    def cells(self, answer: Jacobian) -> Iterator[dict[str, Any]]:
        numbers, by_output = _by_output(answer)
        units: Mapping[str, Any] = answer.units or {}
        names: Iterable[str] = (*answer.outputs, *[f"d_{name}" for name in answer.outputs])
        if answer.jacobian is not None:
            names = column_names(len(answer.outputs), answer.variables)
        entries = [[row[0] for row in numbers], *[row[1:] for row in numbers]]
        by_entry = [[row[0] for row in by_output], *[row[1:] for row in by_output]]
        of_gradient = units.get("gradient", {})
        yield {
            **{heading(n, str(unit or "")): x for n, x, unit in zip(names, chain(*entries), chain(*by_entry))},  # noqa: B905
            **{heading(f"d_{n}", str(of_gradient.get(n, ""))): x for n, x in (answer.gradient or {}).items()},
        }

    def one_line(self, answer: Jacobian) -> str:
        units: Mapping[str, Any] = answer.units or {}
        key = "gradient" if answer.gradient is not None else "product" if answer.product is not None else ""
        if key:
            return " ".join(words(getattr(answer, key), units.get(key)))
        by_row = units.get("jacobian") or repeat(None)
        return "; ".join(" ".join(words(row, unit)) for row, unit in zip(answer.jacobian or (), by_row))  # noqa: B905


def _by_output(answer: Jacobian) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return each output's value and derivatives, and their units, which are None where they have none."""
    units: Mapping[str, Any] = answer.units or {}

    def listed(values: Sequence[Any], jacobian: Any, product: Any) -> list[list[Any]]:
        entries = jacobian or [[x] for x in product or ()] or [[] for _ in values]
        return [[value, *row] for value, row in zip(values, entries, strict=True)]

    numbers = listed(answer.values, answer.jacobian, answer.product)
    if not units:
        return numbers, [[None] * len(row) for row in numbers]
    return numbers, listed(units["values"], units.get("jacobian"), units.get("product"))
