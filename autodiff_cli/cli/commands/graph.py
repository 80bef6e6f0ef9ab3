"""`autodiff graph`: a picture of the graph of a program."""

import sys
from typing import Annotated

from ...derivatives.graph import picture, symbolic_picture
from ...errors import ExpressionError
from ...views.characters import theme_of
from ...views.graph import FORMATS, WAYS, PictureView, way_of, written
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff graph "o = tanh(x*w + b)" --at x=2,w=-3,b=6.5',
    'autodiff graph "tanh(x*w + b)" --symbolic --format mermaid',
    'autodiff graph "o = tanh(x*w + b)" --at x=2,w=-3,b=6.5 --theme dark --output graph.svg',
)

ANSWERS = (
    options.Without.of("--on-error"),
    options.formats(
        FORMATS, "by default from the name of `--output`, else tree. png needs the extra `draw`, pdf `plot`"
    ),
)
Layout = Annotated[
    str | None,
    options.Option(
        "--layout",
        "The direction of a drawing from the inputs on: right, down, or auto (default: whichever fits a slide).",
        "NAME",
        choices=WAYS,
        main=True,
    ),
]
Partials = Annotated[bool, options.Option("--partials", "Label the edges with the local derivatives.", main=True)]
Width = Annotated[
    int | None,
    options.Option(
        "--width", "The width of svg, png, pdf and tikz in pixels, 96 to the inch.", "N", range=(50, 20_000)
    ),
]
Symbolic = Annotated[
    bool, options.Option("--symbolic", "Draw the graph without numbers, so that no point is needed.", main=True)
]


def run(
    *,
    program: Annotated[options.Program, options.ONE],
    symbolic: Symbolic = False,
    theme: options.Theme = None,
    answers: Annotated[options.Answers, *ANSWERS],
    document: options.Document = False,
    layout: Layout = None,
    partials: Partials = False,
    width: Width = None,
    depth: options.Depth = None,
    binary: options.Binary = False,
) -> int:
    """Draw the graph, with value and derivative at each node."""
    inputs = Inputs.of(program, answers, document)
    inputs.need(only="a picture is drawn of one program at a time, not of a stream")
    chosen = inputs.chosen(FORMATS, "tree")
    if chosen in ("png", "pdf") and inputs.output is None and sys.stdout.isatty():
        raise ExpressionError(
            "usage", f"a {chosen.upper()} cannot be shown on a terminal",
            hint=f"write it to a file: `--output graph.{chosen}`",
        )  # fmt: skip
    shown = PictureView(
        digits=answers.shown,
        depth=depth,
        theme=theme_of(theme),
        binary=binary,
        way=way_of(layout),
        partials=partials,
        width=width,
    )
    return answer_all(
        inputs,
        lambda request: (
            symbolic_picture(request.text, request.point)
            if symbolic
            else picture(request.text, request.point, wrt=request.wrt)
        ),
        shown,
        chosen=written(chosen),
    )
