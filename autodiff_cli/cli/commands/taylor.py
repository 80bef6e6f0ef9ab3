"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from ...derivatives.taylor import taylor
from ...views.taylor import TaylorView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def run(call: Call) -> int:
    """Expand a formula in one variable into a Taylor polynomial; return the exit code."""
    inputs, digits = Inputs.of(call), call.answers.shown
    question = RowQuestion("taylor", call.arithmetic, digits, inputs.posed, units=call.units)
    return answer_at(inputs, call, asking(taylor, call.by_row), TaylorView(digits=digits), question)
