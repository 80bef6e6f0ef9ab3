"""The Python function of `plot`."""

from __future__ import annotations

from typing import cast

from ...api.api_answers import Drawing
from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import contours as _surface
from . import implicit as _implicit
from . import plot as _plot


class Curve(Drawing, _plot.Curve, shows=("text", "variable", "low", "high")):
    """A function of one variable with its derivative and its tangent."""


class Surface(Drawing, _surface.Surface, shows=("text", "variables")):
    """A function of two variables, as contours."""


class ImplicitPlot(Drawing, _implicit.ImplicitPlot, shows=("text", "variables")):
    """The curves of equations in two variables."""


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
    return cast(Curve | Surface | ImplicitPlot, call.question_method()(call.request))
