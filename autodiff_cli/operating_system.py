"""What differs between operating systems: consoles, pipes, paths, and the words of hints."""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Of the console interface of Windows: the mode in which escape sequences are obeyed.
ENABLE_VIRTUAL_TERMINAL_PROCESSING = 0x0004


def is_windows() -> bool:
    """Return whether this is Windows."""
    return sys.platform == "win32"


def is_dumb_terminal() -> bool:
    """Return whether the terminal cannot move its cursor: `TERM=dumb`, or no `TERM` where every
    terminal sets it.
    """
    return os.environ.get("TERM", "" if is_windows() else "dumb") == "dumb"


def prepare_streams(streams: Iterable[object]) -> None:
    """Have the standard streams of Windows carry what those of other systems do; elsewhere do
    nothing.

    Pipes and files are in UTF-8, unless `PYTHONIOENCODING` says otherwise; a console obeys escapes,
    or gets none.
    """
    if not is_windows():
        return
    for stream in streams:
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.writable() and "PYTHONIOENCODING" not in os.environ:
            stream.reconfigure(encoding="utf-8")
        obeys = _obeys_escapes(stream) if stream.isatty() else True
        if obeys is None:
            # the C library counts the device NUL as a terminal
            stream.isatty = lambda: False  # type: ignore[method-assign]
        elif not obeys:
            # a console older than Windows 10
            os.environ.setdefault("NO_COLOR", "1")


def _obeys_escapes(stream: io.TextIOWrapper) -> bool | None:
    """Return whether a console obeys the escape sequences that are written to it; None if it is no
    console.
    """
    import ctypes
    from importlib import import_module

    kernel, runtime = getattr(ctypes, "windll").kernel32, import_module("msvcrt")  # noqa: B009 - only Windows has them
    handle, mode = ctypes.c_void_p(runtime.get_osfhandle(stream.fileno())), ctypes.c_uint32()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return None
    return stream.readable() or bool(
        kernel.SetConsoleMode(handle, mode.value | ENABLE_VIRTUAL_TERMINAL_PROCESSING)
    )


def is_closed_pipe(fault: OSError) -> bool:
    """Return whether an error of writing means that the reader has closed the pipe.

    Windows reports that as an invalid argument (`EINVAL`), as it does a name that no file can have.
    """
    is_invalid = is_windows() and fault.errno == errno.EINVAL and fault.filename is None
    return isinstance(fault, BrokenPipeError) or is_invalid


def is_in_use(fault: Exception) -> bool:
    """Return whether a file cannot be replaced because, as is usual on Windows, another program has
    it open.
    """
    return is_windows() and isinstance(fault, PermissionError)


def reason_of(fault: OSError, path: str) -> str:
    """Return why a file cannot be opened."""
    # Windows denies permission to open a folder
    if is_windows() and isinstance(fault, PermissionError) and os.path.isdir(path):
        return os.strerror(errno.EISDIR)
    return fault.strerror or str(fault)


def path_of_file_url(path: str) -> str:
    """Return the path in `file:///PATH`, given what follows the third slash, decoded."""
    # `file:///C:/data.csv` begins with a drive on Windows, and anywhere else with a folder named
    # `C:`
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


def end_of_session() -> str:
    """Return what ends a session, besides a closed terminal."""
    # on Windows it is Ctrl-Z and Enter, or Ctrl-D with prompt_toolkit
    return "`:quit`" if is_windows() else "Ctrl-D"


def fetch_command(url: str) -> str:
    """Return a command that downloads a file into this folder."""
    # in Windows PowerShell `curl` is another command, with other options
    return f"{'curl.exe' if is_windows() else 'curl'} -O {url}"


def unpacking(tool: str) -> str:
    """Return how to unpack a file by a tool that Windows lacks."""
    return "unpack it" if is_windows() else f"unpack it: `{tool} -dc FILE | autodiff … -`"


def recoding_to_utf8() -> str:
    """Return a command that writes a file of UTF-16 as UTF-8."""
    # `>` of Windows PowerShell writes UTF-16
    return (
        "Get-Content FILE | Set-Content -Encoding utf8 NEW"
        if is_windows()
        else "iconv -f UTF-16 -t UTF-8 FILE"
    )


# ---- command lines
# Arguments that cmd and PowerShell take as they stand.
_BARE = r"[\w.,:=+/\\-]+"


def quoted(text: str) -> str:
    """Return an argument in quotes that keep brackets and spaces in the usual shell."""
    if not is_windows():
        return "'" + text.replace("'", "'\"'\"'") + "'"
    import re

    # a quote within quotes is for the program, which takes it after a backslash, and two
    # backslashes before it for one
    at_end = len(text) - len(text.rstrip("\\"))
    return '"' + re.sub(r'(\\*)"', r'\1\1\\"', text) + at_end * "\\" + '"'


def command_line(words: Iterable[str]) -> str:
    """Return a command as it is typed in the usual shell: quotes are where they are needed."""
    import re
    import shlex

    if not is_windows():
        return shlex.join(words)
    return " ".join(
        [word if re.fullmatch(_BARE, word, re.ASCII) else quoted(word) for word in words]
    )


def split_words(text: str) -> list[str]:
    """Return the words of a command line, without their quotes. Raises `ValueError` if a quote is
    open.

    On Windows a backslash separates folders, and keeps no character.
    """
    import shlex

    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, ""
    if is_windows():
        words.escape = ""
    return [*words]


def is_folder_name(path: str) -> bool:
    """Return whether a path ends as that of a folder: with a slash, on Windows also with a
    backslash.
    """
    return path.endswith(("/", "\\") if is_windows() else "/")
