"""Derivatives as formulas, in LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...language.typesetting import Typesetting, equations, equations_of, typesetting
from ...questions.problem import parse
from ...show.numerals import without_unit
from ...show.tex import coordinate, measured_latex
from .diff import Diff, where_latex


def _names_of_derivatives(answer: Diff) -> Iterator[str]:
    """Yield what is differentiated, and by what."""
    for derivative in answer.derivatives:
        yield from filter(None, (derivative.of, *derivative.by))


def _names_in_formulas(answer: Diff, names: Collection[str]) -> Iterator[str]:
    """Yield the variables of the derivatives, and of the conditions on which they hold."""
    texts = [one.shown for one in answer.derivatives]
    texts += [f"where({one.condition}, 1, 0)" for one in answer.derivatives if one.condition]
    for text in texts:
        yield from parse(text, names).variables


def derivatives(answer: Diff, digits: int | None = None) -> str:
    """Return a function, its derivatives and their values."""
    latex = answer.language == "latex" and not answer.equations
    names = dict.fromkeys((*_names_of_derivatives(answer), *dict(answer.shared), *answer.point))
    sides: list[tuple[str, ...]] = []
    if answer.equations:
        names |= dict.fromkeys(_names_in_formulas(answer, names))
        typeset = Typesetting(names)
        several = len(names) > len({derivative.of for derivative in answer.derivatives}) + 1
    else:
        program = parse(answer.text, answer.point, units=True)
        typeset = typesetting(program, names)
        names |= dict.fromkeys(program.variables)
        several = len(program.variables) > 1
        sides += equations_of(program, typeset)

    def written(formula: str, condition: bool = False) -> str:
        if latex:
            return formula
        (output,) = parse(
            f"where({formula}, 1, 0)" if condition else formula, names, units=True
        ).outputs
        return typeset.expression(output._prev[0] if condition else output)

    sides += [
        (name if latex else typeset.name(name), written(formula)) for name, formula in answer.shared
    ]
    shown = without_unit if answer.equations else lambda x: x
    point = [(typeset.name(name), coordinate(shown(x), digits)) for name, x in answer.point.items()]
    place = r",\ ".join(f"{name} = {x}" for name, x in point)
    values: list[tuple[str, ...]] = []
    for derivative in answer.derivatives:
        if derivative.of:
            typeset.function = typeset.name(derivative.of)
        slope = typeset.derivative(derivative.by, several)
        where = where_latex(derivative.condition and written(derivative.condition, condition=True))
        sides.append((slope, written(derivative.shown) + where))
        if place:
            value = measured_latex(shown(derivative.value), digits)
            (sides if answer.equations else values).append(
                (rf"\left.{slope}\right|_{{{place}}}", value)
            )
    return equations([*sides, *values])
