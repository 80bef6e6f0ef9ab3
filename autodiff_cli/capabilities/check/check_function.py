"""The Python function of `check`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .check import Check


@answers("check")
def check(call: PythonCall) -> Check:
    """How many digits of value and gradient are right at least, by 50-digit arithmetic and by
    differences.

    >>> check("x*exp(-x**2/2)", {"x": 1.5}).agrees
    True
    """
    return cast(Check, call.ask())
