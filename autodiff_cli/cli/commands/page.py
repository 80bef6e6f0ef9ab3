"""`autodiff page`: a page that steps through evaluation and backpropagation."""

import os
import sys
from itertools import chain, count

from ...derivatives.page import page
from ...views.characters import theme_of
from ...views.page import PageView
from ..call import Call
from ..runner import Inputs, answer_all, asking


def run(call: Call) -> int:
    """Make a page to watch and do backpropagation in a browser; return the exit code."""
    inputs = Inputs.of(call)
    inputs.need(only="a page is made of one program at a time, not of a stream")
    on_terminal = inputs.output is None and inputs.chosen(PageView().formats, "html") == "html" and sys.stdout.isatty()
    if on_terminal:
        # nobody reads the source of a page
        free = (f"page{number}.html" for number in chain(("",), count(2)))
        inputs = inputs._replace(output=next(path for path in free if not os.path.exists(path)))
    code = answer_all(inputs, asking(page, call), PageView(theme=theme_of(call.theme)), "html")
    if on_terminal and not code:
        sys.stdout.write(f"{inputs.output}\n")
    return code
