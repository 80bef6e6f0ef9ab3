"""Large programs: right answers, no recursion limit, and limits that are said."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from autodiff_cli import ExpressionError, gradient, parse
from autodiff_cli.language.printer import expression_text
from counting import lines

DEEP = 100_000


@pytest.fixture(autouse=True)
def _without_the_collector() -> Iterator[None]:
    """As the command runs: a graph has no cycles, and tracing its nodes again and again is most of
    the time.
    """
    gc.disable()
    yield
    gc.enable()


def test_a_sum_of_a_million_terms() -> None:
    result = gradient("+".join(["x"] * 1_000_000), {"x": 0.5})
    assert (result.value, result.gradient) == (500_000.0, {"x": 1_000_000.0})


@pytest.mark.parametrize(
    ("program", "value", "partial"),
    [
        ("*".join(["x"] * DEEP), 1.0, float(DEEP)),
        ("(" * DEEP + "x" + ")" * DEEP, 1.0, 1.0),
        ("-" * DEEP + "x", 1.0, 1.0),
        ("sin(" * DEEP + "0*x" + ")" * DEEP, 0.0, 0.0),
        ("x**" * DEEP + "1", 1.0, 1.0),
        ("y = x\n" + "y += x\n" * DEEP, DEEP + 1.0, DEEP + 1.0),
        ("f(u) = u + 1; " + "f(" * DEEP + "x" + ")" * DEEP, DEEP + 1.0, 1.0),
        ("x if x > 2 else " * DEEP + "x", 1.0, 1.0),
        ("x > 0 and " * DEEP + "x > 0", None, None),
        ("sum(" + ",".join(["x"] * DEEP) + ")", float(DEEP), float(DEEP)),
        ("|" * DEEP + "x" + "|" * DEEP, 1.0, 1.0),
    ],
    ids=[
        "factors", "parentheses", "negations", "calls", "powers", "updates", "definition", "conditionals",
        "conjunction", "arguments", "bars",
    ],
)  # fmt: skip
def test_depth_and_length(program: str, value: float | None, partial: float | None) -> None:
    assert sys.getrecursionlimit() < DEEP / 10
    if value is None:
        program, value, partial = f"1 if {program} else 2", 1.0, 0.0
    result = gradient(program, {"x": 1.0})
    assert (result.value, result.gradient["x"]) == (value, partial)


def test_many_variables_take_time_in_proportion() -> None:
    def work(count: int) -> int:
        names = [f"x{k}" for k in range(count)]
        return lines(lambda: gradient(" + ".join(names), dict.fromkeys(names, 1.0)))

    work(10)
    assert work(400) < 5 * work(100)


def test_printing_does_not_recurse() -> None:
    text = expression_text(parse("-" * DEEP + "x").outputs[0])
    assert len(text) >= DEEP


@pytest.mark.parametrize(
    "program",
    [
        "(" * DEEP,
        ")" * DEEP,
        "x " * DEEP,
        "1,000 " * DEEP,
        "+" * DEEP,
        "x = " * DEEP,
        "2x²" * DEEP,
        "'" * DEEP,
    ],
)
def test_broken_programs_of_any_size_are_refused(program: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(program)
    assert caught.value.kind == "syntax"


def test_expansion_has_a_limit() -> None:
    doubling = ["f0(x) = x + x", *(f"f{k + 1}(x) = f{k}(f{k}(x))" for k in range(30)), "f30(x)"]
    with pytest.raises(ExpressionError, match="more than 2,000,000 nodes") as caught:
        parse("\n".join(doubling))
    assert caught.value.kind == "limit"


def test_huge_powers_do_not_hang() -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient("9**9**9**9")
    assert caught.value.kind == "overflow"
    with pytest.raises(ExpressionError) as caught:
        gradient("1e3000000*x", {"x": 1})
    assert caught.value.kind in ("limit", "overflow")
