"""Small charts of answers in notebooks: what is drawn is where the numbers are."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from autodiff_cli import descend, fit
from autodiff_cli.show.chart import Panel, chart

pytest.importorskip("numpy")
MAX_BYTES = 12_000


def _drawing(html: str) -> Any:
    svg = html[html.index('<svg class="chart"') :]
    return ElementTree.fromstring(svg[: svg.index("</svg>") + len("</svg>")])


def _of_kind(drawing: Any, kind: str) -> list[Any]:
    return [each for each in drawing.iter() if each.get("class") == kind]


def _places(path: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d"))]


def _scale(drawing: Any, first: float, second: float) -> Any:
    """Return what turns vertical pixels of the first panel into numbers, by the labels of two
    marks.
    """
    at = {text.text: float(text.get("y")) - 4 for text in _of_kind(drawing, "r")}
    low, high = at[f"{first:g}"], at[f"{second:g}"]
    return lambda y: first + (y - low) / (high - low) * (second - first)


def test_a_fit_shows_data_curve_and_residuals() -> None:
    pytest.importorskip("scipy")
    xs, ys = [0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.2, 4.9, 7.1, 9.0]
    answer = fit("y = a + b*x", {"x": xs, "y": ys})
    html = answer._repr_html_()
    assert html is not None and len(html) < MAX_BYTES
    drawing = _drawing(html)
    data, residuals = [_places(path) for path in _of_kind(drawing, "dots")]
    assert len(data) == len(residuals) == 5
    number = _scale(drawing, 2.0, 8.0)
    assert [number(y) for _, y in data] == pytest.approx(ys, abs=0.02)
    slopes = [(data[k + 1][0] - data[k][0]) for k in range(4)]
    assert slopes == pytest.approx([slopes[0]] * 4, abs=0.2)  # the data are as far apart as their x
    curve = _places(_of_kind(drawing, "line")[0])
    a, b = (answer.parameters[name].estimate for name in "ab")
    assert number(curve[0][1]) == pytest.approx(a, abs=0.05) and number(
        curve[-1][1]
    ) == pytest.approx(a + 4 * b, abs=0.05)
    assert [text.text for text in drawing.iter() if text.text in ("y", "residual", "x")] == [
        "y",
        "residual",
        "x",
    ]
    assert (
        "prefers-color-scheme:dark" in html
        and 'aria-label="data, fitted curve and residuals of y"' in html
    )


def test_a_fit_of_many_rows_has_a_small_chart() -> None:
    pytest.importorskip("scipy")
    xs = [k / 1000 for k in range(5000)]
    html = fit(
        "y = a*x + b", {"x": xs, "y": [3 * x + (k * 7919 % 101) / 50 for k, x in enumerate(xs)]}
    )._repr_html_()
    assert html is not None and len(html) < 2 * MAX_BYTES


def test_a_descent_shows_its_values_and_the_best_and_not_all_rows() -> None:
    answer = descend("x**2", {"x": 1024}, rate=0.25, steps=200)
    html = answer._repr_html_()
    assert (
        html is not None
        and len(html) < MAX_BYTES
        and html.count("<tr>") < 50
        and "`rows` are all" in html
    )
    drawing = _drawing(html)
    line = _places(_of_kind(drawing, "line")[0])
    # the values are halved in each step: a straight line in a logarithmic scale
    rises = [(y - line[0][1]) / (x - line[0][0]) for x, y in line[1:]]
    assert rises == pytest.approx([rises[-1]] * len(rises), rel=0.2)
    assert len(_of_kind(drawing, "ring")) == 1


@pytest.mark.parametrize("numbers", [[], [float("nan")], [float("inf"), 1.0]])
def test_there_is_no_chart_of_what_is_no_number(numbers: list[float]) -> None:
    assert (
        chart([Panel("y", 100, dots=[(float(k), y) for k, y in enumerate(numbers)])], "x", "dots")
        is None
    )


@pytest.mark.parametrize(
    "ends", [(0.0, 0.0), (5.0, 5.0), (-1e308, 1e308), (1e-320, 3e-320), (1e-300, 1e300), (7.0, 8e9)]
)
def test_any_range_of_numbers_has_a_chart_with_marks(ends: tuple[float, float]) -> None:
    svg = chart(
        [Panel("<y>", 100, line=[*enumerate(ends)], may_be_logarithmic=True)], "a & b", "a line"
    )
    assert svg is not None
    drawing = ElementTree.fromstring(svg)
    ys = [y for _, y in _places(_of_kind(drawing, "line")[0])]
    assert all(16 <= y <= 116 for y in ys) and (ys[0] > ys[1] or ends[0] == ends[1])


def test_a_chart_loads_no_library() -> None:
    code = (
        "import sys; from autodiff_cli import descend; d = descend('x**2', {'x': 2}, rate=0.1,"
        " steps=9);before = {*sys.modules}; assert 'class=\"chart\"' in"
        " d._repr_html_();print(sorted(({*sys.modules} - before) & {'numpy', 'matplotlib', 'scipy',"
        " 'pandas', 'rich'}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
