"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from typing import Annotated

from ...data.rows import flat_jacobian as flat
from ...derivatives.jacobian import Jacobian, jacobian
from ...inputs.arithmetic import chosen
from ...inputs.parse_point import parse_weights
from ...streams.requests import Request, default_point
from ...views.jacobian import JacobianView
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff jacobian "r*cos(t), r*sin(t)" --at r=2,t=pi/6',
    'autodiff jacobian "x*y, x + y" --at x=2,y=3 --adjoint 1,2',
)

Adjoint = Annotated[
    str | None,
    options.Option(
        "--adjoint",
        "Differentiate only this weighted sum of the outputs, in one backward sweep: `1,2`, or `a=1,b=2`.",
        "VECTOR",
        allowed_in_env=False,
        python_type="Mapping[str, Any] | Sequence[float | str] | str | None",
        main=True,
    ),
]


def run(
    *,
    program: options.Program,
    direction: options.Direction = None,
    adjoint: Adjoint = None,
    answers: Annotated[options.Answers, options.WithRows],
    document: options.Document = False,
    numbers: options.Numbers,
    rows: options.Rows,
) -> int:
    """Compute the Jacobian of several outputs, or products with it.

    The last line of the program lists its outputs: `a, b, c`.
    """
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
