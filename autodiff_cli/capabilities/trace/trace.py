"""Evaluation traces: the primal sweep, then the adjoint or tangent sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer
from ...engine.algebra.symbolic import local_partials
from ...engine.graphs.value import Value, constant, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NumberType
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import Evaluation, Kinks
from ...engine.run.flat_graph import Graph, in_order
from ...engine.run.sweep import Activity, local_derivatives, tangents
from ...engine.table.operators import CONSTANT, NEG, WHERE
from ...errors import Diagnostic, Span, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.figures import unsigned
from ...questions.optional_units import pose_with_units
from ...questions.problem import Problem, as_number
from ...questions.rounding import lost_derivative_warnings, rounding_warnings
from ...record import Record

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import ProgramUnits

MODES = ("reverse", "forward")

# Adjoints that cross one of these in a step get a note.
VANISHING_RATIO, EXPLODING_RATIO = 1e-8, 1e8
# How much smaller than its largest part an adjoint is that cancels.
CANCELLATION_RATIO = 1e3


class TraceRow(Record):
    """A node of the primal trace: its name, formula and value."""

    name: str
    """The name of the variable or binding; else `v1`, `v2` …"""
    kind: str
    numbered: bool
    symbol: str
    formula: str
    """The operation, such as `v1 + v2`; empty for a variable or constant."""
    graph: Value
    """The formula as a graph of one operation on leaves with values."""
    inputs: tuple[str, ...]
    value: float | bool
    adjoint: float | None
    span: Span | None


class Term(Record):
    """A local derivative by the node `source`, as a part of a step."""

    source: TraceRow
    formula: str
    graph: Value | None
    partial: float


class AdjointStep(Term):
    """A step of the adjoint trace, from the `source` to its input `target`."""

    target: TraceRow
    upstream: float
    product: float
    before: float | None
    total: float
    accumulates: bool
    """Whether the target has several consumers, so its adjoint is a sum."""


class TangentTerm(Term):
    """One input's part of a tangent."""

    tangent: float


class TangentStep(Record):
    """A step of the tangent trace: a node's tangent from its inputs' tangents."""

    target: TraceRow
    terms: tuple[TangentTerm, ...]
    tangent: float


class Note(Record):
    """An event in the numbers: `vanished`, `exploded`, `cut off`, `cancelled`, `kink` or
    `branch`.
    """

    kind: str
    message: str


class Trace(Answer, shows=("value", "gradient", "tangent")):
    """A trace: `adjoint_steps` and `gradient` in reverse mode, `tangent_steps` in forward mode."""

    declaration = """
    value
    gradient
    point
    constants
    warnings
    mode: `reverse` or `forward`
    primal from=rows: the forward primal trace: a row for each operation, after the variables
      name: the name of the node
      kind: `variable`, `constant` or `operation`
      symbol nonempty: its name in the program; null without one
      formula nonempty: the operation; null for a leaf
      inputs: the rows of its inputs, from 0
      value: its value
      adjoint: the derivative of the output by it
      start: where it begins in `expr`, from 0; null for what stands nowhere
      end: one past where it ends
    adjoint optional: the reverse adjoint trace: a row for each partial derivative that is \
    propagated
      from from=source.name: the node whose adjoint is propagated
      to from=target.name: the node whose adjoint it is added to
      formula nonempty: the local derivative; null where it is a number
      partial: its value
      upstream: the adjoint that it is multiplied by
      product: their product
      accumulates: whether it is added to an earlier one
      adjoint from=total: the adjoint so far
    direction optional: the direction, by name
    derivative from=tangent optional: the derivative along it
    tangent optional: the forward tangent trace: a row for each operation
      node from=target.name: the name of the node
      terms: the terms of its tangent
        from from=source.name: the input
        formula nonempty: the local derivative; null where it is a number
        partial: its value
        tangent: the tangent of the input
      tangent: the tangent of the node
    notes: remarks, such as conventions at kinks
      kind: the kind
      message: the remark
    """

    text: str
    mode: str
    letter: str
    """The letter of numbered nodes: v, unless the program uses such names."""
    value: float
    point: dict[str, float]
    constants: dict[str, float]
    rows: tuple[TraceRow, ...]
    adjoint_steps: tuple[AdjointStep, ...]
    tangent_steps: tuple[TangentStep, ...]
    gradient: dict[str, float]
    direction: dict[str, float]
    tangent: float | None
    notes: tuple[Note, ...]
    warnings: tuple[Diagnostic, ...]


def trace(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    direction: Mapping[str, float | str] | None = None,
    units: Sequence[str] | str | None = None,
) -> Trace:
    """Return the evaluation trace of the program `text` at `point`.

    Reverse mode gives the gradient by `wrt`, forward mode the derivative along `direction` (0 for
    missing variables). Raises `ExpressionError` like `gradient`.
    """
    posed = pose_with_units(text, point, wrt, units)
    wanted, measured, reverse = posed.wanted, posed.units, mode == "reverse"
    seeds, rate = ({}, None) if reverse else _directed(posed, direction, wrt)
    graph, at = _graph_at(posed)
    (root,) = graph.roots
    speeds = dict.fromkeys(wanted, 1.0) if reverse else seeds
    varying = {at[name]: speed for name, speed in speeds.items() if speed and name in at}
    evaluation = _differentiated(graph, at, wanted, varying)
    active, adjoints, order = evaluation.active, evaluation.adjoints, evaluation.order
    writer = NodeTexts(graph, order, at.values(), rate)
    for i in writer.listed:
        writer.rows[i] = writer.row(i, writer.adjoint(adjoints[i], i) if reverse else None)
    adjoint_steps: list[AdjointStep] = []
    tangent_steps: tuple[TangentStep, ...] = ()
    gradient, tangent = dict[str, Any](), None
    if reverse:
        adjoint_steps = writer.adjoint_steps(adjoints, active)
        gradient = {name: unsigned(evaluation.gradient.get(name, 0.0)) for name in wanted}
    else:
        flows = evaluation.sweep(tangents, order, active, varying, graph.roots)
        tangent_steps = tuple(writer.tangent_steps(flows, active))
        tangent = writer.tangent(flows[root] or 0.0, graph.unit(root))
    kink_warnings = _kink_warnings(evaluation)
    notes = [
        *(Note("kink", f"{warning.message}; {warning.hint}") for warning in kink_warnings),
        # how small an adjoint is depends on its unit
        *(_vanishing(adjoint_steps) if measured is None else ()),
        *(_cut_off(writer, adjoints, active) if reverse else ()),
        *_branches(writer, active, text),
    ]
    lost_digits = _lost_digits(posed, seeds)
    values = dict(posed.values)
    if measured is not None:
        values, gradient, seeds = _in_units(measured, writer, values, gradient, seeds)
    return Trace(
        text,
        mode,
        writer.letter,
        writer.number(float(graph.data[root]), root),
        values,
        posed.program.constants,
        tuple(writer.rows.values()),
        tuple(adjoint_steps),
        tangent_steps,
        gradient,
        seeds,
        tangent,
        tuple(notes),
        (*posed.warnings, *kink_warnings, *lost_digits),
    )


def _differentiated(
    graph: Graph, at: Mapping[str, int], wanted: Collection[str], varying: Mapping[int, float]
) -> Evaluation:
    """Return the evaluation of a graph with its adjoints."""
    evaluation = Evaluation(REAL, graph, {name: i for name, i in at.items() if name in wanted})
    # in the order of the trace, not of the branches' evaluation
    evaluation.order = sorted(evaluation.order)
    evaluation.active = evaluation.activity(varying)
    return evaluation.differentiate()


def _graph_at(posed: Problem) -> tuple[Graph, dict[str, int]]:
    """Return the program's graph in reading order at its point, and the places of its variables."""
    graph, places = in_reading_order(posed.program)
    at = {name: places[i] for name, i in posed.program.places.items()}
    graph = graph.with_leaves({i: posed.values[name] for name, i in at.items()})
    if posed.units is not None:
        graph.unit = [*map(posed.units.node, places)].__getitem__
        graph.adjoint_unit = [*map(posed.units.adjoint, places)].__getitem__
    return graph, at


def _directed(
    posed: Problem, direction: Mapping[str, float | str] | None, wrt: Sequence[str] | None
) -> tuple[dict[str, float], Unit | None]:
    """Return the tangents of the variables, and the unit that derivatives along the direction are
    per.
    """
    if posed.units is None or not direction:
        return _seeds(posed, direction, wrt), None
    from ...questions.quantities import direction_in_units  # only units need it

    along, _, rate = direction_in_units(posed.units, direction)
    return _seeds(posed, {name: float(x) for name, x in along.items()}, wrt), rate


def _in_units(
    measured: ProgramUnits,
    writer: NodeTexts,
    values: Mapping[str, float],
    gradient: Mapping[str, Any],
    seeds: Mapping[str, float],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the point, the gradient and the direction in the units of the point."""
    from ...engine.quantities.presentation import with_unit  # only units need it

    return (
        {
            name: with_unit(measured.number_of(name, x), measured.point[name])
            for name, x in values.items()
        },
        {name: _in_unit(x, measured.derivative([name]), None) for name, x in gradient.items()},
        {name: writer.tangent(x, measured.point[name].difference) for name, x in seeds.items()},
    )


def _kink_warnings(evaluation: Evaluation) -> list[Diagnostic]:
    """Return the warnings about kinks; none where the steps give the derivative of the function
    around them.
    """
    if not evaluation.kinks:
        return []
    from ...engine.algebra.guards_at_point import settle_guards  # only kinks need it

    own, kinks = evaluation.gradient, evaluation.kinks
    settle_guards(evaluation.graph, evaluation)
    if not evaluation.kinks and any(x != own[name] for name, x in evaluation.gradient.items()):
        evaluation.kinks = kinks
    return evaluation.warnings


def _cut_off(
    writer: NodeTexts, adjoints: Sequence[float | None], active: Sequence[bool]
) -> Iterator[Note]:
    """Yield a note for each node that varies and that no adjoint reaches."""
    for i, row in writer.rows.items():
        if adjoints[i] is None and active[i] and row.kind != "condition":
            yield Note("cut off", f"no adjoint reaches {row.name}")


def _lost_digits(posed: Problem, direction: Mapping[str, float]) -> list[Diagnostic]:
    graph, values, point = posed.program.graph, posed.values, posed.point
    if not direction:
        return rounding_warnings(graph, values, point, posed.wanted)

    derivative = "the derivative along the direction"

    def compute(m: NumberType, at: Mapping[str, Any]) -> tuple[dict[str, Any], Kinks]:
        swept = evaluate_in(m, graph, at, [*direction])
        slopes, kinks = swept.jvp({name: m.number(float(x)) for name, x in direction.items()})
        return {"the value": swept.value, derivative: slopes[0]}, kinks

    return lost_derivative_warnings(
        graph, values, point, compute, "jacobian", derivatives=(derivative,), varied=[*direction]
    )


def _seeds(
    posed: Problem, direction: Mapping[str, float | str] | None, wrt: Sequence[str] | None
) -> dict[str, float]:
    if not direction and len(posed.wanted) != 1:
        first = posed.wanted[0] if posed.wanted else "x"
        raise usage_error("a tangent trace needs a direction", f"give one: `--direction {first}=1`")
    direction = direction or {posed.wanted[0]: 1.0}
    variables = posed.program.leaves if wrt is None else wrt
    for name in direction:
        if name not in variables:
            raise usage_error(
                f"`{name}` of the direction is not among the variables to differentiate by",
                f"the variables: {quote(variables)}",
            )
    return {name: as_number(value, name) for name, value in direction.items()}


# ---- order and names
def in_reading_order(program: Program) -> tuple[Graph, dict[int, int]]:
    """Return a program's graph in reading order, and the new places of its nodes.

    By statement, then by level, as the survey literature numbers them; both sweeps can run.
    """
    graph = program.graph
    roots = [i for _, _, bound in program.bound if (i := program.place(bound)) is not None] + [
        *graph.roots
    ]
    order = in_order(graph.parents, roots)
    place = {i: k for k, i in enumerate(order)}
    ends = [place[root] for root in roots]
    last = 0
    statement: dict[int, int] = {}
    level: dict[int, int] = {}
    for k, i in enumerate(order):
        while last < len(ends) - 1 and k > ends[last]:
            last += 1
        statement[i] = last
        level[i] = 1 + max([level[p] for p in graph.parents[i]], default=-1)
    return graph.subgraph(
        sorted(order, key=lambda i: (level[i] > 0, statement[i], level[i])), graph.roots
    )


class NodeTexts:
    """The names, formulas and numbers of the nodes of a graph."""

    def __init__(
        self,
        graph: Graph,
        order: Sequence[int],
        variables: Collection[int],
        rate: Unit | None = None,
    ) -> None:
        """Name the nodes, `variables` first; tangents are per `rate`."""
        self.graph, self.order, self.rate = graph, order, rate
        self.letter = next(
            (
                x
                for x in "vuwzk"
                if not any(name[:1] == x and name[1:].isdigit() for name in graph.labels.values())
            ),
            "node",
        )  # subscript digits are digits here, too
        numbers = [i for i in order[:-1] if signed_constant(graph, i) is not None]
        there, unlisted = {*order}, {*numbers, *variables}
        # The nodes with a line of their own; literals stand in the formulas.
        self.listed = [i for i in variables if i in there] + [i for i in order if i not in unlisted]
        self.names: dict[int, str] = {}
        self.numbered: set[int] = set()
        times: Counter[str] = Counter()
        for i in self.listed:
            label = graph.labels.get(i)
            if label:
                times[label] += 1
                self.names[i] = label if times[label] == 1 else f"{label}[{times[label]}]"
            else:
                self.numbered.add(i)
                self.names[i] = f"{self.letter}{len(self.numbered)}"
        self.rows: dict[int, TraceRow] = {}
        self.leaves: dict[int, Value] = {}

    def leaf(self, i: int) -> Value:
        """Return the node as a leaf: a constant, or a name with a value."""
        if i not in self.leaves:
            p = signed_constant(self.graph, i)
            if p is None:
                self.leaves[i] = leaf = variable(self.names.get(i, "…"))
                leaf.data = self.number(self.graph.data[i], i)
            else:
                x, source = self.graph.constants[p]
                self.leaves[i] = constant(x, source) if p == i else constant(-x, f"-{source}")
        return self.leaves[i]

    def row(self, i: int, adjoint: float | None) -> TraceRow:
        """Return the node's line in the primal trace."""
        graph, primitive, symbol = (
            self.graph,
            self.graph.primitives[i],
            self.graph.labels.get(i, ""),
        )
        inputs = [self.leaf(p) for p in graph.parents[i]]
        kind, formula, text = "variable", variable(symbol), ""
        if inputs:
            kind, symbol = "condition" if primitive.gives_condition else "operation", ""
            formula = node(primitive, inputs)
            text = expression_text(formula)
        elif primitive is CONSTANT:
            kind, formula = "constant", constant(*graph.constants[i])
        names = tuple([leaf.label or expression_text(leaf) for leaf in inputs])
        value = self.number(graph.data[i], i)
        numbered = i in self.numbered
        return TraceRow(
            self.names[i],
            kind,
            numbered,
            symbol,
            text,
            formula,
            names,
            value,
            adjoint,
            graph.span(i),
        )

    def terms(
        self, i: int, active: Activity
    ) -> Iterator[tuple[int, Any, tuple[str, Value | None, Any]]]:
        """Yield each active input with its local derivative, plain and as shown."""
        numbers = local_derivatives(active, i)
        if all(x is None for x in numbers):
            return
        parents = self.graph.parents[i]
        formulas = local_partials(
            self.graph.primitives[i], tuple(map(self.leaf, parents)), self.names[i]
        )
        for p, formula, x in zip(parents, formulas, numbers, strict=True):
            if x is not None:
                number = self.number(float(x), i, p)
                used = (
                    _formula_of_side(formula, number) if i in active.one_sided_partials else formula
                )
                text = "" if used is None else expression_text(used)
                yield p, x, (text, used, number)

    def number(self, x: Any, i: int, by: int | None = None) -> Any:
        """Return the value of a node, or its derivative `by` another, as shown."""
        return _in_unit(x, self.graph.unit(i), None if by is None else self.graph.unit(by))

    def adjoint(self, x: Any, i: int) -> Any:
        """Return the derivative of the output by a node, as shown."""
        return _in_unit(x, self.graph.adjoint_unit(i), None)

    def tangent(self, x: Any, unit: Unit | None) -> Any:
        """Return the tangent of a quantity in this unit, as shown."""
        per = self.rate if self.rate is not None and self.rate.atoms else None
        return _in_unit(x, unit if per or unit is None else unit.difference, per)

    def adjoint_steps(self, adjoints: Sequence[Any], active: Activity) -> list[AdjointStep]:
        """Return the steps of the backward sweep."""
        sources = [i for i in reversed(self.order) if adjoints[i] is not None and active[i]]
        steps = [(i, *term) for i in sources for term in self.terms(i, active)]
        consumers = Counter(p for _, p, *_ in steps)
        totals: dict[int, float] = {}
        result = []
        for i, p, partial, term in steps:
            before, product = totals.get(p), adjoints[i] * partial
            totals[p] = product if before is None else before + product
            received, earlier, total = (self.adjoint(x, p) for x in (product, before, totals[p]))
            numbers = self.adjoint(adjoints[i], i), received, earlier, total
            result.append(
                AdjointStep(self.rows[i], *term, self.rows[p], *numbers, consumers[p] > 1)
            )
        return result

    def tangent_steps(
        self, flows: Sequence[float | None], active: Activity
    ) -> Iterator[TangentStep]:
        """Yield the steps of the tangent sweep."""
        for i in self.order:
            if flows[i] is not None and self.graph.parents[i]:
                terms = [
                    TangentTerm(self.rows[p], *term, self.tangent(flows[p], self.graph.unit(p)))
                    for p, _, term in self.terms(i, active)
                    if flows[p] is not None
                ]
                yield TangentStep(
                    self.rows[i], tuple(terms), self.tangent(flows[i], self.graph.unit(i))
                )


def _formula_of_side(formula: Value | None, number: Any) -> Value | None:
    """Return the formula of a local derivative if it is this number; else the number, as a tie has
    another formula.
    """
    if formula is not None and formula.data == number:
        return formula
    return constant(number) if isinstance(number, float) else None


def _in_unit(x: Any, unit: Unit | None, per: Unit | None) -> Any:
    x = unsigned(x)
    if unit is None or x is None or isinstance(x, bool):
        return x
    from ...engine.quantities.presentation import present, with_unit  # only units need it
    from ...engine.quantities.unit import ratio

    unit = unit if per is None else ratio(unit, per)
    return with_unit(present(x, unit), unit)


def signed_constant(graph: Graph, i: int) -> int | None:
    """Return the constant of a node, perhaps negated: a reader takes `-1` for a number."""
    p = graph.parents[i][0] if graph.primitives[i] is NEG and i not in graph.labels else i
    return p if graph.primitives[p] is CONSTANT and p not in graph.labels else None


# ---- what went on in the numbers
def _vanishing(all_steps: Sequence[AdjointStep]) -> Iterator[Note]:
    received: dict[str, list[AdjointStep]] = {}
    for step in all_steps:
        received.setdefault(step.target.name, []).append(step)
    for name, steps in received.items():
        adjoint, source = steps[0].target.adjoint, steps[0].source
        if adjoint is None:
            continue
        largest = max(abs(step.upstream) for step in steps)
        through = f"{source.name} = {source.formula}" if len(source.formula) <= 60 else source.name
        if largest >= VANISHING_RATIO > abs(adjoint):
            if max(abs(step.product) for step in steps) > CANCELLATION_RATIO * abs(adjoint):
                yield Note(
                    "cancelled",
                    f"the contributions to the adjoint of {name} cancel: it is {adjoint:.3g}",
                )
            else:
                yield Note(
                    "vanished", f"the adjoint of {name} vanishes in {through}: {adjoint:.3g}"
                )
        elif largest <= EXPLODING_RATIO < abs(adjoint):
            yield Note("exploded", f"the adjoint of {name} explodes in {through}: {adjoint:.3g}")


def _branches(writer: NodeTexts, active: Activity, text: str) -> Iterator[Note]:
    graph, names = writer.graph, writer.names
    for i in writer.order:
        if graph.primitives[i] is WHERE:
            condition, x, y = graph.parents[i]
            untaken = y if graph.data[condition] else x
            span = graph.span(untaken)
            written = graph.labels.get(untaken) or (text[span.start : span.end] if span else "")
            if len(written) > 60:
                written = written[:57] + "…"
            partials = active.one_sided_partials.get(i)
            if partials and partials[1 if untaken == x else 2] is not None:
                yield Note(
                    "branch",
                    f"the sides of {names[i]} agree here: the derivative is that of the branch"
                    f" `{written}`",
                )
                continue
            outcome = (
                f"{names.get(condition, 'its condition')} is"
                f" {'true' if graph.data[condition] else 'false'}"
            )
            yield Note("branch", f"the branch `{written}` of {names[i]} is not taken: {outcome}")
