"""The Python function of `integrate`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .integrate import Integral


@answers("integrate")
def integrate(call: PythonCall) -> Integral:
    """An antiderivative, checked by differentiating it, or a definite integral with proven digits.

    >>> integrate("x**2").antiderivative
    'x**3/3'
    >>> answer = integrate("x**2", between="x=0:1")
    >>> answer.kind, answer.formula, answer.digits
    ('exact', '1/3', '0.33333333333333333')
    >>> integrate("1/x", between="x=0:1").converges
    False
    """
    return cast(Integral, call.ask())
