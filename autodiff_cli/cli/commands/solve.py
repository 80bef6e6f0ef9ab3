"""`autodiff solve`: solve equations, and differentiate the solution."""

from ...equations.solve import solve
from ...inputs.arithmetic import chosen as arithmetic_of
from ...inputs.bounds import parse_between
from ...streams.requests import Reading, names, unknowns_of_object
from ...views.solve import SolvedView
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Searches, unconverged


def run(
    *,
    program: options.Program,
    unknowns: list[str] | None = None,
    between: list[str] | None = None,
    everything: bool = False,
    order: int | None = None,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """Solve equations, and differentiate the solution; return the exit code."""
    inputs = Inputs.of(program, answers, reading=Reading(keys={"for": unknowns_of_object}))
    inputs.need()
    shown = SolvedView(digits=answers.shown)
    chosen = inputs.chosen(shown.formats)
    arithmetic = arithmetic_of(*numbers)
    looked_for = names(unknowns, "--for")
    bounds = parse_between(between or ())
    searches = Searches(
        lambda request, stop: solve(
            request.text,
            request.point,
            unknowns=request.more.get("for", looked_for),
            between=bounds,
            wrt=request.wrt,
            every=everything,
            order=order or 1,
            arithmetic=arithmetic,
            stop=stop,
        ),
        lambda result: result.converged,
        many=inputs.many,
        chosen=chosen,
        told=unconverged,
    )
    return max(answer_all(inputs, searches.answer, shown, chosen=chosen), searches.code)
