"""Tests that every way to the gradient in doubles gives the same to the last bit, and that each was
gone.

The ways: the sweep over a tape, and the fast lane from a program and from Values.
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
from autodiff_cli.capabilities.derivatives import gradient as gradients
from autodiff_cli.compiled import evaluator
from autodiff_cli.engine.graphs import value
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.run import evaluation
from autodiff_cli.engine.run.doubles import Doubles, adjoints
from autodiff_cli.engine.run.sweep import NodeError
from autodiff_cli.engine.table.operators import ADD, DIV, MUL, POW, SUB
from autodiff_cli.engine.table.primitive import Primitive
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import as_number, parse
from random_texts import drawn
from strategies import evaluate

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
        if swept.kinks or swept.active.one_sided_partials:
            continue
        expected = shown(swept.value, swept.gradient)
        for name, leaf in program.variables.items():
            leaf.data = point[name]
        evaluate(program.outputs)
        if by_values(program.outputs[0]):
            used["Values"] += 1
            found = {name: leaf.grad for name, leaf in program.variables.items()}
            assert (
                shown(program.outputs[0].data, {n: x or 0.0 for n, x in found.items()}) == expected
            ), formula
        answer = by_lists(formula.text, point)
        if answer is not None:
            used["lists"] += 1
            assert answer == expected, formula
    assert used["Values"] > 500 and used["lists"] > 700, used


def by_values(output: Value) -> bool:
    place = value.in_order((output,))
    try:
        grads = value._quick_grads(place)
    except evaluation.LEFT:
        return False
    for node, grad in zip(place, grads or (), strict=False):
        node.grad = grad
    return grads is not None


def by_lists(text: str, point: Mapping[str, float]) -> Answer | None:
    program = parse(text)
    places = program.places
    try:
        found = Doubles(program.graph).gradient(places, point)
    except (ValueError, ArithmeticError, NodeError):
        return None
    gradient = dict.fromkeys(program.leaves, 0.0)
    return found and shown(
        found[0][program.graph.roots[0]], gradient | {n: found[1][i] for n, i in places.items()}
    )


def test_each_backend_is_chosen_in_the_one_place_and_leaves_the_rest_to_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[str] = []

    def told(backend: Callable[..., Any], sweep: Callable[..., Any], *asked: object) -> Any:
        found: list[Any] = []
        answer = evaluation.with_fallback(
            lambda *each: found.append(backend(*each)) or found[0], sweep, *asked
        )
        taken.append("backend" if found and found[0] is not None else "sweep")
        return answer

    for module in (value, gradients, evaluator):
        monkeypatch.setattr(module, "with_fallback", told)
    x, stream = Value(2.0), gradients.Programs(complete=False)
    (x * x).backward()
    stream.gradient("x*x", {"x": 2.0})
    assert taken == ["backend"] * 2
    (x * x - 4).relu().backward()
    stream.gradient("abs(x)", {"x": 0.0})
    assert taken == ["backend"] * 2 + ["sweep"] * 2
    taken.clear()
    compiled = evaluator.Evaluator(parse("abs(x)*y"))
    assert compiled([2.0, 3.0]) == (6.0, [3.0, 2.0]) and compiled([0.0, 0.0]) == (0.0, [0.0, 0.0])
    assert compiled.value([2.0, 3.0]) == 6.0
    assert taken == ["backend", "sweep", "backend"]


def test_the_fastest_backend_that_can_be_had_is_taken() -> None:
    pytest.importorskip("numpy")
    from autodiff_cli.compiled import kernels

    def none() -> int:
        raise kernels.Unavailable("there is no such machine")

    ways = {"quick": none, "slow": lambda: 2, "slowest": lambda: 3}
    assert kernels.first_backend(ways, None) == (2, "slow", "there is no such machine")
    assert kernels.first_backend(ways, "slowest") == (3, "slowest", "")
    with pytest.raises(
        ExpressionError, match="the backend `quick` is not available: there is no such machine"
    ):
        kernels.first_backend(ways, "quick")


BACKENDS = re.compile(r"from \.\S*(?:run\.doubles|llvm) import|import Internal$", re.MULTILINE)


def test_no_module_tries_one_backend_after_another_by_itself() -> None:
    told = {"kernels": "first_backend(", "evaluator": "with_fallback(", "gradient": "with_fallback(",
            "value": "with_fallback("}  # fmt: skip
    seen = set()
    for path in sorted(Path(evaluation.__file__).parents[2].rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.stem not in ("target", "lowering", "llvm") and re.search(BACKENDS, text):
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


@pytest.mark.parametrize("row", [ADD, SUB, MUL, DIV, POW], ids=lambda row: row.name)
def test_what_the_fast_lane_writes_out_is_what_the_rows_say(row: Primitive) -> None:
    rng = random.Random(row.name)
    for _ in range(300):
        x, y = (
            rng.uniform(-9, 9),
            rng.choice([-3.0, -1.0, 0.5, 2.0, 3.0, 1e15, rng.uniform(0.1, 9)]),
        )
        if row is POW and (y not in (-3.0, -1.0, 2.0, 3.0) or abs(x) < 1e-3):
            x = abs(x) + 0.5
            y = min(y, 9.0)
        out = getattr(REAL, row.name)(x, y)
        found = adjoints([(row, 2, 0, 1)], [x, y, out], {1} if row is POW else ())
        assert found is not None
        slopes = row.slopes(REAL, [x, y], out, [True, row is not POW])
        assert found[:2] == [0.0 if slope is None else slope for slope in slopes], (x, y)
