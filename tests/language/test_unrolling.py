"""Lists in programs: what they are unrolled to is what the same program without them is."""

from __future__ import annotations

import json
import math
import random
from itertools import product
from pathlib import Path

import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.builder import Builder, NeedsTree, Program
from autodiff_cli.language.elements import (
    element_name,
    nest,
    parse_name,
    point_text,
    shapes_of,
    split_names,
)
from autodiff_cli.language.parser import parse as parse_at_most
from autodiff_cli.language.parser import syntax_tree
from autodiff_cli.language.printer import expression_text
from autodiff_cli.language.reader import ParseFailure, read
from autodiff_cli.language.tree_builder import TreeBuilder
from autodiff_cli.language.unrolling import Unroller
from autodiff_cli.questions.parse_point import parse_point, point_of_object
from autodiff_cli.questions.problem import parse

CORPUS = Path(__file__).parents[1] / "corpora" / "corpus.jsonl"


def texts(program: Program) -> list[str]:
    return [expression_text(output) for output in program.outputs]


def shape_of(program: Program) -> object:
    """All that is in a program's graph, without the places of its nodes."""
    graph = program.graph
    return (
        [primitive.name for primitive in graph.primitives],
        graph.parents,
        graph.constants,
        graph.roots,
        list(program.leaves),
        program.parameters,
        program.constants,
        [name for name, _, _ in program.bindings_at()],
        [graph.span(i) for i in range(len(graph.places))],
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("[a, 2*b]", "a, 2*b"),
        ("[a, b] + 1", "a + 1, b + 1"),
        ("[a, b]*[c, d]", "a*c, b*d"),
        ("-[a, b]", "-a, -b"),
        ("[a, b]²", "a**2, b**2"),
        ("2[1]", None),
        ("sin([a, b])", "sin(a), sin(b)"),
        ("max([a, b, c])", "max(a, b, c)"),
        ("max(0, [a, b])", "max(0, a), max(0, b)"),
        ("sum([[a, b], [c, d]])", "sum(a, b, c, d)"),
        ("mean([a, b])", "mean(a, b)"),
        ("dot([a, b], [c, d])", "sum(a*c, b*d)"),
        ("norm([a, b])", "hypot(a, b)"),
        ("[a, b] @ [c, d]", "sum(a*c, b*d)"),
        ("[[a, b], [c, d]] @ [x, y]", "sum(a*x, b*y), sum(c*x, d*y)"),
        ("[x, y] @ [[a, b], [c, d]]", "sum(x*a, y*c), sum(x*b, y*d)"),
        ("[[a, b]] @ [[c], [d]]", "sum(a*c, b*d)"),
        ("sum(i*x, i, 1, 3)", "sum(1*x, 2*x, 3*x)"),
        ("prod(x + i, i, -1, 1)", "prod(x + -1, x + 0, x + 1)"),
        ("sum(sum(i*j*x, j, i, 2), i, 1, 2)", "sum(sum(1*1*x, 1*2*x), 2*2*x)"),
        ("n = 2; sum(x**i, i, 1, n + 1)", "sum(x**1, x**2, x**3)"),
        ("v = [a, b, c]; v[2]", "b"),
        ("v = [a, b, c]; sum(v[2:3])", "sum(b, c)"),
        ("v = [a, b, c]; sum(v[i]*v[4 - i], i, 1, 3)", "sum(a*c, b*b, c*a)"),
        ("m = [[a, b], [c, d]]; m[2] + m[1:2,1]", "c + a, d + c"),
        ("f(v) = v[1]*sum(v); f([a, b])", "a*sum(a, b)"),
        (
            "layer(W, b, x) = tanh(W @ x + b); layer([[a, b]], [c], [d, e1])",
            "tanh(sum(a*d, b*e1) + c)",
        ),
        ("v = [a, b]; v *= 2; v", "a*2, b*2"),
        ("where([a, b] > 0, [c, d], 1)", "where(a > 0, c, 1), where(b > 0, d, 1)"),
        ("[a, b] if x > 0 else [b, a]", "a if x > 0 else b, b if x > 0 else a"),
        ("sum(x, y, 1, 3)", "sum([x, x, x])"),
        ("sum(x, y, 1, 3.5)", "sum([x, y, 1, 3.5])"),
        ("sum(x, y, z, 3)", "sum([x, y, z, 3])"),
        ("prod(x + 1, k, -1, 1)", "prod([x + 1, x + 1, x + 1])"),
        ("n = 2; sum(x**2, k, 1, n*2 - 1)", "sum([x**2, x**2, x**2])"),
        ("f(n) = sum(x, k, 1, n); f(2)", "sum(x, x)"),
        ("sum(sum(x, k, 1, 2), j, 1, 2)", "sum(sum(x, x), sum(x, x))"),
        ("sum(sum(j*x, k, 1, 2), j, 1, 2)", "sum(sum(1*x, 1*x), sum(2*x, 2*x))"),
        ("sum([y, y, 1, 3])", "sum([y, y, 1, 3])"),
        ("sum(a, b, c, d)", "sum(a, b, c, d)"),
        ("sum(a, b, c, d) = a*b*c*d; sum(i**2, i, 1, 3)", "i**2*i*1*3"),
    ],
)
def test_a_program_with_lists_is_the_program_that_is_written_out(
    text: str, plain: str | None
) -> None:
    if plain is None:
        with pytest.raises(ExpressionError, match="this is a number"):
            parse(text)
    else:
        assert texts(parse(text)) == texts(parse(plain))


def test_entries_of_free_names_are_variables_of_their_own() -> None:
    program = parse("sum(w[i]*x[i], i, 1, 2) + W[2,1]")
    assert list(program.variables) == ["w[1]", "w[2]", "x[1]", "x[2]", "W[2,1]"]
    assert texts(program) == ["sum(w[1]*x[1], w[2]*x[2]) + W[2,1]"]
    assert texts(parse(texts(program)[0])) == texts(program)
    assert list(parse("w[1:3]").variables) == ["w[1]", "w[2]", "w[3]"]
    assert list(parse("W[1:2,1:2]").variables) == ["W[1,1]", "W[1,2]", "W[2,1]", "W[2,2]"]


def test_a_name_has_the_shape_of_its_value_at_the_point() -> None:
    point = parse_point("w=[1, 2, pi], W=[[1, 2], [3, 4]]")
    assert [*point] == ["w[1]", "w[2]", "w[3]", "W[1,1]", "W[1,2]", "W[2,1]", "W[2,2]"]
    assert point == point_of_object({"w": [1, 2, "pi"], "W": [[1, 2], [3, 4]]})
    assert texts(parse("sum(w)", point)) == ["sum(w[1], w[2], w[3])"]
    assert texts(parse("W[2]", point)) == ["W[2,1]", "W[2,2]"]
    assert texts(parse("e + 1", parse_point("e=[1, 2]"))) == ["e[1] + 1", "e[2] + 1"]
    for text in ("w[4]", "W[3,1]", "W[1,3]", "w[0]", "w[2:4]"):
        with pytest.raises(ExpressionError, match="there is no entry"):
            parse(text, point)


def test_a_function_that_ends_the_program_is_differentiated_in_the_entries_of_its_parameters() -> (
    None
):
    assert parse("f(x) = x[1]*x[2] + a").parameters == ("x[1]", "x[2]")
    assert parse("f(x) = sum(x*x)", parse_point("x=[1, 2]")).parameters == ("x[1]", "x[2]")
    assert parse("f(x, y) = x*[y, 1]").parameters == ("x", "y")


def test_what_is_bound_to_a_list_has_its_entries_for_labels() -> None:
    program = parse("h = [a, b]*2; h[1]*h[2]")
    assert [name for name, _, _ in program.bindings_at()] == ["h[1]", "h[2]"]
    assert {
        label for i, label in program.all_nodes.labels.items() if program.all_nodes.parents[i]
    } == {
        "h[1]",
        "h[2]",
    }


@pytest.mark.parametrize("text", ["sum(log(x[i]), i, 1, 2)", "f(v) = log(v); sum(f(x[1:2]))"])
def test_errors_of_entries_stand_where_they_come_from(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x[1]": 1.0, "x[2]": -1.0})
    span = caught.value.span
    assert span is not None
    assert "log(" in text[span.start : span.end]


@pytest.mark.parametrize("builds", [TreeBuilder, Unroller])
def test_programs_without_lists_are_built_as_they_are_read(builds: type[TreeBuilder]) -> None:
    """From its tree a program gets the graph that reading it gives, to the last place; lists change
    nothing in it.
    """
    lowered = 0
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["expr"]
        builder = Builder(text)
        if len(text) > 2000:
            continue
        try:
            read(builder)
            expected = builder.program()
        except (ExpressionError, NeedsTree, ParseFailure):
            # what is no program, or has definitions, has its own tests
            continue
        assert shape_of(builds(text).build(syntax_tree(text))) == shape_of(expected), text
        lowered += 1
    assert lowered > 100


def test_matrix_products_of_all_shapes_hold_to_plain_sums() -> None:
    chance = random.Random(1)
    for m, n, p in product((1, 2, 3), repeat=3):
        left = [[chance.uniform(-1, 1) for _ in range(n)] for _ in range(m)]
        right = [[chance.uniform(-1, 1) for _ in range(p)] for _ in range(n)]
        point = point_of_object({"A": left, "B": right})
        found = gradient("sum(A @ B)", point)
        expected = math.fsum(
            left[i][k] * right[k][j] for i in range(m) for j in range(p) for k in range(n)
        )
        assert found.value == pytest.approx(expected, rel=1e-14, abs=1e-14)
        for i, k in product(range(m), range(n)):
            assert found.gradient[f"A[{i + 1},{k + 1}]"] == pytest.approx(
                math.fsum(right[k]), rel=1e-14, abs=1e-14
            )


def mlp(point: dict[str, float]) -> float:
    """The loss of an MLP 2-3-1, number by number."""
    hidden = [
        math.tanh(
            point[f"W[{i},1]"] * point["x[1]"]
            + point[f"W[{i},2]"] * point["x[2]"]
            + point[f"b[{i}]"]
        )
        for i in (1, 2, 3)
    ]
    return (
        sum(point[f"v[{i}]"] * h for i, h in enumerate(hidden, start=1)) + point["c"] - point["t"]
    ) ** 2


def test_an_mlp_in_three_lines_has_the_value_and_the_gradient_of_one_that_is_written_out() -> None:
    text = "h = tanh(W @ x + b)\ny = dot(v, h) + c\n(y - t)**2"
    scalar = "; ".join(
        [f"h{i} = tanh(w{i}1*x1 + w{i}2*x2 + b{i})" for i in (1, 2, 3)]
        + ["y = v1*h1 + v2*h2 + v3*h3 + c", "(y - t)**2"]
    )
    chance = random.Random(2)
    values = {
        "W": [[chance.gauss(0, 1) for _ in range(2)] for _ in range(3)],
        "b": [0.1, -0.2, 0.3],
    }
    values |= {"v": [chance.gauss(0, 1) for _ in range(3)], "c": 0.5, "x": [1.0, -1.0], "t": 1.0}
    point = point_of_object(values)
    found = gradient(text, point)
    assert found.value == pytest.approx(mlp(point), rel=1e-14)
    plain = {
        name.replace("[", "").replace("]", "").replace(",", "").lower(): name for name in point
    }
    by_hand = gradient(scalar, {short: point[name] for short, name in plain.items()})
    for short, name in plain.items():
        assert found.gradient[name] == pytest.approx(
            by_hand.gradient[short], rel=1e-13, abs=1e-15
        ), name
        step = 1e-6
        ahead, behind = (mlp({**point, name: point[name] + sign * step}) for sign in (1, -1))
        assert found.gradient[name] == pytest.approx(
            (ahead - behind) / (2 * step), rel=1e-6, abs=1e-8
        ), name


def test_what_lists_unroll_to_is_bounded() -> None:
    assert len(parse("sum(i*x, i, 1, 10000)").all_nodes.places) > 10_000
    for text in (
        "sum(x*i, i, 1, 10001)",
        "sum(sum(sum(x*i*j*k, i, 1, 300), j, 1, 300), k, 1, 300)",
        "x[1:20000]",
        "A[1:9999,1:9999] @ x[1:9999]",
    ):
        with pytest.raises(ExpressionError) as caught:
            parse_at_most(text, most=5000)
        assert caught.value.kind == "limit", text
    deep = "x[1]" + " + sum(x[i]" * 100 + ", i, 1, 1)" * 100
    with pytest.raises(ExpressionError, match="deep in one another"):
        parse(deep)
    assert len(parse("x[1]" + " + x[1]" * 5_000).all_nodes.places) > 5_000
    assert texts(parse("(" * 5000 + "x[1]" + ")" * 5000)) == ["x[1]"]


def test_names_of_entries() -> None:
    assert parse_name("w[1]") == ("w", (1,))
    assert parse_name("W[2,13]") == ("W", (2, 13))
    for name in (
        "w",
        "w[0]",
        "w[01]",
        "w[1",
        "w1]",
        "[1]",
        "w[]",
        "w[1,2,3]",
        "w[1, 2]",
        "w[-1]",
        "w[²]",
        "w[1]]",
        "w[[1]",
    ):
        assert parse_name(name) is None, name
    assert element_name("W", (2, 3)) == "W[2,3]"
    assert shapes_of(["w[2]", "w[1]", "v[1]", "v[3]", "u[1]", "u[1,1]", "x"]) == {"w": (2,)}
    assert nest({"w[2]": 2, "w[1]": 1, "v[3]": 3, "x": 0}) == {"w": [1, 2], "v[3]": 3, "x": 0}
    assert nest({"W[1,1]": 1, "W[1,2]": 2}) == {"W": [[1, 2]]}
    assert split_names("a, W[1,2],b[3]") == ["a", "W[1,2]", "b[3]"]
    assert point_text({"w[1]": "1", "w[2]": "…", "x": "3"}) == '"w=[1,…],x=3"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("w=[1, 2", "no end"),
        ("w=[]", "at least one"),
        ("w=[[1, 2], [3]]", "same length"),
        ("w=[[1], 2]", "same length"),
        ("w=[[[1]]]", "nested twice"),
        ("w=[1, x]", "has no value"),
        ("w=[1, 2], w=[1, 3]", "two values"),
        ("w=[1, , 2]", "cannot be used"),
        ("w[0]=1", "is not a name"),
    ],
)
def test_lists_at_a_point_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        parse_point(text)
    assert caught.value.kind == "point"
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "k + sum(x, k, 1, 3)",
        "sum(x, k, 1, 3)*k",
        "s = sum(x, k, 1, 3); s + k",
        "k = 2; sum(x, k, 1, 3)",
        "f(k) = sum(x, k, 1, 3); f(2)",
        "f(x) = sum(x, k, 1, 3) + k",
        "sum(sum(x, k, 1, 3), k, 1, 2)",
        "sum(x, e, 1, 3)",
        "sum(x, k, 1, 3) + k[1]",
    ],
)
def test_a_sum_that_lacks_its_index_is_refused_where_the_index_is_a_number_too(text: str) -> None:
    with pytest.raises(ExpressionError, match="can be read in two ways") as refusal:
        parse(text)
    name = "e" if ", e," in text else "k"
    assert f"sum([x, {name}, 1, 3])" in (refusal.value.hint or "")
    assert f"sum(x, {'i' if name == 'k' else 'k'}, 1, 3)" in (refusal.value.hint or "")


def test_a_sum_that_lacks_its_index_is_refused_where_the_point_has_the_index() -> None:
    with pytest.raises(ExpressionError, match="can be read in two ways"):
        parse("sum(x**2, k, 1, 3)", ["x", "k"])
