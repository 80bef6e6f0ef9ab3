"""`autodiff graph`: a picture of the graph of a program."""

import sys

from ...derivatives.graph import picture, symbolic_picture
from ...errors import ExpressionError
from ...views.characters import theme_of
from ...views.graph import FORMATS, PictureView, way_of, written
from .. import options
from ..runner import Inputs, answer_all


def run(
    *,
    program: options.Program,
    symbolic: bool = False,
    theme: str | None = None,
    answers: options.Answers,
    document: bool = False,
    layout: str | None = None,
    partials: bool = False,
    width: int | None = None,
    depth: int | None = None,
    binary: bool = False,
) -> int:
    """Draw the graph, with value and derivative at each node; return the exit code."""
    inputs = Inputs.of(program, answers, document)
    inputs.need(only="a picture is drawn of one program at a time, not of a stream")
    chosen = inputs.chosen(FORMATS, "tree")
    if chosen in ("png", "pdf") and inputs.output is None and sys.stdout.isatty():
        raise ExpressionError(
            "usage",
            f"a {chosen.upper()} cannot be shown on a terminal",
            hint=f"write it to a file: `--output graph.{chosen}`",
        )
    shown = PictureView(
        digits=answers.shown,
        depth=depth,
        theme=theme_of(theme),
        binary=binary,
        way=way_of(layout),
        partials=partials,
        width=width,
    )
    return answer_all(
        inputs,
        lambda request: (
            symbolic_picture(request.text, request.point)
            if symbolic
            else picture(request.text, request.point, wrt=request.wrt)
        ),
        shown,
        chosen=written(chosen),
    )
