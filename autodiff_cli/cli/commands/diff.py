"""`autodiff diff`: the derivative of a program as a formula."""

import sys

from ...formulas.diff import LANGUAGES, diff
from ...inputs.arithmetic import chosen
from ...views.characters import terminal_of
from ...views.diff import DiffView
from ...views.formats import language_of
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    order: int | None = None,
    share: bool = False,
    steps: bool = False,
    everywhere: bool = False,
    assume: list[str] | None = None,
    to: str | None = None,
    answers: options.Answers,
    document: bool = False,
    numbers: options.Numbers,
) -> int:
    """Differentiate a formula into formulas; return the exit code."""
    inputs = Inputs.of(program, answers, document)
    language = language_of(to, inputs.format, inputs.output, LANGUAGES, "text")
    arithmetic = chosen(*numbers)
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    return answer_all(
        inputs,
        lambda request: diff(
            request.text,
            request.point,
            wrt=request.wrt,
            order=1 if order is None else order,
            share=share,
            steps=steps,
            everywhere=everywhere,
            assume=assume,
            language=language,
            arithmetic=arithmetic,
        ),
        DiffView(digits=answers.shown, unicode=letters, steps=steps),
        otherwise="latex" if language == "latex" else "table",
    )
