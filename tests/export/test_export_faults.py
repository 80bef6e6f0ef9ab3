"""Exported programs where they have no value: random ones at hard points, in every target, against
`grad`.
"""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import ExpressionError, parse
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.export.export import Exported
from autodiff_cli.engine.table.primitive import FUNCTIONS, PRIMITIVES
from autodiff_cli.questions.arithmetic import Arithmetic
from drawn import Drawing
from exported import RUNNERS, at_points, compiled, export

ALLOWED = {
    "right",
    "ill-conditioned",
    "no number",
    "too large",
    "no derivative",
    "right though refused",
}

Point = dict[str, float]
Reference = tuple[str, list[float]]


@cache
def parsed(text: str) -> Any:
    return parse(text)


def reference(text: str, point: Point) -> Reference:
    """The answer of `grad`, or the kind of its error, without its hint, for which it may look in
    more digits.
    """
    try:
        found = parsed(text).gradient(**point)
    except ExpressionError as error:
        return error.kind, []
    return "answer", [found.value, *found.gradient.values()]


def cases(seed: int, programs: int, points: int) -> list[tuple[str, list[Point], list[Reference]]]:
    """Random programs, each with points and what `grad` says there."""
    drawing = Drawing(seed)
    found = []
    while len(found) < programs:
        text = drawing.program(drawing.random.choice((2, 3, 4, 6)))
        names = list(parse(text).variables)
        drawn = [
            {name: x for name, x in drawing.point().items() if name in names} for _ in range(points)
        ]
        ordered = [{name: point[name] for name in names} for point in drawn]
        found.append((text, ordered, [reference(text, point) for point in ordered]))
    return found


def spread(text: str, point: Point, position: int) -> float:
    """How much a result changes when the inputs change in their last digits; infinite at the edge
    of a domain.
    """
    _, here = reference(text, point)
    largest = 0.0
    for factor in (1 + 2**-50, 1 - 2**-50):
        for name, x in point.items():
            kind, there = reference(text, {**point, name: x * factor})
            largest = max(
                largest, abs(there[position] - here[position]) if kind == "answer" else math.inf
            )
    return largest


def is_right(text: str, point: Point, got: Sequence[float], kind: str) -> bool:
    """Whether finite numbers are right where `grad` refuses: a number on the way was too large, or
    a slope infinite.
    """
    if kind == "overflow":
        exactly = {name: repr(x) for name, x in point.items()}
        try:
            found = gradient(text, exactly, arithmetic=Arithmetic("precision", 50))
        except ExpressionError:
            return False
        true = [float(figure.text) for figure in (found.value, *found.gradient.values())]
        return all(
            math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-300) for a, b in zip(got, true, strict=True)
        )
    # Behind a jump, such as that of `sign`, an infinite slope is not asked for: the program is
    # level on one side.
    for step in (1e-6, -1e-6):
        quotients = []
        for name, x in point.items():
            h = step * max(1.0, abs(x))
            try:
                there = gradient(text, {**point, name: x + h}, wrt=[]).value
            except ExpressionError:
                break
            quotients.append((there - got[0]) / h)
        if len(quotients) == len(point) and all(
            math.isclose(a, b, rel_tol=1e-2, abs_tol=1e-3)
            for a, b in zip(got[1:], quotients, strict=True)
        ):
            return True
    return False


def verdict(text: str, point: Point, want: Reference, got: Sequence[float] | None) -> str:
    """How a target's answer stands to that of `grad`."""
    kind, numbers = want
    finite = [math.isfinite(x) for x in got] if got is not None else [False]
    if kind == "answer":
        if got is None or not all(finite):
            return "no number where there is one"
        result = "right"
        for k, (a, b) in enumerate(zip(got, numbers, strict=True)):
            if abs(a - b) > 1e-9 * abs(b) + 1e-300:
                if abs(a - b) > 1e-9 * abs(b) + 256 * spread(text, point, k):
                    return "wrong"
                result = "ill-conditioned"
        return result
    if not any(finite):
        return "no number"
    if kind == "domain" or got is None:
        return "a number where nothing is defined"
    if not all(finite):
        return "too large" if kind == "overflow" else "no derivative"
    return "right though refused" if is_right(text, point, got, kind) else "a number that is wrong"


def held(
    drawn: Sequence[tuple[str, list[Point], list[Reference]]], runtime: str, folder: Path
) -> tuple[Counter[str], list[str]]:
    """How often a runtime's answers stand how to those of `grad`; and those that must not be."""
    to = "c" if runtime == "c" else RUNNERS[runtime][0]
    programs: list[Exported | None] = []
    for k, (text, _, _) in enumerate(drawn):
        try:
            programs.append(export(text, to, name=f"f_{k}"))
        except ExpressionError:
            programs.append(None)
    there = [program for program in programs if program is not None]
    runs = (
        dict(zip([p.name for p in there], compiled(there, folder), strict=True))
        if to == "c"
        else {}
    )
    counts: Counter[str] = Counter()
    bad = []
    for program, (text, points, wants) in zip(programs, drawn, strict=True):
        if program is None:
            counts["lacking"] += len(points)
            continue
        rows = [list(point.values()) for point in points]
        if to == "c":
            answers = [runs[program.name](program, row) for row in rows]
            found: list[list[float] | None] = [[value, *partials] for value, partials in answers]
        else:
            found = at_points(runtime, program, rows)
        for point, want, got in zip(points, wants, found, strict=True):
            how = verdict(text, point, want, got)
            counts[f"{want[0]}: {how}"] += 1
            if how not in ALLOWED:
                bad.append(f"{how}: {text} at {point}: {got}, {want}")
    return counts, bad


DRAWN = cases(seed=14, programs=250, points=6)


def test_enough_of_every_kind_is_drawn() -> None:
    kinds = Counter(want[0] for _, _, wants in DRAWN for want in wants)
    assert kinds["answer"] > 700
    assert kinds["domain"] > 250
    assert kinds["overflow"] > 60
    assert kinds["derivative"] > 5
    conditional = sum(" if " in text for text, _, _ in DRAWN)
    assert conditional > 60
    used = {name for name in PRIMITIVES if any(f"{name}(" in text for text, _, _ in DRAWN)}
    assert len(used) > 50


@pytest.mark.parametrize("runtime", ["c", *RUNNERS])
def test_no_target_has_a_number_where_grad_has_none(runtime: str, tmp_path: Path) -> None:
    if runtime == "c" and not shutil.which("gcc"):
        pytest.skip("there is no gcc")
    # JAX compiles every operation by itself here, and gcc reads a file a program; what Python has,
    # most targets share.
    drawn = DRAWN[: {"jax": 40, "c": 100, "python": len(DRAWN)}.get(runtime, 125)]
    counts, bad = held(drawn, runtime, tmp_path)
    assert not bad, "\n".join(bad)
    assert counts["lacking"] < counts.total() / 5


def calls_without_a_value() -> list[tuple[str, list[Point], list[Reference]]]:
    """Every function of several arguments with one that has no value."""
    found = []
    for name, primitive in sorted(FUNCTIONS.items()):
        names = ("x", "y", "z") if primitive.variadic else primitive.params
        fixed = () if primitive.variadic else primitive.constant_params
        if len(names) < 2 or name != primitive.name or name == "where":
            continue
        for missing in [each for each in names if each not in fixed]:
            given = {
                each: "2" if each in fixed else f"asin({each})" if each == missing else each
                for each in names
            }
            point = {
                each: -5.0 if each == missing else 0.4 + 0.3 * k for k, each in enumerate(names)
            }
            text = f"{name}({', '.join(given.values())})"
            point = {each: point[each] for each in parse(text).variables}
            found.append((text, [point], [reference(text, point)]))
    return found


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
def test_an_argument_without_a_value_leaves_none_in_c(tmp_path: Path) -> None:
    # The smaller and the larger of two numbers are in C the other one, where one of them is none.
    calls = calls_without_a_value()
    counts, bad = held(calls, "c", tmp_path)
    assert not bad, "\n".join(bad)
    assert counts["domain: no number"] > 30


HARD = (
    # A constant without a value in a branch that is not taken, and one that is.
    ("x if x > 0 else 1/(2-2)", (2.0, -1.0)),
    ("x if x > 0 else exp(1000)", (2.0, -1.0)),
    ("x if x > 0 else 10**400*x", (2.0, -1.0)),
    ("log(-1) if x > 0 else x**2", (2.0, -1.0)),
    ("x if x > 0 else log(-1)*x", (2.0, -1.0)),
    ("x if x > 0 or 1/(2-2) > x else 3", (2.0, -1.0)),
    ("x if not (x > 0 and log(-1) < x) else 3", (2.0, -1.0)),
    ("asinh(log10(0)) + x", (1.0,)),
    # An operand of a comparison without a value, or too large.
    ("1 if log(x) > 0 else 2", (3.0, 0.5, -1.0, 0.0)),
    ("x if sqrt(x) == 2 else -x", (4.0, 1.0, -1.0)),
    ("x if x*x < y*y else 2*x", (1e200, 2.0)),
    ("max(sqrt(x), 1)*y + min(1/y, 2)", (-1.0, 0.5, 4.0, 0.0)),
    ("relu(log(x)) + heaviside(1/x)", (-1.0, 0.0, 3.0)),
    ("sign(asin(x))", (0.5, 2.0)),
    ("1/(1 + exp(x))", (800.0, 1.0)),
    ("tanh(1/x) + exp(log(x))", (0.0, 2.0)),
    # Outside the domain the formula alone would give a number.
    ("acot(x)", (0.0, 2.0)),
    ("clamp(x, 2, y)", (1.0, 3.0)),
    ("log(3, x)", (0.0, 2.0, -1.0, 1.0)),
    ("elu(x, log(y))", (3.0, -1.0)),
    ("leaky_relu(x, 1/y)", (3.0, 0.0)),
    # Losing sides one behind the other, where what is lost has an infinite derivative.
    ("sqrt(max(0, max(0, x)))", (-1.0, 4.0)),
    ("acos(clamp(clamp(x, -1, 1), -1, 1)) + y", (3.0, 0.5)),
    # Formulas that lose digits, or overflow on the way.
    ("csch(x) + coth(x)", (800.0, -800.0, 1.0, 1e8, 0.0)),
    ("expm1(x)", (-1e8, -800.0, -1e-300, 0.0, 1e-10)),
    ("elu(x)", (-1e8, -800.0, 3.0)),
    ("sech(x) + tanh(x)", (800.0, -1e8)),
    ("sinc(x)", (1e-300, 1e-9, 0.5)),
    ("softplus(x) + sigmoid(x) + logaddexp(x, y)", (800.0, -800.0, 1e8, 0.0)),
)


@pytest.mark.parametrize("runtime", ["c", *RUNNERS])
def test_programs_that_are_hard_to_export(runtime: str, tmp_path: Path) -> None:
    if runtime == "c" and not shutil.which("gcc"):
        pytest.skip("there is no gcc")
    drawn = []
    for text, numbers in HARD:
        names = list(parse(text).variables)
        points = [dict(zip(names, (x, *numbers[::-1]), strict=False)) for x in numbers]
        drawn.append((text, points, [reference(text, point) for point in points]))
    counts, bad = held(drawn, runtime, tmp_path)
    assert not bad, "\n".join(bad)
    assert not counts["lacking"]
    assert sum(count for how, count in counts.items() if how.startswith("domain")) >= 20


def test_the_test_sees_a_number_where_there_is_none_and_a_wrong_one() -> None:
    assert verdict("log(x)", {"x": -1.0}, ("domain", []), [math.nan, -1.0]) not in ALLOWED
    assert verdict("log(x)", {"x": -1.0}, ("domain", []), [0.0, math.nan]) not in ALLOWED
    assert verdict("x**2", {"x": 3.0}, ("answer", [9.0, 6.0]), [9.0, 6.006]) not in ALLOWED
    assert verdict("x**2", {"x": 3.0}, ("answer", [9.0, 6.0]), None) not in ALLOWED
    assert (
        verdict("y/exp(x)", {"y": 1e300, "x": 800.0}, ("overflow", []), [0.0, 0.0, 0.0])
        not in ALLOWED
    )
    assert verdict("tanh(x*x)", {"x": 1e200}, ("overflow", []), [1.0, 0.0]) in ALLOWED
