"""Defaults of one's own, in `AUTODIFF_OPTIONS`: for people at a terminal, and never in the way of a
script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from autodiff_cli.cli import arguments
from autodiff_cli.cli.arguments import read
from autodiff_cli.cli.declarations import COMMANDS, commands_with, declared, users_of_options
from autodiff_cli.errors import ExpressionError
from running import a_value, autodiff, lines
from terminals import ESCAPE, on_terminal

THIRD = ["grad", "x/3", "--at", "x=1"]


def shown(*args: str, own: str) -> str:
    return ESCAPE.sub("", on_terminal(*args, env={"AUTODIFF_OPTIONS": own}).out)


@pytest.mark.posix
def test_they_hold_on_a_terminal_and_nowhere_else() -> None:
    own = {"AUTODIFF_OPTIONS": "--decimals 3 --no-tree"}
    found = shown(*THIRD, own=own["AUTODIFF_OPTIONS"])
    assert "value = 0.333\n" in found and "node " not in found
    assert autodiff(*THIRD, env=own) == autodiff(*THIRD)
    for wrong in ("--nonsense", "--digits", "'", "x**2", "--at x=1"):
        assert autodiff(*THIRD, env={"AUTODIFF_OPTIONS": wrong}) == autodiff(*THIRD)
    stream = {"stdin": lines(["x/3"]), "env": own}
    assert autodiff("grad", "--at", "x=1", **stream) == autodiff(
        "grad", "--at", "x=1", stdin=lines(["x/3"])
    )  # type: ignore[arg-type]
    assert autodiff("grad", "--help", env=own) == autodiff("grad", "--help")


@pytest.mark.posix
def test_what_is_typed_wins() -> None:
    assert "value = 0.33\n" in shown(*THIRD, "--digits", "2", own="--digits 5")
    assert "value = 0.33\n" in shown(*THIRD, "--digits", "2", own="--decimals 5")
    assert "value = 1/3\n" in shown(*THIRD, "--exact", own="--precision 30")
    assert '"value": 0.3333333333333333' in shown(*THIRD, "--json", own="--format markdown")
    assert shown(*THIRD, "--format", "plain", own="--json").startswith("0.3333333333333333 ")


@pytest.mark.posix
def test_help_says_what_was_taken() -> None:
    assert "Defaults from AUTODIFF_OPTIONS" in shown("grad", "--help", own="--digits 4")
    assert "--digits 4" in shown("grad", "--help", own="--digits 4")
    assert "Defaults from AUTODIFF_OPTIONS" not in shown("grad", "--help", own="")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("--nonsense", "no command has an option `--nonsense`"),
        ("--digts 3", "did you mean `--digits`?"),
        ("x**2", "no command has an option `x**2`"),
        ("--digits", "`--digits` needs a value"),
        ("--digits many", "`--digits` cannot be `many`"),
        ("--no-tree=1", "`--no-tree` takes no value"),
        ("--theme pink", "`--theme` cannot be `pink`"),
        ("--format gif", "`--format` cannot be `gif`"),
        ("--at x=1", "`--at` is for one call only"),
        ("--force", "`--force` is for one call only"),
        ("--digits '3", "it cannot be read: no closing quotation"),
    ],
)
def test_what_is_wrong_with_them_names_the_variable(own: str, said: str) -> None:
    result = on_terminal(*THIRD, env={"AUTODIFF_OPTIONS": own})
    told = " ".join(ESCAPE.sub("", result.out).split())
    assert (
        result.code == 2 and said in told and "`AUTODIFF_OPTIONS`" in told and "value =" not in told
    )


@pytest.mark.posix
def test_a_command_leaves_out_what_it_lacks() -> None:
    found = shown(
        "trace",
        "x/3",
        "--at",
        "x=1",
        "--format",
        "plain",
        own="--theme dark --no-tree --lines 3 --digits 2",
    )
    assert "0.33" in found and "error" not in found
    assert shown("graph", "x*w", "--symbolic", own="--format csv") == shown(
        "graph", "x*w", "--symbolic", own=""
    )
    assert "tanh" in shown("functions", "tanh", own="--method adam")


def asked(command: str, own: str, *args: str, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    monkeypatch.setattr(arguments, "options_of_environment", lambda: own)
    return arguments.with_own(read(list(args), command), command)


def test_each_option_may_stand_there_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = refused = 0
    for name in {option.name: None for option in users_of_options()}:
        users = [declared(user).options[name] for user in commands_with(name)]
        if (
            users[0].kind == (list[str] | None)
            or users[0].metavar in ("PATH", "VECTOR")
            or name == "--force"
        ):
            assert not arguments.is_allowed(users[0]), name
        for command in COMMANDS:
            here = declared(command).options
            option = here.get(name, users[0])
            value = a_value(option)
            words = {"exercise": [], "serve": [], "fit": ["x", "--data", "a.csv"]}.get(
                command, ["x"]
            )
            own = name if option.kind is bool else f"{name} {value}"
            if not arguments.is_allowed(option):
                with pytest.raises(ExpressionError, match="for one call only"):
                    asked(command, own, *words, monkeypatch=monkeypatch)
                refused += 1
            elif name in here and (
                (option.needs and not {*option.needs} & {*words})
                or (name in declared("rows").options and "--data" not in words)
            ):
                assert option.parameter not in asked(command, own, *words, monkeypatch=monkeypatch)
            elif name in here:
                assert option.parameter in asked(command, own, *words, monkeypatch=monkeypatch), (
                    command,
                    name,
                )
                taken += 1
            else:
                assert asked(command, own, *words, monkeypatch=monkeypatch) == read(words, command)
    assert taken > 100 and refused > 100


def test_an_option_with_two_meanings_is_for_the_commands_that_mean_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for own, command, steps in [
        ("--steps 7 --digits 3", "descend", 7), ("--steps 7 --digits 3", "diff", None),
        ("--steps --digits 3", "diff", True), ("--digits 3 --steps", "descend", None),
    ]:  # fmt: skip
        found = asked(command, own, "x", monkeypatch=monkeypatch)
        assert (found.get("steps"), found["digits"]) == (steps, 3), (own, command)


def test_defaults_that_do_not_go_together_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    for own, words, kept in [
        ("--seed 3", [], {}), ("--seed 3 --samples 1e5", [], {"seed": 3, "samples": 1e5}),
        ("--seed 3", ["--samples", "1e5"], {"seed": 3}), ("--k 2 --level 0.9", [], {"k": 2.0}),
        ("--k 2", ["--level", "0.9"], {}),
    ]:  # fmt: skip
        typed = read(["x", *words], "propagate")
        assert asked("propagate", own, "x", *words, monkeypatch=monkeypatch) == {**typed, **kept}


def test_options_about_rows_wait_for_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "--wide --backend numpy --zip --spreadsheet"
    monkeypatch.setattr(arguments, "options_of_environment", lambda: own)
    monkeypatch.setenv(arguments.OPTIONS_VARIABLE, own)
    assert "value = 0.333333" in autodiff(*THIRD).out
    swept = autodiff("grad", "x*y", "--at", "x=1:3:1,y=1:3:1")
    assert (swept.code, len(swept.out.splitlines())) == (
        0,
        autodiff("grad", "x", "--at", "x=1:3:1").out.count("\n"),
    )


def test_streams_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for args in ([], ["-"], ["x", "--points", "data.csv"]):
        typed = read(args, "grad")
        assert asked("grad", "--digits 3", *args, monkeypatch=monkeypatch) == typed
    assert asked("grad", "--digits 3", "--file", "x.txt", monkeypatch=monkeypatch)["digits"] == 3
