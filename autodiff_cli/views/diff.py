"""Derivatives as formulas in every form."""

from __future__ import annotations

from collections.abc import Iterator

from ..formulas.derivation import latex
from ..formulas.diff import LANGUAGES, Derivative, Diff
from .document import NO_VARIABLES, Block, Line, Pieces, Table, circumstances, named_row, stated
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number
from .steps import blocks, derivative_name, lines, record, rows

ENDINGS = tuple(ending for name, endings in LANGUAGES.items() for ending in endings if name != "latex")
COLUMNS = ("line", "id", "by", "derivative", "value", "error", "short", "condition")


STEPS = ("line", "id", "by", "rule", "part", "derivative", "condition", "value", "error", "short")
"""Of the steps by which derivatives are found: a row each, and then the derivatives."""


def view(*, digits: int | None = None, unicode: bool = True, steps: bool = False) -> View[Diff]:
    """How derivatives are shown, with or without steps; `digits`, and letters beyond ASCII, are for people only."""

    def brief(answer: Diff) -> str:
        if not answer.derivations or answer.language != "text":
            return answer.program
        return "\n".join([line for each in answer.derivations for line in lines(each, unicode)] + [answer.program])

    def document(answer: Diff) -> Iterator[Block]:
        if answer.language != "text":
            for text in answer.program.split("\n"):
                yield Line(((text, "code"),), source=True)
        else:
            yield from circumstances(answer.constants, {}, (), digits)
            yield from blocks(answer.derivations, unicode)
            for name, formula in answer.shared:
                yield stated(name, formula + ";", style="name")
            for each in answer.derivatives:
                line = stated(derivative_name(each.by), each.shown)
                yield line._replace(pieces=(*line.pieces, *_condition(each))) if each.condition else line
        if not answer.derivatives:
            yield NO_VARIABLES
        if answer.point and answer.derivatives:
            yield from circumstances({}, answer.point, (), digits) if answer.language != "text" else ()
            yield Table(
                ("derivative", f"value at {_place(answer, digits)}"),
                [
                    named_row((derivative_name(each.by), "name"), format_number(each.value, digits))
                    for each in answer.derivatives
                ],
                frozenset((1,)) if answer.arithmetic.name == "double" else frozenset(),
            )

    def formula(answer: Diff) -> str | None:
        return page(answer) if answer.language != "python" else None

    def page(answer: Diff) -> str:
        from .tex import derivatives

        return latex(answer.derivations) or derivatives(answer, digits)

    columns = STEPS if steps else COLUMNS
    return View(_record, _rows, brief, document, columns, latex_formula=formula, latex_document=page, endings=ENDINGS)


def _condition(each: Derivative) -> Pieces:
    """Where a short form holds, beside it."""
    return (("   where ", "faint"), (each.condition or "", "number"))


def _place(answer: Diff, digits: int | None) -> str:
    return ", ".join(f"{name} = {format_number(x, digits)}" for name, x in answer.point.items())


def _record(answer: Diff) -> dict[str, object]:
    return {
        "order": answer.order,
        "language": answer.language,
        "program": answer.program,
        "shared": [{"name": name, "formula": formula} for name, formula in answer.shared],
        "derivatives": [
            {"by": list(each.by), "formula": each.formula, "short": each.short, "condition": each.condition}
            | (number_fields(answer.arithmetic.name, {"value": each.value}) if answer.point else {"value": None})
            for each in answer.derivatives
        ],
        **({"steps": [record(each) for each in answer.derivations]} if answer.derivations else {}),
        **number_fields(answer.arithmetic.name, {"point": answer.point}),
        **({"assumptions": list(answer.assumptions)} if answer.assumptions else {}),
        **remarks(answer),
    }


def _rows(answer: Diff) -> Iterator[OutputRow]:
    for worked in answer.derivations:
        yield from rows(worked)
    for name, formula in answer.shared:
        yield {"by": name, "derivative": formula}
    for each in answer.derivatives:
        yield {
            "by": " ".join(each.by), "derivative": each.formula, "value": repr_number(each.value),
            "short": each.short or "", "condition": each.condition or "",
        }  # fmt: skip
