"""Guards with two sides: whether there is a derivative where their branches meet. Answers are
derived by hand.
"""

import pytest

from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.errors import ExpressionError

SMOOTH = [
    # x**2*log(x), exp(-1/x), x**1.5, x**2*sin(1/x) have slope 0 above 0
    ("where(x > 0, x**2*log(x), 0)", 0),
    ("where(x > 0, exp(-1/x), 0) + 3*x", 3),
    ("where(x > 0, x**1.5, 0)", 0),
    ("where(x > 0, x**2*sin(1/x), 0)", 0),
    ("where(x <= 0, x, sin(x)**2/x)", 1),  # sin(x)**2/x = x - …
    ("where(x > 0, sin(x)/x, 1)", 0),
    ("where(x >= 0, 1 + x/2, (exp(x) - 1)/x)", 0.5),
    ("where(x == 0, 0, exp(-1/x**2))", 0),
    ("where(x == 0, 0, x**2*sin(1/x))", 0),
    ("where(x**2 > 0, x**2*log(x**2), 0)", 0),
    ("2*where(x > 0, x*x*log(x), 0)**2 + exp(x)", 1),
    ("where(ceil(x) == 0, 1, sin(x)/x)", 0),  # 1 up to 0, sin(x)/x above
    ("where(x - x == 0, 1, sin(x)/x)", 0),
]
KINKS = [
    (
        "where(x <= 0, 0, x*log(x))",
        "the derivative by `x` is 0 on the left and -infinite on the right",
    ),
    (
        "where(x > 0, sqrt(x), 0)",
        "the derivative by `x` is 0 on the left and infinite on the right",
    ),
    (
        "where(x > 0, x*sin(1/x), 0)",
        "the derivative by `x` is 0 on the left and oscillating on the right",
    ),
    (
        "where(x > 0, log(x), 0)",
        "the limit of the value is 0 on the left and -infinite on the right",
    ),
    ("where(x > 0, sin(x)/x, 2)", "the limit of the value is 2 on the left and 1 on the right"),
    (
        "where(x > 0, (exp(x) - 1)/x, 1)",
        "the derivative by `x` is 0 on the left and 0.5 on the right",
    ),
    ("where(x < 0, -x, x)", "the derivative by `x` is -1 on the left and 1 on the right"),
    ("where(x < 0, x, x + 1)", "the value jumps between 1 and 0"),
    (
        "where(x == 0, 0, x*log(abs(x)))",
        "the derivative by `x` is -infinite on the left and -infinite on the right",
    ),
    (
        "where(x == 0, 0, 1/x)",
        "the limit of the value is -infinite on the left and infinite on the right",
    ),
    ("where(x == 0, 1, abs(x)/x)", "the limit of the value is -1 on the left and 1 on the right"),
    # the factor 0 of the branch that is taken hides the slope 2*sqrt(x)/(2*sqrt(x)) of the other
    # one
    ("where(x <= 0, 0, x**0.5)**2", "the derivative by `x` is 0 on the left and 1 on the right"),
]


@pytest.mark.parametrize(("text", "slope"), SMOOTH)
def test_a_derivative_that_exists_is_given_without_a_warning(text: str, slope: float) -> None:
    answers = [gradient(text, {"x": 0}), check(text, {"x": 0}), trace(text, {"x": 0})]
    for answer in answers:
        assert answer.gradient["x"] == pytest.approx(slope)
        assert not [one for one in answer.warnings if one.kind == "kink"]
    assert jacobian(text, {"x": 0}).jacobian == [[pytest.approx(slope)]]
    assert [one.value for one in diff(text, {"x": 0}).derivatives] == pytest.approx([slope])
    assert not answers[1].quantities[1].remark.startswith(("a jump", "a kink"))


@pytest.mark.parametrize(("text", "sides"), KINKS)
def test_a_derivative_that_does_not_exist_is_said_with_its_sides(text: str, sides: str) -> None:
    for answer in (
        gradient(text, {"x": 0}),
        trace(text, {"x": 0}),
        diff(text, {"x": 0}),
        jacobian(text, {"x": 0}),
    ):
        (warning,) = [one for one in answer.warnings if one.kind == "kink"]
        assert warning.message.endswith(sides)
        assert warning.hint is not None and warning.hint.startswith("there is no derivative here")
    with pytest.raises(ExpressionError, match="compares equal numbers"):
        hessian(text, {"x": 0})


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("where(x > 0, exp(-1/x), 0)", 0),
        ("where(x > 0, x**3*log(x), 0) + x**2", 2),
        ("where(x > 0, (cos(x) - 1)/x + x/2, x**3)", 0),  # (cos(x) - 1)/x = -x/2 + x**3/24 - …
        ("where(x == 0, 0, exp(-1/x**2))", 0),
    ],
)
def test_second_derivatives_and_series(text: str, second: float) -> None:
    assert hessian(text, {"x": 0}).hessian[0][0] == pytest.approx(second)
    assert taylor(text, {"x": 0}, order=2).coefficients[2] == pytest.approx(second / 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "where(x > 0, x**2*log(x), 0)",
            "order 2 by `x` is 0 on the left and -infinite on the right",
        ),
        ("where(x > 0, sin(x)/x, 1)", "order 2 by `x` is 0 on the left and -0.333333 on the right"),
        ("where(x > 0, x**2*sin(1/x), 0)", "not decided"),  # the second derivative does not exist
        ("where(x == 0, 0, x**2*sin(1/x))", "not decided"),
    ],
)
def test_second_derivatives_that_do_not_exist(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason):
        hessian(text, {"x": 0})
    with pytest.raises(ExpressionError, match=reason):
        taylor(text, {"x": 0}, order=2)


@pytest.mark.parametrize(
    ("text", "slopes"),
    [
        ("where(x > 0, y*x**2*log(x), 0)", (0, 0)),
        ("where(x + y > 2, (x + y - 2)**2*log(x + y - 2), 0) + y", (0, 1)),
        ("where(x > 0 and y < 3, exp(-y/x), 0)", (0, 0)),
        ("where(-2*x < 0, sin(x)/x*y, y)", (0, 1)),
        ("where(x > 0, x**y*log(x), 0)", (0, 0)),
    ],
)
def test_several_variables(text: str, slopes: tuple[float, float]) -> None:
    answer = gradient(text, {"x": 0, "y": 2})
    assert (answer.gradient["x"], answer.gradient["y"]) == pytest.approx(slopes)
    assert not answer.warnings


@pytest.mark.parametrize(
    "text",
    [
        "where(x**2 + (y - 2)**2 > 0, x*(y - 2)/(x**2 + (y - 2)**2), 0)",  # 1/2 on the diagonal
        "where(x > 0, exp(-1/x)/(y - 2), 0)",  # without a bound beside y = 2
        "where(x > 0, log(y - 2)*exp(-1/x), 0)",
        "where(x > 0, y*x*log(x), 0)",
    ],
)
def test_partial_derivatives_alone_are_no_derivative(text: str) -> None:
    assert gradient(text, {"x": 0, "y": 2}).warnings
    with pytest.raises(ExpressionError):
        hessian(text, {"x": 0, "y": 2})


def test_the_point_of_a_guard_is_read_as_it_was_typed() -> None:
    assert not gradient("where(x > 0.1, (x - 0.1)**2*log(x - 0.1), 0)", {"x": "0.1"}).warnings
    assert not gradient("where(x > pi/2, exp(1/cos(x)), 0)", {"x": "pi/2"}).warnings


@pytest.mark.parametrize(
    "text",
    [
        "where(x < 0, x, where(x > 0, x, 2*x))",
        "where(abs(x) > 0, x, 0)",
        "where(0 < abs(x), x, 0)",
        "where(x**2 <= 0, 0, x)",
        "where(x <= 0 and x >= 0, 0, x)",
        "where(x < 0 or x > 0, x, 0)",
        "where(not (x != 0), 0, x)",
        "where(abs(x) > 0, (exp(2*x) - 1)/2/x, 1)",
    ],
)
def test_a_guard_of_a_single_point_has_the_derivative_around_it_however_it_is_spelled(
    text: str,
) -> None:
    answer = gradient(text, {"x": 0})
    assert answer.gradient == {"x": pytest.approx(1)} and not answer.warnings
    (formula,) = [one.formula for one in diff(text, everywhere=True).derivatives]
    assert gradient(formula, {"x": 0}).value == pytest.approx(1)
    scope: dict[str, object] = {}
    exec(export(text, "python").source, scope)
    assert scope["f"](0.0)[1] == (pytest.approx(1),)  # type: ignore[operator]


def test_a_comparison_that_is_more_than_a_point_is_no_guard() -> None:
    for text in (
        "where(x <= 0 or x > 0, x, 0)",
        "where(x < 0 and x > 0, 0, x)",
        "where(abs(x) >= 0, x, 0)",
    ):
        assert gradient(text, {"x": 0}).gradient == {"x": 1}
    assert gradient("where(x < 0, x, where(x >= 0, 2*x, 5))", {"x": 0}).warnings


@pytest.mark.parametrize(
    "text", ["where(-x >= 0, 0, x**1.5*y)", "where(1 - x >= 1, 0, exp(-1/x)*y)"]
)
def test_a_guard_of_several_variables_may_be_written_the_other_way_round(text: str) -> None:
    # the other branch has a value where x is above 0 only
    answer = gradient(text, {"x": 0, "y": 2})
    assert answer.gradient == {"x": 0, "y": 0}
    assert not answer.warnings


@pytest.mark.parametrize(
    "text",
    ["where(x > 0, x**2*log(y), 0)", "where(x > 0, x**2/y, 0)", "where(x > 0, x**2*y**0.5, 0)"],
)
def test_coefficients_that_are_not_smooth_at_the_point_prove_nothing(text: str) -> None:
    # near the point, with y small beside x, these are not even bounded, or not defined
    answer = gradient(text, {"x": 0, "y": 0})
    assert [one.kind for one in answer.warnings] == ["kink"]
