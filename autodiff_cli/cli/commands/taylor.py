"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from ...derivatives.taylor import taylor
from ...views.taylor import TaylorView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Expand a formula in one variable into a Taylor polynomial."""
    question = RowQuestion("taylor", call.posed)
    return answer_at(call, call.asking(taylor), TaylorView(**call.shown), question)
