"""Streams as bytes: interactive answers, odd bytes, long lines, closed pipes, memory that does not
grow.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli.capability import resolve
from autodiff_cli.cli.declarations import COMMANDS, declared
from autodiff_cli.cli.runner import MAX_DRAWN_WARNINGS
from autodiff_cli.questions import decoding
from autodiff_cli.show.schema import PICTURES
from autodiff_cli.streams.progress import Progress
from running import autodiff, lines

COMMAND = [sys.executable, "-m", "autodiff_cli", "grad", "-"]
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""The environment without what would hide a flush that is missing."""


def records(data: bytes, *args: str) -> tuple[list[dict[str, Any]], int]:
    """The records that a stream of these bytes gives, and the exit code."""
    result = autodiff("grad", "-", "--format", "jsonl", *args, stdin=data)
    assert result.err == ""
    return [
        json.loads(line, parse_constant=pytest.fail) for line in result.out.splitlines()
    ], result.code


def test_line_ends_and_a_byte_order_mark() -> None:
    found, code = records(b"\xef\xbb\xbfx**2\tx=1\r\n\r\n# x\r\nx**3\tx=2\r\nx\tx=3")
    assert code == 0
    assert [(r["line"], r["expr"], r["value"]) for r in found] == [
        (1, "x**2", 1.0),
        (4, "x**3", 8.0),
        (5, "x", 3.0),
    ]


def test_a_program_file_with_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"\xef\xbb\xbfa = x**2\r\na + log(x)\r\n")
    result = autodiff("grad", "--file", str(path), "--at", "x=-1", "--json")
    record = json.loads(result.out)
    assert record["expr"] == "a = x**2\na + log(x)\n"
    assert record["expr"][record["error"]["start"] : record["error"]["end"]] == "log(x)"


@pytest.mark.parametrize(
    ("line", "start"),
    [
        (b"x + \xff", 4),
        (b"\xce\xbb + \xe9", 4),
        (b"x\0", 1),
        (b"\0", 0),
        (b"\xed\xa0\x80", 0),
        (b"\xc0\x80", 0),
    ],
)
def test_bytes_that_are_no_text_are_an_error_of_their_line(line: bytes, start: int) -> None:
    found, code = records(b"x\tx=1\n" + line + b"\nx\tx=2\n")
    assert code == 3
    assert [r.get("value") for r in found] == [1.0, None, 2.0]
    error = found[1]["error"]
    assert (found[1]["line"], error["kind"], error["start"], error["end"]) == (
        2,
        "syntax",
        start,
        start + 1,
    )
    assert error["hint"]


def test_bytes_that_are_no_text_in_a_point_and_in_a_request() -> None:
    found, code = records(
        b'x\tx=\xff\n{"expr": "x\xff"}\n{"expr": "\\u0000"}\n{"expr": "x\\ud800"}\n'
    )
    assert code == 3
    assert [r["error"]["kind"] for r in found] == ["syntax", "request", "syntax", "syntax"]
    assert found[0]["error"]["start"] is None, "the place is in the point, not in the program"


def test_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_BYTES", 100)
    sum_of = "+".join(["x"] * 50)
    found, code = records(f"{sum_of}\n{'x' * 1000}\n{sum_of}\n".encode(), "--at", "x=1")
    assert code == 4
    assert [r.get("value") for r in found] == [50.0, None, 50.0]
    assert (found[1]["line"], found[1]["expr"], found[1]["error"]["kind"]) == (2, None, "limit")


def test_the_exit_code_is_the_highest_met() -> None:
    for programs, code in [
        (["1"], 0),
        (["1", "y"], 2),
        (["1", "y", "1+"], 3),
        (["1+", "1/0", "y"], 4),
        ([], 0),
    ]:
        assert autodiff("grad", "-", stdin=lines(programs)).code == code


def test_identifiers_come_back_as_they_were() -> None:
    idents = [0, -1.5, 1e300, "", "ü\n\x00", None, True, [1, {"a": [None]}], {"k": "v"}, 10**30]
    text = lines([json.dumps({"id": ident, "expr": "x", "at": {"x": 1}}) for ident in idents])
    found, code = records(text.encode())
    assert code == 0
    assert [r["id"] for r in found] == idents


@pytest.mark.parametrize(
    "line",
    [
        '{"expr": "x", "id": NaN}',
        '{"expr": "x", "id": 1e999}',
        '{"id": ' + "[" * 100_000,
        '{"id": ' + "9" * 5000 + "}",
    ],
    ids=["nan", "infinite", "nested", "digits"],
)
def test_what_is_not_strict_json_is_refused(line: str) -> None:
    [record], code = records(line.encode())
    assert code == 2
    assert record["error"]["kind"] == "request"


def test_a_key_twice_has_to_have_one_value() -> None:
    found, code = records(
        b'{"expr": "x", "at": {"x": 1, "x": 1}}\n{"expr": "x", "at": {"x": 1, "x": 2}}\n'
    )
    assert code == 2
    assert found[0]["value"] == 1.0
    assert (
        found[1]["error"]["kind"] == "request"
        and "`x` is given twice" in found[1]["error"]["message"]
    )


def test_floats_round_trip() -> None:
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.123456789]
    text = lines([json.dumps({"expr": "x", "at": {"x": value}}) for value in values])
    found, _ = records(text.encode())
    assert [r["point"]["x"].hex() for r in found] == [value.hex() for value in values]


def test_the_same_input_gives_the_same_bytes() -> None:
    text = lines(
        ["x*y + log(x)\tx=2,y=3", "x**y\tx=0,y=0", "abs(x)\tx=0", "sin(x", "z = x; z*z\tx=1"]
    )
    assert autodiff("grad", "-", "--all", stdin=text) == autodiff("grad", "-", "--all", stdin=text)


def test_each_answer_comes_before_the_next_line_goes_in() -> None:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=BUFFERED
    ) as process:
        assert process.stdin and process.stdout
        for x in range(1, 9):
            process.stdin.write(b"x**2\tx=%d\n" % x)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["value"] == x * x
        process.stdin.close()
        assert process.wait() == 0


def test_answers_and_errors_come_in_the_order_of_their_lines() -> None:
    data = b"x\tx=1\nlog(x)\tx=-1\nx\tx=2\nabs(x)\tx=0\nx\tx=3\n"
    done = subprocess.run(
        [*COMMAND, "--format", "plain"],
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=BUFFERED,
    )
    told = [line for line in done.stdout.decode().splitlines() if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in told] == [
        "1.0 x=1.0",
        "error",
        "line 2",
        "2.0 x=1.0",
        "0.0 x=0.0",
        "line 4",
        "3.0 x=1.0",
    ]


def test_a_reader_that_leaves_early_ends_it_quietly() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        with suppress(BrokenPipeError):
            for _ in range(1000):
                process.stdin.write(b"x**2\tx=3\n" * 10)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.posix
def test_an_output_that_cannot_be_written() -> None:
    if not os.path.exists("/dev/full"):
        pytest.fail("this system has no /dev/full: leave this test out there")
    with open("/dev/full", "w") as full:
        for args, stdin in (([*COMMAND[3:-1], "x", "--at", "x=1"], ""), (["repl"], "1 + 1\n")):
            asked = [*COMMAND[:3], *args]
            done = subprocess.run(
                asked, input=stdin, stdout=full, stderr=subprocess.PIPE, text=True
            )
            assert done.returncode == 5
            assert done.stderr.startswith("error: cannot write") and "Traceback" not in done.stderr


@pytest.mark.posix
def test_errors_that_cannot_be_written_change_no_answer_and_no_exit_code() -> None:
    if not os.path.exists("/dev/full"):
        pytest.fail("this system has no /dev/full: leave this test out there")
    for args, stdin, code, answers in [
        (["x**"], "", 3, 0),
        (["x", "--nonsense"], "", 2, 0),
        (["abs(x)", "--at", "x=0", "--format", "plain"], "", 0, 1),
        (["+".join(["abs(x)"] * 10), "--at", "x=0", "--format", "plain"], "", 0, 1),
        (["-", "--format", "table", "--at", "x=0"], lines(["abs(x)", "x+", "x"] * 100), 3, 200),
        (["--points", "nowhere.csv", "x"], "", 5, 0),
    ]:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*COMMAND[:-1], *args], input=stdin, stdout=subprocess.PIPE, stderr=full, text=True
            )
        assert done.returncode == code, args
        assert len(re.findall("^value = |^0.0 ", done.stdout, re.MULTILINE)) == answers


STREAMS = [
    command
    for command in COMMANDS
    if "--on-error" in declared(command).options and command not in ("fit", "plot")
]


@pytest.mark.parametrize("command", STREAMS)
def test_every_format_of_a_stream_has_something_for_every_line(command: str) -> None:
    x = "x=3±0.1" if command == "propagate" else "x=3"
    formats = set(resolve(declared(command).facts["asks"].split()[1])().formats) - set(PICTURES)
    if "html" in formats:
        refused = autodiff(command, "-", "--format", "html", stdin=lines([f"x**2\t{x}"]))
        assert refused.code == 2 and "not of a stream" in refused.err and not refused.out
        formats.remove("html")
    assert len(formats) >= 6 and len(STREAMS) > 8
    for format in formats:
        result = autodiff(
            command, "-", "--format", format, stdin=lines([f"x**2\t{x}", "x +", f"x**3\t{x}"])
        )
        assert result.code in (1, 3), result.err
        where = [result.out.find(told) for told in ("x**2", "a value is missing after", "x**3")]
        assert where[1] >= 0, (format, result.out)
        if format not in ("plain", "csv", "tsv"):
            assert -1 < where[0] < where[1] < where[2], (format, result.out)
        else:
            before, after = result.out[: where[1]], result.out[where[1] :]
            assert before.count("\n") >= 1 + (format != "plain") - (command == "diff"), (
                format,
                result.out,
            )
            assert after.count("\n") >= 2, (format, result.out)


HOSTILE = "\x7f\x85\x9b31m\u061c\u200b\u200e\u2028\u202e\u2066\ufeff\ud800\U000e0001"
"""Controls, what turns the direction of text, line separators, half a surrogate pair."""


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_records_hold_no_control_and_nothing_that_turns_text(format: str) -> None:
    text = f"x + λ∂é漢 {HOSTILE}"
    request = json.dumps({"id": HOSTILE, "expr": text, "at": {"x": 1}})
    for typed in (request, text.replace("\ud800", "")):
        out = autodiff("grad", "-", "--format", format, stdin=lines([typed])).out
        assert all(char.isprintable() for line in out.split("\n") for char in line)
        assert "\\u009b31m" in out and "\\u202e" in out and "λ∂é漢" in out
        record = json.loads(out)[0] if format == "json" else json.loads(out)
        assert record["expr"] == (text if typed is request else typed)
        assert record["id"] == (HOSTILE if typed is request else None)


@pytest.mark.posix
def test_closed_standard_input() -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m autodiff_cli grad <&-'],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "autodiff grad" in done.stderr


@pytest.mark.posix
@pytest.mark.parametrize("command", ["grad x --at x=1", "graph x --at x=1 --format svg"])
def test_closed_standard_output(command: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m autodiff_cli {command} >&-'],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.split("\n")[0]) == (
        5,
        "error: cannot write: Bad file descriptor",
    )


def test_an_unexpected_failure_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("autodiff_cli.capabilities.derivatives.gradient.gradient", broken)
    result = autodiff("grad", "x", "--at", "x=1")
    assert result.code == 70
    assert "--debug" in result.err and "Traceback" not in result.err
    with pytest.raises(ZeroDivisionError):
        autodiff("grad", "x", "--at", "x=1", "--debug")


def test_names_that_a_program_of_a_stream_does_not_use_are_no_warnings() -> None:
    lines_ = lines(["x**2\tx=3", "abs(x)\tx=0", '{"expr": "x if x > 0 else 1", "at": {"x": 1}}'])
    for command in ("grad", "hessian"):
        found = autodiff(command, "--at", "y=1", stdin=lines_)
        kinds = [
            [each["kind"] for each in json.loads(line).get("warnings", [])]
            for line in found.out.splitlines()
        ]
        assert "unused" not in {kind for kinds_ in kinds for kind in kinds_}
        assert len(kinds) == 3
        assert command != "grad" or kinds == [[], ["kink"], []]


@pytest.mark.parametrize("option", ["--file", "--at=@", "--path", "-"])
def test_what_is_read_whole_has_one_limit(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "MAX_BYTES", 40)
    content = {
        "--file": "x + y",
        "-": "x + y",
        "--at=@": '{"x": 1, "y": 2}',
        "--path": '{"point": {"x": 1, "y": 2}}',
    }
    file = tmp_path / "content"
    command = {
        "--file": ["grad", "--file", str(file), "--at", "x=1,y=2"],
        "-": ["grad", "--file", "-", "--at", "x=1,y=2"],
        "--at=@": ["grad", "x + y", f"--at=@{file}"],
        "--path": ["plot", "x + y", "--at", "x=1,y=2", "--path", str(file)],
    }[option]
    for size, code in [(40, 0), (41, 4), (10**6, 4)]:
        text = content[option].ljust(size)
        file.write_text(text)
        result = autodiff(*command, stdin=text)
        assert result.code == code
        assert ("longer than 40 bytes" in result.err) is (code == 4)


def test_many_warnings_are_drawn_in_part() -> None:
    few = autodiff(
        "grad", "+".join(["relu(x)"] * MAX_DRAWN_WARNINGS), "--at", "x=0", "--format", "plain"
    )
    assert few.err.count("warning:") == MAX_DRAWN_WARNINGS
    assert "more warnings" not in few.err
    program = "+".join(["relu(x)"] * 1000)
    result = autodiff("grad", program, "--at", "x=0", "--no-tree")
    assert len(result.err.splitlines()) < 30
    assert "… and 995 more warnings" in result.err
    assert (
        len(json.loads(autodiff("grad", program, "--at", "x=0", "--json").out)["warnings"]) == 1000
    )


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    cases = [
        (Terminal(), "xterm", True),
        (Terminal(), "dumb", False),
        (io.StringIO(), "xterm", False),
    ]
    for error_stream, term, shown in cases:
        monkeypatch.setenv("TERM", term)
        monkeypatch.setattr(sys, "stderr", error_stream)
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        progress = Progress(wait=0)
        progress.step(12_345)
        progress.close()
        assert ("12,345 programs" in error_stream.getvalue()) is shown


@pytest.mark.posix
def test_an_argument_that_is_no_text() -> None:
    done = subprocess.run(
        [*COMMAND[:-1], b"x + \xff", "--at", "x=1", "--json"], capture_output=True
    )
    assert done.returncode == 3
    record = json.loads(done.stdout.decode("utf-8"))
    assert record["error"]["start"] == 4
    assert b"Traceback" not in done.stderr


MEMORY = """
import resource, sys
from autodiff_cli.__main__ import main
code = main()
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
sys.exit(code)
"""


@pytest.mark.posix
def test_memory_does_not_grow_with_the_number_of_lines() -> None:
    def peak(count: int) -> int:
        text = lines(
            ["x**2 + y*sin(x)\tx=2,y=3", "log(x)\tx=-1", "x + ", '{"expr": "x", "no": 1}']
            * (count // 4)
        )
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, "grad", "-"], input=text, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert done.returncode == 4
        return int(done.stderr)

    few, many = peak(400), peak(8000)
    assert many - few < 2_000, "kilobytes, for 7,600 lines more"


def test_a_fault_of_our_own_is_an_error_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: object, *arguments: object, **options: object) -> None:
        raise AttributeError("as a bug would")

    monkeypatch.setattr("autodiff_cli.capabilities.formulas.diff.diff", broken)
    found = autodiff("diff", "--format", "jsonl", stdin="x**2\nx\n")
    assert found.code == 70
    kinds = [json.loads(line)["error"]["kind"] for line in found.out.splitlines()]
    assert kinds == ["internal", "internal"]
    with pytest.raises(AttributeError):
        autodiff("diff", "--format", "jsonl", "--debug", stdin="x**2\nx\n")
    assert autodiff("diff", "--format", "jsonl", stdin="x**2\nx\n").code == 70


@pytest.mark.parametrize("command", [*STREAMS, "graph", "plot", "export"])
def test_an_error_is_whole_in_every_format_of_records(command: str) -> None:
    result = autodiff(command, "x +", "--json")
    found = json.loads(result.out)
    record = found[0] if isinstance(found, list) else found
    assert record["error"]["kind"] == "syntax" and result.code == 3
