"""Answers that people found themselves: whether they are right, and if not, why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Any

from ..algebra.rational_functions import coefficients
from ..derivatives.hessian import hessian
from ..derivatives.taylor import DIGITS, decided_series, taylor
from ..diagnostics.leniency import leniently
from ..errors import ExpressionError, counted, usage_error
from ..formulas.derivation import derivative_name
from ..formulas.diff import Derivative, diff, differential_operator
from ..graphs.value import Value, node, variable
from ..inputs.arithmetic import Arithmetic
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..table.operators import SUB
from .comparison import as_number, many_digits
from .exercise import Exercise, Marked
from .labels import Entry, Key, entries
from .marking import distinguishable, errors_point_into, mark_formula, parse_number, rounded

EXACT, PRECISE = Arithmetic("exact"), Arithmetic("precision", 60)

EQUAL_DIGITS = 50
MAX_SHOWN_LENGTH = 20
KINDS = {1: "derivative", 2: "second"}
"""The kinds of exercise, by the order of their derivatives."""

MISSING = "missing"


def own(
    kind: str, program: str, answer: Sequence[str], wrt: Sequence[str] = (), point: Point | None = None
) -> Exercise:
    """Return the exercise that a question and its answer are."""
    at = {name: str(x) for name, x in (point or {}).items()}
    formula = kind in ("derivative", "second", "higher")
    return Exercise(0, 0, 0, kind, "Differentiate {f}.", program, at, tuple(wrt), ("",), tuple(answer), formula, None)


# ---- derivatives --------------------------------------------------------------------------------------------------
def check_derivative(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    order: int = 1,
    unknowns: Sequence[str] | None = None,
) -> Marked:
    """Return whether formulas are the derivatives of a program, and if not, what is wrong with them.

    With `unknowns`, of these as equations determine them. Several are named, `d/dx = 2*x*y, d/dy = x**2`, or stand in
    the order of the variables. Raises `ExpressionError`.

    >>> check_derivative("x**2*sin(x)", answer="2*x*cos(x)").hint
    'the derivative of a product is not the product of the derivatives: it is u′·v + u·v′'
    """
    if unknowns:
        from ..equations.equations import read_with_unknowns  # only equations need it
        from ..equations.implicit_formulas import implicit_diff
        from .curve_answers import CurveAnswer

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

    def marked(derivative: Derivative, entry: Entry) -> Marked:
        posed = own(kind, text, [derivative.formula], derivative.by[:1])
        if not unknowns:
            return mark_formula(posed, answer, entry)
        return CurveAnswer(posed, program, unknowns, derivative, answer, entry).mark()

    wanted = {(derivative.of, derivative.by): derivative for derivative in derivatives}
    of = {key: derivative_name(key[1], key[0]) for key in wanted}
    listed = entries(answer, list(wanted), names)
    marks = {
        entry.key: marked(wanted[entry.key], entry)._replace(
            given=answer[entry.start : entry.end].strip(), of=of[entry.key]
        )
        for entry in listed
        if entry.key is not None
    }
    if len(wanted) == 1:
        (single,) = marks.values()
        return single._replace(given=answer, of="")
    whole = own(kind, text, [derivative.formula for derivative in derivatives], wrt or ())
    together = marked_together(whole, answer, [marks.get(key) or _missing(whole, of[key]) for key in wanted])
    asked = [derivative.by[0] for derivative in derivatives]
    if order > 1 or unknowns or "=" in answer or together.right or asked == sorted(asked):
        return together
    typed = dict(zip(sorted(asked), listed, strict=True))
    turned = (marked(derivative, typed[derivative.by[0]]).right for derivative in derivatives)
    return _with_order(together, turned, asked)


def _with_order(marked: Marked, turned: Iterable[bool], names: Sequence[str]) -> Marked:
    alphabetic = ", ".join(sorted(names))
    message = f"{marked.message}; in the order {alphabetic} they are right, and asked for is {', '.join(names)}"
    return marked._replace(message=message) if all(turned) else marked


def _missing(posed: Exercise, of: str) -> Marked:
    return Marked(posed, "", False, MISSING, f"add it to the answer: `{of} = …`", "entries", 0, of)


def marked_together(posed: Exercise, answer: str, marks: Sequence[Marked]) -> Marked:
    """Return the marking of an answer of several entries from that of each."""
    words = ["right" if mark.right else MISSING if mark.message == MISSING else "wrong" for mark in marks]
    is_right = words.count("right") == len(marks)
    message = "right: both of them" if len(marks) == 2 else f"right: all {len(marks)} of them"
    if not is_right:
        groups = {word: [mark.of for mark, w in zip(marks, words, strict=True) if w == word] for word in words}
        parts = (
            f"{', '.join(groups[word])} {'is' if len(groups[word]) == 1 else 'are'} {word}"
            for word in ("wrong", MISSING, "right")
            if word in groups
        )
        message = f"wrong: {'; '.join(parts)}"
    points = max((mark.points for mark in marks), default=0)
    hint = next((mark.hint for mark in marks if not mark.right), "")
    return Marked(posed, answer, is_right, message, hint, "entries", points, entries=tuple(marks))


# ---- series -------------------------------------------------------------------------------------------------------
def check_series(
    text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None, order: int = 8
) -> Marked:
    """Return whether a polynomial is the Taylor polynomial of a program."""
    expected = taylor(text, point, wrt=wrt, order=order)
    name = expected.variable

    def polynomial(text: str) -> tuple[Value, int]:
        program = parse(text, [name])
        output, leaf = single_output(program), program.variables.get(name) or variable(name)
        parts = coefficients(output, leaf, lambda v: v, lambda primitive, a, b: a)
        if parts is None:
            raise ExpressionError("usage", f"the answer is no polynomial in `{name}`", None, "write the polynomial")
        return output, len(parts) - 1

    with errors_point_into(answer):
        typed, degree = leniently(answer, polynomial)[0]
    (output,) = parse(text).outputs
    at = {other: (point or {})[other] for other in expected.point}
    posed = own("series", text, [expected.polynomial], [name], point)
    answered = decided_series(typed, at, name, max(order, degree))[0]
    for k in range(order + 1, degree + 1):
        if answered.at(k):
            hint = f"leave the terms beyond order {order} out"
            return Marked(posed, answer, False, f"wrong: a term of order {k} is too much", hint)
    series, decisions = decided_series(output, at, name, order)
    difference, more = decided_series(node(SUB, (output, typed)), at, name, order)
    for k in range(order + 1):
        if difference.at(k):
            right, wrong = _coefficient(series.at(k)), _coefficient(answered.at(k))
            shown = [str(x) if len(str(x)) < MAX_SHOWN_LENGTH else rounded(x) for x in (right, wrong)]
            message = "wrong: the coefficient of order {} is {}, and this has {}".format(k, *shown)
            hint = (
                f"the term of order {k} is missing" if not wrong
                else "its sign is wrong" if wrong == -right
                else f"that is the derivative of order {k}: divide it by {k}!"
                if k > 1 and wrong == right * math.factorial(k)
                else f"it is the derivative of order {k} at the point, divided by {k}!"
            )  # fmt: skip
            return Marked(posed, answer, False, message, hint)
    proven = decisions.confirmed and more.confirmed
    proof = "" if proven else f", to {DIGITS[-1]} digits, which is no proof"
    return Marked(posed, answer, True, f"right: all coefficients agree{proof}")


def _coefficient(x: Any) -> Any:
    ratio = getattr(x, "ratio", (x, 1))
    return Fraction(*ratio) if ratio else float(x)


# ---- Hessians -----------------------------------------------------------------------------------------------------
def check_hessian(text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None) -> Marked:
    """Return whether a matrix, `2, 0; 0, 6`, or entries, `d2/dx^2 = 2, …`, are the Hessian."""
    # in fractions, or where there are none in many digits
    arithmetic = EXACT
    try:
        expected = hessian(text, point, wrt=wrt, arithmetic=EXACT)
    except ExpressionError as error:
        if error.kind not in ("domain", "derivative"):
            raise
        arithmetic = PRECISE
        expected = hessian(text, point, wrt=wrt, arithmetic=PRECISE)
    names, n = list(expected.gradient), len(expected.gradient)
    posed = own("hessian", text, [], names, point)
    places: list[tuple[int, int]] = [(i, j) for i in range(n) for j in range(n)]
    if "=" in answer:
        places = [(i, j) for i, j in places if i <= j]
        keys: list[Key] = [("", (names[i], names[j])) for i, j in places]
        by_key = {entry.key: answer[entry.start : entry.end] for entry in entries(answer, keys, names)}
        typed = {place: by_key[key] for place, key in zip(places, keys, strict=True) if key in by_key}
    else:
        # `[[2, 0], [0, 6]]` is the matrix too
        rows = [split(row) for row in re.sub(r"\]\s*,\s*\[", ";", answer).strip("[] ").split(";")]
        if [len(row) for row in rows] != [n] * n:
            shape = "; ".join([", ".join(["…"] * n)] * n)
            message = f"the Hessian by {counted(n, 'variable')} has {n} rows of {n}"
            raise usage_error(message, f"write `--answer '{shape}'`, or name the entries: `d2/dx^2 = …`")
        typed = {(i, j): rows[i][j] for i, j in places}
    answered = {place: parse_number(entry) for place, entry in typed.items()}
    right = {(i, j): figure(expected.hessian[i][j]) for i, j in places}
    slopes = [figure(x) for x in expected.gradient.values()]
    # a 0 that is computed with rounding is off by a part of the largest entry
    largest = max([Fraction(1), *map(abs, right.values())])
    noise = Fraction(0) if arithmetic == EXACT else largest / 10**EQUAL_DIGITS
    marks = []
    for i, j in places:
        of = derivative_name((names[i], names[j]))
        wanted, entry = right[i, j], answered.get((i, j))
        if entry is None:
            marks.append(_missing(posed, of))
            continue
        is_right = _equal(entry, wanted, noise)
        hint = (
            "" if is_right
            else "its sign is wrong" if _equal(entry, -wanted, noise)
            else "a Hessian is symmetric" if i != j and _equal(answered.get((j, i), entry), wanted, noise)
            else "that is the product of the first derivatives"
            if slopes[i] * slopes[j] and _equal(entry, slopes[i] * slopes[j], noise)
            else f'see it worked: `autodiff diff "{text}" --order 2 --steps`'
        )  # fmt: skip
        how = "" if arithmetic == EXACT else f", to {EQUAL_DIGITS} digits"
        message = f"right{how}" if is_right else "wrong: it is {}, and this has {}".format(*_shown(wanted, entry))
        marks.append(Marked(posed, typed[i, j].strip(), is_right, message, hint, of=of))
    marked = marked_together(posed, answer, marks)
    # rows without names are by the variables in the order of the formula
    order = sorted(range(n), key=lambda k: names[k])
    if "=" in answer or marked.right or order == list(range(n)):
        return marked
    turned = (answered[order.index(i), order.index(j)] for i, j in places)
    return _with_order(marked, map(_equal, turned, right.values(), repeat(noise)), names)


def figure(x: Any) -> Fraction:
    """Return a computed number as a fraction, with all its digits, to be compared."""
    return Fraction(0) if x is None else Fraction(getattr(x, "text", None) or repr(x))


def _equal(answered: Any, right: Fraction, noise: Fraction) -> bool:
    if isinstance(answered, Fraction):
        return abs(answered - right) <= noise
    m = many_digits()
    return bool(abs(answered - as_number(m, right)) <= as_number(m, noise))


def _shown(right: Fraction, answered: Any) -> tuple[str, str]:
    texts = str(right), str(answered)
    if isinstance(answered, Fraction) and max(map(len, texts)) < MAX_SHOWN_LENGTH:
        return texts
    m = many_digits()
    return distinguishable(as_number(m, right), as_number(m, answered))
