"""Formulas as MathML and as SymPy's text: read back by an XML parser and by SymPy, they mean what
the tree means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_cli import ExpressionError, diff, gradient, parse
from autodiff_cli.capabilities.export.languages import SYMPY_FORMS as FORMS
from autodiff_cli.capabilities.export.languages import sympy_text
from autodiff_cli.engine.graphs.value import Value
from autodiff_cli.engine.table.primitive import FUNCTIONS, OPERATIONS
from autodiff_cli.language.mathml import mathml
from autodiff_cli.language.typesetting import Typesetting
from counting import compared, compares
from presented import Reading, parsed, plain
from samples import samples_of
from strategies import NAMES, graphs, program_text

PUBLIC = list(dict.fromkeys(FUNCTIONS.values()))


def sampled() -> list[tuple[str, dict[str, float]]]:
    """A program for each sample point of the table that is neither huge nor tiny."""
    found = []
    for primitive in PUBLIC:
        for sample in [
            each for each in samples_of(primitive) if all(1e-3 <= abs(x) <= 30 for x in each)
        ][:3]:
            names = ["x", "y", "z", "w"][: len(sample)]
            fixed = {k for k, p in enumerate(primitive.params) if p in primitive.constant_params}
            args = [
                str(int(v)) if k in fixed else n
                for k, (n, v) in enumerate(zip(names, sample, strict=True))
            ]
            point = {
                n: v for k, (n, v) in enumerate(zip(names, sample, strict=True)) if k not in fixed
            }
            found.append((f"{primitive.spelling or primitive.name}({', '.join(args)})", point))
    return found


SAMPLES = sampled() + [
    ("x if x > 1 and not (y > 2 or x == 3) else -x/y", {"x": x, "y": y}) for x in (0.5, 2.0, 3.0) for y in (1.5, 2.5)
] + [
    ("x**2**y - (-x)**2/(3*y) + 2**-x", {"x": 1.5, "y": 0.5}), ("-x**2 - (-(x - y))", {"x": 1.5, "y": 0.5}),
    ("(x/y)/(y/x)*1e-5 + 1e20*x", {"x": 1.5, "y": 0.5}), ("x*(y*(x + 1)) + x**(y/2 - 1)", {"x": 1.5, "y": 0.5}),
    ("sin(x)**2 + sin(x**2) + exp(-x/y) + exp(exp(x))", {"x": 1.5, "y": 0.5}),
    ("log(x*y, x + 1) + abs(x - 3)*abs(-y)", {"x": 1.5, "y": 0.5}), ("pi*x + e**x", {"x": 1.5}),
]  # fmt: skip


def reading(names: Sequence[str], typeset: Typesetting) -> Reading:
    """A reader that knows how these names look, each as no other."""
    looks = {plain(parsed(mathml(typeset.name(name)))[0]): name for name in names}
    assert len(looks) == len(names)
    return Reading(looks)


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-11)


def check_mathml(graph: Value, text: str, point: dict[str, float]) -> None:
    names = list(parse(text).variables)
    typeset = Typesetting(names)
    root = parsed(mathml(typeset.expression(graph)))
    back = reading(names, typeset).row([*root])
    assert same(gradient(back, point).value, gradient(text, point).value), (text, back)


WITH_DERIVATIVES_IN_SYMPY: dict[str, dict[str, str] | None] = {
    "gammainc": {"wrt": "y"}, "gammaincc": {"wrt": "y"}, "betainc": {"wrt": "z"}, "zeta": None,
    **{f"bessel{kind}": {"wrt": "y"} for kind in "jyik"},
}  # fmt: skip
"""Functions of whose derivatives SymPy has some, or none."""


@pytest.mark.parametrize(("text", "point"), SAMPLES, ids=lambda each: str(each)[:60])
def test_mathml_and_sympy_of_every_function(text: str, point: dict[str, float]) -> None:
    graph = parse(text).outputs[0]
    called = text.partition("(")[0]
    check_mathml(graph, text, point)
    if called.endswith("_derivative") or called.startswith("faddeeva"):
        with pytest.raises(ExpressionError, match=f"SymPy has no function `{called}`"):
            sympy_text(graph)
        return
    want = gradient(text, point)
    check_sympy(sympy_text(graph), point, want.value)
    for each in diff(text, to="mathml", everywhere=True).derivatives:
        typeset = Typesetting(list(point))
        back = reading(list(point), typeset).row([*parsed(each.formula)])
        if "unit" not in back:
            assert same(gradient(back, point).value if parse(back).variables else gradient(back).value,
                        want.gradient[each.by[0]]), (text, back)  # fmt: skip
    # of the derivatives by a shape SymPy has none
    wrt = WITH_DERIVATIVES_IN_SYMPY.get(called, {})
    if wrt is None:
        with pytest.raises(ExpressionError, match=f"SymPy has no function `{called}_derivative`"):
            diff(text, to="sympy")
        return
    for each in diff(text, to="sympy", **wrt).derivatives:
        check_sympy(each.formula, point, want.gradient[each.by[0]])


def check_sympy(text: str, point: dict[str, float], want: float) -> None:
    expression = sympy.sympify(text)
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    assert set(symbols) <= set(point), (text, symbols)
    found = expression.subs(
        {symbols[name]: sympy.Float(x, 40) for name, x in point.items() if name in symbols}
    )
    value = complex(sympy.N(found, 30))
    assert abs(value.imag) < 1e-20 and same(value.real, want), (text, value, want)


POINTS = st.lists(st.sampled_from([0.75, -1.5, 2.25, 0.3, 1.25, -0.5, 3.5]), min_size=6, max_size=6)


@compares(20)
@given(graphs(max_leaves=8), POINTS)
@settings(max_examples=60, deadline=None)
def test_random_formulas(graph: Value, numbers: list[float]) -> None:
    text = program_text((graph,))
    names = list(parse(text).variables)
    point = dict(zip(names, numbers, strict=False))
    try:
        want = gradient(text, point)
    except ExpressionError:
        return
    if not 1e-6 < abs(want.value) < 1e6 or want.warnings:
        return
    check_mathml(parse(text).outputs[0], text, point)
    check_sympy(sympy_text(parse(text).outputs[0]), point, want.value)
    compared()


def test_sympy_reads_names_and_constants_as_they_are_meant() -> None:
    names = [*NAMES, "beta", "S", "I", "N", "E1", "Symbol", "lambda", "class", "x1", "pi2", "zeta"]
    text = " + ".join(f"{k + 1}*{name}" for k, name in enumerate(names)) + " + pi + e"
    expression = sympy.sympify(sympy_text(parse(text).outputs[0]))
    assert {symbol.name for symbol in expression.free_symbols} == set(names)
    assert expression.subs({sympy.Symbol(name): 0 for name in names}) == sympy.pi + sympy.E
    assert "Symbol" not in sympy_text(parse("a*x1 + w2*b").outputs[0])
    plain_names = [
        f"{letter}{digit}"
        for letter in map(chr, range(97, 123))
        for digit in ("", "0", "1", "2", "10")
    ]
    assert [
        name
        for name in plain_names
        if hasattr(sympy, name) and "Symbol" not in sympy_text(parse(name).outputs[0])
    ] == []


def test_every_operation_has_a_spelling_or_a_definition() -> None:
    assert {"where", "and_", "eq", "round", "lgamma", "polygamma"} < set(FORMS)
    assert set(FORMS) <= set(OPERATIONS)
    # exact numbers stay exact
    assert sympy.sympify(diff("x**3/3", to="sympy").program) == sympy.Symbol("x") ** 2
    assert sympy.sympify(diff("x*y", to="sympy").program) == [sympy.Symbol("y"), sympy.Symbol("x")]
    assert sympy.sympify(diff("sin(x)*x", to="sympy", order=2).program).equals(
        sympy.diff(sympy.sin(sympy.Symbol("x")) * sympy.Symbol("x"), sympy.Symbol("x"), 2)
    )


def test_the_whole_document_in_mathml() -> None:
    answer = diff("a = sin(x)*λ; a**2/(1 + x_max)", to="mathml", share=True)
    root = parsed(answer.program)
    assert root.get("display") == "block"
    (table,) = root
    rows = [["".join(cell.itertext()) for cell in row] for row in table]
    assert all(len(row) == 3 and row[1] == "=" for row in rows)
    assert rows[0][0] == "a" and rows[1][0] == "f(x,λ,xmax)"
    assert [row[0] for row in rows][-3:] == ["∂f∂x", "∂f∂λ", "∂f∂xmax"]
    assert all(parsed(each.formula).get("display") == "inline" for each in answer.derivatives)
    one = parsed(diff("f(t) = t**2", to="mathml").program)
    assert "".join(one[0][1][0].itertext()) == "dfdt"
    where = diff("x**n", wrt="x", to="mathml").derivatives[0]
    assert where.condition is not None and parsed(where.condition) is not None


def test_what_does_not_go_together() -> None:
    for to in ("mathml", "sympy", "python"):
        with pytest.raises(ExpressionError, match="exclude each other"):
            diff("x**2", to=to, steps=True)
    with pytest.raises(ExpressionError, match="exclude each other"):
        diff("x**2", to="sympy", share=True)


def test_a_formula_that_is_very_deep() -> None:
    text = "sin(" * 3000 + "x" + ")" * 3000
    assert (
        mathml(Typesetting(["x"]).expression(parse(text).outputs[0])).count("<mi>sin</mi>") == 3000
    )
    assert sympy_text(parse(text).outputs[0]) == text
