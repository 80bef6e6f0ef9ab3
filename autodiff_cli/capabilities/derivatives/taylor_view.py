"""A Taylor polynomial in every form."""

from collections.abc import Callable, Iterator

from ...questions.figures import Figure, Shown
from ...show.document import Block, input_lines, numbers_table, value_line
from ...show.numerals import format_number, without_unit
from ...show.schema import OutputRow, View
from .taylor import Taylor, polynomial, shortest_text, with_fractions


class TaylorView(View[Taylor], of=Taylor):
    """How a Taylor polynomial is shown."""

    latex_is_formula = True

    def document(self, answer: Taylor) -> Iterator[Block]:
        answer = with_fractions(answer) if self.digits is None else answer
        yield value_line("polynomial", self._polynomial(answer, self._written))
        yield from input_lines(answer.constants, answer.point, (answer.variable,), self.digits)
        rows = [(str(k), x) for k, x in enumerate(answer.coefficients)]
        yield numbers_table(
            ("order", f"coefficient in {answer.variable}"), rows, self.digits, right=(0, 1)
        )

    def rows(self, answer: Taylor) -> Iterator[OutputRow]:
        for k, x in enumerate(answer.coefficients):
            yield {"variable": answer.variable, "order": k, "coefficient": x}

    def latex_document(self, answer: Taylor) -> str:
        from ...questions.problem import parse
        from ...show.tex import FunctionAtPoint, over_lines, recognise_number

        def written(x: Shown) -> str:
            fraction = (
                "" if isinstance(x, Figure) or answer.units is not None else recognise_number(x)
            )
            return fraction or self._written(x)

        others = {name: x for name, x in answer.point.items() if name != answer.variable}
        at_point = FunctionAtPoint(answer.text, others, self.digits, answer.variable)
        formula = self._polynomial(answer, written)
        series = at_point.typeset.expression(
            parse(formula, {answer.variable}, units=True).outputs[0]
        )
        left = at_point.head if others or not at_point.sides else ""
        return at_point.equations([(left, over_lines(series), r"\approx")])

    def _polynomial(self, answer: Taylor, written: Callable[[Shown], str]) -> str:
        center = answer.point[answer.variable]
        return polynomial(answer.variable, answer.coefficients, center, written, answer.units)

    def _written(self, x: Shown) -> str:
        return (
            shortest_text(x)
            if isinstance(x, Figure)
            else format_number(without_unit(x), self.digits)
        )
