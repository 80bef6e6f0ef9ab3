"""Short forms and assumptions: equal to the formula wherever their condition holds, and no less
defined there.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import FORTY, RELAXED, close
from autodiff_cli import parse
from autodiff_cli.engine.algebra import almost_everywhere
from autodiff_cli.engine.algebra.almost_everywhere import (
    Contradiction,
    assume,
    conjunction,
    generic_form,
)
from autodiff_cli.engine.algebra.simplify import simplify
from autodiff_cli.engine.algebra.symbolic_derivative import derivatives
from autodiff_cli.engine.graphs.value import Value, constant, node, variable
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.table.primitive import PRIMITIVES
from autodiff_cli.language.printer import expression_text

NAMES = ("x", "y")
EDGES = ("0", "1", "-1", "0.5", "2", "-2", "0.3", "3", "-0.7")
AT = st.lists(st.sampled_from(EDGES), min_size=2, max_size=2)


@st.composite
def kinked(draw: st.DrawFn) -> str:
    """Programs with powers, extremes, lengths and choices, few enough to be met at their edges."""
    atoms = st.sampled_from(
        ("x", "y", "x", "y", "1", "2", "0", "(x + y)", "(x - 1)", "x**2", "sin(x)", "exp(y)")
    )
    shapes = (
        "{}**{}", "max({}, {})", "min({}, {})", "max({}, {}, {})", "clamp({}, -1, 1)",
        "clamp({}, {}, {} + 1)", "clamp({}, {}, {})", "hypot({}, {})", "abs({})", "relu({})",
        "({} if {} > {} else {})", "({} if {} == {} else {})", "sinc({})", "{}*{}", "({} + {})",
        "log({})", "sqrt({})", "floor({})", "round({}/2)", "abs({})**{}", "({}**{})**x",
    )  # fmt: skip
    text = draw(atoms)
    for _ in range(draw(st.integers(1, 3))):
        shape = draw(st.sampled_from(shapes))
        slots = [draw(atoms) for _ in range(shape.count("{}"))]
        slots[draw(st.integers(0, len(slots) - 1))] = f"({text})"
        text = shape.format(*slots)
    return text


def differentiated(text: str) -> list[Value]:
    program = parse(text)
    leaves = [program.variables[name] for name in NAMES if name in program.variables]
    return list(derivatives(program.outputs[0], leaves, 1).values())


def held(text: str, numbers: Sequence[str]) -> int:
    """How many short forms were compared at the point, where their condition holds."""
    point = {name: FORTY.literal(each) for name, each in zip(NAMES, numbers, strict=True)}
    compared = 0
    for total in differentiated(text):
        short = generic_form(total)
        if short is None:
            continue
        before = value_in(FORTY, total, point)
        if before is None or not value_in(FORTY, conjunction(short.conditions), point):
            continue
        after = value_in(FORTY, short.formula, point)
        told = (
            text,
            expression_text(total),
            expression_text(short.formula),
            [*map(expression_text, short.conditions)],
        )
        assert after is not None and close(before, after), (told, numbers)
        compared += 1
    return compared


@pytest.mark.parametrize(
    "text", ["clamp(x**2 + 1/x, x, (x - 1) + 1)", "clamp(x, 2, 2)", "clamp(x, y, y)"]
)
def test_between_equal_ends_a_clamped_number_has_no_short_form(text: str) -> None:
    # it is both ends and on no thin set; a form that says which of them it is would be wrong at
    # these points
    assert not any(
        held(text, numbers) for numbers in itertools.product(("-1.5", "2", "3"), ("-1.5", "2", "4"))
    )


def test_a_short_form_is_the_formula_where_its_condition_holds() -> None:
    compared = 0

    @given(kinked(), AT)
    @settings(RELAXED, max_examples=250)
    def check(text: str, numbers: Sequence[str]) -> None:
        nonlocal compared
        compared += held(text, numbers)

    check()
    assert compared > 40


FACTS = ("x > 0", "x < 0", "y > 1", "x > y", "x != 0", "y >= 0", "-1 < x and x < 1", "x < y + 1",
         "floor(x) == x", "floor(y) == y", "floor(x/2) == x/2", "floor((y + 1)/2) == (y + 1)/2")  # fmt: skip


def test_what_assumptions_leave_is_the_formula_where_they_hold() -> None:
    compared = 0

    @given(kinked(), st.lists(st.sampled_from(FACTS), min_size=2, max_size=6, unique=True), AT)
    @settings(RELAXED, max_examples=250)
    def check(text: str, told: Sequence[str], numbers: Sequence[str]) -> None:
        nonlocal compared
        point = {name: FORTY.literal(each) for name, each in zip(NAMES, numbers, strict=True)}
        facts = [
            each
            for each in told
            if value_in(FORTY, parse(f"where({each}, 1, 0)").outputs[0], point)
        ]
        outputs = parse(
            f"where(x + y > 0, {text}, {text}), "
            + ", ".join(f"where({f}, 1, 0)" for f in ["1 > 0", *facts])
        )
        found = simplify((outputs.outputs[0], *[each._prev[0] for each in outputs.outputs[2:]]))
        before = value_in(FORTY, found[0], point)
        try:
            (left,) = assume(found[:1], found[1:])
        except Contradiction:
            raise AssertionError((facts, numbers)) from None
        if before is not None and expression_text(left) != expression_text(found[0]):
            after = value_in(FORTY, left, point)
            assert after is not None and close(before, after), (
                text,
                facts,
                expression_text(left),
                numbers,
            )
            compared += 1

    check()
    assert compared > 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where(x == 0, 0, sin(x)/x)", "sin(x)/x where x != 0"),
        ("where(n == 0 and x == 0, 0, n*x**(n - 1))", "n*x**(n - 1) where n != 0 or x != 0"),
        ("where(a == 0 and x > 0, 0, a**x*log(a))", "a**x*log(a) where a > 0"),
        (
            "where(x == max(x, y), 1/(where(y == max(x, y), 1, 0) + 1), 0)",
            "where(x > y, 1, 0) where y != x",
        ),
        ("where(hypot(x, y) == 0, 0, x/hypot(x, y))", "x/hypot(x, y) where x != 0 or y != 0"),
        ("where(x == max(x, x), 1, 0)", "1"),
        ("where(floor(x) == 2, 1, 0)", None),
        ("where(x > 0, 1, 0)", None),
        ("where(1 == 2, x, y)", None),
    ],
)
def test_short_forms(text: str, expected: str | None) -> None:
    found = generic_form(parse(text).outputs[0])
    where = (
        f" where {expression_text(conjunction(found.conditions))}"
        if found and found.conditions
        else ""
    )
    assert (expression_text(found.formula) + where if found else None) == expected


def test_a_condition_that_says_too_little_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first property is tested: without the conditions it fails."""
    zero = constant(0.0, "0")
    true = node(PRIMITIVES["le"], (zero, zero))
    monkeypatch.setattr(almost_everywhere, "negation", lambda condition: true)
    with pytest.raises(AssertionError):
        held("max(x, y)*sinc(x)", ("0", "-1"))


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("floor(x + 2*y) + round(x)", "floor(x) == x, floor(y) == y", "2*x + 2*y"),
        ("floor(x/2)", "floor(x/2) == x/2", "x/2"),
        ("floor(x/2)", "floor(x) == x", "floor(x/2)"),
        (
            "ceil((x + y)/2)",
            "floor((x + 1)/2) == (x + 1)/2, floor((y + 1)/2) == (y + 1)/2",
            "(x + y)/2",
        ),
        ("floor(x + 0.5)", "floor(x) == x", "floor(x + 0.5)"),
        ("abs(y)**x", "floor(x/2) == x/2", "y**x"),
        ("abs(y)**x", "floor(x) == x", "abs(y)**x"),
        ("(y**2)**x", "floor(x) == x", "y**(2*x)"),
        ("(y**2)**x", "x > 0", "(y**2)**x"),
    ],
)
def test_whole_numbers(text: str, facts: str, expected: str) -> None:
    told = [f"where({each}, 1, 0)" for each in facts.split(", ")]
    formula, *conditions = parse(", ".join([text, *told])).outputs
    found, *known = simplify((formula, *[each._prev[0] for each in conditions]))
    assert expression_text(simplify(assume((found,), known))[0]) == expected


@pytest.mark.parametrize(
    "facts", ["floor(x/2) == x/2, floor((x + 1)/2) == (x + 1)/2", "floor(x) == x, 0 < x and x < 1"]
)
def test_whole_numbers_that_there_are_none_of(facts: str) -> None:
    conditions = [
        each._prev[0]
        for each in parse(", ".join(f"where({f}, 1, 0)" for f in facts.split(", "))).outputs
    ]
    with pytest.raises(Contradiction):
        assume((variable("x"),), simplify(conditions))


def test_a_wrong_assumption_rule_is_found() -> None:
    x = variable("x")
    assert assume(
        (node(PRIMITIVES["abs"], (x,)),), [node(PRIMITIVES["gt"], (x, constant(0.0, "0")))]
    ) == [x]
    with pytest.raises(Contradiction):
        assume((x,), [node(PRIMITIVES[name], (x, constant(0.0, "0"))) for name in ("gt", "lt")])
