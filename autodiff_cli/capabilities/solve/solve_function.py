"""The Python function of `solve`."""

from __future__ import annotations

from ...api.api_answers import Answer
from ...api.calls import function_of
from . import solve as _solve


class Solved(Answer, _solve.Solved):
    """Solve equations, or find where an expression is 0, and differentiate the solution.

    `for_` are the unknowns (the option `--for`), `between` their bounds: two numbers for one
    unknown, else by name. Several equations need the extra `optimize`.

    >>> answer = solve("x**2 = a", {"a": 2}, between=(0, 2))
    >>> round(answer.solutions[0].values["x"], 10), answer.solutions[0].simple
    (1.4142135624, True)
    """

    def __repr__(self) -> str:
        text = "; ".join(
            ", ".join(f"{n} = {float(x):.6g}" for n, x in solution.values.items())
            for solution in self.solutions
        )
        return f"<Solved: {text or self.message}>"


solve = function_of(Solved, "solve")
