"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import TYPE_CHECKING, Annotated, Any

from ..questions.arithmetic import chosen
from ..questions.gradient import Gradient, gradient
from ..streams.answers import Inputs, answer_all
from ..streams.requests import Request
from ..views.formats import draws
from ..views.gradient import view
from . import options

if TYPE_CHECKING:
    from ..streams.points import Data

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
    exact: options.Exact = False,
    precision: options.Precision = None,
    certified: options.Certified = False,
    points: options.PointsFile = None,
    keep: options.Keep = None,
    on_error: options.OnError = None,
    debug: options.Debug = False,
) -> int:
    """Value, exact gradient and graph of a formula at a point."""
    inputs = Inputs("grad", EXAMPLE, expr, at, wrt, file, "json" if json else format)
    arithmetic = chosen(exact, precision, certified)
    data = _data(points, keep, on_error) if points or keep or on_error else None
    shown = view(intermediates=everything, digits=digits, depth=depth, table=not no_table, tree=not no_tree)
    if data is None and not inputs.many:
        return answer_all(
            inputs,
            lambda request: gradient(request.text, request.point, wrt=request.wrt, arithmetic=arithmetic),
            shown,
        )
    from ..questions.programs import Programs  # only for many

    drawn = draws(inputs.format or "jsonl") and not no_tree
    programs = Programs(arithmetic, whole=everything or drawn)

    def answer(request: Request) -> Gradient[Any]:
        return programs.gradient(request.text, request.point, request.wrt)

    if data is None:
        return answer_all(inputs, answer, shown)
    from ..streams.points import answer_rows

    return answer_rows(inputs, data, answer, shown)


def _data(points: str | None, keep: list[str] | None, on_error: str | None) -> "Data | None":
    from ..streams.points import given  # only data files need it

    return given(points, keep, on_error)
