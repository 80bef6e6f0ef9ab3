"""`autodiff repl`: a session, whose names keep their meanings."""

import gc
import importlib
import io
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from threading import Lock, Thread
from threading import enumerate as enumerate_threads
from time import sleep

from ... import __version__
from ...errors import ExpressionError
from ...views.error import report
from ..declarations import COMMANDS, table
from ..prompt import source
from ..runner import Call
from ..session_lines import Ended, Lines
from . import load

WELCOME = f"""\
autodiff {__version__}: type a formula, `f(x) = x² sin x`, or a command, `plot f`;
`:help` says more, Ctrl-D ends. Informal notation is read where one thing only
can be meant; `read as:` says how.
"""

REHEARSAL = ("f(x) = x² sin x", "x = 2", "f(x)", "d/dx f", "2 + )", "sqrt(-x)")
"""Lines answered silently before the prompt, to import modules."""
LIBRARIES = {name: libraries.split() for name, libraries in table("libraries").items()}
"""Libraries to import at the prompt, or when a line needs them."""
IDLE_SECONDS = 1.0
"""Seconds at the prompt before the libraries of searches are imported."""
_answering = Lock()
"""Held while a line is answered or rehearsed."""


def run(call: Call) -> int:
    """Answer the lines of a prompt or of standard input."""
    session = Lines()
    read_line, person = source(session, preload_for)
    worst = 0
    if person:
        preload()
        Thread(target=preload_all, daemon=True).start()
        sys.stdout.write(WELCOME)
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
    """Import what commands need, then searches, and rehearse a fit."""
    import_commands()
    sleep(IDLE_SECONDS)
    import_libraries(LIBRARIES["fit"])
    with _answering:
        rehearse_fit()


def rehearse_fit() -> None:
    """Fit a curve silently: the first fit compiles code and patterns."""
    from ...data.text_dialects import UNFORCED, recognize
    from ...optimize.fit import fit
    from ...views.fit import FitView
    from ...views.formats import Subject, writer

    with suppress(ExpressionError):
        recognize("x,y\n0,1\n", complete=True, tabs=True, forced=UNFORCED)
        answer = fit("y = a*exp(b*x)", {"x": (0, 1, 2, 3), "y": (1, 3, 5, 7)}, {"a": 1, "b": 0.5})
        writer("table", io.StringIO(), FitView(), False).answer(Subject(None), answer)


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
    names = [name for option in words for name in LIBRARIES.get(command + option, ())] if space else []
    names = [name for name in names if name not in sys.modules]
    if names and not any(thread.name == command for thread in enumerate_threads()):
        Thread(target=import_libraries, args=(names,), name=command, daemon=True).start()
