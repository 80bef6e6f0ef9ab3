"""The Python function of `hessian`."""

from __future__ import annotations

from typing import Any

from ...api.api_answers import Answer, as_numbers
from ...api.calls import function_of
from . import hessian as _hessian
from .function_or_text import of_functions_too


class Hessian(Answer, _hessian.Hessian, shows=("value", "hessian", "verdict")):
    """Value, gradient, Hessian and its eigenvalues at a point, and what they say of the point.

    >>> hessian("x*y", {"x": 0, "y": 0}).hessian
    [[0.0, 1.0], [1.0, 0.0]]

    Of a Python function it returns the function of its derivatives: `hessian(f, argnums)`, as
    `grad` does.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers(self.hessian, dtype)


hessian = of_functions_too(function_of(Hessian, "hessian"))
