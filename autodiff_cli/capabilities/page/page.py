"""A program as a page to learn from: graph, names, formulas, code per operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Plotted
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import local_partials
from ...engine.graphs.value import Value, constant, node, variable
from ...engine.run.flat_graph import Graph
from ...engine.run.sweep import domain_description
from ...engine.table.operators import DIV, NE, VARIABLE, WHERE
from ...engine.table.primitive import Primitive
from ...errors import Diagnostic, ExpressionError, limit_error
from ...language.printer import expression_text
from ...questions.figures import unsigned
from ...questions.optional_units import pose_with_units
from ...record import Record
from ..derivatives.gradient import gradient
from ..export.export import export
from ..formulas.derivation import Derivation
from ..formulas.diff import diff
from ..graph.graph import Folding, Picture, all_foldings, picture_of
from ..trace.trace import NodeTexts, in_reading_order, signed_constant

if TYPE_CHECKING:
    from ...questions.quantities import Units

# The most nodes that a page steps through.
MAX_NODES = 2_000
# The most variables, and steps of all derivations, on a page.
MAX_DERIVED, MAX_STEPS = 6, 60
# Characters of a local derivative's formula; a longer one is only a number.
MAX_FORMULA_LENGTH = 40
# The first of the placeholders for the inputs, then the output, in formulas.
SLOTS = "\ue000"


class Operation(Record):
    """An operation that nodes with the same fixed inputs share."""

    source: str
    """JavaScript function `f` from the inputs to value and local derivatives."""
    name: str
    domain: str
    domain_message: str


class Node(Record):
    """A node of the graph, in the order of the `picture`."""

    name: str
    numbered: bool
    operation: int | None
    inputs: tuple[int, ...]
    slots: tuple[int | None, ...]
    """For each input, its argument of the operation; None for a literal."""
    formula: str
    """The operation, with a character of `SLOTS` for each input."""
    partials: tuple[str, ...]
    """The local derivatives as formulas; empty where too long."""
    kind: str
    """`variable`, `constant`, `condition`, `number`, or a lazy operation: `where`, `and`, `or`."""
    value: float | None
    source: str
    selects: bool
    place: int | None
    """A number shared by operations at one place of the text; None without one."""


class Page(Plotted, shows=("text", "point")):
    """All that a page needs to evaluate a program and to step through it."""

    declaration = """
    output: which of `nodes` is the output
    order: the nodes in the order of evaluation
    nodes: the nodes
      name: the name of the node
      label: its name as it is drawn
      adjoint: its adjoint as it is drawn
      text: a literal as it is drawn
      kind: `variable`, `constant` or `operation`
      value: the value of a constant, in a coherent unit of the SI
      operation: which of `operations` it is
      inputs: which of `nodes` are its inputs
      slots: which argument of the operation each input is
      formula: the operation on its inputs
      partials: the local derivatives as formulas
      selects: whether it selects one of its inputs
      place: the same number for nodes at one place of the text
    operations: the operations, whose functions the page has
      name: the name
      domain: the domain
      trouble from=domain_message: the message outside the domain
    folds keys=Fold: the nodes of the graph with folded lists; empty where none is
    opened optional: the graphs where one of these is open; absent where none is folded
      fold from=opened: which of `folds` it is
      folds keys=Fold: the nodes of this graph
    variables: the nodes of the variables, by name
    wanted: the variables to differentiate by
    point: the point at which the page begins
    units
    scales optional: how a number in each of `units` becomes coherent with the SI, by unit; absent \
    without units
      numerator: what it is multiplied by
      shift: what is added then, of temperatures in °C and °F
      denominator: what the sum is divided by
    """

    text: str
    picture: Picture
    nodes: tuple[Node, ...]
    order: tuple[int, ...]
    operations: tuple[Operation, ...]
    output: int
    variables: dict[str, int]
    wanted: tuple[str, ...]
    point: dict[str, float]
    derivations: tuple[Derivation, ...]
    warnings: tuple[Diagnostic, ...]
    folded: tuple[Folding, ...]
    units: Units | None = None

    def __str__(self) -> str:
        return self.html.removesuffix("\n")

    @property
    def html(self) -> str:
        """The whole page, which needs no other file."""
        return self.to_text("html")

    def _repr_html_(self) -> str | None:
        from html import escape

        frame = (
            'width="100%" height="760" style="border:0" sandbox="allow-scripts" title="autodiff"'
        )
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


def page(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    units: Sequence[str] | str | None = None,
) -> Page:
    """Return the page about a program, which begins at `point`; the value is in `units`.

    Raises `ExpressionError` as `gradient` does; `limit` for more than `MAX_NODES` nodes; `usage`
    for an operation that JavaScript lacks.
    """
    answer = gradient(text, point, wrt=wrt, units=units)
    drawn = picture_of(answer)
    if len(drawn.nodes) > MAX_NODES:
        raise limit_error(
            f"the graph has {len(drawn.nodes):,} nodes; a page steps through {MAX_NODES:,} at most",
            "look at a part of the program, or at the records of `trace`",
        )
    program, graph = pose_with_units(text, point, wrt).program, drawn.graph
    place = {i: k for k, i in enumerate(drawn.order)}
    reading, reading_place = in_reading_order(program)
    # branches not taken have names too: the reader may go there
    writer = NodeTexts(
        reading, range(len(place)), [reading_place[i] for i in program.places.values()]
    )
    text_places: dict[object, int] = {}
    operations: dict[tuple[str, str], tuple[int, Operation]] = {}
    nodes = []
    for i in drawn.order:
        primitive, parents = graph.primitives[i], graph.parents[i]
        span, named = graph.span(i), reading_place[i]
        written: Any = (), "", ()
        used: int | None = None
        if parents:
            code, written = _operation(graph, i)
            key = primitive.name, code
            if key not in operations:
                free = [f"x{k + 1}" for k in written[0] if k is not None]
                source = export(code, "javascript", wrt=free).source
                message = "division by zero" if primitive is DIV else ""
                domain = "" if message else domain_description(primitive, len(parents))
                operation = Operation(source, primitive.written, domain, message)
                operations[key] = len(operations), operation
            used, _ = operations[key]
        here = span, primitive.symbol if parents else ""
        at = None if span is None else text_places.setdefault(here, len(text_places))
        # the loser of a `max` takes no part, nor what a literal 0 cuts off
        selects = primitive.has_structural_zeros
        if primitive.product:
            selects = any(graph.constants.get(p, (1,))[0] == 0 for p in parents)
        kind = _kind(primitive, parents)
        name = writer.names.get(named, ""), named in writer.numbered
        inputs, literal = tuple([place[p] for p in parents]), _literal(graph, i)
        slots, formula, partials = written
        nodes.append(
            Node(*name, used, inputs, slots, formula, partials, kind, *literal, selects, at)
        )
    order = [*reading_place]
    variables = {name: place[i] for name, i in program.places.items()}
    wanted = tuple([name for name in answer.gradient if name in variables])
    return Page(
        text,
        drawn,
        tuple(nodes),
        tuple([place[order[k]] for k in writer.listed]),
        tuple([operation for _, operation in operations.values()]),
        drawn.outputs[0],
        variables,
        wanted,
        {name: answer.point[name] for name in variables},
        _derivations(text, [*answer.gradient]),
        drawn.warnings,
        all_foldings(drawn),
        None if answer.units is None else _units(drawn, answer.units, wanted),
    )


def _units(drawn: Picture, units: Units, free: Sequence[str]) -> Units:
    from ...questions.quantities import step_units, unit_of_rate

    value, point = units["value"], units["point"]
    nodes = []
    for shown in drawn.nodes:
        partials = [edge.unit or "" for edge in shown.inputs]
        nodes.append(
            {"value": shown.unit or "", "adjoint": shown.grad_unit or "", "partials": partials}
        )
    rate = unit_of_rate(step_units(value, point, free), free)
    return type(units)(value=value, point=point, rate=rate, nodes=nodes)


def _derivations(text: str, names: Sequence[str]) -> tuple[Derivation, ...]:
    if not 0 < len(names) <= MAX_DERIVED:
        return ()
    try:
        entries = diff(text, wrt=names, steps=True).derivations
    except ExpressionError:
        return ()
    return entries if sum(len(entry.steps) for entry in entries) <= MAX_STEPS else ()


def _kind(primitive: Primitive, parents: Sequence[int]) -> str:
    """Return what a node is to the page: a variable, a constant, a condition, …"""
    if not parents:
        return "variable" if primitive is VARIABLE else "constant"
    if primitive.lazy_inputs is not None:
        return primitive.name.strip("_")
    return "condition" if primitive.gives_condition else "number"


def _has_unit(graph: Graph, i: int) -> bool:
    return (graph.constants[i][1] or "").endswith("]")


def _literal(graph: Graph, i: int) -> tuple[float | None, str]:
    p = i if i in graph.constants else signed_constant(graph, i)
    if p is None:
        return None, ""
    x, source = graph.constants[p]
    sign = "-" * (p != i)
    with_unit = _has_unit(graph, p) and p not in graph.labels
    return unsigned(-x if sign else x), f"{sign}{source}" if with_unit else ""


def _operation(graph: Graph, i: int) -> tuple[str, tuple[Any, ...]]:
    """Return an operation's code; its arguments by input, its formula and local derivatives.

    In code the inputs are `x1`, `x2` …, and conditions nonzero numbers; literals stay, as a fixed
    exponent needs no derivative. In formulas characters from `SLOTS` stand for the inputs.
    """
    primitive, parents = graph.primitives[i], graph.parents[i]
    slots: list[int | None] = []
    coded: list[Value] = []
    inputs: list[Value] = []
    for k, p in enumerate(parents):
        fixed = p in graph.constants and p not in graph.labels
        slots.append(None if fixed else k)
        code, leaf = variable(f"x{k + 1}"), variable(chr(ord(SLOTS) + k))
        if fixed and _has_unit(graph, p):
            # code has no units: a number is in coherent ones
            code = constant(graph.data[p], repr(float(graph.data[p])))
        elif fixed:
            code = leaf = constant(*graph.constants[p])
        elif graph.primitives[p].gives_condition:
            code = node(NE, (code, constant(0.0, "0")))
        coded.append(code)
        inputs.append(leaf)
    program = node(primitive, coded)
    partials: list[Value | None] = [None] * len(inputs)
    if primitive.gives_condition:
        program = node(WHERE, (program, constant(1.0, "1"), constant(0.0, "0")))
    elif primitive.lazy_inputs is None:
        partials = local_partials(primitive, tuple(inputs), chr(ord(SLOTS) + len(inputs)))
    simple = iter(simplify([partial for partial in partials if partial is not None]))
    texts = ["" if partial is None else expression_text(next(simple)) for partial in partials]
    short = tuple(
        [text if len(text) <= MAX_FORMULA_LENGTH and "where(" not in text else "" for text in texts]
    )
    return expression_text(program), (tuple(slots), expression_text(node(primitive, inputs)), short)
