"""What differs on Windows, with its answers faked and the functions that it lacks taken away."""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path
from types import SimpleNamespace

import pytest

import autodiff_cli
import fake_windows
from autodiff_cli import __main__ as command
from autodiff_cli import operating_system
from autodiff_cli.capabilities.session import repl
from autodiff_cli.capabilities.session.session_lines import Lines
from autodiff_cli.cli import help_page, shell_scripts
from autodiff_cli.cli.declarations import COMMANDS, declared
from autodiff_cli.cli.man_page import plain_man_page
from autodiff_cli.data import columns
from autodiff_cli.errors import ExpressionError
from autodiff_cli.extras import install_command
from autodiff_cli.questions.decoding import kind_of
from autodiff_cli.show.characters import Terminal, terminal_of
from autodiff_cli.streams import files
from autodiff_cli.streams.filesystems import local_path, resolve, unwritable
from running import SETTINGS, UNSET, autodiff


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform="win32"))


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform="linux"))


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


def test_a_windows_terminal_without_term_is_not_dumb(
    windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM", raising=False)
    assert not operating_system.is_dumb_terminal()
    monkeypatch.setenv("TERM", "dumb")
    assert operating_system.is_dumb_terminal()


def test_elsewhere_a_terminal_without_term_is_dumb(
    elsewhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM", raising=False)
    assert operating_system.is_dumb_terminal()
    monkeypatch.setenv("TERM", "xterm")
    assert not operating_system.is_dumb_terminal()


def test_a_file_url_with_a_drive(windows: None) -> None:
    assert local_path("file:///C:/my%20data/a.csv") == "C:/my data/a.csv"
    assert local_path("file:///c|/a.csv") == "c:/a.csv"
    assert local_path("file:///data/a.csv") == "/data/a.csv"


def test_elsewhere_a_drive_is_a_folder(elsewhere: None) -> None:
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


def test_a_name_that_no_file_can_have_is_no_closed_pipe(windows: None) -> None:
    assert operating_system.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument"))
    assert not operating_system.is_closed_pipe(OSError(errno.EINVAL, "Invalid argument", "a?.csv"))


class _Kernel:
    """The console functions of Windows: handle 1 is a console, of the given age."""

    def __init__(self, *, is_old: bool = False) -> None:
        self.mode, self.is_old = 3, is_old

    def GetConsoleMode(self, handle: ctypes.c_void_p, mode: object) -> int:
        if handle.value != 1:
            return 0
        mode._obj.value = self.mode  # type: ignore[attr-defined]
        return 1

    def SetConsoleMode(self, handle: ctypes.c_void_p, mode: int) -> int:
        if self.is_old:
            return 0
        self.mode = mode
        return 1


class _Device(io.TextIOWrapper):
    """A stream that the C library takes for a terminal."""

    def __init__(self, number: int) -> None:
        super().__init__(io.BytesIO(), encoding="cp1252")
        self.number = number

    def fileno(self) -> int:
        return self.number

    def isatty(self) -> bool:
        return True

    def readable(self) -> bool:
        return False


@pytest.fixture
def console(windows: None, monkeypatch: pytest.MonkeyPatch) -> _Kernel:
    kernel = _Kernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda number: number))
    # what is set here is undone, and what the program sets then with it
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.delenv("NO_COLOR")
    return kernel


def test_a_classic_console_obeys_escapes(console: _Kernel) -> None:
    stream = _Device(1)
    operating_system.prepare_streams([stream, None])
    assert console.mode == 7 and stream.isatty() and stream.encoding == "utf-8"
    assert "NO_COLOR" not in os.environ


def test_a_console_that_knows_no_escapes_gets_none(console: _Kernel) -> None:
    console.is_old = True
    operating_system.prepare_streams([_Device(1)])
    assert os.environ["NO_COLOR"] == "1"


def test_the_device_of_nothing_is_no_terminal(console: _Kernel) -> None:
    stream = _Device(2)
    operating_system.prepare_streams([stream])
    assert not stream.isatty() and console.mode == 3 and "NO_COLOR" not in os.environ


def test_an_encoding_that_is_asked_for_is_kept(
    console: _Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp437")
    stream = _Device(2)
    operating_system.prepare_streams([stream])
    assert stream.encoding == "cp1252"


def test_elsewhere_no_console_is_asked(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "windll", None, raising=False)
    stream = _Device(1)
    operating_system.prepare_streams([stream])
    assert stream.isatty() and stream.encoding == "cp1252"


def test_hints_are_those_of_the_system(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert operating_system.temporary_folder_variable() == "TEMP"
    assert operating_system.end_of_session() == "`:quit`"
    assert install_command("data").endswith('[data]"')
    with pytest.raises(Exception, match="does not read") as caught:
        resolve("https://example.org/a.csv")
    assert "`curl.exe -O https://example.org/a.csv`" in caught.value.hint  # type: ignore[attr-defined]
    folder = os.path.abspath("local")
    monkeypatch.setenv("LOCALAPPDATA", folder)
    assert operating_system.state_folder() == Path(folder)


def test_quotes_are_those_of_the_shell(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["autodiff", "grad", "f'(x)*2", "--at", "x=1,y=2", "@p.json", "C:\\a.csv", '5"']
    unix = """autodiff grad 'f'"'"'(x)*2' --at x=1,y=2 @p.json 'C:\\a.csv' '5"'"""
    assert operating_system.command_line(words) == unix
    assert operating_system.split_words(unix) == words
    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform="win32"))
    typed = """autodiff grad "f'(x)*2" --at x=1,y=2 "@p.json" C:\\a.csv "5\\"\""""
    assert operating_system.command_line(words) == typed
    # the C library of Windows takes a command line apart so
    assert subprocess.list2cmdline(words[-1:]) == '5\\"' and typed.endswith(' "5\\""')


@pytest.mark.parametrize(
    "word", ["C:\\my data\\ x\\", 'a 5"', 'a 5\\"', 'a \\\\"\\', "x y", "a\\\\b c", "a b\\\\"]
)
def test_the_program_gets_what_was_quoted(word: str, windows: None) -> None:
    """A backslash before a quote is doubled, as the C library of Windows takes it, and no other."""
    # the library quotes what has a blank, and only that
    assert " " in word and operating_system.quoted(word) == subprocess.list2cmdline([word])


def test_a_backslash_stays_in_a_path(windows: None) -> None:
    assert operating_system.split_words(r"grad x --data C:\new\a.csv 'a b'") == [
        "grad", "x", "--data", r"C:\new\a.csv", "a b",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="quotation"):
        operating_system.split_words("'a")
    assert operating_system.is_folder_name("a\\") and operating_system.is_folder_name("a/")


def test_elsewhere_a_backslash_is_part_of_a_name(elsewhere: None) -> None:
    assert operating_system.split_words(r"a\ b # c") == ["a b", "#", "c"]
    assert not operating_system.is_folder_name("a\\") and operating_system.is_folder_name("a/")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["log(x-1)/(x-1)", "--at", "x=1"], '`autodiff limit "log(x-1)/(x-1)" --at x=1`'),
        (["tanh"], 'put a formula in quotes: `autodiff "tanh(x)"`'),
    ],
)
def test_commands_in_hints_can_be_pasted(
    words: list[str], hint: str, windows: None, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.run(words) in (2, 4)
    assert hint in " ".join(capfd.readouterr().err.split())


def test_hints_name_no_tool_that_windows_lacks(windows: None) -> None:
    for begin in (b"\x1f\x8b", b"BZh", b"\xff\xfe"):
        _, hint = kind_of(begin) or ("", "")
        assert hint and "gzip" not in hint and "bzip2" not in hint and "iconv" not in hint


def test_a_file_that_is_open_elsewhere_is_to_be_closed(windows: None) -> None:
    refusal = unwritable("a.csv", PermissionError(13, "Permission denied"))
    assert refusal.hint == "close it in other programs"


@pytest.mark.parametrize("term", [None, "dumb"])
def test_a_session_is_edited_where_a_terminal_can_move_its_cursor(
    term: str | None, windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `TERM` it can on Windows: the libraries for it are asked."""
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(repl, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr(repl, "_toolkit", lambda *_: "edited")
    monkeypatch.setattr(repl, "_plain", lambda *_: "plain")
    assert repl.source(Lines(), lambda _: None) == ("edited" if term is None else "plain", True)


def test_the_welcome_of_a_session_names_what_ends_it_there(windows: None) -> None:
    assert "`:quit` ends" in repl.welcome() and "Ctrl-D" not in repl.welcome()


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_long_page_is_printed_where_there_is_no_pager(
    platform: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Windows has no `less`; a terminal elsewhere that cannot move its cursor is given none."""
    asked = []

    def missing(words: list[str], **_: object) -> None:
        asked.append(words)
        raise FileNotFoundError(2, "no such file")

    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform=platform))
    monkeypatch.setattr(help_page.subprocess, "Popen", missing)
    for name in ("TERM", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    help_page.write_paged("a line\n" * 1000, Terminal(is_terminal=True))
    assert capsys.readouterr().out == "a line\n" * 1000
    assert asked == ([["less"]] if platform == "win32" else [])


def test_a_full_disk_names_the_folder_of_temporary_files(
    windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with columns._ColumnBuffer(skip=False) as held:
        held._held["x"] = array("d", [1.0])
        with pytest.raises(ExpressionError) as caught:
            held._write_aside()
    assert "`TEMP`" in caught.value.hint


def test_a_console_of_windows_has_all_characters_in_any_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The language of a shell of Unix there says nothing about the console, which is in UTF-8."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setenv("LC_ALL", "C")
    for platform, has_all in (("win32", True), ("linux", False)):
        monkeypatch.setattr(sys, "platform", platform)
        assert terminal_of(stream).unicode is has_all


@pytest.mark.posix
def test_a_device_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "NUL"
    os.mkfifo(device)
    monkeypatch.setattr(os.path, "realpath", lambda path: r"\\.\nul")
    files.check(str(device), force=False)


@pytest.mark.posix
def test_paths_with_a_drive_and_backslashes_are_read_as_they_are(tmp_path: Path) -> None:
    """Such names are those of files here, too."""
    (tmp_path / r"C:\x.csv").write_text("x,y\n3,2\n")
    (tmp_path / r"C:\p.json").write_text('{"x": 3}')
    rows = autodiff("grad", "x*y", "--points", r"C:\x.csv", "--format", "plain", folder=tmp_path)
    assert rows.out == "6.0 x=2.0 y=3.0\n"
    point = autodiff("grad", "x*y", "--at", r"@C:\p.json,y=2", "--format", "plain", folder=tmp_path)
    assert point.out == "6.0 x=2.0 y=3.0\n"


@pytest.mark.posix
def test_scripts_of_shells_have_no_carriage_returns(
    windows: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    startup = tmp_path / ".bashrc"
    startup.write_bytes(b"alias a=b\r\n")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(shell_scripts, "_running_shell", lambda: "bash")
    monkeypatch.setattr(io, "open", fake_windows.opened)
    shell_scripts.install_script()
    assert b"\r" not in (tmp_path / ".bash_completions" / "autodiff.sh").read_bytes()
    assert (
        startup.read_bytes().startswith(b"alias a=b\r\nsource '/")
        and startup.read_bytes().count(b"\r") == 1
    )


def test_a_terminal_without_a_reader_of_man_pages_shows_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = plain_man_page(80)
    assert not re.search(r"^\.[A-Z]|\\f[BIR]|\\\(|\\-", page, re.MULTILINE)
    for option in (option for name in COMMANDS for option in declared(name).options):
        assert option in page
    assert "       --over RANGES\n              The range of the value" in page
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", written)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PAGER", "")
    assert command.run(["help", "--man"]) == 0
    assert written.getvalue().startswith("NAME\n       autodiff - the exact gradient")


DATA = "x,y\n0,1.1\n1,2.9\n2,5.2\n3,6.9\n"
COMMAND_LINES: list[tuple[list[str], str]] = [
    (["grad", "x*y", "--at", "x=3,y=2"], ""),
    (["grad", "µ*x**2", "--at", "µ=2,x=3", "--format", "csv"], ""),
    (["grad"], "x**2\tx=3\nsin x\tx=1\n"),
    (["diff", "x**2*exp(-x/2)"], ""),
    (["export", "β*x**2", "--to", "python"], ""),
    (["export", "β*x**2", "--to", "python", "-o", "f.py"], ""),
    (["export", "β*x**3", "--to", "python", "-o", "f.py", "--force"], ""),
    (["export", "β*x**2", "--to", "python", "-o", "f.py"], ""),
    (["check", "x*exp(-x**2/2)", "--at", "x=1.5"], ""),
    (["solve", "x*exp(x) = 1", "--at", "x=1"], ""),
    (["integrate", "x**2", "--between", "x=0:1"], ""),
    (["graph", "x**2", "-o", "g.svg"], ""),
    (["page", "x**2", "--at", "x=3", "-o", "x.html"], ""),
    (["fit", "y = a + b*x", "--data", "data.csv"], ""),
    (["propagate", "m*g", "--at", "m=2.50(2),g=9.81"], ""),
    (["grad", "x*y", "--points", "data.csv", "--wide", "-o", "o.csv"], ""),
    (["grad", "x*y", "--points", "data.csv", "--format", "jsonl"], ""),
    (["minimize", "(x-1)**2+x**4", "--at", "x=0", "--format", "plain"], ""),
    (["functions", "tanh"], ""),
    (["help", "page"], ""),
    (["help", "--man"], ""),
    (["repl"], "f(x) = x**2\nf(3)\nd/dx f\n"),
    (["grad", "x", "--points", "missing.csv"], ""),
    (["grad", "x*y", "--at", "x=1"], ""),
    (["serve"], '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'),
]


@pytest.mark.posix
def test_every_module_is_imported_and_commands_answer_alike_without_unix(tmp_path: Path) -> None:
    """All answers, and the files written, are byte by byte those of this system."""
    for name in fake_windows.FIRST.split():
        pytest.importorskip(name)
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "data.csv").write_text(DATA)
    script = Path(fake_windows.__file__)
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    ran = subprocess.run(
        [sys.executable, script], input=json.dumps(COMMAND_LINES), capture_output=True, text=True,
        check=True, cwd=there, env={**kept, **SETTINGS, "PYTHONPATH": str(script.parent)},
    )  # fmt: skip
    imported, answers = json.loads(ran.stdout)
    assert len(imported) > 300
    for (words, stdin), (code, out, err) in zip(COMMAND_LINES, answers, strict=True):
        expected = autodiff(*words, stdin=stdin, folder=here)
        assert (code, out, err) == (expected.code, expected.out, expected.err), words
    for path in here.iterdir():
        assert (there / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_an_answer_can_be_printed_in_the_encoding_of_the_output(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    monkeypatch.setattr(sys, "stdout", out)
    answers = [
        autodiff_cli.gradient("α*y", {"α": 1, "y": 2}), autodiff_cli.trace("x**2", {"x": 3}),
        autodiff_cli.plot("x**2", range={"x": (0, 1)}),
        autodiff_cli.propagate("x*y", {"x": "1±0.1", "y": 2}),
    ]  # fmt: skip
    for answer in answers:
        print(answer)
    out.flush()
    printed = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert ("╭" in printed) is (encoding == "utf-8")
    assert ("| \\u03b1   |     1 |" in printed) is (encoding != "utf-8")


def test_a_folder_is_no_file_on_any_system(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = PermissionError(13, "Permission denied")
    assert operating_system.reason_of(denied, str(tmp_path)) == "Is a directory"
    assert operating_system.reason_of(denied, str(tmp_path / "a.csv")) == "Permission denied"
    monkeypatch.setattr(operating_system, "sys", SimpleNamespace(platform="linux"))
    assert operating_system.reason_of(denied, str(tmp_path)) == "Permission denied"
