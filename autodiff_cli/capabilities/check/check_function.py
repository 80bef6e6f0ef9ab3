"""The Python function of `check`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import check as _check


class Check(Answer, _check.Check, shows=("agrees", "value", "gradient")):
    """How many digits of value and gradient are right at least, by 50-digit arithmetic and by
    differences.

    >>> check("x*exp(-x**2/2)", {"x": 1.5}).agrees
    True
    """


check = function_of(Check, "check")
