"""`autodiff graph`: a picture of the graph of a program."""

import sys
from typing import Annotated

from ..errors import ExpressionError
from ..questions.graph import picture, symbolic_picture
from ..streams import options
from ..streams.driver import Inputs, answer_one
from ..streams.files import Output
from ..views.formats import writer
from ..views.graph import FORMATS, THEMES, format_of, theme_of, view

EXAMPLE = 'autodiff graph "o = tanh(x*w + b)" --at x=2,w=-3,b=6.5'

Format = Annotated[
    str | None,
    options.formats(FORMATS, "by default what the file's name says, else tree. png needs the extra `draw`"),
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
    expr: options.OneExpr = None,
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
    binary: options.Binary = False,
) -> int:
    """A picture of the graph: every operation, with value and derivative at every node."""
    inputs = Inputs(expr, at, wrt, file, format)
    path = None if output == "-" else output
    chosen = format_of(format, path)
    inputs.need(only="a picture is drawn of one program at a time, not of a stream")
    if chosen == "png" and path is None and sys.stdout.isatty():
        raise ExpressionError(
            "usage", "a PNG cannot be shown on a terminal", hint="write it to a file: `--output graph.png`"
        )
    shown = view(digits=digits, depth=depth, theme=theme_of(theme), binary=binary)
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
