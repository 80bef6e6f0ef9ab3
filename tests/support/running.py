"""The `autodiff` command inside the test process: what it writes, and its exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from autodiff_cli.__main__ import run as run_command
from autodiff_cli.cli.declarations import Option

SETTINGS = {"COLUMNS": "80", "LANG": "C.UTF-8"}
"""The environment variables that output depends on; all others of their kind are unset."""

UNSET = ("LC_ALL", "LC_CTYPE", "NO_COLOR", "FORCE_COLOR", "TERM")


class Result(NamedTuple):
    """What a command wrote, and its exit code."""

    out: str
    err: str
    code: int


def autodiff(
    *args: str,
    stdin: str | bytes = b"",
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    encoding: str = "utf-8",
) -> Result:
    """The result of `autodiff` with these arguments, in this process."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(data), encoding=encoding),
        "stdout": io.TextIOWrapper(io.BytesIO(), encoding=encoding),
        "stderr": io.TextIOWrapper(io.BytesIO(), encoding=encoding),
    }
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    with ExitStack() as stack:
        stack.enter_context(
            patch.dict(os.environ, {**environment, **SETTINGS, **(env or {})}, clear=True)
        )
        for name, stream in streams.items():
            stack.enter_context(patch.object(sys, name, stream))
        if folder is not None:
            stack.enter_context(chdir(folder))
        code = run_command(args)
    return Result(_written(streams["stdout"]), _written(streams["stderr"]), code)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)


def lines(programs: Sequence[str]) -> str:
    """Programs as a stream."""
    return "".join(f"{program}\n" for program in programs)


def a_value(option: Option) -> str:
    """A value that an option takes."""
    low = option.range.partition(":")[0] or "3"
    return option.choices[0] if option.choices else "0.5" if low.startswith(">") else low
