"""The Python function of `fit`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .fit import Fit


@answers("fit", "data", "at")
def fit(call: PythonCall) -> Fit:
    """The parameters of a formula from data, by least squares. Needs the extra `optimize`, a
    picture `plot`.

    `data` are columns by name, or a file that has them; `at` has starts, which parameters need in
    which the formula is not linear.

    >>> answer = fit("y = a + b*x", data={"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    >>> round(answer.parameters["b"].estimate, 6), round(answer.parameters["b"].error, 6)
    (2.02, 0.042426)
    >>> answer.predict(x=[4, 5]).round(6).tolist()
    [9.05, 11.07]
    """
    return cast(Fit, call.ask())
