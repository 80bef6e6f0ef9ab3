"""Marking of answers to exercises as functions or numbers, not as text.

A formula is right if it agrees with the program's derivative at all points where that exists. It is
proven if their difference simplifies to 0. Numbers are compared as fractions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any, NamedTuple

from ...engine.algebra.rational_functions import vanishes
from ...engine.algebra.simplify import simplify
from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in, value_and_gradient, value_in
from ...engine.numbers.base import NumberType, Refusal
from ...engine.numbers.budget import Defined
from ...engine.numbers.exact import Exact
from ...engine.numbers.floats import REAL
from ...engine.table.operators import ADD, CONSTANT, DIV, EQ, MUL, NE, NEG, POW, SUB
from ...errors import (
    ExpressionError,
    Offer,
    limit_error,
    plural,
    point_error,
    quote,
    usage_error,
)
from ...language.builder import Program
from ...language.diagnostics.leniency import read_leniently
from ...language.printer import expression_text
from ...operating_system import quoted
from ...questions.parse_point import pieces
from ...questions.problem import Point, parse, single_output
from ..formulas.derivation import derivative_name
from .exercise import Exercise, Marked

# A derivative: its unknown, empty for a program, and its variables.
Key = tuple[str, tuple[str, ...]]

SUPERSCRIPTS = str.maketrans("²³⁴⁵⁶⁷⁸⁹", "23456789")

_EQUALS = re.compile(r"(?<![=!<>])=(?!=)|:(?!=)")
_GRADIENT = re.compile(r"\s*(?:∇|grad\b|gradient\b)\s*(?:[^\W\d]\w*\s*)?(?:\([\w\s,]*\)\s*)?[=:]")
_NUMERATOR = re.compile(r"[d∂]\s*\^?\s*(\d*)\s*([^\W\d]\w*)?(?:\([\w\s,]*\))?")
_SUBSCRIPT = re.compile(r"([^\W\d_]\w*?)_\{?([\w\s,]+)\}?(?:\([\w\s,]*\))?")
_PRIMED = re.compile(r"([^\W\d]\w*)\s*(['′’]+|[\"″”])\s*(?:\([\w\s,]*\))?")
_LABEL = re.compile(r"[/'′’″∂∇]|^d\d?\b")
_BRACKETS = {"(": ")", "[": "]", "⟨": "⟩", "<": ">"}
_SEPARATORS = re.compile(r"[;\n]|\band\b")

# Digits of the first and, if undecided, the second comparison.
COMPARISON_DIGITS, MORE_DIGITS = 100, 300
AGREED_DIGITS = 80
# Digits by which noise shrinks from `COMPARISON_DIGITS` to `MORE_DIGITS`, at least.
SHRUNK_DIGITS = 150
NEAR_TENTHS = (
    3,
    -7,
    11,
    -13,
    17,
    23,
    -3,
    7,
    -17,
    13,
    29,
    -11,
    19,
    1,
    -23,
    31,
    9,
    -1,
    21,
    -19,
    27,
    -9,
    14,
    -21,
)
FAR_TENTHS = (43, -57, 61, -89, 97, -141, 153, 337, -473, 1210, -1330, 47)
SIDES = (Fraction(1), Fraction(-1))

# Literals with points beside them, breakpoints, and found regions.
MAX_LITERALS, MAX_BREAKPOINTS, MAX_REGIONS = 12, 40, 24
# Points of several variables in the search for regions.
SEARCHED_POINTS = 500
# Further points, with numbers up to 3 and up to 1, for small domains.
POINTS_NEAR_ZERO = 300
# The fewest points at which two formulas have to agree.
MIN_DECIDED_POINTS = 36
# The distance of points beside one where an answer has no value.
GAP = Fraction(1, 10_000)
# The most points at which the effect of a mistake is computed.
HINT_POINTS = 6
NEAR_RELATIVE = Fraction(1, 100)
MAX_SHOWN_LENGTH = 20  # of a fraction
# The longest answer that is read: patterns and lenient reading look at its parts many times.
MAX_ANSWER_CHARACTERS = 10_000
MIN_ROUNDED_DIGITS = 3
# Nodes of a function to search for mistakes.
MAX_PARTS = 60
SIGN = "only the sign is wrong"

_DECIMAL = re.compile(r"\s*[-+]?\d*\.(\d+)\s*")


class ComparedPoint(NamedTuple):
    """The right and the answered number at a point; None if undefined."""

    right: Any
    answered: Any
    at: Mapping[str, Any]
    value: Any = None
    """The value of the differentiated function."""
    agrees: bool = False


def require_length(answer: str) -> None:
    """Raise a limit error if an answer is too long to be read."""
    if len(answer) > MAX_ANSWER_CHARACTERS:
        message = (
            f"the answer has {len(answer)} characters, and at most {MAX_ANSWER_CHARACTERS} are read"
        )
        raise limit_error(message, "write a shorter formula")


# Two numbers to compare; None if the first is undefined.
Values = Callable[[NumberType], "tuple[Any, Any] | ComparedPoint | None"]


def many_digits(digits: int = COMPARISON_DIGITS) -> NumberType:
    """Return the arithmetic of comparisons."""
    from ...engine.numbers.multiprecision import Multiprecision

    return Multiprecision(digits, decimals=True)


def as_number(m: NumberType, x: Any) -> Any:
    """Convert a fraction to an arithmetic; return other numbers unchanged."""
    return m.number(x.numerator) / m.number(x.denominator) if isinstance(x, Fraction) else x


class OutOfRange(Exception):
    """A value is beyond the range of the arithmetic."""


def value_at(m: NumberType, function: Value, numbers: Mapping[str, Any]) -> Any:
    """Return a value, None if undefined. Raises `OutOfRange` if too large or small."""
    try:
        (value,) = evaluate_in(m, function, numbers).values
    except ExpressionError as error:
        if error.kind in ("overflow", "limit") or getattr(m, "underflowed", False):
            raise OutOfRange from None
        return None
    if getattr(m, "underflowed", False):
        raise OutOfRange
    return value


def agree(a: Any, b: Any) -> bool:
    """Return whether two numbers agree to `AGREED_DIGITS` digits."""
    if a is None or b is None:
        return False
    return bool(abs(a - b) * 10**AGREED_DIGITS <= max(abs(a), abs(b)))


def equals(answered: Any, right: Fraction, noise: Fraction = Fraction(0)) -> bool:
    """Return whether an answered number is right, up to noise and rounding errors."""
    if isinstance(answered, Fraction):
        return abs(answered - right) <= noise
    m = many_digits()
    wanted = as_number(m, right)
    # digits of 0 are rounding errors
    rounding = max(noise, Fraction(1, 10**AGREED_DIGITS) if right == 0 else noise)
    return agree(answered, wanted) or bool(abs(answered - wanted) <= as_number(m, rounding))


def are_equal(values: Values) -> bool | None:
    """Return whether two numbers are equal; None if undecided.

    A difference that shrinks with more digits is a rounding error; one that stays is real.
    """
    differences: list[tuple[Any, Any]] = []
    for digits in (COMPARISON_DIGITS, MORE_DIGITS):
        try:
            pair = values(many_digits(digits))
        except OutOfRange:
            return None
        if pair is None or pair[0] is None:
            return None
        a, b = pair[:2]
        if b is None:
            return False
        difference, size = abs(a - b), max(abs(a), abs(b))
        if difference * 10**AGREED_DIGITS <= size:
            return True
        differences.append((difference, size))
    (first, _), (second, size) = differences
    if second * 10**SHRUNK_DIGITS <= first:
        return True if second * 10**AGREED_DIGITS <= max(size, 1) else None
    # numbers below all rounding errors are undecided
    return None if second * 10 ** (MORE_DIGITS - 50) < 1 and size < 1 else False


def points(
    functions: Sequence[Value], names: Sequence[str]
) -> tuple[list[dict[str, Fraction]], list[dict[str, Fraction]]]:
    """Return points at which to compare functions, and further ones if these are too few.

    >>> from autodiff_cli.questions.problem import parse
    >>> chosen, _ = points(parse("relu(x - 1000)").outputs, ["x"])
    >>> any(at["x"] > 1000 for at in chosen)
    True
    """
    numbers = {
        abs(Fraction(v.data))
        for v in in_order(functions)
        if v.primitive is CONSTANT and v.data is not None
    }
    literals = sorted(x for x in numbers if x < 10**12)
    beside = [c + side * max(c, Fraction(1)) / 7 for c in literals[:MAX_LITERALS] for side in SIDES]
    tenths = ([Fraction(x, 10) for x in row] for row in (NEAR_TENTHS, FAR_TENTHS))
    chosen: list[dict[str, Fraction]] = [
        # every variable has these numbers, in another order
        {name: row[(k * (2 * j + 1) + 5 * j) % len(row)] for j, name in enumerate(names)}
        for row in (*tenths, beside)
        for k in range(len(row))
    ]
    guards = _guards(functions)
    chosen += _at_breakpoints(guards, chosen[:2])
    regions = {_signs(guards, at) for at in chosen}
    most, further = len(regions) + MAX_REGIONS, []
    for at in _search(literals, names):
        signs = _signs(guards, at)
        if signs not in regions and len(regions) < most:
            regions.add(signs)
            chosen.append(at)
        else:
            further.append(at)
    return chosen, further


def _search(literals: Sequence[Fraction], names: Sequence[str]) -> Iterator[dict[str, Fraction]]:
    numbers = {
        sign * Fraction(x, 10) * Fraction(10) ** k
        for k in range(-3, 7)
        for x in (11, 17, 29, 53)
        for sign in SIDES
    }
    for low, high in pairwise([Fraction(0), *literals]):
        numbers |= {(low + high) / 2, -(low + high) / 2}
    for c in literals:
        numbers |= {
            sign * (c + side * max(c, Fraction(1)) / 1000) for side in SIDES for sign in SIDES
        }
    ordered = sorted(numbers, key=lambda x: (abs(x), x))
    draw = random.Random(1)
    if len(names) == 1:
        yield from ({names[0]: x} for x in ordered)
    else:
        for _ in range(SEARCHED_POINTS):
            yield {name: draw.choice(ordered) for name in names}
    for k in range(POINTS_NEAR_ZERO):
        most = (2999, 990)[k % 2]
        yield {name: Fraction(draw.randint(-most, most), 997) for name in names}


def _at_breakpoints(
    guards: Sequence[Value], bases: Sequence[dict[str, Fraction]]
) -> Iterator[dict[str, Fraction]]:
    """Yield points where a guard that is linear in a variable is 0."""
    for guard, base in product(guards, bases):
        for name in base:
            first, second = (_exact_value(guard, {**base, name: Fraction(x)}) for x in (0, 1))
            if first is None or second is None or first == second:
                continue
            at = {**base, name: first / (first - second)}
            if _exact_value(guard, at) == 0:
                yield at


def _exact_value(function: Value, at: Mapping[str, Any]) -> Fraction | None:
    """Return a value as a fraction; None if it is none."""
    with suppress(Refusal, ExpressionError, ArithmeticError, ValueError):
        value = value_in(Exact(), function, at)
        return value if isinstance(value, Fraction) else None
    return None


def _guards(functions: Sequence[Value]) -> list[Value]:
    guards: list[Value] = []
    for v in in_order(functions):
        if v.primitive.kink is not None or v.primitive.gives_condition:
            inputs = [p for p in v._prev if not p.primitive.gives_condition]
            guards += [node(SUB, pair) for pair in pairwise(inputs)] if len(inputs) > 1 else inputs
    return guards[:MAX_BREAKPOINTS]


def _signs(guards: Sequence[Value], at: dict[str, Fraction]) -> tuple[int | None, ...]:
    numbers = {name: float(x) for name, x in at.items()}
    signs: list[int | None] = []
    for guard in guards:
        value = None
        with suppress(ExpressionError, ArithmeticError, ValueError):
            value = value_in(REAL, guard, numbers)
        signs.append(None if value is None else (value > 0) - (value < 0))
    return tuple(signs)


class AnswerEntry(NamedTuple):
    """An entry of an answer: the derivative if named, and its place."""

    key: Key | None
    start: int
    end: int


def entries(answer: str, wanted: Sequence[Key], names: Sequence[str]) -> list[AnswerEntry]:
    """Return the entries of an answer for the wanted derivatives, each at most once.

    >>> [(entry.key, entry.start) for entry in entries("d/dy = x, d/dx = 1", [("", ("x",)), ("", ("y",))], ["x", "y"])]
    [(('', ('y',)), 6), (('', ('x',)), 16)]
    """
    entries = [
        _entry(answer, start, end, wanted, names) for start, end in parts(answer, len(wanted))
    ]
    labels = [entry.key for entry in entries if entry.key is not None]
    if not labels and len(entries) == len(wanted):
        return [entry._replace(key=key) for entry, key in zip(entries, wanted, strict=True)]
    if len(labels) < len(entries):
        asked = ", ".join(f"{derivative_name(by, of)} = …" for of, by in wanted)
        message = (
            f"the answer has {plural(len(entries), 'formula')}, and {len(wanted)} derivatives are"
            " asked for"
        )
        message = "some of these formulas have no name" if labels else message
        raise usage_error(message, f"write `--answer {quoted(asked)}`")
    for key in labels:
        if labels.count(key) > 1:
            hint = "leave one of them out"
            raise usage_error(f"the answer has `{derivative_name(key[1], key[0])}` twice", hint)
    return entries


def parts(answer: str, count: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the parts of an answer of so many: `2, 6`, `(2, 6)`, `∇f = [2, 6]`."""
    head = _GRADIENT.match(answer)
    start, end = head.end() if head else 0, len(answer)
    inner = answer[start:end]
    begun, ended = len(inner) - len(inner.lstrip()), len(inner.rstrip())
    inside = inner[begun + 1 : ended - 1]
    if count > 1 and _BRACKETS.get(inner[begun : begun + 1]) == inner[ended - 1 : ended]:
        listed = list(pieces(inside.replace("[", "(").replace("]", ")")))
        if len(listed) == count or (head and len(listed) > 1):
            yield from ((start + begun + 1 + a, start + begun + 1 + b) for a, b in listed)
            return
    if count == 1:
        yield start, end
        return
    # lines and semicolons separate named entries; else they are a program's
    marks = [mark.span() for mark in _SEPARATORS.finditer(inner)]
    edges = [
        (a, b) for (_, a), (b, _) in zip([(0, 0), *marks], [*marks, (len(inner), 0)], strict=True)
    ]
    if not all(_EQUALS.search(inner, a, b) for a, b in edges):
        edges = [(0, len(inner))]
    for a, b in edges:
        for first, last in pieces(inner[a:b]):
            if inner[a + first : a + last].strip():
                yield start + a + first, start + a + last


def _entry(
    answer: str, start: int, end: int, wanted: Sequence[Key], names: Sequence[str]
) -> AnswerEntry:
    sign = _EQUALS.search(answer, start, end)
    if sign is None:
        return AnswerEntry(None, start, end)
    label = answer[start : sign.start()].strip()
    unknowns = [of for of, _ in wanted if of]
    for of, by in readings(label.translate(SUPERSCRIPTS), names, wanted):
        key = next(
            (key for key in wanted if sorted(key[1]) == sorted(by) and (key[0] or of) in (of, "")),
            None,
        )
        if key is not None and (
            of == key[0] or not unknowns or (not of and len(set(unknowns)) == 1)
        ):
            return AnswerEntry(key, sign.end(), end)
    if len(wanted) == 1 and not _LABEL.search(label):
        # a program: `t = x + 1; 2*t`
        return AnswerEntry(None, start, end)
    asked = [derivative_name(by, of) for of, by in wanted]
    hint = f"they are {quote(asked)}"
    raise usage_error(f"`{label}` is not one of the derivatives that are asked for", hint)


def readings(label: str, names: Sequence[str], wanted: Sequence[Key]) -> Iterator[Key]:
    """Yield the derivatives that a label may name: `d/dx`, `∂f/∂x`, `f_x`, `f'`."""
    choices = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    above, slash, below = label.partition("/")
    if slash:
        top = _NUMERATOR.fullmatch(above.strip())
        parts = list(re.finditer(rf"\s*[d∂]\s*({choices})\s*(?:\^?\s*\{{?(\d)\}}?)?[\s*]*", below))
        if top and parts and "".join(part[0] for part in parts) == below:
            yield (
                top[2] or "",
                tuple(name for part in parts for name in [part[1]] * int(part[2] or 1)),
            )
        return
    subscript = _SUBSCRIPT.fullmatch(label)
    if subscript:
        by = re.findall(choices, subscript[2])
        if "".join(by) == re.sub(r"[\s,]", "", subscript[2]):
            yield subscript[1], tuple(by)
    prime = _PRIMED.fullmatch(label)
    if prime:
        count = 2 if prime[2] in '"″”' else len(prime[2])
        variables = {name for _, by in wanted for name in by}
        yield from ((prime[1], (name,) * count) for name in variables if len(variables) == 1)
    if len(wanted) > 1:
        yield "", (label,)


# What each kind asks for; other kinds ask for the derivative.
ANSWER_NAMES = {
    "tangent": "the line",
    "second": "the second derivative",
    "solution": "the solution",
}


def own_exercise(
    kind: str,
    program: str,
    answer: Sequence[str],
    wrt: Sequence[str] = (),
    point: Point | None = None,
) -> Exercise:
    """Return a question and its answer as an exercise."""
    at = {name: str(x) for name, x in (point or {}).items()}
    return Exercise(kind, program, at, tuple(wrt), task="Differentiate {f}.", answer=tuple(answer))


class FormulaAnswer:
    """The formula of an answer, compared with the right one at points."""

    where, instead = "", "check it by `check`"
    undefined = "write it so that it has a value where the function has a derivative"
    least = MIN_DECIDED_POINTS
    """The fewest points at which a right answer has to agree."""
    partly = (
        "it is right at other points, so it holds only on a part of the domain: check signs and"
        " cases"
    )

    def __init__(
        self,
        posed: Exercise,
        answer: str,
        entry: AnswerEntry | None = None,
        program: Program | None = None,
    ) -> None:
        self.posed, self.program, self.answer = posed, program or parse(posed.program), answer
        self.leaves = self.program.variables
        typed, self.note = read_formula(answer, self.leaves, entry)
        self.typed, self.right = (
            substitute(
                formula, lambda v: self.leaves.get(v.label) if not v._prev and v.label else None
            )
            for formula in (typed, *parse(posed.answer[0]).outputs)
        )
        self.places: list[ComparedPoint] = []

    def points(self) -> Iterator[Mapping[str, Any]]:
        """Yield points; further ones if too few have a derivative."""
        chosen, further = points([*self.program.outputs, self.typed, self.right], list(self.leaves))
        yield from chosen
        for at in further:
            if len(self.places) >= self.least:
                return
            yield at

    def compare_at(self, m: NumberType, at: Mapping[str, Any]) -> ComparedPoint | None:
        """Evaluate both formulas at a point; None without a derivative, or at a gap in the
        answer.
        """
        place = self._values_at(m, at)
        return None if place and place.answered is None and self._is_gap(m, at) else place

    def _is_gap(self, m: NumberType, at: Mapping[str, Any]) -> bool:
        """Return whether beside a point the answer has a value wherever the derivative has one."""
        # no two variables move alike, so that also `x - y` moves
        shifts = {name: GAP * Fraction(7 + k, 7) for k, name in enumerate(at)}
        beside = [
            self._values_at(m, {name: x + side * shifts[name] for name, x in at.items()})
            for side in SIDES
        ]
        defined = [place for place in beside if place is not None]
        return bool(defined) and all(place.answered is not None for place in defined)

    def _values_at(self, m: NumberType, at: Mapping[str, Any]) -> ComparedPoint | None:
        numbers, by = {name: as_number(m, x) for name, x in at.items()}, self.posed.wrt[0]
        try:
            swept = value_and_gradient(m, self.program.outputs[0], numbers, [by])
        except ExpressionError:
            return None
        slope = (
            swept.gradient[by]
            if self.posed.kind == "derivative"
            else value_at(m, self.right, numbers)
        )
        if slope is None or swept.kinks:
            return None
        return ComparedPoint(slope, value_at(m, self.typed, numbers), at, swept.value)

    def _compare(self, at: Mapping[str, Any]) -> ComparedPoint | None:
        first: list[ComparedPoint | None] = []

        def both(m: NumberType) -> ComparedPoint | None:
            first.append(self.compare_at(m, at))
            return first[-1]

        decided = are_equal(both)
        return None if decided is None or first[0] is None else first[0]._replace(agrees=decided)

    def mark(self) -> Marked:
        """Compare the formulas at all points. Raises `ExpressionError`."""
        for at in self.points():
            self.places += filter(None, [self._compare(at)])
        count, what = len(self.places), ANSWER_NAMES.get(self.posed.kind, "the derivative")
        for place in self.places:
            if not place.agrees:
                where = ", ".join(
                    f"{x} = {y if isinstance(y, Fraction) else six_digits(y)}"
                    for x, y in place.at.items()
                )
                right, answered = distinguishable(place.right, place.answered)
                other = (
                    "the answer has no value"
                    if place.answered is None
                    else f"the answer is {answered}"
                )
                message = f"wrong: at `{where}` {what} is {right}, and {other}{self.note}"
                # wrong points first: at right ones mistakes without effect would match
                there = sorted(
                    [x for x in self.places if x.answered is not None], key=lambda x: x.agrees
                )
                is_off = there and not there[0].agrees
                hint = next(filter(None, self.hints(there))) if is_off else self.undefined
                return Marked(self.posed, self.answer, False, message, hint, "points", count)
        message, how = self.agreement_message(what)
        reason = self._undecided() if how == "points" or not count else ""
        if reason:
            raise limit_error(
                f"it is undecided whether the answer is right: {reason}", self.instead
            )
        return Marked(self.posed, self.answer, True, f"right: {message}{self.note}", "", how, count)

    def _undecided(self) -> str:
        """Return why agreement at the points is not enough; empty if it is."""
        count = len(self.places)
        if count < self.least:
            return (
                f"it could be compared at {plural(count, 'point')} {self.where}and not at"
                f" {self.least}"
            )
        own = {
            expression_text(v) for v in in_order(self.program.outputs) if v.primitive in (EQ, NE)
        }
        for v in in_order((self.typed,)):
            if v.primitive in (EQ, NE) and expression_text(v) not in own:
                difference = node(SUB, v._prev)
                if not any(_exact_value(difference, place.at) == 0 for place in self.places):
                    return (
                        f"it was not compared where both sides of `{expression_text(v)}` are equal"
                    )
        return ""

    def agreement_message(self, what: str) -> tuple[str, str]:
        """Return a message of agreement, and the method: `simplified` or `points`."""
        difference = node(SUB, (self.typed, self.right))
        (rest,) = simplify((difference,))
        if (rest.primitive is CONSTANT and rest.data == 0) or vanishes(difference):
            return "its difference from the answer simplifies to 0", "simplified"
        points = f"{len(self.places)} points {self.where}".rstrip()
        return (
            f"it agrees with {what} to {AGREED_DIGITS} digits at {points}, which is not a proof",
            "points",
        )

    def hints(self, there: Sequence[ComparedPoint]) -> Iterator[str]:
        """Yield likely mistakes or empty strings, and a command that shows the steps."""
        posed, first, m = self.posed, there[0], many_digits()
        numbers = [
            {name: as_number(m, x) for name, x in place.at.items()} for place in there[:HINT_POINTS]
        ]
        if all(agree(p.answered, p.value) for p in there):
            yield "that is the function itself, not its derivative"
        if all(agree(p.answered, -p.right) for p in there):
            yield SIGN
        if posed.kind == "derivative":
            yield self._missed_rule(m, there, numbers)
        off = first.answered - first.right
        if all(agree(p.answered - p.right, off) for p in there):
            yield (
                f"it is off by {six_digits(off)} everywhere: look at the terms without the variable"
            )
        with Defined(ArithmeticError, ValueError):
            slopes = (
                _derivatives(m, self.typed, posed.wrt[0], numbers)
                if posed.kind == "derivative"
                else []
            )
            if slopes and all(
                agree(x.slope, place.value) for x, place in zip(slopes, there, strict=False)
            ):
                yield "that is an antiderivative: the function was integrated, not differentiated"
        yield constant_factor(there)
        if sum(p.agrees for p in self.places) >= len(self.places) / 10:
            yield self.partly
        if posed.kind == "tangent":
            yield "it goes through the value at the point, and has the slope there"
        order = " --order 2" if posed.kind == "second" else ""
        by = f" --wrt {posed.wrt[0]}" if len(self.leaves) > 1 else ""
        yield f'see it worked: `autodiff diff "{posed.program}"{by}{order} --steps`'

    def _missed_rule(
        self, m: NumberType, there: Sequence[ComparedPoint], points: Sequence[dict[str, Any]]
    ) -> str:
        by, (output,) = self.posed.wrt[0], self.program.outputs
        parts = [
            part
            for part in reversed(in_order((output,)))
            if part._prev and not part.primitive.gives_condition
        ]
        if len(parts) > MAX_PARTS:
            return ""
        # outermost first, sums last: a plain term may hide a missing chain rule
        for part in sorted(parts, key=lambda part: part.primitive in (ADD, SUB)):
            with Defined(ArithmeticError, ValueError):
                own = _derivatives(m, part, by, points)
                inner = [
                    *zip(
                        *(_derivatives(m, operand, by, points) for operand in part._prev),
                        strict=True,
                    )
                ]
                around = substitute(output, {part: variable("part")}.get)
                inside = [
                    {**numbers, "part": x.value} for numbers, x in zip(points, own, strict=True)
                ]
                weights = _derivatives(m, around, "part", inside)
                varies = [any(x.slope for x in operand) for operand in zip(*inner, strict=True)]
                for message, mistaken in _mistakes(part, product=all(varies)):
                    slopes = [mistaken(inputs, x) for inputs, x in zip(inner, own, strict=True)]
                    if all(
                        slope is not None
                        and agree(place.answered, place.right + weight.slope * (slope - x.slope))
                        for place, slope, x, weight in zip(
                            there, slopes, own, weights, strict=False
                        )
                    ):
                        within = (
                            ""
                            if part is output
                            else f"in the derivative of `{expression_text(part)}`: "
                        )
                        return within + message
        return ""


def _derivatives(
    m: NumberType, value: Value, by: str, points: Sequence[Mapping[str, Any]]
) -> list[_ValueAndSlope]:
    swept = (value_and_gradient(m, value, numbers, [by]) for numbers in points)
    return [_ValueAndSlope(result.value, result.gradient[by]) for result in swept]


def constant_factor(there: Sequence[ComparedPoint]) -> str:
    """Return a hint if the answer is off by a factor, else an empty string."""
    right, answered = there[0][:2]
    if not (
        right and answered and all(agree(p.answered * right, p.right * answered) for p in there)
    ):
        return ""
    ratio, _ = distinguishable(answered / right, 1)
    return f"it is {ratio} times as large everywhere: a factor is wrong or missing"


def read_formula(
    answer: str, variables: Mapping[str, Value], entry: AnswerEntry | None = None
) -> tuple[Value, str]:
    """Return the formula of an answer or entry, and a note of corrections."""

    def read(text: str) -> Program:
        try:
            program = parse(text)
        except ExpressionError as error:
            # a variable of the exercise is no function: `x(1 - y)`
            if (
                len(error.offers) == 1
                and error.span is not None
                and text[slice(*error.span[:2])] in variables
            ):
                certain = (error.offers[0]._replace(certain=True),)
                error.diagnostic = error.diagnostic._replace(offers=certain)
            raise
        for name, leaf in program.variables.items():
            if name not in variables:
                offers: tuple[Offer, ...] = ()
                if (
                    leaf.span is not None
                    and len(name) > 1
                    and all(letter in variables for letter in name)
                ):
                    # `xy` is `x*y`, certain unless it follows `/` or `^`
                    before = text[: leaf.span.start].rstrip("0123456789. ")
                    certainly = not before.endswith(("/", "÷", "^", "**"))
                    offers = (Offer(leaf.span.start, leaf.span.end, "*".join(name), certainly),)
                message, hint = (
                    f"`{name}` is not a variable of the exercise",
                    f"its variables: {quote(variables)}",
                )
                raise ExpressionError("name", message, leaf.span, hint, offers=offers)
        return program

    text = answer if entry is None else " " * entry.start + answer[entry.start : entry.end]
    with errors_point_into(answer):
        program, reading = read_leniently(text, read)
        return single_output(program), f"; read as `{reading.text.strip()}`" if reading else ""


@contextmanager
def errors_point_into(answer: str) -> Iterator[None]:
    """Set the text of errors raised inside to the answer."""
    try:
        yield
    except ExpressionError as error:
        error.text = answer
        raise


class _ValueAndSlope(NamedTuple):
    value: Any
    slope: Any


# A message, and the wrong derivative from the inputs; None if undefined.
Mistake = tuple[str, Callable[[Sequence[_ValueAndSlope], _ValueAndSlope], Any]]


def _mistakes(part: Value, *, product: bool) -> Iterator[Mistake]:
    primitive, inputs = part.primitive, part._prev
    if primitive in (ADD, SUB):
        for k, term in enumerate(inputs):
            yield from _mistakes_in_term(
                expression_text(term), k, -1 if k and primitive is SUB else 1
            )
    if primitive is MUL and product:
        rule = "it is u′·v + u·v′"
        text = f"the derivative of a product is not the product of the derivatives: {rule}"
        yield text, lambda x, v: x[0].slope * x[1].slope
        yield f"a term of the product rule is missing: {rule}", lambda x, v: x[0].slope * x[1].value
        yield f"a term of the product rule is missing: {rule}", lambda x, v: x[0].value * x[1].slope
        yield (
            f"the product rule has a plus: {rule}",
            lambda x, v: x[0].slope * x[1].value - x[0].value * x[1].slope,
        )
    if primitive is DIV:
        rule = "it is (u′·v − u·v′)/v²"
        text = f"the derivative of a quotient is not the quotient of the derivatives: {rule}"
        yield text, lambda x, v: x[0].slope / x[1].slope if x[1].slope else None
        yield f"the denominator is missing: {rule}", lambda x, v: v.slope * x[1].value ** 2
        text = f"the quotient rule has a minus: {rule}"
        yield (
            text,
            lambda x, v: (x[0].slope * x[1].value + x[0].value * x[1].slope) / x[1].value ** 2,
        )
    if primitive is POW:
        rule = "it is n·u^(n − 1)·u′"
        yield (
            f"the exponent goes down by 1: {rule}",
            lambda x, v: None if x[1].slope else v.slope * x[0].value,
        )
        text = f"the exponent is missing as a factor: {rule}"
        yield text, lambda x, v: v.slope / x[1].value if x[1].value else None
    if primitive not in (ADD, SUB, MUL, DIV, NEG):
        for k, inside in enumerate(inputs):
            text = (
                f"the derivative of the inner function, `{expression_text(inside)}`, is missing:"
                " the chain rule"
            )
            yield text, partial(_without_inner_derivative, k)
        name = primitive.spelling or primitive.name
        yield f"the sign of the derivative of `{name}` is wrong", lambda x, v: -v.slope


def _mistakes_in_term(text: str, k: int, sign: int) -> Iterator[Mistake]:
    yield (
        f"the derivative of the term `{text}` is missing",
        lambda x, v: v.slope - sign * x[k].slope,
    )
    yield (
        f"the term `{text}` is not differentiated",
        lambda x, v: v.slope + sign * (x[k].value - x[k].slope),
    )
    yield (
        f"the sign of the derivative of `{text}` is wrong",
        lambda x, v: v.slope - 2 * sign * x[k].slope,
    )


def _without_inner_derivative(
    k: int, inputs: Sequence[_ValueAndSlope], part: _ValueAndSlope
) -> Any:
    others = any(operand.slope for j, operand in enumerate(inputs) if j != k)
    return None if others or not inputs[k].slope else part.slope / inputs[k].slope


def parse_number(text: str) -> Any:
    """Evaluate a constant expression. Raises `ExpressionError`."""
    with errors_point_into(text):
        program, _ = read_leniently(text, parse)
        for name, leaf in program.variables.items():
            raise point_error(
                f"`{name}` has no value here", "the answer is a number", span=leaf.span
            )
        output, number = single_output(program), None
        with suppress(Refusal, ExpressionError):
            number = value_in(Exact(), output, {})
        if number is None:
            number = value_in(many_digits(), output, {})
        if number is None:
            raise ExpressionError(
                "domain", f"`{text}` has no value", None, "the answer is a number"
            )
        return number


def figure(x: Any) -> Fraction:
    """Return a computed number as a fraction, with all its digits."""
    return (
        Fraction(0)
        if x is None
        else x
        if isinstance(x, Fraction)
        else Fraction(getattr(x, "text", None) or str(x))
    )


def is_rounded(text: str, number: Fraction, root: Fraction) -> bool:
    """Return whether a text is a decimal of enough digits to which the root, or its double,
    rounds.
    """
    if not has_digits(text) or _DECIMAL.fullmatch(text) is None:
        return False
    return rounds_to(text, number, root) or float(number) == float(root)


def has_digits(text: str) -> bool:
    """Return whether a decimal has enough digits to be taken for a rounded number."""
    return len(text.strip(" -+0.").replace(".", "")) >= MIN_ROUNDED_DIGITS


def rounds_to(text: str, number: Fraction, root: Fraction) -> bool:
    """Return whether a text is a decimal, of any number of digits, to which the root rounds."""
    decimal = _DECIMAL.fullmatch(text)
    return (
        decimal is not None and number != 0 and 2 * abs(root - number) * 10 ** len(decimal[1]) <= 1
    )


def six_digits(x: Any) -> str:
    """Format a number to six digits."""
    return f"{float(x):.6g}"


def distinguishable(a: Any, b: Any) -> tuple[str, str]:
    """Format two numbers so that they differ, with at least six digits."""
    if b is None:
        return six_digits(a), ""
    if (
        isinstance(a, Fraction)
        and isinstance(b, Fraction)
        and max(len(str(a)), len(str(b))) < MAX_SHOWN_LENGTH
    ):
        return str(a), str(b)
    m = many_digits()
    context, a, b = m.context, as_number(m, a), as_number(m, b)
    for digits in (6, 12, 20, 40, COMPARISON_DIGITS):
        texts = tuple(
            context.nstr(context.mpf(x), digits) if digits > 15 else f"{float(x):.{digits}g}"
            for x in (a, b)
        )
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]
