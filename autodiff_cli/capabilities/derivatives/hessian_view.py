"""A Hessian in every form: value, gradient, matrix and eigenvalues."""

from collections.abc import Iterator
from typing import Any, ClassVar

from ...questions.figures import Shown
from ...show.document import (
    NO_VARIABLES,
    Block,
    Paragraph,
    Table,
    input_lines,
    matrix_table,
    partials_table,
    value_line,
)
from ...show.numerals import word
from ...show.schema import OutputRow, Values, View
from .hessian import Hessian

# A larger matrix is listed entry by entry.
MAX_COLUMNS = 12
# How many directions of zero curvature are named.
MAX_DIRECTIONS = 3

MEANING = {
    "minimum": "a local minimum: the gradient is 0 and all eigenvalues are positive",
    "maximum": "a local maximum: the gradient is 0 and all eigenvalues are negative",
    "saddle": "a saddle point: the gradient is 0 and the eigenvalues have both signs",
    "flat": "undecided: the gradient is 0, and so is an eigenvalue, within rounding",
    "not stationary": "not a stationary point: the gradient is not 0",
}
CURVATURE = {
    "convex": "; the function is convex there",
    "concave": "; the function is concave there",
}


class HessianView(View[Hessian], of=Hessian):
    """How a Hessian is shown."""

    computed: ClassVar[Values] = {"variables": lambda answer: [*answer.gradient]}
    prefers_table = latex_is_formula = True

    def cells(self, answer: Hessian) -> Iterator[dict[str, Any]]:
        (cells,) = super().cells(answer)
        yield {**cells, **{f"d_{a}_{b}": x for a, b, x in _lower_triangle(answer)}}

    def document(self, answer: Hessian) -> Iterator[Block]:
        yield value_line("value", answer.value, self.digits)
        yield from input_lines(
            answer.constants, answer.point, answer.gradient, self.digits, answer.over
        )
        names = list(answer.gradient)
        if not names:
            yield NO_VARIABLES
            return
        yield partials_table(answer.point, answer.gradient, self.digits)
        if len(names) <= MAX_COLUMNS:
            yield matrix_table("Hessian", names, answer.hessian, self.digits)
        else:
            entries = [
                (((row, "name"),), ((col, "name"),), ((self.number(x), "number"),))
                for row, col, x in _lower_triangle(answer)
                if float(x)
            ]
            yield Table(("row", "column", "second derivative"), entries, frozenset((2,)))
        meaning = MEANING.get(answer.verdict, "")
        if answer.eigenvalues is not None:
            yield value_line("eigenvalues", ", ".join(map(self.number, answer.eigenvalues)))
            if answer.verdict == "not stationary":
                meaning += CURVATURE.get(answer.curvature, "")
            elif answer.verdict == "flat" and answer.flat:
                more = ", …" if len(answer.flat) > MAX_DIRECTIONS else ""
                meaning += f", along {' and '.join(answer.flat[:MAX_DIRECTIONS])}{more}"
        if meaning and (answer.units is not None or answer.eigenvalues is not None):
            yield Paragraph(((meaning, ""),))

    def rows(self, answer: Hessian) -> Iterator[OutputRow]:
        yield {"quantity": "value", "number": answer.value}
        for name, partial in answer.gradient.items():
            yield {"quantity": "gradient", "row": name, "number": partial}
        for name, entries in zip(answer.gradient, answer.hessian, strict=True):
            for other, entry in zip(answer.gradient, entries, strict=True):
                yield {"quantity": "hessian", "row": name, "column": other, "number": entry}
        for x in answer.eigenvalues or ():
            yield {"quantity": "eigenvalue", "number": x}

    def one_line(self, answer: Hessian) -> str:
        entries = [f"{row},{col}={word(x)}" for row, col, x in _lower_triangle(answer)]
        return " ".join([super().one_line(answer), *entries])

    def latex_document(self, answer: Hessian) -> str:
        from ...show.tex import FunctionAtPoint

        at_point = FunctionAtPoint(answer.text, answer.point, self.digits)
        sides = [(at_point.head, at_point.number(answer.value))]
        if answer.gradient:
            sides.append((rf"\nabla {at_point.head}", at_point.column(answer.gradient.values())))
            sides.append((rf"\nabla^{{2}} {at_point.head}", at_point.matrix(answer.hessian)))
        if answer.eigenvalues is not None:
            sides.append(
                (r"\text{eigenvalues}", r",\ ".join(map(at_point.number, answer.eigenvalues)))
            )
        return at_point.equations(sides)


def _lower_triangle(answer: Hessian) -> Iterator[tuple[str, str, Shown]]:
    names = list(answer.gradient)
    for i, entries in enumerate(answer.hessian):
        for j, x in enumerate(entries[: i + 1]):
            yield names[i], names[j], x
