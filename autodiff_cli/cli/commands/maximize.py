"""`autodiff maximize`: a maximum by one of SciPy's optimisers."""

from typing import Any

from ...views.minimize import MinimumView as MinimumView
from . import minimize


def run(**typed: Any) -> int:
    """Maximise a formula with SciPy, with exact gradients; return the exit code."""
    return minimize.run(**typed, maximize=True)
