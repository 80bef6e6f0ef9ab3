"""The command on a pseudo-terminal: colour, boxes, widths, the environment variables, a locale that
is not UTF-8.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from autodiff_cli.show.characters import escaped
from autodiff_cli.streams.progress import Interruption
from running import autodiff
from terminals import ESCAPE, on_terminal, rest, start

GRAD = ["grad", "d = a - b; e = a + b; d + e", "--at", "a=2,b=1"]
LONG = "a_rather_long_name"


def trimmed(text: str) -> list[str]:
    """The lines without the spaces at their ends."""
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.posix
def test_a_terminal_has_colour_and_the_same_content_as_a_pipe() -> None:
    shown = on_terminal(*GRAD)
    assert shown.code == 0
    assert ESCAPE.search(shown.out)
    assert "╭" in shown.out and "├─" in shown.out
    assert trimmed(ESCAPE.sub("", shown.out)) == trimmed(autodiff(*GRAD).out)


@pytest.mark.posix
@pytest.mark.parametrize(
    "env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}]
)
def test_colour_can_be_turned_off(env: dict[str, str]) -> None:
    shown = on_terminal(*GRAD, env=env)
    assert "\x1b" not in shown.out
    assert trimmed(shown.out) == trimmed(autodiff(*GRAD).out)
    assert "\x1b" not in on_terminal("grad", "log(x)", "--at", "x=0", env=env).out


def test_colour_can_be_forced_into_a_pipe() -> None:
    forced = autodiff(*GRAD, env={"FORCE_COLOR": "1"})
    assert ESCAPE.search(forced.out)
    assert trimmed(ESCAPE.sub("", forced.out)) == trimmed(autodiff(*GRAD).out)


@pytest.mark.posix
@pytest.mark.parametrize("width", [80, 120])
def test_the_width_is_kept(width: int) -> None:
    formula = f"sin({LONG})*{LONG} + exp({LONG}/100)*tanh(other_{LONG})"
    args = ["grad", formula, "--at", f"{LONG}=1.23456789,other_{LONG}=2", "--digits", "17", "--all"]
    shown = ESCAPE.sub("", on_terminal(*args, width=width).out)
    assert max(map(len, trimmed(shown))) <= width
    assert LONG in shown
    assert len(trimmed(shown)) > 10
    piped = autodiff(*args).out
    assert max(map(len, trimmed(piped))) > 80, "what is piped is never cut"


@pytest.mark.posix
def test_columns_is_honoured() -> None:
    args = ["functions", "clamp"]
    assert (
        max(map(len, trimmed(ESCAPE.sub("", on_terminal(*args, env={"COLUMNS": "50"}).out)))) <= 50
    )
    assert max(map(len, trimmed(ESCAPE.sub("", on_terminal(*args, width=120).out)))) > 50


@pytest.mark.posix
@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "C"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_ascii_lines_where_the_locale_is_not_utf8(env: dict[str, str]) -> None:
    shown = on_terminal("grad", "log(x) if x > 0 else 2*x", "--at", "x=-1", env=env)
    assert shown.code == 0
    assert shown.out.isascii()
    assert "|- " in shown.out and "`- " in shown.out and "+--" in shown.out


def test_a_locale_that_lacks_a_letter_gets_escapes() -> None:
    shown = autodiff("grad", "λ**2 + log(λ - 1)", "--at", "λ=3", encoding="latin-1")
    assert shown.code == 0
    assert "\\u03bb" in shown.out
    wrong = autodiff("grad", "λ**2 + log(λ - 1)", "--at", "λ=0", encoding="latin-1")
    _, text, carets, *_ = wrong.err.splitlines()
    assert carets.index("^") == text.index("log")
    record = autodiff("grad", "λ**2", "--at", "λ=3", "--json", encoding="latin-1")
    assert '"expr": "\\u03bb**2"' in record.out


def test_signs_that_a_locale_lacks_are_as_they_are_typed() -> None:
    shown = autodiff("propagate", "V/I", "--at", "V=5.00(3) V,I=0.100(2) A", encoding="ascii").out
    assert "V/I = (50.0 +- 2.0) ohm (k = 1.96)" in shown and "= 1.96*u" in shown
    assert "\\" not in shown
    shown = autodiff("plot", "2*x**12 - sqrt(x)", "--at", "x=1", encoding="ascii").out
    assert "f(x) = 2x^12 - sqrt(x)" in shown and "f'(x) = 24x^11 - 1/(2sqrt(x))" in shown
    assert escaped("m·s⁻²", "ascii") == "m*s^-2"


@pytest.mark.posix
def test_errors_have_colour() -> None:
    shown = on_terminal("grad", "log(x)", "--at", "x=0")
    assert shown.code == 4
    assert "\x1b[1;31merror:\x1b[0m" in shown.out


@pytest.mark.posix
def test_markup_and_escape_sequences_are_shown_as_typed() -> None:
    shown = on_terminal("grad", "x + [bold]y :smile: \x1b[31mz", "--at", "x=1")
    assert "[bold]y :smile: \\x1b[31mz" in ESCAPE.sub("", shown.out)


@pytest.mark.posix
def test_without_an_expression_there_is_a_short_help_and_no_hang() -> None:
    shown = on_terminal("grad")
    assert shown.code == 2
    assert "autodiff grad " in shown.out
    assert len(shown.out.splitlines()) < 8


@pytest.mark.posix
def test_an_answer_comes_before_the_next_line_is_typed() -> None:
    process, master = start("grad", "-", "--format", "plain")
    os.write(master, b"x**2\tx=3\n")
    seen = b""
    while b"9.0 x=6.0" not in seen:
        seen += os.read(master, 65536)
    os.write(master, b"x**3\tx=2\n\x04")
    assert "8.0 x=12.0" in rest(process, master).out
    assert process.returncode == 0


@pytest.mark.posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_stream_and_what_is_finished_is_written(name: str, code: int) -> None:
    process, master = start("grad", "-", "--json")
    os.write(master, b"x**2\tx=3\n")
    seen = b""
    while b'"value": 9.0' not in seen:
        seen += os.read(master, 65536)
    time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    shown = rest(process, master)
    assert shown.code == code
    assert "Traceback" not in shown.out
    assert shown.out.rstrip().endswith("]"), "the array is closed"


@pytest.mark.posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_descent_with_the_rows_it_has(name: str, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "autodiff_cli", "descend", "x**2", "--at", "x=1", "--rate", "1e-9",
         "--steps", "10000000", "--work", "200", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        begun = process.stdout.read(100)
        process.send_signal(getattr(signal, name))
        rest, told = process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in told
    assert json.loads(begun + rest)[0]["step"] == 0, "the array is closed"
    assert b"interrupted after" in told


@pytest.mark.posix
@pytest.mark.parametrize(
    "command", [["grad", "-"], ["descend", "-", "--rate", "0.1", "--steps", "3"]]
)
def test_a_signal_that_is_ignored_stays_ignored(command: list[str]) -> None:
    with subprocess.Popen(
        ["sh", "-c", "trap '' INT TERM HUP; exec \"$@\"", "sh", sys.executable, "-m", "autodiff_cli", *command,
         "--format", "plain"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        for _ in range(2):
            process.stdin.write(b"x**2\tx=3\n")
            assert process.stdout.read(1)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGHUP)
        process.stdin.close()
        assert process.stdout.read().count(b"\n") >= 1
        assert process.wait() == 0


@pytest.mark.posix
def test_ignored_signals_stay_ignored_in_long_work() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGINT)
        assert not interruption.asked
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.posix
def test_a_narrow_list_of_functions_has_about_a_line_for_each() -> None:
    listed = json.loads(autodiff("functions", "--json").out)
    derivatives = sum(max(1, len(each["derivatives"])) for each in listed)
    for width in (60, 80, 100, 120):
        lines = on_terminal("functions", width=width).out.splitlines()
        # a frame for each group, and what does not fit into one line
        assert len(lines) <= derivatives + 6 * len({each["group"] for each in listed}) + 20, width
        assert any("relu(x)" in line and "1 if x > 0 else 0" in line for line in map(str, lines))
