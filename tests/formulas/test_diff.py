"""Derivatives as formulas: they read back to the same values, stay linear in size, and say when
they are too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

import autodiff_cli
from agreement import FORTY, POINTS, RELAXED, close
from autodiff_cli import ExpressionError, Value, gradient, parse
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.engine.algebra.walk import text_ids
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.language.printer import expression_text
from counting import compared, compares, counted_calls
from running import autodiff
from strategies import NAMES, graphs, program_text


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("x**3", ["3*x**2"]),
        ("x**2*exp(-x/2)", ["x*(4 - x)*exp(-x/2)/2"]),
        ("tanh(w*x + b)", ["x*sech(w*x + b)**2", "w*sech(w*x + b)**2", "sech(w*x + b)**2"]),
        ("abs(x)", ["sign(x)"]),
        ("relu(x)*y", ["where(x > 0, y, 0)", "relu(x)"]),
        ("log(x) if x > 0 else 0", ["where(x > 0, 1/x, 0)"]),
        ("atan(x)", ["1/(x**2 + 1)"]),
        ("sin(pi*x)/3", ["pi*cos(pi*x)/3"]),
        ("sqrt(1 + x**2)", ["x/sqrt(x**2 + 1)"]),
        ("x**(1/3)", ["1/(3*x**(2/3))"]),
        ("f(x) = 3x² - 4x + 5", ["6*x - 4"]),
        ("5", []),
    ],
)
def test_formulas(text: str, formulas: Sequence[str]) -> None:
    assert [each.formula for each in diff(text).derivatives] == formulas


@compares(100)
@given(graphs(max_leaves=8), POINTS)
@settings(RELAXED, max_examples=200)
def test_a_formula_reads_back_to_the_same_value_shared_or_not(
    graph: Value, numbers: Sequence[str]
) -> None:
    text = program_text((graph,))
    names = [v.label for v in in_order((graph,)) if v.primitive is VARIABLE]
    assume(names)
    point = {name: FORTY.literal(given) for name, given in zip(NAMES, numbers, strict=True)}
    try:
        plain, shared = diff(text), diff(text, share=True)
    except ExpressionError as error:
        assert str(error) == "division by zero", text
        return
    for k, each in enumerate(plain.derivatives):
        (output,) = parse(each.formula).outputs
        named = parse(shared.program).outputs[k]
        first, second = value_in(FORTY, output, point), value_in(FORTY, named, point)
        assert (first is None) == (second is None), text
        if first is not None:
            compared()
            assert close(first, second), (text, each.formula)
        assert expression_text(parse(each.formula).outputs[0]) == each.formula


@pytest.mark.parametrize(
    ("text", "language", "formula"),
    [
        ("atan2(x, 1e200)", "text", "1e200/(1e200**2 + x**2)"),
        ("x*expm1(800)", "latex", "e^{800} - 1"),
        ("x*log1p(-2)", "latex", r"\ln(1 - 2)"),
        ("x*mean(1e308, 1e308)", "latex", r"\frac{10^{308} + 10^{308}}{2}"),
        ("x*sum(1e308, 1e308)", "latex", r"2 \cdot 10^{308}"),
    ],
)
def test_what_has_no_value_in_doubles_is_written_all_the_same(
    text: str, language: str, formula: str
) -> None:
    assert diff(text, language=language).derivatives[0].formula == formula


@pytest.mark.parametrize(
    ("text", "told", "formula"),
    [
        ("elu(x)**2", "x > 0", "2*x"),
        ("elu(x, 2)**2", "x < 0", "8*expm1(x)*exp(x)"),
        ("leaky_relu(x)**2", "x < 0", "0.0002*x"),
        ("softsign(x)**2", "x > 0", "2*x/(x + 1)**3"),
        ("heaviside(x)*x", "x > 0", "1"),
        ("heaviside(x)*x", "x >= 0", "heaviside(x)"),
        ("x*abs(x)", "x >= 0", "2*x"),
        ("clamp(x, a, b)*x", "x < a", "a"),
        ("abs(mean(x, y))", "x > 0, y > 0", "0.5"),
        ("x*atan2(y, x)", "x > 0", "atan2(y, x) - x*y/(y**2 + x**2)"),
        ("elu(x, log(y))**2", "x > 0", "2*elu(x, log(y))"),
    ],
)
def test_assumptions_decide_on_which_side_a_function_is(text: str, told: str, formula: str) -> None:
    assert diff(text, wrt=["x"], assume=told).derivatives[0].formula == formula


def test_all_combinations_of_an_order() -> None:
    found = {each.by: each.formula for each in diff("x**2*sin(y)", order=2).derivatives}
    assert found == {("x", "x"): "2*sin(y)", ("x", "y"): "2*x*cos(y)", ("y", "y"): "-x**2*sin(y)"}
    assert [each.formula for each in diff("exp(2*x)", order=10).derivatives] == ["1024*exp(2*x)"]


def test_the_value_at_a_point_is_that_of_grad() -> None:
    assert [each.value for each in diff("x**2*sin(y)", {"x": 1.5, "y": 0.3}).derivatives] == list(
        gradient("x**2*sin(y)", {"x": 1.5, "y": 0.3}).gradient.values()
    )
    assert diff("abs(x)", {"x": 0}).warnings[0].kind == "kink"


def product(n: int) -> str:
    return "*".join(f"sin(x + {k})" for k in range(n))


def squarings(n: int) -> str:
    return "t0 = x; " + "; ".join(
        f"s{k + 1} = ({'x' if k == 0 else f's{k}'}**2 + 1)" for k in range(n)
    ).replace("t0 = x; ", "")


@pytest.mark.parametrize("program", [product, squarings], ids=["product", "squarings"])
def test_shared_formulas_are_linear_in_size_and_work(program) -> None:  # type: ignore[no-untyped-def]
    lengths, work = [], []
    for n in (40, 160, 640):
        text = program(n).removeprefix("t0 = x; ")
        with counted_calls() as count:
            lengths.append(len(diff(text, share=True).program))
        work.append(count.total)
    assert lengths[1] < 6 * lengths[0] and lengths[2] < 6 * lengths[1]
    assert work[1] < 5 * work[0] and work[2] < 5 * work[1]


def test_forty_factors_and_twenty_squarings_stay_readable() -> None:
    assert len(diff(product(40), share=True).program) < 4000
    nested = "x"
    for _ in range(9):
        nested = f"({nested})**2 + x"
    assert len(diff(squarings(20).removeprefix("t0 = x; "), share=True).program) < 1000
    assert diff("((((x**2)**2)**2)**2)**2").derivatives[0].formula == "32*x**31"


@pytest.mark.parametrize("order", [0, -1, 31, 10**6])
def test_an_order_without_reason_is_refused(order: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.diff("x", order=order)
    assert str(caught.value) == f"`order` cannot be `{order}`" and caught.value.kind == "usage"
    with pytest.raises(ExpressionError, match="above 30") as caught:
        diff("x**40", order=31)
    assert caught.value.kind == "limit"
    assert "taylor" in (caught.value.hint or "")


def test_what_is_too_long_names_the_way_out() -> None:
    text = "s1 = sin(x); " + "; ".join(f"s{k + 1} = sin(s{k}*s{k} + s{k})" for k in range(1, 24))
    with pytest.raises(ExpressionError) as caught:
        diff(text)
    assert caught.value.kind == "limit"
    assert "--share" in (caught.value.hint or "")
    assert len(diff(text, share=True).program) < 5000


def test_a_high_order_of_a_large_formula_ends() -> None:
    shown = autodiff("diff", "sin(x)**cos(x)*tan(x**x)/log(x + exp(x))", "--order", "20")
    assert shown.code == 4 and "steps of work" in shown.err


def test_python_runs() -> None:
    text = "tanh(w*x)*relu(x) + erf(x)**2"
    found = diff(text, wrt=["x"], language="python")
    space: dict[str, object] = {}
    exec(found.program, space)
    value, (slope,) = space["derivative"](w=0.5, x=2.0)  # type: ignore[operator]
    wanted = gradient(text, {"w": 0.5, "x": 2.0}, wrt=["x"])
    assert value == pytest.approx(wanted.value)
    assert slope == pytest.approx(wanted.gradient["x"])


def test_python_says_what_it_lacks() -> None:
    with pytest.raises(ExpressionError) as caught:
        diff("polygamma(8, x)", language="python")
    assert "polygamma(8, …)" in str(caught.value)


def test_latex() -> None:
    found = diff("sin(x)/x", language="latex")
    assert found.program.startswith(
        "\\begin{align*}\nf(x) &= \\frac{\\sin(x)}{x} \\\\\n\\frac{df}{dx} &= \\frac"
    )


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("1/-(x + 1)", "1/(x + 1)**2"),
        ("log(-(x + 1))", "1/(x + 1)"),
        ("(-(x + 1))**-2", None),
        ("x/(-(x + 1))**3", None),
    ],
)
def test_a_sign_taken_out_of_a_denominator(text: str, formula: str | None) -> None:
    found = diff(text).derivatives[0].formula
    assert formula is None or found == formula
    assert gradient(found, {"x": -2.5}).value == pytest.approx(
        gradient(text, {"x": -2.5}).gradient["x"], rel=1e-14
    )


@pytest.mark.parametrize(
    ("text", "formula", "value"),
    [
        # by hand, in SI units at x = 7 mm
        ("2[mm]*x", "2[mm]", 0.002),
        ("5[N]*x/(2[mm])", "5[N]/2[mm]", 2500.0),
        ("k = 3[N/mm]; k*x**2/2", "3[N/mm]*x", 21.0),
        ("sin(30[deg])*x", "sin(30[°])", 0.5),
        ("x**2/(1[mm] + x)", None, 63 / 64),
        ("sqrt(x**2 + 24[mm]**2)", None, 7 / 25),
        ("2[mm]*x + 2[mm]*x + 3[cm**2]", "2*2[mm]", 0.004),
    ],
)
def test_numbers_with_units_stay_in_a_derivative(
    text: str, formula: str | None, value: float
) -> None:
    (derivative,) = diff(text).derivatives
    found = derivative.short or derivative.formula
    assert formula is None or found == formula
    answer = gradient(found, {"x": "7 mm"}, wrt=[])
    number = answer.value if answer.units is None else answer.units["value"].to_si(answer.value)
    assert number == pytest.approx(value, rel=1e-12)
    (at,) = diff(text, {"x": "7 mm"}).derivatives
    units = diff(text, {"x": "7 mm"}).units
    assert units is not None
    assert units["values"][0].to_si(at.value) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["x**2[mm]", "2[mm] + 3[s]*sin(x)", "2[mm]*x + x", "log(x/2[mm]) + x"]
)
def test_a_formula_without_consistent_units_has_no_derivative(text: str) -> None:
    with pytest.raises(ExpressionError) as error:
        diff(text)
    assert error.value.kind == "dimension"


COURSE = [
    [piece.strip() for piece in f"{line} ".split(" | ")]
    for line in (Path(__file__).parents[1] / "corpora" / "course.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("text", "by", "formula", "condition"), [[*row, ""][:4] for row in COURSE])
def test_the_first_formulas_of_a_course_read_like_a_textbook(
    text: str, by: str, formula: str, condition: str
) -> None:
    (found,) = diff(text, wrt=[by]).derivatives
    assert (found.shown, found.condition or "") == (formula, condition)


def test_there_are_enough_formulas_of_a_course() -> None:
    assert len(COURSE) >= 150 and sum(len(row) > 3 and bool(row[3]) for row in COURSE) >= 10


def test_formulas_are_told_apart_without_being_written() -> None:
    known: dict[tuple[object, ...], int] = {}
    texts = [
        "x**2",
        "x**3",
        "y**2",
        "x**2 + 1",
        "1 + x**2",
        "sin(x)",
        "cos(x)",
        "2*x",
        "x**2",
        "2*x",
    ]
    numbers = text_ids([parse(text).outputs[0] for text in texts], known)
    assert [texts[numbers.index(number)] for number in numbers] == texts
    assert len({*numbers}) == len({*texts})
    deep = parse("f(x) = x*x + x; g(x) = f(f(f(f(f(f(x)))))); g(g(g(g(g(g(x))))))").outputs[0]
    with counted_calls(20_000):
        assert text_ids([deep], known) == text_ids([deep], known)
