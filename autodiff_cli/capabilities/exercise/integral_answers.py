"""Marking of antiderivatives, which are right up to a constant."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.algebra.canonical import exact_value
from ...engine.graphs.value import Value
from ...engine.numbers.budget import Defined
from ...errors import ExpressionError
from ...language.diagnostics.leniency import read_leniently
from ...language.printer import expression_text
from ...questions.problem import Point, parse, single_output
from ..integrals.antiderivatives import check_antiderivative, ratio_of, slope_of
from ..integrals.ends import read_ends
from . import marking
from .exercise import Exercise, Marked


def check_integral(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    variable: str | None = None,
) -> Marked:
    """Mark a formula as an antiderivative of a program, up to a constant.

    >>> check_integral("x**2", answer="x**3 + C").hint
    'its derivative is 3 times the formula: a constant factor is wrong'
    """
    marking.require_length(answer)
    program = parse(text)
    integrand = single_output(program)
    name, _ = read_ends(program, {}, None, variable)
    formula, _ = read_leniently(
        answer, lambda typed: single_output(parse(typed, [*program.variables]))
    )
    found = check_antiderivative(formula, integrand, name)
    posed = Exercise("integral", text, {}, (name,), task="Integrate {f}.", answer=())
    if found is not None:
        how = "its derivative is the formula"
        if not found.proven:
            how = (
                f"its derivative is the formula at all of {found.points} points, compared with 50"
                " digits"
            )
        kind = "simplified" if found.proven else "points"
        return Marked(posed, answer, True, f"right: {how}", how=kind, points=found.points)
    return Marked(
        posed,
        answer,
        False,
        "wrong: its derivative is not the formula",
        _hint(formula, integrand, name),
    )


def _hint(formula: Value, integrand: Value, name: str) -> str:
    """Return what the derivative of the answer is."""
    with Defined(ExpressionError):
        slope = slope_of(formula, name)
        if exact_value(slope) == 0:
            return f"it does not depend on `{name}`"
        ratio = ratio_of(slope, integrand)
        if ratio is not None:
            return f"its derivative is {ratio} times the formula: a constant factor is wrong"
        return f"its derivative is `{expression_text(slope)}`"
    return "differentiate it: `autodiff diff`"
