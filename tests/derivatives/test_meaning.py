"""What programs mean, edges included: rows of program, point, and answer or error."""

from __future__ import annotations

import math

import pytest

from autodiff_cli import ExpressionError, gradient

NEURON = "x1w1 = x1*w1; x2w2 = x2*w2; n = x1w1 + x2w2 + b; o = tanh(n)"
MICROGRAD = """
c = a + b
d = a*b + b**3
c += c + 1
c += 1 + c + (-a)
d += d*2 + relu(b + a)
d += 3*d + relu(b - a)
e = c - d
f = e**2
g = f/2.0
g += 10.0/f
"""

VALUES = [
    # program, point, value, gradient
    ("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3}, 2.5, {"w1": 1, "w2": -2}),
    (NEURON, {"x1": 2, "x2": 0, "w1": -3, "w2": 1, "b": 6.8813735870195432}, math.sqrt(0.5),
     {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "b": 0.5}),
    ("d = a - b; e = a + b; d + e", {"a": 3, "b": 4}, 6, {"a": 2, "b": 0}),
    (MICROGRAD, {"a": -4, "b": 2}, 24.70408163265306, {"a": 138.8338192419825, "b": 645.5772594752187}),
    ("x - (w + v) - u", {"x": 1, "w": 2, "v": 3, "u": 4}, -8, {"x": 1, "w": -1, "v": -1, "u": -1}),
    ("ln(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}, 11.652071455223084, {"x1": 5.5, "x2": 1.7163378145367738}),
    # operators and their order
    ("-x**2", {"x": 3}, -9, {"x": -6}),
    ("2^3^2 + 0x", {"x": 3}, 512, {"x": 0}),
    ("2**-1*x", {"x": 3}, 1.5, {"x": 0.5}),
    ("3x² − 4x + 5", {"x": 3}, 20, {"x": 14}),
    ("2√x·y", {"x": 4, "y": 3}, 12, {"x": 1.5, "y": 4}),
    ("|x - 3|⋅2", {"x": 1}, 4, {"x": -2}),
    ("x⁻¹", {"x": 2}, 0.5, {"x": -0.25}),
    ("a/b/c", {"a": 8, "b": 2, "c": 2}, 2, {"a": 0.25, "b": -1, "c": -1}),
    ("2e", {"e": 3}, 6, {"e": 2}),
    ("x*e", {"x": 2}, 2 * math.e, {"x": math.e}),
    ("1e2*x + 1_000", {"x": 1}, 1100, {"x": 100}),
    # programs
    ("f(x) = 3x² − 4x + 5", {"x": 3}, 20, {"x": 14}),
    ("f(x) = 3x² − 4x + 5; f(2*w)", {"w": 1.5}, 20, {"w": 28}),
    ("f(x) = a*x; f(x)", {"a": 2, "x": 5}, 10, {"a": 5, "x": 2}),
    ("f(x) = a*x", {"a": 2, "x": 5}, 10, {"x": 2}),
    ("f(x) = x**2; g(x) = f(x + 1); f(x) = 0; g(y)", {"y": 2}, 9, {"y": 6}),
    ("sin(x) = x - x^3/6; sin(2t)", {"t": 0.5}, 1 - 1 / 6, {"t": 2 * 0.5}),
    ("a = 2; f(x) = a*x; a = 3; f(x)", {"x": 1}, 2, {"x": 2}),
    ("y = log(x); x**2", {"x": -1}, 1, {"x": -2}),
    ("(x +\n y)", {"x": 1, "y": 2}, 3, {"x": 1, "y": 1}),
    # branches
    ("log(x) if x > 0 else 0", {"x": -1}, 0, {"x": 0}),
    ("log(x) if x > 0 else 0", {"x": 2}, math.log(2), {"x": 0.5}),
    ("where(0 < x < 1, x, y)", {"x": 0.5, "y": 7}, 0.5, {"x": 1, "y": 0}),
    ("where(x > 0 and log(x) > 1, x, y)", {"x": -1, "y": 7}, 7, {"x": 0, "y": 1}),
    ("1 if not x ≥ 2 or x == 5 else x", {"x": 5}, 1, {"x": 0}),
    # structural zeros
    ("max(sqrt(x), 1)", {"x": 0}, 1, {"x": 0}),
    ("max(sqrt(x) - 1, y)", {"x": 0, "y": 3}, 3, {"x": 0, "y": 1}),
    ("0*sqrt(x)", {"x": 0}, 0, {"x": 0}),
    ("sqrt(x)*0 + x", {"x": 0}, 0, {"x": 1}),
    ("clamp(sqrt(x), 1, 2)", {"x": 0}, 1, {"x": 0}),
    ("relu(sqrt(x) - 1)", {"x": 0}, 0, {"x": 0}),
    # activity, powers at the edges
    ("x**2", {"x": -3}, 9, {"x": -6}),
    ("x**0", {"x": 0}, 1, {"x": 0}),
    ("x**1", {"x": 0}, 0, {"x": 1}),
    ("x**3", {"x": 0}, 0, {"x": 0}),
    ("x**1.5", {"x": 0}, 0, {"x": 0}),
    ("x**y", {"x": 0, "y": 2}, 0, {"x": 0, "y": 0}),
    ("x**y", {"x": 2, "y": 3}, 8, {"x": 12, "y": 8 * math.log(2)}),
    ("cbrt(x)", {"x": -8}, -2, {"x": 1 / 12}),
    # shared and repeated inputs
    ("x*x", {"x": 3}, 9, {"x": 6}),
    ("y = x + 1; y*y*y", {"x": 1}, 8, {"x": 12}),
    # accuracy in the tails
    ("softplus(x)", {"x": 0}, math.log(2), {"x": 0.5}),
    ("expm1(x)", {"x": -40}, -1, {"x": math.exp(-40)}),
    ("tanh(x)", {"x": 20}, 1, {"x": 4 * math.exp(-40)}),
    ("sigmoid(x)", {"x": 40}, 1, {"x": math.exp(-40)}),
    ("log(x, 10)", {"x": 1000}, 3, {"x": 1 / (1000 * math.log(10))}),
    ("exp(-1000) + x", {"x": 1}, 1, {"x": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("program", "point", "value", "expected"), VALUES)
def test_values(
    program: str, point: dict[str, float], value: float, expected: dict[str, float]
) -> None:
    result = gradient(program, point)
    assert result.value == pytest.approx(value, rel=1e-15, abs=0)
    assert list(result.gradient) == list(expected)
    assert result.gradient == pytest.approx(expected, rel=1e-13, abs=1e-14)


ERRORS = [
    # program, point, kind, what the caret is under, part of the message
    ("log(x - 3)", {"x": 2}, "domain", "log(x - 3)", "`log` is undefined at -1; its domain: argument > 0 (here x = 2)"),
    ("1/(x - 2)", {"x": 2}, "domain", "1/(x - 2)", "division by zero (here x = 2)"),
    ("y + (-8)^(1/3)", {"y": 1}, "domain", "(-8)^(1/3)", "no real power"),
    ("exp(exp(x))", {"x": 10}, "overflow", "exp(exp(x))", "too large"),
    ("9**9**9**9", {}, "overflow", "9**9**9", "too large"),
    ("x*1e300*1e300", {"x": 1}, "overflow", "x*1e300*1e300", "too large"),
    ("1/(x*1e300*1e300)", {"x": 1}, "overflow", "x*1e300*1e300", "too large"),
    ("1e400*x", {"x": 1}, "overflow", "1e400", "too large"),
    ("sqrt(x)", {"x": 0}, "derivative", "sqrt(x)", "defined at 0 but its derivative is infinite there"),
    ("sqrt(x)**2", {"x": 0}, "derivative", "sqrt(x)", "0·∞"),
    ("cbrt(x)**3", {"x": 0}, "derivative", "cbrt(x)", "0·∞"),
    ("x**0.5", {"x": 0}, "derivative", "x**0.5", "infinite there"),
    ("x**y", {"x": 0, "y": 0}, "derivative", "x**y", "infinite there"),
    ("x**y", {"x": -2, "y": 3}, "derivative", "x**y", "with respect to the exponent is undefined there"),
    ("x + y", {"x": 1}, "missing_value", "y", "`y` has no value"),
    ("spam(x)", {"x": 1}, "name", "spam", "there is no function `spam`"),
    ("sine(x)", {"x": 1}, "name", "sine", "there is no function `sine`"),
    ("x(y + 1)", {"x": 1, "y": 1}, "name", "x", "has a value here"),
    ("gamma(x+1)", {"x": 1, "gamma": 2}, "name", "gamma", "has a value here"),
    ("atan2(x)", {"x": 1}, "arity", "atan2(x)", "takes 2 arguments, and 1 is given"),
    ("f(x, y) = x*y; f(1)", {}, "arity", "f(1)", "takes 2 arguments"),
    ("leaky_relu()", {}, "arity", "leaky_relu()", "takes 1 or 2 arguments"),
    ("sum()", {}, "arity", "sum()", "takes at least 1 argument"),
    ("x + (y > 1)", {"x": 1, "y": 1}, "type", "(y > 1)", "a number is needed here"),
    ("1 if x else 2", {"x": 1}, "type", "x", "a condition is needed here"),
    ("x > 1", {"x": 1}, "type", "x > 1", "a number is needed"),
    ("a, b", {"a": 1, "b": 1}, "type", "b", "2 outputs"),
    ("f(x) = f(x - 1); f(2)", {}, "name", "f", "calls itself"),
    ("y = x; x = 2; y + x", {"x": 1}, "name", "x", "used before"),
    ("e += 1; e", {}, "name", "e", "a constant"),
    ("c += 1; c", {}, "name", "c", "not bound yet"),
    ("x₁ + x1", {"x1": 1, "x₁": 1}, "name", "x1", "look alike"),
    ("polygamma(x, 2)", {"x": 1}, "type", "polygamma(x, 2)", "whole number"),
    ("c = a + 1; c*2", {"a": 1, "c": 2}, "point", "a + 1", "the program binds it"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "point", "kind", "under", "message"), ERRORS)
def test_errors(program: str, point: dict[str, float], kind: str, under: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(program, point)
    error = caught.value
    assert error.kind == kind, str(error)
    assert message in str(error)
    assert error.span is not None
    assert program[error.span.start : error.span.end] == under


WARNINGS = [
    ("abs(x)", {"x": 0}, {"x": 0}, ["abs(x)"]),
    ("relu(x)", {"x": 0}, {"x": 0}, ["relu(x)"]),
    ("max(x, y, z)", {"x": 1, "y": 1, "z": 0}, {"x": 0.5, "y": 0.5, "z": 0}, ["max(x, y, z)"]),
    ("max(x, x)", {"x": 1}, {"x": 1}, []),
    ("max(x, 1) + max(2, 2)", {"x": 0}, {"x": 0}, []),
    ("floor(x)", {"x": 2}, {"x": 0}, ["floor(x)"]),
    ("floor(x)", {"x": 2.5}, {"x": 0}, []),
    ("x if x > 0 else 0", {"x": 0}, {"x": 0}, ["x > 0"]),
    ("5*x if x != 0 else 0", {"x": 0}, {"x": 5}, []),
    ("0*abs(x)", {"x": 0}, {"x": 0}, []),
    ("y*abs(x)", {"x": 0, "y": 0}, {"y": 0, "x": 0}, []),
    ("abs(2 - 2) + x", {"x": 0}, {"x": 1}, []),
    ("hypot(x, y)", {"x": 0, "y": 0}, {"x": 0, "y": 0}, ["hypot(x, y)"]),
    ("clamp(x, 0, 1)", {"x": 1}, {"x": 0.5}, ["clamp(x, 0, 1)"]),
]


@pytest.mark.parametrize(("program", "point", "expected", "under"), WARNINGS)
def test_kinks(
    program: str, point: dict[str, float], expected: dict[str, float], under: list[str]
) -> None:
    result = gradient(program, point)
    assert result.gradient == expected
    assert [program[w.span.start : w.span.end] for w in result.warnings if w.span] == under
    assert all(w.kind == "kink" for w in result.warnings)


def test_the_hint_says_what_to_hold_fixed() -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient("x**y", {"x": -2, "y": 3})
    assert caught.value.hint == 'hold `y` fixed: `wrt="x"`'
    assert gradient("x**y", {"x": -2, "y": 3}, wrt=["x"]).gradient == {"x": 12}


def test_the_error_in_a_definition_knows_its_call() -> None:
    text = "f(u) = log(u); f(x)"
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": -1})
    span = caught.value.span
    assert span is not None and span.via is not None
    assert (text[span.start : span.end], text[span.via.start : span.via.end]) == ("log(u)", "f(x)")


def test_labels_and_intermediates() -> None:
    result = gradient("a = x*2\nb = a + 1; b += 1\nb*a", {"x": 3})
    assert [(i.name, i.line, i.value, i.grad) for i in result.intermediates] == [
        ("a", 1, 6, 14), ("b", 2, 7, 6), ("b", 2, 8, 6),
    ]  # fmt: skip
    untaken = gradient("a = log(x); a if x > 0 else 0", {"x": -1})
    assert [(i.value, i.grad) for i in untaken.intermediates] == [(None, None)]


def test_points_may_hold_constant_expressions() -> None:
    assert gradient("sin(x)", {"x": "pi/2"}).value == 1.0
    with pytest.raises(ExpressionError, match="`y` has no value here"):
        gradient("x", {"x": "y + 1"})
    with pytest.raises(ExpressionError, match="`nan` is not a value"):
        gradient("x", {"x": "nan"})


def test_wanted_variables() -> None:
    assert gradient("x*y", {"x": 2, "y": 3}, wrt=["y"]).gradient == {"y": 2}
    assert gradient("x", {"x": 2, "z": 3}, wrt=["x", "z"]).gradient == {"x": 1, "z": 0}
    with pytest.raises(ExpressionError, match="`z` is not a variable"):
        gradient("x", {"x": 2}, wrt=["z"])


def test_unused_names_are_a_warning_with_the_nearest() -> None:
    (warning,) = gradient("alpha*2", {"alpha": 1, "alhpa": 2}).warnings
    assert (warning.kind, warning.hint) == ("unused", "did you mean `alpha`?")


LATER = [
    # What a tester found: program, point, gradient, number of warnings
    ("clamp(x, x, x)", {"x": 1}, {"x": 1}, 0),
    ("clamp(x, y, z)", {"x": 1, "y": 1, "z": 1}, {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}, 1),
    ("1 if x < 1 and x < 2 else 0", {"x": 1}, {"x": 0}, 1),
    ("1 if x >= 1 or x > 5 else 0", {"x": 1}, {"x": 0}, 1),
    ("(1 if x < 1 and x < 2 else 0)*y", {"x": 1, "y": 2}, {"x": 0, "y": 0}, 1),
    ("1 if x == x else 2", {"x": 1}, {"x": 0}, 0),
    ("prod(0, sqrt(x))", {"x": 0}, {"x": 0}, 0),
    ("-0*sqrt(x)", {"x": 0}, {"x": 0}, 0),
    ("-(-0)*sqrt(x)", {"x": 0}, {"x": 0}, 0),
    ("f(x) = x + e; e = 2; f(1) + y", {"y": 1}, {"y": 1}, 0),
    ("g(x) = sin(x); sin = 3; g(y) + sin", {"y": 0}, {"y": 1}, 0),
]


@pytest.mark.parametrize(("program", "point", "expected", "warnings"), LATER)
def test_rare_meetings(
    program: str, point: dict[str, float], expected: dict[str, float], warnings: int
) -> None:
    result = gradient(program, point)
    assert result.gradient == pytest.approx(expected, rel=1e-15, abs=0)
    assert len(result.warnings) == warnings


def test_equal_arguments_share_one_derivative() -> None:
    assert gradient(f"max({', '.join(['x'] * 10_000)})", {"x": 1}).gradient == {"x": 1.0}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("f(x) = foo(x); 3", "there is no function `foo`"),
        ("f(x) = f(x); 3", "`f` calls itself"),
        ("f(x) = atan2(x); 3", "takes 2 arguments"),
    ],
)
def test_definitions_that_nothing_calls_are_checked_too(program: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        gradient(program)


def test_definitions_that_nothing_calls_add_no_variables() -> None:
    assert gradient("f(u) = a*u + pi; 3x", {"x": 1}).point == {"x": 1}


def test_what_calls_expand_to_is_counted_where_it_makes_no_nodes() -> None:
    many = ",".join(f"a{k}" for k in range(1000))
    doubling = [f"g{k}(x) = g{k - 1}(g{k - 1}(x))" for k in range(1, 30)]
    program = [f"f({many}) = a0", f"g0(x) = f({','.join(['x'] * 1000)})", *doubling, "g29(x)"]
    with pytest.raises(ExpressionError) as caught:
        gradient("\n".join(program), {"x": 1})
    assert caught.value.kind == "limit"


@pytest.mark.parametrize("text", ["y=2", "a=1;a", "1#2", "1, 2", "f(x)=x"])
def test_a_point_value_is_one_expression(text: str) -> None:
    with pytest.raises(ExpressionError, match="one expression"):
        gradient("x", {"x": text})


def test_wanted_names_may_be_one_text() -> None:
    assert gradient("x*y*z", {"x": 2, "y": 3, "z": 4}, wrt="x,z").gradient == {"x": 12, "z": 6}
