"""The process in which SymPy integrates, started once: each question goes to a fork of it.

A process of its own takes a third of a second to start and to import SymPy, most questions a tenth
of that. The script is the same from its `main` on, bounds of time and memory included; commands in
processes of their own start SymPy's as ever.

    python -I warm_sympy.py SCRIPT FOLDER OWN    answers on each socket that standard input sends
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch


@contextmanager
def warm_sympy() -> Iterator[None]:
    """Have SymPy asked in forks of one process, which starts at the first question."""
    from autodiff_cli.capabilities.integrals import antiderivatives

    started: dict[tuple[str, ...], tuple[subprocess.Popen[bytes], socket.socket]] = {}
    starting = Lock()  # threads ask too

    def run(
        command: list[str], *, input: str, timeout: float, **others: Any
    ) -> SimpleNamespace | subprocess.CompletedProcess[str]:
        python, isolated, script, *folders = command
        assert (python, isolated, others) == (sys.executable, "-I", OTHERS)
        place = (script, *folders)
        with starting:
            if place not in started:
                ours, theirs = socket.socketpair()
                with theirs:
                    server = [python, isolated, __file__, *place]
                    process = subprocess.Popen(server, stdin=theirs, stderr=subprocess.DEVNULL)
                started[place] = process, ours
        ours, theirs = socket.socketpair()
        with ours, ours.makefile("rw", encoding="utf-8") as answer:
            with theirs:
                socket.send_fds(started[place][1], [b"1"], [theirs.fileno()])
            ours.settimeout(timeout)
            try:
                answer.write(input)
                answer.flush()
                ours.shutdown(socket.SHUT_WR)
                return SimpleNamespace(stdout=answer.read())
            except TimeoutError:
                raise subprocess.TimeoutExpired(command, timeout) from None

    warm = SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    with patch.object(antiderivatives, "subprocess", warm):
        try:
            yield
        finally:
            for process, ours in started.values():
                ours.close()
                process.wait()


OTHERS = {"check": False, "capture_output": True, "text": True, "encoding": "utf-8"}
"""What the program asks of a process besides."""


def serve(script: str) -> Any:
    """Fork for each question; returns in those forks only: the module that answers."""
    import sympy.integrals.manualintegrate  # noqa: F401 - for the forks

    import autodiff_cli.engine.table.primitives  # noqa: F401

    spec = importlib.util.spec_from_file_location("sympy_process", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    questions = socket.socket(fileno=os.dup(0))
    running: set[int] = set()
    while True:
        _, given, _, _ = socket.recv_fds(questions, 1, 1)
        if not given:
            for process in running:
                os.kill(process, signal.SIGKILL)
        while running and (ended := os.waitpid(-1, os.WNOHANG if given else 0)[0]):
            running.remove(ended)
        if not given:
            os._exit(0)
        process = os.fork()
        if not process:
            break
        running.add(process)
        os.close(given[0])
    questions.close()
    for number in (0, 1):
        os.dup2(given[0], number)
    os.close(given[0])
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    return module


if __name__ == "__main__":
    _, script_place, *sys.argv[1:] = sys.argv
    sys.path += sys.argv[1:3]
    serve(script_place).main()
