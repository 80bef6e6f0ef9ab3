"""Tests of the repository itself: what each file opens with, and what no file may mention."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from places import TOP
from posix_needs import find_tests_of_unix

OUTSIDE = re.compile(
    "|".join(
        [
            re.escape("../" + "shared"),  # a folder beside somebody's checkout
            r"(?<![\w.~])/(?:work|home|root)" + r"/\w",  # an absolute path on somebody's machine
            r"(?:pypi|pythonhosted|pypa)\." + r"(?:org|io)",  # the host of a package index
            "(?:extra-)?index" + "-url",
        ]
    )
)


def _parts(path: Path) -> tuple[str, ...]:
    return path.relative_to(TOP).parts


def files() -> list[Path]:
    """The project's own files: those that git follows or would, or all of them where there is no
    git.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = (
        subprocess.run(command, cwd=TOP, capture_output=True, text=True)
        if shutil.which("git")
        else None
    )
    if listed is not None and listed.returncode == 0:
        paths = [TOP / name for name in listed.stdout.split("\0") if name]
    else:
        kept = {".ci", ".gitignore"}
        paths = [path for path in TOP.rglob("*") if path.name != "PKG-INFO"]
        paths = [
            path
            for path in paths
            if not any(part[0] == "." and part not in kept for part in _parts(path))
        ]
    return sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


FILES = files()
MODULES = [path for path in FILES if path.suffix == ".py"]


def name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def test_there_are_files() -> None:
    assert {"pyproject.toml", "README.md", "LICENSE", "grammars/expression.lark", ".ci/run"} <= set(
        map(name, FILES)
    )
    assert len(MODULES) > 20


def test_the_top_level_is_the_users() -> None:
    top = {name(path).split("/")[0] for path in FILES}
    assert {entry for entry in top if not entry.startswith(".")} == {
        "LICENSE",
        "README.md",
        "autodiff_cli",
        "grammars",
        "pyproject.toml",
        "tests",
    }


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""'), "the module begins with its docstring"
    first = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    assert re.fullmatch(r"\S.*[.:]", first, re.DOTALL), (
        f"its first paragraph is a sentence, not: {first}"
    )


@pytest.mark.parametrize(
    "path", [path for path in MODULES if name(path).startswith("autodiff_cli/")], ids=name
)
def test_a_module_of_the_package_is_finished(path: Path) -> None:
    found = re.findall(
        r"\b(?:TODO|FIXME|XXX|HACK|NotImplementedError)\b", path.read_text(encoding="utf-8")
    )
    assert not found


def test_no_file_names_a_place_outside_the_repository() -> None:
    found = [
        f"{name(path)}:{number}: {match[0]}"
        for path in FILES
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").split("\n"), 1
        )
        if (match := OUTSIDE.search(line))
    ]
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "see ../" + "shared/design",
        "cd /" + "work/main",
        "https://py" + "pi.org/simple",
        "files.python" + "hosted.org",
        "--index" + "-url x",
    ],
)
def test_a_place_outside_the_repository_would_be_noticed(text: str) -> None:
    assert OUTSIDE.search(text)


def test_what_needs_unix_is_marked() -> None:
    missing = [
        f"{path.relative_to(TOP)}: {name}"
        for path in sorted((TOP / "tests").rglob("test_*.py"))
        for name, _, is_marked in find_tests_of_unix(path.read_text(encoding="utf-8"))
        if not is_marked
    ]
    assert not missing, "mark them with `@pytest.mark.posix`"


def test_a_test_that_calls_what_needs_unix_needs_it_too() -> None:
    source = (
        "from terminals import on_terminal\n\ndef shown(): return on_terminal()\n\ndef test_a():"
        " assert shown()\n"
    )
    assert [*find_tests_of_unix(source)] == [("test_a", 5, False)]
    assert [
        *find_tests_of_unix(source.replace("def test_a", "@pytest.mark.posix\ndef test_a"))
    ] == [("test_a", 5, True)]
    assert not [
        *find_tests_of_unix("from terminals import ESCAPE\n\ndef test_a(): assert ESCAPE\n")
    ]
