"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from ..questions.arithmetic import chosen
from ..questions.hessian import hessian
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..views.hessian import view

EXAMPLE = 'autodiff hessian "(1-x)**2 + 100*(y-x**2)**2" --at x=1,y=1'


def run(
    *,
    program: options.Program,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """Second derivatives at a point, and what they say of it.

    Value, gradient, Hessian and its eigenvalues.
    """
    arithmetic = chosen(*numbers)
    return answer_all(
        Inputs.of(program, answers),
        lambda request: hessian(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic),
        view(digits=answers.shown),
    )
