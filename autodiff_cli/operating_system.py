"""What differs between operating systems: consoles, pipes, paths, and the words of hints."""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# Of the console interface of Windows: the handles of both outputs, and the mode in which escape sequences are obeyed.
STD_OUTPUT_HANDLE, STD_ERROR_HANDLE = -11, -12
ENABLE_VIRTUAL_TERMINAL_PROCESSING = 0x0004


def is_windows() -> bool:
    """Return whether this is Windows."""
    return sys.platform == "win32"


def is_dumb_terminal() -> bool:
    """Return whether the terminal cannot move its cursor: `TERM=dumb`, or no `TERM` where every terminal sets it."""
    return os.environ.get("TERM", "" if is_windows() else "dumb") == "dumb"


def enable_escape_sequences() -> None:
    """Have a console of Windows obey escape sequences, which a classic one prints otherwise; elsewhere do nothing."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        for number in (STD_OUTPUT_HANDLE, STD_ERROR_HANDLE):
            handle, mode = kernel.GetStdHandle(number), ctypes.c_uint32()
            # it fails for a file or a pipe, which need nothing
            if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
                kernel.SetConsoleMode(handle, mode.value | ENABLE_VIRTUAL_TERMINAL_PROCESSING)


def is_closed_pipe(fault: OSError) -> bool:
    """Return whether an error of writing means that the reader has closed the pipe.

    Windows reports that as an invalid argument (`EINVAL`).
    """
    return isinstance(fault, BrokenPipeError) or (is_windows() and fault.errno == errno.EINVAL)


def path_of_file_url(path: str) -> str:
    """Return the path in `file:///PATH`, given what follows the third slash, decoded."""
    # `file:///C:/data.csv` begins with a drive on Windows, and anywhere else with a folder named `C:`
    has_drive = is_windows() and path[1:2] in (":", "|") and path[:1].isalpha()
    return f"{path[0]}:{path[2:]}" if has_drive else "/" + path


def state_folder() -> Path:
    """Return the folder in which programs of this user keep their state."""
    from pathlib import Path

    variable, usual = "XDG_STATE_HOME", (".local", "state")
    if is_windows():
        variable, usual = "LOCALAPPDATA", ("AppData", "Local")
    base = os.environ.get(variable, "")
    return Path(base) if os.path.isabs(base) else Path.home().joinpath(*usual)


def temporary_folder_variable() -> str:
    """Return the name of the environment variable that names the folder of temporary files."""
    return "TEMP" if is_windows() else "TMPDIR"


def end_of_input() -> str:
    """Return what to press at a prompt to end the input."""
    return "Ctrl-Z and Enter" if is_windows() else "Ctrl-D"


def fetch_command(url: str) -> str:
    """Return a command that downloads a file into this folder."""
    # in Windows PowerShell `curl` is another command, with other options
    return f"{'curl.exe' if is_windows() else 'curl'} -O {url}"


def quoted(text: str) -> str:
    """Return an argument in quotes that keep brackets and spaces in the usual shell."""
    return f'"{text}"' if is_windows() else f"'{text}'"
