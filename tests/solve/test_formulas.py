"""Solutions as formulas and implicit derivatives, against SymPy and against the derivatives of
solutions at points.
"""

from __future__ import annotations

import itertools
import random

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.solve.implicit_formulas import implicit_diff
from autodiff_cli.capabilities.solve.solve import solve

VALUES = {
    "a": 0.7,
    "b": -1.3,
    "c": 0.4,
    "m": 2.5,
    "V": 12.0,
    "I": 0.8,
    "R1": 10.0,
    "R": 4.0,
    "E": 3.0,
    "F": 2.0,
    "q": 0.2,
}


def value(formula: str, point: dict[str, float]) -> float:
    return gradient(formula, point, wrt=[]).value


@pytest.mark.parametrize(
    ("text", "unknown", "formulas"),
    [
        ("a*x + b = 0", "x", [("-b/a", "a != 0")]),
        ("V = I*R", "R", [("V/I", "I != 0")]),
        ("2*a*x = 4", "x", [("2/a", "a != 0")]),
        ("x**2 = a", "x", [("-sqrt(a)", "a >= 0"), ("sqrt(a)", "a >= 0")]),
        ("x/(x - a) = 2", "x", [("2*a", "a != 0")]),
    ],
)
def test_formulas(text: str, unknown: str, formulas: list[tuple[str, str]]) -> None:
    assert [(f.formula, f.condition) for f in solve(text, unknowns=[unknown]).formulas] == formulas


EQUATIONS = [
    ("a*x**2 + b*x - c = 0", "x"), ("1/R = 1/R1 + 1/x", "x"), ("E = m*x**2", "x"),
    ("a*x**2 = q*x", "x"), ("(a + b)*x = c*x - m", "x"), ("(x - a)*(x - b) = 0", "x"),
    ("a/x + b = c", "x"), ("x/(a + x) = q", "x"), ("exp(a)*x**2 - m = 0", "x"),
    ("a*x**2 + 2*m*x + c = 0", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "unknown"), EQUATIONS)
def test_formulas_have_the_values_of_the_solutions_at_points(text: str, unknown: str) -> None:
    formulas = solve(text, unknowns=[unknown]).formulas
    names = {name for f in formulas for name in VALUES if name in f.formula} | {
        n for n in VALUES if n in text
    }
    point = {name: VALUES[name] for name in names if name in solve_names(text)}
    wanted = [s.values[unknown] for s in solve(text, point, unknowns=[unknown]).solutions]
    held = [
        f
        for f in formulas
        if f.condition is None or value(f"where({f.condition}, 1, 0)", point) == 1
    ]
    assert sorted(value(f.formula, point) for f in held) == pytest.approx(wanted, rel=1e-12)


def solve_names(text: str) -> list[str]:
    from autodiff_cli.questions.equations import read_equations

    return [*read_equations(text, [text[0], *VALUES, "x"]).program.variables]


def test_what_has_no_formula_still_needs_values() -> None:
    for text in ("a*x**3 + x = 1", "sin(x) + x = a", "a*exp(x) = x"):
        with pytest.raises(ExpressionError, match="`a` has no value"):
            solve(text, unknowns=["x"])
    assert solve("x**2 + 1 = 0*a", unknowns=["x"]).reason == "none"
    (root,) = solve("x = g*t/2", {"g": "9.81"}, unknowns=["x"]).formulas
    assert root.formula == "4.905*t"
    assert solve("a*x = 6", {"a": 2}, unknowns=["x"]).solutions[0].values == {"x": 3.0}


# ---- implicit derivatives -----------------------------------------------------------------------------------------
CURVES = [
    "x**2 + y**2 = 25",
    "exp(x*y) = x + y",
    "sin(y) = x",
    "x**3 + y**3 = 6*x*y",
    "y*exp(y) = x",
    "x/y + y**2 = a",
    "y = x**2",
]


@pytest.mark.parametrize(("text", "order"), [*itertools.product(CURVES, (1, 2, 3))])
def test_implicit_derivatives_are_those_of_sympy(text: str, order: int) -> None:
    sympy = pytest.importorskip("sympy")
    answer = implicit_diff(text, unknowns=["y"], wrt=["x"], order=order)
    (formula,) = answer.derivatives
    x, y, a = sympy.symbols("x y a")
    left, right = (sympy.sympify(side, {"x": x, "y": y, "a": a}) for side in text.split("="))
    want = sympy.idiff(left - right, y, x, order)
    rng = random.Random(order)
    for _ in range(5):
        point = {name: rng.uniform(0.3, 1.4) for name in ("x", "y", "a")}
        expected = float(want.subs({x: point["x"], y: point["y"], a: point["a"]}))
        assert gradient(f"{formula.formula} + 0*(x + y + a)", point, wrt=[]).value == pytest.approx(
            expected, rel=1e-7
        )


def test_implicit_derivatives_of_several_unknowns() -> None:
    text = "u**2 + v = x + w; u*v - sin(w) = y; u + v + w = 3*x*y"
    answer = implicit_diff(text, unknowns=["u", "v", "w"])
    point = {"x": 1.2, "y": 0.4}
    solved = solve(text, {**point, "u": 0.8, "v": 0.9, "w": -1.0}, unknowns=["u", "v", "w"])
    at = {**point, **solved.solutions[0].values}
    for each in answer.derivatives:
        want = solved.solutions[0].derivatives[each.of][each.by[0]]  # type: ignore[index]
        assert value(f"{each.formula} + 0*(x + y + u + v + w)", at) == pytest.approx(want, rel=1e-9)


def test_implicit_values_steps_and_warnings() -> None:
    answer = implicit_diff(
        "x**2 + y**2 = 25", {"x": 3, "y": 4}, unknowns=["y"], order=2, steps=True
    )
    assert answer.derivatives[0].value == -25 / 64 and not answer.warnings
    assert [d.by for d in answer.derivations] == [("x",), ("x", "x")]
    assert [s.rule for s in answer.derivations[0].steps][-3:] == ["both sides", "collect", "solve"]
    (warning,) = implicit_diff("x**2 + y**2 = 25", {"x": 3, "y": 3}, unknowns=["y"]).warnings
    assert "not on" in warning.message


@pytest.mark.parametrize(
    ("text", "unknowns", "message"),
    [
        ("x**2 + y**2 = 25", ["z"], "not a variable"),
        ("x**2 + y**2 = 25", ["x", "y"], "1 equation"),
        ("x - x = y", ["x"], "does not determine"),
    ],
)
def test_what_determines_nothing(text: str, unknowns: list[str], message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        implicit_diff(text, unknowns=unknowns)


def test_elasticities_of_solutions() -> None:
    (solution,) = solve("x*exp(x) = a*b", {"a": 1, "b": 2}, unknowns=["x"], relative=True).solutions
    x = solution.values["x"]
    assert solution.elasticities == {
        "x": {"a": pytest.approx(1 / (1 + x)), "b": pytest.approx(1 / (1 + x))}
    }
    (zero,) = solve("x = a - 1", {"a": 1}, unknowns=["x"], relative=True).solutions
    assert zero.elasticities == {"x": {"a": None}}
