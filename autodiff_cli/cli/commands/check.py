"""`autodiff check`: how many digits of value and gradient are correct."""

from contextlib import closing

from ...accuracy.check import Check, check
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from ..runner import Command, RowQuestion
from . import EXIT_NO, answer_at


def run(call: Command) -> int:
    """Check how many digits of value and gradient are correct."""
    disagreed = False
    over = call.over

    def method(request: Request) -> Check:
        nonlocal disagreed
        with closing(Progress("rows", here=True)) as progress:
            answer: Check = call.asking(check, watch=progress.step)(request)
        disagreed = disagreed or not answer.agrees
        return answer

    question = RowQuestion("check", call.posed if over is None else None)
    code = answer_at(call, method, CheckView(**call.shown), question)
    return code or (EXIT_NO if disagreed else 0)
