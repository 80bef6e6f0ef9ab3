"""`autodiff hessian`: second derivatives at a point, and its classification."""

from ...data.rows import FLAT
from ...derivatives.hessian import hessian
from ...views.hessian import HessianView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Compute the Hessian at a point, and classify the point."""
    of_rows = (call.check_program, FLAT["hessian"]) if call.over is None else (None, None)
    question = RowQuestion("hessian", *of_rows)
    return answer_at(call, call.bind_question(hessian), HessianView(**call.view_choices), question)
