"""A Gradient in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ..derivatives.gradient import Gradient
from ..inputs.arithmetic import DOUBLE
from ..inputs.figures import Figure
from .numerals import repr_number
from .schema import OutputRow, View, declared, heading

if TYPE_CHECKING:
    from ..quantities.unit import Unit
    from .document import Block

EXPLAINED = "elasticity: by how many percent the value changes when the variable changes by one percent"


class GradientView(View[Gradient[Any]]):
    """How a gradient is shown."""

    fields, csv_columns, line_fields = declared("grad")
    latex_writer = "tex.at_a_point"
    prefers_table = latex_is_formula = True

    intermediates: bool = False
    relative: bool = False
    sort: bool = False
    """Whether the variable with the largest derivative, or with `relative` the largest elasticity, is the first."""
    depth: int | None = None
    table: bool = True
    tree: bool = True
    binary: bool = False

    def select(self, answer: Gradient[Any]) -> Gradient[Any]:
        """Return the answer without what was not asked for, its derivatives in the order in which they are shown."""
        if answer.intermediates and not self.intermediates:
            answer = answer._replace(intermediates=())
        if self.sort:
            sizes: Mapping[str, Any] = answer.elasticities or answer.gradient
            names = sorted(answer.gradient, key=lambda name: -_size(sizes[name]))
            shares = answer.elasticities and {name: answer.elasticities[name] for name in names}
            answer = answer._replace(gradient={name: answer.gradient[name] for name in names}, elasticities=shares)
        return answer

    def named_numbers(self, answer: Gradient[Any]) -> tuple[Mapping[str, float], ...] | None:
        if self.intermediates or self.relative or answer.warnings or answer.over or answer.arithmetic is not DOUBLE:
            return None
        if answer.units is not None:
            return None
        answer = self.select(answer)
        return {"value": answer.value}, answer.gradient, answer.point, answer.constants

    def document(self, answer: Gradient[Any]) -> Iterator[Block]:
        # records need neither
        from .document import (
            NO_VARIABLES,
            Line,
            circumstances,
            loss_summary_lines,
            numbers_table,
            partials_table,
            sentence,
            stated,
        )
        from .outline import outline

        answer = by_size(self.select(answer))
        units = answer.units
        # columns of figures are as wide as their digits are many
        right = answer.arithmetic == DOUBLE and units is None
        partials, point, elasticities = answer.gradient, answer.point, answer.elasticities
        yield stated("value", answer.value, self.digits, unit=units["value"] if units else None)
        yield from loss_summary_lines(answer.over)
        yield from circumstances(answer.constants, point, partials, self.digits, units and units["point"])
        if not point:
            yield NO_VARIABLES
        if self.table and partials:
            yield partials_table(
                point, partials, self.digits, right=right, elasticities=elasticities or {}, units=units
            )
            if elasticities:
                yield Line(sentence(EXPLAINED, "faint"))
                if None in elasticities.values() and answer.value == 0:
                    yield Line(sentence("the value is 0, so there are none", "faint"))
        if self.table and answer.intermediates:
            rows = [
                (binding.name, str(binding.line), *self._with_units(binding, unit))
                for binding, unit in zip_longest(answer.intermediates, units["intermediates"] if units else ())
            ]
            yield numbers_table(("bound name", "line", "value", "grad"), rows, self.digits, right=right)
        if self.tree and answer.output is not None:
            shown = answer.graphed.units_of_values if answer.graphed else None
            yield outline(answer.output, depth=self.depth, digits=self.digits, binary=self.binary, units=shown)

    def _with_units(self, binding: Any, unit: Mapping[str, Unit] | None) -> tuple[Any, Any]:
        """The value and the derivative of an intermediate, with their units."""
        from .document import measured

        if unit is None:
            return binding.value, binding.grad
        return measured(binding.value, unit["value"], self.digits), measured(binding.grad, unit["grad"], self.digits)

    def rows(self, answer: Gradient[Any]) -> Iterator[OutputRow]:
        yield from super().rows(answer)
        bound = self.select(answer).intermediates
        texts = answer.units.texts() if answer.units is not None else {}
        for binding, unit in zip_longest(bound, texts.get("intermediates", ())[: len(bound)]):
            row = {"variable": binding.name, "at": binding.value, "partial": binding.grad, "value": answer.value}
            if unit is not None:
                row |= {"at_unit": unit["value"], "partial_unit": unit["grad"], "value_unit": texts["value"]}
            yield row

    def cells(self, answer: Gradient[Any]) -> Iterator[dict[str, Any]]:
        units = {} if answer.units is None else answer.units.texts()
        by_name = units.get("gradient", {})
        slopes = {heading(f"d_{name}", by_name.get(name)): x for name, x in answer.gradient.items()}
        shares = {f"elasticity_{name}": x for name, x in (answer.elasticities or {}).items()}
        of_bound = units.get("intermediates") or [{} for _ in answer.intermediates]
        both = [*zip(answer.intermediates, of_bound, strict=True)]
        bound = {heading(node.name, unit.get("value")): node.value for node, unit in both}
        by_bound = {heading(f"d_{node.name}", unit.get("grad")): node.grad for node, unit in both}
        yield {heading("value", units.get("value")): answer.value, **slopes, **shares, **bound, **by_bound}

    def one_line(self, answer: Gradient[Any]) -> str:
        answer = self.select(answer)
        shares = [f"{name}:{repr_number(x) or '-'}" for name, x in (answer.elasticities or {}).items()]
        bound = [f"{binding.name}={repr_number(binding.grad) or '-'}" for binding in answer.intermediates]
        return " ".join([super().one_line(answer), *shares, *bound])


def by_size(answer: Gradient[Any]) -> Gradient[Any]:
    """The answer with the prefix that makes its value easiest to read, where nobody asked for a unit."""
    units = answer.units
    if units is None or units.fixed or answer.arithmetic is not DOUBLE:
        return answer
    from ..quantities.unit import ratio, readable

    old, new = units["value"], readable(units["value"], answer.value)
    if new == old:
        return answer
    gradient = {name: ratio(new, unit.difference) for name, unit in units["point"].items() if name in answer.gradient}
    shown = type(units)({**units, "value": new, "gradient": gradient})
    return answer._replace(
        value=new.from_si(old.to_si(answer.value)),
        gradient={n: gradient[n].from_si(units["gradient"][n].to_si(x)) for n, x in answer.gradient.items()},
        units=shown,
    )


def _size(x: Any) -> float:
    """How large a number is; what is beyond the range of doubles is larger than all others, what is none smaller."""
    if x is None:
        return -1.0
    nearest = x.nearest if isinstance(x, Figure) else x
    return math.inf if nearest is None else abs(float(nearest))
