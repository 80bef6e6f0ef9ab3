"""An interactive shell in a pseudo-terminal, with the completion script loaded."""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # tests that need them are marked `posix`
    import fcntl
    import pty
    import termios

COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
START = {
    "bash": (
        "PS1='' PS2=''; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; source"
        " ./script"
    ),
    "zsh": (
        "PS1='' PS2=''; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -d ./dump;"
        " source ./script"
    ),
    "fish": "function fish_prompt; end; source ./script",
}
RECORDER = """\
import json, sys
sys.stdout.flush()
with open("arguments.new", "w") as file:
    json.dump(sys.argv[1:], file)
import os
os.replace("arguments.new", "arguments.json")
"""
LANGUAGE = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
HOME, CANCEL = "\x01", {"bash": "\x15", "zsh": "\x15", "fish": "\x15"}


class Shell:
    """A shell in a folder. `arguments` is what a command gets whose line was completed there.

    Commands are those of another folder first, if there is one.
    """

    def __init__(self, shell: str, folder: Path, commands: Path | None = None) -> None:
        self.folder = folder
        self.name = shell
        (folder / "record.py").write_text(RECORDER, encoding="utf-8")
        recorder = folder / "bin" / "record"
        recorder.parent.mkdir(exist_ok=True)
        recorder.write_text(
            f'#!/bin/sh\nexec {sys.executable} -I -S {folder / "record.py"} "$@"\n',
            encoding="utf-8",
        )
        recorder.chmod(0o755)
        here = Path(sys.executable).parent
        path = f"{recorder.parent}:{commands or here}:{here}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(folder), "TERM": "xterm", **LANGUAGE}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(COMMANDS[shell][0], COMMANDS[shell], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
        self.shown = ""
        self.type(START[shell] + "\n")
        self.type("record ready\n")
        self.wait_for_arguments(20)

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode("utf-8"))

    def read(self, seconds: float) -> str:
        """Return what is shown until nothing comes for so long."""
        shown = b""
        while select.select([self.terminal], [], [], seconds)[0]:
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                break
            shown += part
        self.shown += shown.decode("utf-8", "replace")
        return shown.decode("utf-8", "replace")

    def wait_for_arguments(self, seconds: float = 5) -> list[str] | None:
        """Return the arguments of the recorder, None if it does not run."""
        path = self.folder / "arguments.json"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.01)
            if path.is_file():
                arguments: list[str] = json.loads(path.read_text(encoding="utf-8"))
                path.unlink()
                return arguments
        return None

    def arguments(self, line: str, quote: str = "") -> list[str] | None:
        """Complete the line by Tab; return the arguments that Enter then passes."""
        self.type(line + "\t")
        # keys that come while the shell completes wait in the terminal
        self.type(quote + HOME + "record \n")
        return self.wait_for_arguments()

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)
