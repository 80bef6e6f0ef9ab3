"""A process that finds what Windows has: `sys.platform`, no module and no function of Unix, files
that are open stay.

It imports every module of the package, runs the command lines that it reads as JSON from standard
input, and writes JSON: the modules that it imported, and the exit code, output and errors of each
line. It cannot fake paths (`os.path` and `os.name` stay), the console, and what libraries do when
they are imported.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

FIRST = (
    "asyncio concurrent.futures ctypes multiprocessing subprocess tempfile webbrowser numpy"
    " scipy.optimize scipy.stats pyarrow pyarrow.csv pyarrow.parquet pyarrow.dataset"
    " matplotlib.figure matplotlib.backends.backend_svg flint llvmlite.binding mpmath rich.console"
    " rich.progress typer resvg_py prompt_toolkit uniplot python_calamine"
)
"""What asks for the system when it is imported."""
MODULES = "crypt curses fcntl grp posix pty pwd readline resource spwd syslog termios tty"
FUNCTIONS = (
    "chown chroot fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid"
    " getpgrp getsid getuid killpg lchown mkfifo mknod nice openpty posix_fadvise posix_spawn pread"
    " pwrite readv register_at_fork sched_getaffinity setpgid setsid setuid statvfs sync sysconf"
    " tcgetpgrp ttyname uname wait wait3 wait4 writev"
)
SIGNALS = (
    "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGTSTP SIGUSR1 SIGUSR2 SIGVTALRM"
    " SIGWINCH ITIMER_REAL ITIMER_VIRTUAL alarm pause pthread_kill setitimer siginterrupt"
)


class _Absent:
    """Finds no module of Unix."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name in MODULES.split():
            raise ImportError(f"Windows has no module {name}")
        return None


def _open_names() -> set[str]:
    names = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            names.add(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue  # that of the listing itself
    return names


def _unless_open(action: Callable[..., Any]) -> Callable[..., Any]:
    def act(*paths: Any, **options: Any) -> Any:
        # on Unix the library deletes a temporary file while it is open
        ours = sys._getframe(1).f_globals.get("__name__", "") != "tempfile"
        if (
            ours
            and {os.path.realpath(path) for path in paths if isinstance(path, str)} & _open_names()
        ):
            raise PermissionError(13, "another process uses the file", paths[0])
        return action(*paths, **options)

    return act


def opened(
    file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
    newline: str | None = None, *rest: Any, **options: Any,
) -> Any:  # fmt: skip
    """Open a file; text has the encoding and the ends of lines of Windows unless others are asked
    for.
    """
    if "b" not in mode:
        encoding = encoding or "cp1252"
        newline = "\r\n" if newline is None and "r" not in mode else newline
    return OPEN(file, mode, buffering, encoding, errors, newline, *rest, **options)


OPEN = open


class _Text(io.TextIOWrapper):
    """Text over a binary file, with the encoding and the ends of lines of Windows unless others are
    asked for.
    """

    def __init__(
        self,
        buffer: Any,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        **how: Any,
    ) -> None:
        newline = "\r\n" if newline is None and buffer.writable() else newline
        super().__init__(buffer, encoding or "cp1252", errors, newline, **how)


def take_away() -> None:
    """Make this process look like one of Windows."""
    for name in FIRST.split():
        importlib.import_module(name)
    sys.meta_path.insert(0, _Absent())  # type: ignore[arg-type]
    for name in MODULES.split():
        sys.modules.pop(name, None)
    for module, names in ((os, FUNCTIONS), (signal, SIGNALS)):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in ("replace", "rename", "link", "unlink", "remove"):
        setattr(os, name, _unless_open(getattr(os, name)))
    builtins.open = io.open = opened  # type: ignore[assignment]
    io.TextIOWrapper = _Text  # type: ignore[misc]
    os.environ.pop("TERM", None)
    sys.platform = "win32"


def import_all() -> list[str]:
    """Import every module of the package but scripts of other processes; return their names."""
    import autodiff_cli

    apart = (
        "autodiff_cli.api.manual",
        "autodiff_cli.language.generate",
        "autodiff_cli.nn",
        "autodiff_cli.data.cluster",
    )
    names = [found.name for found in pkgutil.walk_packages(autodiff_cli.__path__, "autodiff_cli.")]
    names = [name for name in names if name not in apart]
    for name in names:
        importlib.import_module(name)
    return names


def answer(words: Sequence[str], stdin: str) -> list[Any]:
    """Run a command as `autodiff` does, with the streams that Windows gives it."""
    from autodiff_cli.__main__ import run

    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="cp1252")
    sys.stdout = io.TextIOWrapper(out, encoding="cp1252", newline="\r\n")
    sys.stderr = io.TextIOWrapper(err, encoding="cp1252", newline="\r\n")
    code = run(words)
    sys.stdout.flush()
    sys.stderr.flush()
    return [code, out.getvalue().decode(), err.getvalue().decode()]


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    written = sys.stdout
    take_away()
    imported = import_all()
    answers = [answer(words, stdin) for words, stdin in asked]
    written.write(json.dumps([imported, answers]))
