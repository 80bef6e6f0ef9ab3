"""What differs on Windows, with its answers faked and the functions that it lacks taken away."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autodiff_cli import __main__ as command
from autodiff_cli import operating_system
from autodiff_cli.extras import install_command
from autodiff_cli.streams import files
from autodiff_cli.streams.filesystems import local_path, resolve


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform="win32"))


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("force", [True, False])
def test_a_file_is_closed_before_it_is_renamed(
    force: bool, has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to rename, link or delete a file that is open."""
    target = tmp_path / "x.txt"
    if force:
        target.write_text("before")
    file = files.begin_file(str(target), force=force)
    calls = []

    def closed_first(name: str) -> None:
        action = getattr(os, name)

        def act(*args: object) -> None:
            assert file.file.closed, name
            calls.append(name)
            action(*args)

        monkeypatch.setattr(os, name, act)

    closed_first("replace")
    if has_links:
        closed_first("link")
    else:
        monkeypatch.delattr(os, "link")
    file.file.write(b"after")
    file.finish()
    file.abandon()
    assert calls == ["link" if has_links and not force else "replace"]
    assert target.read_text() == "after" and list(tmp_path.iterdir()) == [target]


def test_a_windows_terminal_without_term_is_not_dumb(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERM", raising=False)
    assert not operating_system.is_dumb_terminal()
    monkeypatch.setenv("TERM", "dumb")
    assert operating_system.is_dumb_terminal()


def test_elsewhere_a_terminal_without_term_is_dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERM", raising=False)
    assert operating_system.is_dumb_terminal()
    monkeypatch.setenv("TERM", "xterm")
    assert not operating_system.is_dumb_terminal()


def test_a_file_url_with_a_drive(windows: None) -> None:
    assert local_path("file:///C:/my%20data/a.csv") == "C:/my data/a.csv"
    assert local_path("file:///c|/a.csv") == "c:/a.csv"
    assert local_path("file:///data/a.csv") == "/data/a.csv"


def test_elsewhere_a_drive_is_a_folder() -> None:
    assert local_path("file:///C:/a.csv") == "/C:/a.csv"


class _ClosedPipe(io.StringIO):
    """What writing to a pipe without a reader raises on Windows."""

    def write(self, text: str) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


def test_a_closed_pipe_of_windows_ends_quietly(
    windows: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _ClosedPipe())
    assert command.run(["grad", "x**2", "--at", "x=3", "--format", "plain"]) == 0
    assert capfd.readouterr().err == ""


def test_elsewhere_an_invalid_argument_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _ClosedPipe())
    assert command.run(["grad", "x**2", "--at", "x=3", "--format", "plain"]) == 5
    assert "cannot write: Invalid argument" in capfd.readouterr().err


@pytest.mark.parametrize("form", ["csv", "jsonl", "plain", "table"])
def test_lines_in_a_pipe_end_alike_everywhere(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    # what Python makes of standard output on Windows
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="utf-8", newline="\r\n"))
    assert command.run(["grad", "x*y", "--at", "x=3,y=2", "--format", form]) == 0
    assert b"\n" in written.getvalue() and b"\r" not in written.getvalue()


class _Kernel:
    """The console functions of Windows: standard output is a console, standard error a pipe."""

    def __init__(self) -> None:
        self.modes = {operating_system.STD_OUTPUT_HANDLE: 3}

    def GetStdHandle(self, number: int) -> int:
        return number

    def GetConsoleMode(self, handle: int, mode: object) -> int:
        if handle not in self.modes:
            return 0
        mode._obj.value = self.modes[handle]  # type: ignore[attr-defined]
        return 1

    def SetConsoleMode(self, handle: int, mode: int) -> int:
        self.modes[handle] = mode
        return 1


def test_a_classic_console_obeys_escapes(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _Kernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    operating_system.enable_escape_sequences()
    assert kernel.modes == {operating_system.STD_OUTPUT_HANDLE: 7}


def test_elsewhere_no_console_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "windll", None, raising=False)
    operating_system.enable_escape_sequences()


def test_hints_are_those_of_the_system(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert operating_system.temporary_folder_variable() == "TEMP"
    assert operating_system.end_of_input() == "Ctrl-Z and Enter"
    assert install_command("data").endswith('[data]"')
    with pytest.raises(Exception, match="does not read") as caught:
        resolve("https://example.org/a.csv")
    assert "`curl.exe -O https://example.org/a.csv`" in caught.value.hint  # type: ignore[attr-defined]
    folder = os.path.abspath("local")
    monkeypatch.setenv("LOCALAPPDATA", folder)
    assert operating_system.state_folder() == Path(folder)
