"""Derivations: every step equals the one before, in forty digits; the last one is what `diff`
gives.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import autodiff_cli
from agreement import FORTY, close
from autodiff_cli.capabilities.formulas import derivation
from autodiff_cli.capabilities.formulas.derivation import (
    ASSUMPTION,
    CONVENTIONS,
    MAX_NODES,
    SIMPLIFY,
    SUBSTITUTE,
    Derivation,
    RuleStep,
)
from autodiff_cli.capabilities.formulas.diff import Diff, diff
from autodiff_cli.engine.graphs.value import Value, in_order
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient, value_in
from autodiff_cli.engine.numbers.base import NumberType
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.run.sweep import NodeError
from autodiff_cli.engine.table.primitive import FUNCTIONS
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.printer import expression_text
from autodiff_cli.questions.problem import parse
from random_texts import drawn

FINER = Multiprecision(80, decimals=True)

POINTS: tuple[dict[str, str], ...] = (
    {"x": "0.7318472", "y": "0.3941825", "a": "1.2718", "n": "2.6119"},
    {"x": "1.4142871", "y": "-0.5518273", "a": "0.6371", "n": "3.1733"},
    {"x": "-0.6180543", "y": "2.2360913", "a": "2.1123", "n": "-1.4142"},
    {"x": "3.1622915", "y": "1.1234567", "a": "0.2236", "n": "0.5772"},
)

WRITTEN = (
    "3x² - 4x + 5", "(2x+1)/(x-3)", "x**2*exp(-x/2)", "sin(3x)", "-x", "1/x", "3/(x**2+1)",
    "sqrt(x**2+1)", "x**0", "(x**2+1)**5", "2*x*sin(x)*3", "x**x", "a**x", "x**n", "(x*y)**n",
    "max(x,0)", "abs(x-1)", "relu(2x)", "x**2 if x>0 else -x", "clamp(x,-1,1)", "tanh(a*x+y)**2",
    "hypot(x,y)", "atan2(x,x**2)", "log(x,2)", "log(2, x)", "max(x,x**2,3)", "ln(x)/x",
    "mean(x,x**2)", "u=x**2+1; u*sin(u)", "a-(x-(x+x**2))", "e**(2x)", "floor(x)*x",
    "prod(x,x,sin(x))", "sum(x,x**2,3)", "-(x/3)", "sin(cos(exp(x)))", "leaky_relu(x*y)",
    "x*y*sin(x)/2", "max(x, x, y)", "min(x + 1, 1 + x, y, y)", "clamp(x, x, 2)", "clamp(x, 0, x)",
    "clamp(x, y, y)*x", "max(x, x)", "polygamma(1, x**2)", "where(x > 0 and y > 0, x*y, x/y)",
    "beta(x**2, y**2)", "min(x, y)", "logsumexp(x, y, x*y)",
)  # fmt: skip


def derived(text: str, **given: Any) -> Diff:
    return diff_within(20, text, **given)


def diff_within(times: int, text: str, **given: Any) -> Diff:
    with use_budget(times, length=len(text)):
        return diff(text, steps=True, **given)


def number(graph: Value, step: RuleStep, by: str, at: dict[str, Any]) -> Any:
    """The value of a part of a step; None where there is none, and where its digits are lost.

    No point is left out: at points so odd, only inputs that are equal everywhere can meet, and
    there is no kink there.
    """
    found, finer = (
        number_in(m, graph, step, by, {n: m.number(x) for n, x in at.items()})
        for m in (FORTY, FINER)
    )
    return found if found is not None and finer is not None and close(found, finer) else None


def number_in(m: NumberType, graph: Value, step: RuleStep, by: str, at: dict[str, Any]) -> Any:
    """The same in one precision, the open derivatives by a sweep."""
    point = dict(at)
    for name, function in step.pending.items():
        try:
            swept = value_and_gradient(m, function, at, [by])
        except (ExpressionError, NodeError):
            return None
        point[name] = swept.gradient[by]
    return value_in(m, graph, point)


def wrong(each: Derivation, points: Sequence[dict[str, str]] = POINTS) -> Iterator[str]:
    """The steps that do not equal what was there before; yields an empty text for each one that
    does.
    """
    by = each.by[-1]
    for at in points:
        point = {name: FORTY.context.mpf(x) for name, x in at.items()}
        for step in each.steps:
            before, after = (number(graph, step, by, point) for graph in (step.part, step.result))
            if before is None or after is None:
                continue
            told = (
                f"{step.name}: {expression_text(step.part)} = {expression_text(step.result)} at"
                f" {at}"
            )
            yield "" if close(before, after) else f"{told}: {before} and {after}"


def connected(each: Derivation) -> bool:
    """Whether every step goes on from what was there: an open derivative, or a result."""
    seen = {expression_text(each.steps[0].part)}
    for step in each.steps:
        part = expression_text(step.part)
        if part not in seen:
            return False
        seen |= {expression_text(step.result)}
        seen |= {leaf.label for leaf in in_order((step.result,)) if leaf.label in step.pending}
    return True


def compared_in(found: Diff, points: Sequence[dict[str, str]] = POINTS) -> tuple[int, list[str]]:
    """How many steps were compared, and which of them are wrong."""
    compared = []
    last = {each.by: each for each in found.derivations}
    for each in found.derivations:
        assert connected(each)
        compared += list(wrong(each, points))
    for derivative in found.derivatives:
        each = last[derivative.by]
        assert (
            expression_text(each.steps[-1].result)
            == expression_text(each.formula)
            == derivative.shown
        )
    return len(compared), [message for message in compared if message]


@pytest.mark.parametrize("text", WRITTEN)
def test_every_step_equals_the_one_before(text: str) -> None:
    compared, found = compared_in(derived(text))
    assert found == []
    assert compared


def test_so_it_is_for_random_formulas_of_every_function() -> None:
    rng = random.Random(5)
    formulas = steps = 0
    rules: Counter[str] = Counter()
    while formulas < 120:
        text = drawn(rng, 4).text
        try:
            found = derived(text)
        except ExpressionError as error:
            assert (
                error.kind in ("limit", "overflow")
                or error.diagnostic.message == "division by zero"
            ), text
            continue
        if not found.derivations:
            continue
        compared, mistakes = compared_in(found, POINTS[:2])
        assert mistakes == [], text
        formulas += compared > 4
        steps += compared
        rules.update(
            step.function or step.rule for each in found.derivations for step in each.steps
        )
    assert steps > 1200
    named = {p.spelling or p.name for p in FUNCTIONS.values()}
    assert len(named & set(rules)) > 50
    assert {
        "sum",
        "constant multiple",
        "product",
        "quotient",
        "reciprocal",
        "power",
        "branches",
    } <= set(rules)


def test_higher_orders_go_on_from_the_order_before() -> None:
    found = derived("x**3*sin(x*y)", order=2)
    assert [each.by for each in found.derivations] == [
        ("x",),
        ("y",),
        ("x", "x"),
        ("x", "y"),
        ("y", "y"),
    ]
    compared, mistakes = compared_in(found)
    assert (mistakes, compared > 100) == ([], True)


def test_a_wrong_rule_would_be_noticed() -> None:
    found = derived("x**2*sin(x)")
    (each,) = found.derivations
    for k, step in enumerate(each.steps):
        if step.rule == "power":
            off = step._replace(result=parse("2.002*x").outputs[0])
            bad = each._replace(steps=(*each.steps[:k], off, *each.steps[k + 1 :]))
            assert [message for message in wrong(bad) if message]
            assert not connected(each._replace(steps=each.steps[1:]))
            break
    else:
        raise AssertionError("no power")


def named(text: str) -> list[str]:
    (each,) = derived(text, wrt=["x"]).derivations
    return [step.name for step in each.steps if step.is_rule]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("3x² - 4x + 5", ["sum", "constant multiple", "power", "constant multiple"]),
        ("x*sin(x)", ["product", "sin"]),
        ("sin(x)/x", ["quotient", "sin"]),
        ("1/(x + 1)", ["reciprocal", "sum"]),
        ("(x + 1)**5", ["chain, power", "sum"]),
        ("sin(cos(x))", ["chain, sin", "cos"]),
        ("2**x", ["exponential"]),
        ("x**x", ["general power"]),
        ("-x/2", ["constant multiple"]),
        ("x", ["variable"]),
        ("x**2 if x > 0 else 1", ["branches", "power"]),
        ("u = x**2; sin(u)*cos(u)", ["product", "chain, sin", "power", "chain, cos"]),
    ],
)
def test_the_rules_are_those_of_a_teacher(text: str, rules: list[str]) -> None:
    assert named(text) == rules


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("abs(x - 1)", "x - 1 != 0"),
        ("max(x, 2)", "x != 2"),
        ("x**2 if x > 0 else -x", "x != 0"),
        ("x**n", "unless n == 0 and x == 0"),
        ("hypot(x, y)", "unless hypot(x, y) == 0"),
        ("relu(x*y)", "x*y != 0"),
        ("round(x)*x", "away from kinks, where it is 0 at halves"),
    ],
)
def test_kinks_are_told_as_conditions(text: str, condition: str) -> None:
    (each,) = derived(text, wrt=["x"]).derivations
    assert condition in [step.condition for step in each.steps]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("abs(x - 1)", r"\quad(x - 1 \ne 0)"),
        ("x**n", r"\text{power}\quad(\text{unless } n = 0 \text{ and } x = 0)"),
        ("round(x)*x", r"\text{round}\quad(\text{away from kinks, where it is 0 at halves})"),
    ],
)
def test_conditions_are_formulas_in_latex(text: str, written: str) -> None:
    assert written in derived(text, wrt=["x"], language="latex").program


def test_what_is_assumed_is_a_step_of_its_own() -> None:
    (each,) = derived("abs(x)*x", assume="x < 0").derivations
    last = each.steps[-1]
    assert (last.rule, last.condition, expression_text(last.result)) == (
        ASSUMPTION,
        "x < 0",
        "-2*x",
    )
    (each,) = derived("x**2", assume="x < 0").derivations
    assert [step.rule for step in each.steps] == ["power"]


def test_a_long_formula_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExpressionError, match="too long to be derived step by step") as refused:
        derived(" + ".join(f"x**{k}" for k in range(10_000)))
    assert refused.value.kind == "limit"
    shared = "; ".join(f"t{k + 1} = t{k}*t{k}" for k in range(40))
    with pytest.raises(ExpressionError, match="too long to be derived step by step"):
        derived(f"t0 = x + 1; {shared}; sin(t40)")
    longest = " + ".join("x" for _ in range(MAX_NODES // 2))
    assert [step.rule for step in derived(longest).derivations[0].steps] == ["sum", SIMPLIFY]
    assert derived("sin(" * 50 + "x" + ")" * 50).derivations[0].steps[-2].rule == SUBSTITUTE
    with pytest.raises(ExpressionError, match="too long to be derived step by step") as refused:
        derived("exp(x**2)/(x + 1)", order=9)
    with pytest.raises(ExpressionError, match="takes more than"):
        diff_within(1, "sin(" * 150 + "x" + ")" * 150)
    monkeypatch.setattr(derivation, "MAX_STEPS", 20)
    with pytest.raises(ExpressionError, match="more than 20 steps"):
        derived("sin(sin(sin(x1*x2*x3*x4)))")


def test_steps_have_whole_formulas_only() -> None:
    with pytest.raises(ExpressionError, match="exclude each other"):
        diff("x**2", steps=True, language="python")
    for given in ({"share": True}, {"to": "python"}):
        with pytest.raises(ExpressionError, match="exclude each other"):
            autodiff_cli.diff("x**2", steps=True, **given)  # type: ignore[arg-type]


def test_what_is_taken_at_kinks_is_told_apart() -> None:
    for text, rule in (
        ("relu(2x)", SUBSTITUTE),
        ("abs(x)*x", SIMPLIFY),
        ("x**2 if x < 1 else 3*x", SUBSTITUTE),
    ):
        (each,) = derived(text).derivations
        assert each.steps[-1].rule == rule, text
    for everywhere, last in ((False, "function"), (True, CONVENTIONS)):
        (each,) = derived("max(x, y)", wrt=["x"], everywhere=everywhere).derivations
        assert each.steps[-1].rule == last
