"""Marking of solutions that repeat: `pi/6 + 2*pi*n` for every whole number n."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from math import lcm
from typing import NamedTuple

from ...engine.graphs.value import Value
from ...errors import ExpressionError, limit_error
from . import marking

# Behind an answer: `, n integer`, `where k is an integer`, `(n ∈ ℤ)`, `for all integers n`.
_QUALIFIER = re.compile(
    r"[\s,;]*\(?\s*(?:(?:where|with|for)\s+)?(?:"
    r"[a-z]\s*(?:∈|in\s|is\s|an?\s|any\s|whole\s|number\s|integer\b|\s)*(?:integer|whole|number|Z|ℤ)"
    r"|(?:all|any|every)\s+(?:whole\s+numbers?\s+|integers?\s+)?[a-z]"
    r"|(?:whole\s+numbers?|integers?)\s+[a-z])\s*\)?\s*"
)
# The longest such words.
MAX_QUALIFIER = 40
# The largest divisor of the ratio of two steps, and the most solutions in a common step.
MAX_RATIO, MAX_SOLUTIONS = 1000, 1000
# Shares of a common step that are one, and that are near each other.
SAME_SHARE, NEAR_SHARE = Fraction(1, 10**40), Fraction(1, 1000)


class Progression(NamedTuple):
    """Numbers that follow each other in equal steps both ways; one number with the step 0."""

    start: Fraction
    step: Fraction
    text: str


def without_qualifier(answer: str) -> str:
    """Return an answer without the words that say of which numbers its letter is one.

    >>> without_qualifier("pi/6 + 2*pi*n, n integer"), without_qualifier("n*pi (n ∈ ℤ)")
    ('pi/6 + 2*pi*n', 'n*pi')
    """
    for begin in range(max(0, len(answer) - MAX_QUALIFIER), len(answer)):
        if _QUALIFIER.fullmatch(answer, begin):
            return answer[:begin]
    return answer


def spelled_out(answer: str) -> str:
    """Return an answer with a sign between π and a letter, which together would be a name."""
    return re.sub(r"(?<=π)(?=[a-z])|(?<=[a-z])(?=π)", "*", without_qualifier(answer))


class Repeating(NamedTuple):
    """A solution with letters for whole numbers, none or one; other names are variables."""

    text: str
    graph: Value
    letters: Sequence[str]


def numbers_at(forms: Sequence[Repeating], at: Mapping[str, Fraction]) -> list[Progression] | None:
    """Return the numbers of solutions at a point of the variables; None where one has no value, or
    its numbers are not in equal steps.
    """
    numbers: list[Progression] = []
    for one in forms:
        value = partial(_value, one, at)
        found = progressions(one.text, value) if one.letters else _single(one.text, value(0))
        if found is None:
            return None
        numbers += found
    return numbers


def _single(text: str, number: Fraction | None) -> list[Progression] | None:
    return None if number is None else [Progression(number, Fraction(0), text)]


def _value(one: Repeating, at: Mapping[str, Fraction], k: int) -> Fraction | None:
    m = marking.many_digits()
    numbers = {name: marking.as_number(m, x) for name, x in at.items()}
    numbers |= {letter: m.number(k) for letter in one.letters}
    with suppress(marking.OutOfRange):
        x = marking.value_at(m, one.graph, numbers)
        return None if x is None else Fraction(str(x))
    return None


def progressions(text: str, value: Callable[[int], Fraction | None]) -> list[Progression] | None:
    """Return the numbers of an answer with a letter, by its `value` at whole numbers: one
    progression, or with `(-1)^n` two, of even and of odd numbers; None of other numbers.
    """
    for count in (1, 2):
        found = [_progression(text, value, first, count) for first in range(count)]
        if None not in found:
            return [one for one in found if one is not None]
    return None


def _progression(
    text: str, value: Callable[[int], Fraction | None], begin: int, count: int
) -> Progression | None:
    first, second, far = (value(begin + k * count) for k in (0, 1, 7))
    if first is None or second is None or far is None or first == second:
        return None
    step = second - first
    if abs(far - first - 7 * step) > SAME_SHARE * abs(step):
        return None
    return Progression(first, abs(step), text)


class SetComparison(NamedTuple):
    """How an answer compares with all solutions."""

    wrong: Progression | None
    """One of the answer of which not every number is a solution."""
    is_near: bool
    """Whether that is near to solutions."""
    missing: int
    """How many solutions in a common step are not in the answer."""


def compared(given: Sequence[Progression], expected: Sequence[Progression]) -> SetComparison:
    """Compare progressions with those of all solutions, in a step that all have in common."""
    common = _common_step([one.step for one in (*given, *expected) if one.step])
    wanted = [share for one in expected for share in _shares(one, common)]
    covered: set[int] = set()
    for one in given:
        for share in _shares(one, common):
            places = [k for k, other in enumerate(wanted) if _are_one(share, other)]
            if not places:
                is_near = any(_are_one(share, other, NEAR_SHARE) for other in wanted)
                return SetComparison(one, is_near, 0)
            covered.update(places if one.step else ())
    return SetComparison(None, False, len(wanted) - len(covered))


def _common_step(steps: Sequence[Fraction]) -> Fraction:
    """Return the least common multiple of steps. Raises `ExpressionError` if they have none that
    is small.
    """
    ratios = [(step / steps[0]).limit_denominator(MAX_RATIO) for step in steps]
    if any(
        not ratio or abs(step / steps[0] - ratio) > SAME_SHARE
        for step, ratio in zip(steps, ratios, strict=True)
    ):
        raise _not_comparable()
    below = lcm(*(ratio.denominator for ratio in ratios))
    return steps[0] * Fraction(lcm(*(int(ratio * below) for ratio in ratios)), below)


def _shares(one: Progression, common: Fraction) -> list[Fraction]:
    """Return where the numbers of a progression lie within a common step, as shares of it."""
    count = round(common / one.step) if one.step else 1
    if count > MAX_SOLUTIONS:
        raise _not_comparable()
    return [((one.start + k * one.step) / common) % 1 for k in range(count)]


def _are_one(share: Fraction, other: Fraction, within: Fraction = SAME_SHARE) -> bool:
    distance = abs(share - other)
    return min(distance, 1 - distance) <= within


def _not_comparable() -> ExpressionError:
    return limit_error(
        "the steps of the answer are not comparable with those of the solutions",
        "give the solutions between bounds: `--between x=0:10 --all`",
    )
