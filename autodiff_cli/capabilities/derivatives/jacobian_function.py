"""The Python function of `jacobian`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .function_or_text import of_functions_too
from .jacobian import Jacobian


@of_functions_too
@answers("jacobian")
def jacobian(call: PythonCall) -> Jacobian:
    """The partial derivatives of every output, or their product with a `direction` or an `adjoint`.

    >>> jacobian("x*y, x + y", {"x": 2, "y": 3}).jacobian
    [[3.0, 2.0], [1.0, 1.0]]
    >>> jacobian("x*y, x + y", "x=2,y=3", adjoint="1,2").gradient
    {'x': 5.0, 'y': 4.0}

    Of a Python function it returns the function of its derivatives: `jacobian(f, argnums)`, as
    `grad` does.
    """
    return cast(Jacobian, call.ask())
