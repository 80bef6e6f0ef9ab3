"""The Python function of `page`."""

from __future__ import annotations

from ...api.api_answers import Plotted
from ...api.calls import function_of
from . import page as _page


class Page(Plotted, _page.Page, shows=("text", "point")):
    """A page to watch and to do backpropagation in a browser: steps, sliders, a quiz, descent and a
    plot.

    >>> made = page("tanh(w*x + b)", "w=1,x=2,b=-1")
    >>> made, made.html[:15]
    (Page(text='tanh(w*x + b)', point={'w': 1.0, 'x': 2.0, 'b': -1.0}), '<!DOCTYPE html>')
    """

    def __str__(self) -> str:
        return self.html.removesuffix("\n")

    @property
    def html(self) -> str:
        """The whole page, which needs no other file."""
        return self.to_text("html")

    def _repr_html_(self) -> str | None:
        from html import escape

        frame = (
            'width="100%" height="760" style="border:0" sandbox="allow-scripts" title="autodiff"'
        )
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


page = function_of(Page, "page")
