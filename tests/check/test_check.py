"""How far `check` can be trusted itself: the digits it claims are there, and it notices what is
wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from autodiff_cli.capabilities.check.check import Check, check
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.table.primitive import FUNCTIONS
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language import builder
from autodiff_cli.questions.digits import (
    ZERO,
    KnownNumber,
    correct_digits,
    ridders,
    sides,
    verdict,
)
from counting import calls
from places import TESTS
from running import autodiff

ROWS = [
    json.loads(row)
    for row in (TESTS / "corpora" / "checked.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Programs and points with references to 25 digits: of the tutorials of the field, of functions at
their edges (mpmath, 60 digits, at the decimals as written), and of formulas that lose digits
(mpmath, 400 digits).
"""

ILL_CONDITIONED = 12
"""How many of them, at the end, lose digits."""


def answer(row: dict[str, Any]) -> Check:
    return check(row["program"], {name: float(x) for name, x in row["point"].items()})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["program"][:40])
def test_the_digits_that_are_claimed_are_there(row: dict[str, Any]) -> None:
    for each in answer(row).quantities:
        true = mpf(row["gradient"][each.name] if each.name else row["value"])
        with mp.workdps(40):
            error = abs(mpf(each.computed) - true)
            assert not each.digits or error <= mpf(0.51) * mpf(10) ** -each.digits * abs(true), (
                each,
                true,
            )
            assert each.digits <= each.kept
            if each.kept < 15 and true:
                assert error >= mpf(10) ** (-each.digits - 3) * abs(true), (
                    "and hardly more than are claimed"
                )


@pytest.mark.parametrize("row", ROWS[:-ILL_CONDITIONED], ids=lambda row: row["program"][:40])
def test_well_conditioned_programs_agree(row: dict[str, Any]) -> None:
    told = answer(row)
    assert told.agrees, told
    for each in told.quantities[1:]:
        if (
            each.difference is not None
            and each.difference_error is not None
            and abs(each.computed) > 1e-300
        ):
            assert each.difference == pytest.approx(
                each.computed, rel=1e-5, abs=100 * each.difference_error + 1e-10
            )


LOSSES = [
    # program, point, digits of the value, the piece that is blamed, a word of the hint
    ("sqrt(x**2 + 1) - x", {"x": 1e8}, 0, "sqrt(x**2 + 1) - x", "multiply out"),
    ("3*(sqrt(x**2 + 1) - x)", {"x": 1e5}, 5, "sqrt(x**2 + 1) - x", "multiply out"),
    ("log(1 + exp(x))", {"x": -40}, 0, "log(1 + exp(x))", "softplus"),
    ("log(1 + x)*2", {"x": 1e-12}, 4, "log(1 + x)", "log1p"),
    ("log(exp(x) + exp(y))", {"x": 1e-9, "y": -21.0}, 7, "log(exp(x) + exp(y))", "logsumexp"),
    ("sin(exp(x) - 1)", {"x": 1e-10}, 6, "exp(x) - 1", "expm1"),
    ("(1 - cos(x))/x**2", {"x": 1e-7}, 2, "1 - cos(x)", "2*sin(x/2)**2"),
    ("1 - erf(x)", {"x": 5.5}, 2, "1 - erf(x)", "erfc"),
    ("(x + y) - x", {"x": 1e16, "y": 0.1}, 0, "(x + y) - x", "nearly equal"),
    ("sin(x*1e15 + 0.5)", {"x": 3.3}, 0, "sin(x*1e15 + 0.5)", "rounding of its input"),
]


@pytest.mark.parametrize(("text", "point", "digits", "piece", "hint"), LOSSES)
def test_where_digits_were_lost(
    text: str, point: dict[str, float], digits: int, piece: str, hint: str
) -> None:
    told = check(text, point)
    assert told.quantities[0].kept == pytest.approx(digits, abs=1)
    lost = [warning for warning in told.warnings if warning.kind == "lost_digits"]
    assert lost
    span = lost[0].span
    assert span is not None and text[span.start : span.end] == piece
    assert lost[0].hint is not None and hint in lost[0].hint


def test_roundings_of_a_point_and_of_a_constant_that_cancel_leave_no_digits() -> None:
    """At the decimal 2.852 the double is right to 17 digits, at the double that was read to 15.3
    and 14.3.
    """
    assert [each.digits for each in check("1/(x-pi)", {"x": 2.852}).quantities] == [15, 14]
    assert [each.digits for each in check("x - 0.3", {"x": 0.3}).quantities] == [16, 16]
    with mp.workdps(40):
        for k in range(100):
            x = 2.5 + k / 500
            value, slope = check("1/(x-pi)", {"x": x}).quantities
            for exact, each in ((1 / (x - mp.pi), value), (-1 / (x - mp.pi) ** 2, slope)):
                assert each.digits is not None
                assert abs((each.computed - exact) / exact) <= mp.mpf(10) ** -each.digits / 2, (
                    x,
                    each,
                )


def test_a_derivative_that_loses_digits_while_the_value_keeps_them() -> None:
    told = check("x*1e16*y - x*1e16*y + sin(x)", {"x": 0.7, "y": 0.3})
    assert [each.kept > 14 for each in told.quantities] == [True, False, True]
    assert "the contributions to the adjoint of `x` cancel" in told.warnings[0].message


KINKS = [
    ("abs(x)", 0.0, "a kink: slope -1.0 on the left, 1.0 on the right"),
    ("relu(x) + x", 0.0, "a kink: slope 1.0 on the left, 2.0 on the right"),
    ("max(x, 1)", 1.0, "a kink: slope 0 on the left, 1.0 on the right"),
    ("elu(x, 3)", 0.0, "a kink: slope 3.0 on the left, 1.0 on the right"),
    ("x if x > 0 else 2*x", 0.0, "a kink: slope 2.0 on the left, 1.0 on the right"),
    ("x**1.5", 0.0, "one-sided: the function ends here"),
    ("floor(x)", 2.0, "a jump: from 1.0 to 2.0"),
    ("x*abs(x)", 0.0, ""),
]


@pytest.mark.parametrize(("text", "x", "remark"), KINKS)
def test_kinks_and_one_sided_points_are_said_and_are_no_failures(
    text: str, x: float, remark: str
) -> None:
    told = check(text, {"x": x})
    assert told.agrees
    assert told.quantities[1].remark == remark


def test_conventions_that_miss_the_derivative_have_no_right_digits() -> None:
    # Its sides have a derivative in common only beside the parabolas, which their slopes cannot
    # tell apart.
    _, slope, _ = check("relu(x + y**2) - relu(y**2 - x)", {"x": 0.0, "y": 0.0}).quantities
    assert (slope.computed, slope.digits, slope.agrees) == (0.0, None, False)
    assert slope.remark.startswith("wrong: differences in") and slope.remark.endswith("give 1.0")


def test_a_wrong_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same wrong rule serves both arithmetics; differences of the values in many digits find
    it.
    """
    wrong = FUNCTIONS["sin"]._replace(
        partials=(lambda m, x, out: m.cos(x) * (1 + m.number(1) / 10**9),)
    )
    monkeypatch.setitem(builder.SIMPLE, "sin", wrong)
    told = check("x*sin(x)", {"x": 1.0})
    assert not told.agrees
    assert told.quantities[0].agrees and not told.quantities[1].agrees
    assert told.quantities[1].remark.startswith("wrong: differences in 150 digits give 1.38177")


def test_a_wrong_value_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = REAL.sin
    monkeypatch.setitem(REAL.__dict__, "sin", lambda x: exact(x) * (1 + 1e-5))
    told = check("x*sin(x)", {"x": 1.0})
    assert not told.agrees and told.quantities[0].digits == 4


def test_as_many_digits_as_it_takes() -> None:
    assert check("(x + 1e300) - 1e300", {"x": 1e-200}).precision == 800
    assert check("x + 1", {"x": 1.0}).precision == 50


def test_rounding_that_decides_or_makes_a_value() -> None:
    told = check("1 if (x + 1) - 1 == x else 0", {"x": 0.1})
    assert not told.agrees
    assert [warning.message for warning in told.warnings] == [
        "rounding decides this comparison: in exact arithmetic its result is the opposite"
    ]
    told = check("1/((x + 1) - 1 - x)", {"x": 0.1})
    assert not told.agrees and not told.quantities
    assert "this has no value" in told.warnings[0].message


def test_condition_numbers() -> None:
    told = check("x**3*y", {"x": 2.0, "y": 5.0})
    assert [each.condition for each in told.quantities] == [None, 3.0, 1.0]
    assert check("x - 1", {"x": 1.0}).quantities[1].condition is None
    condition = check("x - 1", {"x": 1.000001}).quantities[1].condition
    assert condition == pytest.approx(1e6, rel=1e-5)


def test_underflow_is_no_disagreement() -> None:
    told = check("erfc(x)", {"x": 40.0})
    assert told.agrees
    assert {each.remark for each in told.quantities} == {"underflow: too small for a double"}
    assert check("exp(-x)", {"x": 1e9}).agrees


@pytest.mark.parametrize(
    ("computed", "exact", "digits"),
    [(1.0, "1", 16), (1.0, "1.0000000000000001", 15), (1.0, "1.1", 0), (0.0, "0", 16), (1e-17, "0", 0), (0.0, "1", 0),
     (2.5, "2.4999", 4), (1e300, "1e-300", 0), (-1.0, "1", 0)],
)  # fmt: skip
def test_correct_digits(computed: float, exact: str, digits: int) -> None:
    assert correct_digits(computed, Multiprecision(50, decimals=True).literal(exact)) == digits


@given(
    st.floats(-5, 5),
    st.sampled_from(["sin", "exp", "tanh", "atan", "sigmoid", "erf", "softplus", "gelu"]),
)
@settings(max_examples=60, deadline=None)
def test_differences_have_the_error_that_they_claim(x: float, name: str) -> None:
    function = getattr(REAL, name)
    slope = check(f"{name}(x)", {"x": x}).gradient["x"]
    found = ridders(lambda t: float(function(t)), x)
    assert found.slope is not None and found.error is not None
    assert abs(found.slope - slope) <= 50 * found.error + 1e-11
    assert abs(found.slope - slope) <= 1e-8


def test_many_variables_and_large_graphs_take_time_in_proportion() -> None:
    text = " + ".join(f"x{k}*sin(x{k + 1})" for k in range(300))
    told = check(text, {f"x{k}": 0.1 * k for k in range(301)})
    assert told.agrees
    assert any(each.remark == "no differences: too many variables" for each in told.quantities)
    small = calls(lambda: check("x" + "*1.0001" * 500, {"x": 1.0}))
    large = calls(lambda: check("x" + "*1.0001" * 5000, {"x": 1.0}))
    assert large < 15 * small


def test_exit_codes() -> None:
    assert autodiff("check", "x*y", "--at", "x=1,y=2").code == 0
    assert autodiff("check", "sqrt(x**2+1)-x", "--at", "x=1e8").code == 1
    assert autodiff("check", "sqrt(x**2+1)-x", "--at", "x=1000", "--require", "12").code == 1
    assert autodiff("check", "--at", "x=1e8", stdin="x\nsqrt(x**2+1)-x\n").code == 1
    assert autodiff("check", "--at", "x=1e8", stdin="sqrt(x**2+1)-x\nlog(-x)\n").code == 4


def test_errors_are_those_of_the_gradient() -> None:
    for text, kind in (
        ("log(x)", "domain"),
        ("x +", "syntax"),
        ("x*y", "missing_value"),
        ("sqrt(x + 1)", "derivative"),
    ):
        with pytest.raises(ExpressionError) as caught:
            check(text, {"x": -1.0})
        assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("function", "slope", "x"),
    [
        (math.log, lambda x: 1 / x, 1e-6),
        (math.log, lambda x: 1 / x, 1e-200),
        (math.sqrt, lambda x: 0.5 / math.sqrt(x), 1e-9),
        (math.asin, lambda x: 1 / math.sqrt((1 - x) * (1 + x)), 1 - 1e-7),
        (math.acosh, lambda x: 1 / math.sqrt((x - 1) * (x + 1)), 1 + 1e-7),
        (lambda x: math.log(5 - x), lambda x: -1 / (5 - x), 5 - 1e-4),
    ],
)
def test_differences_near_the_edge_of_a_domain_stay_inside_it(
    function: Callable[[float], float], slope: Callable[[float], float], x: float
) -> None:
    def value(z: float) -> float | None:
        try:
            return function(z)
        except ValueError:
            return None

    found = ridders(value, x)
    assert found.slope is not None and found.error is not None
    assert abs(found.slope - slope(x)) <= 1.01 * found.error + 1e-14 * abs(slope(x))
    assert found.error < 1e-6 * abs(slope(x))


@pytest.mark.parametrize(("start", "none"), [(0.0, True), (0.25, False)])
def test_at_the_edge_itself_there_are_no_differences(start: float, none: bool) -> None:
    def value(z: float) -> float | None:
        return math.sqrt(z) if z >= 0 else None

    assert (ridders(value, start).slope is None) is none
    assert (sides(value, start, 1e-5) is None) is none
    around = sides(lambda z: None if z > 1 else z * z, 1.0, 1e-5)
    assert around is None, "values on the left alone are no difference"


@pytest.mark.parametrize(
    ("text", "x", "piece", "value"),
    [("log(1 + exp(x))", 1000.0, "exp(x)", "1000.0"), ("log(exp(x))", -800.0, "log(exp(x))", "-800.0"),
     ("sqrt(x**2 + 1)", 1e200, "x**2", "1.0e+200")],
)  # fmt: skip
def test_overflow_and_underflow_on_the_way_say_what_the_value_is(
    text: str, x: float, piece: str, value: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        check(text, {"x": x})
    assert str(caught.value).endswith(f"; in 50 digits the program has the value {value}")
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == piece


def test_json_is_strict_and_hostile_text_is_escaped() -> None:
    text = "# | <b> ` [x]\nsqrt(x_1**2 + 1) - abs(x_1)"
    result = autodiff("check", text, "--at", "x_1=-1e8", "--format", "markdown")
    rows = [row for row in result.out.splitlines() if row.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}
    assert "`sqrt(x_1**2 + 1) - abs(x_1)`" in result.out
    record = json.loads(autodiff("check", "1/x", "--at", "x=1e-300", "--json").out)
    assert json.dumps(record, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "x", "slope"),
    [
        # values that cancel, whose rounding is larger than they are
        ("sqrt(x**2 + 1) - x", 266331.294, -7.048969087432499e-12),
        ("sqrt(x**2 + 1) - x", 1e8, -5e-17),
        # a pole nearer than the first steps, and waves shorter than they are
        ("1/(x - 0.22500000022500002)", 0.225, -1 / (0.225 - 0.22500000022500002) ** 2),
        ("(1 - cos(x))/x**2", 72460.0, 1.4112151055513069e-10),
    ],
)
def test_differences_know_the_rounding_of_values_and_what_is_near(
    text: str, x: float, slope: float
) -> None:
    _, partial = check(text, {"x": x}).quantities
    assert partial.difference is not None and partial.difference_error is not None
    assert abs(partial.difference - slope) <= 3 * partial.difference_error + 1e-9 * abs(slope)


@pytest.mark.parametrize(
    ("computed", "is_zero"), [(0.9, True), (-0.9, True), (1.1, False), (5.0, False), (-5.0, False)]
)
def test_what_is_computed_for_zero_is_at_most_the_rounding(computed: float, is_zero: bool) -> None:
    rounding = 3e-16
    number = verdict(KnownNumber(computed * rounding, mpf(0), [], rounding=rounding), 6)
    assert number.agrees == is_zero and (number.remark == ZERO) == is_zero
