"""The Python function of `trace`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import trace as _trace


class Trace(Answer, _trace.Trace, shows=("value", "gradient", "tangent")):
    """Every step of the program's evaluation and backpropagation; with `mode="forward"` along a
    `direction`.

    With `blanks` it is shown without the numbers that are to be found.

    >>> trace("log(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}).gradient["x1"]
    5.5
    """


trace = function_of(Trace, "trace")
