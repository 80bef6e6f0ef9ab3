"""`autodiff minimize`: a minimum by one of SciPy's optimisers."""

from typing import Annotated

from ...errors import Diagnostic
from ...inputs.bounds import parse_ranges
from ...optimize.minimize import METHODS, SECOND_ORDER_STEPS, STEPS, TOLERANCE, Minimum, minimize
from ...streams.requests import Request
from ...views.minimize import MinimumView, verdict
from .. import options
from ..runner import Inputs, answer_all
from ..searches import Saved, Searches
from . import data_over

EXAMPLES = (
    'autodiff minimize "100*(y - x**2)**2 + (1 - x)**2" --at x=-1.2,y=1',
    'autodiff minimize "(x - 3)**2 + y**2" --at x=0,y=1 --bounds x=0:1,y=0: --json',
    "printf 'x,y\\n0,0\\n1,0\\n2,1\\n1,1\\n' | autodiff minimize \"s = w*x + b; softplus(s) - y*s\" --data - "
    "--reduce mean --at w=0,b=0",
)

NO = "no: the search did not converge"
"""When the exit code is 1."""

Method = Annotated[
    str | None,
    options.Option(
        "--method",
        f"{', '.join(METHODS)}; bfgs by default, l-bfgs-b with bounds or many variables.",
        "NAME",
        choices=tuple(METHODS),
        main=True,
    ),
]
Tolerance = Annotated[
    float | None,
    options.Option(
        "--gradient-tolerance",
        f"The largest partial derivative that counts as zero, {TOLERANCE:g} by default.",
        "X",
        main=True,
    ),
]
Steps = Annotated[
    int | None,
    options.Option(
        "--steps", f"The maximum number of steps ({STEPS:,}; {SECOND_ORDER_STEPS:,} with the Hessian).", "N",
        range=(1, 1_000_000_000), main=True),
]  # fmt: skip


def run(
    *,
    program: options.Program,
    method: Method = None,
    bounds: options.Bounds = None,
    gradient_tolerance: Tolerance = None,
    steps: Steps = None,
    loss: options.Loss,
    answers: options.Answers,
    saves: options.Saves,
) -> int:
    """Minimise a formula with SciPy, with exact gradients.

    Methods that use second derivatives get the exact Hessian. The command exits with 1 unless the search converged. It
    needs the extra `optimize`.
    """
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
            request.text, request.point, wrt=request.wrt, method=method, bounds=limits, tolerance=tolerance,
            steps=steps, stop=stop, over=over,
        ),
        lambda found: found.converged,
        many=inputs.many,
        chosen=chosen,
        told=lambda found: Diagnostic("minimum", verdict(found)),
    )  # fmt: skip

    def answer(request: Request) -> Minimum:
        found = searches.answer(request)
        for row in found.path:
            saved.row(row)
        saved.best = found.point
        return found

    code = answer_all(inputs, answer, shown, chosen=chosen)
    saved.finish(code)
    return max(code, searches.code)
