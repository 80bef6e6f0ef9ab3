"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys

from ...derivatives.trace import trace
from ...streams.requests import default_point
from ...views.characters import terminal_of
from ...views.trace import STEPS, TraceView
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    mode: str | None = None,
    direction: list[str] | None = None,
    blanks: bool = False,
    answers: options.Answers,
    document: bool = False,
    lines: int | None = None,
) -> int:
    """Show every step of evaluation and backpropagation; return the exit code."""
    speeds = default_point(direction)
    inputs = Inputs.of(program, answers, document)
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    return answer_all(
        inputs,
        lambda request: trace(request.text, request.point, wrt=request.wrt, mode=mode or "reverse", direction=speeds),
        TraceView(unicode=letters, digits=answers.shown, steps=lines or STEPS, blanks=blanks),
    )
