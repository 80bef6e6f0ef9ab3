"""The Python function of `jacobian`."""

from __future__ import annotations

from typing import Any

from ...api.api_answers import Answer, as_numbers
from ...api.calls import function_of
from . import jacobian as _jacobian
from .function_or_text import of_functions_too


class Jacobian(
    Answer, _jacobian.Jacobian, shows=("outputs", "values", "jacobian", "product", "gradient")
):
    """The partial derivatives of every output, or their product with a `direction` or an `adjoint`.

    >>> jacobian("x*y, x + y", {"x": 2, "y": 3}).jacobian
    [[3.0, 2.0], [1.0, 1.0]]
    >>> jacobian("x*y, x + y", "x=2,y=3", adjoint="1,2").gradient
    {'x': 5.0, 'y': 4.0}

    Of a Python function it returns the function of its derivatives: `jacobian(f, argnums)`, as
    `grad` does.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        product = [*(self.gradient or {}).values()] if self.product is None else self.product
        return as_numbers(product if self.jacobian is None else self.jacobian, dtype)


jacobian = of_functions_too(function_of(Jacobian, "jacobian"))
