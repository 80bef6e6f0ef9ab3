"""Tests that every way to the gradient in doubles gives the same to the last bit, and that each was gone.

The ways: the sweep over a tape, backpropagation over Values in place, and flat lists.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import Value, gradient
from autodiff_cli.batched import evaluator
from autodiff_cli.derivatives import gradient_cache as programs
from autodiff_cli.errors import ExpressionError
from autodiff_cli.graphs import value
from autodiff_cli.graphs.value import evaluate
from autodiff_cli.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.inputs.problem import as_number, parse
from autodiff_cli.numbers.floats import REAL
from autodiff_cli.run import backends, forms
from autodiff_cli.run.backpropagation import backpropagate
from autodiff_cli.run.doubles import Doubles
from autodiff_cli.run.sweep import Fault
from autodiff_cli.table.operators import ADD, DIV, MUL, NEG, POW, SUB
from autodiff_cli.table.primitive import PRIMITIVES, Primitive
from random_texts import drawn

Answer = tuple[str, dict[str, str]]


def shown(value: float, gradient: Mapping[str, float]) -> Answer:
    """Every bit, but the sign of a zero."""
    return (value + 0.0).hex(), {name: (x + 0.0).hex() for name, x in gradient.items()}


def test_all_ways_give_the_same_bits() -> None:
    rng = random.Random(20)
    used: Counter[str] = Counter()
    for _ in range(1500):
        formula = drawn(rng)
        point = {name: as_number(x, name) for name, x in formula.point.items()}
        try:
            program = parse(formula.text)
            swept = value_and_gradient(REAL, program.outputs[0], point, list(program.variables))
        except ExpressionError:
            continue
        if swept.kinks or swept.at.active.one_sided_partials:
            continue
        expected = shown(swept.value, swept.gradient)
        for name, leaf in program.variables.items():
            leaf.data = point[name]
        evaluate(program.outputs)
        if backpropagate(program.outputs[0], 1.0):
            used["in place"] += 1
            found = {name: leaf.grad for name, leaf in program.variables.items()}
            assert shown(program.outputs[0].data, {n: x or 0.0 for n, x in found.items()}) == expected, formula
        answer = by_lists(formula.text, point)
        if answer is not None:
            used["lists"] += 1
            assert answer == expected, formula
    assert used["in place"] > 500 and used["lists"] > 700, used


def by_lists(text: str, point: Mapping[str, float]) -> Answer | None:
    program = parse(text)
    try:
        run = Doubles(program.rows, program.roots[0], is_plain=program.is_plain)
        found = run.gradient(program.leaves, point)
    except (ValueError, ArithmeticError, Fault):
        return None
    return found and shown(found[0][program.roots[0]], {name: found[1][i] for name, i in program.leaves.items()})


def test_each_backend_is_chosen_in_the_one_place_and_leaves_the_rest_to_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[str] = []

    def told(backend: Callable[..., Any], sweep: Callable[..., Any], *asked: object) -> Any:
        found: list[Any] = []
        answer = backends.with_fallback(lambda *each: found.append(backend(*each)) or found[0], sweep, *asked)
        taken.append("backend" if found and found[0] is not None else "sweep")
        return answer

    for module in (value, programs, evaluator):
        monkeypatch.setattr(module, "first", told)
    x, stream = Value(2.0), programs.Programs(whole=False)
    (x * x).backward()
    stream.gradient("x*x", {"x": 2.0})
    assert taken == ["backend"] * 2
    (x * x - 4).relu().backward()
    stream.gradient("abs(x)", {"x": 0.0})
    # a graph that is asked for takes the backend of graphs, which leaves the kink to the sweep
    assert taken == ["backend"] * 2 + ["sweep"] * 3
    taken.clear()
    compiled = evaluator.compile_gradient(parse("abs(x)*y"))
    assert compiled([2.0, 3.0]) == (6.0, [3.0, 2.0]) and compiled([0.0, 0.0]) == (0.0, [0.0, 0.0])
    assert compiled.value([2.0, 3.0]) == 6.0
    assert taken == ["backend", "sweep", "backend"]


def test_the_fastest_backend_that_can_be_had_is_taken() -> None:
    def none() -> int:
        raise backends.Unavailable("there is no such machine")

    ways = {"quick": none, "slow": lambda: 2, "slowest": lambda: 3}
    assert backends.fastest(ways, None) == (2, ("slow", "there is no such machine"))
    assert backends.fastest(ways, "slowest") == (3, ("slowest", ""))
    with pytest.raises(ExpressionError, match="`--backend quick` cannot be had: there is no such machine"):
        backends.fastest(ways, "quick")


BACKENDS = re.compile(r"from \.\S*(?:run\.doubles|backpropagation|internal|llvm|ufuncs) import")


def test_no_module_tries_one_backend_after_another_by_itself() -> None:
    told = {"blocks": "fastest(", "evaluator": "first(", "programs": "first(", "value": "first("}
    seen = set()
    for path in sorted(Path(backends.__file__).parents[1].rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != "targets" and re.search(BACKENDS, text):
            seen.add(path.stem)
            assert told.get(path.stem, "none of the ways") in text, path
    assert seen == set(told)


@pytest.mark.parametrize("text", ["x*1e200*1e200", "sqrt(x)*1e300", "x*1e200*1e200 + max(x, -1)"])
def test_a_derivative_that_is_too_large_is_refused_and_not_left_out(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"the derivative through .* is too large"):
        gradient(text, {"x": 1e-300})


def test_what_does_not_move_may_have_a_derivative_of_any_size_above_it() -> None:
    found = gradient("min(x, 0)*1e200*1e200*1e200", {"x": 1.0})
    assert (found.value, found.gradient) == (0.0, {"x": 0.0})


def test_what_sweeps_write_out_is_what_the_rows_say() -> None:
    said = {
        ADD: forms.SUM, SUB: forms.DIFFERENCE, MUL: forms.PRODUCT, DIV: forms.QUOTIENT, NEG: forms.NEGATION,
        POW: forms.POWER,
    }  # fmt: skip
    assert said == forms.FORMS
    assert all(forms.form(p) is None for p in PRIMITIVES.values() if p not in said)


@pytest.mark.parametrize("row", [ADD, SUB, MUL, DIV, NEG, POW], ids=lambda row: row.name)
def test_a_rule_that_says_anything_else_is_not_written_out(row: Primitive) -> None:
    assert forms.form(row) is not None
    for k, rule in enumerate(row.partials[: 1 if row is POW else 2]):
        rules = list(row.partials)
        rules[k] = lambda m, *inputs, rule=rule: rule(m, *inputs) * 1.001
        assert forms.form(row._replace(partials=tuple(rules))) is None
    assert forms.form(PRIMITIVES["atan2"]) is None
