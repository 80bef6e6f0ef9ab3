"""The `autodiff` of an environment as a process that has started already: each command is a fork
of it.

A start takes ten times as long as most answers. For each command (`grad`, `fit`, …) one process
imports what `main` imports before it reads the arguments; forks of it run the whole of `main`, each
in the folder, with the arguments, variables and streams of its caller. Modules of other packages
that one fork has loaded are there for the next; modules of this package are not, so an import that
is missing shows as it does in a process of its own.

    ENVIRONMENT/bin/python warm_command.py SOCKET COMMAND    answers until standard input ends
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import select
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = 32
"""The bytes of a request that name its command; its arguments follow in the connection."""

CLIENT = """\
#!{python} -IS
# `socket` and `os` would take as long to import as all the rest takes
import _socket, marshal, posix, sys

request = marshal.dumps((sys.argv[1:], posix.getcwd(), posix.environ))
name = next((word for word in sys.argv[1:2] if word.isalpha() and word.isascii()), "")
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
try:
    # a closed stream has left it its place; and an interpreter reads these at its start only
    if server.fileno() < 3 or {{key: posix.environ[key] for key in posix.environ
        if key.startswith((b"PYTHON", b"LC_", b"LANG"))}} != {settings!r}:
        raise OSError
    server.connect({socket!r})
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)
    server.sendmsg([name[:{width}].encode().ljust({width})], [rights])
except OSError:
    posix.execv({command!r}, [{command!r}, *sys.argv[1:]])
server.sendall(len(request).to_bytes(8, "big") + request)
status = int.from_bytes(server.recv(8), "big")
if status & 127:
    posix.kill(posix.getpid(), status & 127)
posix._exit(status >> 8)
"""


@contextmanager
def warm(bin_folder: Path, folder: Path, variables: dict[str, str]) -> Iterator[Path]:
    """A folder with an `autodiff` that asks a process of the environment, as long as that runs.

    These variables are those of the process's start; a command that has others of Python's or of
    the language runs in a process of its own, as does each where the system has no such forks.
    """
    folder.mkdir()
    if not hasattr(os, "pidfd_open"):
        yield bin_folder
        return
    command = str(bin_folder / "autodiff")
    settings = {
        name.encode(): value.encode()
        for name, value in variables.items()
        if name.startswith(("PYTHON", "LC_", "LANG"))
    }
    client = folder / "autodiff"
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    # the name of a socket has 107 characters at most
    with tempfile.TemporaryDirectory() as short:
        place = f"{short}/socket"
        client.write_text(
            CLIENT.format(
                python=base, settings=settings, socket=place, width=NAME, command=command
            ),
            encoding="utf-8",
        )
        client.chmod(0o755)
        server = subprocess.Popen(
            [bin_folder / "python", __file__, place, command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**variables, "HOME": str(folder)},
        )
        assert server.stdin is not None and server.stdout is not None
        try:
            assert server.stdout.read(1), "the server did not start"
            yield folder
        finally:
            server.stdin.close()
            server.stdout.close()
            server.wait()


def serve(place: str) -> str:
    """Hand each request to the process of its command; returns in a process that is to run one, and
    there only: where to write what it has loaded.
    """
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(64)
    os.write(1, b"1")
    started: dict[str, socket.socket] = {}
    while True:
        if sys.stdin in select.select([sys.stdin, listening], [], [])[0]:
            for each in started.values():
                each.close()
            while started:
                os.wait()
                started.popitem()
            os._exit(0)
        asked, _ = listening.accept()
        head, streams, _, _ = socket.recv_fds(asked, NAME, 3)
        name = head.decode().strip()
        if name not in started:
            started[name], other = socket.socketpair()
            if not os.fork():
                for each in (listening, asked, *started.values()):
                    each.close()
                for stream in streams:
                    os.close(stream)
                answer(name, other, f"{place}.{name}")
                return f"{place}.{name}"
            other.close()
        socket.send_fds(started[name], [b"1"], [asked.fileno(), *streams])
        asked.close()
        for stream in streams:
            os.close(stream)


def answer(name: str, requests: socket.socket, learned: str) -> None:
    """Fork a process for each request of one command; returns in those, and there only."""
    from autodiff_cli.__main__ import _load

    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _load([name])
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready in select.select([requests, *running], [], [])[0]:
            if ready is not requests:
                process, asked = running.pop(ready)
                os.close(ready)
                asked.sendall(os.waitpid(process, 0)[1].to_bytes(8, "big"))
                asked.close()
                continue
            _, given, _, _ = socket.recv_fds(requests, 1, 4)
            if not given:
                os._exit(0)
            learn(learned)
            asked = socket.socket(fileno=given[0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads of libraries, which stay behind
                process = os.fork()
            if not process:
                for descriptor in running:
                    os.close(descriptor)
                for each in (requests, *(held for _, held in running.values())):
                    each.close()
                become(asked, given[1:])
                return
            running[os.pidfd_open(process)] = process, asked
            for stream in given[1:]:
                os.close(stream)


def learn(learned: str) -> None:
    """Load what an earlier process of the command has loaded of other packages."""
    try:
        names = Path(learned).read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return
    Path(learned).unlink()
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            # such as a module that another one makes
            continue


def become(asked: socket.socket, streams: list[int]) -> None:
    """Take the arguments, the folder, the variables and the streams of the caller."""
    with asked, asked.makefile("rb") as body:
        arguments, folder, variables = marshal.loads(body.read(int.from_bytes(body.read(8), "big")))
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(variables)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # as Python makes them at its start, when it looks at what they are
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        new = open(  # noqa: SIM115 - for the whole process
            number,
            "r" if number == 0 else "w",
            encoding=old.encoding,
            errors=old.errors,
            closefd=False,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    sys.argv[1:] = arguments


def tell(before: set[str], learned: str) -> None:
    """Write which modules of other packages this process has loaded."""
    names = [
        name
        for name in sys.modules
        if name not in before and name.partition(".")[0] not in ("autodiff_cli", "__main__")
    ]
    if names:
        new = Path(f"{learned}.{os.getpid()}")
        new.write_text("\n".join(names), encoding="utf-8")
        new.replace(learned)


if __name__ == "__main__":
    _, socket_place, sys.argv[0] = sys.argv
    del sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    taught = serve(socket_place)
    from autodiff_cli.__main__ import main

    loaded = set(sys.modules)
    code = main()
    tell(loaded, taught)
    sys.exit(code)
