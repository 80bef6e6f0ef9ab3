"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from typing import Any

from ...errors import Diagnostic
from ...optimize.minimize import Minimum, minimize
from ...streams.requests import Request
from ...views.minimize import MinimumView, verdict
from .. import options
from ..call import Call
from ..runner import Inputs, answer_all, asking
from ..searches import Saved, Searches
from . import data_over


def run(
    *,
    program: options.Program,
    loss: options.Loss,
    answers: options.Answers,
    saves: options.Saves,
    **typed: Any,
) -> int:
    """Minimise a formula with SciPy, with exact gradients; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need()
    over = data_over(loss, answers, inputs)
    shown = MinimumView(digits=answers.shown)
    chosen = inputs.chosen(shown.formats)
    saved = Saved(inputs, saves)
    method = asking(minimize, Call(typed), over=over)
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
        saved.best = result.path[-1].start_again
        return result

    code = answer_all(inputs, answer, shown, chosen=chosen)
    saved.finish(code)
    return max(code, searches.code)
