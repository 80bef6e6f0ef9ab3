"""`autodiff descend`: gradient descent from a point, one row a step."""

from ...optimize.descend import Stops, batched, chosen_rule, descend
from ...views.characters import theme_of
from ...views.descend import DescentView
from ...views.formats import writer
from .. import options
from ..runner import Inputs, answer_with
from ..searches import Runs, Saved
from . import data_over


def run(
    *,
    program: options.Program,
    rate: float | None = None,
    steps: int | None = None,
    method: str | None = None,
    momentum: float | None = None,
    beta1: float | None = None,
    beta2: float | None = None,
    maximize: bool = False,
    gradient_tolerance: float | None = None,
    value_tolerance: float | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    loss: options.Loss,
    answers: options.Answers,
    saves: options.Saves,
    theme: str | None = None,
) -> int:
    """Run gradient descent from a point, one row a step; return the exit code."""
    inputs = Inputs.of(program, answers)
    inputs.need()
    rule = chosen_rule(method, rate, momentum, beta1, beta2)
    stops = Stops(steps, gradient_tolerance, value_tolerance)
    over = data_over(loss, answers, inputs)
    batches = batched(batch, epochs, shuffle, seed)
    shown = DescentView(digits=answers.shown, theme=theme_of(theme))
    chosen = inputs.chosen(shown.formats)
    inputs.check_picture(chosen, "loss")
    out, saved = inputs.out(), Saved(inputs, saves)
    runs = Runs(out.stream, writer(chosen, out.stream, shown, True), inputs.many, saved)
    code = answer_with(
        inputs,
        lambda request: descend(
            request.text,
            request.point,
            wrt=request.wrt,
            rule=rule,
            stops=stops,
            maximize=maximize,
            over=over,
            batches=batches,
        ),
        runs,
    )
    out.finish(code, whole=inputs.many)
    saved.finish(code)
    return max(runs.code, code)
