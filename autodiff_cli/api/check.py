"""The Python function of `check`."""

from __future__ import annotations

from ..accuracy import check as _check
from .api_answers import Answer
from .calls import function_of


class Check(Answer, _check.Check, shows=("agrees", "value", "gradient")):
    """How many digits of value and gradient are right at least, by 50-digit arithmetic and by differences.

    >>> check("x*exp(-x**2/2)", {"x": 1.5}).agrees
    True
    """


check = function_of(Check, "check")
