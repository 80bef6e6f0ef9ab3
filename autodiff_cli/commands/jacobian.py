"""`autodiff jacobian`: the derivatives of several outputs, or products with them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from ..questions.arithmetic import chosen
from ..questions.jacobian import jacobian
from ..questions.point import constant_value, parse_point, split
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..streams.requests import default_point
from ..views.jacobian import view

EXAMPLE = 'autodiff jacobian "r*cos(t), r*sin(t)" --at r=2,t=pi/6'

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
    direction: options.Direction = None,
    adjoint: Adjoint = None,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """The derivatives of several outputs, or products with them.

    The last line of the program lists its outputs: `a, b, c`.
    """
    arithmetic = chosen(*numbers)
    along = None if direction is None else default_point(direction)
    weights = None if adjoint is None else _weights(adjoint)
    return answer_all(
        Inputs.of(program, answers),
        lambda request: jacobian(
            request.text, request.point, wrt=request.wrt, direction=along, adjoint=weights, arithmetic=arithmetic
        ),
        view(digits=answers.shown),
    )


def _weights(text: str) -> Mapping[str, float] | Sequence[float]:
    """The weights of the outputs, by name or in order."""
    if "=" in text:
        return parse_point(text)
    return [constant_value(f"number {k}", piece) for k, piece in enumerate(split(text), start=1)]
