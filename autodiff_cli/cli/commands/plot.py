"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

from ...curves.contours import read_path
from ...curves.plot import plot
from ...inputs.bounds import parse_between, parse_ranges
from ...streams.requests import names
from ...views.characters import theme_of
from ...views.plot import PlotView, drawn_as
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    range: list[str] | None = None,
    order: int | None = None,
    unknowns: list[str] | None = None,
    between: list[str] | None = None,
    path: str | None = None,
    theme: str | None = None,
    answers: options.Answers,
) -> int:
    """Plot a function with its derivative and tangent, or contours; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(inputs.format, inputs.output)
    inputs.check_picture(chosen, "plot")
    ranges = parse_ranges(range or ())
    looked_for, bounds = names(unknowns, "--for"), parse_between(between or ())
    steps = read_path(path, inputs.beside("--path", path)) if path is not None else []
    return answer_all(
        inputs,
        lambda request: plot(
            request.text,
            request.point,
            wrt=request.wrt,
            ranges=ranges,
            path=steps,
            unknowns=looked_for,
            between=bounds,
            order=order,
        ),
        PlotView(digits=answers.shown, theme=theme_of(theme)),
        chosen=chosen,
    )
