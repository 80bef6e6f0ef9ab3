"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from ...errors import Diagnostic
from ...inputs.bounds import parse_ranges
from ...optimize.minimize import TOLERANCE, Minimum, minimize
from ...streams.requests import Request
from ...views.minimize import MinimumView, verdict
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Saved, Searches
from . import data_over


def run(
    *,
    program: options.Program,
    method: str | None = None,
    bounds: list[str] | None = None,
    gradient_tolerance: float | None = None,
    steps: int | None = None,
    loss: options.Loss,
    answers: options.Answers,
    saves: options.Saves,
) -> int:
    """Minimise a formula with SciPy, with exact gradients; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need()
    over = data_over(loss, answers, inputs)
    shown = MinimumView(digits=answers.shown)
    chosen = inputs.chosen(shown.formats)
    saved = Saved(inputs, saves)
    limits = parse_ranges(bounds or ())
    tolerance = TOLERANCE if gradient_tolerance is None else gradient_tolerance
    searches = Searches(
        lambda request, stop: minimize(
            request.text,
            request.point,
            wrt=request.wrt,
            method=method,
            bounds=limits,
            tolerance=tolerance,
            steps=steps,
            stop=stop,
            over=over,
        ),
        lambda result: result.converged,
        many=inputs.many,
        chosen=chosen,
        told=lambda result: Diagnostic("minimum", verdict(result)),
    )

    def answer(request: Request) -> Minimum:
        result = searches.answer(request)
        for row in result.path:
            saved.row(row)
        saved.best = result.point
        return result

    code = answer_all(inputs, answer, shown, chosen=chosen)
    saved.finish(code)
    return max(code, searches.code)
