"""Whether the numbers at the end of a search have their digits, and whether a derivative of 0 there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...compiled.evaluator import Evaluator
from ...errors import Diagnostic
from .convergence import MAX_HESSIAN, ConvergenceReport
from .descend import lost_digits, underflow_text, underflowed
from .many_starts import CONVERGED

if TYPE_CHECKING:
    from .objective import Objective

PROVEN_KINDS = ("minimum", "maximum", "saddle")
"""Kinds of points whose derivatives are 0 within rounding errors, as a definite Hessian shows: what is shown of them is
a remainder of the search, of which no digit is claimed."""


def with_digits(problem: Objective, end: ConvergenceReport) -> tuple[ConvergenceReport, list[Diagnostic]]:
    """Return the report on the end of a search, and warnings about numbers there that have lost their digits.

    A point whose derivatives are 0 by an underflow alone is not converged.
    """
    if end.reason == "kink":
        return end, []  # at a kink the derivatives are conventions
    evaluator, row, tolerance = problem.evaluator, end.row, problem.tolerance
    largest = max(abs(step.value) for step in (*problem.path, row))
    of_value = tolerance * min(1.0, largest)
    lost = lost_digits(evaluator, row, tolerance, of_value)
    if any(warning.kind == "lost_digits" for warning in lost) and end.reason in CONVERGED:
        return _not_converged(end, "rounding loses the digits of the value or of its derivatives there"), lost
    if not isinstance(evaluator, Evaluator) or len(row.free) > MAX_HESSIAN:
        return end, lost
    is_proven = end.kind in PROVEN_KINDS
    required = end.held if is_proven else ("", *row.free)
    lost = lost_digits(evaluator, row, tolerance, of_value, required) if required else lost
    if is_proven or end.reason not in CONVERGED or problem.constrained or not (lost or 0.0 in row.partials):
        return end, lost
    small = underflowed(evaluator, row)
    if not small:
        return end, lost
    if problem.sense.maximize:
        small = {name: -x for name, x in small.items()}
    return _not_converged(end, f"{underflow_text(small)}; start elsewhere"), lost


def _not_converged(end: ConvergenceReport, why: str) -> ConvergenceReport:
    return end._replace(kind=None, verdict="", reason="digits", message=f"not converged: {why}")
