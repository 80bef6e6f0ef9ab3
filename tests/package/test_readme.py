"""Tests that README and tutorials show what happens: console and Python blocks, and the two set-up
blocks.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

import console
from environments import build_wheel, environment, extras_named, packages_named
from places import TOP
from running import autodiff
from warm_command import warm

README = TOP / "README.md"
DOCUMENTS = [
    README,
    TOP / "tests" / "README.md",
    TOP / "tests" / "benchmarks" / "README.md",
    *sorted((TOP / "tests" / "tutorials").rglob("*.md")),
]


def fenced(document: Path, language: str) -> list[console.Block]:
    return console.blocks(document.read_text(encoding="utf-8"), language)


@cache
def needed(document: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The extras and packages that a document tells its reader to install."""
    text = document.read_text(encoding="utf-8")
    return extras_named(text), packages_named(text)


CONSOLE = sorted(
    (document for document in DOCUMENTS if fenced(document, "console")),
    # those of one environment after each other: one process then makes it and starts its commands
    key=lambda document: (sorted(needed(document)[0]), sorted(needed(document)[1])),
)
PYTHON = [
    (document, fenced(document, "python")) for document in DOCUMENTS if fenced(document, "python")
]


@cache
def wheel() -> Path:
    return build_wheel(Path(tempfile.mkdtemp()))


@cache
def commands_of(extras: frozenset[str], packages: frozenset[str] = frozenset()) -> Path:
    """The commands of a fresh installation of the wheel with these extras and packages, and no
    other library.
    """
    folder = wheel().parent / "-".join(["with", *sorted(extras | packages)])
    return environment(wheel(), folder, extras, packages)


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[[Path], Path]]:
    """The folder of an `autodiff` that has started already, for the folder of an environment's
    commands.
    """
    with ExitStack() as stack:

        @cache
        def start(commands: Path) -> Path:
            folder = commands.parent / "started"
            return stack.enter_context(
                warm(commands, folder, console.variables(folder, [commands]))
            )

        yield start


def test_an_installation_has_the_extras_that_a_page_names_and_no_others() -> None:
    for extras, words in (
        (frozenset[str](), "extras: none;"),
        (frozenset({"optimize"}), "extras: optimize;"),
    ):
        shown = subprocess.run(
            [commands_of(extras) / "autodiff", "--version"], capture_output=True, text=True
        )
        assert words in shown.stdout, shown.stderr
    assert extras_named("pip install 'autodiff-cli[data,plot]' or '.[draw]'") == {
        "data",
        "plot",
        "draw",
    }


@pytest.mark.posix
@pytest.mark.parametrize("document", CONSOLE, ids=lambda document: document.name)
def test_console_blocks(document: Path, started: Callable[[Path], Path]) -> None:
    """They run as its reader would run them: in an installation with the extras that the document
    names.
    """
    commands = commands_of(*needed(document))
    # those of the README, each of another kind, start as they do at a prompt
    folders = [commands] if document == README else [started(commands), commands]
    found = [
        console.explain(document, step, printed)
        for step, printed in console.differences(document, folders)
    ]
    assert not found, "\n\n".join(found)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("document", "found"), [pytest.param(*case, id=case[0].name) for case in PYTHON]
)
def test_python_blocks(
    document: Path, found: list[console.Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        examples = doctest.DocTestParser().get_doctest(
            block.text, names, document.name, str(document), block.first - 1
        )
        assert examples.examples, f"{document.name}, line {block.first}: no line starts with >>>"
        report: list[str] = []
        result = doctest.DocTestRunner(verbose=False).run(
            examples, out=report.append, clear_globs=False
        )
        assert not result.failed, "".join(report)
        names = examples.globs


@pytest.mark.posix
def test_readme_shows_each_kind_of_block() -> None:
    assert README in CONSOLE
    assert README in [document for document, _ in PYTHON]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_no_document_shows_a_bug(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert "this is a bug" not in text
    assert "Traceback" not in text


@pytest.mark.posix
def test_readme_sets_up_and_does_the_main_job_in_the_first_sh_block() -> None:
    *_, last = fenced(README, "sh")[0].lines
    assert last == 'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3'


@pytest.mark.posix
def test_ci_runs_the_test_command_of_the_second_sh_block() -> None:
    install, command = fenced(README, "sh")[1].lines
    assert "pip install -e '.[test]'" in install
    assert command.startswith("python -m pytest")
    assert f"check {command}" in (TOP / ".ci" / "run").read_text(encoding="utf-8").split("\n")


def test_the_first_picture_is_under_the_first_example_and_shows_it() -> None:
    text = README.read_text(encoding="utf-8")
    _, example, rest = text.split("```", 2)
    shown = re.match(r"\n\n!\[[^\]]+\]\((\S+\.svg)\)\n", rest)
    assert shown is not None
    command = example.splitlines()[1].removeprefix("$ autodiff grad ")
    drawn = autodiff("graph", *shlex.split(command), "--format", "svg")
    assert (TOP / shown[1]).read_text(encoding="utf-8") == drawn.out


def test_the_tour_is_read_in_five_minutes() -> None:
    tour = (
        README.read_text(encoding="utf-8")
        .partition("## A tour in five minutes\n")[2]
        .partition("\n## ")[0]
    )
    prose = re.sub(r"```.*?```", "", tour, flags=re.DOTALL)
    # a reader of such text takes in about 200 words a minute
    assert 80 < len(prose.split()) < 1000
    assert "|---" not in tour, "tables of reference are in the reference"


def test_the_readme_is_short() -> None:
    assert README.read_text(encoding="utf-8").count("\n") <= 300


def test_documents_lead_only_to_what_is_there() -> None:
    for document in DOCUMENTS:
        links = re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8"))
        assert [link for link in links if not (document.parent / link).exists()] == [], (
            document.name
        )
