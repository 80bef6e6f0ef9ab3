"""What people type first: short options, the version, one variable without its name, answers on a
terminal.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest

import autodiff_cli
from autodiff_cli.capabilities.formulas.diff import diff, differential_operator
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse_program
from running import autodiff
from terminals import ESCAPE


def on_terminal(command: str, folder: Path) -> str:
    """What a shell's command shows on a terminal."""
    command = command.replace("autodiff", f"{sys.executable} -m autodiff_cli")
    child = pexpect.spawn("sh", ["-c", command], cwd=str(folder), encoding="utf-8", timeout=60)
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before)


def test_the_version_is_told_by_any_name() -> None:
    version = autodiff("--version")
    assert version.code == 0 and version.out.startswith("autodiff ")
    assert autodiff("-V") == autodiff("version") == version


def test_short_options_stand_alone(tmp_path: Path) -> None:
    result = autodiff("grad", "x**2", "--at", "x=3", "-o", "out.json", folder=tmp_path)
    assert (result.code, result.out) == (0, "") and '"value": 9.0' in (
        tmp_path / "out.json"
    ).read_text()
    assert autodiff("grad", "-o*2", "--at", "o=1", "--format", "plain").out == "-2.0 o=-2.0\n"
    assert "warning" in autodiff("grad", "abs(x)", "--at", "x=0").err
    assert autodiff("grad", "abs(x)", "--at", "x=0", "-q").err == ""
    assert autodiff("grad", "log(x)", "--at", "x=0", "-q").err.startswith("error: ")


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (("x^2", "--help"), "diff"),
        (("x^2", "--at", "x=3", "-h"), "grad"),
        (("x**2 = 2", "--help"), "solve"),
    ],
)
def test_help_beside_a_formula_is_that_of_the_command_which_answers_it(
    typed: tuple[str, ...], command: str
) -> None:
    shown = autodiff(*typed)
    assert shown.code == 0 and f"Usage: autodiff {command} [OPTIONS]" in shown.out


def test_quiet_holds_for_one_command() -> None:
    typed = ("grad", "x*y", "x=2,y=3", "--format", "plain")
    assert autodiff(*typed, "-q").err == ""
    assert autodiff(*typed).err == "read as: autodiff grad 'x*y' --at x=2,y=3\n"


@pytest.mark.posix
def test_a_program_that_is_piped_is_answered_for_people_on_a_terminal(tmp_path: Path) -> None:
    shown = on_terminal("echo 'x**2' | autodiff grad --at x=2 --no-tree", tmp_path)
    assert "value" in shown and "│" in shown and '{"id"' not in shown
    assert autodiff("grad", "--at", "x=2", stdin="x**2\n").out.startswith('{"id"')


@pytest.mark.posix
def test_a_page_for_a_terminal_is_a_file_that_it_names(tmp_path: Path) -> None:
    for name in ("page.html", "page2.html"):
        assert on_terminal("autodiff page 'x**2' --at x=2", tmp_path).split() == [name]
        assert (tmp_path / name).read_text().startswith("<!DOCTYPE html>")
    assert autodiff("page", "x**2", "--at", "x=2").out.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("text", "values", "wrt", "leaves", "numbers"),
    [
        ("a = 2; b = -1.5; a*b", {}, None, ["a", "b"], {"a": "2", "b": "-1.5"}),
        ("a = 2; b = 3; a*b", {}, "a", ["a"], {"a": "2"}),
        ("a = 2; b = 3; a*b", {"a": 1.0}, None, ["a", "b"], {"b": "3"}),
        ("a = 2; a*x", {"x": 1.0}, None, ["x"], {}),
        ("a = 2; a*x", {"x": 1.0}, ["a", "x"], ["a", "x"], {"a": "2"}),
        ("a = 2; a += 1; a", {}, None, [], {}),
        ("a = 1 + 1; a", {}, None, [], {}),
        ("e = 2; e*3", {}, None, ["e"], {"e": "2"}),
        ("a = 2", {}, None, [], {}),
    ],
)
def test_names_bound_to_numbers_are_variables_where_they_are_meant(
    text: str, values: dict[str, float], wrt: str | None, leaves: list[str], numbers: dict[str, str]
) -> None:
    program, added, _ = parse_program(text, values, wrt)
    assert (list(program.leaves), added) == (leaves, numbers)


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("d/dx x^2", ("x", 1)), ("d²/dx² f", ("x", 2)), ("d^2/dt^2 sin(t)", ("t", 2)), ("∂/∂x x y", ("x", 1)),
        ("d/dx(x)", ("x", 1)), ("d/dx", None), ("d/dx*3", None), ("d/dx - x", None), ("d/dx^2 x", None), ("d*x", None),
    ],
)  # fmt: skip
def test_the_sign_of_a_derivative_is_told_from_a_quotient(
    text: str, by: tuple[str, int] | None
) -> None:
    operator = differential_operator(text)
    assert (operator and (operator.name, operator.order)) == by


@pytest.mark.parametrize("text", ["xy", "2xy + 1", "mx + b", "πr", "ax"])
def test_diff_asks_whether_letters_are_a_product(text: str) -> None:
    with pytest.raises(ExpressionError, match="may be one name or a product"):
        diff(text)


@pytest.mark.parametrize("text", ["dt*v", "mu*x", "x1*x2", "id + nu", "kT", "xy = x*y; xy**2"])
def test_diff_leaves_other_names_alone(text: str) -> None:
    assert diff(text).derivatives


@pytest.mark.posix
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("autodiff grad 'x^2 sin x' --at x=2 --format plain", "read as: x^2*sin(x)"),
        ("autodiff grad 'x^2 sin x' --at x=2 --format plain --strict", "add `--lenient`"),
        ("autodiff grad 'x^2 sin x' --at x=2 --format plain 2>log; cat log", "add `--lenient`"),
        ("autodiff grad 'x^2 sin x' --at x=2 --format plain | cat", "add `--lenient`"),
        ("echo 'x^2 sin x' | autodiff grad --at x=2 --format plain", "add `--lenient`"),
        ("echo 'x^2 sin x' > f; autodiff grad --file f --at x=2 --format plain", "add `--lenient`"),
        ("autodiff grad '1/2x' --at x=2", "can be read in two ways"),
    ],
)
def test_what_is_typed_at_a_terminal_is_read_informally(
    command: str, shown: str, tmp_path: Path
) -> None:
    printed = ESCAPE.sub("", on_terminal(command, tmp_path))
    assert shown in printed
    # 4*sin(2), by hand
    assert ("3.637" in printed) == shown.startswith("read as")


def test_python_names_the_argument_that_reads_informally() -> None:
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.gradient("x^2 sin x", "x=2")
    assert "or add `lenient=True`" in caught.value.__notes__[0]
    with pytest.raises(ExpressionError) as caught:
        autodiff_cli.gradient("1/2x", "x=2")
    assert "lenient" not in caught.value.__notes__[0]
