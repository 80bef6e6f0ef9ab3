"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from ...data.rows import flat_hessian as flat
from ...derivatives.hessian import Hessian, hessian
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.hessian import HessianView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    document: bool = False,
    numbers: options.Numbers,
    rows: options.Rows,
    loss: options.Loss,
) -> int:
    """Compute the Hessian at a point, and classify the point; return the exit code."""
    arithmetic = chosen(*numbers)
    inputs, shown = Inputs.of(program, answers, document), HessianView(digits=answers.shown)
    over = data_over(loss, answers, inputs, rows)

    def answer(request: Request) -> Hessian:
        return hessian(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic, over=over)

    if rows.points and over is None:
        from ..row_routes import RowQuestion, answer_rows  # only data files need it

        return answer_rows(inputs, rows, answer, shown, RowQuestion("hessian", flat, arithmetic, answers.shown))
    return answer_all(inputs, answer, shown)
