"""The evaluation trace of a program: the forward sweep, and the backward or the tangent sweep, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.symbolic import local_formulas
from ..errors import Diagnostic, quoted, usage_error
from ..graphs.value import Value, constant, graph_in, in_order, node, variable
from ..inputs.figures import unsigned
from ..inputs.optional_units import program_units, with_units
from ..inputs.problem import (
    as_number,
    check_values,
    numbers_or_quantities,
    read_program,
    single_output,
    wanted_variables,
)
from ..language.builder import Program
from ..language.printer import expression_text
from ..numbers.floats import REAL
from ..record import Record
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph
from ..run.sweep import Activity, local_derivatives
from ..table.operators import CONSTANT, NEG, VARIABLE, WHERE

if TYPE_CHECKING:
    from ..inputs.quantities import ProgramUnits
    from ..quantities.unit import Unit

MODES = ("reverse", "forward")

VANISHED, EXPLODED = 1e-8, 1e8
"""An adjoint that falls below the one, or rises above the other, in one step is worth a note."""


CANCELLED = 1e3
"""How much smaller than its largest contribution an adjoint is that is said to cancel."""


class TraceRow(Record):
    """A node of the forward primal trace: what it is called, how it is computed, its value."""

    name: str
    """The variable's own name, or the one that the program bound; `v1`, `v2` … where there is none."""
    kind: str
    """`variable`, `constant`, `operation` or `condition`."""
    numbered: bool
    """Whether the name is a letter and a number, given here."""
    symbol: str
    """The name of a variable or constant."""
    formula: str
    """The operation on its inputs' names: `log(x1)`, `v1 + v2`."""
    graph: Value
    """The formula as a graph of one operation, its inputs leaves with values."""
    inputs: tuple[str, ...]
    value: float | bool
    span: tuple[int, int] | None


class AdjointStep(Record):
    """A step of the reverse adjoint trace: what one node passes back to one of its inputs."""

    source: int
    """The node that passes it on, and `target`, the one that receives it: places in the primal trace."""
    target: int
    formula: str
    """The local derivative over the names of the inputs; empty where it would be as long as the program."""
    graph: Value | None
    partial: float
    upstream: float
    """The adjoint of the source."""
    product: float
    before: float | None
    """The target's adjoint before this step; None where this is the first to arrive."""
    total: float
    """The target's adjoint after this step."""
    accumulates: bool
    """Whether the target has several consumers, so that its adjoint is a sum."""


class Term(Record):
    """One input's part of a tangent."""

    source: int
    formula: str
    graph: Value | None
    partial: float
    tangent: float


class TangentStep(Record):
    """A step of the forward tangent trace: a node's tangent from those of its inputs."""

    target: int
    terms: tuple[Term, ...]
    tangent: float


class Note(Record):
    """Something that went on in the numbers: `vanished`, `exploded`, `cut off`, `cancelled`, `kink` or `branch`."""

    kind: str
    message: str


class Trace(Record):
    """The whole trace. In forward mode `pulls`, `adjoints` and `gradient` are empty, in reverse mode `pushes` is."""

    text: str
    mode: str
    letter: str
    """The letter of numbered nodes: v, or another letter if the program uses such names."""
    value: float
    point: dict[str, float]
    constants: dict[str, float]
    rows: tuple[TraceRow, ...]
    pulls: tuple[AdjointStep, ...]
    pushes: tuple[TangentStep, ...]
    adjoints: tuple[float | None, ...]
    """The adjoints by row; None where none arrives."""
    gradient: dict[str, float]
    direction: dict[str, float]
    tangent: float | None
    """In forward mode: the derivative along the direction."""
    notes: tuple[Note, ...]
    warnings: tuple[Diagnostic, ...]
    has_units: bool = False
    """Whether its numbers are in units, which they remember."""


def trace(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    direction: Mapping[str, float | str] | None = None,
    units: Sequence[str] | str | None = None,
) -> Trace:
    """The evaluation trace of the program `text` at `point`.

    Reverse mode gives the gradient by `wrt`; forward mode the derivative along `direction`, which names variables and
    how fast each moves (those it leaves out stand still). Raises `ExpressionError` like `gradient`.

    >>> trace("log(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}).gradient["x1"]
    5.5
    """
    values = numbers_or_quantities(with_units(point))
    program, _, remarks = read_program(text, values, wrt, units=True)
    output = single_output(program)
    warnings = check_values(program, values) + remarks
    wanted = wanted_variables(program, values, wrt)
    measured = program_units(program, values, units)
    rate: Unit | None = None
    if measured is not None and mode == "forward" and direction:
        from ..inputs.quantities import direction_in_units

        along, _, rate = direction_in_units(measured, direction)
        direction = {name: float(x) for name, x in along.items()}
    seeds = _seeds(program, mode, direction, wanted)
    places = in_reading_order(program, output)
    graph = graph_in(places, (output,))
    by_name = {name: places[leaf] for name, leaf in program.variables.items() if leaf in places}
    for name, i in by_name.items():
        graph.data[i] = values[name]
    root = places[output]
    evaluation = Evaluation(REAL, graph, {name: i for name, i in by_name.items() if name in wanted})
    # Not the order in which branches were asked for: that of the trace.
    evaluation.order = sorted(evaluation.order)
    varying = [n for n, speed in seeds.items() if speed] if mode == "forward" else wanted
    active = evaluation.activity([by_name[n] for n in varying if n in by_name])
    adjoints, kinks, order = evaluation.reverse({root: 1.0}, active)
    flows: list[float | None] = []
    if mode == "forward":
        flows = evaluation.tangents({by_name[n]: seeds[n] for n in varying if n in by_name}, active, order=order)
    writer = Writer(program, graph, order, active, measured, rate)
    rows = [writer.row(i) for i in writer.listed]
    at = {i: k for k, i in enumerate(writer.listed)}
    pulls = _pulls(writer, adjoints, at) if mode == "reverse" else []
    kink_warnings = evaluation.warnings(kinks)
    notes = [Note("kink", f"{w.message}; {w.hint}") for w in kink_warnings]
    if mode == "reverse":
        # how small an adjoint is depends on its unit
        notes += [] if measured is not None else _vanishing(writer, adjoints, pulls, rows)
        notes += [
            Note("cut off", f"nothing flows back to {row.name}")
            for i, row in zip(writer.listed, rows, strict=True)
            if adjoints[i] is None and active[i] and row.kind != "condition"
        ]
    notes += _branches(writer, text)
    in_reverse = mode == "reverse"
    gradient = {n: adjoints[by_name[n]] if n in by_name else 0.0 for n in wanted} if in_reverse else {}
    answer = Trace(
        text,
        mode,
        writer.letter,
        writer.number(float(graph.data[root]), root),
        {name: values[name] for name in (*program.variables, *(n for n in wanted if n not in program.variables))},
        program.constants,
        tuple(rows),
        tuple(pulls),
        tuple(_pushes(writer, flows, at)) if mode == "forward" else (),
        tuple(writer.number(adjoints[i], root, i) for i in writer.listed) if in_reverse else (),
        {n: unsigned(x) or 0.0 for n, x in gradient.items()},
        seeds,
        writer.tangent(flows[root] or 0.0, root) if mode == "forward" else None,
        tuple(notes),
        tuple(warnings + kink_warnings),
    )
    if measured is None:
        return answer
    from ..inputs.quantities import in_its_unit, measured_number

    point_units = measured.point
    return answer._replace(
        point={name: in_its_unit(measured.number_of(name, x), point_units[name]) for name, x in answer.point.items()},
        gradient={name: measured_number(x, measured.derivative([name])) for name, x in answer.gradient.items()},
        direction={name: writer.per_rate(x, measured.differences[name]) for name, x in seeds.items()},
        warnings=(*answer.warnings, *measured.warnings),
        has_units=True,
    )


def _seeds(
    program: Program, mode: str, direction: Mapping[str, float | str] | None, wanted: Sequence[str]
) -> dict[str, float]:
    if mode == "reverse":
        return {}
    if not direction:
        if len(wanted) != 1:
            first = wanted[0] if wanted else "x"
            raise usage_error("a tangent trace needs a direction", f"say which way to go: `--direction {first}=1`")
        return {wanted[0]: 1.0}
    seeds = {name: as_number(value, name) for name, value in direction.items()}
    for name in seeds:
        if name not in program.variables:
            raise usage_error(
                f"the direction names `{name}`, which is not a variable of this program",
                f"its variables: {quoted(program.variables)}",
            )
    return seeds


# ---- order and names ----------------------------------------------------------------------------------------------
def in_reading_order(program: Program, output: Value) -> dict[Value, int]:
    """The nodes with their places: by statement, and within one by level, first inputs, then what is made from these.

    This is how the survey literature numbers them, and it is an order in which both sweeps can run.
    """
    needed = in_order((output,))
    roots = [b.value for b in program.bindings if b.value in needed]
    statements = in_order([*roots, output])
    last = 0
    statement: dict[Value, int] = {}
    ends = [statements[root] for root in (*roots, output)]
    level: dict[Value, int] = {}
    for n, k in statements.items():
        while last < len(ends) - 1 and k > ends[last]:
            last += 1
        statement[n] = last
        level[n] = 1 + max([level[p] for p in n._prev], default=-1)
    ordered = sorted(statements, key=lambda n: (level[n] > 0, statement[n], level[n]))
    return {n: i for i, n in enumerate(ordered)}


def is_negative_literal(n: Value) -> bool:
    """Whether the node is no operation to a reader, but the number -1, say."""
    return n.primitive is NEG and not n.label and n._prev[0].primitive is CONSTANT and not n._prev[0].label


class Writer:
    """The names of nodes, their formulas in terms of their inputs' names, and their numbers, in their units."""

    def __init__(
        self,
        program: Program,
        graph: Graph,
        order: Sequence[int],
        active: Activity,
        units: ProgramUnits | None = None,
        rate: Unit | None = None,
    ) -> None:
        self.graph, self.order, self.active = graph, order, active
        self.units: list[Unit] | None = None
        """The unit of each node; None where they have none."""
        if units is not None:
            place = {value: program.place(i) for i, value in enumerate(program.values)}
            self.units = [units.node(i) for n in graph.places if (i := place[n]) is not None]
        self.rate = rate
        """The unit of what tangents are per."""
        self.nodes: list[Value] = graph.places
        nodes = self.nodes
        used = {n.label for n in nodes if n.label}
        self.letter = next(
            (x for x in "vuwzk" if not any(n[:1] == x and n[1:].isdigit() for n in used)), "node"
        )  # subscript digits are digits here, too
        place_of_leaf = {leaf: k for k, leaf in enumerate(program.variables.values())}
        inputs = sorted((i for i in order if nodes[i].primitive is VARIABLE), key=lambda i: place_of_leaf[nodes[i]])
        self.listed = inputs + [i for i in order if self.is_listed(i)]
        self.names: dict[int, str] = {}
        self.numbered: set[int] = set()
        times: Counter[str] = Counter()
        for i in self.listed:
            label = self.nodes[i].label
            if label:
                times[label] += 1
                self.names[i] = label if times[label] == 1 else f"{label}[{times[label]}]"
            else:
                self.numbered.add(i)
                self.names[i] = f"{self.letter}{len(self.numbered)}"
        self.leaves: dict[int, Value] = {}

    def is_listed(self, i: int) -> bool:
        """Whether a node that is no variable has a line of its own: literals stand in the formulas."""
        n = self.nodes[i]
        if n.primitive is VARIABLE:
            return False
        return bool(n.label) or i == self.order[-1] or (bool(n._prev) and not is_negative_literal(n))

    def leaf(self, i: int) -> Value:
        """The node as a leaf that formulas are written in: a constant, or a name with a value."""
        leaf = self.leaves.get(i)
        if leaf is None:
            n = self.nodes[i]
            if n.primitive is CONSTANT and not n.label:
                leaf = n
            elif is_negative_literal(n):
                leaf = constant(-n._prev[0].data, f"-{n._prev[0].source}")
            else:
                leaf = variable(self.names.get(i, "…"))
                leaf.data = self.number(self.graph.data[i], i)
            self.leaves[i] = leaf
        return leaf

    def formulas(self, i: int) -> list[Value | None]:
        """The local derivative by each input."""
        inputs = tuple([self.leaf(p) for p in self.graph.parents[i]])
        return local_formulas(self.graph.primitives[i], inputs, self.names[i])

    def row(self, i: int) -> TraceRow:
        """The node's line in the primal trace."""
        n, primitive = self.nodes[i], self.graph.primitives[i]
        value = self.graph.data[i]
        if n._prev:
            graph = node(primitive, tuple([self.leaf(p) for p in self.graph.parents[i]]))
            kind = "condition" if primitive.gives_condition else "operation"
        else:
            kind = "variable" if primitive is VARIABLE else "constant"
            graph = variable(n.label) if primitive is VARIABLE else constant(value, n.source)
        inputs = tuple(self.leaf(p).label or expression_text(self.leaf(p)) for p in self.graph.parents[i])
        span = (n.span.start, n.span.end) if n.span else None
        return TraceRow(
            self.names[i],
            kind,
            i in self.numbered,
            n.label if not n._prev else "",
            expression_text(graph),
            graph,
            inputs,
            self.number(value, i),
            span,
        )

    def partials(self, i: int) -> list[tuple[int, Value | None, str, float]]:
        """The inputs that take part in a node, with the local derivative as a formula, its text, and a number."""
        numbers = local_derivatives(self.graph, REAL, i, self.active)
        if all(x is None for x in numbers):
            return []
        return [
            (p, formula, "" if formula is None else expression_text(formula), x)
            for p, formula, x in zip(self.graph.parents[i], self.formulas(i), numbers, strict=True)
            if x is not None
        ]

    def number(self, x: Any, i: int, by: int | None = None) -> Any:
        """The value of a node, or its derivative by another, as it is shown."""
        if self.units is None:
            return unsigned(x)
        from ..inputs.quantities import measured_number
        from ..quantities.unit import ratio

        unit = self.units[i]
        return measured_number(unsigned(x), unit if by is None else ratio(unit, self.units[by]))

    def tangent(self, x: Any, i: int) -> Any:
        """The derivative of a node along the direction."""
        return unsigned(x) if self.units is None else self.per_rate(x, self.units[i])

    def per_rate(self, x: Any, unit: Unit) -> Any:
        """The derivative along the direction of what has a unit."""
        from ..inputs.quantities import measured_number
        from ..quantities.unit import ratio

        rate = self.rate
        return measured_number(unsigned(x), unit.difference if rate is None or not rate.atoms else ratio(unit, rate))


# ---- sweeps -------------------------------------------------------------------------------------------------------
def _pulls(writer: Writer, adjoints: Sequence[float | None], at: Mapping[int, int]) -> list[AdjointStep]:
    sources = [i for i in reversed(writer.order) if adjoints[i] is not None and writer.active[i]]
    steps = [(i, *partial) for i in sources for partial in writer.partials(i)]
    consumers = Counter(p for _, p, *_ in steps)
    (root,) = writer.graph.roots
    totals: dict[int, float] = {}
    pulls = []
    for i, p, formula, text, partial in steps:
        upstream: Any = adjoints[i]
        before, product = totals.get(p), upstream * partial
        totals[p] = product if before is None else before + product
        received, earlier, total = (writer.number(x, root, p) for x in (product, before, totals[p]))
        numbers = writer.number(float(partial), i, p), writer.number(upstream, root, i), received, earlier, total
        pulls.append(AdjointStep(at[i], at[p], text, formula, *numbers, accumulates=consumers[p] > 1))
    return pulls


def _pushes(writer: Writer, flows: Sequence[float | None], at: Mapping[int, int]) -> Iterator[TangentStep]:
    for i in writer.order:
        if flows[i] is not None and writer.graph.parents[i]:
            terms = [
                Term(at[p], text, formula, writer.number(float(partial), i, p), writer.tangent(flows[p], p))
                for p, formula, text, partial in writer.partials(i)
                if flows[p] is not None
            ]
            yield TangentStep(at[i], tuple(terms), writer.tangent(flows[i], i))


# ---- what went on in the numbers ----------------------------------------------------------------------------------
def _vanishing(
    writer: Writer, adjoints: Sequence[float | None], pulls: Sequence[AdjointStep], rows: Sequence[TraceRow]
) -> list[Note]:
    notes = []
    largest: dict[int, float] = {}
    products: dict[int, float] = {}
    for pull in pulls:
        largest[pull.target] = max(largest.get(pull.target, 0.0), abs(pull.upstream))
        products[pull.target] = max(products.get(pull.target, 0.0), abs(pull.product))
    seen: set[int] = set()
    for pull in pulls:
        k = pull.target
        adjoint = adjoints[writer.listed[k]]
        if k in seen or adjoint is None:
            continue
        seen.add(k)
        adjoint += 0.0
        name, source = rows[k].name, rows[pull.source]
        through = f"{source.name} = {source.formula}" if len(source.formula) <= 60 else source.name
        if largest[k] >= VANISHED > abs(adjoint):
            if products[k] > CANCELLED * abs(adjoint):
                notes.append(Note("cancelled", f"what {name} receives cancels: its adjoint is {adjoint:.3g}"))
            else:
                notes.append(Note("vanished", f"the adjoint of {name} vanishes in {through}: {adjoint:.3g}"))
        elif largest[k] <= EXPLODED < abs(adjoint):
            notes.append(Note("exploded", f"the adjoint of {name} explodes in {through}: {adjoint:.3g}"))
    return notes


def _branches(writer: Writer, text: str) -> list[Note]:
    notes = []
    for i in writer.order:
        if writer.graph.primitives[i] is not WHERE:
            continue
        condition, x, y = writer.graph.parents[i]
        untaken = writer.nodes[y if writer.graph.data[condition] else x]
        written = untaken.label or (text[untaken.span.start : untaken.span.end] if untaken.span else "")
        if len(written) > 60:
            written = written[:57] + "…"
        truth = "true" if writer.graph.data[condition] else "false"
        outcome = f"{writer.names.get(condition, 'its condition')} is {truth}"
        notes.append(Note("branch", f"the branch `{written}` of {writer.names[i]} is not taken: {outcome}"))
    return notes
