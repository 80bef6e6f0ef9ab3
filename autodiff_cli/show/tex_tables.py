"""Tables for a report, in LaTeX with booktabs and siunitx."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain

from ..errors import ExpressionError
from ..language.equation_trees import split_equations
from ..language.typesetting import (
    equations,
    equations_of,
    name_latex,
    text_latex,
    typesetting,
)
from ..questions.figures import Shown
from ..questions.measured_value import concise
from ..questions.parse_point import is_name
from ..questions.problem import parse
from .numerals import (
    format_number,
    percent,
    unit_of,
    without_unit,
)
from .siunitx import quantity_latex
from .tex import unit_latex

# A number as siunitx takes it.
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(\(\d+\))?(e[+-]?\d+)?")


def number(x: Shown | str | None, digits: int | None = None) -> str:
    r"""Return a number as siunitx takes it, with its unit if any.

    >>> number("1.017(65)e-3"), number(math.inf), number(None)
    ('\\num{1.017(65)e-3}', '$\\infty$', '--')
    """
    if x is None:
        return "--"
    if isinstance(x, float) and math.isinf(x):
        return r"$\infty$" if x > 0 else r"$-\infty$"
    text = x if isinstance(x, str) else format_number(without_unit(x), digits)
    return quantity_latex(text, unit_of(x)) or text_latex(text) + unit_latex(x)


def uncertain(value: Shown, error: Shown) -> str:
    """Return a value with its standard uncertainty and unit."""
    text = concise(float(value), float(error))
    return quantity_latex(text, unit_of(value)) or text_latex(text) + unit_latex(value)


def latex_of(name: str) -> str:
    """Return a name or formula as mathematics, other text unchanged."""
    if is_name(name):
        return f"${name_latex(name)}$"
    try:
        program = parse(name, units=True)
    except ExpressionError:
        return text_latex(name)
    return f"${typesetting(program).expression(program.outputs[0])}$"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    columns: str = "l",
    last: Sequence[str] = (),
) -> str:
    """Return a booktabs table."""
    head, *lines = [" & ".join(row) + r" \\" for row in (heads, *rows)]
    lines += [r"\midrule", " & ".join(last) + r" \\"] if last else []
    begin = rf"\begin{{tabular}}{{l{columns * (len(heads) - 1)}}}"
    return "\n".join(
        [begin, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]
    )


def formula(text: str, names: Iterable[str], left: str = "") -> str:
    """Return a program as equations; `left` names its value."""
    sides = formula_sides(text, names, left)
    return equations(sides) if sides else ""


def formula_sides(text: str, names: Iterable[str], left: str = "") -> list[tuple[str, str]]:
    """Return the sides of a program's equations; none if it cannot be typeset."""
    try:
        program = parse(text, [*names], units=True)
    except ExpressionError:
        return []
    sides = equations_of(program, typesetting(program, names))
    if sides and left:
        sides[-1] = (left, sides[-1][1])
    return sides


# The most characters of LaTeX of the formula in a notebook: some ten lines.
MAX_FORMULA_LATEX = 2_000


def short_formula_sides(text: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the sides of a program's equations; none if they are long."""
    sides = formula_sides(text, names)
    return sides if sum(len(right) for _, right in sides) <= MAX_FORMULA_LATEX else []


def equation_sides(text: str) -> list[tuple[str, str]]:
    """Return the two sides of each statement of equations; none if one has no sign, or two
    expressions on a side.
    """
    try:
        statements = [equation.sides for equation in split_equations(text)]
        if not all(len(sides) == 2 and all(sides) for sides in statements):
            return []
        programs = [
            parse(text[side.start : side.end], units=True) for side in chain(*statements) if side
        ]
    except ExpressionError:
        return []
    if any(len(program.outputs) > 1 for program in programs):
        return []
    formulas = [typesetting(program).expression(program.outputs[0]) for program in programs]
    left, right = formulas[::2], formulas[1::2]
    return list(zip(left, right, strict=True)) if sum(map(len, right)) <= MAX_FORMULA_LATEX else []


def paragraphs(*parts: str) -> str:
    """Return parts of an answer, apart from each other."""
    apart = "\n\n\\medskip\\noindent\n"
    first, *others = [part for part in parts if part]
    return apart.join(
        [first if first.startswith(r"\begin{align") else "\\noindent\n" + first, *others]
    )


def percentage(level: float) -> str:
    """Return a level in per cent, with a thin space."""
    return percent(level).replace(" %", r"\,\%")
