"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...curves.contours import Surface, read_path
from ...curves.plot import Curve, plot
from ...streams.requests import Request, mapping
from ...views.characters import theme_of
from ...views.plot import PlotView, drawn_as
from .. import options
from ..call import Call
from ..runner import Inputs, answer_all, asking

if TYPE_CHECKING:
    from ...optimize.fit import Sigma


def run(call: Call) -> int:
    """Plot a function with its derivative and tangent, or contours; return the exit code."""
    inputs, path, data = Inputs.of(call), call.path, call.data
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(inputs.format, inputs.output)
    inputs.check_picture(chosen, "plot")
    call = Call(
        {**call.values, "path": None if path is None else read_path(path, inputs.beside("--path", path)), "data": None}
    )
    method = asking(plot, call)

    def drawn(request: Request) -> Curve | Surface:
        if not data:
            return method(request)
        over = request.wrt or [*call.ranges]
        own = {"response": call.response, "sigma": call.sigma, "skip": inputs.on_error == "skip"}
        called = mapping(call.columns)
        return method(request, data=read_rows(data, request.text, [*request.point], over, call.dialect, called, **own))

    return answer_all(inputs, drawn, PlotView(digits=call.answers.shown, theme=theme_of(call.theme)), chosen=chosen)


def read_rows(
    paths: Sequence[str],
    text: str,
    known_names: Sequence[str],
    over: Sequence[str],
    dialect: options.Dialect = options.UNSAID,
    called: Mapping[str, str] = MappingProxyType({}),
    *,
    skip: bool = False,
    response: str | None = None,
    sigma: Sigma | None = None,
) -> dict[str, list[float]]:
    """The columns of files that a plot of a formula draws; see `read_columns`. Raises `ExpressionError`."""
    from ...curves.measurements import columns_drawn  # only data need it
    from ...data.columns import read_columns
    from ...data.text_dialects import Forced

    return read_columns(
        paths,
        lambda columns: columns_drawn(text, columns, known_names, over, response, sigma),
        Forced.of(dialect),
        called,
        other=known_names,
        skip=skip,
    )
