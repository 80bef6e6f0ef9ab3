"""`autodiff descend`: gradient descent from a point, one row a step."""

from typing import Annotated

from ...optimize.descend import RATES, SEED, STEPS, Stops, batched, chosen_rule, descend
from ...views.characters import theme_of
from ...views.descend import DescentView
from ...views.formats import writer
from .. import options
from ..runner import Inputs, answer_with
from ..searches import Runs, Saved
from . import data_over

EXAMPLES = (
    'autodiff descend "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3 --rate 0.5 --steps 10',
    'autodiff descend "(x - 3)**2" --at x=0 --method adam --rate 0.1 --format jsonl',
    'autodiff descend "x**2 + 4*y**2" --at x=2,y=1 --save-path way.jsonl --steps 5',
    'autodiff descend "x**2 + 4*y**2" --at x=2,y=1 --theme dark --output loss.svg',
    "printf 'x,y\\n0,1\\n1,3\\n2,5.2\\n3,6.9\\n' | autodiff descend \"(y - (w*x + b))**2\" --data - --reduce mean "
    "--at w=0,b=0 --batch 2 --shuffle --epochs 5",
)

NO = "no: the descent diverged, or did not reach its tolerance"
"""When the exit code is 1."""

ANSWERS = options.formats(
    DescentView().formats, "by default from the name of `--output`, else table, jsonl for a stream"
)

_rates = ", ".join(f"{rate:g} for {name}" for name, rate in RATES.items())

Rate = Annotated[
    float | None,
    options.Option(
        "--rate", f"The learning rate, which multiplies the gradient in each step ({_rates}).", "X", main=True
    ),
]
Steps = Annotated[
    int | None,
    options.Option(
        "--steps", f"The maximum number of steps, {STEPS} by default.", "N", range=(0, 1_000_000_000), main=True
    ),
]
Method = Annotated[
    str | None,
    options.Option("--method", f"{', '.join(RATES)}; plain by default.", "NAME", choices=tuple(RATES), main=True),
]
Momentum = Annotated[
    float | None,
    options.Option(
        "--momentum",
        "For momentum and nesterov: the share kept, 0.9 by default.",
        "X",
        conflicts=("--method plain", "--method adam"),
    ),
]
Beta1 = Annotated[
    float | None,
    options.Option(
        "--beta1", "For adam: the decay rate of the average gradient, 0.9 by default.", "X", needs=("--method adam",)
    ),
]
Beta2 = Annotated[
    float | None,
    options.Option(
        "--beta2",
        "For adam: the decay rate of the average squared gradient, 0.999 by default.",
        "X",
        needs=("--method adam",),
    ),
]
Maximize = Annotated[bool, options.Option("--maximize", "Maximise the value instead.", main=True)]
GradientTolerance = Annotated[
    float | None,
    options.Option(
        "--gradient-tolerance",
        "Stop when the norm of the gradient is at most X; no tolerance by default.",
        "X",
        main=True,
    ),
]
ValueTolerance = Annotated[
    float | None,
    options.Option(
        "--value-tolerance", "Stop when a step changes the value by at most X; no tolerance by default.", "X"
    ),
]
Batch = Annotated[
    int | None,
    options.Option(
        "--batch", "Take each step on a batch of N rows of `--data`; the answer then has one row per epoch.", "N",
        range=(1, 1_000_000_000), needs=("--data",), main=True),
]  # fmt: skip
Epochs = Annotated[
    int | None,
    options.Option(
        "--epochs",
        "The number of passes through the data, 1 by default.",
        "N",
        range=(1, 1_000_000_000),
        needs=("--batch",),
    ),
]
Shuffle = Annotated[bool, options.Option("--shuffle", "Shuffle the rows before each epoch.", needs=("--batch",))]
Seed = Annotated[
    int | None,
    options.Option(
        "--seed", f"The seed of the random order, {SEED} by default.", "N", range=(0, 2**63 - 1), needs=("--shuffle",)
    ),
]


def run(
    *,
    program: options.Program,
    rate: Rate = None,
    steps: Steps = None,
    method: Method = None,
    momentum: Momentum = None,
    beta1: Beta1 = None,
    beta2: Beta2 = None,
    maximize: Maximize = False,
    gradient_tolerance: GradientTolerance = None,
    value_tolerance: ValueTolerance = None,
    batch: Batch = None,
    epochs: Epochs = None,
    shuffle: Shuffle = False,
    seed: Seed = None,
    loss: options.Loss,
    answers: Annotated[options.Answers, ANSWERS],
    saves: options.Saves,
    theme: options.Theme = None,
) -> int:
    """Run gradient descent from a point, one row a step.

    Row 0 is the start. Without a tolerance, the command takes all steps and exits with 0. With a tolerance, it exits
    with 1 unless the tolerance was reached. It also exits with 1 if the run diverges. A picture shows the value at
    each step; it needs the extra `plot`.
    """
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
