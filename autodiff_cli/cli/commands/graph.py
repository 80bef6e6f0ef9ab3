"""`autodiff graph`: a picture of the graph of a program."""

import sys

from ...derivatives.graph import picture, symbolic_picture
from ...errors import usage_error
from ...views.graph import FORMATS, PictureView, writer_of
from ..runner import Call, Command, Method
from . import answer_at


def question(call: Call) -> Method:
    """Return the method: the picture, with or without numbers."""
    if not call.symbolic:
        return call.bind_question(picture)
    return lambda request: symbolic_picture(request.text, request.point)


def run(call: Command) -> int:
    """Draw the graph, with value and derivative at each node."""
    call.require_program(only="a picture is drawn of one program at a time, not of a stream")
    chosen = call.choose_format(FORMATS, "tree")
    if chosen in ("png", "pdf") and call.output is None and sys.stdout.isatty():
        hint = f"write it to a file: `--output graph.{chosen}`"
        raise usage_error(f"a {chosen.upper()} cannot be shown on a terminal", hint)
    view = PictureView(**call.view_choices)
    return answer_at(call, question(call), view, chosen=writer_of(chosen))
