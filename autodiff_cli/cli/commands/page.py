"""`autodiff page`: a page that steps through evaluation and backpropagation."""

import os
import sys
from itertools import chain, count

from ...derivatives.page import page
from ...views.page import PageView
from ..runner import Command
from . import answer_at


def run(call: Command) -> int:
    """Make a page to watch and do backpropagation in a browser."""
    call.require_program(only="a page is made of one program at a time, not of a stream")
    is_html = call.output is None and call.choose_format(PageView().formats, "html") == "html"
    on_terminal = is_html and sys.stdout.isatty()
    if on_terminal:
        # a page goes to a file, not to a terminal
        free = (f"page{number}.html" for number in chain(("",), count(2)))
        call.output = next(path for path in free if not os.path.exists(path))
    code = answer_at(call, call.bind_question(page), PageView(**call.view_choices), otherwise="html")
    if on_terminal and not code:
        sys.stdout.write(f"{call.output}\n")
    return code
