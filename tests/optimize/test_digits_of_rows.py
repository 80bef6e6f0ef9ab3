"""Digits that rounding loses in rows of data: which rows are looked at, and what a fit says of
them.
"""

import math
from collections.abc import Callable

import pytest

from autodiff_cli import descend
from autodiff_cli.capabilities.optimize.fit import Fit, fit
from autodiff_cli.compiled.row_errors import rows_to_check
from autodiff_cli.questions.problem import parse

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")


def _fitted(text: str, x: list[float], exact: Callable[[float], float]) -> Fit:
    # residuals of about 0.01 without a random number
    y = [exact(a) + 0.01 * math.sin(37.0 * k * k) for k, a in enumerate(x)]
    return fit(text, {"x": x, "y": y})


def test_one_row_among_thousands_is_found() -> None:
    x = [0.001 * (k + 1) for k in range(3000)]
    x[1234] = 1e-17  # log(1 + x) is 0 there, and log(1 + x)/x is 1
    answer = _fitted("y = a*log(1 + x)/x + b*x", x, lambda a: 2 * math.log1p(a) / a + 0.5 * a)
    assert any("row 1235 of the data" in warning.message for warning in answer.warnings)
    assert (answer.converged, answer.reason) == (False, "digits")
    assert "not converged: rounding loses digits" in answer.message


def test_a_fit_whose_rows_keep_their_digits_converges() -> None:
    x = [0.001 * (k + 1) for k in range(3000)]
    answer = _fitted("y = a*log1p(x)/x + b*x", x, lambda a: 2 * math.log1p(a) / a + 0.5 * a)
    assert answer.converged and not [one for one in answer.warnings if one.kind == "lost_digits"]


def test_more_digits_confirm_that_a_fit_has_converged() -> None:
    # rounding leaves five digits of the first row, far fewer than its residual
    x = [6e-6 * (k + 1) for k in range(60)]
    answer = _fitted("y = a*(1 - cos(x))/x**2", x, lambda a: 4 * math.sin(a / 2) ** 2 / a**2)
    assert any(warning.kind == "lost_digits" for warning in answer.warnings)
    assert answer.converged and answer.message.endswith("of the fit in 30 digits")


def test_rows_with_the_largest_bounds_are_among_those_looked_at() -> None:
    x = np.linspace(1.0, 2.0, 1000)
    x[[17, 503]] = 1e9
    rows = rows_to_check(parse("sqrt(x**2 + 1) - x").graph, {"x": x}, range(1000))
    assert {17, 503} <= {*rows} and len(rows) <= 50
    assert rows_to_check(parse("x**2").graph, {"x": x[:20]}, range(20)) == [*range(20)]


@pytest.mark.parametrize(
    "text",
    [
        "relu(x) + 1",
        "max(x, 0.5)",
        "min(x, -x)",
        "clamp(x, -1, 0.5)",
        "elu(x)",
        "x if x > 0 else 2*x",
        "abs(x)",
    ],
)
def test_structural_zeros_are_no_error_of_the_value(text: str) -> None:
    x = np.linspace(-2.0, 2.0, 100)
    x[[17, 80]] = -1e9, 1e9
    rows = rows_to_check(parse(f"({text})**2 - 1").graph, {"x": x}, range(100))
    assert 80 in rows and len(rows) <= 50


def test_a_network_of_relu_descends_over_many_rows() -> None:
    x = np.linspace(-1.0, 1.0, 200)
    answer = descend(
        "(relu(w*x + b) - y)**2",
        {"w": 0.3, "b": 0.1},
        data={"x": x, "y": x**2},
        rate=0.1,
        steps=20,
        reduce="mean",
    )
    step, w, b = 0.1, 0.3, 0.1
    for _ in range(20):
        open_ = w * x + b > 0
        slope = 2 * (np.where(open_, w * x + b, 0.0) - x**2) * open_
        w, b = w - step * float(np.mean(slope * x)), b - step * float(np.mean(slope))
    assert answer.last.coordinates == pytest.approx((w, b), rel=1e-10)
