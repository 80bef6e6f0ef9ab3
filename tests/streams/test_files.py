"""Files that a command writes: whole or not at all, in the format of their name, and kept unless forced."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodiff_cli.errors import ExpressionError
from autodiff_cli.streams import files
from running import autodiff


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
    assert result.code == 5 and "exists, and is kept" in result.err and "--force" in result.err
    assert path.read_text() == "mine"
    assert autodiff(*args, "--force").code == 0
    assert path.read_text().startswith("<svg") and path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.dot", tmp_path / "link.dot"
    real.write_text("mine")
    link.symlink_to(real)
    assert autodiff("graph", "x", "--at", "x=2", "--output", str(link)).code == 5
    assert autodiff("graph", "x", "--at", "x=2", "--output", str(link), "--force").code == 0
    assert link.is_symlink() and real.read_text().startswith("digraph")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_is_written_whole_or_not_at_all(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(ExpressionError, match="is kept"):
        files.write(str(path), b"mine", force=False)
    assert path.read_text() == "theirs" and list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_where_the_program_is_wrong(tmp_path: Path) -> None:
    for program, code in (("log(x)", 4), ("x*", 3)):
        result = autodiff("graph", program, "--at", "x=-1", "--output", "x.png", folder=tmp_path)
        assert result.code == code and not list(tmp_path.iterdir())


def test_an_error_writes_no_file_and_its_record_is_shown(tmp_path: Path) -> None:
    result = autodiff("plot", "log(x)", "--at", "x=-1", "--json", "--output", str(tmp_path / "plot.json"))
    assert result.code == 4 and '"kind": "domain"' in result.out
    assert not list(tmp_path.iterdir())
    result = autodiff("plot", "log(x)", "--at", "x=1", "--json", "--output", str(tmp_path / "plot.json"))
    assert result.code == 0 and result.out == ""
    assert (tmp_path / "plot.json").read_bytes() == autodiff("plot", "log(x)", "--at", "x=1", "--json").out.encode()
