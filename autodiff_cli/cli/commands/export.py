"""`autodiff export`: value and gradient of a program as source code of another language."""

from typing import Annotated

from ...formulas.export import export
from ...targets import TARGETS
from ...targets.dialects import DIALECTS
from ...views.export import ExportedView
from ...views.formats import language_of
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff export "tanh(x*w + b)" --to c',
    'autodiff export "sin(x)*y" --output gradient.py',
    'autodiff export "log(1 + exp(x))" --to numpy --name softplus --wrt x',
    'autodiff export "a*exp(-k*t)" --to sql --dialect postgres',
)

PROGRAM = (options.ONE, options.Without.of("--at"))
ANSWERS = (
    options.Without.of("--digits", "--decimals", "--on-error"),
    options.formats(ExportedView().formats, "table, the code by itself, by default"),
)
To = Annotated[
    str | None,
    options.Option(
        "--to", f"{', '.join(TARGETS)}; by default from the name of `--output`, else python.", "LANGUAGE",
        choices=tuple(TARGETS), main=True),
]  # fmt: skip
Dialect = Annotated[
    str | None,
    options.Option(
        "--dialect",
        f"The dialect of SQL: {', '.join(DIALECTS)}; the first by default.",
        "DATABASE",
        choices=tuple(DIALECTS),
        main=True,
    ),
]
Name = Annotated[
    str | None,
    options.Option(
        "--name", "The name of the generated function, `f` by default.", "NAME", allowed_in_env=False, main=True
    ),
]


def run(
    *,
    program: Annotated[options.Program, *PROGRAM],
    to: To = None,
    dialect: Dialect = None,
    name: Name = None,
    answers: Annotated[options.Answers, *ANSWERS],
    document: options.Document = False,
) -> int:
    """Write value and gradient as a function in another language.

    The code has no branches or loops, computes shared parts once, and uses the same accurate forms as `grad`. No point
    is needed.
    """
    inputs = Inputs.of(program, answers, document)
    inputs.need(only="one program at a time is exported, not a stream")
    target = language_of(to, inputs.format, inputs.output, TARGETS, "python")
    return answer_all(
        inputs,
        lambda request: export(request.text, target, name=name or "f", wrt=request.wrt, dialect=dialect),
        ExportedView(),
        "latex" if target == "latex" else "table",
    )
