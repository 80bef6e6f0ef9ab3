"""Mark derivatives of unknowns, compared where equations hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..algebra.rational_functions import cleared, polynomial_in, times, vanishes
from ..errors import ExpressionError
from ..formulas.diff import Derivative
from ..graphs.value import node
from ..graphs.value_and_gradient import value_and_gradient
from ..language.builder import Program
from ..numbers.base import NumberType
from ..numbers.budget import Defined
from ..numbers.floats import REAL
from ..numerics.linear_algebra import solve_linear
from ..numerics.newton import polished
from ..table.operators import SUB
from .comparison import ComparedPoint, as_number, many_digits, points, same, value_at
from .exercise import Exercise
from .marking import SIGN, FormulaAnswer, constant_factor

MAX_POINTS, MAX_STEPS = 40, 80
"""The most points of a curve to compare, and the most Newton steps to one."""

STEP_TOLERANCE = 1e-12
"""The relative size of a step that ends the search."""

MAX_DEGREE = 8


class CurveAnswer(FormulaAnswer):
    """An answer compared with an unknown's derivative where equations hold."""

    where, instead = "of the curve ", "look at the derivative: leave `--answer` out"
    undefined = "write it so that it has a value wherever the derivative exists"

    def __init__(
        self, posed: Exercise, program: Program, unknowns: Sequence[str], derivative: Derivative, *answer: Any
    ) -> None:
        super().__init__(posed, program, *answer)
        self.unknowns, self.derivative = list(unknowns), derivative

    def points(self) -> Iterator[Mapping[str, Any]]:
        # the points of the curve, in doubles, nearest to points all around
        chosen, further = points([*self.program.outputs, self.typed, self.right], list(self.leaves))
        seen: set[tuple[float, ...]] = set()
        for start in (*chosen, *further):
            at = self._nearest({name: float(x) for name, x in start.items()})
            if at is None:
                continue
            key = tuple(float(f"{x:.4g}") for x in at.values())
            if key not in seen:
                seen.add(key)
                # shorten the other variables, which determine the unknowns
                yield {name: x if name in self.unknowns else float(f"{x:.4g}") for name, x in at.items()}
            if len(seen) >= MAX_POINTS:
                return

    def compare_at(self, m: NumberType, at: Mapping[str, Any]) -> ComparedPoint | None:
        with Defined(ArithmeticError, ValueError):
            known = self._refined(m, at)
            right = value_at(m, self.right, known)
            return None if right is None else ComparedPoint(right, value_at(m, self.typed, known), known)
        return None

    def agreement_message(self, what: str) -> tuple[str, str]:
        message, how = super().agreement_message(what)
        if how == "points" and len(self.program.outputs) == 1 and self._vanishes_on_curve():
            return "its difference from the answer is 0 wherever the equation holds", "equation"
        return message, how

    def _swept(self, m: NumberType, at: Mapping[str, Any], by: Sequence[str]) -> tuple[list[Any], list[list[Any]]]:
        values, rows = [], []
        for output in self.program.outputs:
            swept = value_and_gradient(m, output, at, by)
            if swept.kinks:
                raise ExpressionError("derivative", "a kink")
            values.append(swept.value)
            rows.append([swept.gradient[name] for name in by])
        return values, rows

    def _nearest(self, at: dict[str, float]) -> dict[str, float] | None:
        with Defined(ArithmeticError):
            for _ in range(MAX_STEPS):
                values, rows = self._swept(REAL, at, list(at))
                gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in rows] for p in rows]
                weights = [w for (w,) in solve_linear(REAL, gram, [[-x] for x in values])]
                columns = zip(*rows, strict=True)
                step = [sum(w * slope for w, slope in zip(weights, column, strict=True)) for column in columns]
                at = {name: x + d for (name, x), d in zip(at.items(), step, strict=True)}
                if all(abs(d) <= STEP_TOLERANCE * max(abs(x), 1e-3) for d, x in zip(step, at.values(), strict=True)):
                    return at
        return None

    def _refined(self, m: NumberType, start: Mapping[str, float]) -> dict[str, Any]:
        fixed = {name: as_number(m, Fraction(repr(x))) for name, x in start.items() if name not in self.unknowns}

        def system(unknowns: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            return self._swept(m, fixed | dict(zip(self.unknowns, unknowns, strict=True)), self.unknowns)

        begin = [start[name] for name in self.unknowns]
        root = polished(m, system, begin)
        values, rows = system(root)
        # raises if the unknowns are not determined
        steps = [d for (d,) in solve_linear(m, rows, [[-x] for x in values])]
        digits = m.digits - 10
        if any(abs(d) * 10**digits > max(abs(x), abs(s), 1) for d, x, s in zip(steps, root, begin, strict=True)):
            raise ExpressionError("derivative", "there is no point of the curve near")
        known = fixed | dict(zip(self.unknowns, root, strict=True))
        return {name: known[name] for name in start}

    def _vanishes_on_curve(self) -> bool:
        above, below = (cleared(root)[0] for root in (node(SUB, (self.typed, self.right)), self.program.outputs[0]))
        for leaf in self.leaves.values():
            rest, divisor = (polynomial_in(root, leaf) for root in (above, below))
            if rest is None or divisor is None or not 2 <= len(divisor) <= MAX_DEGREE + 1 or vanishes(divisor[-1]):
                continue
            while len(rest) >= len(divisor):
                lead, shift = rest[-1], len(rest) - len(divisor)
                rest = [times(divisor[-1], c) for c in rest[:-1]]
                for k, c in enumerate(divisor[:-1]):
                    rest[shift + k] = node(SUB, (rest[shift + k], times(lead, c)))
            if all(vanishes(c) for c in rest):
                return True
        return False

    def hints(self, there: Sequence[ComparedPoint]) -> Iterator[str]:
        of, by = self.derivative.of, self.derivative.by
        if all(same(p.answered, -p.right) for p in there):
            yield SIGN
        if len(self.unknowns) == len(by) == 1 and there[0].answered:
            if all(same(p.answered * p.right, p.answered / p.answered) for p in there if p.answered):
                yield f"that is d{by[0]}/d{of}: it is upside down"
            m = many_digits()
            for sign, words in ((1, ""), (-1, "minus ")):
                for name, missed in ((by[0], f"divide it by the one by `{of}`"), (of, f"it is below `{by[0]}`'s")):
                    with Defined(ArithmeticError, ValueError):
                        slopes = [self._swept(m, p.at, [name])[1][0][0] for p in there]
                        if all(same(p.answered, sign * slope) for p, slope in zip(there, slopes, strict=True)):
                            which = f"{words}the derivative of left less right side by `{name}`"
                            yield f"that is {which} alone: {missed}"
        if agreeing := sum(p.agrees for p in self.places):
            yield f"it is right at {agreeing} of {len(self.places)} points: it holds on a part of the curve only"
        yield constant_factor(there)
        order = f" --order {len(by)}" if len(by) > 1 else ""
        steps = " --steps" if len(self.unknowns) == 1 else ""
        yield f'see it worked: `autodiff diff "{self.posed.program}" --for {",".join(self.unknowns)}{order}{steps}`'
