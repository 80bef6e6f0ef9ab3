"""A Picture in every form: as a tree, as a drawing in several formats, as a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ..derivatives.graph import Picture, gathered
from .characters import Theme
from .document import Block
from .formats import View
from .outline import outline
from .pictures.cells import Choices, Way
from .schema import diagnostic_record

WAYS: tuple[Way, ...] = ("auto", "right", "down")


def view(
    *,
    digits: int | None = None,
    depth: int | None = None,
    theme: Theme = "auto",
    binary: bool = False,
    way: Way = "auto",
    partials: bool = False,
    width: int | None = None,
) -> View[Picture]:
    """How a picture is shown: as a tree of so many levels, or drawn in the colours of a theme.

    A chain of one operation is drawn as one node, unless `binary`. Drawings go to the right or down as chosen, with
    `partials` the local derivatives stand beside their lines, and they are so many pixels wide.
    """
    choices = Choices(digits, theme, way, partials, width)

    def drawn(picture: Picture) -> Picture:
        return picture if binary else gathered(picture)

    def document(picture: Picture) -> Iterator[Block]:
        for root in picture.roots:
            tree = outline(root, depth=depth, digits=digits, numbers=picture.numbers, binary=binary)
            # there is nothing else here that the tree could be left out of
            yield tree._replace(note=tree.note.replace(", `--no-tree` none", ""))

    def dot(picture: Picture) -> bytes:
        from .pictures.dot import dot

        return dot(drawn(picture), choices).encode()

    def mermaid(picture: Picture) -> bytes:
        from .pictures.mermaid import mermaid

        return mermaid(drawn(picture), choices).encode()

    def svg(picture: Picture) -> bytes:
        from .pictures.svg import svg

        return svg(drawn(picture), choices).encode()

    def png(picture: Picture) -> bytes:
        from .pictures.png import png

        return png(drawn(picture), choices)

    def pdf(picture: Picture) -> bytes:
        from .pictures.pdf import pdf

        return pdf(drawn(picture), choices)

    def tikz(picture: Picture) -> tuple[str, str]:
        from .pictures.tikz import tikz

        return "tikz", tikz(drawn(picture), choices)

    others = {"dot": dot, "mermaid": mermaid, "svg": svg, "png": png, "pdf": pdf}
    return View(_record, document=document, extra_formats=others, tikz=tikz)


def way_of(name: str | None) -> Way:
    """The way of a name, one of `WAYS`; `auto` without."""
    return cast(Way, name or WAYS[0])


def _record(picture: Picture) -> dict[str, object]:
    return {
        "gradient": picture.gradient,
        "outputs": list(picture.outputs),
        "nodes": [
            {
                "name": node.label or None,
                "operation": node.operation or None,
                "data": node.data,
                "grad": node.grad,
                "inputs": [each.node for each in node.inputs],
                "evaluated": node.taken,
            }
            for node in picture.nodes
        ],
        "warnings": [diagnostic_record(warning) for warning in picture.warnings],
    }


FORMATS = ("tree", *(name for name in view().formats if name != "table"))
"""The table of other answers is a tree here."""


def written(format: str) -> str:
    """The name that the writers have for one of these formats."""
    return "table" if format == "tree" else format
