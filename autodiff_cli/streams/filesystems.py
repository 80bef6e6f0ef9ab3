"""Remote files: `s3://`, `gs://`, `hdfs://` and others, by pyarrow or fsspec."""

import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import IO, Any, NamedTuple, TypeVar

from ..errors import ExpressionError, require, usage_error
from ..operating_system import fetch_command, is_in_use, path_of_file_url

MAX_BYTES_IN_MEMORY = 32 * 1024 * 1024
MAX_ATTEMPTS = 3
# Seconds allowed for connecting, all retries included.
CONNECT_SECONDS = 10
# Seconds allowed without an answer, all retries included.
ANSWER_SECONDS = 60
LACKING = "pyarrow, which is needed for files that are elsewhere, is not installed"

# File systems that show only complete files; others need a temporary file.
OBJECT_STORES = ("s3", "gcs", "abfs")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)/?(.*)", re.DOTALL)


Result = TypeVar("Result")

# Set if a thread waits for a network in vain: the process ends without it.
abandoned = threading.Event()


def run_interruptibly(action: Callable[[], Result], seconds: float | None = None) -> Result:
    """Return the result of a network action, in a thread, to handle signals meanwhile.

    Raises what the action raises, and `TimeoutError` after `seconds`.
    """
    if seconds is None and threading.current_thread() is not threading.main_thread():
        return action()
    from concurrent.futures import Future  # only what is elsewhere needs it

    future: Future[Result] = Future()

    def act() -> None:
        try:
            future.set_result(action())
        except BaseException as fault:
            future.set_exception(fault)

    threading.Thread(target=act, daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        if future.done():
            raise
        raise TimeoutError(f"no answer within {seconds} seconds") from None
    finally:
        if not future.done():
            abandoned.set()


class DirEntry(NamedTuple):
    """A file or a folder."""

    path: str
    is_file: bool
    size: int


def is_url(path: str) -> bool:
    """Return whether a path begins with a file system's scheme."""
    return _URL.match(path) is not None


def local_path(path: str) -> str:
    """Return the path in a local URL, `file://…`; other paths unchanged."""
    parts = _URL.match(path)
    if parts is None or parts[1].lower() != "file":
        return path
    from urllib.parse import unquote

    if parts[2] not in ("", "localhost"):
        raise usage_error(f"`{path}` is on another machine", "write `file:///` and the path")
    return path_of_file_url(unquote(parts[3]))


def unreadable(path: str, fault: Exception) -> ExpressionError:
    """Return the error for a file that cannot be read."""
    return ExpressionError(
        "io", f"`{path}` cannot be read: {io_message(fault)}", hint="check the path"
    )


def io_message(fault: Exception) -> str:
    """Return the message of an error in one line."""
    if isinstance(fault, FileNotFoundError):
        return "No such file or directory"
    said = str(getattr(fault, "strerror", None) or fault).split("\n")[0].split(" (Request ID")[0]
    # the part before repeats the file's name
    return said[max(0, said.find("AWS Error")) :].rstrip(".: ")[:300]


# ---- file systems
def resolve(path: str) -> tuple[Any, str]:
    """Return a path's file system (`pyarrow.fs.FileSystem`), and the path within."""
    parts = _URL.match(path)
    if parts is None:
        return require("pyarrow.fs", "data", LACKING).LocalFileSystem(), os.path.abspath(path)
    scheme, host, rest = parts.groups()
    if scheme.lower() in ("http", "https"):
        hint = f"fetch it first: `{fetch_command(path)}`, and give the name of the file"
        raise usage_error(f"autodiff does not read `{scheme}://`", hint)
    try:
        system, base = run_interruptibly(lambda: _system(scheme.lower(), host), ANSWER_SECONDS)
    except ExpressionError:
        raise
    except ImportError as lacking:
        raise usage_error(
            f"`{scheme}://` cannot be read: {io_message(lacking)}", "install it"
        ) from None
    except Exception as fault:
        # an fsspec file system may need more than the address
        message = f"`{scheme}://{host}` cannot be reached: {io_message(fault)}"
        raise ExpressionError(
            "io", message, hint="check the address, and the credentials"
        ) from None
    return system, f"{base.rstrip('/')}/{rest}"


def get_arrow(purpose: str) -> Any:
    """Return the module pyarrow. Raises a usage error if it is not installed."""
    return require("pyarrow", "data", f"pyarrow, which is needed {purpose}, is not installed")


@lru_cache(64)
def _system(scheme: str, host: str) -> tuple[Any, str]:
    fs = require("pyarrow.fs", "data", LACKING)
    if scheme in ("s3", "s3a"):
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if region is None:
            region = "us-east-1" if endpoint else fs.resolve_s3_region(host)
        return fs.S3FileSystem(
            region=region,
            endpoint_override=endpoint,
            connect_timeout=CONNECT_SECONDS / MAX_ATTEMPTS,
            request_timeout=ANSWER_SECONDS / MAX_ATTEMPTS,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=MAX_ATTEMPTS),
            allow_delayed_open=True,
        ), host
    if scheme in ("gs", "gcs", "hdfs", "viewfs", "abfs", "abfss"):
        limit = f"?retry_limit_seconds={ANSWER_SECONDS}" if scheme in ("gs", "gcs") else ""
        system: tuple[Any, str] = fs.FileSystem.from_uri(f"{scheme}://{host}/{limit}")
        return system
    fsspec = require(
        "fsspec.core", "cluster", f"fsspec, which is needed for `{scheme}://`, is not installed"
    )
    try:
        settings = {"timeout": CONNECT_SECONDS} if scheme in ("ftp", "sftp", "ssh") else {}
        system, base = fsspec.url_to_fs(f"{scheme}://{host}/", **settings)
    except (ValueError, TypeError):  # TypeError: one that needs more than an address
        hint = "there are s3, gs, hdfs, abfs, file, and those that fsspec knows"
        raise usage_error(f"there is no file system `{scheme}://`", hint) from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), base


def open_file(path: str) -> Any:
    """Return a file for random-access reading."""
    return _ask(path, lambda system, inner: system.open_input_file(inner))


def entry(path: str) -> DirEntry:
    """Return the entry of a file. Raises `ExpressionError` if there is none."""
    info = _info(path)
    if info.type.name == "NotFound":
        raise unreadable(path, FileNotFoundError())
    return DirEntry(path, info.is_file, info.size or 0)


def is_there(path: str) -> bool:
    """Return whether a file or folder exists. Raises `ExpressionError` if unknown."""
    return bool(_info(path).type.name != "NotFound")


def _info(path: str) -> Any:
    return _ask(path, lambda system, inner: system.get_file_info(inner))


def _ask(
    path: str, action: Callable[[Any, str], Result], seconds: float | None = ANSWER_SECONDS
) -> Result:
    system, inner = resolve(path)
    try:
        return run_interruptibly(lambda: action(system, inner), seconds)
    except (OSError, ValueError) as fault:
        raise unreadable(path, fault) from None


def list_folder(folder: str, *, deep: bool = False) -> list[DirEntry]:
    """Return the entries of a folder by name; none if it does not exist."""
    from pyarrow import fs

    base = folder.rstrip("/") + "/"

    def listed(system: Any, inner: str) -> list[DirEntry]:
        start = len(inner.strip("/"))
        selector = fs.FileSelector(inner.rstrip("/") or "/", recursive=deep, allow_not_found=True)
        return [
            DirEntry(base + info.path.lstrip("/")[start:].lstrip("/"), info.is_file, info.size or 0)
            for info in system.get_file_info(selector)
        ]

    return sorted(entry for entry in _ask(folder, listed, None) if entry.path != base)


def match_files(pattern: str) -> list[str]:
    """Return the files that match `*`, `?`, `[…]` and `**`, by name."""
    import fnmatch

    steps = pattern.split("/")
    fixed = next(
        (k for k, step in enumerate(steps) if k > 2 and any(char in step for char in "*?[")),
        len(steps),
    )
    folder, rest, parts = "/".join(steps[:fixed]), steps[fixed:], ""
    for k, step in enumerate(rest, start=1):
        if step == "**":
            parts += "(?:.*/)?" if k < len(rest) else ".*"
        else:
            # a star matches within one level
            inner = (
                fnmatch.translate(step)
                .removeprefix("(?s:")
                .removesuffix(r")\Z")
                .removesuffix(r")\z")
            )
            parts += inner.replace(".*", "[^/]*") + "/" * (k < len(rest))
    wanted = re.compile(parts, re.DOTALL)
    start = len(folder.rstrip("/")) + 1
    entries = list_folder(folder, deep=len(rest) > 1 or "**" in rest)
    return [
        entry.path for entry in entries if entry.is_file and wanted.fullmatch(entry.path[start:])
    ]


def make_folder(path: str) -> None:
    """Make a folder unless it exists."""
    system, inner = resolve(path)
    if system.type_name in OBJECT_STORES:
        return  # what is in it makes it
    try:
        system.create_dir(inner.rstrip("/") or "/", recursive=True)
    except (OSError, ValueError) as fault:
        raise unwritable(path, fault) from None


def try_remove(paths: Iterable[str]) -> None:
    """Delete files, if they exist."""
    for path in paths:
        system, inner = resolve(path)
        with suppress(OSError, ValueError):
            system.delete_file(inner)


def try_remove_folder(path: str) -> None:
    """Delete a folder if it is empty, and there."""
    system, inner = resolve(path)
    with suppress(OSError, ValueError):
        if not list_folder(path):
            system.delete_dir(inner.rstrip("/"))


# ---- writing
def unwritable(path: str, fault: Exception) -> ExpressionError:
    """Return the error for a file that cannot be written."""
    if isinstance(fault, FileExistsError):
        return exists_error(path)
    # the number of an error of pyarrow's says enough
    number = getattr(fault, "errno", None)
    reason = os.strerror(number) if number else io_message(fault)
    hint = (
        "close it in other programs" if is_in_use(fault) else "check the path, and the space there"
    )
    return ExpressionError("io", f"`{path}` cannot be written: {reason}", hint=hint)


def exists_error(path: str) -> ExpressionError:
    """Return the error for a file that must not be overwritten."""
    hint = "give another name, or overwrite it with `--force`"
    return ExpressionError("io", f"`{path}` already exists", hint=hint)


def hidden_name(name: str) -> str:
    """Return a unique, hidden name for a file being written."""
    return f".{name[:100]}.{secrets.token_hex(6)}.part"


class Upload:
    """A file on another file system, visible when finished. Raises `ExpressionError` (`io`)."""

    def __init__(self, path: str, *, force: bool) -> None:
        from tempfile import SpooledTemporaryFile

        self.path = path
        self.system, self.inner = resolve(path)
        if not force and is_there(path):
            raise exists_error(path)
        self.file: IO[bytes] = SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 - `drop` closes it

    def finish(self) -> None:
        """Upload the file; its name shows complete files only."""
        folder, slash, name = self.inner.rpartition("/")
        is_atomic = self.system.type_name in OBJECT_STORES
        target = self.inner if is_atomic else f"{folder}{slash}{hidden_name(name)}"
        try:
            run_interruptibly(lambda: self._send(target))
        except (OSError, ValueError) as fault:
            if not is_atomic:
                with suppress(OSError, ValueError):
                    self.system.delete_file(target)
            raise unwritable(self.path, fault) from None

    def _send(self, target: str) -> None:
        self.file.seek(0)
        with self.system.open_output_stream(target) as stream:
            while piece := self.file.read(MAX_BYTES_IN_MEMORY // 8):
                stream.write(piece)
        if target == self.inner:
            return
        try:
            self.system.move(target, self.inner)
        except OSError:
            # HDFS does not rename over an existing file
            self.system.delete_file(self.inner)
            self.system.move(target, self.inner)

    def abandon(self) -> None:
        """Close it; unsent data are lost."""
        with suppress(OSError, ValueError):
            self.file.close()
