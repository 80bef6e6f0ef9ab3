"""Taylor polynomials: against mpmath, against long division, at edges, and how long they take."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mpmath import mp, mpf

import autodiff_cli
from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.engine.graphs.higher_order import taylor_in
from autodiff_cli.engine.graphs.value import node, variable
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.questions.arithmetic import Arithmetic
from counting import counted_calls
from reference import REFERENCE
from samples import samples_of

LIMIT = 300_000
"""Calls that are enough for anything that is to come back at once."""

UNARY = [
    p
    for p in PRIMITIVES.values()
    if len(p.params) == 1 and not p.variadic and not p.gives_condition
]
FIFTY = Multiprecision(50)


@pytest.mark.parametrize("primitive", UNARY, ids=lambda p: p.name)
def test_every_function_of_one_variable_to_order_six(primitive: Primitive) -> None:
    samples = [x for (x,) in samples_of(primitive) if 0.05 < abs(x) < 12 and abs(abs(x) - 1) > 1e-3]
    for x in samples[:1]:
        graph = node(primitive, (variable("x"),))
        found = taylor_in(FIFTY, graph, {"x": FIFTY.number(x)}, "x", 6)
        with mp.workdps(60):
            step = mpf(10) ** -6
            points = [REFERENCE[primitive.name](mpf(x) + k * step) for k in range(-6, 7)]
            wanted = [
                mp.fsum(
                    weight * value for weight, value in zip(weights(order), points, strict=True)
                )
                / step**order
                for order in range(1, 7)
            ]
        assert float(found[0]) == pytest.approx(float(REFERENCE[primitive.name](x)), rel=1e-14)
        for order, value in enumerate(wanted, start=1):
            scale = max(1.0, *(abs(float(w)) for w in wanted))
            assert float(found[order]) == pytest.approx(float(value), rel=1e-8, abs=1e-9 * scale), (
                primitive,
                x,
                order,
            )


def weights(order: int) -> list[mpf]:
    """The weights of 13 equidistant points for a derivative divided by its factorial."""
    matrix = mp.matrix(13, 13)
    right = mp.matrix(13, 1)
    for power in range(13):
        for k in range(13):
            matrix[power, k] = mpf(k - 6) ** power
        right[power] = 1 if power == order else 0
    return list(mp.lu_solve(matrix, right))


@pytest.mark.parametrize(
    ("text", "at", "polynomial"),
    [
        ("exp(x)", "0", "1 + x + 1/2*x**2 + 1/6*x**3 + 1/24*x**4"),
        ("1/(1 - x)", "0", "1 + x + x**2 + x**3 + x**4"),
        ("x**4", "1", "1 + 4*(x - 1) + 6*(x - 1)**2 + 4*(x - 1)**3 + (x - 1)**4"),
        ("log(1 + x)", "0", "x - 1/2*x**2 + 1/3*x**3 - 1/4*x**4"),
        ("3", "0", "3"),
        ("(1 + x)**(1/2)", "0", "1 + 1/2*x - 1/8*x**2 + 1/16*x**3 - 5/128*x**4"),
        ("where(x > 1, sqrt(x - 1), x**2)", "0", "x**2"),
        ("0*sqrt(x) + x", "0", "x"),
        ("max(x**2, sqrt(x) - 5)", "0", "x**2"),
    ],
)
def test_exact_polynomials(text: str, at: str, polynomial: str) -> None:
    by = "x"
    found = taylor(text, {"x": at}, wrt=[by], order=4, arithmetic=Arithmetic("exact"))
    assert found.polynomial == polynomial


def test_the_polynomial_reads_back() -> None:
    found = taylor("sin(x)*exp(y)", {"x": 0.5, "y": 2}, wrt=["x"], order=12)
    there = gradient(found.polynomial, {"x": 0.75}).value
    assert there == pytest.approx(gradient("sin(x)*exp(y)", {"x": 0.75, "y": 2}).value, rel=1e-9)


@pytest.mark.parametrize(
    "text",
    ["sin(exp(x)) + gamma(1+x)*tanh(x)", "(1+x)**2.5/(1+x**2)", "erf(x)*silu(x) + digamma(2+x)"],
)
def test_order_thirty_is_instant(text: str) -> None:
    with counted_calls(LIMIT):
        assert len(taylor(text, {"x": 0.1}, order=30).coefficients) == 31


def test_certified_coefficients() -> None:
    pytest.importorskip("flint")
    found = taylor("exp(x)", {"x": "0"}, order=30, arithmetic=Arithmetic("certified"))
    assert found.coefficients[30].text == "3.7699876288159056e-33"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        ("sqrt(x)", {}, "derivative"),
        ("log(x)", {}, "domain"),
        ("x**2.5", {}, "derivative"),
        ("x", {"order": 1_000_000}, "usage"),
        ("x", {"order": -1}, "usage"),
        ("x*y", {}, "usage"),
        ("3", {}, "usage"),
        ("x", {"wrt": ["z"]}, "usage"),
        ("x", {"wrt": ["x", "y"]}, "usage"),
    ],
)
def test_refusals(text: str, options: dict[str, object], kind: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.taylor(text, {"x": 0, "y": 1} if "y" in text else {"x": 0}, **options)
    assert caught.value.kind == kind
    assert caught.value.hint


def test_order_and_digits_are_bounded_together() -> None:
    with pytest.raises(ExpressionError) as caught:
        taylor("sin(x)", {"x": "0.5"}, order=200, arithmetic=Arithmetic("precision", 10_000))
    assert caught.value.kind == "limit"


def test_coefficients_that_are_rounding_alone_are_zero() -> None:
    assert taylor(
        "sin(x)", {"x": "pi/2"}, order=5
    ).polynomial == "1 - 0.5*(x - 1.5707963267948966)**2 + " + (
        "0.041666666666666664*(x - 1.5707963267948966)**4"
    )
    assert taylor("cos(x)*1e12", {"x": "pi/2"}, order=2).coefficients[::2] == [0.0, 0.0]
    # small, and right: the double itself, a small factor, a small power, what a far point leaves
    exact = taylor("cos(x)", {"x": 1.5707963267948966}, order=1).coefficients
    assert exact == [6.123233995736766e-17, -1.0]
    left = taylor(
        "sin(x) - 1.2246467991473532e-16", {"x": 3.141592653589793}, order=1
    ).coefficients[0]
    # of the double, not of its shortest decimal
    assert left == pytest.approx(-2.2774e-33, rel=1e-4)
    assert taylor("1e-20*x + x**2", {"x": "0.5"}, order=2).coefficients[1] == 1.0
    assert taylor("1e-20*x + x**2", {"x": "0"}, order=2).coefficients == [0.0, 1e-20, 1.0]
    assert taylor("exp(-x)", {"x": "0.1*400"}, order=1).coefficients[0] == pytest.approx(
        4.248354255291589e-18
    )


def test_a_pole_that_rounding_hides_has_no_zero_coefficients() -> None:
    # the bound of a number at a pole is as large as the number, in any number of digits
    for text, at in (
        ("tan(x)", "x=pi/2"),
        ("tan(x)", "x=90°"),
        ("1/cos(x)", "x=pi/2"),
        ("1/sin(x)", "x=3*pi"),
    ):
        answer = autodiff_cli.taylor(text, at, order=1)
        assert abs(answer.coefficients[0]) > 1e15 and abs(answer.coefficients[1]) > 1e29, (text, at)


# By mpmath with 700 digits; doubles give -2.6e246 and 0, and 1e42 has no digit left of a double's
# argument.
LOST = [
    ("(exp(2*y) - 1)/(2*y)", {"y": 8.73527432e-124}, 2, 2 / 3, False),
    ("1 - tanh(x)", {"x": 200.0}, 0, 3.8303391934280114e-174, False),
    ("floor((exp(x) - 1)/x)", {"x": 1.007e-08}, 0, 0.0, True),
    ("exp(-x**2)", {"x": 30.0}, 1, 0.0, False),
]


@pytest.mark.parametrize(("text", "point", "order", "exact", "warned"), LOST)
def test_coefficients_have_their_digits_or_a_warning(
    text: str, point: dict[str, float], order: int, exact: float, warned: bool
) -> None:
    found = taylor(text, point, order=2)
    assert found.coefficients[order] == pytest.approx(exact, rel=1e-12)
    messages = [warning.message for warning in found.warnings if warning.kind == "lost_digits"]
    assert bool(messages) == warned
    assert all(f"the coefficient of order {order} " in message for message in messages)


@pytest.mark.parametrize(
    ("text", "place", "reference"),
    [
        ("(x - 1)*zeta(x)", 1, lambda x: (x - 1) * mp.zeta(x)),
        ("zeta(x) - 1/(x - 1)", 1, lambda x: mp.zeta(x) - 1 / (x - 1)),
        ("zeta(1 + sin(x))*x", 0, lambda x: mp.zeta(1 + mp.sin(x)) * x),
        ("(x - 1)^2*zeta_derivative(1, x)", 1, lambda x: (x - 1) ** 2 * mp.zeta(x, 1, 1)),
        ("zeta(x)/gamma(x - 1)", 1, lambda x: mp.zeta(x) * mp.rgamma(x - 1)),
        ("(x + 2)*gamma(x)", -2, lambda x: (x + 2) * mp.gamma(x)),
        ("digamma(x)/gamma(x)", -1, lambda x: mp.digamma(x) * mp.rgamma(x)),
        ("trigamma(x) - 1/x^2", 0, lambda x: mp.psi(1, x) - 1 / x**2),
        ("polygamma(2, x)*sin(x)^3", 0, lambda x: mp.psi(2, x) * mp.sin(x) ** 3),
        ("x*beta(x, x)", 0, lambda x: x * mp.beta(x, x)),
    ],
)
def test_series_through_poles_that_cancel(
    text: str, place: int, reference: Callable[..., mpf]
) -> None:
    answer = autodiff_cli.taylor(text, {"x": place}, order=4, precision=50)
    with mp.workdps(200):
        step = mpf(10) ** -9
        polynomial = sum(mpf(c.text) * step**k for k, c in enumerate(answer.coefficients))
        assert abs(polynomial - reference(place + step)) < 1000 * step**5
    doubles = autodiff_cli.taylor(text, {"x": place}, order=4).coefficients
    assert doubles == pytest.approx([float(c.text) for c in answer.coefficients], rel=1e-15)


def test_a_guard_at_a_pole_has_the_slope_of_the_formula_around_it() -> None:
    guarded = gradient("x*gamma(x) if x != 0 else 1", {"x": 0})
    assert guarded.gradient["x"] == pytest.approx(-0.5772156649015329, rel=1e-14)
