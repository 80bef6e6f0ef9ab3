"""How `page` runs."""

from __future__ import annotations

import os
import sys
from itertools import chain, count

from ...capability import resolve
from ...cli.commands import answer_question
from ...cli.runner import Command


def run(call: Command) -> int:
    """Make a page to watch and do backpropagation in a browser, or a playground."""
    if call.values.get("playground"):
        code: int = resolve("playground.playground_command.run")(call, call.values.get("pyodide"))
        return code
    on_terminal = call.output is None and call.choose_format() == "html" and sys.stdout.isatty()
    if on_terminal:
        # a page goes to a file, not to a terminal
        free = (f"page{number}.html" for number in chain(("",), count(2)))
        call.output = next(path for path in free if not os.path.exists(path))
    code = answer_question(call)
    if on_terminal and not code:
        sys.stdout.write(f"{call.output}\n")
    return code
