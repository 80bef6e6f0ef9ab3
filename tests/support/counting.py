"""Work counted instead of timed: calls and lines that Python runs, the same on every machine under
any load.
"""

from __future__ import annotations

import ast
import functools
import gc
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.engine.numbers.budget import Work


class Count:
    """How much was counted so far."""

    def __init__(self) -> None:
        self.total = 0


@contextmanager
def counted_calls(most: float = float("inf")) -> Iterator[Count]:
    """Count the calls that are made inside, of Python functions and of C ones; more than `most` are
    a failure.
    """
    count = Count()

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            count.total += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield count
    finally:
        sys.setprofile(before)
    assert count.total <= most, f"{count.total} calls, more than {most}"


def calls(action: Callable[[], object]) -> int:
    """How many calls an action makes."""
    with counted_calls() as count:
        action()
    return count.total


def own_calls(action: Callable[[], object]) -> tuple[int, int]:
    """How many calls of the package's own functions an action makes, and how many go from one
    module to another.
    """
    own = str(Path(autodiff_cli.__file__).parent)
    made = handed = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal made, handed
        if event != "call" or not frame.f_code.co_filename.startswith(own):
            return
        made += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(own):
            caller = caller.f_back
        handed += caller is None or caller.f_code.co_filename != frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return made, handed


def lines(action: Callable[[], object]) -> int:
    """How many statements of Python an action runs: also what loops without calling anything.

    A statement counts where it begins, so that it is one however many lines it is broken into.
    """
    total = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal total
        total += event == "line" and frame.f_lineno not in _further_lines(frame.f_code.co_filename)
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    # what is left of other tests is not finalized at this one's expense
    gc.disable()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return total


@functools.cache
def _further_lines(path: str) -> frozenset[int]:
    """The lines of a file on which a statement goes on; none of what is no file."""
    if not os.path.isfile(path):
        return frozenset()
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    begun = {node.lineno for node in statements}
    simple = [node for node in statements if not hasattr(node, "body")]
    further = {line for node in simple for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    heads = [(node.lineno, node.body[0].lineno) for node in statements if hasattr(node, "body")]
    further |= {line for first, last in heads for line in range(first, last)}
    return frozenset(further - begun)


def allowed(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """The bounded allowances of work that computations make from now on, as they are made."""
    made: list[Work] = []
    original = Work.__init__

    def noted(self: Work, times: float = 1) -> None:
        original(self, times)
        if times < math.inf:
            made.append(self)

    monkeypatch.setattr(Work, "__init__", noted)
    return made


_compared = Count()


def compared() -> None:
    """Note that a random test has come to its comparison: said after the last way out of it."""
    _compared.total += 1


def compares(least: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator of a test of random cases, which also fails where fewer than `least` of them were
    `compared`.
    """

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            before = _compared.total
            test(*args, **kwargs)
            count = _compared.total - before
            assert count >= least, (
                f"only {count} of the cases came to a comparison, fewer than {least}"
            )

        return run

    return decorated
