"""A Jacobian, or a product with it, in every form."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ...engine.graphs.adjoint import column_names
from ...questions.figures import Shown
from ...show.document import NO_VARIABLES, Block, input_lines, numbers_table, partials_table
from ...show.numerals import attach_units, without_unit, words
from ...show.schema import OutputRow, View
from .jacobian import Jacobian


class JacobianView(View[Jacobian], of=Jacobian):
    """How a Jacobian is shown."""

    prefers_table = latex_is_formula = True

    def document(self, answer: Jacobian) -> Iterator[Block]:
        yield from input_lines(answer.constants, answer.point, answer.variables, self.digits)
        columns = [] if answer.jacobian is None else answer.variables
        heads = (
            "output",
            "value",
            *(columns if answer.product is None else ["along the direction"]),
        )
        rows = [(name, value, *entries) for name, value, entries in _by_output(answer)]
        yield numbers_table(heads, rows, self.digits)
        if answer.gradient is not None:
            yield partials_table(answer.point, answer.gradient, self.digits, "adjoint · Jacobian")
        if not answer.variables:
            yield NO_VARIABLES

    def rows(self, answer: Jacobian) -> Iterator[OutputRow]:
        variables = answer.variables if answer.product is None else [""]
        for name, value, entries in _by_output(answer):
            row = {"output": name, "value": value}
            for variable, partial in zip(variables, entries, strict=False):
                yield {**row, "variable": variable, "partial": partial}
            if not variables and answer.gradient is None:
                yield row
        for variable, partial in (answer.gradient or {}).items():
            yield {"variable": variable, "partial": partial}

    def cells(self, answer: Jacobian) -> Iterator[dict[str, Any]]:
        names: Iterable[str] = (*answer.outputs, *[f"d_{name}" for name in answer.outputs])
        if answer.jacobian is not None:
            names = column_names(len(answer.outputs), answer.variables)
        entries = chain(answer.values, *[row for _, _, row in _by_output(answer)])
        slopes = {f"d_{name}": x for name, x in (answer.gradient or {}).items()}
        yield {**dict(zip(names, entries, strict=False)), **slopes}

    def one_line(self, answer: Jacobian) -> str:
        rows = (
            [x for x in (answer.product, answer.gradient) if x is not None] or answer.jacobian or ()
        )
        return "; ".join([" ".join(words(row)) for row in rows])

    def latex_document(self, answer: Jacobian) -> str:
        from ...show.tex import FunctionAtPoint

        at_point = FunctionAtPoint(answer.text, answer.point, self.digits)
        sides = [(at_point.head, at_point.column(answer.values))]
        names = ", ".join(map(at_point.name, answer.variables))
        derivative = (
            rf"\frac{{\partial {at_point.typeset.function}}}{{\partial"
            rf" ({names})}}{at_point.arguments}"
        )
        if answer.jacobian is not None and answer.variables:
            sides.append((derivative, at_point.matrix(answer.jacobian)))
        if answer.product is not None and answer.direction is not None:
            units = answer.units["direction"] if answer.units else {}
            along = [
                answer.direction.get(name, attach_units(0.0, units.get(name)))
                for name in answer.variables
            ]
            sides.append(
                (f"{derivative} {at_point.column(along)}", at_point.column(answer.product))
            )
        if answer.gradient is not None and answer.adjoint is not None:
            weights = at_point.matrix([map(without_unit, answer.adjoint)])
            sides.append((f"{weights} {derivative}", at_point.matrix([answer.gradient.values()])))
        return at_point.equations(sides)


def _by_output(answer: Jacobian) -> Iterator[tuple[str, Shown, list[Shown]]]:
    rows = answer.jacobian or [[x] for x in answer.product or ()] or [[] for _ in answer.values]
    yield from zip(answer.outputs, answer.values, rows, strict=True)
