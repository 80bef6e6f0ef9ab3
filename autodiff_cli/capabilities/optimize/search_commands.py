"""How `descend`, `minimize` and `maximize` run."""

from __future__ import annotations

from typing import Any

from ...cli.runner import Command, answer_with
from ...cli.searches import Saved, Searches
from ...errors import Diagnostic
from ...show.formats import writer
from .descents import RunWriter
from .minimize_view import verdict


def descend(call: Command) -> int:
    """Run gradient descent from a point, one row a step."""
    chosen = call.choose_format()
    call.check_picture(chosen, "loss")
    out, saved = call.out(), Saved(call)
    runs = RunWriter(out.stream, writer(chosen, out.stream, call.view, True), call.many, saved)
    code = answer_with(call, call.question_method(), runs)
    out.finish(code, always=call.many)
    saved.finish(code)
    return max(runs.code, code)


def minimize(call: Command) -> int:
    """Minimise or maximise a formula with SciPy, with exact gradients."""

    def warning(result: Any) -> Diagnostic:
        return Diagnostic("minimum", verdict(result))

    def is_found(result: Any) -> bool:
        return bool(result.converged and not result.is_refuted)

    return Searches(call, call.question_method(), is_found, warning=warning).run()
