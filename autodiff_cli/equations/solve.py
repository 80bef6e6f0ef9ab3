"""The solutions of equations, how well they are solved, and how they follow the other variables."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..batched.evaluator import Evaluator
from ..errors import Diagnostic, ExpressionError, needed, quoted
from ..graphs import jvp_vjp as sweeps
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown, Values, kink_warnings
from ..inputs.bounds import Range
from ..inputs.problem import Point, as_number, place, wanted_variables
from ..language.builder import Program
from ..numbers.base import Number, NumberType
from ..numbers.budget import Defined, charge
from ..numbers.floats import REAL
from ..numbers.running_error import RUNNING, UNIT, Bounded
from ..record import Record
from .equations import Equations, read_equations
from .implicit import Singular, derivatives, second_derivatives
from .roots import DIGITS, Root, Sample, all_roots, bracketed, nearest_to_zero, outwards, refined

SYSTEM_STEPS = 100
STARTS = 200
"""From how many points all solutions of several equations are looked for."""

STEPS_AN_EVALUATION = 20

MOST_UNKNOWNS = 200
MOST_SECOND = 30
NEWTON_STEPS = 60
"""The most steps in many digits: each doubles them."""

NAMED = 4
"""How many places without a bound are named."""

MANY_DIGITS = 800
"""With so many digits it is looked whether a value that rounds to 0 in doubles is 0."""

SHRINKING_STEPS = 12
"""Towards a root of multiplicity 17 so many of Newton's steps shrink to half."""

BESIDE = 1e-6
"""How far from a singular solution, in terms of its size, Newton's method is tried."""

TOUCHED = 64
"""How many times its rounding error the value at a place may be that counts as one where 0 is touched."""


class Solution(Record):
    """One solution of the equations."""

    values: dict[str, Shown]
    """Of each unknown."""
    errors: dict[str, float | None]
    """How far rounding may have put each off, to first order; None where that is not known, or all digits are right."""
    residuals: list[float]
    """Left side less right side of each equation there, in doubles."""
    simple: bool
    """Whether the derivative by the unknowns can be inverted there; at a multiple root it cannot."""
    multiplicity: int | None
    """Of one unknown: how many derivatives, from order 0, vanish; None where that is unknown or no whole number."""
    proven: bool
    """Whether it is proven that there is exactly one solution there."""
    derivatives: dict[str, dict[str, Shown]] | None
    """By each unknown, and each other variable; None where there are none."""
    second: dict[str, dict[str, dict[str, Shown]]] | None
    """The second derivatives, where they were asked for."""


class Solved(Record):
    """What was found of the solutions of equations."""

    text: str
    arithmetic: Arithmetic
    equations: list[str]
    unknowns: list[str]
    solutions: list[Solution]
    converged: bool
    reason: str
    """`solved`; `none` where there is no solution, `not found`, `undecided`; `interrupted`."""
    message: str
    """The same in words."""
    between: dict[str, tuple[float, float]]
    others: list[float]
    """Of one unknown: where other solutions between the bounds seem to be."""
    undecided: list[dict[str, tuple[float, float]]]
    """Boxes of which it could not be proven whether they hold solutions."""
    complete: bool | None
    """Whether it is proven that there are no other solutions between the bounds; None where that was not asked for."""
    evaluations: int
    point: dict[str, Shown]
    """The values of the other variables."""
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]


class _Stopped(Exception):
    """The work was to end early."""


class EquationProblem(NamedTuple):
    """Equations with the values of their other variables."""

    equations: Equations
    unknowns: list[str]
    wanted: list[str]
    """The variables by which the solutions are differentiated."""
    values: dict[str, float]
    """Of all variables; of an unknown its start."""
    given: dict[str, float | str]
    between: dict[str, tuple[float, float]]
    started: frozenset[str]
    """The unknowns that were given a start."""
    warnings: list[Diagnostic]

    @property
    def program(self) -> Program:
        """The program of the equations."""
        return self.equations.program


def solve(
    text: str,
    point: Point | None = None,
    *,
    unknowns: Sequence[str] | None = None,
    between: Mapping[str, Range] | Range | None = None,
    wrt: Sequence[str] | None = None,
    every: bool = False,
    order: int = 1,
    arithmetic: Arithmetic = DOUBLE,
    stop: Callable[[], bool] = lambda: False,
) -> Solved:
    """Where the equations of `text` hold, or an expression in it is 0, and the derivatives of that by `wrt`.

    `point` has the values of the other variables, and starts of the `unknowns`: by default the variables without a
    value. `between` bounds them. With `every` all solutions between the bounds are looked for; certified, they are
    proven, and proven to be all. `order` 2 asks for second derivatives too. Raises `ExpressionError`: `point` where the
    sign does not change between the bounds; what `jacobian` raises about the text and the point.

    >>> found = solve("x**2 = a", {"a": 2}, unknowns=["x"], between=Range(0, 2))
    >>> round(found.solutions[0].values["x"], 12), round(found.solutions[0].derivatives["x"]["a"], 12)
    (1.414213562373, 0.353553390593)
    """
    posed = posed_equations(text, point, unknowns, between, wrt)
    if arithmetic.name == "exact":
        raise ExpressionError(
            "usage", "roots are not fractions: `solve` has no `--exact`", hint="use `--precision 50` or `--certified`"
        )
    if every and set(posed.between) != set(posed.unknowns):
        missing = next(name for name in posed.unknowns if name not in posed.between)
        raise ExpressionError(
            "usage", f"`--all` looks between bounds, and `{missing}` has none", hint=f"`--between {missing}=0:1`"
        )
    finder = _finder(posed, stop)
    undecided: list[dict[str, tuple[float, float]]] = []
    unbounded: list[dict[str, tuple[float, float]]] = []
    complete: bool | None = None
    interrupted = False
    found: list[list[float]] = []
    try:
        if every and arithmetic.name == "certified":
            found, undecided, unbounded, complete = _proven_starts(posed, stop)
        else:
            found = finder.every() if every else finder.one()
    except _Stopped:
        interrupted = True
    solutions = [_solution(posed, start, order, arithmetic, finder.multiplicities.get(start[0])) for start in found]
    others = [] if every or interrupted else finder.others(found)
    reason, message = _told(posed, finder, solutions, every, undecided, unbounded, complete, interrupted)
    others_known = {name: posed.given[name] for name in posed.program.variables if name not in posed.unknowns}
    return Solved(
        text, arithmetic, posed.equations.texts, posed.unknowns, solutions, reason == "solved", reason, message,
        posed.between, others, undecided, complete, finder.evaluations, _as_shown(others_known, arithmetic),
        posed.program.constants, tuple(posed.warnings),
    )  # fmt: skip


def located(posed: EquationProblem) -> dict[str, float]:
    """The solution that is asked for, in doubles. Raises `ExpressionError` where there is none (`domain`)."""
    finder = _finder(posed, lambda: False)
    for root in finder.one():
        return dict(zip(posed.unknowns, root, strict=True))
    first = posed.unknowns[0]
    raise ExpressionError(
        "domain", f"no solution of the equations was found{finder.nearest()}",
        hint=f"say where it is: a start, `--at {first}=…`, or bounds, `--between {first}=0:1`",
    )  # fmt: skip


def _finder(posed: EquationProblem, stop: Callable[[], bool]) -> _One | _Several:
    return _One(posed, stop) if len(posed.unknowns) == 1 else _Several(posed, stop)


def _as_shown(given: Mapping[str, float | str], arithmetic: Arithmetic) -> dict[str, Shown]:
    found: dict[str, Shown] = arithmetic.run(given, lambda m, values: {"point": values})["point"] if given else {}
    return found


def posed_equations(
    text: str, point: Point | None, unknowns: Sequence[str] | None, between: Mapping[str, Range] | Range | None,
    wrt: Sequence[str] | None,
) -> EquationProblem:  # fmt: skip
    """The equations with all values, checked against each other. Raises `ExpressionError`."""
    given: dict[str, float | str] = dict(point or {})
    ranged = dict(between) if isinstance(between, Mapping) else {}
    equations = read_equations(text, [*given, *(unknowns or ()), *ranged])
    program = equations.program
    count = len(program.roots)
    names = list(program.variables)
    if unknowns is None:
        unknowns = [name for name in names if name in ranged] or [name for name in names if name not in given]
        if not unknowns and len(names) == count:
            unknowns = names
    for name in [*unknowns, *ranged]:
        if name not in names:
            raise ExpressionError(
                "usage", f"`{name}` is not a variable of these equations", hint=f"their variables: {quoted(names)}"
            )
    for name in ranged:
        if name not in unknowns:
            raise ExpressionError(
                "usage", f"`{name}` has bounds and is not looked for", hint=f"look for it: `--for {name}`"
            )
    if len(unknowns) != count:
        told = f"{count} equation{'' if count == 1 else 's'}"
        listed = quoted(unknowns, "nothing")
        many = f"{len(unknowns)} unknowns, {listed}" if len(unknowns) > 1 else f"the unknown is {listed}"
        if not unknowns:
            many = "every variable has a value"
        raise ExpressionError(
            "usage", f"there {'is' if count == 1 else 'are'} {told}, and {many}",
            hint="say which variables are looked for, `--for x,y`, and give the others values: `--at …`",
        )  # fmt: skip
    if count > MOST_UNKNOWNS:
        raise ExpressionError(
            "limit", f"{count} equations are too many; {MOST_UNKNOWNS} is the most", hint="solve fewer"
        )
    if isinstance(between, Range):
        if count > 1:
            raise ExpressionError(
                "usage", "bounds of several unknowns need their names", hint="write `--between x=0:1,y=0:2`"
            )
        ranged = {unknowns[0]: between}
    bounds: dict[str, tuple[float, float]] = {}
    for name, (low, high) in ranged.items():
        if low is None or high is None:
            raise ExpressionError(
                "usage", f"the bounds of `{name}` need two ends", hint=f"write `--between {name}=0:1`"
            )
        if not low < high:
            raise ExpressionError(
                "usage", f"the bounds of `{name}` are one number", hint=f"write `--between {name}=0:1`"
            )
        bounds[name] = (low, high)
    values = {name: as_number(value, name) for name, value in given.items()}
    started = frozenset(name for name in unknowns if name in values)
    for name in unknowns:
        low, high = bounds.get(name, (-math.inf, math.inf))
        if name not in values:
            values[name] = (low + high) / 2 if name in bounds else 1.0
        else:
            Range(low, high).check_start(name, values[name])
    warnings = place(program, values)
    wanted = [name for name in (names if wrt is None else wanted_variables(program, values, wrt)) if name in names]
    return EquationProblem(
        equations, list(unknowns), [name for name in wanted if name not in unknowns], values, given, bounds, started,
        warnings,
    )  # fmt: skip


# ---- one unknown --------------------------------------------------------------------------------------------------
class _One:
    """One equation, in doubles."""

    def __init__(self, posed: EquationProblem, stop: Callable[[], bool]) -> None:
        self.posed, self.stop = posed, stop
        (self.name,) = posed.unknowns
        self.evaluations = 0
        self.least: Sample | None = None
        self._evaluator = Evaluator(posed.program, [self.name])
        self._point = [posed.values[name] for name in self._evaluator.variables]
        self._place = self._evaluator.variables.index(self.name)
        self._small = math.nan, 0.0
        """The number about which `small` was asked last, and its answer."""
        self.known: list[float] = []
        self.multiplicities: dict[float, int | None] = {}
        """Of the roots at which the sign does not change plainly."""
        self.rejected: dict[float, Any] = {}
        """Where the value rounds to 0 and there is no root, and the value in more digits."""

    def __call__(self, x: float) -> Sample | None:
        """Value and derivative at a number, None where there is none."""
        if self.stop():
            raise _Stopped
        charge(STEPS_AN_EVALUATION)
        self.evaluations += 1
        self._point[self._place] = x
        try:
            value, slopes = self._evaluator(self._point)
        except ExpressionError:
            try:
                # at a root that is multiple, or on an edge, there may be a value and no derivative
                value, slopes = self._evaluator.value(self._point), [0.0]
            except ExpressionError:
                return None
        found = x, value, slopes[0]
        if self.least is None or abs(value) < abs(self.least[1]):
            self.least = found
        return found

    def small(self, x: float) -> float:
        """How large rounding may make the value at a root."""
        if self._small[0] != x:
            self._small = x, TOUCHED * _rounding(self.posed, {self.name: x})[0]
        return self._small[1]

    def one(self) -> list[list[float]]:
        """The solution that is asked for, if there is one."""
        if self.name in self.posed.between:
            return self._between(*self.posed.between[self.name])
        if self(self.posed.values[self.name]) is None:
            self._evaluator(self._point_at(self.posed.values[self.name]))  # raises what is wrong with the start
        for root in self._candidates(self.posed.values[self.name]):
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
            if plain:
                result.append(root.x)
            else:
                flat.append(root.x)
        return sorted({*result, *self._true_roots(flat)})

    def _is_flat(self, x: float) -> bool:
        here = self(x)
        return here is not None and abs(here[1]) <= self.small(x)

    def _changes_sign(self, x: float, step: float = 0.0) -> bool:
        """Whether the sign changes beside a number by more than rounding errors, and the slope does not."""
        here = self(x)
        if here is None or not (here[2] or step):
            return False
        error = self.small(x) / TOUCHED
        reach = step or 2 * (abs(here[1]) + error) / abs(here[2]) + 2 * UNIT * abs(x)
        low, high = self(x - reach), self(x + reach)
        if low is None or high is None or low[1] * high[1] >= 0 or min(abs(low[1]), abs(high[1])) <= error:
            return False
        # at a simple root the slope is nearly the same all around
        return bool(step) or (reach <= 1e-3 * abs(x) and all(0.5 < end[2] / here[2] < 2 for end in (low, high)))

    def _true_roots(self, flat: Sequence[float]) -> list[float]:
        """The roots between numbers at which the value is 0 within rounding errors, by a computation in more digits."""
        if not flat:
            return []
        if any(self._is_flat((flat[0] + x) / 2) for x in self.rejected):
            return []
        low, high = self.posed.between.get(self.name, (-math.inf, math.inf))
        size = max(abs(flat[0]), abs(flat[-1]), high - low if high - low < math.inf else 1.0)
        width = max(flat[-1] - flat[0], 1e-12 * size)
        while width < size and (self._is_flat(flat[0] - width) or self._is_flat(flat[-1] + width)):
            width *= 4
        middle = flat[len(flat) // 2]
        result = []
        for start in dict.fromkeys((middle, *flat[:: max(1, len(flat) - 1)])):
            error = max(_rounding(self.posed, {self.name: x})[0] for x in (start, start + width))
            root = refined(self._in_digits, start, width, error)
            if root is not None and flat[0] - 2 * width <= root[0] <= flat[-1] + 2 * width:
                x = min(max(root[0], low), high)
                if abs(x - root[0]) <= 4 * UNIT * abs(x) + 1e-12 * width:
                    self.multiplicities[x] = root[1]
                    result.append(x)
        if result:
            return result
        at = min(flat, key=lambda x: abs(self._evaluator.value(self._point_at(x))))
        value = self._value_in_digits(at)
        exact = value == 0 and _rounding(self.posed, {self.name: at}, own=False) == [0.0]
        if exact or self._changes_sign(at, width):
            if exact and len(flat) > 1:
                message = f"the equation holds everywhere from {self.name} = {flat[0]:.6g} to {flat[-1]:.6g}"
                self.posed.warnings.append(Diagnostic("flat", message, None, "one place of these is shown"))
            self.multiplicities[at] = None
            return [at]
        self.rejected[at] = value
        return []

    def _in_digits(self, digits: int) -> Callable[[Any], tuple[Any, Any] | None]:
        """Value and derivative in so many digits, None where there is none; the derivative is None where it is not."""
        from ..numbers.multiprecision import Multiprecision

        m = Multiprecision(digits, decimals=True)
        many = Arithmetic("precision", digits)
        given = {name: x for name, x in self.posed.given.items() if name in self._evaluator.variables}
        values = {name: many._value(m, name, x) for name, x in given.items()}

        def function(x: Any) -> tuple[Any, Any] | None:
            result = None
            with Defined(ArithmeticError):
                here = {**values, self.name: m.number(x)}
                swept = sweeps.evaluate_in(m, self.posed.program.outputs, here, [self.name])
                result = m.number(swept.values[0]), None
                result = result[0], m.number(sweeps.jacobian(swept, [self.name])[0][0][0])
            return None if m.underflowed else result

        return function

    def _value_in_digits(self, x: float) -> Any:
        """The value in many digits; None where there is none, or it is too small for these too."""
        here = self._in_digits(MANY_DIGITS)(x)
        return here and here[0]

    def _point_at(self, x: float) -> list[float]:
        self._point[self._place] = x
        return self._point

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

    def _between(self, low: float, high: float) -> list[list[float]]:
        a, b = self(low), self(high)
        self.known = []
        start = self.posed.values[self.name] if self.name in self.posed.started else None
        if a is not None and b is not None and a[1] * b[1] <= 0:
            root = bracketed(self, a, b, self.small, start)
            for x in self.confirmed([root]) if root is not None else ():
                return [[x]]
        self.every()
        if not self.known:
            raise self._no_change(low, high, a, b)
        if start is not None:
            return [[min(self.known, key=lambda x: abs(x - start))]]
        return [[self.known[0]]]

    def _no_change(self, low: float, high: float, a: Sample | None, b: Sample | None) -> ExpressionError:
        ends = [f"{'no value' if s is None else f'{s[1]:.6g}'} at {end:g}" for end, s in ((low, a), (high, b))]
        near = "" if self.least is None else f"; {self.least[1]:.3g} is nearest to 0, at {self.least[0]:.6g}"
        near = self._only_rounded() or near
        return ExpressionError(
            "point", f"left side less right side does not change its sign between {low:g} and {high:g}, and no root "
            f"was found there: it is {ends[0]} and {ends[1]}{near}",
            hint="give other bounds; `--all --certified` proves that there is no root",
        )  # fmt: skip

    def every(self) -> list[list[float]]:
        """All solutions that a grid shows between the bounds."""
        low, high = self.posed.between[self.name]
        self.known = self.confirmed(all_roots(self, low, high, self.small))
        return [[x] for x in self.known]

    def others(self, found: Sequence[Sequence[float]]) -> list[float]:
        """Where other solutions between the bounds seem to be."""
        if self.name not in self.posed.between or not found:
            return []
        try:
            self.known or self.every()
        except _Stopped:
            return []
        (x,) = found[0]
        return [other for other in self.known if abs(other - x) > 1e-7 * max(abs(x), abs(other))]

    def _only_rounded(self) -> str:
        """Where the value rounds to 0 without being 0, in words."""
        for x, value in self.rejected.items():
            exact = "" if value is None or value == 0 else f": in more digits it is {value.context.nstr(value, 3)}"
            return f"; it is 0 within rounding errors at {self.name} = {x:.6g}, where there is no root{exact}"
        return ""

    def nearest(self) -> str:
        """Where the equation is nearest to holding, in words."""
        if self.least is None:
            return ""
        if self.rejected:
            return self._only_rounded().replace("it", "left side less right side", 1)
        at = f"{self.name} = {self.least[0]:.6g}"
        return f"; left side less right side is nearest to 0 at {at}, where it is {self.least[1]:.3g}"


# ---- several unknowns ---------------------------------------------------------------------------------------------
class _Several:
    """Several equations, in doubles, by SciPy with the exact Jacobian."""

    def __init__(self, posed: EquationProblem, stop: Callable[[], bool]) -> None:
        message = "several equations need SciPy, the extra `optimize`"
        needed("scipy.optimize", "optimize", message, "; one equation needs nothing")
        import numpy

        self.np = numpy
        self.posed, self.stop = posed, stop
        self.evaluations = 0
        self.least: tuple[float, list[float]] | None = None
        self.multiplicities: dict[float, int | None] = {}
        variables = list(posed.program.variables)
        self._point = [posed.values[name] for name in variables]
        self._places = [variables.index(name) for name in posed.unknowns]
        self._evaluators = [Evaluator(_single(posed.program, root), posed.unknowns) for root in posed.program.roots]

    def __call__(self, x: Sequence[float]) -> tuple[Any, Any]:
        """Values and Jacobian at a point. Raises `ExpressionError` where there are none."""
        if self.stop():
            raise _Stopped
        charge(STEPS_AN_EVALUATION * len(self._evaluators))
        self.evaluations += 1
        for k, each in zip(self._places, x, strict=True):
            if not math.isfinite(each):
                raise ExpressionError("overflow", "the point is too large")
            self._point[k] = float(each)
        found = [evaluator(self._point) for evaluator in self._evaluators]
        values = self.np.array([value for value, _ in found])
        size = math.hypot(*values)
        if self.least is None or size < self.least[0]:
            self.least = size, [float(each) for each in x]
        return values, self.np.array([row for _, row in found])

    def one(self) -> list[list[float]]:
        """The solution that is found from the start, if there is one."""
        start = [self.posed.values[name] for name in self.posed.unknowns]
        self(start)  # raises what is wrong with the start
        found = self._from(start) or self._from(self._wandered(start))
        return [found] if found is not None else []

    def _from(self, start: Sequence[float]) -> list[float] | None:
        """SciPy's hybrid method, else Newton's with shortened steps; then Newton's to the last digit."""
        import warnings

        from scipy.optimize import root

        ended = list(start)
        # outside the domain it has nothing to go on with
        outside = Defined(ValueError, self.np.linalg.LinAlgError)
        with outside, warnings.catch_warnings(), self.np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            ended = root(self, self.np.array(start, dtype=float), jac=True, method="hybr", options={"xtol": 1e-13}).x
        for first in (ended, start):
            found = self._newton([float(x) for x in first])
            inside = None if found is None else self._within(found)
            if inside is not None:
                return inside
        return None

    def _newton(self, x: list[float]) -> list[float] | None:
        """Newton's method, its steps shortened until they help; None where it does not come to a solution."""
        np = self.np
        found = None
        with Defined():
            found = self(x)
        if found is None:
            return None
        values, rows = found
        for _ in range(SYSTEM_STEPS):
            size = math.hypot(*values)
            if size == 0:
                break
            step = np.linalg.lstsq(rows, -values, rcond=None)[0]
            share = 1.0
            while share > 1e-6:
                with Defined():
                    there = self([a + share * float(b) for a, b in zip(x, step, strict=True)])
                    if math.hypot(*there[0]) < size:
                        break
                share /= 2
            else:
                break
            x = [a + share * float(b) for a, b in zip(x, step, strict=True)]
            values, rows = there
        near = _rounding(self.posed, dict(zip(self.posed.unknowns, x, strict=True)))
        good = all(abs(value) <= TOUCHED * error for value, error in zip(values, near, strict=True))
        return x if good and self._converges(x) else None

    def _converges(self, x: list[float]) -> bool:
        """Whether Newton's steps shrink in more digits; where the sides only tend to each other they do not.

        That is asked only where doubles cannot tell the derivative from a singular one, as at a multiple root.
        """
        from ..numbers.multiprecision import Multiprecision
        from .implicit import solve_linear

        posed, names = self.posed, self.posed.unknowns
        at = dict(zip(names, x, strict=True))
        if _errors(posed, at, *_residuals(posed, at)) is not None:
            return True
        m = Multiprecision(DIGITS)
        beside = {name: value + BESIDE * (abs(value) or 1.0) for name, value in at.items()}
        here = {name: m.number(value) for name, value in {**posed.values, **beside}.items()}
        sizes: list[Any] = []
        flat = True
        with Defined(Singular, ArithmeticError):
            for _ in range(SHRINKING_STEPS):
                swept = sweeps.evaluate_in(m, posed.program.outputs, here, names)
                flat = all(value == 0 for value in swept.values)
                step = solve_linear(m, sweeps.jacobian(swept, names)[0], [[-value] for value in swept.values])
                here |= {name: here[name] + d[0] for name, d in zip(names, step, strict=True)}
                sizes.append(max(abs(d[0]) for d in step))
                if sizes[-1] <= 0.5 * sizes[0]:
                    return True
            return False
        # where the derivative is singular all around, as in two equations that are one, nothing speaks against it
        return not sizes and not (flat and any(_rounding(posed, at, own=False)))

    def _within(self, x: Sequence[float]) -> list[float] | None:
        """The solution, moved onto a bound that it misses by rounding errors; None where it lies outside."""
        moved = []
        for name, a in zip(self.posed.unknowns, x, strict=True):
            low, high = self.posed.between.get(name, (-math.inf, math.inf))
            moved.append(min(max(a, low), high))
            if abs(moved[-1] - a) > 1e-12 * max(abs(low), abs(high)):
                return None
        return moved

    def _wandered(self, start: Sequence[float]) -> list[float]:
        """The least sum of squares near the start, between the bounds."""
        from scipy.optimize import least_squares

        bounds = [self.posed.between.get(name, (-math.inf, math.inf)) for name in self.posed.unknowns]
        with Defined(ValueError), self.np.errstate(all="ignore"):
            return list(
                least_squares(
                    lambda x: self(x)[0], start, jac=lambda x: self(x)[1], bounds=tuple(zip(*bounds, strict=True)),
                    x_scale="jac", max_nfev=200,
                ).x
            )  # fmt: skip
        return list(self.least[1]) if self.least else list(start)

    def every(self) -> list[list[float]]:
        """All solutions that are found from many starts between the bounds."""
        draw = random.Random(0)
        bounds = [self.posed.between[name] for name in self.posed.unknowns]
        found: list[list[float]] = []
        for _ in range(STARTS):
            start = [draw.uniform(low, high) for low, high in bounds]
            x = self._newton(start)
            x = None if x is None else self._within(x)
            if x is None:
                continue
            if not any(
                all(abs(a - b) <= 1e-6 * (high - low) for a, b, (low, high) in zip(x, y, bounds, strict=True))
                for y in found
            ):
                found.append(x)
        return sorted(found)

    def others(self, found: Sequence[Sequence[float]]) -> list[float]:
        """None is looked for unless all are."""
        return []

    def nearest(self) -> str:
        """Where the equations are nearest to holding, in words."""
        if self.least is None:
            return ""
        at = ", ".join(f"{name} = {x:.6g}" for name, x in zip(self.posed.unknowns, self.least[1], strict=True))
        return f"; they are nearest to holding at {at}, where the sides differ by {self.least[0]:.3g}"


def _single(program: Program, root: int) -> Program:
    """The program with one of its outputs; the graph is shared."""
    return program.with_outputs((root,), program.text)


def _rounding(posed: EquationProblem, at: Mapping[str, float], *, own: bool = True) -> list[float]:
    """How far rounding may have put the value of each output off at a point, with `own` its own last digit included."""
    values = {
        name: Bounded(x, UNIT * abs(x) if own and name in posed.unknowns else 0.0)
        for name, x in {**posed.values, **at}.items()
    }
    found = []
    for output in posed.program.outputs:
        try:
            (value,) = sweeps.evaluate_in(RUNNING, [output], values, ()).values
            error = RUNNING.number(value).error
        except (ExpressionError, ArithmeticError):
            error = math.inf
        found.append(error if math.isfinite(error) else 0.0)
    return found


# ---- a solution in an arithmetic ----------------------------------------------------------------------------------
def _solution(
    posed: EquationProblem, start: Sequence[float], order: int, arithmetic: Arithmetic, multiplicity: int | None
) -> Solution:
    """The solution near `start`, with all that is asked about it, in an arithmetic."""
    outputs, unknowns, wanted = posed.program.outputs, posed.unknowns, posed.wanted
    at = dict(zip(unknowns, start, strict=True))
    given = {name: value for name, value in posed.given.items() if name in posed.program.variables and name not in at}
    residuals, slopes = _residuals(posed, at)
    errors = _errors(posed, at, residuals, slopes)
    if multiplicity is not None and multiplicity > 1:
        errors = None
    simple = errors is not None
    multiplicity = 1 if simple else multiplicity

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        here = {name: m.number(x) for name, x in at.items()}
        if m.name in ("certified", "precision") or m is not REAL:
            here = _sharpened(m, posed, values, at, multiplicity or 1)
        found: dict[str, Any] = {"solution": here}
        if simple and wanted:
            try:
                whole = {**values, **here}
                first, kinks = derivatives(m, outputs, whole, unknowns, wanted)
                found["first"] = first
                told = kink_warnings(arithmetic, kinks.items())
                posed.warnings.extend(each for each in told if each not in posed.warnings)
                if order > 1:
                    found["second"] = second_derivatives(m, outputs, whole, unknowns, wanted, first)
            except Singular:
                found.pop("first", None)
        return found

    if order > 1 and len(wanted) + len(unknowns) > MOST_SECOND:
        raise ExpressionError(
            "limit", f"second derivatives by {len(wanted)} variables are too many; {MOST_SECOND} is the most",
            hint="name some of them: `--wrt x,y`",
        )  # fmt: skip
    try:
        found = arithmetic.run(given, work)
    except ExpressionError as error:
        if arithmetic != DOUBLE or error.kind not in ("derivative", "domain"):
            raise
        message = f"the solution has no derivatives: {error}"
        posed.warnings.append(Diagnostic("derivative", message, error.span, error.hint))
        found = {"solution": at}
    first, second = found.get("first"), found.get("second")
    if not simple and wanted:
        where = ", ".join(f"{name} = {x:.6g}" for name, x in at.items())
        what = "a multiple root" if multiplicity is None else f"a root of multiplicity {multiplicity}"
        message = f"{what} at {where}, where the derivative by the unknown is 0: the solution has no derivative"
        hint = "it may split or vanish when a value changes"
        if multiplicity == 1:
            message = f"the derivative by the unknown cannot be told from 0 at {where}: the solution has no derivative"
            hint = "another root may be near; `--precision 50` differentiates it"
        posed.warnings.append(Diagnostic("multiple", message, None, hint))
    known: Mapping[str, float | None] = dict.fromkeys(at)
    if errors is not None and arithmetic == DOUBLE:
        known = errors
    slopes_of = bent_of = None
    if first is not None:
        slopes_of = {u: dict(zip(wanted, row, strict=True)) for u, row in zip(unknowns, first, strict=True)}
    if second is not None:
        bent_of = {
            u: {p: dict(zip(wanted, row, strict=True)) for p, row in zip(wanted, matrix, strict=True)}
            for u, matrix in zip(unknowns, second, strict=True)
        }
    proven = arithmetic.name == "certified"
    return Solution(found["solution"], dict(known), residuals, simple, multiplicity, proven, slopes_of, bent_of)


def _residuals(posed: EquationProblem, at: Mapping[str, float]) -> tuple[list[float], list[list[float]] | None]:
    """The outputs at a solution in doubles, and their derivatives by the unknowns, None where there are none."""
    values: dict[str, Number] = {**posed.values, **at}
    swept = sweeps.evaluate_in(REAL, posed.program.outputs, values, posed.unknowns)
    residuals = [float(x) + 0.0 for x in swept.values]
    try:
        rows, _ = sweeps.jacobian(swept, posed.unknowns)
    except ExpressionError:
        return residuals, None
    return residuals, [[float(x) for x in row] for row in rows]


def _errors(
    posed: EquationProblem, at: Mapping[str, float], residuals: Sequence[float], rows: Sequence[Sequence[float]] | None
) -> dict[str, float] | None:
    """How far each unknown may be off: |F_u⁻¹| times what is left of the equations and their rounding errors.

    None where the derivative cannot be told from one that is singular.
    """
    from .enclosures import inverted

    inverse = None if rows is None else inverted(rows)
    if inverse is None or rows is None:
        return None
    left = [abs(r) + error for r, error in zip(residuals, _rounding(posed, at), strict=True)]
    found = {
        name: math.fsum(abs(a) * b for a, b in zip(line, left, strict=True))
        for name, line in zip(at, inverse, strict=True)
    }
    size = max((abs(x) for x in at.values()), default=0.0) or 1.0
    # a multiple root is known to half its digits: there a change within the error changes the derivative by all of it
    if len(at) == 1 and rows[0][0] and (name := next(iter(at))):
        moved = [_slope(posed, name, at[name] + sign * 2 * found[name]) for sign in (-1, 1)]
        if any(slope is not None and (slope > 0) != (rows[0][0] > 0) for slope in moved):
            return None
    return found if all(error <= 1e-3 * max(abs(at[name]), 1e-6 * size) for name, error in found.items()) else None


def _slope(posed: EquationProblem, name: str, x: float) -> float | None:
    try:
        swept = sweeps.evaluate_in(REAL, posed.program.outputs, {**posed.values, name: x}, [name])
        return float(sweeps.jacobian(swept, [name])[0][0][0])
    except ExpressionError:
        return None


def _sharpened(
    m: NumberType, posed: EquationProblem, values: Mapping[str, Number], start: Mapping[str, float], multiplicity: int
) -> dict[str, Number]:
    """The solution near a start with the digits of a number type; of balls, one that is proven to hold exactly one.

    Towards a multiple root, Newton's steps are as many times too short as its multiplicity.
    """
    if m.name == "certified":
        return _enclosed(m, posed, values, start)
    from .implicit import solve_linear

    here: dict[str, Number] = {name: m.number(x) for name, x in start.items()}
    names = posed.unknowns
    last: Any = None
    for _ in range(NEWTON_STEPS):
        swept = sweeps.evaluate_in(m, posed.program.outputs, {**values, **here}, names)
        rows, _ = sweeps.jacobian(swept, names)
        try:
            step = solve_linear(m, rows, [[-multiplicity * x] for x in swept.values])
        except (Singular, ZeroDivisionError):
            break
        moved = {name: here[name] + d[0] for name, d in zip(names, step, strict=True)}
        size = max(abs(d[0]) for d in step)
        if size == 0 or (last is not None and size >= last):
            # rounding is all that is left
            here = moved if size == 0 else here
            break
        here, last = moved, size
    return here


def _enclosed(
    m: Any, posed: EquationProblem, values: Mapping[str, Number], start: Mapping[str, float]
) -> dict[str, Number]:
    from flint import arb

    from ..numbers.ball import Ball, undecided
    from .enclosures import Operator, boxes

    operator = Operator(posed.program.outputs, posed.unknowns, values, boxes(m.bits))
    enclosed = operator.enclosed([start[name] for name in posed.unknowns], 8)
    if enclosed is None:
        raise undecided("whether there is exactly one solution here cannot be told")
    box, found = enclosed[0], operator.shrunk(enclosed[1])
    # a number that solves the equations exactly, and lies in the box, is the one solution in it
    plain = [0.0 if a.contains(0) else start[name] for name, a in zip(posed.unknowns, found, strict=True)]
    if all(a.contains(arb(x)) for a, x in zip(box, plain, strict=True)) and operator.holds(plain):
        return {name: m.number(x) for name, x in zip(posed.unknowns, plain, strict=True)}
    return {name: Ball(a) for name, a in zip(posed.unknowns, found, strict=True)}


def _proven_starts(
    posed: EquationProblem, stop: Callable[[], bool]
) -> tuple[list[list[float]], list[dict[str, tuple[float, float]]], list[dict[str, tuple[float, float]]], bool]:
    """All solutions between the bounds by interval Newton, and whether these are all.

    Between them the boxes that are undecided, and those of these in which an equation has no bound.
    """
    message = "`--certified` needs python-flint, which is not installed"
    needed("flint", "certified", message, "; without it `--all` looks on a grid")
    from .enclosures import BITS, Operator, boxes, search, spanned

    balls = boxes(BITS)
    exactly = Arithmetic("certified")
    others = {
        name: exactly._value(balls, name, value)
        for name, value in posed.given.items()
        if name in posed.program.variables and name not in posed.unknowns
    }
    operator = Operator(posed.program.outputs, posed.unknowns, others, balls)
    found = search(operator, [spanned(*posed.between[name]) for name in posed.unknowns], stop)
    starts = sorted([float(a.mid()) for a in box] for box in found.proven)
    bounds = [posed.between[name] for name in posed.unknowns]
    inside = [each for each in starts if all(low <= x <= high for x, (low, high) in zip(each, bounds, strict=True))]
    undecided, unbounded = [], []
    for box in found.undecided:
        ends = [(float(a.mid() - a.rad()), float(a.mid() + a.rad())) for a in box]
        undecided.append(dict(zip(posed.unknowns, ends, strict=True)))
        narrow = all(high - low < 1e-3 * (b - a) for (low, high), (a, b) in zip(ends, bounds, strict=True))
        if narrow and not operator.bounded(box):
            unbounded.append(undecided[-1])
    return inside, undecided, unbounded, found.complete and not undecided


def _told(
    posed: EquationProblem, finder: _One | _Several, solutions: Sequence[Solution], every: bool,
    undecided: Sequence[object], unbounded: Sequence[Mapping[str, tuple[float, float]]], complete: bool | None,
    interrupted: bool,
) -> tuple[str, str]:  # fmt: skip
    """Why the search is over, and in words."""
    if interrupted:
        return "interrupted", "interrupted"
    count = len(solutions)
    listed = f"{count} solution{'' if count == 1 else 's'}"
    where = " and ".join(f"{low:g} ≤ {name} ≤ {high:g}" for name, (low, high) in posed.between.items())
    if complete:
        if not count:
            return "none", f"none: it is proven that there is no solution for {where}"
        return "solved", f"{listed}, proven to be all for {where}"
    if complete is False:
        boxes = f"{len(undecided)} box{'' if len(undecided) == 1 else 'es'}"
        message = f"{listed} proven; in {boxes} it is undecided whether there are more"
        if unbounded:
            places = [", ".join(f"{name} = {low / 2 + high / 2:.6g}" for name, (low, high) in box.items())
                      for box in unbounded[:NAMED]]  # fmt: skip
            more = f" and {len(unbounded) - NAMED} more" if len(unbounded) > NAMED else ""
            message += f"; there is no bound, as at a pole, near {'; '.join(places)}{more}"
        return "undecided", message
    if not count:
        return "not found", f"no solution was found{f' for {where}' if every else ''}{finder.nearest()}"
    if every:
        return "solved", f"{listed} found for {where}; `--certified` proves whether these are all"
    return "solved", "solved"
