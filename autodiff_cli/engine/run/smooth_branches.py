"""Pieces: the smooth functions that make up a program with kinks near a point.

Near a breakpoint (a kink, a jump, a comparison of equal numbers) a program is smooth on each side.
A piece is the program with every operation on one side of its breakpoint, by the table's
`active_branch`, evaluated with derivatives. Values and derivatives on which all pieces agree are
those of the program; where they differ, it has none. The length of a vector that is 0 at the point
has no sides: it becomes a variable, whose square is a quadratic form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from operator import add, mul
from typing import Any, NamedTuple

from ..numbers import budget
from ..numbers.base import NO_RESULT, Number, NumberType, Refusal
from ..numbers.dual import Dual, Duals
from ..numbers.series import Failed, Series, SeriesType
from ..table.operators import WHERE
from .flat_graph import Graph
from .sweep import (
    Activity,
    Breakpoint,
    NodeError,
    NotDifferentiable,
    compute,
    has_zero_factor,
    needed_nodes,
    show,
)

# The lowest maximum order of derivatives that decide a sign near the point.
MIN_SERIES_ORDER = 8

# Errors that a piece may have although the program has none.
BRANCH_ERROR_KINDS = ("domain", "derivative", "overflow")

# Sides that differ by less, relative to them, are shown as the same six digits.
SHOWN_DIFFERENCE = 1e-5

# Limit of pieces times nodes times pairs of variables for comparing pieces.
MAX_COMPARISON_EFFORT = 200_000


# ---- numbers with derivatives
class Unknown(Exception):
    """An undecidable sign near the point, or length of a zero vector."""

    def __init__(self, breakpoint: Breakpoint) -> None:
        super().__init__()
        self.breakpoint = breakpoint


def _plain(u: Dual | Series) -> Number:
    return u.x.x if isinstance(u, Dual) else u.x


def _varies(u: Dual | Series) -> bool:
    return bool(u.d) or u.fault is not None if isinstance(u, Dual) else u.active


class SecondOrder:
    """Numbers with their first and second derivatives in several variables."""

    def __init__(self, m: NumberType, count: int) -> None:
        self.base, self.inner = m, Duals(m)
        self.m = Duals(self.inner)
        # The number of variables; `size` includes lengths of vectors.
        self.count = self.size = count
        self.steps = budget.BRANCH_NODE + count**2

    def leaf(self, x: Number, direction: int) -> Dual:
        """Return the variable of a direction."""
        return Dual(self.m, self.inner.seed(x, direction), {direction: self.inner.number(1)})

    def gradient(self, u: Dual) -> list[Number]:
        """Return the first derivatives. Raises the rule's error if one does not exist."""
        if u.fault is not None:
            raise u.fault
        zero = self.base.number(0)
        return [u.d[k].x if k in u.d else zero for k in range(self.size)]

    def hessian(self, u: Dual) -> list[list[Number]]:
        """Return the second derivatives. Raises the rule's error if one does not exist."""
        zero, size = self.base.number(0), range(self.size)
        for t in u.d.values():
            if t.fault is not None:
                raise t.fault
        # the lower triangle equals the upper one but for rounding
        pairs = [[(min(i, j), max(i, j)) for j in size] for i in size]
        return [[u.d[i].d.get(j, zero) if i in u.d else zero for i, j in row] for row in pairs]

    def sign(self, piece: SmoothBranch, u: Dual) -> int:
        """Return the sign of a number that is 0 at the point, on one side of its zero surface.

        Two surfaces count as one if first and second derivatives are proportional.
        """
        slopes = self.gradient(u)
        try:
            hessian = self.hessian(u)
        except NO_RESULT:
            return piece.unknown_side()
        flat = all(x == 0 for row in hessian for x in row)
        above = {t > 0 for t in slopes[self.count :] if t != 0}
        if flat and above and all(t == 0 for t in slopes[: self.count]):
            # a sum of lengths, which are not negative
            return piece.unknown_side() if len(above) > 1 else 1 if True in above else -1
        lead = next((t for t in slopes if t != 0), None)
        if lead is None:
            return (
                piece.flat_side()
                if flat
                else _definite(hessian, sorted(u.d)) or piece.unknown_side()
            )
        jets = [x / lead for x in (*slopes, *[x for row in hessian for x in row])]

        def is_same(other: Any) -> bool:
            with suppress(Refusal):
                return len(other) == len(jets) and all(map(self.base.same, jets, other))
            return False

        side = piece.choose_side(jets, is_same)
        return side if lead > 0 else -side

    def length(self, piece: SmoothBranch) -> Dual:
        """Return the length of a vector as a new variable."""
        self.size += 1
        return self.leaf(self.base.number(0), self.size - 1)


def _definite(rows: Sequence[Sequence[Number]], among: Sequence[int]) -> int:
    matrix = [[rows[i][j] for j in among] for i in among]
    sign = 0
    for k, row in enumerate(matrix):
        pivot = row[k]
        if pivot == 0 or (sign and (pivot > 0) != (sign > 0)):
            return 0
        sign = 1 if pivot > 0 else -1
        for lower in matrix[k + 1 :]:
            factor = lower[k] / pivot
            for j in range(k, len(row)):
                lower[j] = lower[j] - factor * row[j]
    return sign


class TaylorSeries:
    """Power series in one variable, to any order; or first derivatives along a line."""

    def __init__(self, m: NumberType, order: int, line: Sequence[Number] = ()) -> None:
        """`line` has the speed of each variable, if there are several."""
        self.base, self.m, self.line = m, SeriesType(m), line
        self.order = order if line else max(order, MIN_SERIES_ORDER)
        self.steps = budget.BRANCH_NODE + 4 * self.order

    def leaf(self, x: Number, direction: int) -> Series:
        """Return the variable."""
        return self.m.variable(x, self.line[direction] if self.line else self.base.number(1))

    def coefficient(self, u: Series, k: int) -> Number:
        """Return the coefficient of order k. Raises `Failed`."""
        if k:
            self.m.waiting.append(u)
            for n in range(1, k + 1):
                self.m.extend(n)
            # The next computation belongs to no derivative.
            self.m.lag, self.m.cause = 0, None
        return u.at(k)

    def gradient(self, u: Series) -> list[Number]:
        """Return the first derivative. Raises the rule's error if it does not exist."""
        try:
            return [self.coefficient(u, 1)]
        except Failed as failed:
            raise failed.error from None

    def hessian(self, u: Series) -> list[list[Number]]:
        """Return the second derivative. Raises `Failed`."""
        return [[2 * self.coefficient(u, 2)]]

    def sign(self, piece: SmoothBranch, u: Series) -> int:
        """Return the one-sided sign of a number that is 0 at the point.

        Raises `Failed`, and `Unknown` if the derivative along a line does not decide it.
        """
        for k in range(1, self.order + 1):
            c = self.coefficient(u, k)
            if c != 0:
                sign = 1 if c > 0 else -1
                return sign * piece.choose_side("right", lambda slopes: True) if k % 2 else sign
        if self.line:
            raise Unknown(piece.here)
        return piece.flat_side()

    def length(self, piece: SmoothBranch) -> Series:
        """Raise `Unknown`: there is no variable for it."""
        raise Unknown(piece.here)


# ---- one piece
class Length(NamedTuple):
    """The derivatives of a vector that is 0 at the point; its length is a variable."""

    vector: list[list[Number]]
    breakpoint: Breakpoint


class SmoothBranch:
    """A smooth function that equals the program in some directions from a point."""

    def __init__(
        self,
        smooth: Any,
        graph: Graph,
        wanted: Sequence[int],
        choices: list[int],
        turned: Breakpoint | None,
    ) -> None:
        self.smooth, self.graph, self.wanted, self.choices = smooth, graph, wanted, choices
        # `choices` are the sides to take, 1 or -1, in order of use; 1 after the last
        # The breakpoint where this piece and an earlier one take different sides.
        self.turned = turned
        # The subject of each choice, and the breakpoint that made it first.
        self.groups: list[tuple[Any, Breakpoint]] = []
        self.lengths: list[Length] = []
        self.numbers: dict[int, Any] = {}
        # The position of the input that each conditional takes.
        self.taken: dict[int, int] = {}
        # The sides taken by each operation with a kink, in order.
        self.sides: dict[int, list[int]] = {}
        self.here = Breakpoint(graph, 0, ())
        self.first: Breakpoint | None = None

    @property
    def strayed(self) -> list[int]:
        """Return the conditionals whose branch is not the one taken at the point."""
        data, parents = self.graph.data, self.graph.parents
        return [i for i, taken in self.taken.items() if data[parents[i][0]] is not (taken == 1)]

    @property
    def breakpoint(self) -> Breakpoint | None:
        """Return the node to blame for a missing or differing derivative; None without a kink."""
        return self.turned or (self.groups[0][1] if self.groups else self.first)

    def value(self, i: int) -> Number:
        """Return the value of a node at the point."""
        return _plain(self.numbers[i])

    def as_kink_error(self, fault: NodeError) -> NodeError:
        """Return the fault of a piece as one at a breakpoint of the program."""
        if (
            self.breakpoint is None
            or isinstance(fault, NotDifferentiable)
            or fault.kind not in BRANCH_ERROR_KINDS
        ):
            return fault
        if fault.kind == "derivative":
            return self.breakpoint.undecided(
                f"on one side there is no derivative, as {fault.message}"
            )
        # a limit of the derivatives there may exist: `where(x == 0, 0, exp(-1/x**2))`
        reason = (
            f"one side has no value at this very point ({fault.message}), and its derivatives are"
            " not decided"
        )
        return self.breakpoint.undecided(reason)

    def evaluate(self, roots: Sequence[int]) -> None:
        """Compute the numbers that the roots need. Raises `NodeError`, and `Unknown`."""
        direction = {leaf: k for k, leaf in enumerate(self.wanted)}
        for i, inputs, needed in needed_nodes(self.graph, roots, self.numbers, self.numbers):
            if not self.graph.parents[i]:
                x = self.graph.data[i]
                self.numbers[i] = (
                    self.smooth.leaf(x, direction[i]) if i in direction else self.smooth.m.number(x)
                )
                continue
            self.here = Breakpoint(self.graph, i, ())
            try:
                self.numbers[i] = self.number(i, inputs, needed)
            except (Failed, *NO_RESULT) as error:
                cause = error.error if isinstance(error, Failed) else error
                if isinstance(cause, Refusal):
                    raise NodeError(i, cause.kind, cause.message, cause.hint) from None
                raise self.here.refusal("its derivative is infinite or undefined there") from None

    def number(self, i: int, inputs: Sequence[Any], needed: Sequence[int]) -> Any:
        """Return the number of a node from those of its inputs."""
        primitive = self.graph.primitives[i]
        if primitive is WHERE:
            self.taken[i] = needed[-1]
        if primitive.lazy_inputs:
            return inputs[needed[-1]] if needed else inputs[0]
        if primitive.takes_conditions:
            return not inputs[0]
        if primitive.active_branch is not None:
            return self.active_branch(i, inputs)
        out = compute(self.smooth.m, primitive, inputs, i)
        if primitive.product and has_zero_factor(self.graph, self.graph.parents[i]):
            return self.smooth.m.number(_plain(out))
        return out

    def active_branch(self, i: int, inputs: Sequence[Any]) -> Any:
        """Return an operation with sides on smooth inputs; a bool if a comparison."""
        primitive, smooth = self.graph.primitives[i], self.smooth
        xs = [_plain(x) for x in inputs]
        varying = any(map(_varies, inputs))
        if primitive.gives_condition and not (
            varying and inputs[0] is not inputs[1] and xs[0] == xs[1]
        ):
            return getattr(smooth.base, primitive.name)(*xs)
        meets = primitive.breakpoint is not None and primitive.breakpoint(*xs)
        if not varying or not (primitive.has_structural_zeros or meets):
            return compute(smooth.m, primitive, inputs, i)
        out = None if primitive.gives_condition else compute(smooth.base, primitive, xs, i)
        self.here = Breakpoint(self.graph, i, xs)
        if self.first is None and meets:
            self.first = self.here
        self.sides[i] = []
        branch = primitive.active_branch(smooth.m, self, *inputs, out=out)  # type: ignore[misc]
        return branch if isinstance(branch, bool) else smooth.m.number(branch)

    def __call__(self, u: Any) -> int:
        u = self.smooth.m.number(u)
        x, side = _plain(u), 1
        if x != 0:
            side = 1 if x > 0 else -1
        elif _varies(u):
            side = self.smooth.sign(self, u)
        self.sides[self.here.node].append(side)
        return side

    def is_nonzero(self, u: Any) -> bool:
        """Return whether a number is nonzero near the point, except on a surface."""
        if _plain(u) != 0 or any(t != 0 for t in self.smooth.gradient(u)):
            return True
        return self.unknown_side() > 0

    def length(self, xs: Sequence[Any]) -> Any:
        """Return the length of a vector that is 0 at the point."""
        varying = [k for k, x in enumerate(xs) if _varies(x)]
        if len(varying) == 1:
            k = varying[0]
            self.sides[self.here.node].append(k)
            return xs[k] if self(xs[k]) > 0 else -xs[k]
        result = self.smooth.length(self)
        self.lengths.append(Length([self.smooth.gradient(xs[k]) for k in varying], self.here))
        return result

    def choose_side(self, about: Any, is_same: Callable[[Any], bool]) -> int:
        """Return the piece's side for a subject, one for all that `is_same` accepts."""
        for k, (slopes, _) in enumerate(self.groups):
            if slopes is not None and is_same(slopes):
                return self.choices[k]
        self.groups.append((about, self.here))
        if len(self.groups) > len(self.choices):
            self.choices.append(1)
        return self.choices[len(self.groups) - 1]

    def unknown_side(self) -> int:
        """Return the piece's side for an unknown subject."""
        return self.choose_side(None, lambda slopes: False)

    def flat_side(self) -> int:
        """Return the piece's side for a number whose known derivatives are all 0.

        Both sides of a continuous operation then have the same derivatives.
        """
        primitive = self.graph.primitives[self.here.node]
        return self.unknown_side() if primitive.jumps or primitive.gives_condition else 1


def pieces(
    make: Callable[[], Any], graph: Graph, roots: Sequence[int], wanted: Sequence[int]
) -> Iterator[SmoothBranch]:
    """Yield all pieces, even contradictory ones, in numbers of `make`. Raises `NodeError`.

    The graph is evaluated; the wanted leaves are the variables.
    """
    waiting: list[tuple[list[int], Breakpoint | None]] = [([], None)]
    while waiting:
        choices, turned = waiting.pop()
        piece = SmoothBranch(make(), graph, wanted, list(choices), turned)
        budget.charge(budget.BRANCH + len(graph.data) * piece.smooth.steps)
        try:
            piece.evaluate(roots)
        except NodeError as fault:
            raise piece.as_kink_error(fault) from None
        for k in range(len(choices), len(piece.groups)):
            waiting.append(([*piece.choices[:k], -1], piece.groups[k][1]))
        yield piece


def common_numbers(
    make: Callable[[], Any],
    graph: Graph,
    wanted: Iterable[int | None],
    numbers: Callable[[SmoothBranch], list[Number]],
    names: Sequence[str],
    way_out: str = "",
) -> list[Number]:
    """Return the numbers of agreeing pieces of the first output, value first. Raises
    `NotDifferentiable`.
    """
    first: list[Number] = []
    for piece in pieces(make, graph, graph.roots, [i for i in wanted if i is not None]):
        here, breakpoint = numbers(piece), piece.breakpoint
        for k, (x, y) in enumerate(zip(first or [graph.data[graph.roots[0]]], here, strict=False)):
            if breakpoint is not None and not breakpoint.same_value(piece.smooth.base, x, y):
                if not k:
                    raise breakpoint.refusal(
                        f"the value jumps between {show(x)} and {show(y)} here"
                    )
                raise breakpoint.refusal(
                    f"{names[k]} is {show(x)} on one side and {show(y)} on the other", way_out
                )
        first = first or here
    return first


# ---- the derivative if all sides agree
def sides_chosen(
    order: Sequence[int], active: Activity, seeds: Mapping[int, Number]
) -> Sequence[int]:
    """Choose a side if all agree in value and gradient; return the nodes evaluated then.

    The sweep then uses the local derivatives of that side. Raises `NodeError`.
    """
    try:
        side = _common(active, seeds)
        if side is None:
            return order
        one_sided_partials = _local(side, active.m)
    except (NodeError, *NO_RESULT) as fault:
        if isinstance(fault, NodeError) and fault.kind not in BRANCH_ERROR_KINDS:
            raise
        return order
    chosen = set(order)
    others = sorted(side.numbers.keys() - chosen)
    for i in others:
        number = side.numbers[i]
        active.graph.data[i] = number if isinstance(number, bool) else _plain(number)
    active.choose_side(one_sided_partials, others)
    return sorted(chosen.union(others)) if others else order


def _common(active: Activity, seeds: Mapping[int, Number]) -> SmoothBranch | None:
    graph, m, wanted = active.graph, active.m, list(dict.fromkeys(active.wanted))
    count = len(wanted)
    # Along a line, most kinks of several variables already show.
    line = [m.number((37 * k % 101 + 64) / 64) for k in range(count)] if count > 1 else ()
    most = MAX_COMPARISON_EFFORT // (len(graph.data) * (count + 1) ** 2)
    names = [graph.labels.get(leaf, "") for leaf in wanted]
    with suppress(Unknown):
        effort = MAX_COMPARISON_EFFORT if line else most
        side = _agreeing(partial(TaylorSeries, m, 1, line), active, wanted, seeds, effort, names)
        if side is None or not line:
            return side
    return _agreeing(partial(SecondOrder, m, count), active, wanted, seeds, most, names)


def _agreeing(
    make: Any,
    active: Activity,
    wanted: Sequence[int],
    seeds: Mapping[int, Number],
    most: int,
    names: Sequence[str],
) -> SmoothBranch | None:
    graph = active.graph
    best: SmoothBranch | None = None
    expected: list[Number] = []
    for count, piece in enumerate(pieces(make, graph, list(seeds), wanted) if most > 1 else ()):
        m = piece.smooth.base
        outputs = [piece.numbers[root] for root in seeds]
        columns = list(zip(*map(piece.smooth.gradient, outputs), strict=True))
        if any(_weighted(column, seeds) != 0 for column in columns[len(wanted) :]):
            raise ValueError("the function is not smooth in the length of a vector that vanishes")
        here = [
            _weighted(column, seeds)
            for column in ([*map(_plain, outputs)], *columns[: len(wanted)])
        ]
        expected = expected or [_weighted([graph.data[root] for root in seeds], seeds), *here[1:]]
        agree = False
        with suppress(Refusal):
            agree = all(map(m.same, expected, here))
        if count >= most or not agree:
            active.sides = "" if agree else _sides(piece, names, expected, here)
            return None
        if best is None or len(best.strayed) > len(piece.strayed):
            best = piece
    return best


def _sides(
    piece: SmoothBranch, names: Sequence[str], expected: Sequence[Number], here: Sequence[Number]
) -> str:
    """Return how a piece differs from the value at the point, or from the first piece, in words."""
    m = piece.smooth.base
    differ = next(
        (k for k, (x, y) in enumerate(zip(expected, here, strict=True)) if not _equal(m, x, y)),
        None,
    )
    if differ is None:
        return ""
    x, y = show(expected[differ]), show(here[differ])
    gap = abs(here[differ] - expected[differ])
    is_seen = _is_larger(gap, SHOWN_DIFFERENCE * abs(here[differ]))
    if differ == 0:
        return (
            f"the value jumps between {x} and {y}" if is_seen else f"the value jumps by {show(gap)}"
        )
    if len(names) > 1 and len(here) == 2:
        return "the derivatives on its sides differ"  # they were compared along a line
    if not is_seen:
        return f"the derivatives by `{names[differ - 1]}` on its sides differ by {show(gap)}"
    if len(names) == 1 and piece.choices == [-1]:  # the first piece took the right side
        return f"the derivative by `{names[0]}` is {y} on the left and {x} on the right"
    return f"the derivative by `{names[differ - 1]}` is {x} on one side and {y} on the other"


def _is_larger(x: Number, y: Number) -> bool:
    with suppress(Refusal):
        return bool(x > y)
    return True


def _equal(m: NumberType, x: Number, y: Number) -> bool:
    with suppress(Refusal):
        return m.same(x, y)
    return True


def _weighted(numbers: Sequence[Number], seeds: Mapping[int, Number]) -> Number:
    return reduce(add, map(mul, numbers, seeds.values()))


def _local(piece: SmoothBranch, m: NumberType) -> dict[int, list[Number | None]]:
    graph, duals = piece.graph, Duals(m)
    slopes: dict[int, list[Number | None]] = {
        i: [m.number(1) if k == taken else None for k in range(len(graph.parents[i]))]
        for i, taken in piece.taken.items()
    }
    # operations whose value on the piece's side differs from that at the point
    jumped = {i for i in piece.sides if graph.primitives[i].jumps} | {*piece.strayed}
    for i in piece.numbers:
        primitive, ps = graph.primitives[i], graph.parents[i]
        if not jumped.isdisjoint(ps):
            jumped.add(i)
            is_zero = primitive.product and has_zero_factor(graph, ps)
            if i not in slopes and not primitive.gives_condition and not is_zero:
                xs = [piece.value(p) for p in ps]
                slopes[i] = primitive.slopes(m, xs, piece.value(i))
    for i, sides in piece.sides.items():
        primitive, ps = graph.primitives[i], graph.parents[i]
        if primitive.gives_condition or primitive.active_branch is None:
            continue
        numbers = [piece.numbers[p] for p in ps]
        xs = [_plain(number) for number in numbers]
        # A repeated number is one input, as it was for the piece.
        seeded = {
            id(number): duals.seed(x, k)
            for k, (number, x) in enumerate(zip(numbers, xs, strict=True))
        }
        inputs = [seeded[id(number)] for number in numbers]
        out = compute(m, primitive, xs, i)
        branch = primitive.active_branch(duals, _SidesOfPiece(iter(sides)), *inputs, out=out)
        if isinstance(branch, Dual) and branch.fault is not None:
            raise branch.fault
        slopes[i] = [branch.d.get(k) if isinstance(branch, Dual) else None for k in range(len(ps))]
    return slopes


class _SidesOfPiece:
    """The sides of 0 on which a piece has its numbers."""

    def __init__(self, sides: Iterator[int]) -> None:
        self.sides = sides

    def __call__(self, u: Number) -> int:
        return next(self.sides)

    def is_nonzero(self, u: Number) -> bool:
        return bool(u.x != 0)

    def length(self, xs: Sequence[Number]) -> Number:
        k = next(self.sides, None)
        if k is None:
            return 0
        return xs[k] if next(self.sides) > 0 else -xs[k]
