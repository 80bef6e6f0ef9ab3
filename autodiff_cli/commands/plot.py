"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

import sys
from typing import Annotated

from ..errors import ExpressionError
from ..questions.plot import plot
from ..questions.ranges import parse_ranges
from ..questions.surface import read_path
from ..streams import files
from ..streams.answers import Inputs, answer_one, no_expression
from ..views.formats import writer
from ..views.plot import FORMATS, PICTURES, format_of, view
from . import options

EXAMPLE = 'autodiff plot "3x² − 4x + 5" --at x=3 --range x=-2:4'

Expr = Annotated[
    str | None, options.Argument("[EXPR]", "The formula or program; one program in a file is read by `--file`.")
]
Range = Annotated[
    list[str] | None,
    options.Option("--range", "From where to where: `x=-2:4`, or `x=-2:2,y=-1:3`; else around the point.", "RANGES"),
]
Path = Annotated[
    str | None,
    options.Option("--path", "Over two variables: also the path of a run, the jsonl or csv of `descend`.", "PATH"),
]
Format = Annotated[
    str | None,
    options.Option(
        "--format", f"{', '.join(FORMATS)}; by default what the file's name says, else table.", "NAME", choices=FORMATS
    ),
]


def run(
    expr: Expr = None,
    at: options.At = None,
    range: Range = None,
    wrt: options.Wrt = None,
    path: Path = None,
    file: options.File = None,
    format: Format = None,
    json: options.Json = False,
    output: options.Output = None,
    force: options.Force = False,
    digits: options.Digits = None,
    debug: options.Debug = False,
) -> int:
    """A function with its derivative, its tangent and where it breaks; over two variables its contours and gradient.

    On the terminal, or as SVG or PNG. Drawing needs the extra `plot`.
    """
    inputs = Inputs("plot", EXAMPLE, expr, at, wrt, file, "json" if json else format)
    if inputs.waits():
        return no_expression(inputs)
    target = None if output == "-" else output
    chosen = format_of(inputs.format, target)
    if inputs.many:
        raise ExpressionError(
            "usage", "a plot is drawn of one program at a time, not of a stream",
            hint="give the program as the argument, or read it with `--file -`",
        )  # fmt: skip
    if chosen in PICTURES and target is None and sys.stdout.isatty():
        raise ExpressionError(
            "usage", f"`--format {chosen}` is not for a terminal", hint=f"write it to a file: `--output plot.{chosen}`"
        )
    if target is not None:
        files.check(target, force=force)
    out = files.Output(target, force=force)
    ranges = parse_ranges(range or ())
    steps = read_path(path) if path is not None else []
    code = answer_one(
        inputs,
        lambda request: plot(request.text, request.point, wrt=request.wrt, ranges=ranges, path=steps),
        writer(chosen, out.stream, view(digits=digits), many=False),
    )
    return out.finish(code)
