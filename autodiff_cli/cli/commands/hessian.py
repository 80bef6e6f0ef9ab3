"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from ...data.rows import FLAT
from ...derivatives.hessian import hessian
from ...views.hessian import HessianView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at, data_over


def run(call: Call) -> int:
    """Compute the Hessian at a point, and classify the point; return the exit code."""
    inputs, digits = Inputs.of(call), call.answers.shown
    over = data_over(call, inputs)
    posed, numbers_of = (inputs.posed, FLAT["hessian"]) if over is None else (None, None)
    question = RowQuestion("hessian", call.arithmetic, digits, posed, numbers_of, units=call.units)
    return answer_at(inputs, call, asking(hessian, call.by_row, over=over), HessianView(digits=digits), question)
