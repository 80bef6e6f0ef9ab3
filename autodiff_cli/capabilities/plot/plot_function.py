"""The Python function of `plot`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .contours import Surface
from .implicit import ImplicitPlot
from .plot import Curve


@answers("plot")
def plot(call: PythonCall) -> Curve | Surface | ImplicitPlot:
    """Plot a function with its derivative and its tangent; over two variables its contours, and the
    `path` of a run.

    The path is the name of a file that `descend` wrote, or points, or rows such as those of
    `descend`. With `for_` or `between`, which are those of `solve`, the text is equations, and the
    first unknown is the function. An equation without them, `x**2 + y**2 = 25`, has its whole
    curve. With `order=2` there is the second derivative too; several functions are separated by
    commas. Drawing needs the extra `plot`.

    >>> plot("x**2", {"x": 1}, range={"x": (-2, 2)}).tangent
    Tangent(at=1.0, value=1.0, slope=2.0)
    """
    return cast(Curve | Surface | ImplicitPlot, call.ask())
