"""A limit in every form."""

from collections.abc import Iterator

from ...language.tokens import plain_number
from ...show.document import Block, Paragraph, input_lines, text_line, value_line
from ...show.numerals import format_number, unit_of, with_literal_unit, without_unit
from ...show.schema import OutputRow, View
from .limit import Limit, OneSided

REASONS = {
    "oscillates": "none: it oscillates without end",
    "undefined": "none: the formula has no value there",
}


class LimitView(View[Limit], of=Limit):
    """How a limit is shown."""

    def document(self, answer: Limit) -> Iterator[Block]:
        name = f"limit {answer.variable} -> {answer.approaches}"
        if answer.exists:
            yield value_line(name, self._with_number(answer.formula, answer.limit))
        else:
            yield Paragraph((*value_line(name, "none").pieces, (f"   {_reason(answer)}", "faint")))
        kinds = {side.kind for side in answer.sides}
        if len(answer.sides) > 1 and (
            answer.kind == "none" or (answer.exists and "undefined" in kinds)
        ):
            for side in answer.sides:
                text = REASONS.get(side.kind) or self._with_number(side.formula, side.value)
                yield value_line(f"from the {side.side}", text)
        if answer.condition is not None:
            yield text_line(f"where {answer.condition}", "faint")
        yield from input_lines(answer.constants, answer.point, (answer.variable,), self.digits)

    def _with_number(self, formula: str | None, value: object) -> str:
        if formula is None or value is None:
            return formula or "none"
        number = format_number(value, self.digits)  # type: ignore[arg-type]
        if (
            formula == format_number(without_unit(value), self.digits)
            or getattr(value, "text", None) == formula
        ):
            return number
        return f"{formula} = {number}"

    def rows(self, answer: Limit) -> Iterator[OutputRow]:
        whole = {"side": "", "kind": answer.kind, "formula": answer.formula, "value": answer.limit}
        yield {"variable": answer.variable, **whole}
        for side in answer.sides if len(answer.sides) > 1 else ():
            yield {"variable": answer.variable, **_row(side)}

    def cells(self, answer: Limit) -> Iterator[OutputRow]:
        if answer.exists:
            yield {"limit": answer.limit, "formula": answer.formula}
        else:
            yield {"error": f"none: {_reason(answer)}"}

    def one_line(self, answer: Limit) -> str:
        if answer.exists and answer.formula and unit_of(answer.limit) is not None:
            is_plain = plain_number(answer.formula.removeprefix("-"))
            return with_literal_unit(
                answer.formula if is_plain else f"({answer.formula})*1", answer.limit
            )
        if answer.exists:
            return answer.formula or ""
        if len(answer.sides) > 1 and answer.kind == "none":
            return f"none ({', '.join(f'{side.side} {_short(side)}' for side in answer.sides)})"
        return f"none ({answer.sides[0].kind})"


def _row(side: OneSided) -> OutputRow:
    return {"side": side.side, "kind": side.kind, "formula": side.formula, "value": side.value}


def _short(side: OneSided) -> str:
    return side.formula or side.kind


def _reason(answer: Limit) -> str:
    if answer.kind == "undefined":
        return "the formula has no value near that place"
    kinds = {side.kind for side in answer.sides}
    return "it oscillates without end" if kinds == {"oscillates"} else "the sides differ"
