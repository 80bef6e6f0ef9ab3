"""Tests of intervals by the profile of a fit, for formulas of its parameters.

The sum of squares along K is bisected here, and an interval of a formula of K has the formula's
values at those ends.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

import autodiff_cli

pytest.importorskip("flint")

X, Y = np.array([0.5, 1, 2, 4, 6, 8]), np.array([0.9, 1.9, 2.6, 4.9, 5.2, 6.9])


@pytest.fixture(scope="module")
def fitted() -> Any:
    return autodiff_cli.fit("y = V*x/(K+x)", {"x": X.tolist(), "y": Y.tolist()}, {"K": 3})


@pytest.fixture(scope="module")
def ends_of_k(fitted: Any) -> tuple[float, float]:
    def squares(k: float) -> float:
        column = X / (k + X)
        return float(Y @ Y - (column @ Y) ** 2 / (column @ column))

    enough = squares(fitted.point["K"]) * (1 + float(student.ppf(0.975, 4)) ** 2 / 4)
    low, high = (
        float(brentq(lambda k: squares(k) - enough, *ends, xtol=1e-12))
        for ends in ((1, 6), (7, 60))
    )
    return low, high


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("K", lambda k: k),
        ("2*K", lambda k: 2 * k),
        ("1/K", lambda k: 1 / k),
        ("log(K)", math.log),
        ("r = K**2/(K+1)", lambda k: k**2 / (k + 1)),
    ],
)
def test_a_formula_of_one_parameter_has_the_interval_of_its_profile(
    fitted: Any, ends_of_k: tuple[float, float], text: str, of: Any
) -> None:
    answer = autodiff_cli.propagate(text, fit=fitted)
    assert answer.results[0].profile == pytest.approx(sorted(map(of, ends_of_k)), rel=1e-6)
    (warning,) = [one for one in answer.warnings if one.kind == "profile"]
    assert warning.hint == "the interval by profile is shown below the linear one"


def test_a_formula_that_turns_has_its_values_over_the_interval(
    fitted: Any, ends_of_k: tuple[float, float]
) -> None:
    low, high = autodiff_cli.propagate("(K - 6)**2", fit=fitted).results[0].profile
    assert -1e-9 <= low <= 0 or low == pytest.approx(0, abs=1e-9)
    assert high == pytest.approx((ends_of_k[1] - 6) ** 2, rel=1e-6)


def test_a_formula_of_several_parameters_beside_others_says_how_its_profile_is_found(
    fitted: Any,
) -> None:
    answer = autodiff_cli.propagate("V/K*c", {"c": "1 ± 0.1"}, fit=fitted)
    assert answer.results[0].profile is None
    hints = [one.hint or "" for one in answer.warnings if one.kind == "profile"]
    assert len(hints) == 2 and all(
        hint.startswith("fit again with the quantity as a parameter") for hint in hints
    )
    # what the hint says: V = q*K. By SciPy: the least sum over K with q held, bisected
    again = autodiff_cli.fit(
        "y = q*K*x/(K+x)", {"x": X.tolist(), "y": Y.tolist()}, {"q": 2, "K": 5}
    )
    assert again.parameters["q"].interval == pytest.approx((1.17161001, 3.06130883), rel=1e-6)


def test_another_level_has_no_interval_by_profile_without_the_rows_of_the_fit(
    fitted: Any, tmp_path: Any
) -> None:
    record = {name: x for name, x in fitted.to_dict().items() if name != "refit"}
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(record))
    answer = autodiff_cli.propagate("K", fit=str(path), level=0.9)
    assert answer.results[0].profile is None
    assert "fit with `level=0.9`" in (answer.warnings[0].hint or "")


def test_other_inputs_have_no_interval_by_profile(fitted: Any) -> None:
    assert autodiff_cli.propagate("K + c", {"c": "1 ± 0.1"}, fit=fitted).results[0].profile is None
    assert autodiff_cli.propagate("K + c", {"c": 1}, fit=fitted).results[0].profile is not None
    assert autodiff_cli.propagate("K", {"K": "6 ± 1"}, fit=fitted).results[0].profile is None


def test_an_open_end_stays_open() -> None:
    x = [1.9736112176941356, 4.493881435694821, 5.261906981730404, 5.793461980362942]
    x += [6.688404197317077, 6.785481750157672, 9.703126430902785]
    y = [0.08747129970038649, -0.04448912420542407, 0.47545518272681186, 0.7228143060243604]
    y += [0.7106063764351588, 0.8533756305198046, 0.982840656812119]
    fitted = autodiff_cli.fit("y = 1/(1+exp(-k*(x-c)))", {"x": x, "y": y}, {"k": 1.5, "c": 6})
    low, high = autodiff_cli.propagate("k", fit=fitted).results[0].profile
    assert low == pytest.approx(0.618216, rel=1e-5) and high is None
    # the formula may have no limit there, so that no end is shown
    assert autodiff_cli.propagate("1/k", fit=fitted).results[0].profile is None
