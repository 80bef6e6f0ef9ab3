"""Rigorous quadrature: integrals over intervals in proven balls, and where an integrand has no
finite ball.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

from flint import acb, arb, ctx, fmpq

from ...engine.graphs.value import Value, in_order
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import BudgetExceeded, charge, use_share
from ...errors import ExpressionError
from .complex_balls import ComplexBalls

GUARD_BITS = 30
# Work for an operation of the integrand on a ball, in steps.
STEPS_AN_EVALUATION = 2
MAX_EVALUATIONS = 8_000
# Near an end: if these are not enough, as many are left for two computations that prove nothing.
ROUGH_EVALUATIONS = 4_000
# How often an interval is halved that the most evaluations leave wide.
MAX_HALVINGS = 3
# How much of the work that is left halves may take: an antiderivative is checked by the rest.
LEAST_GAIN = 4
"""How much less wide the halves are together where it is worth to halve them again: kinks that
evaluations are enough for leave nothing wide, and an integrand that is wide everywhere gains 2.
"""
SHARE_OF_PARTS = 0.75
# How far around a place an integrand has to be analytic.
NEAR = 2.0**-20
# An interval without a finite ball is halved until it is 2**-40 of the whole.
SINGULAR_BITS = 40
# The most intervals without finite balls that are followed.
MAX_SINGULAR = 24
# Wide balls overestimate: only parts of 1/4096 of the whole tell that there are too many singular
# ones.
FINE = 4096


class Hole(NamedTuple):
    """A place where quotients in the integrand are 0/0."""

    place: Value
    parts: Sequence[Value]
    """Their numerators and denominators."""
    formula: Value
    """The integrand with quotients of derivatives instead."""


class Quadrature:
    """An integrand of one variable, with enclosures over balls."""

    def __init__(
        self, integrand: Value, name: str, digits: int, others: Mapping[str, Any] | None = None
    ) -> None:
        self.integrand, self.name, self.digits = integrand, name, digits
        self.bits = int(digits * 3.33) + GUARD_BITS
        # Balls of other variables.
        self.others = others or {}
        self.types = ComplexBalls(False), ComplexBalls(True)
        # Places where quotients of the integrand are 0/0, which it has enclosures around.
        self.holes: list[Hole] = []
        self.exhausted: BudgetExceeded | None = None

    def at(self, x: Any, analytic: bool = False, formula: Value | None = None) -> Any:
        """Return the enclosure of the integrand, or another formula, over a ball; not a finite one
        if there is none.
        """
        if formula is not None:
            return self._at(x, analytic, formula)
        found = self._at(x, analytic, self.integrand)
        for hole in self.holes:
            found = found if found.is_finite() else self._around(hole, x, analytic)
        return found

    def _around(self, hole: Hole, x: Any, analytic: bool) -> Any:
        """Return the enclosure over the hull of a ball and a hole.

        Where numerator and denominator are analytic on a convex set, and 0 at a point of it, p
        times, their quotient is one of averages of their p-th derivatives over the set.
        """
        whole = acb(x).union(acb(self.value(hole.place)))
        if not all(self._at(whole, True, part).is_finite() for part in hole.parts):
            return acb("nan")
        return self._at(whole, analytic, hole.formula)

    def _at(self, x: Any, analytic: bool, formula: Value) -> Any:
        try:
            charge(STEPS_AN_EVALUATION * len(in_order((formula,))))
            return acb(
                evaluate_in(self.types[analytic], formula, {self.name: x, **self.others}).value
            )
        except BudgetExceeded as exhausted:
            self.exhausted = exhausted  # no error may pass through the library's loop
        except (ExpressionError, TypeError, *NO_RESULT):
            pass  # TypeError: a condition that the ball does not decide
        return acb("nan")

    def integral(self, low: Any, high: Any) -> Any:
        """Return the ball of the integral between two balls; not a finite one if it is not
        known.
        """
        self.types[0].straddles = False
        return self._fine_integral(low, high)

    def integral_in_parts(self, low: Any, high: Any) -> Any:
        """Return the ball of the integral between two balls, with more work where many kinks leave
        it wide.
        """
        result = self.integral(low, high)
        if self._is_wide(result):
            try:
                with use_share(SHARE_OF_PARTS):
                    result = self._integral_in_parts(low, high, result, MAX_HALVINGS)
            except BudgetExceeded:
                self.exhausted = None  # of the share
        return result

    def _integral_in_parts(self, low: Any, high: Any, result: Any, halvings: int) -> Any:
        """Return the ball of an integral, of its halves where the most evaluations leave it wide,
        as many kinks do.
        """
        if not halvings or not self._is_wide(result):
            return result
        with precision(self.bits):
            middle = ((low + high) / 2).mid()
            ends = ((low, middle), (middle, high))
            parts = [self._fine_integral(*pair) for pair in ends]
            whole = sum(parts)
            if whole.is_finite() and whole.rad() < result.rad() / LEAST_GAIN:
                whole = sum(
                    self._integral_in_parts(*pair, part, halvings - 1)
                    for pair, part in zip(ends, parts, strict=True)
                )
        return whole if whole.is_finite() else result

    def _is_wide(self, result: Any) -> bool:
        """Return whether a ball has fewer digits than are asked for, also beside a number of size
        1.
        """
        allowed = arb(2) ** (GUARD_BITS - self.bits) * (1 + abs(result.mid()))
        return bool(result.is_finite() and result.rad() > allowed)

    def _fine_integral(self, low: Any, high: Any) -> Any:
        with precision(self.bits):
            result = self._integral(low, high, None)
            if result.is_finite() and result.real.rel_accuracy_bits() < self.bits - GUARD_BITS:
                # a small integral: as many digits of it
                size = result.real.abs_upper()
                goal = size * arb(2) ** -self.bits if size > 0 else None
                if goal is not None:
                    finer = self._integral(low, high, goal)
                    result = finer if finer.is_finite() else result
            known = result.is_finite() and result.imag.contains(0)
            return result.real if known else arb("nan")

    def rough_integral(self, low: Any, high: Any, goal: Any) -> Any:
        """Return the ball of an integral with an error of about a goal; not a finite one if that
        takes much work.
        """
        self.straddles = False
        result = self._integral(low, high, goal, ROUGH_EVALUATIONS)
        return result.real if result.is_finite() and result.imag.contains(0) else arb("nan")

    def _integral(self, low: Any, high: Any, goal: Any, limit: int = MAX_EVALUATIONS) -> Any:
        more = {} if goal is None else {"abs_tol": goal}
        result = acb.integral(
            lambda x, analytic: self.at(x, bool(analytic)),
            acb(low),
            acb(high),
            eval_limit=limit,
            **more,
        )
        if self.exhausted is not None:
            raise self.exhausted
        return result

    def has_value(self, place: Any) -> bool:
        """Return whether the integrand is proven to have a value at a real ball."""
        return bool(self.at(acb(place)).is_finite())

    def is_bounded(self, place: Any, side: int) -> bool:
        """Return whether the integrand is proven to be bounded beside a real ball: above it for
        side 1, else below.
        """
        return bool(self.at(acb(place.union(place + side * arb(NEAR)))).is_finite())

    def is_analytic_near(self, place: Any) -> bool:
        """Return whether the integrand is proven to be analytic around a real ball."""
        around = acb(place + arb(0, NEAR), arb(0, NEAR))
        return bool(self.at(around, analytic=True).is_finite())

    def power_of_ten(self, places: Sequence[Fraction]) -> int:
        """Return the power of ten below the largest size that the integrand has at some places; 0
        if it has no value there but 0.
        """
        with precision(self.bits):
            sizes = [abs(self.at(acb(ball(place)))) for place in places]
            logs = [(size.log() / arb(10).log()).mid() for size in sizes if size > 0]
        if self.exhausted is not None:
            raise self.exhausted
        return max((math.floor(float(log)) for log in logs if log.is_finite()), default=0)

    @property
    def straddles(self) -> bool:
        """Return whether a root or logarithm was taken of balls that are partly negative."""
        return self.types[0].straddles

    @straddles.setter
    def straddles(self, straddles: bool) -> None:
        self.types[0].straddles = straddles

    def enclosure(self, formula: Value, low: Fraction, high: Fraction) -> Any:
        """Return the real ball of a formula between two numbers; not a finite one if there is
        none.
        """
        with precision(self.bits):
            found = self.at(hull(low, high), False, formula)
            if self.exhausted is not None:
                raise self.exhausted
            return found.real if found.is_finite() and found.imag.is_zero() else arb("nan")

    def value(self, formula: Value) -> Any:
        """Return the real ball of a formula without variables; not a finite one if it has no
        value.
        """
        with precision(self.bits + GUARD_BITS):
            found = self.at(acb(0), False, formula)
            return found.real if found.is_finite() and found.imag.contains(0) else arb("nan")

    def suspects(self, low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Return small intervals that the integrand has no finite ball over, the adjacent ones as
        one.
        """
        left = [(low, high)]
        with precision(80):
            for _ in range(SINGULAR_BITS):
                halves = [
                    half
                    for start, end in left
                    for half in ((start, (start + end) / 2), ((start + end) / 2, end))
                ]
                left = [half for half in halves if not self.at(hull(*half)).is_finite()]
                if len(left) > MAX_SINGULAR and left[0][1] - left[0][0] < (high - low) / FINE:
                    return [(low, high)]
                if len(left) > FINE:
                    return [(low, high)]
        joined: list[tuple[Fraction, Fraction]] = []
        for start, end in left:
            if joined and joined[-1][1] == start:
                joined[-1] = joined[-1][0], end
            else:
                joined.append((start, end))
        return joined


def ball(x: Fraction) -> Any:
    """Return the ball of a fraction."""
    return arb(fmpq(x.numerator, x.denominator))


def hull(low: Fraction, high: Fraction) -> Any:
    """Return the ball of all numbers between two fractions."""
    return acb(ball(low).union(ball(high)))


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the working precision of balls, for a while."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before
