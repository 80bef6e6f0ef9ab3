"""The Python function of `integrate`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import integrate as _integrate


class Integral(Answer, _integrate.Integral, shows=("kind", "antiderivative", "formula", "value")):
    """An antiderivative, checked by differentiating it, or a definite integral with proven digits.

    >>> integrate("x**2").antiderivative
    'x**3/3'
    >>> answer = integrate("x**2", between="x=0:1")
    >>> answer.kind, answer.formula, answer.digits
    ('exact', '1/3', '0.33333333333333333')
    >>> integrate("1/x", between="x=0:1").converges
    False
    """


integrate = function_of(Integral, "integrate")
