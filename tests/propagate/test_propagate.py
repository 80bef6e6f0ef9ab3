"""Propagated uncertainties held against published examples, against another package, and against
what must hold.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import random
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import uncertainties
from uncertainties import umath

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.propagate import measurement_model, monte_carlo
from autodiff_cli.capabilities.propagate.monte_carlo import BLOCK_DRAWS, Results
from autodiff_cli.capabilities.propagate.propagate import (
    GAUSS_HERMITE,
    Propagation,
    _Expansion,
    estimates_of_fit,
    parse_pairs,
    propagate,
)
from autodiff_cli.capabilities.solve.solve import posed_equations
from autodiff_cli.engine.numerics.student_t import coverage_factor, level_of
from autodiff_cli.questions.distributions import FAMILIES
from autodiff_cli.questions.measured_value import MeasuredValue, concise, plus_minus, quantity
from autodiff_cli.questions.parse_point import constant_value, parse_point
from places import TESTS
from running import autodiff


def at(text: str) -> dict[str, float]:
    return parse_point(text, quantity)


# ---- published examples -------------------------------------------------------------------------------------------
class Published(NamedTuple):
    """An example with the numbers that its source prints; `unit` is one of the last digit of the
    uncertainty.
    """

    source: str
    text: str
    at: str
    value: str
    uncertainty: str
    more: Mapping[str, Any] = {}
    units: int = 0
    """By how many units of its last digit the uncertainty may differ, where the source had
    unrounded inputs.
    """


GAUGE = "l_s + d - l_s*(d_alpha*theta + alpha_s*d_theta)"
GAUGE_AT = "l_s=50000623(25),d=215±9.7,d_alpha=0±0.58e-6,theta=-0.1±0.41,alpha_s=11.5e-6±1.2e-6,d_theta=0±0.029"
GAUGE_DOF = {"l_s": 18.0, "d": 25.6, "d_alpha": 50.0, "d_theta": 2.0}
H2 = {
    "V": [5.007, 4.994, 5.005, 4.990, 4.999],
    "I": [19.663e-3, 19.639e-3, 19.640e-3, 19.685e-3, 19.678e-3],
    "phi": [1.0456, 1.0438, 1.0468, 1.0428, 1.0433],
}
"""JCGM 100:2008, table H.2."""
BUDGETS = [
    json.loads(line)
    for line in (TESTS / "corpora" / "uncertainty.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Examples of the GUM, of NIST and of Sandia's suncal: first order, correlations and contributions,
in 25 digits.
"""
H2_AT, H2_R = "V=4.9990(32),I=0.0196610(95),phi=1.04446(75)", "V:I=-0.36,V:phi=0.86,I:phi=-0.65"
BOLTZMANN = "32*pi**5*h*R**4*R_inf**4/(15*A_r**4*M_u**4*c**6*alpha**8)"
BOLTZMANN_AT = (
    "h=6.62606957(29)e-34,R=8.3144621(75),R_inf=10973731.568539(55),A_r=5.4857990946(22)e-4,M_u=0.001,"
    "c=299792458,alpha=7.2973525698(24)e-3"
)
EXAMPLES = [
    Published("JCGM 100:2008, H.1.7", GAUGE, GAUGE_AT, "50000838", "32"),
    Published("JCGM 100:2008, H.2.3, R", "V/I*cos(phi)", "", "127.732", "0.071", {"readings": H2}),
    Published("JCGM 100:2008, H.2.3, X", "V/I*sin(phi)", "", "219.847", "0.295", {"readings": H2}, 1),
    Published("JCGM 100:2008, H.2.3, Z", "V/I", "", "254.260", "0.236", {"readings": {x: H2[x] for x in "VI"}}),
    Published("JCGM 100:2008, H.2, rounded", "V/I*sin(phi)", H2_AT, "219.847", "0.295",
              {"correlation": parse_pairs([H2_R])}, 1),
    Published("JCGM 100:2008, H.3.4", "y_1 + y_2*(t - t_0)", "y_1=-0.1712(29),y_2=0.00218(67),t=30,t_0=20",
              "-0.1494", "0.0041", {"correlation": parse_pairs(["y_1:y_2=-0.930"])}),
    Published("NIST Uncertainty Machine, user's manual, example 10", BOLTZMANN, BOLTZMANN_AT, "5.67037e-8", "2.05e-13"),
    Published("NIST TN 1900, E13", "(L1 - L0)/(L0*(T1 - T0))",
              "L0=1.4999±0.0001,L1=1.5021±0.0002,T0=288.15±0.02,T1=373.10±0.05", "1.7266e-5", "1.76e-6"),
    Published("JCGM 101:2008, 9.2.2", "x1 + x2 + x3 + x4", "x1=0±1,x2=0±1,x3=0±1,x4=0±1", "0", "2.0"),
    Published("JCGM 101:2008, 9.2.4", "x1 + x2 + x3 + x4",
              ",".join(f"x{k}=uniform(-{a}sqrt(3), {a}sqrt(3))" for k, a in ((1, 1), (2, 1), (3, 1), (4, 10))),
              "0", "10.1"),
    Published("JCGM 101:2008, 9.3.2", "(m + d)*(1 + (a - 1.2)*(1/w - 1/r)) - 100000",
              "m=100000.000(50),d=1.234(20),a=uniform(1.10,1.30),w=uniform(7000,9000),r=uniform(7950,8050)",
              "1.234", "0.0539"),
]  # fmt: skip


def asked(example: Published, **more: Any) -> Propagation:
    return propagate(example.text, at(example.at) if example.at else {}, **{**example.more, **more})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.source)
def test_published_examples(example: Published) -> None:
    (found,) = asked(example).results
    for number, published, units in (
        (found.value, example.value, 0),
        (found.uncertainty, example.uncertainty, example.units),
    ):
        digits, _, power = published.partition("e")
        unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
        assert abs(number - float(published)) <= (0.5 + units) * unit * (1 + 1e-9)


@pytest.mark.parametrize("example", BUDGETS, ids=lambda example: example["id"])
def test_budgets_to_all_digits(example: dict[str, Any]) -> None:
    point = {
        x: f"normal({a}, {u})" if float(u := example["u"].get(x, "0")) else a
        for x, a in example["point"].items()
    }
    (found,) = propagate(
        example["expr"], at(",".join(f"{x}={text}" for x, text in point.items())),
        correlation=parse_pairs([f"{x.replace(',', ':')}={r}" for x, r in example["corr"].items()]),
    ).results  # fmt: skip
    combined = float(example["uc_first_order"])
    assert math.isclose(found.value, float(example["value"]), rel_tol=1e-14)
    assert math.isclose(found.uncertainty, combined, rel_tol=1e-14)
    for name, contribution in example["contributions"].items():
        told = abs(found.budget[name].contribution) if name in found.budget else 0.0
        assert math.isclose(told, float(contribution), rel_tol=1e-13, abs_tol=1e-15 * combined)
    if example["published"]:
        published = example["published"]["value"]
        digits, _, power = published.partition("e")
        assert abs(found.value - float(published)) <= 0.5 * 10.0 ** (
            int(power or 0) - len(digits.partition(".")[2])
        )


def test_expanded_uncertainty_of_the_gauge_block() -> None:
    # JCGM 100:2008, H.1.6: 16.7 effective degrees of freedom, taken as 16; U99 = 2.92·32 nm = 93 nm
    (found,) = asked(EXAMPLES[0], dof=GAUGE_DOF, level=0.99).results
    assert round(found.dof, 1) == 16.7
    assert found.interval == "50000838 ± 93 (k = 2.92)"


def test_second_order_terms_of_the_gauge_block_and_of_the_mass() -> None:
    # JCGM 100:2008, H.1.7: 34 nm instead of 32; JCGM 101:2008, 9.3.2.6: 0.0750 instead of 0.0539
    for source, higher, matters in (("H.1.7", 33.911, False), ("9.3.2", 0.074963, True)):
        answer = asked(next(example for example in EXAMPLES if example.source.endswith(source)))
        second = answer.results[0].second_order
        assert second is not None and second.uncertainty is not None
        assert math.isclose(second.uncertainty, higher, rel_tol=1e-4)
        assert (
            second.matters == matters
            and [warning.kind for warning in answer.warnings] == ["linearity"] * matters
        )


def test_correlations_of_the_table_of_readings() -> None:
    answer = propagate("V/I*cos(phi), V/I*sin(phi), V/I", readings=H2)
    r = answer.correlation
    assert (round(r["V"]["I"], 2), round(r["V"]["phi"], 2), round(r["I"]["phi"], 2)) == (
        -0.36,
        0.86,
        -0.65,
    )
    # H.2.3: r(R, X) = -0.588, r(R, Z) = -0.485, r(X, Z) = 0.993
    out = answer.output_correlation
    found = [out[0][1], out[0][2], out[1][2]]
    assert [round(x or 0, 3) for x in found] == [-0.588, -0.485, 0.993]
    # all from the same five readings: four degrees of freedom, whatever the number of inputs
    assert [round(result.dof, 9) for result in answer.results] == [4.0, 4.0, 4.0]
    assert {each.readings for each in answer.inputs.values()} == {5}


DRAWN = [
    # JCGM 101:2008: clause, example, mean, standard deviation, shortest 95 % interval, valid at two
    # digits
    ("9.2.2.4", EXAMPLES[8], 0.0, 2.0, (-3.92, 3.92), (True, None)),
    ("9.2.4.2", EXAMPLES[9], 0.0, 10.1, (-17.0, 17.0), (False,)),
    ("9.3.3", EXAMPLES[10], 1.2341, 0.0754, (1.0834, 1.3825), (False,)),
]


@pytest.mark.parametrize(
    ("clause", "example", "mean", "deviation", "interval", "valid"),
    DRAWN,
    ids=[case[0] for case in DRAWN],
)
def test_draws(
    clause: str, example: Published, mean: float, deviation: float, interval: tuple[float, float],
    valid: tuple[bool | None, ...],
) -> None:  # fmt: skip
    (found,) = asked(example, samples=400_000).results
    assert found.drawn is not None and found.validation is not None
    assert abs(found.drawn.mean - mean) < 0.01 * deviation
    assert math.isclose(found.drawn.deviation, deviation, rel_tol=0.01)
    for end, published in zip(found.drawn.shortest, interval, strict=True):
        assert abs(end - published) < 0.05 * deviation
    assert found.validation.valid in valid


# ---- against another package, and against itself --------------------------------------------------------------------
FORMULAS = [
    "a*b/c",
    "a*exp(-b/c) + sqrt(a)",
    "sin(a*b) - log(c)",
    "a**b/c",
    "(a - b)**2*c + a*tan(b/9)",
    "atan2(a, b)*c",
]


def test_beside_the_package_uncertainties() -> None:
    draw = random.Random(7)
    tried = 0
    names = {name: getattr(umath, name) for name in ("exp", "sqrt", "sin", "log", "tan", "atan2")}
    for text in FORMULAS:
        for _ in range(5):
            values = [draw.uniform(1, 3) for _ in range(3)]
            spreads = [draw.uniform(0.001, 0.1) for _ in range(3)]
            # the correlations of vectors are ones that can be
            vectors = [[draw.gauss(0, 1) for _ in range(3)] for _ in range(3)]
            unit = [[x / math.hypot(*v) for x in v] for v in vectors]
            r = [[sum(x * y for x, y in zip(v, w, strict=True)) for w in unit] for v in unit]
            covariance = [[r[i][j] * spreads[i] * spreads[j] for j in range(3)] for i in range(3)]
            theirs = uncertainties.correlated_values(values, covariance)
            other = eval(text, {**names, **dict(zip("abc", theirs, strict=True))})  # noqa: S307
            point = {
                n: f"normal({v!r}, {u!r})" for n, v, u in zip("abc", values, spreads, strict=True)
            }
            pairs = {("a", "b"): r[0][1], ("a", "c"): r[0][2], ("b", "c"): r[1][2]}
            (found,) = propagate(text, point, correlation=pairs).results
            assert math.isclose(found.value, other.nominal_value, rel_tol=1e-12)
            assert math.isclose(found.uncertainty, other.std_dev, rel_tol=1e-9)
            tried += 1
    assert tried == 30


def test_the_budget_adds_up() -> None:
    answer = propagate("V/I*cos(phi)", at(H2_AT), correlation=parse_pairs([H2_R]))
    (found,) = answer.results
    assert math.isclose(
        math.fsum(each.share or 0 for each in found.budget.values()), 1, rel_tol=1e-12
    )
    rows = jacobian("V/I*cos(phi)", {"V": 4.999, "I": 0.019661, "phi": 1.04446}).jacobian
    assert rows is not None
    for (name, each), slope in zip(found.budget.items(), rows[0], strict=True):
        assert each.sensitivity == slope
        assert math.isclose(
            each.contribution, abs(slope) * answer.inputs[name].uncertainty, rel_tol=1e-15
        )
    assert math.isclose(answer.covariance[0][0], found.uncertainty**2, rel_tol=1e-12)


def test_readings_give_what_their_derived_values_give() -> None:
    """By linearity the result has the mean and deviation of the values computed reading by reading:
    H.2.4.
    """
    columns = {"x": [1.0, 2.0, 4.0, 3.5], "y": [0.3, -0.2, 0.9, 0.1]}
    (found,) = propagate("3*x - 2*y + 1", readings=columns).results
    each = [3 * x - 2 * y + 1 for x, y in zip(columns["x"], columns["y"], strict=True)]
    assert math.isclose(found.value, sum(each) / 4, rel_tol=1e-14)
    assert math.isclose(found.uncertainty, float(np.std(each, ddof=1)) / 2, rel_tol=1e-12)
    assert math.isclose(found.dof, 3, rel_tol=1e-12)


def test_correlations_of_one_are_no_trouble() -> None:
    (same,) = propagate(
        "x - y", at("x=1±0.1,y=2±0.1"), correlation={("x", "y"): 1.0}, samples=5000
    ).results
    assert same.uncertainty == 0.0 and same.drawn is not None and same.drawn.deviation < 1e-9
    (opposite,) = propagate("x - y", at("x=1±0.1,y=2±0.1"), correlation={("x", "y"): -1.0}).results
    assert math.isclose(opposite.uncertainty, 0.2, rel_tol=1e-12)


SECOND = [
    # the variance of a formula of normal inputs, where it is known in closed form
    ("x**2", "x=3±0.5", 4 * 9 * 0.25 + 2 * 0.0625, 0.25),
    ("x*y", "x=3±0.5,y=2±0.3", 4 * 0.25 + 9 * 0.09 + 0.25 * 0.09, 0.0),
    ("x**2*y", "x=0±0.5,y=0±0.3", 0.0, 0.0),
    # sixth moments are beyond the second order: Var x³ = 9x⁴σ² + 36x²σ⁴ + 15σ⁶
    ("x**3", "x=2±0.1", 9 * 16 * 0.01 + 36 * 4 * 1e-4, 0.06),
]


@pytest.mark.parametrize(("text", "point", "variance", "shift"), SECOND)
def test_second_order_terms(text: str, point: str, variance: float, shift: float) -> None:
    second = propagate(text, at(point)).results[0].second_order
    assert second is not None and second.uncertainty is not None
    assert math.isclose(second.uncertainty**2, variance, rel_tol=1e-9, abs_tol=1e-15)
    assert math.isclose(second.shift, shift, rel_tol=1e-9, abs_tol=1e-12)


def test_second_order_terms_do_not_vanish_with_their_squares() -> None:
    for scale in (1e-100, 1e-3, 1.0, 1e70):
        (found,) = propagate(
            "x*y", {"x": f"{scale}±{scale / 10}", "y": f"{scale}±{scale / 10}"}
        ).results
        assert found.second_order is not None and found.second_order.uncertainty is not None
        assert found.second_order.uncertainty == pytest.approx(
            scale**2 * math.sqrt(0.0201), rel=1e-12
        )
    (found,) = propagate("x*y", {"x": "0±1e-101", "y": "0±1e-101"}).results
    assert found.second_order is not None and found.second_order.uncertainty == pytest.approx(
        1e-202, rel=1e-12
    )


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        (
            "a + b + c",
            {"a": [1.1, 1.2, 1.4, 1.7], "b": [5.7, 4.5, 5.1, 7.1], "c": [3.2, 4.3, 3.5, 1.2]},
        ),
        ("3*(a + b - 10)", {"a": [1.1, 1.2, 1.4, 1.7], "b": [8.9, 8.8, 8.6, 8.3]}),
        ("a - b", {"a": [1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.7], "b": [0.1, 0.3, 0.7]}),
    ],
)
def test_what_is_the_same_in_each_row_has_no_uncertainty(
    text: str, readings: dict[str, list[float]]
) -> None:
    answer = propagate(text, {}, readings=readings)
    (found,) = answer.results
    # of values row by row that are all the same, up to the rounding of the readings
    assert found.uncertainty <= 1e-16 * max(map(abs, readings["a"])) and math.isinf(found.dof) == (
        not found.uncertainty
    )
    assert not answer.warnings


def test_correlations_near_one_keep_their_uncertainty() -> None:
    for nines in range(3, 16):
        r = float("0." + "9" * nines)
        (found,) = propagate("x - y", at("x=1±0.1,y=2±0.1"), correlation={("x", "y"): r}).results
        assert math.isclose(found.uncertainty, 0.1 * math.sqrt(2 * 10.0**-nines), rel_tol=1e-2)
    many = dict.fromkeys(itertools.combinations("abc", 2), 1.0)
    answer = propagate("x*(a + b - c)", at("x=1000±1,a=1±0.1,b=2±0.2,c=3±0.3"), correlation=many)
    assert answer.results[0].uncertainty == 0 and not answer.warnings


def test_readings_that_are_all_the_same_are_warned_of() -> None:
    readings = {"V": [5.0, 5.0, 5.0], "I": [0.02, 0.02, 0.02]}
    (warning,) = propagate("V/I", {}, readings=readings).warnings
    assert "readings of `V`, `I` are all the same" in warning.message
    # steps of 0.1 leave uniform(-0.05, 0.05)
    (found,) = propagate("(V + d)/I", at("d=uniform(-0.05, 0.05)"), readings=readings).results
    assert math.isclose(found.uncertainty, 0.05 / math.sqrt(3) / 0.02)


def test_second_order_terms_with_correlations_agree_with_draws() -> None:
    answer = propagate(
        "x*y**2", at("x=3±0.3,y=2±0.2"), correlation={("x", "y"): 0.8}, samples=600_000
    )  # fmt: skip
    (found,) = answer.results
    assert (
        found.second_order is not None
        and found.second_order.uncertainty is not None
        and found.drawn is not None
    )
    assert abs(found.uncertainty / found.drawn.deviation - 1) > 0.01
    assert abs(found.second_order.uncertainty / found.drawn.deviation - 1) < 0.004
    assert math.isclose(found.drawn.mean - found.value, found.second_order.shift, rel_tol=0.03)


OTHERS = {"twopiece", "poisson", "lognormal", "exponential", "beta", "gamma", "draws"}
"""Families whose moments and draws `test_distributions.py` and `test_draws.py` check."""
DISTRIBUTIONS = [
    "uniform(0, 1)", "triangular(0, 2)", "triangular(1, 1.2, 3)", "triangular(-1, 2, 2)",
    "arcsine(-1, 4)", "trapezoidal(0, 2, 0.4)", "normal(2, 0.5)", "student(2, 0.5, 12)", "5.0(8)",
]  # fmt: skip


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_the_second_order_of_a_square_is_exact_for_every_distribution(text: str) -> None:
    given = at(f"x={text}")["x"]
    assert isinstance(given, MeasuredValue)
    distribution = given.distribution
    draw = monte_carlo.Sampler({"x": distribution}, [], {}, 4)
    x = draw(1_000_000)["x"]
    second = propagate("x**2 - x", {"x": given}).results[0].second_order
    assert second is not None and second.uncertainty is not None
    variance = second.uncertainty**2
    if distribution.family == "student":
        # the first order has the scale for the standard deviation: JCGM 100, G.3
        variance += (2 * given - 1) ** 2 * given.uncertainty**2 * (12 / 10 - 1)
    assert math.isclose(variance, float(np.var(x * x - x)), rel_tol=0.01)
    assert math.isclose(
        second.shift, float(np.mean(x * x - x)) - (given * given - given), abs_tol=0.003
    )


def test_every_family_was_squared() -> None:
    assert {at(f"x={text}")["x"].distribution.family for text in DISTRIBUTIONS} == set(
        FAMILIES
    ) - OTHERS  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        # 1/5 - 1/9, and with moments in closed form
        ("m**2", "m=uniform(0, 1)", 4 / 45),
        ("x*y", "x=uniform(0, 1),y=arcsine(-1, 1)", (1 / 3) / 2),
        ("x**2*y", "x=uniform(-1, 1),y=3±0.1", 9 * 4 / 45),
        # no second derivative at the estimate, and a third one: σ² - σ⁴ for a normal quantity
        ("sin(x)", "x=0±0.1", 1e-2 - 1e-4),
        ("sin(x)", "x=uniform(-0.3, 0.3)", 0.03 - 1.8 * 0.03**2 / 3),
    ],
)
def test_second_order_terms_have_the_moments_of_the_distributions(
    text: str, point: str, expected: float
) -> None:
    second = propagate(text, at(point)).results[0].second_order
    assert second is not None and second.uncertainty is not None
    assert math.isclose(second.uncertainty**2, expected, rel_tol=1e-9)


def test_a_cubic_through_kinks_that_cancel_is_its_own_polynomial() -> None:
    """The third derivative is so large beside the first one here that 0.1 % of it would show."""
    for mean in ("0.1±1", "0.05±1"):
        (warning,) = propagate("relu(x)**3 - relu(-x)**3", at(f"x={mean}")).warnings
        assert "second-order terms matter" in warning.message and "kink" not in warning.message


@pytest.mark.parametrize(
    "inputs", ["x=1.02±0.3", "x=uniform(0.02, 2.02)", "x=1.02±0.3,y=1.0±0.1", "x=gamma(12, 0.085)"]
)
def test_a_formula_that_leaves_its_taylor_polynomial_is_not_linear_enough(inputs: str) -> None:
    answer = propagate("x + (x - 1)**7" + "*y" * ("y" in inputs), at(inputs))
    assert answer.results[0].second_order is None
    assert [warning.kind for warning in answer.warnings] == ["linearity"]
    assert "beyond the third order" in answer.warnings[0].message
    narrow = propagate("x + (x - 1)**7", at("x=1.02±0.03"))
    assert narrow.results[0].second_order is not None and not narrow.warnings


@pytest.mark.parametrize(
    ("text", "inputs", "name"),
    [
        ("x", "x=uniform(4.9, 5.1)", "x"),
        ("3*x + y", "x=uniform(4.9, 5.1),y=0±0.05", "x"),  # others have 0.29 of its u
        ("x + y", "x=uniform(4.9, 5.1),y=0±0.01732", "x"),  # others have 0.29999 of its u
        ("x + y", "x=uniform(4.9, 5.1),y=0±0.01733", None),  # 0.30017 of it
        ("x + y", "x=uniform(4.9, 5.1),y=uniform(0, 0.2)", None),
        ("x", "x=arcsine(4.9, 5.1)", "x"),
        ("x", "x=triangular(4.9, 5.1)", None),  # its limits are 2.45 u away
        ("x", "x=5.0±0.1", None),
    ],
)
def test_an_interval_beyond_the_limits_of_its_input_is_warned_of(
    text: str, inputs: str, name: str | None
) -> None:
    answer = propagate(text, at(inputs))
    said = [warning.message for warning in answer.warnings if warning.kind == "coverage"]
    assert len(said) == (name is not None)
    assert name is None or f"beyond the limits of `{name}`" in said[0]
    drawn = propagate(text, at(inputs), samples=100_000)
    assert not [warning for warning in drawn.warnings if warning.kind == "coverage"]
    draws = drawn.results[0].drawn
    assert draws is not None
    half = (draws.symmetric[1] - draws.symmetric[0]) / 2
    # of the draws 95 % are within less
    assert half < 0.9 * answer.results[0].expanded or name is None
    assert half > 0.88 * answer.results[0].expanded or name is not None
    assert not propagate(text, at(inputs), k=2).warnings, "no level is claimed"


def test_what_has_no_fourth_moment_has_no_second_order() -> None:
    answer = propagate("x**2", at("x=student(1, 0.1, 4)"))
    assert answer.results[0].second_order is None
    assert [warning.kind for warning in answer.warnings] == [
        "linearity"
    ] and "infinite" in answer.warnings[0].message
    linear = propagate("3*x + 1", at("x=student(1, 0.1, 2)"))
    assert linear.results[0].second_order is not None and not linear.warnings


def test_second_order_terms_matter_from_a_third_of_the_uncertainty_on() -> None:
    # u goes from 0.386 to 0.393, which are both written as 0.39
    same = propagate("x*y", at("x=1±0.273,y=1±0.273"))
    (found,) = same.results
    assert found.second_order is not None and found.second_order.uncertainty is not None
    assert found.second_order.uncertainty - found.uncertainty > 0.005
    assert not found.second_order.matters and not same.warnings
    for text, point, said in (
        # the mean moves by f''(x)*u**2/2: 0.9**2, and 0.8**2/2**3
        ("x**2", "x=0.8±0.9", "second-order terms matter; the mean moves by 0.81"),
        (
            "1/x",
            "x=2±0.8",
            "second-order terms matter; with them it is 0.50(30), and the mean moves by 0.08",
        ),
    ):
        (warning,) = propagate(text, at(point)).warnings
        assert warning.message.endswith(said)
    # the mean moves by 0.058, and u is 0.386; u goes from 0.42 to 0.43; from 0.135 to 0.136
    for text, point in (
        ("x**2", "x=0.8±0.241"),
        ("x*y", "x=1±0.3,y=1±0.3"),
        ("V/I", "V=10±2%,I=2±5%"),
    ):
        assert not propagate(text, at(point)).warnings


KINKS = [
    # formula, point, and what turns within the coverage interval
    ("abs(x)", "x=0.01±0.1", "`abs` has a kink"),
    ("abs(x)", "x=-1±0.6", "`abs` has a kink"),
    ("abs(x)", "x=1±0.1", None),
    ("abs(floor(x) - 1) + x", "x=1.5±0.1", None),
    ("abs(x)", "x=uniform(-0.1, 1)", "`abs` has a kink"),
    ("abs(x)", "x=uniform(0.01, 1)", None),
    ("relu(x)", "x=-0.05±0.1", "`relu` has a kink"),
    ("relu(x) - relu(-x)", "x=0.01±0.1", None),
    ("max(a, b)", "a=1.0±0.1,b=1.2±0.1", "`max` has a kink"),
    ("max(a, b)", "a=1.0±0.1,b=1.5±0.1", None),
    ("max(a, b)", "a=uniform(0.9, 1.1),b=uniform(1.3, 1.5)", None),
    ("max(a, 1) + b", "a=0.95±0.1,b=3±5", None),
    ("min(a, b, c)", "a=1.0±0.1,b=0.9±0.1,c=0.8±0.01", "`min` has a kink"),
    ("clamp(x, 0, 1)", "x=0.9±0.1", "`clamp` has a kink"),
    ("floor(x)", "x=2.9±0.2", "`floor` jumps"),
    ("floor(x)", "x=2.1±0.2", "`floor` jumps"),
    ("floor(x)", "x=2.5±0.1", None),
    ("ceil(x)", "x=2.9±0.2", "`ceil` jumps"),
    ("round(x)", "x=1.4±0.1", "`round` jumps"),
    ("atan2(y, x)", "x=-1±0.1,y=0.05±0.1", "`atan2` jumps"),
    ("x if x < 1 else 2*x - 1", "x=0.9±0.1", "`<` turns"),
    ("x if x < 1 else x", "x=0.9±0.1", None),
    ("x if x > 0 else log(x)", "x=0.1±0.1", "`>` turns"),
    ("x if x > 0 else 2*x + log(x + 0.1)", "x=0.1±0.1", "`>` turns"),
]


@pytest.mark.parametrize(("text", "point", "turns"), KINKS)
def test_a_kink_in_reach_is_not_linear_enough(text: str, point: str, turns: str | None) -> None:
    answer = propagate(text, at(point))
    (found,) = answer.results
    if turns is None:
        assert (
            "linearity" not in [warning.kind for warning in answer.warnings]
            and found.second_order is not None
            and not found.second_order.matters
        )
        return
    (warning,) = answer.warnings
    assert warning.kind == "linearity" and f"not linear enough: {turns} within" in warning.message
    assert warning.span is not None and found.second_order is None


@pytest.mark.parametrize(
    ("text", "point", "name"),
    [
        ("x + 0.001*log(x)", "x=1±0.6", "x"),
        ("y + x + 0.001*sqrt(1.3 - x)", "y=2±0.1,x=1±0.3", "x"),
        ("x + 0.001*sqrt(1.3 - x)", "x=1±0.1", None),
        ("x + 0.001*sqrt(1.3 - x)", "x=uniform(0.9, 1.3)", None),
        ("x + 0.001*log(x)", "x=exponential(1)", None),
        ("x + 0.001*asin(y)", "x=1±0.1,y=0.97±0.01", None),
        ("x + 0.001*asin(y)", "x=1±0.1,y=0.98±0.01", "y"),
        ("x + 1e-6*asin(y), x", "x=1±0.1,y=0.98±0.01", "y"),
    ],
)
def test_a_domain_that_ends_in_reach_is_not_linear_enough(
    text: str, point: str, name: str | None
) -> None:
    answer = propagate(text, at(point))
    said = [
        x.message.rpartition("it is undefined at likely values of ")[2]
        for x in answer.warnings
        if x.kind == "linearity"
    ]
    assert said == ([f"`{name}`"] if name else [])
    assert (answer.results[0].second_order is None) == (name is not None)


@pytest.mark.parametrize(
    ("text", "point"), [("abs(x)", "x=1.5±1"), ("heaviside(x - 1.2) + x", "x=1.1±0.04")]
)
def test_whether_a_kink_is_in_reach_does_not_depend_on_the_coverage_factor(
    text: str, point: str
) -> None:
    for k in (0.5, 1.0, 2.0):
        answer = propagate(text, at(point), k=k)
        assert ["not linear enough" in x.message for x in answer.warnings] == [True]
    assert (
        "jumps 2.5 standard uncertainties away"
        in propagate("heaviside(x - 1.2)", at("x=1.1±0.04")).warnings[0].message
    )


def test_a_kink_in_reach_of_an_implicit_model_is_not_linear_enough() -> None:
    for y, count in (("0.1±0.1", 1), ("1.0±0.1", 0)):
        answer = propagate("x + abs(x)/2 = y", at(f"y={y}"), unknowns=["x"])
        assert [warning.kind for warning in answer.warnings] == ["linearity"] * count


def test_correlations_move_kinks_out_of_reach() -> None:
    apart, together = (
        propagate("max(a, b)", at("a=1.0±0.1,b=1.1±0.1"), correlation={("a", "b"): r}).warnings
        for r in (-0.9, 0.99)
    )
    assert apart and not together


# ---- draws ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    ["x=uniform(4.9, 5.1)", "x=triangular(1, 3)", "x=triangular(1, 1.2, 3)", "x=arcsine(-1, 4)", "x=normal(2, 0.5)",
     "x=trapezoidal(0, 2, 0.4)", "x=5.00(2)", "x=student(2, 0.5, 9)"],
)  # fmt: skip
def test_draws_have_the_moments_of_their_distribution(text: str) -> None:
    given = at(text)["x"]
    assert isinstance(given, MeasuredValue)
    (found,) = propagate("x", {"x": given}, samples=200_000).results
    assert found.drawn is not None
    spread = given.uncertainty
    if given.distribution.family == "student":
        spread *= math.sqrt(9 / 7)
    assert abs(found.drawn.mean - given) < 0.01 * spread
    assert math.isclose(found.drawn.deviation, spread, rel_tol=0.01)


def test_every_family_was_drawn() -> None:
    drawn = {"uniform", "triangular", "arcsine", "normal", "trapezoidal", "student"}
    assert drawn == set(FAMILIES) - OTHERS


def test_the_memory_of_the_draws_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted between quantiles the draws give the same intervals as kept ones, to the width of a
    step.
    """
    monkeypatch.setattr(monte_carlo, "MAX_KEPT_RESULTS", 4 * BLOCK_DRAWS)
    kept, counted = Results(0.0), Results(0.0)
    rng = np.random.default_rng(3)
    blocks = [rng.standard_t(4, BLOCK_DRAWS) for _ in range(16)]
    kept._room = 16 * BLOCK_DRAWS
    for block in blocks:
        kept.add(block)
        counted.add(block)
        assert sum(map(len, counted._kept)) <= 4 * BLOCK_DRAWS
    assert counted._edges is not None and len(counted._edges) < 4 * BLOCK_DRAWS / 8 + 500
    one, other = kept.summarize(0.95), counted.summarize(0.95)
    assert one.mean == other.mean and one.deviation == other.deviation
    for a, b in zip(
        (*one.shortest, *one.symmetric), (*other.shortest, *other.symmetric), strict=True
    ):
        assert abs(a - b) < 0.03
    assert sum(counted._counts) == counted.count == 16 * BLOCK_DRAWS


def test_the_shortest_interval_is_the_shortest() -> None:
    results = Results(0.0)
    values = np.random.default_rng(5).exponential(size=5000)
    results.add(values)
    low, high = results.summarize(0.9).shortest
    ordered = np.sort(values)
    assert high - low == min(ordered[4500:] - ordered[:-4500])


def test_the_scatter_is_how_far_the_ends_are_off_in_other_draws() -> None:
    """A normal distribution's interval is right to first order: only too few draws leave that
    open.
    """
    runs = [propagate("x", at("x=0±1"), samples=2000, seed=seed).results[0] for seed in range(40)]
    ends = [each.drawn.shortest for each in runs if each.drawn is not None]
    spread = max(float(np.std(side)) for side in zip(*ends, strict=True))
    scatters = [each.drawn.scatter for each in runs if each.drawn is not None]
    assert (
        len(scatters) == 40
        and 0.5 < float(np.median(scatters)) / spread < 2
        and min(scatters) > 0.01
    )
    verdicts = [each.validation.valid for each in runs if each.validation is not None]
    # beyond the tolerance and within the scatter is not false
    assert verdicts.count(None) > 20 and verdicts.count(False) <= 1


def test_the_verdict_on_the_first_order() -> None:
    """JCGM 101, 8.1.3: true within the tolerance, open within the scatter beyond it, false beyond
    both.
    """
    (found,) = propagate("x", at("x=uniform(-1, 1)"), samples=2_000).results
    assert found.validation is not None and found.validation.valid is False
    (found,) = propagate("x", at("x=0±0.99"), samples=1_000_000).results
    assert (
        found.drawn is not None and found.validation is not None and found.validation.valid is True
    )
    assert max(found.validation.low, found.validation.high) <= found.validation.tolerance
    # rounding of the draws alone
    correlation = {("x", "y"): 1.0}
    (found,) = propagate(
        "x - y", at("x=5.1±0.1,y=3.3±0.1"), correlation=correlation, samples=10_000
    ).results
    assert (
        found.uncertainty == 0 and found.validation is not None and found.validation.valid is True
    )


def test_the_same_seed_gives_the_same_draws() -> None:
    runs = [
        propagate("x*y", at("x=1±0.1,y=2±0.1"), samples=70_000, seed=seed).results[0].drawn
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_draws_end_when_they_are_to() -> None:
    calls = iter([False, True])
    answer = propagate("x", at("x=1±0.1"), samples=10 * BLOCK_DRAWS, stop=lambda: next(calls))
    assert (answer.interrupted, answer.samples) == (True, 2 * BLOCK_DRAWS)


def test_draws_outside_the_domain_are_left_out_and_counted() -> None:
    answer = propagate("log(x)", at("x=1±0.3"), samples=100_000)
    (found,) = answer.results
    assert found.drawn is not None and 10 < found.drawn.outside < 100
    assert "outside" in {warning.kind for warning in answer.warnings}
    with pytest.raises(ExpressionError, match="no value at") as caught:
        propagate("log(x)", at("x=1±0.5"), samples=100_000)
    assert caught.value.kind == "domain"


# ---- what people write ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "value", "u"),
    [
        ("5.00±0.02", 5.0, 0.02), ("5.00 ± 0.02", 5.0, 0.02), ("5.00+/-0.02", 5.0, 0.02), ("5.00+-0.02", 5.0, 0.02),
        ("5.00+-2%", 5.0, 0.1), ("-5.00 ± 2 %", -5.0, 0.1), ("19.66(10)e-3", 0.01966, 0.0001),
        ("4.9990(32)", 4.999, 0.0032),
        ("127.7(1.2)", 127.7, 1.2), ("-3(1)", -3.0, 1.0), ("−3(1)", -3.0, 1.0), ("1(2)e3", 1000.0, 2000.0),
        ("(5.00 ± 0.02)e-3", 0.005, 2e-5), ("(5.00±0.02)*10**-3", 0.005, 2e-5), ("(5±1)·100", 500.0, 100.0),
        ("127.73 ± 0.14 (k = 2)", 127.73, 0.07), ("(1.0 ± 0.4)e-3 (k=2)", 1e-3, 2e-4), ("1e-3±1e-5", 1e-3, 1e-5),
        ("pi±1%", math.pi, math.pi / 100), ("2*3 ± 1/2", 6.0, 0.5), ("uniform(4.9, 5.1)", 5.0, 0.2 / math.sqrt(12)),
        ("uniform(-1, 1)", 0.0, 1 / math.sqrt(3)), ("triangular(0, 2)", 1.0, 1 / math.sqrt(6)),
        ("triangular(0, 0, 3)", 1.0, math.sqrt(0.5)), ("arcsine(-1, 1)", 0.0, math.sqrt(0.5)),
        ("trapezoidal(-1, 1, 1)", 0.0, 1 / math.sqrt(3)), ("normal(5, 0.1)", 5.0, 0.1),
        ("student(5, 0.1, 9)", 5.0, 0.1), ("6.67e-11(15)", 6.67e-11, 1.5e-12), ("-1.5E3(0.2)", -1500.0, 200.0),
        ("5e3(2)", 5000.0, 2000.0), ("5.00 (2)", 5.0, 0.02), ("5(2)", 5.0, 2.0),
    ],
)  # fmt: skip
def test_notations(text: str, value: float, u: float) -> None:
    found = quantity("x", text)
    assert isinstance(found, MeasuredValue)
    assert found == value and math.isclose(found.uncertainty, u, rel_tol=1e-14)


def test_a_number_is_exact() -> None:
    for text in ("5", "pi/4", "5-+2", "2*(3+1)"):
        assert not isinstance(quantity("x", text), MeasuredValue)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5±-1", "below 0"), ("5±", "no uncertainty after the sign"), ("5±1±2", "two uncertainties"),
        ("5%", "no value"),
        ("(1.50±0.02)%", "has `%`"), ("(1.50 ± 0.02) %", "has `%`"), ("1.5(2) %", "has `%`"),
        ("5(-1)", "no digits of an uncertainty"), ("5.0(+3-2)", "no digits"), ("uniform(5, 4)", "goes from 5 to 4"),
        ("normal(1)", "1 number"), ("normal(1, -1)", "below 0"), ("triangular(0, 5, 3)", "mode 5"),
        ("trapezoidal(0, 1, 2)", "ratio 2"), ("student(1, 1, 0)", "0 degrees of freedom"), ("1e400±1", "too large"),
        ("5±1 (k = 0)", "coverage factor 0"), ("x±1", "`x` has no value here"), ("uniform(4.9)", "1 number"),
        ("2.0(3)(4)", r"`2.0\(3\)` in it"), ("1(2)e3(4)", r"`1\(2\)e3` in it"), ("1.5(2) e3", r"`1.5\(2\)` in it"),
        ("2*3.0(1)", r"`3.0\(1\)` in it"), ("1e3(2)*5", r"`1e3\(2\)` in it"), ("5.0(2)±0.1", r"`5.0\(2\)` in it"),
        ("6.67*10**-11(15)", r"`11\(15\)` in it"), ("uniform(0, 2(3))", r"`2\(3\)` gives an uncertainty"),
    ],
)  # fmt: skip
def test_what_is_no_quantity(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        parse_point(f"a=1, x={text}", quantity)
    error = caught.value
    assert error.kind == "point" and error.hint
    assert error.text is not None and error.span is not None
    assert error.text[error.span.start : error.span.end].strip() in text
    assert error.span.start < error.span.end <= len(error.text)


@pytest.mark.parametrize(
    "text",
    ["127.7(12)", "6.67e-11(15)", "19.66(10)e-3", "2.0(3)(4)", "1.5(2) e3", "5(2)", "5.00 (2)", "2*3.0(1)", "1e3(2)*5",
     "5.0(+3-2)", "-5(2)", "1_000(20)", ".5(1)", "sqrt(2(3))", "max(1, 2(3))", "6.67*10^-11(15)", "5(2e-1)",
     "9.81(1)", "9.81 (1)", "9.81(1) m", "9.81(2) m", "5(1)/2"],
)  # fmt: skip
def test_where_a_point_has_no_uncertainty_one_is_never_a_product(text: str) -> None:
    with pytest.raises(ExpressionError, match="gives an uncertainty") as caught:
        parse_point(f"a=1, x={text}")
    error = caught.value
    assert error.kind == "point" and "leave `(" in (error.hint or "")
    assert error.text is not None and error.span is not None
    assert error.text[error.span.start : error.span.end] in text


def test_what_can_only_be_a_product_is_one() -> None:
    values = {
        "2(3+1)": 8,
        "2(pi)": 2 * math.pi,
        "2(-3)": -6,
        "log10(100)": 2,
        "max(2, 3)": 3,
        "2*(3)": 6,
    }
    for text, value in values.items():
        assert parse_point(f"x={text}")["x"] == value


@pytest.mark.parametrize("piece", ["9", "9(", "9 ", ".", " ", "(", "_", "e9", "1,"])
def test_long_texts_are_read_at_once(piece: str) -> None:
    begun = time.process_time()
    for value_of in (quantity, constant_value):
        for text in (f"1{piece * 20_000}", f"1{piece * 20_000}("):
            with contextlib.suppress(ExpressionError):
                value_of("x", text)
    assert time.process_time() - begun < 5


def test_what_is_written_reads_back() -> None:
    draw = random.Random(11)
    tried = 0
    for _ in range(500):
        value = draw.uniform(-1, 1) * 10.0 ** draw.randint(-12, 12)
        u = abs(value) * 10.0 ** draw.uniform(-9, 2) or 1.0
        back = quantity("x", concise(value, u))
        assert isinstance(back, MeasuredValue)
        short, spread = float(back), back.uncertainty
        assert (
            abs(value - short) <= 0.0501 * 10 ** math.floor(math.log10(spread))
            and abs(u / spread - 1) <= 0.0501
        )
        k = draw.choice([1.0, 1.96, 2.0, 2.58])
        expanded = quantity("x", plus_minus(value, u, k))
        assert isinstance(expanded, MeasuredValue)
        assert (float(expanded), round(expanded.uncertainty * k / spread, 12)) == (short, 1.0)
        tried += 1
    assert tried == 500


def test_rounding_by_the_guide() -> None:
    # JCGM 100:2008, 7.2.6
    assert [concise(10.05762, 0.02713), plus_minus(100.02147, 0.00079, 2.26)] == [
        "10.058(27)", "100.02147 ± 0.00079 (k = 2.26)"
    ]  # fmt: skip
    assert concise(1.0, 0.0996) == "1.00(10)" and concise(0.0, 0.0) == "0"
    # a zero has no sign; digits stand at their places, however far they are below those of the
    # value
    assert concise(-0.0004, 0.0996) == "0.00(10)" and concise(-4.0, 1000.0) == "0(10)e2"
    assert (
        concise(1.0, 3.5e-26) == f"1.{'0' * 27}(35)"
        and concise(5.0, 1e-320) == f"5.{'0' * 321}(10)"
    )
    assert plus_minus(1.0, 3.5e-26, 2.0) == f"1.{'0' * 27} ± 0.{'0' * 25}35 (k = 2)"
    assert plus_minus(150000.0, 10000.0, 2.0, " mm") == "(1.50 ± 0.10)e5 mm (k = 2)"


def test_coverage_factors() -> None:
    # JCGM 100:2008, table G.2
    table = {(1, 0.95): 12.71, (2, 0.9973): 19.21, (4, 0.95): 2.78, (10, 0.99): 3.17, (16, 0.99): 2.92,
             (50, 0.95): 2.01,
             (100, 0.9545): 2.025, (math.inf, 0.95): 1.960, (math.inf, 0.9973): 3.000}  # fmt: skip
    for (dof, level), k in table.items():
        assert abs(coverage_factor(level, dof) - k) <= 0.0051
        assert math.isclose(level_of(coverage_factor(level, dof), dof), level, rel_tol=1e-12)
    with mpmath.workdps(30):
        # the median of |t| with 1 degree of freedom, Cauchy's distribution, is tan(π/4)
        assert math.isclose(coverage_factor(0.5, 1), 1.0, rel_tol=1e-12)


# ---- bad input ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("point", "more", "kind", "message"),
    [
        ("x=5,y=2", {}, "point", "no value has an uncertainty"),
        ("x=5±1", {}, "missing_value", "`y` has no value"),
        ("x=5±1,y=1±1", {"correlation": {("x", "z"): 0.5}}, None, "`z` has a correlation"),
        ("x=5±1,y=1", {"correlation": {("x", "y"): 0.5}}, "point", "`y` has a correlation and no uncertainty"),
        ("x=5±1,y=1±1", {"dof": {"x": 0.0}}, "point", "`x` has 0 degrees"),
        ("x=student(5, 1, 4),y=1±1", {"dof": {"x": 3.0}}, "point", "two degrees of freedom"),
        ("x=5±1,y=uniform(1,2)", {"correlation": {("x", "y"): 0.5}, "samples": 1e4}, "usage",
         "distribution is uniform"),
        ("x=5±1", {"readings": {"y": [1.0]}}, "point", "`y` has 1 reading,"),
        ("x=5±1", {"readings": {"x": [1.0, 2.0], "y": [1.0, 3.0]}}, "point", "`x` has a value in `--at`"),
        ("", {"readings": {"x": [1.0, 2.0], "y": [1.0, 3.0]}, "correlation": {("x", "y"): 0.5}}, "point",
         "follows from"),
    ],
)  # fmt: skip
def test_bad_input(point: str, more: dict[str, Any], kind: str | None, message: str) -> None:
    if kind is None:
        assert any(
            message in warning.message for warning in propagate("x*y", at(point), **more).warnings
        )
        return
    with pytest.raises(ExpressionError, match=message) as caught:
        propagate("x*y", at(point) if point else {}, **more)
    assert caught.value.kind == kind


def test_options_that_do_not_go_together() -> None:
    for given, message in (({"level": 0.9, "k": 2.0}, "exclude each other"), ({"seed": 3}, "`seed` needs `samples`"),
                           ({"seed": -1, "samples": 1e5}, "`seed` cannot be `-1`"),
                           ({"level": 95}, "`level` cannot be `95`"), ({"k": -1.0}, "`k` cannot be `-1`"),
                           ({"samples": 1.5e5 + 0.5}, "`samples` cannot be `150000.5`"),
                           ({"samples": 10.0}, "`samples` cannot be `10`")):  # fmt: skip
        with pytest.raises(ExpressionError, match=message) as caught:
            autodiff_cli.propagate("x*y", "x=5±1,y=1±1", **given)  # type: ignore[arg-type]
        assert caught.value.kind == "usage"


@pytest.mark.parametrize("text", ["x:y=1.5", "x:x=0.5", "x=0.5", "x:y", "x:y=0.1,y:x=0.2", "x:y=z"])
def test_what_is_no_correlation(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_pairs([text])


def test_a_matrix_that_no_quantities_have() -> None:
    pairs = parse_pairs(["x:y=0.9,y:z=0.9,x:z=-0.9"])
    with pytest.raises(
        ExpressionError, match=r"`x`, `y`, `z` cannot all be: their matrix has the eigenvalue -0\.8"
    ):
        propagate("x*y*z", at("x=1±1,y=1±1,z=1±1"), correlation=pairs)


def test_bad_cells_are_named(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    for content, message in (
        ("x,y\n1,2\n3,oops\n", "readings.csv, line 3: column `y`: .*`oops`"),
        ("x,y\n1,2\n3\n", "readings.csv, line 3: the row has 1 cells"),
        ("x,z\n1,2\n", "`y` has no value: the data has no column"),
        ("x,y\n", "no rows of data"),
        ("", "is empty"),
    ):
        path.write_text(content, encoding="utf-8")
        done = autodiff("propagate", "x*y", "--data", str(path))
        assert done.code == 2 and not done.out
        assert re.search(message, done.err), done.err
    assert autodiff("propagate", "x*y", "--data", str(tmp_path / "none.csv")).code == 5


def test_a_picture_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "budget.svg"
    command = (
        "propagate",
        "x*y",
        "--at",
        "x=1±0.1,y=2±0.1",
        "--samples",
        "1e4",
        "--output",
        str(path),
    )
    assert autodiff(*command).code == 0
    text = path.read_text(encoding="utf-8")
    assert "<svg" in text and ">x<" in text and "80 %" in text
    assert autodiff(*command).code == 5 and path.read_text(encoding="utf-8") == text
    broken = autodiff(
        "propagate", "log(-x)", "--at", "x=1±0.1", "--output", str(tmp_path / "none.svg")
    )
    assert broken.code == 4 and not (tmp_path / "none.svg").exists()


# ---- implicit models ----------------------------------------------------------------------------------------------
class Twin(NamedTuple):
    """Equations, and the same model solved by hand."""

    equations: str
    starts: Mapping[str, float]
    explicit: str
    at: str


TWINS = [
    Twin("x**2 = a", {"x": 1}, "sqrt(a)", "a=2.0±0.3"),
    Twin("x**2 = a*b", {"x": -1}, "-sqrt(a*b)", "a=2.0±0.3,b=3.0±0.2"),
    Twin("exp(x) - a = 0", {"x": 0}, "log(a)", "a=3±0.5"),
    Twin(
        "x - y = a; x*y = b",
        {"x": 3, "y": 2},
        "(a + sqrt(a**2 + 4b))/2, (sqrt(a**2 + 4b) - a)/2",
        "a=1±0.2,b=6±0.5",
    ),
    Twin("sinh(x) + c = a", {"x": 1}, "asinh(a - c)", "a=2±0.2,c=0.5"),
]


def implicit(twin: Twin, **more: Any) -> Propagation:
    return propagate(
        twin.equations, {**twin.starts, **at(twin.at)}, unknowns=list(twin.starts), **more
    )


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.equations)
def test_an_implicit_model_says_what_the_same_one_solved_by_hand_says(twin: Twin) -> None:
    expected, found = propagate(twin.explicit, at(twin.at)), implicit(twin)
    assert [each.output for each in found.results] == list(twin.starts)
    assert found.inputs == expected.inputs
    for one, other in zip(found.results, expected.results, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-14)
        assert one.uncertainty == pytest.approx(other.uncertainty, rel=1e-13)
        for name, share in other.budget.items():
            assert one.budget[name]._asdict() == pytest.approx(share._asdict(), rel=1e-13)
        # the second order holds second and third derivatives
        assert one.second_order is not None and other.second_order is not None
        assert one.second_order.uncertainty == pytest.approx(
            other.second_order.uncertainty, rel=1e-11
        )
        assert one.second_order.shift == pytest.approx(other.second_order.shift, rel=1e-11)
    for line, same in zip(found.covariance, expected.covariance, strict=True):
        assert line == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.equations)
def test_its_draws_are_those_of_the_same_one_solved_by_hand(twin: Twin) -> None:
    expected, found = (
        propagate(twin.explicit, at(twin.at), samples=20_000),
        implicit(twin, samples=20_000),
    )
    for one, other in zip(found.results, expected.results, strict=True):
        assert one.drawn is not None and other.drawn is not None
        assert one.drawn.mean == pytest.approx(other.drawn.mean, rel=1e-12)
        assert one.drawn.deviation == pytest.approx(other.drawn.deviation, rel=1e-11)
        assert one.drawn.shortest == pytest.approx(other.drawn.shortest, rel=1e-9)
        assert one.drawn.outside == other.drawn.outside


def test_draws_of_several_equations_settle_together(monkeypatch: pytest.MonkeyPatch) -> None:
    far: list[Mapping[str, float]] = []
    monkeypatch.setattr(_Expansion, "_lines", lambda self: ())  # draws alone are counted
    monkeypatch.setattr(
        measurement_model.Implicit, "follow_to", lambda self, target: far.append(target)
    )
    inputs = at("a=4.0±0.1,b=3.0±0.1,x=2,y=1.5")
    found = propagate("x**2 = a; x*y = b", inputs, unknowns=["x", "y"], samples=20_000)
    x, y = found.results
    assert not far and x.drawn is not None and y.drawn is not None
    assert (
        abs(x.drawn.mean - 2) < 0.002
        and abs(y.drawn.mean - 1.5) < 0.002
        and abs(y.drawn.deviation / 0.0533 - 1) < 0.03
    )


def test_draws_that_newton_does_not_settle_at_once_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far: list[Mapping[str, float]] = []
    followed = measurement_model.Implicit.follow_to

    def noting(self: measurement_model.Implicit, target: Mapping[str, float]) -> list[float] | None:
        far.append(target)
        return followed(self, target)

    monkeypatch.setattr(_Expansion, "_lines", lambda self: ())  # draws alone are counted
    monkeypatch.setattr(measurement_model.Implicit, "follow_to", noting)
    # near 1 the solution is far from its tangent, and Newton's method leaps away
    wide = "uniform(0, 0.999)"
    found = propagate("tanh(x) = a", {"a": wide}, unknowns=["x"], samples=2000).results[0].drawn
    expected = propagate("atanh(a)", {"a": wide}, samples=2000).results[0].drawn
    assert found is not None and expected is not None
    assert 5 < len(far) < 500
    assert found.outside == 0 and found.mean == pytest.approx(expected.mean, rel=1e-12)
    assert found.symmetric == pytest.approx(expected.symmetric, rel=1e-9)


def test_where_the_solution_ends_there_is_none() -> None:
    model = measurement_model.Implicit(
        posed_equations("x**2 = a", {"a": 1, "x": 1}, ["x"], None, None)
    )
    assert model.follow_to({"a": 4.0}) == pytest.approx([2.0], rel=1e-15)
    assert model.follow_to({"a": 1e-6}) == pytest.approx([1e-3], rel=1e-12)
    assert model.follow_to({"a": -0.5}) is None
    with pytest.raises(ExpressionError) as caught:
        propagate("x**2 = a", {"a": "0.1±0.2", "x": 1}, unknowns=["x"], samples=2000)
    assert caught.value.kind == "domain"


@pytest.mark.parametrize("name", ["eps", "Re"])
def test_the_friction_factor_follows_its_inputs_as_roots_in_fifty_digits_do(name: str) -> None:
    found = propagate(
        "1/sqrt(f) = -2*log10(eps/3.7 + 2.51/(Re*sqrt(f)))",
        {"f": 0.02, "eps": "1.00(5)e-4", "Re": "1.00(2)e5"}, unknowns=["f"],
    )  # fmt: skip

    def root(values: Mapping[str, Any]) -> Any:
        def left(f: Any) -> Any:
            inner = values["eps"] / mpmath.mpf("3.7") + mpmath.mpf("2.51") / (
                values["Re"] * mpmath.sqrt(f)
            )
            return 1 / mpmath.sqrt(f) + 2 * mpmath.log10(inner)

        return mpmath.findroot(left, mpmath.mpf("0.0185"))

    with mpmath.workdps(50):
        values = {"eps": mpmath.mpf("1e-4"), "Re": mpmath.mpf(10**5)}
        slope = mpmath.diff(lambda x: root({**values, name: x}), values[name])
    assert found.results[0].value == pytest.approx(float(root(values)), rel=1e-14)
    assert found.results[0].budget[name].sensitivity == pytest.approx(float(slope), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "point", "unknowns", "kind", "told"),
    [
        ("x**2 = a", {"a": "2±0.1", "x": "1±0.1"}, ["x"], "point", "`x` is an unknown: "),
        ("x**2 = a", {"a": "-2±0.1"}, ["x"], "domain", "no solution"),
        ("x**2 = a", {"a": "0±0.1"}, ["x"], "derivative", "multiple root"),
        ("x**2 = a", {"a": 2, "x": 1}, ["x"], "point", "no value has an uncertainty"),
        ("x**2 = a; x + y = 2", {"a": "2±0.1", "y": 1}, ["x"], "usage", "2 equations"),
    ],
)
def test_what_is_no_implicit_model_is_refused(
    text: str, point: Mapping[str, Any], unknowns: list[str], kind: str, told: str
) -> None:
    with pytest.raises(ExpressionError, match=told) as caught:
        propagate(text, point, unknowns=unknowns)
    assert caught.value.kind == kind


# ---- what was fitted ----------------------------------------------------------------------------------------------
LINE = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": [1.1, 2.9, 5.2, 6.8, 9.1]}


def test_a_fitted_line_is_as_uncertain_at_a_place_as_its_band_says() -> None:
    found = estimates_of_fit(autodiff_cli.fit("y = a + b*x", data=LINE).to_dict())
    # the standard error of a straight line's mean at x0, from any book on regression
    n, x = len(LINE["x"]), np.array(LINE["x"])
    slope, offset = np.polyfit(x, LINE["y"], 1)
    s = math.sqrt(np.sum((np.array(LINE["y"]) - offset - slope * x) ** 2) / (n - 2))
    for place in (-1.0, 2.0, 7.0):
        result = propagate("a + b*x", {"x": place}, fitted=found).results[0]
        band = s * math.sqrt(1 / n + (place - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
        assert result.value == pytest.approx(offset + slope * place, rel=1e-12)
        assert result.uncertainty == pytest.approx(band, rel=1e-10)
        assert result.dof == pytest.approx(n - 2, rel=1e-9)


def test_of_what_was_fitted_only_what_is_used_and_not_typed_counts() -> None:
    fitted = autodiff_cli.fit("y = a + b*x", data=LINE)
    found = estimates_of_fit(fitted.to_dict())
    alone = propagate("2*b", fitted=found)
    assert list(alone.inputs) == ["b"] and not alone.warnings
    typed = propagate("a + b", at("b=2.0±0.1"), fitted=found)
    assert typed.inputs["b"].uncertainty == 0.1 and not typed.correlation
    assert typed.inputs["a"].uncertainty == fitted.parameters["a"].error
    held = autodiff_cli.fit("y = a + b*x", data=LINE, fix="a=1")
    assert list(propagate("a + b", fitted=estimates_of_fit(held.to_dict())).inputs) == ["b"]
    assert (
        autodiff_cli.propagate("a + b", fit=fitted).results[0]
        == propagate("a + b", fitted=found).results[0]
    )


@pytest.mark.parametrize(
    ("options", "normal"),
    [
        ({"sigma": 0.2}, True),
        ({"sigma": "s", "level": 0.99}, True),
        ({"sigma": 0.2, "loss": "huber"}, True),
        ({}, False),
        ({"weights": "s"}, False),
        ({"level": 0.5}, False),
    ],
)
def test_the_coverage_factor_is_the_one_that_the_fit_took(
    options: dict[str, Any], normal: bool
) -> None:
    fitted = autodiff_cli.fit(
        "y = a + b*x", data={**LINE, "s": [0.1, 0.2, 0.1, 0.3, 0.1]}, **options
    )
    level = options.get("level", 0.95)
    (found,) = propagate("b", {}, fitted=estimates_of_fit(fitted.to_dict()), level=level).results
    interval = fitted.parameters["b"].interval
    assert interval is not None
    assert found.expanded == pytest.approx((interval[1] - interval[0]) / 2, rel=1e-9)
    assert found.k == pytest.approx(coverage_factor(level, math.inf if normal else 3), rel=1e-12)


def test_a_fit_with_as_many_rows_as_parameters_and_known_uncertainties() -> None:
    fitted = autodiff_cli.fit("y = a + b*x", data={"x": [0.0, 1.0], "y": [1.0, 3.0]}, sigma=0.1)
    (found,) = propagate("b", {}, fitted=estimates_of_fit(fitted.to_dict())).results
    assert found.uncertainty == pytest.approx(0.1 * math.sqrt(2)) and math.isinf(found.dof)


@pytest.mark.parametrize("record", [None, [], {}, {"parameters": {"a": 1}}, {"value": 3}, "fit"])
def test_a_file_that_holds_no_fit_is_refused(record: object) -> None:
    with pytest.raises(ExpressionError, match="not an answer of `fit`"):
        estimates_of_fit(record)


@pytest.mark.parametrize(
    ("text", "point", "samples"),
    [
        ("x*1e200", {"x": "1±0.1"}, None),
        ("x*1e308", {"x": "1±0.1"}, None),
        ("x - y", {"x": "1e200±1e180", "y": "1e200±1e180"}, None),
        ("x", {"x": "1e160±1e155"}, None),
        ("x*y", {"x": "1±0.1", "y": "1e308"}, 2000),
        ("x + y", {"x": "1±1e-3", "y": "1e308"}, 2000),
    ],
)
def test_what_is_too_large_to_be_squared_is_an_error(
    text: str, point: dict[str, str], samples: int | None
) -> None:
    if samples:
        pytest.importorskip("numpy")
    values = {name: quantity(name, value) for name, value in point.items()}
    with pytest.raises(ExpressionError) as caught:
        propagate(text, values, samples=samples)
    assert caught.value.kind == "overflow"


@pytest.mark.parametrize(("power", "moment"), [(2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0)])
def test_the_places_along_an_input_have_the_moments_of_a_normal_distribution(
    power: int, moment: float
) -> None:
    assert 2 * sum(weight * place**power for place, weight in GAUSS_HERMITE) == pytest.approx(
        moment, rel=1e-14
    )


@pytest.mark.parametrize(
    ("text", "uncertainty"),
    [
        ("5±0.1 (2σ)", 0.05),
        ("5±0.1 (2 sigma)", 0.05),
        ("5±0.3(3σ)", 0.1),
        ("5 ± 2% (2σ)", 0.05),
        ("(5±0.1)", 0.1),
    ],
)
def test_standard_deviations_behind_an_uncertainty_are_a_coverage_factor(
    text: str, uncertainty: float
) -> None:
    (result,) = autodiff_cli.propagate("x", {"x": text}).results
    assert (result.value, result.uncertainty) == pytest.approx((5.0, uncertainty), rel=1e-12)


@pytest.mark.parametrize("command", [["1e-3 in %"], ["x*3 to percent"], ["--lenient", "1e-3 in %"]])
def test_per_cent_is_not_taken_for_inches(command: list[str]) -> None:
    answer = autodiff(*command)
    assert answer.code == 2 and "per cent is 1/100" in answer.err


def test_a_session_does_not_take_per_cent_for_inches() -> None:
    answer = autodiff("repl", stdin="1e-3 in %\n3 in in mm\n")
    assert "per cent is 1/100" in answer.err + answer.out and "76.2 mm" in answer.out
    assert "e-07" not in answer.out
