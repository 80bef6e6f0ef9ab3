"""Curves of equations in `plot`, held against roots that NumPy finds on lines; and how pictures are
steered.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from autodiff_cli.capabilities.plot.frame import log_ticks
from autodiff_cli.capabilities.plot.implicit import GRID, ImplicitPlot
from autodiff_cli.capabilities.plot.plot import Curve, plot
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.show.picture_look import read_characters, read_size
from running import autodiff

for needed in ("matplotlib", "numpy", "uniplot"):
    pytest.importorskip(needed)
pytest.importorskip("flint")

import numpy  # noqa: E402
from matplotlib.image import imread  # noqa: E402


def implicit(text: str, half: float | None = None, **point: float) -> ImplicitPlot:
    ranges = None if half is None else {"x": Range(-half, half), "y": Range(-half, half)}
    made = plot(text, point, ranges=ranges)
    assert isinstance(made, ImplicitPlot)
    return made


def test_a_circle_is_one_closed_branch_of_which_all_is_shown() -> None:
    made = implicit("x**2 + y**2 = 25")
    (curve,) = made.curves
    (branch,) = curve.branches
    assert branch[0] == branch[-1] and not curve.undecided
    assert made.x[0] < -5 and made.x[1] > 5 and made.y[0] < -5 and made.y[1] > 5
    assert all(abs(math.hypot(x, y) - 5) < 1e-9 for x, y in branch)
    angles = sorted(math.atan2(y, x) for x, y in branch)
    assert (
        max(b - a for a, b in zip(angles, [*angles[1:], angles[0] + 2 * math.pi], strict=True))
        < 0.05
    )


@pytest.mark.parametrize(
    ("text", "half", "branches"),
    [
        ("x**2 - y**2 = 1", 4.0, 2),
        ("x*y = 1", 3.0, 2),
        ("y**2 = x**3 - x", 3.0, 2),
        ("(x**2 + y**2 - 4)*(x**2 + y**2 - 1) = 0", 3.0, 2),
        ("sin(x) = y", 4.0, 1),
        ("tan(x) = y", 1.5, 1),
    ],
)
def test_all_branches_are_found(text: str, half: float, branches: int) -> None:
    (curve,) = implicit(text, half).curves
    assert len(curve.branches) == branches and not curve.undecided


def test_no_branch_runs_along_a_pole_or_a_jump() -> None:
    assert not implicit("1/(x - y) = 0", 2.0).curves[0].branches
    assert not implicit("floor(x) - 0.5 = 0*y", 2.3).curves[0].branches
    # tan(x) = y has no points at the poles of tan
    (curve,) = implicit("tan(x) = y", 3.0).curves
    assert all(abs(math.tan(x) - y) < 1e-6 for branch in curve.branches for x, y in branch)


@pytest.mark.parametrize("text", ["x**2 + y**2 = 0", "abs(x - 0.3) + abs(y) = 0"])
def test_what_does_not_cross_is_undecided_and_said(text: str) -> None:
    made = implicit(text, 1.0)
    assert made.curves[0].undecided and any(
        "not decided" in warning.message for warning in made.warnings
    )


def test_where_an_equation_holds_nowhere_nothing_is_undecided() -> None:
    made = implicit("x**2 + y**2 = -0.01", 1.0)
    assert not made.curves[0].branches and not made.curves[0].undecided and not made.warnings


def off(height: numpy.ndarray, text: str, half: float) -> float:
    """Return by how many cells the drawing misses a root of a random polynomial on lines across it,
    at most.
    """
    made = implicit(text, half)
    points = numpy.array(
        [place for branch in made.curves[0].branches for place in branch] or [(math.inf, math.inf)]
    )
    corners = [place for cell in made.curves[0].undecided for place in cell]
    worst = 0.0
    for x in numpy.linspace(-half, half, 41)[1:-1]:
        polynomial = [sum(c * x**i for i, c in enumerate(row)) for row in height][::-1]
        for root in numpy.roots(polynomial):
            if abs(root.imag) < 1e-9 and abs(root.real) < 0.99 * half:
                place = numpy.array([x, root.real])
                near = numpy.abs(points - place).max(axis=1).min()
                near = min([near, *(abs(a - x) + abs(b - root.real) for a, b in corners)])
                worst = max(worst, near / (2 * half / GRID))
    return worst


def polynomial(draw: random.Random) -> tuple[numpy.ndarray, str]:
    degree = draw.choice((1, 2, 3, 4))
    height = numpy.array(
        [[round(draw.gauss(0, 1), 2) * (i + j <= degree) for i in range(5)] for j in range(5)]
    )
    terms = [f"({c})*x**{i}*y**{j}" for j, row in enumerate(height) for i, c in enumerate(row) if c]
    return height, " + ".join(terms) + " = 0"


@pytest.mark.parametrize("seed", [1, 2])
def test_roots_on_lines_lie_on_the_curve(seed: int) -> None:
    height, text = polynomial(random.Random(seed))
    if "x" in text and "y" in text:
        assert off(height, text, 2.0) <= 2


# ---- heights, sizes, ticks ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["y", "f"])
def test_the_heights_are_those_of_the_range(name: str) -> None:
    made = plot("1/x", {}, ranges={"x": Range(-3.0, 3.0), name: Range(-50.0, 50.0)})
    assert isinstance(made, Curve) and made.vertical == (-50.0, 50.0)
    heights = [y for stretch in made.function.stretches for _, y in stretch]
    assert min(heights) < -49 and max(heights) > 49


def test_a_variable_y_has_its_own_range() -> None:
    made = plot("y**2", {}, ranges={"y": Range(-3.0, 3.0)})
    assert isinstance(made, Curve) and made.variable == "y" and made.vertical is None


def test_a_narrow_range_of_heights_is_as_fine_as_it_is_drawn() -> None:
    made = plot("x**2", {}, ranges={"x": Range(-1.0, 1.0), "y": Range(0.0, 1e-4)})
    assert isinstance(made, Curve)
    places = [x for stretch in made.function.stretches for x, y in stretch if y <= 1e-4]
    assert len(places) > 20


def test_sizes() -> None:
    assert read_size("800x500") == (800 / 96, 500 / 96, True) and read_size("") is None
    assert read_characters("60x15") == (60, 15)
    for text in ("60", "60x15cm", "60x", "1e3x5", "5x5"):
        with pytest.raises(ExpressionError):
            read_characters(text)
    for text in ("60", "1x1mm", "900x900cm", "axb"):
        with pytest.raises(ExpressionError):
            read_size(text)


@pytest.mark.parametrize(
    ("low", "high"), [(0.3, 0.85), (-3.0, 5.0), (-200.0, 200.0), (0.0, 1.0), (2.95, 3.0)]
)
def test_logarithmic_ticks_are_where_their_texts_say(low: float, high: float) -> None:
    ticks = log_ticks(low, high, 9)
    assert 1 <= len(ticks) <= 9
    plain = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    for place, text in ticks:
        digit, _, power = text.rpartition("·")
        number = float(text) if not set(text) & set("⁰¹²³⁴⁵⁶⁷⁸⁹") else None
        logarithm = (
            math.log10(number)
            if number
            else math.log10(float(digit or 1)) + int(power[2:].translate(plain))
        )
        assert low <= place <= high and logarithm == pytest.approx(place)


def test_a_picture_has_the_size_and_no_legend_over_a_tangent(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    assert autodiff("plot", "x", "--at", "x=1", "--size", "640x320", "-o", str(path)).code == 0
    assert imread(path).shape[:2] == (320, 640)


def test_a_fit_writes_its_picture_beside_its_answer(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y\n0,1\n1,2.9\n2,5.1\n3,7\n")
    picture = tmp_path / "fit.svg"
    ran = autodiff(
        "fit",
        "y = a + b*x",
        "--data",
        str(rows),
        "--plot",
        str(picture),
        "--title",
        "A line",
        "--json",
    )
    assert ran.code == 0 and '"parameters"' in ran.out
    assert "A line" in picture.read_text()
    again = autodiff("fit", "y = a + b*x", "--data", str(rows), "--plot", str(picture))
    assert again.code == 5 and not again.out
    other = autodiff("fit", "y = a + b*x", "--data", str(rows), "--plot", "fit.gif")
    assert other.code == 2 and "`fit.gif` is no picture" in other.err
