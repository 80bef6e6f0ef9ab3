"""Derivatives as formulas in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..formulas.derivation import derivative_name, latex
from ..formulas.diff import LANGUAGES, Diff
from .document import NO_VARIABLES, Block, Line, circumstances, conditional, numbers_table, stated
from .numerals import attach_units
from .schema import OutputRow, View, declared, record_of
from .steps import blocks, derivation_record, lines, rows

DERIVATIVE = declared("derivative").fields


class DiffView(View[Diff]):
    """How derivatives are shown as formulas, with their steps if asked for."""

    fields, csv_columns, _, unit_columns = declared(
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

    def attach_units(self, answer: Diff, units: Mapping[str, Any]) -> Diff:
        values = [{"value": unit} for unit in units["values"]]
        return attach_units(answer, {**units, "derivatives": values})  # type: ignore[no-any-return]

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
                yield conditional(derivative_name(derivative.by, derivative.of), derivative.shown, derivative.condition)
        if not answer.derivatives:
            yield NO_VARIABLES
        if answer.point and answer.derivatives:
            if answer.language != "text":
                yield from circumstances({}, answer.point, (), self.digits)
            place = ", ".join(f"{name} = {self.number(x)}" for name, x in answer.point.items())
            rows = [(derivative_name(row.by, row.of), row.value) for row in answer.derivatives]
            right = answer.arithmetic.name == "double"
            yield numbers_table(("derivative", f"value at {place}"), rows, self.digits, right=right)

    def rows(self, answer: Diff) -> Iterator[OutputRow]:
        for derivation in answer.derivations:
            yield from rows(derivation)
        for name, formula in answer.shared:
            yield {"by": name, "derivative": formula}
        for derivative in answer.derivatives:
            row = {"by": derivative.by, "derivative": derivative.formula, "value": derivative.value}
            condition = {"short": derivative.short, "condition": derivative.condition}
            yield {**row, "of": derivative.of or None, **condition}

    def cells(self, answer: Diff) -> Iterator[dict[str, Any]]:
        yield {f"d_{'_'.join((*([row.of] if row.of else []), *row.by))}": row.value for row in answer.derivatives}

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
