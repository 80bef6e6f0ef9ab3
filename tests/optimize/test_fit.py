"""Fits held against NIST's certified values, against closed forms, and against another way to the same numbers."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import curve_fit

from autodiff_cli import ExpressionError
from autodiff_cli.inputs.arithmetic import chosen
from autodiff_cli.inputs.bounds import Range
from autodiff_cli.inputs.parse_point import typed
from autodiff_cli.optimize import fit as fitting
from autodiff_cli.optimize.fit import Fit, fit
from autodiff_cli.views.plots.fitted import CELLS, in_sight
from counting import allowed, counted_calls
from places import TESTS
from running import autodiff

NIST = TESTS / "corpora" / "nist"
"""NIST/ITL Statistical Reference Datasets, nonlinear regression: data, starts and certified values."""

PROBLEMS = [json.loads(line) for line in (NIST / "problems.jsonl").read_text(encoding="utf-8").splitlines()]
SMALL = [problem for problem in PROBLEMS if problem["name"] in ("Misra1a", "DanWood", "MGH09", "MGH10", "Lanczos3")]


def columns_of(name: str) -> dict[str, list[float]]:
    with open(NIST / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {column: [typed(float(row[column]), row[column].strip()) for row in rows] for column in rows[0]}


def asked(problem: dict[str, Any], start: str = "start2", **more: Any) -> Fit:
    given = {name: typed(float(text), text) for name, text in problem[start].items()}
    return fit(problem["formula"], columns_of(problem["name"]), given, **more)


def digits(x: float, certified: str) -> float:
    """How many digits are right, as NIST counts them."""
    wanted = float(certified)
    return 99.0 if x == wanted else -math.log10(abs(x - wanted) / abs(wanted))


@pytest.mark.parametrize("start", ["start1", "start2"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["name"])
def test_certified_values_from_both_starts(problem: dict[str, Any], start: str) -> None:
    found = asked(problem, start)
    assert found.converged and not found.null
    for name, text in problem["certified"].items():
        each = found.parameters[name]
        # the certified values have 11 digits
        assert digits(float(each.estimate), text) >= 9.9
        assert each.error is not None and digits(float(each.error), problem["standard_errors"][name]) >= 9.5
    assert found.deviation is not None and digits(float(found.deviation), problem["deviation"]) >= 9.5
    assert digits(float(found.rss), problem["rss"]) >= 8
    assert found.evaluations < 2000


def assert_digits(found: Fit, problem: dict[str, Any], right: int) -> None:
    with mpmath.workdps(40):
        for name, text in problem["digits"].items():
            figure: Any = found.parameters[name].estimate
            exact = mpmath.mpf(text)
            assert abs(mpmath.mpf(figure.text) - exact) <= abs(exact) * mpmath.mpf(10) ** -right


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["name"])
def test_many_digits(problem: dict[str, Any]) -> None:
    assert_digits(asked(problem, "start1", arithmetic=chosen(False, 30, False)), problem, 20)


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem["name"])
def test_proven_digits(problem: dict[str, Any]) -> None:
    found = asked(problem, arithmetic=chosen(False, None, True))
    assert_digits(found, problem, 16)
    for name, text in problem["standard_errors"].items():
        error: Any = found.parameters[name].error
        assert digits(float(error.text), text) >= 9.5


def test_a_parameter_in_which_the_formula_is_linear_needs_no_start() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "Gauss1")
    found = fit(problem["formula"], columns_of("Gauss1"), {"b2": 0.009, "b4": 65, "b5": 20, "b7": 178, "b8": 16.5})
    assert [name for name, each in found.parameters.items() if each.linear] == ["b1", "b3", "b6"]
    assert all(digits(float(found.parameters[name].estimate), text) > 9 for name, text in problem["certified"].items())
    with pytest.raises(ExpressionError, match="`b2` has no start, and the model is not linear in it") as caught:
        fit(problem["formula"], columns_of("Gauss1"), {})
    assert caught.value.kind == "missing_value"


@pytest.mark.parametrize(
    ("text", "linear"),
    [("y = a*b*x", ["a"]), ("y = a*x + b*x**2", ["a", "b"]), ("y = a*exp(b*x) + c", ["a", "c"]),
     ("y = a/(1 + b*x)", ["a"]),
     ("y = a*b + c*x", ["a", "c"])],
)  # fmt: skip
def test_which_parameters_are_linear(text: str, linear: list[str]) -> None:
    draw = random.Random(2)
    data = {"x": [draw.uniform(1, 3) for _ in range(9)], "y": [draw.uniform(1, 3) for _ in range(9)]}
    found = fit(text, data, {"a": 1.5, "b": 0.5, "c": 0.3})
    assert [name for name, each in found.parameters.items() if each.linear] == (
        linear if "max" not in text else ["a", "b"]
    )


DELTA = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048, -2048, 1838, -2048, 2048, -2048, 2523,
         -2048, 2048, -2048, 759]  # fmt: skip
WAMPLER = [
    # NIST/ITL StRD, linear regression, Wampler1 to 5: what the coefficients are, by how much the data are off the
    # polynomial, the certified standard error of b0, and how many digits the conditioning leaves
    (1.0, 0, 0.0, 14.0), (0.1, 0, 0.0, 12.0), (1.0, 1, 2152.32624678170, 11.0), (1.0, 100, 215232.624678170, 10.0),
    (1.0, 10000, 21523262.4678170, 9.0),
]  # fmt: skip


@pytest.mark.parametrize(("ratio", "off", "error", "right"), WAMPLER)
def test_polynomials_by_one_linear_solve(ratio: float, off: int, error: float, right: float) -> None:
    xs = list(range(21))
    ys = [sum(ratio**k * x**k for k in range(6)) + off * d for x, d in zip(xs, DELTA, strict=True)]
    found = fit("y = b0 + b1*x + b2*x**2 + b3*x**3 + b4*x**4 + b5*x**5", {"x": xs, "y": ys})
    assert found.converged and found.method == "one linear solve"
    for k in range(6):
        assert abs(float(found.parameters[f"b{k}"].estimate) / ratio**k - 1) <= 10**-right
    if off:
        told = found.parameters["b0"].error
        assert told is not None and math.isclose(float(told), error, rel_tol=1e-9)


def test_beside_another_fitter() -> None:
    """SciPy's `curve_fit`, which differentiates by differences, gives the same covariance to fewer digits."""
    draw = np.random.default_rng(4)
    x = np.linspace(0, 4, 40)
    sigma = draw.uniform(0.05, 0.2, 40)
    y = 2.5 * np.exp(-1.3 * x) + 0.5 + sigma * draw.standard_normal(40)
    data = {"x": x, "y": y, "s": sigma, "w": 1 / sigma**2}
    estimates, absolute = curve_fit(
        lambda x, a, k, c: a * np.exp(-k * x) + c, x, y, [1, 1, 0], sigma=sigma, absolute_sigma=True
    )
    _, relative = curve_fit(lambda x, a, k, c: a * np.exp(-k * x) + c, x, y, [1, 1, 0], sigma=sigma)
    start = {"a": 1, "k": 1, "c": 0}
    known, weighed = (
        fit("y = a*exp(-k*x) + c", data, start, sigma="s"),
        fit("y = a*exp(-k*x) + c", data, start, weights="w"),
    )
    for found, covariance in ((known, absolute), (weighed, relative)):
        for i, (name, each) in enumerate(found.parameters.items()):
            if name not in "akc":
                continue
            k = "akc".index(name)
            assert math.isclose(float(each.estimate), estimates[k], rel_tol=1e-5)
            assert each.error is not None and math.isclose(
                float(each.error), math.sqrt(covariance[k, k]), rel_tol=1e-4
            ), i
    r = known.correlation["a"]["k"]
    assert math.isclose(r, absolute[0, 1] / math.sqrt(absolute[0, 0] * absolute[1, 1]), rel_tol=1e-4)


def test_a_straight_line_by_its_formulas() -> None:
    x, y = [1.0, 2.0, 4.0, 5.0, 7.5], [2.1, 2.9, 5.2, 5.8, 8.9]
    found = fit("y = a + b*x", {"x": x, "y": y}, level=0.9)
    n, mx, my = 5, sum(x) / 5, sum(y) / 5
    sxx = sum((t - mx) ** 2 for t in x)
    b = sum((t - mx) * (u - my) for t, u in zip(x, y, strict=True)) / sxx
    a = my - b * mx
    s = math.sqrt(sum((u - a - b * t) ** 2 for t, u in zip(x, y, strict=True)) / (n - 2))
    slope = found.parameters["b"]
    assert math.isclose(float(slope.estimate), b, rel_tol=1e-13)
    assert slope.error is not None and math.isclose(float(slope.error), s / math.sqrt(sxx), rel_tol=1e-12)
    assert slope.interval is not None
    # Student's t for 3 degrees of freedom and 90 %: 2.35336
    assert math.isclose(slope.interval[1] - b, 2.3533634348018264 * s / math.sqrt(sxx), rel_tol=1e-10)
    leverage = [1 / n + (t - mx) ** 2 / sxx for t in x]
    for t, u, h, standard in zip(x, y, leverage, found.standardised, strict=True):
        assert standard is not None
        assert math.isclose(standard, (u - a - b * t) / (s * math.sqrt(1 - h)), rel_tol=1e-9)
    assert math.isclose(found.band[0] or 0, 2.3533634348018264 * s * math.sqrt(leverage[0]), rel_tol=1e-10)


# ---- what is held, bounded, not determined --------------------------------------------------------------------------
LINE = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.1, 2.9, 5.2, 6.9]}


def test_what_is_held_has_no_standard_error() -> None:
    found = fit("y = a + b*x", LINE, fixed={"b": 2})
    assert found.parameters["b"] == (2.0, None, None, False, "fixed") and found.dof == 3
    assert math.isclose(float(found.parameters["a"].estimate), 1.025)
    bounded = fit("y = a + b*x", LINE, bounds={"b": Range(0, 1.5)})
    assert bounded.parameters["b"].held == "bound" and bounded.parameters["b"].error is None
    assert (
        math.isclose(float(bounded.parameters["b"].estimate), 1.5, rel_tol=1e-9) and "at a bound: b" in bounded.message
    )
    inside = fit("y = a + b*x", LINE, bounds={"b": Range(0, 9)})
    assert math.isclose(float(inside.parameters["b"].estimate), 1.97, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("text", "at", "names"),
    [("y = a + b*x + c*x", {}, {"b", "c"}), ("y = a*b*x + c", {"b": 1}, {"a", "b"}),
     ("y = a*exp(k*x + d)", {"k": 0.5, "d": 0}, {"a", "d"})],
)  # fmt: skip
def test_what_the_data_cannot_tell_apart_is_named(text: str, at: dict[str, float], names: set[str]) -> None:
    found = fit(text, LINE, at)
    assert not found.converged and found.reason == "undetermined"
    assert [set(direction) for direction in found.null] == [names]
    for name, each in found.parameters.items():
        assert (each.error is None) == (name in names) == (each.held == "undetermined")
    assert any(warning.kind == "undetermined" for warning in found.warnings)


def test_as_many_parameters_as_rows_leave_no_error() -> None:
    found = fit("y = a + b*x", {"x": [1, 2], "y": [2, 4]})
    assert found.converged and found.dof == 0 and found.deviation is None
    assert all(each.error is None and each.interval is None for each in found.parameters.values())


def test_a_robust_loss_forgives_an_outlier() -> None:
    draw = random.Random(8)
    x = [k / 4 for k in range(40)]
    y = [1 + 2 * t + draw.gauss(0, 0.05) for t in x]
    y[7] += 30
    plain = fit("y = a + b*x", {"x": x, "y": y})
    for loss in ("soft_l1", "huber", "cauchy"):
        found = fit("y = a + b*x", {"x": x, "y": y}, loss=loss)
        assert abs(float(found.parameters["b"].estimate) - 2) < 0.02 < abs(float(plain.parameters["b"].estimate) - 2)
        assert not found.warnings


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy"])
def test_robust_standard_errors_are_how_much_estimates_scatter(loss: str) -> None:
    """Over many samples of noise, of which a tenth is ten times as wide."""
    draw = np.random.default_rng(3)
    x = np.linspace(0, 4, 60)
    estimates, errors = [], []
    for _ in range(100):
        noise = np.where(draw.random(60) < 0.1, 1.0, 0.1) * draw.standard_normal(60)
        found = fit("y = a + b*x", {"x": x, "y": 1 + 2 * x + noise}, loss=loss).parameters["b"]
        assert found.error is not None
        estimates.append(float(found.estimate))
        errors.append(float(found.error))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.2)


def test_a_poor_start_is_told() -> None:
    problem = next(each for each in PROBLEMS if each["name"] == "Misra1a")
    found = fit(problem["formula"], columns_of("Misra1a"), {"b1": 500, "b2": 1})
    assert found.converged and "had ended badly" in found.message
    assert digits(float(found.parameters["b2"].estimate), problem["certified"]["b2"]) > 9


def test_a_fit_ends_when_it_is_to() -> None:
    problem = PROBLEMS[0]
    found = asked(problem, stop=lambda: True)
    assert found.reason == "interrupted" and not found.converged


# ---- bad input ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "data", "at", "more", "kind", "message"),
    [
        ("a + b*x", LINE, {}, {}, "usage", "which column the formula explains is not said"),
        ("q = a + b*x", LINE, {}, {}, "usage", "which column the formula explains is not said"),
        ("a + b*x", LINE, {}, {"response": "z"}, "usage", "no column `z`"),
        ("a + b*y", LINE, {}, {"response": "y"}, "usage", "`y` is the response, and the formula uses it"),
        ("y = a + b*x", LINE, {"x": 2}, {}, "point", "`x` is given a value, and is a column"),
        ("y = a*exp(k*x)", LINE, {}, {}, "missing_value", "`k` has no start"),
        ("y = log(a) + b*x", LINE, {"a": -1}, {}, "domain", "row 1 of the data|undefined at -1"),
        ("y = a*log(x)", LINE, {}, {}, "domain", "undefined at 0"),
        ("y = 2*x", LINE, {}, {}, "usage", "nothing to fit"),
        ("y = a + b*x + c*x**2 + d*x**3 + f*x**4", LINE, {}, {}, "usage", "4 rows of data cannot tell 5 parameters"),
        ("y = a + b*x", LINE, {}, {"sigma": "z"}, "usage", "no column `z`"),
        ("y = a + b*x", LINE, {}, {"sigma": 0.0}, "point", "`--sigma` has the uncertainty 0"),
        ("y = a + b*x", {**LINE, "s": [1, 1, -2, 1]}, {}, {"sigma": "s"}, "point", "uncertainty -2 in row 3"),
        ("y = a + b*x", {**LINE, "w": [1, -1, 2, 1]}, {}, {"weights": "w"}, "point", "`w` has the weight -1 in row 2"),
        ("y = a + b*x", {**LINE, "w": [0, 0, 0, 0]}, {}, {"weights": "w"}, "point", "all weights in column `w` are 0"),
        ("y = a + b*x", {**LINE, "w": [0, 0, 0, 1]}, {}, {"weights": "w"}, "usage", "1 row of data cannot tell 2"),
        ("y = a + b*x", LINE, {}, {"sigma": 1.0, "weights": "x"}, "usage", "both weigh the rows"),
        ("y = a + b*x", LINE, {}, {"loss": "square"}, "usage", "no loss `square`"),
        ("y = a + b*x", LINE, {}, {"level": 95.0}, "usage", "cannot be 95"),
        ("y = a + b*x", LINE, {"a": 5}, {"bounds": {"a": Range(0, 1)}}, "usage", "outside its bounds"),
        ("y = a + b*x", LINE, {}, {"bounds": {"q": Range(0, 1)}}, "usage", "`q` has bounds and is not fitted"),
        ("y = a + b*x", LINE, {"a": 5}, {"fixed": {"a": 4}}, "point", "a start and is held at another value"),
        ("a, b", LINE, {}, {"response": "y"}, "type", "2 outputs"),
    ],
)  # fmt: skip
def test_bad_input(
    text: str, data: dict[str, list[float]], at: dict[str, float], more: dict[str, Any], kind: str, message: str
) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        fit(text, data, at, **more)
    assert caught.value.kind == kind and caught.value.hint


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    data = tmp_path / "line.csv"
    data.write_text("x,y\n0,1.1\n1,2.9\n2,5.2\n3,6.9\n", encoding="utf-8")
    table, point, picture = tmp_path / "r.csv", tmp_path / "p.json", tmp_path / "fit.svg"
    command = ("fit", "y = a + b*x", "--data", str(data), "--residuals", str(table), "--save-point", str(point))
    assert autodiff(*command, "--output", str(picture)).code == 0
    assert table.read_text(encoding="utf-8").startswith("x,y,fitted,residual,standardised\n0.0,1.1,1.07,")
    assert set(json.loads(point.read_text(encoding="utf-8"))) == {"a", "b"}
    assert ">95 % confidence<" in picture.read_text(encoding="utf-8")
    assert autodiff("grad", "a + b*x", "--at", f"@{point}", "--at", "x=1", "--format", "plain").code == 0
    for path in (table, point, picture):
        path.unlink()
    data.write_text("x,y\n0,1.1\n1,oops\n2,5\n", encoding="utf-8")
    failed = autodiff(*command, "--output", str(picture))
    assert failed.code == 2 and "line 3 of the data: column `y`" in failed.err
    assert not (table.exists() or point.exists() or picture.exists())


def test_a_picture_of_many_rows_has_a_dot_where_any_is_and_a_bounded_number() -> None:
    xs = [k / 10_000 for k in range(20_000)]
    ys = [math.sin(7919.0 * k) for k in range(20_000)]
    xs[3], ys[5] = 50.0, -40.0
    shown = in_sight(xs, ys)
    assert {3, 5} <= {*shown} and len(shown) <= CELLS**2 and len({*shown}) == len(shown)
    near = {(round(xs[k] / 50 * CELLS), round(ys[k] / 41 * CELLS)) for k in shown}
    for k in range(0, 20_000, 7):
        column, row = round(xs[k] / 50 * CELLS), round(ys[k] / 41 * CELLS)
        assert any((column + a, row + b) in near for a in (-1, 0, 1) for b in (-1, 0, 1))
    assert in_sight(xs[:5_000], ys[:5_000]) == [*range(5_000)]
    assert in_sight([1.0] * 6_000, [2.0] * 6_000) == [0]


def test_the_picture_says_how_many_rows_it_shows(tmp_path: Path) -> None:
    data, picture = tmp_path / "many.csv", tmp_path / "fit.svg"
    rows = (f"{k / 20_000},{k / 20_000 + math.sin(7919.0 * k) / 9}" for k in range(20_000))
    data.write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert autodiff("fit", "y = a + b*x", "--data", str(data), "--output", str(picture)).code == 0
    text = picture.read_text(encoding="utf-8")
    assert re.search(r">data \([\d,]+ of 20,000 drawn\)<", text) and len(text) < 2_000_000


# ---- work ---------------------------------------------------------------------------------------------------------
def decaying(rows: int) -> dict[str, list[float]]:
    x = [1 + 9 * k / rows for k in range(rows)]
    return {"x": x, "y": [2.5 * math.exp(-0.3 * each) + 0.01 * math.sin(k * k) for k, each in enumerate(x)]}


@pytest.mark.parametrize("digits", [None, 50])
@pytest.mark.parametrize("text", ["y = a*x + b", "y = a*exp(-b*x)", "y = a*gamma(x + b)", "y = a*x**b + a*b"])
def test_proven_digits_of_a_row_are_counted_for_what_they_cost(
    text: str, digits: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, arithmetic = decaying(40), chosen(False, digits, digits is None)
    sharpened = fitting._sharpened
    spent: list[tuple[float, int]] = []

    def counted(*given: Any) -> Fit:
        (work,) = made
        before = work.left
        with counted_calls() as count:
            found = sharpened(*given)
        spent.append((before - work.left, count.total))
        return found

    monkeypatch.setattr(fitting, "_sharpened", counted)
    made = allowed(monkeypatch)
    fit(text, data, {"a": 1, "b": 1}, arithmetic=arithmetic)
    ((steps, calls),) = spent
    # a step is a microsecond, and so are some five calls
    assert calls < 6 * steps


@pytest.mark.parametrize(("digits", "option"), [(None, "certified"), (30, "precision")])
def test_digits_of_too_many_rows_are_refused_at_the_first(
    digits: int | None, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, arithmetic = decaying(20_000), chosen(False, digits, digits is None)
    swept: list[object] = []
    original = fitting.hessian_in

    def noted(m: Any, *given: Any) -> Any:
        swept.append(m)
        return original(m, *given)

    monkeypatch.setattr(fitting, "hessian_in", noted)
    with pytest.raises(ExpressionError) as caught:
        fit("y = a*exp(-b*x)", data, {"a": 1, "b": 1}, arithmetic=arithmetic)
    assert caught.value.kind == "limit" and len(swept) == 1
    hint = re.fullmatch(
        f"give fewer rows, or leave out `--{option}`, or allow more: `--work [0-9]+`", caught.value.hint
    )
    assert hint, caught.value.hint


def test_what_a_fit_may_take_grows_with_the_rows_as_far_as_some_evaluations_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = allowed(monkeypatch)
    few, many = fit("y = a*x + b", decaying(1000)), fit("y = a*x + b", decaying(21_000))
    assert [many.rows, few.rows] == [21_000, 1000]
    first, last = made
    assert last.most - first.most == pytest.approx(200 * 20_000)
    assert 20_000 * few.evaluations <= (last.most - last.left) - (first.most - first.left) <= 40_000 * few.evaluations
    with pytest.raises(ExpressionError, match="more than the") as caught:
        # far from any solution: the search goes on from other starts
        fit("y = a*gamma(x + b)", decaying(5000), {"a": 1, "b": 1})
    assert caught.value.kind == "limit" and caught.value.hint == "give fewer rows, or allow more: `--work 10`"
