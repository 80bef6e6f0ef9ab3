"""`propagate --covariance`: sandwich products by NumPy, numbers of R and of the package
`uncertainties`.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.propagate.covariance_matrix import (
    covariance_of_object,
    read_covariance,
)

R = """
            (Intercept)
(Intercept)  0.36922359
x           -0.05208032
z           -0.05869747
                       x
(Intercept) -0.052080319
x            0.009300506
z            0.006572730
                      z
(Intercept) -0.05869747
x            0.00657273
z            0.15977637
"""


def test_blocks_of_columns_are_one_matrix() -> None:
    matrix = read_covariance(R)
    assert matrix.names == ["(Intercept)", "x", "z"]
    assert matrix.entries[1][2] == 0.006572730 and matrix.entries[2][1] == 0.00657273


def test_random_matrices_in_all_forms_are_sandwich_products(tmp_path: Path) -> None:
    draw = random.Random(1)
    for trial in range(60):
        n = draw.randint(1, 6)
        names = [f"p{k}" for k in range(n)]
        root = np.array(
            [[draw.gauss(0, 1) for _ in range(n)] for _ in range(n)]
        ) * 10 ** draw.uniform(-4, 3)
        square = (root @ root.T).tolist()
        slopes = [draw.uniform(-3, 3) for _ in range(n)]
        right = math.sqrt(np.array(slopes) @ np.array(square) @ np.array(slopes))
        text = " + ".join(f"({c!r})*{name}" for c, name in zip(slopes, names, strict=True))
        order = draw.sample(range(n), n)
        rows = {names[i]: {names[j]: square[i][j] for j in range(n)} for i in order}
        forms = [
            json.dumps(rows),
            "\n".join(
                [
                    ",".join(["", *names]),
                    *(",".join([a, *map(repr, row.values())]) for a, row in rows.items()),
                ]
            ),
            "\n".join(
                [
                    " ".join(names),
                    *(" ".join([a, *map(repr, row.values())]) for a, row in rows.items()),
                ]
            ),
            "\n".join(["\t".join(names), *("\t".join(map(repr, row)) for row in square)]),
            json.dumps({"columns": names, "index": names, "data": square}),
        ]
        for form in forms:
            path = tmp_path / f"covariance-{trial}"
            path.write_text(form, encoding="utf-8")
            answer = autodiff_cli.propagate(text, dict.fromkeys(names, 1.0), covariance=str(path))
            assert answer.results[0].uncertainty == pytest.approx(right, rel=1e-9), form


def test_lmfits_parameters_have_standard_errors_and_correlations() -> None:
    parameters = [
        ["a", 1.0, True, None, None, None, None, 0.2, {"b": -0.5}, 1.0, None],
        ["b", 2.0, True, None, None, None, None, 0.1, {"a": -0.5}, 1.0, None],
        ["c", 3.0, False, None, None, None, None, 0.0, None, 3.0, None],
    ]
    answer = autodiff_cli.propagate(
        "a + 2*b + c", {"c": 3}, covariance={"unique_symbols": {}, "params": parameters}
    )
    assert answer.results[0].value == 8
    assert answer.results[0].uncertainty == pytest.approx(
        math.sqrt(0.04 + 4 * 0.01 - 4 * 0.5 * 0.02)
    )
    without = [[*row[:7], None, None, *row[9:]] for row in parameters]
    with pytest.raises(ExpressionError, match="errors were not estimated"):
        autodiff_cli.propagate(
            "a + 2*b + c", {"c": 3}, covariance={"unique_symbols": {}, "params": without}
        )


def test_a_frame_and_lmfits_result() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.04, 0.01], [0.01, 0.09]], index=["a", "b"], columns=["a", "b"])
    answer = autodiff_cli.propagate("a*b", {"a": 2, "b": 3}, covariance=frame)
    assert answer.results[0].uncertainty == pytest.approx(
        math.sqrt(9 * 0.04 + 4 * 0.09 + 12 * 0.01)
    )
    lmfit = pytest.importorskip("lmfit")
    x = np.linspace(0, 3, 9)
    fitted = lmfit.models.ExpressionModel("a*exp(-b*x)").fit(
        2 * np.exp(-0.7 * x) + 0.01 * x % 3, x=x, a=1, b=1
    )
    a, b = (float(fitted.params[name]) for name in "ab")
    slopes = np.array([math.exp(-2 * b), -2 * a * math.exp(-2 * b)])
    own = autodiff_cli.propagate("a*exp(-2*b)", covariance=fitted)
    assert own.results[0].uncertainty == pytest.approx(
        math.sqrt(slopes @ fitted.covar @ slopes), rel=1e-9
    )
    assert covariance_of_object(json.loads(fitted.dumps())).values == pytest.approx(
        {"a": a, "b": b}
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"a": 1, "b": 2}, "b": {"a": 2, "b": 1}}, "eigenvalue -1"),
        (
            {"a": {"a": 1, "b": 0.5}, "b": {"a": 0.4, "b": 1}},
            "0.4 in one place and 0.5 in the other",
        ),
        ({"a": {"a": 0, "b": 0.5}, "b": {"a": 0.5, "b": 1}}, "variance 0"),
        ({"a": {"a": -1}}, "below 0"),
        ({"a": {"a": "x"}}, "is x"),
        ({"a": {"a": float("nan")}}, "is nan"),
        ({"a": {"a": True}}, "entry true"),
        ({"a": {"a": 1}, "b": {"b": 1}}, "same names"),
        ({"names": ["a"], "covariance": [[1, 2]]}, "not square"),
        ({"names": ["a", "b"], "covariance": [[1, 2]]}, "not a row for each name"),
        ({}, "no covariance matrix"),
    ],
)
def test_what_is_no_covariance_is_refused(value: object, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        covariance_of_object(value)


def test_correlations_that_rounding_makes_impossible_are_those_of_a_matrix() -> None:
    # a rank-one matrix in seven digits has a negative eigenvalue
    matrix = read_covariance("a b\n0.1111111 0.1414214\n0.1414214 0.1800000\n")
    assert matrix.correlation()["a", "b"] <= 1
    three = read_covariance(
        "a b c\n1.000000 0.999999 0.999998\n0.999999 1.000000 0.999999\n0.999998 0.999999"
        " 1.000001\n"
    )
    r = three.correlation()
    square = np.array(
        [
            [1, r["a", "b"], r["a", "c"]],
            [r["a", "b"], 1, r["b", "c"]],
            [r["a", "c"], r["b", "c"], 1],
        ]
    )
    assert np.linalg.eigvalsh(square)[0] > -1e-12


def test_a_name_that_the_fit_and_the_covariance_have() -> None:
    fitted = autodiff_cli.fit("y = a + b*x", {"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    with pytest.raises(ExpressionError, match="parameter of the fit"):
        autodiff_cli.propagate("a + b", {"a": 1}, fit=fitted, covariance={"a": {"a": 0.1}})


@pytest.mark.parametrize(
    ("covariance", "u"), [(-0.01, 0.0), (-0.0099, math.sqrt(0.0002)), (0.01, 0.2)]
)
def test_variances_that_cancel_leave_no_uncertainty(covariance: float, u: float) -> None:
    matrix = {"a": {"a": 0.01, "b": covariance}, "b": {"a": covariance, "b": 0.01}}
    (found,) = autodiff_cli.propagate("a + b", {"a": 1.0, "b": 2.0}, covariance=matrix).results
    # √(0.01 + 0.01 + 2·covariance)
    assert found.uncertainty == pytest.approx(u, rel=1e-12, abs=0)
