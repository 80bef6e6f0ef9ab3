"""Derivatives as formulas in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..formulas.derivation import derivative_name, latex
from ..formulas.diff import LANGUAGES, Diff
from .document import NO_VARIABLES, Block, Line, Pieces, circumstances, measured, measured_row, numbers_table, stated
from .schema import OutputRow, View, declared, heading, record_of, unit_text
from .steps import blocks, derivation_record, lines, rows

if TYPE_CHECKING:
    from ..quantities.unit import Unit

DERIVATIVE = declared("derivative").fields


class DiffView(View[Diff]):
    """How derivatives are shown as formulas, with their steps if asked for."""

    fields, csv_columns, _ = declared(
        "diff",
        {
            "derivatives": lambda answer: [
                record_of(DERIVATIVE, derivative, answer.arithmetic.name if answer.point else "double")
                for derivative in answer.derivatives
            ],
            "steps": lambda answer: [*map(derivation_record, answer.derivations)] or None,
        },
    )
    endings = tuple(ending for name, endings in LANGUAGES.items() for ending in endings if name != "latex")

    unicode: bool = True
    """Whether letters beyond ASCII are shown to people."""
    steps: bool = False
    unknowns: bool = False
    """Whether what is differentiated are unknowns of equations."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of csv and tsv; with steps, which have a row each before the derivatives, also theirs."""
        if self.unknowns:
            return ("line", "id", "of", "by", "rule", "part", "derivative", "condition", "value", "error")
        with_steps = ("line", "id", "by", "rule", "part", "derivative", "condition", "value", "error", "short")
        return with_steps if self.steps else self.csv_columns

    def document(self, answer: Diff) -> Iterator[Block]:
        if answer.language != "text":
            for text in answer.program.split("\n"):
                yield Line(((text, "code"),), source=True)
        else:
            yield from circumstances(answer.constants, {}, (), self.digits)
            yield from blocks(answer.derivations, self.unicode)
            for name, formula in answer.shared:
                yield stated(name, formula + ";", style="name")
            for derivative in answer.derivatives:
                line = stated(derivative_name(derivative.by, derivative.of), derivative.shown)
                where: Pieces = (
                    (("   where ", "faint"), (derivative.condition, "number")) if derivative.condition else ()
                )
                yield Line((*line.pieces, *where))
        if not answer.derivatives:
            yield NO_VARIABLES
        if answer.point and answer.derivatives:
            units = answer.units
            at = units["point"] if units else None
            yield from circumstances({}, answer.point, (), self.digits, at) if answer.language != "text" else ()
            place = ", ".join(
                f"{name} = {measured(x, at[name] if at else None, self.digits)}" for name, x in answer.point.items()
            )
            values = measured_row(
                [row.value for row in answer.derivatives], units["values"] if units else None, self.digits
            )
            names = [derivative_name(row.by, row.of) for row in answer.derivatives]
            rows = [*zip(names, values, strict=True)]
            right = answer.arithmetic.name == "double" and units is None
            yield numbers_table(("derivative", f"value at {place}"), rows, self.digits, right=right)

    def rows(self, answer: Diff) -> Iterator[OutputRow]:
        for derivation in answer.derivations:
            yield from rows(derivation)
        for name, formula in answer.shared:
            yield {"by": name, "derivative": formula}
        for derivative, unit in zip(answer.derivatives, self._units(answer), strict=True):
            row = {
                "by": derivative.by,
                "derivative": derivative.formula,
                "value": derivative.value,
                "value_unit": unit_text(unit),
                "of": derivative.of or None,
            }
            yield {**row, "short": derivative.short, "condition": derivative.condition}

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("value",))

    def _units(self, answer: Diff) -> list[Unit | None]:
        """Return the units of the values of the derivatives."""
        return answer.units["values"] if answer.units else [None] * len(answer.derivatives)

    def cells(self, answer: Diff) -> Iterator[dict[str, Any]]:
        names = [f"d_{'_'.join((*([row.of] if row.of else []), *row.by))}" for row in answer.derivatives]
        heads = [heading(name, unit_text(unit)) for name, unit in zip(names, self._units(answer), strict=True)]
        yield {head: row.value for head, row in zip(heads, answer.derivatives, strict=True)}

    def one_line(self, answer: Diff) -> str:
        derivations = answer.derivations if answer.language == "text" else ()
        return "\n".join(
            [*(line for derivative in derivations for line in lines(derivative, self.unicode)), answer.program]
        )

    def latex_document(self, answer: Diff) -> str:
        from .tex import derivatives

        return latex(answer.derivations) or derivatives(answer, self.digits)

    def latex_formula(self, answer: Diff) -> str | None:
        return self.latex_document(answer) if answer.language in ("text", "latex") else None
