"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from ...data.rows import FLAT
from ...derivatives.jacobian import jacobian
from ...views.jacobian import JacobianView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def run(call: Call) -> int:
    """Compute the Jacobian of several outputs, or products with it; return the exit code."""
    inputs, digits = Inputs.of(call), call.answers.shown
    numbers_of = FLAT["jacobian"] if call.direction is None and call.adjoint is None else None
    question = RowQuestion("jacobian", call.arithmetic, digits, inputs.posed, numbers_of, units=call.units)
    return answer_at(inputs, call, asking(jacobian, call.by_row), JacobianView(digits=digits), question)
