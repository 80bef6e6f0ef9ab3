"""`autodiff plot`: a function with its derivative and its tangent, or the contours of one of two variables."""

from typing import Annotated

from ...curves.contours import read_path
from ...curves.plot import ORDERS, plot
from ...inputs.bounds import parse_between, parse_ranges
from ...streams.requests import names
from ...views.characters import theme_of
from ...views.plot import PlotView, drawn_as
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff plot "3x² − 4x + 5" --at x=3 --range x=-2:4',
    'autodiff plot "sin(x)/x" --range x=-12:12 --order 2 --output wave.svg',
    'autodiff plot "exp(x), 1 + x, 1 + x + x**2/2" --range x=-2:2 --output series.pdf',
    'autodiff plot "y*exp(y) = x" --for y --at x=1 --range x=-0.36:3',
    'autodiff plot "(1-x)**2 + 5*(y-x**2)**2" --at x=-1,y=1 --theme dark --output valley.png',
)

Range = Annotated[
    list[str] | None,
    options.Option(
        "--range",
        "The range of each axis: `x=-2:4`, or `x=-2:2,y=-1:3`. Default: around the point.",
        "RANGES",
        value_syntax="=",
        python_type="Ranges",
        main=True,
    ),
]
Path = Annotated[
    str | None,
    options.Option(
        "--path",
        "Also draw the path of a run: the jsonl or csv that `descend` wrote (`-`: standard input).",
        "PATH",
        reads_stdin=True,
        python_type="str | Iterable[Mapping[str, float] | DescentStep] | None",
        main=True,
    ),
]

Order = Annotated[
    int | None,
    options.Option(
        "--order", "The derivatives to draw with the function: 0 for none, 1 (default) for f′, 2 for f′ and f″.", "N",
        range=(0, ORDERS), main=True),
]  # fmt: skip

ANSWERS = (
    options.Without.of("--on-error"),
    options.formats(PlotView().formats, "by default from the name of `--output`, else table"),
)


def run(
    *,
    program: Annotated[options.Program, options.ONE],
    range: Range = None,
    order: Order = None,
    unknowns: options.Unknowns = None,
    between: options.Between = None,
    path: Path = None,
    theme: options.Theme = None,
    answers: Annotated[options.Answers, *ANSWERS],
) -> int:
    """Plot a function with its derivative and tangent, or contours.

    A function of one variable is drawn with its poles and jumps, one of two variables as contours with its gradient.
    Several functions, as `sin(x), cos(x)`, share one picture. With `--for` or `--between`, the formula is an equation,
    as for `solve`, and the first unknown is drawn over another variable. The plot is drawn on the terminal, or written
    as SVG, PNG or PDF. It needs the extra `plot`.
    """
    inputs = Inputs.of(program, answers)
    inputs.need(only="a plot is drawn of one program at a time, not of a stream")
    chosen = drawn_as(inputs.format, inputs.output)
    inputs.check_picture(chosen, "plot")
    ranges = parse_ranges(range or ())
    looked_for, bounds = names(unknowns, "--for"), parse_between(between or ())
    steps = read_path(path, inputs.beside("--path", path)) if path is not None else []
    return answer_all(
        inputs,
        lambda request: plot(
            request.text,
            request.point,
            wrt=request.wrt,
            ranges=ranges,
            path=steps,
            unknowns=looked_for,
            between=bounds,
            order=order,
        ),
        PlotView(digits=answers.shown, theme=theme_of(theme)),
        chosen=chosen,
    )
