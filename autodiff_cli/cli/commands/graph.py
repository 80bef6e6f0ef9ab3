"""`autodiff graph`: a picture of the graph of a program."""

import sys

from ...derivatives.graph import picture, symbolic_picture
from ...errors import usage_error
from ...views.characters import theme_of
from ...views.graph import FORMATS, PictureView, way_of, written
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(call: Call) -> int:
    """Draw the graph, with value and derivative at each node; return the exit code."""
    inputs = Inputs.of(call)
    inputs.need(only="a picture is drawn of one program at a time, not of a stream")
    chosen = inputs.chosen(FORMATS, "tree")
    if chosen in ("png", "pdf") and inputs.output is None and sys.stdout.isatty():
        raise usage_error(
            f"a {chosen.upper()} cannot be shown on a terminal", f"write it to a file: `--output graph.{chosen}`"
        )
    shown = PictureView(digits=call.answers.shown, theme=theme_of(call.theme), way=way_of(call.layout), **call.choices)
    return answer_all(
        inputs,
        (lambda request: symbolic_picture(request.text, request.point)) if call.symbolic else asking(picture, call),
        shown,
        chosen=written(chosen),
    )
