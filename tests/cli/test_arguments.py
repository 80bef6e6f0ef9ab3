"""The command line: which arguments are options, and that help and reading come from one declaration."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.api import python_functions as face
from autodiff_cli.cli.arguments import ELSEWHERE, Declared, HelpAsked, looks_like_option, read
from autodiff_cli.cli.commands import COMMANDS, command_module
from autodiff_cli.cli.options import COLUMNAR, Argument, Option, Without
from autodiff_cli.errors import ExpressionError
from running import autodiff

GRAD = Declared(command_module("grad").run)
KNOWN = [*GRAD.options, "--help", "-h", "--"]
ARGUMENTS = st.one_of(
    st.sampled_from([*KNOWN, "-", "-x", "--x", "x=1", "3", "--at=x=1", "--json=1", "--att", "-1", ""]),
    st.text(max_size=8),
)


@given(st.lists(ARGUMENTS, max_size=6))
def test_any_command_line_is_read_or_refused(args: list[str]) -> None:
    try:
        values = read(args, GRAD, "autodiff grad")
    except HelpAsked:
        assert {"--help", "-h"} & set(args)
    except ExpressionError as error:
        assert error.kind == "usage"
        assert error.hint
    else:
        assert set(values) <= {"expr", *(parameter for parameter, _, _ in GRAD.options.values())}


@given(st.text(max_size=20).map(lambda text: f"-{text}"))
def test_what_equals_no_option_is_the_expression(text: str) -> None:
    if text.partition("=")[0] not in KNOWN and text not in KNOWN and not looks_like_option(text):
        assert read([text], GRAD, "autodiff grad") == {"expr": text}
    if text != "--":
        assert read(["--", text], GRAD, "autodiff grad") == {"expr": text}
        if text not in KNOWN:
            assert read(["--at", text], GRAD, "autodiff grad") == {"at": [text]}
        assert read([f"--at={text}"], GRAD, "autodiff grad") == {"at": [text]}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_what_is_declared(command: str) -> None:
    help_ = autodiff(command, "--help")
    assert help_.code == 0
    declared = Declared(command_module(command).run)
    assert re.findall(r"^  (?:-h, )?(--[\w-]+)", help_.out, re.MULTILINE) == [*declared.options, "--help"]
    for _, option, kind in declared.options.values():
        assert option.name + (f" {option.metavar}" if option.metavar else "") in help_.out
        assert bool(option.metavar) == (kind is not bool)


def declared() -> dict[str, dict[str, tuple[Option, object]]]:
    """Every option of every command: by its name, then by command."""
    found: dict[str, dict[str, tuple[Option, object]]] = {}
    for command in COMMANDS:
        for name, (_, option, kind) in Declared(command_module(command).run).options.items():
            found.setdefault(name, {})[command] = (option, kind)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_formats_of_the_help_are_those_that_there_are(command: str) -> None:
    module = command_module(command)
    offered = declared()["--format"][command][0].choices
    there = module.FORMATS if command == "graph" else module.view().formats
    assert set(offered) == {*there, *(COLUMNAR if command in declared()["--points"] else ())}
    for name in offered:
        assert name in autodiff(command, "--help").out


def test_an_option_has_one_kind_whatever_the_command() -> None:
    assert len(declared()) > 40
    # words that are right for two things: steps of a search and of a derivation, levels of confidence and of a course
    two = {name for name, users in declared().items() if len({str(kind) for _, kind in users.values()}) > 1}
    assert two == {"--level", "--steps"}
    for name, users in declared().items():
        assert len({option.metavar for option, _ in users.values()}) == 1 or name in two, name
    # what commands share they have from one declaration, but for what differs in what it chooses among
    alike = {name for name, users in declared().items() if len({option for option, _ in users.values()}) == 1}
    told = {"--all", "--at", "--data", "--format", "--gradient-tolerance", "--method", "--order", "--seed", "--to"}
    assert set(declared()) - alike == told | two


def test_options_of_neighbours_are_there_everywhere() -> None:
    options = declared()
    everywhere = set(COMMANDS)
    for name in ("--format", "--json", "--output", "--force", "--debug"):
        assert set(options[name]) == everywhere, name
    assert (
        set(options["--decimals"])
        == set(options["--digits"])
        == everywhere - {"exercise", "export", "functions", "page"}
    )
    pictures = {command for command, (option, _) in options["--format"].items() if "svg" in option.choices}
    assert set(options["--theme"]) == pictures | {"page"} >= {"graph", "plot"}
    assert set(options["--save-path"]) == set(options["--save-point"]) - {"fit"} == {"descend", "minimize"}
    streams = set()
    for command in COMMANDS:
        done = autodiff(command, stdin="")
        if (
            "not of a stream" not in done.err
            and "not a stream" not in done.err
            and command not in ("exercise", "functions")
        ):
            streams.add(command)
    assert set(options["--on-error"]) == streams and len(streams) > 8


def test_what_a_command_changes_in_a_group_is_in_the_group() -> None:
    for command in COMMANDS:
        for annotation in command_module(command).run.__annotations__.values():
            group = getattr(annotation, "__origin__", None)
            if hasattr(group, "_fields"):
                names = {each.__metadata__[0][0] for each in group.__annotations__.values()}
                for told in annotation.__metadata__:
                    if not isinstance(told, Argument):
                        assert names >= set(told.names if isinstance(told, Without) else [told.name])


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["diff", "x", "--format", "python"], "did you mean `--to python`?"),
        (["diff", "x", "--to", "json"], "did you mean `--format json`?"),
        (["export", "x", "--format=c"], "did you mean `--to c`?"),
        (["export", "x", "--to", "json"], "did you mean `--format json`?"),
        (["graph", "x", "--format", "dark"], "did you mean `--theme dark`?"),
    ],
)
def test_a_choice_of_another_option_is_told(args: list[str], hint: str) -> None:
    result = autodiff(*args)
    assert result.code == 2 and hint in result.err


FORMER = {("trace", "--steps"): ("--lines", "3")}


def test_what_options_were_called_before_goes_on_working() -> None:
    former = {(command, name): now for command in COMMANDS
              for name, now in Declared(command_module(command).run).former.items()}  # fmt: skip
    assert former == {key: now for key, (now, _) in FORMER.items()}
    for (command, name), (now, value) in FORMER.items():
        today, before = (autodiff(command, "x + 1 + x*x", "--at", "x=2", each, value) for each in (now, name))
        assert (before.out, before.code) == (today.out, 0)
        assert before.err == f"note: `{name}` is called `{now}` now\n" and not today.err
        assert autodiff(command, "x", "--at", "x=2", f"{name}={value}").err == before.err
        assert name not in re.findall(r"--[\w-]+", autodiff(command, "--help").out)
        with pytest.warns(DeprecationWarning, match=f"`{name[2:]}` is called `{now[2:]}` now"):
            old = getattr(face, command)("x + 1 + x*x", {"x": 2}, **{name[2:]: int(value)})
        assert f"{old}\n" == today.out


def test_what_options_are_called_elsewhere_is_what_none_is_called_here() -> None:
    here = {name for command in COMMANDS for name in Declared(command_module(command).run).options}
    assert set(ELSEWHERE.values()) <= here
    assert not {f"--{name}" for name in ELSEWHERE} & here
