"""The evaluation trace: the survey's table, agreement with `grad` everywhere, names, sizes, LaTeX
that is closed.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings

from autodiff_cli import show as views
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.trace.trace import Trace, trace
from autodiff_cli.engine.algebra import symbolic
from autodiff_cli.engine.graphs.value import Value, in_order
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.typesetting import name_latex, text_latex
from autodiff_cli.questions.problem import evaluate_constant
from autodiff_cli.show.characters import width_of
from counting import compared, compares, counted_calls
from running import autodiff
from strategies import graphs, program_text
from terminals import ESCAPE, on_terminal
from tex import compile_all, inside

SURVEY = "ln(x1) + x1*x2 - sin(x2)"
AT = {"x1": 2.0, "x2": 5.0}


def test_powers_of_negative_numbers_are_derived_as_others_are() -> None:
    assert [pull.formula for pull in trace("(x - 2)**2/3", {"x": 1}).adjoint_steps] == [
        "1/3",
        "2*v1",
        "1",
    ]
    assert [pull.formula for pull in trace("x**n", {"x": -2, "n": 3}, wrt=["x"]).adjoint_steps] == [
        "n*x**(n - 1)"
    ]


def test_the_slopes_of_many_inputs_are_found_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other they took time quadratic in their number: 10,000 terms took six
    seconds.
    """
    asked = []
    slope = symbolic._partial
    monkeypatch.setattr(
        symbolic, "_partial", lambda *question: asked.append(question[-1]) or slope(*question)
    )
    told = trace("sum(i*x, i, 1, 100)", {"x": 2})
    assert [pull.formula for pull in told.adjoint_steps[:100]] == ["1"] * 100
    assert len(asked) == 100  # those of the products
    assert told.gradient == {"x": 5050.0}


def test_the_table_of_the_survey() -> None:
    """Baydin, Pearlmutter, Radul, Siskind: Automatic Differentiation in Machine Learning: a Survey,
    tables 2 and 3.
    """
    told = trace(SURVEY, AT)
    values = {row.name: row.value for row in told.rows}
    # what the survey calls v-1 and v0 has names: x1 and x2
    published = {"x1": 2, "x2": 5, "v1": 0.693, "v2": 10, "v3": -0.959, "v4": 10.693, "v5": 11.652}
    assert values == pytest.approx(published, abs=5e-4)
    assert list(values) == list(published)
    adjoints = {row.name: row.adjoint for row in told.rows}
    expected = {"v5": 1, "v4": 1, "v3": -1, "v1": 1, "v2": 1, "x2": 1.716, "x1": 5.5}
    assert adjoints == pytest.approx(expected, abs=5e-4)
    assert told.gradient == pytest.approx({"x1": 5.5, "x2": 1.716}, abs=5e-4)


def test_the_tangents_of_the_survey() -> None:
    told = trace(SURVEY, AT, mode="forward", direction={"x1": 1})
    tangents = {push.target.name: push.tangent for push in told.tangent_steps}
    assert tangents == {"v1": 0.5, "v2": 5.0, "v4": 5.5, "v5": 5.5}
    assert told.tangent == 5.5
    assert trace(SURVEY, AT, mode="forward", direction={"x2": 1}).tangent == pytest.approx(
        1.716, abs=5e-4
    )


def test_the_step_of_the_worked_solution() -> None:
    out = autodiff("trace", SURVEY, "--at", "x1=2,x2=5", "--format", "plain").out
    assert "x̄1 += v̄₁ · ∂v₁/∂x1 = 1 · 1/x1 = 0.5" in out


STEPS = [
    ("x**2", {"x": 3.0}, ["2*x"]),
    ("x**3", {"x": 3.0}, ["3*x**2"]),
    ("x**y", {"x": 3.0, "y": 2.0}, ["y*x**(y - 1)", "x**y*log(x)"]),
    ("x**-1", {"x": 3.0}, ["-1*x**(-2)"]),
    ("x/y", {"x": 3.0, "y": 2.0}, ["1/y", "-x/y**2"]),
    ("x/3", {"x": 3.0}, ["1/3"]),
    ("sqrt(x)", {"x": 4.0}, ["1/(2*sqrt(x))"]),
    ("tanh(x)", {"x": 1.0}, ["sech(x)**2"]),
    ("atan(x)", {"x": 1.0}, ["1/(1 + x**2)"]),
    ("softplus(x)", {"x": 1.0}, ["sigmoid(x)"]),
    ("relu(x)", {"x": 1.0}, ["1"]),
    ("abs(x)", {"x": -1.0}, ["sign(x)"]),
    ("max(x, y)", {"x": 3.0, "y": 2.0}, ["1"]),
    ("max(x, y)", {"x": 2.0, "y": 2.0}, ["0.5", "0.5"]),
    ("clamp(x, 0, 1)", {"x": 0.5}, ["1"]),
    ("hypot(x, y)", {"x": 3.0, "y": 4.0}, ["x/hypot(x, y)", "y/hypot(x, y)"]),
    (
        "logsumexp(x, y)",
        {"x": 3.0, "y": 4.0},
        ["exp(x - logsumexp(x, y))", "exp(y - logsumexp(x, y))"],
    ),
    ("prod(x, y, 2)", {"x": 3.0, "y": 4.0}, ["2*y", "x*2"]),
    ("x if x > 0 else -x", {"x": 3.0}, ["1"]),
]


@pytest.mark.parametrize(("text", "point", "formulas"), STEPS)
def test_local_derivatives_as_formulas(
    text: str, point: dict[str, float], formulas: list[str]
) -> None:
    assert [pull.formula for pull in trace(text, point).adjoint_steps] == formulas


def check_steps(told: Trace) -> None:
    """Every step is what it says: its formula has its number, and products and sums are those of
    the adjoints.
    """
    totals: dict[str, float] = {}
    leaves = {
        row.symbol or row.name: row.value for row in told.rows if isinstance(row.value, float)
    }
    for pull in told.adjoint_steps:
        assert pull.product == pytest.approx(pull.upstream * pull.partial, rel=1e-12, abs=0)
        assert pull.upstream == pull.source.adjoint
        totals[pull.target.name] = totals.get(pull.target.name, 0.0) + pull.product
        assert totals[pull.target.name] == pytest.approx(pull.total, rel=1e-9, abs=1e-300)
        formula = pull.formula
        for name in sorted(leaves, key=len, reverse=True):
            formula = re.sub(
                rf"(?<![\w.]){re.escape(name)}(?![\w(])", f"({leaves[name]!r})", formula
            )
        assert evaluate_constant(formula) == pytest.approx(pull.partial, rel=1e-6, abs=1e-12), (
            pull.formula
        )
    for row in told.rows:
        if row.name in totals:
            assert row.adjoint == pytest.approx(totals[row.name], rel=1e-9, abs=1e-300)


@compares(60)
@given(graphs())
@settings(max_examples=150, deadline=None)
def test_a_trace_agrees_with_the_gradient(root: Value) -> None:
    text = program_text([root])
    point = {
        n.label: 0.75 + 0.5 * k
        for k, n in enumerate(n for n in in_order([root]) if n.primitive is VARIABLE)
    }
    try:
        expected = gradient(text, point)
    except ExpressionError as error:
        with pytest.raises(ExpressionError) as caught:
            trace(text, point)
        assert caught.value.kind == error.kind
        return
    told = trace(text, point)
    assert told.value == expected.value
    for name, partial in expected.gradient.items():
        assert told.gradient[name] == pytest.approx(
            partial, rel=1e-9, abs=1e-300 + 1e-12 * biggest(told)
        )
    if biggest(told) < 1e12:
        along = (
            trace(text, point, mode="forward", direction=dict.fromkeys(point, 1.0))
            if point
            else None
        )
        if along is not None:
            total = sum(expected.gradient.values())
            assert along.tangent == pytest.approx(total, rel=1e-6, abs=1e-9 * (1 + biggest(told)))
        compared()
    json.dumps(told.gradient, allow_nan=False)


def biggest(told: Trace) -> float:
    """The largest contribution to an adjoint: what rounding errors of the sums are relative to."""
    return max((abs(pull.product) for pull in told.adjoint_steps), default=0.0)


PROGRAMS = [
    (SURVEY, AT),
    ("c = a + b; c = c*c + 1; d = c if c > 3 else log(a); d*b", {"a": 2.0, "b": 3.0}),
    (
        "n = x1*w1 + x2*w2 + b; o = tanh(n); o",
        {"x1": 2.0, "w1": -3.0, "x2": 0.5, "w2": 1.0, "b": 6.88},
    ),
    (
        "gelu(x) + sinc(x)*lgamma(x + 1) - erf(x)/x + 2**x - x**0.3 + logsumexp(x, 1, x*x)",
        {"x": 1.3},
    ),
    (
        "min(x, y) + hypot(x, y, 2) + mean(x, y, 3) + prod(x, x, y) + atan2(x, y)",
        {"x": 1.25, "y": 2.5},
    ),
]


@pytest.mark.parametrize(("text", "point"), PROGRAMS)
def test_every_step_is_what_it_says(text: str, point: dict[str, float]) -> None:
    told = trace(text, point)
    check_steps(told)
    assert told.gradient == pytest.approx(gradient(text, point).gradient, rel=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "x**2 if exp(sqrt(z)) < 2 else 3*x",
        "round(sqrt(z))*x",
        "max(sqrt(z), x)*3",
        "sign(sum(x, sqrt(z), x**2))*x",
        "max(logsumexp(x, sqrt(z) - 9), 7) + x",
    ],
)
def test_tangents_do_not_need_derivatives_that_take_no_part(text: str) -> None:
    answer = trace(text, {"x": 2, "z": 0}, mode="forward", direction={"x": 1, "z": 1})
    assert answer.tangent == gradient(text, {"x": 2, "z": 0}).gradient["x"]
    for step in answer.tangent_steps:
        assert step.tangent == pytest.approx(
            sum(term.partial * term.tangent for term in step.terms)
        )
    with pytest.raises(ExpressionError, match="infinite"):
        trace("sqrt(z)*x", {"x": 2, "z": 0}, mode="forward", direction={"x": 1, "z": 1})


def test_names() -> None:
    told = trace("a = x*y; a = a + 1; b = a; v7 = b*2; sin(v7)*a", {"x": 1.0, "y": 2.0})
    assert [row.name for row in told.rows] == ["x", "y", "a", "a[2]", "v7", "u1", "u2"]
    assert told.letter == "u"
    assert [row.name for row in trace("x*v1 + x", {"x": 1.0, "v1": 2.0}).rows] == [
        "x",
        "v1",
        "u1",
        "u2",
    ]


def test_long_and_short_names_carry_their_bars() -> None:
    out = autodiff(
        "trace", "loss = w_1*x; loss*w₂", "--at", "w_1=1,x=2,w₂=3", "--format", "plain"
    ).out
    assert "l̅o̅s̅s̅ = v̄₁ · ∂v₁/∂loss" in out and "w̄_1 = " in out and "w̄₂ = " in out and "x̄ = " in out


@pytest.mark.posix
@pytest.mark.parametrize(
    "point",
    [
        "w=0.5,x=2,b=-0.3",
        "w=0.7,x=-1.3,b=0.25",
        "w=-3,x=2,b=6.8813735870195432",
        "w=-1.23456,x=-2.34567,b=-3.4567",
    ],
)
@pytest.mark.parametrize(
    "mode", [[], ["--mode", "forward", "--direction", "w=1,x=-0.5"], ["--blanks"]], ids=str
)
def test_the_simplest_trace_fits_a_screen(point: str, mode: list[str]) -> None:
    asked = ["trace", "tanh(w*x + b)", "--at", point, *mode]
    shown = trimmed(on_terminal(*asked, width=80).out)
    piped = trimmed(autodiff(*asked).out)
    assert shown == piped, "nothing is wrapped"
    assert max(map(width_of, piped)) <= 80


def trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in ESCAPE.sub("", text).splitlines()]


def test_what_went_on_in_the_numbers() -> None:
    def kinds(text: str, **point: float) -> list[str]:
        return [note.kind for note in trace(text, point).notes]

    assert kinds("x*y", x=1.0, y=2.0) == []
    assert kinds("abs(x)", x=0.0) == ["kink", "vanished"]
    assert kinds("relu(x) + y", x=-1.0, y=1.0) == ["cut off"]
    assert kinds("exp(x)", x=30.0) == ["exploded"]
    assert kinds("tanh(x)", x=30.0) == ["vanished"]
    assert kinds("x - x", x=1.0) == ["cancelled"]
    assert kinds("log(x) if x > 0 else x", x=-1.0) == ["branch"]
    chain = "*0.1" * 30
    assert kinds(f"x{chain}", x=1.0).count("vanished") == 1, (
        "of a long chain, the first node that falls below"
    )


def test_ten_thousand_nodes_in_linear_time() -> None:
    def program(steps: int) -> str:
        return "\n".join(
            ["a0 = x", *(f"a{k + 1} = sin(a{k}) + x*a{k}" for k in range(steps)), f"a{steps}"]
        )

    def work(steps: int) -> int:
        text = program(steps)
        with counted_calls() as count:
            told = trace(text, {"x": 0.5})
        assert len(told.rows) == 3 * steps + 1
        return count.total

    work(10)
    assert work(3400) < 4.5 * work(850)


def test_no_recursion_and_whole_machine_formats() -> None:
    text = "x" + " + 1" * 10_000
    assert len(trace(text, {"x": 1.0}).adjoint_steps) == 10_000
    result = autodiff("trace", text, "--at", "x=1", "--json")
    record = json.loads(result.out)
    assert len(record["adjoint"]) == 10_000
    assert len(record["primal"]) == 10_001
    shown = autodiff("trace", text, "--at", "x=1").out
    assert "9,940 of 10,000 steps left out" in shown
    assert len(shown.splitlines()) < 160
    assert len(trace(f"sum({','.join(['x'] * 3000)})", {"x": 1.0}).adjoint_steps) == 3000
    assert len(trace(f"prod({','.join(['x'] * 1000)})", {"x": 1.0}).adjoint_steps) == 1000


HOSTILE = [
    ("# \\end{document} $x$ & 100% ~^_{}<b>|\"'` \u4e2d\u202e\nx*1", {"x": 1.0}),
    ("loss_rate = θ**2/w₁; λ_1 = loss_rate if θ > 1 and not w₁ < -2 else log(ж)\nλ_1*abs(-3e-7*ж)",
     {"θ": 2.0, "w₁": 3.0, "ж": 1.0}),
    ("é + _x + __ + x__y_2 + A1b2 + µ", {"é": 1.0, "_x": 1.0, "__": 1.0, "x__y_2": 1.0, "A1b2": 1.0, "µ": 1.0}),
    ("cbrt(x) + log(x, 2) + leaky_relu(-x) + sqrt(x) + exp(-x)/x + (x if x != 2 or x <= 1 else 0)", {"x": 2.0}),
    ("x**1e-7*2e300", {"x": 2.0}),
    ("2*3", {}),
    (SURVEY, AT),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "point", "mode"),
    [
        (*each, mode)
        for mode in ("reverse", "forward")
        for each in HOSTILE
        if mode == "reverse" or each[1]
    ],
)
def test_latex_is_closed(text: str, point: dict[str, float], mode: str) -> None:
    written = typeset(text, point, mode)
    bare = re.sub(r"\\[\\{}$%&#_]", "", written)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert "%" not in bare and "#" not in bare
    assert all(char.isascii() or "À" <= char <= "ÿ" for char in written)
    begun, ended = (
        re.findall(r"\\begin\{(\w+\*?)\}", written),
        re.findall(r"\\end\{(\w+\*?)\}", written),
    )
    assert sorted(begun) == sorted(ended)
    assert written.count("\\left") == written.count("\\right")


def typeset(text: str, point: dict[str, float], mode: str) -> str:
    """A trace as a document."""
    direction = dict.fromkeys(point, 1.0) if mode == "forward" else None
    return views.text(trace(text, point, mode=mode, direction=direction), "latex", document=True)


def test_latex_compiles(tmp_path: Path) -> None:
    traces = [inside(typeset(text, point, "reverse")) for text, point in HOSTILE]
    traces += [inside(typeset(text, point, "forward")) for text, point in HOSTILE if point]
    compile_all(traces, tmp_path)


def test_the_local_derivative_has_its_number() -> None:
    written = typeset("x**2", {"x": 3.0}, "reverse")
    assert (
        r"\bar{x} &= \bar{v}_{1} \cdot \frac{\partial v_{1}}{\partial x} = \bar{v}_{1} \cdot 2x &"
        r" \quad &= 1 \cdot 6" in written
    )
    assert r"\frac{df}{dx} &= 6" in written


def test_latex_names_and_text() -> None:
    assert [name_latex(name) for name in ("x1", "w_1", "λ₂", "theta", "loss", "x1w1", "c[2]", "a_b", "π")] == [
        "x_{1}", "w_{1}", r"\lambda_{2}", r"\theta", r"\mathit{loss}", r"\mathit{x1w1}", "c_{[2]}",
        "a_{b}", r"\pi",
    ]  # fmt: skip
    assert name_latex("v", r"\bar") == r"\bar{v}"
    assert name_latex("loss2", r"\bar") == r"\overline{\mathit{loss}}_{2}"
    assert text_latex("50% of $a_b & \\x") == r"50\% of \$a\_b \& \textbackslash{}x"


def test_markdown_keeps_user_text_in_code() -> None:
    out = autodiff(
        "trace", "a_b = x*2\na_b if a_b > 0 or a_b < -1 else log(x | 1)", "--at", "x=1"
    ).code
    assert out == 3
    out = autodiff(
        "trace", "w = |x_1|; w if w > 3 else w*log(|x_1|)", "--at", "x_1=-1", "--format", "markdown"
    ).out
    assert "the branch `w` of" in out
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") in (4, 5) for line in rows)


def test_ascii_where_the_locale_is_not_utf8() -> None:
    out = autodiff(
        "trace",
        SURVEY,
        "--at",
        "x1=2,x2=5",
        "--format",
        "plain",
        env={"LC_ALL": "C"},
        encoding="ascii",
    ).out
    assert "adj(x1) += adj(v1) * d(v1)/d(x1) = 1 * 1/x1 = 0.5, adj(x1) is 5.5" in out
    table = autodiff(
        "trace", SURVEY, "--at", "x1=2,x2=5", env={"LC_ALL": "C"}, encoding="ascii"
    ).out
    assert table.isascii() and "\\u" not in table


def test_overflow_and_bad_input_are_errors() -> None:
    for text, point, kind in (
        ("exp(x)", {"x": 1000.0}, "overflow"),
        ("sqrt(x)", {"x": 0.0}, "derivative"),
        ("x +", {"x": 0.0}, "syntax"),
        ("x*y", {"x": 0.0}, "missing_value"),
    ):
        with pytest.raises(ExpressionError) as caught:
            trace(text, point)
        assert caught.value.kind == kind
    assert math.isfinite(trace("x", {"x": 1.0}).value)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_worksheet_has_no_number_that_is_to_be_found(mode: str) -> None:
    told = trace("d = a*b; tanh(d)*d + log(a)", {"a": 3.25, "b": 0.75}, wrt=["a"], mode=mode)
    forms = ("table", "plain", "markdown", "latex", "json")
    found = {f"{x:.6g}" for x in (told.value, *(row.value for row in told.rows if row.graph._prev))}
    found |= {
        f"{x:.6g}" for pull in told.adjoint_steps for x in (pull.partial, pull.product, pull.total)
    }
    found |= {f"{push.tangent:.6g}" for push in told.tangent_steps}
    found = {number for number in found if len(number) > 4}
    assert len(found) >= 5
    for form in forms:
        whole, blank = views.text(told, form), views.text(told, form, blanks=True)
        assert form == "json" or sum(number in whole for number in found) >= 5
        assert not [number for number in found if number in blank], form
        assert "3.25" in blank and "0.75" in blank, "what is given stays"
    record = views.record(told, blanks=True)
    assert record["blanks"] is True and record["value"] is None
    assert record.keys() - {"blanks"} == views.record(told).keys()


# Each is smooth at x = 0 although its pieces meet there; derivatives by hand.
MEETING = {
    "max(x, exp(x)-1)": 1.0,
    "min(sin(x), x)": 1.0,
    "max(x, x+x**2, sin(x))": 1.0,
    "relu(x)+min(x, 0)": 1.0,
    "where(x==0, 0, x)": 1.0,
    "where(x>=0, x, sin(x))": 1.0,
    "3*max(2*x, exp(2*x)-1) + x": 7.0,
    "abs(x)*x": 0.0,
}


def multiplies_out(told: Trace) -> None:
    """Check each shown local derivative against its number, and each product and tangent against
    its parts.
    """
    totals: dict[str, float] = {}
    for step in told.adjoint_steps:
        if step.graph is not None and step.graph.data is not None:
            assert step.graph.data == pytest.approx(step.partial, rel=1e-12, abs=1e-15), (
                step.formula
            )
        assert step.product == pytest.approx(step.upstream * step.partial, rel=1e-12)
        totals[step.target.name] = totals.get(step.target.name, 0.0) + step.product
        assert step.total == pytest.approx(totals[step.target.name], rel=1e-12, abs=1e-15)
    for tangent in told.tangent_steps:
        for term in tangent.terms:
            if term.graph is not None and term.graph.data is not None:
                assert term.graph.data == pytest.approx(term.partial, rel=1e-12, abs=1e-15), (
                    term.formula
                )
        total = sum(term.partial * term.tangent for term in tangent.terms)
        assert tangent.tangent == pytest.approx(total, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("text", "slope"), MEETING.items())
def test_where_pieces_meet_the_derivative_shown_is_the_one_used(text: str, slope: float) -> None:
    told = trace(text, {"x": 0})
    assert told.gradient == {"x": slope}
    multiplies_out(told)
    along = trace(text, {"x": 0}, mode="forward")
    assert along.tangent == slope
    multiplies_out(along)


def test_the_note_names_the_branch_whose_derivative_is_used() -> None:
    messages = [note.message for note in trace("where(x==0, 0, x)", {"x": 0}).notes]
    assert messages == ["the sides of v2 agree here: the derivative is that of the branch `x`"]


def test_random_programs_with_ties_multiply_out() -> None:
    pieces = [
        "x",
        "sin(x)",
        "exp(x)-1",
        "x+x**2",
        "tanh(x)",
        "abs(x)",
        "-x",
        "2*x",
        "x*y",
        "y-1",
        "0",
        "relu(x)",
    ]
    joins = [
        "max({}, {})",
        "min({}, {})",
        "where(x>=0, {}, {})",
        "where(x==0, {}, {})",
        "({})*({})",
        "({})+({})",
    ]
    random = Random(40)
    told = 0
    for _ in range(300):
        text = random.choice(pieces)
        for _ in range(random.randint(1, 3)):
            text = random.choice(joins).format(*random.sample([text, random.choice(pieces)], 2))
        for mode, direction in (("reverse", None), ("forward", {"x": 1.0})):
            try:
                result = trace(f"{text} + 0.5*x", {"x": 0, "y": 1}, mode=mode, direction=direction)
            except ExpressionError:
                continue
            multiplies_out(result)
            told += 1
    assert told > 400
