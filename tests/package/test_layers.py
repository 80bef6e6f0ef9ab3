"""Tests that imports run one way, downwards, and that the check would notice one that does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import TOP


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """The import contracts of `pyproject.toml`, checked for the package in a folder."""
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--config", "pyproject.toml"],
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_the_contracts_are_kept() -> None:
    result = lint_imports(TOP)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        (
            "engine/graphs/value.py",
            "from ...capabilities import derivatives",
            "Imports run one way, downwards BROKEN",
        ),
        ("language/builder.py", "import lark", "Only the parser's generator knows Lark BROKEN"),
        (
            "capabilities/derivatives/gradient.py",
            "import rich.table",
            "Rich draws for people, and nobody else knows it BROKEN",
        ),
        (
            "capabilities/derivatives/gradient.py",
            "import typer",
            "Only the command line knows Typer BROKEN",
        ),
    ],
)
def test_a_wrong_import_is_noticed(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    shutil.copytree(TOP / "autodiff_cli", tmp_path / "autodiff_cli")
    path = tmp_path / "autodiff_cli" / module
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    result = lint_imports(tmp_path)
    assert result.returncode == 1
    assert contract in result.stdout
