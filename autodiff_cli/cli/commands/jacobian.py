"""`autodiff jacobian`: derivatives of several outputs, or products with them."""

from ...data.rows import FLAT
from ...derivatives.jacobian import jacobian
from ...views.jacobian import JacobianView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Compute the Jacobian of several outputs, or products with it."""
    whole = call.direction is None and call.adjoint is None
    question = RowQuestion("jacobian", call.posed, FLAT["jacobian"] if whole else None)
    return answer_at(call, call.asking(jacobian), JacobianView(**call.shown), question)
