"""`autodiff check`: how far the value and the gradient of a program can be trusted."""

from ...accuracy.check import REQUIRED, Check, check
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over

DISAGREES = 1
"""The exit code where all is done and the answer is no."""


def run(
    *,
    program: options.Program,
    require: int | None = None,
    loss: options.Loss,
    answers: options.Answers,
) -> int:
    """Check how many digits of value and gradient are correct; return the exit code."""
    disagreed = False
    inputs = Inputs.of(program, answers)
    over = data_over(loss, answers, inputs)

    def method(request: Request) -> Check:
        nonlocal disagreed
        progress = Progress("rows", here=True)
        try:
            answer = check(
                request.text,
                request.point,
                wrt=request.wrt,
                required=require or REQUIRED,
                over=over,
                watch=progress.step,
            )
        finally:
            progress.done()
        disagreed = disagreed or not answer.agrees
        return answer

    return answer_all(inputs, method, CheckView(digits=answers.shown)) or (DISAGREES if disagreed else 0)
