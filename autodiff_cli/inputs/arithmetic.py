"""Arithmetics: doubles, exact fractions, any number of digits, proven digits; and how a computation is done in one.

A method hands its computation to `Arithmetic.run`, which calls it with the number type, once or, for proven digits,
with more and more bits until they suffice. Numbers of the other arithmetics come back as a `Figure`: all digits as
text, and the nearest double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import Diagnostic, ExpressionError, needed
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.budget import allowed
from ..numbers.floats import REAL
from ..run.sweep import Breakpoint
from .figures import Figure
from .figures import Shown as Shown
from .problem import as_number, check_single, parse

CERTIFIED_DIGITS = 17
MOST_BITS = 1 << 17
"""With so many bits, more than are needed otherwise, what is undecided stays so."""

VANISHING_BITS = 7000
"""With so many bits a number that has not been told from 0 is given as being within so much of it."""

GUARD = 10
"""Further digits with which `--precision` computes."""

ABSORBING = 800
"""With so many digits no double is lost in a sum with another: only then is a result of 0 believed."""

MOST_DIGITS = 10_000
"""Results that still change with so many digits, or twice what was asked for, are given with those that do not."""

GIVEN = frozenset(("point", "direction", "adjoint"))
"""The numbers of an answer that are none of its results: a certified answer proves their digits, or is none."""


Values = dict[str, Number]
Task = Callable[[NumberType, Values], dict[str, Any]]
"""A computation in any number type at a point in it: its numbers, in lists and dictionaries, by key."""


class Arithmetic(NamedTuple):
    """Which numbers a computation is done in: `double`, `exact`, `precision` or `certified`, with so many digits."""

    name: str = "double"
    digits: int = CERTIFIED_DIGITS

    def run(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        """What the task gives in this arithmetic: numbers in lists and dictionaries, as they are shown.

        Raises `ExpressionError`; of the kind `limit` where it would take more work than it may.
        """
        with allowed(anew=False):
            return self._run(point, task)

    def _run(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        if self.name == "certified":
            return self._certified(point, task)
        if self.name == "precision":
            return self._settled(point, task)
        if self.name == "exact":
            from ..numbers.exact import Exact

            return _each(self._done(Exact(), point, task), lambda key, x: Figure(str(x), nearest(x)))
        return _each(self._done(REAL, point, task), lambda key, x: float(x) + 0.0)

    def _done(self, m: NumberType, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        """The task's numbers, all of this type. Raises `ExpressionError`."""
        try:
            result = task(m, {name: self._value(m, name, value) for name, value in point.items()})
        except Refusal as refusal:  # between the operations: a comparison of adjoints, for example
            raise ExpressionError(refusal.kind, refusal.message, None, refusal.hint) from None
        return _each(result, lambda key, x: m.number(x))

    def _settled(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        """The numbers, each with the digits that two computations agree on, of which one has more digits.

        Where these are fewer than were asked for, or a result is 0, or so small that it may be what is left of numbers
        that were lost in a sum, they are done with more and more.
        """
        from ..numbers.multiprecision import Multiprecision

        def computed(digits: int) -> dict[str, Any]:
            return self._done(Multiprecision(digits, decimals=True), point, task)

        digits = self.digits + GUARD
        coarse = computed(digits)
        digits += 2 * GUARD
        finer = computed(digits)
        while digits < max(MOST_DIGITS, 2 * self.digits):
            pairs = _pairs(coarse, finer)
            settled = all(_digits_alike(*pair) >= self.digits for pair in pairs)
            zeros = max((_zeros(x) for other_name, x in pairs if not _vanishes(other_name, x)), default=0)
            needed = min(self.digits + GUARD + zeros, MOST_DIGITS)
            if digits >= needed:
                if settled and (digits >= ABSORBING or all(finer for _, finer in pairs)):
                    break
                if digits >= ABSORBING and all(_digits_alike(*p) >= self.digits or _vanishes(*p) for p in pairs):
                    break
            unsure = settled and digits < needed
            digits = max(2 * digits, needed, ABSORBING if settled and needed <= digits else 0)
            try:
                coarse, finer = finer, computed(digits)
            except ExpressionError as error:
                if error.kind != "limit" or unsure:
                    raise
                break
        others = iter([other_name for other_name, _ in _pairs(coarse, finer)])
        return _each(finer, lambda key, x: self._agreed(next(others), x))

    def _agreed(self, coarse: Any, finer: Any) -> Figure:
        """The digits that two results have in common; of one that shrinks instead, how near to 0 it is."""
        right = min(self.digits, _digits_alike(coarse, finer))
        context = finer.context
        if right > 0:
            with context.workdps(right + GUARD):  # Python writes no whole numbers of 4,300 digits
                text = context.nstr(+finer, right, min_fixed=-5)
            return Figure(text.removesuffix(".0"), within_doubles(float(finer)))
        if _vanishes(coarse, finer):
            return Figure("0", 0.0, context.nstr(2 * abs(coarse), 2, min_fixed=0, max_fixed=0))
        raise ExpressionError(
            "limit",
            f"no digit of a result can be told, even with {context.dps:,} digits",
            None,
            "ask for more digits, allow more work with `--work 10`, or move the point",
        )

    def _certified(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        """The numbers with proven digits only: computed with more and more bits until these suffice."""
        message = "`--certified` needs python-flint, which is not installed"
        needed("flint", "certified", message, ", or use `--precision 50`, which proves nothing")
        from ..numbers.ball import UNDECIDED, Balls

        bits = int(self.digits * 3.33) + 64
        best: dict[str, Any] | None = None
        reason: ExpressionError | None = None
        while bits <= max(MOST_BITS, int(self.digits * 16)):
            try:
                balls = self._done(Balls(bits), point, task)
            except ExpressionError as error:
                if error.kind == "limit" and (best or reason):
                    break
                if error.kind != UNDECIDED:
                    raise
                message = f"{error}, even with {bits:,} bits: no digit can be proven here"
                best, reason = None, ExpressionError("domain", message, error.span, error.hint)
                reason.text = error.text
            else:
                unproven = [x for key, item in balls.items() for x in _numbers(item) if self._unproven(key, x)]
                best = None if unproven else _each(balls, self._proven)
                reason = _too_few_digits(unproven[0]) if unproven else None
                if best and (bits >= VANISHING_BITS or not any(figure.within for figure in _numbers(best))):
                    break
            bits *= 4
        if best is None:
            assert reason is not None
            raise reason
        return best

    def _unproven(self, key: str, x: Any) -> bool:
        """Whether too few digits of a ball are proven; a result may be near 0 instead."""
        if x.a.is_exact() or x.a.rel_accuracy_bits() >= self.digits * 3.33 + 8:
            return False
        return key in GIVEN or not (x.a.contains(0) and x.a.abs_upper() < 1)

    def _proven(self, key: str, x: Any) -> Figure:
        """The digits of a ball that are proven; of one that holds 0, how near to that it is."""
        if x.a.is_zero():
            return Figure("0", 0.0)
        if x.a.contains(0):
            return Figure("0", 0.0, str(x.a.abs_upper().str(2, radius=False)))
        return Figure(str(x.a.str(self.digits, radius=False)), within_doubles(float(x)))

    def _value(self, m: NumberType, name: str, given: float | str) -> Number:
        """The number that a point gives to a name: read as decimals, but by doubles."""
        text = given if isinstance(given, str) else getattr(given, "source", None)
        if self.name == "double" or text is None:
            return m.number(as_number(given, name))
        from ..graphs.value_and_gradient import evaluate_in

        program = parse(text)
        try:
            check_single(program)
            (value,) = evaluate_in(m, program.graph, {}).values
        except ExpressionError as error:
            error.text = text
            raise
        return value


def _each(results: dict[str, Any], convert: Callable[[str, Number], Any]) -> dict[str, Any]:
    """The same lists and dictionaries with each number as it is shown; `convert` gets its key in the whole with it."""

    def item(key: str, x: Any) -> Any:
        if isinstance(x, dict):
            return {name: item(key, element) for name, element in x.items()}
        if isinstance(x, list):
            return [item(key, element) for element in x]
        return x if isinstance(x, bool) or x is None else convert(key, x)

    return {key: item(key, x) for key, x in results.items()}


def _numbers(results: Any) -> Iterator[Any]:
    """The numbers in lists and dictionaries, in order."""
    if isinstance(results, (dict, list)):
        for item in results.values() if isinstance(results, dict) else results:
            yield from _numbers(item)
    elif not isinstance(results, bool) and results is not None:
        yield results


def _pairs(coarse: Any, finer: Any) -> list[tuple[Any, Any]]:
    """The numbers of two results; of the finer one alone, where another branch was taken in it."""
    numbers, others = list(_numbers(finer)), list(_numbers(coarse))
    return list(zip(others if len(others) == len(numbers) else numbers, numbers, strict=True))


def _digits_alike(coarse: Any, finer: Any) -> int:
    """How many significant digits two numbers in many digits have in common."""
    if coarse == finer:
        return int(finer.context.dps)
    if not finer:
        return 0
    # From the powers of two, so one less than there may be.
    context = finer.context
    return max(0, int((context.mag(finer) - context.mag(finer - coarse) - 2) * 0.30103))


def _zeros(x: Any) -> int:
    """How many zeros a number has behind its point: with fewer digits, two roundings of a sum may agree on it."""
    return max(0, int(-x.context.mag(x) * 0.30103) + 1) if x else 0


def _vanishes(coarse: Any, finer: Any) -> bool:
    """Whether a result shrinks as the digits grow: then it is 0, as far as these go, and what is seen is rounding."""
    return bool(abs(finer) <= abs(coarse) * 2.0**-32)


def _too_few_digits(x: Any) -> ExpressionError:
    """The error of a ball with too few digits."""
    return ExpressionError(
        "domain",
        f"the result is {x}, and may be 0: no digit of it can be proven"
        if x.a.contains(0)
        else f"the digits of a result near {x} need more bits than there are",
        None,
        "move the point, or use `--exact` or `--precision` instead",
    )


def nearest(x: Any) -> float | None:
    """The double nearest to a fraction, None beyond their range."""
    try:
        return within_doubles(float(x.numerator / x.denominator))
    except OverflowError:
        return None


def within_doubles(x: float) -> float | None:
    """The double, None where it is infinite."""
    return x + 0.0 if math.isfinite(x) else None


DOUBLE = Arithmetic()


def chosen(exact: bool, precision: int | None, certified: bool) -> Arithmetic:
    """The arithmetic that the options ask for."""
    if exact:
        return Arithmetic("exact")
    if certified:
        return Arithmetic("certified", precision or CERTIFIED_DIGITS)
    return DOUBLE if precision is None else Arithmetic("precision", precision)


def kink_warnings(arithmetic: Arithmetic, kinks: Iterable[Breakpoint]) -> list[Diagnostic]:
    """A warning for each kink. Raises `ExpressionError` where digits are to be proven: there are none."""
    met = list(kinks)
    warnings = [kink.warning() for kink in met]
    if warnings and arithmetic.name == "certified":
        first = warnings[0]
        what = "a derivative" if met[0].primitive.gives_condition else "one"
        raise ExpressionError(
            "derivative",
            f"{first.message}, so no digit of {what} can be proven",
            first.span,
            "move the point, or leave `--certified` out for the conventional derivative",
        )
    return warnings
