"""A Picture in every form: as a tree, as a drawing in several formats, as a record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ..errors import ExpressionError
from ..questions.graph import Picture, gathered
from .document import Block
from .formats import View, diagnostic_record
from .outline import outline
from .pictures.cells import Theme

FORMATS = ("tree", "dot", "mermaid", "svg", "png")
ENDINGS = {".txt": "tree", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".svg": "svg",
           ".png": "png"}  # fmt: skip
"""Which format the name of a file asks for."""

OTHER_PICTURES = frozenset((".pdf", ".gif", ".jpg", ".jpeg", ".bmp", ".webp", ".eps", ".ps", ".html", ".tex"))
"""Endings by which a picture is surely meant, and none that can be drawn here."""


THEMES: tuple[Theme, ...] = ("auto", "light", "dark")


def format_of(name: str | None, path: str | None) -> str:
    """The format that was asked for by name, or by the name of the file; `tree` where neither says.

    Raises a usage error for a format that there is not.
    """
    ending = PurePath(path).suffix.lower() if path else ""
    chosen = name or ENDINGS.get(ending, "tree")
    if not name and ending in OTHER_PICTURES:
        raise ExpressionError(
            "usage", f"`{ending}` is not one of the formats that there are",
            hint="end it in `.svg`, `.png`, `.dot` or `.mmd`, or say `--format tree`",
        )  # fmt: skip
    if chosen not in FORMATS:
        listed = ", ".join(f"`{each}`" for each in FORMATS)
        raise ExpressionError("usage", f"`{chosen}` is not one of this command's formats", hint=f"it has {listed}")
    return chosen


def theme_of(name: str | None) -> Theme:
    """The theme of a name. Raises a usage error for one that there is not."""
    for theme in THEMES:
        if name in (theme, None):
            return theme
    listed = ", ".join(f"`{each}`" for each in THEMES)
    raise ExpressionError("usage", f"`{name}` is not a theme", hint=f"there are {listed}")


def view(
    *, digits: int | None = None, depth: int | None = None, theme: Theme = "auto", binary: bool = False
) -> View[Picture]:
    """How a picture is shown: as a tree of so many levels, or drawn in the colours of a theme.

    A chain of one operation is drawn as one node, unless `binary`.
    """

    def drawn(picture: Picture) -> Picture:
        return picture if binary else gathered(picture)

    def document(picture: Picture) -> Iterator[Block]:
        for root in picture.roots:
            tree = outline(root, depth=depth, digits=digits, numbers=picture.numbers, binary=binary)
            # there is nothing else here that the tree could be left out of
            yield tree._replace(note=tree.note.replace(", `--no-tree` none", ""))

    def dot(picture: Picture) -> bytes:
        from .pictures.dot import dot

        return dot(drawn(picture), digits).encode()

    def mermaid(picture: Picture) -> bytes:
        from .pictures.mermaid import mermaid

        return mermaid(drawn(picture), digits).encode()

    def svg(picture: Picture) -> bytes:
        from .pictures.svg import svg

        return svg(drawn(picture), digits, theme).encode()

    def png(picture: Picture) -> bytes:
        from .pictures.png import png

        return png(drawn(picture), digits, theme)

    return View(_record, document=document, others={"dot": dot, "mermaid": mermaid, "svg": svg, "png": png})


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
