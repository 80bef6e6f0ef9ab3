"""`autodiff diff`: the derivative of a program as a formula."""

from collections.abc import Callable, Mapping

from ...formulas.diff import LANGUAGES, Diff, diff
from ...inputs.problem import Problem, check_values
from ...views.diff import DiffView
from ...views.formats import language_of
from ..runner import Call, Command, Method, RowQuestion
from . import answer_at


def pose_equations(text: str, point: Mapping[str, float]) -> Problem:
    """Return equations and a solution, with a value for each variable."""
    from ...equations.equations import read_equations

    program = read_equations(text, [*point])[0]
    return Problem(program, {**point}, {**point}, [], check_values(program, point))


def question(call: Call, language: str) -> Method:
    """Return the method: derivatives of formulas, or of unknowns."""
    method: Callable[..., Diff] = diff
    if call.unknowns:
        from ...equations.implicit_formulas import implicit_diff as method
    return call.bind_question(method, language=language)


def run(call: Command) -> int:
    """Differentiate a formula into formulas."""
    language = language_of(call.to, call.format, call.output, LANGUAGES, "text")
    return answer_at(
        call,
        question(call, language),
        DiffView(unicode=call.unicode, steps=call.steps, unknowns=bool(call.unknowns), **call.view_choices),
        RowQuestion("diff", pose_equations if call.unknowns else call.check_program),
        otherwise="latex" if language == "latex" else "table",
    )
