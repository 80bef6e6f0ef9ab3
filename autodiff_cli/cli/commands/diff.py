"""`autodiff diff`: the derivative of a program as a formula."""

import sys
from collections.abc import Callable, Mapping

from ...formulas.diff import LANGUAGES, Diff, diff
from ...inputs.problem import Problem, check_values
from ...views.characters import terminal_of
from ...views.diff import DiffView
from ...views.formats import language_of
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def posed(text: str, point: Mapping[str, float]) -> Problem:
    """Equations and a point of their solutions, at which each variable has a value."""
    from ...equations.equations import read_equations  # only equations need it

    program = read_equations(text, [*point])[0]
    return Problem(program, {**point}, {**point}, [], check_values(program, point))


def run(call: Call) -> int:
    """Differentiate a formula into formulas; return the exit code."""
    inputs, digits = Inputs.of(call), call.answers.shown
    language = language_of(call.to, inputs.format, inputs.output, LANGUAGES, "text")
    method: Callable[..., Diff] = diff
    if call.unknowns:
        from ...equations.implicit_formulas import implicit_diff as method  # only equations need it
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    question = RowQuestion("diff", call.arithmetic, digits, posed if call.unknowns else inputs.posed)
    return answer_at(
        inputs,
        call,
        asking(method, call, language=language),
        DiffView(digits=digits, unicode=letters, steps=call.steps, unknowns=bool(call.unknowns)),
        question,
        otherwise="latex" if language == "latex" else "table",
    )
