"""A Hessian in every form: value, gradient, matrix and eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..derivatives.hessian import Hessian
from ..inputs.figures import Shown
from .document import (
    NO_VARIABLES,
    Block,
    Line,
    Table,
    circumstances,
    loss_summary_lines,
    matrix_table,
    measured,
    partials_table,
    stated,
)
from .schema import (
    OutputRow,
    View,
    declared,
    heading,
    unit_text,
    words,
)

if TYPE_CHECKING:
    from ..quantities.unit import Unit

WIDEST = 12
"""A larger matrix is listed entry by entry."""
SHOWN = 3
"""How many directions are named in which the second derivative is 0."""

MEANING = {
    "minimum": "a local minimum: the gradient is 0 and all eigenvalues are positive",
    "maximum": "a local maximum: the gradient is 0 and all eigenvalues are negative",
    "saddle": "a saddle point: the gradient is 0 and the eigenvalues have both signs",
    "flat": "undecided: the gradient is 0, and so is an eigenvalue, within rounding",
    "not stationary": "not a stationary point: the gradient is not 0",
}
CURVATURE = {"convex": "; the function is convex there", "concave": "; the function is concave there"}


class HessianView(View[Hessian]):
    """How a Hessian is shown."""

    fields, csv_columns, line_fields = declared("hessian", {"variables": lambda answer: [*answer.gradient]})
    latex_writer = "tex.second_derivatives"
    prefers_table = latex_is_formula = True

    def cells(self, answer: Hessian) -> Iterator[dict[str, Any]]:
        units: Mapping[str, Any] = answer.units or {}
        by = units.get("gradient", {})
        yield {
            heading("value", unit_text(units.get("value"))): answer.value,
            **{heading(f"d_{name}", unit_text(by.get(name))): x for name, x in answer.gradient.items()},
            **{heading(f"d_{one}_{two}", unit_text(unit)): x for one, two, x, unit in _lower_triangle(answer)},
        }

    def document(self, answer: Hessian) -> Iterator[Block]:
        units = answer.units
        yield stated("value", answer.value, self.digits, unit=units["value"] if units else None)
        yield from loss_summary_lines(answer.over)
        yield from circumstances(answer.constants, answer.point, answer.gradient, self.digits, units and units["point"])
        names = list(answer.gradient)
        if not names:
            yield NO_VARIABLES
            return
        yield partials_table(answer.point, answer.gradient, self.digits, units=units)
        if len(names) <= WIDEST:
            yield matrix_table("Hessian", names, answer.hessian, self.digits, units["hessian"] if units else None)
        else:
            yield Table(
                ("row", "column", "second derivative"),
                [
                    (row, col, measured(x, unit, self.digits))
                    for row, col, x, unit in _lower_triangle(answer)
                    if float(x)
                ],
                frozenset((2,)),
                styles=("name", "name", "number"),
            )
        meaning = MEANING.get(answer.verdict, "")
        if answer.eigenvalues is not None:
            unit = units["eigenvalues"][0] if units else None
            listed = ", ".join(measured(x, unit, self.digits) for x in answer.eigenvalues)
            yield stated("eigenvalues", listed)
            if answer.verdict == "not stationary":
                meaning += CURVATURE.get(answer.curvature, "")
            elif answer.verdict == "flat" and answer.flat:
                meaning += f", along {' and '.join(answer.flat[:SHOWN])}{', …' if len(answer.flat) > SHOWN else ''}"
        if meaning and (units is not None or answer.eigenvalues is not None):
            yield Line(((meaning, ""),))

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("number",))

    def rows(self, answer: Hessian) -> Iterator[OutputRow]:
        units: Mapping[str, Any] = answer.units or {}
        by = units.get("gradient", {})
        yield {"quantity": "value", "number": answer.value, "number_unit": unit_text(units.get("value"))}
        for name, partial in answer.gradient.items():
            yield {"quantity": "gradient", "row": name, "number": partial, "number_unit": unit_text(by.get(name))}
        names = [*answer.gradient]
        for k, (name, entries) in enumerate(zip(names, answer.hessian, strict=True)):
            for j, (other, entry) in enumerate(zip(names, entries, strict=True)):
                unit = unit_text(units["hessian"][k][j] if units else None)
                yield {"quantity": "hessian", "row": name, "column": other, "number": entry, "number_unit": unit}
        for x in answer.eigenvalues or ():
            unit = unit_text(units["eigenvalues"][0] if units else None)
            yield {"quantity": "eigenvalue", "number": x, "number_unit": unit}

    def one_line(self, answer: Hessian) -> str:
        entries = [f"{row},{col}={next(words(x, unit))}" for row, col, x, unit in _lower_triangle(answer)]
        return " ".join([super().one_line(answer), *entries])


def _lower_triangle(answer: Hessian) -> Iterator[tuple[str, str, Shown, Unit | None]]:
    """Yield the entries on and below the diagonal, each after its two variables, with its unit."""
    names, units = list(answer.gradient), answer.units
    for i, entries in enumerate(answer.hessian):
        for j, x in enumerate(entries[: i + 1]):
            yield names[i], names[j], x, units["hessian"][i][j] if units else None
