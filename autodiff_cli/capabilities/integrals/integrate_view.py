"""An integral in every form."""

from collections.abc import Iterator

from ...language.typesetting import Typesetting, equations, names_in
from ...questions.problem import parse, single_output
from ...show.document import (
    Block,
    formula_line,
    input_lines,
    numbers_table,
    text_line,
    value_line,
)
from ...show.numerals import format_number
from ...show.schema import OutputRow, View
from .integrate import Integral


class IntegralView(View[Integral], of=Integral):
    """How an integral is shown."""

    latex_is_formula = True

    def document(self, answer: Integral) -> Iterator[Block]:
        if answer.between is None:
            yield formula_line("antiderivative", f"{answer.antiderivative} + C", answer.domain)._replace(source=True)
        else:
            low, high = answer.between
            line = value_line(f"integral {answer.variable} = {low} to {high}", self._value(answer))
            yield line._replace(source=True)
        yield text_line(answer.message, "faint" if answer.converges else "")
        if answer.between is not None and answer.antiderivative is not None:
            yield formula_line("antiderivative", answer.antiderivative, answer.domain)._replace(source=True)
        if answer.derivatives is not None:
            rows = [*answer.derivatives.items()]
            yield numbers_table(("parameter", "derivative of the integral"), rows, self.digits)
        yield from input_lines(answer.constants, answer.point, answer.derivatives or (), self.digits)

    def _value(self, answer: Integral) -> str:
        if not answer.converges:
            return "none"
        number = format_number(answer.value, self.digits)
        return number if answer.formula in (None, number) else f"{answer.formula} = {number}"

    def rows(self, answer: Integral) -> Iterator[OutputRow]:
        row = {
            "variable": answer.variable,
            "kind": answer.kind,
            "antiderivative": answer.antiderivative,
            "formula": answer.formula,
            "value": answer.value,
            "digits": answer.digits,
        }
        if not answer.derivatives:
            yield row
        for name, slope in (answer.derivatives or {}).items():
            yield {**row, "parameter": name, "derivative": slope}

    def one_line(self, answer: Integral) -> str:
        if answer.between is None:
            return answer.antiderivative or ""
        if not answer.converges:
            return "divergent"
        slopes = [format_number(slope) for slope in (answer.derivatives or {}).values()]
        return " ".join([answer.digits or format_number(answer.value), *slopes])

    def latex_document(self, answer: Integral) -> str:
        program = parse(answer.text, [*answer.point])
        output = single_output(program)
        typeset = Typesetting([*names_in((output,)), answer.variable])
        integrand, by = typeset.expression(output), typeset.name(answer.variable)
        values = [(typeset.name(name), format_number(x, self.digits)) for name, x in answer.point.items()]
        if answer.between is None:
            right = typeset.expression(parse(answer.antiderivative or "", [answer.variable]).outputs[0])
            return equations([*values, (rf"\int {integrand} \,d{by}", f"{right} + C")])
        low, high = (_end(typeset, end) for end in answer.between)
        left = rf"\int_{{{low}}}^{{{high}}} {integrand} \,d{by}"
        if not answer.converges:
            return equations([*values, (left, r"\text{divergent}", r"\colon")])
        number = format_number(answer.value, self.digits)
        if answer.formula is None:
            return equations([*values, (left, number, r"\approx")])
        return equations([*values, (left, typeset.expression(parse(answer.formula).outputs[0]))])


def _end(typeset: Typesetting, text: str) -> str:
    if text in ("inf", "-inf"):
        return text.replace("inf", r"\infty")
    return typeset.expression(parse(text).outputs[0])
