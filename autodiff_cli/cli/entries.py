"""Exit codes and environment variables, and the man page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import __version__
from .declarations import COMMANDS, Option, declared, table, users_of_options

EXITS = {int(code): meaning for code, meaning in table("exit codes").items()}
ENVIRONMENT = table("environment")
GROUPS = {title: names.split() for title, names in table("titles").items()}
"""The commands under each title of `autodiff --help`."""


def exit_codes(command: str) -> dict[int, str]:
    """Return a command's exit codes and their meanings."""
    no = declared(command).no
    return {code: no if code == 1 else meaning for code, meaning in EXITS.items() if code != 1 or no}


def command_list(commands: Sequence[str]) -> str:
    """Return the names of commands, joined for a sentence."""
    others = [command for command in COMMANDS if command not in commands]
    if not others:
        return "all commands"
    if len(others) < len(commands) and len(others) <= 4:
        return f"all but {', '.join(others)}"
    return ", ".join(commands)


def man_page() -> str:
    """Return the man page in troff."""
    return "\n".join(_man_lines()) + "\n"


def _man_lines() -> Iterator[str]:
    shared = {option for option, commands in users_of_options().items() if len(commands) > 2}
    yield f'.TH AUTODIFF 1 "" "autodiff {__version__}" "User Commands"'
    # no hyphenation, no justified lines
    yield from (".nh", ".ad l")
    yield from (".SH NAME", r"autodiff \- the exact gradient of a formula, from the command line")
    yield from (".SH SYNOPSIS", r".B autodiff", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIEXPR\fR]", ".br")
    yield from (r".B autodiff help", r"[\fICOMMAND\fR] [\fB\-\-man\fR]")
    yield ".SH DESCRIPTION"
    yield _roff(
        "autodiff takes a formula as you would type it, and gives its value and its exact gradient at a point, with "
        "the graph that the gradient was computed on. Its other commands explain, check and use derivatives."
    )
    yield ".PP"
    yield _roff(
        "A command without an expression, or with `-`, reads programs from standard input, one a line, and answers one "
        "record a line. What begins with a minus sign and is no option is the expression."
    )
    yield ".SH COMMANDS"
    for command in COMMANDS:
        description = declared(command)
        options = description.options.values()
        yield f".SS autodiff {command} [OPTIONS] {' '.join(argument.metavar for _, argument in description.arguments)}"
        yield _roff(" ".join((description.summary, *description.details)))
        for option in options:
            if option not in shared:
                yield from _man_option(option)
        also = ", ".join(f"`{option.name}`" for option in options if option in shared)
        yield from (".PP", _roff(f"Also {also}; see below."), ".PP", "Examples:", ".PP", ".nf", ".RS 4")
        yield from (_roff(example, code=True) for example in description.examples)
        yield from (".RE", ".fi")
    yield ".SH OPTIONS OF SEVERAL COMMANDS"
    for option, commands in users_of_options().items():
        if option in shared:
            yield from _man_option(option, f" ({command_list(commands)})")
    yield ".SH EXIT STATUS"
    for code, meaning in EXITS.items():
        yield from (".TP", f".B {code}", _roff(meaning))
    yield from (".PP", "For many lines it is the highest that came up.", ".SH ENVIRONMENT")
    for name, meaning in ENVIRONMENT.items():
        yield from (".TP", f".B {_roff(name)}", _roff(meaning))
    yield from (".SH SEE ALSO", _roff("`autodiff help grad` and its like; `autodiff functions` for the language."))


def _man_option(option: Option, more: str = "") -> Iterator[str]:
    name, _, metavar = option.syntax.partition(" ")
    value = rf" \fI{metavar}\fR" if metavar else ""
    yield from (".TP", rf"\fB{_roff(name, code=True)}\fR{value}", _roff(option.help + more))


def _roff(text: str, *, code: bool = False) -> str:
    def plain(piece: str) -> str:
        return piece.replace("\\", "\\e")

    def typed(piece: str) -> str:
        return plain(piece).replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")

    pieces = [text] if code else text.split("`")
    formatted = "".join(
        typed(piece) if code else rf"\fB{typed(piece)}\fR" if k % 2 else plain(piece) for k, piece in enumerate(pieces)
    )
    return "\\&" + formatted if formatted[:1] in (".", "'") else formatted
