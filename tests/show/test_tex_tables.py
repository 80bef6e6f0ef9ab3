"""Tables for a report: the numbers in them, and that they compile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli.show import view_of
from autodiff_cli.show.formats import document_ends
from autodiff_cli.show.tex_tables import number
from tex import compile_document

DATA: dict[str, Any] = {
    "x": [0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "y": [1.52, 1.9, 3.2, 3.9, 5.1, 5.8, 7.2, 7.9, 9.05, 9.9],
    "s_y": [0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.15],
}
ANSWERS: dict[str, Any] = {
    "line": lambda: autodiff_cli.fit("y = a_0 + b_1*x", DATA, sigma="s_y"),
    "scaled": lambda: autodiff_cli.fit("y = a + b*x", DATA, sigma="y=s_y,x=2%", scale_errors=True),
    "logarithm": lambda: autodiff_cli.fit("log(y) = alpha + beta*log(x)", DATA),
    "bindings": lambda: autodiff_cli.fit("u = k*x; y = A*exp(u) + c_max", DATA, "k=0.1", fix="c_max=-1"),
    "undetermined": lambda: autodiff_cli.fit("y = a + b + c*x", DATA),
    "predicted": lambda: autodiff_cli.fit("y = a + b*x", DATA, predict="x=0:20:10"),
    "units": lambda: autodiff_cli.fit("y = a + b*x", {"x (mA)": DATA["x"], "y (V)": DATA["y"]}, predict="x=3 mA"),
    "exact": lambda: autodiff_cli.fit("y = a + b*x", {"x": [0, 1], "y": [1, 3]}),
    "digits": lambda: autodiff_cli.fit("y = a + b*x", DATA, precision=25),
    "budget": lambda: autodiff_cli.propagate("V/I", "V=uniform(4.9, 5.1), I=19.66(10)e-3", dof="I=9"),
    "budgets": lambda: autodiff_cli.propagate("R = V/I; P = V*I; R, P", "V=5.00±0.02, I=19.66(10)e-3"),
    "implicit": lambda: autodiff_cli.propagate("x*exp(x) = a", "a=1.00±0.05", for_="x"),
    "root": lambda: autodiff_cli.solve("x*exp(x) = a", "a=1", for_="x"),
    "roots": lambda: autodiff_cli.solve("x**2 + y**2 = r**2; x = k*y", "r=1,k=2,x=1,y=1", for_="x,y"),
    "no root": lambda: autodiff_cli.solve("x**2 + 1 = 0", "x=1", for_="x"),
    "certified": lambda: autodiff_cli.solve("tanh(x) = x/2", between="-3:3", all=True, certified=True),
    "check": lambda: autodiff_cli.check("sqrt(x**2 + 1) - x", "x=1e4"),
    "kink": lambda: autodiff_cli.check("abs(x)*y_1 + 0.1", "x=0,y_1=1"),
}  # fmt: skip


def latex(name: str) -> str:
    answer = ANSWERS[name]()
    view = view_of(answer)
    text: str = view.latex_document(view.select_with_units(answer))
    return text


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "line",
            [
                r"y &= a_{0} + b_{1} x",
                r"$a_{0}$ & \num{",
                r"95\,\% interval",
                r"\chi^2/\nu",
                "by the given uncert",
            ],
        ),
        ("scaled", ["scaled by its root", "10 rows of data"]),
        ("logarithm", [r"\ln(y) &= \alpha + \beta \ln(x)", r"$\alpha$ & "]),
        ("bindings", [r"u &= k x", r"$c_{\max}$ & \num{-1} & -- & held"]),
        ("undetermined", ["not determined"]),
        (
            "units",
            [
                r"}{\volt\per\milli\ampere} & \qty{",
                r"$x$ in \unit{mA} & $y$ in \unit{V}",
                r"s = \qty{0.145",
                r"}{\volt}$ ($\nu",
            ],
        ),
        (
            "predicted",
            [r"$x$ & $y$ & 95\,\% confidence & 95\,\% prediction", r"\num{20} & \num{20.9"],
        ),
        (
            "budget",
            [
                r"\frac{V}{I}",
                r"$\frac{V}{I}$ & \num{254.3(32)} & ",
                r"\num[uncertainty-mode=separate]{254.3(6",
                "uniform",
            ],
        ),
        ("root", [r"$x$ & \num{0.567143} & ", r"$\partial/\partial a$", r"At $a =$ \num{1}."]),
        ("check", [r"\num{5.000000055588316e-05} & \num{0.00004999999987500000", "agreement: yes"]),
    ],
)
def test_what_the_tables_say(name: str, parts: list[str]) -> None:
    text = latex(name)
    for part in parts:
        assert part in text


def test_numbers_of_the_table_are_those_of_the_answer() -> None:
    answer = ANSWERS["line"]()
    (row,) = re.findall(
        r"\$b_\{1\}\$ & (.*) \\\\\n\\bottomrule\n\\end\{tabular\}\n\n\\medskip\\noindent\n\$\\chi",
        latex("line"),
    )
    numbers = [float(text.split("(")[0]) for text in re.findall(r"\\num\{([^}]*)\}", row)]
    each = answer.parameters["b_1"]
    assert numbers == pytest.approx([each.estimate, each.error, *each.interval], rel=1e-2)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("-1e-05", r"\num{-1e-05}"),
        ("1.5(2)", r"\num{1.5(2)}"),
        ("1/3", "1/3"),
        ("5%", r"5\%"),
        ("-", "{-}"),
    ],
)
def test_numbers(text: str, written: str) -> None:
    assert number(text) == written


def test_the_tables_compile(tmp_path: Path) -> None:
    pieces = "\n\n\\bigskip\n".join(map(latex, ANSWERS))
    assert compile_document(pieces.join(document_ends(("booktabs", "siunitx"))), tmp_path) >= 1
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert "Overfull" not in log


def test_a_long_series_stays_on_the_page(tmp_path: Path) -> None:
    for point, more in (
        ({"a": 2.0, "x": 0.3}, {}),
        ({"a": "2 mm", "x": 0.3}, {"order": 20}),
        ({"a": 1, "x": "1/3"}, {}),
    ):
        answer = autodiff_cli.taylor("a*sin(x)/(1 + x)", point, wrt="x", **more)
        text = view_of(answer).latex_document(answer)
        assert r" \\" + "\n" + r"&\quad {} " in text
        # nothing is lost
        series = text.replace(" \\\\\n&\\quad {}", "").partition(r"\approx")[2]
        assert len(re.findall(r"\(x - ", series)) == len(answer.coefficients) - 1
        compile_document(text.join(document_ends(("siunitx",))), tmp_path)
        assert "Overfull" not in (tmp_path / "all.log").read_text(errors="replace")
