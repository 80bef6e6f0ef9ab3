"""`autodiff check`: how far the value and the gradient of a program can be trusted."""

from typing import Annotated

from ...accuracy.check import FULL, REQUIRED, Check, check
from ...streams.progress import Progress
from ...streams.requests import Request
from ...views.check import CheckView
from .. import options
from ..runner import Inputs, answer_all
from . import data_over

EXAMPLES = (
    'autodiff check "x*exp(-x**2/2)" --at x=1.5',
    'autodiff check "tanh(x*w)" --at x=0.5,w=2 --require 12 --format plain',
    "printf 'x,y\\n0,1\\n1,3\\n2,5.5\\n' | autodiff check \"(y - (w*x + b))**2\" --data - --reduce mean --at w=2,b=1",
)

NO = "no: fewer digits are correct than required"
"""When the exit code is 1."""

DISAGREES = 1
"""The exit code where all is done and the answer is no."""

Required = Annotated[
    int | None,
    options.Option(
        "--require",
        f"The number of correct digits required for exit code 0, {REQUIRED} by default.",
        "N",
        range=(1, FULL - 1),
        main=True,
    ),
]


def run(
    *,
    program: options.Program,
    require: Required = None,
    loss: options.Loss,
    answers: options.Answers,
) -> int:
    """Check how many digits of value and gradient are correct.

    Value and gradient are compared with 50-digit arithmetic and with finite differences."""
    disagreed = False
    inputs = Inputs.of(program, answers)
    over = data_over(loss, answers, inputs)

    def method(request: Request) -> Check:
        nonlocal disagreed
        progress = Progress("rows", here=True)
        try:
            answer = check(
                request.text, request.point, wrt=request.wrt, required=require or REQUIRED, over=over,
                watch=progress.step,
            )  # fmt: skip
        finally:
            progress.done()
        disagreed = disagreed or not answer.agrees
        return answer

    return answer_all(inputs, method, CheckView(digits=answers.shown)) or (DISAGREES if disagreed else 0)
