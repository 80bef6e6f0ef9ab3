"""Exercises: the same ones everywhere, clean, right by another program's derivatives, and marked as
functions.
"""

from __future__ import annotations

import re
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.capabilities.exercise import exercise
from autodiff_cli.capabilities.exercise.exercise import (
    LEVELS,
    Draw,
    Exercise,
    Sheet,
    load_patterns,
    make_sheet,
    write_sum,
)
from autodiff_cli.capabilities.exercise.sheet_marks import mark
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.errors import ExpressionError
from autodiff_cli.show import html, text
from autodiff_cli.show.compiled_latex import COMPILERS
from running import autodiff
from tex import compile_all

SEEDS = (1, 7)


def lines(found: Sheet) -> list[str]:
    return text(found, "plain").splitlines()


@pytest.mark.parametrize("level", LEVELS)
def test_a_seed_gives_one_sheet_of_which_a_shorter_one_is_the_beginning(level: int) -> None:
    whole = lines(make_sheet(level, count=20, seed=7))
    assert len(whole) == 20
    assert (
        lines(make_sheet(level, count=6, seed=7))
        == whole[:6]
        == lines(make_sheet(level, count=20, seed=7))[:6]
    )
    assert lines(make_sheet(level, count=20, seed=8)) != whole


def test_the_draws_are_those_of_every_machine() -> None:
    draw = Draw(7, 1)
    assert [draw.integer(0, 99) for _ in range(8)] == [11, 32, 65, 37, 68, 66, 72, 35]


@pytest.mark.parametrize("level", LEVELS)
def test_no_two_are_alike(level: int) -> None:
    first = make_sheet(
        level, count=2 * len(load_patterns()["levels"][str(level)]), seed=3
    ).exercises
    shapes = [(each.kind, re.sub(r"\d+", "#", each.program).replace("-", "+")) for each in first]
    assert len(set(shapes)) >= 0.9 * len(shapes), (
        "nor but for their numbers, while a pattern has others"
    )
    many = make_sheet(level, count=100, seed=3).exercises
    assert len({(each.kind, each.program) for each in many}) == len(many) == 100


@pytest.mark.parametrize("level", LEVELS)
def test_numbers_are_clean(level: int) -> None:
    for seed in SEEDS:
        for each in make_sheet(level, count=40, seed=seed).exercises:
            assert (
                " 1*" not in each.program
                and "- -" not in each.program
                and "+ -" not in each.program
            ), each.program
            assert (
                len(each.names)
                == len(each.answer)
                == (len(each.wrt) if each.kind in ("gradient", "step") else 1)
            )
            for number in () if each.is_formula else each.answer:
                assert abs(Fraction(number).numerator) <= exercise.MAX_NUMERATOR
                assert Fraction(number).denominator <= exercise.MAX_DENOMINATOR


def test_each_level_has_what_it_is_about() -> None:
    kinds = {
        level: {each.kind for each in make_sheet(level, count=20).exercises} for level in LEVELS
    }
    assert {"slope", "derivative", "flat", "tangent"} == kinds[1]
    assert {"slope", "derivative"} == kinds[2]
    assert {"gradient", "derivative", "direction"} == kinds[3]
    assert {"gradient"} == kinds[4]
    assert {"slope", "gradient", "kink", "step", "second"} == kinds[5]
    assert {"antiderivative", "integral", "limit", "implicit", "curve"} == kinds[6]
    together = " ".join(
        each.program for level in (4, 5) for each in make_sheet(level, count=20).exercises
    )
    assert all(
        f"{name}(" in together for name in ("tanh", "sigmoid", "relu", "max", "abs", "where")
    )


def test_sums_are_written_as_people_write_them() -> None:
    assert write_sum(["1 x**2", "-1 x", "0 y", "-3"]) == "x**2 - x - 3"
    assert write_sum(["-2 x", "1"]) == "-2*x + 1"
    assert write_sum(["0 x"]) == "0"


# ---- right by another program -------------------------------------------------------------------------------------
def by_sympy(each: Exercise) -> Any:
    """The answer that SymPy finds: a formula, or the list of numbers."""
    sympy = pytest.importorskip("sympy")
    names: dict[str, Any] = {
        "relu": lambda x: sympy.Max(x, 0), "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
        "where": lambda c, x, y: sympy.Piecewise((x, c), (y, True)), "max": sympy.Max,
        "min": sympy.Min, "clamp": lambda x, lo, hi: sympy.Min(sympy.Max(x, lo), hi),
        "abs": sympy.Abs,
    }  # fmt: skip
    symbols = {
        name: sympy.Symbol(name, real=True) for name in ("x", "y", "z", "t", *each.point, *each.wrt)
    }
    names |= symbols
    if each.kind in ("implicit", "curve"):
        left, right = (sympy.sympify(side, names) for side in each.program.split(" = "))
        slope = sympy.idiff(left - right, symbols["y"], symbols["x"])
        at = {symbols[name]: sympy.Rational(x) for name, x in each.point.items()}
        assert not at or (left - right).subs(at) == 0
        return [slope.subs(at)] if at else slope
    if "f(" in each.program or "h(t)" in each.program:
        output = sympy.sympify(each.program.partition(" = ")[2], names)
    else:
        for statement in each.program.split("; "):
            name, _, formula = statement.partition(" = ")
            names[name] = output = sympy.sympify(formula, names)
    at = {symbols[name]: sympy.Rational(x) for name, x in each.point.items()}
    if each.kind == "antiderivative":
        return sympy.integrate(output, symbols["x"])
    if each.kind == "integral":
        low, high = (sympy.Rational(each.more[end]) for end in ("low", "high"))
        return [sympy.integrate(output, (symbols["x"], low, high))]
    if each.kind == "limit":
        to = each.more["to"]
        return [sympy.limit(output, symbols["x"], sympy.oo if to == "inf" else sympy.Rational(to))]
    slopes = [sympy.diff(output, symbols[name]) for name in each.wrt]
    numbers = [slope.subs(at) for slope in slopes] if at else []
    if each.kind == "derivative":
        return slopes[0]
    if each.kind == "second":
        return sympy.diff(slopes[0], symbols["x"])
    if each.kind == "tangent":
        return output.subs(at) + numbers[0] * (symbols["x"] - at[symbols["x"]])
    if each.kind == "flat":
        return sympy.solve(slopes[0], symbols["x"])
    if each.kind == "kink":
        # on both sides of it the slopes differ
        (answer,) = map(sympy.Rational, each.answer)
        sides = [
            slopes[0].subs(symbols["x"], answer + side)
            for side in (-sympy.Rational(1, 10**6), sympy.Rational(1, 10**6))
        ]
        assert abs(sides[0] - sides[1]) > sympy.Rational(1, 10)
        return [answer]
    if each.kind == "direction":
        along = re.search(r"direction `\((.*), (.*)\)`", each.task)
        assert along
        return [sum(sympy.Rational(along[k + 1]) * slope for k, slope in enumerate(numbers))]
    if each.kind == "step":
        rate = re.search(r"rate `(.*?)`", each.task)
        assert rate
        return [
            x - sympy.Rational(rate[1]) * slope
            for x, slope in zip(at.values(), numbers, strict=True)
        ]
    return numbers


@pytest.mark.parametrize("level", LEVELS)
def test_answers_are_those_of_sympy(level: int) -> None:
    sympy = pytest.importorskip("sympy")
    compared = 0
    for each in make_sheet(level, count=16, seed=11).exercises:
        found = by_sympy(each)
        if each.is_formula:
            # SymPy's formula, written as it writes it, is an answer too
            written = str(found).replace("Abs", "abs").replace("re(", "(")
            marked = mark(level, each.number, written, seed=11)
            assert marked.right, (each.program, written, marked.message)
            wrong = mark(level, each.number, f"1.001*({written})", seed=11)
            assert not wrong.right and wrong.how == (
                "numbers" if each.kind == "antiderivative" else "points"
            )
        else:
            assert [sympy.nsimplify(x) for x in found] == [
                sympy.Rational(x) for x in each.answer
            ], each.program
            assert mark(level, each.number, ",".join(map(str, found)), seed=11).right
        compared += 1
    assert compared == 16


# ---- marking ------------------------------------------------------------------------------------------------------
def of_kind(level: int, like: str, kind: str = "derivative", seed: int = 7) -> Exercise:
    """The first exercise of a level whose program has that in it."""
    return next(
        each
        for each in make_sheet(level, count=60, seed=seed).exercises
        if each.kind == kind and re.search(like, each.program)
    )


def hint(each: Exercise, answer: str) -> str:
    marked = mark(each.level, each.number, answer, seed=each.seed)
    assert not marked.right
    assert marked.message.startswith("wrong: ")
    return marked.hint


@pytest.mark.parametrize("level", LEVELS)
def test_the_answer_is_right_and_another_number_is_not(level: int) -> None:
    for each in make_sheet(level, count=12, seed=5).exercises:
        assert mark(level, each.number, each.answer_line, seed=5).right
        for k, part in enumerate(each.answer):
            other = [*each.answer]
            # an antiderivative is right with any constant
            other[k] = f"({part}) + {'x' if each.kind == 'antiderivative' else '1'}/1000"
            assert not mark(level, each.number, ", ".join(other), seed=5).right


def test_how_it_is_decided_is_told() -> None:
    each = of_kind(2, r"\(x\)\*\*2|x\*\*2\*exp")
    assert mark(2, each.number, each.answer[0], seed=7).how == "simplified"
    other = mark(2, each.number, f"({each.answer[0]})*(sin(x)**2 + cos(x)**2)", seed=7)
    assert other.right and (other.how == "simplified" or other.points >= 6)
    nearly = mark(2, each.number, f"{each.answer[0]} + 1e-20", seed=7)
    assert not nearly.right and "at `x = " in nearly.message


def test_common_mistakes_are_named() -> None:
    each = of_kind(2, r"^f\(x\) = x\*\*2\*exp\(-x/\d\)$|^f\(x\) = x\*\*3\*")
    first, _, second = (
        each.program.removeprefix("f(x) = ").partition("*exp")
        if "exp" in each.program
        else ("", "", "")
    )
    assert "the function itself" in hint(each, each.program.removeprefix("f(x) = "))
    assert "only the sign" in hint(each, f"-({each.answer[0]})")
    assert "times as large" in hint(each, f"3*({each.answer[0]})")
    assert "off by 2" in hint(each, f"2 + {each.answer[0]}")
    assert "--steps" in hint(each, "x + exp(x)")
    assert (first, second) is not None
    quotient = of_kind(2, r"^f\(x\) = \(.*\)/\(.*\)$|^f\(x\) = x\*\*2/\(")
    above, _, below = quotient.program.removeprefix("f(x) = ").rpartition("/")
    assert "denominator is missing" in hint(quotient, f"({quotient.answer[0]})*{below}**2")
    chain = of_kind(2, r"^f\(x\) = \(\d\*x [+-] \d\)\*\*\d$|^f\(x\) = (sin|cos|exp)\(\d\*x")
    assert "times as large" in hint(chain, f"({chain.answer[0]})/2") or above


@pytest.mark.parametrize(
    ("program", "mistake", "told"),
    [
        ("x**2*sin(x)", "2*x*cos(x)", "a product is not the product"),
        ("sin(x)/(x**2 + 1)", "cos(x)/(2*x)", "a quotient is not the quotient"),
        ("sin(x)/(x**2 + 1)", "cos(x)*(x**2 + 1) - sin(x)*2*x", "the denominator is missing"),
        ("sin(x**2)", "cos(x**2)", "the derivative of the inner function, `x**2`, is missing"),
        (
            "(3*x + 1)**4",
            "4*(3*x + 1)**3",
            "the derivative of the inner function, `3*x + 1`, is missing",
        ),
        ("log(x**2 + 1)", "1/(2*x)", "see it worked"),
        ("log(x)", "1/x + 0*sqrt(-x)", "write it so that it has a value"),
    ],
)
def test_rules_that_were_not_followed_are_named(
    program: str, mistake: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autodiff_cli.capabilities.exercise import sheet_marks
    from autodiff_cli.capabilities.formulas.diff import diff

    formula = diff(program).derivatives[0].formula
    posed = Exercise(
        "derivative", program, {}, ("x",), answer=(formula,), level=2, seed=1, number=1
    )
    monkeypatch.setattr(sheet_marks, "make_sheet", lambda *_, **__: Sheet(2, "", 1, (posed,)))
    assert mark(2, 1, formula).right
    assert told in hint(posed, mistake)


def test_numbers_are_told_apart_by_name_and_mistakes_in_them_are_named() -> None:
    each = of_kind(3, "f", "gradient")
    given = dict(zip(each.names, each.answer, strict=True))
    backwards = ",".join(f"{name}={x}" for name, x in reversed(given.items()))
    assert mark(3, each.number, backwards, seed=7).right
    one = ",".join(
        f"{name}={x}" if k else f"{name}={x}+1" for k, (name, x) in enumerate(given.items())
    )
    assert (
        f"wrong: `{each.names[0]}` has another value; `{each.names[1]}`"
        in mark(3, each.number, one, seed=7).message
    )
    slope = next(
        each
        for each in make_sheet(1, count=40, seed=7).exercises
        if each.kind == "slope" and "**2" in each.program
    )
    assert "only the sign" in hint(slope, f"-({slope.answer[0]})")
    assert "as a fraction" in hint(slope, f"{float(Fraction(slope.answer[0])) * 1.0001}")
    step = of_kind(5, "f", "step")
    up = ",".join(
        f"2*({step.point[n]}) - ({x})" for n, x in zip(step.names, step.answer, strict=True)
    )
    assert "a step up" in hint(step, up)
    assert mark(1, slope.number, f"sqrt(2)**2*({slope.answer[0]})/2", seed=7).right
    assert "see it worked" in hint(slope, "1000")


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"level": 9}, "usage", "`level` cannot be `9`"),
        ({"count": 1000}, "usage", "`count` cannot be `1000`"),
        ({"check": 1}, "usage", "`check` needs `answer`"),
        ({"answer": "1"}, "usage", "`answer` needs `check`"),
        ({"check": 1, "answer": "1", "solutions": True}, "usage", "exclude each other"),
        ({"check": 1, "answer": "1,2"}, "usage", "is 1 number, not 2"),
        ({"check": 1, "answer": "x"}, "point", "`x` has no value here"),
        ({"check": 1, "answer": "1/0"}, "domain", "has no value"),
        ({"check": 1, "answer": "1 2"}, "syntax", "no operator"),
        ({"check": 1, "answer": ""}, "syntax", "there is no expression"),
        ({"level": 3, "check": 1, "answer": "x=1,z=2"}, "usage", "the answer names"),
    ],
)
def test_what_cannot_be_answered(given: dict[str, Any], kind: str, message: str) -> None:
    level = given.pop("level", 1)
    with pytest.raises(ExpressionError, match=message) as refused:
        autodiff_cli.exercise(level, seed=7, **given)
    assert refused.value.kind == kind


def test_a_formula_with_other_variables_points_at_them() -> None:
    each = of_kind(2, "x")
    with pytest.raises(ExpressionError, match="`z` is not a variable of the exercise") as refused:
        mark(2, each.number, "x + z", seed=7)
    assert (refused.value.text, refused.value.span) == ("x + z", (4, 5, None))


def test_answers_take_no_more_work_than_others() -> None:
    each = of_kind(2, "x")
    with pytest.raises(ExpressionError) as refused, use_budget():
        mark(2, each.number, "+".join(["polygamma(40, x)"] * 300), seed=7)
    assert refused.value.kind == "limit"


# ---- solutions and forms ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
def test_solutions_end_in_the_answer_in_every_form(level: int) -> None:
    found = make_sheet(level, count=10, seed=7, solutions=True)
    for each in found.exercises:
        assert each.solution is not None
        derived, traced = each.solution.derived, each.solution.traced
        if derived is not None and each.is_formula and each.kind != "tangent":
            assert derived.derivatives[0].shown == each.answer[0]
        if traced is not None and each.kind == "gradient":
            assert [Fraction(traced.gradient[name]) for name in each.names] == [
                Fraction(x) for x in each.answer
            ]
        if each.kind == "antiderivative":
            assert each.answer[0].removesuffix(" + C") in each.solution.lines[-1]
        elif each.kind not in ("gradient", "derivative", "second", "limit", "implicit"):
            assert each.answer[-1] in " ".join(each.solution.lines)
    for form in ("table", "markdown", "latex"):
        shown = text(found, form)
        assert shown.count("nswer") == 10
        assert "{f}" not in shown and "{at}" not in shown
    assert text(found, "latex").count("$") % 2 == 0
    page = text(found, "html")
    assert page.count("<li ") == page.count("</li>") == page.count("answer: ") == 10
    assert "http" not in page and "<script" not in page
    assert html(found)


@pytest.mark.parametrize("level", LEVELS)
def test_a_sheet_without_solutions_does_not_give_them_away(level: int) -> None:
    found = make_sheet(level, count=10, seed=7)
    for form in ("table", "markdown", "latex", "html", "json", "plain", "csv"):
        assert "nswer:" not in text(found, form) and '"answer"' not in text(found, form)


def test_the_document_compiles(tmp_path: Path) -> None:
    sheets = [
        text(make_sheet(level, count=6, seed=7, solutions=True), "latex") for level in (3, 4, 6)
    ]
    assert compile_all(sheets, tmp_path) > 0


def test_a_logarithm_is_written_alike_in_every_format() -> None:
    for format in ("table", "plain", "markdown", "html", "latex"):
        sheet = autodiff("exercise", "x**2*log(3*x)", "--solutions", "--format", format).out
        assert "ln" in sheet and "log" not in sheet, format
    # what is written is read
    assert autodiff("diff", "x**2*log(3*x)", "--answer", "2x·ln(3x) + x").code == 0


def test_a_single_number_may_have_a_name() -> None:
    assert mark(1, 1, "m = -11", seed=7).right
    assert not mark(1, 1, "m = 11", seed=7).right


@pytest.mark.parametrize("seed", [1, 4])
def test_drafts_of_a_topic_take_no_work_of_the_sheet(seed: int) -> None:
    with use_budget():
        assert len(make_sheet(2, topics=["quotient"], seed=seed).exercises) == 10


def test_formulas_of_a_page_are_in_mathml() -> None:
    page = text(make_sheet(function="x^2 exp(-x/2)/(x + 1)"), "html")
    head, fraction = (
        "<mi>f</mi><mo>&#x2061;</mo><mrow>",
        "<mfrac><mrow><msup><mi>x</mi><mn>2</mn></msup>",
    )
    assert (
        head in page
        and fraction in page
        and "<msup><mi>e</mi><mrow>" in page
        and "<code>" not in page
    )
    key = text(make_sheet(function="x^2 exp(-x/2)", solutions=True), "html")
    steps, (_, answer) = key.count("<tr>"), key.split("answer: ")
    assert steps == 8 and key.count("<math ") >= 2 * steps and "<msup><mi>e</mi>" in answer
    traced = text(make_sheet(4, count=3, seed=3, solutions=True), "html")
    assert "<mover><mi>L</mi><mo>¯</mo></mover>" in traced and "<mo>+=</mo>" in traced
    assert "**" not in re.sub("<[^>]*>", "", page + key + traced) and "\\" not in traced


def test_a_sheet_has_a_title_and_a_line_for_the_name_and_a_key_has_none() -> None:
    found = make_sheet(1, count=1, title="Sheet 3 & more")
    assert "<h1>Sheet 3 &amp; more</h1>" in text(
        found, "html"
    ) and r"\section*{Sheet 3 \& more}" in text(found, "latex")
    assert text(found, "table").startswith("Sheet 3 & more\n")
    for form in ("html", "latex"):
        assert "Name: " in text(found, form)
        assert "Name: " not in text(make_sheet(1, count=1, solutions=True), form)


def test_topics_take_turns_each_of_its_level_and_of_one_level_if_it_has_all() -> None:
    found = make_sheet(topics=["slope", "limit", "chain"], count=6)
    assert [each.level for each in found.exercises] == [1, 6, 2] * 2
    assert (found.level, found.heading) == (0, "slope, limit, chain (seed 1)")
    assert [each.kind for each in found.exercises] == ["slope", "limit", "derivative"] * 2
    same = make_sheet(topics=["chain", "product"], count=20)
    assert (same.level, len({each.program for each in same.exercises})) == (2, 20)
    with pytest.raises(ExpressionError, match="no exercise of level 2 is about `limit`"):
        make_sheet(2, topics=["chain", "limit"])
    assert autodiff("exercise", "--topic", "chain,limits", "--count", "2").code == 2


def test_a_file_of_functions_is_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_bytes("\ufeff# week 3\r\nx^2 sin x\r\n\r\nx*y\r\n".encode())
    sheet = autodiff("exercise", "--file", str(path), "--format", "plain")
    assert sheet.out.splitlines() == [
        "1. Differentiate f(x) = x²·sin(x).",
        "2. Find the partial derivative of f(x, y) = x·y by x.",
        "3. Find the partial derivative of f(x, y) = x·y by y.",
    ]
    assert autodiff("exercise", "--file", str(path), "--check", "3", "--answer", "x").code == 0
    path.write_text("x^2\n\nsin(\n")
    refused = autodiff("exercise", "--file", str(path))
    assert refused.code == 3 and "line 3: " in refused.err
    path.write_text("# none\n")
    assert autodiff("exercise", "--file", str(path)).code == 2


def test_questions_are_asked_until_they_are_answered() -> None:
    def asked(*answers: str) -> tuple[int, list[str], str]:
        sheet = autodiff(
            "exercise",
            "--ask",
            "--count",
            "2",
            "--seed",
            "7",
            stdin="".join(f"{x}\n" for x in answers),
        )
        return sheet.code, sheet.out.splitlines(), sheet.err

    code, out, err = asked("-11", "1")
    assert (code, err, out[-1]) == (0, "", "2 of 2 exercises right")
    assert out[3:5] == ["> -11", "right"]
    code, out, err = asked("11", "-11", "")
    assert (code, out[-1]) == (1, "1 of 2 exercises right, 0 of them at once")
    assert "  hint: only the sign is wrong" in out and "the answer: 1" in out
    code, out, err = asked("x", "1/", "-11")
    # what cannot be read is no try, and the end of the input ends the session
    assert (code, out[-1]) == (1, "1 of 2 exercises right") and err.count("error: ") == 2
    code, out, _ = asked("1", "2", "3", ":quit")
    assert code == 1 and "the answer: -11" in out and out[-1] == "0 of 2 exercises right"


def test_a_sheet_is_a_pdf_by_the_latex_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sheet.pdf"
    if any(map(shutil.which, COMPILERS)):
        assert autodiff("exercise", "--count", "2", "--output", str(path)).code == 0
        assert path.read_bytes().startswith(b"%PDF-")
    marked = autodiff("exercise", "--check", "1", "--answer", "2", "--output", str(path), "--force")
    assert marked.code == 2 and "a PDF is made of a sheet" in marked.err
    monkeypatch.setattr(shutil, "which", lambda name: None)
    none = autodiff("exercise", "--count", "2", "--output", str(path), "--force")
    assert none.code == 5 and "needs LaTeX, and there is none of" in none.err
