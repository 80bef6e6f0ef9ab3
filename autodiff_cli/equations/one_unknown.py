"""One equation in one unknown, in doubles: roots in brackets, and more digits where rounding hides what is a root."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ..algebra.walk import facts_of
from ..batched.evaluator import Evaluator
from ..errors import Diagnostic, ExpressionError, counted, point_error
from ..graphs.value_and_gradient import evaluate_in, value_in
from ..inputs.arithmetic import Arithmetic
from ..inputs.problem import Problem
from ..numbers.budget import ITERATION, Defined, charge
from ..numbers.exact import EXACT
from ..numbers.running_error import UNIT
from ..numerics.newton import bisected
from ..table.primitives import OSCILLATING
from .exact_roots import ExactRoots, exact_roots
from .proof import Proof
from .residuals import TOUCHED, rounding_errors
from .roots import DIGITS, Root, Sample, all_roots, bracketed, nearest_to_zero, outwards, refined

FARTHEST = 1e5
"""Roots are looked for up to this size unless there are bounds."""

NEAREST = 10.0
"""The first interval without bounds is from minus this on; the next ones go ten times as far."""

SHELL_STEPS = 60
"""Into how many steps each of the others is divided."""

MANY = 12
"""No more roots than these are looked for, and shown, without bounds."""

MANY_DIGITS = 800
"""With so many digits it is looked whether a value that rounds to 0 in doubles is 0."""


class Stopped(Exception):
    """The search was to end early."""


class OneEquation:
    """One equation, in doubles."""

    def __init__(self, problem: Problem, stop: Callable[[], bool]) -> None:
        self.problem, self.stop = problem, stop
        (self.name,) = problem.unknowns
        self.bounds = problem.bounds.get(self.name, (-math.inf, math.inf))
        self.evaluations = 0
        self.least: Sample | None = None
        self._evaluator = Evaluator(problem.program, [self.name])
        self.roots: list[float] = []
        self.multiplicities: dict[float, int | None] = {}
        """Of the roots at which the sign does not change plainly."""
        self.plateaus: list[tuple[float, float]] = []
        """Intervals in which the equation holds."""
        self.rejected: dict[float, Any] = {}
        """Points where the value rounds to 0 without being a root, with the value and the derivative in more digits."""
        self.errors: dict[float, float] = {}
        """How far the roots that are known exactly may be off."""
        self.complete: bool | None = None
        """Whether the solutions that were returned are known to be all there are."""
        self.reach = 0.0
        """How far was looked for roots without bounds."""
        self.farthest = 0.0
        """How far from 0 the farthest of them is."""
        self.count = 0
        """How many roots were found there."""

    def __call__(self, x: float) -> Sample | None:
        """Value and derivative at a number, None where there is none."""
        if self.stop():
            raise Stopped
        charge(ITERATION)
        self.evaluations += 1
        point = self._point_at(x)
        try:
            value, slopes = self._evaluator(point)
        except ExpressionError:
            try:
                # at a root that is multiple, or on an edge, there may be a value and no derivative
                value, slopes = self._evaluator.value(point), [0.0]
            except ExpressionError:
                return None
        if self.least is None or abs(value) < abs(self.least[1]):
            self.least = x, value, slopes[0]
        return x, value, slopes[0]

    def _point_at(self, x: float) -> list[float]:
        values = {**self.problem.values, self.name: x}
        return [values[name] for name in self._evaluator.variables]

    def small(self, x: float) -> float:
        """How large rounding may make the value at a root."""
        return TOUCHED * self._rounding(x)

    def _rounding(self, x: float, *, own: bool = True) -> float:
        return rounding_errors(self.problem, {self.name: x}, own=own)[0]

    def one(self) -> list[list[float]]:
        """The solution that is asked for, if there is one."""
        if self.name in self.problem.bounds:
            return [[self._between(*self.bounds)]]
        start = self.problem.values[self.name]
        if self(start) is None:
            self._evaluator(self._point_at(start))  # raises what is wrong with the start
        for root in self._candidates(start):
            for x in self.confirmed([root]):
                return [[x]]
        return []

    def _candidates(self, start: float) -> Iterator[Root]:
        """Roots in doubles, the likeliest first."""
        near = nearest_to_zero(self, start)
        touched = near is not None and abs(near[1]) <= self.small(near[0])
        if near is not None and touched and near[2]:
            yield self._polished(near)
        for low, high in outwards(self, start):
            root = bracketed(self, low, high, self.small)
            if root is not None:
                yield root
        if near is not None and touched:
            yield Root(near[0], False, 0)
        # Newton's method comes to a multiple root at 0 by halves, and never there
        nothing = self(0.0) if near is not None and abs(near[0]) < 1e-12 * max(1.0, abs(start)) else None
        if nothing is not None and nothing[1] == 0:
            yield Root(0.0, False, 0)

    def _polished(self, near: Sample) -> Root:
        """The root beside a number that is nearly one: bracketed, where the sign changes beside it."""
        x, value, slope = near
        step = abs(value / slope) + abs(x) * 2.0**-50
        for _ in range(8):
            low, high = self(x - step), self(x + step)
            if low is None or high is None:
                break
            if low[1] * high[1] < 0:
                return bracketed(self, low, high, self.small, x) or Root(x, False, 0)
            step *= 4
        return Root(x, False, 0)

    # ---- anywhere -----------------------------------------------------------------------------------------------
    @cached_property
    def exact(self) -> ExactRoots | None:
        """All roots in exact arithmetic, where the equation is one of polynomials."""
        return exact_roots(self.problem)

    @property
    def kind(self) -> str:
        """What the equation is, in words, where all its roots are known."""
        return self.exact.kind if self.exact else ""

    def _exact_roots(self) -> list[float] | None:
        """The exact roots between the bounds; None where they are not known."""
        if self.exact is None:
            return None
        self.complete = True
        low, high = self.bounds
        roots = [root for root in self.exact.roots if low <= root.x <= high]
        self.multiplicities.update((root.x, root.multiplicity) for root in roots)
        self.errors.update((root.x, 0.0 if root.exact else math.ulp(root.x) / 2) for root in roots)
        return [root.x for root in roots]

    def exactly(self) -> Proof | None:
        """All roots between the bounds as a proof; None where they are not known, or a multiple one is no double."""
        if self.exact is None or any(root.multiplicity > 1 and not root.exact for root in self.exact.roots):
            return None
        return Proof([[x] for x in self._exact_roots() or ()], [], [], True, {})

    def around(self) -> list[list[float]]:
        """All solutions, if the equation is one of polynomials; else those that grids show that go farther and farther.

        Where functions oscillate only the first grid is fine enough. The search ends where there are many roots.
        """
        roots = self._exact_roots()
        if roots is not None:
            return [[x] for x in roots]
        self.reach = NEAREST
        roots = self.confirmed(all_roots(self, -NEAREST, NEAREST, self.small))
        endless = self._oscillates or bool(self.plateaus)
        while self.reach < FARTHEST and len(roots) < MANY and not (roots and endless):
            ends = (-10 * self.reach, -self.reach), (self.reach, 10 * self.reach)
            shells = [self.confirmed(all_roots(self, *shell, self.small, SHELL_STEPS)) for shell in ends]
            roots = sorted({*roots, *shells[0], *shells[1]})
            self.reach *= 10
        self.count = len(roots)
        self.farthest = max(map(abs, roots), default=0.0)
        nearest = sorted(roots, key=lambda x: abs(x - self.problem.values[self.name]))[:MANY]
        outside = self(self.problem.values[self.name]) is None and self.least is not None
        if nearest or outside:
            return [[x] for x in sorted(nearest)]
        return self.one()

    @property
    def _oscillates(self) -> bool:
        """Whether a function of the unknown may have zeros or poles without end."""
        leaf = self.problem.program.variables[self.name]
        varies = facts_of(self.problem.program.outputs, lambda v, inputs: v is leaf or any(inputs))
        return any(varies[v] and v.primitive.name in OSCILLATING for v in varies)

    def searched(self, count: int) -> str:
        """Return where was looked for roots, in words; `solved` where one root was asked for."""
        if not self.reach or not count:
            return "solved"
        if not self.count:
            ends = f"from {self._text(-self.reach)} to {self._text(self.reach)}"
            return f"1 solution found, which the grid of {self.name} {ends} does not show; there may be others"
        proven = NEAREST
        while proven < self.farthest:
            proven *= 10
        nearest = f"the {count} nearest of " if self.count > count else ""
        low, high, first, last = (
            self.problem.text(self.name, x, 7) for x in (-self.reach, self.reach, -proven, proven)
        )
        between = f"--between {self.name}={first}:{last}" if self.problem.units is None else ""
        between = between or f'--between "{self.name}={first}:{last}"'
        more = f"; `{between} --all --certified` proves whether there are more in that range"
        return (
            f"{nearest}{counted(max(count, self.count), 'solution')} found for {low} ≤ {self.name} ≤ "
            f"{high} on a grid{'' if self.plateaus else more}"
        )

    # ---- what rounding hides ------------------------------------------------------------------------------------
    def confirmed(self, roots: Sequence[Root]) -> list[float]:
        """The true roots among ascending ones in doubles: those that rounding makes of one are one, or none."""
        result: list[float] = []
        flat: list[float] = []
        for root in roots:
            plain = self._changes_sign(root.x)
            if flat and (plain or not self._is_flat((flat[-1] + root.x) / 2)):
                result += self._true_roots(flat)
                flat = []
            (result if plain else flat).append(root.x)
        return sorted({*result, *self._true_roots(flat)})

    def _is_flat(self, x: float) -> bool:
        here = self(x)
        return here is not None and abs(here[1]) <= self.small(x)

    def _changes_sign(self, x: float, step: float = 0.0) -> bool:
        """Whether the sign changes beside a number by more than rounding errors, and the slope does not."""
        here = self(x)
        if here is None or not (here[2] or step):
            return False
        error = self._rounding(x)
        reach = step or 2 * (abs(here[1]) + error) / abs(here[2]) + 2 * UNIT * abs(x)
        low, high = self(x - reach), self(x + reach)
        if low is None or high is None or low[1] * high[1] >= 0 or min(abs(low[1]), abs(high[1])) <= error:
            return False
        # at a simple root the slope is nearly the same all around
        return bool(step) or (reach <= 1e-3 * abs(x) and all(0.5 < end[2] / here[2] < 2 for end in (low, high)))

    def _true_roots(self, flat: Sequence[float]) -> list[float]:
        """The roots between numbers at which the value is 0 within rounding errors, by a computation in more digits."""
        if not flat or any(self._is_flat((flat[0] + x) / 2) for x in self.rejected):
            return []
        low, high = self.bounds
        size = max(abs(flat[0]), abs(flat[-1]), high - low if high - low < math.inf else 1.0)
        width = max(flat[-1] - flat[0], 1e-12 * size)
        while width < size and (self._is_flat(flat[0] - width) or self._is_flat(flat[-1] + width)):
            width *= 4
        result = []
        for start in dict.fromkeys((flat[len(flat) // 2], *flat[:: max(1, len(flat) - 1)])):
            error = max(self._rounding(start), self._rounding(start + width))
            root = refined(self._in_digits, start, width, error)
            if root is not None and flat[0] - 2 * width <= root[0] <= flat[-1] + 2 * width:
                x = min(max(root[0], low), high)
                if abs(x - root[0]) <= 4 * UNIT * abs(x) + 1e-12 * width:
                    self.multiplicities[x] = root[1]
                    if root[0] == x and root[1] is None and self(x) == (x, 0.0, 0.0) and self._is_computed_exactly(x):
                        self.errors[x] = 0.0
                    result.append(x)
        return result or self._rounded_root(flat, width)

    def _rounded_root(self, flat: Sequence[float], width: float) -> list[float]:
        """One of the numbers at which the value is 0 within rounding errors, if it is 0 there or changes its sign."""
        at = min(flat, key=lambda x: abs(self._evaluator.value(self._point_at(x))))
        in_digits = self._in_digits(MANY_DIGITS)(at)
        value = in_digits and in_digits[0]
        exact = value == 0 and (self._is_computed_exactly(at) or self._holds(at))
        if not exact and not self._changes_sign(at, width):
            again = self._in_digits(MANY_DIGITS + DIGITS)(at) if value else None
            if in_digits and again and abs(value - again[0]) > 0.01 * abs(again[0]):
                in_digits = 0, 0  # these digits are rounding errors
            self.rejected[at] = in_digits
            return []
        self.multiplicities[at] = None
        if exact:
            self.errors[at] = 0.0
            if not self._on_a_plateau(at):
                self._find_plateau(flat, width)
        return [at]

    def _on_a_plateau(self, x: float) -> bool:
        return any(low <= x <= high for low, high in self.plateaus)

    def _find_plateau(self, flat: Sequence[float], width: float) -> None:
        """Warn of an interval around roots in which the equation holds wherever it is evaluated, if there is one."""
        low, below = self._last_zero(flat[0], -width)
        high, above = self._last_zero(flat[-1], width)
        if low == high:
            return
        self.plateaus.append((low, high))
        start = f"{self._text(low)} ≤" if below is None else f"{self._text(below)} <"
        end = f"≤ {self._text(high)}" if above is None else f"< {self._text(above)}"
        message = f"the equation holds at all numbers that were tried for {start} {self.name} {end}"
        self.problem.warnings.append(Diagnostic("flat", message, None, "one place of these is shown"))

    def _last_zero(self, x: float, width: float) -> tuple[float, float | None]:
        """The last double from a root on, towards the sign of `width`, at which the equation holds.

        And the double behind it, if it is the shorter one of the two.
        """
        step, (low, high) = width * 2.0**-10, self.bounds
        low, high = max(low, -FARTHEST), min(high, FARTHEST)

        def holds(x: float) -> bool:
            sample = self(x)
            return sample is not None and (sample[1] == 0 or (self._is_flat(x) and self._holds(x)))

        while low <= x + step <= high and holds(x + step):
            x, step = x + step, step * 1.2
        end = min(max(x + step, low), high)
        if holds(end):
            return end, None
        x, end = bisected(holds, x, end)
        return x, end if len(repr(end)) < len(repr(x)) else None

    def _holds(self, x: float) -> bool:
        """Whether the equation holds at a number in exact arithmetic."""
        with Defined(ArithmeticError, ValueError):
            (output,), exact = self.problem.program.outputs, Arithmetic("exact")
            point = {
                name: exact._value(EXACT, name, x if name == self.name else self.problem.point[name])
                for name in self._evaluator.variables
            }
            return value_in(EXACT, output, point) == 0
        return False

    def _is_computed_exactly(self, x: float) -> bool:
        """Whether no operation is rounded in doubles at a number."""
        return self._rounding(x, own=False) == 0.0

    def _in_digits(self, digits: int) -> Callable[[Any], tuple[Any, Any] | None]:
        """Value and derivative in so many digits, None where there is none; the derivative is None where it is not."""
        from ..numbers.multiprecision import Multiprecision

        m = Multiprecision(digits, decimals=True)
        arithmetic = Arithmetic("precision", digits)
        point = {name: x for name, x in self.problem.point.items() if name in self._evaluator.variables}
        values = {name: arithmetic._value(m, name, x) for name, x in point.items()}

        def function(x: Any) -> tuple[Any, Any] | None:
            result = None
            with Defined(ArithmeticError):
                here = {**values, self.name: m.number(x)}
                swept = evaluate_in(m, self.problem.program.outputs, here, [self.name])
                result = m.number(swept.values[0]), None
                result = result[0], m.number(swept.jacobian([self.name])[0][0][0])
            return None if m.underflowed else result

        return function

    # ---- between bounds -----------------------------------------------------------------------------------------
    def _between(self, low: float, high: float) -> float:
        """The solution between the bounds: near a start that was given, else the first. Raises where there is none."""
        a, b = self(low), self(high)
        start = self.problem.values[self.name] if self.name in self.problem.point else None
        if a is not None and b is not None and a[1] * b[1] <= 0 and self.exact is None:
            root = bracketed(self, a, b, self.small, start)
            for x in self.confirmed([root]) if root is not None else ():
                return x
        self.every()
        if not self.roots:
            raise self._no_change(low, high, a, b)
        return self.roots[0] if start is None else min(self.roots, key=lambda x: abs(x - start))

    def _no_change(self, low: float, high: float, a: Sample | None, b: Sample | None) -> ExpressionError:
        side, text = self.problem.text_of_side, self._text
        ends = [f"{'no value' if s is None else side(s[1])} at {text(end)}" for end, s in ((low, a), (high, b))]
        near = "" if self.least is None else f"; {side(self.least[1], 3)} is nearest to 0, at {text(self.least[0])}"
        near = f"; it is {self.kind}" if self.exact else near
        return point_error(
            f"left side less right side does not change its sign between {text(low)} and {text(high)}, and no root "
            f"was found there: it is {ends[0]} and {ends[1]}{self._only_rounded() or near}",
            "give other bounds"
            if self.exact
            else "give other bounds; `--all --certified` proves that there is no root",
        )

    def every(self) -> list[list[float]]:
        """All solutions that a grid shows between the bounds."""
        roots = self._exact_roots()
        self.roots = self.confirmed(all_roots(self, *self.bounds, self.small)) if roots is None else roots
        return [[x] for x in self.roots]

    def others(self, solutions: Sequence[Sequence[float]]) -> list[float]:
        """Approximate places of other solutions between the bounds."""
        if self.name not in self.problem.bounds or not solutions:
            return []
        try:
            self.roots or self.every()
        except Stopped:
            return []
        ((x,),) = solutions
        near = 0.0 if self.exact else 1e-7
        others = [other for other in self.roots if abs(other - x) > near * max(abs(x), abs(other))]
        others = [other for other in others if not (self._on_a_plateau(x) and self._on_a_plateau(other))]
        if others:
            self.complete = False
        return others

    def _only_rounded(self) -> str:
        """Describe a point where the value rounds to 0 without being 0."""
        for x, in_digits in self.rejected.items():
            at, value = f"{self.name} = {self._text(x)}", in_digits and in_digits[0]
            if in_digits is not None and not any(in_digits):
                return f"; it is 0 at {at} in all digits that were computed, and whether that is a root is not known"
            exact = "" if not value else f": in more digits it is {value.context.nstr(value, 3)}"
            return f"; it is 0 within rounding errors at {at}, where there is no root{exact}"
        return ""

    def nearest(self) -> str:
        """Describe the point where the residual of the equation is smallest."""
        if self.least is None:
            return ""
        if self.rejected:
            return self._only_rounded().replace("it", "left side less right side", 1)
        at, side = f"{self.name} = {self._text(self.least[0])}", self.problem.text_of_side(self.least[1], 3)
        return f"; left side less right side is nearest to 0 at {at}, where it is {side}"

    def _text(self, x: float) -> str:
        return self.problem.text(self.name, x)
