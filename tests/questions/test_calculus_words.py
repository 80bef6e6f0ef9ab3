"""Questions of calculus in words ask one thing, or are refused with what to type."""

import pytest

from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.calculus_words import (
    arguments_in_words,
    calculus_arguments,
    formula_at,
    measured_arguments,
    without_request,
    worded_formula,
)
from autodiff_cli.questions.typed_lines import words_arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("critical points of f(t) = t^2 - 2t", ["solve", "2*t - 2 = 0", "--for", "t"]),
        ("stationary points of f", ["solve", "f'(x) = 0"]),
        ("quadratic approximation of cos(x) near x = 0", ["taylor", "cos(x)", "--at", "0", "--order", "2"]),
        ("linearization of x*y at (1, 2)", ["tangent", "x*y", "--at", "x=1,y=2"]),
        ("Maclaurin series of cos x", ["taylor", "cos x"]),
        ("2nd degree Taylor polynomial of e^x at 1", ["taylor", "e^x", "--at", "1", "--order", "2"]),
        ("taylor series of e^x with 5 terms", None),
        ("hessian of x*y at x=1, y=2", ["hessian", "x*y", "--at", "x=1, y=2"]),
        ("average value of 1/x from 1 to e", ["integrate", "(1/x)/(e - (1))", "--between", "1:e"]),
        ("gradient descent on (x-3)^2", ["descend", "(x-3)^2"]),
        (
            "gradient descent on (x-3)^2 from x=0, lr=0.1, steps=5",
            ["descend", "(x-3)^2", "--at", "x=0", "--rate", "0.1", "--steps", "5"],
        ),
        ("argmin_x (x-a)^2", ["minimize", "(x-a)^2", "--wrt", "x"]),
        ("∇(x*y)", ["diff", "(x*y)"]),
        ("∇²f", None),
        ("implicit differentiation x*y = 1", ["diff", "x*y = 1", "--for", "y", "--wrt", "x"]),
        ("critical + points", None),
        ("arc length of x^2 from 0 to 1", ["integrate", "sqrt(1 + (2*x)^2)", "--between", "x=0:1"]),
        (
            "volume of revolution of sqrt(t) about the x-axis from 0 to 4",
            ["integrate", "pi*(sqrt(t))^2", "--between", "t=0:4"],
        ),
        (
            "directional derivative of x*y at (1, 2) in the direction of (3, -4)",
            ["jacobian", "x*y", "--at", "x=1,y=2", "--direction", "x=3/sqrt(3^2 + (-4)^2),y=-4/sqrt(3^2 + (-4)^2)"],
        ),
        (
            "directional derivative of x*y at (1, 2) along (0.6, 0.8)",
            ["jacobian", "x*y", "--at", "x=1,y=2", "--direction", "x=0.6,y=0.8"],
        ),
        ("directional derivative of x*y at (1, 2) along (1, 2, 3)", None),
        ("jacobian of (x*y, x + y) at (1, 2)", ["jacobian", "x*y, x + y", "--at", "x=1,y=2"]),
        ("jacobian of (x + y)*(x, y) at (1, 2)", ["jacobian", "(x + y)*(x, y)", "--at", "x=1,y=2"]),
        ("grad(x^2*sin(y))(1, 2)", ["grad", "x^2*sin(y)", "--at", "x=1,y=2"]),
        ("chain rule sin(x^2)", ["diff", "sin(x^2)", "--steps"]),
        ("show the steps of d/dx sin(x^2)", ["diff", "sin(x^2)", "--steps"]),
        ("derivative of x*sin(x) step by step", ["diff", "x*sin(x)", "--steps"]),
        ("l'Hôpital's rule sin(x)/x at 0", ["limit", "sin(x)/x", "--at", "0"]),
        ("linearize sqrt(x) at 4", ["tangent", "sqrt(x)", "--at", "4"]),
    ],
)  # fmt: skip
def test_questions_of_calculus_are_arguments_of_commands(
    text: str, arguments: list[str] | None
) -> None:
    assert calculus_arguments(text) == arguments


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("critical points of x*y", "autodiff diff 'x*y'"),
        ("critical points of abs(x)", "autodiff solve 'sign(x) = 0' --for x"),
        ("critical points of x^1.5", "--for x"),
        ("critical points of x + 1/x", "autodiff solve"),
        ("inflection points of x^3", "autodiff diff 'x^3' --order 2"),
        ("local minimum of x^3", "autodiff minimize 'x^3' --at x=1"),
        ("global maximum of x^3 from 0 to 2", "autodiff maximize 'x^3' --bounds x=0:2"),
        ("linear approximation of sqrt(4.1)", "at 4"),
        ("area between x^2 and x", "autodiff solve 'x^2 = x'"),
        ("percent difference between 3 and 4", "autodiff 'abs(3 - 4)/4*100'"),
        ("arc length of floor(x) from 0 to 2", "each piece"),
        ("volume of revolution of x^2 from 0 to 1", "autodiff integrate '2*pi*x*(x^2)'"),
        ("l'hopital sin(x)/x", "autodiff limit 'sin(x)/x' --at x=0"),
        ("newton's method t^2-2 from 1", "autodiff solve 't^2-2 = 0' --at t=1"),
        ("riemann sum x^2 0 to 1 n=10", "autodiff integrate"),
        ("domain of sqrt(x - 1)", "autodiff grad 'sqrt(x - 1)' --at x=1"),
        ("asymptotes of 1/x", "autodiff limit '1/x' --at x=inf"),
    ],
)
def test_a_question_of_several_things_is_refused_with_what_to_type(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        calculus_arguments(text)
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("dy/dx1 of y = x1^2*x", ["diff", "y = x1^2*x", "--wrt", "x1"]),
        ("d/dx1 of x1^2*x", ["diff", "x1^2*x", "--wrt", "x1"]),
        ("d2y/dx12 of x1^2*x", ["diff", "x1^2*x", "--wrt", "x1", "--order", "2"]),
        ("∂L/∂w, L = (w*x)^2", ["diff", "L = (w*x)^2", "--wrt", "w"]),
        ("f(x) = x^2, df/dx at 3", ["diff", "f(x) = x^2", "--at", "3", "--wrt", "x"]),
        ("y = x*y; dy/dx", ["diff", "y = x*y", "--for", "y", "--wrt", "x"]),
        ("third derivative of sin(x) at pi/4", ["diff", "sin(x)", "--at", "pi/4", "--order", "3"]),
    ],
)
def test_a_digit_of_a_name_is_no_order(text: str, arguments: list[str]) -> None:
    assert words_arguments(text) == arguments


def test_measured_numbers_get_names_of_their_own() -> None:
    assert measured_arguments("x1*(5.0 ± 2%) + sin(1.0 +/- 0.1)") == [
        "propagate", "x1*x2 + sin(x3)", "--at", "x2=5.0±2%,x3=1.0±0.1",
    ]  # fmt: skip
    assert measured_arguments("(5.0 ± 0.1) m / (2.0 ± 0.1) s") == [
        "propagate", "x1 / x2", "--at", "x1=5.0±0.1 m,x2=2.0±0.1 s",
    ]  # fmt: skip
    assert measured_arguments("2*(3)") is None
    with pytest.raises(ExpressionError, match="two ways"):
        measured_arguments("12.35(12)/2")
    with pytest.raises(ExpressionError) as refused:
        measured_arguments("12.3(12)")
    assert "`(12.3 ± 1.2)`" in str(refused.value.hint)  # of the last digits: 12 tenths


def test_words_of_a_request_are_left_out() -> None:
    assert worded_formula("what is sqrt(2)?") == "sqrt(2)"
    assert worded_formula("find = 3") == "find = 3"
    assert worded_formula("average of 1 and 2") == "mean(1, 2)"
    assert worded_formula("mean(1, 2)") == "mean(1, 2)"


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("sum of n^2 from n=1 to 10", "sum(n^2, n, 1, 10)"),
        ("product of k from k = 1 to 5", "prod(k, k, 1, 5)"),
        ("Σ_{n=1}^{10} n^2", "sum(n^2, n, 1, 10)"),
        ("∑_{k=1}^3 k*x", "sum(k*x, k, 1, 3)"),
        ("sum_(k=1)^(3) k*x", "sum(k*x, k, 1, 3)"),
        ("sum(n^2, n=1..10)", "sum(n^2, n, 1, 10)"),
        ("prod(2*k, k=1:4)", "prod(2*k, k, 1, 4)"),
        ("sum(x, y)", "sum(x, y)"),
        ("sum of squares from n=1 to 10", "sum of squares from n=1 to 10"),
        ("52 choose 5", "prod((52 - 5 + k)/k, k, 1, 5)"),
        ("2 choose 5", "2 choose 5"),
        ("sin 30 degrees + cos(60 degrees)", "sin 30° + cos(60°)"),
        ("20 degrees C", "20 degrees C"),
        ("sin(degrees)", "sin(degrees)"),
    ],
)
def test_a_formula_in_words_is_one_of_the_language(text: str, formula: str) -> None:
    assert worded_formula(text) == formula


def test_a_series_without_end_is_refused() -> None:
    for text in ("sum of 1/n^2 from n=1 to infinity", "Σ_{n=1}^{∞} 1/n^2", "sum(1/n^2, n=1..inf)"):
        with pytest.raises(ExpressionError, match="without end") as refused:
            worded_formula(text)
        assert "sum(1/n^2, n, 1, 1000)" in (refused.value.hint or "")


def test_what_follows_a_command_in_words_is_options() -> None:
    assert arguments_in_words("plot", "x^2 for x = -1 to 2") == ["x^2", "--range", "x=-1:2"]
    assert arguments_in_words("maximize", "x*y s.t. x + y = 1 and x > 0") == [
        "x*y", "--subject-to", "x + y = 1; x > 0",
    ]  # fmt: skip
    assert arguments_in_words("solve", "x = 2 at 3") == ["x = 2 at 3"]


def test_a_long_text_is_no_question_and_costs_no_search() -> None:
    """`maximum of x from x from …` of 140,000 characters took a minute."""
    long = "maximum of " + "x from " * 20_000
    assert calculus_arguments(long) is None
    assert worded_formula(long) == without_request(long) == long
    assert formula_at(long) == [long.strip()]
    assert arguments_in_words("plot", long) == [long.strip()]
    assert calculus_arguments("average value of x" + " " * 400 + "on [0, 1]") is not None


def test_a_variable_of_the_formula_is_no_setting() -> None:
    asked = calculus_arguments("gradient descent on (n - 3)^2 from n=1, lr=0.1, steps=20")
    assert asked == ["descend", "(n - 3)^2", "--at", "n=1", "--rate", "0.1", "--steps", "20"]
    asked = calculus_arguments("gradient descent on (x - 3)^2 from x=1, n=20")
    assert asked == ["descend", "(x - 3)^2", "--at", "x=1", "--steps", "20"]


@pytest.mark.parametrize(
    ("text", "formula", "point"),
    [
        ("2.5 ± 0.1 + 3.5 +/- 0.2", "x1 + x2", "x1=2.5±0.1,x2=3.5±0.2"),
        ("5.0±0.1 V / 2.0±0.2 A", "x1 / x2", "x1=5.0±0.1 V,x2=2.0±0.2 A"),
        ("sqrt(2.5 ± 0.1 + 1)", "sqrt(x1 + 1)", "x1=2.5±0.1"),
        ("2.5 ± 0.1 cm * 3", "x1 * 3", "x1=2.5±0.1 cm"),
        ("10 ± 2% - 5", "x1 - 5", "x1=10±2%"),
        ("6.674(15)e-11*3", "x1*3", "x1=6.674(15)e-11"),
        ("12(3)E2", "x1", "x1=12(3)E2"),
        ("1.23(45)e−5 m", "x1", "x1=1.23(45)e−5 m"),
        ("(1.2 +/- 0.1)e3 + 1", "x1 + 1", "x1=(1.2 +/- 0.1)e3"),
        ("sin(30 ± 1°)", "sin(x1)", "x1=30±1°"),
        ("20±1 °C", "x1", "x1=20±1 °C"),
    ],
)
def test_measured_terms_need_no_parentheses(text: str, formula: str, point: str) -> None:
    assert measured_arguments(text) == ["propagate", formula, "--at", point]


@pytest.mark.parametrize(
    "text",
    [
        "3 +-2",
        "3+-2 + 1",
        "(3 +- 2)*2",
        "3*2.5 ± 0.1",
        "3 *  2.5 ± 0.1",
        "3*2.5 ± 0.1 cm",
        "1/2.5 ± 0.1 s",
        "2.5 ± 0.1^2",
        "2.5 ± 0.1*3",
        "x^2.5 ± 0.1",
        "2(3)e",
        "3(x)e2",
        "f(3)e2",
        "1.5(x)e-3",
    ],
)
def test_a_measured_factor_without_parentheses_can_be_read_in_two_ways(text: str) -> None:
    assert measured_arguments(text) is None


def test_data_of_a_fit_are_named_behind_its_formula() -> None:
    assert arguments_in_words("fit", "y = a*x + b to data.csv") == [
        "y = a*x + b",
        "--data",
        "data.csv",
    ]
    assert arguments_in_words("fit", "y = a*x + b to c") == ["y = a*x + b to c"]
