"""A tangent and a normal in every form."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...questions.figures import Shown
from ...show.document import Block, Paragraph, input_lines, text_line, value_line
from ...show.numerals import attach_units, format_number
from ...show.schema import OutputRow, View
from ..derivatives.taylor import polynomial
from .curve import equation_of
from .tangent_line import TangentLine


def _has_functions(equation: str) -> bool:
    """Return whether an equation has calls, whose values nobody knows by heart."""
    return "(" in equation


class TangentView(View[TangentLine], of=TangentLine):
    """How a tangent is shown."""

    latex_is_formula = True

    def attach_units(self, answer: TangentLine, units: Mapping[str, Any]) -> TangentLine:
        own = {name: unit for name, unit in units.items() if name in ("value", "slope", "point")}
        measured: TangentLine = attach_units(answer, own)
        return measured

    def document(self, answer: TangentLine) -> Iterator[Block]:
        vertical = "   vertical" if answer.kind == "vertical" else ""
        yield Paragraph(
            (("tangent", "heading"), (": ", ""), (answer.tangent, "number"), (vertical, "faint")),
            source=True,
        )
        if answer.normal is not None:
            yield Paragraph(
                (("normal", "heading"), (": ", ""), (answer.normal, "number")), source=True
            )
        if answer.is_exact and answer.slope is not None and _has_functions(answer.tangent):
            line = polynomial(
                answer.variable,
                [answer.value, answer.slope],
                answer.point[answer.variable],
                self._written,
            )
            yield text_line(f"in numbers: {answer.tangent.partition(' = ')[0]} = {line}", "faint")
        yield value_line("value", self.number(answer.value))
        if answer.slope is not None:
            yield value_line("slope", self.number(answer.slope))
        yield from input_lines(answer.constants, answer.point, (answer.variable,), self.digits)

    def _written(self, x: Shown) -> str:
        return format_number(x, self.digits)

    def rows(self, answer: TangentLine) -> Iterator[OutputRow]:
        yield {
            "variable": answer.variable,
            "at": answer.point[answer.variable],
            "value": answer.value,
            "slope": answer.slope,
            "tangent": answer.tangent,
            "normal": answer.normal,
        }

    def one_line(self, answer: TangentLine) -> str:
        return "; ".join(filter(None, (answer.tangent, answer.normal)))

    def latex_document(self, answer: TangentLine) -> str:
        from ...questions.problem import parse
        from ...show.tex import FunctionAtPoint

        lines = [line for line in (answer.tangent, answer.normal) if line]
        if equation_of(answer.text, answer.point) is not None:
            from ...language.typesetting import equations
            from ...show.tex_tables import equation_sides

            return equations(
                [sides for text in (answer.text, *lines) for sides in equation_sides(text)]
            )
        others = {name: x for name, x in answer.point.items() if name != answer.variable}
        at_point = FunctionAtPoint(answer.text, others, self.digits, answer.variable)
        sides = []
        for line in lines:
            left, _, right = line.partition(" = ")
            formula = parse(right, {answer.variable}, units=True).outputs[0]
            sides.append((at_point.name(left), at_point.typeset.expression(formula)))
        return at_point.equations(sides)
