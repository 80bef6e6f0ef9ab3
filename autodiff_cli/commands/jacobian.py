"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from ..questions.arithmetic import chosen
from ..questions.jacobian import jacobian
from ..questions.point import constant_value, parse_point, split
from ..streams.answers import Inputs, answer_all
from ..views.jacobian import view
from . import options

EXAMPLE = 'autodiff jacobian "r*cos(t), r*sin(t)" --at r=2,t=pi/6'

Direction = Annotated[
    str | None,
    options.Option(
        "--direction", "Only the derivative along it, by one forward sweep: `x=1,y=0`; what is left out is 0.", "VECTOR"
    ),
]
Adjoint = Annotated[
    str | None,
    options.Option(
        "--adjoint",
        "Only the outputs' weighted sum differentiated, by one backward sweep: `1,2`, or `a=1,b=2`.",
        "VECTOR",
    ),
]


def run(
    expr: options.Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    direction: Direction = None,
    adjoint: Adjoint = None,
    file: options.File = None,
    format: options.Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    exact: options.Exact = False,
    precision: options.Precision = None,
    certified: options.Certified = False,
    debug: options.Debug = False,
) -> int:
    """The partial derivatives of every output of a program, whose last line lists them: `a, b, c`."""
    arithmetic = chosen(exact, precision, certified)
    along = None if direction is None else parse_point(direction)
    weights = None if adjoint is None else _weights(adjoint)
    return answer_all(
        Inputs("jacobian", EXAMPLE, expr, at, wrt, file, "json" if json else format),
        lambda request: jacobian(
            request.text, request.point, wrt=request.wrt, direction=along, adjoint=weights, arithmetic=arithmetic
        ),
        view(digits=digits),
    )


def _weights(text: str) -> Mapping[str, float] | Sequence[float]:
    """The weights of the outputs, by name or in order."""
    if "=" in text:
        return parse_point(text)
    return [constant_value(f"number {k}", piece) for k, piece in enumerate(split(text), start=1)]
