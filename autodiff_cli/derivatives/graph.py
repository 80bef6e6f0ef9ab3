"""The graph of a program as a plain description to draw pictures from: with its numbers, or without a point.

A graph that lists were unrolled to can be drawn small: with a node for the terms of a sum, and one for nodes alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.walk import Chains
from ..errors import Diagnostic, ExpressionError
from ..graphs.value import Value, in_order
from ..inputs.figures import unsigned
from ..inputs.problem import parse
from ..numbers.floats import REAL
from ..record import Record
from ..table.operators import VARIABLE
from .gradient import Gradient, gradient

if TYPE_CHECKING:
    from ..inputs.quantities import Units
    from ..quantities.unit import Unit


MANY_ALIKE = 8
"""More terms, or nodes, that stand at one place of the text are folded."""

MOST_DRAWN = 1_000
"""Nodes of the pictures in which one fold is open, of all together; where there would be more, there is none."""


class PictureInput(Record):
    """One line of the picture: from the node of this index, and whether the evaluation went along it."""

    node: int
    taken: bool
    partial: float | None = None
    """The partial derivative of the user of the edge; None without numbers, or if no adjoint flows along it."""
    unit: Unit | None = None
    """The unit of the local derivative; None where there are no units."""


class PictureNode(Record):
    """One node of the graph: its name, its operation, and its numbers."""

    label: str
    """The name of a variable, a constant or a binding; empty where it has none."""
    operation: str
    """The symbol of its operation; empty for a leaf."""
    variable: bool
    data: float | bool | None
    """The value; None without a point, and where it was not evaluated. A literal always has its value."""
    grad: float | None
    inputs: tuple[PictureInput, ...]
    """One for each operand, in order."""
    ordered: bool
    """Whether another order of the operands would mean something else."""
    taken: bool
    """Whether it was evaluated; True for all where there is no point."""
    unit: Unit | None = None
    """The unit of the value; None where there are no units."""
    grad_unit: Unit | None = None


class Picture(Record):
    """The unsimplified graph of a program; `numbers` is false if it has no point."""

    text: str
    numbers: bool
    nodes: tuple[PictureNode, ...]
    """Each after its inputs."""
    outputs: tuple[int, ...]
    gradient: dict[str, float]
    """The partial derivatives of the output; empty without numbers."""
    warnings: tuple[Diagnostic, ...]
    roots: tuple[Value, ...]
    """The outputs as the Values that they were read from."""
    units: Units | None = None
    """The units of its numbers, under the names of their fields; None where they have none."""
    node_units: tuple[Unit, ...] | None = None
    """The units of the Values below the outputs, in depth-first order."""

    @property
    def units_of_values(self) -> dict[int, Unit] | None:
        """The units of the Values below the outputs, by their `id`; None where they have none."""
        return (
            None if self.node_units is None else dict(zip(map(id, in_order(self.roots)), self.node_units, strict=True))
        )


def picture(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    units: Sequence[str] | str | None = None,
) -> Picture:
    """The graph of the program `text` with value and derivative at every node, at `point`; the value in these `units`.

    Raises `ExpressionError` as `gradient` does.
    """
    try:
        result = gradient(text, point, wrt=wrt, units=units)
    except ExpressionError as error:
        if error.kind == "missing_value":
            hint = f"{error.hint}; or draw it without numbers: `--symbolic`"
            error.diagnostic = error.diagnostic._replace(hint=hint, offers=())
        raise
    return pictured(result)


def pictured(result: Gradient[float]) -> Picture:
    """The graph of a gradient in doubles, with value and derivative at every node."""
    assert result.output is not None and result.graphed is not None
    answer = described(
        (result.output,),
        result.text,
        gradient=result.gradient,
        warnings=result.warnings,
        units=result.graphed.units_of_values,
    )
    if result.units is None:
        return answer
    nodes = [{"data": node.unit or "", "grad": node.grad_unit or ""} for node in answer.nodes]
    return answer._replace(units=type(result.units)(gradient=result.units["gradient"], nodes=nodes))


def symbolic_picture(text: str, names: Collection[str] = ()) -> Picture:
    """The graph of the program `text` without numbers; it may have several outputs.

    `names` are names that are variables although they are called like a constant. Raises `ExpressionError` where the
    text is not valid.
    """
    return described(parse(text, names).outputs, text, numbers=False)


def gathered(picture: Picture) -> Picture:
    """The picture as one draws it: a chain of one operation, a sum of many terms, as one node."""
    return described(
        picture.roots,
        picture.text,
        numbers=picture.numbers,
        gradient=picture.gradient,
        warnings=picture.warnings,
        chains=Chains(picture.roots),
        units=picture.units_of_values,
    )


def described(
    roots: Sequence[Value],
    text: str = "",
    *,
    numbers: bool = True,
    gradient: Mapping[str, float] | None = None,
    warnings: Sequence[Diagnostic] = (),
    chains: Chains | None = None,
    units: Mapping[int, Unit] | None = None,
) -> Picture:
    """The picture of the graph below some Values, as they are: they are not evaluated here. `chains` become one node.

    Values with `units`, which are by `id`, are in coherent units, and the picture's numbers in their own.

    >>> x = Value(3.0, label="x")
    >>> square = x * x
    >>> square.backward()
    >>> [(node.label, node.operation, node.data, node.grad) for node in described([square]).nodes]
    [('x', '', 3.0, 6.0), ('', '*', 9.0, 1.0)]
    """
    chains = chains or Chains()
    order = in_order(roots)
    evaluated = dict.fromkeys(order, not numbers) | dict.fromkeys(roots, True)
    taken: dict[Value, tuple[bool, ...]] = {}
    # consumers come after their inputs, so going backwards every node is reached after all that might need it
    for node in reversed(order):
        taken[node] = _taken(node) if numbers and evaluated[node] else (evaluated[node],) * len(node._prev)
        for child, flag in zip(node._prev, taken[node], strict=True):
            evaluated[child] = evaluated[child] or flag
    place = {node: k for k, node in enumerate(node for node in order if node not in chains.links)}

    def in_unit(x: Any, unit: Unit | None, by: Unit | None = None) -> tuple[Any, Unit | None]:
        if unit is None:
            return x, None
        if by is not None:
            from ..quantities.unit import ratio

            unit = ratio(unit, by)
        return None if x is None else unit.from_si(x), unit

    drawn = []
    for node in place:
        partials = _partials(node, chains) if numbers and node.grad is not None else {}
        data = unsigned(node.data) if not (node._prev or node.label) or (numbers and evaluated[node]) else None
        grad = node.grad if numbers and evaluated[node] and not isinstance(node.data, bool) else None
        own = {} if units is None or isinstance(data, bool) else units
        of = own.get(id(node))
        inputs = []
        for user, k in chains.edges(node):
            operand = user._prev[k]
            partial = in_unit(partials.get((user, k)), of, own.get(id(operand)))
            inputs.append(PictureInput(place[operand], taken[user][k], *partial))
        data, unit = in_unit(data, of)
        grad, grad_unit = in_unit(grad, own.get(id(roots[0])), of)
        drawn.append(
            PictureNode(
                node.label,
                node._op,
                node.primitive is VARIABLE,
                data,
                grad,
                tuple(inputs),
                len(inputs) > 1 and not node.primitive.commutative,
                evaluated[node],
                unit,
                grad_unit,
            )
        )
    outputs = tuple(place[root] for root in roots)
    answer = Picture(text, numbers, tuple(drawn), outputs, dict(gradient or {}), tuple(warnings), tuple(roots))
    return answer if units is None else answer._replace(node_units=tuple([units[id(value)] for value in order]))


def _partials(node: Value, chains: Chains) -> dict[tuple[Value, int], float]:
    partials: dict[tuple[Value, int], float] = {}
    waiting = [(node, 1.0)]
    while waiting:
        user, above = waiting.pop()
        active = [operand.grad is not None for operand in user._prev]
        try:
            slopes = user.primitive.slopes(REAL, [operand.data for operand in user._prev], user.data, active)
        except (ValueError, ArithmeticError):
            # an adjoint of 0 never asked for it
            continue
        for k, slope in enumerate(slopes):
            if slope is not None and user._prev[k] in chains.links:
                waiting.append((user._prev[k], above * slope))
            elif slope is not None:
                partials[user, k] = above * slope + 0.0
    return partials


def _taken(node: Value) -> tuple[bool, ...]:
    demand = node.primitive.lazy_inputs
    if demand is None:
        return (True,) * len(node._prev)
    have: list[object] = [None] * len(node._prev)
    asked: set[int] = set()
    while new := set(demand(*have)) - asked:
        asked |= new
        for position in new:
            have[position] = node._prev[position].data
    return tuple(position in asked for position in range(len(node._prev)))


# ---- folding ------------------------------------------------------------------------------------------------------
class Fold(Record):
    """A node of a folded picture, and the nodes of the whole one that it stands for."""

    members: tuple[int, ...]
    inputs: tuple[int, ...]
    """The nodes of the folded picture that lines come from, in order."""
    results: tuple[int, ...]
    """The members whose numbers it shows: its own, or how many of theirs are known."""
    words: str
    """What it stands for; empty for a single node."""


def unrolled(nodes: Iterable[Value]) -> bool:
    """Whether nodes are the entries of one list: of one operation, at one place of the text."""
    return len({(node.span, node.primitive) for node in nodes if node.span is not None}) == 1


class Folding(Record):
    """A folded picture, and what each of its nodes stands for."""

    picture: Picture
    folds: tuple[Fold, ...]
    opened: int | None = None
    """Which node of the picture with all folded is open here, if one is."""


def folded(picture: Picture) -> tuple[Folding, ...]:
    """The picture with a node for each long sum or product of a list, and one for many alike; none if it has neither.

    After it come those in which one of these is open, and each of its nodes drawn. The picture has one output.
    """
    (output,) = picture.roots
    order = [*in_order((output,))]
    users: dict[Value, list[Value]] = {node: [] for node in order}
    for node in order:
        for operand in node._prev:
            users[operand].append(node)
    chains = Chains((output,))
    terms: dict[Value, int] = {}
    for node in order:
        if node not in chains.links:
            operands = chains.inputs(node)
            if len(operands) > MANY_ALIKE and unrolled(operands):
                terms[node] = len(operands)
    if not terms:
        return ()
    first = _folding(picture, order, users, terms)
    closed = [k for k, fold in enumerate(first.folds) if fold.words]
    if len(closed) * len(first.folds) + len(order) > MOST_DRAWN:
        return (first,)
    opened = []
    for k in closed:
        apart = {order[member] for member in first.folds[k].members}
        opened.append(_folding(picture, order, users, terms, apart)._replace(opened=k))
    return (first, *opened)


def _folding(
    picture: Picture,
    order: Sequence[Value],
    users: dict[Value, list[Value]],
    terms: Mapping[Value, int],
    apart: Collection[Value] = (),
) -> Folding:
    output = order[-1]
    terms = {node: count for node, count in terms.items() if node not in apart}
    head = _heads(order, users, terms)
    group, depth = _alike(order, users, head, output, terms, apart)
    members: dict[Value, list[int]] = {}
    for k, node in enumerate(order):
        members.setdefault(group[head[node]], []).append(k)
    members = {first: members[first] for first in sorted(members, key=depth.__getitem__)}
    place = {representative: k for k, representative in enumerate(members)}
    folds, drawn = [], []
    for representative, inside in members.items():
        nodes = [order[k] for k in inside]
        heads = [node for node in nodes if head[node] is node]
        inputs: list[int] = []
        for node in nodes:
            for operand in node._prev:
                source = group[head[operand]]
                # several lines from one node that is folded would be one
                if source is not representative and not (
                    place[source] in inputs and (len(inside) > 1 or len(members[source]) > 1)
                ):
                    inputs.append(place[source])
        results = tuple([k for k in inside if head[order[k]] is order[k]])
        words = _words(heads, terms) if len(inside) > 1 or heads[0] in terms else ""
        folds.append(Fold(tuple(inside), tuple(inputs), results, words))
        drawn.append(_folded_node(picture, folds[-1], heads[0]))
    outputs = (place[group[head[output]]],)
    return Folding(picture._replace(nodes=tuple(drawn), outputs=outputs), tuple(folds))


def _heads(order: Sequence[Value], users: dict[Value, list[Value]], terms: dict[Value, int]) -> dict[Value, Value]:
    head: dict[Value, Value] = {}
    for node in reversed(order):
        above = {head[user] for user in users[node]}
        alone = next(iter(above)) if len(above) == 1 else None
        absorbed = alone in terms and not node.label and node not in terms
        head[node] = alone if alone is not None and absorbed else node
    return head


def _alike(
    order: Sequence[Value],
    users: dict[Value, list[Value]],
    head: dict[Value, Value],
    output: Value,
    terms: dict[Value, int],
    apart: Collection[Value],
) -> tuple[dict[Value, Value], dict[Value, int]]:
    """The node that each head is drawn as, which of those that are `apart` is itself, and the depth of each.

    Many heads at one place of the text and at one depth are drawn as the first of them. Nodes at one depth do not need
    each other, so the graph stays without cycles.
    """
    depth: dict[Value, int] = {}
    for node in order:
        below = max((depth[head[operand]] for operand in node._prev if head[operand] is not head[node]), default=-1)
        depth[head[node]] = max(depth.get(head[node], 0), below + 1)
    sets: dict[object, list[Value]] = {}
    for node in order:
        if head[node] is node and node is not output and node not in apart:
            kind = (node.label.partition("[")[0], "[" in node.label)
            at = () if node.primitive is VARIABLE else (node.span, depth[node])
            if node.span is not None and (not node.label or "[" in node.label):
                sets.setdefault((node.primitive, kind, at), []).append(node)
    group = {node: node for node in order if head[node] is node}
    many = [nodes for nodes in sets.values() if len(nodes) > MANY_ALIKE]
    for nodes in many:
        if nodes[0]._prev:
            group.update(dict.fromkeys(nodes, nodes[0]))
    several = {group[head[node]] for node in order if head[node] is not node} | {*terms}
    several |= {nodes[0] for nodes in many if nodes[0]._prev} | {*apart}
    for nodes in many:
        # a leaf that something else takes too is drawn by itself
        inner = [node for node in nodes if all(group[head[user]] in several for user in users[node])]
        if not nodes[0]._prev and len(inner) > MANY_ALIKE:
            group.update(dict.fromkeys(inner, inner[0]))
    return group, depth


def _words(heads: Sequence[Value], terms: dict[Value, int]) -> str:
    first = heads[0]
    if not first._prev:
        return f"{first.label} … {heads[-1].label}" if first.label else f"{len(heads)} numbers"
    name = first._op
    if first in terms:
        name = {"+": "sum", "*": "product", "prod": "product"}.get(name, name)
        name += f" of {terms[first]} terms"
    return name if len(heads) == 1 else f"{len(heads)} × {name}"


def _folded_node(picture: Picture, fold: Fold, first: Value) -> PictureNode:
    nodes = [picture.nodes[k] for k in fold.results]
    inputs = tuple([PictureInput(k, True) for k in fold.inputs])
    if len(fold.results) == 1:
        node = picture.nodes[fold.results[0]]
        if not fold.words:
            lines = tuple([line._replace(node=k) for line, k in zip(node.inputs, fold.inputs, strict=False)])
            return node._replace(inputs=lines if len(node.inputs) == len(fold.inputs) else inputs)
        return node._replace(operation=fold.words, inputs=inputs, ordered=False)
    data = next((n.data for n in nodes if n.data is not None), None)
    grad = next((n.grad for n in nodes if n.grad is not None), None)
    label = first.label.partition("[")[0] if first._prev else fold.words
    operation = fold.words if first._prev else ""
    return PictureNode(label, operation, nodes[0].variable, data, grad, inputs, False, any(n.taken for n in nodes))
