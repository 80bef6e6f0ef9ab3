"""`autodiff check`: how far the value and the gradient of a program can be trusted."""

from ...accuracy.check import Check, check
from ...inputs.arithmetic import DOUBLE
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at, data_over

DISAGREES = 1
"""The exit code where all is done and the answer is no."""


def run(call: Call) -> int:
    """Check how many digits of value and gradient are correct; return the exit code."""
    disagreed = False
    inputs, digits = Inputs.of(call), call.answers.shown
    over = data_over(call, inputs)

    def method(request: Request) -> Check:
        nonlocal disagreed
        progress = Progress("rows", here=True)
        try:
            answer = asking(check, call.by_row, over=over, watch=progress.step)(request)
        finally:
            progress.done()
        disagreed = disagreed or not answer.agrees
        return answer

    question = RowQuestion("check", DOUBLE, digits, None if over is not None else inputs.posed, units=call.units)
    code = answer_at(inputs, call, method, CheckView(digits=digits), question)
    return code or (DISAGREES if disagreed else 0)
