"""`autodiff solve`: where equations hold, and how that follows their other variables."""

from typing import Annotated

from ..errors import Diagnostic
from ..questions.arithmetic import chosen as arithmetic_of
from ..questions.bounds import parse_between
from ..questions.solve import Solved, solve
from ..streams import options
from ..streams.driver import Inputs, answer_with
from ..streams.requests import Request, names, unknowns_of_object
from ..streams.runs import INTERRUPTED, Searches
from ..views.error import report
from ..views.formats import writer
from ..views.solve import view

EXAMPLES = (
    'autodiff solve "x*exp(x) = a" --for x --at a=1',
    'autodiff solve "tanh(x) = x/2" --between -3:3 --all --certified --format plain',
)

NO = "no solution was found, or it is undecided whether these are all"

Every = Annotated[
    bool,
    options.Option(
        "--all", "All solutions between the bounds; with `--certified` these are proven, and proven to be all."
    ),
]
Order = Annotated[
    int | None, options.Option("--order", "2 gives the second derivatives of the solution too.", "N", range=(1, 2))
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
    """Where equations hold, and the derivatives of that.

    The solution of an equation, or of several, with its derivatives by all other variables, or by those of `--wrt`.
    Exits with 1 where none is found. Several equations need the extra `optimize`.
    """
    inputs = Inputs.of(program, answers)
    inputs = inputs._replace(reading=inputs.reading._replace(keys={"for": unknowns_of_object}))
    inputs.need()
    shown = view(digits=answers.shown)
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
    )  # fmt: skip

    def answer(request: Request) -> Solved:
        found = searches.answer(request)
        if chosen in ("plain", "csv", "tsv") and not found.converged:
            where = f"line {request.asked.line}: " if inputs.many else ""
            report(Diagnostic(found.reason, found.message), None, level="warning", where=where)
        return found

    out = inputs.out()
    code = out.finish(answer_with(inputs, answer, writer(chosen, out.stream, shown, inputs.many)), whole=inputs.many)
    return searches.code if searches.code > INTERRUPTED else code or searches.code
