"""The declarations in `commands.txt`, for commands, help and Python."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

# The groups of options: sections of `commands.txt`.
GROUPS = ("program", "answers", "saves", "numbers", "rows", "loss", "dialect")
SHARED = "shared"


class Option(NamedTuple):
    """An option of a command."""

    name: str
    help: str
    metavar: str = ""
    parameter: str = ""
    kind: Any = str | None
    range: str = ""
    """The values of a number: `LOW:HIGH`, `>LOW:<HIGH` without the ends, or `LOW:`."""
    choices: tuple[str, ...] = ()
    main: bool = False
    """Whether `--help` explains it; `--help-all` explains all."""
    required: bool = False
    needs: tuple[str, ...] = ()
    """It requires one of these, such as `--method adam`, if the command has any."""
    conflicts: tuple[str, ...] = ()
    """Options that it excludes; one of each pair names the other."""
    yields_to: tuple[str, ...] = ()
    """Options that override it if it is from the environment."""
    allowed_in_env: bool = True
    """Whether it may be set by the environment; see `arguments.is_allowed`."""
    reads_stdin: bool = False
    """Whether `-` is standard input, which only one option can read."""
    value_syntax: str | None = None
    """The character after a name, if the value contains names."""
    value_names: str = "variables"
    python_type: str | None = ""
    """The type in Python; "" derives it from `kind`, None is for the shell only."""
    data_role: str | None = None
    """The role of its file's columns: `VARIABLES` or `DATA`."""

    @property
    def syntax(self) -> str:
        """Return the option and its placeholder: `--at POINT`."""
        return f"{self.name} {self.metavar}".rstrip()


# Kinds of names in option values; data are no variables of a formula.
VARIABLES, COLUMNS, RENAMED, DATA = "variables", "columns", "renamed", "data"
TYPES: Mapping[str, Any] = {
    "flag": bool,
    "str": str | None,
    "int": int | None,
    "float": float | None,
    "list": list[str] | None,
}


FIELDS = {
    "as": "parameter",
    "shell": "python_type",
    "no-env": "allowed_in_env",
    "role": "data_role",
}
FIELDS |= {"stdin": "reads_stdin", "yields": "yields_to"}
"""The fields of options by their words in `commands.txt`, if these differ."""


class Declaration:
    """The declaration of a command, or of a group of options."""

    def __init__(self, section: str) -> None:
        self.options: dict[str, Option] = {}
        # The positional arguments, whose names are their placeholders.
        self.arguments: list[Option] = []
        # The defaults of all parameters, also those `without` options.
        self.defaults: dict[str, Any] = {}
        # The heading of each option in help.
        self.sections: dict[str, str] = {}
        self.summary = ""
        # What a command asks, how it runs, when it exits with 1, and why it takes no stream; see
        # `commands.txt`.
        self.facts: dict[str, str] = {}
        self.details: list[str] = []
        self.examples: list[str] = []
        lines = _lines(section)
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == ":" and not self.summary:
                self.summary = rest
            elif word == ":":
                self.details.append(rest)
            elif word == "$":
                self.examples.append(rest)
            elif word in ("1", "one", "asks", "runs", "method"):
                self.facts[word] = rest
            elif word == "formats":
                names, _, default = rest.partition("; ")
                text = f"{names.replace(' ', ', ')}; {default}."
                self._add(
                    self.options["--format"]._replace(choices=tuple(names.split()), help=text)
                )
            elif word == "argument":
                self._add_argument(rest, next(lines).strip())
            elif word.startswith("--") and rest:
                self._declare(line, next(lines).strip())
            elif word.startswith("--"):
                self._reference(word)
            else:
                self._add_group(word, rest.split()[1:])
        if section in COMMANDS:
            for name in (
                ("--work", "--quiet", "--debug")
                if "expr" in self.defaults
                else ("--quiet", "--debug")
            ):
                self._reference(name)

    def _add_argument(self, rest: str, text: str) -> None:
        metavar, parameter = rest.split()
        self.arguments = [
            argument for argument in self.arguments if argument.parameter != parameter
        ]
        self.arguments.append(Option(metavar.strip("[]"), text, metavar, parameter))
        self.defaults[parameter] = None

    def _add_group(self, name: str, without: Sequence[str]) -> None:
        """Add the options of a group, but for those it is declared `without`."""
        group = declared(name)
        self.arguments += group.arguments
        self.defaults |= group.defaults
        options = {name: option for name, option in group.options.items() if name not in without}
        self.options |= options
        title = _text()[name].partition("\n")[0]
        self.sections |= dict.fromkeys(options, title or "Options")

    def _reference(self, name: str) -> None:
        groups = map(declared, (SHARED, *GROUPS))
        self._add(next(group.options[name] for group in groups if name in group.options))
        self.sections[name] = "Options"

    def _add(self, option: Option) -> None:
        self.options[option.name] = option
        self.defaults[option.parameter] = False if option.kind is bool else None

    def _declare(self, line: str, text: str) -> None:
        words, _, python_type = line.partition(" :: ")
        name, *attributes = words.split()
        metavar = "" if attributes[0] in TYPES else attributes.pop(0)
        fields: dict[str, Any] = {"kind": TYPES[attributes.pop(0)], "python_type": python_type}
        fields["parameter"] = name[2:].replace("-", "_")
        for attribute in attributes:
            key, equals, value = attribute.partition("=")
            field = FIELDS.get(key, key)
            if key.rstrip(":") in (VARIABLES, COLUMNS, RENAMED):
                fields["value_names"] = key.rstrip(":")
                fields["value_syntax"] = equals or ":" * key.endswith(":")
            elif key in ("as", "role", "range"):
                fields[field] = value
            elif key in ("shell", "no-env"):
                fields[field] = None if key == "shell" else False
            else:
                fields[field] = tuple(value.replace("=", " ").split(",")) if equals else True
        text = text.replace("{choices}", ", ".join(fields.get("choices", ())))
        self._add(Option(name, text, metavar, **fields))
        self.sections.setdefault(name, "Options")


# Return the declaration of a command or a group.
declared = cache(Declaration)


@cache
def _text() -> dict[str, str]:
    with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as file:
        text = file.read()
    sections = [section.partition("]") for section in text.split("\n[")[1:]]
    return {name: body.removeprefix(" ") for name, _, body in sections}


def _lines(section: str) -> Iterator[str]:
    return (line for line in _text()[section].split("\n")[1:] if line)


def table(section: str) -> dict[str, str]:
    """Return a table of `commands.txt`: texts by key."""
    return dict(line.split(": ", 1) for line in _lines(section))


HELP, TUTORIAL = "help", "tutorial"
# The commands that show pages which come with the package.
PAGES = (HELP, TUTORIAL)
# The commands in the manual's order, without those that show pages: modules with `run`.
COMMANDS = tuple(name for name, text in _text().items() if "\n: " in text and name not in PAGES)
SESSIONS = ("repl", "serve")
# The commands that have an answer: all except the sessions.
QUESTIONS = tuple(name for name in COMMANDS if name not in SESSIONS)


@cache
def users_of_options() -> dict[Option, list[str]]:
    """Return the commands of each declared option."""
    users: dict[Option, list[str]] = {}
    for command in COMMANDS:
        for option in declared(command).options.values():
            users.setdefault(option, []).append(command)
    return users


def commands_with(name: str) -> list[str]:
    """Return the commands with an option of this name."""
    return [command for command in COMMANDS if name in declared(command).options]


def exit_codes(command: str) -> dict[str, str]:
    """Return a command's exit codes and their meanings."""
    no = declared(command).facts.get("1", "")
    codes = table("exit codes") | {"1": no}
    return {code: meaning for code, meaning in codes.items() if meaning}
