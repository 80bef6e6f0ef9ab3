"""`autodiff taylor`: the Taylor polynomial of a program at a point."""

from ...derivatives.taylor import Taylor, taylor
from ...errors import ExpressionError
from ...inputs.arithmetic import chosen
from ...streams.requests import Request
from ...views.taylor import TaylorView
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    order: int | None = None,
    answers: options.Answers,
    document: bool = False,
    numbers: options.Numbers,
) -> int:
    """Expand a formula in one variable into a Taylor polynomial; return the exit code."""
    arithmetic = chosen(*numbers)

    def answer(request: Request) -> Taylor:
        if request.wrt is not None and len(request.wrt) != 1:
            raise ExpressionError("usage", "a Taylor series is taken in one variable", hint="write `--wrt x`")
        by = None if request.wrt is None else request.wrt[0]
        return taylor(request.text, request.point, by=by, order=8 if order is None else order, arithmetic=arithmetic)

    return answer_all(Inputs.of(program, answers, document), answer, TaylorView(digits=answers.shown))
