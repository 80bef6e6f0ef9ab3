"""Files that a command writes: whole or not at all, in the format of their name, and kept unless
forced.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_cli.capability import resolve
from autodiff_cli.cli.declarations import COMMANDS, declared
from autodiff_cli.errors import ExpressionError
from autodiff_cli.show.formats import ENDINGS, OF_ROWS
from autodiff_cli.streams import files
from places import TESTS
from running import autodiff, lines


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.svg", b"<svg "),
        ("a.PNG", b"\x89PNG"),
        ("a.gv", b"digraph "),
        ("a.mmd", b"flowchart LR"),
        ("a.txt", "node   data   grad\n*         6      1\n├─ x".encode()),
        ("a", b"node "),
    ],
)
def test_a_file_gets_the_format_of_its_name(name: str, begins: bytes, tmp_path: Path) -> None:
    result = autodiff("graph", "x*w", "--at", "x=2,w=3", "--output", name, folder=tmp_path)
    assert result == ("", "", 0)
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    path.write_text("mine")
    path.chmod(0o640)
    args = ["graph", "x", "--at", "x=2", "--output", str(path)]
    result = autodiff(*args)
    assert result.code == 5 and "already exists" in result.err and "--force" in result.err
    assert path.read_text() == "mine"
    assert autodiff(*args, "--force").code == 0
    assert path.read_text(encoding="utf-8").startswith("<svg")
    # Windows keeps one bit of the mode: whether the file may be written
    assert path.stat().st_mode & 0o777 == (0o666 if sys.platform == "win32" else 0o640)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.posix
def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.dot", tmp_path / "link.dot"
    real.write_text("mine")
    link.symlink_to(real)
    assert autodiff("graph", "x", "--at", "x=2", "--output", str(link)).code == 5
    assert autodiff("graph", "x", "--at", "x=2", "--output", str(link), "--force").code == 0
    assert link.is_symlink() and real.read_text().startswith("digraph")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_is_written_whole_or_not_at_all(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.svg"
    path.write_text("mine")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, step, full)
    with pytest.raises(ExpressionError, match="No space left on device") as caught:
        files.write(str(path), b"new", force=True)
    assert caught.value.kind == "io"
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def test_somebody_else_may_be_quicker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.svg"
    sync = files.os.fsync
    monkeypatch.setattr(files.os, "fsync", lambda number: (sync(number), path.write_text("theirs")))
    with pytest.raises(ExpressionError, match="already exists"):
        files.write(str(path), b"mine", force=False)
    assert path.read_text() == "theirs" and list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_where_the_program_is_wrong(tmp_path: Path) -> None:
    for program, code in (("log(x)", 4), ("x*", 3)):
        result = autodiff("graph", program, "--at", "x=-1", "--output", "x.png", folder=tmp_path)
        assert result.code == code and not list(tmp_path.iterdir())


def test_an_error_writes_no_file_and_its_record_is_shown(tmp_path: Path) -> None:
    result = autodiff(
        "plot", "log(x)", "--at", "x=-1", "--json", "--output", str(tmp_path / "plot.json")
    )
    assert result.code == 4 and '"kind": "domain"' in result.out
    assert not list(tmp_path.iterdir())
    result = autodiff(
        "plot", "log(x)", "--at", "x=1", "--json", "--output", str(tmp_path / "plot.json")
    )
    assert result.code == 0 and result.out == ""
    assert (tmp_path / "plot.json").read_bytes() == autodiff(
        "plot", "log(x)", "--at", "x=1", "--json"
    ).out.encode()


AT = {"propagate": "x=0.5±0.1"}
"""The point of a command that needs more than a number."""

ASKED: dict[str, list[str]] = {
    command: [command, "x**2", *([] if command in ("export", "diff") else ["--at", AT.get(command, "x=1")])]
    for command in COMMANDS if command not in ("exercise", "functions", "units", "repl", "serve", "integrate")
} | {
    "exercise": ["exercise", "--count", "2"],
    "functions": ["functions", "tanh"],
    "units": ["units", "psi"],
    "integrate": ["integrate", "x**2"],
    "maximize": ["maximize", "-x**2", "--at", "x=1"],
    "fit": ["fit", "y = a + b*x", "--data", str(TESTS / "cases" / "files" / "line.csv")],
}  # fmt: skip


@pytest.mark.parametrize("command", ASKED)
def test_every_command_writes_a_file_in_the_format_of_its_name(
    command: str, tmp_path: Path
) -> None:
    formats = resolve(declared(command).facts["asks"].split()[1])().formats
    for format, (ending, *_) in ENDINGS.items():
        if format in ("png", "pdf") or (command, format) == ("export", "xlsx"):
            continue
        others = {each for each, ends in ENDINGS.items() if ending in ends and each != format}
        result = autodiff(*ASKED[command], "--output", f"answer{ending}", folder=tmp_path)
        if format not in formats and others & {*formats}:
            (tmp_path / f"answer{ending}").unlink()
            continue
        languages = {
            "diff": {".tex": "latex"},
            "export": {".tex": "latex", ".csv": "spreadsheet"},
        }.get(command, {})
        if format not in formats and ending not in languages:
            many = format in OF_ROWS and "--wide" in declared(command).options
            why = (
                f"`--output answer{ending}` needs many points"
                if many
                else f"`{ending}` is not one of this command's formats"
            )
            assert result.code == 2 and why in result.err
            assert not list(tmp_path.iterdir())
            continue
        assert (result.out, result.code) == ("", 0), result.err
        asked = ["--format", format] if format in formats else ["--to", languages[ending]]
        shown = autodiff(*ASKED[command], *asked)
        assert (tmp_path / f"answer{ending}").read_text(encoding="utf-8") == shown.out
        (tmp_path / f"answer{ending}").unlink()
    result = autodiff(*ASKED[command], "--output", "answer.eps", folder=tmp_path)
    assert result.code == 2 and "`.eps` is not one of this command's formats" in result.err
    result = autodiff(*ASKED[command], "--json", "--output", "answer.csv", folder=tmp_path)
    if "csv" in formats:
        assert (
            result.code == 2
            and "`--format json` and the name `answer.csv` ask for two things" in result.err
        )
    result = autodiff(*ASKED[command], "--output", "-")
    assert result == autodiff(*ASKED[command])
    assert result.out


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("h.c", "/* Written by autodiff"),
        ("h.h", "/* Written by autodiff"),
        ("h.py", "# Written by autodiff"),
        ("h.sql", "-- Written by autodiff"),
        ("h.tex", "% x**2\n\\begin{align*}"),
        ("h.txt", "# Written by autodiff"),
        ("h", "# Written by autodiff"),
        ("h.json", '{"id": null, "line": 1, "expr": "x**2", "target": "python"'),
        ("h.md", "```py\n# Written by autodiff"),
    ],
)
def test_export_takes_its_target_from_the_name_of_the_file(
    name: str, begins: str, tmp_path: Path
) -> None:
    result = autodiff("export", "x**2", "--output", name, folder=tmp_path)
    assert result == ("", "", 0)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["export", "x", "--to", "python", "--output", "h.c"],
            "`--to python` and the name `h.c` ask for two things",
        ),
        (
            ["export", "x", "--to", "c", "--output", "h.py"],
            "`--to c` and the name `h.py` ask for two things",
        ),
        (
            ["export", "x", "--json", "--output", "h.c"],
            "`--format json` and the name `h.c` ask for two things",
        ),
        (
            ["diff", "x", "--to", "latex", "--output", "h.py"],
            "`--to latex` and the name `h.py` ask for two things",
        ),
        (
            ["graph", "x", "--format", "svg", "--output", "h.png"],
            "`--format svg` and the name `h.png` ask for",
        ),
        (
            ["plot", "x", "--format", "svg", "--output", "h.png"],
            "`--format svg` and the name `h.png` ask for",
        ),
    ],
)
def test_a_name_and_an_option_that_clash(args: list[str], said: str, tmp_path: Path) -> None:
    result = autodiff(*args, folder=tmp_path)
    assert result.code == 2 and said in result.err and "leave" in result.err
    assert not list(tmp_path.iterdir())


def test_targets_that_share_an_ending_do_not_clash(tmp_path: Path) -> None:
    for target in ("numpy", "jax", "torch", "python"):
        result = autodiff(
            "export", "x**2", "--to", target, "--output", f"{target}.py", folder=tmp_path
        )
        assert result == ("", "", 0)
        assert (tmp_path / f"{target}.py").read_text() == autodiff(
            "export", "x**2", "--to", target
        ).out


def test_a_stream_is_written_whole_whatever_its_lines_were(tmp_path: Path) -> None:
    stdin = lines(["x**2", "x +", "x**3"])
    for name in ("a.jsonl", "a.json", "a.csv", "a.md", "a.txt"):
        format = {"a.txt": "jsonl", "a.md": "markdown"}.get(name, name[2:])
        result = autodiff("grad", "--at", "x=2", "--output", name, stdin=stdin, folder=tmp_path)
        assert (result.out, result.code) == ("", 3)
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert written == autodiff("grad", "--at", "x=2", "--format", format, stdin=stdin).out
    data = tmp_path / "data.csv"
    data.write_text("x\n1\noops\n3\n")
    assert (
        autodiff("grad", "x**2", "--points", str(data), "--output", "b.csv", folder=tmp_path).code
        == 2
    )
    assert (tmp_path / "b.csv").read_text().count("\n") == 4


def test_a_run_that_says_no_writes_its_file(tmp_path: Path) -> None:
    for args in (["check", "sqrt(x**2+1) - x", "--at", "x=1e8"], ["descend", "x**3", "--at", "x=1", "--rate", "9"],
                 ["minimize", "exp(-x)", "--at", "x=0"]):  # fmt: skip
        result = autodiff(*args, "--output", f"{args[0]}.json", folder=tmp_path)
        assert (result.out, result.code) == ("", 1), result.err
        written = (tmp_path / f"{args[0]}.json").read_text(encoding="utf-8")
        assert written == autodiff(*args, "--json").out


def test_long_answers_wait_on_the_disk_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES_IN_MEMORY", 100)
    stdin = lines(["x**2"] * 50)
    assert (
        autodiff("grad", "--at", "x=2", "--output", "a.jsonl", stdin=stdin, folder=tmp_path).code
        == 0
    )
    assert (tmp_path / "a.jsonl").read_text() == autodiff("grad", "--at", "x=2", stdin=stdin).out
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_no_two_things_go_into_one_file(tmp_path: Path) -> None:
    for command in ("descend", "minimize"):
        for two in (
            ["--save-path", "a", "--output", "a"],
            ["--save-path", "a", "--save-point", "a"],
        ):
            result = autodiff(command, "x**2", "--at", "x=1", *two, folder=tmp_path)
            assert result.code == 2 and "`a` cannot hold two things" in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["descend", "minimize"])
def test_the_path_and_the_best_point_are_saved(command: str, tmp_path: Path) -> None:
    args = [
        command,
        "(x - 3)**2",
        "--at",
        "x=1",
        "--save-path",
        "way.jsonl",
        "--save-point",
        "best.json",
    ]
    assert autodiff(*args, folder=tmp_path).code == 0
    rows = [json.loads(line) for line in (tmp_path / "way.jsonl").read_text().splitlines()]
    assert len(rows) > 1 and set(rows[0]) == {"step", "value", "point", "gradient_norm"}
    best = json.loads((tmp_path / "best.json").read_text())
    assert best == rows[-1]["point"] == min(rows, key=lambda row: row["value"])["point"]
    drawn = autodiff("plot", "(x-3)**2 + y**2", "--at", "x=3,y=0", "--path", "way.jsonl", "--format", "json",
                     folder=tmp_path)  # fmt: skip
    assert drawn.code == 2 and "y" in drawn.err


STREAMS = [
    name
    for name in COMMANDS
    if "--on-error" in declared(name).options and name not in ("fit", "plot", "integrate")
]


@pytest.mark.parametrize("command", STREAMS)
def test_every_stream_goes_on_after_an_error_or_ends_there(command: str) -> None:
    stdin = lines(["x**2", "x +", "x**2"])
    at = AT.get(command, "x=0.5")
    goes, ends = (
        autodiff(
            command,
            "--at",
            at,
            "--format",
            "plain",
            *(["--on-error", how] if how else []),
            stdin=stdin,
        )
        for how in (None, "fail")
    )
    assert goes == autodiff(
        command, "--at", at, "--format", "plain", "--on-error", "skip", stdin=stdin
    )
    assert goes.code == ends.code == 3
    assert (
        goes.out.startswith(ends.out)
        and len(goes.out) > len(ends.out)
        and "error: syntax" in ends.out
    )
    bad = autodiff(command, "x", "--at", "x=1", "--on-error", "stop")
    assert bad.code == 2 and "`--on-error` cannot be `stop`" in bad.err


@pytest.mark.posix
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_stream_that_is_ended_leaves_no_file(name: str, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "autodiff_cli", "grad", "--at", "x=2", "--output", "a.jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"x**2\n" * 20_000)
        process.stdin.flush()
        process.send_signal(getattr(signal, name))  # Windows has no SIGHUP
        process.wait(timeout=60)
    assert process.returncode == code
    assert not list(tmp_path.iterdir())
