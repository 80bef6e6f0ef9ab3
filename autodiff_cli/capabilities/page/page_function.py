"""The Python function of `page`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .page import Page


@answers("page")
def page(call: PythonCall) -> Page:
    """A page to watch and to do backpropagation in a browser: steps, sliders, a quiz, descent and a
    plot.

    >>> made = page("tanh(w*x + b)", "w=1,x=2,b=-1")
    >>> made, made.html[:15]
    (Page(text='tanh(w*x + b)', point={'w': 1.0, 'x': 2.0, 'b': -1.0}), '<!DOCTYPE html>')
    """
    return cast(Page, call.ask())
