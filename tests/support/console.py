"""Fenced blocks of a Markdown document: finds them, runs the console ones, compares or refreshes
what they show.

A console block holds a terminal session. A line that starts with `$ ` is a command; it goes on over
the next lines while bash still waits for more (a trailing backslash, an open quote, an open
here-document), with or without the prompt `> `. What follows, up to the next command, is all that
the command prints, errors included. The commands of one document run in one shell, one after the
other, in an empty folder, so files and variables last to the end of the document; an exit code is
shown as a person would, by `$ echo $?`.

    python tests/support/console.py README.md            compares
    python tests/support/console.py --update README.md   rewrites the output that is shown
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from library_digits import same

SECONDS = 120
"""How long all the commands of one document may take together."""

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w-]*)\s*$")
_UNFINISHED = re.compile(r"unexpected EOF|unexpected end of file|delimited by end-of-file")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its lines, and the number of its first line."""

    language: str
    lines: tuple[str, ...]
    first: int

    @property
    def text(self) -> str:
        """The block's text, ending in a new line."""
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a console block, and the output that the document shows for it."""

    command: str
    shown: str
    line: int
    """The number of the command's first line in the document."""
    output: int
    """The number of the first line after the command."""


def blocks(text: str, language: str) -> list[Block]:
    """The fenced blocks of one language, in order."""
    found: list[Block] = []
    closing = None
    for number, line in enumerate(text.split("\n"), 1):
        if closing is None:
            if opening := _FENCE.match(line):
                closing, name, first, held = opening["fence"], opening["language"], number + 1, []
        elif line.rstrip() == closing:
            closing = None
            if name == language:
                found.append(Block(name, tuple(held), first))
        else:
            held.append(line)
    if closing is not None:
        raise ValueError(f"the block that opens on line {first - 1} is never closed")
    return found


def unfinished(command: str) -> bool:
    """Whether bash would ask for another line."""
    if command.endswith("\\"):
        return True
    checked = subprocess.run(
        ["bash", "-n"],
        input=command + "\n",
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    return bool(_UNFINISHED.search(checked.stderr))


def steps(block: Block) -> list[Step]:
    """The commands of a console block, each with the output shown for it."""
    found: list[Step] = []
    lines = list(block.lines)
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ValueError(
                f"line {block.first + at}: a console block starts with a command, `$ …`"
            )
        line = block.first + at
        command = lines[at][2:]
        at += 1
        while at < len(lines) and unfinished(command):
            command += "\n" + lines[at].removeprefix("> ")
            at += 1
        output = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        shown = "".join(f"{row}\n" for row in lines[output:at])
        found.append(Step(command, shown, line, block.first + output))
    return found


HERE = Path(sys.executable).parent
"""The folder of the commands of this environment."""


def variables(home: Path, folders: Sequence[Path] = (HERE,)) -> dict[str, str]:
    """The environment variables of a shell whose commands are those of these folders and of the
    system.
    """
    return {
        "PATH": ":".join([*map(str, folders), "/usr/local/bin:/usr/bin:/bin"]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def run(
    commands: list[str], seconds: float = SECONDS, folders: Sequence[Path] = (HERE,)
) -> list[str]:
    """What each command prints, when they run one after the other in one shell in an empty folder.

    A command that was not reached, since an earlier one ended the shell or the time was up, raises
    `RuntimeError`.
    """
    with tempfile.TemporaryDirectory() as top:
        home, outputs = Path(top, "work"), Path(top, "out")
        home.mkdir()
        outputs.mkdir()
        script = ["exit_code_is() { return $1; }", "last_exit=0"]
        for number, command in enumerate(commands):
            # Nothing may read the script itself, so standard input is empty unless the command says
            # otherwise.
            place = shlex.quote(str(outputs / str(number)))
            script += [
                "exit_code_is $last_exit",
                f"{{ eval {shlex.quote(command)}\n}} </dev/null >{place} 2>&1",
                "last_exit=$?",
            ]
        try:
            subprocess.run(
                ["bash", "--noprofile", "--norc", "-s"],
                input="\n".join(script) + "\n",
                cwd=home,
                env=variables(home, folders),
                capture_output=True,
                text=True,
                timeout=seconds,
            )
            reached = "the shell ended"
        except subprocess.TimeoutExpired:
            reached = f"{seconds:g} seconds were up"
        done = [outputs / str(number) for number in range(len(commands))]
        missing = [
            command for command, path in zip(commands, done, strict=True) if not path.exists()
        ]
        if missing or "up" in reached:
            raise RuntimeError(
                f"{reached} before this ran: {missing[0] if missing else commands[-1]}"
            )
        return [path.read_text(encoding="utf-8", errors="backslashreplace") for path in done]


def differences(document: Path, folders: Sequence[Path] = (HERE,)) -> Iterator[tuple[Step, str]]:
    """Each command of a document's console blocks whose output is not what is shown, and what it
    printed.

    The commands are those of these folders and of the system.
    """
    found = [
        step
        for block in blocks(document.read_text(encoding="utf-8"), "console")
        for step in steps(block)
    ]
    for step, printed in zip(
        found, run([step.command for step in found], folders=folders), strict=True
    ):
        if not same(step.command, step.shown, printed):
            yield step, printed


def explain(document: Path, step: Step, printed: str) -> str:
    """The difference between what a document shows for a command and what the command printed, to
    be read.
    """
    rows = difflib.unified_diff(
        step.shown.splitlines(),
        printed.splitlines(),
        "shown",
        "printed",
        lineterm="",
        n=len(step.shown),
    )
    return "\n".join([f"{document.name}, line {step.line}: $ {step.command}", *rows])


def update(document: Path) -> int:
    """How many commands' outputs were rewritten in a document, each to what the command now
    prints.
    """
    changed = list(differences(document))
    lines = document.read_text(encoding="utf-8").split("\n")
    for step, printed in reversed(changed):
        start = step.output - 1
        lines[start : start + step.shown.count("\n")] = printed.splitlines()
    document.write_text("\n".join(lines), encoding="utf-8")
    return len(changed)


def main(arguments: list[str]) -> int:
    """The exit code of the command line: 1 where a document shows something else than its commands
    print.
    """
    found = 0
    for name in [argument for argument in arguments if argument != "--update"]:
        document = Path(name)
        if "--update" in arguments:
            print(f"{name}: {update(document)} outputs rewritten")
        else:
            for step, printed in differences(document):
                found += 1
                print(explain(document, step, printed))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
