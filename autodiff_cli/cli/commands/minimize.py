"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from ...errors import Diagnostic
from ...optimize.minimize import Minimum, minimize
from ...streams.requests import Request
from ...views.minimize import MinimumView, verdict
from ..call import Call
from ..runner import Inputs, answer_all, asking
from ..searches import Saved, Searches
from . import data_over


def run(call: Call) -> int:
    """Minimise a formula with SciPy, with exact gradients; return the exit code."""
    inputs = Inputs.of(call)
    inputs.need()
    over = data_over(call, inputs)
    shown = MinimumView(digits=call.answers.shown)
    chosen = inputs.chosen(shown.formats)
    saved = Saved(inputs, call.saves)
    method = asking(minimize, call, over=over)
    searches = Searches(
        lambda request, stop: method(request, stop=stop),
        lambda result: result.converged,
        many=inputs.many,
        chosen=chosen,
        warning=lambda result: Diagnostic("minimum", verdict(result)),
    )

    def answer(request: Request) -> Minimum:
        result = searches.answer(request)
        for row in result.path:
            saved.row(row)
        saved.keep(result.point, result.units)
        return result

    code = answer_all(inputs, answer, shown, chosen=chosen)
    saved.finish(code)
    return max(code, searches.code)
