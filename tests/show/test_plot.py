"""Tests of `plot`: what is drawn of functions that break, the tangent, the contours, the files, and
what is refused.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import autodiff_cli
from autodiff_cli import show as views
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.plot.contours import Heights, Surface, read_path, refine_surface
from autodiff_cli.capabilities.plot.figure import DARK, LIGHT
from autodiff_cli.capabilities.plot.frame import Frame, clip, frames
from autodiff_cli.capabilities.plot.plot import Curve, Tangent, plot, range_around
from autodiff_cli.capabilities.plot.plot_view import PlotView, title_of
from autodiff_cli.capabilities.plot.sampling import Stretch, split
from autodiff_cli.engine.graphs.value import Value, in_order
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.problem import parse
from autodiff_cli.show.mathematics import mathematics, program_in_mathematics
from counting import calls, compared, compares, lines
from places import TESTS
from running import autodiff
from strategies import graphs, program_text
from terminals import ESCAPE, on_terminal

for needed in ("matplotlib", "numpy", "uniplot"):
    pytest.importorskip(needed)

import contourpy  # noqa: E402
import matplotlib.image  # noqa: E402
import numpy  # noqa: E402
from matplotlib.image import imread  # noqa: E402

TUTORIALS = TESTS / "tutorials"
EVERYWHERE = Range(-5.0, 5.0)


def curve(text: str, ends: Range = EVERYWHERE, at: float | None = None) -> Curve:
    made = plot(text, {} if at is None else {"x": at}, ranges={"x": ends})
    assert isinstance(made, Curve)
    return made


def in_frame(made: Curve) -> list[Stretch]:
    return list(clip(made.function.stretches, frames(made)[0]))


# ---- curves -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("3x² − 4x + 5", lambda x: 3 * x * x - 4 * x + 5),
        ("sin(20*x)", lambda x: math.sin(20 * x)),
        ("1/x", lambda x: 1 / x),
        ("tan(x)", math.tan),
        ("log(x)", math.log),
        ("sqrt(x)", math.sqrt),
        ("tanh(1e4*x)", lambda x: math.tanh(1e4 * x)),
    ],
)
def test_what_is_drawn_lies_on_the_function(text: str, function: Callable[[float], float]) -> None:
    made = curve(text)
    low, high = frames(made)[0]
    for stretch in in_frame(made):
        for (a, at_a), (b, at_b) in pairwise(stretch):
            assert a < b
            # an eighth of the way, where a chord misses a bend nearly as much as in the middle
            x = a + (b - a) / 8
            inner = min(max(function(x), low), high)
            steep = abs(at_b - at_a) > 0.05 * (high - low)
            assert steep or abs(at_a + (at_b - at_a) / 8 - inner) < 0.01 * (high - low)


@pytest.mark.parametrize(
    ("text", "pieces", "breaks", "gaps"),
    [
        ("x**2", 1, [], []),
        ("1/x", 2, [0], []),
        ("1/x**2", 2, [0], []),
        ("1/(x - 0.3)", 2, [0.3], []),
        ("1/(x - 0.3)**2", 2, [0.3], []),
        ("tan(x)", 5, [-1.5 * math.pi, -0.5 * math.pi, 0.5 * math.pi, 1.5 * math.pi], []),
        ("log(x)", 1, [], [(-5, 0)]),
        ("sqrt(x)", 1, [], [(-5, 0)]),
        ("sqrt(x**2 - 1)", 2, [], [(-1, 1)]),
        ("abs(x)", 1, [], []),
        ("cbrt(x)", 1, [], []),
        ("sign(x)", 3, [0], []),
        ("where(x > 0.1, x, x - 3)", 2, [0.1], []),
        ("x if x < 1 else log(x - 1)", 2, [1], []),
        ("tanh(1e6*x)", 1, [], []),
        ("exp(20*x)", 1, [], []),
        ("asin(x)", 1, [], [(-5, -1), (1, 5)]),
    ],
)
def test_breaks_and_gaps(
    text: str, pieces: int, breaks: list[float], gaps: list[tuple[float, float]]
) -> None:
    made = curve(text)
    assert len(made.function.stretches) == pieces
    assert list(made.function.breaks) == pytest.approx(breaks, abs=1e-9)
    assert [x for gap in made.function.gaps for x in gap] == pytest.approx(
        [x for gap in gaps for x in gap], abs=1e-9
    )


def test_steps_end_where_they_jump() -> None:
    made = curve("floor(x)")
    steps = [stretch for stretch in made.function.stretches if len(stretch) > 1]
    assert len(steps) == 10
    assert [stretch[0][0] for stretch in steps] == pytest.approx(range(-5, 5), abs=1e-9)
    assert [stretch[-1][0] for stretch in steps] == pytest.approx(range(-4, 6), abs=1e-9)
    assert all(len({y for _, y in stretch}) == 1 for stretch in steps), "no step leans"


@pytest.mark.parametrize(
    "text",
    ["1/x", "tan(x)", "floor(x)", "1/x**3", "gamma(x)", "where(x > 0, 1/x, 2)", "1/sin(3*x)"],
)
def test_no_line_is_drawn_across_a_break(text: str) -> None:
    made = curve(text)
    for samples, frame in zip((made.function, made.derivative), frames(made), strict=True):
        for stretch in clip(samples.stretches, frame or frames(made)[0]):
            for (a, _), (b, _) in pairwise(stretch):
                assert not any(a < at < b for at in made.function.breaks)


def test_the_heights_of_a_pole_do_not_flatten_the_rest() -> None:
    for text in ("1/x", "tan(x)", "1/x**2", "log(x)"):
        low, high = frames(curve(text))[0]
        assert 1 < high - low < 40
    low, high = frames(curve("exp(x)"))[0]
    assert high > math.exp(5), "what is only steep is shown whole"


@pytest.mark.parametrize(
    ("text", "top"),
    [
        ("exp(-((x-.3123)/1e-5)**2) + sin(x)", 1 + math.sin(0.3123)),
        ("0.01*exp(-((x-.3123)/1e-7)**2)", 0.01),
        ("sech((x-.3)*1e5)", 1.0),
        ("where(abs(x-.3123) < 1e-6, 1, x/10)", 1.0),
    ],
)
def test_a_peak_between_samples_is_drawn(text: str, top: float) -> None:
    pytest.importorskip("flint")
    made = curve(text)
    assert made.function.high == pytest.approx(top, rel=2e-3)
    assert max(y for stretch in in_frame(made) for _, y in stretch) == pytest.approx(top, rel=2e-3)
    at = autodiff_cli.parse(text)
    for x, y in (point for stretch in in_frame(made) for point in stretch[1:-1]):
        assert y == pytest.approx(at(x=x), rel=1e-12, abs=1e-300), "a point of the curve"
    samples = plot(text, {}, ranges={"x": EVERYWHERE}, samples=100)
    assert isinstance(samples, Curve) and samples.function.high < 0.99 * top, "these were asked for"


def test_a_peak_of_the_derivative_between_samples_is_drawn() -> None:
    pytest.importorskip("flint")
    assert curve("x + 1e-8*tanh((x-.3)/1e-8)").derivative.high == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    "text", ["log(abs(x - 0.3123))", "x + log((x - 0.3123)**2)", "log(abs(sin(x - 0.3123)))"]
)
def test_a_slow_pole_between_samples_is_a_break_and_no_kink(text: str) -> None:
    made = curve(text)
    assert any(abs(x - 0.3123) < 1e-9 for x in made.function.breaks)
    assert not made.kinks
    assert not any(
        stretch[0][0] < 0.3123 - 1e-9 and stretch[-1][0] > 0.3123 + 1e-9
        for stretch in in_frame(made)
    )


@pytest.mark.parametrize(
    "text", ["abs(x - 0.3123)", "sqrt(abs(x - 0.3123))", "cbrt(x - 0.3123)", "max(x, 0.3123)"]
)
def test_a_kink_between_samples_is_no_break(text: str) -> None:
    made = curve(text)
    assert made.kinks == pytest.approx([0.3123])
    assert not made.function.breaks


@pytest.mark.parametrize("place", [1.2, 0.9, 1.84, 0.137320175])
@pytest.mark.parametrize("low", [-3.365967094161743, -6.299119458755398, -4.986576845737611])
def test_a_vertical_tangent_is_no_peak_of_the_derivative(place: float, low: float) -> None:
    pytest.importorskip("flint")
    made = curve(f"x + 2*cbrt(x - {place})", Range(low, 7.330841786832861))
    assert made.kinks == pytest.approx([place])


def test_the_derivative_breaks_at_a_kink() -> None:
    made = curve("abs(x - 1)")
    assert [stretch[0][1] for stretch in made.derivative.stretches] == [-1.0, 1.0]
    assert list(made.derivative.breaks) == pytest.approx([1.0])
    assert not made.function.breaks
    floor = curve("floor(x)")
    assert all(a[-1][0] <= b[0][0] for a, b in pairwise(floor.derivative.stretches))
    assert len(floor.derivative.stretches) >= 9, "a jump has no derivative"


def test_the_frame_cuts_exactly() -> None:
    line = ((0.0, -1.0), (1.0, 1.0), (2.0, 1.0), (3.0, -3.0))
    assert list(clip([line], Frame(-0.5, 2))) == [
        ((0.25, -0.5), (1.0, 1.0), (2.0, 1.0), (pytest.approx(2.375), -0.5))
    ]
    assert list(clip([((0.0, -9.0), (1.0, 9.0))], Frame(-3, 3))) == [
        ((pytest.approx(1 / 3), -3), (pytest.approx(2 / 3), 3))
    ]
    assert list(clip([((0.0, 9.0), (1.0, 8.0))], Frame(-3, 3))) == []


def test_the_tangent() -> None:
    made = curve("3x² − 4x + 5", Range(-2, 4), 3)
    assert made.tangent is not None
    assert (made.tangent.at, made.tangent.value, made.tangent.slope) == (3.0, 20.0, 14.0)
    assert made.tangent(4) == 34.0
    shown = autodiff("plot", "3x² − 4x + 5", "--at", "x=3", "--range", "x=-2:4")
    assert "f(3) = 20, f′(3) = 14" in shown.out
    assert "L(x) = 20 + 14(x − 3)" in shown.out


@pytest.mark.parametrize(
    ("text", "at", "linear"),
    [
        ("x**2", "-1", "1 − 2(x + 1)"),
        ("x**3 - 2*x", "0", "−2x"),
        ("x", "2", "2 + (x − 2)"),
        ("cos(x)", "0", "1"),
        ("1e9*x", "0", "1e+09·x"),
    ],
)
def test_the_linear_approximation_in_words(text: str, at: str, linear: str) -> None:
    record = json.loads(autodiff("plot", text, "--at", f"x={at}", "--json").out)
    assert record["linear"] == linear


@pytest.mark.parametrize("x", [0.0, 0.001, 0.5, 1.0, -3.0, 1e6, -1e-300])
def test_the_range_around_a_point(x: float) -> None:
    low, high = range_around(x)
    assert low < x < high
    assert low <= 0 <= high


# ---- surfaces -----------------------------------------------------------------------------------------------------
def test_contours_and_gradient() -> None:
    made = plot("x**2 + 3*y", {"x": 1, "y": 0}, ranges={"x": Range(-2, 2), "y": Range(-1, 1)})
    assert isinstance(made, Surface)
    assert made.gradient == (2.0, 3.0)
    assert made.value == 1.0
    assert (made.x[0], made.x[-1], made.y[0], made.y[-1]) == (-2, 2, -1, 1)
    assert made.heights[0][0] == 1.0
    assert 5 < len(made.levels) < 20
    assert list(made.levels) == sorted(set(made.levels))


def test_the_axes_follow_the_order_that_was_asked_for() -> None:
    at = {"x": 1.0, "y": 2.0}
    for wrt, variables in ((None, ("x", "y")), (["y", "x"], ("y", "x"))):
        made = plot("y**2 + x", at, wrt=wrt)
        assert isinstance(made, Surface)
        assert made.variables == variables
        assert made.gradient == ((1.0, 4.0) if wrt is None else (4.0, 1.0))


def test_what_is_undefined_has_no_height() -> None:
    made = plot("log(x*y)", {"x": 1, "y": 1})
    assert isinstance(made, Surface)
    assert any(z is None for row in made.heights for z in row)
    assert autodiff("plot", "log(x*y)", "--at", "x=1,y=1").code == 0


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "tsv"])
def test_the_path_of_a_descent(format: str, tmp_path: Path) -> None:
    args = ["--at", "x=1,y=1", "--rate", "0.1", "--steps", "5", "--format", format]
    run = autodiff("descend", "x**2 + 2*y**2", *args).out
    (tmp_path / "run").write_text(run)
    points = read_path(str(tmp_path / "run"))
    assert len(points) == 6
    if format == "csv":
        (tmp_path / "saved").write_text(run.replace(",", ";"))
        assert read_path(str(tmp_path / "saved")) == points
    assert points[1] == pytest.approx({"x": 0.8, "y": 0.6})
    made = plot("x**2 + 2*y**2", path=points)
    assert isinstance(made, Surface)
    assert made.path[0] == (1.0, 1.0)
    assert made.x[0] < min(x for x, _ in made.path) and max(y for _, y in made.path) < made.y[-1]
    shown = autodiff(
        "plot", "x**2 + 2*y**2", "--path", "run", "--output", "run.svg", folder=tmp_path
    )
    assert shown.code == 0
    assert "path, 6 points" in (tmp_path / "run.svg").read_text(encoding="utf-8")


def test_the_path_of_a_run_over_one_variable(tmp_path: Path) -> None:
    args = ["(w - 1)**2", "--at", "w=4", "--rate", "0.9", "--steps", "5", "--save-path", "run"]
    run = autodiff("descend", *args, "--format", "jsonl", folder=tmp_path)
    rows = [json.loads(line) for line in run.out.splitlines()]
    assert (
        autodiff("plot", "(w - 1)**2", "--path", "run", "--output", "run.svg", folder=tmp_path).code
        == 0
    )
    assert "path, 6 points" in (tmp_path / "run.svg").read_text(encoding="utf-8")
    found = json.loads(
        autodiff("plot", "(w - 1)**2", "--path", "run", "--json", folder=tmp_path).out
    )
    assert found["path"] == [[row["point"]["w"], row["value"]] for row in rows]
    low, high = found["range"]["w"]
    assert low < min(x for x, _ in found["path"]) and max(x for x, _ in found["path"]) < high


def test_a_path_of_something_else() -> None:
    with pytest.raises(ExpressionError, match="no `b`"):
        plot("a*b", path=[{"a": 1.0, "c": 1.0}])


# ---- what is written ----------------------------------------------------------------------------------------------
TEXTS = [
    "1/x",
    "tan(x)",
    "log(x)",
    "sqrt(x)",
    "abs(x)",
    "floor(x)",
    "where(x > 1, x, -x)",
    "5 + 0*x",
    "x*y",
    "1e300*x",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_picture_can_be_drawn(text: str, tmp_path: Path) -> None:
    args = ["plot", text, "--at", "x=1,y=2" if "y" in text else "x=1"]
    for name in ("a.svg", "a.png"):
        shown = autodiff(*args, "--output", name, folder=tmp_path)
        assert (shown.out, shown.code) == ("", 0)
    ElementTree.parse(tmp_path / "a.svg")
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert 600 < width < 2000 and 300 < height < 2000
    shown = autodiff(*args)
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 90
    assert "\x1b" not in shown.out


def test_the_same_picture_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        autodiff("plot", "x**2", "--at", "x=1", "--output", name, folder=tmp_path)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_text_is_no_markup(tmp_path: Path) -> None:
    assert (
        autodiff(
            "plot",
            "x if x < 1 else $x$".replace("$", ""),
            "--at",
            "x=0",
            "--output",
            "a.svg",
            folder=tmp_path,
        ).code
        == 0
    )
    text = "".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())
    assert "f(x) = x if x < 1 else x" in text
    assert (
        autodiff(
            "plot", "x # $\\frac{1}{2}$ <b>", "--at", "x=0", "--output", "b.svg", folder=tmp_path
        ).code
        == 0
    )


@pytest.mark.posix
def test_a_terminal_has_colours_and_keeps_its_width() -> None:
    shown = on_terminal("plot", "x**2", "--at", "x=1", width=60)
    assert ESCAPE.search(shown.out)
    assert (
        max(
            len(line) for line in ESCAPE.sub("", shown.out).splitlines() if line[:1] in tuple("┌│└")
        )
        <= 60
    )
    plain = on_terminal(
        "plot", "x**2 + y**2", "--at", "x=1,y=2", env={"LC_ALL": "C", "NO_COLOR": "1"}
    )
    drawing = plain.out[plain.out.index("+--") :]
    assert drawing[: drawing.index("across")].isascii()


@pytest.mark.posix
def test_a_picture_is_not_thrown_at_a_terminal() -> None:
    shown = on_terminal("plot", "x**2", "--at", "x=1", "--format", "png")
    assert shown.code == 2
    assert "--output plot.png" in shown.out


def test_the_long_table() -> None:
    rows = autodiff("plot", "log(x)", "--at", "x=1", "--format", "csv").out.splitlines()
    assert rows[0] == "line,id,x,y,value,derivative,second,output,error"
    cells = [row.split(",") for row in rows[1:]]
    assert all(float(cell[2]) > 0 for cell in cells)
    assert any((cell[2], cell[4], cell[5]) == ("1.0", "0.0", "1.0") for cell in cells)


# ---- second derivatives, several functions, PDF -------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "bend"),
    [
        ("x**3 - 2*x", lambda x: 6 * x),
        ("exp(-x**2/2)", lambda x: (x * x - 1) * math.exp(-x * x / 2)),
        ("abs(x)*x", lambda x: math.copysign(2, x)),
    ],
)
def test_the_second_derivative_is_drawn_too(text: str, bend: Callable[[float], float]) -> None:
    made = plot(text, {"x": 0.5}, ranges={"x": Range(-2.0, 2.0)}, order=2)
    assert isinstance(made, Curve)
    found = [place for stretch in made.second.stretches for place in stretch]
    assert len(found) > 100 and max(x for x, _ in found) - min(
        x for x, _ in found
    ) == pytest.approx(4, abs=1e-3)
    assert all(y == pytest.approx(bend(x), rel=1e-9, abs=1e-12) for x, y in found if abs(x) > 1e-6)
    if "abs" in text:
        assert len(made.second.stretches) == 2, "nothing is drawn across the jump"
    usual = plot(text, {"x": 0.5}, ranges={"x": Range(-2.0, 2.0)})
    assert made._replace(second=usual.second) == usual
    none = plot(text, {"x": 0.5}, ranges={"x": Range(-2.0, 2.0)}, order=0)
    assert (
        isinstance(none, Curve) and not none.derivative.stretches and none.function == made.function
    )


def test_several_functions_are_each_what_they_are_alone() -> None:
    text, ends = "s = a*x; sin(s), 1/x, sqrt(x)", {"x": Range(-3.0, 2.0)}
    made = plot(text, {"a": 2, "x": 1.0}, ranges=ends)
    assert isinstance(made, Curve)
    assert [each.name for each in made.outputs] == ["sin(s)", "1/x", "sqrt(x)"]
    for each, alone in zip(made.outputs, ("sin(2*x)", "1/x", "sqrt(x)"), strict=True):
        single = plot(alone, {"x": 1.0}, ranges=ends, order=0)
        assert isinstance(single, Curve) and single.tangent
        assert each.function == single.function
        assert each.value == single.tangent.value
    said = autodiff("plot", text, "--at", "a=2", "--range", "x=-3:2")
    assert said.code == 0 and "sin(s) solid, 1/x dotted, √x sparsely dotted" in said.out
    assert "1/x breaks at x = 0" in said.out and "√x is undefined for x from -3 to 0" in said.out
    record = json.loads(
        autodiff("plot", text, "--at", "a=2,x=1", "--range", "x=-3:2", "--json").out
    )
    assert [each["value"] for each in record["outputs"]] == [math.sin(2), 1.0, 1.0]
    rows = [
        row.split(",")
        for row in autodiff("plot", "x,-x", "--range", "x=0:1", "--format", "csv").out.split()
    ]
    assert {row[7] for row in rows[1:]} == {"x", "-x"}
    assert all(float(row[4]) == float(row[2]) * (1 if row[7] == "x" else -1) for row in rows[1:])


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_several_functions_have_a_colour_each(theme: str, tmp_path: Path) -> None:
    asked = (
        "plot",
        "x, -x, 2*x, 3*x, 4*x, 5*x",
        "--range",
        "x=-1:1",
        "--theme",
        theme,
        "--output",
        "a.svg",
    )
    assert autodiff(*asked, folder=tmp_path).code == 0
    text = (tmp_path / "a.svg").read_text("utf-8")
    colors = DARK if theme == "dark" else LIGHT
    for name in ("blue", "red", "green", "violet", "brown", "ink"):
        assert f"stroke: {getattr(colors, name)}" in text


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("x**2", "--at", "x=1", "--order", "3"), "--order"),
        (
            ("x, x**2", "--at", "x=1", "--order", "1"),
            "derivatives are drawn of one function, and this program has 2",
        ),
        (("x*y", "--at", "x=1,y=2", "--order", "2"), "`--order` is for functions of one variable"),
        (("x, y", "--at", "x=1,y=2"), "outputs"),
        (
            ("x, x+1, x+2, x+3, x+4, x+5, x+6", "--at", "x=1"),
            "7 functions are too many for one plot",
        ),
        (("log(x), sqrt(x)", "--range", "x=-2:-1"), "no value anywhere from x = -2 to -1"),
        (("y*exp(y) = x", "--for", "y", "--at", "x=1", "--order", "2"), "its first derivative"),
        (("x", "--at", "x=1", "--output", "a.gif"), "`.gif` is not one of this command's formats"),
    ],
)
def test_what_cannot_be_drawn_together(args: tuple[str, ...], told: str) -> None:
    shown = autodiff("plot", *args)
    assert shown.code in (2, 3, 4) and told in shown.err and not shown.out


def test_the_values_of_a_run_are_drawn_over_its_steps(tmp_path: Path) -> None:
    asked = ("descend", "x**2 + 4*y**2", "--at", "x=2,y=1", "--steps", "7")
    for name in ("a.svg", "a.png", "a.pdf"):
        assert autodiff(*asked, "--output", name, folder=tmp_path).code == 0
    text = (tmp_path / "a.svg").read_text("utf-8")
    places = [len(re.findall("[ML]", each.get("d", ""))) for each in ElementTree.fromstring(text).iter()
              if LIGHT.blue in (each.get("style") or "") and "fill: none" in (each.get("style") or "")]  # fmt: skip
    assert places[0] == 8, "one place for the start and for each step"
    assert "value 0.175922 at x = 0.41943" in text and "best: step 7" in text and "step" in text
    dark = autodiff(*asked, "--theme", "dark", "--format", "svg")
    assert DARK.blue in dark.out and LIGHT.blue not in dark.out
    stream = autodiff("descend", "--at", "x=1", "--format", "svg", stdin="x**2\nx**4\n")
    assert stream.code == 2 and "one program at a time" in stream.err and not stream.out
    far = autodiff("descend", "x**2", "--at", "x=1", "--rate", "3", "--format", "svg")
    assert far.code == 1 and "diverge" in far.err and "<svg" in far.out


def test_a_pdf_of_a_plot_has_its_fonts_and_is_the_same_again(tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        assert autodiff("plot", "x**2", "--at", "x=1", "--output", name, folder=tmp_path).code == 0
    made = (tmp_path / "a.pdf").read_bytes()
    assert made == (tmp_path / "b.pdf").read_bytes()
    assert (
        made[:5] == b"%PDF-"
        and b"/FontFile2" in made
        and b"/ToUnicode" in made
        and b"/Subtype /Image" not in made
    )


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "uniplot", None)
    for more in ([], ["--output", "a.svg"]):
        shown = autodiff("plot", "x**2", "--at", "x=1", *more, folder=tmp_path)
        assert shown.code == 2
        assert "pip install '.[plot]'" in shown.err
    assert autodiff("plot", "x**2", "--at", "x=1", "--format", "plain").code == 0
    assert not list(tmp_path.iterdir())


# ---- the figures of the tutorials ---------------------------------------------------------------------------------
FIGURES = {
    "parabola.svg": ("3x² − 4x + 5", "x=3", "x=-2:4", lambda x: 6 * x - 4),
    "cubic.svg": ("3x³ − 4x + 5", "x=1", "x=-2:2", lambda x: 9 * x * x - 4),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_the_derivative(name: str) -> None:
    text, at, ends, slope = FIGURES[name]
    record = json.loads(autodiff("plot", text, "--at", at, "--range", ends, "--json").out)
    for stretch in record["derivative"]:
        for x, y in stretch:
            assert y == pytest.approx(slope(x), abs=1e-12)
    assert f"f(x) = {text}" in "".join(ElementTree.parse(TUTORIALS / name).getroot().itertext())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_its_command_draws(name: str, tmp_path: Path) -> None:
    text, at, ends, _ = FIGURES[name]
    assert (
        autodiff("plot", text, "--at", at, "--range", ends, "--output", name, folder=tmp_path).code
        == 0
    )

    def paths(path: Path) -> list[str]:
        """The lines of the drawing; another version of matplotlib may set the text a little
        differently.
        """
        return [
            re.sub(r"\s+", " ", d)
            for d in re.findall(r' d="(M [^"]*)"', path.read_text(encoding="utf-8"))
        ]

    assert len(paths(tmp_path / name)) == len(paths(TUTORIALS / name))


@pytest.mark.parametrize(
    ("text", "labels"), [("1e9 + x*y", {"999999999.8", "1000000000.2"}), ("1e20*(x+y)", {"5e+19"})]
)
def test_contours_are_labelled_with_numbers_that_differ(text: str, labels: set[str]) -> None:
    surface = plot(text, {}, ranges={"x": Range(-1.0, 1.0), "y": Range(-1.0, 1.0)})
    assert isinstance(surface, Surface) and all(type(level) is float for level in surface.levels)
    drawn = views.svg(surface)
    assert drawn is not None and labels <= set(re.findall(r">([-\d.e+]+)</text>", drawn))


def test_no_height_is_minus_zero() -> None:
    surface = plot(
        "x*y", {"x": 0.0, "y": -1.0}, ranges={"x": Range(-1.0, 1.0), "y": Range(-1.0, 1.0)}
    )
    assert isinstance(surface, Surface) and surface.levels == tuple(k / 5 for k in range(-5, 6))
    assert "-0.0," not in json.dumps([surface.heights, surface.value, surface.gradient, 0])


# ---- contours that look as they are -------------------------------------------------------------------------------
FINER = ("x*y**2", "log(x*y)*abs(x)", "abs(x) + abs(y)", "sqrt(x) if y > 0 else -x", "digamma(x)*y")
ROSENBROCK = "(1-x)^2 + 100*(y-x^2)^2"


def surface(text: str, ranges: dict[str, Range] | None = None) -> Surface:
    made = plot(text, {}, ranges=ranges or {"x": Range(-2.0, 2.0), "y": Range(-1.0, 3.0)})
    assert isinstance(made, Surface)
    return made


def lowest(heights: Heights, levels: Sequence[float]) -> tuple[int, float]:
    """Of the two lowest contours: how many lines they are, and how far the first one is from its
    own mean course.
    """
    generator = contourpy.contour_generator(heights.x, heights.y, heights.z)
    first, second = (generator.lines(level) for level in levels[:2])
    line = max(first, key=len)
    # sampled evenly, so that it does not matter where it crosses the grid's lines
    steps = numpy.hypot(*numpy.diff(line, axis=0).T)
    along = numpy.concatenate([[0.0], steps.cumsum()])
    even = numpy.linspace(0, along[-1], 400)
    x, y = (numpy.interp(even, along, line[:, k]) for k in (0, 1))
    wobble = numpy.hypot(numpy.diff(x, 2), numpy.diff(y, 2))
    return len(first) + len(second), float(numpy.median(wobble) / (even[1] - even[0]))


def test_contours_that_cannot_be_followed_are_left_out_and_that_is_said() -> None:
    def drawn(text: str, far: int) -> tuple[Surface, int]:
        sides = {name: Range(-float(far), float(far)) for name in "xy"}
        made = plot(text, {}, ranges=sides)
        assert isinstance(made, Surface)
        return made, calls(lambda: PlotView().draw(made, "svg"))

    drawn("x + y", 1)  # loads what draws
    tame, cost = drawn("x**2 + y**2", 2)
    assert not tame.warnings
    busy, busy_cost = drawn("sin(3*x)*sin(3*y)", 10)
    wild, wild_cost = drawn("sin(x*y)", 100)
    assert [[w.kind for w in each.warnings] for each in (busy, wild)] == [["limit"]] * 2
    assert len(busy.levels) > len(wild.levels) == 0
    assert busy_cost < 4 * cost and wild_cost < cost


def test_a_curve_in_a_thousand_pieces_is_one_line() -> None:
    def cost(text: str, far: float) -> int:
        made = plot(text, {}, ranges={"x": Range(-far, far)})
        assert isinstance(made, Curve) and len(made.function.stretches) > (400 if far > 9 else 0)
        return calls(lambda: PlotView().draw(made, "svg"))

    cost("x", 1)  # loads what draws
    # a line each took 16 million calls
    assert cost("tan(x)", 1e6) < 1_500_000


def test_the_lowest_contours_of_a_narrow_valley_are_smooth_and_whole() -> None:
    made = surface(ROSENBROCK)
    lines, wobble = lowest(refine_surface(made), made.levels)
    coarse = lowest(Heights(made.x, made.y, numpy.array(made.heights)), made.levels)
    assert lines == 2 < coarse[0], "no island, and on the coarse grid there is one"
    assert wobble < 0.02 < coarse[1]


@pytest.mark.parametrize(
    "text",
    [
        "x*y**2",
        "log(x*y)*abs(x)",
        "abs(x) + abs(y)",
        "sqrt(x) if y > 0 else -x",
        "polygamma(9, x)*y",
    ],
)
def test_a_finer_grid_has_the_values_of_the_program(text: str) -> None:
    made = surface(text)
    fine = refine_surface(made)
    step = (len(fine.x) - 1) // (len(made.x) - 1)
    assert step == (1 if "polygamma" in text else 4)
    coarse = numpy.array([[math.nan if z is None else z for z in row] for row in made.heights])
    numpy.testing.assert_allclose(fine.z[::step, ::step], coarse, rtol=1e-12, atol=1e-12)
    # a quarter of the steps in between
    for row, column in ((1, 2), (241, 333), (402, 79)):
        if step > 1:
            point = {"x": float(fine.x[column]), "y": float(fine.y[row])}
            try:
                expected = gradient(text, point).value
            except ExpressionError:
                expected = math.nan
            assert fine.z[row, column] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def rows_of_ink(png: bytes) -> list[bool]:
    """Of a picture, by rows of pixels: whether anything is in them."""
    return [
        bool(row.min() < 1)
        for row in matplotlib.image.imread(io.BytesIO(png))[:, :, :3].min(axis=2)
    ]


def test_the_title_stands_by_the_drawing() -> None:
    for ranges in (
        {"x": Range(-1.0, 1.0), "y": Range(-1.0, 1.0)},
        {"x": Range(-2.0, 2.0), "y": Range(-1.0, 1.0)},
    ):
        ink = rows_of_ink(views.view_of(surface("x*y", ranges)).draw(surface("x*y", ranges), "png"))  # type: ignore[arg-type]
        title = ink.index(True)
        below = title + ink[title:].index(False)
        assert ink[below:].index(True) < 30 and title < 30


@pytest.mark.parametrize(
    "text", ["x*y + " + "+".join(f"m{'M' * 6}{k}" for k in range(9)), "W" * 60 + "*x*y"]
)
def test_a_title_is_as_wide_as_the_picture_at_most(text: str) -> None:
    names = [name for name in parse(text).variables if name not in ("x", "y")]
    plotted = plot(
        text, dict.fromkeys(names, 1.0), ranges={"x": Range(-1.0, 1.0), "y": Range(-1.0, 1.0)}
    )
    picture = imread(io.BytesIO(views.view_of(plotted).draw(plotted, "png")), format="png")  # type: ignore[arg-type]
    ink = (picture[:60, :, :3].sum(axis=2) < 1.5).any(axis=0)
    assert ink.any() and not ink[:6].any() and not ink[-6:].any()


def test_a_kink_at_the_point_is_said_in_the_picture() -> None:
    for text, point, said in (
        (
            "abs(x)",
            {"x": 0.0},
            (
                "tangent at x = 0, by convention",
                "no derivative (a kink)",
                "by convention: there is a kink",
            ),
        ),
        ("max(x, y)", {"x": 1.0, "y": 1.0}, ("gradient, by convention (a kink)",)),
    ):
        smooth = dict.fromkeys(point, 0.5) | {"x": 1.5}
        drawn = [str(views.svg(plot(text, at))) for at in (point, smooth)]
        for words in said:
            assert words in drawn[0]
            assert words not in drawn[1] or words == "no derivative (a kink)"


# ---- formulas in titles and legends -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("3*x**2 - 4*x + 5", "3x² − 4x + 5"),
        ("(1-x)^2 + 100*(y-x^2)^2", "(1 − x)² + 100(y − x²)²"),
        ("abs(x)*sin(x) + abs(abs(x) - 1)", "|x|·sin(x) + abs(|x| − 1)"),
        ("sqrt(x)**2/sqrt(2*pi*x)", "(√x)²/√(2π·x)"),
        ("2*e5 + 2*3*y**-1 - -2*z", "2·e5 + 2·3·y⁻¹ − −2z"),
        ("a/(2*x)*x**n**2", "a/(2x)·x^n²"),
        (
            "x if x >= 1 and y != 2 else (1 if y < 0 else 2)*y",
            "x if x ≥ 1 and y ≠ 2 else (1 if y < 0 else 2)·y",
        ),
        ("f(u) = u**3; f(2*x)", "(2x)³"),
        ("a = x*x; b = a + 1; b*a", "a = x·x; b = a + 1; b·a"),
        ("a = x**2; o = tanh(a)", "a = x²; tanh(a)"),
        ("f(u) = u*u + u; f(f(f(f(f(f(x))))))", ""),
    ],
)
def test_formulas_as_people_write_them(text: str, written: str) -> None:
    assert program_in_mathematics(parse(text)) == written


@compares(60)
@given(graphs())
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back(root: Value) -> None:
    written = mathematics(root)
    if written:
        point = {
            leaf.label: 0.75 + 0.5 * k
            for k, leaf in enumerate(in_order((root,)))
            if leaf.primitive is VARIABLE
        }
        try:
            expected = gradient(program_text([root]), point).value
        except ExpressionError:
            return
        assert gradient(written, point).value == expected, (written, program_text([root]))
        compared()


@pytest.mark.parametrize("program", ["sin(x)/x", "x**2 + 2*y**2"])
def test_a_plot_is_drawn_in_the_colours_of_its_theme(program: str, tmp_path: Path) -> None:
    drawn = {}
    for theme in ("auto", "light", "dark"):
        asked = ["plot", program, "--at", "x=1,y=1" if "y" in program else "x=1", "--theme", theme]
        drawn[theme] = autodiff(*asked, "--format", "svg").out
        picture = tmp_path / f"{theme}.png"
        assert autodiff(*asked, "--output", str(picture)).code == 0
        corner = imread(picture)[0, 0][:3]
        assert [round(255 * float(x)) for x in corner] == (
            [15, 23, 42] if theme == "dark" else [255, 255, 255]
        )
    light, dark = (set(re.findall("#[0-9a-f]{6}", drawn[theme])) for theme in ("light", "dark"))
    assert LIGHT.paper in light and LIGHT.ink in light and DARK.paper in dark and DARK.ink in dark
    assert not {LIGHT.paper, LIGHT.ink, LIGHT.grid} & dark
    style = re.search(
        r"<style>@media \(prefers-color-scheme:dark\)\{(.*?)\}</style>", drawn["auto"]
    )
    assert style is not None and "prefers-color-scheme" not in drawn["light"] + drawn["dark"]
    assert drawn["auto"].replace("\n " + style[0], "") == drawn["light"], (
        "auto is the light one, with rules for the dark"
    )
    pairs = set(re.findall(r'="(?:fill|stroke): (#\w{6})"\]\{(?:fill|stroke):(#\w{6})', style[1]))
    changed = dict(pairs)
    assert changed[LIGHT.paper] == DARK.paper and changed[LIGHT.ink] == DARK.ink
    assert (
        len(changed) == len(pairs)
        and light - dark <= set(changed) <= light
        and set(changed.values()) <= dark
    )
    wrong = autodiff("plot", program, "--theme", "pink")
    assert wrong.code == 2 and "`--theme` cannot be `pink`" in wrong.err


# ---- implicit functions -------------------------------------------------------------------------------------------
def _implicit(text: str, at: Mapping[str, float], low: float, high: float, **more: Any) -> Curve:
    found = plot(text, at, ranges={"x": Range(low, high)}, **more)
    assert isinstance(found, Curve)
    return found


@pytest.mark.parametrize(
    ("text", "at", "function", "slope", "low", "high"),
    [
        (
            "x**2 + y**2 = 25",
            {"x": 3, "y": 4},
            lambda x: math.sqrt(25 - x * x),
            lambda x: -x / math.sqrt(25 - x * x),
            -5,
            5,
        ),
        (
            "x**2 + y**2 = 25",
            {"x": 3, "y": -4},
            lambda x: -math.sqrt(25 - x * x),
            lambda x: x / math.sqrt(25 - x * x),
            -5,
            5,
        ),
        ("y = x**2", {"x": 0, "y": 0}, lambda x: x * x, lambda x: 2 * x, -6, 6),
        ("y**3 = x", {"x": 1, "y": 1}, math.cbrt, lambda x: math.cbrt(x) / (3 * x), 0, 6),
        ("x*y = 2", {"x": 1, "y": 2}, lambda x: 2 / x, lambda x: -2 / x**2, 0, 6),
        ("y*exp(y) = x", {"x": 1}, None, None, -math.exp(-1), 6),
        ("exp(y) = x", {"x": 1, "y": 0}, math.log, lambda x: 1 / x, 0, 6),
        # from the fold at y = 1 on there is another solution, which is not this one
        ("y**3 - 3*y = x", {"x": 0, "y": 2}, None, None, -2, 6),
    ],
)
def test_an_implicit_function_is_drawn_as_far_as_it_goes(
    text: str, at: Mapping[str, float], function: Any, slope: Any, low: float, high: float
) -> None:
    curve = _implicit(text, at, -6, 6, unknowns=["y"])
    assert curve.unknown == "y" and not curve.warnings
    xs = [x for stretch in curve.function.stretches for x, _ in stretch]
    assert min(xs) == pytest.approx(low, abs=1e-5) and max(xs) == pytest.approx(high, abs=1e-5)
    for stretch in curve.function.stretches:
        for x, y in stretch:
            if function is not None:
                # next to the ends of a circle its height hangs on the last bit of x
                near = 1e-12 if min(x - low, high - x) > 1e-3 else 1e-4
                assert y == pytest.approx(function(x), rel=near, abs=1e-3 * near), x
            else:
                # what is left of the equation, on the side of the fold where it began
                left = y**3 - 3 * y if "3" in text else y * math.exp(y)
                assert left == pytest.approx(x, abs=1e-12) and y > (
                    0.999 if "3" in text else -1.001
                )
    for stretch in curve.derivative.stretches:
        for x, d in stretch:
            if slope is not None and abs(x - low) > 1e-3 and abs(x - high) > 1e-3:
                assert d == pytest.approx(slope(x), rel=1e-9, abs=1e-12), x


def test_an_implicit_function_of_several_equations_is_their_first_unknown() -> None:
    curve = _implicit("u - v = x; u*v = 6", {"x": 1, "u": 3, "v": 2}, 0, 4, unknowns=["v", "u"])
    assert curve.tangent == Tangent(1.0, pytest.approx(2.0), pytest.approx(-0.4))
    for x, v in curve.function.stretches[0]:
        assert v == pytest.approx((math.sqrt(x * x + 24) - x) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "at", "unknowns", "told"),
    [
        ("a*x**2 + y**2 = 25", {"x": 3, "y": 4, "a": 1}, ["y"], "over one variable"),
        ("x**2 + y**2 = -1", {"x": 3}, ["y"], "no solution"),
        ("y**2 = 4", {"y": 1}, ["y"], "over one variable"),
        ("x**2 + y**2 = 25", {"x": 5, "y": 0}, ["y"], "multiple root"),
    ],
)
def test_what_cannot_be_drawn_of_equations_is_refused(
    text: str, at: Mapping[str, float], unknowns: list[str], told: str
) -> None:
    with pytest.raises(ExpressionError, match=told):
        plot(text, at, unknowns=unknowns)


def test_equations_are_written_as_mathematics_writes_them() -> None:
    titles = {
        "x**2 + y**2 = 25": "y(x): x² + y² = 25",
        "x**2 + y**2 - 25": "y(x): x² + y² − 25 = 0",
        "r = 5; x**2 + y**2 = r**2": "y(x): x² + y² = r²",
    }
    for text, title in titles.items():
        assert title_of(_implicit(text, {"x": 3, "y": 4}, 2, 4, unknowns=["y"])) == title


def test_pieces_are_cut_at_many_breaks_as_fast_as_at_few() -> None:
    pieces = [tuple((10.0 * k + j, 0.0) for j in range(9)) for k in range(200)]
    assert split([((0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0))], [1.5]) == (
        ((0.0, 1.0), (1.0, 2.0)), ((2.0, 3.0), (3.0, 4.0))
    )  # fmt: skip
    # a break at a point is before it; a piece of one point is not drawn
    assert split([((0.0, 1.0), (1.0, 2.0), (2.0, 3.0))], [0.0, 1.0]) == (((1.0, 2.0), (2.0, 3.0)),)
    few = lines(lambda: split(pieces, [25.0]))
    assert lines(lambda: split(pieces, [10.0 * k - 0.5 for k in range(200)])) < 1.1 * few


def test_logarithmic_axes_are_followed_evenly() -> None:
    curve = plot("x**2", ranges={"x": Range(1e-3, 1e6)}, log="xy")
    assert isinstance(curve, Curve)
    (stretch,) = curve.function.stretches
    assert stretch[0] == pytest.approx((1e-3, 1e-6)) and stretch[-1] == pytest.approx((1e6, 1e12))
    # a straight line of equal steps in logarithms
    steps = [math.log10(b[0] / a[0]) for a, b in pairwise(stretch)]
    assert max(steps) < 0.1
    assert all(y == pytest.approx(x * x, rel=1e-9) for x, y in stretch)
    logs = curve.in_logs()
    assert (logs.low, logs.high) == pytest.approx((-3, 6))
    assert curve.tangent is None and not curve.derivative.stretches
    below, _ = frames(curve)
    assert 0 < below.low < 1e-6 < 1e12 < below.high


def test_what_is_not_positive_has_no_place_on_a_logarithmic_axis() -> None:
    curve = plot("x - 1", ranges={"x": Range(0.5, 100)}, log="y")
    assert isinstance(curve, Curve)
    ((low, high),) = curve.function.gaps
    assert (low, high) == pytest.approx((0.5, 1), abs=1e-6)


def test_over_a_range_of_an_equation_there_is_no_tangent_that_nobody_asked_for() -> None:
    ranges = {"x": Range(-1.0, 1.0)}
    swept, asked = (
        plot("x**2 + y**2 = 4", at, ranges=ranges, unknowns=["y"])
        for at in ({"y": 2}, {"x": 0.5, "y": 2})
    )
    assert isinstance(swept, Curve) and swept.tangent is None
    assert isinstance(asked, Curve) and asked.tangent is not None


@pytest.mark.parametrize(
    ("text", "options", "subject"),
    [
        # 1 - cos(x) has an error of 1e-16, which x**3 = 1e-12 of the second derivative makes 1e-4;
        # it is x/4 = 2.5e-5
        (
            "(1 - cos(x))/x",
            {"ranges": {"x": Range(1e-4, 1e-2)}, "order": 2},
            "the second derivative has no reliable digit",
        ),
        # the curve is within 1e-16 of its largest value, but a logarithmic axis shows it at 1e-10
        ("1 - cos(x)", {"ranges": {"x": Range(1e-6, 1)}, "log": "xy"}, "the value has"),
        (
            "sqrt(x**2 + y) - x",
            {"ranges": {"x": Range(1e7, 1e8), "y": Range(0, 1)}},
            "points of the surface",
        ),
    ],
)
def test_digits_are_checked_of_all_that_is_drawn(
    text: str, options: dict[str, Any], subject: str
) -> None:
    (warning,) = [one for one in plot(text, **options).warnings if one.kind == "lost_digits"]
    assert subject in warning.message


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("(1 - cos(x))/x", {"ranges": {"x": Range(1e-2, 1)}, "order": 2}),
        ("exp(x)", {"ranges": {"x": Range(-200, 200)}, "log": "y"}),
        ("x**2 + y**2", {"ranges": {"x": Range(-2, 2), "y": Range(-1, 1)}}),
    ],
)
def test_digits_that_are_kept_get_no_warning(text: str, options: dict[str, Any]) -> None:
    assert not plot(text, **options).warnings
