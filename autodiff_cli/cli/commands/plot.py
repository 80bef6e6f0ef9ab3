"""`autodiff plot`: a function with its derivative and tangent, or contours."""

from collections.abc import Collection, Sequence

from ...curves.contours import Surface, read_path
from ...curves.plot import Curve, plot
from ...streams.requests import Request
from ...views.plot import PlotView, drawn_as
from ..runner import Call, Command, Method
from . import answer_at


def run(call: Command) -> int:
    """Plot a function with its derivative and tangent, or contours."""
    call.require_program(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(call.format, call.output)
    call.check_picture(chosen, "plot")
    path = None if call.path is None else read_path(call.path, call.standard_input_for("--path", call.path))
    method = call.bind_question(plot, path=path or ())
    view = PlotView(**call.view_choices)
    return answer_at(call, lambda request: run_plot(call, method, request), view, chosen=chosen)


def run_plot(call: Call, method: Method, request: Request) -> Curve | Surface:
    """Return the plot of a program and its data. Raises `ExpressionError`."""
    known_names, over = [*request.point], request.wrt or [*call.ranges]

    def wanted(columns: Sequence[str]) -> Collection[str]:
        from ...curves.measurements import columns_drawn

        options = (call.response, call.sigma, call.unknowns, call.between)
        return columns_drawn(request.text, columns, known_names, over, *options)[1]

    data = None if call.data is None else call.read_columns(call.data, wanted, known_names)
    answer: Curve | Surface = method(request, data=data)
    return answer
