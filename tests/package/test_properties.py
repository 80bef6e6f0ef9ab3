"""Properties of the whole way through: text and graph, graph and gradient, and any text at all."""

from __future__ import annotations

import math

from hypothesis import given, settings

from autodiff_cli import ExpressionError, Value, gradient, parse
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.language.printer import expression_text
from counting import compared, compares
from strategies import graphs, program_text, same_shape, texts


def same_leaf(a: Value, b: Value) -> bool:
    return a.label == b.label if a.primitive is VARIABLE else a.data == b.data


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_a_program_printed_and_parsed_is_the_same_graph(graph: Value) -> None:
    text = program_text((graph,))
    (again,) = parse(text).outputs
    assert same_shape(graph, again, same_leaf), text


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_an_expression_printed_and_parsed_prints_the_same(graph: Value) -> None:
    text = expression_text(graph)
    (again,) = parse(text).outputs
    assert expression_text(again) == text


@compares(15)
@given(texts())
@settings(max_examples=500, deadline=None)
def test_any_text_gives_a_result_or_an_error_with_a_place_inside_it(text: str) -> None:
    try:
        program = parse(text)
    except ExpressionError as error:
        span = error.span
        assert span is None or 0 <= span.start <= span.end <= len(text)
        assert error.hint
        return
    compared()
    for root in program.outputs:
        for value in in_order((root,)):
            if value.span is not None:
                assert 0 <= value.span.start < value.span.end <= len(text)


@compares(150)
@given(graphs())
@settings(max_examples=300, deadline=None)
def test_an_evaluation_gives_finite_numbers_or_a_documented_error(graph: Value) -> None:
    names = {v.label for v in in_order((graph,)) if v.primitive is VARIABLE}
    text = program_text((graph,))
    try:
        result = gradient(text, dict.fromkeys(names, 0.75))
    except ExpressionError as error:
        assert error.kind in ("domain", "derivative", "overflow")
        assert error.span is not None
        return
    assert math.isfinite(result.value)
    assert all(math.isfinite(partial) for partial in result.gradient.values())
    assert list(result.gradient) == list(result.point)
    compared()
