"""The fitted curve at points, with its bands: beside closed forms, and beside the propagation of
the fit.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.optimize.fit import fit
from autodiff_cli.capabilities.optimize.fit_command import prediction_columns
from autodiff_cli.capabilities.propagate.propagate import estimates_of_fit, propagate

LINE: dict[str, Any] = {
    "x": [0.0, 1, 2, 3, 4, 5, 6],
    "y": [1.02, 1.9, 3.2, 3.9, 5.1, 5.8, 7.2],
    "s": [0.2] * 7,
}


def test_a_line_beside_the_textbook() -> None:
    answer = autodiff_cli.fit("y = a + b*x", LINE, predict="x=-2:8:2.5", level=0.9)
    x, y, n = np.array(LINE["x"]), np.array(LINE["y"]), len(LINE["x"])
    slope, offset, *_ = stats.linregress(x, y)
    spread = math.sqrt(float(np.sum((y - offset - slope * x) ** 2)) / (n - 2))
    t = float(stats.t.ppf(0.95, n - 2))
    assert [each.point["x"] for each in answer.predictions] == [-2.0, 0.5, 3.0, 5.5, 8.0]
    for each in answer.predictions:
        place = each.point["x"]
        leverage = 1 / n + (place - x.mean()) ** 2 / float(np.sum((x - x.mean()) ** 2))
        assert each.value == pytest.approx(offset + slope * place)
        for ends, share in ((each.confidence, leverage), (each.prediction, 1 + leverage)):
            assert ends is not None
            assert (ends[1] - ends[0]) / 2 == pytest.approx(t * spread * math.sqrt(share), rel=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"sigma": 0.2}, {"sigma": "y=0.2,x=0.1"}, {"sigma": 0.2, "scale_errors": True}]
)
def test_confidence_is_that_of_the_propagation(options: dict[str, Any]) -> None:
    answer = autodiff_cli.fit(
        "y = a + b*exp(k*x)", LINE, "k=0.1,a=-9", predict={"x": [0.5, 9.0]}, **options
    )
    # no fits for intervals by profile
    fitted = estimates_of_fit({**answer.to_dict(), "refit": None})
    for each in answer.predictions:
        (result,) = propagate("a + b*exp(k*x)", {"x": each.point["x"]}, fitted=fitted).results
        assert each.confidence is not None and each.value == pytest.approx(result.value)
        assert (each.confidence[1] - each.confidence[0]) / 2 == pytest.approx(
            result.expanded, rel=1e-5
        )


@pytest.mark.parametrize(
    ("sigma", "spread"), [(0.2, 0.2), ("5%", None), ("s", math.nan), ({"y": 0.2, "x": 0.1}, 0.2)]
)
def test_a_new_row_has_the_uncertainty_that_is_known_of_it(
    sigma: Any, spread: float | None
) -> None:
    answer = autodiff_cli.fit("y = a + b*x", LINE, sigma=sigma, predict={"x": [3.0]})
    (each,) = answer.predictions
    assert each.confidence is not None and each.value is not None
    if spread is not None and math.isnan(spread):
        assert each.prediction is None
        return
    assert each.prediction is not None
    half = [
        (ends[1] - ends[0]) / 2 / 1.959963984540054 for ends in (each.confidence, each.prediction)
    ]
    assert math.sqrt(half[1] ** 2 - half[0] ** 2) == pytest.approx(
        spread or 0.05 * each.value, rel=1e-9
    )


def test_points_without_a_value_and_parameters_that_are_not_determined() -> None:
    answer = autodiff_cli.fit("y = a + b*sqrt(x)", LINE, predict={"x": [-1.0, 4.0]})
    assert answer.predictions[0].value is None and answer.predictions[0].confidence is None
    assert answer.predictions[1].value is not None
    free = autodiff_cli.fit("y = a + b + c*x", LINE, predict={"x": [4.0]})
    assert free.predictions[0].value is not None and free.predictions[0].confidence is None


def test_points_of_files_and_combinations(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("x,y,note\n1,5,2\n2,6,3\n")
    assert prediction_columns([str(path)], "y = a + b*x") == {"x": [1.0, 2.0]}
    assert prediction_columns(["x=1:2:1,z=3"], "y = a + b*x") == {"x": [1.0, 2.0], "z": [3.0, 3.0]}
    columns = prediction_columns(["x=1:2:1", "z=3:4:1"], None)
    assert columns == {"x": [1.0, 1.0, 2.0, 2.0], "z": [3.0, 4.0, 3.0, 4.0]}
    for texts, message in (
        ([str(path), "x=1"], "names points and a file"),
        (["x=0:1e6:1"], "too many"),
    ):
        with pytest.raises(ExpressionError, match=message):
            prediction_columns(texts, None)
    for predict, message in (
        ({"z": [1.0]}, "no values of `x`"),
        ({"x": [1.0], "z": [1.0]}, "`z` is not a predictor"),
    ):
        with pytest.raises(ExpressionError, match=message):
            autodiff_cli.fit("y = a + b*x", LINE, predict=predict)


def test_the_picture_has_error_bars_bands_and_the_parameters_with_their_uncertainty() -> None:
    pytest.importorskip("matplotlib")
    answer = autodiff_cli.fit("y = a + b*x", LINE, sigma="y=0.2,x=0.1", predict="x=0:9:1")
    from autodiff_cli.capabilities.plot.figure import draw_file, fit_picture
    from autodiff_cli.show.picture_look import PictureLook

    title = " + ".join(f"c{k}*exp(-k{k}*x)" for k in range(20))
    svg = draw_file(fit_picture(answer)._replace(title=title), "svg", PictureLook("light")).decode()
    assert "95 % prediction" in svg and "95 % confidence" in svg
    assert "a = 0.99(15), b = 1.010(42)" in svg
    # the title stands on several lines, and none of it is cut
    assert all(f"c{k}*exp(-k{k}*x)" in svg for k in range(20)) and "…" not in svg
    plain = draw_file(
        fit_picture(autodiff_cli.fit("y = a + b*x", LINE)), "svg", PictureLook("light")
    ).decode()
    assert svg.count("<use") > plain.count("<use") + 2 * len(LINE["x"])


WEIGHTED = {"x": [1.0, 2.0, 3.0, 4.0], "y": [2.1, 3.9, 6.2, 7.8]}


@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e4])
def test_a_prediction_does_not_depend_on_the_scale_of_the_weights(weight: float) -> None:
    plain = fit("y = a + b*x", WEIGHTED, predict={"x": [2.5]}).predictions[0]
    weighted = fit(
        "y = a + b*x", {**WEIGHTED, "w": [weight] * 4}, weights="w", predict={"x": [2.5]}
    ).predictions[0]
    assert weighted.confidence == pytest.approx(plain.confidence, rel=1e-9)
    assert weighted.prediction == pytest.approx(plain.prediction, rel=1e-9)


def test_rows_of_different_weights_leave_a_new_row_without_a_prediction() -> None:
    found = fit(
        "y = a + b*x", {**WEIGHTED, "w": [1.0, 2.0, 1.0, 1.0]}, weights="w", predict={"x": [2.5]}
    )
    (row,) = found.predictions
    assert row.confidence is not None and row.prediction is None
    assert [warning.kind for warning in found.warnings] == ["no_prediction"]
