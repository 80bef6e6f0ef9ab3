"""The Python function of `trace`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .trace import Trace


@answers("trace")
def trace(call: PythonCall) -> Trace:
    """Every step of the program's evaluation and backpropagation; with `mode="forward"` along a
    `direction`.

    With `blanks` it is shown without the numbers that are to be found.

    >>> trace("log(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}).gradient["x1"]
    5.5
    """
    return cast(Trace, call.ask())
