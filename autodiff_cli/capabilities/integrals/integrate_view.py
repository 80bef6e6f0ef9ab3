"""An integral in every form."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...engine.table.operators import ADD, SUB
from ...errors import ExpressionError
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
from ...show.numerals import attach_units, format_number, with_literal_unit, without_unit, word
from ...show.schema import OutputRow, View
from ...show.tex import measured_latex, unit_latex
from .integral_steps import IntegralStep
from .integrate import Integral


class IntegralView(View[Integral], of=Integral):
    """How an integral is shown."""

    latex_is_formula = True

    def attach_units(self, answer: Integral, units: Mapping[str, Any]) -> Integral:
        own = {
            name: unit for name, unit in units.items() if name in ("value", "derivatives", "point")
        }
        measured: Integral = attach_units(answer, own)
        return measured

    def document(self, answer: Integral) -> Iterator[Block]:
        if answer.steps is not None:
            steps = [
                (_rule(step), f"{step.integrand} d{step.variable}", step.result)
                for step in answer.steps
            ]
            yield numbers_table(
                ("rule", "integral of", "antiderivative"), steps, right=False, style=""
            )
        if answer.between is None:
            yield formula_line(
                "antiderivative", f"{answer.antiderivative} + C", answer.domain
            )._replace(source=True)
        else:
            low, high = answer.between
            line = value_line(f"integral {answer.variable} = {low} to {high}", self._value(answer))
            yield line._replace(source=True)
        yield text_line(answer.message, "faint" if answer.converges else "")
        if answer.between is not None and answer.antiderivative is not None:
            yield formula_line("antiderivative", answer.antiderivative, answer.domain)._replace(
                source=True
            )
        if answer.units is not None and answer.antiderivative is not None:
            yield text_line(_units_of_formula(answer, answer.units.texts()), "faint")
        if answer.derivatives is not None:
            rows = [*answer.derivatives.items()]
            yield numbers_table(("parameter", "derivative of the integral"), rows, self.digits)
        yield from input_lines(
            answer.constants, answer.point, answer.derivatives or (), self.digits
        )

    def _value(self, answer: Integral) -> str:
        if not answer.converges:
            return "none"
        number = (
            format_number(answer.value, self.digits)
            if answer.value is not None
            else str(answer.digits)
        )
        alone = format_number(without_unit(answer.value), self.digits)
        return number if answer.formula in (None, alone) else f"{answer.formula} = {number}"

    def rows(self, answer: Integral) -> Iterator[OutputRow]:
        row = {
            "variable": answer.variable,
            "kind": answer.kind,
            "antiderivative": answer.antiderivative,
            "formula": answer.formula,
            "value": answer.value,
            "digits": answer.digits,
        }
        if not answer.converges:
            row["error"] = self.error_of(answer)
        if not answer.derivatives:
            yield row
        for name, slope in (answer.derivatives or {}).items():
            yield {**row, "parameter": name, "derivative": slope}

    def cells(self, answer: Integral) -> Iterator[Mapping[str, Any]]:
        if not answer.converges:
            yield {"error": self.error_of(answer)}
        elif answer.between is None:
            yield {"antiderivative": answer.antiderivative}
        else:
            yield from super().cells(answer)

    def error_of(self, answer: Integral) -> str:
        """Return why there is no integral, as a cell says it."""
        return f"divergent: {answer.message.replace('`', '')}"

    def one_line(self, answer: Integral) -> str:
        if answer.between is None:
            return answer.antiderivative or ""
        if not answer.converges:
            return "divergent"
        slopes = [word(slope) for slope in (answer.derivatives or {}).values()]
        value = (
            with_literal_unit(answer.digits, answer.value) if answer.digits else word(answer.value)
        )
        return " ".join([value, *slopes])

    def latex_document(self, answer: Integral) -> str:
        program = parse(answer.text, [*answer.point], units=True)
        output = single_output(program)
        typeset = Typesetting([*names_in((output,)), answer.variable])
        integrand, by = typeset.expression(output), typeset.name(answer.variable)
        values = [
            (typeset.name(name), measured_latex(x, self.digits)) for name, x in answer.point.items()
        ]
        if answer.between is None:
            right = typeset.expression(
                parse(answer.antiderivative or "", [answer.variable]).outputs[0]
            )
            note = "" if answer.units is None else _units_in_latex(by, answer.units)
            return equations([*values, (rf"\int {integrand} \,d{by}", f"{right} + C{note}")])
        low, high = (_end(typeset, end) for end in answer.between)
        left = rf"\int_{{{low}}}^{{{high}}} {integrand} \,d{by}"
        if not answer.converges:
            return equations([*values, (left, r"\text{divergent}", r"\colon")])
        rows = [*values, (left, measured_latex(answer.value, self.digits), r"\approx")]
        if answer.formula is not None:
            exact = typeset.expression(parse(answer.formula).outputs[0])
            unit = unit_latex(answer.value)
            exact = rf"\left({exact}\right)" if unit and _is_sum(answer.formula) else exact
            rows[-1] = (left, f"{exact}{unit}")
        for name, slope in (answer.derivatives or {}).items():
            quotient = rf"\frac{{d}}{{d{typeset.name(name)}}} {left}"
            rows.append((quotient, measured_latex(slope, self.digits), r"\approx"))
        return equations(rows)


def _rule(step: IntegralStep) -> str:
    """Return a rule, indented below those that lead to it, with its parts."""
    return "  " * step.depth + step.rule + (f": {step.detail}" if step.detail else "")


def _units_of_formula(answer: Integral, units: Mapping[str, Any]) -> str:
    """Return in which units the numbers of an antiderivative are."""
    own = units.get("value", units.get("antiderivative"))
    variable = "a number" if units["variable"] == "1" else f"in {units['variable']}"
    return f"of the antiderivative: `{answer.variable}` is {variable}, its value {_in(own)}"


def _in(unit: str | None) -> str:
    return "is a number" if unit in (None, "1") else f"is in {unit}"


def _units_in_latex(name: str, units: Mapping[str, Any]) -> str:
    """Return in which units the numbers of an antiderivative are, behind it."""
    named = ((name, units["variable"]), (r"\text{value}", units["antiderivative"]))
    parts = [rf"{what}\text{{ in }}{unit.latex}" for what, unit in named if unit.atoms]
    return rf"\qquad ({', '.join(parts)})" if parts else ""


def _is_sum(formula: str) -> bool:
    return parse(formula).outputs[0].primitive in (ADD, SUB)


def _end(typeset: Typesetting, text: str) -> str:
    if text in ("inf", "-inf"):
        return text.replace("inf", r"\infty")
    with suppress(ExpressionError):
        return typeset.expression(parse(text, units=True).outputs[0])
    from ...engine.quantities.presentation import with_unit  # only units need it
    from ...questions.quantities import quantity_value

    quantity: Any = quantity_value("x", text)
    return measured_latex(with_unit(quantity.number, quantity.unit), None)
