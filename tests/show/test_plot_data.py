"""Tests of data over curves and contours, with their error bars, and of curves of so many
points.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli import plot as drawn
from autodiff_cli.capabilities.plot.contours import Surface
from autodiff_cli.capabilities.plot.frame import frames
from autodiff_cli.capabilities.plot.plot import Curve, plot
from autodiff_cli.capabilities.plot.plot_view import PlotView
from autodiff_cli.questions.parse_point import Range
from running import autodiff

for needed in ("matplotlib", "numpy", "uniplot"):
    pytest.importorskip(needed)

import numpy  # noqa: E402

DECAY: dict[str, list[float]] = {
    "t": [0, 1, 2, 4],
    "U": [5.1, 3.0, -9.0, 0.6],
    "dU": [0.2, 0.1, 0.5, 0.3],
}
MODEL = "U = U0*exp(-k*t)"
POINT = {"U0": 5.0, "k": 0.5}


def curve(**given: Any) -> Curve:
    answer = plot(MODEL, POINT, data=DECAY, **given)
    assert isinstance(answer, Curve)
    return answer


@pytest.mark.parametrize(
    ("sigma", "dx", "dy"),
    [
        (None, (), ()),
        ("dU", (), (0.2, 0.1, 0.5, 0.3)),
        (0.25, (), (0.25,) * 4),
        ("0.25", (), (0.25,) * 4),
        ("10%", (), (0.51, 0.3, 0.9, 0.06)),
        ("U=dU,t=0.1", (0.1,) * 4, (0.2, 0.1, 0.5, 0.3)),
        ({"t": "5%"}, (0.0, 0.05, 0.1, 0.2), ()),
    ],
)
def test_rows_have_their_uncertainties(
    sigma: Any, dx: Sequence[float], dy: Sequence[float]
) -> None:
    data = curve(sigma=sigma).data
    assert data is not None and (data.across, data.up) == ("t", "U")
    assert data.x == (0, 1, 2, 4) and data.y == (5.1, 3.0, -9.0, 0.6)
    assert data.dx == pytest.approx(dx) and data.dy == pytest.approx(dy)


def test_the_frame_has_all_rows_and_bars() -> None:
    shown = curve(sigma="dU", order=0)
    assert shown.low == pytest.approx(-0.2) and shown.high == pytest.approx(4.2)
    frame, _ = frames(shown)
    assert frame.low < -9.5 and frame.high > 5.3
    # but for those that the range leaves out
    frame, _ = frames(curve(sigma="dU", order=0, ranges={"t": Range(2.5, 4.5)}))
    assert frame.low > 0


@pytest.mark.parametrize("surface", [False, True])
def test_a_picture_draws_rows_and_bars(surface: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axes import Axes

    dots: list[tuple[list[float], list[float]]] = []
    bars: list[Mapping[str, Any]] = []
    own, own_bars = Axes.plot, Axes.errorbar

    def dot(self: Any, *args: Any, **style: Any) -> Any:
        if style.get("label") == "data":
            dots.append((args[0], args[1]))
        return own(self, *args, **style)

    def bar(self: Any, xs: Any, ys: Any, **style: Any) -> Any:
        bars.append({"x": xs, "y": ys, **style})
        return own_bars(self, xs, ys, **style)

    monkeypatch.setattr(Axes, "plot", dot)
    monkeypatch.setattr(Axes, "errorbar", bar)
    text = "(t - 1)**2 + U**2" if surface else MODEL
    answer = plot(text, {} if surface else POINT, data=DECAY, sigma={"t": 0.5, "U": "dU"})
    assert isinstance(answer, Surface if surface else Curve)
    across, up = ("U", "t") if surface else ("t", "U")
    sizes = {"t": [0.5] * 4, "U": DECAY["dU"]}
    assert PlotView().draw(answer, "png").startswith(b"\x89PNG")
    assert dots == [(DECAY[across], DECAY[up])]
    (drawn_bars,) = bars
    assert (drawn_bars["x"], drawn_bars["y"]) == (DECAY[across], DECAY[up])
    assert [[*drawn_bars["xerr"]], [*drawn_bars["yerr"]]] == [sizes[across], sizes[up]]


def test_logarithmic_axes_leave_out_what_is_not_positive() -> None:
    data = curve(log="y").in_logs().data
    assert data is not None
    assert data.x == (0, 1, 4) and data.y == pytest.approx([0.70757018, 0.47712125, -0.22184875])


LAMBERT = {"x": [0.0, 1.0, 2.5], "y": [0.1, 0.6, 0.9], "v": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("given", "point", "up"),
    [
        ({"unknowns": ["y"]}, {}, "y"),
        ({"unknowns": ["y"], "response": "v"}, {}, "v"),
        ({"unknowns": ["y"]}, {"x": 1.0}, "y"),
        ({"between": {"y": Range(0, 3)}}, {}, "y"),
        ({"between": Range(0, 3)}, {"x": 1.0}, "y"),
        ({"unknowns": ["y"], "sigma": "x=0.1"}, {}, "y"),
    ],
)
def test_data_are_drawn_over_the_solution_of_equations(
    given: dict[str, Any], point: Any, up: str
) -> None:
    answer = plot("y*exp(y) = x", point, data=LAMBERT, **given)
    assert isinstance(answer, Curve) and answer.data is not None and answer.unknown == "y"
    assert (answer.data.across, answer.data.up) == ("x", up)
    assert answer.data.y == tuple(LAMBERT[up]) and answer.data.x == (0, 1, 2.5)
    assert (answer.low, answer.high) == pytest.approx((-0.125, 2.625))
    assert answer.data.dx == ((0.1,) * 3 if "sigma" in given else ())
    assert (answer.tangent is not None) is bool(point)


def test_bounds_of_no_unknown_in_particular_are_refused() -> None:
    with pytest.raises(ExpressionError, match="several variables have no value"):
        plot("y*exp(y) = x", data=LAMBERT, between=Range(0, 3))
    with pytest.raises(ExpressionError, match="no column `z`"):
        plot("z*exp(z) = x", data=LAMBERT, unknowns=["z"])


def test_the_range_shows_data_and_path() -> None:
    path = [{"x": -4.0, "y": 1.0}, {"x": 0.0, "y": 3.0}]
    surface = plot("x**2 + y**2", data=LAMBERT, path=path)
    assert isinstance(surface, Surface) and surface.data is not None and len(surface.path) == 2
    assert (surface.x[0], surface.x[-1]) == pytest.approx((-4 - 0.05 * 6.5, 2.5 + 0.05 * 6.5))
    assert (surface.y[0], surface.y[-1]) == pytest.approx((0.1 - 0.05 * 2.9, 3 + 0.05 * 2.9))
    curve = plot("x**2", data=LAMBERT, path=[{"x": -4.0}], response="v")
    assert (
        isinstance(curve, Curve)
        and curve.low < -4
        and curve.path == ((-4.0, 16.0),)
        and curve.data is not None
    )


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("U0*exp(-k*t)", {}, "several columns may be the heights"),
        ("U0*exp(-k*t)", {"response": "V"}, "no column `V`"),
        (MODEL, {"sigma": "q"}, "no column `q` of uncertainties"),
        (MODEL, {"sigma": -1.0}, "not all 0 or larger"),
        (MODEL, {"sigma": {"k": 1.0}}, "`k` has an uncertainty, and is not drawn"),
        ("exp(-z)", {}, "no variable of this program"),
        ("t + U + dU", {}, "3 variables"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as error:
        plot(text, POINT, data=DECAY, **given)
    assert error.value.kind in ("usage", "point") and error.value.hint


@pytest.mark.parametrize("count", [2, 3, 10, 501])
def test_so_many_points_are_at_equal_distances(count: int) -> None:
    answer = plot("x*sin(x)", ranges={"x": Range(-1.0, 7.0)}, samples=count)
    assert isinstance(answer, Curve)
    xs, ys = zip(
        *(place for stretch in answer.function.stretches for place in stretch), strict=True
    )
    assert xs == pytest.approx(numpy.linspace(-1, 7, count), abs=1e-12)
    assert ys == pytest.approx(numpy.array(xs) * numpy.sin(xs), abs=1e-12)
    slopes = [y for stretch in answer.derivative.stretches for _, y in stretch]
    assert slopes == pytest.approx(numpy.sin(xs) + numpy.array(xs) * numpy.cos(xs), abs=1e-12)


def test_the_command_reads_files_as_a_fit_does(tmp_path: Path) -> None:
    (tmp_path / "lab.csv").write_text(
        "t [s];U [V];dU\n0;5,1;0,2\n1;3,0;0,1\n2;1,9;0,1\n", encoding="utf-8"
    )
    asked = (
        "plot",
        MODEL,
        "--at",
        "U0=5,k=0.5",
        "--data",
        "lab.csv",
        "--sigma",
        "dU",
        "--format",
        "json",
    )
    result = autodiff(*asked, folder=tmp_path)
    assert (
        result.code == 0
        and "separator ;" in result.err
        and "`U` is the column `U [V]`" in result.err
    )
    rows = json.loads(result.out)["data"]
    assert rows == {
        "across": "t",
        "up": "U",
        "x": [0, 1, 2],
        "y": [5.1, 3, 1.9],
        "dx": [],
        "dy": [0.2, 0.1, 0.1],
    }
    answer = drawn(MODEL, POINT, data=str(tmp_path / "lab.csv"), sigma="dU", range="t=0:1")
    assert isinstance(answer, Curve) and "of which 1 is outside of the range" in str(answer)


def test_error_bars_are_in_the_unit_of_their_column_without_units_in_the_point(
    tmp_path: Path,
) -> None:
    (tmp_path / "lab.csv").write_text("t,U [V],dU [mV]\n0,5.1,200\n1,3.0,100\n", encoding="utf-8")
    asked = (
        "plot",
        MODEL,
        "--at",
        "U0=5,k=0.5",
        "--data",
        "lab.csv",
        "--sigma",
        "dU",
        "--format",
        "json",
    )
    result = autodiff(*asked, folder=tmp_path)
    assert result.code == 0 and json.loads(result.out)["data"]["dy"] == [0.2, 0.1]
    (tmp_path / "lab.csv").write_text("t,U,dU [mV]\n0,5.1,200\n1,3.0,100\n", encoding="utf-8")
    refused = autodiff(*asked, folder=tmp_path)
    assert (
        refused.code == 2
        and "the uncertainties of `U` are in `mV`, and its column has no unit" in refused.err
    )
