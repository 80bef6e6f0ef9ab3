"""Help, the man page and the tables of the reference: true, whole, and all from the
declarations.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_cli.api import manual
from autodiff_cli.cli import app
from autodiff_cli.cli.declarations import (
    COMMANDS,
    QUESTIONS,
    declared,
    exit_codes,
    table,
    users_of_options,
)
from autodiff_cli.errors import EXIT_CODES
from places import TOP
from running import autodiff
from terminals import ESCAPE, on_terminal

EVERY = [None, *COMMANDS]
HERE = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


def examples(command: str | None) -> tuple[str, ...]:
    return app.EXAMPLES if command is None else tuple(declared(command).examples)


@pytest.mark.posix
@pytest.mark.parametrize("command", EVERY)
def test_help_begins_with_examples_that_run_as_shown(command: str | None, tmp_path: Path) -> None:
    told = examples(command)
    assert len(told) >= 2
    shown = "Examples:\n" + "".join(f"  {example}\n" for example in told)
    help_ = autodiff(*filter(None, [command]), "--help")
    assert help_.code == 0 and help_.out.startswith(shown + "\nUsage: autodiff ")
    for example in told:
        stdin = "1 + 1\n" if example == "autodiff repl" else None
        done = subprocess.run(
            ["sh", "-c", example],
            input=stdin,
            capture_output=True,
            text=True,
            env=HERE,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stderr) == (0, ""), example
        written = re.search(r"--(?:output|save-path) (\S+)", example)
        assert done.stdout or written
        assert written is None or (tmp_path / written[1]).stat().st_size


@pytest.mark.parametrize(
    "asked", ["", "help", "--help", "grad --help", "fit --help-all", "help grad", "help --man"]
)
def test_help_in_a_pipe_is_the_same_at_any_width(asked: str) -> None:
    told = {
        autodiff(*asked.split(), env={"COLUMNS": columns}) for columns in ("40", "80", "150", "")
    }
    assert len(told) == 1 and max(map(len, told.pop().out.splitlines())) > 40


def test_help_names_the_command_and_help_asks_for_it() -> None:
    assert autodiff("help") == autodiff("--help") == autodiff("-h")
    for command in COMMANDS:
        page = (TOP / "tests" / "tutorials" / "commands" / f"{command}.md").read_text(
            encoding="utf-8"
        )
        shown = autodiff("help", command).out
        assert "```" not in shown and "](" not in shown
        # in a pipe a command is one line
        page = re.sub(r" \\\n(?:> *)?", " ", page)
        assert all(f"  {line}\n" in shown for line in page.splitlines() if line.startswith("$ "))
        assert page.startswith(f"# autodiff {command}\n") and f"autodiff {command} " in page
    pages = {
        "changelog": "Changes",
        "python": "Python",
        "recipes": "Recipes",
        "questions": "Questions",
        "others": "others",
    }
    for page, title in pages.items():
        assert title in autodiff("help", page).out.partition("\n")[0]
    assert autodiff("help", "help") == autodiff("help", "--help")
    assert "did you mean `autodiff taylor`?" in autodiff("help", "taylr").err
    assert autodiff("help", "taylr").code == autodiff("help", "x**2").code == 2
    assert autodiff("help", "--help").out.startswith("Examples:\n  autodiff help grad\n")


@pytest.mark.posix
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_description_is_cut(width: int) -> None:
    shown = on_terminal("--help", width=width).out
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", ESCAPE.sub("", shown)).split())
    piped = " ".join(autodiff("--help", env={"COLUMNS": str(width)}).out.split())
    for command in COMMANDS:
        summary = declared(command).summary
        assert summary in words and summary in piped, command
        assert len(summary) <= 63, command
    assert "..." not in piped.replace("[ARGS]...", "")
    assert all(
        len(line) <= width
        for line in ESCAPE.sub("", shown).splitlines()
        if "  autodiff" not in line
    )


@pytest.mark.posix
@pytest.mark.parametrize("width", [60, app.MIN_RICH_WIDTH])
def test_no_name_of_an_option_is_cut(width: int) -> None:
    names = {command: [*declared(command).options] for command in COMMANDS}
    command = max(names, key=lambda each: max(map(len, names[each])))
    words = ESCAPE.sub("", on_terminal(command, "--help-all", width=width).out).split()
    assert set(names[command]) <= set(words)


@pytest.mark.posix
@pytest.mark.parametrize("command", ["grad", "minimize", "functions"])
def test_a_terminal_shows_boxes_and_colours_and_all_that_a_pipe_shows(command: str) -> None:
    shown = on_terminal(command, "--help-all").out
    bare = ESCAPE.sub("", shown)
    assert shown != bare and "╭─ Options ─" in bare and "╭─ Exit codes ─" in bare
    words = {word.strip("`(),.:;") for word in re.sub(r"[│╭╮╰╯─]", " ", bare).split()}
    told = declared(command)
    for option in told.options.values():
        assert {option.name, option.metavar or option.name} <= words
        assert {word.strip("`(),.:;") for word in option.help.split()} - {""} <= words, option.name
    assert all(title in bare for title in set(told.sections.values()))
    ascii_only = on_terminal(command, "--help", env={"LANG": "C", "LC_ALL": "C"}).out
    assert "╭" not in ascii_only and "Usage: autodiff" in ascii_only


def test_commands_are_in_groups_and_their_summaries_begin_with_a_verb() -> None:
    assert sorted(name for names in table("titles").values() for name in names.split()) == sorted(
        [*COMMANDS, "help", "tutorial"]
    )
    shown = autodiff("--help").out
    for title, names in table("titles").items():
        group = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in group.splitlines()] == names.split()
    verbs = {declared(command).summary.split()[0] for command in COMMANDS}
    assert verbs == {
        "Check", "Compute", "Differentiate", "Draw", "Expand", "Find", "Fit", "List", "Make",
        "Maximise", "Minimise", "Open", "Plot", "Propagate", "Run", "Serve", "Set", "Show", "Solve",
        "Write",
    }  # fmt: skip


def test_exit_codes_are_told_with_every_command() -> None:
    assert {0, 1, 130} | set(EXIT_CODES.values()) == set(map(int, table("exit codes")))
    no = {command for command in COMMANDS if "1" in exit_codes(command)}
    answered = {"diff", "hessian", "taylor", "integrate"}
    assert no == {
        "check",
        "descend",
        "minimize",
        "maximize",
        "solve",
        "fit",
        "exercise",
        "limit",
        *answered,
    }
    for command in COMMANDS:
        told = autodiff(command, "--help").out.partition("\nExit codes:\n")[2]
        assert re.findall(r"^  (\d+) ", told, re.MULTILINE) == list(exit_codes(command))


def test_files_of_the_checkout_are_as_the_declarations_say() -> None:
    for path, text in manual.files(TOP).items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name}: write it with `python -m autodiff_cli.api.manual`"
        )


def test_the_man_page_has_every_option_and_is_written_to_a_pipe() -> None:
    page = manual.man_page()
    assert autodiff("help", "--man").out == page
    for option in users_of_options():
        assert "\\fB" + option.name.replace("-", "\\-") + "\\fR" in page
    assert [command for command in COMMANDS if f".SS autodiff {command} " in page] == list(COMMANDS)
    for command in COMMANDS:
        for example in examples(command):
            assert example.partition(" ")[0] in page


@pytest.mark.posix
@pytest.mark.skipif(
    shutil.which("groff") is None, reason="there is no groff here to set the man page"
)
def test_the_man_page_is_set_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-Kutf8", "-wall", "-P-c"],
        input=manual.man_page(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = re.sub(r".\x08", "", done.stdout)
    assert "printf 'x**2\\tx=3\\nsin(x)\\tx=1\\n' | autodiff grad --format csv" in text
    assert "‐" not in text, "hyphens of code stay what they are"


@pytest.mark.parametrize("command", QUESTIONS)
def test_keys_name_options_that_their_command_has(command: str) -> None:
    page = (TOP / "tests" / "tutorials" / "reference.md").read_text(encoding="utf-8")
    keys = page.partition("<!-- table: keys -->")[2]
    tables = re.findall(
        rf"^`{command}`(?:, [^\n]*)?:\n\n(.*?)(?=^`|\Z)", keys, re.MULTILINE | re.DOTALL
    )
    assert tables
    for name in re.findall(r"`(--[a-z-]+)[^`]*`", "".join(tables)):
        assert name in declared(command).options, name
