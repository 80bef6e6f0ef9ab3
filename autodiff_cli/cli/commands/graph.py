"""`autodiff graph`: a picture of the graph of a program."""

import sys

from ...derivatives.graph import Picture, picture, symbolic_picture
from ...errors import usage_error
from ...streams.requests import Request
from ...views.graph import FORMATS, PictureView, way_of, written
from ..runner import Command, answer_all


def run(call: Command) -> int:
    """Draw the graph, with value and derivative at each node; return the exit code."""
    call.need(only="a picture is drawn of one program at a time, not of a stream")
    chosen = call.chosen(FORMATS, "tree")
    if chosen in ("png", "pdf") and call.output is None and sys.stdout.isatty():
        raise usage_error(
            f"a {chosen.upper()} cannot be shown on a terminal", f"write it to a file: `--output graph.{chosen}`"
        )

    def symbolic(request: Request) -> Picture:
        return symbolic_picture(request.text, request.point)

    method = symbolic if call.symbolic else call.asking(picture)
    view = PictureView(way=way_of(call.layout), **call.shown)
    return answer_all(call, method, view, chosen=written(chosen))
