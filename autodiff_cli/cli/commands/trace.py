"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys
from typing import Annotated

from ...derivatives.trace import MODES, trace
from ...streams.requests import default_point
from ...views.characters import terminal_of
from ...views.trace import STEPS, TraceView
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff trace "ln(x1) + x1*x2 - sin(x2)" --at x1=2,x2=5',
    'autodiff trace "x1*x2" --at x1=2,x2=5 --mode forward --direction x1=1',
    'autodiff trace "tanh(w*x + b)" --at w=2,x=1,b=-1 --output trace.tex',
    'autodiff trace "(w*x + b)**2" --at w=2,x=1,b=-1 --blanks --format plain',
)

Mode = Annotated[
    str | None,
    options.Option(
        "--mode",
        "reverse: adjoints, backward (default); forward: tangents along a direction.",
        "NAME",
        choices=MODES,
        main=True,
    ),
]
Lines = Annotated[
    int | None,
    options.Option(
        "--lines",
        f"The number of lines shown of each trace, {STEPS} by default; machine formats have all.",
        "N",
        range=(1, 10_000_000),
        main=True,
    ),
]

Blanks = Annotated[
    bool, options.Option("--blanks", "Print a worksheet: leave the numbers blank, to be filled in.", main=True)
]


def run(
    *,
    program: options.Program,
    mode: Mode = None,
    direction: options.Direction = None,
    blanks: Blanks = False,
    answers: Annotated[options.Answers, options.formats(TraceView().formats)],
    document: options.Document = False,
    lines: Lines = None,
) -> int:
    """Show every step of evaluation and backpropagation."""
    speeds = default_point(direction)
    inputs = Inputs.of(program, answers, document)
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    return answer_all(
        inputs,
        lambda request: trace(request.text, request.point, wrt=request.wrt, mode=mode or "reverse", direction=speeds),
        TraceView(unicode=letters, digits=answers.shown, steps=lines or STEPS, blanks=blanks),
    )
