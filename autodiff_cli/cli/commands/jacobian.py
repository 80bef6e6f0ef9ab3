"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from ...data.rows import flat_jacobian as flat
from ...derivatives.jacobian import jacobian
from ...views.jacobian import JacobianView
from .. import options
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from . import answer_at


def run(
    *,
    program: options.Program,
    direction: list[str] | None = None,
    adjoint: str | None = None,
    units: list[str] | None = None,
    answers: options.Answers,
    document: bool = False,
    numbers: options.Numbers,
    rows: options.Rows,
) -> int:
    """Compute the Jacobian of several outputs, or products with it; return the exit code."""
    call = Call({"numbers": numbers, "direction": direction, "adjoint": adjoint, "units": units}, bool(rows.points))
    method = asking(jacobian, call)
    inputs, shown = Inputs.of(program, answers, document), JacobianView(digits=answers.shown)
    numbers_of = flat if direction is None and adjoint is None else None
    question = RowQuestion("jacobian", call.arithmetic, answers.shown, inputs.posed, numbers_of, units=units)
    return answer_at(inputs, rows, method, shown, question)
