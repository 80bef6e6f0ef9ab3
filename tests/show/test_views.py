"""Every answer in every form: as text what its command prints to a pipe, and as HTML, LaTeX, a
drawing, a record.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any
from xml.etree import ElementTree

import pytest

from autodiff_cli import show as views
from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.capabilities.exercise.exercise import make_sheet
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.formulas.functions import function
from autodiff_cli.capabilities.graph.graph import picture
from autodiff_cli.capabilities.optimize.descend import descend
from autodiff_cli.capabilities.optimize.fit import fit
from autodiff_cli.capabilities.optimize.minimize import minimize
from autodiff_cli.capabilities.plot.plot import plot
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.capabilities.solve.solve import solve
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.arithmetic import arithmetic_of
from places import TESTS
from running import autodiff

TEXT = "tanh(x*w) + x"
AT = {"x": 0.5, "w": 2.0}
EXACT = arithmetic_of(True, None, False)
POINT = ("--at", "x=0.5,w=2")

ANSWERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "gradient": (gradient(TEXT, AT), ("grad", TEXT, *POINT)),
    "exact": (
        gradient("x/3", {"x": 1}, arithmetic=arithmetic_of(True, None, False)),
        ("grad", "x/3", "--at", "x=1", "--exact"),
    ),
    "trace": (trace(TEXT, AT), ("trace", TEXT, *POINT)),
    "graph": (picture(TEXT, AT), ("graph", TEXT, *POINT)),
    "check": (check(TEXT, AT), ("check", TEXT, *POINT)),
    "descend": (
        descend("x**2", {"x": 1.0}, steps=5),
        ("descend", "x**2", "--at", "x=1", "--steps", "5"),
    ),
    "minimize": (minimize("x**2 - x", {"x": 1.0}), ("minimize", "x**2 - x", "--at", "x=1")),
    "curve": (plot("x**2", {"x": 1.0}), ("plot", "x**2", "--at", "x=1")),
    "surface": (plot("x*w", AT), ("plot", "x*w", *POINT)),
    "diff": (diff(TEXT), ("diff", TEXT)),
    "hessian": (hessian(TEXT, AT), ("hessian", TEXT, *POINT)),
    "jacobian": (jacobian(f"{TEXT}, x", AT), ("jacobian", f"{TEXT}, x", *POINT)),
    "taylor": (
        taylor("exp(x)", {"x": 1}, order=3),
        ("taylor", "exp(x)", "--at", "x=1", "--order", "3"),
    ),
    "propagate": (
        propagate("x*w", {"x": "0.5±0.1", "w": "2(1)"}),
        ("propagate", "x*w", "--at", "x=0.5±0.1,w=2(1)"),
    ),
    "solve": (solve("x**2 = a", {"a": 2}), ("solve", "x**2 = a", "--at", "a=2")),
    "fit": (
        fit("y = a + b*x", {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.1, 2.9, 5.2, 6.9]}),
        ("fit", "y = a + b*x", "--data", str(TESTS / "cases" / "files" / "line.csv")),
    ),
    "export": (export(TEXT, "c"), ("export", TEXT, "--to", "c")),
    "exercise": (make_sheet(1, count=3, seed=2), ("exercise", "--count", "3", "--seed", "2")),
    "functions": (function("tanh"), ("functions", "tanh")),
}
FORMULAS = {"diff", "taylor"}
"""Answers that are a formula, which says all of them."""
IN_FORMULAS = FORMULAS | {"gradient", "exact", "hessian", "jacobian"}
"""Answers that can be written as formulas."""
DRAWINGS = {"graph", "descend", "curve", "surface", "propagate", "fit"}
NOT_LISTED = {
    "graph": {"json", "jsonl", "markdown"},
    "curve": {"markdown"},
    "surface": {"markdown"},
}
"""Formats that an answer has and its command does not offer."""


@pytest.mark.parametrize("name", ANSWERS)
def test_a_text_is_what_the_command_prints(name: str) -> None:
    answer, command = ANSWERS[name]
    assert views.text(answer) == autodiff(*command).out
    tried = 0
    for format in (
        set(views.view_of(answer).formats)
        - {"table", "json", "jsonl", "png", "pdf"}
        - NOT_LISTED.get(name, set())
    ):
        if name == "export":
            continue
        tried += 1
        assert views.text(answer, format) == autodiff(*command, "--format", format).out
    assert tried >= (name != "export")


def test_a_text_has_no_colour_even_where_the_environment_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, command = ANSWERS["gradient"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert views.text(answer) == autodiff(*command).out


@pytest.mark.parametrize("name", ANSWERS)
def test_html_and_records(name: str) -> None:
    answer, _ = ANSWERS[name]
    made = views.html(answer)
    assert (made is None) == (name in FORMULAS)
    assert made is None or ElementTree.fromstring(made).get("class") == "autodiff-answer"
    assert json.loads(json.dumps(views.record(answer), allow_nan=False))


def keys(record: Any) -> set[str]:
    """The keys of a record, of the records in its lists, and so on."""
    if isinstance(record, list):
        return set().union(*map(keys, record))
    return set(record).union(*map(keys, record.values())) if isinstance(record, dict) else set()


@pytest.mark.parametrize("name", ANSWERS)
def test_the_reference_has_the_keys_of_records(name: str) -> None:
    answer, (command, *_) = ANSWERS[name]
    page = (TESTS / "tutorials" / "reference.md").read_text(encoding="utf-8")
    tables = re.findall(rf"^`{command}`.*?:\n\n(.*?)\n\n", page, re.DOTALL | re.MULTILINE)
    listed = {key for table in tables for key in re.findall(r"^\| `([\w.]+)`", table, re.MULTILINE)}
    record = views.record(answer)
    assert record.keys() - {"arithmetic", "digits"} <= listed
    nested = {key.split(".")[-1] for key in listed}
    names = {"x", "w", "a", "b", "kind", "message", "start", "end", "hint"} | {
        key for key in keys(record) if "," in key
    }
    assert keys(record) - {"arithmetic", "digits"} - names <= nested


COMMAND_LINES = (
    'grad "y = x*w; y**2" --at x=1,w=2 --all --relative',
    'grad "x/3" --at x=1 --precision 30',
    'grad x**2 --at "x=1 m"',
    'grad "(y - a*x)**2" --data LINE --reduce sum --at a=1',
    "trace x*w --at x=1,w=2 --mode forward --direction x=1",
    "graph x*w --at x=1,w=2",
    "check sin(x) --at x=1",
    "descend x**2 --at x=1 --steps 2",
    "minimize x**2 --at x=1",
    'minimize x**2 --at x=2 --subject-to "x >= 1"',
    "maximize -x**2 --at x=1",
    "plot x**2 --at x=1 --order 2",
    "plot exp(x),1+x --range x=0:1",
    "plot x*w --at x=1,w=2",
    "diff x**2 --steps --at x=1",
    "diff x**2+y**2=1 --for y",
    'diff "sqrt(x**2)" --assume "x > 0"',
    "diff x**2 --answer 3*x",
    "hessian x**2*w --at x=1,w=2",
    "hessian x**2 --at x=1 --answer 3",
    "jacobian x,x*w --at x=1,w=2 --direction x=1",
    "jacobian x,x*w --at x=1,w=2 --adjoint 1,2",
    "taylor exp(x) --at x=0 --order 2",
    "taylor exp(x) --at x=0 --order 2 --answer 1+x",
    "propagate x**2 --at x=1±0.1 --samples 1000",
    "solve x**2=a --at a=2 --relative",
    "solve x**2=a --for x",
    "solve x**2=4 --answer x=2",
    'fit "y = a + b*x" --data LINE',
    'fit "y = a + b*x" --data LINE --predict x=1',
    "export x**2 --to sql",
    "exercise --count 2 --solutions --level 3",
    "exercise --check 1 --answer 2",
    "exercise x**2 --check 1 --answer 2*x",
    "functions",
    "functions sin",
    "units",
    "units kN",
    "units h",
)
COMMON = {"id", "line", "expr", "note", "arithmetic", "digits", "within"}
"""The keys that records of all commands may have."""


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_the_reference_has_the_keys_that_a_command_prints(line: str) -> None:
    data = str(TESTS / "cases" / "files" / "line.csv")
    command, *args = [data if word == "LINE" else word for word in shlex.split(line)]
    printed = json.loads(autodiff(command, *args, "--json").out)
    page = (
        (TESTS / "tutorials" / "reference.md")
        .read_text(encoding="utf-8")
        .partition("<!-- table: keys -->")[2]
    )
    if "--answer" in args and command != "exercise":
        assert (
            "\nWith `--answer`: those of `exercise`"
            in page.partition(f"\n`{command}`:\n")[2].partition("\n\n`")[0]
        )
        command = "exercise"
    tables = re.findall(rf"^`{command}`(?:, [^\n]*)?:\n\n(.*?)\n\n", page, re.DOTALL | re.MULTILINE)
    listed = [set(re.findall(r"^\| `([\w.]+)`", table, re.MULTILINE)) for table in tables]
    assert listed
    for record in printed if isinstance(printed, list) else [printed]:
        assert "error" not in record
        assert any(record.keys() - COMMON <= known for known in listed), (
            record.keys() - COMMON - set().union(*listed)
        )


@pytest.mark.parametrize("name", ANSWERS)
def test_formulas_and_drawings(name: str) -> None:
    answer, _ = ANSWERS[name]
    formula, drawing = views.latex(answer), views.svg(answer)
    assert (formula is not None) == (name in IN_FORMULAS)
    assert (drawing is not None) == (name in DRAWINGS)
    assert drawing is None or ElementTree.fromstring(drawing).tag.endswith("svg")


def test_a_formula_in_latex_is_the_one_that_the_command_writes() -> None:
    assert views.latex(diff(TEXT)) == views.latex(diff(TEXT, language="latex"))
    assert views.latex(diff(TEXT, language="python")) is None
    assert views.latex(taylor("exp(x)", {"x": 0}, order=2)) == "\n".join(
        [
            r"\begin{align*}",
            r"f(x) &= e^{x} \\",
            r"&\approx 1 + x + \frac{1}{2} x^{2}",
            r"\end{align*}",
        ]
    )


def test_a_formula_at_a_point_says_its_value_there() -> None:
    told = views.latex(diff("x**2/y", {"x": 1.5, "y": 2e-7}, wrt=["x"]))
    assert told is not None
    assert (
        told.split("\n")[-2]
        == r"\left.\frac{\partial f}{\partial x}\right|_{x = 1.5,\ y = 2 \times 10^{-7}} &= 1.5"
        r" \times 10^{7}"
    )
    exactly = views.latex(diff("x**2", {"x": "1/3"}, arithmetic=EXACT))
    assert exactly is not None and r"\right|_{x = \frac{1}{3}} &= \frac{2}{3}" in exactly


def test_a_format_that_an_answer_lacks_is_refused() -> None:
    with pytest.raises(ExpressionError, match="`plain` is not one of this command's formats"):
        views.text(export(TEXT, "c"), "plain")
