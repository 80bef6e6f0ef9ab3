"""The commands: one thin file each, from options through a question to a view."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..errors import EXIT_CODES

COMMANDS = (
    "grad",
    "trace",
    "graph",
    "check",
    "descend",
    "minimize",
    "plot",
    "diff",
    "hessian",
    "jacobian",
    "taylor",
    "propagate",
    "export",
    "functions",
)
"""Their names, in the order of the help: each is a module here, with a function `run` and an `EXAMPLE`."""


def command_module(name: str) -> Any:
    """The module of a command, imported when it is asked for, so that a start pays for one only."""
    return import_module(f".{name}", __package__)


def call(command: str, args: Sequence[str]) -> int:
    """Run a command by its name and its command line; return its exit code."""
    from ..streams import bugs
    from ..streams.arguments import Declared, NothingAsked, read
    from ..views.error import say

    module = command_module(command)
    declared = Declared(module.run)
    values = read(args, declared, f"autodiff {command}")
    bugs.tracebacks = values.pop("debug", False)
    try:
        code: int = module.run(**declared.grouped(values))
    except NothingAsked:
        say(
            f"There is no expression. For example:\n\n  {module.EXAMPLE}\n\n"
            f"`autodiff {command} --help` lists the options.\n"
        )
        return EXIT_CODES["usage"]
    return code
