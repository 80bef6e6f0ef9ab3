"""The Python function of `grad`."""

from __future__ import annotations

from typing import Any, cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .gradient import Gradient


@answers(
    "grad",
    overloads=[
        ("GradientRanges", {"over": "Any"}),
        (
            "Gradient[float]",
            {"exact": "Literal[False]", "precision": "None", "certified": "Literal[False]"},
        ),
        ("Gradient[Any]", {}),
    ],
)
def gradient(call: PythonCall) -> Gradient[Any]:
    """The value of the program `text` at the point `at`, and its partial derivatives by `wrt`, or
    by all variables.

    With `exact`, `precision` or `certified` the numbers are `Figure`s, with all their digits as
    `text`; numbers of the point are then the decimals that they are written as. Angles are in
    radians. Raises `ExpressionError`, whose `kind` is a key of `errors.EXIT_CODES`.

    Over `data` (columns by name, a frame, an Arrow table, or the name of a file) the program is one
    row's term, and `reduce` is "sum" or "mean"; with `on_error="skip"` rows without a value are
    left out.

    >>> answer = gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3})
    >>> answer.value, answer.gradient
    (2.5, {'w1': 1.0, 'w2': -2.0})
    >>> gradient("x**2/3", {"x": 0.1}, exact=True).gradient["x"].text
    '1/15'

    Over a box of variables, with `certified`, the answer is a `GradientRanges`:

    >>> gradient("x*exp(-x)", over={"x": (0.2, 0.9)}, certified=True).ranges[1].monotonicity
    'increasing'

    Of a list or array in the point there is the derivative in its shape, besides those of its
    entries:

    >>> found = gradient("sum(W @ x)", {"W": [[1, 2], [3, 4]], "x": [5, 6]}).gradient
    >>> found["W"], found["W[2,1]"]
    ([[5.0, 6.0], [5.0, 6.0]], 5.0)
    """
    return cast(Gradient[Any], call.ask())
