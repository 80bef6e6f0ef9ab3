"""Derivatives of every kind agree: symbolic, forward, reverse, second order, series; in doubles,
fractions, digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from mpmath import mp, mpf

from agreement import FORTY, POINTS, RELAXED, close, graph_of
from autodiff_cli.engine.algebra.symbolic_derivative import derivatives
from autodiff_cli.engine.graphs.higher_order import hessian_in, taylor_in
from autodiff_cli.engine.graphs.value import Value, in_order
from autodiff_cli.engine.graphs.value_and_gradient import evaluate_in, value_and_gradient, value_in
from autodiff_cli.engine.numbers.base import Number, NumberType
from autodiff_cli.engine.numbers.exact import Exact
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.run.sweep import breakpoints
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.printer import expression_text
from counting import compared, compares
from reference import REFERENCE_PARTIALS
from samples import samples_of
from strategies import NAMES, OPERATORS, graphs

NUMERIC = [
    p for p in PRIMITIVES.values() if p.params and not p.gives_condition and p.name != "where"
]
RATIONAL = [
    PRIMITIVES[name]
    for name in ("abs", "relu", "max", "min", "clamp", "sum", "mean", "prod", "softsign", "sign")
]


def leaves_of(graph: Value) -> list[Value]:
    return [v for v in in_order((graph,)) if v.primitive is VARIABLE]


@compares(80)
@given(graphs(max_leaves=8), POINTS)
@settings(RELAXED, max_examples=300)
def test_formulas_and_both_modes_agree_to_forty_digits_edges_included(
    graph: Value, numbers: Sequence[str]
) -> None:
    point = {name: FORTY.literal(text) for name, text in zip(NAMES, numbers, strict=True)}
    leaves = leaves_of(graph)
    names = [leaf.label for leaf in leaves]
    try:
        swept = value_and_gradient(FORTY, graph, point, names)
    except ExpressionError:
        return
    # Where the sides of a kink agree, the sweep knows the true derivative; a formula has the
    # convention.
    assume(not swept.active.one_sided_partials)
    reverse = swept.gradient
    if names:
        compared()
    formulas = derivatives(graph, leaves, 1)
    at = evaluate_in(FORTY, [graph], point, names)
    for k, name in enumerate(names):
        told = (expression_text(graph), name, expression_text(formulas[k,]), numbers)
        symbolic = value_in(FORTY, formulas[k,], point)
        assert symbolic is not None and close(symbolic, reverse[name]), told
        try:
            (along,), _ = at.jvp({name: FORTY.number(1)})
        except ExpressionError:
            continue  # a sum of infinite parts that the reverse sweep cut off
        assert close(along, reverse[name]), told


@compares(40)
@given(graphs(max_leaves=6), POINTS)
@settings(RELAXED, max_examples=150)
def test_second_derivatives_by_duals_by_formulas_and_by_series_agree(
    graph: Value, numbers: Sequence[str]
) -> None:
    point = {name: FORTY.literal(text) for name, text in zip(NAMES, numbers, strict=True)}
    leaves = leaves_of(graph)
    names = [leaf.label for leaf in leaves]
    assume(names)
    try:
        found = hessian_in(FORTY, graph, point, names)
    except ExpressionError:
        return
    swept = value_and_gradient(FORTY, graph, point, names)
    assume(not breakpoints(swept.order, swept.active))
    for (i, j), formula in derivatives(graph, leaves, 2).items():
        told = (expression_text(graph), names[i], names[j], expression_text(formula), numbers)
        symbolic = value_in(FORTY, formula, point)
        if symbolic is not None:
            assert close(symbolic, found.hessian[i][j]), told
    try:
        coefficients = taylor_in(FORTY, graph, point, names[0], 2)
    except ExpressionError:
        return
    assert close(coefficients[1], found.gradient[0]), expression_text(graph)
    assert close(2 * coefficients[2], found.hessian[0][0]), expression_text(graph)
    compared()


@compares(15)
@given(graphs(RATIONAL, max_leaves=10), POINTS)
@settings(RELAXED, max_examples=300)
def test_exact_doubles_and_fifty_digits_agree_on_rational_programs(
    graph: Value, numbers: Sequence[str]
) -> None:
    exact, fifty = Exact(), Multiprecision(50, decimals=True)
    names = [leaf.label for leaf in leaves_of(graph)]

    def gradient(m: NumberType) -> list[Number]:
        found = value_and_gradient(
            m, graph, {n: m.literal(t) for n, t in zip(NAMES, numbers, strict=True)}, names
        )
        return [found.value, *found.gradient.values()]

    try:
        fractions = gradient(exact)
        digits = gradient(fifty)
    except ExpressionError:
        return
    assert not any(isinstance(x, float) for x in fractions)
    fractions = [Fraction(x) for x in fractions]
    scale = max([1, *(abs(x) for x in fractions)])
    for x, y in zip(fractions, digits, strict=True):
        assert abs(fifty.context.mpf(x.numerator) / x.denominator - y) <= 1e-40 * float(
            min(scale, Fraction(10**30))
        )
    try:
        doubles = gradient(REAL)
    except ExpressionError:
        return
    if all(v.primitive in OPERATORS[:3] or not v._prev for v in in_order((graph,))):
        assert doubles == pytest.approx([float(x) for x in fractions], rel=1e-9, abs=1e-9)
        compared()


def ordinary(inputs: Sequence[float]) -> bool:
    return all(x == 0 or 1e-3 < abs(x) < 50 for x in inputs)


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_second_derivatives_of_the_table_against_references(primitive: Primitive) -> None:
    """The derivative of each rule, against a difference quotient of the independent partials with
    50 digits.
    """
    for inputs in [s for s in samples_of(primitive) if ordinary(s)][:3]:
        if primitive.kink and primitive.kink(*inputs):
            continue
        graph, point, free = graph_of(primitive, inputs)
        ours = hessian_in(REAL, graph, point, list(point)).hessian
        for i, k in enumerate(free):
            for j, other in enumerate(free):
                wanted = slope_of_partial(primitive, inputs, k, other)
                assert ours[i][j] == pytest.approx(wanted, rel=1e-9, abs=1e-12), (
                    primitive,
                    inputs,
                    k,
                    other,
                )


def slope_of_partial(primitive: Primitive, inputs: Sequence[float], k: int, other: int) -> float:
    """The derivative of the k-th partial of the references by another input, by a difference
    quotient.
    """
    partials: Any = REFERENCE_PARTIALS[primitive.name]
    with mp.workdps(50):
        step = mpf(10) ** -15
        values = []
        for sign in (1, -1):
            moved = [mpf(v) for v in inputs]
            moved[other] += sign * step
            values.append(partials[0](*moved)[k] if primitive.variadic else partials[k](*moved))
        return float((values[0] - values[1]) / (2 * step))


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_formulas_of_the_table_hold_at_its_samples(primitive: Primitive) -> None:
    for inputs in [s for s in samples_of(primitive) if ordinary(s)][:3]:
        graph, point, free = graph_of(primitive, inputs)
        formulas = derivatives(graph, leaves_of(graph), 1)
        numbers = {name: FORTY.number(x) for name, x in point.items()}
        swept = value_and_gradient(FORTY, graph, numbers, list(point))
        for k, name in enumerate(point):
            assert close(value_in(FORTY, formulas[k,], numbers), swept.gradient[name]), (
                primitive,
                inputs,
            )
        assert len(formulas) == len(free)
