"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import Annotated

from ..methods.gradient import gradient
from ..render.gradient import view
from . import options
from .answers import Inputs, answer_all

EXAMPLE = 'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3'

All = Annotated[bool, options.Option("--all", "Also the value and derivative of every name that the program binds.")]


def run(
    expr: options.Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    everything: All = False,
    file: options.File = None,
    format: options.Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    depth: options.Depth = None,
    no_tree: options.NoTree = False,
    no_table: options.NoTable = False,
    debug: options.Debug = False,
) -> int:
    """Value, exact gradient and graph of a formula at a point."""
    shown = view(intermediates=everything, digits=digits, depth=depth, table=not no_table, tree=not no_tree)
    return answer_all(
        Inputs("grad", EXAMPLE, expr, at, wrt, file, "json" if json else format),
        lambda request: gradient(request.text, request.point, wrt=request.wrt),
        shown,
    )
