"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from ...data.rows import flat_hessian as flat
from ...derivatives.hessian import hessian
from ...views.hessian import HessianView
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at, data_over


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    answer: str | None = None,
    units: list[str] | None = None,
    document: bool = False,
    numbers: options.Numbers,
    rows: options.Rows,
    loss: options.Loss,
) -> int:
    """Compute the Hessian at a point, and classify the point; return the exit code."""
    if answer is not None:
        from ...exercises.answers import check_hessian  # only an answer needs it
        from ..own_answers import mark_answers

        return mark_answers(check_hessian, Call({"answer": answer}), program, answers)
    inputs, shown = Inputs.of(program, answers, document), HessianView(digits=answers.shown)
    call, over = Call({"numbers": numbers, "units": units}, bool(rows.points)), data_over(loss, answers, inputs, rows)
    method = asking(hessian, call, over=over)
    posed, numbers_of = (inputs.posed, flat) if over is None else (None, None)
    question = RowQuestion("hessian", call.arithmetic, answers.shown, posed, numbers_of, units=units)
    return answer_at(inputs, rows, method, shown, question)
