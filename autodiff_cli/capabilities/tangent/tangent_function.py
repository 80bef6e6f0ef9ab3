"""The Python function of `tangent`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import tangent_line as _tangent_line


class TangentLine(Answer, _tangent_line.TangentLine, shows=("tangent", "normal")):
    """The tangent and the normal of a program's graph, or of the curve of an equation, at a point.

    >>> answer = tangent("x**2", {"x": 2})
    >>> answer.tangent, answer.normal
    ('y = 4*x - 4', 'y = 4.5 - x/4')
    >>> tangent("cbrt(x)", {"x": 0}).tangent
    'x = 0'
    >>> tangent("x**2 + y**2 = 25", {"x": 3, "y": 4}).tangent
    'y = 6.25 - 0.75*x'
    """


tangent = function_of(TangentLine, "tangent")
