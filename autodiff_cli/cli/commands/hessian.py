"""`autodiff hessian`: second derivatives at a point, and its classification."""

from ...data.rows import FLAT
from ...derivatives.hessian import hessian
from ...views.hessian import HessianView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Compute the Hessian at a point, and classify the point."""
    question = RowQuestion("hessian", call.posed, FLAT["hessian"])
    if call.over is not None:
        question = RowQuestion("hessian", None)
    return answer_at(call, call.asking(hessian), HessianView(**call.shown), question)
