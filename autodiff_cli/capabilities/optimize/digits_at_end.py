"""Whether the numbers at the end of a search have their digits, and whether a derivative of 0 there
is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...compiled.evaluator import Evaluator
from ...errors import Diagnostic
from .convergence import MAX_HESSIAN, ConvergenceReport
from .descend import lost_digits, underflow_text, underflowed
from .many_starts import CONVERGED

if TYPE_CHECKING:
    from ...engine.numbers.base import Number
    from .convergence import Sense
    from .objective import Objective

# Kinds of points whose derivatives are 0 within rounding errors, as a definite Hessian shows: what
# is shown of them is a remainder of the search, of which no digit is claimed.
PROVEN_KINDS = ("minimum", "maximum", "saddle")


def with_digits(
    problem: Objective, end: ConvergenceReport
) -> tuple[ConvergenceReport, list[Diagnostic]]:
    """Return the report on the end of a search, and warnings about numbers there that have lost
    their digits.

    A point whose derivatives are 0 by an underflow alone is not converged.
    """
    if end.reason == "kink":
        return end, []  # at a kink the derivatives are conventions
    evaluator, row, tolerance = problem.evaluator, end.row, problem.tolerance
    has_converged = end.reason in CONVERGED
    lost = lost_digits(evaluator, row, tolerance)
    if has_converged and any(warning.kind == "lost_digits" for warning in lost):
        return _not_converged(
            end, "rounding loses the digits of the value or of its derivatives there"
        ), lost
    if not isinstance(evaluator, Evaluator) or len(row.free) > MAX_HESSIAN:
        return end, lost
    largest = max(abs(step.value) for step in (*problem.path, row))
    of_value = tolerance * min(1.0, largest)
    is_proven = end.kind in PROVEN_KINDS
    required = end.held if is_proven else ("", *row.free)
    lost = lost_digits(evaluator, row, tolerance, of_value, required)
    if has_converged and not (is_proven or problem.constrained) and (lost or 0.0 in row.partials):
        small = underflowed(evaluator, row)
        if small:
            return _not_converged(end, f"{_underflow(small, problem.sense)}; start elsewhere"), lost
    return end, lost


def _underflow(small: Mapping[str, Number], sense: Sense) -> str:
    return underflow_text({name: -x for name, x in small.items()} if sense.maximize else small)


def _not_converged(end: ConvergenceReport, why: str) -> ConvergenceReport:
    return end._replace(kind=None, verdict="", reason="digits", message=f"not converged: {why}")
