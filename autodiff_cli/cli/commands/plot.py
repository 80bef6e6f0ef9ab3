"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

from typing import Any

from ...curves.contours import read_path
from ...curves.plot import plot
from ...views.characters import theme_of
from ...views.plot import PlotView, drawn_as
from .. import options
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(
    *,
    program: options.Program,
    path: str | None = None,
    theme: str | None = None,
    answers: options.Answers,
    **typed: Any,
) -> int:
    """Plot a function with its derivative and tangent, or contours; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(inputs.format, inputs.output)
    inputs.check_picture(chosen, "plot")
    call = Call({**typed, "path": None if path is None else read_path(path, inputs.beside("--path", path))})
    return answer_all(inputs, asking(plot, call), PlotView(digits=answers.shown, theme=theme_of(theme)), chosen=chosen)
