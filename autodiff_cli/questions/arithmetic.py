"""Arithmetics: doubles, exact fractions, any number of digits, proven digits; and how a computation is done in one.

A method hands its computation to `Arithmetic.run`, which calls it with the number type, once or, for proven digits,
with more and more bits until they suffice. Numbers of the other arithmetics come back as a `Figure`: all digits as
text, and the nearest double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import Diagnostic, ExpressionError
from ..graph.sweep_in import tape_in
from ..graph.value import Value, kink_warning, located
from ..numbers.base import Number, NumberType, Refusal
from ..numbers.floats import REAL
from ..run.sweep import Fault, forward
from .figures import Figure
from .figures import Shown as Shown
from .problem import as_number, parse, single_output

MAX_DIGITS = 10_000
CERTIFIED_DIGITS = 17
MOST_BITS = 1 << 17
GUARD = 10
"""Further digits with which `--precision` computes."""


Values = dict[str, Number]


class Arithmetic(NamedTuple):
    """Which numbers a computation is done in: `double`, `exact`, `precision` or `certified`, with so many digits."""

    name: str = "double"
    digits: int = CERTIFIED_DIGITS

    def run(
        self, point: Mapping[str, float | str], work: Callable[[NumberType, Values], dict[str, Any]]
    ) -> dict[str, Any]:
        """What the work gives in this arithmetic: numbers in lists and dictionaries, as they are shown.

        `work` gets the number type and the point in it. Raises `ExpressionError`.
        """
        if self.name == "certified":
            return self._certified(point, work)
        m = self._type()
        values = {name: self._value(m, name, given) for name, given in point.items()}
        return {key: self._shown(m, found) for key, found in work(m, values).items()}

    def _type(self) -> NumberType:
        if self.name == "exact":
            from ..numbers.exact import Exact

            return Exact()
        if self.name == "precision":
            from ..numbers.multiprecision import Multiprecision

            return Multiprecision(self.digits + GUARD, decimals=True)
        return REAL

    def _certified(
        self, point: Mapping[str, float | str], work: Callable[[NumberType, Values], dict[str, Any]]
    ) -> dict[str, Any]:
        try:
            from ..numbers.ball import UNDECIDED, Balls
        except ImportError:
            raise ExpressionError(
                "usage", "`--certified` needs python-flint, which is not installed",
                hint="`pip install 'autodiff-cli[certified]'`, or use `--precision 50`, which proves nothing",
            ) from None  # fmt: skip
        bits = int(self.digits * 3.33) + 64
        while True:
            m = Balls(bits)
            reason: ExpressionError
            try:
                values = {name: self._value(m, name, given) for name, given in point.items()}
                found = work(m, values)
                return {key: self._shown(m, item) for key, item in found.items()}
            except _Unproven as unproven:
                reason = ExpressionError(
                    "domain", str(unproven), None, "move the point, or use `--exact` or `--precision` instead"
                )
            except (ExpressionError, Refusal) as refused:
                error = refused if isinstance(refused, ExpressionError) else _unplaced(refused)
                if error.kind != UNDECIDED:
                    raise error from None
                message = f"{error}, even with {bits:,} bits: no digit can be proven here"
                reason = ExpressionError("domain", message, error.span, error.hint)
                reason.text = error.text
            bits *= 4
            if bits > max(MOST_BITS, int(self.digits * 16)):
                raise reason

    def _value(self, m: NumberType, name: str, given: float | str) -> Number:
        """The number that a point gives to a name: read as decimals, but by doubles."""
        text = given if isinstance(given, str) else getattr(given, "source", None)
        if self.name == "double" or text is None:
            return m.number(as_number(given, name))
        program = parse(text)
        nodes, tape = tape_in(m, single_output(program), {})
        try:
            forward(tape, m, (len(nodes) - 1,))
        except Fault as fault:
            error = located(fault, nodes, tape)
            error.text = text
            raise error from None
        except ExpressionError as error:
            error.text = text
            raise
        return tape.data[-1]

    def _shown(self, m: NumberType, found: Any) -> Any:
        if isinstance(found, dict):
            return {key: self._shown(m, item) for key, item in found.items()}
        if isinstance(found, list):
            return [self._shown(m, item) for item in found]
        if isinstance(found, bool) or found is None:
            return found
        if self.name == "double":
            return float(found) + 0.0
        return self._figure(m, m.number(found))

    def _figure(self, m: Any, x: Any) -> Figure:
        if self.name == "exact":
            return Figure(str(x), nearest(x))
        if self.name == "precision":
            text = m.context.nstr(x, self.digits, min_fixed=-5)
            return Figure(text.removesuffix(".0"), within_doubles(float(x)))
        if x.a.is_zero():
            return Figure("0", 0.0)
        if x.a.rel_accuracy_bits() < self.digits * 3.33 + 8:
            if x.a.is_exact():
                return Figure(str(x.a.str(self.digits, radius=False)), within_doubles(float(x)))
            raise _Unproven(
                f"the result is {x}, and may be 0: no digit of it can be proven"
                if x.a.contains(0)
                else f"the digits of a result near {x} need more bits than there are"
            )
        text = str(x.a.str(self.digits, radius=False))
        return Figure(text, within_doubles(float(x)))


def _unplaced(refusal: Refusal) -> ExpressionError:
    """The error of what was refused between the operations, such as a comparison of adjoints."""
    return ExpressionError(refusal.kind, refusal.message, None, refusal.hint)


class _Unproven(Exception):
    """A number of which too few digits are proven yet."""


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
    """The arithmetic that the options ask for. Raises a usage error where they contradict each other."""
    if exact and (precision is not None or certified):
        raise ExpressionError(
            "usage", "`--exact` does not go together with `--precision` or `--certified`",
            hint="exact fractions have all their digits: leave the other option out",
        )  # fmt: skip
    if exact:
        return Arithmetic("exact")
    if certified:
        return Arithmetic("certified", precision or CERTIFIED_DIGITS)
    return DOUBLE if precision is None else Arithmetic("precision", precision)


def kink_warnings(arithmetic: Arithmetic, kinks: Iterable[tuple[Value, list[Number]]]) -> list[Diagnostic]:
    """A warning for each kink. Raises `ExpressionError` where digits are to be proven: there are none."""
    found = [kink_warning(node, inputs) for node, inputs in kinks]
    if found and arithmetic.name == "certified":
        first = found[0]
        raise ExpressionError(
            "derivative", f"{first.message}, so no digit of one can be proven", first.span,
            "move the point, or leave `--certified` out for the conventional derivative",
        )  # fmt: skip
    return found
