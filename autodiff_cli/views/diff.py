"""Derivatives as formulas in every form."""

from __future__ import annotations

from collections.abc import Iterator

from ..questions.diff import LANGUAGES, Diff
from .document import NO_VARIABLES, Block, Line, Table, circumstances, named_row, stated
from .formats import Row, View, diagnostic_record
from .numerals import exact, number_fields, readable

ENDINGS = tuple(ending for endings in LANGUAGES.values() for ending in endings)
COLUMNS = ("line", "id", "by", "derivative", "value", "error")


def view(*, digits: int | None = None) -> View[Diff]:
    """How derivatives are shown; `digits` is for people only."""

    def document(answer: Diff) -> Iterator[Block]:
        if answer.language != "text":
            for text in answer.program.split("\n"):
                yield Line(((text, "code"),), source=True)
        else:
            yield from circumstances(answer.constants, {}, (), digits)
            for name, formula in answer.shared:
                yield stated(name, formula + ";", style="name")
            for each in answer.derivatives:
                yield stated(operator(each.by), each.formula)
        if not answer.derivatives:
            yield NO_VARIABLES
        if answer.point and answer.derivatives:
            yield from circumstances({}, answer.point, (), digits) if answer.language != "text" else ()
            yield Table(
                ("derivative", f"value at {_place(answer, digits)}"),
                [named_row((operator(each.by), "name"), readable(each.value, digits)) for each in answer.derivatives],
                frozenset((1,)) if answer.arithmetic.name == "double" else frozenset(),
            )

    def formula(answer: Diff) -> str | None:
        if answer.language == "text":
            from .tex import derivatives

            return derivatives(answer, digits)
        return answer.program if answer.language == "latex" else None

    return View(_record, _rows, lambda answer: answer.program, document, COLUMNS, formula=formula, endings=ENDINGS)


def operator(by: tuple[str, ...]) -> str:
    """The derivative as people write it on one line: d2/dx dy."""
    powers = {name: by.count(name) for name in by}
    below = " ".join(f"d{name}" + (f"^{k}" if k > 1 else "") for name, k in powers.items())
    return f"d{len(by) if len(by) > 1 else ''}/{below}"


def _place(answer: Diff, digits: int | None) -> str:
    return ", ".join(f"{name} = {readable(x, digits)}" for name, x in answer.point.items())


def _record(answer: Diff) -> dict[str, object]:
    return {
        "order": answer.order,
        "language": answer.language,
        "program": answer.program,
        "shared": [{"name": name, "formula": formula} for name, formula in answer.shared],
        "derivatives": [
            {"by": list(each.by), "formula": each.formula}
            | (number_fields(answer.arithmetic.name, {"value": each.value}) if answer.point else {"value": None})
            for each in answer.derivatives
        ],
        **number_fields(answer.arithmetic.name, {"point": answer.point}),
        "constants": answer.constants,
        "warnings": [diagnostic_record(warning) for warning in answer.warnings],
    }


def _rows(answer: Diff) -> Iterator[Row]:
    for name, formula in answer.shared:
        yield {"by": name, "derivative": formula}
    for each in answer.derivatives:
        yield {"by": " ".join(each.by), "derivative": each.formula, "value": exact(each.value)}
