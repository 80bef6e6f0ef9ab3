"""The Python function of `taylor`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .taylor import Taylor


@answers("taylor")
def taylor(call: PythonCall) -> Taylor:
    """Taylor coefficients and polynomial in one variable around the point.

    >>> taylor("exp(x)", {"x": 0}, order=3, exact=True).polynomial
    '1 + x + 1/2*x**2 + 1/6*x**3'
    """
    return cast(Taylor, call.ask())
