"""The man page, from the declarations of the commands."""

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from .. import __version__
from .declarations import COMMANDS, Option, declared, table, users_of_options


def command_list(commands: Sequence[str]) -> str:
    """Return the names of commands, joined for a sentence."""
    others = [command for command in COMMANDS if command not in commands]
    if len(others) < len(commands) and len(others) <= 4:
        return f"all but {', '.join(others)}" if others else "all commands"
    return ", ".join(commands)


def man_page() -> str:
    """Return the man page in troff."""
    return "\n".join(_man_lines()) + "\n"


def plain_man_page(width: int) -> str:
    """Return the man page as text, for a terminal without a reader of man pages."""
    lines: list[str] = []
    margin, before, is_code = " " * 7, "", False
    for line in _man_lines():
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        text = _plain(rest)
        if macro in (".SH", ".SS"):
            lines += ["", text if macro == ".SH" else f"   {text}"]
            margin, before = " " * 7, ""
        elif macro in (".TP", ".PP"):
            lines.append("")
            margin, before = (" " * 14, " " * 7) if macro == ".TP" else (" " * 7, "")
        elif macro in (".nf", ".fi"):
            is_code = macro == ".nf"
        elif is_code and not macro:
            lines.append(margin + "    " + text)
        elif macro in ("", ".B"):
            # the first line after `.TP` names what the next one explains
            lines += wrap(
                text,
                width,
                initial_indent=before or margin,
                subsequent_indent=margin,
                break_long_words=False,
            )
            before = ""
    return "\n".join(lines).strip("\n") + "\n"


_ROFF_CHARACTERS = {"\\(aq": "'", "\\(ha": "^", "\\(ti": "~", "\\-": "-", "\\e": "\\", "\\&": ""}


def _plain(text: str) -> str:
    return re.sub(r"\\(?:f[BIR]|\(\w\w|.)", lambda found: _ROFF_CHARACTERS.get(found[0], ""), text)


def _man_lines() -> Iterator[str]:
    shared = {
        option: commands for option, commands in users_of_options().items() if len(commands) > 2
    }
    yield f'.TH AUTODIFF 1 "" "autodiff {__version__}" "User Commands"'
    # no hyphenation, no justified lines
    yield from (".nh", ".ad l")
    yield from (".SH NAME", r"autodiff \- the exact gradient of a formula, from the command line")
    yield from (
        ".SH SYNOPSIS",
        r".B autodiff",
        r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIEXPR\fR]",
        ".br",
    )
    yield from (r".B autodiff help", r"[\fICOMMAND\fR] [\fB\-\-man\fR]")
    about = table("man page")
    yield from (".SH DESCRIPTION", _roff(about["description"]), ".PP", _roff(about["streams"]))
    yield ".SH COMMANDS"
    for command in COMMANDS:
        description = declared(command)
        options = description.options.values()
        arguments = " ".join([argument.metavar for argument in description.arguments])
        yield f".SS autodiff {command} [OPTIONS] {arguments}"
        yield _roff(" ".join((description.summary, *description.details)))
        for option in [option for option in options if option not in shared]:
            yield from _man_option(option)
        also = ", ".join(f"`{option.name}`" for option in options if option in shared)
        yield from (
            ".PP",
            _roff(f"Also {also}; see below."),
            ".PP",
            "Examples:",
            ".PP",
            ".nf",
            ".RS 4",
        )
        yield from (_roff(example, code=True) for example in description.examples)
        yield from (".RE", ".fi")
    yield ".SH OPTIONS OF SEVERAL COMMANDS"
    for option, commands in shared.items():
        yield from _man_option(option, f" ({command_list(commands)})")
    yield ".SH EXIT STATUS"
    for code, meaning in table("exit codes").items():
        yield from (".TP", f".B {code}", _roff(meaning))
    yield from (
        ".PP",
        "With many lines, the exit code is the highest of theirs.",
        ".SH ENVIRONMENT",
    )
    for name, meaning in table("environment").items():
        yield from (".TP", f".B {_roff(name)}", _roff(meaning))
    yield from (".SH SEE ALSO", _roff(about["see also"]))


def _man_option(option: Option, more: str = "") -> Iterator[str]:
    name, _, metavar = option.syntax.partition(" ")
    value = rf" \fI{metavar}\fR" if metavar else ""
    yield from (".TP", rf"\fB{_roff(name, code=True)}\fR{value}", _roff(option.help + more))


def _roff(text: str, *, code: bool = False) -> str:
    def plain(piece: str) -> str:
        return piece.replace("\\", "\\e")

    def typed(piece: str) -> str:
        return (
            plain(piece)
            .replace("-", "\\-")
            .replace("'", "\\(aq")
            .replace("^", "\\(ha")
            .replace("~", "\\(ti")
        )

    pieces = [text] if code else text.split("`")
    formatted = "".join(
        typed(piece) if code else rf"\fB{typed(piece)}\fR" if k % 2 else plain(piece)
        for k, piece in enumerate(pieces)
    )
    return "\\&" + formatted if formatted[:1] in (".", "'") else formatted
