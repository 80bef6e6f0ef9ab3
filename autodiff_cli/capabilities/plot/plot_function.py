"""The Python function of `plot`."""

from __future__ import annotations

from typing import cast

from ...api.api_answers import Drawing
from ...api.api_arguments import PythonCall
from ...api.calls import answers
from . import contours as _surface
from . import plot as _plot


class Curve(Drawing, _plot.Curve, shows=("text", "variable", "low", "high")):
    """A function of one variable with its derivative and its tangent."""


class Surface(Drawing, _surface.Surface, shows=("text", "variables")):
    """A function of two variables, as contours."""


@answers("plot")
def plot(call: PythonCall) -> Curve | Surface:
    """Plot a function with its derivative and its tangent; over two variables its contours, and the `path` of a run.

    The path is the name of a file that `descend` wrote, or points, or rows such as those of `descend`. With `for_` or
    `between`, which are those of `solve`, the text is equations, and the first unknown is the function. With `order=2`
    there is the second derivative too; several functions are separated by commas. Drawing needs the extra `plot`.

    >>> plot("x**2", {"x": 1}, range={"x": (-2, 2)}).tangent
    Tangent(at=1.0, value=1.0, slope=2.0)
    """
    return cast(Curve | Surface, call.question_method()(call.request))
