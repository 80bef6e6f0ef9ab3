"""The Python functions of `minimize` and `maximize`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .minimize import Minimum


@answers("minimize")
def minimize(call: PythonCall) -> Minimum:
    """Minimise a program with SciPy, with the exact gradient and Hessian. Needs the extra
    `optimize`.

    >>> answer = minimize("(x - 3)**2 + 1", {"x": 0})
    >>> answer.point, answer.converged, answer.kind
    ({'x': 3.0}, True, 'minimum')
    >>> answer.x
    array([3.])
    """
    return cast(Minimum, call.ask())


@answers("maximize")
def maximize(call: PythonCall) -> Minimum:
    """Maximise a program with SciPy, as `minimize` does its negative; value and gradient are the
    program's.

    >>> answer = maximize("2 - (x - 3)**2", {"x": 0})
    >>> answer.point, answer.value, answer.kind
    ({'x': 3.0}, 2.0, 'maximum')
    """
    return cast(Minimum, call.ask())
