"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

import sys
from typing import Annotated

from ..errors import ExpressionError
from ..questions.bounds import parse_ranges
from ..questions.plot import plot
from ..questions.surface import read_path
from ..streams import files, options
from ..streams.driver import Inputs, answer_one
from ..views.formats import writer
from ..views.plot import FORMATS, PICTURES, format_of, view

EXAMPLE = 'autodiff plot "3x² − 4x + 5" --at x=3 --range x=-2:4'

Range = Annotated[
    list[str] | None,
    options.Option("--range", "From where to where: `x=-2:4`, or `x=-2:2,y=-1:3`; else around the point.", "RANGES"),
]
Path = Annotated[
    str | None,
    options.Option("--path", "Over two variables: also the path of a run, the jsonl or csv of `descend`.", "PATH"),
]
Format = Annotated[str | None, options.formats(FORMATS, "by default what the file's name says, else table")]


def run(
    expr: options.OneExpr = None,
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
) -> int:
    """A function with its derivative, its tangent and where it breaks; over two variables its contours and gradient.

    On the terminal, or as SVG or PNG. Drawing needs the extra `plot`.
    """
    inputs = Inputs(expr, at, wrt, file, "json" if json else format)
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    target = None if output == "-" else output
    chosen = format_of(inputs.format, target)
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
