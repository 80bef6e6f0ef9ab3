"""A root is where the equation holds: not beside a jump, at a pole, or in a hole."""

from __future__ import annotations

import math
import random

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.exercise.equation_answers import check_solution
from autodiff_cli.capabilities.solve.solve import Solved, solve
from autodiff_cli.questions.parse_point import Range
from counting import compared, compares

NOWHERE = [
    ("where(x < 1, x - 1, 5) = 0", None),
    ("where(x <= pi, x - 4, x - 2) = 0", (0, 10)),
    ("floor(x) = 7 - x", None),
    ("ceil(x) + x = 7", (0, 10)),
    ("round(x) + x = 7", (0, 10)),
    ("sign(x - sqrt(2)) + x = sqrt(2) + 1/2", (0, 1.45)),
    ("tan(x)*cos(x) = 1", (0, 3)),
    ("sin(2*x)/cos(x) = 2", (0, 3)),
    ("(log(x) - log(3))/(x - 3) = 1/3", None),
    ("log(x)/(x - 1) = 1", None),
    ("sin(x)/x = 1", (-1, 1)),
    ("(1 - cos(x))/x**2 = 1/2", (-1, 1)),
    ("sqrt(1 - x**2) + sqrt(4 - x**2) = 3*abs(x)/x", None),
    ("abs(x)/x = sqrt(1 - x**2)", None),
    ("1/x + 0*x = 0", None),
    ("exp(-1/x**2) = 0", (-0.01, 0.01)),
]

SOMEWHERE = [
    ("where(x >= 1, x - 1, 5) = 0", None, [1.0]),
    ("where(x < 1, x - 0.5, 5) = 0", None, [0.5]),
    ("floor(x) + x = 7.5", (0, 10), []),
    ("floor(x) + x = 7.25", (0, 10), []),
    ("floor(x) + x = 6.25", (0, 10), [3.25]),
    ("sign(x) = 0", (-1, 1), [0.0]),
    ("x*sign(x - 2) = x - 2", (0.5, 10), [1.0, 2.0]),
    ("tan(x) = 1e6", (0, 3), [math.atan(1e6)]),
    ("1/cos(x) = 1e8", (0, 3), [math.acos(1e-8)]),
    ("tan(x)*cos(x) = 1/2", (0, 3), [math.pi / 6, 5 * math.pi / 6]),
    ("sin(2*x)/cos(x) = 1", (0, 3), [math.pi / 6, 5 * math.pi / 6]),
    ("sin(x)*floor(x/2) = 0", (2.5, 4.5), [math.pi]),
    ("abs(x - 1/3) = 0", None, [1 / 3]),
    ("sqrt(x - 1/3) = 0", None, [1 / 3]),
    ("1 - cos(x) = 0", (-1, 1), [0.0]),
    ("x**1.5 = 0", None, [0.0]),
]


def ask(text: str, between: tuple[float, float] | None) -> Solved:
    try:
        return solve(
            text, between=None if between is None else Range(*between), every=between is not None
        )
    except ExpressionError as error:
        assert error.kind == "point", error
        return solve("x*0 = 1", {"x": 1.0})


@pytest.mark.parametrize(("text", "between"), NOWHERE, ids=[text for text, _ in NOWHERE])
def test_no_solution_where_the_equation_does_not_hold(
    text: str, between: tuple[float, float] | None
) -> None:
    assert ask(text, between).solutions == []


@pytest.mark.parametrize(
    ("text", "between", "roots"), SOMEWHERE, ids=[text for text, *_ in SOMEWHERE]
)
def test_solutions_beside_jumps_and_poles(
    text: str, between: tuple[float, float] | None, roots: list[float]
) -> None:
    found = [solution.values["x"] for solution in ask(text, between).solutions]
    assert found == pytest.approx(roots, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("tan(x)*cos(x) = 1", "pi/2"),
        ("where(x < 1, x - 1, 5) = 0", "1"),
        ("floor(x) = 7 - x", "4"),
        ("x/abs(x) = 1", "0"),
    ],
)
def test_an_answer_where_the_equation_does_not_hold_is_wrong(text: str, answer: str) -> None:
    assert not check_solution(text, answer=answer, between=Range(-5, 5)).right


def test_a_small_part_is_no_pole() -> None:
    assert check_solution("1/x = 1/h", {"h": "6.6e-34"}, answer="6.6e-34").right


@pytest.mark.parametrize("text", ["floor(x) = y; y = 7 - x", "abs(x)/x = y; y = 1 - x**2"])
def test_systems_hold_at_their_solutions(text: str) -> None:
    assert solve(text, unknowns=["x", "y"]).solutions == []


def test_a_system_beside_a_jump_has_its_solution() -> None:
    (solution,) = solve(
        "floor(x) = y; y = 6.25 - x", {"x": 3.4, "y": 3}, unknowns=["x", "y"]
    ).solutions
    assert (solution.values["x"], solution.values["y"]) == pytest.approx((3.25, 3.0), rel=1e-14)


@compares(60)
def test_lines_with_a_jump_are_solved_on_their_pieces_only() -> None:
    """`a*(x - p)` below the jump c and `b*(x - q)` above: the roots are p if p < c and q if q
    >= c.
    """
    draw = random.Random(7)
    for _ in range(60):
        p, q, c = (draw.randrange(-40, 41) / 8 for _ in range(3))
        # a root at the edge of its piece has no change of sign, and a grid does not show it
        q += 0.125 * (q == c)
        a, b = (draw.choice([-3, -1, 2, 5]) for _ in range(2))
        text = f"where(x < {c}, {a}*(x - ({p})), {b}*(x - ({q}))) = 0"
        found = [
            solution.values["x"]
            for solution in solve(text, between=Range(-6.03, 6.01), every=True).solutions
        ]
        expected = sorted({*([p] if p < c else []), *([q] if q >= c else [])})
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), text
        compared()


@compares(40)
def test_quotients_with_a_hole_have_the_other_roots_only() -> None:
    """`(x - c)*g(x)/(x - c)` is g without c; the values g(c) are met by a factor that vanishes at c
    as well.
    """
    draw = random.Random(11)
    for _ in range(40):
        c, r = (draw.randrange(1, 30) / 7 for _ in range(2))
        wave = draw.choice(
            ["sin(x - {r})", "expm1(x - {r})", "log(x/{r})", "tanh(x - {r})"]
        ).format(r=f"({r!r})")
        text = f"{wave}*(x - {c!r})/(x - {c!r}) = 0"
        found = [
            solution.values["x"]
            for solution in solve(text, between=Range(0.013, 4.6), every=True).solutions
        ]
        others = [r + math.pi, r - math.pi] if wave.startswith("sin") else []
        expected = sorted(x for x in (r, *others) if 0.013 <= x <= 4.6 and x != c)
        assert found == pytest.approx(expected, rel=1e-9), text
        compared()
