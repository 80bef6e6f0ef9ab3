"""Guards of formulas: those that constants, the table or what stands around them decide are gone,
the others stay.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from agreement import FORTY, close
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.engine.algebra import branch_elimination
from autodiff_cli.engine.algebra.branch_elimination import without_dead_branches
from autodiff_cli.engine.algebra.canonical import Canonicalizer, Form
from autodiff_cli.engine.graphs.value import Value, constant, in_order, node, variable
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.operators import WHERE
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.language.printer import expression_text
from counting import counted_calls
from samples import samples_of
from strategies import share_leaves


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("e**x", "e**x"),
        ("x**e", "e*x**(e - 1)"),
        ("x**pi", "pi*x**(pi - 1)"),
        ("x**sqrt(2)", "sqrt(2)*x**(sqrt(2) - 1)"),
        ("sin(1)**x", "sin(1)**x*log(sin(1))"),
        ("(e - 3)**x", "(e - 3)**x*log(e - 3)"),
        ("x**x", "(log(x) + 1)*x**x"),
        ("(2*x)**(3*x)", "(3*log(2*x) + 3)*(2*x)**(3*x)"),
        ("abs(x)**x", "(log(abs(x)) + 1)*abs(x)**x"),
        ("(x**2 + 1)**x", "(2*x**2/(x**2 + 1) + log(x**2 + 1))*(x**2 + 1)**x"),
        ("cosh(x)**x", "(x*tanh(x) + log(cosh(x)))*cosh(x)**x"),
        ("hypot(x, 0.1)", "x/hypot(x, 0.1)"),
        ("log(hypot(x, 2*x))", "1/x"),
        ("sinc(x)*log(x)", "((cos(pi*x) - sinc(x))*log(x) + sinc(x))/x"),
        ("x**x if x > 0 else 0", "where(x > 0, (log(x) + 1)*x**x, 0)"),
        ("relu(x)*relu(x)", "where(x > 0, 2*relu(x), 0)"),
        ("log(x - 1) + (x**2 if x > 0.5 else x)", "1/(x - 1) + 2*x"),
        ("(x if x < 2 else 2*x) if x < 1 else 5*x", "where(x < 1, 1, 5)"),
        ("log(x)*(x if x > 0 else 3)", "log(x) + 1"),
        ("x if abs(tanh(x)) < 1 else 2*x", "1"),
        ("x*(1 if x**2 + pi > 3 else 2)", "1"),
        ("sqrt(x) if sqrt(x) >= 0 else x", "1/(2*sqrt(x))"),
        ("(x if x**2 > 3 else 5*x) if x > 2 else 0", "where(x > 2, 1, 0)"),
        ("(x if x**3 < 9 else 5*x) if x < 2 else 0", "where(x < 2, 1, 0)"),
    ],
)
def test_what_is_decided_is_not_printed(text: str, formula: str) -> None:
    assert [each.formula for each in diff(text).derivatives] == [formula]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (
            "(x**2 if x > 0 and y > 0 else x) if x > 0 else 3*x",
            "where(x > 0, where(y > 0, 2*x, 1), 3)",
        ),
        (
            "(x**2 if y > 0 and x > 0 else x**3) if x > 0 else 3*x",
            "where(x > 0, where(y > 0, 2*x, 3*x**2), 3)",
        ),
        ("x**2 if x > 1 and x > 0 else x**3", "where(x > 1, 2*x, 3*x**2)"),
        (
            "(x*y if x > 0 and y > x else x) if x > 0 and y > 1 else y",
            "where(x > 0 and y > 1, where(y > x, y, 1), 0)",
        ),
    ],
)
def test_the_part_of_a_condition_that_holds_already_is_not_printed(text: str, formula: str) -> None:
    assert [each.formula for each in diff(text, wrt=["x"]).derivatives] == [formula]


def test_a_condition_without_a_value_is_not_looked_at_where_the_formula_has_none_either() -> None:
    assert [
        each.formula for each in diff("(x if exp(1/y) > 0 else 2*x) + x/y", wrt=["x"]).derivatives
    ] == ["1/y + 1"]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        (
            "hypot(x, y)",
            [
                "where(hypot(x, y) == 0, 0, x/hypot(x, y))",
                "where(hypot(x, y) == 0, 0, y/hypot(x, y))",
            ],
        ),
        (
            "x**y",
            [
                "where(y == 0 and x == 0, 0, y*x**(y - 1))",
                "where(x == 0 and y > 0, 0, x**y*log(x))",
            ],
        ),
        # What is decided, but has no value everywhere, is looked at still.
        ("y if exp(1/x) > 0 else 2*y", ["0", "where(exp(1/x) > 0, 1, 2)"]),
        ("y if x**2 > 0 else 2*y", ["0", "where(x**2 > 0, 1, 2)"]),
        ("(sqrt(2)*sqrt(3) - sqrt(6))**x", None),
        # Equal constants, of which digits cannot tell that they are.
        ("x*(1 if log(8) > 3*log(2) else 2)", ["where(log(8) > 3*log(2), 1, 2)"]),
        (
            "x*(1 if log(1.1) + log(1.1) >= log(1.21) else 2)",
            ["where(2*log(1.1) >= log(1.21), 1, 2)"],
        ),
    ],
)
def test_what_is_open_stays(text: str, formulas: Sequence[str] | None) -> None:
    found = [each.formula for each in diff(text).derivatives]
    assert sorted(found) == sorted(formulas) if formulas else "where" in found[0]


SIGNED = [
    PRIMITIVES[name]
    for name in ("exp", "log", "sqrt", "abs", "hypot", "cosh", "tanh", "max", "acosh", "sign")
]
BINARY = [PRIMITIVES[name] for name in ("add", "sub", "mul", "div", "pow")]
COMPARED = [PRIMITIVES[name] for name in ("lt", "le", "gt", "ge", "eq", "ne")]
EDGES = ("0", "1", "-1", "0.5", "2", "-2", "0.3", "-0.7")


def number(rng: random.Random, depth: int) -> Value:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        literal = rng.choice(("0", "1", "2", "0.5", "3"))
        return (
            variable(rng.choice("xxy")) if rng.random() < 0.7 else constant(float(literal), literal)
        )
    if kind < 0.5:
        return node(rng.choice(BINARY), (number(rng, depth - 1), number(rng, depth - 1)))
    if kind < 0.75:
        primitive = rng.choice(SIGNED)
        count = 2 if primitive.variadic else 1
        return node(primitive, tuple([number(rng, depth - 1) for _ in range(count)]))
    return node(WHERE, (condition(rng, depth - 1), number(rng, depth - 1), number(rng, depth - 1)))


def condition(rng: random.Random, depth: int) -> Value:
    kind = rng.random()
    if depth > 0 and kind < 0.3:
        joined = PRIMITIVES[rng.choice(("and_", "or_"))]
        return node(joined, (condition(rng, depth - 1), condition(rng, depth - 1)))
    if depth > 0 and kind < 0.4:
        return node(PRIMITIVES["not_"], (condition(rng, depth - 1),))
    return node(rng.choice(COMPARED), (number(rng, max(0, depth)), number(rng, 0)))


def choices(graph: Value) -> int:
    return sum(value.primitive is WHERE for value in in_order((graph,)))


class Interner(Canonicalizer):
    """Equal parts as one node, and no rules."""

    def form(self, value: Value) -> Form:
        return (
            self.opaque_node(value.primitive, [self.forms[p] for p in value._prev])
            if value._prev
            else super().form(value)
        )


def held(count: int) -> int:
    """How many of so many random formulas lost guards, all having a value just where they had one,
    and the same.
    """
    rng, gone = random.Random(7), 0
    for _ in range(count):
        choice = node(WHERE, (condition(rng, 2), number(rng, 3), number(rng, 2)))
        drawn = share_leaves(node(rng.choice(BINARY), (choice, number(rng, 2))))
        (graph,) = Interner([drawn]).outputs()  # equal parts are one
        (shorter,) = without_dead_branches([graph])
        gone += choices(shorter) < choices(graph)
        for _ in range(4):
            point = {name: FORTY.literal(rng.choice(EDGES)) for name in "xy"}
            before, after = value_in(FORTY, graph, point), value_in(FORTY, shorter, point)
            told = expression_text(graph), expression_text(shorter), point
            assert (before is None) == (after is None), told
            assert before is None or close(before, after), told
    return gone


def test_a_formula_has_the_same_values_and_no_others() -> None:
    assert held(1000) > 100


@pytest.mark.parametrize(
    ("place", "name", "wrong"),
    [
        (branch_elimination, "values_of", lambda primitive: branch_elimination.POSITIVE),
        (branch_elimination.Guards, "may_be_dropped", lambda self, condition, taken, place: True),
    ],
)
def test_a_wrong_rule_is_found(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, wrong: object
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        held(1000)


KNOWN = [p for p in PRIMITIVES.values() if p.values or p.increasing]


@pytest.mark.parametrize("primitive", KNOWN, ids=lambda p: p.name)
def test_the_table_is_right_about_values(primitive: Primitive) -> None:
    found = sorted(
        (inputs, getattr(REAL, primitive.name)(*inputs)) for inputs in samples_of(primitive)
    )
    whole = branch_elimination.values_of(primitive)
    for _, value in found:
        assert whole.start[0] <= Fraction(value) <= whole.stop[0]
    if primitive.increasing:
        assert [value for _, value in found] == sorted(value for _, value in found)


COMPUTED = [
    p
    for p in PRIMITIVES.values()
    if samples_of(p) and not p.takes_conditions and not p.constant_params
]


@pytest.mark.parametrize("primitive", COMPUTED, ids=lambda p: p.name)
def test_a_range_holds_all_values(primitive: Primitive) -> None:
    """What the table says of the values, or what is composed by the definition, at points of ranges
    around samples.
    """
    rng, tried = random.Random(primitive.name), 0
    for sample in samples_of(primitive):
        if max(map(abs, sample)) > 1e100:  # more than the sums of fractions are for
            continue
        boxes = [
            (
                x - Fraction(rng.choice([0, 1, 8]), 8) * abs(x),
                x + Fraction(rng.choice([0, 1, 8]), 8) * abs(x),
            )
            for x in map(Fraction, sample)
        ]
        found = getattr(branch_elimination.RANGES, primitive.name)(
            *[branch_elimination.Interval((a, 0), (b, 0)) for a, b in boxes]
        )
        for _ in range(20):
            inputs = [float(a + (b - a) * Fraction(rng.random())) for a, b in boxes]
            try:
                value = Fraction(getattr(REAL, primitive.name)(*inputs))
            except (ValueError, ArithmeticError):
                continue
            tried += 1
            margin = abs(value) / 10**12
            assert found.start[0] <= value + margin and value - margin <= found.stop[0], (
                boxes,
                inputs,
            )
    assert tried >= 10


def test_a_range_is_known_of_what_the_row_only_defines() -> None:
    positive = branch_elimination.POSITIVE
    for name in ("mean", "sum", "prod", "hypot", "silu", "gelu", "csch", "coth", "tan"):
        signs = getattr(branch_elimination.RANGES, name)(positive).signs()
        assert signs == ("<=>" if name == "tan" else ">"), name
    x = branch_elimination.Interval((Fraction(-1), 0), (Fraction(2), 0))
    assert x * x == branch_elimination.Interval((Fraction(0), 0), (Fraction(4), 0)), "one number"
    assert x * branch_elimination.Interval(*x) == branch_elimination.Interval(
        (Fraction(-2), 0), (Fraction(4), 0)
    ), "two numbers"
    low, high = branch_elimination.point(Fraction(1)), branch_elimination.point(Fraction(2))
    assert branch_elimination.RANGES.clamp(branch_elimination.ALL, low, high)[:2] == (
        (1, 0),
        (2, 0),
    )


def test_work_is_in_proportion() -> None:
    """Four times the guards are not sixteen times the work."""
    work = []
    for n in (10, 40):
        text = "+".join(f"x**(y + {k})" for k in range(n))
        with counted_calls() as count:
            diff(text, wrt=["x"], share=True)
        work.append(count.total)
    assert work[1] < 8 * work[0]


def test_ranges_exclude_the_ends_that_no_product_sum_or_reciprocal_takes() -> None:
    def range_(
        low: float, open_below: int, high: float, open_above: int
    ) -> branch_elimination.Interval:
        ends = [x if math.isinf(x) else Fraction(x) for x in (low, high)]
        return branch_elimination.Interval((ends[0], open_below), (ends[1], -open_above))

    above, closed = range_(0, 1, 2, 0), range_(1, 0, 3, 0)  # (0, 2] and [1, 3]
    assert above.times(closed) == range_(0, 1, 6, 0)._replace(nonzero=True)
    assert range_(0, 0, 2, 1).times(closed) == range_(0, 0, 6, 1), "0 is taken, 2 is not"
    assert range_(-1, 1, 2, 0).times(range_(-3, 0, 1, 1)) == range_(-6, 0, 3, 1)
    assert closed.times(range_(1, 1, 3, 1)) == range_(1, 1, 9, 1)._replace(nonzero=True)
    assert above.plus(closed) == range_(1, 1, 5, 0)
    assert range_(1, 0, math.inf, 1).reciprocal() == range_(0, 1, 1, 0)._replace(nonzero=True)
    assert range_(0, 1, 2, 1).reciprocal() == branch_elimination.Interval(
        (Fraction(1, 2), 1), (math.inf, -1), True
    )
    assert (-range_(0, 1, 2, 1)).reciprocal() == branch_elimination.Interval(
        (-math.inf, 1), (Fraction(-1, 2), -1), True
    )
    signs = {
        range_(0, 0, 2, 0): "=>",
        range_(0, 1, 2, 0): ">",
        range_(-1, 0, 0, 1): "<",
        range_(0, 0, 0, 0): "=",
    }
    assert {r: r.signs() for r in signs} == signs and range_(-1, 0, 1, 0).signs() == "<=>"
