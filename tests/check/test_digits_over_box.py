"""`check --over`: the digits that are proven over a box are right at every point of it."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import mpmath
import pytest

import autodiff_cli as api
from autodiff_cli import ExpressionError, check
from autodiff_cli.capabilities.check.digits_over_box import DigitsSearch

FORMULAS = [
    "x*sin(x) + 2",
    "exp(x) - 1",
    "1 - cos(x)",
    "x**3 - 2*x",
    "log(2 + x)/(1 + x**2)",
    "sqrt(x**2 + 1) - x/2",
]
EXACT = {
    "x*sin(x) + 2": lambda x: x * mpmath.sin(x) + 2,
    "exp(x) - 1": lambda x: mpmath.exp(x) - 1,
    "1 - cos(x)": lambda x: 1 - mpmath.cos(x),
    "x**3 - 2*x": lambda x: x**3 - 2 * x,
    "log(2 + x)/(1 + x**2)": lambda x: mpmath.log(2 + x) / (1 + x**2),
    "sqrt(x**2 + 1) - x/2": lambda x: mpmath.sqrt(x**2 + 1) - x / 2,
}


def over(text: str, low: float, high: float, **more: object) -> api.DigitsOverBox:
    return check(text, over={"x": (low, high)}, **more)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("text", FORMULAS)
def test_proven_digits_are_right(text: str) -> None:
    rng = random.Random(text)
    answer = over(text, -1.0, 1.75)
    ends = [part.box["x"] for part in answer.parts]
    assert ends[0][0] == -1
    assert ends[-1][1] == 1.75
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    with mpmath.workdps(50):
        for part in answer.parts:
            assert part.enough == (part.digits >= 6)
            for _ in range(40):
                x = rng.uniform(*part.box["x"])
                exact = EXACT[text](mpmath.mpf(x))
                computed = api.gradient(text, {"x": x}).value
                if part.digits:
                    assert abs(computed - exact) <= abs(exact) * mpmath.mpf(10) ** -part.digits / 2


def test_where_digits_are_lost() -> None:
    answer = over("1 - cos(x)", 0.0, 1.0)
    first, second = answer.parts
    assert not answer.agrees
    assert (first.digits, first.enough, first.box["x"][0]) == (0, False, 0.0)
    assert first.operation == "1 - cos(x)"
    # the value is x²/2, and cos(x) is off by 2⁻⁵³ or more: below 1e-5 six digits cannot be
    assert 1e-6 < first.box["x"][1] < 1e-2
    assert second.enough


def test_a_point_without_digits_is_found() -> None:
    answer = over("sqrt(x**2 + 1) - x", 0.0, 1e9)
    assert answer.lost
    assert not answer.agrees


def test_all_over_a_box_of_two() -> None:
    answer = check("x*y - y*x + 1", over={"x": (0, 1), "y": (0, 1)}, require=12)
    assert answer.agrees  # type: ignore[attr-defined]


def test_no_digits_are_claimed_beside_a_pole_or_a_jump() -> None:
    for text in ("1/x", "floor(x + 1/3) + 1", "1 if x + 1/3 < 1/3 else 2"):
        answer = over(text, -1.0, 1.0)
        assert not answer.agrees
        assert any(not part.enough for part in answer.parts)


def test_refusals() -> None:
    for ends, message in (
        ((0, None), "needs two ends"),
        ((1, 1), "are one number"),
        (("1 m", "2 m"), "no units here"),
    ):
        with pytest.raises(ExpressionError) as error:
            check("x", over={"x": ends})
        assert message in str(error.value)
    with pytest.raises(ExpressionError) as error:
        check("x", over={"y": (0, 1)}, at={"x": 1})
    assert "`y` is not a variable" in str(error.value)
    assert math.isfinite(over("x", 0.0, 1.0).parts[0].digits)


def test_a_part_with_a_point_without_digits_is_halved_to_a_sixty_fourth_of_the_box(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded = DigitsSearch._bounded
    parts: list[object] = []
    monkeypatch.setattr(
        DigitsSearch, "_bounded", lambda self, box: parts.append(box) or bounded(self, box)
    )
    answer = over("(x + 1e17) - 1e17", 0.25, 0.75)  # 0 everywhere
    assert not any(part.enough for part in answer.parts)
    assert len(parts) == 2 * 64 - 1  # a tree with 64 leaves
