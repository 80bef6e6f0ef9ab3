"""Runs the command on a pseudo-terminal, as a person would, and reads what it shows."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from running import SETTINGS, UNSET, Result

with suppress(ImportError):  # tests that need them are marked `posix`
    import fcntl
    import pty
    import termios

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """This process's variables, but for those that output depends on."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in (*UNSET, "COLUMNS", "LESS", "PAGER")
    }
    # a pager would wait for a key, unless the search path has one of the test's own
    pager = {} if "PATH" in env else {"PAGER": "cat"}
    return {**kept, "TERM": "xterm-256color", "LANG": SETTINGS["LANG"], **pager, **env}


def start(
    *args: str, width: int = 80, env: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    """A running command whose three streams are a terminal of this width, and the terminal's other
    side.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "autodiff_cli", *args],
        stdin=slave, stdout=slave, stderr=slave, env=environment(env or {}), start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    return process, master


def rest(process: subprocess.Popen[bytes], master: int) -> Result:
    """All that the terminal shows from now on, and the exit code."""
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    return Result(shown.decode().replace("\r\n", "\n"), "", process.wait())


def on_terminal(*args: str, width: int = 80, env: Mapping[str, str] | None = None) -> Result:
    """What the command shows on a terminal, and its exit code."""
    return rest(*start(*args, width=width, env=env))
