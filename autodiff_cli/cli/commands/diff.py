"""`autodiff diff`: the derivative of a program as a formula."""

import sys
from typing import Annotated

from ...formulas.diff import LANGUAGES, diff
from ...inputs.arithmetic import chosen
from ...views.characters import terminal_of
from ...views.diff import DiffView
from ...views.formats import language_of
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff diff "x**2*exp(-x/2)"',
    'autodiff diff "x**3*sin(y)" --wrt x --order 2 --at x=2,y=1',
    'autodiff diff "x**2*sin(3x)" --steps',
    'autodiff diff "x**n" --assume "x > 0"',
    'autodiff diff "tanh(w*x + b)" --share --to latex',
)

AT = options.Option(
    "--at",
    "Also evaluate the derivatives at this point: `x=-2,y=pi/4`, or `@point.json`. Repeats.",
    "POINT",
    value_syntax="=",
    python_type="At",
    main=True,
)
Order = Annotated[
    int | None, options.Option("--order", "The number of times to differentiate, 1 by default.", "N", main=True)
]
Share = Annotated[
    bool,
    options.Option("--share", "Name common subexpressions, so that long derivatives stay short: `t1 = …;`.", main=True),
]
Steps = Annotated[
    bool,
    options.Option(
        "--steps",
        "Also show the derivation, rule by rule, as worked by hand.",
        conflicts=("--share", "--to python"),
        main=True,
    ),
]
Everywhere = Annotated[
    bool,
    options.Option(
        "--everywhere",
        "Give formulas that also hold at kinks and single points, with case distinctions, instead of shorter ones.",
    ),
]
Assume = Annotated[
    list[str] | None,
    options.Option(
        "--assume",
        "Simplify for variables that satisfy these conditions: `x > 0, 0 < t < 1, n integer`. Repeats.",
        "CONDITIONS",
        python_type="str | Sequence[str] | None",
        main=True,
    ),
]
To = Annotated[
    str | None,
    options.Option(
        "--to", f"{', '.join(LANGUAGES)}; by default from the name of `--output`, else text.", "LANGUAGE",
        choices=tuple(LANGUAGES), main=True),
]  # fmt: skip


def run(
    *,
    program: Annotated[options.Program, AT],
    order: Order = None,
    share: Share = False,
    steps: Steps = False,
    everywhere: Everywhere = False,
    assume: Assume = None,
    to: To = None,
    answers: Annotated[options.Answers, options.formats(DiffView().formats)],
    document: options.Document = False,
    numbers: options.Numbers,
) -> int:
    """Differentiate a formula into formulas.

    The derivatives are simplified by rules that hold in the whole domain. With a point, their values are shown too.
    """
    inputs = Inputs.of(program, answers, document)
    language = language_of(to, inputs.format, inputs.output, LANGUAGES, "text")
    arithmetic = chosen(*numbers)
    letters = inputs.output is not None or terminal_of(sys.stdout).unicode
    return answer_all(
        inputs,
        lambda request: diff(
            request.text,
            request.point,
            wrt=request.wrt,
            order=1 if order is None else order,
            share=share,
            steps=steps,
            everywhere=everywhere,
            assume=assume,
            language=language,
            arithmetic=arithmetic,
        ),
        DiffView(digits=answers.shown, unicode=letters, steps=steps),
        otherwise="latex" if language == "latex" else "table",
    )
