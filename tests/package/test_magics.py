"""`%load_ext autodiff_cli`: `%autodiff` and `%%autodiff` in a shell of IPython."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autodiff_cli import gradient
from autodiff_cli.capabilities.derivatives.gradient_function import Gradient
from autodiff_cli.capabilities.optimize.minimize_function import Minimum


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    made = interactive.InteractiveShell.instance()
    made.run_line_magic("load_ext", "autodiff_cli")
    yield made
    interactive.InteractiveShell.clear_instance()


def _run(shell: Any, cell: str) -> Any:
    return shell.run_cell(cell).result


def test_a_command_has_its_answer_as_the_result(shell: Any) -> None:
    found = _run(shell, '%autodiff grad "x**2*y" --at x=3 --at y=2 --wrt x,y')
    assert type(found) is Gradient and found.gradient == gradient("x**2*y", "x=3,y=2").gradient
    assert "<table>" in found._repr_html_()
    assert _run(shell, '%autodiff grad "x/3" --at x=1 --exact').gradient["x"].text == "1/3"
    assert _run(shell, "%%autodiff grad --at x=3\ns = x*2\ns**2").gradient == {"x": 24.0}
    found = _run(shell, '%autodiff minimize "(x-1)**2" --at x=0')
    assert type(found) is Minimum and found.x.round(9).tolist() == [1.0]
    assert _run(shell, '%autodiff maximize "2-(x-1)**2" --at x=0').value == 2.0


def test_what_has_no_python_answer_is_printed(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(shell, '%autodiff diff "x**2" --json') is None
    assert '"formula": "2*x"' in capsys.readouterr().out


def test_other_lines_are_those_of_a_session(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _run(shell, "%autodiff f(x) = x² sin x")
    _run(shell, "%autodiff f'(3)")
    _run(shell, "%%autodiff\ng(x) = exp(-x)\nf + g")
    printed = capsys.readouterr().out
    assert "ans = -8.06321" in printed and "x**2*sin(x) + exp(-x)" in printed


def test_errors_are_shown_without_calls(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for cell, part in (
        ('%autodiff grad "log(x)" --at x=-1', "`log` is undefined at -1"),
        ("%autodiff grad --help", "help is not shown by the magic"),
        ('%autodiff grad "x" --pont x=1', "--pont"),
    ):
        assert _run(shell, cell) is None
        shown = capsys.readouterr()
        assert part in shown.err + shown.out and "Traceback" not in shown.err + shown.out
