"""Answers that people found themselves: whether a derivative, solution, series or Hessian is right, and if not, why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from ..algebra.rational_functions import coefficients
from ..derivatives.hessian import hessian
from ..derivatives.holes import DIGITS, decided_series
from ..derivatives.taylor import taylor
from ..diagnostics.leniency import leniently
from ..equations.solve import solve
from ..errors import ExpressionError, counted, usage_error
from ..formulas.diff import diff
from ..graphs.value import Value, node, variable
from ..inputs.arithmetic import Arithmetic
from ..inputs.parse_point import split
from ..inputs.problem import Point, parse, single_output
from ..table.operators import SUB
from .exercise import Exercise, Marked
from .marking import AGREED, formula_marked, number_of, unreadable

EXACT, PRECISE = Arithmetic("exact"), Arithmetic("precision", 40)

FEWEST_DIGITS = 3
"""A decimal number of fewer digits is not taken for a rounded solution."""

_UNKNOWN = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_OR = re.compile(r"\s+(?:or|and)\s+")
_DECIMAL = re.compile(r"\s*[-+]?\d*\.(\d+)\s*")


def own(
    kind: str, program: str, answer: Sequence[str], wrt: Sequence[str] = (), point: Point | None = None
) -> Exercise:
    """The exercise that a question and its answer are."""
    at = {name: str(x) for name, x in (point or {}).items()}
    formula = kind in ("derivative", "second", "higher")
    return Exercise(0, 0, 0, kind, "Differentiate {f}.", program, at, tuple(wrt), ("",), tuple(answer), formula, None)


def check_derivative(
    text: str, point: Point | None = None, *, answer: str, wrt: Sequence[str] | None = None, order: int = 1
) -> Marked:
    """Whether a formula is the derivative of a program, and if not, what is wrong with it.

    >>> check_derivative("x**2*sin(x)", answer="2*x*cos(x)").hint
    'the derivative of a product is not the product of the derivatives: it is u′·v + u·v′'
    """
    derivatives = diff(text, wrt=wrt, order=order).derivatives
    if len(derivatives) != 1:
        raise usage_error("an answer is one derivative, and these are several", "name the variable: `--wrt x`")
    (derivative,) = derivatives
    kind = {1: "derivative", 2: "second"}.get(order, "higher")
    return formula_marked(own(kind, text, [derivative.formula], derivative.by[:1]), answer)


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
    solved = solve(text, point, unknowns=unknowns, between=between, every=every or between is not None)
    if len(solved.unknowns) != 1:
        raise usage_error("`--answer` is for one unknown", "leave it out")
    posed = own("solution", text, [], point=point)
    entries = [_UNKNOWN.sub(lambda head: " " * len(head[0]), entry, count=1) for entry in _entries(answer)]
    if solved.formulas:
        # those that hold where the leading coefficient is 0 need not be given
        formulas = [each.formula for each in solved.formulas if " == 0" not in (each.condition or "")]
        return _formulas_marked(posed, answer, entries, formulas, solved.unknowns)
    roots = [float(solution.values[solved.unknowns[0]]) for solution in solved.solutions]
    if not entries or answer.strip().lower() in ("none", "no solution"):
        right = not roots and bool(solved.complete)
        message = "right: there is no solution" if right else "wrong: there are solutions" if roots else "not decided"
        return Marked(posed, answer, right, message, "", "numbers", 0)
    met: set[int] = set()
    remarks = []
    for entry in entries:
        number = float(number_of(entry))
        nearest = min(range(len(roots)), key=lambda k: abs(roots[k] - number), default=None)
        if nearest is None:
            return Marked(posed, answer, False, "wrong: no solution was found", solved.message, "numbers", 0)
        off = abs(roots[nearest] - number)
        decimal = _DECIMAL.fullmatch(entry)
        rounded = decimal is not None and len(entry.strip(" -+0.").replace(".", "")) >= FEWEST_DIGITS
        if off <= 1e-12 * max(abs(number), abs(roots[nearest])) + (1e-300 if roots[nearest] else 0):
            met.add(nearest)
        elif rounded and decimal and off <= 0.5 * 10.0 ** -len(decimal[1]) * (1 + 1e-9):
            met.add(nearest)
            remarks.append(f"`{entry.strip()}` is rounded")
        else:
            mirrored = any(math.isclose(-number, root, rel_tol=1e-12) for root in roots)
            near = off <= 0.01 * abs(roots[nearest])
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
        missing = counted(len(roots) - len(met), "solution")
        are = "is" if len(roots) - len(met) == 1 else "are"
        return Marked(posed, answer, False, f"wrong: {missing} {are} missing", "what is given is right", "numbers", 0)
    if solved.complete is None:
        remarks.append("whether there are others is not known")
    message = "; ".join([f"right: {'these are the solutions' if len(roots) > 1 else 'this is the solution'}", *remarks])
    return Marked(posed, answer, True, message, "", "numbers", 0)


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
        missing = counted(len(left), "solution")
        are = "is" if len(left) == 1 else "are"
        return Marked(posed, answer, False, f"wrong: {missing} {are} missing", "what is given is right", how, 0)
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


def _figure(x: Any) -> Any:
    """A number to be compared: a fraction, or many digits."""
    if x is None:
        return Fraction(0)
    text = getattr(x, "text", None) or repr(x)
    number = Fraction(text)
    return number if "." not in text else Fraction(f"{float(number):.15g}") if number else number


def _short(x: Any) -> str:
    text = str(getattr(x, "text", x))
    return text if len(text) < 20 else f"{float(Fraction(text)):.6g}"


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
    """Whether the entries of a matrix, `2, 0; 0, 6`, are those of the Hessian of a program at a point."""
    expected, arithmetic = _in_best(lambda arithmetic: hessian(text, point, wrt=wrt, arithmetic=arithmetic))
    names, matrix = list(expected.gradient), expected.hessian
    posed = own("hessian", text, [], names, point)
    rows = [[number_of(entry) for entry in split(row)] for row in answer.strip().strip("[]").split(";")]
    n = len(names)
    if [len(row) for row in rows] != [n] * n:
        shape = "; ".join([", ".join(["…"] * n)] * n)
        raise usage_error(f"the Hessian by {counted(n, 'variable')} has {n} rows of {n}", f"write `--answer '{shape}'`")
    slopes = [_figure(x) for x in expected.gradient.values()]
    for i, row in enumerate(rows):
        for j, given in enumerate(row):
            right = _figure(matrix[i][j])
            if not _equal(given, right):
                entry = f"d2/d{names[i]} d{names[j]}" if i != j else f"d2/d{names[i]}^2"
                message = f"wrong: {entry} is {_short(matrix[i][j])}, and this has {float(given):.6g}"
                product = slopes[i] * slopes[j]
                hint = (
                    "its sign is wrong" if _equal(given, -right)
                    else "a Hessian is symmetric" if i != j and _equal(rows[j][i], right)
                    else "that is the product of the first derivatives" if _equal(given, product) and product
                    else f'see it worked: `autodiff diff "{text}" --order 2 --steps`'
                )  # fmt: skip
                return Marked(posed, answer, False, message, hint, "numbers", 0)
    how = "" if arithmetic == EXACT else ", to 15 digits"
    return Marked(posed, answer, True, f"right: all entries agree{how}", "", "numbers", 0)


def _equal(given: Any, right: Fraction) -> bool:
    if isinstance(given, Fraction):
        return given == right or (right.denominator > 10**6 and math.isclose(given, right, rel_tol=1e-14))
    return math.isclose(float(given), float(right), rel_tol=1e-14, abs_tol=1e-300)
