"""What cells of a notebook show: run in a kernel, as Jupyter runs them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from autodiff_cli import gradient
from browser import MISSING, browser
from places import TOP

PREFERRED = ("text/html", "image/svg+xml", "text/latex", "text/plain")
"""What Jupyter shows of an output that has several of these, the first first."""

CELLS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "gradient": (
        'gradient("x**2*y", {"x": 3, "y": 2})',
        "text/html",
        ("<table>", "partial derivative", "12", "<math", "<mi>x</mi>", "<svg", ">18<"),
    ),
    "large graph": ('gradient("+".join(["x**2"] * 70), {"x": 3})', "text/html", ("<pre", "├─")),
    "informal": ('gradient("2 x", "x=1", lenient=True)', "text/html", ("read as: 2*x",)),
    "value only": (
        'gradient("x**2", "x=3", value_only=True)',
        "text/html",
        ("value", ">9<", "at "),
    ),
    "exact": ('gradient("x/3", {"x": "1/7"}, exact=True)', "text/html", ("1/21",)),
    "hessian": ('hessian("x*y", "x=1,y=2")', "text/html", ("Hessian", "<math")),
    "jacobian": ('jacobian("x*y, x", "x=1,y=2")', "text/html", ("output", "<mo>[</mo><mtable>")),
    "trace": ('trace("x*y", "x=1,y=2")', "text/html", ("forward primal trace", "<math")),
    "check": ('check("sin(x)", "x=1")', "text/html", ("agreement",)),
    "descend": (
        'descend("x**2", "x=1", steps=3)',
        "text/html",
        ("gradient norm", "stopped after 3 steps"),
    ),
    "minimize": ('minimize("(x-1)**2", "x=0")', "text/html", ("converged",)),
    "propagate": ('propagate("x*y", "x=1±0.1,y=2(1)")', "text/html", ("<table>", "sensitivity")),
    "solve": (
        'solve("x**2 = a", {"a": 2})',
        "text/html",
        ("<table>", "derivative of x", "<msup><mi>x</mi>"),
    ),
    "fit": (
        'fit("y = a*x", data={"x": [1, 2], "y": [1, 2.1]})',
        "text/html",
        ("<table>", "standard error", "<math"),
    ),
    "exercise": ("exercise(2, count=3)", "text/html", ("Level 2", "Differentiate")),
    "steps": (
        'diff("x**2*sin(x)", steps=True)',
        "text/latex",
        (r"$$\begin{aligned}", r"\text{product}"),
    ),
    "functions": ("functions()", "text/html", ("softplus(x)",)),
    "function": ('functions("tanh")', "text/html", ("sech(x)**2",)),
    "export": ('export("x*y", "c")', "text/html", ("white-space:pre-wrap", "double")),
    "diff": (
        'diff("x**2*sin(x)")',
        "text/latex",
        (r"$$\begin{aligned}", r"\sin", r"\end{aligned}$$"),
    ),
    "diff at a point": ('diff("x**2", {"x": 3})', "text/latex", ("2x", "x = 3", "6")),
    "diff as code": ('diff("x**2", to="python")', "text/html", ("2.0*x",)),
    "taylor": ('taylor("exp(x)", "x=0", order=2)', "text/latex", (r"\approx 1 + x", r"{2}")),
    "export as mathematics": (
        'export("x*y", "latex")',
        "text/latex",
        (r"$$\begin{aligned}", "x y"),
    ),
    "graph": ('graph("x*w", "x=2,w=3")', "image/svg+xml", ("<svg", ">w<")),
    "page": ('page("x*w", "x=2,w=3")', "text/html", ("<iframe", "srcdoc=", "sandbox=")),
    "curve": ('plot("x**2", "x=1")', "image/svg+xml", ("<svg",)),
    "surface": ('plot("x**2 + y**2", "x=1,y=1")', "image/svg+xml", ("<svg",)),
    "draw": (
        'o = Value(2.0, label="a").tanh(); o.backward(); draw_dot(o)',
        "image/svg+xml",
        ("tanh", ">a<"),
    ),
    "value": ("Value(2.0) * 3", "text/plain", ("Value(data=6.0, grad=0.0)",)),
    "print": ('print(gradient("x**2", "x=3"))', "stream", ("value = 9", "╭")),
    "error": ('gradient("1 + log(x)", "x=-1")', "error", ("1 + log(x)\n      ^^^^^^", "hint: ")),
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The output of each cell, all run by one kernel."""
    import nbclient  # slow to import
    import nbformat

    folder = tmp_path_factory.mktemp("notebook")
    first = (
        "import sys; sys.path.insert(0, TOP); from autodiff_cli import *\nfrom autodiff_cli import "
    )
    names = (
        "Value, check, descend, diff, draw_dot, exercise, export, fit, functions, gradient, graph,"
        " hessian, jacobian, minimize"
    )
    setup = (
        f"TOP = {str(TOP)!r}\n{first}{names}, page, plot, propagate, solve, taylor, trace".replace(
            "from autodiff_cli import *\n", "\n"
        )
    )
    sources = [setup, *(source for source, _, _ in CELLS.values())]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(folder / name))
        client = nbclient.NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    assert not notebook.cells[0].outputs, notebook.cells[0].outputs
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells[1:], strict=True)}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_shows(name: str, outputs: dict[str, Any]) -> None:
    _, kind, parts = CELLS[name]
    output = outputs[name][0]
    assert {each.output_type for each in outputs[name]} == {output.output_type}
    if kind in ("stream", "error"):
        assert output.output_type == kind
        shown = (
            "".join(each.text for each in outputs[name])
            if kind == "stream"
            else "\n".join(output.traceback)
        )
    else:
        assert output.output_type == "execute_result", output
        held = [each for each in PREFERRED if each in output.data]
        assert held[0] == kind, f"Jupyter would show {held[0]}"
        assert held[-1] == "text/plain" and len(output.data["text/plain"]) < 500
        shown = output.data[kind]
        if kind in ("text/html", "image/svg+xml"):
            ElementTree.fromstring(shown)
    missing = [part for part in parts if part not in shown]
    assert not missing, shown


@pytest.mark.parametrize("name", ["gradient", "hessian", "jacobian"])
def test_numbers_have_their_formula_for_what_is_printed(name: str, outputs: dict[str, Any]) -> None:
    """Notebooks show HTML before LaTeX; what makes a PDF of them takes LaTeX before HTML."""
    (output,) = outputs[name]
    formula = output.data["text/latex"]
    assert formula.startswith("$$\\begin{aligned}") and formula.endswith("\\end{aligned}$$")
    part = {
        "gradient": r"\frac{\partial f}{\partial x}(3, 2) &= 12",
        "hessian": r"\nabla^{2} f(1, 2) &= \begin{bmatrix} 0 & 1",
    }
    assert part.get(name, r"\begin{bmatrix} 2 & 1 \\ 1 & 0 \end{bmatrix}") in formula


def test_what_is_drawn_loads_nothing(outputs: dict[str, Any]) -> None:
    shown = [
        each
        for cell in outputs.values()
        for output in cell
        for each in output.get("data", {}).values()
    ]
    assert len(shown) > 30
    assert not [each for each in shown if "<script" in each or "<link" in each or "@import" in each]


def test_progress_is_an_output_that_changes(tmp_path: Any) -> None:
    import nbclient
    import nbformat

    run = 'descend("(x-3)**2", "x=1", rate=1e-5, steps=2000)'
    search = 'minimize("(x-3)**2", "x=1")'
    cells = [
        (
            f"import sys; sys.path.insert(0, {str(TOP)!r})\nfrom autodiff_cli import descend,"
            " minimize\nfrom autodiff_cli.streams import progress; progress.REFRESH_SECONDS = 0.0"
        ),
        (
            "import time; begun = time.monotonic(); clock = iter(range(100_000))\n"
            "progress.time = type('clock', (), {'monotonic': lambda: float(next(clock))})"
        ),
        run,
        search,
        "progress.time = time",
        search,
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells]
    )
    client = nbclient.NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [[output.output_type for output in cell.outputs] for cell in notebook.cells]
    assert shown == [
        [],
        [],
        ["display_data", "execute_result"],
        ["display_data", "execute_result"],
        [],
        ["execute_result"],
    ]
    assert notebook.cells[2].outputs[0].data["text/plain"].startswith("2,000 steps, ")
    assert " evaluations, " in notebook.cells[3].outputs[0].data["text/plain"]


HOSTS = {
    "light": ("", "light", False),
    "dark": ("", "dark", True),
    "JupyterLab dark, system light": ('data-jp-theme-light="false"', "light", True),
    "JupyterLab light, system dark": ('data-jp-theme-light="true"', "dark", False),
    "VS Code dark, system light": ('data-vscode-theme-kind="vscode-dark"', "light", True),
    "VS Code light, system dark": ('data-vscode-theme-kind="vscode-light"', "dark", False),
    "VS Code with high contrast": ('data-vscode-theme-kind="vscode-high-contrast"', "light", True),
}
CONTRASTS = """() => {
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const light = color => numbers(color).slice(0, 3)
    .map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if ((numbers(color)[3] ?? 1) > 0) return color;
    }
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const of = [...document.querySelectorAll(".autodiff span, .autodiff td, .autodiff th, .autodiff-answer math")]
    .filter(each => each.textContent.trim()).map(each => contrast(getComputedStyle(each).color, behind(each)));
  const svg = document.querySelector("svg"), style = name => getComputedStyle(svg.querySelector(name));
  for (const box of [".paper", ".variable", ".result", ".operation"])
    of.push(contrast(style("text").fill, style(box).fill));
  return {least: Math.min(...of), count: of.length, paper: light(style(".paper").fill),
          wide: document.documentElement.scrollWidth};
}"""


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_what_notebooks_show_is_legible_in_their_theme() -> None:
    shown = gradient("abs(x)*w + 2 x", {"x": 0, "w": 2}, lenient=True)._repr_html_() or ""
    striped = "tbody tr:nth-child(odd) { background: #f5f5f5 }"
    with browser() as chromium:
        for name, (attribute, system, dark) in HOSTS.items():
            # a page that does not say its theme is white
            paper, ink = ("#111", "#ddd") if dark and attribute else ("#fff", "#111")
            page = chromium.new_page(color_scheme=system, viewport={"width": 500, "height": 700})
            page.set_content(
                f"<style>body {{ background: {paper}; color: {ink} }}"
                f" {striped if paper == '#fff' else ''}</style><body {attribute}>{shown}</body>"
            )
            told = page.evaluate(CONTRASTS)
            page.close()
            assert told["count"] > 10
            assert told["least"] >= 4.5, (name, told)
            assert (told["paper"] < 0.1) == dark, (name, told)
            assert told["wide"] <= 500, name
