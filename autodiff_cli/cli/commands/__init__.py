"""The commands: one thin file each, from options through a question to a view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import EXIT_CODES, usage_error

if TYPE_CHECKING:
    from ...views.schema import View
    from ..declarations import Option
    from ..runner import Command, Method, RowQuestion

COMMANDS = (
    "grad", "trace", "graph", "page", "check", "descend", "minimize", "maximize", "plot", "diff", "hessian", "jacobian",
    "taylor", "propagate", "solve", "fit", "export", "exercise", "functions", "units", "repl",
)  # fmt: skip
"""Their names, in the order of the manual: each is a module here, with a function `run`."""

QUESTIONS = tuple(name for name in COMMANDS if name != "repl")
"""Those that have an answer: all but the session, which has lines."""


def command_module(name: str) -> Any:
    """Import the module of a command on first use, so that only one is loaded at start."""
    return import_module(f".{name}", __package__)


@cache
def options_of_all() -> dict[str, list[Option]]:
    """The options of all commands, by name: each as every command that has it declares it."""
    from ..declarations import declared

    options: dict[str, list[Option]] = {}
    for command in COMMANDS:
        for name, option in declared(command).options.items():
            options.setdefault(name, []).append(option)
    return options


def _commands_with(name: str) -> list[str]:
    from ..declarations import declared

    return [command for command in COMMANDS if name in declared(command).options]


def _name_the_variable(values: dict[str, Any]) -> None:
    for parameter in ("at", "range", "bounds"):
        texts = values.get(parameter)
        if texts and len(texts) == 1 and texts[0][:1] not in ("@", "") and not {"=", ","} & {*texts[0]}:
            from ...equations.equations import variables_of  # what is written out needs none
            from ...language.tokens import is_name

            if is_name(texts[0].strip()):
                continue
            names = values.get("wrt") or values.get("unknowns") or variables_of(values.get("expr"))
            if len(names) == 1 and "," not in names[0]:
                values[parameter] = [f"{names[0]}={texts[0]}"]


def answer_at(call: Command, method: Method, view: View[Any], question: RowQuestion, **choices: Any) -> int:
    """Answer one program at a point, at all points of a sweep or rows of data, or a stream; return the exit code.

    `choices` are those of `answer_all`.
    """
    from ..runner import answer_all

    grid = call.grid()
    if grid is None and not call.points:
        for option in ("wide", "spreadsheet", "backend"):
            # the rows of a loss are computed by a backend too
            if call.values[option] and (option != "backend" or question.posed is not None):
                hint = "give a file, `--points FILE`, or a sweep, `--at x=0:10:1`; or leave it out"
                raise usage_error(f"`--{option}` is about rows", hint)
        return answer_all(call, method, view, **choices)
    if call.points and call.zip and grid is not None and len(grid.axes) == 1:
        hint = "for a value a row, give the data a column of the name; for all combinations, leave it out"
        raise usage_error("`--zip` pairs sweeps, not rows, and there is one sweep", hint)
    from ..row_routes import answer_rows  # only many points need it

    return answer_rows(call, grid, method, view, question)


def run(command: str, call: Command) -> int:
    """Answer a call of a command, or mark the answer that it gives; return the exit code."""
    if command != "exercise" and call.values.get("answer") is not None:
        from ..own_answers import mark_answers  # only an answer needs it

        return mark_answers(command, call)
    code: int = command_module(command).run(call)
    return code


def call(command: str, args: Sequence[str]) -> int:
    """Run a command by its name and its command line; return its exit code."""
    from ...numbers.budget import allowed
    from ...streams import internal_error as bugs
    from ...views import error
    from ..arguments import NothingAsked, read
    from ..declarations import declared

    declaration = declared(command)
    values = read(args, declaration, f"autodiff {command}", _commands_with)
    from ..runner import Command  # help needs none

    if "AUTODIFF_OPTIONS" in os.environ:
        from ..defaults import with_own

        values = with_own(values, declaration, options_of_all)
    bugs.tracebacks = values.pop("debug", False)
    error.quiet = values.pop("quiet", False)
    _name_the_variable(values)
    try:
        with allowed(values.pop("work", 1)):
            return run(command, Command({**declaration.defaults, **values}))
    except NothingAsked:
        error.write_stderr(
            f"There is no expression. For example:\n\n  {declaration.examples[0]}\n\n"
            f"`autodiff {command} --help` lists the options.\n"
        )
        return EXIT_CODES["usage"]
