"""`autodiff descend`: gradient descent from a point, one row a step."""

import json as encoder
import sys
from typing import Annotated, TextIO

from ..errors import Diagnostic, ExpressionError
from ..questions.descend import RATES, Descent, Row, Rule, Stops, descend
from ..streams import files
from ..streams.answers import Inputs, Progress, answer_with, is_file, no_expression
from ..streams.interruption import Interruption
from ..views.descend import Run, view
from ..views.error import report
from ..views.formats import Asked, Documents, Writer, writer
from . import options

EXAMPLE = 'autodiff descend "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3 --rate 0.5 --steps 10'

_rates = ", ".join(f"{rate:g} for {name}" for name, rate in RATES.items())

Rate = Annotated[
    float | None, options.Option("--rate", f"What the gradient is multiplied by in a step ({_rates}).", "X")
]
Steps = Annotated[
    int | None, options.Option("--steps", "How many steps at most, 100 by default.", "N", range=(0, 1_000_000_000))
]
Method = Annotated[
    str | None,
    options.Option("--method", f"{', '.join(RATES)}; plain by default.", "NAME", choices=tuple(RATES)),
]
Momentum = Annotated[
    float | None, options.Option("--momentum", "For momentum and nesterov: the share kept, 0.9 by default.", "X")
]
Beta1 = Annotated[
    float | None, options.Option("--beta1", "For adam: the share kept of the gradient, 0.9 by default.", "X")
]
Beta2 = Annotated[
    float | None, options.Option("--beta2", "For adam: the share kept of its square, 0.999 by default.", "X")
]
Maximize = Annotated[bool, options.Option("--maximize", "Go uphill.")]
GradientTolerance = Annotated[
    float | None,
    options.Option("--gradient-tolerance", "Stop once the gradient norm is so small; none by default.", "X"),
]
ValueTolerance = Annotated[
    float | None,
    options.Option("--value-tolerance", "Stop once a step changes the value by no more; none by default.", "X"),
]


def run(
    expr: options.Expr = None,
    at: options.At = None,
    rate: Rate = None,
    steps: Steps = None,
    method: Method = None,
    momentum: Momentum = None,
    beta1: Beta1 = None,
    beta2: Beta2 = None,
    maximize: Maximize = False,
    gradient_tolerance: GradientTolerance = None,
    value_tolerance: ValueTolerance = None,
    wrt: options.Wrt = None,
    save_point: options.SavePoint = None,
    force: options.Force = False,
    file: options.File = None,
    format: options.Format = None,
    json: options.Json = False,
    digits: options.Digits = None,
    decimals: options.Decimals = None,
    debug: options.Debug = False,
) -> int:
    """Gradient descent from a point, one row a step; the start is row 0.

    Without a tolerance it takes all the steps and exits with 0. With one it exits with 1 unless the tolerance was
    reached, as it does when the run diverges.
    """
    inputs = Inputs("descend", EXAMPLE, expr, at, wrt, file, "json" if json else format)
    if inputs.waits():
        return no_expression(inputs)
    rule = _rule(method, rate, momentum, beta1, beta2)
    stops = Stops(100 if steps is None else steps, gradient_tolerance, value_tolerance)
    if save_point is not None and inputs.many:
        raise ExpressionError(
            "usage", "`--save-point` takes one point, and a stream has many", hint="give the program as the argument"
        )
    if save_point is not None:
        files.check(save_point, force=force)
    shown = view(digits=digits, decimals=decimals)
    out = _Runs(sys.stdout, writer(inputs.chosen, sys.stdout, shown, True), inputs.many)
    code = answer_with(
        inputs,
        lambda request: descend(
            request.text, request.point, wrt=request.wrt, rule=rule, stops=stops, maximize=maximize
        ),
        out,
    )
    if save_point is not None and out.best is not None:
        files.write(save_point, (encoder.dumps(out.best.point) + "\n").encode(), force=force)
    return out.code or code


def _rule(
    method: str | None, rate: float | None, momentum: float | None, beta1: float | None, beta2: float | None
) -> Rule:
    """The rule of the options. Raises a usage error where a parameter is not one of the method's."""
    name = method or ("momentum" if momentum is not None else "plain")
    if momentum is not None and name in ("plain", "adam"):
        raise ExpressionError(
            "usage", f"`--momentum` is not for the method {name}", hint="choose `--method momentum` or `nesterov`"
        )
    if (beta1 is not None or beta2 is not None) and name != "adam":
        given = "--beta1" if beta1 is not None else "--beta2"
        raise ExpressionError("usage", f"`{given}` is not for the method {name}", hint="choose `--method adam`")
    usual = Rule()
    return Rule(
        name,
        rate,
        usual.momentum if momentum is None else momentum,
        usual.beta1 if beta1 is None else beta1,
        usual.beta2 if beta2 is None else beta2,
    )


class _Runs(Writer[Descent]):
    """Takes the steps of a run, and writes each row as it comes; for people, the whole run at its end."""

    def __init__(self, out: TextIO, rows: Writer[Row | Run], many: bool) -> None:
        super().__init__(out, rows.view, many)  # type: ignore[arg-type]
        self.rows = rows
        self.rows.many = many or not isinstance(rows, Documents)
        self.carries_errors, self.carries_warnings = rows.carries_errors, False
        self.code = 0
        self.best: Row | None = None

    def answer(self, asked: Asked, answer: Descent) -> None:
        """Take the steps. A stream's rows say to which line they belong."""
        whole = Run(self.rows.look.terminal) if isinstance(self.rows, Documents) else None
        label = asked if self.many or whole is not None else Asked(None)
        progress = Progress("steps", here=whole is not None)
        flush = whole is None and not is_file(self.out)
        with Interruption() as interruption:
            for row in answer:
                if whole is None:
                    self.rows.answer(label, row)
                    if flush:
                        self.out.flush()
                else:
                    whole.add(row)
                progress.step(row.step)
                if interruption.asked:
                    answer.interrupt(row.step)
                    break
        progress.done()
        self.best = answer.best
        ending = answer.ending
        assert ending is not None
        if whole is not None:
            whole.best, whole.ending = answer.best, ending
            self.rows.answer(label, whole)
        self.out.flush()
        self._end(asked, answer, told=whole is not None)

    def _end(self, asked: Asked, answer: Descent, *, told: bool) -> None:
        """Note the exit code, and say on standard error what the rows have no place for."""
        ending = answer.ending
        assert ending is not None
        if ending.good:
            return
        interrupted = ending.reason == "interrupted"
        self.code = max(self.code, 130 if interrupted else 1)
        where = f"line {asked.line}: " if self.many else ""
        if ending.error is not None:
            inner = ending.error.diagnostic
            said = Diagnostic(ending.reason, f"stopped at step {ending.step}: {inner.message}", inner.span, ending.hint)
            report(said, ending.error.text or asked.text, level="warning", where=where)
        elif not told:
            report(Diagnostic(ending.reason, ending.message, None, ending.hint), None, level="warning", where=where)
        if interrupted and self.many:
            raise KeyboardInterrupt

    def error(self, asked: Asked, error: ExpressionError) -> None:
        self.rows.error(asked, error)

    def close(self) -> None:
        self.rows.close()
