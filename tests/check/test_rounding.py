"""Warnings of lost digits: none is missing where digits were lost, and none is given where they
were not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import autodiff_cli
from autodiff_cli.capabilities.derivatives import hessian
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers import budget
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.run.evaluation import Evaluation
from autodiff_cli.errors import Diagnostic, ExpressionError
from autodiff_cli.questions import digits as check
from autodiff_cli.questions import rounding
from autodiff_cli.questions.digits import relative_error
from autodiff_cli.questions.problem import parse
from running import autodiff

LOSE = [
    # program, point, the numbers that the warnings name, a part of them or of their hints
    (
        "sqrt(x**2 + 1) - x",
        {"x": 1e8},
        "the value and the derivative by `x` have no",
        "multiply out",
    ),
    (
        "(1 - cos(x))/x**2",
        {"x": 1e-8},
        "the value and the derivative by `x` have no",
        "2*sin(x/2)**2",
    ),
    ("(1 - cos(x))/x**2", {"x": 1e-4}, "the derivative by `x` has no", "2*sin(x/2)**2"),
    ("log(1 + x)", {"x": 1e-18}, "the value has no", "log1p"),
    ("sin(x*1e20)", {"x": 1 / 3}, "the value and the derivative by `x` have no", "magnifies"),
    ("1e16 + x - 1e16", {"x": 0.3}, "the value has no", "nearly equal"),
    ("x*y - z", {"x": 1 / 3, "y": 3e10, "z": 1e10}, "the value has no", "nearly equal"),
    ("exp(-x)*exp(x/2)", {"x": 1400.0}, "the value and the derivative by `x` have no", "too small"),
    ("2 if 3*x - 1 < 0 else x", {"x": 1 / 3}, "rounding decides this comparison", "margin"),
    ("relu(1 - 3*x) + 1", {"x": 1 / 3}, "the derivative by `x` has no", "nearly equal"),
    ("floor(3*x) + x", {"x": 1 / 3}, "the value has no", "floor"),
    (
        "sqrt(3*x - 1 + 1e-17)",
        {"x": 1 / 3},
        "computed without rounding, this has no value",
        "artefact",
    ),
    (
        "c = 0.1 + 0.2 - 0.3; c*x",
        {"x": 1.0},
        "the value and the derivative by `x` have no",
        "nearly equal",
    ),
    (
        "sin(2*pi*50*t)",
        {"t": 0.005},
        "the derivative by `t` has no",
        "the derivative of `sin` magnifies",
    ),
    ("(x + y) - x", {"x": 1e10, "y": 3.14159e-3}, "the value has at least", "nearly equal"),
    # the phase is lost at an extremum of cos, and where all doubles are zeros of sinc
    ("x + sinc(x + y)", {"x": -78.2454298, "y": 1e16}, "the derivative by `y` has no", "magnifies"),
    ("cos(x + y)", {"x": -78.2454298, "y": 1e16}, "the derivatives by", "magnifies"),
    # 1 - tanh(60) is 0 in doubles, and so are its power and the slopes of that beside it
    ("heaviside((1 - tanh(x))**abs(y)/7)", {"x": 60.0, "y": 77.0}, "the value has no", "sigmoid"),
]
KEEP = [
    ("x**2 - 9", {"x": 3.0}),
    ("sin(x)**2 + cos(x)**2 - 1", {"x": 0.3}),
    ("sin(pi)", {}),
    ("(x - 1)**2", {"x": 1.0}),
    ("relu(x) + abs(x)", {"x": 0.0}),
    ("exp(-x)", {"x": 800.0}),
    ("x*0.1", {"x": 3.0}),
    ("tanh(x)", {"x": 30.0}),
    ("x - x", {"x": 0.1}),
    ("max(x, y, 0.3)", {"x": 0.3, "y": 0.1}),
    ("2 if x < 0.1 else 3*x", {"x": 0.1}),
    ("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 1.0, "w2": 5.0}),
    ("0.3*x - 0.21", {"x": 0.7}),  # 0 at the decimals, not at the doubles
    ("sin(x*1e20)", {"x": 0.3}),
    ("x if 3*x - 1 < 0 else 1*x", {"x": 1 / 3}),  # rounding decides, and nothing depends on it
    ("sqrt(x)", {"x": 1e-300}),
    ("x*abs(x)", {"x": 0.0}),  # sides that agree
    ("where(x == 0, 1, sin(x)/x)", {"x": 0.0}),
    ("max(0.3*x, 0.1*x*3)", {"x": 1.0}),  # equal in decimals
    ("cos(x)", {"x": 1e16}),
]


def warnings(text: str, point: dict[str, float]) -> list[Diagnostic]:
    return [warning for warning in gradient(text, point).warnings if warning.kind == "lost_digits"]


@pytest.mark.parametrize(("text", "point", "named", "part"), LOSE)
def test_lost_digits_are_reported(
    text: str, point: dict[str, float], named: str, part: str
) -> None:
    found = warnings(text, point)
    assert any(named in each.message and part in f"{each.message} {each.hint}" for each in found), (
        found
    )
    assert all("`grad --precision 30`" in (each.hint or "") for each in found)


@pytest.mark.parametrize(("text", "point"), KEEP)
def test_no_warning_where_digits_are_right(text: str, point: dict[str, float]) -> None:
    assert warnings(text, point) == []


CANCEL = (
    "({f}(x+{h})-{f}(x))/{h}", "{f}({g}(x)-{g}(x+{h}))", "(1-cos(x))/x**2", "sqrt(x**2+{h})-x",
    "log(1+x*{h})", "max({f}(x), {f}(x+{h})) - {f}(x)", "(x+{h})-x", "relu({f}(x+{h})-{f}(x))",
    "tan(x)-sin(x)", "{f}(x)**2+{g}(x)**2-1",
)  # fmt: skip
doubles, decimals = Multiprecision(400), Multiprecision(400, decimals=True)
FUNCTIONS = st.sampled_from(
    ["sin", "cos", "exp", "sqrt", "atan", "tanh", "log", "erf", "cbrt", "expm1"]
)


@given(st.sampled_from(CANCEL), FUNCTIONS, FUNCTIONS, st.integers(1, 12), st.floats(1e-9, 1e9))
@settings(max_examples=100, deadline=None)
def test_a_warning_means_lost_digits_and_none_that_they_are_right(
    form: str, f: str, g: str, n: int, x: float
) -> None:
    text = form.format(f=f, g=g, h=f"1e-{n}")
    try:
        answer = gradient(text, {"x": x})
    except ExpressionError:
        assume(False)
    graph = parse(text, {"x": x}).graph
    readings = []
    for m, at in ((doubles, doubles.number(x)), (decimals, decimals.literal(repr(x)))):
        exact = value_and_gradient(m, graph, {"x": at}, ["x"])
        assume(not exact.kinks and min(abs(exact.value), abs(exact.gradient["x"])) > 1e-290)
        readings.append((exact.value, exact.gradient["x"]))
    computed = answer.value, answer.gradient["x"]
    worst = [max(map(relative_error, computed, exact)) for exact in readings]
    if any(warning.kind == "lost_digits" for warning in answer.warnings):
        assert min(worst) > 1e-7
    else:
        assert min(worst) < 1e-5


def test_other_commands_warn_alike() -> None:
    text, point = "sqrt(x**2 + 1) - x", "x=1e8"
    for command, options, part, parts in (
        ("graph", (), "the value and the derivative by `x` have no reliable digit", 1),
        ("jacobian", (), "the value and the derivative by `x` have no reliable digit", 1),
        (
            "jacobian",
            ("--direction", "x=1"),
            "the product for `sqrt(x**2 + 1) - x` have no reliable digit",
            1,
        ),
        (
            "jacobian",
            ("--adjoint", "1"),
            "the value of `sqrt(x**2 + 1) - x`, the gradient by `x` have no reliable digit",
            1,
        ),
        ("hessian", (), "by rounding, the second derivative by `x` has no reliable digit", 2),
        ("propagate", (), "the value and the derivative by `x` have no reliable digit", 1),
    ):
        at = f"{point}+-1" if command == "propagate" else point
        found = autodiff(command, text, "--at", at, *options)
        assert part in found.err and found.err.count("--precision 30") == parts, (
            command,
            found.err,
        )
        digits = () if command in ("graph", "propagate") else ("--precision", "30")
        assert (
            not digits
            or "reliable" not in autodiff(command, text, "--at", point, *options, *digits).err
        )


def test_a_value_needs_digits_of_its_uncertainty_only() -> None:
    for text, at in (
        ("a*x + b", "a=0.1±0.01,x=3±0.1,b=-0.3±0.01"),
        ("x + y - z", "x=(0.1±0.01) m,y=(0.2±0.01) m,z=(0.3±0.01) m"),
        ("U*I - P", "U=1.1±0.1,I=1.1±0.1,P=1.21±0.01"),
    ):
        assert "digit" not in autodiff("propagate", text, "--at", at).err
    found = autodiff("propagate", "1e16 + x - 1e16", "--at", "x=0.3±0.01")
    assert "the value has no reliable digit" in found.err


def test_an_output_is_checked_with_its_own_variables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = list[str]()
    number = check.known_number

    def record(doubles: Evaluation, references: Any, name: str) -> check.KnownNumber:
        checked.append(name)
        return number(doubles, references, name)

    monkeypatch.setattr(check, "known_number", record)
    text = "exp(x) - 1 - x, y**2, exp(z) - 1 - z"
    answer = autodiff_cli.jacobian(text, {"x": 1e-9, "y": 2, "z": 1e-9})
    assert len(answer.warnings) == 2
    assert checked == ["", "x", "", "z"]


def test_seeds_may_be_expressions() -> None:
    text, point = "exp(x) - 1 - x", {"x": 1e-5}
    for answer in (
        autodiff_cli.jacobian(text, point, direction={"x": "1/2"}),
        autodiff_cli.jacobian(text, point, adjoint=["1/2"]),
    ):
        assert [warning.kind for warning in answer.warnings] == ["lost_digits"]


@pytest.mark.parametrize("x", ["1e-9", "1e-5", "-2.000000001"])
def test_second_derivatives_that_take_more_digits_themselves_are_right(x: str) -> None:
    assert "digit" not in autodiff("hessian", "beta(x, y)", "--at", f"x={x},y=2.3").err


def test_the_errors_of_a_large_hessian_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("they take longer than the matrix")

    names = [f"x{i}" for i in range(hessian.MAX_EIGENVALUES + 1)]
    monkeypatch.setattr(hessian, "_with_errors", fail)
    answer = autodiff_cli.hessian(
        " + ".join(f"{name}**3" for name in names), dict.fromkeys(names, 0.1)
    )
    assert [warning.kind for warning in answer.warnings] == ["limit"]


def test_a_stream_is_not_checked_and_python_is() -> None:
    lines = autodiff("grad", "--at", "x=1e8", "--format", "plain", stdin="sqrt(x**2 + 1) - x\n")
    assert (lines.out, lines.err) == ("0.0 x=0.0\n", "")
    answer = autodiff_cli.gradient("sqrt(x**2 + 1) - x", {"x": 1e8})
    assert [warning.kind for warning in answer.warnings] == ["lost_digits"]


def test_too_large_a_graph_is_not_checked_which_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "MAX_BOUNDED_NODES", 3)
    assert warnings("sqrt(x**2 + 1) - x", {"x": 1e8}) == []
    (note,) = gradient("sqrt(x**2 + 1) - x", {"x": 1e8}).warnings
    assert (note.kind, note.message) == (
        "note",
        "the digits are not checked: the program has 7 nodes",
    )


def test_a_check_that_takes_too_much_work_is_left_out_and_the_rest_is_as_before() -> None:
    with budget.use_budget() as work:
        left = work.left
        with pytest.raises(budget.BudgetExceeded), budget.use_share(0.25):
            budget.charge(0.26 * left)
        assert work.left == pytest.approx(left)
        with budget.use_share(0.25):
            budget.charge(0.24 * left)
        assert work.left == pytest.approx(0.76 * left)


UNSETTLED: list[tuple[str, dict[str, float], str, Callable[[Any], Any]]] = [
    # an extremum, where the first-order bound is 0 however large the error of the argument
    ("y*(1 + ((x + 1e16) - 1e16)**2)", {"x": 0.9, "y": 2.0}, "x", lambda x: 4 * x),
    ("cosh((x + 1e16) - 1e16)", {"x": 0.9}, "x", mpmath.sinh),
    # a periodic function of an argument whose phase is lost
    (
        "y + sinc(x**3)",
        {"x": 1234567.8, "y": 1.0},
        "x",
        lambda x: mpmath.diff(lambda u: mpmath.sincpi(u**3), x),
    ),
    (
        "cos(gamma(x))",
        {"x": 91.8},
        "x",
        lambda x: -mpmath.sin(mpmath.gamma(x)) * mpmath.gamma(x) * mpmath.psi(0, x),
    ),
    (
        "tan(gamma(x))",
        {"x": 80.0},
        "x",
        lambda x: mpmath.sec(mpmath.gamma(x)) ** 2 * mpmath.gamma(x) * mpmath.psi(0, x),
    ),
    # what takes more digits than there are, or more work
    (
        "sum((1 - cos(x*i))/(x*i)**2, i, 1, 100)",
        {"x": 1e-8},
        "x",
        lambda x: -mpmath.fsum(i**2 * x / 12 for i in range(1, 101)),
    ),
]
"""Formulas with their derivatives by hand, where doubles have not one digit of these."""


@pytest.mark.parametrize(
    ("text", "at", "name", "derivative"), UNSETTLED, ids=[text for text, *_ in UNSETTLED]
)
def test_lost_digits_that_are_not_settled_are_said(
    text: str, at: dict[str, float], name: str, derivative: Callable[[Any], Any]
) -> None:
    answer = autodiff_cli.gradient(text, at)
    with mpmath.workdps(400):
        exact = derivative(mpmath.mpf(at[name]))
        assert abs(answer.gradient[name] - exact) > 1e-6 * abs(exact)
    assert [warning.kind for warning in answer.warnings] == ["lost_digits"]


FAR_BELOW: list[tuple[str, dict[str, float], str, float]] = [
    # 50 digits and 100 agree, and neither reach what decides a branch, a whole number or a
    # difference
    ("where(x + 2*y > x, x**4, x)", {"x": 1.0, "y": 1.3e-105}, "x", 4.0),
    ("where(tanh(x) < x, 3*x, x)", {"x": 6e-153}, "x", 3.0),
    (
        "floor(sqrt((x + y)**2 - (x - y)**2))",
        {"x": 2e3, "y": 1.6e109},
        "",
        math.sqrt(4 * 2e3 * 1.6e109),
    ),
    ("ceil(softplus(x))", {"x": -6e136}, "", 1.0),
    ("sign(x**1e5)", {"x": 1e-8}, "", 1.0),
    ("ceil((x**3 + 1e16) - 1e16)", {"x": 4.5e-273}, "", 1.0),
    ("(1 + y/x)**x", {"x": 2.0, "y": -6e-278}, "x", 0.0),  # y**2/4 = 9e-556
    # what shrinks with more digits is not always their rounding error
    ("log(y, tanh(y))", {"y": 3.31e-268}, "y", 3.31e-268 * 2 / 3 / math.log(3.31e-268)),
    (
        "csc(sin(x*1e8)/x)",
        {"x": 6.092e-269},
        "x",
        6.092e-269 / 3e-24 / math.tan(1e8) / math.sin(1e8),
    ),
    # the decimals are 1, to which no number of digits comes but for 185 and more
    ("exp(0.1*x + 0.2*x - 0.3*x)", {"x": 1.1e184}, "", 1.0),
    # the slope of 0**y is 0, and that of 1.8e-32**10 is not
    ("pow(1 - tanh(x), abs(y)) + x", {"x": 36.9, "y": 10.0}, "y", -2.317023296276653e-316),
    # 50 digits end above the half, and at every whole number beside it the slope is the same
    ("((1 - sin(1))/1**3) + sinc(1.5 - x)", {"x": 2e159}, "x", -1 / math.pi / 2e159 / 2e159),
    ("sinc(x + y)", {"x": 2e159, "y": 1.25}, "x", -math.sqrt(0.5) / 2e159),
    # a kink is met, which says nothing of the digits of a derivative beside it
    (
        "atan(where(y < (y + x), (x + 2), (y*x))/sqrt(y))",
        {"x": -0.2, "y": 2.709e216},
        "x",
        1 / (0.2**2 * math.sqrt(2.709e216)),
    ),
]
"""Formulas with a number by hand, where doubles have not one digit of it."""


@pytest.mark.parametrize(
    ("text", "at", "name", "exact"), FAR_BELOW, ids=[text for text, *_ in FAR_BELOW]
)
def test_what_many_digits_leave_out_is_not_right(
    text: str, at: dict[str, float], name: str, exact: float
) -> None:
    answer = autodiff_cli.gradient(text, at)
    computed = answer.gradient[name] if name else answer.value
    assert abs(computed - exact) > 1e-3 * abs(exact)
    assert "lost_digits" in [warning.kind for warning in answer.warnings]


@pytest.mark.parametrize(
    ("text", "at", "name", "exact"),
    [FAR_BELOW[k] for k in (1, 3, 6, -4, -3)],
    ids=lambda x: x if type(x) is str else "",
)
def test_check_proves_its_digits_too(
    text: str, at: dict[str, float], name: str, exact: float
) -> None:
    found = autodiff_cli.check(text, at)
    (number,) = [number for number in found.quantities if number.name == name]
    assert not number.agrees and ((number.kept or 0) < 6 or "undecided" in number.remark), number


HIDDEN = [
    # the function at a kink or on its cut, in exact arithmetic; doubles are beside it
    (
        "atan2(x - ((x + 1e16) - 1e16), x + y)",
        {"x": 49.0, "y": -88.0},
        "`atan2` has no derivative at (0.0, -39.0)",
    ),
    (
        "atan2((x - ((x + 1e16) - 1e16)), sum(y, x))",
        {"x": 49.0, "y": -88.0},
        "`atan2` has no derivative at (0.0, -39.0)",
    ),
    (
        "relu((x + 1e16) - 1e16 - 49 + y) + y",
        {"x": 49.0, "y": 0.0},
        "`relu` has no derivative at 0",
    ),
    ("floor((x + 1e16) - 1e16 + 0.5)*x", {"x": 48.5}, "`floor` has no derivative at 49.0"),
    # doubles are at the kink, and cannot tell its sides
    ("round((ceil(x) + 1e16) - 1e16)*y", {"x": 3.0, "y": 2.0}, "`ceil` has no derivative at 3.0"),
    (
        "n = floor(y); lgamma(n + 1) - lgamma(n)",
        {"y": 1.5e9},
        "`floor` has no derivative at 1500000000.0",
    ),
    ("floor(x**3)", {"x": 1e7}, "`floor` has no derivative at 1e+21"),
    ("1 + 1e-15*floor(x)", {"x": 3.0}, "`floor` has no derivative at 3.0"),
    ("x + 1e-15*abs(x)", {"x": 0.0}, "`abs` has no derivative at 0.0"),
    (
        "where(x < 1, x + 1e-14*x, x)",
        {"x": 1.0},
        "`<` compares equal numbers, 1.0, here: the value jumps by 1e-14",
    ),
    (
        "where(x < 1, x - 1, (1 - 1e-15)*(x - 1))",
        {"x": 1.0},
        "`<` compares equal numbers, 1.0, here: the derivatives by `x` on its sides differ by 1",
    ),
]


@pytest.mark.parametrize(("text", "at", "kink"), HIDDEN)
def test_a_kink_that_rounding_hides_is_named_by_every_command(
    text: str, at: dict[str, float], kink: str
) -> None:
    names, message = [*at], f"may not exist: computed without rounding, {kink}"
    direction = dict.fromkeys(names, 1.0)
    answers = [
        autodiff_cli.gradient(text, at),
        autodiff_cli.jacobian(text, at),
        autodiff_cli.jacobian(text, at, direction=direction),
        autodiff_cli.jacobian(text, at, adjoint=[1.0]),
        autodiff_cli.trace(text, at, mode="forward", direction=direction),
    ]
    for answer in answers:
        (warning,) = [
            warning.message for warning in answer.warnings if "may not exist" in warning.message
        ]
        assert message in warning, warning


def test_a_zero_that_takes_many_digits_from_the_first_on_is_one() -> None:
    assert [*autodiff_cli.hessian("y/y", {"y": -3e-281}).warnings] == []


def test_a_power_that_is_whole_by_rounding_is_not_settled() -> None:
    assert "lost_digits" in [
        w.kind for w in autodiff_cli.gradient("x**erf(12345.678)", {"x": -0.04}).warnings
    ]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("relu(0.5*x - 1)", 2.0),
        ("floor(x/x)", 0.3),
        ("ceil(x/0.3)", 30.0),
        ("floor(100*x)", 0.29),
        ("abs(x - 0.1)", 0.1),
    ],
)
def test_an_edge_that_fractions_decide_is_no_loss(text: str, x: float) -> None:
    assert "lost_digits" not in [
        warning.kind for warning in autodiff_cli.gradient(text, {"x": x}).warnings
    ]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("sin(x)", 1e22),
        ("floor(x**3 + 0.5)", 1e5),
        ("lgamma(x*1e10)", 1.1),
        ("cos(x)**2", 1e-9),
        ("x**2 + 1", 0.0),
    ],
)
def test_large_arguments_that_are_known_lose_nothing(text: str, x: float) -> None:
    assert not autodiff_cli.gradient(text, {"x": x}).warnings


def test_a_second_derivative_that_vanishes_by_more_than_100_digits_is_no_zero() -> None:
    # log(1 + exp(y))'' is exp(-y)/(1 + exp(-y))**2, by hand; a double has 0
    for text, name, x in (("log(1 + exp(y))", "y", 300.0), ("sqrt(x**2 + 1) - x", "x", 1e60)):
        answer = autodiff_cli.hessian(text, {name: x})
        assert answer.hessian == [[0.0]]
        assert any(
            "the second derivative" in w.message and "no reliable digit" in w.message
            for w in answer.warnings
        )
    along = autodiff_cli.jacobian("sqrt(x**2 + 1) - x", {"x": 1e60}, direction={"x": 1})
    assert [warning.kind for warning in along.warnings] == ["lost_digits"]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("exp(-x)", 800.0),
        ("x*exp(-x)", 900.0),
        ("exp(-x**2)", 40.0),
        ("erf(x)", 54.0),
        ("x**10", 8e-236),
    ],
)
def test_what_rounds_to_0_is_right(text: str, x: float) -> None:
    assert [*autodiff_cli.gradient(text, {"x": x}).warnings] == []
    assert [*autodiff_cli.hessian(text, {"x": x}).warnings] == []
    assert [*autodiff_cli.jacobian(text, {"x": x}, direction={"x": 1}).warnings] == []


def test_a_zero_that_is_shown_as_a_rounding_error_is_named() -> None:
    answer = autodiff_cli.gradient("(1/x)*x - 1", {"x": 49})
    assert answer.value == -(2.0**-53)
    assert [warning.message for warning in answer.warnings] == [
        "the value is 0: what is shown is a rounding error"
    ]
    answer = autodiff_cli.gradient("x*(1/y)*(y/x)", {"x": 3.1, "y": 0.7})
    shown = [name for name, slope in answer.gradient.items() if slope]
    assert shown and all(f"`{name}`" in answer.warnings[0].message for name in shown)


def test_digits_that_two_precisions_share_by_chance_settle_nothing() -> None:
    # two terms of 1e301 cancel in the adjoint of x, and absorb the rest in 50 digits as in 100
    program = (
        "((exp2(csc(1e-3)) - acos(x)/gamma(x))*expm1((x - x) + logaddexp(0.5, 0.1))) - (cosh(sec(x"
        " - x)) - atan(x))"
    )
    answer = autodiff_cli.gradient(program, {"x": -3.04e-5})
    assert abs(answer.gradient["x"] + 1.7550174) > 1e-6  # by Arb
    assert "lost_digits" in [warning.kind for warning in answer.warnings]


def test_every_command_that_shows_a_number_checks_it(tmp_path: Path) -> None:
    lost = "the derivative by `x` has no reliable digit"
    for command, text in (
        ("diff", "x/exp(x)"),
        ("diff", "log(1/exp(x))"),
        ("trace", "x/exp(x)"),
        ("plot", "x/exp(x)"),
    ):
        more = ("-o", str(tmp_path / "plot.svg"), "--force") if command == "plot" else ()
        assert lost in autodiff(command, text, "--at", "x=400", *more).err
    assert (
        "along the direction has"
        in autodiff("trace", "x/exp(x)", "--at", "x=400", "--mode", "forward").err
    )
    assert lost in autodiff("descend", "1/exp(x)", "--at", "x=400", "--steps", "1").err
    second = autodiff(
        "diff", "(exp(x) - 1 - x)/x", "--at", "x=1e-6", "--order", "2", "--everywhere"
    )
    assert "the derivative by `x`, `x` has no reliable digit" in second.err
    implicit = autodiff("diff", "y*x**2 = exp(x) - 1 - x", "--for", "y", "--at", "x=1e-8,y=0.5")
    assert "the derivative of `y` by `x` has no reliable digit" in implicit.err


def test_a_search_that_ends_without_digits_has_not_converged() -> None:
    for text, x in (("1/exp(x)", 400), ("(1 - cos(x))/x**2", 1e-8)):
        end = autodiff_cli.minimize(text, {"x": x})
        assert (end.converged, end.reason, end.verdict) == (False, "digits", "")
        assert [warning.kind for warning in end.warnings] == ["lost_digits"]
    for text, x in (
        ("(exp(x) - 2)**2", 1.0),
        ("exp(x) - 2*x", 1.0),
        ("(x - 3)**2", 3.0),
        ("exp(x) - 2*x", 0.693147),
    ):
        end = autodiff_cli.minimize(text, {"x": x})
        assert end.converged and not end.warnings


# ---- curves and rows of data
SHORT_WAVES = {"x": [1e-8, 2e-8, 3e-8], "y": [0.5, 0.5, 0.4]}
"""Rows in which `(1 - cos(x))/x**2` is 0.5, and about 0, 1.1 and 0.5 in doubles: the least squares
are at 14/15.
"""


@pytest.mark.parametrize(
    ("program", "ends", "lost"),
    [
        (
            "(1 - cos(x))/x**2",
            (1e-9, 1e-7),
            "the value and the derivative by `x` have no reliable digit",
        ),
        # -1, and 0 in doubles
        ("log(1/exp(x))", (300, 400), "the derivative by `x` has no reliable digit"),
        ("(exp(x) - 1)/x", (-1, 1), "no reliable digit"),  # drawn down to 0 beside 0, where it is 1
    ],
)
def test_a_curve_of_rounding_errors_is_warned_of(
    program: str, ends: tuple[float, float], lost: str
) -> None:
    curve = autodiff_cli.plot(program, range={"x": ends})
    assert [w for w in curve.warnings if w.kind == "lost_digits" and lost in w.message]


@pytest.mark.parametrize(
    "program",
    [
        "sin(x)",
        "1/x",
        "x**3 - x",
        "abs(x)",
        "exp(-x**2)",
        "(x - 1)**7",
        "erf(x) - 1",
        "floor(x)",
        "x*0.1",
    ],
)
def test_an_accurate_curve_has_no_warning(program: str) -> None:
    curve = autodiff_cli.plot(program, range={"x": (-5, 5)})
    assert not [w for w in curve.warnings if w.kind == "lost_digits"]


def test_fits_and_losses_are_checked_in_their_rows() -> None:
    fitted = autodiff_cli.fit("y = a*(1 - cos(x))/x**2", SHORT_WAVES)
    assert abs(fitted.parameters["a"].estimate - 14 / 15) > 0.1, "the sample loses its digits"
    (warning,) = [w for w in fitted.warnings if w.kind == "lost_digits"]
    assert (
        "at row 1 of the data, the value and the derivative by `a` have no reliable digit"
        in warning.message
    )
    found = autodiff_cli.minimize(
        "(a*(1 - cos(x))/x**2 - y)**2", {"a": 1}, data=SHORT_WAVES, reduce="sum"
    )
    assert found.reason == "digits"
    assert any(w.kind == "lost_digits" for w in found.warnings)
    # residuals of rounding are no loss
    straight = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0, 7.0]}
    assert not autodiff_cli.fit("y = a + b*x", straight).warnings
    exactly = autodiff_cli.minimize(
        "(a + b*x - y)**2", {"a": 1, "b": 1}, data=straight, reduce="mean"
    )
    assert exactly.converged
    assert not exactly.warnings


def test_a_sum_of_many_terms_is_checked() -> None:
    lost = gradient("sum((1 - cos(x*i))/(x*i)**2, i, 1, 1100)", {"x": 1e-8})  # 9.98e7 for -0.37
    assert any(w.kind == "lost_digits" for w in lost.warnings)
    assert not gradient("sum(sin(x*i)/i**2, i, 1, 1100)", {"x": 0.3}).warnings


def test_fewer_digits_than_a_bound_are_no_zeros_of_a_series() -> None:
    series = autodiff_cli.taylor("exp(x) - exp(x + 1e-70)", {"x": 1}, order=2)
    with mpmath.workdps(120):
        exact = mpmath.e - mpmath.exp(1 + mpmath.mpf(10) ** -70)
        assert series.coefficients == pytest.approx(
            [float(exact), float(exact), float(exact / 2)], rel=1e-12
        )


@pytest.mark.parametrize(
    ("text", "point", "right"),
    [
        # the value is 1.00001e-150, the derivative by x -5.8e-163 (Arb, 300 digits); doubles have 0
        ("log(logaddexp(x,x)**beta(y,x))", {"x": 1e7, "y": 25}, "value"),
        ("((x-x)*exp2(0.5))+beta(y,x)**2", {"x": 51.0804, "y": 700}, "x"),
    ],
)
def test_a_zero_that_may_be_an_underflow_is_not_believed_when_the_work_ends(
    text: str, point: dict[str, float], right: str
) -> None:
    answer = gradient(text, point)
    assert (answer.value if right == "value" else answer.gradient[right]) == 0
    assert any("could not be determined" in warning.message for warning in answer.warnings)


def test_a_product_of_factors_that_are_0_within_their_errors_is_not_believed() -> None:
    # (x - sin(x))/x**3 is 1/6, where doubles have 0: the value is (1/6*2/6)**7
    answer = gradient("prod((x - sin(x))/x**3*k, k, 1, 2)**7", {"x": -1.2e-8})
    assert answer.value == 0 and any(w.kind == "lost_digits" for w in answer.warnings)


def test_where_derivatives_lose_digits_is_searched_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search over all nodes for each of 200 variables took 5 seconds."""
    searches = []
    searched = check._most_amplifying

    def counted(growth: Any) -> Any:
        searches.append(1)
        return searched(growth)

    monkeypatch.setattr(check, "_most_amplifying", counted)
    text = " + ".join(f"x{i}**3/3 - 1.1*x{i}**2 + 1.21*x{i}" for i in range(12))
    answer = gradient(text, dict.fromkeys((f"x{i}" for i in range(12)), 1.1000001))
    lost = [warning.message for warning in answer.warnings if warning.kind == "lost_digits"]
    assert sum(message.count("`x") for message in lost) == 12, lost
    assert 1 <= len(searches) <= 3
