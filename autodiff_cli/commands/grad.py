"""`autodiff grad`: value, gradient and graph of a program at a point."""

from typing import TYPE_CHECKING, Annotated

from ..questions.arithmetic import DOUBLE, chosen
from ..questions.gradient import gradient
from ..streams.answers import Inputs, answer_all
from ..streams.requests import Defaults, Request, Shortcuts
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
    if arithmetic is not DOUBLE:
        from ..questions.precise import PreciseGradient, precise_gradient
        from ..views.precise import view as precise_view

        def precise(request: Request) -> PreciseGradient:
            return precise_gradient(request.text, request.point, arithmetic, wrt=request.wrt)

        precise_shown = precise_view(intermediates=everything, table=not no_table)
        if data is not None:
            from ..streams.points import answer_rows

            return answer_rows(inputs, data, precise, precise_shown)
        return answer_all(inputs, precise, precise_shown)
    shown = view(intermediates=everything, digits=digits, depth=depth, table=not no_table, tree=not no_tree)
    if data is not None:
        from ..streams.points import answer_points

        return answer_points(inputs, data, shown, whole=everything)
    return answer_all(
        inputs,
        lambda request: gradient(request.text, request.point, wrt=request.wrt),
        shown,
        None if everything or inputs.chosen != "jsonl" else _shortcut,
    )


def _data(points: str | None, keep: list[str] | None, on_error: str | None) -> "Data | None":
    from ..streams.points import given  # and only data files this

    return given(points, keep, on_error)


def _shortcut(defaults: Defaults) -> Shortcuts | None:
    from ..streams.shortcut import shortcut  # only streams need it

    return shortcut(defaults)
