"""A Picture in every form: as a tree, a drawing in several formats, a record."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import ClassVar

from ..derivatives.graph import Picture, gather
from .characters import Theme
from .document import Block
from .outline import outline
from .pictures.cells import Choices, Way
from .schema import Values, View

WRITERS = {"dot": "flowcharts", "mermaid": "flowcharts", "png": "svg"}
"""The modules that write these formats; others have a module of their name."""
WAYS: tuple[Way, ...] = ("auto", "right", "down")


class PictureView(View[Picture], section="graph"):
    """How a graph is shown: as a tree, or drawn in the colours of a theme."""

    computed: ClassVar[Values] = {"nodes.inputs": lambda node: [edge.node for edge in node.inputs]}
    remembers_units = False
    extra_formats = ("tikz", "dot", "mermaid", "svg", "png", "pdf")

    depth: int | None = None
    theme: Theme = "auto"
    binary: bool = False
    """Whether a chain of one operation is drawn as binary operations."""
    way: Way = "auto"
    partials: bool = False
    """Whether local derivatives stand beside their lines."""
    width: int | None = None

    def document(self, picture: Picture) -> Iterator[Block]:
        for root in picture.graph.roots:
            tree = outline(picture.graph, root, depth=self.depth, digits=self.digits, binary=self.binary)
            # here there is nothing but the tree
            yield tree._replace(note=tree.note.replace(", `--no-tree` none", ""))

    def draw(self, picture: Picture, format: str) -> str | bytes:
        write = getattr(import_module(f".pictures.{WRITERS.get(format, format)}", __package__), format)
        choices = Choices(self.digits, self.theme, self.way, self.partials, self.width)
        drawing: str | bytes = write(picture if self.binary else gather(picture), choices)
        return drawing.encode() if isinstance(drawing, str) and format != "tikz" else drawing


FORMATS = ("tree", *(name for name in PictureView().formats if name != "table"))
"""The table of other answers is a tree here."""


def writer_of(format: str) -> str:
    """Return the writers' name of a format."""
    return "table" if format == "tree" else format
