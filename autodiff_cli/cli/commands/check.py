"""`autodiff check`: how far the value and the gradient of a program can be trusted."""

from typing import Any

from ...accuracy.check import Check, check
from ...inputs.arithmetic import DOUBLE
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at, data_over

DISAGREES = 1
"""The exit code where all is done and the answer is no."""


def run(
    *,
    program: options.Program,
    loss: options.Loss,
    answers: options.Answers,
    document: bool = False,
    rows: options.Rows,
    **typed: Any,
) -> int:
    """Check how many digits of value and gradient are correct; return the exit code."""
    disagreed = False
    inputs = Inputs.of(program, answers, document)
    over, call = data_over(loss, answers, inputs, rows), Call(typed, bool(rows.points))

    def method(request: Request) -> Check:
        nonlocal disagreed
        progress = Progress("rows", here=True)
        try:
            answer = asking(check, call, over=over, watch=progress.step)(request)
        finally:
            progress.done()
        disagreed = disagreed or not answer.agrees
        return answer

    question = RowQuestion(
        "check", DOUBLE, answers.shown, None if over is not None else inputs.posed, units=typed.get("units")
    )
    code = answer_at(inputs, rows, method, CheckView(digits=answers.shown), question)
    return code or (DISAGREES if disagreed else 0)
