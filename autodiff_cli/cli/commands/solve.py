"""`autodiff solve`: solve equations, and differentiate the solution."""

from collections.abc import Callable, Mapping

from ...equations.solve import Solved, posed_equations, solve
from ...inputs.parse_point import may_sweep
from ...inputs.problem import Quantity
from ...streams.requests import Reading, Request, names, unknowns_of_object
from ...views.solve import SolvedView
from ..call import Call
from ..runner import Inputs, RowQuestion, asking
from ..searches import Searches, unconverged
from . import answer_at


def run(call: Call) -> int:
    """Solve equations, and differentiate the solution; return the exit code."""
    inputs = Inputs.of(call, Reading(keys={"for": unknowns_of_object}))
    inputs.need()
    shown = SolvedView(digits=call.answers.shown, relative=call.relative, sort=call.sort)
    several = bool(call.rows.points) or may_sweep(inputs.at)
    chosen = "" if several else inputs.chosen(shown.formats)
    method = asking(solve, call.by_row)

    def asked(request: Request, stop: Callable[[], bool]) -> Solved:
        own = {"unknowns": request.more["for"]} if "for" in request.more else {}
        return method(request, stop=stop, **own)

    searches = Searches(
        asked,
        lambda result: result.converged,
        many=inputs.many or several,
        chosen=chosen,
        warning=unconverged,
    )
    between = call.between
    ranges = between.values() if isinstance(between, Mapping) else [between or ()]
    question = RowQuestion(
        "solve",
        call.arithmetic,
        call.answers.shown,
        lambda text, point: posed_equations(text, point, call.unknowns, between, names(inputs.wrt), dimensions=False),
        # bounds with units ask for those of the headings too
        units=call.units or [str(end.unit) for ends in ranges for end in ends if isinstance(end, Quantity)],
        equations=True,
    )
    return max(answer_at(inputs, call, searches.answer, shown, question, chosen=chosen), searches.code)
