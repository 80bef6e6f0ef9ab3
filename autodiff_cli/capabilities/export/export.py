"""Programs as source code in other languages, with their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...api.api_answers import Answer
from ...compiled.lowering import Lowering, showing_faults
from ...compiled.target import SourceUnit, Target, comment_lines
from ...engine.graphs.adjoint import Recording, record_gradient
from ...engine.numbers.budget import WRITTEN_STEP, charge
from ...engine.numbers.double.formulas import Lacking
from ...engine.numbers.recorder import Step
from ...engine.run.flat_graph import Graph
from ...engine.table.operators import WHERE
from ...errors import Diagnostic, ExpressionError, quote, usage_error
from ...language.builder import Program
from ...language.typesetting import typesetting
from ...questions.problem import (
    Point,
    as_number,
    check_bare_functions,
    check_single,
    parse,
    wanted_variables,
)
from ..formulas.diff import diff
from ..formulas.guards import comments_of, guard_warnings, program_kinks
from .targets import DIALECTS, target

SEVERAL = "`--to sql` exports several outputs, `autodiff jacobian` differentiates them"


class Exported(Answer, shows=("target", "name", "variables")):
    """Generated source code, its names, and its target."""

    declaration = """
    target: the target language
    dialect optional nonempty: its dialect, where there are several
    name: what the function is called
    variables: its arguments
    wrt from=wanted: the variables that it is differentiated by
    source: the source code
    """

    text: str
    target: str
    name: str
    variables: dict[str, str]
    """The name of each variable in the code."""
    wanted: tuple[str, ...]
    source: str
    dialect: str | None = None
    warnings: tuple[Diagnostic, ...] = ()
    comments: tuple[str, ...] = ()
    """What the source says of the derivatives, in LaTeX."""


def export(
    text: str,
    to: str,
    *,
    name: str = "f",
    wrt: Sequence[str] | None = None,
    dialect: str | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
    where: str | None = None,
    at: Point | None = None,
) -> Exported:
    """Return the program `text` as a function in the language `to`, one of `TARGETS`.

    The function `name` returns the value and the partial derivatives by `wrt`. SQL is a statement
    in a `dialect`, by default duckdb, over a `table` of points, by default `points`; it returns the
    columns `keep` of these as well, of rows for which the condition `where` holds. A spreadsheet
    has the values `at` in the cells of the variables.

    >>> print(export("x*y", "python").source.splitlines()[-1].strip())
    return t1, (y, x)
    """
    _check_options(to, dialect, bool(table or keep or where), bool(at))
    dialect = dialect or (DIALECTS[0] if to == "sql" else None)
    writer = _writer(to, dialect, table, keep, where)
    if not writer.can_name_function(name):
        hint = "give a plain name without a meaning in that language: `--name f`"
        raise usage_error(f"`{name}` cannot be the name of a function in `{to}`", hint)
    if to == "latex":
        return _equations(text, name, wrt)
    program = parse(text)
    check_bare_functions(program, {*(wrt or ()), *(at or ())}, by_option=True)
    warnings = guard_warnings(program)
    if at:
        from .languages import Spreadsheet  # other languages do without

        assert isinstance(writer, Spreadsheet)
        writer.point = _numbers_at(at, program)
    if to != "sql":
        check_single(program, SEVERAL)
    trained = wanted_variables(program, {}, wrt) if to == "torch-module" and wrt is not None else ()
    wanted = wanted_variables(program, {}, None if trained else wrt)
    # an engine of gradients has the derivatives
    shown, labels = _recorded(program, writer, () if to == "micrograd" else wanted)
    kinks = program_kinks(program, wanted)
    unit = SourceUnit(
        text,
        name,
        tuple(program.variables),
        tuple(wanted),
        shown,
        labels,
        tuple(trained),
        kinks.comments,
    )
    module, names = _source(writer, unit), writer.spell_names(unit.variables)
    return Exported(text, to, name, names, unit.wanted, module, dialect, (*warnings, *kinks.notes))


def _check_options(to: str, dialect: str | None, has_table: bool, has_point: bool) -> None:
    """Raise a usage error for an option of another language."""
    if dialect and to != "sql":
        raise usage_error(f"`{to}` has no dialects", "`--dialect` goes with `--to sql`")
    if has_table and to != "sql":
        raise usage_error(
            f"`{to}` has no table of points", "`--table`, `--keep` and `--where` go with `--to sql`"
        )
    if has_point and to != "spreadsheet":
        raise usage_error(
            f"`{to}` has no values of variables", "`--at` goes with `--to spreadsheet`"
        )


def _writer(
    to: str, dialect: str | None, table: str | None, keep: Sequence[str], where: str | None
) -> Target:
    """Return the writer of a language; that of SQL knows its table and the condition on its
    rows.
    """
    writer = Target() if to == "latex" else target(to, dialect)
    assert writer is not None
    if to == "sql":
        from .sql import Sql  # other languages do without

        assert isinstance(writer, Sql)
        writer.read_from(table, keep, where)
    return writer


def _source(writer: Target, unit: SourceUnit) -> str:
    try:
        return writer.module(unit)
    except Lacking as lacking:  # a rule of the engine that the code is for
        graph, named = unit.recording.graph, str(lacking).partition("(")[0]
        node = next(i for i, primitive in enumerate(graph.primitives) if primitive.name == named)
        raise _lacks(writer, lacking, graph, node) from None


def _recorded(
    program: Program, writer: Target, wanted: Sequence[str]
) -> tuple[Recording, dict[Step, str]]:
    """Return the steps of a program and of its derivatives in the functions of a language, and
    their labels.
    """
    graph = program.graph
    recorder = Lowering(writer.forms, writer.functions, writer.coarse)
    try:
        graph, place = _at_guards(graph)
        inputs, by = (
            [None if i is None else place(i) for i in program.leaf_places(names)]
            for names in (None, wanted)
        )
        recording = record_gradient(graph, inputs, by, recorder, scaled=True)
    except Lacking as lacking:
        raise _lacks(writer, lacking, graph, recorder.node) from None
    charge(WRITTEN_STEP * len(recorder.steps))
    labels = {}
    for name, _, bound in program.bound:
        i = None if (node := program.place(bound)) is None else place(node)
        if i is not None and i in recording.place and graph.parents[i]:
            labels[recording.place[i]] = name
    return showing_faults(recording, writer.is_silent, labels, writer.limits), labels


def _lacks(writer: Target, lacking: Lacking, graph: Graph, node: int) -> ExpressionError:
    """Return the error that a language lacks a function which a node, or its derivative, needs."""
    raised_by = graph.primitives[node].name
    need = "" if raised_by == str(lacking) else f", which `{raised_by}` or its derivative needs"
    hint = "leave the function out, or export to another target"
    return usage_error(
        f"{writer.title} has no function `{lacking}`{need}", hint, span=graph.span(node)
    )


def _numbers_at(at: Point, program: Program) -> dict[str, float]:
    """Return the values of a point. Raises `ExpressionError` for names that the program has not."""
    if unknown := [name for name in at if name not in program.variables]:
        raise usage_error(
            f"the program has no variable `{unknown[0]}`", f"it has {quote(program.variables)}"
        )
    return {name: as_number(value, name) for name, value in at.items()}


def _at_guards(graph: Graph) -> tuple[Graph, Callable[[int], int | None]]:
    """Return the graph with the derivatives of guards at their points, and the new index of each
    node.
    """
    if WHERE not in graph.primitives:
        return graph, lambda i: i
    from ...engine.algebra.guard_series import with_slopes_in_graph  # only guards need it

    moved, indices = with_slopes_in_graph(graph)
    return moved, indices.get


def _equations(text: str, name: str, wrt: Sequence[str] | None) -> Exported:
    program = parse(text)
    check_single(program, SEVERAL)
    answer = diff(text, wrt=wrt, share=True, language="latex", name=name)
    typeset = typesetting(program, function=name)
    heading = [
        "Written by autodiff from this program:",
        *(f"    {line}" for line in comment_lines(text)),
    ]
    comments = comments_of(answer.warnings)
    heading += comments
    source = "\n".join([*(f"% {line}".rstrip() for line in heading), answer.program]) + "\n"
    wanted = tuple(
        dict.fromkeys(label for derivative in answer.derivatives for label in derivative.by)
    )
    variables = {label: typeset.name(label) for label in program.variables}
    return Exported(
        text, "latex", name, variables, wanted, source, warnings=answer.warnings, comments=comments
    )
