"""Walks over graphs, inputs first and without recursion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import TypeVar

from ..graphs.value import Value, in_order, node
from ..run.flat_graph import Graph
from ..table.operators import DIV, POW, VARIABLE, WHERE
from ..table.primitive import Primitive

Fact = TypeVar("Fact")
# Returns the replacement of a node, given those of its inputs.
Rule = Callable[[Value, tuple[Value, ...]], Value]


def facts_of(
    roots: Iterable[Value],
    rule: Callable[[Value, tuple[Fact, ...]], Fact],
    facts: dict[Value, Fact] | None = None,
    override: Callable[[Value], Fact | None] | None = None,
) -> dict[Value, Fact]:
    """Return a rule's results for all nodes, inputs first."""
    facts = {} if facts is None else facts
    stack = [*roots][::-1]
    while stack:
        top = stack[-1]
        if top in facts:
            stack.pop()
            continue
        fact = override(top) if override else None
        if fact is None:
            inputs = top._prev
            missing = [p for p in reversed(inputs) if p not in facts]
            if missing:
                stack += missing
                continue
            fact = rule(top, tuple([facts[p] for p in inputs]))
        facts[stack.pop()] = fact
    return facts


def rebuild(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return the operation of a node on other inputs."""
    return value if inputs == value._prev else node(value.primitive, inputs)


def rewrite(
    roots: Iterable[Value], rule: Rule, copies: dict[Value, Value] | None = None
) -> list[Value]:
    """Return the graphs, each node replaced by a rule; fill `copies`."""
    ends = list(roots)
    copies = facts_of(ends, rule, copies)
    return [copies[end] for end in ends]


def substitute(root: Value, replacement: Callable[[Value], Value | None]) -> Value:
    """Return the graph with replacements; inputs of kept nodes are visited."""
    return facts_of((root,), rebuild, override=replacement)[root]


def text_ids(roots: Iterable[Value], numbers: dict[tuple[object, ...], int]) -> list[int]:
    """Return a number for each formula, equal for identical texts."""

    def number(value: Value, inputs: tuple[int, ...]) -> int:
        leaf = () if value._prev else (value.label, value.source or repr(value.data))
        return numbers.setdefault((value.primitive.name, *leaf, *inputs), len(numbers))

    ends = list(roots)
    ids = facts_of(ends, number)
    return [ids[end] for end in ends]


def flat_inputs(value: Value, kinds: Collection[Primitive]) -> list[Value]:
    """Return the operands of nested operations of these kinds, or the node."""
    listed: list[Value] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if top.primitive in kinds:
            stack += top._prev[::-1]
        else:
            listed.append(top)
    return listed


def has_variables(value: Value) -> bool:
    """Return whether a graph has variables."""
    return any(v.primitive is VARIABLE for v in in_order((value,)))


def chain_of(primitive: Primitive, values: Iterable[Value]) -> Value:
    """Return an operation on two or more nodes, left-associative."""
    return reduce(lambda chain, value: node(primitive, (chain, value)), values)


def linear_and_kinks(graph: Graph, free: Sequence[str]) -> tuple[list[str], bool]:
    """Return names of `free` in which all nodes are jointly linear, and whether one may kink in
    `free`.
    """
    masks: list[int] = []
    meets, kinks = [0] * len(free), False
    place = {name: 1 << k for k, name in enumerate(free)}
    for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True)):
        inputs = [masks[parent] for parent in parents]
        mask = reduce(or_, inputs, 0)
        masks.append(place.get(graph.labels[i], 0) if primitive is VARIABLE else mask)
        kinks |= bool(mask) and (primitive.may_kink or primitive is WHERE)
        if not mask or primitive.linear:
            continue
        for one, other in _meetings(graph, i, inputs, mask):
            _note_meeting(meets, one, other)
    linear: list[int] = []
    for k in range(len(free)):
        if not any(meets[k] >> other & 1 for other in (k, *linear)):
            linear.append(k)
    return [free[k] for k in linear], kinks


def _note_meeting(meets: list[int], one: int, other: int) -> None:
    """Add each variable of one set, by its bit, to those that meet a variable of the other."""
    for k in range(len(meets) if one and other else 0):
        meets[k] |= (other if one >> k & 1 else 0) | (one if other >> k & 1 else 0)


def _meetings(graph: Graph, i: int, inputs: Sequence[int], mask: int) -> Iterable[tuple[int, int]]:
    """Return pairs of sets of variables that a node, which is no sum, is not jointly linear in."""
    # two variables meet in a node that is no sum of what depends on them; one meets itself in a
    # kink, a power, …
    primitive = graph.primitives[i]
    if primitive.product:
        return combinations(inputs, 2)
    if primitive is WHERE:
        return [(inputs[0], mask)]
    if primitive is DIV:
        return [(inputs[1], mask)]
    if primitive is POW and graph.constants.get(graph.parents[i][1], (None,))[0] == 1:
        return []
    return [(mask, mask)]
