"""Capabilities apart: without one of them only its own commands are missing, and a message says
so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import autodiff_cli
from autodiff_cli.cli.declarations import QUESTIONS

PACKAGE = Path(autodiff_cli.__file__).parent
GRAMMARS = next(
    path for path in (PACKAGE / "grammars", PACKAGE.parent / "grammars") if path.is_dir()
)

FOLDER = PACKAGE / "capabilities"
NAMES = tuple(sorted(path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()))

NEEDED_BY_ALL = {"derivatives", "graph"}
"""A gradient and its tree are what all others show or check by."""

PARTS = {"jacobian": "derivatives/jacobian.py", "cluster": "../data/cluster.py"}
"""Modules that can be taken out by themselves."""

FAILS = {
    # marking an antiderivative is an exercise
    "exercise": ("exercise", "answer", "antiderivative"),
    "plot": ("plot", "plot of data", "contours"),
    "propagate": ("propagate", "samples", "propagate equations"),
    "optimize": ("descend", "minimize", "maximize", "fit", "fit of powers"),
    # solutions have derivatives of implicit functions; exercises may ask for these
    "solve": ("solve", "system", "solve a sweep", "implicit", "propagate equations"),
    # exercises are derivatives as formulas, a page shows them, and a session reads `d/dx`
    "formulas": (
        "diff",
        "markdown",
        "implicit",
        "export",
        "functions",
        "units",
        "exercise",
        "answer",
        "page",
        "playground",
        "repl",
        "antiderivative",
    ),
    "export": ("export", "page", "playground"),
    "page": ("page", "playground"),
    "playground": ("playground",),
    "trace": ("trace", "exercise", "answer", "page", "playground", "antiderivative"),
    "check": ("check",),
    "limit": ("limit", "integrate", "tangent"),
    "tangent": ("tangent",),
    "integrals": ("integrate", "antiderivative", "integral as typed"),
    "session": ("repl",),
    "serve": ("serve",),
    "jacobian": ("jacobian",),
    "cluster": (),
}
"""The lines of `LINES` that need each: those of its own commands, and why others."""

LINES = {
    "grad": "grad x**2*y --at x=3,y=2",
    "limit": "limit sin(x)/x --at x=0",
    "tangent": "tangent x**2 --at x=2",
    "integrate": "integrate exp(-x**2) --between x=0:1",
    "antiderivative": "integrate x**2 --answer x**3/3",
    "integral as typed": "∫x²dx",
    "json": "grad exp(x)*y --at x=3,y=2 --json",
    "lone": "grad x**2 --at 3 --format plain",
    "quantities": "grad F/A --at F=2kN,A=3mm^2 --in MPa --json",
    "latex": "grad x**2 --at x=1 --format latex",
    "exact": "grad x/3 --at x=1 --exact --json",
    "certified": "grad exp(x) --at x=1 --certified --json",
    "mistake": "grad sinn(x) --at x=1 --json",
    "lenient": "grad 2x*sin(y) --at x=1,y=2 --lenient",
    "sweep": "grad x**2*y --at x=1:3:1,y=2",
    "points": "grad x**2 --points points.csv --format csv",
    "sum": "grad (y-a*x)^2 --at a=1 --data data.csv --reduce sum",
    "stream": "grad - --format plain",
    "hessian": "hessian x**2*y --at x=1,y=2",
    "jacobian": "jacobian x*y,x --at x=1,y=2",
    "taylor": "taylor sin(x) --at x=0",
    "trace": "trace x*y --at x=1,y=2",
    "graph": "graph x*y --at x=1,y=2",
    "svg": "graph x*y --at x=1,y=2 --format svg",
    "page": "page x*y --at x=1,y=2",
    "playground": "page --playground -o site",
    "check": "check x*y --at x=1,y=2",
    "diff": "diff x**2*sin(x)",
    "markdown": "diff x**2 --format markdown",
    "implicit": "diff x^2+y^2=1 --for y",
    "export": "export x*y",
    "functions": "functions tanh",
    "units": "units inch",
    "descend": "descend (x-3)**2 --at x=0 --rate 0.4 --steps 60",
    "minimize": "minimize (x-3)**2 --at x=0",
    "maximize": "maximize -(x-3)**2 --at x=0 --format plain",
    "fit": "fit y=a+b*x --data data.csv",
    "fit of powers": "fit y=a*x^b --data data.csv --at a=1,b=1",
    "solve": "solve x**2=a --at a=2 --between 0:2",
    "system": "solve x+y=3;x*y=2 --at x=1,y=2.5",
    "solve a sweep": "solve x**2=a --at a=1:3:1,x=1 --for x",
    "propagate": "propagate V/I --at V=5.00±0.02,I=0.01966(10)",
    "samples": "propagate x**2 --at x=5.00±0.02 --samples 1000",
    "propagate equations": "propagate x^2=a --for x --at a=2.0(1),x=1",
    "plot": "plot x**2 --range x=-1:1 --format json",
    "plot of data": "plot a*x --at a=2 --data data.csv --response y --format json",
    "contours": "plot x**2+y**2 --format json",
    "exercise": "exercise --level 2 --count 2",
    "answer": "diff x**2 --answer 2x",
    "repl": "repl",
    "serve": "serve",
    "help": "grad --help",
}
"""Command lines: of every command, and of the ways in which one might need another capability."""

DRIVER = """
import io, json, sys
from autodiff_cli.__main__ import run
told = {}
for name, line in json.loads(sys.argv[1]).items():
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"x**2\\tx=3\\n" if name == "stream" else b"x = 2\\nx**2\\n"))
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\\n") for _ in range(2))
    code = run(line.split())
    texts = []
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    told[name] = [code, *texts]
    sys.stdin, sys.stdout, sys.stderr = kept
assert sys.modules["autodiff_cli"].__file__.startswith(sys.argv[2])
print(json.dumps(told))
"""
Told = dict[str, list[object]]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """What the lines answer without each capability; without none of them by the name ""."""
    top = tmp_path_factory.mktemp("capabilities")
    with ThreadPoolExecutor(2) as pool:
        names = ["", *FAILS]
        return dict(
            zip(
                names,
                pool.map(lambda name: told_without(name, top / (name or "all")), names),
                strict=True,
            )
        )


def told_without(name: str, top: Path) -> Told:
    """What the lines answer in a copy of the package that lacks a capability."""
    shutil.copytree(PACKAGE, top / "autodiff_cli", ignore=shutil.ignore_patterns("grammars"))
    shutil.copytree(GRAMMARS, top / "autodiff_cli" / "grammars")
    part = top / "autodiff_cli" / "capabilities" / PARTS.get(name, name)
    if name:
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    (top / "data.csv").write_text("x,y\n1,2.1\n2,3.9\n3,6.2\n4,7.8\n", encoding="utf-8")
    (top / "points.csv").write_text("x\n1\n2\n", encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(top),
        "PYTHONDONTWRITEBYTECODE": "",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(LINES), str(top)],
        cwd=top, env=environment, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, (name, done.stderr)
    told: Told = json.loads(done.stdout)
    return told


def test_every_command_is_run() -> None:
    assert {line.split()[0] for line in LINES.values()} == {*QUESTIONS, "repl", "serve", "∫x²dx"}
    assert {line for lines in FAILS.values() for line in lines} <= {*LINES}
    assert FAILS.keys() - PARTS.keys() == {*NAMES} - NEEDED_BY_ALL


def test_all_lines_are_answered_by_the_whole(copies: dict[str, Told]) -> None:
    codes = {name: told[0] for name, told in copies[""].items()}
    assert codes == {**dict.fromkeys(LINES, 0), "mistake": 3}
    assert all(told[1] for told in copies[""].values())


@pytest.mark.parametrize("name", FAILS)
def test_without_a_capability_only_its_own_commands_are_missing(
    name: str, copies: dict[str, Told]
) -> None:
    told, whole, fails = copies[name], copies[""], FAILS[name]
    others = {line: answer for line, answer in told.items() if line not in fails}
    assert others == {line: answer for line, answer in whole.items() if line not in fails}
    for line in fails:
        code, out, err = told[line]
        assert code == 2, (line, told[line])
        message = r"error: this installation lacks a part of autodiff: `[\w.]+`\n"
        hint = r"  hint: install it whole: `pip install --force-reinstall autodiff-cli`\n"
        assert re.fullmatch(message + hint, str(err)), (line, err)
        assert out == ""
