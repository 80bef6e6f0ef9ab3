"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from ...data.rows import flat_jacobian as flat
from ...derivatives.jacobian import Jacobian, jacobian
from ...inputs.arithmetic import chosen
from ...inputs.parse_point import parse_weights
from ...streams.requests import Request, default_point
from ...views.jacobian import JacobianView
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    direction: list[str] | None = None,
    adjoint: str | None = None,
    answers: options.Answers,
    document: bool = False,
    numbers: options.Numbers,
    rows: options.Rows,
) -> int:
    """Compute the Jacobian of several outputs, or products with it; return the exit code."""
    arithmetic = chosen(*numbers)
    along = None if direction is None else default_point(direction)
    weights = None if adjoint is None else parse_weights(adjoint)
    inputs, shown = Inputs.of(program, answers, document), JacobianView(digits=answers.shown)

    def answer(request: Request) -> Jacobian:
        return jacobian(
            request.text, request.point, wrt=request.wrt, direction=along, adjoint=weights, arithmetic=arithmetic
        )

    if rows.points:
        from ..row_routes import RowQuestion, answer_rows  # only data files need it

        product = "--direction" if direction is not None else "--adjoint" if adjoint is not None else None
        question = RowQuestion("jacobian", flat, arithmetic, answers.shown, product)
        return answer_rows(inputs, rows, answer, shown, question)
    return answer_all(inputs, answer, shown)
