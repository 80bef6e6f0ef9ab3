"""Layered layout: columns by longest path, order by barycentres, heights by least squares."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ....errors import ExpressionError, limit_error

# Pixels between two boxes of a column, or a box and a passing line.
GAP = 16.0
# Pixels between two lines that pass a column.
LINE_GAP = 10.0
# The least and the greatest distance of columns in pixels.
COLUMN_GAP = (44.0, 150.0)
# The most rounds of ordering, and of rounds times edges.
MAX_ROUNDS, MAX_EDGE_ROUNDS = 12, 30_000
MAX_SWEEPS = 24
# How strongly lines with 0, 1 and 2 bends at their ends pull, to be straight.
EDGE_WEIGHTS = (1.0, 3.0, 8.0)
# The most nodes and bends in a picture.
MAX_NODES, MAX_BENDS = 5000, 100_000


class Size(NamedTuple):
    """The size of a node, from its lines upwards and downwards."""

    width: float
    above: float
    below: float


# A piece of a line: the nodes or bends at its ends, and its source.
Segment = tuple[int, int, int]


class GraphLayout(NamedTuple):
    """A finished layout. Indices count the nodes, then the bends of lines."""

    sizes: tuple[Size, ...]
    """The sizes of nodes, then of bends."""
    corners: tuple[tuple[float, float], ...]
    """The left end of each node's middle line."""
    lefts: tuple[float, ...]
    segments: tuple[Segment, ...]
    last: dict[tuple[int, int], int]
    width: float
    height: float


def layered_layout(
    sizes: Sequence[Size],
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[int],
    ordered: Sequence[bool],
    gaps: tuple[float, float] = COLUMN_GAP,
    max_height: float = math.inf,
) -> GraphLayout:
    """Return the layout of a graph whose node `i` has the lower-numbered inputs `inputs[i]`.

    Lines arrive at an `ordered` node in the order of its inputs, from the top. `max_height` holds
    unless a column needs more. Raises `ExpressionError` (`limit`) for too large a graph.
    """
    if len(sizes) > MAX_NODES:
        raise _too_large(f"{len(sizes):,} nodes are")
    ranks = _ranks(inputs)
    segments, last = _insert_bends(ranks, inputs)
    graph = _OrderedEdges({}, {}, {})
    for start, end, _ in segments:
        graph.sources.setdefault(end, []).append(start)
        graph.targets.setdefault(start, []).append(end)
    for index, own in enumerate(inputs):
        if ordered[index]:
            for place, source in enumerate(own):
                graph.ports[last[source, index], index] = place / len(own)
    columns = _columns(inputs, outputs, ranks, segments)
    if _crossings(columns, graph):
        columns = _untangled(columns, graph)
    widths = [
        max((sizes[i].width for i in column if i < len(sizes)), default=0.0) for column in columns
    ]
    all_sizes = (*sizes, *(Size(widths[rank], 0.0, 0.0) for rank in ranks[len(sizes) :]))
    middles = _vertical_positions(columns, graph, all_sizes, len(sizes), max_height)
    lefts, width = _left_edges(columns, widths, middles, graph, gaps)
    top = min(y - size.above for y, size in zip(middles, all_sizes, strict=True))
    bottom = max(y + size.below for y, size in zip(middles, all_sizes, strict=True))
    corners = [
        (lefts[rank] + widths[rank] - size.width, y - top)
        for rank, size, y in zip(ranks, all_sizes, middles, strict=True)
    ]
    starts = tuple([lefts[rank] for rank in ranks])
    return GraphLayout(
        all_sizes, tuple(corners), starts, tuple(segments), last, width, bottom - top
    )


def _ranks(inputs: Sequence[Sequence[int]]) -> list[int]:
    """Return the column of each node, which is as far to the right as its users allow."""
    distance = [0] * len(inputs)
    for index in range(len(inputs) - 1, -1, -1):
        for source in inputs[index]:
            distance[source] = max(distance[source], distance[index] + 1)
    deepest = max(distance)
    return [deepest - steps for steps in distance]


def _columns(
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[int],
    ranks: Sequence[int],
    segments: Iterable[tuple[int, int, int]],
) -> list[list[int]]:
    """Return the nodes of each column, and the bends of lines that pass it, as a walk through the
    graph meets them.
    """
    bends: dict[int, list[int]] = {}
    for _, end, source in segments:
        if end >= len(inputs):
            bends.setdefault(source, []).append(end)
    columns: list[list[int]] = [[] for _ in range(max(ranks[: len(inputs)]) + 1)]
    for index in _depth_first_order(inputs, outputs):
        for node in (index, *bends.get(index, ())):
            columns[ranks[node]].append(node)
    return columns


def _untangled(columns: list[list[int]], graph: _OrderedEdges) -> list[list[int]]:
    """Return an order of the columns in which fewer lines cross."""
    orders = (*(_sort_by_barycentres(columns, graph, back=back) for back in (False, True)), columns)
    swapped = [_swap_neighbours(order, graph) for order in orders]
    return min(swapped, key=lambda order: _crossings(order, graph))


def _left_edges(
    columns: Sequence[Sequence[int]],
    widths: Sequence[float],
    middles: Sequence[float],
    graph: _OrderedEdges,
    gaps: tuple[float, float],
) -> tuple[list[float], float]:
    """Return where each column begins, further apart where lines are steep, and the width of
    all.
    """
    left = 0.0
    lefts: list[float] = []
    for number, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if number:
            steps = [abs(middles[k] - middles[i]) for i in column for k in graph.sources.get(i, ())]
            left += min(max(gaps[0], 0.3 * max(steps, default=0.0)), gaps[1])
        lefts.append(left)
        left += width
    return lefts, left


def _too_large(what: str) -> ExpressionError:
    return limit_error(
        f"{what} too many for a picture",
        "`--format dot` and `--format mermaid` take a graph of any size",
    )


def _insert_bends(
    ranks: list[int], inputs: Sequence[Sequence[int]]
) -> tuple[list[Segment], dict[tuple[int, int], int]]:
    trunks: dict[int, list[int]] = {}
    segments: list[Segment] = []
    last: dict[tuple[int, int], int] = {}
    for index, own in enumerate(inputs):
        for source in dict.fromkeys(own):
            trunk = trunks.setdefault(source, [source])
            span = ranks[index] - ranks[source]
            while len(trunk) < span:
                segments.append((trunk[-1], len(ranks), source))
                ranks.append(ranks[source] + len(trunk))
                trunk.append(len(ranks) - 1)
                if len(ranks) > MAX_BENDS:
                    raise _too_large("the lines between distant nodes of this graph are")
            segments.append((trunk[span - 1], index, source))
            last[source, index] = trunk[span - 1]
    return segments, last


def _depth_first_order(inputs: Sequence[Sequence[int]], outputs: Sequence[int]) -> list[int]:
    order: dict[int, None] = {}
    stack = [*reversed(outputs)]
    while stack:
        index = stack.pop()
        if index not in order:
            order[index] = None
            stack += reversed(inputs[index])
    return [*order]


class _OrderedEdges(NamedTuple):
    """The lines of a layout, and where they arrive at ordered nodes, from 0 to 1."""

    sources: dict[int, list[int]]
    targets: dict[int, list[int]]
    ports: dict[tuple[int, int], float]


def _sort_by_barycentres(
    columns: list[list[int]], graph: _OrderedEdges, *, back: bool
) -> list[list[int]]:
    """Sort columns by barycentres, in alternating directions; return the best order.

    `back` begins with the last column. Source: K. Sugiyama, S. Tagawa, M. Toda, IEEE Transactions
    on Systems, Man, and Cybernetics 11 (1981) 109-125.
    """
    best, fewest = columns, _crossings(columns, graph)
    columns = [list(column) for column in columns]
    ways = [(graph.sources, columns), (graph.targets, columns[::-1])]
    edges = sum(map(len, graph.sources.values()))
    share: dict[int, float] = {}
    for column in columns:
        _set_relative_positions(column, share)
    for _ in range(min(MAX_ROUNDS, max(2, MAX_EDGE_ROUNDS // edges))):
        for near, way in reversed(ways) if back else ways:
            for column in way:
                means = {
                    i: math.fsum(share[k] for k in near[i]) / len(near[i])
                    for i in column
                    if i in near
                }
                column.sort(key=lambda i: means.get(i, share[i]))
                _set_relative_positions(column, share)
        crossings = _crossings(columns, graph)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    return best


def _set_relative_positions(column: Sequence[int], share: dict[int, float]) -> None:
    last = max(len(column) - 1, 1)
    share.update((index, place / last) for place, index in enumerate(column))


def _swap_neighbours(columns: list[list[int]], graph: _OrderedEdges) -> list[list[int]]:
    columns = [list(column) for column in columns]
    position = {index: float(place) for column in columns for place, index in enumerate(column)}

    def near(index: int) -> tuple[list[float], list[float]]:
        left = [position[other] for other in graph.sources.get(index, ())]
        right = [
            position[other] + graph.ports.get((index, other), 0.0)
            for other in graph.targets.get(index, ())
        ]
        return left, right

    for _ in range(MAX_ROUNDS):
        changed = False
        for column in columns:
            for place in range(len(column) - 1):
                above, below = column[place], column[place + 1]
                now = then = 0
                for higher, lower in zip(near(above), near(below), strict=True):
                    now += sum(b < a for a in higher for b in lower)
                    then += sum(a < b for a in higher for b in lower)
                if then < now:
                    column[place : place + 2] = [below, above]
                    position[above], position[below] = position[below], position[above]
                    changed = True
        if not changed:
            break
    return columns


def _crossings(columns: list[list[int]], graph: _OrderedEdges) -> int:
    position = {index: place for column in columns for place, index in enumerate(column)}
    total = 0
    for column in columns:
        above: list[float] = []
        lines = [(start, end) for start in column for end in graph.targets.get(start, ())]
        pairs = [
            (position[start], position[end] + graph.ports.get((start, end), 0.0))
            for start, end in lines
        ]
        for _, arrives in sorted(pairs):
            place = bisect_right(above, arrives)
            total += len(above) - place
            above.insert(place, arrives)
    return total


def _least_heights(column: Sequence[int], sizes: Sequence[Size], nodes: int) -> list[float]:
    """Return how far below the first of a column each of it is at least."""
    sums = [0.0]
    for above, below in pairwise(column):
        gap = LINE_GAP if above >= nodes and below >= nodes else GAP
        sums.append(sums[-1] + sizes[above].below + sizes[below].above + gap)
    return sums


def _ends(
    columns: Sequence[Sequence[int]],
    apart: Sequence[Sequence[float]],
    sizes: Sequence[Size],
    max_height: float,
) -> list[tuple[float, float]]:
    """Return the least and the greatest height of the first of each column."""
    outer = []
    for column, sums in zip(columns, apart, strict=True):
        outer.append((sizes[column[0]].above, sums[-1], sizes[column[-1]].below))
    half = max(max_height, *(before + between + after for before, between, after in outer)) / 2
    return [(before - half, half - after - between) for before, between, after in outer]


def _centred(
    columns: Sequence[Sequence[int]], apart: Sequence[Sequence[float]], count: int
) -> list[float]:
    """Return heights of nodes in columns, as close as they may be, around a common middle."""
    middles = [0.0] * count
    for column, sums in zip(columns, apart, strict=True):
        for index, offset in zip(column, sums, strict=True):
            middles[index] = offset - sums[-1] / 2
    return middles


def _vertical_positions(
    columns: list[list[int]],
    graph: _OrderedEdges,
    sizes: Sequence[Size],
    nodes: int,
    max_height: float,
) -> list[float]:
    """Return heights of nodes and bends, near their neighbours."""

    def pulls(
        index: int, neighbours: Mapping[int, Sequence[int]], share: float = 1.0
    ) -> list[tuple[int, float]]:
        others = neighbours.get(index, ())
        return [
            (other, share * EDGE_WEIGHTS[(other >= nodes) + (index >= nodes)]) for other in others
        ]

    apart = [_least_heights(column, sizes, nodes) for column in columns]
    ends = _ends(columns, apart, sizes, max_height)
    middles = _centred(columns, apart, len(sizes))
    for sweep in range(MAX_SWEEPS):
        # the last sweep centres a node on its inputs, or if none on its users
        back, other_side = sweep % 2 == 0, 0.25 if sweep < MAX_SWEEPS - 1 else 0.02
        near, far = (graph.targets, graph.sources) if back else (graph.sources, graph.targets)
        numbered = list(enumerate(columns))
        for number, column in reversed(numbered) if back else numbered:
            wishes, weights = [], []
            for index in column:
                pull = pulls(index, near)
                pull += pulls(index, far, other_side if pull else 1.0)
                weight = sum(strength for _, strength in pull)
                wish = (
                    sum(middles[other] * strength for other, strength in pull) / weight
                    if pull
                    else middles[index]
                )
                wishes.append(wish)
                weights.append(weight or 1.0)
            places = _fit_with_gaps(wishes, weights, apart[number], ends[number])
            for index, place in zip(column, places, strict=True):
                middles[index] = place
    return middles


def _fit_with_gaps(
    wishes: Sequence[float],
    weights: Sequence[float],
    offsets: Sequence[float],
    ends: tuple[float, float],
) -> list[float]:
    """Return the least-squares fit to `wishes` with gaps, by pooling adjacent violators."""
    pools: list[tuple[float, float, int]] = []
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        place, mass, count = wish - offset, weight, 1
        while pools and pools[-1][0] > place:
            other, other_mass, other_count = pools.pop()
            place = (place * mass + other * other_mass) / (mass + other_mass)
            mass += other_mass
            count += other_count
        pools.append((place, mass, count))
    low, high = ends
    placed = [min(max(place, low), high) for place, _, count in pools for _ in range(count)]
    return [math.fsum((place, offset)) for place, offset in zip(placed, offsets, strict=True)]
