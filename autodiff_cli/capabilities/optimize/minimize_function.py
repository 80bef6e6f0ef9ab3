"""The Python functions of `minimize` and `maximize`."""

from __future__ import annotations

from typing import Any, cast

from ...api.api_answers import Answer, as_numbers
from ...api.api_arguments import PythonCall
from ...api.calls import answers, function_of
from . import minimize as _minimize


class Minimum(Answer, _minimize.Minimum, shows=("value", "point", "converged", "verdict")):
    """Minimise a program with SciPy, with the exact gradient and Hessian. Needs the extra
    `optimize`.

    >>> answer = minimize("(x - 3)**2 + 1", {"x": 0})
    >>> answer.point, answer.converged, answer.kind
    ({'x': 3.0}, True, 'minimum')
    >>> answer.x
    array([3.])
    """

    @property
    def x(self) -> Any:
        """The point as an array, in the order of `point`, as SciPy's result has it."""
        return as_numbers([*self.point.values()])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([*self.point.values()], dtype)


minimize = function_of(Minimum, "minimize")


@answers("maximize")
def maximize(call: PythonCall) -> Minimum:
    """Maximise a program with SciPy, as `minimize` does its negative; value and gradient are the
    program's.

    >>> answer = maximize("2 - (x - 3)**2", {"x": 0})
    >>> answer.point, answer.value, answer.kind
    ({'x': 3.0}, 2.0, 'maximum')
    """
    return cast(Minimum, call.question_method()(call.request))
