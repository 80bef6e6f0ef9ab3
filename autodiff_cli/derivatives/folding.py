"""A graph that lists were unrolled to, drawn small: a node for the terms of a sum, and one for nodes that are alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..algebra.walk import Chains
from ..graphs.value import Value, in_order
from ..record import Record
from ..table.operators import VARIABLE
from .graph import Picture, PictureInput, PictureNode

MANY_ALIKE = 8
"""More terms, or nodes, that stand at one place of the text are folded."""

MOST_DRAWN = 1_000
"""Nodes of the pictures in which one fold is open, of all together; where there would be more, there is none."""


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
    """The picture folded but for the nodes that are `apart`; `terms` are how many each long sum and product has."""
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
        drawn.append(_node(picture, folds[-1], heads[0]))
    outputs = (place[group[head[output]]],)
    return Folding(picture._replace(nodes=tuple(drawn), outputs=outputs), tuple(folds))


def _heads(order: Sequence[Value], users: dict[Value, list[Value]], terms: dict[Value, int]) -> dict[Value, Value]:
    """The node that each is drawn with: the sum that alone it is computed for, or itself."""
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
    """What a node stands for: `sum of 20 terms`, `20 × tanh`, `x[1] … x[20]`."""
    first = heads[0]
    if not first._prev:
        return f"{first.label} … {heads[-1].label}" if first.label else f"{len(heads)} numbers"
    name = first._op
    if first in terms:
        name = {"+": "sum", "*": "product", "prod": "product"}.get(name, name)
        name += f" of {terms[first]} terms"
    return name if len(heads) == 1 else f"{len(heads)} × {name}"


def _node(picture: Picture, fold: Fold, first: Value) -> PictureNode:
    """A node of the folded picture. Several have no number of their own, and room for how many are known."""
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
