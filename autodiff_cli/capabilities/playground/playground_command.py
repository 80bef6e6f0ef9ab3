"""How `page --playground` runs."""

from __future__ import annotations

import shlex
import sys

from ...cli.runner import Command
from ...show.error import write_note
from .playground import PYODIDE, make, needs_folder


def run(call: Command, pyodide: str | None) -> int:
    """Write the files of a playground, with Pyodide from a place; say how they are opened."""
    folder = needs_folder(call.output)
    made = make(folder, pyodide, _first_lines(call), force=call.force)
    sys.stdout.write(f"{folder}/index.html\n")
    sys.stdout.flush()
    if made.lacks_pyodide:
        write_note(
            "note: put the files of a release of Pyodide (https://pyodide.org) into"
            f" {folder}/{PYODIDE}/; `--pyodide FOLDER` copies them, `--pyodide https://…` names"
            " their address"
        )
    write_note(
        f"note: to look at it: `{shlex.join(['python3', '-m', 'http.server', '-d', str(folder)])}`"
    )
    return 0


def _first_lines(call: Command) -> list[str]:
    """Return what the page answers first: the program at its point, as it was typed."""
    if call.many:
        return []
    point = [word for text in call.values.get("at") or () for word in ("--at", text)]
    command = "grad" if point else "diff"
    return [f"{command} {' '.join(map(_quoted, [str(call.expr), *point]))}"]


def _quoted(word: str) -> str:
    """Return a word as a session reads it, whose quotes need no escapes."""
    return word if word.startswith("--") else f'"{word}"' if "'" in word else f"'{word}'"
