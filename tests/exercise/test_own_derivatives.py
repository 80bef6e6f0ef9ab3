"""Answers of several formulas and of implicit derivatives; and answers that are nearly right, or
right in places.
"""

from __future__ import annotations

import pytest
import sympy

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.exercise.answers import check_derivative
from autodiff_cli.capabilities.exercise.equation_answers import check_solution
from autodiff_cli.capabilities.exercise.marking import are_equal, many_digits, points
from autodiff_cli.questions.problem import parse

# what agrees with the derivative near 0, in doubles, or on a part of the domain only
NEARLY = [
    ("relu(x - 4)**2", "0"), ("relu(x - 400)**2", "0"), ("1 if x < 4 else x", "0"),
    ("abs(x - 5)*(x - 5)/2", "5 - x"), ("where(x > 20, where(x < 21, x, 0), 0)", "0"),
    ("max(x, 3.5)", "0"), ("x**2*1e-40", "3e-40*x"), ("x**2", "2.00000000000000001*x"),
    ("x**2", "2.00000000000000000000000000000000000000000001*x"),
    ("exp(-x**2*10000)", "-10000x exp(-10000x^2)"), ("x**2/2", "sqrt(x**2)"),
    ("x**2/2", "exp(log(x))"), ("x*abs(x)", "2x"), ("log(abs(x))", "1/abs(x)"),
    ("sqrt(x - 100)", "1/sqrt(x - 100)"), ("log(x - 1e6)", "1.001/(x - 1e6)"),
    ("asin(x/10)", "1/sqrt(100 + x^2)"), ("atan(x)", "1/(1.001 + x^2)"),
    ("sin(x)**2", "1.001 sin(2x)"), ("cosh(x)**2 - sinh(x)**2", "1e-60"),
    ("tan(x)", "1/cos(x)^2 + 1e-70"), ("x**2", "2x if x != 1/3 else 3"),
    ("x**2", "2x if 3x - 1/7 != 0 else 1"), ("x**2", "2x if abs(x - 0.123) > 1e-7 else 3"),
]  # fmt: skip
UNDECIDED = [
    ("log(sin(x) - 2)", "7", "at 0 points"), ("acosh(sin(x))", "1/x", "at 0 points"),
    ("sqrt(sin(50x) - 0.999)", "abs(25cos(50x)/sqrt(sin(50x) - 0.999))*sign(cos(50x))", "and not at 36"),
    ("x**2", "2x if x**2 != 2 else 3", "where both sides of `x**2 != 2` are equal"),
    ("x**2", "3 if sin(x) == x/2 else 2x", "where both sides of `sin(x) == x/2` are equal"),
]  # fmt: skip
EQUAL = [
    ("relu(x - 4)**2", "2relu(x - 4)"), ("1 if x < 4 else x", "heaviside(x - 4)"),
    ("tanh(x)", "1 - tanh(x)^2"), ("tanh(x)", "4/(exp(x) + exp(-x))^2"),
    ("sqrt(x - 100)", "1/(2sqrt(x - 100))"), ("log(x)", "1/sqrt(x^2)"),
    ("log(x - 1e6)", "1/(x - 1e6)"), ("cosh(x)**2 - sinh(x)**2", "0"),
    ("asin(x/10)", "1/sqrt(100 - x^2)"), ("sin(x)**2", "sin(2x)"),
    ("exp(-x**2*10000)", "-20000x exp(-10000x^2)"), ("x**2*1e-40", "2e-40*x"),
    ("abs(x - 5)*(x - 5)/2", "abs(5 - x)"), ("exp(x**3)", "3x^2 (sinh(x^3) + cosh(x^3))"),
    ("exp(-x**4)", "-4x^3/exp(x^4)"), ("x**x", "(x^x) (ln x + 1)"),
]  # fmt: skip
# textbook answers with a gap, and answers in small domains of several variables
RIGHT_BY = [
    ("x**y", "x^y ln x", "y"), ("x**y", "y x^y/x", "x"),
    ("a*x**(1/b)", "-a*x^(1/b)*ln(x)/b^2", "b"), ("(x + y)**z", "(x+y)^z*ln(x+y)", "z"),
    ("sin(x)**y", "sin(x)^y*ln(sin(x))", "y"), ("x*abs(x)", "2x^2/|x|", "x"),
    ("abs(x)**3", "3x^2*|x|/x", "x"),
    ("asin(x)*asin(y)*asin(z)", "asin(y)*asin(z)/(sqrt(1-x)*sqrt(1+x))", "x"),
    ("acos(w)*asin(x)*asin(y)*asin(z)", "acos(w)*asin(y)*asin(z)/(sqrt(1-x)*sqrt(1+x))", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer"), NEARLY)
def test_what_is_right_in_places_only_is_wrong(text: str, answer: str) -> None:
    assert not check_derivative(text, answer=answer).right


@pytest.mark.parametrize(("text", "answer", "reason"), UNDECIDED)
def test_too_few_points_decide_nothing(text: str, answer: str, reason: str) -> None:
    with pytest.raises(
        ExpressionError, match="it is undecided whether the answer is right"
    ) as caught:
        check_derivative(text, answer=answer)
    assert caught.value.kind == "limit" and reason in str(caught.value)


@pytest.mark.parametrize(("text", "answer", "by"), RIGHT_BY)
def test_a_gap_in_an_answer_is_no_mistake_and_small_domains_have_points(
    text: str, answer: str, by: str
) -> None:
    assert check_derivative(text, wrt=[by], answer=answer).right


@pytest.mark.parametrize("answer", ["2*sqrt(x)^4/|x|", "2x*ln(x)/ln(x)"])
def test_an_answer_without_a_value_on_one_side_is_wrong(answer: str) -> None:
    assert not check_derivative("x*abs(x)", answer=answer).right


def test_a_comparison_in_an_answer_is_no_label() -> None:
    marked = check_derivative(
        "sin(x)/x if x != 0 else 1", answer="cos(x)/x - sin(x)/x^2 if x != 0 else 0"
    )
    assert marked.right
    with pytest.raises(ExpressionError, match="undecided whether there are solutions"):
        check_solution("exp(x) = x", answer="none")


@pytest.mark.parametrize(("text", "answer"), EQUAL)
def test_what_is_equal_in_another_form_is_right(text: str, answer: str) -> None:
    marked = check_derivative(text, answer=answer)
    assert marked.right and (marked.how == "simplified" or "not a proof" in marked.message)


def test_points_stand_in_every_region() -> None:
    chosen, _ = points(parse("where(x > 1000, where(x < 1003, 1, 0), 0)").outputs, ["x"])
    assert any(1000 < at["x"] < 1003 for at in chosen) and any(at["x"] > 1003 for at in chosen)


def test_noise_is_told_from_a_difference() -> None:
    def noise(m: object) -> tuple[object, object]:
        context = m.context  # type: ignore[attr-defined]
        return context.cosh(50) ** 2 - context.sinh(50) ** 2 - 1, context.mpf(0)

    assert are_equal(noise)
    assert are_equal(lambda m: (m.number(1), m.number(1) + 10 ** -m.number(70))) is False
    assert (
        are_equal(lambda m: (None, m.number(1))) is None
        and are_equal(lambda m: (m.number(1), None)) is False
    )
    assert many_digits().context.dps == 100


# ---- several ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("d/dx = 2*x*y, d/dy = x**2", [True, True]), ("d/dy = x^2; df/dx = 2xy", [True, True]),
        ("∂f/∂x = 2xy and ∂f/∂y = x²", [True, True]), ("f_x = 2xy\nf_y = x^2", [True, True]),
        ("(2xy, x^2)", [True, True]), ("∇f = (2xy, x²)", [True, True]), ("2xy, x^2", [True, True]),
        ("x: 2xy, y: x²", [True, True]), ("x = 2xy, y = x^2", [True, True]), ("[2x*y, x^2]", [True, True]),
        ("d/dx = 2*x*y", [True, False]), ("d/dx = x*y, d/dy = x**2", [False, True]), ("x^2, 2xy", [False, False]),
    ],
)  # fmt: skip
def test_each_of_several_is_judged(answer: str, right: list[bool]) -> None:
    marked = check_derivative("x**2*y", answer=answer)
    assert [entry.right for entry in marked.entries] == right and marked.right == all(right)
    assert [entry.of for entry in marked.entries] == ["d/dx", "d/dy"]
    if answer == "d/dx = 2*x*y":
        assert marked.entries[1].message == "missing" and "d/dy is missing" in marked.message


@pytest.mark.parametrize(
    ("answer", "right"),
    [("f_xx = 2y, f_yx = 2x, f_yy = 0", True), ("d²f/dx² = 2y, d²f/dxdy = 2x, d2/dy^2 = 0", True),
     ("d2/dx2 = 2y, ∂²f/∂x∂y = 2x, ∂²f/∂y² = 1", False), ("2y, 2x, 0", True), ("2y, 0, 2x", False)],
)  # fmt: skip
def test_derivatives_of_second_order(answer: str, right: bool) -> None:
    assert check_derivative("x**2*y", answer=answer, order=2).right == right


@pytest.mark.parametrize(
    ("answer", "message"),
    [("d/dz = 2", "not one of the derivatives"), ("d/dx = 2, d/dx = 3", "twice"), ("2xy, x^2, 3", "3 formulas"),
     ("d/dx = 2xy, x^2", "have no name"), ("d2/dx2 = 1", "not one of the derivatives"), ("f'(x) = 2xy", "not one of"),
     ("d/dx = 2z", "`z` is not a variable"), ("d/dx = , d/dy = 2", "no expression"), ("d/dx = 1/xy, d/dy = 1", "`xy`")],
)  # fmt: skip
def test_answers_that_cannot_be_read(answer: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        check_derivative("x**2*y", answer=answer)


@pytest.mark.parametrize(
    "answer", ["2x", "f'(x) = 2x", "y' = 2x", "dy/dx = 2x", "d/dx = 2x", "f_x = 2x", "t = x; 2t"]
)
def test_names_of_one_derivative(answer: str) -> None:
    assert check_derivative("x**2", answer=answer).right
    assert check_derivative("d/dx x^2", answer=answer).right


# ---- implicit -----------------------------------------------------------------------------------------------------
CIRCLE = "x**2 + y**2 = 25"


@pytest.mark.parametrize(
    ("text", "order", "answer", "right", "how"),
    [
        (CIRCLE, 1, "-x/y", True, "simplified"), (CIRCLE, 1, "dy/dx = -x/y", True, "simplified"),
        (CIRCLE, 1, "y' = x*y/(x^2 - 25)", True, "equation"), (CIRCLE, 1, "-x*y/(25 - x^2)", True, "equation"),
        (CIRCLE, 1, "-x/sqrt(25 - x^2)", False, "points"), (CIRCLE, 1, "-x/abs(y)", False, "points"),
        (CIRCLE, 1, "-1.001x/y", False, "points"), (CIRCLE, 1, "x/y", False, "points"),
        (CIRCLE, 2, "-25/y^3", True, "equation"), (CIRCLE, 2, "-(x^2 + y^2)/y^3", True, "simplified"),
        (CIRCLE, 2, "-1/y", False, "points"), ("x*exp(y) = y", 1, "exp(y)/(1 - y)", True, "equation"),
        ("x*exp(y) = y", 1, "exp(y)/(1 - x)", False, "points"), ("sin(x*y) = x", 1, "(1/cos(xy) - y)/x", True, None),
        ("x^3 + y^3 = 6x*y", 1, "(2y - x^2)/(y^2 - 2x)", True, "simplified"),
        ("x^3 + y^3 = 6x*y", 1, "(2y - x^2)/(y^2 + 2x)", False, "points"),
    ],
)  # fmt: skip
def test_implicit_derivatives(
    text: str, order: int, answer: str, right: bool, how: str | None
) -> None:
    marked = check_derivative(text, unknowns=["y"], order=order, answer=answer)
    assert marked.right == right and (how is None or marked.how == how), marked


@pytest.mark.parametrize(
    ("answer", "hint"),
    [("x/y", "only the sign"), ("-y/x", "take the reciprocal"), ("-2x", "minus the derivative of left less right side"),
     ("-x/sqrt(25 - x^2)", "part of the curve only"), ("-2x/y", "2 times as large"), ("0", "see it worked")],
)  # fmt: skip
def test_usual_mistakes_in_implicit_derivatives(answer: str, hint: str) -> None:
    assert hint in check_derivative(CIRCLE, unknowns=["y"], answer=answer).hint


def test_several_unknowns_and_several_variables() -> None:
    sphere = check_derivative(
        "x^2 + y^2 + z^2 = 9", unknowns=["z"], answer="dz/dx = -x/z, dz/dy = y/z"
    )
    assert [entry.right for entry in sphere.entries] == [True, False]
    both = "dy/dx = y*(x - z)/(x*(z - y)), dz/dx = z*(y - x)/(x*(z - y))"
    assert check_derivative("x + y + z = 1; x*y*z = 2", unknowns=["y", "z"], answer=both).right


def test_implicit_derivatives_of_sympy() -> None:
    """What differs by a multiple of the equation is proven to be equal; what differs otherwise is
    not.
    """
    x, y = sympy.symbols("x y")
    for left, right in [
        (x**2 + x * y + y**3, 5),
        (x**3 * y + 2 * y**2, 3),
        (x * sympy.exp(y) + y**2, 2),
    ]:
        equation = left - right
        slope = -sympy.diff(equation, x) / sympy.diff(equation, y)
        equal_there = (slope + x * equation, slope * left / right)
        different = (slope * (left + 1) / right, slope + sympy.Rational(1, 10**9))
        for other, is_right in [
            *((each, True) for each in equal_there),
            *((each, False) for each in different),
        ]:
            marked = check_derivative(f"{left} = {right}", unknowns=["y"], answer=str(other))
            assert marked.right == is_right and (not is_right or marked.how == "equation")
