"""Kinds of search: whether the digits are right that are shown without a word."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple, cast

from flint import arb, ctx

from autodiff_cli.capabilities.derivatives.gradient import gradient, gradient_of
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.errors import Diagnostic, ExpressionError
from autodiff_cli.questions.parse_point import parse_point
from autodiff_cli.questions.problem import parse

from . import balls, formulas
from .formulas import Tree
from .report import Report

POINTS = 10
"""Points of each formula."""
ASKED = 0.05
"""The share of points that are asked for in full although nothing is wrong, or the reference has no
answer.
"""
WRONG = 5e-7
"""A larger relative error leaves fewer than the six digits that the program vouches for where it
says nothing.
"""
RIGHT = 1e-15
"""A number within this relative error needs no warning."""
SECOND = r"the second derivative by (`\w+`(?:, `\w+`)?)"
"""What messages call an entry of a Hessian."""
SMALLEST_NORMAL, SMALLEST = 2.0**-1022, 2.0**-1074
LARGEST = 1.7976931348623157e308


class Answer(NamedTuple):
    """The numbers that the program shows, in the order of the reference, what it calls them, and
    its warnings.
    """

    numbers: Sequence[float]
    names: Sequence[str]
    warnings: Sequence[Diagnostic]


Ask = Callable[[str, str], Answer]
"""Asks the program as a command of its own does, with its checks, for a formula at a point."""
Compute = Callable[[str], Callable[[str], Sequence[float]]]
"""Prepares a formula, and returns the function from a point to the numbers alone, without a
check.
"""


def asked_gradient(text: str, point: str) -> Answer:
    """Return what `grad` says of a formula at a point."""
    with use_budget(length=len(text)):
        answer = gradient(text, parse_point(point))
    names = sorted(answer.gradient)
    return Answer(
        [answer.value, *[answer.gradient[name] for name in names]], ["", *names], answer.warnings
    )


def computed_gradient(text: str) -> Callable[[str], Sequence[float]]:
    """Return the function from a point to the value and gradient of a formula, without a check."""
    program = parse(text)

    def numbers(point: str) -> Sequence[float]:
        with use_budget(length=len(text)):
            answer = gradient_of(program, parse_point(point))
        return [answer.value, *[answer.gradient[name] for name in sorted(answer.gradient)]]

    return numbers


def asked_hessian(text: str, point: str) -> Answer:
    """Return what `hessian` says of a formula at a point."""
    with use_budget(length=len(text)):
        answer = hessian(text, parse_point(point))
    names, entries = [*answer.gradient], cast("list[list[float]]", answer.hessian)
    order = [names.index(name) for name in sorted(names)]
    pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1)]
    first = [answer.value, *[answer.gradient[names[i]] for i in order]]
    numbers = [*cast("list[float]", first), *[entries[i][j] for i, j in pairs]]
    called = ["", *[names[i] for i in order], *[f"{names[i]},{names[j]}" for i, j in pairs]]
    return Answer(numbers, called, answer.warnings)


class Question(NamedTuple):
    """What is asked of a formula at a point."""

    ask: Ask
    compute: Compute | None
    """The numbers without a check, which are asked for first; None if the question is asked at
    once.
    """
    second: bool


def trial(rng: Random, report: Report, question: Question) -> None:
    """Hold the answers for one formula, at several points, against the reference.

    The numbers of all points are computed and compared. What the program says of them is asked
    where they are wrong, and at a share of the others.
    """
    tree = formulas.formula(rng)
    text, names = formulas.text_of(tree), sorted(formulas.names_in(tree))
    report.count("formulas")
    try:
        compute = None if question.compute is None else question.compute(text)
    except ExpressionError as error:
        report.fault("a formula that cannot be read", {"text": text, "error": str(error)})
        return
    for _ in range(POINTS):
        point = formulas.point(rng, names)
        is_asked = rng.random() < ASKED
        exact, reason = _reference(tree, point, question.second)
        if exact is None and not is_asked:
            report.count(f"not asked: {reason}")
            continue
        report.count("points")
        asked = {"text": text, "at": ",".join(f"{name}={value}" for name, value in point.items())}
        if compute is not None and exact is not None and not exact.differing and not is_asked:
            try:
                computed = compute(asked["at"])
            except ExpressionError:
                report.count("points that are refused where there is an answer")
                continue
            if all(
                relative_error(x, y) <= WRONG for x, y in zip(computed, exact.numbers, strict=True)
            ):
                continue
        report.count("points whose warnings are asked for")
        try:
            answer = question.ask(text, asked["at"])
        except ExpressionError as error:
            _refused(report, asked, error, exact, reason)
            continue
        except Exception as error:
            report.fault("traceback", {**asked, "error": repr(error)})
            continue
        if exact is None:
            _without_reference(report, asked, answer, reason)
        else:
            _judge(report, asked, answer, tree, point, exact)


def _reference(
    tree: Tree, point: Mapping[str, str], second: bool
) -> tuple[balls.Reference | None, str]:
    """Return the right numbers, or None with the reason why there are none."""
    try:
        found = balls.reference(tree, point, second=second)
    except balls.Undefined:
        return None, "undefined"
    except balls.Kink:
        sides = None if second else balls.sides(tree, point)
        if sides is None:
            return None, "kink"
        found = sides
    except balls.Undecided:
        return None, "undecided"
    numbers = [None if k in found.zeros else x for k, x in enumerate(found.numbers)]
    if any(x is not None and abs(x) > LARGEST for x in numbers):
        return None, "overflow"
    return found._replace(numbers=numbers), ""


def _refused(
    report: Report,
    asked: Mapping[str, str],
    error: ExpressionError,
    exact: balls.Reference | None,
    reason: str,
) -> None:
    if exact is None:
        report.count(f"refused, rightly: {reason}")
        return
    told = {
        "error": str(error),
        "hint": error.hint,
        "reference": [_written(x) for x in exact.numbers],
    }
    report.sample(
        f"refused where there is an answer: {error.kind}: {error.diagnostic.message}",
        {**asked, **told},
    )


def _without_reference(
    report: Report, asked: Mapping[str, str], answer: Answer, reason: str
) -> None:
    if answer.warnings:
        report.count(f"answered with a warning: {reason}")
    elif reason in ("undefined", "overflow"):
        report.fault(f"answered in silence: {reason}", {**asked, "answer": list(answer.numbers)})
    else:
        report.sample(f"answered in silence: {reason}", {**asked, "answer": list(answer.numbers)})


def _judge(
    report: Report,
    asked: Mapping[str, str],
    answer: Answer,
    tree: Tree,
    point: Mapping[str, str],
    reference: balls.Reference,
) -> None:
    numbers = reference.numbers
    warnings = [warning for warning in answer.warnings if warning.kind == "lost_digits"]
    if any(warning.kind not in ("lost_digits", "note") for warning in answer.warnings):
        report.count("with another warning")
    if reference.differing:
        report.count("points at kinks")
        if not answer.warnings and not _is_smooth_as_written(tree, point):
            report.fault("no word of a kink", {**asked, "answer": [*answer.numbers]})
    wrong, alarms = False, False
    for k, (name, computed, exact) in enumerate(
        zip(answer.names, answer.numbers, numbers, strict=True)
    ):
        if k in reference.differing:
            continue
        error = relative_error(computed, exact)
        covered = any(_names(warning, name) for warning in warnings)
        alarms |= covered and error <= RIGHT
        if error <= WRONG:
            continue
        wrong = True
        if covered:
            continue
        as_written = _right_as_written(
            computed, k, tree, point, second=len(numbers) > len(point) + 1
        )
        if as_written:
            report.count("numbers that are right for the decimals that are written")
            continue
        found = {
            "number": name or "value",
            "answer": computed,
            "reference": _written(exact),
            "error": error,
        }
        found["warnings"] = [warning.message for warning in answer.warnings]
        if as_written is None:
            report.sample(
                "wrong in silence, unless for the decimals that are written", {**asked, **found}
            )
        else:
            report.fault("wrong in silence", {**asked, **found})
    if warnings:
        report.count("points with a warning")
        if not wrong:
            told = {
                "warnings": [warning.message for warning in warnings],
                "answer": [*answer.numbers],
            }
            report.sample("points with a warning, and nothing is wrong", {**asked, **told})
        report.count("points with a warning about a number that is right to 15 digits", alarms)
    elif wrong:
        report.count("points with a wrong number and no warning, as exact doubles go")


def relative_error(computed: float, exact: Any) -> float:
    """Return the error of a double relative to the right number, 0 for what is right as far as
    doubles go.
    """
    if exact is None:
        return 0.0 if abs(computed) <= 2 * SMALLEST else math.inf
    middle = float(exact.mid())
    error = abs(computed - middle)
    if abs(middle) < SMALLEST_NORMAL:
        return 0.0 if error <= 2 * SMALLEST else error / abs(middle) if middle else math.inf
    if error > 1e-13 * abs(middle):
        return error / abs(middle)
    return float(abs(arb(computed) - exact).mid() / abs(exact).mid())


def _right_as_written(
    computed: float, k: int, tree: Tree, point: Mapping[str, str], *, second: bool
) -> bool | None:
    """Return whether a number is right for the decimals of the formula, or of the point too.

    None where balls of decimals do not decide on which side of an edge a number such as 30/0.3
    lies.
    """
    is_decided = True
    for doubles in (False, True):
        try:
            found = balls.reference(tree, point, second=second, decimals=True, doubles=doubles)
        except (balls.Kink, balls.Undecided):
            is_decided = False
        except balls.Undefined:
            continue
        else:
            if relative_error(computed, None if k in found.zeros else found.numbers[k]) <= WRONG:
                return True
    return False if is_decided else None


def _is_smooth_as_written(tree: Tree, point: Mapping[str, str]) -> bool:
    with suppress(balls.Undecided, balls.Undefined):
        try:
            balls.reference(tree, point, decimals=True, doubles=False)
        except balls.Kink:
            sides = balls.sides(tree, point, decimals=True, doubles=False)
            return sides is not None and not sides.differing
        return True
    return False


def _names(warning: Diagnostic, name: str) -> bool:
    """Return whether a warning is about a number, by the name of it, or about all of them."""
    message = warning.message
    if (
        "has no value" in message
        or "could not be determined" in message
        or "decides this comparison" in message
    ):
        return True
    subject = message.partition(":")[0]
    second = {frozenset(re.findall(r"\w+", by)) for by in re.findall(SECOND, subject)}
    if "," in name:
        return "…" in subject or frozenset(name.split(",")) in second
    return f"`{name}`" in re.sub(SECOND, "", subject) if name else "value" in subject


def _written(x: Any) -> str:
    ctx.prec = 96
    return "0" if x is None else str(arb.str(x, 20, radius=False))


def digits(rng: Random, report: Report) -> None:
    """Value and gradient of `grad` at a point, and its warnings about digits."""
    trial(rng, report, Question(asked_gradient, computed_gradient, second=False))


def second(rng: Random, report: Report) -> None:
    """Value, gradient and Hessian of `hessian` at a point, and its warnings about digits."""
    trial(rng, report, Question(asked_hessian, None, second=True))
