"""The import budget: what a piped answer may load, and that a start loads one command only."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from autodiff_cli.cli.declarations import QUESTIONS
from loaded import HEAVY, RUN, modules, modules_of_a_press_of_tab

# `dataclasses` brings the other four along: a quarter of a piped answer.
SLOW = {"dataclasses", "inspect", "ast", "dis", "tokenize"}
GRAD = ["grad", "((w1-1)**2 + (w2-5)**2)*0.5", "--at", "w1=2,w2=3"]


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        ([*GRAD, "--json"], ""),
        ([*GRAD, "--format", "csv"], ""),
        ([*GRAD, "--format", "plain"], ""),
        ([*GRAD, "--format", "markdown", "--no-tree"], ""),
        (["grad", "erf(x) + gamma(x) + cbrt(x)", "--at", "x=0.5", "--json"], ""),
        (["grad", "-"], '{"expr": "x**2 + sinc(x)", "at": {"x": 3}}\nlog(x)\tx=2\n'),
        (["functions", "tanh", "--json"], ""),
        (["--version"], ""),
        (["--help"], ""),
    ],
)
def test_what_is_piped_loads_nothing_heavy(args: list[str], stdin: str) -> None:
    loaded = modules(*args, stdin=stdin)
    if args[0] == "grad":
        assert not loaded & SLOW
    assert not {name.partition(".")[0] for name in loaded} & HEAVY


def test_a_table_loads_rich_and_nothing_else_that_is_heavy() -> None:
    loaded = {name.partition(".")[0] for name in modules(*GRAD)}
    assert loaded & HEAVY == {"rich"}


def test_a_start_loads_one_command_only() -> None:
    loaded = modules(*GRAD, "--json")
    assert {
        "autodiff_cli.capabilities.derivatives.gradient",
        "autodiff_cli.capabilities.derivatives.gradient_view",
    } <= loaded
    assert not loaded & {
        "autodiff_cli.capabilities.formulas.functions",
        "autodiff_cli.capabilities.derivatives.hessian",
        "autodiff_cli.cli.searches",
    }
    assert "lark" not in loaded, (
        "the parser's tables are saved, so an answer needs no parser generator"
    )
    assert "typer" not in loaded, "Typer is for help and completion"


def test_a_good_answer_loads_nothing_that_explains_mistakes_and_no_other_arithmetic() -> None:
    loaded = modules(*GRAD, "--json")
    unneeded = {"fractions", "decimal", "autodiff_cli.engine.graphs.value_and_gradient"}
    unneeded |= {
        f"autodiff_cli.language.diagnostics.{room}"
        for room in ("points", "leniency", "diagnosis", "suggestions")
    }
    assert not loaded & unneeded


def test_a_formula_without_a_command_loads_what_its_command_does() -> None:
    for command, *question in (
        ["grad", "x^2", "--at", "x=3", "--json"],
        ["diff", "x^2", "--format", "plain"],
    ):
        more = modules(*question) - modules(command, *question)
        own = {"autodiff_cli.cli.formula"}
        assert own <= more <= own | {"autodiff_cli.operating_system"}


def test_a_good_answer_compiles_few_patterns() -> None:
    # each is up to a millisecond of a start; six are those of Python's own JSON
    code = (
        "import re, sys; compiled = re._compiler.compile; seen = []\nre._compiler.compile = lambda"
        " pattern, flags=0: (seen.append(pattern), compiled(pattern, flags))[1]\nfrom"
        " autodiff_cli.__main__ import run; run(sys.argv[1:]); print(len(seen), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *GRAD, "--json"], capture_output=True, text=True, check=True
    )
    assert 3 < int(done.stderr) <= 14


NEEDED = {
    f"autodiff_cli.capabilities.derivatives{part}"
    for part in ("", ".gradient", ".gradient_function")
}
"""What a gradient needs of the capabilities."""
UNNEEDED = re.compile(
    r"autodiff_cli\.(capabilities|compiled|language\.diagnostics|engine\.(algebra|numerics|quantities))\."
)
"""The rooms of which it needs no more than that."""


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_a_gradient_in_python_loads_no_other_capability() -> None:
    loaded = loaded_by(
        "import autodiff_cli\nassert autodiff_cli.gradient('x**2', {'x': 3}).value == 9"
    )
    own = {name for name in loaded if name.partition(".")[0] == "autodiff_cli"}
    assert 40 < len(own) <= 63
    assert {name for name in own if UNNEEDED.match(name)} == NEEDED
    assert {name for name in own if name.startswith("autodiff_cli.show.")} <= {
        "autodiff_cli.show.numerals",
        "autodiff_cli.show.subject",
    }
    assert not loaded & SLOW and not {name.partition(".")[0] for name in loaded} & HEAVY


def test_importing_the_package_imports_nothing_else() -> None:
    assert [
        name for name in loaded_by("import autodiff_cli") if name.startswith("autodiff_cli.")
    ] == []


@pytest.mark.parametrize(
    "command", [command for command in QUESTIONS if command not in ("grad", "maximize")]
)
def test_a_python_function_loads_no_other(command: str) -> None:
    loaded = loaded_by(f"from autodiff_cli import {command}")
    functions = {name.split(".")[3] for name in loaded if name.endswith("_function")}
    assert functions == {f"{command}_function"}


def test_the_version_needs_no_engine() -> None:
    loaded = modules("--version")
    assert not [name for name in loaded if re.match(r"autodiff_cli\.(language|engine)\b", name)]


def test_the_budget_test_would_notice() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import rich.console\n" + RUN, *GRAD],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "rich.console" in done.stderr.split("\n")


def test_nothing_is_imported_before_signals_are_handled() -> None:
    # what Python itself has loaded is there; all else would be time in which Ctrl-C is answered by
    # a traceback
    code = (
        "import sys, os, io, abc, __future__; before = set(sys.modules); import"
        " autodiff_cli.__main__; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"autodiff_cli", "autodiff_cli.__main__", "errno", "gc"}


ENGINE = re.compile(r"autodiff_cli\.(language|engine|capabilities|compiled|data)\b")
TAB = {
    "a command": ["gr"],
    "an option": ["grad", "x*y", "--pre"],
    "a choice": ["grad", "x*y", "--format", "j"],
}


@pytest.mark.parametrize("words", TAB.values(), ids=TAB)
def test_a_press_of_tab_loads_neither_rich_nor_the_engine(words: list[str]) -> None:
    loaded = modules_of_a_press_of_tab(*words)
    assert not {name.partition(".")[0] for name in loaded} & {"typer", *HEAVY}
    assert not [name for name in loaded if ENGINE.match(name)]


def test_the_list_of_commands_loads_no_command() -> None:
    loaded = modules("--help")
    assert not [name for name in loaded if ENGINE.match(name)]


def test_tab_and_help_load_little_more_than_an_answer() -> None:
    answer = len(modules(*GRAD, "--json"))
    for words in TAB.values():
        assert len(modules_of_a_press_of_tab(*words)) <= 1.2 * answer
    for args in (["--help"], ["grad", "--help"]):
        assert len(modules(*args)) <= 1.25 * answer
