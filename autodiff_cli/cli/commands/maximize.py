"""`autodiff maximize`: a maximum by one of SciPy's optimisers."""

from ...views.minimize import MinimumView as MinimumView
from ..call import Call
from . import minimize


def run(call: Call) -> int:
    """Maximise a formula with SciPy, with exact gradients; return the exit code."""
    return minimize.run(Call({**call.values, "maximize": True}))
