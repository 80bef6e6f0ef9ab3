"""The first lines of a student and of an engineer, at a terminal: each is answered, or refused with
both readings.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from places import TESTS
from terminals import ESCAPE, on_terminal

CORPORA = TESTS / "corpora"


def first_lines(path: Path) -> list[tuple[str, str]]:
    """The lines of a file, each with what its answer shows."""
    rows = [
        row
        for row in path.read_text(encoding="utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    return [(typed, shown) for typed, _, shown in (row.partition(" => ") for row in rows)]


LINES = [
    pytest.param(*line, id=f"{path.stem}: {line[0]}")
    for path in sorted(CORPORA.glob("first_*.txt"))
    for line in first_lines(path)
]


@pytest.mark.posix
@pytest.mark.parametrize(("typed", "shown"), LINES)
def test_a_first_line_is_answered(typed: str, shown: str) -> None:
    result = on_terminal(*shlex.split(typed), width=100)
    printed = " ".join(ESCAPE.sub("", result.out).split())
    hint = shown.removeprefix("refused: ")
    assert hint in printed
    assert (result.code != 0) == (hint != shown) or hint.startswith("autodiff ")
