"""The shortest form: same values, edges included; no longer than before; formulas that people
know.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import FORTY, POINTS, RELAXED, close
from autodiff_cli import parse
from autodiff_cli.engine.algebra import rewriting
from autodiff_cli.engine.algebra.rewriting import shorten, token_count
from autodiff_cli.engine.algebra.simplify import simplify
from autodiff_cli.engine.graphs.value import Value, constant, node, variable
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.numbers.exact import EXACT
from autodiff_cli.engine.table.primitive import PRIMITIVES
from autodiff_cli.language.printer import expression_text
from counting import compared, compares
from strategies import NAMES, graphs

LETTERS = ("x", "y")
FUNCTIONS = (
    "sin",
    "cos",
    "exp",
    "sinh",
    "cosh",
    "tanh",
    "sech",
    "tan",
    "sec",
    "csc",
    "cot",
    "abs",
    "sign",
    "sqrt",
    "log",
)


def shortened(text: str) -> str:
    return expression_text(shorten(simplify(parse(text).outputs))[0])


def check(graph: Value, numbers: Sequence[str]) -> None:
    """The shortest form has the value that the graph has, and is no longer."""
    point = {name: FORTY.literal(text) for name, text in zip(NAMES, numbers, strict=False)}
    (simple,) = simplify([graph])
    (shorter,) = shorten([simple])
    before, after = value_in(FORTY, simple, point), value_in(FORTY, shorter, point)
    if before is not None:
        compared()
        assert after is not None and close(before, after), (
            expression_text(simple),
            expression_text(shorter),
            numbers,
        )
    assert token_count(shorter, {}) <= token_count(simple, {})


@compares(50)
@given(graphs(max_leaves=12), POINTS)
@settings(RELAXED, max_examples=150)
def test_it_keeps_every_value(graph: Value, numbers: Sequence[str]) -> None:
    check(graph, numbers)


def _leaf(draw: st.DrawFn) -> Value:
    kind = draw(st.integers(0, 4))
    if kind < 3:
        return variable(draw(st.sampled_from(LETTERS)))
    return constant(x := draw(st.sampled_from((1.0, 2.0, 3.0, 0.5))), f"{x:g}")


@st.composite
def sums(draw: st.DrawFn) -> Value:
    """Sums of products of few factors, of which many are alike: squares of functions, powers,
    quotients.
    """
    pool = [_leaf(draw) for _ in range(3)]
    for _ in range(draw(st.integers(1, 4))):
        inner = draw(st.sampled_from(pool))
        pool.append(node(PRIMITIVES[draw(st.sampled_from(FUNCTIONS))], (inner,)))
        if draw(st.booleans()):
            name = draw(st.sampled_from(("add", "sub", "pow", "div", "root", "choice")))
            other = draw(st.sampled_from(pool))
            if name == "root":
                quotient = node(
                    PRIMITIVES[draw(st.sampled_from(("mul", "div")))], (pool[-1], other)
                )
                pool.append(node(PRIMITIVES["sqrt"], (quotient,)))
            elif name == "choice":
                choice = node(PRIMITIVES["lt"], (variable("x"), variable("y"))), pool[-1], other
                pool.append(node(PRIMITIVES["where"], choice))
            else:
                pool.append(node(PRIMITIVES[name], (pool[-1], other)))
    total: Value | None = None
    for _ in range(draw(st.integers(2, 4))):
        product = draw(st.sampled_from(pool))
        for _ in range(draw(st.integers(0, 3))):
            factor = draw(st.sampled_from(pool))
            if draw(st.booleans()):
                factor = node(PRIMITIVES["pow"], (factor, constant(2.0, "2")))
            product = node(
                PRIMITIVES[draw(st.sampled_from(("mul", "mul", "div")))], (product, factor)
            )
        total = (
            product
            if total is None
            else node(PRIMITIVES[draw(st.sampled_from(("add", "sub")))], (total, product))
        )
    assert total is not None
    return total


@given(
    sums(),
    st.lists(
        st.sampled_from(("0", "1", "-1", "0.5", "2", "-2", "0.3", "3")), min_size=2, max_size=2
    ),
)
@settings(RELAXED, max_examples=250)
def test_sums_of_like_products_keep_every_value(graph: Value, numbers: Sequence[str]) -> None:
    names = dict(zip(LETTERS, numbers, strict=True))
    point = {name: FORTY.literal(text) for name, text in names.items()}
    (simple,) = simplify([graph])
    (shorter,) = shorten([simple])
    before, after = value_in(FORTY, simple, point), value_in(FORTY, shorter, point)
    if before is not None:
        assert after is not None and close(before, after), (
            expression_text(simple),
            expression_text(shorter),
            names,
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(x) + (x - 1)*exp(x)", "x*exp(x)"),
        ("2/(x - 3) - (2*x + 1)/(x - 3)**2", "-7/(x - 3)**2"),
        ("2*x/(x**2 - 1) - 2*x*(x**2 + 1)/(x**2 - 1)**2", "-4*x/(x**2 - 1)**2"),
        ("sin(x)**2 + cos(x)**2", "1"),
        ("y - y*tanh(x)**2", "y*sech(x)**2"),
        ("1 + tan(x)**2", "sec(x)**2"),
        ("cosh(x)**2 - sinh(x)**2", "1"),
        ("sin(x)/cos(x)", "tan(x)"),
        ("n*x**(n - 1)*x", "n*x**n"),
        ("exp(x)*exp(-2*x)", "exp(-x)"),
        ("y*exp(x)**2*exp(y)", "y*exp(2*x + y)"),
        ("x*sign(x) + abs(x)", "2*abs(x)"),
        ("sign(x)/abs(x)", "1/x"),
        ("2*x*exp(-x/2) - x**2*exp(-x/2)/2", "x*(4 - x)*exp(-x/2)/2"),
        (
            "6*(2*x - 1)**2*(x + 2)**4 + 4*(2*x - 1)**3*(x + 2)**3",
            "(14*x + 8)*(2*x - 1)**2*(x + 2)**3",
        ),
        ("cos(x)/(cos(x) + 1) + sin(x)**2/(cos(x) + 1)**2", "1/(cos(x) + 1)"),
        ("2*x*y*z + 2*x*y*w", "2*x*y*(z + w)"),
        ("-2*(sin(x) - y)*z", "2*z*(y - sin(x))"),
        ("-1/(3 - x)", "1/(x - 3)"),
        ("-(x - 1)/(x + 1)", "(1 - x)/(x + 1)"),
        ("-pi*l/(g**2*sqrt(l/g))", "-pi*sqrt(l/g)/g"),
        ("sqrt(y/x)*x/y", "1/sqrt(y/x)"),
        ("x/(y**2*(x**2/y**2 + 1)**2)", "x*y**2/(x**2 + y**2)**2"),
        ("where(x > 0, 1, 0) + where(x > 0, 0, exp(x))", "where(x > 0, 1, exp(x))"),
        ("-y*where(x > y, 0, 1)", "where(x > y, 0, -y)"),
        ("y**x*log(y)*cos(x) + x*y**(x - 1)", "(log(y)*cos(x) + x/y)*y**x"),
        ("y**x*log(x)*cos(x) + x*y**(x - 1)", "y**x*log(x)*cos(x) + x*y**(x - 1)"),
        (
            "exp(y*z)/(x**2*a**2*b**2)*x + exp(y*z)/(x**2*a**2*b**2)",
            "(x + 1)*exp(y*z)/(x**2*a**2*b**2)",
        ),
        # What stands below a line is in front of the sum even if that is no shorter.
        ("cos(x)/x - sin(x)/x**2", "(x*cos(x) - sin(x))/x**2"),
        ("1.5*sqrt(x) + 1/(2*sqrt(x))", "(3*x + 1)/(2*sqrt(x))"),
        # Terms without a common divisor stay beside those that have it.
        ("y/(z + 1) + w/(z + 1) + z*v", "z*v + (y + w)/(z + 1)"),
    ],
)
def test_what_it_does(text: str, expected: str) -> None:
    assert shortened(text) == expected


@pytest.mark.parametrize("first", ["x - y", "y - x", "-x - y"])
@pytest.mark.parametrize("second", ["x - y", "y - x", "x + y"])
def test_a_sum_beside_its_negative_keeps_all_its_powers(first: str, second: str) -> None:
    point = {"x": EXACT.number(2), "y": EXACT.number(7)}
    for k, n in itertools.product((-3, -2, 1, 2), (1, 2, -3)):
        for text in (
            f"-3*({first})**{k}*({second})**{n}",
            f"x*({first})**{n}*-y*({second})**{k}/x*({first})**2",
        ):
            (graph,) = parse(text).outputs
            (shorter,) = shorten(simplify([graph]))
            assert value_in(EXACT, shorter, point) == value_in(EXACT, graph, point), (
                text,
                expression_text(shorter),
            )


@pytest.mark.parametrize(
    "text",
    [
        "3*x**2 - 6*x",
        "x**2 + 8*x - 14",
        "(x + 1)**20 + x",
        "sqrt(x)*sqrt(y)",
        "exp(x) + exp(y)",
        "x/y + z/(w + 1)",
        "sign(x)*abs(x)**1.5",
    ],
)
def test_what_it_leaves_alone(text: str) -> None:
    assert shortened(text) == text


@pytest.mark.parametrize(
    ("text", "size"), [("x", 1), ("x + 2*y*sin(z)", 8), ("-3*x", 4), ("x**2/(x + 1)", 7)]
)
def test_size_counts_names_numbers_operators_and_calls(text: str, size: int) -> None:
    assert token_count(simplify(parse(text).outputs)[0], {}) == size


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The properties above are tested: with sin² − cos² for 1 they fail."""
    wrong = dict(rewriting._PARTNERS)
    wrong["sin"] = (1, "cos", -1)
    monkeypatch.setattr(rewriting, "_PARTNERS", wrong)
    (graph,) = parse("3*sin(x)**2*y - 3*cos(x)**2*y").outputs
    with pytest.raises(AssertionError):
        check(graph, ("0.3", "2"))


def test_long_sums_and_products_stay_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work grows with the graph, not with its square: terms of a longer sum are not looked at
    pair by pair.
    """

    def looked_at(count: int) -> int:
        seen = 0
        before = rewriting.Shortener.shortest_sum

        def counted(
            self: rewriting.Shortener, given: Sequence[object], again: bool = True
        ) -> object:
            nonlocal seen
            seen += len(given)
            return before(self, given, again)  # type: ignore[arg-type]

        monkeypatch.setattr(rewriting.Shortener, "shortest_sum", counted)
        shorten(
            simplify(
                parse(" + ".join(f"x**2*sin({k}*x)*exp({k}*y)" for k in range(1, count))).outputs
            )
        )
        monkeypatch.setattr(rewriting.Shortener, "shortest_sum", before)
        return seen

    small, large = looked_at(10), looked_at(100)
    assert small > 0 and large <= 20 * small
