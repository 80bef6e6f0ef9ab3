"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from typing import Annotated

from ..questions.arithmetic import chosen
from ..questions.hessian import Hessian, hessian
from ..questions.rows import flat_hessian as flat
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..streams.requests import Request
from ..views.hessian import view
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
    """Second derivatives at a point, and what they say of it.

    Value, gradient, Hessian and its eigenvalues.
    """
    arithmetic = chosen(*numbers)
    inputs, shown = Inputs.of(program, answers, document), view(digits=answers.shown)
    over = data_over(loss, answers, inputs, rows)

    def answer(request: Request) -> Hessian:
        return hessian(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic, over=over)

    if any(rows) and over is None:
        from ..streams.data import Told, answer_rows, given  # only data files need it

        data = given(rows)
        if data is not None:
            return answer_rows(inputs, data, answer, shown, Told("hessian", flat, arithmetic, answers.shown))
    return answer_all(inputs, answer, shown)
