"""Judge the end point of an optimiser."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ...engine.numbers.running_error import UNIT_ROUNDOFF, Bounded
from ...engine.numerics.linear_algebra import dot, eigh, min_norm_point
from ...engine.numerics.newton import bisect
from ...engine.numerics.optimality import (
    MAX_NAMED,
    Derivatives,
    Single,
    Verdict,
    classify,
    direction_in_words,
)
from ...errors import Diagnosed, Diagnostic, ExpressionError, NotSmooth
from ...questions.figures import unsigned
from ...record import Record
from .descend import DescentStep

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss

OUTSIDE_VALUE = 1e10  # the value outside the domain, in values at the start
MAX_HESSIAN = 200  # variables
MAX_STEPS, FEW_STEPS = 60, 6  # of Newton's
MAX_SMALL_DIMENSION = 20  # variables, beyond which there are few steps
MAX_STEP_RATIO = 0.97  # ratio of steps that converge: 1 - 1/m to a root of multiplicity m
MAX_DIVERGING_STEPS = 4  # steps in a row that do not shrink
MIN_LINE_STEP = 2.0**-58  # step along a line, relative
MAX_LINE_DISTANCE = 1e12  # distance along a line
KINK_OFFSET = 1e-8  # distance of two sides of a kink
KINK_LINES = 16  # lines that are searched along at a kink
MAX_POINT_ERROR = 1e-9  # relative accuracy of a point that is known well enough
STEP_SHARES = (1.0, 0.25, 2.0**-6)  # of a step
DISTANCE_EXPONENTS = range(26, 2, -2)  # distances, as powers of 1/2
SAME_POINT_DISTANCE = 1e-3  # relative distance of points that count as the same
FLAT_SHOWN = 3  # directions

CURVED = {"convex": "minimum", "concave": "maximum", "indefinite": "saddle"}
# The bounds of the variables that move, infinite where there is none.
Limits = Sequence[tuple[float, float]]


_OPPOSITES = {"minimum": "maximum", "falls": "rises", "positive": "negative"}
_OPPOSITES |= {opposite: word for word, opposite in _OPPOSITES.items()}
_OPPOSITES |= {"falling": "rising", "lower": "higher", "upwards": "downwards", "convex": "concave"}
_OPPOSITES |= {"minimize": "maximize"}


class SearchStopped(Exception):
    """The search was interrupted, spent its work, or falls without bound."""


class Several(NamedTuple):
    """How many starts are asked for, and the seed that they are drawn by."""

    searches: int
    seed: int


class Sense(NamedTuple):
    """The sense of a search, minimum or maximum."""

    maximize: bool = False

    def phrase(self, sentence: str, **parts: str) -> str:
        """Return a sentence about a minimum in the words of the sense."""
        if self.maximize:
            sentence = re.sub(r"[a-z]+", lambda word: _OPPOSITES.get(word[0], word[0]), sentence)
        return sentence.format(**parts) if parts else sentence


# The kinds of points, of a search for a minimum.
KINDS = {
    "minimum": "a local minimum: the Hessian there is positive definite",
    "maximum": (
        "not a minimum but a local maximum: the Hessian there is negative definite; start elsewhere"
    ),
    "saddle": (
        "not a minimum but a saddle point: the Hessian there has a negative eigenvalue; start"
        " elsewhere"
    ),
    "not stationary": (
        "not a stationary point: the partial derivatives are not 0 within their rounding errors"
    ),
}


class ConstraintAtPoint(Record):
    """A constraint at the end point of a search."""

    text: str
    slack: float
    multiplier: float
    active: bool


class ConvergenceReport(Record):
    """The end point of a search."""

    row: DescentStep
    kind: str | None
    """`minimum`, `maximum`, `saddle`, `flat`, `kink`, `not stationary`; or None."""
    verdict: str = ""
    reason: str = ""
    message: str = ""
    kinks: tuple[Diagnostic, ...] = ()
    held: tuple[str, ...] = ()
    constraints: tuple[ConstraintAtPoint, ...] | None = None


def projected_slope(row: DescentStep, limits: Limits) -> float:
    """Return the largest partial derivative that pushes against no bound."""
    largest = 0.0
    for x, g, (low, high) in zip(row.free_values, row.partials, limits, strict=True):
        if not ((x <= low and g > 0) or (x >= high and g < 0)):
            largest = max(largest, abs(g))
    return largest


def bounds_at(x: Sequence[float], limits: Limits) -> list[int]:
    """Return each variable's bound: -1 lower, 1 upper, 2 both, 0 none."""
    return [
        2 if low == high else -1 if value <= low else 1 if value >= high else 0
        for value, (low, high) in zip(x, limits, strict=True)
    ]


class SearchProblem(ABC):
    """A function to minimise within bounds, and the verdicts on its points."""

    function: Single | DataLoss
    limits: Limits
    size: Sequence[float]
    """The size of numbers like which the coordinates are rounded."""
    tolerance: float
    path: list[DescentStep]
    """The points on the way."""
    sense = Sense()

    @abstractmethod
    def row(self, x: Sequence[float]) -> DescentStep | None:
        """Return value and gradient at the free variables, None without one."""

    def report(self, row: DescentStep, *, walking: bool) -> ConvergenceReport:
        """Return the report on the end of a search that had steps left, or not."""
        report = self._report(row, walking=walking)
        name = (
            self.jump_beside(report.row)
            if report.reason in ("gradient", "precision", "kink")
            else None
        )
        if name is None:
            return report
        where = f"the value jumps along {name} at this point or close to it"
        doubt = self.sense.phrase("may have no minimum there")
        message = f"not converged: {where}, and {doubt}; start elsewhere"
        if not report.verdict.startswith("not"):
            report = report._replace(kind=None, verdict="")
        return report._replace(reason="jump", message=message)

    def _report(self, row: DescentStep, *, walking: bool) -> ConvergenceReport:
        here, kinks, why = self._look(row)
        if walking:
            return self._describe(row, here, kinks, why)
        stationary = projected_slope(row, self.limits) <= self.tolerance
        trail, last = self.newton(row, here, stationary)
        if (
            last is not None
            and (settled := self._after_newton(trail, last, stationary)) is not None
        ):
            return settled
        if here is not None and self._gains_nothing(row, here):
            report = self._describe(row, here._replace(kind=CURVED[here.curvature]))
            return self._precise(
                report, "a further step would change the value by less than its rounding error"
            )
        held_up = None if stationary or self.function.is_smooth else self.at_kink(row)
        if held_up is None and stationary and not self.is_stationary(row, here):
            return self._falling(row)
        report = held_up or self._describe(row, here, kinks, why)
        return self._precise(report, "") if stationary and not report.reason else report

    def _precise(self, report: ConvergenceReport, why: str) -> ConvergenceReport:
        if projected_slope(report.row, self.limits) > self.tolerance:
            return report._replace(reason="precision", message=f"converged: {why}")
        at_bounds = (
            f"held by the bounds of {', '.join(report.held)}, and no other" if report.held else "no"
        )
        message = f"converged: {at_bounds} partial derivative is larger than {self.tolerance:g}"
        return report._replace(reason="gradient", message=message)

    def is_stationary(self, row: DescentStep, verdict: Verdict | None) -> bool:
        """Return whether the gradient is 0 within rounding errors.

        Without a verdict by the Hessian it may be as small as the tolerance, relative to the
        largest on the way.
        """
        if verdict is not None:
            return verdict.kind != "not stationary"
        here = self.bounded_at(row)
        if here is not None:
            beyond = [g.x if abs(g.x) > g.error else 0.0 for g in here[1]]
            row = row._replace(partials=tuple(beyond))
        return self._change(row) <= self.tolerance * max(
            map(self._change, self.path[:-1]), default=math.inf
        )

    def _change(self, row: DescentStep) -> float:
        # by how much steps as large as the variables change the value, beside bounds
        scaled = tuple(g * size for g, size in zip(row.partials, self.size, strict=True))
        return projected_slope(row._replace(partials=scaled), self.limits)

    def _look(self, row: DescentStep) -> tuple[Verdict | None, tuple[Diagnostic, ...], str]:
        # the verdict by gradient and Hessian; without these kinks, and the reason
        why, kinks = f"there are more than {MAX_HESSIAN} variables", tuple[Diagnostic, ...]()
        try:
            if len(row.free) <= MAX_HESSIAN:
                at = self.function.derivatives(row.point, row.free, self.size)
                verdict = classify(at, bounds_at(row.free_values, self.limits), eigh)
                is_clear = verdict.kind not in CURVED.values()
                direction = None if is_clear else self._unclear_direction(row, at, verdict)
                if direction is not None:
                    verdict = verdict._replace(kind="flat", flat=(direction,), negative=False)
                return verdict, (), ""
        except NotSmooth as refused:
            kinks = (refused.diagnostic._replace(kind="kink"),)
        except Diagnosed as error:
            why = str(error)
        return None, self.function.kinks(row.point, row.free) or kinks, why

    def _unclear_direction(
        self, row: DescentStep, at: Derivatives, verdict: Verdict
    ) -> tuple[float, ...] | None:
        import numpy as np

        rest = [k for k in range(len(row.free)) if k not in verdict.held]
        if not rest:
            return None
        size, square = np.array(self.size)[rest], np.ix_(rest, rest)
        spectrum, vectors = np.linalg.eigh(np.array(at.hessian)[square] * size[:, None] * size)
        k = int(np.argmin(np.abs(spectrum)))
        least, vector = float(spectrum[k]), vectors[:, k]
        off = math.fsum(np.abs(vector) * np.array(at.gradient_error)[rest] * size)
        if off <= MAX_POINT_ERROR * abs(least):
            return None
        direction = np.zeros(len(row.free))
        direction[rest] = vector * size
        for sign in (-1.0, 1.0):
            moved = self._move(row, direction.tolist(), sign * off / abs(least))
            beside = dict(zip(row.free, moved, strict=True))
            with suppress(Diagnosed):
                there = self.function.derivatives({**row.point, **beside}, row.free, self.size)
                scaled = np.array(there.hessian)[square] * size[:, None] * size
                if math.fsum((np.outer(vector, vector) * scaled).flat) * least <= 0:
                    return tuple((direction / max(direction.tolist(), key=abs)).tolist())
        return None

    def bounded_at(
        self, row: DescentStep, x: Sequence[float] | None = None
    ) -> tuple[Bounded, list[Bounded]] | None:
        """Return value and gradient at a row, or at `x`, with rounding errors."""
        point = row.point if x is None else {**row.point, **dict(zip(row.free, x, strict=True))}
        result = None
        with suppress(ExpressionError):
            for sizes in (self.size, [abs(point[name]) for name in row.free]):
                errors = {
                    name: UNIT_ROUNDOFF * size for name, size in zip(row.free, sizes, strict=True)
                }
                inputs = {
                    name: Bounded(value, errors.get(name, 0.0)) for name, value in point.items()
                }
                result = self.function.value_and_gradient_with_errors(inputs, row.free)
                if math.isfinite(sum(g.error for g in result[1])):
                    break
        return result

    def value_error(self, row: DescentStep) -> float:
        """Return the value's rounding error, without that of the point."""
        exact = {name: Bounded(x) for name, x in row.point.items()}
        return self.function.value_and_gradient_with_errors(exact, ())[0].error

    def _move(self, row: DescentStep, step: Sequence[float], times: float) -> list[float]:
        along = zip(row.free_values, step, self.limits, strict=True)
        return [min(max(x + times * s, low), high) for x, s, (low, high) in along]

    def _gains_nothing(self, row: DescentStep, here: Verdict) -> bool:
        """Return whether the value is curved, and a step to its end would change it by less than it
        is rounded.
        """
        curved = here.curvature == "convex" or self._is_near(here.step)
        return curved and here.curvature in CURVED and here.gain <= self.value_error(row)

    def _after_newton(
        self, trail: Sequence[DescentStep], last: Verdict, stationary: bool
    ) -> ConvergenceReport | None:
        """Return what the points of Newton's steps, with the verdict on the last, show of the
        first, if anything.
        """
        row, end, way = trail[0], trail[-1], _divergence(trail, self.size)
        if way < 0 and last.kind != "minimum":
            return self._unattained(row, end)
        end_is_near = self._is_near(
            [b - a for a, b in zip(row.free_values, end.free_values, strict=True)]
        )
        if last.kind != "not stationary" and way <= 0:
            if end.value > row.value + self.value_error(row):
                # a saddle or a maximum above the end of the search
                if not end_is_near:
                    return self._falling(row)
                end = row
            report = self._describe(end, last)
            return self._precise(
                report, "the partial derivatives are 0 within their rounding errors"
            )
        lower = stationary and end.value <= row.value
        if lower and len(trail) > FEW_STEPS and not end_is_near:
            # small derivatives far from where they are 0
            return self._falling(row)
        return None

    def _unattained(self, row: DescentStep, end: DescentStep) -> ConvergenceReport:
        """Return the report on a value that keeps falling on the way to an end."""
        start = row.free_values
        far = max(
            range(len(start)), key=lambda k: abs(end.free_values[k] - start[k]) / self.size[k]
        )
        name, x = row.free[far], end.free_values[far]
        value = row.text("value", unsigned(-end.value if self.sense.maximize else end.value))
        there = f"{value} at {name} = {row.text(name, x)}"
        fall = self.sense.phrase(
            "the value keeps falling ({there}); it seems to have no minimum", there=there
        )
        why = f"as {name} {'grows' if x > start[far] else 'falls'} {fall} that way"
        message = f"not converged: {why}: start elsewhere, or limit it: `--bounds {name}=…`"
        return ConvergenceReport(row, "not stationary", "", "unattained", message)

    def newton(
        self, row: DescentStep, verdict: Verdict | None, stationary: bool
    ) -> tuple[list[DescentStep], Verdict | None]:
        """Return the points of Newton's steps from a row, and the last one's verdict."""
        # even steps lead to a multiple root: their limit is tried first
        trail, before, factor = [row], list[float](), 1.0
        for _ in range(MAX_STEPS if len(row.free) <= MAX_SMALL_DIMENSION else FEW_STEPS):
            if verdict is None or verdict.kind != "not stationary" or not any(verdict.step):
                break
            step = [s / size for s, size in zip(verdict.step, self.size, strict=True)]
            ratio = _ratio(before, step)
            factor = (
                2 * factor if ratio >= MAX_STEP_RATIO else 1 / (1 - ratio) if ratio > 0.3 else 1.0
            )
            here = trail[-1]
            # to a saddle the value may rise, by what the gradient allows for
            slope = dot(verdict.slope, verdict.step)
            room = 2 * abs(slope) if stationary else 0.0
            reached = self._flatter(here, verdict, (factor, *STEP_SHARES), room)
            if reached is None:
                break
            factor, there, verdict = reached
            trail.append(there)
            before = step
        return trail, verdict

    def _flatter(
        self, here: DescentStep, verdict: Verdict, shares: Sequence[float], room: float
    ) -> tuple[float, DescentStep, Verdict] | None:
        """Return the first share of a Newton step that leads to a smaller gradient, and the point
        there, if any.
        """

        def length(verdict: Verdict) -> float:
            return math.hypot(*(g * size for g, size in zip(verdict.slope, self.size, strict=True)))

        most = here.value + self.value_error(here)
        for times in dict.fromkeys(shares):
            there = self.row(self._move(here, verdict.step, times))
            if (
                there is None
                or there.coordinates == here.coordinates
                or there.value > most + times * room
            ):
                continue
            other, _, _ = self._look(there)
            if other is not None and length(other) < length(verdict):
                return times, there, other
        return None

    def _is_near(self, step: Sequence[float]) -> bool:
        return all(
            abs(s) <= SAME_POINT_DISTANCE * size for s, size in zip(step, self.size, strict=True)
        )

    def _falling(self, row: DescentStep) -> ConvergenceReport:
        small = f"no partial derivative is larger than {self.tolerance:g}"
        if projected_slope(row, self.limits) > self.tolerance:
            small = "the search found no lower value"
        hint = "choose a smaller `--gradient-tolerance` or another start"
        message = self.sense.phrase(
            f"not converged: {small}, but the value still falls from here; {hint}"
        )
        return ConvergenceReport(
            row, "not stationary", KINDS["not stationary"], "unattained", message
        )

    def _describe(
        self,
        row: DescentStep,
        verdict: Verdict | None,
        kinks: tuple[Diagnostic, ...] = (),
        why: str = "",
    ) -> ConvergenceReport:
        if verdict is None:
            if kinks:
                return ConvergenceReport(row, "kink", self._beside_kink(row), kinks=kinks)
            return ConvergenceReport(
                row, None, f"the kind of point is not known without the Hessian: {why}"
            )
        held, say = tuple(row.free[i] for i in verdict.held), self.sense.phrase
        few = len(row.free) <= MAX_SMALL_DIMENSION
        if few and not self.function.is_smooth and self._contradicted(row, verdict):
            return ConvergenceReport(row, "kink", self._beside_kink(row), held=held)
        words = (
            self._along_flat(row, verdict) if verdict.kind == "flat" else say(KINDS[verdict.kind])
        )
        if verdict.kind == "minimum" and held:
            bounds = f"the bound{'s' * (len(held) > 1)} of {', '.join(held)}"
            words = say("a local minimum: away from {bounds} the value rises", bounds=bounds)
            if len(held) < len(row.free):
                words += say(", and the Hessian by the other variables is positive definite")
        return ConvergenceReport(row, verdict.kind, words, held=held)

    def _along_flat(self, row: DescentStep, verdict: Verdict) -> str:
        say = self.sense.phrase
        if verdict.negative:
            return say(
                "not a minimum: the Hessian there is singular, and has a negative eigenvalue; start"
                " elsewhere"
            )
        if not verdict.flat:
            return say(
                "first and second derivatives do not show whether this is a minimum within the"
                " bounds"
            )
        shown = verdict.flat[:FLAT_SHOWN]
        names = [direction_in_words(direction, row.free) for direction in shown]
        trends = [self.trends(row, direction) for direction in shown]
        for name, both in zip(names, trends, strict=True):
            if -1 in both:
                way = (
                    "not a minimum: the Hessian there is singular along {name}, and the value falls"
                    " that way"
                )
                return say(way, name=name)
        every = len(shown) == len(verdict.flat)
        listed = " and ".join(names) if every else ", ".join(names) + ", …"
        sentence = (
            "the Hessian there is singular along {listed}, so it does not show whether this is a"
            " minimum; "
        )
        rises = all(1 in both and 0 not in both for both in trends)
        trend = (
            "the value rises that way" if rises and every else "no lower value was found that way"
        )
        steps = ", ".join(f"`{name}`" for name in sorted(self.function.step_functions))
        trend += f"; derivatives do not see the jumps of {steps}: try other starts" if steps else ""
        return say(sentence + trend, listed=listed)

    def _contradicted(self, row: DescentStep, verdict: Verdict) -> bool:
        # beyond a kink within rounding errors the value may do what the Hessian excludes
        import numpy as np

        free = [k for k in range(len(row.free)) if k not in verdict.held]
        units = np.diag(self.size)[free]
        if verdict.kind == "minimum":
            pairs = list(combinations(units[:MAX_NAMED], 2))
            ways = [*units, *(a + b for a, b in pairs), *(a - b for a, b in pairs)]
            return any(-1 in self.trends(row, way.tolist()) for way in ways)
        if verdict.kind == "saddle" and free:
            at = self.function.derivatives(row.point, row.free, self.size)
            vectors = np.linalg.eigh(units @ np.array(at.hessian) @ units.T)[1]
            return self.trends(row, (vectors[:, 0] @ units).tolist()) == [1, 1]
        return False

    def _beside_kink(self, row: DescentStep) -> str:
        say, rises = self.sense.phrase, True
        for k, name in enumerate(row.free):
            trends = self.trends(row, [float(i == k) for i in range(len(row.free))])
            if -1 in trends:
                way = (
                    "not a minimum but a kink, from which the value falls along {name}; start"
                    " elsewhere"
                )
                return say(way, name=name)
            rises = rises and 0 not in trends
        if len(row.free) == 1:
            sides = "the value rises on both sides" if rises else "the value falls on neither side"
            return say(f"a local minimum at a kink, where the derivative is a convention: {sides}")
        return say(
            "at a kink, where the derivative is a convention; the value falls along no single"
            " variable"
        )

    def trends(self, row: DescentStep, direction: Sequence[float]) -> list[int]:
        """Return the signs of the value's first changes, both ways along a direction."""
        here = self.bounded_at(row)
        length = min(size / abs(d) for size, d in zip(self.size, direction, strict=True) if d)
        results = []
        for sign in (1.0, -1.0):
            trend: list[int] = []
            for k in DISTANCE_EXPONENTS:
                point = self._move(row, direction, sign * length * 2.0**-k)
                there = self.bounded_at(row, point)
                if here is None or there is None or point == row.free_values:
                    continue
                change, trend = there[0].x - here[0].x, [0]
                if abs(change) > here[0].error + there[0].error:
                    trend = [1 if change > 0 else -1]
                    break
            results += trend
        return results

    def jump_beside(self, row: DescentStep) -> str | None:
        """Return a variable along which the value jumps at the point or beside it, or None.

        A jump upwards counts only if the value falls as far as there: it may not be attained.
        """
        few = len(row.free) <= MAX_SMALL_DIMENSION
        for k, name in enumerate(row.free if few and not self.function.is_smooth else ()):
            for size in (self.size[k], -self.size[k]):
                if self._jumps_along(row, [size * (i == k) for i in range(len(row.free))]):
                    return name
        return None

    def _jumps_along(self, row: DescentStep, way: Sequence[float]) -> bool:
        def at(distance: float) -> tuple[Bounded, list[Bounded]] | None:
            return self.bounded_at(row, self._move(row, way, distance))

        here, there = at(0.0), at(KINK_OFFSET)
        if here is None or there is None:
            return False
        change = abs(there[0].x - here[0].x)
        steepest = max(abs(dot([g.x for g in slopes], way)) for _, slopes in (here, there))
        rounding = here[0].error + there[0].error
        if change <= 2 * KINK_OFFSET * steepest + rounding:
            return False

        def is_before(distance: float) -> bool:
            beside = at(distance)
            # some functions have half of their jump at its place
            return beside is not None and abs(beside[0].x - here[0].x) <= change / 4

        # a continuous function has all values between, however steep it is
        first, second = map(at, bisect(is_before, 0.0, KINK_OFFSET, width=MIN_LINE_STEP))
        if first is None or second is None:
            return False
        jump = second[0].x - first[0].x
        if abs(jump) <= change / 4 + first[0].error + second[0].error:
            return False
        # a jump upwards does no harm unless the value falls as far as there
        return jump < 0 or dot([g.x for g in first[1]], way) < 0

    def _shortest_mean(self, row: DescentStep, gradients: Sequence[Sequence[float]]) -> list[float]:
        """Return the mean of gradients, in the sizes of the variables, that is nearest to 0 but for
        bounds.
        """
        scaled = [
            [g * s for g, s in zip(gradient, self.size, strict=True)] for gradient in gradients
        ]
        walls = bounds_at(row.free_values, self.limits)
        return [
            0.0 if wall == 2 or g * wall < 0 else g
            for g, wall in zip(min_norm_point(scaled), walls, strict=True)
        ]

    def _at_edge(self, row: DescentStep) -> ConvergenceReport:
        at = [f"{n} = {row.text(n, x)}" for n, x in zip(row.free, row.free_values, strict=True)]
        way_out = self.sense.phrase("the value falls up to a boundary where its derivative ends")
        message = f"not converged: {way_out}, near {', '.join(at[:MAX_NAMED])}"
        return ConvergenceReport(row, "not stationary", "", "edge", message)

    def at_kink(self, row: DescentStep) -> ConvergenceReport | None:
        """Return the kink or edge of the domain at a nonstationary point, or None.

        At a kink that may be a minimum, some mean of the gradients around is 0: Burke, Lewis and
        Overton, SIAM J. Optim. 15 (2005) 751-779.
        """
        gathered, kink = [row.partials], False
        for _ in range(KINK_LINES):
            free = self._shortest_mean(row, gathered)
            if kink and all(
                abs(g) <= self.tolerance * size for g, size in zip(free, self.size, strict=True)
            ):
                return self._on_kink(row, gathered)
            length = math.hypot(*free)
            if not length:
                return None
            way = [-g / length * size for g, size in zip(free, self.size, strict=True)]
            inside, outside, edge = self.bracket(row, way)
            if edge:
                return self._at_edge(inside)
            if outside is None:
                return None
            jumps = self._jumps(inside, outside, way)
            moves = zip(row.free_values, inside.free_values, self.size, strict=True)
            far = math.hypot(*((a - b) / s for a, b, s in moves))
            if not jumps and far <= KINK_OFFSET:
                return None
            if far > KINK_OFFSET:
                gathered = [inside.partials]
            row = inside
            if jumps:
                kink, row = True, min(inside, outside, key=lambda gradient: gradient.value)
                gathered.append(outside.partials)
        if not kink:
            return None
        message = (
            "not converged: the search stopped at a kink, where no derivative shows a way down"
        )
        return ConvergenceReport(row, "kink", "", "held up", message)

    def _on_kink(self, row: DescentStep, gathered: Sequence[Sequence[float]]) -> ConvergenceReport:
        say = self.sense.phrase
        if len(row.free) > 1:
            sides, words = "where the derivatives from its sides cancel", self._beside_kink(row)
            if not words.startswith("not"):
                words = say("a local minimum if the function is convex nearby")
        else:
            rises = all(g[0] != 0 for g in gathered)
            sides = say(
                "on both sides of which the value rises"
                if rises
                else "beyond which the value does not fall"
            )
            words = say("a local minimum, where there is no derivative")
        return ConvergenceReport(row, "kink", words, "kink", f"converged: at a kink, {sides}")

    def bracket(
        self, row: DescentStep, way: Sequence[float]
    ) -> tuple[DescentStep, DescentStep | None, bool]:
        """Return points between which the value stops falling, and if at an edge."""
        points: dict[float, DescentStep | None] = {0.0: row}

        def falls_at(distance: float) -> bool:
            there = points[distance] = self.row(self._move(row, way, distance))
            if there is None:
                return False
            slopes = zip(
                there.partials, way, bounds_at(there.free_values, self.limits), strict=True
            )
            return math.fsum(g * w for g, w, wall in slopes if wall != 2 and w * wall <= 0) < 0

        low, high = 0.0, MIN_LINE_STEP
        while falls_at(high):
            if high > MAX_LINE_DISTANCE:
                return points[high] or row, None, False
            low, high = high, 8 * high
        finest = 2 * MIN_LINE_STEP * max(1.0, low)
        low, high = bisect(falls_at, low, high, width=finest)
        # a kink may be a single point without a derivative
        outside = points[high] or self.row(self._move(row, way, high + finest))
        return points[low] or row, outside, outside is None

    def _jumps(self, inside: DescentStep, outside: DescentStep, way: Sequence[float]) -> bool:
        slopes = []
        # among subnormal numbers, slopes are known a little farther from the kink
        before = self.row(self._move(inside, way, -4 * MIN_LINE_STEP)) or inside
        for rows in ((inside, before), (outside,)):
            for row in rows:
                result = self.bounded_at(row)
                if result is None:
                    return False
                slope = dot([g.x for g in result[1]], way)
                error = dot([g.error for g in result[1]], map(abs, way))
                if error < abs(slope):
                    break
            slopes.append((slope, error))
        (down, first), (up, second) = slopes
        return down < 0 <= up and up - down > 2 * (first + second)


def _ratio(before: Sequence[float], step: Sequence[float]) -> float:
    first, second = math.hypot(*before), math.hypot(*step)
    if not first or not second:
        return 0.0
    cosine = dot(before, step) / first / second
    return second / first if cosine > 0.9 else 0.0


def _divergence(trail: Sequence[DescentStep], size: Sequence[float]) -> int:
    if len(trail) <= MAX_DIVERGING_STEPS:
        return 0
    pairs = list(pairwise(trail[-MAX_DIVERGING_STEPS - 1 :]))
    steps = [[b.point[n] - a.point[n] for n in a.free] for a, b in pairs]
    lengths = [math.hypot(*(x / s for x, s in zip(step, size, strict=True))) for step in steps]
    if not all(after >= MAX_STEP_RATIO * before for before, after in pairwise(lengths)):
        return 0
    both = zip(pairs, steps, strict=True)
    falls = all(b.value <= a.value and dot(a.partials, step) < 0 for (a, b), step in both)
    return -1 if falls else 1
