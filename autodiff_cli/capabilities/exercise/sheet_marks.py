"""Marking of answers to the exercises of a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...engine.graphs.value_and_gradient import value_in
from ...errors import plural, usage_error
from ...questions.parse_point import pieces
from ...questions.problem import parse
from .exercise import (
    DEFAULT_COUNT,
    DEFAULT_SEED,
    UNKNOWN,
    Exercise,
    Marked,
    Sheet,
    join_names,
    make_sheet,
)
from .marking import (
    NEAR_RELATIVE,
    SIGN,
    FormulaAnswer,
    agree,
    as_number,
    entries,
    equals,
    figure,
    many_digits,
    parse_number,
    parts,
    readings,
    require_length,
)


def sheet_or_mark(
    *,
    level: int | None = None,
    count: int = DEFAULT_COUNT,
    seed: int = DEFAULT_SEED,
    solutions: bool = False,
    check: int | None = None,
    answer: str | None = None,
    topic: Sequence[str] | None = None,
    function: str | None = None,
    functions: Sequence[tuple[int, str]] | None = None,
    title: str | None = None,
) -> Sheet | Marked:
    """Return a sheet of exercises, or mark the `answer` to exercise `check`."""
    chosen: dict[str, Any] = {
        "seed": seed,
        "topics": topic,
        "function": function,
        "functions": functions,
    }
    if check is None or answer is None:
        return make_sheet(level, count=count, solutions=solutions, title=title, **chosen)
    return mark(level, check, answer, **chosen)


def mark(
    level: int | None, number: int, answer: str, *, seed: int = DEFAULT_SEED, **choices: Any
) -> Marked:
    """Mark an answer to an exercise, with a hint if wrong.

    >>> mark(1, 1, "-11", seed=7).right
    True
    """
    require_length(answer)
    exercises = make_sheet(level, count=number, seed=seed, **choices).exercises
    if number > len(exercises):
        hint = f"it has {plural(len(exercises), 'exercise')}"
        raise usage_error(f"this sheet has no exercise {number}", hint)
    return mark_exercise(exercises[number - 1], answer)


def mark_exercise(posed: Exercise, answer: str) -> Marked:
    """Mark the answer to an exercise, with a hint if wrong. Raises `ExpressionError` if it cannot
    be read.
    """
    require_length(answer)
    if posed.kind == "antiderivative":
        from .integral_answers import check_integral

        return check_integral(posed.program, answer=answer, variable=posed.wrt[0])._replace(
            exercise=posed
        )
    if posed.kind == "implicit":
        from .answers import check_derivative

        found = check_derivative(posed.program, answer=answer, wrt=posed.wrt, unknowns=[UNKNOWN])
        return found._replace(exercise=posed)
    if posed.kind == "tangent":
        return FormulaAnswer(posed, answer).mark()
    if posed.is_formula:
        by = posed.wrt[:1] * (2 if posed.kind == "second" else 1)
        (entry,) = entries(answer, [("", by)], list(parse(posed.program).variables))
        return FormulaAnswer(posed, answer, entry).mark()
    return _mark_numbers(posed, answer)


def _mark_numbers(posed: Exercise, answer: str) -> Marked:
    answers = _numbers_by_name(posed, answer)
    wanted = {name: Fraction(x) for name, x in zip(posed.names, posed.answer, strict=True)}
    right = [name for name, x in wanted.items() if equals(answers[name], x)]
    wrong = [name for name in wanted if name not in right]
    if not wrong:
        return Marked(posed, answer, True, "right")
    message = f"wrong: it is not `{answer.strip()}`"
    if posed.names != ("",):
        message = (
            f"wrong: {join_names(wrong)}"
            f" {'has another value' if len(wrong) == 1 else 'have other values'}"
        )
        message += (
            f"; {join_names(right)} {'is' if len(right) == 1 else 'are'} right" if right else ""
        )
    return Marked(posed, answer, False, message, _number_hint(posed, answers, wanted, wrong))


def _numbers_by_name(posed: Exercise, answer: str) -> dict[str, Any]:
    count = len(posed.names)
    texts = [
        answer[start:end].strip()
        for start, end in (pieces(answer) if count == 1 else parts(answer, count))
    ]
    asked = ", ".join(f"{name}=…" for name in posed.names) if posed.names != ("",) else "one number"
    if len(texts) != count:
        message = f"the answer to this exercise is {plural(count, 'number')}, not {len(texts)}"
        raise usage_error(message, f"write `--answer` with {asked}")
    by_name = dict(zip(posed.names, texts, strict=True))
    if all("=" in text for text in texts):
        labels, numbers = zip(*(map(str.strip, text.split("=", 1)) for text in texts), strict=True)
        if posed.kind == "gradient":
            # also as derivatives, `df/dx = 3`
            keys = [("", (name,)) for name in posed.names]
            labels = tuple(
                "".join(next(readings(label, posed.names, keys), ("", (label,)))[1])
                for label in labels
            )
        by_name = dict(zip(labels if posed.names != ("",) else posed.names, numbers, strict=True))
    if set(by_name) != set(posed.names):
        raise usage_error(f"the answer names {join_names(list(by_name))}", f"name {asked}")
    return {name: parse_number(text) for name, text in by_name.items()}


def _number_hint(
    posed: Exercise, answers: Mapping[str, Any], right: Mapping[str, Fraction], wrong: list[str]
) -> str:
    pairs = {name: (figure(answers[name]), right[name]) for name in wrong}
    if all(equals(answers[name], -right[name]) for name in wrong):
        return SIGN
    if all(abs(x - wanted) <= NEAR_RELATIVE * abs(wanted) for x, wanted in pairs.values()):
        return "that is near: give it exactly, as a fraction"
    if posed.kind == "step":
        up = {name: 2 * Fraction(posed.point[name]) - wanted for name, (_, wanted) in pairs.items()}
        if all(equals(answers[name], x) for name, x in up.items()):
            return "that is a step up: the step goes against the gradient"
    if posed.kind == "slope":
        m = many_digits()
        at = {name: as_number(m, Fraction(x)) for name, x in posed.point.items()}
        if agree(as_number(m, answers[""]), value_in(m, parse(posed.program).outputs[0], at)):
            return "that is the value there, and the slope is asked for"
    if len(wrong) > 1 and sorted(x for x, _ in pairs.values()) == sorted(
        wanted for _, wanted in pairs.values()
    ):
        return "the numbers are right, but have the wrong names"
    if posed.level >= 4 and posed.kind == "gradient":
        at_point = ",".join(f"{name}={x}" for name, x in posed.point.items())
        return f'see it worked: `autodiff trace "{posed.program}" --at {at_point}`'
    return "see it worked: the same exercise with `--solutions`"
