"""The commands: one thin file each, from options through a question to a view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import EXIT_CODES

if TYPE_CHECKING:
    from ...batched.data_loss import LossSpec
    from ..options import Answers, Loss, Rows
    from ..runner import Inputs

COMMANDS = (
    "grad",
    "trace",
    "graph",
    "page",
    "check",
    "descend",
    "minimize",
    "plot",
    "diff",
    "hessian",
    "jacobian",
    "taylor",
    "propagate",
    "solve",
    "fit",
    "export",
    "exercise",
    "functions",
)
"""Their names, in the order of the manual: each is a module here, with a function `run`."""

GROUPS = {
    "Differentiate": ("grad", "hessian", "jacobian", "taylor", "diff"),
    "See how it works": ("trace", "graph", "page", "plot"),
    "Optimise, solve and fit": ("descend", "minimize", "solve", "fit"),
    "Trust the numbers": ("check", "propagate"),
    "Export, practise, look up": ("export", "exercise", "functions", "help"),
}
"""Under which titles `autodiff --help` has them."""


def command_module(name: str) -> Any:
    """The module of a command, imported when it is asked for, so that a start pays for one only."""
    return import_module(f".{name}", __package__)


@cache
def options_of_all() -> dict[str, list[tuple[Any, Any]]]:
    """The options of all commands, by name: each as every command that has it declares it, with its value's type."""
    from ..declarations import declared

    options: dict[str, list[tuple[Any, Any]]] = {}
    for command in COMMANDS:
        for name, (_, option, kind) in declared(command).options.items():
            options.setdefault(name, []).append((option, kind))
    return options


def _commands_with(name: str) -> list[str]:
    """The commands that have an option."""
    from ..declarations import declared

    return [command for command in COMMANDS if name in declared(command).options]


def data_over(loss: Loss, answers: Answers, inputs: Inputs, rows: Rows | None = None) -> LossSpec | None:
    """The data that a formula is reduced over by a command's options, None where they name none.

    `rows` are those of a command that has `--points` too. Raises a usage error.
    """
    if not loss.data:
        return None
    from ...batched.data_loss import reduction  # only data files need it
    from ...data.columns import from_files
    from ...data.sources import sources
    from ...streams.requests import mapping

    inputs.need(only="`--data` is for one formula, not for a stream of them")
    shared = loss if rows is None else rows
    data = from_files(sources(loss.data, shared.input_format), mapping(shared.columns))
    return reduction(data, loss.reduce, skip=answers.on_error == "skip", backend=shared.backend)


def call(command: str, args: Sequence[str]) -> int:
    """Run a command by its name and its command line; return its exit code."""
    from ...numbers.budget import allowed
    from ...streams import internal_error as bugs
    from ...views.error import write_stderr
    from ..arguments import NothingAsked, read
    from ..declarations import declared

    declaration = declared(command)
    values = read(args, declaration, f"autodiff {command}", _commands_with)
    if "AUTODIFF_OPTIONS" in os.environ:
        from ..defaults import with_own

        values = with_own(values, declaration, options_of_all)
    bugs.tracebacks = values.pop("debug", False)
    try:
        with allowed(values.pop("work", 1)):
            code: int = command_module(command).run(**declaration.grouped(values))
    except NothingAsked:
        write_stderr(
            f"There is no expression. For example:\n\n  {declaration.examples[0]}\n\n"
            f"`autodiff {command} --help` lists the options.\n"
        )
        return EXIT_CODES["usage"]
    return code
