"""The Python interface: each function answers what its command answers, with its options as keyword
arguments.
"""

from __future__ import annotations

import builtins
import copy
import doctest
import gc
import importlib
import inspect
import json
import math
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from uncertainties import ufloat

import autodiff_cli
import autodiff_cli as api
from autodiff_cli import ExpressionError, Value, parse
from autodiff_cli.api.keywords import options_of
from autodiff_cli.api.tracebacks import explain
from autodiff_cli.capabilities.derivatives.gradient import gradient as question
from autodiff_cli.cli.declarations import QUESTIONS
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.engine.table.primitives import MAX
from running import autodiff

NAMES = {command: {"grad": "gradient"}.get(command, command) for command in QUESTIONS}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    command: getattr(api, name) for command, name in NAMES.items() if hasattr(api, name)
}
SHELL = {
    "backend", "columns", "debug", "document", "engine", "file", "force", "format", "input_format",
    "json", "keep", "keep_all", "on_error", "output", "plot", "points", "report", "residuals",
    "save_path", "save_point", "errors", "scheduler", "spreadsheet", "wide", "workers", "separator",
    "decimal", "skip", "encoding", "comment", "header", "missing", "quiet", "strict", "tangent",
    "where", "playground", "pyodide", "ask",
}  # fmt: skip
"""Options that say where programs and points come from and where answers go, which in Python is
Python's affair.
"""

LOOK = {"theme": "dark", "title": "A", "size": "8x6cm", "legend": "none"}
PICTURES = ("theme", "title", "size", "legend")
"""Options of the pictures of answers."""


def keywords(command: str) -> set[str]:
    """The options of a command that are keyword arguments: what becomes of rows, only where they
    are of one answer.
    """
    options = set(options_of(command))
    return options - (SHELL - {"on_error"} if "reduce" in options else SHELL)


SUM = "a = x*w; tanh(a) + x"
POINT = "x=0.5,w=2"

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("grad", SUM, {"at": POINT}),
    ("grad", SUM, {"at": POINT, "wrt": "w", "all": True, "digits": 3, "depth": 1}),
    ("grad", "x + w + x*w", {"at": POINT, "binary": True}),
    ("grad", SUM, {"at": POINT, "no_tree": True, "precision": 25, "work": 2}),
    ("grad", "x/3 + abs(w)", {"at": POINT, "no_table": True, "exact": True}),
    ("grad", SUM, {"at": POINT, "certified": True}),
    ("grad", "x*exp(-x)", {"over": "x=0.2:0.9", "certified": True}),
    ("grad", SUM, {"at": POINT, "relative": True, "sort": True}),
    ("grad", "x*w**2", {"at": POINT, "relative": True, "exact": True}),
    ("grad", SUM, {"at": POINT, "value_only": True}),
    ("grad", SUM, {"at": POINT, "decimals": 2}),
    (
        "grad",
        "(w - a*x)**2",
        {"at": "a=2", "data": "readings.csv", "reduce": "mean", "on_error": "skip"},
    ),
    ("check", "1 + x", {"over": "x=0:1"}),
    ("trace", SUM, {"at": POINT, "wrt": "w", "digits": 3, "lines": 2}),
    ("trace", SUM, {"at": POINT, "decimals": 2}),
    ("trace", SUM, {"at": POINT, "blanks": True}),
    ("trace", SUM, {"at": POINT, "blanks": True, "mode": "forward", "direction": "w=2"}),
    ("trace", SUM, {"at": POINT, "mode": "forward", "direction": "x=1", "work": 2}),
    ("graph", SUM, {"at": POINT, "wrt": "x", "digits": 3, "depth": 1}),
    ("graph", "x + w + x*w", {"at": POINT, "binary": True}),
    ("graph", SUM, {"at": POINT, "layout": "down", "partials": True, "width": 400}),
    ("graph", SUM, {"at": POINT, "decimals": 2}),
    ("graph", SUM, {"symbolic": True, "work": 2, "theme": "dark"}),
    ("page", SUM, {"at": POINT, "wrt": "x", "theme": "dark", "work": 2}),
    ("check", SUM, {"at": POINT, "wrt": "x", "require": 9, "work": 2, "digits": 3}),
    ("check", SUM, {"at": POINT, "decimals": 2}),
    (
        "check",
        "(w - a*x)**2",
        {"at": "a=2", "data": "readings.csv", "reduce": "mean", "on_error": "skip"},
    ),
    ("descend", "x**2 + w**2", {"at": POINT, "rate": 0.2, "steps": 9, "wrt": "x", "digits": 3}),
    (
        "descend",
        "x**2",
        {"at": "x=1", "method": "momentum", "momentum": 0.5, "decimals": 2, **LOOK},
    ),
    ("descend", "x**2 + w**2", {"at": "x=1", "init": "normal", "seed": 5, "steps": 3}),
    (
        "descend",
        "-x**2",
        {"at": "x=1", "method": "adam", "beta1": 0.8, "beta2": 0.9, "maximize": True},
    ),
    (
        "descend",
        "x**2",
        {"at": "x=1", "gradient_tolerance": 1e-3, "value_tolerance": 1e-9, "work": 2},
    ),
    (
        "descend",
        "(w - a*x)**2",
        {"at": "a=2", "data": "readings.csv", "reduce": "sum", "steps": 3, "on_error": "fail"},
    ),
    (
        "descend",
        "(w - a*x)**2",
        {
            "at": "a=2",
            "data": "readings.csv",
            "reduce": "sum",
            "batch": 2,
            "epochs": 3,
            "shuffle": True,
            "seed": 4,
        },
    ),
    (
        "minimize",
        "(x-3)**2 + w**2",
        {"at": POINT, "bounds": "x=0:1", "wrt": "x", "digits": 3, "steps": 50},
    ),
    (
        "minimize",
        "(x-3)**2",
        {"at": "x=1", "method": "newton-cg", "gradient_tolerance": 1e-4, "decimals": 2},
    ),
    ("minimize", "(x-3)**2", {"at": "x=1", "work": 2}),
    ("minimize", "x**4 - 3*x**2 + x", {"at": "x=1", "starts": 5, "seed": 2}),
    ("maximize", "x**3 - 3*x", {"at": "x=-1", "bounds": "x=-3:1.5", "starts": 5}),
    ("minimize", "(x-3)**2 + w**2", {"at": "x=1", "init": "uniform", "seed": 5}),
    ("minimize", "(x-3)**2 + w**2", {"at": POINT, "subject_to": "x + w <= 1"}),
    (
        "minimize",
        "(w - a*x)**2",
        {"at": "a=2", "data": "readings.csv", "reduce": "mean", "on_error": "skip"},
    ),
    ("plot", "x**2*w", {"at": POINT, "range": "x=-1:1", "work": 2, "digits": 3}),
    ("plot", "x**2*w", {"at": POINT, "wrt": "w", "theme": "dark", "size": "8x6cm", "decimals": 2}),
    ("plot", "x**2", {"at": "x=1", "title": "A", "legend": "none"}),
    ("plot", "x**2 + w**2", {"at": POINT, "path": "path.jsonl"}),
    ("plot", "x**3", {"at": POINT, "order": 2}),
    ("plot", "x**2, w*x", {"at": POINT, "wrt": "x", "apart": True}),
    ("plot", "x**2 + w**2 = 25", {"at": "x=3,w=4"}),
    ("diff", "x**3*w", {"at": POINT, "wrt": "x", "order": 2, "digits": 3}),
    ("diff", "x**w", {"at": POINT, "assume": "x > 0"}),
    ("diff", "x**w", {"wrt": "x", "everywhere": True}),
    ("diff", "exp(x*w)*sin(x*w)", {"share": True, "to": "python"}),
    ("diff", "x**3*sin(w)", {"order": 2, "steps": True}),
    ("diff", "x**3/w", {"at": POINT, "exact": True}),
    ("diff", "exp(x)/w", {"at": POINT, "precision": 25, "work": 3}),
    ("diff", "exp(x)/w", {"at": POINT, "certified": True}),
    ("diff", "exp(x)/w", {"at": POINT, "decimals": 2}),
    ("diff", "x**2 + w**2 = 1", {"for_": "x"}),
    ("hessian", SUM, {"at": POINT, "wrt": "x", "digits": 3}),
    ("hessian", SUM, {"at": POINT, "decimals": 2}),
    (
        "hessian",
        "(w - a*x)**2",
        {"at": "a=2", "data": "readings.csv", "reduce": "mean", "on_error": "skip"},
    ),
    ("hessian", "x**3/w", {"at": POINT, "exact": True}),
    ("hessian", SUM, {"at": POINT, "precision": 25, "certified": True, "work": 3}),
    ("jacobian", "x*w, x + w", {"at": POINT, "wrt": "x", "digits": 3}),
    ("jacobian", "x*w, x/w", {"at": POINT, "direction": "x=1", "exact": True}),
    ("jacobian", "x*w, x/w", {"at": POINT, "adjoint": "1,2", "precision": 25, "work": 3}),
    ("jacobian", "x*w, x/w", {"at": POINT, "certified": True}),
    ("jacobian", "x*w, x/w", {"at": POINT, "decimals": 2}),
    ("taylor", "exp(x*w)", {"at": POINT, "wrt": "x", "order": 3, "digits": 3}),
    ("taylor", "exp(x*w)", {"at": POINT, "wrt": "x", "decimals": 2}),
    ("taylor", "x/w", {"at": POINT, "wrt": "w", "exact": True}),
    ("taylor", "exp(x)", {"at": "x=1", "precision": 25, "certified": True, "work": 3}),
    (
        "limit",
        "atan(a*x)",
        {"at": "x=inf", "wrt": "x", "assume": "a > 0", "precision": 25, "certified": True},
    ),
    ("limit", "(1 - cos(x))/x^2", {"at": "x=0-", "exact": True, "digits": 3, "work": 3}),
    ("limit", "sin(2 x)/x", {"at": "x=0", "lenient": True, "decimals": 2}),
    ("limit", "m*c^2*sin(x)/x", {"at": "x=0,m=1 kg", "wrt": "x", "constants": "c", "in_": "kJ"}),
    ("tangent", "x**2*w", {"at": POINT, "wrt": "x", "digits": 3, "work": 2}),
    ("tangent", "exp(x)", {"at": "x=1", "precision": 25, "certified": True}),
    ("tangent", "x/w", {"at": POINT, "wrt": "w", "exact": True, "decimals": 2}),
    ("tangent", "x**2", {"at": "x=2 m", "in_": "cm^2", "lenient": True}),
    ("tangent", "G*x", {"at": "x=1 kg", "constants": "G", "wrt": "x"}),
    ("integrate", "x**2*w", {"over": "x", "assume": "w > 0", "digits": 3, "work": 2}),
    (
        "integrate",
        "2 x w",
        {
            "at": "w=2",
            "between": "x=0:w",
            "wrt": "w",
            "lenient": True,
            "precision": 20,
            "decimals": 2,
        },
    ),
    (
        "propagate",
        "x*w",
        {"at": "x=0.5±0.1,w=2.00(3)", "correlation": "x:w=0.5", "dof": "x=4,w=4", "level": 0.9},
    ),
    ("propagate", "x*w", {"at": "x=0.5±0.1 m,w=2.00(3) N", "in_": "J"}),
    ("propagate", "G*m", {"at": "m=1.0(1) kg", "constants": "G"}),
    ("propagate", "x*w, x", {"at": "x=0.5±0.1,w=2.00(3)", "k": 2.0, "sort": True, "digits": 3}),
    ("propagate", "x*w", {"at": "x=0.5±0.1,w=2.00(3)", **LOOK, "decimals": 2}),
    ("propagate", "x*w", {"at": "x=0.5±0.1,w=2.00±0.03", "worst_case": True}),
    ("propagate", "x*w", {"data": "readings.csv", "samples": 2000, "seed": 4, "work": 2}),
    ("propagate", "x*w", {"draws": "readings.csv", "samples": 2000}),
    ("propagate", "x**2 = a", {"at": "a=2±0.1,x=1", "for_": "x", "between": "0:4"}),
    ("propagate", "a + 3*b", {"fit": "fitted.json"}),
    ("propagate", "x*w", {"at": "x=0.5,w=2", "covariance": "covariance.csv"}),
    (
        "plot",
        "x**2 + w**2 = a",
        {"at": "x=3,w=4,a=25", "range": "x=-6:6", "for_": "w", "between": "0:6"},
    ),
    ("solve", "x**2 = a", {"at": "a=2,x=1", "for_": "x", "order": 2, "digits": 4, "wrt": "a"}),
    ("solve", "sin(x)", {"between": "1:7", "all": True, "decimals": 3}),
    ("diff", "x**2 = w", {"at": "x=2 m,w=4 m^2", "for_": "x", "in_": "mm"}),
    ("solve", "x**2 = a", {"at": "a=2 m^2", "between": "0 m:3 m", "in_": "mm"}),
    ("plot", "x*w", {"at": "x=1 mm,w=1 N", "range": "x=0:2 mm", "in_": "mJ"}),
    (
        "minimize",
        "(x - w)**2",
        {"at": "x=0 mm,w=1 cm", "wrt": "x", "bounds": "x=0:2 m", "in_": "mm^2"},
    ),
    ("descend", "(x - w)**2", {"at": "x=0 mm,w=1 cm", "wrt": "x", "steps": 3, "in_": "mm^2"}),
    ("solve", "x*exp(x) = a", {"at": "a=1", "precision": 20, "certified": True, "work": 2}),
    (
        "fit",
        "w = a*exp(k*x)",
        {"at": "k=0.1", "data": "readings.csv", "bounds": "k=-9:9", "level": 0.9, "digits": 4},
    ),
    (
        "fit",
        "dead = sigmoid(a + b*dose)",
        {"data": "beetles.csv", "loss": "binomial", "trials": "n", "at": "a=-57,b=32"},
    ),
    (
        "fit",
        "a*x + b",
        {"data": "readings.csv", "response": "w", "fix": "b=1", "loss": "huber", **LOOK},
    ),
    (
        "fit",
        "w = a*x",
        {"data": "readings.csv", "sigma": "x", "precision": 20, "certified": True, "work": 2},
    ),
    (
        "fit",
        "w = a*x",
        {"data": "readings.csv", "weights": "x", "decimals": 3, "intervals": "linear"},
    ),
    ("fit", "w = a*x", {"data": "readings.csv", "sigma": "x", "scale_errors": True}),
    ("fit", "w = a*x", {"data": "readings.csv", "predict": "x=2"}),
    ("fit", "w = a*exp(k*x)", {"at": "k=0.1", "data": "readings.csv", "starts": 3, "seed": 2}),
    ("fit", "w = a*x", {"data": "readings.csv", "in_": "1"}),
    ("fit", "w = a*x*alpha", {"data": "readings.csv", "constants": "alpha"}),
    ("fit", "w = a x", {"data": "readings.csv", "lenient": True}),
    ("export", "x*w", {"to": "c", "name": "area", "wrt": "x", "work": 2}),
    ("export", "x*w", {"to": "spreadsheet", "at": "x=2,w=3"}),
    ("exercise", "", {"level": 3, "count": 4, "seed": 5, "solutions": True}),
    ("exercise", "", {"check": 2, "answer": "1", "seed": 7}),
    ("exercise", "", {"topic": "chain,product", "count": 2, "title": "Sheet 3"}),
    ("diff", "x**2 + w**2 = 25", {"for_": "w", "order": 2, "steps": True}),
    ("diff", "x**3", {"answer": "3x²"}),
    ("solve", "x**2 = 4", {"answer": "±2"}),
    ("solve", "x*exp(x) = w", {"at": "w=2", "for_": "x", "relative": True, "sort": True}),
    ("integrate", "x**2", {"answer": "x³/3"}),
    ("integrate", "x*exp(x)", {"steps": True}),
    (
        "integrate",
        "m*c*x",
        {"at": "m=1 kg", "constants": "c", "between": "x=0 m:2 m", "in_": "J*m*s", "wrt": "m"},
    ),
    ("taylor", "exp(x)", {"at": "x=0", "order": 2, "answer": "1 + x + x²/2"}),
    ("hessian", "x**2*w", {"at": POINT, "wrt": "x", "answer": "4"}),
    ("export", "x*w", {"to": "sql", "dialect": "postgres"}),
    ("export", "x*w", {"to": "sql", "table": "lab.results"}),
    ("functions", "atanh", {}),
    ("units", "kN/mm^2", {}),
    ("grad", "x*w", {"at": "x=0.5 m,w=2 kN", "in_": "J"}),
    ("grad", "m*c**2", {"at": "m=1 kg", "constants": "c"}),
    *(
        (command, "m*c**2", {"at": "m=1 kg", "constants": "c", "in_": "kJ", "wrt": "m"})
        for command in ("check", "hessian", "jacobian", "taylor", "trace", "graph", "page", "diff")
    ),
    *(
        (command, "alpha*x**2", {"at": "x=0.5", "constants": "alpha", "wrt": "x"})
        for command in ("trace", "graph", "page", "descend", "minimize", "plot", "diff")
    ),
    ("solve", "x**2 = alpha", {"constants": "alpha", "for_": "x", "at": "x=1"}),
    ("grad", "½x w", {"at": POINT, "lenient": True}),
    ("trace", "x sin(w)", {"at": POINT, "lenient": True}),
    ("graph", "2 x w", {"at": POINT, "lenient": True}),
    ("page", "2 x w", {"at": POINT, "lenient": True}),
    ("check", "xw", {"at": POINT, "lenient": True}),
    ("descend", "(x-1)² + |2 w|", {"at": POINT, "lenient": True}),
    ("minimize", "(x-1)(x-2) + w²", {"at": POINT, "lenient": True}),
    ("plot", "x ln x", {"at": "x=2", "range": "x=1:3", "lenient": True}),
    ("plot", "x**2", {"range": "x=1:100", "log": "xy"}),
    ("plot", "x**2", {"range": "x=1:3", "samples": 4}),
    ("plot", "a*x", {"at": "a=2", "data": "readings.csv", "response": "w", "sigma": "5%"}),
    ("diff", "\\frac{x^2}{w}", {"lenient": True}),
    ("hessian", "sin²(x) w", {"at": POINT, "lenient": True}),
    ("jacobian", "x w, 2 x", {"at": POINT, "lenient": True}),
    ("taylor", "e^(2 x)", {"at": "x=1", "lenient": True}),
    ("propagate", "x w", {"at": "x=½ ± 0.1,w=1,000.5(3)", "lenient": True}),
    ("grad", "x/w", {"at": "x=⅓,w=2 ∛8", "lenient": True, "precision": 20}),
    ("export", "x sin(w)", {"lenient": True}),
    ("solve", "x e^(2 x) - w", {"at": "w=2", "lenient": True}),
    ("fit", "w = a x", {"data": "readings.csv", "lenient": True}),
]
CASES += [
    ("maximize", f"-({text})", given) for command, text, given in CASES if command == "minimize"
]
RECORDED = {"graph": None, "export": ["--json"], "descend": None}
"""How a command is asked for its record where that is not `--format json`; None where it has none,
or one a row.
"""


def arguments(command: str, text: str, given: dict[str, Any]) -> list[str]:
    """The command line that asks what a call asks."""
    made = [command, *([text] if text else [])]
    for name, value in given.items():
        made += [f"--{name.removesuffix('_').replace('_', '-')}"] + (
            [] if value is True else [str(value)]
        )
    return made


def without_hints(record: dict[str, Any]) -> dict[str, Any]:
    """The record without what its warnings advise, where options are spelled as keywords."""
    return {
        name: [{**each, "hint": None} for each in value] if name == "warnings" else value
        for name, value in record.items()
    }


@pytest.mark.parametrize(("command", "text", "given"), CASES, ids=lambda case: str(case)[:40])
def test_a_call_answers_what_the_command_answers(
    command: str, text: str, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("path.jsonl").write_text(
        '{"point": {"x": 1, "w": 1}}\n{"point": {"x": 0.5, "w": 0.5}}\n', encoding="utf-8"
    )
    fitted = api.fit("y = a + b*x", data={"x": [0, 1, 2, 3], "y": [1.1, 2.9, 5.2, 6.9]})
    Path("fitted.json").write_text(json.dumps(fitted.to_dict()), encoding="utf-8")
    Path("covariance.csv").write_text(",x,w\nx,0.04,0.01\nw,0.01,0.09\n", encoding="utf-8")
    Path("readings.csv").write_text("x,w\n1,2\n1.1,2.5\n0.9,2.2\n", encoding="utf-8")
    Path("beetles.csv").write_text(
        "dose,dead,n\n1.7,6,59\n1.75,18,62\n1.8,40,60\n1.85,55,59\n", encoding="utf-8"
    )
    answer = FUNCTIONS[command](*([text] if text else []), **given)
    of_pictures = {"graph": (), "page": (), "exercise": (), "plot": ("theme", "size")}.get(
        command, PICTURES
    )  # of answers drawn in a notebook
    asked = arguments(
        command, text, {name: x for name, x in given.items() if name not in of_pictures}
    )
    drawn = command == "graph" and {"layout", "partials", "width", "theme"} & given.keys()
    printed = autodiff(*asked, *(["--format", "svg"] if drawn else []))
    assert (answer.svg if drawn else f"{answer}\n", printed.code) == (printed.out, 0), printed.err
    assert len(repr(answer)) < 500
    # a run that goes on reads its rows where they are
    if command != "descend" or "data" not in given:
        again = pickle.loads(pickle.dumps(answer))  # noqa: S301
        assert str(again) == str(answer), "pickled with how it is shown"
    if RECORDED.get(command, True) is not None:
        record = json.loads(autodiff(*asked, *(RECORDED.get(command) or ["--format", "json"])).out)
        kept = {name: value for name, value in record.items() if name not in ("id", "line")}
        assert without_hints(
            json.loads(json.dumps(answer.to_dict(), allow_nan=False))
        ) == without_hints(kept)
    elif command == "descend":
        rows = [json.loads(line) for line in autodiff(*asked, "--format", "jsonl").out.splitlines()]
        assert answer.to_dict()["rows"] == rows
    else:
        assert answer.to_dict()["nodes"]


def test_a_formula_that_was_read_as_its_refusal_offers_says_so() -> None:
    with pytest.raises(ExpressionError):
        api.gradient("2 x", {"x": 3})
    answer = api.gradient("2 x", {"x": 3}, lenient=True)
    assert (answer.value, answer.text, answer.note) == (6.0, "2*x", "read as: 2*x")
    assert list(answer.to_dict().items())[:2] == [("expr", "2 x"), ("note", "read as: 2*x")]
    assert pickle.loads(pickle.dumps(answer)).note == answer.note  # noqa: S301
    strict = api.gradient("2x", {"x": 3}, lenient=True)
    assert (strict.note, str(strict)) == (None, str(api.gradient("2x", {"x": 3})))
    assert "note" not in strict.to_dict()
    (kink,) = api.gradient("1 + |2 x|", {"x": 0}, lenient=True).to_dict()["warnings"]
    assert (kink["start"], kink["end"]) == (4, 9)
    assert api.parse("x sin(x)", lenient=True).text == "x*sin(x)"
    meant = api.gradient("2 x y", {"x": "½", "y": 3}, lenient=True)
    assert (meant.value, meant.note, meant.to_dict()["note"]) == (
        3.0,
        "read as: 2*x*y; x = (1/2)",
        meant.note,
    )
    with pytest.raises(ExpressionError):
        api.gradient("2*x", "x=½")
    with pytest.raises(ExpressionError) as caught:
        api.gradient("1/2x", {"x": 3}, lenient=True)
    assert [offer.within("1/2x") for offer in caught.value.offers] == ["1/(2*x)", "(1/2)*x"]


def test_each_command_is_a_function() -> None:
    missing = [name for command, name in NAMES.items() if command not in FUNCTIONS]
    assert not missing, f"{missing}: write these functions in `api.py`, and their calls into CASES"


def test_each_option_was_used() -> None:
    for command in QUESTIONS:
        used = {name for each, _, given in CASES if each == command for name in given}
        assert used == keywords(command) - {"zip"}, command


@pytest.mark.parametrize("command", ["hessian", "taylor", "diff"])
def test_an_answer_is_marked_at_one_point(command: str) -> None:
    with pytest.raises(ExpressionError, match="an answer is marked at one point"):
        getattr(api, command)("x**2", at="x=1:2:1", answer="2")


def test_sweeps_answer_columns() -> None:
    columns = api.gradient("x*y", "x=0:1:0.5,y=2:4:1", zip=True)
    assert columns == {
        "x": [0.0, 0.5, 1.0],
        "y": [2.0, 3.0, 4.0],
        "value": [0.0, 1.5, 4.0],
        "d_x": [2.0, 3.0, 4.0],
        "d_y": [0.0, 0.5, 1.0],
        "error": [None] * 3,
    }
    assert api.hessian("x**3", {"x": "{1,2}"})["d_x_x"] == [6.0, 12.0]
    assert [x.text for x in api.hessian("x**2", "x=0:1:0.5", exact=True)["value"]] == [
        "0",
        "1/4",
        "1",
    ]
    roots = api.solve("x**3 = a", "a={1,8}", for_="x")
    assert roots["x"] == [1.0, 2.0] and roots["d_x_a"] == pytest.approx([1 / 3, 1 / 12])
    assert api.propagate("a*x", "x=1:2:1,a=2.0±0.1")["result"] == ["2.00(10)", "4.00(20)"]
    assert api.propagate("a*x", {"x": "1:2:1", "a": "2.0±0.1"})["result"] == [
        "2.00(10)",
        "4.00(20)",
    ]
    logarithms = api.taylor("log(x)", "x=0:1:1", order=1)
    assert logarithms["c1"] == [None, 1.0] and logarithms["error"][0].startswith("domain: ")
    for wrong in ("x=0:1", "x=0:1:1,y=0:1:0.5", "x=1,y=2"):
        with pytest.raises(ExpressionError):
            api.gradient("x*y", wrong, zip=True)
    for wrong, message in (
        ("1:2:1", "columns and a sweep"),
        (2, "`zip=True` pairs sweeps, and there are none"),
    ):
        with pytest.raises(ExpressionError, match=message):
            api.gradient("x*y", {"x": [1, 2], "y": wrong}, zip=True)
    with pytest.raises(ExpressionError, match="`y` is swept, and is not in the program"):
        api.gradient("x**2", "x=1,y=1:3:1")
    with pytest.raises(ExpressionError, match="`x` is swept, and is an unknown"):
        api.solve("x**2 = a", "a=1,x=1:2:1", for_="x")


@pytest.mark.parametrize("command", QUESTIONS)
def test_the_keyword_arguments_are_the_options(command: str) -> None:
    taken = dict(inspect.signature(FUNCTIONS[command]).parameters)
    if command != "exercise":
        taken.pop("name" if command in ("functions", "units") else "text")
    else:
        taken.pop("function")
    assert set(taken) == keywords(command)
    for name, parameter in taken.items():
        flag = options_of(command)[name].kind is bool
        assert parameter.default is (False if flag else None)
    assert getattr(FUNCTIONS[command], "__doc__", "").count(">>>")


def test_the_shells_options_are_options() -> None:
    assert {name for command in QUESTIONS for name in options_of(command)} >= SHELL


def test_all_is_at_the_top_of_the_package_and_has_one_name() -> None:
    names = {function.__name__ for function in FUNCTIONS.values()} | {
        "parse",
        "draw",
        "draw_dot",
        "rows",
        "Value",
    }
    assert names <= set(autodiff_cli.__all__) and dir(autodiff_cli) == sorted(autodiff_cli.__all__)
    assert (
        not set(autodiff_cli.__all__) & set(dir(builtins))
        and next(iter(autodiff_cli.__all__)) == "gradient"
    )
    everything: dict[str, Any] = {}
    exec("from autodiff_cli import *", everything)
    assert {*everything} - {"__builtins__"} == {*autodiff_cli.__all__}
    from autodiff_cli.engine.table.primitive import FUNCTIONS as OF_THE_LANGUAGE

    assert not names & set(OF_THE_LANGUAGE)
    package = Path(autodiff_cli.__file__).parent
    rooms = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/*.py")
    }
    assert not names & rooms
    code = (
        "from autodiff_cli import Value, "
        + ", ".join(sorted(names - {"Value"}))
        + "; assert callable(graph)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- what Python has for a point, for names, for ranges -------------------------------------------------------------
def test_points_are_dictionaries_too() -> None:
    wanted = api.gradient("x/w", "x=1/2,w=2").gradient
    for x in (
        0.5,
        np.float64(0.5),
        np.float32(0.5),
        np.array(0.5),
        "1/2",
        Fraction(1, 2),
        Decimal("0.5"),
    ):
        assert api.gradient("x/w", {"x": x, "w": np.int64(2)}).gradient == wanted
        assert api.gradient("x/w", at={"x": x, "w": 2}, exact=True).gradient["w"].text == "-1/8"
    tenth = {
        0.1: "1/10",
        np.float64(0.1): "1/10",
        Fraction(1, 7): "1/7",
        Decimal("1.30"): "13/10",
        10**20: f"{10**20}",
    }
    for given, text in tenth.items():
        assert api.gradient("x", {"x": given}, exact=True).value.text == text


def test_lists_and_dictionaries_are_read_as_the_options_are() -> None:
    text, at = "x**2 + w**2*x", {"x": 1.0, "w": 2.0}
    assert api.gradient(text, at, wrt=["w"]).gradient == api.gradient(text, at, wrt="w").gradient
    assert api.minimize(text, at, bounds={"x": (0, None), "w": (0.5, 3)}, wrt=["x", "w"]).point == api.minimize(
        text, at, bounds="x=0:,w=0.5:3", wrt="x,w"
    ).point  # fmt: skip
    assert api.plot("x**2", range={"x": (-1, 2)}) == api.plot("x**2", range=["x=-1:2"])
    along = [
        api.jacobian("x*w, x", at, direction=each).product for each in ("x=1,w=3", {"x": 1, "w": 3})
    ]
    against = [
        api.jacobian("x*w, x", at, adjoint=each).gradient
        for each in ("1,2", [1, 2], {"x*w": 1, "x": 2})
    ]
    assert along[0] == along[1] and against[0] == against[1] == against[2]
    run = api.descend("x**2 + w**2", at, steps=3)
    surface = api.plot("x**2 + w**2", path=run)
    assert isinstance(surface, api.Surface) and len(surface.path) == 4
    assert api.plot("x**2 + w**2", path=[row.point for row in run]) == surface


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"x": np.array([1.0, 2.0])}, "this program has 2 outputs"),
        ({"x": [1.0, 2.0]}, "this program has 2 outputs"),
        (np.array([1.0]), "a point has a number for each name, and this is an array"),
        ([1.0], "a point has a number for each name, and this is a list"),
        ({"x": object()}, "`x` needs a number, not <object"),
        ({"x": np.nan}, "`x` cannot be nan"),
        ({1: 2.0}, "1 is not a name"),
    ],
)
def test_what_is_no_point(point: Any, message: str) -> None:
    columns = isinstance(point, dict) and hasattr(point.get("x"), "__len__")
    for asked in (
        (api.plot, api.descend) if columns else (api.gradient, api.hessian, api.plot, api.descend)
    ):
        with pytest.raises(ExpressionError, match=message) as caught:
            asked("x**2", point)
        if "array" in message or "list" in message:
            assert (
                caught.value.hint is not None
                and "--points" in caught.value.hint
                and "numpy" in caught.value.hint
            )


def test_a_record_has_the_program_as_it_was_typed() -> None:
    assert api.diff("d/dx x**2").to_dict()["expr"] == "d/dx x**2"
    assert api.gradient("2 x", {"x": 1}, lenient=True).to_dict()["expr"] == "2 x"


def test_a_text_may_leave_out_the_name_of_the_only_variable() -> None:
    assert api.gradient("x**2", "pi/4").gradient == api.gradient("x**2", "x=pi/4").gradient
    assert api.gradient("x**2", "0:1:0.5") == api.gradient("x**2", "x=0:1:0.5")
    assert api.plot("x**2", range="-2:2") == api.plot("x**2", range={"x": (-2, 2)})
    assert api.minimize("(x - 3)**2", "0", bounds="0:1").point == {"x": 1.0}
    with pytest.raises(ExpressionError, match="`3` is given no value"):
        api.gradient("x*y", "3")


def test_columns_have_one_length_and_others_are_not_read() -> None:
    table = {"x": [1, 2, 3], "y": [2, 4, 6], "label": ["a", "b", "c"]}
    assert api.fit("y = a*x", data=table).point == {"a": 2.0}
    short = {"x": [1, 2, 3], "y": [2, 4]}
    for asked in (
        lambda: api.fit("y = a*x", data=short),
        lambda: api.fit("y = a*x", data=table, predict={"x": [1.0, 2.0], "t": [1.0]}),
        lambda: api.propagate("x*y", data=short),
        lambda: api.plot("a*x", {"a": 2}, data=short),
    ):
        with pytest.raises(ExpressionError, match="the columns are not of the same length"):
            asked()


def test_what_an_option_may_not_be() -> None:
    for function, given in ((api.gradient, {"precision": 0}), (api.gradient, {"digits": 18}),
                            (api.descend, {"steps": -1}), (api.descend, {"rate": "fast"}),
                            (api.taylor, {"order": 2.5}), (api.check, {"require": True})):  # fmt: skip
        with pytest.raises(ExpressionError, match="cannot be"):
            function("x**2", {"x": 1}, **given)
    with pytest.raises(ExpressionError, match="exclude each other"):
        api.gradient("x", "x=1", exact=True, precision=3)
    with pytest.raises(ExpressionError, match="`level` and `function` exclude each other"):
        api.exercise(2, "x**2")
    with pytest.raises(TypeError, match="unexpected keyword"):
        api.gradient("x", "x=1", format="json")  # type: ignore[call-overload]
    for asked in (api.gradient, api.parse, api.diff, api.export):
        with pytest.raises(TypeError, match="a program is text, not 3"):
            asked(3)


def test_quantities_are_those_of_other_packages_too() -> None:
    wanted = api.propagate("x*w", "x=0.5±0.1,w=2.00(3)", correlation="x:w=0.5")
    given = {"x": ufloat(0.5, 0.1), "w": "normal(2, 0.03)"}
    found = api.propagate("x*w", given, correlation={("x", "w"): np.float64(0.5)})
    assert found.results == wanted.results
    with pytest.raises(ExpressionError, match="`x:w` needs a number"):
        api.propagate("x*w", given, correlation={("x", "w"): [0.5]})
    columns = {"x": np.array([1.0, 1.1, 0.9]), "w": [2, 2.5, 2.2]}
    assert api.propagate("x*w", data=columns).results[0].dof == pytest.approx(2.0)
    assert repr(wanted) == "<Propagation: x*w = 1.00(21)>" and wanted.svg.startswith("<")


def test_the_text_of_a_name_sets_no_other(tmp_path: Path) -> None:
    data = {"x": [1, 2, 3, 4], "y": [1, 4, 9.1, 16]}
    with pytest.raises(ExpressionError, match="`a` needs one value, not `1,b=2`"):
        api.fit("y = a + b*x + c*x^2", data, fix={"a": "1,b=2"})
    with pytest.raises(ExpressionError, match="`x` needs one value"):
        api.propagate("x*w", {"x": "1±0.1", "w": "2±0.1"}, dof={"x": "5,w=3"})
    with pytest.raises(ExpressionError, match="`a` cannot be nan"):
        api.fit("y = a + b*x", data, fix={"a": math.nan})
    (tmp_path / "held.json").write_text('{"a": 1.5}', encoding="utf-8")
    wanted = api.fit("y = a + b*x", data, fix={"a": 1.5}).parameters["b"].estimate
    for held in ("a=1.5", {"a": "3/2"}, f"@{tmp_path / 'held.json'}"):
        assert api.fit("y = a + b*x", data, fix=held).parameters["b"].estimate == wanted
    with pytest.raises(ExpressionError, match="'a=1,b' is not a name"):
        api.propagate("x*w", {"x": "1±0.1", "w": "2±0.1"}, dof={"a=1,b": 5})


def test_held_values_keep_units_and_digits(tmp_path: Path) -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    data = {"x [s]": [0, 1, 2, 3], "y [mm]": [1, 3, 4.9, 7.1]}
    (tmp_path / "held.json").write_text('{"a": "1.5 mm"}', encoding="utf-8")
    wanted = api.fit("y = a + b*x", data, fix="a=1.5 mm").parameters["b"].estimate
    file = f"@{tmp_path / 'held.json'}"
    for held in (
        file,
        {"a": "1.5 mm"},
        {"a": 0.15 * registry.cm},
        {"a": Fraction(3, 2) * registry.mm},
    ):
        assert api.fit("y = a + b*x", data, fix=held).parameters["b"].estimate == pytest.approx(
            wanted, rel=1e-14
        )
    with pytest.raises(ExpressionError, match=r"the formula gives a length \(m\)"):
        api.fit("y = a + b*x", {"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]}, fix=file)
    with pytest.raises(ExpressionError, match="the value of `a` has a unit"):
        api.propagate("a*x", {"a": "1±0.1", "x": 2}, dof=file)
    third = api.gradient("x/3", {"x": 1}, exact=True).value
    plain = {"x": [0, 1, 2], "y": [1, 3, 4.9]}
    digits = [
        api.fit("y = a + b*x", plain, fix={"a": a}, precision=30).parameters["b"]
        for a in (third, "1/3")
    ]
    assert digits[0] == digits[1]
    square = api.gradient("x**2", {"x": 3 * registry.m})
    assert square.to_dict() == api.gradient("x**2", "x=3 m").to_dict()
    length = api.gradient(
        "x**2", {"x": Decimal("0.12345678901234567890123") * registry.m}, precision=40
    )
    assert (
        length.value
        == api.gradient("x**2", {"x": "0.12345678901234567890123 m"}, precision=40).value
    )
    assert api.gradient("x", {"x": np.int64(2**53 + 1)}, exact=True).value.text == str(2**53 + 1)


def test_every_argument_keeps_units_and_digits() -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    columns = {"x [s]": [0, 1, 2, 3], "y [mm]": [1, 3, 4.9, 7.1]}
    measured = {"x": np.array(columns["x [s]"]) * registry.s, "y": columns["y [mm]"] * registry.mm}
    for call in (
        lambda data: api.fit("y = a + b*x", data, sigma="0.1 mm"),
        lambda data: api.propagate("x*y", data=data),
        lambda data: api.gradient("(y - a*x)^2", "a=2 mm/s", data=data, reduce="sum"),
    ):
        assert call(measured).to_dict() == call(columns).to_dict()
    angle = {"x": (0, 90 * registry.deg)}
    assert (
        api.solve("sin(x) = 0.5", between=angle).to_dict()
        == api.solve("sin(x) = 0.5", between="x=0:90 °").to_dict()
    )
    assert api.solve("sin(x) = 0.5", between=angle).units is not None
    third = Fraction(1, 3)
    for adjoint in ([third, Decimal("0.1")], {"x*y": third, "x": "0.1"}, ["1/3", 0.1]):
        answer = api.jacobian("x*y, x", "x=1,y=2", adjoint=adjoint, exact=True)
        assert answer.gradient["x"].text == "23/30"
    step = api.jacobian("x*y, x", "x=1 m,y=2", direction={"x": 2 * registry.mm})
    assert step.product == api.jacobian("x*y, x", "x=1 m,y=2", direction="x=2 mm").product


def test_no_argument_sets_or_drops_a_second_one() -> None:
    with pytest.raises(ExpressionError, match="'x=0:1,y' is not a name"):
        api.minimize("x + y", "x=0,y=0", bounds={"x=0:1,y": (0, 2)})
    with pytest.raises(ExpressionError, match="`x` needs one value, not `1,y=0:2`"):
        api.minimize("x + y", "x=0,y=0", bounds={"x": ("0", "1,y=0:2")})
    with pytest.raises(ExpressionError, match="`x` and `y` are given two correlations"):
        api.propagate("x*y", "x=1±0.1,y=2±0.1", correlation={("x", "y"): 0.5, "x:y": 0.4})
    with pytest.raises(ExpressionError, match=r"`x\[1\]` is given two values"):
        api.gradient("sum(x)", {"x": [1, 2], "x[1]": 3})
    with pytest.raises(ExpressionError, match="`x` needs a number, not"):
        api.gradient("x", {"x": np.True_})


def test_a_constant_of_nature_has_no_second_value() -> None:
    line = {"x": [1, 2, 3], "y": [1, 4, 9.1]}
    for at in ({"x": 1, "c": 2}, {"x": 1, "c": "2"}, "x=1,c=2", {"x": 1, "c": "2 m/s"}):
        for call in (api.gradient, api.propagate):
            with pytest.raises(
                ExpressionError, match=r"`c` is given two values, 2.99792e\+08 and 2"
            ):
                call("c*x", at, constants="c")
    with pytest.raises(ExpressionError, match="`c` is given two values"):
        api.fit("y = a + c*x", line, fix={"c": 2}, constants="c")
    twice = api.gradient("c*x", {"x": 1, "c": 299792458}, constants="c")
    assert twice.to_dict() == api.gradient("c*x", "x=1", constants="c").to_dict()


# ---- errors ---------------------------------------------------------------------------------------------------------
def test_an_uncaught_error_shows_its_place_and_its_hint_once() -> None:
    for ask in (
        lambda: api.gradient("1 + log(x - 3)", "x=2"),
        lambda: parse("1 + log(x - 3)")(x=2),
    ):
        with pytest.raises(ExpressionError) as caught:
            ask()
        told = "".join(traceback.format_exception_only(caught.value))
        command = autodiff("grad", "1 + log(x - 3)", "--at", "x=2").err
        assert told.split("\n", 1)[1] == command.split("\n", 1)[1]
        explain(caught.value, "1 + log(x - 3)")
        assert len(caught.value.__notes__) == 1
    with pytest.raises(ExpressionError) as caught:
        api.gradient("x", "x=1 y=2")
    assert caught.value.__notes__[0].startswith("  x=1 y=2\n      ^\n  hint: ")
    with pytest.raises(ExpressionError) as caught:
        Value(2.0) ** 10_000
    assert caught.value.__notes__ == [f"  hint: {caught.value.hint}"]
    with pytest.raises(ExpressionError) as caught:
        Value(0.0).sqrt().backward()
    assert caught.value.__notes__ == [f"  hint: {caught.value.hint}"]


def test_errors_come_back_from_another_process() -> None:
    with pytest.raises(ExpressionError) as caught:
        api.gradient("x", "x=1 y=2")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (str(again), again.diagnostic, again.text, again.__notes__) == (
        str(caught.value), caught.value.diagnostic, "x=1 y=2", caught.value.__notes__
    )  # fmt: skip


def test_errors_of_the_command_have_no_notes() -> None:
    with pytest.raises(ExpressionError) as caught:
        question("1 + log(x - 3)", {"x": 2})
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: autodiff_cli.gradient("x*y", at={"x": 1}), 'give the point: `at="x=1,y=…"`'),
        (
            lambda: autodiff_cli.gradient("sin(x)", at="x=1", exact=True),
            "use `precision=50`, or `certified=True`, instead of `exact=True`",
        ),
        (
            lambda: autodiff_cli.gradient("x", at="x=1", exact=True, certified=True),
            "`exact=True` and `certified=True` exclude each other",
        ),
        (
            lambda: autodiff_cli.plot("x*y*z"),
            'say over which: `wrt="x,y"`; the others keep the values of `at`',
        ),
        (lambda: autodiff_cli.taylor("x*y", at="x=1,y=2"), 'choose one of `x`, `y`: `wrt="x"`'),
    ],
)
def test_errors_name_options_as_keyword_arguments(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        call()
    told = caught.value
    assert words in (told.hint or "") or words in str(told)
    assert "`--" not in f"{told} {told.hint} {told.__notes__}"


# ---- programs that are called ---------------------------------------------------------------------------------------
def test_a_program_is_called_with_numbers() -> None:
    f = parse("x**2 + y")
    assert (f(x=3, y=1), type(f(x=3, y=1)), repr(f)) == (10.0, float, "<Program of `x`, `y`>")
    assert f(x=np.float32(3), y=Fraction(1, 2)) == 9.5
    assert f(x=3, y=1) == 10.0
    assert parse("2*3")() == 6.0
    assert parse("x, y, x*y")(x=2, y=3) == (2.0, 3.0, 6.0)
    assert parse("log(x) if x > 0 else -x")(x=-2) == 2.0
    assert parse("f(x) = x**2")(x=3) == 9.0
    with pytest.raises(ExpressionError, match="undefined at 0"):
        parse("log(x)")(x=0)


def test_a_program_is_called_with_values() -> None:
    x = Value(3.0, label="a")
    made = parse("y*x**n if x > 0 else log(x)")(x=x, y=2 * x, n=2)
    assert (type(made), made.data) == (Value, 54.0)
    made.backward()
    assert x.grad == 54.0
    low = Value(-2.0)
    square = parse("x**n")(x=low, n=2)  # a number takes no derivative, which here would be log(-2)
    square.backward()
    assert low.grad == -4.0
    first, second = parse("x, 2")(x=x)
    assert first is x and second.data == 2.0
    assert repr(parse("x + 1")(x=x)) == "Value(data=4.0, grad=0.0)"


def test_a_program_is_called_with_the_names_that_it_has() -> None:
    f = parse("e*x + y")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"x": 1}, "needs a value for `y`"),
        ({"x": 1, "y": 2, "z": 3}, "`z` is not a variable"),
        ({"x": 1, "y": 2, "e": 3}, "`e` is a constant"),
        ({"x": "1", "y": 2}, "`x` cannot be '1'"),
        ({"x": ["a"], "y": 2}, "`x` cannot be"),
    ]
    for given, message in refused:
        with pytest.raises(TypeError, match=message):
            f(**given)
    # arrays have arrays as answers
    assert f(x=np.ones(2), y=2).tolist() == f(x=[1, 1], y=2).tolist() == [math.e + 2] * 2


# ---- pictures -------------------------------------------------------------------------------------------------------
def test_values_are_drawn_and_saved(tmp_path: Path) -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    out = (a * b).tanh()
    out.backward()
    picture = autodiff_cli.draw(out)
    assert autodiff_cli.draw_dot is autodiff_cli.draw
    assert picture._repr_svg_() == picture.svg and picture._repr_html_() is None
    assert 'label="a' in picture.dot or "a" in picture.dot
    for name, begins in (
        ("a.svg", b"<svg"),
        ("a.png", b"\x89PNG"),
        ("a.dot", b"digraph"),
        ("a.txt", b"node"),
    ):
        picture.save(str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(begins)
    with pytest.raises(ExpressionError, match="already exists"):
        picture.save(str(tmp_path / "a.svg"))
    picture.save(str(tmp_path / "a.svg"), force=True)
    with pytest.raises(ExpressionError, match="not one of this command's formats"):
        picture.save(str(tmp_path / "a.gif"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dot", "a.png", "a.svg", "a.txt"]
    assert len(autodiff_cli.draw([a * 2, b * 2]).outputs) == 2
    for bad in (2.0, [1.0], "a"):
        with pytest.raises(TypeError):
            autodiff_cli.draw(bad)  # type: ignore[arg-type]


def test_too_large_a_picture_is_shown_as_a_tree() -> None:
    total = Value(1.0)
    for _ in range(50_000):
        total = total + 1
    picture = autodiff_cli.draw(total)
    assert picture._repr_svg_() is None
    assert "<pre " in (picture._repr_html_() or "")


def test_programs_and_rows_of_the_table_are_copied_and_pickled() -> None:
    program = api.parse("x**2*y + max(x, y)")
    for again in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):  # noqa: S301
        assert again(x=2, y=3) == program(x=2, y=3) == 15
        assert again.outputs[0].primitive is program.outputs[0].primitive
    for row in (copy.copy(MAX), copy.deepcopy(MAX), pickle.loads(pickle.dumps(MAX))):  # noqa: S301
        assert row is MAX


def test_the_html_of_an_answer_has_its_warnings() -> None:
    shown = autodiff_cli.gradient("abs(x) + y", at="x=0,y=1")._repr_html_() or ""
    assert (
        "warning: `abs` has no derivative at 0" in shown
        and "convention: 0 at 0" in shown
        and r"\n" not in shown
    )
    assert "warning" not in (autodiff_cli.gradient("x**2", at="x=1")._repr_html_() or "warning")
    assert "warning" in (autodiff_cli.hessian("x", at="x=1,z=2")._repr_html_() or "")


# ---- types and examples ---------------------------------------------------------------------------------------------
TYPED = """
from typing import Any, assert_type
from autodiff_cli import Gradient, Value, check, descend, diff, draw, export, fit, functions, gradient, hessian
import autodiff_cli as api
from autodiff_cli import jacobian, minimize, parse, plot, propagate, solve, tanh, taylor, trace
assert_type(gradient("x", {"x": 1}), Gradient[float])
assert_type(gradient("x", "x=1", wrt=["x"], digits=3).value, float)
assert_type(gradient("x", "x=1", exact=True), Gradient[Any])
assert_type(hessian("x", {"x": 1}), api.Hessian)
assert_type(jacobian("x, x", {"x": 1}, direction={"x": 1}), api.Jacobian)
assert_type(trace("x", {"x": 1}), api.Trace)
assert_type(check("x", {"x": 1}), api.Check)
assert_type(diff("x", order=2), api.Diff)
assert_type(taylor("x", {"x": 1}), api.Taylor)
assert_type(descend("x", {"x": 1}).rows[0].value, float)
assert_type(minimize("x", {"x": 1}), api.Minimum)
assert_type(propagate("x", {"x": "1±0.1"}).results[0].uncertainty, float)
assert_type(solve("x**2 = a", {"a": 2}).solutions[0].simple, bool)
assert_type(fit("y = a*x", data={"x": [1, 2], "y": [1, 2]}).converged, bool)
assert_type(plot("x"), api.Curve | api.Surface | api.ImplicitPlot)
assert_type(export("x", "c"), api.Exported)
assert_type(functions(), api.Functions)
assert_type(functions("tanh"), api.FunctionEntry)
assert_type(draw(Value(1.0)).svg, str)
assert_type(tanh(Value(1.0)), Value)
assert_type(parse("x"), api.Program)
assert_type(gradient("x", "x=1").to_dict(), dict[str, Any])
gradient("x", "x=1", precison=3)  # type: ignore[call-overload]
"""


def test_what_type_checkers_see_is_there() -> None:
    stub = (Path(autodiff_cli.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    seen = re.findall(r"^from \S+ import (\w+) as \1$|^def (\w+)\(", stub, re.MULTILINE)
    names = {imported or function for imported, function in seen}
    assert (
        len(names) > 50
        and {"Hessian", "Marked", "draw_dot", "gradient", "maximize", "Span"} <= names
    )
    for name in names:
        found = getattr(autodiff_cli, name)
        assert name == "draw_dot" or found.__name__ == name
        assert pickle.loads(pickle.dumps(found)) is found  # noqa: S301
    assert not {"Hessian", "Marked"} & set(autodiff_cli.__all__)


def test_a_function_is_a_function_with_its_signature() -> None:
    for name in {*NAMES.values(), "parse", "rows", "draw"}:
        function = getattr(autodiff_cli, name)
        assert inspect.isfunction(function) and function.__module__.startswith(
            ("autodiff_cli.api.", "autodiff_cli.capabilities.")
        )
        signature = inspect.signature(function)
        assert list(signature.parameters) == [
            key for key in function.__annotations__ if key != "return"
        ]
        assert pydoc.render_doc(function, renderer=pydoc.plaintext).count(f"{name}(")
    with pytest.raises(
        TypeError, match=r"^gradient\(\) missing 1 required positional argument: 'text'$"
    ):
        autodiff_cli.gradient()  # type: ignore[call-overload]
    with pytest.raises(
        TypeError, match=r"^hessian\(\) takes from 1 to 2 positional arguments but 3 were given$"
    ):
        autodiff_cli.hessian("x", "x=1", "x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"^rows\(\) got an unexpected keyword argument 'points'$"):
        autodiff_cli.rows("x", points=1)  # type: ignore[call-arg]


def test_an_argument_that_is_none_has_its_default() -> None:
    for name, given in (("descend", {"steps": None, "rate": None}), ("taylor", {"order": None})):
        function = getattr(autodiff_cli, name)
        assert str(function("x**2", "x=1", **given)) == str(function("x**2", "x=1"))


def test_types_are_seen_from_outside(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "typed.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_warnings_name_keyword_arguments() -> None:
    found = autodiff_cli.propagate("sin(x)", "x=1±0.5")
    assert [warning.kind for warning in found.warnings] == ["linearity"]
    assert "`samples=1e6`" in str(found.warnings[0].hint)
    assert type(found) is type(autodiff_cli.propagate("x", "x=1±0.5"))


WALKED = [found.name for found in pkgutil.walk_packages(autodiff_cli.__path__, "autodiff_cli.")]
MODULES = ["autodiff_cli", *(name for name in WALKED if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    report: list[str] = []
    for examples in doctest.DocTestFinder().find(module):
        doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert not report, "".join(report)


def test_there_are_examples_in_docstrings() -> None:
    finder = doctest.DocTestFinder()
    found = [each for name in MODULES for each in finder.find(importlib.import_module(name))]
    assert sum(len(each.examples) for each in found) > 40


# ---- arguments of any kind ------------------------------------------------------------------------------------------
GOOD: dict[str, dict[str, Any]] = {
    **{name: {"text": "x*y", "at": "x=1,y=2"} for name in ("gradient", "trace", "graph", "page", "check", "hessian")},
    "descend": {"text": "x**2", "at": "x=1", "steps": 2}, "minimize": {"text": "x**2", "at": "x=1"},
    "maximize": {"text": "-x**2", "at": "x=1"},
    "plot": {"text": "x**2", "at": "x=1"}, "diff": {"text": "x**2"}, "jacobian": {"text": "x, y", "at": "x=1,y=2"},
    "limit": {"text": "sin(x)/x", "at": "x=0+"}, "tangent": {"text": "x**2", "at": "x=1"},
    "integrate": {"text": "x**2", "between": "x=0:1"},
    "taylor": {"text": "exp(x)", "at": "x=0"}, "propagate": {"text": "x*y", "at": "x=1±0.1,y=2(1)"},
    "solve": {"text": "x**2 = 2"}, "fit": {"text": "y = a*x", "data": {"x": [1, 2], "y": [1, 2.1]}},
    "export": {"text": "x*y"}, "exercise": {"level": 2, "count": 1}, "functions": {}, "units": {},
    "rows": {"text": "x*y"},    "parse": {"text": "x*y"}, "draw": {"values": Value(1.0)},
}  # fmt: skip


class Table:
    """A frame: it has no truth."""

    def __bool__(self) -> bool:
        raise ValueError("the truth of a table is ambiguous")


ODD: dict[str, Callable[[], Any]] = {
    "array": lambda: np.array([1.0, 2.0]), "frame": Table, "bytes": lambda: b"x=1",
    "none": lambda: None, "number": lambda: 2.5, "texts": lambda: iter(["x"]),
    "numbers": lambda: (k for k in (1, 2)), "class": lambda: int, "complex": lambda: 1j,
    "huge": lambda: 10**400, "fraction": lambda: Fraction(1, 3), "decimal": lambda: Decimal("2"),
    "path": lambda: Path("x"), "nested": lambda: {"x": {"y": 1}}, "half a letter": lambda: "\ud800",
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_an_argument_of_any_kind_is_taken_or_refused_in_words(name: str) -> None:
    function = getattr(autodiff_cli, name)
    tried = refused = 0
    for parameter in function.__annotations__.keys() - {"return"}:
        for kind, odd in ODD.items():
            tried += 1
            try:
                found = function(**{**GOOD[name], parameter: odd()})
                assert str(found)
            except ExpressionError as error:
                assert error.kind != "internal"
                refused += 1
            except TypeError as error:
                # words of our own: Python's name no parameter
                ours = "`", "a program is text", "only Values can be drawn"
                assert any(words in str(error) for words in ours), (parameter, kind, error)
                refused += 1
    assert tried >= len(ODD) and refused >= tried / 3, (tried, refused)


def test_every_function_is_tried_with_arguments_of_any_kind() -> None:
    assert {*QUESTIONS} - {"grad"} | {"gradient", "rows", "parse", "draw"} == {*GOOD}


def test_data_of_a_fit_and_readings_are_columns_of_any_kind() -> None:
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.1, 2.9]}
    tables = [columns, pandas.DataFrame(columns), polars.DataFrame(columns), arrow.table(columns)]
    assert (
        len({autodiff_cli.fit("y = a*x", data=table).parameters["a"].estimate for table in tables})
        == 1
    )
    assert (
        len({autodiff_cli.propagate("x/y", data=table).results[0].written for table in tables}) == 1
    )


def test_numbers_of_any_kind_are_taken_as_numbers() -> None:
    found = [
        autodiff_cli.descend("x**2", "x=1", rate=rate, steps=steps).rows[-1].value
        for rate, steps in (
            (0.25, 2),
            (Decimal("0.25"), np.int64(2)),
            (Fraction(1, 4), 2.0),
            (np.float32(0.25), "2"),
        )
    ]
    assert found == [found[0]] * 4
    with pytest.raises(TypeError, match=r"^`steps` is a number, not an array of shape \(2,\)$"):
        autodiff_cli.descend("x**2", "x=1", steps=np.array([1, 2]))
    with pytest.raises(TypeError, match=r"^`wrt` is text, or a list of texts, not one of an int$"):
        autodiff_cli.gradient("x", "x=1", wrt=[1])
    with pytest.raises(TypeError, match=r"^`exact` is True or False, not a str$"):
        autodiff_cli.gradient("x", "x=1", exact="no")
    with pytest.raises(TypeError, match=r"^`theme` is text, not a \w+Path$"):
        autodiff_cli.graph("x", "x=1", theme=Path("dark"))


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        (lambda: api.taylor("exp(x/3)*sin(x/7)", at="x=0", order=7), "x**7"),
        (lambda: api.diff("sin(x)*cos(x)*tan(x)*exp(x)*log(x)*sqrt(x)*atan(x)"), "(x**2 + 1)"),
    ],
)
def test_a_repr_cuts_no_formula(answer: Callable[[], Any], formula: str) -> None:
    shown = repr(answer())
    assert formula in shown and "..." not in shown


def test_a_call_leaves_the_collector_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    switched: list[str] = []
    for name in ("enable", "disable", "freeze", "collect"):
        monkeypatch.setattr(gc, name, lambda *args, name=name: switched.append(name))
    api.gradient("x*y", at="x=1,y=2")
    api.hessian("x*y", at="x=1,y=2")
    question("x*y", {"x": 1.0, "y": 2.0})
    assert switched == []


# ---- answers, frames and prepared programs ---------------------------------------------------------------------------
def test_an_answer_is_frozen_and_no_tuple() -> None:
    for command, text, given in CASES:
        if command in ("fit", "propagate") or given.get("data"):
            continue
        options = {name: value for name, value in given.items() if name != "path"}
        answer = FUNCTIONS[command](*([text] if text else []), **options)
        assert not isinstance(answer, tuple) and (
            command == "functions" or not hasattr(answer, "__getitem__")
        )
        with pytest.raises(AttributeError, match="frozen"):
            answer.text = "x"


def test_a_repr_keeps_the_order_of_variables_and_every_digit() -> None:
    answer = api.gradient("z*y*x*w*v", "z=1,y=2,x=3,w=4,v=5")
    assert (
        repr(answer)
        == "Gradient(value=120.0, gradient={'z': 120.0, 'y': 60.0, 'x': 40.0, 'w': 30.0, 'v':"
        " 24.0})"
    )
    digits = api.gradient("x**99", "x=10", exact=True)
    assert "1" + "0" * 99 in repr(digits)
    many = repr(api.gradient("+".join(f"x{k}" for k in range(99)), {f"x{k}": 1 for k in range(99)}))
    assert many.endswith("'x11': 1.0, …})")


COLUMNS = {"x": [1.0, 2.0, 0.0], "y": [3.0, 4.0, 0.0]}


def frames() -> dict[str, tuple[Any, Callable[[Any], dict[str, list[Any]]]]]:
    """Frames of every library with what reads the columns of one."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    arrays = {name: np.array(column) for name, column in COLUMNS.items()}
    return {
        "dict": (COLUMNS, dict),
        "numpy": (arrays, lambda frame: {name: column.tolist() for name, column in frame.items()}),
        "structured": (
            pd.DataFrame(COLUMNS).to_records(index=False), lambda a: {n: a[n].tolist() for n in a.dtype.names},
        ),
        "pandas": (pd.DataFrame(COLUMNS, index=[5, 7, 9]), lambda frame: frame.to_dict("list")),
        "polars": (pl.DataFrame(COLUMNS), lambda frame: frame.to_dict(as_series=False)),
        "table": (pa.table(COLUMNS), lambda table: table.to_pydict()),
        "batch": (pa.record_batch(COLUMNS), lambda batch: batch.to_pydict()),
        "arrays": ({n: pa.array(c) for n, c in COLUMNS.items()}, lambda f: {n: c.to_pylist() for n, c in f.items()}),
    }  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["dict", "numpy", "structured", "pandas", "polars", "table", "batch", "arrays"]
)
def test_the_rows_of_a_frame_are_answered_by_a_frame_like_it(kind: str) -> None:
    frame, read = frames()[kind]
    answers = autodiff_cli.gradient("x/y", frame)
    assert isinstance(answers, np.ndarray if kind == "structured" else type(frame))
    columns = read(answers)
    assert list(columns) == ["value", "d_x", "d_y", "error"]
    for row in range(2):
        one = autodiff_cli.gradient("x/y", {name: column[row] for name, column in COLUMNS.items()})
        assert [columns[name][row] for name in ("value", "d_x", "d_y")] == [
            one.value,
            *one.gradient.values(),
        ]
    assert columns["value"][2] is None or np.isnan(columns["value"][2])
    assert columns["error"][2] == "domain: division by zero (here x = 0, y = 0)"
    if kind == "pandas":
        assert list(answers.index) == [5, 7, 9]
    assert read(autodiff_cli.rows("x/y")(frame))["error"][2] == columns["error"][2]


def test_frames_of_other_questions_and_with_fixed_values() -> None:
    assert autodiff_cli.gradient("x/y", {"x": range(2), "y": 2}, wrt="x")["d_x"] == [0.5, 0.5]
    assert autodiff_cli.hessian("x**2", {"x": (1, 2)})["d_x_x"] == [2.0, 2.0]
    assert autodiff_cli.jacobian("x, 3 x", {"x": [1]}, lenient=True)["d2_x"] == [3.0]
    empty = autodiff_cli.gradient("x", {"x": np.array([], float)})
    assert [len(column) for column in empty.values()] == [0, 0, 0]
    for frame, words in (
        ({"x": [1, 2], "y": [1]}, "not of the same length"), ({"x": ["a"], "y": [1]}, "column `x` holds text"),
        ({"x": [1], "z": [2]}, "`y` has no value"), ({"x": [{}], "y": [2]}, "column `x`"),
    ):  # fmt: skip
        with pytest.raises(ExpressionError, match=words):
            autodiff_cli.gradient("x*y", frame)
    with pytest.raises(ExpressionError, match="`exact` does not go with a frame"):
        autodiff_cli.gradient("x", {"x": [1]}, exact=True)


def test_data_are_the_second_argument_of_fit() -> None:
    data = {"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]}
    assert api.fit("y = a + b*x", data).point == api.fit("y = a + b*x", data=data).point
    assert api.fit("y = a + exp(k*x)", data, {"a": 0, "k": 0.5}).converged


def test_a_prepared_program_gives_the_gradient_of_its_text() -> None:
    for text, point in (("x**2*y + sin(x)", {"x": 0.3, "y": 2}), ("max(x, y) if x > y else x*y", {"x": 1.0, "y": 3}),
                        ("f(x) = x**n; n = 3", {"x": 2}), ("abs(x)", {"x": 0})):  # fmt: skip
        try:
            wanted = api.gradient(text, point)
        except ExpressionError as error:
            with pytest.raises(ExpressionError, match=str(error)[:20].replace("(", r"\(")):
                parse(text).gradient(**point)
            continue
        answer = parse(text).gradient(**point)
        assert (answer.value, answer.gradient, answer.point) == (
            wanted.value,
            wanted.gradient,
            wanted.point,
        )
        assert answer.warnings == wanted.warnings
    with pytest.raises(ExpressionError, match="undefined at 0") as caught:
        parse("log(x)").gradient(x=0)
    assert "log(x)" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="needs a value for `y`"):
        parse("x*y").gradient(x=1)


def test_a_prepared_program_makes_few_calls() -> None:
    program = parse("x*y*z + sin(x)*tanh(y) - z")
    program.gradient(x=1, y=2, z=3)
    calls = []
    sys.setprofile(
        lambda frame, event, arg: calls.append(event) if event in ("call", "c_call") else None
    )
    try:
        program.gradient(x=1.0, y=2.0, z=3.0)
    finally:
        sys.setprofile(None)
    assert 10 < len(calls) <= 75, "60 for 10 operations, of which each has its rule"


def test_eight_threads_get_right_answers() -> None:
    program, wrong = parse("x**2*y + sin(x*y) if x > 2 else x*y"), []
    together = threading.Barrier(8)
    shown = [str(api.hessian(f"x**{k + 2}*y", {"x": 2, "y": 3})) for k in range(8)]

    def work(k: int) -> None:
        together.wait()
        for n in range(60):
            x = 1.0 + (k + n) % 5
            answer = program.gradient(x=x, y=2.0)
            if answer.gradient != api.gradient(program.text, {"x": x, "y": 2.0}).gradient:
                wrong.append((k, n))
            if str(api.hessian(f"x**{k + 2}*y", {"x": 2, "y": 3})) != shown[k]:
                wrong.append((k, n))
            if n % 20 == 0:
                numbers = autodiff_cli.gradient("x*y + x**2", {"x": [x, 2.0], "y": [1.0, float(k)]})
                if numbers["d_x"] != [1.0 + 2 * x, k + 4.0]:
                    wrong.append((k, n))
                exact = api.gradient(f"x**{k}/3", {"x": x}, precision=30 + k).value
                if exact.text != api.gradient(f"x**{k}/3", {"x": x}, precision=30 + k).value.text:
                    wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_a_variable_in_capitals_keeps_its_name() -> None:
    # options and arguments of the command line are named as in Python: `EXPR` is one of these, and
    # may be a variable
    with pytest.raises(ExpressionError, match="`EXPR` has no value"):
        api.gradient("EXPR*x", "x=1")


PRIVATE_WORDS = re.compile(r"\b(tapes?|leaf|the leaves|the root|sweeps?)\b")


def test_help_is_short_and_about_its_user() -> None:
    for name in autodiff_cli.__all__:
        public = getattr(autodiff_cli, name)
        shown = pydoc.plain(pydoc.render_doc(public))
        assert not PRIVATE_WORDS.search(shown), (name, PRIVATE_WORDS.search(shown))
        assert (public.__doc__ or "").count("\n") < 30, name


def test_columns_of_pint_in_per_cent_are_numbers() -> None:
    quantity = pytest.importorskip("pint").UnitRegistry().Quantity
    share = {"x": quantity([100.0, 200.0, 300.0], "percent"), "y": [1.0, 2.0, 3.1]}
    plain = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.1]}
    shared, plainly = (
        autodiff_cli.fit("y = a*x", data).parameters["a"].estimate for data in (share, plain)
    )
    assert shared == plainly
    third = autodiff_cli.gradient("1/3", exact=True).value
    assert autodiff_cli.gradient("x", {"x": third}, exact=True).value == third


def test_numbers_of_uncertainties_keep_their_correlations() -> None:
    x, z = ufloat(2, 0.1), ufloat(3, 0.2)
    y = x * 1
    assert api.propagate("x - y", {"x": x, "y": y}).results[0].uncertainty == pytest.approx(
        0, abs=1e-15
    )
    assert api.propagate("x + y", {"x": x, "y": y}).results[0].uncertainty == pytest.approx(0.2)
    w, v = x * z, x - 2 * z
    expected = (w * v / x).std_dev
    given = {"w": w, "v": v, "x": x}
    assert api.propagate("w*v/x", given).results[0].uncertainty == pytest.approx(
        expected, rel=1e-12
    )
    assert api.propagate("x + z", {"x": x, "z": z, "w": w}).results[0].uncertainty == pytest.approx(
        (x + z).std_dev
    )
    with pytest.raises(
        ExpressionError,
        match="the correlation of `w` and `v` is given, and follows from their numbers",
    ):
        api.propagate("w*v", given, correlation={("v", "w"): 0.5})


@pytest.mark.parametrize(
    ("unit", "si"),
    [("milliinch", 5.08e-5), ("centiday", 1728), ("kilotechnical_atmosphere", 196133000), ("milliinch/s", 5.08e-5),
     ("acre", 2 * 43560 * (1200 / 3937) ** 2), ("Btu", 2110.112), ("thou", 5.08e-5), ("slug", 29.187805874),
     ("delta_degC", 2), ("delta_degF", 10 / 9), ("year", 2 * 31557600), ("mil", 2 * 9.817477042468104e-05),
     ("debye", 2 * 3.335640951981521e-30), ("Btu/acre/year", 2 * 1055.056 / (43560 * (1200 / 3937) ** 2) / 31557600)],
)  # fmt: skip
def test_a_unit_of_pint_whose_symbol_is_none_or_another_here_is_converted(
    unit: str, si: float
) -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    value = registry.Quantity(2.0, unit)
    answer = api.gradient("x", {"x": value})
    units = answer.to_dict()["units"]["value"] if answer.units else "1"
    assert answer.value * parse_unit(units).to_si(1.0) == pytest.approx(si, rel=1e-9)
    mean = api.propagate("x", data={"x": registry.Quantity([1.0, 2.0, 3.0], unit)})
    of_mean = "1" if mean.units is None else mean.to_dict()["units"]["results"][0]["value"]
    assert mean.results[0].value * parse_unit(of_mean).to_si(1.0) == pytest.approx(si, rel=1e-9)


def test_a_unit_of_pint_without_a_dimension_of_the_si_is_refused() -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    with pytest.raises(ExpressionError, match="the unit pixel of pint has the dimension"):
        api.gradient("x", {"x": registry.Quantity(2.0, "pixel")})


@pytest.mark.parametrize(
    ("unit", "si"),
    [("mm", 0.002), ("degC", 275.15), ("degF", 256.48333333333335), ("minute", 120), ("degree", 0.03490658503988659),
     ("inch", 0.0508), ("liter", 0.002), ("kN*m", 2000), ("eV", 3.204353268e-19), ("m/s**2", 2), ("bar", 2e5)],
)  # fmt: skip
def test_a_unit_of_pint_that_is_ours_is_taken(unit: str, si: float) -> None:
    registry = pytest.importorskip("pint").UnitRegistry()
    answer = api.gradient("x", {"x": registry.Quantity(2.0, unit)})
    of = answer.to_dict()["units"]["value"]
    in_si = registry.Quantity(
        answer.value, "" if of == "1" else of.replace("·", "*").replace("²", "**2")
    )
    assert in_si.to_base_units().magnitude == pytest.approx(si, rel=1e-8)
