"""The Python function of `taylor`."""

from __future__ import annotations

from typing import Any

from ...api.api_answers import Answer, as_numbers
from ...api.calls import function_of
from . import taylor as _taylor


class Taylor(Answer, _taylor.Taylor, shows=("polynomial",)):
    """Taylor coefficients and polynomial in one variable around the point.

    >>> taylor("exp(x)", {"x": 0}, order=3, exact=True).polynomial
    '1 + x + 1/2*x**2 + 1/6*x**3'
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers(self.coefficients, dtype)


taylor = function_of(Taylor, "taylor")
