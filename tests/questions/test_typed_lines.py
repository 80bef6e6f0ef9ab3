"""What lines typed by hand ask: limits, integrals, conversions and questions in words."""

from __future__ import annotations

import shlex
from contextlib import suppress

import pytest

from autodiff_cli.cli.formula import is_in_one_piece
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import check_products, may_be_product, parse
from autodiff_cli.questions.typed_lines import (
    MAX_LENGTH,
    arguments_by_hand,
    definition_first,
    equation_of_function,
    measured_question,
    quantity_and_unit,
    words_arguments,
)
from running import autodiff


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("lim x->0+ ln x", ["limit", "ln x", "--at", "x=0+"]),
        ("limit of sin(x)/x as x approaches infinity", ["limit", "sin(x)/x", "--at", "x=inf"]),
        ("∫₀¹ x² dx", ["integrate", "x²", "--between", "x=0:1"]),
        ("integrate x^2 from 0 to 1", ["integrate", "x^2", "--between", "0:1"]),
        ("int_0^1 x^2 dx", ["integrate", "x^2", "--between", "x=0:1"]),
        ("lim_{x\\to0} sin(x)/x", ["limit", "sin(x)/x", "--at", "x=0"]),
        ("int x = 3", None),
        ("limit x/|x|, x->0", ["limit", "x/|x|", "--at", "x=0"]),
        ("∫₀¹ dx/(1+x)^2", ["integrate", "1/(1+x)^2", "--between", "x=0:1"]),
        ("integral of dx/x from 1 to 2", ["integrate", "1/x", "--between", "x=1:2"]),
        (
            r"\int_0^1 \frac{x\,dx}{\sqrt{1-x^2}}",
            ["integrate", r"\frac{x}{\sqrt{1-x^2}}", "--between", "x=0:1"],
        ),
        (r"\int \frac{dx}{x} + \frac{1}{x}", None),
        ("∫ dx/x + 1", None),
        ("limits*x", None),
        ("integral", None),
        ("x^2", None),
    ],
)
def test_limits_and_integrals_by_hand_are_arguments_of_their_commands(
    text: str, arguments: list[str] | None
) -> None:
    assert arguments_by_hand(text) == arguments
    # a line that is longer than anyone writes is a formula: the search for its parts is quadratic
    assert arguments_by_hand(text + " " * MAX_LENGTH) is None


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("slope of x^2 at x=3", ["grad", "x^2", "--at", "x=3"]),
        ("the derivative of sin x", ["diff", "sin x"]),
        ("x*y where x=1, y=2", ["grad", "x*y", "--at", "x=1, y=2"]),
        ("x = 3 at y", None),
        ("d/dx (x^2 + 1)^3 at x=1", ["diff", "d/dx (x^2 + 1)^3", "--at", "x=1"]),
        ("x^3 at 2", ["grad", "x^3", "--at", "2"]),
        ("y=x^2, x=3", ["grad", "y=x^2", "--at", "x=3"]),
        ("y=x^2, y=3", None),
        ("x + y = 3, x = 1", None),
        ("D[x^2, x]", ["diff", "x^2", "--wrt", "x"]),
        ("diff(x^4, x, 2)", ["diff", "x^4", "--wrt", "x", "--order", "2"]),
        ("int(x^2, x=0..1)", ["integrate", "x^2", "--between", "x=0:1"]),
        ("limit(1/x, x->oo)", ["limit", "1/x", "--at", "x=inf"]),
        ("Solve[x^2 == 4, x]", ["solve", "x^2 = 4", "--for", "x"]),
        ("int(x)", None),
        ("d(x+1)", None),
        ("diff(x)*diff(y)", None),
        ("y'' if y=x^3", ["diff", "x^3", "--order", "2"]),
        ("y = x^3, y'", ["diff", "x^3"]),
        ("y' if y = x*y", None),
        ("d/dx of x^4", ["diff", "x^4", "--wrt", "x"]),
        ("d2y/dx2 of y = x^4", ["diff", "x^4", "--wrt", "x", "--order", "2"]),
        ("d^2/dt^2 of t^4", ["diff", "t^4", "--wrt", "t", "--order", "2"]),
        ("d³y/dx² of x^4", None),
        ("dy/dx of x^2 + y^2 = 25", ["diff", "x^2 + y^2 = 25", "--for", "y", "--wrt", "x"]),
        ("dy/dx + y = 3", None),
        (
            "dy/dx x^2+y^2=25 at (3,4)",
            ["diff", "x^2+y^2=25", "--at", "x=3,y=4", "--for", "y", "--wrt", "x"],
        ),
        ("slope of x^2+y^2=25", ["diff", "x^2+y^2=25", "--for", "y", "--wrt", "x"]),
        ("slope of y = x^2 at x=3", ["grad", "x^2", "--at", "x=3"]),
        (
            "1/f = 1/u + 1/v, u = 20±1 cm, v = 30±1 cm",
            ["propagate", "1/f = 1/u + 1/v", "--at", "u=20±1 cm, v=30±1 cm", "--for", "f"],
        ),
        ("1/f = 1/u + 1/v, u = 20±1 cm", None),
        ("tangent to x^2+y^2=25 at (3,4)", ["tangent", "x^2+y^2=25", "--at", "x=3,y=4"]),
        ("slope of the tangent to x^2 at x=3", ["tangent", "x^2", "--at", "x=3"]),
        ("normal to x^3 at the point (2, 8)", ["tangent", "y = x^3", "--at", "x=2,y=8"]),
        ("tangent to a*b*c at (1, 2)", None),
        ("P=V*I; V=230 V; I=2 A", ["grad", "P=V*I", "--at", "V=230 V, I=2 A"]),
        ("V=230 V; I=2 A; V=3", None),
        ("x = x^2, x = 3", None),
        ("x + y = 3, x = 1 m", None),
        ("s = 2; a = 3 m/s; a*s", None),  # a bound name, not seconds
        ("a = 2 m, b = a, b*a", None),  # a list of equations
        ("x = pi/4, sin(x)", ["grad", "sin(x)", "--at", "x=pi/4"]),
        ("x^2 + y, x = 1/2, y = sqrt(2)", ["grad", "x^2 + y", "--at", "x=1/2, y=sqrt(2)"]),
        ("y = a*x^2, a = 1/2", ["diff", "a = 1/2; y = a*x^2"]),
        ("x = pi/4; sin(x)", None),  # a program
        ("x + y = 3, x = 2*y", None),
        ("ρ = 1 g/cm3, V = 2 L, ρ*V", ["grad", "ρ*V", "--at", "ρ=1 g/cm3, V=2 L"]),
        ("R = 4k7, 2*R", ["grad", "2*R", "--at", "R=4k7"]),
        ("R = 10k, C = 100n, R*C", ["grad", "R*C", "--at", "R=10k, C=100n"]),
        ("c = 4.18 J/g°C, m = 5 g, c*m", ["grad", "c*m", "--at", "c=4.18 J/g°C, m=5 g"]),
        ("a = 2k; a*x", None),  # a program in k and x
        ("a = 2k, k = 3, a*k*x", None),  # `k` is a name
        ("x = 5.00 +0.02 -0.01, 2*x", ["propagate", "2*x", "--at", "x=5.00 +0.02 -0.01"]),
        ("derivative of sin x at pi/4", ["grad", "sin x", "--at", "pi/4"]),
        ("derivative of sin(x) at 30 degrees", ["grad", "sin(x)", "--at", "30°"]),
        ("derivative of x^2 when x = 3", ["grad", "x^2", "--at", "x=3"]),
        ("derivative of a*x^2 where a = 3", ["diff", "a = 3; a*x^2"]),
        ("derivative of x^2 + y^2, x=1, y=2", ["grad", "x^2 + y^2", "--at", "x=1, y=2"]),
        ("d/dx (1/x) at 2", ["diff", "d/dx (1/x)", "--at", "x=2"]),
        ("d/dx sin(x), x = pi/3", ["diff", "d/dx sin(x)", "--at", "x=pi/3"]),
        ("value of x^2 at 5", ["grad", "x^2", "--at", "5"]),
        ("f(x) = x^2 - 4 = 0", ["solve", "x^2 - 4 = 0"]),
        ("f(x) = x^2 - 4, x = 0", None),
        ("b + a at (1, 2)", ["grad", "b + a", "--at", "a=1,b=2"]),
        ("x^2 at (1, 2)", None),
        ("A = P*r, P = 1000, r = 5%", ["grad", "A = P*r", "--at", "P=1000, r=5%"]),
    ],
)
def test_questions_in_words_are_arguments_of_commands(
    text: str, arguments: list[str] | None
) -> None:
    assert words_arguments(text) == arguments


def test_a_slope_before_an_equation_may_be_a_factor() -> None:
    with pytest.raises(ExpressionError, match="may be asked of this equation"):
        words_arguments("dy/dx x^2 + y^2 = 25")


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("f''(x) for f(x) = x^3", "f(x) = x^3; f''(x)"),
        ("f(2) where f(t) = t^2", "f(t) = t^2; f(2)"),
        ("f'(1), f(x) = x^2", "f(x) = x^2; f'(1)"),
        ("f(x) = max(x, 1), f'(2)", "f(x) = max(x, 1); f'(2)"),
        ("g(2) where f(x) = x^2", "g(2) where f(x) = x^2"),
        ("max(x, f(2))", "max(x, f(2))"),
    ],
)
def test_a_definition_stands_before_what_is_asked_of_it(text: str, program: str) -> None:
    assert definition_first(text) == program


def test_what_is_read_at_once_is_in_one_piece() -> None:
    assert all(map(is_in_one_piece, ("x^2", "sin(x)**2", "2*x²")))
    assert not any(map(is_in_one_piece, ("x = 2", "d/dx", "40mm", "2 m", "[x, y]")))


def test_a_conversion_has_a_quantity_and_a_unit() -> None:
    assert quantity_and_unit(["100 kPa", "psi"]) == ("100 kPa", "psi")
    assert quantity_and_unit(["5", "m", "in", "ft"]) == ("5 m", "ft")
    assert quantity_and_unit([]) == ("", "")


@pytest.mark.parametrize(
    ("name", "may"), [("xy", 1), ("ax", 1), ("xa", 1), ("πr", 1), ("ab", 0), ("x1", 0), ("xyz", 0)]
)
def test_short_namesmay_be_products(name: str, may: bool) -> None:
    assert may_be_product(name, ()) == may


@pytest.mark.parametrize(
    ("text", "asked", "product"),
    [
        ("x^2 + xy + y^2", None, "x*y"),
        ("x^2 + xy + y^2", ("x",), "x*y"),
        ("2pir", None, "pi*r"),
        ("A*sin(wt)", ("t",), "w*t"),
        ("A*sin(wt)", ("A",), None),
        ("ab*x", ("x",), None),
        ("x*dx", ("x",), None),
        ("pin^2", None, None),
        ("PV - nRT", ("P",), "P*V"),
        ("PV - nRT", ("T",), "n*R*T"),
        ("Tx*x", ("x",), None),
        ("mgh - E", ("h",), "m*g*h"),
        ("dt*3", ("t",), None),
        ("rate*tax + a", ("a",), None),
    ],
)
def test_a_product_of_what_is_asked_for_is_no_name(
    text: str, asked: tuple[str, ...] | None, product: str | None
) -> None:
    """`integrate ax dx` was ax*x + C, and `x^2 + xy + y^2` by x was 2*x."""
    program = parse(text)
    if product is None:
        check_products(program, asked or (), asked)
        return
    with pytest.raises(ExpressionError, match="one name or a product") as refused:
        check_products(program, asked or (), asked)
    (offer,) = refused.value.offers
    assert (offer.text, offer.certain) == (product, asked is not None)


def test_a_constant_may_be_a_word() -> None:
    check_products(parse("tax"), (), ("x",), may_lack=True)
    with pytest.raises(ExpressionError):
        check_products(parse("tax"), (), ("x",))


def test_a_name_with_a_role_is_no_product() -> None:
    check_products(parse("x^2 + xy + y^2"), ("xy", "x"), ("x",))


def test_the_range_of_a_plot_is_asked_in_words():
    asked = autodiff("plot", "x^2 from -2 to 2", "--format", "csv")
    meant = autodiff("plot", "x^2", "--range", "-2:2", "--format", "csv")
    assert asked.code == 0 and asked.out == meant.out
    assert "read as: autodiff plot 'x^2' --range -2:2" in asked.err


@pytest.mark.parametrize(
    "line",
    [
        "diff 'x^2 + xy' --wrt x",
        "diff 'x^2 + xy = 3' --for y",
        "integrate 'ax' --over x",
        "integrate 'ax' --between x=0:1",
        "limit 'sin(kx)/x' --at x=0",
        "taylor 'sin(kx)'",
        "plot 'ax^2'",
        "plot 'x + ax^2' --range x=0:1",
        "solve 'ax^2 + x = 1' --for x",
        "solve 'x^2 + ax = 4' --for x --between 0:3",
        "solve 'x + ax = 4'",
        "minimize 'x^2 + xy'",
        "maximize 'x^2 + xy'",
        "descend 'x^2 + xy'",
    ],
)
def test_each_question_refuses_a_product_as_a_name(line: str) -> None:
    found = autodiff(*shlex.split(line))
    assert (found.code, found.out) == (3, "") and "may be one name or a product" in found.err


def test_an_entry_that_is_not_used_makes_no_word_a_product() -> None:
    found = autodiff("diff", "rat*x", "--at", "t=1,x=2,rat=3", "--format", "plain")
    assert found.code == 0
    found = autodiff("diff", "rat*x", "--at", "t=1,x=2")
    assert "one name or a product" not in found.err


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("20±1 °C in K", ["propagate", "x1", "--at", "x1=20±1 °C", "--in", "K"]),
        ("12.0±0.1 in in cm", ["propagate", "x1", "--at", "x1=12.0±0.1 in", "--in", "cm"]),
        ("5±0.1 kg in pounds", ["propagate", "x1", "--at", "x1=5±0.1 kg", "--in", "lb"]),
        ("5.0±0.1 in", ["propagate", "x1", "--at", "x1=5.0±0.1 in"]),
        ("20 °C in K", None),
        ("x^2 in m", None),
    ],
)
def test_measured_numbers_are_converted(text: str, arguments: list[str] | None) -> None:
    assert measured_question(text) == arguments


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("f(x)=x^2, f(2)", "f(x)=x^2; f(2)"),
        ("f(x, y) = x^2*y, f(1, 2)", "f(x, y) = x^2*y; f(1, 2)"),
        ("f(x) = x^2, g(2)", "f(x) = x^2, g(2)"),
        ("f(x) = x^2, x", "f(x) = x^2, x"),
    ],
)
def test_a_call_behind_its_definition_is_a_program(text: str, program: str) -> None:
    assert definition_first(text) == program


@pytest.mark.parametrize(
    "piece",
    [" ", "1 ", "x = 1, ", "x = 1k ", "x=1 m/s2,", "derivative of ", "at 1/", "1(2)e3", "(1±"],
)
@pytest.mark.timeout(20)  # a pattern that tries all divisions of 500 characters takes hours
def test_questions_in_long_texts_come_to_an_end(piece: str) -> None:
    text = (piece * MAX_LENGTH)[:MAX_LENGTH]
    with suppress(ExpressionError):
        words_arguments(text)
    with suppress(ExpressionError):
        measured_question(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("sin(x) = 0.5", True),
        (" log10(x) = 2*3 ", True),
        ("erf(t) = a", True),
        ("f(x) = 2", None),
        ("relu(x) = max(0, x)", None),
        ("sin(x) = 1; sin(2)", None),
        ("sin(x) + 1 = 0", None),
        ("sin(2*x) = 1", None),
        ("y = sin(x)", None),
    ],
)
def test_an_equation_of_a_function_is_no_definition(text: str, answer: bool | None) -> None:
    assert equation_of_function(text) is answer


def test_a_session_solves_an_equation_of_a_function() -> None:
    session = autodiff("repl", stdin="log(x) = 2\nlog(100)\ncos(x) = x\nf(x) = 2\nf(1)\n")
    assert "x = 7.38905" in session.out and "ans = 4.60517" in session.out
    assert "solve 'cos(x) = x'" in session.err and "f(x) = 2" in session.out


def test_what_may_be_an_equation_or_a_definition_is_refused() -> None:
    with pytest.raises(ExpressionError, match="may be an equation") as refused:
        equation_of_function("cos(x) = x")
    equation, function = str(refused.value.hint).split("`")[1::2]
    assert shlex.split(equation) == ["autodiff", "solve", "cos(x) = x"]
    assert equation_of_function(function) is None
