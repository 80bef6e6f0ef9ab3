"""Marking of answers to users' own questions, with reasons."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import Any, TypeVar

from ...engine.algebra.rational_functions import coefficients
from ...engine.graphs.laurent import NoSeries
from ...engine.graphs.value import Value, node, variable
from ...engine.table.operators import SUB
from ...errors import ExpressionError, plural, quote, usage_error
from ...language.diagnostics.leniency import read_leniently
from ...operating_system import quoted
from ...questions.arithmetic import Arithmetic
from ...questions.parse_point import split
from ...questions.problem import Point, parse, single_output
from ..derivatives.hessian import hessian
from ..derivatives.taylor import ZERO_TEST_DIGITS, decided_series, taylor
from ..formulas.derivation import derivative_name
from ..formulas.diff import Derivative, diff
from ..formulas.differential_operator import differential_operator
from . import marking
from .exercise import Exercise, Marked, join_names
from .marking import (
    AnswerEntry,
    FormulaAnswer,
    Key,
    agree,
    entries,
    equals,
    figure,
    own_exercise,
    parse_number,
)

EXACT, PRECISE = Arithmetic("exact"), Arithmetic("precision", 60)

EQUAL_DIGITS = 50
KINDS = {1: "derivative", 2: "second"}
MISSING = "missing"
FEW_DIGITS = (
    f"that is the right number, rounded: give it exactly, or {marking.MIN_ROUNDED_DIGITS} digits or"
    " more of it"
)
# The most places of a coefficient that may be a rounded decimal.
MAX_DECIMAL_PLACES = 20


def check_derivative(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    order: int = 1,
    unknowns: Sequence[str] | None = None,
) -> Marked:
    """Mark formulas as derivatives of a program, or of the `unknowns` of equations.

    >>> check_derivative("x**2*sin(x)", answer="2*x*cos(x)").hint
    'the derivative of a product is not the product of the derivatives: it is u′·v + u·v′'
    """
    marking.require_length(answer)
    if unknowns:
        from ...questions.equations import read_with_unknowns
        from ..solve.implicit_formulas import implicit_diff
        from .equation_answers import CurveAnswer

        derivatives = implicit_diff(text, unknowns=unknowns, wrt=wrt, order=order).derivatives
        program = read_with_unknowns(text, [], unknowns).program
        names = [name for name in program.variables if name not in unknowns]
    else:
        derivatives = diff(text, wrt=wrt, order=order).derivatives
        operator = differential_operator(text)
        if operator is not None:
            text, order = " " * operator.end + text[operator.end :], operator.order
        names = list(parse(text).variables)
    if not derivatives:
        raise usage_error("there is no variable to differentiate by", "name one: `--wrt x`")
    kind = KINDS.get(order, "higher")

    def marked(derivative: Derivative, entry: AnswerEntry) -> Marked:
        posed = own_exercise(kind, text, [derivative.formula], derivative.by[:1])
        if unknowns:
            typed: FormulaAnswer = CurveAnswer(
                program, unknowns, derivative, posed=posed, answer=answer, entry=entry
            )
        else:
            typed = FormulaAnswer(posed, answer, entry)
        return typed.mark()._replace(given=answer[entry.start : entry.end].strip())

    wanted: dict[Key, Derivative] = {
        (derivative.of, derivative.by): derivative for derivative in derivatives
    }
    answered = {
        entry.key: entry for entry in entries(answer, list(wanted), names) if entry.key is not None
    }
    if len(wanted) == 1:
        (entry,) = answered.values()
        return marked(derivatives[0], entry)._replace(given=answer)
    posed = own_exercise(kind, text, [derivative.formula for derivative in derivatives], wrt or ())
    asked = [] if order > 1 or unknowns else [derivative.by[0] for derivative in derivatives]
    return marked_together(
        posed, answer, wanted, answered, lambda key, entry: marked(wanted[key], entry), asked
    )


T = TypeVar("T")


def marked_together(
    posed: Exercise,
    answer: str,
    wanted: Iterable[Key],
    answered: Mapping[Key, T],
    mark: Callable[[Key, T], Marked],
    names: Sequence[str],
) -> Marked:
    """Mark an answer by its entries, unnamed ones in alphabetic order too."""
    marks = []
    for key in wanted:
        of = derivative_name(key[1], key[0])
        missing = Marked(
            posed, "", False, MISSING, f"add it to the answer: `{of} = …`", "entries", 0
        )
        marks.append((mark(key, answered[key]) if key in answered else missing)._replace(of=of))
    groups: dict[str, list[str]] = {"wrong": [], MISSING: [], "right": []}
    for marked in marks:
        groups[
            "right" if marked.right else MISSING if marked.message == MISSING else "wrong"
        ].append(marked.of)
    is_right = len(groups["right"]) == len(marks)
    message = "right: both of them" if len(marks) == 2 else f"right: all {len(marks)} of them"
    if not is_right:
        parts = (
            f"{', '.join(of)} {'is' if len(of) == 1 else 'are'} {word}"
            for word, of in groups.items()
            if of
        )
        message = f"wrong: {'; '.join(parts)}"
        alphabetic = sorted(names)
        turned = dict(zip(alphabetic, names, strict=True))
        if "=" not in answer and alphabetic != [*names]:
            others = {
                (of, by): answered.get((of, tuple(turned[name] for name in by)))
                for of, by in wanted
            }
            if all(entry is not None and mark(key, entry).right for key, entry in others.items()):
                message += (
                    f"; in the order {', '.join(alphabetic)} they are right, but the order is"
                    f" {', '.join(names)}"
                )
    points = max((marked.points for marked in marks), default=0)
    hint = next((marked.hint for marked in marks if not marked.right), "")
    return Marked(posed, answer, is_right, message, hint, "entries", points, entries=tuple(marks))


def check_series(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    order: int = 8,
) -> Marked:
    """Mark a polynomial as the Taylor polynomial of a program."""
    marking.require_length(answer)
    expected = taylor(text, point, wrt=wrt, order=order)
    name = expected.variable
    at = {other: (point or {})[other] for other in expected.point}

    def polynomial(text: str) -> tuple[Value, int]:
        program = parse(text, [name])
        output, leaf = single_output(program), program.variables.get(name) or variable(name)
        for other, unknown in program.variables.items():
            if other not in at:
                message, hint = (
                    f"`{other}` is not a variable of the program",
                    f"its variables: {quote(at)}",
                )
                raise ExpressionError("name", message, unknown.span, hint)
        parts = coefficients(output, leaf, lambda v: v, lambda primitive, a, b: a)
        if parts is None:
            raise usage_error(f"the answer is not a polynomial in `{name}`", "write the polynomial")
        return output, len(parts) - 1

    with marking.errors_point_into(answer):
        typed, degree = read_leniently(answer, polynomial)[0]
    (output,) = parse(text).outputs
    posed = own_exercise("series", text, [expected.polynomial], [name], point)
    try:
        answered = decided_series(typed, at, name, max(order, degree))[0]
    except NoSeries:
        raise usage_error("a coefficient of the answer has no value", "write numbers") from None
    for k in range(order + 1, degree + 1):
        if answered.at(k):
            hint = f"leave the terms beyond order {order} out"
            return Marked(posed, answer, False, f"wrong: a term of order {k} is too much", hint)
    series, decisions = decided_series(output, at, name, order)
    difference, more = decided_series(node(SUB, (output, typed)), at, name, order)
    rounded = []
    for k in range(order + 1):
        if difference.at(k):
            right, wrong = _fraction(series.at(k)), _fraction(answered.at(k))
            decimal = _decimal(wrong)
            if marking.has_digits(decimal) and marking.rounds_to(decimal, wrong, right):
                rounded.append(str(k))
                continue
            shown = marking.distinguishable(right, wrong)
            message = "wrong: the coefficient of order {} is {}, and the answer has {}".format(
                k, *shown
            )
            hint = (
                f"the term of order {k} is missing" if not wrong
                else FEW_DIGITS if marking.rounds_to(decimal, wrong, right)
                else "its sign is wrong" if agree(wrong, -right)
                else f"that is the derivative of order {k}: divide it by {k}!"
                if k > 1 and agree(wrong, right * math.factorial(k))
                else f"it is the derivative of order {k} at the point, divided by {k}!"
            )  # fmt: skip
            return Marked(posed, answer, False, message, hint)
    proven = decisions.confirmed and more.confirmed
    proof = "" if proven else f", to {ZERO_TEST_DIGITS[-1]} digits, which is not a proof"
    if rounded:
        which = (
            f"that of order {rounded[0]} is"
            if len(rounded) == 1
            else f"those of order {join_names(rounded)} are"
        )
        return Marked(posed, answer, True, f"right: all coefficients agree, and {which} rounded")
    return Marked(posed, answer, True, f"right: all coefficients agree{proof}")


def _decimal(x: Fraction) -> str:
    """Return a number as a decimal, empty if it is none of few digits."""
    places = next((k for k in range(1, MAX_DECIMAL_PLACES) if (x * 10**k).denominator == 1), None)
    if places is None:
        return ""
    sign, digits = "-" if x < 0 else "", str(abs(int(x * 10**places))).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _fraction(x: Any) -> Fraction:
    ratio = getattr(x, "ratio", x)
    return figure(x.x) if ratio is None else Fraction(ratio)


def check_hessian(
    text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None
) -> Marked:
    """Mark a matrix, `2, 0; 0, 6`, or entries, `d2/dx^2 = 2, …`, as the Hessian."""
    marking.require_length(answer)
    # in fractions if possible, else in many digits
    arithmetic = EXACT
    try:
        expected = hessian(text, point, wrt=wrt, arithmetic=EXACT)
    except ExpressionError as error:
        if error.kind not in ("domain", "derivative"):
            raise
        arithmetic = PRECISE
        expected = hessian(text, point, wrt=wrt, arithmetic=PRECISE)
    names, n = list(expected.gradient), len(expected.gradient)
    posed = own_exercise("hessian", text, [], names, point)
    is_named = "=" in answer
    keys: list[Key] = [
        ("", (a, b)) for i, a in enumerate(names) for b in (names[i:] if is_named else names)
    ]
    if is_named:
        typed = {
            entry.key: answer[entry.start : entry.end] for entry in entries(answer, keys, names)
        }
    else:
        # also `[[2, 0], [0, 6]]`
        rows = [split(row) for row in re.sub(r"\]\s*,\s*\[", ";", answer).strip("[] ").split(";")]
        if [len(row) for row in rows] != [n] * n:
            shape = "; ".join([", ".join(["…"] * n)] * n)
            message = f"the Hessian by {plural(n, 'variable')} has {n} rows of {n}"
            raise usage_error(
                message, f"write `--answer {quoted(shape)}`, or name the entries: `d2/dx^2 = …`"
            )
        typed = dict(zip(keys, chain(*rows), strict=True))
    answered = {key: (typed[key].strip(), parse_number(typed[key])) for key in keys if key in typed}
    right = dict(zip(product(names, names), map(figure, chain(*expected.hessian)), strict=True))
    slopes = {name: figure(x) for name, x in expected.gradient.items()}
    # rounding errors of a 0 scale with the largest entry
    largest = max([Fraction(1), *map(abs, right.values())])
    noise = Fraction(0) if arithmetic == EXACT else largest / 10**EQUAL_DIGITS

    def marked(key: Key, entry: tuple[str, Any]) -> Marked:
        (typed, number), (a, b) = entry, key[1]
        wanted, both = right[a, b], slopes[a] * slopes[b]
        if equals(number, wanted, noise):
            how = "" if arithmetic == EXACT else f", to {EQUAL_DIGITS} digits"
            return Marked(posed, typed, True, f"right{how}")
        if marking.is_rounded(typed, figure(number), wanted):
            return Marked(posed, typed, True, "right: it is rounded")
        hint = (
            FEW_DIGITS if marking.rounds_to(typed, figure(number), wanted)
            else "its sign is wrong" if equals(number, -wanted, noise)
            else "a Hessian is symmetric" if a != b and equals(answered.get(("", (b, a)), entry)[1], wanted, noise)
            else "that is the product of the first derivatives" if both and equals(number, both, noise)
            else f'see it worked: `autodiff diff "{text}" --order 2 --steps`'
        )  # fmt: skip
        message = "wrong: it is {}, and the answer has {}".format(
            *marking.distinguishable(wanted, number)
        )
        return Marked(posed, typed, False, message, hint)

    return marked_together(posed, answer, keys, answered, marked, names)
