"""`autodiff check`: how many digits of value and gradient are correct."""

from contextlib import closing

from ...accuracy.check import Check, check
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Check how many digits of value and gradient are correct."""

    def method(request: Request) -> Check:
        with closing(Progress("rows", here=True)) as progress:
            answer: Check = call.bind_question(check, watch=progress.step)(request)
        return answer

    question = RowQuestion("check", call.check_program if call.over is None else None)
    return answer_at(call, method, CheckView(**call.view_choices), question, good=lambda answer: answer.agrees)
