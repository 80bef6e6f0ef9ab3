"""Solutions of equations as tables for a report, in LaTeX."""

from __future__ import annotations

from ...language.typesetting import equations, expression_latex, name_latex, text_latex
from ...questions.problem import parse
from ...show.tex_tables import (
    latex_of,
    number,
    paragraphs,
    table,
)
from .solve import Solved


def solution_tables(answer: Solved, digits: int | None) -> str:
    """Return the solutions of equations with their derivatives."""
    parts = []
    for solution in answer.solutions:
        derivatives = solution.derivatives or {}
        variables = list(next(iter(derivatives.values()), {}))
        rows = [
            (
                latex_of(name),
                number(value, digits),
                number(solution.errors[name], 2),
                *(number(derivatives[name][by], digits) for by in variables),
            )
            for name, value in solution.values.items()
        ]
        slopes = [rf"$\partial/\partial {name_latex(name)}$" for name in variables]
        parts.append(table(("unknown", "value", "off by at most", *slopes), rows))
    sides = []
    for solved in answer.formulas:
        (right,) = parse(solved.formula, units=True).outputs
        where = ""
        if solved.condition:
            from ..formulas.diff import where_latex

            (choice,) = parse(f"where({solved.condition}, 1, 0)", units=True).outputs
            where = where_latex(expression_latex(choice._prev[0]))
        sides.append((name_latex(solved.unknown), expression_latex(right) + where))
    parts += [equations(sides)] if sides else []
    if answer.point:
        rest = [rf"${name_latex(name)} =$ {number(x, digits)}" for name, x in answer.point.items()]
        parts.append(f"At {', '.join(rest)}.")
    if not (answer.solutions or answer.formulas) or answer.message != "solved":
        parts.append(text_latex(f"{answer.message}."))
    return paragraphs(*parts)
