"""Streams of hostile lines: one record for each, whatever it holds, and nothing is left behind by
any of them.
"""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from autodiff_cli.capabilities.derivatives.gradient import Programs
from autodiff_cli.cli import runner
from autodiff_cli.engine.numbers import budget
from hostile import asks, line
from running import autodiff

STREAMS: list[tuple[tuple[str, ...], int]] = [
    (("grad",), 1000),
    (("grad", "--all"), 200),
    (("grad", "--exact"), 200),
    (("grad", "--precision", "20"), 50),
    (("jacobian",), 200),
    (("hessian",), 200),
    (("trace",), 200),
    (("check",), 30),
    (("diff",), 100),
    (("diff", "--steps"), 60),
    (("diff", "--everywhere"), 60),
    (("trace", "--mode", "forward", "--blanks"), 60),
    (("taylor", "--order", "3", "--wrt", "x"), 200),
    (("descend", "--steps", "2"), 200),
    (("grad", "--lenient"), 200),
    (("diff", "--lenient"), 100),
    (("solve", "--for", "x", "--between", "0:3"), 60),
    (("propagate",), 60),
    (("propagate", "--samples", "10000"), 60),
    (("minimize",), 30),
]
POINT = ("--at", "x=1.5,y=2", "--format", "jsonl")
UNSURE = ("--at", "x=1.5+-0.1,y=2+-0.1", "--format", "jsonl")


@pytest.fixture
def collector() -> Iterator[None]:
    """The collector is off, as it is in the command, and never looks at what the tests before this
    one have left.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.parametrize(
    ("command", "count"),
    STREAMS,
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_every_line_has_one_record(command: tuple[str, ...], count: int) -> None:
    rng = random.Random(" ".join(command))
    lines = [line(rng) for _ in range(count)]
    if command[0] == "minimize":
        pytest.importorskip("scipy")
    point = UNSURE if command[0] == "propagate" else POINT
    found = autodiff(*command, *point, stdin=b"\n".join(lines) + b"\n")
    records = [json.loads(each) for each in found.out.splitlines()]
    asked = [number for number, each in enumerate(lines, start=1) if asks(each)]
    if command[0] == "descend":
        # a row a step
        assert sorted({record["line"] for record in records}) == asked
    else:
        assert [record["line"] for record in records] == asked
    kinds = {record.get("error", {}).get("kind", "answer") for record in records}
    assert "internal" not in kinds
    assert "Traceback" not in found.err
    assert {"answer", "syntax"} <= kinds
    if count >= 200:
        assert len(kinds) >= 8


ERRORS = [
    "1/2x", "foo(x)", "f(x) = g(x); f(1)", "x < y", "log(x - 9)", "1e308*x*9", "sqrt(x - 1.5)*y",
    "x, y", "x\ty=1/0", '{"expr": 3}', '{"expr": "x", "at": {"x": "1/0"}}', '{"expr": "x" "at"',
    "z", "\x00", "+".join(["x"] * 400) + "+",
]  # fmt: skip


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("text", ERRORS, ids=lambda text: text[:20])
def test_an_error_of_a_stream_leaves_nothing_to_the_collector(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_GARBAGE_OBJECTS", float("inf"))
    left = []
    for count in (20, 20, 40):
        found = autodiff("grad", *POINT, stdin=f"{text}\n" * count)
        assert found.out.count('"error"') == count
        left.append(gc.collect())
    assert left[2] <= left[1]


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("command", list(dict.fromkeys(command[0] for command, _ in STREAMS)))
def test_what_is_in_cycles_is_collected_before_it_is_much(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_GARBAGE_OBJECTS", 2_000)
    if command == "minimize":
        pytest.importorskip("scipy")
    seen: list[int] = []
    answered = runner._answer_request

    def noted(*args: Any) -> int:
        seen.append(gc.get_count()[0])
        return answered(*args)

    monkeypatch.setattr(runner, "_answer_request", noted)
    lines = [*["abs(x)*y + y**2"] * 30, *ERRORS] * 2
    autodiff(
        command,
        *(UNSURE if command == "propagate" else POINT),
        stdin="".join(f"{each}\n" for each in lines),
    )
    assert len(seen) == len(lines)
    assert max(seen[3:]) <= 2_800


def test_no_memory_for_a_line_is_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Programs.gradient

    def tight(self: Programs, text: str, *args: Any) -> Any:
        if "y" in text:
            raise MemoryError
        return answered(self, text, *args)

    monkeypatch.setattr(Programs, "gradient", tight)
    found = autodiff("grad", "--at", "x=1,y=2", stdin="x\nx*y\nx**2\n")
    records = [json.loads(each) for each in found.out.splitlines()]
    assert [record.get("value") for record in records] == [1.0, None, 1.0]
    assert (records[1]["error"]["kind"], found.code) == ("limit", 4)


@pytest.mark.parametrize("command", ["descend", "minimize"])
def test_the_exit_code_of_a_stream_of_runs_is_the_highest(command: str) -> None:
    if command == "minimize":
        pytest.importorskip("scipy")
    run = (command, "--at", "x=1", "--steps", "1", "--gradient-tolerance", "1e-9")
    assert [
        autodiff(*run, stdin=text).code for text in ("x**4\n", "x**4\nlog(-x)\n", "x**4\nx +\n")
    ] == [1, 4, 3]
