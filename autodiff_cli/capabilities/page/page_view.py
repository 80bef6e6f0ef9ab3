"""A Page as one self-contained HTML file."""

import json
import math
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import ClassVar

from ...language.printer import expression_text
from ...show.characters import Theme, escaped
from ...show.document import plain_text
from ...show.rendering import web_file
from ...show.schema import Values, View, read_declaration, record_of
from ..formulas.derivation import Derivation, derivative_name
from ..formulas.diff_view import step_cells
from ..graph.graph import Fold, Picture
from ..graph.pictures.drawings import FAMILY, color_rules, shapes, svg
from ..graph.pictures.scene import DARK, LIGHT, MAX_COMPARED_NODES, Choices, Colors, title
from ..trace.trace_view import Notation
from .page import Page

# Significant digits that are shown; the page computes with all.
PAGE_DIGITS = 5
NAMES = Notation("", True, PAGE_DIGITS)
MORE_LIGHT = {"wrong": "#b91c1c", "first": "#1d4ed8", "second": "#b45309"}
# Of an error, and of the first and second curve of a plot.
MORE_DARK = {"wrong": "#fca5a5", "first": "#93c5fd", "second": "#fbbf24"}


read_declaration(Fold)  # a page has several


class PageView(View[Page], of=Page):
    """How a page is written: as HTML, in the colours of a theme."""

    computed: ClassVar[Values] = {
        "nodes.label": lambda node: escaped(NAMES.name(node)),
        "nodes.adjoint": lambda node: escaped(NAMES.adjoint(node)) if node.name else "",
        "nodes.text": lambda node: "" if node.name else node.source or NAMES.number(node.value),
        "nodes.value": lambda node: node.value if node.kind == "constant" else None,
        "folds": lambda page: page.folded[0].folds if page.folded else (),
        "opened": lambda page: page.folded[1:] or None,
        "scales": lambda page: None if page.units is None else dict(_scales(page.units)),
    }
    usual, extra_formats = "html", ("html",)

    theme: Theme = "auto"

    def draw(self, page: Page, format: str) -> bytes:
        return document(page, self.theme).encode()


def document(page: Page, theme: Theme = "auto") -> str:
    """Return the HTML file."""
    rules = {
        name: ";".join(f"--{key}:{color}" for key, color in (colors._asdict() | more).items())
        for name, colors, more in (("light", LIGHT, MORE_LIGHT), ("dark", DARK, MORE_DARK))
    }
    graph = shapes() + color_rules(Colors(*[f"var(--{name})" for name in Colors._fields]))
    style = web_file("page.css", mono=FAMILY, graph=graph, **rules)
    functions = [f"(() => {{\n{operation.source}return f;\n}})()" for operation in page.operations]
    script = f"const OPERATIONS = [{','.join(functions)}];\n"
    script += (files("autodiff_cli.show") / "web" / "page.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri"
        " 'none'"
    )
    heading = "\n".join(map(escaped, page.text.strip().splitlines()))
    pictures = [page.picture, *(folding.picture for folding in page.folded)]
    text = web_file(
        "page.html",
        policy=policy,
        title=escape(title(page.picture)),
        heading=escape(heading),
        style=style,
        script=script,
        graph="".join(_drawings(pictures)),
        derivation=_derivation(page.derivations),
        data=json.dumps(record_of(PageView.fields, page), allow_nan=False).replace("<", "\\u003c"),
    )
    return (
        text
        if theme == "auto"
        else text.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">', 1)
    )


def _drawings(pictures: Sequence[Picture]) -> Iterator[str]:
    """Yield the drawings of a page; those of graphs that are not large again, for narrow pages."""
    yield from [svg(drawn, Choices(PAGE_DIGITS, live=True)) for drawn in pictures]
    if max(len(drawn.nodes) for drawn in pictures) <= MAX_COMPARED_NODES:
        yield from [svg(drawn, Choices(PAGE_DIGITS, live=True, narrow=True)) for drawn in pictures]


def _derivation(derivations: Sequence[Derivation]) -> str:
    if not derivations:
        return ""
    parts = []
    for derivation in derivations:
        rows = []
        for step, cells in zip(derivation.steps, step_cells(derivation, True), strict=True):
            texts = "".join(f"<td>{escape(escaped(plain_text(cell)))}</td>" for cell in cells)
            rows.append(f"<tr>{texts}</tr>" if step.is_rule else f'<tr class="put">{texts}</tr>')
        name = escape(
            escaped(f"{derivative_name(derivation.by)} = {expression_text(derivation.formula)}")
        )
        head = "<thead><tr><th>rule</th><th>part</th><th>result</th></tr></thead>"
        parts.append(
            f'<h3>{name}</h3>\n<table class="steps">{head}<tbody>{"".join(rows)}</tbody></table>'
        )
    inside = "\n".join(parts)
    return (
        f'<details id="derivation">\n<summary><h2>Derivation</h2></summary>\n{inside}\n</details>\n'
    )


def _scales(units: object) -> Iterator[tuple[str, tuple[float, float, float]]]:
    from ...engine.quantities.unit import Unit  # only units need it

    if isinstance(units, dict | list):
        for item in units.values() if isinstance(units, dict) else units:
            yield from _scales(item)
    elif isinstance(units, Unit):
        numerator = units.scale.numerator * math.pi**units.pi if units.pi else units.scale.numerator
        shift = float(units.zero * units.scale.denominator)
        yield str(units) or "1", (numerator, shift, units.scale.denominator)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
