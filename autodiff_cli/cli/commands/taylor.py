"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from typing import Any

from ...derivatives.taylor import taylor
from ...views.taylor import TaylorView
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    document: bool = False,
    rows: options.Rows,
    **typed: Any,
) -> int:
    """Expand a formula in one variable into a Taylor polynomial; return the exit code."""
    call, inputs = Call(typed), Inputs.of(program, answers, document)
    question = RowQuestion("taylor", call.arithmetic, answers.shown, inputs.posed)
    return answer_at(inputs, rows, asking(taylor, call), TaylorView(digits=answers.shown), question)
