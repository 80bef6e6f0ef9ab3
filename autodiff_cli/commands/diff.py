"""`autodiff diff`: the derivative of a program as a formula."""

from typing import Annotated

from ..errors import ExpressionError
from ..questions.arithmetic import chosen
from ..questions.diff import LANGUAGES, diff
from ..streams import options
from ..streams.driver import Inputs, answer_all
from ..views.diff import view

EXAMPLE = 'autodiff diff "x**2*exp(-x/2)"'

At = Annotated[
    list[str] | None,
    options.Option("--at", "Also the values there: `x=-2,y=pi/4`, or `@point.json`. Repeats.", "POINT"),
]
Order = Annotated[int | None, options.Option("--order", "How many times to differentiate: 1 by default.", "N")]
Share = Annotated[bool, options.Option("--share", "Name common parts, so that long derivatives stay short: `t1 = …;`.")]
To = Annotated[
    str | None, options.Option("--to", f"{', '.join(LANGUAGES)}; text by default.", "NAME", choices=LANGUAGES)
]


def run(
    *,
    expr: options.Expr = None,
    wrt: options.Wrt = None,
    order: Order = None,
    share: Share = False,
    at: At = None,
    to: To = None,
    answers: options.Answers,
    numbers: options.Numbers,
) -> int:
    """The derivatives of a formula as formulas, simplified, and their values if a point is given."""
    if to is not None and to not in LANGUAGES:
        raise ExpressionError("usage", f"`--to` cannot be `{to}`", hint=f"it takes {', '.join(LANGUAGES)}")
    arithmetic = chosen(*numbers)
    return answer_all(
        Inputs.of(options.Program(expr, at, wrt), answers),
        lambda request: diff(
            request.text,
            request.point,
            wrt=request.wrt,
            order=1 if order is None else order,
            share=share,
            language=to or "text",
            arithmetic=arithmetic,
        ),
        view(digits=answers.digits),
    )
