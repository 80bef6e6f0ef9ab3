"""`autodiff descend`: gradient descent from a point, one row a step."""

import json as encoder
import sys
from typing import Annotated

from ..errors import ExpressionError
from ..questions.descend import RATES, Stops, chosen_rule, descend
from ..streams import files, options
from ..streams.driver import Inputs, answer_with
from ..streams.runs import Runs
from ..views.descend import view
from ..views.formats import writer

EXAMPLE = 'autodiff descend "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3 --rate 0.5 --steps 10'

_rates = ", ".join(f"{rate:g} for {name}" for name, rate in RATES.items())

Rate = Annotated[
    float | None, options.Option("--rate", f"What the gradient is multiplied by in a step ({_rates}).", "X")
]
Steps = Annotated[
    int | None, options.Option("--steps", "How many steps at most, 100 by default.", "N", range=(0, 1_000_000_000))
]
Method = Annotated[
    str | None,
    options.Option("--method", f"{', '.join(RATES)}; plain by default.", "NAME", choices=tuple(RATES)),
]
Momentum = Annotated[
    float | None, options.Option("--momentum", "For momentum and nesterov: the share kept, 0.9 by default.", "X")
]
Beta1 = Annotated[
    float | None, options.Option("--beta1", "For adam: the share kept of the gradient, 0.9 by default.", "X")
]
Beta2 = Annotated[
    float | None, options.Option("--beta2", "For adam: the share kept of its square, 0.999 by default.", "X")
]
Maximize = Annotated[bool, options.Option("--maximize", "Go uphill.")]
GradientTolerance = Annotated[
    float | None,
    options.Option("--gradient-tolerance", "Stop once the gradient norm is so small; none by default.", "X"),
]
ValueTolerance = Annotated[
    float | None,
    options.Option("--value-tolerance", "Stop once a step changes the value by no more; none by default.", "X"),
]


def run(
    *,
    expr: options.Expr = None,
    at: options.At = None,
    rate: Rate = None,
    steps: Steps = None,
    method: Method = None,
    momentum: Momentum = None,
    beta1: Beta1 = None,
    beta2: Beta2 = None,
    maximize: Maximize = False,
    gradient_tolerance: GradientTolerance = None,
    value_tolerance: ValueTolerance = None,
    wrt: options.Wrt = None,
    save_point: options.SavePoint = None,
    force: options.Force = False,
    answers: options.Answers,
    decimals: options.Decimals = None,
) -> int:
    """Gradient descent from a point, one row a step; the start is row 0.

    Without a tolerance it takes all the steps and exits with 0. With one it exits with 1 unless the tolerance was
    reached, as it does when the run diverges.
    """
    inputs = Inputs.of(options.Program(expr, at, wrt), answers)
    inputs.need()
    rule = chosen_rule(method, rate, momentum, beta1, beta2)
    stops = Stops(100 if steps is None else steps, gradient_tolerance, value_tolerance)
    if save_point is not None and inputs.many:
        raise ExpressionError(
            "usage", "`--save-point` takes one point, and a stream has many", hint="give the program as the argument"
        )
    if save_point is not None:
        files.check(save_point, force=force)
    shown = view(digits=answers.digits, decimals=decimals)
    out = Runs(sys.stdout, writer(inputs.chosen, sys.stdout, shown, True), inputs.many)
    code = answer_with(
        inputs,
        lambda request: descend(
            request.text, request.point, wrt=request.wrt, rule=rule, stops=stops, maximize=maximize
        ),
        out,
    )
    if save_point is not None and out.best is not None:
        files.write(save_point, (encoder.dumps(out.best.point) + "\n").encode(), force=force)
    return out.code or code
