"""The syntax tree: its parts and places, and the programs that are built of a changed one."""

from __future__ import annotations

import pytest

from autodiff_cli import gradient, minimize, solve
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.equation_trees import (
    is_head,
    last_equation,
    relations,
    residuals_tree,
    split_equations,
)
from autodiff_cli.language.parser import syntax_tree
from autodiff_cli.language.tokens import bound_names, names_in, split_statements
from autodiff_cli.language.tree import SyntaxNode, program_of, shifted
from autodiff_cli.questions.problem import build, first_powers


def syntax_tree_names(text: str) -> list[str]:
    return [node.value for node in syntax_tree(text).names()]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(node.kind, node.text(text)) for node in syntax_tree(text).walk()]


def test_a_tree_has_the_parts_of_a_text_in_order() -> None:
    text = "f(t) = -(t + 2)²; y = 1 if 0 < x <= 3 else 2[km]; y, f(+x)"
    assert kinds(text) == [
        ("program", text),
        ("define", "f(t) = -(t + 2)²"),
        ("name", "t"),
        ("operation", "-(t + 2)²"),
        ("operation", "(t + 2)²"),
        ("group", "(t + 2)"),
        ("operation", "t + 2"),
        ("name", "t"),
        ("number", "2"),
        ("number", "²"),
        ("bind", "y = 1 if 0 < x <= 3 else 2[km]"),
        ("operation", "1 if 0 < x <= 3 else 2[km]"),
        ("comparison", "0 < x <= 3"),
        ("number", "0"),
        ("name", "x"),
        ("number", "3"),
        ("number", "1"),
        ("number", "2[km]"),
        ("outputs", "y, f(+x)"),
        ("name", "y"),
        ("call", "f(+x)"),
        ("plus", "+x"),
        ("name", "x"),
    ]


def test_a_tree_knows_no_meanings() -> None:
    """A name that is bound, a constant and a function that is not there are parts like others."""
    text = "pi = 3; nothing(pi) + e"
    assert [node.value for node in syntax_tree(text).walk() if node.kind in ("name", "call")] == [
        "nothing",
        "pi",
        "e",
    ]
    assert syntax_tree_names(text) == ["pi", "e"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(" * 50_000 + "x" + ")" * 50_000, 3),  # parentheses around parentheses are one group
        ("+".join(["x"] * 50_000), 100_000),
        ("-" * 50_000 + "x", 50_002),
        ("sin(" * 30_000 + "x" + ")" * 30_000, 30_002),
    ],
    ids=["parentheses", "sum", "signs", "calls"],
)
def test_trees_may_be_deep(text: str, parts: int) -> None:
    tree = syntax_tree(text)
    moved = shifted(tree, 7)
    assert moved.span.end == len(text) + 7
    assert sum(1 for _ in moved.walk()) == sum(1 for _ in tree.walk()) == parts
    assert build(lambda: tree, text).parameters == ("x",)


def test_a_statement_can_be_taken_out() -> None:
    text = "a = 2; b = 3; a*b*x"
    tree = syntax_tree(text)
    without_a = program_of([part for part in tree.parts if part.value != "a"])
    program = build(lambda: without_a, text)
    assert [*program.leaves] == ["a", "x"]
    assert program.all_nodes.span(program.leaves["a"]) == (14, 15, None)


def test_residuals_are_left_less_right_and_zero_is_not_subtracted() -> None:
    text = "c = 2; x**2 = c*y; x - y = 0; x*y - 1"
    tree = residuals_tree(text, split_equations(text)[1:])
    assert [part.text(text) for part in tree.parts[-1].parts] == ["x**2 = c*y", "x - y", "x*y - 1"]
    program = build(lambda: tree, text)
    assert len(program.roots) == 3
    assert [*program.leaves] == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("0 <= x<=1", ["0 <= x", "x <= 1"]),
        ("x*y = 2", ["x*y = 2"]),
        ("where(x < 1, x, 2) ≤ 3", ["where(x < 1, x, 2) ≤ 3"]),
        ("a == b = c # both", ["a == b", "b = c"]),
    ],
)
def test_relations_have_the_signs_outside_of_parentheses(text: str, pairs: list[str]) -> None:
    ((_, relation),) = relations(text)
    assert [written for _, _, written in relation.pairs(text)] == pairs


def test_a_comparison_inside_of_a_constraint_is_none() -> None:
    # the least x**2 + y**2 where y ≥ 2, if x < 1
    answer = minimize("x**2 + y**2", "x=0.5,y=3", subject_to="where(x < 1, 2, 0) <= y")
    assert answer.converged
    assert answer.point["y"] == pytest.approx(2)


def test_errors_in_a_constraint_show_what_was_typed() -> None:
    with pytest.raises(ExpressionError) as caught:
        minimize("x**2", "x=1", subject_to="x >= 0; 1 <= x + * 2")
    assert caught.value.text == "x >= 0; 1 <= x + * 2"
    assert caught.value.span is not None
    assert caught.value.text[slice(*caught.value.span[:2])] == "+ *"


def test_errors_in_an_equation_stand_in_its_own_text() -> None:
    text = "y = 1; x + y = sin(x y)"
    with pytest.raises(ExpressionError) as caught:
        solve(text, "x=1")
    assert caught.value.span is not None
    assert text[slice(*caught.value.span[:2])].strip() in ("x y", "y")


def test_a_mistyped_function_defines_none_in_place_of_an_equation() -> None:
    with pytest.raises(
        ExpressionError, match="defines a function `sen` that depends on nothing"
    ) as caught:
        solve("sen(x) = 0.5", "x=0.5")
    assert caught.value.hint == "did you mean `sin`?"
    # a program that ends in a definition is 0 at the roots of that function
    assert solve("f(x) = x**2 - 2", "x=1").solutions[0].values["x"] == pytest.approx(2**0.5)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x^1/2", "`x^1/2` is `x/2`"),
        ("3*x**1/2 + 1", "`x**1/2` is `x/2`"),
        ("y*(x + 1)^1/3", "`(x + 1)^1/3` is `(x + 1)/3`"),
        ("sin(x)^1/2", "`sin(x)^1/2` is `sin(x)/2`"),
        ("x^-1/2", "`x^-1/2` is `(x^-1)/2`"),
        ("2*(x + 1)**-1/3", "`(x + 1)**-1/3` is `((x + 1)**-1)/3`"),
    ],
)
def test_a_first_power_is_noted_whatever_its_base_is(text: str, written: str) -> None:
    assert [note.message for note in first_powers(text)] == [written]
    point = dict.fromkeys(syntax_tree_names(text), 1.0)
    assert [note.message for note in gradient(text, point).warnings] == [written]


@pytest.mark.parametrize(
    "text", ["x^(1/2)", "x^2/3", "x/2", "x^1/y", "(x^1)/2", "x^-2/3", "x^-1/y"]
)
def test_other_powers_are_not_noted(text: str) -> None:
    assert first_powers(text) == []


def test_names_are_those_of_tokens_not_of_patterns() -> None:
    assert names_in("2x + x1 # y\n+ sin(λ₁)") == ["x", "x1", "sin", "λ₁"]
    assert bound_names("a = 2; f(x) = a*x # b = 3\nc == a; d += 1") == ["a"]


def test_the_head_of_a_definition() -> None:
    assert is_head(split_statements("f(x, y)")[0])
    assert not is_head(split_statements("f(x + y)")[0])
    assert last_equation("a = 2; f(x) = a*x") == ("f(x)", "a = 2;        a*x", "f")
    last = last_equation("log(y) = a + b*x")
    assert last is not None
    assert last.called == "log"
    assert last_equation("a = 2; a*x") is None


def test_moved_parts_keep_their_values() -> None:
    node: SyntaxNode = shifted(syntax_tree("g(2)").parts[0], 3)
    assert (node.kind, node.value, node.span, node.name_span) == (
        "call",
        "g",
        (3, 7, None),
        (3, 4, None),
    )
