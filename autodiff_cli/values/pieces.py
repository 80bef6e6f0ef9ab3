"""Pieces: the smooth graphs that a graph with kinks consists of near a point.

Near a knot (a kink, a jump, a comparison of equal numbers) a function is one smooth function on each side. Each piece
is the graph with every operation replaced by what it is on one side of its knot, by the table's `near`. What all pieces
have in common, value and derivatives up to some order, is that of the function, whichever of them are to be found near
the point; where they differ it has none. The length of a vector that is 0 at the point has no sides: it becomes a
variable of its own, whose square is a quadratic form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ExpressionError
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.dual import Dual, Duals, Tangents
from ..run.sweep import Fault, compute, show
from ..table.operators import VARIABLE
from ..table.primitive import Primitive
from .symbolic import SYMBOLIC
from .value import Value, constant, node, variable

Judge = Callable[["Piece", Value, Dual], int]
"""Tells the sign of a number, 0 at the point, near it: by the choices of a piece (`turn`, `either`)."""


class NotSmooth(ExpressionError):
    """A derivative that does not exist, or is not known to: the point lies on a kink or a jump."""


@dataclass(slots=True)
class Knot:
    """A node where pieces meet, and its inputs there."""

    node: Value
    inputs: list[Number]

    def refusal(self, reason: str, way_out: str = "") -> NotSmooth:
        """The error that there is no derivative here, and why."""
        name = self.node.primitive.written
        if self.node.primitive.gives_condition:
            what = f"`{name}` compares equal numbers, {show(self.inputs[0])}, here"
        else:
            places = ", ".join(map(show, self.inputs))
            fault = "jumps" if self.node.primitive.jumps else "has a kink"
            what = f"`{name}` {fault} at {f'({places})' if len(self.inputs) > 1 else places}"
        return NotSmooth("derivative", f"{what}: {reason}", self.node.span, f"move the point to one side{way_out}")

    def agree(self, m: NumberType, x: Number, y: Number) -> bool:
        """Whether a result is the same on two sides of the knot. Raises `ExpressionError` if that cannot be told."""
        try:
            return same(m, x, y)
        except Refusal as refusal:
            message = f"`{self.node.primitive.written}` has two sides here, and {refusal.message}"
            raise ExpressionError(refusal.kind, message, self.node.span, refusal.hint) from None


@dataclass(slots=True)
class Length:
    """The length of a vector that is 0 at the point, as a variable: its name, and the vector's tangents."""

    name: str
    vector: list[Tangents]
    knot: Knot


@dataclass(slots=True)
class Piece:
    """A smooth graph that a graph is near a point, in some of the directions from there."""

    duals: Duals
    values: Mapping[str, Number]
    wrt: Sequence[str]
    judge: Judge
    choices: list[int]
    """The sides to take, 1 or -1, as they are asked for; after the last of them 1."""
    turned: Knot | None
    """At which knot the piece lies on another side than one that was given before."""
    output: Any = None
    groups: list[tuple[Any, Knot]] = field(default_factory=list)
    """For each choice what it is about, and the knot that asked first."""
    lengths: list[Length] = field(default_factory=list)
    copies: dict[Value, Any] = field(default_factory=dict)
    """The smooth node for each node of the graph; the truth of a condition."""
    numbers: dict[Value, Dual] = field(default_factory=dict)
    here: Any = None
    """The operation that is being replaced."""
    first: Knot | None = None
    """The first knot that was met."""

    @property
    def names(self) -> list[str]:
        """The variables that the piece is differentiated by."""
        return [*self.wrt, *[length.name for length in self.lengths]]

    @property
    def point(self) -> dict[str, Number]:
        """The values of the variables, of the lengths too."""
        return {**self.values, **{length.name: self.duals.base.number(0) for length in self.lengths}}

    @property
    def knot(self) -> Knot | None:
        """What to blame if the piece has no derivative, or another one than others; None if there is no kink at all."""
        return self.turned or (self.groups[0][1] if self.groups else self.first)

    def blamed(self, error: ExpressionError) -> ExpressionError:
        """The error of a piece as one at a knot of the whole."""
        if self.knot is None or isinstance(error, NotSmooth) or error.kind not in ("domain", "derivative", "overflow"):
            return error
        return self.knot.refusal(f"on one side there is no derivative, as {error}")

    # -- replacing ----------------------------------------------------------------------------------------------------
    def build(self, output: Value) -> None:
        """Replace every operation by what it is on this piece's side. Raises `ExpressionError`."""
        leaves: dict[str, Value] = {}
        stack = [output]
        while stack:
            n = stack[-1]
            if n in self.copies:
                stack.pop()
                continue
            if not n._prev:
                is_variable = n.primitive is VARIABLE
                self.copies[n] = leaves.setdefault(n.label, variable(n.label, n.span)) if is_variable else n
                continue
            primitive = n.primitive
            inputs = [self.copies.get(p) for p in n._prev]
            needed = primitive.demand(*inputs) if primitive.demand else range(len(inputs))
            missing = [n._prev[k] for k in needed if n._prev[k] not in self.copies]
            if missing:
                stack.extend(reversed(missing))
            elif primitive.demand:
                self.copies[n] = inputs[needed[-1]] if needed else inputs[0]
            elif primitive.takes_conditions:
                self.copies[n] = not inputs[0]
            else:
                self.copies[n] = self.near(n, primitive, inputs)
        self.output = self.copies[output]

    def near(self, n: Value, primitive: Primitive, inputs: list[Any]) -> Any:
        """What an operation is on smooth inputs: a node, or the truth of a comparison."""
        plain = node(primitive, tuple(inputs), n.span)
        if primitive.near is None:
            return plain
        duals = [self.number(x) for x in inputs]
        xs = [dual.x for dual in duals]
        moving = any(_moves(dual) for dual in duals)
        m = self.duals.base
        try:
            if primitive.gives_condition and not (moving and inputs[0] is not inputs[1] and xs[0] == xs[1]):
                return getattr(m, primitive.name)(*xs)
            if not moving or not (primitive.selects or (primitive.knot and primitive.knot(*xs))):
                return plain
            out = None if primitive.gives_condition else self.number(plain).x
            self.here = Knot(n, xs)
            if self.first is None and primitive.knot and primitive.knot(*xs):
                self.first = self.here
            made = primitive.near(SYMBOLIC, self, *inputs, out=out)
        except Refusal as refusal:
            raise ExpressionError(refusal.kind, refusal.message, n.span, refusal.hint) from None
        return made if isinstance(made, (Value, bool)) else constant(made)

    def number(self, value: Value) -> Dual:
        """A smooth node's value at the point, and its first derivatives. Raises `ExpressionError`."""
        stack = [value]
        while stack:
            top = stack[-1]
            if top in self.numbers:
                stack.pop()
                continue
            missing = [p for p in top._prev if p not in self.numbers]
            if missing:
                stack += missing
                continue
            try:
                self.numbers[top] = self.evaluated(top)
            except Fault as fault:
                span = top.span or (self.here and self.here.node.span)
                raise ExpressionError(fault.kind, fault.message, span, fault.hint) from None
        return self.numbers[value]

    def evaluated(self, value: Value) -> Dual:
        """The number of a node whose inputs have theirs."""
        if value._prev:
            out: Dual = compute(self.duals, value.primitive, [self.numbers[p] for p in value._prev], 0)
            return out
        if value.primitive is VARIABLE:
            x = self.values[value.label]
            return (
                self.duals.seeded(x, self.wrt.index(value.label))
                if value.label in self.wrt
                else Dual(self.duals, x, {})
            )
        return self.duals.number(value.data) if value.source is None else self.duals.literal(value.source)

    # -- what `near` asks ---------------------------------------------------------------------------------------------
    def __call__(self, u: Value) -> int:
        """The sign of a number near the point."""
        dual = self.number(u)
        if dual.x != 0:
            return 1 if dual.x > 0 else -1
        return self.judge(self, u, dual) if _moves(dual) else 1

    def apart(self, u: Value) -> bool:
        """Whether a number is other than 0 near the point, but for a surface."""
        dual = self.number(u)
        return bool(dual.x != 0) or any(t != 0 for t in dual.d.values()) or self.either() > 0

    def length(self, xs: Sequence[Value]) -> Value:
        """The length of a vector that is 0 at the point."""
        moving = [x for x in xs if _moves(self.number(x))]
        if len(moving) == 1:
            return moving[0] if self(moving[0]) > 0 else -moving[0]
        vector = [self.number(x) for x in moving]
        for dual in vector:
            if dual.fault is not None:
                raise self.here.refusal("its derivative is infinite or undefined there")
        # No name of the language has a bar in it.
        leaf = variable(f"|{len(self.lengths)}|", self.here.node.span)
        self.numbers[leaf] = self.duals.seeded(self.duals.base.number(0), len(self.names))
        self.lengths.append(Length(leaf.label, [dual.d for dual in vector], self.here))
        return leaf

    def turn(self, about: Any, same: Callable[[Any], bool]) -> int:
        """The side that the piece takes about something: the same for all that is the `same`."""
        for k, (known, _) in enumerate(self.groups):
            if known is not None and same(known):
                return self.choices[k]
        self.groups.append((about, self.here))
        if len(self.groups) > len(self.choices):
            self.choices.append(1)
        return self.choices[len(self.groups) - 1]

    def either(self) -> int:
        """The side that the piece takes about something of which nothing is known."""
        return self.turn(None, lambda known: False)


def _moves(dual: Dual) -> bool:
    return bool(dual.d) or dual.fault is not None


def pieces(
    m: NumberType, output: Value, values: Mapping[str, Number], wrt: Sequence[str], judge: Judge
) -> Iterator[Piece]:
    """All pieces, those of choices that contradict each other too. Raises `ExpressionError`."""
    duals = Duals(m)
    waiting: list[tuple[list[int], Knot | None]] = [([], None)]
    while waiting:
        choices, turned = waiting.pop()
        piece = Piece(duals, values, wrt, judge, list(choices), turned)
        try:
            piece.build(output)
        except ExpressionError as error:
            raise piece.blamed(error) from None
        for k in range(len(choices), len(piece.groups)):
            waiting.append(([*piece.choices[:k], -1], piece.groups[k][1]))
        yield piece


def same(m: NumberType, x: Number, y: Number) -> bool:
    """Whether two results are the same number, as far as this arithmetic can tell."""
    return bool(x == y or (m.tolerance and abs(x - y) <= m.tolerance * max(abs(x), abs(y))))
