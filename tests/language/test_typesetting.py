"""Typeset mathematics: what a mathematician would write, and read back, what was meant."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.engine.graphs.value import Value
from autodiff_cli.engine.table.primitive import FUNCTIONS
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.diagnostics.leniency import read_leniently
from autodiff_cli.language.printer import expression_text
from autodiff_cli.language.typesetting import Typesetting, expression_latex, names_in, number_latex
from autodiff_cli.questions.arithmetic import arithmetic_of
from autodiff_cli.questions.problem import parse
from places import TESTS
from strategies import NAMES, PUBLIC, graphs
from typeset import Ambiguous, Reader

FORMULAS = [
    json.loads(line)
    for line in (TESTS / "corpora" / "corpus.jsonl").read_text("utf-8").splitlines()
]
PRECISE = arithmetic_of(False, 40, False)

WRITTEN = {
    "2*x": "2x",
    "2*pi*r": r"2\pi r",
    "2*3*x": r"2 \cdot 3x",
    "x*2": r"x \cdot 2",
    "x*(x + 1)": "x (x + 1)",
    "(x + 1)*(x - 2)": "(x + 1) (x - 2)",
    "x*x": r"x \cdot x",
    "x*x^n + x^2*x": r"x \cdot x^{n} + x^{2} \cdot x",
    "2*(1/3)": r"2 \cdot \frac{1}{3}",
    "a*b*-c": r"a b \cdot (-c)",
    "-x*y": "-x y",
    "a + -b": "a - b",
    "a - (b - c)": "a - (b - c)",
    "exp(-x/2)": "e^{-x/2}",
    "exp(-(x - mu)**2/(2*sigma**2))": r"e^{-(x - \mu)^{2}/(2\sigma^{2})}",
    "exp(exp(x**2))": r"\exp(e^{x^{2}})",
    "1/sqrt(2*pi)": r"\frac{1}{\sqrt{2\pi}}",
    "-x/2": r"-\frac{x}{2}",
    "x**(n - 1)": "x^{n - 1}",
    "x**(1/2)": "x^{1/2}",
    "(-x)**2": "(-x)^{2}",
    "(x/y)**2": r"\left(\frac{x}{y}\right)^{2}",
    "sin(x)**2": r"\sin^{2}(x)",
    "(sin(x)**2)**(1/3)": r"(\sin^{2}(x))^{1/3}",
    "sech(x)**2": r"\operatorname{sech}^{2}(x)",
    "sin(x/2)": r"\sin\left(\frac{x}{2}\right)",
    "sin(x)**-1": r"\sin(x)^{-1}",
    "beta_max*sigma": r"\beta_{\max} \sigma",
    "k_B*T": "k_{B} T",
    "price*rate": r"\mathit{price} \cdot \mathit{rate}",
    "2*rate": r"2\,\mathit{rate}",
    "|x|*|y|": r"\left|x\right| \cdot \left|y\right|",
    "1e-3*x": "10^{-3} x",
    "2.5e-7*x": r"2.5 \times 10^{-7} x",
    "1_000 + .5": "1000 + 0.5",
    "log(x, 2) + log2(x)": r"\log_{2}(x) + \log_{2}(x)",
    "log1p(x)": r"\ln(1 + x)",
    "2*expm1(x)": "2(e^{x} - 1)",
    "x if x > 0 else -x if x < -1 else 0":
        r"\begin{cases} x & \text{if } x > 0 \\ -x & \text{else if } x < -1 \\ 0 & \text{otherwise} \end{cases}",
    "1 + where(x > 0 and not y <= 1, 1, 0)":
        r"1 + \left(\begin{cases} 1 & \text{if } x > 0 \text{ and } \text{not } y \le 1 \\ 0 & \text{otherwise} "
        r"\end{cases}\right)",
    "gamma(x)": r"\Gamma(x)",
    "Gamma*(x + 1)": r"\Gamma \cdot (x + 1)",
    "sum(x, y, 3)": "x + y + 3",
}  # fmt: skip


@pytest.mark.parametrize(("text", "latex"), WRITTEN.items())
def test_as_a_mathematician_writes_it(text: str, latex: str) -> None:
    assert expression_latex(parse(text).outputs[0]) == latex


def read_back(root: Value, names: list[str]) -> str:
    """The program that the LaTeX of a formula means."""
    typeset = Typesetting(names)
    return Reader(typeset.expression(root), {typeset.name(name): name for name in names}).program()


def same(text: str, back: str, points: list[dict[str, float]]) -> int:
    """How often the two have values, which have to be the same."""
    compared = 0
    for point in points:
        try:
            wanted = gradient(text, point, wrt=[], arithmetic=PRECISE).value
        except ExpressionError:
            continue
        found = gradient(back, point, wrt=[], arithmetic=PRECISE).value
        assert float(found) == pytest.approx(float(wanted), rel=1e-12, abs=1e-200), (
            text,
            back,
            point,
        )
        compared += 1
    return compared


def test_formulas_and_their_derivatives_mean_what_they_did() -> None:
    compared = 0
    for formula in FORMULAS:
        text = formula["expr"]
        if len(text) > 600:
            continue
        try:
            derivatives = [each.formula for each in diff(text).derivatives[:2]]
        except ExpressionError:
            derivatives = []
        for each in (text, *derivatives):
            program = parse(each, formula["points"][0])
            back = read_back(program.outputs[0], list(program.variables))
            point = {
                name: x for name, x in formula["points"][0].items() if name in program.variables
            }
            compared += same(each, back, [point])
    assert compared > 250


POINTS = [
    dict(zip(NAMES, values, strict=True))
    for values in ((0.3, 2.0, 0.7, 1.25, 0.5, 3.0), (-1.5, 0.4, 2.0, -0.6, 1.0, 0.2))
]


def test_random_formulas_mean_what_they_did() -> None:
    compared = 0

    @settings(max_examples=150)
    @given(graphs([p for p in PUBLIC if p.name not in ("gelu", "erfinv")]))
    def check(root: Value) -> None:
        nonlocal compared
        names = list(dict.fromkeys(names_in((root,))))
        back = read_back(root, names)
        compared += same(expression_text(root), back, [{n: p[n] for n in names} for p in POINTS])

    check()
    assert compared > 60


@pytest.mark.parametrize("latex", ["2 3", r"2\frac{1}{2}", r"\Gamma (x)", "x +", r"\sin x"])
def test_the_reader_of_this_test_complains_of_what_is_ambiguous(latex: str) -> None:
    with pytest.raises(Ambiguous):
        Reader(latex, {"x": "x", r"\Gamma": "Gamma"}).program()


PLAIN_NAMES = {"λ": "lambda", "x₂": "x_2"}


def check_own_reading(text: str, latex: str) -> int:
    """How often a formula and its LaTeX, as the program reads it, have values, which have to be the
    same.
    """
    _, reading = read_leniently(latex, parse)
    names = parse(text).variables
    points = [
        {name: 0.5 + 0.25 * k for k, name in enumerate(names)},
        {n: 1.5 - 0.35 * k for k, n in enumerate(names)},
    ]
    points = [
        p | {PLAIN_NAMES[name]: x for name, x in p.items() if name in PLAIN_NAMES} for p in points
    ]
    return same(text, latex if reading is None else reading.text, points)


@pytest.mark.parametrize("text", WRITTEN)
def test_the_tools_own_reader_takes_what_it_typesets(text: str) -> None:
    check_own_reading(text, expression_latex(parse(text).outputs[0]))


def test_the_tools_own_reader_takes_every_function_that_it_typesets() -> None:
    for name, primitive in FUNCTIONS.items():
        if primitive.gives_condition or primitive.takes_conditions:
            continue
        fixed = [param in primitive.constant_params for param in primitive.params or ("", "")]
        names = iter("xyzuvw")
        call = f"{name}({', '.join(['2' if is_fixed else next(names) for is_fixed in fixed])})"
        for text in (call, f"({call})**2", f"1/{call}", f"x*{call}"):
            check_own_reading(text, expression_latex(parse(text).outputs[0]))


def test_the_tools_own_reader_takes_random_formulas_that_it_typesets() -> None:
    compared = 0

    @settings(max_examples=150)
    @given(graphs([p for p in PUBLIC if p.name not in ("gelu", "erfinv")]))
    def check(root: Value) -> None:
        nonlocal compared
        text, latex = expression_text(root), expression_latex(root)
        if len(latex) <= 200:  # longer texts are not explained
            compared += check_own_reading(text, latex)

    check()
    assert compared > 60


@pytest.mark.parametrize(
    ("latex", "program"),
    [
        (r"\frac{1}{x (y-z)}", "1/(x*(y-z))"),
        (r"x+\frac{1}{x(y-z)}", "x+1/(x*(y-z))"),
        (r"\sqrt{x(x+1)}", "sqrt(x*(x+1))"),
        (r"\sin(x)^2", "sin(x)**2"),
        (r"\sin(x)^{-1}", "1/sin(x)"),
        (r"\sin\left(x\right)^{y}", "sin(x)**y"),
        (r"\left|x-\left|y\right|\right|", "abs(x-abs(y))"),
        (r"e^{w_{1}}", "exp(w_1)"),
        (r"\begin{cases}x & \text{if } x=y\\ 0 & \text{otherwise}\end{cases}", "x if x==y else 0"),
    ],
)
def test_latex_as_people_write_it(latex: str, program: str) -> None:
    _, reading = read_leniently(latex, parse)
    assert reading is not None
    point = {name: 2.0 + k for k, name in enumerate(parse(program).variables)}
    assert same(program, reading.text, [point])


@pytest.mark.parametrize(
    "latex", [r"e^{x}^{2}", r"\sqrt{x^{2}^{3}}", r"\sin{x}^2", r"\ln^{-1}(x)", r"\sin^2(x)^2"]
)
def test_latex_with_two_meanings_is_refused(latex: str) -> None:
    with pytest.raises(ExpressionError):
        read_leniently(latex, parse)


@pytest.mark.parametrize(
    ("names", "letters"),
    [
        (["lambda", "λ"], [r"\mathit{lambda}", r"\lambda"]),
        (["w1", "w_1"], [r"\mathit{w1}", "w_{1}"]),
        (["w₁", "w_1"], ["w_{1}", r"\mathit{w\_1}"]),
        (["pi", "π"], [r"\mathit{pi}_{(2)}", r"\mathit{pi}"]),
        (["x_1_2", "x1_2"], ["x_{1,2}", r"\mathit{x1\_2}"]),
        (["beta_max", "β_max"], [r"\mathit{beta\_max}", r"\beta_{\max}"]),
    ],
)
def test_no_two_names_look_alike(names: list[str], letters: list[str]) -> None:
    assert [Typesetting(names).name(name) for name in names] == letters


def test_what_a_program_calls_e_is_not_the_base_of_exponentials() -> None:
    found = diff("e = a + b\nexp(a)*e", language="latex").program
    assert r"\exp(a)" in found and "e^{" not in found
    assert "g(f, x) &= f x" in diff("f*x", language="latex").program


@pytest.mark.parametrize(
    ("text", "latex"),
    [("1e-05", "10^{-5}"), ("-2e300", r"-2 \times 10^{300}"), ("2/3", r"\frac{2}{3}"), ("-.5", "-0.5"), ("7.", "7"),
     ("true", r"\text{true}"), ("(-3)", "(-3)")],
)  # fmt: skip
def test_numbers(text: str, latex: str) -> None:
    assert number_latex(text) == latex


def test_a_long_chain_takes_no_longer_than_it_is_long() -> None:
    assert len(expression_latex(parse("+".join(["x*y"] * 20_000)).outputs[0])) < 200_000
    deep = expression_latex(parse("sin(" * 3000 + "x" + ")" * 3000).outputs[0])
    assert deep.count(r"\sin(") == 3000
    chosen_by = " ".join(f"{k} if x > {k} else" for k in range(500)) + " x"
    assert expression_latex(parse(chosen_by).outputs[0]).count("else if") == 499


READ_BACK = {
    r"w_{1} + \log_{10}(x)": "w_1 + log(x, 10)",
    r"a_{1} \log_{25}(x)": "a_1*log(x, 25)",
    r"\ln\left|\Gamma(x^{-1} - y)\right|": "log(abs(gamma(1/x - y)))",
    r"T_{\max} (\sigma + y)": "T_max*(sigma + y)",
    r"\psi^{-1} + \psi^{(1)}(x) (y - 1)": "1/psi + trigamma(x)*(y - 1)",
    r"\left[ x+1 \right]^2 \exp\left\{-x\right\}": "(x + 1)**2*exp(-x)",
    r"\max\{x, y\} + \Bigl(\frac{x}{2}\Bigr)^{2}": "max(x, y) + x**2/4",
    r"1{,}5\,x": "1.5*x",
    r"\begin{cases}x^2, & x > 1 \\ y, & x \le 1\end{cases}": "x**2 if x > 1 else y",
    r"\begin{cases}x^2 & \text{for } x > 1 \\ y & \text{else}\end{cases}": "x**2 if x > 1 else y",
    "% mine\n\\begin{align*}\na &= x^2 \\\\ % the square\nb &= a + y \\\\\n\\end{align*}": (
        "a = x**2; b = a + y"
    ),
    "\\begin{equation}\\label{eq}\nx^2 + \\cos(y)\n\\end{equation}": "x**2 + cos(y)",
    "% a comment\nx^2 + \\sin y": "x**2 + sin(y)",
}


@pytest.mark.parametrize(("latex", "program"), READ_BACK.items())
def test_documents_and_other_notation(latex: str, program: str) -> None:
    _, reading = read_leniently(latex, parse)
    assert reading is not None
    for shift in (0.25, 2.5):
        point = {name: shift + k for k, name in enumerate(parse(program).variables)}
        assert same(program, reading.text, [point])


@pytest.mark.parametrize("command", ["diff", "export"])
def test_documents_of_the_program_are_read_as_their_function(command: str) -> None:
    text = "x**2*sin(y) + exp(x)*T_max"
    written = (
        diff(text, language="latex").program if command == "diff" else export(text, "latex").source
    )
    _, reading = read_leniently(written, parse)
    assert reading is not None
    assert same(text, reading.text, [{"x": 0.3, "y": 2.0, "T_max": 1.5}])


@pytest.mark.parametrize(
    ("latex", "place", "hint"),
    [
        (r"\sin x^2", "2", "write `sin(x**2)` or `sin(x)**2`"),
        (r"1 + \ln^{-1} x", r"\ln^{-1} x", "write `exp(x)` or `1/ln(x)`"),
        (r"\psi(x) + y", r"\psi", "write `psi(x)` or `psi*(x)`"),
        (r"x + \dot{y}", r"\dot", "give it a name of its own, as in `x_dot`"),
        (r"x + \foo{y}", r"\foo", "write it as in `sin(x)/2`"),
        (r"1{,}000\,x", "1{,}000", "write `1000` or `1.000`"),
        (
            r"\begin{cases}x & x > 1 \\ y & x < 0\end{cases}",
            None,
            r"add a last line with \text{otherwise}",
        ),
        ("\\begin{align}f(x) &= x^2 - 1 \\\\ &= (x-1)(x+1)\\end{align}", "= (x-1)(x+1)", None),
    ],
)
def test_what_is_not_read_says_where_and_what_to_write(
    latex: str, place: str | None, hint: str | None
) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_leniently(latex, parse)
    span = caught.value.span
    assert span is not None
    assert place is None or latex[span.start : span.end] == place
    assert hint is None or caught.value.hint == hint
