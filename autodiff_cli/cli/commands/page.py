"""`autodiff page`: a page that steps through evaluation and backpropagation."""

from typing import Annotated

from ...derivatives.page import page
from ...views.characters import theme_of
from ...views.page import PageView
from .. import options
from ..runner import Inputs, answer_all

EXAMPLES = (
    'autodiff page "tanh(w*x + b)" --at w=1,x=2,b=-1 --output neuron.html',
    'autodiff page "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3 --theme dark --output bowl.html',
)

ANSWERS = (
    options.Without.of("--on-error", "--digits", "--decimals"),
    options.formats(PageView().formats, "by default html"),
)


def run(
    *,
    program: Annotated[options.Program, options.ONE],
    theme: options.Theme = None,
    answers: Annotated[options.Answers, *ANSWERS],
) -> int:
    """Make a page to watch and do backpropagation in a browser.

    The page is one HTML file that works offline. It steps forward and backward through the graph, and has sliders for
    the variables, a quiz, gradient descent and a plot.
    """
    inputs = Inputs.of(program, answers)
    inputs.need(only="a page is made of one program at a time, not of a stream")
    return answer_all(
        inputs,
        lambda request: page(request.text, request.point, wrt=request.wrt),
        PageView(theme=theme_of(theme)),
        "html",
    )
