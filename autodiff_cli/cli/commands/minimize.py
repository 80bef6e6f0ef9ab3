"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from collections.abc import Callable

from ...errors import Diagnostic
from ...optimize.minimize import Minimum, minimize
from ...streams.requests import Request
from ...views.minimize import MinimumView, verdict
from ..runner import Command
from ..searches import Searches


def run(call: Command) -> int:
    """Minimise a formula with SciPy, with exact gradients; return the exit code."""
    call.need()
    method = call.asking(minimize)

    def search(request: Request, stop: Callable[[], bool]) -> Minimum:
        result: Minimum = method(request, stop=stop)
        for row in result.path:
            searches.saved.row(row)
        searches.saved.keep(result.point, result.units)
        return result

    view = MinimumView(**call.shown)
    searches = Searches(call, view, search, warning=lambda result: Diagnostic("minimum", verdict(result)))
    return searches.run()
