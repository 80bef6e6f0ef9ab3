"""`autodiff repl`: a session, whose names keep their meanings, at a prompt with history or of a
script.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from glob import escape, glob
from pathlib import Path
from threading import Lock, Thread
from threading import enumerate as enumerate_threads
from time import sleep
from typing import TYPE_CHECKING

from ... import __version__
from ...cli.commands import load
from ...cli.declarations import COMMANDS, declared, table
from ...cli.option_values import OptionValues
from ...engine.table.primitive import COMPOSED, FUNCTIONS
from ...errors import ExpressionError, limit_error
from ...operating_system import end_of_session, is_dumb_terminal, state_folder
from ...questions import decoding
from ...show.error import report
from ...streams.requests import lines, standard_input
from .session_lines import SPECIAL, Ended, Lines

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

# Lines answered silently before the prompt, to import modules.
REHEARSAL = ("f(x) = x² sin x", "x = 2", "f(x)", "d/dx f", "2 + )", "sqrt(-x)")
# Libraries to import at the prompt, or when a line needs them.
LIBRARIES = {name: libraries.split() for name, libraries in table("libraries").items()}
# Seconds at the prompt before the libraries of searches are imported.
IDLE_SECONDS = 1.0
# Held while a line is answered or rehearsed.
_answering = Lock()


def welcome() -> str:
    """Return what a session begins with."""
    return f"""\
autodiff {__version__}: type a formula, `f(x) = x² sin x`, or a command, `plot f`;
`:help` says more, {end_of_session()} ends. Informal notation is read where it is
unambiguous; `read as:` shows how.
"""


def run(call: OptionValues) -> int:
    """Answer the lines of a prompt or of standard input."""
    session = Lines()
    read_line, person = source(session, preload_for)
    worst = 0
    if person:
        preload()
        Thread(target=preload_all, daemon=True).start()
        sys.stdout.write(welcome())
        signal.signal(signal.SIGINT, signal.default_int_handler)
    line = None if call.script is None else f":load {call.script}"
    while True:
        try:
            text = read_line() if line is None else line
            line = None
            with _answering:
                worst = max(worst, session.answer(text))
            sys.stdout.flush()
        except (EOFError, Ended):
            break
        except ExpressionError as error:
            report(error.diagnostic, error.text)
            worst = max(worst, error.exit_code)
        except KeyboardInterrupt as asked:
            if not person or (asked.args and asked.args[0] != signal.SIGINT):
                raise
            sys.stdout.write("\n")
    if person:
        sys.stdout.flush()
        _answering.acquire()  # waits for a rehearsal, and lets none begin
        return 0
    return worst


def preload() -> None:
    """Import the modules for first answers by silent rehearsal."""
    nowhere, session = io.StringIO(), Lines()
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        for line in REHEARSAL:
            session.answer(line)


def import_commands() -> None:
    """Import the commands and their libraries."""
    for name in COMMANDS:
        load(name)
    import_libraries(LIBRARIES["session"])


def preload_all() -> None:
    """Import what commands need, then what searches need."""
    import_commands()
    sleep(IDLE_SECONDS)
    import_libraries(LIBRARIES["fit"])


def import_libraries(names: Sequence[str]) -> None:
    """Import the libraries that are installed."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
    # else the first answer would search modules for garbage
    with _answering:
        gc.freeze()


def preload_for(text: str) -> None:
    """Start to import the libraries of the command being typed."""
    command, space, rest = text.partition(" ")
    words = ("", *(" --output" for word in rest.split() if word in ("-o", "--output")))
    names = (
        [name for option in words for name in LIBRARIES.get(command + option, ())] if space else []
    )
    names = [name for name in names if name not in sys.modules]
    if names and not any(thread.name == command for thread in enumerate_threads()):
        Thread(target=import_libraries, args=(names,), name=command, daemon=True).start()


# ---- lines
PROMPT = "> "

MAX_HISTORY_LINES = 2_000
_WORD = re.compile(r"(?:--)?[\w-]*\Z|:\w*\Z")
_NAME = re.compile(r"(?<!\w)\d*([^\W\d]\w*)\Z")


# Reads the next line. Raises `EOFError` at the end, or `KeyboardInterrupt`.
Reader = Callable[[], str]


def history_path() -> Path:
    """Return the path of the history, in the user's state folder."""
    return state_folder() / "autodiff" / "history"


class History:
    """The lines of earlier sessions, in a private file if writable."""

    def __init__(self) -> None:
        self.earlier: list[str] = []
        self._path: Path | None = None
        with suppress(OSError, RuntimeError, ValueError):
            path = history_path()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # the lines end alike everywhere
            how = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            with open(
                os.open(path, how, 0o600), "r+", encoding="utf-8", errors="replace", newline="\n"
            ) as file:
                os.chmod(path, 0o600)
                self.earlier = file.read().split("\n")[:-1]
                if len(self.earlier) > MAX_HISTORY_LINES:
                    self.earlier = self.earlier[-MAX_HISTORY_LINES // 2 :]
                    file.seek(0)
                    file.truncate()
                    file.write("".join(f"{line}\n" for line in self.earlier))
            self._path = path

    def add(self, line: str) -> None:
        """Append a line."""
        self.earlier.append(line)
        if self._path is not None:
            with (
                suppress(OSError, ValueError),
                open(self._path, "a", encoding="utf-8", newline="\n") as file,
            ):
                file.write(f"{line}\n")


def completions(session: Lines, text: str) -> tuple[str, list[str]]:
    """Return the word at the cursor and its completions.

    >>> from autodiff_cli.capabilities.session.session_lines import Lines
    >>> completions(Lines(), "plot x --ra")
    ('--ra', ['--range'])
    """
    first, _, rest = text.lstrip().partition(" ")
    match = _WORD.search(text)
    word = match[0] if match else ""
    if word.startswith(":") and text.lstrip() == word:
        return word, _beginning([f":{name}" for name in SPECIAL], word)
    options = declared(first).options if first in COMMANDS else {}
    before, start = rest.rpartition(" ")[0].split(), text.rpartition(" ")[2]
    option = options.get(["", *before][-1])
    if first in (":load", ":save") or (option is not None and option.metavar == "PATH"):
        return start, _paths(start)
    if word.startswith("-") and options:
        return word, _beginning(options, word)
    if option is not None and option.choices and start == word:
        return word, _beginning(option.choices, word)
    name = _NAME.search(text)
    if name is None:
        return "", []
    return name[1], _named(session, name[1], is_first=text.lstrip() == name[1])


def _paths(start: str) -> list[str]:
    return sorted(name + "/" * os.path.isdir(name) for name in glob(escape(start) + "*"))


def _beginning(choices: Iterable[str], word: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(word)]


def _named(session: Lines, word: str, *, is_first: bool) -> list[str]:
    """Return the names that a word may become: of the session, functions, and commands where it is
    the first.
    """
    own = session.session
    functions = [defined for defined, of in own.definitions.items() if of.parameters is not None]
    called = [f"{function}(" for function in (*functions, *FUNCTIONS, *COMPOSED)]
    named = [defined for defined in own.names if defined not in functions]
    commands = [f"{command} " for command in COMMANDS] if is_first else []
    return sorted({*_beginning((*commands, *named, *called), word)})


def _script() -> Reader:
    numbered = enumerate(lines(standard_input()))

    def line() -> str:
        for number, data in numbered:
            if data is None:
                message = f"the line is longer than {decoding.MAX_BYTES:,} bytes"
                raise limit_error(message, "use a smaller one")
            text, error = decoding.decode(data.removesuffix(b"\r"), first=number == 0)
            if error is not None:
                error.text = text
                raise error
            return text
        raise EOFError

    return line


def _plain(session: Lines) -> Reader:
    history = History()
    choices: list[str] = []
    with suppress(ImportError):
        import readline

        def complete(word: str, state: int) -> str | None:
            if state == 0:
                start, endings = completions(
                    session, readline.get_line_buffer()[: readline.get_endidx()]
                )
                choices[:] = [word[: len(word) - len(start)] + ending for ending in endings]
            return choices[state] if state < len(choices) else None

        for earlier in history.earlier:
            readline.add_history(earlier)
        readline.set_completer(complete)
        readline.set_completer_delims(" \t\n(),;=+*/^")
        readline.parse_and_bind("tab: complete")

    def line() -> str:
        text = input(PROMPT)
        if text.strip():
            history.add(text)
        return text

    return line


def _toolkit(session: Lines, prepare: Callable[[str], None]) -> Reader | None:
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import InMemoryHistory
    except ImportError:
        return None
    kept = History()

    class SavedHistory(InMemoryHistory):
        """A history that saves every line."""

        def store_string(self, string: str) -> None:
            super().store_string(string)
            kept.add(string)

    class NameCompleter(Completer):
        """Completes names and commands of the session."""

        def get_completions(
            self, document: Document, complete_event: CompleteEvent
        ) -> Iterable[Completion]:
            word, choices = completions(session, document.text_before_cursor)
            return [Completion(choice, -len(word)) for choice in choices]

    prompt: PromptSession[str] = PromptSession(
        PROMPT,
        history=SavedHistory(kept.earlier),
        completer=NameCompleter(),
        complete_while_typing=False,
        enable_history_search=True,
    )
    prompt.default_buffer.on_text_changed += lambda buffer: prepare(buffer.text)
    return prompt.prompt


def source(session: Lines, prepare: Callable[[str], None]) -> tuple[Reader, bool]:
    """Return the reader, and whether a person types; `prepare` gets the text."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stdout.isatty():
        return _script(), False
    return (None if is_dumb_terminal() else _toolkit(session, prepare)) or _plain(session), True
