"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...curves.contours import Surface, read_path
from ...curves.plot import Curve, plot
from ...streams.requests import Request
from ...views.characters import theme_of
from ...views.plot import PlotView, drawn_as
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(call: Call) -> int:
    """Plot a function with its derivative and tangent, or contours; return the exit code."""
    inputs, path = Inputs.of(call), call.path
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(inputs.format, inputs.output)
    inputs.check_picture(chosen, "plot")
    points = None if path is None else read_path(path, inputs.beside("--path", path))
    method = asking(plot, Call({**call.values, "path": points, "data": None}))

    def drawn(request: Request) -> Curve | Surface:
        if not call.data:
            return method(request)
        rows = read_rows(call, call.data, request.text, [*request.point], request.wrt or [*call.ranges])
        return method(request, data=rows)

    return answer_all(inputs, drawn, PlotView(digits=call.answers.shown, theme=theme_of(call.theme)), chosen=chosen)


def read_rows(
    call: Call, paths: Sequence[str], text: str, known_names: Sequence[str], over: Sequence[str]
) -> dict[str, list[float]]:
    """The columns of files that a plot of a formula draws. Raises `ExpressionError`."""
    from ...curves.measurements import columns_drawn  # only data need it

    def wanted(columns: Sequence[str]) -> Collection[str]:
        options = (call.response, call.sigma, call.unknowns, call.between)
        return columns_drawn(text, columns, known_names, over, *options)[1]

    return call.read_columns(paths, wanted, known_names)
