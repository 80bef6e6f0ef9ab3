"""Tests of where files are: patterns over folders with links, and file systems that answer late, or
never.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodiff_cli.streams import filesystems
from running import autodiff


@pytest.fixture
def silent() -> Iterator[tuple[int, threading.Event]]:
    """The port of a server that takes connections and says nothing, and whether it has taken
    one.
    """
    connected = threading.Event()
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return
                connected.set()

        thread = threading.Thread(target=take)
        thread.start()
        yield server.getsockname()[1], connected
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    for each in held:
        each.close()


def settings(port: int) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip


@pytest.mark.posix
@pytest.mark.parametrize(
    ("url", "name", "code"),
    [
        ("s3://bucket/data.csv", "SIGINT", 130),
        ("s3://bucket/*.csv", "SIGTERM", 143),
        ("s3://bucket/data.parquet", "SIGHUP", 129),
        ("ftp://127.0.0.1:{port}/data.csv", "SIGINT", 130),
    ],
)
def test_waiting_for_a_silent_store_is_interrupted_at_once(
    url: str, name: str, code: int, silent: tuple[int, threading.Event]
) -> None:
    if url.startswith("ftp"):
        pytest.importorskip("fsspec")
    port, connected = silent
    command = [
        sys.executable,
        "-m",
        "autodiff_cli",
        "grad",
        "x",
        "--points",
        url.format(port=port),
        "--wide",
    ]
    process = subprocess.Popen(command, env=os.environ | settings(port), stderr=subprocess.PIPE)
    assert connected.wait(100)
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(getattr(signal, name))
    _, told = process.communicate(timeout=100)
    assert (process.returncode, told) == (code, b"")
    assert time.monotonic() - begun < 5


def test_a_silent_store_is_an_error_in_the_end(
    silent: tuple[int, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "ANSWER_SECONDS", 1)
    monkeypatch.setattr(filesystems, "abandoned", threading.Event())
    filesystems._system.cache_clear()
    result = autodiff(
        "grad", "x", "--points", "s3://bucket/data.csv", "--wide", env=settings(silent[0])
    )
    filesystems._system.cache_clear()
    assert result.code == 5 and "`s3://bucket/data.csv` cannot be read: " in result.err, result
    # the end of the process does not wait for it either
    assert filesystems.abandoned.is_set() or "imeout" in result.err or "imed out" in result.err


def test_what_is_on_the_web_is_not_fetched(silent: tuple[int, threading.Event]) -> None:
    port, connected = silent
    for scheme in ("http", "https", "HTTP"):
        result = autodiff(
            "grad", "x", "--points", f"{scheme}://127.0.0.1:{port}/data.csv", "--wide"
        )
        assert (
            result.code == 2
            and f"autodiff does not read `{scheme}://`" in result.err
            and "curl -O" in result.err
        )
    assert not connected.is_set()


def test_a_file_system_that_lacks_its_settings_is_an_error() -> None:
    pytest.importorskip("fsspec")
    result = autodiff("grad", "x", "--points", "reference://x", "--wide")
    assert result.code == 2 and "there is no file system `reference://`" in result.err


@pytest.mark.posix
@pytest.mark.parametrize(
    "pattern", ["**/*.csv", "./**/*.csv", "{folder}/**/*.csv", "**/inner/**/*.csv", "**"]
)
def test_a_pattern_reads_a_file_once_however_folders_are_linked(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    folder = tmp_path / "data"
    (folder / "inner" / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    other.mkdir()
    for k, where in enumerate(
        [folder, folder / "inner", folder / "inner" / "deep", folder / ".hidden", other]
    ):
        (where / f"{k}.csv").write_text(f"x\n{k}\n", encoding="utf-8")
    # two links that go round in a circle make more paths than can be counted
    (folder / "inner" / "loop").symlink_to(folder)
    (folder / "inner" / "again").symlink_to("..")
    (folder / "0-first").symlink_to("inner")
    (folder / "linked").symlink_to(other)
    monkeypatch.chdir(folder)
    result = autodiff(
        "grad", "x", "--points", pattern.format(folder=folder), "--wide", "--format", "jsonl"
    )
    values = sorted(json.loads(line)["value"] for line in result.out.splitlines())
    assert values == [0, 1, 2, 4]


def test_waiting_gives_what_the_action_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert filesystems.run_interruptibly(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        filesystems.run_interruptibly(lambda: 1 / 0)
    monkeypatch.setattr(filesystems, "abandoned", threading.Event())
    with pytest.raises(TimeoutError):
        filesystems.run_interruptibly(lambda: time.sleep(1), 0.1)
    assert filesystems.abandoned.is_set()
