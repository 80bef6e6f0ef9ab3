"""Arithmetics: doubles, exact fractions, chosen precision, certified digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.numbers.base import NO_RESULT, UNDECIDED, Number, NumberType, Refusal, digits_text
from ..engine.numbers.budget import BudgetExceeded, use_budget, use_share
from ..engine.numbers.floats import REAL
from ..engine.run.sweep import Breakpoint
from ..errors import Diagnosed, Diagnostic, ExpressionError, limit_error, require
from .figures import Figure
from .figures import Shown as Shown
from .problem import check_single, number_or_quantity, parse

if TYPE_CHECKING:
    from .quantities import Units

CERTIFIED_DIGITS = 17
MAX_BITS = 1 << 17
# Bits at which a number not distinguished from 0 is shown by its bound.
VANISHING_BITS = 7000
GUARD_DIGITS = 10
VANISHING_DIGITS = 2_200
MAX_DIGITS = 10_000
# Digits of an answer that doubles do not have; twice as many confirm it. A 0 is believed with the
# last of them.
MORE_DIGITS = (100, 800)
# The start of the answer in such a hint.
WITH_MORE_DIGITS = "with more digits, `--precision 30`"
# The most numbers of such an answer that a hint names.
MAX_NAMED = 4
# The share of the budget for such an answer.
RETRY_SHARE = 0.5
# The kinds of errors that underflow, overflow and rounding may cause.
BEYOND_DOUBLES = ("domain", "derivative", "overflow")
# Fields of inputs, of which a certified answer needs all digits.
INPUT_FIELDS = frozenset(("point", "direction", "adjoint"))

Values = dict[str, Number]
# A computation in a number type at a point: it returns its numbers by key.
Task = Callable[[NumberType, Values], dict[str, Any]]


class Arithmetic(NamedTuple):
    """The arithmetic of a computation: `double`, `exact`, `precision` or `certified`."""

    name: str = "double"
    digits: int = CERTIFIED_DIGITS

    def run(
        self,
        point: Mapping[str, float | str],
        task: Task,
        units: Units | None = None,
        hint: bool = False,
    ) -> dict[str, Any]:
        """Run a task in coherent units, and return its numbers in `units`, as shown.

        With `hint` the error of a task that doubles do not answer, because a number on the way is
        too small or too large, or is rounded to the edge of a domain, says the answer of more
        digits.
        """
        with use_budget(anew=False):
            if units is None:
                return self._run(point, task, hint)
            from ..engine.quantities.presentation import present_tree  # only units need it

            results = self._run(
                point, lambda m, values: present_tree(m, task(m, values), units), hint
            )
            if self.name == "double" and "point" in results:
                results["point"] |= {
                    name: units.typed[name] for name in results["point"] if name in units.typed
                }
            return results

    def _run(
        self, point: Mapping[str, float | str], task: Task, hint: bool = False
    ) -> dict[str, Any]:
        if self.name == "certified":
            return self._certified(point, task)
        if self.name == "precision":
            return self._with_right_digits(point, task)
        if self.name == "exact":
            from ..engine.numbers.exact import Exact

            exact = self._done(Exact(), point, task)
            return convert_numbers(exact, lambda key, x: Figure(str(x), nearest_double(x)))
        try:
            return convert_numbers(self._done(REAL, point, task), _double)
        except ExpressionError as error:
            if hint and error.kind in BEYOND_DOUBLES:
                error.diagnostic = _with_answer(error.diagnostic, self._beyond_doubles(point, task))
            raise

    def _beyond_doubles(
        self, point: Mapping[str, float | str], task: Task
    ) -> dict[str, Any] | None:
        """Return the doubles nearest to the numbers in more digits; None where these do not
        agree.
        """
        from ..engine.numbers.multiprecision import Multiprecision

        for digits in MORE_DIGITS:
            with suppress(ExpressionError, BudgetExceeded, *NO_RESULT), use_share(RETRY_SHARE):
                typed = AS_TYPED._done(Multiprecision(digits, decimals=True), point, task)
                coarse = self._done(Multiprecision(digits), point, task)
                numbers = self._done(Multiprecision(2 * digits), point, task)
                triples = zip(*map(_numbers, (typed, coarse, numbers)), strict=True)
                # a 0 may be what so many digits leave of a smaller number
                if all(_agree(*triple, may_vanish=digits == MORE_DIGITS[-1]) for triple in triples):
                    return convert_numbers(numbers, _double)
        return None

    def _done(self, m: NumberType, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        try:
            result = task(m, {name: self._value(m, name, value) for name, value in point.items()})
        except Refusal as refusal:  # between the operations: a comparison of adjoints, for example
            raise ExpressionError(refusal.kind, refusal.message, None, refusal.hint) from None
        return convert_numbers(result, lambda key, x: m.number(x))

    def _with_right_digits(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        from ..engine.numbers.running_digits import RunningDigits

        digits = self.digits + GUARD_DIGITS
        most = max(MAX_DIGITS, 2 * self.digits)
        best: dict[str, Any] | None = None
        reason: ExpressionError | None = None
        while True:
            try:
                best = self._done(RunningDigits(digits), point, task)
            except Diagnosed as error:
                if _ends_search(error, best or reason):
                    break
                reason, missing = _undecided(error, f"{digits:,} digits"), digits
            else:
                few = [
                    (x, right)
                    for x in _numbers(best)
                    if (right := x.correct_digits(self.digits)) < self.digits
                ]
                if digits >= most or all(
                    digits >= VANISHING_DIGITS and _vanishes(x) for x, _ in few
                ):
                    break
                missing = max(
                    self.digits + GUARD_DIGITS - right if right else digits for _, right in few
                )
            if digits >= most:
                break
            limit = VANISHING_DIGITS if digits < VANISHING_DIGITS else most
            digits = min(digits + missing, max(limit, self.digits + GUARD_DIGITS))
        return convert_numbers(_found(best, reason), lambda key, x: self._agreed(x))

    def _agreed(self, x: Any) -> Figure:
        right = x.correct_digits(self.digits)
        context = x.m.base.context
        if right > 0:
            text = digits_text(x.x, right, min_fixed=-5)
            return Figure(text.removesuffix(".0"), finite_or_none(float(x)))
        if _vanishes(x):
            return Figure("0", 0.0, digits_text(x.abs_upper(), 2, min_fixed=0, max_fixed=0))
        message = f"no digit of a result can be determined, even with {context.dps:,} digits"
        hint = "ask for more digits, allow more work with `--work 10`, or move the point"
        raise limit_error(message, hint)

    def _certified(self, point: Mapping[str, float | str], task: Task) -> dict[str, Any]:
        message = "`--certified` needs python-flint, which is not installed"
        require("flint", "certified", message, ", or use `--precision 50`, which proves nothing")
        from ..engine.numbers.ball import Balls

        bits = int(self.digits * 3.33) + 64
        best: dict[str, Any] | None = None
        reason: ExpressionError | None = None
        while bits <= max(MAX_BITS, int(self.digits * 16)):
            try:
                balls = self._done(Balls(bits), point, task)
            except Diagnosed as error:
                if _ends_search(error, best or reason):
                    break
                best, reason = None, _undecided(error, f"{bits:,} bits")
            else:
                unproven = [
                    x
                    for key, item in balls.items()
                    for x in _numbers(item)
                    if self._unproven(key, x)
                ]
                best = None if unproven else convert_numbers(balls, self._proven)
                reason = _not_proven(unproven[0]) if unproven else None
                if best and (
                    bits >= VANISHING_BITS or not any(figure.within for figure in _numbers(best))
                ):
                    break
            bits *= 4
        return _found(best, reason)

    def _unproven(self, key: str, x: Any) -> bool:
        if x.a.is_exact() or x.a.rel_accuracy_bits() >= self.digits * 3.33 + 8:
            return False
        return key in INPUT_FIELDS or not (x.a.contains(0) and x.a.abs_upper() < 1)

    def _proven(self, key: str, x: Any) -> Figure:
        if x.a.is_zero():
            return Figure("0", 0.0)
        if x.a.contains(0):
            return Figure("0", 0.0, str(x.a.abs_upper().str(2, radius=False)))
        return Figure(str(x.a.str(self.digits, radius=False)), finite_or_none(float(x)))

    def _value(self, m: NumberType, name: str, typed: float | str) -> Number:
        if self.name == "double":
            return m.number(number_or_quantity(typed, name))
        return number_as_typed(m, name, typed)


def number_as_typed(m: NumberType, name: str, typed: float | str) -> Number:
    """Return what was typed for a name in a type that reads decimals; a float is its shortest
    decimal.
    """
    # a value that was computed, as one of a fit, has an empty text
    text = typed if isinstance(typed, str) else getattr(typed, "source", None) or None
    if text is None:
        return m.literal(repr(float(number_or_quantity(typed, name))))
    from ..engine.graphs.value_and_gradient import evaluate_in

    program = parse(text)
    try:
        check_single(program)
        (value,) = evaluate_in(m, program.graph, {}).values
    except Diagnosed as error:
        error.text = text
        raise
    return value


def convert_numbers(
    results: dict[str, Any], convert: Callable[[str, Number], Any]
) -> dict[str, Any]:
    """Convert every number of a tree."""

    def item(key: str, x: Any) -> Any:
        if isinstance(x, dict):
            return {name: item(key, element) for name, element in x.items()}
        if isinstance(x, list):
            return [item(key, element) for element in x]
        return x if isinstance(x, bool) or x is None else convert(key, x)

    return {key: item(key, x) for key, x in results.items()}


def _numbers(results: Any) -> Iterator[Any]:
    if isinstance(results, (dict, list)):
        for item in results.values() if isinstance(results, dict) else results:
            yield from _numbers(item)
    elif not isinstance(results, bool) and results is not None:
        yield results


def _with_answer(diagnostic: Diagnostic, numbers: dict[str, Any] | None) -> Diagnostic:
    """Return the diagnostic of doubles with the answer of more digits, if there is one, in its
    hint.
    """
    if numbers is None:
        return diagnostic
    named = [("the value is", numbers["value"])] if "value" in numbers else []
    named += [
        (f"the derivative by `{name}` is", x) for name, x in numbers.get("gradient", {}).items()
    ]
    answer = ", ".join(f"{words} {x:.6g}" for words, x in named[:MAX_NAMED]) or "there is an answer"
    return diagnostic._replace(hint=f"{WITH_MORE_DIGITS}, {answer}")


def _double(_: str, x: Number) -> float:
    return float(x) + 0.0


def _agree(typed: Number, coarse: Number, x: Number, *, may_vanish: bool) -> bool:
    """Return whether more digits leave a double, and decimals as typed six digits of it."""
    near = float(x)
    if abs(x) <= 1e-25 * abs(coarse):
        return may_vanish and not near and not float(typed)
    is_double = near != 0 and math.isfinite(near)
    return is_double and float(coarse) == near and bool(abs(typed - x) <= 1e-6 * abs(x))


def _vanishes(x: Any) -> bool:
    return bool(x.abs_upper() < 1 and x.correct_digits(1) < 1)


def _ends_search(error: Diagnosed, so_far: object) -> bool:
    """Return whether more digits are not to be tried, as they take too much work; raise an error
    that they keep.
    """
    if isinstance(error, BudgetExceeded) and so_far:
        return True
    if error.kind != UNDECIDED:
        raise error
    return False


def _found(best: dict[str, Any] | None, reason: ExpressionError | None) -> dict[str, Any]:
    if best is None:
        assert reason is not None
        raise reason
    return best


def _not_proven(x: Any) -> ExpressionError:
    message = f"the digits of a result near {x} need more bits than are allowed"
    if x.a.contains(0):
        message = f"the result is {x}, and may be 0: no digit of it can be proven"
    hint = "move the point, or use `--exact` or `--precision` instead"
    return ExpressionError("domain", message, None, hint)


def _undecided(error: Diagnosed, precision: str) -> ExpressionError:
    message = f"{error}, even with {precision}: no digit can be proven here"
    reason = ExpressionError("domain", message, error.span, error.hint)
    reason.text = error.text
    return reason


def nearest_double(x: Any) -> float | None:
    """Return the double nearest to a fraction; None on overflow."""
    try:
        return finite_or_none(float(x.numerator / x.denominator))
    except OverflowError:
        return None


def finite_or_none(x: float) -> float | None:
    """Return the double, None if it is infinite."""
    return x + 0.0 if math.isfinite(x) else None


DOUBLE, AS_TYPED = Arithmetic(), Arithmetic("decimals")


def arithmetic_of(exact: bool, precision: int | None, certified: bool) -> Arithmetic:
    """Return the arithmetic that the options select."""
    if exact:
        return Arithmetic("exact")
    if certified:
        return Arithmetic("certified", precision or CERTIFIED_DIGITS)
    return DOUBLE if precision is None else Arithmetic("precision", precision)


def kink_warnings(arithmetic: Arithmetic, kinks: Iterable[Breakpoint]) -> list[Diagnostic]:
    """Return a warning for each kink. Raises `ExpressionError` for one with `--certified`."""
    met = list(kinks)
    warnings = [kink.warning() for kink in met]
    if warnings and arithmetic.name == "certified":
        first = warnings[0]
        what = "a derivative" if met[0].primitive.gives_condition else "one"
        hint = "move the point, or leave `--certified` out for the conventional derivative"
        message = f"{first.message}, so no digit of {what} can be proven"
        raise ExpressionError("derivative", message, first.span, hint)
    return warnings
