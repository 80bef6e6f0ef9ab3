"""`autodiff page`: a page that steps through evaluation and backpropagation."""

from ...derivatives.page import page
from ...views.characters import theme_of
from ...views.page import PageView
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    theme: str | None = None,
    answers: options.Answers,
) -> int:
    """Make a page to watch and do backpropagation in a browser; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need(only="a page is made of one program at a time, not of a stream")
    return answer_all(
        inputs,
        lambda request: page(request.text, request.point, wrt=request.wrt),
        PageView(theme=theme_of(theme)),
        "html",
    )
