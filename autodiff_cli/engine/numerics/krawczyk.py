"""Interval arithmetic on boxes: what a function takes in one, and which hold one root of equations,
proven.

Krawczyk's operator K = m − Y·F(m) + (1 − Y·F′(X))·(X − m) contains every solution in the box X
around m. If K lies inside X, there is exactly one. Neumaier, Interval Methods for Systems of
Equations, 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ExpressionError
from ..graphs.value import Value
from ..graphs.value_and_gradient import evaluate_in
from ..numbers.base import NO_RESULT, Refusal
from ..numbers.budget import Defined
from .linear_algebra import identity, inverse

ENCLOSURE_BITS = 53
MAX_CONTRACTIONS = 60
# A ball for each unknown.
Box = list[Any]


def ends_of(ball: Any) -> tuple[float, float]:
    """Return the lower and the upper end of a ball, rounded."""
    return float(ball.mid() - ball.rad()), float(ball.mid() + ball.rad())


def boxes(bits: int) -> Any:
    """Return balls whose conditions may stay undecided, with hulls of steps."""
    from ..numbers.ball import Ball, Balls, ball
    from ..numbers.base import undecided

    class Open:
        """An undecided comparison: an error where used."""

        def __bool__(self) -> bool:
            raise undecided("cannot determine whether this is 0")

    class Boxes(Balls):
        """Balls whose comparisons may stay open."""

        may_stay_open = True

        def eq(self, x: Any, y: Any) -> Any:
            try:
                return x == y
            except Refusal:
                return Open()

        def and_(self, p: Any, q: Any) -> Any:
            return False if p is False or q is False else p and q

    def hull(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: Ball(step(ball(x).a))

    m = Boxes(bits)
    m.__dict__["floor"] = hull(lambda a: a.floor())
    m.__dict__["ceil"] = hull(lambda a: a.ceil())
    m.__dict__["round"] = hull(lambda a: (a + 0.5).floor().union((a - 0.5).ceil()))
    m.__dict__["sign"] = hull(lambda a: a.sgn())
    return m


def enclosure(
    output: Value, name: str, values: Mapping[str, float], order: int = 0
) -> Callable[[float, float], tuple[float, float] | None] | None:
    """Return a function of an interval's ends: bounds of a value or derivative, if any.

    Returns None without python-flint.
    """
    try:
        from flint import arb

        from ..numbers.ball import Ball
    except ImportError:
        return None
    balls = boxes(ENCLOSURE_BITS)
    others = {other: balls.number(x) for other, x in values.items() if other != name}

    def bounds(low: float, high: float) -> tuple[float, float] | None:
        with Defined(ArithmeticError, ValueError):
            point = {**others, name: Ball(arb(low).union(arb(high)))}
            at = evaluate_in(balls, [output], point, [name] if order else ())
            numbers, kinks = at.jacobian() if order else ([at.values], ())
            a = balls.number(numbers[0][0]).a
            return ends_of(a) if a.is_finite() and not kinks else None
        return None

    return bounds


class Krawczyk:
    """Krawczyk's operator of equations."""

    def __init__(
        self,
        outputs: Sequence[Value],
        unknowns: Sequence[str],
        values: Mapping[str, Any],
        balls: Any,
    ) -> None:
        from ..numbers.ball import Ball

        self.outputs, self.unknowns, self.values, self.m = outputs, list(unknowns), values, balls
        self.ball = Ball

    def _point(self, box: Box) -> dict[str, Any]:
        return {**self.values, **dict(zip(self.unknowns, map(self.ball, box), strict=True))}

    def evaluate(self, box: Box) -> tuple[Box, list[Box]]:
        """Return the values of the equations over a box, and their Jacobian."""
        at = evaluate_in(self.m, self.outputs, self._point(box), self.unknowns)
        rows, kinks = at.jacobian()
        if kinks:
            raise Refusal("undecided", "a kink", "")
        ball = self.m.number
        return [ball(x).a for x in at.values], [[ball(x).a for x in row] for row in rows]

    def proves_root(self, point: Sequence[float]) -> bool:
        """Return whether the equations provably hold at a point."""
        return self.decide([self.m.number(x).a for x in point]) is True

    def decide_at(self, decimals: Sequence[str]) -> bool | None:
        """Return whether the equations hold at a point of decimals; None if undecided."""
        at = zip(self.unknowns, map(self.m.literal, decimals), strict=True)
        return self._decide({**self.values, **dict(at)})

    def is_bounded(self, box: Box) -> bool:
        """Return whether all equations are bounded over the box."""
        with Defined(ArithmeticError, ValueError):
            values = evaluate_in(self.m, self.outputs, self._point(box), ()).values
            return all(self.m.number(x).a.is_finite() for x in values)
        return False

    def decide(self, box: Box) -> bool | None:
        """Return whether the equations hold all over the box, or nowhere; None if undecided."""
        return self._decide(self._point(box))

    def _decide(self, point: Mapping[str, Any]) -> bool | None:
        everywhere = True
        for output in self.outputs:
            try:
                (value,) = evaluate_in(self.m, [output], point, ()).values
            except (ExpressionError, *NO_RESULT) as error:
                # a formula undefined in the whole box has no solution there
                if getattr(error, "kind", "") == "domain":
                    return False
                everywhere = False
            else:
                side = self.m.number(value).a
                if not side.contains(0):
                    return False
                everywhere = everywhere and bool(side.is_zero())
        return True if everywhere else None

    def contract(self, box: Box) -> Box | None:
        """Return K of the box; None if the Jacobian is nearly singular."""
        from flint import arb, arb_mat

        middle = [arb(a.mid()) for a in box]
        try:
            _, rows = self.evaluate(box)
            value, _ = self.evaluate(middle)
        except (ExpressionError, *NO_RESULT):
            return None
        inverted = inverse([[float(x.mid()) for x in row] for row in rows])
        if inverted is None:
            return None
        n = len(box)
        self.m.charge_operations(n * n * (n + 2))
        centre, y = arb_mat(n, 1, middle), arb_mat(inverted)
        around = arb_mat(n, 1, box) - centre
        shrunk = (
            centre - y * arb_mat(n, 1, value) + (arb_mat(identity(n)) - y * arb_mat(rows)) * around
        )
        result: Box = shrunk.entries()
        return result if all(a.is_finite() for a in result) else None

    def contract_repeatedly(self, box: Box) -> Box:
        """Contract the box as long as it shrinks."""
        for _ in range(MAX_CONTRACTIONS):
            contracted = self.contract(box)
            if contracted is None or not is_inside(contracted, box):
                break
            box = contracted
        return box

    def enclose(self, start: Sequence[float], steps: int) -> tuple[Box, Box] | None:
        """Return a box with one solution near a start, and K of it; None if not found."""
        from flint import arb

        middle, step = [arb(x) for x in start], [arb(0)] * len(start)
        for _ in range(steps):
            contracted = self.contract(middle)
            if contracted is None:
                break
            step = [abs(a.mid() - b) for a, b in zip(contracted, middle, strict=True)]
            middle = [arb(a.mid()) for a in contracted]
        tiny = arb(2) ** -(2 * self.m.bits)
        for power in (2, 3, 6, 12):
            # narrow boxes may miss the solution
            share = arb(2) ** -(self.m.bits * 2 // (power + 1))
            box = [
                arb(a, (abs(a) + tiny) * share + 4 * d) for a, d in zip(middle, step, strict=True)
            ]
            contracted = self.contract(box)
            if contracted is not None and is_inside(contracted, box):
                return box, contracted
        return None


def is_inside(inner: Box, outer: Box) -> bool:
    """Return whether a box lies in the interior of another."""
    return all(b.contains_interior(a) for a, b in zip(inner, outer, strict=True))


def overlap(box: Box, other: Box) -> bool:
    """Return whether two boxes have a point in common."""
    return all(a.overlaps(b) for a, b in zip(box, other, strict=True))


def grow(a: Any, more: float = 2.0**-200) -> Any:
    """Return a ball whose radius is larger by `more`."""
    from flint import arb

    return arb(a.mid(), a.rad() * 2 + abs(a.mid()) * 2.0**-60 + more)
