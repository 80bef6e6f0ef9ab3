"""The error and gamma functions that targets get as arithmetic: their digits, against mpmath, where
no sum cancels.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.compiled.lowering import compose_for
from autodiff_cli.compiled.target import language
from autodiff_cli.engine.numbers.double.formulas import MAX_POLYGAMMA_ORDER, formula
from autodiff_cli.engine.numbers.recorder import Step
from autodiff_cli.engine.table.primitive import OPERATIONS
from exported import torch
from reference import REFERENCE


class Doubles:
    """Plain doubles as a number type: what a target computes, in the order in which it does."""

    def __getattr__(self, name: str) -> Callable[..., float]:
        return lambda *args: float(self.step(name, *args))

    def step(self, name: str, *args: float) -> Any:
        native = NATIVE.get(name)
        return native(*args) if native else formula(name)(self, *args)

    def number(self, x: float) -> float:
        return x

    def where(self, condition: bool, then: Any, otherwise: Any) -> float:
        chosen = then if condition else otherwise
        return chosen() if callable(chosen) else chosen


NATIVE: dict[str, Callable[..., Any]] = {
    "abs": abs, "exp": math.exp, "log": math.log, "log1p": math.log1p, "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "pow": math.pow, "floor": math.floor,
    "sign": lambda x: (x > 0) - (x < 0), "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "eq": lambda x, y: x == y, "min": min, "max": max, "sqrt": math.sqrt,
    "and_": lambda x, y: x and y, "or_": lambda x, y: x or y,
}  # fmt: skip

Draw = Callable[[random.Random], float]


def uniform(low: float, high: float) -> Draw:
    return lambda source: source.uniform(low, high)


def spread(low: float, high: float, sign: float = 1.0) -> Draw:
    """Numbers of every size between two powers of ten."""
    return lambda source: sign * 10.0 ** source.uniform(low, high)


def polygamma(n: int) -> Callable[..., Any]:
    return lambda x: mpmath.polygamma(n, x)


CASES: tuple[tuple[str, tuple[float, ...], Callable[..., Any], float, tuple[Draw, ...]], ...] = (
    ("erf", (), mpmath.erf, 2, (uniform(-6, 6), spread(-300, 0))),
    ("erfc", (), mpmath.erfc, 5, (uniform(-6, 26), spread(-10, 0, -1))),
    ("gamma", (), mpmath.gamma, 6, (uniform(0, 12), uniform(0, 171), uniform(-170, 0), spread(-300, 0))),
    ("lgamma", (), mpmath.loggamma, 6, (uniform(0, 12), spread(0, 300), spread(-300, 0))),
    ("lgamma", (), lambda x: mpmath.re(mpmath.loggamma(x)), 6, (uniform(-0.5, 0),)),
    ("digamma", (), mpmath.digamma, 4, (uniform(0, 12), spread(0, 300), uniform(-0.4, 0))),
    ("trigamma", (), polygamma(1), 8, (uniform(0, 12), spread(0, 100), uniform(-12, 0), spread(-100, 0, -1))),
    ("polygamma", (3.0,), polygamma(3), 12, (uniform(0, 12), spread(0, 50), uniform(-4, 0))),
    ("zeta", (), mpmath.zeta, 8, (uniform(-4, 4), uniform(-160, 0), spread(0, 3))),
    ("zeta_derivative", (1.0,), lambda s: mpmath.zeta(s, 1, 1), 8, (uniform(-0.5, 4), spread(0, 2))),
    ("exp_difference", (-0.1,), lambda y: mpmath.exp(mpmath.mpf(-0.1) - y), 2, (uniform(0, 650),)),
    ("polygamma", (float(MAX_POLYGAMMA_ORDER),), polygamma(MAX_POLYGAMMA_ORDER), 16, (uniform(0, 12), spread(0, 20))),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}{case[1]}")
def test_digits(
    case: tuple[str, tuple[float, ...], Callable[..., Any], float, tuple[Draw, ...]],
) -> None:
    name, fixed, reference, ulps, draws = case
    source = random.Random(1)
    m = Doubles()
    tried = 0
    with mpmath.workdps(40):
        for draw in draws:
            for _ in range(150):
                x = draw(source)
                want = reference(mpmath.mpf(x))
                if not 1e-300 < abs(want) < 1e300:
                    continue
                tried += 1
                got = m.step(name, *fixed, x)
                assert abs(got - want) <= ulps * math.ulp(float(want)), (name, x, got, want)
    assert tried > 100 * len(draws)


def test_small_differences_of_digamma() -> None:
    source = random.Random(2)
    m = Doubles()
    with mpmath.workdps(60):
        for _ in range(300):
            a = source.uniform(0.01, 50)
            b = a * 10.0 ** source.uniform(-15, -0.5) * source.choice((-1, 1))
            want = mpmath.digamma(mpmath.mpf(a)) - mpmath.digamma(mpmath.mpf(a) + mpmath.mpf(b))
            got = m.step("polygamma_difference", 0, a, b)
            assert abs(got - want) <= 8 * math.ulp(float(want)), (a, b)


def near_whole(source: random.Random) -> float:
    return source.randint(-150, 150) + source.choice((-1, 1)) * 10.0 ** source.uniform(-13, -1)


def beta_points(source: random.Random) -> list[tuple[float, float]]:
    """Points of both signs: anywhere, near poles, and where a + b is near or at a pole of
    digamma.
    """
    points = []
    for _ in range(12):
        a, b = source.uniform(-150, 150), source.uniform(-9, 9)
        points += [
            (a, b),
            (b, a),
            (a, source.uniform(-1e4, 1e4)),
            (near_whole(source), near_whole(source)),
        ]
        points += [
            (a, source.randint(-150, 150) - a),
            (a, source.choice((-1, 1)) * 10.0 ** source.uniform(-100, -3)),
        ]
        points += [
            (b, source.uniform(-1e13, 1e13)),
            (b / 900, -b / 900 * (1 + 10.0 ** source.uniform(-14, -1))),
        ]
    return points


def test_beta_of_both_signs_near_poles_and_at_its_zeros() -> None:
    m = Doubles()
    zeros = tried = 0
    for a, b in [
        (-0.5, -0.5),
        (-3.0, 2.5),
        (-2.5, 0.5),
        (-2.5, -0.5),
        (7.5, -9.5),
        *beta_points(random.Random(3)),
    ]:
        if any(x <= 0 and x == math.floor(x) for x in (a, b)):
            assert math.isnan(m.step("beta", a, b))
            continue
        for name in ("beta", "beta_slope"):
            with mpmath.workdps(160):
                want = REFERENCE[name](a, b)
            if abs(want) < 1e290 and (want == 0 or abs(want) > 1e-290):
                got = m.step(name, a, b)
                assert abs(got - want) <= 1e-11 * abs(want), (name, a, b, got, want)
                tried += 1
                zeros += want == 0
    assert tried > 120 and zeros > 2


def test_beta_of_huge_numbers_underflows_to_0() -> None:
    m = Doubles()
    assert m.step("beta", 1e9, 1e9) == m.step("beta_slope", 1e9, 1e9) == 0


@pytest.mark.parametrize("x", [0.999, -1.5, -1e8, -3e8, -1e17, -1e300])
def test_acosh_has_no_value_below_1(x: float) -> None:
    with pytest.raises(ValueError, match="math domain error"):
        Doubles().step("acosh", x)


def test_pytorch_has_the_digits_of_digamma_near_poles() -> None:
    pytest.importorskip("torch")
    value, (slope,) = torch(export("digamma(x)", "torch"), [-0.99999999])
    wanted = [REFERENCE["digamma"](-0.99999999), REFERENCE["polygamma"](1, -0.99999999)]
    assert [value, slope] == pytest.approx([float(x) for x in wanted], rel=1e-14)


def test_the_test_takes_the_formulas_and_sees_a_wrong_coefficient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from autodiff_cli.engine.numbers.double import formulas

    monkeypatch.setattr(
        formulas,
        "ERF_SERIES",
        (*formulas.ERF_SERIES[:-2], -0.3761263890318, formulas.ERF_SERIES[-1]),
    )
    with pytest.raises(AssertionError):
        test_digits(CASES[0])


def test_an_order_that_is_too_high_is_lacking() -> None:
    assert (
        "ad_digamma"
        in export(f"polygamma({MAX_POLYGAMMA_ORDER - 1}, x) + digamma(x)", "javascript").source
    )
    with pytest.raises(
        ExpressionError,
        match=rf"JavaScript has no function `polygamma\({MAX_POLYGAMMA_ORDER + 1}, …\)`",
    ):
        export(f"polygamma({MAX_POLYGAMMA_ORDER + 1}, x)", "javascript")


def test_a_function_has_each_step_once() -> None:
    steps = compose_for(language("javascript")["forms"], "lgamma", 1).recorder.steps
    seen: set[tuple[str, tuple[Step, ...]]] = set()
    for step in steps:
        if step.args and OPERATIONS[step.name].name == step.name:
            assert (step.name, step.args) not in seen or step.name == "where"
            seen.add((step.name, step.args))
