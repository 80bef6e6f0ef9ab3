"""The Python function of `taylor`."""

from __future__ import annotations

from ..derivatives import taylor as _taylor
from .api_answers import Answer
from .calls import function_of


class Taylor(Answer, _taylor.Taylor, shows=("polynomial",)):
    """Taylor coefficients and polynomial in one variable around the point.

    >>> taylor("exp(x)", {"x": 0}, order=3, exact=True).polynomial
    '1 + x + 1/2*x**2 + 1/6*x**3'
    """


taylor = function_of(Taylor, "taylor")
