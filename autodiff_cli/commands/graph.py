"""`autodiff graph`: a picture of the graph of a program."""

import sys
from typing import Annotated

from ..errors import ExpressionError
from ..questions.graph import picture, symbolic_picture
from ..streams.answers import Inputs, answer_one, no_expression
from ..streams.files import Output
from ..views.formats import writer
from ..views.graph import FORMATS, THEMES, format_of, theme_of, view
from . import options

EXAMPLE = 'autodiff graph "o = tanh(x*w + b)" --at x=2,w=-3,b=6.5'

Expr = Annotated[
    str | None, options.Argument("[EXPR]", "The formula or program; one program in a file is read by `--file`.")
]
Format = Annotated[
    str | None,
    options.Option(
        "--format",
        f"{', '.join(FORMATS)}; by default what the file's name says, else tree. png needs the extra `draw`.",
        "NAME",
        choices=FORMATS,
    ),
]
Symbolic = Annotated[bool, options.Option("--symbolic", "Draw the graph without numbers; no point is needed.")]
Theme = Annotated[
    str | None,
    options.Option(
        "--theme",
        f"{', '.join(THEMES)}: the colours of svg and png; auto follows the reader's.",
        "NAME",
        choices=THEMES,
    ),
]


def run(
    expr: Expr = None,
    at: options.At = None,
    wrt: options.Wrt = None,
    file: options.File = None,
    format: Format = None,
    output: options.Output = None,
    force: options.Force = False,
    symbolic: Symbolic = False,
    theme: Theme = None,
    digits: options.Digits = None,
    depth: options.Depth = None,
    debug: options.Debug = False,
) -> int:
    """A picture of the graph: every operation, with value and derivative at every node."""
    inputs = Inputs("graph", EXAMPLE, expr, at, wrt, file, format)
    path = None if output == "-" else output
    chosen = format_of(format, path)
    if inputs.waits():
        return no_expression(inputs)
    if file is None and expr in (None, "-"):
        raise ExpressionError(
            "usage", "a picture is drawn of one program at a time, not of a stream",
            hint="give the program as the argument, or read it with `--file -`",
        )  # fmt: skip
    if chosen == "png" and path is None and sys.stdout.isatty():
        raise ExpressionError(
            "usage", "a PNG cannot be shown on a terminal", hint="write it to a file: `--output graph.png`"
        )
    shown = view(digits=digits, depth=depth, theme=theme_of(theme))
    out = Output(path, force=force)
    code = answer_one(
        inputs,
        lambda request: (
            symbolic_picture(request.text, request.point)
            if symbolic
            else picture(request.text, request.point, wrt=request.wrt)
        ),
        writer("table" if chosen == "tree" else chosen, out.stream, shown, many=False),
    )
    return out.finish(code)
