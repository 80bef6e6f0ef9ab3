"""`autodiff solve`: solve equations, and differentiate the solution."""

from typing import Annotated

from ...equations.solve import solve
from ...inputs.arithmetic import chosen as arithmetic_of
from ...inputs.bounds import parse_between
from ...streams.requests import Reading, names, unknowns_of_object
from ...views.solve import SolvedView
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Searches, unconverged

EXAMPLES = (
    'autodiff solve "x*exp(x) = a" --for x --at a=1',
    'autodiff solve "tanh(x) = x/2" --between -3:3 --all --certified --format plain',
)

NO = "no: no solution was found, or it is undecided whether these are all"

Every = Annotated[
    bool,
    options.Option(
        "--all",
        "Find all solutions between the bounds; `--certified` proves each, and that there are no others.",
        main=True,
    ),
]
Order = Annotated[
    int | None,
    options.Option(
        "--order", "Also compute second derivatives of the solution: 2. Default: 1.", "N", range=(1, 2), main=True
    ),
]


def run(
    *,
    program: options.Program,
    unknowns: options.Unknowns = None,
    between: options.Between = None,
    everything: Every = False,
    order: Order = None,
    answers: options.Answers,
    numbers: Annotated[options.Numbers, options.Without.of("--exact")],
) -> int:
    """Solve equations, and differentiate the solution.

    The answer is the solution of one equation or of several, with its derivatives with respect to all other variables,
    or to those of `--wrt`. The command exits with 1 if it finds none. Several equations need the extra `optimize`.
    """
    inputs = Inputs.of(program, answers, reading=Reading(keys={"for": unknowns_of_object}))
    inputs.need()
    shown = SolvedView(digits=answers.shown)
    chosen = inputs.chosen(shown.formats)
    arithmetic = arithmetic_of(*numbers)
    looked_for = names(unknowns, "--for")
    bounds = parse_between(between or ())
    searches = Searches(
        lambda request, stop: solve(
            request.text, request.point, unknowns=request.more.get("for", looked_for), between=bounds, wrt=request.wrt,
            every=everything, order=order or 1, arithmetic=arithmetic, stop=stop,
        ),
        lambda found: found.converged,
        many=inputs.many,
        chosen=chosen,
        told=unconverged,
    )  # fmt: skip
    return max(answer_all(inputs, searches.answer, shown, chosen=chosen), searches.code)
