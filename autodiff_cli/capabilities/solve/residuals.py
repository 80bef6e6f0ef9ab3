"""Residuals of equations, errors of solutions, and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import gt, mul
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.graphs.higher_order import hessian_in
from ...engine.graphs.value import Value
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import Number, NumberType
from ...engine.numbers.budget import ITERATION, Defined, charge
from ...engine.numbers.exact import EXACT
from ...engine.numbers.floats import REAL
from ...engine.numbers.running_error import RUNNING, UNIT_ROUNDOFF, Bounded
from ...engine.numerics.linear_algebra import Matrix, dot, inverse, solve_linear
from ...engine.numerics.newton import System
from ...engine.run.evaluation import Kinks
from ...errors import Diagnostic, plural
from ...questions.arithmetic import Arithmetic
from ...questions.problem import Problem
from .pieces import SolutionInterval

if TYPE_CHECKING:
    from ...questions.rounding import Compute

# Rounding errors up to which a value counts as 0.
ZERO_ROUNDINGS = 64
ROOT_DIGITS = 80
PRECISE = Arithmetic("precision", ROOT_DIGITS)
# The relative error of a solution that needs more digits.
MAX_ROUGHNESS = 1e-12
NEGLIGIBLE_CHANGE = 1e-12
# The relative change of the derivative that needs more digits.
MAX_CHANGE = 1e-9
MAX_UNKNOWNS_IN_DIGITS = 30
MAX_NAMED_JUMPS = 6
# On how many sides of solutions an equation jumps, and how that is said.
ON_JUMPS = (
    (
        2,
        "is an isolated solution on a jump",
        "are isolated solutions on jumps",
        "and jumps away on both sides",
    ),
    (1, "is a solution on a jump", "are solutions on jumps", "and jumps away on one side"),
)
# Digits of the ends of an interval of solutions, as of a solution.
PLATEAU_DIGITS = 10

# The ends of an interval for each unknown.
Ends = dict[str, tuple[float, float]]


class SolvingStopped(Exception):
    """The search was stopped early."""


class Accuracy(NamedTuple):
    """How far a solution may be off, and how much that changes the derivative."""

    errors: list[float]
    change: float

    def lacks_digits(self, x: Sequence[float]) -> bool:
        """Return whether a solution or its derivatives need more digits, and can have them."""
        least = 1e-3 * max(map(abs, x), default=0.0)
        sizes = [MAX_ROUGHNESS * max(abs(a), least) for a in x]
        is_rough = any(map(gt, self.errors, sizes)) or self.change > MAX_CHANGE
        return is_rough and len(x) <= MAX_UNKNOWNS_IN_DIGITS


class Root(NamedTuple):
    """What a search knows of a solution."""

    multiplicity: int | None = None
    errors: Sequence[float] | None = None
    """How far off the unknowns may be, if known without derivatives."""
    equation: Value | None = None
    """A function of which this is a simple zero, if the equation is none."""


class Search:
    """A search for the solutions of equations, in doubles."""

    complete: bool | None = None
    """Whether there are no other solutions, if known."""
    linear = False
    """Whether the equations are linear in the unknowns together."""
    cut_short = ""
    """What to say of a search that its work ended."""
    kind = ""
    """The kind of equations in words, if all solutions are known."""

    def __init__(self, problem: Problem, stop: Callable[[], bool] = lambda: False) -> None:
        self.problem, self.stop = problem, stop
        self.unknowns, self.outputs, self.evaluations = problem.unknowns, problem.program.outputs, 0
        # What the search knows of solutions, unless they are simple.
        self.special_roots: dict[tuple[float, ...], Root] = {}
        # Intervals in which the equation holds.
        self.plateaus: list[SolutionInterval] = []
        # Solutions that others lie beside, and one of these.
        self.beside: dict[tuple[float, ...], list[float]] = {}
        # Whether there may be others.
        self.more_plateaus = False
        # Solutions at which the equation jumps, and on how many sides.
        self.on_jumps: dict[float, int] = {}
        # The range in which not every jump was looked at.
        self.jumps_unseen: tuple[float, float] | None = None
        # Boxes that may or may not hold solutions; None without a proof.
        self.undecided: list[Ends] | None = None
        # Undecided boxes with an unbounded equation, as at a pole.
        self.unbounded: list[Ends] = []

    def warn_of_places(self, solutions: Sequence[Sequence[float]]) -> None:
        """Warn of all intervals on which the equation holds, and of the solutions on jumps."""
        for count, one, several, how in ON_JUMPS:
            there = [x for x, *_ in solutions if self.on_jumps.get(x) == count]
            name, more = self.unknowns[0], len(there) - MAX_NAMED_JUMPS
            named = [f"{name} = {self.problem.text(name, x)}" for x in there[:MAX_NAMED_JUMPS]]
            where = ", ".join(named) + (f" and {more} more" if more > 0 else "")
            if there:
                message = (
                    f"{where} {one if len(there) == 1 else several}: the equation holds there,"
                    f" {how}"
                )
                self.problem.warnings.append(
                    Diagnostic("jump", message, None, "a number nearby is no solution")
                )
        if self.jumps_unseen is not None:
            self._warn_of_unseen_jumps(*self.jumps_unseen)
        for interval in self.plateaus:
            self._warn_of_plateau(interval)
        if self.more_plateaus:
            message = "there may be more intervals of solutions"
            self.problem.warnings.append(
                Diagnostic("flat", message, None, "search between narrower bounds")
            )

    def _warn_of_unseen_jumps(self, low: float, high: float) -> None:
        name = self.unknowns[0]
        below, above = (self.problem.text(name, x, PLATEAU_DIGITS) for x in (low, high))
        message = (
            f"there may be more solutions on jumps for {below} < {name} < {above}: not every jump"
            " was looked at"
        )
        self.problem.warnings.append(
            Diagnostic("jump", message, None, "search between narrower bounds")
        )

    def _warn_of_plateau(self, interval: SolutionInterval) -> None:
        name, (low, high, proven) = self.unknowns[0], interval
        below, above = (self.problem.text(name, end.x, PLATEAU_DIGITS) for end in (low, high))
        where = (
            f" for {below} {'≤' if low.included else '<'} {name} {'≤' if high.included else '<'}"
            f" {above}"
        )
        if math.isinf(low.x) and math.isinf(high.x):
            where = ""
        elif math.isinf(low.x):
            where = f" for {name} {'≤' if high.included else '<'} {above}"
        elif math.isinf(high.x):
            where = f" for {name} {'≥' if low.included else '>'} {below}"
        message = f"the equation holds at all numbers{'' if proven else ' that were tried'}{where}"
        self.problem.warnings.append(
            Diagnostic("flat", message, None, "one place of these is shown")
        )

    def listed(self, count: int) -> str:
        """Return how many solutions, and intervals of them, were found."""
        intervals = f"{plural(len(self.plateaus), 'interval')} of solutions"
        single = count - len(self.plateaus)
        if not self.plateaus:
            return plural(count, "solution")
        return f"{intervals} and {plural(single, 'solution')}" if single > 0 else intervals

    def on_a_plateau(self, x: float) -> bool:
        """Return whether a number is in an interval of solutions."""
        return any(interval.contains(x) for interval in self.plateaus)

    def count_evaluation(self) -> None:
        """Count and charge an evaluation. Raises `SolvingStopped`."""
        if self.stop():
            raise SolvingStopped
        charge(ITERATION * len(self.unknowns))
        self.evaluations += 1

    def parameters(self, m: Any) -> dict[str, Any]:
        """Return the values of the known variables in a number type."""
        names = [name for name in self.problem.program.variables if name not in self.unknowns]
        return {name: PRECISE._value(m, name, self.problem.point[name]) for name in names}

    def in_digits(self, digits: int) -> tuple[Any, dict[str, Any]]:
        """Return a number type of so many digits, and the known variables."""
        from ...engine.numbers.multiprecision import Multiprecision

        m = Multiprecision(digits, decimals=True)
        return m, self.parameters(m)

    def holds_exactly(self, at: Sequence[float]) -> bool:
        """Return whether the equations hold at a point in exact fractions."""
        with Defined(ArithmeticError, ValueError):
            values = self.parameters(EXACT)
            values |= zip(self.unknowns, map(EXACT.number, at), strict=True)
            return not any(evaluate_in(EXACT, self.outputs, values, ()).values)
        return False

    def system(
        self,
        m: NumberType,
        values: Mapping[str, Number],
        multiplicity: int = 1,
        outputs: Sequence[Value] | None = None,
    ) -> System:
        """Return the equations for Newton's method, times the root's multiplicity."""

        def values_and_rows(point: list[Any]) -> tuple[list[Any], Matrix]:
            here = {**values, **dict(zip(self.unknowns, point, strict=True))}
            swept = evaluate_in(m, outputs or self.outputs, here, self.unknowns)
            return [multiplicity * x for x in swept.values], swept.jacobian()[0]

        return values_and_rows

    def values_at(self, x: Sequence[float]) -> dict[str, float]:
        """Return the values of all variables at a point."""
        return {**self.problem.values, **dict(zip(self.unknowns, x, strict=True))}

    def rounding_errors(self, x: Sequence[float], *, own: bool = True) -> list[float]:
        """Return bounds on rounding errors, with those of the unknowns if `own`."""
        values = {
            name: Bounded(a, UNIT_ROUNDOFF * abs(a) if own and name in self.unknowns else 0.0)
            for name, a in self.values_at(x).items()
        }
        errors = []
        for output in self.outputs:
            error = math.inf
            with Defined(ArithmeticError):
                error = RUNNING.number(evaluate_in(RUNNING, [output], values, ()).values[0]).error
            errors.append(error if math.isfinite(error) else 0.0)
        return errors

    def rounds_to_zero(self, x: Sequence[float], values: Sequence[float]) -> bool:
        """Return whether the outputs at a point may be 0 but for rounding errors."""
        errors = self.rounding_errors(x)
        return all(
            abs(a) <= ZERO_ROUNDINGS * error for a, error in zip(values, errors, strict=True)
        )

    def residuals(self, x: Sequence[float]) -> tuple[list[float], list[list[float]] | None]:
        """Return the outputs, and their derivatives by the unknowns or None."""
        swept = evaluate_in(REAL, self.outputs, self.values_at(x), self.unknowns)
        left = [float(a) + 0.0 for a in swept.values]
        with Defined():
            return left, [[float(a) for a in row] for row in swept.jacobian()[0]]
        return left, None

    def accuracy(self, x: Sequence[float]) -> Accuracy | None:
        """Return |F_u⁻¹| times the residuals; None where F_u may be singular."""
        left, rows = self.residuals(x)
        inverted = None if rows is None else inverse(rows)
        if inverted is None or rows is None:
            return None
        off = [abs(r) + error for r, error in zip(left, self.rounding_errors(x), strict=True)]
        errors = [dot(map(abs, line), off) for line in inverted]
        worst = max(range(len(off)), key=lambda k: off[k] * max(abs(line[k]) for line in inverted))
        step = list(map(math.copysign, errors, [line[worst] for line in inverted]))
        change = self._change_of_slopes(x, step, rows, inverted)
        size = max(map(abs, x), default=0.0) or 1.0
        # at a multiple root this changes all of the derivative
        is_near = all(
            error <= 1e-3 * max(abs(a), 1e-6 * size) for a, error in zip(x, errors, strict=True)
        )
        return Accuracy(errors, change) if is_near and change < 1 else None

    def _change_of_slopes(
        self,
        x: Sequence[float],
        step: Sequence[float],
        rows: Sequence[Sequence[float]],
        inverted: Any,
    ) -> float:
        """Return by which share the derivatives change two steps away, on either side."""
        change = 0.0
        for side in (2.0, -2.0):
            moved = None
            with Defined():
                moved = self.residuals([a + side * b for a, b in zip(x, step, strict=True)])[1]
            pairs = zip(moved or rows, rows, strict=True)
            changes = [math.fsum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs]
            change = max(change, *(dot(map(abs, line), changes) for line in inverted))
            if change < NEGLIGIBLE_CHANGE:
                break
        return change


def half_ulp(x: float) -> float:
    """Return a bound on the error of the double nearest to a number."""
    return math.ulp(x) / 2 or math.ulp(x)


def derivatives(
    m: NumberType,
    outputs: Sequence[Value],
    values: Mapping[str, Number],
    unknowns: Sequence[str],
    by: Sequence[str],
) -> tuple[Matrix, Kinks]:
    """Return the derivatives of the unknowns, −F_u⁻¹·F_p, and the kinks. Raises `Singular`."""
    rows, kinks = evaluate_in(m, outputs, values, [*unknowns, *by]).jacobian()
    n = len(unknowns)
    if not by:
        return [[] for _ in unknowns], kinks
    return (
        solve_linear(m, [row[:n] for row in rows], [[-x for x in row[n:]] for row in rows]),
        kinks,
    )


def numbers_at_solution(
    outputs: Sequence[Value], unknowns: Sequence[str], by: Sequence[str]
) -> Compute:
    """Return what computes the unknowns at a solution, by a step of Newton's method, and their
    derivatives.

    In more digits that is the solution near doubles which solve the equations, and shows how many
    of theirs are right.
    """

    def compute(m: NumberType, values: Mapping[str, Number]) -> Mapping[str, Number]:
        at = evaluate_in(m, outputs, values, [*unknowns, *by])
        rows, n = at.jacobian()[0], len(unknowns)
        right = [[-left, *[-x for x in row[n:]]] for left, row in zip(at.values, rows, strict=True)]
        solved = solve_linear(m, [row[:n] for row in rows], right)
        numbers: dict[str, Number] = {}
        for unknown, (step, *slopes) in zip(unknowns, solved, strict=True):
            numbers[f"`{unknown}`"] = values[unknown] + step
            numbers |= {
                derivative_phrase(unknown, name): x for name, x in zip(by, slopes, strict=True)
            }
        return numbers

    return compute


def derivative_phrase(unknown: str, name: str) -> str:
    """Return what messages call the derivative of an unknown."""
    return f"the derivative of `{unknown}` by `{name}`"


def second_derivatives(
    m: NumberType,
    outputs: Sequence[Value],
    values: Mapping[str, Number],
    unknowns: Sequence[str],
    by: Sequence[str],
    first: Matrix,
) -> list[Matrix]:
    """Return the matrix of second derivatives of each unknown.

    F_u·u_pq = −(the second derivative of F along (u_p, 1) and (u_q, 1)).
    """
    n, count = len(unknowns), len(by)
    if not count:
        return [[] for _ in unknowns]
    slopes, right = [], []
    zero, one = m.number(0), m.number(1)
    along = [
        [*(row[p] for row in first), *(one if q == p else zero for q in range(count))]
        for p in range(count)
    ]
    for output in outputs:
        hessian = hessian_in(m, output, values, [*unknowns, *by])
        slopes.append(hessian.gradient[:n])
        bent = [[sum(map(mul, row, v), zero) for row in hessian.hessian] for v in along]
        right.append([-sum(map(mul, v, turned), zero) for v in along for turned in bent])
    solved = solve_linear(m, slopes, right)
    return [[row[p * count : (p + 1) * count] for p in range(count)] for row in solved]
