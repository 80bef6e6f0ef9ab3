"""Where the lines of a session come from: a prompt with history and completion, or a script."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..errors import ExpressionError
from ..inputs import decoding
from ..streams.requests import lines, standard_input
from ..table.primitive import FUNCTIONS
from .commands import COMMANDS
from .declarations import declared

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

    from .session_lines import Lines

PROMPT = "> "

KEPT = 2_000
"""Lines of history that are kept from one session to the next."""

_WORD = re.compile(r"(?:--)?[\w-]*\Z|:\w*\Z")
_NAME = re.compile(r"(?<!\w)\d*([^\W\d]\w*)\Z")


class Source(Protocol):
    """Gives one line after the other."""

    def line(self) -> str:
        """The next line. Raises `EOFError` at the end, and `KeyboardInterrupt`."""


def history_path() -> Path:
    """Return the path of the history, in the user's folder for the state of programs."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "autodiff" / "history"
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base and os.path.isabs(base) else Path.home() / ".local" / "state") / "autodiff" / "history"


class History:
    """The lines of earlier sessions, in a file that only the user can read. Where it cannot be used, there is none."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._path: Path | None = None
        with suppress(OSError, RuntimeError, ValueError):
            path = history_path()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8", errors="replace") as file:
                os.chmod(path, 0o600)
                self.lines = file.read().split("\n")[:-1]
                if len(self.lines) > KEPT:
                    self.lines = self.lines[-KEPT // 2 :]
                    file.seek(0)
                    file.truncate()
                    file.write("".join(f"{line}\n" for line in self.lines))
            self._path = path

    def add(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)
        if self._path is not None:
            with suppress(OSError, ValueError), open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def completions(session: Lines, text: str) -> tuple[str, list[str]]:
    """Return the last word of a line up to the cursor, and what it may become.

    >>> from autodiff_cli.cli.session_lines import Lines
    >>> completions(Lines(), "plot x --ra")
    ('--ra', ['--range'])
    """
    first, _, rest = text.lstrip().partition(" ")
    match = _WORD.search(text)
    word = match[0] if match else ""
    if word.startswith(":") and text.lstrip() == word:
        return word, [f":{name}" for name in session.special if f":{name}".startswith(word)]
    files = first in (":load", ":save")
    if first in COMMANDS and rest:
        before = rest[: len(rest) - len(rest.split(" ")[-1])].split()
        known = declared(first).options
        files = bool(before) and before[-1] in known and known[before[-1]][1].metavar == "PATH"
    if files:
        start = text.rsplit(" ", maxsplit=1)[-1]
        return start, sorted(name + "/" * os.path.isdir(name) for name in glob(escape(start) + "*"))
    if word.startswith("-") and first in COMMANDS:
        return word, [name for name in declared(first).options if name.startswith(word)]
    if first in COMMANDS and rest:
        options, before = declared(first).options, rest[: len(rest) - len(word)].split()
        if before and before[-1] in options and (choices := options[before[-1]][1].choices):
            return word, [choice for choice in choices if choice.startswith(word)]
    name = _NAME.search(text)
    word = name[1] if name else ""
    if not word:
        return "", []
    own = session.session
    called = [f"{known}(" for known in FUNCTIONS]
    named = [
        known if (of := own.definitions.get(known)) is None or of.parameters is None else f"{known}("
        for known in own.names
    ]
    commands = [f"{command} " for command in COMMANDS] if text.lstrip() == word else []
    return word, sorted({choice for choice in (*commands, *named, *called) if choice.startswith(word)})


class Script:
    """The lines of standard input, where that is no terminal."""

    def __init__(self) -> None:
        self._lines: Iterator[bytes | None] = lines(standard_input())
        self._first = True

    def line(self) -> str:
        """The next line."""
        data = next(self._lines, b"\0end")
        if data == b"\0end":
            raise EOFError
        if data is None:
            raise ExpressionError(
                "limit", f"the line is longer than {decoding.LIMIT:,} bytes", hint="use a smaller one"
            )
        text, error = decoding.decode(data.removesuffix(b"\r"), first=self._first)
        self._first = False
        if error is not None:
            error.text = text
            raise error
        return text


class Plain:
    """The lines that are typed at a plain prompt, with the history of readline where there is one."""

    def __init__(self, session: Lines) -> None:
        self._history = History()
        self._choices: list[str] = []
        with suppress(ImportError):
            import readline

            def complete(word: str, state: int) -> str | None:
                if state == 0:
                    start, choices = completions(session, readline.get_line_buffer()[: readline.get_endidx()])
                    self._choices = [word[: len(word) - len(start)] + choice for choice in choices]
                return self._choices[state] if state < len(self._choices) else None

            for line in self._history.lines:
                readline.add_history(line)
            readline.set_completer(complete)
            readline.set_completer_delims(" \t\n(),;=+*/^")
            readline.parse_and_bind("tab: complete")

    def line(self) -> str:
        """The next line."""
        text = input(PROMPT)
        if text.strip():
            self._history.add(text)
        return text


def _toolkit(session: Lines, prepare: Callable[[str], None]) -> Source | None:
    """The prompt of prompt_toolkit, which tells `prepare` what is being typed; None where that is not installed."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer
        from prompt_toolkit.completion import Completion as Choice
        from prompt_toolkit.history import History as Lines_
    except ImportError:
        return None
    kept = History()

    class Known(Lines_):
        """The history as prompt_toolkit has it."""

        def load_history_strings(self) -> Iterable[str]:
            return reversed(kept.lines)

        def store_string(self, string: str) -> None:
            kept.add(string)

    class Words(Completer):
        """What the last word may become."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            word, choices = completions(session, document.text_before_cursor)
            return [Choice(choice, -len(word)) for choice in choices]

    prompt: PromptSession[str] = PromptSession(
        PROMPT, history=Known(), completer=Words(), complete_while_typing=False, enable_history_search=True
    )

    prompt.default_buffer.on_text_changed += lambda buffer: prepare(buffer.text)

    class Prompt:
        """The prompt of prompt_toolkit."""

        def line(self) -> str:
            """The next line."""
            return prompt.prompt()

    return Prompt()


def source(session: Lines, prepare: Callable[[str], None]) -> tuple[Source, bool]:
    """Return where lines come from, and whether a person types them; `prepare` takes what is typed so far."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stdout.isatty():
        return Script(), False
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return (None if dumb else _toolkit(session, prepare)) or Plain(session), True
