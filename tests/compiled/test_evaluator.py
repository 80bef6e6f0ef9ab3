"""The generated evaluator against the sweeps: the same numbers and the same errors, on any
graph.
"""

from __future__ import annotations

import ast
import math
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_cli import ExpressionError, Value
from autodiff_cli.capabilities.derivatives.gradient import gradient_of
from autodiff_cli.compiled.evaluator import Evaluator
from autodiff_cli.compiled.target import Internal
from autodiff_cli.engine.graphs.adjoint import record_gradient
from autodiff_cli.engine.graphs.value import graph_of
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.errors import Diagnostic
from autodiff_cli.questions.problem import parse
from counting import compared, compares
from strategies import NAMES, graphs, program_text

POINTS = st.lists(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 0.75, 2.0, -3.25, 1e-8, 1e200, 40.0]),
    min_size=6,
    max_size=6,
)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-13, abs_tol=1e-300)


def outcome(text: str, point: dict[str, float], wrt: list[str] | None) -> object:
    """What the sweeps say; `gradient` tells of holes besides, which takes long."""
    try:
        answer = gradient_of(parse(text), point, wrt)
    except ExpressionError as error:
        return error.diagnostic
    return answer.value, list(answer.gradient.values())


def fast(evaluator: Evaluator, point: list[float]) -> object:
    """What the generated code says, without the slow way behind it."""
    try:
        return evaluator._gradient(point)  # type: ignore[misc]
    except (ValueError, ArithmeticError):
        return None


@compares(100)
@given(graphs(), POINTS, st.booleans())
@settings(max_examples=250, deadline=None)
def test_results_and_errors_are_those_of_the_sweeps(
    graph: Value, numbers: list[float], first_only: bool
) -> None:
    text = program_text((graph,))
    program = parse(text)
    names = list(program.variables)
    point = dict(zip(names, numbers, strict=False))
    wrt = names[:1] if first_only else None
    want = outcome(text, point, wrt)
    evaluator = Evaluator(program, wrt)
    try:
        got: object = evaluator([point[name] for name in names])
    except ExpressionError as error:
        assert error.diagnostic == want
        return
    assert isinstance(got, tuple)
    assert isinstance(want, tuple), (text, point, got, want)
    assert evaluator.value([point[name] for name in names]) == got[0]
    assert got[0] == want[0]
    wanted = list(program.parameters) if wrt is None else wrt
    if not value_and_gradient(REAL, program.outputs[0], point, wanted).active.one_sided_partials:
        assert all(map(close, got[1], want[1])), (text, point, got, want)
        compared()


def test_what_is_said_of_a_point_is_the_same_for_the_first_one_and_for_others() -> None:
    for text, point in (
        ("x**y", [-8.0, 1 / 3]),
        ("x**y", [0.0, -1.0]),
        ("y**x/7", [-2.0, 0.25]),
        ("log(x)*y", [-1.0, 2]),
    ):
        evaluate = Evaluator(parse(text))
        said = []
        for _ in range(3):
            with pytest.raises(ExpressionError) as caught:
                evaluate(point)
            said.append(caught.value.diagnostic)
        names = list(parse(text).variables)
        assert said == 3 * [outcome(text, dict(zip(names, point, strict=True)), None)], text


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("atan(x*1e300*1e300)", {"x": 1.0}),  # an infinity that atan would hide
        ("1/(x*1e300*1e300)", {"x": 1.0}),
        ("1 if x*1e300*1e300 > 0 else 0", {"x": 1.0}),
        ("sqrt(x)**2", {"x": 0.0}),  # 0·∞
        ("cbrt(x)**3", {"x": 0.0}),
        ("log(x)", {"x": 0.0}),
        ("y*log(x)", {"y": 0.0, "x": -1.0}),
        ("x**y", {"x": -2.0, "y": 2.0}),
        ("0*sqrt(x) + (1e200*x)**2", {"x": 1.0}),
        ("relu(sqrt(x))", {"x": 0.0}),
        ("x**where(x < 0, 0, 0)", {"x": 0.0}),
        ("x**(2 if x < -1 else 3)", {"x": -1.0}),
        ("max(sqrt(x), x)", {"x": 0.0}),
        ("(1e300*(1e300*(x**0)))*1e-300*1e-300*y", {"x": 2.0, "y": 1.0}),
    ],
)
def test_errors_are_not_missed(text: str, point: dict[str, float]) -> None:
    want = outcome(text, point, None)
    assert isinstance(want, Diagnostic)
    with pytest.raises(ExpressionError) as caught:
        Evaluator(parse(text))(list(point.values()))
    assert caught.value.diagnostic == want


FILLED_IN = (
    "log(x/y)*z", "sqrt(x - y) + exp(z*40)", "1/x + 1/(y - 1)", "log(x, y)", "x**y",
    "asin(x) + acosh(y) - atanh(z)", "exp(x*y*1e3)", "tan(x)*gamma(y)", "x*y*1e300*1e300",
    "log(x + 0*y - 100) + polygamma(2, x)", "erfinv(x) + y",
)  # fmt: skip


def test_what_is_said_of_many_points_at_once_is_what_is_said_of_each() -> None:
    """An operation that has no value at many points: kind, words, numbers, place and hint are those
    of `gradient`.
    """
    rng = random.Random(1)
    refused = 0
    for text in FILLED_IN:
        evaluator = Evaluator(parse(text))

        def draw() -> float:
            return rng.choice(
                [0.0, -0.0, 1.0, rng.uniform(-3, 3), -rng.random() * 1e-9, rng.gauss(0, 1e200)]
            )

        points = [{name: draw() for name in evaluator.variables} for _ in range(60)]
        together = evaluator.refusals(
            [[point[name] for point in points] for name in evaluator.variables]
        )
        for k, point in enumerate(points):
            want = outcome(text, point, None)
            if k in together:
                assert together[k].diagnostic == want, (text, point)
                refused += 1
            try:
                evaluator.interpret(list(point.values()))
            except ExpressionError as error:
                assert error.diagnostic == want, (text, point)
            else:
                assert not isinstance(want, Diagnostic), (text, point)
    assert refused > 200


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("log(x) if x > 0 else x", {"x": -1.0}),
        ("x if x < 0 else sqrt(x)*log(x)", {"x": -1.0}),
        ("(1/x if x > 0 else y) + (sqrt(x) if x > 0 and log(x) > -1 else y)", {"x": 0.0, "y": 2.0}),
        ("relu(sqrt(x) - 1)", {"x": 0.0}),
        ("max(sqrt(x), 1)", {"x": 0.0}),
        ("clamp(sqrt(x), 1, 2)", {"x": 0.0}),
        ("min(cbrt(x), -1)", {"x": 0.0}),
        ("0*cbrt(x)", {"x": 0.0}),
        ("where(x > 0, where(y > 0, log(x)*sqrt(y), sqrt(-y)), sqrt(-x))", {"x": -4.0, "y": 0.0}),
        ("t = sqrt(x); (t if y > 0 else 1) + (t if y > 1 else 2)", {"x": 0.0, "y": -1.0}),
        ("t = sqrt(x); sum(t if y>0 else 1, t if y > 1 else 2, t if y>2 else 0, t if y > 3 else 1, t*t if y>4 else y)",
         {"x": 4.0, "y": 2.5}),
        ("heaviside(x)*y", {"x": 1.0, "y": 2.0}),
    ],
)  # fmt: skip
def test_what_takes_no_part_is_not_computed(text: str, point: dict[str, float]) -> None:
    want = outcome(text, point, None)
    evaluator = Evaluator(parse(text))
    numbers = list(point.values())
    assert evaluator(numbers) == want
    assert fast(evaluator, numbers) == want, "the generated code has to know it by itself"


def written_names(graph: Value) -> set[str]:
    """The names in the generated source, which holds nothing but names, floats, operators and calls
    of names.
    """
    flat = graph_of(graph)
    leaves = [i for i, primitive in enumerate(flat.primitives) if primitive is VARIABLE]
    target = Internal()
    module = ast.parse(target.source(record_gradient(flat, leaves, leaves), len(leaves)))
    (definition,) = module.body
    assert isinstance(definition, ast.FunctionDef)
    names: set[str] = set()
    for found in ast.walk(definition):
        assert not isinstance(found, ast.Attribute | ast.Import | ast.ImportFrom), ast.unparse(
            found
        )
        if isinstance(found, ast.Constant):
            assert type(found.value) in (int, float, bool, type(None)), ast.unparse(found)
        elif isinstance(found, ast.Name):
            names.add(found.id)
    own = {name for name in names if re.fullmatch(r"[xt]\d+|[xs_]", name)}
    assert names - own <= set(target.bound), names
    assert all(hasattr(REAL, name) for name in target.bound)
    return names


@given(graphs())
@settings(max_examples=50, deadline=None)
def test_nothing_typed_is_in_the_code(graph: Value) -> None:
    assert not written_names(graph) & set(NAMES) - {"x"}


def test_the_names_of_a_program_are_not_in_the_code() -> None:
    program = parse("exec = __import__ * λ; exec**2 + lambda + s + t1 + f")
    names = written_names(program.outputs[0])
    assert {f"x{k}" for k in range(6)} < names
    assert all(re.fullmatch(r"[xt]\d+|[xs]", name) for name in names)
    evaluator = Evaluator(program)
    assert evaluator([2.0, 3.0, 1.0, 0.0, 0.0, 0.0])[0] == 37.0


def test_variables_by_the_way() -> None:
    assert Evaluator(parse("3"))([]) == (3.0, [])
    assert Evaluator(parse("x*y"), ["y"])([2.0, 5.0]) == (10.0, [2.0])
    assert Evaluator(parse("x*y"), ["z", "x"])([2.0, 5.0]) == (10.0, [0.0, 5.0])
    assert Evaluator(parse("a = 2; f(x) = a*x"))([4.0]) == (8.0, [2.0])


def test_sizes() -> None:
    size = 10_000
    chain = "a = x\n" + "a = sin(a) + x\n" * size + "a"
    wide = "+".join(f"x*{k % 7}" for k in range(size))
    nested = "".join(f"{k}*y if x < {k} else " for k in range(300)) + "y"
    many = "+".join(f"v{k}**2" for k in range(2000))
    for text, numbers in (
        (chain, [0.5]),
        (wide, [0.5]),
        (nested, [3.0, 250.5]),
        (many, [0.5] * 2000),
    ):
        program = parse(text)
        want = outcome(text, dict(zip(program.variables, numbers, strict=True)), None)
        assert Evaluator(program)(numbers) == want


def test_a_gradient_of_zero_at_a_kink_is_looked_at_again() -> None:
    evaluator = Evaluator(parse("relu(x) - relu(-x) + y**2"))
    assert evaluator([0.0, 0.0]) == (0.0, [1.0, 0.0])
    assert Evaluator(parse("abs(x)"))([0.0]) == (0.0, [0.0])


def test_a_product_of_many_costs_its_factors() -> None:
    # 2.6 microseconds a factor with its derivatives, by `time.process_time` over 50 products of
    # 1,000
    long, short = (Evaluator(parse(f"prod(x, i, 1, {n})")).steps for n in (1000, 10))
    assert 2000 < long - short < 3000
