"""The Python function of `hessian`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .function_or_text import of_functions_too
from .hessian import Hessian


@of_functions_too
@answers("hessian")
def hessian(call: PythonCall) -> Hessian:
    """Value, gradient, Hessian and its eigenvalues at a point, and what they say of the point.

    >>> hessian("x*y", {"x": 0, "y": 0}).hessian
    [[0.0, 1.0], [1.0, 0.0]]

    Of a Python function it returns the function of its derivatives: `hessian(f, argnums)`, as
    `grad` does.
    """
    return cast(Hessian, call.ask())
