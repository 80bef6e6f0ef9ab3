"""Answers that people found themselves: whether a solution, series or Hessian is right, and if not, why."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import repeat
from typing import Any

from ..algebra.rational_functions import coefficients
from ..derivatives.hessian import hessian
from ..derivatives.taylor import DIGITS, decided_series, taylor
from ..diagnostics.leniency import leniently
from ..equations.solve import read_with_unknowns, solve
from ..errors import ExpressionError, counted, usage_error
from ..formulas.derivation import derivative_name
from ..graphs.value import Value, node, variable
from ..inputs.arithmetic import Arithmetic
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..table.operators import SUB
from .comparison import AGREED, as_number, many_digits
from .derivative_answers import missing, own, together, with_order
from .exercise import Exercise, Marked
from .labels import Key, entries
from .marking import formula_marked, number_of, short_pair, unreadable
from .root_answers import check_roots, solutions_in

EXACT, PRECISE = Arithmetic("exact"), Arithmetic("precision", 60)

EQUAL_DIGITS = 50
"""Numbers that are no fractions are compared in so many digits."""

ZERO_DIGITS = 90
"""A number is taken for 0 where so many digits behind the point are 0."""

SHORT = 20
"""Fractions of fewer characters are shown as they are."""


# ---- solutions ----------------------------------------------------------------------------------------------------
def check_solution(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    unknowns: Sequence[str] | None = None,
    between: Any = None,
    every: bool = False,
) -> Marked:
    """Whether numbers, or formulas, are the solutions of equations."""
    every = every or between is not None
    posed = own("solution", text, [], point=point)
    point = point or {}
    equations = read_with_unknowns(text, [*point], unknowns)
    if len(equations.program.outputs) > 1:
        others = [name for name in equations.program.variables if name not in point]
        answered = [name for name in equations.program.variables if re.search(rf"\b{re.escape(name)}\s*=(?!=)", answer)]
        unknowns = unknowns or (others if len(others) == len(equations.program.outputs) else answered or others)
        if {*others} - {*unknowns}:
            # values that are formulas: the equations say whether they are right
            return check_roots(posed, equations, point, unknowns, answer, [], None)
    solved = solve(text, point, unknowns=unknowns, between=between, every=every, arithmetic=PRECISE)
    if solved.formulas:
        # those that hold where the leading coefficient is 0 need not be given
        formulas = [formula.formula for formula in solved.formulas if " == 0" not in (formula.condition or "")]
        (unknown,) = solved.unknowns
        entries = [solution[unknown] for solution in solutions_in(answer, solved.unknowns)]
        return _formulas_marked(posed, answer, entries, formulas, solved.unknowns)
    roots = [{name: _figure(solution.values[name]) for name in solved.unknowns} for solution in solved.solutions]
    return check_roots(posed, equations, point, solved.unknowns, answer, roots, solved.complete)


def _formulas_marked(
    posed: Exercise, answer: str, entries: Sequence[str], formulas: Sequence[str], wrt: Sequence[str]
) -> Marked:
    """Whether formulas are those of the solutions, in any order."""
    left = list(formulas)
    how = "simplified"
    for entry in entries:
        marked = [formula_marked(own("solution", formula, [formula], wrt), entry) for formula in left]
        place = next((k for k, one in enumerate(marked) if one.right), None)
        if place is None:
            first = marked[0] if marked else None
            hint = (
                "it is right but the sign" if first is not None and "sign" in first.hint else "put it into both sides"
            )
            return Marked(posed, answer, False, f"wrong: `{entry.strip()}` is no solution", hint, "points", 0)
        how = how if marked[place].how == "simplified" else marked[place].how
        del left[place]
    if left:
        absent = counted(len(left), "solution")
        are = "is" if len(left) == 1 else "are"
        return Marked(posed, answer, False, f"wrong: {absent} {are} missing", "what is given is right", how, 0)
    proof = "" if how == "simplified" else f", to {AGREED} digits at points, which is no proof"
    return Marked(posed, answer, True, f"right: that solves the equation{proof}", "", how, 0)


# ---- series -------------------------------------------------------------------------------------------------------
def check_series(
    text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None, order: int = 8
) -> Marked:
    """Whether a polynomial is the Taylor polynomial of a program at a point, and if not, which coefficient is wrong."""
    expected = taylor(text, point, wrt=wrt, order=order)
    name = expected.variable
    typed, degree = _polynomial(answer, name)
    (output,) = parse(text).outputs
    at = {other: (point or {})[other] for other in expected.point}
    posed = own("series", text, [expected.polynomial], [name], point)
    proof = ""
    answered = decided_series(typed, at, name, max(order, degree))[0]
    for k in range(max(order, degree) + 1):
        if k > order and answered.at(k):
            message, hint = f"a term of order {k} is too much", f"leave the terms beyond order {order} out"
            return Marked(posed, answer, False, f"wrong: {message}", hint, "numbers", 0)
    series, decisions = decided_series(output, at, name, order)
    difference, more = decided_series(node(SUB, (output, typed)), at, name, order)
    for k in range(order + 1):
        if difference.at(k):
            right, wrong = _number(series.at(k)), _number(answered.at(k))
            message = f"wrong: the coefficient of order {k} is {_short(right)}, and this has {_short(wrong)}"
            return Marked(posed, answer, False, message, _series_hint(k, wrong, right), "numbers", 0)
    if not (decisions.confirmed and more.confirmed):
        proof = f", to {DIGITS[-1]} digits, which is no proof"
    return Marked(posed, answer, True, f"right: all coefficients agree{proof}", "", "numbers", 0)


def _number(x: Any) -> Any:
    """A coefficient as a fraction, if it is known to be one."""
    ratio = getattr(x, "ratio", (x, 1))
    return Fraction(*ratio) if ratio else float(x)


def _in_best(question: Any) -> tuple[Any, Arithmetic]:
    """The answer in fractions, or where there are none in many digits."""
    try:
        return question(EXACT), EXACT
    except ExpressionError as error:
        if error.kind not in ("domain", "derivative"):
            raise
        return question(PRECISE), PRECISE


def _polynomial(answer: str, name: str) -> tuple[Value, int]:
    """An answer that is a polynomial, and its degree. Raises `ExpressionError`."""

    def read(text: str) -> tuple[Value, int]:
        program = parse(text, [name])
        output = single_output(program)
        leaf = program.variables.get(name) or variable(name)
        parts = coefficients(output, leaf, lambda v: v, lambda primitive, a, b: a)
        if parts is None:
            raise ExpressionError("usage", f"the answer is no polynomial in `{name}`", None, "write the polynomial")
        return output, len(parts) - 1

    try:
        return leniently(answer, read)[0]
    except ExpressionError as error:
        raise unreadable(error, answer) from None


def _short(x: Any) -> str:
    text = str(x)
    return text if len(text) < SHORT else f"{float(x):.6g}"


def _shown(right: Fraction, answered: Any) -> tuple[str, str]:
    """A number and one that is not equal to it, as short as they look different."""
    texts = str(right), str(answered)
    if isinstance(answered, Fraction) and max(map(len, texts)) < SHORT:
        return texts
    m = many_digits()
    return short_pair(as_number(m, right), as_number(m, answered))


def _series_hint(k: int, answered: Any, right: Any) -> str:
    if not answered:
        return f"the term of order {k} is missing"
    if answered == -right:
        return "its sign is wrong"
    if k > 1 and answered == right * math.factorial(k):
        return f"that is the derivative of order {k}: divide it by {k}!"
    return f"it is the derivative of order {k} at the point, divided by {k}!"


# ---- Hessians -----------------------------------------------------------------------------------------------------
def check_hessian(text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None) -> Marked:
    """Whether the entries of a matrix, `2, 0; 0, 6`, or `d2/dx^2 = 2, …`, are those of the Hessian at a point."""
    expected, arithmetic = _in_best(lambda arithmetic: hessian(text, point, wrt=wrt, arithmetic=arithmetic))
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
    answered = {place: number_of(entry) for place, entry in typed.items()}
    right = {(i, j): _figure(expected.hessian[i][j]) for i, j in places}
    slopes = [_figure(x) for x in expected.gradient.values()]
    # a 0 that is computed with rounding is off by a part of the largest entry
    largest = max([Fraction(1), *map(abs, right.values())])
    noise = Fraction(0) if arithmetic == EXACT else largest / 10**EQUAL_DIGITS
    marks = []
    for i, j in places:
        of = derivative_name((names[i], names[j]))
        wanted, entry = right[i, j], answered.get((i, j))
        if entry is None:
            marks.append(missing(posed, of))
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
        marks.append(Marked(posed, typed[i, j].strip(), is_right, message, hint, "numbers", 0, of))
    marked = together(posed, answer, marks)
    # rows without names are by the variables in the order of the formula
    order = sorted(range(n), key=lambda k: names[k])
    if "=" in answer or marked.right or order == list(range(n)):
        return marked
    turned = (answered[order.index(i), order.index(j)] for i, j in places)
    return with_order(marked, map(_equal, turned, right.values(), repeat(noise)), names)


def _figure(x: Any) -> Fraction:
    """A number to be compared as a fraction, with all digits that it has."""
    return Fraction(0) if x is None else Fraction(getattr(x, "text", None) or repr(x))


def _equal(answered: Any, right: Fraction, noise: Fraction) -> bool:
    """Whether a number is equal to another one, which is off by `noise` at most."""
    if isinstance(answered, Fraction):
        return abs(answered - right) <= noise
    m = many_digits()
    return bool(abs(answered - as_number(m, right)) <= as_number(m, noise))
