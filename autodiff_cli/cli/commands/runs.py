"""How commands run: most ask one question at a point, at many, or of a stream.

The function of a command's name runs it; without one `run` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from ...questions.parse_point import may_sweep
from ...show.schema import FORMS
from ...streams.progress import Progress
from ...streams.requests import Reading, Request, unknowns_of_object
from ..option_values import resolve
from ..runner import Command, RowQuestion, answer_with, write_entries
from . import EXIT_NO, answer_at

if TYPE_CHECKING:
    from ...questions.problem import Problem


def run(call: Command) -> int:
    """Answer the command's question; about rows if it has options for them."""
    return answer_at(call, call.question_method(), call.row_question() if "points" in call.values else None)


def grad(call: Command) -> int:
    """Compute value, exact gradient and graph at a point."""
    if call.over is not None or not (call.many or call.points or may_sweep(call.at)):
        return run(call)
    from ...capabilities.derivatives.gradient import Programs

    drawn = call.many and not call.no_tree and FORMS[call.choose_format()] == "document"
    full = call.everything or drawn
    programs = Programs(call.arithmetic, complete=full, relative=call.relative, units=call.units, system=call.system)

    def method(request: Request) -> Any:
        return programs.gradient(request.text, request.point, request.wrt)

    return answer_at(call, method, call.row_question())


def check(call: Command) -> int:
    """Check how many digits of value and gradient are correct."""
    method = call.bind_question()

    def checked(request: Request) -> Any:
        with closing(Progress("rows", here=True)) as progress:
            return method(request, watch=progress.step)

    return answer_at(call, checked, call.row_question(), good="agrees")


def diff(call: Command) -> int:
    """Differentiate a formula, or the unknowns of equations, into formulas."""
    question = RowQuestion(pose_equations) if call.unknowns else call.row_question()
    return answer_at(call, call.question_method(), question)


def pose_equations(text: str, point: Mapping[str, float]) -> Problem:
    """Return equations and a solution, with a value for each variable."""
    from ...questions.equations import read_equations
    from ...questions.problem import Problem, check_values

    program = read_equations(text, [*point])[0]
    return Problem(program, {**point}, {**point}, [], check_values(program, point))


def limit(call: Command) -> int:
    """Find the limit of a formula at a point or at infinity."""
    from ...questions.approach import approach_value

    call.read_by(Reading(approach_value))
    return answer_at(call, call.question_method(), good="exists")


def integrate(call: Command) -> int:
    """Find antiderivatives, and integrals with proven digits."""
    return answer_at(call, call.question_method(), good="converges")


def graph(call: Command) -> int:
    """Draw the graph, with value and derivative at each node."""
    from ...capabilities.graph.graph_view import FORMATS, writer_of

    chosen = call.choose_format(FORMATS, "tree")
    call.check_picture(chosen, "graph", ("png", "pdf"))
    return answer_at(call, call.question_method(), chosen=writer_of(chosen))


def plot(call: Command) -> int:
    """Plot a function with its derivative and tangent, or contours."""
    from ...capabilities.plot.plot_view import drawn_as

    chosen = drawn_as(call.format, call.output)
    call.check_picture(chosen, "plot")
    return answer_at(call, call.question_method(), chosen=chosen)


def page(call: Command) -> int:
    """Make a page to watch and do backpropagation in a browser."""
    on_terminal = call.output is None and call.choose_format() == "html" and sys.stdout.isatty()
    if on_terminal:
        # a page goes to a file, not to a terminal
        free = (f"page{number}.html" for number in chain(("",), count(2)))
        call.output = next(path for path in free if not os.path.exists(path))
    code = run(call)
    if on_terminal and not code:
        sys.stdout.write(f"{call.output}\n")
    return code


def descend(call: Command) -> int:
    """Run gradient descent from a point, one row a step."""
    from ...capabilities.optimize.descents import RunWriter
    from ...show.formats import writer
    from ..searches import Saved

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
    from ...capabilities.optimize.minimize_view import verdict
    from ...errors import Diagnostic
    from ..searches import Searches

    def warning(result: Any) -> Diagnostic:
        return Diagnostic("minimum", verdict(result))

    return Searches(call, call.question_method(), warning=warning).run()


maximize = minimize


def solve(call: Command) -> int:
    """Solve equations, and differentiate the solution."""
    from ...capabilities.solve.solve import posed_equations
    from ...questions.problem import Quantity
    from ..searches import Searches, warning_of

    call.read_by(Reading(keys={"for": unknowns_of_object}))
    between = call.between

    def posed(text: str, point: Mapping[str, float]) -> Problem:
        return posed_equations(text, point, call.unknowns, between, call.variables, dimensions=False)

    ranges = between.values() if isinstance(between, Mapping) else [between or ()]
    # bounds with units ask for units in headings too
    measured = [end for ends in ranges for end in ends if isinstance(end, Quantity)]
    units = call.values["units"] or [str(end.unit) for end in measured]
    question = RowQuestion(posed, units=units, equations=True)
    return Searches(call, call.question_method(), warning=warning_of).run(question)


def exercise(call: Command) -> int:
    """Set exercises in derivatives, and check answers."""
    from ...capabilities.exercise.exercise import Marked

    chosen = call.choose_format()
    sheet = call.question(**call.arguments(call.question))
    if isinstance(sheet, Marked):
        return write_entries(call, [sheet], chosen, 0 if sheet.right else EXIT_NO)
    is_split = chosen in ("jsonl", "csv", "tsv")
    return write_entries(call, sheet.exercises if is_split else [sheet], chosen)


def functions(call: Command) -> int:
    """List the functions of the language."""
    chosen = call.choose_format()
    if call.name is not None:
        return write_entries(call, [call.question(call.name)], chosen)
    listed = resolve("capabilities.formulas.functions.functions")()
    entries = [listed] if FORMS.get(chosen) == "document" else listed.entries
    return write_entries(call, entries, chosen)


def units(call: Command) -> int:
    """List units and constants."""
    return write_entries(call, [call.question(call.name)], call.choose_format())
