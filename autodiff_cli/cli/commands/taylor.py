"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from typing import Annotated

from ...derivatives.taylor import Taylor, taylor
from ...errors import ExpressionError
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.taylor import TaylorView
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff taylor "exp(sin(x))" --at x=0 --order 8',
    'autodiff taylor "sqrt(x)" --at x=4 --order 3 --exact',
)

Order = Annotated[
    int | None, options.Option("--order", "The highest power, 8 by default; at most 200.", "N", main=True)
]


def run(
    *,
    expr: options.Expr = None,
    at: options.At = None,
    order: Order = None,
    wrt: options.Wrt = None,
    lenient: options.Lenient = False,
    answers: Annotated[options.Answers, options.formats(TaylorView().formats)],
    document: options.Document = False,
    numbers: options.Numbers,
) -> int:
    """Expand a formula in one variable into a Taylor polynomial.

    The coefficients are computed by arithmetic of truncated power series, to any order.
    """
    arithmetic = chosen(*numbers)

    def answer(request: Request) -> Taylor:
        if request.wrt is not None and len(request.wrt) != 1:
            raise ExpressionError("usage", "a Taylor series is taken in one variable", hint="write `--wrt x`")
        by = None if request.wrt is None else request.wrt[0]
        return taylor(request.text, request.point, by=by, order=8 if order is None else order, arithmetic=arithmetic)

    program = options.Program(expr, at, wrt, lenient)
    return answer_all(Inputs.of(program, answers, document), answer, TaylorView(digits=answers.shown))
