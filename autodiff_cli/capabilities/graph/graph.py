"""Plain descriptions of graphs, for trees, pictures and pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...api.api_answers import Drawing
from ...capability import resolve
from ...engine.graphs.value import Value, graph_of
from ...engine.numbers.floats import REAL
from ...engine.run.flat_graph import Graph, in_order
from ...engine.table.operators import CONSTANT, VARIABLE
from ...errors import Diagnostic, ExpressionError
from ...questions.figures import unsigned
from ...questions.problem import parse
from ...record import Record
from ..derivatives.gradient import Gradient, gradient

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import Units


# More terms, or nodes, that stand at one place of the text are folded.
MANY_ALIKE = 8
# The most nodes of all pictures with one open fold; with more there are none.
MAX_DRAWN = 1_000


class PictureInput(Record):
    """A line of the picture: its source node, and whether the evaluation followed it."""

    node: int
    taken: bool
    partial: float | None = None
    """The local derivative; None without numbers or an adjoint along the line."""
    unit: Unit | None = None


class PictureNode(Record):
    """A node of the graph: its name, operation and numbers."""

    label: str
    operation: str
    variable: bool
    ordered: bool
    taken: bool
    """Whether it was evaluated; True without a point."""
    literal: float | str | None
    """The number of a literal in coherent units, or its text with a unit."""
    inputs: tuple[PictureInput, ...]
    value: float | bool | None
    unit: Unit | None
    adjoint: float | None
    grad_unit: Unit | None

    @property
    def data(self) -> float | bool | None:
        """Return the value; None without a point or evaluation, except for literals."""
        return self.value if self.taken or self.literal is not None else None

    @property
    def grad(self) -> float | None:
        """Return the derivative of the output by it; None if absent."""
        return self.adjoint if self.taken else None


class Picture(Drawing):
    """The unsimplified graph of a program; `numbers` is false without a point."""

    declaration = """
    gradient: the partial derivatives, by name
    outputs: which of `nodes` are outputs, from 0
    nodes: the nodes, each after its inputs
      name from=label nonempty: its name; null without one
      operation nonempty: its operation; null for a leaf
      data: its value
      grad: the derivative of the output by it
      inputs: which of `nodes` are its inputs
      evaluated from=taken: whether it was evaluated
    units
    warnings
    """

    text: str
    numbers: bool
    nodes: tuple[PictureNode, ...]
    outputs: tuple[int, ...]
    gradient: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    graph: Graph
    order: tuple[int, ...]
    units: Units | None = None

    @property
    def dot(self) -> str:
        """The picture in the language of Graphviz."""
        return self.to_text("dot")

    def _format(self, path: str) -> str:
        drawn_as = resolve("graph.graph_view.drawn_as")
        return str(drawn_as(path))

    def render(
        self, filename: str = "graph", format: str | None = None, *, view: bool = False
    ) -> str:
        """Write the picture to `filename` with the ending of its format, as Graphviz's drawings do;
        return the path.

        A file that is there is replaced. With `view` the system's program shows it.
        """
        path = f"{filename}.{format or self._file_format}"
        self.save(path, force=True)
        if view:
            import webbrowser
            from pathlib import Path

            webbrowser.open(Path(path).resolve().as_uri())
        return path

    _file_format = "svg"

    def __repr__(self) -> str:
        return f"<Picture of {len(self.nodes):,} node{'' if len(self.nodes) == 1 else 's'}>"


def picture(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    units: Sequence[str] | str | None = None,
    symbolic: bool = False,
) -> Picture:
    """Return the graph of `text` at `point` with its numbers; the output is in `units`.

    Without numbers, `symbolic`, there may be several outputs, and names of the point are variables
    even if called like a constant. Raises `ExpressionError` as `gradient` does.
    """
    if symbolic:
        return to_picture(parse(text, point or ()).graph, text)
    try:
        return picture_of(gradient(text, point, wrt=wrt, units=units))
    except ExpressionError as error:
        if error.kind == "missing_value":
            hint = f"{error.hint}; or draw it without numbers: `--symbolic`"
            error.diagnostic = error.diagnostic._replace(hint=hint, offers=())
        raise


def picture_of(result: Gradient[float]) -> Picture:
    """Return the graph of a gradient in doubles, with its numbers."""
    assert result.graph is not None
    answer = to_picture(result.graph, result.text)._replace(
        gradient=result.gradient, warnings=result.warnings
    )
    if result.units is None:
        return answer
    nodes = [{"data": node.unit or "", "grad": node.grad_unit or ""} for node in answer.nodes]
    return answer._replace(units=type(result.units)(gradient=result.units["gradient"], nodes=nodes))


def gather(picture: Picture) -> Picture:
    """Return the picture with each chain of one operation as one node."""
    drawn = to_picture(picture.graph, picture.text, chains=True)
    return drawn._replace(gradient=picture.gradient, warnings=picture.warnings, units=picture.units)


def to_picture(
    source: Graph | Iterable[Value],
    text: str = "",
    *,
    roots: Sequence[int] | None = None,
    chains: bool = False,
    partials: bool = True,
) -> Picture:
    """Return the picture of a graph below its outputs or other `roots`, without evaluation.

    With `chains` each chain of one operation is one node; without `partials` lines have no
    derivatives.

    >>> x = Value(3.0, label="x")
    >>> square = x * x
    >>> square.backward()
    >>> [(node.label, node.operation, node.data, node.grad) for node in to_picture([square]).nodes]
    [('x', '', 3.0, 6.0), ('', '*', 9.0, 1.0)]
    """
    graph = graph_of(source)
    if graph is not source:
        graph.grads = [
            None if value.primitive is CONSTANT else value.grad for value in graph.places
        ]
    roots = graph.roots if roots is None else roots
    order = in_order(graph.parents, roots)
    taken, evaluated = _evaluated(graph, order, roots)
    links = chain_nodes(graph, order, roots) if chains else set[int]()
    drawn = [i for i in order if i not in links]
    place = {i: k for k, i in enumerate(drawn)}
    parts = _PictureParts(graph, place, links, taken, evaluated, partials)
    nodes = tuple([parts.node(i) for i in drawn])
    outputs = tuple([place[root] for root in roots])
    return Picture(text, graph.grads is not None, nodes, outputs, {}, (), graph, tuple(drawn))


class _PictureParts(NamedTuple):
    """What the nodes of a picture are made of."""

    graph: Graph
    place: Mapping[int, int]
    """The numbers of the nodes that are drawn."""
    links: set[int]
    taken: Mapping[int, Sequence[bool]]
    evaluated: Mapping[int, bool]
    partials: bool

    def node(self, i: int) -> PictureNode:
        """Return a node with its numbers, in units if it has one."""
        graph = self.graph
        primitive, label, value, grads = (
            graph.primitives[i],
            graph.labels.get(i, ""),
            graph.data[i],
            graph.grads,
        )
        unit = None if isinstance(value, bool) else graph.unit(i)
        symbol, inputs = "", tuple[PictureInput, ...]()
        if graph.parents[i]:
            symbol, inputs = primitive.symbol, self.inputs(i, unit)
        literal = None
        if not symbol and not label and primitive is not VARIABLE:
            _, written = graph.constants.get(i, (None, None))
            literal = written if written and written.endswith("]") else unsigned(value)
        data = None if grads is None and literal is None else unsigned(value)
        grad = None if grads is None or isinstance(value, bool) else grads[i]
        numbers: tuple[Any, Unit | None, Any, Unit | None] = (data, None, grad, None)
        if unit is not None:
            numbers = (*_in_unit(data, unit), *_in_unit(grad, graph.adjoint_unit(i)))
        ordered = len(inputs) > 1 and not primitive.commutative
        kind = primitive is VARIABLE, ordered, self.evaluated[i], literal
        return PictureNode(label, symbol, *kind, inputs, *numbers)

    def inputs(self, i: int, unit: Unit | None) -> tuple[PictureInput, ...]:
        """Return the lines into a node, or into its chain, which has this unit."""
        graph, inputs = self.graph, []
        for user, k, partial in in_edges(graph, i, self.links, self.partials):
            p = graph.parents[user][k]
            measured = (partial, None) if unit is None else _in_unit(partial, unit, graph.unit(p))
            inputs.append(PictureInput(self.place[p], self.taken[user][k], *measured))
        return tuple(inputs)


def _evaluated(
    graph: Graph, order: Sequence[int], roots: Sequence[int]
) -> tuple[dict[int, Sequence[bool]], dict[int, bool]]:
    """Return which inputs of each node are evaluated, and which nodes: all but the branches that
    are not taken.
    """
    evaluated = dict.fromkeys(order, graph.grads is None) | dict.fromkeys(roots, True)
    taken: dict[int, Sequence[bool]] = {}
    # backwards, every node comes after all its consumers
    for i in reversed(order):
        parents, demand = graph.parents[i], graph.primitives[i].lazy_inputs
        taken[i] = [evaluated[i]] * len(parents)
        if demand and graph.grads and evaluated[i]:
            # the first input decides which others are evaluated
            asked = 0, *demand(*graph.inputs(i))
            taken[i] = [k in asked for k in range(len(parents))]
        evaluated |= {p: True for p, flag in zip(parents, taken[i], strict=True) if flag}
    return taken, evaluated


def _in_unit(x: Any, unit: Unit | None, by: Unit | None = None) -> tuple[Any, Unit | None]:
    if unit is not None and by is not None:
        from ...engine.quantities.unit import ratio

        unit = ratio(unit, by)
    if x is None or unit is None:
        return x, unit
    from ...engine.quantities.presentation import present_difference  # only units need it

    return present_difference(x, unit), unit


def chain_nodes(graph: Graph, order: Iterable[int], roots: Iterable[int]) -> set[int]:
    """Return the links of associative chains: unnamed, used once, by one operation."""
    primitives = graph.primitives
    uses = Counter(roots)
    links: set[int] = set()
    for i in order:
        uses.update(graph.parents[i])
        if primitives[i].associative:
            links.update(p for p in graph.parents[i] if primitives[p] is primitives[i])
    return {p for p in links if uses[p] == 1 and not graph.labels.get(p)}


def in_edges(
    graph: Graph, i: int, links: set[int], partials: bool = False
) -> Iterator[tuple[int, int, float | None]]:
    """Yield consumer, position and local derivative of each input of a node's chain."""
    grads = graph.grads
    if not partials and links.isdisjoint(graph.parents[i]):
        yield from [(i, k, None) for k in range(len(graph.parents[i]))]
        return

    def operands(user: int, above: float | None) -> Iterator[tuple[int, int, float | None]]:
        parents = graph.parents[user]
        slopes: Sequence[float | None] = [None] * len(parents)
        if above is not None and grads is not None:
            # an adjoint of 0 never asked for a derivative
            with suppress(ValueError, ArithmeticError):
                active = [grads[p] is not None for p in parents]
                slopes = graph.primitives[user].slopes(
                    REAL, graph.inputs(user), graph.data[user], active
                )
        for k in reversed(range(len(parents))):
            slope = slopes[k]
            yield user, k, None if slope is None or above is None else above * slope

    waiting = [*operands(i, 1.0 if partials and grads and grads[i] is not None else None)]
    while waiting:
        user, k, slope = waiting.pop()
        if graph.parents[user][k] in links:
            waiting += operands(graph.parents[user][k], slope)
        else:
            yield user, k, None if slope is None else slope + 0.0


# ---- folding
class Fold(Record):
    """A node of a folded picture, and the nodes it stands for."""

    declaration = """
    members: the places of the nodes that it stands for
    inputs: which of `folds` are its inputs
    results: which of `nodes` have the numbers that it shows: its own, or how many are known
    words: what it stands for; empty for a single node
    """

    members: tuple[int, ...]
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    """The members whose numbers it shows: its own, or how many of theirs are known."""
    words: str


class Folding(Record):
    """A folded picture, and what each of its nodes stands for."""

    picture: Picture
    folds: tuple[Fold, ...]
    opened: int | None = None
    """The node of the fully folded picture that is open here, if any."""


def is_unrolled(graph: Graph, nodes: Iterable[int]) -> bool:
    """Return whether nodes, like entries of a list, share operation and place."""
    return (
        len({(span, graph.primitives[i]) for i in nodes if (span := graph.span(i)) is not None})
        == 1
    )


def all_foldings(picture: Picture) -> tuple[Folding, ...]:
    """Return the picture with long sums, products and lists folded, if any.

    After it come those with one fold open. The picture has one output.
    """
    graph = picture.graph
    links = chain_nodes(graph, picture.order, picture.order[-1:])
    terms: dict[int, int] = {}
    for k, i in enumerate(picture.order):
        edges = () if i in links else in_edges(graph, i, links)
        operands = [graph.parents[user][place] for user, place, _ in edges]
        if len(operands) > MANY_ALIKE and is_unrolled(graph, operands):
            terms[k] = len(operands)
    if not terms:
        return ()
    users: list[list[int]] = [[] for _ in picture.nodes]
    for k, node in enumerate(picture.nodes):
        for edge in node.inputs:
            users[edge.node].append(k)
    first = _folding(picture, users, terms)
    closed = [k for k, fold in enumerate(first.folds) if fold.words]
    if len(closed) * len(first.folds) + len(picture.nodes) > MAX_DRAWN:
        return (first,)
    opened = [
        _folding(picture, users, terms, {*first.folds[k].members})._replace(opened=k)
        for k in closed
    ]
    return (first, *opened)


def _folding(
    picture: Picture,
    users: Sequence[Sequence[int]],
    terms: Mapping[int, int],
    apart: Collection[int] = (),
) -> Folding:
    nodes = picture.nodes
    terms = {k: count for k, count in terms.items() if k not in apart}
    head = _heads(nodes, users, terms)
    group, depth = _alike(picture, users, head, terms, apart)
    members = _members(group, head)
    place = {first: k for k, first in enumerate(sorted(members, key=depth.__getitem__))}
    folds = []
    for first in place:
        inside = members[first]
        heads = [k for k in inside if head[k] == k]
        inputs: list[int] = []
        for source in _sources(nodes, inside, head, group):
            # several lines from one folded node are drawn once
            once = max(len(inside), len(members[source])) > 1
            if source != first and not (once and place[source] in inputs):
                inputs.append(place[source])
        words = (
            _words([nodes[k] for k in heads], terms.get(first))
            if len(inside) > 1 or first in terms
            else ""
        )
        folds.append(Fold(tuple(inside), tuple(inputs), tuple(heads), words))
    drawn = tuple([_fold_node(nodes, fold) for fold in folds])
    output = place[group[head[len(nodes) - 1]]]
    return Folding(picture._replace(nodes=drawn, outputs=(output,)), tuple(folds))


def _heads(
    nodes: Sequence[PictureNode], users: Sequence[Sequence[int]], terms: Mapping[int, int]
) -> dict[int, int]:
    """Return what each node is drawn with: the sum that alone needs it, else itself."""
    head: dict[int, int] = {}
    for k in reversed(range(len(nodes))):
        above = {head[user] for user in users[k]}
        alone = above.pop() if len(above) == 1 else k
        head[k] = alone if alone in terms and not nodes[k].label and k not in terms else k
    return head


def _members(group: Mapping[int, int], head: Mapping[int, int]) -> dict[int, list[int]]:
    """Return the nodes of each group, in order."""
    members: dict[int, list[int]] = {}
    for k in sorted(head):
        members.setdefault(group[head[k]], []).append(k)
    return members


def _sources(
    nodes: Sequence[PictureNode],
    inside: Iterable[int],
    head: Mapping[int, int],
    group: Mapping[int, int],
) -> list[int]:
    """Return the groups that the inputs of these nodes are in."""
    return [group[head[edge.node]] for k in inside for edge in nodes[k].inputs]


def _alike(
    picture: Picture,
    users: Sequence[Sequence[int]],
    head: dict[int, int],
    terms: Iterable[int],
    apart: Collection[int],
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the node that each head is drawn as (those `apart` as themselves), and depths.

    Many heads at one place of the text and one depth are drawn as the first. Nodes of one depth do
    not need each other, so the graph stays acyclic.
    """
    nodes, depth = picture.nodes, _depths(picture.nodes, head)
    group = {k: k for k in head if head[k] == k}
    many = _sets_of_alike(picture, {*group} - {*apart}, depth)
    several = {*terms, *apart}
    for alike in many:
        if nodes[alike[0]].operation:
            group.update(dict.fromkeys(alike, alike[0]))
            several.add(alike[0])
    several |= {group[head[k]] for k in head if head[k] != k}
    for alike in [alike for alike in many if not nodes[alike[0]].operation]:
        # a leaf with other users is drawn by itself
        inner = [k for k in alike if all(group[head[user]] in several for user in users[k])]
        if len(inner) > MANY_ALIKE:
            group.update(dict.fromkeys(inner, inner[0]))
    return group, depth


def _sets_of_alike(
    picture: Picture, heads: Collection[int], depth: Mapping[int, int]
) -> list[list[int]]:
    """Return the sets of many heads that have one place of the text, one operation and one
    depth.
    """
    sets: dict[object, list[int]] = {}
    for k, (node, i) in enumerate(zip(picture.nodes[:-1], picture.order, strict=False)):
        name, entry, _ = node.label.partition("[")
        if k in heads and (entry or not name) and (span := picture.graph.span(i)) is not None:
            at = () if node.variable else (span, depth[k])
            sets.setdefault((picture.graph.primitives[i], name, entry, at), []).append(k)
    return [alike for alike in sets.values() if len(alike) > MANY_ALIKE]


def _depths(nodes: Sequence[PictureNode], head: Mapping[int, int]) -> dict[int, int]:
    """Return for each head the most nodes below it, drawn as their heads."""
    depth: dict[int, int] = {}
    for k, node in enumerate(nodes):
        below = max(
            (depth[head[edge.node]] for edge in node.inputs if head[edge.node] != head[k]),
            default=-1,
        )
        depth[head[k]] = max(depth.get(head[k], 0), below + 1)
    return depth


def _words(heads: Sequence[PictureNode], terms: int | None) -> str:
    first = heads[0]
    if not first.operation:
        return f"{first.label} … {heads[-1].label}" if first.label else f"{len(heads)} numbers"
    name = first.operation
    if terms is not None:
        name = {"+": "sum", "*": "product", "prod": "product"}.get(
            name, name
        ) + f" of {terms} terms"
    return name if len(heads) == 1 else f"{len(heads)} × {name}"


def _first_known(numbers: Iterable[Any]) -> Any:
    return next((number for number in numbers if number is not None), None)


def _fold_node(nodes: Sequence[PictureNode], fold: Fold) -> PictureNode:
    shown = [nodes[k] for k in fold.results]
    first = shown[0]
    inputs = tuple([PictureInput(k, True) for k in fold.inputs])
    if len(shown) == 1 and fold.words:
        return first._replace(operation=fold.words, inputs=inputs, ordered=False)
    if len(shown) == 1 and len(first.inputs) == len(inputs):
        inputs = tuple(
            [line._replace(node=k) for line, k in zip(first.inputs, fold.inputs, strict=True)]
        )
    if len(shown) == 1:
        return first._replace(inputs=inputs)
    # several have no number of their own, and room for how many are known
    data, grad = (
        _first_known(node.data for node in shown),
        _first_known(node.grad for node in shown),
    )
    label = first.label.partition("[")[0] if first.operation else fold.words
    operation = fold.words if first.operation else ""
    kind = first.variable, False, any(node.taken for node in shown), None
    return PictureNode(label, operation, *kind, inputs, data, None, grad, None)
