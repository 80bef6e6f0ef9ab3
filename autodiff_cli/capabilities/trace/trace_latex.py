"""A trace in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.graphs.value import Value, constant, node
from ...engine.table.operators import ADD, SUB
from ...language.typesetting import Typesetting, equations, text_latex
from ...show.numerals import literal
from ...show.tex import measured_latex
from .trace import AdjointStep, TangentStep, Trace, TraceRow

TITLE = r"\par\noindent\textbf{%s}"
BLANK = r"\underline{\hspace{4em}}"
# The most lines of a trace in one aligned block.
MAX_ALIGNED_LINES = 300


# The first sign of `+=`: a column begins with a relation's space, which would part it from the
# second.
ACCUMULATES = r"\mathrel{+}\mkern-5mu"


def _typesetting(trace: Trace) -> Typesetting:
    names = [*(row.name for row in trace.rows), *trace.point]
    return Typesetting(names, trace.constants, {row.name for row in trace.rows if row.numbered})


def sections(
    trace: Trace, digits: int | None = None, blanks: bool = False
) -> list[tuple[str, list[list[str]]]]:
    """Return the title of each part of a trace and its rows, whose cells are equal; `blanks` omits
    numbers.
    """
    typeset = _typesetting(trace)
    name = typeset.name

    def number(x: float | bool | None) -> str:
        return measured_latex(x, digits)

    def product(x: float, y: float) -> str:
        factors = number(x), number(y)
        return r" \cdot ".join([f"({text})" if text.startswith("-") else text for text in factors])

    def result(x: float | bool | None) -> str:
        return BLANK if blanks else number(x)

    def primal(row: TraceRow) -> list[str]:
        if not row.formula:
            return [name(row.name), number(row.value)]
        numbers = typeset.expression(in_numbers(row.graph, lambda x: literal(x, digits)))
        value = result(row.value)
        results = [value] if blanks or numbers == value else [numbers, value]
        return [name(row.name), typeset.expression(row.graph), *results]

    def pull(pull: AdjointStep) -> list[str]:
        source, target = pull.source.name, pull.target.name
        adjoint, upstream = name(target, r"\bar"), name(source, r"\bar")
        sign = ACCUMULATES if pull.accumulates else ""
        local = rf"{upstream} \cdot \frac{{\partial {name(source)}}}{{\partial {name(target)}}}"
        if pull.graph is not None and (pull.graph._prev or pull.graph.label):
            local += rf" = {upstream} \cdot {typeset.factor(pull.graph)}"
        total = result(pull.product)
        if pull.accumulates:
            total += rf",\quad {adjoint} = {result(pull.total)}"
        return [
            adjoint + sign,
            local,
            *([] if blanks else [product(pull.upstream, pull.partial)]),
            total,
        ]

    def push(push: TangentStep) -> list[str]:
        terms = []
        for term in push.terms:
            dot = name(term.source.name, r"\dot")
            local = typeset.factor(term.graph) if term.graph is not None else number(term.partial)
            terms.append(dot if local == "1" else rf"{local} \cdot {dot}")
        numbers = " + ".join(product(term.partial, term.tangent) for term in push.terms) or "0"
        target = name(push.target.name, r"\dot")
        return [
            target,
            " + ".join(terms) or "0",
            *([] if blanks else [numbers]),
            result(push.tangent),
        ]

    found = [("Forward primal trace", [*map(primal, trace.rows)])]
    if trace.mode == "reverse":
        seed = [[name(step.source.name, r"\bar"), "1"] for step in trace.adjoint_steps[:1]]
        return [*found, ("Reverse adjoint trace", [*seed, *map(pull, trace.adjoint_steps)])]
    variables = [row for row in trace.rows if row.kind == "variable"]
    speeds = [
        [name(row.name, r"\dot"), number(trace.direction.get(row.symbol, 0.0))] for row in variables
    ]
    return [*found, ("Forward tangent trace", [*speeds, *map(push, trace.tangent_steps)])]


def page(trace: Trace, digits: int | None = None, blanks: bool = False) -> str:
    """Return a trace; `blanks` omits numbers to be found."""
    typeset = _typesetting(trace)

    def result(x: float | bool | None) -> str:
        return BLANK if blanks else measured_latex(x, digits)

    lines = [
        line for title, rows in sections(trace, digits, blanks) for line in _align(title, rows)
    ]
    if trace.mode == "reverse":
        if trace.gradient:
            slopes = {by: typeset.derivative((by,), len(trace.point) > 1) for by in trace.gradient}
            sides = [(slopes[by], result(x)) for by, x in trace.gradient.items()]
            lines += [TITLE % "Gradient", equations(sides)]
    else:
        lines.append(rf"\noindent Derivative along the direction: ${result(trace.tangent)}$.")
    if trace.notes and not blanks:
        notes = [rf"\item {text_latex(f'{note.kind}: {note.message}')}" for note in trace.notes]
        lines += [TITLE % "Notes", r"\begin{itemize}", *notes, r"\end{itemize}"]
    return "\n".join(lines)


def _align(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [TITLE % title] if rows else []
    for k in range(0, len(rows), MAX_ALIGNED_LINES):
        steps = [
            r" & \quad &= ".join([f"{left} &= {first}", *more])
            for left, first, *more in rows[k : k + MAX_ALIGNED_LINES]
        ]
        lines += [r"\begin{alignat*}{3}", " \\\\\n".join(steps), r"\end{alignat*}"]
    return lines


def in_numbers(graph: Value, number: Callable[[float | bool | None], str]) -> Value:
    """Replace the inputs of an operation by numbers."""
    leaves = []
    for k, leaf in enumerate(graph._prev):
        if leaf.data is None or (leaf.source or "").endswith("]"):
            leaves.append(leaf)
            continue
        text = number(leaf.data)
        signed = k and text.startswith("-") and graph.primitive in (ADD, SUB)
        leaves.append(constant(leaf.data, f"({text})" if signed else text))
    return node(graph.primitive, tuple(leaves))
