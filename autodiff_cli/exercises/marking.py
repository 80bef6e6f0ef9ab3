"""Marking: whether an answer to an exercise is right, as a function or as a number, and not as text.

A formula is right where it has a value at all points of some `PLACES` at which the derivative exists, and its
difference from it simplifies to 0, or else both agree there to `AGREED` digits, in arithmetic of `DIGITS`.
Functions made by the operations of the language that agree at so many points without being equal do not come about by
a mistake. What it is compared with is the derivative by a sweep over the program, not a formula. Numbers are compared
as fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..algebra.simplify import simplify
from ..algebra.walk import substituted
from ..errors import ExpressionError, quoted
from ..graphs.value import Value, node
from ..graphs.value_and_gradient import value_and_gradient, value_in
from ..inputs.parse_point import split
from ..inputs.problem import parse, single_output
from ..language.builder import Program
from ..language.printer import expression_text
from ..numbers.base import NumberType, Refusal
from ..numbers.exact import Exact
from ..table.operators import CONSTANT, DIV, MUL, SUB
from .exercise import COUNT, SEED, Exercise, Marked, Sheet, exercise, listed, sheet

DIGITS = 50
AGREED = 30
PLACES = 24
ENOUGH = 6
"""The fewest points at which the derivative has to exist for a decision."""

NEAR = Fraction(1, 100)
"""A number that is off by less than that of itself is told to be near."""

TENTHS = (3, -7, 11, -13, 17, 23, -3, 7, -17, 13, 29, -11, 19, 1, -23, 31, 9, -1, 21, -19, 27, -9, 14, -21)


class _Place(NamedTuple):
    """A point, and there the function, its derivative, and what was answered; None where that has no value."""

    at: dict[str, Fraction]
    value: Any
    slope: Any
    given: Any


def mark(level: int, number: int, answer: str, *, seed: int = SEED) -> Marked:
    """Whether the answer to an exercise is right, and if not, what is wrong with it.

    Raises `ExpressionError` for an answer that is no formula, or not as many numbers as are asked for.

    >>> mark(1, 1, "-11", seed=7).right
    True
    """
    posed = exercise(level, number, seed)
    return _formula(posed, answer) if posed.is_formula else _numbers(posed, answer)


def unreadable(error: ExpressionError, answer: str) -> ExpressionError:
    """The error in an answer, with its place there."""
    error.text = answer
    return error


# ---- formulas -----------------------------------------------------------------------------------------------------
def _formula(posed: Exercise, answer: str) -> Marked:
    program = parse(posed.program)
    typed = _read(answer, program)
    (expected,) = parse(posed.answer[0]).outputs
    (rest,) = simplify((node(SUB, (substituted(typed, _by_name(program)), substituted(expected, _by_name(program)))),))
    places = list(_places(posed, program, typed, expected))
    if rest.primitive is CONSTANT and rest.data == 0 and all(place.given is not None for place in places):
        message = "right: its difference from the answer simplifies to 0"
        return Marked(posed, answer, True, message, "", "simplified", len(places))
    if len(places) < ENOUGH:
        raise ExpressionError(
            "limit", "there are too few points to compare the answer at", None, "take another exercise"
        )
    what = {"tangent": "the line", "second": "the second derivative"}.get(posed.kind, "the derivative")
    for place in places:
        if not _same(place.slope, place.given):
            at = ", ".join(f"{name} = {x}" for name, x in place.at.items())
            difference = f"this is {_short(place.given)}" if place.given is not None else "this has no value"
            message = f"wrong: at `{at}` {what} is {_short(place.slope)}, and {difference}"
            return Marked(posed, answer, False, message, _hint(posed, program, places), "points", len(places))
    message = f"right: it agrees with {what} to {AGREED} digits at {len(places)} points"
    return Marked(posed, answer, True, message, "", "points", len(places))


def _read(answer: str, program: Program) -> Value:
    """The formula of an answer. Raises `ExpressionError`, which points into it."""
    try:
        read = parse(answer)
        for name, leaf in read.variables.items():
            if name not in program.variables:
                names = quoted(program.variables)
                raise ExpressionError(
                    "name", f"`{name}` is no variable of the exercise", leaf.span, f"its variables: {names}"
                )
        return single_output(read)
    except ExpressionError as error:
        raise unreadable(error, answer) from None


def _by_name(program: Program) -> Any:
    leaves = program.variables
    return lambda v: leaves.get(v.label) if not v._prev and v.label else None


def _places(posed: Exercise, program: Program, typed: Value, expected: Value) -> Iterator[_Place]:
    """The points at which the derivative exists."""
    m = _many_digits()
    names = list(program.variables)
    for k in range(PLACES):
        # each variable goes through the same numbers, in another order
        at = {name: Fraction(TENTHS[(k * (2 * j + 1) + 5 * j) % PLACES], 10) for j, name in enumerate(names)}
        numbers = {name: _as(m, x) for name, x in at.items()}
        try:
            swept = value_and_gradient(m, program.outputs[0], numbers, [posed.wrt[0]])
        except ExpressionError:
            continue
        slope = swept.gradient[posed.wrt[0]] if posed.kind == "derivative" else value_in(m, expected, numbers)
        if slope is not None and not swept.kinks:
            yield _Place(at, swept.value, slope, value_in(m, typed, numbers))


def _many_digits() -> NumberType:
    from ..numbers.multiprecision import Multiprecision

    return Multiprecision(DIGITS, decimals=True)


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers are equal, as far as the digits go."""
    if a is None or b is None:
        return False
    return bool(abs(a - b) * 10**AGREED <= max(abs(a), abs(b), 1))


def _short(x: Any) -> str:
    return f"{float(x):.6g}"


def _hint(posed: Exercise, program: Program, places: Sequence[_Place]) -> str:
    """Return the hint that names the usual mistake that leads to the answer; empty if none does."""
    there = [place for place in places if place.given is not None]
    if not there:
        return "write it so that it has a value where the function has a derivative"
    if all(_same(p.given, p.value) for p in there):
        return "that is the function itself, not its derivative"
    if all(_same(p.given, -p.slope) for p in there):
        return "everything is right but the sign"
    missed = _rule_missed(posed, program, there) if posed.kind == "derivative" else ""
    if missed:
        return missed
    first = there[0]
    if all(_same(p.given - p.slope, first.given - first.slope) for p in there):
        return f"it is off by {_short(first.given - first.slope)} everywhere: look at the terms without the variable"
    if first.slope and first.given and all(_same(p.given * first.slope, p.slope * first.given) for p in there):
        return f"it is {_short(first.given / first.slope)} times as large everywhere: a factor is wrong or missing"
    order = " --order 2" if posed.kind == "second" else ""
    by = f" --wrt {posed.wrt[0]}" if len(program.variables) > 1 else ""
    return (
        f'see it worked: `autodiff diff "{posed.program}"{by}{order} --steps`'
        if posed.kind != "tangent"
        else ("it goes through the value at the point, and has the slope there")
    )


def _rule_missed(posed: Exercise, program: Program, there: Sequence[_Place]) -> str:
    """The rule of differentiation that was not followed, if it is one of the common mistakes."""
    m, by = _many_digits(), posed.wrt[0]
    (output,) = program.outputs
    inner = output._prev

    def parts(place: _Place) -> list[tuple[Any, Any]]:
        numbers = {name: _as(m, x) for name, x in place.at.items()}
        swept = [value_and_gradient(m, part, numbers, [by]) for part in inner]
        return [(part.value, part.gradient[by]) for part in swept]

    try:
        values = [(place, parts(place)) for place in there]
    except ExpressionError:
        return ""
    if output.primitive is MUL and all(_same(p.given, u[1] * v[1]) for p, (u, v) in values):
        return "the derivative of a product is not the product of the derivatives: it is u′·v + u·v′"
    if output.primitive is DIV:
        if all(v[1] and _same(p.given, u[1] / v[1]) for p, (u, v) in values):
            return "the derivative of a quotient is not the quotient of the derivatives: it is (u′·v − u·v′)/v²"
        if all(_same(p.given, p.slope * v[0] ** 2) for p, (_, v) in values):
            return "what is below is missing: it is (u′·v − u·v′)/v²"
    moving = [k for k, part in enumerate(inner) if any(slopes[k][1] for _, slopes in values)]
    if len(moving) == 1 and output.primitive not in (MUL, DIV):
        (k,) = moving
        if all(_same(p.given * slopes[k][1], p.slope) for p, slopes in values):
            return f"the derivative of what is inside, `{expression_text(inner[k])}`, is missing: the chain rule"
    return ""


# ---- numbers ------------------------------------------------------------------------------------------------------
def _numbers(posed: Exercise, answer: str) -> Marked:
    answers = _given(posed, answer)
    wrong = [name for name, wanted in zip(posed.names, posed.answer, strict=True) if not _equal(answers[name], wanted)]
    if not wrong:
        return Marked(posed, answer, True, "right", "", "numbers", 0)
    right = [name for name in posed.names if name not in wrong]
    if posed.names == ("",):
        message = f"wrong: it is not `{answer.strip()}`"
    else:
        message = f"wrong: {listed(wrong)} {'is' if len(wrong) == 1 else 'are'} not as answered"
        message += f"; {listed(right)} {'is' if len(right) == 1 else 'are'} right" if right else ""
    return Marked(posed, answer, False, message, _number_hint(posed, answers, wrong), "numbers", 0)


def _given(posed: Exercise, answer: str) -> dict[str, Any]:
    """The numbers of an answer by name: fractions, or where they are irrational many digits."""
    texts = [text.strip() for text in split(answer)]
    asked = ", ".join(f"{name}=…" for name in posed.names) if posed.names != ("",) else "one number"
    named = [text.partition("=") for text in texts]
    if len(texts) != len(posed.names):
        message = (
            f"the answer to this exercise is {len(posed.names)} number{'s' * (len(posed.names) > 1)}, not {len(texts)}"
        )
        raise ExpressionError("usage", message, None, f"write `--answer` with {asked}")
    if all(mark for _, mark, _ in named):
        by_name = {name.strip(): text.strip() for name, _, text in named}
        if posed.names == ("",) and len(by_name) == 1:
            by_name = {"": next(iter(by_name.values()))}
    else:
        by_name = dict(zip(posed.names, texts, strict=True))
    if set(by_name) != set(posed.names):
        raise ExpressionError("usage", f"the answer names {listed(list(by_name))}", None, f"it is to name {asked}")
    return {name: _number(text) for name, text in by_name.items()}


def _number(text: str) -> Any:
    """The number that an expression is. Raises `ExpressionError`, which points into it."""
    try:
        program = parse(text)
        for name, leaf in program.variables.items():
            raise ExpressionError("point", f"`{name}` has no value here", leaf.span, "the answer is a number")
        output = single_output(program)
        try:
            exact = value_in(Exact(), output, {})
        except (Refusal, ExpressionError):
            exact = None
        number = exact if exact is not None else value_in(_many_digits(), output, {})
        if number is None:
            raise ExpressionError("domain", f"`{text}` has no value", None, "the answer is a number")
        return number
    except ExpressionError as error:
        raise unreadable(error, text) from None


def _equal(number: Any, wanted: str) -> bool:
    right = Fraction(wanted)
    if isinstance(number, Fraction):
        return number == right
    return _same(number, _as(_many_digits(), right))


def _number_hint(posed: Exercise, answers: Mapping[str, Any], wrong: Sequence[str]) -> str:
    wanted = {name: float(Fraction(x)) for name, x in zip(posed.names, posed.answer, strict=True)}
    floats = {name: float(answers[name]) for name in wrong}
    if all(floats[name] == -wanted[name] for name in wrong):
        return "everything is right but the sign"
    if all(abs(floats[name] - wanted[name]) <= NEAR * abs(wanted[name]) for name in wrong):
        return "that is near: give it exactly, as a fraction"
    if posed.kind == "step":
        up = {name: 2 * float(Fraction(posed.point[name])) - wanted[name] for name in wrong}
        if all(abs(floats[name] - up[name]) < 1e-9 for name in wrong):
            return "that is a step up: the step goes against the gradient"
    if posed.kind == "slope":
        m = _many_digits()
        at = {name: _as(m, Fraction(x)) for name, x in posed.point.items()}
        if _same(_as(m, answers[""]), value_in(m, parse(posed.program).outputs[0], at)):
            return "that is the value there, and the slope is asked for"
    if sorted(floats.values()) == sorted(wanted[name] for name in wrong) and len(wrong) > 1:
        return "the numbers are right, and stand at the wrong names"
    if posed.level >= 4 and posed.kind == "gradient":
        at_point = ",".join(f"{name}={x}" for name, x in posed.point.items())
        return f'see it worked: `autodiff trace "{posed.program}" --at {at_point}`'
    return "see it worked: the same exercise with `--solutions`"


def _as(m: NumberType, x: Any) -> Any:
    return m.number(x.numerator) / m.number(x.denominator) if isinstance(x, Fraction) else x


def asked(
    level: int | None = None,
    *,
    count: int | None = None,
    seed: int | None = None,
    solutions: bool = False,
    check: int | None = None,
    answer: str | None = None,
) -> Sheet | Marked:
    """A sheet, or where a number is given to `check` what there is to say of the answer to that exercise.

    Raises `ExpressionError` as `mark` does.
    """
    chosen = {"seed": SEED if seed is None else seed}
    if check is None or answer is None:
        return sheet(
            1 if level is None else level, count=COUNT if count is None else count, solutions=solutions, **chosen
        )
    return mark(1 if level is None else level, check, answer, **chosen)
