"""Answers that people found themselves: whether a solution, series or Hessian is right, and if not, why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Any

from ..algebra.rational_functions import coefficients
from ..derivatives.hessian import hessian
from ..derivatives.holes import DIGITS, decided_series
from ..derivatives.taylor import taylor
from ..diagnostics.leniency import leniently
from ..equations.solve import read_with_unknowns, solve
from ..errors import ExpressionError, counted, usage_error
from ..formulas.derivation import derivative_name
from ..graphs.value import Value, node, variable
from ..graphs.value_and_gradient import value_in
from ..inputs.arithmetic import Arithmetic
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..numbers.base import NumberType
from ..table.operators import SUB
from .comparison import AGREED, as_number, equal, many_digits
from .derivative_answers import missing, own, together, with_order
from .exercise import Exercise, Marked
from .labels import Key, entries
from .marking import formula_marked, number_of, short_pair, unreadable

EXACT, PRECISE = Arithmetic("exact"), Arithmetic("precision", 60)

EQUAL_DIGITS = 50
"""Numbers that are no fractions are compared in so many digits."""

ZERO_DIGITS = 90
"""A number is taken for 0 where so many digits behind the point are 0."""

FEWEST_DIGITS = 3
"""A decimal number of fewer digits is not taken for a rounded solution."""

SHORT = 20
"""Fractions of fewer characters are shown as they are."""

_UNKNOWN = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_OR = re.compile(r"\s+(?:or|and)\s+")
_DECIMAL = re.compile(r"\s*[-+]?\d*\.(\d+)\s*")


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
    """Whether numbers, or formulas, are the solutions of an equation."""
    every = every or between is not None
    solved = solve(text, point, unknowns=unknowns, between=between, every=every, arithmetic=PRECISE)
    if len(solved.unknowns) != 1:
        raise usage_error("`--answer` is for one unknown", "leave it out")
    posed = own("solution", text, [], point=point)
    numbers = [_UNKNOWN.sub(lambda head: " " * len(head[0]), entry, count=1) for entry in _entries(answer)]
    if solved.formulas:
        # those that hold where the leading coefficient is 0 need not be given
        formulas = [formula.formula for formula in solved.formulas if " == 0" not in (formula.condition or "")]
        return _formulas_marked(posed, answer, numbers, formulas, solved.unknowns)
    (unknown,) = solved.unknowns
    roots = [_figure(solution.values[unknown]) for solution in solved.solutions]
    if not numbers or answer.strip().lower() in ("none", "no solution"):
        right = not roots and bool(solved.complete)
        message = "right: there is no solution" if right else "wrong: there are solutions" if roots else "not decided"
        return Marked(posed, answer, right, message, "", "numbers", 0)
    met: set[int] = set()
    remarks = []
    for entry in numbers:
        exact = number_of(entry)
        number = exact if isinstance(exact, Fraction) else Fraction(str(exact))
        nearest = min(range(len(roots)), key=lambda k: abs(roots[k] - number), default=None)
        is_listed = nearest is not None and _is_root(number, roots[nearest])
        if not is_listed and not solved.complete and _solves(text, point, unknown, entry):
            remarks.append(f"`{entry.strip()}` solves it, though the search did not find it")
            continue
        if nearest is None:
            return Marked(posed, answer, False, "wrong: no solution was found", solved.message, "numbers", 0)
        off = abs(roots[nearest] - number)
        decimal = _DECIMAL.fullmatch(entry)
        rounded = decimal is not None and len(entry.strip(" -+0.").replace(".", "")) >= FEWEST_DIGITS
        if is_listed:
            met.add(nearest)
        elif rounded and decimal and 2 * off * 10 ** len(decimal[1]) <= 1:
            met.add(nearest)
            remarks.append(f"`{entry.strip()}` is rounded")
        else:
            mirrored = any(_is_root(-number, root) for root in roots)
            near = 100 * off <= abs(roots[nearest])
            hint = (
                "the sign is wrong"
                if mirrored
                else "that is near: give it exactly, or with more digits"
                if near
                else ""
            )
            message = f"wrong: `{entry.strip()}` is no solution"
            return Marked(posed, answer, False, message, hint or "put it into both sides", "numbers", 0)
    if len(met) < len(roots):
        absent = ("" if solved.complete else "at least ") + counted(len(roots) - len(met), "solution")
        are = "is" if len(roots) - len(met) == 1 else "are"
        return Marked(posed, answer, False, f"wrong: {absent} {are} missing", "what is given is right", "numbers", 0)
    if solved.complete is None:
        remarks.append("whether there are others is not known")
    message = "; ".join([f"right: {'these are the solutions' if len(roots) > 1 else 'this is the solution'}", *remarks])
    return Marked(posed, answer, True, message, "", "numbers", 0)


def _is_root(number: Fraction, root: Fraction) -> bool:
    """Whether a number is a root that is known to `EQUAL_DIGITS`."""
    return abs(number - root) <= (abs(root) / 10**EQUAL_DIGITS if root else Fraction(1, 10**ZERO_DIGITS))


def _solves(text: str, point: Point | None, unknown: str, entry: str) -> bool:
    """Whether both sides of an equation agree where the unknown is the number that a text stands for."""
    output = single_output(read_with_unknowns(text, [*(point or {})], [unknown]).program)
    value = single_output(parse(entry))

    def sides(m: NumberType) -> tuple[Any, Any] | None:
        at = {name: m.literal(str(x)) for name, x in (point or {}).items()}
        number = value_in(m, value, {})
        rest = None if number is None else value_in(m, output, {**at, unknown: number})
        return None if rest is None else (rest, m.number(0))

    return bool(equal(sides))


def _entries(answer: str) -> Iterator[str]:
    """The numbers or formulas of an answer, `±` written out."""
    for entry in (part for text in split(answer) for part in _OR.split(text)):
        for sign in ("+", "-") if "±" in entry else ("",):
            if entry.strip():
                yield entry.replace("±", sign)


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
    given = decided_series(typed, at, name, max(order, degree))[0]
    for k in range(max(order, degree) + 1):
        if k > order and given.at(k):
            message, hint = f"a term of order {k} is too much", f"leave the terms beyond order {order} out"
            return Marked(posed, answer, False, f"wrong: {message}", hint, "numbers", 0)
    series, decisions = decided_series(output, at, name, order)
    difference, more = decided_series(node(SUB, (output, typed)), at, name, order)
    for k in range(order + 1):
        if difference.at(k):
            right, wrong = _number(series.at(k)), _number(given.at(k))
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


def _shown(right: Fraction, given: Any) -> tuple[str, str]:
    """A number and one that is not equal to it, as short as they look different."""
    texts = str(right), str(given)
    if isinstance(given, Fraction) and max(map(len, texts)) < SHORT:
        return texts
    m = many_digits()
    return short_pair(as_number(m, right), as_number(m, given))


def _series_hint(k: int, given: Any, right: Any) -> str:
    if not given:
        return f"the term of order {k} is missing"
    if given == -right:
        return "its sign is wrong"
    if k > 1 and given == right * math.factorial(k):
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
        rows = [split(row) for row in answer.strip().strip("[]").split(";")]
        if [len(row) for row in rows] != [n] * n:
            shape = "; ".join([", ".join(["…"] * n)] * n)
            message = f"the Hessian by {counted(n, 'variable')} has {n} rows of {n}"
            raise usage_error(message, f"write `--answer '{shape}'`, or name the entries: `d2/dx^2 = …`")
        typed = {(i, j): rows[i][j] for i, j in places}
    given = {place: number_of(entry) for place, entry in typed.items()}
    right = {(i, j): _figure(expected.hessian[i][j]) for i, j in places}
    slopes = [_figure(x) for x in expected.gradient.values()]
    # a 0 that is computed with rounding is off by a part of the largest entry
    largest = max([Fraction(1), *map(abs, right.values())])
    noise = Fraction(0) if arithmetic == EXACT else largest / 10**EQUAL_DIGITS
    marks = []
    for i, j in places:
        of = derivative_name((names[i], names[j]))
        wanted, entry = right[i, j], given.get((i, j))
        if entry is None:
            marks.append(missing(posed, of))
            continue
        is_right = _equal(entry, wanted, noise)
        hint = (
            "" if is_right
            else "its sign is wrong" if _equal(entry, -wanted, noise)
            else "a Hessian is symmetric" if i != j and _equal(given.get((j, i), entry), wanted, noise)
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
    turned = (given[order.index(i), order.index(j)] for i, j in places)
    return with_order(marked, map(_equal, turned, right.values(), repeat(noise)), names)


def _figure(x: Any) -> Fraction:
    """A number to be compared as a fraction, with all digits that it has."""
    return Fraction(0) if x is None else Fraction(getattr(x, "text", None) or repr(x))


def _equal(given: Any, right: Fraction, noise: Fraction) -> bool:
    """Whether a number is equal to another one, which is off by `noise` at most."""
    if isinstance(given, Fraction):
        return abs(given - right) <= noise
    m = many_digits()
    return bool(abs(given - as_number(m, right)) <= as_number(m, noise))
