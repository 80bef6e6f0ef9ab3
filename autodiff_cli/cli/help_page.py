"""The pages of the manual on a terminal, through a pager where they are long."""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ..operating_system import is_dumb_terminal, split_words
from ..show.characters import Terminal, paint, terminal_of, width_of
from ..show.document import Table, plain_text, sentence
from ..show.rendering import ScreenText, break_lines

# The maximal width in columns of sentences in help.
MAX_WIDTH = 100
INDENT, PROMPT, CONTINUED, CONTINUES = "  ", "$ ", "> ", " \\"
FRAME = tuple("╭│├╰")
_ARGUMENT = re.compile(r"""(?:--[\w-]+ )?(?:"[^"]*"|'[^']*'|[^\s"'])+""")
_BAR = re.compile(r"(?<!\\)\|")
# The line below the head of a table.
_DELIMITERS = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_OTHER_PAGE = re.compile(r"\[([^]]+)\]\((?:commands/)?(?!reference)(\w+)\.md[^)]*\)")
_TUTORIAL = re.compile(r"\[([^]]+)\]\((?:\.\./)?(\d)-[\w-]+\.md[^)]*\)")
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)
_NOT_HERE = re.compile(r"!?\[([^]]+)\]\((?:\.\.|reference|[\w-]+\.svg)[^)]*\)")
_IN_ASCII = str.maketrans("╭╮╰╯├┤┬┴┼┌┐└┘┏┓┗┛─━│┃•", "+++++++++++++++++--||*")


def find_page(name: str) -> str | None:
    """Return the text of a page of the manual, in Markdown, or None."""
    paths = [path for path in _pages("commands/*.md") if path.stem == name]
    return paths[0].read_text(encoding="utf-8") if paths else None


class Section(NamedTuple):
    """A section of a page of the manual: the page's name, its own heading, and its text with
    that.
    """

    page: str
    heading: str
    text: str


def find_sections(words: str) -> list[Section]:
    """Return the sections of the manual with words in their headings that begin with each of
    these.
    """
    wanted = words.casefold().split()

    def has_all(heading: str) -> bool:
        own = re.findall(r"[^\W_]+", heading.casefold())
        return all(any(other.startswith(word) for other in own) for word in wanted)

    return [section for section in _sections() if has_all(section.heading)]


def _sections() -> Iterator[Section]:
    for path in sorted(_pages("commands/*.md")):
        for text in _SECTION.split(path.read_text(encoding="utf-8"))[1:]:
            yield Section(path.stem, text.partition("\n")[0].removeprefix("## "), text)


def show_sections(sections: Sequence[Section]) -> None:
    """Show a section of the manual, or list several."""
    if len(sections) == 1:
        show_page(f"{sections[0].text}\n`autodiff help {sections[0].page}` has more.\n")
        return
    width = max(len(section.page) for section in sections)
    for section in sections:
        sys.stdout.write(
            f"autodiff help {section.page:{width}}  {section.heading.replace('`', '')}\n"
        )


def tutorials() -> dict[int, tuple[str, Path]]:
    """Return the titles of the tutorials and their files, by number."""
    found = {}
    for path in sorted(_pages("[0-9]-*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0]
        found[int(path.name[0])] = title.partition(". ")[2], path
    return found


def _pages(pattern: str) -> list[Path]:
    # in a built package, or beside the tests in a checkout
    package = Path(__file__).parents[1]
    folders = package / "manual", package.parent / "tests" / "tutorials"
    return [path for folder in folders for path in folder.glob(pattern)]


def show_page(page: str) -> None:
    """Write a page as a terminal shows it, through a pager there; in a pipe as plain text."""
    terminal = terminal_of(sys.stdout)
    if terminal.is_terminal:
        write_paged(draw_page(page, terminal), terminal)
    else:
        sys.stdout.write(draw_page(page, terminal._replace(color=False, width=None)))


def draw_page(page: str, terminal: Terminal) -> str:
    """Return a page as a terminal shows it: no number is broken at any width."""
    lines: list[str] = []
    for k, part in enumerate(page.split("\n```")):
        drawn = _code(part.split("\n")[1:], terminal) if k % 2 else _text(part, terminal)
        lines += [*drawn, ""] if k % 2 else drawn
    text = "\n".join(lines).rstrip() + "\n"
    return text if terminal.unicode else text.translate(_IN_ASCII)


def _text(text: str, terminal: Terminal) -> Iterator[str]:
    from rich.console import Console
    from rich.markdown import Markdown

    text = _TUTORIAL.sub(
        r"\1 (`autodiff tutorial \2`)", _OTHER_PAGE.sub(r"\1 (`autodiff help \2`)", text)
    )
    text = _NOT_HERE.sub(r"\1", text)
    for is_table, group in groupby(_with_tables(text.splitlines()), itemgetter(0)):
        lines = [line for _, line in group]
        if is_table:
            head, _, *rows = [_BAR.split(line)[1:-1] for line in lines]
            yield from (*_table([head, *rows], terminal), "")
            continue
        width = min(terminal.width or MAX_WIDTH, MAX_WIDTH)
        console = Console(
            width=width, color_system="standard" if terminal.color else None, _environ={}
        )
        with console.capture() as capture:
            console.print(Markdown("\n".join(lines), hyperlinks=False))
        drawn = [line.rstrip() for line in capture.get().splitlines()]
        yield from (*drawn, "") if any(drawn) else ()


def _with_tables(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield each line with whether it is of a table: a bar may also begin a line of a sentence."""
    is_table = False
    for line, below in pairwise([*lines, ""]):
        is_table = line.startswith("|") and (is_table or bool(_DELIMITERS.fullmatch(below)))
        yield is_table, line


def _code(code: Sequence[str], terminal: Terminal) -> Iterator[str]:
    terminal = terminal._replace(width=terminal.width and max(terminal.width - len(INDENT), 1))
    for _, group in groupby(code, lambda line: line.startswith(FRAME)):
        lines = [*_joined(group)]
        if not lines[0].startswith("╭"):
            lines = [part for line in lines for part in _broken(line, terminal)]
        elif terminal.width is not None and width_of(lines[0]) > terminal.width:
            rows = [line for line in lines if line.startswith("│")]
            lines = _table([row.split("│")[1:-1] for row in rows], terminal)
        yield from [(INDENT + line).rstrip() for line in lines]


def _table(rows: Sequence[Sequence[str]], terminal: Terminal) -> list[str]:
    right = {
        k for row in rows for k, cell in enumerate(row) if cell.startswith("  ") and cell.strip()
    }
    head, *cells = [
        tuple([sentence(cell.strip().replace("\\|", "|")) for cell in row]) for row in rows
    ]
    heads = tuple(map(plain_text, head))
    table = Table(heads, cells, frozenset(right))
    return [*ScreenText(terminal).table(table)]


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of code, a command over several lines as one."""
    command = ""
    for line in lines:
        command += f" {line.removeprefix(CONTINUED).strip()}" if command else line
        if command.startswith(PROMPT) and command.endswith(CONTINUES):
            command = command.removesuffix(CONTINUES)
        else:
            yield command
            command = ""
    if command:
        yield command


def _broken(line: str, terminal: Terminal) -> list[str]:
    """Break a line of code between words; a command between its arguments, as the shell goes on
    with it.

    The lines of a command can be copied as they stand: no line begins with a prompt, and only an
    argument that is wider than a line is broken, at blanks in double quotes, where the shell goes
    on too.
    """
    indent = len(line) - len(line.lstrip()) + len(INDENT)
    if not line.startswith(PROMPT):
        return [plain_text(part) for part in break_lines(((line, "code"),), terminal.width, indent)]
    first, *arguments = [
        part for part in _ARGUMENT.findall(line.removeprefix(PROMPT)) if part.strip()
    ]
    lines = [PROMPT + first]
    width = terminal.width or math.inf
    for argument in arguments:
        is_wide = width_of(2 * INDENT + argument + CONTINUES) > width and "'" not in argument
        for part in argument.split(" ") if is_wide else [argument]:
            if width_of(f"{lines[-1]} {part}{CONTINUES}") > width:
                lines[-1] += CONTINUES
                lines.append(2 * INDENT + part)
            else:
                lines[-1] += f" {part}"
    return [paint(part, "code", terminal) for part in lines]


def write_paged(text: str, terminal: Terminal) -> None:
    """Write a text to the terminal, through the pager of the user if it is longer than the
    screen.
    """
    pager = os.environ.get("PAGER", "" if is_dumb_terminal() else "less")
    # as git has it: in colour, and long lines are not folded
    environment = {"LESS": "FRSX", **os.environ}
    if terminal.encoding == "utf-8":
        environment.setdefault("LESSCHARSET", "utf-8")
    process = None
    is_long = text.count("\n") >= shutil.get_terminal_size().lines
    with suppress(OSError, ValueError):  # else the page is printed
        command = split_words(pager) if is_long else []
        process = (
            subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) if command else None
        )
    if process is None:
        sys.stdout.write(text)
        return
    # Ctrl-C is the pager's
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text.encode(terminal.encoding, "backslashreplace"))
    finally:
        signal.signal(signal.SIGINT, handler)
