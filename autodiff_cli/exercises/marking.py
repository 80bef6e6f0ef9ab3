"""Marking: whether an answer to an exercise is right, as a function or as a number, and not as text.

A formula is right where it agrees with the derivative at all points of `comparison` at which that exists; it is proven
to be right where besides their difference simplifies to 0. Functions made by the operations of the language that agree
at so many points without being equal do not come about by a mistake. What it is compared with is the derivative by a
sweep over the program, not a formula. Numbers are compared as fractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ..algebra.rational_functions import vanishes
from ..algebra.simplify import simplify
from ..algebra.walk import substituted
from ..diagnostics.leniency import leniently
from ..errors import ExpressionError, Offer, Span, point_error, quoted, usage_error
from ..graphs.value import Value, in_order, node, variable
from ..graphs.value_and_gradient import value_and_gradient, value_in
from ..inputs.parse_point import split
from ..inputs.problem import parse, single_output
from ..language.builder import Program
from ..language.printer import expression_text
from ..numbers.base import NumberType, Refusal
from ..numbers.budget import Defined
from ..numbers.exact import Exact
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, SUB
from .comparison import AGREED, DIGITS, as_number, equal, many_digits, points, same, value_at
from .exercise import COUNT, SEED, TOPICS, Exercise, Marked, Sheet, exercise, listed, sheet
from .labels import Entry, entries

ENOUGH = 6
"""The fewest points at which the derivative has to exist for a decision."""

NEAR = Fraction(1, 100)
"""A number that is off by less than that of itself is said to be near."""

FEWEST_DIGITS = 3
"""A decimal number of fewer digits is not taken for a rounded solution."""

_DECIMAL = re.compile(r"\s*[-+]?\d*\.(\d+)\s*")

MOST_PARTS = 60
"""Of a longer function the mistake is not looked for."""


class _Place(NamedTuple):
    """A point, and there the function, its derivative, and what was answered; None where that has no value."""

    at: dict[str, Fraction]
    value: Any
    slope: Any
    answered: Any
    agrees: bool = False


def mark(level: int, number: int, answer: str, *, seed: int = SEED, **choices: Any) -> Marked:
    """Whether the answer to an exercise is right, and if not, what is wrong with it.

    Raises `ExpressionError` for an answer that is no formula, or not as many numbers as are asked for.

    >>> mark(1, 1, "-11", seed=7).right
    True
    """
    posed = exercise(level, number, seed, **choices)
    if not posed.is_formula:
        return _numbers(posed, answer)
    if posed.kind == "tangent":
        return formula_marked(posed, answer)
    by = posed.wrt[:1] * (2 if posed.kind == "second" else 1)
    (entry,) = entries(answer, [("", by)], list(parse(posed.program).variables))
    return formula_marked(posed, answer, entry)


def unreadable(error: ExpressionError, answer: str) -> ExpressionError:
    """The error in an answer, with its place there."""
    error.text = answer
    return error


# ---- formulas -----------------------------------------------------------------------------------------------------
WORDS = {"tangent": "the line", "second": "the second derivative", "solution": "the solution"}
"""What is asked for, by the kind of exercise, where that is not the derivative."""


def formula_marked(posed: Exercise, answer: str, entry: Entry | None = None) -> Marked:
    """Whether a formula, an entry of an answer or all of it, is the answer to an exercise that asks for one."""
    program = parse(posed.program)
    typed, note = read_formula(answer, program.variables, entry)
    (expected,) = parse(posed.answer[0]).outputs
    by_name = _by_name(program)
    difference = node(SUB, (substituted(typed, by_name), substituted(expected, by_name)))
    what = WORDS.get(posed.kind, "the derivative")
    places: list[_Place] = []
    for at, k in _points([*program.outputs, typed, expected], list(program.variables)):
        if k and len(places) >= ENOUGH:
            break
        values = _Values(posed, program, typed, expected, at)
        decided = equal(values)
        if decided is None or values.place is None:
            continue
        places.append(values.place._replace(agrees=decided))
    if len(places) < ENOUGH:
        raise ExpressionError("limit", "there are too few points to compare the answer at", None, "check it by `check`")
    for place in places:
        if not place.agrees:
            where = ", ".join(f"{name} = {x}" for name, x in place.at.items())
            right, answered = short_pair(place.slope, place.answered)
            other = f"this is {answered}" if place.answered is not None else "this has no value"
            message = f"wrong: at `{where}` {what} is {right}, and {other}{note}"
            return Marked(posed, answer, False, message, _hint(posed, program, typed, places), "points", len(places))
    if is_zero(difference):
        message = f"right: its difference from the answer simplifies to 0{note}"
        return Marked(posed, answer, True, message, "", "simplified", len(places))
    message = f"right: it agrees with {what} to {AGREED} digits at {len(places)} points, which is no proof{note}"
    return Marked(posed, answer, True, message, "", "points", len(places))


def _points(functions: Sequence[Value], names: Sequence[str]) -> Iterator[tuple[dict[str, Fraction], bool]]:
    """The points to compare at, and whether they are needed only if there are not enough others."""
    chosen, further = points(functions, names)
    yield from ((at, False) for at in chosen)
    yield from ((at, True) for at in further)


def is_zero(difference: Value) -> bool:
    """Whether a formula simplifies to 0; False says nothing."""
    (rest,) = simplify((difference,))
    return (rest.primitive is CONSTANT and rest.data == 0) or vanishes(difference)


class _Values:
    """The derivative and the answer at a point, in any arithmetic."""

    def __init__(
        self, posed: Exercise, program: Program, typed: Value, expected: Value, at: Mapping[str, Fraction]
    ) -> None:
        self.posed, self.program, self.typed, self.expected, self.at = posed, program, typed, expected, dict(at)
        self.place: _Place | None = None
        """The place, in the arithmetic that was asked for first; None where there is no derivative."""

    def __call__(self, m: NumberType) -> tuple[Any, Any] | None:
        """Return both; None where there is no derivative."""
        posed, numbers = self.posed, {name: as_number(m, x) for name, x in self.at.items()}
        by = posed.wrt[0]
        try:
            swept = value_and_gradient(m, self.program.outputs[0], numbers, [by])
        except ExpressionError:
            return None
        slope = swept.gradient[by] if posed.kind == "derivative" else value_at(m, self.expected, numbers)
        if slope is None or swept.kinks:
            return None
        answered = value_at(m, self.typed, numbers)
        self.place = self.place or _Place(self.at, swept.value, slope, answered)
        return slope, answered


def read_formula(answer: str, variables: Mapping[str, Value], entry: Entry | None = None) -> tuple[Value, str]:
    """The formula of an answer, or of an entry of it, and how it was read if not as typed.

    Raises `ExpressionError`, which points into the answer.
    """

    def read(text: str) -> Program:
        try:
            program = parse(text)
        except ExpressionError as error:
            # a variable of the exercise is no function: `x(1 - y)`
            if len(error.offers) == 1 and error.span is not None and text[slice(*error.span[:2])] in variables:
                certain = (error.offers[0]._replace(certain=True),)
                error.diagnostic = error.diagnostic._replace(offers=certain)
            raise
        for name, leaf in program.variables.items():
            if name not in variables:
                message = f"`{name}` is no variable of the exercise"
                offers = _as_product(text, leaf.span, name, variables)
                hint = f"its variables: {quoted(variables)}"
                raise ExpressionError("name", message, leaf.span, hint, offers=offers)
        return program

    try:
        text = answer if entry is None else " " * entry.start + answer[entry.start : entry.end]
        program, reading = leniently(text, read)
        return single_output(program), f"; read as `{reading.text.strip()}`" if reading else ""
    except ExpressionError as error:
        raise unreadable(error, answer) from None


def _as_product(text: str, span: Span | None, name: str, variables: Collection[str]) -> tuple[Offer, ...]:
    """The offer of a product of variables for a name: `x*y` for `xy`, certain unless it stands below a fraction."""
    if span is None or len(name) < 2 or not all(letter in variables for letter in name):
        return ()
    before = text[: span.start].rstrip("0123456789. ")
    return (Offer(span.start, span.end, "*".join(name), not before.endswith(("/", "÷", "^", "**"))),)


def _by_name(program: Program) -> Any:
    leaves = program.variables
    return lambda v: leaves.get(v.label) if not v._prev and v.label else None


def short_pair(a: Any, b: Any) -> tuple[str, str]:
    """Two different numbers with so many digits, six at least, that they look different."""
    if b is None:
        return _short(a), ""
    context = many_digits().context
    for digits in (6, 12, 20, 40, DIGITS):
        texts = tuple(context.nstr(context.mpf(x), digits) if digits > 15 else f"{float(x):.{digits}g}" for x in (a, b))
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def _short(x: Any) -> str:
    return f"{float(x):.6g}"


def _hint(posed: Exercise, program: Program, answer: Value, places: Sequence[_Place]) -> str:
    """Return the hint that names the usual mistake that leads to the answer; empty if none does."""
    # where the answer is right, any mistake that has no effect there would explain it
    there = sorted([place for place in places if place.answered is not None], key=lambda place: place.agrees)
    if not there or there[0].agrees:
        return "write it so that it has a value where the function has a derivative"
    if all(same(p.answered, p.value) for p in there):
        return "that is the function itself, not its derivative"
    if all(same(p.answered, -p.slope) for p in there):
        return "everything is right but the sign"
    missed = _rule_missed(posed, program, there) if posed.kind == "derivative" else ""
    if missed:
        return missed
    first = there[0]
    if all(same(p.answered - p.slope, first.answered - first.slope) for p in there):
        return f"it is off by {_short(first.answered - first.slope)} everywhere: look at the terms without the variable"
    if posed.kind == "derivative" and _integrated(posed, program, answer, there):
        return "that is an antiderivative: the function was integrated, not differentiated"
    if first.slope and first.answered and all(same(p.answered * first.slope, p.slope * first.answered) for p in there):
        ratio, _ = short_pair(first.answered / first.slope, 1)
        return f"it is {ratio} times as large everywhere: a factor is wrong or missing"
    if sum(p.agrees for p in places) >= len(places) / 10:
        return "it is right at other points, so that it holds on a part of the domain only: look at signs and cases"
    order = " --order 2" if posed.kind == "second" else ""
    by = f" --wrt {posed.wrt[0]}" if len(program.variables) > 1 else ""
    return (
        f'see it worked: `autodiff diff "{posed.program}"{by}{order} --steps`'
        if posed.kind != "tangent"
        else ("it goes through the value at the point, and has the slope there")
    )


def _integrated(posed: Exercise, program: Program, answer: Value, there: Sequence[_Place]) -> bool:
    """Whether the derivative of the answer is the function."""
    m, by = many_digits(), posed.wrt[0]
    with Defined(ArithmeticError, ValueError):
        points = [{name: as_number(m, x) for name, x in place.at.items()} for place in there[:ENOUGH]]
        slopes = [value_and_gradient(m, answer, numbers, [by]).gradient[by] for numbers in points]
        return all(same(slope, place.value) for slope, place in zip(slopes, there, strict=False))
    return False


def _rule_missed(posed: Exercise, program: Program, there: Sequence[_Place]) -> str:
    """The usual mistake, in the derivative of one part, that leads to the answer; empty if none does."""
    m, by = many_digits(), posed.wrt[0]
    (output,) = program.outputs
    parts = [part for part in in_order((output,)) if part._prev and not part.primitive.gives_condition]
    if len(parts) > MOST_PARTS:
        return ""
    points = [{name: as_number(m, x) for name, x in place.at.items()} for place in there[:ENOUGH]]
    part_variable = variable("part")

    def derivative(value: Value, numbers: Mapping[str, Any], name: str) -> _Part:
        swept = value_and_gradient(m, value, numbers, [name])
        return _Part(swept.value, swept.gradient[name])

    # the outermost one first, sums last: what is not differentiated in a term may lack the chain rule
    parts.reverse()
    for part in sorted(parts, key=lambda part: part.primitive in (ADD, SUB)):
        with Defined(ArithmeticError, ValueError):
            own = [derivative(part, numbers, by) for numbers in points]
            inner = [[derivative(p, numbers, by) for p in part._prev] for numbers in points]
            around = substituted(output, {part: part_variable}.get)
            weights = [
                derivative(around, {**numbers, "part": at_part.value}, "part").slope
                for numbers, at_part in zip(points, own, strict=True)
            ]
            for message, mistaken in _mistakes(part):
                slopes = [mistaken(inputs, at_part) for inputs, at_part in zip(inner, own, strict=True)]
                if all(
                    slope is not None and same(place.answered, place.slope + weight * (slope - at_part.slope))
                    for place, slope, at_part, weight in zip(there, slopes, own, weights, strict=False)
                ):
                    return message if part is output else f"in the derivative of `{expression_text(part)}`: {message}"
    return ""


def _term_mistakes(text: str, k: int, sign: int) -> Iterator[Mistake]:
    """Yield the usual mistakes in a term of a sum."""
    yield f"the derivative of the term `{text}` is missing", lambda x, v: v.slope - sign * x[k].slope
    yield f"the term `{text}` is not differentiated", lambda x, v: v.slope + sign * (x[k].value - x[k].slope)
    yield f"the sign of the derivative of `{text}` is wrong", lambda x, v: v.slope - 2 * sign * x[k].slope


def _without_inner(k: int, inputs: Sequence[_Part], part: _Part) -> Any:
    """The derivative of a function without that of what is inside it."""
    others = any(operand.slope for j, operand in enumerate(inputs) if j != k)
    return None if others or not inputs[k].slope else part.slope / inputs[k].slope


class _Part(NamedTuple):
    """A part of a function at a point: its value, and its derivative."""

    value: Any
    slope: Any


Mistake = tuple[str, Callable[[Sequence[_Part], _Part], Any]]
"""What went wrong, and what it makes of the derivative of a part, given those of its inputs; None for nothing."""


def _mistakes(part: Value) -> Iterator[Mistake]:
    """Yield the usual mistakes in the derivative of an operation."""
    primitive, inputs = part.primitive, part._prev
    if primitive in (ADD, SUB):
        for k, term in enumerate(inputs):
            yield from _term_mistakes(expression_text(term), k, -1 if k and primitive is SUB else 1)
    if primitive is MUL:
        rule = "it is u′·v + u·v′"
        yield (
            f"the derivative of a product is not the product of the derivatives: {rule}",
            lambda x, v: x[0].slope * x[1].slope,
        )
        yield f"a term of the product rule is missing: {rule}", lambda x, v: x[0].slope * x[1].value
        yield f"a term of the product rule is missing: {rule}", lambda x, v: x[0].value * x[1].slope
        yield f"the product rule has a plus: {rule}", lambda x, v: x[0].slope * x[1].value - x[0].value * x[1].slope
    if primitive is DIV:
        rule = "it is (u′·v − u·v′)/v²"
        yield (
            f"the derivative of a quotient is not the quotient of the derivatives: {rule}",
            lambda x, v: x[0].slope / x[1].slope if x[1].slope else None,
        )
        yield f"what is below is missing: {rule}", lambda x, v: v.slope * x[1].value ** 2
        yield (
            f"the quotient rule has a minus: {rule}",
            lambda x, v: (x[0].slope * x[1].value + x[0].value * x[1].slope) / x[1].value ** 2,
        )
    if primitive is POW:
        rule = "it is n·u^(n − 1)·u′"
        yield f"the exponent goes down by 1: {rule}", lambda x, v: None if x[1].slope else v.slope * x[0].value
        yield f"the exponent is missing as a factor: {rule}", lambda x, v: v.slope / x[1].value if x[1].value else None
    if primitive not in (ADD, SUB, MUL, DIV, NEG):
        for k, inside in enumerate(inputs):
            text = f"the derivative of what is inside, `{expression_text(inside)}`, is missing: the chain rule"
            yield text, partial(_without_inner, k)
        name = primitive.spelling or primitive.name
        yield f"the sign of the derivative of `{name}` is wrong", lambda x, v: -v.slope


# ---- numbers ------------------------------------------------------------------------------------------------------
def _numbers(posed: Exercise, answer: str) -> Marked:
    answers = _numbers_by_name(posed, answer)
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


def _numbers_by_name(posed: Exercise, answer: str) -> dict[str, Any]:
    """The numbers of an answer by name: fractions, or where they are irrational many digits."""
    texts = [text.strip() for text in split(answer)]
    asked = ", ".join(f"{name}=…" for name in posed.names) if posed.names != ("",) else "one number"
    named = [text.partition("=") for text in texts]
    if len(texts) != len(posed.names):
        message = (
            f"the answer to this exercise is {len(posed.names)} number{'s' * (len(posed.names) > 1)}, not {len(texts)}"
        )
        raise usage_error(message, f"write `--answer` with {asked}")
    if all(mark for _, mark, _ in named):
        by_name = {name.strip(): text.strip() for name, _, text in named}
        if posed.names == ("",) and len(by_name) == 1:
            by_name = {"": next(iter(by_name.values()))}
    else:
        by_name = dict(zip(posed.names, texts, strict=True))
    if set(by_name) != set(posed.names):
        raise usage_error(f"the answer names {listed(list(by_name))}", f"it is to name {asked}")
    return {name: number_of(text) for name, text in by_name.items()}


def number_of(text: str) -> Any:
    """The number that an expression is. Raises `ExpressionError`, which points into it."""
    try:
        program, _ = leniently(text, parse)
        for name, leaf in program.variables.items():
            raise point_error(f"`{name}` has no value here", "the answer is a number", span=leaf.span)
        output = single_output(program)
        try:
            exact = value_in(Exact(), output, {})
        except (Refusal, ExpressionError):
            exact = None
        number = exact if exact is not None else value_in(many_digits(), output, {})
        if number is None:
            raise ExpressionError("domain", f"`{text}` has no value", None, "the answer is a number")
        return number
    except ExpressionError as error:
        raise unreadable(error, text) from None


def is_rounded(text: str, number: Fraction, root: Fraction) -> bool:
    """Whether a text is a decimal number of a few digits that a root rounds to."""
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None or len(text.strip(" -+0.").replace(".", "")) < FEWEST_DIGITS:
        return False
    return bool(2 * abs(root - number) * 10 ** len(decimal[1]) <= 1)


def _equal(number: Any, wanted: str) -> bool:
    right = Fraction(wanted)
    if isinstance(number, Fraction):
        return number == right
    return same(number, as_number(many_digits(), right))


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
        m = many_digits()
        at = {name: as_number(m, Fraction(x)) for name, x in posed.point.items()}
        if same(as_number(m, answers[""]), value_in(m, parse(posed.program).outputs[0], at)):
            return "that is the value there, and the slope is asked for"
    if sorted(floats.values()) == sorted(wanted[name] for name in wrong) and len(wrong) > 1:
        return "the numbers are right, and stand at the wrong names"
    if posed.level >= 4 and posed.kind == "gradient":
        at_point = ",".join(f"{name}={x}" for name, x in posed.point.items())
        return f'see it worked: `autodiff trace "{posed.program}" --at {at_point}`'
    return "see it worked: the same exercise with `--solutions`"


def asked(
    *,
    level: int | None = None,
    count: int = COUNT,
    seed: int = SEED,
    solutions: bool = False,
    check: int | None = None,
    answer: str | None = None,
    topic: str | None = None,
    function: str | None = None,
) -> Sheet | Marked:
    """A sheet, or where a number is given to `check` what there is to say of the answer to that exercise.

    Raises `ExpressionError` as `mark` does.
    """
    chosen: dict[str, Any] = {"seed": seed, "topic": topic, "function": function}
    level = level or (TOPICS[topic][0] if topic else 1)
    if check is None or answer is None:
        return sheet(level, count=count, solutions=solutions, **chosen)
    return mark(level, check, answer, **chosen)
