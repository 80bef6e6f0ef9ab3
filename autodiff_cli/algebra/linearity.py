"""The variables in which a program is linear, decided from its graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_

from ..run.flat_graph import Graph
from ..table.operators import DIV, POW, VARIABLE, WHERE


def linear_and_kinks(graph: Graph, free: Sequence[str]) -> tuple[list[str], bool]:
    """Return names of `free` in which all nodes are jointly linear, and whether one may kink in `free`.

    Two variables meet in a node that is no sum of what depends on them; one meets itself in a kink, a power, …
    """
    masks: list[int] = []
    meets, kinks = [0] * len(free), False

    def meet(one: int, other: int) -> None:
        for k in range(len(free) if one and other else 0):
            meets[k] |= (other if one >> k & 1 else 0) | (one if other >> k & 1 else 0)

    place = {name: 1 << k for k, name in enumerate(free)}
    for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True)):
        inputs = [masks[parent] for parent in parents]
        mask = reduce(or_, inputs, 0)
        masks.append(place.get(graph.labels[i], 0) if primitive is VARIABLE else mask)
        kinks |= bool(mask) and (primitive.may_kink or primitive is WHERE)
        if not mask or primitive.linear:
            continue
        if primitive.product:
            for one, other in combinations(inputs, 2):
                meet(one, other)
        elif primitive is WHERE:
            meet(inputs[0], mask)
        elif primitive is DIV:
            meet(inputs[1], mask)
        elif not (primitive is POW and graph.constants.get(parents[1], (None,))[0] == 1):
            meet(mask, mask)
    linear: list[int] = []
    for k in range(len(free)):
        if not any(meets[k] >> other & 1 for other in (k, *linear)):
            linear.append(k)
    return [free[k] for k in linear], kinks
