"""`grad --over`: ranges of values and derivatives over a box hold, are narrow, and claim no more
than is proven.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction

import pytest

import autodiff_cli as api
from autodiff_cli import ExpressionError

Ends = tuple[float, float]


def ranges(text: str, over: Mapping[str, Ends], **more: object) -> api.GradientRanges:
    return api.gradient(text, over=over, certified=True, **more)  # type: ignore[arg-type]


EXP = {k: math.exp(-k) for k in (2, 3)}
EXACT: list[tuple[str, dict[str, Ends], list[Ends], list[str | None]]] = [
    # the program, the box, the ranges of value and slopes, what is proven: worked out by hand
    ("x**2", {"x": (1, 2)}, [(1, 4), (2, 4)], ["increasing"]),
    ("x**3", {"x": (-1, 2)}, [(-1, 8), (0, 12)], [None]),
    ("x*exp(-x)", {"x": (2, 3)}, [(3 * EXP[3], 2 * EXP[2]), (-EXP[2], -2 * EXP[3])], ["decreasing"]),
    ("sin(x)", {"x": (0, 10)}, [(-1, 1), (-1, 1)], ["neither"]),
    ("x*y/(x+y)", {"x": (1, 2), "y": (3, 4)}, [(0.75, 4 / 3), (0.36, 0.64), (0.04, 0.16)], ["increasing"] * 2),
    ("abs(x) + 2*x", {"x": (-1, 2)}, [(-1, 6), (1, 3)], ["increasing"]),
    ("relu(x)", {"x": (-1, 1)}, [(0, 1), (0, 1)], ["nondecreasing"]),
    ("max(x, 1 - x)", {"x": (0, 1)}, [(0.5, 1), (-1, 1)], ["neither"]),
    ("x - x", {"x": (0, 1)}, [(0, 0), (0, 0)], ["constant"]),
    ("(1-x)**2 + 100*(y-x**2)**2", {"x": (-2, 2), "y": (-1, 3)},
     [(0, 2509), (-4006, 4002), (-1000, 600)], ["neither"] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "box", "expected", "along"), EXACT, ids=[row[0] for row in EXACT])
def test_ranges_contain_the_exact_ones_and_are_narrow(
    text: str, box: dict[str, Ends], expected: list[Ends], along: list[str | None]
) -> None:
    answer = ranges(text, box)
    for found, (low, high) in zip(answer.ranges, expected, strict=True):
        assert found.low is not None
        assert found.high is not None
        assert found.everywhere
        assert found.low <= low
        assert high <= found.high
        room = 1e-8 * max(1.0, high - low)
        assert low - found.low < room
        assert found.high - high < room
    assert [found.monotonicity for found in answer.ranges[1:]] == along


PLACES = [
    # the program, the box, the kind of its only place, a number in it, whether value and slope are
    # bounded everywhere
    ("1/x", (-1, 1), "value", 0.0, False, False),
    ("sqrt(x)", (0, 1), "value", 0.0, False, False),
    ("tan(x)", (0, 3), "value", math.pi / 2, False, False),
    ("1 if x < 0.3 else 2", (0, 1), "value", 0.3, False, False),
    ("floor(x)", (0.5, 1.5), "slope", 1.0, True, False),
    ("cbrt(x)", (-1, 1), "slope", 0.0, True, False),
    ("abs(x - 0.1)", (-1, 1), "kink", 0.1, True, True),
    ("x + relu(x - 2)", (0, 5), "kink", 2.0, True, True),
]


@pytest.mark.parametrize(
    ("text", "ends", "kind", "place", "value", "slope"), PLACES, ids=[row[0] for row in PLACES]
)
def test_places_are_named_and_nothing_is_claimed_there(
    text: str, ends: Ends, kind: str, place: float, value: bool, slope: bool
) -> None:
    answer = ranges(text, {"x": ends})
    (found,) = answer.places
    low, high = found.box["x"]
    assert found.kind == kind
    assert low <= place <= high
    assert high - low < 1e-4
    assert [one.everywhere for one in answer.ranges] == [value, slope]
    if not slope:
        assert answer.ranges[1].monotonicity is None  # a jump or a pole may be there


def test_a_jump_is_no_constant_piece() -> None:
    # every derivative that exists is 0, and the function rises
    answer = ranges("floor(x) + x/10**9", {"x": (0.5, 3.5)})
    assert answer.ranges[1].monotonicity is None
    assert not answer.ranges[1].everywhere


MADE: list[tuple[str, Callable[[float], float]]] = [
    ("x*sin(3*x)", lambda x: x * math.sin(3 * x)),
    ("exp(-x**2)*cos(5*x)", lambda x: math.exp(-(x**2)) * math.cos(5 * x)),
    ("x/(1 + x**2)", lambda x: x / (1 + x**2)),
    ("tanh(x)**2 - x/3", lambda x: math.tanh(x) ** 2 - x / 3),
    ("sqrt(1 + x**4) - abs(x)", lambda x: math.sqrt(1 + x**4) - abs(x)),
    ("atan(x)*log(2 + x**2)", lambda x: math.atan(x) * math.log(2 + x**2)),
    ("max(sin(x), cos(x))", lambda x: max(math.sin(x), math.cos(x))),
]


@pytest.mark.parametrize(("text", "function"), MADE, ids=[text for text, _ in MADE])
def test_samples_lie_within(text: str, function: Callable[[float], float]) -> None:
    rng = random.Random(text)
    for _ in range(2):
        low, high = sorted(round(rng.uniform(-4, 4), 2) for _ in range(2))
        value, slope = ranges(text, {"x": (low, high + 0.5)}).ranges
        assert None not in (value.low, value.high, slope.low, slope.high)
        xs = [low + (high + 0.5 - low) * k / 500 for k in range(501)]
        ys = [*map(function, xs)]
        assert value.low <= min(ys) + 1e-15  # type: ignore[operator]
        assert max(ys) - 1e-15 <= value.high  # type: ignore[operator]
        width = max(ys) - min(ys)
        assert value.high - value.low < width * 1.01 + 1e-12  # type: ignore[operator]
        steps = zip(xs, xs[1:], ys, ys[1:], strict=False)
        secants = [(d - c) / (b - a) for a, b, c, d in steps]
        # by the mean value theorem a secant's slope is a derivative, or between those at a kink
        assert slope.low <= min(secants) + 1e-10  # type: ignore[operator]
        assert max(secants) - 1e-10 <= slope.high  # type: ignore[operator]
        assert slope.high - slope.low < (max(secants) - min(secants)) * 1.05 + 5e-2  # type: ignore[operator]


def test_decimals_are_exact_and_ends_are_rounded_outward() -> None:
    answer = ranges("3*x", {"x": (0.1, 0.2)})
    value = answer.ranges[0]
    assert value.low is not None
    assert value.high is not None
    assert Fraction(0.3) < Fraction(3, 10)
    assert Fraction(0.6) < Fraction(6, 10)
    assert (value.low, value.high) == (0.3, math.nextafter(0.6, 1))
    assert "0.3 │ 0.6" in str(answer).replace("  ", " ")


def test_work_is_bounded_and_said() -> None:
    text = "sin(40*x*y) + cos(30*y*z) + sin(20*z*x) + cos(10*x*w)"
    answer = ranges(text, dict.fromkeys("xyzw", (0, 3)))
    assert not answer.complete
    assert "the work ended" in answer.warnings[0].message
    value = answer.ranges[0]
    assert value.low is not None
    assert value.low <= -3.5


@pytest.mark.parametrize(
    ("text", "over", "at", "kind", "message"),
    [
        ("x", {"y": (0, 1)}, {"x": 1}, "usage", "`y` is not a variable"),
        ("x", {"x": (0, None)}, {}, "usage", "needs two ends"),
        ("x", {"x": (1, 1)}, {}, "usage", "are one number"),
        ("x", {"x": (0, 1)}, {"x": 1}, "point", "both a value and a range"),
        ("x", {"x": ("1 m", "2 s")}, {}, "point", "units of two quantities"),
        ("a*x", {"x": (0, 1)}, {}, "missing_value", "`a` has no value"),
        ("log(x)", {"x": (-2, -1)}, {}, "domain", "`log` is undefined"),
        ("x, 2*x", {"x": (0, 1)}, {}, "type", "2 outputs"),
    ],
)
def test_refusals(
    text: str, over: dict[str, Ends], at: dict[str, float], kind: str, message: str
) -> None:
    with pytest.raises(ExpressionError) as error:
        ranges(text, over, at=at)
    assert error.value.kind == kind
    assert message in str(error.value)
