"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from ...errors import Diagnostic
from ...optimize.minimize import minimize as question
from ...views.minimize import MinimumView, verdict
from ..runner import Command
from ..searches import Searches


def run(call: Command, *, maximize: bool = False) -> int:
    """Minimise a formula with SciPy, with exact gradients."""
    call.require_program()
    method = call.bind_question(question, maximize=maximize)
    return Searches(
        call,
        MinimumView(**call.view_choices),
        lambda request, stop: method(request, stop=stop),
        warning=lambda result: Diagnostic("minimum", verdict(result)),
    ).run()
