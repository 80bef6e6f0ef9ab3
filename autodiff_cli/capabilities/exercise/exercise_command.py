"""How `exercise` runs."""

from __future__ import annotations

from ...cli.commands import EXIT_NO
from ...cli.runner import Command, write_entries
from ...errors import usage_error
from ...streams.requests import read_program
from .exercise import Marked, Sheet


def run(call: Command) -> int:
    """Set exercises in calculus, and check answers."""
    if call.ask:
        from .ask import ask

        sheet = call.question(**_arguments(call))
        assert isinstance(sheet, Sheet)
        return ask(sheet, call.view)
    chosen = call.choose_format()
    if chosen == "pdf":
        if call.check is not None:
            raise usage_error(
                "a PDF is made of a sheet, and `--check` marks an answer", "leave `--output` out"
            )
        call.refuse_terminal(chosen, "sheet")
    found = call.question(**_arguments(call))
    if isinstance(found, Marked):
        return write_entries(call, [found], chosen, 0 if found.right else EXIT_NO)
    is_split = chosen in ("jsonl", "csv", "tsv")
    return write_entries(call, found.exercises if is_split else [found], chosen)


def _arguments(call: Command) -> dict[str, object]:
    """Return what the question is asked with, the functions of a file among it."""
    arguments = call.arguments(call.question)
    return arguments if call.file is None else {**arguments, "functions": _functions(call.file)}


def _functions(path: str) -> list[tuple[int, str]]:
    """Return the functions of a file, with the numbers of their lines. Raises `ExpressionError`."""
    text, fault = read_program(path)
    if fault is not None:
        raise fault
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    functions = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not functions:
        raise usage_error(f"`{path}` has no functions", "write one a line: `x^2 sin x`")
    return functions
