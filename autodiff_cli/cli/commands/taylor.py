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
    answer: str | None = None,
    document: bool = False,
    rows: options.Rows,
    **typed: Any,
) -> int:
    """Expand a formula in one variable into a Taylor polynomial; return the exit code."""
    if answer is not None:
        from ...exercises.answers import check_series  # only an answer needs it
        from ..own_answers import mark_answers

        return mark_answers(check_series, Call({**typed, "answer": answer}), program, answers)
    call, inputs = Call(typed, bool(rows.points)), Inputs.of(program, answers, document)
    question = RowQuestion("taylor", call.arithmetic, answers.shown, inputs.posed, units=typed.get("units"))
    return answer_at(inputs, rows, asking(taylor, call), TaylorView(digits=answers.shown), question)
