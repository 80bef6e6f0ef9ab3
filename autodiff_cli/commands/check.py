"""`autodiff check`: how far the value and the gradient of a program can be trusted."""

from typing import Annotated

from ..questions.check import FULL, REQUIRED, Check, check
from ..streams.answers import Inputs, answer_all
from ..streams.requests import Request
from ..views.check import view
from . import options

EXAMPLE = 'autodiff check "x*exp(-x**2/2)" --at x=1.5'

DISAGREES = 1
"""The exit code where all is done and the answer is no."""

Required = Annotated[
    int | None,
    options.Option(
        "--require", f"Correct digits that agreement asks for, {REQUIRED} by default.", "N", range=(1, FULL - 1)
    ),
]


def run(
    expr: options.Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    require: Required = None,
    file: options.File = None,
    format: options.Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    debug: options.Debug = False,
) -> int:
    """Correct digits of value and gradient, beside differences and 50-digit arithmetic."""
    disagreed = False

    def method(request: Request) -> Check:
        nonlocal disagreed
        answer = check(request.text, request.point, wrt=request.wrt, required=require or REQUIRED)
        disagreed = disagreed or not answer.agrees
        return answer

    inputs = Inputs("check", EXAMPLE, expr, at, wrt, file, "json" if json else format)
    return answer_all(inputs, method, view(digits=digits)) or (DISAGREES if disagreed else 0)
