"""Formulas of a spreadsheet, computed by LibreOffice in one sheet for all programs, beside
`grad`.
"""

from __future__ import annotations

import csv
import io
import math
import random
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autodiff_cli import ExpressionError, export, gradient, parse
from autodiff_cli.engine.table.primitive import FUNCTIONS
from samples import OF_FEW_TARGETS, samples_of

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
CELL = re.compile(r"\bB(\d+)\b")

Case = tuple[str, dict[str, float]]


def computed(cases: list[Case], folder: Path) -> list[list[float]]:
    """The value and the derivatives of each program at its point; not a number where a cell shows
    an error.
    """
    rows: list[tuple[str, str]] = []
    results: list[list[int]] = []
    for text, point in cases:
        start = len(rows)
        # a row without a label is a note
        table = [
            row for row in csv.reader(io.StringIO(export(text, "spreadsheet").source)) if row[0]
        ]
        for name, formula in table:
            cell = CELL.sub(lambda found, start=start: f"B{int(found[1]) + start}", formula)
            rows.append((name, cell if cell else repr(point[name])))
        count = 1 + sum(name.startswith("df/d") for name, _ in table)
        results.append([*range(len(rows) - count, len(rows))])
    with (folder / "all.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    # tokens 1 to 3: comma, quotation mark, UTF-8; 5 and 6: plain columns in American English; 16:
    # formulas are computed
    options = "CSV:44,34,76,1,,1033,false,true,false,false,false,-1,true"
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", f"--infilter={options}",
         "--convert-to", "fods", "--outdir", str(folder), str(folder / "all.csv")],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    values: list[float] = []
    for row in ElementTree.parse(folder / "all.fods").iter(f"{TABLE}table-row"):
        cells = [cell for cell in row if cell.tag == f"{TABLE}table-cell"]
        text = cells[1].get(f"{OFFICE}value") if len(cells) > 1 else None
        values.append(math.nan if text is None else float(text))
    assert len(values) >= len(rows)
    return [[values[k] for k in places] for places in results]


def sampled() -> list[Case]:
    """A program for the first sample points of each function that are neither huge nor tiny."""
    found: list[Case] = []
    for primitive in [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in OF_FEW_TARGETS]:
        for sample in [
            each for each in samples_of(primitive) if all(1e-3 <= abs(x) <= 30 for x in each)
        ][:3]:
            names = ["x", "y", "z", "w"][: len(sample)]
            fixed = {k for k, p in enumerate(primitive.params) if p in primitive.constant_params}
            args = [
                str(int(v)) if k in fixed else n
                for k, (n, v) in enumerate(zip(names, sample, strict=True))
            ]
            point = {
                n: v for k, (n, v) in enumerate(zip(names, sample, strict=True)) if k not in fixed
            }
            found.append((f"{primitive.spelling or primitive.name}({', '.join(args)})", point))
    return found


EDGES: list[Case] = [
    *[("log(x) if x > 0 and log(x) < 1 else -x if x < -5 or x == 9 else x**2", {"x": x}) for x in (-6.0, 0.5, 9.0)],
    *[("x**3 - x**-2 + (-x)**2", {"x": x}) for x in (-1.5, 2.0)],
    ("x**y", {"x": 2.0, "y": 3.0}), ("-x**2", {"x": 3.0}), ("x**30*1e-20", {"x": 17.0}), ("2**-x", {"x": 3.0}),
    ("round(x) + floor(y) + ceil(y)", {"x": 2.25, "y": -1.5}), ("atan2(y, x)", {"x": -1.0, "y": 2.0}),
    ("exp(exp(exp(x)))/exp(x*y) - tanh(w_1)*λ", {"x": 0.5, "y": 2.0, "w_1": 0.25, "λ": 3.0}),
    ("log1p(x) + expm1(y)", {"x": 1e-10, "y": -1e-12}), ("softplus(x)", {"x": -25.0}),
]  # fmt: skip
UNDEFINED: list[Case] = [
    ("1/x", {"x": 0.0}), ("log(x)", {"x": -1.0}), ("sqrt(x)", {"x": -1.0}), ("asin(x)", {"x": 2.0}),
    ("x**0.5", {"x": -8.0}), ("x**(1/3)", {"x": -8.0}), ("exp(x)", {"x": 800.0}),
    ("max(log(x), 1)", {"x": -1.0}), ("0 if log(x) > 0 else 1", {"x": -1.0}),
]  # fmt: skip


def drawn(count: int) -> list[Case]:
    """Random programs of all kinds of operations, where they have an answer whose size is
    ordinary.
    """
    source = random.Random(4)
    left_out = ("where", *OF_FEW_TARGETS)
    functions = [
        p
        for p in dict.fromkeys(FUNCTIONS.values())
        if not p.constant_params and p.name not in left_out
    ]

    def expression(depth: int) -> str:
        if depth == 0 or source.random() < 0.15:
            return source.choice(("x", "y", "z", "2", "0.75", "pi"))
        draw = source.random()
        if draw < 0.45:
            operator = source.choice((" + ", " - ", "*", "/", "**"))
            return f"({expression(depth - 1)}){operator}({expression(depth - 1)})"
        if draw < 0.55:
            condition = (
                f"{expression(0)} {source.choice(('<', '>=', '!='))} {expression(depth - 1)}"
            )
            return f"where({condition}, {expression(depth - 1)}, {expression(depth - 1)})"
        primitive = source.choice(functions)
        count = 2 if primitive.variadic else len(primitive.params)
        return f"{primitive.spelling or primitive.name}({', '.join(expression(depth - 1) for _ in range(count))})"

    found: list[Case] = []
    while len(found) < count:
        text = expression(3)
        point = {name: source.choice((0.4, 1.3, 2.7, -0.6)) for name in parse(text).variables}
        try:
            want = gradient(text, point)
        except ExpressionError:
            continue
        sizes = [abs(want.value), *map(abs, want.gradient.values())]
        if point and not want.warnings and all(1e-3 < x < 1e6 or x == 0 for x in sizes):
            found.append((text, point))
    return found


@pytest.mark.skipif(not shutil.which("soffice"), reason="there is no LibreOffice")
def test_libreoffice_computes_what_grad_computes(tmp_path: Path) -> None:
    cases = [*sampled(), *EDGES, *drawn(120), *UNDEFINED]
    answers = computed(cases, tmp_path)
    wrong = []
    for (text, point), got in zip(cases[: -len(UNDEFINED)], answers, strict=False):
        want = gradient(text, point)
        numbers = [want.value, *want.gradient.values()]
        for a, b in zip(got, numbers, strict=True):
            if not abs(a - b) <= 1e-12 * max(1.0, *map(abs, numbers)):
                wrong.append((text, point, got, numbers))
                break
    assert not wrong, (len(wrong), wrong[:20])
    assert len(cases) > 250
    for (text, point), got in zip(UNDEFINED, answers[-len(UNDEFINED) :], strict=True):
        assert math.isnan(got[0]), (text, point, got)


def test_the_table_says_which_cell_is_which_variable() -> None:
    exported = export("w*x + λ[1]", "spreadsheet", name="y", wrt="x")
    assert exported.variables == {"w": "B1", "x": "B2", "λ[1]": "B3"}
    assert exported.source == "w,\nx,\nλ[1],\ny,=B1*B2 + B3\ndy/dx,=B1\n"


def test_a_formula_that_is_longer_than_a_cell_holds_has_cells_for_its_parts() -> None:
    rows = list(
        csv.reader(io.StringIO(export("lgamma(digamma(x)*x)*erfinv(sin(x))", "spreadsheet").source))
    )
    assert len(rows) > 3 and [name for name, _ in rows[-2:]] == ["f", "df/dx"]
    assert max(len(formula) for _, formula in rows) <= 8192
    for k, (_, formula) in enumerate(rows):
        assert all(int(place) <= k for place in CELL.findall(formula))
    deep = list(
        csv.reader(io.StringIO(export("sin(" * 200 + "x" + ")" * 200, "spreadsheet").source))
    )
    for _, formula in deep:
        depth = most = 0
        for character in formula:
            depth += (character == "(") - (character == ")")
            most = max(most, depth)
        assert most <= 64
