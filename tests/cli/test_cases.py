"""The cases of `tests/cases`: commands with their standard input, standard output, standard error
and exit code.

A case file is text. A case begins with a line `$ autodiff …`, read as a shell would read it
(quotes, and a backslash at the end to go on), and ends where the next begins:

    % A comment, before a case and after an empty line.
    $ autodiff grad - --format plain
    < x**2<TAB>x=3            a line of standard input; `\\t` and `\\\\` stand for a tab and a backslash
    9.0 x=6.0                 a line of standard output
    ! error: …                a line of standard error
    [3]                       the exit code, where it is not 0

Commands run in `tests/cases/files`. Adding a case is adding its first line and then

    PYTHONPATH=tests/support python tests/cli/test_cases.py    rewrites what the files expect
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from autodiff_cli.extras import EXTRAS, installed_extras
from library_digits import same
from places import TESTS
from running import Result, autodiff

FOLDER = TESTS / "cases"
PROMPT = "$ autodiff"


class Case(NamedTuple):
    """A command, what goes in, what is expected, and where it stands in its file."""

    command: str
    stdin: tuple[str, ...]
    expected: tuple[str, ...]
    line: int

    def run(self) -> Result:
        """What the command does."""
        _, *args = shlex.split(self.command)
        text = "".join(
            line.replace("\\\\", "\0").replace("\\t", "\t").replace("\0", "\\") + "\n"
            for line in self.stdin
        )
        return autodiff(*args, stdin=text, folder=FOLDER / "files")


def shown(result: Result) -> list[str]:
    """A result as a case file has it."""
    rows = result.out.splitlines() + [f"! {line}".rstrip() for line in result.err.splitlines()]
    return rows + ([f"[{result.code}]"] if result.code else [])


def cases(path: Path) -> list[Case]:
    """The cases of a file."""
    found: list[Case] = []
    rows = path.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(rows):
        if not rows[at].startswith(PROMPT):
            if rows[at].strip() and not rows[at].startswith("%"):
                raise ValueError(f"{path.name}, line {at + 1}: neither a command nor a comment")
            at += 1
            continue
        first = at
        command = rows[at][2:]
        at += 1
        while command.endswith("\\"):
            command = command[:-1] + rows[at]
            at += 1
        body = rows[at : ending(rows, at)]
        at += len(body)
        while body and not body[-1].strip():
            body.pop()
        stdin = tuple(row[2:] for row in body if re.match(r"<( |$)", row))
        found.append(
            Case(
                command,
                stdin,
                tuple(row for row in body if not re.match(r"<( |$)", row)),
                first + 1,
            )
        )
    return found


def comparable(lines: Iterable[str]) -> list[str]:
    """Lines with one kind of quotes: commands in hints have those of the system's shells."""
    return [line.replace('"', "'") if sys.platform == "win32" else line for line in lines]


def ending(rows: list[str], at: int) -> int:
    """Where the case ends that these lines of a file belong to: a comment comes after an empty
    line.
    """
    while at < len(rows) and not rows[at].startswith(PROMPT):
        if rows[at].startswith("%") and not rows[at - 1].strip():
            break
        at += 1
    return at


FILES = sorted(FOLDER.glob("*.txt"))
CASES = [
    pytest.param(case, id=f"{path.stem}:{case.line}") for path in FILES for case in cases(path)
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: Case) -> None:
    printed, expected = comparable(shown(case.run())), comparable(case.expected)
    if not same(case.command, "\n".join(expected), "\n".join(printed)):
        if any("`pip install '.[" in line for line in printed) and len(installed_extras()) < len(
            EXTRAS
        ):
            pytest.skip("it needs an extra that this environment lacks")
        integral = case.command.startswith(
            "autodiff integrate "
        ) or "antiderivative = " in "\n".join(case.expected)
        if integral and find_spec("sympy") is None:
            pytest.skip("without SymPy an integral is a number, not exact")
        assert printed == expected


def test_there_are_cases_for_every_exit_code() -> None:
    codes = {int(row[1:-1]) for path in FILES for case in cases(path) for row in case.expected if row[:1] == "["
             and row[1:-1].isdigit()}  # fmt: skip
    assert codes >= {2, 3, 4, 5}


def rewrite(path: Path) -> None:
    """Write what the commands of a file do into it."""
    rows = path.read_text(encoding="utf-8").splitlines()
    for case in reversed(cases(path)):
        start = case.line - 1
        while rows[start].endswith("\\"):
            start += 1
        start += 1
        while start < len(rows) and re.match(r"<( |$)", rows[start]):
            start += 1
        rows[start : ending(rows, start)] = [*shown(case.run()), ""]
    path.write_text("\n".join(rows).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or FILES:
        rewrite(each)
