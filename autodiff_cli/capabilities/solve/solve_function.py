"""The Python function of `solve`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .solve import Solved


@answers("solve")
def solve(call: PythonCall) -> Solved:
    """Solve equations, or find where an expression is 0, and differentiate the solution.

    `for_` are the unknowns (the option `--for`), `between` their bounds: two numbers for one
    unknown, else by name. Several equations need the extra `optimize`.

    >>> answer = solve("x**2 = a", {"a": 2}, between=(0, 2))
    >>> round(answer.solutions[0].values["x"], 10), answer.solutions[0].simple
    (1.4142135624, True)
    """
    return cast(Solved, call.ask())
