"""Solutions held against published ones, against 50 digits, and their derivatives against
differences of such roots.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import mpmath
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.solve import enclosures
from autodiff_cli.capabilities.solve.solve import Solved, solve
from autodiff_cli.engine.numbers.ball import _whole_power
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.questions.arithmetic import arithmetic_of
from autodiff_cli.questions.equations import read_equations
from autodiff_cli.questions.parse_point import Range

CERTIFIED, MANY = arithmetic_of(False, None, True), arithmetic_of(False, 50, False)
BLACK_SCHOLES = (
    "N(x) = (1 + erf(x/sqrt(2)))/2; d1 = (log(S/K) + (r + s**2/2)*T)/(s*sqrt(T)); d2 = d1 -"
    " s*sqrt(T); S*N(d1) - K*exp(-r*T)*N(d2) = C"
)


class Case(NamedTuple):
    """Equations, their unknowns with starts, and the values of the other variables."""

    name: str
    text: str
    unknowns: dict[str, float]
    at: dict[str, float | str]


CASES = [
    Case("Colebrook", "1/sqrt(f) = -2*log10(eps/3.7 + 2.51/(Re*sqrt(f)))", {"f": 0.02}, {"eps": "1e-4", "Re": "1e5"}),
    Case("Kepler", "E - ecc*sin(E) = M", {"E": 1.0}, {"ecc": "0.3", "M": 1}),
    Case("Kepler, nearly a parabola", "E - ecc*sin(E) = M", {"E": 0.5}, {"ecc": "0.99", "M": "0.05"}),
    Case("van der Waals", "(p + a*n**2/V**2)*(V - n*b) = n*R*T", {"V": 0.02},
         {"p": 101325, "a": "0.364", "n": 1, "b": "4.27e-5", "R": "8.314462618", "T": 300}),
    Case("Lambert W", "w*exp(w) = x", {"w": 1.0}, {"x": 1}),
    Case("Lambert W, lower branch", "w*exp(w) = x", {"w": -2.0}, {"x": "-0.2"}),
    Case("implied volatility", BLACK_SCHOLES, {"s": 0.3}, {"S": 100, "K": 105, "r": "0.03", "T": "0.5", "C": "4.2"}),
    Case("circle and hyperbola", "x**2 + y**2 = r**2; x*y = c", {"x": 2.0, "y": 0.4}, {"r": 2, "c": 1}),
    Case("two-bar truss", "P*sin(u) = k*(u - v); P*sin(v) = k*(2*v - u) + m", {"u": 0.3, "v": 0.1},
         {"P": "0.2", "k": "1.5", "m": "-0.4"}),
    # Powell, 1970: badly scaled (Moré, Garbow and Hillstrom, problem 3)
    Case("Powell, badly scaled", "10000*x*y = a; exp(-x) + exp(-y) = b", {"x": 0.0, "y": 1.0}, {"a": 1, "b": "1.0001"}),
    Case("Brown, almost linear", "2x + y + z = a; x + 2y + z = a; x*y*z = b", {"x": 0.5, "y": 0.5, "z": 0.5},
         {"a": 4, "b": 1}),
]  # fmt: skip


def asked(case: Case, **more: Any) -> Solved:
    return solve(case.text, {**case.at, **case.unknowns}, unknowns=list(case.unknowns), **more)


def exact_root(case: Case, near: Mapping[str, float], moved: Mapping[str, Any]) -> list[Any]:
    """The solution in 50 digits by mpmath, where some of the other variables are moved."""
    names = list(case.unknowns)
    values = {name: mpmath.mpf(str(x)) for name, x in case.at.items()}
    values.update({name: values[name] + d for name, d in moved.items()})
    tools = {name: getattr(mpmath, name) for name in ("sqrt", "exp", "sin", "erf", "log")}
    tools["log10"] = lambda x: mpmath.log(x) / mpmath.log(10)

    # decimals as they are typed
    text = re.sub(r"\d+\.\d+", r"mpf('\g<0>')", case.text.replace("2x", "2*x").replace("2y", "2*y"))
    tools["mpf"] = mpmath.mpf

    def sides(*unknowns: Any) -> list[Any]:
        space = {**tools, **values, **dict(zip(names, unknowns, strict=True))}
        if "N" in case.text.split("(")[0]:
            space["N"] = lambda x: (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2
        found = []
        for statement in text.split(";"):
            left, _, right = statement.strip().partition(" = ")
            if left in ("d1", "d2"):
                space[left] = eval(right, space)  # noqa: S307
            elif not left.startswith("N(x)"):
                found.append(eval(f"({left}) - ({right})", space))  # noqa: S307
        return found if len(found) > 1 else found[0]

    solved = mpmath.findroot(sides, [mpmath.mpf(near[n]) for n in names], tol=1e-90, maxsteps=60)
    return list(solved) if len(names) > 1 else [solved]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_solutions_and_their_derivatives(case: Case) -> None:
    found = asked(case, order=2)
    (only,) = found.solutions
    assert (
        found.converged and only.simple and only.derivatives is not None and only.second is not None
    )
    assert set(only.derivatives[next(iter(case.unknowns))]) == set(case.at)
    with mpmath.workdps(50):
        roots = exact_root(case, only.values, {})
        for (name, x), root in zip(only.values.items(), roots, strict=True):
            error = only.errors[name]
            assert error is not None and abs(x - root) <= 4 * error + 1e-15 * abs(root)
            assert error <= 1e-7 * abs(root)
        # differences of roots in 50 digits
        steps = {
            name: mpmath.mpf(10) ** -12 * max(abs(mpmath.mpf(str(x))), mpmath.mpf("1e-3"))
            for name, x in case.at.items()
        }
        for p, h in steps.items():
            up, down = (exact_root(case, only.values, {p: sign * h}) for sign in (1, -1))
            for name, a, b, here in zip(case.unknowns, up, down, roots, strict=True):
                slope, bent = (a - b) / (2 * h), (a - 2 * here + b) / h**2
                assert math.isclose(
                    only.derivatives[name][p], float(slope), rel_tol=2e-9, abs_tol=1e-14
                )
                assert math.isclose(
                    only.second[name][p][p],
                    float(bent),
                    rel_tol=1e-6,
                    abs_tol=1e-9 * abs(float(bent)) + 1e-10,
                )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mixed_second_derivatives_are_symmetric(case: Case) -> None:
    (only,) = asked(case, order=2).solutions
    assert only.second is not None
    pairs = 0
    for matrix in only.second.values():
        size = max(abs(float(x)) for row in matrix.values() for x in row.values())
        for p, q in itertools.combinations(matrix, 2):
            assert math.isclose(matrix[p][q], matrix[q][p], rel_tol=1e-8, abs_tol=1e-12 * size)
            pairs += 1
    assert pairs >= len(case.at) // 2


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name != "Powell, badly scaled"],
    ids=lambda case: case.name,
)
def test_digits_in_other_arithmetics(case: Case) -> None:
    many, proven = (
        asked(case, arithmetic=MANY).solutions[0],
        asked(case, arithmetic=CERTIFIED).solutions[0],
    )
    assert proven.proven and not many.proven
    with mpmath.workdps(70):
        roots = exact_root(case, {name: float(x) for name, x in many.values.items()}, {})
        for name, root in zip(case.unknowns, roots, strict=True):
            assert (
                abs(mpmath.mpf(many.values[name].text) - root) <= abs(root) * mpmath.mpf(10) ** -48
            )
            assert (
                abs(mpmath.mpf(proven.values[name].text) - root)
                <= abs(root) * mpmath.mpf(10) ** -16
            )
        assert many.derivatives is not None and proven.derivatives is not None
        for name, row in proven.derivatives.items():
            for p, x in row.items():
                other = mpmath.mpf(many.derivatives[name][p].text)
                assert abs(mpmath.mpf(x.text) - other) <= abs(other) * mpmath.mpf(10) ** -15


# ---- where solutions are looked for ---------------------------------------------------------------------------------
SINGLE = [
    ("x**3 - 2x - 5", -10, 10, 2.0945514815423265),
    ("exp(x) = 1e-200", -1000, 0, math.log(1e-200)),
    ("x**9 = 1e-27", -1, 2, 1e-3),
    ("atan(x - 3)", -1e6, 1e9, 3.0),
    ("log(x) = -300", 1e-200, 1e10, math.exp(-300)),
    ("1/(x - 1) = x", 1.000001, 50, (1 + math.sqrt(5)) / 2),
    ("tanh(1e6*(x - 0.1234))", -1, 1, 0.1234),
]


@pytest.mark.parametrize(("text", "low", "high", "root"), SINGLE)
def test_a_bracket_is_not_missed(text: str, low: float, high: float, root: float) -> None:
    found = solve(text, between=Range(low, high))
    (only,) = found.solutions
    error = only.errors["x"]
    assert error is not None and error < 1e-12 * abs(root)
    assert abs(only.values["x"] - root) <= error + 2e-16 * abs(root) and found.evaluations < 3000


@pytest.mark.parametrize(
    ("text", "start", "root"),
    [("x**2 = 2", 100.0, math.sqrt(2)), ("log(x) = 5", 1.0, math.exp(5)), ("atan(x)", 50.0, 0.0),
     ("x**3 = 8", -9.0, 2.0), ("sqrt(x) = 3", 0.0, 9.0), ("x*exp(-x) = 0.1", 0.5, 0.11183255915896297),
     ("1/x = 1e-5", 1.0, 1e5), ("x**2", 3.0, 0.0), ("(x - 2)**2", 3.0, 2.0)],
)  # fmt: skip
def test_without_bounds_it_brackets_by_itself(text: str, start: float, root: float) -> None:
    found = solve(text, {"x": start}, unknowns=["x"])
    (only,) = found.solutions
    assert found.converged and math.isclose(
        only.values["x"], root, rel_tol=1e-15 if only.simple else 1e-7, abs_tol=1e-15
    )


def test_signs_change_at_poles_and_jumps_too() -> None:
    for text, low, high in (
        ("1/x", -1, 2),
        ("sign(x) + 0.5", -1, 2),
        ("floor(x) = 0.5", -1, 3),
        ("tan(x)", 1, 2),
    ):
        with pytest.raises(
            ExpressionError, match="changes its sign, as at a pole or a jump"
        ) as caught:
            solve(text, between=Range(low, high))
        assert caught.value.kind == "point" and caught.value.hint
        nothing = solve(text, between=Range(low, high), every=True)
        assert not nothing.solutions and nothing.reason == (
            "none" if text in ("1/x", "tan(x)") else "not found"
        )


def test_other_roots_between_the_bounds_are_told_and_listed() -> None:
    found = solve("sin(x)", between=Range(0.5, 20))
    assert [round(x / math.pi) for x in found.others] == [2, 3, 4, 5, 6]
    every = solve("sin(x)", between=Range(0.5, 20), every=True)
    assert [each.values["x"] for each in every.solutions] == [k * math.pi for k in range(1, 7)]
    touched = solve("(x - 1)**2*(x - 3)", between=Range(-1, 4), every=True).solutions
    assert [(round(each.values["x"], 6), each.simple) for each in touched] == [
        (1.0, False),
        (3.0, True),
    ]


def test_all_solutions_are_proven() -> None:
    found = solve("x**5 - 5x**3 + 4x", between=Range(-3, 3), every=True, arithmetic=CERTIFIED)
    assert found.complete and found.converged
    assert [each.values["x"].nearest for each in found.solutions] == [-2.0, -1.0, 0.0, 1.0, 2.0]
    none = solve("x**2 + 1 = cos(x)/2", between=Range(-30, 30), every=True, arithmetic=CERTIFIED)
    assert none.complete and none.reason == "none" and not none.solutions
    # two of the four lie outside
    box = {"x": Range(0.0, 3.0), "y": Range(-3.0, 3.0)}
    pair = solve(
        "x**2 + y**2 = 4; x*y = 1",
        unknowns=["x", "y"],
        between=box,
        every=True,
        arithmetic=CERTIFIED,
    )
    assert pair.complete and len(pair.solutions) == 2
    # one on the very edge is inside
    edge = solve("x**2 = 4", between=Range(0, 2), every=True, arithmetic=CERTIFIED)
    assert [each.values["x"].text for each in edge.solutions] == ["2.0000000000000000"]


def test_what_cannot_be_proven_is_said_to_be_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosures, "MAX_BOXES", 500)
    double = solve("1 - cos(x)", between=Range(5, 8), every=True, arithmetic=CERTIFIED)
    assert not double.converged and double.reason == "undecided" and double.complete is False
    ((low, high),) = [box["x"] for box in double.undecided]
    assert low <= 2 * math.pi <= high and high - low < 1e-5
    # sin(1/x) has infinitely many
    many = solve("sin(1/x)", between=Range(0, 1), every=True, arithmetic=CERTIFIED)
    assert many.complete is False and len(many.solutions) > 10


def test_partial_results_of_a_certified_search_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    # the roots of the numerator at the poles are never decided; the plain roots beside them are
    with use_budget() as work:
        found = solve("tan(x)*cos(x)", between=Range(-5, 5), every=True, arithmetic=CERTIFIED)
        assert work.left > 0
    assert not found.converged and found.reason == "undecided" and found.complete is False
    assert [float(each.values["x"]) for each in found.solutions] == pytest.approx(
        [-math.pi, 0, math.pi]
    )
    poles = [k * math.pi for k in (-1.5, -0.5, 0.5, 1.5)]
    assert len(found.undecided) == 4
    for place, box in zip(poles, sorted(found.undecided, key=lambda box: box["x"]), strict=True):
        low, high = box["x"]
        assert low <= place <= high and high - low < 1e-4
    assert "there is no bound, as at a pole, near x = " in found.message
    # where there are too many solutions those with digits are shown, each once and ascending, and
    # the rest is covered
    with use_budget():
        many = solve("sin(1/x)", between=Range(0, 1), every=True, arithmetic=CERTIFIED)
    roots = [float(each.values["x"]) for each in many.solutions]
    orders = [round(1 / (math.pi * x)) for x in roots]
    assert len(set(orders)) == len(roots) > 30 and roots == sorted(roots)
    assert many.complete is False and all(
        math.isclose(1 / (math.pi * k), x) for k, x in zip(orders, roots, strict=True)
    )
    for k in set(range(1, 2000)) - set(orders):
        assert any(
            low <= 1 / (math.pi * k) <= high for box in many.undecided for low, high in box.values()
        ), k


# ---- what rounding hides --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "low", "high", "roots"),
    [
        ("sin(x) = x", -1, 1, [(0, 3)]),
        ("tan(x) = x", -10, 10, [(-7.725251836937707, 1), (-4.493409457909064, 1), (0, 3), (4.493409457909064, 1),
                                 (7.725251836937707, 1)]),
        ("1 - cos(x)", -1, 20, [(2 * k * math.pi, 2) for k in range(4)]),
        ("cosh(x - 1.58) = 1 + (x - 1.58)**2/2", -5, 5, [(1.58, 4)]),
        ("log(1 + (x - 0.3)**2) = (x - 0.3)**2", -5, 6, [(0.3, 4)]),
        ("x**2 - 0.336*x + 0.028224", -5, 5, [(0.168, 2)]),
        ("sin(1.57*x)**3", -3, 3, [(-math.pi / 1.57, 3), (0, 3), (math.pi / 1.57, 3)]),
        ("x**101", -1, 2, [(0, 101)]),
        ("(x - 1)**15", -1, 2, [(1, 15)]),
        ("sqrt(x)", 0, 4, [(0, None)]),
        ("x**2 - 2*x + 1 + 1e-40", -3, 4, []),
        ("tanh(x) = 1", -50, 50, []),
        ("tanh(x) = 1", -50, 5000, []),
        ("erf(x) = 1", -50, 50, []),
        ("exp(-x) = 0", 0, 1e7, []),
        ("exp(-x**2) = 0", -100, 100, []),
        ("1/(1 + exp(-x)) = 1", 0, 100, []),
    ],
)  # fmt: skip
def test_flat_roots_are_one_with_a_multiplicity_and_asymptotes_are_none(
    text: str, low: float, high: float, roots: list[tuple[float, int | None]]
) -> None:
    with use_budget():
        found = solve(text, between=Range(low, high), every=True)
    assert [each.multiplicity for each in found.solutions] == [order for _, order in roots]
    for each, (x, order) in zip(found.solutions, roots, strict=True):
        assert math.isclose(each.values["x"], x, rel_tol=4e-16) and each.simple == (order == 1)
    if not roots:
        assert found.reason == "none" or (
            found.reason == "not found" and "where there is no root" in found.message
        )
        # at the far ends the difference may be below the smallest number of many digits
        reasons = (
            r"where there is no root: in more|it is not known whether that is a root|without a real"
            r" root"
        )
        with pytest.raises(ExpressionError, match=reasons):
            solve(text, between=Range(low, high))


@pytest.mark.parametrize(
    ("text", "x", "y", "solution"),
    [
        ("x + y = 1; x - y = 1", (0, 2), (0, 2), (1, 0)),
        ("x + y = 1; x - y = 1", (0, 1), (-1, 0), (1, 0)),
        ("x + y = 1; x - y = 1", (1, 2), (0, 2), (1, 0)),
        # Newton's method comes to y = ±1e-17
        ("3*x + y = 0.3; x - y = 0.1", (0, 1), (0, 1), (0.1, 0)),
        ("3*x + y = 0.3; x - y = 0.1", (0, 1), (-1, 0), (0.1, 0)),
        ("x + y = 1; x - y = 1", (0, 0.9999), (0, 2), None),
        ("x + y = 1; x - y = 1", (0, 2), (0.0001, 2), None),
    ],
)
def test_a_solution_on_a_bound_is_one_between_the_bounds(
    text: str, x: tuple[float, float], y: tuple[float, float], solution: tuple[float, float] | None
) -> None:
    for every in (False, True):
        solutions = solve(text, between={"x": Range(*x), "y": Range(*y)}, every=every).solutions
        assert len(solutions) == (solution is not None)
        for each in solutions:
            assert tuple(each.values.values()) == pytest.approx(solution, abs=1e-15)
            assert x[0] <= each.values["x"] <= x[1] and y[0] <= each.values["y"] <= y[1]


def test_systems_that_only_tend_to_hold_have_no_solution() -> None:
    for text in ("tanh(x) = 1; y = 2", "exp(-x) = 0; y = 2"):
        assert solve(text, {"x": 1, "y": 1}).reason == "not found"
        box = {"x": Range(0, 50), "y": Range(0, 3)}
        assert solve(text.replace("-x", "-20x"), between=box, every=True).reason == "not found"
    # a multiple root, and two equations that are one, hold
    for text in ("x**2 + y**2 = 2; x*y = 1", "sin(x) = y; y = sin(x)", "cos(x) = 1; y = x"):
        assert solve(text, {"x": 0.9, "y": 1}).converged


def random_equation(rng: random.Random) -> tuple[str, list[tuple[float, int]]]:
    """An equation, and its roots from -5 to 5 with their multiplicities."""
    while True:
        places = sorted(
            round(rng.uniform(-4, 4), rng.randrange(4)) for _ in range(rng.randint(1, 3))
        )
        if all(b - a > 0.3 for a, b in itertools.pairwise(places)):
            break
    roots = [(x, rng.randint(1, 3)) for x in places]
    text = "*".join(f"(x - ({x}))**{order}" for x, order in roots)
    a, c = round(rng.uniform(0.5, 3), 2), round(rng.uniform(-1.5, 1.5), 2)
    match rng.randrange(7):
        case 0:
            return text, roots
        case 1:
            return f"exp({a}*x)*{text}", roots
        case 2:
            pole = next(
                x for x in itertools.count(-3.95, 0.5) if all(abs(x - y) > 0.15 for y in places)
            )
            return f"{text}/(x - ({pole}))**{rng.randint(1, 3)}", roots
        case 3:
            return f"sin({a}*x + {c})", [((k * math.pi - c) / a, 1) for k in range(-9, 9)]
        case 4:
            return f"1 - cos({a}*x + {c})", [((2 * k * math.pi - c) / a, 2) for k in range(-9, 9)]
        case 5:
            return f"sin({a}*x)**3", [(k * math.pi / a, 3) for k in range(-9, 9)]
    return rng.choice([
        (f"sin(x - ({c})) = x - ({c})", [(c, 3)]), (f"exp(x - ({c})) = 1 + (x - ({c}))", [(c, 2)]),
        (f"tanh({a}*(x + 30)) = 1", []), (f"exp(-{a}*(x - 60)**2) = 0", []),
        (f"(x - ({c}))**2 + 1e-20", []),
    ])  # fmt: skip


def test_random_equations_have_their_roots_and_no_others() -> None:
    rng = random.Random(20)
    for _ in range(70):
        text, roots = random_equation(rng)
        expected = sorted((x, order) for x, order in roots if -5 < x < 5)
        with use_budget():
            found = solve(text, between=Range(-5, 5), every=True).solutions
        assert [each.multiplicity for each in found] == [order for _, order in expected], text
        for each, (x, _) in zip(found, expected, strict=True):
            assert math.isclose(each.values["x"], x, rel_tol=1e-13, abs_tol=1e-13), text


def test_many_digits_of_a_multiple_root_are_right() -> None:
    (only,) = solve("1 - cos(x)", {"x": 6.0}, arithmetic=MANY).solutions
    with mpmath.workdps(70):
        assert abs(mpmath.mpf(only.values["x"].text) - 2 * mpmath.pi) < mpmath.mpf("1e-48")


def test_the_evaluations_end() -> None:
    for text in ("x**2 + 1", "exp(x)", "1/x", "abs(x) + 1", "cosh(x)"):
        found = solve(text, {"x": 3.0}, unknowns=["x"])
        assert not found.converged and found.reason == "not found" and found.evaluations < 20_000
        assert ("no root: in more digits" if text == "exp(x)" else "nearest to 0") in found.message
    pair = solve("x**2 + y**2 = -1; x = y", {"x": 1, "y": 2})
    assert not pair.converged and pair.evaluations < 5000


def test_a_search_ends_when_it_is_to() -> None:
    calls = itertools.count()
    found = solve("x**2 + 1", {"x": 3.0}, unknowns=["x"], stop=lambda: next(calls) > 20)
    assert found.reason == "interrupted" and not found.converged


# ---- what an equation is --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "given", "equations", "variables"),
    [
        ("cos(x) = x", ["x"], ["cos(x) = x"], {"x"}),
        ("x = cos(x)", [], ["x = cos(x)"], {"x"}),
        ("x**2-3=0", [], ["x**2-3=0"], {"x"}),
        ("y = x**2", ["y"], ["y = x**2"], {"x", "y"}),
        ("a = 2; a*x**2 = b", ["b"], ["a*x**2 = b"], {"x", "b"}),
        ("x+y=3 # their sum\nx-y=1\n", [], ["x+y=3", "x-y=1"], {"x", "y"}),
        ("x**2 + y**2 - 1, x - y", [], ["x**2 + y**2 - 1", "x - y"], {"x", "y"}),
        ("x*y - 1; x = y", ["x"], ["x*y - 1", "x = y"], {"x", "y"}),
        ("r = hypot(x, y); r = 2; x = y", [], ["r = 2", "x = y"], {"x", "y"}),
        ("f(x) = x**2 - 2; f(t) = 3", [], ["f(t) = 3"], {"t"}),
        ("f(x) = x**2 - 2", [], ["x**2 - 2"], {"x"}),
        ("x**2 == 2", [], ["x**2 == 2"], {"x"}),
        ("(x +\n 1) = 2", [], ["(x + 1) = 2"], {"x"}),
    ],
)  # fmt: skip
def test_what_is_an_equation(
    text: str, given: list[str], equations: list[str], variables: set[str]
) -> None:
    found = read_equations(text, given)
    assert found.texts == equations and set(found.program.variables) == variables
    spans = [output.span for output in found.program.outputs]
    assert all(span is not None and text[span.start : span.end].strip() for span in spans)


@pytest.mark.parametrize(
    ("text", "given", "message", "at"),
    [
        ("y = x**2", [], "`y = …` is an equation only if", "y"),
        ("a = b = c", [], "two signs of equality", "="),
        ("x, y = 1, 2", ["x", "y"], "compares two expressions", "x, y = 1, 2"),
        ("x + = 3", [], "a value is missing after `+`", ""),
        ("x =", ["x"], "the right side of this equation is missing", "="),
        ("= 3", ["x"], "the left side of this equation is missing", "="),
        ("x = 3; y = 2", ["x"], "`y` is bound here, after an equation", "y = 2"),
        ("1/2x = 3", [], "can be read in two ways", "1/2x"),
        ("q = 2; x = sin y", ["x"], "needs parentheses", "sin y"),
        ("", [], "no expression", ""),
        ("x < 3", [], "this is an inequality", "<"),
    ],
)
def test_what_is_no_equation(text: str, given: list[str], message: str, at: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_equations(text, given)
    assert message in str(caught.value) and caught.value.hint
    span = caught.value.span
    assert span is not None and text[span.start : span.end] == at


@pytest.mark.parametrize(
    ("text", "at", "more", "kind", "message"),
    [
        ("x + y = 1", {}, {}, "usage", "there is 1 equation, and 2 unknowns, `x`, `y`"),
        ("x + y = 1; x - y = 1", {"y": 1}, {"unknowns": ["x"]}, "usage", "2 equations, and the unknown is `x`"),
        ("abs(x) = a", {"a": 2, "x": 1}, {}, "usage", "every variable has a value"),
        ("x = a*exp(x)", {}, {"unknowns": ["x"]}, "missing_value", "`a` has no value"),
        ("x**2 = a", {"a": 2}, {"unknowns": ["z"]}, "usage", "`z` is not a variable"),
        ("x**2 = a", {"a": 2, "x": 1}, {"every": True, "unknowns": ["x"]}, "usage", "`x` has none"),
        ("x**2 = a", {"a": 2}, {"between": Range(0, None)}, "usage", "two ends"),
        ("x**2 = a", {"a": 2}, {"between": Range(1, 1)}, "usage", "one number"),
        ("x**2 = a", {"a": 2, "x": 9}, {"between": {"x": Range(0, 2)}}, "usage", "outside its bounds"),
        ("x**2 = a", {"a": 2}, {"between": {"a": Range(0, 2)}, "unknowns": ["x"]}, "usage", "is not an unknown"),
        ("x = y; y = x", {}, {"unknowns": ["x", "y"], "between": Range(0, 1)}, "usage", "need their names"),
        ("log(x) = 2", {"x": -1}, {"unknowns": ["x"]}, "domain", "`log` is undefined at -1"),
        ("log(x) = y; y = 1", {"x": -1, "y": 0}, {}, "domain", "`log` is undefined at -1"),
        ("x**2 + 1", {}, {"between": Range(-4, 4)}, "point", "it is 17 at -4 and 17 at 4; it is a polynomial"),
        ("sqrt(x) + 1", {}, {"between": Range(-4, 4)}, "point", "no value at -4"),
        ("x**2 = 2", {}, {"arithmetic": arithmetic_of(True, None, False)}, "usage", "roots are not fractions"),
    ],
)  # fmt: skip
def test_bad_input(
    text: str, at: dict[str, float], more: dict[str, Any], kind: str, message: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        solve(text, at, **more)
    assert caught.value.kind == kind and message in str(caught.value) and caught.value.hint


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("sqrt(x) = x/2", [0.0, 4.0]),
        ("sqrt(x - 1)*log(x) = 0", [1.0]),
        ("sqrt(x)*(x - 2) = 0", [0.0, 2.0]),
    ],
)
def test_a_root_on_the_edge_of_a_domain(text: str, roots: list[float]) -> None:
    # there is no derivative by the unknown, and so no multiplicity; the root is none the less exact
    answer = solve(text)
    assert [solution.values["x"] for solution in answer.solutions] == roots
    edge = answer.solutions[0]
    assert edge.multiplicity is None and not edge.simple and edge.errors == {"x": 0.0}
    precise = solve(text, arithmetic=MANY)
    assert [float(solution.values["x"].text) for solution in precise.solutions] == roots


@pytest.mark.parametrize(
    ("text", "place", "interval"),
    [
        ("floor(x) = 2", 2.0, "2 ≤ x < 3"),
        ("sign(x) = 1", None, "for x > 0"),
        ("abs(x - 1) + abs(x - 2) = 1", 1.0, "1 ≤ x ≤ 2"),
        ("sqrt(x**2) = x", 0.0, "for x ≥ 0"),
        ("(x + 1)**2 = x**2 + 2*x + 1", None, "at all numbers"),
        ("relu(sin(x)) = 0", None, "3.141592654 ≤ x ≤ 6.283185307"),
    ],
)
def test_a_solution_on_a_plateau_is_shown_with_the_plateau(
    text: str, place: float | None, interval: str
) -> None:
    answer = solve(text)
    values = [solution.values["x"] for solution in answer.solutions]
    assert values and place in (None, values[0])
    assert any(interval in warning.message for warning in answer.warnings)
    assert "proves" not in answer.message


def test_solutions_are_all_only_where_all_are_listed() -> None:
    polynomial = "(x + 3)*(x - 2)**2*(x - 5)"
    answer = solve(polynomial, between=Range(-4, 3))
    assert (answer.complete, answer.message, answer.others) == (False, "solved", [2.0])
    assert solve(polynomial, between=Range(-4, 1)).complete
    assert solve(polynomial, between=Range(-4, 3), every=True).complete
    # roots that are closer to each other than those of a grid can be
    assert solve("(x - 1)*(x - 1.00000001)", between=Range(0, 2)).others == [1.00000001]


def test_what_is_said_of_a_root_on_the_edge_of_a_domain() -> None:
    for arithmetic in (arithmetic_of(False, None, False), MANY):
        answer = solve("sqrt(x) = a*x", {"a": 0.5}, unknowns=["x"], arithmetic=arithmetic)
        (warning,) = answer.warnings
        assert "the equation has no derivative by the unknown at x = 0" in warning.message
        assert [solution.derivatives is None for solution in answer.solutions] == [True, False]
        # x = 1/a², so that dx/da = -2/a³
        assert float(answer.solutions[1].derivatives["x"]["a"]) == pytest.approx(-16, rel=1e-13)


def test_where_the_usual_start_has_no_value_the_search_goes_on() -> None:
    # u = x - 1: exp(-u) = 1/u has no solution, and the equation no value at the start 1
    answer = solve("exp(1 - x) - 1/(x - 1) = 0")
    assert (
        answer.reason == "not found"
        and not answer.solutions
        and "no solution was found" in answer.message
    )
    # by Lambert's function u = W(1)
    (only,) = solve("exp(1 - x) = (x - 1)**2/(x - 1)").solutions
    assert only.values["x"] == pytest.approx(1.5671432904097838, rel=1e-15)
    # without a value anywhere the reason is told
    with pytest.raises(ExpressionError, match="`log` is undefined"):
        solve("log(-1 - x**2) = 2")


def test_a_multiple_root_has_no_derivative() -> None:
    found = solve("x**2 - 2x + b", {"b": 1, "x": 3}, unknowns=["x"])
    (only,) = found.solutions
    assert not only.simple and only.derivatives is None and only.errors == {"x": None}
    assert [warning.kind for warning in found.warnings] == ["multiple"]


def test_powers_of_balls_around_0_hold_all_powers() -> None:
    flint = pytest.importorskip("flint")
    for n, middle, radius in itertools.product(range(1, 8), (-1.5, 0.0, 0.25), (2.0, 1e-90)):
        ball = flint.arb(middle, radius)
        power = _whole_power(ball, n)
        assert power.is_finite()
        for share in (-1, -0.5, 0, 0.3, 1):
            x = flint.arb(middle + share * radius)
            assert power.contains(x**n) or not ball.contains(x)


def test_residuals_whose_squares_are_too_large_are_measured_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solve("1e200*x = 3e200; 1e200*y = x*1e200", {"x": 1.0, "y": 1.0})
    assert found.solutions[0].values["x"] == 3.0


def test_second_derivatives_by_too_many_are_refused_before_the_search() -> None:
    def equations(count: int) -> str:
        names = [f"x{k}" for k in range(count)]
        return "; ".join(
            f"{name}**3 + {other} = k"
            for name, other in zip(names, names[1:] + names[:1], strict=True)
        )

    searches = itertools.count()
    unknowns = [f"x{k}" for k in range(30)]
    with pytest.raises(ExpressionError) as refused:
        solve(
            equations(30), {"k": 1}, unknowns=unknowns, order=2, stop=lambda: bool(next(searches))
        )
    assert (
        "by 1 variable and 30 unknowns" in str(refused.value)
        and refused.value.hint == "leave out `--order 2`"
    )
    assert next(searches) == 0
    with pytest.raises(ExpressionError) as refused:
        solve(f"{equations(29)}; x29 = a + b", {"k": 1, "a": 1, "b": 1}, unknowns=unknowns, order=2)
    assert "by 3 variables and 30 unknowns" in str(refused.value)
    with pytest.raises(ExpressionError) as refused:
        solve(
            equations(29).replace("k", "k*a", 1), {"k": 1, "a": 1}, unknowns=unknowns[:29], order=2
        )
    assert refused.value.hint == "name some of the variables: `--wrt x,y`"
    # without variables there are no second derivatives
    assert solve(equations(30).replace("k", "2"), dict.fromkeys(unknowns, 0.9), order=2).converged


@pytest.mark.parametrize("width", [1e-6, 1.0])
def test_a_wide_undecided_box_is_not_called_a_pole(
    monkeypatch: pytest.MonkeyPatch, width: float
) -> None:
    flint = pytest.importorskip("flint")
    box = [flint.arb(0, width)]
    monkeypatch.setattr(enclosures, "search", lambda *_: ([], [], [box], False))
    found = solve("cos(x)/x = 0", between=Range(-1, 1), every=True, arithmetic=CERTIFIED)
    assert len(found.undecided) == 1
    assert ("as at a pole" in found.message) == (width < 1e-3)


@pytest.mark.parametrize(
    ("text", "intervals", "message"),
    [
        (
            "(0 if x < 0.3 else 1) = 0",
            ["-3 ≤ x < 0.3"],
            "1 interval of solutions, proven to be all",
        ),
        (
            "(0 if x <= 0.6 else 1) = 0",
            ["-3 ≤ x ≤ 0.6"],
            "1 interval of solutions, proven to be all",
        ),
        (
            "(0 if 0.3 < x < 0.6 else x + 4) = 0",
            ["0.3 < x < 0.6"],
            "1 interval of solutions, proven to be all",
        ),
        (
            "relu(round(x)) = 0",
            ["-3 ≤ x ≤ -0.5", "-0.5 ≤ x ≤ 0.5"],
            "2 intervals of solutions, proven to be all",
        ),
        ("floor(5*x) = 3", ["0.6 ≤ x < 0.8"], "1 interval of solutions, proven to be all"),
        # at a pole the numerator alone says nothing
        (
            "x*0/(x - 1) = 0",
            ["-3 ≤ x < 1", "1 < x ≤ 3"],
            "2 intervals of solutions, proven to be all",
        ),
        ("relu(x)/x = 0", ["-3 ≤ x < 0"], "1 interval of solutions, proven to be all"),
        # a solution between two intervals that it does not belong to
        (
            "(0 if x < 0 or x > 1 else (x - 0.3)**2) = 0",
            ["-3 ≤ x < 0", "1 < x ≤ 3"],
            "in 1 box it is undecided",
        ),
        (
            "(0 if x < 0 or x > 1e-7 else (x - 5e-8)**2) = 0",
            ["-3 ≤ x < 0"],
            "in 1 box it is undecided",
        ),
    ],
)
def test_a_proof_of_intervals_states_their_ends_and_hides_no_other_solution(
    text: str, intervals: list[str], message: str
) -> None:
    pytest.importorskip("flint")
    answer = solve(text, between=Range(-3, 3), every=True, arithmetic=CERTIFIED)
    for interval in intervals:
        assert any(
            f"all numbers for {interval}" in f"{warning.message} " for warning in answer.warnings
        ), answer
    assert message in answer.message and answer.complete == ("proven to be all" in message)


@pytest.mark.parametrize(
    "text", ["x*y = 0; x = 0", "x*(y - 2) = 0; y - 2 = 0", "(0 if x < 0 else 1) = 0; floor(y) = 1"]
)
def test_solutions_of_several_equations_that_are_not_isolated_are_no_proof_of_none(
    text: str,
) -> None:
    pytest.importorskip("flint")
    between = {"x": Range(-3, 3), "y": Range(-3, 3)}
    answer = solve(text, between=between, every=True, arithmetic=CERTIFIED)
    assert answer.reason == "undecided" and not answer.complete and answer.undecided
    assert any("the equations hold at all points" in warning.message for warning in answer.warnings)


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x*y = 0; x = 0", lambda x, y: abs(x)),
        ("(x - 1)*(y - 2) = 0; (x - 1)*(y + 3) = 0", lambda x, y: abs(x - 1)),
        ("x**2 + y**2 = 1; 2*x**2 + 2*y**2 = 2", lambda x, y: abs(math.hypot(x, y) - 1)),
        ("sin(x*y) = 0; x*y = 0", lambda x, y: abs(x * y)),
    ],
)
def test_a_curve_of_solutions_of_several_equations_is_told(
    text: str, left: Callable[[float, float], float], every: bool
) -> None:
    answer = solve(text, between={"x": Range(-3, 3), "y": Range(-3, 3)}, every=every)
    (warning,) = (one for one in answer.warnings if one.kind == "flat")
    assert len(answer.solutions) == 1 and "these are all" not in answer.message
    one, other = re.findall(r"x = (\S+), y = ([^ ,]+)", warning.message)
    places = [tuple(map(float, place)) for place in (one, other)]
    assert all(left(*place) < 1e-5 for place in places) and math.dist(*places) > 0.01
    assert left(*answer.solutions[0].values.values()) < 1e-15


@pytest.mark.parametrize(
    "text",
    [
        # isolated: circles that touch, and what is as flat as y**20 along the other unknown
        "x**2 + y**2 = 1; (x - 2)**2 + y**2 = 1",
        "x + y**20 = 1; x - y**20 = 1",
        "x**2 = 0; y**2 = 0",
    ],
)
def test_a_multiple_solution_of_several_equations_is_no_curve(text: str) -> None:
    for every in (False, True):
        answer = solve(text, between={"x": Range(-3, 3), "y": Range(-3, 3)}, every=every)
        assert not [one for one in answer.warnings if one.kind == "flat"]


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        # no value in the middle of the bounds
        ("x*y - sqrt(y) = 0.25; log(x) = 0.7", (-0.15, 3.85), (-3.35, 0.65)),
        ("y**2/(x + 3) = 0.1; sqrt(x*y) = 0.5", (-2.3, 7.7), (-1.45, -0.45)),
        # from the middle Newton's method leaves the bounds
        ("4/x*(y + 1.13) = 1.1; cos(x - 4) = 0.16", (0.98, 10.98), (1.04, 2.04)),
        ("1.79/x/(y - 1) = 0.115; sin(x + y) = 0.628", (2.92, 12.92), (2.13, 3.13)),
    ],
)
def test_between_bounds_without_a_start_several_are_tried(
    text: str, x: tuple[float, float], y: tuple[float, float]
) -> None:
    between = {"x": Range(*x), "y": Range(*y)}
    answer = solve(text, between=between)
    (only,) = answer.solutions
    assert answer.converged and max(map(abs, only.residuals)) < 1e-14
    assert x[0] <= only.values["x"] <= x[1] and y[0] <= only.values["y"] <= y[1]
    assert "starts; `--all` searches for others" in answer.message
    assert solve(text, between=between) == answer


def test_the_error_of_a_start_stays_where_it_was_chosen_or_nothing_has_a_value() -> None:
    between = {"x": Range(-1, 3), "y": Range(-3, 1)}
    for point, text in (
        ({"x": 1, "y": -1}, "x*y = 1; sqrt(y) = 1"),
        ({}, "x*y = 1; log(-4 - x**2) = y"),
    ):
        with pytest.raises(ExpressionError) as caught:
            solve(text, point, unknowns=["x", "y"], between=between)
        assert caught.value.kind == "domain"


def test_many_roots_on_an_interval_take_no_more_work_than_is_allowed() -> None:
    answer = autodiff_cli.solve("sqrt(1 - x + sqrt(x**2)) = 1", between=(0.3, 10))
    assert answer.converged and any(
        "0.3 ≤ x ≤ 10" in warning.message for warning in answer.warnings
    )
    with pytest.raises(ExpressionError, match="it is not known whether that is a root"):
        autodiff_cli.solve("tanh(sqrt(x**2) - x - x**2) = -1", between=(1.2, 51))


def test_bound_names_have_values_at_each_solution() -> None:
    # the parabola and the line meet at (-1, 1) and (2, 4)
    answer = solve("y = x**2; y = x + 2", {})
    assert [(one.values, one.bound) for one in answer.solutions] == [
        ({"x": -1}, {"y": 1}),
        ({"x": 2}, {"y": 4}),
    ]
    of_two = solve("u = x + y; v = x - y; u*v = 3; u = 3", {}).solutions[0]
    assert of_two.bound == pytest.approx({"u": 3, "v": 1}, rel=1e-15)


def test_names_that_are_bound_to_numbers_or_have_no_value_are_not_listed() -> None:
    assert solve("k = 2; k*x = 6", {}).solutions[0].bound is None
    negative, positive = solve("y = log(x); x**2 = 4", {}).solutions
    assert negative.bound is None and positive.bound == pytest.approx(
        {"y": 0.6931471805599453}, rel=1e-15
    )
