"""Whether the derivatives of unknowns are right where equations hold: by formulas, or else at points of the curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ..algebra.rational_functions import cleared, coefficients, times, vanishes
from ..algebra.walk import substituted
from ..equations.solve import read_with_unknowns
from ..errors import ExpressionError
from ..formulas.diff import Derivative
from ..graphs.value import Value, node
from ..graphs.value_and_gradient import value_and_gradient, value_in
from ..inputs.problem import parse
from ..numbers.base import NumberType
from ..numbers.budget import Defined
from ..numbers.floats import REAL
from ..numerics.linear_algebra import Singular, solve_linear
from ..numerics.newton import polished
from ..table.operators import SUB
from ..table.primitive import Primitive
from .comparison import AGREED, as_number, equal, many_digits, points, same, value_at
from .exercise import Exercise, Marked
from .labels import Entry
from .marking import ENOUGH, is_zero, read_formula, short_pair

MOST_POINTS = 40
"""Answers are compared at so many points of a curve."""

STEPS = 80
"""After so many steps towards the curve a point is left out."""

CLOSE = 1e-12
"""A step that is so short, as a part of the point, is the last one."""

MOST_DEGREE = 8
"""Equations of a higher degree are not divided by."""


class Curve:
    """The points where equations hold, with their unknowns."""

    def __init__(self, text: str, unknowns: Sequence[str]) -> None:
        self.program = read_with_unknowns(text, [], unknowns).program
        self.unknowns = list(unknowns)
        self.names = list(self.program.variables)

    def marked(self, posed: Exercise, derivative: Derivative, answer: str, entry: Entry) -> Marked:
        """Whether an entry of an answer is this derivative wherever the equations hold. Raises `ExpressionError`."""
        typed, note = read_formula(answer, self.program.variables, entry)
        leaves = self.program.variables
        expected = _with_leaves(parse(derivative.formula).outputs[0], leaves)
        typed = _with_leaves(typed, leaves)
        difference = node(SUB, (typed, expected))
        compared: list[tuple[dict[str, Any], Any, Any, bool]] = []
        for start in self._points([typed, expected]):
            decided = equal(partial(self._at, start, expected, typed))
            if decided is None:
                continue
            m = many_digits()
            at = self._refined(m, start)
            compared.append((at, value_in(m, expected, at), value_in(m, typed, at), decided))
        if len(compared) < ENOUGH:
            message = "there are too few points of the curve to compare the answer at"
            raise ExpressionError("limit", message, None, "look at the derivative: leave `--answer` out")
        for at, right, answered, agrees in compared:
            if not agrees:
                where = ", ".join(f"{name} = {float(x):.6g}" for name, x in at.items())
                shown, other = short_pair(right, answered)
                other = f"this is {other}" if answered is not None else "this has no value"
                message = f"wrong: at `{where}` the derivative is {shown}, and {other}{note}"
                hint = self._hint(posed, derivative, compared)
                return Marked(posed, answer, False, message, hint, "points", len(compared))
        if is_zero(difference):
            message, how = f"right: its difference from the answer simplifies to 0{note}", "simplified"
        elif len(self.program.outputs) == 1 and _vanishes_on(difference, self.program.outputs[0], leaves.values()):
            message, how = f"right: its difference from the answer is 0 wherever the equation holds{note}", "equation"
        else:
            count = f"{AGREED} digits at {len(compared)} points of the curve"
            message, how = f"right: it agrees with the derivative to {count}, which is no proof{note}", "points"
        return Marked(posed, answer, True, message, "", how, len(compared))

    # -- points -----------------------------------------------------------------------------------------------------
    def _points(self, functions: Sequence[Value]) -> Iterator[dict[str, float]]:
        """Points of the curve, in doubles: the nearest ones to points all around."""
        chosen, further = points([*self.program.outputs, *functions], self.names)
        seen: set[tuple[float, ...]] = set()
        for start in (*chosen, *further):
            at = self._nearest({name: float(x) for name, x in start.items()})
            if at is None:
                continue
            key = tuple(float(f"{x:.4g}") for x in at.values())
            if key not in seen:
                seen.add(key)
                # the other variables are short numbers, and the unknowns follow
                yield {name: x if name in self.unknowns else float(f"{x:.4g}") for name, x in at.items()}
            if len(seen) >= MOST_POINTS:
                return

    def _swept(self, m: NumberType, at: Mapping[str, Any], by: Sequence[str]) -> tuple[list[Any], list[list[Any]]]:
        """The equations' values, and their derivatives. Raises `ExpressionError` where there are none."""
        values, rows = [], []
        for output in self.program.outputs:
            swept = value_and_gradient(m, output, at, by)
            if swept.kinks:
                raise ExpressionError("derivative", "a kink")
            values.append(swept.value)
            rows.append([swept.gradient.get(name, m.number(0)) for name in by])
        return values, rows

    def _nearest(self, at: dict[str, float]) -> dict[str, float] | None:
        """The end of Newton's method of least steps from a point; None if it does not come to the curve."""
        for _ in range(STEPS):
            try:
                values, rows = self._swept(REAL, at, self.names)
                gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in rows] for p in rows]
                weights = [w for (w,) in solve_linear(REAL, gram, [[-x] for x in values])]
            except (ExpressionError, ArithmeticError, Singular):
                return None
            step = [sum(w * row[k] for w, row in zip(weights, rows, strict=True)) for k in range(len(self.names))]
            at = {name: x + d for (name, x), d in zip(at.items(), step, strict=True)}
            if all(abs(d) <= CLOSE * max(abs(x), 1e-3) for d, x in zip(step, at.values(), strict=True)):
                return at
        return None

    def _refined(self, m: NumberType, start: Mapping[str, float]) -> dict[str, Any]:
        """The point of the curve near a start, in all digits. Raises `ExpressionError` where there is none."""
        fixed = {name: as_number(m, Fraction(repr(x))) for name, x in start.items() if name not in self.unknowns}

        def system(unknowns: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            return self._swept(m, fixed | dict(zip(self.unknowns, unknowns, strict=True)), self.unknowns)

        begin = [start[name] for name in self.unknowns]
        root = polished(m, system, begin)
        values, rows = system(root)
        try:
            steps = [d for (d,) in solve_linear(m, rows, [[-x] for x in values])]
        except (Singular, ZeroDivisionError):
            raise ExpressionError("derivative", "the unknowns are not determined here") from None
        digits = m.digits - 10
        if any(abs(d) * 10**digits > max(abs(x), abs(s), 1) for d, x, s in zip(steps, root, begin, strict=True)):
            raise ExpressionError("derivative", "there is no point of the curve near")
        known = fixed | dict(zip(self.unknowns, root, strict=True))
        return {name: known[name] for name in self.names}

    def _at(self, start: Mapping[str, float], expected: Value, typed: Value, m: NumberType) -> tuple[Any, Any] | None:
        """The derivative and the answer at a point of the curve; None where there is no derivative."""
        try:
            at = self._refined(m, start)
        except (ExpressionError, ArithmeticError, ValueError):
            return None
        right = value_at(m, expected, at)
        return None if right is None else (right, value_at(m, typed, at))

    # -- mistakes ---------------------------------------------------------------------------------------------------
    def _hint(
        self, posed: Exercise, derivative: Derivative, compared: Sequence[tuple[dict[str, Any], Any, Any, bool]]
    ) -> str:
        """The usual mistake that leads to the answer."""
        there = sorted([entry for entry in compared if entry[2] is not None], key=lambda entry: entry[3])
        if not there or there[0][3]:
            return "write it so that it has a value wherever the derivative exists"
        if all(same(answered, -right) for _, right, answered, _ in there):
            return "everything is right but the sign"
        of, by = derivative.of, derivative.by
        if len(self.unknowns) == 1 and len(by) == 1:
            if all(same(answered * right, answered / answered) for _, right, answered, _ in there if answered):
                return f"that is d{by[0]}/d{of}: it is upside down"
            m = many_digits()
            for sign, words in ((1, ""), (-1, "minus ")):
                for name, missed in ((by[0], f"divide it by the one by `{of}`"), (of, f"it is below `{by[0]}`'s")):
                    with Defined(ArithmeticError, ValueError):
                        slopes = [self._swept(m, at, [name])[1][0][0] for at, *_ in there]
                        if all(same(answered, sign * s) for (_, _, answered, _), s in zip(there, slopes, strict=True)):
                            which = f"{words}the derivative of left less right side by `{name}`"
                            return f"that is {which} alone: {missed}"
        agreeing = sum(entry[3] for entry in compared)
        if agreeing:
            return f"it is right at {agreeing} of {len(compared)} points: it holds on a part of the curve only"
        first = there[0]
        if first[1] and all(same(answered * first[1], right * first[2]) for _, right, answered, _ in there):
            ratio, _ = short_pair(first[2] / first[1], 1)
            return f"it is {ratio} times as large everywhere: a factor is wrong or missing"
        order = f" --order {len(by)}" if len(by) > 1 else ""
        steps = " --steps" if len(self.unknowns) == 1 else ""
        return f'see it worked: `autodiff diff "{posed.program}" --for {",".join(self.unknowns)}{order}{steps}`'


def _with_leaves(root: Value, leaves: Mapping[str, Value]) -> Value:
    """A formula in the variables of the equations."""
    return substituted(root, lambda v: leaves.get(v.label) if not v._prev and v.label else None)


def _vanishes_on(difference: Value, equation: Value, leaves: Any) -> bool:
    """Whether a formula is 0 wherever an equation holds, but for single points; False says nothing.

    Both are cleared of quotients; that of the formula divided by that of the equation, as polynomials in a variable,
    leaves nothing then.
    """
    above, below = cleared(difference)[0], cleared(equation)[0]
    for leaf in leaves:
        both = [coefficients(root, leaf, lambda v: v, _operation) for root in (above, below)]
        if both[0] is None or both[1] is None or not 2 <= len(both[1]) <= MOST_DEGREE + 1:
            continue
        rest, divisor = both[0], both[1]
        if vanishes(divisor[-1]):
            continue
        while len(rest) >= len(divisor):
            lead, shift = rest[-1], len(rest) - len(divisor)
            rest = [times(divisor[-1], c) for c in rest[:-1]]
            for k, c in enumerate(divisor[:-1]):
                rest[shift + k] = node(SUB, (rest[shift + k], times(lead, c)))
        if all(vanishes(c) for c in rest):
            return True
    return False


def _operation(primitive: Primitive, a: Value, b: Value) -> Value:
    return node(primitive, (a, b))
