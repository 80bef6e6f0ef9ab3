"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from ..questions.arithmetic import chosen
from ..questions.jacobian import jacobian
from ..questions.point import constant_value, parse_point, split
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..views.jacobian import view

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
    *,
    program: options.Program,
    direction: Direction = None,
    adjoint: Adjoint = None,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """The partial derivatives of every output of a program, whose last line lists them: `a, b, c`."""
    arithmetic = chosen(*numbers)
    along = None if direction is None else parse_point(direction)
    weights = None if adjoint is None else _weights(adjoint)
    return answer_all(
        Inputs.of(program, answers),
        lambda request: jacobian(
            request.text, request.point, wrt=request.wrt, direction=along, adjoint=weights, arithmetic=arithmetic
        ),
        view(digits=answers.digits),
    )


def _weights(text: str) -> Mapping[str, float] | Sequence[float]:
    """The weights of the outputs, by name or in order."""
    if "=" in text:
        return parse_point(text)
    return [constant_value(f"number {k}", piece) for k, piece in enumerate(split(text), start=1)]
