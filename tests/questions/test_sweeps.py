"""Sweeps: their values beside exact fractions and NumPy's ranges, the order of a grid, and what is
refused.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.arithmetic import arithmetic_of
from autodiff_cli.questions.measured_value import MeasuredValue, quantity
from autodiff_cli.questions.parse_point import parse_point
from autodiff_cli.questions.quantities import quantity_value
from autodiff_cli.questions.sweeps import Axis, Grid, grid_of, sweeping


def grid(text: str, *, zipped: bool = False, times: float = 1) -> Grid:
    """The points of a text."""
    points = grid_of(parse_point(text, sweeping(None)), zipped=zipped, times=times)
    assert points is not None
    return points


def values(text: str) -> list[float]:
    """The values of a text that sweeps `x` alone."""
    return [point["x"] for point in grid(f"x={text}").points()]


decimals = st.decimals(-1000, 1000, places=3, allow_nan=False).map(str)


@given(decimals, st.decimals("0.001", 50, places=3).map(str), st.integers(1, 300), st.booleans())
def test_decimal_steps_are_the_nearest_doubles_of_exact_ones(
    start: str, step: str, count: int, descending: bool
) -> None:
    by = -Fraction(step) if descending else Fraction(step)
    exact = [Fraction(start) + k * by for k in range(count)]
    end = str(float(exact[-1]))
    swept = (
        values(f"{start}:{end}:{'-' * descending}{step}")
        if count > 1
        else values(f"{start}:{start}:{step}")
    )
    assert swept == [float(x) for x in exact]
    # and other arithmetics read them exactly
    assert [Fraction(x.source) for x in swept] == exact  # type: ignore[attr-defined]


@given(decimals, decimals, st.integers(2, 400))
def test_so_many_points_are_the_nearest_doubles_of_exact_ones(
    start: str, end: str, count: int
) -> None:
    if Fraction(start) == Fraction(end):
        return
    swept = values(f"{start}:{end}/{count}")
    step = (Fraction(end) - Fraction(start)) / (count - 1)
    exact = [Fraction(start) + k * step for k in range(count)]
    assert swept == [float(x) for x in exact]
    assert [Fraction(x.source) for x in swept] == exact  # type: ignore[attr-defined]


@given(st.floats(1e-30, 1e30), st.floats(1e-30, 1e30), st.integers(2, 500))
def test_equal_ratios_are_those_of_numpy(start: float, end: float, count: int) -> None:
    if start == end:
        return
    numpy = pytest.importorskip("numpy")
    swept = values(f"log({start!r}:{end!r})/{count}")
    assert swept[0] == start and abs(swept[-1] - end) <= 1e-13 * end
    assert numpy.allclose(swept, numpy.geomspace(start, end, count), rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0:1:0.1", [k / 10 for k in range(11)]),
        ("log(1:1e6)/7", [10.0**k for k in range(7)]),
        ("log(1e6:1)/7", [10.0 ** (6 - k) for k in range(7)]),
        ("log(1:27)/4", [1, 3, 9, 27]),
        ("log(1:1024)/11", [2**k for k in range(11)]),
        ("log(1e-300:1e300)/7", [1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300]),
        ("0:10:3", [0, 3, 6, 9]),
        ("0:1:1/3", [0, 1 / 3, 2 / 3, 1]),
        ("{5, 1/4, 2}", [5, 0.25, 2]),
        ("1:1:0.5", [1]),
        ("0:10/(1+1):1", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_values_that_have_short_names_are_hit(text: str, exact: list[float]) -> None:
    assert values(text) == exact


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ("3.9999999992", "3.9999999992"),
        ("4.0000000008", "4.0000000008"),
        ("3.9999999988", "3"),
        ("4.0000000012", "4"),
    ],
)
def test_an_end_within_a_billionth_of_a_step_is_the_last_value(steps: str, last: str) -> None:
    assert values(f"0:{steps}:1")[-1] == float(last)


def test_a_step_may_be_a_billionth_longer_than_the_way() -> None:
    assert values("0:1:1.0000000008") == [0, 1]
    with pytest.raises(ExpressionError, match="longer than the range"):
        values("0:1:1.0000000012")


def test_the_last_slash_before_a_whole_number_is_the_count() -> None:
    from math import pi

    assert values("0:2*pi/9") == pytest.approx([k * pi / 4 for k in range(9)], rel=4e-16)
    assert values("0:(pi/2)/3") == pytest.approx([0, pi / 4, pi / 2], rel=4e-16)
    # with two colons it divides
    assert values("0:pi/2:pi/8") == pytest.approx([k * pi / 8 for k in range(5)], rel=4e-16)


def test_other_arithmetics_read_the_expressions() -> None:
    texts = {"x": values("0:pi:pi/3")[2].source}  # type: ignore[attr-defined]
    third = arithmetic_of(False, 40, False).run(texts, lambda m, point: {"x": point["x"]})["x"]
    assert third.text.startswith("2.09439510239319549230842892218633525613")


axes = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@given(axes, st.data())
def test_the_last_sweep_varies_fastest(sizes: list[int], data: st.DataObject) -> None:
    names = "abcd"[: len(sizes)]
    swept = grid(
        ",".join(f"{name}=0:{size - 1}:1" for name, size in zip(names, sizes, strict=True))
    )
    expected = [
        dict(zip(names, map(float, point), strict=True)) for point in product(*map(range, sizes))
    ]
    assert swept.size == len(expected)
    assert [*swept.points()] == expected
    start = data.draw(st.integers(0, swept.size - 1))
    stop = data.draw(st.integers(start + 1, swept.size))
    columns = swept.columns(start, stop)
    assert columns == {name: [point[name] for point in expected[start:stop]] for name in names}


def test_pairs_go_side_by_side() -> None:
    swept = grid("x=0:4:2,y={5,6,7},z=3", zipped=True)
    assert [*swept.points()] == [{"x": 0, "y": 5}, {"x": 2, "y": 6}, {"x": 4, "y": 7}]
    assert swept.columns(1, 3) == {"x": [2, 4], "y": [6, 7]} and swept.fixed == {"z": 3}


def test_values_may_have_uncertainties() -> None:
    point = parse_point("x=1:3:1±10%,y={2.0(1),uniform(0, 1)}", sweeping(quantity))
    swept = grid_of(point)
    assert swept is not None
    spreads = [
        (float(x), x.uncertainty) for p in swept.points() if isinstance(x := p["x"], MeasuredValue)
    ]
    assert spreads == [pytest.approx((x, x / 10)) for x in (1, 1, 2, 2, 3, 3)]
    assert {p["y"].distribution.family for p in swept.points()} == {"normal", "uniform"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "unit", "numbers"),
    [
        ("1 m:3 m:1 m", "m", [1, 2, 3]),
        ("0 cm:3 m:50 cm", "cm", [0, 50, 100, 150, 200, 250, 300]),
        ("0 m:0.3 m:10 cm", "m", [0, 0.1, 0.2, 0.3]),
        ("0 m/s:3 m/s/4", "m/s", [0, 1, 2, 3]),
        ("0:3/4 m/s", "m/s", [0, 1, 2, 3]),
        ("0:2:1 km/h", "km/h", [0, 1, 2]),
        ("0:2/3 1/s", "s⁻¹", [0, 1, 2]),
        ("log(1 mm:1 m)/4", "mm", [1, 10, 100, 1000]),
        ("log(1:100)/3 m/s", "m/s", [1, 10, 100]),
        ("0 °C:320 K:20 K", "°C", [0, 20, 40]),
        ("32 °F:100 °C:90 °F", "°F", [32, 122, 212]),
        ("{1 m, 20 cm}", "m", [1, 0.2]),
        ("{0 °C, 300 K}", "°C", [0, 26.85]),
        ("0 °:3.14159 rad:90 °", "°", [0, 90]),
        ("0:10/1 m", None, None),
        ("0:3 m:1 m", None, None),
        ("0 m:3 s:1 m", None, None),
        ("{1 m, 2}", None, None),
        ("{1 m, 2 s}", None, None),
    ],
)
def test_units_stand_behind_a_sweep_or_behind_each_of_its_numbers(
    text: str, unit: str | None, numbers: list[float] | None
) -> None:
    """The values are in the unit behind, or in the first; the step is a difference."""
    if numbers is None:
        with pytest.raises(ExpressionError):
            parse_point(f"x={text}", sweeping(quantity_value))
        return
    (swept,) = parse_point(f"x={text}", sweeping(quantity_value)).values()
    axis: Axis = swept.axis  # type: ignore[attr-defined]
    values: list[Any] = [axis.value(k) for k in range(axis.size)]
    assert {str(value.unit) for value in values} == {unit}
    assert [value.number for value in values] == pytest.approx(numbers, rel=1e-14, abs=1e-14)


def test_a_large_sweep_is_not_held() -> None:
    assert grid("x=0:1:1e-7", times=2).columns(5_000_000, 5_000_002) == {"x": [0.5, 0.5000001]}
    with pytest.raises(ExpressionError, match="10,000,001 of `x`") as error:
        grid("x=0:1:1e-7")
    assert error.value.kind == "limit" and "--work 2" in str(error.value.hint)
    with pytest.raises(ExpressionError, match="points"):
        grid("x=0:1e300:1e-300")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x=0:10", "0:10"),
        ("x=0:10:0", "0"),
        ("x=0:10:-1", "-1"),
        ("x=0:0.5:10", "10"),
        ("x=1, y=0:1:z", "z"),
        ("x={1,b}", "b"),
        ("x={1,2", "{"),
        ("x=0:1:2:3", ":"),
        ("x=log(1:10)/2.5", "2.5"),
        ("x=log(-1:10)/3", "log(-1:10)/3"),
        ("x=log(1:10:2)/3", ":"),
        ("x=0:10/1", "0:10/1"),
    ],
)
def test_what_is_refused_has_its_place(text: str, place: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse_point(text, sweeping(None))
    span = error.value.span
    assert span is not None and text[span.start : span.end] == place
    assert error.value.kind == "point" and error.value.hint
