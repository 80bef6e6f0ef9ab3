"""`autodiff repl`: a session, in which names keep their meaning from line to line."""

import importlib
import io
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from threading import Thread
from threading import enumerate as enumerate_threads

from ... import __version__
from ...errors import ExpressionError
from ...views.error import report
from ..call import Call
from ..prompt import source
from ..session_lines import Ended, Lines
from . import COMMANDS, command_module

WELCOME = f"""\
autodiff {__version__}: type a formula, `f(x) = x² sin x`, or a command, `plot f`; `:help` says more, Ctrl-D ends.
Informal notation is read where one thing only can be meant; `read as:` says how.
"""

REHEARSAL = ("f(x) = x² sin x", "x = 2", "f(x)", "d/dx f", "2 + )", "sqrt(-x)")
"""Lines that are answered to nobody before the prompt is shown, so that the first answer waits for no module."""

LIBRARIES = (
    "numpy", "numpy.char", "numpy.ma", "uniplot", "rich.tree", "statistics", "autodiff_cli.views.plots.braille",
    "autodiff_cli.data.columns", "autodiff_cli.cli.app",
)  # fmt: skip
"""Libraries of commands that people use in sessions most, imported while the prompt is shown."""

LARGE = {
    "minimize": ("scipy.optimize",),
    "maximize": ("scipy.optimize",),
    "fit": ("scipy.optimize", "llvmlite.binding", "autodiff_cli.targets.llvm"),
}
"""Libraries that need much memory, by the command; they are imported while its line is typed."""


def run(call: Call) -> int:
    """Answer the lines that are typed, or those of standard input; return the exit code."""
    session = Lines()
    origin, person = source(session, prepare)
    worst = 0
    if person:
        rehearse()
        Thread(target=import_commands, daemon=True).start()
        sys.stdout.write(WELCOME)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    line = None if call.script is None else f":load {call.script}"
    while True:
        try:
            text = origin.line() if line is None else line
            line = None
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
        return 0
    return worst


def rehearse() -> None:
    """Import what the first answers need, by answering lines to nobody."""
    nowhere, session = io.StringIO(), Lines()
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        for line in REHEARSAL:
            session.answer(line)


def import_commands() -> None:
    """Import the commands, and libraries that they need."""
    for name in COMMANDS:
        command_module(name)
    import_libraries(LIBRARIES)


def import_libraries(names: Sequence[str]) -> None:
    """Import those of the libraries that are installed."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)


def prepare(text: str) -> None:
    """Begin to import what the command needs whose line is being typed."""
    command, space, _ = text.partition(" ")
    names = [name for name in LARGE.get(command, ()) if name not in sys.modules] if space else []
    if names and not any(thread.name == command for thread in enumerate_threads()):
        Thread(target=import_libraries, args=(names,), name=command, daemon=True).start()
