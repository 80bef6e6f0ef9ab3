"""The Python function of `tangent`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .tangent_line import TangentLine


@answers("tangent")
def tangent(call: PythonCall) -> TangentLine:
    """The tangent and the normal of a program's graph, or of the curve of an equation, at a point.

    >>> answer = tangent("x**2", {"x": 2})
    >>> answer.tangent, answer.normal
    ('y = 4*x - 4', 'y = 4.5 - x/4')
    >>> tangent("cbrt(x)", {"x": 0}).tangent
    'x = 0'
    >>> tangent("x**2 + y**2 = 25", {"x": 3, "y": 4}).tangent
    'y = 6.25 - 0.75*x'
    """
    return cast(TangentLine, call.ask())
