"""Pictures of graphs: the Python function of `graph`, and `draw` for values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from ...api.api_answers import as_answer
from ...api.api_arguments import PythonCall
from ...api.calls import answers, converted
from ...engine.graphs.value import Value
from ...errors import usage_error
from ...show.numerals import rounding
from . import graph as _graph
from .graph import Picture


@answers("graph")
def graph(call: PythonCall) -> Picture:
    """A picture of the graph: every operation, with value and derivative at every node; `symbolic`
    needs no point.

    >>> print(graph("x*w", "x=2,w=3"))
    node   data   grad
    *         6      1
    ├─ x      2      3
    └─ w      3      2
    """
    return cast(Picture, call.ask())


# The directions of Graphviz, and those of drawings here.
RANKDIRS = {"LR": "right", "TB": "down"}


def draw(
    values: Value | Iterable[Value],
    format: str = "svg",
    rankdir: str | None = None,
    *,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
) -> Picture:
    """Draw the graph below a Value, or below several: the picture shows itself in a notebook, and
    can be saved.

    `format` is that of files that `render` writes, `rankdir` the direction as Graphviz names it: LR
    or TB.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> picture = draw(a * b)
    >>> picture, picture.svg[:4], picture.dot[:7]
    (<Picture of 3 nodes>, '<svg', 'digraph')
    """
    if not (rankdir is None or (isinstance(rankdir, str) and rankdir in RANKDIRS)):
        raise usage_error(
            f"`rankdir` is `LR` or `TB`, not {rankdir!r}", "LR: to the right; TB: downwards"
        )
    if not isinstance(format, str):
        raise TypeError(f"`format` is the name of a format of files, not {format!r}")
    roots = list(values) if isinstance(values, Iterable) else [values]
    for root in [root for root in roots if not isinstance(root, Value)]:
        raise TypeError(f"only Values can be drawn, not {root!r}")
    with converted(draw, "graph", theme=theme, digits=digits, decimals=decimals) as given:
        way = None if rankdir is None else RANKDIRS[rankdir]
        # each Value has its box, and a sum of three terms is two Values
        choices = {"theme": given.theme, "way": way, "binary": True}
        shown = {"digits": rounding(given.digits, given.decimals), **choices}
        picture = cast(Picture, as_answer(_graph.to_picture(roots), **shown))
    picture.__dict__["_file_format"] = format
    return picture


draw_dot = draw
