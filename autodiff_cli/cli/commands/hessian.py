"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from typing import Annotated

from ...data.rows import flat_hessian as flat
from ...derivatives.hessian import Hessian, hessian
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.hessian import HessianView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over

EXAMPLES = (
    'autodiff hessian "(1-x)**2 + 100*(y-x**2)**2" --at x=1,y=1',
    'autodiff hessian "x**2*y" --at x=1/3,y=2 --exact --format plain',
    "printf 'x,y\\n0,1\\n1,3\\n2,5.5\\n' | autodiff hessian \"(y - (w*x + b))**2\" --data - --reduce sum --at w=2,b=1",
)


def run(
    *,
    program: options.Program,
    answers: Annotated[options.Answers, options.WithRows],
    document: options.Document = False,
    numbers: options.Numbers,
    rows: options.Rows,
    loss: Annotated[options.Loss, options.SHARED],
) -> int:
    """Compute the Hessian at a point, and classify the point.

    The answer has the value, the gradient, the Hessian and its eigenvalues.
    """
    arithmetic = chosen(*numbers)
    inputs, shown = Inputs.of(program, answers, document), HessianView(digits=answers.shown)
    over = data_over(loss, answers, inputs, rows)

    def answer(request: Request) -> Hessian:
        return hessian(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic, over=over)

    if rows.points and over is None:
        from ..row_routes import RowQuestion, answer_rows  # only data files need it

        return answer_rows(inputs, rows, answer, shown, RowQuestion("hessian", flat, arithmetic, answers.shown))
    return answer_all(inputs, answer, shown)
