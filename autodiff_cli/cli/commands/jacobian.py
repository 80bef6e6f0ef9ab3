"""`autodiff jacobian`: derivatives of several outputs, or products with them."""

from collections.abc import Mapping

from ...data.rows import FLAT
from ...derivatives.jacobian import jacobian, seeds
from ...inputs.problem import Problem
from ...views.jacobian import JacobianView
from ..runner import Command, RowQuestion
from . import answer_at


def run(call: Command) -> int:
    """Compute the Jacobian of several outputs, or products with it."""
    direction, adjoint = call.direction, call.adjoint

    def posed(text: str, point: Mapping[str, float]) -> Problem:
        problem = call.check_program(text, point)
        seeds(problem, direction, adjoint)
        return problem

    whole = direction is None and adjoint is None
    question = RowQuestion("jacobian", posed, FLAT["jacobian"] if whole else None)
    return answer_at(call, call.bind_question(jacobian), JacobianView(**call.view_choices), question)
