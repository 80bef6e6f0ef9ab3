"""`autodiff hessian`: second derivatives of a program at a point, and what they say of it."""

from ..questions.arithmetic import chosen
from ..questions.hessian import hessian
from ..streams.answers import Inputs, answer_all
from ..views.hessian import view
from . import options

EXAMPLE = 'autodiff hessian "(1-x)**2 + 100*(y-x**2)**2" --at x=1,y=1'


def run(
    expr: options.Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    file: options.File = None,
    format: options.Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    exact: options.Exact = False,
    precision: options.Precision = None,
    certified: options.Certified = False,
    debug: options.Debug = False,
) -> int:
    """Value, gradient, Hessian and its eigenvalues at a point, and what they say of the point."""
    arithmetic = chosen(exact, precision, certified)
    return answer_all(
        Inputs("hessian", EXAMPLE, expr, at, wrt, file, "json" if json else format),
        lambda request: hessian(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic),
        view(digits=digits),
    )
