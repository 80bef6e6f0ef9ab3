"""Sessions: at a real terminal, as scripts, and the programs that are made of them."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import mpmath
import pexpect
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.capabilities.derivatives.gradient import Gradient, gradient
from autodiff_cli.capabilities.formulas.diff_view import Listing
from autodiff_cli.capabilities.session import repl
from autodiff_cli.capabilities.session.repl import completions
from autodiff_cli.capabilities.session.session import Session
from autodiff_cli.capabilities.session.session_lines import Lines
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse
from autodiff_cli.questions.typed_lines import statements_of
from running import autodiff

READY = r"\x1b\[\?2004h"
"""What the prompt of prompt_toolkit writes when it takes a line."""


def environment(state: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(state),
        "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1", "LANG": "C.UTF-8", **more,
    }  # fmt: skip


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[pexpect.spawn]:
    child = pexpect.spawn(
        sys.executable, ["-m", "autodiff_cli", "repl"], env=environment(tmp_path), encoding="utf-8",
        dimensions=(24, 80), timeout=60,
    )  # fmt: skip
    child.expect(READY)
    yield child
    child.close(force=True)


def asked(child: pexpect.spawn, line: str, answer: str) -> None:
    """Type a line and wait for the answer and the next prompt."""
    child.send(line)
    child.expect(answer)
    child.expect(READY)


@pytest.mark.posix
def test_a_session_at_a_terminal(terminal: pexpect.spawn, tmp_path: Path) -> None:
    assert "Informal notation is read" in terminal.before and "`:help` says more" in terminal.before
    asked(terminal, "f(x) = x² sin x\r", r"f\(x\) = x²\*sin\(x\)\r\n")
    asked(terminal, "f(3)\r", r"ans = 1\.27008")
    # Ctrl-C drops the line, and the session goes on with what it knew
    terminal.send("f(3) + 1000")
    asked(terminal, "\x03", r"\r\n")
    asked(terminal, "ans*0 + 7\r", r"ans = 7\r\n")
    # two lines up is `f(3)`, and edited it becomes `f(0)`
    asked(terminal, "\x1b[A\x1b[A\x1b[D\x7f0\r", r"ans = 0\r\n")
    for typed, completed in (("solv\t", r"e\b"), ("f = 2 --for x --at x=1 --forma\t", r"t\b")):
        terminal.send(typed)
        terminal.expect(completed)
    asked(terminal, " plain\r", r"x=1\.4220833")
    asked(terminal, "2 + )\r", r"\^\r\n\s+hint: write the value")
    terminal.send("\x04")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert (terminal.exitstatus, terminal.signalstatus) == (0, None)
    history = tmp_path / "autodiff" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert history.read_text(encoding="utf-8").splitlines()[:2] == ["f(x) = x² sin x", "f(3)"]


@pytest.mark.posix
def test_a_paste_of_several_lines(terminal: pexpect.spawn) -> None:
    pasted = "f(x) = x**2 + 1\nplot f --range -1:1 --format plain\na = (1 +\n 2)\n"
    asked(terminal, f"\x1b[200~{pasted}\x1b[201~\r", r"a = 3\r\n")
    asked(terminal, "f(a)\r", r"ans = 10\r\n")


@pytest.mark.posix
def test_history_comes_back(tmp_path: Path) -> None:
    (tmp_path / "autodiff").mkdir()
    (tmp_path / "autodiff" / "history").write_text(
        "".join(f"{k} + 1\n" for k in range(repl.MAX_HISTORY_LINES + 10))
    )
    child = pexpect.spawn(
        sys.executable,
        ["-m", "autodiff_cli", "repl"],
        env=environment(tmp_path),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(READY)
    asked(child, "\x1b[A\x1b[A\r", rf"ans = {repl.MAX_HISTORY_LINES + 9}")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert (
        len((tmp_path / "autodiff" / "history").read_text().splitlines())
        == repl.MAX_HISTORY_LINES // 2 + 1
    )


@pytest.mark.posix
@pytest.mark.parametrize("state", ["/dev/null", "folder"])
def test_a_plain_prompt_and_no_history_fail_nothing(tmp_path: Path, state: str) -> None:
    if state == "folder":
        (tmp_path / "folder" / "autodiff" / "history").mkdir(parents=True)
        state = str(tmp_path / "folder")
    env = environment(Path(state), TERM="dumb")
    child = pexpect.spawn(
        sys.executable, ["-m", "autodiff_cli", "repl"], env=env, encoding="utf-8", timeout=20
    )
    child.expect("> ")
    for line, answer in (
        ("x = 2\r", "x = 2\r\n"),
        ("x^2\r", "ans = 4"),
        ("\x03", "\n"),
        ("ans + 1\r", "ans = 5"),
    ):
        child.send(line)
        child.expect(answer)
        child.expect("> ")
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, child.signalstatus) == (0, None)


def test_a_module_that_a_thread_imports_at_the_end_fails_nothing() -> None:
    code = (
        "import sys, types; from autodiff_cli.__main__ import main;name ="
        " 'autodiff_cli.streams.filesystems'; sys.modules[name] = types.ModuleType(name);"
        " sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "repl"],
        input="1 + 1",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ans = 2\n", "", 0)


def test_the_modules_to_import_ahead_exist() -> None:
    own = [
        name
        for names in repl.LIBRARIES.values()
        for name in names
        if name.startswith("autodiff_cli.")
    ]
    assert len(own) > 10
    assert [name for name in own if find_spec(name) is None] == []


def test_the_first_answer_waits_for_no_module(tmp_path: Path) -> None:
    code = """
import io, sys
from contextlib import redirect_stdout, redirect_stderr
from autodiff_cli.capabilities.session import repl
from autodiff_cli.capabilities.session.session_lines import Lines
repl.preload()
before = set(sys.modules)
session = Lines()
with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    for line in ("a = 2", "f(x) = a x²", "f(3)", "f'(3)", "f'", "x y", "a^2", "1 +", "sqrt(-a)"):
        session.answer(line)
assert {*sys.modules} == before, {*sys.modules} - before
repl.import_commands()
before = {name.partition(".")[0] for name in sys.modules}
with redirect_stdout(io.StringIO()):
    for line in ("plot f --range x=0:1", "solve f = 2 --for x", "hessian f --at x=1", "trace f --at x=1"):
        assert session.answer(line) == 0, line
late = {name.partition(".")[0] for name in sys.modules} & {"numpy", "scipy", "uniplot", "matplotlib", "rich"} - before
assert late <= {"scipy"}, late
repl.IDLE_SECONDS = 0
repl.preload_all()
for line in (
    "fit y = c*exp(b*x) --data DATA --at c=1,b=0.5", "minimize (x-1)^2 --at x=0", "descend (x-1)^2 --at x=0",
    "maximize -x^2 --at x=1", "propagate x*y --at x=1±0.1,y=2±0.2", "check x^2 --at x=2", "graph x^2 --at x=2",
    "jacobian x,y --at x=2,y=1", "grad x^2 --at x=0:1:0.5", "grad x^2 --points DATA", "export x^2 --to c",
    "functions sin", "units N", "exercise --count 1", "diff x^2 --answer 2x", "diff x^2+y^2=1 --for y",
    "taylor sin(x)/x --at x=0", "page x^2 --at x=2 --output PAGE", "help plot", "x = 2 kg",
):
    before = set(sys.modules)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert session.answer(line.replace("DATA", sys.argv[1]).replace("PAGE", sys.argv[2])) == 0, line
    late = {name for name in {*sys.modules} - before if name.startswith(("autodiff", "numpy", "scipy", "llvmlite"))}
    assert not late, (line, late)
"""
    data = tmp_path / "d.csv"
    data.write_text("x,y\n0,1\n1,3.1\n2,4.9\n3,7.05\n", encoding="utf-8")
    arguments = [sys.executable, "-c", code, str(data), str(tmp_path / "p.html")]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


WAITING = """
import gc, sys, threading
from autodiff_cli.__main__ import run
from autodiff_cli.capabilities.session import repl
from autodiff_cli.engine.numbers import budget
repl.IDLE_SECONDS = 0
gc.disable()
class Lines(repl.Lines):
    def answer(self, line):
        if line == "wait":
            repl._answering.release()
            for thread in threading.enumerate():
                if thread.daemon:
                    thread.join()
            repl._answering.acquire()
            print("garbage:", gc.get_count()[0] > budget.MAX_GARBAGE_OBJECTS / 2)
            return 0
        before = set(sys.modules)
        code = super().answer(line)
        print("late:", {*sys.modules} - before)
        return code
repl.Lines = Lines
sys.exit(run(["repl"]))
"""


@pytest.mark.posix
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_at_any_prompt_all_is_loaded_ahead(tmp_path: Path, term: str) -> None:
    (tmp_path / "d.csv").write_text("x,y\n0,1\n1,3.1\n2,4.9\n3,7.05\n", encoding="utf-8")
    child = pexpect.spawn(
        sys.executable, ["-c", WAITING], env=environment(tmp_path, TERM=term), encoding="utf-8",
        timeout=60, dimensions=(60, 100), cwd=str(tmp_path),
    )  # fmt: skip
    ready = "> " if term == "dumb" else READY
    child.expect(ready)
    child.send("wait\r")
    child.expect("garbage: False\r\n")
    child.expect(ready)
    for line in ("fit y = c*exp(b*x) --data d.csv --at c=1,b=0.5", "minimize (x-1)^2 --at x=0"):
        child.send(f"{line}\r")
        child.expect(r"late: (.*)\r\n")
        assert child.match[1] == "set()"
        child.expect(ready)
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, child.signalstatus) == (0, None)


def test_a_rehearsal_prints_nothing_and_changes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    before = mpmath.mp.prec
    repl.preload()
    assert capfd.readouterr() == ("", "") and mpmath.mp.prec == before


def test_a_large_library_is_imported_while_its_command_is_typed() -> None:
    code = """
import sys, threading
from autodiff_cli.capabilities.session import repl
repl.preload()
repl.import_commands()
for text in ("m", "minimize", "mini x", "f = 2"):
    repl.preload_for(text)
assert "scipy" not in sys.modules and threading.active_count() == 1
repl.preload_for("minimize f")
repl.preload_for("minimize f ")
for thread in threading.enumerate():
    if thread.name == "minimize":
        thread.join()
assert "scipy.optimize" in sys.modules
repl.preload_for("minimize f")
assert threading.active_count() == 1
repl.preload_for("plot f --outp")
assert threading.active_count() == 1 and "matplotlib" not in sys.modules
repl.preload_for("plot f --output")
for thread in threading.enumerate():
    if thread.name == "plot":
        thread.join()
assert "matplotlib.figure" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "entries", "by"),
    [
        ("[x, x**2*y]", ("x", "x**2*y"), "xy"),
        ("[[sin(x), y], [exp(x*y), 2]]", ("sin(x)", "y", "exp(x*y)", "2"), "xy"),
        ("[[1, 2], [3, 4]] @ [x, tanh(y)]", ("x + 2*tanh(y)", "3*x + 4*tanh(y)"), "xy"),
        ("x**3, log(y)", ("x**3", "log(y)"), "xy"),
    ],
)
def test_lists_have_the_derivatives_of_their_entries(
    line: str, entries: Sequence[str], by: str
) -> None:
    session = Session()
    names = dict(zip("xy", sympy.symbols("x y"), strict=True))
    point = {"x": 0.75, "y": 1.25}

    def listed(text: str) -> list[float]:
        return [
            float(sympy.sympify(part).subs(point))
            for part in text.replace("[", "").replace("]", "").split(", ")
        ]

    def shown() -> dict[str, str]:
        (part,) = statements_of(line)
        answer = session.statement(line, part).answer
        assert isinstance(answer, Listing)
        return answer.texts

    formulas = shown()
    for name, x in point.items():
        (part,) = statements_of(f"{name} = {x}")
        session.statement(f"{name} = {x}", part)
    numbers = shown()
    assert [*numbers] == ["ans", *(f"d/d{name}" for name in by)]
    for name in by:
        slopes = [float(sympy.diff(entry, names[name]).subs(point)) for entry in entries]
        assert listed(formulas[f"d/d{name}"]) == pytest.approx(slopes, rel=1e-12)
        assert listed(numbers[f"d/d{name}"]) == pytest.approx(slopes, rel=1e-5)


def test_a_long_list_is_shown_without_derivatives() -> None:
    session = Session()
    for line in ("w = [" + ", ".join(map(str, range(1, 1001))) + "]", "w**2"):
        (part,) = statements_of(line)
        answer = session.statement(line, part).answer
    assert isinstance(answer, Listing) and [*answer.texts] == ["ans"]
    assert session.values["ans"].endswith("998001, 1000000]")


def test_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "data.csv").touch()
    (tmp_path / "days").mkdir()
    both = [f"{tmp_path}/data.csv", f"{tmp_path}/days/"]
    for line in (":load ", ":save ", 'fit "y = a*x" --data ', "fit y --data "):
        assert completions(Lines(), f"{line}{tmp_path}/da") == (f"{tmp_path}/da", both)
    assert completions(Lines(), "plot x --format pd") == ("pd", ["pdf"])


def test_a_session_is_a_program_that_file_reads(tmp_path: Path) -> None:
    saved = tmp_path / "model.txt"
    script = f"a = 1.5\nf(x) = a x² + b\nb = a/2\ng(x) = f'(x)*x\nb + g(3)\n:save {saved}\n"
    first = autodiff("repl", stdin=script)
    assert (first.code, first.err) == (0, "")
    value = autodiff("grad", "--file", str(saved), "--format", "plain")
    assert (value.code, float(value.out.split()[0])) == (0, 0.75 + 27)
    again = autodiff("repl", str(saved), stdin="g(3)\n:names\n")
    assert again.code == 0 and "ans = 27\n" in again.out and "f(x) = a*x² + b\n" in again.out
    kept = autodiff("repl", stdin=f"1 + 1\n:save {saved}\n:save {saved} --force\n")
    assert kept.code == 5 and "exists" in kept.err and saved.read_text() == "1 + 1\n"


def test_a_file_is_loaded_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("a = 1\nb = a +\n")
    result = autodiff("repl", stdin=f"a = 7\n:load {path}\na\n")
    assert result.code == 3 and "2 │ b = a +" in result.err and result.out.endswith("ans = 7\n")
    path.write_text("x = 2\ny = x**2\nx = 3\ny\n")
    assert "`x` is bound twice" in autodiff("repl", str(path)).err


def test_nothing_that_is_typed_is_run(tmp_path: Path) -> None:
    script = "!touch a\n`touch a`\n$(touch a)\n:!touch a\ngrad `touch a`\n; touch a\n"
    result = autodiff("repl", stdin=script, folder=tmp_path)
    assert result.code and not [*tmp_path.iterdir()]


def test_standard_input_that_is_no_text_is_an_error_of_its_line() -> None:
    result = autodiff("repl", stdin=b"x = 2\n\xff\xfe\nx\n")
    assert result.code == 3 and result.out == "x = 2\nans = 2\n"


def test_completion_knows_commands_names_functions_and_options() -> None:
    session = Lines()
    session.session.definitions.clear()
    for line in ("speed = 2", "spin(x) = x^2"):
        for part in statements_of(line):
            session.session.statement(line, part)
    assert completions(session, "sp") == ("sp", ["speed", "spin("])
    assert completions(session, "2sp")[1] == ["speed", "spin("]
    assert (
        "solve " in completions(session, "so")[1] and "softplus(" in completions(session, "so")[1]
    )
    assert completions(session, "plot spin --ra") == ("--ra", ["--range"])
    assert completions(session, "fit y --loss h") == ("h", ["huber"])
    assert completions(session, ":s") == (":s", [":steps", ":save"])
    assert completions(session, "1 + ") == ("", [])


LINES = st.lists(
    st.one_of(
        st.builds("{} = {}".format, st.sampled_from("abc"), st.integers(-3, 3)),
        st.builds("{} = {} + {}*{}".format, *[st.sampled_from("abc")] * 4),
        st.builds("{}(x) = {}*x^2 + {}(x)".format, *map(st.sampled_from, ("fg", "abc", ("f", "g", "sin")))),
        st.builds("{}'({}) + {}".format, st.sampled_from("fg"), st.sampled_from("abc"), st.sampled_from("abc")),
        st.builds("{} {} {}".format, st.sampled_from("abc"), st.sampled_from("+*/"), st.sampled_from("abcfg")),
    ),
    max_size=12,
)  # fmt: skip


@given(LINES)
def test_a_session_is_always_a_program_and_errors_change_nothing(script: list[str]) -> None:
    session = Session()
    for line in script:
        (part,) = statements_of(line)
        before = session.values.copy(), session.definitions.copy()
        try:
            shown = session.statement(line, part)
        except ExpressionError:
            assert (session.values, session.definitions) == before
            continue
        session.values.pop("ans", None)
        session.definitions.pop("ans", None)
        if isinstance(shown.answer, Gradient):
            # other definitions may have variables, on which this value does not depend
            free = dict.fromkeys(parse(session.program()).leaves, 1.5)
            value = gradient(session.program(), free).value
            assert value == pytest.approx(shown.answer.value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("x = 2; f(x, y) = x*y; x += 1; f(1, 2)", ["bind", "define", "augment", "expression"]),
        ("x == 2", ["expression"]),
        ("f(2) = x", ["expression"]),
        ("f() = 1", ["expression"]),
        ("f(x y) = 1", ["expression"]),
        ("x =", ["expression"]),
    ],
)
def test_statements_are_told_apart(line: str, kinds: list[str]) -> None:
    assert [part.kind for part in statements_of(line)] == kinds
    assert all(re.fullmatch(r"\S.*", line[part.start : part.end]) for part in statements_of(line))


@pytest.mark.parametrize("line", ["plot --help", "plot x^2 -h"])
def test_help_behind_a_command_is_about_that_command(line: str) -> None:
    assert autodiff("repl", stdin=f"{line}\n") == autodiff("plot", "--help")


def session(*lines: str) -> list[str]:
    """What a session prints to these lines, an error as its first line."""
    result = autodiff("repl", stdin="\n".join(lines) + "\n")
    return (
        result.out
        + "".join(line for line in result.err.splitlines(True) if line.startswith("error"))
    ).splitlines()


def test_a_name_made_of_the_last_answer_keeps_its_value() -> None:
    assert session("3", "y = ans*2", "10", "y", "y", "y") == [
        "ans = 3", "y = 6", "ans = 10", "ans = 6", "ans = 6", "ans = 6",
    ]  # fmt: skip
    assert session("3", "f(x) = ans*x", "5", "f(2)")[-1] == "ans = 6"


def test_a_name_made_of_an_answer_with_a_unit_keeps_both() -> None:
    assert session("L = 2 m", "L", "y = ans*3", "1", "y")[-1] == "y = 6 m"


def test_what_is_saved_of_the_last_answer_is_its_value(tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    session("3", "y = ans*2", "10", f":save {path}")
    assert path.read_text().splitlines()[0] == "y = 6"


def test_a_derivative_inside_an_expression_is_no_quotient() -> None:
    for line in ("dh/dx + 1", "2*dh/dx", "k = dh/dx*x"):
        assert (
            session("h = x^2", line)[-1]
            == "error: `dh/dx` is a derivative only in a line by itself"
        )
    assert "ans = 3" in session("h = x^2", "dh = 6", "dx = 3", "dh/dx + 1")


def test_parameters_hide_formulas_where_a_function_is_differentiated() -> None:
    lines = session("f(x,y) = x*y", "y = x^2", "df/dx", "d/dx f", "df/dy")
    assert lines[-3:] == ["d/dx = y", "d/dx = y", "d/dy = x"]
