"""Reverse mode as every question runs it: the backward sweep, and at kinks whose sides agree the true derivative.

Where the sweep meets a kink, the smooth pieces of the program that meet at the point are asked. If all of them have the
same value and gradient, these are the program's; the sweep is then done on one of the sides, by its local derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from .flat_graph import Graph
from .sweep import Activity, Fault, backward, compute, is_cut, kinks_met

if TYPE_CHECKING:
    from .smooth_branches import SmoothBranch

EFFORT = 200_000
"""Pieces are compared as long as their number, times nodes, times pairs of variables is below this."""


class Reverse(NamedTuple):
    """The result of a backward sweep."""

    adjoints: list[Number | None]
    """Of each node; None where nothing flowed to it."""
    kinks: list[int]
    """The nodes where there is no derivative, and a convention was taken."""
    order: Sequence[int]
    """The nodes that were evaluated; those of a branch on the other side too, if the sweep went there."""


def reverse(
    graph: Graph, m: NumberType, order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> Reverse:
    """The adjoint of each node of an evaluated graph, from those of the outputs. Raises `Fault`.

    Where the sides agree, `active` has the local derivatives from then on, for other sweeps of these outputs.
    """
    active.one_sided_partials = {}
    adjoints = backward(graph, m, order, active, seeds)
    kinks = kinks_met(graph, m, order, active, adjoints)
    if kinks:
        order = _sides_chosen(graph, m, order, active, seeds)
        if active.one_sided_partials:
            adjoints, kinks = backward(graph, m, order, active, seeds), []
    return Reverse(adjoints, kinks, order)


def _sides_chosen(
    graph: Graph, m: NumberType, order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> Sequence[int]:
    """Find out whether all sides agree, and choose one; the nodes that are evaluated then. Raises `Fault`."""
    from .smooth_branches import BLAMED

    try:
        side = _common(graph, m, active, seeds)
        one_sided_partials = None if side is None else _local(side, m)
    except Fault as fault:
        if fault.kind not in BLAMED:
            raise
        return order
    except NO_RESULT:
        return order
    if side is None or one_sided_partials is None:
        return order
    chosen = set(order)
    others = sorted(side.numbers.keys() - chosen)
    for i in others:
        number = side.numbers[i]
        graph.data[i] = number if isinstance(number, bool) else side.smooth.value(number)
    active.choose_side(one_sided_partials, others)
    return sorted(chosen.union(others)) if others else order


def _common(graph: Graph, m: NumberType, active: Activity, seeds: Mapping[int, Number]) -> SmoothBranch | None:
    """A piece, if all have the same value and gradient; one that takes the branches taken at the point, if there is.

    Raises `Fault`, and what rules raise, where a piece has none.
    """
    from .smooth_branches import SecondOrder, TaylorSeries, Unknown

    wanted = list(dict.fromkeys(active.wanted))
    # Most kinks show along any one line already.
    line = [m.number((37 * k % 101 + 64) / 64) for k in range(len(wanted))]
    try:
        if _agreeing(lambda: TaylorSeries(m, 1, line), graph, wanted, seeds, EFFORT) is None:
            return None
    except Unknown:
        pass
    most = EFFORT // (len(graph.data) * (len(wanted) + 1) ** 2)
    try:
        if len(wanted) == 1:
            return _agreeing(lambda: TaylorSeries(m, 1), graph, wanted, seeds, most)
    except Unknown:
        pass
    return _agreeing(lambda: SecondOrder(m, len(wanted)), graph, wanted, seeds, most)


def _agreeing(
    make: Any, graph: Graph, wanted: Sequence[int], seeds: Mapping[int, Number], most: int
) -> SmoothBranch | None:
    """A piece in such numbers, if all have the same value and gradient, and there are not too many."""
    from .smooth_branches import pieces

    agreed: SmoothBranch | None = None
    expected: list[Number] = []
    if most < 2:
        return None
    for count, piece in enumerate(pieces(make, graph, list(seeds), wanted)):
        m = piece.smooth.base
        here = list(_value_and_gradient(piece, seeds, len(wanted)))
        expected = expected or [_weighted([graph.data[root] for root in seeds], seeds), *here[1:]]
        try:
            agree = all(m.same(x, y) for x, y in zip(expected, here, strict=True))
        except Refusal:
            return None
        if count >= most or not agree:
            return None
        if agreed is None or _strayed(agreed) > _strayed(piece):
            agreed = piece
    return agreed


def _value_and_gradient(piece: SmoothBranch, seeds: Mapping[int, Number], count: int) -> Iterator[Number]:
    """Value and gradient of the weighted sum of the outputs; nan for one that hangs on the length of a vector."""
    smooth = piece.smooth
    outputs = [piece.numbers[root] for root in seeds]
    yield _weighted([smooth.value(output) for output in outputs], seeds)
    columns = list(zip(*[smooth.gradient(output) for output in outputs], strict=True))
    for column in columns[:count]:
        yield _weighted(column, seeds)
    if any(_weighted(column, seeds) != 0 for column in columns[count:]):
        raise ValueError("the function is not smooth in the length of a vector that vanishes")


def _weighted(numbers: Sequence[Number], seeds: Mapping[int, Number]) -> Number:
    terms = [x * seed for x, seed in zip(numbers, seeds.values(), strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _strays(piece: SmoothBranch, choice: int) -> bool:
    """Whether the piece takes another branch there than was taken at the point."""
    return piece.graph.data[piece.graph.parents[choice][0]] is not (piece.taken[choice] == 1)


def _strayed(piece: SmoothBranch) -> int:
    return sum(_strays(piece, choice) for choice in piece.taken)


def _local(piece: SmoothBranch, m: NumberType) -> dict[int, list[Number | None]]:
    """The local derivatives on the piece's side, of all operations that have sides."""
    from ..numbers.dual import Dual, Duals

    graph, duals = piece.graph, Duals(m)
    slopes: dict[int, list[Number | None]] = {
        i: [m.number(1) if k == taken else None for k in range(len(graph.parents[i]))]
        for i, taken in piece.taken.items()
    }
    jumped = _jumped(piece)
    for i in piece.numbers:
        primitive, ps = graph.primitives[i], graph.parents[i]
        if not jumped.isdisjoint(ps):
            jumped.add(i)
            if i not in slopes and not primitive.gives_condition and not (primitive.product and is_cut(graph, ps)):
                xs = [piece.smooth.value(piece.numbers[p]) for p in ps]
                slopes[i] = primitive.slopes(m, xs, piece.smooth.value(piece.numbers[i]))
    for i, answers in piece.answers.items():
        primitive, ps = graph.primitives[i], graph.parents[i]
        if primitive.gives_condition or primitive.active_branch is None:
            continue
        numbers = [piece.numbers[p] for p in ps]
        xs = [piece.smooth.value(number) for number in numbers]
        # One number that is there twice is one input, as it was for the piece.
        seeded = {id(number): duals.seeded(x, k) for k, (number, x) in enumerate(zip(numbers, xs, strict=True))}
        inputs = [seeded[id(number)] for number in numbers]
        out = compute(m, primitive, xs, i)
        branch = primitive.active_branch(duals, _SidesOfPiece(iter(answers)), *inputs, out=out)
        if isinstance(branch, Dual) and branch.fault is not None:
            raise branch.fault
        slopes[i] = [branch.d.get(k) if isinstance(branch, Dual) else None for k in range(len(ps))]
    return slopes


def _jumped(piece: SmoothBranch) -> set[int]:
    """The operations that have another value on the piece's side than at the point."""
    graph = piece.graph
    return {i for i in piece.answers if graph.primitives[i].jumps} | {i for i in piece.taken if _strays(piece, i)}


class _SidesOfPiece:
    """On which side of 0 numbers are, as a piece has it."""

    def __init__(self, answers: Iterator[int]) -> None:
        self.answers = answers

    def __call__(self, u: Number) -> int:
        """The sign of a number near the point."""
        return next(self.answers)

    def apart(self, u: Number) -> bool:
        """Whether a number is other than 0; comparisons ask that, which have no derivative."""
        return bool(u.x != 0)

    def length(self, xs: Sequence[Number]) -> Number:
        """The length of a vector that is 0 at the point; nothing hangs on one with sides of its own."""
        k = next(self.answers, None)
        return 0 if k is None else xs[k] if next(self.answers) > 0 else -xs[k]
