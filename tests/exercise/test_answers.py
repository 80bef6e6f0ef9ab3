"""Answers to own questions: right in any form, wrong with the mistake that was made, for
derivatives and the rest.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from autodiff_cli import ExpressionError
from autodiff_cli import diff as api_diff
from autodiff_cli.__main__ import run
from autodiff_cli.capabilities.exercise.answers import check_derivative, check_hessian, check_series
from autodiff_cli.capabilities.exercise.equation_answers import check_solution
from autodiff_cli.capabilities.exercise.exercise import TOPICS, make_sheet
from autodiff_cli.capabilities.exercise.sheet_marks import sheet_or_mark
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.engine.algebra.rational_functions import vanishes
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.problem import parse

RIGHT = [
    ("x**2*sin(x)", "2x sin x + x² cos x"), ("x**2*sin(x)", "x(2 sin x + x cos x)"),
    ("(x + 1)**2", "2x + 2"), ("sin(x)/x", "(x cos x - sin x)/x²"), ("sin(x)**2", "2 sin x cos x"),
    ("sin(x)*cos(x)", "1 - 2 sin(x)^2"), ("tan(x)", "1 + tan(x)^2"), ("tan(x)", "1/cos(x)^2"),
    ("x**3", "f'(x) = 3x²"), ("x**3", "dy/dx = 3x^2"), ("x**3", "y' = 3x^2"),
    ("x**2*exp(-x)", "exp(-x)*(2x - x^2)"), ("log(x**2 + 1)", "2x/(x^2+1)"),
    ("(x**2 - 1)/(x**2 + 1)", "4x/(x^2+1)^2"), ("sinh(x)*cosh(x)", "2sinh(x)^2 + 1"),
]  # fmt: skip
UNDECIDED = [("sin(2*x)", "2(cos(x)^2 - sin(x)^2)"), ("sqrt(x**2 + 1)", "x/(x^2+1)^(1/2)")]
WRONG = [
    ("x**2*sin(x)", "2x cos x", "not the product of the derivatives"),
    ("x**2*sin(x)", "2x sin x", "a term of the product rule is missing"),
    ("x**2*sin(x)", "2x sin x - x² cos x", "the product rule has a plus"),
    ("x**2*sin(x)", "x sin x + x² cos x", "in the derivative of `x**2`: the exponent is missing"),
    ("x**2*sin(x)", "2x sin x + x² cos(x) + 1", "it is off by 1 everywhere"),
    ("sin(x)/x", "cos x", "not the quotient of the derivatives"),
    ("sin(x)/x", "(x cos x + sin x)/x²", "the quotient rule has a minus"),
    ("sin(x)/x", "x cos x - sin x", "the denominator is missing"),
    ("sin(x**2)", "cos(x^2)", "the derivative of the inner function, `x**2`, is missing"),
    (
        "x*exp(3*x)",
        "exp(3x) + x exp(3x)",
        "derivative of `exp(3*x)`: the derivative of the inner function, `3*x`",
    ),
    ("cos(x)", "sin x", "only the sign is wrong"),
    ("x + cos(x)", "1 + sin x", "the sign of the derivative of `cos` is wrong"),
    ("x**3", "3x^3", "the exponent goes down by 1"),
    ("x**3", "x^4/4", "antiderivative"),
    ("x**3", "x^3", "that is the function itself"),
    ("cosh(x)", "sinh(x) + 1", "it is off by 1 everywhere"),
    ("cosh(x)", "sinh(x) + x", "see it worked"),
    ("x**2 + sin(x)", "2x", "the derivative of the term `sin(x)` is missing"),
    ("x**2 + sin(x)", "2x + sin(x)", "the term `sin(x)` is not differentiated"),
]


@pytest.mark.parametrize(("text", "answer"), RIGHT)
def test_right_answers_are_decided_by_formulas(text: str, answer: str) -> None:
    marked = check_derivative(text, answer=answer)
    assert marked.right and marked.how == "simplified", marked


@pytest.mark.parametrize(("text", "answer"), UNDECIDED)
def test_what_is_only_compared_at_points_is_said(text: str, answer: str) -> None:
    marked = check_derivative(text, answer=answer)
    assert marked.right and (marked.how == "simplified" or "not a proof" in marked.message)


@pytest.mark.parametrize(("text", "answer", "hint"), WRONG)
def test_mistakes_are_named(text: str, answer: str, hint: str) -> None:
    marked = check_derivative(text, answer=answer)
    assert not marked.right and marked.message.startswith("wrong: at `x = ") and hint in marked.hint


def test_what_is_nearly_right_is_wrong() -> None:
    assert not check_derivative("x**2", answer="2x + 1e-20").right
    assert not check_derivative("sin(x)", answer="cos(x) + 1e-25*x").right
    with pytest.raises(ExpressionError, match="1 formula, and 2 derivatives"):
        check_derivative("x*y", answer="y")
    assert check_derivative("x*y", answer="y", wrt=["x"]).right
    assert (
        check_derivative("x**3", answer="6x", order=2).right
        and not check_derivative("x**3", answer="3x", order=2).right
    )
    marked = api_diff("x**2", answer="2x")
    assert marked.right and str(marked).startswith("right")


@pytest.mark.parametrize(
    "text", ["x**2*sin(y)", "exp(x)/(x - y)", "(x + y)**5/(1 + x**2)", "tan(x*y)", "log(x)*x**3"]
)
def test_vanishing_differences(text: str) -> None:
    for derivative in diff(text).derivatives:
        assert vanishes(parse(f"({derivative.formula}) - ({derivative.formula})").outputs[0])
        assert not vanishes(
            parse(f"({derivative.formula})*(1 + 1e-30*x) - ({derivative.formula})").outputs[0]
        )
    assert vanishes(parse("(a + b)**3 - a**3 - 3*a**2*b - 3*a*b**2 - b**3").outputs[0])
    assert vanishes(parse("1/(x - 1) - 1/(x + 1) - 2/(x**2 - 1)").outputs[0])
    assert not vanishes(parse("sqrt(x**2) - x").outputs[0])


def test_identities_are_multiplied_out_up_to_a_length() -> None:
    assert vanishes(parse("sin(x)**4 - cos(x)**4 - sin(x)**2 + cos(x)**2").outputs[0])
    assert vanishes(parse("cosh(x)**6 - sinh(x)**6 - 3*cosh(x)**2*sinh(x)**2 - 1").outputs[0])
    assert vanishes(parse("sqrt(x)*sqrt(x)*(x + 1)**20*(x - 1)**20 - x*(x**2 - 1)**20").outputs[0])
    assert not vanishes(
        parse("(a + b + c + d + x + y)**12 - (a + b + c + d + x + y)**11").outputs[0]
    ), "too long"


@pytest.mark.parametrize(
    ("text", "answer", "right", "words", "more"),
    [
        ("x**2 - 5*x + 6 = 0", "2, 3", True, "these are the solutions", {}),
        ("x**2 - 5*x + 6 = 0", "x = 3 or x = 2", True, "", {}),
        ("x**2 = 2", "±sqrt(2)", True, "", {}),
        ("x**2 = 2", "sqrt(2)", False, "1 solution is missing", {}),
        ("x**2 = 2", "1.4142, -1.4142", True, "rounded", {}),
        ("x**2 = 2", "1.4143, -1.4142", False, "`1.4143` is not a solution", {}),
        ("x**2 = 2", "1.4, -1.4", False, "`1.4` is not a solution", {}),
        # half a unit of the last digit, and no more
        ("2*x = 2.469", "1.234", True, "rounded", {}),
        ("2*x = 2.46898", "1.234", True, "rounded", {}),
        ("2*x = 2.46902", "1.234", False, "`1.234` is not a solution", {}),
        ("x**2 - 5*x + 6 = 0", "2, -3", False, "`-3` is not a solution", {}),
        ("x**2 + 1 = 0", "none", True, "there is no solution", {}),
        ("x**2 - 1 = 0", "none", False, "there are solutions", {}),
        ("x + y = 3; x - y = 1", "none", False, "there are solutions", {}),
        ("x**2 - 4 = 0", "x = ±2.0", True, "these are the solutions", {}),
        ("x**2 - 4 = 0", "x=2; x=-2", True, "these are the solutions", {}),
        ("x*exp(x) = 1", "0.567", True, "not known", {}),
        ("x**2 = 4", "2.0000000000001, -2", False, "is not a solution", {}),
        ("x**2 = 2", "±(sqrt(2) + 1e-40)", False, "is not a solution", {}),
        ("exp(x) = 3", "ln 3", True, "this is the solution", {}),
        ("sqrt(x) = x/2", "0, 4", True, "these are the solutions", {}),
        ("sqrt(x) = x/2", "4", False, "1 solution is missing", {}),
        ("sqrt(x) = x/2", "1e-60, 4", False, "`1e-60` is not a solution", {}),
        ("cos(x) = 0", "1001pi/2", False, "at least 6 solutions are missing", {}),
        ("a*x + b = 0", "-b/a", True, "", {"unknowns": ["x"]}),
        ("m*x = 1", "1/m", True, "solves the equation", {"unknowns": ["x"]}),
        ("a*x + b = 0", "b/a", False, "not a solution", {"unknowns": ["x"]}),
        ("a*x**2 + b*x + c = 0", "(-b ± sqrt(b^2 - 4a c))/(2a)", True, "", {"unknowns": ["x"]}),
        ("a*x**2 = b", "sqrt(b/a)", False, "1 solution is missing", {"unknowns": ["x"]}),
    ],
)
def test_solutions(text: str, answer: str, right: bool, words: str, more: dict[str, Any]) -> None:
    marked = check_solution(text, answer=answer, **more)
    assert marked.right == right and words in marked.message


CIRCLE = "x**2 + y**2 = 25; x + y = 7"
AROUND = {"between": {"x": Range(-9, 9), "y": Range(-9, 9)}, "unknowns": ["x", "y"]}


@pytest.mark.parametrize(
    ("text", "answer", "said"),
    [
        ("sin(x) = 0", "n*pi", "right: these are all solutions"),
        ("sin(x) = 0", "x = πk, k ∈ ℤ", "right: these are all solutions"),
        ("sin(x) = 0", "2*pi*n, pi + 2*pi*n", "right: these are all solutions"),
        ("sin(x) = 0", "2*pi*n", "wrong: in each period 1 solution is missing"),
        ("sin(x) = 1/2", "π/6 + 2πn or 5π/6 + 2πn, n integer", "right: these are all solutions"),
        ("sin(x) = 1/2", "(-1)^n*pi/6 + pi*n", "right: these are all solutions"),
        ("sin(x) = 1/2", "pi/6 + pi*n", "wrong: not every `pi/6 + pi*n` is a solution"),
        ("cos(x) = 1/2", "±pi/3 + 2*pi*n", "right: these are all solutions"),
        ("cos(x) = 0", "(2k + 1)*pi/2", "right: these are all solutions"),
        ("tan(2*x) = 1", "pi/8 + n*pi/2", "right: these are all solutions"),
        ("tan(2*x) = 1", "pi/8 + n*pi", "wrong: in each period 1 solution is missing"),
        ("sin(x) = 0.3", "0.3047 + 2*pi*n", "wrong: not every `0.3047 + 2*pi*n` is a solution"),
        ("x**2 = 4", "2*n", "wrong: not every `2*n` is a solution"),
        ("x*sin(x) = 0", "pi*n", "right: these are all solutions"),
        ("a = sin(b*x)", "(asin(a) + 2*pi*n)/b", "wrong: in each period 1 solution is missing"),
        (
            "a = sin(b*x)",
            "(asin(a) + 2*pi*n)/b, (pi - asin(a) + 2*pi*n)/b",
            "right: these are all solutions",
        ),
    ],
)
def test_solutions_that_repeat(text: str, answer: str, said: str) -> None:
    marked = check_solution(text, unknowns=["x"], answer=answer)
    assert (marked.message, marked.right) == (said, said.startswith("right"))


def test_solutions_that_repeat_and_are_not_known_are_not_marked() -> None:
    with pytest.raises(ExpressionError, match="only where all are known"):
        check_solution("sin(x) = x/10", answer="pi*n")


@pytest.mark.parametrize(
    ("text", "answer", "right", "words", "more"),
    [
        (CIRCLE, "x=3, y=4; x=4, y=3", True, "these are solutions", AROUND),
        (CIRCLE, "x=3, y=4, x=4, y=3", True, "these are solutions", AROUND),
        (CIRCLE, "(4, 3) or (3, 4)", True, "these are solutions", AROUND),
        (CIRCLE, "y=4, x=3", False, "1 solution is missing", AROUND),
        (CIRCLE, "x=3, y=4; x=4, y=3; x=0, y=7", False, "`x = 0, y = 7` is not a solution", AROUND),
        (CIRCLE, "x=3.0000000001, y=3.9999999999; x=4, y=3", False, "is not a solution", AROUND),
        ("x + 2*y = 1; x - y = 1/3", "5/9, 2/9", True, "this is the solution", {}),
        ("x + 2*y = 1; x - y = 1/3", "0.5556, 0.2222", True, "rounded", {}),
        ("x + 2*y = 1; x - y = 1/3", "0.5557, 0.2222", False, "is not a solution", {}),
        (
            "a*x + y = 1; x - y = b",
            "x=(1+b)/(a+1), y=(1-a*b)/(a+1)",
            True,
            "this is",
            {"unknowns": ["x", "y"]},
        ),
        (
            "a*x + y = 1; x - y = b",
            "x=(1+b)/(a-1), y=(1-a*b)/(a+1)",
            False,
            "not a solution",
            {"unknowns": ["x", "y"]},
        ),
        ("u*v = c; u = v", "u=sqrt(c), v=sqrt(c)", True, "not known", {"unknowns": ["u", "v"]}),
        ("x + y + z = 6; x - y = -1; z = 3*x", "x=1,y=2,z=3", True, "this is the solution", {}),
        ("x + y + z = 6; x - y = -1; z = 3*x", "1,3,2", False, "not a solution", {}),
    ],
)
def test_solutions_of_several_equations(
    text: str, answer: str, right: bool, words: str, more: dict[str, Any]
) -> None:
    marked = check_solution(text, answer=answer, **more)
    assert marked.right == right and words in marked.message
    assert ("not known" in marked.message) is (right and (more is AROUND or "*v" in text))


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ("x=-3, y=4", "the sign of `x` is wrong"),
        ("x=1, y=2", "substitute it in `x + y = 7`"),
        ("x=7, y=0", ""),
    ],
)
def test_what_is_wrong_with_a_solution_of_several_equations(answer: str, hint: str) -> None:
    marked = check_solution("x + y = 7; 2*x - y = -1 + 3", answer=answer)
    assert not marked.right and hint in marked.hint


@pytest.mark.parametrize("answer", ["x=3", "x=3, z=4", "1, 2, 3", "", "x=3, y=4; x=4"])
def test_an_answer_without_a_value_of_each_unknown_is_refused(answer: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check_solution(CIRCLE, answer=answer, **AROUND)
    assert caught.value.kind == "usage" and "`x=…, y=…`" in caught.value.diagnostic.hint


@pytest.mark.parametrize(
    ("text", "at", "order", "answer", "words"),
    [
        ("exp(x)", "0", 3, "1 + x + x²/2 + x³/6", ""),
        ("exp(x)", "0", 3, "1 + x + x²/2 + x³", "divide it by 3!"),
        ("sin(x)", "0", 3, "x + x^3/6", "its sign is wrong"),
        ("sin(x)", "0", 5, "x - x^3/6", "the term of order 5 is missing"),
        ("sin(x)", "0", 3, "x - x^3/6 + x^5/120", "leave the terms beyond order 3 out"),
        ("log(x)", "1", 2, "(x-1) - (x-1)^2/2", ""),
        ("sin(x)", "pi/2", 2, "1 - (x - pi/2)^2/2", ""),
        ("sin(x)/x", "0", 2, "1 - x^2/6", ""),
    ],
)
def test_series(text: str, at: str, order: int, answer: str, words: str) -> None:
    marked = check_series(text, {"x": at}, answer=answer, order=order)
    assert marked.right == (not words) and words in marked.hint


def test_hessians() -> None:
    at = {"x": 1, "y": 2}
    for matrix in ("4, 2; 2, 0", "[4, 2; 2, 0]", "[[4, 2], [2, 0]]", "[ [4,2] , [2,0] ]"):
        assert check_hessian("x**2*y", at, answer=matrix).right
    assert not check_hessian("x**2*y", at, answer="[[4, 2], [2, 1]]").right
    assert check_hessian(
        "sin(x*y)", at, answer="-4sin(2), cos(2)-2sin(2); cos(2)-2sin(2), -sin(2)"
    ).right
    assert check_hessian("x**2*y", at, answer="4, 2; 0, 0").hint == "a Hessian is symmetric"
    assert check_hessian("x**2*y", at, answer="4, -2; -2, 0").hint == "its sign is wrong"
    product = check_hessian("x**2*y", at, answer="4, 4; 4, 0")
    assert product.entries[1].hint == "that is the product of the first derivatives"
    assert not check_hessian("sin(x*y)", at, answer="-3.637, -2.2; -2.2, -0.9").right
    assert not check_hessian(
        "sin(x*y)", at, answer="-4sin(2)+1e-45, cos(2)-2sin(2); cos(2)-2sin(2), -sin(2)"
    ).right
    named = check_hessian("x**2*y", at, answer="d2/dx2 = 4, f_xy = 2")
    assert not named.right and [entry.message for entry in named.entries] == [
        "right",
        "right",
        "missing",
    ]
    assert check_hessian("x**2*y", at, answer="f_xx = 4, f_yx = 2, f_yy = 0").right
    with pytest.raises(ExpressionError, match="2 rows"):
        check_hessian("x**2*y", at, answer="4, 2")


def test_entries_in_another_order_of_the_variables_are_said_to_be_right_in_that() -> None:
    # without names they are by the variables as the formula has them, here y and x
    words = "; in the order x, y they are right, but the order is y, x"
    right, wrong = "-3*sin(2), cos(2); cos(2), 0", "-3*sin(2), cos(2); cos(2), 1e-30"
    for answer, said in ((right, True), (wrong, False)):
        marked = check_hessian("y*sin(x)", {"x": 2, "y": 3}, answer=answer)
        assert not marked.right and marked.message.endswith(words) == said
    assert check_hessian("y*sin(x)", {"x": 2, "y": 3}, answer="0, cos(2); cos(2), -3*sin(2)").right
    for answer, said in (("y*cos(x), sin(x)", True), ("y*cos(x), 1.001*sin(x)", False)):
        marked = check_derivative("y*sin(x)", answer=answer)
        assert not marked.right and marked.message.endswith(words) == said
    assert check_derivative("y*sin(x)", answer="d/dx = y*cos(x), d/dy = sin(x)").right
    cyclic = check_derivative("y*sin(x)*w", answer="y*sin(x), w*y*cos(x), w*sin(x)")
    assert not cyclic.right and cyclic.message.endswith(
        "in the order w, x, y they are right, but the order is y, x, w"
    )


# ---- exercises about something ------------------------------------------------------------------------------------
@pytest.mark.parametrize("topic", [*TOPICS])
def test_exercises_about_a_topic(topic: str) -> None:
    exercises = make_sheet(
        TOPICS[topic][0], count=4, seed=3, topics=[topic], solutions=True
    ).exercises
    assert len(exercises) >= 2
    for each in exercises:
        if topic in ("product", "quotient", "chain"):
            assert each.solution is not None and each.solution.derived is not None
            rules = {step.rule for step in each.solution.derived.derivations[0].steps}
            assert rules & {topic, {"quotient": "reciprocal"}.get(topic, "")}
        else:
            assert each.kind in TOPICS[topic][1]


def test_exercises_about_an_own_function() -> None:
    own = sheet_or_mark(function="x^2 sin y", solutions=True)
    assert [(each.wrt, each.program) for each in own.exercises] == [  # type: ignore[union-attr]
        (("x",), "f(x, y) = x^2*sin(y)"), (("y",), "f(x, y) = x^2*sin(y)"),
    ]  # fmt: skip
    marked = sheet_or_mark(function="x^2 sin y", check=2, answer="x² cos y")
    assert marked.right  # type: ignore[union-attr]
    with pytest.raises(ExpressionError, match="no exercise 3"):
        sheet_or_mark(function="x^2 sin y", check=3, answer="1")


LONG = {
    "minus signs": "-" * 10**5,
    "blanks after a label": "d2/dx2" + " " * 10**5,
    "blanks before a label's sign": "x" + " " * 10**5 + "= 2",
    "commas": "," * 10**5,
    "parentheses": "(" * 10**5,
}
ASKED_ABOUT = (
    ["diff", "x**2"],
    ["diff", "x**2*y", "--order", "2"],
    ["solve", "x**2 = 4"],
    ["solve", "x+y=3; x-y=1"],
    ["taylor", "exp(x)", "--at", "x=0"],
    ["hessian", "x**2*y", "--at", "x=1,y=2"],
    ["exercise", "--level", "1", "--check", "1"],
)


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
@pytest.mark.parametrize("args", ASKED_ABOUT, ids=" ".join)
def test_long_answers_are_refused_before_they_are_read(
    args: list[str], long: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.process_time()
    assert run([*args, f"--answer={long}"]) == 4
    assert time.process_time() - begun < 1
    assert "characters, and at most 10000 are read" in capsys.readouterr().err


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
@pytest.mark.parametrize("args", ASKED_ABOUT, ids=" ".join)
def test_the_longest_answers_that_are_read_take_little_time(args: list[str], long: str) -> None:
    begun = time.process_time()
    assert run([*args, f"--answer={long[:9_990]}"]) in (1, 2, 3, 4)
    assert time.process_time() - begun < 1.5
