"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from ...derivatives.taylor import taylor
from ...views.taylor import TaylorView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Expand a formula in one variable into a Taylor polynomial."""
    question = RowQuestion("taylor", call.check_program)
    return answer_at(call, call.bind_question(taylor), TaylorView(**call.view_choices), question)
