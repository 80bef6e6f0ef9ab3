"""`autodiff diff`: the derivative of a program as a formula."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ...formulas.diff import LANGUAGES, Diff, diff
from ...inputs.problem import Problem, check_values
from ...views.characters import terminal_of
from ...views.diff import DiffView
from ...views.formats import language_of
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def posed(text: str, point: Mapping[str, float]) -> Problem:
    """Equations and a point of their solutions, at which each variable has a value."""
    from ...equations.equations import read_equations  # only equations need it

    program = read_equations(text, [*point])[0]
    return Problem(program, {**point}, {**point}, [], check_values(program, point))


def run(
    *,
    program: options.Program,
    steps: bool = False,
    to: str | None = None,
    answer: str | None = None,
    answers: options.Answers,
    document: bool = False,
    rows: options.Rows,
    **typed: Any,
) -> int:
    """Differentiate a formula into formulas; return the exit code."""
    if answer is not None:
        from ...exercises.derivative_answers import check_derivative  # only an answer needs it
        from ..own_answers import mark_answers

        return mark_answers(check_derivative, Call({**typed, "answer": answer}), program, answers)
    inputs = Inputs.of(program, answers, document)
    language = language_of(to, inputs.format, inputs.output, LANGUAGES, "text")
    call = Call(typed)
    method: Callable[..., Diff] = diff
    if call.unknowns:
        from ...equations.implicit_formulas import implicit_diff as method  # only equations need it
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    question = RowQuestion("diff", call.arithmetic, answers.shown, posed if call.unknowns else inputs.posed)
    return answer_at(
        inputs,
        rows,
        asking(method, call, steps=steps, language=language),
        DiffView(digits=answers.shown, unicode=letters, steps=steps, unknowns=bool(call.unknowns)),
        question,
        otherwise="latex" if language == "latex" else "table",
    )
