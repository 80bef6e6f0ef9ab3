"""One equation: roots in doubles, and in more digits if rounding hides them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from itertools import islice, pairwise
from typing import Any

from ...compiled.evaluator import Evaluator
from ...engine.algebra.rational_functions import coefficients, fraction_of
from ...engine.algebra.walk import facts_of, substitute
from ...engine.graphs.value import Value, constant, in_order, node
from ...engine.graphs.value_and_gradient import evaluate_in, value_in
from ...engine.numbers.base import digits_text
from ...engine.numbers.budget import Defined
from ...engine.numbers.exact import EXACT
from ...engine.numbers.floats import REAL
from ...engine.numbers.running_error import UNIT_ROUNDOFF
from ...engine.numerics.newton import bisect, newton, refine
from ...engine.numerics.polynomials import RealRoot, real_roots
from ...engine.table.operators import ADD, CONSTANT, MUL, POW, SUB
from ...engine.table.primitives import OSCILLATING
from ...errors import ExpressionError, point_error
from ...language.printer import expression_text
from ...questions.problem import Problem, parse
from .continuity import is_hole, jumps_away, may_break, may_jump, root_between, sampler
from .pieces import End, Pieces, SolutionInterval, joined
from .residuals import ROOT_DIGITS, Root, Search, SolvingStopped, half_ulp

# A number, and the equation's value and slope there.
Sample = tuple[float, float, float]
# A function with its derivative, in many digits; None where it has no value.
_InDigits = Callable[[Any], tuple[Any, Any] | None]

MAX_REACH = 1e5  # of a search without bounds
# The end of the first interval; others reach ten times as far.
FIRST_REACH = 10.0
GRID_STEPS, SHELL_STEPS = 240, 60
# The quotient of ends above which a grid is geometric too.
MIN_GEOMETRIC_QUOTIENT = 100
MAX_ROOTS = 12  # of a search without bounds
MAX_INTERVALS = 12  # of solutions, of any search
ZERO_TEST_DIGITS = 800  # where doubles round to 0
MAX_HALVINGS = 2200  # of any interval of doubles
MAX_SECANT_STEPS = 80
MAX_OUTWARD_STEPS = 90  # on each side of a start
MAX_EDGE_HALVINGS = 60
# to a pole beside which a root may be: a root at 1e-15 of the distance of two samples
MAX_POLE_HALVINGS = 50
# The share of a root within which another is the same one.
SAME_ROOT = 1e-7
# Where beside an interval of solutions roots are searched, as a share of the distance to the next
# sample.
SHARE_BESIDE = 1e-9
MAX_COEFFICIENT_BITS = 1000  # of a double
# The greatest relative distance of an edge in doubles from the edge.
MAX_EDGE_DISTANCE = 1e-9
# The share of a 0 in 80 digits that is left in 160.
NEGLIGIBLE = 1e-30
# The rounding error of a number that is 0 in 80 digits.
LEAST_SIZE = 1e-80
JUMP, HOLE = "it jumps", "it has a pole or a hole"
NEARLY = "it is nearly 0"
# How far beside a root at 0 the equation is looked at, in 80 digits.
MIN_REACH = 1e-40
# The share of a root that its error in doubles may be: beyond, the equation is too flat to tell
# where it is.
MAX_SHARE_OF_ROOT = 1e-3


class OneEquation(Search):
    """One equation, in doubles."""

    def __init__(self, problem: Problem, stop: Callable[[], bool] = lambda: False) -> None:
        super().__init__(problem, stop)
        (self.name,), (self.output,) = problem.unknowns, problem.program.outputs
        self.least: Sample | None = None
        self._evaluator = Evaluator(problem.program, [self.name])
        self.roots: list[float] = []
        # Numbers where the equation seems to hold and does not, with what is there in words.
        self.breaks: dict[float, str] = {}
        # Points where the value only rounds to 0, with more digits of it and of its slope.
        self.rejected: dict[float, Any] = {}
        self.reach = self.farthest = 0.0
        self.count = 0

    @property
    def start(self) -> float:
        return self.problem.values[self.name]

    @property
    def leaf(self) -> Value:
        return self.problem.program.variables[self.name]

    @property
    def bounds(self) -> tuple[float, float]:
        return self.problem.bounds.get(self.name, (-math.inf, math.inf))

    def __call__(self, x: float) -> Sample | None:
        self.count_evaluation()
        point = self._point_at(x)
        try:
            value, slopes = self._evaluator(point)
        except ExpressionError:
            try:
                # at an edge there may be no derivative
                value, slopes = self._evaluator.value(point), [0.0]
            except ExpressionError:
                return None
        if self.least is None or abs(value) < abs(self.least[1]):
            self.least = x, value, slopes[0]
        return x, value, slopes[0]

    def _is_defined(self, x: float) -> bool:
        with Defined():
            self._evaluator.value(self._point_at(x))
            return True
        return False

    def _point_at(self, x: float) -> list[float]:
        values = self.values_at([x])
        return [values[name] for name in self._evaluator.variables]

    def _rounding(self, x: float, *, own: bool = True) -> float:
        return self.rounding_errors([x], own=own)[0]

    def _is_small(self, sample: Sample | None) -> bool:
        return sample is not None and self.rounds_to_zero(sample[:1], sample[1:2])

    def solve_once(self) -> list[list[float]]:
        """Return the requested solution, if any."""
        start = self.start
        if self.name in self.problem.bounds:
            guess = start if self.name in self.problem.point else None
            return [[self._between(*self.bounds, guess)]]
        if self(start) is None:
            self._evaluator(self._point_at(start))  # raises the error of the start
        for root in self._candidates(start):
            for x in self._with_intervals(self.confirm_roots([root])):
                return [[x]]
        return []

    def _candidates(self, start: float) -> Iterator[float]:
        near = self._newton_limit(start)
        touched = self._is_small(near)
        if touched and near[2]:
            yield from self._around(near)
        yield from self._outward(start)
        if touched:
            yield near[0]
        # Newton's method converges to a multiple root at 0 without reaching it
        nothing = self(0.0) if abs(near[0]) < 1e-12 * max(1.0, abs(start)) else None
        if nothing is not None and nothing[1] == 0:
            yield 0.0

    def _newton_limit(self, start: float) -> Sample:
        """Return the sample that Newton's method ends at."""
        near: Sample = start, math.inf, 0.0

        def system(point: list[float]) -> tuple[list[float], list[list[float]]] | None:
            sample = self(point[0])
            return None if sample is None else ([sample[1]], [[sample[2]]])

        for (x,), ((value,), ((slope,),)), _ in islice(
            newton(REAL, system, [start], smallest=1e-9), 201
        ):
            near = x, value, slope
        return near

    def _around(self, near: Sample) -> list[float]:
        """Return the roots beside a sample that is nearly one, or else its place."""
        x, value, slope = near
        step = abs(value / slope) + abs(x) * 2.0**-50
        for _ in range(8):
            low, high = self(x - step), self(x + step)
            if low is None or high is None or _opposite(low, high):
                return (low and high and self._bracket(low, high, x)) or [x]
            step *= 4
        return [x]

    def _outward(self, start: float) -> Iterator[float]:
        """Yield roots between samples that go outward from a start on both sides."""
        first, step = self(start), 0.01 * abs(start) or 0.01
        assert first is not None
        ends = {-1.0: first, 1.0: first}
        edges: list[Sample] = []
        for _ in range(MAX_OUTWARD_STEPS):
            for sign, end in ends.items():
                x = end[0] + sign * step
                there = self(x) if math.isfinite(x) and x != end[0] else end
                if there is None and end not in edges:
                    there = self._edge(end, x)
                    edges.append(there)
                # beyond an edge there is nothing until it is defined again
                here = there or end
                if here[0] == end[0]:
                    continue
                if _opposite(here, end) or (here[1] == 0) != (end[1] == 0):
                    low, high = (here, end) if sign < 0 else (end, here)
                    yield from self._bracket(low, high)
                ends[sign] = here
            step *= 1.35

    def _between(self, low: float, high: float, start: float | None) -> float:
        a, b = self(low), self(high)
        if (
            a is not None
            and b is not None
            and self.exact is None
            and (_opposite(a, b) or 0 in (a[1], b[1]))
        ):
            for x in self._with_intervals(self.confirm_roots(self._bracket(a, b, start))):
                return x
        self.search_all()
        if self.roots:
            return self.roots[0] if start is None else min(self.roots, key=lambda x: abs(x - start))
        raise self._no_root_between((low, a), (high, b))

    def _no_root_between(self, *ends: tuple[float, Sample | None]) -> ExpressionError:
        """Return the error of bounds between which no root was found: what is at the ends, and
        nearest to 0.
        """
        side, text = self.problem.residual_text, self._text
        (low, a), (high, b) = ends
        told = [f"{'no value' if s is None else side(s[1])} at {text(end)}" for end, s in ends]
        near = f"; it is {self.exact[1]}" if self.exact else ""
        if self.least is not None and not self.exact:
            near = f"; {side(self.least[1], 3)} is nearest to 0, at {text(self.least[0])}"
        changes = a is not None and b is not None and _opposite(a, b)
        sign = (
            "changes its sign, as at a pole or a jump," if changes else "does not change its sign"
        )
        where = f"{sign} between {text(low)} and {text(high)}, and no root was found there"
        message = (
            f"left side less right side {where}: it is {told[0]} and"
            f" {told[1]}{self._only_rounded() or near}"
        )
        proof = "" if self.exact else "; `--all --certified` proves whether there is a root"
        return point_error(message, f"give other bounds{proof}")

    def search_all(self) -> list[list[float]]:
        """Return all solutions that a grid between the bounds shows."""
        solutions = self.solve_exactly()
        if solutions is None:
            solutions = [[x] for x in self._with_intervals(self._search(*self.bounds))]
        self.roots = [x for (x,) in solutions]
        return solutions

    def other_solutions(self, x: float) -> list[float]:
        """Return approximate other solutions between the bounds."""
        if self.name not in self.problem.bounds:
            return []
        try:
            self.roots or self.search_all()
        except SolvingStopped:
            return []
        near = 0.0 if self.exact else 1e-7
        others = [other for other in self.roots if abs(other - x) > near * max(abs(x), abs(other))]
        others = [
            other for other in others if not (self.on_a_plateau(x) and self.on_a_plateau(other))
        ]
        if others:
            self.complete = False
        return others

    def nearby(self) -> list[float]:
        """Return all solutions of polynomials, or those on the first grid."""
        solutions = self.solve_exactly()
        if solutions is not None:
            return [x for (x,) in solutions]
        return self._with_intervals(self._search(-FIRST_REACH, FIRST_REACH))

    def around(self) -> list[list[float]]:
        """Return all solutions of polynomials, or those on ever wider grids."""
        solutions = self.solve_exactly()
        if solutions is not None:
            return solutions
        self.reach, start = FIRST_REACH, self.start
        roots = self._search(-FIRST_REACH, FIRST_REACH)
        # there may be infinitely many zeros or poles
        varies = facts_of((self.output,), lambda v, inputs: v is self.leaf or any(inputs))
        endless = any(varies[v] and v.primitive.name in OSCILLATING for v in varies)
        while (
            self.reach < MAX_REACH
            and len(roots) < MAX_ROOTS
            and not ((roots or self.plateaus) and endless)
        ):
            ends = (-10 * self.reach, -self.reach), (self.reach, 10 * self.reach)
            shells = [self._search(*shell, SHELL_STEPS) for shell in ends]
            roots = sorted({*roots, *shells[0], *shells[1]})
            self.reach *= 10
        roots = self._with_intervals(roots)
        self.count, self.farthest = len(roots), max(map(abs, roots), default=0.0)
        nearest = sorted(roots, key=lambda x: abs(x - start))[:MAX_ROOTS]
        outside = self(start) is None and self.least is not None
        return [[x] for x in sorted(nearest)] if nearest or outside else self.solve_once()

    def _bracket(self, low: Sample, high: Sample, start: float | None = None) -> list[float]:
        """Return the root between samples of different signs, if any; Numerical Recipes, 9.4."""
        for end in (low, high):
            if end[1] == 0:
                return [end[0]]
        a, b = (low, high) if low[1] < 0 else (high, low)
        largest = max(abs(a[1]), abs(b[1]))
        left, right = min(a[0], b[0]), max(a[0], b[0])
        x = start if start is not None and left < start < right else (a[0] + b[0]) / 2
        before = abs(b[0] - a[0])
        for _ in range(1, MAX_HALVINGS):
            here = self(x)
            if here is None or here[1] == 0:
                return [] if here is None else [x]
            a, b = (here, b) if here[1] < 0 else (a, here)
            left, right = min(a[0], b[0]), max(a[0], b[0])
            middle = left + (right - left) / 2
            newton = x - here[1] / here[2] if here[2] else math.inf
            if not left < middle < right:
                break
            if left < newton < right and abs(newton - x) < 0.5 * before:
                before, x = abs(newton - x), newton
            else:
                before, x = right - left, middle
        return self._nearest_root(a, b, largest)

    def _nearest_root(self, a: Sample, b: Sample, largest: float) -> list[float]:
        """Return the root between neighbouring samples, if any: at a pole or a jump their values
        are large.
        """
        nearest = min(a, b, key=_distance_from_zero)
        if abs(nearest[1]) > 0.5 * largest or not self._is_small(nearest):
            return []
        x, (left, right) = nearest[0], sorted((a[0], b[0]))
        samples = (a, b, *map(self, (math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf))))
        inside = [sample for sample in samples if sample is not None and left <= sample[0] <= right]
        return [min(inside, key=_distance_from_zero)[0]]

    def _edge(self, inside: Sample, outside: float) -> Sample:
        x, _ = bisect(lambda x: self(x) is not None, inside[0], outside, most=MAX_EDGE_HALVINGS)
        edge = self(x) or inside
        root = self._end_of_a_piece(edge[0])
        return edge if root is None else (root, 0.0, edge[2])

    def _on_grid(self, low: float, high: float, steps: int) -> list[float]:
        samples = [(x, self(x)) for x in _grid(low, high, steps)]
        roots = [x for x, here in samples if here is not None and here[1] == 0]
        for (x, here), (y, there) in pairwise(samples):
            if here is not None or there is not None:
                ends = here or self._edge(there, x), there or self._edge(here, y)  # type: ignore[arg-type]
                roots += [end[0] for end in ends if end[1] == 0 and x < end[0] < y]
                roots += self._between_samples(*ends)
        return _distinct_roots(roots, 1e-9 * (high - low))

    def _between_samples(self, a: Sample, b: Sample) -> list[float]:
        if _opposite(a, b):
            return self._bracket(a, b)
        if (b[1] - a[1]) * a[2] < 0 and (b[1] - a[1]) * b[2] < 0:
            return self._beside_a_pole(a, b)
        # towards 0 on the left and away on the right: the minimum is in between
        if 0 in (a[1], a[2], b[1], b[2]) or (a[1] > 0) == (a[2] > 0) or (b[1] > 0) != (b[2] > 0):
            return []
        return self._at_a_minimum(a, b)

    def _at_a_minimum(self, a: Sample, b: Sample) -> list[float]:
        """Return the roots around the point between two samples where the function is nearest
        to 0.
        """
        left, right = a, b
        for _ in range(MAX_HALVINGS):
            x = left[0] + (right[0] - left[0]) / 2
            if not left[0] < x < right[0]:
                break
            here = self(x)
            if here is None or here[1] == 0:
                return [] if here is None else [x]
            if _opposite(here, a):
                return self._bracket(a, here) + self._bracket(here, b)
            if (here[2] > 0) == (a[2] > 0) and here[2] != 0:
                left = here
            else:
                right = here
        least = min(left, right, key=_distance_from_zero)
        return [least[0]] if self._is_small(least) else []

    def _beside_a_pole(self, a: Sample, b: Sample) -> list[float]:
        """Return the roots between samples of one sign that both rise while the value falls, as
        those of tan do.
        """
        for _ in range(MAX_POLE_HALVINGS):
            x = a[0] + (b[0] - a[0]) / 2
            here = self(x) if a[0] < x < b[0] else None
            if here is None:
                break
            if _opposite(a, here):
                return self._bracket(a, here) + self._bracket(here, b)
            falls = (here[1] - a[1]) * a[2] < 0
            a, b = (a, here) if falls else (here, b)
        return []

    def confirm_roots(self, roots: Sequence[float]) -> list[float]:
        """Return the true roots among ascending ones, but for those in intervals of solutions,
        which are kept.
        """
        beside = self._find_intervals(roots)
        roots = [x for x in sorted({*roots, *beside}) if not self.on_a_plateau(x)]
        if self.more_plateaus:
            roots = list(filter(self._changes_sign, roots))
        result: list[float] = []
        flat: list[float] = []
        for x in roots:
            plain = self._changes_sign(x)
            if flat and (plain or not self._is_small(self((flat[-1] + x) / 2))):
                result += self._true_roots(flat)
                flat = []
            (result if plain else flat).append(x)
        return [x for x in sorted({*result, *self._true_roots(flat)}) if self._is_solution(x)]

    def _find_intervals(self, roots: Sequence[float]) -> list[float]:
        """Find the intervals of solutions at roots, and return further roots beside them."""
        beside: list[float] = []
        for x in roots:
            if self.on_a_plateau(x) or self._changes_sign(x):
                continue
            if len(self.plateaus) >= MAX_INTERVALS:
                self.more_plateaus = True
                break
            intervals = self._pieces.around(x, *self.bounds)
            self.plateaus = joined([*self.plateaus, *intervals])
            for interval in intervals:
                beside += self._roots_beside(interval)
        return beside

    def _with_intervals(self, roots: Iterable[float]) -> list[float]:
        """Return roots with a number of each interval of solutions."""
        places = []
        for interval in self.plateaus:
            typed = self.name in self.problem.point and interval.contains(self.start)
            places.append(self.start if typed else interval.a_place())
            self.special_roots[places[-1],] = Root(errors=[0.0])
        return sorted({*places, *(x for x in roots if not self.on_a_plateau(x))})

    def _roots_beside(self, interval: SolutionInterval) -> Iterator[float]:
        """Yield the roots between the ends of an interval of solutions and the next numbers of the
        grid.
        """
        xs, (low, high, _) = self._pieces.xs, interval
        below, above = xs[: bisect_left(xs, low.x)][-1:], xs[bisect_right(xs, high.x) :][:1]
        for start, end in (*((low.x, x) for x in below), *((high.x, x) for x in above)):
            if math.isinf(start):
                continue
            first, second = sorted((start + (end - start) * SHARE_BESIDE, end))
            a, b = self(first), self(second)
            if a is not None and b is not None:
                yield from self._between_samples(a, b)

    @cached_property
    def _pieces(self) -> Pieces:
        low, high = max(self.bounds[0], -MAX_REACH), min(self.bounds[1], MAX_REACH)
        return Pieces(
            self.output, self.name, self.parameters, self._written, _grid(low, high, GRID_STEPS)
        )

    def _written(self, name: str) -> Value:
        """Return the value of a known variable as it was written."""
        typed = self.problem.point[name]
        text = typed if isinstance(typed, str) else getattr(typed, "source", None)
        return parse(text).outputs[0] if text else constant(self.problem.values[name])

    @cached_property
    def _may_break(self) -> bool:
        return may_break(self.output)

    def _is_solution(self, x: float) -> bool:
        """Return whether the equation holds at a root, however it was found; keep what is there if
        it does not.
        """
        here = self(x)
        # which was compared in digits
        is_edge = self.special_roots.get((x,), Root()).equation is not None
        if not is_edge and (here is None or not self._is_small(here)):
            self.breaks[x] = HOLE if here is None else JUMP
        elif here is not None and not is_edge and self._may_break and not self.holds_exactly([x]):
            broken = self._break_at(x, here)
            if broken is not None:
                self.breaks[x] = broken
        if may_jump(self.output) and self.breaks.get(x, JUMP) == JUMP:
            on_jump = self._keep_on_jump(self._pieces.breakpoint_near(x))
            if on_jump == x:
                self.breaks.pop(x, None)
        return x not in self.breaks

    def _keep_on_jump(self, end: End | None) -> float | None:
        """Return a breakpoint at which the equation jumps, if it holds there by value; keep what is
        known of it.
        """
        if end is None or self.on_a_plateau(end.x) or not self._pieces.holds_at(end.place):
            return None
        sides = self._pieces.jumps_beside(end)
        if not sides:
            return None
        is_double = Fraction(end.x) == end.place
        self.special_roots[end.x,] = Root(
            errors=[0.0 if is_double else half_ulp(end.x)], equation=end.equation
        )
        self.on_jumps[end.x] = sides
        return end.x

    def _search(self, low: float, high: float, steps: int = GRID_STEPS) -> list[float]:
        """Return the roots that a grid between two numbers shows, and those on jumps."""
        roots = self.confirm_roots(self._on_grid(low, high, steps))
        on_jumps = list(self._solutions_on_jumps(low, high))
        near = SAME_ROOT * (high - low)
        apart = (
            x
            for x in roots
            if all(abs(x - y) > SAME_ROOT * abs(y) + SAME_ROOT * near for y in on_jumps)
        )
        return sorted({*on_jumps, *apart})

    def _solutions_on_jumps(self, low: float, high: float) -> Iterator[float]:
        """Yield the breakpoints between two numbers at which the equation jumps, and holds by
        value.
        """
        if not may_jump(self.output):
            return
        for end in self._pieces.breakpoints(low, high):
            x = self._keep_on_jump(end)
            if x is not None and low <= x <= high:
                yield x
        if self._pieces.unseen:
            lows, highs = zip(*self._pieces.unseen, strict=True)
            self.jumps_unseen = min(lows), max(highs)

    def _break_at(self, x: float, here: Sample) -> str | None:
        """Return what the equation has at a number where its residual is small, if it has no root
        there.
        """
        m, fixed = self.in_digits(ROOT_DIGITS)
        sample = sampler(m, self.output, fixed, self.name)
        reach = 4 * UNIT_ROUNDOFF * abs(x) or MIN_REACH
        if here[2]:
            reach = max(
                reach,
                min(
                    2 * (abs(here[1]) + self._rounding(x)) / abs(here[2]),
                    MAX_SHARE_OF_ROOT * abs(x),
                ),
            )
        low, high = m.number(x) - reach, m.number(x) + reach
        if may_jump(self.output) and jumps_away(sample, low, high):
            return JUMP
        root = None
        multiplicity = self.special_roots.get((x,), Root()).multiplicity
        with Defined(ArithmeticError, ValueError):
            (root,) = refine(m, self.system(m, fixed, multiplicity or 1), [x])
        if root is None or not low <= root <= high:
            root = root_between(sample, low, high) or root
        if root is None:
            return None  # as at the root of x**1.5
        if abs(root - x) > max(2 * reach, MAX_SHARE_OF_ROOT * abs(x)):
            return NEARLY
        return HOLE if is_hole(sample, root, low, high) else None

    def _changes_sign(self, x: float, step: float = 0.0) -> bool:
        here = self(x)
        if here is None or not (here[2] or step):
            return False
        error = self._rounding(x)
        reach = step or 2 * (abs(here[1]) + error) / abs(here[2]) + 2 * UNIT_ROUNDOFF * abs(x)
        low, high = self(x - reach), self(x + reach)
        if (
            low is None
            or high is None
            or not _opposite(low, high)
            or min(abs(low[1]), abs(high[1])) <= error
        ):
            return False
        # around a simple root the slope is nearly constant
        return bool(step) or (
            reach <= 1e-3 * abs(x) and all(0.5 < end[2] / here[2] < 2 for end in (low, high))
        )

    def _true_roots(self, flat: Sequence[float]) -> list[float]:
        if ends := [end for x in flat if (end := self._end_of_a_piece(x)) is not None]:
            return ends
        if not flat or any(self._is_small(self((flat[0] + x) / 2)) for x in self.rejected):
            return []
        width = self._width_of_small_values(flat)
        result = []
        for start in dict.fromkeys((flat[len(flat) // 2], *flat[:: max(1, len(flat) - 1)])):
            root = self._refine(start, width)
            if root is not None and flat[0] - 2 * width <= root[0] <= flat[-1] + 2 * width:
                result += self._inside_bounds(*root, width)
        hole = any(flat[0] - 2 * width <= x <= flat[-1] + 2 * width for x in self.rejected)
        return result or ([] if hole else self._round_root(flat, width))

    def _round_root(self, flat: Sequence[float], width: float) -> list[float]:
        at = min(flat, key=lambda x: abs(self._evaluator.value(self._point_at(x))))
        in_digits = self._in_digits(ZERO_TEST_DIGITS)(at)
        value = in_digits and in_digits[0]
        exact = value == 0 and (self._rounding(at, own=False) == 0.0 or self.holds_exactly([at]))
        if not exact and not self._changes_sign(at, width):
            again = self._in_digits(ZERO_TEST_DIGITS + ROOT_DIGITS)(at) if value else None
            if in_digits and again and abs(value - again[0]) > 0.01 * abs(again[0]):
                in_digits = 0, 0  # these digits are rounding errors
            self.rejected[at] = in_digits
            return []
        if exact:
            self.special_roots[at,] = Root(errors=[0.0])
        return [at]

    def _width_of_small_values(self, flat: Sequence[float]) -> float:
        """Return a width beyond which the values on both sides of flat places are not small."""
        low, high = self.bounds
        size = max(abs(flat[0]), abs(flat[-1]), high - low if high - low < math.inf else 1.0)
        width = max(flat[-1] - flat[0], 1e-12 * size)
        while width < size and (
            self._is_small(self(flat[0] - width)) or self._is_small(self(flat[-1] + width))
        ):
            width *= 4
        return width

    def _inside_bounds(self, root: float, multiplicity: int | None, width: float) -> list[float]:
        """Return the double of the bounds at a refined root, and note what is known of it; none if
        it is no root.
        """
        low, high = self.bounds
        x = min(max(root, low), high)
        if not self._is_defined(x):
            self.rejected[x] = None
            return []
        if abs(x - root) > 4 * UNIT_ROUNDOFF * abs(x) + 1e-12 * width:
            return []
        is_exact = root == x and multiplicity is None and self(x) == (x, 0.0, 0.0)
        is_exact = is_exact and self._rounding(x, own=False) == 0.0
        self.special_roots[x,] = Root(multiplicity, [0.0] if is_exact else None)
        return [x]

    @cached_property
    def _breakpoints(self) -> list[tuple[Value, Value, int | None]]:
        """Functions that are 0 where a piece of the equation ends, and the equation there."""
        result = []
        nodes = [(v, expression_text(v)) for v in in_order((self.output,)) if v._prev]
        for v, text in nodes:
            for k, end_value, there in _pieces_of(v):
                places = {other: there for other, written in nodes if written == text}
                order = 1 if v.primitive.kink else None
                result.append(
                    (node(SUB, (v._prev[k], end_value)), substitute(self.output, places.get), order)
                )
        return result

    def _end_of_a_piece(self, x: float) -> float | None:
        """Return the root near x where a piece of the equation ends, as that of `abs(x - 1/3)`."""
        near = MAX_EDGE_DISTANCE * max(abs(x), 1e-3)
        if not self._breakpoints or any(
            self._is_small(self(x + 1e3 * side)) for side in (-near, near)
        ):
            return None  # in an interval of roots
        for equation, there, order in self._breakpoints:
            # both have to be nearer to 0 in more digits
            formulas = [equation, there]
            rough, fine = (
                self._end_in_digits(digits, x, formulas)
                for digits in (ROOT_DIGITS, 2 * ROOT_DIGITS)
            )
            if rough is None or fine is None:
                continue
            end, sizes = fine
            if any(
                y > NEGLIGIBLE * (before or LEAST_SIZE)
                for before, y in zip(rough[1], sizes, strict=True)
            ):
                continue
            if abs(end) <= NEGLIGIBLE * abs(x) and self.holds_exactly([0.0]):
                end = 0.0
            root = self._defined_beside(end, x)
            if root is not None and abs(root - x) <= near:
                self.special_roots[root,] = Root(order, [self._error_of(root, end)], equation)
                return root
        return None

    def _error_of(self, root: float, exact: Any) -> float:
        """Return a bound on how far a double is from the root in many digits."""
        return (
            0.0
            if self.holds_exactly([root])
            else math.nextafter(float(abs(exact - root)), math.inf)
        )

    def _defined_beside(self, end: Any, x: float) -> float | None:
        """Return the double next to a number in many digits, or x if that is near; the equation is
        defined there.
        """
        beside = (y for y in (float(end), x) if abs(end - y) <= MAX_EDGE_DISTANCE * abs(y))
        return next(filter(self._is_defined, beside), None)

    def _in_digits(self, digits: int) -> _InDigits:
        m, values = self.in_digits(digits)

        def function(x: Any) -> tuple[Any, Any] | None:
            result = None
            with Defined(ArithmeticError):
                swept = evaluate_in(
                    m, [self.output], {**values, self.name: m.number(x)}, [self.name]
                )
                result = m.number(swept.values[0]), None
                result = result[0], m.number(swept.jacobian()[0][0][0])
            return None if m.underflowed else result

        return function

    def _end_in_digits(
        self, digits: int, x: float, formulas: list[Value]
    ) -> tuple[Any, list[Any]] | None:
        """Return the zero of the first formula near x, and the sizes of both there; None if one has
        no value.
        """
        m, values = self.in_digits(digits)
        with Defined(ArithmeticError, ValueError):
            (end,) = refine(m, self.system(m, values, outputs=formulas[:1]), [x])
            left = evaluate_in(m, formulas, {**values, self.name: end}, ()).values
            return end, [abs(y) for y in left]
        return None

    def _refine(self, start: float, width: float) -> tuple[float, int | None] | None:
        """Return the double nearest to a root, and its multiplicity; None if unconfirmed.

        A multiple root of f is a simple one of f/f', to which the secant method converges.
        Where f only tends to 0, f/f' does not shrink.
        """
        error = max(self._rounding(start), self._rounding(start + width))
        function = self._in_digits(ROOT_DIGITS)
        x = _secant_limit(function, start, width)
        here = function(x)
        if here is None or abs(here[0]) > error * 1e-50:
            # f may be 0 at the double, and not beside it
            x = float(x)
            here = function(x)
            if here is None and not self._is_defined(x):
                self.rejected[x] = None
            if here is None or here[0] != 0:
                return None
        orders = self._orders_beside(function, x, 1e-3 * width)
        if not orders or min(orders) < 0.1:
            return None
        multiplicity = round(orders[0])
        is_integer = multiplicity > 0 and all(abs(order - multiplicity) < 0.05 for order in orders)
        return float(x), multiplicity if is_integer else None

    def _orders_beside(self, function: _InDigits, x: Any, distance: float) -> list[float] | None:
        """Return the multiplicity that f'/f shows on either side of a root; None if digits are too
        few for that.
        """
        finer = self._in_digits(2 * ROOT_DIGITS)
        orders = []
        for step in (-distance, distance):
            there, again = function(x + step), finer(x + step)
            if there is None or again is None or there[1] is None:
                continue
            if not again[0] or abs(there[0] - again[0]) > 0.01 * abs(again[0]):
                return None
            orders.append(float(step * again[1] / again[0]))
        return orders

    @cached_property
    def exact(self) -> tuple[list[RealRoot], str] | None:
        """All real roots, and the kind of equation, of rational polynomials."""
        with Defined(ArithmeticError, ValueError):
            values = self.parameters(EXACT)

            def fixed(part: Value) -> Fraction:
                number = value_in(EXACT, part, values)
                if number is None:
                    raise ValueError("a coefficient is not a rational number")
                return Fraction(number)

            above, divisors = fraction_of(self.output)
            sides = [
                coefficients(
                    side,
                    self.leaf,
                    fixed,
                    lambda primitive, a, b: getattr(EXACT, primitive.name)(a, b),
                )
                for side in (above, *divisors)
            ]
            if None in sides or not any(sides[0] or ()):
                return None
            polynomials = [side for side in sides if side is not None]
            roots = real_roots(polynomials[0], polynomials[1:])
            return roots, _kind_of_polynomial(polynomials, roots)
        return None

    def solve_exactly(self) -> list[list[float]] | None:
        """Return all solutions between the bounds if they are known exactly."""
        if self.exact is None:
            return None
        self.complete, self.kind = True, self.exact[1]
        low, high = self.bounds
        roots = [root for root in self.exact[0] if low <= root.x <= high]
        for x, multiplicity, exact, factor in roots:
            equation = None
            if (
                multiplicity > 1
                and not exact
                and max(c.bit_length() for c in factor) < MAX_COEFFICIENT_BITS
            ):
                numbers = [constant(float(c), str(c)) for c in reversed(factor)]
                equation = reduce(
                    lambda above, c: node(ADD, (node(MUL, (above, self.leaf)), c)), numbers
                )
            self.special_roots[x,] = Root(multiplicity, [0.0 if exact else half_ulp(x)], equation)
        return [[root.x] for root in roots]

    def describe_search(self, count: int) -> str:
        """Return a sentence on the search; `solved` if one root was requested."""
        if not self.reach or not count:
            return "solved"
        if not self.count:
            ends = f"from {self._text(-self.reach)} to {self._text(self.reach)}"
            return (
                f"1 solution found, which the grid of {self.name} {ends} does not show; there may"
                " be others"
            )
        proven = FIRST_REACH
        while proven < self.farthest:
            proven *= 10
        nearest = f"the {count} nearest of " if self.count > count else ""
        shown = -self.reach, self.reach, -proven, proven
        low, high, first, last = (self.problem.text(self.name, x, 7) for x in shown)
        quote = "" if self.problem.units is None else '"'
        between = f"--between {quote}{self.name}={first}:{last}{quote}"
        more = (
            ""
            if self.plateaus
            else f"; `{between} --all --certified` proves whether there are more in that range"
        )
        solutions = self.listed(max(count, self.count))
        where = f"{low} ≤ {self.name} ≤ {high}"
        return f"{nearest}{solutions} found for {where} on a grid{more}"

    def describe_least_residual(self) -> str:
        """Describe the point with the least residual."""
        if self.least is None:
            return ""
        if self.rejected or self.breaks:
            return self._only_rounded().replace("it", "left side less right side", 1)
        at, side = (
            f"{self.name} = {self._text(self.least[0])}",
            self.problem.residual_text(self.least[1] + 0.0, 3),
        )
        return f"; left side less right side is nearest to 0 at {at}, where it is {side}"

    def _only_rounded(self) -> str:
        for x, what in self.breaks.items():
            return f"; {what} at {self.name} = {self._text(x)}, where the equation does not hold"
        for x, in_digits in self.rejected.items():
            at = f"{self.name} = {self._text(x)}"
            beside = (math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf))
            if in_digits is None and not all(map(self._is_defined, beside)):
                return (
                    f"; it is 0 within rounding errors near {at}, where or beside which it has no"
                    " value"
                )
            if in_digits and in_digits[0]:
                digits = f"in more digits it is {digits_text(in_digits[0], 3)}"
                return f"; it is 0 within rounding errors at {at}, where there is no root: {digits}"
            precision = (
                "in all digits that were computed" if in_digits else "within rounding errors"
            )
            return f"; it is 0 at {at} {precision}, and it is not known whether that is a root"
        return ""

    def _text(self, x: float) -> str:
        return self.problem.text(self.name, x)


def _pieces_of(value: Value) -> Iterator[tuple[int, Value, Value]]:
    """Yield where a piece of an operation ends: an input's place, its value there, and what the
    operation is there.
    """
    primitive, inputs = value.primitive, value._prev
    if primitive.extreme_value:
        yield from ((k, x, x) for k, x in enumerate(inputs[1:]))
    ends = [
        (end.position, end.end) for end in primitive.bounds.bounds if end.relation in ("<=", ">=")
    ]
    is_power = primitive is POW and not (
        inputs[1].primitive is CONSTANT and inputs[1].data.is_integer()
    )
    if (primitive.kink and len(inputs) == 1) or is_power:
        ends.append((0, 0))
    for k, end in ends:
        number = constant(end or 0, str(end))
        yield k, number, node(primitive, (*inputs[:k], number, *inputs[k + 1 :]))


def _secant_limit(function: _InDigits, start: float, width: float) -> Any:
    """Return the number near a start where the secant method for f/f' finds f nearest to 0."""
    for origin in (start, start + width / 32):
        before = function(origin)
        if before is None or not before[1]:
            continue
        # in the number type of the values
        a = 0 * before[0] + origin
        x, low, best = a + width / 7, before[0] / before[1], (a, abs(before[0]))
        for _ in range(MAX_SECANT_STEPS):
            here = function(x)
            if here is None or not abs(x - origin) < 20 * width:
                break
            # at the root f/f' is only rounding
            if abs(here[0]) < best[1]:
                best = x, abs(here[0])
            if here[0] == 0 or not here[1] or here[0] / here[1] == low:
                break
            high = here[0] / here[1]
            a, low, x = x, high, x - high * (x - a) / (high - low)
        return best[0] if abs(best[0]) > 1e-12 * width else 0 * best[0]
    return start


def _kind_of_polynomial(sides: Sequence[Sequence[Fraction]], roots: Sequence[RealRoot]) -> str:
    """Return what a polynomial over others, which is to be 0, is called."""
    degree, *others = (max((k for k, c in enumerate(side) if c), default=0) for side in sides)
    if not degree:
        cleared_away = " once it is multiplied out" if any(others) else ""
        return f"an equation without the unknown{cleared_away}, which does not hold"
    if roots:
        return f"a polynomial of degree {degree}"
    excluded = any(others) and real_roots(sides[0])
    without = " whose real roots make a divisor 0" if excluded else " without a real root"
    return f"a polynomial of degree {degree}{without}"


def _distance_from_zero(sample: Sample) -> float:
    return abs(sample[1])


def _grid(low: float, high: float, steps: int) -> list[float]:
    """Return numbers between two, in equal steps, and in equal quotients on each side of a 0 that
    is near.
    """
    points = {low + (high - low) * k / steps for k in range(steps)} | {low, high}
    for a, b, sign in ((low, high, 1.0), (-high, -low, -1.0)):
        near = max(a, b * 1e-12)
        if near > 0 and b / near > MIN_GEOMETRIC_QUOTIENT:
            ratio = math.log(b / near)
            points |= {sign * near * math.exp(ratio * k / GRID_STEPS) for k in range(1, GRID_STEPS)}
    return sorted(x for x in points if low <= x <= high)


def _opposite(a: Sample, b: Sample) -> bool:
    # the product of small values is 0
    return min(a[1], b[1]) < 0 < max(a[1], b[1])


def _distinct_roots(roots: Iterable[float], smallest: float) -> list[float]:
    """Return roots without those that rounding makes of another one; near 0 they are as
    `smallest`.
    """
    distinct: list[float] = []
    for root in sorted(roots):
        if not distinct or abs(root - distinct[-1]) > SAME_ROOT * (abs(root) + smallest):
            distinct.append(root)
    return distinct
