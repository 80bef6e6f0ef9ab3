"""`autodiff trace`: forward and backward sweep of a program, step by step."""

import sys
from typing import Annotated

from ..questions.trace import MODES, trace
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..streams.requests import default_point
from ..views.characters import look
from ..views.formats import FORMATS
from ..views.trace import STEPS, view

EXAMPLE = 'autodiff trace "ln(x1) + x1*x2 - sin(x2)" --at x1=2,x2=5'

_FORMATS = (*(name for name in FORMATS if name not in ("csv", "tsv")), "latex")

Format = Annotated[str | None, options.formats(_FORMATS)]
Mode = Annotated[
    str | None,
    options.Option(
        "--mode", "reverse: adjoints, backward (default); forward: tangents along a direction.", "NAME", choices=MODES
    ),
]
Direction = Annotated[
    list[str] | None,
    options.Option(
        "--direction", "How fast each variable moves in forward mode: `x1=1,x2=0.5`; others stand still.", "SPEEDS"
    ),
]
Steps = Annotated[
    int | None,
    options.Option(
        "--steps",
        f"How many lines of each trace tables show, {STEPS} by default; other formats have all.",
        "N",
        range=(1, 10_000_000),
    ),
]


def run(
    expr: options.Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    mode: Mode = None,
    direction: Direction = None,
    file: options.File = None,
    format: Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    steps: Steps = None,
) -> int:
    """Every step of evaluation and backpropagation, as one would write it by hand."""
    speeds = default_point(direction)
    return answer_all(
        Inputs(expr, at, wrt, file, "json" if json else format),
        lambda request: trace(request.text, request.point, wrt=request.wrt, mode=mode or "reverse", direction=speeds),
        view(unicode=look(sys.stdout).unicode, digits=digits, steps=steps or STEPS),
    )
