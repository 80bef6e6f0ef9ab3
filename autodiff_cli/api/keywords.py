"""The options of commands as keyword arguments."""

from functools import cache
from keyword import iskeyword

from ..cli.declarations import Option, declared


@cache
def options_of(command: str) -> dict[str, Option]:
    """Return the options of a command by keyword argument."""
    return {keyword(name): option for name, option in declared(command).options.items()}


@cache
def keywords_of(command: str) -> dict[str, str]:
    """Return the types of a function's keyword arguments, files excluded."""
    declaration = declared(command)
    types = {}
    for name, option in declaration.options.items():
        of_files = (
            option.kind == (list[str] | None)
            or option.metavar == "PATH"
            or declaration.sections[name] in SHELL
        )
        of_files = of_files or (name == "--on-error" and "--reduce" not in declaration.options)
        if option.python_type or (option.python_type is not None and not of_files):
            types[keyword(name)] = option.python_type or (
                "bool" if option.kind is bool else str(option.kind)
            )
    return types


# The sections of help for the shell only.
SHELL = ("Sweeps and data files", "Files beside the answer")


def keyword(name: str) -> str:
    """Return an option as a keyword argument: `no_tree` for `--no-tree`."""
    spelled = name[2:].replace("-", "_")
    return f"{spelled}_" if iskeyword(spelled) else spelled
