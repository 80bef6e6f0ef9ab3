"""`autodiff maximize`: a maximum by one of SciPy's optimisers."""

from ...views.minimize import MinimumView as MinimumView
from ..runner import Command
from . import minimize


def run(call: Command) -> int:
    """Maximise a formula with SciPy, with exact gradients."""
    return minimize.run(call, maximize=True)
