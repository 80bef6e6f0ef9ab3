"""`autodiff export`: value and gradient of a program as source code of another language."""

from typing import Annotated

from ..errors import ExpressionError
from ..questions.export import export
from ..streams import options
from ..streams.driver import Inputs, answer_one
from ..streams.files import Output
from ..targets import TARGETS
from ..views.export import view
from ..views.formats import writer

EXAMPLE = 'autodiff export "tanh(x*w + b)" --to c'

To = Annotated[
    str | None, options.Option("--to", f"{', '.join(TARGETS)}; python by default.", "TARGET", choices=TARGETS)
]
Name = Annotated[str | None, options.Option("--name", "The name of the function, `f` by default.", "NAME")]


def run(
    expr: options.OneExpr = None,
    to: To = None,
    name: Name = None,
    wrt: options.Wrt = None,
    file: options.File = None,
    output: options.Output = None,
    force: options.Force = False,
    json: options.Json = False,
) -> int:
    """A function that computes value and gradient, in another language; no point is needed.

    Straight-line code with shared parts named once, in the accurate forms that `grad` uses.
    """
    inputs = Inputs(expr, None, wrt, file, None)
    inputs.need(only="one program at a time is exported, not a stream")
    path = None if output == "-" else output
    if json and path is not None:
        raise ExpressionError("usage", "a record is not written to a file", hint="leave out `--json` or `--output`")
    out = Output(path, force=force)
    code = answer_one(
        inputs,
        lambda request: export(request.text, to or "python", name=name or "f", wrt=request.wrt),
        writer("json" if json else "table", out.stream, view(), many=False),
    )
    return out.finish(code)
