"""The view of a Gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ...questions.arithmetic import DOUBLE
from ...questions.figures import Figure
from ...show.numerals import attach_units, format_number, heading, repr_number
from ...show.schema import OutputRow, View
from .gradient import Gradient, Intermediate

if TYPE_CHECKING:
    from ...show.document import Block

EXPLAINED = (
    "elasticity: by how many percent the value changes when the variable changes by one percent"
)


class GradientView(View[Gradient[Any]], of=Gradient):
    """How a gradient is shown."""

    prefers_table = latex_is_formula = True

    intermediates: bool = False
    relative: bool = False
    value_only: bool = False
    """Whether the value is asked for without derivatives."""
    sort: bool = False
    """Whether the largest derivative, or `relative` elasticity, is first."""
    depth: int | None = None
    table: bool = True
    tree: bool = True
    binary: bool = False
    name: str | None = None
    """What a session calls the value; empty for the value alone."""

    def select(self, answer: Gradient[Any]) -> Gradient[Any]:
        if answer.intermediates and not self.intermediates:
            answer = answer._replace(intermediates=())
        if self.sort:
            sizes: Mapping[str, Any] = answer.elasticities or answer.gradient
            names = sorted(answer.gradient, key=lambda name: -_size(sizes[name]))
            shares = answer.elasticities and {name: answer.elasticities[name] for name in names}
            gradient = {name: answer.gradient[name] for name in names}
            answer = answer._replace(gradient=gradient, elasticities=shares)
        return answer

    def named_numbers(self, answer: Gradient[Any]) -> tuple[Mapping[str, float], ...] | None:
        if (
            self.intermediates
            or self.relative
            or answer.warnings
            or answer.over
            or answer.arithmetic is not DOUBLE
        ):
            return None
        if answer.units is not None:
            return None
        answer = self.select(answer)
        return {"value": answer.value}, answer.gradient, answer.point, answer.constants

    def document(self, answer: Gradient[Any]) -> Iterator[Block]:
        from ...show import document as parts
        from ..graph.graph_view import outline

        # a session shows its value in the unit that it has there
        before, answer = answer, by_size(answer)
        # columns of figures are as wide as their digits are many
        right = answer.arithmetic == DOUBLE and answer.units is None
        partials, point, elasticities = answer.gradient, answer.point, answer.elasticities
        if self.name is None:
            yield parts.value_line("value", answer.value, self.digits)
        elif not self.name:
            yield parts.Paragraph(((format_number(before.value, self.digits), "number"),))
        else:
            yield parts.value_line(self.name, before.value, self.digits)
        yield from parts.input_lines(
            answer.constants, point, partials, self.digits, answer.over, whole=self.value_only
        )
        if not point and self.name is None and not self.value_only:
            yield parts.NO_VARIABLES
        if self.table and partials:
            yield parts.partials_table(
                point, partials, self.digits, right=right, elasticities=elasticities or {}
            )
            if elasticities:
                yield parts.text_line(EXPLAINED, "faint")
                if None in elasticities.values() and answer.value == 0:
                    yield parts.text_line("the value is 0, so there are none", "faint")
        if self.table and answer.intermediates:
            rows = [
                (bound.name, str(bound.line), bound.value, bound.grad)
                for bound in answer.intermediates
            ]
            yield parts.numbers_table(
                ("bound name", "line", "value", "grad"), rows, self.digits, right=right
            )
        if self.tree and answer.graph is not None and not self.value_only:
            yield outline(answer.graph, depth=self.depth, digits=self.digits, binary=self.binary)

    def drawing(self, answer: Gradient[Any]) -> str | None:
        from ..graph.graph_view import graph_in_notebook

        if not self.tree or self.value_only or self.depth is not None or answer.graph is None:
            return None
        return graph_in_notebook(answer, self.digits, binary=self.binary)

    def rows(self, answer: Gradient[Any]) -> Iterator[OutputRow]:
        yield from super().rows(answer)
        for bound, units in _bound(answer):
            row = {
                "variable": bound.name,
                "at": bound.value,
                "partial": bound.grad,
                "value": answer.value,
            }
            yield {**row, "at_unit": units.get("value"), "partial_unit": units.get("grad")}

    def cells(self, answer: Gradient[Any]) -> Iterator[dict[str, Any]]:
        (cells,) = super().cells(answer)
        bound = {
            heading(node.name, units.get("value")): node.value for node, units in _bound(answer)
        }
        by_bound = {
            heading(f"d_{node.name}", units.get("grad")): node.grad
            for node, units in _bound(answer)
        }
        yield {**cells, **bound, **by_bound}

    def one_line(self, answer: Gradient[Any]) -> str:
        shares = [
            f"{name}:{repr_number(x) or '-'}" for name, x in (answer.elasticities or {}).items()
        ]
        bound = [
            f"{binding.name}={repr_number(binding.grad) or '-'}" for binding in answer.intermediates
        ]
        return " ".join([super().one_line(answer), *shares, *bound])

    def latex_document(self, answer: Gradient[Any]) -> str:
        from ...show.tex import FunctionAtPoint

        at_point = FunctionAtPoint(answer.text, answer.point, self.digits)
        slopes = []
        for name, x in answer.gradient.items():
            slope = at_point.typeset.derivative((name,), at_point.several)
            slopes.append((slope + at_point.arguments, at_point.number(x)))
        return at_point.equations([(at_point.head, at_point.number(answer.value)), *slopes])


def _bound(answer: Gradient[Any]) -> list[tuple[Intermediate[Any], Mapping[str, str]]]:
    units = (
        answer.units.texts()["intermediates"]
        if answer.units is not None and answer.intermediates
        else repeat({})
    )
    return [*zip(answer.intermediates, units)]  # noqa: B905


def by_size(answer: Gradient[Any]) -> Gradient[Any]:
    """Return the answer in a readable prefix of its unit."""
    units = answer.units
    if units is None or units.fixed or answer.arithmetic is not DOUBLE:
        return answer
    from ...engine.quantities.unit import ratio, readable_unit

    value = readable_unit(units["value"], answer.value)
    if value == units["value"]:
        return answer
    gradient = {name: ratio(value, units["point"][name].difference) for name in answer.gradient}
    scaled: Gradient[Any] = attach_units(answer, {"value": value, "gradient": gradient}, units)
    return scaled


def _size(x: Any) -> float:
    if x is None:
        return -1.0
    nearest = x.nearest if isinstance(x, Figure) else x
    return math.inf if nearest is None else abs(float(nearest))
