"""Pictures of graphs: the Python function of `graph`, and `draw` for values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from ..derivatives import graph as _graph
from ..graphs.value import Value
from ..views.formats import format_of
from ..views.graph import FORMATS, writer_of
from ..views.numerals import rounding
from .api_answers import Drawing, as_answer
from .calls import converted, function_of


class Picture(Drawing, _graph.Picture):
    """A picture of the graph: every operation, with value and derivative at every node; `symbolic` needs no point.

    >>> print(graph("x*w", "x=2,w=3"))
    node   data   grad
    *         6      1
    ├─ x      2      3
    └─ w      3      2
    """

    @property
    def dot(self) -> str:
        """The picture in the language of Graphviz."""
        return self.to_text("dot")

    def _format(self, path: str) -> str:
        return writer_of(format_of(None, path, FORMATS, "tree"))

    def __repr__(self) -> str:
        return f"<Picture of {len(self.nodes):,} node{'' if len(self.nodes) == 1 else 's'}>"


graph = function_of(Picture, "graph")


def draw(
    values: Value | Iterable[Value],
    *,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
) -> Picture:
    """Draw the graph below a Value, or below several: the picture shows itself in a notebook, and can be saved.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> picture = draw(a * b)
    >>> picture, picture.svg[:4], picture.dot[:7]
    (<Picture of 3 nodes>, '<svg', 'digraph')
    """
    roots = list(values) if isinstance(values, Iterable) else [values]
    for root in [root for root in roots if not isinstance(root, Value)]:
        raise TypeError(f"only Values can be drawn, not {root!r}")
    with converted(draw, "graph", theme=theme, digits=digits, decimals=decimals) as given:
        shown = {"digits": rounding(given.digits, given.decimals), "theme": given.theme}
        return cast(Picture, as_answer(_graph.to_picture(roots), **shown))


draw_dot = draw
