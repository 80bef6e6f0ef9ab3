"""Closed forms of the solutions of an equation of numbers: `sqrt(2)`, `log(3)`, `pi/6 + 2*pi*n`.

All solutions are known where the equation can be rearranged. Each is then held against those that
a search finds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import NamedTuple

from ...engine.algebra.exact_constants import ExactConstants, UndecidedSign
from ...engine.algebra.rational_functions import polynomial_in
from ...engine.algebra.walk import has_variables
from ...engine.graphs.value import Value, constant, in_order, node
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.base import NO_RESULT
from ...engine.table.operators import ADD, DIV, MUL, SUB, VARIABLE
from ...errors import ExpressionError, plural
from ...language.printer import expression_text
from ...record import Record
from .conditions import ZERO, simplest
from .formula_solutions import FormulaSolution, real_solutions
from .one_unknown import OneEquation
from .residuals import Root, half_ulp

# The longest formula that is shown beside a number.
MAX_LENGTH = 40
# How far a solution that was found may be from its closed form, relative: searches know how far
# rounding may have put it off, and a solution beside another is farther.
NEAR = 1e-9
# Of a step: a number that is farther from one of its ends is none of them.
STEP_SHARE = 1e-3
REARRANGED = "the equation can be rearranged"
NO_SOLUTION = "rearranged, the equation has no real solution"


class ClosedForm(Record):
    """A solution, or with a `step` one for every whole number of steps."""

    start: Value
    step: Value
    """0 of a single solution."""
    first: float
    width: float
    whole: str
    """The name of the whole number; empty without one."""

    def near(self, x: float) -> int | None:
        """Return the whole number at which it is a number that was found; None at none."""
        count = round((x - self.first) / self.width) if self.width else 0
        distance = abs(self.first + count * self.width - x)
        allowed = NEAR * max(abs(x), abs(self.first), self.width)
        if self.width:
            allowed = min(allowed, STEP_SHARE * self.width)
        return count if distance <= allowed else None

    def count_between(self, low: float, high: float) -> int:
        """Return how many of its solutions lie between two numbers."""
        if not self.width:
            return int(low <= self.first <= high)
        ends = ((end - self.first) / self.width for end in (low, high))
        first, last = ends
        return max(0, math.floor(last) - math.ceil(first) + 1)

    def at(self, count: int) -> Value:
        """Return one of its solutions as a formula."""
        steps = node(MUL, (constant(float(count), str(count)), self.step))
        return node(ADD, (self.start, steps))

    def solution(self, unknown: str) -> FormulaSolution:
        """Return it with a name for the whole number."""
        formula = sum_text(self.start)
        if not self.whole:
            return FormulaSolution(unknown=unknown, formula=formula, condition=None)
        multiple = _multiple_text(self.step, self.whole)
        formula = multiple if formula == "0" else f"{formula} + {multiple}"
        return FormulaSolution(unknown=unknown, formula=formula, condition=None, whole=[self.whole])


def closed_forms(equation: Value, leaf: Value) -> list[ClosedForm] | None:
    """Return all real solutions of `equation = 0`, which has no other variable; None where they
    are not known in closed form.
    """
    with suppress(ExpressionError, UndecidedSign, *NO_RESULT):
        found = real_solutions(equation, leaf)
        if found is None:
            return None
        forms: list[ClosedForm] = []
        for solution, conditions in found:
            form = None if conditions else _form(solution)
            if form is None:
                return None
            if not any(_is_same(form, other) for other in forms):
                forms.append(form)
        single = [form for form in forms if not form.width and not _is_among(form, forms)]
        repeating = _merged([form for form in forms if form.width])
        return sorted([*single, *repeating], key=lambda form: form.first)
    return None


def _form(solution: Value) -> ClosedForm | None:
    """Return a solution as a closed form, if it is linear in at most one whole number."""
    names = [v for v in in_order((solution,)) if v.primitive is VARIABLE]
    if len(names) > 1:
        return None
    start, step = solution, ZERO
    if names:
        parts = polynomial_in(solution, names[0])
        if parts is None or len(parts) != 2:
            return None
        start, step = map(simplest, parts)
        if has_variables(start) or has_variables(step):
            return None
    first, width = map(_in_double, (start, step))
    if width < 0:
        return None
    return ClosedForm(
        start=start, step=step, first=first, width=width, whole=names[0].label if names else ""
    )


def _in_double(formula: Value) -> float:
    """Return the value of a formula of numbers, rounded from many digits."""
    return float(ExactConstants().number(value_in(ExactConstants(), formula, {})))


def sum_text(formula: Value) -> str:
    """Return a formula of numbers as a sum of multiples over one divisor: `(1 + sqrt(5))/2`."""
    m = ExactConstants()
    number, terms = _flattened(m, m.number(value_in(m, formula, {})).node)
    divisor = lcm(number.denominator, *(factor.denominator for factor in terms.values()))
    parts = [(int(number * divisor), "")] if number or not terms else []
    is_alone = not parts and len(terms) == 1 and divisor == 1
    for term, factor in terms.items():
        text = _factor_text(term, factor * divisor, is_alone=is_alone)
        parts.append((int(factor * divisor), text))
    parts.sort(key=lambda part: part[0] < 0)
    text = "".join(_signed(*part, is_first=not k) for k, part in enumerate(parts))
    if divisor == 1:
        return text
    return f"({text})/{divisor}" if len(parts) > 1 else f"{text}/{divisor}"


def _flattened(m: ExactConstants, formula: Value) -> tuple[Fraction, dict[Value, Fraction]]:
    """Return a formula of numbers as a fraction plus multiples of others that are no sums."""
    number, terms = m.linear_form(formula)
    flat: dict[Value, Fraction] = {}
    for term, factor in terms.items():
        inner, parts = (Fraction(0), {term: Fraction(1)})
        if term.primitive in (ADD, SUB) and term is not formula:
            inner, parts = _flattened(m, term)
        number += factor * inner
        for part, share in parts.items():
            flat[part] = flat.get(part, Fraction(0)) + factor * share
    return number, {part: factor for part, factor in flat.items() if factor}


def _multiple_text(step: Value, name: str) -> str:
    """Return a step times a name: `2*pi*n`, `pi*n/50`."""
    top, slash, below = sum_text(step).partition("/")
    if "(" in top or "+" in top or "-" in top:
        return f"({top}{slash}{below})*{name}"
    multiple = name if top == "1" else f"{top}*{name}"
    return f"{multiple}{slash}{below}"


def _factor_text(term: Value, factor: Fraction, *, is_alone: bool) -> str:
    """Return a term as it stands behind its sign and its factor."""
    text = expression_text(term)
    is_sum = term.primitive in (ADD, SUB)
    if factor == 1 and (is_alone or not is_sum):
        return text
    return f"({text})" if is_sum or (abs(factor) != 1 and term.primitive is DIV) else text


def _signed(factor: int, text: str, *, is_first: bool) -> str:
    sign = ("-" if factor < 0 else "") if is_first else (" - " if factor < 0 else " + ")
    if not text:
        return f"{sign}{abs(factor)}"
    return f"{sign}{text}" if abs(factor) == 1 else f"{sign}{abs(factor)}*{text}"


def _merged(forms: list[ClosedForm]) -> list[ClosedForm]:
    """Return forms with one for those that lie evenly between each other's steps: `pi*n` for
    `2*pi*n` and `pi + 2*pi*n`.
    """
    whole = _as_one(forms)
    if whole is not None:
        return [whole]
    for pair in combinations(forms, 2):
        one = _as_one(pair)
        if one is not None:
            return _merged([one, *(form for form in forms if form not in pair)])
    return forms


def _as_one(forms: Sequence[ClosedForm]) -> ClosedForm | None:
    """Return the form of the same solutions as several of equal steps; None if there is none."""
    count = len(forms)
    if count < 2 or any(form.width != forms[0].width for form in forms):
        return None
    first = min(forms, key=lambda form: (abs(form.first), -form.first))
    share = node(DIV, (first.step, constant(float(count), str(count))))
    fine = first._replace(step=share, width=first.width / count)
    steps = [fine.near(form.first) for form in forms]
    known = [step for step in steps if step is not None]
    if len({step % count for step in known}) < count:
        return None
    is_proven = all(
        sum_text(node(SUB, (form.start, fine.at(step)))) == "0"
        for form, step in zip(forms, known, strict=True)
    )
    return fine if is_proven else None


def _is_among(single: ClosedForm, forms: Sequence[ClosedForm]) -> bool:
    """Return whether a solution is one of those that repeat."""
    for form in forms:
        count = form.near(single.first) if form.width else None
        if count is not None and sum_text(node(SUB, (single.start, form.at(count)))) == "0":
            return True
    return False


def _is_same(form: ClosedForm, other: ClosedForm) -> bool:
    """Return whether two forms have the same solutions."""
    return form.width == other.width and other.near(form.first) is not None


class ClosedSolutions(NamedTuple):
    """The solutions that a search found as formulas, and where they repeat those of all, with what
    is known of them in words.
    """

    texts: list[str]
    repeating: list[FormulaSolution]
    message: str


def closed_solutions(
    finder: OneEquation, starts: list[list[float]], every: bool
) -> ClosedSolutions | None:
    """Return the solutions that were found in closed form; round `starts` from it, add those that
    the search missed, and note where there are no others.

    None where they are not known, or where the search found another.
    """
    problem, name = finder.problem, finder.name
    forms = _forms_of(finder)
    if forms is None or not _are_consistent(forms, finder, starts):
        return None
    is_list = every or (name not in problem.bounds and name not in problem.point)
    if is_list:
        _complete(forms, finder, starts)
    texts = [_rounded(forms, finder, start) for start in starts]
    if finder.complete or not is_list or not _repeat(forms):
        return ClosedSolutions(texts, [], "")
    repeating = [form.solution(name) for form in forms]
    return ClosedSolutions(texts, repeating, _message(forms, finder, len(starts)))


def _repeat(forms: Sequence[ClosedForm]) -> bool:
    return any(form.width for form in forms)


def _complete(forms: Sequence[ClosedForm], finder: OneEquation, starts: list[list[float]]) -> None:
    """Add the solutions that a search missed, and note where there are no others."""
    if not _repeat(forms):
        _add_missed(forms, finder, starts)
    if not _repeat(forms) or finder.name in finder.problem.bounds:
        _note_whether_all(forms, finder, len(starts))


def _forms_of(finder: OneEquation) -> list[ClosedForm] | None:
    problem = finder.problem
    is_plain = {*problem.program.leaves} == {finder.name} and problem.units is None
    return closed_forms(finder.output, finder.leaf) if is_plain and not finder.plateaus else None


def _message(forms: Sequence[ClosedForm], finder: OneEquation, listed: int) -> str:
    """Return in words how many solutions the formulas have where so many are listed."""
    low, high = finder.problem.bounds.get(finder.name, (-finder.reach, finder.reach))
    text = finder.problem.text
    there = sum(form.count_between(low, high) for form in forms)
    if there < listed:  # the search went farther than its grid
        return f"{plural(listed, 'solution')} found; the formulas give all"
    which = f"{listed} of " if there > listed else ""
    where = f"{text(finder.name, low)} ≤ {finder.name} ≤ {text(finder.name, high)}"
    return f"{which}{plural(there, 'solution')} for {where}; the formulas give all"


def _note_whether_all(forms: Sequence[ClosedForm], finder: OneEquation, listed: int) -> None:
    """Note that there are no other solutions if so many are all that the formulas have."""
    low, high = finder.bounds
    there = sum(form.count_between(low, high) for form in forms)
    if finder.complete is None and finder.undecided is None and there == listed:
        finder.complete = True
        finder.kind = REARRANGED if there else NO_SOLUTION


def _are_consistent(
    forms: Sequence[ClosedForm], finder: OneEquation, starts: Sequence[Sequence[float]]
) -> bool:
    """Return whether each solution that was found is one of the forms, and the equation has a
    value at these.
    """
    if not all(_place(forms, x) for (x,) in starts):
        return False
    return bool(finder.complete) or all(finder(form.first) is not None for form in forms)


def _add_missed(
    forms: Sequence[ClosedForm], finder: OneEquation, starts: list[list[float]]
) -> None:
    low, high = finder.bounds
    for form in forms:
        if low <= form.first <= high and not any(form.near(x) == 0 for (x,) in starts):
            starts.append([form.first])
    starts.sort()


def _place(forms: Sequence[ClosedForm], x: float) -> tuple[ClosedForm, int] | None:
    """Return the form of which a number is a solution, and which; None if it is of none or
    several.
    """
    places = [(form, form.near(x)) for form in forms]
    of = [(form, count) for form, count in places if count is not None]
    return of[0] if len(of) == 1 else None


def _rounded(forms: Sequence[ClosedForm], finder: OneEquation, start: list[float]) -> str:
    """Return a solution as a formula, and put the double nearest to it in its place; empty if the
    formula is too long to be read.
    """
    place = _place(forms, start[0])
    if place is None:
        return ""
    formula = place[0].at(place[1])
    x = _in_double(formula)
    if x == start[0] or finder(x) is not None:
        known = finder.special_roots.pop((start[0],), Root())
        finder.special_roots[x,] = known._replace(errors=known.errors or [half_ulp(x)])
        start[0] = x
    text = sum_text(formula)
    return text if len(text) <= MAX_LENGTH else ""
